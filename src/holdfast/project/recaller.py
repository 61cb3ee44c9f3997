"""Answers questions: searches all recorded knowledge, and explains why a line of a file is there."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from holdfast.capture import worktree_changes
from holdfast.errors import BadInput
from holdfast.index import hit_text, search_rows
from holdfast.index import query as index_query
from holdfast.index.corpus import file_choice
from holdfast.index.corpus import update as repository
from holdfast.model import event
from holdfast.project.concern import Concern
from holdfast.recall import applicable_memories, graph_search, plugins, search
from holdfast.recall.pack import sent_packs as given
from holdfast.recall.why import line_authors, line_reasons
from holdfast.store import tally
from holdfast.values import field_names, frozen, grouped, replace

if TYPE_CHECKING:
    from holdfast.curation.decisions import MemoryStanding
    from holdfast.index.refresh import Progress
    from holdfast.index.sqlite import Index
    from holdfast.recall.applicable_memories import ApplicableMemory, KnownMemory

_UNKEPT = "; it is built in memory"  # ends the note of an index that cannot be stored
_UNSEARCHED = "commits, docs and code were not searched"
MOST_KNEW = 3  # runs whose packs are read; a guess: more than three authors of some lines are not shown


@frozen(kw_only=True)
class Ruling:
    """A memory that applies to a file, and whether it still holds."""

    id: str
    type: str
    statement: str
    why: str  # why it applies
    near: int  # 0: it names the file; 1: it cites it; 2: it comes from the run that wrote the lines; 3: everywhere
    status: str  # accepted, stale, unreviewed, expired, superseded or deprecated
    trust: str | None
    holds: bool
    doubt: str  # why it does not hold
    superseded_by: str | None = None
    told: bool | None = None  # whether the run got it in a context; None without such a run


@frozen(kw_only=True)
class Explained:
    """Why lines are there, which memories apply to them, and which the runs that wrote them were given."""

    why: line_reasons.Why
    governs: tuple[Ruling, ...]
    knew: tuple[given.AgentKnowledge, ...]


class KnownHere:
    """All memories as they stand, in the forms that answers about files need."""

    def __init__(
        self, recaller: Recaller, standings: Mapping[str, MemoryStanding], memories: Sequence[KnownMemory]
    ) -> None:
        self._recaller, self.standings, self.memories = recaller, standings, memories

    @cached_property
    def newer(self) -> Mapping[str, str]:
        """The memory that took another one's place, by the id of the other."""
        return {old: one.id for one in self.standings.values() for old in getattr(one.memory, "supersedes", ())}

    @cached_property
    def by_place(self) -> applicable_memories.MemoriesByPlace:
        """The memories by the places that they name and cite."""
        return applicable_memories.MemoriesByPlace(self.memories)

    @cached_property
    def of_runs(self) -> Mapping[str, list[KnownMemory]]:
        """The memories that cite a run or come from one, by `run:` and its id."""
        texts = ((one, self.standings[one.id].memory) for one in self.memories)
        named = ((text, one) for one, memory in texts for text in {*memory.evidence, memory.source or ""})
        return grouped((text, one) for text, one in named if text.startswith("run:"))

    @cached_property
    def now(self) -> Mapping[str, given.CurrentStanding]:
        """The state of memories, tasks and sessions."""
        return self._recaller.project.context.open_session()


