"""Features to a score: what is known of each candidate, weighed and added up.

A feature is a mapping from candidates to numbers, mostly between 0 and 1; a candidate it does not name
has 0. The score is their weighted sum, with one set of weights for every kind of record, so that each
part of it can be told. Equal features give equal scores: nothing here depends on an order.

Pure, and nothing but `math` is imported: the quick path ranks with this.
"""

from math import log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Feature = dict[int, float]

LONG_AGO = 87_600  # hours: ten years
TOUCHED = 10_000  # a file that so many records touch says almost nothing
_ENDINGS = (
    "ations", "ation", "ings", "ing", "ies", "ied", "ers", "ed", "er", "es", "ly", "s", "y", "e",
)  # fmt: skip
_SPACES = {code: " " for code in range(128) if not chr(code).isalnum()}


def fuse(features: "Mapping[str, Feature]", weights: "Mapping[str, float]") -> "Feature":
    """The score of every candidate that has any feature."""
    scores: Feature = {}
    for name in sorted(features):  # sums of floats depend on their order
        weight = weights.get(name, 0.0)
        if weight:
            for key, value in features[name].items():
                scores[key] = scores.get(key, 0.0) + weight * value
    return scores


def parts(
    key: int, features: "Mapping[str, Feature]", weights: "Mapping[str, float]"
) -> list[tuple[str, float]]:
    """What each feature brought to a candidate's score, the largest first."""
    found = [(name, weights.get(name, 0.0) * values.get(key, 0.0)) for name, values in features.items()]
    return sorted(((name, part) for name, part in found if part), key=lambda pair: (-abs(pair[1]), pair[0]))


def scaled(values: "Feature") -> "Feature":
    """The values as shares of the largest; those below nothing count as nothing."""
    most = max(values.values(), default=0.0)
    return {key: value / most for key, value in values.items() if value > 0.0} if most > 0.0 else {}


def recency(hours: float) -> float:
    """From 1 for what is as new as anything to 0 for what is ten years older; fast at first, then slow."""
    return max(0.0, 1.0 - log(1.0 + max(hours, 0.0)) / log(1.0 + LONG_AGO))


def rarity(count: int) -> float:
    """How much sharing a file says that so many records touch: 1 if hardly any, 0 if very many."""
    return log(1.0 + TOUCHED / (1.0 + count)) / log(1.0 + TOUCHED)


def stem(word: str) -> str:
    """A word in small letters less its usual ending: close to what the index's own stemmer does."""
    low = word.casefold()
    for ending in _ENDINGS:
        if low.endswith(ending) and len(low) - len(ending) >= 3:
            return low[: -len(ending)]
    return low


class Words:
    """What a question says, ready to be looked for in many texts."""

    __slots__ = ("_known", "names", "pairs", "spelled", "weights")

    def __init__(
        self, words: "Sequence[str]", weights: "Sequence[float]", pairs: "Sequence[tuple[str, str]]"
    ) -> None:
        self.spelled = [_spellings(word) for word in words]
        self.weights = list(weights)
        self.names = [{stem(part) for part in _split(word)} for word in words]
        self.pairs = [f"{one.casefold()} {stem(other)}" for one, other in pairs]
        self._known: dict[str, str] = {}

    def found_in(self, text: str) -> list[bool]:
        """For each word, whether a text in small letters holds it."""
        return [any(way in text for way in ways) for ways in self.spelled]

    def in_title(self, title: str) -> "tuple[set[str], list[bool]]":
        """The stems of a title's words, and for each word of the question whether they hold it."""
        known, stems = self._known, set()
        for word in _split(title):
            if word not in known:
                known[word] = stem(word)
            stems.add(known[word])
        return stems, [bool(names) and names <= stems for names in self.names]


def _split(text: str) -> list[str]:
    return text.translate(_SPACES).casefold().split()


def _spellings(word: str) -> tuple[str, ...]:
    """As it stands, less its ending, and as the words inside it, which the index keeps side by side."""
    low, inner = word.casefold(), _split(word)
    if len(inner) < 2:
        return (stem(word),)
    return (low, " ".join(inner))


def textual(
    words: "Words", rows: "Iterable[tuple[int, str, str]]", found_by_words: "Mapping[int, float]"
) -> "dict[str, Feature]":
    """What texts themselves say: `cover`, `title`, `named` and `pairs` of (key, title, all text in small).

    A word counts by how few of those hold it that were found by words: the index need not be asked again.
    """
    held: dict[int, list[bool]] = {}
    titles: dict[int, tuple[set[str], list[bool]]] = {}
    beside: Feature = {}
    for key, title, text in rows:
        titles[key] = words.in_title(title)
        held[key] = [one or other for one, other in zip(words.found_in(text), titles[key][1], strict=True)]
        if words.pairs and (count := sum(pair in text for pair in words.pairs)):
            beside[key] = count / len(words.pairs)
    masses = _masses(words, [found for key, found in held.items() if key in found_by_words])
    whole = sum(masses) or 1.0
    features: dict[str, Feature] = {"cover": {}, "title": {}, "named": {}, "pairs": beside}
    for key, found in held.items():
        stems, inside = titles[key]
        if any(found):
            features["cover"][key] = _sum(masses, found) / whole
        if any(inside):
            features["title"][key] = _sum(masses, inside) / whole
            told = set().union(*(names for names, one in zip(words.names, inside, strict=True) if one))
            features["named"][key] = len(told & stems) / len(stems)
    return features


def _masses(words: "Words", held: "list[list[bool]]") -> list[float]:
    counts = [0] * len(words.weights)
    for found in held:
        for place, one in enumerate(found):
            if one:
                counts[place] += 1
    return [
        weight * log(1.0 + len(held) / (1.0 + count))
        for weight, count in zip(words.weights, counts, strict=True)
    ]


def _sum(masses: "Sequence[float]", found: "Sequence[bool]") -> float:
    return sum([mass for mass, one in zip(masses, found, strict=True) if one])
