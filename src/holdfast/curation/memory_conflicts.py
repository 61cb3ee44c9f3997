"""Finds memories that contradict one another: before one is accepted, and after a merge of branches.

`model.claims` has the rules for words; this module decides which memories are compared. A pair that somebody resolved
(`supersedes`, `compatible_with`) is not reported again. A memory that arrived by git and that nobody here approved
never blocks another. Two branches may have accepted contradicting memories, and comparing all pairs takes long: a
record in the cache keeps, for each memory, the words it was compared in and the ids it contradicts, and only new ones
are compared. The cache can be deleted like the index.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from holdfast.curation import memory_state
from holdfast.curation.decisions import MemoryStanding
from holdfast.errors import Contradicts, HoldfastError
from holdfast.git.approvals import words_of
from holdfast.git.clone import Clone
from holdfast.lazy_module import LazyModule
from holdfast.model.contradictions import contradicting_pairs, contradiction, resolved, statement
from holdfast.model.memory import Memory
from holdfast.model.text import visible
from holdfast.store import fsio, layout
from holdfast.values import frozen

if TYPE_CHECKING:
    from holdfast.model import claims
else:
    claims = LazyModule("holdfast.model.claims")  # its tables are large, and few commands compare statements

STANDING = ("accepted", "stale")
GONE = ("superseded", "deprecated", "rejected")
MAX_SAID = 160  # characters of each side in a sentence; a guess: two rows of a terminal
MAX_HINTS = 2  # hints for a candidate; one of three is wrong, and nobody reads more


@frozen
class MemoryConflict:
    """A memory, and another that contradicts it."""

    one: Memory
    other: Memory
    status: str  # of the other
    verdict: claims.Verdict

    @property
    def sentence(self) -> str:
        """Returns both sides in one sentence."""
        ours, theirs = (visible(memory.statement)[:MAX_SAID] for memory in (self.one, self.other))
        verb = "contradicts" if self.verdict.certain else "may contradict"
        return f"{self.one.id} ({ours!r}) {verb} {self.other.id}, {self.status} ({theirs!r}): {self.verdict.why}"


class KnownClaims:
    """The known memories, prepared for comparison with many others."""

    def __init__(self, standings: Iterable[MemoryStanding], rejected: Iterable[Memory] = ()) -> None:
        known = [one for one in standings if one.status in (*STANDING, *GONE) and one.trust != "T4"]
        known += [MemoryStanding(memory, "rejected") for memory in rejected]
        self._status = {one.id: one.status for one in known}
        self._memories = {one.id: one.memory for one in known}
        self._near: claims.SimilarStatements | None = None

    def add(self, one: MemoryStanding) -> None:
        """Adds a memory."""
        self._status[one.id], self._memories[one.id] = one.status, one.memory
        if self._near is not None:
            self._near.add(one.id, statement(one.memory))

    def conflicts(self, memory: Memory) -> tuple[MemoryConflict, ...]:
        """Returns the memories that certainly contradict one, the strongest first."""
        return tuple(one for one in self._all_conflicts(memory) if one.verdict.certain)

    def hints(self, memory: Memory) -> tuple[MemoryConflict, ...]:
        """Returns the memories that may contradict one: shown to the reviewer, never a reason to refuse."""
        found = (one for one in self._all_conflicts(memory) if not one.verdict.certain and one.status in STANDING)
        return tuple(found)[:MAX_HINTS]

    def rivals(self, memory: Memory) -> tuple[MemoryConflict, ...]:
        """Returns the memories that contradict or may contradict one, whatever their status."""
        return tuple(self._all_conflicts(memory))[:MAX_HINTS]

    def _all_conflicts(self, memory: Memory) -> list[MemoryConflict]:
        found, own = [], statement(memory)
        for other in (other for other in self._neighbours(memory) if not resolved(memory, other)):
            status = self._status[other.id]
            verdict = claims.conflict(statement(other), own, gone=status in GONE)
            if verdict is not None and (status in GONE or self._is_worth_a_hint(verdict, statement(other), own)):
                found.append(MemoryConflict(memory, other, status, verdict))
        return sorted(found, key=lambda one: (one.status not in STANDING, -one.verdict.score, one.other.id))

    def _is_worth_a_hint(self, verdict: claims.Verdict, one: claims.Statement, other: claims.Statement) -> bool:
        """Whether two statements are about one thing: a common verb alone is noise, and after three nobody reads on."""
        assert self._near is not None  # `_neighbours` came from it
        return self._near.is_worth_a_hint(verdict, one, other)

    def same(self, memory: Memory) -> list[Memory]:
        """Returns the memories that make the same claim, in these or in other words."""
        own = statement(memory)
        alike = (other for other in self._neighbours(memory) if other.type == memory.type)
        return [other for other in alike if claims.same(statement(other), own)]

    def alike(self, memory: Memory) -> list[Memory]:
        """Returns the memories that look like the same claim, the certain ones first."""
        same, own = self.same(memory), statement(memory)
        others = [other for other in self._neighbours(memory) if other.type == memory.type and other not in same]
        return [*same, *(other for other in others if claims.looks_like(statement(other), own))]

    def pairs(self, only: Collection[str] | None = None) -> Iterator[MemoryConflict]:
        """Yields each pair of current memories that contradict one another, once."""
        standing = {name: memory for name, memory in self._memories.items() if self._status[name] in STANDING}
        for pair in contradicting_pairs(standing, only):
            yield MemoryConflict(pair.one, pair.other, self._status[pair.other.id], pair.verdict)

    def _neighbours(self, memory: Memory) -> list[Memory]:
        if not self._memories.keys() - {memory.id}:
            return []  # nothing to compare with: the tables are not loaded
        if self._near is None:
            self._near = claims.SimilarStatements({name: statement(one) for name, one in self._memories.items()})
        return [self._memories[name] for name in self._near.near(statement(memory)) if name != memory.id]


def refuse(conflicts: Iterable[MemoryConflict]) -> None:
    """Raises an error with both texts if a memory contradicts a current one."""
    found = list(conflicts)
    if not found:
        return
    first = found[0]
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    hint = (
        f"Resolve it: holdfast review accept {first.one.id} --supersede {first.other.id}, or --keep-both "
        f"(with --applies-to PATH to say where), or holdfast review reject {first.one.id}"
    )
    raise Contradicts(first.sentence + more, hint=hint)


_MAX_RECORD = 1 << 26  # bytes; a guess: about a million compared memories
Rows = dict[str, list[str]]  # memory to the hash of the words it was compared in, and the ids it contradicts
AT_ONCE = 500  # new memories compared by any command; a guess that bounds its time, `holdfast curate` compares all


def standing_conflicts(
    clone: Clone, standings: Iterable[MemoryStanding], known: KnownClaims, *, everything: bool = False
) -> list[MemoryConflict]:
    """Returns each pair of current memories that contradict one another, as far as they were compared.

    Very many new memories are compared only with `everything`; until then they count as not compared.
    """
    current = {one.id: one for one in standings if one.status in STANDING and one.trust != "T4"}
    compared = {name: row for name, row in _read(clone).items() if name in current}
    digests = {}
    for name, memory in ((name, one.memory) for name, one in current.items()):
        # With other words or another scope, the memory must be compared again.
        digests[name] = words_of(f"{memory.type} {memory.statement} {' '.join(memory.applies_to)}")
    new = {name for name, words in digests.items() if compared.get(name, [""])[0] != words}
    if new and (everything or len(new) <= AT_ONCE):
        compared = {name: [words] if name in new else compared[name] for name, words in digests.items()}
        for conflict in known.pairs(only=new):
            compared[conflict.one.id].append(conflict.other.id)
        if not clone.reading:
            # A full disk must not fail the command: only the comparison is repeated later.
            with contextlib.suppress(OSError, HoldfastError):
                fsio.make_dirs(os.path.dirname(_path(clone)))
                fsio.replace(_path(clone), json.dumps(compared).encode("ascii"))
    return list(_stored_conflicts(compared, current))


def new_conflicts(clone: Clone, now: datetime) -> list[MemoryConflict]:
    """Returns the contradictions that are not in the cache yet: a merge may just have added them."""
    if not clone.repo.head().oid or clone.repo.tree_id("HEAD", layout.MEMORY) is None:
        return []
    known_pairs = {frozenset((name, other)) for name, (_, *others) in _read(clone).items() for other in others}
    standings = memory_state.list_memories(clone, now).standings
    found = standing_conflicts(clone, standings, KnownClaims(standings))
    return [one for one in found if frozenset((one.one.id, one.other.id)) not in known_pairs]


def _stored_conflicts(rows: Mapping[str, list[str]], by_id: Mapping[str, MemoryStanding]) -> Iterable[MemoryConflict]:
    pairs = (
        (by_id[name].memory, by_id[other]) for name, (_, *names) in rows.items() for other in names if other in by_id
    )
    for one, other in pairs:
        if not resolved(one, other.memory) and (verdict := contradiction(one, other.memory)) is not None:
            yield MemoryConflict(one, other.memory, other.status, verdict)


def _read(clone: Clone) -> Rows:
    """Returns the cache; empty if it is damaged or missing."""
    with contextlib.suppress(OSError, ValueError, AttributeError, RecursionError, HoldfastError):
        raw = json.loads(fsio.read(_path(clone), limit=_MAX_RECORD))
        return {name: row for name, row in raw.items() if isinstance(row, list) and row}
    return {}


def _path(clone: Clone) -> str:
    here = hashlib.sha256(os.fsencode(clone.worktree)).hexdigest()[:16]
    return os.path.join(os.path.dirname(clone.layout.index(clone.repo_id)), f"contradictions-{here}.json")
