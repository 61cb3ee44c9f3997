"""How far each memory visible here is trusted; only T0 may speak to an agent that did not ask.

Computed from what this clone recorded itself and from the trunk that the user trusted, never from
a word in the memory's own file: whoever can write a file could write "approved" into it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.git import approvals, supersession, upstream
from holdfast.git.approvals import T0, T2, T4, Approval, Approvals, Causes, Tiers

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from holdfast.curation.facts import Seen
    from holdfast.git.clone import Clone

__all__ = ["T0", "T2", "T4", "judged", "outranks", "tiers"]


@dataclass(frozen=True, slots=True)
class Judged:
    """What the log says about the memories that are visible here."""

    approvals: Approvals
    tiers: Mapping[tuple[str, str], str]  # by a memory's id and its text's blob
    repeats: Collection[tuple[str, str, str]]  # id, blob and path of what only repeats an approved id
    kept: Mapping[str, str]  # what stays superseded, to what took its place by a person's word
    hidden: Sequence[str]  # what a person approved here and another clone erased

    def tier(self, one: Seen) -> str:
        return T4 if self.is_repeat(one) else self.tiers[one.memory.id, one.sighting.blob]

    def is_repeat(self, one: Seen) -> bool:
        return (one.memory.id, one.sighting.blob, one.sighting.path) in self.repeats


def judged(clone: Clone, seen: Sequence[Seen]) -> Judged:
    """Who approved what, and the tier of every text, from one look at the log."""
    claims = [one.memory.id for one in seen]
    everybody, own = approvals.heard(clone, set(claims))
    vouched = upstream.vouched(clone)
    known = Tiers(own, vouched, approvals.waiting(clone), causes=Causes(clone))
    visible = {(one.memory.id, one.sighting.blob) for one in seen}
    return Judged(
        Approvals(everybody, claims),
        _tiers(seen, known),
        approvals.repeats(((one.memory.id, one.sighting.blob, one.sighting.path) for one in seen), known),
        supersession.kept(clone, own, known, vouched, visible=visible),
        _hidden(clone.erased_elsewhere(), own, known),
    )


def _hidden(erased: Collection[str], own: Iterable[Approval], known: Tiers) -> list[str]:
    stood = (one for one in own if one.target in erased and one.kind == "accept")
    return sorted({one.target for one in stood if known.stands(one)})


def tiers(clone: Clone, seen: Sequence[Seen]) -> Mapping[tuple[str, str], str]:
    """The tier of every text, by its memory's id and its blob."""
    own = approvals.decided(clone, {one.memory.id for one in seen})
    return _tiers(seen, Tiers(own, upstream.vouched(clone), approvals.waiting(clone), causes=Causes(clone)))


def _tiers(seen: Sequence[Seen], known: Tiers) -> Mapping[tuple[str, str], str]:
    found: dict[tuple[str, str], str] = {}
    for one in seen:
        name, blob = text = (one.memory.id, one.sighting.blob)
        tier = known.of(name, blob=blob, edited=one.sighting.origin == "edit")
        found[text] = max(tier, found.get(text, T0))  # the same text twice: the least trusted way in counts
    return found


def outranks(one: str, other: str) -> bool:
    """Whether what has the first tier may take the place of what has the second."""
    return one <= other
