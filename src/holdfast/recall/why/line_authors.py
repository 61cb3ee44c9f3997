"""Finds who wrote each line of a file, from git's blame and from what runs recorded.

The target is a file of the work tree, all of it or some lines; a target that cannot be explained is refused with the
reason. Checked in this order: git's blame; the commit made during a run; a commit that became this one when history was
rewritten (`git.cited_commits`); the line's text among what turns wrote into that file before. `verdict` decides; this
module collects, and changes nothing but the cache of moved commits.
"""

import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from holdfast.errors import BadInput, NotFound, TooLarge
from holdfast.git import blame
from holdfast.git.blame import Blamed, lines_of
from holdfast.git.cited_commits import commit_anchors, commit_details
from holdfast.git.clone import Clone
from holdfast.git.repo import Repo
from holdfast.git.tracked_files import held_in_index, submodule_of, submodules
from holdfast.model.transcript import line_hash, telling_lines
from holdfast.patterns import regex
from holdfast.recall.applicable_memories import at_top, inside, on_disk
from holdfast.recall.why import recorded_runs, verdict
from holdfast.recall.why.verdict import SLACK, AuthorDoubt, CommitView, LineAuthor, TurnLines, TurnName, Verdict
from holdfast.store import fsio
from holdfast.values import field, frozen, mutable, replace

MAX_FILE = 32 << 20  # bytes; a guess: larger files are generated
_BINARY = 8_000  # bytes that git searches for a zero to detect a binary file
_LINES = regex(r"(?P<path>.+)(?::|#(?=L))L?(?P<first>\d{1,9})(?:-L?(?P<last>\d{1,9}))?", re.S)
_HINT = "Name a file, a line of it (src/a.py:12) or some (src/a.py:10-20)."


@frozen(kw_only=True)
class WhyTarget:
    """A file of the work tree, and the range of its lines to explain."""

    path: str
    text: tuple[str, ...]
    first: int  # counted from 1
    last: int
    whole: bool  # the user named no lines
    notes: tuple[str, ...] = ()


def read_target(repo: Repo, words: str, *, folder: str, line: int | None = None) -> WhyTarget:
    """Returns the lines that a user named, relative to a folder; refuses what cannot be explained.

    With `line`, the words are a path and nothing else.
    """
    named = _LINES.fullmatch(words) if line is None else None
    if os.path.lexists(os.path.join(folder, words)):
        named = None  # a file may have a name that ends like that
    path, notes = _resolve_path(repo, named["path"] if named else words, folder)
    text = tuple(_text(repo, path))
    first, last, total = 1, len(text), len(text)
    if named or line is not None:
        first, last = (int(named["first"]), int(named["last"] or named["first"])) if named else (line or 0, line or 0)
        if not 1 <= first <= last <= total:
            lines = f"{total:,} line{'' if total == 1 else 's'}"
            asked = f"{first}" if first == last else f"{first}-{last}"
            raise BadInput(f"{path} has {lines}, so it has no {asked}", hint=_HINT)
    if os.fsencode(f"\t{path}\0") not in repo.run("ls-files", "-s", "-z"):  # as `submodules` asks
        notes = (*notes, f"git does not track {path}")
    if operation := repo.operation():
        notes = (*notes, f"{operation} is in progress: uncommitted lines may come from it")
    return WhyTarget(path=path, text=text, first=first, last=last, whole=not named and line is None, notes=notes)


def _resolve_path(repo: Repo, name: str, folder: str) -> tuple[str, tuple[str, ...]]:
    """Returns the path relative to the top; a link is followed to its target, as an editor does."""
    if not name.strip():
        raise BadInput("no file is named", hint=_HINT)
    candidates = [on_disk(os.path.join(start, name)) for start in (folder, repo.top)]
    full = next((path for path in candidates if os.path.lexists(path)), candidates[0])
    path = inside(full, top=repo.top).rstrip("/")
    _refuse_foreign(repo, path)
    if not os.path.islink(os.path.join(repo.top, path)):
        return path, ()
    target = at_top(os.path.realpath(full), top=repo.top)
    if target is None:
        raise BadInput(f"{path} is a link to something outside this repository", hint=_HINT)
    _refuse_foreign(repo, target.rstrip("/"))
    return target.rstrip("/"), (f"{path} is a link to {target.rstrip('/')}",)


