"""A command under the wrapper behaves as it does without: bytes, signals, codes, terminals."""

import hashlib
import os
import pty
import resource
import select
import signal
import subprocess
import sys
import termios
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from holdfast.capture import process
from holdfast.capture.process import CommandEnd, Handles, WatchedCommand
from holdfast.capture.terminal import Signals
from holdfast.errors import BadInput

PYTHON = sys.executable

# Newer Pythons warn of a fork beside threads; the forked process here becomes another program at once.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


@dataclass
class Reader:
    """Collects what arrives at one end of a pipe."""

    data: bytearray = field(default_factory=bytearray)

    @contextmanager
    def listening(self) -> Iterator[int]:
        read, write = os.pipe()
        thread = threading.Thread(target=self._collect, args=(read,))
        thread.start()
        try:
            yield write
        finally:
            os.close(write)
            thread.join()
            os.close(read)

    def _collect(self, handle: int) -> None:
        while chunk := os.read(handle, 1 << 16):
            self.data += chunk


@dataclass
class Seen:
    """What the user saw, what the tape got, how it ended."""

    ended: CommandEnd
    out: bytes
    err: bytes
    tape: dict[str, bytes]


def execute(argv: Sequence[str], **options: object) -> CommandEnd:
    return process.execute(WatchedCommand(argv, **options))  # type: ignore[arg-type]


def run(*argv: str, stdin: int | None = None, cwd: str = "/", **options: object) -> Seen:
    tape: dict[str, bytearray] = defaultdict(bytearray)
    out, err = Reader(), Reader()
    null = os.open(os.devnull, os.O_RDWR)
    try:
        with out.listening() as to_out, err.listening() as to_err, Signals() as signals:
            ended = execute(
                argv,
                cwd=cwd,
                environ=dict(os.environ),
                tape=lambda name, chunk: tape[name].extend(chunk),
                signals=signals,
                handles=Handles(null if stdin is None else stdin, to_out, to_err),
                **options,  # type: ignore[arg-type]
            )
    finally:
        os.close(null)
    return Seen(ended, bytes(out.data), bytes(err.data), {k: bytes(v) for k, v in tape.items()})


def script(code: str) -> tuple[str, ...]:
    return (PYTHON, "-S", "-c", code)


@contextmanager
def piped(data: bytes, *, close: bool = True) -> Iterator[int]:
    """The reading end of a pipe that somebody writes `data` to."""
    read, write = os.pipe()

    def feed() -> None:
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(write, view) :]
        except BrokenPipeError:
            pass
        if close:
            os.close(write)

    thread = threading.Thread(target=feed)
    thread.start()
    try:
        yield read
    finally:
        os.close(read)
        thread.join()
        if not close:
            os.close(write)


def test_every_byte_arrives_on_the_stream_it_was_written_to() -> None:
    """A wrapper that changes a program's output breaks whatever reads it."""
    blob = bytes(range(256)) * 1000
    code = "import os,sys; b=bytes(range(256))*1000; os.write(2,b[:5]); sys.stdout.buffer.write(b)"
    seen = run(*script(code))
    assert (seen.out, seen.err) == (blob, blob[:5])
    assert seen.tape == {"stdout": blob, "stderr": blob[:5]}
    assert seen.ended == CommandEnd(0)


def test_output_is_passed_on_before_the_command_ends() -> None:
    """A progress line that shows up at the end is no progress line."""
    read, write = os.pipe()
    answers: list[bytes] = []
    gate_read, gate_write = os.pipe()

    def watch() -> None:
        answers.append(os.read(read, 100))
        os.write(gate_write, b"seen\n")
        os.close(gate_write)

    thread = threading.Thread(target=watch)
    thread.start()
    with Signals() as signals:
        ended = execute(
            ["sh", "-c", "echo early; read answer; test $answer = seen"],
            cwd="/",
            environ=os.environ,
            tape=lambda *_: None,
            signals=signals,
            handles=Handles(gate_read, write, write),
        )
    thread.join()
    for handle in (read, write, gate_read):
        os.close(handle)
    assert answers == [b"early\n"]
    assert ended.exit_code == 0


