"""Counting: what was asked, found, told and used in this clone, in figures that never leave it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.curation import candidates
from holdfast.curation.decisions import MemoryStanding
from holdfast.diagnostics import usage
from holdfast.diagnostics.usage import UsageSubjects, names_in
from holdfast.model.lazy_module import LazyModule
from holdfast.model.memory import Memory
from holdfast.model.task import Task
from holdfast.project.viewing import Viewing
from holdfast.recall.pack import pack_lines
from holdfast.recall.path_patterns import holds
from holdfast.store import tally
from holdfast.work import task_board as boards

if TYPE_CHECKING:
    from holdfast.diagnostics import stats
    from holdfast.diagnostics.stats import Stats
else:
    stats = LazyModule("holdfast.diagnostics.stats")


class Counting(Viewing):
    """How well it serves, and what it costs."""

    def stats(self) -> Stats:
        """What was counted here, and what became of what was recalled."""
        limit = self.settings.number("model.calls_per_day") if self.settings.model_command else None
        return stats.stats(self.clone, self._about(), calls_per_day=limit)

    def reset_stats(self) -> None:
        """Begin to count anew; everything that was counted is deleted."""
        tally.reset(self.clone.layout)

    def reckon_uses(self) -> None:
        """Work out which memories were used since they were recalled; ranking and the curator go by it."""
        usage.reckon(self.clone, self._about(), now=int(self.clone.clock().timestamp()))

    def _about(self) -> UsageSubjects:
        standings = self.knowledge().standings
        shelf = candidates.read(self.clone).waiting.values()
        naming = {one.id: _named(one.memory) for one in standings} | {one.id: _named(one) for one in shelf}
        if self.settings.has("tasks"):
            naming |= {task.id: _rests_on(task) for task in boards.read(self.clone).tasks}
        places = {one.id.lower(): _places(one) for one in standings}
        return UsageSubjects(
            naming={name: named for name, named in naming.items() if named},
            touches=lambda name, path: any(holds(place, path) for place in places.get(name, ())),
            states={one.id.lower(): one.status for one in standings},
            ids={one.id.lower(): one.id for one in standings},
        )


def _named(memory: Memory) -> set[str]:
    """The other memories that one names: it takes their place, goes with them, or speaks of them."""
    said = " ".join((memory.statement, memory.details, *memory.supersedes, *memory.compatible_with))
    suggests: str | None = getattr(memory, "suggests", None)
    # What the curator proposes about a memory is Holdfast's own word, and no use of it.
    return set() if suggests else names_in(said) - {memory.id.lower()}


def _rests_on(task: Task) -> set[str]:
    return names_in(" ".join((task.title, task.notes, task.impact or "", *task.acceptance, *task.evidence)))


def _places(one: MemoryStanding) -> tuple[str, ...]:
    """The files and folders that a memory applies to or cites; one for everything is about none."""
    named = (*one.memory.applies_to, *pack_lines.cited_files(one.memory.evidence))
    return tuple(place for place in named if place.strip("./*"))
