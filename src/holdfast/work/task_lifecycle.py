"""What happens to a task, from its first line to the evidence that it is done.

Nothing here guesses in silence: evidence that was found is given back with the task, and a task that has none is not
done unless somebody says that it needs none.

Only commits that certainly came by this work count as evidence: those that git's hook noted while the task was
claimed and those that the branch's reflog says were made on it since, as they are called after a rewrite; and those
that HEAD alone has and this clone's user committed. What came from a trunk, a remote or another branch, by a merge or
a rebase, is somebody else's: a wrong citation is worse than a question. While other tasks were being worked on here,
only commits that name the task count; one that does always counts, and so do runs that were started for the task.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from holdfast.errors import BadInput, NeedsEvidence, NotFound
from holdfast.git import evidence_check, reflog
from holdfast.git.cited_commits import commit_anchors, commit_details
from holdfast.git.clone import Clone
from holdfast.git.repo import Repo
from holdfast.model.event import EventDraft, timestamp
from holdfast.model.memory import join_evidence
from holdfast.model.task import PLANS, Checkpoint, Task
from holdfast.store import layout as paths
from holdfast.values import asdict, frozen, replace
from holdfast.work import task_board as boards
from holdfast.work import task_claims

_LETS_GO = ("done", "drop", "block", "reopen")
MOST_FOUND = 50  # commits or runs; a task with more is cited by hand
FAR = 5000  # commits that are looked at: a trunk may have got many meanwhile


def found_evidence(clone: Clone, task: Task, *, run: str | None = None) -> tuple[str, ...]:
    """Receipts for a task, oldest first; `run` is the one that is under way."""
    ended_well = [
        event.run_id
        for event in clone.find_events(kinds=("run",), newest=2000)
        if event.exit_status == 0 and event.body and (clone.bodies.get(event.body) or {}).get("task") == task.id
    ]
    runs = [*filter(None, ended_well)][-MOST_FOUND:] + ([run] if run else [])
    found = [f"commit:{oid}" for oid in commits_of(clone, task)] + [f"run:{name}" for name in runs]
    return tuple(dict.fromkeys(found))


def commits_of(clone: Clone, task: Task) -> list[str]:
    """The commits that speak for a task, oldest first."""
    claim, told = task_claims.find(clone.layout, task.id), _Told(clone, task.id)
    start = claim.head if claim and claim.head else told.head
    if start is None or clone.repo.head().oid is None:
        return []
    noted = _now(clone, claim.commits if claim else ())
    where, ts = (claim.branch, claim.ts) if claim else (told.branch, told.ts)
    made = noted | _now(clone, _committed(clone.repo, where, start, ts))
    begun = next(iter(_now(clone, [start])), None)  # as it is called in HEAD's history
    span = [f"{begun}..HEAD"] if begun else ["--no-walk", *sorted(made)]
    since = commits_since(clone, span) if begun or made else []
    if where != clone.repo.head().branch:  # the work went on elsewhere: others may have used that branch
        mail = _mail(clone.repo)
        made &= {oid for oid, committer, _ in since if committer == mail}
    if begun is not None:
        made |= _ours_alone(clone.repo, begun)
    named = {oid for oid, _, message in since if _names(message, task.id, ours=oid in made)}
    chosen = named | (noted & made) if named or told.others else made
    return [oid for oid, _, _ in since if oid in chosen][-MOST_FOUND:]


def _names(message: str, task: str, *, ours: bool) -> bool:
    """Whether a commit's message names a task; an id that is a plain word is only a word for others."""
    found = re.search(rf"(?<![\w.-]){re.escape(task)}(?![\w-])", message, re.IGNORECASE)
    return found is not None and (ours or not task.isalpha())


def _now(clone: Clone, oids: Iterable[str]) -> set[str]:
    """What HEAD has of these commits, by their names after any rewrite."""
    found = {one.commit for one in commit_anchors.resolve(clone, oids).values() if one.commit}
    return {oid for oid in found if clone.repo.is_ancestor(oid, "HEAD")}


