"""The MCP server over stdio: what a client waits for at its start, and what the server holds meanwhile."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator

from bench.measure import Result, at_most, least, told, wall

ROUNDS = 30
BAR, MOST_MB = 3.0, 25
_HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
_START = (
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _HELLO},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
)
_CALL = {"name": "recall", "arguments": {"query": "postgres"}}


class Served:
    """The server as a process, greeted and asked for its tools."""

    def __init__(self, cwd: str) -> None:
        command = [sys.executable, "-m", "holdfast", "mcp"]
        self._process = subprocess.Popen(command, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for message in _START:
            self.send(message)
        self.answer()
        self.answer()

    def send(self, message: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def answer(self) -> object:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def resident(self) -> float:
        """Megabytes of memory held now."""
        with open(f"/proc/{self._process.pid}/status", encoding="ascii") as file:
            row = next(line for line in file if line.startswith("VmRSS"))
        return int(row.split()[1]) / 1024

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def starting(folder: str) -> Iterator[Result]:
    """From the start to the list of tools beside a Python that does nothing, in time and in memory."""
    top = os.path.join(folder, "served")
    subprocess.run(["git", "init", "-q", top], check=True)
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "first"], cwd=top, check=True)
    subprocess.run([sys.executable, "-m", "holdfast", "init"], cwd=top, check=True, capture_output=True)
    floor = [sys.executable, "-c", "pass"]
    best = least({"floor": _waited(floor), "mcp": _started(top)}, ROUNDS)
    yield at_most("mcp: start to tools/list", best["mcp"], best["floor"], BAR)
    yield from _held(top)


def _waited(argv: list[str]) -> Callable[[], float]:
    return lambda: wall(lambda: subprocess.run(argv, check=True))


def _started(top: str) -> Callable[[], float]:
    def run() -> float:
        made: list[Served] = []
        took = wall(lambda: made.append(Served(top)))
        made[0].end()
        return took

    return run


def _held(top: str) -> Iterator[Result]:
    served = Served(top)
    held = served.resident()
    yield Result("mcp: resident at tools/list", f"{held:.1f} MB", "", 0.0, f"<= {MOST_MB} MB", held <= MOST_MB)

    def call() -> None:
        served.send({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": _CALL})
        served.answer()

    first = wall(call)
    later = min(wall(call) for _ in range(10))
    yield told("mcp: a recall, the first and the next", f"{first * 1e3:.0f} ms, {later * 1e3:.0f} ms")
    yield told("mcp: resident after them", f"{served.resident():.1f} MB")
    served.end()
