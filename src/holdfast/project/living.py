"""What agents do, taken in as they do it; and what the next one is told, before it asks."""

import contextlib
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from holdfast.capture.agents import dialect
from holdfast.capture.ingest import noting
from holdfast.capture.ingest.taking import Ingest, Taken
from holdfast.capture.live import draining
from holdfast.capture.live.draining import BAD, Drained
from holdfast.capture.live.ours import only_ours
from holdfast.errors import HoldfastError
from holdfast.index.refresh import signature_of
from holdfast.model.event import timestamp
from holdfast.model.ids import token
from holdfast.model.text import visible
from holdfast.project import guarding
from holdfast.project.hydrating import MARKER, Hydrating
from holdfast.project.importing import Bringing, Importing, decided
from holdfast.recall import context
from holdfast.recall import receipts as given
from holdfast.recall.context import Context
from holdfast.store import fsio, pointers, receipts, tally

SMALL = 4 << 20  # bytes of transcripts that any command reads on its way; more is left to the background


class Living(Importing, Hydrating):
    """Agents at work."""

    has_backlog = False  # whether more of transcripts waits than a command reads on its way

    def drain(self) -> Drained:
        """Read the transcripts that agents' hooks told of, as far as they have got."""
        return self._drain(None)

    def _drain_some(self) -> None:
        """The same on the way of any command, if it is little; a failure is said and stops nothing."""
        try:
            self.has_backlog = self._drain(SMALL).too_long
        except BAD as error:
            self.clone.notes.append(f"what agents did was not taken in: {error}")

    def _drain(self, most: int | None) -> Drained:
        if not any(pointers.is_filled(store) for store in self.clone.stores):
            draining.leave_no_drawer(self.clone)
            return Drained()
        self._keep_packs()
        ingest = Ingest(self.clone, decided=decided, sessions=self.settings.has("sessions"))
        taken: list[Taken] = []

        def take(agent: str, path: str, ended: bool, gone: bool) -> Taken | None:
            tool = only_ours(dialect(agent), ingest.repository, self.clone.repo.top, gone=gone)
            found = ingest.take_in(tool, path, ended=ended)
            taken.extend([found] if found else [])
            return found

        try:
            done = draining.drain(self.clone, take, now=time.time_ns(), most=most)
        finally:
            ingest.close()
        for one in taken:
            self._propose_from(one)
        self._say(done)
        if done.turns or done.runs:
            self._render_quietly()
        if done.runs:
            self._forget_next()
        return done

    def _propose_from(self, taken: Taken) -> None:
        """Propose what a session said, but for what it was told; its receipts go to the session it is now."""
        told = noting.session_id(taken.agent, taken.session)
        try:
            if taken.session_id and taken.session_id != told:
                receipts.hand_over(self.clone.layout, told, taken.session_id)
            self._harvest_transcript(taken, Bringing())
        except BAD as error:
            self._not_harvested(f"{taken.agent} session {taken.session}", error)

    def _say(self, done: Drained) -> None:
        notes = self.clone.notes
        notes.extend(done.failed)
        for path in done.vanished:
            notes.append(f"an agent's transcript is gone, and what it said with it: {visible(path)}")

    def _keep_packs(self) -> None:
        """Make receipts of the packs that sessions were told when they started."""
        for path, found in list(pointers.packs(*self.clone.stores)):
            with contextlib.suppress(HoldfastError, OSError):
                self._keep_pack(found)
            with contextlib.suppress(HoldfastError, OSError):
                fsio.remove(path)

    def _keep_pack(self, found: Mapping[str, Any]) -> None:
        pack, agent, session, ts = (found.get(name) for name in ("pack", "agent", "session", "ts"))
        if not (isinstance(pack, dict) and isinstance(agent, str) and isinstance(session, str)):
            return
        head, lines = pack.get("head"), pack.get("lines")
        if not (isinstance(head, dict) and isinstance(lines, list) and isinstance(ts, int)):
            return
        when = timestamp(datetime.fromtimestamp(ts / 1e9, UTC))
        kept = [line for line in lines if isinstance(line, dict)]
        owner = noting.session_id(agent, session)
        told = {**head, "ts": when, "agent": agent, "agent_session": session}
        receipts.keep(self.clone.layout, owner, head=told, lines=kept, stores=self.clone.stores)
        took = found.get("took")
        said = given.counted(head, (one for line in kept for one in _listed(line.get("told"))))
        tally.told_now(self.clone.layout, said, took if type(took) is int else 0, now=int(ts // 1e9))

    def pack(self, *, budget: int) -> Context:
        """What a session that starts here is told before it asks; who was told keeps the receipt."""
        self.seen = signature_of(self.clone)  # before looking: what changes meanwhile must not be missed
        return context.pack(
            self._material("", (), self.knowledge().standings),
            budget=min(budget, self.settings.number("context.budget")),
            marker=token(MARKER),
            sections=self.settings.context_sections,
            clean=self.clone.scan.text,
        )

    def render_guards(self) -> None:
        """Write down what may be said to an agent before an edit or a command."""
        guarding.write(self.clone, self.knowledge().standings)


def _listed(told: object) -> list[Mapping[str, Any]]:
    """What a line of a pack says it tells of; it lay in a file that anybody could have written."""
    return [one for one in told if isinstance(one, dict)] if isinstance(told, list) else []
