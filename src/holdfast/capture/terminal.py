"""The user's side of a running command: the terminal, the signals, and each direction of bytes.

A command on a terminal runs in a pseudo-terminal of its own, so that it behaves as it would without us; the user's is
raw meanwhile, and given back as it was. A command on pipes keeps its own process group; if it asks the real terminal
for something, it gets it. Signals arrive as bytes in a pipe: what was meant for the command is passed on, never acted
on by us. Bytes go to the user first and unchanged, then to the tape. Nothing here waits: a slow reader holds up only
its own stream.
"""

import contextlib
import errno
import os
import select
import signal
import threading
from collections.abc import Callable
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
            for number in [getattr(signal, name) for name in _HEARD if hasattr(signal, name)]:
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


def passed_on(number: int) -> bool:
    """Whether a signal that reached us is meant for the command."""
    return any(getattr(signal, name, None) == number for name in _PASSED_ON)


try:
    import fcntl
    import pty
    import termios
    import tty
except ImportError:  # no terminals of this kind here; capture.plain runs the commands
    POSIX = False
else:
    POSIX = True


def controlling(*handles: int) -> int | None:
    """Whichever of the handles is a terminal of this session, or None."""
    for handle in handles:
        with contextlib.suppress(OSError):
            if os.isatty(handle) and os.tcgetpgrp(handle) > 0:
                return handle
    return None


def in_foreground(handle: int) -> bool:
    """Whether the terminal listens to our process group now."""
    try:
        return os.tcgetpgrp(handle) == os.getpgrp()
    except OSError:
        return False


