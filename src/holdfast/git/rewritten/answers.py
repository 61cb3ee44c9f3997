"""Where lost commits were found last time, valid as long as nothing moved.

A search costs seconds on a large repository, and the same few commits are asked about by every
command. What was found counts while refs, HEAD and the maps are what they were; the file may be deleted.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Mapping

from holdfast.errors import Busy, NotStored, ReadOnlyStore, TooLarge, UnsafePath
from holdfast.git.repo import Repo
from holdfast.store import fsio
from holdfast.store.layout import Layout

Answer = tuple[str, str] | None  # where it is and how it was found; None: not found

_MAX_STATES = 4  # work trees take turns
_MAX_ANSWERS = 5_000
_LIMIT = 1 << 24


def state_of(repo: Repo, layouts: Iterable[Layout]) -> str:
    """A hash of everything an answer rests on."""
    refs = repo.run("for-each-ref", "--format=%(objectname) %(refname)")
    others = ("HEAD", *(os.path.join(folder, "HEAD") for folder in repo.worktrees()[1:]))
    heads = [_content(os.path.join(repo.common_dir, name)) for name in others]
    beside = (os.path.join("filter-repo", "commit-map"), "shallow")
    maps = (*(layout.rewrites for layout in layouts), *(os.path.join(repo.common_dir, name) for name in beside))
    files = [_facts(path) for path in maps]
    here = repo.head()
    return hashlib.sha256(repr((refs, heads, files, here.oid, here.ref)).encode()).hexdigest()[:32]


def load(layout: Layout, state: str) -> dict[str, Answer]:
    """What was found in this state of the repository."""
    found: dict[str, Answer] = {}
    rows = _read(layout).get(state)
    for oid, row in rows.items() if isinstance(rows, dict) else ():
        match row:
            case None:
                found[oid] = None
            case [str(commit), str(how)]:
                found[oid] = (commit, how)
    return found


def save(layout: Layout, state: str, answers: Mapping[str, Answer]) -> None:
    """Remember what was found; where that cannot be stored, it is simply looked for again."""
    kept = {name: rows for name, rows in _read(layout).items() if name != state and isinstance(rows, dict)}
    newest = dict(list(answers.items())[-_MAX_ANSWERS:])
    states = dict([*kept.items(), (state, newest)][-_MAX_STATES:])
    with contextlib.suppress(NotStored, ReadOnlyStore, UnsafePath, Busy):
        fsio.make_dirs(layout.anchors)
        fsio.replace(_path(layout), json.dumps(states, separators=(",", ":")).encode("ascii"))


def forget(layout: Layout) -> None:
    """Look for everything anew."""
    fsio.remove(_path(layout))


def _path(layout: Layout) -> str:
    return os.path.join(layout.anchors, "answers.json")


def _read(layout: Layout) -> dict[str, object]:
    try:
        read = json.loads(fsio.read(_path(layout), limit=_LIMIT))
    except (OSError, ValueError, RecursionError, UnsafePath, TooLarge):
        return {}  # a cache: damage costs another search
    return read if isinstance(read, dict) else {}


def _content(path: str) -> bytes:
    try:
        return fsio.read(path, limit=4096)
    except (OSError, UnsafePath, TooLarge):
        return b""


def _facts(path: str) -> tuple[int, ...]:
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_ino, found.st_size
