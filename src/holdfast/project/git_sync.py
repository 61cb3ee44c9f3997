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
    """The trusted upstream, and how many memories agents get or do not get."""

    trusted: TrustedUpstream | None
    void: str | None  # why the trust no longer counts
    upstream: Upstream | None  # the upstream that could be trusted
    speaking: int  # memories that agents get unasked
    foreign: int  # memories that came by git and that nobody approved, here or in a trusted trunk

    @property
    def counts(self) -> bool:
        return self.trusted is not None and self.void is None


class GitSync(Concern):
    """Publishes, trusts, reconciles, exports, erases and cleans up. A line is the id of a branch's work."""

    def publish(
        self, *, stage: bool = False, here: bool = False, restore: bool = False, message: str | None = None
    ) -> publish.Published:
        """Commits this line's events and memories, and nothing else."""
        behind = self.project.views.behind()
        done = publish.publish(
            self.clone, stage=stage, here=here, restore=restore, trunk=self.settings.trunk, message=message
        )
        erase.sweep(self.clone)
        self.project.views.published(behind)
        self.project.views.render_quietly("sessions")  # the journal names commits
        return done

    def erase(self, identity: str) -> erase.Erasure:
        """Deletes the text of an event, run or memory from this clone; the log still verifies."""
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
        """Saves the private store of this clone to one file."""
        if self.clone.layout.private != self.clone.private.private:
            raise ReadOnlyStore(
                "inside a sandbox only part of the store is visible", hint="Export outside the sandbox."
            )
        return bundle.export(self.clone.private, file, ts=self.clone.now())

    def import_bundle(self, file: str) -> bundle.Bundle:
        """Adds what an exported file has and this clone lacks."""
        self.clone.repo.refuse_in_hook_of_publish()
        self._refuse_foreign_approvals(file)
        before = set(branch_lines.known(self.clone.layout))
        with fsio.locked(self.clone.layout.lock, wait=60.0):
            done = bundle.bring_back(self.clone.layout, file, erased=self.clone.erased())
        reconcile.adopt(self.clone, before)
        self.clone.forget_bodies()
        erase.sweep(self.clone)
        return self.shown(done)

    def _refuse_foreign_approvals(self, file: str) -> None:
        """Raises NeedsReview if an agent imports approvals of persons: what is imported counts as recorded here."""
        if self.project.is_person:
            return
        own = {event.hash_self.encode("ascii") for event in self.clone.find_events("own", kinds=("accept",))}
        for line in bundle.log_lines(file):
            if b'"kind":"accept"' in line and line[14:78] not in own:
                raise NeedsReview(
                    f"{file} contains approvals that were not given in this clone",
                    hint=f"If you trust it, import it in another terminal: here {self.project.no_person}.",
                )

    def reset(self, what: str) -> cleanup.ResetResult:
        """Empties caches: sessions, tasks or all; `undo_reset` restores what was removed."""
        done = cleanup.reset(self.clone, what)
        if what == "all":
            self.project.recall.close()
            refresh.forget_all(self.clone)
        self.project.views.render_quietly(all_days=True)
        return done

    def undo_reset(self) -> cleanup.UndoneReset:
        """Restores what the last reset removed."""
        done = cleanup.undo(self.clone)
        self.project.views.render_quietly(all_days=True)
        return done

    def prune(self, *, older_than: str = cleanup.USUAL, dry_run: bool = False) -> cleanup.PruneResult:
        """Deletes ended sessions, claims, anchors and trash older than `older_than`; open ones stay."""
        done = cleanup.prune(self.clone, older_than=older_than, dry_run=dry_run)
        self.project.views.render_quietly(all_days=not dry_run)
        return done

    def install_hooks(self) -> hooks.HooksInstalled:
        """Installs git hooks that record commits, merges, checkouts and rewrites; they never change anything."""
        self.project.needs("sessions")
        # Not a venv's interpreter, which is deleted with the venv, nor a shim, which is slow to start.
        python = getattr(sys, "_base_executable", "") or sys.executable
        return hooks.install(self.clone.repo, self.clone.private, python=python)

    def remove_hooks(self) -> hooks.HooksRemoved:
        """Removes our git hooks; every file is as it was before."""
        return hooks.remove(self.clone.repo, self.clone.private)

    def hook_states(self, *, prove: bool = True) -> list[hooks.HookState]:
        """Returns the state of each hook; `prove` fires it with a token and checks that the token was recorded."""
        return hooks.state(self.clone.repo, self.clone.private, prove=prove)

    def uninstall(self) -> project_setup.UninstallResult:
        """Removes Holdfast from this clone and from agents' settings; only git history remains.

        Files that other clones need, or that somebody edited, stay and are named.
        """
        self.project.recall.close()
        changed, left = self.project.clients.leave()
        removed = hooks.remove(self.clone.repo, self.clone.private)
        left += [*removed.left, *self._drop_crew_trees()]
        done = project_setup.uninstall(self.clone.repo, self.clone.private, self.clone.repo_id)
        return replace(done, changed=(*changed, *removed.hooks), left=tuple(left))

    def _drop_crew_trees(self) -> list[str]:
        """Removes the work trees of crews; returns those with uncommitted work, which stay."""
        folder, repo = layout.crew_folder(self.project.environ or os.environ, self.clone.repo_id), self.clone.repo
        trees = [top for top in repo.tops() if os.path.realpath(top).startswith(os.path.realpath(folder) + os.sep)]
        stay = [top for top in trees if repo.attempt("worktree", "remove", top, write=True).returncode]
        for place, _, _ in os.walk(folder, topdown=False):
            with contextlib.suppress(OSError):
                os.rmdir(place)
        return [f"{top} has uncommitted work" for top in stay]

    def reconcile(self) -> reconciliation.ReconcileOverview:
        """Returns what changed in git since the last time, and the questions that this leaves open."""
        found = moves.observe(self.clone)
        report = reconciliation.examine(self.clone, found, trunk=self.settings.trunk)
        reconciliation.mark_shown(self.clone, report)
        git_notices.drop_notices(self.clone)
        return report

    def fork(self, session: str | None = None) -> reconciliation.ReconcileChoice:
        """Continues here with copies of the open items of a session on another branch."""
        return self._chosen(reconciliation.fork(self.clone, session))

    def carry(self, name: str | None = None) -> reconciliation.ReconcileChoice | OrphanLine:
        """Moves a session's open items from another branch here, or takes over the work of a deleted branch."""
        lost = name is not None and not reconciliation.is_ours(name)
        return self._chosen(reconcile.carry(self.clone, name or "") if lost else reconciliation.carry(self.clone, name))

    def drop(self, name: str | None = None) -> reconciliation.ReconcileChoice | OrphanLine:
        """Stops asking about work on another branch, or of a deleted one; it stays in the store."""
        lost = name is not None and not reconciliation.is_ours(name)
        return self._chosen(reconcile.drop(self.clone, name or "") if lost else reconciliation.drop(self.clone, name))

    def reanchor(self) -> reconciliation.ReconcileChoice:
        """Lets tasks and sessions cite the rewritten commits in place of the old ones."""
        return self._chosen(reconciliation.apply(self.clone))

    def _chosen(self, choice: T) -> T:
        """Drops the notices that the choice answers, then returns it."""
        git_notices.drop_notices(self.clone)
        return self.shown(choice)

    def trust_state(self) -> Trust:
        """Returns the trusted upstream, whether the trust still counts, and how many memories came from elsewhere."""
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
        """Raises NeedsReview unless a person asks: an agent with this right could give agents any memory."""
        if self.project.is_person:
            return
        raise NeedsReview(
            f"only a person may trust an upstream: {self.project.no_person}",
            hint="Open another terminal, outside the agent, and run: holdfast trust",
        )

    def trust(self) -> Trust:
        """Trusts the trunk of this clone's upstream: agents here also get what people approved there."""
        self.may_trust()
        name = self.clone.repo.text("config", "user.name", ok=(0, 1)) or "unknown"
        upstream.trust(self.clone, by=name)
        self.project.views.render_quietly()
        return self.trust_state()

    def revoke_trust(self) -> TrustedUpstream | None:
        """Revokes the trust in an upstream; returns what was trusted."""
        return self.shown(upstream.revoke(self.clone))
