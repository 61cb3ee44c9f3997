"""The journal: the work of each day, from sessions, the log, and the commits that no session names.

One Markdown page a day (days are UTC days). Per session: its objective, one line a turn, its decisions, its outcome,
and where to look further (runs, commits, diffs, the agent's transcript). Then the runs, commits, approvals and tasks
outside of sessions. Work on other branches is left out unless the caller asks for it. The journal is a view: it stores
nothing of its own. In a folder of the user's choice, a page that somebody edited is left unchanged.
"""

import contextlib
import hashlib
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from holdfast.errors import BadInput, HoldfastError, UnsafePath
from holdfast.git import event_lookup
from holdfast.git.clone import Clone
from holdfast.model.event import Event
from holdfast.model.journal_pages import excluding_journal_pages
from holdfast.model.session import Session, SessionTurn, now_at
from holdfast.model.text import visible
from holdfast.patterns import regex
from holdfast.recall import views
from holdfast.store import fsio, session_files
from holdfast.store import layout as paths
from holdfast.values import frozen

KINDS = ("run", "accept", "promote", "retire", "task", "checkpoint")
_COMMITS = 50_000  # read from git; a guess: the history of a large project, in about a second
_FOREVER = "2099-12-31"

Joined = Mapping[str, Any]


@frozen
class UnrecordedCommit:
    """A commit that no session names."""

    oid: str
    ts: str
    author: str
    subject: str


@frozen
class JournalDay:
    """The work of one day."""

    date: str
    sessions: tuple[Session, ...] = ()
    events: tuple[Joined, ...] = ()
    commits: tuple[UnrecordedCommit, ...] = ()


def days(
    clone: Clone,
    *,
    only: Collection[str] | None = None,
    everywhere: bool = False,
    folder: str | None = None,
    begun: bool = False,
) -> dict[str, JournalDay]:
    """Returns every day with recorded work, oldest first.

    Work on other branches is included only with `everywhere`. Commits to the journal in `folder` are left out. Commits
    from before the first record are included only for the days in `only`, and not if `begun`.
    """
    scope = "all" if everywhere else "visible"
    known = session_files.everywhere(clone.stores)
    sessions = known if everywhere else _visible_sessions(clone, known)
    between = {"since": min(only), "before": f"{max(only)}U"} if only else {}  # a day's times go on with a T
    days_of = {one.id: dates_of(one) for one in sessions}
    # An imported run is of the day on which it ran, and its event of the day of the import.
    runs = [run for one in sessions for run in runs_of(one) if only is None or days_of[one.id] & set(only)]
    late = clone.find_events(scope, kinds=("run",), runs=runs) if only and runs else []
    events_on: dict[str, list[Joined]] = {}
    for event in _without_repeats(clone, scope, clone.find_events(scope, kinds=KINDS, **between)) + late:
        joined = clone.joined(event)
        day = events_on.setdefault(_day_of(joined), [])
        if joined not in day:
            day.append(joined)
    dates = {*events_on, *(when for found in days_of.values() for when in found)}
    dates |= {event.ts[:10] for event in clone.find_events(scope, kinds=KINDS, oldest=1)}
    span = _commit_span(dates, only, begun=begun)
    commits = _commits(clone, known, span, everywhere=everywhere, folder=folder) if span else []
    dates |= {one.ts[:10] for one in commits}
    return {
        when: JournalDay(
            when,
            tuple(one for one in sessions if when in days_of[one.id]),
            tuple(events_on.get(when, ())),
            tuple(one for one in commits if one.ts[:10] == when),
        )
        for when in sorted(dates if only is None else dates & set(only))
    }


def _day_of(event: Joined) -> str:
    """Returns the day of an event: for a run when it began, else when it was recorded."""
    return str((event["kind"] == "run" and event.get("started")) or event["ts"])[:10]


def _commit_span(dates: Collection[str], only: Collection[str] | None, *, begun: bool) -> tuple[str, str] | None:
    """Returns the first and last day whose commits are read; None for none."""
    first = min(dates, default="")
    if only is None or begun:
        only = [day for day in only if day >= first] if only is not None else [first, _FOREVER]
        only = only if first else []
    return (min(only), max(only)) if only else None


