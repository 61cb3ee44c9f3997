"""Curating: the health of memory, on demand."""

from datetime import UTC, datetime

from holdfast.curation import memory_health
from holdfast.curation.memory_health import MemoryHealth, RecallUse
from holdfast.project.counting import Counting
from holdfast.store import statistics, tally


class Curating(Counting):
    """What could be better about what is known."""

    def curate(self, *, dry_run: bool = False) -> MemoryHealth:
        """Look at every memory; what is suggested waits in review, and nothing is done by itself."""
        self.reckon_uses()
        found = memory_health.examine(self.clone, self.clone.clock(), use=self._use())
        return found if dry_run else self._shown(memory_health.suggest(self.clone, found))

    def _use(self) -> RecallUse:
        began = tally.since(self.clone.layout)
        totals = tally.totals(self.clone.layout)
        recalled = {
            name.removeprefix(tally.RECALLED): number
            for name, number in totals.items()
            if name.startswith(tally.RECALLED)
        }
        told = {name.removeprefix(tally.TOLD) for name in totals if name.startswith(tally.TOLD)}
        since = None if began is None else datetime.fromtimestamp(began, UTC)
        used = statistics.times_used(self.clone.layout)
        return RecallUse(since, {*recalled, *told}, times=recalled, used=frozenset(used))
