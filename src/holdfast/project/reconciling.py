"""Reconciling: what git moved, and what to do about what was left where it was."""

from holdfast.capture import noticing, reconciling
from holdfast.capture.reconciling import Choice, Report
from holdfast.git import reconcile
from holdfast.git.moved import moves
from holdfast.git.reconcile import Orphan
from holdfast.project.viewing import Viewing


class Reconciling(Viewing):
    """After a rewrite, a branch change, a deleted branch or a rewind."""

    def reconcile(self) -> Report:
        """What moved since the last time, and all that it left in question."""
        found = moves.observe(self.clone)
        report = reconciling.examine(self.clone, found, trunk=self.settings.trunk)
        reconciling.told(self.clone, report)
        noticing.answered(self.clone)
        return report

    def fork(self, session: str | None = None) -> Choice:
        """Go on here with copies of what is open in the session left on another branch."""
        return self._chosen(reconciling.fork(self.clone, session))

    def carry(self, name: str | None = None) -> Choice | Orphan:
        """Move here what is open on another branch, or take over what a deleted one left."""
        if name is not None and not reconciling.is_ours(name):
            noticing.answered(self.clone)
            return reconcile.carry(self.clone, name)
        return self._chosen(reconciling.carry(self.clone, name))

    def drop(self, name: str | None = None) -> Choice | Orphan:
        """Let go of what was left on another branch, or of what a deleted one left; it stays in the store."""
        if name is not None and not reconciling.is_ours(name):
            noticing.answered(self.clone)
            return reconcile.drop(self.clone, name)
        return self._chosen(reconciling.drop(self.clone, name))

    def reanchor(self) -> Choice:
        """Let tasks and sessions cite what their commits became."""
        return self._chosen(reconciling.apply(self.clone))

    def _chosen(self, choice: Choice) -> Choice:
        """What was noticed before the choice is answered by it."""
        noticing.answered(self.clone)
        return self._shown(choice)
