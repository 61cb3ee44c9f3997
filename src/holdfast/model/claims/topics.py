"""The value that a text leans to of a topic of which a thing has only one: how much of its phrase is said.

The table `topics` holds phrases as people write them.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
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


_LEAST, _MANY, _TELLING = 0.6, 200, 3.5
_MARKS = str.maketrans("|=,-", "    ")


def _root(low: str) -> str:
    """The first letters of a word, which its forms share."""
    return "" if low in _FILL else low if low in _NO else low.removesuffix("s")[:6]


class _Rows:
    """The topics by the roots of their phrases; one is taken apart when a text says enough of it."""

    def __init__(self) -> None:
        self._named = [row.split("|") for row in table("topics")]
        spelled = [" ".join(value.partition("=")[2] for value in named[1:]) for named in self._named]
        words = [text.translate(_MARKS).split() for text in spelled]
        roots = {word: _root(word) for word in set().union(*words)}
        self._holders: dict[str, list[int]] = defaultdict(list)
        for number, one in enumerate(words):
            for root in {roots[word] for word in one}:
                self._holders[root].append(number)
        self._apart: dict[int, list[tuple[Meaning, set[str], float]]] = {}
        self._count = sum(text.count(",") for text in spelled) + sum(len(named) - 1 for named in self._named)

    def holders(self, root: str) -> Sequence[int]:
        """The numbers of the topics with a root, unless they are too many to tell anything."""
        found = self._holders.get(root, ()) if root else ()
        return found if len(found) < _MANY or root in _NO else ()

    def worth(self, root: str) -> float:
        """How much a root tells."""
        return math.log(self._count / 10 / len(self._holders[root]))

    def phrases(self, number: int) -> list[tuple[Meaning, set[str], float]]:
        """The phrases of a topic as bags of roots, each with what it means and the worth of all of it."""
        if number not in self._apart:
            topic, *values = self._named[number]
            named = [(value.partition("=")[0].strip(), value.partition("=")[2].split(",")) for value in values]
            bags = [
                ((topic.strip(), name), {*map(_root, form.translate(_MARKS).split())} - {""})
                for name, forms in named
                for form in forms
            ]
            self._apart[number] = [(meant, bag, math.fsum(map(self.worth, bag))) for meant, bag in bags]
        return self._apart[number]


_rows = cache(_Rows)


def leanings(words: tuple[Token, ...], signs: tuple[int, ...]) -> dict[str, TopicLeaning]:
    """For each topic of which a text says most of some value's phrase: the value it leans to."""
    rows = _rows()
    places = {root: at for at, word in enumerate(words) if rows.holders(root := _root(word.low))}
    worth = {root: rows.worth(root) for root in places}
    said: dict[int, float] = defaultdict(float)
    for root, amount in worth.items():
        for number in rows.holders(root):
            said[number] += amount
    order = {root: place for place, root in enumerate(places)}
    found: list[tuple[float, int, int, str, TopicLeaning]] = []
    roots, most = set(worth), max(worth.values(), default=0.0)
    for row in (number for number, amount in said.items() if amount >= _TELLING):
        for (topic, value), bag, whole in rows.phrases(row):
            told = bag & roots
            if len(told) * most < _TELLING:  # as of most phrases: too little is said of it, whatever that is worth
                continue
            amount = math.fsum(worth[root] for root in told)  # in any order: a set has none
            if amount >= _TELLING and amount >= _LEAST * whole:
                is_denied = not bag & _NO and any(signs[places[root]] < 0 for root in told)
                leaning = TopicLeaning(value, amount / whole, -1 if is_denied else 1)
                found.append((-leaning.share, min(order[root] for root in told), row, topic, leaning))
    found.sort(key=lambda one: one[:3])  # of those of which as much is said the one that begins first
    return {topic: leaning for *_, topic, leaning in reversed(found)}
