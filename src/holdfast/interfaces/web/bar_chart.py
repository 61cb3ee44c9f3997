"""A small bar chart as SVG: one bar a day, its height a number; the style sheet gives the colours.

Everything in it can be read without seeing it: the title says what is drawn, and each bar says its own number.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

from markupsafe import Markup

from holdfast.values import frozen

WIDTH, HEIGHT, ABOVE, BELOW = 720, 160, 18, 18  # in the units of the drawing; room for a row of text above and below
MOST_DAYS = 60  # bars that are still wide enough to point at on a phone
_BAR = Markup('<rect class="bar" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"><title>{}</title></rect>')
_TEXT = Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>')
_CHART = Markup(
    '<svg class="chart" viewBox="0 0 {width} {height}" role="img" aria-label="{title}"><title>{title}</title>'
    '<line x1="0" y1="{floor}" x2="{width}" y2="{floor}"/>{inside}</svg>'
)


@frozen
class DayBar:
    """A day, its number, and the number in words."""

    day: str  # 2026-11-19
    value: float
    said: str


def bar_chart(title: str, bars: Sequence[DayBar]) -> Markup:
    """The bars of the last days, oldest first, with a gap where a day has none; empty without bars."""
    known = {bar.day: bar for bar in bars}
    days = _days(known)
    most = max((known[day].value for day in days if day in known), default=0.0)
    if not days or most <= 0:
        return Markup("")
    step, floor = WIDTH / max(len(days), 14), HEIGHT - BELOW
    inside = [_TEXT.format(0, ABOVE - 6, "start", next(bar.said for bar in bars if bar.value == most))]
    for place, day in enumerate(days):
        if bar := known.get(day):
            height = max(1.0, bar.value / most * (floor - ABOVE))
            inside.append(_BAR.format(place * step, floor - height, step * 0.8, height, f"{day}: {bar.said}"))
    inside.append(_TEXT.format(0, HEIGHT - 4, "start", days[0]))
    if len(days) > 2:
        inside.append(_TEXT.format(len(days) * step, HEIGHT - 4, "end", days[-1]))
    return _CHART.format(width=WIDTH, height=HEIGHT, title=title, floor=floor, inside=Markup("").join(inside))


def _days(known: Sequence[str] | dict[str, DayBar]) -> list[str]:
    """The days from the first bar to the last, at most so many."""
    there = []
    for day in known:
        try:
            there.append(date.fromisoformat(day))
        except ValueError:  # what a transcript gave as its time
            continue
    if not there:
        return []
    last = max(there)
    first = max(min(there), last - timedelta(days=MOST_DAYS - 1))
    return [(first + timedelta(days=number)).isoformat() for number in range((last - first).days + 1)]
