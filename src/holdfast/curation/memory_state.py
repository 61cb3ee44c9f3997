"""Determines the state and the trust of every visible memory; only T0 is shown to agents unasked.

A memory is trusted, stale, unreviewed, expired, superseded, retired, broken or in clash. Trusted means approved, not
expired, and with unchanged evidence. Trust is computed from what this clone recorded itself and from the trunk that the
user trusted, never from the memory's own file: anybody who can write a file could write "approved" into it.
`erased_elsewhere` lists what another clone erased and this one still stores: hidden, but on the disk.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial

from holdfast.curation.decisions import MemoryStanding
from holdfast.errors import Ambiguous, BadInput, BrokenEntry
from holdfast.git import approval_proofs, approvals, file_entries, upstream
from holdfast.git.approvals import EDITED, T0, T2, T4, UNCHECKED, Approvals, Causes, MemoryApproval, Tiers, words_of
from holdfast.git.clone import Clone
from holdfast.git.evidence_check import State, states
from holdfast.git.visible_entries import Sighting
from holdfast.model.evidence import OF_FILES
from holdfast.model.memory import Accepted, Memory, Retired, is_expired
from holdfast.store import layout, pending_changes
from holdfast.values import frozen, replace


@frozen
class VisibleMemory:
    """A visible entry; its sighting is its own, also if its file contains several."""

    sighting: Sighting
    memory: Accepted | Retired
    file: Sighting | None = None  # the whole file, if it contains other entries
    start: int = 0  # characters of the file before this entry

    def rewritten(self, text: str) -> str:
        """Returns the whole file with another text for this entry."""
        if self.file is None or text == self.sighting.text:
            return text if self.file is None else self.file.text
        if self.file.origin != self.sighting.origin:  # somebody is editing another entry of the file
            raise BadInput(
                f"{self.sighting.path} contains your own edit, which is not overwritten",
                hint="Accept your edit or undo it, then repeat this.",
            )
        before, after = self.file.text[: self.start], self.file.text[self.start + len(self.sighting.text) :]
        return f"{before}{text if text.endswith(chr(10)) or not after else text + chr(10)}{after}"


@frozen
class BrokenMemory:
    """A file that cannot be read as a memory; it is left out and not changed."""

    path: str
    message: str
    claims: tuple[str, ...] = ()  # its possible ids, from its text and its name


@frozen
class ClashingMemory:
    """A memory changed here and, differently, in the branch's history: both texts."""

    path: str
    id: str
    ours: str
    theirs: str


@frozen
class MemoryListing:
    """All memories by state."""

    trusted: tuple[MemoryStanding, ...]
    stale: tuple[MemoryStanding, ...]
    unreviewed: tuple[MemoryStanding, ...]  # also what was edited since a person approved it
    expired: tuple[MemoryStanding, ...]
    superseded: tuple[MemoryStanding, ...]
    retired: tuple[MemoryStanding, ...]
    broken: tuple[BrokenMemory, ...]
    clashes: tuple[ClashingMemory, ...]

    @property
    def standings(self) -> tuple[MemoryStanding, ...]:
        return (*self.trusted, *self.stale, *self.unreviewed, *self.expired, *self.superseded, *self.retired)


def list_memories(clone: Clone, now: datetime, *, kind: str | None = None) -> MemoryListing:
    """Returns the state of every memory, or of every one of a type."""
    return list_with_entries(clone, now, kind=kind)[0]


