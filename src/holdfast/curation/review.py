"""Review: a candidate becomes an entry or a tombstone, an entry is confirmed, two memories are merged.

Each decision takes a few steps, each durable before the next: the entry's text as a pending change, then the event,
then the candidate's file is deleted. A step finds out by itself whether it was done before, so a command that was
killed at any point is completed by running it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.curation import candidates, decisions, memory_conflicts, memory_state, propose, revise, snapshot, undo
from holdfast.curation.decisions import MemoryStanding, Reviewer
from holdfast.curation.memory_conflicts import KnownClaims
from holdfast.curation.memory_state import VisibleMemory
from holdfast.errors import BadInput, NeedsReview, NotFound
from holdfast.git.clone import Clone
from holdfast.git.evidence_check import states
from holdfast.model import memory as rules
from holdfast.model.ids import slug
from holdfast.model.memory import Accepted, Candidate, Memory, Rejected
from holdfast.store import layout, memory_files


def waiting(clone: Clone) -> list[MemoryStanding]:
    """Returns the candidates of this clone with the state of their evidence; damaged ones are added to its notes."""
    shelf = candidates.read(clone)
    clone.notes.extend(f"left out: {error}" for error in shelf.broken)
    evidence_states = states(clone, (text for memory in shelf.waiting.values() for text in memory.evidence))
    here, changed = clone.line().id, candidates.changed(clone, *shelf.waiting.values())
    found = []
    for memory in shelf.waiting.values():
        receipts = tuple((text, evidence_states[text]) for text in memory.evidence)
        notes = _elsewhere(memory, here) + changed.get(memory.id, ())
        found.append(MemoryStanding(memory, "candidate", receipts=receipts, notes=notes))
    return found


def known(clone: Clone) -> KnownClaims:
    """Returns all memories that a candidate is compared with."""
    standings = memory_state.list_memories(clone, clone.clock()).standings
    return KnownClaims(standings, candidates.read(clone).rejected.values())


def accept(
    clone: Clone,
    identity: str,
    reviewer: Reviewer,
    *,
    wish: revise.ReviewerWish | None = None,
    against: KnownClaims | None = None,
    again: bool = True,
) -> MemoryStanding:
    """Approves a candidate on the current line, or an entry with its current text, edited by hand or not.

    A memory that contradicts a current one is refused, unless the wish says how to treat both. `against` saves a lookup
    when many are accepted at once. An earlier approval is recorded again only with `again`.
    """
    wish = wish or revise.ReviewerWish()
    with candidates.locked(clone):
        table = snapshot.read_table(clone)
        name = table.meant(identity)
        if unknown := [old for old in wish.supersede if old not in table.entry_ids]:
            raise NotFound(f"there is no memory {unknown[0]} to supersede", hint="See `holdfast memories`.")
        entry = table.entry(name)
        if name in table.shelf.waiting:
            checked = candidate = table.shelf.waiting[name]
            if candidate.suggests:
                return _apply(clone, candidate, table, reviewer)
            if reviewer.person and candidate.evidence:  # the reviewer has seen the diff
                checked = Candidate.of(candidate, evidence=revise.fresh_evidence(clone, candidate))
            settled = settle(clone, checked, wish, against)
            return _approve(clone, settled, entry, reviewer, was=candidate)
        if entry is None:
            tombstone = table.shelf.rejected[name]
            if not reviewer.person:
                when = f"{tombstone.rejected_at:%Y-%m-%d}"
                raise reviewer.refusal(f"{name} was rejected on {when}, so only a person may accept it now")
            candidate = Candidate.of(tombstone)
            settled = settle(clone, candidate, wish)
            return _approve(clone, settled, None, reviewer, was=candidate)
        compared = against or known(clone)
        return _accept_entry(clone, memory_state.by_hand(clone, entry), reviewer, wish, compared, again=again)


def _accept_entry(
    clone: Clone, entry: VisibleMemory, reviewer: Reviewer, wish: revise.ReviewerWish, held: KnownClaims, *, again: bool
) -> MemoryStanding:
    """Confirms an entry: unchanged, or with the reviewer's wish and current evidence."""
    memory, wanted = entry.memory, entry.memory
    by_hand = entry.sighting.origin == "edit" and wish.is_plain
    if isinstance(memory, Accepted):
        wanted = memory if by_hand else _as_wished(clone, memory, wish, held)
        memory_conflicts.refuse(one for one in held.conflicts(wanted) if one.status in memory_conflicts.STANDING)
    if by_hand:
        return revise.confirm(clone, entry, reviewer.approval if reviewer.person else "edit", reviewer, again=again)
    if wanted == memory:
        return revise.confirm(clone, entry, reviewer.approval, reviewer, again=again)
    revise.refuse_edit(entry, memory.id)
    if not reviewer.person:
        raise reviewer.refusal(f"only a person may confirm {memory.id}, whose evidence has changed")
    return revise.revise(clone, entry, wanted, reviewer, action="accept")


