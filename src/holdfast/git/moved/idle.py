"""Branches that nobody has touched for a while."""

from datetime import UTC, datetime, timedelta

from holdfast.git import reflog
from holdfast.git.clone import Clone
from holdfast.model.event import timestamp
from holdfast.values import frozen

DAYS = 30


@frozen
class Idle:
    """A branch without a commit or a move for some weeks."""

    branch: str
    last: str  # when something last happened on it
    merged: bool  # its commits are in the trunk


def branches(clone: Clone, *, trunk: str | None = None, days: int = DAYS) -> list[Idle]:
    """The branches with no activity for some days, longest first; none that is checked out, nor the trunk."""
    repo, main = clone.repo, clone.repo.trunk(trunk)
    rows = repo.text("for-each-ref", "--format=%(committerdate:unix) %(refname)", "refs/heads").splitlines()
    used = {repo.ref_of(git_dir) for git_dir in repo.worktrees()} | {main}
    limit = (clone.clock() - timedelta(days=days)).timestamp()
    found = []
    for when, _, ref in (row.partition(" ") for row in rows):
        if ref not in used:
            log = reflog.read(repo.common_dir, ref)
            last = max(int(when or 0), log[-1].time if log else 0)
            if last < limit:
                found.append((last, ref))
    merged = _merged(clone, main) if found else set()
    return [
        Idle(ref.removeprefix("refs/heads/"), timestamp(datetime.fromtimestamp(last, UTC)), ref in merged)
        for last, ref in sorted(found)
    ]


def _merged(clone: Clone, main: str | None) -> set[str]:
    if main is None:
        return set()
    return set(clone.repo.text("for-each-ref", f"--merged={main}", "--format=%(refname)", "refs/heads").splitlines())
