"""The log: one line for each thing that happened, each naming the lines before it.

A writer appends to a spool of its own, so writers never wait for one another; an event is
acknowledged only when its bytes are synced. `verify` stands beside the writer and trusts
nothing but bytes. What is visible on a line, and sealing for git, lie in `seal` and `git.clone`.
"""

import contextlib
import itertools
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from holdfast.errors import CorruptLog, FutureFormat, HoldfastError
from holdfast.model.event import MAX_PARENTS, Draft, Event, timestamp
from holdfast.model.ids import token
from holdfast.store import fsio
from holdfast.store.format import (
    MAX_ENVELOPE,
    event_line,
    match_event,
    parents_of,
    parse_event,
    segment_lines,
    split_lines,
)
from holdfast.store.layout import Layout

MAX_SPOOL = 1 << 30
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)


class Writer:
    """Appends the events of one process on one line to a spool of its own.

    `heads` is asked once, for the first event: it names what is visible on the line, and every
    later event names the one before it. Safe between threads; a forked child starts anew.
    """

    def __init__(
        self, layout: Layout, line: str, *, heads: Callable[[], Sequence[str]], clock: Callable[[], datetime]
    ) -> None:
        self._layout, self._line, self._heads, self._clock = layout, line, heads, clock
        self._turn = threading.Lock()
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._name = token(16)
        self._path = self._layout.spool_file(self._line, self._name)
        self._fd = -1
        self._end: int | None = None  # where our last whole line ended; None: look before writing
        self._seq = 0
        self._last: str | None = None

    def append(self, draft: Draft, body: str | None = None) -> Event:
        """Store one event; it survives a crash from the moment this returns."""
        with self._turn:
            if self._pid != os.getpid():
                self._begin()
            with fsio.refusing("the event"):
                return self._append_locked(draft, body)

    def _append_locked(self, draft: Draft, body: str | None) -> Event:
        self._lock_current_file()
        try:
            parents = (self._last,) if self._last else tuple(self._heads())[:MAX_PARENTS]
            data = event_line(
                draft,
                ts=timestamp(self._clock()),
                line=self._line,
                writer=self._name,
                seq=self._seq,
                body=body,
                parents=parents,
            )
            self._write(data)
        finally:
            fsio.unlock_fd(self._fd)
        event = parse_event(data)
        self._last, self._seq = event.hash_self, self._seq + 1
        return event

    def _lock_current_file(self) -> None:
        """Lock the spool that stands under our name; sealing may have renamed the one we hold."""
        while True:
            if self._fd < 0:
                self._open()
            fsio.lock_fd(self._fd, wait=30.0, what=self._path)
            if self._is_current():
                return
            os.close(self._fd)
            self._fd = -1

    def _open(self) -> None:
        folder = os.path.dirname(self._path)
        fsio.make_dirs(folder)
        self._fd = fsio.ops.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | _NOFOLLOW, 0o600)
        try:
            # Without this a power cut could take the whole new file, acknowledged lines included.
            fsio.ops.sync_dir(folder)
        except OSError:
            os.close(self._fd)
            self._fd = -1
            raise
        self._end = None

    def _is_current(self) -> bool:
        try:
            named, held = os.stat(self._path), os.fstat(self._fd)
        except FileNotFoundError:
            return False
        return (named.st_ino, named.st_dev) == (held.st_ino, held.st_dev)

    def _write(self, data: bytes) -> None:
        """Write and sync one line; whatever fails, no part of it is left to be read as true."""
        size = os.fstat(self._fd).st_size
        whole = data if size == self._end or _ends_whole(self._fd, size) else b"\n" + data
        self._end = None
        try:
            fsio.write_all(self._fd, whole)
            fsio.ops.sync_data(self._fd)
        except OSError:
            # If even this fails, the torn tail stays and the next append ends it with a newline.
            with contextlib.suppress(OSError):
                fsio.ops.truncate(self._fd, size)
            raise
        self._end = size + len(whole)

    def close(self) -> None:
        """Let go of the file; the spool stays."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def _ends_whole(fd: int, size: int) -> bool:
    return size == 0 or os.pread(fd, 1, size - 1) == b"\n"


@dataclass(frozen=True, slots=True)
class Torn:
    """Bytes in a spool that are no event: a write that never finished, or damage."""

    path: str
    number: int  # line, from 1
    offset: int
    data: bytes
    reason: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What one file of the log holds: whole event lines, and what is not one."""

    lines: list[bytes]
    events: list[Event]
    torn: list[Torn]


