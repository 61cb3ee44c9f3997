"""Claims: two agents never have the same task, whatever happens to either of them."""

import json
import os
import random
import signal
import time
import traceback
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import BadInput, Claimed
from holdfast.model.event import timestamp
from holdfast.model.task import Task
from holdfast.store.layout import Layout
from holdfast.values import asdict, replace
from holdfast.work import task_claims, task_json, task_lifecycle
from holdfast.work.task_claims import TaskClaim
from holdfast.work.task_lifecycle import TaskWorker
from tests.git.place import Place

AGENTS = 16
OID = "0123456789" * 4


def at(minutes: float) -> str:
    return timestamp(datetime(2031, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes))


def claim(task: str = "TSK-a", owner: str = "ada", **fields: object) -> TaskClaim:
    given = {"session": f"SES-{owner}", "line": "line", "branch": "main", "worktree": ".", "head": OID}
    return TaskClaim(**{"task": task, "owner": owner, **given, "ts": at(0), "until": at(60), **fields})  # type: ignore[arg-type]


def record(**fields: object) -> bytes:
    """A claim's file as it should be, but for some fields."""
    return json.dumps({**asdict(claim()), **fields}).encode()


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(str(tmp_path), str(tmp_path / "private"))


def test_a_claim_holds_until_its_time_is_over(layout: Layout) -> None:
    """An agent that was switched off must not keep a task for ever."""
    task_claims.take(layout, claim(), now=at(0))
    assert task_claims.live(layout, at(59)) == {"TSK-a": claim()}
    assert task_claims.live(layout, at(60)) == {}
    assert task_claims.find(layout, "TSK-a") == claim()
    with pytest.raises(Claimed, match="TSK-a is claimed by ada on main until 2031-01-01T01:00:00Z"):
        task_claims.take(layout, claim(owner="bob"), now=at(59))
    assert task_claims.take(layout, claim(owner="bob"), now=at(60)).owner == "bob"


def test_renewing_keeps_since_when_and_what_was_committed(layout: Layout) -> None:
    """Evidence of what was done is found from where a task was started, not from the last renewal."""
    task_claims.take(layout, claim(), now=at(0))
    task_claims.add_commit(layout, "TSK-a", OID)
    task_claims.add_commit(layout, "TSK-a", OID)
    again = task_claims.take(layout, claim(ts=at(50), head="1" * 40, until=at(110)), now=at(50))
    assert (again.ts, again.head, again.until, again.commits) == (at(0), OID, at(110), (OID,))
    assert task_claims.live(layout, at(100)) == {"TSK-a": again}


def test_a_renewed_claim_lives_on(layout: Layout) -> None:
    """An agent at work for hours keeps its task; one that slept too long hears that somebody else has it."""
    task_claims.take(layout, claim(), now=at(0))
    later = task_claims.take(layout, claim(until=at(120)), now=at(59))
    assert task_claims.live(layout, at(61)) == {"TSK-a": later}
    with pytest.raises(Claimed):
        task_claims.take(layout, claim(owner="bob"), now=at(61))
    task_claims.take(layout, claim(owner="bob", until=at(200)), now=at(121))
    with pytest.raises(Claimed, match="bob"):
        task_claims.take(layout, claim(until=at(300)), now=at(122))


def test_without_a_session_the_work_tree_tells_holders_apart(layout: Layout) -> None:
    """Two agents of one person, each in a work tree of its own, go by the same name."""
    mine = claim(session=None, worktree="one")
    task_claims.take(layout, mine, now=at(0))
    assert task_claims.take(layout, mine, now=at(1)) == mine
    with pytest.raises(Claimed):
        task_claims.take(layout, replace(mine, worktree="two"), now=at(1))
    with pytest.raises(Claimed):
        task_claims.take(layout, claim(session="SES-other"), now=at(1))


def test_asked_for_something_new_ones_own_claim_counts_too(layout: Layout) -> None:
    """`next --claim` asked twice under one name must give two tasks."""
    assert task_claims.try_take(layout, claim(), now=at(0)) == claim()
    assert task_claims.try_take(layout, claim(), now=at(1)) is None
    assert task_claims.try_take(layout, claim(owner="bob"), now=at(60)) is not None


def test_releasing_is_for_whoever_has_it(layout: Layout) -> None:
    """Giving up one's own work must not give up somebody else's."""
    assert task_claims.release(layout, "TSK-a") is None
    task_claims.take(layout, claim(), now=at(0))
    assert task_claims.release(layout, "TSK-a", owner="bob") is None
    assert task_claims.live(layout, at(1))
    assert task_claims.release(layout, "TSK-a", owner="ada") == claim()
    assert task_claims.find(layout, "TSK-a") is None
    assert task_claims.add_commit(layout, "TSK-a", OID) is None
    assert task_claims.release(layout, "no/id") is None