def _visible_sessions(clone: Clone, known: Iterable[Session]) -> list[Session]:
    """Returns the sessions of this line (a branch's work), inherited ones, and those merged into it."""
    line = clone.line()
    found = {one.id: one for one in known}
    mine = {one.id for one in found.values() if line.sees(one.line, one.started.ts)}
    heard = event_lookup.sessions_in_log(clone, [one for one in found.values() if one.id not in mine])
    return [one for one in found.values() if one.id in mine or one.id in heard]


def _commits(
    clone: Clone, known: Iterable[Session], span: tuple[str, str], *, everywhere: bool, folder: str | None
) -> list[UnrecordedCommit]:
    """Returns the commits between two days that no session names, oldest first, without our own."""
    named = {oid for one in known for oid in (*one.commits, *(o for t in one.every_turn for o in t.commits))}
    which = ["--branches", "HEAD"] if everywhere else ["--first-parent", "HEAD"]
    limits = [f"--since={span[0]}T00:00:00Z", f"--until={span[1]}T23:59:59Z"]
    shape = ["--format=%H%x00%ct%x00%an%x00%s", f"--max-count={_COMMITS}", "--full-history"]
    pathspecs = ["--", ":(top)", f":(top,exclude){paths.TRACKED}", *excluding_journal_pages(folder)]
    output = clone.repo.run("log", *shape, *limits, *which, *pathspecs, ok=range(256))
    rows = [row.split("\0", 3) for row in output.decode("utf-8", "replace").split("\n")]
    found = [row for row in rows if len(row) == 4 and row[0] not in named]  # a signature check prints others
    times = [datetime.fromtimestamp(int(row[1]), UTC).strftime("%Y-%m-%dT%H:%M:%S") for row in found]
    commits = [UnrecordedCommit(row[0], ts, *row[2:]) for row, ts in zip(found, times, strict=True)]
    return sorted(commits, key=lambda one: one.ts)


def _without_repeats(clone: Clone, scope: str, events: Sequence[Event]) -> list[Event]:
    """Returns the events without those that report a milestone as reached twice without a reopening between."""
    milestones = {event.target for event in events if event.kind == "checkpoint" and event.target}
    steps = clone.find_events(scope, kinds=("task", "checkpoint"), targets=milestones) if milestones else ()
    counts = Counter(event.target for event in steps if event.kind == "checkpoint")
    reached: set[tuple[str | None, str]] = set()
    again: set[str] = set()
    for event in steps:
        if counts[event.target] < 2:
            continue
        step = "checkpoint" if event.kind == "checkpoint" else str(clone.joined(event).get("action"))
        if step in ("reopen", "start", "block", "drop"):
            reached -= {(event.target, "done"), (event.target, "checkpoint")}
        elif step in ("done", "checkpoint"):
            again |= {event.hash_self} if (event.target, step) in reached else set()
            reached.add((event.target, step))
    return [event for event in events if event.hash_self not in again]


def dates_of(session: Session) -> set[str]:
    """Returns the days on which a session was active."""
    moments = [session.started.ts, session.updated.ts, *(turn.anchor.ts for turn in session.turns)]
    moments += [one.ts for one in (*session.open, *session.follow_ups)]
    moments += [one.ts for one in session.approvals] + [one.ts for one in session.commands]
    end = session.ended.ts if session.ended else None
    return {moment[:10] for moment in (*moments, end) if moment and (end is None or moment <= end)}


FOLDER = "journal"
MAX_FILE = 16 << 20  # bytes of a page; a guess: far more than a day writes
_DATE = regex(r"\d{4}-\d\d-\d\d", re.ASCII)
_STAMP = regex(r"<!-- written by holdfast ([0-9a-f]{6}) [0-9a-f]{16} -->")
_LONGEST = 1000  # characters of one line; a guess: a turn's summary is shorter
_ANSWERS = {"granted": "allowed", "denied": "denied"}
_MOST = 40  # named files of a session, and commits of a day outside of sessions; a guess: one screen


def named(asked: str, now: datetime) -> str:
    """Returns the day that a person names: today, yesterday, or 2026-11-15."""
    today = now.date()
    found = {"today": today, "yesterday": today - timedelta(days=1)}.get(asked.lower())
    with contextlib.suppress(ValueError):
        found = found or (date.fromisoformat(asked) if _DATE.fullmatch(asked) else None)
    if found is None:
        raise BadInput(
            f"{visible(asked[:40])!r} is not a day", hint="Use today, yesterday, or a date such as 2026-11-15."
        )
    return found.isoformat()


