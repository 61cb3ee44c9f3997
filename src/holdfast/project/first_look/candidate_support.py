"""Collects the support of a candidate: its speakers, its commits, and whether its evidence still holds."""

import operator
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import TypeVar

from holdfast.curation.extraction import candidate_claim
from holdfast.git.repo import Repo
from holdfast.git.tracked_files import paths_spelled
from holdfast.patterns import regex
from holdfast.project.first_look.agent_records import TriedCommit, TriedPlace, TriedQuote, moment
from holdfast.project.surviving_text import Rests, WrittenFiles
from holdfast.values import frozen

T = TypeVar("T")
WANTED = ("decision", "dead-end", "invariant")
_ALIKE = 0.6  # of the words of two statements that must be common to both; a guess
_SOON = timedelta(hours=12)  # in which work is committed; a guess: within the same working day
_WHOLE = regex(r"(?!\.\.?/)[\w.@+-]+(?:/[\w.@+-]+)+\.[A-Za-z][A-Za-z0-9]{0,4}")
_FILES, _COMMITS = 3, 2  # that are shown with a candidate; guesses: it stays a few lines on a terminal


@frozen
class TriedCandidate:
    """A statement that may be worth remembering, with its support."""

    kind: str
    statement: str
    why: str
    words: str
    who: str
    rule: str
    confidence: float
    said: tuple[TriedPlace, ...]  # the places that say it, the best first
    commits: tuple[TriedCommit, ...]
    rests: tuple[Rests, ...]

    @property
    def holds(self) -> str:
        """The state of its evidence: holds, changed, gone, or unknown without evidence."""
        states = {one.state for one in self.rests}
        if not states:
            return "holds" if self.commits else "unknown"
        return next(iter(states)) if len(states) == 1 else "changed"

    @property
    def weight(self) -> float:
        """How well it is supported, for the order. The weights are guesses: evidence first, then speakers, commits."""
        evidence = {"holds": 0.15, "changed": 0.0, "gone": -0.25, "unknown": -0.05}[self.holds]
        witnesses = 0.06 * min(3, len({place.name for place in self.said}) - 1)
        own = 0.1 if self.who == "user" else 0.0
        return self.confidence + evidence + witnesses + own + (0.05 if self.commits else 0.0)


def backed(
    repo: Repo, quotes: Sequence[TriedQuote], log: Sequence[TriedCommit], tracked: frozenset[str]
) -> list[TriedCandidate]:
    """Returns the candidates, the best supported first; statements that say the same become one."""
    ranked = sorted(quotes, key=lambda one: -one.found.confidence)
    groups: list[tuple[frozenset[str], list[TriedQuote]]] = []
    for one in ranked:
        words = candidate_claim.content(one.found.statement)
        same = (kept for about, kept in groups if kept[0].found.kind == one.found.kind and _alike(words, about))
        if (group := next(same, None)) is None:
            groups.append((words, [one]))
        else:
            group.append(one)
    files = WrittenFiles(repo.top)
    candidates = [_candidate(group, log, tracked, files) for _, group in groups]
    return sorted(candidates, key=lambda one: (-one.weight, one.statement))


def unknown(candidates: Iterable[TriedCandidate], known: Iterable[tuple[str, str]]) -> list[TriedCandidate]:
    """Returns the candidates that are not among the known memories, given as kind and statement."""
    words = [(kind, candidate_claim.content(statement)) for kind, statement in known]
    return [
        one
        for one in candidates
        if not any(kind == one.kind and _alike(candidate_claim.content(one.statement), about) for kind, about in words)
    ]


def best(
    candidates: Sequence[T], most: int = 3, *, kind_of: Callable[[T], str] = operator.attrgetter("kind")
) -> list[T]:
    """Returns the best decision, dead end and invariant, filled up with the best of the rest."""
    firsts = [next((one for one in candidates if kind_of(one) == kind), None) for kind in WANTED]
    chosen = [one for one in firsts if one is not None][:most]
    rest = [one for one in candidates if one not in chosen]
    return [*chosen, *rest[: most - len(chosen)]]


def _candidate(
    group: Sequence[TriedQuote], log: Sequence[TriedCommit], tracked: frozenset[str], files: WrittenFiles
) -> TriedCandidate:
    first = max(group, key=lambda one: (one.found.who == "user", one.found.confidence))
    named = _named(f"{first.found.statement} {first.found.words}", tracked)
    wrote = {path: lines for one in group for path, lines in one.wrote.items()}
    paths = [*named, *(path for path in wrote if path not in named)][:_FILES]
    commits = [commit for one in group for commit in one.commits]
    commits += [commit for one in group if (commit := _commit(one, named, log))]
    found = first.found
    places = [first.place, *(one.place for one in group if one is not first)]
    same = ("kind", "statement", "why", "words", "who", "rule", "confidence")
    return TriedCandidate(
        **{name: getattr(found, name) for name in same},
        said=tuple(places[:8]),  # a guess: more than `weight` counts and a terminal shows
        commits=tuple(dict.fromkeys(commits))[:_COMMITS],
        rests=tuple(files.rests(path, wrote.get(path, frozenset())) for path in paths),
    )


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one) and len(one & other) >= _ALIKE * len(one | other)


def _named(words: str, tracked: frozenset[str]) -> list[str]:
    """Returns files of this repository that a text names, by their path or their base name."""
    found = []
    for name in paths_spelled(words):
        if name in tracked or _WHOLE.fullmatch(name):  # a full path counts even if its file is gone
            found.append(name)
        else:
            found += [path for path in tracked if path.endswith(f"/{name}")][:1]
    return found[:_FILES]


def _commit(one: TriedQuote, named: Sequence[str], log: Sequence[TriedCommit]) -> TriedCommit | None:
    """Returns the first commit soon after a quote that touches a file written or named in it."""
    when, files = moment(one.place.ts), {*one.wrote, *named}
    if when is None or not files:
        return None
    after = [c for c in log if c.when and when <= c.when <= when + _SOON and files & set(c.files)]
    return min(after, key=lambda commit: commit.when or when, default=None)
