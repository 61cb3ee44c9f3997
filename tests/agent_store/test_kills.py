"""Processes and servers are killed at random moments: nothing acknowledged is lost, nothing is done twice.

The agents here have an effect that can be counted: each action appends its name to a file, and whoever resumes looks
first whether it is there. A failure prints its seed.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from demo.local_postgres import LocalPostgres

from holdfast.agent_store import agent_cycles, agent_memory, database, store_transfer
from holdfast.agent_store.database import AgentDatabase
from holdfast.agent_store.tables import QUEUE, RECORD
from holdfast.agent_store.work_queue import WorkQueue
from holdfast.errors import NoDatabase
from holdfast.model.agent_entities import MemoryRecord
from holdfast.project import Project
from tests.agent_store.conftest import new_database

FORKED = multiprocessing.get_context("forkserver")  # what all children import is imported once
FORKED.set_forkserver_preload([__name__, "holdfast.project.agent_book", "holdfast.agent_store.work_queue"])
KILLS = pytest.mark.parametrize("kills", [12, pytest.param(500, marks=pytest.mark.torture)])
RESTARTS = pytest.mark.parametrize("restarts", [1, pytest.param(30, marks=pytest.mark.torture)])


def seeded() -> random.Random:
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")  # pytest shows it if the test fails
    return random.Random(seed)


def append(path: Path, line: str) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(fd, f"{line}\n".encode())
    os.close(fd)


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def act_once(effects: Path, action: str | None) -> None:
    """The action, unless it happened: that is what an agent has to look for after a crash."""
    if action not in lines(effects):
        append(effects, str(action))


def agent_loop(top: str, url: str, folder: Path, started: Any, stop: Any = None) -> None:
    """Work as an agent until somebody kills this process, or says that it is enough."""
    project = Project.open(top, environ={"HOLDFAST_DATABASE_URL": url})
    agent = project.agents.get("worker")
    pending = agent.resume().pending
    if pending is not None:
        act_once(folder / "effects", pending.action)
        kept = pending.result(output=pending.action, state=(pending.index or 0) + 1)
        append(folder / "acknowledged", kept.action)
    started.set()
    while stop is None or not stop.is_set():
        with agent.cycle() as cycle:
            kept = cycle.propose(tool="append")
            append(folder / "effects", kept.action)
            cycle.result(output=kept.action, state=kept.index + 1)
        append(folder / "acknowledged", kept.action)
    project.agents.database.close()


def check_cycles(project: Project, folder: Path) -> int:
    """Finish what the last one left, then compare what is kept with what happened."""
    agent = project.agents.get("worker")
    pending = agent.resume().pending
    if pending is not None:
        act_once(folder / "effects", pending.action)
        pending.result(output=pending.action, state=(pending.index or 0) + 1)
    kept, effects, acknowledged = agent.cycles(), lines(folder / "effects"), lines(folder / "acknowledged")
    assert [one.index for one in kept] == list(range(len(kept))), "indexes have gaps"
    assert [one.action for one in kept] == effects, "an action was lost or repeated"
    order = {action: place for place, action in enumerate(effects)}
    assert [order[action] for action in acknowledged] == sorted({order[action] for action in acknowledged})
    assert all(one.result is not None and one.result.output == one.action for one in kept)
    assert agent.resume().state == (len(kept) or None) and agent.resume().next_index == len(kept)
    return len(kept)


@KILLS
def test_a_killed_agent_repeats_nothing_and_loses_nothing(
    project: Project, store_url: str, tmp_path: Path, kills: int
) -> None:
    """A mail that is sent twice, or a payment that nobody knows of, is what resuming is for."""
    chance = seeded()
    for _ in range(kills):
        started = FORKED.Event()
        child = FORKED.Process(target=agent_loop, args=(project.clone.repo.top, store_url, tmp_path, started))
        child.start()
        if chance.random() < 0.8:  # else it may die while it resumes
            started.wait(30)
        time.sleep(chance.random() * 0.03)
        os.kill(child.pid or 0, signal.SIGKILL)
        child.join()
        assert child.exitcode == -signal.SIGKILL, "the agent ended by itself"
    assert check_cycles(project, tmp_path)


def claim_loop(url: str, folder: Path, started: Any, stop: Any) -> None:
    """Take items one by one, note each, and say that it is done."""
    store = database.open_url(url, "project-one")
    queue = WorkQueue(store, "A")
    started.set()
    while items := queue.claim(lease=600):
        append(folder / "claims", items[0].id)
        queue.done(items[0])
        if stop.is_set():
            break
    store.close()


def copy_loop(source: str, url: str, started: Any, stop: Any) -> None:
    """Copy a store again and again."""
    given, target = database.open_url(source, "project-one"), database.open_url(url, "project-copy")
    started.set()
    while True:
        store_transfer.copy(given, target)
        if stop.is_set():
            break
    given.close()
    target.close()


def filled(path: Path, records: int) -> str:
    """A store in a file with something to copy."""
    url = f"sqlite:///{path}/source.db"
    store = database.open_url(url, "project-one")
    agent = store.run(partial(agent_cycles.get_agent, name="copied", new_id="C", directives=None, config=None))

    def remember(tx: database.StoreTransaction) -> None:
        for n in range(records):
            record = MemoryRecord(id=f"{n:06}", agent="copied", kind="result", namespace="n", text=f"text {n}" * 9)
            agent_memory.remember(tx, agent, record, evidence=())

    store.run(remember)
    store.close()
    return url


@RESTARTS
def test_a_killed_server_loses_no_record_and_gives_no_item_twice(
    repo: Any, server: LocalPostgres, tmp_path: Path, restarts: int
) -> None:
    """Its clients wait a little, ask again, and know what they did themselves."""
    chance, url = seeded(), server.url(new_database(server))
    items, stop = 500 * restarts, FORKED.Event()
    rows = [{"id": f"{n:06}", "agent_id": "A", "action": n, "state": "waiting", "attempts": 0} for n in range(items)]
    store = database.open_url(url, "project-one")
    more = {"most_attempts": 1000}
    store.run(lambda tx: tx.insert(QUEUE, *({**row, **more, "ready": tx.now, "created": tx.now} for row in rows)))
    source = filled(tmp_path, 1500)
    loops: list[tuple[Callable[..., None], tuple[Any, ...]]] = [
        (agent_loop, (str(repo.path), url, tmp_path)),
        (copy_loop, (source, url)),
        *[(claim_loop, (url, tmp_path))] * 2,
    ]
    started = [FORKED.Event() for _ in loops]
    running = [
        FORKED.Process(target=loop, args=(*given, begun, stop))
        for (loop, given), begun in zip(loops, started, strict=True)
    ]
    for one in running:
        one.start()
    assert all(begun.wait(60) for begun in started)
    for _ in range(restarts):
        time.sleep(0.3 + chance.random() * 0.7)
        server.kill()
        time.sleep(chance.random() * 0.3)
        before = progress(tmp_path)
        server.start()
        wait_for_all(running, tmp_path, before)
    stop.set()
    for one in running:
        one.join(60)
    assert [one.exitcode for one in running] == [0] * len(running), "a client did not recover"
    check_server(repo, url, store, source, tmp_path)


@pytest.mark.torture
def test_a_server_killed_every_two_seconds_gives_no_item_twice(server: LocalPostgres, tmp_path: Path) -> None:
    """Nobody waits for clients to recover: a kill may meet them while they ask again for the second or third time."""
    chance, url, items = seeded(), server.url(new_database(server)), 6000
    store, stop = database.open_url(url, "project-one"), FORKED.Event()
    rows = [{"id": f"{n:06}", "agent_id": "A", "action": n, "state": "waiting", "attempts": 0} for n in range(items)]
    more = {"most_attempts": 1000}
    store.run(lambda tx: tx.insert(QUEUE, *({**row, **more, "ready": tx.now, "created": tx.now} for row in rows)))
    started = [FORKED.Event() for _ in range(4)]
    running = [FORKED.Process(target=claim_loop, args=(url, tmp_path, begun, stop)) for begun in started]
    for one in running:
        one.start()
    assert all(begun.wait(60) for begun in started)
    kills = 0
    end = time.monotonic() + 120
    while any(one.is_alive() for one in running) and time.monotonic() < end:
        time.sleep(2 * chance.random() + 1)  # two seconds, on average, from kill to kill
        server.kill()
        server.start()
        kills += 1
    for one in running:
        one.join(60)
    claimed = lines(tmp_path / "claims")
    states = store.run(lambda tx: tx.all(QUEUE.select().with_only_columns(QUEUE.c.id, QUEUE.c.state)))
    store.close()
    print(f"{kills} kills, {len(claimed)} items")
    assert [one.exitcode for one in running] == [0] * 4, "a client did not recover"
    assert kills >= 3 and sorted(claimed) == [f"{n:06}" for n in range(items)], "an item was lost or given twice"
    assert {row.state for row in states} == {"done"}


def progress(folder: Path) -> list[int]:
    return [len(lines(folder / name)) for name in ("acknowledged", "claims")]


def wait_for_all(running: list[Any], folder: Path, before: list[int]) -> None:
    """Until agent and claims have gone on, so that the next kill meets clients at work and not between two tries."""
    end = time.monotonic() + 60
    while not all(now > then for now, then in zip(progress(folder), before, strict=True)):
        assert all(one.exitcode in (None, 0) for one in running), "a client did not recover"
        assert time.monotonic() < end, "no client went on after the restart"
        if all(one.exitcode == 0 for one in running[2:]):
            break  # all items are done
        time.sleep(0.05)


def check_server(repo: Any, url: str, store: AgentDatabase, source: str, folder: Path) -> None:
    claimed = lines(folder / "claims")
    assert len(claimed) == len(set(claimed)), "an item was given twice"
    states = store.run(lambda tx: tx.all(QUEUE.select().with_only_columns(QUEUE.c.id, QUEUE.c.state)))
    assert sorted(claimed) == sorted(row.id for row in states if row.state == "done")
    assert {row.state for row in states} <= {"done", "waiting"}
    store.close()
    project = Project.open(repo.path, environ={"HOLDFAST_DATABASE_URL": url})
    assert check_cycles(project, folder)
    project.agents.database.close()
    texts = []
    for one, name in ((source, "project-one"), (url, "project-copy")):
        opened = database.open_url(one, name)
        texts.append(opened.run(lambda tx: sorted(row.text for row in tx.all(RECORD.select().where(tx.of(RECORD))))))
        opened.close()
    assert texts[0] == texts[1] and len(texts[0]) == 1500


def test_a_server_that_stays_away_is_named_in_bounded_time(
    server: LocalPostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent that hangs for ever tells nobody what is wrong."""
    monkeypatch.setattr(database, "RETRIES", (0.05, 0.05))
    store = database.open_url(server.url(new_database(server)), "project-one")
    store.run(agent_cycles.every_agent)
    server.kill()
    try:
        began = time.monotonic()
        with pytest.raises(NoDatabase, match="does not answer"):
            store.run(agent_cycles.every_agent)
        assert time.monotonic() - began < 5
    finally:
        server.start()
    assert store.run(agent_cycles.every_agent) == []  # back again, with the same object
    store.close()
