"""What an agent remembers for itself: records by namespace, each with its vector beside it if there is one.

A record's id is made of what it says, so remembering the same thing again in the same cycle changes nothing, and two
copies of a store can be joined. Which records are nearest to a question is for a vector store to say; the vectors
here are the mirror that any of them is filled from. Where memories are sealed no vector is kept: it says what the
text says. Pruning takes away what is old, unused or too much, and can leave one summary for many records.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import sqlalchemy as sa

from holdfast.agent_store.database import StoreTransaction
from holdfast.agent_store.tables import AGENT, CYCLE, EVIDENCE, RECORD, VECTOR, to_json
from holdfast.errors import BadInput
from holdfast.model.agent_entities import MEMORY_KINDS, AgentIdentity, MemoryBudget, MemoryRecord, NamespacePruning
from holdfast.patterns import regex
from holdfast.security.sealed_text import MARK, TextVault, is_sealed
from holdfast.values import frozen

MAX_TEXT = 1 << 20  # characters of a record: a longer text is a file
MAX_NAME = 200  # characters of a namespace
ASKED = 500  # ids in one statement: engines limit how many values it has
GROUP = 50  # records that one summary stands for: of more it would say nothing
MOST_SEALED = 5_000  # sealed records that a search by words opens, the newest: about 20 ms a thousand
_SENTENCE = regex(r"(?s)\s*(.{1,400}?(?:[.!?](?=\s|$)|\n|$)|.{400})")  # a longer one is cut: it would be no summary


def record_id(
    agent: str, kind: str, namespace: str, text: str, cycle: int | None, *, vault: TextVault | None = None
) -> str:
    """The id of what a record says; of one that is sealed only its key can tell."""
    said = to_json([agent, kind, namespace, text, cycle])
    return (vault.fingerprint("memories", said) if vault else hashlib.sha256(said.encode()).hexdigest())[:32]


def checked(text: str, kind: str, namespace: str) -> str:
    """The text as both engines keep it; BadInput if it cannot be a record."""
    if kind not in MEMORY_KINDS:
        raise BadInput(f"{kind!r} is not a kind of record", hint=f"Use {', '.join(MEMORY_KINDS)}.")
    if not namespace or len(namespace) > MAX_NAME or not namespace.isprintable():
        raise BadInput("a namespace is a short name, such as long-term")
    if is_sealed(text):
        raise BadInput("this text is sealed already, so it says nothing", hint="Remember what it says when opened.")
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
    fields["text"] = tx.vault.seal("memories", record.text, "memory_record", record.id)
    tx.insert_new(RECORD, {**fields, "agent_id": agent.id, "created": tx.now, "uses": 0})
    if record.pinned:
        tx.update(RECORD, RECORD.c.id == record.id, pinned=True)
    tx.insert_new(EVIDENCE, *({"record_id": record.id, "source": source} for source in dict.fromkeys(evidence)))
    if vector is not None:
        put_vector(tx, agent, record, vector)
    (kept,) = records(tx, [record.id])
    return kept


def put_vector(tx: StoreTransaction, agent: AgentIdentity, record: MemoryRecord, vector: tuple[str, bytes]) -> None:
    """Keep a record's vector (a model's name, and the numbers as int8); one of the same model that is there stays.

    Where memories are sealed nothing is kept: a vector tells what its text says.
    """
    if tx.vault.seals("memories"):
        return
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
    """Records that hold some words, those first that hold most of them: for agents without a model for vectors."""
    words = [word for word in words if "\0" not in word]
    if not words:
        return []
    held = [RECORD.c.text.icontains(word, autoescape=True) for word in words]
    where = [AGENT.c.name == agent.name]  # its id differs from project to project
    where += [RECORD.c.namespace.in_(namespaces)] if namespaces else []
    is_closed = RECORD.c.text.startswith(MARK, autoescape=True)
    most = sum((sa.case((one, 1), else_=0) for one in held), sa.literal(0)).desc()
    plain = _records(tx, *where, sa.or_(*held), sa.not_(is_closed), limit=limit, project=project, first=most)
    closed = _records(tx, *where, is_closed, limit=MOST_SEALED, project=project)
    folded = [word.casefold() for word in words]
    found = [*plain, *(one for one in closed if any(word in one.text.casefold() for word in folded))]
    shares = {one.id: sum(word in one.text.casefold() for word in folded) for one in found}
    return sorted(found, key=lambda one: (-shares[one.id], -one.created, one.id))[:limit]


def use(tx: StoreTransaction, ids: Sequence[str]) -> None:
    """Count that records were recalled: what is used is not pruned first."""
    if ids:
        tx.update(RECORD, RECORD.c.id.in_(ids), uses=RECORD.c.uses + 1, used=tx.now)


def agent_id(tx: StoreTransaction, name: str, project: str) -> str | None:
    """The id of an agent in a project; None if it has none of that name."""
    row = tx.one(sa.select(AGENT.c.id).where(AGENT.c.project_id == project, AGENT.c.name == name))
    return row[0] if row else None


def _records(
    tx: StoreTransaction, *where: Any, limit: int | None = None, project: str | None = None, first: Any = None
) -> list[MemoryRecord]:
    joined = RECORD.join(AGENT, sa.and_(RECORD.c.project_id == AGENT.c.project_id, RECORD.c.agent_id == AGENT.c.id))
    names = ("id", "kind", "namespace", "text", "cycle", "created", "pinned", "uses", "used")
    asked = sa.select(AGENT.c.name.label("agent"), *(RECORD.c[name] for name in names)).select_from(joined)
    order = [*([first] if first is not None else []), RECORD.c.created.desc(), RECORD.c.id]
    rows = tx.all(asked.where(RECORD.c.project_id == (project or tx.project), *where).order_by(*order).limit(limit))
    return list(_opened(tx, rows))


def _opened(tx: StoreTransaction, rows: Iterable[Any]) -> Iterator[MemoryRecord]:
    """Rows as records; those that stay closed are left out, and counted by the vault."""
    for row in rows:
        text = tx.vault.unseal(row.text, "memory_record", row.id)
        if text is not None:
            yield MemoryRecord(**{**row._mapping, "text": text})


# ── pruning ──────────────────────────────────────────────────────────────────────────────────────

Consolidate = Callable[[list[str]], str]


@frozen(kw_only=True)
class PruneRule:
    """What goes: older than, unused for (both in microseconds), and beyond a budget for each namespace."""

    older_than: int | None = None
    unused_for: int | None = None
    budget: MemoryBudget = MemoryBudget()
    namespaces: tuple[str, ...] = ()


@frozen(kw_only=True)
class PrunePlan:
    """What would happen to one namespace."""

    namespace: str
    rows: tuple[Any, ...]  # all its records: id, created, used, pinned, cycle, size
    reasons: dict[str, str]  # record id: why it goes
    planned: int  # when: what is used later than that stays
    pinned: int
    open: int


@frozen(kw_only=True)
class PlannedSummary:
    """A text that stands for some records."""

    text: str
    replaces: tuple[str, ...]
    evidence: tuple[str, ...]


def plan_pruning(tx: StoreTransaction, agent: AgentIdentity, rule: PruneRule, *, leave_room: bool) -> list[PrunePlan]:
    """Which records go, by namespace; `leave_room` for a summary within the budget."""
    size = sa.func.octet_length if tx.connection.dialect.name == "postgresql" else _sqlite_bytes
    names = ("id", "namespace", "created", "used", "pinned", "cycle")
    asked = sa.select(*(RECORD.c[name] for name in names), size(RECORD.c.text).label("size"))
    where = [tx.of(RECORD), RECORD.c.agent_id == agent.id]
    where += [RECORD.c.namespace.in_(rule.namespaces)] if rule.namespaces else []
    spaces: dict[str, list[Any]] = {}
    for row in tx.all(asked.where(*where).order_by(RECORD.c.namespace, RECORD.c.created, RECORD.c.id)):
        spaces.setdefault(row.namespace, []).append(row)
    under_way = (tx.of(CYCLE), CYCLE.c.agent_id == agent.id, CYCLE.c.ended.is_(None))
    still_open = {row.cycle for row in tx.all(sa.select(CYCLE.c.cycle).where(*under_way))}
    planned = partial(_planned, rule=rule, still_open=still_open, now=tx.now, leave_room=leave_room)
    return [planned(name, rows) for name, rows in spaces.items()]


def _sqlite_bytes(column: Any) -> Any:
    return sa.func.length(sa.cast(column, sa.LargeBinary))


def _planned(
    name: str, rows: Sequence[Any], *, rule: PruneRule, still_open: set[int], now: int, leave_room: bool
) -> PrunePlan:
    due: dict[str, str] = {}
    for row in rows:
        if rule.older_than is not None and row.created < now - rule.older_than:
            due[row.id] = "older"
        elif rule.unused_for is not None and (row.used or row.created) < now - rule.unused_for:
            due[row.id] = "unused"
    is_open = {row.id for row in rows if row.cycle in still_open}
    stays = {row.id for row in rows if row.pinned} | is_open
    kept = {row.id: row for row in rows if row.id not in due or row.id in stays}
    for row in _beyond(list(kept.values()), rule.budget, stays, leave_room=leave_room):
        due[row.id] = "budget"
    return PrunePlan(
        namespace=name,
        rows=tuple(rows),
        reasons={one: why for one, why in due.items() if one not in stays},
        planned=now,
        pinned=sum(row.pinned and row.id in due for row in rows),
        open=sum(row.id in due and row.id in is_open and not row.pinned for row in rows),
    )


def _beyond(rows: Sequence[Any], budget: MemoryBudget, stays: set[str], *, leave_room: bool) -> Iterator[Any]:
    """The records that a budget has no room for, those first that were not used for longest."""
    records = len(rows) if budget.records is not None else 0
    size = sum(row.size for row in rows) if budget.bytes is not None else 0
    most = budget.records if budget.records is not None else 0
    most -= leave_room and records > most > 0
    for row in sorted(rows, key=lambda row: (row.used or row.created, row.id)):
        if records <= most and size <= (budget.bytes or 0):
            return
        if row.id not in stays:
            records, size = records - (budget.records is not None), size - row.size * (budget.bytes is not None)
            yield row


def going_records(tx: StoreTransaction, plan: PrunePlan) -> tuple[list[MemoryRecord], dict[str, list[str]]]:
    """The records that go and can be read here, the oldest first, and the evidence of each."""
    going = [row.id for row in plan.rows if row.id in plan.reasons]
    evidence: dict[str, list[str]] = {}
    for some in _some(going):
        for row in tx.all(EVIDENCE.select().where(tx.of(EVIDENCE), EVIDENCE.c.record_id.in_(some))):
            evidence.setdefault(row.record_id, []).append(row.source)
    return [one for some in _some(going) for one in records(tx, some)], evidence


def plan_summaries(
    plan: PrunePlan,
    going: Sequence[MemoryRecord],
    evidence: Mapping[str, Sequence[str]],
    consolidate: Consolidate,
    budget: MemoryBudget,
) -> list[PlannedSummary]:
    """Texts that stand for the records that go, where they serve: shorter than these, and within the budget."""
    readable = {one.id for one in going}
    left = [row.size for row in plan.rows if row.id not in readable]
    summaries: list[PlannedSummary] = []
    for start in range(0, len(going), GROUP):
        group = going[start : start + GROUP]
        text = consolidate([one.text for one in group]).strip() if len(group) > 1 else ""
        size = _bytes(text)
        fits = budget.bytes is None or sum(left) + size <= budget.bytes
        fits = fits and (budget.records is None or len(left) < budget.records)
        if text and fits and size < sum(_bytes(one.text) for one in group):
            left.append(size)
            sources = dict.fromkeys(source for one in group for source in evidence.get(one.id, ()))
            ids = tuple(one.id for one in group)
            summaries.append(PlannedSummary(text=text, replaces=ids, evidence=tuple(sources)))
    return summaries


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def first_sentences(texts: Sequence[str]) -> str:
    """The first sentence of each text, once: a summary that no model has to make."""
    seen: dict[str, str] = {}
    for text in texts:
        found = _SENTENCE.match(text)
        sentence = " ".join((found[1] if found else text[:400]).split())
        seen.setdefault(sentence.casefold(), sentence)
    return "\n".join(seen.values())[:MAX_TEXT]


def vector_kinds(tx: StoreTransaction, ids: Sequence[str]) -> set[tuple[str, int]]:
    """The models, and the sizes of their vectors, that some records have vectors of."""
    asked = sa.select(VECTOR.c.model, VECTOR.c.size).where(tx.of(VECTOR)).distinct()
    found = (tx.all(asked.where(VECTOR.c.record_id.in_(some))) for some in _some(ids))
    return {(row.model, row.size) for rows in found for row in rows}


def drop_records(tx: StoreTransaction, agent: AgentIdentity, plan: PrunePlan, ids: Sequence[str]) -> list[str]:
    """Take records away with their evidence and vectors; gives those that were pinned or used meanwhile and stay."""
    still: list[str] = []
    unused = sa.or_(RECORD.c.used.is_(None), RECORD.c.used <= plan.planned)
    for some in _some(ids):
        mine = (tx.of(RECORD), RECORD.c.agent_id == agent.id, RECORD.c.id.in_(some))
        where = (*mine, RECORD.c.pinned.is_(False), unused)
        gone = [row.id for row in tx.all(sa.select(RECORD.c.id).where(*where).with_for_update())]
        for column in (RECORD.c.id, EVIDENCE.c.record_id, VECTOR.c.record_id):
            tx.delete(column.table, column.in_(gone))
        still += [row.id for row in tx.all(sa.select(RECORD.c.id).where(*mine))]
    return still


def pruning_report(
    plan: PrunePlan, summaries: Sequence[PlannedSummary], closed: set[str], still: Iterable[str] = ()
) -> NamespacePruning:
    """What became of a namespace; `still`: what stays though it was planned to go."""
    going = {one: why for one, why in plan.reasons.items() if one not in closed and one not in set(still)}
    stood_for = {one for summary in summaries for one in summary.replaces}
    freed = sum(row.size for row in plan.rows if row.id in going)
    return NamespacePruning(
        namespace=plan.namespace,
        before=len(plan.rows),
        after=len(plan.rows) - len(going) + len(summaries),
        size=sum(row.size for row in plan.rows),
        freed=freed - sum(_bytes(summary.text) for summary in summaries),
        deleted=dict(sorted(Counter(why for one, why in going.items() if one not in stood_for).items())),
        consolidated=dict(sorted(Counter(why for one, why in going.items() if one in stood_for).items())),
        summaries=len(summaries),
        pinned=plan.pinned,
        open=plan.open,
        locked=len(closed),
    )


def _some(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    return (ids[start : start + ASKED] for start in range(0, len(ids), ASKED))