def read_spool(path: str) -> Reading:
    """Every whole event of a spool; anything else is set apart, never fatal."""
    lines, events, torn, offset = [], [], [], 0
    for number, line in enumerate(split_lines(fsio.read(path, limit=MAX_SPOOL)), 1):
        try:
            events.append(parse_event(line))
            lines.append(line)
        except (CorruptLog, FutureFormat) as error:
            if line != b"\n":  # the newline that ended a torn tail is no loss of its own
                torn.append(Torn(path, number, offset, line, str(error)))
        offset += len(line)
    return Reading(lines, events, torn)


def spool_ends(path: str) -> tuple[tuple[str, ...], str | None]:
    """The parents of a spool's first event and the hash of its last, without reading between."""
    fd = os.open(path, os.O_RDONLY | _NOFOLLOW)
    try:
        size = os.fstat(fd).st_size
        first = os.pread(fd, MAX_ENVELOPE, 0)
        tail = os.pread(fd, 4 * MAX_ENVELOPE, max(0, size - 4 * MAX_ENVELOPE))
    finally:
        os.close(fd)
    return _first_parents(first), _last_hash(tail)


def _first_parents(data: bytes) -> tuple[str, ...]:
    with contextlib.suppress(HoldfastError):
        return parents_of(match_event(data[: data.find(b"\n") + 1]))
    return ()


def _last_hash(data: bytes) -> str | None:
    for line in reversed(list(split_lines(data))):
        with contextlib.suppress(HoldfastError):
            return match_event(line)[1].decode("ascii")
    return None


@dataclass(slots=True)
class Proof:
    """What verifying found: every event seen with its parents, and every fault with its place."""

    parents: dict[str, bytes] = field(default_factory=dict)
    faults: list[Torn] = field(default_factory=list)

    @property
    def missing(self) -> set[str]:
        """Parents that are named but not here; the log is then partial, not corrupt."""
        known = self.parents.keys()
        named = b",".join(filter(None, self.parents.values())).decode("ascii")
        return set(named[1:-1].split('","') if named else ()) - known

    @property
    def state(self) -> str:
        """ok, partial or corrupt."""
        if self.faults:
            return "corrupt"
        return "partial" if self.missing else "ok"


def verify_lines(proof: Proof, path: str, lines: Iterable[bytes], *, first: int = 1, offset: int = 0) -> None:
    """Check each event line's form, hash and parents, and add it to the proof."""
    seen = proof.parents
    for number, line in enumerate(lines, first):
        try:
            found = match_event(line)
            named = found[16]
            if b"," in named and not _is_sorted(named):
                raise CorruptLog("its parents are not sorted or repeat")
            seen[found[1].decode("ascii")] = named
        except (CorruptLog, FutureFormat) as error:
            if line != b"\n":
                proof.faults.append(Torn(path, number, offset, line, str(error)))
        offset += len(line)


def _is_sorted(named: bytes) -> bool:
    parents = named.split(b",")
    return all(a < b for a, b in itertools.pairwise(parents))


def verify_spool(proof: Proof, path: str) -> None:
    """Check a spool file."""
    verify_lines(proof, path, split_lines(fsio.read(path, limit=MAX_SPOOL)))


def verify_segment(proof: Proof, path: str, name: str, data: bytes) -> None:
    """Check a segment: its name, its header, and each line."""
    try:
        segment_lines(name, data)
    except (CorruptLog, FutureFormat) as error:
        proof.faults.append(Torn(path, 1, 0, data[:80], str(error)))
    pieces = list(split_lines(data))
    if pieces:
        verify_lines(proof, path, pieces[1:], first=2, offset=len(pieces[0]))