@pytest.mark.parametrize("code", [0, 1, 7, 125, 255])
def test_the_exit_code_is_the_commands(code: int) -> None:
    """A script that asks `$?` must get the command's answer."""
    assert run("sh", "-c", f"exit {code}").ended.exit_code == code


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_death_by_signal_reads_as_in_a_shell(number: signal.Signals) -> None:
    """128 + n is how every shell says it."""
    assert run("sh", "-c", f"kill -{number.value} $$").ended.exit_code == 128 + number


def test_a_command_that_is_not_there_ends_as_in_a_shell(tmp_path: Path) -> None:
    """127, 126: scripts tell them apart."""
    plain_file = tmp_path / "notes.txt"
    plain_file.write_text("no program\n")
    missing, refused, folder = run("no-such-command-here"), run(str(plain_file)), run(str(tmp_path))
    assert (missing.ended.exit_code, missing.ended.started) == (127, False)
    assert (refused.ended.exit_code, refused.ended.started) == (126, False)
    assert folder.ended.exit_code == 126
    assert "not found" in missing.ended.notes[0]


def test_a_script_without_a_first_line_goes_to_the_shell(tmp_path: Path) -> None:
    """It runs without us, so it runs with us."""
    file = tmp_path / "job"
    file.write_text("echo from the shell $1\n")
    file.chmod(0o755)
    assert run(str(file), "yes").out == b"from the shell yes\n"


def test_no_command_is_refused() -> None:
    """An empty call is our refusal, not a crash."""
    for argv in ((), ("a\0b",)):
        with pytest.raises(BadInput):
            run(*argv)


def test_piped_input_reaches_the_command_and_the_tape() -> None:
    """Binary, larger than any pipe buffer, and then its end."""
    data = os.urandom(300_000)
    with piped(data) as stdin:
        seen = run("cat", stdin=stdin)
    assert seen.out == data
    assert seen.tape["stdin"] == data


def test_input_nobody_writes_does_not_hold_the_command() -> None:
    """An agent's harness often leaves a pipe open that never ends."""
    with piped(b"", close=False) as stdin:
        assert run("echo", "done", stdin=stdin).out == b"done\n"


def test_a_command_that_does_not_read_ends_though_input_goes_on() -> None:
    """`yes | holdfast run -- true` must end."""
    with piped(b"y\n" * 500_000) as stdin:
        assert run("true", stdin=stdin).ended.exit_code == 0


def test_a_files_content_is_left_to_the_command(tmp_path: Path) -> None:
    """`while read` loops over a file must not lose lines to us."""
    file = tmp_path / "lines"
    file.write_bytes(b"one\ntwo\nthree\n")
    handle = os.open(file, os.O_RDONLY)
    try:
        assert run("sh", "-c", "read a; echo $a", stdin=handle).out == b"one\n"
        assert run("cat", stdin=handle).out.endswith(b"three\n")
    finally:
        os.close(handle)


def test_a_background_process_does_not_hold_us() -> None:
    """A server started by a script keeps the pipe; the script itself has ended."""
    seen = run("sh", "-c", "sleep 60 & echo $!; exit 3")
    os.kill(int(seen.out), signal.SIGKILL)  # it was still there when we were done
    assert seen.ended.exit_code == 3
    assert any("background" in note for note in seen.ended.notes)


def test_a_signal_reaches_every_process_of_the_command(tmp_path: Path) -> None:
    """A stop that ends the shell and leaves its children running is worse than none."""
    ready, mark = tmp_path / "ready", tmp_path / "mark"
    os.mkfifo(ready)
    inner = f"trap 'echo inner >> {mark}; exit 0' TERM; : > {ready}; while :; do sleep 0.02; done"
    command = ("sh", "-c", f'trap "wait; echo outer >> {mark}; exit 5" TERM; sh -c "$1" & wait', "sh", inner)

    def interrupt() -> None:
        ready.read_bytes()
        os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=interrupt)
    thread.start()
    seen = run(*command)
    thread.join()
    assert sorted(mark.read_text().split()) == ["inner", "outer"]
    assert seen.ended.exit_code == 5


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1])
def test_signals_sent_to_us_end_the_command_not_us(number: signal.Signals, tmp_path: Path) -> None:
    """The wrapper must live to write down what happened."""
    ready = tmp_path / "ready"
    os.mkfifo(ready)

    def send() -> None:
        ready.read_bytes()
        os.kill(os.getpid(), number)

    thread = threading.Thread(target=send)
    thread.start()
    seen = run("sh", "-c", f": > {ready}; exec sleep 30")
    thread.join()
    assert seen.ended.exit_code == 128 + number