def list_with_entries(
    clone: Clone, now: datetime, *, kind: str | None = None
) -> tuple[MemoryListing, dict[tuple[str, str], VisibleMemory]]:
    """Returns the same, and the entries by the path and id of their standing."""
    seen, broken = read_visible(clone)
    sides = [(one.memory.id, one.sighting, one.sighting.clash) for one in seen]
    clashes = [ClashingMemory(s.path, name, s.text, theirs) for name, s, theirs in sides if theirs is not None]
    unclashed = [one for one in seen if one.sighting.clash is None]
    by_status: dict[str, list[MemoryStanding]] = defaultdict(list)
    for standing in _standings(clone, unclashed, now):
        if kind in (None, standing.memory.type):  # whatever folder its file was moved to
            by_status[standing.status].append(standing)
    folder = f"{layout.FOLDER_OF[kind] if kind else layout.MEMORY}/"
    found = MemoryListing(
        trusted=tuple(by_status["accepted"]),
        stale=tuple(by_status["stale"]),
        unreviewed=(*by_status["unreviewed"], *by_status[EDITED], *by_status[UNCHECKED]),
        expired=tuple(by_status["expired"]),
        superseded=tuple(by_status["superseded"]),
        retired=tuple(by_status["deprecated"]),
        broken=tuple(one for one in broken if one.path.startswith(folder)),
        clashes=tuple(one for one in clashes if one.path.startswith(folder)),
    )
    return found, {(one.sighting.path, one.memory.id): one for one in unclashed}


def read_visible(clone: Clone) -> tuple[list[VisibleMemory], list[BrokenMemory]]:
    """Returns the visible memories, and the files that are not readable as one."""
    seen: list[VisibleMemory] = []
    broken: list[BrokenMemory] = []
    erased = clone.erased()
    for placed in file_entries.placed(clone.repo, clone.entries(layout.MEMORY)):
        try:
            memory = _entry(placed)
        except BrokenEntry as error:
            broken.append(BrokenMemory(placed.sighting.path, str(error), _possible_ids(placed.sighting)))
            continue
        if memory.id not in erased:
            seen.append(_visible_memory(placed, memory))
    return seen, broken


def _possible_ids(sighting: Sighting) -> tuple[str, ...]:
    """Returns the possible ids of an unreadable file: from its text and the end of its name."""
    words = os.path.basename(sighting.path).removesuffix(".md").split("-")
    named = ("-".join(words[start:]) for start in range(len(words)))
    return tuple(filter(None, (approval_proofs.ProvenText(sighting.path, "", sighting.text).id, *named)))


def _visible_memory(placed: file_entries.FileEntry, memory: Accepted | Retired) -> VisibleMemory:
    alone = placed.file is placed.sighting
    return VisibleMemory(placed.sighting, memory, None if alone else placed.file, placed.start)


def by_id(seen: Iterable[VisibleMemory], identity: str) -> VisibleMemory | None:
    """Returns the entry with this id; raises Ambiguous if two files claim it."""
    found = [one for one in seen if one.memory.id == identity]
    if len(found) > 1:
        raise Ambiguous(
            f"{identity} stands in {' and in '.join(one.sighting.path for one in found)}",
            hint="Give one of the files another id.",
        )
    return found[0] if found else None


def is_approved(clone: Clone, seen: Sequence[VisibleMemory], one: VisibleMemory) -> bool:
    """Whether somebody approved this entry, compared with all visible ones."""
    return _is_text_approved(judge_trust(clone, seen), one)


def by_hand(clone: Clone, one: VisibleMemory) -> VisibleMemory:
    """Returns the memory as the work tree has it, if somebody edited the file on top of a pending change."""
    file = one.file or one.sighting
    edited = file.edited
    if edited is None or edited == file.text:
        return one
    blob = clone.repo.hash_blob(edited.encode())
    found = list(file_entries.apart(clone.repo, replace(file, text=edited, blob=blob, origin="edit", edited=None)))
    if len(found) == 1 and one.file is None:
        return _visible_memory(found[0], _entry(found[0]))
    for placed in found:
        try:
            memory = _entry(placed)
        except BrokenEntry:
            continue
        if memory.id == one.memory.id:
            return _visible_memory(placed, memory)
    return one  # removed by hand: a missing entry is not a decision


