"""The journal of a crew: every step with its inputs, in the agents' store; and what it comes to.

Everything a crew knows of itself is read from here, so that it goes on after a crash from the store alone. Rows are
only added. Who writes what: the supervisor plans, queues, merges, parks and ends; workers start, finish and fail steps.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from holdfast.agent_store import adapter_rows
from holdfast.agent_store.work_queue import WorkQueue
from holdfast.errors import Busy, NotFound
from holdfast.model.ids import token
from holdfast.store import fsio
from holdfast.values import dicts_of, frozen, grouped, mutable

if TYPE_CHECKING:
    from holdfast.agent_store.database import AgentDatabase, StoreTransaction
    from holdfast.model.task import Task
    from holdfast.project import Project

SESSIONS = "crew/"  # what the journals' names begin with
KIND = "crew"


@frozen(kw_only=True)
class CrewStep:
    """One row of the journal."""

    position: int
    at: int  # microseconds since 1970, by the database's clock
    kind: str
    body: Mapping[str, Any]

    @property
    def task(self) -> str:
        return str(self.body.get("task") or "")

    @property
    def when(self) -> datetime:
        return datetime.fromtimestamp(self.at / 1e6, UTC)


class CrewJournal:
    """The journal of one run of a crew."""

    def __init__(self, database: AgentDatabase, run: str, *, clean: Callable[[Any], Any] = lambda value: value) -> None:
        """`clean` takes secrets out of what is written: agents and checks print whatever they find."""
        self._database, self.run, self._clean = database, run, clean
        self._session = f"{SESSIONS}{run}"

    def begin(self, head: Mapping[str, Any]) -> None:
        """Make the journal; what is given describes the run as a whole."""
        told = {**self._clean(dict(head)), "run": self.run}
        self._database.run(lambda tx: adapter_rows.make_session(tx, self._session, told) and None)

    def head(self) -> dict[str, Any]:
        """What describes the run as a whole; NotFound if there is no such run."""
        found = self._database.run(lambda tx: adapter_rows.session_head(tx, self._session), read=True)
        if found is None:
            raise NotFound(f"there is no crew {self.run} here", hint="See `holdfast crew status`.")
        return found

    def add(self, *steps: tuple[str, Mapping[str, Any]], **head: Any) -> None:
        """Add steps, all or none, durable on return; `head` changes what describes the run."""
        action = token(16)
        rows = [{"step": kind, **self._clean(dict(body))} for kind, body in steps]

        def write(tx: StoreTransaction) -> None:
            known = adapter_rows.session_head(tx, self._session, lock=True)
            if known is None:
                raise NotFound(f"there is no crew {self.run} here", hint="See `holdfast crew status`.")
            if tx.is_repeat and adapter_rows.entries_of(tx, self._session, action):
                return
            adapter_rows.append(tx, self._session, {**known, **head}, rows, kind=KIND, action=action)

        self._database.run(write)

    def steps(self, after: int = 0) -> list[CrewStep]:
        """The steps after a place, in order."""
        rows = self._database.run(lambda tx: adapter_rows.entries(tx, self._session, after=after), read=True)
        return [
            CrewStep(position=row.position, at=row.created, kind=str(row.body.get("step")), body=row.body)
            for row in rows
            if isinstance(row.body, dict)
        ]


def runs(database: AgentDatabase) -> list[dict[str, Any]]:
    """All runs of crews, oldest first."""
    found = database.run(lambda tx: adapter_rows.session_heads(tx, SESSIONS), read=True)
    return sorted((one for one in found if one.get("run")), key=lambda one: str(one.get("started")))


OF_TASKS = (
    *("planned", "queue", "start", "usage", "finish", "fail", "checked", "merge", "close"),
    *("conflict", "park", "decide", "reopen", "hold"),
)
WAITING, QUEUED, WORKING, FINISHED, DONE = "waiting", "queued", "working", "finished", "done"
PARKED, DECIDE = "parked", "decide"  # given up with a reason; a question for a person
CONFLICT, PARTS, HELD = "conflict", "parts", "held"  # kinds of waiting that no failure is the reason of


@mutable
class CrewTask:
    """Where a task of a crew stands."""

    task: str
    state: str = WAITING
    attempt: int = 0  # of how many were queued so far
    item: str = ""  # the queue's name for the attempt
    worker: str = ""
    since: int = 0
    branch: str = ""
    path: str = ""
    base: str = ""
    commit: str = ""
    tree: str = ""
    run_id: str = ""
    summary: str = ""
    why: str = ""  # the last failure, or the reason it waits for somebody
    kind: str = ""  # of the last failure
    asked_in: str = ""  # the state in which a person was asked
    failures: int = 0
    files: tuple[str, ...] = ()
    receipts: tuple[Mapping[str, Any], ...] = ()
    checked: str = ""  # the commit whose checks passed on the merged tree, before it was merged
    stands_for: str = ""  # another task, whose conflict this one resolves
    is_planned: bool = False  # the planner has looked at it
    rivals: tuple[str, ...] = ()  # tasks whose merged work it conflicts with, in `clash`
    clash: tuple[str, ...] = ()

    @property
    def has_failed(self) -> bool:
        """Whether its last attempt failed; what waits for the tasks that resolve it or are its parts did not."""
        return self.state == WAITING and bool(self.why) and self.kind not in (CONFLICT, PARTS, HELD)


@frozen(kw_only=True)
class CrewConflict:
    """Something of a run that a person should know of or decide: two tasks on the same files, or a question."""

    run: str
    kind: str  # overlap (before a step starts), merge, or decision
    tasks: tuple[str, ...]
    files: tuple[str, ...]
    said: str


# Where a task stands when a worker's word of it counts. A worker that lost its step may still speak.
_WHILE = {
    "start": (QUEUED, WORKING),
    "finish": (QUEUED, WORKING, FINISHED),
    "fail": (QUEUED, WORKING, FINISHED),  # FINISHED: on the merged tree
}


def _is_late(step: CrewStep, one: CrewTask) -> bool:
    """Whether a row repeats what is known, or speaks of an attempt that is over."""
    if step.kind not in _WHILE:
        return False
    return one.state not in _WHILE[step.kind] or step.body.get("attempt", one.attempt) != one.attempt


_OUTSIDE = ("supervise", "stop", "resume", "reopen")  # rows that show nobody at work


class CrewState:
    """What the steps of a journal come to."""

    def __init__(self) -> None:
        self.tasks: dict[str, CrewTask] = {}
        self.position = 0
        self.failures: list[CrewStep] = []
        self.usage: dict[tuple[str, int, int], Mapping[str, Any]] = {}  # of each time that a worker took an attempt up
        self.notes: list[str] = []  # for the recap: overlaps, fallbacks
        self.overlaps: dict[tuple[str, str], CrewStep] = {}  # the task that waits, the task whose files it needs
        self.objections: list[tuple[str, str]] = []  # of a reviewer, to what is merged: task and sentence
        self.is_stopping = self.is_ended = False
        self.why_stopped = ""
        self.seconds = 0.0  # that supervisors worked on it before
        self.decisions: dict[str, str] = {}
        self.agent_failures: list[CrewStep] = []  # in a row, without a success between them
        self.lessons: dict[int, str] = {}  # the failure's place in the journal, and the dead end that was proposed
        self._since = self._worked = 0  # when the supervisor began that has not ended, and its crew's last row
        self.merged: dict[str, tuple[str, ...]] = {}  # task to the files it changed, in the order of merging

    def fold(self, steps: Iterable[CrewStep]) -> CrewState:
        """Take further steps into account."""
        for step in steps:
            self.position = step.position
            if step.kind not in _OUTSIDE:
                self._worked = step.at
            if not step.task:
                self._whole(step)
            elif step.kind in OF_TASKS:  # a later version may know more: those change nothing here
                one = self.tasks.setdefault(step.task, CrewTask(step.task))
                if not _is_late(step, one):
                    one.since = step.at
                    getattr(self, f"_{step.kind}")(step, one)
        return self

    def _whole(self, step: CrewStep) -> None:
        if step.kind == "plan":
            for task in step.body.get("tasks") or ():
                one = self.tasks.setdefault(str(task), CrewTask(str(task)))
                one.stands_for = str(step.body.get("stands_for") or one.stands_for)
                one.is_planned = one.is_planned or bool(step.body.get("by_model"))
        elif step.kind == "note":
            self.notes.append(str(step.body.get("said")))
        elif step.kind == "overlap":
            self.overlaps[str(step.body.get("of")), str(step.body.get("with"))] = step
        elif step.kind == "object":
            said = (str(step.body.get("of")), str(step.body.get("says")))
            if said not in self.objections:  # asked again after a crash
                self.objections.append(said)
        elif step.kind == "lesson":
            self.lessons[int(step.body.get("of") or 0)] = str(step.body.get("memory") or "")
        elif step.kind == "supervise":
            self.seconds += self._of_killed()
            self._since = step.at
        elif step.kind in ("stop", "resume", "end"):
            self.is_stopping, self.is_ended = step.kind == "stop", step.kind == "end"
            self.why_stopped = str(step.body.get("why") or "it was stopped") if step.kind == "stop" else ""
            if step.kind == "resume":  # somebody looked at the agent
                self.agent_failures.clear()
            self.seconds += float(step.body.get("seconds") or 0)
            if "seconds" in step.body:  # by the supervisor, when its workers had ended
                self._since = 0
                for one in self.tasks.values():
                    one.state = QUEUED if one.state == WORKING else one.state

    def _of_killed(self) -> float:
        """The seconds of a supervisor that could not say how long it worked."""
        return max(0, self._worked - self._since) / 1e6 if self._since else 0.0

    def _planned(self, step: CrewStep, one: CrewTask) -> None:
        one.is_planned = True
        if one.kind == HELD:
            one.why = one.kind = ""
        if step.body.get("parts"):
            one.why, one.kind = "it was broken down", PARTS

    def _hold(self, step: CrewStep, one: CrewTask) -> None:
        if one.state == WAITING and not one.has_failed and one.kind not in (CONFLICT, PARTS):
            one.why, one.kind = str(step.body.get("why")), HELD

    def _queue(self, step: CrewStep, one: CrewTask) -> None:
        one.state, one.attempt, one.item = QUEUED, int(step.body["attempt"]), str(step.body["item"])
        one.why = one.worker = one.checked = ""
        self.decisions.pop(one.task, None)

    def _start(self, step: CrewStep, one: CrewTask) -> None:
        one.state, body = WORKING, step.body
        one.worker, one.branch, one.path, one.base = (str(body[name]) for name in ("worker", "branch", "path", "base"))

    def _usage(self, step: CrewStep, one: CrewTask) -> None:
        self.usage[one.task, int(step.body["attempt"]), int(step.body.get("claim") or 1)] = step.body

    def _finish(self, step: CrewStep, one: CrewTask) -> None:
        one.state, body = FINISHED, step.body
        one.commit, one.tree, one.branch, one.path = (str(body[n]) for n in ("commit", "tree", "branch", "path"))
        one.base, one.run_id, one.summary = (str(body.get(name) or "") for name in ("base", "run_id", "summary"))
        one.files, one.receipts = tuple(body.get("files") or ()), tuple(dicts_of(body.get("receipts")))
        self.agent_failures.clear()

    def _fail(self, step: CrewStep, one: CrewTask) -> None:
        one.state, one.why, one.kind = WAITING, str(step.body.get("why")), str(step.body.get("kind"))
        one.run_id = str(step.body.get("run_id") or one.run_id)
        one.failures += step.body.get("kind") != "interrupted"  # nobody's fault
        self.failures.append(step)
        if one.kind == "agent":
            self.agent_failures.append(step)

    def _checked(self, step: CrewStep, one: CrewTask) -> None:
        one.checked, one.tree = str(step.body["commit"]), str(step.body["tree"])
        one.receipts = tuple(dicts_of(step.body.get("receipts")))

    def _merge(self, step: CrewStep, one: CrewTask) -> None:
        one.state, one.commit = DONE, str(step.body["commit"])
        self.merged[one.task] = one.files
        if one.stands_for in self.tasks:
            other = self.tasks[one.stands_for]
            other.state, other.commit, other.receipts, other.tree = DONE, one.commit, one.receipts, one.tree

    def _close(self, _: CrewStep, one: CrewTask) -> None:
        one.state = DONE  # all its parts are

    def _conflict(self, step: CrewStep, one: CrewTask) -> None:
        one.state, one.why, one.kind = WAITING, str(step.body.get("why")), CONFLICT
        self._clash(step, one)
        self.decisions.pop(one.task, None)

    def _clash(self, step: CrewStep, one: CrewTask) -> None:
        one.rivals = tuple(step.body.get("with") or one.rivals)
        one.clash = tuple(step.body.get("files") or one.clash)

    def _park(self, step: CrewStep, one: CrewTask) -> None:
        one.state, one.why = PARKED, str(step.body.get("why"))

    def _decide(self, step: CrewStep, one: CrewTask) -> None:
        one.asked_in = one.state if one.state != DECIDE else one.asked_in
        one.state, one.why = DECIDE, str(step.body.get("why"))
        self._clash(step, one)
        self.decisions[one.task] = one.why

    def _reopen(self, step: CrewStep, one: CrewTask) -> None:
        """Somebody looked at it and goes on: finished work is merged, everything else is tried again."""
        if one.state == DECIDE:
            one.state = FINISHED if one.asked_in == FINISHED else WAITING
            one.why = one.kind = ""
            if "commit" in step.body:  # somebody went on with it by hand
                one.commit, one.base, one.tree = str(step.body["commit"]), str(step.body["base"]), ""
            self.decisions.pop(one.task, None)

    def used(self) -> dict[str, float]:
        """What all steps used so far."""
        names = ("tokens_in", "tokens_out", "calls", "cost", "seconds")
        found = {name: float(sum(one.get(name) or 0 for one in self.usage.values())) for name in names}
        return {**found, "tokens": found["tokens_in"] + found["tokens_out"]}

    def usage_of(self, one: CrewTask) -> Mapping[str, Any]:
        """What a task's attempt used since a worker took it up last."""
        found = [(key, body) for key, body in self.usage.items() if key[:2] == (one.task, one.attempt)]
        return max(found, key=lambda row: row[0])[1] if found else {}

    def has_left(self) -> bool:
        """Whether something is under way or may still be."""
        return any(one.state in (WAITING, QUEUED, WORKING, FINISHED) for one in self.tasks.values())

    def conflicts(self, run: str) -> list[CrewConflict]:
        """What is open between tasks, or for a person to decide; what a check has settled since is none."""

        def told(kind: str, said: str, files: Sequence[str], *tasks: str) -> CrewConflict:
            return CrewConflict(run=run, kind=kind, tasks=tasks, files=tuple(files), said=said)

        over, found = (DONE, PARKED), []
        asked = {task.stands_for for task in self.tasks.values() if task.state == DECIDE}
        for (one, other), step in self.overlaps.items():
            if not any(name in self.tasks and self.tasks[name].state in over for name in (one, other)):
                found.append(told("overlap", str(step.body.get("said")), step.body.get("files") or (), one, other))
        for task in self.tasks.values():
            if task.state == DECIDE:
                found.append(told("decision", task.why, task.clash, task.task, *task.rivals))
            elif task.kind == CONFLICT and task.state not in over and task.task not in asked:
                found.append(told("merge", task.why, task.clash, task.task, *task.rivals))
        return found

    def untaught(self) -> list[CrewStep]:
        """The failures that teach something of their task and are no dead ends yet; that an agent crashed does not."""
        teach = (one for one in self.failures if one.body.get("kind") in ("check", "limit", "nothing"))
        return [one for one in teach if one.position not in self.lessons]

    def failures_of(self, task: str, files: Sequence[str] = ()) -> list[CrewStep]:
        """The failures of a task, and of others that touched the same files; the newest last."""
        near = set(files)
        return [one for one in self.failures if one.task == task or near & set(one.body.get("files") or ())]