# ── a day as text ────────────────────────────────────────────────────────────────────────────────


def text(day: JournalDay) -> str:
    """Returns a day as Markdown; the same for the same records."""
    runs = {event["run_id"]: event for event in day.events if event["kind"] == "run" and event["run_id"]}
    parts = [f"# Journal of {day.date}\n\nDays and times are UTC."]
    within: set[str] = set()
    for session in sorted(day.sessions, key=lambda one: (one.started.ts, one.id)):
        own = runs_of(session) | {name for name, run in runs.items() if run.get("session") == session.id}
        within |= own
        parts.append(_session(session, day.date, [runs[name] for name in runs if name in own]))
    outside = [run for name, run in runs.items() if name not in within]
    rest = [
        *_part("### Runs", [_run(run) for run in outside]),
        *_part("### Commits without a session", _commit_lines(day.commits)),
        *_part("### Memory", [_memory(event) for event in day.events if event["kind"] in _OUTCOMES]),
        *_part("### Tasks", list(_tasks(day.events))),
    ]
    if rest:
        parts.append("\n\n".join(["## Outside these sessions" if day.sessions else "## Without a session", *rest]))
    if len(parts) == 1:
        parts.append("Nothing was recorded on this day.")
    return "\n\n".join(parts) + "\n"


def runs_of(session: Session) -> set[str]:
    """Returns the recorded runs that a session names."""
    commands = (*session.commands, *(one for turn in session.turns for one in turn.commands))
    return {name for name in (*(t.run for t in session.turns), *(c.run for c in commands)) if name}


def _session(session: Session, when: str, runs: Sequence[Joined]) -> str:
    turns = [turn for turn in session.turns if turn.anchor.ts[:10] == when]
    is_last = when == max(dates_of(session))  # items without a time belong to the session's last day
    answered = [one for one in session.approvals if one.state in _ANSWERS]
    items = (*session.still_open, *session.still_to_follow)
    left = [f"{one.id} {_flat(one.text)}{f' ({one.task})' if one.task else ''}" for one in items]
    left += [f"{one.id} waits for a yes or no: {_flat(one.text)}" for one in session.pending]
    parts = [
        f"## {_flat(session.objective) or 'A session'} ({session.id})",
        "\n".join(f"- {line}" for line in _facts(session, when)),
        *_part(*_condensed(session, when)),
        *_part("### Actions", [_turn(turn) for turn in turns]),
        *_part("### Runs", [_run(run) for run in runs]),
        *_part("### Decisions", [_flat(one) for one in session.decisions] if is_last else []),
        *_part("### Answers", [f"{one.id} {_ANSWERS[one.state]}: {_flat(one.text)}" for one in answered if is_last]),
        *_part("### Files and commits", list(_artefacts(session, turns, runs, is_last=is_last))),
        *_part("### Still open", left if is_last else []),
    ]
    return "\n\n".join(parts)


def _facts(session: Session, when: str) -> Iterator[str]:
    branch = session.updated.branch or session.branch
    state = f"ended {_moment(session.ended.ts, when)}" if session.ended else "open"
    place = f"branch `{_flat(branch)}`" if branch else session.updated.place
    yield f"{place}, started {_moment(session.started.ts, when)}, {state}"
    if session.agent or session.agent_session:
        own = f", its own session `{_flat(session.agent_session)}`" if session.agent_session else ""
        yield f"{_flat(session.agent or 'an agent')}{own}"
    transcript = dict(session.extra).get("transcript")
    if isinstance(transcript, str) and transcript:
        yield f"transcript: `{_flat(transcript)}`"
    if session.previous:
        yield f"continues {session.previous}"
    if session.tasks:
        yield f"tasks: {', '.join(session.tasks)}"
    if session.summary:
        yield f"summary: {_flat(session.summary)}"
    if span := _span(session, when):
        yield f"diff: `git diff {span[0][:12]}..{span[1][:12]}`"


def _span(session: Session, when: str) -> tuple[str, str] | None:
    """Returns the commits between which a session's work of one day lies."""
    was = [session.started, *(turn.anchor for turn in session.turns), session.ended or session.updated]
    marks = [now_at(session, mark) for mark in was]
    before = [mark.commit for mark in marks if mark.ts[:10] < when and mark.commit]
    during = [mark.commit for mark in marks if mark.ts[:10] == when and mark.commit]
    if not during:
        return None
    first = before[-1] if before else during[0]
    return None if first == during[-1] else (first, during[-1])


