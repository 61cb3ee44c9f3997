"""What happened on each day: sessions, events, and the commits that no session tells of.

Days are UTC days. What other branches did is not told unless it is asked for.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from holdfast.git.clone import Clone
from holdfast.model.event import Event
from holdfast.model.pages import apart_from_pages
from holdfast.model.session import Session
from holdfast.store import layout as paths
from holdfast.store import sessions

KINDS = ("run", "accept", "promote", "retire", "task", "checkpoint")
_COMMITS = 50_000  # looked at

Joined = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Made:
    """A commit that no session tells of."""

    oid: str
    ts: str
    author: str
    subject: str


@dataclass(frozen=True, slots=True)
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
) -> dict[str, Day]:
    """Every day on which something happened, the oldest first.

    What other branches did is told only if `everywhere` is asked for. Commits of the journal in `folder`
    are not told in it.
    """
    events = clone.all_events() if everywhere else clone.events()
    known = sessions.everywhere(clone.stores)
    there = known if everywhere else _seen(clone, known, events)
    told = [event for event in events if event.kind in KINDS]
    dates = {event.ts[:10] for event in told} | {when for one in there for when in dates_of(one)}
    first, last = (
        (min(dates, default=None), None)
        if only is None
        else (min(only, default=None), max(only, default=None))
    )
    made = _commits(clone, known, first, last, everywhere=everywhere, folder=folder)
    dates |= {one.ts[:10] for one in made}
    again = _repeated(clone, told)
    return {
        when: Day(
            when,
            tuple(one for one in there if when in dates_of(one)),
            tuple(clone.joined(e) for e in told if e.ts[:10] == when and e.hash_self not in again),
            tuple(one for one in made if one.ts[:10] == when),
        )
        for when in sorted(dates if only is None else dates & set(only))
    }


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
    clone: Clone,
    known: Iterable[Session],
    first: str | None,
    last: str | None,
    *,
    everywhere: bool,
    folder: str | None,
) -> list[Made]:
    """The commits from a day to another that no session names, oldest first; our own are left out."""
    if first is None:
        return []
    named = {oid for one in known for oid in (*one.commits, *(o for t in one.every_turn for o in t.commits))}
    which = ["--branches", "HEAD"] if everywhere else ["--first-parent", "HEAD"]
    span = [f"--since={first}T00:00:00Z", *([f"--until={last}T23:59:59Z"] if last else [])]
    shape = ["--format=%H%x00%ct%x00%an%x00%s", f"--max-count={_COMMITS}", "--full-history"]
    paths_told = ["--", ":(top)", f":(top,exclude){paths.TRACKED}", *apart_from_pages(folder)]
    done = clone.repo.attempt("log", *shape, *span, *which, *paths_told)
    rows = [row.split("\0", 3) for row in done.stdout.decode("utf-8", "replace").split("\n") if row]
    made = [Made(oid, _utc(ts), who, words) for oid, ts, who, words in rows if oid not in named]
    return sorted(made, key=lambda one: one.ts)


def _utc(seconds: str) -> str:
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _repeated(clone: Clone, told: Iterable[Event]) -> set[str]:
    """The events by which a milestone was said to be reached again, without having been opened between."""
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
    return again


def dates_of(session: Session) -> set[str]:
    """The days on which a session went on."""
    moments = [session.started.ts, session.updated.ts, *(turn.anchor.ts for turn in session.turns)]
    moments += [one.ts for one in (*session.open, *session.follow_ups)]
    moments += [one.ts for one in session.approvals] + [one.ts for one in session.commands]
    return {moment[:10] for moment in moments if not session.ended or moment <= session.ended.ts} | (
        {session.ended.ts[:10]} if session.ended else set()
    )
