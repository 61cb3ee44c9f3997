"""The official SDK's client talks to the real server, as a process and over HTTP."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from holdfast.errors import BadInput
from holdfast.interfaces import loopback_server
from holdfast.project import Project
from tests.conftest import GitRepo, init

from .talking import over_http


@pytest.fixture
def memory(repo: GitRepo) -> GitRepo:
    """A repository that knows one thing and has one task."""
    init(repo.path)
    project = Project.open(repo.path, person=True)
    project.memory.remember("Tests need Postgres 16", evidence=["README"], id="FCT-pg16", accept=True)
    project.tasks.add("Upgrade Postgres", id="TSK-up")
    return repo


async def talk(client: Client) -> list[str]:
    """All that a client can ask for, once; gives what was told of progress."""
    told: list[str] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        told.append(message or "")

    assert client.server_info.name == "holdfast" and "recall" in (client.instructions or "")
    tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == ["recall", "open", "why", "context", "propose", "tasks"]
    assert [tool.name for tool in tools if (tool.meta or {}).get("anthropic/alwaysLoad")] == ["recall", "context"]
    found = await client.call_tool("recall", {"query": "postgres", "kind": "fact"}, progress_callback=progress)
    assert "FCT-pg16" in str(found.content)
    pack = await client.call_tool("context", {"for": "upgrade postgres"})
    assert "FCT-pg16" in str(pack.content)
    task = await client.call_tool("tasks", {"action": "claim", "id": "TSK-up"})
    assert "TSK-up is yours" in str(task.content)
    # The client holds structured content against the tool's own schema, and would raise.
    made = await client.call_tool(
        "propose", {"type": "fact", "statement": "CI runs Postgres 15", "evidence": ["README"]}
    )
    assert (made.structured_content or {})["status"] == "candidate"
    assert (await client.call_tool("tasks", {"action": "done", "id": "TSK-no"})).is_error
    listed = (await client.list_resources()).resources
    assert [str(one.uri) for one in listed] == ["holdfast://memory/FCT-pg16"]
    assert "Postgres 16" in str((await client.read_resource("holdfast://memory/FCT-pg16")).contents)
    assert len((await client.list_resource_templates()).resource_templates) == 2
    for wrong in (
        lambda: client.call_tool("nothing", {}),
        lambda: client.read_resource("holdfast://memory/no"),
        client.list_prompts,
    ):
        with pytest.raises(MCPError):
            await wrong()
    return told


def test_the_sdks_client_uses_everything_over_stdio(memory: GitRepo, tmp_path: Path) -> None:
    """Most clients are built on an official SDK; this one asks for a newer protocol first."""
    args = ["-m", "holdfast", "-C", str(memory.path), "mcp"]
    server = StdioServerParameters(command=sys.executable, args=args, cwd=tmp_path, env=dict(os.environ))

    async def run() -> list[str]:
        async with Client(server, read_timeout_seconds=60) as client:
            return await talk(client)

    assert anyio.run(run)
    [waiting] = Project.open(memory.path).memory.candidates()
    assert (waiting.memory.source or "").startswith("agent:")


@pytest.fixture
def http(memory: GitRepo, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """A server over HTTP: its address and its token."""
    with over_http(memory, tmp_path / "err") as (address, token, _):
        yield address, token
    assert (tmp_path / "err").read_text() == ""


def test_the_sdks_client_uses_everything_over_http_and_nobody_else_gets_in(http: tuple[str, str]) -> None:
    """No page and no other program on this machine may read or change memory (law 13)."""
    address, token = http
    host = address.removeprefix("http://").removesuffix("/mcp")

    async def run() -> list[str]:
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as carrier,
            Client(streamable_http_client(address, http_client=carrier), mode="legacy") as client,
        ):
            return await talk(client)

    assert anyio.run(run)
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
    }
    good = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
    with httpx2.Client(timeout=60) as web:

        def status(method: str = "POST", path: str = "/mcp", **headers: str) -> int:
            sent = {**good, **{name.replace("_", "-"): value for name, value in headers.items()}}
            answer = web.request(method, f"http://{host}{path}", headers=sent, json=hello)
            assert not [name for name in answer.headers if name.lower().startswith("access-control")]
            return answer.status_code

        assert status() == 200
        assert status(Host="evil.example") == 421
        assert status(Host=f"evil.example:{host.partition(':')[2]}") == 421
        assert status(Origin="https://evil.example") == 403
        assert status(Authorization="Bearer no") == 401
        assert status(Authorization="") == 401
        assert status("OPTIONS", Origin=f"http://{host}", Authorization="") == 401
        assert status(Content_Type="text/plain") == 415
        assert status(path="/other") == 404
        assert status("PUT") == 405
        huge = web.post(address, headers={**good, "Content-Type": "application/json"}, content=b" " * (1 << 21))
        assert huge.status_code == 413


def test_only_loopback_listens_and_a_port_in_use_is_said() -> None:
    """Whoever shares a network with the user is another host."""
    with loopback_server.listen(0) as own:
        host, port = own.getsockname()
        assert host == "127.0.0.1"
        with pytest.raises(BadInput) as caught:
            loopback_server.listen(port)
    assert "cannot be used" in str(caught.value)
