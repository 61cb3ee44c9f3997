"""Which memories stand here: trusted, stale, unreviewed, expired, superseded, retired, broken or in clash.

Only what was approved, has not run out and whose evidence is as it was counts as trusted. Trust is computed from what this clone
recorded, never read from the file: whoever can write a file could write "approved" into it, too.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from holdfast.curation import decisions
from holdfast.curation.decisions import Standing
from holdfast.errors import Ambiguous, BrokenEntry
from holdfast.git.approvals import Approvals, recorded, words_of
from holdfast.git.clone import Clone
from holdfast.git.evidence import State, states
from holdfast.git.visible import Sighting
from holdfast.model.memory import Accepted, Memory, Retired, is_expired
from holdfast.store import entries, layout


@dataclass(frozen=True, slots=True)
class Seen:
    """An entry visible here, read."""

    sighting: Sighting
    memory: Accepted | Retired


@dataclass(frozen=True, slots=True)
class Broken:
    """A file that cannot be read as a memory; it is left out and left alone."""

    path: str
    message: str


@dataclass(frozen=True, slots=True)
class Clashing:
    """A memory changed here and in the branch's history, each in its own way: both texts."""

    path: str
    id: str
    ours: str
    theirs: str


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything a listing shows, each kind apart."""

    trusted: tuple[Standing, ...]
    stale: tuple[Standing, ...]
    unreviewed: tuple[Standing, ...]
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
    seen, broken = read(clone, layout.FOLDER_OF[kind] if kind else layout.MEMORY)
    for one in [one for one in seen if _misplaced(one)]:
        seen.remove(one)
        folder = one.sighting.path.split("/")[2]
        broken.append(Broken(one.sighting.path, f"{one.sighting.path}:1 is a {one.memory.type} among {folder}"))
    clashes = tuple(_clash(one) for one in seen if one.sighting.clash is not None)
    agreed = [one for one in seen if one.sighting.clash is None]
    by_status: dict[str, list[Standing]] = defaultdict(list)
    for standing in _standings(clone, agreed, now):
        by_status[standing.status].append(standing)
    return Facts(
        trusted=tuple(by_status["accepted"]),
        stale=tuple(by_status["stale"]),
        unreviewed=tuple(by_status["unreviewed"]),
        expired=tuple(by_status["expired"]),
        superseded=tuple(by_status["superseded"]),
        retired=tuple(by_status["deprecated"]),
        broken=tuple(broken),
        clashes=clashes,
    )


def _misplaced(one: Seen) -> bool:
    """Whether an entry lies in the folder of another type; elsewhere below `memory/` any may lie."""
    kinds = [kind for kind, folder in layout.FOLDER_OF.items() if one.sighting.path.startswith(f"{folder}/")]
    return bool(kinds) and one.memory.type not in kinds


def read(clone: Clone, folder: str = layout.MEMORY) -> tuple[list[Seen], list[Broken]]:
    """The memories visible below a folder, and the files that are none."""
    seen: list[Seen] = []
    broken: list[Broken] = []
    erased = clone.erased()
    for sighting in clone.entries(folder):
        try:
            memory = _entry(sighting)
        except BrokenEntry as error:
            broken.append(Broken(sighting.path, str(error)))
            continue
        if memory.id not in erased:
            seen.append(Seen(sighting, memory))
    return seen, broken


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
    return _covers(_approvals(clone, seen), one)


def by_hand(clone: Clone, one: Seen) -> Seen:
    """The same memory as the work tree has it, where somebody edited the file over a change that waits."""
    edited = one.sighting.edited
    if edited is None or edited == one.sighting.text:
        return one
    blob = clone.repo.hash_blob(edited.encode())
    sighting = replace(one.sighting, text=edited, blob=blob, origin="edit", edited=None)
    return Seen(sighting, _entry(sighting))


def _entry(sighting: Sighting) -> Accepted | Retired:
    memory = entries.parse(sighting.text, sighting.path)
    if not isinstance(memory, Accepted | Retired):
        raise BrokenEntry(
            f"{sighting.path}:1 is a candidate or a tombstone; entries are accepted or deprecated"
        )
    return memory


def _clash(one: Seen) -> Clashing:
    return Clashing(one.sighting.path, one.memory.id, one.sighting.text, one.sighting.clash or "")


def _standings(clone: Clone, seen: Sequence[Seen], now: datetime) -> list[Standing]:
    approvals, accepted = _approvals(clone, seen), _accepted(clone, seen)
    approved = {one.sighting.path for one in seen if _covers(approvals, one)}
    evidence = states(clone, (text for one in seen for text in one.memory.evidence))
    # Only what was approved itself may take another's place: else any file could silence a fact.
    newer = {
        old: one.memory.id
        for one in seen
        if isinstance(one.memory, Accepted) and one.sighting.path in approved
        for old in one.memory.supersedes
    }
    return [
        _standing(
            one,
            evidence,
            status=_status(
                one.memory,
                approved=one.sighting.path in approved,
                superseded=one.memory.id in newer,
                stale=is_stale(one.memory, evidence),
                now=now,
            ),
            by_person=(one.memory.id, one.sighting.blob) in accepted,
            newer=newer.get(one.memory.id),
        )
        for one in seen
    ]


def _standing(
    one: Seen, evidence: Mapping[str, State], *, status: str, by_person: bool, newer: str | None
) -> Standing:
    memory, sighting = one.memory, one.sighting
    notes = [f"{text} {_SAID[evidence[text]]}" for text in memory.evidence if evidence[text] != "holds"]
    if newer is not None:
        notes.append(f"superseded by {newer}")
    if sighting.origin == "edit":
        notes.append("edited by hand")
    elif sighting.edited not in (None, sighting.text):
        notes.append("edited by hand since; accept it to take the edit")
    return Standing(
        memory,
        status,
        path=sighting.path,
        blob=sighting.blob,
        trust="T0" if by_person else "T2",
        receipts=tuple((text, evidence[text]) for text in memory.evidence),
        notes=tuple(notes),
    )


_SAID: dict[State, str] = {
    "holds": "holds",
    "changed": "has changed since it was cited",
    "gone": "is not here any more",
    "unanchored": "is on no branch any more",
}
_SPANS = ("file:", "lines:", "symbol:")


def is_stale(memory: Memory, states: Mapping[str, State]) -> bool:
    """Whether something of a file that it cites is not as it was; a lost run or commit says nothing of that."""
    return any(text.startswith(_SPANS) and states[text] in ("changed", "gone") for text in memory.evidence)


def _status(memory: Memory, *, approved: bool, superseded: bool, stale: bool, now: datetime) -> str:
    if isinstance(memory, Retired):
        return "deprecated"
    if not approved:
        return "unreviewed"
    if superseded:
        return "superseded"
    if is_expired(memory, now):
        return "expired"
    return "stale" if stale else "accepted"


def _approvals(clone: Clone, seen: Sequence[Seen]) -> Approvals:
    claims = [one.memory.id for one in seen]
    return Approvals(recorded(clone, set(claims)), claims)


def _covers(approved: Approvals, one: Seen) -> bool:
    return approved.covers(
        one.memory.id,
        blob=one.sighting.blob,
        words=words_of(one.memory.statement),
        edited=one.sighting.origin == "edit",
    )


def _accepted(clone: Clone, seen: Sequence[Seen]) -> set[tuple[str, str]]:
    """The texts, as (id, blob), that a person approved in this very clone."""
    names = {one.memory.id for one in seen}
    found = decisions.recorded(clone, names, ("accept",))
    return {(event.target or "", body.get("blob") or "") for event, body in found}
