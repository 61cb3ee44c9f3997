"""Whether a session's first request has the context on a busy machine: eight processes that never rest on all cores.

Every start is a session of its own: its start and its first prompt, as agents call them. An agent waits five seconds
for a hook; what is said later is lost. Nothing is tried twice.
"""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator

from bench.agents import HOOK
from bench.cold import PYTHON
from bench.corpus import git
from bench.measure import Result, told
from holdfast.project import Project

STARTS, BUSY, GRANTED = 100, 8, 5.0  # of each kind; processes; seconds that an agent waits for a hook
BAR = 99
FILES, MARK = 200, "INTIME"


def in_time(folder: str) -> Iterator[Result]:
    """Starts of sessions: with nothing prepared, and right after a commit, a switch and a pull."""
    top, other = os.path.join(folder, "in-time"), os.path.join(folder, "in-time-other")
    _repository(top, other)
    busy = [subprocess.Popen([PYTHON, "-c", "while True: pass"]) for _ in range(BUSY)]
    try:
        for name, change in _changes(folder, top, other).items():
            waited, there = [], 0
            for number in range(STARTS):
                change(number)
                took, text = _start(top, f"{name}-{number}")
                waited.append(took)
                there += MARK in text
            waited.sort()
            times = f"p50 {waited[STARTS // 2]:.2f} s, p99 {waited[STARTS * 99 // 100]:.2f} s"
            yield Result(f"in the first request: {name}", f"{there} of {STARTS}", times, 0.0, f">= {BAR}", there >= BAR)
    finally:
        for one in busy:
            one.kill()
            one.wait()
    late = os.path.join(top, ".git", "holdfast", "inbox", "late-claude")
    yield told("answers that came too late", str(os.path.getsize(late) if os.path.exists(late) else 0))


def _repository(top: str, other: str) -> None:
    for number in range(FILES):
        path = os.path.join(top, "src", f"m{number % 10}", f"f{number}.py")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"def f{number}():\n    return {number}\n")
    git(top, "init", "-q", "-b", "main")
    git(top, "add", ".")
    git(top, "commit", "-q", "-m", "first")
    for words in (["init", "--commit"], ["hooks", "install"]):
        subprocess.run([PYTHON, "-m", "holdfast", *words], cwd=top, check=True, capture_output=True)
    memory = Project.open(top, person=True).memory
    for number in range(30):
        cited = [f"src/m{number % 10}/f{number}.py"]
        said = f"{MARK} rule {number}: f{number} stays pure"
        memory.remember(said, kind="invariant", accept=True, reviewer="Ada", evidence=cited)
    subprocess.run([PYTHON, "-m", "holdfast", "publish", "--here"], cwd=top, check=True, capture_output=True)
    git(top, "branch", "side")
    git(top, "clone", "-q", top, other)


def _changes(folder: str, top: str, other: str) -> dict[str, Callable[[int], None]]:
    def cold(_: int) -> None:
        shutil.rmtree(os.path.join(top, ".git", "holdfast", "contexts"), ignore_errors=True)
        shutil.rmtree(os.path.join(folder, "home", ".cache", "holdfast"), ignore_errors=True)

    def commit(number: int) -> None:
        _commit(top, "x.txt", number)

    def switch(number: int) -> None:
        git(top, "switch", "-q", "main" if number % 2 else "side")

    def pull(number: int) -> None:
        _commit(other, "y.txt", number)
        git(top, "pull", "-q", "--no-rebase", "--no-edit", other, "main")

    return {"cold": cold, "after a commit": commit, "after a switch": switch, "after a pull": pull}


def _commit(top: str, name: str, number: int) -> None:
    with open(os.path.join(top, name), "w", encoding="utf-8") as file:
        file.write(str(number))
    git(top, "add", name)
    git(top, "commit", "-q", "-m", f"{name} {number}")


def _start(top: str, session: str) -> tuple[float, str]:
    """How long a session's start waited for its hooks, and what they said."""
    text, began = "", time.perf_counter()
    for event, fields in (("SessionStart", {"source": "startup"}), ("UserPromptSubmit", {"prompt": "Please go on."})):
        common = {"session_id": session, "transcript_path": "/nowhere.jsonl", "cwd": top, "hook_event_name": event}
        given = json.dumps({**common, **fields}).encode()
        try:
            done = subprocess.run(
                [*HOOK, "claude", event], input=given, capture_output=True, timeout=GRANTED, check=False
            )
        except subprocess.TimeoutExpired:
            continue
        text += done.stdout.decode()
    return time.perf_counter() - began, text
