"""Steps as real processes: whatever a program does, it ends, its output is bounded, and nothing stays behind."""

import hashlib
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.crew import step_process
from holdfast.crew.step_process import KEPT, MARK, StepEnd, end_marked, run_step
from holdfast.model.ids import token

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="processes cannot be looked at here")


@pytest.fixture
def mark() -> str:
    return f"test/{token(12)}"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody here writes last words: two seconds of grace would only take time."""
    monkeypatch.setattr(step_process, "GRACE", 0.3)
    monkeypatch.setattr(step_process, "LINGER", 0.3)


def python(code: str, mark: str, **more: object) -> StepEnd:
    return run_step([sys.executable, "-SEc", code], cwd="/", environ=os.environ, mark=mark, **more)  # type: ignore[arg-type]


def alive(mark: str) -> list[int]:
    wanted = f"{MARK}={mark}".encode()
    return [number for number in step_process._processes() if step_process._carries(number, wanted)]


def when(path: Path) -> Callable[[], str | None]:
    """Ends the step as soon as a file is there."""
    return lambda: "it was asked to" if path.exists() else None


def test_how_it_ended_is_told(mark: str) -> None:
    """A receipt is as good as these facts."""
    end = python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)", mark)
    assert (end.exit_status, end.stopped, end.is_ok) == (3, None, False)
    assert sorted(end.output.split()) == [b"err", b"out"] and end.size == 8
    assert end.output_sha256 == hashlib.sha256(end.output).hexdigest()
    assert python("pass", mark).is_ok
    assert python("import os; os.kill(os.getpid(), 9)", mark).exit_status == 137


@pytest.mark.parametrize("argv", [["no-such-program-anywhere"], ["/etc"], ["a\0b"], [""]])
def test_what_cannot_be_started_ends_with_127(argv: list[str], mark: str) -> None:
    """A wrong name in the settings is told in a sentence, as a shell tells it."""
    end = run_step(argv, cwd="/", environ=os.environ, mark=mark)
    assert end.exit_status == 127 and end.tail.strip()


def test_a_folder_that_is_gone_is_told_as_well(mark: str) -> None:
    """Somebody deletes a work tree while a crew runs."""
    assert run_step(["true"], cwd="/no/such/folder", environ=os.environ, mark=mark).exit_status == 127


def test_an_endless_program_is_ended_at_its_time(mark: str) -> None:
    """An agent that hangs costs its time and no more."""
    end = python("import time; time.sleep(600)", mark, seconds=0.2)
    assert end.stopped == "it took longer than 0.2 s" and end.exit_status == 143 and not alive(mark)


def test_no_time_left_is_a_limit_too(mark: str) -> None:
    """The last second of a crew's hour must not give the next step the whole night."""
    end = python("import time; time.sleep(600)", mark, seconds=0.0, watch=lambda: "the limit did not hold")
    assert end.stopped == "it took longer than 0 s"


def test_one_that_ignores_being_asked_is_ended_by_force(tmp_path: Path, mark: str) -> None:
    """SIGTERM is a question."""
    ready = tmp_path / "ready"
    code = "import signal, time; signal.signal(15, signal.SIG_IGN); signal.signal(2, signal.SIG_IGN)\n"
    end = python(f"{code}open({str(ready)!r}, 'w').close()\ntime.sleep(600)", mark, watch=when(ready))
    assert end.stopped == "it was asked to" and end.exit_status == 137 and not alive(mark)


FAMILY = """
import os, signal, sys, time
signal.signal(15, signal.SIG_IGN)
for n in range(3):
    if not os.fork():
        {away}
        if os.fork():
            os._exit(0)
        time.sleep(600)
time.sleep(0.1)
print("leaves", flush=True)
{end}
"""


@pytest.mark.parametrize("away", ["pass", "os.setsid()", "os.setsid(); os.closerange(0, 9)"])
@pytest.mark.parametrize("end", ["sys.exit(0)", "time.sleep(600)"])
def test_children_end_with_it_wherever_they_went(away: str, end: str, mark: str) -> None:
    """A server that an agent started would hold its port, and its work tree, for ever."""
    done = python(FAMILY.format(away=away, end=end), mark, seconds=0.6)
    assert not alive(mark) and b"leaves" in done.output
    assert (done.stopped is None) is (end == "sys.exit(0)")


