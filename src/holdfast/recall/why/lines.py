"""The lines of a file and who wrote each: what git says, what runs recorded, and the verdict on both.

In order: git's blame; the commit made during a run; a commit that became this one when history was rewritten
(`git.rewritten.anchors`); the text of the line among what turns wrote into that file before. Deciding is
`deciding`'s business; this gathers, and changes nothing but the cache of commits found again.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from holdfast.git import blame
from holdfast.git.blame import Blamed
from holdfast.git.clone import Clone
from holdfast.git.rewritten import anchors, headers
from holdfast.git.rewritten.headers import Commit
from holdfast.model.event import Event
from holdfast.model.transcript import line_hash, telling_lines
from holdfast.recall.why import recorded
from holdfast.recall.why.asking import Asked
from holdfast.recall.why.deciding import SLACK, By, Claim, Doubt, Placed, Verdict, View, Wrote, accompanied, decide
from holdfast.recall.why.recorded import Record
from holdfast.values import field, frozen, mutable, replace

_PASSED_OVER = "it was changed by a commit that `blame.ignoreRevsFile` passes over, and git guessed what from"
_AGAIN = "the same text was written again since, and nothing tells which of the copies this is"
AROUND = 12  # lines looked at on either side: what stands beside a line helps to tell who wrote it
MAX_MOVED = 2_000  # commits of runs that are looked for in rewritten history

Spell = Callable[[str], str]  # a path as runs record it


@frozen
class Judged:
    """A line, where it came from, and who wrote it."""

    blamed: Blamed
    verdict: Verdict


@mutable
class Found:
    """Everything that is known about the lines that were asked about."""

    lines: list[Judged] = field(default_factory=list)
    commits: dict[str, Commit] = field(default_factory=dict)
    records: dict[str, Record] = field(default_factory=dict)
    made: dict[str, dict[str, int | None]] = field(default_factory=dict)  # commit -> runs and turns it was made in
    became: dict[str, dict[str, str]] = field(default_factory=dict)  # commit -> what it was before, and how found
    events: dict[str, Event] = field(default_factory=dict)


def look(clone: Clone, asked: Asked, *, spell: Spell) -> Found:
    """Who wrote the lines that are asked about."""
    if not asked.text:
        return Found()
    first, last = max(1, asked.first - AROUND), min(len(asked.text), asked.last + AROUND)
    blamed = blame.blame(clone.repo, asked.path, asked.text, first=first, last=last)
    found = Found(events=recorded.run_events(clone))
    paths = {spell(asked.path), *(spell(path) for one in blamed for path in _names(one))}
    oids = {one.commit for one in blamed if one.commit}
    found.records = recorded.records(clone, found.events.values(), paths=paths, commits=oids)
    _note_commits(clone, found, oids | {one.before[0] for one in blamed if one.before})
    texts = _Texts(clone, asked, found, blamed)
    marks = {line_hash(texts.line(one)) for one in blamed}
    wrote = [one for record in found.records.values() for one in recorded.written(record, paths, marks)]
    verdicts = _Verdicts(found, texts, wrote, spell, now=clone.clock().timestamp(), path=spell(asked.path))
    judged = accompanied([Placed(verdicts.of(one), one.commit, one.number, one.at) for one in blamed])
    pairs = zip(blamed, judged, strict=True)
    found.lines = [Judged(one, said) for one, said in pairs if asked.first <= one.number <= asked.last]
    return found


def _names(one: Blamed) -> tuple[str, ...]:
    """What a file was called when a line came into it, and just before."""
    return (one.path, one.before[1]) if one.before else (one.path,)


def _note_commits(clone: Clone, found: Found, oids: Iterable[str]) -> None:
    """Learn in which runs commits were made, under their own name or under one they had before."""
    asked = set(oids)
    others = dict.fromkeys(oid for one in found.records.values() for oid in one.commits if oid not in asked)
    for old, now in anchors.resolve(clone, list(others)[-MAX_MOVED:]).items():
        if now.state == "moved" and now.commit in asked:
            found.became.setdefault(now.commit, {})[old] = now.how
    wanted = asked | {old for olds in found.became.values() for old in olds}
    found.commits = _commits(clone, wanted)
    for record in found.records.values():
        span = recorded.span(clone, record.event) if not wanted.isdisjoint(record.commits) else (0, 0)
        for oid in record.commits:
            if oid in wanted and _was_made(found.commits.get(oid), span):
                found.made.setdefault(oid, {})[record.run] = record.turn_of(oid)
    found.commits |= _commits(clone, {oid for one in found.commits.values() for oid in one.parents})


def _was_made(commit: Commit | None, span: tuple[float, float]) -> bool:
    """Whether a commit that a run names was made while it ran: it may have cited or fetched one."""
    return commit is None or span[0] - SLACK <= commit.committed <= span[1] + SLACK


def _commits(clone: Clone, oids: Iterable[str]) -> dict[str, Commit]:
    asked = sorted(set(oids))
    options = ("--no-walk=unsorted", "--ignore-missing", "--stdin")
    return headers.listed(clone.repo, *options, names=asked, limit=len(asked)) if asked else {}


class _Texts:
    """The file's lines in the commits that matter, each read once and known by hashes."""

    def __init__(self, clone: Clone, asked: Asked, found: Found, blamed: Sequence[Blamed]) -> None:
        self._now = asked.text
        places = dict.fromkeys(place for one in blamed for place in _places(found, one))
        self._texts = blame.texts(clone.repo, places)
        self._counts: dict[tuple[str, str] | None, Counter[str]] = {}

    def line(self, one: Blamed) -> str:
        """A line as its commit has it: blanks may have changed since."""
        there = self._texts.get((one.commit, one.path)) if one.commit else None
        return there[one.at - 1] if there and one.at <= len(there) else one.text

    def count(self, place: tuple[str, str] | None, mark: str) -> int:
        """How often a line stands in a file of a commit; None is the work tree."""
        if place not in self._counts:
            text = self._now if place is None else self._texts.get(place, ())
            self._counts[place] = Counter(map(line_hash, telling_lines(text)))
        return self._counts[place][mark]


