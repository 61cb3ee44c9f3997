"""Which paths of the work tree changed while a run was under way.

Two looks at git's own list of what differs from HEAD, and the commits made in between. Files git
ignores, and Holdfast's own, do not count; a file that was dirty before and was left alone does not either.
"""

import hashlib
import os
import stat
from collections.abc import Iterable

from holdfast.git.repo import Repo
from holdfast.store.layout import TRACKED
from holdfast.values import frozen

# So that a file rewritten with the same bytes is not taken for a change, small dirty files are hashed before.
_HASHED_FILE, _HASHED_IN_ALL, _HASHED_COUNT = 1 << 20, 1 << 24, 1000


@frozen
class Mark:
    """What a file looked like; two equal marks are the same content."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    mode: int
    sha256: str | None = None


@frozen
class Snapshot:
    """The work tree at a moment: its commit, and every path that differs from it (None: not there)."""

    head: str | None
    files: dict[str, Mark | None]


def snapshot(repo: Repo) -> Snapshot:
    """The work tree now."""
    head = repo.head().oid
    budget = [_HASHED_IN_ALL, _HASHED_COUNT]
    return Snapshot(head, {path: _mark(repo.top, path, budget) for path in _differing(repo)})


def changed(repo: Repo, before: Snapshot) -> list[str]:
    """Paths whose content is not what it was, deleted ones included, sorted."""
    candidates = {*_differing(repo), *before.files, *_committed(repo, before.head, repo.head().oid)}
    return sorted(path for path in candidates if _is_ours_to_tell(path) and _differs(repo.top, path, before))


def spelled(path: str) -> str:
    """A path as text that can stand in JSON, a file name and one line of a list.

    Bytes that are no text, controls and the backslash itself become `\\xNN`: no two paths read the same.
    """
    if path.isprintable() and "\\" not in path:
        return path
    return "".join(c if c.isprintable() and c != "\\" else _bytes_of(c) for c in path)


def _bytes_of(character: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogateescape"))


def _differing(repo: Repo) -> list[str]:
    """Every path that differs from HEAD or is not tracked, folders and ignored files left out."""
    out = repo.run(
        "status",
        "--porcelain=v2",
        "-z",
        "--untracked-files=all",
        "--no-renames",
        "--ignore-submodules=dirty",
        "--",
        ".",
        f":(exclude){TRACKED}",
    )
    return [path for row in out.split(b"\0") if (path := _path_of(row)) and not path.endswith("/")]


_FIELDS_BEFORE_PATH = {b"1": 8, b"u": 10, b"?": 1}


def _path_of(row: bytes) -> str:
    words = _FIELDS_BEFORE_PATH.get(row[:1])
    return os.fsdecode(row.split(b" ", words)[words]) if words else ""


def _committed(repo: Repo, before: str | None, after: str | None) -> Iterable[str]:
    if after is None or after == before:
        return []
    if before is None:
        out = repo.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", after)
    else:
        out = repo.run("diff-tree", "-r", "-z", "--name-only", "--no-renames", before, after)
    return [os.fsdecode(name) for name in out.split(b"\0") if name]


def _is_ours_to_tell(path: str) -> bool:
    return path != TRACKED and not path.startswith(TRACKED + "/")


def _differs(top: str, path: str, before: Snapshot) -> bool:
    if path not in before.files:
        return not os.path.isdir(os.path.join(top, path))  # a submodule is not a file
    was, now = before.files[path], _mark(top, path, [0, 0])
    if was is None or now is None:
        return was is not now
    if (was.size, was.mtime_ns, was.ctime_ns, was.inode, was.mode) == (
        now.size,
        now.mtime_ns,
        now.ctime_ns,
        now.inode,
        now.mode,
    ):
        return False
    return was.sha256 is None or was.sha256 != _sha256(os.path.join(top, path), now)


def _mark(top: str, path: str, budget: list[int]) -> Mark | None:
    full = os.path.join(top, path)
    try:
        facts = os.lstat(full)
    except OSError:
        return None
    if stat.S_ISDIR(facts.st_mode):
        return None
    mark = Mark(facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino, facts.st_mode)
    if facts.st_size > min(_HASHED_FILE, budget[0]) or budget[1] <= 0:
        return mark
    budget[0] -= facts.st_size
    budget[1] -= 1
    known = _sha256(full, mark)
    return Mark(mark.size, mark.mtime_ns, mark.ctime_ns, mark.inode, mark.mode, known)


def _sha256(full: str, mark: Mark) -> str | None:
    if not stat.S_ISREG(mark.mode) or mark.size > _HASHED_FILE:
        return None
    try:
        with open(full, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
