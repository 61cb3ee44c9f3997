"""Runs one command as if nobody watched: every byte, signal and exit code passes through.

On a terminal the command gets a pseudo-terminal, else separate pipes. It runs in a process group of its own, and what
is sent to us reaches the whole group. Where there are neither groups nor pseudo-terminals (Windows), it gets pipes
and threads. What is done with the bytes is decided by the tape that is handed in.
"""

import contextlib
import errno
import os
import select
import shutil
import signal
import stat
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from typing import IO

from holdfast.capture import terminal
from holdfast.capture.terminal import CHUNK, Input, Output, Signals, Tape, passed_on
from holdfast.errors import BadInput
from holdfast.values import frozen

NO_GROUPS_NOTE = "this system has no process groups: signals reach only the command, which gets no terminal"


NOT_FOUND, NOT_EXECUTABLE = 127, 126  # as a shell ends for such a command

# A background process may keep the command's output open for ever. Once the command itself has ended we
# wait this long for more, from the last byte and in all.
_QUIET, _PATIENCE = 0.2, 2.0
_ODD = select.POLLERR | select.POLLHUP | select.POLLNVAL if hasattr(select, "poll") else 0
_BLIND_LOOK = 0.02  # where no signal can tell us that the command ended
_LEFT_OPEN = "a background process still holds the command's output; what it writes from now on is not recorded"


@frozen
class Handles:
    """Where the user's side of a command is."""

    stdin: int = 0
    stdout: int = 1
    stderr: int = 2


@frozen
class CommandEnd:
    """How a command ended: its code, or 128 + n for signal n; and what we could not do for it."""

    exit_code: int
    started: bool = True
    notes: tuple[str, ...] = ()


def guard_handles() -> None:
    """Open whatever standard handle is closed, so that no file of ours takes its number and its output."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number: this one


@frozen
class WatchedCommand:
    """A command to run, and where its bytes and signals go."""

    argv: Sequence[str]
    cwd: str
    environ: Mapping[str, str]
    tape: Tape
    signals: Signals
    handles: Handles = Handles()
    on_terminal: bool = False
    linger: int = 1 << 20  # bytes that are recorded after the user's side went away

    def start(self, **options: object) -> "subprocess.Popen[bytes]":
        """Start it; a script without a `#!` line goes to the shell, as every shell does."""
        # close_fds=False: handles the user meant for the command (make's job server, 3>log) stay open;
        # ours are all close-on-exec.
        options |= {"cwd": self.cwd, "env": self.environ, "close_fds": False, "bufsize": 0}
        try:
            return subprocess.Popen(self.argv, **options)  # type: ignore[call-overload,no-any-return]
        except OSError as error:
            if error.errno != errno.ENOEXEC:
                raise
            script = shutil.which(self.argv[0], path=self.environ.get("PATH")) or self.argv[0]
            return subprocess.Popen(["/bin/sh", script, *self.argv[1:]], **options)  # type: ignore[call-overload,no-any-return]

    def output(self, name: str, source: int) -> Output:
        """What it writes, on its way to the user's handle."""
        sink = self.handles.stderr if name == "stderr" else self.handles.stdout
        return Output(name, source, sink, self.tape, linger=self.linger)


def refuse_no_command(argv: Sequence[str]) -> None:
    """Refuse what no system can run."""
    if not argv or any("\0" in word for word in argv):
        raise BadInput("there is no command to run", hint="Write it after `--`: holdfast run -- make test")


def execute_with_pipes(command: WatchedCommand) -> CommandEnd:
    """Runs a command where there are neither process groups nor pseudo-terminals; says so."""
    pipe = subprocess.PIPE
    child = subprocess.Popen(command.argv, cwd=command.cwd, env=dict(command.environ), stdout=pipe, stderr=pipe)
    assert child.stdout is not None and child.stderr is not None
    turn = threading.Lock()
    streams = [("stdout", child.stdout, 1), ("stderr", child.stderr, 2)]
    threads = [threading.Thread(target=_copy, args=(*s, command.tape, turn), daemon=True) for s in streams]
    for thread in threads:
        thread.start()
    while child.returncode is None:
        with contextlib.suppress(KeyboardInterrupt):  # the console sent it to the command too; its answer counts
            child.wait()
    for thread in threads:
        thread.join(timeout=2.0)  # a background process may keep a pipe open for ever
    code = child.returncode
    return CommandEnd(code if code >= 0 else 128 - code, notes=(NO_GROUPS_NOTE,))