def _refuse_foreign(repo: Repo, path: str) -> None:
    """Refuses a path inside the repository's folder that is not one of its files."""
    if ".git" in path.split("/"):
        raise BadInput(f"{path} belongs to git, not to the project", hint=_HINT)
    if (inner := submodule_of(path, submodules(repo))) is not None:
        hint = f"Ask git there: git -C {inner} blame -w -C {path[len(inner) + 1 :]}"
        raise BadInput(f"{path} lies in the submodule {inner}, which has a history of its own", hint=hint)


def _text(repo: Repo, path: str) -> list[str]:
    full = os.path.join(repo.top, path)
    if os.path.isdir(full):
        raise BadInput(f"{path} is a folder", hint="Name one of its files.")
    try:
        data = fsio.read(full, limit=MAX_FILE)
    except FileNotFoundError:
        raise _missing_file(repo, path) from None
    except TooLarge:
        raise TooLarge(f"{path} has more than {MAX_FILE >> 20} MiB", hint="Ask `git blame`.") from None
    except NotADirectoryError:
        raise NotFound(f"there is no file {path}", hint=_HINT) from None
    if b"\0" in data[:_BINARY]:
        raise BadInput(f"{path} is a binary file, so it has no lines", hint=f"See `git log -- {path}`.")
    return lines_of(data)


def _missing_file(repo: Repo, path: str) -> NotFound:
    """Returns the error for a missing file, and where it went if git once had it."""
    if held_in_index(repo, [path]):
        hint = f"Get it back with `git restore {path}`, or see `git log -- {path}`."
        return NotFound(f"{path} is not in the work tree; git still has it", hint=hint)
    shape = ("log", "-1", "--diff-filter=D", "--format=%h", "HEAD", "--", path)
    commit = repo.text("--literal-pathspecs", *shape, ok=(0, 128))
    if commit:
        return NotFound(f"{path} was deleted by commit {commit}", hint=f"See `git show {commit} -- {path}`.")
    return NotFound(f"there is no file {path}", hint=_HINT)


_PASSED_OVER = "a commit that `blame.ignoreRevsFile` ignores changed the line, and git guessed what it was before"
_AGAIN = "the same text was written again later, and the copies cannot be told apart"
AROUND = 12  # lines read on either side, since neighbours help to tell who wrote a line; a guess: a short function
MAX_MOVED = 2_000  # commits of runs that are searched in rewritten history; a guess that bounds the time

Spell = Callable[[str], str]  # returns a path as runs record it


@frozen
class LineVerdict:
    """A line, its commit, and the verdict on who wrote it."""

    blamed: Blamed
    verdict: Verdict


@mutable
class LineFindings:
    """All findings about the lines in question."""

    lines: list[LineVerdict] = field(default_factory=list)
    commits: dict[str, commit_details.Commit] = field(default_factory=dict)
    records: dict[str, recorded_runs.RecordedRun] = field(default_factory=dict)
    made: dict[str, dict[str, int | None]] = field(default_factory=dict)  # commit -> the runs and turns that made it
    became: dict[str, dict[str, str]] = field(default_factory=dict)  # commit -> its earlier ids, and how found


def find_authors(clone: Clone, asked: WhyTarget, *, spell: Spell, moved: bool = True) -> LineFindings:
    """Returns who wrote the target's lines; without `moved`, of a line that was moved only who moved it."""
    if not asked.text:
        return LineFindings()
    first, last = max(1, asked.first - AROUND), min(len(asked.text), asked.last + AROUND)
    blamed = blame.blame(clone.repo, asked.path, asked.text, first=first, last=last, moved=moved)
    found = LineFindings()
    paths = {spell(asked.path), *(spell(path) for one in blamed for path in _names(one))}
    oids = {one.commit for one in blamed if one.commit}
    found.records = recorded_runs.records(clone, paths=paths, commits=oids)
    _note_commits(clone, found, oids | {one.before[0] for one in blamed if one.before})
    if not any(record.touched for record in found.records.values()):  # no turn wrote into the file
        nobody = (LineVerdict(one, verdict.decide("", one.text, (), ())) for one in blamed)
        found.lines = [one for one in nobody if asked.first <= one.blamed.number <= asked.last]
        return found
    texts = _Texts(clone, asked, found, blamed)
    whose = {(one.commit, one.path): one for one in blamed if one.commit in found.commits and not one.cut}
    brought = {place: texts.added_lines(one) for place, one in whose.items()}
    marks = {line_hash(texts.line(one)) for one in blamed}.union(*brought.values())
    wrote = [one for record in found.records.values() for one in recorded_runs.written(record, paths, marks)]
    verdicts = _Verdicts(found, texts, wrote, spell, now=clone.clock().timestamp(), path=spell(asked.path))
    placed = [verdict.PlacedVerdict(verdicts.of(one), one.commit, one.number, one.at) for one in blamed]
    writers = {place: verdicts.writer(one, brought[place]) for place, one in whose.items()}
    likely = [writers.get((one.commit or "", one.path)) for one in blamed]
    pairs = zip(blamed, verdict.with_likely(placed, verdict.accompanied(placed), likely), strict=True)
    found.lines = [LineVerdict(one, said) for one, said in pairs if asked.first <= one.number <= asked.last]
    return found


