"""Agents and their cycles in the store: one agent, one holder, one cycle at a time.

A proposal is durable before its action may happen, a result is durable before it counts. A process that dies between
the two leaves an open cycle, which `resume` hands to the next one. Whoever writes must hold the agent: a process that
lost it, because it was stopped for longer than its lease, is refused and cannot overwrite what another one did since.
Every operation may run twice (see `agent_store.database`): it knows its own action again.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import sqlalchemy as sa

from holdfast.agent_store.database import LOCKED, QuickStatement, StoreTransaction
from holdfast.agent_store.tables import AGENT, CYCLE, PROPOSAL, RESULT, to_json
from holdfast.errors import BadInput, Claimed, LockedText, NotFound
from holdfast.model.agent_entities import ActionProposal, ActionResult, AgentCycle, AgentIdentity
from holdfast.values import asdict, field_names, replace

LEASE = 600  # seconds that an agent is held after each write: a longer step needs `heartbeat`
MICROS = 1_000_000  # in a second, as timestamps count
_COLUMNS = [AGENT.c[name] for name in field_names(AgentIdentity) if name in AGENT.c]
_SEALED = {"directives": "directives", "config": "directives", "state": "cycles"}  # columns of an agent, by scope
_CYCLES = sa.select(CYCLE, PROPOSAL.c.body.label("proposed"), RESULT.c.body.label("came"), AGENT.c.name).select_from(
    CYCLE.join(AGENT, sa.and_(CYCLE.c.project_id == AGENT.c.project_id, CYCLE.c.agent_id == AGENT.c.id))
    .join(PROPOSAL, sa.and_(*(CYCLE.c[name] == PROPOSAL.c[name] for name in ("project_id", "agent_id", "cycle"))))
    .outerjoin(RESULT, sa.and_(*(CYCLE.c[name] == RESULT.c[name] for name in ("project_id", "agent_id", "cycle"))))
)


# What every cycle does. The agent's row is locked first, so that two processes never begin the same cycle.
_AGENT = sa.and_(AGENT.c.project_id == sa.bindparam("project"), AGENT.c.id == sa.bindparam("agent"))
_THIS = sa.and_(
    CYCLE.c.project_id == sa.bindparam("project"),
    CYCLE.c.agent_id == sa.bindparam("agent"),
    CYCLE.c.cycle == sa.bindparam("cycle"),
)


class _Standing(NamedTuple):
    """Where an agent stands, and one of its cycles, if there is one."""

    cycles: int
    run_id: str | None
    holder: str | None
    held_until: int | None
    action: str | None
    ended: int | None
    result: str | None  # as JSON


def _standing_at(cycle: Any) -> QuickStatement:
    """Where an agent stands, and one of its cycles with its result."""
    joined = AGENT
    for table in (CYCLE, RESULT):
        on = (table.c.project_id == AGENT.c.project_id, table.c.agent_id == AGENT.c.id, table.c.cycle == cycle)
        joined = joined.outerjoin(table, sa.and_(*on))  # type: ignore[assignment]
    columns = (AGENT.c.cycles, AGENT.c.run_id, AGENT.c.holder, AGENT.c.held_until, CYCLE.c.action, CYCLE.c.ended)
    asked = sa.select(*columns, RESULT.c.body).select_from(joined)
    return QuickStatement(asked.where(_AGENT).with_for_update(of=AGENT))


def _adds(table: sa.Table, **columns: str) -> QuickStatement:
    named = {"project_id": "project", "agent_id": "agent", "cycle": "cycle", **columns}
    return QuickStatement(sa.insert(table).values({name: sa.bindparam(bound) for name, bound in named.items()}))


_NEWEST, _CYCLE_AT = _standing_at(AGENT.c.cycles - 1), _standing_at(sa.bindparam("cycle"))
_NEW_CYCLE = _adds(CYCLE, action="action", run_id="run", started="now")
_NEW_PROPOSAL, _NEW_RESULT = _adds(PROPOSAL, body="body"), _adds(RESULT, body="body")
_ENDED = QuickStatement(sa.update(CYCLE).where(_THIS).values(ended=sa.bindparam("now")))
_HELD: dict[str, Any] = {"holder": sa.bindparam("holder"), "held_until": sa.bindparam("until")}
_BEGUN = QuickStatement(
    sa.update(AGENT).where(_AGENT).values(**_HELD, cycles=sa.bindparam("cycles"), run_id=sa.bindparam("run"))
)
_STATE = sa.func.coalesce(sa.bindparam("state", type_=AGENT.c.state.type), AGENT.c.state)
_WENT_ON = QuickStatement(sa.update(AGENT).where(_AGENT).values(**_HELD, state=_STATE))


def this_process() -> str:
    """A name of this process that no other has, on any machine: where it runs, its number, when it began."""
    return _process(os.getpid())  # asked each time: a forked child is another one


@cache
def _process(number: int) -> str:
    return f"{_machine()}:{number}:{_began(number)}"


def get_agent(
    tx: StoreTransaction, name: str, *, new_id: str, directives: Sequence[str] | None, config: Mapping[str, Any] | None
) -> AgentIdentity:
    """The agent of that name, made if it is new; what is given replaces its directives and config."""
    given = {"directives": None if directives is None else list(directives), "config": config}
    changed = {key: value for key, value in given.items() if value is not None}
    start: dict[str, Any] = {"directives": [], "config": {}}
    new = {"id": new_id, "name": name, "cycles": 0, "created": tx.now}
    tx.insert_new(AGENT, {**new, **_sealed(tx, new_id, {**start, **changed})})
    found = find_agent(tx, name)
    if not changed:
        return found
    if found.locked:
        raise LockedText(f"what {name} was given is sealed, and its key is not here, so it is not replaced")
    tx.update(AGENT, AGENT.c.id == found.id, **_sealed(tx, found.id, changed))
    return find_agent(tx, name)


def _sealed(tx: StoreTransaction, agent_id: str, columns: Mapping[str, Any]) -> dict[str, Any]:
    """Columns of an agent as they are kept."""
    return {name: tx.sealed(_SEALED[name], value, "agent", name, agent_id) for name, value in columns.items()}


def find_agent(tx: StoreTransaction, name: str, *, lock: bool = False) -> AgentIdentity:
    """The agent of that name; NotFound if there is none. `lock` keeps others from it until the transaction ends."""
    asked = sa.select(*_COLUMNS).where(tx.of(AGENT), AGENT.c.name == name)
    row = tx.one(asked.with_for_update() if lock else asked)
    if row is None:
        raise NotFound(f"there is no agent {name}", hint="List them with `holdfast agent list`.")
    return _identity(tx, row)


def every_agent(tx: StoreTransaction) -> list[AgentIdentity]:
    """All agents of this project, by name."""
    return [_identity(tx, row) for row in tx.all(sa.select(*_COLUMNS).where(tx.of(AGENT)).order_by(AGENT.c.name))]


def take(tx: StoreTransaction, agent: AgentIdentity, holder: str, *, holding: bool = False) -> AgentIdentity:
    """Hold an agent; Claimed if another process that lives, or may live, works as it.

    `holding` says that this process held it before: then it is refused if another one took it since.
    """
    now = find_agent(tx, agent.name, lock=True)
    _refuse_held(tx, agent.name, now, holder)
    _refuse_lost(agent.name, now, holder, holding=holding)
    tx.update(AGENT, AGENT.c.id == now.id, holder=holder, held_until=tx.now + LEASE * MICROS)
    return now


def _refuse_held(tx: StoreTransaction, name: str, now: Any, holder: str) -> None:
    if now.holder not in (None, holder) and (now.held_until or 0) > tx.now and not is_dead(str(now.holder)):
        left = ((now.held_until or 0) - tx.now) // MICROS
        raise Claimed(
            f"{name} is at work in another process ({now.holder}), for {left} s more at least",
            hint="Stop that process, or wait until its lease ends.",
        )


def _refuse_lost(name: str, now: Any, holder: str, *, holding: bool) -> None:
    """Refuse a process that overslept its lease: another one did what it was about to do."""
    if holding and now.holder != holder:
        raise Claimed(
            f"another process worked as {name} since this one last did",
            hint="Call `agent.resume()` again: it says where the agent stands now.",
        )


def let_go(tx: StoreTransaction, agent: AgentIdentity, holder: str) -> None:
    """Stop holding an agent."""
    tx.update(AGENT, AGENT.c.id == agent.id, AGENT.c.holder == holder, holder=None, held_until=None)


def begin(
    tx: StoreTransaction,
    agent: AgentIdentity,
    proposal: ActionProposal,
    *,
    holder: str,
    action: str,
    run_id: str,
    holding: bool = False,
) -> AgentCycle:
    """Keep a proposal as the agent's next cycle. `action` is its name, `run_id` the run it begins if none is open."""
    now = _at(tx, tx.quick(_NEWEST, agent=agent.id).fetchone(), agent, holder)
    _refuse_lost(agent.name, now, holder, holding=holding)
    if now.action == action and (last := last_cycle(tx, agent)) is not None:
        return last
    if now.action is not None and now.result is None:
        raise BadInput(
            f"cycle {now.cycles - 1} of {agent.name} has a proposal and no result",
            hint="Call `agent.resume()` first: its action may have happened.",
        )
    run, cycle = now.run_id or run_id, now.cycles
    key = {"agent": agent.id, "cycle": cycle}
    tx.quick(_NEW_CYCLE, **key, action=action, run=run, now=tx.now)
    body = tx.sealed("cycles", asdict(proposal), "action_proposal", agent.id, cycle)
    tx.quick(_NEW_PROPOSAL, **key, body=body)
    tx.quick(_BEGUN, agent=agent.id, holder=holder, until=tx.now + LEASE * MICROS, cycles=cycle + 1, run=run)
    return AgentCycle(agent=agent.name, index=cycle, action=action, run_id=run, started=tx.now, proposal=proposal)