def _as_wished(clone: Clone, memory: Accepted, wish: revise.ReviewerWish, against: KnownClaims) -> Accepted:
    changed = wish.changes(memory, against.conflicts(memory) if wish.keep_both else ())
    changed["evidence"] = revise.fresh_evidence(clone, memory)
    new = Accepted.of(memory, **changed)
    if rules.is_expired(new, clone.clock()):
        raise BadInput(
            f"{memory.id} expired on {rules.iso(memory.expires_at or clone.clock())[:10]}",
            hint=f"Set a new date: holdfast review accept {memory.id} --expires 90d (or never)",
        )
    return new


def settle(
    clone: Clone, candidate: Candidate, wish: revise.ReviewerWish, against: KnownClaims | None = None
) -> Candidate:
    """Returns the candidate with the reviewer's wish; Contradicts if it still contradicts a current memory.

    A memory that only may contradict it refuses nothing and is added to the notes.
    """
    compared = against or known(clone)
    wanted = Candidate.of(candidate, **wish.changes(candidate, compared.conflicts(candidate)))
    memory_conflicts.refuse(compared.conflicts(wanted))
    clone.notes += (f"{one.sentence}; if only one is right: holdfast review undo" for one in compared.hints(wanted))
    return wanted


def reject(clone: Clone, identity: str, reason: str, reviewer: Reviewer) -> MemoryStanding:
    """Rejects a candidate; its tombstone stays, so that the same claim is not proposed again."""
    with candidates.locked(clone):
        table = snapshot.read_table(clone)
        name = table.meant(identity)
        if name not in table.shelf.ids:
            raise BadInput(
                f"{name} is accepted; only a candidate can be rejected",
                hint=f"Retire it instead: holdfast review retire {name}",
            )
        existing = table.shelf.rejected.get(name)
        tombstone = existing or _make_tombstone(clone, table.shelf.waiting[name], reason, reviewer)
        if existing is None or not decisions.ever(clone, name, "reject"):  # killed before the event
            decisions.record(clone, "reject", tombstone, reviewer=reviewer, reason=tombstone.reason or None)
        return MemoryStanding(tombstone, "rejected")


def join(clone: Clone, identity: str, into: str, reviewer: Reviewer) -> MemoryStanding:
    """Merges a candidate into another memory: its evidence is added there, and the candidate is deleted."""
    with candidates.locked(clone):
        table = snapshot.read_table(clone)
        name, other = table.meant(identity), table.meant(into, table.ids)
        if name not in table.shelf.waiting or name == other:
            raise BadInput(f"{name} is not a candidate that can be merged into {other}")
        candidate, entry = table.shelf.waiting[name], table.entry(other)
        if other in table.shelf.waiting:
            standing = _join_candidate(clone, candidate, table.shelf.waiting[other], reviewer)
        elif entry is None or not isinstance(entry.memory, Accepted):
            raise BadInput(f"{other} is not a current memory", hint="Merge into a candidate or an accepted memory.")
        elif not reviewer.person:
            raise reviewer.refusal(f"only a person may change {other}, which was accepted")
        else:
            revise.refuse_edit(entry, other)
            memory = Accepted.of(entry.memory, evidence=rules.join_evidence(entry.memory.evidence, candidate.evidence))
            replaced = ((name, memory_files.render(candidate)),)
            standing = revise.revise(clone, entry, memory, reviewer, action="join", taken=replaced)
        decisions.record(clone, "join", candidate, reviewer=reviewer, reason=f"merged into {other}")
        candidates.discard(clone, name)
        return standing


