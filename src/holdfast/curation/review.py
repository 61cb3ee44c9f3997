"""Review: a candidate becomes an entry or a tombstone, an entry is confirmed, two become one.

Each decision is a few steps, each durable before the next: the entry's text as a change that waits to be
published, then the event, then the candidate's file goes. A step finds out by itself whether it was done
before, so a command that was killed anywhere is completed by running it again.
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
    """The candidates of this clone, with how their evidence stands; damaged ones go to its notes."""
    shelf = candidates.read(clone)
    clone.notes.extend(f"left out: {error}" for error in shelf.broken)
    held = states(clone, (text for memory in shelf.waiting.values() for text in memory.evidence))
    here, changed = clone.line().id, candidates.changed(clone, *shelf.waiting.values())
    found = []
    for memory in shelf.waiting.values():
        receipts = tuple((text, held[text]) for text in memory.evidence)
        notes = _elsewhere(memory, here) + changed.get(memory.id, ())
        found.append(MemoryStanding(memory, "candidate", receipts=receipts, notes=notes))
    return found


def known(clone: Clone) -> KnownClaims:
    """All that a candidate is held against."""
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
    """Approve a candidate on the current line, or an entry as it stands, edited by hand or not.

    What contradicts something that stands is refused, unless the wish says how both are to be taken. `against` saves
    looking for it again, where many are decided at once. What was approved before is recorded again only if `again`.
    """
    wish = wish or revise.ReviewerWish()
    with candidates.locked(clone):
        there = snapshot.read_table(clone)
        name = there.meant(identity)
        if unknown := [old for old in wish.supersede if old not in there.entry_ids]:
            raise NotFound(f"there is no memory {unknown[0]} to supersede", hint="See `holdfast memories`.")
        entry = there.entry(name)
        if name in there.shelf.waiting:
            looked_at = candidate = there.shelf.waiting[name]
            if candidate.suggests:
                return _follow(clone, candidate, there, reviewer)
            if reviewer.person and candidate.evidence:  # whoever approves it has seen what changed meanwhile
                looked_at = Candidate.of(candidate, evidence=revise.fresh_evidence(clone, candidate))
            settled = settle(clone, looked_at, wish, against)
            return _approve(clone, settled, entry, reviewer, was=candidate)
        if entry is None:
            tombstone = there.shelf.rejected[name]
            if not reviewer.person:
                when = f"{tombstone.rejected_at:%Y-%m-%d}"
                raise reviewer.refusal(f"{name} was rejected on {when}, so only a person may accept it now")
            candidate = Candidate.of(tombstone)
            settled = settle(clone, candidate, wish)
            return _approve(clone, settled, None, reviewer, was=candidate)
        held = against or known(clone)
        return _accept_entry(clone, memory_state.by_hand(clone, entry), reviewer, wish, held, again=again)


def _accept_entry(
    clone: Clone, entry: VisibleMemory, reviewer: Reviewer, wish: revise.ReviewerWish, held: KnownClaims, *, again: bool
) -> MemoryStanding:
    """Confirm an entry: as it stands, or as the reviewer wishes it, with evidence as it is now."""
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
            hint=f"Say until when it holds: holdfast review accept {memory.id} --expires 90d (or never)",
        )
    return new


def settle(
    clone: Clone, candidate: Candidate, wish: revise.ReviewerWish, against: KnownClaims | None = None
) -> Candidate:
    """The candidate as the reviewer wishes it; Contradicts, if something still speaks against it.

    What may speak against it refuses nothing, and is said.
    """
    there = against or known(clone)
    wanted = Candidate.of(candidate, **wish.changes(candidate, there.conflicts(candidate)))
    memory_conflicts.refuse(there.conflicts(wanted))
    clone.notes += (f"{one.sentence}; if only one can hold: holdfast undo" for one in there.hints(wanted))
    return wanted


def reject(clone: Clone, identity: str, reason: str, reviewer: Reviewer) -> MemoryStanding:
    """Turn a candidate down; its tombstone stays, so that the same claim is not proposed again."""
    with candidates.locked(clone):
        there = snapshot.read_table(clone)
        name = there.meant(identity)
        if name not in there.shelf.ids:
            raise BadInput(
                f"{name} is accepted; only a candidate can be rejected",
                hint=f"Retire it instead: holdfast review retire {name}",
            )
        buried = there.shelf.rejected.get(name)
        tombstone = buried or _bury(clone, there.shelf.waiting[name], reason, reviewer)
        if buried is None or not decisions.ever(clone, name, "reject"):  # killed before the event
            decisions.record(clone, "reject", tombstone, reviewer=reviewer, reason=tombstone.reason or None)
        return MemoryStanding(tombstone, "rejected")


def join(clone: Clone, identity: str, into: str, reviewer: Reviewer) -> MemoryStanding:
    """A candidate says what another memory says: its evidence goes there, and the candidate goes."""
    with candidates.locked(clone):
        there = snapshot.read_table(clone)
        name, other = there.meant(identity), there.meant(into, there.ids)
        if name not in there.shelf.waiting or name == other:
            raise BadInput(f"{name} is no candidate that could be merged into {other}")
        candidate, entry = there.shelf.waiting[name], there.entry(other)
        if other in there.shelf.waiting:
            done = _join_candidate(clone, candidate, there.shelf.waiting[other], reviewer)
        elif entry is None or not isinstance(entry.memory, Accepted):
            raise BadInput(f"{other} does not stand here", hint="Merge into a candidate or an accepted memory.")
        elif not reviewer.person:
            raise reviewer.refusal(f"only a person may change {other}, which was accepted")
        else:
            revise.refuse_edit(entry, other)
            memory = Accepted.of(entry.memory, evidence=rules.join_evidence(entry.memory.evidence, candidate.evidence))
            taken = ((name, memory_files.render(candidate)),)
            done = revise.revise(clone, entry, memory, reviewer, action="join", taken=taken)
        decisions.record(clone, "join", candidate, reviewer=reviewer, reason=f"merged into {other}")
        candidates.discard(clone, name)
        return done


def _join_candidate(clone: Clone, candidate: Candidate, other: Candidate, reviewer: Reviewer) -> MemoryStanding:
    before = tuple((one.id, memory_files.render(one)) for one in (candidate, other))
    said = rules.unique([*other.provenance, *candidate.provenance])[: rules.MAX_ITEMS]
    evidence = rules.join_evidence(other.evidence, candidate.evidence)
    joined = Candidate.of(other, provenance=said, evidence=evidence)
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
    """Approve with a reviewer, or without one where the settings' threshold and the evidence allow it.

    `what` is a memory, its id, or the fields of one to propose. Where nobody may approve, a candidate
    is left and NeedsReview names it.
    """
    if isinstance(what, Mapping):
        what = propose.propose(clone, **_fields(what))
    identity = what if isinstance(what, str) else what.id
    if reviewer is not None:
        return accept(clone, identity, reviewer, again=False)
    with candidates.locked(clone):
        there = snapshot.read_table(clone)
        name = there.meant(identity)
        entry = there.entry(name)
        if name not in there.shelf.waiting and entry and memory_state.is_approved(clone, there.seen, entry):
            path, blob = entry.sighting.path, entry.sighting.blob
            return MemoryStanding(entry.memory, rules.status(entry.memory), path=path, blob=blob)
        memory = there.shelf.waiting.get(name) or (entry.memory if entry else there.shelf.rejected[name])
        if why := _why_not_alone(clone, memory, threshold):
            raise NeedsReview(f"{name} waits for review: {why}")
        if isinstance(memory, Candidate):
            return _approve(clone, memory, entry, None, was=memory)
        assert entry is not None
        return revise.confirm(clone, entry, "promote", None)


def _approve(
    clone: Clone, candidate: Candidate, entry: VisibleMemory | None, reviewer: Reviewer | None, *, was: Candidate
) -> MemoryStanding:
    """The entry, its event, and the candidate's end, as far as they are not done."""
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
            f"{memory.id} already stands in {entry.sighting.path} with other words",
            hint=f"Turn the candidate down: holdfast review reject {memory.id}",
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


