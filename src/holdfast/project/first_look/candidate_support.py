"""Collects the support of a candidate: its speakers, its commits, and whether its evidence still holds."""

import operator
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import TypeVar

from holdfast.curation import propose, review_queue
from holdfast.git.repo import Repo
from holdfast.git.tracked_files import paths_spelled
from holdfast.model import claims
from holdfast.patterns import regex
from holdfast.project.first_look.agent_records import TriedCommit, TriedPlace, TriedQuote, moment
from holdfast.project.surviving_text import Rests, WrittenFiles
from holdfast.values import frozen

T = TypeVar("T")
WANTED = ("decision", "dead-end", "invariant")
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
    def put_off(self) -> str:
        """Why it would wait below the others in review; empty if it would not."""
        of_a_session = self.said[0].kind not in ("git", "file")
        return review_queue.put_off(
            self.statement, self.confidence, tags=[self.rule.replace(" ", "-")], by_our_rules=of_a_session
        )


def backed(
    repo: Repo, quotes: Sequence[TriedQuote], log: Sequence[TriedCommit], tracked: frozenset[str]
) -> list[TriedCandidate]:
    """Returns the candidates in the order of the review; statements that say the same become one, the first of them."""
    known, groups = SameClaims(), dict[str, list[TriedQuote]]()
    for one in sorted(quotes, key=lambda one: (one.place.ts or "", -one.found.confidence)):
        groups.setdefault(known.name_of(one.found.kind, one.found.statement), []).append(one)
    files = WrittenFiles(repo.top)
    candidates = [_candidate(group, log, tracked, files) for group in groups.values()]
    if tracked:  # as an import does it
        candidates = [one for one in candidates if propose.is_borne_out(one.confidence, (*one.rests, *one.commits))]
    return sorted(candidates, key=lambda one: (bool(one.put_off), -one.confidence, one.statement))


class SameClaims:
    """Claims by name; the same claim in other words has the same name, as when it is proposed."""

    def __init__(self) -> None:
        self._claims: dict[str, claims.Statement] = {}
        self._near = claims.SimilarStatements({})

    def find(self, kind: str, statement: str) -> str | None:
        """Returns the name of the same claim, if it is known."""
        own = claims.Statement(statement, kind)
        near = (name for name in self._near.near(own) if self._claims[name].kind == kind)
        return next((name for name in near if claims.same(self._claims[name], own)), None)

    def name_of(self, kind: str, statement: str) -> str:
        """Returns the name of a claim, a new one if it is not known."""
        if (name := self.find(kind, statement)) is None:
            name = str(len(self._claims))
            self._claims[name] = claims.Statement(statement, kind)
            self._near.add(name, self._claims[name])
        return name


def unknown(candidates: Iterable[TriedCandidate], known: Iterable[tuple[str, str]]) -> list[TriedCandidate]:
    """Returns the candidates that are not among the known memories, given as kind and statement."""
    there = SameClaims()
    for kind, statement in known:
        there.name_of(kind, statement)
    return [one for one in candidates if there.find(one.kind, one.statement) is None]


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
    first = group[0]
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
        said=tuple(places[:8]),  # a guess: more than a terminal shows
        commits=tuple(dict.fromkeys(commits))[:_COMMITS],
        rests=tuple(files.rests(path, wrote.get(path, frozenset())) for path in paths),
    )


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