def _names(one: Blamed) -> tuple[str, ...]:
    """Returns the file's names when a line was added, and just before."""
    return (one.path, one.before[1]) if one.before else (one.path,)


def _note_commits(clone: Clone, found: LineFindings, oids: Iterable[str]) -> None:
    """Adds the runs in which commits were made, under their own id or an earlier one."""
    asked = set(oids)
    of_runs = dict.fromkeys(oid for one in found.records.values() for oid in one.commits if oid not in asked)
    for old, now in commit_anchors.resolve(clone, list(of_runs)[-MAX_MOVED:]).items():
        if now.state == "moved" and now.commit in asked:
            found.became.setdefault(now.commit, {})[old] = now.how
    wanted = asked | {old for olds in found.became.values() for old in olds}
    found.commits = _commits(clone, wanted)
    for record in found.records.values():
        begin, end = recorded_runs.span(clone, record.event) if not wanted.isdisjoint(record.commits) else (0, 0)
        for oid in wanted.intersection(record.commits):
            commit = found.commits.get(oid)
            # Only commits made while the run was active: it may have cited or fetched others.
            if commit is None or begin - SLACK <= commit.committed <= end + SLACK:
                found.made.setdefault(oid, {})[record.run] = record.turn_of(oid)
    found.commits |= _commits(clone, {oid for one in found.commits.values() for oid in one.parents})


def _commits(clone: Clone, oids: Iterable[str]) -> dict[str, commit_details.Commit]:
    asked = sorted(set(oids))
    options = ("--no-walk=unsorted", "--ignore-missing", "--stdin")
    return commit_details.listed(clone.repo, *options, names=asked, limit=len(asked)) if asked else {}


class _Texts:
    """The file's lines in the relevant commits, each read once and known by hashes."""

    def __init__(self, clone: Clone, asked: WhyTarget, found: LineFindings, blamed: Sequence[Blamed]) -> None:
        self._now, self._commits = asked.text, found.commits
        places = dict.fromkeys(place for one in blamed for place in _places(found, one))
        self._texts = blame.texts(clone.repo, places)
        self._counts: dict[tuple[str, str] | None, Counter[str]] = {}

    def line(self, one: Blamed) -> str:
        """Returns a line as its commit has it: its blanks may have changed since."""
        rows = self._texts.get((one.commit, one.path)) if one.commit else None
        return rows[one.at - 1] if rows and one.at <= len(rows) else one.text

    def count(self, place: tuple[str, str] | None, mark: str) -> int:
        """Returns how often a line stands in a file of a commit; None means the work tree."""
        if place not in self._counts:
            text = self._now if place is None else self._texts.get(place, ())
            self._counts[place] = Counter(map(line_hash, telling_lines(text)))
        return self._counts[place][mark]

    def added_lines(self, one: Blamed) -> set[str]:
        """Returns the hashes of the distinct lines that a line's commit added to its file."""
        olds = [(oid, name) for oid in self._commits[one.commit or ""].parents for name in _names(one)]
        before = {line.strip() for old in olds for line in self._texts.get(old, ())}
        new = {line.strip() for line in self._texts.get((one.commit or "", one.path), ())} - before
        return {line_hash(line) for line in new if verdict.is_distinct(line, copies=1)}


def _places(found: LineFindings, one: Blamed) -> Iterator[tuple[str, str]]:
    """Yields where a line's text is looked up: its commit, that commit's earlier ids, and their parents."""
    if one.commit is None:
        if one.before:
            yield one.before
        return
    for oid in (one.commit, *found.became.get(one.commit, ())):
        yield oid, one.path
        for parent in found.commits[oid].parents if oid in found.commits else ():
            yield from ((parent, name) for name in _names(one))


