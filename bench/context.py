"""Cold `context`, `next` and `status` over many memories and many tasks, against a Python that does nothing.

The projects are written as committed files, all at once: what is measured is asking, not making.
"""

import os
import random
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence

from bench.cold import FLOOR, PYTHON, ROUNDS, SCRIPT
from bench.corpus import Corpus, Words, empty_project, git
from bench.measure import Result, at_most, least, process, told
from holdfast.model.ids import PREFIXES
from holdfast.model.task import Task
from holdfast.store import layout as paths
from holdfast.store import task_files

SMALL, LARGE = 1_000, 10_000
EDGES = 3  # needs of a task, on average
BARS = {SMALL: 5, LARGE: 8}
GROWTH, FULL_GROWTH = 2, 12
LABELS = {
    "decision": "Decision", "assumption": "Assumption", "invariant": "Invariant", "fact": "Fact",
    "dead-end": "Dead end",
}  # fmt: skip


def context(folder: str, cache: str) -> Iterator[Result]:
    """Cold `context` over many memories."""
    corpora = [_made(folder, cache, "memories", number, write_memory) for number in (SMALL, LARGE)]
    yield from _measured("context", corpora, "memories")
    yield from _made_anew(corpora)


def _made_anew(corpora: Sequence[Corpus]) -> Iterator[Result]:
    """A pack that nobody kept ready: for a question, and for files."""
    argv = [PYTHON, "-m", "holdfast", "context", "--for", "close the connection", "--files", "src/db/pool.py"]
    cases = {str(corpus.runs): process(argv, corpus.top, os.environ) for corpus in corpora}
    best = least(cases, 3)
    yield told(f"context --for, {LARGE // 1000}k memories", f"{best[str(LARGE)] * 1e3:.0f} ms")
    growth = "growth: context --for 1k -> 10k memories"
    yield at_most(growth, best[str(LARGE)], best[str(SMALL)], FULL_GROWTH)


def work(folder: str, cache: str) -> Iterator[Result]:
    """Cold `next`, `status` and `context` over many tasks."""
    corpora = [_made(folder, cache, "tasks", number, write_task) for number in (SMALL, LARGE)]
    for command in ("next", "status", "context"):
        yield from _measured(command, corpora, "tasks")


def _measured(command: str, corpora: Sequence[Corpus], things: str) -> Iterator[Result]:
    ways = {"holdfast": [SCRIPT, command], "python -m": [PYTHON, "-m", "holdfast", command]}
    cases = {"floor": process(FLOOR, corpora[0].top, os.environ)}
    for corpus in corpora:
        _prepare(corpus, ways.values())
        for way, argv in ways.items():
            cases[f"{way} {corpus.runs}"] = process(argv, corpus.top, os.environ)
    best = least(cases, ROUNDS)
    for number, bar in BARS.items():
        for way in ways:
            what = f"cold {command}, {number // 1000}k {things}: {way}"
            yield at_most(what, best[f"{way} {number}"], best["floor"], bar)
    growth = f"growth: cold {command} 1k -> 10k {things}"
    yield at_most(growth, best[f"holdfast {LARGE}"], best[f"holdfast {SMALL}"], GROWTH)


def _prepare(corpus: Corpus, ways: Iterable[list[str]]) -> None:
    """The state people are in: bytecode written, index built, answer kept."""
    for argv in ways:
        for _ in range(2):
            subprocess.run(argv, cwd=corpus.top, check=True, capture_output=True)


Writer = Callable[[str, int, Words, random.Random], None]


def _made(folder: str, cache: str, kind: str, number: int, write: Writer) -> Corpus:
    """A project with so many memories or tasks, committed, and a session that went on in it."""
    top = os.path.join(folder, f"{kind}-{number}")
    if os.path.isdir(top):
        return Corpus(top, cache, number)
    empty_project(top, cache)
    words, chance = Words(1), random.Random(1)
    for name in (*paths.FOLDER_OF.values(), paths.TASKS):
        os.makedirs(os.path.join(top, name), exist_ok=True)
    for at in range(number):
        write(top, at, words, chance)
    git(top, "add", "-f", ".holdfast")
    git(top, "commit", "-q", "-m", kind)
    for argv in (["session", "start", "Go on"], ["session", "note", "One step", "--open", "the next"]):
        subprocess.run([PYTHON, "-m", "holdfast", *argv], cwd=top, check=True, capture_output=True)
    return Corpus(top, cache, number)


def write_memory(top: str, number: int, words: Words, _: random.Random) -> None:
    kind = list(LABELS)[number % len(LABELS)]
    identity = f"{PREFIXES[kind]}-{number:06}"
    place = "[]" if number % 10 == 0 else f"[src/part{number % 97}/]"
    fields = {
        "id": identity, "type": kind, "status": "accepted", "layer": "L5", "tags": "[]",
        "source": "person:ada", "confidence": "0.9", "evidence": "[]", "applies_to": place,
        "supersedes": "[]", "expires_at": "null",
    }  # fmt: skip
    front = "".join(f"{name}: {value}\n" for name, value in fields.items())
    text = f"---\n{front}---\n{LABELS[kind]}: {words.some(12)}\n"
    _put(os.path.join(top, paths.entry_path(kind, kind, identity)), text)


def write_task(top: str, number: int, words: Words, chance: random.Random) -> None:
    names = {f"TSK-{chance.randrange(number):06}" for _ in range(EDGES)} if number > EDGES else set()
    status = "done" if number % 3 == 0 else "open"
    task = Task(id=f"TSK-{number:06}", title=words.some(6), needs=tuple(sorted(names)), status=status)
    _put(os.path.join(top, paths.node_path(paths.TASKS, "task", task.id)), task_files.render(task))


def _put(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
