"""The supervisor: queues what is ready, merges what is finished, and alone changes tasks.

One supervisor at a time works in a clone. Workers are processes of their own; they speak through the queue and the
journal, so any of them, and the supervisor itself, may be killed at any moment: the journal says where to go on. The
merge lane rebases one finished branch at a time and repeats its checks on the merged tree.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from holdfast.agent_store.agent_cycles import is_dead
from holdfast.crew import crew_journal, historian, merge_lane, plan_sources
from holdfast.crew.check_receipts import check_commands, checks_of
from holdfast.crew.crew_journal import (
    DECIDE,
    DONE,
    FINISHED,
    QUEUED,
    WAITING,
    WORKING,
    CrewBoard,
    CrewJournal,
    CrewState,
)
from holdfast.crew.crew_limits import GIVE_UP, CrewLimits, overlap, pause_until
from holdfast.crew.executor import CHECK, GUARD, INTERRUPTED, TAMPERED, CrewWork, ref_name, save_left, unfinished
from holdfast.crew.merge_lane import MergeOutcome, off_result
from holdfast.crew.plan_sources import CrewPlan
from holdfast.crew.step_process import WorkerProcess, end_marked, telling_line
from holdfast.crew.task_worktree import (
    TaskWorktree,
    drop_branches,
    git_words,
    listed_files,
    merged_branches,
    push_branch,
)
from holdfast.errors import BadInput, HoldfastError
from holdfast.git.tracked_files import paths_mentioned
from holdfast.model.task import PLANS, Task
from holdfast.project import Project
from holdfast.values import asdict, dict_of
from holdfast.work import task_board, task_claims, task_lifecycle

if TYPE_CHECKING:
    from holdfast.crew.crew_journal import CrewTask

BATCH = 50  # branches that are deleted at a time: one process of git for all of them
ELSEWHERE = 8  # workers on other machines that steps are queued for, whoever they are
DEPTH = 3  # steps under way for each worker: one waits, one is worked on, one is merged; each from a young commit
CLAIMS = 5  # times that a step may lose its worker before it counts as failed
LOOK = 5.0  # seconds between two looks at steps whose worker is gone
TICK = 0.5  # seconds between two looks, if no worker says that something happened
RESTARTS = 20  # workers that may die before a crew stops: something ends them
BACKOFF, LONGEST_BACKOFF = 2.0, 60.0  # seconds before a step is tried again whose agent failed
STOPPING = 10.0  # seconds for workers to end what they do


def mark_of(run: str, supervisor: int) -> str:
    """What the marks of a supervisor's own processes begin with: if it is killed, one of its workers ends them."""
    return f"{run}/by.{supervisor}"


