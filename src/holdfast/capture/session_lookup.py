"""Where a session is: its line, its work tree, its anchor; and which session is meant or was left behind."""

import os
from datetime import datetime, timedelta

from holdfast.capture.worktree_changes import spelled
from holdfast.errors import NotFound
from holdfast.git import branch_lines
from holdfast.git.clone import Clone
from holdfast.model.ids import pick
from holdfast.model.session import Session, SessionAnchor
from holdfast.store import session_files
from holdfast.values import frozen

STALE_DAYS = 7  # a guess: a session left for a week is not worked on
NONE_OPEN = "Start one with `holdfast session start OBJECTIVE`."


@frozen
class Stale:
    """An open session that nobody seems to go on with."""

    session: Session
    why: str


def worktree_of(clone: Clone) -> str:
    """The name sessions know this work tree by: its git folder's, "." for the main one."""
    repo = clone.repo
    same = os.path.realpath(repo.git_dir) == os.path.realpath(repo.common_dir)
    return "." if same else spelled(os.path.basename(repo.git_dir))


def anchor_of(clone: Clone) -> SessionAnchor:
    """This moment and where HEAD is; in a rebase its branch is the one that will move."""
    head, rebased = clone.repo.head(), None
    if head.ref is None:
        rebased = (clone.repo.rebasing() or "").removeprefix("refs/heads/") or None
    branch = head.branch or rebased
    return SessionAnchor(clone.now(), head.oid, spelled(branch) if branch else None)


def current(clone: Clone) -> Session | None:
    """The session that is open on this line in this work tree; of several agents', the last updated."""
    return next(reversed(open_here(clone)), None)


def open_here(clone: Clone) -> list[Session]:
    """All that are open on this line in this work tree: one, but for agents at work side by side."""
    return session_files.opened(clone.layout, line=clone.line().id, worktree=worktree_of(clone))


def find(clone: Clone, asked: str | None = None) -> Session:
    """The session somebody means; without a name the open one here, else the last of this line."""
    if asked is not None:
        names = {name: store for store in reversed(clone.stores) for name in session_files.ids(store)}
        chosen = pick(asked, names)
        return session_files.find(names[chosen], chosen)
    found = current(clone) or next(iter(session_files.of_line(clone.layout, clone.line().id)[::-1]), None)
    if found is None:
        raise NotFound("there is no session on this branch", hint=NONE_OPEN)
    return found


def last_here(clone: Clone) -> Session | None:
    """The session that this line had last, open or ended; a new one goes on from it."""
    branch, line = anchor_of(clone).branch, clone.line().id
    there = [one for one in session_files.likely(clone.stores, branch=branch) if one.line == line]
    return max(there, key=lambda one: (one.updated.ts, one.id), default=None)


def stale(clone: Clone) -> list[Stale]:
    """The open sessions not updated for some days, or whose branch or work tree is gone; oldest first."""
    limit = datetime.fromisoformat(clone.now()) - timedelta(days=STALE_DAYS)
    found = []
    for session in session_files.opened(clone.layout):
        if (why := _gone(clone, session)) is not None:
            found.append(Stale(session, why))
        elif datetime.fromisoformat(session.updated.ts) < limit:
            found.append(Stale(session, f"not updated since {session.updated.ts[:10]}"))
    return found


def _gone(clone: Clone, session: Session) -> str | None:
    names = {"." if n == 0 else spelled(os.path.basename(d)) for n, d in enumerate(clone.repo.worktrees())}
    if session.worktree not in names:
        return f"its work tree {session.worktree} is gone"
    if session.line == clone.line().id or session.branch is None:
        return None
    line = branch_lines.find(clone.stores, session.line)
    refs = line.refs[-1:] if line else (f"refs/heads/{session.branch}",)
    used = {clone.repo.ref_of(git_dir) for git_dir in clone.repo.worktrees()}  # an unborn branch is not gone
    if (line and line.dropped) or not any(ref in used or clone.repo.resolve(ref) for ref in refs):
        return f"its branch {session.branch} is gone"
    return None


def left(clone: Clone) -> Session | None:
    """The session this work tree was busy with on another branch, unless that was long ago."""
    limit = datetime.fromisoformat(clone.now()) - timedelta(days=STALE_DAYS)
    here = worktree_of(clone)
    busy = [one for store in clone.stores for one in session_files.opened(store, worktree=here)]
    recent = [one for one in busy if datetime.fromisoformat(one.updated.ts) >= limit]
    return max(recent, key=lambda one: (one.updated.ts, one.id), default=None)
