"""Plans what `holdfast start` has to do, without writing anything, and finds what it shows at the end.

Every step follows from the files on disk. So an interrupted start continues where it stopped, and a second start has
nothing to do.
"""

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING

from holdfast.capture.wiring import user_homes
from holdfast.curation.review_queue import QueueItem
from holdfast.errors import HoldfastError, NotARepository, NotFound
from holdfast.git import hooks
from holdfast.git.clone import is_initialised
from holdfast.model.transcript import line_hash
from holdfast.patterns import regex
from holdfast.project import Project
from holdfast.project.agent_setup import PACKAGE
from holdfast.project.first_look import (
    agent_records,
    candidate_support,
    known_by_now,
    repository_records,
    try_repository,
)
from holdfast.project.first_look.agent_records import AgentHistory
from holdfast.recall.why.recorded_runs import LINES, folder_of
from holdfast.store import capsule, fsio
from holdfast.values import frozen, list_of

if TYPE_CHECKING:
    from holdfast.project.recaller import Explained

_DAYS = 36_500  # 100 years: all of git's history
# Limits of the search for a line to explain, all guesses: newest runs or commits, lines that are tried, bytes of a
# file, and characters of a line, as a shorter one shows little.
_RUNS, _PLACES, _LARGE, _TELLING = 40, 4, 200_000, 20
_LEADS = regex(r"\s*(?:import|from|use|using|require|package|include|#include)\b|\s*[\"'][^\"']*[\"'],?\s*$").match


@frozen(kw_only=True)
class StartPlan:
    """What is missing in a repository."""

    top: str
    agents: tuple[str, ...]  # installed on this machine
    git_init: bool = False  # it is not a git repository yet, so nothing else is known
    setup: bool = False
    hooks: bool = False  # whether to install git's hooks
    connect: tuple[tuple[str, tuple[str, ...]], ...] = ()  # agents with the files that change
    history: tuple[AgentHistory, ...] = ()
    documents: int = 0  # candidates in the documents and git's log, counted if agents left no history
    cannot: tuple[str, ...] = ()  # what cannot be done, as text

    @property
    def new(self) -> tuple[AgentHistory, ...]:
        """The agents with sessions to import."""
        return tuple(one for one in self.history if one.new)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is missing."""
        return not (self.git_init or self.setup or self.hooks or self.connect or self.new or self.documents)


def look(
    path: str,
    *,
    environ: Mapping[str, str],
    progress: Callable[[int, int], None] = lambda *_: None,
    tell: Callable[[str], None] = lambda _: None,
) -> StartPlan:
    """Returns what is missing at a folder; writes nothing. Calls `tell` before slow work."""
    homes = user_homes.homes_of(environ, python=sys.executable, package=PACKAGE)
    try:
        here = Project.look(path, environ=environ)
    except NotARepository as error:
        if error.hint != NotARepository.hint:  # a bare repository, another user's, or a missing folder
            raise
        installed = [name for name in homes.folders if homes.programs[name] or os.path.isdir(homes.folders[name])]
        return StartPlan(top=os.path.abspath(path), agents=tuple(installed), git_init=True)
    health, cannot = here.clients.tools(), []
    wired = []
    for one in health:
        if one.installed:
            try:
                plan = here.clients.connect([one.tool], dry_run=True)
            except (HoldfastError, OSError) as error:
                cannot.append(f"{one.tool}: {error}")
                continue
            edited = [change.edited for change in plan.changed if change.edited]
            cannot += [f"{one.tool}: the block at {place} was edited, so it stays as it is" for place in edited]
            if files := tuple(change.path for change in plan.changed if not change.edited):
                wired.append((one.tool, files))
    history = agent_records.histories(here.clone, environ=environ, home=homes.home, progress=progress)
    refused = hooks.refusal(here.clone.repo)
    if refused:
        cannot.append(f"git's hooks: {refused}. {refused.hint}")
    installed_hooks = all(hook.installed and not hook.trouble for hook in here.sync.hook_states(prove=False))
    return StartPlan(
        top=here.clone.repo.top,
        agents=tuple(one.tool for one in health if one.installed),
        setup=not is_initialised(here.clone.repo, here.clone.private),
        hooks=not refused and not installed_hooks and here.settings.has("sessions"),
        connect=tuple(wired),
        history=tuple(history),
        documents=0 if history or known_by_now(here) else _unread(path, environ, tell),
        cannot=tuple(cannot),
    )


def _unread(path: str, environ: Mapping[str, str], tell: Callable[[str], None]) -> int:
    """Returns how many candidates the documents and git's log hold."""
    tell("Reading documents and git's log …")
    return try_repository(path, days=_DAYS, environ=environ).candidates


def read_documents(project: Project, path: str) -> None:
    """Proposes memories from decision records and notes, and the best from git's log and the other documents."""
    found = try_repository(path, days=_DAYS, environ=project.environ)
    with contextlib.suppress(NotFound):
        project.clients.import_adr()
    with contextlib.suppress(NotFound):
        project.clients.import_memory()
    for one in found.best:
        place = one.said[0]
        cited = f"commit:{place.name}" if place.kind == "git" else f"{place.name}:{place.turn}"
        with contextlib.suppress(HoldfastError):  # proposed or rejected before, or of a file that git does not track
            project.memory.remember(
                one.statement, kind=one.kind, why=one.why, evidence=[cited], confidence=round(min(one.confidence, 1), 2)
            )


def worth_reviewing(items: Sequence[QueueItem]) -> list[QueueItem]:
    """Returns the three candidates to begin with."""
    return candidate_support.best(items, kind_of=lambda item: item.standing.memory.type)


def a_line_explained(project: Project) -> "Explained | None":
    """Explains one line of this repository: one that an agent wrote if there is any, else by its commit."""
    best: Explained | None = None
    for path, number in islice(_telling_places(project), _PLACES):
        with contextlib.suppress(HoldfastError):  # binary
            found = project.recall.why(f"{path}:{number}")
            best = best or found
            if found.why.answers and found.why.answers[0].run:
                return found
    return best


def _telling_places(project: Project) -> Iterator[tuple[str, int]]:
    """Yields lines of files: those of the newest runs that are still there, then those of the newest commits."""
    clone, seen = project.clone, set[str]()
    tracked = repository_records.tracked(clone.repo)
    runs = sorted(clone.find_events("all", kinds=("run",)), key=lambda event: event.ts, reverse=True)
    folders = (folder_of(clone, event.run_id or "") for event in runs[:_RUNS])
    rows = (row for folder in folders if folder for row in capsule.read_rows(folder, LINES))
    wrote = ((row.get("path"), frozenset(map(str, list_of(row.get("added"))))) for row in rows)
    log = repository_records.commits(clone.repo, since=datetime.fromtimestamp(0, UTC), most=_RUNS)
    changed = ((name, frozenset[str]()) for commit in log for name in commit.files)
    for path, marks in (*wrote, *changed):
        if isinstance(path, str) and path in tracked and path not in seen and not path.startswith(".holdfast/"):
            lines = _lines(os.path.join(clone.repo.top, path))
            long = [(n, line) for n, line in enumerate(lines, 1) if len(line.strip()) >= _TELLING and not _LEADS(line)]
            number = next((n for n, line in long if not marks or line_hash(line) in marks), None)
            if number is not None:
                seen.add(path)
                yield path, number


def _lines(path: str) -> list[str]:
    """Returns the lines of a file; none of a large one."""
    with contextlib.suppress(OSError, HoldfastError, UnicodeDecodeError):
        return fsio.read(path, limit=_LARGE).decode().split("\n")
    return []