def _follow(clone: Clone, candidate: Candidate, there: snapshot.ReviewTable, reviewer: Reviewer) -> MemoryStanding:
    """Do what a candidate suggests: say that another memory no longer holds, or that two are one."""
    action, *names = (candidate.suggests or "").split(":")
    found = [one for one in map(there.entry, names) if one is not None and isinstance(one.memory, Accepted)]
    if len(found) != len(names):
        raise NotFound(
            f"{' and '.join(names)}, of which {candidate.id} speaks, do not stand here",
            hint=f"Turn it down: holdfast review reject {candidate.id}",
        )
    if not reviewer.person:
        raise reviewer.refusal(f"only a person may {action} {names[0]}")
    taken = ((candidate.id, memory_files.render(candidate)),)
    if action == "merge":
        _take_over(clone, found[0], found[1], reviewer)
    done = revise.end(clone, found[0], candidate.because, reviewer, taken=taken)
    candidates.discard(clone, candidate.id)
    return done


def _take_over(clone: Clone, old: VisibleMemory, into: VisibleMemory, reviewer: Reviewer) -> None:
    """One memory takes up what another rests on and is about."""
    revise.refuse_edit(into, into.memory.id)
    evidence = rules.join_evidence(into.memory.evidence, old.memory.evidence)
    memory = Accepted.of(into.memory, evidence=evidence, tags=rules.unique([*into.memory.tags, *old.memory.tags]))
    if memory != into.memory:
        revise.revise(clone, into, memory, reviewer, action="merge")


def _bury(clone: Clone, candidate: Candidate, reason: str, reviewer: Reviewer) -> Rejected:
    said, more = rules.split_statement(clone.scan.text(reason))
    tombstone = Rejected.of(
        candidate, rejected_at=rules.moment(clone.clock().isoformat()), reason=f"{said}\n\n{more}".strip()
    )
    candidates.keep(clone, tombstone)
    undo.note(clone, undo.UndoStep("reject", candidate.id, ((candidate.id, memory_files.render(candidate)),)), reviewer)
    return tombstone


def _why_not_alone(clone: Clone, candidate: Memory, threshold: float | None) -> str | None:
    """Why nobody but a reviewer may approve it, or None."""
    if isinstance(candidate, Rejected):
        return f"it was rejected on {candidate.rejected_at:%Y-%m-%d}"
    if threshold is None:
        return "the settings allow no automatic promotion"
    if candidate.confidence is None or candidate.confidence < threshold:
        return f"its confidence {candidate.confidence} is below {threshold:g}"
    if not candidate.evidence:
        return "it cites nothing"
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
    """What a caller's mapping proposes; a source_run is evidence as well as source."""
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