def finish(
    tx: StoreTransaction,
    agent: AgentIdentity,
    cycle: AgentCycle,
    result: ActionResult,
    *,
    holder: str,
    state: Any = None,
) -> AgentCycle:
    """Keep what came of a cycle, and what the agent goes on with; `state` None leaves that as it is."""
    key = {"agent": agent.id, "cycle": cycle.index}
    there, body = _at(tx, tx.quick(_CYCLE_AT, **key).fetchone(), agent, holder), to_json(asdict(result))
    _refuse_lost(agent.name, there, holder, holding=True)
    if there.action != cycle.action:
        raise BadInput(f"cycle {cycle.index} of {agent.name} is not the one that was begun here")
    if there.result is not None:
        known = tx.opened(json.loads(there.result), "action_result", agent.id, cycle.index)
        if known is LOCKED or to_json(known) != body:
            raise BadInput(f"cycle {cycle.index} of {agent.name} has a result already")
        return replace(cycle, ended=there.ended, result=_result(known))
    sealed = tx.sealed("cycles", asdict(result), "action_result", agent.id, cycle.index)
    tx.quick(_NEW_RESULT, **key, body=sealed)
    tx.quick(_ENDED, **key, now=tx.now)
    kept = None if state is None else _sealed(tx, agent.id, {"state": state})["state"]
    tx.quick(_WENT_ON, agent=agent.id, holder=holder, until=tx.now + LEASE * MICROS, state=kept)
    return replace(cycle, ended=tx.now, result=_result(json.loads(body)))


