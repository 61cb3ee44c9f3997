"""The work graph: its rules alone, `next` and `status` from nothing, and how all of it grows.

Plans are always the same ones: goals, epics, tasks and three needs a task on average, most of it done.
"""

import os
import random
import subprocess
import sys
from collections.abc import Iterator

from bench.corpus import Corpus, Words, empty_project, git
from bench.measure import Result, at_most, cpu, least, process, told
from holdfast.model.task import Task
from holdfast.store import layout as paths
from holdfast.store import task_files as files
from holdfast.work import task_json
from holdfast.work.task_claims import TaskClaim, live, take
from holdfast.work.task_graph import TaskGraph

PYTHON = sys.executable
SCRIPT = os.path.join(os.path.dirname(PYTHON), "holdfast")
FLOOR = [PYTHON, "-I", "-S", "-c", "pass"]
SMALL, LARGE = 1_000, 10_000
NEEDS = 3  # edges a task, on average
NEAR = 300  # needs reach back so far
EPIC, GOAL = 20, 400  # tasks in one
ROUNDS = 9


def plan(count: int, *, seed: int = 1) -> list[Task]:
    """So many tasks with three times as many needs and no cycle; seven of ten are closed."""
    chosen, words = random.Random(seed), Words(seed)
    names = [f"TSK-{number:06d}" for number in range(count)]
    return [_task(number, names, chosen, words) for number in range(count)]


def _task(number: int, names: list[str], chosen: random.Random, words: Words) -> Task:
    kind = "goal" if number % GOAL == 0 else "epic" if number % EPIC == 0 else "task"
    # Those that come earlier are more likely done; needs go to earlier tasks that are no plans themselves.
    done = chosen.random() < 1.1 - 0.9 * number / len(names)
    earlier = [n for n in range(max(0, number - NEAR), number) if n % EPIC]
    wanted = min(len(earlier), chosen.choice((2, 3, 4)) if kind == "task" else 0)
    goal, epic = number - number % GOAL, number - number % EPIC
    parent = None if kind == "goal" else names[goal] if kind == "epic" else names[epic]
    return Task(
        id=names[number],
        kind=kind,
        title=words.some(6),
        status=_status(kind, done, chosen),
        needs=tuple(names[n] for n in sorted(chosen.sample(earlier, wanted))),
        parent=parent,
        priority=chosen.choice((1, 2, 2, 2, 3)),
    )


def _status(kind: str, done: bool, chosen: random.Random) -> str:
    if kind != "task":
        return "open"
    if done:
        return chosen.choice(("done", "done", "done", "dropped"))
    return chosen.choice(("open", "open", "open", "started", "blocked"))


def graph() -> Iterator[Result]:
    """Everything `next` asks of the graph, against reading the same values into dictionaries."""
    small, large = plan(SMALL), plan(LARGE)
    best = least(
        {
            "small": lambda: cpu(lambda: _asked(small)),
            "large": lambda: cpu(lambda: _asked(large)),
            "floor": lambda: cpu(lambda: _as_dictionaries(large)),
            "build": lambda: cpu(lambda: TaskGraph(large)),
            "ready": lambda: cpu(lambda: TaskGraph(large).ready()),
            "cycle": lambda: cpu(lambda: TaskGraph(large).cycle()),
        },
        ROUNDS,
    )
    edges = sum(len(task.needs) + (task.parent is not None) for task in large)
    yield at_most(f"graph of {LARGE:,} / {edges:,} edges: ready, waiting, path", best["large"], best["floor"], 8)
    yield told("  (building it, and what is ready, alone)", f"{best['ready'] * 1e3:.2f} ms")
    yield told("  (looking for a cycle in all of it)", f"{best['cycle'] * 1e3:.2f} ms")
    yield at_most("growth: graph 1k -> 10k tasks", best["large"], best["small"], 12)


def _asked(tasks: list[Task]) -> None:
    graph = TaskGraph(tasks)
    graph.ready()
    graph.waiting()
    graph.critical_path()


def _as_dictionaries(tasks: list[Task]) -> None:
    """The least that anybody does with a graph: every edge into a dictionary, both ways."""
    after: dict[str, list[str]] = {}
    before: dict[str, list[str]] = {}
    for task in tasks:
        for need in (*task.needs, task.parent or ""):
            after.setdefault(need, []).append(task.id)
            before.setdefault(task.id, []).append(need)


def moved() -> Iterator[Result]:
    """Import and export as text, against a JSON parser over the same bytes."""
    import json

    tasks = plan(LARGE)
    text = task_json.to_jsonl(tasks)
    best = least(
        {
            "out": lambda: cpu(lambda: task_json.to_jsonl(tasks)),
            "in": lambda: cpu(lambda: task_json.from_text(text)),
            "floor": lambda: cpu(lambda: [json.loads(line) for line in text.splitlines()]),
        },
        3,
    )
    yield told(f"  (export of {LARGE:,} tasks)", f"{best['out'] * 1e3:.0f} ms", ratio=best["out"] / best["floor"])
    yield told(f"  (reading {LARGE:,} tasks)", f"{best['in'] * 1e3:.0f} ms", ratio=best["in"] / best["floor"])


def make(top: str, cache: str, count: int) -> Corpus:
    """A project whose plan of so many tasks is committed."""
    corpus = empty_project(top, cache)
    os.makedirs(os.path.join(top, *paths.TASKS.split("/")))
    for task in plan(count):
        path = paths.node_path(paths.TASKS, "a-task", task.id)
        with open(os.path.join(top, *path.split("/")), "w", encoding="utf-8") as file:
            file.write(files.render(task))
    git(top, "add", "-f", paths.TASKS)
    git(top, "commit", "-q", "-m", "the plan")
    _claim_some(corpus, count)
    return Corpus(corpus.top, corpus.cache, count)


def _claim_some(corpus: Corpus, count: int) -> None:
    """A handful of agents at work."""
    clone = corpus.clone()
    for task in plan(count)[-5:]:
        claim = TaskClaim(
            task=task.id, owner="bench", session=f"SES-{task.id}", line=clone.line().id, branch="main",
            worktree=".", head=None, ts=clone.now(), until=f"2999{clone.now()[4:]}",
        )  # fmt: skip
        take(clone.layout, claim, now=clone.now())
    if len(live(clone.layout, clone.now())) != 5:
        raise SystemExit("the claims of the corpus are not there")


def changed(folder: str, cache: str) -> Iterator[Result]:
    """`next` when a task has just changed, so that nothing kept can answer; `work` measures it kept."""
    corpus = make(os.path.join(folder, f"tasks-{LARGE}"), cache, LARGE)

    def once() -> float:
        argv = [SCRIPT, "task", "edit", "TSK-000401", "--title", f"another {random.random()}"]
        subprocess.run(argv, cwd=corpus.top, check=True, capture_output=True)
        return process([SCRIPT, "next"], corpus.top, os.environ)()

    took = min(once() for _ in range(2))
    yield told(f"  (next right after a change, {corpus.runs:,} tasks)", f"{took * 1e3:.0f} ms")