def test_a_closed_reader_neither_stops_the_record_nor_runs_for_ever() -> None:
    """`holdfast run -- make | head`: what make did is recorded, and `yes | head` still ends."""
    read, write = os.pipe()
    os.close(read)
    tape: dict[str, int] = defaultdict(int)

    def go(*argv: str) -> CommandEnd:
        with Signals() as signals:
            return execute(
                argv,
                cwd="/",
                environ=os.environ,
                tape=lambda name, chunk: tape.__setitem__(name, tape[name] + len(chunk)),
                signals=signals,
                handles=Handles(0, write, write),
                linger=200_000,
            )

    try:
        assert go("sh", "-c", "seq 20000; exit 4").exit_code == 4
        assert tape["stdout"] == 108_894
        assert go("yes").exit_code == 128 + signal.SIGPIPE
    finally:
        os.close(write)


def test_a_slow_reader_of_one_stream_does_not_hold_the_other() -> None:
    """A consumer may read all of stderr first."""
    out_read, out_write = os.pipe()
    err = Reader()
    done = threading.Event()
    ended: list[CommandEnd] = []
    code = "import os\nfor n in (2, 1):\n for _ in range(300): os.write(n, b'e' * 1000)"

    def drain() -> None:
        while len(err.data) < 300_000 and not done.is_set():
            time.sleep(0.005)
        total = 0
        while total < 300_000 and not done.is_set():
            total += len(os.read(out_read, 1 << 16))

    thread = threading.Thread(target=drain)
    thread.start()
    null = os.open(os.devnull, os.O_RDONLY)
    with err.listening() as err_write, Signals() as signals:
        ended.append(
            execute(
                script(code),
                cwd="/",
                environ=os.environ,
                tape=lambda *_: None,
                signals=signals,
                handles=Handles(null, out_write, err_write),
            )
        )
    done.set()
    thread.join()
    for handle in (out_read, out_write, null):
        os.close(handle)
    assert ended == [CommandEnd(0)]


def test_handles_the_user_opened_reach_the_command(tmp_path: Path) -> None:
    """make's job server and `3>log` depend on it."""
    handle = os.open(tmp_path / "log", os.O_WRONLY | os.O_CREAT)
    os.set_inheritable(handle, True)
    try:
        run(*script(f"import os; os.write({handle}, b'hello')"))
    finally:
        os.close(handle)
    assert (tmp_path / "log").read_text() == "hello"


def test_large_output_takes_no_memory() -> None:
    """A build log of gigabytes must not take the machine down."""
    code = "import os; b=b'x'*65536\nfor _ in range(800): os.write(1,b)"
    seen, digest = [0], hashlib.sha256()
    null = os.open(os.devnull, os.O_RDWR)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def tape(name: str, chunk: bytes) -> None:
        seen[0] += len(chunk)
        digest.update(chunk)

    with Signals() as signals:
        execute(
            script(code), cwd="/", environ=os.environ, tape=tape, signals=signals, handles=Handles(null, null, null)
        )
    os.close(null)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 16_000  # KiB
    assert seen == [800 * 65536]
    assert digest.hexdigest() == hashlib.sha256(b"x" * 800 * 65536).hexdigest()


def test_it_works_off_the_main_thread() -> None:
    """A Python program may record from a worker thread, where signals cannot be heard."""
    results: list[Seen] = []
    thread = threading.Thread(target=lambda: results.append(run("sh", "-c", "echo hi; exit 9")))
    thread.start()
    thread.join()
    assert (results[0].out, results[0].ended.exit_code) == (b"hi\n", 9)


