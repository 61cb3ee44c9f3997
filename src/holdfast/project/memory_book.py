"""Proposes, approves, rejects, changes and retires memories."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from holdfast.curation import decisions, memory_health, memory_state, propose, review, review_queue, revise, undo
from holdfast.errors import BadInput, HoldfastError, NeedsReview, NotFound
from holdfast.git import approvals, evidence_check
from holdfast.model import memory
from holdfast.project.concern import Concern
from holdfast.recall import passage as passages
from holdfast.store import statistics, tally
from holdfast.values import frozen

if TYPE_CHECKING:
    from holdfast.curation import memory_conflicts
    from holdfast.curation.review_queue import QueueItem, ReviewQueue
    from holdfast.model.evidence import Provenance


NEVER = "never"
_MEMORY_EVENTS = ("propose", "accept", "promote", "edit", "join", "reject", "retire")
_SEEN = ("type", "statement", "details", "tags", "applies_to", "supersedes", "compatible_with", "expires_at")
_WISHED = {"supersede": "supersedes", "keep_both": "compatible_with", "expires": "expires_at"}


@frozen
class Decided:
    """The result of many decisions at once."""

    done: tuple[decisions.MemoryStanding, ...]
    left: tuple[tuple[str, str], ...]  # id and why it was not decided
    hints: tuple[str, ...] = ()  # what to do about those


@frozen
class MemoryEvent:
    """Something that happened to a memory."""

    ts: str
    kind: str  # propose, accept, promote, edit, join, reject or retire
    by: str  # who decided; "" if this clone has not heard
    reason: str
    branch: str | None
    undone: bool  # whether it took another decision back


class MemoryBook(Concern):
    """The project's memories, and the candidates that wait for a decision."""

    subject = "memory"

    def facts(self) -> memory_state.MemoryListing:
        """Returns all facts by state: trusted, stale, unreviewed, expired, superseded, retired, and so on."""
        return memory_state.list_memories(self.clone, self.clone.clock(), kind="fact")

    def knowledge(self, *, kind: str | None = None) -> memory_state.MemoryListing:
        """Returns all memories by state, or those of a kind: decision, assumption, invariant, fact or dead-end."""
        return memory_state.list_memories(self.clone, self.clone.clock(), kind=kind)

    def remember(
        self,
        statement: str,
        *,
        kind: str = "fact",
        why: str = "",
        falsified_by: str = "",
        instead: str = "",
        details: str = "",
        evidence: Iterable[str] = (),
        confidence: float | None = None,
        layer: str | None = None,
        tags: Iterable[str] = (),
        applies_to: Iterable[str] = (),
        supersedes: Iterable[str] = (),
        expires: str | datetime | None = None,
        source: str | None = None,
        provenance: Iterable[str] = (),
        id: str | None = None,  # noqa: A002 - the field's own name
        accept: bool = False,
        reviewer: str | None = None,
    ) -> decisions.MemoryStanding:
        """Proposes a memory; it counts after its review, or at once with `accept`.

        `kind` is decision, assumption, invariant, fact or dead-end. `evidence` names runs, commits,
        tracked paths, their lines (path:10-20) or symbols (path#name); `expires` is a time, or 30d.
        """
        made = propose.propose(
            self.clone,
            statement=statement,
            kind=kind,
            details=memory.labelled(kind, details, why=why, falsified_by=falsified_by, instead=instead),
            evidence=[evidence] if isinstance(evidence, str) else evidence,
            confidence=confidence,
            layer=layer,
            tags=tags,
            applies_to=applies_to,
            supersedes=supersedes,
            expires_at=expires,
            source=source,
            provenance=provenance,
            id=id,
        )
        self.project.views.render_quietly("candidates")
        if isinstance(made, memory.Accepted):
            return self._known_already(made, evidence, accept=accept, reviewer=reviewer)
        if accept:
            try:
                return self.accept(made.id, reviewer=reviewer)
            except HoldfastError:
                self.clone.notes.append(f"{made.id} is stored as a candidate and waits for review")
                raise
        if self.settings.auto_promote is not None:
            with contextlib.suppress(NeedsReview):
                return self.promote(made.id)
        return next(one for one in review.waiting(self.clone) if one.id == made.id)

    def _known_already(
        self, known: memory.Accepted, evidence: Iterable[str], *, accept: bool, reviewer: str | None
    ) -> decisions.MemoryStanding:
        """Handles a statement that is already accepted: a person who accepts it again adds the new evidence."""
        cited = map(
            str, evidence_check.resolve_evidence(self.clone, [evidence] if isinstance(evidence, str) else evidence)
        )
        joined = memory.join_evidence(known.evidence, cited)
        if joined == known.evidence and accept:
            return self.accept(known.id, reviewer=reviewer)
        if joined == known.evidence:
            self.clone.notes.append(f"{known.id} says this already; nothing new was proposed")
            return self.get(known.id)
        if accept and self.project.is_person:
            changes = {"evidence": joined}
            return self.shown(revise.edit(self.clone, known.id, changes, self._reviewer(reviewer)))
        self.clone.notes.append(
            f"{known.id} says this already; the log has the new evidence, and a person may add it: "
            f"holdfast remember … --evidence … --accept"
        )
        return self.get(known.id)

    def supersede(self, identity: str, statement: str, **fields: Any) -> decisions.MemoryStanding:
        """Proposes a memory that replaces another one; fields as `remember` takes them."""
        old = self._entry(identity)
        fields.setdefault("kind", old.memory.type)
        fields.setdefault("applies_to", old.memory.applies_to)
        return self.remember(statement, supersedes=[old.id], **fields)

    def get(self, identity: str) -> decisions.MemoryStanding:
        """Returns one memory with its state, by its id or the start of it; candidates and erased ones too."""
        there = review_queue.every(self.clone, self.clone.clock())
        return there[review_queue.pick(identity, there)]

    def _entry(self, identity: str) -> decisions.MemoryStanding:
        """Returns an accepted memory before a candidate: an id of a suggestion about it may start the same."""
        there = review_queue.every(self.clone, self.clone.clock())
        if identity in there:
            return there[identity]
        entries = [name for name, one in there.items() if one.status not in ("candidate", "rejected")]
        with contextlib.suppress(NotFound):
            return there[review_queue.pick(identity, entries)]
        return there[review_queue.pick(identity, there)]

    def promote(
        self, fact: Mapping[str, Any] | memory.Candidate | memory.Accepted | str, *, reviewer: str | None = None
    ) -> decisions.MemoryStanding:
        """Approves a fact, given as its fields, as a value or by its id.

        Without a reviewer the threshold of the settings decides; below it the fact stays a candidate, and NeedsReview
        is raised.
        """
        who = self._reviewer(reviewer) if reviewer is not None else None
        if isinstance(fact, Mapping) and isinstance(fact.get("evidence"), str):
            fact = {**fact, "evidence": [fact["evidence"]]}
        done = review.promote(self.clone, fact, reviewer=who, threshold=self.settings.auto_promote)
        return self.shown(done)

    def candidates(self) -> list[decisions.MemoryStanding]:
        """Returns what waits for a decision: candidates, hand edits, and stale or expired memories.

        The notes name memories that another clone erased and this one still has.
        """
        return [item.standing for item in self.queue().items]

    def waiting(self) -> int:
        """Returns how many items wait for a person, as `status` counts them."""
        return review_queue.ReviewQueue(self.clone, self.clone.clock()).waiting

    def queue(self) -> ReviewQueue:
        """Returns the review queue: each item with the reason why it waits."""
        for name in memory_state.erased_elsewhere(self.clone):
            told = f"{name} was erased in another clone and is still held here; to delete it: holdfast erase {name}"
            if told not in self.clone.notes:
                self.clone.notes.append(told)
        return review_queue.ReviewQueue(self.clone, self.clone.clock())

    def accept(
        self,
        identity: str,
        *,
        supersede: Iterable[str] = (),
        keep_both: bool = False,
        applies_to: Iterable[str] | None = None,
        expires: str | datetime | None = None,
        reviewer: str | None = None,
    ) -> decisions.MemoryStanding:
        """Approves a candidate, an edited memory file, or a memory whose evidence changed.

        Raises Contradicts if an accepted memory contradicts it, unless `supersede` or `keep_both` (with
        `applies_to`) settles that.
        """
        wish = revise.ReviewerWish(
            supersede=tuple(self.get(name).id for name in supersede),
            keep_both=keep_both,
            applies_to=None if applies_to is None else tuple(applies_to),
            expires_at=None if expires == NEVER else propose.expiry(self.clone, expires),
            no_expiry=expires == NEVER,
        )
        return self.shown(review.accept(self.clone, identity, self._reviewer(reviewer), wish=wish))

    def accept_as_seen(self, item: QueueItem, **wish: Any) -> decisions.MemoryStanding:
        """Approves what somebody looked at, and nothing else; fields as `accept` takes them."""
        done = self.accept(item.id, **wish)
        seen, now, wished = item.standing.memory, done.memory, {_WISHED.get(name, name) for name in wish}
        if item.reason == "proposed" and any(getattr(seen, n) != getattr(now, n) for n in _SEEN if n not in wished):
            self.undo()
            raise NeedsReview(
                f"{item.id} was changed while you looked at it, so it is not approved", hint="Read it again."
            )
        return done

    def accept_all(self, items: Iterable[QueueItem], *, reviewer: str | None = None) -> Decided:
        """Approves many at once; those with a contradiction or without evidence stay and are named."""
        who, against = self._reviewer(reviewer), self.queue().against

        def accept(item: QueueItem) -> decisions.MemoryStanding:
            done = review.accept(self.clone, item.id, who, against=against)
            against.add(done)
            return done

        return self.shown(_each(items, accept))

    def reject(self, identity: str, *, reason: str = "", reviewer: str | None = None) -> decisions.MemoryStanding:
        """Rejects a candidate; the same claim is not proposed again, even in other words."""
        return self.shown(review.reject(self.clone, identity, reason, self._reviewer(reviewer)))

    def reject_all(self, items: Iterable[QueueItem], *, reason: str = "", reviewer: str | None = None) -> Decided:
        """Rejects many at once; items that are not candidates stay and are named."""
        who = self._reviewer(reviewer)
        return self.shown(_each(items, lambda item: review.reject(self.clone, item.id, reason, who)))

    def retire(self, identity: str, *, reason: str = "", reviewer: str | None = None) -> decisions.MemoryStanding:
        """Marks an accepted memory as no longer true; its file stays and records that."""
        return self.shown(revise.retire(self.clone, identity, reason, self._reviewer(reviewer)))

    def deprecate(self, identity: str, *, reason: str = "", reviewer: str | None = None) -> decisions.MemoryStanding:
        """Retires an accepted memory if a person asks; from an agent it becomes a suggestion in review."""
        there = self._entry(identity)
        if self.project.is_person or (
            there.trust != "T0" and there.status not in (approvals.EDITED, approvals.UNCHECKED)
        ):
            return self.retire(there.id, reason=reason, reviewer=reviewer)
        made = propose.propose(
            self.clone,
            statement=f"{there.id} no longer holds: {there.memory.statement}",
            kind=there.memory.type,
            suggests=f"deprecate:{there.id}",
            because=reason,
        )
        return self.shown(decisions.MemoryStanding(made, "candidate"))

    def edit(
        self,
        identity: str,
        *,
        statement: str | None = None,
        details: str | None = None,
        evidence: Iterable[str] | None = None,
        expires: str | datetime | None = None,
        reviewer: str | None = None,
        **fields: Any,
    ) -> decisions.MemoryStanding:
        """Changes the text or fields of a candidate, or of an accepted memory, which approves it again.

        Further fields: layer, tags, confidence, applies_to, source.
        """
        if unknown := sorted(fields.keys() - {"layer", "tags", "confidence", "applies_to", "source"}):
            raise BadInput(f"a memory has no editable field {', '.join(unknown)}")
        changes = {name: value for name, value in fields.items() if value is not None}
        for name in ("tags", "applies_to"):
            if name in changes:
                changes[name] = memory.unique(changes[name])
        if statement is not None:
            words, more = memory.split_statement(self.clone.scan.text(statement))
            changes |= {"statement": words, **({"details": more} if more else {})}
        if details is not None:
            changes["details"] = self.clone.scan.text(details.strip())
        if evidence is not None:
            changes["evidence"] = memory.unique(map(str, evidence_check.resolve_evidence(self.clone, evidence)))
        if expires is not None:
            changes["expires_at"] = None if expires == NEVER else propose.expiry(self.clone, expires)
        return self.shown(revise.edit(self.clone, identity, changes, self._reviewer(reviewer)))

    def join(self, identity: str, into: str, *, reviewer: str | None = None) -> decisions.MemoryStanding:
        """Merges a candidate into another memory, which gets its evidence; the candidate is removed."""
        return self.shown(review.join(self.clone, identity, into, self._reviewer(reviewer)))

    def undoable(self) -> list[undo.UndoStep]:
        """Returns the decisions that `undo` would undo, one after the other, the last first."""
        return undo.undoable(self.clone)

    def undo(self, *, reviewer: str | None = None) -> undo.UndoStep:
        """Undoes the last decision, if it is not published."""
        return self.shown(undo.undo(self.clone, self._reviewer(reviewer)))

    def history(self, identity: str) -> list[MemoryEvent]:
        """Returns who proposed, approved, edited and retired a memory, and when; oldest first."""
        found = []
        for event in self.clone.find_events("all", targets=(identity,), kinds=_MEMORY_EVENTS):
            said = self.clone.joined(event)
            kind = approvals.weakened(event.kind, event.hash_self, self.clone.second_hand())
            by, reason = str(said["reviewer"] or ""), str(said["reason"] or "")
            found.append(MemoryEvent(event.ts, kind, by, reason, said["branch"], undone=said["action"] == "undo"))
        return found

    def last_changes(self) -> dict[str, str]:
        """Returns when each memory was last proposed, decided about or edited, by id."""
        return {event.target: event.ts for event in self.clone.find_events("all", kinds=_MEMORY_EVENTS) if event.target}

    def counted(self, identity: str) -> dict[str, int]:
        """Returns how often a memory was recalled, given in contexts, looked at and used, as counted in this clone."""
        return statistics.times(self.clone.layout, identity)

    def contexts(self, identity: str) -> list[statistics.CountedContext]:
        """Returns the contexts that held a memory, newest first, as far as they are not yet only sums."""
        name = identity.lower()
        told = statistics.read(self.clone.layout, holding=name).told
        return [one for one in reversed(told) if name in one.memories]

    def passage(self, provenance: Provenance) -> passages.Passage:
        """Returns the text that a memory comes from, with the lines around it."""
        return passages.passage(self.clone, provenance)

    def cited(self, receipts: Sequence[tuple[str, str]]) -> Mapping[str, passages.CitedLines]:
        """Returns the lines of the files that a memory cites and that are as they were."""
        return passages.cited(self.clone, receipts)

    def contradictions(self) -> list[memory_conflicts.MemoryConflict]:
        """Returns the pairs of accepted memories that contradict each other."""
        return list(review.known(self.clone).pairs())

    def _reviewer(self, name: str | None) -> decisions.Reviewer:
        known = name or self.clone.repo.text("config", "user.name", ok=(0, 1)) or "unknown"
        return decisions.Reviewer(known, self.project.is_person, self.project.no_person)

    def curate(self, *, dry_run: bool = False) -> memory_health.MemoryHealth:
        """Checks every memory; the suggestions wait in review, and nothing else changes."""
        self.project.health.reckon_uses()
        found = memory_health.examine(self.clone, self.clone.clock(), use=self._use())
        return found if dry_run else self.shown(memory_health.suggest(self.clone, found))

    def _use(self) -> memory_health.RecallUse:
        began = tally.since(self.clone.layout)
        totals = tally.totals(self.clone.layout)
        times = {name: number for name, number in totals.items() if name.startswith(tally.RECALLED)}
        recalled = {name.removeprefix(tally.RECALLED): number for name, number in times.items()}
        given = {name.removeprefix(tally.TOLD) for name in totals if name.startswith(tally.TOLD)}
        since = None if began is None else datetime.fromtimestamp(began, UTC)
        used = statistics.times_used(self.clone.layout)
        return memory_health.RecallUse(since, {*recalled, *given}, times=recalled, used=frozenset(used))


def _each(items: Iterable[QueueItem], decide: Callable[[QueueItem], decisions.MemoryStanding]) -> Decided:
    """Decides about the items one by one; an error about one does not stop the others."""
    done: list[decisions.MemoryStanding] = []
    left: list[tuple[str, str]] = []
    hints: dict[str, None] = {}
    for item in items:
        try:
            done.append(decide(item))
        except HoldfastError as error:
            left.append((item.id, str(error)))
            if error.hint:
                hints[error.hint] = None
    return Decided(tuple(done), tuple(left), tuple(hints))
