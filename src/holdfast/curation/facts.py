"""Which memories stand here: trusted, stale, unreviewed, expired, superseded, retired, broken or in clash.

Only what was approved, has not run out and whose evidence is as it was counts as trusted. Trust is computed
from what this clone recorded, never read from the file: whoever can write a file could write "approved" into
it, too.
"""

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from holdfast.curation import trust
from holdfast.curation.decisions import Standing
from holdfast.errors import Ambiguous, BadInput, BrokenEntry
from holdfast.git import parts
from holdfast.git.approvals import EDITED, UNCHECKED, Approvals, words_of
from holdfast.git.clone import Clone
from holdfast.git.evidence import State, states
from holdfast.git.parts import Placed
from holdfast.git.proofs import Text
from holdfast.git.visible import Sighting
from holdfast.model.memory import Accepted, Memory, Retired, is_expired
from holdfast.store import layout
from holdfast.values import frozen, replace


@frozen
class Seen:
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
class Broken:
    """A file that cannot be read as a memory; it is left out and left alone."""

    path: str
    message: str
    claims: tuple[str, ...] = ()  # the ids that it may have had, by its text and by its name


@frozen
class Clashing:
    """A memory changed here and in the branch's history, each in its own way: both texts."""

    path: str
    id: str
    ours: str
    theirs: str


@frozen
class Facts:
    """Everything a listing shows, each kind apart."""

    trusted: tuple[Standing, ...]
    stale: tuple[Standing, ...]
    unreviewed: tuple[Standing, ...]  # also what was edited since a person approved it
    expired: tuple[Standing, ...]
    superseded: tuple[Standing, ...]
    retired: tuple[Standing, ...]
    broken: tuple[Broken, ...]
    clashes: tuple[Clashing, ...]

    @property
    def standings(self) -> tuple[Standing, ...]:
        return (*self.trusted, *self.stale, *self.unreviewed, *self.expired, *self.superseded, *self.retired)


def facts(clone: Clone, now: datetime, *, kind: str | None = None) -> Facts:
    """How every memory, or every one of a type, stands here at this moment."""
    return told(clone, now, kind=kind)[0]


