"""Claims on tasks that all clones of a project see, and a lost server filled from clones."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from demo.local_postgres import LocalPostgres

from holdfast.agent_store import database, store_transfer
from holdfast.agent_store.database import AgentDatabase
from holdfast.agent_store.tables import TASK
from holdfast.errors import BadInput, Claimed
from holdfast.project import Project
from tests.agent_store.conftest import new_database
from tests.conftest import Cli, GitRepo

AWAY = "postgresql://nobody@127.0.0.1:1/none"  # port 1: nothing listens there


@pytest.fixture
def url(server: LocalPostgres) -> str:
    return server.url(new_database(server))


@pytest.fixture
def clones(repo: GitRepo, tmp_path: Path) -> list[GitRepo]:
    """Two clones of one project with two tasks; the second is a copy of the first, name and all."""
    project = Project.open(repo.path, environ={})
    project.tasks.add("Paint the hull", id="PAINT", priority=1)
    project.tasks.add("Mend the sail", id="MEND")
    repo.git("remote", "add", "origin", str(tmp_path / "origin.git"))
    shutil.copytree(repo.path, tmp_path / "copy", symlinks=True)
    return [repo, GitRepo(tmp_path / "copy")]


def opened(clones: Sequence[GitRepo], url: str | None) -> list[Project]:
    environ = {"HOLDFAST_DATABASE_URL": url} if url else {}
    return [Project.open(one.path, environ=environ) for one in clones]


@pytest.fixture
def pair(clones: list[GitRepo], url: str) -> list[Project]:
    return opened(clones, url)


@pytest.fixture
def seen(url: str, pair: list[Project]) -> Iterator[AgentDatabase]:
    """What the server holds of this project."""
    with_server = database.open_url(url, pair[0].agents.project_id)
    yield with_server
    with_server.close()


def held(seen: AgentDatabase) -> dict[str, bool]:
    rows = seen.run(lambda tx: tx.all(TASK.select().where(tx.of(TASK))), read=True)
    return {row.id: row.holder is not None for row in rows}


def test_a_task_is_claimed_by_one_clone_and_the_other_learns_by_whom_and_where(pair: list[Project]) -> None:
    """Two people who do the same task lose a day of one of them."""
    one, two = pair
    one.tasks.start("PAINT", owner="ann")
    with pytest.raises(Claimed) as caught:
        two.tasks.start("PAINT", owner="ben")
    said = str(caught.value)
    assert "PAINT is claimed by ann on main at " in said and str(one.clone.repo.top) in said and " until 20" in said
    assert two.tasks.claims() == {} and two.tasks.show("PAINT").placed.task.status == "open"
    one.tasks.start("PAINT", owner="ann")  # its own is renewed


def test_next_gives_each_clone_a_task_of_its_own(pair: list[Project]) -> None:
    """An agent that asks for work must not get what another machine does."""
    given = [one.tasks.next(claim=True) for one in pair]
    assert [(found.claimed.id, found.shared) for found in given if found.claimed] == [("PAINT", True), ("MEND", True)]
    assert pair[0].tasks.next(claim=True).claimed is None


@pytest.mark.parametrize("end", ["release", "done", "drop", "block", "reopen"])
def test_a_claim_ends_for_all_clones(pair: list[Project], seen: AgentDatabase, end: str) -> None:
    """A task that looks taken and is not is done by nobody."""
    one, two = pair
    one.tasks.start("PAINT", owner="ann")
    assert held(seen) == {"PAINT": True}
    more = {"done": {"without_evidence": True}, "block": {"reason": "rain"}}.get(end, {})
    getattr(one.tasks, end)("PAINT", **more)
    assert held(seen) == {"PAINT": False}
    two.tasks.start("PAINT", owner="ben")


def test_done_in_one_clone_leaves_the_claim_of_another_and_release_frees_it(
    pair: list[Project], seen: AgentDatabase
) -> None:
    """Whoever finishes their own copy must not free what another one works on; who frees it is told whose it was."""
    one, two = pair
    one.tasks.start("PAINT", owner="ann")
    two.tasks.done("PAINT", without_evidence=True)
    assert held(seen) == {"PAINT": True}
    two.tasks.release("PAINT")
    assert held(seen) == {"PAINT": False} and any("the claim was ann's, at" in note for note in two.notices)


def test_a_claim_that_ended_by_itself_is_free(pair: list[Project], seen: AgentDatabase) -> None:
    """A machine that burnt down must not keep its tasks."""
    one, two = pair
    one.tasks.start("PAINT", owner="ann")
    seen.run(lambda tx: tx.update(TASK, held_until=tx.now - 1))
    two.tasks.start("PAINT", owner="ben")
    with pytest.raises(Claimed, match="by ben"):
        one.tasks.start("PAINT", owner="ann")


def test_a_server_that_is_away_hinders_nobody_and_is_named_once(clones: list[GitRepo]) -> None:
    """A train without a network is a place to work."""
    (project, _) = opened(clones, AWAY)
    found = project.tasks.next(claim=True)
    task = found.claimed
    assert task is not None and not found.shared
    project.tasks.release(task.id)
    project.tasks.start("MEND")
    said = [note for note in project.notices if "do not see" in note]
    assert len(said) == 3 and all(note.startswith("other clones do not see this: the agents' data") for note in said)
    assert "MEND" in project.tasks.claims()


def test_without_a_server_a_clone_says_once_that_its_claims_are_local(clones: list[GitRepo]) -> None:
    """Who believes that others see a claim is surprised by a second pull request."""
    cli = Cli(clones[0].path)
    assert "a claim is local to this clone" in cli("task", "start", "PAINT").err
    assert "local to this clone" not in cli("task", "start", "MEND").err
    clones[1].git("remote", "remove", "origin")
    assert "local to this clone" not in Cli(clones[1].path)("next", "--claim").err


def test_commands_that_claim_nothing_load_no_database(clones: list[GitRepo]) -> None:
    """A person waits for every import."""
    code = (
        "import sys; from holdfast.interfaces.cli.main import main; main(sys.argv[1:]);"
        "assert 'sqlalchemy' not in sys.modules and 'psycopg' not in sys.modules"
    )
    for words in (["next"], ["tasks"], ["task", "done", "MEND", "--without-evidence"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *words],
            cwd=clones[0].path,
            env={**os.environ, "HOLDFAST_DATABASE_URL": AWAY},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr


# ── holdfast team push ───────────────────────────────────────────────────────────────────────────


def worked(project: Project, name: str, cycles: int = 2) -> None:
    agent = project.agents.get(name)
    for n in range(cycles):
        with agent.cycle() as cycle:
            cycle.propose(tool="x", arguments={"n": n})
            cycle.result(output=n, state=n)
        agent.remember(f"{name} saw {n}", cycle=n, evidence=["run:1"])
    project.agents.database.close()


def test_a_new_server_is_filled_from_clones_and_nothing_goes_twice(
    clones: list[GitRepo], url: str, pair: list[Project], seen: AgentDatabase
) -> None:
    """After the loss of a server every clone gives what it has, in any order, as often as anybody likes."""
    here, there = opened(clones, None)
    worked(here, "researcher")
    worked(there, "writer", 3)
    here.tasks.start("PAINT", owner="ann")
    first, second = pair[0].tasks.push(), pair[1].tasks.push()
    assert (first.agents, first.claims, second.agents, second.claims) == (1, 1, 1, 0)
    assert first.rows == first.looked == 1 + 2 * 5 and second.rows == 1 + 3 * 5  # of a cycle: itself, proposal, …
    again = [one.tasks.push() for one in pair]
    assert [(one.rows, one.claims, one.left) for one in again] == [(0, 0, ()), (0, 0, ())]
    assert [one.cycles for one in pair[0].agents.list()] == [2, 3] and held(seen) == {"PAINT": True}
    assert pair[1].agents.find("researcher").resume().state == 1
    said = Cli(clones[0].path, {"HOLDFAST_DATABASE_URL": url})("team", "push").out
    assert said == "Nothing new: the server has everything of this clone.\n"


def test_an_agent_goes_on_to_where_it_is_here_and_never_back(
    clones: list[GitRepo], pair: list[Project], seen: AgentDatabase
) -> None:
    """A push that takes an agent back makes it repeat what it did."""
    here = opened(clones, None)[0]
    worked(here, "researcher")
    server = pair[0]
    server.tasks.push()
    worked(opened(clones, None)[0], "researcher", 1)
    assert server.tasks.push().left == () and server.agents.find("researcher").resume().next_index == 3
    with server.agents.find("researcher").cycle() as cycle:
        cycle.propose(tool="on the server")
        cycle.result(output=1)
    before = list(store_transfer.rows(seen))
    assert server.tasks.push().left == ("researcher is further there than here",)
    worked(opened(clones, None)[0], "researcher", 1)
    assert server.tasks.push().left == ("researcher went on here and there, each in its own way",)
    assert list(store_transfer.rows(seen)) == before


def test_two_agents_of_one_name_stay_apart(clones: list[GitRepo], pair: list[Project]) -> None:
    """Cycles of two agents in one list are nobody's."""
    here, there = opened(clones, None)
    worked(here, "researcher")
    worked(there, "researcher", 1)
    pair[0].tasks.push()
    done = pair[1].tasks.push()
    assert done.left == ("another agent is called researcher there",) and done.rows == 0
    assert [one.cycles for one in pair[0].agents.list()] == [2]


def test_a_claim_that_another_clone_has_by_now_is_named(clones: list[GitRepo], pair: list[Project]) -> None:
    """Both worked while the server was away: only people can settle that."""
    opened(clones, None)[0].tasks.start("PAINT", owner="ann")
    pair[1].tasks.start("PAINT", owner="ben")
    done = pair[0].tasks.push()
    assert done.claims == 0 and "PAINT is claimed by ben" in done.taken[0]


def test_push_needs_a_server(clones: list[GitRepo]) -> None:
    """Nothing may look as if it had been saved elsewhere."""
    with pytest.raises(BadInput, match="no server"):
        opened(clones, None)[0].tasks.push()
