"""A client of our own: the real server as a process, a message a line."""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

PATIENCE = 30.0  # seconds until a test that waits for an answer fails instead of hanging


class Talk:
    """One connection to `holdfast mcp`."""

    def __init__(self, cwd: str | os.PathLike[str], *args: str, env: Mapping[str, str] | None = None) -> None:
        self.errors = Path(os.environ["HOME"], f"mcp-{time.monotonic_ns()}.err")
        with self.errors.open("wb") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "holdfast", *(args or ("mcp",))],
                cwd=cwd,
                env={**os.environ, **(env or {})},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=file,
                bufsize=0,
            )
        self._read = b""
        self._last = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()
        self.process.wait()

    def send(self, message: Any) -> None:
        self.raw(json.dumps(message).encode() + b"\n")

    def raw(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    def receive(self) -> Any:
        """The next message; None if the server ended."""
        assert self.process.stdout is not None
        fd, until = self.process.stdout.fileno(), time.monotonic() + PATIENCE
        while b"\n" not in self._read:
            ready, _, _ = select.select([fd], [], [], max(0.0, until - time.monotonic()))
            assert ready, f"no answer: {self.errors.read_text(errors='replace')}"
            data = os.read(fd, 1 << 16)
            if not data:
                assert not self._read, self._read
                return None
            self._read += data
        line, _, self._read = self._read.partition(b"\n")
        return json.loads(line)

    def notify(self, method: str, **params: Any) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def request(self, method: str, **params: Any) -> int:
        """Send a request and give its id."""
        self._last += 1
        self.send({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params})
        return self._last

    def ask(self, method: str, **params: Any) -> Any:
        """A request's answer; whatever comes before it must be notifications."""
        identity = self.request(method, **params)
        while (message := self.receive()) is not None and "id" not in message:
            pass
        assert message is not None and message["id"] == identity, message
        return message

    def greet(self, version: str = "2025-11-25", name: str = "tester", **can: Any) -> Any:
        about = {"name": name, "version": "1"}
        answer = self.ask("initialize", protocolVersion=version, capabilities=can, clientInfo=about)
        self.notify("notifications/initialized")
        return answer["result"]

    def call(self, name: str, **arguments: Any) -> Any:
        return self.ask("tools/call", name=name, arguments=arguments)["result"]

    def end(self) -> int:
        """Close its input and give its exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(PATIENCE)


def text_of(result: Any) -> str:
    """The text a tool answered with."""
    assert [part["type"] for part in result["content"]] == ["text"]
    return str(result["content"][0]["text"])


@contextmanager
def over_http(cwd: str | os.PathLike[str], errors: Path) -> Iterator[tuple[str, str, int]]:
    """The server over HTTP: its address, its token, its process; what it complains of goes into a file."""
    with errors.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "holdfast", "mcp", "--http", "--port", "0"],
            cwd=cwd,
            stdout=subprocess.PIPE,
            stderr=file,
            text=True,
        )
    assert process.stdout is not None
    address, token = (process.stdout.readline().split()[-1] for _ in range(2))
    try:
        yield address, token, process.pid
    finally:
        process.terminate()
        process.wait(PATIENCE)
        process.stdout.close()