def _condensed(session: Session, when: str) -> tuple[str, list[str]]:
    """Returns the summary of condensed turns; they are listed on the session's first day."""
    folded = session.condensed if when == session.started.ts[:10] else None
    lines = [_flat(line).removeprefix("- ") for line in folded.text.splitlines() if line.strip()] if folded else []
    return f"### The first {folded.turns if folded else 0:,} turns, summarised", lines


def _turn(turn: SessionTurn) -> str:
    links = [f"run `{turn.run}`"] if turn.run else []
    links += [f"commit `{oid[:12]}`" for oid in turn.commits]
    links += [turn.task] if turn.task else []
    more = f" ({', '.join(links)})" if links else ""
    return f"{turn.anchor.ts[11:16]} {_flat(turn.summary)}{more}"


def _artefacts(
    session: Session, turns: Sequence[SessionTurn], runs: Sequence[Joined], *, is_last: bool
) -> Iterator[str]:
    in_turns = {path for turn in session.turns for path in turn.files}
    files = [path for turn in turns for path in turn.files]
    files += [path for path in session.files if path not in in_turns] if is_last else []
    files += [str(item.get("path")) for run in runs for item in run.get("artifacts") or ()]
    names = list(dict.fromkeys(files))
    if names:
        more = f" and {len(names) - _MOST:,} more" if len(names) > _MOST else ""
        yield f"files: {', '.join(f'`{_flat(path)}`' for path in names[:_MOST])}{more}"
    in_turns_commits = {oid for turn in session.turns for oid in turn.commits}
    commits = [oid for turn in turns for oid in turn.commits]
    commits += [oid for oid in session.commits if oid not in in_turns_commits] if is_last else []
    if commits:
        yield f"commits: {', '.join(f'`{oid[:12]}`' for oid in dict.fromkeys(commits))}"


def _commit_lines(commits: Sequence[UnrecordedCommit]) -> list[str]:
    before = [f"{len(commits) - _MOST:,} before these, see `git log`"] if len(commits) > _MOST else []
    rows = [(one.ts[11:16], one.oid[:12], _flat(one.subject), _flat(one.author)) for one in commits[-_MOST:]]
    return [*before, *(f"{at} commit `{oid}`: {said} ({who})" for at, oid, said, who in rows)]


def _run(run: Joined) -> str:
    command = run.get("command") or ""
    command = " ".join(map(str, command)) if isinstance(command, list) else str(command)
    words = (run.get("outputs") or {}).get("summary") or command or run.get("prompt") or ""
    task = f" ({_flat(str(run['task']))})" if run.get("task") else ""
    ended = "" if run.get("exit_status") in (None, 0) else f", exit {run['exit_status']}"
    of = f" of {run['started'][:16].replace('T', ' ')}" if run.get("started") else ""
    return f"{run['ts'][11:16]} run `{run['run_id']}`{of}{task}: {_flat(str(words)) or 'no words'}{ended}"


_OUTCOMES = {"accept": "accepted", "promote": "accepted automatically", "retire": "retired"}


def _memory(event: Joined) -> str:
    by = f" by {_flat(str(event['reviewer']))}" if event.get("reviewer") else ""
    words = _flat(str(event.get("statement") or "")) or "its text is not in this clone"
    return f"{event['ts'][11:16]} {event['target']} {_OUTCOMES[event['kind']]}{by}: {words}"


_STEPS = {  # the task changes that a journal lists
    "add": "added",
    "start": "started",
    "done": "done",
    "block": "blocked",
    "drop": "dropped",
    "reopen": "opened again",
}


def _tasks(events: Iterable[Joined]) -> Iterator[str]:
    """Yields the changes of tasks that people look back for."""
    for event in events:
        action = event.get("action")
        if event["kind"] == "checkpoint":
            where = f" at `{event['commit'][:12]}`" if event.get("commit") else ""
            words = f"milestone reached{where}"
        elif event["kind"] == "task" and isinstance(action, str) and action in _STEPS:
            words = _STEPS[action]
        else:
            continue
        title = _flat(str(event.get("statement") or ""))
        yield f"{event['ts'][11:16]} {event['target']} {words}{f': {title}' if title else ''}"


def _part(title: str, lines: Sequence[str]) -> list[str]:
    return [f"{title}\n\n" + "\n".join(f"- {line}" for line in lines)] if lines else []


