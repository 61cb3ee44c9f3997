"""What lies before a reviewer: the items, which of them the filter shows, and what was done so far.

Only values; the screen draws them and `Desk` decides.
"""

from collections.abc import Iterable, Sequence

from holdfast.curation.queue import Item
from holdfast.interfaces.cli.output import shown as visible
from holdfast.interfaces.tui.filtering import Filter
from holdfast.values import field, frozen, mutable, replace

SHARED = {"approved", "deprecated"}  # what others see once it is published
NAMED = 6  # ids in a sentence; the rest are counted


@frozen
class Act:
    """Something the reviewer did: one decision for each id."""

    done: str  # approved, rejected, deprecated, edited or merged
    ids: tuple[str, ...]


@mutable
class Tray:
    """The queue as it looks after what was done."""

    items: list[Item] = field(default_factory=list)
    filter: Filter = field(default_factory=Filter)
    skipped: set[str] = field(default_factory=set)
    acts: list[Act] = field(default_factory=list)
    _shown: list[Item] | None = None

    @property
    def shown(self) -> Sequence[Item]:
        """The items that fit the filter."""
        if self._shown is None:
            self._shown = self.filter(self.items)
        return self._shown

    def refill(self, items: Iterable[Item]) -> None:
        """The queue, read anew."""
        self.items = list(items)
        self._shown = None

    def narrow(self, wanted: Filter) -> None:
        """Show only what fits."""
        self.filter, self._shown = wanted, None

    def take(self, ids: Iterable[str]) -> None:
        """What was decided waits no more."""
        gone = set(ids)
        self.refill(item for item in self.items if item.id not in gone)
        self.skipped -= gone

    def put(self, item: Item) -> None:
        """The same item, changed."""
        self.refill(item if one.id == item.id else one for one in self.items)

    def untake(self, ids: Iterable[str]) -> None:
        """What was taken back was not done."""
        gone = set(ids)
        self.acts = [replace(act, ids=tuple(one for one in act.ids if one not in gone)) for act in self.acts]
        self.acts = [act for act in self.acts if act.ids]

    def place(self, identity: str) -> int:
        """Where an item is among those shown; the first place if it is not."""
        return next((at for at, item in enumerate(self.shown) if item.id == identity), 0)

    def account(self) -> list[str]:
        """What was done and what was left, in a line or two."""
        done: dict[str, list[str]] = {}
        for act in self.acts:
            done.setdefault(act.done, []).extend(act.ids)
        said = [f"{verb.capitalize()}: {named(ids)}" for verb, ids in done.items()]
        said += ["Share it with: holdfast publish"] if done.keys() & SHARED else []
        if not self.items:
            return [*said, "Nothing waits any more" if said else "Nothing waits"]
        skipped = f" ({len(self.skipped)} skipped)" if self.skipped else ""
        return [*said, f"Still waiting{skipped}: {named([item.id for item in self.items])}"]


def named(ids: Sequence[str]) -> str:
    """Some ids, and how many more there are."""
    more = f" and {len(ids) - NAMED} more" if len(ids) > NAMED else ""
    return ", ".join(visible(name) for name in ids[:NAMED]) + more
