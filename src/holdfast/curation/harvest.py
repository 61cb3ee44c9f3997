"""Harvest: what a run or a session said becomes candidates, each with where it was said.

Nothing here is trusted: what comes of it waits for a person. What is known, waits already or was rejected,
in these or in other words, does not pile up.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from holdfast.curation.ground import Ground, together
from holdfast.curation.propose import propose
from holdfast.errors import HoldfastError, NotStored, ReadOnlyStore
from holdfast.git.clone import Clone
from holdfast.git.mentioned import mentioned
from holdfast.model.later import Later
from holdfast.model.memory import Accepted, Candidate
from holdfast.model.provenance import Provenance
from holdfast.model.said import Found, Said, Tried
from holdfast.values import frozen

if TYPE_CHECKING:
    from holdfast.curation import extraction
else:
    extraction = Later("holdfast.curation.extraction")  # dear to load, and few commands read what was said

Ask = Callable[[str], str | None]
Cited = Callable[[Found], Sequence[str]]


@frozen
class Harvested:
    """What came of it."""

    new: tuple[str, ...] = ()  # ids of candidates that nobody had proposed before
    joined: int = 0  # times something known got one more witness
    refused: int = 0  # times it had been rejected before, or could not be taken


def harvest(
    clone: Clone,
    turns: Sequence[Said | Tried],
    *,
    source: str,
    evidence: Cited,
    sent: Sequence[str] = (),
    ask: Ask | None = None,
) -> Harvested:
    """Propose what was said; by the user's model command if there is one, else by our own rules.

    `source` is the run or session, such as run:<id>; `evidence` gives what each find rests on. `sent` are the
    packs that its agent was given: they must not come back as its own words.
    """
    found = extraction.asked(turns, ask, sent=sent) if ask is not None and turns else None
    if found is None:
        found = extraction.found(turns, sent=sent)
    return _proposed(clone, found, source, evidence) if found else Harvested()


def _proposed(clone: Clone, found: Sequence[Found], source: str, evidence: Cited) -> Harvested:
    """Propose each; where it holds is what its own words name of the repository."""
    new, joined, refused = [], 0, 0
    named = mentioned(clone.repo, (one.statement for one in found))
    with together(clone) as ground:
        for one in found:
            before = set(ground.ids)
            try:
                made = _propose(clone, one, source, evidence=evidence(one), named=named[one.statement], ground=ground)
            except (NotStored, ReadOnlyStore):  # the disk's refusal says nothing about what was found
                raise
            except HoldfastError:  # rejected before, or not fit to be kept
                refused += 1
                continue
            if made.id not in before:
                new.append(made.id)
            else:
                joined += 1
    return Harvested(tuple(new), joined, refused)


def _propose(
    clone: Clone, one: Found, source: str, *, evidence: Sequence[str], named: Sequence[str], ground: Ground
) -> Candidate | Accepted:
    return propose(
        clone,
        ground=ground,
        kind=one.kind,
        statement=one.statement,
        details=f"Rationale: {one.why}" if one.why else "",
        confidence=one.confidence,
        evidence=evidence,
        applies_to=named,
        source=source if source.startswith("run:") else None,
        provenance=[Provenance(source, one.turn, one.words)],
        tags=[one.rule.replace(" ", "-")],
    )