def _at(tx: StoreTransaction, row: Any, agent: AgentIdentity, holder: str) -> _Standing:
    """Where an agent stands, if this process may work as it."""
    if row is None:
        raise NotFound(f"there is no agent {agent.name}", hint="List them with `holdfast agent list`.")
    standing = _Standing(*row)
    _refuse_held(tx, agent.name, standing, holder)
    return standing


def end_run(tx: StoreTransaction, agent: AgentIdentity, run_id: str) -> None:
    """Say that a run is over: the next cycle begins another one."""
    tx.update(AGENT, AGENT.c.id == agent.id, AGENT.c.run_id == run_id, run_id=None)


def last_cycle(tx: StoreTransaction, agent: AgentIdentity) -> AgentCycle | None:
    """The newest cycle of an agent."""
    return next(iter(cycles(tx, agent, newest=1)), None)


def cycles(
    tx: StoreTransaction,
    agent: AgentIdentity,
    *,
    first: int = 0,
    last: int | None = None,
    newest: int | None = None,
    run_id: str | None = None,
) -> list[AgentCycle]:
    """Cycles of an agent in their order; `newest`: at most so many, the last ones."""
    where = [tx.of(CYCLE), CYCLE.c.agent_id == agent.id, CYCLE.c.cycle >= first]
    where += [CYCLE.c.cycle <= last] if last is not None else []
    where += [CYCLE.c.run_id == run_id] if run_id is not None else []
    rows = tx.all(_CYCLES.where(*where).order_by(CYCLE.c.cycle.desc()).limit(newest))
    return [_cycle(tx, row) for row in reversed(rows)]


