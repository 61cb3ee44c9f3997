"""Who asks: the client, where its project may be, and how to tell it that something takes long."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from holdfast.interfaces.mcp.protocol import NEWEST
from holdfast.model.text import visible

_NAME = 60  # characters of a client's name


class Cancelled(Exception):
    """Nobody waits for the answer any more."""


def _never() -> bool:
    return False


def _silent(done: float, total: float | None, said: str) -> None:
    """Nobody asked how far it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """One call's surroundings."""

    folders: Sequence[str] = (".",)
    client: str = ""
    version: str = NEWEST
    is_cancelled: Callable[[], bool] = _never
    progress: Callable[[float, float | None, str], None] = _silent

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
