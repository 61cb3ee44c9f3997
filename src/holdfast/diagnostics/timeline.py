"""The story of a project as rows: what happened when, of one task or of all.

`timeline` takes joined events (flat objects) and gives rows. `story` goes back from now, a page at a time, through the
events of all branches and the commits of git. How rows look on a screen is others' business.
"""

import heapq
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import Any

from holdfast.errors import BadInput
from holdfast.git import tracked_files
from holdfast.git.clone import Clone
from holdfast.values import frozen

KEYS = ("ts", "layer", "scale", "kind", "task")


@frozen(kw_only=True)
class TimelineRow:
    """One event in the story."""

    id: str  # the run or memory it is about, else the event
    ts: str
    kind: str
    layer: str | None
    systemic_scale: int | None
    task: str | None
    run_id: str | None
    exit_status: int | None
    status: str | None  # of a run that a transcript tells of: ended or interrupted, and since when it ran
    started: str | None
    summary: str
    hash_self: str


def timeline(
    events: Iterable[Mapping[str, Any]], *, task: str | None = None, sort: Sequence[str] = ("ts",)
) -> list[TimelineRow]:
    """Rows in the order asked for; equal ones stay in the log's own order."""
    for key in sort:
        if key not in KEYS:
            raise BadInput(f"a timeline is not sorted by {key!r}", hint=f"Use {', '.join(KEYS)}.")
    found = [_row(event) for event in events if task is None or event.get("task") == task]
    for key in reversed([key for key in sort if key != "ts" or len(sort) > 1]):
        found.sort(key=lambda row: _rank(row, key))
    return found


def _rank(row: TimelineRow, key: str) -> tuple[bool, Any]:
    """Whatever has no value stands last."""
    value = getattr(row, "systemic_scale" if key == "scale" else key)
    if key == "layer" and value is not None:  # L2 before L10
        stem = value.rstrip("0123456789")
        value = (stem, int(value[len(stem) :] or -1), value)
    return (value is None, value)


_COPIED = ("ts", "kind", "layer", "systemic_scale", "task", "run_id", "exit_status", "started", "hash_self")


def _row(event: Mapping[str, Any]) -> TimelineRow:
    copied: dict[str, Any] = {name: event.get(name) for name in _COPIED}
    copied["id"] = event.get("target") or event.get("run_id") or event["hash_self"]
    copied["status"] = event.get("status") if event["kind"] == "run" else None
    return TimelineRow(summary=_summary(event), **copied)


def _summary(event: Mapping[str, Any]) -> str:
    """The one line that says most: what was stated, summed up or run; else where the text went."""
    outputs = event.get("outputs")
    told = outputs.get("summary") if isinstance(outputs, Mapping) else None
    texts = (event.get("statement"), told, event.get("summary"), event.get("reason"), event.get("command"))
    action = event.get("action")  # of a task, a session, a checkpoint, a rewrite
    for value in texts:
        if value:
            text = " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
            return " ".join([f"{action}:" if action else "", *text.split()]).strip()
    if action:
        return f"{action} of {event['count']} commits" if event.get("count") else str(action)
    state = event.get("body_state")
    return "" if state in (None, "here") else "[locked]" if state == "locked" else f"({state})"


COMMIT = "commit"
DECISIONS = ("accept", "promote", "reject", "retire", "edit", "join")
STORY_KINDS = {  # what people ask for, and the kinds of events it means
    "run": ("run",),
    "session": ("session",),
    COMMIT: (),
    "decision": DECISIONS,
    "proposal": ("propose",),
    "task": ("task", "checkpoint"),
    "other": ("rewrite", "erase"),
}
_AT_ONCE = 200  # rows that are read together
_LOOKED = 1_000  # rows that are looked at for one page: a filter that fits little must not read years


@frozen
class StoryCursor:
    """Where a page begins: before a moment, and past so many commits.

    Commits are counted, because their times need not fall from one to its parents: none is left out. Those that are
    made while somebody goes through the pages push some to the next page, where they come again.
    """

    before: str | None = None
    past: int = 0


@frozen
class StoryChoice:
    """Which part of a story somebody wants."""

    kinds: tuple[str, ...] = ()  # of STORY_KINDS; empty: all
    branch: str = ""
    words: tuple[str, ...] = ()

    def fits(self, row: "StoryRow") -> bool:
        """Whether a row is of the branch and has all words."""
        if self.branch and self.branch != row.branch:
            return False
        text = f"{row.id} {row.summary} {row.kind} {row.task or ''} {row.author}".casefold() if self.words else ""
        return all(word in text for word in self.words)


@frozen(kw_only=True)
class StoryRow:
    """Something that happened: an event, or a commit."""

    id: str  # the run, memory, task, session or commit it is about, else the event
    kind: str
    began: str
    summary: str
    branch: str | None
    task: str | None = None
    status: str | None = None  # of a run: ended or interrupted, if a transcript tells of it
    exit_status: int | None = None
    author: str = ""
    about: str = ""  # the kind of record that the id names


