"""Lines: a branch's identity, which survives a rename and ends with a delete.

The id is kept in git's own config as `branch.<name>.holdfast = <id> <ref>`: git itself moves it on
rename and drops it on delete. What a line inherited when it branched off is kept in the private
store, because reflogs expire.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

from holdfast.errors import CorruptLog, FutureFormat, ReadOnlyStore, TooLarge, UnsafePath
from holdfast.git import reflog
from holdfast.git.repo import Head, Repo
from holdfast.model.event import timestamp
from holdfast.model.ids import line_id
from holdfast.patterns import regex
from holdfast.store import fsio, loose_records
from holdfast.store.layout import Layout
from holdfast.values import asdict, frozen, grouped, replace

DETACHED = "holdfast-line"
UNBORN = ""  # a branch before its first commit has no birth yet
_GENERATIONS = 32
_IDENTITY = regex(r"[0-9A-Za-z][0-9A-Za-z_-]{0,63}")
_NOT_PLAIN = (b"\\", b"\r", b"\0", b"include", b"worktreeconfig")  # rows that go on, or other files that have a say
_DETACHED_REF, DETACHED_NAME = "detached:", "a detached HEAD"


@frozen
class InheritedLine:
    """What a line sees of another: everything recorded there up to a moment, or all of it."""

    line: str
    until: str | None


@frozen
class BranchLine:
    """One branch's identity and what it may see besides its own records."""

    id: str
    ref: str | None
    inherits: tuple[InheritedLine, ...] = ()
    done: frozenset[str] = frozenset()  # inherited changes that this line has dealt with
    whole: bool = True  # False: its record is damaged, and this is what git itself still knows of it

    def sees(self, line: str, ts: str) -> bool:
        """Whether something recorded on `line` at `ts` is visible here."""
        if line == self.id:
            return True
        return any(i.line == line and (i.until is None or ts <= i.until) for i in self.inherits)

    def passed_events_of(self, line: str) -> bool:
        """Whether what was inherited of a line's events is in this line's own history by now."""
        return events_of(line) in self.done

    def limits(self) -> dict[str, str | None]:
        """Each line something of which may wait here, with the moment up to which it is seen; None: all."""
        found: dict[str, str | None] = {}
        for inherit in self.inherits:
            if all_of(inherit.line) in self.done:
                continue
            known = found.setdefault(inherit.line, inherit.until)
            if known is not None and (inherit.until is None or inherit.until > known):
                found[inherit.line] = inherit.until
        return {**found, self.id: None}


@frozen
class KnownLine:
    """A line as the private store remembers it."""

    id: str
    refs: tuple[str, ...]
    created: str
    inherits: tuple[InheritedLine, ...]
    dropped: bool = False
    born: str | None = None  # the birth its branch's reflog begins with; None: the log did not say
    done: tuple[tuple[str, str], ...] = ()  # inherited changes it has dealt with, and when
    whole: bool = True

    def seen_as(self, ref: str | None) -> BranchLine:
        return BranchLine(self.id, ref, self.inherits, frozenset(key for key, _ in self.done), self.whole)


def called(ref: str) -> str:
    """What people call the ref of a line: its branch, or the detached HEAD it was."""
    if not ref.startswith(_DETACHED_REF):
        return ref.removeprefix("refs/heads/")
    place = ref.removeprefix(_DETACHED_REF)
    return DETACHED_NAME if place == ".git" else f"{DETACHED_NAME} in {place}"


def events_of(line: str) -> str:
    """The key under which a line remembers that it has published another's events."""
    return f"events:{line}"


def all_of(line: str) -> str:
    """The key under which a line remembers that nothing it inherited of another waits any longer."""
    return f"all:{line}"


def fallback_id(ref: str, born: str | None = None) -> str:
    """The id of a line whose config cannot be written: it follows from the branch's name and birth."""
    name = f"{ref}\n{born or ''}"
    return "ref-" + hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:12]


