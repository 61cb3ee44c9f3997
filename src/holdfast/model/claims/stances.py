"""Contrary stances: what one clause asserts or demands, the other denies, forbids or leaves open."""

from holdfast.model.claims.alignment import Shared, elsewhere, mass, paired
from holdfast.model.claims.modality import CONTRARY, FLIPPED, MAY, NO, OPT, YES
from holdfast.model.claims.numbers import equal
from holdfast.model.claims.reading import Clause
from holdfast.model.claims.statement import Verdict
from holdfast.model.claims.words import terms, weight

_HELD, _HELD_OPPOSED, _ALIKE = 0.7, 0.6, 0.3  # found on the pairs for development, not sharp


def stances(one: Clause, other: Clause, shared: Shared) -> Verdict | None:
    """Contrary stances to the same thing; or the same stance to opposite things."""
    shared, flips = paired(one, other, shared)
    theirs = FLIPPED[other.stance] if flips else other.stance
    if (one.stance, theirs) not in CONTRARY or shared.siblings or _other_figures(one, other):
        return None
    if not _same_matter(one, other, shared, flips=flips):
        return None
    kind = "modality" if {OPT, MAY} & {one.stance, other.stance} else "negation"
    return Verdict(kind, f"one says {_said(one)}, the other {_said(other)}", min(0.95, 0.5 + shared.held / 2))


def _same_matter(one: Clause, other: Clause, shared: Shared, *, flips: bool) -> bool:
    """Whether what one denies is what the other asserts."""
    strong = sum(weight(name) == 1.0 for name in shared.common)
    alike = 0.25 if one.refused or other.refused else _ALIKE  # what is refused by name is meant
    held = _HELD_OPPOSED if flips else _HELD
    if strong >= 2:  # much in common: what else a long sentence says matters less
        alike, held = (0.2, 0.4) if strong >= 3 else (0.25, 0.55)
    if not strong or shared.held < held or shared.alike < alike or elsewhere(one, other, shared):
        return False
    if _other_subject(one, other):
        return False
    if flips and strong < 3 and min(mass(shared.left), mass(shared.right)) >= 1.0:
        return False
    if flips:
        return mass(shared.common) >= 1.5 or shared.alike > 0.6
    denying = [clause for clause in (one, other) if clause.stance in (NO, OPT)]
    asserting = other if one in denying else one
    if denying[0].acts and denying[0].verb not in _GENERIC and _does_other(asserting, shared):
        return False
    return all(_denied(clause, shared.common) for clause in denying)


def _other_subject(one: Clause, other: Clause) -> bool:
    """Whether both say who or what, in the same voice, and it is not the same."""
    if one.passive != other.passive or one.subject & other.names or other.subject & one.names:
        return False
    return mass(one.subject) >= 1.0 and mass(other.subject) >= 1.0


_GENERIC = terms("touch make use have need get do run happen take reach hit let keep be is are")


def _does_other(clause: Clause, shared: Shared) -> bool:
    """Whether a clause tells of another act: the importer validates rows, it does not update them."""
    return clause.verb in clause.names - shared.common and weight(clause.verb) == 1.0


def _denied(clause: Clause, common: frozenset[str]) -> bool:
    core = mass(clause.core)
    if clause.stance == NO and not clause.refused and clause.first and clause.first not in common:
        return False
    share = 0.67 if clause.core <= clause.subject else 0.5  # `snapshot tests are banned` is not of all tests
    return core == 0 or mass(clause.core & common) >= core * share


def _other_figures(one: Clause, other: Clause) -> bool:
    """Whether the figures make them two things: Python 3.8 is dropped, Python 3.11 is supported."""
    return any(a.dimension == b.dimension and not equal(a, b) for a in one.figures for b in other.figures)


_SAID = {YES: "yes", NO: "no", MAY: "may", OPT: "need not"}


def _said(clause: Clause) -> str:
    return f"{_SAID[clause.stance]} ({' '.join(word.raw for word in clause.words)[:80]})"
