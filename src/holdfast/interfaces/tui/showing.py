"""What the review screen shows: the queue at one side, at the other the item with all that bears on it."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import ClassVar, TypeVar

from rich.text import Text
from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.screen import Screen
from textual.widgets import Input, Static

from holdfast.curation.queue import Item
from holdfast.errors import HoldfastError
from holdfast.interfaces.tui import filtering, page
from holdfast.interfaces.tui.cited import Lines
from holdfast.interfaces.tui.desk import Desk, Waiting
from holdfast.interfaces.tui.dialogs import Help
from holdfast.interfaces.tui.hands import Hands
from holdfast.interfaces.tui.listing import Listing
from holdfast.interfaces.tui.tray import Tray

T = TypeVar("T")
NARROW = 100  # columns; below that the queue stands above the item
PAUSE = 0.05  # seconds before an item is looked at closely: who holds a key down is passing by
DECIDING = ("a approve", "r reject", "e edit", "m merge", "s skip", "u undo", "A all", "/ filter")
LEAVING = ("? help", "q quit")

Cited = Callable[[Sequence[tuple[str, str]]], Mapping[str, Lines]]  # receipts and their states: their lines


class Showing(Screen[None]):
    """The queue and the item, and how to move among them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "skip", "skip"),
        Binding("slash", "filter", "filter"),
        Binding("question_mark", "help", "help"),
        Binding("q,ctrl+c", "leave", "quit"),
        Binding("j,down", "move(1)", "next"),
        Binding("k,up", "move(-1)", "previous"),
        Binding("home", "move(-1000000)", "first"),
        Binding("end", "move(1000000)", "last"),
        Binding("pagedown,space", "read(1)", "read on"),
        Binding("pageup", "read(-1)", "read back"),
        Binding("escape", "unfilter", "show all"),
    ]
    CSS = """
    #head { height: 1; padding: 0 1; background: $primary; color: $text; }
    #filter, #filter:focus { display: none; border: none; height: 1; padding: 0 1; background: $boost; }
    #filter.open, #filter.open:focus { display: block; }
    #desk { layout: horizontal; height: 1fr; }
    #queue { width: 2fr; height: 100%; }
    #item { width: 3fr; height: 100%; border-left: solid $primary; padding: 0 1; }
    #page { width: 100%; height: auto; }
    #status { height: auto; max-height: 4; padding: 0 1; background: $boost; }
    #keys { height: 1; padding: 0 1; color: $text-muted; }
    #desk.narrow { layout: vertical; }
    #desk.narrow #queue { width: 100%; height: 30%; min-height: 2; max-height: 10; }
    #desk.narrow #item { width: 100%; height: 1fr; border-left: none; border-top: solid $primary; }
    """

    def __init__(self, desk: Desk, tray: Tray, cited: Cited) -> None:
        super().__init__()
        self._desk, self._tray, self._hands, self._cited = desk, tray, Hands(), cited
        self._waiting: Waiting | None = None  # the queue as it was read last
        self._looks: dict[str, page.Seen] = {}
        self._outdated = False  # what was read last does not know what was decided since
        self._busy = False

    # What there is to see.

    def compose(self) -> ComposeResult:
        yield Static(id="head")
        yield Input(placeholder="words  tag:http  type:decision  reason:stale", id="filter")
        with Container(id="desk"):
            yield Listing(id="queue")
            with VerticalScroll(id="item", can_focus=False):
                yield Static(id="page")
        yield Static(id="status")
        yield Static(id="keys")

    def on_mount(self) -> None:
        self._list.focus()
        self._say("Reading the queue…")
        self.call_after_refresh(self._open)  # the screen stands first, however long the queue is

    def on_unmount(self) -> None:
        self._hands.rest()

    def on_resize(self, event: events.Resize) -> None:
        self.query_one("#desk").set_class(event.size.width < NARROW, "narrow")
        self.query_one("#keys", Static).update(_keys(event.size.width - 2))

    @property
    def _list(self) -> Listing:
        return self.query_one("#queue", Listing)

    @work
    async def _open(self) -> None:
        if await self._attempt(self._read) is not None:
            self._say("")
            self._show(0)

    def _read(self) -> Waiting:
        """The queue, read anew; in the other thread."""
        waiting = self._desk.queue()
        self._waiting, self._outdated = waiting, False
        self._tray.refill(waiting.items)
        return waiting

    def _show(self, at: int) -> None:
        """The queue as it is now, with this place selected."""
        shown, all_ = len(self._tray.shown), len(self._tray.items)
        head = f"holdfast review   {all_ or 'nothing'} {'wait' if all_ > 1 else 'waits'}"
        if self._tray.filter.text:
            head += f"   {shown} fit"
        self.query_one("#head", Static).update(page.safe(f"{head} {self._tray.filter.text}".rstrip(), "bold"))
        self._list.fill(self._tray.shown, at=at, skipped=frozenset(self._tray.skipped))

    def _say(self, text: str, style: str = "", hint: str = "") -> None:
        """One sentence on the status line, and what to do about it."""
        said = page.safe(text, style)
        if hint:
            said = Text("\n").join((said, page.safe(hint, "dim")))
        self.query_one("#status", Static).update(said)

    @on(Listing.Chosen)
    def _chosen(self) -> None:
        item = self._list.item
        self.query_one("#item", VerticalScroll).scroll_home(animate=False)
        if item is None:
            self.workers.cancel_group(self, "look")
            nothing = "Nothing fits the filter" if self._tray.items else "Nothing waits for a decision"
            self.query_one("#page", Static).update(Text(nothing if self._waiting else "", style="dim"))
            return
        seen = self._looks.get(item.id)
        self.query_one("#page", Static).update(page.page(item, seen))
        if seen is None:
            self._look_closely(item)

    @work(exclusive=True, group="look")
    async def _look_closely(self, item: Item) -> None:
        await asyncio.sleep(PAUSE)
        found = await self._attempt(partial(self._look, item))
        if found is not None:
            self._keep(item, found)
            if self._list.item is item:
                self.query_one("#page", Static).update(page.page(item, found))

    def _keep(self, item: Item, found: page.Seen) -> None:
        self._looks[item.id] = found
        self._list.note(item.id, clashes=bool(found.look.conflicts))

    def _look(self, item: Item) -> page.Seen:
        """What bears on an item; in the other thread."""
        if self._waiting is None or self._outdated:
            self._waiting, self._outdated = self._desk.queue(), False
        said = [(one, self._desk.passage(one)) for one in item.provenance]
        return page.Seen(self._waiting.look(item), said, self._cited(item.standing.receipts))

    # Moving about.

    def action_move(self, by: int) -> None:
        self._list.move(by)

    def action_read(self, by: int) -> None:
        view = self.query_one("#item", VerticalScroll)
        view.scroll_relative(y=by * max(1, view.size.height - 2), animate=False)

    def action_skip(self) -> None:
        if item := self._list.item:
            self._tray.skipped.add(item.id)
            self._say(f"Skipped {item.id}; it stays in the queue")
            self._show(self._list.selected + 1)

    def action_filter(self) -> None:
        line = self.query_one("#filter", Input)
        line.add_class("open")
        line.focus()

    @on(Input.Changed, "#filter")
    def _narrow(self, event: Input.Changed) -> None:
        wanted = filtering.parse(event.value)
        if wanted != self._tray.filter:
            self._tray.narrow(wanted)
            self._show(0)

    @on(Input.Submitted, "#filter")
    def _narrowed(self) -> None:
        self._list.focus()
        self.query_one("#filter", Input).set_class(bool(self._tray.filter.text), "open")

    def action_unfilter(self) -> None:
        line, item = self.query_one("#filter", Input), self._list.item
        line.clear()
        line.remove_class("open")
        self._tray.narrow(filtering.Filter())
        self._list.focus()
        self._show(self._tray.place(item.id) if item else 0)

    def action_help(self) -> None:
        self.app.push_screen(Help())

    def action_leave(self) -> None:
        if self._busy:
            self._say("A moment: what was begun is being finished", "yellow")
        else:
            self.app.exit()

    # Asking.

    async def _attempt(self, call: Callable[[], T]) -> T | None:
        """What the call gives; None if it failed, which is said on the status line."""
        try:
            return await self._hands.do(call)
        except (HoldfastError, OSError) as error:
            self._complain(error)
            return None

    def _complain(self, error: Exception) -> None:
        hint = error.hint if isinstance(error, HoldfastError) else ""
        self._say(str(error), "bold red", hint)


def _keys(width: int) -> Text:
    """The keys in one line; where it is too short for all, how to get help and how to leave come first."""
    shown = " ".join((*DECIDING, *LEAVING))
    if len(shown) > width:
        named = (*LEAVING, *DECIDING)
        fitting = (" ".join(named[:number]) for number in range(len(named), 1, -1))
        shown = next((line for line in fitting if len(line) <= width), LEAVING[0])
    keys = Text(shown, no_wrap=True)
    keys.highlight_regex(r"(?<!\S)\S(?!\S)", "bold")
    return keys
