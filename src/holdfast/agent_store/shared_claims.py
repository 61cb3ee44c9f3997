"""Live claims on tasks that all clones of a project see, and how a lost or new server is filled from a clone.

Within a clone its own claim files decide (`work.task_claims`); between clones the server does, so a clone is one
holder here. A claim ends by itself, by the server's clock. Refilling adds what the server does not have, by key, and
never goes back: an agent that is further there, or another one of the same name, is left alone and named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import groupby
from typing import Any

import sqlalchemy as sa

from holdfast.agent_store import store_transfer
from holdfast.agent_store.agent_cycles import MICROS
from holdfast.agent_store.database import AgentDatabase, StoreTransaction
from holdfast.agent_store.tables import AGENT, CYCLE, EVERY, EVIDENCE, FILE, RECORD, RESULT, TASK, WORKSPACE
from holdfast.errors import Claimed
from holdfast.values import frozen

_TABLES = {table.name: table for table in EVERY}
_OWNED = {EVIDENCE.name: ("record_id", RECORD), FILE.name: ("workspace_id", WORKSPACE)}  # whose agent is named there


@frozen(kw_only=True)
class SharedClaim:
    """A clone's word that somebody works on a task there, until a moment of the server's clock."""

    task: str
    title: str
    owner: str
    where: str  # the machine, and the folder on it
    branch: str | None = None
    seconds: float = 0  # how long it lasts from now on


class SharedClaims:
    """The live claims of a project on a server, for one clone."""

    def __init__(self, database: AgentDatabase, clone: str) -> None:
        self._database, self._clone = database, clone

    def elsewhere(self) -> frozenset[str]:
        """The tasks that other clones have claimed."""
        return self._database.run(partial(_elsewhere, clone=self._clone), read=True)

    def take(self, claim: SharedClaim) -> bool:
        """Claim a task, or renew this clone's claim; gives whether it is new. Claimed if another clone has it."""
        return self._database.run(partial(_take, clone=self._clone, claim=claim))

    def release(self, task: str, *, anyones: bool = False) -> SharedClaim | None:
        """Give a task free if this clone holds it, with `anyones` whoever does; gives the claim that ended."""
        return self._database.run(partial(_release, clone=self._clone, task=task, anyones=anyones))

    def close(self) -> None:
        """Let go of the connection."""
        self._database.close()


def _live(tx: StoreTransaction, task: str) -> Any:
    """The row of a live claim, locked until the end of the transaction."""
    return tx.one(sa.select(TASK).where(tx.of(TASK), TASK.c.id == task, TASK.c.held_until > tx.now).with_for_update())


def _elsewhere(tx: StoreTransaction, *, clone: str) -> frozenset[str]:
    return frozenset(
        row.id
        for row in tx.all(sa.select(TASK.c.id).where(tx.of(TASK), TASK.c.held_until > tx.now, TASK.c.holder != clone))
    )


