"""The gate for pull requests: may this branch's memory join the trunk?

Everything is read from tree objects, so it works in a fresh clone without a private store. Against the merge-base,
every memory that was added, changed or deleted needs an event that says who let it in, in the segments the branch
brings along, not before the last change of its text. An envelope names the memory, not its words, but a commit brings
an event in a segment: so git tells whether the approval came with the text or after it. In a file of several entries
each is judged by its own text.

The log must verify, nothing sealed may be touched, and no two memories may contradict each other: what the branch
changed (on the trunk itself: what its last commit brought) is compared with all that stands. What tasks and links
need, `plan_soundness` says.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy

from holdfast.diagnostics import plan_soundness
from holdfast.diagnostics.findings import HealthFinding, place_of
from holdfast.diagnostics.log_integrity import Ledger, VerifiedEvent
from holdfast.diagnostics.tracked_log import TreeRow, read_log, rows
from holdfast.errors import BadInput, BrokenEntry
from holdfast.git.repo import Repo
from holdfast.model.contradictions import contradicting_pairs
from holdfast.model.memory import Accepted, Memory, source_run
from holdfast.model.text import visible
from holdfast.store import layout, memory_files
from holdfast.values import frozen

About = Callable[[VerifiedEvent], bool]


class CutOff(Exception):
    """A shallow clone lacks the commit that would tell."""


class BranchHistory:
    """The commits from where a branch left its base, with the events they bring."""

    def __init__(self, repo: Repo, start: str, added: Mapping[str, VerifiedEvent], log: Mapping[str, bytes]) -> None:
        self._repo, self._start, self._added = repo, start, added
        self._entry: str | None = None  # of a file of several entries, the one that is asked about
        self._files: dict[str, set[str]] = {name: set() for name in added}
        self._logs: dict[str, set[str]] = {}
        for path, data in log.items():
            ledger = Ledger()
            ledger.segment(path, path.rpartition("/")[2].removesuffix(".jsonl"), data)
            for name in ledger.events.keys() & added.keys():
                self._files[name].add(path)

    def of_entry(self, entry: str) -> "BranchHistory":
        """The same branch as one entry of a file sees it: a commit that leaves its own text alone does not count."""
        made = copy(self)
        made._entry = entry
        return made

    def brings(self, about: About) -> bool:
        """Whether it brings such an event at all."""
        return any(map(about, self._added.values()))

    def culprit(self, path: str, about: About, tip: str = "HEAD") -> str | None:
        """The commit that changed a file after the last event about it; None if that event came later.

        A text that was published together with its event stays approved: taking a later
        edit back needs no new approval. A merge is judged by its sides if it adds nothing of its own.
        """
        last, *earlier = self._changed(path, tip) or [""]
        if not last or self._any(about, self._since(last)):
            return None
        parents, text = self._parents(last), self._blob(last, path)
        if len(parents) == 2 and self._is_plain_merge(path, last, parents):
            return next(filter(None, (self.culprit(path, about, side) for side in parents)), None)
        same = (commit for commit in earlier if self._blob(commit, path) == text)
        return None if any(self._any(about, self._brought_by(commit)) for commit in same) else last

    def _changed(self, path: str, tip: str) -> list[str]:
        """The commits that made a file what it is at a tip, newest first."""
        span = f"{self._start}..{tip}" if self._start else tip
        found = self._repo.text("--literal-pathspecs", "log", "--format=%H", span, "--", path).split()
        if self._entry is None:
            return found
        sides = {commit: {self._blob(side, path) for side in self._parents(commit)} for commit in found}
        return [commit for commit in found if self._blob(commit, path) not in sides[commit]]

    def _any(self, about: About, names: Iterable[str]) -> bool:
        return any(about(self._added[name]) for name in names)

    def _since(self, commit: str) -> list[str]:
        """The events that came with a commit or later."""
        old = set().union(*(self._log(parent) for parent in self._parents(commit)))
        return [name for name, files in self._files.items() if files.isdisjoint(old)]

    def _brought_by(self, commit: str) -> list[str]:
        here = self._log(commit)
        return [name for name in self._since(commit) if not self._files[name].isdisjoint(here)]

    def _log(self, commit: str) -> set[str]:
        if commit not in self._logs:
            self._logs[commit] = set(self._repo.tree(commit, layout.LOG))
        return self._logs[commit]

    def _parents(self, commit: str) -> list[str]:
        """Those the commit itself names: git's log hides what a shallow clone has cut off."""
        head = self._repo.run("cat-file", "commit", commit).partition(b"\n\n")[0].split(b"\n")
        parents = [line[7:].decode("ascii") for line in head if line.startswith(b"parent ")]
        for parent in parents:
            if self._repo.attempt("cat-file", "-e", f"{parent}^{{commit}}").returncode:
                raise CutOff(commit)
        return parents

    def _blob(self, commit: str, path: str) -> str | None:
        """What tells the text of a file, or of the entry that is asked about, from any other."""
        if self._entry is None:
            return self._repo.blobs_at(commit, [path]).get(path)
        text = self._text(commit, path)
        return None if text is None else self._repo.hash_blob(text.encode("utf-8"))

    def _text(self, commit: str, path: str) -> str | None:
        """What a file, or the entry that is asked about, says in a commit; None if it is not there."""
        blob = self._repo.blobs_at(commit, [path]).get(path)
        text = None if blob is None else self._repo.blobs([blob]).get(blob, b"").decode("utf-8", "replace")
        if self._entry is None:
            return text
        parts = memory_files.parts(text or "", path)
        own = (one.text for one in parts if not isinstance(one.memory, BrokenEntry) and one.memory.id == self._entry)
        return next(own, None)

    def _is_plain_merge(self, path: str, commit: str, sides: list[str]) -> bool:
        """Whether a merged text is both sides' changes, field by field, and nothing else."""
        fork, said = self._repo.attempt("merge-base", *sides), self._text(commit, path)
        if fork.returncode or said is None:
            return False
        places = (fork.stdout.decode("ascii").split()[0], *sides)
        base, ours, theirs = (self._text(place, path) or "" for place in places)
        try:
            merged = memory_files.merge(base or None, ours, theirs)
            return isinstance(merged, str) and memory_files.parse(merged, path) == memory_files.parse(said, path)
        except BrokenEntry:
            return False


