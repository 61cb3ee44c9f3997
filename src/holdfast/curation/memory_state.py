"""Which memories stand here and how far each is trusted; only T0 is shown to an agent that did not ask.

A memory is trusted, stale, unreviewed, expired, superseded, retired, broken or in clash. Only what was approved, has
not expired and whose evidence is unchanged counts as trusted. Trust is computed from what this clone recorded itself
and from the trunk that the user trusted, never from a word in the memory's own file: whoever can write a file could
write "approved" into it. `erased_elsewhere` lists what another clone erased and this one still holds: hidden, but on
the disk.
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
from holdfast.model.memory import Accepted, Memory, Retired, is_expired
from holdfast.store import layout, pending_changes
from holdfast.values import frozen, replace


@frozen
class VisibleMemory:
    """An entry visible here, read; its sighting is its own, also where its file holds several."""

    sighting: Sighting
    memory: Accepted | Retired
    file: Sighting | None = None  # where the file holds more than this entry
    start: int = 0  # characters of the file before this entry

    def rewritten(self, text: str) -> str:
        """The whole file, with another text in the place of this entry's own."""
        if self.file is None or text == self.sighting.text:
            return text if self.file is None else self.file.text
        if self.file.origin != self.sighting.origin:  # somebody edits a neighbour
            raise BadInput(
                f"{self.sighting.path} holds your own edit, which is not overwritten",
                hint="Accept what you edited there, or undo it, and do this again.",
            )
        before, after = self.file.text[: self.start], self.file.text[self.start + len(self.sighting.text) :]
        return f"{before}{text if text.endswith(chr(10)) or not after else text + chr(10)}{after}"


@frozen
class BrokenMemory:
    """A file that cannot be read as a memory; it is left out and left alone."""

    path: str
    message: str
    claims: tuple[str, ...] = ()  # the ids that it may have had, by its text and by its name


@frozen
class ClashingMemory:
    """A memory changed here and in the branch's history, each in its own way: both texts."""

    path: str
    id: str
    ours: str
    theirs: str


@frozen
class MemoryListing:
    """Everything a listing shows, each kind apart."""

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
    """How every memory, or every one of a type, stands here at this moment."""
    return list_with_entries(clone, now, kind=kind)[0]


def list_with_entries(
    clone: Clone, now: datetime, *, kind: str | None = None
) -> tuple[MemoryListing, dict[tuple[str, str], VisibleMemory]]:
    """The same, and the entries themselves by the path and id of their standing."""
    seen, broken = read_visible(clone)
    sides = [(one.memory.id, one.sighting, one.sighting.clash) for one in seen]
    clashes = [ClashingMemory(s.path, name, s.text, theirs) for name, s, theirs in sides if theirs is not None]
    agreed = [one for one in seen if one.sighting.clash is None]
    by_status: dict[str, list[MemoryStanding]] = defaultdict(list)
    for standing in _standings(clone, agreed, now):
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
    return found, {(one.sighting.path, one.memory.id): one for one in agreed}


def read_visible(clone: Clone) -> tuple[list[VisibleMemory], list[BrokenMemory]]:
    """The memories visible here, and the files that are none."""
    seen: list[VisibleMemory] = []
    broken: list[BrokenMemory] = []
    erased = clone.erased()
    for placed in file_entries.placed(clone.repo, clone.entries(layout.MEMORY)):
        try:
            memory = _entry(placed)
        except BrokenEntry as error:
            broken.append(BrokenMemory(placed.sighting.path, str(error), _claims(placed.sighting)))
            continue
        if memory.id not in erased:
            seen.append(_seen(placed, memory))
    return seen, broken


def _claims(sighting: Sighting) -> tuple[str, ...]:
    """The ids that a file may have had which cannot be read: what its text says, and how its name ends."""
    words = os.path.basename(sighting.path).removesuffix(".md").split("-")
    named = ("-".join(words[start:]) for start in range(len(words)))
    return tuple(filter(None, (approval_proofs.ProvenText(sighting.path, "", sighting.text).id, *named)))


def _seen(placed: file_entries.FileEntry, memory: Accepted | Retired) -> VisibleMemory:
    alone = placed.file is placed.sighting
    return VisibleMemory(placed.sighting, memory, None if alone else placed.file, placed.start)


def by_id(seen: Iterable[VisibleMemory], identity: str) -> VisibleMemory | None:
    """The one entry of this id; two files that claim it are nobody's choice but a person's."""
    found = [one for one in seen if one.memory.id == identity]
    if len(found) > 1:
        raise Ambiguous(
            f"{identity} stands in {' and in '.join(one.sighting.path for one in found)}",
            hint="Give one of the files another id.",
        )
    return found[0] if found else None