def _committed(repo: Repo, branch: str | None, start: str, ts: str) -> list[str]:
    """What was committed since, as reflogs tell, on a branch and on a newer one that continued it."""
    began = int(datetime.fromisoformat(ts).timestamp()) if ts else 0
    rows: list[reflog.ReflogRow] = []
    for name in {branch, repo.head().branch} - {None}:
        log = reflog.read(repo.common_dir, f"refs/heads/{name}")
        if name == branch or (log and log[0].begins and log[0].time > began):
            # The rows after the commit; where it is not in the log, those of later seconds.
            at = max((place for place, row in enumerate(log) if row.oid == start), default=None)
            rows += [row for row in log if row.time > began] if at is None else log[at + 1 :]
    return [row.oid for row in rows if row.message.startswith("commit")][-MOST_FOUND:]  # not merged, not fetched


def _ours_alone(repo: Repo, start: str) -> set[str]:
    """What HEAD has since a commit, no other branch and no remote has, and this clone's user committed."""
    here = repo.head().branch
    refs = repo.text("for-each-ref", "--format=%(refname)", "refs/heads", "refs/remotes").splitlines()
    others = "".join(f"^{ref}\n" for ref in refs if ref != f"refs/heads/{here}")
    asked = f"HEAD\n^{start}\n{others}".encode("utf-8", "surrogateescape")
    mail = _mail(repo)
    rows = repo.run("log", "--no-merges", "--format=%H %ce", "--stdin", stdin=asked).decode("utf-8", "replace")
    return {oid for oid, _, committer in (row.partition(" ") for row in rows.splitlines()) if committer == mail}


def _mail(repo: Repo) -> str:
    """By what address whoever works in this clone commits; nothing where git does not know."""
    known = repo.attempt("var", "GIT_COMMITTER_IDENT").stdout.decode("utf-8", "replace")
    return known.rpartition(">")[0].rpartition("<")[2] or "nobody's"


def commits_since(clone: Clone, span: Sequence[str]) -> list[tuple[str, str, str]]:
    """Id, committer and message of the commits of a span that change more than Holdfast's own files, oldest first."""
    repo = clone.repo
    done = repo.attempt("log", "-z", "--no-merges", "--reverse", f"--max-count={FAR}", "--format=%H %ce%n%B", *span)
    if done.returncode:
        return []
    ours = set(repo.text("rev-list", "--no-merges", *span, "--", f":(top){paths.TRACKED}").split())
    others = (f":(top,exclude){paths.TRACKED}", ":(top)")
    ours -= set(repo.text("rev-list", "--no-merges", *span, "--", *others).split()) if ours else set()
    rows = (row.partition("\n") for row in done.stdout.decode("utf-8", "replace").split("\0") if row.strip())
    found = ((*head.partition(" ")[::2], message) for head, _, message in rows)
    return [commit for commit in found if commit[0] not in ours]


class _Told:
    """What this clone's log tells of a task's last start, and whether others were in hand meanwhile.

    Where they were, a commit may be theirs, and only one that names the task is taken for its own.
    """

    def __init__(self, clone: Clone, task: str) -> None:
        self.head: str | None = None
        self.ts = ""
        self.branch: str | None = None
        self.others = False
        in_hand: set[str | None] = set()
        for event in clone.find_events(kinds=("task",)):
            if not event.body:
                continue
            body = clone.bodies.get(event.body) or {}
            action = body.get("action")
            if action == "start":
                if event.target == task:
                    self.head, self.ts, self.branch = event.head, event.ts, body.get("branch")
                in_hand.add(event.target)
                self.others = bool(in_hand - {task})
            elif action in _LETS_GO:
                in_hand.discard(event.target)


LASTING = timedelta(hours=2)  # a claim nobody renews


@frozen
class TaskWorker:
    """Somebody who works: a name, and the session they work in."""

    name: str
    session: str | None = None


