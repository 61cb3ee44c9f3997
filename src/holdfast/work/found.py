"""Evidence found: what happened since a task was started that may show that it is done.

Commits that git's hook noted while the task was claimed come first; else the commits made on this line
since it was started, as long as no other task was being worked on here; commits whose message names
the task count in any case, and so do runs that were started for it.
"""

from holdfast.git.clone import Clone
from holdfast.model.event import Event
from holdfast.model.task import Task
from holdfast.store import layout as paths
from holdfast.work import claims
from holdfast.work.claims import Claim

MOST = 50  # commits or runs; a task with more is cited by hand


def evidence(clone: Clone, task: Task, *, run: str | None = None) -> tuple[str, ...]:
    """Receipts for a task, oldest first; `run` is the one that is under way."""
    commits = [f"commit:{oid}" for oid in commits_of(clone, task)]
    runs = [f"run:{name}" for name in _runs(clone, task)]
    under_way = [f"run:{run}"] if run else []
    return tuple(dict.fromkeys((*commits, *runs, *under_way)))


def commits_of(clone: Clone, task: Task) -> list[str]:
    """The commits that speak for a task, oldest first."""
    claim = claims.find(clone.layout, task.id)
    start = claim.head if claim and claim.head else _started_at(clone, task)
    if start is None or clone.repo.head().oid is None:
        return []
    made = commits_since(clone, start)
    noted = set(claim.commits) if claim else set()
    named = [oid for oid, message in made if task.id.lower() in message.lower() or oid in noted]
    if named or _others_here(clone, task, claim):
        return named
    return [oid for oid, _ in made]


def commits_since(clone: Clone, start: str) -> list[tuple[str, str]]:
    """The commits from a commit to HEAD that change more than Holdfast's own files, with their messages."""
    shape = ("log", "-z", "--no-merges", "--reverse", f"--max-count={MOST}", "--format=%H %B")
    done = clone.repo.attempt(*shape, f"{start}..HEAD", "--", ":(top)", f":(top,exclude){paths.TRACKED}")
    if done.returncode:
        return []
    rows = [row.partition(" ") for row in done.stdout.decode("utf-8", "replace").split("\0") if row.strip()]
    return [(oid.strip(), message) for oid, _, message in rows]


def _others_here(clone: Clone, task: Task, claim: Claim | None) -> bool:
    """Whether another task was claimed in the same work tree: then the commits may be that one's."""
    live = claims.live(clone.layout, clone.now())
    place = claim.worktree if claim else clone.worktree
    return any(other.task != task.id and other.worktree == place for other in live.values())


def _started_at(clone: Clone, task: Task) -> str | None:
    """HEAD as it was when the task was last started, as far as this clone's own log tells."""
    found: Event | None = None
    for event in clone.events():
        if event.kind == "task" and event.target == task.id and event.body:
            body = clone.bodies.get(event.body) or {}
            found = event if body.get("action") == "start" else found
    return found.head if found else None


def _runs(clone: Clone, task: Task) -> list[str]:
    """The runs recorded for a task that ended well."""
    runs = [event for event in clone.events() if event.kind == "run" and event.exit_status == 0]
    mine = []
    for event in runs[-2000:]:
        body = clone.bodies.get(event.body) if event.body else None
        if event.run_id and (body or {}).get("task") == task.id:
            mine.append(event.run_id)
    return mine[-MOST:]
