"""The queue: each item is worked on once at a time, comes back when its holder is gone, and ends once."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
from sqlalchemy import exc

from holdfast.agent_store import agent_cycles, database
from holdfast.agent_store.database import AgentDatabase, StoreTransaction
from holdfast.agent_store.tables import QUEUE
from holdfast.agent_store.work_queue import WorkQueue
from holdfast.errors import BadInput, Claimed, NotFound
from holdfast.model.agent_entities import WorkItem
from holdfast.project import Project


@pytest.fixture
def queue(store: AgentDatabase) -> WorkQueue:
    return WorkQueue(store, "A")


def expire(store: AgentDatabase) -> None:
    """Let all leases end now."""
    store.run(lambda tx: tx.update(QUEUE, QUEUE.c.state == "claimed", ready=tx.now - 1, held_until=tx.now - 1))


def test_items_come_in_their_order_and_each_is_given_once(queue: WorkQueue) -> None:
    """Two workers with one item do its action twice."""
    put = [queue.put({"n": n}) for n in range(5)]
    first = queue.claim()
    rest = queue.claim(count=10)
    assert [one.action["n"] for one in (*first, *rest)] == [0, 1, 2, 3, 4]
    assert {one.id for one in (*first, *rest)} == {one.id for one in put}
    assert queue.claim() == []
    assert queue.done(first[0], {"sent": True}).outcome == {"sent": True}
    assert queue.counts() == {"done": 1, "claimed": 4}


def test_a_key_makes_an_item_once(queue: WorkQueue, store: AgentDatabase) -> None:
    """Whoever does not know whether `put` was kept must be able to ask again."""
    first = queue.put({"to": "ann"}, key="mail-1")
    assert queue.put({"to": "ben"}, key="mail-1") == first
    (held,) = queue.claim()
    queue.done(held)
    assert queue.put({"to": "ann"}, key="mail-1").state == "done" and queue.claim() == []
    assert WorkQueue(store, "B").put({"to": "ann"}, key="mail-1").id != first.id


def test_an_item_waits_for_its_moment(queue: WorkQueue, store: AgentDatabase) -> None:
    """A retry that comes at once meets the same fault."""
    queue.put("later", delay=3600)
    assert queue.claim() == []
    store.run(lambda tx: tx.update(QUEUE, ready=tx.now - 1))
    (held,) = queue.claim()
    back = queue.fail(held, "rate limit", retry_in=3600)
    assert (back.state, back.outcome) == ("waiting", {"error": "rate limit"}) and queue.claim() == []


def test_a_holder_that_is_gone_gives_its_item_back_and_cannot_finish_it_any_more(
    queue: WorkQueue, store: AgentDatabase
) -> None:
    """A worker that slept through its lease would overwrite what another one did."""
    queue.put("x")
    (late,) = queue.claim(lease=1)
    expire(store)
    (now,) = WorkQueue(store, "A").claim()
    assert now.id == late.id and now.attempts == 2 and now.token != late.token
    acts: list[Callable[[WorkItem], Any]] = [queue.done, queue.heartbeat, partial(queue.fail, why="late")]
    for act in acts:
        with pytest.raises(Claimed, match="no longer held"):
            act(late)
    assert queue.done(now, "mine").outcome == "mine"
    with pytest.raises(Claimed):
        queue.done(late)


def test_a_heartbeat_keeps_an_item(queue: WorkQueue, store: AgentDatabase) -> None:
    """Long work must not be given to a second worker."""
    queue.put("x")
    (held,) = queue.claim(lease=1)
    longer = queue.heartbeat(held, lease=3600)
    assert longer.held_until is not None and held.held_until is not None and longer.held_until > held.held_until
    assert longer.ready == longer.held_until
    expire(store)
    queue.heartbeat(held)  # late, and nobody took it meanwhile
    assert queue.claim() == []


def test_an_item_without_attempts_left_is_kept_with_its_reason(queue: WorkQueue, store: AgentDatabase) -> None:
    """Work that nobody can do must neither go round for ever nor disappear."""
    queue.put("breaks", most_attempts=2)
    for _ in range(2):
        (held,) = queue.claim()
        queue.fail(held, "it broke", retry_in=0)
    (dead,) = queue.items("failed")
    assert (dead.attempts, dead.outcome) == (2, {"error": "it broke"}) and queue.claim() == []
    queue.revive(dead)
    (held,) = queue.claim()
    assert held.attempts == 1
    queue.done(held)
    queue.put("kills its worker", most_attempts=1)
    queue.claim(lease=1)
    expire(store)
    queue.claim()
    assert [one.outcome for one in queue.items("failed")] == [{"error": "its holder did not come back"}]


def test_done_and_fail_may_be_said_twice(queue: WorkQueue) -> None:
    """A server killed at COMMIT cannot say whether it was kept, so the client says it again."""
    queue.put(1)
    queue.put(2)
    one, two = queue.claim(count=2)
    assert queue.done(one, "a") == queue.done(one, "a")
    assert queue.fail(two, "b", retry_in=9).state == queue.fail(two, "b", retry_in=9).state == "waiting"


@pytest.mark.parametrize("store_url", ["postgres"], indirect=True)  # of a file no COMMIT is lost
def test_a_claim_whose_answer_was_lost_finds_its_own_items_again(queue: WorkQueue, store: AgentDatabase) -> None:
    """Otherwise items wait for a lease that nobody holds."""
    for n in range(4):
        queue.put(n)
    asked = store.run
    lost = iter([True])

    class LostAnswer:
        """The database, whose connection breaks once after a COMMIT."""

        def run(self, operation: Callable[[StoreTransaction], Any], **options: Any) -> Any:
            def broken(tx: StoreTransaction) -> Any:
                if not tx.is_repeat:
                    kept.append(asked(operation))  # kept by the server
                    raise exc.OperationalError("COMMIT", {}, _Gone(), connection_invalidated=True)
                return operation(tx)

            return asked(broken, **options) if next(lost, False) else asked(operation, **options)

    class _Gone(Exception):
        sqlstate = "57P01"

    kept: list[Sequence[WorkItem]] = []
    claimed = WorkQueue(LostAnswer(), "A").claim(count=2)  # type: ignore[arg-type]
    assert [one.id for one in claimed] == [one.id for one in kept[0]]
    assert queue.counts() == {"waiting": 2, "claimed": 2}


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda queue: queue.put({1, 2}), "JSON"),
        (lambda queue: queue.put(1, most_attempts=0), "attempts"),
        (lambda queue: queue.put(1, delay=-1), "seconds"),
        (lambda queue: queue.claim(lease=0), "lease"),
        (lambda queue: queue.claim(count=0), "between"),
        (lambda queue: queue.items("lost"), "not a state"),
    ],
)
def test_what_makes_no_sense_is_refused(queue: WorkQueue, call: Callable[[WorkQueue], Any], said: str) -> None:
    """A lease of no time gives every item to everybody."""
    with pytest.raises(BadInput, match=said):
        call(queue)


def test_the_queue_of_a_project_is_its_agents_and_keeps_no_secrets(project: Project) -> None:
    """A database that a team shares is no place for one's key."""
    key = "ghp_" + "Zk3" * 12
    queue = project.agents.queue("researcher")
    queue.put({"token": key})
    assert project.agents.queue("writer").claim() == []
    (held,) = project.agents.queue("researcher").claim()
    assert key not in repr(held)
    assert key not in repr(queue.done(held, f"used {key}"))
    with pytest.raises(NotFound):
        queue.done(WorkItem(id="none", action=None, state="claimed"))


