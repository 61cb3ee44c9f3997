"""A glance at git's files: whether anything moved since the last command.

It runs at every command, so it starts no git and reads no file longer than a line.
"""

import os

from holdfast.git.clone import Clone
from holdfast.git.moved.seen import Shared, Tree
from holdfast.git.repo import Head


class Glance:
    """What a glance at the disk shows, without starting git."""

    def __init__(self, clone: Clone) -> None:
        repo = clone.repo
        self.head: Head = repo.head()
        self.line, self.operation = clone.line().id, repo.operation()
        self.config = _facts(repo.common_dir, "config")
        self.shallow = _facts(repo.common_dir, "shallow")
        self.fetched = _facts(repo.git_dir, "FETCH_HEAD")
        self.log = _facts(repo.git_dir, "logs", "HEAD")
        self.trees = tuple(os.path.basename(git_dir) for git_dir in repo.worktrees()[1:] if _is_there(git_dir))

    def equals(self, tree: Tree, shared: Shared) -> bool:
        """Whether nothing moved; while git is at work the tree is not compared."""
        if (self.config, self.shallow, self.trees) != (shared.config, shared.shallow, shared.trees):
            return False
        here = (self.head.oid, self.head.ref, self.line, self.log, self.fetched)
        return bool(self.operation) or here == (tree.head, tree.ref, tree.line, tree.log, tree.fetched)


def _facts(*parts: str) -> str:
    """What changes when a file is written anew; empty if there is none."""
    try:
        found = os.stat(os.path.join(*parts))
    except OSError:
        return ""
    return f"{found.st_mtime_ns} {found.st_size}"


def _is_there(git_dir: str) -> bool:
    """Whether the work tree of a git folder still has its files."""
    try:
        with open(os.path.join(git_dir, "gitdir"), encoding="utf-8", errors="surrogateescape") as file:
            return os.path.lexists(os.path.join(git_dir, file.read().strip()))
    except OSError:
        return False
