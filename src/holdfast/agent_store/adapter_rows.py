"""What adapters keep for other people's agents: checkpoints of graphs, items by namespace, sessions as transcripts.

Rows only: what a checkpoint, an item or an entry means, and how its bytes are read, is known to the adapter alone
(`interfaces.adapters`). Every operation may run twice (see `agent_store.database`). Checkpoints and items are keyed by
their owner, so the second time changes nothing; an entry of a session carries the name of the action that wrote it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from holdfast.agent_store.database import StoreTransaction
from holdfast.agent_store.tables import CHANNEL, CHECKPOINT, ITEM, TRANSCRIPT, WRITE, to_json

EMPTY = "empty"  # the kind of a channel that had no value at its version
PAGE = 200  # rows of one page: enough to make a query worth its way, few enough to hold with their blobs
MOST_KEYS = 500  # pairs in one IN: SQLite takes 32,766 values in a statement
POPPED = "popped"
KEPT_POPPED = 120_000_000  # microseconds that a popped entry is kept: longer than an operation is tried again

CheckpointKey = tuple[str, str, str]  # thread, namespace, id


# ── checkpoints ──────────────────────────────────────────────────────────────────────────────────


def put_checkpoint(tx: StoreTransaction, row: dict[str, Any], channels: Sequence[dict[str, Any]]) -> None:
    """Keep a checkpoint and the channels that are new in it."""
    tx.upsert(CHANNEL, *channels)
    tx.upsert(CHECKPOINT, row)


def put_writes(tx: StoreTransaction, rows: Sequence[dict[str, Any]]) -> None:
    """Keep what tasks wrote beside a checkpoint; of a place below nought, which says how a task ended, the last."""
    tx.insert_new(WRITE, *(row for row in rows if row["position"] >= 0))
    tx.upsert(WRITE, *(row for row in rows if row["position"] < 0))


def checkpoints(
    tx: StoreTransaction,
    *,
    thread: str | None = None,
    namespace: str | None = None,
    identity: str | None = None,
    before: str | None = None,
    after: CheckpointKey | None = None,
    limit: int | None = None,
) -> Sequence[Any]:
    """Checkpoints, the newest first; `after`: those that follow this one in that order."""
    given = {"thread": thread, "namespace": namespace, "id": identity}
    where = [CHECKPOINT.c[name] == value for name, value in given.items() if value is not None]
    where += [CHECKPOINT.c.id < before] if before is not None else []
    order = (CHECKPOINT.c.id, CHECKPOINT.c.thread, CHECKPOINT.c.namespace)
    where += [sa.tuple_(*order) < sa.tuple_(after[2], after[0], after[1])] if after is not None else []
    asked = sa.select(CHECKPOINT).where(tx.of(CHECKPOINT), *where)
    return tx.all(asked.order_by(*(column.desc() for column in order)).limit(limit))


def parents(tx: StoreTransaction, thread: str, namespace: str | None = None) -> list[Any]:
    """The checkpoints of a thread without what they hold: id, parent, metadata and versions."""
    names = ("thread", "namespace", "id", "parent", "run", "metadata", "versions")
    where = [CHECKPOINT.c.thread == thread, *([CHECKPOINT.c.namespace == namespace] if namespace is not None else [])]
    return list(tx.all(sa.select(*(CHECKPOINT.c[name] for name in names)).where(tx.of(CHECKPOINT), *where)))


def channels(
    tx: StoreTransaction, thread: str, namespace: str, wanted: Iterable[tuple[str, str]], *, kinds_only: bool = False
) -> dict[tuple[str, str], tuple[str, bytes]]:
    """The channels of some names and versions, without those that had no value."""
    found: dict[tuple[str, str], tuple[str, bytes]] = {}
    data = sa.literal(b"") if kinds_only else CHANNEL.c.data
    where = (tx.of(CHANNEL), CHANNEL.c.thread == thread, CHANNEL.c.namespace == namespace, CHANNEL.c.kind != EMPTY)
    for keys in _groups(dict.fromkeys(wanted)):
        asked = sa.select(CHANNEL.c.name, CHANNEL.c.version, CHANNEL.c.kind, data)
        for row in tx.all(asked.where(*where, sa.tuple_(CHANNEL.c.name, CHANNEL.c.version).in_(keys))):
            found[row[0], row[1]] = (row[2], bytes(row[3]))
    return found


def writes(
    tx: StoreTransaction, thread: str, namespace: str, ids: Sequence[str], *, names: Sequence[str] = ()
) -> dict[str, list[Any]]:
    """What was written beside some checkpoints, in the order in which a graph applies it; `names`: of channels."""
    found: dict[str, list[Any]] = {one: [] for one in ids}
    where = [tx.of(WRITE), WRITE.c.thread == thread, WRITE.c.namespace == namespace]
    where += [WRITE.c.channel.in_(names)] if names else []
    for keys in _groups(ids):
        for row in tx.all(sa.select(WRITE).where(*where, WRITE.c.checkpoint.in_(keys))):
            found[row.checkpoint].append(row)
    for rows in found.values():
        rows.sort(key=lambda row: (row.task_path, row.task, row.position))
    return found


def delete_thread(tx: StoreTransaction, thread: str) -> None:
    """Forget a thread: its checkpoints, channels and writes."""
    for table in (WRITE, CHANNEL, CHECKPOINT):
        tx.delete(table, table.c.thread == thread)


def delete_runs(tx: StoreTransaction, runs: Sequence[str]) -> None:
    """Forget the checkpoints of some runs, what was written beside them, and channels that no other one needs."""
    threads: set[str] = set()
    for keys in _groups(runs):
        asked = sa.select(CHECKPOINT.c.thread).where(tx.of(CHECKPOINT), CHECKPOINT.c.run.in_(keys))
        threads.update(row[0] for row in tx.all(asked))
    gone = set(runs)
    for thread in sorted(threads):
        _drop(tx, thread, lambda row: row.run not in gone)


def keep_latest(tx: StoreTransaction, thread: str) -> None:
    """Forget all checkpoints of a thread but the newest of each namespace, and those it is rebuilt from."""
    kept: set[tuple[str, str]] = set()
    rows = parents(tx, thread)
    for namespace in {row.namespace for row in rows}:
        known = {row.id: row for row in rows if row.namespace == namespace}
        kept |= {(namespace, one) for one in _needed_by(tx, known, known[max(known)])}
    _drop(tx, thread, lambda row: (row.namespace, row.id) in kept)


def copy_thread(tx: StoreTransaction, source: str, target: str) -> None:
    """Copy all of a thread; what the target has already stays as it is."""
    for table in (CHANNEL, WRITE, CHECKPOINT):
        rows = tx.all(sa.select(table).where(tx.of(table), table.c.thread == source))
        tx.insert_new(table, *({**row._mapping, "thread": target} for row in rows))


def _needed_by(tx: StoreTransaction, known: Mapping[str, Any], latest: Any) -> Iterator[str]:
    """A checkpoint and its ancestors up to where every channel that is kept as changes only has a whole value."""
    counted = latest.metadata.get("counters_since_delta_snapshot") or {}
    missing = {name for name in counted if name in latest.versions}
    row = latest
    while True:
        yield row.id
        keys = {name: to_json(row.versions[name]) for name in missing if name in row.versions}
        there = channels(tx, row.thread, row.namespace, keys.items(), kinds_only=True)
        missing -= {name for name, _ in there}
        if not missing or row.parent not in known:
            return
        row = known[row.parent]


def _drop(tx: StoreTransaction, thread: str, stays: Any) -> None:
    """Forget the checkpoints of a thread that do not stay, and the channels that only they had."""
    rows = parents(tx, thread)
    left, gone = [row for row in rows if stays(row)], [row for row in rows if not stays(row)]
    for namespace in {row.namespace for row in gone}:
        ids = [row.id for row in gone if row.namespace == namespace]
        used = _versions(row for row in left if row.namespace == namespace)
        unused = _versions(row for row in gone if row.namespace == namespace) - used
        for keys in _groups(ids):
            for table, column in ((WRITE, WRITE.c.checkpoint), (CHECKPOINT, CHECKPOINT.c.id)):
                tx.delete(table, table.c.thread == thread, table.c.namespace == namespace, column.in_(keys))
        where = (CHANNEL.c.thread == thread, CHANNEL.c.namespace == namespace)
        for pairs in _groups(unused):
            tx.delete(CHANNEL, *where, sa.tuple_(CHANNEL.c.name, CHANNEL.c.version).in_(pairs))


def _versions(rows: Iterable[Any]) -> set[tuple[str, str]]:
    return {(name, to_json(version)) for row in rows for name, version in row.versions.items()}


def _groups(values: Iterable[Any]) -> Iterator[list[Any]]:
    every = list(values)
    return (every[at : at + MOST_KEYS] for at in range(0, len(every), MOST_KEYS))


# ── items ────────────────────────────────────────────────────────────────────────────────────────


def item_name(owner: str, *path: str) -> str:
    """What a namespace is called in the store; each owner has its own."""
    return to_json([owner, *path])


def item(tx: StoreTransaction, namespace: str, name: str) -> Any:
    """The item of that name; None if there is none, or its time is over."""
    where = (ITEM.c.namespace == namespace, ITEM.c.name == to_json(name))
    return tx.one(sa.select(ITEM).where(tx.of(ITEM), _lives(tx), *where))


def items_in(tx: StoreTransaction, namespace: str) -> Sequence[Any]:
    """The items of one namespace, the oldest first."""
    asked = sa.select(ITEM).where(tx.of(ITEM), _lives(tx), ITEM.c.namespace == namespace)
    return tx.all(asked.order_by(ITEM.c.created, ITEM.c.name))


def items_below(tx: StoreTransaction, prefix: str) -> Iterator[Any]:
    """The items of a namespace and of those below it, the last changed first."""
    inside = prefix.removesuffix("]")
    where = (tx.of(ITEM), _lives(tx), ITEM.c.namespace.startswith(inside, autoescape=True))
    asked = sa.select(ITEM).where(*where).order_by(ITEM.c.updated.desc(), ITEM.c.namespace, ITEM.c.name)
    with tx.connection.execute(asked.execution_options(yield_per=PAGE)) as rows:
        # LIKE takes capitals for small letters on SQLite, and "user" for the beginning of "users".
        yield from (row for row in rows if row.namespace.startswith((f"{inside},", f"{inside}]")))


def namespaces(tx: StoreTransaction, owner: str) -> list[str]:
    """The namespaces of an owner that have items."""
    start = item_name(owner).removesuffix("]")
    asked = sa.select(ITEM.c.namespace).distinct().where(tx.of(ITEM), _lives(tx))
    return [row[0] for row in tx.all(asked) if row[0].startswith(f"{start},")]


def put_item(tx: StoreTransaction, namespace: str, name: str, value: Any, **more: Any) -> None:
    """Keep an item; `more`: its `lifetime`, `size` and `vectors`. When it was made stays known."""
    lifetime = more.get("lifetime")
    ends = None if lifetime is None else tx.now + lifetime
    columns = {"lifetime": None, "size": None, "vectors": None, **more, "expires": ends, "updated": tx.now}
    row = {"namespace": namespace, "name": to_json(name), "value": value, "created": tx.now, **columns}
    tx.upsert(ITEM, row, keep=["created"])


def delete_item(tx: StoreTransaction, namespace: str, name: str) -> None:
    tx.delete(ITEM, ITEM.c.namespace == namespace, ITEM.c.name == to_json(name))


def prolong(tx: StoreTransaction, keys: Sequence[tuple[str, str]]) -> None:
    """Let items live for their whole lifetime again; `keys` are namespaces and names as rows have them."""
    for pairs in _groups(keys):
        where = (ITEM.c.lifetime.is_not(None), sa.tuple_(ITEM.c.namespace, ITEM.c.name).in_(pairs))
        tx.update(ITEM, *where, expires=tx.now + ITEM.c.lifetime)


def sweep(tx: StoreTransaction) -> int:
    """Delete the items whose time is over; gives how many."""
    return tx.delete(ITEM, ITEM.c.expires <= tx.now)


def _lives(tx: StoreTransaction) -> Any:
    return sa.or_(ITEM.c.expires.is_(None), ITEM.c.expires > tx.now)


# ── sessions ─────────────────────────────────────────────────────────────────────────────────────

_HEAD = "session"  # the kind of a session's first row, which says what it is and which place is next


def session_head(tx: StoreTransaction, session: str, *, lock: bool = False) -> dict[str, Any] | None:
    """What is kept of a session as a whole; None if there is none. `lock`: others wait until this is done."""
    asked = sa.select(TRANSCRIPT.c.body).where(tx.of(TRANSCRIPT), *_at(session, 0))
    row = tx.one(asked.with_for_update() if lock else asked)
    return None if row is None else row[0]


def make_session(tx: StoreTransaction, session: str, head: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept of a session, made if it is new; others wait until this is done."""
    while True:  # another process may delete it between the two
        row = {"session": session, "position": 0, "kind": _HEAD, "created": tx.now, "body": {**head, "next": 1}}
        tx.insert_new(TRANSCRIPT, row)
        if (there := session_head(tx, session, lock=True)) is not None:
            return there


