"""Runs commands of the user's choice: a model that is asked (`claude -p`), and one that restarts their tools.

The model's command is an outsider: no shell, no place of ours to work in, bounded time and output, a visible number
of calls a day. What it answers is data; the caller has to check it.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import IO

from holdfast.git.clone import Clone
from holdfast.store import statistics, tally
from holdfast.values import frozen

MAX_ANSWER = 1 << 16  # bytes; a guess: an answer is a few lines
INSIDE = "HOLDFAST_CONDENSING"  # tells an agent's hooks that this is no work of a person's
_IN_A_HOOK = ("GIT_DIR", "GIT_INDEX_FILE", "GIT_EXEC_PATH", "GIT_REFLOG_ACTION")


@frozen(kw_only=True)
class UserModelCommand:
    """Which command is asked; it comes from settings that no pull request can change."""

    command: tuple[str, ...] = ()
    calls_per_day: int = 50
    environ: Mapping[str, str] | None = None
    timeout: float = 60.0


def ask(clone: Clone, text: str, how: UserModelCommand) -> str:
    """What the command answers, its secrets removed; ValueError if there is no answer, and why."""
    if any(name in (how.environ or {}) for name in _IN_A_HOOK):
        raise ValueError("it does not run inside a git hook")
    used = statistics.take_model_call(clone.layout, clone.now()[:10], limit=how.calls_per_day)
    if used is None:
        raise ValueError(f"all {how.calls_per_day} model calls of today are used")
    clone.notes.append(f"{used} of {how.calls_per_day} model calls used today")
    began = time.perf_counter_ns()
    try:
        return clone.intake.text(_ask(clone, clone.hide.text(text), how))
    finally:
        took = (time.perf_counter_ns() - began) // 1000
        tally.modelled(clone.layout, "command", calls=1, texts=1, microseconds=took)


def _ask(clone: Clone, text: str, how: UserModelCommand) -> str:
    """Run the command in an empty folder and give what it printed; ValueError if that is no answer."""
    import tempfile  # slow to load, and only asking needs it

    program = how.command[0]
    if os.sep in program and not os.path.isabs(program):
        program = os.path.join(clone.repo.top, program)
    with tempfile.TemporaryDirectory(prefix="holdfast-") as folder, tempfile.TemporaryFile() as given:
        given.write(text.encode("utf-8", "replace"))
        given.seek(0)
        code, data = _run([program, *how.command[1:]], given, folder, how)
    if code != 0:
        raise ValueError(f"{how.command[0]} ended with {code}")
    return data.decode("utf-8", "replace")


def _run(argv: list[str], given: IO[bytes], folder: str, how: UserModelCommand) -> tuple[int, bytes]:
    environ = None if how.environ is None else {**how.environ, INSIDE: "1"}
    with subprocess.Popen(
        argv,
        stdin=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env=environ,
        start_new_session=True,
    ) as process:
        late = threading.Event()
        timer = threading.Timer(how.timeout, _too_late, (process, late))
        timer.start()
        try:
            data = process.stdout.read(MAX_ANSWER + 1) if process.stdout else b""
            if len(data) > MAX_ANSWER:
                _end(process)
                raise ValueError(f"{argv[0]} said more than {MAX_ANSWER} bytes")
            code = process.wait()
        finally:
            timer.cancel()
            _end(process)
    if late.is_set():
        raise ValueError(f"{argv[0]} took longer than {how.timeout:g} seconds")
    return code, data


def _too_late(process: "subprocess.Popen[bytes]", late: threading.Event) -> None:
    late.set()
    _end(process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Stop the command and whatever it started; once it is reaped, its number may be another's."""
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)


PATIENCE = 60.0  # seconds


def restart(command: Sequence[str], *, top: str, environ: Mapping[str, str] | None) -> str | None:
    """Run it in the work tree; None if it went well, else why not. Its output is not ours."""
    program = command[0]
    if os.sep in program and not os.path.isabs(program):
        program = os.path.join(top, program)
    try:
        done = subprocess.run(
            [program, *command[1:]],
            cwd=top,
            env=None if environ is None else dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # stdout is for answers; what it has to say goes to stderr
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{command[0]} took longer than {PATIENCE:g} seconds"
    except (OSError, ValueError) as error:
        return f"{command[0]} could not be started: {error}"
    return None if done.returncode == 0 else f"{command[0]} ended with {done.returncode}"
