"""What was counted, read: every line that is still there as a value, which memories were used, and model calls today.

Lines are written by `tally`. A use is a memory that was found or shown and then cited or acted on; `diagnostics.stats`
computes it from lines, log and commits, away from any question, and keeps it here, a line each:

    <seconds> <how> <by what> <memory>

The file is small, a use is written once, and it stays when the lines it was computed from have become sums.
A call of the user's model command is counted before it is made, so that a crash counts too.
"""

import contextlib
import os
from collections.abc import Iterable, Mapping
from operator import attrgetter

from holdfast.store import fsio, loose_records, tally
from holdfast.store.layout import Layout
from holdfast.values import frozen

CITED, ACTED = "cited", "acted"
MOST_USES = 20_000  # the newest; each is a line of some forty bytes
RENEW = 86_400  # seconds after which the time up to which uses were searched is written again
_MAX_FILE = 8 << 20
_RECKONED = "reckoned"


@frozen
class CountedRecall:
    """One question: when, how long it took, what it found."""

    at: int
    microseconds: int
    memories: tuple[str, ...]  # in lower case


@frozen
class CountedContext:
    """Context an agent was given: a pack, by how its session was found, or lines at a prompt or a tool."""

    at: int
    microseconds: int  # 0 where nobody knows
    tokens: int
    how: str
    session: str | None
    memories: tuple[str, ...]


@frozen
class CountedLook:
    """Somebody had one memory shown."""

    at: int
    memory: str


@frozen
class CountedLines:
    """Every single line that is still there, by time."""

    asked: tuple[CountedRecall, ...]
    told: tuple[CountedContext, ...]
    looked: tuple[CountedLook, ...]


@frozen(order=True)
class MemoryUse:
    """A memory was cited or acted on after it had been found or told."""

    at: int
    how: str  # CITED or ACTED
    by: str  # the thing that cites it: an id, or the beginning of an event's or a commit's
    memory: str  # in lower case


def read(layout: Layout) -> CountedLines:
    """The lines that are still there; what is damaged is left out."""
    asked: list[CountedRecall] = []
    told: list[CountedContext] = []
    looked: list[CountedLook] = []
    for words in tally.whole(layout)[1]:
        if not tally.effect(words):
            continue
        said = [word.decode("ascii", "replace") for word in words]
        if len(said) == 7 and said[1] == "ask":
            asked.append(CountedRecall(int(said[0]), int(said[2]), tuple(tally.ids(said[6]))))
        elif len(said) == 7 and said[1] == "told":
            when, took, tokens = (int(said[place]) for place in (0, 2, 3))
            session = next(iter(tally.ids(said[5])), None)
            told.append(CountedContext(when, took, tokens, said[4], session, tuple(tally.ids(said[6]))))
        elif len(said) < 4 and said[1].startswith(tally.LOOKED):
            looked.append(CountedLook(int(said[0]), said[1].removeprefix(tally.LOOKED)))
    at = attrgetter("at")
    return CountedLines(tuple(sorted(asked, key=at)), tuple(sorted(told, key=at)), tuple(sorted(looked, key=at)))


def times(layout: Layout, memory: str) -> dict[str, int]:
    """How often one memory was found, told, looked at and used; without reading all the rest."""
    name = memory.lower()
    found = tally.totals(layout, holding=name)
    sorts = {"recalled": tally.RECALLED, "told": tally.TOLD, "looked": tally.LOOKED}
    used = sum(use.memory == name for use in uses(layout))
    return {**{word: found.get(f"{sort}{name}", 0) for word, sort in sorts.items()}, "used": used}


# ── uses ─────────────────────────────────────────────────────────────────────────────────────────


def uses(layout: Layout) -> list[MemoryUse]:
    """Every use that was found so far, by time; what is damaged does not count."""
    rows = (row for row in _rows(layout) if row[1] in (CITED, ACTED) and tally.is_name(row[2]))
    named = (row for row in rows if tally.is_name(f"{tally.RECALLED}{row[3]}"))
    return sorted({MemoryUse(int(at), how, by, memory) for at, how, by, memory in named})


def reckoned(layout: Layout) -> int:
    """Up to when uses were looked for; 0 if nobody did."""
    return max((int(row[0]) for row in _rows(layout) if row[1:] == [_RECKONED, "-", "-"]), default=0)


def times_used(layout: Layout) -> Mapping[str, tuple[int, int]]:
    """How often each memory was used, and when last; by its id in lower case."""
    found: dict[str, tuple[int, int]] = {}
    for use in uses(layout):
        found[use.memory] = (found.get(use.memory, (0, 0))[0] + 1, use.at)
    return found


def keep_uses(layout: Layout, found: Iterable[MemoryUse], *, now: int) -> list[MemoryUse]:
    """Add what is new among these, and note that it was looked for up to now; gives all of them."""
    known = uses(layout)
    all_of_them = joined(known, found)
    if all_of_them == known and 0 <= now - reckoned(layout) < RENEW:
        return known  # the index looks at this file's time
    rows = [f"{use.at} {use.how} {use.by} {use.memory}\n" for use in all_of_them]
    rows.append(f"{now} {_RECKONED} - -\n")
    fsio.replace(layout.uses, "".join(rows).encode("ascii"))
    return all_of_them


def joined(known: Iterable[MemoryUse], found: Iterable[MemoryUse]) -> list[MemoryUse]:
    """All uses, by time: of what cites the same twice, the one that was known."""
    return sorted({(use.by, use.memory): use for use in (*found, *known)}.values())[-MOST_USES:]


def _rows(layout: Layout) -> list[list[str]]:
    data = loose_records.content(layout.uses, limit=_MAX_FILE)
    rows = (line.split(" ") for line in data.decode("ascii", "replace").split("\n")[:-1])
    return [row for row in rows if len(row) == 4 and row[0].isdigit() and len(row[0]) < 16]


# ── erasing ──────────────────────────────────────────────────────────────────────────────────────


def erase(layout: Layout, identity: str) -> list[str]:
    """Take the id of something erased out of every line."""
    name = identity.lower().encode("utf-8", "replace")
    gone = [end for end in ("", tally.OLD, tally.SUMS, tally.USED) if _strike(f"{layout.statistics}{end}", name)]
    return [f"what was counted of {identity}"] if gone else []


def _strike(path: str, name: bytes) -> bool:
    """Rewrite a file without a name; lines that are added meanwhile are kept."""
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


_MAX_CALLS_FILE = 4096


def model_calls_used(layout: Layout, day: str) -> int:
    """How many calls were made on a day, such as 2026-11-16; a damaged count is none."""
    record = loose_records.read(_calls_path(layout), limit=_MAX_CALLS_FILE)
    calls = record.get("calls") if record.get("day") == day else 0
    return max(0, calls) if type(calls) is int else 0


def take_model_call(layout: Layout, day: str, *, limit: int) -> int | None:
    """Count one more call and give how many that makes today; None if the limit is reached."""
    fsio.make_dirs(layout.sessions)
    with fsio.locked(_calls_path(layout) + ".lock"):
        calls = model_calls_used(layout, day) + 1
        if calls > limit:
            return None
        loose_records.keep(_calls_path(layout), {"day": day, "calls": calls})
        return calls


def _calls_path(layout: Layout) -> str:
    return os.path.join(layout.sessions, "model-calls.json")
