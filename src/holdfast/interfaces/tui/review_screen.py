"""What the review screen shows: the queue at one side, at the other the item with all that bears on it.

The review screen's decisions: one key each.

What a decision means is the project's business; this module asks, says what came of it and keeps the place.

`holdfast review` at a terminal: opens the screen, and says afterwards what was done.
"""

import asyncio
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, ClassVar, TypeVar

from rich.text import Text
from textual import events, on, work
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.containers import Container, VerticalScroll
from textual.screen import Screen
from textual.widgets import Input, Static
from textual.worker import WorkerFailed

from holdfast.curation.decisions import MemoryStanding
from holdfast.curation.review_queue import QueueItem, ReviewLook, ReviewQueue
from holdfast.curation.undo import UndoStep
from holdfast.errors import Contradicts, HoldfastError, NeedsReview, NotFound
from holdfast.interfaces import review_filter
from holdfast.interfaces.review_filter import CANDIDATES, SINGLE
from holdfast.interfaces.tui import dialogs, item_page
from holdfast.interfaces.tui.queue_list import Act, QueueList, ReviewTray, named
from holdfast.project import Project
from holdfast.project.memory_book import Decided, MemoryBook
from holdfast.recall.passage import CitedLines
from holdfast.security.person import doubt
from holdfast.values import replace

T = TypeVar("T")
NARROW = 100  # columns; below that the queue stands above the item
PAUSE = 0.05  # seconds before an item is looked at closely: who holds a key down is passing by

Cited = Callable[[Sequence[tuple[str, str]]], Mapping[str, CitedLines]]  # receipts and their states: their lines


class Hands:
    """The one thread that touches the store while a screen is open: one thing after the other, as it was asked."""

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


class QueueScreen(Screen[None]):
    """The queue and the item, and how to move among them."""

    BINDINGS: ClassVar[list[BindingType]] = dialogs.keys(
        "s=skip slash=filter question_mark=help q,ctrl+c=leave j,down=move(1) k,up=move(-1) home=move(-1000000) "
        "end=move(1000000) pagedown,space=read(1) pageup=read(-1) escape=unfilter"
    )

    def __init__(self, desk: MemoryBook, tray: ReviewTray, cited: Cited, said: str = "") -> None:
        super().__init__()
        self._said = said
        self._desk, self._tray, self._hands, self._cited = desk, tray, Hands(), cited
        self._waiting: ReviewQueue | None = None  # the queue as it was read last
        self._looks: dict[str, item_page.ReviewItem] = {}
        self._outdated = False  # what was read last does not know what was decided since
        self._busy = False

    # What there is to see.

    def compose(self) -> ComposeResult:
        yield Static(id="head")
        yield Input(placeholder="words  tag:http  type:decision  reason:stale  all", id="filter")
        with Container(id="desk"):
            yield QueueList(id="queue")
            with VerticalScroll(id="item", can_focus=False):
                yield Static(id="page")
        yield Static(id="status")
        yield dialogs.KeyLine(id="keys")

    def on_mount(self) -> None:
        self._list.focus()
        self._say("Reading the queue…")
        self.call_after_refresh(self._open)  # the screen stands first, however long the queue is

    def on_unmount(self) -> None:
        self._hands.rest()

    def on_resize(self, event: events.Resize) -> None:
        self.query_one("#desk").set_class(event.size.width < NARROW, "narrow")

    @property
    def _list(self) -> QueueList:
        return self.query_one("#queue", QueueList)

    @work
    async def _open(self) -> None:
        if await self._attempt(self._read) is not None:
            self._say(self._said)
            self._show(0)

    def _read(self) -> ReviewQueue:
        """The queue, read again; in the other thread."""
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
        elif shown < all_:
            head += f"   {all_ - shown} less likely: / all"
        self.query_one("#head", Static).update(item_page.safe(f"{head} {self._tray.filter.text}".rstrip(), "bold"))
        skipped, marked = frozenset(self._tray.skipped), frozenset(self._tray.marked)
        self._list.fill(self._tray.shown, at=at, skipped=skipped, marked=marked)

    def _say(self, text: str, style: str = "", hint: str = "") -> None:
        """One sentence on the status line, and what to do about it."""
        said = item_page.safe(text, style)
        if hint:
            said = Text("\n").join((said, item_page.safe(hint, "dim")))
        self.query_one("#status", Static).update(said)

    @on(QueueList.Chosen)
    def _chosen(self) -> None:
        item = self._list.item
        self.query_one("#item", VerticalScroll).scroll_home(animate=False)
        if item is None:
            self.workers.cancel_group(self, "look")
            nothing = "Nothing matches the search" if self._tray.items else "Nothing waits for a decision"
            self.query_one("#page", Static).update(Text(nothing if self._waiting else "", style="dim"))
            return
        seen = self._looks.get(item.id)
        self.query_one("#page", Static).update(item_page.page(item, seen))
        if seen is None:
            self._look_closely(item)

    @work(exclusive=True, group="look")
    async def _look_closely(self, item: QueueItem) -> None:
        await asyncio.sleep(PAUSE)
        found = await self._attempt(partial(self._look, item))
        if found is not None:
            self._keep(item, found)
            if self._list.item is item:
                self.query_one("#page", Static).update(item_page.page(item, found))

    def _keep(self, item: QueueItem, found: item_page.ReviewItem) -> None:
        self._looks[item.id] = found
        self._list.note(item.id, clashes=bool(found.look.conflicts))

    def _look(self, item: QueueItem) -> item_page.ReviewItem:
        """What bears on an item; in the other thread."""
        if self._waiting is None or self._outdated:
            self._waiting, self._outdated = self._desk.queue(), False
        said = [(one, self._desk.passage(one)) for one in item.provenance]
        return item_page.ReviewItem(self._waiting.look(item), said, self._cited(item.standing.receipts))

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
        wanted = review_filter.parse(event.value)
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
        self._tray.narrow(review_filter.Filter())
        self._list.focus()
        self._show(self._tray.place(item.id) if item else 0)

    def action_help(self) -> None:
        self.app.push_screen(dialogs.HelpDialog())

    def action_leave(self) -> None:
        if self._busy:
            self._say("Please wait: a decision is being saved", "yellow")
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
        self._say(str(error), "bold red", getattr(error, "hint", ""))


