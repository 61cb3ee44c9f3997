"""Checks whether the memory is intact and useful: doctor, check, status, scan, statistics."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.curation import candidates, review_queue
from holdfast.diagnostics import check as gate
from holdfast.diagnostics import doctor, repair, secret_scan, stats, status, usage
from holdfast.diagnostics import log_integrity as checkpoints
from holdfast.errors import BadInput
from holdfast.git import approvals, merge_conflicts
from holdfast.index import refresh
from holdfast.model import task as model_task
from holdfast.project.concern import Concern
from holdfast.recall import path_patterns
from holdfast.recall.pack import pack_lines
from holdfast.store import fsio, layout, tally
from holdfast.work import task_board as boards

if TYPE_CHECKING:
    from holdfast.curation.decisions import MemoryStanding
    from holdfast.diagnostics.findings import HealthReport
    from holdfast.model.memory import Memory


class HealthChecks(Concern):
    """Checks, repairs and figures."""

    def doctor(self, *, against: str | None = None, progress: Callable[[int, int], None] | None = None) -> HealthReport:
        """Returns every problem and useful fact, compared with a saved checkpoint if one is given."""
        try:
            data = fsio.read(os.path.abspath(against), limit=2 * checkpoints.MAX_CHECKPOINT) if against else b""
        except FileNotFoundError:
            raise BadInput(f"there is no file {against}", hint="Check the name.") from None
        kept = checkpoints.checkpoint_from_bytes(data, against) if against else None
        return doctor.examine(self.clone, against=kept, name=against or "checkpoint", progress=progress)

    def repair(self, report: HealthReport, *, apply: bool) -> list[repair.Repair]:
        """Repairs what can be repaired without inventing data; without `apply` it only lists the repairs."""
        return repair.repair(self.clone, report, apply=apply)

    def check(self, *, base: str | None = None) -> gate.GateVerdict:
        """Runs the check for CI: each changed memory has its receipt, and no sealed file was altered."""
        return gate.check(self.clone.repo, base, trunk=self.settings.trunk)

    def checkpoint(self, file: str) -> checkpoints.LogCheckpoint:
        """Saves the current end of the log, for a later comparison."""
        taken = doctor.take_checkpoint(self.clone)
        fsio.replace(os.path.abspath(file), checkpoints.checkpoint_to_bytes(taken), mode=0o644)
        return taken

    def status(self) -> status.Status:
        """Returns the state of this clone, what waits, and what would be lost with the clone."""
        # Taken before reading, so that a change made meanwhile is not missed.
        seen = refresh.signature_of(self.clone, parts=("value",))
        there = review_queue.ReviewQueue(self.clone, self.clone.clock())
        found = there.known
        if self.project.views.catch_up(found) and seen is not None:
            rendered = refresh.signature_of(self.clone, parts=("value",))
            seen = rendered if rendered is not None and rendered.truth == seen.truth else seen
        self.project.seen, self.project.listed = seen, (seen, found)
        states = Counter(one.status for one in found.unreviewed)
        own = [one for one in found.unreviewed if one.trust != review_queue.FOREIGN]
        counted = status.status(
            self.clone,
            **self._work(),
            facts=len(found.trusted),
            expired=len(found.expired),
            stale=len(found.stale),
            candidates=there.waiting,
            unreviewed=sum(one.status == "unreviewed" for one in own),
            elsewhere=len(there.items) - there.waiting,
            edited=states[approvals.EDITED],
            unchecked=states[approvals.UNCHECKED],
            unreadable=len(there.unreadable),
        )
        return self.project.models.with_model(counted)

    def _work(self) -> dict[str, Any]:
        """Returns the number of open tasks, and the open session."""
        session = self.project.sessions.current_id()
        if not self.settings.has("tasks"):
            return {"session": session}
        board = self.project.tasks.board()
        open_ones = [task for task in board.tasks if not task.is_closed]
        begun = sum(task.status == "started" for task in open_ones)
        ready = sum(task.kind not in model_task.PLANS for task in board.graph.ready())
        in_doubt = board.broken or any(placed.clash or placed.edited for placed in board.placed.values())
        disputed = merge_conflicts.find(self.clone, layout.TASKS) if in_doubt else ()
        counts = {"tasks": len(open_ones), "started": begun, "ready": ready}
        return {"session": session, **counts, "disputed": len(disputed)}

    def work(self, *, newest: int | None = None) -> stats.WorkSums:
        """Returns the tokens and the cost of runs by agent, task and day; with `newest`, only of the newest runs."""
        return stats.work_stats(self.clone, self.settings.prices, newest=newest)

    def stats(self) -> stats.Stats:
        """Returns the statistics of this clone, and how recalled memories were used."""
        limit = self.settings.number("model.calls_per_day") if self.settings.model_command else None
        return stats.stats(self.clone, self._about(), calls_per_day=limit, prices=self.settings.prices)

    def reset_stats(self) -> None:
        """Deletes all statistics."""
        tally.reset(self.clone.layout)

    def reckon_uses(self) -> None:
        """Works out which memories were used after they were recalled; ranking and `curate` read it."""
        usage.reckon(self.clone, self._about(), now=int(self.clone.clock().timestamp()))

    def _about(self) -> usage.UsageSubjects:
        standings = self.project.memory.knowledge().standings
        shelf = candidates.read(self.clone).waiting.values()
        naming = {one.id: _named(one.memory) for one in standings} | {one.id: _named(one) for one in shelf}
        if self.settings.has("tasks"):
            for task in boards.read(self.clone).tasks:
                texts = (task.title, task.notes, task.impact or "", *task.acceptance, *task.evidence)
                naming[task.id] = usage.names_in(" ".join(texts))
        places = {one.id.lower(): _places(one) for one in standings}
        return usage.UsageSubjects(
            naming={name: named for name, named in naming.items() if named},
            touches=lambda name, path: any(path_patterns.holds(place, path) for place in places.get(name, ())),
            states={one.id.lower(): one.status for one in standings},
            ids={one.id.lower(): one.id for one in standings},
        )

    def scan(self, paths: Sequence[str] = ()) -> secret_scan.SecretScan:
        """Finds stored files with text that would be redacted now; changes nothing."""
        return secret_scan.scan(self.clone, paths)


def _named(memory: Memory) -> set[str]:
    """Returns the other memories that one names: it supersedes them, is compatible with them, or mentions them."""
    text = " ".join((memory.statement, memory.details, *memory.supersedes, *memory.compatible_with))
    suggests: str | None = getattr(memory, "suggests", None)
    # A suggestion of `curate` about a memory is Holdfast's own text and not a use of the memory.
    return set() if suggests else usage.names_in(text) - {memory.id.lower()}


def _places(one: MemoryStanding) -> tuple[str, ...]:
    """Returns the files and folders that a memory applies to or cites; none if it applies to everything."""
    named = (*one.memory.applies_to, *pack_lines.cited_files(one.memory.evidence))
    return tuple(place for place in named if place.strip("./*"))
