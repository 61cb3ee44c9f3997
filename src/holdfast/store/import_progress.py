"""How far each agent's session was imported: one small JSON file a session in the private store.

It remembers turns, steps and exchanges by a short hash each, not by their place, so that a file that moved, was packed,
rewritten or copied into another is recognised. It holds no text of the session. A damaged file does not count and is
reported; what it knew is then learned again from the capsules.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from holdfast.patterns import regex
from holdfast.store import fsio, loose_records, transcript_files
from holdfast.store.layout import Layout
from holdfast.values import asdict, frozen, replace

VERSION = 1
MAX_FILE = 1 << 28
_MARK = 16  # hex digits
_STRIPES = 16
_PLAIN = regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_HEX = frozenset("0123456789abcdef")
_MARKS = ("turns", "steps", "contents", "prints", "noted")
_HEAD = 4096


def mark(name: str) -> str:
    """What stands for a name that somebody else gave: short, and of one form."""
    return hashlib.blake2b(name.encode("utf-8", "replace"), digest_size=_MARK // 2).hexdigest()


@frozen
class SealedPart:
    """A run that was made of a part of a session."""

    run: str
    turns: int
    harvested: bool = False  # whether what it says was looked through for candidates


@frozen
class TranscriptMark:
    """A transcript as it lay there when it was last read."""

    path: str = ""
    head: str = ""  # a hash of how it begins, and of how many bytes
    head_size: int = 0
    size: int = -1
    mtime: int = 0


@frozen(kw_only=True)
class ImportProgress:
    """What was imported of one session of an agent."""

    agent: str
    session: str
    role: str = "main"
    parent: str | None = None
    seen: TranscriptMark = TranscriptMark()
    offset: int = 0  # bytes; where the last turn begins, from which reading goes on
    note_offset: int = 0  # the same for what is noted while the session goes on
    count: int = 0  # turns so far
    last: str = ""  # the mark of the last of them
    origin: Mapping[str, Any] | None = None  # what a reading that goes on must be told
    turns: frozenset[str] = frozenset()
    steps: frozenset[str] = frozenset()
    contents: frozenset[str] = frozenset()  # of both, with their text: so copies elsewhere are known
    prints: frozenset[str] = frozenset()
    noted: frozenset[str] = frozenset()  # turns that stand in a Holdfast session
    runs: tuple[SealedPart, ...] = ()
    session_id: str | None = None
    ended: bool = False

    @property
    def unharvested(self) -> tuple[str, ...]:
        return tuple(one.run for one in self.runs if not one.harvested)


def seen(path: str) -> TranscriptMark:
    """A transcript as it lies there now; OSError if it is gone."""
    facts, head = transcript_files.facts(path), transcript_files.beginning(path, _HEAD)
    digest = hashlib.sha256(head).hexdigest()[:32]
    return TranscriptMark(path, digest, len(head), facts.size, facts.mtime_ns)


def goes_on(before: TranscriptMark, now: TranscriptMark) -> bool:
    """Whether a file is the same one, at most longer: then reading may go on in the middle of it."""
    if before.path != now.path or now.size < before.size or not before.head_size:
        return False
    head = transcript_files.beginning(now.path, before.head_size)
    return hashlib.sha256(head).hexdigest()[:32] == before.head


def load(stores: Iterable[Layout], agent: str, session: str) -> ImportProgress | None:
    """What is known of a session; None if it is new, or its record is damaged."""
    for layout in stores:
        found = next(loose_records.sound(layout, read, [_place(layout, agent, session)]), None)
        if found is not None and (found.agent, found.session) == (agent, session):
            return found
    return None


def every(stores: Iterable[Layout]) -> list[ImportProgress]:
    """What is known of every session; damaged records are left out and said."""
    found: dict[tuple[str, str], ImportProgress] = {}
    for one in newer(stores, {}):
        found.setdefault((one.agent, one.session), one)
    return list(found.values())


def newer(stores: Iterable[Layout], known: dict[str, tuple[int, ...]]) -> Iterator[ImportProgress]:
    """The records that are not as they were when this was last asked with the same `known`."""
    for layout in stores:
        try:
            entries = sorted(os.scandir(layout.agents), key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            continue
        for entry in entries:
            if not entry.name.endswith(".json"):
                continue
            with contextlib.suppress(FileNotFoundError):
                facts = entry.stat(follow_symlinks=False)
                state = (facts.st_mtime_ns, facts.st_size, facts.st_ino)
                if known.get(entry.path) != state:
                    yield from loose_records.sound(layout, read, [entry.path])
                known[entry.path] = state


def change(
    stores: Sequence[Layout], agent: str, session: str, how: Callable[[ImportProgress], ImportProgress]
) -> ImportProgress:
    """Change what is known of a session, alone while it is done; durable on return.

    The first store is the one that is written.
    """
    layout = stores[0]
    fsio.make_dirs(layout.agents)
    with fsio.locked(os.path.join(layout.agents, "lock"), wait=30.0):
        old = load(stores, agent, session) or ImportProgress(agent=agent, session=session)
        new = how(old)
        if new != old:
            loose_records.keep(_place(layout, agent, session), _to_record(new))
        return new


def harvested(stores: Sequence[Layout], agent: str, session: str, runs: Iterable[str]) -> None:
    """Remember that what these runs say was looked through."""
    done = set(runs)

    def how(old: ImportProgress) -> ImportProgress:
        new = tuple(replace(one, harvested=True) if one.run in done else one for one in old.runs)
        return replace(old, runs=new)

    change(stores, agent, session, how)


@contextmanager
def taking(layout: Layout, agent: str, session: str, *, wait: float = 30.0) -> Iterator[None]:
    """Nobody else takes this session in meanwhile. A few locks serve all sessions: they are never removed."""
    fsio.make_dirs(layout.agents)
    stripe = int(mark(f"{agent}\n{session}"), 16) % _STRIPES
    with fsio.locked(os.path.join(layout.agents, f"taking-{stripe:x}.lock"), wait=wait):
        yield


def _place(layout: Layout, agent: str, session: str) -> str:
    plain = _PLAIN.fullmatch(session) and not session.endswith(".json")
    name = session if plain else mark(session)
    return os.path.join(layout.agents, f"{agent}-{name}.json")


def read(path: str) -> ImportProgress:
    """One record; CorruptLog says why it does not count."""
    with loose_records.judging(path, " does not say what was read of a transcript", missing=loose_records.MISSING):
        return _from_object(json.loads(fsio.read(path, limit=MAX_FILE)))


_TEXTS, _NUMBERS = ("agent", "session", "role", "last"), ("offset", "note_offset", "count")
_SEEN_TEXTS, _SEEN_NUMBERS = ("path", "head"), ("head_size", "size", "mtime")
_MAYBE = ("parent", "session_id")  # a text or nothing


def _to_record(one: ImportProgress) -> dict[str, Any]:
    return {
        "v": VERSION,
        **{name: getattr(one, name) for name in (*_TEXTS, *_NUMBERS, *_MAYBE, "origin", "ended")},
        **asdict(one.seen),
        "runs": [asdict(part) for part in one.runs],
        **{name: "".join(sorted(getattr(one, name))) for name in _MARKS},
    }


def _from_object(record: dict[str, Any]) -> ImportProgress:
    if record["v"] != VERSION:
        raise ValueError(f"it is written in version {record['v']!r}")
    texts_fit = all(isinstance(record[name], str) for name in (*_TEXTS, *_SEEN_TEXTS))
    if not texts_fit or not all(type(record[name]) is int for name in (*_NUMBERS, *_SEEN_NUMBERS)):
        raise ValueError("a field has another form")
    if not isinstance(record["origin"], dict | None):
        raise ValueError("it does not say whose transcript it is")
    fields: dict[str, Any] = {name: record[name] for name in (*_TEXTS, *_NUMBERS, "origin")}
    fields |= {name: record[name] if isinstance(record[name], str) else None for name in _MAYBE}
    return ImportProgress(
        **fields | {name: _parted(record[name]) for name in _MARKS},
        seen=TranscriptMark(**{name: record[name] for name in (*_SEEN_TEXTS, *_SEEN_NUMBERS)}),
        runs=tuple(SealedPart(str(r["run"]), int(r["turns"]), bool(r["harvested"])) for r in record["runs"]),
        ended=bool(record["ended"]),
    )


def _parted(text: str) -> frozenset[str]:
    if len(text) % _MARK or not _HEX.issuperset(text):
        raise ValueError("its marks have another form")
    return frozenset(text[at : at + _MARK] for at in range(0, len(text), _MARK))