def test_a_child_that_hides_cannot_hold_the_step(mark: str) -> None:
    """Without its mark, and away from its group, it cannot be found; the step ends all the same."""
    code = (
        "import os, time\nif not (child := os.fork()):\n os.setsid()\n os.execve('/bin/sleep', ['sleep', '600'], {})\n"
    )
    hidden = int(python(f"{code}time.sleep(0.2)\nprint(child)", mark).output)
    assert os.path.isdir(f"/proc/{hidden}"), "the step did not wait for it"
    os.kill(hidden, 9)


def test_a_hundred_megabytes_are_hashed_and_not_kept(mark: str) -> None:
    """A build that prints for ever may not fill the memory of the worker."""
    code = "import sys\nfor _ in range(1600): sys.stdout.buffer.write(b'x' * 65535 + b'\\n')\nprint('the end')"
    heard = []
    end = python(code, mark, heard=lambda data: heard.append(len(data)))
    assert end.size == sum(heard) == 1600 * 65536 + 8 and len(end.output) == KEPT
    assert end.tail.endswith("the end\n") and len(end.tail) <= step_process.TAIL


def test_both_pipes_may_fill_at_once(mark: str) -> None:
    """Who reads one pipe to its end first waits for ever for the other."""
    code = "import sys\nfor _ in range(64): sys.stderr.write('e' * 65536); sys.stdout.write('o' * 65536)"
    heard = []
    assert python(code, mark, heard=heard.append).size == 128 * 65536
    assert set(b"".join(heard)) == {ord("o")}, "a report is what comes on stdout"


def test_a_program_that_reads_nothing_gets_no_harm(mark: str) -> None:
    """A prompt of a megabyte does not fit a pipe, and many programs never read."""
    assert python("print('done')", mark, given=b"x" * (1 << 20)).is_ok
    late = python("import time; time.sleep(600)", mark, given=b"x" * (1 << 20), seconds=0.2)
    assert late.stopped and not alive(mark)


def test_a_prompt_arrives_whole(mark: str) -> None:
    """Half a task is another task."""
    given = bytes(range(256)) * 4096
    code = "import sys, hashlib; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())"
    assert python(code, mark, given=given).output.decode().strip() == hashlib.sha256(given).hexdigest()
    assert python("import sys; print(repr(sys.stdin.read()))", mark).output == b"''\n", "nothing to read is the end"


def test_steering_characters_of_a_program_do_not_reach_the_terminal(mark: str) -> None:
    """What a check prints is quoted on the person's screen."""
    assert "\x1b" not in python("print('\\x1b[2Jgone \\u202e')", mark).tail


def test_a_fault_of_the_reader_leaves_no_process(mark: str) -> None:
    """Whatever goes wrong in us, the agent must not go on alone."""

    def fault(_: bytes) -> None:
        raise RuntimeError("a fault of ours")

    with pytest.raises(RuntimeError):
        python("import time; print('x', flush=True); time.sleep(600)", mark, heard=fault)
    assert not alive(mark)


def test_only_what_carries_the_mark_is_ended(mark: str) -> None:
    """A crew ends its own processes and nobody else's, those of a run with a similar name included."""
    env = {"PATH": os.environ["PATH"]}
    names = {"other": f"{mark}x/y", "mine": f"{mark}/y", "plain": ""}
    pids = {}
    for name, value in names.items():
        pids[name] = os.posix_spawn("/bin/sleep", ["sleep", "600"], env | ({MARK: value} if value else {}))
    try:
        until = time.monotonic() + 5
        while alive(mark) != [pids["mine"]] and time.monotonic() < until:
            time.sleep(0.01)  # until it became another program
        assert end_marked(mark) == 1
        assert os.waitpid(pids.pop("mine"), 0)[1] == 9
        assert all(os.waitpid(pid, os.WNOHANG) == (0, 0) for pid in pids.values())
    finally:
        for pid in pids.values():
            os.kill(pid, 9)
            os.waitpid(pid, 0)
