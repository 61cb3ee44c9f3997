"""Recalling: questions to everything that is known here, and to other branches where they are asked for."""

import time
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from holdfast.errors import BadInput
from holdfast.index import hit_text
from holdfast.index.corpus.file_choice import CorpusChoice
from holdfast.index.query import Scope
from holdfast.index.refresh import Progress
from holdfast.index.search_rows import now_text
from holdfast.model.event import timestamp
from holdfast.project.viewing import Viewing
from holdfast.recall import applicable_memories, graph_search, plugins
from holdfast.recall.search import Hit, TextSearch, check_kind
from holdfast.store import tally
from holdfast.values import field_names, replace

if TYPE_CHECKING:
    from holdfast.index.pool import Near

_UNKEPT = "; it is built in memory"  # ends what an index says that cannot be kept
_UNSEARCHED = "commits, docs and code were not searched"


class Recalling(Viewing):
    """Search: by words, files, git, and meaning where there is a model."""

    _asking: TextSearch | None = None
    progress: Progress | None = None  # who wants to know how far reading the repository is
    by_meaning = False  # whether meaning was asked for the last answer

    def recall(
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
    ) -> list[Hit]:
        """What fits a query, best first; with no words, the most recent.

        What shares one of the `files` counts more. `branch` names another one whose memory is asked, or `*`
        for all; without it, what others hold stands below what holds here, labelled. `since` is a date, a
        moment or a time ago (`2w`). `explain` gives each hit the parts of its score. `semantic` asks for
        meaning always, or with False never; else it is asked where words find little. `count` says
        whether it is a question that statistics tell of.
        """
        began = time.perf_counter_ns()
        query = self.clone.hide.text(query)
        scope = self._scope(task=task, kind=kind, files=files, branch=branch, since=since)
        hits = self._hits_of(query, scope, limit, semantic)
        took = (time.perf_counter_ns() - began) // 1000
        self._say_once_of_the_cache()
        if count and kind != "candidate":  # asked on the way, to say how many wait
            found = [(hit.id, hit.kind, hit.state) for hit in hits]
            tally.recalled_now(self.clone.layout, query, found, took)
        return hits if explain else [replace(hit, parts=()) if hit.parts else hit for hit in hits]

    def near(self, query: str, seconds: float = 0.0, /) -> "Near | None":  # noqa: ARG002 - who can embed overrides
        """A question among all texts that have a vector; None where nothing is embedded."""
        return None

    def keep_recalled(self, stamp: str) -> None:
        """Let the quick path answer like the last answer, as long as all that it rests on is as it was."""
        if self._asking is not None:
            alike = self._retriever() is None and self._graph() in (graph_search.AUTO, graph_search.OFF)
            self._asking.keep_used(stamp if alike else "")

    def _hits_of(self, query: str, scope: Scope, limit: int, semantic: bool | None) -> list[Hit]:
        own, name = self._searching(), self._retriever()
        if name is None or scope.kind == "candidate":
            found = own.search(query, scope, limit, semantic=semantic, others=True)
            self.by_meaning = self.by_meaning if scope.kind == "candidate" else own.by_meaning
            return found
        check_kind(scope.kind)
        plugin = plugins.PluginRetriever(name, self.clone.repo.top, own)
        found = plugin.search(query, scope, limit)
        self.clone.notes.extend(plugin.complaints)
        return found

    def _say_once_of_the_cache(self) -> None:
        """Make one sentence of what each file says that cannot be kept: their folder is what is wrong."""
        notes = self.clone.notes
        unkept = [note for note in notes if _UNKEPT in note]
        if not unkept:
            return
        unsearched = [note for note in notes if note.startswith(_UNSEARCHED)]
        notes[:] = [note for note in notes if note not in unkept and note not in unsearched]
        also = f", and {_UNSEARCHED}" if unsearched else ""
        notes.append(f"{self.clone.layout.cache} cannot be written, so the index is built in memory{also}")

    def _searching(self) -> TextSearch:
        if self._asking is None:
            self._asking = TextSearch(
                self.clone,
                progress=self._step_of_reading,
                choice=self._choice(),
                meaning=self.near,
                step=graph_search.graph_step(self._graph(), self.clone.notes),
            )
        return self._asking

    def _close_search(self) -> None:
        super()._close_search()
        if self._asking is not None:
            self._asking.close()
            self._asking = None

    def _step_of_reading(self, done: int, total: int) -> None:
        if self.progress is not None:
            self.progress(done, total)

    def _retriever(self) -> str | None:
        name = str(self.settings.values["retrieval.retriever"])
        return None if name == plugins.BUILT_IN else name

    def _graph(self) -> str:
        return str(self.settings.values["retrieval.graph"])

    def _choice(self) -> CorpusChoice | None:
        """What of the repository is to be found, as the settings say it."""
        given = {key: self.settings.values.get(f"index.{key}") for key in field_names(CorpusChoice)}
        return CorpusChoice(**{key: value for key, value in given.items() if value is not None})

    def _scope(
        self,
        *,
        task: str | None,
        kind: str | None,
        files: Sequence[str],
        branch: str | None,
        since: str | datetime | None,
    ) -> Scope:
        head = self.clone.repo.head()
        there = None if branch is None or branch == head.branch else branch
        hide = self.clone.hide.text  # as the index knows them
        there = hide(there) if there else None
        named = [hide(self._at_top(path)) for path in files]
        return Scope(task=task, kind=kind, files=named, branch=there, since=self._moment(since))

    def _at_top(self, path: str) -> str:
        found = applicable_memories.at_top(path, top=self.clone.repo.top)
        if found is None:
            raise BadInput(f"{path} is not in this repository", hint="Name files of this project.")
        return found.rstrip("/")

    def _moment(self, since: str | datetime | None) -> str | None:
        if since is None or isinstance(since, datetime):
            return None if since is None else timestamp(since)
        found = hit_text.since_moment(since, now_text(self.clone.clock()))
        if found is None:
            raise BadInput(
                f"{since[:80]!r} is neither a date nor a time ago", hint="Write 2026-10-01, 30d, 2w or yesterday."
            )
        return found
