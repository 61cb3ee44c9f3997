"""Tooling: the agents of this user, and how each of them stands with this project."""

import os
import sys
from collections.abc import Sequence

from holdfast.capture.instructions.connect import Plan
from holdfast.capture.wiring import approving, homes, trust, wire
from holdfast.capture.wiring.homes import CLIENTS, Homes
from holdfast.capture.wiring.wire import Wiring
from holdfast.diagnostics import tools
from holdfast.diagnostics.tools import Facts, ToolState
from holdfast.project.viewing import Viewing
from holdfast.store import pointers

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Tooling(Viewing):
    """Agents' own settings: hooks and MCP server."""

    def tools(self) -> list[ToolState]:
        """Each agent that can be connected: installed, connected, trusted, firing, last seen, next step."""
        found = [self._facts(name, self._homes()) for name in CLIENTS]
        return [tools.state(one) for one in found]

    def _facts(self, name: str, user: Homes) -> Facts:
        top = self.clone.repo.top
        scopes = wire.scopes(name, user, top)
        return Facts(
            name,
            user.programs[name],
            os.path.isdir(user.folders[name]),
            scopes,
            current=bool(scopes) and wire.as_wanted(name, scopes[0], user, top),
            waiting=approving.waiting(name, scopes[0], user, top) if scopes else None,
            server=approving.server(name, scopes[0], user) if scopes else None,
            off=trust.switched_off(name, user),
            seen=pointers.last_seen(self.clone.layout, name),
            late=pointers.late(self.clone.layout, name),
        )

    def _homes(self) -> Homes:
        return homes.of(self.environ or os.environ, python=sys.executable, package=PACKAGE)

    def _wiring(self, tools: Sequence[str], scope: str | None) -> Wiring:
        """What connecting these tools changes in their settings, or what refreshing all of them does."""
        user, top = self._homes(), self.clone.repo.top
        names = [name for name in dict.fromkeys(tools) if name in CLIENTS]
        return wire.connect(names if tools else wire.connected(user, top), scope, user, top)

    def _unwiring(self, tools: Sequence[str], scope: str | None) -> Wiring:
        names = [name for name in dict.fromkeys(tools) if name in CLIENTS] if tools else [*CLIENTS]
        return wire.disconnect(names, scope, self._homes(), self.clone.repo.top)

    def _left_to_do(self, wiring: Wiring) -> list[str]:
        """What each client that was connected asks of its user."""
        user, top = self._homes(), self.clone.repo.top
        names = dict.fromkeys(name for step in wiring.steps for name in step.tools)
        return [
            note
            for name in names
            for scope in wire.scopes(name, user, top)
            for note in approving.needs(name, scope, user, top)
        ]


def joined(blocks: Plan, wiring: Wiring, notes: Sequence[str] = ()) -> Plan:
    """One plan of what becomes of settings and of blocks."""
    said = dict.fromkeys([*wiring.notes, *notes, *blocks.notes])
    return Plan((*blocks.changes, *wiring.changes), tuple(said), done=blocks.done, kept=blocks.kept)
