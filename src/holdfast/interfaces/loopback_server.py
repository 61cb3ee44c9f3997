"""Servers on this machine's loopback: their socket, their connections, and how they run.

Every peer is this machine, so a secret distinguishes connections: until one has shown it, it has a short time and a
place among few, and is dropped for a newer one; after that it is never dropped for another.

uvicorn is imported when a server runs.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any

from holdfast.errors import BadInput

if TYPE_CHECKING:
    import uvicorn

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

HOST = "127.0.0.1"
STRANGERS = 64  # connections that have not shown the secret; a client shows it with its first request
PATIENCE = 10.0  # seconds until they must have; a local client needs milliseconds
BODY_PATIENCE = 30.0  # seconds for the body of a request, 1 MiB at most and from this machine
_CONNECTIONS = 128 + STRANGERS
_ESTABLISHED = "01"  # a state of a connection, in Linux's table
OWN_PAGE = (b"same-origin", b"none")  # what a browser says of a request that no other page made


class Strangers:
    """Connections that have not shown the secret yet, oldest first."""

    def __init__(self, *, most: int = STRANGERS, patience: float = PATIENCE) -> None:
        self._most, self._patience = most, patience
        self._waiting: dict[object, asyncio.Transport] = {}

    def enter(self, transport: asyncio.Transport) -> None:
        """Take a new connection in; the oldest makes room where there are too many."""
        peer = transport.get_extra_info("peername")
        self._waiting[peer] = transport
        if len(self._waiting) > self._most:
            self._drop(next(iter(self._waiting)), None)
        asyncio.get_running_loop().call_later(self._patience, self._drop, peer, transport)

    def admit(self, peer: object) -> None:
        """A connection has shown the secret: its time and its place are its own now."""
        self._waiting.pop(peer, None)

    def leave(self, transport: asyncio.Transport) -> None:
        """A connection is over."""
        peer = transport.get_extra_info("peername")
        if self._waiting.get(peer) is transport:
            del self._waiting[peer]

    def _drop(self, peer: object, transport: asyncio.Transport | None) -> None:
        """End a connection that is still a stranger; with `transport`, only if it is still that one."""
        found = self._waiting.get(peer)
        if found is not None and transport in (None, found):
            del self._waiting[peer]
            found.abort()


def in_time(receive: Receive, *, patience: float = BODY_PATIENCE) -> Receive:
    """What gives a request's messages; a body that is not whole in time ends as if the client had left."""
    until = asyncio.get_running_loop().time() + patience
    whole = False

    async def timed() -> Message:
        nonlocal whole
        if whole:
            return await receive()
        try:
            async with asyncio.timeout_at(until):
                message = await receive()
        except TimeoutError:
            whole = True
            return {"type": "http.disconnect"}
        whole = not message.get("more_body", False)
        return message

    return timed


def peer_user(port: int) -> int | None:
    """The user whose process holds a local port, as Linux tells it; None where that cannot be known."""
    try:
        with open("/proc/net/tcp", encoding="ascii") as table:
            rows = [row.split() for row in table.read().splitlines()[1:]]
    except (OSError, UnicodeDecodeError):
        return None
    wanted = f"0100007F:{port:04X}"  # 127.0.0.1 in the order of its bytes in memory
    return next((int(row[7]) for row in rows if len(row) > 7 and row[1] == wanted and row[3] == _ESTABLISHED), None)


def by_name(headers: list[tuple[bytes, bytes]]) -> dict[bytes, list[bytes]]:
    """A request's headers: each name in small letters, with all of its values."""
    given: dict[bytes, list[bytes]] = {}
    for name, value in headers:
        given.setdefault(name.lower(), []).append(value)
    return given


def listen(port: int) -> socket.socket:
    """A socket on loopback; BadInput if somebody else has that port."""
    own = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        own.bind((HOST, port))
        own.listen()
    except OSError as error:
        own.close()
        raise BadInput(f"port {port} cannot be used: {error.strerror}", hint="Name another one with --port.") from None
    return own


def run(own: socket.socket, app: App, strangers: Strangers) -> None:
    """Answer until somebody ends it."""
    server(app, strangers).run(sockets=[own])


def server(app: App, strangers: Strangers) -> "uvicorn.Server":
    """What answers once it runs."""
    import uvicorn

    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        http="h11",  # which bounds the head of a request; httptools takes a line of any length
        ws="none",
        proxy_headers=False,  # a request's client is its connection, whatever its headers say
        limit_concurrency=_CONNECTIONS,
        timeout_graceful_shutdown=2,
    )
    config.load()
    config.http_protocol_class = _watched(config.http_protocol_class, strangers)
    return uvicorn.Server(config)


def _watched(protocol: Any, strangers: Strangers) -> Any:
    """A protocol of uvicorn's whose connections are known from their first moment to their last."""

    class Watched(protocol):  # type: ignore[misc]
        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            strangers.enter(transport)
            self.connection = transport

        def connection_lost(self, exc: Exception | None) -> None:
            strangers.leave(self.connection)
            super().connection_lost(exc)

    return Watched