@frozen
class FinishedTask:
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
    if needs := changes.get("needs"):
        changes["needs"] = [_node(board, item) for item in ([needs] if isinstance(needs, str) else needs)]
    if changes.get("parent"):
        changes["parent"] = _node(board, changes["parent"])
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


def start(clone: Clone, name: str, who: TaskWorker, *, lasting: timedelta = LASTING) -> Task:
    """Claim a task and say that it is being worked on."""
    board = boards.read(clone)
    task = board.find(name).task
    if task.is_closed:
        raise BadInput(f"{task.id} is {task.status}", hint=f"Open it again: holdfast task reopen {task.id}")
    task_claims.take(clone.layout, claim_of(clone, task.id, who, lasting=lasting), now=clone.now())
    _say_early(clone, board, task, "started", ("needs ", "its "))
    owner = _given_owner(clone, task) or who.name  # who answers for it; the claim says who works on it
    fresh = _unreached(replace(task, status="started", owner=owner, reason=None))
    if fresh == task:  # started before: the claim alone is new, and the log says since when
        clone.record(boards.event_of(task, action="start", more=_during(who)))
        return task
    return boards.replace_with(clone, board, fresh, action="start", more=_during(who))


def claim_next(
    clone: Clone,
    who: TaskWorker,
    *,
    lasting: timedelta = LASTING,
    is_free: Callable[[Task, task_claims.TaskClaim], bool] = lambda _, __: True,
) -> Task | None:
    """Claim the best task that is ready and nobody works on; None if there is none.

    `is_free` is asked before a task is taken: it claims it among all clones, if they share claims.

    Goals, milestones and epics are done by doing their parts: they are nobody's next piece of work.
    A claim of one's own counts, too: asked twice, it gives two tasks, so that agents who go by the same
    name never get the same one.
    """
    taken = task_claims.live(clone.layout, clone.now())
    for task in boards.read(clone).graph.ready():
        if task.id not in taken and task.kind not in PLANS:
            claim = claim_of(clone, task.id, who, lasting=lasting)
            if is_free(task, claim) and task_claims.try_take(clone.layout, claim, now=clone.now()):
                return task
    return None


def claim_of(clone: Clone, task: str, who: TaskWorker, *, lasting: timedelta) -> task_claims.TaskClaim:
    """A claim as this work tree would hold it from now on."""
    head, now = clone.repo.head(), clone.clock()
    if clone.layout.private != clone.private.private:
        clone.notes.append("others see this claim only after the next command outside the sandbox")
    if lasting <= timedelta(0) or lasting > timedelta(days=30):
        raise BadInput("a claim lasts up to 30 days", hint="Write 30m, 2h or 1d.")
    return task_claims.TaskClaim(
        task=task,
        owner=who.name,
        session=who.session,
        line=clone.line().id,
        branch=head.branch,
        worktree=clone.worktree,
        head=head.oid,
        ts=timestamp(now),
        until=timestamp(now + lasting),
    )


def done(
    clone: Clone, name: str, *, cited: Sequence[str] = (), run: str | None = None, without: bool = False
) -> FinishedTask:
    """Say that a task is done, with what shows it: cited, else the commits and runs since its start."""
    board = boards.read(clone)
    task = board.find(name).task
    given = _receipts(clone, cited)
    seen = () if given or without else found_evidence(clone, task, run=run)
    receipts = join_evidence(task.evidence, (*given, *seen))
    if not receipts and not without and task.kind not in PLANS:
        raise NeedsEvidence(
            f"nothing was found that shows that {task.id} is done: no commit and no run since it was started",
            hint="Cite it with --evidence (a commit, a run, a tracked path), or say --without-evidence.",
        )
    _say_early(clone, board, task, "finished", ("needs ", "its ", "has "))
    checkpoint = checkpoint_here(clone) if task.kind == "milestone" else task.checkpoint
    commit_anchors.keep(clone, [text[len("commit:") :] for text in receipts if text.startswith("commit:")])
    unblocked = board.graph.unblocks(task.id)
    fresh = replace(task, status="done", evidence=receipts, checkpoint=checkpoint, reason=None)
    boards.replace_with(clone, board, fresh, action="done")
    if task.kind == "milestone" and checkpoint is not None:
        body = {"action": "milestone", "task": task.id, "statement": task.title, "receipts": list(receipts)}
        body |= asdict(checkpoint)
        scale = task.systemic_scale
        clone.record(EventDraft("checkpoint", target=task.id, layer=task.layer, systemic_scale=scale, body=body))
    _let_go(clone, task.id)
    return FinishedTask(fresh, tuple(seen), unblocked)


