"""The agents that call hooks: which file of theirs says what, for which events, in which words.

The commands, matchers and timeouts below are part of what Codex's user approves: a change of any of them
silences that hook until it is approved again. They stay as they are; what happens inside may change.
"""

import os
from collections.abc import Mapping
from typing import Any

from holdfast.capture.wiring.homes import Homes, hook_command
from holdfast.capture.wiring.settings import Wanted
from holdfast.values import frozen, replace

JSON, TOML = "json", "toml"
_CODEX_TOOLS = "Bash|apply_patch"
_CLAUDE_TOOLS = "Bash|Edit|MultiEdit|Write|NotebookEdit"


@frozen
class Hook:
    """One event a client calls us for."""

    event: str
    timeout: int
    matcher: str | None = None


@frozen
class Setting:
    """One settings file of a client, and what of ours belongs into it."""

    path: str  # the whole path
    shown: str
    kind: str  # json or toml
    hooks: bool = False
    server: bool = False
    inside: bool = False  # whether it belongs to the work tree
    comments: bool = False  # whether the client reads JSON with comments

    @property
    def what(self) -> str:
        """What of ours stands in it, in words."""
        return "hooks and MCP server" if self.hooks and self.server else "hooks" if self.hooks else "MCP server"


EVENTS: Mapping[str, tuple[Hook, ...]] = {
    "codex": (
        Hook("SessionStart", 5),
        Hook("UserPromptSubmit", 5),
        Hook("PreToolUse", 5, _CODEX_TOOLS),
        Hook("PermissionRequest", 5),
        Hook("PostToolUse", 5, _CODEX_TOOLS),
        Hook("PreCompact", 5),
        Hook("SubagentStop", 5),
        Hook("Stop", 5),
        Hook("SessionEnd", 3),  # the most it allows; without it 1
    ),
    "claude": (
        Hook("SessionStart", 5),
        Hook("UserPromptSubmit", 5),
        Hook("PreToolUse", 5, _CLAUDE_TOOLS),
        Hook("PermissionRequest", 5),
        Hook("PostToolUse", 5, _CLAUDE_TOOLS),
        Hook("PostToolUseFailure", 5, _CLAUDE_TOOLS),
        Hook("PreCompact", 5),
        Hook("SubagentStop", 5),
        Hook("Stop", 5),
        Hook("SessionEnd", 5),  # without it all hooks share 1.5 s
    ),
    "gemini": (  # milliseconds; BeforeTool's text is ignored there, PreCompress fires before every request
        Hook("SessionStart", 5000),
        Hook("BeforeAgent", 5000),
        Hook("AfterTool", 5000),
        Hook("Notification", 5000),
        Hook("AfterAgent", 5000),
        Hook("SessionEnd", 5000),
    ),
}


def settings_of(client: str, scope: str, homes: Homes, top: str) -> list[Setting]:
    """The files of a client that hold our hooks and our server in this scope."""
    if scope == "project":
        found = [_inside(top, *one) for one in _PROJECT[client]]
    else:
        found = [_of_user(homes, client, *one) for one in _USER[client]]
    return [replace(one, comments=client == "gemini") for one in found]


def wanted(client: str, scope: str, setting: Setting, homes: Homes) -> Wanted:
    """What this file must say."""
    hooks = {hook.event: _group(homes, client, scope, hook) for hook in EVENTS[client]} if setting.hooks else {}
    return Wanted(hooks, server_entry(client, scope, homes) if setting.server else None)


def server_entry(client: str, scope: str, homes: Homes) -> dict[str, Any]:
    """How a client starts our server; no client is told to use it without asking."""
    start: dict[str, Any] = {"command": homes.mcp, "args": []}
    if scope == "project":
        start = {"command": "holdfast", "args": ["mcp"]}
    if client == "codex":
        return {**start, "omit_tools_from": ["deferred"]}  # else no request of the model names the tools
    return {"type": "stdio", **start} if client == "claude" else start


def _group(homes: Homes, client: str, scope: str, hook: Hook) -> dict[str, Any]:
    handler: dict[str, Any] = {
        "type": "command",
        "command": hook_command(homes, client, hook.event, scope),
        "timeout": hook.timeout,
    }
    if client == "gemini":
        handler = {"name": "holdfast", **handler}
    return {"matcher": hook.matcher, "hooks": [handler]} if hook.matcher else {"hooks": [handler]}


# file, kind, hooks, server. Claude Code's user-wide servers stand in ~/.claude.json beside its credentials,
# which we never open: the client's own command puts ours there (see `own_command`).
_USER = {
    "codex": (("hooks.json", JSON, True, False), ("config.toml", TOML, False, True)),
    "claude": (("settings.json", JSON, True, False),),
    "gemini": (("settings.json", JSON, True, True),),
}
_PROJECT = {
    "codex": ((".codex/hooks.json", JSON, True, False), (".codex/config.toml", TOML, False, True)),
    "claude": ((".claude/settings.json", JSON, True, False), (".mcp.json", JSON, False, True)),
    "gemini": ((".gemini/settings.json", JSON, True, True),),
}


def _of_user(homes: Homes, client: str, name: str, kind: str, *ours: bool) -> Setting:
    path, (hooks, server) = os.path.join(homes.folders[client], name), ours
    return Setting(path, homes.shown(path), kind, hooks=hooks, server=server)


def _inside(top: str, name: str, kind: str, hooks: bool, server: bool) -> Setting:
    path = os.path.join(top, *name.split("/"))
    return Setting(path, name, kind, hooks=hooks, server=server, inside=True)
