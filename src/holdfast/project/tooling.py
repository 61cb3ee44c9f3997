"""Tooling: the agents of this user, and how each of them stands with this project."""

import os
import sys
from collections.abc import Sequence

from holdfast.capture.wiring import client_trust, connect_client, user_homes
from holdfast.capture.wiring.connect_client import Wiring
from holdfast.capture.wiring.connect_files import ConnectionPlan
from holdfast.capture.wiring.user_homes import CLIENTS, UserHomes
from holdfast.diagnostics import agent_health
from holdfast.diagnostics.agent_health import AgentFacts, AgentHealth
from holdfast.project.viewing import Viewing
from holdfast.store import agent_inbox

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Tooling(Viewing):
    """Agents' own settings: hooks and MCP server."""

    def tools(self) -> list[AgentHealth]:
        """Each agent that can be connected: installed, connected, trusted, firing, last seen, next step."""
        found = [self._facts(name, self._homes()) for name in CLIENTS]
        return [agent_health.health_of(one) for one in found]

    def _facts(self, name: str, user: UserHomes) -> AgentFacts:
        top = self.clone.repo.top
        scopes = connect_client.scopes(name, user, top)
        return AgentFacts(
            name,
            user.programs[name],
            os.path.isdir(user.folders[name]),
            scopes,
            current=bool(scopes) and connect_client.as_wanted(name, scopes[0], user, top),
            waiting=client_trust.events_to_approve(name, scopes[0], user, top) if scopes else None,
            server=client_trust.server_command(name, scopes[0], user) if scopes else None,
            off=client_trust.switched_off(name, user),
            seen=agent_inbox.last_seen(self.clone.layout, name),
            late=agent_inbox.late(self.clone.layout, name),
        )

    def _homes(self) -> UserHomes:
        return user_homes.homes_of(self.environ or os.environ, python=sys.executable, package=PACKAGE)

    def _wiring(self, tools: Sequence[str], scope: str | None) -> Wiring:
        """What connecting these tools changes in their settings, or what refreshing all of them does."""
        user, top = self._homes(), self.clone.repo.top
        names = [name for name in dict.fromkeys(tools) if name in CLIENTS]
        return connect_client.connect(names if tools else connect_client.connected(user, top), scope, user, top)

    def _unwiring(self, tools: Sequence[str], scope: str | None) -> Wiring:
        names = [name for name in dict.fromkeys(tools) if name in CLIENTS] if tools else [*CLIENTS]
        return connect_client.disconnect(names, scope, self._homes(), self.clone.repo.top)

    def _left_to_do(self, wiring: Wiring) -> list[str]:
        """What each client that was connected asks of its user."""
        user, top = self._homes(), self.clone.repo.top
        names = dict.fromkeys(name for step in wiring.steps for name in step.tools)
        return [
            note
            for name in names
            for scope in connect_client.scopes(name, user, top)
            for note in client_trust.steps_left(name, scope, user, top)
        ]


def joined(blocks: ConnectionPlan, wiring: Wiring, notes: Sequence[str] = ()) -> ConnectionPlan:
    """One plan of what becomes of settings and of blocks."""
    said = dict.fromkeys([*wiring.notes, *notes, *blocks.notes])
    return ConnectionPlan((*blocks.changes, *wiring.changes), tuple(said), done=blocks.done, kept=blocks.kept)
