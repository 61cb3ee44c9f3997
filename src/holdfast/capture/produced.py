"""The files a run produced: each by its hash, small ones as a copy, and whether another run shares in it."""

import hashlib
import os
import stat
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from holdfast.capture.changes import spelled
from holdfast.errors import HoldfastError
from holdfast.model.ids import is_id
from holdfast.security.redact import Scanner
from holdfast.store import capsule
from holdfast.store.capsule import Capsule
from holdfast.store.layout import Layout
from holdfast.values import frozen

MAX_COPY, MAX_COPIES, MAX_COPIED_FILES = 1 << 20, 1 << 24, 1000
MAX_HASHED = 1 << 32  # in all; what lies beyond is listed without a hash rather than read for minutes
FILES = "outputs/files.json"
_SLACK = 50_000_000  # the kernel's clock for files is coarse, nanoseconds


@frozen
class Window:
    """Another run in the same work tree: from when to when, and what it is known to have changed."""

    start_ns: int
    end_ns: int | None  # None: it is still under way
    paths: frozenset[str]

    def may_have_changed(self, path: str, ctime_ns: int | None) -> bool:
        """Whether that run was there when the file last changed; a deleted file keeps no time."""
        if path in self.paths:
            return True
        if ctime_ns is None:
            return self.end_ns is None
        return self.start_ns - _SLACK <= ctime_ns and (self.end_ns is None or ctime_ns <= self.end_ns + _SLACK)


def moment() -> int:
    """Now by the clock that stamps files, which is not the one events are dated with."""
    return time.time_ns()


def neighbours(layout: Layout, run_id: str, context: Mapping[str, Any], seen: Iterable[str]) -> list[Window]:
    """Runs that overlapped ours in this work tree: those open when we began, and those begun since."""
    try:
        later = [name for name in os.listdir(layout.runs) if name >= run_id[:16]]
    except OSError:
        later = []
    found = []
    for other in sorted({*seen, *later, *capsule.opened(layout)} - {run_id}):
        window = _window(layout, other, run_id, context)
        if window is not None and (window.end_ns is None or window.end_ns >= context.get("since_ns", 0)):
            found.append(window)
    return found


def _window(layout: Layout, other: str, run_id: str, ours: Mapping[str, Any]) -> Window | None:
    folder = layout.run(other)
    theirs = capsule.read_json(folder, capsule.CONTEXT)
    if not isinstance(theirs, dict) or theirs.get("worktree") != ours.get("worktree"):
        return None
    # A nested run's work is its parent's work: nobody else is meant.
    if run_id in _ancestors(layout, theirs) or other in _ancestors(layout, ours):
        return None
    files = capsule.read_json(folder, FILES)
    paths = (
        frozenset(row.get("path", "") for row in files if isinstance(row, dict)) if isinstance(files, list) else None
    )
    end = None
    if not os.path.lexists(os.path.join(folder, capsule.OPEN)):
        end = _modified(os.path.join(folder, capsule.MANIFEST))
    return Window(int(theirs.get("since_ns") or 0), end, paths or frozenset())


def _ancestors(layout: Layout, context: Mapping[str, Any]) -> set[str]:
    """The runs within which a run was started."""
    found: set[str] = set()
    parent = context.get("parent_run_id")
    while isinstance(parent, str) and is_id(parent) and parent not in found:
        found.add(parent)
        above = capsule.read_json(layout.run(parent), capsule.CONTEXT)
        parent = above.get("parent_run_id") if isinstance(above, dict) else None
    return found


def _modified(path: str) -> int | None:
    try:
        return os.lstat(path).st_mtime_ns
    except OSError:
        return None


def keep(
    into: Capsule, top: str, paths: Sequence[str], *, scan: Scanner, others: Sequence[Window]
) -> list[dict[str, Any]]:
    """Describe each path and copy what is small; what cannot be read or kept is still listed."""
    keeper = _Keeper(into, scan)
    return [keeper.describe(top, path, others) for path in paths]


class _Keeper:
    def __init__(self, into: Capsule, scan: Scanner) -> None:
        self._into, self._scan = into, scan
        self._room, self._files, self._hashing = MAX_COPIES, MAX_COPIED_FILES, MAX_HASHED

    def describe(self, top: str, path: str, others: Sequence[Window]) -> dict[str, Any]:
        name = spelled(path)
        full = os.path.join(top, path)
        try:
            facts = os.lstat(full)
        except OSError:
            facts = None
        ctime = facts.st_ctime_ns if facts else None
        row: dict[str, Any] = {
            "path": self._scan.text(name),
            "sha256": None,
            "size": facts.st_size if facts else None,
            "stored": False,
            "shared": any(other.may_have_changed(name, ctime) for other in others),
            "redacted": False,
            "deleted": facts is None,
        }
        if facts is not None:
            self._content(full, facts, row)
        return row

    def _content(self, full: str, facts: os.stat_result, row: dict[str, Any]) -> None:
        try:
            if stat.S_ISLNK(facts.st_mode):
                row["sha256"] = hashlib.sha256(os.fsencode(os.readlink(full))).hexdigest()
            elif stat.S_ISREG(facts.st_mode) and facts.st_size <= self._hashing:
                self._hashing -= facts.st_size
                self._read(full, facts.st_size, row)
        except OSError:
            return  # gone or unreadable meanwhile: listed, without a hash

    def _read(self, full: str, size: int, row: dict[str, Any]) -> None:
        handle = os.open(full, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with open(handle, "rb") as file:
            if size > min(MAX_COPY, self._room) or self._files <= 0:
                row["sha256"] = hashlib.file_digest(file, "sha256").hexdigest()
                return
            data = file.read(MAX_COPY + 1)
        if len(data) > MAX_COPY:  # it grew while we looked
            return
        row["sha256"], row["size"] = hashlib.sha256(data).hexdigest(), len(data)
        self._copy(data, row)

    def _copy(self, data: bytes, row: dict[str, Any]) -> None:
        try:
            stream = self._scan.stream()
            clean = stream.feed(data) + stream.finish()
            self._into.add(f"outputs/files/{row['path']}", clean)
        except (HoldfastError, OSError):
            return  # a name too long for the store, a full disk: the hash stands alone
        self._room -= len(data)
        self._files -= 1
        row["stored"], row["redacted"] = True, clean != data
