"""Explaining: why a line of a file is there, what governs it, and what whoever wrote it knew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from holdfast.capture.worktree_changes import spelled
from holdfast.curation.decisions import MemoryStanding
from holdfast.model.lazy_module import LazyModule
from holdfast.project.hydrating import Hydrating
from holdfast.recall.applicable_memories import EVERYWHERE, TASK, ApplicableMemory, WorkAtHand, applicable, ordered
from holdfast.recall.pack import sent_packs as given
from holdfast.recall.pack.sent_packs import AgentKnowledge
from holdfast.values import frozen

if TYPE_CHECKING:
    from holdfast.recall.why import line_authors, line_reasons
    from holdfast.recall.why.line_reasons import Why
else:
    line_reasons = LazyModule("holdfast.recall.why.line_reasons")
    line_authors = LazyModule("holdfast.recall.why.line_authors")

MOST_KNEW = 3  # runs whose packs are looked at


@frozen(kw_only=True)
class Ruling:
    """A memory that governs a file, and whether it still holds."""

    id: str
    type: str
    statement: str
    why: str  # how it governs
    near: int  # 0: it names the file; 1: it cites it; 2: it came of the run that wrote the lines; 3: everywhere
    status: str  # accepted, stale, unreviewed, expired, superseded or deprecated
    trust: str | None
    holds: bool
    doubt: str  # why it does not hold
    superseded_by: str | None = None
    told: bool | None = None  # whether the run was told of it; None if there is no such run


@frozen(kw_only=True)
class Explained:
    """Why lines are there, what governs them, and what the runs that wrote them were told."""

    why: Why
    governs: tuple[Ruling, ...]
    knew: tuple[AgentKnowledge, ...]


class Explaining(Hydrating):
    """Where something comes from."""

    def why(self, place: str, *, folder: str | None = None) -> Explained:
        """Which run and turn wrote a line (`src/a.py:12`), some (`src/a.py:10-20`) or all lines of a file.

        Paths are seen from `folder`, by default the repository's top. Nothing is changed.
        """
        asked = line_authors.read_target(self.clone.repo, place, folder=folder or self.clone.repo.top)
        found = line_authors.find_authors(self.clone, asked, spell=spelled)
        why = line_reasons.explain(self.clone, asked, found)
        runs = list(dict.fromkeys(one.run.id for one in why.answers if one.run))
        few = runs if len(runs) <= MOST_KNEW and not why.whole else []
        knew = tuple(self._told_in(run) for run in few)
        return Explained(why=why, governs=tuple(self._rulings(why, few, knew)), knew=knew)

    def _told_in(self, run: str) -> AgentKnowledge:
        """What a run was told; how things stand since is looked up only where there is something to tell."""
        found = given.knew(self.clone, run, kind="run", now={})
        return given.knew(self.clone, run, kind="run", now=self._now()) if found.packs else found

    def _rulings(self, why: Why, runs: Sequence[str], knew: Sequence[AgentKnowledge]) -> Iterator[Ruling]:
        """The memories that govern these lines, the nearest first."""
        standings = {one.id: one for one in self.knowledge().standings}
        told = {entry.id for one in knew for pack in one.packs for entry in pack.entries}
        newer = {old: one.id for one in standings.values() for old in getattr(one.memory, "supersedes", ())}
        for one in self._governing(why.path, standings, {f"run:{run}" for run in runs}):
            there = standings[one.known.id]
            yield Ruling(
                id=there.id,
                type=there.memory.type,
                statement=there.memory.statement,
                why=one.why,
                near=one.near,
                status=there.status,
                trust=there.trust,
                holds=there.status == "accepted",
                doubt="" if there.status == "accepted" else one.known.doubt,
                superseded_by=newer.get(there.id) if there.status == "superseded" else None,
                told=there.id in told if runs else None,
            )

    def _governing(self, path: str, standings: Mapping[str, MemoryStanding], runs: set[str]) -> list[ApplicableMemory]:
        """What names or cites a file, what came of the runs that wrote it, and what holds everywhere."""
        found = applicable(self._known(list(standings.values()), {}), WorkAtHand(files=(path,)))
        there = {one.known.id: one for one in found}
        for known in self._known([one for one in standings.values() if _rests_on(one, runs)], {}):
            if known.id not in there or there[known.id].near == EVERYWHERE:
                there[known.id] = ApplicableMemory(known, TASK, "came of this run")
        return ordered(there.values())


def _rests_on(one: MemoryStanding, runs: set[str]) -> bool:
    """Whether a memory was drawn from one of these runs."""
    return not runs.isdisjoint((*one.memory.evidence, one.memory.source or ""))
