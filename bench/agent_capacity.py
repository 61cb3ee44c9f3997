"""How much work of agents a store takes, and how many servers a number of agents needs.

python bench/bench.py agents-cycles     durable cycles a second beside the raw engine with the same transactions
python bench/bench.py agents-queue      sixteen processes that claim ten thousand items
python bench/bench.py agents-move       a store copied to the other engine, in MB/s
python bench/agent_capacity.py          the capacity table of docs/explanation/scale.md, from this machine's figures
"""

from __future__ import annotations

import argparse
import contextlib
import heapq
import multiprocessing
import os
import random
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bench.measure import Result, at_least, middle, told

EACH = 150  # cycles of one round: enough that a slow flush of the disk does not decide it
ROUNDS = 5
CLIENTS, ITEMS = 16, 10_000
MOVED, ROWS = 40, 20_000  # pieces of files, a MiB each, and rows of transcripts that are copied
PROJECT = "bench"
_STATEMENTS = {  # what one cycle writes, as the engine gets it
    "at": "SELECT a.cycles, a.run_id, a.holder, a.held_until, c.action, c.ended, r.body FROM agent a"
    " LEFT JOIN agent_cycle c ON c.project_id = a.project_id AND c.agent_id = a.id AND c.cycle = {0}"
    " LEFT JOIN action_result r ON r.project_id = a.project_id AND r.agent_id = a.id AND r.cycle = {0}"
    " WHERE a.project_id = {0} AND a.id = {0}",
    "cycle": "INSERT INTO agent_cycle (project_id, agent_id, cycle, action, run_id, started)"
    " VALUES ({0}, {0}, {0}, {0}, {0}, {0})",
    "proposal": "INSERT INTO action_proposal (project_id, agent_id, cycle, body) VALUES ({0}, {0}, {0}, {0})",
    "hold": "UPDATE agent SET holder = {0}, held_until = {0}, cycles = {0}, run_id = {0}"
    " WHERE project_id = {0} AND id = {0}",
    "result": "INSERT INTO action_result (project_id, agent_id, cycle, body) VALUES ({0}, {0}, {0}, {0})",
    "end": "UPDATE agent_cycle SET ended = {0} WHERE project_id = {0} AND agent_id = {0} AND cycle = {0}",
    "state": "UPDATE agent SET holder = {0}, held_until = {0}, state = {0} WHERE project_id = {0} AND id = {0}",
}
_SCOPE = "SELECT set_config('holdfast.project', %s, true), set_config('holdfast.projects', %s, true)"
_PROPOSAL = {"thoughts": "a few words about what to do next " * 4, "tool": "search", "arguments": {"query": "boats"}}
_RESULT = {"output": {"hits": ["one of the things that were found"] * 8}}


def cycles(folder: str) -> Iterator[Result]:
    """Durable cycles a second, on both engines, next to the same transactions by the bare driver."""
    from holdfast.agent_store import database

    path = os.path.join(folder, "agents.db")
    store = database.open_sqlite(path, PROJECT)
    raw_path = os.path.join(folder, "raw.db")
    database.open_sqlite(raw_path, PROJECT).close()
    yield from _compared("SQLite", store, _RawFile(raw_path))
    store.close()
    with _server() as server:
        for name in ("ours", "raw"):
            server.sql(f"CREATE DATABASE {name} TEMPLATE template")
        store = database.open_url(server.url("ours"), PROJECT)
        yield from _compared("Postgres", store, _RawServer(server.url("raw")))
        store.close()


def _compared(engine: str, store: Any, raw: Any) -> Iterator[Result]:
    ours = _Ours(store)
    found = middle({"raw": lambda: _rate(raw.cycle), "ours": lambda: _rate(ours.cycle)}, floor="raw", rounds=ROUNDS)
    yield at_least(f"durable cycles, {engine}, against the bare driver", *found["ours"], 0.5, "/s")


def _rate(cycle: Callable[[], None]) -> float:
    start = time.perf_counter()
    for _ in range(EACH):
        cycle()
    return EACH / (time.perf_counter() - start)


class _Ours:
    """An agent's cycles by our operations."""

    def __init__(self, store: Any) -> None:
        from holdfast.agent_store import agent_cycles
        from holdfast.model import agent_entities

        self._store, self._cycles = store, agent_cycles
        self._proposal, self._result = (
            agent_entities.ActionProposal(**_PROPOSAL),
            agent_entities.ActionResult(**_RESULT),
        )
        made = partial(agent_cycles.get_agent, name="bench", new_id="A", directives=None, config=None)
        self._agent, self._n = store.run(made), 0

    def cycle(self) -> None:
        self._n += 1
        given = {"agent": self._agent, "holder": "h"}
        begun = partial(self._cycles.begin, proposal=self._proposal, action=f"a{self._n}", run_id="r", **given)
        cycle = self._store.run(begun)
        self._store.run(partial(self._cycles.finish, cycle=cycle, result=self._result, state=self._n, **given))


