"""Who may talk to the server over HTTP: whoever runs on this machine and holds the token, and no web page.

A page in the user's browser can reach loopback, too. Its requests carry its own Origin; one whose name was
rebound to 127.0.0.1 carries its own Host; and neither knows the token. Each is compared exactly: what
merely begins like ours is not ours. No answer carries a CORS header, so no page can read one.
"""

import hmac
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

NAMES = ("127.0.0.1", "localhost")
_OWN_PAGE = (b"same-origin", b"none")  # what a browser says of a request that no other page made


class Guard:
    """An ASGI application in front of another; what is refused never reaches that one."""

    def __init__(self, app: App, *, token: str, port: int) -> None:
        self._app, self._token = app, f"bearer {token}".encode()
        self.hosts = frozenset(f"{name}:{port}".encode() for name in NAMES)
        self.origins = frozenset(b"http://" + host for host in self.hosts)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
        elif (refused := self.refused(scope["method"], scope["headers"])) is not None:
            await _answer(send, *refused)
        else:
            await self._app(scope, receive, send)

    def refused(self, method: str, headers: Sequence[tuple[bytes, bytes]]) -> tuple[int, str] | None:
        """The status and the sentence for a request that is not let through; None if it is."""
        given: dict[bytes, list[bytes]] = {}
        for name, value in headers:
            given.setdefault(name.lower(), []).append(value)
        hosts, origins = given.get(b"host", []), given.get(b"origin", [])
        if len(hosts) != 1 or hosts[0] not in self.hosts:
            return 421, "this server answers to its own address only"
        if len(origins) > 1 or not self.origins.issuperset(origins):
            return 403, "no other site may ask this server"
        if not set(_OWN_PAGE).issuperset(given.get(b"sec-fetch-site", [])):
            return 403, "no other site may ask this server"
        if not self._knows_token(given.get(b"authorization", [])):
            return 401, "the bearer token that was printed at the start is needed"
        if method == "POST" and not _is_json(given.get(b"content-type", [])):
            return 415, "a message is application/json"
        return None

    def _knows_token(self, given: Sequence[bytes]) -> bool:
        """Whether the token is right, compared in a time that tells nothing about it."""
        scheme, _, token = given[0].partition(b" ") if len(given) == 1 else (b"", b"", b"")
        return hmac.compare_digest(scheme.lower() + b" " + token.strip(), self._token)


def _is_json(given: Sequence[bytes]) -> bool:
    """Whether the body is JSON; a form or plain text needs no leave from a browser, and is none of ours."""
    return len(given) == 1 and given[0].partition(b";")[0].strip().lower() == b"application/json"


async def _answer(send: Send, status: int, sentence: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"x-content-type-options", b"nosniff")]
    if status == 401:
        headers.append((b"www-authenticate", b'Bearer realm="holdfast"'))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": f"{sentence}\n".encode()})