class Supervisor:
    """One run of a crew while it is supervised."""

    def __init__(
        self,
        project: Project,
        run: str,
        *,
        agent: Sequence[str],
        workers: int,
        limits: CrewLimits,
        approve: Callable[[str, MergeOutcome], bool | None] = lambda *_: True,
        tell: Callable[[CrewState], None] = lambda _: None,
    ) -> None:
        """`project` is seen from the run's own work tree; `approve` is asked before a task is merged there."""
        self.project = project
        self.journal = CrewJournal(project.agents.database, run, clean=project.clone.intake.value)
        self.head, self.state = self.journal.head(), CrewState()
        self._queue = crew_journal.queue_of(project, run)
        self._limits, self._approve, self._tell = limits, approve, tell
        self._agent, self._count = tuple(agent), workers
        self._workers: list[WorkerProcess] = []
        self._bell = threading.Event()
        self._aside = ThreadPoolExecutor(3)  # for the merge lane, the planner and the historian: one step of each
        self._mark = mark_of(run, os.getpid())
        self._lane: Future[MergeOutcome] | None = None
        self._ask = historian.model_of(project, f"{self._mark}/plan")
        self._planning: tuple[Task, Future[CrewPlan | str | None]] | None = None
        self._lessons = historian.CrewLessons(project, self.journal, self._aside, self._bell, mark=self._mark)
        self._unsplit: set[str] = set()  # failed tasks that the planner gave no parts for: it is asked once
        self._is_ending = False
        self._began, self._died, self._complaint = time.monotonic(), 0, ""
        self._board = CrewBoard((), self.state)
        self._files: dict[str, tuple[str, ...]] = {}
        self._leaving: list[TaskWorktree] = []  # that can be taken away
        self._taken: dict[str, str] = {}  # ready tasks that somebody else has claimed, and who
        self._undropped = 0  # branches that are merged and still there
        self._tip = str(project.clone.repo.head().oid)  # of the result branch: only we move it
        self._seen = 0  # failures that are older than this supervisor
        self._looked = 0.0  # when the queue was last looked through for steps that nobody has
        self.reason = ""  # why it ended before its time

    # ── the loop ─────────────────────────────────────────────────────────────────────────────────

    def supervise(self) -> CrewState:
        """Work until nothing is left that can be done, or a limit is reached; gives how everything stands then."""
        self._take_up()
        try:
            while True:
                self._read()
                self._settle_failures()
                if reason := self._why_stop():
                    self.reason = reason
                    break
                self._tend_workers()
                self._merge_next()
                self._plan_next()
                self._lessons.propose_next(self.state, self._board)
                self._queue_ready()
                self._take_away()
                self._tell(self.state)
                if not self._is_under_way():
                    self.reason = next((f"what is left is not free: {why}" for why in self._taken.values()), "")
                    break
                self._bell.wait(TICK)
                self._bell.clear()
        finally:
            self._end_workers()
        self._read()
        self._give_back()
        save_left(self.project, self.head, self.state)
        self._close_tasks()
        self._lessons.propose_rest(self.state, self._board)
        left = self.state.has_left()
        spent = {"seconds": round(time.monotonic() - self._began, 3), "why": self.reason}
        self.journal.add(("stop" if self.reason and left else "end", spent), ended=not (self.reason and left))
        return self.state.fold(self.journal.steps(self.state.position))

    def _take_up(self) -> None:
        """Begin, or go on where a supervisor stopped or was killed."""
        end_marked(self.journal.run)  # what a killed worker left running
        self.journal.add(("supervise", {}))
        self._read()
        save_left(self.project, self.head, self.state)
        self._take_board()
        self._seen = len(self.state.failures)
        self._give_back(counts=False)  # they were killed with their supervisor
        if self.state.position and (self.state.is_stopping or self.state.is_ended):
            self.journal.add(("resume", {}), ended=False)
        if asked := [self._reopened(one) for one in self.state.tasks.values() if one.state == DECIDE]:
            self.journal.add(*asked)  # whoever goes on has decided
            self._read()
        for step in self.journal.steps():
            one = self.state.tasks.get(step.task)
            if step.kind == "queue" and one and one.attempt == step.body["attempt"] and one.state in (QUEUED, WORKING):
                self._queue.put(step.body["inputs"], key=one.item, most_attempts=CLAIMS)
        self._read()

    def _reopened(self, one: CrewTask) -> tuple[str, dict[str, Any]]:
        """The row that takes a question back; what a person did on the branch meanwhile is the work from now on."""
        repo, body = self.project.clone.repo, {"task": one.task}
        tip = repo.resolve(f"refs/heads/{one.branch}") if one.branch and one.asked_in == FINISHED else None
        if tip is not None and tip != one.commit:
            body |= {"commit": tip, "base": repo.text("merge-base", tip, "HEAD")}
        return "reopen", body

    def _read(self) -> None:
        self.state.fold(self.journal.steps(self.state.position))

    def _why_stop(self) -> str | None:
        if self.state.is_stopping:
            return "it was stopped"
        used = {**self.state.used(), "time": self._elapsed()}
        if len(self.state.agent_failures) >= GIVE_UP:
            return f"the agent failed {GIVE_UP} times in a row: {self.state.agent_failures[-1].body.get('why')}"
        if self.tampered:
            return f"{self.tampered}: look at that before you go on"  # the next step would run with it
        if moved := off_result(self.project, self.head):
            return moved
        if (tip := self.project.clone.repo.head().oid) != self._tip:
            return f"{self.head['branch']} was moved from {self._tip} to {tip}: look at that before you go on"
        if self._died > RESTARTS:
            return f"{self._died} workers ended by themselves: {self._complaint}"
        return self._limits.over(used)

    @property
    def tampered(self) -> str:
        """What an agent of this session changed that no step may change; empty if nothing."""
        found = (step for step in self.state.failures[self._seen :] if step.body.get("kind") == TAMPERED)
        return next((str(step.body["why"]) for step in found), "")

    def _elapsed(self) -> float:
        return self.state.seconds + time.monotonic() - self._began

    def _is_under_way(self) -> bool:
        tasks = self.state.tasks.values()  # one that failed just now has to be settled
        busy = any(one.state in (QUEUED, WORKING, FINISHED) or self._is_spent(one) for one in tasks)
        free = any(task.id not in self._taken for task in self._ready())
        aside = self._lane is not None or self._planning is not None or bool(self.state.untaught())
        return busy or free or aside

    # ── workers ──────────────────────────────────────────────────────────────────────────────────

    def _tend_workers(self) -> None:
        """Start what is missing; what a dead one had is given back, and what it left running is ended."""
        dead = [one for one in self._workers if not one.is_running()]
        if dead:
            self._died, self._complaint = self._died + len(dead), dead[-1].complaint()
            self._workers = [one for one in self._workers if one not in dead]
            gone = {str(one.pid) for one in dead}
            for one in self.state.tasks.values():
                if one.state == WORKING and one.worker in gone:
                    end_marked(f"{self.journal.run}/{ref_name(one.task)}")
        if dead or time.monotonic() - self._looked > LOOK:  # a worker of another terminal may be gone, too
            self._looked = time.monotonic()
            self._give_back()
        steps = sum(one.state in (QUEUED, WORKING) for one in self.state.tasks.values())
        wanted = min(self._count, max(steps, self._planning is not None))
        while len(self._workers) < wanted:
            cwd, environ = self.project.clone.repo.top, self.project.environ
            self._workers.append(WorkerProcess(self.journal.run, self._agent, self._bell, cwd=cwd, environ=environ))

    def _give_back(self, *, counts: bool = True) -> None:
        """Let steps be taken again whose worker, a process of this machine, is gone; too often, and they failed."""
        for item in self._queue.items("claimed", limit=1000):
            if item.holder is not None and is_dead(item.holder):
                with contextlib.suppress(HoldfastError):
                    self._queue.fail(item, f"its worker ended: {self._complaint or 'it said nothing'}", retry_in=0)
        for item in self._queue.items("failed", limit=1000):
            work = dict_of(item.action)
            task = self.state.tasks.get(str(work.get("task")))
            if not task or task.state not in (QUEUED, WORKING) or task.attempt != work.get("attempt"):
                continue
            if counts:
                why = f"{item.attempts} workers gave it up; {dict_of(item.outcome).get('error')}"
                self._add("fail", task, attempt=task.attempt, kind="agent", run_id=task.run_id, why=why)
            else:
                self._queue.revive(item)

    def _end_workers(self) -> None:
        self._is_ending = True  # the merge lane's checks as well: after Ctrl-C nobody waits half an hour
        for one in self._workers:
            one.close()
        until = time.monotonic() + STOPPING
        for one in self._workers:
            one.end(until)
        end_marked(self.journal.run)  # also what the planner and the historian run
        self._workers = []
        self._aside.shutdown()

    # ── what comes next ──────────────────────────────────────────────────────────────────────────

    def _settle_failures(self) -> None:
        """Try again what failed, until its attempts are used; a person is asked where that would not help."""
        for one in list(self.state.tasks.values()):
            if one.has_failed and one.kind in (GUARD, TAMPERED):
                self._add("decide", one, why=f"{one.why}; look at {one.path}")
                self._block(one)
            elif self._is_spent(one) and not self._may_split(one):
                self._add("park", one, why=f"failed {one.failures} times, at last: {one.why}")
                self._block(one)
        self._read()

    def _is_spent(self, one: CrewTask) -> bool:
        """Whether it is not tried again as it is: its attempts are used, or a person has to look."""
        return one.has_failed and (one.failures >= self._limits.attempts or one.kind in (GUARD, TAMPERED))

    # ── the planner ──────────────────────────────────────────────────────────────────────────────

    def _may_split(self, one: CrewTask) -> bool:
        """Whether the user's planner may break a task down; parts are not broken down again."""
        task = None if one.task in self._unsplit else self._board.tasks.get(one.task)
        return self._ask is not None and task is not None and task.kind != "subtask"

    def _is_unplanned(self, task: Task) -> bool:
        """Whether the planner has yet to look at a task before it is begun."""
        one = self.state.tasks[task.id]
        if one.is_planned or one.attempt or one.stands_for or task.kind == "subtask":
            return False
        return self._ask is not None or plan_sources.has_parts(task.notes)

    def _plan_next(self) -> None:
        """Take what the planner made of a task, and give it the next: one that failed, else one that is ready."""
        if self._planning is not None:
            task, asked = self._planning
            if not asked.done():
                return
            self._planning = None
            self._take_plan(task, asked.result())
        if (next_one := next(self._to_plan(), None)) is not None:
            failed = self.state.failures_of(next_one.id)
            self._planning = next_one, self._aside.submit(historian.broken_down, next_one, failed, self._ask)
            self._planning[1].add_done_callback(lambda _: self._bell.set())
            self._hold(next_one.id, "the planner is asked whether it has parts")

    def _to_plan(self) -> Iterator[Task]:
        for one in self.state.tasks.values():
            if self._is_spent(one) and one.kind not in (GUARD, TAMPERED) and self._may_split(one):
                yield self._board.tasks[one.task]
        yield from filter(self._is_unplanned, self._ready())

    def _take_plan(self, task: Task, plan: CrewPlan | str | None) -> None:
        """Take a task's parts into the run; without parts it is done as it is, or given up if it was tried."""
        parts: list[str] = []
        try:
            if isinstance(plan, CrewPlan):
                parts = [one.id for one in historian.place(self.project, plan, parent=task.id, checks=task.checks)]
                self._take_board()
        except HoldfastError as error:  # parts that wait for one another, or for what waits for them
            plan = f"{task.id} was not broken down: {error}"
        if isinstance(plan, str):
            self.journal.add(("note", {"said": plan}))
            if not plan_sources.has_parts(task.notes):  # a planner without an answer would only hold up the next task
                self._ask = None
        if not parts and self.state.tasks[task.id].has_failed:
            self._unsplit.add(task.id)
        made = [("plan", {"tasks": parts, "source": f"parts of {task.id}"})] if parts else []
        self.journal.add(*made, ("planned", {"task": task.id, "parts": parts}))
        self._read()

    def _block(self, one: CrewTask) -> None:
        self._read()
        with contextlib.suppress(HoldfastError):
            task_lifecycle.stop(self.project.clone, one.task, "blocked", reason=one.why[:500])
        task_claims.release(self.project.clone.layout, one.task)

    def _queue_ready(self) -> None:
        """Queue what is ready, nobody else has claimed, and meets no other step's files."""
        # What waits for the lane counts, too: else workers fill the disk with work trees that grow stale.
        busy = sum(one.state in (QUEUED, WORKING, FINISHED) for one in self.state.tasks.values())
        room = max(self._count, ELSEWHERE if self.head.get("remote") else 0) * DEPTH - busy
        now = time.time()
        if room <= 0 or now < pause_until([step.at / 1e6 for step in self.state.agent_failures]):
            return
        begun = self._files_of_others()
        for task in self._ready():
            if room <= 0:
                break
            if self._is_unplanned(task) or self._meets_others(task, begun) or not self._claim(task):
                continue
            if self._queue_one(task):
                room, begun[task.id] = room - 1, self._named_files(task)
        self._read()

    def _ready(self) -> list[Task]:
        """Tasks without parts that wait for nothing: the most urgent first, else as they are on the board."""
        tasks = (one for one in self.state.tasks.values() if one.state == WAITING and not self._is_spent(one))
        found = [self._board.tasks[one.task] for one in tasks if self._board.may_begin(one.task)]
        return sorted((task for task in found if task.kind not in PLANS), key=lambda task: task.priority)

    def _take_board(self) -> None:
        """Look at the tasks once more, and how they hang together."""
        self._board = CrewBoard(task_board.read(self.project.clone).tasks, self.state)

    def _files_of_others(self) -> dict[str, tuple[str, ...]]:
        """The files that each task under way changes or names."""
        board = self._board.tasks
        active = (one for one in self.state.tasks.values() if one.state in (QUEUED, WORKING, FINISHED))
        return {one.task: one.files or self._named_files(board[one.task]) for one in active if one.task in board}

    def _meets_others(self, task: Task, begun: Mapping[str, Sequence[str]]) -> bool:
        """Whether another task that was begun names or changes the same files; then this one waits for it."""
        found = overlap(begun, self._named_files(task))
        if found is None:
            return False
        said = f"{task.id} waits for {found[0]}: both concern {listed_files(found[1])}"
        self._hold(task.id, said)
        if (task.id, found[0]) not in self.state.overlaps:
            self.journal.add(("overlap", {"of": task.id, "with": found[0], "files": list(found[1]), "said": said}))
        return True

    def _named_files(self, task: Task) -> tuple[str, ...]:
        if task.id not in self._files:
            text = "\n".join((task.title, task.notes, *task.acceptance))
            self._files[task.id] = paths_mentioned(self.project.clone.repo, [text])[text]
        return self._files[task.id]

    def _claim(self, task: Task) -> bool:
        """Claim a task for this crew among everybody who works in this clone."""
        clone = self.project.clone
        who = task_lifecycle.TaskWorker(f"crew {self.journal.run}")
        claim = task_lifecycle.claim_of(clone, task.id, who, lasting=task_lifecycle.LASTING)
        try:
            task_claims.take(clone.layout, claim, now=clone.now())
        except HoldfastError as error:
            whose = re.search(r"by crew (\S+)", str(error))  # a crew that died keeps its claims until they run out
            self._taken[task.id] = f"{error}{f'; holdfast crew resume --run {whose[1]}' if whose else ''}"
            self._hold(task.id, self._taken[task.id])
            return False
        self._taken.pop(task.id, None)
        return True

    def _queue_one(self, task: Task) -> bool:
        """Queue a step with all it needs to know; False if it has no check to show that it is done."""
        one = self.state.tasks[task.id]
        try:
            checks = checks_of(task.checks, check_commands(self.project, self.head["top"]))
        except BadInput as error:
            self._add("decide", one, why=f"{error}. {error.hint}")
            task_claims.release(self.project.clone.layout, task.id)
            return False
        attempt = one.attempt + 1
        used = {**self.state.used(), "time": self._elapsed()}
        work = CrewWork(
            run=self.journal.run,
            task=task.id,
            title=task.title,
            notes=task.notes,
            acceptance=task.acceptance,
            checks=tuple(checks),
            attempt=attempt,
            base=self._tip,
            told=historian.told_to(self._board.tasks, self.state, task, self._named_files(task)),
            files=self._named_files(task),
            limits=asdict(self._limits.of_step(used)),
        )
        item = f"{task.id}/{attempt}"
        self._add("queue", one, attempt=attempt, item=item, inputs=asdict(work))
        slow = one.kind in ("agent", "broken", "limit") and one.failures
        delay = min(BACKOFF * 2 ** (one.failures - 1), LONGEST_BACKOFF) if slow else 0.0
        self._queue.put(asdict(work), key=item, delay=delay, most_attempts=CLAIMS)
        return True

    def _add(self, kind: str, one: CrewTask, /, **body: Any) -> None:
        self.journal.add((kind, {"task": one.task, **body}))

    def _hold(self, name: str, why: str) -> None:
        """Say why a ready task does not begin, for whoever looks."""
        if self.state.tasks[name].why != why and not self.state.tasks[name].has_failed:
            self._add("hold", self.state.tasks[name], why=why)
            self._read()

    # ── the merge lane ───────────────────────────────────────────────────────────────────────────

    def _merge_next(self) -> None:
        """Take what the lane made, and give it the next finished branch: those others wait for first."""
        if self._lane is not None:
            if not self._lane.done():
                return
            outcome, self._lane = self._lane.result(), None
            self._take_merged(outcome)
        finished = [one for one in self.state.tasks.values() if one.state == FINISHED]
        if not finished:
            return
        one = max(finished, key=lambda one: (self._board.wanted[one.task], -one.since))
        if one.checked and self.project.clone.repo.is_ancestor(one.checked, self._tip):
            self._merge_row(one, one.checked)  # it was merged, and only this was not written down
            return
        try:
            checks = checks_of(self._board.tasks[one.task].checks, check_commands(self.project, self.head["top"]))
        except BadInput as error:  # its command is gone since it was worked on
            self._add("decide", one, why=f"{error}. {error.hint}")
            self._read()
            return
        self._lane = self._aside.submit(self._run_lane, one, self._tip, checks)
        self._lane.add_done_callback(lambda _: self._bell.set())

    def _run_lane(self, one: CrewTask, tip: str, checks: Mapping[str, str]) -> MergeOutcome:
        try:
            lane = merge_lane.MergeLane(
                self.project, self.head, mark=self._mark, seconds=self._limits.step_time, watch=self._why_end_checks
            )
            return lane.rebased(one, self._board.tasks[one.task].title, tip, checks)
        except (HoldfastError, OSError) as error:
            return MergeOutcome(task=one.task, error=str(error))

    def _why_end_checks(self) -> str | None:
        return "the crew was stopped" if self.state.is_stopping or self._is_ending else None

    def _take_merged(self, done: MergeOutcome) -> None:
        one = self.state.tasks[done.task]
        if done.error:
            self._add("decide", one, why=f"it could not be merged: {done.error}")
        elif done.conflict is not None:
            self._conflict(one, done.conflict)
        elif done.failed is not None:
            receipts = [asdict(row) for row in done.receipts]
            why = f"on the merged tree the check {done.failed.said()}: {telling_line(done.failed.tail)}"
            kind = INTERRUPTED if done.failed.stopped == "the crew was stopped" else CHECK
            body = {"attempt": one.attempt, "kind": kind, "why": why, "run_id": one.run_id}
            self._add(
                "fail", one, **body, files=list(done.files), receipts=receipts, branch=one.branch, said=one.summary
            )
            self._drop_tree(one)
        else:
            self._merge(one, done)
        self._read()

    def _merge(self, one: CrewTask, done: MergeOutcome) -> None:
        agreed = self._approve(one.task, done)
        if not agreed:
            self._add("decide", one, why="it waits for your yes" if agreed is None else "you did not want it merged")
            return
        if done.review:
            self.journal.add(*done.review)
        receipts = [asdict(row) for row in done.receipts]
        self._add("checked", one, commit=done.commit, tree=done.tree, receipts=receipts)
        if off_result(self.project, self.head):  # somebody switched while the checks ran: the next look says so
            return
        merged = self.project.clone.repo.attempt_patiently("merge", "-q", "--ff-only", done.commit)
        if merged.returncode:
            said = git_words(merged.stderr)
            self._add("decide", one, why=f"the result branch could not take {one.branch}: {said}")
            return
        self._tip = done.commit
        self._read()
        if not done.files:
            self.journal.add(("note", {"said": f"{one.task} changed nothing: its checks passed on what was there"}))
        self._merge_row(one, done.commit)

    def _merge_row(self, one: CrewTask, commit: str) -> None:
        if self.head.get("remote"):
            push_branch(self.project.clone.repo, self.head["remote"], self.head["branch"])
        self._add("merge", one, commit=commit, tree=one.tree)
        self._read()
        self._drop_tree(one)
        self._undropped += 1

    def _drop_tree(self, one: CrewTask) -> None:
        """Let a work tree go whose work is committed; the lane need not wait for it."""
        self._leaving.append(TaskWorktree(self.project.clone.repo, one.path, one.branch))

    def _take_away(self) -> None:
        while self._leaving:
            place = self._leaving.pop()
            try:
                place.leave(unfinished(place.branch))
            except (HoldfastError, OSError) as error:
                self.project.notices.append(str(error))
        if self._undropped >= BATCH:
            self._drop_branches()

    def _conflict(self, one: CrewTask, files: tuple[str, ...]) -> None:
        """A conflict becomes a task: the same work once more, on top of what was merged meanwhile."""
        repo, merged = self.project.clone.repo, self.state.merged
        near = (name for name, theirs in merged.items() if set(theirs) & set(files))
        others = [name for name in near if not repo.is_ancestor(self.state.tasks[name].commit, one.base)]
        said = f"conflicts with {', '.join(others) or 'what was merged'} in {listed_files(files)}"
        if one.stands_for:
            why = f"it {said} again; its work is in the branch {one.branch}"
            self._add("decide", one, why=why, files=list(files), **{"with": others})
            self._drop_tree(one)
            return
        task = self._board.tasks[one.task]
        why = f"The work was done in the branch {one.branch}, but it {said}. Do it again on top of what is there now."
        notes = f"{task.notes}\n\n{why}"
        made = task_lifecycle.add(
            self.project.clone,
            title=f"Resolve: {task.title}"[:500],
            kind="subtask",
            parent=task.id,
            notes=notes.strip(),
            acceptance=task.acceptance,
            checks=task.checks,
            priority=task.priority,
        )
        self._take_board()
        self.journal.add(
            ("conflict", {"task": one.task, "kind": "conflict", "why": said, "files": list(files), "with": others}),
            ("plan", {"tasks": [made.id], "source": "conflict", "stands_for": one.task}),
            ("note", {"said": f"{one.task} {said}; {made.id} resolves it"}),
        )
        self._drop_tree(one)

    # ── tasks ────────────────────────────────────────────────────────────────────────────────────

    def _close_tasks(self) -> None:
        """Say on the board what the journal says: what is done, with its commit; what has only done parts."""
        clone, found = self.project.clone, {}
        for one in self.state.tasks.values():
            if one.state == DONE:
                runs = [f"run:{one.run_id}"] if one.run_id else []
                found[one.task] = [f"commit:{one.commit}", *runs]
        found |= {name: [] for name in self.state.tasks if name not in found and self._board.is_done(name)}
        done = task_lifecycle.close_all(clone, found)
        if parents := [("close", {"task": task.id}) for task in done if not found[task.id]]:
            self.journal.add(*parents)
            self._read()
        self._take_away()
        self._drop_branches()

    def _drop_branches(self) -> None:
        """Delete the branches whose commits are all in the result."""
        repo = self.project.clone.repo
        there = merged_branches(repo, self.journal.run)
        self._read()  # after that: a worker writes down its branch, which has no commit yet, before it makes it
        kept = {self.head["branch"], *(one.branch for one in self.state.tasks.values() if one.state != DONE)}
        drop_branches(repo, [name for name in there if name not in kept])
        self._undropped = 0
