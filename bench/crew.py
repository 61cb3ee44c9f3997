"""A crew's overhead: trivial tasks beside what git and the command alone cost, and how memory grows meanwhile.

The floor is one task by hand, one after the other: `git worktree add`, the command, `git add`, `git commit`. The crew
has eight workers; its time holds everything from the first process to the recap, planning and publishing included.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from bench.measure import Result, at_most, told

TASKS, WORKERS, BY_HAND = 1_000, 8, 60
BAR = 5.0  # times the floor
AGENT = '#!/bin/sh\nread -r hash your task write number rest\necho "$rest" > "numbers/$rest.txt"\n'
HOLDFAST = [sys.executable, "-m", "holdfast"]


def crew(folder: str) -> Iterator[Result]:
    """A thousand trivial tasks with eight workers."""
    top, agent = os.path.join(folder, "crew"), os.path.join(folder, "agent.sh")
    environ = {
        **os.environ,
        "XDG_DATA_HOME": os.path.join(folder, "data"),
        "HOLDFAST_CREW_CHECKS": '{default = "true"}',
    }
    _repository(top, agent, environ)
    floor = _by_hand(top, agent, environ, os.path.join(folder, "bare"))
    plan = os.path.join(folder, "plan.md")
    with open(plan, "w", encoding="utf-8") as file:
        file.writelines(f"- [ ] Write number {number}\n" for number in range(TASKS))
    command = [*HOLDFAST, "crew", "run", plan, "--agent", agent, "--workers", str(WORKERS)]
    began = time.perf_counter()
    said = tempfile.TemporaryFile()  # noqa: SIM115 - until it ends
    child = subprocess.Popen(command, cwd=top, env=environ, stdout=said, stderr=subprocess.STDOUT)
    sizes: list[tuple[float, int]] = []
    while child.poll() is None:
        time.sleep(0.5)
        sizes.append((time.perf_counter() - began, _memory(child.pid)))
    took = time.perf_counter() - began
    said.seek(0)
    assert child.returncode == 0, said.read()[-3000:].decode()
    yield at_most(f"a task of {TASKS:,} with {WORKERS} workers", took / TASKS, floor, BAR)
    third = [size for at, size in sizes if took * 0.3 < at < took * 0.4]
    last = [size for at, size in sizes if took * 0.8 < at < took * 0.9]
    if third and last:
        early, late = max(third) / 1e6, max(last) / 1e6
        yield told("memory of the supervisor, late and early", f"{late:.0f} MB", f"{early:.0f} MB", late / early)


def _repository(top: str, agent: str, environ: dict[str, str]) -> None:
    with open(agent, "w", encoding="utf-8") as file:
        file.write(AGENT)
    os.chmod(agent, 0o755)
    os.makedirs(top)
    os.makedirs(os.path.join(top, "numbers"))
    for number in range(TASKS):  # each task changes a file of its own; a new work tree holds all of them
        with open(os.path.join(top, "numbers", f"{number}.txt"), "w", encoding="utf-8") as file:
            file.write("none\n")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "Begin"]):
        subprocess.run(["git", *words], cwd=top, env=environ, check=True)
    subprocess.run([*HOLDFAST, "init", "--no-hooks"], cwd=top, env=environ, check=True, capture_output=True)


def _by_hand(top: str, agent: str, environ: dict[str, str], folder: str) -> float:
    """Seconds a task takes without any of us."""
    began = time.perf_counter()
    for number in range(BY_HAND):
        place = os.path.join(folder, str(number))
        subprocess.run(
            ["git", "worktree", "add", "-q", "-b", f"bare-{number}", place], cwd=top, env=environ, check=True
        )
        given = f"# Your task: Write number {number}\n".encode()
        subprocess.run([agent], cwd=place, env=environ, input=given, check=True)
        subprocess.run(["git", "add", "-A"], cwd=place, env=environ, check=True)
        subprocess.run(["git", "commit", "-q", "-m", "Write"], cwd=place, env=environ, check=True)
    took = time.perf_counter() - began
    shutil.rmtree(folder)
    subprocess.run(["git", "worktree", "prune"], cwd=top, env=environ, check=True)
    return took / BY_HAND


def _memory(number: int) -> int:
    try:
        with open(f"/proc/{number}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
