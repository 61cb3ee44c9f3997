"""What the review screen needs of a project, and nothing more."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from holdfast.curation.conflicts import Known
from holdfast.curation.decisions import Standing
from holdfast.curation.facts import Facts
from holdfast.curation.queue import Item, Look
from holdfast.curation.undo import Step
from holdfast.model.provenance import Provenance
from holdfast.recall.passage import Passage


class Waiting(Protocol):
    """The queue as it was read."""

    @property
    def items(self) -> Sequence[Item]: ...

    @property
    def against(self) -> Known:
        """What looks hold an item against."""
        ...

    def look(self, item: Item, /) -> Look:
        """What contradicts an item, says the same, or made it stale."""
        ...

    @property
    def known(self) -> Facts:
        """What stands here."""
        ...


class Bulk(Protocol):
    """What became of many that were decided at once."""

    @property
    def done(self) -> Sequence[Standing]: ...

    @property
    def left(self) -> Sequence[tuple[str, str]]:
        """The ids of those that still wait, each with why."""
        ...


class Desk(Protocol):
    """Where a reviewer sits: the queue, and what can be decided about it."""

    def queue(self) -> Waiting: ...

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
    ) -> Standing: ...

    def accept_all(self, items: Iterable[Item], /) -> Bulk: ...

    def reject(self, identity: str, /, *, reason: str = "") -> Standing: ...

    def retire(self, identity: str, /, *, reason: str = "") -> Standing: ...

    def edit_memory(
        self,
        identity: str,
        /,
        *,
        statement: str | None = None,
        details: str | None = None,
        tags: Iterable[str] | None = None,
        applies_to: Iterable[str] | None = None,
    ) -> Standing: ...

    def join(self, identity: str, /, into: str) -> Standing: ...

    def undo(self) -> Step: ...
