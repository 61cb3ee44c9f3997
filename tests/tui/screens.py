"""Driving the review screen: press keys, wait until all came of them, read what stands there."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from textual import _wait
from textual.events import Paste
from textual.pilot import Pilot

from holdfast.interfaces.tui.review_screen import QueueScreen, ReviewApp
from holdfast.project import Project
from holdfast.recall.passage import cited
from tests.conftest import golden as golden  # noqa: PLC0414 - with the other words of these tests

BARS = re.compile("[▁-█]")
WIDE, MIDDLE, NARROW, SMALL = (120, 34), (100, 28), (80, 24), (38, 12)


# Textual waits a while after each key to see whether the machine is idle; `settle` knows better.
_wait.SLEEP_GRANULARITY, _wait.SLEEP_IDLE = 0.001, 1.0
CALM = 3  # looks at a screen on which nothing is under way, one after the other


class Driven:
    """The screen under a test's fingers."""

    def __init__(self, app: ReviewApp, pilot: Pilot[None]) -> None:
        self.app, self._pilot = app, pilot

    @property
    def text(self) -> str:
        """The screen as text; bars to scroll by are left out, versions of Textual draw them in their ways."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(BARS.sub(" ", strip.text).rstrip() for strip in strips) + "\n"

    @property
    def ids(self) -> list[str]:
        """What the queue shows."""
        return [item.id for item in self.app.tray.shown]

    async def press(self, *keys: str) -> None:
        """Press keys one after the other, each when the one before is done with."""
        for key in keys:
            await self._pilot.press(key)
            await self.settle()

    async def type(self, text: str) -> None:
        """Put a text in at the cursor of whatever has the focus, as a terminal pastes it."""
        self.app.post_message(Paste(text))
        await self.settle()

    async def click(self, x: int, y: int) -> None:
        """Click on a place of the screen; rows count from the end if they are negative."""
        await self._pilot.click(offset=(x, y if y >= 0 else self.app.size.height + y))
        await self.settle()

    async def settle(self) -> None:
        """Wait until nothing is asked, looked up or drawn any more."""
        calm = 0
        while calm < CALM:
            await self._pilot.pause()
            await self.app.workers.wait_for_complete()
            base = next(one for one in self.app.screen_stack if isinstance(one, QueueScreen))
            calm = 0 if base._hands.asked or list(self.app.workers) else calm + 1

    async def resize(self, width: int, height: int) -> None:
        await self._pilot.resize_terminal(width, height)
        await self.settle()


@asynccontextmanager
async def opened(desk: Any, size: tuple[int, int] = MIDDLE) -> AsyncIterator[Driven]:
    """The review screen over a desk."""
    is_project = isinstance(desk, Project)
    app = ReviewApp(desk.memory if is_project else desk, partial(cited, desk.clone) if is_project else desk.cited)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        driven = Driven(app, pilot)
        await driven.settle()
        yield driven


def drive(desk: Any, act: Callable[[Driven], Coroutine[Any, Any, None]], size: tuple[int, int] = MIDDLE) -> ReviewApp:
    """Open the screen, do something, close it; gives the application for what it would say."""

    async def whole() -> ReviewApp:
        async with opened(desk, size) as screen:
            try:
                await act(screen)
            except AssertionError:
                print(screen.text)  # what stood there when it failed
                raise
            return screen.app

    return asyncio.run(whole())
