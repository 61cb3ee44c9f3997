"""A turn while it is being read: its steps, its open calls, and what events say came of them.

Names that are the same in every copy of a turn are made here: from Codex's own ids where it gives them, else
from what was asked and said. Never from the time or the place in the file: both change when a thread is
forked, packed or rewritten.
"""

import hashlib

from holdfast.capture.agents.codex.calls import Draft, names_as_many, within
from holdfast.capture.agents.codex.results import result_of, still_running
from holdfast.model.transcript import MAX_STEPS, MAX_TEXT, Call, Result, Step, Todo, Turn, cut
from holdfast.values import field, mutable, replace

_MOST_CALLS = 2000  # of one step
_HEAVIEST = 32 << 20  # characters of one turn; what is beyond goes on in the next


@mutable
class OpenStep:
    """One answer of the model, so far."""

    ts: str | None
    model: str | None
    id: str = ""
    reasoning: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    calls: list[Draft] = field(default_factory=list)


@mutable
class OpenTurn:
    """What was asked and what has come of it so far."""

    start: int
    end: int = 0
    id: str | None = None  # Codex's own
    prompt: str = ""
    asked: bool = False
    ts: str | None = None
    cwd: str | None = None
    branch: str | None = None
    interrupted: bool = False
    continues: bool = False
    is_between: bool = True  # no step is open
    weight: int = 0  # characters it holds
    steps: list[OpenStep] = field(default_factory=list)
    calls: dict[str, Draft] = field(default_factory=dict)
    running: dict[str, Draft] = field(default_factory=dict)  # by the number of their process

    # ── steps ────────────────────────────────────────────────────────────────────────────────────

    @property
    def is_empty(self) -> bool:
        return not self.prompt and not self.asked and not self.steps

    @property
    def is_full(self) -> bool:
        """Whether what comes now must go into another turn, so that no reader holds too much."""
        return self.weight > _HEAVIEST or (self.is_between and len(self.steps) >= MAX_STEPS)

    def begin_step(self, ts: str | None, model: str | None) -> None:
        self.steps.append(OpenStep(ts, model))
        self.is_between = False

    def end_step(self) -> None:
        self.is_between = True

    def say(self, text: str, item_id: str) -> None:
        step = self.steps[-1]
        step.id = step.id or item_id or self.numbered(text)
        step.said.append(self._weighed(cut(text, MAX_TEXT)))

    def think(self, text: str, item_id: str) -> None:
        step = self.steps[-1]
        step.id = step.id or item_id or (self.numbered(text) if text else "")
        if text:
            step.reasoning.append(self._weighed(cut(text, MAX_TEXT)))

    def call(self, draft: Draft) -> None:
        step = self.steps[-1]
        step.id = step.id or draft.id
        if len(step.calls) < _MOST_CALLS:
            step.calls.append(draft)
            self.calls[draft.id] = draft
            self._weigh(draft)

    def answer(self, call: Draft, output: object) -> None:
        """Put its output to a call; a script's is read only where events do not tell it all."""
        call.is_answered = True
        if call.is_script and _is_told(call):
            return
        ours = "mcp__holdfast__" if call.is_script and "mcp__holdfast__" in call.text else call.name
        call.result = result_of(output, name=ours)
        self.weight += len(call.result.text)
        self._follow(call, still_running(output))

    def _weighed(self, text: str) -> str:
        self.weight += len(text)
        return text

    def _weigh(self, draft: Draft) -> None:
        lines = sum(len(edit.added) + len(edit.removed) for edit in draft.edits)
        self.weight += len(draft.text) + 60 * lines + (len(draft.result.text) if draft.result else 0)

    def numbered(self, text: str) -> str:
        """A name for something without an id: by its words, the prompt's, and what came just before."""
        before = self.steps[-2].id if len(self.steps) > 1 else ""
        return "x-" + _hashed(self.prompt, before, text)

    # ── what events say ──────────────────────────────────────────────────────────────────────────

    def happened(self, told: Draft) -> None:
        """Put what an event says to the call it is of; code mode gives it an id of its own."""
        self._weigh(told)
        call = self.calls.get(told.id) or self._script_of(told)
        if self.weight > _HEAVIEST:
            return
        if call is not None:
            call.happened.append(told)
        elif self.steps and told.id:
            self.steps[-1].calls.append(told)
            self.calls[told.id] = told

    def _script_of(self, told: Draft) -> Draft | None:
        """The script that made a call: one that names it, else one still running, else the last one."""
        scripts = [call for call in self.calls.values() if call.is_script]
        waiting = [call for call in scripts if not call.is_answered]
        for call in reversed(scripts[-20:]):
            if told.command and told.command in call.text:
                return call
        left = waiting or scripts
        return left[-1] if left else None

    def _follow(self, call: Draft, process: str | None) -> None:
        """Remember a command that still runs, and tell it how it ended when a later call learns that."""
        result = call.result
        if process is not None:
            self.running.setdefault(process, call)
        elif call.name == "write_stdin" and result is not None and result.exit_status is not None:
            first = self.running.pop(_session(call.text), None)
            if first is not None and first.result is not None:
                first.result = replace(first.result, exit_status=result.exit_status, failed=result.failed)

    def planned(self, todos: tuple[Todo, ...] | None) -> None:
        """Put a plan that an event tells to the call that made it."""
        plans = [call for call in self.calls.values() if call.kind == "plan"]
        if todos and plans:
            plans[-1].todos = todos

    # ── as told ──────────────────────────────────────────────────────────────────────────────────

    def told(self) -> Turn | None:
        """The turn; None if nothing was asked and nothing done."""
        steps = tuple(step for step in map(_step, self.steps) if step is not None)
        if not steps and not self.prompt:
            return None
        return Turn(
            key=self._key(steps),
            prompt=self.prompt,
            ts=self.ts or (steps[0].ts if steps else None),
            steps=steps,
            cwd=self.cwd,
            branch=self.branch,
            interrupted=self.interrupted,
            continues=self.continues,
            start=max(self.start, 0),
            end=self.end,
        )

    def _key(self, steps: tuple[Step, ...]) -> str:
        first = steps[0].id if steps else ""
        if self.continues:
            return "c-" + _hashed(first)
        if self.id is None:
            return "t-" + _hashed(self.prompt, first)
        return f"{self.id}.{_hashed(self.prompt)[:12]}" if self.prompt else self.id