def session_heads(tx: StoreTransaction, prefix: str) -> list[dict[str, Any]]:
    """The sessions whose names begin so."""
    where = (TRANSCRIPT.c.position == 0, TRANSCRIPT.c.session.startswith(prefix, autoescape=True))
    rows = tx.all(sa.select(TRANSCRIPT.c.session, TRANSCRIPT.c.body).where(tx.of(TRANSCRIPT), *where))
    return [row.body for row in rows if row.session.startswith(prefix)]


def append(
    tx: StoreTransaction, session: str, head: Mapping[str, Any], entries: Sequence[Any], *, kind: str, action: str
) -> None:
    """Add entries at the end of a session whose head, as it shall be, the caller holds."""
    first = head["next"]
    common = {"session": session, "kind": kind, "created": tx.now, "action": action}
    tx.insert(TRANSCRIPT, *({**common, "position": first + at, "body": one} for at, one in enumerate(entries)))
    tx.update(TRANSCRIPT, *_at(session, 0), body={**head, "next": first + len(entries)})


def entries(tx: StoreTransaction, session: str, *, newest: int | None = None, after: int = 0) -> list[Any]:
    """The entries of a session in their order; `newest`: at most so many, the last ones; `after`: a place."""
    where = (TRANSCRIPT.c.session == session, TRANSCRIPT.c.position > after, TRANSCRIPT.c.kind != POPPED)
    asked = sa.select(TRANSCRIPT).where(tx.of(TRANSCRIPT), *where).order_by(TRANSCRIPT.c.position.desc())
    return list(reversed(tx.all(asked.limit(newest))))


