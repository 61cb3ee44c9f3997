"""A project's agents copied: to another database, to a file, and back.

Rows go table by table in the order of their keys, in batches that are each durable, so a copy that was killed goes on
where it stopped, and doing it again changes nothing. A store that was used since it was copied is not overwritten: an
agent that has more cycles there than here is refused.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import IO, Any

import sqlalchemy as sa

from holdfast.agent_store import schema_steps
from holdfast.agent_store.database import AgentDatabase, StoreTransaction
from holdfast.agent_store.tables import AGENT, CYCLE, EVERY, ITEM, QUEUE, RECORD, RESULT, SEALING_KEY
from holdfast.errors import BadInput, FutureFormat, InConflict
from holdfast.values import frozen

BATCH = 500  # rows that become durable together
MOST_BYTES = 4 << 20  # of one batch: files of workspaces come in chunks of this size
HEAD = {"holdfast": "agents", "v": 1}
Row = tuple[str, dict[str, Any]]
Told = Callable[[int], None]


@frozen
class StoreCopied:
    """What was copied."""

    rows: int
    agents: int
    bytes: int


def copy(source: AgentDatabase, target: AgentDatabase, *, tell: Told = lambda _: None) -> StoreCopied:
    """Copy all that a project's agents have into another store."""
    return put(target, rows(source), tell=tell)


def rows(source: AgentDatabase, agents: Sequence[str] = ()) -> Iterator[Row]:
    """Every row of a project, or those of some agents, by table and key."""
    for table in EVERY:
        if agents and "agent_id" not in table.c and table is not AGENT:
            continue
        last: tuple[Any, ...] | None = None
        while batch := source.run(partial(_batch, table=table, after=last, agents=agents), read=True):
            yield from ((table.name, dict(row._mapping)) for row in batch)
            last = tuple(batch[-1]._mapping[column.name] for column in _keys(table))


def count(tx: StoreTransaction) -> int:
    """How many rows a project has."""
    each = (sa.select(sa.func.count()).select_from(table).where(tx.of(table)) for table in EVERY)
    return sum(tx.one(one)[0] for one in each)


def put(target: AgentDatabase, given: Iterable[Row], *, tell: Told = lambda _: None) -> StoreCopied:
    """Put rows into a store; what is there with the same key stays, unless the given one is newer.

    Agents come first and are looked at, and are written last: killed in between, none points to what is not there.
    InConflict, before anything was written, if an agent went on in the target or in both places.
    """
    done = size = 0
    agents: list[dict[str, Any]] = []
    ahead: set[str] = set()  # agents of which the target did not have all results
    for name, some in groupby(given, key=lambda row: row[0]):
        table = next((one for one in EVERY if one.name == name), None)
        if table is None:
            raise FutureFormat(f"there is no table {name[:80]!r} in this version")
        if table is AGENT:
            agents += (row for _, row in some)
            target.run(partial(_refuse_older, batch=agents), read=True)
            continue
        for batch, weight in batches(row for _, row in some):
            if table is CYCLE:
                target.run(partial(_refuse_parted, batch=batch), read=True)
            new = target.run(partial(_put, table=table, batch=batch))
            ahead |= {row["agent_id"] for row in batch} if table is RESULT and new else set()
            done, size = done + len(batch), size + weight
            tell(done)
    target.run(partial(_put_agents, agents=agents, ahead=ahead))
    return StoreCopied(done + len(agents), len(agents), size)


def write_file(file: IO[bytes], given: Iterable[Row]) -> int:
    """Write rows as JSON lines; gives how many."""
    file.write(json.dumps({**HEAD, "step": schema_steps.NEWEST}).encode() + b"\n")
    written = 0
    for table, row in given:
        written += 1
        safe = {name: _as_json(value) for name, value in row.items() if name != "project_id"}
        file.write(json.dumps({"table": table, "row": safe}, separators=(",", ":")).encode() + b"\n")
    return written


