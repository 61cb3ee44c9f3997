"""Search: what was recorded and decided, found by words, tag or task.

Asking brings the index up to date first, so an answer is never older than the question. The
ranking is `index.search`'s; this module only says what a hit is.
"""

import sqlite3
import threading
from dataclasses import dataclass
from typing import Any, Protocol

from holdfast.errors import BadInput
from holdfast.git.clone import Clone
from holdfast.index import search as ranking
from holdfast.index.refresh import Progress, path_of, refresh
from holdfast.index.rows import now_text
from holdfast.index.scope import Scope
from holdfast.index.sqlite import Index
from holdfast.model.event import KINDS as EVENT_KINDS
from holdfast.model.memory import TYPES


@dataclass(frozen=True, slots=True)
class Hit:
    """One thing that was found. Its text is safe to show."""

    id: str
    kind: str  # event, run, artifact, candidate, task, session, or a memory's type
    title: str
    text: str  # the part around the words that were asked for
    ts: str | None  # of a run that a transcript tells of, when it began
    task: str | None
    tags: str | None
    layer: str | None
    line: str | None
    head: str | None
    path: str | None
    exit_status: int | None
    target: str | None
    run: str | None
    sha256: str | None
    what: str | None  # the event's kind
    state: str | None  # a task's status, open or ended; of memories: accepted, unreviewed, in clash, …
    trust: str | None  # T0 (a person approved it) to T4 (unknown); None of events
    branch: str | None  # where it holds; None = here
    score: float


class Retriever(Protocol):
    """Anything that can be asked for what fits a query."""

    def search(self, query: str, *, limit: int, task: str | None, kind: str | None) -> list[Hit]: ...


class TextSearch:
    """Finds by words, through this work tree's index; safe between threads."""

    def __init__(self, clone: Clone, *, progress: Progress | None = None) -> None:
        self._clone, self._progress = clone, progress
        self._index = Index(path_of(clone))
        self._turn = threading.Lock()

    def search(
        self, query: str, *, limit: int = 5, task: str | None = None, kind: str | None = None
    ) -> list[Hit]:
        """The best hits, best first; with nothing asked for, the most recent."""
        check_kind(kind)
        if limit < 1:
            raise BadInput(f"limit {limit} is not at least 1")
        now = now_text(self._clone.clock())
        with self._turn:
            self._clone.notes.extend(refresh(self._clone, self._index, progress=self._progress))
            try:
                found = self._ask(query, limit, task, kind, now)
            except sqlite3.DatabaseError as error:
                self._index.recover(error)
                self._clone.notes.extend(refresh(self._clone, self._index, progress=self._progress))
                found = self._ask(query, limit, task, kind, now)
        return [Hit(*row) for row in found]

    def _ask(
        self, query: str, limit: int, task: str | None, kind: str | None, now: str
    ) -> list[tuple[Any, ...]]:
        with self._index.reading() as db:
            return ranking.search([db], query, scope=Scope(kind=kind, task=task), limit=limit, now=now)

    def close(self) -> None:
        with self._turn:
            self._index.close()


def check_kind(kind: str | None) -> None:
    """Refuse a kind that nothing has; finding nothing would look like an answer."""
    known = dict.fromkeys((*ranking.KINDS, *TYPES, *EVENT_KINDS))
    if kind is not None and kind not in known:
        raise BadInput(f"{kind!r} is not a kind of thing", hint=f"Use one of {', '.join(known)}.")


def recall(
    clone: Clone,
    query: str,
    *,
    limit: int = 5,
    task: str | None = None,
    kind: str | None = None,
    progress: Progress | None = None,
) -> list[Hit]:
    """What fits a query, best first, from what is visible here."""
    searcher = TextSearch(clone, progress=progress)
    try:
        return searcher.search(query, limit=limit, task=task, kind=kind)
    finally:
        searcher.close()
