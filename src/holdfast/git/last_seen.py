"""Stores the state of git that the last command saw, and tells whether git did anything since.

There is one small file for each work tree and one for what all of them share, replaced as a whole. They are hints:
if one is damaged or missing, this command counts as the first. Every command compares them with git's files,
so the comparison starts no git process and reads no file longer than a line.
"""

import contextlib
import hashlib
import os
from collections.abc import Iterable, Iterator
from typing import Any

from holdfast.errors import Busy, NotStored, ReadOnlyStore
from holdfast.git.clone import Clone
from holdfast.git.repo import Head
from holdfast.store import discovery, fsio, loose_records
from holdfast.values import asdict, frozen, replace

MOST = 100  # moves that wait to be reported, the newest ones; a guess: more than anybody reads
MOST_NAMES = 5_000  # a guess: every command that reconciles reads them all
TOLD, FOREIGN = "told", "foreign"  # what `reconcile` has reported; lines that another clone recorded
_SHARED = "clone.json"


@frozen
class GitMove:
    """One thing that git did: its kind, the state before and after, when, and a sentence about it."""

    kind: str
    before: str | None  # a commit or a ref, depending on the kind
    after: str | None
    ts: str
    sentence: str
    ref: str | None = None  # the branch on which it happened
    count: int = 0  # the number of commits concerned, for kinds that have one


@frozen
class SeenWorkTree:
    """The state of one work tree after the last command."""

    head: str | None
    ref: str | None
    line: str
    ts: str
    rows: int  # of HEAD's reflog, read so far
    row: str  # the last of them
    log: str  # file facts that change with that reflog
    fetched: str  # file facts that change with every fetch
    waiting: tuple[GitMove, ...] = ()


@frozen
class SeenClone:
    """The state that all work trees of the clone share."""

    config: str
    branches: tuple[tuple[str, str], ...]  # ref, line
    trees: tuple[str, ...]
    shallow: str
    waiting: tuple[GitMove, ...] = ()
    kept: tuple[str, ...] = ()  # changes that a person chose to keep after a rewind
    forced: tuple[str, ...] = ()  # rewritten upstream branches that were reported


def tree(clone: Clone) -> SeenWorkTree | None:
    """Returns this work tree's state after the last command; None: there was no command, or the file is damaged."""
    raw = loose_records.read(os.path.join(clone.layout.seen, _note_name(clone.worktree)))
    try:
        return SeenWorkTree(**{**raw, "waiting": _moves(raw)}) if raw else None
    except (TypeError, KeyError, ValueError):
        return None


def shared(clone: Clone) -> SeenClone | None:
    """Returns the shared state after the last command; None as in `tree`."""
    raw = loose_records.read(os.path.join(clone.layout.seen, _SHARED))
    try:
        if not raw:
            return None
        branches = tuple((str(ref), str(line)) for ref, line in raw.pop("branches"))
        named = {name: tuple(map(str, raw.pop(name))) for name in ("trees", "kept", "forced")}
        return SeenClone(**{**raw, **named, "branches": branches, "waiting": _moves(raw)})
    except (TypeError, KeyError, ValueError, AttributeError):
        return None


def _moves(raw: dict[str, Any]) -> tuple[GitMove, ...]:
    moves = tuple(GitMove(**move) for move in raw["waiting"])
    return tuple(replace(move, kind=str(move.kind), sentence=str(move.sentence)) for move in moves)


def keep(clone: Clone, value: SeenWorkTree | SeenClone) -> None:
    """Stores a state for the next command."""
    record = asdict(value)
    record["waiting"] = record["waiting"][-MOST:]
    name = _SHARED if isinstance(value, SeenClone) else _note_name(clone.worktree)
    loose_records.keep(os.path.join(clone.layout.seen, name), record)


def names(clone: Clone, of: str) -> set[str]:
    """Returns the names stored under a word: TOLD or FOREIGN."""
    raw = loose_records.read(os.path.join(clone.layout.seen, f"{of}.json")).get("names")
    return {name for name in raw if isinstance(name, str)} if isinstance(raw, list) else set()


def keep_names(clone: Clone, of: str, now: Iterable[str]) -> None:
    """Stores exactly these names under a word."""
    chosen = sorted(set(now))[:MOST_NAMES]
    if set(chosen) != names(clone, of):
        loose_records.keep(os.path.join(clone.layout.seen, f"{of}.json"), {"names": chosen})


def forget(clone: Clone, worktree: str) -> None:
    """Deletes the state of a removed work tree, so that another one of the same name starts without it."""
    with contextlib.suppress(NotStored, ReadOnlyStore):
        fsio.remove(os.path.join(clone.layout.seen, _note_name(worktree)))


@contextlib.contextmanager
def alone(clone: Clone) -> Iterator[bool]:
    """Yields whether this process holds the lock; a second process leaves the work to the first."""
    fsio.make_dirs(clone.layout.seen)  # 0.05 s: nobody should notice the wait
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(fsio.locked(os.path.join(clone.layout.seen, "lock"), wait=0.05))
        except (Busy, ReadOnlyStore, NotStored):
            yield False
            return
        yield True


def _note_name(worktree: str) -> str:
    if len(os.fsencode(worktree)) > 200:  # with our prefix and suffix it must stay below 255 bytes
        worktree = hashlib.sha256(os.fsencode(worktree)).hexdigest()
    return f"tree-{worktree}.json"


class DiskGlance:
    """The state of git as a few file facts show it, read without starting git."""

    def __init__(self, clone: Clone) -> None:
        repo = clone.repo
        self.head: Head = repo.head()
        self.line, self.operation = clone.line().id, repo.operation()
        own, common = (repo.git_dir, "logs/HEAD", "FETCH_HEAD"), (repo.common_dir, "config", "shallow")
        (self.log, self.fetched), (self.config, self.shallow) = (
            [" ".join(map(str, fsio.facts(os.path.join(folder, name))[1:3])) for name in names]
            for folder, *names in (own, common)
        )
        self.trees = tuple(os.path.basename(git_dir) for git_dir in repo.worktrees()[1:] if _is_there(git_dir))

    def tree(self, *, ts: str, rows: int, row: str, waiting: tuple[GitMove, ...]) -> SeenWorkTree:
        """Returns this work tree's state to store: how far its reflog was read and which moves wait to be reported."""
        head = self.head
        return SeenWorkTree(head.oid, head.ref, self.line, ts, rows, row, self.log, self.fetched, waiting)

    def equals(self, tree: SeenWorkTree, shared: SeenClone) -> bool:
        """Returns whether nothing changed; during a merge or rebase the work tree is not compared."""
        if (self.config, self.shallow, self.trees) != (shared.config, shared.shallow, shared.trees):
            return False
        here = (self.head.oid, self.head.ref, self.line, self.log, self.fetched)
        return bool(self.operation) or here == (tree.head, tree.ref, tree.line, tree.log, tree.fetched)


def is_current(clone: Clone) -> bool:
    """Returns whether git did nothing since the last command here; reads only a few file facts."""
    if clone.reading or clone.layout.private != clone.private.private:
        return True  # a sandbox cannot store the state: the next command outside it compares
    before, common = tree(clone), shared(clone)
    return before is not None and common is not None and DiskGlance(clone).equals(before, common)


def _is_there(git_dir: str) -> bool:
    """Returns whether the work tree of a git folder still exists."""
    named = os.fsdecode(discovery.read(os.fsencode(os.path.join(git_dir, "gitdir")))).strip()
    return bool(named) and os.path.lexists(os.path.join(git_dir, named))
