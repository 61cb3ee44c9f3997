"""Decisions about memories in the log: who proposed, approved, rejected or retired which.

The envelope names the memory as its target; the words and the approved file's text are in the body. Each step of a
decision first checks whether it was recorded before, so a command that was killed halfway can be run again and
completes the rest.
"""

import os
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from holdfast.errors import NeedsReview
from holdfast.git.approvals import DECISIONS, Causes, weakened
from holdfast.git.clone import Clone
from holdfast.model.event import Event, EventDraft
from holdfast.model.evidence import OF_FILES
from holdfast.model.memory import Memory
from holdfast.store import kept_context, memory_files
from holdfast.values import frozen

WITHDRAWING = ("retire", "reject", "edit")  # decisions after which the old text no longer applies
_ELSEWHERE = "If you are a person, do it in another terminal, where no agent runs."
_SAME = "Run the same command in another terminal, where no agent runs"


@frozen
class Reviewer:
    """The author of a decision; only a person's approval lets agents get a memory unasked."""

    name: str
    person: bool
    doubt: str | None = None  # why it does not count as a person, for the message of a refusal

    @property
    def approval(self) -> str:
        return "accept" if self.person else "promote"

    def refusal(self, sentence: str, *, hint: str | None = None) -> NeedsReview:
        """Returns the error where only a person may decide: why this one does not count, and the next step."""
        why = f": {self.doubt}" if self.doubt else ""
        return NeedsReview(f"{sentence}{why}", hint=hint or _ELSEWHERE)

    def uncounted(self, sentence: str, *, cite: bool) -> NeedsReview:
        """Returns the error where only a person or, if `cite`, evidence is missing."""
        why = self.doubt or "no person was seen at a terminal"
        hint = f"{_SAME}; or cite evidence first: holdfast edit ID --evidence PATH" if cite else f"{_SAME}."
        return NeedsReview(f"not counted as approved by a person: {why}; {sentence}", hint=hint)


ALREADY = "accepted already, nothing changed"  # the note of a memory whose approval is recorded and not published yet


@frozen
class MemoryStanding:
    """A memory with its current state."""

    memory: Memory
    # candidate, accepted, stale, unreviewed, edited since approval, approval cannot be checked here, expired,
    # superseded, deprecated, rejected
    status: str
    path: str | None = None  # of the entry in the work tree
    blob: str | None = None
    trust: str | None = None  # T0: a person approved this very text in this clone; T2: only found by search
    receipts: tuple[tuple[str, str], ...] = ()  # evidence with its state: holds, changed, gone or unanchored
    notes: tuple[str, ...] = ()  # warnings for the reviewer

    @property
    def id(self) -> str:
        return self.memory.id

    @property
    def code_moved(self) -> bool:
        """Whether some of the cited code changed or is gone."""
        spans = (state for text, state in self.receipts if text.startswith(OF_FILES))
        return any(state in ("changed", "gone") for state in spans)


def record(
    clone: Clone,
    kind: str,
    memory: Memory,
    *,
    reviewer: Reviewer | None = None,
    blob: str | None = None,
    reason: str | None = None,
    action: str | None = None,
) -> Event:
    """Writes the event of a decision."""
    fields: dict[str, Any] = {"derived_facts": [memory.id], "statement": memory.statement, "tags": list(memory.tags)}
    fields |= {"receipts": list(memory.evidence), "blob": blob, "reason": reason, "action": action}
    fields["reviewer"] = reviewer.name if reviewer else None
    if kind == "accept":  # it stays true whatever happens to the text
        fields["supersedes"] = list(getattr(memory, "supersedes", ()))
        fields["approves"] = memory_files.digest(memory)
    body = {name: value for name, value in fields.items() if value is not None}
    if kind in WITHDRAWING or fields.get("supersedes"):  # a new session must not get the old text
        kept_context.clear(os.fsencode(clone.repo.common_dir))
    return clone.record(EventDraft(kind=kind, target=memory.id, layer=memory.layer, body=body))


def recorded(clone: Clone, targets: Collection[str], kinds: Collection[str]) -> Iterator[tuple[Event, dict[str, Any]]]:
    """Yields this clone's own events of these kinds about these memories, each with its body."""
    second_hand = clone.second_hand()
    for event in clone.find_events("own", targets=targets):
        if weakened(event.kind, event.hash_self, second_hand) in kinds:
            yield event, (clone.bodies.get(event.body) if event.body else None) or {}


def waits(clone: Clone, identity: str, kind: str, *, blob: str | None) -> bool:
    """Whether such a decision about this very text is the last unpublished one on this line.

    A text changed after its approval was published needs a new decision, and so does one that was approved on another
    line or whose approval was withdrawn.
    """
    return _last(clone, clone.find_events("waiting", targets=(identity,))) == (kind, blob)


def has(clone: Clone, identity: str, kind: str, *, blob: str | None) -> bool:
    """Whether this clone's last decision about a memory was of this kind, about this very text."""
    return _last(clone, clone.find_events("own", targets=(identity,))) == (kind, blob)


def ever(clone: Clone, identity: str, kind: str, *, blob: str | None = None) -> bool:
    """Whether this clone ever recorded such a decision; about this very text if a blob is given."""
    return any(blob is None or body.get("blob") == blob for _, body in recorded(clone, (identity,), (kind,)))


def _last(clone: Clone, events: Iterable[Event]) -> tuple[str, str | None] | None:
    """Returns the causally last decision among events about one memory: its kind and its text's blob."""
    causes, last = Causes(clone), None
    for event in events:
        newer = last is None or causes.later((event.ts, event.hash_self), (last.ts, last.hash_self))
        if event.kind in DECISIONS and newer:
            last = event
    if last is None:
        return None
    body = clone.bodies.get(last.body) if last.body else None
    return weakened(last.kind, last.hash_self, clone.second_hand()), (body or {}).get("blob")