class _Verdicts:
    """Decides for each line who wrote it."""

    def __init__(
        self, found: LineFindings, texts: _Texts, wrote: Iterable[TurnLines], spell: Spell, *, now: float, path: str
    ) -> None:
        self._found, self._texts, self._spell, self._now, self._path = found, texts, spell, now, path
        self._by_path: dict[str, dict[str, list[TurnLines]]] = defaultdict(lambda: defaultdict(list))
        self._wrote = sorted(wrote, key=_order)
        for one in self._wrote:
            for mark in {*one.added, *one.removed}:
                self._by_path[one.path][mark].append(one)

    def of(self, one: Blamed) -> Verdict:
        text = self._texts.line(one)
        mark = line_hash(text)
        names = dict.fromkeys(map(self._spell, _names(one)))
        about = [wrote for name in names for wrote in self._by_path.get(name, {}).get(mark, ())]
        if len(names) > 1:
            about.sort(key=_order)
        # Of a line that no turn wrote, no version of the file tells more.
        views, copies = (list(self._views(one, mark)), self._texts.count(None, mark)) if about else ([], 1)
        verdict_ = verdict.decide(mark, text, views, about, copies=copies)
        return self._doubt_copies(one, verdict_, mark, copies) if isinstance(verdict_, LineAuthor) else verdict_

    def writer(self, one: Blamed, brought: Collection[str]) -> TurnName | None:
        """Returns who wrote most of what a line's commit added to its file; runs named in its message come first."""
        commit, here = self._found.commits[one.commit or ""], {*map(self._spell, _names(one))}
        trailers = recorded_runs.trailer_names(commit.message)
        named = {run for run, it in self._found.records.items() if trailers and not it.harmed and trailers & it.names}
        wrote = [wrote for wrote in self._wrote if wrote.path in here and (not named or wrote.by.run in named)]
        return verdict.main_writer(brought, wrote, commit.authored, commit.committed, named=bool(named))

    def _doubt_copies(self, one: Blamed, said: LineAuthor, mark: str, copies: int) -> Verdict:
        """Returns a verdict, or a doubt if git only guessed that this is the line of the commit."""
        turns = {TurnName(said.run, turn) for turn in said.turns}
        compared = ("".join(text.split()) for text in (self._texts.line(one), one.text))  # as git does: without blanks
        if len({*compared}) > 1:
            return AuthorDoubt(_PASSED_OVER, tuple(sorted(turns)))
        # Git treats a line that is typed again as a copy of the first, in its file and in others.
        names = {self._path, *map(self._spell, _names(one))}
        about = (wrote for name in names for wrote in self._by_path.get(name, {}).get(mark, ()))
        later = [wrote for wrote in about if wrote.begin > said.view.until + SLACK and not wrote.whole]
        more = sum(wrote.added.get(mark, 0) - wrote.removed.get(mark, 0) for wrote in later)
        if more > 0 or copies > said.view.here:
            return AuthorDoubt(_AGAIN, tuple(sorted(turns | {wrote.by for wrote in later if mark in wrote.added})))
        # In a shallow clone the oldest commit did not add the line: only the text is evidence.
        return replace(said, recorded=said.recorded and not one.cut)

    def _views(self, one: Blamed, mark: str) -> Iterator[CommitView]:
        if one.commit is None:
            before = self._texts.count(one.before, mark) if one.before else 0
            last = self._found.commits.get(one.before[0]) if one.before else None
            here, since = self._texts.count(None, mark), last.committed if last else None
            yield CommitView(commit=None, until=self._now, since=since, here=here, before=before, runs={})
            return
        for oid in (*self._found.became.get(one.commit, ()), one.commit):
            if oid in self._found.commits:
                yield self._view(one, self._found.commits[oid], mark)

    def _view(self, one: Blamed, commit: commit_details.Commit, mark: str) -> CommitView:
        names, texts = _names(one), self._texts
        parents = [self._found.commits[oid] for oid in commit.parents if oid in self._found.commits]
        counts = [texts.count((parent.oid, name), mark) for parent in parents for name in names]
        return CommitView(
            commit=commit.oid,
            until=commit.committed,
            since=max((parent.committed for parent in parents), default=None),
            here=texts.count((commit.oid, one.path), mark),
            before=max(counts, default=0),
            runs={} if one.cut else self._found.made.get(commit.oid, {}),
        )


def _order(one: TurnLines) -> tuple[float, TurnName]:
    return one.begin, one.by


def runs_of(found: LineFindings, commit: str | None) -> Mapping[str, int | None]:
    """Returns the runs in which a commit was made, under this id or an earlier one."""
    if commit is None:
        return {}
    olds = found.became.get(commit, {})
    return {run: turn for oid in (*olds, commit) for run, turn in found.made.get(oid, {}).items()}
