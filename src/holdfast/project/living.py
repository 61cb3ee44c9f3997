"""What agents do, taken in as they do it; and what the next one is told, before it asks."""

import contextlib
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from holdfast.capture.agents import dialect
from holdfast.capture.ingest import agent_session, live_transcripts
from holdfast.capture.ingest.intake import IntakeResult, TranscriptIntake
from holdfast.capture.ingest.live_transcripts import BAD, LiveDrain
from holdfast.capture.ingest.session_repository import only_this_repository
from holdfast.errors import HoldfastError
from holdfast.index.refresh import signature_of
from holdfast.model.event import timestamp
from holdfast.model.ids import token
from holdfast.model.text import visible
from holdfast.project import guarding
from holdfast.project.hydrating import MARKER, Hydrating
from holdfast.project.importing import Bringing, Importing, decided
from holdfast.recall.pack import context_pack
from holdfast.recall.pack import sent_packs as given
from holdfast.recall.pack.context_pack import ContextPack
from holdfast.store import agent_inbox, fsio, receipt_files, tally

SMALL = 4 << 20  # bytes of transcripts that any command reads on its way; more is left to the background


class Living(Importing, Hydrating):
    """Agents at work."""

    has_backlog = False  # whether more of transcripts waits than a command reads on its way

    def drain(self) -> LiveDrain:
        """Read the transcripts that agents' hooks told of, as far as they have got."""
        return self._drain(None)

    def _drain_some(self) -> None:
        """The same on the way of any command, if it is little; a failure is said and stops nothing."""
        try:
            self.has_backlog = self._drain(SMALL).too_long
        except BAD as error:
            self.clone.notes.append(f"what agents did was not taken in: {error}")

    def _drain(self, most: int | None) -> LiveDrain:
        if not any(agent_inbox.is_filled(store) for store in self.clone.stores):
            live_transcripts.leave_no_drawer(self.clone)
            return LiveDrain()
        self._keep_packs()
        ingest = TranscriptIntake(self.clone, decided=decided, sessions=self.settings.has("sessions"))
        taken: list[IntakeResult] = []

        def take(agent: str, path: str, ended: bool, gone: bool) -> IntakeResult | None:
            tool = only_this_repository(dialect(agent), ingest.repository, self.clone.repo.top, gone=gone)
            found = ingest.take_in(tool, path, ended=ended)
            taken.extend([found] if found else [])
            return found

        try:
            done = live_transcripts.drain(self.clone, take, now=time.time_ns(), most=most)
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

    def _propose_from(self, taken: IntakeResult) -> None:
        """Propose what a session said, but for what it was told; its receipts go to the session it is now."""
        told = agent_session.session_id(taken.agent, taken.session)
        try:
            if taken.session_id and taken.session_id != told:
                receipt_files.hand_over(self.clone.layout, told, taken.session_id)
            self._harvest_transcript(taken, Bringing())
        except BAD as error:
            self._not_harvested(f"{taken.agent} session {taken.session}", error)

    def _say(self, done: LiveDrain) -> None:
        notes = self.clone.notes
        notes.extend(done.failed)
        for path in done.vanished:
            notes.append(f"an agent's transcript is gone, and what it said with it: {visible(path)}")

    def _keep_packs(self) -> None:
        """Make receipts of the packs that sessions were told when they started."""
        for path, found in list(agent_inbox.packs(*self.clone.stores)):
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
        owner = agent_session.session_id(agent, session)
        told = {**head, "ts": when, "agent": agent, "agent_session": session}
        receipt_files.keep(self.clone.layout, owner, head=told, lines=kept, stores=self.clone.stores)
        took = found.get("took")
        said = given.counted(head, (one for line in kept for one in _listed(line.get("told"))))
        tally.told_now(self.clone.layout, said, took if type(took) is int else 0, now=int(ts // 1e9))

    def pack(self, *, budget: int) -> ContextPack:
        """What a session that starts here is told before it asks; who was told keeps the receipt."""
        self.seen = signature_of(self.clone)  # before looking: what changes meanwhile must not be missed
        return context_pack.build_pack(
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
