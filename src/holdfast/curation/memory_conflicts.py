"""Which memories contradict one another: checked before one is accepted, and after branches were merged.

The rules about words are in `model.claims`; here it is decided which memories are compared. What somebody looked at
and resolved (`supersedes`, `compatible_with`) does not come up again. A memory that arrived by git and was approved
by nobody here has no say against another. Two branches may each have accepted what the other denies: comparing
everything with everything takes long, so a record in the cache keeps, for each memory, in which words it was compared
and whom it contradicts, and only what is new since then is compared. It can be deleted like the index.
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
MAX_SAID = 160  # characters of each side in a sentence
MAX_HINTS = 2  # of every three hints one is wrong: more than two beside a candidate are not read


@frozen
class MemoryConflict:
    """A memory, and another that it cannot stand beside."""

    one: Memory
    other: Memory
    status: str  # of the other
    verdict: claims.Verdict

    @property
    def sentence(self) -> str:
        """Both sides in one sentence."""
        ours, theirs = (visible(memory.statement)[:MAX_SAID] for memory in (self.one, self.other))
        verb = "contradicts" if self.verdict.certain else "may contradict"
        return f"{self.one.id} ({ours!r}) {verb} {self.other.id}, {self.status} ({theirs!r}): {self.verdict.why}"


class KnownClaims:
    """What is known here, made ready to be held against many memories."""

    def __init__(self, standings: Iterable[MemoryStanding], rejected: Iterable[Memory] = ()) -> None:
        known = [one for one in standings if one.status in (*STANDING, *GONE) and one.trust != "T4"]
        known += [MemoryStanding(memory, "rejected") for memory in rejected]
        self._status = {one.id: one.status for one in known}
        self._memories = {one.id: one.memory for one in known}
        self._near: claims.SimilarStatements | None = None

    def add(self, one: MemoryStanding) -> None:
        """Something more is known now."""
        self._status[one.id], self._memories[one.id] = one.status, one.memory
        if self._near is not None:
            self._near.add(one.id, statement(one.memory))

    def conflicts(self, memory: Memory) -> tuple[MemoryConflict, ...]:
        """What certainly speaks against a memory, the strongest first."""
        return tuple(one for one in self._weighed(memory) if one.verdict.certain)

    def hints(self, memory: Memory) -> tuple[MemoryConflict, ...]:
        """What may speak against a memory: for whoever decides to look at, never a reason to refuse."""
        found = (one for one in self._weighed(memory) if not one.verdict.certain and one.status in STANDING)
        return tuple(found)[:MAX_HINTS]

    def rivals(self, memory: Memory) -> tuple[MemoryConflict, ...]:
        """What speaks or may speak against a memory, whatever its status."""
        return tuple(self._weighed(memory))[:MAX_HINTS]

    def _weighed(self, memory: Memory) -> list[MemoryConflict]:
        found, said = [], statement(memory)
        for other in (other for other in self._around(memory) if not resolved(memory, other)):
            status = self._status[other.id]
            if verdict := claims.conflict(statement(other), said, gone=status in GONE):
                found.append(MemoryConflict(memory, other, status, verdict))
        return sorted(found, key=lambda one: (one.status not in STANDING, -one.verdict.score, one.other.id))

    def same(self, memory: Memory) -> list[Memory]:
        """The memories that make the same claim, in these or in other words."""
        said = statement(memory)
        alike = (other for other in self._around(memory) if other.type == memory.type)
        return [other for other in alike if claims.same(statement(other), said)]

    def alike(self, memory: Memory) -> list[Memory]:
        """The memories that look like the same claim, those that certainly make it first."""
        same, said = self.same(memory), statement(memory)
        others = [other for other in self._around(memory) if other.type == memory.type and other not in same]
        return [*same, *(other for other in others if claims.looks_like(statement(other), said))]

    def pairs(self, only: Collection[str] | None = None) -> Iterator[MemoryConflict]:
        """Every two that stand here and contradict one another, each pair once."""
        standing = {name: memory for name, memory in self._memories.items() if self._status[name] in STANDING}
        for pair in contradicting_pairs(standing, only):
            yield MemoryConflict(pair.one, pair.other, self._status[pair.other.id], pair.verdict)

    def _around(self, memory: Memory) -> list[Memory]:
        if not self._memories.keys() - {memory.id}:
            return []  # nothing to compare with, so nothing to load
        if self._near is None:
            self._near = claims.SimilarStatements({name: statement(one) for name, one in self._memories.items()})
        return [self._memories[name] for name in self._near.near(statement(memory)) if name != memory.id]


def refuse(conflicts: Iterable[MemoryConflict]) -> None:
    """Say no to a memory that contradicts what stands, with both texts."""
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


_MAX_RECORD = 1 << 26
Rows = dict[str, list[str]]  # memory to the words it was compared in, and whom it contradicts
AT_ONCE = 500  # memories that are compared without being asked; `holdfast curate` compares all


def standing_conflicts(
    clone: Clone, standings: Iterable[MemoryStanding], known: KnownClaims, *, everything: bool = False
) -> list[MemoryConflict]:
    """Every two that stand here and contradict one another, as far as they were compared.

    Very many new ones are compared only if `everything` is asked for; until then they count as not looked at.
    """
    there = {one.id: one for one in standings if one.status in STANDING and one.trust != "T4"}
    before = {name: row for name, row in _read(clone).items() if name in there}
    now = {}
    for name, memory in ((name, one.memory) for name, one in there.items()):
        # Other words, or another scope, and a comparison has to be made again.
        now[name] = words_of(f"{memory.type} {memory.statement} {' '.join(memory.applies_to)}")
    new = {name for name, words in now.items() if before.get(name, [""])[0] != words}
    if new and (everything or len(new) <= AT_ONCE):
        before = {name: [words] if name in new else before[name] for name, words in now.items()}
        for conflict in known.pairs(only=new):
            before[conflict.one.id].append(conflict.other.id)
        if not clone.reading:
            # A full disk costs a comparison, not an answer.
            with contextlib.suppress(OSError, HoldfastError):
                fsio.make_dirs(os.path.dirname(_path(clone)))
                fsio.replace(_path(clone), json.dumps(before).encode("ascii"))
    return list(_told(before, there))


def new_conflicts(clone: Clone, now: datetime) -> list[MemoryConflict]:
    """The contradictions that were not there at the last look: a merge may just have brought them."""
    if not clone.repo.head().oid or clone.repo.tree_id("HEAD", layout.MEMORY) is None:
        return []
    told = {frozenset((name, other)) for name, (_, *others) in _read(clone).items() for other in others}
    standings = memory_state.list_memories(clone, now).standings
    found = standing_conflicts(clone, standings, KnownClaims(standings))
    return [one for one in found if frozenset((one.one.id, one.other.id)) not in told]


def _told(rows: Mapping[str, list[str]], there: Mapping[str, MemoryStanding]) -> Iterable[MemoryConflict]:
    pairs = (
        (there[name].memory, there[other]) for name, (_, *names) in rows.items() for other in names if other in there
    )
    for one, other in pairs:
        if not resolved(one, other.memory) and (verdict := contradiction(one, other.memory)) is not None:
            yield MemoryConflict(one, other.memory, other.status, verdict)


def _read(clone: Clone) -> Rows:
    """What was remembered; a record that is damaged or missing is none."""
    with contextlib.suppress(OSError, ValueError, AttributeError, RecursionError, HoldfastError):
        raw = json.loads(fsio.read(_path(clone), limit=_MAX_RECORD))
        return {name: row for name, row in raw.items() if isinstance(row, list) and row}
    return {}


def _path(clone: Clone) -> str:
    here = hashlib.sha256(os.fsencode(clone.worktree)).hexdigest()[:16]
    return os.path.join(os.path.dirname(clone.layout.index(clone.repo_id)), f"contradictions-{here}.json")