def _entry(placed: file_entries.FileEntry) -> Accepted | Retired:
    memory = placed.parse()
    if not isinstance(memory, Accepted | Retired):
        where = f"{placed.sighting.path}:{placed.line}"
        raise BrokenEntry(f"{where} is a candidate or a tombstone; entries are accepted or deprecated")
    return memory


def _standings(clone: Clone, seen: Sequence[VisibleMemory], now: datetime) -> list[MemoryStanding]:
    known = judge_trust(clone, seen)
    for name in known.hidden:
        sentence = f"{name}, which was approved here, is hidden: another clone erased it"
        if (note := f"{sentence}; to delete it here, too: holdfast erase {name}") not in clone.notes:
            clone.notes.append(note)
    approved = {_place(one) for one in seen if _is_approved(known, one)}
    evidence = states(clone, (text for one in seen for text in one.memory.evidence))
    newer = _successors((one for one in seen if _place(one) in approved), known)
    chief = {one.memory.id: one.sighting.path for one in seen if known.repeats and not known.is_repeat(one)}
    found = []
    for one in seen:
        tier = known.tier(one)
        after = next((name for name, rank in newer.get(one.memory.id, ()) if outranks(rank, tier)), None)
        status = _unapproved_status(known, one)
        if _place(one) in approved:
            status = _approved_status(one.memory, evidence, superseded=after is not None, now=now)
        copied = chief.get(one.memory.id) if known.is_repeat(one) else None
        found.append(_standing(one, evidence, status=status, tier=tier, newer=after, copied=copied))
    return found


def _unapproved_status(known: TrustJudgement, one: VisibleMemory) -> str:
    """Returns the status of a text that does not count as approved."""
    if not known.is_edited(one) or known.is_repeat(one):
        return "unreviewed"
    return UNCHECKED if one.memory.id in known.unchecked else EDITED


def _is_approved(known: TrustJudgement, one: VisibleMemory) -> bool:
    """Whether somebody approved this text, or its retirement."""
    ended = isinstance(one.memory, Retired) and known.approvals.ends(one.memory.id, blob=one.sighting.blob)
    return _is_text_approved(known, one) or (ended and not known.is_repeat(one))


def _is_text_approved(known: TrustJudgement, one: VisibleMemory) -> bool:
    """Whether somebody approved this text; a file that repeats another's id is not a memory of its own."""
    if known.is_repeat(one) or known.is_edited(one):
        return False
    if known.tier(one) == T0 and isinstance(one.memory, Accepted):
        return True
    words, edited = partial(words_of, one.memory.statement), one.sighting.origin == "edit"
    return known.approvals.covers(one.memory.id, blob=one.sighting.blob, words=words, edited=edited)


def _place(one: VisibleMemory) -> tuple[str, int]:
    return one.sighting.path, one.start


def _successors(approved: Iterable[VisibleMemory], known: TrustJudgement) -> Mapping[str, list[tuple[str, str]]]:
    """Returns the memories that supersede each memory, with their tiers.

    Only an approved memory supersedes another, and only one it outranks: otherwise any file could hide a fact. A
    replacement that a person approved stays one, whatever happens to its file.
    """
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for one in approved:
        for old in one.memory.supersedes if isinstance(one.memory, Accepted) else ():
            found[old].append((one.memory.id, known.tier(one)))
    for old, name in known.kept.items():
        found[old].append((name, T0))
    return found


def _standing(
    one: VisibleMemory, evidence: Mapping[str, State], *, status: str, tier: str, newer: str | None, copied: str | None
) -> MemoryStanding:
    memory, sighting = one.memory, one.sighting
    notes = [f"{text} {_EVIDENCE_NOTES[evidence[text]]}" for text in memory.evidence if evidence[text] != "holds"]
    if newer is not None:
        notes.append(f"superseded by {newer}")
    if copied is not None:
        notes.append(f"{copied} has this id and was approved; give this file another, or delete it")
    if status == UNCHECKED:
        notes.append("this clone is shallow; to check the approval: git fetch --unshallow")
    if sighting.origin == "edit":
        notes.append("edited by hand")
    elif _is_edited_since(one):
        notes.append("edited by hand since; accept it to take the edit")
    receipts = tuple((text, evidence[text]) for text in memory.evidence)
    return MemoryStanding(memory, status, sighting.path, sighting.blob, tier, receipts, tuple(notes))


