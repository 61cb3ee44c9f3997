"""Reads the statistics: the rows that `tally` wrote, the uses of memories, and today's model calls.

A use is a memory that was found or shown and then cited or acted on; `diagnostics.stats` computes it from rows, log and
commits, outside of searches, and stores it here, one row for each:

    <seconds> <how> <by what> <memory>

The file is small, a use is written once, and it stays when its source rows have become sums. A call of the user's model
command is counted before it runs, so that a crash counts too.
"""

import contextlib
import os
from collections.abc import Iterable, Mapping
from operator import attrgetter

from holdfast.store import fsio, loose_records, tally
from holdfast.store.layout import Layout
from holdfast.values import frozen

CITED, ACTED = "cited", "acted"
MOST_USES = 20_000  # the newest; a guess: at about forty bytes each, 800 kB
RENEW = 86_400  # seconds before the time of the last search is written again: a write makes stored answers outdated
_MAX_FILE = 8 << 20  # bytes; a guess: ten times the largest file that we write
_RECKONED = "reckoned"


@frozen
class CountedRecall:
    """One recall: its time, its duration, and the memories that it found."""

    at: int
    microseconds: int
    memories: tuple[str, ...]  # in lower case


@frozen
class CountedContext:
    """Context that an agent got: a pack, by how its session was found, or rows at a prompt or a tool."""

    at: int
    microseconds: int  # 0 if unknown
    tokens: int
    how: str
    session: str | None
    memories: tuple[str, ...]


@frozen
class CountedLook:
    """One `show` of a memory."""

    at: int
    memory: str


@frozen
class CountedLines:
    """The rows that are not yet sums, by time."""

    asked: tuple[CountedRecall, ...]
    told: tuple[CountedContext, ...]
    looked: tuple[CountedLook, ...]


@frozen(order=True)
class MemoryUse:
    """A memory was cited or acted on after a recall or a context had it."""

    at: int
    how: str  # CITED or ACTED
    by: str  # the citing record: an id, or the start of an event's or a commit's hash
    memory: str  # in lower case


def read(layout: Layout, *, holding: str = "") -> CountedLines:
    """Reads the rows that are not yet sums, or those with a text; skips damaged ones."""
    asked: list[CountedRecall] = []
    told: list[CountedContext] = []
    looked: list[CountedLook] = []
    for words in tally.whole(layout, holding=holding)[1]:
        if not tally.effect(words):
            continue
        row = [word.decode("ascii", "replace") for word in words]
        if len(row) == 7 and row[1] == "ask":
            asked.append(CountedRecall(int(row[0]), int(row[2]), tuple(tally.ids(row[6]))))
        elif len(row) == 7 and row[1] == "told":
            when, took, tokens = (int(row[place]) for place in (0, 2, 3))
            session = next(iter(tally.ids(row[5])), None)
            told.append(CountedContext(when, took, tokens, row[4], session, tuple(tally.ids(row[6]))))
        elif len(row) < 4 and row[1].startswith(tally.LOOKED):
            looked.append(CountedLook(int(row[0]), row[1].removeprefix(tally.LOOKED)))
    at = attrgetter("at")
    return CountedLines(tuple(sorted(asked, key=at)), tuple(sorted(told, key=at)), tuple(sorted(looked, key=at)))


def times(layout: Layout, memory: str) -> dict[str, int]:
    """Returns how often one memory was recalled, given, shown and used; parses only the rows with its id."""
    name = memory.lower()
    found = tally.totals(layout, holding=name)
    sorts = {"recalled": tally.RECALLED, "told": tally.TOLD, "looked": tally.LOOKED}
    used = sum(use.memory == name for use in uses(layout))
    return {**{word: found.get(f"{sort}{name}", 0) for word, sort in sorts.items()}, "used": used}


# ── uses ─────────────────────────────────────────────────────────────────────────────────────────


def uses(layout: Layout) -> list[MemoryUse]:
    """Returns every use that was found so far, by time; skips damaged rows."""
    rows = (row for row in _rows(layout) if row[1] in (CITED, ACTED) and tally.is_name(row[2]))
    named = (row for row in rows if tally.is_name(f"{tally.RECALLED}{row[3]}"))
    return sorted({MemoryUse(int(at), how, by, memory) for at, how, by, memory in named})