def _copy(name: str, source: IO[bytes], sink: int, tape: Tape, turn: threading.Lock) -> None:
    gone = False
    while chunk := os.read(source.fileno(), CHUNK):
        with turn:
            try:
                view = memoryview(b"" if gone else chunk)
                while view:
                    view = view[os.write(sink, view) :]
            except OSError:
                gone = True
            tape(name, chunk)


def execute(command: WatchedCommand) -> CommandEnd:
    """Run a command to its end; a command that cannot start ends with 127 or 126, as in a shell."""
    refuse_no_command(command.argv)
    try:
        return _Watch(command).run() if terminal.POSIX else execute_with_pipes(command)
    except OSError as error:
        if error.filename is None and error.errno not in _NO_START:
            raise
        missing = error.errno == errno.ENOENT
        why = "command not found" if missing else f"cannot be run: {os.strerror(error.errno or 0).lower()}"
        code = NOT_FOUND if missing else NOT_EXECUTABLE
        return CommandEnd(code, started=False, notes=(f"{command.argv[0]}: {why}",))


_NO_START = (errno.ENOENT, errno.EACCES, errno.ENOEXEC, errno.E2BIG, errno.ENOTDIR, errno.ELOOP)


def _is_stream(handle: int) -> bool:
    """Whether a handle is a pipe or socket: a file can be read twice, a stream must be handed on."""
    try:
        mode = os.fstat(handle).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