def _join_candidate(clone: Clone, candidate: Candidate, other: Candidate, reviewer: Reviewer) -> MemoryStanding:
    before = tuple((one.id, memory_files.render(one)) for one in (candidate, other))
    provenance = rules.unique([*other.provenance, *candidate.provenance])[: rules.MAX_ITEMS]
    evidence = rules.join_evidence(other.evidence, candidate.evidence)
    joined = Candidate.of(other, provenance=provenance, evidence=evidence)
    candidates.keep(clone, joined)
    decisions.record(clone, "propose", joined)
    undo.note(clone, undo.UndoStep("join", candidate.id, before), reviewer)
    return MemoryStanding(joined, "candidate")


def promote(
    clone: Clone,
    what: Candidate | Accepted | str | Mapping[str, Any],
    *,
    reviewer: Reviewer | None = None,
    threshold: float | None = None,
) -> MemoryStanding:
    """Approves with a reviewer, or without one if the settings' threshold and the evidence allow it.

    `what` is a memory, its id, or the fields of one to propose. If nobody may approve it, a candidate is left and
    NeedsReview names it.
    """
    if isinstance(what, Mapping):
        what = propose.propose(clone, **_fields(what))
    identity = what if isinstance(what, str) else what.id
    if reviewer is not None:
        return accept(clone, identity, reviewer, again=False)
    with candidates.locked(clone):
        table = snapshot.read_table(clone)
        name = table.meant(identity)
        entry = table.entry(name)
        if name not in table.shelf.waiting and entry and memory_state.is_approved(clone, table.seen, entry):
            path, blob = entry.sighting.path, entry.sighting.blob
            return MemoryStanding(entry.memory, rules.status(entry.memory), path=path, blob=blob)
        memory = table.shelf.waiting.get(name) or (entry.memory if entry else table.shelf.rejected[name])
        if why := _why_reviewer_needed(clone, memory, threshold):
            raise NeedsReview(f"{name} waits for review: {why}")
        if isinstance(memory, Candidate):
            return _approve(clone, memory, entry, None, was=memory)
        assert entry is not None
        return revise.confirm(clone, entry, "promote", None)


def _approve(
    clone: Clone, candidate: Candidate, entry: VisibleMemory | None, reviewer: Reviewer | None, *, was: Candidate
) -> MemoryStanding:
    """Writes the entry and its event, and deletes the candidate, as far as these are not done."""
    kind = reviewer.approval if reviewer else "promote"
    revise.need_evidence(clone, candidate, reviewer)
    on_their_word = reviewer.name if reviewer and reviewer.person and not candidate.evidence else None
    source = candidate.source or (f"person:{on_their_word}" if on_their_word else None)
    memory = Accepted.of(candidate, source=source)
    text = memory_files.render(memory)
    path = layout.entry_path(memory.type, slug(memory.statement), memory.id)
    if entry is None:
        clone.change(path, text)
    elif entry.sighting.text == text:  # killed before the event
        path = entry.sighting.path
    else:
        raise BadInput(
            f"{memory.id} already exists in {entry.sighting.path} with other words",
            hint=f"Reject the candidate: holdfast review reject {memory.id}",
        )
    blob = clone.repo.hash_blob(text.encode())
    if not decisions.has(clone, memory.id, kind, blob=blob):
        decisions.record(clone, kind, memory, reviewer=reviewer, blob=blob)
    notes = _elsewhere(candidate, clone.line().id)
    notes += candidates.changed(clone, was).get(candidate.id, ())
    taken = ((candidate.id, memory_files.render(was)),)
    undo.note(clone, undo.UndoStep("accept", memory.id, taken, path, after=text), reviewer)
    candidates.discard(clone, memory.id)
    trust = "T0" if kind == "accept" else "T2"
    return MemoryStanding(memory, "accepted", path=path, blob=blob, trust=trust, notes=notes)


