"""What happened on each day: sessions, events, and the commits that no session tells of.

Days are UTC days. What other branches did is not told unless it is asked for.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from holdfast.git.clone import Clone
from holdfast.model.event import Event
from holdfast.model.pages import apart_from_pages
from holdfast.model.session import Session
from holdfast.store import layout as paths
from holdfast.store import sessions
from holdfast.values import frozen

KINDS = ("run", "accept", "promote", "retire", "task", "checkpoint")
_COMMITS = 50_000  # looked at
_FOREVER = "2099-12-31"

Joined = Mapping[str, Any]


@frozen
class Made:
    """A commit that no session tells of."""

    oid: str
    ts: str
    author: str
    subject: str


@frozen
class Day:
    """What happened on one day."""

    date: str
    sessions: tuple[Session, ...] = ()
    events: tuple[Joined, ...] = ()
    commits: tuple[Made, ...] = ()


def days(
    clone: Clone,
    *,
    only: Collection[str] | None = None,
    everywhere: bool = False,
    folder: str | None = None,
    begun: bool = False,
) -> dict[str, Day]:
    """Every day on which something happened, the oldest first.

    What other branches did is told only if `everywhere` is asked for. Commits of the journal in `folder`
    are not told in it; those from before anything was recorded only of days in `only`, and not if `begun`.
    """
    events = clone.all_events() if everywhere else clone.events()
    known = sessions.everywhere(clone.stores)
    there = known if everywhere else _seen(clone, known, events)
    told = _once(clone, [event for event in events if event.kind in KINDS])
    dates = {event.ts[:10] for event in told} | {when for one in there for when in dates_of(one)}
    span = _span(dates, only, begun=begun)
    made = _commits(clone, known, span, everywhere=everywhere, folder=folder) if span else []
    dates |= {one.ts[:10] for one in made}
    return {
        when: Day(
            when,
            tuple(one for one in there if when in dates_of(one)),
            tuple(clone.joined(event) for event in told if event.ts[:10] == when),
            tuple(one for one in made if one.ts[:10] == when),
        )
        for when in sorted(dates if only is None else dates & set(only))
    }


def _span(dates: Collection[str], only: Collection[str] | None, *, begun: bool) -> tuple[str, str] | None:
    """From which day to which commits are looked for."""
    first = min(dates, default="")
    if only is None or begun:
        only = [day for day in only if day >= first] if only is not None else [first, _FOREVER]
        only = only if first else []
    return (min(only), max(only)) if only else None


def _seen(clone: Clone, known: Iterable[Session], events: Iterable[Event]) -> list[Session]:
    """The sessions of this line, of what it inherited, and those whose beginning was merged into it."""
    line = clone.line()
    found = {one.id: one for one in known}
    mine = {one.id for one in found.values() if line.sees(one.line, one.started.ts)}
    # That one of another branch was ended from here does not make it one of this branch.
    heard = {
        event.target
        for event in events
        if event.kind == "session" and event.target in found and event.target not in mine
        if clone.joined(event).get("action") in ("start", "link")
    }
    return [one for one in found.values() if one.id in mine or one.id in heard]


def _commits(
    clone: Clone, known: Iterable[Session], span: tuple[str, str], *, everywhere: bool, folder: str | None
) -> list[Made]:
    """The commits from a day to another that no session names, oldest first; our own are left out."""
    named = {oid for one in known for oid in (*one.commits, *(o for t in one.every_turn for o in t.commits))}
    which = ["--branches", "HEAD"] if everywhere else ["--first-parent", "HEAD"]
    days_told = [f"--since={span[0]}T00:00:00Z", f"--until={span[1]}T23:59:59Z"]
    shape = ["--format=%H%x00%ct%x00%an%x00%s", f"--max-count={_COMMITS}", "--full-history"]
    paths_told = ["--", ":(top)", f":(top,exclude){paths.TRACKED}", *apart_from_pages(folder)]
    done = clone.repo.attempt("log", *shape, *days_told, *which, *paths_told)
    rows = [row.split("\0", 3) for row in done.stdout.decode("utf-8", "replace").split("\n")]
    there = [row for row in rows if len(row) == 4 and row[0] not in named]  # else a signature's words
    made = [Made(oid, _utc(ts), who, words) for oid, ts, who, words in there]
    return sorted(made, key=lambda one: one.ts)


def _utc(seconds: str) -> str:
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _once(clone: Clone, told: Sequence[Event]) -> list[Event]:
    """The events without those that say again that a milestone was reached that was not opened between."""
    counts = Counter(event.target for event in told if event.kind == "checkpoint")
    reached: set[tuple[str | None, str]] = set()
    again: set[str] = set()
    for event in told:
        if counts.get(event.target, 0) < 2 or event.kind not in ("task", "checkpoint"):
            continue
        step = "checkpoint" if event.kind == "checkpoint" else str(clone.joined(event).get("action"))
        if step in ("reopen", "start", "block", "drop"):
            reached -= {(event.target, "done"), (event.target, "checkpoint")}
        elif step in ("done", "checkpoint"):
            again |= {event.hash_self} if (event.target, step) in reached else set()
            reached.add((event.target, step))
    return [event for event in told if event.hash_self not in again]


def dates_of(session: Session) -> set[str]:
    """The days on which a session went on."""
    moments = [session.started.ts, session.updated.ts, *(turn.anchor.ts for turn in session.turns)]
    moments += [one.ts for one in (*session.open, *session.follow_ups)]
    moments += [one.ts for one in session.approvals] + [one.ts for one in session.commands]
    return {moment[:10] for moment in moments if not session.ended or moment <= session.ended.ts} | (
        {session.ended.ts[:10]} if session.ended else set()
    )
