"""Lines: a line is the id of a branch's work; it survives a rename and ends when the branch is deleted.

The id is stored in git's own config as `branch.<name>.holdfast = <id> <ref>`: git moves it on rename
and drops it on delete. What a line inherited when its branch was created is kept in the private
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

DETACHED = "holdfast-line"  # the file in a work tree's git folder that names the line of its detached HEAD
UNBORN = ""  # a branch before its first commit has no birth yet
_GENERATIONS = 32  # a guess: parents followed from a new branch; more than people nest, and each reads a reflog
_IDENTITY = regex(r"[0-9A-Za-z][0-9A-Za-z_-]{0,63}")
_NOT_PLAIN = (b"\\", b"\r", b"\0", b"include", b"worktreeconfig")  # continued rows, or values from other files
_DETACHED_REF, DETACHED_NAME = "detached:", "a detached HEAD"


@frozen
class InheritedLine:
    """What a line sees of another line: everything recorded there, or (`until`) up to a moment."""

    line: str
    until: str | None


@frozen
class BranchLine:
    """The identity of one branch, with the records of other branches that are visible on it."""

    id: str
    ref: str | None
    inherits: tuple[InheritedLine, ...] = ()
    done: frozenset[str] = frozenset()  # keys of inherited changes that this line has settled
    whole: bool = True  # False: its record is damaged, and this is what git still knows about it

    def sees(self, line: str, ts: str) -> bool:
        """Returns whether something recorded on `line` at `ts` is visible here."""
        if line == self.id:
            return True
        return any(i.line == line and (i.until is None or ts <= i.until) for i in self.inherits)

    def passed_events_of(self, line: str) -> bool:
        """Returns whether the events inherited from a line are in this line's own history by now."""
        return events_of(line) in self.done

    def limits(self) -> dict[str, str | None]:
        """Returns each line whose changes may wait here, with the moment up to which they are visible; None: all."""
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
    """The record of a line in the private store."""

    id: str
    refs: tuple[str, ...]
    created: str
    inherits: tuple[InheritedLine, ...]
    dropped: bool = False
    born: str | None = None  # the branch's birth, from the start of its reflog; None: the reflog does not show it
    done: tuple[tuple[str, str], ...] = ()  # keys of inherited changes it has settled, and when
    whole: bool = True

    def seen_as(self, ref: str | None) -> BranchLine:
        return BranchLine(self.id, ref, self.inherits, frozenset(key for key, _ in self.done), self.whole)


def called(ref: str) -> str:
    """Returns the name of a line's ref for people: its branch, or "a detached HEAD"."""
    if not ref.startswith(_DETACHED_REF):
        return ref.removeprefix("refs/heads/")
    place = ref.removeprefix(_DETACHED_REF)
    return DETACHED_NAME if place == ".git" else f"{DETACHED_NAME} in {place}"


def events_of(line: str) -> str:
    """Returns the key under which a line records that it has published another line's events."""
    return f"events:{line}"


def all_of(line: str) -> str:
    """Returns the key under which a line records that nothing inherited from another line waits any longer."""
    return f"all:{line}"


def fallback_id(ref: str, born: str | None = None) -> str:
    """Returns the id of a line when git's config cannot be written: a hash of the branch's name and birth."""
    name = f"{ref}\n{born or ''}"  # 12 hexadecimal digits: 48 bits tell one clone's branches apart
    return "ref-" + hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:12]


def known(*stores: Layout) -> dict[str, KnownLine]:
    """Returns every line recorded in these stores, by id; an earlier store takes precedence."""
    found: dict[str, KnownLine] = {}
    for layout in stores:
        for name in layout.listed(layout.lines, ".json"):
            if name[:-5] not in found and (line := find((layout,), name[:-5])):
                found[line.id] = line
    return found


def find(stores: Sequence[Layout], identity: str) -> KnownLine | None:
    """Returns one line by its id; None if its record is missing or damaged."""
    found = (line for layout in stores for line in loose_records.sound(layout, read, [_place(layout, identity)]))
    return next(found, None)


def damaged(layout: Layout) -> Iterator[tuple[str, CorruptLog | FutureFormat]]:
    """Yields the path of every damaged line record, with the reason."""
    return loose_records.damaged(read, (os.path.join(layout.lines, n) for n in layout.listed(layout.lines, ".json")))


def _place(layout: Layout, identity: str) -> str:
    return os.path.join(layout.lines, f"{identity}.json")


def _has_record(stores: Sequence[Layout], identity: str) -> bool:
    """Returns whether a line's record exists, sound or damaged."""
    if not _IDENTITY.fullmatch(identity):
        return False
    blocked = any(os.path.lexists(layout.lines) and not os.path.isdir(layout.lines) for layout in stores)
    return blocked or any(os.path.lexists(_place(layout, identity)) for layout in stores)


