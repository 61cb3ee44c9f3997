"""Which memories stay superseded though the text that took their place is not here as it was approved.

A person approved a memory that takes another's place. Whoever touches its file by a pull request, or deletes
it, takes the trust from the text, but does not bring the old memory back: only a decision does. It holds
where that approval can be seen: a branch that has never heard of it has never seen the new text either.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from holdfast.errors import BrokenEntry
from holdfast.git.approvals import T0, UNDOING, Approval, Causes, Tiers, Vouched
from holdfast.git.clone import Clone
from holdfast.model.memory import Accepted
from holdfast.store import entries


def kept(
    clone: Clone, own: Iterable[Approval], tiers: Tiers, vouched: Vouched, *, visible: Collection[tuple[str, str]]
) -> dict[str, str]:
    """Each memory that stays superseded, to the one that took its place.

    `own` are this clone's decisions about every memory, `visible` the texts here by id and blob.
    """
    names = {name for name, _ in visible}
    speaking = {name for name, blob in visible if tiers.of(name, blob=blob, edited=False) == T0}
    given: dict[str, list[Approval]] = defaultdict(list)
    for one in own:
        if one.kind == "accept" and one.target not in speaking:
            given[one.target].append(one)
    gone = {name for name in given if vouched.latest.get(name) in UNDOING}
    here = _replaced(clone, [one for name in given.keys() - gone for one in given[name]], names)
    there = {name: names.intersection(olds) for name, olds in vouched.replaced.items() if name not in speaking}
    if not any((*here.values(), *there.values())):
        return {}
    seen = [event for event in clone.events() if event.kind == "accept"]
    hashes, targets = {event.hash_self for event in seen}, {event.target for event in seen}
    held = {name: olds for name, olds in there.items() if name in targets}
    for name in {place[0] for place, olds in here.items() if olds}:
        last = _last([one for one in given[name] if one.place[1] in hashes and tiers.stands(one)], clone)
        held |= {name: here[name, last.place[1]]} if last else {}
    return {old: name for name, olds in sorted(held.items()) for old in olds}


def _last(approvals: Iterable[Approval], clone: Clone) -> Approval | None:
    causes, found = Causes(clone), None
    for one in approvals:
        found = one if found is None or causes.later(one.place, found.place) else found
    return found


def _replaced(clone: Clone, approvals: Iterable[Approval], names: set[str]) -> Mapping[tuple[str, str], set[str]]:
    """What the text of each approval supersedes; where no body says so, git may still have the text."""
    given = list(approvals)
    texts = clone.repo.blobs(one.blob for one in given if one.replaces is None and one.blob)
    found = {}
    for one in given:
        olds = _supersedes(texts.get(one.blob or "")) if one.replaces is None else one.replaces
        found[one.target, one.place[1]] = names.intersection(olds)
    return found


def _supersedes(data: bytes | None) -> tuple[str, ...]:
    try:
        memory = entries.parse((data or b"").decode("utf-8", "replace"), "")
    except BrokenEntry:
        return ()
    return memory.supersedes if isinstance(memory, Accepted) else ()
