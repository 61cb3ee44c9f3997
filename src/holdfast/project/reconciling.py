"""Reconciling: what git moved, and what to do about what was left where it was."""

from holdfast.capture import git_notices, reconciliation
from holdfast.capture.reconciliation import ReconcileChoice, ReconcileOverview
from holdfast.git import moves, reconcile
from holdfast.git.reconcile import OrphanLine
from holdfast.project.viewing import Viewing


class Reconciling(Viewing):
    """After a rewrite, a branch change, a deleted branch or a rewind."""

    def reconcile(self) -> ReconcileOverview:
        """What moved since the last time, and all that it left in question."""
        found = moves.observe(self.clone)
        report = reconciliation.examine(self.clone, found, trunk=self.settings.trunk)
        reconciliation.mark_shown(self.clone, report)
        git_notices.drop_notices(self.clone)
        return report

    def fork(self, session: str | None = None) -> ReconcileChoice:
        """Go on here with copies of what is open in the session left on another branch."""
        return self._chosen(reconciliation.fork(self.clone, session))

    def carry(self, name: str | None = None) -> ReconcileChoice | OrphanLine:
        """Move here what is open on another branch, or take over what a deleted one left."""
        if name is not None and not reconciliation.is_ours(name):
            git_notices.drop_notices(self.clone)
            return reconcile.carry(self.clone, name)
        return self._chosen(reconciliation.carry(self.clone, name))

    def drop(self, name: str | None = None) -> ReconcileChoice | OrphanLine:
        """Let go of what was left on another branch, or of what a deleted one left; it stays in the store."""
        if name is not None and not reconciliation.is_ours(name):
            git_notices.drop_notices(self.clone)
            return reconcile.drop(self.clone, name)
        return self._chosen(reconciliation.drop(self.clone, name))

    def reanchor(self) -> ReconcileChoice:
        """Let tasks and sessions cite what their commits became."""
        return self._chosen(reconciliation.apply(self.clone))

    def _chosen(self, choice: ReconcileChoice) -> ReconcileChoice:
        """What was noticed before the choice is answered by it."""
        git_notices.drop_notices(self.clone)
        return self._shown(choice)