def is_approved(clone: Clone, seen: Sequence[VisibleMemory], one: VisibleMemory) -> bool:
    """Whether somebody approved this entry, among all that are visible."""
    return _speaks(judge_trust(clone, seen), one)


def by_hand(clone: Clone, one: VisibleMemory) -> VisibleMemory:
    """The same memory as the work tree has it, where somebody edited the file over a change that waits."""
    file = one.file or one.sighting
    edited = file.edited
    if edited is None or edited == file.text:
        return one
    blob = clone.repo.hash_blob(edited.encode())
    found = list(file_entries.apart(clone.repo, replace(file, text=edited, blob=blob, origin="edit", edited=None)))
    if len(found) == 1 and one.file is None:
        return _seen(found[0], _entry(found[0]))
    for placed in found:
        try:
            memory = _entry(placed)
        except BrokenEntry:
            continue
        if memory.id == one.memory.id:
            return _seen(placed, memory)
    return one  # taken out by hand: absence from a file is no decision


def _entry(placed: file_entries.FileEntry) -> Accepted | Retired:
    memory = placed.parse()
    if not isinstance(memory, Accepted | Retired):
        where = f"{placed.sighting.path}:{placed.line}"
        raise BrokenEntry(f"{where} is a candidate or a tombstone; entries are accepted or deprecated")
    return memory


def _standings(clone: Clone, seen: Sequence[VisibleMemory], now: datetime) -> list[MemoryStanding]:
    known = judge_trust(clone, seen)
    for name in known.hidden:
        said = f"{name}, which was approved here, is hidden: another clone erased it"
        if (told := f"{said}; to delete it here, too: holdfast erase {name}") not in clone.notes:
            clone.notes.append(told)
    approved = {_place(one) for one in seen if _is_approved(known, one)}
    evidence = states(clone, (text for one in seen for text in one.memory.evidence))
    newer = _newer((one for one in seen if _place(one) in approved), known)
    chief = {one.memory.id: one.sighting.path for one in seen if known.repeats and not known.is_repeat(one)}
    found = []
    for one in seen:
        tier = known.tier(one)
        after = next((name for name, rank in newer.get(one.memory.id, ()) if outranks(rank, tier)), None)
        status = _doubt(known, one)
        if _place(one) in approved:
            status = _status(one.memory, evidence, superseded=after is not None, now=now)
        copied = chief.get(one.memory.id) if known.is_repeat(one) else None
        found.append(_standing(one, evidence, status=status, tier=tier, newer=after, copied=copied))
    return found


def _doubt(known: TrustJudgement, one: VisibleMemory) -> str:
    """How a text stands that does not count as approved."""
    if not known.is_edited(one) or known.is_repeat(one):
        return "unreviewed"
    return UNCHECKED if one.memory.id in known.unchecked else EDITED


def _is_approved(known: TrustJudgement, one: VisibleMemory) -> bool:
    """Whether somebody approved this text, or that it no longer holds."""
    ended = isinstance(one.memory, Retired) and known.approvals.ends(one.memory.id, blob=one.sighting.blob)
    return _speaks(known, one) or (ended and not known.is_repeat(one))


def _speaks(known: TrustJudgement, one: VisibleMemory) -> bool:
    """Whether somebody approved this text; a file that only repeats another's id is no memory of its own."""
    if known.is_repeat(one) or known.is_edited(one):
        return False
    if known.tier(one) == T0 and isinstance(one.memory, Accepted):
        return True
    words, edited = partial(words_of, one.memory.statement), one.sighting.origin == "edit"
    return known.approvals.covers(one.memory.id, blob=one.sighting.blob, words=words, edited=edited)


def _place(one: VisibleMemory) -> tuple[str, int]:
    return one.sighting.path, one.start


