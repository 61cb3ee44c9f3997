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
_LONG = log(1.0 + LONG_AGO)
TOUCHED = 10_000  # a file that so many records touch says almost nothing
_TOLD = 0.005  # what is less of a score is not worth a word
_ENDINGS = (
    "ations", "ation", "ings", "ing", "ies", "ied", "ers", "ed", "er", "es", "ly", "s", "y", "e",
)  # fmt: skip
# A table of characters is much faster here than a mapping, which fails once for every letter it lacks.
_SPACES = "\0" + "".join(chr(code) if chr(code).isalnum() else " " for code in range(1, 128))
_PLAIN = _SPACES.encode() * 2  # for bytes; only the first half of it is ever looked at


def small(text: str) -> str:
    """A text in small letters; the sign of what was cut is a NUL, for plain text is looked through faster."""
    return (text if text.isascii() else text.replace("…", "\0")).casefold()


def fuse(features: "Mapping[str, Feature]", weights: "Mapping[str, float]") -> "Feature":
    """The score of every candidate that has any feature."""
    scores: Feature = {}
    for name in sorted(features):  # sums of floats depend on their order
        weight = weights.get(name, 0.0)
        if weight and scores:
            for key, value in features[name].items():
                scores[key] = scores.get(key, 0.0) + weight * value
        elif weight:
            scores = {key: weight * value for key, value in features[name].items()}
    return scores


def parts(key: int, features: "Mapping[str, Feature]", weights: "Mapping[str, float]") -> list[tuple[str, float]]:
    """What each feature brought to a candidate's score, the largest first."""
    found = [(name, weights.get(name, 0.0) * values.get(key, 0.0)) for name, values in features.items()]
    told = [(name, part) for name, part in found if abs(part) >= _TOLD]
    return sorted(told, key=lambda pair: (-abs(pair[1]), pair[0]))


def scaled(values: "Feature") -> "Feature":
    """The values as shares of the largest; those below nothing count as nothing."""
    most = max(values.values(), default=0.0)
    return {key: value / most for key, value in values.items() if value > 0.0} if most > 0.0 else {}


def spread(values: "Feature") -> "Feature":
    """The values between 0 for the least and 1 for the most of them."""
    low, high = min(values.values(), default=0.0), max(values.values(), default=0.0)
    return {key: (value - low) / (high - low) for key, value in values.items()} if high > low else {}


def recency(hours: float) -> float:
    """From 1 for what is as new as anything to 0 for what is ten years older; fast at first, then slow."""
    return max(0.0, 1.0 - log(1.0 + max(hours, 0.0)) / _LONG)


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
    """What a question says, ready to be looked for in many texts. A set of its words is a number's bits."""

    __slots__ = ("_bare", "_counted", "_needles", "_shares", "_starts", "held", "pairs", "weights")

    def __init__(self, words: "Sequence[str]", weights: "Sequence[float]", pairs: "Sequence[tuple[str, str]]") -> None:
        self._needles = [(way, f" {way}", 1 << place) for place, word in enumerate(words) for way in _spellings(word)]
        self._bare = not any(" " in way for way, _, _ in self._needles)
        starts = {stem(part) for word in words for part in _split(word)}
        self._starts = tuple(starts)
        # Of those that begin alike the shortest: then no word of a title begins with two of them.
        self._counted = [f" {one}" for one in starts if not any(one.startswith(s) for s in starts - {one})]
        self.weights = list(weights)
        self.pairs = [f"{one.casefold()} {stem(other)}" for one, other in pairs]
        self.held: dict[int, int] = {}  # which words a candidate holds anywhere
        self._shares: dict[int, float] = {}

    def look(self, key: int, title: str, text: str) -> tuple[float, float]:
        """Note what a candidate holds; gives the share of its title that was named, and of pairs found.

        `title` and `text` are in small letters, and `text` holds the title, too.
        """
        held = inside = 0
        spaced = "" if self._bare else f" {_spaced(title)}"
        for needle, start, bit in self._needles:
            if needle in text:
                held |= bit
                if not spaced and needle in title:  # most titles hold none, and need not be taken apart
                    spaced = f" {_spaced(title)}"
                if start in spaced:
                    inside |= bit
        self.held[key] = held
        named = 0.0
        if inside:
            words = spaced.split()
            if spaced.isascii():
                named = sum([spaced.count(start) for start in self._counted]) / len(words)
            else:  # where other signs part words, too
                named = sum([word.startswith(self._starts) for word in words]) / len(words)
        if not self.pairs or not held:
            return named, 0.0
        return named, len([1 for pair in self.pairs if pair in text]) / len(self.pairs)

    def weigh(self, counted: "Iterable[int]") -> None:
        """Let a word count by how few of these candidates hold it."""
        times: dict[int, int] = {}  # many hold the same words
        for key in counted:
            times[self.held[key]] = times.get(self.held[key], 0) + 1
        total = sum(times.values())
        for place in range(len(self.weights)):
            count = sum([number for held, number in times.items() if held >> place & 1])
            self.weights[place] *= log(1.0 + total / (1.0 + count))
        self._shares = {0: 0.0}

    def share(self, held: int) -> float:
        """How much of the question some of its words are."""
        known = self._shares.get(held)
        if known is None:
            whole = sum(self.weights) or 1.0
            some = sum([weight for place, weight in enumerate(self.weights) if held >> place & 1])
            known = self._shares[held] = some / whole
        return known


def _spaced(text: str) -> str:
    """The words of a text with nothing but spaces between them, as far as they are of plain letters."""
    return text.encode().translate(_PLAIN).decode() if text.isascii() else text.translate(_SPACES)


def _split(text: str) -> list[str]:
    return text.translate(_SPACES).casefold().split()


def _spellings(word: str) -> tuple[str, ...]:
    """As it stands, less its ending, and as the words inside it, which the index keeps side by side."""
    inner = _split(word)
    return (stem(word),) if len(inner) < 2 else (word.casefold(), " ".join(inner))


def textual(
    words: Words, rows: "Iterable[tuple[int, str, str]]", found_by_words: "Mapping[int, float]"
) -> "dict[str, Feature]":
    """What texts themselves say: `cover`, `named` and `pairs` of (key, title, all text), in small.

    A word counts by how few of those hold it that were found by words: the index need not be asked again.
    """
    named: Feature = {}
    pairs: Feature = {}
    for key, title, text in rows:
        one, other = words.look(key, title, text)
        if one:
            named[key] = one
        if other:
            pairs[key] = other
    words.weigh(key for key in words.held if key in found_by_words)
    return {
        "cover": {key: words.share(held) for key, held in words.held.items() if held},
        "named": named,
        "pairs": pairs,
    }
