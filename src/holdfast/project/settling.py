"""Settling: what two sides say differently, and choosing between them."""

from collections.abc import Mapping

from holdfast.capture import noticing
from holdfast.git.disputed import conflicts
from holdfast.git.disputed.conflicts import Conflict
from holdfast.project.viewing import Viewing
from holdfast.work import disputes
from holdfast.work.disputes import Resolved


class Settling(Viewing):
    """Entries of which two sides say different things."""

    def conflicts(self) -> list[Conflict]:
        """Every entry that waits for somebody to choose, with both sides field by field."""
        return conflicts.find(self.clone)

    def overruled(self, *, since: str | None = None) -> list[Conflict]:
        """What merges after a commit decided against one side; without one, the last merges."""
        return conflicts.overruled(self.clone, since=since)

    def conflict(self, name: str) -> Conflict:
        """The conflict about an entry, by its id or the beginning of it."""
        return disputes.named(self.clone, name)

    def resolve(self, name: str, choices: Mapping[str, str]) -> Resolved:
        """Settle a conflict: field to `ours`, `theirs` or a value, `*` for all; nothing: the merged text."""
        done = disputes.resolve(self.clone, self.conflict(name), choices)
        noticing.answered(self.clone)
        self._render_quietly()
        return done
