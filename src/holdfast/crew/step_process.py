"""Runs one program of a crew to its end or its limit, and leaves no process behind.

The program gets a session of its own and a mark in its environment. Whatever it started is ended with it: the whole
group, and by the mark what left the group. Its output is read as it comes, kept up to a limit and hashed to its end.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import selectors
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence

from holdfast.model.text import visible
from holdfast.patterns import regex
from holdfast.values import frozen

MARK = "HOLDFAST_STEP"  # in the environment of a step's processes: its name, which no other step has
KEPT = 1 << 20  # bytes of output that are kept: enough to see what went wrong
TAIL = 8 << 10  # bytes of its end that are quoted
GRACE = 2.0  # seconds between asking a program to end and ending it: agents write their last lines then
LINGER = 1.0  # seconds for the rest of the output, once nobody of the group is left to write it
LOOK = 0.25  # seconds between two looks at limits
CHUNK = 1 << 16  # bytes; as much as a pipe holds on Linux
_WRONG = regex(r"error|exception|assert|expected|panic|undefined|not found|cannot|mismatch|must", re.IGNORECASE)
_FRAME = regex(
    r"make(?:\[\d+\])?:|FAILED \(|=+|-+|\d+ (?:passed|failed)|npm ERR!"
)  # what only says that something failed

Watch = Callable[[], str | None]  # why a step has to end now; None while it may go on


@frozen(kw_only=True)
class StepEnd:
    """How a program ended: its code, or 128 + n for signal n; `stopped` says why it was ended before its time."""

    exit_status: int
    seconds: float
    output: bytes = b""  # the beginning, up to a limit
    tail: str = ""
    size: int = 0
    output_sha256: str = ""
    stopped: str | None = None

    @property
    def is_ok(self) -> bool:
        return self.exit_status == 0 and self.stopped is None


def run_step(
    argv: Sequence[str],
    *,
    cwd: str,
    environ: Mapping[str, str],
    mark: str,
    given: bytes | None = None,
    seconds: float | None = None,
    heard: Callable[[bytes], None] = lambda _: None,
    watch: Watch = lambda: None,
) -> StepEnd:
    """Run a program; `heard` gets its stdout, `watch` is asked again and again whether it has to end.

    A program that cannot be started ends with 127, as in a shell.
    """
    began = time.monotonic()
    try:
        step = _Step(argv, cwd=cwd, environ={**environ, MARK: mark}, given=given, heard=heard)
    except (OSError, ValueError) as error:
        why = f"{argv[0]}: {error.strerror if isinstance(error, OSError) else error}\n"
        return StepEnd(exit_status=127, seconds=0.0, tail=why, output=why.encode("utf-8", "replace"), size=len(why))
    stopped: str | None = None
    try:
        while step.is_running():
            step.read(LOOK)
            late = seconds is not None and time.monotonic() - began > seconds
            stopped = f"it took longer than {seconds:g} s" if late else watch()
            if stopped is not None:
                step.end(GRACE)
                break
    finally:
        step.end(0.0 if stopped is None else GRACE)
        end_marked(mark)
        if _Adopting.is_on:
            _end_children()
    step.read_rest()
    return step.ended(time.monotonic() - began, stopped)


class _Adopting:
    """Whether this process gets what its steps leave behind; a fact of the process, as the kernel keeps it."""

    is_on = False


def adopt_orphans() -> None:
    """From now on, what a step leaves behind becomes this process's child, and ends with the step (Linux only).

    For a process that runs steps one after the other and starts nothing else meanwhile: a worker.
    """
    if sys.platform == "linux":
        import ctypes  # only workers need it

        _Adopting.is_on = ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0) == 0


_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER


def _end_children() -> None:
    """End and reap every child of this process: the step's own was reaped, so each is an orphan of it."""
    for _ in range(20):
        found = [number for number in _processes() if _parent(number) == os.getpid()]
        for number in found:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(number, signal.SIGKILL)
                os.waitpid(number, 0)
        if not found:
            return


