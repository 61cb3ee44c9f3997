"""Reads what runs recorded about a file: the lines their turns wrote, and the commits they made.

An event's body names the files a run touched and the commits it made, so only relevant capsules are opened, however
many there are. Damaged, erased or private records of other clones are treated as missing.
"""

import contextlib
import json
import math
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.git.clone import Clone
from holdfast.git.event_lookup import ALL_FILES
from holdfast.model.event import Event
from holdfast.patterns import regex
from holdfast.recall.why.verdict import TurnLines, TurnName
from holdfast.store import capsule
from holdfast.values import dict_of, dicts_of, frozen, grouped, list_of

LINES, TURNS, CYCLES = "outputs/lines.jsonl", "outputs/turns.jsonl", "cycles.jsonl"
_COMMIT = regex(rb'"commit:([0-9a-f]{40,64})"')
_STARTED = regex(r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-")
_ACTION, _SEALED = b'"action":', b'"sealed":'
_WHOLE = regex(r'"content"\s*:')
# A trailer that names the run or session a commit came from; "See-also" and the like only cite one.
_NAMING = regex(r"^[\w-]*(?:run|session|checkpoint|conversation|thread|transcript|chat)[\w-]*: *(\S.*)$", re.I | re.M)
_NAME, _NUMBER = regex(r"[\w-]{8,}"), regex(r"[0-9a-f-]{8,}")
_UUID = regex(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")  # some agents put a date before it


@frozen
class RecordedTurn:
    """The part of a run's turn that explains a line."""

    number: int
    ts: str
    ended: str
    by: str  # who wrote the prompt: user, or agent for a helper's orders
    prompt: str
    line: str  # the turn in a sentence
    commits: tuple[str, ...]


class RecordedRun:
    """A run with records in this clone.

    `folder` is its capsule, None if that is missing; `touched` says that it wrote one of the files in question.
    """

    def __init__(self, event: Event, folder: str | None, commits: tuple[str, ...], *, touched: bool) -> None:
        self.event, self.folder, self.commits, self.touched = event, folder, commits, touched

    @property
    def run(self) -> str:
        return self.event.run_id or ""

    @property
    def has_lines(self) -> bool:
        """Whether its edits were recorded line by line."""
        return self.folder is not None and os.path.isfile(os.path.join(self.folder, *LINES.split("/")))

    @cached_property
    def harmed(self) -> bool:
        """Whether its records of turns and lines are damaged; then none of them is used."""
        return self.folder is not None and bool(capsule.harmed(self.folder, (LINES, TURNS)))

    @cached_property
    def turns(self) -> dict[int, RecordedTurn]:
        """Returns its turns by number, read on first use."""
        rows = capsule.read_rows(self.folder, TURNS) if self.folder else ()
        return {turn.number: turn for turn in map(_turn, rows) if turn}

    @cached_property
    def context(self) -> dict[str, Any]:
        """Returns the facts recorded at its start; empty if they are missing."""
        return capsule.read_context(self.folder)

    @property
    def names(self) -> set[str]:
        """Returns the names a commit may use for it: its id, its session's, or a number in its transcript's path."""
        parts = text_of(self.context.get("transcript"), "path").split("/")
        # Large folders are often split after the first digits: 3f/a0c41b… is 3fa0c41b…
        numbers = filter(_NUMBER.fullmatch, (*parts, *map("".join, pairwise(parts))))
        return {self.run, text_of(self.context.get("agent"), "session"), *numbers}

    def turn_of(self, commit: str) -> int | None:
        """Returns the first turn in which a commit was made."""
        return next((n for n, turn in sorted(self.turns.items()) if commit in turn.commits), None)


def trailer_names(message: str) -> set[str]:
    """Returns the likely names of runs and sessions in the trailers of a commit's message."""
    values = "\n".join(_NAMING.findall(message.rpartition("\n\n")[2]))
    return {*_NAME.findall(values), *_UUID.findall(values)}


def run_event(clone: Clone, run: str) -> Event | None:
    """Returns the last event of a run this clone knows of, on any line; None if it was erased."""
    return last_of_each(clone, clone.find_events("all", kinds=("run",), runs=(run,))).get(run)


def runs_at(clone: Clone, commits: Collection[str]) -> dict[str, list[Event]]:
    """Returns the runs that ended or started at each of these commits."""
    found = last_of_each(clone, clone.find_events("all", kinds=("run",), heads=commits)).values() if commits else ()
    return grouped((event.head or "", event) for event in found)


def last_of_each(clone: Clone, events: Iterable[Event]) -> dict[str, Event]:
    """Returns each run's last event, without erased runs."""
    erased = clone.erased()
    last = {event.run_id: event for event in sorted(events, key=lambda event: event.ts) if event.run_id}
    return {run: e for run, e in last.items() if erased.isdisjoint((run, e.target or "", e.hash_self))}


def records(clone: Clone, *, paths: Collection[str], commits: Collection[str]) -> dict[str, RecordedRun]:
    """Returns the runs that wrote one of these files or made one of these commits."""
    events = clone.runs_naming([*paths, *(f"commit:{oid}" for oid in commits)])
    named = [json.dumps(path, ensure_ascii=False).encode("utf-8", "replace") for path in paths]
    wanted = {oid.encode("ascii") for oid in commits}
    found = {}
    for event in last_of_each(clone, events).values():
        raw = _raw(clone, event)
        if not raw:
            continue
        touched = any(name in raw for name in named) or raw.count(_ACTION) >= ALL_FILES
        commits_made = _COMMIT.findall(raw)
        if touched or not wanted.isdisjoint(commits_made):
            oids = tuple(oid.decode("ascii") for oid in dict.fromkeys(commits_made))
            found[event.run_id or ""] = RecordedRun(event, folder_of(clone, event.run_id or ""), oids, touched=touched)
    return found


def _raw(clone: Clone, event: Event) -> bytes | None:
    try:
        raw = clone.bodies.raw(event.body) if event.body else None
        if raw and _SEALED in raw:
            return json.dumps(clone.bodies.get(event.body or ""), ensure_ascii=False).encode("utf-8", "replace")
        return raw
    except (HoldfastError, OSError):  # a link, or unreadable: `doctor` reports it
        return None


def has_body(clone: Clone, event: Event) -> bool:
    """Whether a run's own record is in this clone."""
    return bool(_raw(clone, event))


def began(event: Event) -> float | None:
    """Returns the start of a run, from its id."""
    named = _STARTED.match(event.run_id or "")
    return seconds("{}-{}-{}T{}:{}:{}+00:00".format(*named.groups())) if named else None


def span(clone: Clone, event: Event) -> tuple[float, float]:
    """Returns the start and end of a run, as it recorded them, else from its id and its event."""
    joined = clone.joined(event)
    first, last = (seconds(str(joined.get(name) or "")) for name in ("started", "ended"))
    end = last if last is not None else seconds(event.ts)
    begin = first if first is not None else began(event)
    return (begin, end) if begin is not None and end is not None else (math.inf, -math.inf)


def folder_of(clone: Clone, run: str) -> str | None:
    """Returns the folder of a run's capsule, if it is in this clone."""
    return next((path for path in (store.run(run) for store in clone.stores) if os.path.isdir(path)), None)


def written(record: RecordedRun, paths: Collection[str], marks: Collection[str]) -> list[TurnLines]:
    """Returns what a run wrote into these files of lines with these hashes, turn by turn."""
    folder, wanted = record.folder, frozenset(marks)
    if folder is None or not record.touched or record.harmed:
        return []
    rows = [r for r in _lines(folder, paths) if not wanted.isdisjoint((*_marks(r, "added"), *_marks(r, "removed")))]
    whole = _written_whole(folder, rows) if any(map(_may_be_whole, rows)) else set()
    return [one for row in rows if (one := _turn_lines(record, row, whole, marks)) is not None]


def _lines(folder: str, paths: Collection[str]) -> Iterator[dict[str, Any]]:
    """Yields the rows of some files; parsing the others would take most of the time."""
    named = [json.dumps(path, ensure_ascii=False).encode("utf-8", "replace") for path in paths]
    with capsule.open_lines(folder, LINES) as file:
        for line in (line for line in file if any(name in line for name in named)):
            with contextlib.suppress(ValueError, RecursionError):
                row = json.loads(line)
                if isinstance(row, dict) and row.get("path") in paths:
                    yield row


def _marks(row: Mapping[str, Any], name: str) -> list[str]:
    return [mark for mark in list_of(row.get(name)) if isinstance(mark, str)]


def _may_be_whole(row: Mapping[str, Any]) -> bool:
    """Whether a row may contain lines that were there before: not for a new file, nor where `kept` lists them."""
    return row.get("action") != "add" and not isinstance(row.get("kept"), list)


def _written_whole(folder: str, rows: Iterable[Mapping[str, Any]]) -> set[tuple[object, str]]:
    """Returns turn and file of calls that wrote a whole file whose old lines are not known."""
    asked = {(row.get("turn"), str(row.get("path"))): row for row in rows if _may_be_whole(row)}
    # A null `kept` marks such a write; older runs have no `kept`, but their calls show it.
    found = {place for place, row in asked.items() if "kept" in row}
    turns = {turn for turn, _ in asked}
    for cycle in capsule.read_rows(folder, CYCLES):
        if cycle.get("turn") in turns:
            for given in _whole_file_inputs(cycle):
                found |= {
                    (turn, path) for turn, path in asked if turn == cycle["turn"] and path.rpartition("/")[2] in given
                }
    return found


def _whole_file_inputs(cycle: Mapping[str, Any]) -> Iterator[str]:
    """Yields the inputs of calls that wrote a whole file: a content, whatever the tool's name."""
    for call in dicts_of(dict_of(cycle.get("proposal")).get("calls")):
        given = call.get("input") if call.get("kind") == "edit" else None
        if isinstance(given, str) and _WHOLE.search(given):
            yield given


def _turn_lines(
    record: RecordedRun, row: Mapping[str, Any], whole: Collection[tuple[object, str]], marks: Collection[str]
) -> TurnLines | None:
    number = row.get("turn")
    turn = record.turns.get(number) if isinstance(number, int) else None
    begin = seconds(turn.ts) if turn else None
    if turn is None or begin is None:
        return None
    added = Counter(_marks(row, "added"))
    added.subtract(_marks(row, "kept"))
    return TurnLines(
        by=TurnName(record.run, turn.number),
        path=str(row.get("path")),
        begin=begin,
        end=max(begin, seconds(turn.ended) or begin),
        added={mark: number for mark, number in added.items() if number > 0 and mark in marks},
        removed=Counter(mark for mark in _marks(row, "removed") if mark in marks),
        whole=(turn.number, str(row.get("path"))) in whole,
    )


def _turn(row: Mapping[str, Any]) -> RecordedTurn | None:
    number = row.get("turn")
    if not isinstance(number, int):
        return None
    ts, ended, by, prompt, line = (text_of(row, name) for name in ("ts", "ended", "by", "prompt", "line"))
    made = tuple(oid for oid in list_of(row.get("commits")) if isinstance(oid, str))
    return RecordedTurn(number, ts, ended or ts, by, prompt, line, made)


def text_of(row: object, name: str) -> str:
    """Returns a text of a JSON object; empty if it is missing or not a text."""
    found = dict_of(row).get(name)
    return found if isinstance(found, str) else ""


def seconds(ts: str) -> float | None:
    """Returns a time in seconds since 1970, as git counts; None if it is not a time."""
    try:
        return datetime.fromisoformat(ts).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