def known(*stores: Layout) -> dict[str, KnownLine]:
    """Every line these stores have seen; the first store's word counts."""
    found: dict[str, KnownLine] = {}
    for layout in stores:
        for name in layout.listed(layout.lines, ".json"):
            if name[:-5] not in found and (line := find((layout,), name[:-5])):
                found[line.id] = line
    return found


def find(stores: Sequence[Layout], identity: str) -> KnownLine | None:
    """One line by its id; None if there is no record of it, or a damaged one."""
    found = (line for layout in stores for line in loose_records.sound(layout, read, [_place(layout, identity)]))
    return next(found, None)


def damaged(layout: Layout) -> Iterator[tuple[str, CorruptLog | FutureFormat]]:
    """Every record of a line that does not count, with the reason."""
    return loose_records.damaged(read, (os.path.join(layout.lines, n) for n in layout.listed(layout.lines, ".json")))


def _place(layout: Layout, identity: str) -> str:
    return os.path.join(layout.lines, f"{identity}.json")


def _has_record(stores: Sequence[Layout], identity: str) -> bool:
    """Whether something lies where a line's record belongs, sound or not."""
    if not _IDENTITY.fullmatch(identity):
        return False
    blocked = any(os.path.lexists(layout.lines) and not os.path.isdir(layout.lines) for layout in stores)
    return blocked or any(os.path.lexists(_place(layout, identity)) for layout in stores)


def read(path: str) -> KnownLine:
    """The record of one line; CorruptLog says why it does not count."""
    with loose_records.judging(path, " is not a record of a line", missing=loose_records.MISSING):
        line = _parse(json.loads(fsio.read(path, limit=1 << 24)))
        _check(line, os.path.basename(path).removesuffix(".json"))
    return line


def _check(line: KnownLine, name: str) -> None:
    if line.id != name or not _IDENTITY.fullmatch(name):
        raise ValueError(f"it is of line {line.id!r}")
    moments = (line.created, *(i.until for i in line.inherits if i.until is not None), *dict(line.done).values())
    words = (*moments, *line.refs, *((line.born,) if line.born is not None else ()))
    if not line.refs or not all(isinstance(word, str) for word in words):
        raise ValueError("its branch or its times are no such thing")
    if not all(_IDENTITY.fullmatch(i.line) for i in line.inherits):
        raise ValueError("it inherits from no line")


def _parse(record: dict[str, Any]) -> KnownLine:
    if not isinstance(record["refs"], list):
        raise TypeError("its branches are no list")
    return KnownLine(
        id=record["id"],
        refs=tuple(record["refs"]),
        created=record["created"],
        inherits=tuple(InheritedLine(i["line"], i["until"]) for i in record["inherits"]),
        dropped=bool(record.get("dropped", False)),
        born=record.get("born"),
        done=tuple((key, ts) for key, ts in record.get("done", {}).items()),
    )


def save(layout: Layout, line: KnownLine) -> None:
    """Remember a line."""
    record = asdict(line) | {"done": dict(line.done)}
    del record["whole"]  # whether it can be read shows when it is
    loose_records.keep(_place(layout, line.id), record)


def pass_by(layout: Layout, identity: str, keys: Sequence[str], *, ts: str) -> None:
    """Remember that a line has dealt with changes it inherited, so that they never come up again there."""
    if not keys:
        return
    with _making(layout):
        line = find((layout,), identity)
        if line is not None:
            save(layout, replace(line, done=tuple({**dict(line.done), **dict.fromkeys(keys, ts)}.items())))


def current(
    repo: Repo, stores: Sequence[Layout], head: Head, clock: Callable[[], datetime], *, reading: bool = False
) -> BranchLine:
    """The line of the work tree, made on first sight; the first store is the one that can be written.

    Who is only `reading` sees the line that would be made, and nothing is written anywhere.
    """
    ref = head.ref or repo.rebasing()
    found = _lookup(repo, stores, ref, clock, reading=reading)
    if found is None and reading:
        found = _new(repo, stores, ref, clock, line_id())
    if found is None:
        try:
            with _making(stores[0]):
                found = _lookup(repo, stores, ref, clock) or _make(repo, stores, ref, clock)
        except ReadOnlyStore:
            return BranchLine(fallback_id(ref or _detached_name(repo)), ref)
    return found.seen_as(ref)


