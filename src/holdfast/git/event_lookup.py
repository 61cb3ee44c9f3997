"""Finds events of a clone without reading its whole log.

Every query lists the log files that count; their events are in the event index, which reads only what it has not
read before. A segment's name is the hash of its bytes; a segment that does not match its name is read each time.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from holdfast.errors import HoldfastError, TooLarge, UnsafePath
from holdfast.store import event_index, fsio, log

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from holdfast.git.clone import Clone
    from holdfast.git.visible_entries import Source
    from holdfast.model.event import Event
    from holdfast.model.session import Session

AT_ONCE = 64  # segments held in memory at once: at most 64 MiB, as a segment has at most 1 MiB
ALL_FILES = 2_000  # capture lists no more files in an event; a run with so many may have written any file
_ANY = "*"  # not a valid name of a file or a commit
_LONGEST = 255  # characters of a name: file systems allow 255 bytes


class EventLookup:
    """Finds the events of one clone by kind, time, target or run."""

    def __init__(self, clone: Clone) -> None:
        self._clone = clone
        kept = clone.layout.cache and not clone.reading
        self._index = event_index.EventIndex(clone.layout.event_index(clone.repo_id) if kept else None)

    def find(self, scope: str, query: event_index.EventQuery) -> list[Event]:
        """Returns the matching events, in order; `scope` as in `Clone.find_events`."""
        return self._index.find(self._here(scope), query)

    def begun(
        self, scope: str, *, before: str | None, kinds: Collection[str] | None, newest: int
    ) -> list[tuple[str, Event]]:
        """Returns the newest events by when they began, newest first, each with that moment."""
        return self._index.begun(self._here(scope), before=before, kinds=kinds, newest=newest)

    def naming(self, scope: str, values: Collection[str]) -> list[Event]:
        """Returns the runs whose body has one of these words, or lists as many files as an event may."""
        return self._index.naming(self._here(scope), {*values, _ANY}, self._read_body)

    def made(self, scope: str, *, newest: int) -> list[tuple[str, dict[str, Any]]]:
        """Returns the newest files that runs produced, oldest first, each with its run."""
        rows = self._index.made(self._here(scope), self._read_body, newest=newest)
        return [(run, json.loads(item)) for _, run, item in rows]

    def _read_body(self, name: str) -> tuple[set[str], list[str]]:
        """Returns the words of a body that may name a file or a commit, and the files it lists as produced."""
        try:
            body = self._clone.bodies.get(name, closed=True) or {}  # not unsealed: the index is a plain file
        except (HoldfastError, OSError, ValueError):  # a link, altered or unreadable: `doctor` reports it
            return set(), []
        made = [item for item in body.get("artifacts") or () if isinstance(item, dict) and item.get("sha256")]
        rows = [{"path": item.get("path"), "sha256": item["sha256"], "task": body.get("task")} for item in made]
        is_any = len(body.get("artifacts") or ()) >= ALL_FILES or self._clone.bodies.is_locked(name)
        words = {*_words(body), *([_ANY] if is_any else [])}
        return words, [json.dumps(row) for row in rows]

    def forget(self) -> None:
        """Makes the next query read everything again."""
        self._index.drop()

    def in_time(self, scope: str) -> bool:
        """Returns whether every event is later than its parents, so that times alone give the order."""
        return self._index.in_time(self._here(scope))

    def _here(self, scope: str) -> dict[str, str | None]:
        """Brings the index up to date; returns the sources that count, by name, each with its limit in time."""
        self._index.look()
        here: dict[str, str | None] = {}
        unread: dict[str, Source] = {}
        for source in self._sources(scope):
            if name := _name(source):
                whole = self._index.offset(name) if source.kind == "segment" else os.stat(source.path or "").st_size
                is_read = self._index.offset(name) is not None and self._index.offset(name) == whole
                if not is_read and (source.blob or name not in unread):
                    unread[name] = source
                here[name] = None if source.until is None or here.get(name, "") is None else source.until
        names = list(unread)
        for start in range(0, len(names), AT_ONCE):
            self._index.add(list(self._pieces({name: unread[name] for name in names[start : start + AT_ONCE]})))
        return here

    def _sources(self, scope: str) -> list[Source]:
        # Own files first: what is published between the two reads is then found twice, never missed.
        own = list(self._clone.own_files()) if scope in ("own", "all") else []
        if scope == "own":
            return own
        visible = self._clone.sources()
        if scope == "visible":
            return visible
        return [*own, *(source for source in visible if (source.blob is None) == (scope == "waiting"))]

    def _pieces(self, unread: dict[str, Source]) -> Iterator[tuple[str, int, bytes]]:
        repo, layout = self._clone.repo, self._clone.layout
        texts = repo.blobs(source.blob for source in unread.values() if source.path is None and source.blob)
        for name, source in unread.items():
            offset = self._index.offset(name) or 0
            try:
                own = source.path and fsio.read(source.path, limit=log.MAX_SPOOL, start=offset)
            except (UnsafePath, TooLarge, NotADirectoryError) as error:
                layout.leave_out(error)
                continue
            yield name, offset, own or texts.get(source.blob or "", b"")


def _words(value: Any, key: str = "") -> Iterator[str]:
    """Yields the strings of a body that may name a commit or a file; one with a blank only from a `path` field."""
    if isinstance(value, str):
        plain = not value.isalnum() and not any(map(str.isspace, value))
        if len(value) <= _LONGEST and (plain or key == "path"):
            yield value
    elif isinstance(value, dict):
        for name, one in value.items():
            yield from _words(one, name)
    elif isinstance(value, list):
        for one in value:
            yield from _words(one, key)


def _name(source: Source) -> str:
    """Returns the name of a source in the index; empty if it is a spool without events."""
    if source.kind == "segment":
        return f"s:{source.key}"
    first, _ = log.first_event(source.path or ""), os.stat(source.path or "")  # raises if it was sealed: read again
    return first and f"p:{source.path}@{first}"


def sessions_in_log(clone: Clone, sessions: Iterable[Session]) -> set[str]:
    """Those that this branch's log tells of: of their beginning, or of one of their runs."""
    known = {one.id: one for one in sessions}
    runs = {turn.run: one.id for one in known.values() for turn in one.turns if turn.run}
    events = clone.find_events(kinds=("session",), targets=known) if known else ()
    # That one of another branch was ended from here does not make it one of this branch.
    heard = {event.target or "" for event in events if clone.joined(event).get("action") in ("start", "link")}
    done = clone.find_events(kinds=("run",), runs=runs) if runs else ()
    return heard | {runs[event.run_id] for event in done if event.run_id}
