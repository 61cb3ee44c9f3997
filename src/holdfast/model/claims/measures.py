"""Figures that disagree: one attribute of one thing, measured alike, with values that exclude each other."""

from holdfast.model.claims.alignment import Shared, mass
from holdfast.model.claims.modality import NO
from holdfast.model.claims.numbers import EXACT, Quantity, disagree
from holdfast.model.claims.reading import Clause
from holdfast.model.claims.statement import Verdict
from holdfast.model.claims.words import terms, weight

# Words that only lead to a figure.
MEASURES = terms(
    """limit limited maximum minimum size rate most least exceed budget cap capped number amount count up
    default total newer expire store accept refuse reject length recommend allow hold width pin require
    support longer small large per value set character run enough restrict kill abort cancel terminate
    version dependency deadline keep valid sufficient reach stay grow wait contain include"""
)
# What a time can be of a thing; two of these are two attributes.
_TIMES = {
    "timeout": terms("timeout kill abort cancel"),
    "life": terms("expire valid lifetime retention store"),
    "work": terms("take finish complete duration latency response respond"),
    "delay": terms("delay wait backoff debounce sleep"),
    "interval": terms("interval frequency every cadence"),
    "grace": terms("grace cooldown"),
}


def measures(one: Clause, other: Clause, shared: Shared) -> Verdict | None:
    """Figures of one attribute that cannot both be meant."""
    if shared.siblings or (NO in (one.stance, other.stance) and one.stance != other.stance):
        return None
    for a in one.figures:
        for b in other.figures:
            if _clash(one, a, other, b):
                return Verdict("number", f"{a.shown} against {b.shown}", min(0.95, 0.5 + shared.held / 2))
    return None


def _clash(one: Clause, a: Quantity, other: Clause, b: Quantity) -> bool:
    if not _measured_alike(one, a, other, b) or not disagree(a, b) or _met(one, other, a):
        return False
    return _same_attribute(one, a, other, b)


def _measured_alike(one: Clause, a: Quantity, other: Clause, b: Quantity) -> bool:
    if a.dimension == b.dimension:
        return a.dimension != "time" or same_time(one, other)
    if "" in (a.dimension, b.dimension):
        unit = (a.dimension or b.dimension).removeprefix("count:")
        return unit in (one if not a.dimension else other).names
    return False


def same_time(one: Clause, other: Clause) -> bool:
    """Whether both times can be of one attribute: CI takes 20 minutes, its timeout is another thing."""
    ours, theirs = ({name for name, words in _TIMES.items() if words & clause.names} for clause in (one, other))
    return not ours or not theirs or bool(ours & theirs)


def _met(one: Clause, other: Clause, a: Quantity) -> bool:
    """Whether a list of values meets another: versions 3.11, 3.12 and 3.12, 3.13."""
    pairs = [(x, y) for x in one.figures for y in other.figures if x.dimension == y.dimension == a.dimension]
    return any(not disagree(x, y) for x, y in pairs)


def _same_attribute(one: Clause, a: Quantity, other: Clause, b: Quantity) -> bool:
    units = {figure.dimension.rpartition(":")[2] for figure in (a, b)}
    named = a.dimension.startswith("version:")
    ours, theirs = (clause.names - MEASURES - (set() if named else units) for clause in (one, other))
    common = ours & theirs
    both, least = mass(common) + named, min(mass(ours - common), mass(theirs - common))
    if not common:  # `there are 12 shards`: what is counted is all there is
        counted = a.dimension == b.dimension and a.dimension.startswith("count:") and a.sense == b.sense
        counted = counted and least == 0
        return (mass(ours | theirs) <= (2 if counted else 0)) and bool(one.names & other.names)
    if a.sense != b.sense and EXACT in (a.sense, b.sense) and not named and least >= 1.0:
        return False
    if sum(weight(name) == 1.0 for name in common) >= 2:
        return True
    return both >= 1.0 and both / (both + least) > (0.49 if named else 0.55)
