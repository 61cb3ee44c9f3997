"""Lines: a branch's identity, which survives a rename and ends with a delete.

The id is kept in git's own config as `branch.<name>.holdfast = <id> <ref>`: git itself moves it on
rename and drops it on delete. What a line inherited when it branched off is kept in the private
store, because reflogs expire.
"""

import hashlib
import json
import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from holdfast.errors import CorruptLog, ReadOnlyStore
from holdfast.git.repo import Head, Repo
from holdfast.model.event import timestamp
from holdfast.model.ids import line_id
from holdfast.store import fsio
from holdfast.store.layout import Layout

DETACHED = "holdfast-line"
_MOVED = re.compile(r"checkout: moving from (.+) to (.+)")
_CREATED = re.compile(r"branch: Created from (.+)")


@dataclass(frozen=True, slots=True)
class Inherit:
    """What a line sees of another: everything recorded there up to a moment, or all of it."""

    line: str
    until: str | None


@dataclass(frozen=True, slots=True)
class Line:
    """One branch's identity and what it may see besides its own records."""

    id: str
    ref: str | None
    inherits: tuple[Inherit, ...] = ()

    def sees(self, line: str, ts: str) -> bool:
        """Whether something recorded on `line` at `ts` is visible here."""
        if line == self.id:
            return True
        return any(i.line == line and (i.until is None or ts <= i.until) for i in self.inherits)


@dataclass(frozen=True, slots=True)
class Known:
    """A line as the private store remembers it."""

    id: str
    refs: tuple[str, ...]
    created: str
    inherits: tuple[Inherit, ...]
    dropped: bool = False


def fallback_id(ref: str) -> str:
    """The id of a line whose config cannot be written: it follows from the ref's name."""
    return "ref-" + hashlib.sha256(ref.encode("utf-8", "surrogateescape")).hexdigest()[:12]


def known(layout: Layout) -> dict[str, Known]:
    """Every line this clone has seen."""
    try:
        names = sorted(name for name in os.listdir(layout.lines) if name.endswith(".json"))
    except FileNotFoundError:
        return {}
    return {name[:-5]: _load(os.path.join(layout.lines, name)) for name in names}


def _load(path: str) -> Known:
    try:
        record = json.loads(fsio.read(path, limit=1 << 20))
        inherits = tuple(Inherit(i["line"], i["until"]) for i in record["inherits"])
        return Known(
            record["id"], tuple(record["refs"]), record["created"], inherits, record.get("dropped", False)
        )
    except (ValueError, KeyError, TypeError) as error:
        raise CorruptLog(f"{path} is not a record of a line: {error}") from error


def save(layout: Layout, line: Known) -> None:
    """Remember a line."""
    fsio.make_dirs(layout.lines)
    record = {
        "id": line.id,
        "refs": list(line.refs),
        "created": line.created,
        "inherits": [{"line": i.line, "until": i.until} for i in line.inherits],
        "dropped": line.dropped,
    }
    data = json.dumps(record, ensure_ascii=False, indent=1).encode("utf-8", "surrogateescape")
    fsio.replace(os.path.join(layout.lines, f"{line.id}.json"), data + b"\n")


def current(repo: Repo, layout: Layout, head: Head, clock: Callable[[], datetime]) -> Line:
    """The line of the work tree, made on first sight."""
    ref = head.ref or repo.rebasing()
    line = _detached(repo, layout, clock) if ref is None else _of_branch(repo, layout, ref, clock)
    if ref is not None and line.id != fallback_id(ref):
        # What a sandbox recorded here while git's config was read-only belongs to us.
        return Line(line.id, ref, (*line.inherits, Inherit(fallback_id(ref), None)))
    return line


def configured(repo: Repo) -> dict[str, tuple[str, str]]:
    """Ref to (line id, ref name stored with it) for every branch that has a line; the last value counts."""
    out = repo.run("config", "--null", "--get-regexp", r"^branch\..*\.holdfast$", ok=(0, 1))
    found = {}
    for row in out.split(b"\0")[:-1]:
        key, _, value = os.fsdecode(row).partition("\n")
        identity, _, ref = value.partition(" ")
        found["refs/heads/" + key[len("branch.") : -len(".holdfast")]] = (identity, ref)
    return found