def test_commits_are_bounded_and_real(layout: Layout) -> None:
    """A claim that grows for ever slows everybody's `next` down."""
    task_claims.take(layout, claim(commits=tuple(f"{n:040x}" for n in range(task_claims.MAX_COMMITS))), now=at(0))
    added = task_claims.add_commit(layout, "TSK-a", OID)
    assert added is not None
    assert len(added.commits) == task_claims.MAX_COMMITS
    assert added.commits[-1] == OID
    with pytest.raises(BadInput):
        task_claims.add_commit(layout, "TSK-a", "HEAD")


def test_old_claims_can_be_swept(layout: Layout) -> None:
    """What ended weeks ago is no news."""
    task_claims.take(layout, claim(), now=at(0))
    task_claims.take(layout, claim("TSK-b", until=at(500)), now=at(0))
    assert task_claims.sweep(layout, before=at(60)) == []
    assert [gone.task for gone in task_claims.sweep(layout, before=at(61))] == ["TSK-a"]
    assert [left.task for left in task_claims.every(layout)] == ["TSK-b"]


@given(ids=st.lists(st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9._-]{0,20}\Z"), min_size=2, max_size=30, unique=True))
def test_ids_that_differ_only_in_case_have_claims_of_their_own(ids: list[str]) -> None:
    """On a disk that ignores case, a claim on TSK-a must not be one on tsk-A."""
    names = [task_claims._name(task).casefold() for task in [*ids, "TSK-a", "tsk-a", "TSK-A", "Tsk-a"]]
    assert len(set(names)) == len({*ids, "TSK-a", "tsk-a", "TSK-A", "Tsk-a"})
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-~") for name in names)


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"task": "TSK-a"}',
        record(task="TSK-b"),
        record(owner=3),
        record(until="later"),
        record(session=["x"]),
        record(commits="none"),
    ],
)
def test_a_damaged_claim_is_left_out_said_and_taken_over(layout: Layout, damage: bytes) -> None:
    """One bad file must not stop `next` for everybody, nor lock its task up for ever."""
    task_claims.take(layout, claim("TSK-c"), now=at(0))
    Path(layout.claims, "TSK-a.json").write_bytes(damage)
    assert list(task_claims.live(layout, at(1))) == ["TSK-c"]
    assert len(layout.notes) == 1
    assert "TSK-a.json is no claim" in layout.notes[0]
    assert task_claims.take(layout, claim(owner="bob"), now=at(1)).owner == "bob"
    assert sorted(task_claims.live(layout, at(1))) == ["TSK-a", "TSK-c"]


def test_a_link_or_a_folder_in_place_of_a_claim_leads_nowhere(layout: Layout, tmp_path: Path) -> None:
    """Somebody else's file must not be read, let alone written, through a planted link."""
    task_claims.take(layout, claim("TSK-c"), now=at(0))
    outside = tmp_path / "outside"
    outside.write_text("mine")
    Path(layout.claims, "TSK-a.json").symlink_to(outside)
    Path(layout.claims, "TSK-b.json").mkdir()
    assert list(task_claims.live(layout, at(1))) == ["TSK-c"]
    task_claims.take(layout, claim(), now=at(1))
    assert outside.read_text() == "mine"


def test_a_file_in_place_of_the_folder_is_said(layout: Layout) -> None:
    """A broken store is no reason for a traceback."""
    os.makedirs(layout.private)
    Path(layout.claims).write_text("in the way")
    assert task_claims.live(layout, at(0)) == {}
    assert task_claims.find(layout, "TSK-a") is None
    assert layout.notes


@pytest.mark.parametrize("fields", [{"task": "a/b"}, {"until": "tomorrow"}, {"commits": ("HEAD",)}])
def test_a_claim_that_means_nothing_is_refused(fields: dict[str, object]) -> None:
    """What is written must be readable by the next."""
    with pytest.raises(BadInput):
        claim(**fields)  # type: ignore[arg-type]


# Many processes at once.