def _newer(approved: Iterable[VisibleMemory], known: TrustJudgement) -> Mapping[str, list[tuple[str, str]]]:
    """Which memories are to take the place of which, with how far each of them is trusted.

    Only what was approved itself may take another's place, and only that of one it outranks: else any file
    could silence a fact. And what a person let take another's place keeps it, whatever becomes of its file.
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
    notes = [f"{text} {_SAID[evidence[text]]}" for text in memory.evidence if evidence[text] != "holds"]
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
    """Whether the work tree has another text of it than the change that waits."""
    edited, path = one.sighting.edited, one.sighting.path
    if one.file is None or edited is None:
        return edited not in (None, one.sighting.text)
    return file_entries.by_id(edited, path).get(one.memory.id) not in (None, one.sighting.text)


_SAID: dict[State, str] = {
    "changed": "has changed since it was cited",
    "gone": "is not here any more",
    "unanchored": "is on no branch any more",
}
_SPANS = ("file:", "lines:", "symbol:")


def _status(memory: Memory, states: Mapping[str, State], *, superseded: bool, now: datetime) -> str:
    """How an approved memory stands; where it cites files, not where it cites a run or commit, it may be stale."""
    if isinstance(memory, Retired):
        return "deprecated"
    if superseded:
        return "superseded"
    if is_expired(memory, now):
        return "expired"
    stale = any(text.startswith(_SPANS) and states[text] in ("changed", "gone") for text in memory.evidence)
    return "stale" if stale else "accepted"


__all__ = ["T0", "T2", "T4", "approved", "approved_text", "judge_trust", "outranks", "tiers"]


@frozen
class TrustJudgement:
    """What the log says about the memories that are visible here."""

    approvals: Approvals
    tiers: Mapping[tuple[str, str], str]  # by a memory's id and its text's blob
    repeats: Collection[tuple[str, str, str]]  # id, blob and path of what only repeats an approved id
    kept: Mapping[str, str]  # what stays superseded, to what took its place by a person's word
    hidden: Sequence[str]  # what a person approved here and another clone erased
    edited: Collection[tuple[str, str]]  # id and blob of texts that are not the one that a person approved
    unchecked: Collection[str]  # ids of those among them of which a shallow clone cannot tell

    def tier(self, one: VisibleMemory) -> str:
        return T4 if self.is_repeat(one) else self.tiers[one.memory.id, one.sighting.blob]

    def is_edited(self, one: VisibleMemory) -> bool:
        """Whether a person approved another text of it; an edit in the work tree is not committed yet."""
        if not self.edited or one.sighting.origin == "edit":
            return False
        return (one.memory.id, one.sighting.blob) in self.edited

    def is_repeat(self, one: VisibleMemory) -> bool:
        return bool(self.repeats) and (one.memory.id, one.sighting.blob, one.sighting.path) in self.repeats


def judge_trust(clone: Clone, seen: Sequence[VisibleMemory]) -> TrustJudgement:
    """Who approved what, and the tier of every text, from one look at the log."""
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
    """What a person approved here, and another clone erased."""
    return sorted({one.target for one in own if one.target in erased and one.kind == "accept" and known.stands(one)})


def tiers(clone: Clone, seen: Sequence[VisibleMemory]) -> Mapping[tuple[str, str], str]:
    """The tier of every text, by its memory's id and its blob."""
    own = approvals.decided(clone, {one.memory.id for one in seen})
    texts = {(one.memory.id, one.sighting.blob) for one in seen}
    vouched, waits = upstream.vouched(clone), approvals.waiting(clone)
    return _tiers(seen, approvals.tiers(clone, own, vouched, waits, seen=texts))


def _tiers(seen: Sequence[VisibleMemory], known: Tiers) -> Mapping[tuple[str, str], str]:
    found: dict[tuple[str, str], str] = {}
    for one in seen:
        name, blob = text = (one.memory.id, one.sighting.blob)
        tier = known.of(name, blob=blob, edited=one.sighting.origin == "edit")
        found[text] = max(tier, found.get(text, T0))  # the same text twice: the least trusted way in counts
    return found


def approved(clone: Clone, names: Collection[str]) -> set[str]:
    """Which of these memories a person approved, here or in the trusted trunk, in whatever text."""
    own, trunk = approvals.decided(clone, names), upstream.vouched(clone).latest
    known = Tiers(own, upstream.vouched(clone), (), causes=Causes(clone))
    here = {one.target for one in own if one.kind == "accept" and one.blob and known.stands(one)}
    return here | {name for name in names if trunk.get(name) == "accept"}


def approved_text(clone: Clone, name: str, path: str) -> str | None:
    """The text of a memory that a person approved last, as far as git still has it."""
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
    """Whether what has the first tier may take the place of what has the second."""
    return one <= other


def erased_elsewhere(clone: Clone) -> list[str]:
    """What another clone erased, as HEAD's log says, and this one still holds: hidden, but on the disk."""
    here = {name for store in clone.stores for name in store.listed(store.erased)}
    theirs = {name for name in clone.erased() if name not in here}
    if not theirs:
        return []
    held = {name for store in clone.stores for name in theirs if _keeps(store, name)}
    # The paths of which this clone keeps a text: one that waits, or one it published.
    kept = (c for store in clone.stores for c in (*pending_changes.waiting(store), *pending_changes.published(store)))
    files = [*clone.repo.tree("HEAD", layout.MEMORY), *(change.path for change in kept if change.text is not None)]
    held |= {name for name in theirs if any(path.endswith(f"-{name}.md") for path in files)}
    for event in clone.all_events():
        if event.body and event.kind != "erase" and clone.bodies.has(event.body):
            held |= theirs & {event.hash_self, event.target, event.run_id}
    return sorted(held)


def _keeps(store: layout.Layout, name: str) -> bool:
    """Whether a store has a run's capsule or a candidate of this name."""
    return os.path.isdir(store.run(name)) or os.path.lexists(os.path.join(store.candidates, f"{name}.md"))
