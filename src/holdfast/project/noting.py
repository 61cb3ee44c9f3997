"""Noting: sessions, the short cache of what is being done."""

from collections.abc import Mapping
from typing import Any

from holdfast.capture import session as capture
from holdfast.capture.condense import CondenseSettings
from holdfast.capture.session import Ending, Noted
from holdfast.capture.session_lookup import Stale
from holdfast.errors import HoldfastError
from holdfast.model.session import Session
from holdfast.project.harvesting import Harvesting
from holdfast.store import session_files


class Noting(Harvesting):
    """What an agent is in the middle of."""

    def session_start(self, objective: str, **fields: Any) -> Session:
        """Open a session on this branch and work tree.

        Fields: agent, agent_session, tasks, again (end the one that is open here first).
        """
        self._needs("sessions")
        journal = self.settings.journal_path
        return self._shown(capture.start(self.clone, objective=objective, journal=journal, **fields))

    def session_note(self, summary: str = "", *, environ: Mapping[str, str] | None = None, **fields: Any) -> Noted:
        """Add a turn to the session, durable on return.

        Fields: session, commands, files, open, close, follow_ups, approvals, granted, denied, decisions,
        scratchpad, task, run.
        """
        self._needs("sessions")
        fields.setdefault("run", self._parent)
        how = CondenseSettings(
            after=self.settings.number("session.condense_after"),
            budget=self.settings.number("session.budget"),
            command=self.settings.model_command,
            calls_per_day=self.settings.number("model.calls_per_day"),
            environ=self.environ if environ is None else environ,
        )
        journal = self.settings.journal_path
        return self._shown(capture.note(self.clone, summary, condense_by=how, journal=journal, **fields))

    def session_end(self, *, session: str | None = None, summary: str | None = None, reason: str = "ended") -> Ending:
        """Close a session: what git got since its start, and which tasks those commits speak for."""
        self._needs("sessions")
        ending = capture.end(
            self.clone,
            session=session,
            summary=summary,
            reason=reason,
            with_tasks=self.settings.has("tasks"),
            journal=self.settings.journal_path,
        )
        self._harvest_session(ending.session)
        return self._shown(ending)

    def session_show(self, name: str | None = None) -> Session:
        """A session by its id or its beginning; without one, the open one here or the last of this line."""
        self._needs("sessions")
        return capture.find(self.clone, name)

    def session_list(self) -> list[Session]:
        """Every session of this clone, oldest first."""
        self._needs("sessions")
        return session_files.everywhere(self.clone.stores)

    def session_edit(self, name: str, **changes: Any) -> Session:
        """Change a session's summary, objective or scratchpad."""
        self._needs("sessions")
        found = capture.find(self.clone, name)
        return self._shown(capture.edit(self.clone, found.id, **changes))

    def session_id(self) -> str | None:
        """The session that is open on this branch in this work tree."""
        try:
            found = capture.current(self.clone) if self.settings.has("sessions") else None
        except HoldfastError:  # a name to put on a claim is not worth failing for
            return None
        return found.id if found else None

    def sessions_stale(self) -> list[Stale]:
        """Open sessions that nobody seems to go on with."""
        return capture.stale(self.clone)
