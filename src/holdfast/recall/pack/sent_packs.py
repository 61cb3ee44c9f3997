"""The packs that a run or a session was sent, as they were, and the current state of what they showed.

Making a receipt splits a pack into its lines with the records they show; `store.receipt_files` stores them. The caller
passes in the current state.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from holdfast.git.clone import Clone
from holdfast.model.memory import TYPES
from holdfast.model.text import visible
from holdfast.recall.pack import context_pack, pack_lines
from holdfast.store import capsule, receipt_files, tally
from holdfast.store.receipt_files import StoredReceipt
from holdfast.values import asdict, frozen, list_of

_FACTS = ("ts", "branch", "head", "budget", "tokens")
_STATES = {"accepted": "stands", "deprecated": "retired"}


@frozen
class CurrentStanding:
    """The state of a record at this moment."""

    state: str  # as a memory's state; "" for records without states
    blob: str | None


@frozen
class SentEntry:
    """One record that an agent was shown: its revision, the reason, the section, and its state since."""

    id: str
    kind: str
    blob: str | None
    why: str
    section: str
    state: str  # stands, changed since, superseded, retired, stale, expired, erased, …; "" if unknown
    line: str = ""  # its line in the pack; empty if only ids are left


@frozen(kw_only=True)
class SentPack:
    """One pack that an agent was given."""

    number: int
    root: str
    ts: str | None
    branch: str | None
    head: str | None
    budget: int | None
    tokens: int | None
    asked: str | None
    files: tuple[str, ...]
    entries: tuple[SentEntry, ...]
    text: str | None  # as it was sent; None if only the receipt is left
    late: bool  # sent after the run ended, so its capsule does not prove it


@frozen
class AgentKnowledge:
    """The packs that an agent got in a run or a session."""

    owner: str
    kind: str  # "run" or "session"
    packs: tuple[SentPack, ...]
    dropped: int  # older packs that were not stored


def entries(context: context_pack.ContextPack) -> list[dict[str, Any]]:
    """Returns the records that a pack shows, as its receipt lists them: each once, with its first section."""
    found: dict[str, dict[str, Any]] = {}
    for part in context.sections:
        for line in part.lines:
            for one in line.told:
                found.setdefault(one.id, {**asdict(one), "section": part.name})
    return list(found.values())


def keep(clone: Clone, context: context_pack.ContextPack, *, owner: str, ts: str) -> StoredReceipt:
    """Stores a pack for a run or a session; durable on return."""
    head = head_of(clone, context, ts=ts)
    return receipt_files.keep(clone.layout, owner, head=head, lines=lines_of(context), stores=clone.stores)


def head_of(clone: Clone, context: context_pack.ContextPack, *, ts: str) -> dict[str, Any]:
    """Returns the receipt's head: time, place, request and size of a pack."""
    return {
        "ts": ts,
        "branch": visible(context.branch) if context.branch else None,
        "head": context.head,
        "line": clone.line().id,
        "session": context.session,
        "how": context.how,
        "asked": context.asked.words or None,
        "files": [clone.scan.text(visible(path)) for path in context.asked.files],
        "budget": context.budget,
        "tokens": context.tokens,
        "counted": pack_lines.HOW,
        "marker": context.marker,
    }


def counted(head: Mapping[str, Any], told: Iterable[Mapping[str, Any]]) -> str:
    """Returns what is counted of a pack: how its session was found, its size, and its memories."""
    tokens, session = head.get("tokens"), head.get("session")
    memories = [str(one.get("id")) for one in told if one.get("kind") in TYPES]
    return tally.telling(
        str(head.get("how")),
        tokens=tokens if type(tokens) is int else 0,
        session=session if isinstance(session, str) else None,
        memories=memories,
    )


def counted_of(context: context_pack.ContextPack) -> str:
    """Returns the same for a new pack."""
    head = {"tokens": context.tokens, "session": context.session, "how": context.how}
    return counted(head, entries(context))


def lines_of(context: context_pack.ContextPack) -> Iterable[dict[str, Any]]:
    """Yields the lines of a pack, each with the records it shows."""
    where = {id(line): part.name for part in context.sections for line in part.lines}
    for text, line in context_pack.pack_rows(context):
        told = [{**asdict(one), "section": where[id(line)]} for one in line.told] if line else []
        yield {"text": text, "told": told} if told else {"text": text}


def is_under_way(clone: Clone, run_id: str) -> bool:
    """Whether a run of this clone has started and is not complete."""
    folders = (store.run(run_id) for store in clone.stores)
    return any(os.path.lexists(os.path.join(folder, capsule.OPEN)) for folder in folders)


def knew(clone: Clone, owner: str, *, kind: str, now: Mapping[str, CurrentStanding]) -> AgentKnowledge:
    """Returns what an agent was shown in a run or a session; `now` has the current states."""
    kept = {one.root: one for one in receipt_files.read(clone.stores, owner)}
    contexts = (capsule.read_context(store.run(owner)) for store in clone.stores)
    listed = receipt_files.entries(next(filter(None, contexts), {})) if kind == "run" else []
    ended = kind == "run" and not is_under_way(clone, owner)
    proven, gone = {one["root"] for one in listed}, clone.erased()
    packs = [_pack(one, now, gone, late=ended and one.root not in proven) for one in kept.values()]
    for one in (one for one in listed if one["root"] not in kept):  # packs whose text is no longer stored
        facts: dict[str, Any] = {name: one.get(name) for name in ("number", "root", *_FACTS)}
        told = tuple(_entry({"id": name}, now, gone) for name in one.get("ids") or ())
        packs.append(SentPack(asked=None, files=(), entries=told, text=None, late=False, **facts))
    packs.sort(key=lambda one: (one.number, one.ts or ""))
    return AgentKnowledge(owner, kind, tuple(packs), packs[0].number - 1 if packs else 0)


def _pack(kept: StoredReceipt, now: Mapping[str, CurrentStanding], gone: Iterable[str], *, late: bool) -> SentPack:
    head = kept.head
    told: dict[str, Mapping[str, Any]] = {}
    for line in kept.lines:
        for one in line.get("told", ()):
            told.setdefault(str(one.get("id")), {**one, "line": line.get("text")})
    listed = tuple(_entry(one, now, gone) for one in told.values())
    named = tuple(map(str, list_of(head.get("files"))))
    facts = {name: head.get(name) for name in (*_FACTS, "asked")}
    return SentPack(number=kept.number, root=kept.root, files=named, entries=listed, text=kept.text, late=late, **facts)


def _entry(told: Mapping[str, Any], now: Mapping[str, CurrentStanding], gone: Iterable[str]) -> SentEntry:
    identity, kind, blob = str(told.get("id")), str(told.get("kind") or ""), told.get("blob")
    state = "erased" if identity in gone else _since(kind, blob, now.get(identity))
    why, section, line = (str(told.get(name) or "") for name in ("why", "section", "line"))
    return SentEntry(identity, kind, blob, why, section, state, line)


def _since(kind: str, blob: str | None, now: CurrentStanding | None) -> str:
    """Returns what happened to a record since it was shown."""
    if now is None:
        return "" if kind in ("", "commit", "line", "run", "link") else "not on this branch"
    if now.state not in ("", "accepted"):
        return _STATES.get(now.state, now.state)
    return "stands" if blob is None or now.blob in (None, blob) else "changed since"