def test_signal_handlers_and_ignored_signals_are_left_as_they_were() -> None:
    """Whoever calls the library keeps their own Ctrl-C; nohup stays in force."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    handler = signal.getsignal(signal.SIGINT)
    try:
        assert run("sh", "-c", "kill -HUP $$; echo alive").out == b"alive\n"
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGHUP, before)


def test_the_fallback_without_process_groups_streams_too(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """On other systems less is promised, and said."""
    tape: dict[str, bytearray] = defaultdict(bytearray)
    words = ["sh", "-c", "echo out; echo err >&2; exit 6"]
    command = WatchedCommand(words, "/", os.environ, lambda name, chunk: tape[name].extend(chunk), Signals())
    ended = process.execute_with_pipes(command)
    assert ended.exit_code == 6
    assert dict(tape) == {"stdout": b"out\n", "stderr": b"err\n"}
    assert capfdbinary.readouterr() == (b"out\n", b"err\n")
    assert "process groups" in ended.notes[0]


# On a terminal. The driver is a process of its own, whose controlling terminal is the test's.

DRIVER = """
import os, sys
from holdfast.capture import process
from holdfast.capture.terminal import Signals
tape = open(sys.argv[1], "wb", buffering=0)
process.guard_handles()
with Signals() as signals:
    ended = process.execute(process.WatchedCommand(
        sys.argv[3:], cwd="/", environ=os.environ, signals=signals, on_terminal=sys.argv[2] == "pty",
        tape=lambda name, chunk: tape.write(name.encode() + b":" + chunk),
    ))
