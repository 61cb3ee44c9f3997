"""The only way to write to the disk.

All durable data is written here, so that one module defines "stored": written in full, synced, and its directory entry
synced too. Tests replace `ops` to fail, record or kill every single call.
"""

import contextlib
import errno
import os
import stat
import sys
import time
from collections.abc import Iterator
from itertools import chain, count
from typing import IO

from holdfast.errors import Busy, NotStored, ReadOnlyStore, TooLarge, UnsafePath

if sys.platform == "win32":  # no advisory locks on whole files there: a byte-range lock serves instead
    import msvcrt
else:
    import fcntl

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_REMOVE_LINK = "Remove the link, then run `holdfast doctor`."
_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_NO_FOLDER = (errno.ENOENT, errno.ENOTDIR)
_READ_ONLY = (errno.EROFS, errno.EACCES, errno.EPERM)


class Syscalls:
    """The calls that change the disk, one method each."""

    def open(self, path: str, flags: int, mode: int) -> int:
        return os.open(path, flags | _CLOEXEC | _BINARY, mode)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        return os.write(fd, data)

    def truncate(self, fd: int, size: int) -> None:
        os.ftruncate(fd, size)

    def sync(self, fd: int) -> None:
        os.fsync(fd)

    def sync_data(self, fd: int) -> None:
        # macOS and Windows have no fdatasync; fsync guarantees more.
        getattr(os, "fdatasync", os.fsync)(fd)

    def sync_dir(self, path: str) -> None:
        if os.name == "nt":  # Windows cannot open a directory; its journal orders renames.
            return
        fd = os.open(path, os.O_RDONLY | _CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def rename(self, source: str, target: str) -> None:
        for _ in range(50 if os.name == "nt" else 0):  # together half a second, a guess: longer than a read takes
            try:
                os.replace(source, target)
                return
            except PermissionError:  # Windows refuses while a reader has the target open.
                time.sleep(0.01)
        os.replace(source, target)

    def unlink(self, path: str) -> None:
        os.unlink(path)

    def mkdir(self, path: str, mode: int) -> None:
        os.mkdir(path, mode)

    def rmdir(self, path: str) -> None:
        os.rmdir(path)


ops = Syscalls()


@contextlib.contextmanager
def refusing(what: str) -> Iterator[None]:
    """Turns an OSError into NotStored or ReadOnlyStore with a sentence; nothing in the block counts as stored."""
    try:
        yield
    except FileExistsError:
        raise
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        kind = ReadOnlyStore if error.errno in _READ_ONLY else NotStored
        hint = "Check the path it names." if error.errno in _NO_FOLDER else None
        raise kind(f"{what} was not stored: {reason}", hint=hint) from error


def write_all(fd: int, data: bytes) -> None:
    """Writes every byte; a full disk may accept some and return without an error."""
    view = memoryview(data)
    while view:
        count = ops.write(fd, view)
        if count == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        view = view[count:]


def append(fd: int, data: bytes) -> None:
    """Appends complete lines to an open file, durably; after a failure no part of them counts."""
    end = os.fstat(fd).st_size
    torn = end > 0 and os.pread(fd, 1, end - 1) != b"\n"  # a writer was killed: end its incomplete line
    try:
        write_all(fd, b"\n" + data if torn else data)
        ops.sync_data(fd)
    except OSError:
        # If even this fails, the last line stays incomplete and the next writer ends it with a newline.
        with contextlib.suppress(OSError):
            ops.truncate(fd, end)
        raise


def create(path: str, data: bytes, *, mode: int = 0o600) -> None:
    """Creates a file, durably; raises FileExistsError if there is one.

    A crash may leave an incomplete file under its final name, so this is for files whose name or content proves them
    complete. Everything else uses `replace`.
    """
    with refusing(path):
        _write_new(path, data, mode)
        ops.sync_dir(os.path.dirname(path))


def replace(path: str, data: bytes, *, mode: int = 0o600) -> None:
    """Replaces a file's content at once, durably: a reader or a crash sees the old or the new, never a mix."""
    temporary = f"{path}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    with refusing(path):
        _write_new(temporary, data, mode)
        try:
            ops.rename(temporary, path)
        except OSError:
            _unlink_quietly(temporary)
            raise
        ops.sync_dir(os.path.dirname(path))


def write_as(path: str, data: bytes, *, mode: int) -> None:
    """Replaces a file outside the store, with exactly this mode whatever the umask; creates missing folders."""
    make_dirs(os.path.dirname(path), mode=0o755)
    sweep(path)
    temporary = f"{path}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    create(temporary, data, mode=mode)
    os.chmod(temporary, mode)
    move(temporary, path)


def _write_new(path: str, data: bytes, mode: int) -> None:
    """Writes and syncs a new file; deletes it after a failure."""
    fd = ops.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW, mode)
    try:
        write_all(fd, data)
        ops.sync(fd)
    except OSError:
        _unlink_quietly(path)
        raise
    finally:
        os.close(fd)


