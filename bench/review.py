"""Review at ten thousand: opening the queue, looking at one, deciding one, against reading the same files."""

import os
import time
from collections.abc import Callable, Iterator

from bench.corpus import Words, empty_project
from bench.measure import Result, told
from holdfast.model.memory import Candidate
from holdfast.project import Project
from holdfast.store import fsio, memory_files

MANY = 10_000


def review(folder: str, cache: str) -> Iterator[Result]:
    """What a reviewer waits for, with ten thousand candidates on the shelf."""
    corpus = empty_project(os.path.join(folder, "review"), cache)
    shelf = _filled(corpus.clone().layout.candidates)
    floor = _timed(lambda: [_bytes(path) for path in shelf])
    project = Project.open(corpus.top, person=True)
    opened = _timed(project.memory.queue)
    yield told(f"review opens, {MANY // 1000}k candidates", _ms(opened), _ms(floor), opened / floor)
    queue = project.memory.queue()
    looked = _timed(lambda: queue.look(queue.items[MANY // 2]))
    yield told("a look at one: conflicts, twins, diff", _ms(looked), _ms(floor), looked / floor)
    decided = _timed(lambda: project.memory.reject(queue.items[0].id))
    yield told("a decision, with the views rendered", _ms(decided), _ms(floor), decided / floor)


def _filled(folder: str) -> list[str]:
    """So many candidates in the private store; gives their files."""
    os.makedirs(folder, exist_ok=True)
    words, paths = Words(7), []
    for number in range(MANY):
        memory = Candidate(id=f"DEC-{number:06d}", type="decision", statement=f"{words.some(9)}.", line="bench")
        paths.append(os.path.join(folder, f"{memory.id}.md"))
        fsio.replace(paths[-1], memory_files.render(memory).encode())
    return paths


def _bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _timed(act: Callable[[], object]) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.0f} ms"
