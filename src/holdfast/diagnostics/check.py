"""The gate for pull requests: may this branch's memory join the trunk?

Everything is read from tree objects, so it works in a fresh clone without a private store. Against
the merge-base, every memory that was added, changed or deleted needs an event that says who let it
in, in the segments the branch brings along, not before the last change of its text; the log
verifies; nothing sealed was touched. Tasks and links need no approval; `plan` says what they need.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping

from holdfast.diagnostics import contradictions, plan
from holdfast.diagnostics.branch import About, Branch, CutOff
from holdfast.diagnostics.findings import Finding
from holdfast.diagnostics.integrity import Ledger, Seen
from holdfast.diagnostics.parted import PartedBranch
from holdfast.diagnostics.tracked import Row, read_log, rows
from holdfast.errors import BadInput, BrokenEntry
from holdfast.git.repo import Repo
from holdfast.model.memory import Memory, source_run
from holdfast.store import entries, layout
from holdfast.store.entries import Part
from holdfast.values import frozen

PROMOTING = frozenset((b"accept", b"promote", b"edit", b"retire", b"reject", b"erase"))
_ENDING = frozenset((b"retire", b"reject", b"erase"))
_CANDIDATES = f"{layout.MEMORY}/candidates/"
_END = (
    "Say why it went, then `holdfast publish`: `holdfast erase` if no copy may stay, "
    "else undo the deletion and `holdfast review retire` it."
)
_FETCH = "Fetch it: `fetch-depth: 0` in GitHub Actions, elsewhere `git fetch`, with `--unshallow` if need be."


@frozen
class Verdict:
    """What the gate says: it is shut while there are problems."""

    problems: tuple[Finding, ...]
    notes: tuple[Finding, ...]
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

    rows: dict[str, Row]
    entries: dict[str, list[_Entry]]  # of each file that can be read at least in part
    findings: tuple[Finding, ...]

    @property
    def places(self) -> list[tuple[str, _Entry]]:
        return [(path, entry) for path, found in self.entries.items() for entry in found]


def check(repo: Repo, base: str | None = None, *, trunk: str | None = None) -> Verdict:
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
    if base:
        _refuse_cut_off(findings)
    judged = plan.judge(repo, start)
    findings = [*ledger.findings, *here.findings, *_repeated(here.places), *findings, *judged.findings]
    memories = {path: [entry.memory for entry in found] for path, found in here.entries.items()}
    findings += contradictions.judge(repo, start, memories)
    counts = {"events": len(ledger.events), "segments": ledger.files, "memories": len(here.places)}
    counts |= {name: number for name, number in judged.counts.items() if number}
    return Verdict(
        problems=tuple(f for f in findings if f.severity == "problem"),
        notes=tuple(f for f in findings if f.severity != "problem"),
        base=start or None,
        counts=counts,
    )


def _start(repo: Repo, base: str | None, trunk: str | None) -> tuple[str | None, list[Finding]]:
    """The commit to compare with, "" for an empty past, None where this clone cannot tell."""
    asked = base or repo.trunk(trunk)
    tip = _commit(repo, asked) if asked else None
    if tip is None and base:
        raise BadInput(f"{base} names no commit here", hint=_FETCH)
    if repo.is_shallow() and tip is None:
        return None, [_unknown(f"{asked or 'the trunk'} is not in this shallow clone")]
    done = repo.attempt("merge-base", "HEAD", tip) if tip else None
    if done is not None and done.returncode == 0:
        return done.stdout.decode("ascii").split()[0], []
    if repo.is_shallow():
        return None, [_unknown(f"this shallow clone does not reach the point where HEAD left {asked}")]
    return "", []


def _refuse_cut_off(findings: Iterable[Finding]) -> None:
    """Who names a base asks for a judgement against it: where history is cut off, there is none to give."""
    for finding in findings:
        if finding.next_step == _FETCH:
            raise BadInput(finding.sentence, hint=_FETCH)


def _commit(repo: Repo, name: str) -> str | None:
    done = repo.attempt("rev-parse", "-q", "--verify", f"{name}^{{commit}}")
    return done.stdout.decode("ascii").strip() if done.returncode == 0 else None


def _unknown(said: str) -> Finding:
    return Finding(
        severity="partial",
        topic="git",
        file=layout.MEMORY,
        sentence=f"{said}, so what was added or changed could not be judged",
        next_step=_FETCH,
    )


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
                found = entries.parts(blobs.get(row.oid, b"").decode("utf-8"), path)
            except UnicodeDecodeError as error:
                findings.append(_unreadable(path, error))
                continue
            findings += [_unreadable(path, p.memory) for p in found if isinstance(p.memory, BrokenEntry)]
            if sound := [part for part in found if not isinstance(part.memory, BrokenEntry)]:
                memories[path] = [_entry(repo, row, part, alone=len(found) == 1) for part in sound]
    return _Side(listed, memories, tuple(findings))


def _entry(repo: Repo, row: Row, part: Part, *, alone: bool) -> _Entry:
    assert not isinstance(part.memory, BrokenEntry)
    oid = row.oid if alone else repo.hash_blob(part.text.encode("utf-8"))
    return _Entry(part.memory, part.line, f"{row.mode} {oid}")


def _unreadable(path: str, error: BrokenEntry | UnicodeDecodeError) -> Finding:
    step = "Mend the file by hand, record it with `holdfast review accept`, and commit it."
    if isinstance(error, UnicodeDecodeError):
        return _problem(path, f"is not UTF-8 at byte {error.start}", step)
    line, _, reason = str(error).removeprefix(f"{path}:").partition(" ")
    return _problem(path, reason, step, line=int(line) if line.isdigit() else None)


def _repeated(places: Iterable[tuple[str, _Entry]]) -> Iterator[Finding]:
    """Two entries with one id: whoever cites it cites neither."""
    first: dict[str, tuple[str, int]] = {}
    for path, entry in places:
        where = (path, entry.line)
        other = first.setdefault(entry.memory.id, where)
        if other != where:
            step = "Give one of them a new id: propose it again and retire this file."
            said = f"its id {entry.memory.id} is also that of {other[0]}"
            yield _problem(path, said + (f":{other[1]}" if other[0] == path else ""), step, line=_later(entry))


def _later(entry: _Entry) -> int | None:
    """The line to name where a file holds more than its first entry."""
    return entry.line if entry.line > 1 else None


def _against(repo: Repo, ledger: Ledger, here: _Side, start: str, log: Mapping[str, bytes]) -> Iterator[Finding]:
    before_log = {row.path: row for row in rows(repo, start, layout.LOG)}
    now_log = {row.path: row for row in rows(repo, "HEAD", layout.LOG)}
    yield from _touched(before_log, now_log)
    # By hash, not by file: an old approval copied into a new segment lets nothing in.
    known = Ledger()
    read_log(repo, start, known)
    added = {name: event for name, event in ledger.events.items() if name not in known.events}
    new = {path: data for path, data in log.items() if path not in before_log}
    erased = {event.target for event in ledger.events.values() if event.kind == b"erase"}
    yield from _unexplained(_side(repo, start), here, Branch(repo, start, added, new), erased)


def _touched(before: Mapping[str, Row], now: Mapping[str, Row]) -> Iterator[Finding]:
    for path, row in before.items():
        if path not in now:
            step = "Bring it back: `holdfast publish --restore`, or `git checkout BASE -- FILE`."
            yield _problem(path, "this sealed segment was deleted", step, topic="log")
        elif (now[path].oid, now[path].mode) != (row.oid, row.mode):
            step = f"Bring it back: `git checkout BASE -- {path}`."
            yield _problem(path, "this sealed segment was altered", step, topic="log")


def _unexplained(before: _Side, here: _Side, branch: Branch, erased: Collection[bytes | None]) -> Iterator[Finding]:
    """Changed memories that no event of the branch accounts for; what was ever erased may go any time."""
    for path in sorted({*before.rows, *here.rows}):
        old, new = before.rows.get(path), here.rows.get(path)
        if old is not None and new is not None and (old.oid, old.mode) == (new.oid, new.mode):
            continue
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
            yield was[name].memory, "changed" if _is_broken(path, here) else "deleted", True


def _is_broken(path: str, side: _Side) -> bool:
    return any(finding.file == path for finding in side.findings)


def _judged(path: str, memory: Memory, what: str, branch: Branch, *, is_part: bool) -> Iterator[Finding]:
    about = _about(memory, PROMOTING)
    if not branch.brings(about):
        yield _unaccounted(path, memory, what)
        return
    try:
        seen = PartedBranch.of(branch, memory.id) if is_part else branch
        commit = seen.culprit(path, about)
    except CutOff as error:
        yield _unknown(f"this shallow clone does not reach what came before {str(error)[:12]}")
    else:
        if commit is not None:
            yield _late(path, memory, what, commit)


def _about(memory: Memory, kinds: frozenset[bytes]) -> About:
    """Whether an event lets a memory in or out: by its id, or as the run it comes from."""
    name, run = memory.id.encode("ascii"), (source_run(memory) or "").encode("utf-8")

    def about(event: Seen) -> bool:
        if event.kind == b"run":
            return kinds is PROMOTING and event.run_id == run
        return event.kind in kinds and event.target == name

    return about


def _unaccounted(path: str, memory: Memory, what: str) -> Finding:
    run = source_run(memory)
    cited = f", and the run it cites, {run}, is not there either" if run else ", and it cites no run"
    sentence = f"{memory.id} was {what}, but no segment of this branch holds its approval{cited}"
    if what == "deleted":
        step = _END
    else:
        step = f"Run `holdfast review accept {memory.id}` and `holdfast publish` on this branch."
    return _problem(path, sentence, step)


def _late(path: str, memory: Memory, what: str, commit: str) -> Finding:
    """An approval covers what stood there when it was given."""
    sentence = f"{memory.id} was {'changed' if what == 'added' else what} in {commit[:12]} after its approval"
    step = f"Take that change back, or run `holdfast review accept {memory.id}` and `holdfast publish`."
    if what == "deleted":
        step = _END
    return _problem(path, sentence, step)


def _problem(path: str, sentence: str, step: str, *, line: int | None = None, topic: str = "facts") -> Finding:
    return Finding(severity="problem", topic=topic, file=path, line=line, sentence=sentence, next_step=step)