def _unlink_quietly(path: str) -> None:
    with contextlib.suppress(OSError):
        ops.unlink(path)


def sweep(path: str) -> None:
    """Deletes temporary files that killed commands left when they were about to `replace` a file."""
    folder, name = os.path.split(path)
    for found in os.listdir(folder):
        writer, _, rest = found.removeprefix(f"{name}.").partition("-")
        if found.startswith(f"{name}.") and rest.endswith(".tmp") and not _is_running(writer):
            remove(os.path.join(folder, found))


def _is_running(process: str) -> bool:
    if os.name != "posix" or not process.isdigit():  # on Windows os.kill would end the process
        return True
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


@contextlib.contextmanager
def writing(path: str) -> Iterator[IO[bytes]]:
    """Yields a stream that becomes the file `path` if the block succeeds, and is deleted otherwise."""
    temporary = f"{path}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    fd = ops.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW, 0o600)
    try:
        with os.fdopen(fd, "wb") as out:
            yield out
            out.flush()
            ops.sync(fd)
        ops.rename(temporary, path)
    except BaseException:
        _unlink_quietly(temporary)
        raise
    ops.sync_dir(os.path.dirname(path))


def move(source: str, target: str) -> None:
    """Renames within the store, durably."""
    with refusing(target):
        ops.rename(source, target)
        ops.sync_dir(os.path.dirname(target))
        if os.path.dirname(source) != os.path.dirname(target):
            ops.sync_dir(os.path.dirname(source))


def free(path: str) -> str:
    """Returns a free path: `path`, or `path` with a number at its end."""
    tried = chain([path], (f"{path}.{number}" for number in count(2)))
    return next(place for place in tried if not os.path.lexists(place))


def remove(path: str) -> None:
    """Deletes a file, durably; a missing one is no error."""
    with refusing(path), contextlib.suppress(FileNotFoundError):
        ops.unlink(path)
        ops.sync_dir(os.path.dirname(path))


def make_dirs(path: str, *, mode: int = 0o700) -> None:
    """Creates a folder and its parents; syncs each new level, or a crash could lose it."""
    if os.path.isdir(path):
        return
    parent = os.path.dirname(path)
    if parent and parent != path:
        make_dirs(parent, mode=mode)
    with refusing(path):
        try:
            ops.mkdir(path, mode)
        except FileExistsError:
            if not os.path.isdir(path):
                raise UnsafePath(f"{path} is in the way: a folder belongs there") from None
        try:
            ops.sync_dir(parent or ".")
        except OSError:
            # Otherwise the next command would find the folder and rely on an entry that is not synced.
            with contextlib.suppress(OSError):
                ops.rmdir(path)
            raise


def facts(path: str) -> tuple[int, ...]:
    """Returns facts that change when a file is written again, the time of the last change first; () if missing."""
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return max(found.st_mtime_ns, found.st_ctime_ns), found.st_mtime_ns, found.st_size, found.st_ino


