"""Signals as bytes in a pipe: what was meant for the command is read and passed on, never acted on by us."""

import contextlib
import os
import signal
import threading
from types import FrameType
from typing import Self

_PASSED_ON = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGTSTP", "SIGCONT")
_HEARD = (*_PASSED_ON, "SIGCHLD", "SIGWINCH")


def _noted(number: int, frame: FrameType | None) -> None:
    """The wake-up pipe has the signal's number; nothing else is to be done."""


class Signals:
    """While entered, signals wake `wake` instead of ending us, also while the record is being finished.

    Python allows this on the main thread only; elsewhere `heard` is False and callers look by the clock.
    """

    def __init__(self) -> None:
        self.heard = False
        self.wake = -1
        self._write = -1
        self._before: dict[int, object] = {}
        self._fd_before = -1

    def __enter__(self) -> Self:
        if not hasattr(signal, "SIGCHLD"):
            return self  # a system without process groups: capture.plain waits for the command itself
        self.wake, self._write = os.pipe()
        os.set_blocking(self.wake, False)
        os.set_blocking(self._write, False)
        if threading.current_thread() is threading.main_thread():
            self._fd_before = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
            self.heard = True
            for number in _numbers():
                # Ignored by whoever started us (nohup, `&` in a script): so it stays, for the command too.
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, _noted)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        if self.heard:
            signal.set_wakeup_fd(self._fd_before)
            self.heard = False
        for handle in (self.wake, self._write):
            if handle >= 0:
                os.close(handle)

    def arrived(self) -> bytes:
        """The numbers of the signals that came since the last look."""
        with contextlib.suppress(BlockingIOError):
            return os.read(self.wake, 4096)
        return b""


def _numbers() -> list[signal.Signals]:
    return [getattr(signal, name) for name in _HEARD if hasattr(signal, name)]


def passed_on(number: int) -> bool:
    """Whether a signal that reached us is meant for the command."""
    return any(getattr(signal, name, None) == number for name in _PASSED_ON)
