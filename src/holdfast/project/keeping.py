"""Keeping: between the private store and git, and whether all of it is sound."""

import contextlib
import os
import sys

from holdfast.diagnostics import check as gate
from holdfast.diagnostics import doctor, repair
from holdfast.diagnostics import log_integrity as checkpoints
from holdfast.diagnostics.findings import HealthReport
from holdfast.diagnostics.log_integrity import LogCheckpoint
from holdfast.diagnostics.repair import Repair
from holdfast.errors import BadInput, NeedsReview, ReadOnlyStore
from holdfast.git import branch_lines, erase, hooks, project_setup, publish, reconcile
from holdfast.git.erase import Erasure
from holdfast.git.hooks import HooksInstalled, HooksRemoved, HookState
from holdfast.git.project_setup import UninstallResult
from holdfast.git.publish import Published
from holdfast.index.refresh import path_of
from holdfast.index.sqlite import drop_all
from holdfast.project.viewing import Viewing
from holdfast.recall import lookup
from holdfast.store import bundle, fsio
from holdfast.store.bundle import Bundle
from holdfast.work import cleanup as pruning
from holdfast.work import cleanup as resetting
from holdfast.work.cleanup import PruneResult, ResetResult, UndoneReset


class Keeping(Viewing):
    """What is published, checked, mended, exported and erased."""

    def doctor(self, *, against: str | None = None) -> HealthReport:
        """Everything that is wrong or worth knowing, compared with a kept checkpoint if one is given."""
        kept = checkpoints.checkpoint_from_bytes(_read(against), against) if against else None
        return doctor.examine(self.clone, against=kept, name=against or "checkpoint")

    def repair(self, report: HealthReport, *, apply: bool) -> list[Repair]:
        """Mend what can be mended without inventing anything; without `apply` only say what that is."""
        return repair.repair(self.clone, report, apply=apply)

    def check(self, *, base: str | None = None) -> gate.GateVerdict:
        """The gate for CI: each changed memory has its receipt, and nothing sealed was altered."""
        return gate.check(self.clone.repo, base, trunk=self.settings.trunk)

    def checkpoint(self, file: str) -> LogCheckpoint:
        """Save how far the log reaches, to compare with later."""
        taken = doctor.take_checkpoint(self.clone)
        fsio.replace(os.path.abspath(file), checkpoints.checkpoint_to_bytes(taken), mode=0o644)
        return taken

    def publish(
        self, *, stage: bool = False, here: bool = False, restore: bool = False, message: str | None = None
    ) -> Published:
        """Commit this line's events and memories, and nothing else."""
        done = publish.publish(
            self.clone, stage=stage, here=here, restore=restore, trunk=self.settings.trunk, message=message
        )
        erase.sweep(self.clone)
        self._render_quietly()
        return done

    def erase(self, identity: str) -> Erasure:
        """Make what an event, run or memory says disappear from this clone; the log still verifies."""
        found = lookup.find(self.clone, identity)
        kind = "memory" if found.kind == "candidate" else found.kind
        done = erase.erase(self.clone, kind, found.id)
        self._close_search()
        drop_all(os.path.dirname(path_of(self.clone)))
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.clone.layout.view("log.jsonl"))
        self._render_quietly(all_days=True)
        return done

    def export(self, file: str) -> Bundle:
        """Save the private store of this clone to one file."""
        if self.clone.layout.private != self.clone.private.private:
            raise ReadOnlyStore(
                "inside a sandbox only part of the store can be seen", hint="Export outside the sandbox."
            )
        return bundle.export(self.clone.private, file, ts=self.clone.now())

    def bring_back(self, file: str) -> Bundle:
        """Add what an exported file holds and this clone lacks."""
        self.clone.repo.refuse_in_hook_of_publish()
        self._refuse_strange_approvals(file)
        before = set(branch_lines.known(self.clone.layout))
        with fsio.locked(self.clone.layout.lock, wait=60.0):
            done = bundle.bring_back(self.clone.layout, file, erased=self.clone.erased())
        reconcile.adopt(self.clone, before)
        erase.sweep(self.clone)
        self._render_quietly()
        return done

    def _refuse_strange_approvals(self, file: str) -> None:
        """What a store brings counts as recorded here: only a person may bring approvals of persons in."""
        if self._person:
            return
        own = {event.hash_self.encode("ascii") for event in self.clone.own_events()}
        for line in bundle.log_lines(file):
            if b'"kind":"accept"' in line and line[14:78] not in own:
                raise NeedsReview(
                    f"{file} brings approvals that were not given in this clone",
                    hint=f"If you trust it, import it in another terminal: here {self._no_person}.",
                )

    def reset(self, what: str) -> ResetResult:
        """Empty caches: sessions, tasks or all; `reset_undo` brings back what was taken."""
        done = resetting.reset(self.clone, what)
        if what == "all":
            self._close_search()
            drop_all(os.path.dirname(path_of(self.clone)))
        self._render_quietly(all_days=True)
        return done

    def reset_undo(self) -> UndoneReset:
        """Bring back what the last reset took."""
        done = resetting.undo(self.clone)
        self._render_quietly(all_days=True)
        return done

    def prune(self, *, older_than: str = pruning.USUAL, dry_run: bool = False) -> PruneResult:
        """Delete ended sessions, claims, anchors and trash that are older than that; open ones stay."""
        done = pruning.prune(self.clone, older_than=older_than, dry_run=dry_run)
        self._render_quietly(all_days=not dry_run)
        return done

    def hooks_install(self) -> HooksInstalled:
        """Let git's own hooks note commits, merges, checkouts and rewrites; they only ever record."""
        self._needs("sessions")
        # Not a venv's interpreter, which goes with the venv, nor a shim, which is slow to start.
        python = getattr(sys, "_base_executable", "") or sys.executable
        return hooks.install(self.clone.repo, self.clone.private, python=python)

    def hooks_remove(self) -> HooksRemoved:
        """Take our hooks out again; every file is as it was before."""
        return hooks.remove(self.clone.repo, self.clone.private)

    def hooks_state(self, *, prove: bool = True) -> list[HookState]:
        """Each hook, and whether it fires: it is fired with a token, and the token looked for."""
        return hooks.state(self.clone.repo, self.clone.private, prove=prove)

    def uninstall(self) -> UninstallResult:
        """Take Holdfast out of this clone; only git history remains."""
        self._close_search()
        hooks.remove(self.clone.repo, self.clone.private)
        return project_setup.uninstall(self.clone.repo, self.clone.private, self.clone.repo_id)


def _read(file: str) -> bytes:
    try:
        return fsio.read(os.path.abspath(file), limit=1 << 24)
    except FileNotFoundError:
        raise BadInput(f"there is no file {file}", hint="Check the name.") from None