def give(handle: int, group: int) -> None:
    """Let a process group have the terminal; we may be in its background while we say so."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
    try:
        with contextlib.suppress(OSError):
            os.tcsetpgrp(handle, group)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def open_pair(like: int) -> tuple[int, int]:
    """A new pseudo-terminal (ours, the command's) with the settings and size of the user's."""
    master, slave = pty.openpty()
    with contextlib.suppress(termios.error, OSError):
        termios.tcsetattr(slave, termios.TCSANOW, termios.tcgetattr(like))
    copy_size(like, master)
    return master, slave


def copy_size(source: int, target: int) -> None:
    """Make one terminal as large as another; the kernel tells those who run in it."""
    with contextlib.suppress(OSError):
        size = fcntl.ioctl(source, termios.TIOCGWINSZ, b"\0" * 8)
        fcntl.ioctl(target, termios.TIOCSWINSZ, size)


def adopt() -> None:
    """In a new session, before the command starts: make its standard input its controlling terminal."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def foreground_group(master: int) -> int | None:
    """The process group that a pseudo-terminal's keys go to."""
    try:
        group = os.tcgetpgrp(master)
    except OSError:
        return None
    return group if group > 0 else None


def suspends(master: int, keys: bytes) -> bool:
    """Whether the keys hold the one that stops the program in front (Ctrl-Z), as the program set it."""
    try:
        settings = termios.tcgetattr(master)
    except termios.error:
        return False
    return bool(settings[3] & termios.ISIG) and settings[6][termios.VSUSP] in {bytes([key]) for key in keys}


def leaves_stopping_to_us(pid: int) -> bool:
    """Whether a program neither ignores nor handles Ctrl-Z. Linux tells; elsewhere nobody is stopped."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            fields = dict(line.split(":", 1) for line in file if ":" in line)
        masks = int(fields["SigIgn"], 16) | int(fields["SigCgt"], 16)
    except (OSError, KeyError, ValueError):
        return False
    return not masks >> (signal.SIGTSTP - 1) & 1


class Screen:
    """The user's terminal in raw mode, as long as it is ours to set."""

    def __init__(self, handle: int) -> None:
        self.handle = handle
        self.raw = False
        self._before: list[object] | None = None

    def enter(self) -> None:
        """Hand keys on one by one; in the background, leave the terminal alone."""
        if self.raw or not in_foreground(self.handle):
            return
        with contextlib.suppress(termios.error):
            self._before = termios.tcgetattr(self.handle)
            # TCSANOW: what the user typed ahead stays, and a terminal held by Ctrl-S holds only itself.
            tty.setraw(self.handle, termios.TCSANOW)
            self.raw = True

    def leave(self) -> None:
        """Give the terminal back as it was."""
        if self.raw and self._before is not None:
            self.raw = False
            with contextlib.suppress(termios.error):
                termios.tcsetattr(self.handle, termios.TCSANOW, self._before)  # type: ignore[arg-type]


# Called with a stream's name and a chunk of it; it must not raise.
Tape = Callable[[str, bytes], None]

CHUNK = 1 << 16  # bytes; as much as a pipe holds on Linux
# A pipe that polls writable takes this much without blocking, though it is not ours to make non-blocking.
_ATOMIC = 4096
_GONE = (errno.EPIPE, errno.EIO, errno.EBADF, errno.ECONNRESET)


class Output:
    """What the command writes, on its way to one of the user's handles."""

    def __init__(self, name: str, source: int, sink: int, tape: Tape, *, linger: int) -> None:
        self.name, self.source, self.sink = name, source, sink
        self.open, self.gone = True, False
        self.pending = memoryview(b"")
        self.note: str | None = None
        self._tape = tape
        self._linger = linger  # bytes still recorded after the user's side went away

    def wants(self) -> tuple[int, int] | None:
        """The handle to watch next and for what: never read on while the user has not taken the last."""
        if self.pending:
            return self.sink, select.POLLOUT
        return (self.source, select.POLLIN) if self.open else None

    def move(self) -> bool:
        """Do what `wants` waited for; says whether a byte moved."""
        if self.pending:
            self._pass_on()
            return True
        return self._take()

    def _take(self) -> bool:
        try:
            chunk = os.read(self.source, CHUNK)
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno != errno.EIO:  # nobody has the pseudo-terminal open any more
                raise
            chunk = b""
        if not chunk:
            self.close()
            return False
        self.pending = memoryview(chunk if not self.gone else b"")
        if self.pending:
            self._pass_on()
        self._tape(self.name, chunk)
        if self.gone:  # with no reader left, recorded on for a while; then it meets the broken pipe it should
            self._linger -= len(chunk)
            if self._linger <= 0:
                self.close()
        return True

    def _pass_on(self) -> None:
        """Write what the user's handle takes at once; the rest waits until it polls writable."""
        try:
            while self.pending and _writable(self.sink):
                self.pending = self.pending[os.write(self.sink, self.pending[:_ATOMIC]) :]
        except BlockingIOError:
            return
        except OSError as error:
            self.gone, self.pending = True, memoryview(b"")
            if error.errno not in _GONE:
                self.note = f"the command's {self.name} could not be passed on: {os.strerror(error.errno or 0)}"

    def close(self) -> None:
        if self.open:
            self.open = False
            os.close(self.source)


def _writable(handle: int) -> bool:
    watch = select.poll()
    watch.register(handle, select.POLLOUT)
    return bool(watch.poll(0))


class Input:
    """What the user sends, on its way to the command: a pipe's bytes, or a terminal's keys."""

    def __init__(self, source: int, sink: int, tape: Tape, *, owns_sink: bool) -> None:
        self.source, self.sink = source, sink
        self.open = True
        self.pending = memoryview(b"")
        self._ended = False
        self._tape = tape
        self._owns_sink = owns_sink

    def wants(self) -> tuple[int, int] | None:
        if not self.open:
            return None
        return (self.sink, select.POLLOUT) if self.pending else (self.source, select.POLLIN)

    def move(self) -> bool:
        """Read what came, or write what the command takes."""
        if not self.pending:
            self._take()
        if self.pending:
            self._pass_on()
        if self._ended and not self.pending:
            self.close()
        return True

    def _take(self) -> None:
        try:
            chunk = os.read(self.source, CHUNK)
        except BlockingIOError:
            return
        except OSError:  # the terminal hung up, or the handle was never open
            chunk = b""
        self._ended = not chunk
        self.pending = memoryview(chunk)
        if chunk:
            self._tape("stdin", chunk)

    def _pass_on(self) -> None:
        try:
            while self.pending:
                self.pending = self.pending[os.write(self.sink, self.pending) :]
        except BlockingIOError:
            return
        except OSError:  # the command no longer reads
            self.pending, self._ended = memoryview(b""), True

    def close(self) -> None:
        if self.open:
            self.open = False
            if self._owns_sink:
                os.close(self.sink)
