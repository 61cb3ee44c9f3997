"""Moments as people say them: how long ago something was, and what `--since 2w` means. Days are UTC days.

Nothing is imported but the clock: the quick path shows an age beside every hit.
"""

import time

DAY = 86_400
_AGES = (  # from so many seconds on, in units of so many
    (2 * 365 * DAY, 365 * DAY, "year"),
    (60 * DAY, 30 * DAY, "month"),
    (14 * DAY, 7 * DAY, "week"),
    (DAY, DAY, "day"),
    (3600, 3600, "hour"),
    (60, 60, "minute"),
)
_UNITS = {"s": 1, "sec": 1, "second": 1, "min": 60, "minute": 60, "h": 3600, "hour": 3600, "d": DAY,
          "day": DAY, "w": 7 * DAY, "week": 7 * DAY, "mo": 30 * DAY, "month": 30 * DAY, "y": 365 * DAY,
          "year": 365 * DAY}  # fmt: skip
_DAYS = {"today": 0, "yesterday": 1}


def age(ts: str | None, now: str) -> str:
    """How long ago a moment was, as `3 days ago`; empty where one of them is none."""
    then, here = seconds(ts or ""), seconds(now)
    if then is None or here is None:
        return ""
    past = here - then
    for least, unit, name in _AGES:
        if past >= least:
            number = past // unit
            return f"1 {name} ago" if number == 1 else f"{number} {name}s ago"
    return "just now"  # also of a clock that goes before ours


def seconds(ts: str) -> int | None:
    """The seconds since 1970 of a moment as events spell it; None if it is none."""
    if len(ts) < 10 or ts[4] != "-" or ts[7] != "-":
        return None
    parts = (ts[:4], ts[5:7], ts[8:10], ts[11:13] or "0", ts[14:16] or "0", ts[17:19] or "0")
    if not all(part.isascii() and part.isdigit() for part in parts):
        return None
    year, month, day, hours, minutes, rest = map(int, parts)
    if not (1 <= month <= 12 and 1 <= day <= _length(year, month)):
        return None
    if hours > 23 or minutes > 59 or rest > 60:  # a leap second is one
        return None
    return ((_days_before(year, month) + day - 1) * 24 + hours) * 3600 + minutes * 60 + rest


def _days_before(year: int, month: int) -> int:
    """The days from 1970 to the first of a month; years begin in March here, so that leap days stand last."""
    year, month = (year - 1, month + 9) if month < 3 else (year, month - 3)
    return year * 365 + year // 4 - year // 100 + year // 400 + (153 * month + 2) // 5 - 719_468


def _length(year: int, month: int) -> int:
    return _days_before(year + month // 12, month % 12 + 1) - _days_before(year, month)


def since(text: str, now: str) -> str | None:
    """The moment that `7d`, `2 weeks ago`, `yesterday` or `2026-01-01` means; None if it means none."""
    words = text.strip().casefold()
    here = seconds(now) or 0
    if words in _DAYS:
        return _spelled((here // DAY - _DAYS[words]) * DAY)
    if (then := seconds(words.upper())) is not None and len(words) in (10, 16, 19, 20):
        return _spelled(then)
    words = words.removesuffix("ago").removeprefix("last ").strip()
    number = words[: len(words) - len(words.lstrip("0123456789"))]
    unit = words[len(number) :].strip()
    length = _UNITS.get(unit) or _UNITS.get(unit.removesuffix("s"))
    if length is None or len(number) > 6 or (not number and len(unit) < 3):
        return None
    return _spelled(here - int(number or 1) * length)


def _spelled(moment: int) -> str:
    moment = max(0, moment)  # before there was git, nothing was recorded
    return time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime(moment))  # as events spell it