class _Raw:
    """The same rows in the same two transactions, by the driver alone."""

    def __init__(self, mark: str, first: list[Any]) -> None:
        self._sql = {name: text.format(mark) for name, text in _STATEMENTS.items()}
        self._n = 0
        row = "INSERT INTO agent (project_id, id, name, directives, config, cycles, created) VALUES ({0}{1})"
        self._within([(row.format(mark, f", {mark}" * 6), first)])

    def cycle(self) -> None:
        import json

        n, now = self._n, time.time_ns() // 1000
        self._n += 1
        key, agent = (PROJECT, "A", n), (PROJECT, "A")
        self._within(
            [
                (self._sql["at"], (n - 1, n - 1, *agent)),
                (self._sql["cycle"], (*key, f"a{n}", "r", now)),
                (self._sql["proposal"], (*key, json.dumps(_PROPOSAL))),
                (self._sql["hold"], ("h", now, n + 1, "r", *agent)),
            ]
        )
        self._within(
            [
                (self._sql["at"], (n, n, *agent)),
                (self._sql["result"], (*key, json.dumps(_RESULT))),
                (self._sql["end"], (now, *key)),
                (self._sql["state"], ("h", now, str(n), *agent)),
            ]
        )

    def _within(self, statements: list[tuple[str, Any]]) -> None:
        raise NotImplementedError


class _RawFile(_Raw):
    def __init__(self, path: str) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        for setting in ("journal_mode = WAL", "synchronous = FULL"):
            self._connection.execute(f"PRAGMA {setting}")
        super().__init__("?", [PROJECT, "A", "bench", "[]", "{}", 0, 0])

    def _within(self, statements: list[tuple[str, Any]]) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        for text, values in statements:
            self._connection.execute(text, values).fetchall()
        self._connection.execute("COMMIT")