MAX_SAID = 120  # characters of each side


def judge_contradictions(repo: Repo, start: str, places: Sequence[tuple[str, Memory]]) -> Iterator[HealthFinding]:
    """What changed since the branch began, or in the last commit, and contradicts something that stands in HEAD."""
    accepted = {memory.id: memory for _, memory in places if isinstance(memory, Accepted)}
    replaced = {name for memory in accepted.values() for name in memory.supersedes}
    standing = {name: memory for name, memory in accepted.items() if name not in replaced}
    before = start if start != repo.head().oid else repo.commit_of("HEAD^1")
    was = {row.path: row.oid for row in rows(repo, before, layout.MEMORY)} if before else {}
    changed = {row.path for row in rows(repo, "HEAD", layout.MEMORY) if was.get(row.path) != row.oid}
    new = {memory.id for path, memory in places if path in changed}
    files = {memory.id: path for path, memory in places}
    for pair in contradicting_pairs(standing, new) if new else ():
        one, other = (f"{memory.id} ({visible(memory.statement)[:MAX_SAID]})" for memory in (pair.one, pair.other))
        step = (
            f"Say which holds: `holdfast review accept {pair.one.id} --supersede {pair.other.id}`, the other way "
            f"round, or `--keep-both`; then `holdfast publish`."
        )
        yield _problem(files[pair.one.id], f"{one} contradicts {other}: {pair.verdict.why}", step)


PROMOTING = frozenset((b"accept", b"promote", b"edit", b"retire", b"reject", b"erase"))
_ENDING = frozenset((b"retire", b"reject", b"erase"))
_CANDIDATES = f"{layout.MEMORY}/candidates/"
_END = (
    "Say why it went, then `holdfast publish`: `holdfast erase` if no copy may stay, "
    "else undo the deletion and `holdfast review retire` it."
)
_FETCH = "Fetch it: `fetch-depth: 0` in GitHub Actions, elsewhere `git fetch`, with `--unshallow` if need be."


@frozen
class GateVerdict:
    """What the gate says: it is shut while there are problems."""

    problems: tuple[HealthFinding, ...]
    notes: tuple[HealthFinding, ...]
    base: str | None  # the commit it was compared with
    counts: Mapping[str, int]

    @property
    def word(self) -> str:
        """ok, partial or failed."""
        if self.problems:
            return "failed"
        return "partial" if any(note.severity == "partial" for note in self.notes) else "ok"


@frozen
class _Entry:
    """A memory in a commit: where it begins, and what tells its text from any other."""

    memory: Memory
    line: int
    mark: str


@frozen
class _Side:
    """The memory files of one commit: what can be read, and what is wrong with the rest."""

    rows: dict[str, TreeRow]
    entries: dict[str, list[_Entry]]  # of each file that can be read at least in part
    findings: tuple[HealthFinding, ...]

    @property
    def places(self) -> list[tuple[str, _Entry]]:
        return [(path, entry) for path, found in self.entries.items() for entry in found]


