"""Reconciling: what git moved, what of ours it concerns, and the three answers to it.

A session that was left on another branch can be forked (it stays open there, and its open items are copied
here), carried (it ends there and goes on here) or dropped (it ends). After a rewind the changes that waited
at lost commits can be carried (they stay) or dropped (they are set aside, and still found). Nothing is
chosen silently. Choosing also lets tasks and sessions cite what their commits became.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from holdfast.capture import citing, session, whereabouts
from holdfast.capture.citing import Cited, Reanchored
from holdfast.errors import Ambiguous, BadInput, BrokenEntry, Claimed, NotFound
from holdfast.git import lines, reconcile
from holdfast.git.clone import Clone
from holdfast.git.disputed import conflicts
from holdfast.git.disputed.sides import Conflict
from holdfast.git.moved import idle, moves, rewinds
from holdfast.git.moved.idle import Idle
from holdfast.git.moved.moves import Move, Moves
from holdfast.git.moved.rewinds import SetAside
from holdfast.git.reconcile import Gone, Orphan
from holdfast.model import session as rules
from holdfast.model.event import Draft
from holdfast.model.session import MAX_NAMES, PREFIX, Session
from holdfast.store import layout as paths
from holdfast.store import sessions, tasks
from holdfast.store.pending import Change
from holdfast.work import board as boards
from holdfast.work import claims, elsewhere
from holdfast.work.board import Board
from holdfast.work.claims import Claim

SETTLED = "settled"  # the lines for which somebody decided about a session
_MOST_LINKS = 100


@dataclass(frozen=True, slots=True)
class Adrift:
    """An open session that is not where this work tree is."""

    session: Session
    why: str
    left: bool  # by this work tree, when it changed branches: fork, carry or drop


@dataclass(frozen=True, slots=True)
class Stray:
    """A task that was being worked on where nobody is any more."""

    task: str
    title: str
    owner: str | None
    branch: str | None
    why: str


@dataclass(frozen=True, slots=True)
class Across:
    """A task that needs, or is part of, a node which lives on other branches only."""

    task: str
    node: str
    branches: tuple[str, ...]  # none: nobody here knows it


@dataclass(frozen=True, slots=True)
class Report:
    """All that reconcile has to tell."""

    moves: tuple[Move, ...]
    under_way: str | None
    gone: tuple[Gone, ...]
    orphans: tuple[Orphan, ...]
    sessions: tuple[Adrift, ...]
    tasks: tuple[Stray, ...]
    stranded: tuple[Change, ...]
    cited: tuple[Cited, ...]
    branches: tuple[Idle, ...]
    links: tuple[Across, ...]
    conflicts: tuple[Conflict, ...]

    @property
    def asks(self) -> bool:
        """Whether somebody has to choose."""
        return bool(self.stranded or any(one.left for one in self.sessions))


@dataclass(frozen=True, slots=True)
class Choice:
    """What was done about it."""

    action: str  # fork, carry, drop or apply
    old: Session | None = None
    new: Session | None = None
    stay: tuple[Change, ...] = ()
    aside: tuple[SetAside, ...] = ()
    reanchored: Reanchored = field(default_factory=Reanchored)


def examine(clone: Clone, found: Moves, *, trunk: str | None = None) -> Report:
    """What moved since the last reconcile, and everything that it left in question.

    While git is in the middle of something, commits come and go: what became of them is not asked then.
    """
    board, history, settled = boards.read(clone), reconcile.examine(clone), not found.under_way
    return Report(
        moves=found.waiting,
        under_way=found.under_way,
        gone=history.gone,
        orphans=history.orphans,
        sessions=tuple(adrift(clone)),
        tasks=tuple(_strays(clone, board, history.orphans)),
        stranded=tuple(rewinds.stranded(clone)),
        cited=tuple(citing.displaced(clone, board)) if settled else (),
        branches=tuple(idle.branches(clone, trunk=trunk)),
        links=tuple(_across(clone, board)),
        conflicts=tuple(_conflicts(clone, found) if settled else conflicts.find(clone)),
    )


def _conflicts(clone: Clone, found: Moves) -> list[Conflict]:
    """What two sides say differently, and what the merges that were just made decided against one side."""
    there = conflicts.find(clone)
    merges = [move.before for move in found.waiting if move.kind in ("merge", "forward") and move.before]
    told = {conflict.path for conflict in there}
    more = conflicts.overruled(clone, since=merges[0]) if merges else []
    return [*there, *(conflict for conflict in more if conflict.path not in told)]


def told(clone: Clone) -> None:
    """The moves that waited were told."""
    moves.told(clone)


# What is adrift.


def adrift(clone: Clone) -> list[Adrift]:
    """The open sessions that this work tree left, those whose branch or work tree is gone, and stale ones."""
    mine = _left(clone)
    found = [Adrift(one, f"is open on {one.branch or lines.DETACHED_NAME}", left=True) for one in mine]
    named = {one.id for one in mine}
    old = [one for one in whereabouts.stale(clone) if one.session.id not in named]
    return [*found, *(Adrift(one.session, one.why, left=False) for one in old)]


def _left(clone: Clone) -> list[Session]:
    """The sessions this work tree was busy with on other lines, last updated first."""
    line, place = clone.line().id, whereabouts.worktree_of(clone)
    limit = clone.clock() - timedelta(days=whereabouts.STALE_DAYS)
    there = [one for one in sessions.opened(clone.layout, worktree=place) if one.line != line]
    recent = [one for one in there if datetime.fromisoformat(one.updated.ts) >= limit]
    return [one for one in reversed(recent) if line not in _settled(one)]


def _settled(one: Session) -> list[str]:
    value = dict(one.extra).get(SETTLED)
    return value if isinstance(value, list) else []


def _strays(clone: Clone, board: Board, orphans: Iterable[Orphan]) -> list[Stray]:
    """Tasks claimed on lines or in work trees that are gone, and tasks that orphans say were started."""
    living = lines.alive(clone.repo, *clone.stores) | {clone.line().id}
    trees = {".", *(os.path.basename(path) for path in clone.repo.worktrees()[1:])}
    found = []
    for claim in claims.live(clone.layout, clone.now()).values():
        if claim.line not in living:
            why = f"claimed on {claim.branch or lines.DETACHED_NAME}, which is gone"
        elif claim.worktree not in trees:
            why = f"claimed in the work tree {claim.worktree}, which is gone"
        else:
            continue
        placed = board.placed.get(claim.task)
        found.append(Stray(claim.task, placed.task.title if placed else "", claim.owner, claim.branch, why))
    named = {stray.task for stray in found}
    return [*found, *(s for orphan in orphans for s in _started(orphan) if s.task not in named)]


def _started(orphan: Orphan) -> list[Stray]:
    found = []
    for change in orphan.changes:
        if change.path.startswith(f"{paths.TASKS}/") and change.text is not None:
            try:
                task = tasks.parse(change.text, change.path)
            except BrokenEntry:
                continue
            if task.status == "started":
                why = f"started on {orphan.name}, which is gone"
                found.append(Stray(task.id, task.title, task.owner, orphan.name, why))
    return found


def _across(clone: Clone, board: Board) -> list[Across]:
    """The edges that leave this branch; they are kept, and found again where the other branch is."""
    edges = [
        (task.id, node)
        for task in board.tasks
        for node in (*task.needs, task.parent)
        if node is not None and node not in board.placed
    ][:_MOST_LINKS]
    where = {node: tuple(elsewhere.branches_with(clone, node)) for node in {node for _, node in edges}}
    return [Across(task, node, where[node]) for task, node in edges]


def needed(clone: Clone) -> list[str]:
    """Why somebody should reconcile, in a few words each; nothing: there is nothing to choose."""
    found = [f"{one.session.id} {one.why}" for one in adrift(clone) if one.left]
    if late := rewinds.stranded(clone):
        what = "1 change waits" if len(late) == 1 else f"{len(late):,} changes wait"
        found.append(f"{what} here that came after this point of history")
    return found


# The three answers, and none.


def is_session(named: str | None) -> bool:
    """Whether a name after an option is a session's; else it is a lost line's."""
    return named is None or named.upper().startswith(f"{PREFIX}-")


def fork(clone: Clone, named: str | None = None) -> Choice:
    """Go on here with copies of what is open in the session that was left; that one stays open there."""
    _refuse_midway(clone)
    old = _chosen(clone, named)
    new = _go_on(clone, old)
    old = sessions.update(clone.layout, old.id, lambda one: _linked_to(clone, one, new))
    _record(clone, new, "fork", f"goes on from {old.id}, which stays open")
    return Choice("fork", old, new, reanchored=citing.reanchor(clone))


def carry(clone: Clone, named: str | None = None) -> Choice:
    """Move what is open here: the session that was left ends and goes on here; waiting changes stay."""
    _refuse_midway(clone)
    stay = tuple(rewinds.stranded(clone)) if named is None else ()
    left = _left(clone)
    if not left and stay and named is None:
        rewinds.let_stay(clone, list(stay))
        return Choice("carry", stay=stay, reanchored=citing.reanchor(clone))
    old = _chosen(clone, named)
    new = _go_on(clone, old)
    sessions.update(clone.layout, old.id, lambda one: _linked_to(clone, one, new))
    ended = session.end(clone, session=old.id, reason=f"carried to {new.id}", with_tasks=False).session
    _carry_claims(clone, old, new)
    _record(clone, new, "carry", f"{old.id} goes on here")
    rewinds.let_stay(clone, list(stay))
    return Choice("carry", ended, new, stay=stay, reanchored=citing.reanchor(clone))


def drop(clone: Clone, named: str | None = None) -> Choice:
    """Let go: the session that was left ends; what waits from after this point is set aside, and kept."""
    _refuse_midway(clone)
    late = rewinds.stranded(clone) if named is None else []
    left = _left(clone)
    old = _chosen(clone, named) if named or left or not late else None
    ended = None
    if old is not None:
        ended = session.end(clone, session=old.id, reason="dropped", with_tasks=False).session
        _record(clone, ended, "drop", f"left on {old.branch or lines.DETACHED_NAME}")
    aside = tuple(rewinds.set_aside(clone, late))
    return Choice("drop", ended, aside=aside, reanchored=citing.reanchor(clone))


def apply(clone: Clone) -> Choice:
    """Let tasks and sessions cite what their commits became, and choose nothing else."""
    _refuse_midway(clone)
    return Choice("apply", reanchored=citing.reanchor(clone))


def _refuse_midway(clone: Clone) -> None:
    """Half a rebase is no history: an abort would take back what was decided by it."""
    if operation := clone.repo.operation():
        raise BadInput(f"git is in the middle of {operation}", hint="Finish or abort it, then choose.")


def _chosen(clone: Clone, named: str | None) -> Session:
    """The session that is meant: the named one, else the one that was left last."""
    if named is not None:
        one = sessions.find(clone.layout, named)
        if one.state != "open" or (one.line, one.worktree) == (
            clone.line().id,
            whereabouts.worktree_of(clone),
        ):
            raise NotFound(
                f"{one.id} is not open elsewhere", hint="`holdfast reconcile` lists those that are."
            )
        return one
    left = _left(clone)
    if not left:
        raise NotFound("nothing was left on another branch", hint="`holdfast reconcile` lists what is open.")
    branches = {one.line for one in left}
    if len(branches) > 1:
        names = ", ".join(f"{one.id} ({one.branch or lines.DETACHED_NAME})" for one in left)
        raise Ambiguous(
            f"{len(left)} sessions were left: {names}", hint="Name the one you mean after the option."
        )
    return left[0]


def _go_on(clone: Clone, old: Session) -> Session:
    """The session open here, or a new one, with what is open in another added to it."""
    here = whereabouts.current(clone) or session.start(
        clone, objective=old.objective, agent=old.agent, agent_session=old.agent_session
    )
    return sessions.update(clone.layout, here.id, lambda one: _with_open_items(clone, one, old))


def _with_open_items(clone: Clone, new: Session, old: Session) -> Session:
    ts, opened, later = clone.now(), new.open, new.follow_ups
    for item in old.still_open:
        opened = rules.add_items(opened, [item.text], letter="o", ts=ts, task=item.task)
    for item in old.still_to_follow:
        later = rules.add_items(later, [item.text], letter="f", ts=ts, task=item.task)
    asked = rules.add_approvals(new.approvals, [one.text for one in old.pending], ts=ts)
    named = rules.newest((*old.tasks, *new.tasks), MAX_NAMES)
    previous = new.previous or old.id
    return replace(new, open=opened, follow_ups=later, approvals=asked, tasks=named, previous=previous)


def _linked_to(clone: Clone, old: Session, new: Session) -> Session:
    extra = {**dict(old.extra), SETTLED: list(dict.fromkeys((*_settled(old), clone.line().id)))}
    following = tuple(dict.fromkeys((*old.next, new.id)))[-MAX_NAMES:]
    return replace(old, next=following, extra=tuple(extra.items()))


def _carry_claims(clone: Clone, old: Session, new: Session) -> None:
    """What the old session had claimed and this branch knows is claimed here from now on."""
    board = boards.read(clone)
    for claim in claims.live(clone.layout, clone.now()).values():
        if claim.session == old.id and claim.task in board.placed:
            _reclaim(clone, claim, new)


def _reclaim(clone: Clone, claim: Claim, new: Session) -> None:
    claims.release(clone.layout, claim.task, owner=claim.owner)
    moved = replace(claim, session=new.id, line=clone.line().id, branch=clone.repo.head().branch)
    try:
        claims.take(clone.layout, moved, now=clone.now())
    except Claimed as error:  # somebody was quicker in the moment between
        clone.notes.append(str(error))


def _record(clone: Clone, one: Session, action: str, summary: str) -> None:
    body = {"action": action, "session": one.id, "summary": summary}
    clone.record(Draft("session", target=one.id, body=body))