@contextlib.contextmanager
def _making(layout: Layout) -> Iterator[None]:
    """A lock of its own: a line may be needed while the store's lock is held, by us or by a long publish."""
    fsio.make_dirs(layout.private)
    with fsio.locked(os.path.join(layout.private, "lines.lock"), wait=30.0):
        yield


def configured(repo: Repo) -> dict[str, tuple[str, str]]:
    """Ref to (line id, ref name stored with it) for every branch that has a line; the last value counts."""
    return {ref: values[-1] for ref, values in _values(repo).items()}


def _values(repo: Repo) -> dict[str, list[tuple[str, str]]]:
    rows = _written_plainly(repo)
    if rows is None:
        # A dot of git's regular expressions does not match a byte that is not UTF-8: nothing may stand for the name.
        out = repo.run("config", "--null", "--get-regexp", r"\.holdfast$", ok=(0, 1))
        asked = (row[len(b"branch.") :].partition(b"\n") for row in out.split(b"\0")[:-1] if row.startswith(b"branch."))
        rows = [(key.removesuffix(b".holdfast"), value) for key, _, value in asked]
    named = ((f"refs/heads/{os.fsdecode(name)}", os.fsdecode(value).partition(" ")) for name, value in rows)
    return grouped((ref, (identity, name)) for ref, (identity, _, name) in named)


def _written_plainly(repo: Repo) -> list[tuple[bytes, bytes]] | None:
    """Each branch with its line, from the file in which git keeps them; None where only git can tell what it says."""
    text = loose_records.content(os.path.join(repo.common_dir, "config"))
    folded = text.lower()
    if not text.startswith(b"[") or any(mark in folded for mark in _NOT_PLAIN):
        return None
    found, branch = [], None
    for row in map(bytes.strip, text.split(b"\n")):
        if row.startswith(b"["):
            section, gap, name = row[1:-1].partition(b' "')
            if (
                not row.endswith(b'"]' if gap else b"]")
                or b'"' in name[:-1]
                or not section.replace(b"-", b"").isalnum()
            ):
                return None
            branch = name[:-1] if gap and section.lower() == b"branch" else None
        elif branch is not None and row[:8].lower() == b"holdfast":
            if row[8:11] != b" = " or any(mark in row for mark in (b'"', b"#", b";")):
                return None
            found.append((branch, row[11:]))
    return found


def alive(repo: Repo, *stores: Layout) -> set[str]:
    """The ids of lines that still have a branch or a detached work tree."""
    # Split at newlines alone: a name may hold other characters that end a line of text.
    refs = {*map(os.fsdecode, repo.run("for-each-ref", "--format=%(refname)", "refs/heads").split(b"\n"))}
    trees = {git_dir: Repo.ref_of(git_dir) for git_dir in repo.worktrees()}
    refs.update(filter(None, trees.values()))  # also a branch before its first commit
    living = {_read_detached(git_dir) for git_dir, ref in trees.items() if ref is None}
    living |= {identity for ref, (identity, _) in configured(repo).items() if ref in refs}
    lines = known(*stores)
    living |= {line.id for line in lines.values() if line.id.startswith("ref-") and _lives(repo, line, refs)}
    for line in [lines[name] for name in living & lines.keys()]:
        living |= {inherit.line for inherit in line.inherits if inherit.until is None}
    return living


def _lives(repo: Repo, line: KnownLine, refs: set[str]) -> bool:
    """What a sandbox recorded while git's config was read-only lives as long as its branch or work tree."""
    ref = line.refs[-1]
    if ref not in refs:
        return ref in {_DETACHED_REF + os.path.basename(git_dir) for git_dir in repo.worktrees()}
    moment = reflog.birth(repo, ref)
    return moment is None or line.born in (None, UNBORN, moment.born)


