"""The log: one row for each event, with the hashes of the events before it; and the bodies of events.

Each writer appends to its own file, a spool, so writers never wait for each other; an event is acknowledged only when
its bytes are synced. Reading relies only on the bytes, and skips rows that are not events. `seal` makes segments for
git, `git.clone` finds the events of a line (the id of a branch's work), `diagnostics.log_integrity` verifies the whole.

A body is the free text of an event, in a separate file, so that it can be erased and the log still verifies. The file
has a salt and the text; its name is the hash of both. Without the salt a short secret could be guessed from the name,
so both are erased together.
"""

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from holdfast.errors import CorruptLog, FutureFormat, HoldfastError
from holdfast.model.event import MAX_PARENTS, Event, EventDraft, timestamp
from holdfast.model.ids import token
from holdfast.store import discovery, fsio, sealed_files
from holdfast.store import format as log_format
from holdfast.store.layout import Layout
from holdfast.values import frozen

MAX_SPOOL = 1 << 30  # bytes; a guess: far above what is written before a publish
IDLE_SECONDS = 2.0  # another process may continue an older spool; a guess: its writer is between two commands
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)


class SpoolWriter:
    """Appends the events of one process on one line to a spool that no other process writes to.

    The first event has the visible heads of the line as parents (from `heads`), every later one the event before it. A
    writer continues an idle spool of the line, so that many commands need few spools; if another process wrote to its
    spool meanwhile, it changes to another. Safe between threads; a forked child takes its own spool.
    """

    def __init__(
        self, layout: Layout, line: str, *, heads: Callable[[], Sequence[str]], clock: Callable[[], datetime]
    ) -> None:
        self._layout, self._line, self._heads, self._clock = layout, line, heads, clock
        self._turn = threading.Lock()
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._call(token(16))
        self._fd = -1
        self._end = 0  # the size of the file if only we wrote to it
        self._seq = 0
        self._last: str | None = None  # our previous event; None: the heads are the parents
        self._before: tuple[str, ...] = ()  # the last event of a spool that we continue

    def _call(self, name: str) -> None:
        self._name, self._path = name, self._layout.spool_file(self._line, name)

    def append(self, draft: EventDraft, body: str | None = None, *, head: str | None = None) -> Event:
        """Stores one event, durably."""
        with self._turn:
            if self._pid != os.getpid():
                self._begin()
            with fsio.refusing("the event"):
                return self._append(draft, body, head or draft.head)

    def _append(self, draft: EventDraft, body: str | None, head: str | None) -> Event:
        # Before the lock: this reads every spool of the line, including the one that we continue.
        heads = () if self._last else tuple(self._heads())
        self._lock_a_spool()
        try:
            now = timestamp(self._clock())
            parents = tuple(sorted((self._last,) if self._last else {*(*self._before, *heads)[:MAX_PARENTS]}))
            event, data = log_format.make_event(
                draft, ts=now, line=self._line, writer=self._name, seq=self._seq, head=head, body=body, parents=parents
            )
            fsio.append(self._fd, data)
            self._end = os.fstat(self._fd).st_size
        finally:
            fsio.unlock_fd(self._fd)
        self._last, self._seq = event.hash_self, self._seq + 1
        return event

    def _lock_a_spool(self) -> None:
        """Takes the lock of a spool that still has its name and ends where we left it."""
        while True:
            if self._fd < 0 and not (self._last is None and self._take_over()):
                try:
                    self._create()
                except FileExistsError:  # another process continues under its name
                    self._begin_elsewhere()
                    continue
            fsio.lock_fd(self._fd, wait=30.0, what=self._path)
            if not self._is_current():  # sealing renamed it: continue in a new file of the same name
                self.close()
                self._end = 0
            elif os.fstat(self._fd).st_size != self._end:  # another process wrote to it
                self.close()
                self._begin_elsewhere()
            else:
                return

    def _begin_elsewhere(self) -> None:
        """Changes to a spool of another name; the next event still follows our last one."""
        last = self._last
        self._begin()
        self._last = last

    def _take_over(self) -> bool:
        """Continues the newest idle spool of the line; returns whether there was one."""
        for path in self._idle():
            try:
                fd = fsio.ops.open(path, os.O_RDWR | os.O_APPEND | _NOFOLLOW, 0o600)
            except FileNotFoundError:  # sealed meanwhile
                continue
            if fsio.try_lock_fd(fd):
                last = None if _is_newer(fd) else next(reversed(_tail(fd)), None)
                self._fd, self._end = fd, os.fstat(fd).st_size
                self._call(os.path.basename(path)[: -len(".jsonl")])
                if last is not None and last.writer == self._name and self._is_current():
                    self._seq, self._before = last.seq + 1, (last.hash_self,)
                    return True
            os.close(fd)
        self._begin()
        return False

    def _idle(self) -> list[str]:
        """Returns the newest idle spools, at most four: a guess, enough to find a free one."""
        found = []
        with contextlib.suppress(FileNotFoundError), os.scandir(os.path.dirname(self._path)) as files:
            spools = (file for file in files if file.name.endswith(".jsonl") and file.is_file(follow_symlinks=False))
            found = [(file.stat().st_mtime, file.path) for file in spools]
        limit = time.time() - IDLE_SECONDS
        return [path for written, path in sorted(found, reverse=True) if written < limit][:4]

    def _create(self) -> None:
        folder = os.path.dirname(self._path)
        fsio.make_dirs(folder)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | _NOFOLLOW
        self._fd = fsio.ops.open(self._path, flags, 0o600)
        try:
            # Without this a power cut could lose the whole new file with acknowledged events, and the
            # folder, if another process created it and was killed before it synced the entry.
            fsio.ops.sync_dir(folder)
            fsio.ops.sync_dir(os.path.dirname(folder))
        except OSError:
            self.close()
            self._call(token(16))  # the empty file stays for another writer
            raise

    def _is_current(self) -> bool:
        try:
            named, held = os.stat(self._path), os.fstat(self._fd)
        except FileNotFoundError:
            return False
        return (named.st_ino, named.st_dev) == (held.st_ino, held.st_dev)

    def close(self) -> None:
        """Closes the file; the spool stays."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __del__(self) -> None:
        """Closes the file: a program that opens many projects must not run out of descriptors."""
        if getattr(self, "_fd", -1) >= 0:
            self.close()


def _tail(fd: int) -> list[Event]:
    """Returns the last complete events of an open spool."""
    size, room = os.fstat(fd).st_size, 4 * log_format.MAX_ENVELOPE
    return [event for event, _ in log_format.events_in(os.pread(fd, room, max(0, size - room)))]


def _is_newer(fd: int) -> bool:
    """Whether a newer Holdfast wrote the last event of a spool: continuing there would repeat its number."""
    size = os.fstat(fd).st_size
    tail = os.pread(fd, log_format.MAX_ENVELOPE, max(0, size - log_format.MAX_ENVELOPE))
    try:
        log_format.match_event(tail[tail.rfind(b"\n", 0, -1) + 1 :])
    except FutureFormat:
        return True
    except CorruptLog:
        return False
    return False


@frozen
class TornSpool:
    """Bytes in a spool that are not an event: an unfinished write, or damage."""

    path: str
    number: int  # of the row, from 1
    offset: int
    data: bytes
    reason: str


@frozen
class SpoolReading:
    """The contents of one spool: complete events, and other bytes."""

    lines: list[bytes]
    events: list[Event]
    torn: list[TornSpool]
    newer: bool = False  # whether it has events of a newer Holdfast that this one cannot read


def read_spool(path: str) -> SpoolReading:
    """Reads every complete event of a spool; returns anything else as `torn`, and never fails on it."""
    lines, events, torn, offset, newer = [], [], [], 0, False
    for number, line in enumerate(log_format.split_lines(fsio.read(path, limit=MAX_SPOOL)), 1):
        try:
            events.append(log_format.parse_event(line))
            lines.append(line)
        except FutureFormat:
            newer = True
        except CorruptLog as error:
            if line != b"\n":  # a newline that only ended an incomplete row is no further damage
                torn.append(TornSpool(path, number, offset, line, str(error)))
        offset += len(line)
    return SpoolReading(lines, events, torn, newer)


def first_event(path: str) -> str:
    """Returns a spool's first event hash, which differs from a later spool's of the same name; empty without one."""
    return "" if os.path.islink(path) else discovery.read(os.fsencode(path), 78)[14:].hex()


def spool_ends(path: str) -> tuple[set[str], str | None]:
    """Returns the parents of a spool's first and last few events, and the hash of its last event."""
    fd = os.open(path, os.O_RDONLY | _NOFOLLOW)
    try:
        first, tail = os.pread(fd, log_format.MAX_ENVELOPE, 0), _tail(fd)
    finally:
        os.close(fd)
    named = {parent for event in tail for parent in event.hash_prev}
    with contextlib.suppress(HoldfastError):
        named.update(log_format.parents_of(log_format.match_event(first[: first.find(b"\n") + 1])))
    return named, tail[-1].hash_self if tail else None


