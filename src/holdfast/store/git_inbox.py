"""What git's hooks noticed since the last command; one command takes it, once.

A hook appends one line for each firing (`interfaces/hook.py`) and waits for nobody. A drain renames the file first, so
that hooks write to a new one; the renamed file is deleted when the caller has stored its lines, and if a command is
killed in between, the next one takes the file. Lines are pointers and hints: damage costs those lines, is counted and
reported, and stops nothing.
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

PROBE = "HOLDFAST_PROBE"  # the variable, and the word that marks the line of a hook fired as a test
MAX_BYTES = 64 << 20  # hooks stop at a quarter of this, so what lies beyond is not theirs
MAX_LINE = 16 << 10
_WAIT, _WRITING = 2.0, 0.5  # seconds: for another command; for a hook, which writes one line
_PLAIN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_HEX = frozenset("0123456789abcdef")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@frozen(kw_only=True)
class FiredHook:
    """One firing of a git hook."""

    ts: str
    hook: str
    git_dir: str  # of the work tree it fired in
    head: str | None  # None: its files did not tell
    ref: str | None  # None: detached, or its files did not tell
    args: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()  # post-rewrite: old commit, new commit

    @property
    def probe(self) -> str | None:
        """The token of a firing that was only a test."""
        name, _, token = self.args[0].partition("=") if self.args else ("", "", "")
        return token if name == PROBE else None


def drain(layout: Layout) -> list[FiredHook]:
    """Everything that fired since the last drain, oldest first, each given to one caller only."""
    with draining(layout) as fired:
        return fired


@contextlib.contextmanager
def draining(layout: Layout) -> Iterator[list[FiredHook]]:
    """As `drain`, but what was taken stays on disk until the block ends well."""
    with contextlib.ExitStack() as stack:
        paths: list[str] = []
        with contextlib.suppress(Busy, ReadOnlyStore):  # another drains them, or this is a sandbox: they wait
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
    """Whether something waits; costs one look at a folder."""
    return any(name == _log(layout) or name.startswith(_taken(layout)) for name in layout.listed(layout.inbox))


def held(layout: Layout) -> contextlib.AbstractContextManager[int]:
    """Nobody drains meanwhile; hooks go on."""
    return fsio.locked(f"{layout.git_inbox}.lock", wait=_WAIT)


def peek(layout: Layout) -> list[FiredHook]:
    """What waits, tests included, left where it is."""
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
    """What was taken and not yet deleted, in the order it was taken."""
    names = [name for name in layout.listed(layout.inbox) if name.startswith(_taken(layout))]
    return [os.path.join(layout.inbox, name) for name in names]


def _take(layout: Layout) -> list[str]:
    """The files that are ours to read: what an earlier command left, and the hooks' file under a new name."""
    left = [path for path in _left(layout) if is_file(layout, path, "git's hooks")]
    number = int(left[-1].rpartition("-")[2]) + 1 if left and left[-1][-6:].isdigit() else 1
    new = os.path.join(layout.inbox, f"{_taken(layout)}{number:06}")
    if is_file(layout, layout.git_inbox, "git's hooks"):
        # Not synced: after a power cut an old line may be read a second time, and says nothing new.
        with fsio.refusing(layout.git_inbox):
            fsio.ops.rename(layout.git_inbox, new)
        left.append(new)
    return left


def is_file(layout: Layout, path: str, whose: str) -> bool:
    """Whether a plain file lies in an inbox; something else in its place is said."""
    try:
        plain = stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False
    if not plain:
        layout.leave_out(f"{path} is in the way: what {whose} noticed belongs there")
    return plain


@contextlib.contextmanager
def settled(path: str) -> Iterator[int | None]:
    """The file, once a hook that writes to it has ended; None if it hangs or cannot be opened: it waits."""
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
    """The kind of lock a hook can take without importing anything; kept until the file is closed."""
    if sys.platform == "win32":
        return True
    try:
        os.lockf(fd, os.F_TLOCK, 0)
    except OSError:
        return False
    return True


def _read(layout: Layout, path: str, fd: int) -> list[FiredHook]:
    """What a file says, line by line; what is damaged or too much is left out and said."""
    # closefd: closing any other descriptor of the file would give the lock away.
    with open(fd, "rb", closefd=False) as file:
        found, damaged = _parse(_lines(file))
        rest = os.fstat(fd).st_size - file.tell()
    if damaged:
        layout.leave_out(f"{damaged} damaged line{'s' * (damaged > 1)} of {path}")
    if rest > 0:
        layout.leave_out(f"the last {rest} bytes of {path}: at most {MAX_BYTES} are read")
    return found


def _lines(file: IO[bytes]) -> Iterator[str]:
    """Line by line, never more of one than a hook writes; a piece without its end is damaged."""
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
            if not line.startswith("="):  # whose pairs follow is not known
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
    """A field as it was before the hook escaped what ends fields and lines."""
    if "\\" not in field:
        return field
    parts = [part.replace("\\t", "\t").replace("\\n", "\n") for part in field.split("\\\\")]
    return "\\".join(parts)