def _hashed(*pieces: str) -> str:
    return hashlib.sha256("\0".join(pieces).encode("utf-8", "replace")).hexdigest()[:24]


def _session(arguments: str) -> str:
    """The number of the process that `write_stdin` wrote to."""
    digits = arguments.partition('"session_id"')[2].lstrip(' :"')[:13]
    return digits[: next((at for at, sign in enumerate(digits) if not sign.isdigit()), len(digits))]


def _step(step: OpenStep) -> Step | None:
    calls = tuple(call for draft in step.calls for call in _calls(draft))
    if not (calls or step.said or step.reasoning):
        return None
    return Step(
        id=step.id,
        ts=step.ts,
        model=step.model,
        reasoning=cut("\n\n".join(step.reasoning), MAX_TEXT),
        text=cut("\n\n".join(step.said), MAX_TEXT),
        calls=calls,
    )


# ── calls ────────────────────────────────────────────────────────────────────────────────────────


def _calls(draft: Draft) -> list[Call]:
    """A call as it ended; a script is told as the calls it made."""
    inner = _made(draft) if draft.is_script else []
    if not inner:
        return [_call(_joined(draft, draft.happened[-1]) if draft.happened else draft, draft.id)]
    return [_call(one, draft.id if at == 0 else f"{draft.id}.{at + 1}") for at, one in enumerate(inner)]


def _made(script: Draft) -> list[Draft]:
    """The calls of a script: what events say was done, and what only the script itself says."""
    made, happened = [], list(script.happened)
    if _is_told(script):
        return happened
    for one in within(script):
        told = _told_of(one, happened)
        if told is not None:
            happened.remove(told)
            one = _joined(one, told)
        elif "${" in (one.command or "") and script.happened:
            continue  # a pattern; events tell what became of it
        else:
            one.result = script.result or (Result() if script.is_answered else None)
        made.append(one)
    return made + happened


def _is_told(script: Draft) -> bool:
    """Whether events tell all that a script did; of a patch they do not tell its text."""
    told = script.happened
    return bool(told) and all(one.kind != "edit" for one in told) and names_as_many(script, len(told))


def _told_of(call: Draft, happened: list[Draft]) -> Draft | None:
    """The event that is of a call within a script: by its command, else the first of its kind."""
    of_kind = [told for told in happened if told.kind == call.kind]
    if call.command is not None:
        return next((told for told in of_kind if told.command == call.command), None)
    return of_kind[0] if of_kind else None


def _joined(call: Draft, told: Draft) -> Draft:
    """A call with what an event says of it: that is the surer word, but for the output's text."""
    result = told.result
    if call.result is not None and result is not None and call.result.text:
        result = replace(
            call.result,
            exit_status=result.exit_status if result.exit_status is not None else call.result.exit_status,
            failed=result.failed or call.result.failed,
            refused=result.refused or call.result.refused,
        )
    return replace(
        call,
        kind=told.kind if told.kind == "edit" else call.kind,
        command=None if told.kind == "edit" else call.command or told.command,
        paths=call.paths or told.paths,
        edits=told.edits or call.edits,
        result=result if result is not None else call.result,
    )


def _call(draft: Draft, call_id: str) -> Call:
    """A call that failed wrote nothing: its files are only those it meant to."""
    result: Result | None = draft.result
    wrote = result is None or not (result.failed or result.refused)
    return Call(
        id=call_id,
        name=draft.name,
        kind=draft.kind,
        text=draft.text,
        command=draft.command,
        paths=draft.paths or (() if wrote else tuple(edit.path for edit in draft.edits)),
        edits=draft.edits if wrote else (),
        todos=draft.todos,
        result=result,
    )
