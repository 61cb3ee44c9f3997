"""Law 3: racing first runs, sixty-four with `make torture`, make one valid store."""

import os
import random
import shutil
from pathlib import Path

import pytest

from holdfast.project import Project
from tests.conftest import Quick
from tests.faults.disk import KILLED, KILLS, Faulty, plugged

RACERS = pytest.mark.parametrize("racers", [12, pytest.param(64, marks=pytest.mark.torture)])


def race(work, racers: int) -> list[int]:
    """Run `work(number)` in forked processes that all start at the same moment; gives their exit codes."""
    ready, go = os.pipe()
    children = []
    for number in range(racers):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.close(go)
                os.read(ready, 1)  # ends when the parent closes its side
                work(number)
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    os.close(ready)
    os.close(go)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


@RACERS
def test_racing_inits_make_one_store(repo, racers: int):
    """Several agents start in a fresh project at once; a second store would split its memory."""
    codes = race(lambda _: Project.init(repo.path), racers)

    assert codes == [0] * racers
    project = Project.open(repo.path)
    assert project.health.doctor().verdict == "ok"
    assert not list(Path(repo.path, ".holdfast").rglob("*.tmp"))
    assert repo.git("config", "--get-all", "branch.main.holdfast").count("\n") == 0, "one line for the branch"


def half_killed(repo, seed: int, rounds: int) -> None:
    choose = random.Random(seed)
    for number in range(rounds):
        (repo.path / ".git/config").write_bytes((repo.path / ".git/config.kept").read_bytes())
        for name in (".git/holdfast", ".holdfast"):
            shutil.rmtree(repo / name, ignore_errors=True)
        deaths = [choose.randrange(60) if n % 2 else -1 for n in range(8)]
        kinds = [choose.choice(KILLS) for _ in deaths]

        def work(n: int, deaths=deaths, kinds=kinds) -> None:
            with plugged(Faulty(deaths[n], kinds[n], Quick())):
                Project.init(repo.path)

        print(f"round {number}: killed at {deaths}")
        codes = race(work, len(deaths))
        assert set(codes[::2]) == {0} and set(codes) <= {0, KILLED}
        Project.init(repo.path)
        assert Project.open(repo.path).health.doctor().verdict == "ok"
        assert not [path for path in (repo / ".holdfast").rglob("*.tmp") if "view" not in path.parts]
        assert repo.git("config", "--get-all", "branch.main.holdfast").count("\n") == 0


@pytest.mark.parametrize("rounds", [1, pytest.param(50, marks=pytest.mark.torture)])
def test_racing_inits_of_which_half_are_killed_make_one_store(repo, seed: int, rounds: int) -> None:
    """An agent that dies while it sets up must not keep the others from it."""
    (repo.path / ".git/config.kept").write_bytes((repo.path / ".git/config").read_bytes())
    half_killed(repo, seed, rounds)


@RACERS
def test_racing_first_writers_lose_nothing(repo, racers: int):
    """The first thing an agent does may be to record; nobody ran `init` before it in this clone."""
    Project.init(repo.path, commit=True)
    second = repo.path.parent / "second"
    repo.git("clone", "-q", str(repo.path), str(second))

    codes = race(lambda number: Project.open(second).write_log({"run_id": f"run-{number}", "task": "race"}), racers)

    assert codes == [0] * racers
    project = Project.open(second)
    assert {event["run_id"] for event in project.log.events()} == {f"run-{number}" for number in range(racers)}
    assert len({event["line"] for event in project.log.events()}) == 1
    assert project.health.doctor().verdict == "ok"
