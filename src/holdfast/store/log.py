"""The log: one line for each thing that happened, each naming the lines before it; and, apart from it, the bodies.

A writer appends to a spool of its own, so writers never wait for one another; an event is acknowledged only when its
bytes are synced. Reading trusts nothing but bytes and sets apart lines that are no events. Sealing for git is left to
`seal`, what is visible on a line to `git.clone`, and the proof of the whole to `diagnostics.log_integrity`.

A body is the free text of an event, in a file of its own so that it can be erased and the log still holds. The file is
its salt and its bytes; its name commits to both. Without the salt a short secret could be guessed from the name, so
both are erased together.
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

MAX_SPOOL = 1 << 30
IDLE_SECONDS = 2.0  # a spool untouched for so long may be continued by another process
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)


class SpoolWriter:
    """Appends the events of one process on one line to a spool nobody else is writing.

    The first event names what is visible on the line (`heads` is asked for it), every later one the
    event before it. An idle spool of the line is continued, so that spools stay few however many
    commands run; whoever finds that its spool has grown without it lets go and takes another.
    Safe between threads; a forked child takes a spool of its own.
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
        self._end = 0  # where the file must end if nobody but us wrote to it
        self._seq = 0
        self._last: str | None = None  # our previous event; None: ask for the heads
        self._before: tuple[str, ...] = ()  # the last event of a spool we took over

    def _call(self, name: str) -> None:
        self._name, self._path = name, self._layout.spool_file(self._line, name)

    def append(self, draft: EventDraft, body: str | None = None, *, head: str | None = None) -> Event:
        """Store one event; it survives a crash from the moment this returns."""
        with self._turn:
            if self._pid != os.getpid():
                self._begin()
            with fsio.refusing("the event"):
                return self._append(draft, body, head or draft.head)

    def _append(self, draft: EventDraft, body: str | None, head: str | None) -> Event:
        # Asked before the lock is taken: it reads every spool of the line, the one we take over included.
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
        """Hold the lock of a spool that stands under its name and ends where we left it."""
        while True:
            if self._fd < 0 and not (self._last is None and self._take_over()):
                try:
                    self._create()
                except FileExistsError:  # a process that had taken it over goes on under its name
                    self._begin_elsewhere()
                    continue
            fsio.lock_fd(self._fd, wait=30.0, what=self._path)
            if not self._is_current():  # sealing renamed it: go on in a new file of the same name
                self.close()
                self._end = 0
            elif os.fstat(self._fd).st_size != self._end:  # another process took it over
                self.close()
                self._begin_elsewhere()
            else:
                return

    def _begin_elsewhere(self) -> None:
        """Write to a spool of another name; the next event still follows our last one."""
        last = self._last
        self._begin()
        self._last = last

    def _take_over(self) -> bool:
        """Continue the newest idle spool of the line, if there is one."""
        for path in self._idle():
            try:
                fd = fsio.ops.open(path, os.O_RDWR | os.O_APPEND | _NOFOLLOW, 0o600)
            except FileNotFoundError:  # sealed since we looked
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
        """Spools nobody has written to for a while, newest first; a few are enough to try."""
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
            # Without this a power cut could take the whole new file, acknowledged lines included; and
            # the folder with it, if another process made it and was killed before it synced its entry.
            fsio.ops.sync_dir(folder)
            fsio.ops.sync_dir(os.path.dirname(folder))
        except OSError:
            self.close()
            self._call(token(16))  # the empty file stays; another writer may continue it
            raise

    def _is_current(self) -> bool:
        try:
            named, held = os.stat(self._path), os.fstat(self._fd)
        except FileNotFoundError:
            return False
        return (named.st_ino, named.st_dev) == (held.st_ino, held.st_dev)

    def close(self) -> None:
        """Let go of the file; the spool stays."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __del__(self) -> None:
        """Let go of the file: a program that opens its project again and again must not run out of them."""
        if getattr(self, "_fd", -1) >= 0:
            self.close()


def _tail(fd: int) -> list[Event]:
    """The last whole events of an open spool."""
    size, room = os.fstat(fd).st_size, 4 * log_format.MAX_ENVELOPE
    return [event for event, _ in log_format.events_in(os.pread(fd, room, max(0, size - room)))]


def _is_newer(fd: int) -> bool:
    """Whether a newer Holdfast wrote the last line of a spool: to go on there would repeat its number."""
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
    """Bytes in a spool that are no event: a write that never finished, or damage."""

    path: str
    number: int  # line, from 1
    offset: int
    data: bytes
    reason: str


@frozen
class SpoolReading:
    """What one file of the log holds: whole event lines, and what is not one."""

    lines: list[bytes]
    events: list[Event]
    torn: list[TornSpool]
    newer: bool = False  # whether a newer Holdfast wrote to it, in a form that this one cannot read


def read_spool(path: str) -> SpoolReading:
    """Every whole event of a spool; anything else is set apart, never fatal."""
    lines, events, torn, offset, newer = [], [], [], 0, False
    for number, line in enumerate(log_format.split_lines(fsio.read(path, limit=MAX_SPOOL)), 1):
        try:
            events.append(log_format.parse_event(line))
            lines.append(line)
        except FutureFormat:
            newer = True
        except CorruptLog as error:
            if line != b"\n":  # the newline that ended a torn tail is no loss of its own
                torn.append(TornSpool(path, number, offset, line, str(error)))
        offset += len(line)
    return SpoolReading(lines, events, torn, newer)


def first_event(path: str) -> str:
    """What tells a spool from a later one of the same name: its first event's hash; empty if there is none."""
    return "" if os.path.islink(path) else discovery.read(os.fsencode(path), 78)[14:].hex()


