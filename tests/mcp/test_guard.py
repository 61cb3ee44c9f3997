"""The guard before HTTP: rebinding, foreign pages and guessed tokens, one by one."""

import asyncio
import os
from pathlib import Path

import pytest

from holdfast.errors import BadInput, UnsafePath
from holdfast.interfaces.loopback_server import App, Message, Receive, Send
from holdfast.interfaces.mcp import http_guard
from holdfast.interfaces.mcp.http_guard import HttpGuard
from tests.conftest import Cli

TOKEN, PORT = "a-token-that-is-long-enough", 7717


async def nothing(scope: Message, receive: Receive, send: Send) -> None:
    raise AssertionError("a refused request came through")


GUARD = HttpGuard(nothing, token=TOKEN, port=PORT)
GOOD = (("host", f"127.0.0.1:{PORT}"), ("authorization", f"Bearer {TOKEN}"), ("content-type", "application/json"))


def status(*headers: tuple[str, str], method: str = "POST", without: str = "") -> int | None:
    """What becomes of a request with these headers in the place of the good ones; None: let through."""
    names = {name for name, _ in headers} | {without}
    sent = [*(one for one in GOOD if one[0] not in names), *headers]
    refused = GUARD.refused(method, [(name.encode(), value.encode("latin-1")) for name, value in sent])
    return refused[0] if refused else None


REBOUND = (
    "evil.example",
    f"evil.example:{PORT}",
    f"127.0.0.1.evil.example:{PORT}",
    f"localhost.evil.example:{PORT}",
    f"evil.example:{PORT}@127.0.0.1:{PORT}",
    f"127.0.0.1:{PORT}.evil.example",
    f"127.0.0.1:{PORT}0",
    "127.0.0.1",
    "127.0.0.1:80",
    "localhost",
    f"LOCALHOST:{PORT}",
    f"0.0.0.0:{PORT}",
    f"127.0.0.2:{PORT}",
    f"[::1]:{PORT}",
    f" 127.0.0.1:{PORT}",
    f"127.0.0.1:{PORT},evil.example",
    "",
    "*",
)
FOREIGN = (
    "null",
    "http://evil.example",
    "https://evil.example",
    f"https://127.0.0.1:{PORT}",
    f"http://127.0.0.1:{PORT}.evil.example",
    f"http://127.0.0.1:{PORT}/",
    f"http://127.0.0.1:{PORT + 1}",
    "http://127.0.0.1",
    "http://localhost",
    f"http://localhost.evil.example:{PORT}",
    f"http://evil.example#http://localhost:{PORT}",
    f"HTTP://localhost:{PORT}",
    "file://",
    "chrome-extension://abcdefghijklmnop",
    "*",
    "",
)
GUESSED = (
    "",
    "Bearer",
    "Bearer ",
    f"Bearer {TOKEN[:-1]}",
    f"Bearer {TOKEN}x",
    f"Bearer  {TOKEN} x",
    f"Bearer {TOKEN.upper()}",
    TOKEN,
    f"Basic {TOKEN}",
    f"Token {TOKEN}",
    f"Bearer {TOKEN}\xff",
    "Bearer \xe9",
)


def test_only_the_exact_host_origin_and_token_are_let_through() -> None:
    """Memory of every project on this machine would be one web page away (law 13)."""
    assert status() is None
    assert status(("host", f"localhost:{PORT}"), ("origin", f"http://localhost:{PORT}")) is None
    assert status(("authorization", f"bearer {TOKEN}")) is None
    assert {host: status(("host", host)) for host in REBOUND} == dict.fromkeys(REBOUND, 421)
    assert {origin: status(("origin", origin)) for origin in FOREIGN} == dict.fromkeys(FOREIGN, 403)
    assert {said: status(("authorization", said)) for said in GUESSED} == dict.fromkeys(GUESSED, 401)


def test_a_header_that_is_missing_or_stands_twice_is_refused() -> None:
    """Two readers of one request may each believe another header."""
    twice = ("host", GOOD[0][1])
    assert status(twice, twice) == 421 and status(without="host") == 421
    assert status(("origin", f"http://localhost:{PORT}"), ("origin", "http://evil.example")) == 403
    assert status(GOOD[1], GOOD[1]) == 401 and status(without="authorization") == 401
    for method in ("GET", "DELETE", "OPTIONS", "HEAD", "TRACE"):
        assert status(without="authorization", method=method) == 401
        assert status(("host", "evil.example"), method=method) == 421


def test_what_a_page_may_send_without_asking_is_refused() -> None:
    """A form or a plain-text fetch needs no preflight: the browser just sends it."""
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "application/jsonp"):
        assert status(("content-type", kind)) == 415
    assert status(without="content-type") == 415
    assert status(("content-type", "Application/JSON; charset=utf-8")) is None
    for site in ("cross-site", "same-site"):
        assert status(("sec-fetch-site", site)) == 403
    assert status(("sec-fetch-site", "none")) is None


def test_a_refused_request_is_answered_without_the_server() -> None:
    """Nothing of the project may be loaded for a stranger."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        raise AssertionError("a stranger's body was read")

    async def run() -> None:
        app: App = GUARD
        await app({"type": "http", "method": "POST", "headers": []}, receive, send)
        await app({"type": "websocket", "headers": []}, receive, send)

    asyncio.run(run())
    assert [message.get("status", message.get("code")) for message in sent] == [421, None, 1008]


def test_a_token_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    """Another user of this machine must not read it."""
    file = tmp_path / "token"
    made, known = http_guard.chosen(str(file), None)
    assert known and len(made) >= 43 and file.stat().st_mode & 0o777 == 0o600
    assert http_guard.chosen(str(file), "x" * 20) == (made, True)
    file.chmod(0o640)
    with pytest.raises(UnsafePath):
        http_guard.chosen(str(file), None)
    file.chmod(0o600)
    file.write_text("short\n")
    with pytest.raises(BadInput):
        http_guard.chosen(str(file), None)
    assert http_guard.chosen(None, "x" * 20) == ("x" * 20, True)
    fresh = [http_guard.chosen(None, None) for _ in range(2)]
    assert fresh[0] != fresh[1] and not fresh[0][1]
    with pytest.raises(BadInput):
        http_guard.chosen(None, "has a space in it, and more")


def test_without_the_extra_a_sentence_says_what_to_install(cli: Cli, tmp_path: Path) -> None:
    """A traceback tells nobody that one word is missing from an install."""
    (tmp_path / "mcp.py").write_text("raise ImportError('no SDK')\n")
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    answer = cli.spawn("mcp", "--http", "--port", "0", ok=False, PYTHONPATH=path)
    assert answer.code == BadInput.code and ".[mcp]" in answer.err and "Traceback" not in answer.err
