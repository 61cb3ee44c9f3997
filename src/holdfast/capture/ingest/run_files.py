"""The files of a run that is made from a transcript, written a turn at a time.

    context.json          where, when, by whom, and what was asked first
    cycles.jsonl          one line a step: what the model proposed, and what came of it
    outputs/turns.jsonl   one line a turn: the person's words, the agent's, and what came of it in a line
    outputs/lines.jsonl   one line a file and turn: hashes of the lines written and removed
    outputs/todos.json    the plan as it was at the end
    outputs/body.json     what the run's event will say
    summary.md            the account; it is written last and says that all is there

The rows are pure: a turn in, JSON values out, texts cut to their limits once more, whatever a dialect did. Whatever
is written was redacted before; if the scanner fails, nothing of the run is kept.
"""

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from holdfast.capture import agents, run_report, worktree_changes
from holdfast.capture.ingest.duplicates import contents
from holdfast.capture.ingest.run_anchor import AgentGitCall, RunAnchors, moment
from holdfast.capture.ingest.session_repository import relative
from holdfast.capture.ingest.turn_notes import UndoneEdits, turn_notes
from holdfast.errors import HoldfastError
from holdfast.model import transcript as transcripts
from holdfast.model.summary import Account, Summary, summary_page, turn_line
from holdfast.model.transcript import (
    MAX_TEXT,
    Call,
    Todo,
    TokenUse,
    TranscriptOrigin,
    TranscriptStep,
    TranscriptTurn,
    cut,
)
from holdfast.model.utterance import ON_THE_WAY, TriedCommand, Utterance, Who
from holdfast.patterns import regex
from holdfast.security.redact import Scanner
from holdfast.store import capsule as capsules
from holdfast.store.import_progress import mark
from holdfast.values import asdict, field, frozen, mutable

MAX_NAME = 200  # characters of an id or a name that somebody else gave
MAX_PATH = 4_096  # PATH_MAX of Linux
TURN_COMMANDS, TURN_FILES = 100, 300  # of one turn; a guess: real turns have fewer
KEPT = 4_000  # characters of a result that a run keeps, of its beginning and its end
_FINISHING = regex(r"(?i)complet|finish|submit|exit")  # tools by which some agents say that they are done
_COMMITTED = regex(r"^\[[^\]\n]{1,200} ([0-9a-f]{7,40})\] ", re.MULTILINE)
# Git as it makes commits: its own options come first.
_COMMITTING = regex(
    r"""\bgit(?:\s+(?:-[Cc]\s*(?:"[^"\n]*"|'[^'\n]*'|[^\s"'])++|--?[\w-]+(?:=\S+)?))*+"""
    r"\s+(commit|merge|cherry-pick|revert|pull|am)\b(?![^\n;&|]*\s--dry-run\b)"
)


@frozen
class TranscriptPaths:
    """From where a session's paths are seen."""

    top: str | None
    cwd: str | None

    def path(self, name: str, turn: TranscriptTurn) -> str | None:
        """A path as git spells it; None for what lies outside."""
        inside = relative(name, self.top, turn.cwd or self.cwd)
        return worktree_changes.spelled(inside)[:MAX_PATH] if inside else None


def cycle_row(step: TranscriptStep, *, turn: int, n: int) -> tuple[dict[str, Any], list[str]]:
    """One step of the model as a line of cycles.jsonl, and all the words of others that stand in it."""
    plan = next((call.todos for call in reversed(step.calls) if call.todos is not None), None)
    planned = None if plan is None else todo_rows(plan)
    proposed = [
        {"id": call.id[:MAX_NAME], "name": call.name[:MAX_NAME], "kind": call.kind}
        | {"input": cut(call.text, transcripts.MAX_INPUT)}
        for call in step.calls
    ]
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


def _result(call: Call) -> dict[str, Any]:
    told = asdict(call.result)
    return {"id": call.id[:MAX_NAME], "output": transcripts.ends(told.pop("text"), KEPT), **told}


def todo_rows(plan: tuple[Todo, ...]) -> list[dict[str, str]]:
    """A plan as JSON has it."""
    return [{"text": cut(one.text, 4_000), "status": one.status} for one in plan]


def edits(turn: TranscriptTurn) -> Iterator[transcripts.TranscriptEdit]:
    """What certainly was written: a call that failed, was refused or cut short wrote nothing we know of."""
    for call in turn.calls:
        if call.result is not None and not call.result.failed and not call.result.refused:
            yield from call.edits


