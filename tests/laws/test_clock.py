"""A clock that jumps, forward or back: what was decided last stays decided, and no answer is older than it.

The same decisions are taken twice, once under a steady clock and once under one that jumps by up to ten years
before any of them. Both projects must end alike: order comes from the log, never from the time.
"""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from holdfast.errors import HoldfastError
from holdfast.project import Project
from tests.conftest import make_repo

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
JUMPS = (timedelta(0), timedelta(seconds=1), timedelta(hours=1), timedelta(days=1), timedelta(days=3650))
THINGS = ("queue", "parser", "cache", "logger", "scheduler", "mailer")
PLACES = ("Postgres", "Redis", "Kafka", "files", "memory", "SQLite")


class Steady:
    """A second passes between any two looks."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


class Jumping(Steady):
    def __init__(self, choose: random.Random) -> None:
        super().__init__()
        self._choose = choose

    def jump(self) -> None:
        self.now = NOW + self._choose.choice((-1, 1)) * self._choose.choice(JUMPS)


def walk(path: Path, clock: Callable[[], datetime], choose: random.Random, steps: int) -> list[object]:
    """Take decisions at random; gives what every step came to and how the project stands in the end."""
    names: list[str] = []
    tasks: list[str] = []
    told: list[object] = []
    for number in range(steps):
        if isinstance(clock, Jumping):
            clock.jump()
        project = Project.open(path, person=True, clock=clock)
        act, pick = choose.randrange(9), choose.random()
        thing, place = choose.choice(THINGS), choose.choice(PLACES)
        name = names[int(pick * len(names))] if names else ""
        try:
            if act <= 1 or not names:
                said = f"Step {number}: the {thing} keeps its rows in {place}."
                names.append(project.memory.remember(said, kind="fact", evidence=["README"]).id)
            elif act == 2:
                project.memory.accept(name, reviewer="Ada")
            elif act == 3:
                project.memory.reject(name, reason="no", reviewer="Ada")
            elif act == 4:
                project.memory.undo(reviewer="Ada")
            elif act == 5:
                project.memory.edit(name, details=f"Rationale: step {number}.")
            elif act == 6:
                project.memory.retire(name, reviewer="Ada")
            elif act == 7 or not tasks:
                tasks.append(project.tasks.add(f"Task {number}").id)
            else:
                project.tasks.edit(tasks[int(pick * len(tasks))], title=f"Task {number} again")
            told.append(None)
        except HoldfastError as error:
            told.append(type(error).__name__)
    told.append(standing(path, clock))
    return told


def standing(path: Path, clock: Callable[[], datetime]) -> dict[str, object]:
    project = Project.open(path, person=True, clock=clock)
    known = project.memory.facts().standings
    tasks = (sighting.text for sighting in project.clone.entries(".holdfast/tasks"))
    assert project.health.doctor().verdict == "ok"
    return {
        "known": sorted((one.memory.statement, one.status, one.trust or "") for one in known),
        "waiting": sorted((one.memory.statement, one.memory.details) for one in project.memory.candidates()),
        "tasks": sorted(line for text in tasks for line in text.splitlines() if "Task" in line),
    }


def both(folder: Path, seed: int, steps: int) -> None:
    found = []
    for name in ("steady", "jumping"):
        repo = make_repo(folder / name)
        Project.init(repo.path, commit=True)
        repo.git("switch", "-q", "-c", "work")
        clock = Steady() if name == "steady" else Jumping(random.Random(seed + 1))
        found.append(walk(repo.path, clock, random.Random(seed), steps))
    assert found[0] == found[1]


def test_what_was_decided_last_stays_decided_whatever_the_clock_says(tmp_path: Path, seed: int) -> None:
    """A laptop wakes up in the wrong year, approves, and finds the right one again."""
    both(tmp_path, seed, 8)


@pytest.mark.torture
def test_many_decisions_under_a_jumping_clock(tmp_path: Path, seed: int) -> None:
    """The same at length."""
    for number in range(10):
        print(f"walk {seed + number}")
        both(tmp_path / str(number), seed + number, 25)
