"""A store goes to another engine, to a file and back, and nothing is lost or done twice."""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path

import pytest
from demo.local_postgres import LocalPostgres

from holdfast.agent_store import agent_cycles, database, store_transfer, work_queue
from holdfast.agent_store.database import AgentDatabase
from holdfast.agent_store.tables import VECTOR
from holdfast.errors import BadInput, FutureFormat, InConflict
from holdfast.model.agent_entities import ActionProposal, ActionResult
from holdfast.project import Project
from holdfast.project.working_agent import Agent
from tests.agent_store.conftest import new_database


@pytest.fixture
def other(store_url: str, server: LocalPostgres, tmp_path: Path) -> Iterator[AgentDatabase]:
    """An empty store on the other engine."""
    url = server.url(new_database(server)) if store_url.startswith("sqlite") else f"sqlite:///{tmp_path}/other.db"
    opened = database.open_url(url, "project-one")
    yield opened
    opened.close()


def filled(project: Project) -> None:
    for name in ("researcher", "writer"):
        agent = project.agents.get(name, directives=["ü"], config={"a": [1]})
        for n in range(3):
            with agent.cycle() as cycle:
                cycle.propose(tool="x", arguments={"n": n})
                cycle.result(output={"n": n}, state={"n": n})
            agent.remember(f"{name} saw {n}", cycle=n, evidence=["run:1"])
    data = {"record_id": "r", "model": "m", "agent_id": "a", "namespace": "n", "size": 4, "vector": b"\x00\xff\x7f\x80"}
    project.agents.database.run(lambda tx: tx.insert(VECTOR, data))


def told(store: AgentDatabase) -> list[store_transfer.Row]:
    without = [(name, {k: v for k, v in row.items() if k != "project_id"}) for name, row in store_transfer.rows(store)]
    return [(name, {k: bytes(v) if isinstance(v, memoryview) else v for k, v in row.items()}) for name, row in without]


def test_a_copy_holds_the_same_and_copying_again_changes_nothing(project: Project, other: AgentDatabase) -> None:
    """An agent that is moved to a server must go on as if nothing had happened."""
    filled(project)
    source = project.agents.database
    first = store_transfer.copy(source, other)
    assert told(other) == told(source) and first.agents == 2
    assert store_transfer.copy(source, other) == first and told(other) == told(source)


def test_a_copy_that_was_cut_short_is_completed(project: Project, other: AgentDatabase) -> None:
    """Killed anywhere, the same command again finishes it."""
    filled(project)
    source = project.agents.database
    every = list(store_transfer.rows(source))
    for cut in range(0, len(every), 5):
        store_transfer.put(other, islice(every, cut))
    store_transfer.copy(source, other)
    assert told(other) == told(source)


def test_an_agent_that_went_on_is_not_overwritten(project: Project, other: AgentDatabase) -> None:
    """The older copy would take back cycles whose actions happened."""
    filled(project)
    source = project.agents.database
    store_transfer.copy(source, other)
    agent = project.agents.get("writer")
    with agent.cycle() as cycle:
        cycle.propose(tool="x")
        cycle.result(output=1)
    with pytest.raises(InConflict, match="used since"):
        store_transfer.copy(other, source)
    store_transfer.copy(source, other)
    assert told(other) == told(source)


def did(agent: Agent, text: str) -> None:
    with agent.cycle() as cycle:
        cycle.propose(tool="send", arguments={"text": text})
        cycle.result(output=text, state=text)
    agent.let_go()


@pytest.mark.parametrize("more", [1, 2])
def test_a_copy_that_is_refused_has_changed_nothing(project: Project, other: AgentDatabase, more: int) -> None:
    """An agent that went on in both places: neither may lose what it did."""
    agent = project.agents.get("mailer")
    did(agent, "base")
    source = project.agents.database
    store_transfer.copy(source, other)
    identity = other.run(agent_cycles.every_agent)[0]
    for n in range(more):
        begun = other.run(
            partial(
                agent_cycles.begin,
                agent=identity,
                proposal=ActionProposal(tool="send"),
                holder="h",
                action=f"there {n}",
                run_id="r",
            )
        )
        ended = partial(agent_cycles.finish, agent=identity, cycle=begun, result=ActionResult(output=n), holder="h")
        other.run(ended)
    did(agent, "here")
    before = told(other)
    with pytest.raises(InConflict):
        store_transfer.copy(source, other)
    assert told(other) == before


def test_what_was_done_in_the_target_stays_done(project: Project, other: AgentDatabase) -> None:
    """A payment that comes back to the queue is paid twice."""
    source = project.agents.database
    project.agents.queue("payer").put({"pay": 7}, key="bill-7")
    store_transfer.copy(source, other)
    identity = other.run(agent_cycles.every_agent)[0]
    there = work_queue.WorkQueue(other, identity.id, clean=lambda value: value)
    (item,) = there.claim()
    there.done(item, "paid")
    store_transfer.copy(source, other)
    assert there.counts()["done"] == 1 and there.claim() == []
    store_transfer.copy(other, source)
    assert project.agents.queue("payer").counts()["done"] == 1


def test_a_file_holds_the_same(project: Project, other: AgentDatabase) -> None:
    """A file is the copy that needs no server."""
    filled(project)
    source = project.agents.database
    file = io.BytesIO()
    count = store_transfer.write_file(file, store_transfer.rows(source))
    lines = io.StringIO(file.getvalue().decode())
    assert store_transfer.put(other, store_transfer.read_file(lines)).rows == count
    assert told(other) == told(source)


def test_one_agent_alone_can_be_exported(project: Project, other: AgentDatabase) -> None:
    """Who hands over one agent does not hand over the others' memory."""
    filled(project)
    chosen = project.agents.find("writer").identity.id
    store_transfer.put(other, store_transfer.rows(project.agents.database, [chosen]))
    assert {row["name"] for name, row in told(other) if name == "agent"} == {"writer"}
    assert "researcher" not in repr(told(other))


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", BadInput),
        ("nonsense\n", BadInput),
        ('{"holdfast": "bundle", "v": 1}\n', BadInput),
        ('{"holdfast": "agents", "v": 1, "step": "9999"}\n', FutureFormat),
        ('{"holdfast": "agents", "v": 1, "step": "0002"}\n{"table": "agent"\n', BadInput),
        ('{"holdfast": "agents", "v": 1, "step": "0002"}\n{"table": "nothing", "row": {}}\n', FutureFormat),
    ],
)
def test_a_file_that_is_none_is_refused(store: AgentDatabase, text: str, error: type[Exception]) -> None:
    """A sentence, not a stack trace, and nothing half imported."""
    with pytest.raises(error):
        store_transfer.put(store, store_transfer.read_file(io.StringIO(text)))
    assert told(store) == []
