"""What an agent remembers for itself: records by namespace, each with its vector beside it if there is one.

A record's id is made of what it says, so remembering the same thing again in the same cycle changes nothing, and two
copies of a store can be joined. Which records are nearest to a question is for a vector store to say; the vectors
here are the mirror that any of them is filled from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from holdfast.agent_store.database import StoreTransaction
from holdfast.agent_store.tables import AGENT, EVIDENCE, RECORD, VECTOR, to_json
from holdfast.errors import BadInput
from holdfast.model.agent_entities import MEMORY_KINDS, AgentIdentity, MemoryRecord

MAX_TEXT = 1 << 20  # characters of a record: a longer text is a file
MAX_NAME = 200  # characters of a namespace


def record_id(agent: str, kind: str, namespace: str, text: str, cycle: int | None) -> str:
    """The id of what a record says."""
    return hashlib.sha256(to_json([agent, kind, namespace, text, cycle]).encode()).hexdigest()[:32]


def checked(text: str, kind: str, namespace: str) -> str:
    """The text as both engines keep it; BadInput if it cannot be a record."""
    if kind not in MEMORY_KINDS:
        raise BadInput(f"{kind!r} is no kind of record", hint=f"Use {', '.join(MEMORY_KINDS)}.")
    if not namespace or len(namespace) > MAX_NAME or not namespace.isprintable():
        raise BadInput("a namespace is a short name, such as long-term")
    if not text.strip() or len(text) > MAX_TEXT:
        raise BadInput(f"a record is a text of up to {MAX_TEXT:,} characters")
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()  # Postgres keeps neither


def remember(
    tx: StoreTransaction,
    agent: AgentIdentity,
    record: MemoryRecord,
    *,
    evidence: Sequence[str] = (),
    vector: tuple[str, bytes] | None = None,
) -> MemoryRecord:
    """Keep a record, its evidence and its vector (a model's name, and the numbers as int8)."""
    fields = {name: getattr(record, name) for name in ("id", "cycle", "kind", "namespace", "text", "pinned")}
    tx.insert_new(RECORD, {**fields, "agent_id": agent.id, "created": tx.now, "uses": 0})
    if record.pinned:
        tx.update(RECORD, RECORD.c.id == record.id, pinned=True)
    tx.insert_new(EVIDENCE, *({"record_id": record.id, "source": source} for source in dict.fromkeys(evidence)))
    if vector is not None:
        put_vector(tx, agent, record, vector)
    (kept,) = records(tx, [record.id])
    return kept


def put_vector(tx: StoreTransaction, agent: AgentIdentity, record: MemoryRecord, vector: tuple[str, bytes]) -> None:
    """Keep a record's vector (a model's name, and the numbers as int8); one of the same model that is there stays."""
    model, data = vector
    row = {"record_id": record.id, "model": model, "agent_id": agent.id, "namespace": record.namespace}
    # Newer than all before it, even if the clock was set back: what has these loaded reads only what is newer.
    last = tx.one(sa.select(sa.func.max(VECTOR.c.added)).where(tx.of(VECTOR), VECTOR.c.model == model))[0]
    tx.insert_new(VECTOR, {**row, "size": len(data), "vector": data, "added": max(tx.now, (last or 0) + 1)})


def records(tx: StoreTransaction, ids: Sequence[str], *, project: str | None = None) -> list[MemoryRecord]:
    """The records of some ids, in their order; those that are gone are left out."""
    found = {one.id: one for one in _records(tx, RECORD.c.id.in_(ids), project=project)}
    return [found[one] for one in ids if one in found]


def newest(
    tx: StoreTransaction, agent: AgentIdentity, *, namespaces: Sequence[str] = (), limit: int = 20
) -> list[MemoryRecord]:
    """The last records of an agent, the newest first."""
    where = [RECORD.c.agent_id == agent.id, *([RECORD.c.namespace.in_(namespaces)] if namespaces else [])]
    return _records(tx, *where, limit=limit)


def with_words(
    tx: StoreTransaction,
    agent: AgentIdentity,
    words: Sequence[str],
    *,
    namespaces: Sequence[str] = (),
    limit: int = 200,
    project: str | None = None,
) -> list[MemoryRecord]:
    """Records that hold one of some words, the newest first: for agents without a model for vectors."""
    if not words:
        return []
    held = [RECORD.c.text.icontains(word, autoescape=True) for word in words]
    where = [AGENT.c.name == agent.name, sa.or_(*held)]  # its id differs from project to project
    where += [RECORD.c.namespace.in_(namespaces)] if namespaces else []
    return _records(tx, *where, limit=limit, project=project)


def use(tx: StoreTransaction, ids: Sequence[str]) -> None:
    """Count that records were recalled: what is used is not pruned first."""
    if ids:
        tx.update(RECORD, RECORD.c.id.in_(ids), uses=RECORD.c.uses + 1, used=tx.now)


def agent_id(tx: StoreTransaction, name: str, project: str) -> str | None:
    """The id of an agent in a project; None if it has none of that name."""
    row = tx.one(sa.select(AGENT.c.id).where(AGENT.c.project_id == project, AGENT.c.name == name))
    return row[0] if row else None


def _records(
    tx: StoreTransaction, *where: Any, limit: int | None = None, project: str | None = None
) -> list[MemoryRecord]:
    joined = RECORD.join(AGENT, sa.and_(RECORD.c.project_id == AGENT.c.project_id, RECORD.c.agent_id == AGENT.c.id))
    names = ("id", "kind", "namespace", "text", "cycle", "created", "pinned", "uses", "used")
    asked = sa.select(AGENT.c.name.label("agent"), *(RECORD.c[name] for name in names)).select_from(joined)
    order = (RECORD.c.created.desc(), RECORD.c.id)
    rows = tx.all(asked.where(RECORD.c.project_id == (project or tx.project), *where).order_by(*order).limit(limit))
    return [MemoryRecord(**row._mapping) for row in rows]
