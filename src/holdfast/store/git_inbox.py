"""The reports of git's hooks since the last command; one command reads each of them, once.

A hook appends one row for each firing (`interfaces/hook.py`) and never waits. A drain renames the file first, so that
hooks write to a new one; the renamed file is deleted when the caller has stored its rows, and if a command is killed in
between, the next one continues with the file. Rows are hints: damaged ones are skipped, counted and reported.
"""

import contextlib
import os
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import IO

from holdfast.errors import Busy, ReadOnlyStore
from holdfast.model.event import timestamp
from holdfast.store import fsio
from holdfast.store.layout import Layout
from holdfast.values import frozen, replace

PROBE = "HOLDFAST_PROBE"  # the variable, and the word that marks the row of a hook fired as a test
MAX_BYTES = 64 << 20  # hooks stop at a quarter of this, so the rest is not theirs
MAX_LINE = 16 << 10  # bytes; a guess: a row has one path, one ref and a few words
_WAIT, _WRITING = 2.0, 0.5  # seconds for another command, and for a hook that writes one row; guesses
_PLAIN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_HEX = frozenset("0123456789abcdef")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@frozen(kw_only=True)
class FiredHook:
    """One firing of a git hook."""

    ts: str
    hook: str
    git_dir: str  # of its work tree
    head: str | None  # None if unknown
    ref: str | None  # None if detached or unknown
    args: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()  # post-rewrite: old commit, new commit

    @property
    def probe(self) -> str | None:
        """The token of a test firing; None for a real one."""
        name, _, token = self.args[0].partition("=") if self.args else ("", "", "")
        return token if name == PROBE else None


def drain(layout: Layout) -> list[FiredHook]:
    """Returns everything that fired since the last drain, oldest first; each firing goes to one caller only."""
    with draining(layout) as fired:
        return fired


@contextlib.contextmanager
def draining(layout: Layout) -> Iterator[list[FiredHook]]:
    """Yields the same as `drain`, but deletes the rows only when the block succeeds."""
    with contextlib.ExitStack() as stack:
        paths: list[str] = []
        with contextlib.suppress(Busy, ReadOnlyStore):  # another command drains them, or this is a sandbox
            if is_filled(layout):
                stack.enter_context(held(layout))
                paths = _take(layout)
        opened = [(path, stack.enter_context(settled(path))) for path in paths]
        files = [(path, fd) for path, fd in opened if fd is not None]
        yield [fired for path, fd in files for fired in _read(layout, path, fd) if fired.probe is None]
        for path, _ in files:
            with fsio.refusing(path):
                fsio.ops.unlink(path)


def is_filled(layout: Layout) -> bool:
    """Whether something waits; lists one folder."""
    return any(name == _log(layout) or name.startswith(_taken(layout)) for name in layout.listed(layout.inbox))


def held(layout: Layout) -> contextlib.AbstractContextManager[int]:
    """Holds the lock against drains; hooks continue."""
    return fsio.locked(f"{layout.git_inbox}.lock", wait=_WAIT)


def peek(layout: Layout) -> list[FiredHook]:
    """Returns what waits, tests included; leaves the files in place."""
    found: list[FiredHook] = []
    for path in (*_left(layout), layout.git_inbox):
        with contextlib.suppress(OSError), open(path, "rb", opener=lambda p, flags: os.open(p, flags | _PLAIN)) as file:
            found += _read(layout, path, file.fileno())
    return found


def _log(layout: Layout) -> str:
    return os.path.basename(layout.git_inbox)


def _taken(layout: Layout) -> str:
    return f"{_log(layout)}.taken-"


def _left(layout: Layout) -> list[str]:
    """Returns the files that a drain renamed and did not delete, oldest first."""
    names = [name for name in layout.listed(layout.inbox) if name.startswith(_taken(layout))]
    return [os.path.join(layout.inbox, name) for name in names]


def _take(layout: Layout) -> list[str]:
    """Returns the files to read: those that an earlier command left, and the hooks' file under a new name."""
    left = [path for path in _left(layout) if is_file(layout, path, "git's hooks")]
    number = int(left[-1].rpartition("-")[2]) + 1 if left and left[-1][-6:].isdigit() else 1
    new = os.path.join(layout.inbox, f"{_taken(layout)}{number:06}")
    if is_file(layout, layout.git_inbox, "git's hooks"):
        # Not synced: after a power cut an old row may be read again, which changes nothing.
        with fsio.refusing(layout.git_inbox):
            fsio.ops.rename(layout.git_inbox, new)
        left.append(new)
    return left


