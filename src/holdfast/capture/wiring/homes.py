"""Where this user's agents keep their settings, and where what we put there lies.

Everything is computed from the environment that is handed in: the same call with another one is another user.
"""

import os
import shlex
import shutil
from collections.abc import Mapping

from holdfast.store import layout
from holdfast.values import frozen

CLIENTS = ("codex", "claude", "gemini")
SCOPES = ("user", "project")
_HOMES = {  # the variable that moves it, and the folder in the user's home
    "codex": ("CODEX_HOME", ".codex"),
    "claude": ("CLAUDE_CONFIG_DIR", ".claude"),
}


@frozen
class Homes:
    """One user: home, the agents' own folders, our folder, and the programs on the path."""

    home: str
    folders: Mapping[str, str]
    data: str  # our own folder of this user
    programs: Mapping[str, str | None]
    python: str  # what runs us now
    package: str  # the folder of our package
    environ: Mapping[str, str]  # for a client's own command

    @property
    def hook(self) -> str:
        """The launcher of the hook: what every user-scope hook names, for ever."""
        return os.path.join(self.data, "hook")

    @property
    def mcp(self) -> str:
        """The launcher of the MCP server."""
        return os.path.join(self.data, "mcp")

    @property
    def record(self) -> str:
        """What we put into whose settings, so that it can be taken out to the byte."""
        return os.path.join(self.data, "connected.json")

    def shown(self, path: str) -> str:
        """A path as people write it."""
        inside = os.path.relpath(path, self.home)
        return path if inside.startswith(os.pardir) else "~/" + inside.replace(os.sep, "/")


def of(environ: Mapping[str, str], *, python: str, package: str) -> Homes:
    """The user whom this environment describes."""
    home = environ.get("HOME") or os.path.expanduser("~")
    folders = {name: environ.get(variable) or os.path.join(home, folder) for name, (variable, folder) in _HOMES.items()}
    folders["gemini"] = os.path.join(environ.get("GEMINI_CLI_HOME") or home, ".gemini")
    path = environ.get("PATH", "")
    names = (*CLIENTS, "holdfast", "holdfast-hook")
    programs = {name: shutil.which(name, path=path) for name in names}
    share = environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share")
    data = layout.user_data({"XDG_DATA_HOME": share})
    return Homes(home, folders, data, programs, python, package, environ)


HOOK = "holdfast-hook"
FINDING, OTHERWISE = f"command -v {HOOK} >/dev/null 2>&1 && ", " || true"


def hook_command(homes: Homes, client: str, event: str, scope: str) -> str:
    """What a client runs for an event.

    In a repository's settings it runs for everybody who works there, Holdfast installed or not, and in every
    client that reads another's settings; some refuse a tool call if its hook fails. So it ends with 0 in any
    case. These words mean the same to sh, bash, zsh, dash and fish.
    """
    if scope == "user":
        return f"{shlex.quote(homes.hook)} {client} {event}"
    return f"{FINDING}{HOOK} {client} {event}{OTHERWISE}"