def read(path: str, *, limit: int, start: int = 0) -> bytes:
    """Reads a regular file from `start` on. Refuses links and devices: they could lead out of the store."""
    try:
        fd = os.open(path, os.O_RDONLY | _NOFOLLOW | getattr(os, "O_NONBLOCK", 0) | _CLOEXEC | _BINARY)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):
            reason = f"{path} is a symbolic link; Holdfast does not follow links in its store"
            raise UnsafePath(reason, hint=_REMOVE_LINK) from error
        raise
    try:
        facts = os.fstat(fd)
        if not stat.S_ISREG(facts.st_mode):
            raise UnsafePath(f"{path} is not a regular file")
        if facts.st_size > limit:
            raise TooLarge(f"{path} has {facts.st_size} bytes; at most {limit} are read")
        if start:
            os.lseek(fd, start, os.SEEK_SET)
        return _read_up_to(fd, max(0, facts.st_size - start), limit, path)
    finally:
        os.close(fd)


def find(path: str, *, limit: int) -> bytes | None:
    """Reads a file like `read`; returns None if it is missing."""
    try:
        return read(path, limit=limit)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _read_up_to(fd: int, expected: int, limit: int, path: str) -> bytes:
    parts, total, size = [], 0, min(expected + 1, 1 << 20)  # a small file must not cost a large buffer
    while chunk := os.read(fd, size):
        parts.append(chunk)
        total += len(chunk)
        if total > limit:
            raise TooLarge(f"{path} grew past {limit} bytes while it was read")
        if total == expected and len(chunk) < size:
            break  # the end: one more read would double the cost of a small file
    return b"".join(parts)


def inside(top: str, path: str) -> str:
    """Returns the full path of `path` below `top`; refuses one that passes through a link."""
    parts = path.split("/")
    if os.path.isabs(path) or any(part in ("", ".", "..") for part in parts):
        raise UnsafePath(f"{path} does not name a file inside the repository", hint="Use a path below its top folder.")
    full = top
    for part in parts:
        full = os.path.join(full, part)
        if os.path.islink(full):
            reason = f"{path} passes through a symbolic link; Holdfast writes only real files"
            raise UnsafePath(reason, hint=_REMOVE_LINK)
    return full


def lock_fd(fd: int, *, wait: float, what: str) -> None:
    """Takes the kernel's exclusive lock on an open file; raises Busy after `wait` seconds."""
    deadline = time.monotonic() + wait
    pause = 0.0005
    while not try_lock_fd(fd):
        if time.monotonic() > deadline:
            raise Busy(f"another Holdfast command has held {what} for {wait:g} seconds")
        time.sleep(pause)
        pause = min(pause * 2, 0.05)


def try_lock_fd(fd: int) -> bool:
    """Takes the lock if it is free; the kernel releases it when the process ends."""
    try:
        if sys.platform == "win32":
            os.lseek(fd, 0, os.SEEK_SET)
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def unlock_fd(fd: int) -> None:
    """Releases the lock before the file is closed."""
    if sys.platform == "win32":
        os.lseek(fd, 0, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)
    else:
        fcntl.flock(fd, fcntl.LOCK_UN)


@contextlib.contextmanager
def locked(path: str, *, wait: float = 10.0) -> Iterator[int]:
    """Holds the exclusive lock on `path`; yields the open file that holds it.

    The file stays: after an unlink, two processes could hold the lock at once.
    """
    with refusing(path):
        fd = ops.open(path, os.O_RDWR | os.O_CREAT | _NOFOLLOW, 0o600)
    try:
        lock_fd(fd, wait=wait, what=path)
        yield fd
    finally:
        os.close(fd)


def whole_input(data: bytes | None) -> int:
    """Returns an open file with a program's whole input, or /dev/null: it must never wait for the user's keyboard.

    Not a pipe: if we were killed while writing, the program would treat the part that it got as the whole list.
    """
    if not data:
        return os.open(os.devnull, os.O_RDONLY)
    fd = _nameless_file()
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(fd, left) :]
        os.lseek(fd, 0, os.SEEK_SET)
    except OSError:
        os.close(fd)
        raise
    return fd


def _nameless_file() -> int:
    try:
        return os.memfd_create("git input")
    except (AttributeError, OSError):  # not on Linux, or a sandbox forbids it
        import tempfile

        with tempfile.TemporaryFile() as file:
            return os.dup(file.fileno())
