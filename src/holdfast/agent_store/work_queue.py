"""A queue of actions for one agent, shared by all processes that work as its helpers, on any machine.

An item is waiting, claimed, done or failed. A claim is a lease: a holder that is gone gives the item back when the
lease ends, and an item that used up its attempts is kept as failed, with its reason. Whoever finishes an item shows
the token of its claim, so a holder that was away for too long cannot finish what another one has since. The token is
made before the database is asked: a claim that is asked twice, because nobody knows whether the first was kept, finds
its own items again. Only the database's clock counts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import sqlalchemy as sa

from holdfast.agent_store.agent_cycles import MICROS, this_process
from holdfast.agent_store.database import AgentDatabase, StoreTransaction
from holdfast.agent_store.tables import QUEUE, to_json
from holdfast.errors import BadInput, Claimed, NotFound
from holdfast.model.agent_entities import QUEUE_STATES, WorkItem
from holdfast.model.ids import token
from holdfast.values import field_names

LEASE = 60.0  # seconds: long enough for a call of a model, short enough to wait for after a crash
ATTEMPTS = 3  # an action that failed three times fails again
LONGEST = 30 * 86_400.0  # seconds of a lease or a delay: as long as a claim on a task may last
MOST = 1000  # items of one claim: they are locked together
FIRST_WAIT, LONGEST_WAIT = 2.0, 600.0  # seconds before an item is tried again: doubled each time, up to ten minutes
_COLUMNS = [QUEUE.c[name] for name in field_names(WorkItem)]
_GONE = "its holder did not come back"


class WorkQueue:
    """The queue of one agent."""

    def __init__(self, database: AgentDatabase, agent_id: str, *, clean: Callable[[Any], Any] = lambda value: value):
        self._database, self._agent, self._clean = database, agent_id, clean
        self._holder = this_process()

    def put(self, action: Any, *, key: str | None = None, delay: float = 0, most_attempts: int = ATTEMPTS) -> WorkItem:
        """Add an action (any JSON), durable on return; with a `key` that was used before, give that item instead."""
        if not _is_whole(most_attempts, 1000):
            raise BadInput("an item has between 1 and 1,000 attempts")
        if key is not None and not isinstance(key, str):
            raise BadInput("the key of an item is a text", hint='Write key="…".')
        to_json(action)
        item = _id(self._agent, key) if key is not None else token(16)
        made = partial(_put, agent=self._agent, item=item, action=self._clean(action), wait=_micros(delay))
        return self._database.run(partial(made, most=most_attempts))

    def claim(self, lease: float = LEASE, count: int = 1) -> Sequence[WorkItem]:
        """Take up to so many items that are ready, oldest first; none if there is nothing to do.

        They are this holder's for `lease` seconds, and for as long again after each `heartbeat`.
        """
        if not _is_whole(count, MOST):
            raise BadInput(f"a claim takes between 1 and {MOST:,} items")
        taken = partial(_claim, agent=self._agent, holder=self._holder, mark=token(16))
        return self._database.run(partial(taken, lease=_lease(lease), count=count))

    def heartbeat(self, item: WorkItem, lease: float = LEASE) -> WorkItem:
        """Hold an item for longer; Claimed if it was given to another holder meanwhile."""
        return self._database.run(partial(_renew, item=_an_item(item), lease=_lease(lease)))

    def done(self, item: WorkItem, outcome: Any = None) -> WorkItem:
        """Say that an item is done, and what came of it; Claimed if it was given to another holder meanwhile."""
        to_json(outcome)
        return self._database.run(partial(_end, item=_an_item(item), outcome=self._clean(outcome)))

    def fail(self, item: WorkItem, why: str, *, retry_in: float | None = None) -> WorkItem:
        """Give an item back to be tried again, in so many seconds; without attempts left it is kept as failed."""
        to_json(why)
        wait = min(FIRST_WAIT * 2 ** (_an_item(item).attempts - 1), LONGEST_WAIT) if retry_in is None else retry_in
        return self._database.run(partial(_fail, item=_an_item(item), why=str(self._clean(why)), wait=_micros(wait)))

    def revive(self, item: WorkItem) -> WorkItem:
        """Let a failed item be tried again, with all its attempts."""
        return self._database.run(partial(_revive, item=_an_item(item)))

    def items(self, state: str | None = None, *, limit: int = 100) -> Sequence[WorkItem]:
        """Items, oldest first; of one state, if it is given."""
        if state is not None and state not in QUEUE_STATES:
            raise BadInput(f"{str(state)[:40]!r} is not a state of an item", hint=f"Use {', '.join(QUEUE_STATES)}.")
        if not _is_whole(limit, 1 << 31):
            raise BadInput("a list has a limit of 1 item or more")
        return self._database.run(partial(_items, agent=self._agent, state=state, limit=limit), read=True)

    def counts(self) -> dict[str, int]:
        """How many items are in each state."""
        return self._database.run(partial(_counts, agent=self._agent), read=True)


def _is_whole(number: object, most: int) -> bool:
    """Whether somebody gave a whole number from 1 on; annotations keep nobody from giving something else."""
    return type(number) is int and 1 <= number <= most


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _an_item(item: Any) -> WorkItem:
    if not isinstance(item, WorkItem):
        raise BadInput("this wants an item of the queue, as `claim` gives it", hint="Claim one: `queue.claim()`.")
    return item


def _id(agent: str, key: str) -> str:
    """An item's id by its key: two machines that put the same make one item."""
    return hashlib.sha256(f"{agent}\n{key}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _micros(seconds: float) -> int:
    if not _is_number(seconds) or not 0 <= seconds <= LONGEST:
        raise BadInput(f"{str(seconds)[:40]!r} is not a number of seconds up to 30 days")
    return int(seconds * MICROS)


def _lease(seconds: float) -> int:
    if _is_number(seconds) and seconds <= 0:
        raise BadInput("a lease lasts some time", hint="Give its seconds, such as 60.")
    return _micros(seconds)


def _put(tx: StoreTransaction, *, agent: str, item: str, action: Any, wait: int, most: int) -> WorkItem:
    start = {"state": "waiting", "attempts": 0, "created": tx.now, "ready": tx.now + wait}
    tx.insert_new(QUEUE, {"id": item, "agent_id": agent, "action": action, "most_attempts": most, **start})
    return _find(tx, item)


def _claim(tx: StoreTransaction, *, agent: str, holder: str, mark: str, lease: int, count: int) -> Sequence[WorkItem]:
    mine = sa.select(*_COLUMNS).where(tx.of(QUEUE), QUEUE.c.agent_id == agent, QUEUE.c.token == mark)
    if tx.is_repeat and (there := tx.all(mine)):  # the first try was kept, and only its answer was lost
        return [_item(row) for row in there]
    late = _ready(tx, agent, "claimed", count)
    dead = [row for row in late if row.attempts >= row.most_attempts]
    for row in dead:
        tx.update(QUEUE, QUEUE.c.id == row.id, state="failed", outcome={"error": _GONE}, held_until=None)
    rows = [row for row in late if row.attempts < row.most_attempts]
    if len(rows) < count:
        rows += _ready(tx, agent, "waiting", count - len(rows))
    if not rows:
        return []
    until = tx.now + lease
    given = {"state": "claimed", "holder": holder, "token": mark, "held_until": until}
    # `ready` of a claimed item is when it may be claimed again: one index serves both questions.
    tx.update(QUEUE, QUEUE.c.id.in_([row.id for row in rows]), attempts=QUEUE.c.attempts + 1, ready=until, **given)
    return [_item(row, **given, attempts=row.attempts + 1, ready=until) for row in rows]


def _ready(tx: StoreTransaction, agent: str, state: str, count: int) -> list[Any]:
    """Items of a state whose moment has come, locked; those that another process is taking are passed over."""
    where = (tx.of(QUEUE), QUEUE.c.agent_id == agent, QUEUE.c.state == state, QUEUE.c.ready <= tx.now)
    asked = sa.select(*_COLUMNS).where(*where).order_by(QUEUE.c.ready).limit(count)
    return list(tx.all(asked.with_for_update(skip_locked=True)))


def _held(item: WorkItem) -> tuple[Any, ...]:
    return QUEUE.c.id == item.id, QUEUE.c.token == item.token, QUEUE.c.state == "claimed"


def _renew(tx: StoreTransaction, *, item: WorkItem, lease: int) -> WorkItem:
    if not tx.update(QUEUE, *_held(item), held_until=tx.now + lease, ready=tx.now + lease):
        raise _lost(_find(tx, item.id))
    return _find(tx, item.id)


def _end(tx: StoreTransaction, *, item: WorkItem, outcome: Any) -> WorkItem:
    if not tx.update(QUEUE, *_held(item), state="done", outcome=outcome, held_until=None):
        there = _find(tx, item.id)
        if (there.token, there.state) != (item.token, "done"):  # else it was kept, and only the answer was lost
            raise _lost(there)
    return _find(tx, item.id)


def _fail(tx: StoreTransaction, *, item: WorkItem, why: str, wait: int) -> WorkItem:
    left = item.attempts < item.most_attempts
    changed = {"state": "waiting", "ready": tx.now + wait} if left else {"state": "failed"}
    if not tx.update(QUEUE, *_held(item), outcome={"error": why}, held_until=None, **changed):
        there = _find(tx, item.id)
        if there.token != item.token or there.state not in ("waiting", "failed"):
            raise _lost(there)
    return _find(tx, item.id)


def _revive(tx: StoreTransaction, *, item: WorkItem) -> WorkItem:
    tx.update(QUEUE, QUEUE.c.id == item.id, QUEUE.c.state == "failed", state="waiting", attempts=0, ready=tx.now)
    return _find(tx, item.id)


def _lost(there: WorkItem) -> Claimed:
    return Claimed(
        f"item {there.id} is no longer held by this claim: it is {there.state}",
        hint="Its lease ended. Drop this work and claim another item; call `heartbeat` during long work.",
    )


def _items(tx: StoreTransaction, *, agent: str, state: str | None, limit: int) -> list[WorkItem]:
    where = [tx.of(QUEUE), QUEUE.c.agent_id == agent, *([QUEUE.c.state == state] if state else [])]
    rows = tx.all(sa.select(*_COLUMNS).where(*where).order_by(QUEUE.c.created, QUEUE.c.id).limit(limit))
    return [_item(row) for row in rows]


def _counts(tx: StoreTransaction, *, agent: str) -> dict[str, int]:
    asked = sa.select(QUEUE.c.state, sa.func.count()).where(tx.of(QUEUE), QUEUE.c.agent_id == agent)
    return {row[0]: row[1] for row in tx.all(asked.group_by(QUEUE.c.state))}


def _find(tx: StoreTransaction, item: str) -> WorkItem:
    row = tx.one(sa.select(*_COLUMNS).where(tx.of(QUEUE), QUEUE.c.id == item))
    if row is None:
        raise NotFound(f"there is no item {item[:80]} in this queue", hint="See `queue.items()`.")
    return _item(row)


def _item(row: Any, **changed: Any) -> WorkItem:
    return WorkItem(**{**row._mapping, **changed})
