"""Proposes memories from the texts of runs and sessions; a failure becomes a note and is never raised."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from holdfast.capture import session_lookup, user_command
from holdfast.curation import propose
from holdfast.errors import HoldfastError
from holdfast.model import utterance
from holdfast.project.concern import Concern
from holdfast.store import fsio, receipt_files

if TYPE_CHECKING:
    from holdfast.curation.propose import Cited, Harvested
    from holdfast.model.event import Event
    from holdfast.model.session import Session
    from holdfast.model.utterance import ExtractedMemory, TriedCommand, Utterance

AGENTS = frozenset(("aider", "amp", "claude", "codex", "cursor-agent", "gemini", "goose", "opencode", "qwen"))


ACTIVE = "context/active.md"  # a pack that agents read as a file
LAST = 1 << 18  # bytes of an agent's output; a guess: its conclusions are at the end


class Harvester(Concern):
    """Candidates from runs and sessions."""

    def from_run(self, event: Event | None) -> None:
        """Proposes memories from a run's prompt and, if an agent ran, from its answer."""
        if event is None or event.run_id is None:
            return
        source = f"run:{event.run_id}"
        try:
            fields = self.clone.joined(event)
            asked = [utterance.Utterance("user", str(fields["prompt"]), 1)] if fields.get("prompt") else []
            turns = [*asked, *self._answer(event.run_id, fields)]
        except (HoldfastError, OSError) as error:
            self.not_harvested(source, error)
            return
        outer = [event.parent_run_id] if event.parent_run_id else []
        self._harvest_quietly(turns, source=source, evidence=lambda _: [source], outer=outer)

    def _answer(self, run: str, fields: dict[str, Any]) -> list[Utterance]:
        """Returns an agent's answer; nothing for another command, whose output is a tool's."""
        summary = (fields.get("outputs") or {}).get("summary")
        if not fields.get("command"):
            return [utterance.Utterance("agent", str(summary), 2)] if summary else []
        command = fields["command"]
        words = command if isinstance(command, list) else str(command).split()
        if not fields.get("prompt") and not (words and os.path.basename(str(words[0])) in AGENTS):
            return []  # a command with a prompt is an agent; others are known by name
        for name in ("stdout", "terminal"):
            with contextlib.suppress(OSError, HoldfastError):
                data = fsio.read(os.path.join(self.clone.layout.run(run), "outputs", name), limit=1 << 30)
                return [utterance.Utterance("agent", data[-LAST:].decode("utf-8", "replace"), 2)]
        return []

    def from_session(self, session: Session) -> None:
        """Proposes memories from a session's notes, and from commands that failed before they worked."""
        turns: list[Utterance | TriedCommand] = [
            utterance.Utterance("agent", turn.summary, turn.n) for turn in session.every_turn
        ]
        turns += [utterance.Utterance("agent", f"Decision: {text}", 0) for text in session.decisions]
        turns += [utterance.Utterance("agent", session.summary, session.count + 1)] if session.summary else []
        turns += [
            utterance.TriedCommand(command.text, command.exit_status, number)
            for number, command in enumerate(session.commands, 1)
        ]
        outer = [command.run for command in session.commands if command.run]
        cited = partial(_shown_by, session)
        self._harvest_quietly(turns, source=f"session:{session.id}", evidence=cited, outer=outer)

    def _harvest_quietly(
        self, turns: Sequence[Utterance | TriedCommand], *, source: str, evidence: Cited, outer: Sequence[str] = ()
    ) -> Harvested:
        """Proposes memories; `outer` are other runs in which the same agent may have got a context."""
        if not turns:
            return propose.Harvested()
        try:
            sent = self.sent([source.partition(":")[2], *outer])
            self.project.views.note("candidates")
            return propose.harvest(
                self.clone, turns, source=source, evidence=evidence, sent=sent, ask=self.model_for(turns)
            )
        except (HoldfastError, OSError, ValueError, RecursionError) as error:
            self.not_harvested(source, error)
            return propose.Harvested()

    def not_harvested(self, source: str, error: Exception) -> None:
        self.clone.notes.append(f"nothing was proposed from {source}: {error}")

    def sent(self, owners: Sequence[str]) -> list[str]:
        """Returns the packs that an agent may repeat: its own, its session's, and the one in the view file."""
        here = session_lookup.current(self.clone) if self.settings.has("sessions") else None
        given_to = dict.fromkeys([*owners, *([here.id] if here else [])])
        sent = [kept.text for owner in given_to for kept in receipt_files.read(self.clone.stores, owner)]
        with contextlib.suppress(HoldfastError, OSError, UnicodeDecodeError):
            sent.append(fsio.read(self.clone.layout.view(ACTIVE), limit=LAST).decode())
        return sent

    def model_for(self, turns: Sequence[Utterance | TriedCommand]) -> Callable[[str], str | None] | None:
        """Returns a function that asks the user's model command; None without one, or with nothing to ask about."""
        if not self.settings.model_command or not any(isinstance(turn, utterance.Utterance) for turn in turns):
            return None
        how = user_command.UserModelCommand(
            command=self.settings.model_command,
            calls_per_day=self.settings.number("model.calls_per_day"),
            environ=self.project.environ,
        )

        def answer(question: str) -> str | None:
            try:
                return user_command.ask(self.clone, question, how)
            except (HoldfastError, OSError, ValueError) as error:
                self.clone.notes.append(f"proposed without the model command: {error}")
                return None

        return answer


def _shown_by(session: Session, found: ExtractedMemory) -> list[str]:
    """Returns the evidence of a find in a session: the run and commits of its turn, else the session's last ones."""
    if found.rule == "retried command":
        tried = session.commands[max(0, found.turn - 3) : found.turn]  # the command and two before it, which failed
        return [f"run:{command.run}" for command in tried if command.run]
    turn = next((turn for turn in session.turns if turn.n == found.turn), None)
    runs = [turn.run] if turn and turn.run else [command.run for command in session.commands[-3:]]
    commits = turn.commits if turn and turn.commits else session.commits[-3:]
    return [*dict.fromkeys(f"run:{run}" for run in runs if run), *(f"commit:{oid}" for oid in commits)]
