"""LangGraph's two places for memory: checkpoints of graphs by thread, and a store of items by namespace.

    graph = builder.compile(checkpointer=HoldfastSaver(project), store=HoldfastStore(project))

The asynchronous methods run the others in a thread. A channel's value is kept once for each of its versions, so a
checkpoint costs what changed. A channel that keeps changes only (`DeltaChannel`) is rebuilt from a checkpoint's
ancestors; pruning leaves those that are needed for it.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

import numpy as np
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    CheckpointTuple,
    get_checkpoint_id,
    get_checkpoint_metadata,
)
from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    PutOp,
    SearchItem,
    SearchOp,
    ensure_embeddings,
    get_text_at_path,
    tokenize_path,
)

from holdfast.agent_store import adapter_rows
from holdfast.agent_store.agent_cycles import MICROS
from holdfast.agent_store.database import StoreTransaction
from holdfast.agent_store.tables import to_json
from holdfast.errors import BadInput
from holdfast.interfaces.adapters import Recording, SessionEntry, in_thread, record_session
from holdfast.project import Project

_END = object()
_OWNER = "langgraph"  # of the namespaces of its store
_MAX_VALUE = 20_000  # characters of a channel's value in a recorded run


class HoldfastSaver(BaseCheckpointSaver):
    """Checkpoints of graphs in the agent store; `agent` is the name their runs have in the log."""

    def __init__(self, project: Project, *, serde: Any = None, agent: str = "langgraph") -> None:
        super().__init__(serde=serde)
        self._project, self._agent, self._database = project, agent, project.agents.database

    # ── one checkpoint ───────────────────────────────────────────────────────────────────────────

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Mapping[str, Any]) -> Any:
        """Keep a checkpoint; durable on return."""
        place = _place(config)
        rest = {name: value for name, value in checkpoint.items() if name != "channel_values"}
        values = checkpoint["channel_values"]
        kind, data = self.serde.dumps_typed(rest)
        known = get_checkpoint_metadata(config, metadata)
        row = {
            **place,
            "id": checkpoint["id"],
            "parent": get_checkpoint_id(config),
            "run": str(known.get("run_id") or ""),
            "kind": kind,
            "data": data,
            "metadata": known,
            "versions": dict(checkpoint["channel_versions"]),
        }
        to_json(known)  # what is no JSON is refused here, with a sentence
        channels = [
            {**place, "name": name, "version": to_json(version), **self._dumped(values, name)}
            for name, version in new_versions.items()
        ]
        self._database.run(partial(adapter_rows.put_checkpoint, row=row, channels=channels))
        return _config(place["thread"], place["namespace"], checkpoint["id"])

    def put_writes(self, config: Any, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = "") -> None:
        """Keep what a task wrote beside a checkpoint; durable on return."""
        common = {**_place(config), "checkpoint": get_checkpoint_id(config), "task": task_id, "task_path": task_path}
        rows = []
        for at, (channel, value) in enumerate(writes):
            kind, data = self.serde.dumps_typed(value)
            place = WRITES_IDX_MAP.get(channel, at)
            rows.append({**common, "position": place, "channel": channel, "kind": kind, "data": data})
        self._database.run(partial(adapter_rows.put_writes, rows=rows))

    def get_tuple(self, config: Any) -> Any:
        """The checkpoint that a config names, or the newest of its thread; None if there is none."""
        place: dict[str, Any] = _place(config)
        found = partial(self._tuples, **place, identity=get_checkpoint_id(config), limit=1)
        return next(iter(self._database.run(found, read=True)), None)

    def list(
        self,
        config: Any,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002  the owner's name
        before: Any = None,
        limit: int | None = None,
    ) -> Iterator[Any]:
        """Checkpoints, the newest first."""
        where: dict[str, Any] = {"before": get_checkpoint_id(before) if before else None}
        if config:
            given = config["configurable"]
            where |= {"thread": str(given["thread_id"]), "namespace": given.get("checkpoint_ns")}
            where["identity"] = get_checkpoint_id(config)
        wanted = {} if filter is None else filter
        left = limit
        after = None
        while left is None or left > 0:
            page = adapter_rows.PAGE if left is None or wanted else min(left, adapter_rows.PAGE)
            rows = self._database.run(partial(self._tuples, **where, after=after, limit=page), read=True)
            for one in rows:
                if all(one.metadata.get(name) == value for name, value in wanted.items()):
                    yield one
                    left = None if left is None else left - 1
                    if left == 0:
                        return
            if len(rows) < page:
                return
            last = rows[-1].config["configurable"]
            after = (last["thread_id"], last["checkpoint_ns"], last["checkpoint_id"])

    def _tuples(self, tx: StoreTransaction, **where: Any) -> Sequence[Any]:
        rows = adapter_rows.checkpoints(tx, **where)
        found: dict[adapter_rows.CheckpointKey, Any] = {}
        for place in {(row.thread, row.namespace) for row in rows}:
            here = [row for row in rows if (row.thread, row.namespace) == place]
            wanted = {(name, to_json(at)) for row in here for name, at in row.versions.items()}
            kept = adapter_rows.channels(tx, *place, wanted)
            written = adapter_rows.writes(tx, *place, [row.id for row in here])
            for row in here:
                found[(*place, row.id)] = self._tuple(row, kept, written[row.id])
        return [found[row.thread, row.namespace, row.id] for row in rows]

    def _tuple(self, row: Any, kept: Mapping[Any, Any], written: Sequence[Any]) -> Any:
        keys = {name: (name, to_json(version)) for name, version in row.versions.items()}
        state = {name: self.serde.loads_typed(kept[key]) for name, key in keys.items() if key in kept}
        return CheckpointTuple(
            config=_config(row.thread, row.namespace, row.id),
            checkpoint={**self.serde.loads_typed((row.kind, row.data)), "channel_values": state},
            metadata=row.metadata,
            parent_config=_config(row.thread, row.namespace, row.parent) if row.parent else None,
            pending_writes=[self._write(one) for one in written],
        )

    def _write(self, row: Any) -> tuple[str, str, Any]:
        return row.task, row.channel, self.serde.loads_typed((row.kind, row.data))

    def _dumped(self, values: Mapping[str, Any], name: str) -> dict[str, Any]:
        kind, data = self.serde.dumps_typed(values[name]) if name in values else (adapter_rows.EMPTY, b"")
        return {"kind": kind, "data": data}

    def get_next_version(self, current: Any, channel: None) -> str:
        """A version that no other branch of the thread gives to the same channel."""
        del channel
        count = 0 if current is None else int(str(current).partition(".")[0])
        return f"{count + 1:032}.{random.getrandbits(64):020}"

    def get_delta_channel_history(self, *, config: Any, channels: Sequence[str]) -> Mapping[str, Any]:
        """What each channel was at the nearest ancestor that has a value, and what was written to it since."""
        place = _place(config)
        history = partial(self._history, place=place, identity=get_checkpoint_id(config), channels=channels)
        return self._database.run(history, read=True) if channels else {}

    def _history(
        self, tx: StoreTransaction, place: Mapping[str, str], identity: str | None, channels: Sequence[str]
    ) -> dict[str, Any]:
        thread, namespace = place["thread"], place["namespace"]
        known = {row.id: row for row in adapter_rows.parents(tx, thread, namespace)}
        chain = list(_ancestors(known, identity or max(known, default="")))
        asked = {(name, to_json(row.versions[name])) for row in chain for name in channels if name in row.versions}
        there = adapter_rows.channels(tx, thread, namespace, asked, kinds_only=True)
        written = adapter_rows.writes(tx, thread, namespace, [row.id for row in chain], names=channels)
        found: dict[str, Any] = {}
        for name in channels:
            steps = []
            entry: dict[str, Any] = {}
            for row in chain:
                steps.append([one for one in written[row.id] if one.channel == name])
                key = (name, to_json(row.versions.get(name)))
                if key in there:
                    entry["seed"] = self.serde.loads_typed(adapter_rows.channels(tx, thread, namespace, [key])[key])
                    break
            entry["writes"] = [self._write(one) for step in reversed(steps) for one in step]
            found[name] = entry
        return found

    # ── whole threads ────────────────────────────────────────────────────────────────────────────

    def delete_thread(self, thread_id: str) -> None:
        """Forget a thread."""
        self._database.run(partial(adapter_rows.delete_thread, thread=str(thread_id)))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Forget the checkpoints of some runs; what later ones rebuild a `DeltaChannel` from is gone, too."""
        self._database.run(partial(adapter_rows.delete_runs, runs=[str(one) for one in run_ids]))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy all of a thread."""
        source, target = str(source_thread_id), str(target_thread_id)
        self._database.run(partial(adapter_rows.copy_thread, source=source, target=target))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Keep the newest checkpoint of each namespace and what it is rebuilt from, or (`delete`) nothing."""
        doing = {"keep_latest": adapter_rows.keep_latest, "delete": adapter_rows.delete_thread}.get(strategy)
        if doing is None:
            raise BadInput(f"{strategy!r} is not a way to prune", hint="Use keep_latest or delete.")
        for one in thread_ids:
            self._database.run(partial(doing, thread=str(one)))

    # ── the same for asynchronous graphs ─────────────────────────────────────────────────────────

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Mapping[str, Any]) -> Any:
        return await in_thread(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: Any, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        await in_thread(self.put_writes, config, writes, task_id, task_path)

    async def aget_tuple(self, config: Any) -> Any:
        return await asyncio.to_thread(self.get_tuple, config)

    async def alist(self, config: Any, **options: Any) -> AsyncIterator[Any]:
        found = self.list(config, **options)
        while (one := await asyncio.to_thread(next, found, _END)) is not _END:
            yield one

    async def adelete_thread(self, thread_id: str) -> None:
        await in_thread(self.delete_thread, thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        await in_thread(self.delete_for_runs, run_ids)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        await in_thread(self.copy_thread, source_thread_id, target_thread_id)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        await in_thread(self.prune, thread_ids, strategy=strategy)

    async def aget_delta_channel_history(self, *, config: Any, channels: Sequence[str]) -> Mapping[str, Any]:
        return await asyncio.to_thread(self.get_delta_channel_history, config=config, channels=channels)

    # ── the log ──────────────────────────────────────────────────────────────────────────────────

    def record(self, thread_id: str, *, messages: Sequence[Any] | None = None) -> str | None:
        """Make what is new in a thread a run of the project's log; gives the run's id.

        What was said is read from the state's `messages`, or from those that are given. Of a graph without messages
        each checkpoint stands for what it changed.
        """
        if messages is None:
            latest = self.get_tuple({"configurable": {"thread_id": thread_id}})
            state = latest.checkpoint["channel_values"] if latest else {}
            messages = state.get("messages")
        told = _messages(messages) if messages else self._changes(str(thread_id))
        return record_session(self._project, self._agent, str(thread_id), list(told))

    def recording(self, thread_id: str) -> Recording:
        """A block at whose end a thread is recorded."""
        return Recording(partial(self.record, thread_id))

    def _changes(self, thread: str) -> Iterator[SessionEntry]:
        before: Mapping[str, Any] = {}
        config = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
        for one in reversed(list(self.list(config))):
            now = one.checkpoint["channel_versions"]
            values = one.checkpoint["channel_values"]
            names = [name for name in values if now.get(name) != before.get(name) and _is_own(name)]
            text = "\n".join(f"{name}: {_shown(values[name])}" for name in names)
            is_input = one.metadata.get("source") == "input"
            before = now
            if is_input and "__start__" in values:
                text = _shown(values["__start__"])
            if text:
                kind = "prompt" if is_input else "reply"
                yield SessionEntry(kind=kind, id=one.checkpoint["id"], ts=one.checkpoint["ts"], text=text)


def _is_own(channel: str) -> bool:
    """Whether a channel is a graph's, not LangGraph's."""
    return not channel.startswith(("__", "branch:"))


def _messages(messages: Sequence[Any]) -> Iterator[SessionEntry]:
    """Messages of LangChain as rows of a transcript."""
    for at, one in enumerate(messages):
        name = str(getattr(one, "id", None) or at)
        kind = getattr(one, "type", "")
        if kind == "tool":
            failed = getattr(one, "status", "") == "error"
            yield SessionEntry(kind="result", id=str(one.tool_call_id), text=_said(one), failed=failed)
            continue
        if kind == "human" or _said(one):
            yield SessionEntry(kind="prompt" if kind == "human" else "reply", id=name, text=_said(one))
        for call in getattr(one, "tool_calls", None) or ():
            yield SessionEntry(kind="call", id=str(call["id"]), name=call["name"], text=_shown(call["args"]))


def _said(message: Any) -> str:
    content = getattr(message, "content", message)
    if isinstance(content, str):
        return content
    parts = (one.get("text", "") if isinstance(one, dict) else one for one in content or ())
    return "\n".join(str(part) for part in parts if part)


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)[:_MAX_VALUE]


def _ancestors(known: Mapping[str, Any], identity: str) -> Iterator[Any]:
    """The ancestors of a checkpoint, the nearest first."""
    row = known.get(identity)
    while row is not None and (row := known.get(row.parent)) is not None:
        yield row


def _place(config: Any) -> dict[str, str]:
    given = config["configurable"]
    return {"thread": str(given["thread_id"]), "namespace": given.get("checkpoint_ns", "")}


def _config(thread: str, namespace: str, identity: str) -> Any:
    return {"configurable": {"thread_id": thread, "checkpoint_ns": namespace, "checkpoint_id": identity}}


class HoldfastStore(BaseStore):
    """Items by namespace in the agent store; `index` says how they are embedded, `ttl` how long they live.

    An item whose time is over is not returned any more; writing anything deletes it, and so does `sweep_ttl`.
    """

    supports_ttl = True

    def __init__(self, project: Project, *, index: Any = None, ttl: Any = None) -> None:
        self._database = project.agents.database
        self.ttl_config = ttl
        self.embeddings: Any = ensure_embeddings(index["embed"]) if index else None
        self._size = index.get("dims") if index else None
        self._fields = (index.get("fields") or ["$"]) if index else []

    def batch(self, ops: Iterable[Any]) -> list[Any]:
        """Do some operations: first those that read, then those that write; durable on return."""
        every = list(ops)
        documents, queries = self._texts(every)
        vectors = self.embeddings.embed_documents(documents) if documents else []
        found = {query: self.embeddings.embed_query(query) for query in queries}
        return self._done(every, dict(zip(documents, vectors, strict=True)), found)

    async def abatch(self, ops: Iterable[Any]) -> list[Any]:
        every = list(ops)
        documents, queries = self._texts(every)
        vectors = await self.embeddings.aembed_documents(documents) if documents else []
        found = {query: await self.embeddings.aembed_query(query) for query in queries}
        return await in_thread(self._done, every, dict(zip(documents, vectors, strict=True)), found)

    def sweep_ttl(self) -> int:
        """Delete the items whose time is over; gives how many."""
        return self._database.run(adapter_rows.sweep)

    def _texts(self, ops: Sequence[Any]) -> tuple[list[str], list[str]]:
        """What has to be embedded: texts of items, and queries."""
        if self.embeddings is None:
            return [], []
        texts = [text for op in _last_puts(ops) if op.value is not None for text in self._texts_of(op)]
        queries = [op.query for op in ops if isinstance(op, SearchOp) and op.query]
        return list(dict.fromkeys(texts)), list(dict.fromkeys(queries))

    def _texts_of(self, op: Any) -> list[str]:
        if self.embeddings is None or op.index is False:
            return []
        paths = self._fields if op.index is None else op.index
        tokens = [path if path == "$" else tokenize_path(path) for path in paths]
        return [text for path in tokens for text in get_text_at_path(op.value, path)]

    def _done(self, ops: Sequence[Any], vectors: Mapping[str, Any], queries: Mapping[str, Any]) -> list[Any]:
        used: list[tuple[str, str]] = []
        reads = [op for op in ops if not isinstance(op, PutOp)]
        puts = [self._put_row(op, vectors) for op in _last_puts(ops)]
        read = partial(_read, ops=reads, queries=queries, used=used)
        answers = iter(self._database.run(read, read=True) if reads else [])
        if puts or used:
            self._database.run(partial(_write, puts=puts, used=used))
        return [None if isinstance(op, PutOp) else next(answers) for op in ops]

    def _put_row(self, op: Any, vectors: Mapping[str, Any]) -> dict[str, Any]:
        row: dict[str, Any] = {"namespace": adapter_rows.item_name(_OWNER, *op.namespace), "name": str(op.key)}
        if op.value is None:
            return row
        row["value"] = json.loads(to_json(dict(op.value)))
        row["lifetime"] = None if op.ttl is None else round(op.ttl * 60 * MICROS)
        if texts := self._texts_of(op):
            rows = np.asarray([vectors[text] for text in texts], dtype="<f4")
            if self._size not in (None, rows.shape[1]):
                raise BadInput(f"the model gave vectors of {rows.shape[1]} numbers, and `dims` says {self._size}")
            row |= {"size": rows.shape[1], "vectors": rows.tobytes()}
        return row


def _last_puts(ops: Sequence[Any]) -> list[Any]:
    return list({(op.namespace, op.key): op for op in ops if isinstance(op, PutOp)}.values())


def _write(tx: StoreTransaction, puts: Sequence[dict[str, Any]], used: Sequence[tuple[str, str]]) -> None:
    adapter_rows.prolong(tx, used)
    for row in sorted(puts, key=lambda row: (row["namespace"], row["name"])):  # in one order: nobody waits in a ring
        if "value" in row:
            adapter_rows.put_item(tx, **row)
        else:
            adapter_rows.delete_item(tx, **row)
    if puts:
        adapter_rows.sweep(tx)


def _read(
    tx: StoreTransaction, ops: Sequence[Any], queries: Mapping[str, Any], used: list[tuple[str, str]]
) -> list[Any]:
    """The answers to operations; `used` gets the keys of items that live longer for it."""
    used.clear()  # this may run twice
    answers: list[Any] = []
    for op in ops:
        if isinstance(op, ListNamespacesOp):
            answers.append(_namespaces(tx, op))
            continue
        if isinstance(op, GetOp):
            row = adapter_rows.item(tx, adapter_rows.item_name(_OWNER, *op.namespace), str(op.key))
            rows = [] if row is None else [row]
            answers.append(None if row is None else Item(**_fields(row)))
        elif isinstance(op, SearchOp):
            hits = _search(tx, op, queries.get(op.query) if op.query else None)
            rows = [row for _, row in hits]
            answers.append([SearchItem(**_fields(row), score=score) for score, row in hits])
        else:
            raise BadInput(f"{type(op).__name__} is not an operation of a store")
        if op.refresh_ttl:
            used += [(row.namespace, row.name) for row in rows if row.lifetime is not None]
    return answers


def _search(tx: StoreTransaction, op: Any, query: Any) -> list[tuple[float | None, Any]]:
    """The items that fit, with their nearness to a query if there is one: those with a vector first, the best first."""
    fitting = (
        row
        for row in adapter_rows.items_below(tx, adapter_rows.item_name(_OWNER, *op.namespace_prefix))
        if all(_fits(row.value.get(name), wanted) for name, wanted in (op.filter or {}).items())
    )
    end = op.offset + op.limit
    if query is None:
        rows = [row for _, row in zip(range(end), fitting, strict=False)]
        return [(None, row) for row in rows[op.offset :]]
    asked = np.asarray(query, dtype=np.float64)
    scored = [(_nearness(row, asked), row) for row in fitting]
    scored.sort(key=lambda hit: (hit[0] is None, -(hit[0] or 0.0)))
    return scored[op.offset : end]


def _nearness(row: Any, asked: Any) -> float | None:
    """The cosine of the nearest of an item's vectors; None if it has none of this length."""
    if row.vectors is None or row.size != asked.shape[0]:
        return None
    rows = np.frombuffer(row.vectors, dtype="<f4").reshape(-1, row.size).astype(np.float64)
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(asked)
    return float(np.max(np.divide(rows @ asked, lengths, out=np.zeros(len(rows)), where=lengths != 0)))


def _namespaces(tx: StoreTransaction, op: Any) -> list[tuple[str, ...]]:
    every = (tuple(json.loads(one)[1:]) for one in adapter_rows.namespaces(tx, _OWNER))
    found = {one[: op.max_depth] for one in every if all(_matches(rule, one) for rule in op.match_conditions or ())}
    return sorted(found)[op.offset : op.offset + op.limit]


def _matches(rule: Any, path: tuple[str, ...]) -> bool:
    if rule.match_type not in ("prefix", "suffix"):
        raise BadInput(f"{rule.match_type!r} is not a way to match a namespace", hint="Use prefix or suffix.")
    size = len(rule.path)
    part = path[:size] if rule.match_type == "prefix" else path[max(0, len(path) - size) :]
    return len(part) == size and all(want in ("*", have) for want, have in zip(rule.path, part, strict=True))


_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda have, want: have == want,
    "$ne": lambda have, want: have != want,
    "$gt": lambda have, want: _number(have) > _number(want),
    "$gte": lambda have, want: _number(have) >= _number(want),
    "$lt": lambda have, want: _number(have) < _number(want),
    "$lte": lambda have, want: _number(have) <= _number(want),
}


def _fits(have: Any, want: Any) -> bool:
    """Whether a value is what a filter asks for; an object fits if all that is asked of it does."""
    if isinstance(want, dict) and any(name.startswith("$") for name in want):
        if unknown := [name for name in want if name not in _COMPARED]:
            raise BadInput(f"{unknown[0]} is not a comparison", hint=f"Use {', '.join(_COMPARED)}.")
        return all(_COMPARED[name](have, value) for name, value in want.items())
    if isinstance(want, dict):
        return isinstance(have, dict) and all(_fits(have.get(name), value) for name, value in want.items())
    if isinstance(want, list | tuple):
        return isinstance(have, list) and len(have) == len(want) and all(map(_fits, have, want))
    return bool(have == want)


def _number(value: Any) -> float:
    """A value to compare; what is no number is neither more nor less than anything."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")


def _fields(row: Any) -> dict[str, Any]:
    created, updated = (datetime.fromtimestamp(at / MICROS, UTC) for at in (row.created, row.updated))
    place = {"namespace": tuple(json.loads(row.namespace)[1:]), "key": json.loads(row.name)}
    return {**place, "value": row.value, "created_at": created, "updated_at": updated}