def _places(found: Found, one: Blamed) -> Iterator[tuple[str, str]]:
    """Where a line's text is looked up: in its commit, in what that was before, and in those before them."""
    if one.commit is None:
        if one.before:
            yield one.before
        return
    for oid in (one.commit, *found.became.get(one.commit, ())):
        yield oid, one.path
        for parent in found.commits[oid].parents if oid in found.commits else ():
            yield from ((parent, name) for name in _names(one))


class _Verdicts:
    """Says of each line who wrote it."""

    def __init__(
        self, found: Found, texts: _Texts, wrote: Iterable[Wrote], spell: Spell, *, now: float, path: str
    ) -> None:
        self._found, self._texts, self._spell, self._now, self._path = found, texts, spell, now, path
        self._by_path: dict[str, dict[str, list[Wrote]]] = defaultdict(lambda: defaultdict(list))
        for one in sorted(wrote, key=_order):
            for mark in {*one.added, *one.removed}:
                self._by_path[one.path][mark].append(one)

    def of(self, one: Blamed) -> Verdict:
        text = self._texts.line(one)
        mark = line_hash(text)
        names = dict.fromkeys(map(self._spell, _names(one)))
        about = [wrote for name in names for wrote in self._by_path.get(name, {}).get(mark, ())]
        if len(names) > 1:
            about.sort(key=_order)
        views, copies = list(self._views(one, mark)), self._texts.count(None, mark)
        verdict = decide(mark, text, views, about, copies=copies)
        return self._checked(one, verdict, mark, copies) if isinstance(verdict, Claim) else verdict

    def _checked(self, one: Blamed, said: Claim, mark: str, copies: int) -> Verdict:
        """A claim, unless git only guessed that this is the line which the commit brought."""
        turns = {By(said.run, turn) for turn in said.turns}
        if _letters(self._texts.line(one)) != _letters(one.text):
            return Doubt(_PASSED_OVER, tuple(sorted(turns)))
        # Git takes a line that is typed again for a copy of the first, in its file and in others.
        names = {self._path, *map(self._spell, _names(one))}
        about = (wrote for name in names for wrote in self._by_path.get(name, {}).get(mark, ()))
        later = [wrote for wrote in about if wrote.begin > said.view.until + SLACK and not wrote.whole]
        more = sum(wrote.added.get(mark, 0) - wrote.removed.get(mark, 0) for wrote in later)
        if more > 0 or copies > said.view.here:
            return Doubt(_AGAIN, tuple(sorted(turns | {wrote.by for wrote in later if mark in wrote.added})))
        # Where history is cut off, the commit did not bring the line: only its text tells.
        return replace(said, recorded=said.recorded and not one.cut)

    def _views(self, one: Blamed, mark: str) -> Iterator[View]:
        if one.commit is None:
            before = self._texts.count(one.before, mark) if one.before else 0
            since = self._found.commits.get(one.before[0]) if one.before else None
            yield View(
                commit=None,
                until=self._now,
                since=since.committed if since else None,
                here=self._texts.count(None, mark),
                before=before,
                runs={},
            )
            return
        for oid in (*self._found.became.get(one.commit, ()), one.commit):
            if oid in self._found.commits:
                yield self._view(one, self._found.commits[oid], mark)

    def _view(self, one: Blamed, commit: Commit, mark: str) -> View:
        names, texts = _names(one), self._texts
        parents = [self._found.commits[oid] for oid in commit.parents if oid in self._found.commits]
        counts = [texts.count((parent.oid, name), mark) for parent in parents for name in names]
        return View(
            commit=commit.oid,
            until=commit.committed,
            since=max((parent.committed for parent in parents), default=None),
            here=texts.count((commit.oid, one.path), mark),
            before=max(counts, default=0),
            runs={} if one.cut else self._found.made.get(commit.oid, {}),
        )


def _letters(text: str) -> str:
    """A line without its blanks, which is as git compared it."""
    return "".join(text.split())


def _order(one: Wrote) -> tuple[float, By]:
    return one.begin, one.by


def runs_of(found: Found, commit: str | None) -> Mapping[str, int | None]:
    """The runs in which a commit was made, under this name or under one it had before."""
    if commit is None:
        return {}
    olds = found.became.get(commit, {})
    return {run: turn for oid in (*olds, commit) for run, turn in found.made.get(oid, {}).items()}