def _moment(ts: str, when: str) -> str:
    return ts[11:16] if ts[:10] == when else f"{ts[:10]} {ts[11:16]}"


def _flat(words: str | None) -> str:
    """Returns text as one line without hidden characters, safe in a terminal and on a page."""
    line = visible(" ".join((words or "").split())).replace("<!--", "&lt;!--")
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


# ── as files ─────────────────────────────────────────────────────────────────────────────────────


def write(clone: Clone, *, folder: str | None = None, only: Collection[str] | None = None) -> list[str]:
    """Writes the days that changed (all, or those in `only`) to a folder or to the views; returns the paths."""
    found = days(clone, only=only, folder=folder, begun=True)
    pages = {when: clone.hide.text(text(day)) for when, day in found.items()}
    if folder is None:
        new = [when for when, words in pages.items() if views.write(clone.layout, f"{FOLDER}/{when}.md", words)]
        written = [path_of(None, when) for when in new]
    else:
        written = [path for when, words in pages.items() if (path := _put_file(clone, folder, when, words))]
    place = os.path.join(clone.layout.top, *path_of(folder, "x").split("/")[:-1])
    files = sorted(os.listdir(place)) if os.path.isdir(place) else []
    dates = [name[:-3] for name in files if name.endswith(".md") and _DATE.fullmatch(name[:-3])]
    empty = [when for when in dates if when not in found]
    if empty := [when for when in empty if only is None or when in only]:
        # A page in the user's folder may be of another branch: it stays while any branch has work on that day.
        kept = days(clone, only=empty, everywhere=True, folder=folder) if folder else {}
        for when in empty:
            with contextlib.suppress(HoldfastError, OSError):  # its records were erased, so the page goes too
                full = fsio.inside(clone.layout.top, path_of(folder, when))
                if when not in kept and (folder is None or is_untouched(_read(full) or "", _tag(clone))):
                    fsio.remove(full)
    return written


def path_of(folder: str | None, name: str) -> str:
    """Returns the path of a day's page in the work tree."""
    return f"{folder or f'{paths.VIEW}/{FOLDER}'}/{name}.md"


def _put_file(clone: Clone, folder: str, when: str, page: str) -> str | None:
    name = when
    before = _read(_inside(clone.layout, folder, name))
    if before is not None and (found := _STAMP.match(before)) and found[1] != _tag(clone):
        name = f"{when}-{_tag(clone)}"  # a colleague's page of that day came with git: both are kept
        before = _read(_inside(clone.layout, folder, name))
    path, full = path_of(folder, name), _inside(clone.layout, folder, name)
    if before is not None and not is_untouched(before, _tag(clone)):
        clone.notes.append(f"{path} was written or edited by hand and is left as it is")
        return None
    data = f"{_stamp(page, _tag(clone))}\n{page}"
    if before is not None and before.replace("\r\n", "\n") == data:
        return None
    own = folder.startswith(paths.VIEW)  # elsewhere the project tracks it
    fsio.make_dirs(os.path.dirname(full), mode=0o700 if own else 0o755)
    fsio.sweep(full)
    fsio.replace(full, data.encode("utf-8", "replace"), mode=0o600 if own else 0o644)
    return path


def is_untouched(content: str, tag: str) -> bool:
    """Whether a page is as the clone with this tag wrote it."""
    stamp, _, page = content.replace("\r\n", "\n").partition("\n")
    return stamp == _stamp(page, tag)


def _tag(clone: Clone) -> str:
    """Returns a short name of this clone, which marks its pages."""
    return hashlib.sha256(clone.repo_id.encode("utf-8")).hexdigest()[:6]


def _stamp(page: str, tag: str) -> str:
    digest = hashlib.sha256(page.encode("utf-8", "replace")).hexdigest()[:16]
    return f"<!-- written by holdfast {tag} {digest} -->"


def _inside(layout: paths.Layout, folder: str, name: str) -> str:
    if folder.partition("/")[0].lower() in (".git", paths.TRACKED):
        raise UnsafePath(f"the folder {folder} is not for a journal", hint="Set journal.path to another one.")
    return fsio.inside(layout.top, path_of(folder, name))


def _read(path: str) -> str | None:
    try:
        return fsio.read(path, limit=MAX_FILE).decode("utf-8", "replace")
    except (FileNotFoundError, NotADirectoryError):
        return None
