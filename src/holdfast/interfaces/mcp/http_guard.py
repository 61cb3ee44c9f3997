"""Who may talk to the server over HTTP: whoever runs on this machine and holds the token, and no web page.

A page in the user's browser can reach loopback, too. Its requests carry its own Origin; one whose name was
rebound to 127.0.0.1 carries its own Host; and neither knows the token. Each is compared exactly: what
merely begins like ours is not ours. No answer carries a CORS header, so no page can read one.

The token that HTTP needs: given by the user, else made at each start; never readable by others.
"""

import contextlib
import hmac
import os
import secrets
import stat

from holdfast.errors import BadInput, UnsafePath
from holdfast.interfaces.loopback_server import OWN_PAGE, App, Message, Receive, Send, Strangers, by_name, in_time
from holdfast.patterns import regex
from holdfast.store import fsio

NAMES = ("127.0.0.1", "localhost")


class HttpGuard:
    """An ASGI application in front of another; what is refused never reaches that one."""

    def __init__(self, app: App, *, token: str, port: int, strangers: Strangers | None = None) -> None:
        self._app, self._token = app, f"bearer {token}".encode()
        self._strangers = strangers or Strangers()
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
            self._strangers.admit(scope.get("client"))
            await self._app(scope, in_time(receive), send)

    def refused(self, method: str, headers: list[tuple[bytes, bytes]]) -> tuple[int, str] | None:
        """The status and the sentence for a request that is not let through; None if it is."""
        given = by_name(headers)
        hosts, origins = given.get(b"host", []), given.get(b"origin", [])
        if len(hosts) != 1 or hosts[0] not in self.hosts:
            return 421, "this server answers to its own address only"
        if len(origins) > 1 or not self.origins.issuperset(origins):
            return 403, "no other site may ask this server"
        if not set(OWN_PAGE).issuperset(given.get(b"sec-fetch-site", [])):
            return 403, "no other site may ask this server"
        # Compared in a time that tells nothing about the token.
        shown = given.get(b"authorization", [])
        scheme, _, token = shown[0].partition(b" ") if len(shown) == 1 else (b"", b"", b"")
        if not hmac.compare_digest(scheme.lower() + b" " + token.strip(), self._token):
            return 401, "the bearer token that was printed at the start is needed"
        # A form or plain text needs no leave from a browser, and is none of ours.
        types = [one.partition(b";")[0].strip().lower() for one in given.get(b"content-type", [])]
        if method == "POST" and types != [b"application/json"]:
            return 415, "a message is application/json"
        return None


async def _answer(send: Send, status: int, sentence: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"x-content-type-options", b"nosniff")]
    if status == 401:
        headers.append((b"www-authenticate", b'Bearer realm="holdfast"'))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": f"{sentence}\n".encode()})


VARIABLE = "HOLDFAST_MCP_TOKEN"
_FORM = regex(r"[A-Za-z0-9._~+/=-]{16,512}")  # what may stand behind `Bearer`
_MOST = 1024  # bytes; a token has 43 characters


def chosen(file: str | None, variable: str | None) -> tuple[str, bool]:
    """The token, and whether the user knows it already: from the file, else the variable, else a new one."""
    if file is not None:
        return _of_file(os.path.abspath(file)), True
    if variable:
        return _checked(variable.strip(), VARIABLE), True
    return secrets.token_urlsafe(32), False


def _of_file(path: str) -> str:
    """What a file holds; one that is not there is made, for its owner alone."""
    with contextlib.suppress(FileNotFoundError):
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
            raise UnsafePath(f"{path} is not a file that only you can read", hint="Give it to you alone: chmod 600.")
        text = fsio.read(path, limit=_MOST).decode("utf-8", "replace")
        return _checked(text.strip(), path)
    token = secrets.token_urlsafe(32)
    fsio.replace(path, f"{token}\n".encode(), mode=0o600)
    return token


def _checked(token: str, where: str) -> str:
    if not _FORM.fullmatch(token):
        raise BadInput(
            f"what {where} holds is no token: it needs 16 to 512 letters, digits and -._~+/=",
            hint="Make one with: python3 -c 'import secrets; print(secrets.token_urlsafe(32))'",
        )
    return token
