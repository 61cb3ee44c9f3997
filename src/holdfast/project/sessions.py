"""Sessions: the short cache of the work under way, started, noted and ended."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.capture import session as capture
from holdfast.capture.condensing import Condensing
from holdfast.capture.session import Ending, Noted
from holdfast.errors import SwitchedOff
from holdfast.model.session import Session
from holdfast.project.viewing import Viewing
from holdfast.store import sessions


@dataclass(frozen=True, slots=True)
class SessionList:
    """Every session of this clone, newest first; which is open here, and which nobody goes on with."""

    sessions: tuple[Session, ...]
    here: str | None
    stale: Mapping[str, str]  # id to the reason


class Sessions(Viewing):
    """What is going on right now."""

    def _with_sessions(self) -> None:
        if not self.settings.has("sessions"):
            raise SwitchedOff("sessions are switched off in this project (features.sessions = false)")

    def session_start(
        self,
        objective: str,
        *,
        agent: str | None = None,
        agent_session: str | None = None,
        tasks: Sequence[str] = (),
        again: bool = False,
    ) -> Session:
        """Begin a session on this branch; `again` ends the one that is open here first."""
        self._with_sessions()
        return capture.start(
            self.clone,
            objective=objective,
            agent=agent,
            agent_session=agent_session,
            tasks=tasks,
            again=again,
        )

    def session_note(
        self, summary: str = "", *, environ: Mapping[str, str] | None = None, **more: Any
    ) -> Noted:
        """Add a turn to the open session; `more` is what `capture.session.note` takes.

        session, commands, files, open, close, follow_ups, approvals, granted, denied, decisions,
        scratchpad, task, run.
        """
        self._with_sessions()
        how = Condensing(
            after=self.settings.number("session.condense_after"),
            budget=self.settings.number("session.budget"),
            command=self.settings.model_command,
            calls_per_day=self.settings.number("model.calls_per_day"),
            environ=os.environ if environ is None else environ,
        )
        more.setdefault("run", self._parent)
        return capture.note(self.clone, summary, condense_by=how, **more)

    def session_end(
        self, *, session: str | None = None, summary: str | None = None, reason: str = "ended"
    ) -> Ending:
        """Close a session; tells what git holds of it and which tasks may be done, and changes none."""
        self._with_sessions()
        tasks = self.settings.has("tasks")
        return capture.end(self.clone, session=session, summary=summary, reason=reason, with_tasks=tasks)

    def session_show(self, name: str | None = None) -> Session:
        """A session by its id; without one the open one here, else the last of this branch."""
        self._with_sessions()
        return capture.find(self.clone, name)

    def session_list(self) -> SessionList:
        """Every session of this clone, newest first."""
        self._with_sessions()
        found = sessions.everywhere(self.clone.stores)
        here = capture.current(self.clone)
        stale = {one.session.id: one.why for one in capture.stale(self.clone)}
        ordered = sorted(found, key=lambda one: (one.updated.ts, one.id), reverse=True)
        return SessionList(tuple(ordered), here.id if here else None, stale)

    def session_edit(
        self,
        name: str,
        *,
        summary: str | None = None,
        objective: str | None = None,
        scratchpad: str | None = None,
    ) -> Session:
        """Change what a session says of itself."""
        self._with_sessions()
        return capture.edit(self.clone, name, summary=summary, objective=objective, scratchpad=scratchpad)