def _apply(clone: Clone, candidate: Candidate, table: snapshot.ReviewTable, reviewer: Reviewer) -> MemoryStanding:
    """Applies a candidate's suggestion: retires another memory, or merges two."""
    action, *names = (candidate.suggests or "").split(":")
    found = [one for one in map(table.entry, names) if one is not None and isinstance(one.memory, Accepted)]
    if len(found) != len(names):
        raise NotFound(
            f"{' and '.join(names)}, named by {candidate.id}, are not current memories",
            hint=f"Reject it: holdfast review reject {candidate.id}",
        )
    if not reviewer.person:
        raise reviewer.refusal(f"only a person may {action} {names[0]}")
    taken = ((candidate.id, memory_files.render(candidate)),)
    if action == "merge":
        _merge_into(clone, found[0], found[1], reviewer)
    standing = revise.end(clone, found[0], candidate.because, reviewer, taken=taken)
    candidates.discard(clone, candidate.id)
    return standing


def _merge_into(clone: Clone, old: VisibleMemory, into: VisibleMemory, reviewer: Reviewer) -> None:
    """Adds the evidence and tags of one memory to another."""
    revise.refuse_edit(into, into.memory.id)
    evidence = rules.join_evidence(into.memory.evidence, old.memory.evidence)
    memory = Accepted.of(into.memory, evidence=evidence, tags=rules.unique([*into.memory.tags, *old.memory.tags]))
    if memory != into.memory:
        revise.revise(clone, into, memory, reviewer, action="merge")


def _make_tombstone(clone: Clone, candidate: Candidate, reason: str, reviewer: Reviewer) -> Rejected:
    first, more = rules.split_statement(clone.scan.text(reason))
    tombstone = Rejected.of(
        candidate, rejected_at=rules.moment(clone.clock().isoformat()), reason=f"{first}\n\n{more}".strip()
    )
    candidates.keep(clone, tombstone)
    undo.note(clone, undo.UndoStep("reject", candidate.id, ((candidate.id, memory_files.render(candidate)),)), reviewer)
    return tombstone


def _why_reviewer_needed(clone: Clone, candidate: Memory, threshold: float | None) -> str | None:
    """Returns why only a reviewer may approve it; None if the settings allow it."""
    if isinstance(candidate, Rejected):
        return f"it was rejected on {candidate.rejected_at:%Y-%m-%d}"
    if threshold is None:
        return "the settings do not allow automatic promotion"
    if candidate.confidence is None or candidate.confidence < threshold:
        return f"its confidence {candidate.confidence} is below {threshold:g}"
    if not candidate.evidence:
        return "it has no evidence"
    if isinstance(candidate, Candidate) and candidate.suggests:
        return "only a person may do what it suggests"
    if rules.is_expired(candidate, clone.clock()):
        return "it has expired"
    if lost := [f"{text} is {state}" for text, state in states(clone, candidate.evidence).items() if state != "holds"]:
        return lost[0]
    found = known(clone).conflicts(candidate)
    return found[0].sentence if found else None


def _elsewhere(candidate: Candidate, here: str) -> tuple[str, ...]:
    return () if candidate.line == here else (f"proposed on another line, {candidate.line}",)


_FIELDS = frozenset(rules.SHARED) | {"statement", "details"}


def _fields(given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the fields that a caller's mapping proposes; a source_run is evidence as well as source."""
    fields = dict(given)
    if run := fields.pop("source_run", None):
        fields.setdefault("source", f"run:{run}")
        fields["evidence"] = rules.unique([*fields.get("evidence", ()), f"run:{run}"])
    if unknown := sorted(fields.keys() - _FIELDS):
        hint = f"Known: {', '.join(sorted(_FIELDS))}."
        raise BadInput(f"a memory has no field {', '.join(map(str, unknown))}", hint=hint)
    if not fields.get("statement"):
        raise BadInput("statement is empty", hint="Say in one sentence what is known.")
    fields["kind"] = fields.pop("type", "fact")
    return fields
