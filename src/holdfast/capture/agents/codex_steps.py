"""A turn of Codex while it is being read: its steps, its open calls, what they gave back and what events say of them.

An output is a string, a JSON string, a list of pieces or an object; most begin with a head that says how the call
ended. The events beside it say the same more plainly, and are preferred where they are. Names that are the same in
every copy of a turn are made here: from Codex's own ids where it gives them, else from what was asked and said. Never
from the time or the place in the file: both change when a thread is forked, packed or rewritten.
"""

import hashlib
import json
import re
from itertools import takewhile
from typing import Any

from holdfast.capture.agents.codex_calls import CodexCallDraft, command_of, counted_in, within
from holdfast.capture.agents.codex_patch import changes_of
from holdfast.capture.agents.transcript_text import is_holdfast_tool, json_text, short_name, text_value, without_ours
from holdfast.model import transcript as transcripts
from holdfast.model.transcript import MAX_TEXT, Call, Result, Todo, TokenUse, TranscriptStep, TranscriptTurn, cut, ends
from holdfast.patterns import PatternFile, regex
from holdfast.values import dict_of, field, list_of, mutable, replace

_LISTS = PatternFile(__file__)
_EXIT = regex(r"^(?:Process exited with code|Exit code:) (-?\d{1,10})$", re.MULTILINE)
_RUNNING = regex(r"^Process running with session ID (\d{1,12})$", re.MULTILINE)
_STILL_RUNS = "(still running in the background)\n"  # so that nobody takes it for ended


def result_of(output: object, *, name: str = "") -> Result:
    """A call's result from its output."""
    body, exit_status, failed = _opened(output)
    head = ""
    for _ in range(2):  # a patch through a shell has two heads
        if match := _LISTS.head.match(body):
            head, body = head + match[0], body[match.end() :]
    if found := _EXIT.search(head):
        exit_status = int(found[1])
    start = body[:300].lstrip()
    failed = failed or bool(exit_status) or "Script failed" in head or start.startswith(_LISTS.lines("failed"))
    refused = not exit_status and _is_refusal(start)
    ours = is_holdfast_tool(name)
    return _result(body, exit_status=exit_status, failed=failed or refused, refused=refused, ours=ours)


def _is_refusal(start: str) -> bool:
    return "user" in start and _LISTS.refused.search(start) is not None


def still_running(output: object) -> str | None:
    """The number of the process a call left running."""
    found = _RUNNING.search(output[:400]) if isinstance(output, str) else None
    return found[1] if found else None


def _result(text: str, *, exit_status: int | None, failed: bool, refused: bool, ours: bool = False) -> Result:
    kept = "" if ours else ends(without_ours(text), transcripts.MAX_OUTPUT)
    return Result(text=kept, size=len(text), exit_status=exit_status, failed=failed, refused=refused)


def _opened(output: object) -> tuple[str, int | None, bool]:
    """The text within an output, and what its wrapping says."""
    if isinstance(output, str):
        return _unwrapped(output)
    if isinstance(output, list):
        pieces = [text_value(dict_of(piece).get("text")) for piece in output]
        if len(pieces) == 2 and pieces[1].startswith("{"):  # a script's head, and one call's answer
            text, exit_status, failed = _unwrapped(pieces[1])
            return pieces[0] + text, exit_status, failed
        return "".join(pieces), None, False
    told = dict_of(output)
    inner = told.get("content", told.get("text", told.get("output")))
    text, exit_status, failed = _opened(inner) if isinstance(inner, str | list) else ("", None, False)
    return text, exit_status, failed or told.get("success") is False


def _unwrapped(text: str) -> tuple[str, int | None, bool]:
    """What a JSON object around an output says; older versions and scripts write one."""
    if not text.startswith("{") or '"output"' not in text or len(text) > 8 << 20:
        return text, None, False
    try:
        told = dict_of(json.loads(text))
    except (ValueError, RecursionError):
        told = {}
    if not isinstance(told.get("output"), str):
        return text, None, False
    return told["output"], _whole(dict_of(told.get("metadata")).get("exit_code", told.get("exit_code"))), False


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


# ── what events say of calls ─────────────────────────────────────────────────────────────────────


def command_happened(told: dict[str, Any]) -> CodexCallDraft:
    """A command that was run, from an event or an item of the display."""
    exit_status = _whole(told.get("exit_code"))
    output = text_value(told.get("aggregated_output")) or text_value(told.get("formatted_output"))
    status = text_value(told.get("status"))
    draft = CodexCallDraft(short_name(told.get("id") or told.get("call_id")), "exec_command", "shell")
    draft.command = command_of(told.get("command"))
    draft.text = draft.command or ""
    draft.paths = tuple(
        path
        for piece in list_of(told.get("parsed_cmd"))[:50]
        if dict_of(piece).get("type") in ("read", "search", "list_files")
        and (path := text_value(dict_of(piece).get("path"), 4096))
    )
    draft.result = _result(
        output,
        exit_status=exit_status,
        failed=bool(exit_status) or status in ("failed", "declined"),
        refused=status == "declined",
    )
    return draft


