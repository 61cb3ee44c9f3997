"""Who may see the pages, and whose decisions count: one browser, opened by the person who started the server.

The link that `holdfast web` prints works once. It gives the browser a cookie; every other request without it is
refused. A page of another site can reach loopback too: its requests carry its own Origin, a rebound name its own Host,
and neither carries the cookie, which browsers send from our own pages only. Each is compared exactly.

A click is no proof of a person, because agents can click. What is approved counts as a person's only after the code
from the terminal was typed into the page, and only if no agent runs that terminal (`security.person`).
"""

import hashlib
import hmac
import os
import secrets
from collections.abc import Callable
from urllib.parse import parse_qs, parse_qsl, unquote_to_bytes

from holdfast.interfaces.loopback_server import (
    HOST,
    OWN_PAGE,
    App,
    Message,
    Receive,
    Send,
    Strangers,
    by_name,
    in_time,
    peer_user,
)

OPEN = "/open"
MAX_BODY = 1 << 20  # bytes: the longest text that is kept, and its form around it
MAX_FIELDS = 2_000  # ids of a bulk decision; a page shows far fewer
MAX_WRONG, MAX_CODES = 5, 3  # typed wrong before the terminal shows another code, and codes: 15 guesses of 10**8
TOKEN = "token"  # the form's field that proves it was one of ours
_POLICY = "; ".join((
    "default-src 'none'", "style-src 'self'", "script-src 'self'", "img-src 'self' data:", "connect-src 'self'",
    "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
))  # fmt: skip
HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # with no referrer at all, browsers would call the Origin of our forms "null"
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",  # nothing of a project stays in the browser
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