@mutable
class TurnWrittenFile:
    """What a turn wrote into one file, all its edits together."""

    action: str
    added: list[str]
    removed: list[str]
    kept: list[str] | None = field(default_factory=list)  # of what was added; None if nobody knows


def files_written(turn: TranscriptTurn, place: TranscriptPaths) -> dict[str, TurnWrittenFile]:
    """The files of the repository that a turn wrote, with the lines."""
    found: dict[str, TurnWrittenFile] = {}
    for edit in edits(turn) if place.top is not None else ():
        path = place.path(edit.path, turn)
        if path is not None:
            one = found.setdefault(path, TurnWrittenFile(edit.action, [], []))
            one.added += edit.added
            one.removed += edit.removed
            one.kept = None if one.kept is None or edit.kept is None else [*one.kept, *edit.kept]
            one.action = edit.action if edit.action in ("delete", "move") else one.action
        if edit.moved_to and (target := place.path(edit.moved_to, turn)):
            found.setdefault(target, TurnWrittenFile("add", list(edit.added), []))
    return found


def helper_files(turn: TranscriptTurn, transcript: str, agent: str, place: TranscriptPaths) -> list[str]:
    """The files that a turn's helpers wrote, by their own transcripts beside the session's."""
    beside, around = os.path.splitext(transcript)[0] + "/subagents", os.path.dirname(transcript)
    names = [f"{os.path.basename(call.helper)}.jsonl" for call in turn.calls if call.helper]
    found = [os.path.join(folder, name) for name in names for folder in (beside, around)]
    if any(call.kind == "agent" and call.result is None for call in turn.calls):  # killed before it said which
        found += _written_since(beside, moment(turn.ts))
    written: dict[str, None] = {}
    for path in dict.fromkeys(found):
        with contextlib.suppress(HoldfastError, OSError, ValueError):
            for one in agents.spoken_by(agent).read(path, 0, None):
                written |= dict.fromkeys(files_written(one, place))
    return list(written)


def _written_since(folder: str, ts: str | None) -> list[str]:
    since = datetime.fromisoformat(ts).timestamp() if ts else 0.0
    with contextlib.suppress(OSError):
        paths = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".jsonl"))
        return [path for path in paths if os.stat(path).st_mtime >= since]
    return []


def turn_row(
    turn: TranscriptTurn,
    origin: TranscriptOrigin,
    place: TranscriptPaths,
    *,
    n: int,
    ts: str,
    key: str,
    files: Mapping[str, TurnWrittenFile],
    whole: TranscriptTurn | None = None,
) -> dict[str, Any]:
    """A turn as a line of turns.jsonl: what was asked, what came of it, and what else a session wants.

    `whole` is the turn of which the rest was imported before: its words are not repeated.
    """
    return {
        "turn": n,
        "key": key,
        "steps": [mark(step.id) for step in turn.steps],
        "contents": contents(turn),
        "print": (whole or turn).fingerprint,
        "ts": ts,
        "ended": next((at for step in reversed(turn.steps) if (at := moment(step.ts))), None) or ts,
        "by": "agent" if origin.role == "subagent" else "user",
        "prompt": cut(turn.prompt, transcripts.MAX_PROMPT) if whole is None else "",
        **_words(turn),
        "line": turn_line(whole or turn, top=place.top or origin.cwd),
        "interrupted": turn.interrupted,
        "branch": branch_of(turn, origin),
        "files": list(files)[:TURN_FILES],
        "commits": [],
    }


def committed_in(
    turn: TranscriptTurn, row: Mapping[str, Any], origin: TranscriptOrigin, anchors: RunAnchors
) -> dict[str, Any]:
    """The commits of a turn, and its files with theirs; no hook of git's is needed for it.

    By HEAD's log while the agent's git ran, by what git told the agent, and by what others noted.
    """
    if not (turn.calls or turn.commits):
        return {}
    calls = committing(turn, row["ts"], row["ended"])
    made = list(dict.fromkeys([*anchors.made(calls, origin, turn.cwd), *anchors.told(calls), *turn.commits]))
    return {"commits": made, "files": list(dict.fromkeys([*row["files"], *anchors.files_of(made)]))[:TURN_FILES]}


def row_words(row: Mapping[str, Any]) -> list[str]:
    """All words of others in a turn's row: what is not here is a number, a time or a mark of ours."""
    found = [row["prompt"], row["line"], row["branch"] or "", *row["said"], *row["files"]]
    return found + [one["text"] for one in (*row["commands"], *row["notes"])]


