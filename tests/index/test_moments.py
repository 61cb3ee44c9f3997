"""Moments as people say them."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.index.hit_text import age, seconds, since_moment

NOW = "2026-11-16T09:41:20Z"


@given(moment=st.datetimes(min_value=datetime(1970, 1, 1), max_value=datetime(2400, 1, 1)))
def test_a_moment_is_what_the_calendar_says(moment: datetime) -> None:
    """An age that is a day off at the end of February is a wrong answer."""
    assert seconds(f"{moment:%Y-%m-%dT%H:%M:%S}Z") == int(moment.replace(tzinfo=UTC).timestamp())


@pytest.mark.parametrize(
    ("past", "said"),
    [(0, "just now"), (59, "just now"), (60, "1 minute ago"), (7200, "2 hours ago"), (86_400, "1 day ago"),
     (3 * 86_400, "3 days ago"), (20 * 86_400, "2 weeks ago"), (90 * 86_400, "3 months ago"),
     (800 * 86_400, "2 years ago"), (-500, "just now")],
)  # fmt: skip
def test_an_age_is_said_as_people_say_it(past: int, said: str) -> None:
    """Who reads a hit wants to know at once whether it is old."""
    then = datetime(2026, 11, 16, 9, 41, 20, tzinfo=UTC) - timedelta(seconds=past)
    assert age(f"{then:%Y-%m-%dT%H:%M:%S}.123456Z", NOW) == said


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("7d", "2026-11-09T09:41:20Z"),
        ("2w", "2026-11-02T09:41:20Z"),
        ("2 weeks ago", "2026-11-02T09:41:20Z"),
        ("12h", "2026-11-15T21:41:20Z"),
        ("last week", "2026-11-09T09:41:20Z"),
        ("1 month", "2026-10-17T09:41:20Z"),
        ("yesterday", "2026-11-15T00:00:00Z"),
        ("Today", "2026-11-16T00:00:00Z"),
        ("2026-01-01", "2026-01-01T00:00:00Z"),
        ("2026-01-01T12:30", "2026-01-01T12:30:00Z"),
        ("9999y", "1970-01-01T00:00:00Z"),
    ],
)
def test_since_when(text: str, moment: str) -> None:
    """`--since 2w` and a date are what people type."""
    assert since_moment(text, NOW) == moment.replace("Z", ".000000Z")


@pytest.mark.parametrize("text", ["", "d", "soon", "7", "7x", "2026-13-01", "2026-02-30", "ago", "-7d", "7dd"])
def test_what_is_no_moment_is_none(text: str) -> None:
    """A misspelt date that is taken for another hides what was asked for."""
    assert since_moment(text, NOW) is None


@given(text=st.text(max_size=30))
def test_any_text_is_read(text: str) -> None:
    """An odd word must not end the command in a traceback."""
    found = since_moment(text, NOW)
    assert found is None or seconds(found) is not None
    assert age(text, NOW) == "" or seconds(text) is not None
