"""Settling: what two sides say differently, and choosing between them."""

from collections.abc import Mapping

from holdfast.capture import git_notices
from holdfast.git import merge_conflicts
from holdfast.git.merge_conflicts import EntryConflict
from holdfast.project.viewing import Viewing
from holdfast.work import conflict_settlement
from holdfast.work.conflict_settlement import SettledConflict


class Settling(Viewing):
    """Entries of which two sides say different things."""

    def conflicts(self) -> list[EntryConflict]:
        """Every entry that waits for somebody to choose, with both sides field by field."""
        return merge_conflicts.find(self.clone)

    def overruled(self, *, since: str | None = None) -> list[EntryConflict]:
        """What merges after a commit decided against one side; without one, the last merges."""
        return merge_conflicts.overruled(self.clone, since=since)

    def conflict(self, name: str) -> EntryConflict:
        """The conflict about an entry, by its id or the beginning of it."""
        return conflict_settlement.named(self.clone, name)

    def resolve(self, name: str, choices: Mapping[str, str]) -> SettledConflict:
        """Settle a conflict: field to `ours`, `theirs` or a value, `*` for all; nothing: the merged text."""
        done = conflict_settlement.resolve(self.clone, self.conflict(name), choices)
        git_notices.drop_notices(self.clone)
        self._render_quietly()
        return done