def branch_of(turn: TranscriptTurn, origin: TranscriptOrigin) -> str | None:
    """The branch an agent said it was on."""
    name = turn.branch or origin.branch
    return worktree_changes.spelled(name)[:MAX_NAME] if name and name != "HEAD" else None


def agent_texts(turn: TranscriptTurn) -> dict[str, Any]:
    """What the agent said itself in a turn, as much of it as a person might write, the end first of all.

    With it which of these texts only tell what is being done, if the agent's program says so, and whether the last one
    closes the turn: what an agent finds right before its last edit is no report of the work.
    """
    room, found = MAX_TEXT, []
    for step in reversed(turn.steps):
        if step.text.strip() and not step.aside:
            room -= len(step.text)
            if room < 0:
                break
            found.append(step)
    found.reverse()
    since = turn.steps[turn.steps.index(found[-1]) :] if found else ()
    return {
        "said": [step.text for step in found],
        "on_the_way": [n for n, step in enumerate(found) if step.on_the_way],
        "closes": not any(call.edits for step in since for call in step.calls),
    }


def _ran(call: Call) -> dict[str, Any]:
    return {"text": shell_line(call), "exit_status": call.result.exit_status if call.result else None}


def shell_line(call: Call) -> str:
    """What a shell was given, on one line."""
    return cut(" ".join((call.command or "")[:4_000].split()), 1_000)


def committing(turn: TranscriptTurn, since: str, until: str) -> list[AgentGitCall]:
    """The agent's own calls of git that may have made commits.

    A call runs from its step to the next of the same kind: helpers work beside the main agent.
    """
    found: list[AgentGitCall] = []
    for aside in (False, True):
        steps = [step for step in turn.steps if step.aside is aside]
        times = [moment(step.ts) for step in steps]
        for n, step in enumerate(steps):
            verbs = frozenset(verb for call in step.calls for verb in _verbs(call))
            if verbs:
                after = next(filter(None, times[n + 1 :]), None)
                # Commits that git printed as if it had made them, also on a line that failed after it, as a push does;
                # other commands may print the like.
                done = [one.result.text for one in step.calls if one.result and _verbs(one)]
                told = dict.fromkeys(name for text in done for name in _COMMITTED.findall(text[:20_000]))
                found.append(AgentGitCall(times[n] or since, after or until, verbs, tuple(told)))
    return found


def _verbs(call: Call) -> list[str]:
    refused = call.result is not None and call.result.refused
    return [] if refused else _COMMITTING.findall((call.command or "")[:8_000])


CYCLES, TURNS, LINES = "cycles.jsonl", "outputs/turns.jsonl", "outputs/lines.jsonl"
TODOS, BODY = "outputs/todos.json", "outputs/body.json"
MAX_CALLS, MAX_FILES, MAX_LEFT = 100, 2_000, 50  # of the event's body; the capsule has them all
MAX_HEARD = 1 << 20  # characters of a run that are looked through

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))

# What a run decided, ruled, found out …, by type of memory.
Decided = Callable[[Sequence[Utterance | TriedCommand]], Mapping[str, Sequence[str]]]


def is_cut_short(turn: TranscriptTurn) -> bool:
    """Whether a turn ends at a tool's call or without any step: an agent that is not stopped gives an answer."""
    last = turn.steps[-1].calls if turn.steps else ()
    unanswered = any(call.result is None for call in last)
    return not turn.steps or unanswered or bool(last and not any(_FINISHING.search(call.name) for call in last))


