"""What lies before a reviewer: the items, which of them the filter shows, and what was done so far.

Only values; the screen draws them and the project decides.

The queue on the screen: one line an item, drawn only where somebody looks, however long it is.
"""

from collections.abc import Iterable, Sequence

from rich.segment import Segment
from rich.text import Text
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from holdfast.curation import review_queue
from holdfast.curation.review_queue import QueueItem
from holdfast.interfaces.cli.output import shown as visible
from holdfast.interfaces.review_filter import Filter
from holdfast.interfaces.tui.item_page import one_line
from holdfast.values import field, frozen, mutable, replace

SHARED = {"approved", "retired"}  # what others see once it is published
NAMED = 6  # ids in a sentence; the rest are counted


@frozen
class Act:
    """Something the reviewer did: one decision for each id."""

    done: str  # approved, rejected, retired, edited or merged
    ids: tuple[str, ...]


@mutable
class ReviewTray:
    """The queue as it looks after what was done."""

    items: list[QueueItem] = field(default_factory=list)
    filter: Filter = field(default_factory=Filter)
    skipped: set[str] = field(default_factory=set)
    marked: set[str] = field(default_factory=set)  # to be decided together
    acts: list[Act] = field(default_factory=list)
    _shown: list[QueueItem] | None = None

    @property
    def shown(self) -> Sequence[QueueItem]:
        """The items that fit the filter, or are worth reading."""
        if self._shown is None:  # without a filter what is less likely is left out
            self._shown = self.filter(self.items) if self.filter.text else review_queue.worth_reading(self.items)
        return self._shown

    def refill(self, items: Iterable[QueueItem]) -> None:
        """The queue, read again."""
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
        self.marked -= gone

    def put(self, item: QueueItem) -> None:
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
            return [*said, "Nothing waits for review"]
        skipped = f" ({len(self.skipped)} skipped)" if self.skipped else ""
        return [*said, f"Still waiting{skipped}: {named([item.id for item in self.items])}"]


def named(ids: Sequence[str]) -> str:
    """Some ids, and how many more there are."""
    more = f" and {len(ids) - NAMED} more" if len(ids) > NAMED else ""
    return ", ".join(visible(name) for name in ids[:NAMED]) + more


MARKS = {
    "proposed": ("+", "green"),
    "suggested": ("?", "cyan"),
    "edited": ("*", "blue"),
    "stale": ("!", "yellow"),
    "expired": ("x", "magenta"),
    "contradicts": ("≠", "red"),
    "elsewhere": ("<", "white"),
}
MOVED = ("changed", "gone")  # states of evidence
MAX_ID = 16  # columns; ids that are made have 10
_TYPE = 10  # columns of the longest type, assumption
_ROOMY = 44  # columns in which the type, too, leaves a statement room to say something


class QueueList(ScrollView, can_focus=True, inherit_bindings=False):  # keys select, they do not scroll
    """The items that fit the filter, one of them selected."""

    COMPONENT_CLASSES = {"listing--selected", "listing--skipped"}  # noqa: RUF012 - Textual's own type

    selected: reactive[int] = reactive(0)

    class Chosen(Message):
        """Another item is selected."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._items: Sequence[QueueItem] = ()
        self._skipped: frozenset[str] = frozenset()
        self._marked: frozenset[str] = frozenset()
        self._wide = 8
        self._clashing: set[str] = set()  # ids of what was seen to contradict something

    @property
    def item(self) -> QueueItem | None:
        """The selected item."""
        return self._items[self.selected] if 0 <= self.selected < len(self._items) else None

    def fill(
        self, items: Sequence[QueueItem], *, at: int, skipped: frozenset[str], marked: frozenset[str] = frozenset()
    ) -> None:
        """Show these, with this one selected."""
        self._items, self._skipped, self._marked = items, skipped, marked
        self._wide = min(MAX_ID, max((len(item.id) for item in items), default=8))
        self.virtual_size = Size(0, len(items))
        at = max(0, min(at, len(items) - 1))
        if at == self.selected:
            self.post_message(self.Chosen())
        self.selected = at
        self.refresh()
        self.call_after_refresh(self._show_selected)

    def note(self, identity: str, *, clashes: bool) -> None:
        """What a look found out about an item."""
        (self._clashing.add if clashes else self._clashing.discard)(identity)
        self.refresh()

    def move(self, by: int) -> None:
        """Select another item, as far as there are any."""
        self.selected = max(0, min(self.selected + by, len(self._items) - 1))

    def watch_selected(self) -> None:
        self._show_selected()
        self.refresh()
        self.post_message(self.Chosen())

    def _show_selected(self) -> None:
        self.scroll_to_region(Region(0, self.selected, 1, 1), animate=False, force=True)

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_selected)

    def on_click(self, event: events.Click) -> None:
        row = self.scroll_offset.y + event.y
        if 0 <= row < len(self._items):
            self.selected = row

    def render_line(self, y: int) -> Strip:
        """One line of what is in view."""
        row, width = self.scroll_offset.y + y, self.size.width
        if row >= len(self._items):
            return Strip.blank(width, self.rich_style)
        item, style = self._items[row], self.rich_style
        if row == self.selected:
            style = self.get_component_rich_style("listing--selected")
        elif item.id in self._skipped:
            style = self.get_component_rich_style("listing--skipped")
        line = self._line(item, row)
        line.truncate(width, overflow="ellipsis", pad=True)
        return Strip(Segment.apply_style(line.render(self.app.console), style), width)

    def _line(self, item: QueueItem, row: int) -> Text:
        memory = item.standing.memory
        mark, colour = MARKS.get(item.reason, ("·", ""))
        # A second mark: it contradicts something, or what it rests on has moved.
        moved = item.reason != "stale" and any(state in MOVED for _, state in item.standing.receipts)
        also, warning = MARKS["stale"] if moved else (" ", "")
        if item.id in self._clashing and item.reason != "contradicts":
            also, warning = MARKS["contradicts"]
        name = visible(memory.id)
        name = name if len(name) <= self._wide else name[: self._wide - 1] + "…"
        first = "▸" if row == self.selected else " "
        kind = f"{memory.type:<{_TYPE}} " if self.size.width >= _ROOMY else ""  # on a small screen what it says counts
        return Text.assemble(
            "■" if item.id in self._marked else first,
            (mark, "" if row == self.selected else colour),
            (also, "" if row == self.selected else warning),
            f" {name:<{self._wide}} {kind}{one_line(memory.statement)}",
        )
