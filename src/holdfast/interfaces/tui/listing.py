"""The queue on the screen: one line an item, drawn only where somebody looks, however long it is."""

from collections.abc import Sequence

from rich.segment import Segment
from rich.text import Text
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from holdfast.curation.queue import Item
from holdfast.interfaces.cli.output import shown as visible
from holdfast.interfaces.tui.page import one_line

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
MAX_ID = 16
_TYPE = 10


class Listing(ScrollView, can_focus=True, inherit_bindings=False):  # keys select, they do not scroll
    """The items that fit the filter, one of them selected."""

    COMPONENT_CLASSES = {"listing--selected", "listing--skipped"}  # noqa: RUF012 - Textual's own type
    DEFAULT_CSS = """
    Listing { overflow-x: hidden; }
    Listing .listing--selected { background: $primary; color: $text; text-style: bold; }
    Listing .listing--skipped { color: $text-muted; }
    """

    selected: reactive[int] = reactive(0)

    class Chosen(Message):
        """Another item is selected."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._items: Sequence[Item] = ()
        self._skipped: frozenset[str] = frozenset()
        self._wide = 8
        self._clashing: set[str] = set()  # ids of what was seen to contradict something

    @property
    def item(self) -> Item | None:
        """The selected item."""
        return self._items[self.selected] if 0 <= self.selected < len(self._items) else None

    def fill(self, items: Sequence[Item], *, at: int, skipped: frozenset[str]) -> None:
        """Show these, with this one selected."""
        self._items, self._skipped = items, skipped
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

    def _line(self, item: Item, row: int) -> Text:
        memory = item.standing.memory
        mark, colour = MARKS.get(item.reason, ("·", ""))
        also, warning = self._also(item)
        name = visible(memory.id)
        name = name if len(name) <= self._wide else name[: self._wide - 1] + "…"
        return Text.assemble(
            "▸" if row == self.selected else " ",
            (mark, "" if row == self.selected else colour),
            (also, "" if row == self.selected else warning),
            f" {name:<{self._wide}} {memory.type:<{_TYPE}} {one_line(memory.statement)}",
        )

    def _also(self, item: Item) -> tuple[str, str]:
        """A second mark: it contradicts something, or what it rests on has moved."""
        if item.id in self._clashing and item.reason != "contradicts":
            return MARKS["contradicts"]
        moved = any(state in MOVED for _, state in item.standing.receipts)
        return MARKS["stale"] if moved and item.reason != "stale" else (" ", "")
