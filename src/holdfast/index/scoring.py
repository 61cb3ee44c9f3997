"""Turns features into a score: a weighted sum over the features of a candidate and of its neighbours.

A feature maps candidates to numbers, mostly between 0 and 1; a missing candidate has 0. The score is their weighted
sum, with one set of weights for every kind of record, so that each part of it can be shown. Equal features have equal
scores: nothing here depends on an order.

A turn of a conversation often answers the one before it, without a word of the question. So each candidate is also
scored by the parts before and after it, its group, its speaker and its time; a candidate without a group loses nothing.

Pure, and imports only `math`: the quick path uses this.
"""

from math import log

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Feature = dict[int, float]
    Seats = dict[int, tuple[int, int]]  # of a candidate that has one: its group, and its place in it

LONG_AGO = 87_600  # hours: ten years; a guess: what is older is equally old
_LONG = log(1.0 + LONG_AGO)
TOUCHED = 10_000  # records; a guess: sharing a file that so many touch means almost nothing
_LEAST_PART = 0.005  # of a score; smaller parts round to 0.00 and are not shown
_ENDINGS = (
    "ations", "ation", "ings", "ing", "ies", "ied", "ers", "ed", "er", "es", "ly", "s", "y", "e",
)  # fmt: skip
# A table of characters is much faster here than a mapping, which fails once for every missing letter.
_SPACES = "\0" + "".join(chr(code) if chr(code).isalnum() else " " for code in range(1, 128))
_PLAIN = _SPACES.encode() * 2  # for bytes; only the first half of it is ever used


def small(text: str) -> str:
    """Returns a text in lower case; the mark of a cut becomes a NUL, because ASCII text is searched faster."""
    return (text if text.isascii() else text.replace("…", "\0")).casefold()


def fuse(features: "Mapping[str, Feature]", weights: "Mapping[str, float]") -> "Feature":
    """Returns the score of every candidate that has a feature."""
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
    """Returns what each feature added to a candidate's score, the largest first."""
    found = [(name, weights.get(name, 0.0) * values.get(key, 0.0)) for name, values in features.items()]
    told = [(name, part) for name, part in found if abs(part) >= _LEAST_PART]
    return sorted(told, key=lambda pair: (-abs(pair[1]), pair[0]))


def scaled(values: "Feature") -> "Feature":
    """Returns the values as shares of the largest; negative ones count as 0."""
    most = max(values.values(), default=0.0)
    return {key: value / most for key, value in values.items() if value > 0.0} if most > 0.0 else {}


def spread(values: "Feature") -> "Feature":
    """Returns the values scaled from 0 for the least to 1 for the largest."""
    low, high = min(values.values(), default=0.0), max(values.values(), default=0.0)
    return {key: (value - low) / (high - low) for key, value in values.items()} if high > low else {}


def recency(hours: float) -> float:
    """Returns from 1 for the newest to 0 for ten years older; falls fast at first, then slowly."""
    return max(0.0, 1.0 - log(1.0 + max(hours, 0.0)) / _LONG)


def rarity(count: int) -> float:
    """Returns how much it means to share a file that so many records touch: 1 if hardly any, 0 if very many."""
    return log(1.0 + TOUCHED / (1.0 + count)) / log(1.0 + TOUCHED)


def stem(word: str) -> str:
    """Returns a word in lower case without its usual ending: close to the index's own stemmer."""
    low = word.casefold()
    ending = next((one for one in _ENDINGS if low.endswith(one) and len(low) - len(one) >= 3), "")
    return low.removesuffix(ending)


