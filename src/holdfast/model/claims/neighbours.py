"""Which of many statements are worth comparing with one: they share its rarer words or a thing's role."""

import heapq
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping

from holdfast.model.claims.roles import filled
from holdfast.model.claims.sentences import claim
from holdfast.model.claims.statement import Statement
from holdfast.model.claims.words import STOP, tokens

_COMMON = 0.2  # a word in more than this part of all statements tells nothing
_FEW = 50  # … but among so few statements every word tells


class Neighbours:
    """An index over statements by the words they are about."""

    def __init__(self, statements: Mapping[str, Statement]) -> None:
        self._holders: dict[str, list[str]] = defaultdict(list)
        self._count = 0
        for name, statement in statements.items():
            self.add(name, statement)

    def add(self, name: str, statement: Statement) -> None:
        """One more statement to be found."""
        for word in _terms(statement):
            self._holders[word].append(name)
        self._count += 1

    def near(self, one: Statement, *, limit: int = 64) -> list[str]:
        """The names of the nearest statements, nearest first."""
        scores: dict[str, float] = defaultdict(float)
        for word in _terms(one):
            holders = self._holders.get(word, ())
            if len(holders) > max(_FEW, self._count * _COMMON):
                continue
            worth = math.log(1 + self._count / (1 + len(holders)))
            for name in holders:
                scores[name] += worth
        return heapq.nsmallest(limit, scores, key=lambda name: (-scores[name], name))


def _terms(statement: Statement) -> Iterable[str]:
    """The words of a claim, and the roles of the things it names, each once."""
    words = tokens(claim(statement.text))
    found = {word.stem for word in words if word.kind != "mark" and word.low not in STOP}
    for thing in filled(words):
        found.update("role " + role for role in thing.roles)
    return sorted(found)
