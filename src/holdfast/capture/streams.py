"""One direction of a command's bytes each: to the user first and unchanged, then to the tape.

Nothing here waits: whoever reads slowly holds up only the stream that they read.
"""

import errno
import os
import select
from collections.abc import Callable

from holdfast.capture import terminal

# Called with a stream's name and a chunk of it; it must not raise.
Tape = Callable[[str, bytes], None]

CHUNK = 1 << 16
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
            if not terminal.at_end(error):
                raise
            chunk = b""
        if not chunk:
            self.close()
            return False
        self.pending = memoryview(chunk if not self.gone else b"")
        if self.pending:
            self._pass_on()
        self._tape(self.name, chunk)
        if self.gone:
            self._spend(len(chunk))
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

    def _spend(self, count: int) -> None:
        """With no reader left, record on for a while; then the command meets the broken pipe it should."""
        self._linger -= count
        if self._linger <= 0:
            self.close()

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
