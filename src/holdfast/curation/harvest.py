"""Harvest: what a run or a session said becomes candidates, each with where it was said.

Nothing here is trusted: what comes of it waits for a person. What is known, waits already or was rejected,
in these or in other words, does not pile up.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from holdfast.curation import extraction
from holdfast.curation.propose import propose
from holdfast.errors import HoldfastError
from holdfast.git.clone import Clone
from holdfast.model.memory import Candidate
from holdfast.model.provenance import Provenance
from holdfast.model.said import Found, Said, Tried

Ask = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
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
    evidence: Sequence[str] = (),
    sent: Sequence[str] = (),
    ask: Ask | None = None,
) -> Harvested:
    """Propose what was said; by the user's model command if there is one, else by our own rules.

    `source` is the run or session, such as run:<id>; `sent` are the packs that its agent was given, which
    must not come back as its own words.
    """
    found = extraction.asked(turns, ask) if ask is not None and turns else None
    if found is None:
        found = extraction.found(turns, sent=sent)
    new, joined, refused = [], 0, 0
    for one in found:
        started = clone.now()
        try:
            made = _proposed(clone, one, source, evidence)
        except HoldfastError:  # rejected before, or not fit to be kept
            refused += 1
            continue
        if isinstance(made, Candidate) and _is_new(clone, made.id, started):
            new.append(made.id)
        else:
            joined += 1
    return Harvested(tuple(new), joined, refused)


def _proposed(clone: Clone, one: Found, source: str, evidence: Sequence[str]) -> object:
    return propose(
        clone,
        kind=one.kind,
        statement=one.statement,
        details=f"Rationale: {one.why}" if one.why else "",
        confidence=one.confidence,
        evidence=evidence,
        source=source if source.startswith("run:") else None,
        provenance=[Provenance(source, one.turn, one.words)],
        tags=[one.rule],
    )


def _is_new(clone: Clone, identity: str, since: str) -> bool:
    times = [e.ts for e in clone.own_events() if e.kind == "propose" and e.target == identity]
    return min(times, default=since) >= since
