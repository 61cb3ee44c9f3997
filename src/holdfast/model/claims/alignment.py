"""What two clauses have in common, what each has for itself, and whether they can speak of one thing."""

from collections.abc import Iterable
from functools import lru_cache

from holdfast.model.claims.clauses import Clause
from holdfast.model.claims.numbers import Quantity
from holdfast.model.claims.vocabulary import word_list
from holdfast.model.claims.word_stems import opposed, terms, weight
from holdfast.values import frozen


@frozen
class ClauseOverlap:
    """The words of two clauses, sorted."""

    common: frozenset[str]
    left: frozenset[str]
    right: frozenset[str]
    opposites: tuple[tuple[str, str], ...]
    siblings: frozenset[str]  # words of which each side has another in front of the same word

    @property
    def held(self) -> float:
        """How much of the smaller clause is in the other, from 0 to 1."""
        both = mass(self.common)
        return both / (both + min(mass(self.left), mass(self.right))) if both else 0.0

    @property
    def alike(self) -> float:
        """How much of all is in both, from 0 to 1."""
        both = mass(self.common)
        return both / (both + mass(self.left) + mass(self.right)) if both else 0.0


def mass(names: Iterable[str]) -> float:
    """The weight of some words together."""
    return sum(map(weight, names))


@lru_cache(maxsize=4096)
def share(one: Clause, other: Clause) -> ClauseOverlap:
    """The two clauses' words, sorted into common, own and opposed."""
    common = one.names & other.names
    left, right = one.names - common, other.names - common
    opposites = tuple((a, b) for a in sorted(left) for b in sorted(right) if opposed(a, b))
    return ClauseOverlap(common, left, right, opposites, _siblings(one, other, left, right))


def _siblings(one: Clause, other: Clause, left: frozenset[str], right: frozenset[str]) -> frozenset[str]:
    """What narrows the same word differently on each side: `billing service`, `catalog service`."""
    ours = {(word, head) for word, head in one.modifiers if word in left}
    theirs = {(word, head) for word, head in other.modifiers if word in right}
    heads = {head for _, head in ours} & {head for _, head in theirs}
    return frozenset(word for word, head in ours | theirs if head in heads)


def paired(one: Clause, other: Clause, shared: ClauseOverlap) -> tuple[ClauseOverlap, bool]:
    """The same with two opposite words counted as one, and whether there are such.

    Not where both only narrow a subject: public and private endpoints are two things.
    """
    for a, b in shared.opposites:
        if not (_narrows(one, a) and _narrows(other, b)):
            left, right = shared.left - {a}, shared.right - {b}
            return ClauseOverlap(shared.common | {a}, left, right, shared.opposites, shared.siblings), True
    return shared, False


def _narrows(clause: Clause, name: str) -> bool:
    return any(word == name for word, _ in clause.modifiers)


def apart(one: Clause, other: Clause) -> bool:
    """Whether both name surroundings of one kind and have none in common, or speak of different acts."""
    theirs = dict(other.scope)
    return any(name in theirs and not members & theirs[name] for name, members in one.scope)


# What a time can be of a thing; two of these are two attributes.
_TIMES = {name: terms(word_list(f"alignment.{name}")) for name in word_list("alignment.times").split()}


def same_time(one: Clause, other: Clause) -> bool:
    """Whether both times can be of one attribute: CI takes 20 minutes, its timeout is another thing."""
    ours, theirs = ({name for name, words in _TIMES.items() if words & clause.names} for clause in (one, other))
    return not ours or not theirs or bool(ours & theirs)


def figures_met(a: Clause, b: Clause) -> list[tuple[Quantity, Quantity]]:
    """The figures of two clauses that measure one thing, or may do so."""
    pairs = [(x, y, x.dimension, y.dimension) for x in a.figures for y in b.figures]
    return [
        (x, y)
        for x, y, one, other in pairs
        if one == other or ("" in (one, other) and not (one + other).startswith("version"))
    ]
