"""Evidence found: what happened since a task was started that may show that it is done.

Only commits that certainly came by this work count: those that git's hook noted while the task was claimed
and those that the branch's reflog says were made on it since, as they are called after a rewrite; and those
that HEAD alone has and this clone's user committed. What came from a trunk, a remote or another branch, by
a merge or a rebase, is somebody else's: a wrong citation is worse than a question. While other tasks were
being worked on here, only commits that name the task count; one that does always counts, and so do runs
that were started for the task.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from holdfast.git import reflog
from holdfast.git.clone import Clone
from holdfast.git.reflog import Moment
from holdfast.git.repo import Repo
from holdfast.git.rewritten import anchors
from holdfast.model.task import Task
from holdfast.store import layout as paths
from holdfast.values import frozen
from holdfast.work import claims

_LETS_GO = ("done", "drop", "block", "reopen")
MOST = 50  # commits or runs; a task with more is cited by hand
FAR = 5000  # commits that are looked at: a trunk may have got many meanwhile


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
    noted = _now(clone, claim.commits if claim else ())
    where, ts = (claim.branch, claim.ts) if claim else (told.branch, told.ts)
    made = noted | _now(clone, _committed(clone.repo, where, start, ts))
    begun = _begun(clone, start)
    span = [f"{begun}..HEAD"] if begun else ["--no-walk", *sorted(made)]
    since = commits_since(clone, span) if begun or made else []
    if where != clone.repo.head().branch:  # the work went on elsewhere: others may have used that branch
        mail = _mail(clone.repo)
        made &= {commit.oid for commit in since if commit.committer == mail}
    if begun is not None:
        made |= _ours_alone(clone.repo, begun)
    named = {one.oid for one in since if _names(one.message, task.id, ours=one.oid in made)}
    chosen = named | (noted & made) if named or told.others else made
    return [commit.oid for commit in since if commit.oid in chosen][-MOST:]


def _names(message: str, task: str, *, ours: bool) -> bool:
    """Whether a commit's message names a task; an id that is a plain word is only a word for others."""
    found = re.search(rf"(?<![\w.-]){re.escape(task)}(?![\w-])", message, re.IGNORECASE)
    return found is not None and (ours or not task.isalpha())


def _now(clone: Clone, oids: Iterable[str]) -> set[str]:
    """What HEAD has of these commits, by their names after any rewrite."""
    found = {one.commit for one in anchors.resolve(clone, oids).values() if one.commit}
    return {oid for oid in found if clone.repo.is_ancestor(oid, "HEAD")}


def _begun(clone: Clone, start: str) -> str | None:
    """The commit a task was started on, as it is called in HEAD's history; None if it is not there."""
    return next(iter(_now(clone, [start])), None)


def _committed(repo: Repo, branch: str | None, start: str, ts: str) -> list[str]:
    """What was committed since, as reflogs tell, on a branch and on a newer one that was gone on with."""
    began = int(datetime.fromisoformat(ts).timestamp()) if ts else 0
    rows: list[Moment] = []
    for name in {branch, repo.head().branch} - {None}:
        log = reflog.read(repo.common_dir, f"refs/heads/{name}")
        if name == branch or (log and log[0].begins and log[0].time > began):
            rows += _since(log, start, began)
    return [row.oid for row in rows if row.message.startswith("commit")][-MOST:]  # not merged, not fetched


def _since(log: Sequence[Moment], start: str, began: int) -> Sequence[Moment]:
    """The rows after a commit; where it is not in the log, those of later seconds."""
    at = max((place for place, row in enumerate(log) if row.oid == start), default=None)
    return [row for row in log if row.time > began] if at is None else log[at + 1 :]


def _ours_alone(repo: Repo, start: str) -> set[str]:
    """What HEAD has since a commit, no other branch and no remote has, and this clone's user committed."""
    here = repo.head().branch
    refs = repo.text("for-each-ref", "--format=%(refname)", "refs/heads", "refs/remotes").splitlines()
    others = "".join(f"^{ref}\n" for ref in refs if ref != f"refs/heads/{here}")
    asked = f"HEAD\n^{start}\n{others}".encode("utf-8", "surrogateescape")
    mail = _mail(repo)
    rows = repo.run("log", "--no-merges", "--format=%H %ce", "--stdin", stdin=asked).decode("utf-8", "replace")
    pairs = (row.partition(" ") for row in rows.splitlines())
    return {oid for oid, _, committer in pairs if committer == mail}


def _mail(repo: Repo) -> str:
    """By what address whoever works in this clone commits; nothing where git does not know."""
    known = repo.attempt("var", "GIT_COMMITTER_IDENT").stdout.decode("utf-8", "replace")
    return known.rpartition(">")[0].rpartition("<")[2] or "nobody's"


@frozen
class Commit:
    """A commit as far as it tells whose it is and what for."""

    oid: str
    committer: str
    message: str


def commits_since(clone: Clone, span: Sequence[str]) -> list[Commit]:
    """The commits of a span that change more than Holdfast's own files, oldest first."""
    repo = clone.repo
    shape = ("log", "-z", "--no-merges", "--reverse", f"--max-count={FAR}", "--format=%H %ce%n%B")
    done = repo.attempt(*shape, *span)
    if done.returncode:
        return []
    ours = set(repo.text("rev-list", "--no-merges", *span, "--", f":(top){paths.TRACKED}").split())
    others = (f":(top,exclude){paths.TRACKED}", ":(top)")
    ours -= set(repo.text("rev-list", "--no-merges", *span, "--", *others).split()) if ours else set()
    rows = (row.partition("\n") for row in done.stdout.decode("utf-8", "replace").split("\0") if row.strip())
    found = (Commit(*head.partition(" ")[::2], message) for head, _, message in rows)
    return [commit for commit in found if commit.oid not in ours]


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
        for event in clone.events():
            if event.kind != "task" or not event.body:
                continue
            body = clone.bodies.get(event.body) or {}
            action = body.get("action")
            if event.target == task and action == "start":
                self.head, self.ts, self.branch = event.head, event.ts, body.get("branch")
                self.others = bool(in_hand - {task})
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
