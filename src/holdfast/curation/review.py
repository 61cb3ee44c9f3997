"""Review: a candidate becomes an entry or a tombstone, an entry is confirmed or retired.

Each decision is a few steps, each durable before the next: the entry's text as a change that waits to be
published, then the event, then the candidate's file goes. A step finds out by itself whether it was done
before, so a command that was killed anywhere is completed by running it again.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.curation import candidates, decisions, facts
from holdfast.curation.candidates import Shelf
from holdfast.curation.decisions import Reviewer, Standing
from holdfast.curation.facts import Seen
from holdfast.curation.propose import propose
from holdfast.errors import BadInput, BrokenEntry, NeedsEvidence, NeedsReview, NotFound
from holdfast.git.clone import Clone
from holdfast.git.evidence import states
from holdfast.model import memory as rules
from holdfast.model.ids import pick, slug
from holdfast.model.memory import Accepted, Candidate, Memory, Rejected, Retired
from holdfast.store import entries, layout, pending
from holdfast.store.layout import Layout

__all__ = ["Reviewer", "Standing", "accept", "erased_elsewhere", "promote", "reject", "retire", "waiting"]


def waiting(clone: Clone) -> list[Standing]:
    """The candidates of this clone, with how their evidence stands; damaged ones go to its notes."""
    shelf = candidates.read(clone)
    clone.notes.extend(f"left out: {error}" for error in shelf.broken)
    held = states(clone, (text for memory in shelf.waiting.values() for text in memory.evidence))
    here, changed = clone.line().id, candidates.changed(clone, *shelf.waiting.values())
    return [
        Standing(
            memory,
            "candidate",
            receipts=tuple((text, held[text]) for text in memory.evidence),
            notes=_elsewhere(memory, here) + changed.get(memory.id, ()),
        )
        for memory in shelf.waiting.values()
    ]


def erased_elsewhere(clone: Clone) -> list[str]:
    """What another clone erased, as HEAD's log says, and this one still holds: hidden, but on the disk."""
    theirs = {name for name in clone.erased() if not _is_erased_here(clone, name)}
    if not theirs:
        return []
    held = {name for store in clone.stores for name in theirs if _keeps(store, name)}
    files = [*clone.repo.tree("HEAD", layout.MEMORY), *_kept_texts(clone)]
    held |= {name for name in theirs if any(path.endswith(f"-{name}.md") for path in files)}
    for event in clone.all_events():
        if event.body and event.kind != "erase" and clone.bodies.has(event.body):
            held |= theirs & {event.hash_self, event.target, event.run_id}
    return sorted(held)


def _is_erased_here(clone: Clone, name: str) -> bool:
    return any(os.path.lexists(os.path.join(store.erased, name)) for store in clone.stores)


def _keeps(store: Layout, name: str) -> bool:
    """Whether a store has a run's capsule or a candidate of this name."""
    return os.path.isdir(store.run(name)) or os.path.lexists(os.path.join(store.candidates, f"{name}.md"))


def _kept_texts(clone: Clone) -> list[str]:
    """The paths of which this clone keeps a text: one that waits, or one it published."""
    kept = (c for store in clone.stores for c in (*pending.waiting(store), *pending.published(store)))
    return [change.path for change in kept if change.text is not None]


def accept(clone: Clone, identity: str, reviewer: Reviewer) -> Standing:
    """Approve a candidate on the current line, or an entry as it stands, edited by hand or not."""
    return _accept(clone, identity, reviewer, again=True)


def _accept(clone: Clone, identity: str, reviewer: Reviewer, *, again: bool = False) -> Standing:
    with candidates.locked(clone):
        shelf = candidates.read(clone)
        seen, _ = facts.read(clone)
        name = _meant(identity, list(shelf.waiting), shelf, seen)
        if name in shelf.waiting:
            return _approve(clone, shelf.waiting[name], facts.by_id(seen, name), reviewer.approval, reviewer)
        entry = facts.by_id(seen, name)
        if name in shelf.rejected and entry is None:
            return _accept_after_all(clone, shelf.rejected[name], reviewer)
        assert entry is not None
        entry = facts.by_hand(clone, entry)
        kind = "edit" if entry.sighting.origin == "edit" and not reviewer.person else reviewer.approval
        return _confirm(clone, entry, kind, reviewer, again=again)