class CrewBoard:
    """The tasks on the board and how they hang together; what is done of them, the journal knows first."""

    def __init__(self, tasks: Iterable[Task], state: CrewState) -> None:
        self.tasks, self._state = {task.id: task for task in tasks}, state
        self.parts = grouped((task.parent, task.id) for task in self.tasks.values() if task.parent)
        self.wanted = Counter(need for task in self.tasks.values() for need in task.needs)  # how many need one

    def title(self, name: str) -> str:
        return self.tasks[name].title if name in self.tasks else name

    def may_begin(self, name: str) -> bool:
        """Whether a task has no parts, and all that it and what it is part of need is done."""
        return name in self.tasks and not self.parts.get(name) and not self.missing(name)

    def missing(self, name: str) -> list[str]:
        """What a task, or what it is part of, needs and is not done."""
        found: list[str] = []
        seen: set[str] = set()
        while name and name in self.tasks and name not in seen:
            seen.add(name)
            found += [need for need in self.tasks[name].needs if not self.is_done(need, seen)]
            name = self.tasks[name].parent or ""
        return found

    def is_done(self, name: str, above: Set[str] = frozenset()) -> bool:
        """Whether a node is done, by the journal or on the board; one with parts is done when they are."""
        one, task = self._state.tasks.get(name), self.tasks.get(name)
        if (one is not None and one.state == DONE) or (task is not None and task.is_closed and one is None):
            return True
        parts = self.parts.get(name, ())
        return bool(parts) and name not in above and all(self.is_done(part, {*above, name}) for part in parts)

    def reasons(self) -> dict[str, str]:
        """Why each task that waits does not begin."""
        waiting = [one for one in self._state.tasks.values() if one.state == WAITING]
        return {one.task: one.why or self._reason(one.task) for one in waiting}

    def _reason(self, name: str) -> str:
        if missing := self.missing(name):
            return f"needs {', '.join(dict.fromkeys(missing))}"
        parts = self.parts.get(name, ())
        done = sum(self.is_done(part) for part in parts)
        return f"{done} of {len(parts)} parts are done" if parts else "waits for a worker"


def queue_of(project: Project, run: str) -> WorkQueue:
    """The queue that holds a run's steps."""
    return WorkQueue(project.agents.database, f"crew/{run}", clean=project.clone.intake.value)


@contextlib.contextmanager
def alone(project: Project) -> Iterator[None]:
    """Supervise from this clone; Busy if somebody does already."""
    path = project.clone.private.crew
    fsio.make_dirs(os.path.dirname(path))
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if not fsio.try_lock_fd(handle):
            raise Busy(
                "a crew is at work in this clone", hint="See `holdfast crew status`; end it with `holdfast crew stop`."
            )
        yield
    finally:
        os.close(handle)
