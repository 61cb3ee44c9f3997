"""Units, number words, and the words that make a number a ceiling or a floor."""

from holdfast.model.claims.words import several

_MINUTE, _HOUR, _DAY, _YEAR = 60.0, 3_600.0, 86_400.0, 31_536_000.0
SECONDS = {
    "ns": 1e-9, "nanosecond": 1e-9, "us": 1e-6, "µs": 1e-6, "microsecond": 1e-6, "ms": 1e-3,
    "millisecond": 1e-3, "s": 1.0, "sec": 1.0, "second": 1.0, "min": _MINUTE, "minute": _MINUTE, "h": _HOUR,
    "hr": _HOUR, "hour": _HOUR,
    "d": _DAY, "day": _DAY, "w": 7 * _DAY, "wk": 7 * _DAY, "week": 7 * _DAY, "fortnight": 14 * _DAY,
    "month": 30 * _DAY, "quarter": 90 * _DAY, "y": _YEAR, "year": _YEAR,
}  # fmt: skip
_BYTES = {
    "b": 1.0, "byte": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "pb": 1e15, "kib": 2.0**10,
    "mib": 2.0**20, "gib": 2.0**30, "tib": 2.0**40, "kilobyte": 1e3, "megabyte": 1e6, "gigabyte": 1e9,
    "terabyte": 1e12,
}  # fmt: skip
_OTHER = {
    "%": ("percent", 1.0), "percent": ("percent", 1.0), "px": ("px", 1.0), "pixel": ("px", 1.0),
    "hz": ("hertz", 1.0), "khz": ("hertz", 1e3), "mhz": ("hertz", 1e6), "ghz": ("hertz", 1e9),
    "rps": ("rate:count:request", 1.0), "qps": ("rate:count:request", 1.0),
}  # fmt: skip
UNITS: dict[str, tuple[str, float]] = {
    **{unit: ("time", size) for unit, size in SECONDS.items()},
    **{unit: ("bytes", size) for unit, size in _BYTES.items()},
    **_OTHER,
}
_PLURALS = several(
    """seconds minutes hours days weeks months quarters years secs mins hrs wks fortnights milliseconds bytes
    kilobytes megabytes gigabytes terabytes pixels"""
)
SINGULAR = {plural: plural.removesuffix("s") for plural in _PLURALS} | {"m": "min"}
GLUED_MANY = several("k x + k+") | {""}
MANY = {"hundred": 100.0, "thousand": 1e3, "million": 1e6, "billion": 1e9, "k": 1e3, "dozen": 12.0}
NUMBERS = {
    "zero": 0.0, "one": 1.0, "two": 2.0, "three": 3.0, "four": 4.0, "five": 5.0, "six": 6.0, "seven": 7.0,
    "eight": 8.0, "nine": 9.0, "ten": 10.0, "eleven": 11.0, "twelve": 12.0, "fifteen": 15.0, "twenty": 20.0,
    "thirty": 30.0, "forty": 40.0, "fifty": 50.0, "sixty": 60.0, "ninety": 90.0, "hundred": 100.0,
    "sixteen": 16.0, "once": 1.0, "twice": 2.0, "thrice": 3.0, "dozen": 12.0,
}  # fmt: skip


def _senses(text: str) -> dict[tuple[str, ...], str]:
    """Each row `sense | words, words, …` as the sense of these words."""
    found = {}
    for row in text.replace("\n  ", " ").strip().splitlines():
        sense, _, phrases = row.partition(" | ")
        found.update({tuple(phrase.split()): sense for phrase in phrases.split(", ")})
    return found


# Words in front of a number, and after it, that say which side of it is meant.
BEFORE = _senses(
    """
<= | at most, up to, no more than, not more than, no longer than, within, maximum of, limited to, capped
  at, cap of, limit of, maximum, no later than, not exceed, never exceeds, older, ceiling of, never
  exceed, only up to, until, shorter, maximum is, limit is
< | less than, fewer than, under, below, older than, shorter than, smaller than, lower than
>= | at least, no less than, no fewer than, not less than, minimum of, minimum, starting with, not below,
  not under, never below, as of, since, floor of, not older than, from, minimum is
> | more than, over, above, longer than, larger than, exceeding, greater than, bigger than, newer than,
  exceed, exceeds, beyond, higher than
"""
)
AFTER = _senses(
    """
>= | or newer, or later, or above, or higher, or more, and up, and more, and newer, and later, and above,
  or greater, or longer, minimum, upwards, at least, onwards, min, or better, and higher, or up
<= | or older, or less, or fewer, and below, or below, or lower, maximum, and older, at most, and under,
  or under, tops, max, and earlier, or earlier
"""
)


def unit(low: str) -> str:
    """The singular of a unit as written; any other word as it is."""
    return SINGULAR.get(low, low)
