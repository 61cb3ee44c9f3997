"""What stands behind a candidate: who said it, which commits go with it, whether what it rests on holds."""

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
_ALIKE = 0.6  # of the words two statements have together
_SOON = timedelta(hours=12)  # in which work is committed
_WHOLE = regex(r"(?!\.\.?/)[\w.@+-]+(?:/[\w.@+-]+)+\.[A-Za-z][A-Za-z0-9]{0,4}")
_FILES, _COMMITS = 3, 2


@frozen
class TriedCandidate:
    """One thing that may be worth remembering, with all that stands behind it."""

    kind: str
    statement: str
    why: str
    words: str
    who: str
    rule: str
    confidence: float
    said: tuple[TriedPlace, ...]  # where, the best place first
    commits: tuple[TriedCommit, ...]
    rests: tuple[Rests, ...]

    @property
    def holds(self) -> str:
        """Whether its evidence still holds: holds, changed, gone, or unknown where there is none."""
        states = {one.state for one in self.rests}
        if not states:
            return "holds" if self.commits else "unknown"
        return next(iter(states)) if len(states) == 1 else "changed"

    @property
    def weight(self) -> float:
        """How well it is supported."""
        evidence = {"holds": 0.15, "changed": 0.0, "gone": -0.25, "unknown": -0.05}[self.holds]
        witnesses = 0.06 * min(3, len({place.name for place in self.said}) - 1)
        own = 0.1 if self.who == "user" else 0.0
        return self.confidence + evidence + witnesses + own + (0.05 if self.commits else 0.0)


def backed(
    repo: Repo, said: Sequence[TriedQuote], log: Sequence[TriedCommit], tracked: frozenset[str]
) -> list[TriedCandidate]:
    """The candidates, those that say the same as one, the best supported first."""
    ranked = sorted(said, key=lambda one: -one.found.confidence)
    groups: list[tuple[frozenset[str], list[TriedQuote]]] = []
    for one in ranked:
        words = candidate_claim.content(one.found.statement)
        same = (kept for about, kept in groups if kept[0].found.kind == one.found.kind and _alike(words, about))
        if (group := next(same, None)) is None:
            groups.append((words, [one]))
        else:
            group.append(one)
    looked = WrittenFiles(repo.top)
    made = [_candidate(group, log, tracked, looked) for _, group in groups]
    return sorted(made, key=lambda one: (-one.weight, one.statement))


def unknown(candidates: Iterable[TriedCandidate], known: Iterable[tuple[str, str]]) -> list[TriedCandidate]:
    """The candidates that no known memory says, given as kind and statement."""
    said = [(kind, candidate_claim.content(statement)) for kind, statement in known]
    return [
        one
        for one in candidates
        if not any(kind == one.kind and _alike(candidate_claim.content(one.statement), about) for kind, about in said)
    ]


def best(
    candidates: Sequence[T], most: int = 3, *, kind_of: Callable[[T], str] = operator.attrgetter("kind")
) -> list[T]:
    """A decision, a dead end and an invariant if there are, else the best of what there is."""
    firsts = [next((one for one in candidates if kind_of(one) == kind), None) for kind in WANTED]
    chosen = [one for one in firsts if one is not None][:most]
    rest = [one for one in candidates if one not in chosen]
    return [*chosen, *rest[: most - len(chosen)]]


def _candidate(
    group: Sequence[TriedQuote], log: Sequence[TriedCommit], tracked: frozenset[str], looked: WrittenFiles
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
        said=tuple(places[:8]),
        commits=tuple(dict.fromkeys(commits))[:_COMMITS],
        rests=tuple(looked.rests(path, wrote.get(path, frozenset())) for path in paths),
    )


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one) and len(one & other) >= _ALIKE * len(one | other)


def _named(words: str, tracked: frozenset[str]) -> list[str]:
    """Files of this repository that a text names, in full or by their last name."""
    found = []
    for name in paths_spelled(words):
        if name in tracked or _WHOLE.fullmatch(name):  # a whole path that is not there any more counts, too
            found.append(name)
        else:
            found += [path for path in tracked if path.endswith(f"/{name}")][:1]
    return found[:_FILES]


def _commit(one: TriedQuote, named: Sequence[str], log: Sequence[TriedCommit]) -> TriedCommit | None:
    """The first commit after something was said that touches what was written or named then."""
    when, files = moment(one.place.ts), {*one.wrote, *named}
    if when is None or not files:
        return None
    after = [c for c in log if c.when and when <= c.when <= when + _SOON and files & set(c.files)]
    return min(after, key=lambda commit: commit.when or when, default=None)
