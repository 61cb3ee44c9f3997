"""Search: finds records, memories and the repository's own content by words, files and meaning.

A search brings the index up to date first, so an answer is never older than the question. `index.ranking` does the
ranking; this module defines what a hit is, and the protocol of other retrievers.
"""

import contextlib
import difflib
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from holdfast.errors import BadInput, Busy, NotStored
from holdfast.git.clone import Clone
from holdfast.index import answer as answers
from holdfast.index import other_branches, ranking, search_rows, second_hop
from holdfast.index.corpus import update as repository
from holdfast.index.corpus.file_choice import CorpusChoice
from holdfast.index.query import EVERY_BRANCH, Scope, read_query
from holdfast.index.refresh import Progress, path_of, refresh
from holdfast.index.sqlite import Index, is_busy, is_refused, meta
from holdfast.model.event import KINDS as EVENT_KINDS
from holdfast.model.memory import TYPES
from holdfast.values import fields, frozen

if TYPE_CHECKING:
    from holdfast.index.pool import Near
    from holdfast.index.ranking import Step

_UNSEARCHED = "commits, docs and code were not searched"
_UNREAD = "not all commits, docs and code were searched"
_READING = f"{_UNREAD}: {{0:.0%}} is indexed so far; search again later, or wait with `holdfast index`"
UNASKED, ASKED = (5.0, 20.0)  # seconds for meaning, as a fallback and on request; a guess at what people wait for
BY_GIT = "git grep"  # how hits in files that are not indexed yet were found
_TRIES = 4  # for one question, while other commands change the files or one is damaged; a guess

_NOT_OF_BRANCH = (
    "only records were searched on {0}: commits, docs and code are indexed for the checked-out branch, "
    "search those without --branch"
)
_HEADS = "refs/heads/"

# Returns the vectors' similarity to a question, if it is known within so many seconds.
Meaning = Callable[[str, float], "Near | None"]


@frozen
class Hit:
    """One search result. Its text is safe to show."""

    id: str
    kind: str  # event, run, turn, artifact, candidate, task, session, commit, doc, code, or a memory's type
    title: str
    text: str  # the part around the words of the question
    ts: str | None = None  # for an imported run, its start
    task: str | None = None
    tags: str | None = None
    layer: str | None = None
    line: str | None = None
    head: str | None = None  # the commit that was checked out
    path: str | None = None
    exit_status: int | None = None
    target: str | None = None
    run: str | None = None
    sha256: str | None = None
    what: str | None = None  # the event's kind
    state: str | None = None  # of a task or session: open, ended, …; of a memory: accepted, unreviewed, …
    trust: str | None = None  # T0 (a person approved it) to T4 (it came by git); None of events
    branch: str | None = None  # the branch that has it, if this one does not
    by: str | None = None  # "meaning": found by meaning alone, it shares no word with the question
    score: float = 0.0
    parts: tuple[tuple[str, float], ...] = ()  # the parts of the score, largest first


class Retriever(Protocol):
    """Anything that returns hits for a query, the best first, at most `limit`."""

    def search(self, query: str, scope: Scope, limit: int) -> list[Hit]: ...


