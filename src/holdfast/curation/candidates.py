"""The store of candidates: proposals that wait for review, and the tombstones of rejected ones.

One file each in the private store, in the format of an entry, with the line (the id of a branch's work) it was proposed
on. A command that reads and then writes holds the lock, or two agents with the same idea would store it twice.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from holdfast.errors import BrokenEntry, ReadOnlyStore
from holdfast.git import approvals
from holdfast.git.clone import Clone
from holdfast.model.memory import Candidate, Rejected
from holdfast.store import fsio, memory_files
from holdfast.values import field, frozen


@frozen
class CandidateShelf:
    """All candidates of this clone, on any line."""

    waiting: dict[str, Candidate] = field(default_factory=dict)
    rejected: dict[str, Rejected] = field(default_factory=dict)
    broken: tuple[BrokenEntry, ...] = ()

    @property
    def ids(self) -> list[str]:
        return [*self.waiting, *self.rejected]


def read(clone: Clone) -> CandidateShelf:
    """Returns all candidates; an unreadable file is listed as broken and not changed."""
    waiting: dict[str, Candidate] = {}
    rejected: dict[str, Rejected] = {}
    broken: list[BrokenEntry] = []
    erased = clone.erased()
    files = ((s.candidates, name) for s in clone.stores for name in s.listed(s.candidates) if name.endswith(".md"))
    for folder, name in files:
        try:
            memory = memory_files.read_candidate(os.path.join(folder, name))
        except FileNotFoundError:  # another command decided it meanwhile
            continue
        except BrokenEntry as error:
            broken.append(error)
            continue
        if isinstance(memory, Candidate) and memory.id not in erased:
            waiting.setdefault(memory.id, memory)
        elif isinstance(memory, Rejected) and memory.id not in erased:
            rejected.setdefault(memory.id, memory)
    return CandidateShelf(waiting, rejected, tuple(broken))


def changed(clone: Clone, *waiting: Candidate) -> dict[str, tuple[str, ...]]:
    """Returns warnings for the reviewer about candidates whose words changed after the proposal."""
    found = approvals.candidates_changed(clone, waiting)
    return dict.fromkeys(found, ("its words were changed after it was proposed",))


def keep(clone: Clone, memory: Candidate | Rejected) -> None:
    """Stores a candidate or a tombstone; durable on return."""
    fsio.make_dirs(clone.layout.candidates)
    fsio.replace(_path(clone.layout.candidates, memory.id), memory_files.render(memory).encode())


def discard(clone: Clone, identity: str) -> None:
    """Deletes a candidate that became an entry."""
    for store in clone.stores:
        path = _path(store.candidates, identity)
        if os.path.lexists(path):
            try:
                fsio.remove(path)
            except ReadOnlyStore as error:  # the decision is recorded; only the file stays
                clone.layout.leave_out(f"the candidate {identity}, whose file cannot be deleted now: {error}")


@contextmanager
def locked(clone: Clone) -> Iterator[None]:
    """Holds the lock, so that what was read stays true until the following writes."""
    with fsio.locked(f"{clone.layout.candidates}.lock"):
        yield


def _path(folder: str, identity: str) -> str:
    return os.path.join(folder, f"{identity}.md")
