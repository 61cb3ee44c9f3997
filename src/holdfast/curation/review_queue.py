"""The review queue: candidates, unapproved edits, memories whose evidence changed, contradictions.

Listing is cheap however long the queue is; an item's contradictions and diffs are computed when somebody opens it.
"""

import difflib
import os
import shlex
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from holdfast.curation import candidates, memory_conflicts, memory_state, review
from holdfast.curation.decisions import MemoryStanding
from holdfast.errors import BadInput, HoldfastError
from holdfast.git import approval_proofs, branch_lines, file_entries, span_history
from holdfast.git.approvals import EDITED
from holdfast.git.clone import Clone
from holdfast.lazy_module import LazyModule
from holdfast.model.evidence import Provenance, parse_provenance
from holdfast.model.ids import pick
from holdfast.model.memory import Candidate, Memory
from holdfast.model.utterance import LIKELY
from holdfast.patterns import regex
from holdfast.store import capsule, fsio
from holdfast.values import frozen

if TYPE_CHECKING:
    from holdfast.curation.extraction import session_claims, statement_shapes
else:  # slow to import, and needed only if candidates from sessions wait
    session_claims = LazyModule("holdfast.curation.extraction.session_claims")
    statement_shapes = LazyModule("holdfast.curation.extraction.statement_shapes")

__all__ = [
    "QueueItem",
    "ReviewLook",
    "ReviewQueue",
    "UnreadableMemory",
    "chosen",
    "every",
    "pick",
    "put_off",
    "worth_reading",
]
_SUMMARY = 1 << 20  # bytes; a guess: summaries are a few KiB
_COUNTED = regex(r" — (?=\d|last )")  # where the counts in a summary's first line start
REWORD, UNLIKELY, MOVED = PUT_OFF = ("to be reworded", "less likely", "about code that changed since")
FOREIGN = "T4"  # arrived by git, and approved neither here nor in a trusted trunk
REASONS = ("proposed", "suggested", "edited", "stale", "expired", "contradicts", "elsewhere")


@frozen
class QueueItem:
    """One decision to make."""

    standing: MemoryStanding
    reason: str  # one of REASONS
    proposed: str | None = None  # time of the proposal
    branch: str | None = None  # its branch, if it is another one
    provenance: tuple[Provenance, ...] = ()

    @property
    def id(self) -> str:
        return self.standing.id

    @property
    def put_off(self) -> str:
        """Why it waits below the others: one of PUT_OFF, or empty."""
        memory = self.standing.memory
        if self.reason == "proposed" and _place_of_note(memory) and not statement_shapes.is_ready(memory.statement):
            return REWORD
        if self.reason != "proposed" or memory.confidence is None:
            return ""
        by_our_rules = bool(self.provenance) and "model" not in memory.tags
        why = put_off(memory.statement, memory.confidence, tags=memory.tags, by_our_rules=by_our_rules)
        is_outdated = by_our_rules and memory.type == "fact" and self.standing.code_moved
        return MOVED if is_outdated and why != UNLIKELY else why  # an agent's fact about code that changed since

    @property
    def likely(self) -> bool:
        """Whether its confidence is high enough and, if found in a session, it is ready to save and still current."""
        return not self.put_off


@frozen
class UnreadableMemory:
    """An approved memory whose file cannot be read any more, so that no agent gets it."""

    id: str
    path: str
    why: str
    next_step: str


@frozen
class ReviewLook:
    """The details that a reviewer of an item needs."""

    conflicts: tuple[memory_conflicts.MemoryConflict, ...]
    same: tuple[str, ...]  # ids of memories that look like the same claim, as targets of a merge
    diff: tuple[str, ...]  # the change that made it stale, or the edit
    hints: tuple[memory_conflicts.MemoryConflict, ...] = ()  # what it may contradict; blocks nothing
    rivals: tuple[memory_conflicts.MemoryConflict, ...] = ()  # other candidates that contradict it; blocks nothing


