"""Reconciling: what git moved, what of ours it concerns, and the three answers to it.

A session that was left on another branch can be forked (it stays open there, and its open items are copied
here), carried (it ends there, and its open items go on here) or dropped (it ends). After a rewind the
changes that waited at lost commits can be carried (they stay) or dropped (they are set aside, and can be
carried back). Each is a question of its own, and nothing is chosen silently. Choosing also lets tasks and
sessions cite what their commits became.
"""

import contextlib
import os
from collections.abc import Iterable
from datetime import datetime, timedelta

from holdfast.capture import cited_commits, session_lookup, session_work
from holdfast.errors import Ambiguous, BadInput, BrokenEntry, Claimed, NotFound
from holdfast.git import branch_lines, conflict_sides, last_seen, merge_conflicts, moves, reconcile, rewinds
from holdfast.git.clone import Clone
from holdfast.git.moves import GitMove, Moves
from holdfast.model import session as rules
from holdfast.model.event import EventDraft
from holdfast.model.session import MAX_NAMES, PREFIX, Session, SessionItem
from holdfast.model.text import count
from holdfast.store import layout as paths
from holdfast.store import session_files, task_files
from holdfast.store.pending_changes import PendingChange
from holdfast.values import field, frozen, list_of, replace
from holdfast.work import task_board, task_claims

SETTLED = "settled"  # the lines for which somebody decided about a session
CHANGES = "changes"  # how an option names what waits from after this point of history
MENDED = ("task", "checkpoint", "session")  # what choosing lets cite new commits; an approved text is only shown
SWITCHES = ("branch", "detached")
_MOST_LINKS = 100  # a guess: nobody reads a longer list


@frozen
class AdriftSession:
    """An open session that is not where this work tree is."""

    session: Session
    why: str
    left: bool  # by this work tree, when it changed branches: fork, carry or drop
    gone: bool = False  # its branch is no more: nobody can go on there


@frozen
class StrayTask:
    """A task that was being worked on where nobody is any more."""

    task: str
    title: str
    owner: str | None
    branch: str | None
    why: str


@frozen
class CrossBranchNeed:
    """A task that needs, or is part of, a node which lives on other branches only."""

    task: str
    node: str
    branches: tuple[str, ...]  # none: nobody here knows it


@frozen
class ReconcileOverview:
    """All that reconcile has to tell."""

    moves: tuple[GitMove, ...]
    under_way: str | None
    gone: tuple[reconcile.LostPublication, ...]
    orphans: tuple[reconcile.OrphanLine, ...]
    sessions: tuple[AdriftSession, ...]
    tasks: tuple[StrayTask, ...]
    stranded: tuple[PendingChange, ...]
    cited: tuple[cited_commits.DisplacedCommit, ...]
    branches: tuple[reconcile.IdleBranch, ...]
    links: tuple[CrossBranchNeed, ...]
    conflicts: tuple[conflict_sides.EntryConflict, ...]
    aside: tuple[PendingChange, ...] = ()  # set aside once, and the commit it was recorded at is here again
    told: frozenset[str] = frozenset()  # the names of what was reported before

    @property
    def asks(self) -> bool:
        """Whether somebody has to choose."""
        return bool(self.stranded or any(one.left for one in self.sessions))

    def names(self) -> dict[str, object]:
        """What stays as it is whatever is chosen, by a name that lets it be told once."""
        lasting = [one for one in self.cited if one.state != "moved" or one.kind not in MENDED]
        return {
            **{f"cited {one.id} {one.old} {one.state}": one for one in lasting},
            **{f"left {one.session.id}": one for one in self.sessions if one.left},
            **{f"gone {one.path}": one for one in self.gone},
            **{f"link {one.task} {one.node}": one for one in self.links},
            **{f"idle {one.branch} {one.last}": one for one in self.branches},
            **{f"aside {one.name}": one for one in self.aside},
        }

    def news(self) -> "ReconcileOverview":
        """The report without what was reported before; an open session is reported again after another switch."""
        again = any(move.kind in SWITCHES for move in self.moves)
        told = [name for name in self.told if not (again and name.startswith("left "))]
        over = [one for name, one in self.names().items() if name in told]
        fields = ("cited", "sessions", "gone", "links", "branches", "aside")
        return replace(self, **{name: tuple(one for one in getattr(self, name) if one not in over) for name in fields})

    def size(self) -> int:
        """How many things it lists that are reported only once."""
        return len(self.names())


