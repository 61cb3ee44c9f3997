"""Between the private store and git: publishing, trust, rewritten history, bundles and clean-up."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING

from holdfast.capture import git_notices, reconciliation
from holdfast.errors import NeedsReview, ReadOnlyStore
from holdfast.git import branch_lines, erase, hooks, moves, project_setup, publish, reconcile, upstream
from holdfast.index import refresh
from holdfast.project.concern import Concern, T
from holdfast.recall import lookup
from holdfast.store import bundle, fsio, layout
from holdfast.values import frozen, replace
from holdfast.work import cleanup

if TYPE_CHECKING:
    from holdfast.git.reconcile import OrphanLine
    from holdfast.store.trusted_upstream import TrustedUpstream, Upstream


@frozen
class Trust:
    """What is trusted here, and what that leaves silent."""

    trusted: TrustedUpstream | None
    void: str | None  # why what was trusted counts for nothing
    upstream: Upstream | None  # what could be trusted
    speaking: int  # memories that may be given to agents unasked
    foreign: int  # memories that came by git, and that nobody here or in a trusted trunk approved

    @property
    def counts(self) -> bool:
        return self.trusted is not None and self.void is None


class GitSync(Concern):
    """What is published, trusted, reconciled, exported and erased."""

    def publish(
        self, *, stage: bool = False, here: bool = False, restore: bool = False, message: str | None = None
    ) -> publish.Published:
        """Commit this line's events and memories, and nothing else."""
        behind = self.project.views.behind()
        done = publish.publish(
            self.clone, stage=stage, here=here, restore=restore, trunk=self.settings.trunk, message=message
        )
        erase.sweep(self.clone)
        self.project.views.published(behind)
        self.project.views.render_quietly("sessions")  # the journal names commits
        return done

    def erase(self, identity: str) -> erase.Erasure:
        """Make what an event, run or memory says disappear from this clone; the log still verifies."""
        found = lookup.find(self.clone, identity)
        done = erase.erase(self.clone, "memory" if found.kind == "candidate" else found.kind, found.id)
        self.project.recall.close()
        refresh.forget_all(self.clone)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.clone.layout.view("log.jsonl"))
        self.project.views.render_quietly(all_days=True)
        self.project.models.forget_erased()
        return done

    def export_bundle(self, file: str) -> bundle.Bundle:
        """Save the private store of this clone to one file."""
        if self.clone.layout.private != self.clone.private.private:
            raise ReadOnlyStore(
                "inside a sandbox only part of the store can be seen", hint="Export outside the sandbox."
            )
        return bundle.export(self.clone.private, file, ts=self.clone.now())

    def import_bundle(self, file: str) -> bundle.Bundle:
        """Add what an exported file holds and this clone lacks."""
        self.clone.repo.refuse_in_hook_of_publish()
        self._refuse_strange_approvals(file)
        before = set(branch_lines.known(self.clone.layout))
        with fsio.locked(self.clone.layout.lock, wait=60.0):
            done = bundle.bring_back(self.clone.layout, file, erased=self.clone.erased())
        reconcile.adopt(self.clone, before)
        self.clone.forget_bodies()
        erase.sweep(self.clone)
        return self.shown(done)

    def _refuse_strange_approvals(self, file: str) -> None:
        """What a store brings counts as recorded here: only a person may bring approvals of persons in."""
        if self.project.is_person:
            return
        own = {event.hash_self.encode("ascii") for event in self.clone.find_events("own", kinds=("accept",))}
        for line in bundle.log_lines(file):
            if b'"kind":"accept"' in line and line[14:78] not in own:
                raise NeedsReview(
                    f"{file} brings approvals that were not given in this clone",
                    hint=f"If you trust it, import it in another terminal: here {self.project.no_person}.",
                )

    def reset(self, what: str) -> cleanup.ResetResult:
        """Empty caches: sessions, tasks or all; `reset_undo` brings back what was taken."""
        done = cleanup.reset(self.clone, what)
        if what == "all":
            self.project.recall.close()
            refresh.forget_all(self.clone)
        self.project.views.render_quietly(all_days=True)
        return done

    def undo_reset(self) -> cleanup.UndoneReset:
        """Bring back what the last reset took."""
        done = cleanup.undo(self.clone)
        self.project.views.render_quietly(all_days=True)
        return done

    def prune(self, *, older_than: str = cleanup.USUAL, dry_run: bool = False) -> cleanup.PruneResult:
        """Delete ended sessions, claims, anchors and trash that are older than that; open ones stay."""
        done = cleanup.prune(self.clone, older_than=older_than, dry_run=dry_run)
        self.project.views.render_quietly(all_days=not dry_run)
        return done

    def install_hooks(self) -> hooks.HooksInstalled:
        """Let git's own hooks note commits, merges, checkouts and rewrites; they only ever record."""
        self.project.needs("sessions")
        # Not a venv's interpreter, which goes with the venv, nor a shim, which is slow to start.
        python = getattr(sys, "_base_executable", "") or sys.executable
        return hooks.install(self.clone.repo, self.clone.private, python=python)

    def remove_hooks(self) -> hooks.HooksRemoved:
        """Take our hooks out again; every file is as it was before."""
        return hooks.remove(self.clone.repo, self.clone.private)

    def hook_states(self, *, prove: bool = True) -> list[hooks.HookState]:
        """Each hook, and whether it fires: it is fired with a token, and the token looked for."""
        return hooks.state(self.clone.repo, self.clone.private, prove=prove)

    def uninstall(self) -> project_setup.UninstallResult:
        """Take Holdfast out of this clone and of agents' settings; only git history remains.

        What others still need, or somebody edited, stays and is named.
        """
        self.project.recall.close()
        changed, left = self.project.clients.leave()
        taken = hooks.remove(self.clone.repo, self.clone.private)
        left += [*taken.left, *self._drop_crew_trees()]
        done = project_setup.uninstall(self.clone.repo, self.clone.private, self.clone.repo_id)
        return replace(done, changed=(*changed, *taken.hooks), left=tuple(left))

    def _drop_crew_trees(self) -> list[str]:
        """Remove the work trees of crews; gives those that hold work nobody committed, which stay."""
        folder, repo = layout.crew_folder(self.project.environ or os.environ, self.clone.repo_id), self.clone.repo
        trees = [top for top in repo.tops() if os.path.realpath(top).startswith(os.path.realpath(folder) + os.sep)]
        stay = [top for top in trees if repo.attempt("worktree", "remove", top, write=True).returncode]
        for place, _, _ in os.walk(folder, topdown=False):
            with contextlib.suppress(OSError):
                os.rmdir(place)
        return [f"{top} holds work that is not committed" for top in stay]

    def reconcile(self) -> reconciliation.ReconcileOverview:
        """What moved since the last time, and all that it left in question."""
        found = moves.observe(self.clone)
        report = reconciliation.examine(self.clone, found, trunk=self.settings.trunk)
        reconciliation.mark_shown(self.clone, report)
        git_notices.drop_notices(self.clone)
        return report

    def fork(self, session: str | None = None) -> reconciliation.ReconcileChoice:
        """Go on here with copies of what is open in the session left on another branch."""
        return self._chosen(reconciliation.fork(self.clone, session))

    def carry(self, name: str | None = None) -> reconciliation.ReconcileChoice | OrphanLine:
        """Move here what is open on another branch, or take over what a deleted one left."""
        lost = name is not None and not reconciliation.is_ours(name)
        return self._chosen(reconcile.carry(self.clone, name or "") if lost else reconciliation.carry(self.clone, name))

    def drop(self, name: str | None = None) -> reconciliation.ReconcileChoice | OrphanLine:
        """Let go of what was left on another branch, or of what a deleted one left; it stays in the store."""
        lost = name is not None and not reconciliation.is_ours(name)
        return self._chosen(reconcile.drop(self.clone, name or "") if lost else reconciliation.drop(self.clone, name))

    def reanchor(self) -> reconciliation.ReconcileChoice:
        """Let tasks and sessions cite what their commits became."""
        return self._chosen(reconciliation.apply(self.clone))

    def _chosen(self, choice: T) -> T:
        """What was noticed before the choice is answered by it."""
        git_notices.drop_notices(self.clone)
        return self.shown(choice)

    def trust_state(self) -> Trust:
        """What is trusted, whether it still counts, and how much came from elsewhere."""
        held = upstream.held(self.clone)
        found = self.project.memory.knowledge()
        return Trust(
            trusted=held.trusted if held else None,
            void=held.void if held else None,
            upstream=upstream.find(self.clone.repo, self.clone.trunk),
            speaking=sum(one.trust == "T0" for one in found.trusted),
            foreign=sum(one.trust == "T4" for one in (*found.trusted, *found.stale, *found.unreviewed)),
        )

    def may_trust(self) -> None:
        """Refuse unless a person asks: an agent that trusts an upstream could let anything speak."""
        if self.project.is_person:
            return
        raise NeedsReview(
            f"only a person may trust an upstream: {self.project.no_person}",
            hint="Open another terminal, outside the agent, and run: holdfast trust",
        )

    def trust(self) -> Trust:
        """Trust the trunk of this clone's upstream: what people accepted there speaks here as well."""
        self.may_trust()
        name = self.clone.repo.text("config", "user.name", ok=(0, 1)) or "unknown"
        upstream.trust(self.clone, by=name)
        self.project.views.render_quietly()
        return self.trust_state()

    def revoke_trust(self) -> TrustedUpstream | None:
        """Trust no upstream any more; gives what was trusted."""
        return self.shown(upstream.revoke(self.clone))
