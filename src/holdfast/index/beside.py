"""What stands beside a candidate: the parts before and after it, its group, who says it and when.

A turn of a talk often answers what the one before it asks, and shares no word with the question. So each
candidate is also weighed by what its neighbours add to it; what is in no group has nobody to add anything,
and loses nothing by it. All of it is reckoned from the pool; nothing is imported but our own.
"""

from holdfast.index.rank import Words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from holdfast.index.rank import Feature

    Row = tuple[Any, ...]
    Seats = dict[int, tuple[int, int]]  # of a candidate that has one: its group, and its place in it

REACH = 2
_STEPS = {-1: 1.0, 1: 0.7, -2: 0.6, 2: 0.4}  # what comes before says more than what comes after
_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_NUMBERS = {
    "sept": 9,
    **{name[:3]: number for number, name in enumerate(_MONTHS, 1)},
    **{name: number for number, name in enumerate(_MONTHS, 1)},
}
_AMBIGUOUS = ("may", "march", "mar")  # words that are no months unless a capital or a number says so


def around(seats: "Seats", own: "Feature", cover: "Feature", words: Words | None) -> "dict[str, Feature]":
    """What the neighbours and the group of each candidate add to what it holds of the question itself."""
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


def _of_groups(seats: "Seats", own: "Feature", words: Words | None) -> "tuple[dict[int, float], dict[int, int]]":
    """For each group the best of its candidates, and which words of the question they hold together."""
    best: dict[int, float] = {}
    told: dict[int, int] = {}
    for key, (group, _) in seats.items():
        best[group] = max(best.get(group, 0.0), own.get(key, 0.0))
        told[group] = told.get(group, 0) | (words.held[key] if words else 0)
    return best, told


def answers(seats: "Seats", own: "Feature", texts: "Mapping[int, str]") -> "Feature":
    """What follows a question that fits: mostly its answer."""
    at = {seat: key for key, seat in seats.items()}
    found: Feature = {}
    for key, (group, place) in seats.items():
        before = at.get((group, place - 1))
        if before is not None and own.get(before) and "?" in texts[before]:
            found[key] = own[before]
    return found


def smoothed(seats: "Seats", values: "Feature") -> "Feature":
    """Each value with half of those before and after it; where there are none, its own stand for them."""
    at = {seat: key for key, seat in seats.items()}
    found = dict(values)
    for key in values.keys() & seats.keys():
        value, (group, place) = values[key], seats[key]
        before, after = at.get((group, place - 1), key), at.get((group, place + 1), key)
        found[key] = (value + 0.5 * values.get(before, value) + 0.5 * values.get(after, value)) / 2.0
    return found


class Moment:
    """A month that a question names, perhaps with its day and year; 0 where it does not say."""

    __slots__ = ("day", "month", "year")

    def __init__(self, month: int, day: int, year: int) -> None:
        self.month, self.day, self.year = month, day, year

    def fits(self, ts: str) -> float:
        """1 if a time lies in the month, 2 on the day; 0 if not, or in another year."""
        if ts[5:7] != f"{self.month:02d}" or (self.year and ts[:4] != f"{self.year:04d}"):
            return 0.0
        return 2.0 if self.day and ts[8:10] == f"{self.day:02d}" else 1.0


def moments(words: "Sequence[str]") -> list[Moment]:
    """The months that words name, as `May 2023`, `8 May` or `2023-05-08`."""
    found = []
    for place, word in enumerate(words):
        if word[:4].isdigit() and word[4:5] == "-" and word[5:7].isdigit():
            day = word[8:10]
            found.append(Moment(int(word[5:7]), int(day) if day.isascii() and day.isdigit() else 0, int(word[:4])))
        elif month := _NUMBERS.get(word.casefold()):
            days = [number for number in map(_number, words) if 0 < number < 32]
            years = [number for number in map(_number, words) if 1900 < number < 2200]
            if word.casefold() not in _AMBIGUOUS or (word[:1].isupper() and place) or days or years:
                found.append(Moment(month, days[0] if days else 0, years[0] if years else 0))
    return found


def _number(word: str) -> int:
    digits = word.removesuffix("th").removesuffix("st").removesuffix("nd").removesuffix("rd")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 5 else 0
