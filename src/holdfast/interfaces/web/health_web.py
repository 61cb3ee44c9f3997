"""The first page, which says what there is to do, and the page that says whether everything is sound and what it costs.

Doctor reads all that is stored, so it runs when somebody asks; the page says when it did.
"""

from __future__ import annotations

import heapq
from datetime import date, timedelta
from typing import TYPE_CHECKING

from markupsafe import Markup

from holdfast.curation import review_queue
from holdfast.git.approvals import T0
from holdfast.interfaces.cli import health_commands
from holdfast.interfaces.review_filter import why_waiting
from holdfast.interfaces.web.web_query import WebPage, WebQuery
from holdfast.model.task import PLANS
from holdfast.model.text import count
from holdfast.project import session_book
from holdfast.values import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.diagnostics.findings import HealthReport
    from holdfast.diagnostics.stats import WorkStats
    from holdfast.interfaces.web.project_reading import ProjectReading
    from holdfast.interfaces.web.web_query import Action, PageMaker

FEW, SOME = 3, 5  # of each list on the first page
NEWEST_RUNS = 2_000  # whose tokens are counted for a page: reading them takes about 30 ms
DOCTOR = "doctor"  # under which its last report is kept, with its time
WIDTH, HEIGHT, ABOVE, BELOW = 720, 160, 18, 18  # in the units of the drawing; room for a row of text above and below
MOST_DAYS = 60  # bars that are still wide enough to point at on a phone
_BAR = Markup('<rect class="bar" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"><title>{}</title></rect>')
_TEXT = Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>')
_CHART = Markup(
    '<svg class="chart" viewBox="0 0 {width} {height}" role="img" aria-label="{title}"><title>{title}</title>'
    '<line x1="0" y1="{floor}" x2="{width}" y2="{floor}"/>{inside}</svg>'
)


def home_page(reading: ProjectReading, query: WebQuery) -> WebPage:  # noqa: ARG001 - as all pages
    """What waits, what can be done, where the last session stopped, and what holds."""
    project = reading.project
    has_tasks, has_sessions = project.settings.has("tasks"), project.settings.has("sessions")
    session = project.sessions.last() if has_sessions else None
    likely = review_queue.worth_reading(reading.queue.items)
    governs = [one for one in reading.listing.trusted if one.trust == T0]
    tasks = reading.board.tasks if has_tasks else []
    ready = [task for task in reading.board.graph.ready() if task.kind not in PLANS] if tasks else []
    is_empty = not (reading.memories or session or tasks or project.log.events(newest=1))
    values = {
        "waiting": reading.queue.waiting,
        "likely": [item for item in likely if item.reason != "elsewhere"][:FEW],
        "elsewhere": sum(item.reason == "elsewhere" for item in reading.queue.items),
        "why": why_waiting,
        "has_tasks": has_tasks,
        "ready": ready[:FEW],
        "ready_total": len(ready),
        "waiting_total": sum(not task.is_closed for task in tasks) - len(reading.ready) if tasks else 0,
        "claims": project.tasks.claims() if has_tasks else {},
        "session": session,
        "is_open": session is not None and session.state == "open",
        "steps": session_book.next_steps(session)[:SOME],
        "governs": heapq.nlargest(SOME, governs, key=lambda one: (reading.last_changes.get(one.id, ""), one.id)),
        "governing": len(governs),
        "changed": reading.last_changes,
        "is_empty": is_empty,
        "health": health_line(reading),
        "has_sessions": has_sessions,
    }
    return WebPage("home.html", values)


def health_line(reading: ProjectReading) -> list[tuple[str, str]]:
    """How everything is in a few words, each with its tone."""
    agents = [one for one in reading.agents if one.connected]
    left_out = len(reading.listing.broken) + len(reading.listing.clashes)
    late, steps = sum(one.late for one in agents), sum(bool(one.next_step) for one in agents)
    said = [(f"{count(len(agents), 'agent')} connected", "ok" if agents else "warning")]
    said += [(f"{count(steps, 'agent', 'need')} a step from you", "warning")] if steps else []
    said += [(f"{count(late, 'context')} too late", "warning")] if late else []
    said += [(f"{count(left_out, 'memory', 'are')} left out", "problem")] if left_out else []
    report, _ = reading.kept.get(DOCTOR, (None, ""))
    if report is not None:
        said.append((f"doctor: {health_commands.verdict_word(report)}", _tone(report)))
    return said


def _tone(report: HealthReport) -> str:
    return "problem" if report.problems else "ok" if report.verdict == "ok" else "warning"


def health_page(reading: ProjectReading, query: WebQuery) -> WebPage:  # noqa: ARG001 - as all pages
    """What doctor found, how the agents stand, and what they used."""
    report, ran = reading.kept.get(DOCTOR, (None, ""))
    work = reading.project.health.work(newest=NEWEST_RUNS)
    days = work.days[:MOST_DAYS]
    values = {
        "report": report,
        "ran": ran,
        "verdict": health_commands.verdict_word(report) if report else "",
        "tone_of_verdict": _tone(report) if report else "",
        "looked_at": health_commands.looked_at(report.counts) if report else "",
        "agents": [(one, health_commands.agent_row(one)) for one in reading.agents],
        "late": [(one.tool, one.late) for one in reading.agents if one.late],
        "work": work,
        "days": days,
        "tokens": _tokens(days),
        "dollars": _dollars(days),
        "newest": NEWEST_RUNS,
    }
    return WebPage("health.html", values)


def _tokens(days: Sequence[WorkStats]) -> str:
    """The tokens of each day, drawn."""
    bars = [DayBar(one.name, one.read + one.written, f"{one.read + one.written:,} tokens") for one in days]
    return bar_chart("Tokens a day, read and written", bars)


def _dollars(days: Sequence[WorkStats]) -> str:
    bars = [DayBar(one.name, one.dollars, f"${one.dollars:,.2f}") for one in days if one.dollars is not None]
    return bar_chart("Cost a day", bars)


def run_doctor(reading: ProjectReading, query: WebQuery) -> tuple[str, str | None]:  # noqa: ARG001 - as all actions
    """Checks everything that is stored."""
    project = reading.project
    report = project.health.doctor()
    reading.kept[DOCTOR] = (report, project.clone.now())
    return f"Doctor looked at {health_commands.looked_at(report.counts)}.", "/health"


PAGES: dict[str, PageMaker] = {"/": home_page, "/health": health_page}
ACTIONS: dict[str, Action] = {"/health/doctor": run_doctor}


@frozen
class DayBar:
    """A day, its number, and the number in words."""

    day: str  # 2026-11-19
    value: float
    said: str


def bar_chart(title: str, bars: Sequence[DayBar]) -> Markup:
    """A chart as SVG: the bars of the last days, oldest first, with a gap where a day has none; empty without bars."""
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
