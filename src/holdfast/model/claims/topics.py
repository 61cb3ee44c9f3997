"""The value that a text leans to of a topic of which a thing has only one: how much of its phrase is said.

The table `topics` holds phrases as people write them.
"""

import math
from collections.abc import Iterator, Mapping
from functools import cache

from holdfast.model.claims.vocabulary import table
from holdfast.model.claims.word_stems import Token, several
from holdfast.values import frozen

Meaning = tuple[str, str]  # topic and value

_FILL = several("a an the our its their is are be been was were to of that this it we you your , for")
_NO = several("no not never without none don't isn't aren't cannot can't doesn't nothing nobody non")


@frozen
class TopicLeaning:
    """The value of a topic that a text leans to: how much of it is said (0 to 1), and with which sign."""

    value: str
    share: float
    sign: int


def _rows() -> Iterator[tuple[str, str, list[str]]]:
    """(topic, value, phrases) of the table."""
    for row in table("topics"):
        topic, *named = row.split("|")
        for value in named:
            name, _, spelled = value.partition("=")
            yield topic.strip(), name.strip(), spelled.split(",")


@frozen
class _Loose:
    """Every phrase as a bag of roots, found by its roots."""

    holders: Mapping[str, list[int]]  # root -> numbers of phrases
    worth: Mapping[str, float]  # root -> how much it tells
    whole: tuple[float, ...]  # by phrase: the worth of all its roots
    meant: tuple[Meaning, ...]
    denying: tuple[bool, ...]


_LEAST, _MANY, _TELLING = 0.6, 400, 3.5


def _root(low: str) -> str:
    """The first letters of a word, which its forms share."""
    return low if low in _NO else low.removesuffix("s")[:6]


@cache
def _loose() -> _Loose:
    holders: dict[str, list[int]] = {}
    bags: list[frozenset[str]] = []
    meant: list[Meaning] = []
    seen: dict[str, set[str]] = {}
    for topic, name, spelled in _rows():
        for form in spelled:
            bag = frozenset(_root(word) for word in form.replace("-", " ").split() if word not in _FILL)
            for root in bag:
                holders.setdefault(root, []).append(len(bags))
                seen.setdefault(root, set()).add(topic)
            bags.append(bag)
            meant.append((topic, name))
    worth = {root: math.log(len(meant) / 10 / len(topics)) for root, topics in seen.items()}
    whole = tuple(math.fsum(worth[root] for root in bag) for bag in bags)  # in any order: a set has none
    kept = {root: numbers for root, numbers in holders.items() if len(numbers) < _MANY or root in _NO}
    return _Loose(kept, worth, whole, tuple(meant), tuple(bool(bag & _NO) for bag in bags))


def leanings(words: tuple[Token, ...], signs: tuple[int, ...]) -> dict[str, TopicLeaning]:
    """For each topic of which a text says most of some value's phrase: the value it leans to."""
    table = _loose()
    said: dict[int, float] = {}
    denied: set[int] = set()
    for root, at in {_root(w.low): n for n, w in enumerate(words) if w.low not in _FILL}.items():
        for number in table.holders.get(root, ()):
            said[number] = said.get(number, 0.0) + table.worth[root]
            if signs[at] < 0:
                denied.add(number)
    found: dict[str, TopicLeaning] = {}
    for number, amount in said.items():
        share = amount / table.whole[number] if table.whole[number] > 0 else 0.0
        topic, value = table.meant[number]
        if amount < _TELLING or share < _LEAST or (topic in found and share <= found[topic].share):
            continue
        sign = -1 if number in denied and not table.denying[number] else 1
        found[topic] = TopicLeaning(value, share, sign)
    return found
