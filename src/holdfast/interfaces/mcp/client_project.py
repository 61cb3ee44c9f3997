"""Who asks: the client, where its project may be, and how to tell it that something takes long.

Where the project may be that a client means: in its roots, or where the server was started.

The project that a client means, opened as it is at this moment.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from holdfast.errors import BadInput, HoldfastError, NotARepository, NotInitialised
from holdfast.interfaces.mcp.protocol import NEWEST
from holdfast.model.text import visible
from holdfast.values import dicts_of, frozen, list_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from holdfast.project import Project

_NAME = 60  # characters of a client's name
_PAUSE = 0.1  # seconds between two words about progress


class Cancelled(Exception):
    """Nobody waits for the answer any more."""


class ProgressReport:
    """Tells a client how far its call is: never less than before, and not too often."""

    def __init__(self, send: Callable[[float, float | None, str], None]) -> None:
        self._send, self._done, self._last = send, -1.0, 0.0

    def __call__(self, done: float, total: float | None, said: str) -> None:
        now = time.monotonic()
        if done > self._done and (now - self._last >= _PAUSE or not self._last):
            self._done, self._last = done, now
            self._send(done, total, said)


@frozen(kw_only=True)
class McpClient:
    """One call's surroundings."""

    folders: Sequence[str] = (".",)
    client: str = ""
    version: str = NEWEST
    is_cancelled: Callable[[], bool] = lambda: False
    progress: Callable[[float, float | None, str], None] = lambda *_: None

    def check(self) -> None:
        """Stop here if nobody waits any more."""
        if self.is_cancelled():
            raise Cancelled

    def step(self, done: float, total: float | None, said: str) -> None:
        """Stop here if nobody waits any more, else tell how far it is."""
        self.check()
        self.progress(done, total, said)

    @property
    def name(self) -> str:
        """The client's name on one line, with nothing hidden in it."""
        return visible(" ".join(self.client.split()))[:_NAME] or "an agent"


MAX_ROOTS = 16  # a guess: clients name one or two


def of_roots(roots: Any) -> list[str]:
    """The folders of this machine that a client's roots name."""
    uris = [root.get("uri") for root in dicts_of(list_of(roots)[:MAX_ROOTS])]
    return [path for uri in uris if isinstance(uri, str) and (path := _path(uri)) is not None]


def _path(uri: str) -> str | None:
    from urllib.parse import unquote, urlsplit

    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    path = unquote(parts.path, errors="surrogateescape")
    local = parts.scheme == "file" and parts.netloc in ("", "localhost")
    return path if local and os.path.isabs(path) and "\0" not in path else None


def ordered(folders: Sequence[str]) -> list[str]:
    """The folder we were started in comes first where it lies in a root: it says more."""
    *roots, own = folders
    here = os.path.realpath(own)
    inside = any(os.path.commonpath([here, os.path.realpath(root)]) == os.path.realpath(root) for root in roots)
    return [own, *roots] if inside else [*roots, own]


def open_first(folders: Sequence[str]) -> tuple[Project, str]:
    """The project of the first folder that has one, opened as it is now, and that folder."""
    from holdfast.project import Project  # the first call pays for it, not the handshake

    lacking: HoldfastError | None = None
    for folder in ordered(folders):
        if not os.path.isdir(folder):
            continue
        try:
            return Project.open(folder, environ=os.environ, person=False), os.path.abspath(folder)
        except (NotARepository, NotInitialised) as error:
            lacking = lacking or error
    raise _nowhere(folders, lacking)


def _nowhere(folders: Sequence[str], lacking: HoldfastError | None) -> HoldfastError:
    where = ", ".join(os.path.abspath(folder) for folder in folders[:3])
    if isinstance(lacking, NotInitialised):
        return NotInitialised(
            f"the repository in {where} has no Holdfast memory yet",
            hint="Go on without it; the user can set it up with `holdfast init`.",
        )
    if isinstance(lacking, NotARepository):
        return NotARepository(
            f"{where} is in no git repository",
            hint="Go on without memory; the user can start this server in a repository.",
        )
    return BadInput(f"{where} is no folder", hint="The user has to say where the project is: `holdfast -C DIR mcp`.")