def check(repo: Repo, base: str | None = None, *, trunk: str | None = None) -> GateVerdict:
    """Judge HEAD against where it left `base`, or else the trunk; without either, against nothing."""
    if repo.head().oid is None:
        raise BadInput("there is no commit to check yet", hint="Commit something first.")
    ledger = Ledger()
    log = read_log(repo, "HEAD", ledger)
    ledger.finish()
    here = _side(repo, "HEAD")
    start, findings = _start(repo, base, trunk)
    if start is not None:
        findings = [*findings, *_against(repo, ledger, here, start, log)]
    for finding in findings if base else ():
        # Who names a base asks for a judgement against it: where history is cut off, there is none to give.
        if finding.next_step == _FETCH:
            raise BadInput(finding.sentence, hint=_FETCH)
    judged, nodes = plan_soundness.judge_plan(repo, start)
    findings = [*ledger.findings, *here.findings, *_repeated(here.places), *findings, *judged]
    if start is not None:
        findings += judge_contradictions(repo, start, [(path, entry.memory) for path, entry in here.places])
    counts = {"events": len(ledger.events), "segments": ledger.files, "memories": len(here.places)}
    counts |= {name: number for name, number in nodes.items() if number}
    problems = tuple(f for f in findings if f.severity == "problem")
    return GateVerdict(problems, tuple(f for f in findings if f.severity != "problem"), start or None, counts)


def _start(repo: Repo, base: str | None, trunk: str | None) -> tuple[str | None, list[HealthFinding]]:
    """The commit to compare with, "" for an empty past, None where this clone cannot tell."""
    asked = base or repo.trunk(trunk)
    tip = repo.commit_of(asked) if asked else None
    if tip is None and base:
        raise BadInput(f"{base} names no commit here", hint=_FETCH)
    if repo.is_shallow() and tip is None:
        return None, [_unknown(f"{asked or 'the trunk'} is not in this shallow clone")]
    if tip is not None and tip == repo.head().oid:
        return tip, []
    done = repo.attempt("merge-base", "HEAD", tip) if tip else None
    if done is not None and done.returncode == 0:
        return done.stdout.decode("ascii").split()[0], []
    if repo.is_shallow():
        return None, [_unknown(f"this shallow clone does not reach the point where HEAD left {asked}")]
    return "", []


def _unknown(said: str) -> HealthFinding:
    said += ", so what was added or changed could not be judged"
    return HealthFinding("partial", "git", layout.MEMORY, said, _FETCH)


def _side(repo: Repo, rev: str) -> _Side:
    listed = {row.path: row for row in rows(repo, rev, layout.MEMORY) if not row.path.startswith(_CANDIDATES)}
    blobs = repo.blobs(row.oid for row in listed.values())
    memories: dict[str, list[_Entry]] = {}
    findings = []
    for path, row in listed.items():
        if not row.mode.startswith("100"):
            findings.append(_problem(path, "a memory must be a plain file", "Put the file itself there."))
        elif path.endswith(".md"):
            try:
                found = memory_files.parts(blobs.get(row.oid, b"").decode("utf-8"), path)
            except UnicodeDecodeError as error:
                findings.append(_unreadable(path, error))
                continue
            findings += [_unreadable(path, p.memory) for p in found if isinstance(p.memory, BrokenEntry)]
            if sound := [part for part in found if not isinstance(part.memory, BrokenEntry)]:
                memories[path] = [_entry(repo, row, part, alone=len(found) == 1) for part in sound]
    return _Side(listed, memories, tuple(findings))


def _entry(repo: Repo, row: TreeRow, part: memory_files.EntryPart, *, alone: bool) -> _Entry:
    assert not isinstance(part.memory, BrokenEntry)
    oid = row.oid if alone else repo.hash_blob(part.text.encode("utf-8"))
    return _Entry(part.memory, part.line, f"{row.mode} {oid}")


def _unreadable(path: str, error: BrokenEntry | UnicodeDecodeError) -> HealthFinding:
    step = "Mend the file by hand, record it with `holdfast review accept`, and commit it."
    if isinstance(error, UnicodeDecodeError):
        return _problem(path, f"is not UTF-8 at byte {error.start}", step)
    line, reason = place_of(path, error)
    return _problem(path, reason, step, line=line)


def _repeated(places: Iterable[tuple[str, _Entry]]) -> Iterator[HealthFinding]:
    """Two entries with one id: whoever cites it cites neither."""
    first: dict[str, tuple[str, int]] = {}
    for path, entry in places:
        where = (path, entry.line)
        other = first.setdefault(entry.memory.id, where)
        if other != where:
            step = "Give one of them a new id: propose it again and retire this file."
            said = f"its id {entry.memory.id} is also that of {other[0]}"
            line = entry.line if entry.line > 1 else None  # where a file holds more than its first entry
            yield _problem(path, said + (f":{other[1]}" if other[0] == path else ""), step, line=line)


