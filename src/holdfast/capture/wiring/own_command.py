"""A client that is told of our server by its own command, because its settings lie beside its credentials.

Claude Code keeps the servers of a user in ~/.claude.json, together with account data. We never open that
file; `claude mcp add` is the way its maker gives, and `claude mcp remove` undoes it.
"""

import os
import shlex
import subprocess

from holdfast.capture.instructions.connect import Change
from holdfast.capture.wiring.homes import Homes
from holdfast.capture.wiring.record import Record
from holdfast.values import frozen

PATIENCE = 30
FILE = "~/.claude.json"


@frozen
class Command:
    """One call of a client's own program."""

    tool: str
    program: str
    arguments: tuple[str, ...]
    adding: bool

    @property
    def words(self) -> str:
        """The call as somebody would type it."""
        return shlex.join([self.tool, *self.arguments])

    @property
    def change(self) -> Change:
        action, sign = ("add", "+") if self.adding else ("remove", "-")
        return Change((self.tool,), FILE, action, (f"{sign} runs: {self.words}",), what="MCP server")

    def run(self, homes: Homes, record: Record) -> list[str]:
        """Make the call; gives a sentence if it did not work, and then nothing is remembered."""
        code, said = self._call(homes, self.arguments)
        if code != 0 and self.adding and "already exists" in said:
            _, there = self._call(homes, ("mcp", "get", "holdfast"))
            if homes.mcp not in there:
                return [f"{self.tool} has a server named holdfast that is not ours; it is left alone"]
        elif code != 0 and (self.adding or "No " not in said):
            reason = said.strip().rpartition("\n")[2][:200]
            return [f"{self.words} did not work ({reason}); run it yourself"]
        record.told = [name for name in record.told if name != self.tool] + [self.tool] * self.adding
        return []

    def _call(self, homes: Homes, arguments: tuple[str, ...]) -> tuple[int, str]:
        try:
            done = subprocess.run(
                [self.program, *arguments],
                cwd=homes.home,
                env=dict(homes.environ),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=PATIENCE,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return 1, str(error)
        return done.returncode, (done.stdout + done.stderr).decode("utf-8", "replace")


def adding(name: str, homes: Homes, record: Record) -> list[Command]:
    """What tells this client of our server, if that was not done yet and its program is there."""
    program = homes.programs.get(name)
    if name != "claude" or name in record.told or program is None:
        return []
    return [Command(name, program, ("mcp", "add", "--scope", "user", "holdfast", "--", homes.mcp), adding=True)]


def removing(name: str, homes: Homes, record: Record) -> list[Command]:
    """What makes this client forget our server, if it was told of it."""
    program = homes.programs.get(name)
    if name not in record.told or program is None:
        return []
    return [Command(name, program, ("mcp", "remove", "--scope", "user", "holdfast"), adding=False)]


def by_hand(homes: Homes) -> str:
    """What to type where the program was not found."""
    return shlex.join(["claude", "mcp", "add", "--scope", "user", "holdfast", "--", os.fspath(homes.mcp)])
