"""Changes current entries: revises one, confirms it with fresh evidence, or retires it.

Each act takes a few steps, each durable before the next: the entry's text as a pending change, then the event. A step
finds out by itself whether it was done before, so a command that was killed at any point is completed by running it
again.
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
from holdfast.model.evidence import OF_FILES
from holdfast.model.memory import Accepted, Candidate, Memory, Retired
from holdfast.store import markdown_document, memory_files
from holdfast.values import frozen, replace

PERSONAL = ("decision", "assumption", "invariant")  # these need no evidence if a person approves them
Taken = tuple[tuple[str, str], ...]  # candidates: id and text


@frozen(kw_only=True)
class ReviewerWish:
    """The changes that a reviewer makes while accepting a memory."""

    supersede: tuple[str, ...] = ()
    keep_both: bool = False  # keep the memories that it seems to contradict
    applies_to: tuple[str, ...] | None = None
    expires_at: datetime | None = None
    no_expiry: bool = False

    @property
    def is_plain(self) -> bool:
        return self == ReviewerWish()

    def changes(self, memory: Memory, conflicts: Sequence[MemoryConflict] = ()) -> dict[str, Any]:
        """Returns the fields that it changes."""
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
    """Approves an entry with new words or fields; the file keeps its path.

    `taken` are candidates that the change replaces; an undo restores them.
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
    """Records that the current text is approved; the file itself is not written.

    A program's approval neither adds to a person's nor withdraws it.
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
        clone.change(sighting.path, after)  # publish commits the file unchanged
    is_recorded = decisions.waits if again else decisions.has
    if is_recorded(clone, memory.id, kind, blob=sighting.blob):
        return replace(standing, notes=(decisions.ALREADY,)) if stood and before is not None else standing
    decisions.record(clone, kind, memory, reviewer=reviewer, blob=sighting.blob)
    undo.note(clone, undo.UndoStep("accept", memory.id, (), sighting.path, before, after, stood=stood), reviewer)
    return standing


def fresh_evidence(clone: Clone, memory: Memory) -> tuple[str, ...]:
    """Returns the current receipts of a memory that a person checked and still holds."""
    evidence_states = states(clone, memory.evidence)
    fresh = []
    for text in memory.evidence:
        is_changed = evidence_states[text] in ("changed", "gone") and text.startswith(OF_FILES)
        fresh.append(recite(clone, text) if is_changed else text)
        if fresh[-1] is None:
            raise NeedsEvidence(
                f"{memory.id} cites {text}, which no longer exists",
                hint=f"Cite its current evidence: holdfast edit {memory.id} --evidence RECEIPT",
            )
    return rules.unique(filter(None, fresh))


def edit(clone: Clone, identity: str, changes: Mapping[str, Any], reviewer: Reviewer) -> MemoryStanding:
    """Changes words or fields of a candidate, or of an entry; the author of an entry's change approves the new text."""
    with candidates.locked(clone):
        table = snapshot.read_table(clone)
        name = table.meant(identity)
        if name in table.shelf.waiting:
            old = table.shelf.waiting[name]
            new = Candidate.of(old, **changes)
            if new != old:
                candidates.keep(clone, new)
                decisions.record(clone, "propose", new, reviewer=reviewer, action="edit")
                undo.note(clone, undo.UndoStep("edit", new.id, ((old.id, memory_files.render(old)),)), reviewer)
            return MemoryStanding(new, "candidate")
        entry = table.entry(name)
        if entry is None:
            raise BadInput(f"{name} was rejected", hint=f"Accept it now: holdfast review accept {name}")
        refuse_edit(entry, name)
        if not reviewer.person:
            raise reviewer.refusal(
                f"only a person may change {name}, which was accepted",
                hint=f'Propose a replacement: holdfast supersede {name} "STATEMENT"',
            )
        memory = type(entry.memory).of(entry.memory, **changes)
        if isinstance(memory, Accepted):
            need_evidence(clone, memory, reviewer)
            _refuse_contradiction(clone, entry.memory, memory)
        return revise(clone, entry, memory, reviewer)


