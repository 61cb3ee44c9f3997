"""The Python API, and all that the command line calls.

    project = Project.open(".")
    run_id = project.write_log({"task": "T-1", "outputs": {"summary": "schema written"}})
    project.promote_fact({"statement": "Tests need Postgres 16", "evidence": [run_id]}, reviewer="ann")
    hits = project.recall("postgres")

A project has one attribute for each concern, and each is imported when it is first used: a command loads only what it
does. Nothing is decided here.
"""

from __future__ import annotations

import os
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from holdfast.config import Settings
    from holdfast.curation.decisions import MemoryStanding
    from holdfast.curation.memory_state import MemoryListing
    from holdfast.git.clone import Clone
    from holdfast.git.project_setup import ProjectSetup
    from holdfast.index.freshness import IndexSignature
    from holdfast.model.memory import Accepted, Candidate
    from holdfast.project.agent_book import AgentBook
    from holdfast.project.agent_setup import AgentSetup
    from holdfast.project.context_builder import ContextBuilder
    from holdfast.project.first_look import Tried
    from holdfast.project.git_sync import GitSync
    from holdfast.project.harvester import Harvester
    from holdfast.project.health_checks import HealthChecks
    from holdfast.project.memory_book import MemoryBook
    from holdfast.project.recaller import Recaller
    from holdfast.project.run_log import RunLog
    from holdfast.project.search_models import SearchModels
    from holdfast.project.session_book import SessionBook
    from holdfast.project.task_book import TaskBook
    from holdfast.project.transcript_import import TranscriptImport
    from holdfast.project.view_files import ViewFiles
    from holdfast.recall.search import Hit
    from holdfast.store.sealed_files import SealingKeys


def _concern(place: str) -> Any:
    """One concern of a project, imported when it is first used."""
    module, name = place.split(".")

    def made(project: Project) -> Any:
        return getattr(import_module(f"holdfast.project.{module}"), name)(project)

    return cached_property(made)


class Project:
    """A project's memory, seen from the branch that is checked out."""

    log: RunLog = _concern("run_log.RunLog")  # what agents and commands did
    memory: MemoryBook = _concern("memory_book.MemoryBook")  # what the project knows, and what waits for a decision
    tasks: TaskBook = _concern("task_book.TaskBook")  # what is to be done
    sessions: SessionBook = _concern("session_book.SessionBook")  # the work sessions
    recall: Recaller = _concern("recaller.Recaller")  # search: `project.recall(query)`, and why a line is there
    context: ContextBuilder = _concern("context_builder.ContextBuilder")  # what agents get, the journal
    sync: GitSync = _concern("git_sync.GitSync")  # publishing, trust, rewritten history, bundles, clean-up
    clients: AgentSetup = _concern("agent_setup.AgentSetup")  # the coding agents of this user, and the files they read
    agents: AgentBook = _concern("agent_book.AgentBook")  # agents of your own: identity, cycles, memory
    transcripts: TranscriptImport = _concern("transcript_import.TranscriptImport")  # what agents did
    health: HealthChecks = _concern("health_checks.HealthChecks")  # checks, repairs, status and statistics
    models: SearchModels = _concern("search_models.SearchModels")  # the model for search by meaning
    views: ViewFiles = _concern("view_files.ViewFiles")  # the rendered files for people and tools
    harvest: Harvester = _concern("harvester.Harvester")  # proposals from runs and sessions

    def __init__(
        self,
        clone: Clone,
        settings: Settings,
        *,
        person: bool | Callable[[], str | None] = False,
        parent_run: str | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.clone, self.settings = clone, settings
        self.environ = environ or {}
        self.parent_run = parent_run  # the run this process itself is part of
        self.seen: IndexSignature | None = None  # the state that the last answer was made from
        self.listed: tuple[IndexSignature | None, MemoryListing] | None = None  # how memories stood in that state
        self.has_backlog = False  # whether transcripts wait that are too long to read on the way
        self.has_unread = False  # whether a background process should read or embed what no command waited for
        self._approves = person

    @cached_property
    def keys(self) -> SealingKeys:
        """The keys of what is sealed: list, rotate, destroy."""
        from holdfast.project import opening

        return opening.sealing_keys(self)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] = ".",
        *,
        environ: Mapping[str, str] | None = None,
        person: bool | Callable[[], str | None] = False,
        clock: Callable[[], datetime] | None = None,
        drain: bool = True,
    ) -> Project:
        """The project at a folder; NotInitialised if it has no memory yet.

        `person` says that approvals given through this object are a person's, or is asked why they are not; the
        command line looks for a terminal and for agents. Without `drain`, transcripts that hooks reported are not read.
        """
        from holdfast.project import opening

        environ = os.environ if environ is None else environ
        return opening.open_project(os.fspath(path), environ=environ, person=person, clock=clock, drain=drain)

    @classmethod
    def look(cls, path: str | os.PathLike[str] = ".", *, environ: Mapping[str, str] | None = None) -> Project:
        """The project as it lies there: nothing is made, moved or finished, and damage is no obstacle.

        For `doctor` where opening fails, and for `check`, which needs no store.
        """
        from holdfast.project import opening

        return opening.look(os.fspath(path), environ=os.environ if environ is None else environ)

    @classmethod
    def init(
        cls,
        path: str | os.PathLike[str] = ".",
        *,
        commit: bool = False,
        git: bool = False,
        environ: Mapping[str, str] | None = None,
    ) -> ProjectSetup:
        """Set up a project's memory; running it again changes nothing. `git` allows `git init` first."""
        from holdfast.project import opening

        environ = os.environ if environ is None else environ
        return opening.initialise(os.fspath(path), commit=commit, git=git, environ=environ)

    @classmethod
    def try_(cls, path: str | os.PathLike[str] = ".", **options: Any) -> Tried:
        """What the last days of a repository hold, before anything is set up; nothing is written."""
        from holdfast.project.first_look import try_repository

        return try_repository(os.fspath(path), **options)

    def write_log(self, event: Mapping[str, Any]) -> str:
        """Record an event; gives the run's id."""
        return self.log.write(event)

    def promote_fact(
        self, fact: Mapping[str, Any] | Candidate | Accepted | str, *, reviewer: str | None = None
    ) -> MemoryStanding:
        """Approve a fact: one that waits, or one that is given."""
        return self.memory.promote(fact, reviewer=reviewer)

    @property
    def notices(self) -> list[str]:
        """What the user should know beside the answer."""
        return self.clone.notes

    @cached_property
    def no_person(self) -> str | None:
        """Why approvals given through this object are not a person's; None if they are."""
        if callable(self._approves):
            return self._approves()
        return None if self._approves else "no person was seen at a terminal"

    @property
    def is_person(self) -> bool:
        """Whether approvals given through this object count as a person's."""
        return self.no_person is None

    def needs(self, feature: str) -> None:
        """Refuse if a feature is switched off in the settings."""
        if not self.settings.has(feature):
            from holdfast.project import opening

            raise opening.switched_off(self, feature)


def write_log(event: Mapping[str, Any]) -> str:
    """Record an event in the project of the current folder; gives the run's id."""
    return Project.open().write_log(event)


def promote_fact(
    fact: Mapping[str, Any] | Candidate | Accepted | str, *, reviewer: str | None = None
) -> MemoryStanding:
    """Approve a fact in the project of the current folder."""
    return Project.open().promote_fact(fact, reviewer=reviewer)


def recall(query: str, *, limit: int = 5, task: str | None = None, kind: str | None = None) -> list[Hit]:
    """Search the memory of the current folder's project."""
    return Project.open().recall(query, limit=limit, task=task, kind=kind)