def reject(clone: Clone, identity: str, reason: str, reviewer: Reviewer) -> Standing:
    """Turn a candidate down; its tombstone stays, so that the same words are not proposed again."""
    with candidates.locked(clone):
        shelf = candidates.read(clone)
        seen, _ = facts.read(clone)
        name = _meant(identity, list(shelf.waiting), shelf, seen)
        if name not in shelf.ids:
            raise BadInput(
                f"{name} is accepted; only a candidate can be rejected",
                hint=f"Retire it instead: holdfast review retire {name}",
            )
        tombstone = shelf.rejected.get(name) or _bury(clone, shelf.waiting[name], reason)
        if not decisions.has(clone, name, "reject"):
            decisions.record(clone, "reject", tombstone, reviewer=reviewer, reason=tombstone.reason or None)
        return Standing(tombstone, "rejected")


def promote(
    clone: Clone,
    what: Candidate | Accepted | str | Mapping[str, Any],
    *,
    reviewer: Reviewer | None = None,
    threshold: float | None = None,
) -> Standing:
    """Approve with a reviewer, or without one where the settings' threshold and the evidence allow it.

    `what` is a memory, its id, or the fields of one to propose. Where nobody may approve, a candidate
    is left and NeedsReview names it.
    """
    if isinstance(what, Mapping):
        what = propose(clone, **_fields(what))
    identity = what if isinstance(what, str) else what.id
    if reviewer is not None:
        return _accept(clone, identity, reviewer)
    with candidates.locked(clone):
        shelf = candidates.read(clone)
        seen, _ = facts.read(clone)
        name = _meant(identity, list(shelf.waiting), shelf, seen)
        entry = facts.by_id(seen, name)
        if name not in shelf.waiting and entry and facts.is_approved(clone, seen, entry):
            return _standing(entry.memory, entry)
        memory = shelf.waiting.get(name) or (entry.memory if entry else shelf.rejected[name])
        if why := _why_not_alone(clone, memory, threshold):
            raise NeedsReview(f"{name} waits for review: {why}")
        if isinstance(memory, Candidate):
            return _approve(clone, memory, entry, "promote", None)
        assert entry is not None
        return _confirm(clone, entry, "promote", None)


def retire(clone: Clone, identity: str, reason: str, reviewer: Reviewer) -> Standing:
    """An entry is no longer held to be true: one line of its file says so, and an event why."""
    with candidates.locked(clone):
        shelf = candidates.read(clone)
        seen, _ = facts.read(clone)
        name = _meant(identity, [one.memory.id for one in seen], shelf, seen)
        entry = facts.by_id(seen, name)
        if entry is None:
            raise BadInput(
                f"{name} is a candidate; only what was accepted can be retired", hint="Reject it instead."
            )
        _refuse_clash(entry)
        if entry.sighting.origin == "edit":
            raise BadInput(
                f"{entry.sighting.path} holds your own edit, which is not overwritten",
                hint=f"Write `status: deprecated` there, then: holdfast review accept {name}",
            )
        text = _retired(entry)
        if text != entry.sighting.text:
            clone.change(entry.sighting.path, text)
        blob = clone.repo.hash_blob(text.encode())
        said = clone.scan.text(reason.strip())
        if not decisions.waits(clone, name, "retire", blob=blob):
            decisions.record(clone, "retire", entry.memory, reviewer=reviewer, blob=blob, reason=said or None)
        return Standing(Retired.of(entry.memory), "deprecated", path=entry.sighting.path, blob=blob)


def _meant(text: str, likely: list[str], shelf: Shelf, seen: Sequence[Seen]) -> str:
    """The memory a person means: any by its whole id, else the beginning of a likely one, else of any."""
    known = [*shelf.ids, *(one.memory.id for one in seen)]
    if text in known:
        return text
    try:
        return pick(text, likely)
    except NotFound:
        return pick(text, known)


def _approve(
    clone: Clone, candidate: Candidate, entry: Seen | None, kind: str, reviewer: Reviewer | None
) -> Standing:
    """The entry, its event, and the candidate's end, as far as they are not done."""
    _need_evidence(clone, candidate.id, candidate.evidence)
    memory = Accepted.of(candidate)
    text = entries.render(memory)
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
    candidates.discard(clone, memory.id)
    notes = _elsewhere(candidate, clone.line().id)
    notes += candidates.changed(clone, candidate).get(candidate.id, ())
    return Standing(memory, "accepted", path=path, blob=blob, trust=_trust(kind), notes=notes)