def _refuse_contradiction(clone: Clone, old: Memory, new: Accepted) -> None:
    """Refuses to edit an entry into a text that could not have been accepted."""
    if (old.statement, old.applies_to) != (new.statement, new.applies_to):
        current = KnownClaims(memory_state.list_memories(clone, clone.clock()).standings)
        for found in (one for one in current.conflicts(new) if one.status in STANDING):
            hint = f'Propose it as a replacement: holdfast supersede {new.id} "STATEMENT"'
            raise Contradicts(found.sentence, hint=hint)


def retire(clone: Clone, identity: str, reason: str, reviewer: Reviewer) -> MemoryStanding:
    """Retires an entry that is no longer true: a field of its file changes, and an event gives the reason."""
    with candidates.locked(clone):
        table = snapshot.read_table(clone)
        name = table.meant(identity, table.entry_ids)
        entry = table.entry(name)
        if entry is None:
            raise BadInput(f"{name} is a candidate; only an accepted memory can be retired", hint="Reject it instead.")
        return end(clone, entry, reason, reviewer)


def end(clone: Clone, entry: VisibleMemory, reason: str, reviewer: Reviewer, *, taken: Taken = ()) -> MemoryStanding:
    """Retires an entry; the caller holds the candidates' lock."""
    name = entry.memory.id
    refuse_clash(entry)
    if entry.sighting.origin == "edit":
        raise BadInput(
            f"{entry.sighting.path} contains your own edit, which is not overwritten",
            hint=f"Write `status: deprecated` there, then: holdfast review accept {name}",
        )
    text, before = _retired_text(entry), _file_text(entry)
    after = entry.rewritten(text)
    if text != entry.sighting.text:
        clone.change(entry.sighting.path, after)
        undo.follow(clone, entry.file or entry.sighting, after)
    blob = clone.repo.hash_blob(text.encode())
    cleaned_reason = clone.scan.text(reason.strip())
    if not decisions.waits(clone, name, "retire", blob=blob):
        decisions.record(clone, "retire", entry.memory, reviewer=reviewer, blob=blob, reason=cleaned_reason or None)
        undo.note(clone, undo.UndoStep("retire", name, taken, entry.sighting.path, before, after), reviewer)
    return MemoryStanding(Retired.of(entry.memory), "deprecated", path=entry.sighting.path, blob=blob)


def _retired_text(entry: VisibleMemory) -> str:
    """Returns the entry's text with the new status; the rest stays as people wrote it, if it can be read back."""
    text = memory_files.with_status(entry.sighting.text, "deprecated")
    wanted = Retired.of(entry.memory)
    written = markdown_document.laid_out(memory_files.render(wanted), entry.sighting.text)
    try:
        return text if memory_files.parse(text, entry.sighting.path) == wanted else written
    except BrokenEntry:
        return written


def need_evidence(clone: Clone, memory: Memory, reviewer: Reviewer | None) -> None:
    """Refuses a memory without evidence or with changed evidence; a person's decision needs none."""
    by_word = reviewer if memory.type in PERSONAL else None
    if not memory.evidence and by_word is not None and not by_word.person:
        cite = isinstance(memory, Candidate)  # an agent may not edit an entry
        raise by_word.uncounted(f"{memory.id} has no evidence, so only a person can accept it", cite=cite)
    if not memory.evidence and by_word is None:
        hint = "Propose the same words again with --evidence, then accept it."
        raise NeedsEvidence(f"{memory.id} has no evidence", hint=hint)
    for text, state in states(clone, memory.evidence).items():
        if state in ("changed", "gone"):
            raise NeedsEvidence(
                f"{memory.id} cites {text}, which {'has changed' if state == 'changed' else 'no longer exists'}",
                hint="Check it, then propose the same words with current evidence.",
            )


def refuse_clash(entry: VisibleMemory) -> None:
    if entry.sighting.clash is not None:
        raise BadInput(
            f"{entry.memory.id} was changed here and in the branch's history; neither is lost",
            hint=f"Write the text you want into {entry.sighting.path} and commit it.",
        )


def refuse_edit(entry: VisibleMemory, name: str) -> None:
    """Refuses to overwrite a file that somebody edited by hand."""
    if entry.sighting.origin == "edit" or entry.sighting.edited not in (None, _file_text(entry)):
        raise BadInput(
            f"{entry.sighting.path} contains your own edit, which is not overwritten",
            hint=f"Accept the edit first: holdfast review accept {name}",
        )


def _file_text(entry: VisibleMemory) -> str:
    return entry.rewritten(entry.sighting.text)
