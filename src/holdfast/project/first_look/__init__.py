"""The first look (`holdfast try`): finds memories in a repository's last days, before anything is set up.

It reads agents' own transcripts and git's log, asks no model and writes nothing.
"""

import os
from collections import Counter
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

DAYS = 30  # a guess: recent enough that the reader remembers it
_MOST = 300  # finds that are compared, the most confident; a guess: each is compared with the others


@frozen(kw_only=True)
class Tried:
    """The result of a first look at a repository."""

    top: str
    days: int
    seen: tuple[SeenSession, ...]
    transcripts: int  # of all agents, that were found
    left: tuple[SkippedKnowledge, ...]  # transcripts that were left out, each with why
    older: int  # sessions of this repository from before these days
    older_days: int  # the number of days that includes all of them
    older_of: tuple[OlderSessions, ...]  # the same by agent
    commits: int
    source: str  # history, or documents if agents left no history
    candidates: int  # new candidates
    below: Mapping[str, int]  # how many of them wait below the others in review, by why
    known: int  # candidates that were accepted or rejected here, or wait in review
    best: tuple[TriedCandidate, ...]
    initialised: bool
    kept_by: tuple[str, ...]  # other tools that kept sessions here, which an import can read
    model_calls: int = 0


def try_repository(
    path: str | os.PathLike[str] = ".",
    *,
    days: int = DAYS,
    environ: Mapping[str, str] | None = None,
    home: str | None = None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Tried:
    """Finds what the last days of a repository hold; writes nothing, not even a cache.

    `home` is the user's home, where agents keep their transcripts unless a variable names another folder.
    """
    environ = os.environ if environ is None else environ
    here = Project.look(path, environ=environ)
    clone, now = here.clone, clock()
    scan = Scanner(here.settings.redact_rules, here.settings.redact_allow)
    history = agent_records.read(
        clone, environ=environ, home=home or environ.get("HOME") or os.path.expanduser("~"), now=now, days=days
    )
    log = repository_records.commits(clone.repo, since=now - timedelta(days=days))
    quotes = history.quotes  # where there are sessions, `start` imports these and reads nothing else
    if not history.seen:
        quotes = [*repository_records.of_commits(log), *repository_records.of_documents(clone.repo.top)]
    quotes = sorted(quotes, key=lambda one: -one.found.confidence)[:_MOST]
    found = candidate_support.backed(clone.repo, quotes, log, repository_records.tracked(clone.repo))
    new = candidate_support.unknown(found, known_by_now(here))
    older = tuple(_older(history.older, now))
    first, text_fields = [one for one in new if not one.put_off], ("statement", "why", "words")
    if not first and not history.seen:  # `start` proposes these, so that something is there to begin with
        first = new
    best, below = candidate_support.best(first), [one for one in new if one not in first]
    return Tried(
        top=clone.repo.top,
        days=days,
        seen=tuple(history.seen),
        transcripts=history.files,
        left=tuple(history.left),
        older=len(history.older),
        older_days=max((one.days for one in older), default=0),
        older_of=older,
        commits=len(log),
        source="history" if history.seen else "documents",
        candidates=len(new),
        below=Counter(one.put_off for one in below),
        known=len(found) - len(new),
        # Without secrets: other people see a terminal, and its text is pasted.
        best=tuple(replace(one, **{name: scan.text(getattr(one, name)) for name in text_fields}) for one in best),
        initialised=_is_set_up(clone),
        kept_by=repository_records.kept_by_others(clone.repo),
    )


def _older(found: Iterable[tuple[str, datetime]], now: datetime) -> Iterator[OlderSessions]:
    """Counts older sessions by agent."""
    by_agent: dict[str, list[datetime]] = {}
    for agent, began in found:
        by_agent.setdefault(agent, []).append(began)
    for agent, starts in by_agent.items():
        yield OlderSessions(agent, len(starts), (now - min(starts)).days + 1)


def known_by_now(project: Project) -> list[tuple[str, str]]:
    """Returns kind and statement of all that was proposed here before; nothing from a damaged store."""
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
