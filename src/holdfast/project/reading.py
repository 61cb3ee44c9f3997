"""Reading: search, the log in its forms, one thing, where everything stands."""

from collections.abc import Sequence
from typing import Any

from holdfast.curation.decisions import MemoryStanding
from holdfast.curation.review_queue import FOREIGN, ReviewQueue, every, since_approval
from holdfast.diagnostics import run_diff as differences
from holdfast.diagnostics import status, timeline
from holdfast.diagnostics.run_diff import RunDiff
from holdfast.diagnostics.status import FactTally, Status, WorkTally
from holdfast.git import merge_conflicts
from holdfast.git.approvals import EDITED, UNCHECKED
from holdfast.index.refresh import keep_ready, signature_of
from holdfast.model.event import timestamp
from holdfast.model.ids import pick
from holdfast.model.task import PLANS
from holdfast.project.hydrating import Hydrating
from holdfast.project.noting import Noting
from holdfast.project.recalling import Recalling
from holdfast.project.working import Working
from holdfast.recall import lookup
from holdfast.recall.lookup import ShownRecord
from holdfast.store import statistics, tally
from holdfast.store.layout import TASKS
from holdfast.values import replace


class Reading(Working, Noting, Recalling, Hydrating):
    """What is here, for people and agents."""

    def timeline(self, *, task: str | None = None, sort: Sequence[str] = ()) -> list[timeline.TimelineRow]:
        """What happened, in order, or sorted by layer and scale."""
        return timeline.timeline(self.log(), task=task, sort=tuple(sort) or ("ts",))

    def diff(self, run: str, *, against: str = "latest") -> RunDiff:
        """What two runs produced, compared; latest is the newest earlier run of the same task."""
        runs = [event.run_id for event in self.clone.all_events() if event.kind == "run" and event.run_id]
        other = against if against == "latest" else pick(against, runs)
        return differences.diff(self.clone, pick(run, runs), against=other)

    def show(self, identity: str) -> ShownRecord:
        """Everything this clone can say about a memory, a run or an event."""
        found = lookup.show(self.clone, identity)
        if found.kind not in ("memory", "candidate"):
            return found
        counts = statistics.times(self.clone.layout, found.id)
        tally.count(self.clone.layout, f"{tally.LOOKED}{found.id.lower()}")
        there = every(self.clone, self.clone.clock()).get(found.id)
        told = {**_standing(there), "counted": counts} if there else {}
        if there and there.status == EDITED:
            told["diff"] = list(since_approval(self.clone, there))
        return replace(found, fields={**found.fields, **told})

    def status(self) -> Status:
        """Where this clone stands, what waits, and what would go with it."""
        self._render_quietly()  # facts may have expired since the views were written
        self.seen = signature_of(self.clone)  # before looking: what changes meanwhile must not be missed
        there = ReviewQueue(self.clone, self.clone.clock())
        found = there.known
        counted = FactTally(
            len(found.trusted),
            len(found.expired),
            len(found.stale),
            there.waiting,
            sum(one.status == "unreviewed" and one.trust != FOREIGN for one in found.unreviewed),
            elsewhere=len(there.items) - there.waiting,
            edited=sum(one.status == EDITED for one in found.unreviewed),
            unchecked=sum(one.status == UNCHECKED for one in found.unreviewed),
            unreadable=len(there.unreadable),
        )
        return status.status(self.clone, counted, self._work())

    def _work(self) -> WorkTally:
        if not self.settings.has("tasks"):
            return WorkTally(session=self.session_id())
        board = self.tasks()
        open_ones = [task for task in board.tasks if not task.is_closed]
        begun = sum(task.status == "started" for task in open_ones)
        ready = sum(task.kind not in PLANS for task in board.graph.ready())
        in_doubt = board.broken or any(placed.clash or placed.edited for placed in board.placed.values())
        disputed = merge_conflicts.find(self.clone, TASKS) if in_doubt else ()
        return WorkTally(len(open_ones), begun, ready, self.session_id(), disputed=len(disputed))

    def keep_ready(self, name: str, *, signature: str, text: str, json: str) -> None:
        """Keep a rendered answer for the quick path until a fact expires or the signature changes."""
        expiries = [s.memory.expires_at for s in self.knowledge().trusted if s.memory.expires_at]
        until = timestamp(min(expiries)) if expiries else None
        keep_ready(self.clone, name, signature=signature, text=text, json=json, valid_until=until)


def _standing(one: MemoryStanding) -> dict[str, Any]:
    """How a memory stands, for whoever looks at it."""
    provenance = getattr(one.memory, "provenance", ())
    return {
        "type": one.memory.type,
        "status": one.status,
        "trust": one.trust,
        "evidence": dict(one.receipts),
        "notes": list(one.notes),
        "said": list(provenance),
        "suggests": getattr(one.memory, "suggests", None),
        "because": getattr(one.memory, "because", ""),
    }
