"""Project joins the parts: the Python API, and all that the command line calls.

    project = Project.open(".")
    run_id = project.write_log({"task": "T-1", "outputs": {"summary": "schema written"}})
    project.promote_fact({"statement": "Tests need Postgres 16", "evidence": [run_id]}, reviewer="ann")
    hits = project.recall("postgres")

Opening also finishes what a crash cut short: a publish, an erase, a run whose wrapper was killed.
Each method is one step into the module that knows; nothing is decided here.
"""

import os
from collections.abc import Mapping
from typing import Any

from holdfast.curation.decisions import MemoryStanding
from holdfast.git import project_setup
from holdfast.git.project_setup import ProjectSetup
from holdfast.model.memory import Accepted, Candidate
from holdfast.project.curating import Curating
from holdfast.project.embedding import Embedding
from holdfast.project.explaining import Explaining
from holdfast.project.exporting import Exporting
from holdfast.project.handing import Handing
from holdfast.project.importing import Importing
from holdfast.project.indexing import Indexing
from holdfast.project.keeping import Keeping
from holdfast.project.knowing import Knowing
from holdfast.project.living import Living
from holdfast.project.promoting import Promoting
from holdfast.project.reading import Reading
from holdfast.project.reconciling import Reconciling
from holdfast.project.recording import Recording
from holdfast.project.scanning import Scanning
from holdfast.project.settling import Settling
from holdfast.project.trusting import Trusting
from holdfast.project.trying import Trying
from holdfast.recall.search import Hit
from holdfast.store import layout as paths
from holdfast.values import replace


class Project(
    Embedding,
    Living,
    Handing,
    Explaining,
    Exporting,
    Importing,
    Indexing,
    Trying,
    Scanning,
    Recording,
    Knowing,
    Reading,
    Settling,
    Reconciling,
    Curating,
    Trusting,
    Promoting,
    Keeping,
):
    """A project's memory, seen from the branch that is checked out."""

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
        environ = os.environ if environ is None else environ
        folder, made_git = os.fspath(path), False
        if git and project_setup.enclosing_repository(folder) is None:
            project_setup.git_init(folder)
            made_git = True
        done = project_setup.initialise(folder, cache=paths.cache_dir(environ), commit=commit)
        cls.open(folder, environ=environ)._render_quietly()
        return replace(done, git_init=made_git)


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