@frozen
class ReconcileChoice:
    """What was done about it."""

    action: str  # fork, carry, drop or apply
    old: Session | None = None
    new: Session | None = None
    stay: tuple[PendingChange, ...] = ()
    aside: tuple[rewinds.SetAside, ...] = ()
    back: tuple[PendingChange, ...] = ()  # waits again after it was set aside
    left: tuple[PendingChange, ...] = ()  # stays aside: its path was changed since
    reanchored: cited_commits.ReanchoredCitations = field(default_factory=cited_commits.ReanchoredCitations)


def examine(clone: Clone, found: Moves, *, trunk: str | None = None) -> ReconcileOverview:
    """What moved since the last reconcile, and everything that it left in question.

    While git is in the middle of something, commits come and go: what became of them is not asked then.
    """
    board, history, settled = task_board.read(clone), reconcile.examine(clone, thoroughly=True), not found.under_way
    return ReconcileOverview(
        moves=found.waiting,
        under_way=found.under_way,
        gone=history.gone,
        orphans=history.orphans,
        sessions=tuple(adrift(clone)),
        tasks=tuple(_strays(clone, board, history.orphans)),
        stranded=tuple(rewinds.stranded(clone)),
        cited=tuple(cited_commits.displaced(clone, board)) if settled else (),
        branches=tuple(reconcile.idle_branches(clone, trunk=trunk)),
        links=tuple(_across(clone, board)),
        conflicts=tuple(_conflicts(clone, found) if settled else merge_conflicts.find(clone)),
        aside=tuple(c for c in rewinds.lying_aside(clone) if rewinds.has_its_point(clone, c)),
        told=frozenset(last_seen.names(clone, last_seen.TOLD)),
    )


def _conflicts(clone: Clone, found: Moves) -> list[conflict_sides.EntryConflict]:
    """What two sides say differently, and what the merges that were just made decided against one side."""
    there = merge_conflicts.find(clone)
    merges = [move.before for move in found.waiting if move.kind in ("merge", "forward") and move.before]
    told = {conflict.path for conflict in there}
    more = merge_conflicts.overruled(clone, since=merges[0]) if merges else []
    return [*there, *(conflict for conflict in more if conflict.path not in told)]


def mark_shown(clone: Clone, report: ReconcileOverview) -> None:
    """Remember that moves and lasting findings were reported; what ended is reported again if it comes back."""
    moves.mark_reported(clone)
    if not report.under_way:
        last_seen.keep_names(clone, last_seen.TOLD, report.names())


# What is adrift.


def adrift(clone: Clone) -> list[AdriftSession]:
    """The open sessions that this work tree left, those whose branch or work tree is gone, and stale ones."""
    mine = _left(clone)
    named, gone = {one.id for one in mine}, {one.session.id: one for one in session_lookup.stale(clone)}
    why = {one.id: gone[one.id].why if one.id in gone else f"is open on {_place(one)}" for one in mine}
    found = [AdriftSession(one, why[one.id], left=True, gone=one.id in gone) for one in mine]
    others = [one for name, one in gone.items() if name not in named]
    return found + [AdriftSession(one.session, one.why, left=False) for one in others]


def _place(one: Session) -> str:
    """Where a session is, as a sentence can hold it."""
    name = one.branch or branch_lines.DETACHED_NAME
    return name if len(name) <= moves.LONGEST else f"{name[: moves.LONGEST - 1]}…"


