"""Changing what stands: an entry is revised, confirmed with fresh evidence, or retired.

Each act is a few steps, each durable before the next: the entry's text as a change that waits to be
published, then the event. A step finds out by itself whether it was done before, so a command that was killed
anywhere is completed by running it again.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from holdfast.curation import candidates, decisions, memory_state, snapshot, undo
from holdfast.curation.decisions import MemoryStanding, Reviewer
from holdfast.curation.memory_conflicts import STANDING, KnownClaims, MemoryConflict
from holdfast.curation.memory_state import VisibleMemory
from holdfast.errors import BadInput, BrokenEntry, Contradicts, NeedsEvidence
from holdfast.git.clone import Clone
from holdfast.git.evidence_check import states
from holdfast.git.span_history import recite
from holdfast.model import memory as rules
from holdfast.model.memory import Accepted, Candidate, Memory, Retired
from holdfast.store import markdown_document, memory_files
from holdfast.values import frozen

PERSONAL = ("decision", "assumption", "invariant")  # a person's word is enough for these
_SPANS = ("file:", "lines:", "symbol:")
Taken = tuple[tuple[str, str], ...]  # candidates: id and text


@frozen(kw_only=True)
class ReviewerWish:
    """What a reviewer changes about a memory while accepting it."""

    supersede: tuple[str, ...] = ()
    keep_both: bool = False  # beside whatever it seems to contradict
    applies_to: tuple[str, ...] | None = None
    expires_at: datetime | None = None
    no_expiry: bool = False

    @property
    def is_plain(self) -> bool:
        return self == ReviewerWish()

    def changes(self, memory: Memory, conflicts: Sequence[MemoryConflict] = ()) -> dict[str, Any]:
        """The fields that it changes."""
        changed: dict[str, Any] = {}
        if self.supersede:
            changed["supersedes"] = rules.unique([*memory.supersedes, *self.supersede])
        if self.keep_both:
            beside = [c.other.id for c in conflicts if c.other.id not in self.supersede]
            changed["compatible_with"] = rules.unique([*memory.compatible_with, *beside])
        if self.applies_to is not None:
            changed["applies_to"] = rules.unique(self.applies_to)
        if self.expires_at is not None or self.no_expiry:
            changed["expires_at"] = self.expires_at
        return changed


def revise(
    clone: Clone, entry: VisibleMemory, memory: Memory, reviewer: Reviewer, *, action: str = "edit", taken: Taken = ()
) -> MemoryStanding:
    """An entry in new words or with other fields, approved as it is now; the file keeps its place.

    `taken` are candidates that go with it, to be put back if it is undone.
    """
    refuse_clash(entry)
    text = markdown_document.laid_out(memory_files.render(memory), entry.sighting.text)
    blob, kind = clone.repo.hash_blob(text.encode()), reviewer.approval
    before, after = _file_text(entry), entry.rewritten(text)
    if after != before:
        clone.change(entry.sighting.path, after)
        undo.follow(clone, entry.file or entry.sighting, after)
    if not decisions.waits(clone, memory.id, kind, blob=blob):
        decisions.record(clone, kind, memory, reviewer=reviewer, blob=blob)
    undo.note(clone, undo.UndoStep(action, memory.id, taken, entry.sighting.path, before, after), reviewer)
    trust = "T0" if reviewer.person else "T2"
    return MemoryStanding(memory, rules.status(memory), path=entry.sighting.path, blob=blob, trust=trust)


def confirm(
    clone: Clone, entry: VisibleMemory, kind: str, reviewer: Reviewer | None, *, again: bool = False
) -> MemoryStanding:
    """Record that the text as it stands is approved; the file itself is not ours to write.

    A program's word adds nothing to what a person approved already, and takes nothing from it.
    """
    refuse_clash(entry)
    memory, sighting = entry.memory, entry.sighting
    if isinstance(memory, Accepted):
        need_evidence(clone, memory, reviewer)
    stood = memory_state.tiers(clone, [entry])[memory.id, sighting.blob] == memory_state.T0
    tier = memory_state.T0 if stood or kind == "accept" else memory_state.T2
    standing = MemoryStanding(memory, rules.status(memory), path=sighting.path, blob=sighting.blob, trust=tier)
    if stood and kind == "promote":
        return standing
    after = _file_text(entry)
    before = None if sighting.origin == "edit" else after
    if before is None:
        clone.change(sighting.path, after)  # publish commits the file as it stands
    asked = decisions.waits if again else decisions.has
    if not asked(clone, memory.id, kind, blob=sighting.blob):
        decisions.record(clone, kind, memory, reviewer=reviewer, blob=sighting.blob)
        undo.note(clone, undo.UndoStep("accept", memory.id, (), sighting.path, before, after, stood=stood), reviewer)
    return standing


def fresh_evidence(clone: Clone, memory: Memory) -> tuple[str, ...]:
    """The receipts as they are now, for a memory that was looked at again and still holds."""
    held = states(clone, memory.evidence)
    fresh = []
    for text in memory.evidence:
        moved = held[text] in ("changed", "gone") and text.startswith(_SPANS)
        fresh.append(recite(clone, text) if moved else text)
        if fresh[-1] is None:
            raise NeedsEvidence(
                f"{memory.id} cites {text}, which is not there any more",
                hint=f"Cite what shows it now: holdfast edit {memory.id} --evidence RECEIPT",
            )
    return rules.unique(filter(None, fresh))


def edit(clone: Clone, identity: str, changes: Mapping[str, Any], reviewer: Reviewer) -> MemoryStanding:
    """Other words or fields for a candidate, or for an entry; whoever changes an entry approves its new text."""
    with candidates.locked(clone):
        there = snapshot.read_table(clone)
        name = there.meant(identity)
        if name in there.shelf.waiting:
            old = there.shelf.waiting[name]
            new = Candidate.of(old, **changes)
            if new != old:
                candidates.keep(clone, new)
                decisions.record(clone, "propose", new, reviewer=reviewer, action="edit")
                undo.note(clone, undo.UndoStep("edit", new.id, ((old.id, memory_files.render(old)),)), reviewer)
            return MemoryStanding(new, "candidate")
        entry = there.entry(name)
        if entry is None:
            raise BadInput(f"{name} was rejected", hint=f"Accept it after all: holdfast review accept {name}")
        refuse_edit(entry, name)
        if not reviewer.person:
            raise reviewer.refusal(
                f"only a person may change {name}, which was accepted",
                hint=f'Propose what takes its place: holdfast supersede {name} "STATEMENT"',
            )
        memory = type(entry.memory).of(entry.memory, **changes)
        if isinstance(memory, Accepted):
            need_evidence(clone, memory, reviewer)
            _refuse_contradiction(clone, entry.memory, memory)
        return revise(clone, entry, memory, reviewer)


def _refuse_contradiction(clone: Clone, old: Memory, new: Accepted) -> None:
    """An entry must not be edited into what it could not have been accepted as."""
    if (old.statement, old.applies_to) != (new.statement, new.applies_to):
        there = KnownClaims(memory_state.list_memories(clone, clone.clock()).standings)
        for found in (one for one in there.conflicts(new) if one.status in STANDING):
            hint = f'Propose it, and say how both are meant: holdfast supersede {new.id} "STATEMENT"'
            raise Contradicts(found.sentence, hint=hint)


def retire(clone: Clone, identity: str, reason: str, reviewer: Reviewer) -> MemoryStanding:
    """An entry is no longer held to be true: one line of its file says so, and an event why."""
    with candidates.locked(clone):
        there = snapshot.read_table(clone)
        name = there.meant(identity, there.entry_ids)
        entry = there.entry(name)
        if entry is None:
            raise BadInput(f"{name} is a candidate; only what was accepted can be retired", hint="Reject it instead.")
        return end(clone, entry, reason, reviewer)


def end(clone: Clone, entry: VisibleMemory, reason: str, reviewer: Reviewer, *, taken: Taken = ()) -> MemoryStanding:
    """Retire an entry, under the shelf's lock."""
    name = entry.memory.id
    refuse_clash(entry)
    if entry.sighting.origin == "edit":
        raise BadInput(
            f"{entry.sighting.path} holds your own edit, which is not overwritten",
            hint=f"Write `status: deprecated` there, then: holdfast review accept {name}",
        )
    text, before = _retired(entry), _file_text(entry)
    after = entry.rewritten(text)
    if text != entry.sighting.text:
        clone.change(entry.sighting.path, after)
        undo.follow(clone, entry.file or entry.sighting, after)
    blob = clone.repo.hash_blob(text.encode())
    said = clone.scan.text(reason.strip())
    if not decisions.waits(clone, name, "retire", blob=blob):
        decisions.record(clone, "retire", entry.memory, reviewer=reviewer, blob=blob, reason=said or None)
        undo.note(clone, undo.UndoStep("retire", name, taken, entry.sighting.path, before, after), reviewer)
    return MemoryStanding(Retired.of(entry.memory), "deprecated", path=entry.sighting.path, blob=blob)