def read(path: str) -> KnownLine:
    """Reads the record of one line; raises CorruptLog with the reason if it is damaged."""
    with loose_records.judging(path, " is not a record of a line", missing=loose_records.MISSING):
        line = _parse(json.loads(fsio.read(path, limit=1 << 24)))  # a guess: 16 MiB, far above any real record
        _check(line, os.path.basename(path).removesuffix(".json"))
    return line


def _check(line: KnownLine, name: str) -> None:
    if line.id != name or not _IDENTITY.fullmatch(name):
        raise ValueError(f"it belongs to line {line.id!r}")
    moments = (line.created, *(i.until for i in line.inherits if i.until is not None), *dict(line.done).values())
    words = (*moments, *line.refs, *((line.born,) if line.born is not None else ()))
    if not line.refs or not all(isinstance(word, str) for word in words):
        raise ValueError("its branch or its times are not valid")
    if not all(_IDENTITY.fullmatch(i.line) for i in line.inherits):
        raise ValueError("it inherits from something that is not a line")


def _parse(record: dict[str, Any]) -> KnownLine:
    if not isinstance(record["refs"], list):
        raise TypeError("its branches are not a list")
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
    """Writes the record of a line."""
    record = asdict(line) | {"done": dict(line.done)}
    del record["whole"]  # known only when the record is read
    loose_records.keep(_place(layout, line.id), record)


def pass_by(layout: Layout, identity: str, keys: Sequence[str], *, ts: str) -> None:
    """Records that a line has settled changes it inherited, so that they never wait there again."""
    if not keys:
        return
    with _making(layout):
        line = find((layout,), identity)
        if line is not None:
            save(layout, replace(line, done=tuple({**dict(line.done), **dict.fromkeys(keys, ts)}.items())))


def current(
    repo: Repo, stores: Sequence[Layout], head: Head, clock: Callable[[], datetime], *, reading: bool = False
) -> BranchLine:
    """Returns the line of the work tree, and creates it if there is none; the first store is the writable one.

    With `reading`, nothing is written: the result is the line that would be created.
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
    """Holds a separate lock: a line may be needed while this process or a long publish holds the store's lock."""
    fsio.make_dirs(layout.private)  # 30 s is a guess: the lock is held for one small write and a few git calls
    with fsio.locked(os.path.join(layout.private, "lines.lock"), wait=30.0):
        yield


def configured(repo: Repo) -> dict[str, tuple[str, str]]:
    """Returns each ref that has a line, with (line id, ref name stored with it); the config's last value counts."""
    return {ref: values[-1] for ref, values in _values(repo).items()}


def _values(repo: Repo) -> dict[str, list[tuple[str, str]]]:
    rows = _rows_of_plain_config(repo)
    if rows is None:
        # A dot in git's regular expressions does not match a byte that is not UTF-8, so no dot matches the branch name.
        out = repo.run("config", "--null", "--get-regexp", r"\.holdfast$", ok=(0, 1))
        pairs = (row[len(b"branch.") :].partition(b"\n") for row in out.split(b"\0")[:-1] if row.startswith(b"branch."))
        rows = [(key.removesuffix(b".holdfast"), value) for key, _, value in pairs]
    named = ((f"refs/heads/{os.fsdecode(name)}", os.fsdecode(value).partition(" ")) for name, value in rows)
    return grouped((ref, (identity, name)) for ref, (identity, _, name) in named)


def _rows_of_plain_config(repo: Repo) -> list[tuple[bytes, bytes]] | None:
    """Returns each branch with its line, read from git's config file; None if only git can interpret that file."""
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
    """Returns the ids of lines that still have a branch or a detached work tree."""
    # Split at newlines only: a branch name may contain other characters that `splitlines` would split at.
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
    """Returns whether a line from a sandbox (git's config was read-only) still has its branch or work tree."""
    ref = line.refs[-1]
    if ref not in refs:
        return ref in {_DETACHED_REF + os.path.basename(git_dir) for git_dir in repo.worktrees()}
    moment = reflog.birth(repo, ref)
    return moment is None or line.born in (None, UNBORN, moment.born)


def _lookup(
    repo: Repo, stores: Sequence[Layout], ref: str | None, clock: Callable[[], datetime], *, reading: bool = False
) -> KnownLine | None:
    """Returns the line of a branch or detached work tree; None for a new or copied branch, or a reused name."""
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
            line = replace(line, born=moment.born)  # the branch got its first commit after its first record
            if not reading:
                _keep(stores, line)
        if moment is None or moment.born == line.born:
            return line if named == ref or reading else _renamed(repo, stores, line, ref)
    return None


