"""Who asks: the client, where its project may be, and how to tell it that something takes long."""

from __future__ import annotations

import time

from holdfast.interfaces.mcp.protocol import NEWEST
from holdfast.model.text import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_NAME = 60  # characters of a client's name
_PAUSE = 0.1  # seconds between two words about progress


class Cancelled(Exception):
    """Nobody waits for the answer any more."""


def _never() -> bool:
    return False


def _silent(done: float, total: float | None, said: str) -> None:
    """Nobody asked how far it is."""


class Telling:
    """Tells a client how far its call is: never less than before, and not too often."""

    def __init__(self, send: Callable[[float, float | None, str], None]) -> None:
        self._send, self._done, self._last = send, -1.0, 0.0

    def __call__(self, done: float, total: float | None, said: str) -> None:
        now = time.monotonic()
        if done > self._done and (now - self._last >= _PAUSE or not self._last):
            self._done, self._last = done, now
            self._send(done, total, said)


class Asking:
    """One call's surroundings."""

    __slots__ = ("client", "folders", "is_cancelled", "progress", "version")

    def __init__(
        self,
        *,
        folders: Sequence[str] = (".",),
        client: str = "",
        version: str = NEWEST,
        is_cancelled: Callable[[], bool] = _never,
        progress: Callable[[float, float | None, str], None] = _silent,
    ) -> None:
        self.folders, self.client, self.version = folders, client, version
        self.is_cancelled, self.progress = is_cancelled, progress

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