def _retired(entry: VisibleMemory) -> str:
    """The entry's text with another status; the rest stays as people wrote it, if that reads back."""
    text = memory_files.with_status(entry.sighting.text, "deprecated")
    wanted = Retired.of(entry.memory)
    written = markdown_document.laid_out(memory_files.render(wanted), entry.sighting.text)
    try:
        return text if memory_files.parse(text, entry.sighting.path) == wanted else written
    except BrokenEntry:
        return written


def need_evidence(clone: Clone, memory: Memory, reviewer: Reviewer | None) -> None:
    """Refuse what cites nothing or what has changed; what people decide rests on their word."""
    by_word = reviewer if memory.type in PERSONAL else None
    if not memory.evidence and by_word is not None and not by_word.person:
        cite = isinstance(memory, Candidate)  # an agent may not edit an entry
        raise by_word.uncounted(f"{memory.id} cites nothing, so only a person can accept it", cite=cite)
    if not memory.evidence and by_word is None:
        hint = "Propose the same words again with --evidence, then accept it."
        raise NeedsEvidence(f"{memory.id} cites nothing", hint=hint)
    for text, state in states(clone, memory.evidence).items():
        if state in ("changed", "gone"):
            raise NeedsEvidence(
                f"{memory.id} cites {text}, which {'has changed' if state == 'changed' else 'is not here'}",
                hint="Look again, then propose the same words with the evidence as it is now.",
            )


def refuse_clash(entry: VisibleMemory) -> None:
    if entry.sighting.clash is not None:
        raise BadInput(
            f"{entry.memory.id} was changed here and in the branch's history; neither is lost",
            hint=f"Write the text you want into {entry.sighting.path} and commit it.",
        )


def refuse_edit(entry: VisibleMemory, name: str) -> None:
    """What somebody has open in an editor is not overwritten."""
    if entry.sighting.origin == "edit" or entry.sighting.edited not in (None, _file_text(entry)):
        raise BadInput(
            f"{entry.sighting.path} holds your own edit, which is not overwritten",
            hint=f"Take it first: holdfast review accept {name}",
        )


def _file_text(entry: VisibleMemory) -> str:
    return entry.rewritten(entry.sighting.text)