def spool_ends(path: str) -> tuple[set[str], str | None]:
    """The hash of a spool's last event, and parents its events name: the first and the last few."""
    fd = os.open(path, os.O_RDONLY | _NOFOLLOW)
    try:
        first, tail = os.pread(fd, log_format.MAX_ENVELOPE, 0), _tail(fd)
    finally:
        os.close(fd)
    named = {parent for event in tail for parent in event.hash_prev}
    with contextlib.suppress(HoldfastError):
        named.update(log_format.parents_of(log_format.match_event(first[: first.find(b"\n") + 1])))
    return named, tail[-1].hash_self if tail else None


_SMALL, _MANY = 4096, 1 << 16  # bytes of a body, and bodies, that are kept in mind


class Bodies:
    """The bodies this clone holds."""

    def __init__(self, *layouts: Layout) -> None:
        self._layouts = layouts  # the first takes new bodies, all are read
        self._locked: set[str] = set()
        self._read: dict[str, dict[str, Any]] = {}  # what was read and proved before, as long as it is there

    def put(self, data: bytes) -> str:
        """Store a body, durable on return, and give its name."""
        stored = os.urandom(log_format.SALT_BYTES) + data
        name = log_format.body_name(stored)
        fsio.create(self._layouts[0].body(name), stored)
        return name

    def raw(self, name: str) -> bytes | None:
        """The stored bytes, unchecked, or None if they are not here."""
        for layout in self._layouts:
            if (stored := fsio.find(layout.body(name), limit=log_format.SALT_BYTES + log_format.MAX_BODY)) is not None:
                return stored
        return None

    def get(self, name: str, *, closed: bool = False) -> dict[str, Any] | None:
        """A body that matches its name, or None if it is not here. `closed`: what is sealed stays so."""
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
        """A body as its reader may see it: of a sealed one, without its key, what stays in clear."""
        if "sealed" not in loaded or not sealed_files.is_sealed_object(loaded):
            return dict(loaded)
        shown, is_open = sealed_files.open_object(loaded, "event", closed=closed)
        (self._locked.discard if is_open else self._locked.add)(name)
        return shown

    def is_locked(self, name: str) -> bool:
        """Whether the body that was just read is sealed and stayed closed."""
        return name in self._locked

    def has(self, name: str) -> bool:
        return any(os.path.lexists(layout.body(name)) for layout in self._layouts)

    def drop(self, name: str) -> None:
        """Forget a body and its salt."""
        self._read.pop(name, None)
        for layout in self._layouts:
            fsio.remove(layout.body(name))