def _is_edited_since(one: VisibleMemory) -> bool:
    """Whether the work tree has another text of it than the pending change."""
    edited, path = one.sighting.edited, one.sighting.path
    if one.file is None or edited is None:
        return edited not in (None, one.sighting.text)
    return file_entries.by_id(edited, path).get(one.memory.id) not in (None, one.sighting.text)


_EVIDENCE_NOTES: dict[State, str] = {
    "changed": "has changed since it was cited",
    "gone": "is not here any more",
    "unanchored": "is on no branch any more",
}


def _approved_status(memory: Memory, states: Mapping[str, State], *, superseded: bool, now: datetime) -> str:
    """Returns the status of an approved memory; only evidence in files, not runs or commits, makes it stale."""
    if isinstance(memory, Retired):
        return "deprecated"
    if superseded:
        return "superseded"
    if is_expired(memory, now):
        return "expired"
    stale = any(text.startswith(OF_FILES) and states[text] in ("changed", "gone") for text in memory.evidence)
    return "stale" if stale else "accepted"


__all__ = ["T0", "T2", "T4", "approved", "approved_text", "judge_trust", "outranks", "tiers"]


@frozen
class TrustJudgement:
    """What the log says about the visible memories."""

    approvals: Approvals
    tiers: Mapping[tuple[str, str], str]  # by a memory's id and its text's blob
    repeats: Collection[tuple[str, str, str]]  # id, blob and path of files that repeat an approved id
    kept: Mapping[str, str]  # superseded ids and the memories with which a person replaced them
    hidden: Sequence[str]  # ids that a person approved here and another clone erased
    edited: Collection[tuple[str, str]]  # id and blob of texts that differ from the approved one
    unchecked: Collection[str]  # ids of those whose approval a shallow clone cannot check

    def tier(self, one: VisibleMemory) -> str:
        return T4 if self.is_repeat(one) else self.tiers[one.memory.id, one.sighting.blob]

    def is_edited(self, one: VisibleMemory) -> bool:
        """Whether a person approved another text of it; uncommitted edits in the work tree do not count."""
        if not self.edited or one.sighting.origin == "edit":
            return False
        return (one.memory.id, one.sighting.blob) in self.edited

    def is_repeat(self, one: VisibleMemory) -> bool:
        return bool(self.repeats) and (one.memory.id, one.sighting.blob, one.sighting.path) in self.repeats


def judge_trust(clone: Clone, seen: Sequence[VisibleMemory]) -> TrustJudgement:
    """Returns who approved what, and the tier of every text, from one read of the log."""
    claims = [one.memory.id for one in seen]
    everybody, own = approvals.heard(clone, set(claims))
    vouched = upstream.vouched(clone)
    visible = {(one.memory.id, one.sighting.blob) for one in seen}
    known = approvals.tiers(clone, own, vouched, approvals.waiting(clone), seen=visible)
    return TrustJudgement(
        Approvals(everybody, claims),
        _tiers(seen, known),
        approvals.repeats(((one.memory.id, one.sighting.blob, one.sighting.path) for one in seen), known),
        approvals.still_superseded(clone, own, known, vouched, visible=visible),
        _hidden(clone.erased_elsewhere(), own, known),
        known.edited(visible),
        vouched.unchecked,
    )


def _hidden(erased: Collection[str], own: Iterable[MemoryApproval], known: Tiers) -> list[str]:
    """Returns the memories that a person approved here and another clone erased."""
    return sorted({one.target for one in own if one.target in erased and one.kind == "accept" and known.stands(one)})