@frozen
class StoryPage:
    """Some rows, newest first, and where the next page begins; without a cursor there is none."""

    rows: tuple[StoryRow, ...]
    looked: int
    next: StoryCursor | None
    until: str | None  # the moment of the last row that was looked at


def story(clone: Clone, cursor: StoryCursor, choice: StoryChoice, *, most: int) -> StoryPage:
    """Returns what happened before a cursor, newest first; stops after a thousand rows, however few fit."""
    chosen = [STORY_KINDS[name] for name in choice.kinds or STORY_KINDS]
    kinds = tuple(chain.from_iterable(chosen))
    branches = story_branches(clone)
    streams: list[Iterator[StoryRow]] = []
    if kinds:
        streams.append(_events(clone, cursor.before, None if len(kinds) == _ALL_KINDS else kinds))
    of = [name for name in branches if choice.branch in ("", name)]
    if (not choice.kinds or COMMIT in choice.kinds) and (of or not choice.branch):
        streams.append(_commits(clone, cursor, of, choice.branch))
    rows: list[StoryRow] = []
    looked, last, past = 0, cursor.before, cursor.past
    for row in heapq.merge(*streams, key=lambda row: row.began, reverse=True):
        if row.began != last and (len(rows) >= most or looked >= _LOOKED):
            return StoryPage(tuple(rows), looked, StoryCursor(last, past), last)
        past += row.kind == COMMIT
        looked, last = looked + 1, row.began
        if choice.fits(row):
            rows.append(row)
    return StoryPage(tuple(rows), looked, None, last)


_ALL_KINDS = sum(map(len, STORY_KINDS.values()))


def story_branches(clone: Clone) -> list[str]:
    """Returns the names of the branches in this clone."""
    rows = clone.repo.run("for-each-ref", "--format=%(refname)", "refs/heads").split(b"\n")
    return [os.fsdecode(row).removeprefix("refs/heads/") for row in rows if row]


def _events(clone: Clone, before: str | None, kinds: Sequence[str] | None) -> Iterator[StoryRow]:
    """Yields the events from a moment back; of a run that was recorded in parts only its last event."""
    told: set[str] = set()
    while True:
        found = clone.begun_events(before=before, kinds=kinds, newest=_AT_ONCE)
        for began, event in found:
            if event.kind == "run" and event.run_id:
                if event.run_id in told:
                    continue
                told.add(event.run_id)
            yield _story_row(clone.joined(event), began)
        if len(found) < _AT_ONCE:
            return
        before = found[-1][0]


def _story_row(event: Mapping[str, Any], began: str) -> StoryRow:
    row = _row(event)
    kind = str(event["kind"])
    has_id = row.id != row.hash_self
    about = {"run": "run", "session": "session", "task": "task", "checkpoint": "task"}.get(kind, "memory")
    reviewer = event.get("reviewer")
    return StoryRow(
        **{name: getattr(row, name) for name in ("id", "kind", "summary", "task", "status", "exit_status")},
        began=began,
        branch=event.get("branch"),
        author=str(reviewer.get("name") or "") if isinstance(reviewer, Mapping) else str(reviewer or ""),
        about=about if has_id else "",
    )


def _commits(clone: Clone, cursor: StoryCursor, branches: Sequence[str], only: str) -> Iterator[StoryRow]:
    """Yields the commits of some branches in git's order; one of several branches by one of them.

    A commit that claims to be newer than the one before it gets that one's time.
    """
    if clone.repo.head().oid is None and not branches:
        return
    shape = ("--encoding=UTF-8", "--no-show-signature", "--no-mailmap", "--no-color", "--source")
    form = "--format=%H%x00%ct%x00%an%x00%s%x00%S"
    last, skip = cursor.before, cursor.past
    head = () if only or clone.repo.head().oid is None else ("HEAD",)
    names = b"".join(os.fsencode(f"refs/heads/{branch}\n") for branch in branches)
    while True:
        options = (*shape, form, "-z", f"--skip={skip}", f"--max-count={_AT_ONCE}")
        done = clone.repo.attempt("log", *options, "--stdin", *head, stdin=names, environ=tracked_files.OFFLINE)
        words = done.stdout.split(b"\0")
        fields = [words[at : at + 5] for at in range(0, len(words) - 4, 5)]
        for oid, seconds, author, subject, source in fields:
            made = _moment_of(int(seconds or b"0"))
            last = made if last is None else min(made, last)
            branch = os.fsdecode(source).strip().removeprefix("refs/heads/")
            yield StoryRow(
                id=oid.decode("ascii"),
                kind=COMMIT,
                began=last,
                summary=subject.decode("utf-8", "replace"),
                branch=only or (branch if branch != "HEAD" else clone.repo.head().branch),
                author=author.decode("utf-8", "replace"),
                about=COMMIT,
            )
        if len(fields) < _AT_ONCE:
            return
        skip += _AT_ONCE


def _moment_of(seconds: int) -> str:
    try:
        return f"{datetime.fromtimestamp(max(seconds, 0), UTC):%Y-%m-%dT%H:%M:%S}.000000Z"
    except (OverflowError, ValueError, OSError):
        return "1970-01-01T00:00:00.000000Z"
