"""The project as the pages show it: read once, and read again when a file that it rests on changes.

Every page asks the same `Project` as the command line. What several pages need of it is kept in one `ProjectReading`,
which is thrown away when the project's signature or a file that memories cite changes. One request at a time reads.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from holdfast.errors import BadInput, HoldfastError, NotFound
from holdfast.index import freshness, refresh
from holdfast.interfaces.cli.memory_commands import refresh_tools
from holdfast.interfaces.web.browser_access import BrowserAccess
from holdfast.interfaces.web.web_query import Unfinished
from holdfast.model import ids
from holdfast.model.evidence import parse_evidence
from holdfast.model.task import PLANS
from holdfast.project import Project
from holdfast.store import folder_facts
from holdfast.store.layout import FOLDER_OF, LINKS, TASKS
from holdfast.values import grouped

if TYPE_CHECKING:
    from holdfast.curation.decisions import MemoryStanding
    from holdfast.curation.memory_conflicts import MemoryConflict
    from holdfast.curation.memory_state import MemoryListing
    from holdfast.curation.review_queue import QueueItem, ReviewQueue
    from holdfast.curation.undo import UndoStep
    from holdfast.diagnostics.agent_health import AgentHealth
    from holdfast.git.clone import Clone
    from holdfast.index.freshness import IndexSignature
    from holdfast.model.task import Task
    from holdfast.project.recaller import KnownHere
    from holdfast.recall.relation_graph import RelationIndex
    from holdfast.work.task_board import Board

JUST_NOW = 1.0  # seconds; a guess: the page asks every two whether something changed
TOGETHER = "together"  # under which the ids of decisions that were made at once are kept
OF_TASKS = ("board", "ready_rank", "ready", "columns", "critical_path")
OLDEST = 60.0  # seconds: memories expire and claims run out although no file changes


def column_of(task: Task, ready: Collection[str]) -> str:
    """The column of the board in which a task stands."""
    if task.is_closed:
        return "done"
    return task.status if task.status != "open" else "ready" if task.id in ready else "waiting"


class ProjectReading:
    """What several pages need, each part read when the first of them asks."""

    def __init__(self, project: Project, access: BrowserAccess, version: str, kept: dict[str, Any]) -> None:
        self.project, self.access, self.version = project, access, version
        self.kept = kept  # what was costly, and is shown with its time: it outlives this reading
        self.began = time.monotonic()

    @cached_property
    def queue(self) -> ReviewQueue:
        """What waits for a decision."""
        return self.project.memory.queue()

    @cached_property
    def items(self) -> dict[str, QueueItem]:
        """The same by id."""
        return {item.id: item for item in self.queue.items}

    @cached_property
    def listing(self) -> MemoryListing:
        """All memories, by state."""
        return self.queue.known

    @cached_property
    def memories(self) -> dict[str, MemoryStanding]:
        """All memories by id: candidates and what was rejected, too."""
        waiting = {item.id: item.standing for item in self.queue.items}
        rejected = {one.id: one for one in self.queue.rejected}
        return {**rejected, **waiting, **{one.id: one for one in self.listing.standings}}

    @cached_property
    def undoable(self) -> list[UndoStep]:
        """What undo takes back: the last decision, with those that this page made at once with it."""
        steps = self.project.memory.undoable()
        groups: list[frozenset[str]] = self.kept.get(TOGETHER, [])
        ids = next((ids for ids in groups if steps and steps[0].id in ids), frozenset[str]())
        return list(takewhile(lambda step: step.id in ids, steps[: len(ids)])) or steps[:1]

    @cached_property
    def last_changes(self) -> dict[str, str]:
        """When each memory was last proposed, decided about or edited."""
        return self.project.memory.last_changes()

    @cached_property
    def newest(self) -> list[MemoryStanding]:
        """All memories, what was decided last first."""
        return sorted(self.memories.values(), key=lambda one: (self.last_changes.get(one.id, ""), one.id), reverse=True)

    @cached_property
    def successors(self) -> dict[str, list[str]]:
        """The memories that take the place of each memory, or would if they were approved."""
        pairs = ((old, one.id) for one in self.memories.values() for old in getattr(one.memory, "supersedes", ()))
        return grouped(pairs)

    @cached_property
    def cited_commits(self) -> dict[str, str]:
        """What each memory that cites commits cites."""
        cited = ((name, " ".join(one.memory.evidence)) for name, one in self.memories.items())
        return {name: text for name, text in cited if "commit:" in text}

    @cached_property
    def conflicts(self) -> dict[str, list[MemoryConflict]]:
        """The contradictions among accepted memories, by each of both."""
        pairs = self.queue.contradictions
        return grouped((name, pair) for pair in pairs for name in (pair.one.id, pair.other.id))

    @cached_property
    def agents(self) -> list[AgentHealth]:
        """The agents that are installed here or connected."""
        return [one for one in self.project.clients.tools() if one.installed or one.connected]

    @cached_property
    def board(self) -> Board:
        """The tasks."""
        return self.project.tasks.board()

    @cached_property
    def known(self) -> KnownHere:
        """The memories as answers about files need them."""
        return self.project.recall.known()

    @cached_property
    def ready_rank(self) -> dict[str, int]:
        """The ready tasks, best first, each with its place."""
        return {task.id: place for place, task in enumerate(self.board.graph.ready())}

    @cached_property
    def ready(self) -> frozenset[str]:
        """The ids of the ready tasks."""
        return frozenset(self.ready_rank)

    @cached_property
    def columns(self) -> dict[str, list[Task]]:
        """The tasks of the board by column, in order: by priority, then as they can be done."""
        rank = self.ready_rank
        cards = [task for task in self.board.tasks if task.kind not in PLANS]
        cards.sort(key=lambda task: (task.priority, rank.get(task.id, 0), task.title, task.id))
        return grouped((column_of(task, self.ready), task) for task in cards)

    @cached_property
    def critical_path(self) -> tuple[str, ...]:
        """The longest chain of open work, first things first."""
        return self.board.graph.critical_path()

    @cached_property
    def relations(self) -> RelationIndex:
        """How memories, tasks, runs, commits and files hang together."""
        board = self.board if self.project.settings.has("tasks") else None
        return self.project.log.relations(self.memories.values(), board)

    def item(self, identity: str) -> QueueItem:
        """What waits under an id; NotFound if it waits no longer."""
        try:
            return self.items[ids.pick(identity, self.items)]
        except NotFound:
            raise NotFound(f"{identity} does not wait for a decision", hint="It may have been decided.") from None

    @property
    def has_read(self) -> tuple[str, ...]:
        """Which of the parts that rest on cited files were read."""
        return tuple(name for name in ("queue", "known") if name in vars(self))

    @cached_property
    def cited_files(self) -> str:
        """The files that memories cite, one a line, as `freshness.watched` takes them."""
        cited: set[str] = set()
        there = self.memories if "queue" in vars(self) else self.known.standings
        for text in {text for one in there.values() for text in one.memory.evidence}:
            with suppress(BadInput):  # written by hand
                cited.add(getattr(parse_evidence(text), "path", ""))
        return "\n".join(sorted(path for path in cited if path and "\n" not in path))


def _facts(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


class ProjectDesk:
    """Gives each request the reading that holds now; one request at a time has it."""

    def __init__(self, folder: str, access: BrowserAccess, environ: Mapping[str, str] | None = None) -> None:
        self.access = access
        self._folder, self._environ = os.path.abspath(folder), os.environ if environ is None else environ
        self._lock = threading.Lock()
        self._reading: ProjectReading | None = None
        self._clone: Clone | None = None  # of the last reading: what it parsed is not parsed again
        self._seen: IndexSignature | None = None  # the state that the reading was found not to show
        self._state = self._cited = self._work = ""
        self._of_tasks: dict[str, Any] = {}  # what the last reading read of tasks, valid for that state of work
        self._folders: tuple[object, ...] = ()  # as they were when every file was looked at
        self._looked = 0.0
        self._watched: tuple[str, ...] = ()
        self._kept: dict[str, Any] = {}

    @contextmanager
    def reading(self) -> Iterator[ProjectReading]:
        """The project as it is now."""
        with self._lock:
            if self._reading is None or not self._is_current(self._reading):
                self._reading = self._read()
            found = self._reading
            yield found
            self._of_tasks = {name: part for name, part in vars(found).items() if name in OF_TASKS}
            if self._reading is found and self._state and found.has_read != self._watched:
                vars(found).pop("cited_files", None)
                self._watched, self._cited = found.has_read, self._look_at_cited(found)

    def change(self, act: Callable[[ProjectReading], tuple[str, str | None]]) -> str | None:
        """Does something that changes the project; returns the address to go on with, if it names one."""
        self._looked = 0.0  # what is decided about must be what is there
        with self.reading() as found:
            found.project.__dict__.pop("no_person", None)  # the code may have been typed since
            try:
                said, target = act(found)
            except Unfinished:  # nothing was changed
                raise
            except HoldfastError:
                self._reading = None
                raise
            self._reading = None
            refresh_tools(found.project)
            self.access.flash += [*([said] if said else []), *found.project.notices]
            return target

    def version(self) -> str:
        """What changes whenever a page might show something else."""
        with self.reading() as found:
            return found.version

    def hide(self, text: str) -> str:
        """A text without the secrets that the project's rules know."""
        return self._reading.project.clone.hide.text(text) if self._reading else text

    def _read(self) -> ProjectReading:
        """Opens the project again, and reads only what changed since it was last open.

        The state of the files is taken before: what changes while they are read is seen by the next look.
        """
        earlier, seen, self._seen = self._clone, self._seen, None
        folders: tuple[object, ...] = ()
        if earlier is not None:
            folders = self._folder_facts(earlier)
            seen = seen if seen is not None and seen.settled else refresh.signature_of(earlier)
        folder_facts.looked_at.update(seen.folders if seen and seen.settled else {})
        try:
            project = Project.open(self._folder, environ=self._environ, person=lambda: self.access.no_person)
        finally:
            folder_facts.looked_at.clear()
        self._clone = project.clone
        if earlier is not None:
            project.clone.entry_memo.take_over(earlier.entry_memo)
            project.clone.sighted = earlier.sighted
        if folders != self._folder_facts(project.clone):  # opening it took up what hooks or hands had left
            seen = refresh.signature_of(project.clone)
            project.clone.repo.entry_facts()  # what it keeps must not be older than that state
        project.clone.repo.expect_no_edits()  # this desk looks for them, and opens the project again
        state, project.recall.state, work = (seen.value, seen.memory, seen.work) if seen and seen.settled else ("",) * 3
        self._state, self._cited, self._watched = state, "", ()
        found = ProjectReading(project, self.access, f"{state or time.monotonic_ns()}"[:16], self._kept)
        if work and work == self._work:  # what changed has nothing to do with tasks
            vars(found).update(self._of_tasks)
        self._work, self._of_tasks = work, {}
        return found

    def _is_current(self, reading: ProjectReading) -> bool:
        """Whether nothing that the reading shows can have changed.

        Looking at every file of memory and plan costs more than most pages. Within a second after that only what git
        and Holdfast themselves change is looked at: an edit by hand is seen a moment later.
        """
        if not self._state or time.monotonic() - reading.began > OLDEST:
            return False
        clone = reading.project.clone
        folders = self._folder_facts(clone)
        if folders == self._folders and time.monotonic() - self._looked < JUST_NOW:
            return True
        self._folders, self._looked = folders, time.monotonic()
        seen = freshness.signature(refresh.place_of(clone), clone.private)
        if seen is None or seen.value != self._state:
            self._seen = seen
            return False
        return not self._cited or self._cited == self._look_at_cited(reading)

    @staticmethod
    def _folder_facts(clone: Clone) -> tuple[object, ...]:
        """What a command changes: branches, pending changes, the log, and the folders that it writes files into."""
        layout = clone.private
        folders = [layout.runs, layout.bodies, layout.candidates, layout.sessions, layout.claims, layout.seen]
        folders += [layout.in_tree(name) for name in (*FOLDER_OF.values(), TASKS, LINKS)]
        files = [os.path.join(layout.spool, name) for name in layout.listed(layout.spool)]
        return (freshness.ground(refresh.place_of(clone), layout), *map(_facts, [*folders, *files]))

    @staticmethod
    def _look_at_cited(reading: ProjectReading) -> str:
        return freshness.watched(reading.project.clone.repo.top, reading.cited_files)[0]