class QuestionWords:
    """The words of a question, prepared for a search in many texts. A set of them is the bits of a number."""

    __slots__ = ("_bare", "_counted", "_needles", "_shares", "_starts", "held", "pairs", "weights")

    def __init__(self, words: "Sequence[str]", weights: "Sequence[float]", pairs: "Sequence[tuple[str, str]]") -> None:
        self._needles = [(way, f" {way}", 1 << place) for place, word in enumerate(words) for way in _spellings(word)]
        self._bare = not any(" " in way for way, _, _ in self._needles)
        starts = {stem(part) for word in words for part in _split(word)}
        self._starts = tuple(starts)
        # The shortest of those that start alike: then no word of a title starts with two of them.
        self._counted = [f" {one}" for one in starts if not any(one.startswith(s) for s in starts - {one})]
        self.weights = list(weights)
        self.pairs = [f"{one.casefold()} {stem(other)}" for one, other in pairs]
        self.held: dict[int, int] = {}  # which words a candidate contains anywhere
        self._shares: dict[int, float] = {}

    def look(self, key: int, title: str, text: str) -> tuple[float, float]:
        """Stores which words a candidate contains; returns the share of its title that was named, and of pairs found.

        `title` and `text` are in lower case, and `text` contains the title too.
        """
        held = inside = 0
        spaced = "" if self._bare else f" {_spaced(title)}"
        for needle, start, bit in self._needles:
            if needle in text:
                held |= bit
                if not spaced and needle in title:  # most titles contain none, and need not be split
                    spaced = f" {_spaced(title)}"
                if start in spaced:
                    inside |= bit
        self.held[key] = held
        named = 0.0
        if inside:
            words = spaced.split()
            if spaced.isascii():
                named = sum([spaced.count(start) for start in self._counted]) / len(words)
            else:  # other signs separate words too
                named = sum([word.startswith(self._starts) for word in words]) / len(words)
        if not self.pairs or not held:
            return named, 0.0
        return named, len([1 for pair in self.pairs if pair in text]) / len(self.pairs)

    def weigh(self, counted: "Iterable[int]") -> None:
        """Weights each word by how few of these candidates contain it."""
        times: dict[int, int] = {}  # many hold the same words
        for key in counted:
            times[self.held[key]] = times.get(self.held[key], 0) + 1
        total = sum(times.values())
        for place in range(len(self.weights)):
            count = sum([number for held, number in times.items() if held >> place & 1])
            self.weights[place] *= log(1.0 + total / (1.0 + count))
        self._shares = {0: 0.0}

    def share(self, held: int) -> float:
        """Returns the share of the question that some of its words are."""
        known = self._shares.get(held)
        if known is None:
            whole = sum(self.weights) or 1.0
            some = sum([weight for place, weight in enumerate(self.weights) if held >> place & 1])
            known = self._shares[held] = some / whole
        return known


def _spaced(text: str) -> str:
    """Returns the words of a text with only spaces between them, for plain letters."""
    return text.encode().translate(_PLAIN).decode() if text.isascii() else text.translate(_SPACES)


def _split(text: str) -> list[str]:
    return text.translate(_SPACES).casefold().split()


def _spellings(word: str) -> tuple[str, ...]:
    """Returns a word's forms: without its ending; or a name unchanged, and as the words inside it."""
    inner = _split(word)
    return (stem(word),) if len(inner) < 2 else (word.casefold(), " ".join(inner))


def textual(
    words: QuestionWords, rows: "Iterable[tuple[int, str, str]]", found_by_words: "Mapping[int, float]"
) -> "dict[str, Feature]":
    """Returns the features of the texts: `cover`, `named` and `pairs` of (key, title, all text), in lower case.

    A word counts by how few of the rows found by words contain it: the index need not be asked again.
    """
    looks = {key: words.look(key, title, text) for key, title, text in rows}
    named = {key: one for key, (one, _) in looks.items() if one}
    pairs = {key: other for key, (_, other) in looks.items() if other}
    words.weigh(key for key in words.held if key in found_by_words)
    cover = {key: words.share(held) for key, held in words.held.items() if held}
    return {"cover": cover, "named": named, "pairs": pairs}


REACH = 2  # turns before and after; a guess: the question and its answer
_STEPS = {-1: 1.0, 1: 0.7, -2: 0.6, 2: 0.4}  # the part before says more than the one after; guesses
_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_NUMBERS = {
    "sept": 9,
    **{name[:3]: number for number, name in enumerate(_MONTHS, 1)},
    **{name: number for number, name in enumerate(_MONTHS, 1)},
}
_AMBIGUOUS = ("may", "march", "mar")  # months only with a capital or a number


