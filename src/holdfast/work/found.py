"""Evidence found: what happened since a task was started that may show that it is done.

Commits that git's hook noted while the task was claimed come first; else the commits made on this line
since it was started, as long as no other task was being worked on here; commits whose message names
the task count in any case, and so do runs that were started for it.
"""

from holdfast.git.clone import Clone
from holdfast.model.task import Task
from holdfast.store import layout as paths
from holdfast.work import claims

_LETS_GO = ("done", "drop", "block", "reopen")
MOST = 50  # commits or runs; a task with more is cited by hand


def evidence(clone: Clone, task: Task, *, run: str | None = None) -> tuple[str, ...]:
    """Receipts for a task, oldest first; `run` is the one that is under way."""
    commits = [f"commit:{oid}" for oid in commits_of(clone, task)]
    runs = [f"run:{name}" for name in _runs(clone, task)]
    under_way = [f"run:{run}"] if run else []
    return tuple(dict.fromkeys((*commits, *runs, *under_way)))


def commits_of(clone: Clone, task: Task) -> list[str]:
    """The commits that speak for a task, oldest first."""
    claim, told = claims.find(clone.layout, task.id), _Told(clone, task.id)
    start = claim.head if claim and claim.head else told.head
    if start is None or clone.repo.head().oid is None:
        return []
    made = commits_since(clone, start)
    noted = set(claim.commits) if claim else set()
    named = [oid for oid, message in made if task.id.lower() in message.lower() or oid in noted]
    return named if named or told.others else [oid for oid, _ in made]


def commits_since(clone: Clone, start: str) -> list[tuple[str, str]]:
    """The commits from a commit to HEAD that change more than Holdfast's own files, with their messages."""
    span, repo = f"{start}..HEAD", clone.repo
    shape = ("log", "-z", "--no-merges", "--reverse", f"--max-count={MOST}", "--format=%H %B")
    done = repo.attempt(*shape, span)
    if done.returncode:
        return []
    ours = set(repo.text("rev-list", "--no-merges", span, "--", f":(top){paths.TRACKED}").split())
    others = (f":(top,exclude){paths.TRACKED}", ":(top)")
    ours -= set(repo.text("rev-list", "--no-merges", span, "--", *others).split()) if ours else set()
    rows = [row.partition(" ") for row in done.stdout.decode("utf-8", "replace").split("\0") if row.strip()]
    return [(oid.strip(), message) for oid, _, message in rows if oid.strip() not in ours]


class _Told:
    """What this clone's log tells of a task's last start, and whether others were in hand meanwhile.

    Where they were, a commit may be theirs, and only one that names the task is taken for its own.
    """

    def __init__(self, clone: Clone, task: str) -> None:
        self.head: str | None = None
        self.others = False
        in_hand: set[str | None] = set()
        for event in clone.events():
            if event.kind != "task" or not event.body:
                continue
            action = (clone.bodies.get(event.body) or {}).get("action")
            if event.target == task and action == "start":
                self.head, self.others = event.head, bool(in_hand - {task})
            elif action == "start":
                self.others = True
            if action == "start":
                in_hand.add(event.target)
            elif action in _LETS_GO:
                in_hand.discard(event.target)


def _runs(clone: Clone, task: Task) -> list[str]:
    """The runs recorded for a task that ended well."""
    runs = [event for event in clone.events() if event.kind == "run" and event.exit_status == 0]
    mine = []
    for event in runs[-2000:]:
        body = clone.bodies.get(event.body) if event.body else None
        if event.run_id and (body or {}).get("task") == task.id:
            mine.append(event.run_id)
    return mine[-MOST:]
