"""Which memories stand here: trusted, unreviewed, expired, superseded, retired, broken or in clash.

Only what was approved and has not run out counts as trusted. Trust is computed from what this clone
recorded, never read from the file: whoever can write a file could write "approved" into it, too.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from holdfast.curation import decisions
from holdfast.curation.decisions import Standing
from holdfast.errors import Ambiguous, BrokenEntry
from holdfast.git.clone import Clone
from holdfast.git.evidence import State, states
from holdfast.git.visible import Sighting
from holdfast.model.memory import Accepted, Memory, Retired, is_expired, same_words
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
    unreviewed: tuple[Standing, ...]
    expired: tuple[Standing, ...]
    superseded: tuple[Standing, ...]
    retired: tuple[Standing, ...]
    broken: tuple[Broken, ...]
    clashes: tuple[Clashing, ...]

    @property
    def standings(self) -> tuple[Standing, ...]:
        return (*self.trusted, *self.unreviewed, *self.expired, *self.superseded, *self.retired)


def facts(clone: Clone, now: datetime, *, kind: str = "fact") -> Facts:
    """How every memory of a type stands here at this moment."""
    seen, broken = read(clone, layout.FOLDER_OF[kind])
    for one in [one for one in seen if one.memory.type != kind]:
        seen.remove(one)
        broken.append(
            Broken(one.sighting.path, f"{one.sighting.path}:1 is a {one.memory.type} among the {kind}s")
        )
    clashes = tuple(_clash(one) for one in seen if one.sighting.clash is not None)
    agreed = [one for one in seen if one.sighting.clash is None]
    by_status: dict[str, list[Standing]] = defaultdict(list)
    for standing in _standings(clone, agreed, now):
        by_status[standing.status].append(standing)
    return Facts(
        trusted=tuple(by_status["accepted"]),
        unreviewed=tuple(by_status["unreviewed"]),
        expired=tuple(by_status["expired"]),
        superseded=tuple(by_status["superseded"]),
        retired=tuple(by_status["deprecated"]),
        broken=tuple(broken),
        clashes=clashes,
    )


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
    return _Approvals(clone, seen).covers(one)


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
    approved = _Approvals(clone, seen)
    evidence = states(clone, (text for one in seen for text in one.memory.evidence))
    # Only what was approved itself may take another's place: else any file could silence a fact.
    newer = {
        old: one.memory.id
        for one in seen
        if isinstance(one.memory, Accepted) and approved.covers(one)
        for old in one.memory.supersedes
    }
    return [_standing(one, approved, evidence, newer, now) for one in seen]


def _standing(
    one: Seen,
    approved: "_Approvals",
    evidence: Mapping[str, State],
    newer: Mapping[str, str],
    now: datetime,
) -> Standing:
    memory, sighting = one.memory, one.sighting
    notes = [f"{text} {_SAID[evidence[text]]}" for text in memory.evidence if evidence[text] != "holds"]
    if memory.id in newer:
        notes.append(f"superseded by {newer[memory.id]}")
    if sighting.origin == "edit":
        notes.append("edited by hand")
    elif sighting.edited not in (None, sighting.text):
        notes.append("edited by hand since; accept it to take the edit")
    return Standing(
        memory,
        _status(memory, approved=approved.covers(one), superseded=memory.id in newer, now=now),
        path=sighting.path,
        blob=sighting.blob,
        trust="T0" if approved.by_person(one) else "T2",
        receipts=tuple((text, evidence[text]) for text in memory.evidence),
        notes=tuple(notes),
    )


_SAID: dict[State, str] = {
    "holds": "holds",
    "changed": "has changed since it was cited",
    "gone": "is not here any more",
    "unanchored": "is on no branch any more",
}


def _status(memory: Memory, *, approved: bool, superseded: bool, now: datetime) -> str:
    if isinstance(memory, Retired):
        return "deprecated"
    if not approved:
        return "unreviewed"
    if superseded:
        return "superseded"
    return "expired" if is_expired(memory, now) else "accepted"


class _Approvals:
    """Which memories somebody approved, by this clone's events and by those git brought.

    An approval this clone recorded names the text and the words it was about. Of another clone's
    only the envelope came along: that the memory was approved, not in which words.
    """

    def __init__(self, clone: Clone, seen: Sequence[Seen]) -> None:
        counted = Counter(one.memory.id for one in seen)
        self._claimed_twice = {identity for identity, count in counted.items() if count > 1}
        own = {
            event.hash_self: body for event, body in decisions.recorded(clone, counted, decisions.APPROVALS)
        }
        self._texts: set[tuple[str, str]] = set()
        self._persons: set[tuple[str, str]] = set()
        self._latest: dict[str, dict[str, Any] | None] = {}
        for event in clone.all_events():
            identity = event.target or ""
            if event.kind not in decisions.APPROVALS or identity not in counted:
                continue
            body = self._latest[identity] = own.get(event.hash_self)
            about = (identity, (body or {}).get("blob") or "")
            self._texts.add(about)
            if event.kind == "accept":
                self._persons.add(about)

    def by_person(self, one: Seen) -> bool:
        """Whether a person approved this very text in this clone."""
        return (one.memory.id, one.sighting.blob) in self._persons

    def covers(self, one: Seen) -> bool:
        """Whether it counts: this text was approved, or its words were and no other file claims its id."""
        identity = one.memory.id
        if (identity, one.sighting.blob) in self._texts:
            return True
        if one.sighting.origin == "edit" or identity in self._claimed_twice or identity not in self._latest:
            return False
        body = self._latest[identity]
        # A formatter, or a merge of other fields, changes the text but not what was approved.
        return body is None or same_words(body.get("statement") or "", one.memory.statement)
