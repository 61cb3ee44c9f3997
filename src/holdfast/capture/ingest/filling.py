"""A capsule being filled from a transcript, a turn at a time: nothing is held but the account of it.

    context.json          where, when, by whom, and what was asked first
    cycles.jsonl          one line a step: what the model proposed, and what came of it
    outputs/turns.jsonl   one line a turn: the person's words, the agent's, and what came of it in a line
    outputs/lines.jsonl   one line a file and turn: hashes of the lines written and removed
    outputs/todos.json    the plan as it was at the end
    outputs/body.json     what the run's event will say
    summary.md            the account; it is written last and says that all is there

Whatever is written was redacted before. If the scanner fails, nothing of the run is kept.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from holdfast.capture import account
from holdfast.capture.ingest import rows
from holdfast.capture.ingest.anchoring import Anchors
from holdfast.capture.ingest.rows import Place, Written
from holdfast.model.quoting import Quotes
from holdfast.model.said import Said, Tried
from holdfast.model.summary import Account, Summary, page
from holdfast.model.transcript import Call, Origin, Todo, Turn, cut
from holdfast.security.redact import Scanner
from holdfast.store import capsule as capsules
from holdfast.store.capsule import Capsule

CYCLES, TURNS, LINES = "cycles.jsonl", "outputs/turns.jsonl", "outputs/lines.jsonl"
TODOS, BODY = "outputs/todos.json", "outputs/body.json"
MAX_CALLS, MAX_FILES, MAX_LEFT = 100, 2_000, 50  # of the event's body; the capsule has them all
MAX_HEARD = 1 << 20  # characters of a run that are looked through

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))

# What was decided, ruled, found out … in what was said and done, by type of memory.
Decided = Callable[[Sequence[Said | Tried]], Mapping[str, Sequence[str]]]


class Filling:
    """The files of one run while they are written."""

    def __init__(
        self,
        into: Capsule,
        context: Mapping[str, Any],
        origin: Origin,
        place: Place,
        *,
        scan: Scanner,
        anchors: Anchors,
    ) -> None:
        self._into, self._context, self._scan, self._anchors = into, context, scan, anchors
        self._origin, self._place = origin, place
        self._account, self._quotes = Account(origin, top=place.top), Quotes()
        self._sinks = {name: into.open_output(name) for name in (CYCLES, TURNS)}
        self.turns = self.steps = 0
        self._calls: list[dict[str, Any]] = []
        self._more_calls = 0
        self._files: dict[str, Written] = {}
        self._sizes: dict[str, tuple[int, int]] = {}
        self._commits: dict[str, None] = {}
        self._todos: tuple[Todo, ...] | None = None
        self._interrupted = False
        self._ended = str(context["started"])

    def add(self, turn: Turn, *, n: int, ts: str, key: str, whole: Turn | None = None) -> None:
        """Write what a turn says; ScanFailed if it cannot be made safe.

        `whole` is the turn of which the rest was taken in before.
        """
        files = rows.written(turn, self._place)
        brief = rows.slim(turn)
        row = rows.told(brief, self._origin, self._place, n=n, ts=ts, key=key, files=files, whole=whole)
        row["said"] = rows.said(self._quotes.out_of(turn))
        row["commits"] = self._made(turn, row)
        for number, step in enumerate(turn.steps, self.steps + 1):
            self._write(CYCLES, *rows.cycle(step, turn=n, n=number))
        self._write(TURNS, row, rows.words_of(row))
        for path, one in files.items():
            self._write_lines(path, one, n)
        self._account.add(brief)
        self._count(turn, row["ended"])

    @property
    def commits(self) -> set[str]:
        """The commits that were made in it."""
        return set(self._commits)

    def _write(self, name: str, row: Mapping[str, Any], words: list[str]) -> None:
        """Write a row; `words` are all of it that is somebody else's, so that one look is enough mostly."""
        together = "\n".join(words)
        safe = row if self._scan.text(together) == together else self._scan.value(row)
        text = _ENCODER.encode(safe).encode("utf-8", "backslashreplace")
        self._sinks[name].write(text + b"\n")

    def _write_lines(self, path: str, one: Written, n: int) -> None:
        if LINES not in self._sinks:
            self._sinks[LINES] = self._into.open_output(LINES)
        added, removed = (_harmless(lines, self._scan) for lines in (one.added, one.removed))
        kept = None if one.kept is None else _harmless(one.kept, self._scan)
        row = rows.lines(path, one, turn=n, added=added, removed=removed, kept=kept)
        self._write(LINES, row, [path])
        if path in self._files or len(self._files) < MAX_FILES:
            self._files.setdefault(path, Written(one.action, [], []))
            more, less = self._sizes.get(path, (0, 0))
            self._sizes[path] = (more + len(one.added), less + len(one.removed))

    def _made(self, turn: Turn, row: Mapping[str, Any]) -> list[str]:
        """The commits made in a turn: by the log while the agent's git ran, and by what git told it."""
        found: list[str] = []
        if turn.calls and self._place.top:
            calls = rows.committing(turn, row["ts"], row["ended"])
            found = self._anchors.made(calls, self._origin, turn.cwd) + self._anchors.told(calls)
        self._commits |= dict.fromkeys(found)
        return list(dict.fromkeys(found))

    def _count(self, turn: Turn, ended: str) -> None:
        self.turns += not turn.continues
        self.steps += len(turn.steps)
        self._ended = max(self._ended, ended)
        last = turn.steps[-1].calls if turn.steps else ()
        self._interrupted = turn.interrupted or any(call.result is None for call in last)
        for call in turn.calls:
            self._todos = self._todos if call.todos is None else call.todos
            if len(self._calls) < MAX_CALLS:
                self._calls.append(_called(call))
            else:
                self._more_calls += 1

    def finish(self, read: Mapping[str, Any], *, decided: Decided) -> None:
        """Write what is known at the end; the summary last. `read` says how far the transcript was read."""
        self.close()
        summary = self._account.finish(found=decided(list(heard(self._into.folder))))
        if self._todos is not None:
            self._into.replace(TODOS, capsules.to_json(self._scan.value(rows.todos(self._todos))))
        self._into.replace(BODY, capsules.to_json(self._scan.value({**self._told(summary), "read": dict(read)})))
        text = self._scan.text(page(summary, self._fields()))
        self._into.replace(capsules.SUMMARY, text.encode("utf-8", "backslashreplace"))

    def close(self) -> None:
        """Let go of the files."""
        for sink in self._sinks.values():
            sink.close()

    def _fields(self) -> dict[str, str | None]:
        context, agent, anchor = self._context, self._context["agent"], self._context["anchor"]
        return {
            "Run": context["run_id"],
            "Agent": " ".join(filter(None, (agent["name"], agent["version"]))),
            "Session": agent["session"],
            "Parent": context["parent_run_id"],
            "Started": context["started"],
            "Branch": anchor["branch"],
            "Commit": anchor["head"] or "unanchored",
        }

    def _told(self, summary: Summary) -> dict[str, Any]:
        """How the run ended, what it left open, and what its event says."""
        plan = [cut(one.text, 4_000) for one in self._todos or () if one.status in ("open", "started")]
        return {
            "ended": self._ended,
            "todos": None if self._todos is None else plan,
            # Talk alone settles nothing that was left open before; work may have.
            "unfinished": list(summary.unfinished) if summary.unfinished or self._files else None,
            "body": {
                "prompt": cut(str(self._context["prompt"] or ""), account.MAX_TEXT) or None,
                "status": "interrupted" if self._interrupted else "ended",  # nobody saw an exit status
                "started": self._context["started"],
                "ended": self._ended,
                "outputs": self._outputs(summary),
                "tool_calls": self._calls,
                "artifacts": [self._touched(path, one) for path, one in self._files.items()],
                "receipts": [f"commit:{oid}" for oid in self._commits][:1_000],
                "next_actions": list(summary.left_open)[:MAX_LEFT],
                "derived_facts": [],
            },
        }

    def _outputs(self, summary: Summary) -> dict[str, Any]:
        return {
            "summary": summary.sentence,
            "turns": self.turns,
            "cycles": self.steps,
            "calls": len(self._calls) + self._more_calls,
            "duration_ms": account.duration(str(self._context["started"]), self._ended),
            "files_changed": len(self._files),
            **({"repository": self._context["repository"]} if self._context["repository"] else {}),
        }

    def _touched(self, path: str, one: Written) -> dict[str, Any]:
        added, removed = self._sizes[path]
        return {"path": path, "action": one.action, "added": added, "removed": removed}


