"""Claims: who works on what, live in all work trees of this clone.

One small file a claim in the private store, which all work trees share. Whoever looks and then writes
holds the folder's lock, so two agents never get the same task. A claim ends by itself when its time is
over: nobody has to clean up after an agent that was killed. What a claim means for a task's status is
`task_lifecycle`'s work.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from holdfast.errors import BadInput, Claimed, HoldfastError, TooLarge, UnsafePath
from holdfast.model.evidence import is_oid
from holdfast.model.ids import is_id
from holdfast.patterns import regex
from holdfast.store import fsio
from holdfast.store.layout import Layout
from holdfast.values import asdict, fields, frozen, replace

MAX_CLAIM = 1 << 20  # bytes; a guess: a claim has a few lines
MAX_COMMITS = 1000  # a claim keeps the newest
_LOCK = "claims.lock"
_TS = regex(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)
_USUAL = regex(r"[A-Z]+-[0-9a-z]+")


@frozen(kw_only=True)
class TaskClaim:
    """Somebody's word that they work on a task, until a moment."""

    task: str
    owner: str
    session: str | None
    line: str
    branch: str | None
    worktree: str
    head: str | None
    ts: str
    until: str
    commits: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not is_id(self.task):
            raise BadInput(f"{self.task!r} is not a task's id")
        if not _TS.fullmatch(self.ts) or not _TS.fullmatch(self.until):
            raise BadInput("a claim's times are no such thing")
        if not all(map(is_oid, self.commits)):
            raise BadInput("a claim's commits are not named by their full ids")

    def is_live(self, now: str) -> bool:
        """Whether it still holds; the very moment of its end counts as over."""
        return now < self.until

    def is_by(self, other: "TaskClaim") -> bool:
        """Whether both are of the same holder; where one names no session, the work tree tells.

        Who claims a task first and opens a session for it then is the same still.
        """
        if self.session is not None and other.session is not None:
            return (self.owner, self.session) == (other.owner, other.session)
        return (self.owner, self.worktree) == (other.owner, other.worktree)


def live(layout: Layout, now: str) -> dict[str, TaskClaim]:
    """The claims that hold now, by task; a damaged one is left out and said."""
    return {claim.task: claim for claim in every(layout) if claim.is_live(now)}


def every(layout: Layout) -> Iterator[TaskClaim]:
    """All claims, also those whose time is over."""
    for name in layout.listed(layout.claims):
        if name.endswith(".json") and (claim := _read(layout, name)) is not None:
            yield claim


def find(layout: Layout, task: str) -> TaskClaim | None:
    """The last claim on a task, also if its time is over."""
    return _read(layout, _name(task)) if is_id(task) else None


def take(layout: Layout, claim: TaskClaim, *, now: str) -> TaskClaim:
    """Claim a task, durable on return; Claimed if somebody else has it.

    Taking one's own again renews it: since when, from which commit and what was committed meanwhile
    stay, the rest is as given.
    """
    with _locked(layout):
        before = find(layout, claim.task)
        if before is not None and before.is_by(claim):
            kept = tuple(dict.fromkeys((*before.commits, *claim.commits)))
            claim = replace(claim, ts=before.ts, head=before.head, commits=kept[-MAX_COMMITS:])
        elif before is not None and before.is_live(now):
            where = f" on {before.branch}" if before.branch else ""
            raise Claimed(f"{before.task} is claimed by {before.owner}{where} until {before.until[:19]}Z")
        return _write(layout, claim)


def try_take(layout: Layout, claim: TaskClaim, *, now: str) -> TaskClaim | None:
    """Claim a task that nobody has, not even oneself; None if somebody does.

    Agents that go by the same name and in no session cannot be told apart: asked for something to do,
    each must get a task of its own.
    """
    with _locked(layout):
        before = find(layout, claim.task)
        return None if before is not None and before.is_live(now) else _write(layout, claim)


def release(layout: Layout, task: str, *, owner: str | None = None) -> TaskClaim | None:
    """Give a task free, and say who had it; with `owner`, only if it is theirs."""
    if not is_id(task) or not os.path.lexists(_path(layout, task)):
        return None
    with _locked(layout):
        before = find(layout, task)
        if owner is not None and (before is None or before.owner != owner):
            return None
        fsio.remove(_path(layout, task))
        return before


def add_commit(layout: Layout, task: str, oid: str) -> TaskClaim | None:
    """Note a commit that was made while a task was claimed; None if it is not."""
    if find(layout, task) is None:
        return None
    with _locked(layout):
        claim = find(layout, task)
        if claim is None or oid in claim.commits:
            return claim
        return _write(layout, replace(claim, commits=(*claim.commits, oid)[-MAX_COMMITS:]))


def sweep(layout: Layout, *, before: str) -> list[TaskClaim]:
    """Remove the claims whose time was over before a moment; those that were there."""
    with _locked(layout):
        gone = [claim for claim in every(layout) if claim.until < before]
        for claim in gone:
            fsio.remove(_path(layout, claim.task))
    return gone


@contextmanager
def _locked(layout: Layout) -> Iterator[None]:
    fsio.make_dirs(layout.claims)
    with fsio.locked(os.path.join(layout.claims, _LOCK)):
        yield


def _name(task: str) -> str:
    """A claim's file name; ids that differ only in case get names that differ in more.

    Where a file system ignores case, TSK-a and tsk-A would otherwise be one claim.
    """
    if _USUAL.fullmatch(task):
        return f"{task}.json"
    return f"{task}~{hashlib.sha256(task.encode()).hexdigest()[:16]}.json"


def _path(layout: Layout, task: str) -> str:
    return os.path.join(layout.claims, _name(task))


def _write(layout: Layout, claim: TaskClaim) -> TaskClaim:
    data = json.dumps(asdict(claim), ensure_ascii=False).encode("utf-8", "replace")
    fsio.replace(_path(layout, claim.task), data + b"\n")
    return claim


def _read(layout: Layout, name: str) -> TaskClaim | None:
    path = os.path.join(layout.claims, name)
    try:
        claim = _parse(json.loads(fsio.read(path, limit=MAX_CLAIM)))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, TypeError, KeyError, RecursionError, OSError, BadInput, UnsafePath, TooLarge) as error:
        said = str(error) if isinstance(error, HoldfastError) else type(error).__name__
        layout.leave_out(f"{path} is no claim: {said}")
        return None
    if _name(claim.task) != name:
        layout.leave_out(f"{path} is no claim: it is about {claim.task}")
        return None
    return claim


def _parse(record: Any) -> TaskClaim:
    """The claim that a record holds; fields of a later version are left out."""
    values = {field.name: record[field.name] for field in fields(TaskClaim) if field.name in record}
    maybe = {name: values.setdefault(name, None) for name in ("session", "branch", "head")}
    for name in ("task", "owner", "line", "worktree", "ts", "until", *maybe):
        if not isinstance(values[name], str) and (name not in maybe or values[name] is not None):
            raise BadInput(f"its {name} is no text")
    commits = values.get("commits", [])
    if not isinstance(commits, list) or not all(isinstance(oid, str) for oid in commits):
        raise BadInput("its commits are no list")
    return TaskClaim(**{**values, "commits": tuple(commits)})