def entries_of(tx: StoreTransaction, session: str, action: str) -> Sequence[Any]:
    """The entries of a session that an action wrote, or took."""
    where = (TRANSCRIPT.c.session == session, TRANSCRIPT.c.action == action)
    return tx.all(sa.select(TRANSCRIPT).where(tx.of(TRANSCRIPT), *where))


def pop(tx: StoreTransaction, session: str, action: str) -> Any:
    """Take the last entry of a session; None if it has none."""
    if session_head(tx, session, lock=True) is None:
        return None
    if done := entries_of(tx, session, action):
        return done[0].body
    old = (TRANSCRIPT.c.session == session, TRANSCRIPT.c.kind == POPPED)
    tx.delete(TRANSCRIPT, *old, TRANSCRIPT.c.created < tx.now - KEPT_POPPED)
    if not (last := entries(tx, session, newest=1)):
        return None
    # Not deleted yet: whoever asks again, because the answer was lost, must get the same entry.
    tx.update(TRANSCRIPT, *_at(session, last[0].position), kind=POPPED, created=tx.now, action=action)
    return last[0].body


def clear(tx: StoreTransaction, session: str) -> None:
    """Delete the entries of a session; places that were used are not used again."""
    session_head(tx, session, lock=True)
    tx.delete(TRANSCRIPT, TRANSCRIPT.c.session == session, TRANSCRIPT.c.position > 0)


def delete_session(tx: StoreTransaction, session: str) -> None:
    """Forget a session."""
    session_head(tx, session, lock=True)
    tx.delete(TRANSCRIPT, TRANSCRIPT.c.session == session)


def _at(session: str, position: int) -> tuple[Any, Any]:
    return TRANSCRIPT.c.session == session, TRANSCRIPT.c.position == position