def _take(tx: StoreTransaction, *, clone: str, claim: SharedClaim) -> bool:
    body = {"owner": claim.owner, "where": claim.where, "branch": claim.branch}
    # The row first: of two clones that claim a new task, the second waits here for the first, and then sees it.
    tx.insert_new(TASK, {"id": claim.task, "title": claim.title, "state": "free", "body": body})
    there = _locked(tx, claim.task)
    is_live = there.holder is not None and (there.held_until or 0) > tx.now
    if is_live and there.holder != clone:
        until = datetime.fromtimestamp(there.held_until / MICROS, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        on = f" on {there.body['branch']}" if there.body.get("branch") else ""
        raise Claimed(
            f"{claim.task} is claimed by {there.body.get('owner')}{on} at {there.body.get('where')} until {until}"
        )
    held = tx.now + int(claim.seconds * MICROS)
    changed = {"title": claim.title, "state": "claimed", "holder": clone, "held_until": held, "body": body}
    tx.update(TASK, TASK.c.id == claim.task, **changed)
    return not is_live


def _locked(tx: StoreTransaction, task: str) -> Any:
    return tx.one(sa.select(TASK).where(tx.of(TASK), TASK.c.id == task).with_for_update())


def _release(tx: StoreTransaction, *, clone: str, task: str, anyones: bool) -> SharedClaim | None:
    there = _live(tx, task)
    if there is None or (there.holder != clone and not anyones):
        return None
    tx.update(TASK, TASK.c.id == task, state="free", holder=None, held_until=None)
    told = {name: there.body.get(name) for name in ("owner", "where", "branch")}
    return SharedClaim(task=task, title=there.title, **told)


# ── filling a server ─────────────────────────────────────────────────────────────────────────────


@frozen
class StorePushed:
    """What a server got from a clone."""

    rows: int  # that it did not have
    agents: int  # of these
    claims: int  # live ones of this clone that it did not have
    looked: int  # rows that were compared
    left: tuple[str, ...] = ()  # why agents were left alone, a sentence each
    taken: tuple[str, ...] = ()  # claims of this clone that another clone has there, a sentence each


def push(
    source: AgentDatabase | None, target: AgentDatabase, *, clone: str, claims: Sequence[SharedClaim] = ()
) -> StorePushed:
    """Give a server what this clone has and it has not: agents with all of theirs, and live claims."""
    new, looked, agents = 0, 0, 0
    standing = _standing(source, target) if source is not None else {}
    leave = {agent: why for agent, (why, _) in standing.items() if why}
    ahead = {agent for agent, (_, is_ahead) in standing.items() if is_ahead}
    for name, batch in _batches(source, leave=set(leave)) if source is not None else ():
        count = target.run(partial(_add, name=name, batch=batch, ahead=ahead))
        new, looked = new + count, looked + len(batch)
        agents += count if name == AGENT.name else 0
    held, taken = 0, []
    for claim in claims:
        try:
            held += SharedClaims(target, clone).take(claim)
        except Claimed as error:
            taken.append(str(error))
    return StorePushed(new, agents, held, looked, tuple(leave.values()), tuple(taken))


def _standing(source: AgentDatabase, target: AgentDatabase) -> dict[str, tuple[str, bool]]:
    """Of each agent here: why it is left alone (empty: it is not), and whether it is further here than there."""
    ours, theirs = source.run(_progress, read=True), target.run(_progress, read=True)
    names = {one.name: agent for agent, one in theirs.items()}
    last = {agent: one.cycles - 1 for agent, one in theirs.items() if agent in ours}
    here, there = (store.run(partial(_actions, at=last), read=True) for store in (source, target))
    found = {}
    for agent, one in ours.items():
        other, why = theirs.get(agent), ""
        if names.get(one.name, agent) != agent:
            why = f"another agent is called {one.name} there"
        elif other is not None and (other.cycles, other.results) > (one.cycles, one.results):
            why = f"{one.name} is further there than here"
        elif agent in there and here.get(agent) != there[agent]:
            why = f"{one.name} went on here and there, each in its own way"
        found[agent] = (why, other is not None and (one.cycles, one.results) > (other.cycles, other.results))
    return found


@frozen
class _AgentProgress:
    name: str
    cycles: int
    results: int


def _progress(tx: StoreTransaction) -> dict[str, _AgentProgress]:
    """How far each agent is: its cycles, and those of them that have a result."""
    counted = sa.select(RESULT.c.agent_id, sa.func.count()).where(tx.of(RESULT)).group_by(RESULT.c.agent_id)
    ended = {row[0]: row[1] for row in tx.all(counted)}
    rows = tx.all(sa.select(AGENT.c.id, AGENT.c.name, AGENT.c.cycles).where(tx.of(AGENT)))
    return {row.id: _AgentProgress(row.name, row.cycles, ended.get(row.id, 0)) for row in rows}


def _actions(tx: StoreTransaction, *, at: Mapping[str, int]) -> dict[str, str]:
    """The action of one cycle of each of these agents."""
    found = {}
    for agent, cycle in at.items():
        asked = sa.select(CYCLE.c.action).where(tx.of(CYCLE), CYCLE.c.agent_id == agent, CYCLE.c.cycle == cycle)
        if (row := tx.one(asked)) is not None:
            found[agent] = row.action
    return found


def _batches(source: AgentDatabase, *, leave: set[str]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Every row of a clone but those of agents that are left alone, in batches that are each durable."""
    apart = {
        name: source.run(partial(_of_agents, table=table, agents=leave), read=True)
        for name, (_, table) in _OWNED.items()
    }
    wanted = (row for row in store_transfer.rows(source) if _goes(*row, leave=leave, apart=apart))
    for name, some in groupby(wanted, key=lambda row: row[0]):
        for batch, _ in store_transfer.batches(row for _, row in some):
            yield name, batch


def _of_agents(tx: StoreTransaction, *, table: sa.Table, agents: set[str]) -> set[str]:
    """The ids of the rows that belong to some agents."""
    return {row.id for row in tx.all(sa.select(table.c.id).where(tx.of(table), table.c.agent_id.in_(agents)))}


def _goes(name: str, row: Mapping[str, Any], *, leave: set[str], apart: Mapping[str, set[str]]) -> bool:
    if name == TASK.name:
        return False  # claims are taken, not copied
    if name in apart:
        return row[_OWNED[name][0]] not in apart[name]
    return row["id" if name == AGENT.name else "agent_id"] not in leave if _has_agent(name) else True


def _has_agent(name: str) -> bool:
    return name == AGENT.name or "agent_id" in _TABLES[name].c


def _add(tx: StoreTransaction, *, name: str, batch: Sequence[dict[str, Any]], ahead: set[str]) -> int:
    """Add the rows that are not there, and bring cycles to where they are here; gives how many rows were new.

    Nothing else is replaced: a queue or a memory that was used on the server since must not go back.
    """
    own = [{**row, "project_id": tx.project} for row in batch]
    new = tx.insert_new(_TABLES[name], *own)
    if name == AGENT.name:
        tx.upsert(AGENT, *(row for row in own if row["id"] in ahead))
    elif name in (CYCLE.name, RESULT.name):
        tx.upsert(_TABLES[name], *own)
    return new