class ReviewScreen(QueueScreen):
    """The queue and the item, and a key for each decision."""

    BINDINGS: ClassVar[list[BindingType]] = dialogs.keys(
        "a=approve r=reject e=edit m=merge u=undo x=mark A=approve_all R=reject_all"
    )

    async def action_approve(self) -> None:
        item = self._free_item()
        if item is None:
            return
        if item.reason == "contradicts":
            await self._ask_how(item)
        elif item.reason == "expired":
            question = dialogs.LineDialog(f"When does {item.id} expire?", "90d, 12h, 2027-01-01 or never", value="90d")

            async def until(when: str | None) -> None:
                if when:
                    await self._approve(item, expires=when)

            self.app.push_screen(question, until)
        else:
            await self._approve(item)

    async def _approve(self, item: QueueItem, **wish: Any) -> None:
        self._say(f"Approving {item.id}…")
        try:
            done = await self._hands.do(partial(self._accept, item, wish))
        except Contradicts as error:
            await self._ask_how(item, error)
        except (HoldfastError, OSError) as error:
            self._complain(error)
        else:
            verb = "retired" if done.status == "deprecated" else "approved"
            self._decided(item, Act(verb, (done.id,)), (*_uncounted([done]), *done.notes))

    def _accept(self, item: QueueItem, wish: dict[str, Any]) -> MemoryStanding:
        """Approve what was on the screen, and nothing else; in the other thread."""
        try:
            done = self._desk.accept_as_seen(item, **wish)
        except NeedsReview:
            self._outdated = True
            raise
        if wish.get("supersede") or self._waiting is None:
            self._outdated = True
        else:
            self._waiting.against.add(done)
        return done

    async def _ask_how(self, item: QueueItem, error: Contradicts | None = None) -> None:
        self._outdated = True  # whatever contradicts it may have been approved a moment ago
        found = await self._attempt(partial(self._look, item))
        if found is None:
            return
        if not found.look.conflicts:
            self._complain(error or NotFound(f"nothing contradicts {item.id} any more", hint="Skip it with s."))
            return
        self._keep(item, found)
        self._say("")
        question = dialogs.ConflictDialog(found.look.conflicts, no="reject" if item.reason in CANDIDATES else "retire")
        self.app.push_screen(question, partial(self._resolve, item, found.look))

    async def _resolve(self, item: QueueItem, look: ReviewLook, how: str | None) -> None:
        others = [conflict.other.id for conflict in look.conflicts]
        if how == "supersede":
            await self._approve(item, supersede=others)
        elif how == "reject":
            self._ask_reason(item)
        elif how == "both":
            asked = dialogs.LineDialog(
                f"Where does {item.id} apply?",
                "Paths inside the repository, separated by commas; ** is everywhere",
                value=", ".join(item.standing.memory.applies_to),
            )

            async def keep(paths: str | None) -> None:
                if paths is not None:
                    await self._approve(item, keep_both=True, applies_to=dialogs.split(paths))

            self.app.push_screen(asked, keep)

    def action_reject(self) -> None:
        if item := self._free_item():
            self._ask_reason(item)

    def _ask_reason(self, item: QueueItem) -> None:
        waits = item.reason in CANDIDATES
        question = f"Reject {item.id}: why?" if waits else f"Retire {item.id}: why is it no longer valid?"
        asked = dialogs.LineDialog(question, "Enter decides, with or without a reason; Escape cancels")
        self.app.push_screen(asked, partial(self._reject, item))

    async def _reject(self, item: QueueItem, reason: str | None) -> None:
        if reason is None:
            return
        candidate = item.reason in CANDIDATES
        act = self._desk.reject if candidate else self._desk.retire
        done = await self._attempt(partial(act, item.id, reason=reason))
        if done is not None:
            self._outdated = True
            self._decided(item, Act("rejected" if candidate else "retired", (item.id,)))

    def action_edit(self) -> None:
        if item := self._free_item():
            self.app.push_screen(dialogs.MemoryEditor(item.standing.memory), partial(self._edit, item))

    async def _edit(self, item: QueueItem, changes: dict[str, Any] | None) -> None:
        if not changes:
            self._say("Nothing was changed")
            return
        done = await self._attempt(partial(self._desk.edit, item.id, **changes))
        if done is None:
            return
        self._looks.pop(item.id, None)
        act = Act("edited", (item.id,))
        if done.status != "candidate":  # changing an accepted memory approves it again
            self._outdated = True
            self._decided(item, act)
            return
        self._tray.put(replace(item, standing=replace(item.standing, memory=done.memory)))
        self._tray.acts.append(act)
        self._say(f"Edited {item.id}; it still waits (u: undo)", "green")
        self._show(self._tray.place(item.id))

    async def action_merge(self) -> None:
        item = self._free_item()
        if item is None:
            return
        found = self._looks.get(item.id) or await self._attempt(partial(self._look, item))
        if found is not None and self._waiting is not None:
            known = {one.id: one.memory.statement for one in self._waiting.known.standings}
            same = [(name, item_page.one_line(known.get(name, ""))) for name in found.look.same]
            self.app.push_screen(dialogs.MergeDialog(item.id, same), partial(self._merge, item))

    async def _merge(self, item: QueueItem, into: str | None) -> None:
        if not into:
            return
        done = await self._attempt(partial(self._desk.join, item.id, into))
        if done is not None:
            for one in self._tray.items:
                if one.id == done.id:  # another candidate has its evidence now
                    self._tray.put(replace(one, standing=replace(one.standing, memory=done.memory)))
            self._outdated = True
            self._decided(item, Act("merged", (item.id,)), (f"into {done.id}",))

    def action_approve_all(self) -> None:
        # What contradicts something, or came from elsewhere, is looked at one by one.
        items = [item for item in self._many() if item.reason not in SINGLE]
        if not items or self._free_item() is None:
            return
        kinds = ", ".join(f"{number} {reason}" for reason, number in Counter(item.reason for item in items).items())
        question = f"Approve all {len(items)}{self._fitting()} ({kinds})?"
        hint = "Contradicting ones, and those without the evidence they need, are left"

        def approve(agreed: bool | None) -> None:
            if agreed:
                self._busy = True
                self._say(f"Approving {len(items)}…")
                self._decide_each(items, "approved", self._desk.accept_all)

        self.app.push_screen(dialogs.YesDialog(question, hint), approve)

    def action_reject_all(self) -> None:
        items = [item for item in self._many() if item.reason in CANDIDATES]
        if not items or self._free_item() is None:
            return

        def reject(reason: str | None) -> None:
            if reason is not None:
                self._busy = True
                self._say(f"Rejecting {len(items)}…")
                self._decide_each(items, "rejected", partial(self._desk.reject_all, reason=reason))

        question = f"Reject all {len(items)}{self._fitting()}: why?"
        self.app.push_screen(dialogs.LineDialog(question, "Enter rejects, Escape cancels"), reject)

    def action_mark(self) -> None:
        if item := self._free_item():
            self._tray.marked ^= {item.id}
            number = len(self._tray.marked)
            self._say(f"{number} marked: A approves them, R rejects them" if number else "")
            self._show(self._list.selected + 1)

    def _many(self) -> list[QueueItem]:
        """What is decided at once: what is marked, else all that is shown."""
        marked = [item for item in self._tray.shown if item.id in self._tray.marked]
        return marked or [*self._tray.shown]

    def _fitting(self) -> str:
        """Which of them, in a question."""
        if any(item.id in self._tray.marked for item in self._tray.shown):
            return " marked"
        return f" that match {self._tray.filter.text}" if self._tray.filter.text else ""

    @work
    async def _decide_each(
        self, items: list[QueueItem], verb: str, decide: Callable[[list[QueueItem]], Decided]
    ) -> None:
        try:
            found = await self._attempt(partial(self._decide_all, items, decide))
        finally:
            self._busy = False
        if found is None:
            return
        left, notes = found
        self._looks.clear()
        ids = tuple(item.id for item in items if item.id not in left)
        if ids:
            self._tray.acts.append(Act(verb, ids))
        self._tray.marked -= {*ids}
        said = f"{verb.capitalize()} {len(ids)}" + (" (u: undo)" if ids else "")
        if left:
            said += f"; left {named(sorted(left))}"
        self._say(said, "green" if ids else "yellow", next(iter((*notes, *left.values())), ""))
        self._show(0)

    def _decide_all(
        self, items: list[QueueItem], decide: Callable[[list[QueueItem]], Decided]
    ) -> tuple[dict[str, str], list[str]]:
        """Decide about what was listed, as it was listed; gives what was left and why. In the other thread."""
        now = {item.id: item.standing.memory for item in self._desk.queue().items}
        same = [item for item in items if now.get(item.id) == item.standing.memory]
        changed = {item.id for item in items} - {item.id for item in same}
        left = {name: f"{name} was changed since it was listed" for name in changed}
        done = decide(same)
        self._read()
        return left | dict(done.left), _uncounted(done.done)

    async def action_undo(self) -> None:
        if self._busy:
            return
        act = self._tray.acts[-1] if self._tray.acts else None
        taken, refused = await self._hands.do(partial(self._take_back, len(act.ids) if act else 1))
        self._looks.clear()
        ids = [step.id for step in taken]
        if taken:
            self._tray.untake(ids)
            self._say(f"Taken back: {taken[-1].action} {named(ids)}", "green")
            self._show(self._tray.place(ids[-1]))
        if refused is not None:
            self._complain(refused)

    def _take_back(self, steps: int) -> tuple[list[UndoStep], HoldfastError | OSError | None]:
        """Undo so many decisions, as far as it goes; in the other thread."""
        taken: list[UndoStep] = []
        refused = None
        try:
            for _ in range(steps):
                taken.append(self._desk.undo())
        except (HoldfastError, OSError) as error:
            refused = error
        if taken:
            self._read()
        return taken, refused

    # What came of it.

    def _free_item(self) -> QueueItem | None:
        """The selected item, unless something is under way."""
        return None if self._busy else self._list.item

    def _decided(self, item: QueueItem, act: Act, notes: Iterable[str] = ()) -> None:
        """The item waits no more; the next one takes its place."""
        at = self._list.selected
        self._tray.take([item.id])
        self._tray.acts.append(act)
        self._looks.clear()
        self._say(f"{act.done.capitalize()} {named(act.ids)} (u: undo)", "green", "; ".join(notes))
        self._show(at)