class ReviewQueue:
    """The items, and the data to show each in detail."""

    def __init__(self, clone: Clone, now: datetime) -> None:
        self._clone = clone
        self.known: memory_state.MemoryListing = memory_state.list_memories(clone, now)
        self._shelf = candidates.read(clone)
        self.items = tuple(self._items())
        self.unreadable = tuple(_unreadable(clone, self.known))

    @cached_property
    def against(self) -> memory_conflicts.KnownClaims:
        """Returns all memories that a candidate is compared with, prepared once."""
        return memory_conflicts.KnownClaims(self.known.standings, self._shelf.rejected.values())

    @cached_property
    def _proposals(self) -> memory_conflicts.KnownClaims:
        """Returns the candidates for comparison: two agents may propose opposites, and a person sees both at once."""
        found = memory_conflicts.KnownClaims(())
        for memory in self._shelf.waiting.values():
            if not memory.suggests:
                found.add(MemoryStanding(memory, "candidate"))
        return found

    @property
    def rejected(self) -> tuple[MemoryStanding, ...]:
        """Returns what somebody turned down."""
        return tuple(MemoryStanding(memory, "rejected") for memory in self._shelf.rejected.values())

    @property
    def waiting(self) -> int:
        """Returns how many decisions wait; memories that came by git need one answer for all, so they do not count."""
        return sum(item.reason != "elsewhere" for item in self.items) + len(self.unreadable)

    def look(self, item: QueueItem) -> ReviewLook:
        """Returns an item's conflicts, duplicates and changes; none for a suggestion about other memories."""
        memory = item.standing.memory
        if item.reason == "suggested":
            return ReviewLook((), (), ())
        same = tuple(one.id for one in self.against.alike(memory))
        if item.standing.status == EDITED:
            changed = since_approval(self._clone, item.standing)
        elif item.reason == "edited":
            # The edit by hand, compared with the branch.
            path = item.standing.path or ""
            blobs = self._clone.repo.blobs(self._clone.repo.blobs_at("HEAD", [path]).values())
            before = next((data.decode("utf-8", "replace") for data in blobs.values()), None)
            now = next((one.text for one in self._clone.entries(os.path.dirname(path)) if one.path == path), "")
            changed = () if before is None else _diff(before, now, "HEAD")
        else:
            changed_receipts = [text for text, state in item.standing.receipts if state in ("changed", "gone")]
            changed = tuple(line for text in changed_receipts for line in span_history.what_changed(self._clone, text))
        # A similar memory may still rather be a contradiction: then both are shown. 0.5 is even odds.
        hints = tuple(one for one in self.against.hints(memory) if one.other.id not in same or one.verdict.score >= 0.5)
        rivals = self._proposals.rivals(memory) if item.reason == "proposed" else ()
        return ReviewLook(self.against.conflicts(memory), same, changed, hints, rivals)

    def _items(self) -> Iterable[QueueItem]:
        clone, known = self._clone, self.known
        times: dict[str | None, str] = {}  # when candidates were proposed
        for event in clone.find_events("own", kinds=("propose",)):
            times[event.target] = min(event.ts, times.get(event.target, event.ts))
        lines = (line for line in branch_lines.known(*clone.stores).values() if line.id != clone.line().id)
        branches = {line.id: branch_lines.called(line.refs[-1]) for line in lines}
        for standing in sorted(review.waiting(clone), key=_sure_first):
            memory = standing.memory
            assert isinstance(memory, Candidate)
            reason, branch = "suggested" if memory.suggests else "proposed", branches.get(memory.line)
            found = []
            for text in memory.provenance:
                with suppress(BadInput):  # a file written by hand; its words still count
                    found.append(parse_provenance(text))
            yield QueueItem(standing, reason, times.get(memory.id), branch, tuple(found))
        for reason, group in (("edited", known.unreviewed), ("stale", known.stale), ("expired", known.expired)):
            yield from (QueueItem(one, reason) for one in group if one.trust != FOREIGN or one.status == EDITED)
        by_id = {standing.id: standing for standing in known.standings}
        names = dict.fromkeys(one.one.id for one in self.contradictions)
        yield from (QueueItem(by_id[name], "contradicts") for name in names)
        foreign = (*known.trusted, *known.stale, *known.unreviewed)
        yield from (QueueItem(one, "elsewhere") for one in foreign if one.trust == FOREIGN and one.status != EDITED)

    @cached_property
    def contradictions(self) -> list[memory_conflicts.MemoryConflict]:
        """Returns the pairs of current memories that contradict one another."""
        return memory_conflicts.standing_conflicts(self._clone, self.known.standings, self.against)


def _sure_first(standing: MemoryStanding) -> tuple[bool, float, str, int]:
    """Returns a sort key: the surest first, then by session; a proposal without a number counts as certain.

    What stands in a file of notes comes after likely finds: agents read most of these files anyway. A candidate about
    code that changed since comes last: it may no longer be true.
    """
    memory, place = standing.memory, _place_of_note(standing.memory)
    path, _, line = place.rpartition("#")
    sure = memory.confidence if memory.confidence is not None else LIKELY if place else 1.0
    return standing.code_moved, -sure, memory.source or path, int(line) if line.isdigit() else 0


def _place_of_note(memory: Memory) -> str:
    """Returns the file and line of a candidate that was read in a file of notes, but not of a decision record."""
    if not isinstance(memory, Candidate) or memory.confidence is not None or "adr" in memory.tags:
        return ""
    first = memory.provenance[0] if memory.provenance else ""
    return first.partition(" ")[0] if first.startswith("file:") else ""


