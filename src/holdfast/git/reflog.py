"""Reads git's reflogs: when a branch was created, and what was checked out at that moment.

They are read as files. Their times are whole seconds, and they expire, so `branch_lines` stores the
results in the private store.
"""

import os
from collections.abc import Iterator
from datetime import UTC, datetime

from holdfast.git.repo import Repo
from holdfast.patterns import regex
from holdfast.values import frozen

_MOVED = regex(r"checkout: moving from (\S+) to (\S+)")
_CREATED = regex(r"branch: Created from (\S+)")
_TURNED = regex(r"Branch: (renamed|copied) (refs/heads/\S+) to (refs/heads/\S+)")
_COMMIT = regex(r"[0-9a-f]{40}|[0-9a-f]{64}")
_HEADS = "refs/heads/"
_ROW = regex(r"(\S*) (\S*) (?:[^\t]* )?(\d+) [^ \t]*(?:\t(.*))?\Z")  # old, new, who, when and in which zone, message


@frozen
class ReflogRow:
    """One row of a reflog."""

    oid: str
    time: int
    begins: bool  # the ref was created by this row
    message: str

    @property
    def born(self) -> str:
        """A mark that distinguishes this branch from another one of the same name."""
        return f"{self.oid} {self.time}"

    @property
    def until(self) -> str:
        """The last instant of its second: within a second the order is unknown."""
        return f"{datetime.fromtimestamp(self.time, UTC):%Y-%m-%dT%H:%M:%S}.999999Z"


def read(folder: str, ref: str) -> list[ReflogRow]:
    """Returns the rows of a ref's log, oldest first; empty if there is no log."""
    path = os.path.join(folder, "logs", *ref.split("/"))
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            rows = file.read().split("\n")[:-1]
    except OSError:
        return []
    found = (_ROW.match(row) for row in rows)
    return [ReflogRow(row[2], int(row[3]), set(row[1]) == {"0"}, row[4] or "") for row in found if row]


def birth(repo: Repo, ref: str) -> ReflogRow | None:
    """Returns the row that created a branch; None if its log does not reach back that far."""
    log = read(repo.common_dir, ref)
    return log[0] if log and log[0].begins else None


def copied(repo: Repo, ref: str) -> tuple[str, ReflogRow] | None:
    """Returns the branch that `git branch -c` copied this one from, with the row."""
    rows = ((_TURNED.fullmatch(row.message), row) for row in reversed(read(repo.common_dir, ref)))
    return next(((turned[2], row) for turned, row in rows if turned and turned[1] == "copied"), None)


def is_named(row: ReflogRow, ref: str) -> bool:
    """Returns whether a row of its log, a rename or a copy, gave a branch this name."""
    turned = _TURNED.fullmatch(row.message)
    return turned is not None and turned[3] == ref


@frozen
class BranchOrigin:
    """Where a branch came from: another branch, or a detached work tree's git folder."""

    ref: str | None
    git_dir: str | None = None


def origin(repo: Repo, ref: str, moment: ReflogRow) -> BranchOrigin | None:
    """Returns what a branch was created from; None if the logs do not show it for certain."""
    created = _CREATED.fullmatch(moment.message)
    if created is None:
        return None  # a first commit, a clone, a fetch
    start = created[1]
    if start != "HEAD" and (named := _branch(repo, start)):
        return BranchOrigin(named) if named != ref else None
    left = _left_behind(repo, ref, moment)
    return _checked_out(repo, moment, skip=ref) if left is None and start == "HEAD" else left


def _branch(repo: Repo, name: str) -> str | None:
    """Returns the local branch that a start point names, also one that was renamed or deleted since."""
    ref = name if name.startswith(_HEADS) else _HEADS + name
    if repo.resolve(ref):
        return ref
    return None if repo.commit_of(name) else ref  # a tag, a remote's branch or a commit has no line


def _left_behind(repo: Repo, ref: str, moment: ReflogRow) -> BranchOrigin | None:
    """Returns what HEAD left when `git switch -c` created the branch."""
    for git_dir, row, left in _moves_to(repo, ref):
        if row.time == moment.time:  # one process wrote both rows, and git takes the time once a process
            return BranchOrigin(None, git_dir) if _COMMIT.fullmatch(left) else BranchOrigin(_HEADS + left)
    return None


def _moves_to(repo: Repo, ref: str) -> Iterator[tuple[str, ReflogRow, str]]:
    """Yields each move of HEAD to a branch, in any work tree: the git folder, the row, and what HEAD left."""
    for git_dir in repo.worktrees():
        for row in read(git_dir, "HEAD"):
            if (moved := _MOVED.fullmatch(row.message)) and moved[2] == ref.removeprefix(_HEADS):
                yield git_dir, row, moved[1]


def _checked_out(repo: Repo, moment: ReflogRow, *, skip: str) -> BranchOrigin | None:
    """Returns what was checked out at this commit and moment: in the main work tree, else in the only one that fits."""
    found = []
    for git_dir in repo.worktrees():
        rows = read(git_dir, "HEAD")
        before = [row for row in rows if row.time <= moment.time]
        at = branch_at(git_dir, rows, len(before))
        if before and before[-1].oid == moment.oid and at != skip:
            found.append(BranchOrigin(at, None if at else git_dir))
            if git_dir == repo.common_dir:
                break
    return found[0] if len(set(found)) == 1 else None


def ref_after(message: str, ref: str | None) -> str | None:
    """Returns the branch that is checked out after a row of HEAD's log; `ref` if the row does not show it."""
    if turned := _TURNED.fullmatch(message):
        return turned[3]
    if moved := _MOVED.fullmatch(message):
        return None if moved[2] == "HEAD" or _COMMIT.fullmatch(moved[2]) else _HEADS + moved[2]
    return ref


def branch_at(git_dir: str, rows: list[ReflogRow], count: int) -> str | None:
    """Returns the branch a work tree was on after the first `count` rows of its HEAD's log."""
    for row in reversed(rows[:count]):
        if (ref := ref_after(row.message, "")) != "":
            return ref
    for row in rows[count:]:
        if moved := _MOVED.fullmatch(row.message):
            return None if _COMMIT.fullmatch(moved[1]) else _HEADS + moved[1]
        if turned := _TURNED.fullmatch(row.message):
            return turned[2]
    return Repo.ref_of(git_dir)


def arrival(repo: Repo, ref: str, until: str) -> tuple[BranchOrigin, ReflogRow] | None:
    """Returns the branch HEAD left when it last moved to `ref` before a moment; that branch may be deleted."""
    rows = ((row, left) for _, row, left in _moves_to(repo, ref) if row.until <= until and not _COMMIT.fullmatch(left))
    return max(((BranchOrigin(_HEADS + left), row) for row, left in rows), key=lambda pair: pair[1].time, default=None)


def detached_from(repo: Repo) -> tuple[BranchOrigin, ReflogRow] | None:
    """Returns the branch a detached work tree was on before, and the row with which it left it."""
    rows = read(repo.git_dir, "HEAD")
    for row in reversed(rows):
        moved = _MOVED.fullmatch(row.message)
        if moved and not _COMMIT.fullmatch(moved[1]):
            return BranchOrigin(_HEADS + moved[1]), row
    if rows and rows[0].begins and repo.git_dir != repo.common_dir:
        place = _checked_out(repo, rows[0], skip="")
        return (place, rows[0]) if place else None
    return None
