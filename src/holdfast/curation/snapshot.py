"""Candidates and current entries, read once: for many proposals, or for a reviewer.

A command that writes based on them holds the candidates' lock.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from holdfast.curation import candidates, memory_state
from holdfast.errors import NotFound
from holdfast.git.clone import Clone
from holdfast.lazy_module import LazyModule
from holdfast.model import memory as rules
from holdfast.model.contradictions import statement
from holdfast.model.ids import pick
from holdfast.values import frozen

if TYPE_CHECKING:
    from holdfast.model import claims
else:
    claims = LazyModule("holdfast.model.claims")  # its tables are large, and few commands compare statements


class ProposalBatch:
    """All known, proposed and rejected memories; a command that writes based on them holds the lock."""

    def __init__(self, clone: Clone) -> None:
        shelf = candidates.read(clone)
        seen, _ = memory_state.read_visible(clone)
        entries = [one.memory for one in seen]
        accepted = [memory for memory in entries if isinstance(memory, rules.Accepted)]
        replaced = {old for memory in accepted for old in memory.supersedes}
        self.ids = {*shelf.ids, *(memory.id for memory in entries)}
        # A superseded memory does not count as known: a person replaced it.
        standing = [memory for memory in entries if memory.id not in replaced]
        self._memories: dict[str, rules.Memory] = {
            memory.id: memory for memory in (*shelf.rejected.values(), *shelf.waiting.values(), *standing)
        }
        self._near: dict[tuple[str, str | None], claims.SimilarStatements] = {}

    def alike(self, claim: claims.Statement, suggests: str | None) -> list[rules.Memory]:
        """Returns the memories of its type that make the same claim, those in the same words first.

        A suggestion is about another memory, and the same only as one with the same suggestion.
        """
        near = [self._memories[name] for name in self._neighbours(claim.kind, suggests).near(claim)]
        same = [one for one in near if rules.same_words(one.statement, claim.text)]
        other_words = [one for one in near if claims.same(statement(one), claim)]
        return list({memory.id: memory for memory in (*same, *other_words)}.values())

    def put(self, candidate: rules.Candidate) -> None:
        """Adds a new or changed candidate."""
        self.ids.add(candidate.id)
        self._memories[candidate.id] = candidate
        near = self._near.get((candidate.type, candidate.suggests))
        if near is not None:
            near.add(candidate.id, statement(candidate))

    def _neighbours(self, kind: str, suggests: str | None) -> claims.SimilarStatements:
        if (kind, suggests) not in self._near:
            kin = [one for one in self._memories.values() if one.type == kind]
            kin = [one for one in kin if getattr(one, "suggests", None) == suggests]
            self._near[kind, suggests] = claims.SimilarStatements({one.id: statement(one) for one in kin})
        return self._near[kind, suggests]


@contextmanager
def locked_proposals(clone: Clone) -> Iterator[ProposalBatch]:
    """Yields a batch for many proposals, and holds the lock until they are stored."""
    with candidates.locked(clone):
        yield ProposalBatch(clone)


@frozen
class ReviewTable:
    """Candidates, tombstones and entries; a command that writes afterwards holds the lock."""

    shelf: candidates.CandidateShelf
    seen: Sequence[memory_state.VisibleMemory]

    @property
    def ids(self) -> list[str]:
        return [*self.shelf.ids, *self.entry_ids]

    @property
    def entry_ids(self) -> list[str]:
        return [one.memory.id for one in self.seen]

    def meant(self, text: str, likely: Sequence[str] | None = None) -> str:
        """Returns the id a person means: any whole id, else the start of a likely one, else of any."""
        if text in self.ids:
            return text
        try:
            return pick(text, list(self.shelf.waiting) if likely is None else likely)
        except NotFound:
            return pick(text, self.ids)

    def entry(self, name: str) -> memory_state.VisibleMemory | None:
        """Returns the one entry with this id."""
        return memory_state.by_id(self.seen, name)


def read_table(clone: Clone) -> ReviewTable:
    """Returns the current candidates and entries."""
    shelf = candidates.read(clone)
    seen, _ = memory_state.read_visible(clone)
    return ReviewTable(shelf, seen)
