"""Law 3: sixty-four racing first runs make one valid store."""

import os
from pathlib import Path

from holdfast.project import Project

RACERS = 64


def race(work) -> list[int]:
    """Run `work(number)` in forked processes that all start at the same moment; gives their exit codes."""
    ready, go = os.pipe()
    children = []
    for number in range(RACERS):
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


def test_racing_inits_make_one_store(repo):
    """Several agents start in a fresh project at once; a second store would split its memory."""
    codes = race(lambda _: Project.init(repo.path))

    assert codes == [0] * RACERS
    project = Project.open(repo.path)
    assert project.doctor().verdict == "ok"
    assert not list(Path(repo.path, ".holdfast").rglob("*.tmp"))
    assert repo.git("config", "--get-all", "branch.main.holdfast").count("\n") == 0, "one line for the branch"


def test_racing_first_writers_lose_nothing(repo):
    """The first thing an agent does may be to record; nobody ran `init` before it in this clone."""
    Project.init(repo.path, commit=True)
    second = repo.path.parent / "second"
    repo.git("clone", "-q", str(repo.path), str(second))

    codes = race(lambda number: Project.open(second).write_log({"run_id": f"run-{number}", "task": "race"}))

    assert codes == [0] * RACERS
    project = Project.open(second)
    assert {event["run_id"] for event in project.log()} == {f"run-{number}" for number in range(RACERS)}
    assert len({event["line"] for event in project.log()}) == 1
    assert project.doctor().verdict == "ok"