def is_file(layout: Layout, path: str, whose: str) -> bool:
    """Whether a path in an inbox is a regular file; reports anything else in its place."""
    try:
        plain = stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False
    if not plain:
        layout.leave_out(f"{path} is in the way: the reports of {whose} belong there")
    return plain


@contextlib.contextmanager
def settled(path: str) -> Iterator[int | None]:
    """Yields the file when a hook that writes to it has ended; None if the hook hangs or the file cannot be read."""
    try:
        fd = os.open(path, os.O_RDWR | _PLAIN)
    except OSError:
        yield None
        return
    try:
        deadline = time.monotonic() + _WRITING
        while not (free := _lock(fd)) and time.monotonic() < deadline:
            time.sleep(0.002)
        yield fd if free else None
    finally:
        os.close(fd)


def _lock(fd: int) -> bool:
    """Takes the kind of lock that a hook can take without an import; held until the file is closed."""
    if sys.platform == "win32":
        return True
    try:
        os.lockf(fd, os.F_TLOCK, 0)
    except OSError:
        return False
    return True


def _read(layout: Layout, path: str, fd: int) -> list[FiredHook]:
    """Reads the rows of a file; skips and reports damaged ones, and those beyond the limit."""
    # closefd: closing any other descriptor of the file would release the lock.
    with open(fd, "rb", closefd=False) as file:
        found, damaged = _parse(_lines(file))
        rest = os.fstat(fd).st_size - file.tell()
    if damaged:
        layout.leave_out(f"{damaged} damaged line{'s' * (damaged > 1)} of {path}")
    if rest > 0:
        layout.leave_out(f"the last {rest} bytes of {path}: at most {MAX_BYTES} are read")
    return found


def _lines(file: IO[bytes]) -> Iterator[str]:
    """Yields lines, each up to the length that a hook writes; an incomplete one is damaged."""
    size, whole = 0, True
    while size < MAX_BYTES and (raw := file.readline(MAX_LINE)):
        if whole:
            yield os.fsdecode(raw)
        size, whole = size + len(raw), raw.endswith(b"\n")


def _parse(lines: Iterable[str]) -> tuple[list[FiredHook], int]:
    found: list[FiredHook] = []
    pairs: list[tuple[str, str]] | None = None  # of the last firing, if that was a rewrite
    damaged = 0
    for line in lines:
        fields = line.removesuffix("\n").split("\t")
        if line.endswith("\n") and pairs is not None and (pair := _pair(fields)):
            pairs.append(pair)
        elif line.endswith("\n") and (fired := _fired(fields)):
            _give(found, pairs)
            found.append(fired)
            pairs = [] if fired.hook == "post-rewrite" else None
        elif line != "\n":
            damaged += 1
            if not line.startswith("="):  # the pairs after it belong to an unknown firing
                _give(found, pairs)
                pairs = None
    _give(found, pairs)
    return found, damaged


def _give(found: list[FiredHook], pairs: list[tuple[str, str]] | None) -> None:
    if pairs:
        found[-1] = replace(found[-1], pairs=tuple(pairs))


def _pair(fields: list[str]) -> tuple[str, str] | None:
    if len(fields) == 3 and fields[0] == "=" and len(fields[1]) == len(fields[2]):
        return (fields[1], fields[2]) if _is_oid(fields[1]) and _is_oid(fields[2]) else None
    return None


def _fired(fields: list[str]) -> FiredHook | None:
    if len(fields) != 7 or fields[0] != "1":
        return None
    _, ns, hook, git_dir, head, ref, args = fields
    if not (ns.isascii() and ns.isdigit() and len(ns) <= 19):
        return None
    if not hook or not git_dir.startswith("/") or not (head == "-" or _is_oid(head)):
        return None
    return FiredHook(
        ts=timestamp(_EPOCH + timedelta(microseconds=int(ns) // 1000)),
        hook=hook,
        git_dir=_plain(git_dir),
        head=None if head == "-" else head,
        ref=None if ref in ("-", "") else _plain(ref),
        args=tuple(_plain(args).split()),
    )


def _is_oid(word: str) -> bool:
    return len(word) in (40, 64) and _HEX.issuperset(word)


def _plain(field: str) -> str:
    """Returns a field without the hook's escapes for tabs, newlines and backslashes."""
    if "\\" not in field:
        return field
    parts = [part.replace("\\t", "\t").replace("\\n", "\n") for part in field.split("\\\\")]
    return "\\".join(parts)
