"""Two statements held against each other: do they contradict, do they say the same?

Every rule asks first whether both speak of the same thing: in surroundings that meet, with words in common,
and with no word on each side that makes it another thing (`access tokens`, `refresh tokens`). Where that
is in doubt the rules stay silent: a reviewer who is warned for nothing stops reading warnings.
"""

from dataclasses import replace

from holdfast.model.claims import values
from holdfast.model.claims.alignment import apart, mass, paired, share
from holdfast.model.claims.measures import MEASURES, measures
from holdfast.model.claims.modality import FLIPPED
from holdfast.model.claims.numbers import Quantity, disagree
from holdfast.model.claims.paths import overlap
from holdfast.model.claims.reading import Clause, read
from holdfast.model.claims.stances import stances
from holdfast.model.claims.statement import Statement, Verdict

_RULES = (measures, stances, values.things, values.frames, values.swapped, values.only)


def conflict(accepted: Statement, candidate: Statement, *, gone: bool = False) -> Verdict | None:
    """Why the candidate contradicts the accepted statement, or None.

    `gone`: the first was superseded or rejected; then only the same claim again is a conflict.
    """
    if not overlap(accepted.applies_to, candidate.applies_to):
        return None
    if gone:
        again = same(accepted, candidate)
        return Verdict("twin", "the same claim was put aside before", 0.9) if again else None
    if accepted.text == candidate.text:
        return None
    ours, theirs = read(accepted.text, accepted.kind), read(candidate.text, candidate.kind)
    found = [verdict for a in ours for b in theirs if (verdict := clash(a, b))]
    return max(found, key=lambda verdict: verdict.score, default=None)


def clash(one: Clause, other: Clause) -> Verdict | None:
    """Why two clauses cannot both hold, or None."""
    if (one.tried and other.tried) or apart(one, other):
        return None
    shared = share(one, other)
    for rule in _RULES:
        if verdict := rule(one, other, shared):
            return verdict
    return None


def same(one: Statement, other: Statement) -> bool:
    """Whether two statements are one claim in other words."""
    if one.text == other.text:
        return True
    ours, theirs = read(one.text, one.kind), read(other.text, other.kind)
    if not ours or not theirs:
        return one.text.split() == other.text.split()
    tried = [[clause for clause in side if clause.tried] for side in (ours, theirs)]
    if all(tried) and alike(tried[0][0], tried[1][0]):
        return True
    ours, theirs = (tuple(clause for clause in side if not clause.tried) or side for side in (ours, theirs))
    shorter, longer = sorted((ours, theirs), key=len)  # who adds a remark still says the same
    return all(any(alike(a, b) for b in longer) for a in shorter)


def alike(one: Clause, other: Clause) -> bool:
    """Whether two clauses say the same."""
    shared = share(one, other)
    if one.refused and other.refused:
        return one.core == other.core
    if apart(one, other) or shared.siblings or not _figures_alike(one, other):
        return False
    if one.figures:
        units = {figure.dimension.rpartition(":")[2] for figure in one.figures + other.figures}
        shared = replace(shared, left=shared.left - MEASURES - units, right=shared.right - MEASURES - units)
    joined, flips = paired(one, other, shared)
    if one.stance != (FLIPPED[other.stance] if flips else other.stance) or values.swapped(one, other, shared):
        return False
    things = [{thing.name for thing in clause.things} for clause in (one, other)]
    if one.mentions != other.mentions and things[0] != things[1] and joined.alike < 0.85:
        return False
    return joined.alike >= 0.7 or (joined.alike >= 0.6 and min(mass(joined.left), mass(joined.right)) <= 0.5)


def _figures_alike(one: Clause, other: Clause) -> bool:
    if len(one.figures) != len(other.figures):
        return False
    return all(any(_near(a, b) for b in other.figures) for a in one.figures)


def _near(a: Quantity, b: Quantity) -> bool:
    return (a.dimension == b.dimension or "" in (a.dimension, b.dimension)) and not disagree(a, b)