def neighbour_gains(
    seats: "Seats", own: "Feature", cover: "Feature", words: QuestionWords | None
) -> "dict[str, Feature]":
    """Returns what the neighbours and the group of each candidate add to its own match."""
    found: dict[str, Feature] = {"beside": {}, "window": {}, "group": {}, "gcover": {}}
    at = {seat: key for key, seat in seats.items()}
    best, told = _of_groups(seats, own, words)
    for key, (group, place) in seats.items():
        near = [(step, at[group, place + step]) for step in _STEPS if (group, place + step) in at]
        found["beside"][key] = sum([_STEPS[step] * own.get(other, 0.0) for step, other in near])
        found["group"][key] = best[group] - own.get(key, 0.0)
        if words:
            held = words.held[key]
            for _, other in near:
                held |= words.held[other]
            found["window"][key] = words.share(held) - cover.get(key, 0.0)
            found["gcover"][key] = words.share(told[group]) - cover.get(key, 0.0)
    return {name: {key: value for key, value in of.items() if value} for name, of in found.items()}


def _of_groups(
    seats: "Seats", own: "Feature", words: QuestionWords | None
) -> "tuple[dict[int, float], dict[int, int]]":
    """Returns for each group its best score, and which words of the question it contains together."""
    best: dict[int, float] = {}
    told: dict[int, int] = {}
    for key, (group, _) in seats.items():
        best[group] = max(best.get(group, 0.0), own.get(key, 0.0))
        told[group] = told.get(group, 0) | (words.held[key] if words else 0)
    return best, told


def answer_gains(seats: "Seats", own: "Feature", texts: "Mapping[int, str]") -> "Feature":
    """Returns the gains of rows after a question that matches: mostly its answer."""
    at = {seat: key for key, seat in seats.items()}
    found: Feature = {}
    for key, (group, place) in seats.items():
        before = at.get((group, place - 1))
        if before is not None and own.get(before) and "?" in texts[before]:
            found[key] = own[before]
    return found


def smoothed(seats: "Seats", values: "Feature") -> "Feature":
    """Returns each value with half of those before and after it; at an edge its own stands for them."""
    at = {seat: key for key, seat in seats.items()}
    found = dict(values)
    for key in values.keys() & seats.keys():
        value, (group, place) = values[key], seats[key]
        before, after = at.get((group, place - 1), key), at.get((group, place + 1), key)
        found[key] = (value + 0.5 * values.get(before, value) + 0.5 * values.get(after, value)) / 2.0
    return found


class NamedMonth:
    """A month that a question names, perhaps with its day and year; 0 if missing."""

    __slots__ = ("day", "month", "year")

    def __init__(self, month: int, day: int, year: int) -> None:
        self.month, self.day, self.year = month, day, year

    def fits(self, ts: str) -> float:
        """Returns 1 if a time is in the month, 2 if on the day; 0 if not, or in another year."""
        if ts[5:7] != f"{self.month:02d}" or (self.year and ts[:4] != f"{self.year:04d}"):
            return 0.0
        return 2.0 if self.day and ts[8:10] == f"{self.day:02d}" else 1.0


def named_months(words: "Sequence[str]") -> list[NamedMonth]:
    """Returns the months that words name, as `May 2023`, `8 May` or `2023-05-08`."""
    found = []
    for place, word in enumerate(words):
        if word[:4].isdigit() and word[4:5] == "-" and word[5:7].isdigit():
            day = word[8:10]
            found.append(NamedMonth(int(word[5:7]), int(day) if day.isascii() and day.isdigit() else 0, int(word[:4])))
        elif month := _NUMBERS.get(word.casefold()):
            days = [number for number in map(_number, words) if 0 < number < 32]
            years = [number for number in map(_number, words) if 1900 < number < 2200]
            if word.casefold() not in _AMBIGUOUS or (word[:1].isupper() and place) or days or years:
                found.append(NamedMonth(month, days[0] if days else 0, years[0] if years else 0))
    return found


def _number(word: str) -> int:
    digits = word.removesuffix("th").removesuffix("st").removesuffix("nd").removesuffix("rd")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 5 else 0
