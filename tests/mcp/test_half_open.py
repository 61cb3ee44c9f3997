"""Connections that never finish a request do not keep a client out that holds the token (law 13)."""

import asyncio
import os
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest

from holdfast.interfaces import loopback_server
from holdfast.interfaces.loopback_server import Message, Strangers, in_time
from tests.conftest import Cli, GitRepo, init

from .talking import over_http

MANY = 400
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
}


@pytest.fixture
def server(repo: GitRepo, cli: Cli, tmp_path: Path) -> Iterator[tuple[int, str, int]]:
    """A server over HTTP: its port, its token, its process."""
    init(cli.cwd)
    with over_http(repo, tmp_path / "err") as (address, token, pid):
        yield int(address.rpartition(":")[2].partition("/")[0]), token, pid


def sent(way: str, port: int) -> bytes:
    """What a connection of this kind says before it falls silent."""
    head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
    return {
        "no byte": b"",
        "half a header": head.encode(),
        "one byte at a time": b"P",
        "no body": f"{head}Content-Length: 100\r\n\r\n".encode(),
    }[way]


WAYS = ("no byte", "half a header", "one byte at a time", "no body")


def test_half_open_connections_keep_no_client_out(server: tuple[int, str, int]) -> None:
    """Any program on the machine, and any page, can open connections; only the token may count."""
    port, token, pid = server
    good = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
    with httpx2.Client(timeout=20) as kept:  # a client that was there before
        assert kept.post(f"http://127.0.0.1:{port}/mcp", headers=good, json=HELLO).status_code == 200
        before = counted(pid)
        held = []
        try:
            for number in range(MANY):
                held.append(socket.create_connection(("127.0.0.1", port), timeout=5))
                held[-1].sendall(sent(WAYS[number % len(WAYS)], port))
            for number, one in enumerate(held):  # those that drip go on
                if WAYS[number % len(WAYS)] == "one byte at a time":
                    try:
                        one.sendall(b"O")
                    except OSError:  # dropped
                        continue
            began = time.monotonic()
            with httpx2.Client(timeout=20) as web:  # one that comes now
                answer = web.post(f"http://127.0.0.1:{port}/mcp", headers=good, json=HELLO)
            assert answer.status_code == 200
            assert kept.post(f"http://127.0.0.1:{port}/mcp", headers=good, json=HELLO).status_code == 200
            assert time.monotonic() - began < 10  # two answers of some milliseconds, on a busy machine
            files, threads = counted(pid)
            assert files - before[0] <= loopback_server.STRANGERS + 8
            assert threads - before[1] <= 2
        finally:
            for one in held:
                one.close()


def counted(pid: int) -> tuple[int, int]:
    """The open files and the threads of a process."""
    return len(os.listdir(f"/proc/{pid}/fd")), len(os.listdir(f"/proc/{pid}/task"))


class Wire(asyncio.Transport):
    """A connection that only knows whether it was ended."""

    def __init__(self, peer: int) -> None:
        super().__init__({"peername": ("127.0.0.1", peer)})
        self.ended = False

    def abort(self) -> None:
        self.ended = True


def test_the_oldest_stranger_goes_first_and_nobody_who_showed_the_token() -> None:
    """Who holds the token must not lose the connection to one who does not."""

    async def run() -> None:
        strangers = Strangers(most=3, patience=0.05)
        wires = [Wire(peer) for peer in range(6)]
        strangers.enter(wires[0])
        strangers.admit(("127.0.0.1", 0))
        for wire in wires[1:5]:
            strangers.enter(wire)
        assert [wire.ended for wire in wires] == [False, True, False, False, False, False]
        strangers.leave(wires[2])
        again = Wire(2)  # the same port, another connection: its time begins anew
        await asyncio.sleep(0.03)
        strangers.enter(again)
        while not wires[3].ended:
            await asyncio.sleep(0.001)
        assert wires[4].ended
        assert not (wires[0].ended or wires[2].ended or again.ended)
        while not again.ended:
            await asyncio.sleep(0.001)

    asyncio.run(asyncio.wait_for(run(), 20))


def test_a_body_has_a_deadline_and_a_stream_has_none() -> None:
    """A request that never ends must not hold its place; an answer that is streamed may take hours."""

    async def messages(*found: Message) -> Callable[[], object]:
        queue: asyncio.Queue[Message] = asyncio.Queue()
        for one in found:
            queue.put_nowait(one)
        return queue.get

    async def run() -> list[str]:
        part = {"type": "http.request", "body": b"x", "more_body": True}
        slow = in_time(await messages(part), patience=0.02)  # type: ignore[arg-type]
        assert (await slow())["type"] == "http.request"
        assert (await slow())["type"] == "http.disconnect"
        whole = in_time(await messages({"type": "http.request", "body": b""}), patience=0.02)  # type: ignore[arg-type]
        assert (await whole())["type"] == "http.request"
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(whole(), 0.1)  # waits on, long past the deadline of the body
        return []

    asyncio.run(asyncio.wait_for(run(), 20))
