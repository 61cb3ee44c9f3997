"""Between a client that only speaks plain HTTP and our servers: one adds the token, one speaks stdio."""

import contextlib
import http.client
import json
import queue
import subprocess
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

_HOP = {"connection", "transfer-encoding", "content-length", "keep-alive"}


class Quiet(BaseHTTPRequestHandler):
    """A handler that keeps no log."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        pass

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def reply(self, status: int, data: bytes = b"", kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextlib.contextmanager
def _served(handler: type[Quiet]) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp"
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def with_token(address: str, token: str) -> Iterator[str]:
    """An address at which the server at another one is reached with its token; foreign names stay foreign."""
    target = address.removeprefix("http://").removesuffix("/mcp")

    class Relay(Quiet):
        def _forward(self) -> None:
            own = f"127.0.0.1:{self.server.server_port}"  # type: ignore[attr-defined]
            headers = {name: value.replace(own, target) for name, value in self.headers.items()}
            headers["Authorization"] = f"Bearer {token}"
            data = self.body()
            there = http.client.HTTPConnection(target, timeout=60)
            there.request(self.command, self.path, body=data, headers=headers)
            answer = there.getresponse()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in _HOP:
                    self.send_header(name, value)
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            with contextlib.suppress(http.client.HTTPException, OSError):  # a stream that either side ended
                while chunk := answer.read1(1 << 16):
                    self.wfile.write(chunk)
                    self.wfile.flush()
            there.close()

        do_GET = do_POST = do_DELETE = do_PUT = do_OPTIONS = _forward

    with _served(Relay) as here:
        yield here


@contextlib.contextmanager
def over_stdio(command: Sequence[str], cwd: Path) -> Iterator[str]:
    """An address at which a server that speaks stdio is reached: a message in, its answer out."""
    process = subprocess.Popen(command, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    answers: dict[Any, queue.SimpleQueue[Any]] = {}

    def listen() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            message = json.loads(line)
            if "method" not in message and message.get("id") in answers:
                answers[message["id"]].put(message)

    class Bridge(Quiet):
        def do_POST(self) -> None:
            data = self.body()
            message = json.loads(data)
            waits = "id" in message and "method" in message
            if waits:
                answers[message["id"]] = queue.SimpleQueue()
            assert process.stdin is not None
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
            if waits:
                self.reply(200, json.dumps(answers[message["id"]].get(timeout=60)).encode())
            else:
                self.reply(202)

        def do_GET(self) -> None:
            self.reply(405)

        do_DELETE = do_GET

    threading.Thread(target=listen, daemon=True).start()
    try:
        with _served(Bridge) as here:
            yield here
    finally:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.close()
        process.wait(30)
        process.stdout.close()
