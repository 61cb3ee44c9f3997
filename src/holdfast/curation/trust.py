"""How far each memory visible here is trusted; only T0 may speak to an agent that did not ask.

Computed from what this clone recorded itself and from the trunk that the user trusted, never from
a word in the memory's own file: whoever can write a file could write "approved" into it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.git import approvals, proofs, supersession, upstream
from holdfast.git.approvals import T0, T2, T4, Approval, Approvals, Causes, Tiers
from holdfast.values import frozen

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from holdfast.curation.facts import Seen
    from holdfast.git.clone import Clone

__all__ = ["T0", "T2", "T4", "approved", "approved_text", "judged", "outranks", "tiers"]


@frozen
class Judged:
    """What the log says about the memories that are visible here."""

    approvals: Approvals
    tiers: Mapping[tuple[str, str], str]  # by a memory's id and its text's blob
    repeats: Collection[tuple[str, str, str]]  # id, blob and path of what only repeats an approved id
    kept: Mapping[str, str]  # what stays superseded, to what took its place by a person's word
    hidden: Sequence[str]  # what a person approved here and another clone erased
    edited: Collection[tuple[str, str]]  # id and blob of texts that are not the one that a person approved
    unchecked: Collection[str]  # ids of those among them of which a shallow clone cannot tell

    def tier(self, one: Seen) -> str:
        return T4 if self.is_repeat(one) else self.tiers[one.memory.id, one.sighting.blob]

    def is_edited(self, one: Seen) -> bool:
        """Whether a person approved another text of it; an edit in the work tree is not committed yet."""
        return one.sighting.origin != "edit" and (one.memory.id, one.sighting.blob) in self.edited

    def is_repeat(self, one: Seen) -> bool:
        return (one.memory.id, one.sighting.blob, one.sighting.path) in self.repeats


def judged(clone: Clone, seen: Sequence[Seen]) -> Judged:
    """Who approved what, and the tier of every text, from one look at the log."""
    claims = [one.memory.id for one in seen]
    everybody, own = approvals.heard(clone, set(claims))
    vouched = upstream.vouched(clone)
    visible = {(one.memory.id, one.sighting.blob) for one in seen}
    known = approvals.tiers(clone, own, vouched, approvals.waiting(clone), seen=visible)
    return Judged(
        Approvals(everybody, claims),
        _tiers(seen, known),
        approvals.repeats(((one.memory.id, one.sighting.blob, one.sighting.path) for one in seen), known),
        supersession.kept(clone, own, known, vouched, visible=visible),
        _hidden(clone.erased_elsewhere(), own, known),
        known.edited(visible),
        vouched.unchecked,
    )


def _hidden(erased: Collection[str], own: Iterable[Approval], known: Tiers) -> list[str]:
    stood = (one for one in own if one.target in erased and one.kind == "accept")
    return sorted({one.target for one in stood if known.stands(one)})


def tiers(clone: Clone, seen: Sequence[Seen]) -> Mapping[tuple[str, str], str]:
    """The tier of every text, by its memory's id and its blob."""
    own = approvals.decided(clone, {one.memory.id for one in seen})
    texts = {(one.memory.id, one.sighting.blob) for one in seen}
    vouched, waits = upstream.vouched(clone), approvals.waiting(clone)
    return _tiers(seen, approvals.tiers(clone, own, vouched, waits, seen=texts))


def _tiers(seen: Sequence[Seen], known: Tiers) -> Mapping[tuple[str, str], str]:
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
    pieces = (one for data in files.values() for one in proofs.texts(clone.repo, {path: data}))
    return next((one.text for one in pieces if one.blob in wanted), None)


def outranks(one: str, other: str) -> bool:
    """Whether what has the first tier may take the place of what has the second."""
    return one <= other
