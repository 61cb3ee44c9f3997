"""The Python API. The command line calls nothing else.

    project = Project.open(".")
    run_id = project.write_log({"task": "T-1", "outputs": {"summary": "schema written"}})
    project.promote_fact({"statement": "Tests need Postgres 16", "evidence": [run_id]}, reviewer="ann")
    hits = project.recall("postgres")

A project has one attribute for each concern. Its module is imported on first use, so a command loads only what it
needs. This module decides nothing.
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
    """Returns a cached property for one concern of a project; its module is imported on first use."""
    module, name = place.split(".")

    def build(project: Project) -> Any:
        return getattr(import_module(f"holdfast.project.{module}"), name)(project)

    return cached_property(build)


class Project:
    """A project's memory, seen from the branch that is checked out."""

    log: RunLog = _concern("run_log.RunLog")  # what agents and commands did
    memory: MemoryBook = _concern("memory_book.MemoryBook")  # memories and candidates
    tasks: TaskBook = _concern("task_book.TaskBook")  # goals, tasks, claims and links
    sessions: SessionBook = _concern("session_book.SessionBook")  # the work sessions
    recall: Recaller = _concern("recaller.Recaller")  # search: `project.recall(query)`; who wrote a line of code
    context: ContextBuilder = _concern("context_builder.ContextBuilder")  # contexts for agents, the journal
    sync: GitSync = _concern("git_sync.GitSync")  # publishing, trust, rewritten history, bundles, clean-up
    clients: AgentSetup = _concern("agent_setup.AgentSetup")  # the coding agents of this user, and the files they read
    agents: AgentBook = _concern("agent_book.AgentBook")  # agents of your own: identity, cycles, memory
    transcripts: TranscriptImport = _concern("transcript_import.TranscriptImport")  # imports of agents' sessions
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
        self.parent_run = parent_run  # the run that this process is part of
        self.seen: IndexSignature | None = None  # the state on which the last answer was based
        self.listed: tuple[IndexSignature | None, MemoryListing] | None = None  # the memories in that state
        self.has_backlog = False  # whether transcripts wait that are too large to import within a command
        self.has_unread = False  # whether a background process has texts to index or embed
        self._approves = person

    @cached_property
    def keys(self) -> SealingKeys:
        """The encryption keys: list, rotate, destroy."""
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
        """Opens the project at a folder; raises NotInitialised if it is not set up.

        `person`: True if approvals through this object are a person's, or a function that returns why they are not; the
        command line checks for a terminal and for agents. Without `drain`, transcripts from hooks are not imported.
        """
        from holdfast.project import opening

        environ = os.environ if environ is None else environ
        return opening.open_project(os.fspath(path), environ=environ, person=person, clock=clock, drain=drain)

    @classmethod
    def look(cls, path: str | os.PathLike[str] = ".", *, environ: Mapping[str, str] | None = None) -> Project:
        """Opens the project read-only: creates, moves and repairs nothing, and tolerates damage.

        For `doctor` when opening fails, and for `check`, which needs no store.
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
        """Sets up a project's memory; a second run changes nothing. `git` allows `git init` first."""
        from holdfast.project import opening

        environ = os.environ if environ is None else environ
        return opening.initialise(os.fspath(path), commit=commit, git=git, environ=environ)

    @classmethod
    def try_(cls, path: str | os.PathLike[str] = ".", **options: Any) -> Tried:
        """Finds what the last days of a repository hold that is worth remembering; needs no set-up, writes nothing."""
        from holdfast.project.first_look import try_repository

        return try_repository(os.fspath(path), **options)

    def write_log(self, event: Mapping[str, Any]) -> str:
        """Records an event; returns the run's id."""
        return self.log.write(event)

    def promote_fact(
        self, fact: Mapping[str, Any] | Candidate | Accepted | str, *, reviewer: str | None = None
    ) -> MemoryStanding:
        """Approves a fact: a candidate, or a new one from its fields."""
        return self.memory.promote(fact, reviewer=reviewer)

    @property
    def notices(self) -> list[str]:
        """Notes for the user beside the answer."""
        return self.clone.notes

    @cached_property
    def no_person(self) -> str | None:
        """Why approvals through this object do not count as a person's; None if they do."""
        if callable(self._approves):
            return self._approves()
        return None if self._approves else "no person was seen at a terminal"

    @property
    def is_person(self) -> bool:
        """Whether approvals through this object count as a person's."""
        return self.no_person is None

    def needs(self, feature: str) -> None:
        """Raises SwitchedOff if the settings switch a feature off."""
        if not self.settings.has(feature):
            from holdfast.project import opening

            raise opening.switched_off(self, feature)


def write_log(event: Mapping[str, Any]) -> str:
    """Records an event in the project of the current folder; returns the run's id."""
    return Project.open().write_log(event)


def promote_fact(
    fact: Mapping[str, Any] | Candidate | Accepted | str, *, reviewer: str | None = None
) -> MemoryStanding:
    """Approves a fact in the project of the current folder."""
    return Project.open().promote_fact(fact, reviewer=reviewer)


def recall(query: str, *, limit: int = 5, task: str | None = None, kind: str | None = None) -> list[Hit]:
    """Searches the memory of the current folder's project."""
    return Project.open().recall(query, limit=limit, task=task, kind=kind)
