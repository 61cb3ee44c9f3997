"""A disk that fails, dies or forgets: what `fsio.ops` is replaced with to try the laws of storage.

Three parts, none of which knows what is being stored, so that any protocol (append, seal, publish)
can be put through them:

- `Faulty` answers one chosen call with an error, a short write or the end of the process.
- `Recorder` carries every call out and writes down what it did.
- `crash_states` replays each prefix of a recording onto an empty folder as a power cut may leave it:
  data that was not synced is lost, torn, kept or full of NULs; directory entries that were not
  synced are lost or kept, in order within each directory and independently between them.

The model is harsher than ext4 and XFS (they keep the order between directories) and milder than a
disk that lies about fsync, against which nothing helps.
"""

import errno
import itertools
import os
import random
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from holdfast.store import fsio

KILLED = 137
NEW = 1 << 48  # numbers of files made while recording start here


@contextmanager
def plugged(ops: fsio.Syscalls) -> Iterator[None]:
    """Let every write of the store go through `ops`."""
    before, fsio.ops = fsio.ops, ops
    try:
        yield
    finally:
        fsio.ops = before


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens at the chosen call."""

    name: str
    code: int = 0  # errno to raise
    short: bool = False  # a write takes half, and the next one raises
    kill: str = ""  # end the process "before", "amid" or "after" the call
    leave: bool = False  # stop here as if killed, but let the recording go on with the next process
    lasting: bool = False  # every later call fails too

    def __str__(self) -> str:
        return self.name


class Left(BaseException):
    """The process is no more; what it held is let go by the caller."""


ERRORS = (
    Fault("EIO", errno.EIO),
    Fault("ENOSPC", errno.ENOSPC),
    Fault("EROFS", errno.EROFS),
    Fault("short", errno.ENOSPC, short=True),
)
LASTING = tuple(Fault(f"{fault.name}-lasting", fault.code, lasting=True) for fault in ERRORS[:3])
LEAVE = Fault("leave", leave=True)
KILLS = tuple(Fault(f"kill-{when}", kill=when) for when in ("before", "amid", "after"))


class Faulty(fsio.Syscalls):
    """Does what it is told, except at call number `at`."""

    def __init__(self, at: int, fault: Fault, under: fsio.Syscalls | None = None) -> None:
        self._at, self._fault, self._under = at, fault, under or fsio.Syscalls()
        self.names: list[str] = []  # the calls so far
        self.struck: str | None = None  # the call that was hit
        self._full = False

    def _call(self, name: str, act: Callable[[], int | None], part: Callable[[], int] | None = None) -> int | None:
        due = len(self.names) == self._at
        self.names.append(name)
        if due:
            self.struck = name
            if self._fault.leave:
                raise Left
            if self._fault.kill:
                self._die(act, part)
            if self._fault.short and part is not None:
                self._full = True
                return part()
        if self._fault.leave:
            return act()
        full = self._full and name == "write"  # a short write says nothing; only the next one is told
        if due or full or (self.struck and self._fault.lasting):
            # Removing and shortening work on a full disk; only a dead one refuses them.
            if not due and self._fault.code == errno.ENOSPC and name in ("unlink", "rmdir", "truncate"):
                return act()
            self._full = False
            raise OSError(self._fault.code, os.strerror(self._fault.code))
        return act()

    def _die(self, act: Callable[[], int | None], part: Callable[[], int] | None) -> None:
        if self._fault.kill == "amid" and part is not None:
            part()
        elif self._fault.kill == "after":
            act()
        os._exit(KILLED)

    def open(self, path: str, flags: int, mode: int) -> int:
        if not flags & os.O_CREAT:
            return self._under.open(path, flags, mode)
        return self._call("open", lambda: self._under.open(path, flags, mode)) or 0

    def write(self, fd: int, data: bytes | memoryview) -> int:
        half = max(1, len(data) // 2)
        return self._call("write", lambda: self._under.write(fd, data), lambda: self._under.write(fd, data[:half])) or 0

    def truncate(self, fd: int, size: int) -> None:
        self._call("truncate", lambda: self._under.truncate(fd, size))

    def sync(self, fd: int) -> None:
        self._call("sync", lambda: self._under.sync(fd))

    def sync_data(self, fd: int) -> None:
        self._call("sync_data", lambda: self._under.sync_data(fd))

    def sync_dir(self, path: str) -> None:
        self._call("sync_dir", lambda: self._under.sync_dir(path))

    def rename(self, source: str, target: str) -> None:
        self._call("rename", lambda: self._under.rename(source, target))

    def unlink(self, path: str) -> None:
        self._call("unlink", lambda: self._under.unlink(path))

    def mkdir(self, path: str, mode: int) -> None:
        self._call("mkdir", lambda: self._under.mkdir(path, mode))

    def rmdir(self, path: str) -> None:
        self._call("rmdir", lambda: self._under.rmdir(path))


@dataclass(frozen=True, slots=True)
class Op:
    """One call that was carried out, in terms of files rather than descriptors."""

    call: str  # make, write, truncate, sync, sync_dir, rename, unlink, mkdir
    path: str = ""
    target: str = ""
    inode: int = 0
    offset: int = 0
    data: bytes = b""


class Recorder(fsio.Syscalls):
    """Carries out every call and writes down what it did; a call that failed did nothing."""

    def __init__(self, root: str, under: fsio.Syscalls | None = None) -> None:
        self._root, self._under = root, under or fsio.Syscalls()
        self.ops: list[Op] = []
        self._files: dict[int, int] = {}  # descriptor -> our number for its file
        self._numbers: dict[int, int] = {}  # inode -> our number: the kernel gives inodes out again

    def _name(self, path: str) -> str:
        return os.path.relpath(path, self._root)

    def open(self, path: str, flags: int, mode: int) -> int:
        new = bool(flags & os.O_CREAT) and not os.path.lexists(path)
        fd = self._under.open(path, flags, mode)
        inode = os.fstat(fd).st_ino
        if new:
            self._numbers[inode] = NEW + len(self.ops)
        self._files[fd] = self._numbers.setdefault(inode, inode)
        if new:
            self.ops.append(Op("make", self._name(path), inode=self._files[fd]))
        return fd

    def write(self, fd: int, data: bytes | memoryview) -> int:
        offset = os.fstat(fd).st_size  # the store only ever appends
        count = self._under.write(fd, data)
        self.ops.append(Op("write", inode=self._files[fd], offset=offset, data=bytes(data[:count])))
        return count

    def truncate(self, fd: int, size: int) -> None:
        self._under.truncate(fd, size)
        self.ops.append(Op("truncate", inode=self._files[fd], offset=size))

    def sync(self, fd: int) -> None:
        self._under.sync(fd)
        self.ops.append(Op("sync", inode=self._files[fd]))

    def sync_data(self, fd: int) -> None:
        self._under.sync_data(fd)
        self.ops.append(Op("sync", inode=self._files[fd]))

    def sync_dir(self, path: str) -> None:
        self._under.sync_dir(path)
        self.ops.append(Op("sync_dir", self._name(path)))

    def rename(self, source: str, target: str) -> None:
        self._under.rename(source, target)
        self.ops.append(Op("rename", self._name(source), self._name(target)))

    def unlink(self, path: str) -> None:
        self._under.unlink(path)
        self.ops.append(Op("unlink", self._name(path)))

    def mkdir(self, path: str, mode: int) -> None:
        self._under.mkdir(path, mode)
        self.ops.append(Op("mkdir", self._name(path)))

    def rmdir(self, path: str) -> None:
        self._under.rmdir(path)
        self.ops.append(Op("unlink", self._name(path)))


@dataclass(slots=True)
class Tree:
    """What a folder holds: files with their bytes, and folders."""

    files: dict[str, bytes] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)

    @classmethod
    def read(cls, root: str) -> "Tree":
        tree = cls()
        for folder, folders, files in os.walk(root):
            for name in folders:
                tree.folders.add(os.path.relpath(os.path.join(folder, name), root))
            for name in files:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    tree.files[os.path.relpath(path, root)] = file.read()
        return tree

    def write(self, root: str) -> None:
        """Make `root`, which must be empty or absent, hold exactly this."""
        os.makedirs(root, exist_ok=True)
        for name in sorted(self.folders):
            os.makedirs(os.path.join(root, name), exist_ok=True)
        for name, data in self.files.items():
            with open(os.path.join(root, name), "wb") as file:
                file.write(data)


@dataclass(frozen=True, slots=True)
class Recording:
    """A protocol as the disk saw it: what was there, what was done, what was promised when."""

    before: Tree
    inodes: dict[str, int]  # of the files that were there
    ops: list[Op]
    promised: list[tuple[int, str]]  # (number of calls done by then, what was acknowledged)

    def promised_by(self, at: int) -> set[str]:
        return {name for done, name in self.promised if done <= at}


def record(
    root: str, protocol: Callable[[Callable[[str], None]], None], under: fsio.Syscalls | None = None
) -> Recording:
    """Run a protocol on the store below `root`; it calls what it is given with each acknowledgement."""
    before = Tree.read(root)
    inodes = {name: os.stat(os.path.join(root, name)).st_ino for name in before.files}
    recorder = Recorder(root, under)
    promised: list[tuple[int, str]] = []
    with plugged(recorder):
        protocol(lambda name: promised.append((len(recorder.ops), name)))
    return Recording(before, inodes, recorder.ops, promised)


@dataclass(frozen=True, slots=True)
class State:
    """What a power cut after `at` calls may leave behind."""

    at: int
    tree: Tree
    how: str


class _Disk:
    """What is durable after some calls, and what is not yet."""

    def __init__(self, recording: Recording) -> None:
        self.data: dict[int, bytes] = {recording.inodes[n]: d for n, d in recording.before.files.items()}
        self.loose: dict[int, list[Op]] = {}  # inode -> writes not synced
        self.entries: dict[str, int | None] = {**recording.inodes, **dict.fromkeys(recording.before.folders)}
        self.moves: dict[str, list[Op]] = {}  # directory -> entry changes not synced
        self.cache: dict[str, int | None] = dict(self.entries)  # what a running process sees
        self.serial = 0

    def do(self, op: Op) -> None:
        match op.call:
            case "write" | "truncate":
                self.loose.setdefault(op.inode, []).append(op)
            case "sync":
                self.data[op.inode] = _apply(self.data.get(op.inode, b""), self.loose.pop(op.inode, []))
            case "sync_dir":
                for move in self.moves.pop(_key(op.path), []):
                    _move(self.entries, move)
            case _:
                self._entry(op)

    def _entry(self, op: Op) -> None:
        """An entry change waits in its directory; its inode is fixed now, whatever follows."""
        if op.call == "rename":
            op = Op("rename", op.path, op.target, inode=self.cache.get(op.path) or 0)
            folders = {_key(os.path.dirname(op.path)), _key(os.path.dirname(op.target))}
        else:
            folders = {_key(os.path.dirname(op.path))}
        _move(self.cache, op)
        for folder in sorted(folders):
            self.moves.setdefault(folder, []).append(op)


def _key(folder: str) -> str:
    return "" if folder == "." else folder


def _apply(data: bytes, ops: list[Op]) -> bytes:
    for op in ops:
        if op.call == "truncate":
            data = data[: op.offset].ljust(op.offset, b"\0")
        else:
            data = data[: op.offset].ljust(op.offset, b"\0") + op.data + data[op.offset + len(op.data) :]
    return data


def _move(entries: dict[str, int | None], op: Op) -> None:
    match op.call:
        case "make":
            entries[op.path] = op.inode
        case "mkdir":
            entries[op.path] = None
        case "unlink":
            entries.pop(op.path, None)
        case "rename":  # a rename is atomic: it is there in both directories or in none
            entries.pop(op.path, None)
            entries[op.target] = op.inode


def crash_states(
    recording: Recording, *, limit: int, choose: random.Random, points: Collection[int] | None = None
) -> Iterator[State]:
    """The states a power cut may leave, at most `limit` for each place, or chosen point, of the run."""
    disk = _Disk(recording)
    for at in range(len(recording.ops) + 1):
        if at:
            disk.do(recording.ops[at - 1])
        if points is None or at in points:
            yield from _states_at(disk, at, limit, choose)


def _states_at(disk: _Disk, at: int, limit: int, choose: random.Random) -> Iterator[State]:
    contents = [[(inode, how, data) for how, data in _variants(disk, inode)] for inode in disk.loose]
    orders = [[(folder, kept) for kept in range(len(moves) + 1)] for folder, moves in disk.moves.items()]
    number = 1
    for choices in (*contents, *orders):
        number *= len(choices)
    if number <= limit:
        picks: Iterator[tuple[object, ...]] = itertools.product(*contents, *orders)
    else:
        picks = (tuple(choose.choice(choices) for choices in (*contents, *orders)) for _ in range(limit))
    for pick in picks:
        yield _state(disk, at, pick[: len(contents)], pick[len(contents) :])


def _variants(disk: _Disk, inode: int) -> Iterator[tuple[str, bytes]]:
    """What unsynced writes of one file may have come to."""
    durable, ops = disk.data.get(inode, b""), disk.loose[inode]
    yield "lost", durable
    for done in range(1, len(ops) + 1):
        yield f"{done} kept", _apply(durable, ops[:done])
    last, so_far = ops[-1], _apply(durable, ops[:-1])
    if last.call == "write":
        size = len(last.data)
        for cut in sorted({1, size // 3, size // 2, size - 1} - {0, size}):
            yield f"torn at {cut}", _apply(so_far, [Op("write", offset=last.offset, data=last.data[:cut])])
            nulls = last.data[:cut].ljust(size, b"\0")
            yield f"nulls from {cut}", _apply(so_far, [Op("write", offset=last.offset, data=nulls)])
        yield "nulls", _apply(so_far, [Op("write", offset=last.offset, data=bytes(size))])


def _state(disk: _Disk, at: int, contents: tuple[object, ...], orders: tuple[object, ...]) -> State:
    data, how = dict(disk.data), []
    for inode, name, variant in contents:  # type: ignore[misc]
        data[inode] = variant
        how.append(f"{inode}: {name}")
    entries = dict(disk.entries)
    done: set[int] = set()
    for folder, kept in orders:  # type: ignore[misc]
        for move in disk.moves[folder][:kept]:
            if id(move) not in done:
                _move(entries, move)
                done.add(id(move))
        how.append(f"{folder}: {kept} of {len(disk.moves[folder])} entries")
    return State(at, _reachable(entries, data), "; ".join(how) or "all synced")


def _reachable(entries: dict[str, int | None], data: dict[int, bytes]) -> Tree:
    """Only what a path leads to: a file in a folder whose entry was lost is lost with it."""
    tree = Tree()
    for path in sorted(entries):
        parent = os.path.dirname(path)
        if parent and parent not in tree.folders:
            continue
        inode = entries[path]
        if inode is None:
            tree.folders.add(path)
        else:
            tree.files[path] = data.get(inode, b"")
    return tree