def _called(call: Call) -> dict[str, Any]:
    fields = {
        "name": call.name[: rows.MAX_NAME],
        "arguments": cut(rows.command(call), 200) or None,
        "exit_status": call.result.exit_status if call.result else None,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _harmless(lines: list[str], scan: Scanner) -> list[str]:
    """The lines that hold no secret: of one that does, not even a hash is kept, which could be guessed."""
    text = "\n".join(lines)
    return lines if scan.text(text) == text else [line for line in lines if scan.text(line) == line]


def turns_of(folder: str) -> Iterator[dict[str, Any]]:
    """The turns of a run that was taken in, one by one; what is damaged is left out."""
    return capsules.read_rows(folder, TURNS)


def heard(folder: str) -> Iterator[Said | Tried]:
    """What was said and tried in a run that was taken in, as far as it is looked through for candidates."""
    room = MAX_HEARD
    for row in turns_of(folder):
        n = int(row["turn"])
        found: list[Said | Tried] = [Said(row["by"], row["prompt"], n)] if row["prompt"] else []
        found += [Said("agent", text, n) for text in row["said"]]
        room -= sum(len(one.text) for one in found if isinstance(one, Said))
        if room < 0:
            return
        yield from found
        yield from (Tried(one["text"], one["exit_status"], n) for one in row["commands"])
