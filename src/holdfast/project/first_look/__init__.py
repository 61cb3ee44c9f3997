"""The first look: what a repository's last days hold that is worth remembering, shown before anything is set up.

Agents' own records and git's log are read; no model is asked, and nothing is written anywhere.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta

from holdfast.capture.records.knowledge_files import SkippedKnowledge
from holdfast.curation import candidates
from holdfast.errors import HoldfastError
from holdfast.git.clone import Clone, is_initialised
from holdfast.project import Project
from holdfast.project.first_look import agent_records, candidate_support, repository_records
from holdfast.project.first_look.agent_records import OlderSessions, SeenSession
from holdfast.project.first_look.candidate_support import TriedCandidate
from holdfast.security.redact import Scanner
from holdfast.values import frozen, replace

DAYS = 30
_MOST = 300  # finds that are weighed


@frozen(kw_only=True)
class Tried:
    """What a look at a repository gave."""

    top: str
    days: int
    seen: tuple[SeenSession, ...]
    transcripts: int  # of all tools that were looked at
    left: tuple[SkippedKnowledge, ...]  # transcripts that were left out, each with why
    older: int  # sessions of this repository from before these days
    older_days: int  # how far one has to look back to see all of them
    older_of: tuple[OlderSessions, ...]  # the same, by tool
    commits: int
    source: str  # history, or documents where agents left none
    candidates: int  # that are not known here
    known: int  # that were accepted or rejected here, or wait in review
    best: tuple[TriedCandidate, ...]
    initialised: bool
    model_calls: int = 0


def try_repository(
    path: str | os.PathLike[str] = ".",
    *,
    days: int = DAYS,
    environ: Mapping[str, str] | None = None,
    home: str | None = None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Tried:
    """What the last days of a repository hold; nothing is written, not even a cache.

    `home` is the user's home, where the tools keep their records if no variable says otherwise.
    """
    environ = os.environ if environ is None else environ
    here = Project.look(path, environ=environ)
    clone, now = here.clone, clock()
    scan = Scanner(here.settings.redact_rules, here.settings.redact_allow)
    told = agent_records.read(
        clone, environ=environ, home=home or environ.get("HOME") or os.path.expanduser("~"), now=now, days=days
    )
    log = repository_records.commits(clone.repo, since=now - timedelta(days=days))
    said = [*told.heard, *repository_records.of_commits(log)]
    if not told.seen:
        said += repository_records.of_documents(clone.repo.top)
    said = sorted(said, key=lambda one: -one.found.confidence)[:_MOST]
    found = candidate_support.backed(clone.repo, said, log, repository_records.tracked(clone.repo))
    new = candidate_support.unknown(found, known_by_now(here))
    older = tuple(_older(told.older, now))
    best, said_in = candidate_support.best(new), ("statement", "why", "words")
    return Tried(
        top=clone.repo.top,
        days=days,
        seen=tuple(told.seen),
        transcripts=told.files,
        left=tuple(told.left),
        older=len(told.older),
        older_days=max((one.days for one in older), default=0),
        older_of=older,
        commits=len(log),
        source="history" if told.seen else "documents",
        candidates=len(new),
        known=len(found) - len(new),
        # Without secrets: a terminal is read over shoulders, and pasted.
        best=tuple(replace(one, **{name: scan.text(getattr(one, name)) for name in said_in}) for one in best),
        initialised=_is_set_up(clone),
    )


def _older(found: Iterable[tuple[str, datetime]], now: datetime) -> Iterator[OlderSessions]:
    """Older sessions, counted by tool."""
    by_tool: dict[str, list[datetime]] = {}
    for agent, began in found:
        by_tool.setdefault(agent, []).append(began)
    for agent, there in by_tool.items():
        yield OlderSessions(agent, len(there), (now - min(there)).days + 1)


def known_by_now(project: Project) -> list[tuple[str, str]]:
    """Kind and statement of all that was proposed here before; none where a damaged store cannot say."""
    if not _is_set_up(project.clone):
        return []
    try:
        shelf = candidates.read(project.clone)
        standing = [one.memory for one in project.memory.knowledge().standings]
    except HoldfastError:
        return []
    memories = (*shelf.waiting.values(), *shelf.rejected.values(), *standing)
    return [(one.type, one.statement) for one in memories]


def _is_set_up(clone: Clone) -> bool:
    return is_initialised(clone.repo, clone.private)