def _lookup(
    repo: Repo, stores: Sequence[Layout], ref: str | None, clock: Callable[[], datetime], *, reading: bool = False
) -> KnownLine | None:
    """The line of a branch, unless it is new, a copy, or another branch under an old name; or of a detached tree."""
    if ref is None:
        identity = _read_detached(repo.git_dir) or "-"
        line = find(stores, identity)
        if line is None and _has_record(stores, identity):
            return replace(_new(repo, stores, ref, clock, identity), whole=False)
        return None if line is None or line.dropped else line
    everything = _values(repo)
    for identity, named in reversed(everything.get(ref, [])):
        if named != ref and _is_copy(repo, everything, ref, identity, named):
            continue
        line = find(stores, identity)
        if line is None and _has_record(stores, identity):
            return replace(_new(repo, stores, ref, clock, identity), whole=False)
        if line is None:
            continue
        moment = reflog.birth(repo, ref)
        if line.born == UNBORN and moment is not None:
            line = replace(line, born=moment.born)  # its first commit came after its first record
            if not reading:
                _keep(stores, line)
        if moment is None or moment.born == line.born:
            return line if named == ref or reading else _renamed(repo, stores, line, ref)
    return None


def _is_copy(repo: Repo, everything: dict[str, list[tuple[str, str]]], ref: str, identity: str, named: str) -> bool:
    """`git branch -c`: the original is alive, or the log says that it was copied before it went."""
    if repo.resolve(named) and identity in (value for value, _ in everything.get(named, [])):
        return True
    source = reflog.copied(repo, ref)
    return source is not None and source[0] == named


def _keep(stores: Sequence[Layout], line: KnownLine) -> None:
    with contextlib.suppress(ReadOnlyStore):  # only remembered sooner; the next writer does it again
        save(stores[0], line)


def _renamed(repo: Repo, stores: Sequence[Layout], line: KnownLine, ref: str) -> KnownLine:
    moved = replace(line, refs=(*line.refs, ref))
    if _claim(repo, ref, line.id):
        _keep(stores, moved)
    return moved


_Clock = Callable[[], datetime]


def _new(repo: Repo, stores: Sequence[Layout], ref: str | None, clock: _Clock, identity: str) -> KnownLine:
    """A line as git's own records tell it: when its branch was born, and from what; or where HEAD was before."""
    now, descent = timestamp(clock()), _Descent(repo, known(*stores))
    if ref is None:
        left: tuple[reflog.BranchOrigin, reflog.ReflogRow] | None = reflog.detached_from(repo)
        inherits = descent.through(left[0], min(now, left[1].until)) if left else descent.through(None, now)
        return KnownLine(identity, (_detached_name(repo),), now, inherits, done=descent.done)
    moment = reflog.birth(repo, ref)
    born = moment.born if moment else (None if repo.resolve(ref) else UNBORN)
    inherits = descent.of(ref, now)
    return KnownLine(identity, (ref,), now, inherits, born=born, done=descent.done)


def _make(repo: Repo, stores: Sequence[Layout], ref: str | None, clock: Callable[[], datetime]) -> KnownLine:
    new = _new(repo, stores, ref, clock, line_id())
    apart = fallback_id(new.refs[0], new.born)
    aside = find(stores, apart)
    if _claim(repo, ref, new.id):
        if (
            aside is not None and not aside.dropped
        ):  # what a sandbox recorded while git's config was read-only belongs to us
            new = replace(new, inherits=tuple(dict.fromkeys((InheritedLine(aside.id, None), *aside.inherits))))
    elif aside is not None:
        return aside
    else:
        new = replace(new, id=apart)
        if _has_record(stores, new.id):  # a damaged one, which is not ours to write over
            return replace(new, whole=False)
    save(stores[0], new)
    return new


def mend(repo: Repo, stores: Sequence[Layout], identity: str, clock: Callable[[], datetime]) -> None:
    """Write a line's record again from what git knows, once the damaged one is out of the way."""
    with _making(stores[0]):
        branches = [ref for ref, (configured_id, _) in configured(repo).items() if configured_id == identity]
        if branches and repo.resolve(branches[0]):
            line = _new(repo, stores, branches[0], clock, identity)
        elif _read_detached(repo.git_dir) == identity:
            line = _new(repo, stores, None, clock, identity)
        else:  # its branch is gone; `reconcile` lists what it left under this name
            line = KnownLine(identity, (f"refs/heads/{identity}",), timestamp(clock()), ())
        save(stores[0], line)


