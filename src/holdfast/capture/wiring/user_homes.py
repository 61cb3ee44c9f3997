"""Where this user's agents keep their settings, where what we put there lies, and the two programs it names.

Everything is computed from the environment that is handed in: the same call with another one is another user. The
programs are scripts at one place per user that never moves. Their text names the Python and the package that are
installed now and is renewed when those move; what stands in somebody's settings stays, so Codex keeps trusting it.
"""

import os
import shlex
import shutil
import stat
from collections.abc import Mapping

from holdfast.errors import UnsafePath
from holdfast.model.transcript import AGENTS
from holdfast.patterns import text_beside
from holdfast.store import fsio, layout
from holdfast.values import frozen

CLIENTS = tuple(AGENTS)
SCOPES = ("user", "project")
_HOMES = {  # the variable that moves it, where it is in the user's home, and what lies below either
    "codex": ("CODEX_HOME", ".codex", ""),
    "claude": ("CLAUDE_CONFIG_DIR", ".claude", ""),
    "gemini": ("GEMINI_CLI_HOME", "", ".gemini"),
    "opencode": ("XDG_CONFIG_HOME", ".config", "opencode"),
    "qwen": ("QWEN_HOME", ".qwen", ""),
    "copilot": ("COPILOT_HOME", ".copilot", ""),
    "pi": ("PI_CODING_AGENT_DIR", ".pi/agent", ""),
    "kimi": ("KIMI_CODE_HOME", ".kimi-code", ""),
    "cline": ("CLINE_DIR", ".cline", ""),
}


@frozen
class UserHomes:
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

    def repository(self, store: str) -> str:
        """A repository by its private store, as people write it."""
        return self.shown(store.removesuffix(os.path.join(os.sep, ".git", "holdfast")))

    def shown(self, path: str) -> str:
        """A path as people write it."""
        inside = os.path.relpath(path, self.home)
        return path if inside.startswith(os.pardir) else "~/" + inside.replace(os.sep, "/")


def homes_of(environ: Mapping[str, str], *, python: str, package: str) -> UserHomes:
    """The user whom this environment describes."""
    home = environ.get("HOME") or os.path.expanduser("~")
    folders = {
        name: os.path.join(environ.get(variable) or os.path.join(home, folder), below).rstrip(os.sep)
        for name, (variable, folder, below) in _HOMES.items()
    }
    path = environ.get("PATH", "")
    names = (*CLIENTS, "holdfast", "holdfast-hook")
    programs = {name: shutil.which(name, path=path) for name in names}
    share = environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share")
    data = layout.user_data({"XDG_DATA_HOME": share})
    return UserHomes(home, folders, data, programs, python, package, environ)


HOOK = "holdfast-hook"
FOUND, OTHERWISE = ">/dev/null 2>&1 && ", " || true"
BARE = ("codex", "claude", "gemini")  # go on if a hook fails; what Codex's user approved must not change by a byte


def hook_command(homes: UserHomes, client: str, event: str, scope: str) -> str:
    """What a client runs for an event.

    In a repository's settings it runs for everybody who works there, Holdfast installed or not, and in every
    client that reads another's settings; a user's settings may be carried to another machine. Copilot CLI refuses a
    tool call if its hook fails. So it ends with 0 in any case.
    These words mean the same to sh, bash, zsh, dash and fish.
    """
    program = shlex.quote(homes.hook) if scope == "user" else HOOK
    if scope == "user" and client in BARE:
        return f"{program} {client} {event}"
    return f"command -v {program} {FOUND}{program} {client} {event}{OTHERWISE}"


LAUNCHER_MODE = 0o755  # everybody may run it, as installers do it


def launcher_texts(homes: UserHomes) -> dict[str, bytes]:
    """Each launcher's path and the text it must have."""
    python = shlex.quote(homes.python)
    hook = shlex.quote(os.path.join(homes.package, "interfaces", "agent_hook.py"))
    # -P in the second keeps the folder a server is started in, somebody's repository, out of what Python imports.
    texts = (text_beside(__file__, name) for name in ("launcher_hook.sh", "launcher_mcp.sh"))
    return {
        path: text.format(python=python, hook=hook).encode()
        for path, text in zip((homes.hook, homes.mcp), texts, strict=True)
    }


def read_launcher(path: str) -> bytes | None:
    """A launcher as it stands; None if it is not there or cannot be run."""
    try:
        facts = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not stat.S_ISREG(facts.st_mode):
        raise UnsafePath(f"{path} is not a regular file", hint="Move it out of the way.")
    return fsio.read(path, limit=1 << 16) if facts.st_mode & stat.S_IXUSR else b""
