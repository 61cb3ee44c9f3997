"""Curating: the health of memory, on demand."""

from datetime import UTC, datetime

from holdfast.curation import curator
from holdfast.curation.curator import Health, Use
from holdfast.project.viewing import Viewing
from holdfast.store import tally


class Curating(Viewing):
    """What could be better about what is known."""

    def curate(self, *, dry_run: bool = False) -> Health:
        """Look at every memory; what is suggested waits in review, and nothing is done by itself."""
        found = curator.examine(self.clone, self.clone.clock(), use=self._use())
        return found if dry_run else self._shown(curator.suggest(self.clone, found))

    def _use(self) -> Use:
        began = tally.since(self.clone.layout)
        counted = tally.totals(self.clone.layout)
        told = {name.removeprefix(tally.RECALLED) for name in counted if name.startswith(tally.RECALLED)}
        return Use(None if began is None else datetime.fromtimestamp(began, UTC), told)