def alive(repo: Repo) -> set[str]:
    """The ids of lines that still have a branch or a detached work tree."""
    living = {identity for ref, (identity, _) in configured(repo).items() if repo.resolve(ref)}
    head = repo.head().ref
    if head and head in (here := configured(repo)):
        living.add(here[head][0])  # a branch before its first commit
    for git_dir in repo.worktrees():
        identity = _read_detached(git_dir)
        if identity:
            living.add(identity)
    return living


def _of_branch(repo: Repo, layout: Layout, ref: str, clock: Callable[[], datetime]) -> Line:
    found = _lookup(repo, layout, ref)
    if found is None:
        try:
            with fsio.locked(layout.lock):
                found = _lookup(repo, layout, ref) or _make(repo, layout, ref, clock)
        except ReadOnlyStore:
            return Line(fallback_id(ref), ref)
    return Line(found.id, ref, found.inherits)


def _lookup(repo: Repo, layout: Layout, ref: str) -> Known | None:
    """The line of a branch, unless it is new, a copy, or another branch under an old name."""
    everything = configured(repo)
    identity, named = everything.get(ref, ("", ""))
    if not identity:
        return None
    line = known(layout).get(identity)
    if line is None:
        return None
    if named != ref:
        if everything.get(named, ("", ""))[0] == identity and repo.resolve(named):
            return None  # `git branch -c`: the original is alive, so this is a new line
        return _renamed(repo, layout, line, ref)
    return None if _born_later(repo, ref, line) else line


def _renamed(repo: Repo, layout: Layout, line: Known, ref: str) -> Known:
    moved = Known(line.id, (*line.refs, ref), line.created, line.inherits, line.dropped)
    with_config = _set_config(repo, ref, line.id)
    if with_config:
        save(layout, moved)
    return moved


def _born_later(repo: Repo, ref: str, line: Known) -> bool:
    """A branch whose reflog begins after its line did is another branch of the same name."""
    entries = _reflog(repo.common_dir, ref)
    if not entries or not entries[0].begins:
        return False
    return entries[0].time > int(datetime.fromisoformat(line.created).timestamp()) + 1


def _make(repo: Repo, layout: Layout, ref: str, clock: Callable[[], datetime]) -> Known:
    now = timestamp(clock())
    new = Known(line_id(), (ref,), now, _inheritance(repo, layout, ref, now))
    save(layout, new)
    if not _set_config(repo, ref, new.id):
        return Known(fallback_id(ref), (ref,), now, new.inherits)
    return new


def _set_config(repo: Repo, ref: str, identity: str) -> bool:
    key = f"branch.{ref[len('refs/heads/') :]}.holdfast"
    for _ in range(40):
        done = repo.attempt("config", "--replace-all", key, f"{identity} {ref}", write=True)
        if done.returncode == 0:
            return True
        if b"lock" not in done.stderr or b"denied" in done.stderr or b"Read-only" in done.stderr:
            return False
        time.sleep(0.05)  # somebody else is writing git's config
    return False


@dataclass(frozen=True, slots=True)
class _Moment:
    time: int
    begins: bool  # the first entry of a ref: nothing was there before
    message: str


def _reflog(folder: str, ref: str) -> list[_Moment]:
    try:
        with open(
            os.path.join(folder, "logs", *ref.split("/")), encoding="utf-8", errors="surrogateescape"
        ) as file:
            rows = file.read().split("\n")[:-1]
    except OSError:
        return []
    moments = []
    for row in rows:
        facts, _, message = row.partition("\t")
        words = facts.rsplit(" ", 2)
        if len(words) == 3 and words[1].isdigit():
            moments.append(_Moment(int(words[1]), set(row.split(" ", 1)[0]) == {"0"}, message))
    return moments