_SMALL, _MANY = 4096, 1 << 16  # bytes of a body, and bodies, that stay in memory: at most 256 MiB, a guess


class Bodies:
    """The bodies in this clone."""

    def __init__(self, *layouts: Layout) -> None:
        self._layouts = layouts  # new bodies go to the first; all are read
        self._locked: set[str] = set()
        self._read: dict[str, dict[str, Any]] = {}  # bodies that were read and verified; checked to still exist

    def put(self, data: bytes) -> str:
        """Stores a body, durably; returns its name."""
        stored = os.urandom(log_format.SALT_BYTES) + data
        name = log_format.body_name(stored)
        fsio.create(self._layouts[0].body(name), stored)
        return name

    def raw(self, name: str) -> bytes | None:
        """Returns the stored bytes, unchecked, or None if they are not here."""
        for layout in self._layouts:
            if (stored := fsio.find(layout.body(name), limit=log_format.SALT_BYTES + log_format.MAX_BODY)) is not None:
                return stored
        return None

    def get(self, name: str, *, closed: bool = False) -> dict[str, Any] | None:
        """Returns a body that matches its name, or None if it is not here. `closed` does not decrypt it."""
        if name in self._read and self.has(name):
            return self._shown(name, self._read[name], closed=closed)
        stored = self.raw(name)
        if stored is None:
            return None
        if log_format.body_name(stored) != name:
            raise CorruptLog(f"body {name} does not match its name: it was altered")
        loaded: dict[str, Any] = json.loads(stored[log_format.SALT_BYTES :])
        if len(stored) <= _SMALL and len(self._read) < _MANY:
            self._read[name] = loaded
        return self._shown(name, loaded, closed=closed)

    def _shown(self, name: str, loaded: dict[str, Any], *, closed: bool) -> dict[str, Any]:
        """Returns a body as its reader may see it: without the key, only the unencrypted part of a sealed one."""
        if "sealed" not in loaded or not sealed_files.is_sealed_object(loaded):
            return dict(loaded)
        shown, is_open = sealed_files.open_object(loaded, "event", closed=closed)
        (self._locked.discard if is_open else self._locked.add)(name)
        return shown

    def is_locked(self, name: str) -> bool:
        """Whether a body that was read before is sealed and could not be opened."""
        return name in self._locked

    def has(self, name: str) -> bool:
        return any(os.path.lexists(layout.body(name)) for layout in self._layouts)

    def drop(self, name: str) -> None:
        """Deletes a body with its salt."""
        self._read.pop(name, None)
        for layout in self._layouts:
            fsio.remove(layout.body(name))