def close_all(clone: Clone, found: Mapping[str, Sequence[str]]) -> list[Task]:
    """Say of many tasks that they are done, each with its receipts as they are kept (`commit:…`, `run:…`).

    Those that are done already are left alone. Git is asked once for all.
    """
    board = boards.read(clone)
    cited = [text[len("commit:") :] for texts in found.values() for text in texts if text.startswith("commit:")]
    commit_anchors.keep(clone, cited)
    there = [(board.placed[name], texts) for name, texts in found.items() if name in board.placed]
    done = [
        replace(placed.task, status="done", evidence=join_evidence(placed.task.evidence, texts), reason=None)
        for placed, texts in there
        if placed.task.status != "done" and placed.clash is None
    ]
    boards.replace_all(clone, board, done, action="done")
    for task in done:
        task_claims.release(clone.layout, task.id)
    return done


def checkpoint_here(clone: Clone) -> Checkpoint | None:
    """Where git stands now; None before the first commit."""
    head = clone.repo.head().oid
    if head is None:
        return None
    commit_anchors.keep(clone, [head])
    tree = clone.repo.text("rev-parse", f"{head}^{{tree}}")
    return Checkpoint(commit=head, tree=tree, patch_id=commit_details.patch_id(clone.repo, head))


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
    claim = task_claims.find(clone.layout, task)
    if claim is not None and claim.is_live(clone.now()) and claim.worktree != clone.worktree:
        clone.notes.append(f"{claim.owner} has claimed {task} in work tree {claim.worktree}; that claim stays")
        return
    task_claims.release(clone.layout, task)


def release(clone: Clone, name: str) -> Task:
    """Give up the claim on a task; who only owned it by having begun it does so no longer."""
    board = boards.read(clone)
    task = board.find(name).task
    claim = task_claims.release(clone.layout, task.id)
    if claim is not None:
        clone.notes.append(f"the claim was {claim.owner}'s, in work tree {claim.worktree}")
    fresh = replace(task, owner=_given_owner(clone, task))
    return boards.replace_with(clone, board, fresh, action="edit") if fresh != task else task


def _given_owner(clone: Clone, task: Task) -> str | None:
    """Who was named to answer for a task, rather than having become its owner by starting it."""
    given = starter = None
    for event in clone.find_events(kinds=("task",), targets=(task.id,)) if task.owner else ():
        if not event.body:
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


def _say_early(clone: Clone, board: boards.Board, task: Task, verb: str, kinds: tuple[str, ...]) -> None:
    """Note that something comes before its time by the plan; it is not refused, people know better."""
    early = [reason for reason in board.graph.standing(task.id) if reason.startswith(kinds)]
    if early:
        more = f" and {len(early) - 3:,} more" if len(early) > 3 else ""
        clone.notes.append(f"{task.id} is {verb} before its time: {'; '.join(early[:3])}{more}")


def _receipts(clone: Clone, cited: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(item) for item in evidence_check.resolve_all(clone, cited)))


def _node(board: boards.Board, name: str) -> str:
    """The id of a node that somebody names: one of the board by any beginning, another by its whole id."""
    try:
        return board.find(name).task.id
    except NotFound:
        return name


def _during(who: TaskWorker) -> dict[str, str]:
    return {"session": who.session} if who.session else {}