def _identity(tx: StoreTransaction, row: Any) -> AgentIdentity:
    told = dict(row._mapping)
    kept = {name: tx.opened(told[name], "agent", name, told["id"]) for name in _SEALED}
    closed: dict[str, Any] = {
        name: empty for name, empty in (("directives", ()), ("config", {}), ("state", None)) if kept[name] is LOCKED
    }
    told |= {**kept, **closed}
    return AgentIdentity(**{**told, "directives": tuple(told["directives"]), "locked": bool(closed)})


def _cycle(tx: StoreTransaction, row: Any) -> AgentCycle:
    proposed = tx.opened(row.proposed, "action_proposal", row.agent_id, row.cycle)
    came = tx.opened(row.came, "action_result", row.agent_id, row.cycle)
    locked = proposed is LOCKED or came is LOCKED
    proposed = asdict(ActionProposal()) if proposed is LOCKED else proposed
    came = asdict(ActionResult()) if came is LOCKED else came
    return AgentCycle(
        agent=row.name,
        index=row.cycle,
        action=row.action,
        run_id=row.run_id,
        started=row.started,
        ended=row.ended,
        proposal=ActionProposal(**{**proposed, "plan": tuple(proposed["plan"])}),
        result=None if came is None else _result(came),
        locked=locked,
    )


def _result(body: dict[str, Any]) -> ActionResult:
    return ActionResult(**{**body, "artifacts": tuple(body["artifacts"])})


def is_dead(holder: str) -> bool:
    """Whether a process is known to have ended; of another machine nobody can tell."""
    machine, _, rest = holder.partition(":")
    number, _, began = rest.partition(":")
    return machine == _machine() and number.isdigit() and _began(int(number)) != began


@cache
def _machine() -> str:
    """This machine since it was started, and the part of it whose process numbers we see."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return f"{file.read(8)}-{os.stat('/proc/self/ns/pid').st_ino:x}"
    except OSError:
        return socket.gethostname().replace(":", "-")


def _began(number: int) -> str:
    """When a process began, in the kernel's ticks; empty if there is none of this number."""
    try:
        with open(f"/proc/{number}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
            return "" if fields[0] in "ZX" else fields[19]
    except OSError:
        pass
    if os.path.isdir("/proc/self"):
        return ""
    try:  # no /proc here: whether it runs is all that can be known
        os.kill(number, 0)
    except ProcessLookupError:
        return ""
    except PermissionError:
        pass
    return "0"