def put_off(statement: str, confidence: float, *, tags: Sequence[str], by_our_rules: bool) -> str:
    """Returns why a find waits below the others; a first look ranks by it as the queue does."""
    if confidence < LIKELY:
        return UNLIKELY
    if not by_our_rules or statement_shapes.is_ready(statement, *session_claims.rules().intersection(tags)):
        return ""
    return REWORD


def worth_reading(items: Sequence[QueueItem]) -> list[QueueItem]:
    """Returns the likely items; if there are none, those that a person or an agent proposed directly."""
    return [item for item in items if item.likely] or [item for item in items if not item.provenance]


def session_title(clone: Clone, source: str) -> str:
    """Returns a run's start and summary in one line; empty for a source that is not a run of this clone."""
    kind, _, name = source.partition(":")
    if kind != "run" or "/" in name:
        return ""
    with suppress(OSError, HoldfastError):
        data = fsio.read(os.path.join(clone.layout.run(name), capsule.SUMMARY), limit=_SUMMARY)
        first_line = next(line for line in data.decode("utf-8", "replace").split("\n")[1:] if line.strip())
        when = f"{name[:4]}-{name[4:6]}-{name[6:11]}:{name[11:13]}:{name[13:15]}Z"
        return f"{when}  {_COUNTED.split(first_line, maxsplit=1)[0]}"
    return ""


def since_approval(clone: Clone, standing: MemoryStanding) -> tuple[str, ...]:
    """Returns the changes of a memory since a person approved it, if git still has that text."""
    path = standing.path or ""
    before = memory_state.approved_text(clone, standing.id, path)
    files = [one for one in clone.entries(os.path.dirname(path)) if one.path == path]
    seen = (one.sighting for one in file_entries.placed(clone.repo, files))
    now = next((one.text for one in seen if one.blob == standing.blob), "")
    return () if before is None else _diff(before, now, "approved")


def _diff(before: str, now: str, name: str) -> tuple[str, ...]:
    return tuple(difflib.unified_diff(before.splitlines(), now.splitlines(), name, "now", lineterm="", n=1))


def _unreadable(clone: Clone, known: memory_state.MemoryListing) -> Iterable[UnreadableMemory]:
    """Yields approved memories that cannot be read here and have no other readable file."""
    claims = {name for one in known.broken for name in one.claims}
    if not claims:
        return
    unread = claims - {one.id for one in known.standings if one.trust == memory_state.T0}
    lost = memory_state.approved(clone, unread) if unread else set()
    for one in known.broken:
        if name := next((name for name in one.claims if name in lost), None):
            why = one.message.removeprefix(f"{one.path}:")
            yield UnreadableMemory(name, one.path, why, _restore_command(clone, name, one.path))


def _restore_command(clone: Clone, name: str, path: str) -> str:
    """Returns the command that restores a memory's approved text, if the branch's history has it."""
    wanted = approval_proofs.ProvenText(path, "", memory_state.approved_text(clone, name, path) or "").digest()
    versions = clone.repo.history("HEAD", [path]) if wanted else []
    digests = approval_proofs.digests(clone.repo, {blob for _, _, blob in versions if blob})
    for commit, _, blob in versions:
        if blob and digests.get(blob) == wanted:
            return f"git checkout {commit[:12]} -- {shlex.quote(path)}"
    return f"repair the file by hand; its history: git log -p -- {shlex.quote(path)}"


def chosen(
    items: Iterable[QueueItem],
    *,
    tags: Sequence[str] = (),
    kinds: Sequence[str] = (),
    reasons: Sequence[str] = (),
    source: str | None = None,
    confidence: float | None = None,
) -> list[QueueItem]:
    """Returns the items that match a filter; all without one."""
    return [
        item
        for item in items
        if set(tags) <= set(item.standing.memory.tags)
        and (not kinds or item.standing.memory.type in kinds)
        and (not reasons or item.reason in reasons)
        and (source is None or _comes_from(item, source))
        and (confidence is None or (item.standing.memory.confidence or 0) >= confidence)
    ]


def _comes_from(item: QueueItem, source: str) -> bool:
    named = [item.standing.memory.source or "", *(one.source for one in item.provenance)]
    return any(name == source or name.partition(":")[2].startswith(source) for name in named)


def every(clone: Clone, now: datetime) -> dict[str, MemoryStanding]:
    """Returns the state of each memory by id: entries, candidates and tombstones."""
    found = {name: MemoryStanding(memory, "rejected") for name, memory in candidates.read(clone).rejected.items()}
    found |= {one.id: one for one in review.waiting(clone)}
    return found | {one.id: one for one in memory_state.list_memories(clone, now).standings}
