"""What did the agent know? The packs of a run or a session as they were sent, and how that stands since.

Making a receipt is taking a pack apart into its lines with what each tells of; keeping them is
`store.receipt_files`' work. The caller hands in how things stand now.
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
    """How something stands at this moment."""

    state: str  # as a memory's standing; "" where there are no states
    blob: str | None


@frozen
class SentEntry:
    """One thing an agent got: which revision, why, in which section, and how it stands since."""

    id: str
    kind: str
    blob: str | None
    why: str
    section: str
    state: str  # stands, changed since, superseded, retired, stale, expired, erased, …; "" if nobody can tell
    line: str = ""  # its first words in the pack; none where only ids are left


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
    text: str | None  # as it was sent; None if only its receipt is left
    late: bool  # given when the run had ended, and so not proven by its capsule


@frozen
class AgentKnowledge:
    """What an agent got in a run or a session."""

    owner: str
    kind: str  # "run" or "session"
    packs: tuple[SentPack, ...]
    dropped: int  # older packs that were not kept


def entries(context: context_pack.ContextPack) -> list[dict[str, Any]]:
    """What a pack tells of, as its receipt lists it: each thing once, with the section that told it first."""
    found: dict[str, dict[str, Any]] = {}
    for part in context.sections:
        for line in part.lines:
            for one in line.told:
                found.setdefault(one.id, {**asdict(one), "section": part.name})
    return list(found.values())


def keep(clone: Clone, context: context_pack.ContextPack, *, owner: str, ts: str) -> StoredReceipt:
    """Store a pack for a run or a session, durable on return."""
    head = head_of(clone, context, ts=ts)
    return receipt_files.keep(clone.layout, owner, head=head, lines=lines_of(context), stores=clone.stores)


def head_of(clone: Clone, context: context_pack.ContextPack, *, ts: str) -> dict[str, Any]:
    """When and where a pack was given, for what, and of what size."""
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
    """What of a pack is counted: how its session was found, its size, and the memories in it."""
    tokens, session = head.get("tokens"), head.get("session")
    memories = [str(one.get("id")) for one in told if one.get("kind") in TYPES]
    return tally.telling(
        str(head.get("how")),
        tokens=tokens if type(tokens) is int else 0,
        session=session if isinstance(session, str) else None,
        memories=memories,
    )


def counted_of(context: context_pack.ContextPack) -> str:
    """The same of a pack that was just made."""
    head = {"tokens": context.tokens, "session": context.session, "how": context.how}
    return counted(head, entries(context))


def lines_of(context: context_pack.ContextPack) -> Iterable[dict[str, Any]]:
    """The lines of a pack, each with what it tells of."""
    where = {id(line): part.name for part in context.sections for line in part.lines}
    for text, line in context_pack.pack_rows(context):
        told = [{**asdict(one), "section": where[id(line)]} for one in line.told] if line else []
        yield {"text": text, "told": told} if told else {"text": text}


def is_under_way(clone: Clone, run_id: str) -> bool:
    """Whether a run of this clone has begun and is not complete."""
    folders = (store.run(run_id) for store in clone.stores)
    return any(os.path.lexists(os.path.join(folder, capsule.OPEN)) for folder in folders)


def knew(clone: Clone, owner: str, *, kind: str, now: Mapping[str, CurrentStanding]) -> AgentKnowledge:
    """What an agent got in a run or a session; `now` says how things stand here since."""
    kept = {one.root: one for one in receipt_files.read(clone.stores, owner)}
    contexts = (capsule.read_context(store.run(owner)) for store in clone.stores)
    listed = receipt_files.entries(next(filter(None, contexts), {})) if kind == "run" else []
    ended = kind == "run" and not is_under_way(clone, owner)
    proven, gone = {one["root"] for one in listed}, clone.erased()
    packs = [_pack(one, now, gone, late=ended and one.root not in proven) for one in kept.values()]
    for one in (one for one in listed if one["root"] not in kept):  # whose text is not here any more
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
    """What became of something since then."""
    if now is None:
        return "" if kind in ("", "commit", "line", "run", "link") else "not on this branch"
    if now.state not in ("", "accepted"):
        return _STATES.get(now.state, now.state)
    return "stands" if blob is None or now.blob in (None, blob) else "changed since"
