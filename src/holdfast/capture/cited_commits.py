"""Commits that tasks, links, sessions and facts cite: where each is now, and citing the new one.

Finding is `git.cited_commits.commit_anchors`' business: the right commit or none. A task is rewritten by a change that
waits like any other; a session keeps its old names as `was`; a fact is never rewritten, because somebody
approved its words: it is only shown where its evidence is now.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.errors import BrokenEntry
from holdfast.git import file_entries
from holdfast.git.cited_commits import commit_anchors, commit_details
from holdfast.git.clone import Clone
from holdfast.model.session import Session
from holdfast.model.task import Checkpoint, Task
from holdfast.store import layout as paths
from holdfast.store import session_files
from holdfast.values import dict_of, frozen, replace
from holdfast.work import task_board as boards

_COMMIT = "commit:"


@frozen
class DisplacedCommit:
    """A commit that something cites and that is no longer where it was."""

    kind: str  # task, checkpoint, link, session or memory
    id: str
    old: str
    new: str | None
    state: str  # moved, unanchored or unknown
    how: str


@frozen
class ReanchoredCitations:
    """What cites other commits now."""

    tasks: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    left: tuple[str, ...] = ()  # tasks in conflict: settled first


def displaced(clone: Clone, board: boards.Board) -> list[DisplacedCommit]:
    """Every citation of a commit that moved or cannot be found."""
    named = list(dict.fromkeys(_citations(clone, board)))
    where = commit_anchors.resolve(clone, (oid for _, _, oid in named))
    return [
        DisplacedCommit(kind, identity, oid, where[oid].commit, where[oid].state, where[oid].how)
        for kind, identity, oid in named
        if where[oid].state != "holds"
    ]


def _citations(clone: Clone, board: boards.Board) -> Iterator[tuple[str, str, str]]:
    for task in board.tasks:
        yield from (("task", task.id, oid) for oid in _commits(task.evidence))
        if task.checkpoint is not None:
            yield "checkpoint", task.id, task.checkpoint.commit
    for link, _ in boards.links(clone)[0].values():
        if link.kind == "commit":
            yield "link", link.id, link.target
    for session in session_files.everywhere(clone.stores):
        yield from (("session", session.id, oid) for oid in session.commits)
    for one in file_entries.placed(clone.repo, clone.entries(paths.MEMORY)):
        try:
            memory = one.parse()
        except BrokenEntry:  # named by `facts` and `doctor`
            continue
        yield from (("memory", memory.id, oid) for oid in _commits(memory.evidence))


def _commits(evidence: tuple[str, ...]) -> Iterator[str]:
    return (text[len(_COMMIT) :] for text in evidence if text.startswith(_COMMIT))


def reanchor(clone: Clone) -> ReanchoredCitations:
    """Let tasks and sessions cite the commits that theirs became; what is unanchored stays as it is."""
    board = boards.read(clone)
    moved = [cite for cite in displaced(clone, board) if cite.state == "moved"]
    became = {cite.old: cite.new for cite in moved if cite.new}
    commit_anchors.keep(clone, became.values())
    tasks, left = [], []
    for identity in dict.fromkeys(cite.id for cite in moved if cite.kind in ("task", "checkpoint")):
        placed = board.placed[identity]
        if placed.clash is not None:
            left.append(identity)
            continue
        names = {cite.old: cite.new for cite in moved if cite.id == identity}
        fresh = _followed(clone, placed.task, became)
        boards.replace_with(clone, board, fresh, action="edit", more={"moved": names})
        tasks.append(identity)
    changed = [s.id for s in session_files.all(clone.layout) if follow(clone, s, became)]
    return ReanchoredCitations(tuple(tasks), tuple(changed), tuple(left))


def _followed(clone: Clone, task: Task, became: Mapping[str, str]) -> Task:
    """A task that cites what its commits became."""
    names = {_COMMIT + old: _COMMIT + new for old, new in became.items()}
    cited = [names.get(text, text) for text in task.evidence]
    checkpoint = task.checkpoint
    if checkpoint is not None and checkpoint.commit in became:
        new = became[checkpoint.commit]
        tree = clone.repo.text("rev-parse", f"{new}^{{tree}}")
        checkpoint = Checkpoint(commit=new, tree=tree, patch_id=commit_details.patch_id(clone.repo, new))
    return replace(task, evidence=tuple(dict.fromkeys(cited)), checkpoint=checkpoint)


def follow(clone: Clone, session: Session, became: Mapping[str, str]) -> bool:
    """Let a session name what its commits became, the old names kept; whether it named one of them."""
    if not any(oid in became for oid in session.commits):
        return False
    session_files.update(clone.layout, session.id, lambda now: renamed(now, became))
    return True


def renamed(session: Session, became: Mapping[str, str]) -> Session:
    """A session with commits under their new names; `was` keeps the old ones."""
    old = [oid for oid in session.commits if oid in became]
    extra: dict[str, Any] = dict(session.extra)
    extra["was"] = {**dict_of(extra.get("was")), **{oid: became[oid] for oid in old}}
    turns = tuple(replace(turn, commits=_each(turn.commits, became)) for turn in session.turns)
    return replace(session, commits=_each(session.commits, became), turns=turns, extra=tuple(extra.items()))


def _each(oids: tuple[str, ...], became: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(became.get(oid, oid) for oid in oids))
