"""The two programs that agents' settings name: scripts at one place per user that never moves.

Their text names the Python and the package that are installed now and is renewed when those move; what stands
in somebody's settings stays the same, so Codex keeps trusting it.
"""

import os
import shlex
import stat

from holdfast.capture.wiring.homes import Homes
from holdfast.errors import UnsafePath
from holdfast.store import fsio

MODE = 0o755
_HOOK = """\
#!/bin/sh
# Holdfast's hook for agents, written by `holdfast connect`. Its text may change, its path never does.
python={python}
hook={hook}
[ -x "$python" ] && [ -f "$hook" ] || exit 0
exec "$python" -I -S "$hook" "$@"
"""
# -P keeps the folder a server is started in, somebody's repository, out of what Python imports.
_MCP = """\
#!/bin/sh
# Holdfast's MCP server for agents, written by `holdfast connect`. Its text may change, its path never does.
python={python}
[ -x "$python" ] || {{ echo "Holdfast moved: run holdfast connect again" >&2; exit 1; }}
exec "$python" -P -m holdfast mcp "$@"
"""


def texts(homes: Homes) -> dict[str, bytes]:
    """Each launcher's path and the text it must have."""
    python = shlex.quote(homes.python)
    hook = shlex.quote(os.path.join(homes.package, "interfaces", "agent_hook.py"))
    return {homes.hook: _HOOK.format(python=python, hook=hook).encode(), homes.mcp: _MCP.format(python=python).encode()}


def read(path: str) -> bytes | None:
    """A launcher as it stands; None if it is not there or cannot be run."""
    try:
        facts = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not stat.S_ISREG(facts.st_mode):
        raise UnsafePath(f"{path} is not a regular file", hint="Move it out of the way.")
    return fsio.read(path, limit=1 << 16) if facts.st_mode & stat.S_IXUSR else b""


def write(path: str, text: bytes) -> None:
    """Set a launcher's text at once; whoever starts it meanwhile gets the old or the new one."""
    fsio.make_dirs(os.path.dirname(path), mode=0o755)
    fsio.sweep(path)
    temporary = f"{path}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    fsio.create(temporary, text, mode=MODE)
    os.chmod(temporary, MODE)  # whatever the umask left of it
    fsio.move(temporary, path)