def _is_copy(repo: Repo, everything: dict[str, list[tuple[str, str]]], ref: str, identity: str, named: str) -> bool:
    """Returns whether `git branch -c` made a branch: the original exists, or the reflog shows the copy."""
    if repo.resolve(named) and identity in (value for value, _ in everything.get(named, [])):
        return True
    source = reflog.copied(repo, ref)
    return source is not None and source[0] == named


def _keep(stores: Sequence[Layout], line: KnownLine) -> None:
    with contextlib.suppress(ReadOnlyStore):  # nothing is lost: the next command that can write saves it
        save(stores[0], line)


def _renamed(repo: Repo, stores: Sequence[Layout], line: KnownLine, ref: str) -> KnownLine:
    moved = replace(line, refs=(*line.refs, ref))
    if _claim(repo, ref, line.id):
        _keep(stores, moved)
    return moved


_Clock = Callable[[], datetime]


def _new(repo: Repo, stores: Sequence[Layout], ref: str | None, clock: _Clock, identity: str) -> KnownLine:
    """Builds a line from git's records: when its branch was created and from which; or where HEAD was before."""
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
        # What a sandbox recorded for this branch while git's config was read-only belongs to this line.
        if aside is not None and not aside.dropped:
            new = replace(new, inherits=tuple(dict.fromkeys((InheritedLine(aside.id, None), *aside.inherits))))
    elif aside is not None:
        return aside
    else:
        new = replace(new, id=apart)
        if _has_record(stores, new.id):  # a damaged one: only `doctor` may overwrite it
            return replace(new, whole=False)
    save(stores[0], new)
    return new


def mend(repo: Repo, stores: Sequence[Layout], identity: str, clock: Callable[[], datetime]) -> None:
    """Rewrites a line's record from what git knows, after the damaged record was moved away."""
    with _making(stores[0]):
        branches = [ref for ref, (configured_id, _) in configured(repo).items() if configured_id == identity]
        if branches and repo.resolve(branches[0]):
            line = _new(repo, stores, branches[0], clock, identity)
        elif _read_detached(repo.git_dir) == identity:
            line = _new(repo, stores, None, clock, identity)
        else:  # its branch is gone; `reconcile` lists its records under this name
            line = KnownLine(identity, (f"refs/heads/{identity}",), timestamp(clock()), ())
        save(stores[0], line)


def _claim(repo: Repo, ref: str | None, identity: str) -> bool:
    """Stores the id in git's config, or in the git folder of a detached work tree; returns whether that worked."""
    if ref is None:
        with contextlib.suppress(ReadOnlyStore):
            fsio.replace(os.path.join(repo.git_dir, DETACHED), identity.encode("ascii") + b"\n")
            return True
    if ref is None or not ref.startswith("refs/heads/"):
        return False
    key = f"branch.{ref[len('refs/heads/') :]}.holdfast"
    return repo.attempt_patiently("config", "--replace-all", key, f"{identity} {ref}").returncode == 0


class _Descent:
    """Follows a new branch back to the lines whose waiting records it inherits."""

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
        """Returns what is inherited from an origin and, through it, from its own origins."""
        if origin is None:
            trunk = self.repo.trunk() or ""
            trunk = f"refs/heads/{trunk.split('/', 3)[3]}" if trunk.startswith("refs/remotes/") else trunk
            origin = reflog.BranchOrigin(trunk) if trunk else None
        if origin is None or origin.ref in self.passed or len(self.passed) > _GENERATIONS:
            return ()
        line = self.line_at(origin, until)
        if line is not None:
            # What the parent had settled before that second is in the child's history as well.
            self.done = tuple((key, ts) for key, ts in line.done if ts < until[:19])
            return chain(line, until)
        return self.of(origin.ref, until) if origin.ref else ()

    def line_at(self, origin: reflog.BranchOrigin, until: str) -> KnownLine | None:
        """Returns the line that an origin had at a moment: not one that used the name before or after."""
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
    """Returns a line and the lines it inherits, each visible up to that moment at most."""
    further = (InheritedLine(i.line, until if i.until is None else min(until, i.until)) for i in line.inherits)
    return (InheritedLine(line.id, until), *further)


def _detached_name(repo: Repo) -> str:
    return _DETACHED_REF + os.path.basename(repo.git_dir)


def _read_detached(git_dir: str) -> str:
    try:
        return fsio.read(os.path.join(git_dir, DETACHED), limit=200).decode("ascii", "replace").strip()
    except (FileNotFoundError, NotADirectoryError, UnsafePath, TooLarge):
        return ""