def spawn(act: Callable[[int], None]) -> tuple[int, int]:
    """A forked process that reports on a pipe: (its id, the reading end)."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 98
        try:
            os.close(reading)
            act(writing)
            code = 0
        except BaseException:  # noqa: BLE001 - whatever it is, the test must hear of it
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(writing)
    return pid, reading


def reports(reading: int) -> list[str]:
    with os.fdopen(reading) as pipe:
        return pipe.read().split()


def compete(layout: Layout, agent: int, tasks: list[str], pipe: int) -> None:
    """Claim whatever one can get, and say what one got."""
    random.Random(agent).shuffle(tasks)
    for task in tasks:
        mine = claim(task, owner=f"agent-{agent}")
        try:
            if agent % 2:
                task_claims.take(layout, mine, now=at(1))
            elif task_claims.try_take(layout, mine, now=at(1)) is None:
                continue
        except Claimed:
            continue
        os.write(pipe, f"{task}\n".encode())


@pytest.mark.parametrize("count", [150, pytest.param(1000, marks=pytest.mark.torture)])
def test_sixteen_agents_never_claim_the_same_task(layout: Layout, count: int) -> None:
    """Two agents with the same task undo each other's work."""
    tasks = [f"TSK-{number}" for number in range(count)]
    children = [spawn(lambda pipe, a=agent: compete(layout, a, list(tasks), pipe)) for agent in range(AGENTS)]
    got = {agent: reports(reading) for agent, (_, reading) in enumerate(children)}
    assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid, _ in children] == [0] * AGENTS

    assert sorted(task for tasks in got.values() for task in tasks) == sorted(tasks)
    held = task_claims.live(layout, at(1))
    assert {task: c.owner for task, c in held.items()} == {
        task: f"agent-{agent}" for agent, tasks in got.items() for task in tasks
    }
    assert layout.notes == []


def next_until_none(top: Path, agent: int, place: Place, pipe: int) -> None:
    """Ask for something to do, again and again, as `holdfast next --claim` does."""
    clone = place.at(top).open()
    while (task := task_lifecycle.claim_next(clone, TaskWorker("ada", "SES-x" if agent % 2 else None))) is not None:
        os.write(pipe, f"{task.id}\n".encode())


def test_sixteen_agents_in_four_work_trees_share_out_what_is_ready(tmp_path: Path) -> None:
    """One person's agents, all under one name: each must get a task of its own, wherever it works."""
    place = Place.make(tmp_path / "project")
    plan = [Task(id=f"TSK-{number}", title="do it") for number in range(24)]
    task_json.bring(place.open(), task_json.to_json([*plan, Task(id="TSK-w", title="waits", needs=("TSK-0",))]))
    trees = [place.repo.path]
    for name in ("one", "two", "three"):
        place.git("worktree", "add", "-q", "-b", name, str(tmp_path / name))
        trees.append(tmp_path / name)
    children = [spawn(lambda pipe, a=agent: next_until_none(trees[a % 4], a, place, pipe)) for agent in range(AGENTS)]
    got = [task for _, reading in children for task in reports(reading)]
    assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid, _ in children] == [0] * AGENTS
    assert sorted(got) == sorted(task.id for task in plan)


def claim_until_killed(layout: Layout, agent: int, pipe: int) -> None:
    for number in range(10_000):
        task = f"TSK-{number}"
        if task_claims.try_take(layout, claim(task, owner=f"agent-{agent}"), now=at(1)) is not None:
            os.write(pipe, f"{task}\n".encode())


@pytest.mark.parametrize("rounds", [2, pytest.param(100, marks=pytest.mark.torture)])
def test_killed_agents_leave_claims_that_expire(layout: Layout, rounds: int, seed: int) -> None:
    """What a killed agent had is not lost to the others, and nothing it said it had was given away before."""
    chosen = random.Random(seed)
    said: dict[str, str] = {}
    for number in range(rounds):
        children = [
            spawn(lambda pipe, a=agent + number * AGENTS: claim_until_killed(layout, a, pipe))
            for agent in range(AGENTS)
        ]
        time.sleep(chosen.random() * 0.1)
        for pid, _ in children:
            os.kill(pid, signal.SIGKILL)
        for agent, (pid, reading) in enumerate(children):
            os.waitpid(pid, 0)
            for task in reports(reading):
                assert task not in said
                said[task] = f"agent-{agent + number * AGENTS}"
    held = task_claims.live(layout, at(59))
    assert {task: held[task].owner for task in said} == said
    assert layout.notes == []
    assert task_claims.live(layout, at(60)) == {}
    for task in list(held)[:10]:
        assert task_claims.take(layout, claim(task, owner="heir", until=at(200)), now=at(60)).owner == "heir"
    assert len(task_claims.live(layout, at(60))) == min(10, len(held))
