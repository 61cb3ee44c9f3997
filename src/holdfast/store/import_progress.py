"""The import state of each agent's session: one small JSON file for each session in the private store.

It stores a short hash of each turn, step and exchange, not their offsets, so that a file that was moved, compressed,
rewritten or copied into another is recognised. It has no text of the session. A damaged file is skipped and reported;
its contents are then restored from the capsules.
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
MAX_FILE = 1 << 28  # bytes; a guess: millions of hashes
_MARK = 16  # hex digits of a hash: 64 bits, enough that the names of one session do not collide
_STRIPES = 16  # locks for all sessions; a guess: few imports run at once
_PLAIN = regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_HEX = frozenset("0123456789abcdef")
_MARKS = ("turns", "steps", "contents", "prints", "noted")
_HEAD = 4096  # bytes by which a transcript is recognised; a guess: they include the session's id and start


def mark(name: str) -> str:
    """Returns a short hash of a name from elsewhere, of a fixed length."""
    return hashlib.blake2b(name.encode("utf-8", "replace"), digest_size=_MARK // 2).hexdigest()


@frozen
class SealedPart:
    """A run that was recorded from a part of a session."""

    run: str
    turns: int
    harvested: bool = False  # whether it was searched for candidates


@frozen
class TranscriptMark:
    """The state of a transcript when it was last read."""

    path: str = ""
    head: str = ""  # a hash of its first `head_size` bytes
    head_size: int = 0
    size: int = -1
    mtime: int = 0


@frozen(kw_only=True)
class ImportProgress:
    """The import state of one session of an agent."""

    agent: str
    session: str
    role: str = "main"
    parent: str | None = None
    seen: TranscriptMark = TranscriptMark()
    offset: int = 0  # bytes: the start of the last turn, where the next import continues
    note_offset: int = 0  # the same for turns that are noted while the session is open
    count: int = 0  # turns so far
    last: str = ""  # the mark of the last of them
    origin: Mapping[str, Any] | None = None  # the origin, for an import that continues in the middle
    turns: frozenset[str] = frozenset()
    steps: frozenset[str] = frozenset()
    contents: frozenset[str] = frozenset()  # of both, with their text, to recognise copies elsewhere
    prints: frozenset[str] = frozenset()
    noted: frozenset[str] = frozenset()  # turns that are in a Holdfast session
    runs: tuple[SealedPart, ...] = ()
    session_id: str | None = None
    ended: bool = False

    @property
    def unharvested(self) -> tuple[str, ...]:
        return tuple(one.run for one in self.runs if not one.harvested)


def seen(path: str) -> TranscriptMark:
    """Returns the current state of a transcript; raises OSError if it is gone."""
    facts, head = transcript_files.facts(path), transcript_files.beginning(path, _HEAD)
    digest = hashlib.sha256(head).hexdigest()[:32]
    return TranscriptMark(path, digest, len(head), facts.size, facts.mtime_ns)


def goes_on(before: TranscriptMark, now: TranscriptMark) -> bool:
    """Whether a file is unchanged or only grew: then an import may continue in the middle of it."""
    if before.path != now.path or now.size < before.size or not before.head_size:
        return False
    head = transcript_files.beginning(now.path, before.head_size)
    return hashlib.sha256(head).hexdigest()[:32] == before.head


def load(stores: Iterable[Layout], agent: str, session: str) -> ImportProgress | None:
    """Returns the import state of a session; None if it is new, or its record is damaged."""
    for layout in stores:
        found = next(loose_records.sound(layout, read, [_place(layout, agent, session)]), None)
        if found is not None and (found.agent, found.session) == (agent, session):
            return found
    return None


def every(stores: Iterable[Layout]) -> list[ImportProgress]:
    """Returns the import state of every session; skips and reports damaged records."""
    found: dict[tuple[str, str], ImportProgress] = {}
    for one in newer(stores, {}):
        found.setdefault((one.agent, one.session), one)
    return list(found.values())


def newer(stores: Iterable[Layout], known: dict[str, tuple[int, ...]]) -> Iterator[ImportProgress]:
    """Yields the records that changed since the last call with the same `known`."""
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
    """Changes the import state of a session under a lock, durably; returns the new state.

    It writes to the first store.
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
    """Records that these runs were searched for candidates."""
    done = set(runs)

    def how(old: ImportProgress) -> ImportProgress:
        new = tuple(replace(one, harvested=True) if one.run in done else one for one in old.runs)
        return replace(old, runs=new)

    change(stores, agent, session, how)


@contextmanager
def taking(layout: Layout, agent: str, session: str, *, wait: float = 30.0) -> Iterator[None]:
    """Holds the lock against other imports of this session. A few locks serve all sessions and are never deleted."""
    fsio.make_dirs(layout.agents)
    stripe = int(mark(f"{agent}\n{session}"), 16) % _STRIPES
    with fsio.locked(os.path.join(layout.agents, f"taking-{stripe:x}.lock"), wait=wait):
        yield


def _place(layout: Layout, agent: str, session: str) -> str:
    plain = _PLAIN.fullmatch(session) and not session.endswith(".json")
    name = session if plain else mark(session)
    return os.path.join(layout.agents, f"{agent}-{name}.json")


def read(path: str) -> ImportProgress:
    """Reads one record; raises CorruptLog with the reason if it is damaged."""
    with loose_records.judging(path, " is not the import state of a session", missing=loose_records.MISSING):
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
        raise ValueError("its origin has another form")
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