def tiers(clone: Clone, seen: Sequence[VisibleMemory]) -> Mapping[tuple[str, str], str]:
    """Returns the tier of every text, by its memory's id and its blob."""
    own = approvals.decided(clone, {one.memory.id for one in seen})
    texts = {(one.memory.id, one.sighting.blob) for one in seen}
    vouched, waits = upstream.vouched(clone), approvals.waiting(clone)
    return _tiers(seen, approvals.tiers(clone, own, vouched, waits, seen=texts))


def _tiers(seen: Sequence[VisibleMemory], known: Tiers) -> Mapping[tuple[str, str], str]:
    found: dict[tuple[str, str], str] = {}
    for one in seen:
        name, blob = text = (one.memory.id, one.sighting.blob)
        tier = known.of(name, blob=blob, edited=one.sighting.origin == "edit")
        found[text] = max(tier, found.get(text, T0))  # the same text twice: the least trusted source counts
    return found


def approved(clone: Clone, names: Collection[str]) -> set[str]:
    """Returns which of these memories a person approved, here or in the trusted trunk, in any text."""
    own, trunk = approvals.decided(clone, names), upstream.vouched(clone).latest
    known = Tiers(own, upstream.vouched(clone), (), causes=Causes(clone))
    here = {one.target for one in own if one.kind == "accept" and one.blob and known.stands(one)}
    return here | {name for name in names if trunk.get(name) == "accept"}


def approved_text(clone: Clone, name: str, path: str) -> str | None:
    """Returns the text of a memory that a person approved last, if git still has it."""
    vouched = upstream.vouched(clone)
    own = approvals.decided(clone, {name})
    known = Tiers(own, vouched, (), causes=Causes(clone))
    given = [one for one in own if one.kind == "accept" and one.blob and known.stands(one)]
    here = [max(given, key=lambda one: one.place).blob or ""] if given else []
    wanted = [*here, *filter(None, [vouched.texts.get(name)])]
    found = clone.repo.blobs(wanted)
    if data := next((found[blob] for blob in wanted if blob in found), None):
        return data.decode("utf-8", "replace")
    versions = clone.repo.history("HEAD", [path]) if wanted else []  # one entry of a file that holds several
    files = clone.repo.blobs(blob for _, _, blob in versions if blob)
    pieces = (one for data in files.values() for one in approval_proofs.texts(clone.repo, {path: data}))
    return next((one.text for one in pieces if one.blob in wanted), None)


def outranks(one: str, other: str) -> bool:
    """Whether a memory of the first tier may supersede one of the second."""
    return one <= other


def erased_elsewhere(clone: Clone) -> list[str]:
    """Returns what another clone erased, by HEAD's log, and this one still stores: hidden, but on the disk."""
    here = {name for store in clone.stores for name in store.listed(store.erased)}
    theirs = {name for name in clone.erased() if name not in here}
    if not theirs:
        return []
    held = {name for store in clone.stores for name in theirs if _keeps(store, name)}
    # The paths with a text in this clone: a pending change, or a published one.
    kept = (c for store in clone.stores for c in (*pending_changes.waiting(store), *pending_changes.published(store)))
    files = [*clone.repo.tree("HEAD", layout.MEMORY), *(change.path for change in kept if change.text is not None)]
    held |= {name for name in theirs if any(path.endswith(f"-{name}.md") for path in files)}
    for event in clone.all_events():
        if event.body and event.kind != "erase" and clone.bodies.has(event.body):
            held |= theirs & {event.hash_self, event.target, event.run_id}
    return sorted(held)


def _keeps(store: layout.Layout, name: str) -> bool:
    """Whether a store has a run's capsule or a candidate with this id."""
    return os.path.isdir(store.run(name)) or os.path.lexists(os.path.join(store.candidates, f"{name}.md"))