def _left(clone: Clone) -> list[Session]:
    """The sessions this work tree was busy with on other lines, last updated first."""
    line, place = clone.line().id, session_lookup.worktree_of(clone)
    limit = clone.clock() - timedelta(days=session_lookup.STALE_DAYS)
    there = [one for one in session_files.opened(clone.layout, worktree=place) if one.line != line]
    recent = [one for one in there if datetime.fromisoformat(one.updated.ts) >= limit]
    return [one for one in reversed(recent) if line not in _settled(one)]


def _settled(one: Session) -> list[str]:
    return list_of(dict(one.extra).get(SETTLED))


def _strays(clone: Clone, board: task_board.Board, orphans: Iterable[reconcile.OrphanLine]) -> list[StrayTask]:
    """Tasks claimed on lines or in work trees that are gone, and tasks that orphans say were started."""
    living = branch_lines.alive(clone.repo, *clone.stores) | {clone.line().id}
    trees = {".", *(os.path.basename(path) for path in clone.repo.worktrees()[1:])}
    found = []
    for claim in task_claims.live(clone.layout, clone.now()).values():
        if claim.line not in living:
            why = f"claimed on {claim.branch or branch_lines.DETACHED_NAME}, which is gone"
        elif claim.worktree not in trees:
            why = f"claimed in the work tree {claim.worktree}, which is gone"
        else:
            continue
        placed = board.placed.get(claim.task)
        found.append(StrayTask(claim.task, placed.task.title if placed else "", claim.owner, claim.branch, why))
    named = {stray.task for stray in found}
    return [*found, *(s for orphan in orphans for s in _started(orphan) if s.task not in named)]


def _started(orphan: reconcile.OrphanLine) -> list[StrayTask]:
    found, why = [], f"started on {orphan.name}, which is gone"
    for change in orphan.changes:
        if change.path.startswith(f"{paths.TASKS}/") and change.text is not None:
            with contextlib.suppress(BrokenEntry):
                task = task_files.parse(change.text, change.path)
                if task.status == "started":
                    found.append(StrayTask(task.id, task.title, task.owner, orphan.name, why))
    return found


def _across(clone: Clone, board: task_board.Board) -> list[CrossBranchNeed]:
    """The edges that leave this branch; they are kept, and found again where the other branch is.

    A task that this branch has and that cannot be read, as in the middle of a merge, is not on another one.
    """
    edges = [
        (task.id, node)
        for task in board.tasks
        for node in (*task.needs, task.parent)
        if node is not None and node not in board.placed
    ][:_MOST_LINKS]
    where = {node: tuple(task_board.branches_with(clone, node)) for node in {node for _, node in edges}}
    here = clone.repo.head().branch
    return [CrossBranchNeed(task, node, where[node]) for task, node in edges if here not in where[node]]


def left_open(clone: Clone) -> list[str]:
    """The sessions that this work tree left open, a sentence each."""
    return [f"{one.session.id} {'was left: ' if one.gone else ''}{one.why}" for one in adrift(clone) if one.left]


def came_later(clone: Clone) -> list[str]:
    """That changes wait from after this point of history, if some do."""
    late = rewinds.stranded(clone)
    return [f"{count(len(late), 'change', 'wait')} here that came after this point of history"] if late else []


# The three answers, and none.


def is_ours(named: str | None) -> bool:
    """Whether a name after an option is a session's or means the changes; else it is a lost line's."""
    return named in (None, CHANGES) or named.upper().startswith(f"{PREFIX}-")


def fork(clone: Clone, named: str | None = None) -> ReconcileChoice:
    """Go on here with copies of what is open in the session that was left; that one stays open there."""
    _refuse_midway(clone)
    old = _chosen(clone, named)
    if why := next((one.why for one in adrift(clone) if one.session.id == old.id and one.gone), None):
        raise BadInput(f"{old.id} cannot stay open: {why}", hint="Use --carry or --drop.")
    new = _go_on(clone, old)
    old = session_files.update(clone.layout, old.id, lambda one: _linked_to(clone, one, new))
    _record(clone, new, "fork", f"goes on from {old.id}, which stays open")
    return ReconcileChoice("fork", old, new, reanchored=cited_commits.reanchor(clone))


