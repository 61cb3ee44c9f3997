"""Finds in a text the values of topics of which a thing has only one, and the phrases that mean the same.

The tables `topics` and `synonyms` hold phrases as people write them. A phrase is compiled when a text first has a
word that begins like it: the first comparison would otherwise wait for thousands of them.
"""

import math
from collections.abc import Iterator, Mapping
from functools import cache

from holdfast.model.claims.vocabulary import table
from holdfast.model.claims.word_stems import STOP, Token, plain, several, tokens
from holdfast.values import frozen

Phrase = tuple[str, ...]
Meaning = tuple[str, str]  # topic and value; shared name and nothing
Form = tuple[str, str, str]  # a phrase as written, and its meaning

_COMMON = 3  # a label that so many topics have is plain English: `on`, `manual`
_FILL = several("a an the our its their is are be been was were to of that this it we you your , for")
_NO = several("no not never without none don't isn't aren't cannot can't doesn't nothing nobody non")


@frozen
class TopicValue:
    """A value of a topic as it stands in a text."""

    topic: str
    name: str
    first: int
    last: int


@frozen
class TopicLeaning:
    """The value of a topic that a text leans to: how much of it is said (0 to 1), and with which sign."""

    value: str
    share: float
    sign: int


def values(words: tuple[Token, ...]) -> list[TopicValue]:
    """The values of topics that a text names, the longest phrase at each place."""
    return list(_found(words, "values"))


def alike(words: tuple[Token, ...]) -> list[TopicValue]:
    """The phrases of a text that others say differently; the topic is the name they share."""
    return list(_found(words, "synonyms"))


def _rows() -> Iterator[tuple[str, str, list[str]]]:
    """(topic, value, phrases) of the table."""
    for row in table("topics"):
        topic, *named = row.split("|")
        for value in named:
            name, _, spelled = value.partition("=")
            yield topic.strip(), name.strip(), spelled.split(",")


def _value_forms() -> Iterator[Form]:
    labels: dict[str, list[Form]] = {}
    for topic, name, spelled in _rows():
        yield from ((form, topic, name) for form in spelled)
        labels.setdefault(name, []).append((name, topic, name))
    for name, forms in labels.items():
        if len(forms) < _COMMON and name not in STOP:
            yield from forms


@cache
def _beginnings(kind: str) -> Mapping[str, list[Form]]:
    """The forms of a table by the first letters of their first word."""
    found: dict[str, list[Form]] = {}
    synonyms = ([form.strip() for form in row.split("=")] for row in table("synonyms"))
    forms = _value_forms() if kind == "values" else ((form, row[0], "") for row in synonyms for form in row)
    for form, topic, name in forms:
        first = next((word for word in form.split() if word not in _FILL), "")
        found.setdefault(first[:3], []).append((form, topic, name))
    return found


@cache
def _compiled(kind: str, letters: str) -> Mapping[Phrase, tuple[Meaning, ...]]:
    found: dict[Phrase, dict[Meaning, None]] = {}
    for form, topic, name in _beginnings(kind).get(letters, ()):
        key = tuple(plain(word.low) for word in tokens(form.strip()) if word.low not in _FILL)
        meanings = found.setdefault(key, {})
        if key and (kind != "synonyms" or not meanings):
            meanings[topic, name] = None
    return {key: tuple(meanings) for key, meanings in found.items()}


_LONGEST = 7  # words of a phrase


def _found(words: tuple[Token, ...], kind: str) -> Iterator[TopicValue]:
    places = [at for at, word in enumerate(words) if word.low not in _FILL]
    stems = [plain(words[at].low) for at in places]
    at = 0
    while at < len(stems):
        letters = (words[places[at]].raw.lower()[:3], stems[at][:3])
        near = [table for one in dict.fromkeys(letters) if (table := _compiled(kind, one))]
        for size in range(min(_LONGEST, len(stems) - at) if near else 0, 0, -1):
            key = tuple(stems[at : at + size])
            if meant := next((table[key] for table in near if key in table), ()):
                last = places[at + size - 1] + 1
                yield from (TopicValue(topic, name, places[at], last) for topic, name in meant)
                at += size - 1
                break
        at += 1


# The same without the order of words: how much of a phrase a text says somewhere.


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
