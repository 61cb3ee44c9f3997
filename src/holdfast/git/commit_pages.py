"""Reads what a commit changed, file by file, and some of the patch: a commit may change a million lines.

A merge is compared with its first parent.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from holdfast.git.repo import Repo
from holdfast.git.tracked_files import OFFLINE
from holdfast.values import frozen, replace

_LONGEST = 2_000  # bytes of a line of a patch
MOST_LINES = 2_000  # changed lines of a file whose patch is read; more is generated
# A file above 512 KiB counts as binary: nobody reads its patch, and it would fill the memory.
_SETTINGS = ("-c", "core.bigFileThreshold=512k", "-c", "core.quotePath=true")
_TREES = ("diff-tree", "-r", "--root", "--no-commit-id", "-M", "--no-ext-diff", "--no-textconv", "--no-color")


@frozen
class ChangedFile:
    """A file that a commit changed; no numbers: it is binary or large, or nobody counted yet."""

    path: str
    was: str | None = None  # its former name
    added: int | None = None
    removed: int | None = None

    @property
    def lines(self) -> int:
        """How many lines were added or removed."""
        return (self.added or 0) + (self.removed or 0)

    @property
    def is_short(self) -> bool:
        """Whether its patch can be shown."""
        return self.added is not None and self.lines <= MOST_LINES


@frozen
class CommitChanges:
    """A commit's parents and the files it changed; `cut`: its parents are not in this shallow clone."""

    oid: str
    parents: tuple[str, ...]
    files: tuple[ChangedFile, ...]
    cut: bool = False


def changes(repo: Repo, oid: str) -> CommitChanges:
    """Returns the files that a commit changed, by name; their lines are not counted."""
    parents = tuple(repo.text("rev-list", "--parents", "--max-count=1", oid).split(" ")[1:])
    if oid in repo.cut_off():
        return CommitChanges(oid, (), (), cut=True)
    out = repo.attempt(*_SETTINGS, *_TREES, "--name-status", "-z", *_trees(oid, parents), environ=OFFLINE).stdout
    return CommitChanges(oid, parents, tuple(_files(out)))


def counted(repo: Repo, commit: CommitChanges, files: Sequence[ChangedFile]) -> list[ChangedFile]:
    """Returns some files of a commit with their lines counted."""
    if not files:
        return []
    names = [name for file in files for name in (file.path, file.was) if name]
    shape = ("--literal-pathspecs", *_SETTINGS, *_TREES, "--numstat", "-z", *_trees(commit.oid, commit.parents))
    found = dict(_numbers(repo.attempt(*shape, "--", *names, environ=OFFLINE).stdout))
    return [
        replace(file, added=added, removed=removed)
        for file in files
        for added, removed in [found.get(file.path, (None, None))]
    ]


def patches(repo: Repo, commit: CommitChanges, files: Sequence[ChangedFile]) -> list[list[str]]:
    """Returns the lines of some files' patches, without git's headers and without the ends of very long lines."""
    if not files:
        return []
    names = [name for file in files for name in (file.path, file.was) if name]
    shape = ("--literal-pathspecs", *_SETTINGS, *_TREES, "-p", *_trees(commit.oid, commit.parents), "--", *names)
    found: list[list[str]] = []
    is_inside = False
    for row in repo.attempt(*shape, environ=OFFLINE).stdout.split(b"\n")[:-1]:
        if row.startswith(b"diff --git "):  # no line of a patch begins so
            found.append([])
            is_inside = False
        is_inside = is_inside or row.startswith(b"@@")
        if is_inside and found:
            found[-1].append(row[:_LONGEST].decode("utf-8", "replace"))
    if len(found) == len(files):
        return found
    if len(files) == 1:
        return [[line for part in found for line in part]]  # a file that became a link has two patches
    return [patches(repo, commit, [file])[0] for file in files]


def _trees(oid: str, parents: Sequence[str]) -> tuple[str, ...]:
    return (parents[0], oid) if parents else (oid,)


def _files(out: bytes) -> Iterator[ChangedFile]:
    """Parses `--name-status -z`: a letter and a name; of a renamed file the old and the new one."""
    words = iter(os.fsdecode(out).split("\0")[:-1])
    for letter in words:
        was = next(words, "") if letter[:1] in ("R", "C") else None
        yield ChangedFile(next(words, ""), was)


def _numbers(out: bytes) -> Iterator[tuple[str, tuple[int | None, int | None]]]:
    """Parses `--numstat -z`: of a renamed file the name is empty, and the old and the new one follow."""
    words = iter(out.split(b"\0"))
    for word in words:
        added, _, rest = word.partition(b"\t")
        removed, tab, name = rest.partition(b"\t")
        if tab:
            name = name or (next(words, b""), next(words, b""))[1]
            yield os.fsdecode(name), (_number(added), _number(removed))


def _number(word: bytes) -> int | None:
    return int(word) if word.isdigit() else None
