"""Doing: what happens to a task, from its first line to the evidence that it is done.

Nothing here guesses in silence: evidence that was found is given back with the task, and a task that
has none is not done unless somebody says that it needs none.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from holdfast.errors import BadInput, NeedsEvidence, NotFound
from holdfast.git import evidence
from holdfast.git.clone import Clone
from holdfast.git.rewritten import anchors
from holdfast.model.event import Draft, timestamp
from holdfast.model.memory import join_evidence
from holdfast.model.task import PLANS, Checkpoint, Task
from holdfast.values import frozen, replace
from holdfast.work import board as boards
from holdfast.work import claims, found
from holdfast.work.board import Board
from holdfast.work.claims import Claim

LASTING = timedelta(hours=2)  # a claim nobody renews


@frozen
class Who:
    """Somebody who works: a name, and the session they work in."""

    name: str
    session: str | None = None


@frozen
class Done:
    """A finished task, and what of its evidence was found rather than given."""

    task: Task
    found: tuple[str, ...] = ()
    unblocked: tuple[str, ...] = ()


def add(clone: Clone, **fields: Any) -> Task:
    """Put a new task on the board; `evidence` as people cite it."""
    given = {name: value for name, value in fields.items() if value is not None}
    given["evidence"] = _receipts(clone, given.get("evidence", ()))
    board = boards.read(clone)
    if given.get("parent"):
        given["parent"] = _node(board, given["parent"])
    given["needs"] = [_node(board, name) for name in given.get("needs", ())]
    return boards.place_new(clone, board, boards.cleaned(clone, given))


def edit(clone: Clone, name: str, **changes: Any) -> Task:
    """Change some fields of a task; None takes a field's value away."""
    board = boards.read(clone)
    task = board.find(name).task
    if "evidence" in changes:
        changes["evidence"] = _receipts(clone, changes["evidence"])
    for field in ("needs", "parent"):
        if changes.get(field):
            many = [_node(board, item) for item in _as_list(changes[field])]
            changes[field] = many if field == "needs" else many[0]
    fresh = _unreached(boards.changed(task, boards.cleaned(clone, changes)))
    return boards.replace_with(clone, board, fresh, action="edit")


def link(clone: Clone, name: str, *, needs: Iterable[str] = (), no_needs: Iterable[str] = ()) -> Task:
    """Add needs to a task and take others away."""
    board = boards.read(clone)
    task = board.find(name).task
    gone = {_node(board, item) for item in no_needs}
    kept = [item for item in task.needs if item not in gone]
    wanted = tuple(dict.fromkeys([*kept, *(_node(board, item) for item in needs)]))
    return boards.replace_with(clone, board, replace(task, needs=wanted), action="link")


def start(clone: Clone, name: str, who: Who, *, lasting: timedelta = LASTING) -> Task:
    """Claim a task and say that it is being worked on."""
    board = boards.read(clone)
    task = board.find(name).task
    if task.is_closed:
        raise BadInput(f"{task.id} is {task.status}", hint=f"Open it again: holdfast task reopen {task.id}")
    claims.take(clone.layout, claim_of(clone, task.id, who, lasting=lasting), now=clone.now())
    _say_early(clone, board, task, "started", ("needs ", "its "))
    owner = _given_owner(clone, task) or who.name  # who answers for it; the claim says who works on it
    fresh = _unreached(replace(task, status="started", owner=owner, reason=None))
    if fresh == task:  # started before: the claim alone is new, and the log says since when
        clone.record(boards.event_of(task, action="start", more=_during(who)))
        return task
    return boards.replace_with(clone, board, fresh, action="start", more=_during(who))


def claim_next(clone: Clone, who: Who, *, lasting: timedelta = LASTING) -> Task | None:
    """Claim the best task that is ready and nobody works on; None if there is none.

    Goals, milestones and epics are done by doing their parts: they are nobody's next piece of work.
    A claim of one's own counts, too: asked twice, it gives two tasks, so that agents who go by the same
    name never get the same one.
    """
    ready = boards.read(clone).graph.ready()
    taken = claims.live(clone.layout, clone.now())
    for task in ready:
        if task.id in taken or task.kind in PLANS:
            continue
        claim = claim_of(clone, task.id, who, lasting=lasting)
        if claims.try_take(clone.layout, claim, now=clone.now()):
            return task
    return None


def claim_of(clone: Clone, task: str, who: Who, *, lasting: timedelta) -> Claim:
    """A claim as this work tree would hold it from now on."""
    head, now = clone.repo.head(), clone.clock()
    if clone.layout.private != clone.private.private:
        clone.notes.append("others see this claim only after the next command outside the sandbox")
    if lasting <= timedelta(0) or lasting > timedelta(days=30):
        raise BadInput("a claim lasts up to 30 days", hint="Write 30m, 2h or 1d.")
    return Claim(
        task=task,
        owner=who.name,
        session=who.session,
        line=clone.line().id,
        branch=head.branch,
        worktree=clone.worktree,
        head=head.oid,
        ts=timestamp(now),
        until=_until(now, lasting),
    )


def _until(now: datetime, lasting: timedelta) -> str:
    return timestamp(now + lasting)