class RunFilesWriter:
    """The files of one run while they are written."""

    def __init__(
        self,
        into: capsules.Capsule,
        context: Mapping[str, Any],
        origin: TranscriptOrigin,
        place: TranscriptPaths,
        *,
        scan: Scanner,
        anchors: RunAnchors,
    ) -> None:
        self._into, self._context, self._scan, self._anchors = into, context, scan, anchors
        self._origin, self._place = origin, place
        self._account, self._quotes = Account(origin, top=place.top), transcripts.TranscriptQuotes()
        self._undone = UndoneEdits()
        self._sinks = {name: into.open_output(name) for name in (CYCLES, TURNS)}
        self.steps = self._all_calls = 0
        self._calls: list[dict[str, Any]] = []
        self._files: dict[str, dict[str, Any]] = {}
        self.commits: dict[str, None] = {}  # that were made in it
        self._usage: dict[str, TokenUse] = {}  # by model
        self._todos: tuple[Todo, ...] | None = None
        self._interrupted = False
        self._ended = str(context["started"])

    def add(self, turn: TranscriptTurn, *, n: int, ts: str, key: str, whole: TranscriptTurn | None = None) -> None:
        """Write what a turn says; ScanFailed if it cannot be made safe.

        `whole` is the turn of which the rest was imported before.
        """
        files = files_written(turn, self._place)
        helpers = helper_files(turn, str(self._context["transcript"]["path"]), self._origin.agent, self._place)
        row = turn_row(turn, self._origin, self._place, n=n, ts=ts, key=key, files=files, whole=whole)
        row |= agent_texts(self._quotes.out_of(turn))
        row["notes"] += self._undone.notes(turn)
        if self._place.top:
            row |= committed_in(turn, row, self._origin, self._anchors)
            row["files"] = list(dict.fromkeys([*row["files"], *helpers]))[:TURN_FILES]
            self.commits |= dict.fromkeys(row["commits"])
        for number, step in enumerate(turn.steps, self.steps + 1):
            self._write(CYCLES, *cycle_row(step, turn=n, n=number))
        self._write(TURNS, row, row_words(row))
        for path, one in files.items():
            self._write_lines(path, one, n)
        self._account.add(turn)
        self._count(turn, row["ended"])

    def _write(self, name: str, row: Mapping[str, Any], words: list[str]) -> None:
        """Write a row; `words` are all of it that is somebody else's, so that one look is enough mostly."""
        together = "\n".join(words)
        safe = row if self._scan.text(together) == together else self._scan.value(row)
        self._sinks[name].write(_ENCODER.encode(safe).encode("utf-8", "backslashreplace") + b"\n")

    def _write_lines(self, path: str, one: TurnWrittenFile, n: int) -> None:
        if LINES not in self._sinks:
            self._sinks[LINES] = self._into.open_output(LINES)
        added, removed = (_hashes(lines, self._scan) for lines in (one.added, one.removed))
        row = {"turn": n, "path": path, "action": one.action, "added": added, "removed": removed}
        if one.kept != []:
            row["kept"] = None if one.kept is None else _hashes(one.kept, self._scan)
        self._write(LINES, row, [path])
        if path in self._files or len(self._files) < MAX_FILES:
            untouched = {"path": path, "action": one.action, "added": 0, "removed": 0}
            touched = self._files.setdefault(path, untouched)
            touched["added"] += len(one.added)
            touched["removed"] += len(one.removed)

    def _count(self, turn: TranscriptTurn, ended: str) -> None:
        self.steps += len(turn.steps)
        self._ended = max(self._ended, ended)
        self._interrupted = turn.interrupted or is_cut_short(turn)
        self._all_calls += len(turn.calls)
        self._calls += map(_called, turn.calls[: MAX_CALLS - len(self._calls)])
        for step in turn.steps:
            if step.usage is not None:
                model = (step.model or "")[:MAX_NAME]
                self._usage[model] = self._usage.get(model, TokenUse()) + step.usage
        for call in turn.calls:
            self._todos = self._todos if call.todos is None else call.todos

    def finish(self, read: Mapping[str, Any], *, decided: Decided) -> None:
        """Write what is known at the end; the summary last. `read` says how far the transcript was read."""
        self.close()
        with self._into.opening():
            summary = self._account.finish(found=decided(list(said_in_run(self._into.folder))))
        if self._todos is not None:
            self._into.replace(TODOS, capsules.to_json(self._scan.value(todo_rows(self._todos))))
        self._into.replace(BODY, capsules.to_json(self._scan.value({**self._told(summary), "read": dict(read)})))
        context, agent, anchor = self._context, self._context["agent"], self._context["anchor"]
        fields = {
            "Run": context["run_id"],
            "Agent": " ".join(filter(None, (agent["name"], agent["version"]))),
            "Session": agent["session"],
            "Parent": context["parent_run_id"],
            "Started": context["started"],
            "Branch": anchor["branch"],
            "Commit": anchor["head"] or "unanchored",
        }
        text = self._scan.text(summary_page(summary, fields))
        self._into.replace(capsules.SUMMARY, text.encode("utf-8", "backslashreplace"))

    def close(self) -> None:
        """Let go of the files."""
        for sink in self._sinks.values():
            sink.close()

    def _told(self, summary: Summary) -> dict[str, Any]:
        """How the run ended, what it left open, and what its event says."""
        plan = [cut(one.text, 4_000) for one in self._todos or () if one.status in ("open", "started")]
        return {
            "ended": self._ended,
            "todos": None if self._todos is None else plan,
            # Talk alone settles nothing that was left open before; work may have.
            "unfinished": list(summary.unfinished) if summary.unfinished or self._files else None,
            "body": {
                "prompt": cut(str(self._context["prompt"] or ""), run_report.MAX_TEXT) or None,
                "status": "interrupted" if self._interrupted else "ended",  # nobody saw an exit status
                "started": self._context["started"],
                "ended": self._ended,
                "outputs": {
                    "summary": summary.sentence,
                    "turns": summary.turns,  # as its page counts them: what a person asked
                    "cycles": self.steps,
                    "calls": self._all_calls,
                    "duration_ms": run_report.duration(str(self._context["started"]), self._ended),
                    "files_changed": len(self._files),
                    **(
                        {
                            "usage": [
                                {"agent": self._origin.agent, "model": name, **asdict(one)}
                                for name, one in sorted(self._usage.items())
                            ]
                        }
                        if self._usage
                        else {}
                    ),
                    **({"repository": self._context["repository"]} if self._context["repository"] else {}),
                },
                "tool_calls": self._calls,
                "artifacts": list(self._files.values()),
                "receipts": [f"commit:{oid}" for oid in self.commits][:1_000],
                "next_actions": list(summary.left_open)[:MAX_LEFT],
                "derived_facts": [],
            },
        }