def _against(repo: Repo, ledger: Ledger, here: _Side, start: str, log: Mapping[str, bytes]) -> Iterator[HealthFinding]:
    before_log = {row.path: row for row in rows(repo, start, layout.LOG)}
    now_log = {row.path: row for row in rows(repo, "HEAD", layout.LOG)}
    for path, row in before_log.items():
        if path not in now_log:
            step = "Bring it back: `holdfast publish --restore`, or `git checkout BASE -- FILE`."
            yield _problem(path, "this sealed segment was deleted", step, topic="log")
        elif now_log[path] != row:
            step = f"Bring it back: `git checkout BASE -- {path}`."
            yield _problem(path, "this sealed segment was altered", step, topic="log")
    # By hash, not by file: an old approval copied into a new segment lets nothing in.
    known = Ledger()
    read_log(repo, start, known)
    added = {name: event for name, event in ledger.events.items() if name not in known.events}
    new = {path: data for path, data in log.items() if path not in before_log}
    erased = {event.target for event in ledger.events.values() if event.kind == b"erase"}
    # Changed memories that no event of the branch accounts for; what was ever erased may go any time.
    before = _side(repo, start)
    branch = BranchHistory(repo, start, added, new)
    paths = sorted({*before.rows, *here.rows})
    for path in (path for path in paths if before.rows.get(path) != here.rows.get(path)):
        for memory, what, is_part in _moved(path, before, here):
            ended = memory.id.encode("ascii") in erased or branch.brings(_about(memory, _ENDING))
            if what != "deleted" or not ended:
                yield from _judged(path, memory, what, branch, is_part=is_part)


def _moved(path: str, before: _Side, here: _Side) -> Iterator[tuple[Memory, str, bool]]:
    """The memories of a changed file that were added, changed or deleted, and whether it holds several."""
    olds, news = before.entries.get(path, []), here.entries.get(path, [])
    if len(olds) <= 1 and len(news) <= 1 and (found := [*news, *olds]):
        is_old, is_new = path in before.rows, path in here.rows
        yield found[0].memory, "added" if not is_old else "changed" if is_new else "deleted", False
        return
    was, now = ({entry.memory.id: entry for entry in side} for side in (olds, news))
    for name in dict.fromkeys([*now, *was]):
        if name in was and name in now:
            if was[name].mark != now[name].mark:
                yield now[name].memory, "changed", True
        elif name in now:
            yield now[name].memory, "added", True
        else:  # what cannot be read any more was changed into that
            is_broken = any(finding.file == path for finding in here.findings)
            yield was[name].memory, "changed" if is_broken else "deleted", True


def _judged(path: str, memory: Memory, what: str, branch: BranchHistory, *, is_part: bool) -> Iterator[HealthFinding]:
    """Whether a change was approved: an approval covers what stood there when it was given."""
    about = _about(memory, PROMOTING)
    if not branch.brings(about):
        run = source_run(memory)
        cited = f", and the run it cites, {run}, is not there either" if run else ", and it cites no run"
        sentence = f"{memory.id} was {what}, but no segment of this branch holds its approval{cited}"
        step = f"Run `holdfast review accept {memory.id}` and `holdfast publish` on this branch."
        yield _problem(path, sentence, _END if what == "deleted" else step)
        return
    try:
        commit = (branch.of_entry(memory.id) if is_part else branch).culprit(path, about)
    except CutOff as error:
        yield _unknown(f"this shallow clone does not reach what came before {str(error)[:12]}")
    else:
        if commit is not None:
            sentence = f"{memory.id} was {'changed' if what == 'added' else what} in {commit[:12]} after its approval"
            step = f"Take that change back, or run `holdfast review accept {memory.id}` and `holdfast publish`."
            yield _problem(path, sentence, _END if what == "deleted" else step)


def _about(memory: Memory, kinds: frozenset[bytes]) -> About:
    """Whether an event lets a memory in or out: by its id, or as the run it comes from."""
    name, run = memory.id.encode("ascii"), (source_run(memory) or "").encode("utf-8")

    def about(event: VerifiedEvent) -> bool:
        if event.kind == b"run":
            return kinds is PROMOTING and event.run_id == run
        return event.kind in kinds and event.target == name

    return about


def _problem(path: str, sentence: str, step: str, *, line: int | None = None, topic: str = "facts") -> HealthFinding:
    return HealthFinding("problem", topic, path, sentence, step, line)