os._exit(ended.exit_code)
"""


class Terminal:
    """A person at a terminal of 40 x 100 where the driver runs."""

    def __init__(self, tape: Path, *argv: str, mode: str = "pty", wrapped: bool = True) -> None:
        driver = (PYTHON, "-c", DRIVER, str(tape), mode, *argv)
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            termios.tcsetwinsize(0, (40, 100))
            settings = termios.tcgetattr(0)
            # Ctrl-Z else discards what is on its way to the screen, sometimes later than this test continues.
            settings[3] |= termios.NOFLSH
            termios.tcsetattr(0, termios.TCSANOW, settings)
            command = driver if wrapped else argv
            os.execvp(command[0], command)
        self.screen = bytearray()

    def until(self, text: bytes) -> None:
        deadline = time.monotonic() + 20
        while text not in self.screen:
            assert time.monotonic() < deadline, f"{text!r} never came; got {bytes(self.screen)!r}"
            if not self._read(0.2):
                break
        assert text in self.screen, bytes(self.screen)

    def _read(self, seconds: float) -> bool:
        if select.select([self.master], [], [], seconds)[0]:
            try:
                chunk = os.read(self.master, 1 << 16)
            except OSError:
                return False
            self.screen += chunk
            return bool(chunk)
        return True

    def type(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def end(self) -> int:
        deadline = time.monotonic() + 20
        while self._read(0.2):
            assert time.monotonic() < deadline, bytes(self.screen)
        _, status = os.waitpid(self.pid, 0)
        os.close(self.master)
        return os.waitstatus_to_exitcode(status)


def test_on_a_terminal_the_command_sees_a_terminal_of_the_same_size(tmp_path: Path) -> None:
    """Colours, progress bars, editors: all ask."""
    user = Terminal(tmp_path / "tape", "sh", "-c", "test -t 0 && test -t 1 && test -t 2 && stty size; exit 4")
    assert user.end() == 4
    assert user.screen == b"40 100\r\n"
    assert (tmp_path / "tape").read_bytes() == b"terminal:40 100\r\n"


def test_terminal_output_is_byte_for_byte_what_it_is_without_us(tmp_path: Path) -> None:
    """Escape sequences, all 256 byte values, large."""
    code = "import os,sys; sys.stdout.buffer.write(b'\\x1b[31mred\\x1b[0m' + bytes(range(256)) * 2000 + b'end')"
    watched = Terminal(tmp_path / "tape", *script(code))
    alone = Terminal(tmp_path / "none", *script(code), wrapped=False)
    assert (watched.end(), alone.end()) == (0, 0)
    assert watched.screen == alone.screen


def test_keys_reach_the_command_and_ctrl_c_interrupts_it(tmp_path: Path) -> None:
    """Ctrl-C ends the command; the wrapper stays to write it down."""
    user = Terminal(tmp_path / "tape", "sh", "-c", "echo name?; read name; echo hello $name; exec sleep 30")
    user.until(b"name?")
    user.type(b"ada\r")
    user.until(b"hello ada")
    user.type(b"\x03")
    assert user.end() == 128 + signal.SIGINT


def test_a_new_window_size_reaches_the_command(tmp_path: Path) -> None:
    """An editor that keeps the old size draws rubbish."""
    code = (
        "import os, signal\n"
        "def resized(*_): print('size', *os.get_terminal_size(), flush=True); os._exit(0)\n"
        "signal.signal(signal.SIGWINCH, resized)\n"
        "print('ready', flush=True)\nwhile True: signal.pause()"
    )
    user = Terminal(tmp_path / "tape", PYTHON, "-c", code)
    user.until(b"ready")
    termios.tcsetwinsize(user.master, (11, 222))
    assert user.end() == 0
    assert b"size 222 11" in user.screen


def test_the_terminal_is_given_back_as_it_was(tmp_path: Path) -> None:
    """A shell without echo after a crashed tool is what people remember of it."""
    shell = f"""stty -g > {tmp_path}/before
    {PYTHON} -c "$DRIVER" {tmp_path}/tape pty sh -c 'kill -SEGV $$'
    echo code $?
    stty -g > {tmp_path}/after"""
    os.environ["DRIVER"] = DRIVER
    user = Terminal(tmp_path / "x", "sh", "-c", shell, wrapped=False)
    assert user.end() == 0
    assert b"code 139" in user.screen
    assert (tmp_path / "before").read_text() == (tmp_path / "after").read_text() != ""


def test_a_redirected_stderr_stays_apart_on_a_terminal(tmp_path: Path) -> None:
    """`holdfast run -- make 2> errors` on a terminal must fill that file."""
    command = "sh -c 'test -t 1 && echo out; echo err >&2'"
    shell = f'exec {PYTHON} -c "$DRIVER" {tmp_path}/tape pty {command} 2> {tmp_path}/log'
    os.environ["DRIVER"] = DRIVER
    user = Terminal(tmp_path / "x", "sh", "-c", shell, wrapped=False)
    assert user.end() == 0
    assert user.screen == b"out\r\n"
    assert (tmp_path / "log").read_bytes() == b"err\n"


def test_a_piped_command_that_asks_the_terminal_gets_it(tmp_path: Path) -> None:
    """`holdfast run -- deploy > log` may still ask for a password."""
    user = Terminal(tmp_path / "tape", "sh", "-c", "echo word? >&2; read word; echo got $word", mode="pipes")
    user.until(b"word?")
    user.type(b"sesame\r")
    assert user.end() == 0
    assert b"stdout:got sesame\n" in (tmp_path / "tape").read_bytes()


@pytest.mark.parametrize("mode", ["pty", "pipes"])
def test_ctrl_z_stops_both_and_continuing_resumes_both(tmp_path: Path, mode: str) -> None:
    """Job control is part of a terminal."""
    # One process: a shell stopped between vfork and exec of its child is stuck, with us or without.
    code = (
        "import os, time; print('up', flush=True)\n"
        f"while not os.path.exists({str(tmp_path / 'go')!r}): time.sleep(0.01)\n"
        "print('done')"
    )
    user = Terminal(tmp_path / "tape", *script(code), mode=mode)
    user.until(b"up")
    if mode == "pty":
        user.type(b"\x1a")
    else:
        os.kill(user.pid, signal.SIGTSTP)
    _, status = os.waitpid(user.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    os.kill(user.pid, signal.SIGCONT)
    (tmp_path / "go").touch()
    user.until(b"done")
    assert user.end() == 0


def test_a_closed_standard_output_does_not_lead_into_our_files(tmp_path: Path) -> None:
    """With handle 1 closed the next file opened gets its number, and would receive the command's output."""
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", PYTHON, "-c", GUARDED, str(tmp_path / "file")], check=False
    )
    assert done.returncode == 0
    assert (tmp_path / "file").read_bytes() == b""


GUARDED = """
import os, sys
from holdfast.capture import process
process.guard_handles()
file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
os.write(1, b"into the void")
sys.exit(file < 3)
"""
