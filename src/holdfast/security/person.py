"""Decides whether a person, as far as we can see, is at the keyboard.

This is a guard, not a boundary: a program that runs as the user can open a terminal and clear its environment. It
keeps an agent that uses the command line from approving its own memories by accident; to stop a hostile agent, use
another user account.

An agent is detected by variables it sets for its child processes and by its name among the parent processes, never by
variables that people export to configure it (`tests/conftest.py` lists those). In the table of agents (person.txt),
`children` are variables that only this agent sets for the processes it starts; if we could not run the agent, they are
taken from its documentation. `programs` are names of its process; `packages` is the folder of its script, if it runs
under Node or Python.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from holdfast.patterns import PatternFile


class KnownAgent(NamedTuple):
    """One agent, and what shows that it runs."""

    name: str
    programs: tuple[str, ...]
    packages: tuple[str, ...]
    children: tuple[str, ...]


def _agent(row: str) -> KnownAgent:
    name, *words = row.split(" |")
    return KnownAgent(name, *(tuple(part.split()) for part in words))


AGENTS = tuple(map(_agent, PatternFile(__file__).lines("agents")))
# Variables that programs set when they run commands without a person, and what these programs are.
UNATTENDED = {"AI_AGENT": "an agent", "CI": "a build", "GITHUB_ACTIONS": "a build", "HOLDFAST_RUN_ID": "`holdfast run`"}
# AGENT=amp and AGENT=goose name an agent; other values (opencode's 1, the path of a key agent) do not.
NAMED = ("AGENT", frozenset(program for agent in AGENTS for program in agent.programs))


Process = tuple[int, Sequence[str]]  # its parent, and its command line
_OFF = frozenset({"", "0", "false", "no", "off"})
_INTERPRETERS = ("node", "bun", "deno", "python", "pypy", "sh", "bash", "dash", "zsh", "env")
_DEEPEST = 64  # parent processes that are checked; a guess: real chains have a dozen
_PATIENCE = 2.0  # seconds for `ps`; a guess: it answers in a fraction of one, and a person waits for it


def doubt(*, terminal: bool, environ: Mapping[str, str]) -> str | None:
    """Returns why a decision made now does not count as a person's; None if it does."""
    if marker := agent_marker(environ):
        return f"{marker} is set, so {UNATTENDED.get(marker, 'an agent')} seems to be running this"
    if not terminal:
        return "input and output are not both a terminal"
    if agent := running_agent():
        return f"{agent} is running this"
    return None


def agent_marker(environ: Mapping[str, str]) -> str | None:
    """Returns the name of the variable that shows an agent at work, for the message; None if there is none."""
    names = (*(name for agent in AGENTS for name in agent.children), *UNATTENDED)
    found = (name for name in sorted(names) if environ.get(name, "").strip().lower() not in _OFF)
    name, values = NAMED
    return next(found, None) or (name if environ.get(name, "").strip().lower() in values else None)


@cache
def running_agent() -> str | None:
    """Returns the agent that this process runs under, by the names of its parent processes.

    The search does not stop at a new session: agents open terminals of their own for their commands. If processes
    cannot be listed, the result is None.
    """
    look = _from_proc if os.path.isdir("/proc/self") else _from_ps()
    return next(filter(None, map(agent_called, _above(os.getppid(), look))), None)


def agent_called(command: Sequence[str]) -> str | None:
    """Returns the agent that a command line starts, by its program or by the script that an interpreter runs."""
    program = _stem(command[0]) if command else ""
    script = ""
    if program.rstrip("0123456789.") in _INTERPRETERS:
        script = _script(command[1:])
        program = _stem(script)
    path = script.replace("\\", "/")
    for agent in AGENTS:
        if program in agent.programs or any(f"/{package}/" in path for package in agent.packages):
            return agent.name
    return None


def _script(arguments: Sequence[str]) -> str:
    """Returns what an interpreter runs: a file, or the module after -m; empty for code in an argument (-c)."""
    for place, word in enumerate(arguments):
        if word == "-m":
            return "".join(arguments[place + 1 : place + 2])
        if not word.startswith("-"):
            return word
        if word in ("-c", "-e", "-lc", "--eval", "-p"):
            return ""
    return ""


def _stem(path: str) -> str:
    """Returns the name of a program without its folder, extension and the dash of a login shell."""
    name = path.replace("\\", "/").rpartition("/")[2].lower().lstrip("-")
    stem, dot, ending = name.rpartition(".")
    return stem if dot and ending in ("exe", "js", "mjs", "cjs", "ts", "py", "sh", "cmd") else name


def _above(pid: int, look: Callable[[int], Process | None]) -> Iterator[Sequence[str]]:
    """Yields the command lines of a process and of its parents."""
    for _ in range(_DEEPEST):
        found = look(pid) if pid > 0 else None
        if found is None:
            return
        pid, command = found
        yield command


def _from_proc(pid: int) -> Process | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            parent = int(file.read().rpartition(b")")[2].split()[1])
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = os.fsdecode(file.read(1 << 16)).rstrip("\0").split("\0")
    except (OSError, ValueError, IndexError):
        return None
    return parent, words if len(words) > 1 else words[0].split(" ")[:1]  # one word: a title the program set itself


def _from_ps() -> Callable[[int], Process | None]:
    """Returns the same lookup for systems without /proc: one `ps` lists all processes."""
    known: dict[int, Process] = {}
    if sys.platform != "win32":
        try:
            command_line = ("ps", "-axo", "pid=,ppid=,command=")
            out = subprocess.run(command_line, capture_output=True, timeout=_PATIENCE, check=False).stdout
        except (OSError, subprocess.SubprocessError):
            out = b""
        for row in os.fsdecode(out).splitlines():
            pid, parent, *command = row.split() or ("", "")
            if pid.isdecimal() and parent.isdecimal():
                known[int(pid)] = int(parent), command
    return known.get
