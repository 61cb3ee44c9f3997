"""Ctrl-C ends a command quietly, at any instant from its first line on."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import Cli, GitRepo, init

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")
START = "import sys, time, atexit; sys.argv = ['holdfast', 'tasks']; from holdfast.__main__ import main; "
SLOW = "(print('here', flush=True), time.sleep(60))"  # what takes microseconds, in slow motion
WAYS = {
    "loaded, and not called yet": f"{START}{SLOW}; sys.exit(main())",
    "winding down": f"{START}atexit.register(lambda: {SLOW}); sys.exit(main())",
}


@pytest.mark.parametrize("way", WAYS)
def test_ctrl_c_before_and_after_the_command_ends_quietly(repo: GitRepo, cli: Cli, way: str) -> None:
    """A traceback for a key that people press when they are in doubt looks like damage."""
    init(cli.cwd, commit=True)
    process = subprocess.Popen(
        [sys.executable, "-c", WAYS[way]], cwd=repo.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    while process.stdout.readline() != b"here\n":
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (-signal.SIGINT, b"")


AT_WORK = """
import sys, threading
sys.argv = ['holdfast', '--version']
from holdfast.__main__ import main
started = threading.Event()
def work():
    started.wait()
    print('written', flush=True)
threading.Thread(target=work).start()
code = main()
started.set()
sys.exit(code)
"""


def test_a_command_ends_after_its_threads() -> None:
    """It ends without winding Python down, which is quicker, but not in the middle of a thread's work."""
    done = subprocess.run([sys.executable, "-c", AT_WORK], capture_output=True, check=True, text=True)
    assert done.stdout.splitlines()[-1] == "written"


# Until our first line takes Python's handler out, an interrupt is Python's own: it may end with a traceback of `site`,
# as in any program of it. The moment is told through a pipe: who only looks from outside may miss it.
TOLD = """
import _signal, os, runpy, sys
real = _signal.signal
def told(number, handler):
    _signal.signal = real
    before = real(number, handler)
    os.write(int(sys.argv.pop()), b"%d %d" % (number, handler))
    return before
_signal.signal = told
sys.argv = ["holdfast", "tasks", sys.argv[1]]
runpy.run_module("holdfast", run_name="__main__", alter_sys=True)
"""


def test_ctrl_c_at_any_instant_ends_quietly(repo: GitRepo, cli: Cli) -> None:
    """Modules load, a command runs, Python ends: nobody can say where in this the key is pressed."""
    init(cli.cwd, commit=True)
    for pause in (0, 0.003, 0.01, 0.03, 0.06, 0.12, 0.25):
        reading, writing = os.pipe()
        process = subprocess.Popen(
            [sys.executable, "-c", TOLD, str(writing)],
            cwd=repo.path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[writing],
        )
        os.close(writing)
        with os.fdopen(reading, "rb", buffering=0) as first:
            assert first.read(16) == b"%d %d" % (signal.SIGINT, signal.SIG_DFL), "Python's own handler is still there"
        time.sleep(pause)  # where in the program it is then differs: that is the point
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        assert process.returncode in (-signal.SIGINT, 130, 0), said
        assert len(said.split()) <= len(b"error: interrupted".split()), said.decode()
        assert b"Traceback" not in said


DROPPED = """
import sys
sys.argv = ['holdfast', 'tasks']
from holdfast import __main__ as start
class Released:
    def __del__(self):
        raise what
start._catch_interrupts()
for what in (KeyboardInterrupt, ValueError):
    Released()
"""


def test_an_interrupt_that_python_drops_is_not_spoken_of() -> None:
    """Imports release locks all the time; whoever presses Ctrl-C there would see a traceback, but a bug must show."""
    done = subprocess.run([sys.executable, "-c", DROPPED], capture_output=True, check=True)
    assert b"KeyboardInterrupt" not in done.stderr and b"ValueError" in done.stderr


def test_who_ignores_interrupts_goes_on_to(repo: GitRepo, cli: Cli) -> None:
    """`nohup holdfast … &` must come to its end."""
    init(cli.cwd, commit=True)
    started = f"import os, signal; signal.signal(2, signal.SIG_IGN); os.execv({sys.executable!r}, "
    started += f"[{sys.executable!r}, '-m', 'holdfast', 'tasks'])"
    process = subprocess.Popen([sys.executable, "-c", started], cwd=repo.path, stdout=subprocess.PIPE)
    while process.poll() is None and not _is_ignored(process.pid):
        pass
    for _ in range(5):
        process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 0


def _is_ignored(pid: int) -> bool:
    found = re.search(r"^SigIgn:\s*([0-9a-f]+)$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return found is not None and bool(int(found[1], 16) & 1 << (signal.SIGINT - 1))


def test_ctrl_c_in_the_last_hook_of_a_publish_keeps_what_it_committed(repo: GitRepo, cli: Cli) -> None:
    """Files taken back after their commit were deleted by the user's next commit."""
    init(cli.cwd, commit=True)
    cli("task", "add", "Mend the pier", "--id", "TSK-mend")
    before = repo.git("rev-parse", "HEAD")
    hook = repo.path / ".git" / "hooks" / "post-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n: >.git/hook-runs\nsleep 20\n")
    hook.chmod(0o755)
    process = subprocess.Popen(
        [sys.executable, "-m", "holdfast", "publish", "--here"],
        cwd=repo.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    until = time.monotonic() + 60
    while not (repo.path / ".git" / "hook-runs").exists():
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal sends it: to git and its hook as well
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert repo.git("rev-parse", "HEAD") != before
    assert repo.status() == ""
    assert "TSK-mend" in cli("tasks").out
    assert "Nothing to publish" in cli("publish", "--here").out


def test_ctrl_c_while_a_class_is_made_is_no_bug(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.11 gives what comes in that moment as the cause of another error."""

    def interrupted(*_: object, **__: object) -> None:
        raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()

    monkeypatch.setattr("holdfast.project.opening.open_project", interrupted)
    done = cli("status", ok=False)
    assert done.code == 130 and "bug" not in done.err