def _work(url: str, barrier: Any, results: Any, count: int) -> None:
    store = database.open_url(url, "project-one")
    queue, mine = WorkQueue(store, "A"), []
    barrier.wait()
    while items := queue.claim(count=count):
        for item in items:
            queue.done(item, agent_cycles.this_process())
            mine.append(item.action)
    results.put(mine)
    store.close()


@pytest.mark.parametrize(
    ("workers", "items"), [(4, 400), pytest.param(16, 10_000, marks=pytest.mark.torture)], ids=["4x400", "16x10000"]
)
def test_many_processes_take_each_item_exactly_once(
    store: AgentDatabase, store_url: str, workers: int, items: int
) -> None:
    """The second time an item is given out, its action happens twice."""
    rows = [
        {"id": f"{n:06}", "agent_id": "A", "action": n, "state": "waiting", "attempts": 0, "most_attempts": 3}
        for n in range(items)
    ]
    store.run(lambda tx: tx.insert(QUEUE, *({**row, "ready": tx.now, "created": tx.now} for row in rows)))
    start = multiprocessing.get_context("forkserver")  # what all of them import is imported once
    start.set_forkserver_preload([database.__name__, WorkQueue.__module__, __name__])
    barrier, results = start.Barrier(workers), start.Queue()
    running = [start.Process(target=_work, args=(store_url, barrier, results, 1 + n % 4)) for n in range(workers)]
    for one in running:
        one.start()
    taken = [results.get(timeout=600) for _ in running]
    for one in running:
        one.join()
    assert sorted(n for mine in taken for n in mine) == list(range(items))
    ended = store.run(lambda tx: tx.all(QUEUE.select().with_only_columns(QUEUE.c.state, QUEUE.c.attempts)))
    assert {tuple(row) for row in ended} == {("done", 1)}


