"""`holdfast mcp --http`: the same tools over HTTP, by the official SDK (the extra `mcp`), on loopback alone.

The SDK speaks the protocol; `guard` stands before it and decides who is heard, and which connections may
stay; `calls` does the work, one call at a time in a thread.
"""

from __future__ import annotations

import socket
import threading
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError

from holdfast import __version__
from holdfast.interfaces import loopback_server
from holdfast.interfaces.loopback_server import App, Strangers
from holdfast.interfaces.mcp import client_project, protocol, tool_calls, tool_table
from holdfast.interfaces.mcp.http_guard import NAMES, HttpGuard
from mcp import types

PATH = "/mcp"
_IDLE, _SESSIONS = 3600.0, 64
Context = ServerRequestContext[Any, Any]


def serve(own: socket.socket, *, folder: str, token: str) -> None:
    """Answer until somebody ends it."""
    strangers = Strangers()
    app = application(folder, token=token, port=own.getsockname()[1], strangers=strangers)
    loopback_server.run(own, app, strangers)


def application(folder: str, *, token: str, port: int, strangers: Strangers | None = None) -> App:
    """The whole as an ASGI application."""
    exact = TransportSecuritySettings(  # a second lock on the same door
        enable_dns_rebinding_protection=True,
        allowed_hosts=[f"{name}:{port}" for name in NAMES],
        allowed_origins=[f"http://{name}:{port}" for name in NAMES],
    )
    inner: Any = _server(folder).streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=protocol.MAX_LINE,
        session_idle_timeout=_IDLE,
        max_sessions=_SESSIONS,
        transport_security=exact,
    )
    return HttpGuard(inner, token=token, port=port, strangers=strangers)


def _server(folder: str) -> Server[Any]:
    """The SDK's server with our tools and resources."""
    asked = _Calls(folder)
    templates = types.ListResourceTemplatesResult.model_validate({"resourceTemplates": list(tool_table.TEMPLATES)})

    async def tools(ctx: Context, params: Any) -> types.ListToolsResult:  # noqa: ARG001
        return types.ListToolsResult.model_validate({"tools": tool_table.tools(_version(ctx))})

    async def call(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        given = {"name": params.name, "arguments": params.arguments}
        return types.CallToolResult.model_validate(await asked("tools/call", given, ctx))

    async def resources(ctx: Context, params: Any) -> types.ListResourcesResult:
        given = {"cursor": params.cursor if params is not None else None}
        return types.ListResourcesResult.model_validate(await asked("resources/list", given, ctx))

    async def read(ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        given = {"uri": str(params.uri)}
        return types.ReadResourceResult.model_validate(await asked("resources/read", given, ctx))

    async def templated(ctx: Context, params: Any) -> types.ListResourceTemplatesResult:  # noqa: ARG001
        return templates

    return Server(
        "holdfast",
        version=__version__,
        title="Holdfast",
        instructions=tool_table.INSTRUCTIONS,
        on_list_tools=tools,
        on_call_tool=call,
        on_list_resources=resources,
        on_read_resource=read,
        on_list_resource_templates=templated,
    )


def _version(ctx: Context) -> str:
    """The protocol version that a client speaks, as far as our table tells them apart."""
    return min(ctx.protocol_version, protocol.NEWEST)


class _Calls:
    """Calls done in a thread, one at a time, with the client told how far they are."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._one: anyio.CapacityLimiter | None = None

    async def __call__(self, method: str, params: dict[str, Any], ctx: Context) -> dict[str, Any]:
        self._one = self._one or anyio.CapacityLimiter(1)
        over = threading.Event()

        def tell(done: float, total: float | None, said: str) -> None:
            anyio.from_thread.run(ctx.session.report_progress, done, total, said)

        about = ctx.session.client_params
        asking = client_project.McpClient(
            folders=[self._folder],
            client=about.client_info.name if about is not None else "",
            version=_version(ctx),
            is_cancelled=over.is_set,
            progress=client_project.ProgressReport(tell),
        )
        try:
            return await anyio.to_thread.run_sync(
                tool_calls.answer, method, params, asking, limiter=self._one, abandon_on_cancel=True
            )
        except protocol.Refused as refused:
            raise MCPError(refused.code, str(refused), refused.data) from None
        finally:
            over.set()  # also where the client gave up: the thread stops at the next place where it looks
