"""The screen opens at once and stays quick, however much waits and however slow the disk is."""

import asyncio
import threading
from dataclasses import dataclass, field

import pytest

from holdfast.curation.decisions import MemoryStanding
from holdfast.curation.review_queue import QueueItem, ReviewLook
from holdfast.errors import Busy
from holdfast.interfaces.tui import review_screen
from holdfast.interfaces.tui.review_screen import ReviewApp
from holdfast.model.memory import Candidate
from tests.tui.screens import NARROW, Driven, drive
from tests.tui.test_screens_golden import HIDING, Drawn

MANY = 10_000


@dataclass
class Watched(Drawn):
    """A desk that remembers what it was asked, and may be slow to answer."""

    looked: list[str] = field(default_factory=list)
    ready: threading.Event = field(default_factory=threading.Event)
    broken: bool = False

    def queue(self) -> "Watched":
        self.ready.wait(10)
        if self.broken:
            raise Busy("another command holds the shelf", hint="Try again.")
        return self

    def look(self, item: QueueItem) -> ReviewLook:
        self.looked.append(item.id)
        return super().look(item)


def many() -> tuple[QueueItem, ...]:
    """Ten thousand candidates."""
    made = [Candidate.of(HIDING, line="main1", id=f"FCT-{n:05}", statement=f"Fact {n}") for n in range(MANY)]
    return tuple(QueueItem(MemoryStanding(memory, "candidate"), "proposed") for memory in made)


def test_only_what_somebody_looks_at_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking for contradictions of all that waits would keep a person waiting for nothing."""
    monkeypatch.setattr(review_screen, "PAUSE", 0)
    desk = Watched(items=many())
    desk.ready.set()

    async def act(screen: Driven) -> None:
        assert "10000 wait" in screen.text
        await screen.press("end")
        assert "▸+  FCT-09999" in screen.text
        await screen.press("home", "down", "pagedown")
        assert "▸+  FCT-00001" in screen.text
        await screen.press("slash")
        await screen.type("09998")
        assert "▸+  FCT-09998" in screen.text

    drive(desk, act, NARROW)
    assert set(desk.looked) <= {"FCT-00000", "FCT-00001", "FCT-09998", "FCT-09999"}


def test_the_screen_stands_before_the_queue_is_read() -> None:
    """A slow disk must not look like a program that hangs."""
    desk = Watched()

    async def whole() -> None:
        app = ReviewApp(desk)
        async with app.run_test(size=NARROW) as pilot:
            screen = Driven(app, pilot)
            while "Reading the queue…" not in screen.text:
                await asyncio.sleep(0.01)
            assert "q quit" in screen.text
            await pilot.press("a", "j", "s", "A")  # nothing is decided about what is not there
            desk.ready.set()
            await screen.settle()
            assert "▸+≠ DEC-7f3k" in screen.text

    asyncio.run(whole())


def test_a_queue_that_cannot_be_read_is_an_error_on_the_screen() -> None:
    """Whoever comes back in a minute must know why there is nothing."""
    desk = Watched(broken=True)
    desk.ready.set()

    async def act(screen: Driven) -> None:
        assert "another command holds the shelf" in screen.text
        assert "Try again." in screen.text
        await screen.press("a", "u")

    drive(desk, act, NARROW)


def test_who_holds_a_key_down_is_passing_by() -> None:
    """Ten items a second must not queue up ten looks that nobody waits for."""
    desk = Watched(items=many()[:50])
    desk.ready.set()

    async def whole() -> None:
        app = ReviewApp(desk)
        async with app.run_test(size=NARROW) as pilot:
            screen = Driven(app, pilot)
            await screen.settle()
            for _ in range(30):
                app.screen.action_move(1)  # type: ignore[attr-defined]
            await screen.settle()

    asyncio.run(whole())
    assert desk.looked == ["FCT-00000", "FCT-00030"]


def test_the_selected_row_stays_in_sight_when_the_window_shrinks() -> None:
    """Who decides about a row that cannot be seen decides about another than they think."""
    desk = Watched(items=many()[:50])
    desk.ready.set()

    async def act(screen: Driven) -> None:
        await screen.press("end", "k", "k")
        for size in ((120, 40), (60, 20), (38, 12), (120, 14), (30, 8)):
            await screen.resize(*size)
            for _ in range(100):  # on a busy machine the list is scrolled after the screen was drawn
                if "▸+  FCT-00047" in screen.text:
                    break
                await screen.settle()
            assert "▸+  FCT-00047" in screen.text
        await screen.resize(58, 20)
        assert screen.text.splitlines()[-1].startswith(" ? help q quit a approve")

    drive(desk, act, (120, 40))


def test_a_bug_ends_in_no_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    """Pages of somebody's variables on the terminal help nobody, and may show what is secret."""

    class Broken(Watched):
        def look(self, item: QueueItem) -> ReviewLook:
            raise ZeroDivisionError(f"never seen {item.id}")

    desk = Broken()
    desk.ready.set()
    app = ReviewApp(desk)
    app.run(headless=True, size=NARROW)
    assert isinstance(app.failed, ZeroDivisionError)
    said = capsys.readouterr()
    assert "Traceback" not in said.out + said.err and "never seen" not in said.out + said.err