class BrowserAccess:
    """The one browser session of a server: its link, its cookie, its forms, and whether a person sits there."""

    def __init__(self, port: int, *, no_person: str | None, say: Callable[[str], None]) -> None:
        """`no_person`: why the terminal of the server is no person's. `say` prints there."""
        self.host = f"{HOST}:{port}"
        self.origin = f"http://{self.host}"
        self.cookie_name = f"holdfast-{port}"  # cookies are shared among the ports of a host
        self.typed = False  # whether the code was typed
        self.flash: list[str] = []  # what the next page says about the last decision
        self.complaint = ""  # what the next page says was not taken
        self._doubt, self._say = no_person, say
        self._link: str | None = secrets.token_urlsafe(32)
        self._cookie = secrets.token_urlsafe(32)
        self._key = secrets.token_bytes(32)
        self._wrong, self._codes, self.code = 0, 0, _new_code()

    @property
    def link(self) -> str:
        """The address that opens the page, once."""
        return f"{self.origin}{OPEN}?key={self._link}"

    @property
    def no_person(self) -> str | None:
        """Why a decision made now does not count as a person's; None if it does."""
        if self._doubt is not None:
            return self._doubt
        if not self.typed and not self.can_type:
            return "too many wrong codes were typed; start `holdfast web` again"
        return None if self.typed else "the code from the terminal was not typed into this browser"

    @property
    def can_type(self) -> bool:
        """Whether the code would make decisions count as a person's."""
        return self._doubt is None and not self.typed and self._codes < MAX_CODES

    def type_code(self, code: str) -> bool:
        """Takes a typed code; after some wrong ones the terminal shows another."""
        given = "".join(sign for sign in code if sign.isdigit())
        if not self.can_type:
            return False
        if hmac.compare_digest(given.encode(), self.code.replace("-", "").encode()):
            self.typed = True
            return True
        self._wrong += 1
        if self._wrong >= MAX_WRONG:
            self._wrong, self.code, self._codes = 0, _new_code(), self._codes + 1
            after = f"The code is now {self.code}" if self._codes < MAX_CODES else "No code is taken any more."
            self._say(f"{MAX_WRONG} wrong codes were typed. {after}")
        return False

    def take_flash(self) -> list[str]:
        """What is to be said once."""
        said, self.flash = self.flash, []
        return said

    def take_complaint(self) -> str:
        """Why something was not taken, to be said once."""
        said, self.complaint = self.complaint, ""
        return said

    def token(self, path: str) -> str:
        """What the form that posts to a path must carry."""
        return hmac.new(self._key, path.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()

    def opens(self, query: bytes) -> bool:
        """Whether a query holds the key of the link; the key is used up then."""
        try:
            given = parse_qs(query.decode("ascii", "replace"), max_num_fields=4).get("key", [""])[0]
        except ValueError:
            return False
        if self._link is None or not hmac.compare_digest(given.encode(), self._link.encode()):
            return False
        self._link = None
        return True

    def set_cookie(self) -> str:
        """The header that gives the browser its cookie; it ends with the browser's session."""
        return f"{self.cookie_name}={self._cookie}; HttpOnly; SameSite=Strict; Path=/"

    def knows(self, given: dict[bytes, list[bytes]]) -> bool:
        """Whether a request carries the cookie."""
        pairs = (pair.strip().partition(b"=") for line in given.get(b"cookie", ()) for pair in line.split(b";"))
        mine = [value for name, _, value in pairs if name == self.cookie_name.encode()]
        return any(hmac.compare_digest(value, self._cookie.encode()) for value in mine)  # other programs' are no matter

    def refused(self, method: str, given: dict[bytes, list[bytes]]) -> tuple[int, str] | None:
        """The status and the sentence for a request that another site could have made; None for one of ours."""
        if given.get(b"host") != [self.host.encode()]:
            return 421, "This server answers to its own address only."
        if not set(OWN_PAGE).issuperset(given.get(b"sec-fetch-site", [])):
            return 403, "No other site may ask this server."
        origins = given.get(b"origin", [])
        if method in ("GET", "HEAD"):
            return None if origins in ([], [self.origin.encode()]) else (403, "No other site may ask this server.")
        if method != "POST":
            return 405, "This server knows GET, HEAD and POST."
        if origins != [self.origin.encode()]:
            return 403, "A form must be sent from a page of this server."
        types = [one.partition(b";")[0].strip().lower() for one in given.get(b"content-type", [])]
        return None if types == [b"application/x-www-form-urlencoded"] else (415, "A form is expected.")


def _new_code() -> str:
    number = f"{secrets.randbelow(10**8):08}"
    return f"{number[:4]}-{number[4:]}"


class BrowserGuard:
    """An ASGI application in front of the pages; what is refused never reaches them."""

    def __init__(self, app: App, access: BrowserAccess, strangers: Strangers) -> None:
        self._app, self._access, self._strangers = app, access, strangers

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        # Names of files may hold bytes that are no UTF-8: the server has replaced them, and keeps its own way to log.
        scope = {**scope, "path": unquote_to_bytes(scope["raw_path"]).decode("utf-8", "surrogateescape")}
        access, given = self._access, by_name(scope["headers"])
        if (refused := access.refused(scope["method"], given)) is not None:
            await answer(send, *refused)
        elif is_another_users(scope.get("client")):
            await answer(send, 403, "This page belongs to another user of this machine.")
        elif scope["path"] == OPEN:
            await self._open(scope, send)
        elif not access.knows(given):
            await answer(send, 403, "This page belongs to the browser that was opened by `holdfast web`.", _AGAIN)
        else:
            self._strangers.admit(scope.get("client"))
            await self._let_in(scope, in_time(receive), send)

    async def _open(self, scope: Message, send: Send) -> None:
        if scope["method"] != "GET" or not self._access.opens(scope["query_string"]):
            await answer(send, 403, "This link was used already, or is not the one that was printed.", _AGAIN)
            return
        self._strangers.admit(scope.get("client"))
        # A page and no redirect: after a redirect from elsewhere a browser would keep a strict cookie back.
        more = [(b"set-cookie", self._access.set_cookie().encode()), (b"refresh", b"0;url=/")]
        await answer(send, 200, "Holdfast opens.", "If it does not: <a href='/'>open it</a>.", more)

    async def _let_in(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["method"] == "POST":
            body = await _body(receive)
            form = None if body is None else _fields(body)
            if form is None:
                await answer(send, 413, f"A form holds at most {MAX_BODY >> 20} MiB and {MAX_FIELDS:,} fields.")
                return
            tokens = [value for name, value in form if name == TOKEN]
            wanted = self._access.token(scope["path"])
            if len(tokens) != 1 or not hmac.compare_digest(tokens[0].encode("utf-8", "replace"), wanted.encode()):
                await answer(send, 403, "This form is not of this server, or of an earlier start.", "Reload the page.")
                return
            scope.setdefault("state", {})["form"] = form
        await self._app(scope, receive, _with_headers(send))


def is_another_users(client: tuple[str, int] | None) -> bool:
    """Whether another user's process asks, where the system tells; root may do anything anyway."""
    found = peer_user(client[1]) if client else None
    return found not in (None, 0, os.getuid())


_AGAIN = "Stop `holdfast web` with Ctrl-C and start it again for a new link."


async def _body(receive: Receive) -> bytes | None:
    """A request's body; None if it is too large or its client left."""
    found = b""
    while True:
        message = await receive()
        found += bytes(message.get("body", b""))
        if message["type"] == "http.disconnect" or len(found) > MAX_BODY:
            return None
        if not message.get("more_body", False):
            return found


def _fields(body: bytes) -> list[tuple[str, str]] | None:
    try:
        return parse_qsl(
            body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=MAX_FIELDS, errors="replace"
        )
    except ValueError:
        return None


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            named = {name.lower() for name, _ in message["headers"]}
            more = [(name.encode(), value.encode()) for name, value in HEADERS.items() if name.encode() not in named]
            message["headers"] = [*message["headers"], *more]
        await send(message)

    return sent


async def answer(
    send: Send, status: int, sentence: str, next_step: str = "", headers: list[tuple[bytes, bytes]] | None = None
) -> None:
    """A small page of our own words, for whoever is not let in."""
    body = (
        "<!doctype html><html lang='en'><meta charset='utf-8'><title>Holdfast</title><link rel='icon' href='data:,'>"
        f"<body><p>{sentence}</p><p>{next_step}</p></body></html>"
    ).encode()
    own = [(b"content-type", b"text/html; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    start = {"type": "http.response.start", "status": status, "headers": [*own, *(headers or [])]}
    sent = _with_headers(send)
    await sent(start)
    await sent({"type": "http.response.body", "body": body})