def carry(clone: Clone, named: str | None = None) -> ReconcileChoice:
    """Move what is open here: the session that was left ends and goes on here; or waiting changes stay."""
    _refuse_midway(clone)
    if _means_changes(clone, named, "carry"):
        return _carry_changes(clone)
    old = _chosen(clone, named)
    new = _go_on(clone, old)
    ended = session_work.end(clone, session=old.id, reason=f"carried to {new.id}", with_tasks=False).session
    ended = session_files.update(clone.layout, old.id, lambda one: _moved_to(_linked_to(clone, one, new), new))
    _carry_claims(clone, old, new)
    _record(clone, new, "carry", f"{old.id} goes on here")
    return ReconcileChoice("carry", ended, new, reanchored=cited_commits.reanchor(clone))


def _carry_changes(clone: Clone) -> ReconcileChoice:
    """What came after this point stays; if nothing did, what was set aside comes back."""
    if late := rewinds.stranded(clone):
        rewinds.let_stay(clone, late)
        return ReconcileChoice("carry", stay=tuple(late), reanchored=cited_commits.reanchor(clone))
    back, left = rewinds.bring_back(clone)
    if not back and not left:
        raise NotFound("no change was made after this commit, and none was set aside on this branch")
    return ReconcileChoice("carry", back=tuple(back), left=tuple(left), reanchored=cited_commits.reanchor(clone))


def drop(clone: Clone, named: str | None = None) -> ReconcileChoice:
    """Let go: the session that was left ends; or what waits from after this point is set aside, and kept."""
    _refuse_midway(clone)
    if _means_changes(clone, named, "drop"):
        late = rewinds.stranded(clone)
        if not late:
            raise NotFound("no unpublished change was made after this commit")
        aside = tuple(rewinds.set_aside(clone, late))
        return ReconcileChoice("drop", aside=aside, reanchored=cited_commits.reanchor(clone))
    old = _chosen(clone, named)
    ended = session_work.end(clone, session=old.id, reason="dropped", with_tasks=False).session
    _record(clone, ended, "drop", f"left on {old.branch or branch_lines.DETACHED_NAME}")
    return ReconcileChoice("drop", ended, reanchored=cited_commits.reanchor(clone))


def _means_changes(clone: Clone, named: str | None, option: str) -> bool:
    """Whether an answer is about changes; without a name it must be clear which question it answers."""
    if named is not None:
        return named == CHANGES
    late, left = rewinds.stranded(clone), _left(clone)
    if late and left:
        one = left[0]
        raise Ambiguous(
            f"two things wait for a choice: {one.id} is open on {_place(one)}, and "
            f"{count(len(late), 'change', 'wait')} here from after this point of history",
            hint=f"Say which: `--{option} {one.id}` for the session, `--{option} {CHANGES}` for the changes.",
        )
    return bool(late)


def apply(clone: Clone) -> ReconcileChoice:
    """Let tasks and sessions cite what their commits became, and choose nothing else."""
    _refuse_midway(clone)
    return ReconcileChoice("apply", reanchored=cited_commits.reanchor(clone))


def _refuse_midway(clone: Clone) -> None:
    """Half a rebase is no history: an abort would take back what was decided by it."""
    if operation := clone.repo.operation():
        raise BadInput(f"git is in the middle of {operation}", hint="Finish or abort it, then choose.")