class _RawServer(_Raw):
    def __init__(self, url: str) -> None:
        import psycopg

        self._connection = psycopg.connect(url)
        super().__init__("%s", [PROJECT, "A", "bench", "[]", "{}", 0, 0])

    def _within(self, statements: list[tuple[str, Any]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.execute(_SCOPE, (PROJECT, PROJECT))
            for text, values in statements:
                cursor.execute(text, values)
                if cursor.description:
                    cursor.fetchall()
        self._connection.commit()


@contextlib.contextmanager
def _server() -> Iterator[Any]:
    """A durable server with the roles of docs/reference/agents.md, and a template with our tables."""
    from demo.local_postgres import local_postgres

    with local_postgres(durable=True) as server:
        server.make_agents("template")
        yield server


def queue(folder: str) -> Iterator[Result]:
    """Sixteen processes that claim ten thousand items one by one and say of each that it is done."""
    yield _claimed("SQLite", f"sqlite:///{folder}/queue.db")
    with _server() as server:
        server.sql("CREATE DATABASE queue TEMPLATE template")
        yield _claimed("Postgres", server.url("queue"))


def moving(folder: str) -> Iterator[Result]:
    """A store of cycles and files copied to the other engine and back."""
    from holdfast.agent_store import database, store_transfer
    from holdfast.agent_store.tables import CHUNK, TRANSCRIPT

    file = database.open_sqlite(os.path.join(folder, "move.db"), PROJECT)
    pieces = [{"digest": f"{n:04}", "used": 0, "data": os.urandom(1 << 20)} for n in range(MOVED)]
    said = {"session": "s", "kind": "item", "created": 0, "body": _RESULT}
    for piece in pieces:
        file.run(lambda tx, row=piece: tx.insert(CHUNK, row))  # type: ignore[misc]
    file.run(lambda tx: tx.insert(TRANSCRIPT, *({**said, "position": n} for n in range(ROWS))))
    with _server() as server:
        server.sql("CREATE DATABASE moved TEMPLATE template")
        target = database.open_url(server.url("moved"), PROJECT)
        back = database.open_sqlite(os.path.join(folder, "back.db"), PROJECT)
        for what, one, other in (("SQLite to Postgres", file, target), ("Postgres to SQLite", target, back)):
            began = time.perf_counter()
            done = store_transfer.copy(one, other)
            speed = done.bytes / (time.perf_counter() - began) / 1e6
            yield told(f"move, {what}: {done.rows:,} rows, {done.bytes / 1e6:.0f} MB", f"{speed:.0f} MB/s")
        target.close()
        back.close()
    file.close()


def _claimed(engine: str, url: str) -> Result:
    from holdfast.agent_store import database
    from holdfast.agent_store.tables import QUEUE

    store = database.open_url(url, PROJECT)
    rows = [
        {"id": f"{n:06}", "agent_id": "A", "action": n, "state": "waiting", "attempts": 0, "most_attempts": 3}
        for n in range(ITEMS)
    ]
    store.run(lambda tx: tx.insert(QUEUE, *({**row, "ready": tx.now, "created": tx.now} for row in rows)))
    start = multiprocessing.get_context("spawn")
    barrier, counts = start.Barrier(CLIENTS + 1), start.Queue()
    workers = [start.Process(target=_claim_all, args=(url, barrier, counts)) for _ in range(CLIENTS)]
    for worker in workers:
        worker.start()
    barrier.wait()
    began = time.perf_counter()
    taken = [counts.get() for _ in workers]
    seconds = time.perf_counter() - began
    for worker in workers:
        worker.join()
    store.close()
    once = "as many claims" if sum(taken) == ITEMS else f"{sum(taken):,} claims"  # a test compares the items themselves
    what = f"{CLIENTS} clients claim and finish {ITEMS:,} items, {engine}"
    return told(what, f"{ITEMS / seconds:,.0f} /s, {once}", f"{seconds:.1f} s")


def _claim_all(url: str, barrier: Any, counts: Any) -> None:
    from holdfast.agent_store import database
    from holdfast.agent_store.work_queue import WorkQueue

    store = database.open_url(url, PROJECT)
    work, count = WorkQueue(store, "A"), 0
    barrier.wait()
    while items := work.claim():
        work.done(items[0])
        count += 1
    counts.put(count)
    store.close()


# ── the simulation ───────────────────────────────────────────────────────────────────────────────

WARM = 60.0  # seconds before anything is counted


def simulate(
    agents: int, *, rate: float, think: float, servers: int = 1, seconds: float = 120.0
) -> tuple[float, float]:
    """Cycles a second and the p99 wait for the database, of agents that think and then write.

    A server is a queue of transactions that takes `rate` cycles a second, half of one for each of its two
    transactions; an agent's project lies on one server. Thinking times are exponential: models answer irregularly.
    """
    chance = random.Random(agents)  # the same table each time
    free = [0.0] * servers
    waiting = [(chance.expovariate(1 / think), n % servers, 0) for n in range(agents)]
    heapq.heapify(waiting)
    service, ended, waits = 1 / rate / 2, 0, []
    while True:
        now, server, half = heapq.heappop(waiting)
        if now > WARM + seconds:
            break
        begin = max(now, free[server])
        free[server] = begin + service
        if now > WARM:
            waits.append(free[server] - now)
            ended += half
        heapq.heappush(waiting, (free[server] + chance.expovariate(2 / think), server, 1 - half))
    waits.sort()
    return ended / seconds, waits[int(len(waits) * 0.99)] if waits else 0.0


def capacity(rate: float, think: float) -> str:
    """The table: agents, servers, cycles a second, waits."""
    lines = ["| agents | servers | cycles/s | p99 wait for a write | busy |", "|---|---|---|---|---|"]
    for agents in (10, 100, 1_000, 5_000, 10_000, 50_000):
        servers = 1
        while True:
            done, wait = simulate(agents, rate=rate, think=think, servers=servers)
            busy = done / (rate * servers)
            if wait < 0.1 and busy < 0.8:  # a tenth of a second is not noticed beside a model's answer
                break
            servers += max(1, servers // 4)
        lines.append(f"| {agents:,} | {servers} | {done:,.0f} | {wait * 1000:.0f} ms | {busy:.0%} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description="The capacity table of docs/explanation/scale.md.")
    parser.add_argument("--rate", type=float, help="cycles a second of one server; measured here if not given")
    parser.add_argument("--think", type=float, default=10.0, help="seconds between two cycles of an agent")
    asked = parser.parse_args()
    rate = asked.rate
    if rate is None:
        with _server() as server:
            server.sql("CREATE DATABASE many TEMPLATE template")
            rate = many_agents(server.url("many"))
    print(f"One server: {rate:,.0f} cycles/s by {CLIENTS} clients; an agent takes {asked.think:g} s for a cycle.\n")
    print(capacity(rate, asked.think))
    return 0


def many_agents(url: str, *, clients: int = CLIENTS) -> float:
    """Durable cycles a second of many agents at once."""
    start = multiprocessing.get_context("spawn")
    barrier = start.Barrier(clients + 1)
    workers = [start.Process(target=_cycle_many, args=(url, n, barrier)) for n in range(clients)]
    for worker in workers:
        worker.start()
    barrier.wait()
    began = time.perf_counter()
    barrier.wait()
    seconds = time.perf_counter() - began
    for worker in workers:
        worker.join()
    return clients * EACH / seconds


def _cycle_many(url: str, number: int, barrier: Any) -> None:
    from holdfast.agent_store import database

    store = database.open_url(url, f"{PROJECT}-{number}")
    ours = _Ours(store)
    ours.cycle()
    barrier.wait()
    for _ in range(EACH):
        ours.cycle()
    barrier.wait()
    store.close()


if __name__ == "__main__":
    sys.exit(main())