def test_wrong_kinds_of_values_are_one_sentence(project: Project) -> None:
    """Annotations keep nobody from giving a text for a number; a stack trace tells them less than a sentence."""
    queue, agent = project.agents.queue("a"), project.agents.get("a")
    item = queue.put(1)
    bad: Any
    for bad in ("5", None, 1.5, True, [1], float("nan")):
        for call in (
            lambda bad=bad: queue.put(1, most_attempts=bad),
            lambda bad=bad: queue.claim(count=bad),
            lambda bad=bad: queue.items(limit=bad),
            lambda bad=bad: agent.recall("a", limit=bad),
        ):
            with pytest.raises(BadInput):
                call()
    for bad in ("5", [1], True, {}, object(), float("nan"), float("inf")):
        for call in (
            lambda bad=bad: queue.put(1, delay=bad),
            lambda bad=bad: queue.claim(lease=bad),
            lambda bad=bad: queue.heartbeat(item, lease=bad),
            lambda bad=bad: queue.fail(item, "why", retry_in=bad),
            lambda bad=bad: queue.done(bad),
            lambda bad=bad: queue.heartbeat(bad),
            lambda bad=bad: queue.fail(bad, "why"),
            lambda bad=bad: queue.revive(bad),
            lambda bad=bad: agent.recall("a", embedding=bad if bad != [1] else [None]),
            lambda bad=bad: agent.recall("a", embedding=[bad, object()]),
        ):
            with pytest.raises(BadInput):
                call()
    for bad in (5, b"a", ["a"], object()):
        for call in (
            lambda bad=bad: queue.put(1, key=bad),
            lambda bad=bad: queue.items(state=bad),
            lambda bad=bad: agent.recall(bad),
            lambda bad=bad: agent.recall("a", namespaces=bad if bad != ["a"] else "a"),
            lambda bad=bad: agent.recall("a", projects=bad if bad != ["a"] else "a"),
            lambda bad=bad: agent.remember("a", namespace=bad),
        ):
            with pytest.raises(BadInput):
                call()
    with pytest.raises(BadInput):
        queue.fail(item, object())  # type: ignore[arg-type]
    assert queue.counts() == {"waiting": 1}
