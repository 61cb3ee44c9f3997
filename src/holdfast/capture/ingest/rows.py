"""The rows of a run's files that a turn gives: its cycles, the lines it wrote, and the turn itself.

Pure: a turn in, JSON values out. Texts are cut to their limits here once more, whatever a dialect did.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.capture.changes import spelled
from holdfast.capture.ingest.anchoring import Committing, moment
from holdfast.capture.ingest.knowing import contents
from holdfast.capture.ingest.whose import relative
from holdfast.model.summary import turn_line
from holdfast.model.transcript import (
    MAX_INPUT,
    MAX_PROMPT,
    MAX_TEXT,
    Call,
    Edit,
    Origin,
    Step,
    Todo,
    Turn,
    cut,
    ends,
    line_hash,
    telling_lines,
)
from holdfast.patterns import regex
from holdfast.store.transcripts import mark
from holdfast.values import field, frozen, mutable, replace

MAX_NAME = 200  # characters of an id or a name that somebody else gave
MAX_PATH = 4_096
TURN_COMMANDS, TURN_FILES = 100, 300
KEPT = 4_000  # characters of a result that a run keeps, of its beginning and its end
_TOLD = 1_500  # and that summaries look at
_COMMITTED = regex(r"^\[[^\]\n]{1,200} ([0-9a-f]{7,40})\] ", re.MULTILINE)
# Git as it makes commits: its own options come first.
_COMMITTING = regex(
    r"""\bgit(?:\s+(?:-[Cc]\s*(?:"[^"\n]*"|'[^'\n]*'|[^\s"'])++|--?[\w-]+(?:=\S+)?))*+"""
    r"\s+(commit|merge|cherry-pick|revert|pull|am)\b(?![^\n;&|]*\s--dry-run\b)"
)


@frozen
class Place:
    """From where a session's paths are seen."""

    top: str | None
    cwd: str | None

    def path(self, name: str, turn: Turn) -> str | None:
        """A path as git spells it; None for what lies outside."""
        inside = relative(name, self.top, turn.cwd or self.cwd)
        return spelled(inside)[:MAX_PATH] if inside else None


def slim(turn: Turn) -> Turn:
    """A turn whose long results are cut to their ends, which is where it says how it ended."""
    return replace(turn, steps=tuple(_slim_step(step) for step in turn.steps))


def _slim_step(step: Step) -> Step:
    if all(call.result is None or len(call.result.text) <= _TOLD for call in step.calls):
        return step
    return replace(step, calls=tuple(_slim_call(call) for call in step.calls))


def _slim_call(call: Call) -> Call:
    if call.result is None or len(call.result.text) <= _TOLD:
        return call
    text = call.result.text
    return replace(call, result=replace(call.result, text=f"{text[: _TOLD // 4]}\n{text[-3 * _TOLD // 4 :]}"))


def cycle(step: Step, *, turn: int, n: int) -> tuple[dict[str, Any], list[str]]:
    """One step of the model as a line of cycles.jsonl, and all the words of others that stand in it."""
    plan = next((call.todos for call in reversed(step.calls) if call.todos is not None), None)
    planned = None if plan is None else todos(plan)
    proposed = [_proposed(call) for call in step.calls]
    came = [_result(call) for call in step.calls if call.result is not None]
    missing = [call.id[:MAX_NAME] for call in step.calls if call.result is None]
    model, name = (step.model or "")[:MAX_NAME] or None, step.id[:MAX_NAME]
    reasoning, text = cut(step.reasoning, MAX_TEXT), cut(step.text, MAX_TEXT)
    row = {
        "turn": turn,
        "n": n,
        "id": name,
        "ts": moment(step.ts),
        "model": model,
        **({"aside": True} if step.aside else {}),
        "proposal": {"reasoning": reasoning, "text": text, "plan": planned, "calls": proposed},
        "result": {"calls": came, "missing": missing},
    }
    words = [name, model or "", reasoning, text, *missing]
    words += [word for one in planned or () for word in one.values()]
    words += [word for one in proposed for word in one.values()]
    return row, words + [word for one in came for word in (one["id"], one["output"])]


def _proposed(call: Call) -> dict[str, str]:
    return {
        "id": call.id[:MAX_NAME],
        "name": call.name[:MAX_NAME],
        "kind": call.kind,
        "input": cut(call.text, MAX_INPUT),
    }


def _result(call: Call) -> dict[str, Any]:
    result = call.result
    assert result is not None
    return {
        "id": call.id[:MAX_NAME],
        "output": ends(result.text, KEPT),
        "size": result.size,
        "exit_status": result.exit_status,
        "failed": result.failed,
        "refused": result.refused,
    }


def todos(plan: tuple[Todo, ...]) -> list[dict[str, str]]:
    """A plan as JSON has it."""
    return [{"text": cut(one.text, 4_000), "status": one.status} for one in plan]


def edits(turn: Turn) -> Iterator[Edit]:
    """What certainly was written: a call that failed, was refused or cut short wrote nothing we know of."""
    for call in turn.calls:
        if call.result is not None and not call.result.failed and not call.result.refused:
            yield from call.edits


@mutable
class Written:
    """What a turn wrote into one file, all its edits together."""

    action: str
    added: list[str]
    removed: list[str]
    kept: list[str] | None = field(default_factory=list)  # of what was added; None if nobody knows


def written(turn: Turn, place: Place) -> dict[str, Written]:
    """The files of the repository that a turn wrote, with the lines."""
    found: dict[str, Written] = {}
    if place.top is None:
        return found
    for edit in edits(turn):
        path = place.path(edit.path, turn)
        if path is not None:
            one = found.setdefault(path, Written(edit.action, [], []))
            one.added += edit.added
            one.removed += edit.removed
            one.kept = None if one.kept is None or edit.kept is None else [*one.kept, *edit.kept]
            one.action = edit.action if edit.action in ("delete", "move") else one.action
        if edit.moved_to and (target := place.path(edit.moved_to, turn)):
            found.setdefault(target, Written("add", list(edit.added), []))
    return found


def lines(
    path: str, one: Written, *, turn: int, added: list[str], removed: list[str], kept: list[str] | None
) -> dict[str, Any]:
    """One line of lines.jsonl; `added`, `removed` and `kept` are what may be told of the lines."""
    return {
        "turn": turn,
        "path": path,
        "action": one.action,
        "added": _hashes(added),
        "removed": _hashes(removed),
        **({} if kept == [] else {"kept": None if kept is None else _hashes(kept)}),
    }


def _hashes(lines: list[str]) -> list[str]:
    return [line_hash(line) for line in telling_lines(lines)]


def told(
    turn: Turn,
    origin: Origin,
    place: Place,
    *,
    n: int,
    ts: str,
    key: str,
    files: Mapping[str, Written],
    whole: Turn | None = None,
) -> dict[str, Any]:
    """A turn as a line of turns.jsonl: what was asked, what came of it, and what else a session wants.

    `whole` is the turn of which the rest was taken in before: its words are not told again.
    """
    shell = [call for call in turn.calls if call.command]
    return {
        "turn": n,
        "key": key,
        "steps": [mark(step.id) for step in turn.steps],
        "contents": contents(turn),
        "print": (whole or turn).fingerprint,
        "ts": ts,
        "ended": _last(turn) or ts,
        "by": "agent" if origin.role == "subagent" else "user",
        "prompt": cut(turn.prompt, MAX_PROMPT) if whole is None else "",
        "said": said(turn),
        "line": turn_line(whole or turn, top=place.top or origin.cwd),
        "interrupted": turn.interrupted,
        "branch": branch_of(turn, origin),
        "commands": [_ran(call) for call in shell[-TURN_COMMANDS:]],
        "files": list(files)[:TURN_FILES],
        "commits": [],
    }


def words_of(row: Mapping[str, Any]) -> list[str]:
    """All words of others in a turn's row: what is not here is a number, a time or a mark of ours."""
    found = [row["prompt"], row["line"], row["branch"] or "", *row["said"], *row["files"]]
    return found + [one["text"] for one in row["commands"]]


def branch_of(turn: Turn, origin: Origin) -> str | None:
    """The branch an agent said it was on."""
    name = turn.branch or origin.branch
    return spelled(name)[:MAX_NAME] if name and name != "HEAD" else None


def said(turn: Turn) -> list[str]:
    """What the agent said itself in a turn, as much of it as a person might write, the end first of all."""
    room, found = MAX_TEXT, []
    for step in reversed(turn.steps):
        if step.text.strip() and not step.aside:
            room -= len(step.text)
            if room < 0:
                break
            found.append(step.text)
    return found[::-1]


def _ran(call: Call) -> dict[str, Any]:
    return {"text": command(call), "exit_status": call.result.exit_status if call.result else None}


def command(call: Call) -> str:
    """What a shell was given, on one line."""
    return cut(" ".join((call.command or "")[:4_000].split()), 1_000)


def _last(turn: Turn) -> str | None:
    return next((at for step in reversed(turn.steps) if (at := moment(step.ts))), None)


def committing(turn: Turn, since: str, until: str) -> list[Committing]:
    """The agent's own calls of git that may have made commits.

    A call runs from its step to the next of the same kind: helpers work beside the main agent.
    """
    found: list[Committing] = []
    for aside in (False, True):
        steps = [step for step in turn.steps if step.aside is aside]
        times = [moment(step.ts) for step in steps]
        for n, step in enumerate(steps):
            verbs = frozenset(verb for call in step.calls for verb in _verbs(call))
            if verbs:
                after = next(filter(None, times[n + 1 :]), None)
                found.append(Committing(times[n] or since, after or until, verbs, _told_by_git(step)))
    return found


def _verbs(call: Call) -> list[str]:
    refused = call.result is not None and call.result.refused
    return [] if refused else _COMMITTING.findall((call.command or "")[:8_000])


def _told_by_git(step: Step) -> tuple[str, ...]:
    """The commits that calls of git printed as if they had made them; other commands may print the like."""
    found: list[str] = []
    for call in step.calls:
        if call.result and not call.result.failed and _verbs(call):
            found += _COMMITTED.findall(call.result.text[:20_000])
    return tuple(dict.fromkeys(found))
