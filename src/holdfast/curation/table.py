"""What a reviewer has before them: the shelf of candidates and the entries that stand here, read once."""

from collections.abc import Sequence

from holdfast.curation import candidates, facts
from holdfast.curation.candidates import Shelf
from holdfast.curation.facts import Seen
from holdfast.errors import NotFound
from holdfast.git.clone import Clone
from holdfast.model.ids import pick
from holdfast.values import frozen


@frozen
class Table:
    """Candidates, tombstones and entries; whoever writes afterwards holds the shelf's lock."""

    shelf: Shelf
    seen: Sequence[Seen]

    @property
    def ids(self) -> list[str]:
        return [*self.shelf.ids, *self.entry_ids]

    @property
    def entry_ids(self) -> list[str]:
        return [one.memory.id for one in self.seen]

    def meant(self, text: str, likely: Sequence[str] | None = None) -> str:
        """The memory a person means: any by its whole id, else the beginning of a likely one, else of any."""
        if text in self.ids:
            return text
        try:
            return pick(text, list(self.shelf.waiting) if likely is None else likely)
        except NotFound:
            return pick(text, self.ids)

    def entry(self, name: str) -> Seen | None:
        """The one entry of this id."""
        return facts.by_id(self.seen, name)


def read(clone: Clone) -> Table:
    """What lies there now."""
    shelf = candidates.read(clone)
    seen, _ = facts.read(clone)
    return Table(shelf, seen)
