"""How git looked to the last command, and whether anything moved since.

One small file for each work tree and one for what all of them share, replaced as a whole. They are hints: a damaged
or missing one means that this command looks for the first time. Comparing them with git's files runs at every
command, so it starts no git and reads no file longer than a line.
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

MOST = 100  # moves that wait to be told; the newest stay
MOST_NAMES = 5_000
TOLD, FOREIGN = "told", "foreign"  # what reconcile has told; lines that another clone recorded
_SHARED = "clone.json"


@frozen
class GitMove:
    """One thing that git did: what, from where to where, when, and in a sentence."""

    kind: str
    before: str | None  # a commit or a ref, as the kind has it
    after: str | None
    ts: str
    sentence: str
    ref: str | None = None  # the branch it happened on
    count: int = 0  # how many commits it is about, where that is the point


@frozen
class SeenWorkTree:
    """One work tree as it was left."""

    head: str | None
    ref: str | None
    line: str
    ts: str
    rows: int  # of HEAD's reflog, read so far
    row: str  # the last of them
    log: str  # what changes when that log does
    fetched: str  # what changes when something is fetched
    waiting: tuple[GitMove, ...] = ()


@frozen
class SeenClone:
    """What all work trees of the clone have in common."""

    config: str
    branches: tuple[tuple[str, str], ...]  # ref, line
    trees: tuple[str, ...]
    shallow: str
    waiting: tuple[GitMove, ...] = ()
    kept: tuple[str, ...] = ()  # changes of which somebody said that they stay, whatever was rewound
    forced: tuple[str, ...] = ()  # rewritten upstreams that were reported


def tree(clone: Clone) -> SeenWorkTree | None:
    """This work tree as the last command left it; None: nobody has looked, or the note is damaged."""
    raw = loose_records.read(os.path.join(clone.layout.seen, _note_name(clone.worktree)))
    try:
        return SeenWorkTree(**{**raw, "waiting": _moves(raw)}) if raw else None
    except (TypeError, KeyError, ValueError):
        return None


def shared(clone: Clone) -> SeenClone | None:
    """What the work trees share, as the last command left it."""
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
    """Remember it for the next command."""
    record = asdict(value)
    record["waiting"] = record["waiting"][-MOST:]
    name = _SHARED if isinstance(value, SeenClone) else _note_name(clone.worktree)
    loose_records.keep(os.path.join(clone.layout.seen, name), record)


def names(clone: Clone, of: str) -> set[str]:
    """The names that were kept under a word: TOLD or FOREIGN."""
    raw = loose_records.read(os.path.join(clone.layout.seen, f"{of}.json")).get("names")
    return {name for name in raw if isinstance(name, str)} if isinstance(raw, list) else set()


def keep_names(clone: Clone, of: str, now: Iterable[str]) -> None:
    """Keep exactly these names under a word."""
    chosen = sorted(set(now))[:MOST_NAMES]
    if set(chosen) != names(clone, of):
        loose_records.keep(os.path.join(clone.layout.seen, f"{of}.json"), {"names": chosen})


def forget(clone: Clone, worktree: str) -> None:
    """A work tree is gone: another of its name starts afresh."""
    with contextlib.suppress(NotStored, ReadOnlyStore):
        fsio.remove(os.path.join(clone.layout.seen, _note_name(worktree)))


@contextlib.contextmanager
def alone(clone: Clone) -> Iterator[bool]:
    """Whether nobody else looks at this moment; who comes second leaves it to the first."""
    fsio.make_dirs(clone.layout.seen)
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(fsio.locked(os.path.join(clone.layout.seen, "lock"), wait=0.05))
        except (Busy, ReadOnlyStore, NotStored):
            yield False
            return
        yield True


def _note_name(worktree: str) -> str:
    if len(os.fsencode(worktree)) > 200:
        worktree = hashlib.sha256(os.fsencode(worktree)).hexdigest()
    return f"tree-{worktree}.json"


class DiskGlance:
    """What a glance at the disk shows, without starting git."""

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
        """This work tree, to be remembered, with how far its log was read and what waits to be told."""
        head = self.head
        return SeenWorkTree(head.oid, head.ref, self.line, ts, rows, row, self.log, self.fetched, waiting)

    def equals(self, tree: SeenWorkTree, shared: SeenClone) -> bool:
        """Whether nothing moved; while git is at work the tree is not compared."""
        if (self.config, self.shallow, self.trees) != (shared.config, shared.shallow, shared.trees):
            return False
        here = (self.head.oid, self.head.ref, self.line, self.log, self.fetched)
        return bool(self.operation) or here == (tree.head, tree.ref, tree.line, tree.log, tree.fetched)


def is_current(clone: Clone) -> bool:
    """Whether git did nothing since the last command here; costs a few looks at the disk."""
    if clone.reading or clone.layout.private != clone.private.private:
        return True  # in a sandbox nothing can be remembered: the next command outside it notices
    before, common = tree(clone), shared(clone)
    return before is not None and common is not None and DiskGlance(clone).equals(before, common)


def _is_there(git_dir: str) -> bool:
    """Whether the work tree of a git folder still has its files."""
    named = os.fsdecode(discovery.read(os.fsencode(os.path.join(git_dir, "gitdir")))).strip()
    return bool(named) and os.path.lexists(os.path.join(git_dir, named))