class TextSearch:
    """Searches by words, files and git through this work tree's index; safe between threads.

    With a `choice`, it also finds commits, docs and code of the repository; with `meaning`, it searches by meaning.
    `state` is as `refresh` takes it.
    """

    def __init__(
        self,
        clone: Clone,
        *,
        state: str = "",
        progress: Progress | None = None,
        choice: CorpusChoice | None = None,
        meaning: Meaning | None = None,
        step: "Step" = second_hop.follow,
    ) -> None:
        self._clone, self._state, self._progress, self._choice = clone, state, progress, choice
        self._meaning, self._step = meaning, step
        self._index = Index(path_of(clone))
        self._corpus = repository.open_corpus(clone) if choice is not None else None
        self._partial: Index | None = None  # of a corpus that is being indexed
        self._there = other_branches.open_others(clone)
        self._turn = threading.Lock()
        self._shown_notes: set[str] = set()  # notes about the corpus that were shown already
        self.by_meaning = False  # whether the last answer used meaning
        self.advice = ""  # a hint, if the last answer was weak
        self.unread = False  # whether the corpus was incomplete for the last answer
        self.used = ("", "", "", "")  # the states of the index, the corpus and others at the last answer

    def search(
        self,
        query: str,
        scope: Scope | None = None,
        limit: int = 5,
        *,
        semantic: bool | None = False,
        others: bool = False,
    ) -> list[Hit]:
        """Returns the best hits, best first; for an empty query, the most recent records.

        `semantic` None searches by meaning only if words find little. With `others`, good hits of other branches follow
        those of this branch.
        """
        scope = scope or Scope()
        check_kind(scope.kind)
        if limit < 1:
            raise BadInput(f"limit {limit} is not at least 1")
        with self._turn:
            found = self._answer(_Question(query, scope, limit, semantic=semantic, others=others))
        return [Hit(*(*row[:-1], tuple(row[-1]))) for row in found]

    def _answer(self, question: "_Question") -> list[tuple[Any, ...]]:
        """Returns the answer; a damaged file is rebuilt, and a file that changed meanwhile is read again."""
        why: Exception | None = None
        for _ in range(_TRIES):
            try:
                return self._ask(question)
            except sqlite3.DatabaseError as error:
                if question.unfinished and self._partial is not None and is_busy(error):
                    question.unfinished = False  # the background indexer is writing: answer without the partial index
                else:
                    self._recover(error)
                why = error
            except _MovedOnError as error:
                why = error
        raise Busy(f"the index cannot be read now: {why}")

    def _recover(self, error: sqlite3.DatabaseError) -> None:
        """Rebuilds the damaged file; all of them if none is found to be damaged."""
        files = [one for one in (self._index, self._corpus, self._there) if one is not None]
        wrong = [] if is_refused(error) else [(one, damage) for one in files if (damage := one.damage())]
        for one, why in wrong or [(one, error) for one in files]:
            try:
                one.recover(why)
            except NotStored as refused:
                self._clone.notes.append(f"{_UNSEARCHED}: {refused}")
                self._corpus = None
            self._clone.notes.extend(one.take_notes())

    def _ask(self, question: "_Question") -> list[tuple[Any, ...]]:
        scope, semantic, others = question.scope, question.semantic, question.others
        self._clone.notes.extend(refresh(self._clone, self._index, state=self._state, progress=self._progress))
        memory = meta(self._index.db, "signature") or ""
        head = self._update_corpus(question)
        wanted = others or scope.branch is not None
        state = self._update_others(memory) if wanted else ""
        self._check_branch(scope)
        there = self._there if wanted and self._there.db.execute("SELECT 1 FROM row LIMIT 1").fetchone() else None
        other = ""  # the commit of a corpus that this answer does not use
        with contextlib.suppress(sqlite3.DatabaseError):
            if not head and self._corpus is not None and os.path.exists(self._corpus.path):
                other = meta(self._corpus.db, "head") or ""
        # The quick path cannot report an incomplete answer, so it must not take over the next one.
        self.used = (memory, head or f"!{other}", "" if self.unread else state, "1" if there else "0")
        files = [(self._index, "signature", memory)]
        files += [(self._corpus, "head", head)] if head and self._corpus else []
        files += [(self._partial, "head", "")] if self._partial else []
        files += [(there, "state", state)] if there else []

        def ask(near: "Near | None" = None) -> list[tuple[Any, ...]]:
            with _one_state(files) as opened:
                here, beyond = (opened[:-1], opened[-1]) if there else (opened, None)
                found = answers.answer(
                    here, beyond, question.asked, scope=scope, limit=question.limit, now=now, near=near, step=self._step
                )
                self.advice = answers.advice(here[0], question.asked, found, by_meaning=near is not None)
                return found

        now = search_rows.now_text(self._clone.clock())
        found = [] if semantic else ask()
        weak = semantic is None and question.query.strip() and answers.is_weak(found)
        near = question.meant(self._meaning) if semantic or weak else None  # slow: no transaction is open meanwhile
        self.by_meaning = near is not None
        found = ask(near) if near is not None or semantic else found
        return found or self._in_files(question)

    def _in_files(self, question: "_Question") -> list[tuple[Any, ...]]:
        """Returns hits of `git grep` in a repository that is not indexed yet, if nothing else was found."""
        scope, asked = question.scope, read_query(question.query)  # as the user spelled it
        only = scope.kind not in (None, "doc", "code") or scope.task or scope.since or asked.facets
        if not self.unread or self._choice is None or only or not asked.words:
            return []
        found = repository.grepped(self._clone, self._choice, asked.words, question.limit)
        hits = [
            Hit(f"{path}:{one.line}", kind, one.title, ranking.snippet(one.text, asked.words), path=path, by=BY_GIT)
            for kind, path, one in found
            if scope.kind in (None, kind)
        ]
        return as_rows(hits)

    def _update_corpus(self, question: "_Question") -> str:
        """Returns the commit that the corpus shows, if it is HEAD and may be searched; brings it up to date."""
        self._close_partial()
        if self._corpus is None or self._choice is None or question.scope.branch not in (None, EVERY_BRANCH):
            return ""
        try:
            is_there = repository.bring_corpus(self._clone, self._corpus, self._choice, progress=self._progress)
        except sqlite3.DatabaseError as error:
            self._clone.notes.append(f"{_UNSEARCHED}: {error}")
            return ""
        notes = [note for note in self._corpus.take_notes() if note not in self._shown_notes]
        self._shown_notes.update(notes)
        self._clone.notes.extend(notes)
        if not is_there and not any(note.startswith(_UNSEARCHED) for note in self._shown_notes):
            self._open_partial(wanted=question.unfinished)
        return (meta(self._corpus.db, "head") or "") if is_there else ""

    def _open_partial(self, *, wanted: bool) -> None:
        """Opens the partial index, and adds a note that the answer is incomplete."""
        assert self._corpus is not None
        self.unread = True
        going_on = repository.unfinished(self._corpus)
        self._partial, share = going_on or (None, 0.0)
        if self._partial is not None and not wanted:
            self._partial.close()
            self._partial = None
        self._clone.notes[:] = [note for note in self._clone.notes if not note.startswith(_UNREAD)]
        self._clone.notes.append(_READING.format(share))

    def _update_others(self, memory: str) -> str:
        try:
            return other_branches.bring_others(self._clone, self._there, self._index, memory=memory)
        except sqlite3.DatabaseError as error:
            self._there.recover(error)
            return other_branches.bring_others(self._clone, self._there, self._index, memory=memory)
        finally:
            self._clone.notes.extend(self._there.take_notes())

    def _check_branch(self, scope: Scope) -> None:
        """Refuses an unknown branch (no hits would look like an answer), and notes what is not searched there."""
        branch = scope.branch
        if branch in (None, EVERY_BRANCH):
            return
        rows = self._there.db.execute("SELECT DISTINCT branch FROM place UNION SELECT branch FROM sees")
        refs = self._clone.repo.text("for-each-ref", "--format=%(refname)", "refs/heads", "refs/remotes")
        heads = {ref[len(_HEADS) :] for ref in refs.splitlines() if ref.startswith(_HEADS)}
        if branch not in {*heads, *(name for (name,) in rows)}:
            hint = f"There are: {', '.join(sorted(heads)[:8]) or 'none'}."
            if f"refs/remotes/{branch}" in refs.splitlines():
                hint = f"It is a remote's; to search it, have it here: git branch NAME {branch}"
            raise BadInput(f"no branch here is called {branch!r}", hint=hint)
        note = _NOT_OF_BRANCH.format(branch)
        of_repository = self._choice is not None and scope.kind in (None, *answers.OF_THE_REPOSITORY)
        if of_repository and note not in self._clone.notes:
            self._clone.notes.append(note)

    def keep_used(self, stamp: str) -> None:
        """Stores the state that the last answer used, so that the quick path answers alike while it holds."""
        # If it fails, the next question takes the full path.
        with contextlib.suppress(sqlite3.DatabaseError), self._turn, self._index.writing() as db:
            row = ("recall", "\n".join((stamp, *self.used)) if stamp and self.used[2] else "")
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", row)

    def needs_reader(self) -> bool:
        """Whether the last answer was incomplete, and no process is indexing."""
        return self.unread and self._corpus is not None and not repository.is_being_read(self._corpus)

    def _close_partial(self) -> None:
        self.unread = False
        if self._partial is not None:
            self._partial.close()
            self._partial = None

    def close(self) -> None:
        with self._turn:
            self._close_partial()
            for one in (self._index, self._corpus, self._there):
                if one is not None:
                    one.close()