def files_changed(told: dict[str, Any]) -> CodexCallDraft:
    """Files that a patch wrote, or was kept from writing."""
    status = text_value(told.get("status")) or ("failed" if told.get("success") is False else "completed")
    draft = CodexCallDraft(short_name(told.get("id") or told.get("call_id")), "apply_patch", "edit")
    draft.edits = changes_of(told.get("changes"))
    output = text_value(told.get("stdout")) + text_value(told.get("stderr"))
    failed = status in ("failed", "declined")
    draft.result = _result(output, exit_status=None, failed=failed, refused=status == "declined")
    return draft


def mcp_answered(told: dict[str, Any]) -> CodexCallDraft:
    """A call of an MCP server's tool, from an event or an item of the display."""
    asked = dict_of(told.get("invocation")) or told
    name = f"mcp__{short_name(asked.get('server'))}__{short_name(asked.get('tool'))}"
    draft = CodexCallDraft(short_name(told.get("id") or told.get("call_id")), name, "mcp")
    draft.text = json_text(asked.get("arguments"))
    answer = dict_of(told.get("result"))
    answer = dict_of(answer.get("Ok")) or answer
    wrong = text_value(dict_of(told.get("result")).get("Err")) or text_value(dict_of(told.get("error")).get("message"))
    text = wrong or "\n".join(text_value(dict_of(piece).get("text")) for piece in list_of(answer.get("content")))
    failed = bool(wrong) or answer.get("isError") is True or told.get("status") == "failed"
    refused = _is_refusal(wrong[:300])
    draft.result = _result(text, exit_status=None, failed=failed, refused=refused, ours=is_holdfast_tool(name))
    return draft


_MOST_CALLS = 2000  # of one step
_HEAVIEST = 32 << 20  # characters of one turn; what is beyond goes on in the next


@mutable
class OpenCodexStep:
    """One answer of the model, so far."""

    ts: str | None
    model: str | None
    id: str = ""
    reasoning: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    calls: list[CodexCallDraft] = field(default_factory=list)
    on_the_way: bool = False
    usage: TokenUse | None = None


@mutable
class OpenCodexTurn:
    """What was asked, and the steps that followed so far."""

    start: int
    end: int = 0
    id: str | None = None  # Codex's own
    prompt: str = ""
    brief: str = ""  # what another agent asked
    asked: bool = False
    ts: str | None = None
    cwd: str | None = None
    branch: str | None = None
    interrupted: bool = False
    continues: bool = False
    is_between: bool = True  # no step is open
    weight: int = 0  # characters it holds
    steps: list[OpenCodexStep] = field(default_factory=list)
    calls: dict[str, CodexCallDraft] = field(default_factory=dict)
    running: dict[str, CodexCallDraft] = field(default_factory=dict)  # by the number of their process

    # ── steps ────────────────────────────────────────────────────────────────────────────────────

    @property
    def is_empty(self) -> bool:
        return not self.prompt and not self.asked and not self.steps

    @property
    def is_full(self) -> bool:
        """Whether what comes now must go into another turn, so that no reader holds too much."""
        return self.weight > _HEAVIEST or (self.is_between and len(self.steps) >= transcripts.MAX_STEPS)

    def begin_step(self, ts: str | None, model: str | None) -> None:
        self.steps.append(OpenCodexStep(ts, model))
        self.is_between = False

    def used(self, usage: TokenUse) -> None:
        """What the last answer cost; Codex says it when the answer is complete."""
        if self.steps:
            before = self.steps[-1].usage
            self.steps[-1].usage = before + usage if before else usage

    def end_step(self) -> None:
        self.is_between = True

    def say(self, text: str, item_id: str, *, on_the_way: bool) -> None:
        step = self.steps[-1]
        step.on_the_way = on_the_way
        step.id = step.id or item_id or self.numbered(text)
        step.said.append(self._weighed(cut(text, MAX_TEXT)))

    def think(self, text: str, item_id: str) -> None:
        step = self.steps[-1]
        step.id = step.id or item_id or (self.numbered(text) if text else "")
        if text:
            step.reasoning.append(self._weighed(cut(text, MAX_TEXT)))

    def call(self, draft: CodexCallDraft) -> None:
        step = self.steps[-1]
        step.id = step.id or draft.id
        if len(step.calls) < _MOST_CALLS:
            step.calls.append(draft)
            self.calls[draft.id] = draft
            self._weigh(draft)

    def answer(self, call: CodexCallDraft, output: object) -> None:
        """Put its output to a call; a script's is read only where events do not tell it all."""
        call.is_answered = True
        if call.is_script and _is_told(call):
            return
        ours = "mcp__holdfast__" if call.is_script and "mcp__holdfast__" in call.text else call.name
        result = call.result = result_of(output, name=ours)
        self.weight += len(result.text)
        # What a command that still runs prints later, and how it ends, is its own, whichever call learns it.
        first = self.running.pop(_session(call.text), None) if call.name == "write_stdin" else None
        if first is not None and first.result is not None:
            printed = ends(f"{first.result.text.removeprefix(_STILL_RUNS)}\n{result.text}")
            size = first.result.size + result.size
            if first.id not in self.calls:  # it began in a closed turn: this call shows how it ended
                call.kind, call.command, first = "shell", first.command, call
            result = first.result = replace(result, text=printed, size=size)
        if process := still_running(output):
            self.running[process] = first = first or call
            first.result = replace(result, text=_STILL_RUNS + result.text)

    def _weighed(self, text: str) -> str:
        self.weight += len(text)
        return text

    def _weigh(self, draft: CodexCallDraft) -> None:
        lines = sum(len(edit.added) + len(edit.removed) for edit in draft.edits)
        self.weight += len(draft.text) + 60 * lines + (len(draft.result.text) if draft.result else 0)

    def numbered(self, text: str) -> str:
        """A name for something without an id: by its words, the prompt's, and what came just before."""
        before = self.steps[-2].id if len(self.steps) > 1 else ""
        return "x-" + _hashed(self.prompt, before, text)

    # ── what events say ──────────────────────────────────────────────────────────────────────────

    def happened(self, told: CodexCallDraft) -> None:
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

    def _script_of(self, told: CodexCallDraft) -> CodexCallDraft | None:
        """The script that made a call: one that names it, else one still running, else the last one."""
        scripts = [call for call in self.calls.values() if call.is_script]
        waiting = [call for call in scripts if not call.is_answered]
        naming = (call for call in reversed(scripts[-20:]) if told.command and told.command in call.text)
        return next(naming, next(reversed(waiting or scripts), None))

    def planned(self, todos: tuple[Todo, ...] | None) -> None:
        """Put a plan that an event tells to the call that made it."""
        plans = [call for call in self.calls.values() if call.kind == "plan"]
        if todos and plans:
            plans[-1].todos = todos

    # ── as told ──────────────────────────────────────────────────────────────────────────────────

    def told(self) -> TranscriptTurn | None:
        """The turn; None if nothing was asked and nothing done."""
        steps = tuple(step for step in map(_step, self.steps) if step is not None)
        if not steps and not self.prompt:
            return None
        names = ("prompt", "brief", "cwd", "branch", "interrupted", "continues", "end")
        same = {name: getattr(self, name) for name in names}
        ts = self.ts or (steps[0].ts if steps else None)
        return TranscriptTurn(key=self._key(steps), ts=ts, steps=steps, start=max(self.start, 0), **same)

    def _key(self, steps: tuple[TranscriptStep, ...]) -> str:
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
    return "".join(takewhile(str.isdigit, arguments.partition('"session_id"')[2].lstrip(' :"')[:13]))