def told(clone: Clone, now: datetime, *, kind: str | None = None) -> tuple[Facts, dict[tuple[str, str], Seen]]:
    """The same, and the entries themselves by the path and id of their standing."""
    seen, broken = read(clone)
    clashes = tuple(_clash(one) for one in seen if one.sighting.clash is not None)
    agreed = [one for one in seen if one.sighting.clash is None]
    by_status: dict[str, list[Standing]] = defaultdict(list)
    for standing in _standings(clone, agreed, now):
        if kind in (None, standing.memory.type):  # whatever folder its file was moved to
            by_status[standing.status].append(standing)
    folder = f"{layout.FOLDER_OF[kind] if kind else layout.MEMORY}/"
    found = Facts(
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


def read(clone: Clone, folder: str = layout.MEMORY) -> tuple[list[Seen], list[Broken]]:
    """The memories visible below a folder, and the files that are none."""
    seen: list[Seen] = []
    broken: list[Broken] = []
    erased = clone.erased()
    for placed in parts.placed(clone.repo, clone.entries(folder)):
        try:
            memory = _entry(placed)
        except BrokenEntry as error:
            broken.append(Broken(placed.sighting.path, str(error), _claims(placed.sighting)))
            continue
        if memory.id not in erased:
            seen.append(_seen(placed, memory))
    return seen, broken


def _claims(sighting: Sighting) -> tuple[str, ...]:
    """The ids that a file may have had which cannot be read: what its text says, and how its name ends."""
    words = os.path.basename(sighting.path).removesuffix(".md").split("-")
    named = ("-".join(words[start:]) for start in range(len(words)))
    return tuple(filter(None, (Text(sighting.path, "", sighting.text).id, *named)))


def _seen(placed: Placed, memory: Accepted | Retired) -> Seen:
    alone = placed.file is placed.sighting
    return Seen(placed.sighting, memory, None if alone else placed.file, placed.start)


def by_id(seen: Iterable[Seen], identity: str) -> Seen | None:
    """The one entry of this id; two files that claim it are nobody's choice but a person's."""
    found = [one for one in seen if one.memory.id == identity]
    if len(found) > 1:
        raise Ambiguous(
            f"{identity} stands in {' and in '.join(one.sighting.path for one in found)}",
            hint="Give one of the files another id.",
        )
    return found[0] if found else None


def is_approved(clone: Clone, seen: Sequence[Seen], one: Seen) -> bool:
    """Whether somebody approved this entry, among all that are visible."""
    return _speaks(trust.judged(clone, seen), one)


def by_hand(clone: Clone, one: Seen) -> Seen:
    """The same memory as the work tree has it, where somebody edited the file over a change that waits."""
    file = one.file or one.sighting
    edited = file.edited
    if edited is None or edited == file.text:
        return one
    blob = clone.repo.hash_blob(edited.encode())
    found = list(parts.apart(clone.repo, replace(file, text=edited, blob=blob, origin="edit", edited=None)))
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


def _entry(placed: Placed) -> Accepted | Retired:
    memory = placed.parse()
    if not isinstance(memory, Accepted | Retired):
        where = f"{placed.sighting.path}:{placed.line}"
        raise BrokenEntry(f"{where} is a candidate or a tombstone; entries are accepted or deprecated")
    return memory


def _clash(one: Seen) -> Clashing:
    return Clashing(one.sighting.path, one.memory.id, one.sighting.text, one.sighting.clash or "")


def _standings(clone: Clone, seen: Sequence[Seen], now: datetime) -> list[Standing]:
    known = trust.judged(clone, seen)
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
        after = next((name for name, rank in newer.get(one.memory.id, ()) if trust.outranks(rank, tier)), None)
        status = _status(
            one.memory,
            approved=_place(one) in approved,
            doubt=_doubt(known, one),
            superseded=after is not None,
            stale=is_stale(one.memory, evidence),
            now=now,
        )
        copied = chief.get(one.memory.id) if known.is_repeat(one) else None
        found.append(_standing(one, evidence, status=status, tier=tier, newer=after, copied=copied))
    return found


def _doubt(known: trust.Judged, one: Seen) -> str:
    """How a text stands that does not count as approved."""
    if not known.is_edited(one) or known.is_repeat(one):
        return "unreviewed"
    return UNCHECKED if one.memory.id in known.unchecked else EDITED


def _is_approved(known: trust.Judged, one: Seen) -> bool:
    """Whether somebody approved this text, or that it no longer holds."""
    return _speaks(known, one) or (_ends(known.approvals, one) and not known.is_repeat(one))


def _speaks(known: trust.Judged, one: Seen) -> bool:
    """Whether somebody approved this text; a file that only repeats another's id is no memory of its own."""
    if known.is_repeat(one) or known.is_edited(one):
        return False
    by_person = known.tier(one) == trust.T0 and isinstance(one.memory, Accepted)
    return by_person or _covers(known.approvals, one)


def _place(one: Seen) -> tuple[str, int]:
    return one.sighting.path, one.start


def _newer(approved: Iterable[Seen], known: trust.Judged) -> Mapping[str, list[tuple[str, str]]]:
    """Which memories are to take the place of which, with how far each of them is trusted.

    Only what was approved itself may take another's place, and only that of one it outranks: else any file
    could silence a fact. And what a person let take another's place keeps it, whatever becomes of its file.
    """
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for one in approved:
        for old in one.memory.supersedes if isinstance(one.memory, Accepted) else ():
            found[old].append((one.memory.id, known.tier(one)))
    for old, name in known.kept.items():
        found[old].append((name, trust.T0))
    return found


def _standing(
    one: Seen, evidence: Mapping[str, State], *, status: str, tier: str, newer: str | None, copied: str | None
) -> Standing:
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
    return Standing(
        memory,
        status,
        path=sighting.path,
        blob=sighting.blob,
        trust=tier,
        receipts=tuple((text, evidence[text]) for text in memory.evidence),
        notes=tuple(notes),
    )


def _is_edited_since(one: Seen) -> bool:
    """Whether the work tree has another text of it than the change that waits."""
    edited, path = one.sighting.edited, one.sighting.path
    if one.file is None or edited is None:
        return edited not in (None, one.sighting.text)
    return parts.by_id(edited, path).get(one.memory.id) not in (None, one.sighting.text)


_SAID: dict[State, str] = {
    "holds": "holds",
    "changed": "has changed since it was cited",
    "gone": "is not here any more",
    "unanchored": "is on no branch any more",
}
_SPANS = ("file:", "lines:", "symbol:")


def is_stale(memory: Memory, states: Mapping[str, State]) -> bool:
    """Whether something of a file that it cites is not as it was; a lost run or commit says nothing of it."""
    return any(text.startswith(_SPANS) and states[text] in ("changed", "gone") for text in memory.evidence)


def _status(memory: Memory, *, approved: bool, doubt: str, superseded: bool, stale: bool, now: datetime) -> str:
    if not approved:
        return doubt
    if isinstance(memory, Retired):
        return "deprecated"
    if superseded:
        return "superseded"
    if is_expired(memory, now):
        return "expired"
    return "stale" if stale else "accepted"


def _ends(approved: Approvals, one: Seen) -> bool:
    """Whether it says that it no longer holds, and somebody recorded just that."""
    return isinstance(one.memory, Retired) and approved.ends(one.memory.id, blob=one.sighting.blob)


def _covers(approved: Approvals, one: Seen) -> bool:
    return approved.covers(
        one.memory.id,
        blob=one.sighting.blob,
        words=words_of(one.memory.statement),
        edited=one.sighting.origin == "edit",
    )