class _MovedOnError(Exception):
    """Another process changed a file between its refresh and our read."""


class _Question:
    """A question; its vectors are computed once, however often the files are read."""

    def __init__(self, query: str, scope: Scope, limit: int, *, semantic: bool | None, others: bool) -> None:
        self.query, self.scope, self.limit = query, scope, limit
        self.asked = read_query(query)
        self.semantic, self.others = semantic, others
        self.unfinished = True  # whether to search a corpus that is still being indexed
        self._near: list[Near | None] = []

    def meant(self, meaning: Meaning | None) -> "Near | None":
        if not self._near and meaning is not None:
            self._near = [meaning(self.query, ASKED if self.semantic else UNASKED)]
        return self._near[0] if self._near else None


@contextlib.contextmanager
def _one_state(files: Sequence[tuple[Index, str, str]]) -> Iterator[list[sqlite3.Connection]]:
    """Opens each file in one transaction that shows the expected value of one name in its `meta`."""
    with contextlib.ExitStack() as stack:
        opened = []
        for index, name, value in files:
            db = stack.enter_context(index.reading())
            row = db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
            if row is None or (row[0] or "") != value:  # none: the file was deleted, and this one is empty
                raise _MovedOnError("other commands change it again and again")
            opened.append(db)
        yield opened


def check_kind(kind: str | None) -> None:
    """Refuses an unknown kind; finding nothing would look like an answer."""
    named = sorted({*ranking.KINDS, *TYPES})
    if kind is None or kind in named or kind in EVENT_KINDS:
        return
    near = difflib.get_close_matches(kind.casefold(), named, n=1)
    meant = f"Did you mean {near[0]}? " if near else ""
    raise BadInput(f"{kind!r} is not a kind of record", hint=f"{meant}Use one of {', '.join(named)}.")


def as_rows(hits: Sequence[Hit]) -> list[tuple[Any, ...]]:
    """Returns the hits for `index.hit_text`: their fields in order, the parts of the score last."""
    return [tuple(getattr(hit, one.name) for one in fields(Hit)) for hit in hits]


def recall(clone: Clone, query: str, *, limit: int = 5, progress: Progress | None = None, **scope: Any) -> list[Hit]:
    """Returns what matches a query, best first, from what is visible here."""
    with contextlib.closing(TextSearch(clone, progress=progress)) as searcher:
        return searcher.search(query, Scope(**scope), limit)