def _uncounted(done: Iterable[MemoryStanding]) -> list[str]:
    """What to say if an approval does not count as a person's."""
    if all(one.trust == "T0" or one.status != "accepted" for one in done):
        return []
    why = doubt(terminal=True, environ=os.environ) or "no person was seen at a terminal"
    return [f"agents are not shown it: no person approved it ({why})"]


def run(project: Project, said: str = "") -> None:
    """Review on this terminal, with something said at the beginning; says afterwards what was done and what was left.

    A bug of ours is raised once the terminal is as it was, and after what was done until then was said.
    """
    app = ReviewApp(project.memory, project.memory.cited, said)
    app.run()
    if said:
        print(said)
    for line in app.tray.account():
        print(line)
    if app.failed is not None:
        raise app.failed


class ReviewApp(App[None]):
    """The application: one screen over one project."""

    ENABLE_COMMAND_PALETTE = False
    TITLE = "holdfast review"
    CSS_PATH = "review_screen.tcss"

    def __init__(self, desk: MemoryBook, cited: Cited = lambda _: {}, said: str = "") -> None:
        super().__init__()
        self.said = said
        self.tray = ReviewTray()
        self.failed: BaseException | None = None  # what nobody expected
        self._desk, self._cited = desk, cited

    def on_mount(self) -> None:
        self.push_screen(ReviewScreen(self._desk, self.tray, self._cited, self.said))

    def _handle_exception(self, error: Exception) -> None:
        """Leave without Textual's traceback, which shows what variables hold; `run` raises it."""
        self.failed = self.failed or (error.error if isinstance(error, WorkerFailed) else error)
        super()._handle_exception(error)
        self._exit_renderables.clear()

    async def action_quit(self) -> None:
        """Leave as `q` does, whichever of Textual's own keys was pressed."""
        for screen in self.screen_stack:
            if isinstance(screen, ReviewScreen):
                screen.action_leave()
