"""What the review screen needs of a project, and nothing more.

The one thread that touches the store while a screen is open.

Everything that reads or writes goes through it in the order it was asked for: the screen stays alive, and
two things never touch the store at once.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

from holdfast.curation.decisions import MemoryStanding
from holdfast.curation.memory_conflicts import KnownClaims
from holdfast.curation.memory_state import MemoryListing
from holdfast.curation.review_queue import QueueItem, ReviewLook
from holdfast.curation.undo import UndoStep
from holdfast.model.evidence import Provenance
from holdfast.recall.passage import Passage


class QueueSource(Protocol):
    """The queue as it was read."""

    @property
    def items(self) -> Sequence[QueueItem]: ...

    @property
    def against(self) -> KnownClaims:
        """What looks hold an item against."""
        ...

    def look(self, item: QueueItem, /) -> ReviewLook:
        """What contradicts an item, says the same, or made it stale."""
        ...

    @property
    def known(self) -> MemoryListing:
        """What stands here."""
        ...


class Bulk(Protocol):
    """What became of many that were decided at once."""

    @property
    def done(self) -> Sequence[MemoryStanding]: ...

    @property
    def left(self) -> Sequence[tuple[str, str]]:
        """The ids of those that still wait, each with why."""
        ...


class Desk(Protocol):
    """Where a reviewer sits: the queue, and what can be decided about it."""

    def queue(self) -> QueueSource: ...

    def passage(self, provenance: Provenance, /) -> Passage: ...

    def accept(
        self,
        identity: str,
        /,
        *,
        supersede: Iterable[str] = (),
        keep_both: bool = False,
        applies_to: Iterable[str] | None = None,
        expires: str | None = None,
    ) -> MemoryStanding: ...

    def accept_all(self, items: Iterable[QueueItem], /) -> Bulk: ...

    def reject(self, identity: str, /, *, reason: str = "") -> MemoryStanding: ...

    def retire(self, identity: str, /, *, reason: str = "") -> MemoryStanding: ...

    def edit(
        self,
        identity: str,
        /,
        *,
        statement: str | None = None,
        details: str | None = None,
        tags: Iterable[str] | None = None,
        applies_to: Iterable[str] | None = None,
    ) -> MemoryStanding: ...

    def join(self, identity: str, /, into: str) -> MemoryStanding: ...

    def undo(self) -> UndoStep: ...


T = TypeVar("T")


class Hands:
    """Does what it is asked, one thing after the other."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="review")
        self.asked = 0  # that is not answered yet

    async def do(self, call: Callable[[], T]) -> T:
        """What the call gives; nothing was begun if whoever waits for it leaves before its turn."""
        self.asked += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, call)
        finally:
            self.asked -= 1

    def rest(self) -> None:
        """No more is asked; what was begun is finished."""
        self._thread.shutdown(wait=True, cancel_futures=True)