def _inheritance(repo: Repo, layout: Layout, ref: str, now: str) -> tuple[Inherit, ...]:
    """What a new branch takes along: what its parent had waiting when it was created."""
    entries = _reflog(repo.common_dir, ref)
    born = entries[0].time if entries and entries[0].begins else None
    until = now if born is None else f"{datetime.fromtimestamp(born, UTC):%Y-%m-%dT%H:%M:%S}.999999Z"
    parent = _parent(repo, ref, entries, born)
    lines = known(layout)
    identity = _line_named(repo, lines, parent) if parent else None
    if identity is None or identity not in lines:
        return ()
    chain = [Inherit(identity, until)]
    for inherit in lines[identity].inherits:
        chain.append(Inherit(inherit.line, until if inherit.until is None else min(until, inherit.until)))
    return tuple(chain)


def _parent(repo: Repo, ref: str, entries: list[_Moment], born: int | None) -> str | None:
    """The ref a branch was created from: where HEAD was, else what its reflog says, else trunk."""
    name = ref[len("refs/heads/") :]
    if born is not None:
        origin = _left_behind(repo, name, born) or _created_from(repo, entries[0].message, born)
        if origin and origin != ref:
            return origin
    trunk = repo.trunk()
    if trunk and trunk.startswith("refs/remotes/"):
        trunk = "refs/heads/" + trunk.split("/", 3)[3]
    return trunk if trunk != ref else None


def _left_behind(repo: Repo, name: str, born: int) -> str | None:
    """`git switch -c`: the branch HEAD left for the new one at the moment it was made."""
    for git_dir in repo.worktrees():
        for moment in _reflog(git_dir, "HEAD"):
            moved = _MOVED.fullmatch(moment.message)
            if moved and moved[2] == name and abs(moment.time - born) <= 1:
                return "refs/heads/" + moved[1]
    return None


def _created_from(repo: Repo, message: str, born: int) -> str | None:
    created = _CREATED.fullmatch(message)
    if created is None:
        return None
    origin = created[1]
    if origin == "HEAD":
        return _branch_at(repo, born)
    return origin if origin.startswith("refs/") else "refs/heads/" + origin


def _branch_at(repo: Repo, moment: int) -> str | None:
    """The branch this work tree was on at a moment, by its reflog."""
    moves = [
        m
        for entry in _reflog(repo.git_dir, "HEAD")
        if (m := _MOVED.fullmatch(entry.message)) and entry.time <= moment
    ]
    if moves:
        return "refs/heads/" + moves[-1][2]
    later = [m for entry in _reflog(repo.git_dir, "HEAD") if (m := _MOVED.fullmatch(entry.message))]
    return "refs/heads/" + later[0][1] if later else repo.head().ref


def _line_named(repo: Repo, lines: dict[str, Known], ref: str) -> str | None:
    """The line of a ref, also by a name it had before."""
    identity = configured(repo).get(ref, ("", ""))[0]
    if identity in lines:
        return identity
    former = [line for line in lines.values() if ref in line.refs]
    return max(former, key=lambda line: line.created).id if former else None


def _detached(repo: Repo, layout: Layout, clock: Callable[[], datetime]) -> Line:
    """A detached work tree keeps its line in its own git folder, and it goes with it."""
    identity = _read_detached(repo.git_dir)
    lines = known(layout)
    if identity in lines:
        return Line(lines[identity].id, None, lines[identity].inherits)
    with fsio.locked(layout.lock):
        now = timestamp(clock())
        moves = [m for entry in _reflog(repo.git_dir, "HEAD") if (m := _MOVED.fullmatch(entry.message))]
        parent = _line_named(repo, lines, "refs/heads/" + moves[-1][1]) if moves else None
        inherits = (Inherit(parent, now), *lines[parent].inherits) if parent in lines else ()
        new = Known(line_id(), (f"detached:{os.path.basename(repo.git_dir)}",), now, inherits)
        save(layout, new)
        fsio.replace(os.path.join(repo.git_dir, DETACHED), new.id.encode() + b"\n")
    return Line(new.id, None, new.inherits)


def _read_detached(git_dir: str) -> str:
    try:
        return fsio.read(os.path.join(git_dir, DETACHED), limit=200).decode("ascii", "replace").strip()
    except FileNotFoundError:
        return ""
