"""The user's terminal while a command owns it: raw, the right size, and given back as it was.

A command on a terminal runs in a pseudo-terminal of its own, so that it behaves as it would without us.
A command on pipes keeps its own process group; if it asks the real terminal for something, it gets it.
"""

import contextlib
import errno
import os
import signal

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
        try:
            if os.isatty(handle) and os.tcgetpgrp(handle) > 0:
                return handle
        except OSError:
            continue
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
    return bool(settings[3] & termios.ISIG) and settings[6][termios.VSUSP] in (
        keys[i : i + 1] for i in range(len(keys))
    )


def leaves_stopping_to_us(pid: int) -> bool:
    """Whether a program neither ignores nor handles Ctrl-Z. Linux tells; elsewhere nobody is stopped."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            fields = dict(line.split(":", 1) for line in file if ":" in line)
        masks = int(fields["SigIgn"], 16) | int(fields["SigCgt"], 16)
    except (OSError, KeyError, ValueError):
        return False
    return not masks >> (signal.SIGTSTP - 1) & 1


def at_end(error: OSError) -> bool:
    """Whether reading a pseudo-terminal failed only because nobody has it open any more."""
    return error.errno == errno.EIO


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
