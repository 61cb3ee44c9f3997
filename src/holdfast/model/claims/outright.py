"""Whether two clauses contradict each other outright: one thing is changed, and everything else they say is the same.

That is what may block an acceptance. Of the pairs for development that it finds, 99 of 100 are contradictions; the
judge of `compare` finds more and is less sure.
"""

from itertools import pairwise

from holdfast.model.claims import modality
from holdfast.model.claims.alignment import ClauseOverlap, apart, figures_met, mass, paired, same_time, share
from holdfast.model.claims.clauses import Clause
from holdfast.model.claims.modality import CONTRARY, FLIPPED, YES
from holdfast.model.claims.numbers import disagree
from holdfast.model.claims.vocabulary import word_list
from holdfast.model.claims.word_stems import several, terms

# Words that only lead to a figure.
MEASURES = terms(word_list("outright.measures"))
# Words that turn a denial round or limit it: `no package other than`, `nothing older than`.
_LIMITS = several(word_list("outright.limits"))
_POINTS = several("it this that these those they he she such")
_PLACES = ("in", "with", "by", "from", "as", "to")


def outright(one: Clause, other: Clause) -> bool:
    """Whether nothing but one figure, one denial or one named value makes the difference."""
    if one.tried or other.tried or apart(one, other) or one.only != other.only:
        return False
    shared = share(one, other)
    if shared.siblings or not _same_subject(one, other, shared):
        return False
    met = figures_met(one, other)
    if met and all(disagree(a, b) for a, b in met):
        return len(one.figures) == len(other.figures) == 1 and _other_figure(one, other, shared)
    if (one.figures or other.figures) and (not met or any(disagree(a, b) for a, b in met)):
        return False
    return _denied(one, other, shared) or _other_value(one, other, shared)


def _same_subject(one: Clause, other: Clause, shared: ClauseOverlap) -> bool:
    """Whether both can be said of one subject; `it takes over` and `can be deleted` may be said of anything."""
    if one.words[0].low in _POINTS or other.words[0].low in _POINTS:
        return False
    if one.subject and other.subject:
        return bool(one.subject & other.names or other.subject & one.names)
    return mass(shared.common) >= 2.0


def _other_figure(one: Clause, other: Clause, shared: ClauseOverlap) -> bool:
    units = {figure.dimension.rpartition(":")[2] for figure in one.figures + other.figures}
    both, left, right = (names - MEASURES - units for names in (shared.common, shared.left, shared.right))
    counted = [
        {word.stem for word in c.words[c.figures[0].first : c.figures[0].last] if word.raw[0].isupper()} - units
        for c in (one, other)
    ]
    alike = mass(both) >= 1.0 and mass(left | right) <= 0.5 and len(units) == 1 and counted[0] == counted[1]
    return alike and one.stance == other.stance and same_time(one, other)


def _denied(one: Clause, other: Clause, shared: ClauseOverlap) -> bool:
    joined, flips = paired(one, other, shared)
    if (one.stance, FLIPPED[other.stance] if flips else other.stance) not in CONTRARY:
        return False
    words = (*one.words, *other.words)
    if any(a.low == "not" and b.low.endswith("ing") for a, b in pairwise(words)):
        return False  # `files not following it`: some of them
    if any(word.low == "," for word in words):
        return False  # what follows may say something else: `…, for private functions it is optional`
    denials = sum(modality.denies(clause.words, at) for clause in (one, other) for at in range(len(clause.words)))
    least, most = sorted((mass(joined.left), mass(joined.right)))
    alike = least <= 0.3 and joined.alike >= 0.65 and mass(joined.common) >= (1.5 if most else 1.0)
    return alike and denials <= 1 and not any(word.low in _LIMITS for word in words)


def _other_value(one: Clause, other: Clause, shared: ClauseOverlap) -> bool:
    """`Sessions are stored in Redis`, `… in Postgres`: another name behind the same preposition."""
    if not one.stance == other.stance == YES or shared.opposites or mass(shared.common) < 1.0:
        return False
    left, right, theirs = shared.left, shared.right, dict(other.slots)
    named = left & one.named and right & other.named and max(mass(left), mass(right)) <= 2.0
    return bool(named) and any(
        left <= value and right <= theirs[place] and not value & theirs[place]
        for place, value in one.slots
        if place in _PLACES and place in theirs
    )