def done(clone: Clone, name: str, *, cited: Sequence[str] = (), run: str | None = None, without: bool = False) -> Done:
    """Say that a task is done, with what shows it: cited, else the commits and runs since its start."""
    board = boards.read(clone)
    task = board.find(name).task
    given = _receipts(clone, cited)
    seen = () if given or without else found.evidence(clone, task, run=run)
    receipts = join_evidence(task.evidence, (*given, *seen))
    if not receipts and not without and task.kind not in PLANS:
        raise NeedsEvidence(
            f"nothing was found that shows that {task.id} is done: no commit and no run since it was started",
            hint="Cite it with --evidence (a commit, a run, a tracked path), or say --without-evidence.",
        )
    _say_early(clone, board, task, "finished", ("needs ", "its ", "has "))
    checkpoint = checkpoint_here(clone) if task.kind == "milestone" else task.checkpoint
    anchors.keep(clone, [text[len("commit:") :] for text in receipts if text.startswith("commit:")])
    unblocked = board.graph.unblocks(task.id)
    fresh = replace(task, status="done", evidence=receipts, checkpoint=checkpoint, reason=None)
    boards.replace_with(clone, board, fresh, action="done")
    if task.kind == "milestone" and checkpoint is not None:
        clone.record(_milestone(fresh, checkpoint))
    _let_go(clone, task.id)
    return Done(fresh, tuple(seen), unblocked)


def checkpoint_here(clone: Clone) -> Checkpoint | None:
    """Where git stands now; None before the first commit."""
    head = clone.repo.head().oid
    if head is None:
        return None
    anchors.keep(clone, [head])
    tree = clone.repo.text("rev-parse", f"{head}^{{tree}}")
    return Checkpoint(commit=head, tree=tree, patch_id=anchors.patch_id(clone.repo, head))


def _milestone(task: Task, checkpoint: Checkpoint) -> Draft:
    body = {
        "action": "milestone",
        "task": task.id,
        "statement": task.title,
        "commit": checkpoint.commit,
        "tree": checkpoint.tree,
        "patch_id": checkpoint.patch_id,
        "receipts": list(task.evidence),
    }
    return Draft("checkpoint", target=task.id, layer=task.layer, systemic_scale=task.systemic_scale, body=body)


def stop(clone: Clone, name: str, status: str, *, reason: str | None = None) -> Task:
    """Block, drop or open a task again; whoever had claimed it has it no longer."""
    board = boards.read(clone)
    task = board.find(name).task
    said = boards.cleaned(clone, {"reason": reason})["reason"] or None
    action = {"blocked": "block", "dropped": "drop", "open": "reopen"}[status]
    owner = _given_owner(clone, task) if status == "open" else task.owner
    changed = _unreached(replace(task, status=status, reason=said, owner=owner))
    fresh = boards.replace_with(clone, board, changed, action=action)
    _let_go(clone, task.id)
    return fresh


def _let_go(clone: Clone, task: str) -> None:
    """End a claim on a task, unless it is held in another work tree: there it may not be done at all."""
    claim = claims.find(clone.layout, task)
    if claim is not None and claim.is_live(clone.now()) and claim.worktree != clone.worktree:
        clone.notes.append(f"{claim.owner} has claimed {task} in work tree {claim.worktree}; that claim stays")
        return
    claims.release(clone.layout, task)


def release(clone: Clone, name: str) -> Task:
    """Give up the claim on a task; who only owned it by having begun it does so no longer."""
    board = boards.read(clone)
    task = board.find(name).task
    claim = claims.release(clone.layout, task.id)
    if claim is not None:
        clone.notes.append(f"the claim was {claim.owner}'s, in work tree {claim.worktree}")
    fresh = replace(task, owner=_given_owner(clone, task))
    return boards.replace_with(clone, board, fresh, action="edit") if fresh != task else task


def _given_owner(clone: Clone, task: Task) -> str | None:
    """Who was named to answer for a task, rather than having become its owner by starting it."""
    given: str | None = None
    starter: str | None = None
    for event in clone.events() if task.owner else ():
        if event.kind != "task" or event.target != task.id or not event.body:
            continue
        body = clone.bodies.get(event.body) or {}
        owner = body.get("reviewer")
        if body.get("action") == "start":
            starter = owner if owner != given else None
        elif owner != starter:
            given, starter = owner, None
    return None if starter == task.owner else task.owner


def _unreached(task: Task) -> Task:
    """The task, without the place where it was reached unless it is done."""
    return task if task.status == "done" else replace(task, checkpoint=None)


def _say_early(clone: Clone, board: Board, task: Task, verb: str, kinds: tuple[str, ...]) -> None:
    """Note that something comes before its time by the plan; it is not refused, people know better."""
    early = [reason for reason in board.graph.standing(task.id) if reason.startswith(kinds)]
    if early:
        more = f" and {len(early) - 3:,} more" if len(early) > 3 else ""
        clone.notes.append(f"{task.id} is {verb} before its time: {'; '.join(early[:3])}{more}")


def _receipts(clone: Clone, cited: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(item) for item in evidence.resolve_all(clone, cited)))


def _node(board: Board, name: str) -> str:
    """The id of a node that somebody names: one of the board by any beginning, another by its whole id."""
    try:
        return board.find(name).task.id
    except NotFound:
        return name


def _as_list(value: str | Sequence[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _during(who: Who) -> dict[str, str]:
    return {"session": who.session} if who.session else {}