class _Watch:
    """One command while it runs."""

    def __init__(self, command: WatchedCommand) -> None:
        self._command, self._signals, self._handles = command, command.signals, command.handles
        self._status: int | None = None
        self._input: Input | None = None
        self._screen: terminal.Screen | None = None
        self._tty = terminal.controlling(self._handles.stdin, self._handles.stdout, self._handles.stderr)
        self._lent = False
        self._outputs = self._start_on_terminal() if command.on_terminal else self._start_on_pipes()
        for output in self._outputs:
            os.set_blocking(output.source, False)

    def _start_on_terminal(self) -> list[Output]:
        apart = not os.isatty(self._handles.stderr)  # `2>log` stays a log
        user = self._handles.stdin
        master, slave = terminal.open_pair(like=user)
        sinks = {"stdin": slave, "stdout": slave, "stderr": subprocess.PIPE if apart else slave}
        try:
            self._child = self._command.start(**sinks, start_new_session=True, preexec_fn=terminal.adopt)
        except OSError:
            os.close(master)
            raise
        finally:
            os.close(slave)
        self._screen = terminal.Screen(user)
        self._input = Input(user, master, self._watch_keys, owns_sink=False)
        outputs = [self._command.output("terminal", master)]
        return [*outputs, self._command.output("stderr", _take_over(self._child.stderr))] if apart else outputs

    def _start_on_pipes(self) -> list[Output]:
        pipe, tee = subprocess.PIPE, _is_stream(self._handles.stdin)
        stdin = pipe if tee else self._handles.stdin
        self._child = self._command.start(stdin=stdin, stdout=pipe, stderr=pipe, process_group=0)
        outputs = [
            self._command.output("stdout", _take_over(self._child.stdout)),
            self._command.output("stderr", _take_over(self._child.stderr)),
        ]
        if tee:
            sink = _take_over(self._child.stdin)
            os.set_blocking(sink, False)
            self._input = Input(self._handles.stdin, sink, self._command.tape, owns_sink=True)
        return outputs

    def run(self) -> CommandEnd:
        """Serve the command until it ended and its output is passed on."""
        try:
            if self._screen is not None:
                self._screen.enter()
            left_open = self._serve()
        finally:
            self._give_back()
        notes = [output.note for output in self._outputs if output.note]
        return CommandEnd(_exit_code(self._status or 0), notes=(*notes, *((_LEFT_OPEN,) if left_open else ())))

    def _serve(self) -> bool:
        """Whether somebody still held the output when we stopped listening."""
        last = ended = 0.0
        while True:
            if self._status is None:
                self._look_after_child()
                last = ended = time.monotonic()
            elif not any(output.wants() for output in self._outputs):
                return False
            elif not any(output.pending for output in self._outputs):  # else the user has not taken what is theirs yet
                now = time.monotonic()
                if now - last > _QUIET or now - ended > _PATIENCE:
                    return True
            if self._move_what_is_ready():
                last = time.monotonic()

    def _move_what_is_ready(self) -> bool:
        events: dict[int, int] = {self._signals.wake: select.POLLIN}
        wanted: list[tuple[int, int, Output | Input]] = []
        listening = self._status is None and (self._screen is None or (self._screen.raw and self._outputs[0].open))
        streams: list[Output | Input] = [*self._outputs]
        streams += [self._input] if self._input is not None and listening else []
        for stream in streams:
            if want := stream.wants():
                wanted.append((*want, stream))
                events[want[0]] = events.get(want[0], 0) | want[1]
        watch = select.poll()
        for handle, mask in events.items():
            watch.register(handle, mask)
        # Milliseconds until we look again though nothing happened.
        pause = 1000.0 if self._signals.heard else _BLIND_LOOK * 1000
        ready = dict(watch.poll(pause if self._status is None else _QUIET * 1000 / 4))
        if self._signals.wake in ready:
            self._hear()
        moved = [s.move() for handle, mask, s in wanted if ready.get(handle, 0) & (mask | _ODD)]
        return any(moved)

    def _hear(self) -> None:
        for number in self._signals.arrived():
            if number == signal.SIGWINCH and self._master is not None:
                terminal.copy_size(self._handles.stdin, self._master)
            elif number == signal.SIGCONT:
                self._resume()
            elif passed_on(number) and self._status is None:
                self._send(number)

    @property
    def _master(self) -> int | None:
        """Our end of the command's pseudo-terminal, while there is one."""
        return self._outputs[0].source if self._screen is not None and self._outputs[0].open else None

    def _send(self, number: int) -> None:
        """Pass a signal to the command's group, and to whoever has its terminal."""
        groups = {self._child.pid}
        if self._master is not None and (group := terminal.foreground_group(self._master)):
            groups.add(group)
            if number == signal.SIGTSTP:  # the kernel drops a stop that no shell of that session could undo
                number = signal.SIGSTOP
        for group in groups:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, number)

    def _watch_keys(self, _: str, keys: bytes) -> None:
        """Stop the command on Ctrl-Z if it counts on its shell for that: in its own session it has none."""
        master, child = self._master, self._child.pid
        if (
            master is not None
            and terminal.suspends(master, keys)
            and terminal.foreground_group(master) == child
            and terminal.leaves_stopping_to_us(child)
        ):
            self._send(signal.SIGTSTP)

    def _look_after_child(self) -> None:
        try:
            pid, status = os.waitpid(self._child.pid, os.WNOHANG | os.WUNTRACED)
        except ChildProcessError:  # whoever started us has all children reaped at once
            self._status = 0
            return
        if pid == 0:
            return
        if os.WIFSTOPPED(status):
            self._stopped(os.WSTOPSIG(status))
            return
        self._status = status
        self._child.returncode = _exit_code(status)
        if self._input is not None:
            self._input.close()

    def _stopped(self, number: int) -> None:
        """The command was stopped: for want of the terminal, or because the user pressed Ctrl-Z."""
        if self._tty is None:
            return
        if number in (signal.SIGTTIN, signal.SIGTTOU) and terminal.in_foreground(self._tty):
            terminal.give(self._tty, self._child.pid)
            self._lent = True
            self._send(signal.SIGCONT)
            return
        self._give_back()
        os.kill(os.getpid(), signal.SIGSTOP)
        self._resume()

    def _resume(self) -> None:
        if self._status is None:
            self._send(signal.SIGCONT)
        if self._screen is not None:
            self._screen.enter()

    def _give_back(self) -> None:
        if self._screen is not None:
            self._screen.leave()
        if self._lent and self._tty is not None:
            self._lent = False
            terminal.give(self._tty, os.getpgrp())


def _take_over(pipe: object) -> int:
    """The handle of one of subprocess's pipes, now ours to close."""
    handle = os.dup(pipe.fileno())  # type: ignore[attr-defined]
    pipe.close()  # type: ignore[attr-defined]
    return handle


def _exit_code(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code