def _chosen(clone: Clone, named: str | None) -> Session:
    """The session that is meant: the named one, else the one that was left last."""
    if named is not None:
        one = session_files.find(clone.layout, named)
        if one.state != "open" or (one.line, one.worktree) == (clone.line().id, session_lookup.worktree_of(clone)):
            raise NotFound(f"{one.id} is not open elsewhere", hint="`holdfast reconcile` lists those that are.")
        return one
    left = _left(clone)
    if not left:
        raise NotFound("nothing was left on another branch", hint="`holdfast reconcile` lists what is open.")
    if len({one.line for one in left}) > 1:
        names = ", ".join(f"{one.id} ({one.branch or branch_lines.DETACHED_NAME})" for one in left)
        raise Ambiguous(f"{len(left)} sessions were left: {names}", hint="Name the one you mean after the option.")
    return left[0]


def _go_on(clone: Clone, old: Session) -> Session:
    """The session open here, or a new one, with what is open in another added to it."""
    here = session_lookup.current(clone) or session_work.start(
        clone, objective=old.objective, agent=old.agent, agent_session=old.agent_session
    )
    return session_files.update(clone.layout, here.id, lambda one: _with_open_items(clone, one, old))


def _with_open_items(clone: Clone, new: Session, old: Session) -> Session:
    ts, opened, later = clone.now(), new.open, new.follow_ups
    for item in old.still_open:
        opened = rules.add_items(opened, [item.text], letter="o", ts=ts, task=item.task)
    for item in old.still_to_follow:
        later = rules.add_items(later, [item.text], letter="f", ts=ts, task=item.task)
    asked = rules.add_approvals(new.approvals, [one.text for one in old.pending], ts=ts)
    named = rules.newest((*old.tasks, *new.tasks), MAX_NAMES)
    # Carried back to where it was forked from, it must not come before itself.
    previous = new.previous or (None if new.id in _before(clone, old) else old.id)
    return replace(new, open=opened, follow_ups=later, approvals=asked, tasks=named, previous=previous)


def _linked_to(clone: Clone, old: Session, new: Session) -> Session:
    extra = {**dict(old.extra), SETTLED: list(dict.fromkeys((*_settled(old), clone.line().id)))}
    back = new.id in _before(clone, old)
    following = old.next if back else tuple(dict.fromkeys((*old.next, new.id)))[-MAX_NAMES:]
    return replace(old, next=following, extra=tuple(extra.items()))


def _before(clone: Clone, one: Session) -> set[str]:
    """The sessions that one goes on from, and those before them."""
    known = {each.id: each for each in session_files.all(clone.layout)}
    found: set[str] = set()
    name = one.previous
    while name is not None and name not in found:
        found.add(name)
        name = known[name].previous if name in known else None
    return found


def _moved_to(old: Session, new: Session) -> Session:
    """A session that was carried: nothing is open there any more, and it says where that went."""

    def gone(item: SessionItem) -> SessionItem:
        moved = replace(item, state="closed", extra=(*item.extra, ("moved", new.id)))
        return moved if item.state == "open" else item

    asked = [one.text for one in old.pending]
    extra = {**dict(old.extra), "moved": {"to": new.id, **({"asked": asked} if asked else {})}}
    left = tuple(one for one in old.approvals if one.state != "pending")
    opened, later = tuple(map(gone, old.open)), tuple(map(gone, old.follow_ups))
    return replace(old, open=opened, follow_ups=later, approvals=left, extra=tuple(extra.items()))


def _carry_claims(clone: Clone, old: Session, new: Session) -> None:
    """What the old session had claimed and this branch knows is claimed here from now on."""
    board = task_board.read(clone)
    for claim in task_claims.live(clone.layout, clone.now()).values():
        if claim.session == old.id and claim.task in board.placed:
            task_claims.release(clone.layout, claim.task, owner=claim.owner)
            moved = replace(claim, session=new.id, line=clone.line().id, branch=clone.repo.head().branch)
            try:
                task_claims.take(clone.layout, moved, now=clone.now())
            except Claimed as error:  # somebody was quicker in the moment between
                clone.notes.append(str(error))


def _record(clone: Clone, one: Session, action: str, summary: str) -> None:
    body = {"action": action, "session": one.id, "summary": summary}
    clone.record(EventDraft("session", target=one.id, body=body))
