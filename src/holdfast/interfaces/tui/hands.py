"""The one thread that touches the store while a screen is open.

Everything that reads or writes goes through it in the order it was asked for: the screen stays alive, and
two things never touch the store at once.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

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