def _parent(number: int) -> int:
    try:
        with open(f"/proc/{number}/stat", "rb") as file:
            return int(file.read().rpartition(b") ")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0


class _Step:
    """One program while it runs."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        environ: Mapping[str, str],
        given: bytes | None,
        heard: Callable[[bytes], None],
    ) -> None:
        pipe = subprocess.PIPE
        self._child = subprocess.Popen(
            list(argv),
            cwd=cwd,
            env=dict(environ),
            stdin=pipe if given else subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
            start_new_session=True,
        )
        self._heard, self._given = heard, memoryview(given or b"")
        self._kept, self._tail, self._size, self._hash = bytearray(), bytearray(), 0, hashlib.sha256()
        self._streams = selectors.DefaultSelector()
        for stream in filter(None, (self._child.stdout, self._child.stderr)):
            os.set_blocking(stream.fileno(), False)
            self._streams.register(stream, selectors.EVENT_READ)
        if self._child.stdin is not None:
            os.set_blocking(self._child.stdin.fileno(), False)
            self._streams.register(self._child.stdin, selectors.EVENT_WRITE)

    def is_running(self) -> bool:
        """Whether the program itself runs; it is not reaped here, so that its number stays the group's."""
        if self._child.returncode is not None:
            return False
        look = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self._child.pid, look) is None

    def read(self, wait: float) -> bool:
        """Take what there is, waiting so long for something; whether there was anything."""
        if not self._streams.get_map():
            time.sleep(min(wait, 0.02))
            return False
        moved = False
        for key, _ in self._streams.select(min(wait, 0.05)):
            moved = True
            if key.fileobj is self._child.stdin:
                self._give()
                continue
            data = b""
            with contextlib.suppress(BlockingIOError, InterruptedError):
                data = os.read(key.fd, CHUNK)
                if not data:
                    self._streams.unregister(key.fileobj)
            self._take(data, is_report=key.fileobj is self._child.stdout)
        return moved

    def _give(self) -> None:
        stdin = self._child.stdin
        assert stdin is not None
        try:
            self._given = self._given[os.write(stdin.fileno(), self._given[:CHUNK]) :]
        except BlockingIOError:
            return
        except OSError:  # it reads no more
            self._given = memoryview(b"")
        if not self._given:
            self._streams.unregister(stdin)
            with contextlib.suppress(OSError):
                stdin.close()

    def _take(self, data: bytes, *, is_report: bool) -> None:
        self._size += len(data)
        self._hash.update(data)
        self._kept += data[: max(0, KEPT - len(self._kept))]
        self._tail += data
        del self._tail[:-TAIL]
        if data and is_report:
            self._heard(data)

    def read_rest(self) -> None:
        """What is still in the pipes; who holds them open now left the group and hides from us."""
        until = time.monotonic() + LINGER
        if self._given:
            self._streams.unregister(self._child.stdin)  # type: ignore[arg-type]
        while self._streams.get_map() and time.monotonic() < until:
            self.read(0.05)
        self._streams.close()
        for stream in (self._child.stdin, self._child.stdout, self._child.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def end(self, grace: float) -> None:
        """End the whole group: asked first, then by force."""
        if grace and self.is_running():
            self._signal(signal.SIGTERM)
            until = time.monotonic() + grace
            while self.is_running() and time.monotonic() < until:
                self.read(0.05)
        if self._child.returncode is None:
            self._signal(signal.SIGKILL)
            self._child.wait()

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._child.pid, number)

    def ended(self, seconds: float, stopped: str | None) -> StepEnd:
        code = self._child.returncode
        return StepEnd(
            exit_status=code if code >= 0 else 128 - code,
            seconds=seconds,
            output=bytes(self._kept),
            tail=visible(self._tail.decode("utf-8", "replace")),
            size=self._size,
            output_sha256=self._hash.hexdigest(),
            stopped=stopped,
        )


def end_marked(mark: str) -> int:
    """End every process that carries a mark, or one that begins with it and a slash; gives how many there were.

    Only where processes can be looked at (Linux); elsewhere the group has to do. A process starts others while we look,
    so we look until there is none.
    """
    wanted, ended = f"{MARK}={mark}".encode(), 0
    for _ in range(20):
        found = [number for number in _processes() if _carries(number, wanted)]
        if not found:
            break
        for number in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(number, signal.SIGKILL)
                ended += 1
        time.sleep(0.01)
    return ended


def _processes() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]
    except OSError:
        return []


def _carries(number: int, wanted: bytes) -> bool:
    try:
        with open(f"/proc/{number}/environ", "rb") as file:
            found = file.read()
        if wanted not in found:  # as with nearly all of them
            return False
        with open(f"/proc/{number}/stat", "rb") as file:
            is_dead = file.read().rpartition(b") ")[2][:1] in (b"Z", b"X")
    except OSError:
        return False
    return not is_dead and any(row == wanted or row.startswith(wanted + b"/") for row in found.split(b"\0"))


def telling_line(text: str) -> str:
    """The line of a check's output that most likely says what is wrong: the last one that names an error."""
    rows = [row.strip() for row in text.splitlines() if row.strip()]
    named = [row for row in rows if _WRONG.search(row) and not _FRAME.match(row)]
    return visible(named[-1])[:300] if named else last_line(text)


def last_line(text: str) -> str:
    """The last words of a program, in one line."""
    rows = [row.strip() for row in text.splitlines() if row.strip()]
    return visible(rows[-1])[:300] if rows else "it said nothing"


class WorkerProcess:
    """A worker, started by this supervisor, whose number is its input; it ends when that is closed."""

    def __init__(
        self, run: str, agent: Sequence[str], bell: threading.Event, *, cwd: str, environ: Mapping[str, str]
    ) -> None:
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the worker
        words = ("crew", "work", "--run", run, "--agent", shlex.join(agent))
        self._child = subprocess.Popen(
            [sys.executable, "-m", "holdfast", *words],
            cwd=cwd,
            env=dict(environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints.fileno(),
            start_new_session=True,
        )
        self.pid = self._child.pid
        assert self._child.stdin is not None
        with contextlib.suppress(OSError):  # it is gone already
            self._child.stdin.write(f"{os.getpid()}\n".encode())
            self._child.stdin.flush()
        threading.Thread(target=self._listen, args=(bell,), daemon=True).start()

    def _listen(self, bell: threading.Event) -> None:
        assert self._child.stdout is not None
        with contextlib.suppress(OSError, ValueError):
            while self._child.stdout.read1(1024):  # type: ignore[attr-defined]
                bell.set()
        bell.set()

    def is_running(self) -> bool:
        return self._child.poll() is None

    def complaint(self) -> str:
        """Its last words, if it ended by itself."""
        self._complaints.seek(0)
        return last_line(self._complaints.read()[-4000:].decode("utf-8", "replace"))

    def close(self) -> None:
        if self._child.stdin is not None:
            with contextlib.suppress(OSError):
                self._child.stdin.close()

    def end(self, until: float) -> None:
        try:
            self._child.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