def _called(call: Call) -> dict[str, Any]:
    ended = call.result.exit_status if call.result else None
    fields = {"name": call.name[:MAX_NAME], "arguments": cut(shell_line(call), 200) or None, "exit_status": ended}
    return {name: value for name, value in fields.items() if value is not None}


def _hashes(lines: list[str], scan: Scanner) -> list[str]:
    """Hashes of the lines that hold no secret: of one that does, not even a hash is kept, which could be guessed."""
    text = "\n".join(lines)
    harmless = lines if scan.text(text) == text else [line for line in lines if scan.text(line) == line]
    return [transcripts.line_hash(line) for line in transcripts.telling_lines(harmless)]


def turns_of(folder: str) -> Iterator[dict[str, Any]]:
    """The turns of an imported run, one by one; what is damaged is left out."""
    return capsules.read_rows(folder, TURNS)


def said_in_run(folder: str) -> Iterator[Utterance | TriedCommand]:
    """The words and commands of an imported run, as far as it is searched for candidates."""
    room = MAX_HEARD
    for row in turns_of(folder):
        found = list(_heard(row))
        room -= sum(len(one.text) for one in found if isinstance(one, Utterance))
        if room < 0:
            return
        yield from found


def said_in_turn(turn: TranscriptTurn, n: int, files: Iterable[str] = ()) -> Iterator[Utterance | TriedCommand]:
    """The words and commands of a turn that is not imported; what its agent only quotes is left out before."""
    asked = {"turn": n, "by": "user", "prompt": turn.prompt, "files": tuple(files), "commits": turn.commits}
    yield from _heard({**asked, **_words(turn)})


def _words(turn: TranscriptTurn) -> dict[str, Any]:
    """What was said and run in a turn, and what else it says."""
    commands = [_ran(call) for call in turn.calls if call.command][-TURN_COMMANDS:]
    wrote = any(edits(turn))
    return {**agent_texts(turn), "commands": commands, "notes": turn_notes(turn), "wrote": wrote}


def _heard(row: Mapping[str, Any]) -> Iterator[Utterance | TriedCommand]:
    n, files = int(row["turn"]), tuple(row["files"])
    wrote = bool(row.get("wrote", files) or row["commits"])  # runs of earlier versions name only files
    if row["prompt"]:
        yield Utterance(row["by"], row["prompt"], n, "request", files, wrote)
    aside, last = set(row.get("on_the_way") or ()), len(row["said"]) - 1 if row.get("closes", True) else -1
    for place, text in enumerate(row["said"]):
        source = ON_THE_WAY if place in aside else "closing" if place == last else "said"
        yield Utterance("agent", text, n, source, files, wrote)
    for note in row.get("notes") or ():
        who: Who = "user" if note["of"] in ("answer", "refusal") else "agent"
        yield Utterance(who, note["text"], n, note["of"], files, wrote)
    yield from (TriedCommand(one["text"], one["exit_status"], n) for one in row["commands"])