def read_file(file: IO[str]) -> Iterator[Row]:
    """The rows of such a file; BadInput if it is none."""
    try:
        head = json.loads(file.readline())
        if not isinstance(head, dict) or {name: head.get(name) for name in HEAD} != HEAD:
            raise BadInput("this file holds no agents", hint="Make one with `holdfast agent export FILE`.")
        if head["step"] != schema_steps.NEWEST:
            raise FutureFormat(
                f"this file was written at step {head['step']}, and this version is at {schema_steps.NEWEST}"
            )
        for line in file:
            told = json.loads(line)
            yield told["table"], {name: _from_json(value) for name, value in told["row"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"this file is damaged: {error}") from error


def _keys(table: sa.Table) -> list[sa.Column[Any]]:
    return [column for column in table.primary_key if column.name != "project_id"]


def _batch(
    tx: StoreTransaction, *, table: sa.Table, after: tuple[Any, ...] | None, agents: Sequence[str]
) -> Sequence[Any]:
    keys = _keys(table)
    asked = sa.select(table).where(tx.of(table)).order_by(*keys).limit(BATCH)
    if agents:
        asked = asked.where((AGENT.c.id if table is AGENT else table.c.agent_id).in_(agents))
    if after is not None:
        asked = asked.where(
            sa.tuple_(*keys) > sa.tuple_(*(sa.literal(one, key.type) for one, key in zip(after, keys, strict=True)))
        )
    return tx.all(asked)


def batches(given: Iterable[dict[str, Any]]) -> Iterator[tuple[list[dict[str, Any]], int]]:
    """Rows in portions that become durable together, and the bytes of each."""
    batch: list[dict[str, Any]] = []
    weight = 0
    for row in given:
        batch.append(row)
        weight += sum(len(value) for value in row.values() if isinstance(value, str | bytes))
        if len(batch) == BATCH or weight >= MOST_BYTES:
            yield batch, weight
            batch, weight = [], 0
    if batch:
        yield batch, weight


# When a row of the source replaces the one of the target: it tells what happened since.
_NEWER: dict[str, Callable[[sa.Table, Any], Any]] = {
    CYCLE.name: lambda there, new: sa.and_(there.c.ended.is_(None), new.ended.is_not(None)),
    QUEUE.name: lambda there, new: sa.or_(
        new.attempts > there.c.attempts,
        sa.and_(
            new.attempts == there.c.attempts,
            there.c.state.in_(("waiting", "claimed")),
            new.state.in_(("done", "failed")),
        ),
    ),
    ITEM.name: lambda there, new: new.updated > there.c.updated,
    RECORD.name: lambda there, new: sa.or_(new.uses > there.c.uses, new.pinned > there.c.pinned),
    SEALING_KEY.name: lambda there, new: sa.and_(there.c.destroyed.is_(None), new.destroyed.is_not(None)),
}


def _put(tx: StoreTransaction, *, table: sa.Table, batch: Sequence[dict[str, Any]]) -> int:
    """Put rows of one table; gives how many were not there."""
    rows = [{**row, "project_id": tx.project} for row in batch]
    new = tx.insert_new(table, *rows)
    if new < len(rows) and table.name in _NEWER:
        tx.upsert(table, *rows, if_newer=_NEWER[table.name])
    return new


def _put_agents(tx: StoreTransaction, agents: Sequence[dict[str, Any]], ahead: set[str]) -> None:
    """Put agents; one that is there goes on where the source stands, if that is further."""
    rows = [{**row, "project_id": tx.project} for row in agents]
    tx.insert_new(AGENT, *rows)
    tx.upsert(AGENT, *(row for row in rows if row["id"] in ahead))
    tx.upsert(
        AGENT, *(row for row in rows if row["id"] not in ahead), if_newer=lambda there, new: new.cycles > there.c.cycles
    )


def _refuse_parted(tx: StoreTransaction, batch: Sequence[dict[str, Any]]) -> None:
    """Refuse cycles that are others in the target: the agent went on in both places."""
    given = {(row["agent_id"], row["cycle"]): row["action"] for row in batch}
    low, high = min(cycle for _, cycle in given), max(cycle for _, cycle in given)
    columns = (CYCLE.c.agent_id, CYCLE.c.cycle, CYCLE.c.action)
    among = CYCLE.c.agent_id.in_({agent for agent, _ in given})
    for row in tx.all(sa.select(*columns).where(tx.of(CYCLE), among, CYCLE.c.cycle.between(low, high))):
        if given.get((row.agent_id, row.cycle), row.action) != row.action:
            raise InConflict(
                f"cycle {row.cycle} is another one there: an agent went on in both places",
                hint="Copy into an empty store, and decide which of them goes on.",
            )


def _refuse_older(tx: StoreTransaction, batch: Sequence[dict[str, Any]]) -> None:
    """Refuse to overwrite an agent that went on in the target."""
    for row in batch:
        there = tx.one(sa.select(AGENT.c.id, AGENT.c.cycles).where(tx.of(AGENT), AGENT.c.name == row["name"]))
        if there is None:
            continue
        if there.id != row["id"]:
            raise InConflict(
                f"another agent is called {row['name']} there", hint="Rename one of them, or copy into an empty store."
            )
        if there.cycles > row["cycles"]:
            raise InConflict(
                f"{row['name']} has {there.cycles} cycles there and {row['cycles']} here: it was used since",
                hint="Copy in the other direction.",
            )


def _as_json(value: Any) -> Any:
    return (
        {"base64": base64.b64encode(value).decode()}
        if isinstance(value, bytes | memoryview)
        else {"json": value}
        if isinstance(value, dict | list)
        else value
    )


def _from_json(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return base64.b64decode(value["base64"], validate=True) if "base64" in value else value["json"]
