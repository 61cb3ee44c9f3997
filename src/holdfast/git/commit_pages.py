"""Reads what a commit changed, file by file, and some of the patch: a commit may change a million lines.

A merge is compared with its first parent.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from holdfast.git.repo import Repo
from holdfast.git.tracked_files import OFFLINE
from holdfast.values import frozen

MOST_LINES = 2_000  # changed lines of a file whose patch is read; more is generated
# A file above 512 KiB counts as binary: nobody reads its patch, and it would fill the memory.
_SETTINGS = ("-c", "core.bigFileThreshold=512k", "-c", "core.quotePath=true")
_TREES = ("diff-tree", "-r", "--root", "--no-commit-id", "-M", "--no-ext-diff", "--no-textconv", "--no-color")


@frozen
class ChangedFile:
    """A file that a commit changed; no numbers: it is binary or large."""

    path: str
    added: int | None
    removed: int | None
    was: str | None = None  # its former name

    @property
    def is_short(self) -> bool:
        """Whether its patch can be shown."""
        return self.added is not None and self.added + (self.removed or 0) <= MOST_LINES


@frozen
class CommitChanges:
    """A commit's parents and the files it changed; `cut`: its parents are not in this shallow clone."""

    oid: str
    parents: tuple[str, ...]
    files: tuple[ChangedFile, ...]
    cut: bool = False


def changes(repo: Repo, oid: str) -> CommitChanges:
    """Returns the files that a commit changed, by name."""
    parents = tuple(repo.text("rev-list", "--parents", "--max-count=1", oid).split(" ")[1:])
    if oid in repo.cut_off():
        return CommitChanges(oid, (), (), cut=True)
    out = repo.attempt(*_SETTINGS, *_TREES, "--numstat", "-z", *_trees(oid, parents), environ=OFFLINE).stdout
    return CommitChanges(oid, parents, tuple(_files(out)))


def patch(repo: Repo, commit: CommitChanges, file: ChangedFile) -> list[str]:
    """Returns the lines of one file's patch, without git's header."""
    names = [file.path, *([file.was] if file.was else [])]
    shape = ("--literal-pathspecs", *_SETTINGS, *_TREES, "-p", *_trees(commit.oid, commit.parents), "--", *names)
    rows = repo.attempt(*shape, environ=OFFLINE).stdout.split(b"\n")
    first = next((at for at, row in enumerate(rows) if row.startswith(b"@@")), len(rows))
    lines = [row.decode("utf-8", "replace") for row in rows[first:]]
    return lines[:-1] if lines and not lines[-1] else lines


def _trees(oid: str, parents: Sequence[str]) -> tuple[str, ...]:
    return (parents[0], oid) if parents else (oid,)


def _files(out: bytes) -> Iterator[ChangedFile]:
    """Parses `--numstat -z`: of a renamed file the name is empty, and the old and the new one follow."""
    words = iter(out.split(b"\0"))
    for word in words:
        added, _, rest = word.partition(b"\t")
        removed, tab, name = rest.partition(b"\t")
        if not tab:
            continue
        was = None
        if not name:
            was, name = os.fsdecode(next(words, b"")), next(words, b"")
        numbers = (int(one) if one.isdigit() else None for one in (added, removed))
        yield ChangedFile(os.fsdecode(name), *numbers, was)
