"""What a client's user must still do after connecting, in a sentence; nothing is approved on their behalf."""

import os

from holdfast.capture.wiring import own_command, record, trust
from holdfast.capture.wiring.clients import EVENTS, settings_of
from holdfast.capture.wiring.homes import Homes

CODEX = "Codex keeps new hooks silent until you approve them: start codex here, type /hooks and trust ours"


def needs(client: str, scope: str, homes: Homes, top: str) -> list[str]:
    """What is left to do for this client, in the order in which to do it."""
    off = trust.switched_off(client, homes)
    notes = [f"{client} has all hooks switched off ({off}); ours are silent until they are on"] if off else []
    return notes + {"codex": _codex, "claude": _claude, "gemini": _gemini}[client](scope, homes, top)


def waiting(client: str, scope: str, homes: Homes, top: str) -> tuple[str, ...] | None:
    """The events that wait for an approval; None where a client asks for none."""
    if client == "codex":
        file = settings_of(client, scope, homes, top)[0].path
        return trust.unapproved(os.path.abspath(file), homes)
    if client == "gemini" and scope == "project":
        return () if trust.gemini_trusts(top, homes) else tuple(hook.event for hook in EVENTS[client])
    return None


def server(client: str, scope: str, homes: Homes) -> str | None:
    """The command that adds our MCP server to a client that keeps it beside its credentials; None if done.

    We never look there: what counts is whether the client's own command was run for us.
    """
    if client != "claude" or scope != "user" or client in record.load(homes.record).told:
        return None
    return "holdfast connect claude" if homes.programs.get(client) else own_command.by_hand(homes)


def _codex(scope: str, homes: Homes, top: str) -> list[str]:
    notes = [CODEX] if waiting("codex", scope, homes, top) else []
    if scope == "user" and trust.in_two_files(homes):
        notes.append("Codex warns of hooks in config.toml and in hooks.json; it runs both")
    if scope == "project":
        notes.append("Codex reads .codex/ only in a project you trust; it asks when it starts there")
    return notes


def _claude(scope: str, homes: Homes, top: str) -> list[str]:  # noqa: ARG001
    if scope == "project":
        return ["Claude Code asks once whether to start the server of .mcp.json"]
    by_hand = server("claude", scope, homes)
    if by_hand is None or homes.programs.get("claude"):  # there its own command said what did not work
        return []
    return [f"claude is not on your PATH; to add the MCP server, run: {by_hand}"]


def _gemini(scope: str, homes: Homes, top: str) -> list[str]:
    if scope == "project" and not trust.gemini_trusts(top, homes):
        return ["Gemini CLI reads .gemini/settings.json only in a folder you trust: /permissions trust"]
    return []