class Recaller(Concern):
    """Search by words, files and git, and by meaning if there is a model."""

    _open_search: search.TextSearch | None = None
    state = ""  # of memory, as the caller just found it: an index that shows it is not compared with the files again
    progress: Progress | None = None  # called while the repository is read
    advice = ""  # a hint, if the last answer was weak
    by_meaning = False  # whether the last answer used search by meaning

    def __call__(
        self,
        query: str = "",
        *,
        limit: int = 5,
        task: str | None = None,
        kind: str | None = None,
        files: Sequence[str] = (),
        branch: str | None = None,
        since: str | datetime | None = None,
        explain: bool = False,
        semantic: bool | None = None,
        count: bool = True,
    ) -> list[search.Hit]:
        """Returns the hits for a query, best first; without words, the most recent.

        Hits that concern one of the `files` rank higher. `branch` searches another branch's memory, or all with `*`;
        without it, hits of other branches come last, labelled. `since` is a date, a time or an age (`2w`). `explain`
        adds the parts of each score. `semantic` forces search by meaning, or with False prevents it; by default it runs
        if words find little. `count` adds the question to the statistics.
        """
        began = time.perf_counter_ns()
        query = self.clone.hide.text(query)
        scope = self._scope(files, branch, since, task=task, kind=kind)
        hits = self._hits_of(query, scope, limit, semantic)
        took = (time.perf_counter_ns() - began) // 1000
        self._merge_cache_notes()
        if count and kind != "candidate":  # Holdfast itself asks for candidates, to count what waits
            found = [(hit.id, hit.kind, hit.state) for hit in hits]
            tally.recalled_now(self.clone.layout, found, took)
        return hits if explain else [replace(hit, parts=()) if hit.parts else hit for hit in hits]

    def keep_answer(self, stamp: str) -> None:
        """Lets the quick path repeat the last answer while its inputs are unchanged."""
        if self._open_search is not None:
            alike = self._retriever() is None and self._graph() in (graph_search.AUTO, graph_search.OFF)
            self._open_search.keep_used(stamp if alike else "")

    def _hits_of(self, query: str, scope: index_query.Scope, limit: int, semantic: bool | None) -> list[search.Hit]:
        own, name = self._searching(), self._retriever()
        if name is None or scope.kind == "candidate":
            found = own.search(query, scope, limit, semantic=semantic, others=True)
            self.by_meaning = self.by_meaning if scope.kind == "candidate" else own.by_meaning
            self.advice = own.advice
            self.project.has_unread = self.project.has_unread or own.needs_reader()
            return found
        search.check_kind(scope.kind)
        plugin = plugins.PluginRetriever(name, self.clone.repo.top, own)
        found = plugin.search(query, scope, limit)
        self.clone.notes.extend(plugin.complaints)
        return found

    def _merge_cache_notes(self) -> None:
        """Merges the notes of indexes that cannot be stored into one about their folder."""
        notes = self.clone.notes
        unkept = [note for note in notes if _UNKEPT in note]
        if not unkept:
            return
        unsearched = [note for note in notes if note.startswith(_UNSEARCHED)]
        notes[:] = [note for note in notes if note not in unkept and note not in unsearched]
        also = f", and {_UNSEARCHED}" if unsearched else ""
        notes.append(f"{self.clone.layout.cache} cannot be written, so the index is built in memory{also}")

    def _searching(self) -> search.TextSearch:
        if self._open_search is None:
            self._open_search = search.TextSearch(
                self.clone,
                state=self.state,
                progress=self.report_progress,
                choice=self.corpus_choice(),
                meaning=self.project.models.near,
                step=graph_search.graph_step(self._graph(), self.clone.notes),
            )
        return self._open_search

    def close(self) -> None:
        """Closes the indexes before they are deleted."""
        self.project.context.close()
        if self._open_search is not None:
            self._open_search.close()
            self._open_search = None

    def report_progress(self, done: int, total: int) -> None:
        if self.progress is not None:
            self.progress(done, total)

    def _retriever(self) -> str | None:
        name = str(self.settings.values["retrieval.retriever"])
        return None if name == plugins.BUILT_IN else name

    def _graph(self) -> str:
        return str(self.settings.values["retrieval.graph"])

    def corpus_choice(self) -> file_choice.CorpusChoice:
        """Returns which parts of the repository the settings include in search."""
        given = {key: self.settings.values.get(f"index.{key}") for key in field_names(file_choice.CorpusChoice)}
        return file_choice.CorpusChoice(**{key: value for key, value in given.items() if value is not None})

    def _scope(
        self, files: Sequence[str], branch: str | None, since: str | datetime | None, **more: Any
    ) -> index_query.Scope:
        there = None if branch is None or branch == self.clone.repo.head().branch else branch
        hide = self.clone.hide.text  # the index stores redacted names
        there = hide(there) if there else None
        named = [hide(applicable_memories.inside(path, top=self.clone.repo.top).rstrip("/")) for path in files]
        return index_query.Scope(files=named, branch=there, since=self._moment(since), **more)

    def _moment(self, since: str | datetime | None) -> str | None:
        if not isinstance(since, str):
            return event.timestamp(since) if since else None
        found = hit_text.since_moment(since, search_rows.now_text(self.clone.clock()))
        if found is None:
            raise BadInput(
                f"{since[:80]!r} is neither a date nor an age", hint="Write 2026-10-01, 30d, 2w or yesterday."
            )
        return found

    def index_state(self) -> repository.CorpusState:
        """Returns how much of commits, documents and code is indexed, and the size of the index."""
        with self._reading_repository() as (corpus, choice):
            return repository.state_of(self.clone, corpus, choice)

    def build_index(self, *, progress: Progress | None = None, seconds: float | None = None) -> repository.CorpusState:
        """Indexes what is not indexed yet; with `seconds` it stops after about that time.

        The next call continues from there.
        """
        with self._reading_repository() as (corpus, choice):
            if seconds is None:
                if wrong := corpus.damage():  # without a time limit it can check every page
                    corpus.recover(wrong)
                repository.bring_corpus(self.clone, corpus, choice, progress=progress, patience=True)
            else:
                repository.work(self.clone, corpus, choice, progress=progress, seconds=seconds)
            self.clone.notes.extend(corpus.take_notes())
            return repository.state_of(self.clone, corpus, choice)

    def index_waits(self) -> bool:
        """Whether something is left to index in the background; a cheap check."""
        with self._reading_repository() as (corpus, choice):
            return repository.waits(self.clone, corpus, choice)

    @contextlib.contextmanager
    def _reading_repository(self) -> Iterator[tuple[Index, file_choice.CorpusChoice]]:
        with contextlib.closing(repository.open_corpus(self.clone)) as corpus:
            yield corpus, self.corpus_choice()

    def why(
        self, place: str, *, folder: str | None = None, line: int | None = None, known: KnownHere | None = None
    ) -> Explained:
        """Returns the run and turn that wrote a line (`src/a.py:12`), some (`src/a.py:10-20`) or all lines of a file.

        Paths are relative to `folder`, by default the repository's top; with `line`, `place` is only a path. Nothing
        changes. `known` is what was read already.
        """
        asked = line_authors.read_target(self.clone.repo, place, folder=folder or self.clone.repo.top, line=line)
        with self.clone.unsealed():
            found = line_authors.find_authors(self.clone, asked, spell=worktree_changes.spelled)
            why = line_reasons.explain(self.clone, asked, found)
        runs = list(dict.fromkeys(one.run.id for one in why.answers if one.run))
        few = runs if len(runs) <= MOST_KNEW and not why.whole else []
        knew = tuple(given.knew(self.clone, run, kind="run", now={}) for run in few)
        if any(one.packs for one in knew):  # the current states are read only if there is something to show
            now = known.now if known else self.project.context.open_session()
            knew = tuple(given.knew(self.clone, run, kind="run", now=now) for run in few)
        return Explained(why=why, governs=tuple(self._rulings(why.path, few, knew, known or self.known())), knew=knew)

    def authors(self, path: str, text: Sequence[str], *, first: int, last: int) -> line_reasons.Why:
        """Returns who wrote some lines of a file whose text is known, and nothing else.

        Cheap enough for a page of them: of a line that was moved or copied it names who did that, where `why` follows
        it to its first author.
        """
        asked = line_authors.WhyTarget(path=path, text=tuple(text), first=first, last=last, whole=False)
        with self.clone.unsealed():
            found = line_authors.find_authors(self.clone, asked, spell=worktree_changes.spelled, moved=False)
            return line_reasons.explain(self.clone, asked, found)

    def governing(self, path: str, *, known: KnownHere | None = None) -> tuple[Ruling, ...]:
        """Returns the memories that apply to a file, the nearest first."""
        return tuple(self._rulings(path, (), (), known or self.known()))

    def known(self) -> KnownHere:
        """Returns what answers about many files rest on, for whoever keeps it between them."""
        standings = {one.id: one for one in self.project.memory.knowledge().standings}
        return KnownHere(self, standings, self.project.context.known(list(standings.values()), {}))

    def _rulings(
        self, path: str, runs: Sequence[str], knew: Sequence[given.AgentKnowledge], known: KnownHere
    ) -> Iterator[Ruling]:
        """Yields the memories that apply to these lines, the nearest first."""
        standings = known.standings
        given_ids = {entry.id for one in knew for pack in one.packs for entry in pack.entries}
        newer = known.newer
        for one in self._governing(path, known, {f"run:{run}" for run in runs}):
            there = standings[one.known.id]
            holds = there.status == "accepted"
            yield Ruling(
                **{name: getattr(there.memory, name) for name in ("id", "type", "statement")},
                **{name: getattr(there, name) for name in ("status", "trust")},
                **{name: getattr(one, name) for name in ("why", "near")},
                holds=holds,
                doubt="" if holds else one.known.doubt,
                superseded_by=newer.get(there.id) if there.status == "superseded" else None,
                told=there.id in given_ids if runs else None,
            )

    def _governing(self, path: str, known: KnownHere, runs: set[str]) -> list[ApplicableMemory]:
        """Returns memories that name or cite a file, come from the runs that wrote it, or apply everywhere."""
        there = {one.known.id: one for one in known.by_place.about(path)}
        for one in (one for run in runs for one in known.of_runs.get(run, ())):
            if one.id not in there or there[one.id].near == applicable_memories.EVERYWHERE:
                there[one.id] = applicable_memories.ApplicableMemory(one, applicable_memories.TASK, "came of this run")
        return applicable_memories.ordered(there.values())
