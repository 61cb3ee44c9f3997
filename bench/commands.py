"""What every command costs, from its start to its end: CPU against a Python that does nothing, and how it grows.

Commands that write are measured as people use them, one after the other: each finds what the one before it changed.
"""

import os
import random
import resource
import subprocess
from collections.abc import Iterator

from bench.cold import FLOOR, SCRIPT
from bench.context import write_memory, write_task
from bench.corpus import Corpus, Words, git, make
from bench.measure import Result, at_most
from holdfast.store import layout as paths

HELP, LIST, WRITE, CHANGE = 6, 12, 15, 20  # times the floor
GROWTH = 3  # times the small project's figure
ROUNDS = 5
COMMANDS = {
    "--help": HELP,
    "log": LIST,
    "tasks": LIST,
    "facts": LIST,
    "show TSK-000001": LIST,
    "review list": LIST,
    "session list": LIST,
    "journal": LIST,
    "remember 'The tide at pier {n} is high.' --id FCT-tide{r} --evidence README.md": WRITE,
    "review accept FCT-tide{r}": WRITE,
    "task add 'Mend pier {n}'": WRITE,
    "session note 'Mended pier {n}'": WRITE,
    "run -- true": WRITE,
    "context": CHANGE,
    "status": CHANGE,
    "publish --here": CHANGE,
    "reconcile": CHANGE,
    "why README.md:1": CHANGE,
    "doctor": CHANGE,
    "check": CHANGE,
}
UNLIMITED = ("doctor", "check")  # they read everything: that is what they are for


def commands(folder: str, cache: str) -> Iterator[Result]:
    """Two tables: 1,000 events, 200 memories, 200 tasks and 50 branches; then a hundred and 25 times as much."""
    small = _measured(grown_project(folder, cache, events=1_000, entries=200))
    for command, bar in COMMANDS.items():
        yield at_most(f"command: {_named(command)}", small[command], small["floor"], bar)
    large = _measured(grown_project(folder, cache, events=100_000, entries=5_000))
    for command in COMMANDS:
        if command not in UNLIMITED:
            yield at_most(f"growth: {_named(command)}", large[command], small[command], GROWTH)


def _named(command: str) -> str:
    return command.partition(" '")[0].partition(" FCT-")[0]


def grown_project(folder: str, cache: str, *, events: int, entries: int) -> Corpus:
    """A project of that size, with its index built and a session under way."""
    top = os.path.join(folder, f"commands-{events}")
    if os.path.isdir(top):
        return Corpus(top, cache, events)
    made = make(top, cache, events)
    words, chance = Words(1), random.Random(1)
    for name in (*paths.FOLDER_OF.values(), paths.TASKS):
        os.makedirs(os.path.join(top, name), exist_ok=True)
    for at in range(entries):
        write_memory(top, at, words, chance)
        write_task(top, at, words, chance)
    git(top, "add", "-f", paths.MEMORY, paths.TASKS)
    git(top, "commit", "-q", "-m", "entries")
    for number in range(50):
        git(top, "branch", f"topic-{number}")
    for line in ("session start Mending", "status", "tasks"):
        subprocess.run([SCRIPT, *line.split()], cwd=top, check=True, capture_output=True)
    return made


def _measured(corpus: Corpus) -> dict[str, float]:
    """The least CPU time of each command; they take turns with the floor."""
    best: dict[str, float] = {}
    for round_ in range(ROUNDS):
        for at, command in enumerate(["floor", *COMMANDS]):
            said = command.format(n=100 * round_ + at, r=round_)
            line = " ".join(FLOOR) if command == "floor" else f"{SCRIPT} {said}"
            best[command] = min(best.get(command, float("inf")), _cpu(line, corpus.top))
    return best


def _cpu(line: str, top: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(line, shell=True, cwd=top, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