def _claim(repo: Repo, ref: str | None, identity: str) -> bool:
    """Say whose line a branch is, or a detached work tree, in whose git folder it is kept and goes with it."""
    if ref is None:
        with contextlib.suppress(ReadOnlyStore):
            fsio.replace(os.path.join(repo.git_dir, DETACHED), identity.encode("ascii") + b"\n")
            return True
    if ref is None or not ref.startswith("refs/heads/"):
        return False
    key = f"branch.{ref[len('refs/heads/') :]}.holdfast"
    return repo.attempt_patiently("config", "--replace-all", key, f"{identity} {ref}").returncode == 0


class _Descent:
    """Follows a new branch back to the lines whose waiting records it takes along."""

    def __init__(self, repo: Repo, lines: dict[str, KnownLine]) -> None:
        self.repo, self.lines = repo, lines
        self.ids = {ref: identity for ref, (identity, _) in configured(repo).items()}
        self.passed: set[str] = set()
        self.done: tuple[tuple[str, str], ...] = ()

    def of(self, ref: str, until: str) -> tuple[InheritedLine, ...]:
        self.passed.add(ref)
        source = reflog.copied(self.repo, ref)
        if source is not None:
            return self.through(reflog.BranchOrigin(source[0]), min(until, source[1].until))
        moment = reflog.birth(self.repo, ref)
        if moment is not None:
            return self.through(reflog.origin(self.repo, ref, moment), min(until, moment.until))
        left = None if self.repo.resolve(ref) else reflog.arrival(self.repo, ref, until)
        return self.through(left[0], min(until, left[1].until)) if left else self.through(None, until)

    def through(self, origin: reflog.BranchOrigin | None, until: str) -> tuple[InheritedLine, ...]:
        """What comes from an origin, and by it from those before."""
        if origin is None:
            trunk = self.repo.trunk() or ""
            trunk = f"refs/heads/{trunk.split('/', 3)[3]}" if trunk.startswith("refs/remotes/") else trunk
            origin = reflog.BranchOrigin(trunk) if trunk else None
        if origin is None or origin.ref in self.passed or len(self.passed) > _GENERATIONS:
            return ()
        line = self.line_at(origin, until)
        if line is not None:
            # What the parent had dealt with before that second is in the child's history as well.
            self.done = tuple((key, ts) for key, ts in line.done if ts < until[:19])
            return chain(line, until)
        return self.of(origin.ref, until) if origin.ref else ()

    def line_at(self, origin: reflog.BranchOrigin, until: str) -> KnownLine | None:
        """The line that an origin was at a moment: not one that took its name later, or left it before."""
        if origin.ref is None:
            return self.lines.get(_read_detached(origin.git_dir or ""))
        moment = reflog.birth(self.repo, origin.ref)
        if moment is None and origin.ref in self.ids:
            return self.lines.get(self.ids[origin.ref])
        fitting = [line for line in self.lines.values() if origin.ref in line.refs and line.created <= until]
        if moment is not None and moment.until <= until:
            fitting = [line for line in fitting if line.born in (moment.born, UNBORN)]
        return max(fitting, key=lambda line: line.created, default=None)


def chain(line: KnownLine, until: str) -> tuple[InheritedLine, ...]:
    """A line up to a moment, and what it sees itself, none of it later than that moment."""
    further = (InheritedLine(i.line, until if i.until is None else min(until, i.until)) for i in line.inherits)
    return (InheritedLine(line.id, until), *further)


def _detached_name(repo: Repo) -> str:
    return _DETACHED_REF + os.path.basename(repo.git_dir)


def _read_detached(git_dir: str) -> str:
    try:
        return fsio.read(os.path.join(git_dir, DETACHED), limit=200).decode("ascii", "replace").strip()
    except (FileNotFoundError, NotADirectoryError, UnsafePath, TooLarge):
        return ""