def _step(step: OpenCodexStep) -> TranscriptStep | None:
    calls = tuple(call for draft in step.calls for call in _calls(draft))
    if not (calls or step.said or step.reasoning):
        return None
    return TranscriptStep(
        id=step.id,
        ts=step.ts,
        model=step.model,
        reasoning=cut("\n\n".join(step.reasoning), MAX_TEXT),
        text=cut("\n\n".join(step.said), MAX_TEXT),
        calls=calls,
        on_the_way=step.on_the_way,
        usage=step.usage,
    )


# ── calls ────────────────────────────────────────────────────────────────────────────────────────


def _calls(draft: CodexCallDraft) -> list[Call]:
    """A call as it ended; a script becomes the calls it made."""
    inner = _made(draft) if draft.is_script else []
    if not inner:
        return [_call(_joined(draft, draft.happened[-1]) if draft.happened else draft, draft.id)]
    return [_call(one, draft.id if at == 0 else f"{draft.id}.{at + 1}") for at, one in enumerate(inner)]


def _made(script: CodexCallDraft) -> list[CodexCallDraft]:
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


def _is_told(script: CodexCallDraft) -> bool:
    """Whether events tell all that a script did; of a patch they do not tell its text."""
    told = script.happened
    return bool(told) and all(one.kind != "edit" for one in told) and counted_in(script.text) == len(told)


def _told_of(call: CodexCallDraft, happened: list[CodexCallDraft]) -> CodexCallDraft | None:
    """The event that is of a call within a script: by its command, else the first of its kind."""
    of_kind = (told for told in happened if told.kind == call.kind)
    return next((told for told in of_kind if call.command in (None, told.command)), None)


def _joined(call: CodexCallDraft, told: CodexCallDraft) -> CodexCallDraft:
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


def _call(draft: CodexCallDraft, call_id: str) -> Call:
    """A call that failed wrote nothing: its files are only those it meant to."""
    result: Result | None = draft.result
    wrote = result is None or not (result.failed or result.refused)
    paths = draft.paths or (() if wrote else tuple(edit.path for edit in draft.edits))
    same = {name: getattr(draft, name) for name in ("name", "kind", "text", "command", "todos", "result")}
    return Call(id=call_id, paths=paths, edits=draft.edits if wrote else (), **same)
