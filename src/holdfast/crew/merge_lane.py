"""The merge lane: puts one finished branch on top of the result, and checks the merged tree.

It works in the task's own work tree and moves only the task's branch; the supervisor decides what becomes of the
outcome. Killed at any point, it starts again from the commit that the journal knows.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from holdfast.crew import historian
from holdfast.crew.check_receipts import CheckReceipt, run_checks
from holdfast.crew.executor import check_environment, ref_name
from holdfast.crew.task_worktree import TaskWorktree, fetch_branch, folder_name
from holdfast.values import frozen, replace

if TYPE_CHECKING:
    from holdfast.crew.crew_journal import CrewTask
    from holdfast.crew.step_process import Watch
    from holdfast.project import Project

MAX_DIFF = 200_000  # bytes of a diff that a reviewer gets: what is longer nobody reads, and a pipe has to take it


def off_result(project: Project, head: Mapping[str, Any]) -> str | None:
    """That the result's work tree is on another branch, which a merge there would move; None if it is not."""
    here = project.clone.repo.head().branch
    if here == head["branch"]:
        return None
    return f"{head['path']} is on {here or 'no branch'}: git -C {shlex.quote(head['path'])} switch {head['branch']}"


@frozen(kw_only=True)
class MergeOutcome:
    """What the merge lane made of a finished branch."""

    task: str
    commit: str = ""
    tree: str = ""
    files: tuple[str, ...] = ()
    receipts: tuple[CheckReceipt, ...] = ()
    conflict: tuple[str, ...] | None = None
    error: str = ""
    review: tuple[tuple[str, Mapping[str, Any]], ...] = ()  # rows for the journal

    @property
    def failed(self) -> CheckReceipt | None:
        return next((one for one in self.receipts if not one.is_passed), None)


@frozen
class MergeLane:
    """Where and how branches of one run are merged."""

    project: Project
    head: Mapping[str, Any]  # what describes the run
    mark: str  # what the names of its processes begin with
    seconds: float | None  # for one check
    watch: Watch  # why checks have to end now

    def rebased(self, one: CrewTask, title: str, tip: str, checks: Mapping[str, str]) -> MergeOutcome:
        """Rebase a finished branch in its own work tree and check the merged tree there."""
        place = self._place(one)
        if one.base != tip and (files := place.rebase(one.base, tip)) is not None:
            return MergeOutcome(task=one.task, conflict=files)
        held = place.held(tip)
        if held.tree == one.tree and one.base == tip:
            receipts = tuple(CheckReceipt(**row) for row in one.receipts)  # the very tree that was checked
        else:
            place.drop_unprepared()
            receipts = run_checks(
                checks,
                cwd=place.path,
                tree=held.tree,
                environ=check_environment(self.project),
                mark=f"{self.mark}/{ref_name(one.task)}/merge",
                seconds=self.seconds,
                watch=self.watch,
            )
            place.note_checked()
        done = MergeOutcome(task=one.task, commit=held.commit, tree=held.tree, files=held.files, receipts=receipts)
        if done.failed or "reviewer" not in self.project.settings.crew_roles:
            return done
        return self._reviewed(one, title, done, place.tree.attempt("diff", tip, held.commit).stdout)

    def _place(self, one: CrewTask) -> TaskWorktree:
        """The task's work tree, with its branch where the journal says."""
        repo, folder = self.project.clone.repo, os.path.dirname(self.head["path"])
        if os.path.dirname(one.path) != folder or not os.path.isdir(one.path):  # of another clone, or taken away
            one.path = os.path.join(folder, folder_name(one.branch.rpartition("/")[2]))
            if self.head.get("remote"):
                fetch_branch(repo, self.head["remote"], one.branch)
            TaskWorktree(repo, one.path, one.branch).reopen()
        place = TaskWorktree(repo, one.path, one.branch)
        if repo.resolve(f"refs/heads/{one.branch}") != one.commit:  # a lane that was killed had moved it
            place.tree.attempt_patiently("rebase", "--abort")
            place.tree.attempt_patiently("reset", "-q", "--hard", one.commit)
        return place

    def _reviewed(self, one: CrewTask, title: str, done: MergeOutcome, diff: bytes) -> MergeOutcome:
        """The same with what the user's own reviewer says of it."""
        text = diff[:MAX_DIFF].decode("utf-8", "replace")
        facts = {"commit": done.commit, "title": title, "diff": text, "summary": one.summary}
        step = historian.FinishedStep(task=one.task, branch=one.branch, files=done.files, **facts)
        mark = f"{self.mark}/{ref_name(one.task)}/review"
        return replace(done, review=historian.reviewed(self.project, step, mark=mark, watch=self.watch))
