"""The command that serves agents: mcp."""

from __future__ import annotations

import os
from importlib import import_module

import click

from holdfast.errors import BadInput
from holdfast.interfaces.cli.invocation import Invocation, command
from holdfast.interfaces.cli.output import flush, show_made
from holdfast.interfaces.cli.root import root

PORT = 7717  # free in IANA's list, without a meaning


@command(root, "mcp")
@click.option("--http", is_flag=True, help="Serve HTTP on loopback instead; needs the extra `mcp`.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="For --http; 0 chooses a free one."
)
@click.option("--token-file", metavar="FILE", help="For --http: the file with the token; created if missing.")
def mcp(place: Invocation, http: bool, port: int, token_file: str | None) -> int:
    """Serve this project's memory to an agent over MCP.

    Uses stdin and stdout, as clients start it. With --http it serves 127.0.0.1 and needs a token: from the
    file, from HOLDFAST_MCP_TOKEN, or a new one that it prints.
    """
    if not http:
        from holdfast.interfaces.mcp.stdio_server import serve

        return serve(place.folder, roots=place.folder == ".")
    _over_http(place, port, token_file)
    return 0


def _over_http(place: Invocation, port: int, token_file: str | None) -> None:
    from holdfast.interfaces import loopback_server
    from holdfast.interfaces.mcp import http_guard, http_server

    try:
        import_module("holdfast.interfaces.mcp.http_server")
    except ImportError as error:
        raise BadInput(
            f"--http needs the MCP SDK, and it is not there ({error})",
            hint="Install again from Holdfast's own folder, with '.[mcp]' in place of '.'",
        ) from None
    secret, known = http_guard.chosen(token_file, os.environ.get(http_guard.VARIABLE))
    own = loopback_server.listen(port)
    url = f"http://{loopback_server.HOST}:{own.getsockname()[1]}{http_server.PATH}"
    bearer = [] if known else [f"Authorization: Bearer {secret}"]
    words = "\n".join([f"Listening on {url}", *bearer, "Ctrl-C ends it."])
    show_made({"url": url} if known else {"url": url, "token": secret}, words)
    flush()
    http_server.serve(own, folder=place.folder, token=secret)