def reckoned(layout: Layout) -> int:
    """Returns the time of the last search for uses; 0 if there was none."""
    return max((int(row[0]) for row in _rows(layout) if row[1:] == [_RECKONED, "-", "-"]), default=0)


def times_used(layout: Layout) -> Mapping[str, tuple[int, int]]:
    """Returns how often each memory was used, and when last; by its id in lower case."""
    found: dict[str, tuple[int, int]] = {}
    for use in uses(layout):
        found[use.memory] = (found.get(use.memory, (0, 0))[0] + 1, use.at)
    return found


def keep_uses(layout: Layout, found: Iterable[MemoryUse], *, now: int) -> list[MemoryUse]:
    """Adds new uses, and records the time of the search; returns all uses."""
    known = uses(layout)
    all_of_them = joined(known, found)
    if all_of_them == known and 0 <= now - reckoned(layout) < RENEW:
        return known  # a write would make stored answers outdated: they depend on this file's time
    rows = [f"{use.at} {use.how} {use.by} {use.memory}\n" for use in all_of_them]
    rows.append(f"{now} {_RECKONED} - -\n")
    fsio.replace(layout.uses, "".join(rows).encode("ascii"))
    return all_of_them


def joined(known: Iterable[MemoryUse], found: Iterable[MemoryUse]) -> list[MemoryUse]:
    """Returns all uses, by time; of two with the same source and memory, the known one."""
    return sorted({(use.by, use.memory): use for use in (*found, *known)}.values())[-MOST_USES:]


def _rows(layout: Layout) -> list[list[str]]:
    data = loose_records.content(layout.uses, limit=_MAX_FILE)
    rows = (line.split(" ") for line in data.decode("ascii", "replace").split("\n")[:-1])
    return [row for row in rows if len(row) == 4 and row[0].isdigit() and len(row[0]) < 16]


# ── erasing ──────────────────────────────────────────────────────────────────────────────────────


def erase(layout: Layout, identity: str) -> list[str]:
    """Deletes an id from every row of the statistics; returns what it deleted."""
    name = identity.lower().encode("utf-8", "replace")
    gone = [end for end in ("", tally.OLD, tally.SUMS, tally.USED) if _strike(f"{layout.statistics}{end}", name)]
    return [f"statistics of {identity}"] if gone else []


def _strike(path: str, name: bytes) -> bool:
    """Rewrites a file without a name; keeps rows that are added meanwhile."""
    with contextlib.suppress(FileNotFoundError), open(path, "rb", opener=tally.plainly) as file:
        data = file.read(_MAX_FILE * 8)
        if (kept := _without(data, name)) == data:
            return False
        fsio.replace(path, kept)
        if late := file.read(_MAX_FILE):
            with open(path, "ab") as again:
                again.write(_without(late, name))
        return True
    return False


def _without(data: bytes, name: bytes) -> bytes:
    if name not in data:
        return data
    return b"".join(_line_without(line, name) for line in data.splitlines(keepends=True))


def _line_without(line: bytes, name: bytes) -> bytes:
    words = line.split()
    if name in words or any(word.split(b".", 1)[-1] == name for word in words):
        return b""
    lists = [b",".join(part for part in word.split(b",") if part != name) or b"-" for word in words]
    return b" ".join(lists) + b"\n" if lists != words else line


_MAX_CALLS_FILE = 4096  # bytes; a guess: it has one date and one number


def model_calls_used(layout: Layout, day: str) -> int:
    """Returns the number of calls on a day, such as 2026-11-16; a damaged count is 0."""
    record = loose_records.read(_calls_path(layout), limit=_MAX_CALLS_FILE)
    calls = record.get("calls") if record.get("day") == day else 0
    return max(0, calls) if type(calls) is int else 0


def take_model_call(layout: Layout, day: str, *, limit: int) -> int | None:
    """Counts one more call and returns the number of today; None if the limit is reached."""
    fsio.make_dirs(layout.sessions)
    with fsio.locked(_calls_path(layout) + ".lock"):
        calls = model_calls_used(layout, day) + 1
        if calls > limit:
            return None
        loose_records.keep(_calls_path(layout), {"day": day, "calls": calls})
        return calls


def _calls_path(layout: Layout) -> str:
    return os.path.join(layout.sessions, "model-calls.json")