def _confirm(
    clone: Clone, entry: Seen, kind: str, reviewer: Reviewer | None, *, again: bool = False
) -> Standing:
    """Record that the text as it stands is approved; the file itself is not ours to write."""
    _refuse_clash(entry)
    memory, sighting = entry.memory, entry.sighting
    if isinstance(memory, Accepted):
        _need_evidence(clone, memory.id, memory.evidence)
    if sighting.origin == "edit":
        clone.change(sighting.path, sighting.text)  # publish commits the file as it stands
    asked = decisions.waits if again else decisions.has
    if not asked(clone, memory.id, kind, blob=sighting.blob):
        decisions.record(clone, kind, memory, reviewer=reviewer, blob=sighting.blob)
    return _standing(memory, entry, trust=_trust(kind))


def _accept_after_all(clone: Clone, tombstone: Rejected, reviewer: Reviewer) -> Standing:
    if not reviewer.person:
        raise NeedsReview(
            f"{tombstone.id} was rejected on {tombstone.rejected_at:%Y-%m-%d}",
            hint="Only a person may accept it after all.",
        )
    candidate = Candidate.of(tombstone, line=tombstone.line)
    return _approve(clone, candidate, None, reviewer.approval, reviewer)


def _bury(clone: Clone, candidate: Candidate, reason: str) -> Rejected:
    said, more = rules.split_statement(clone.scan.text(reason))
    tombstone = Rejected.of(
        candidate,
        line=candidate.line,
        rejected_at=rules.moment(clone.clock().isoformat()),
        reason=f"{said}\n\n{more}".strip(),
    )
    candidates.keep(clone, tombstone)
    return tombstone


def _retired(entry: Seen) -> str:
    """The entry's text with another status; the rest stays as people wrote it, if that reads back."""
    text = entries.with_status(entry.sighting.text, "deprecated")
    wanted = Retired.of(entry.memory)
    try:
        return text if entries.parse(text, entry.sighting.path) == wanted else entries.render(wanted)
    except BrokenEntry:
        return entries.render(wanted)


def _need_evidence(clone: Clone, name: str, evidence: tuple[str, ...]) -> None:
    if not evidence:
        raise NeedsEvidence(
            f"{name} cites nothing", hint="Propose the same words again with --evidence, then accept it."
        )
    for text, state in states(clone, evidence).items():
        if state in ("changed", "gone"):
            raise NeedsEvidence(
                f"{name} cites {text}, which {'has changed' if state == 'changed' else 'is not here'}",
                hint="Look again, then propose the same words with the evidence as it is now.",
            )


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
    if rules.is_expired(candidate, clone.clock()):
        return "it has expired"
    for text, state in states(clone, candidate.evidence).items():
        if state != "holds":
            return f"{text} is {state}"
    return None


def _refuse_clash(entry: Seen) -> None:
    if entry.sighting.clash is not None:
        raise BadInput(
            f"{entry.memory.id} was changed here and in the branch's history; neither is lost",
            hint=f"Write the text you want into {entry.sighting.path} and commit it.",
        )


def _standing(memory: Accepted | Retired, entry: Seen, *, trust: str | None = None) -> Standing:
    return Standing(
        memory, rules.status(memory), path=entry.sighting.path, blob=entry.sighting.blob, trust=trust
    )


def _elsewhere(candidate: Candidate, here: str) -> tuple[str, ...]:
    return () if candidate.line == here else (f"proposed on another line, {candidate.line}",)


def _trust(kind: str) -> str:
    return "T0" if kind == "accept" else "T2"


_FIELDS = frozenset(rules.SHARED) | {"statement", "details"}


def _fields(given: Mapping[str, Any]) -> dict[str, Any]:
    """What a caller's mapping proposes; a source_run is evidence as well as source."""
    fields = dict(given)
    run = fields.pop("source_run", None)
    if run:
        fields.setdefault("source", f"run:{run}")
        fields["evidence"] = rules.unique([*fields.get("evidence", ()), f"run:{run}"])
    if unknown := sorted(fields.keys() - _FIELDS):
        raise BadInput(
            f"a memory has no field {', '.join(map(str, unknown))}",
            hint=f"Known: {', '.join(sorted(_FIELDS))}.",
        )
    if not fields.get("statement"):
        raise BadInput("statement is empty", hint="Say in one sentence what is known.")
    fields["kind"] = fields.pop("type", "fact")
    return fields
