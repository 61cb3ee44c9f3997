"""Two statements held against each other: do they contradict, do they say the same?

Rules for plain sentences speak first (`clash`); what they say is one piece of evidence among others, and
the judge decides: a long sentence seldom fits a rule, and a rule is sometimes wrong. Where there is doubt it
stays silent: a reviewer who is warned for nothing stops reading warnings.
"""

import math
from collections.abc import Mapping
from functools import cache

from holdfast.model.claims import trees, values, weights
from holdfast.model.claims.alignment import apart, mass, paired, share
from holdfast.model.claims.evidence import Found, common, evidence
from holdfast.model.claims.explanation import explained
from holdfast.model.claims.labels import labelled_apart, written_apart
from holdfast.model.claims.measures import MEASURES, measures
from holdfast.model.claims.modality import FLIPPED
from holdfast.model.claims.numbers import Quantity, disagree
from holdfast.model.claims.paths import overlap
from holdfast.model.claims.reading import Clause, read
from holdfast.model.claims.signs import signs
from holdfast.model.claims.stances import stances
from holdfast.model.claims.statement import Statement, Verdict
from holdfast.values import replace

LEAST = 0.15  # what two statements have in common if they are about one thing: most of a telling word
_RULES = (measures, stances, values.things, values.frames, values.swapped, values.only)


def conflict(accepted: Statement, candidate: Statement, *, gone: bool = False) -> Verdict | None:
    """Why the candidate contradicts the accepted statement, or None.

    `gone`: the first was superseded or rejected; then only the same claim again is a conflict.
    """
    if not overlap(accepted.applies_to, candidate.applies_to):
        return None
    if gone:
        again = same(accepted, candidate) or _twins(accepted, candidate)
        return Verdict("twin", "the same claim was put aside before", 0.9) if again else None
    if accepted.text == candidate.text or labelled_apart(accepted.text, candidate.text):
        return None
    rule = ruled(accepted, candidate)
    if rule is None and common(signs(accepted.text).names, signs(candidate.text).names) < LEAST:
        return None
    found = evidence(accepted, candidate, rule)
    score = trees.total(trees.read(weights.CONFLICT), found)
    if score < weights.CONFLICT_FROM and not _denied_outright(found):
        return None
    kind, why = (rule.kind, rule.why) if rule else explained(accepted, candidate, found)
    return Verdict(kind, why, round(1 / (1 + math.exp(-score)), 3))


def _denied_outright(found: Found) -> bool:
    """Whether one says all that the other says, but that a name is denied: `…, not in Redis`."""
    return bool(found["flip names"]) and found["held"] >= 0.99 and not found["deny both"]


def ruled(one: Statement, other: Statement) -> Verdict | None:
    """What the rules for plain sentences find, the surest first."""
    ours, theirs = read(one.text, one.kind), read(other.text, other.kind)
    found = [verdict for a in ours for b in theirs if (verdict := clash(a, b))]
    return max(found, key=lambda verdict: verdict.score, default=None)


def _twins(one: Statement, other: Statement) -> bool:
    """Whether two statements are most likely one claim, however it is worded."""
    if labelled_apart(one.text, other.text):
        return False
    found = evidence(one, other, ruled(one, other))
    if trees.total(trees.read(weights.CONFLICT), found) >= weights.CONFLICT_FROM:
        return False
    return _sum(_table(weights.TWIN), found) >= weights.TWIN_FROM


@cache
def _table(text: str) -> Mapping[str, float]:
    pairs = (line.rpartition(":") for line in text.strip().splitlines())
    return {name: float(weight) for name, _, weight in pairs}


def _sum(table: Mapping[str, float], found: Found) -> float:
    return sum(table.get(name, 0.0) * amount for name, amount in found.items())


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
    if labelled_apart(one.text, other.text) or written_apart(one.text, other.text):
        return False
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
