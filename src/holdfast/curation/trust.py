"""How far each memory visible here is trusted; only T0 may speak to an agent that did not ask.

Computed from what this clone recorded itself and from the trunk that the user trusted, never from
a word in the memory's own file: whoever can write a file could write "approved" into it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.git import approvals, upstream
from holdfast.git.approvals import T0, T2, T4, Approval, Approvals, Tiers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from holdfast.curation.facts import Seen
    from holdfast.git.clone import Clone

__all__ = ["T0", "T2", "T4", "judged", "outranks", "tiers"]


def judged(clone: Clone, seen: Sequence[Seen]) -> tuple[Approvals, Mapping[tuple[str, str], str]]:
    """Who approved what, and the tier of every text, from one look at the log."""
    claims = [one.memory.id for one in seen]
    everybody, own = approvals.heard(clone, set(claims))
    return Approvals(everybody, claims), _tiers(clone, seen, own)


def tiers(clone: Clone, seen: Sequence[Seen]) -> Mapping[tuple[str, str], str]:
    """The tier of every text, by its memory's id and its blob."""
    return _tiers(clone, seen, approvals.decided(clone, {one.memory.id for one in seen}))


def _tiers(clone: Clone, seen: Sequence[Seen], own: Iterable[Approval]) -> Mapping[tuple[str, str], str]:
    known = Tiers(own, upstream.vouched(clone), approvals.waiting(clone))
    found: dict[tuple[str, str], str] = {}
    for one in seen:
        name, blob = text = (one.memory.id, one.sighting.blob)
        tier = known.of(name, blob=blob, edited=one.sighting.origin == "edit")
        found[text] = max(tier, found.get(text, T0))  # the same text twice: the least trusted way in counts
    return found


def outranks(one: str, other: str) -> bool:
    """Whether what has the first tier may take the place of what has the second."""
    return one <= other
