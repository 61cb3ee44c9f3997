"""Turns what a crew did into memory: lessons for the next worker, dead ends to review, and the recap.

By rules, from what was recorded: what failed and how, what a needed task reported. Roles of the user's own (entry
points of the group `holdfast.crew`, named in their settings) may take a part of it: a reviewer looks at finished steps,
a planner breaks work down, a historian words dead ends. Each has one method and runs as a process of its own, so that
one that fails or hangs ends in a sentence. A reviewer's word is an opinion, and a check beats it.
"""

from __future__ import annotations

import contextlib
import json
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Protocol

from holdfast.capture import user_command
from holdfast.crew import plan_sources
from holdfast.crew.crew_journal import DECIDE, DONE, PARKED, CrewBoard, CrewJournal, CrewState, CrewStep, CrewTask
from holdfast.crew.crew_limits import CHECK, Word, settled
from holdfast.crew.step_process import MARK, Watch, run_step
from holdfast.errors import BadInput, HoldfastError
from holdfast.model.ids import token
from holdfast.model.task import Task
from holdfast.model.text import visible
from holdfast.values import asdict, dict_of, dicts_of, frozen
from holdfast.work import task_board

if TYPE_CHECKING:
    from holdfast.project import Project

GROUP = "holdfast.crew"  # of entry points
MOST_TOLD = 12  # lessons for one worker: the nearest ones
PRINTED = 1200  # characters of a failed check's output that the next worker gets: a traceback fits
SAID = 400  # characters of an agent's words that another one gets
MODEL_TIME = 120.0  # seconds for a plan
ROLE_TIME = 300.0  # seconds for a role: it may ask a model
MAX_ANSWER, MOST_ANSWERS = 20_000, 20  # characters of a role's answer, and how many sentences are taken


@frozen(kw_only=True)
class FinishedStep:
    """What a role gets to see of a finished step."""

    task: str
    title: str
    branch: str
    commit: str
    files: tuple[str, ...]
    diff: str
    summary: str  # in the agent's own words


@frozen(kw_only=True)
class FailedStep:
    """What a role gets to see of an attempt that failed."""

    task: str
    title: str
    kind: str  # check, agent, limit or nothing
    why: str
    said: str  # in the agent's own words
    files: tuple[str, ...]


class StepReviewer(Protocol):
    """Looks at a finished step, and says what is wrong with it; nothing if nothing is."""

    def review(self, step: FinishedStep) -> Sequence[str]: ...


class Planner(Protocol):
    """Answers the question that a model would get, in the same JSON: the tasks that work is broken down into."""

    def plan(self, question: str) -> str: ...


class Historian(Protocol):
    """Words what an attempt that failed teaches, in a sentence; nothing if it teaches nothing."""

    def lesson(self, step: FailedStep) -> str: ...


ROLES = {"reviewer": ("review", FinishedStep), "planner": ("plan", str), "historian": ("lesson", FailedStep)}
_ASK_ROLE = (
    "import json, sys; from holdfast.crew import historian; found = historian.role_answer(json.load(sys.stdin)); "
    "sys.__stdout__.write('\\n' + json.dumps(found))"
)


class RoleFailed(Exception):
    """Why a role gave no answer, in words that are safe to show."""


def ask_role(project: Project, name: str, given: Any, *, mark: str, watch: Watch = lambda: None) -> list[str]:
    """What the user's own for a role answers, safe to show; RoleFailed says why there is no answer."""
    asked = {"role": name, "chosen": project.settings.crew_roles[name], "given": given}
    end = run_step(
        [sys.executable, "-c", _ASK_ROLE],
        cwd=project.clone.repo.top,
        environ=project.environ,
        mark=mark,
        given=json.dumps(asked).encode(),
        seconds=ROLE_TIME + 10,  # it is ended from within before
        watch=watch,
    )
    try:
        answer = json.loads(end.output.splitlines()[-1]) if end.is_ok else {}
    except (ValueError, IndexError, RecursionError):
        answer = {}
    if not isinstance(answer, dict) or not isinstance(answer.get("answer"), list):
        why = str(dict_of(answer).get("failed") or end.stopped or f"it ended with {end.exit_status}")
        raise RoleFailed(f"the {name} {asked['chosen']} failed: {visible(why)[:300]}")
    return [visible(str(one))[:MAX_ANSWER] for one in answer["answer"][:MOST_ANSWERS]]


def role_answer(asked: Mapping[str, Any]) -> dict[str, Any]:
    """What a role answers, asked in the process that was made for it."""
    from holdfast.recall.plugins import PluginFailed, guarded, installed

    method, kind = ROLES[asked["role"]]
    try:
        with guarded(ROLE_TIME):
            make = next((one.load() for one in installed(GROUP) if one.name == asked["chosen"]), None)
            if make is None:
                raise BadInput("no package that is installed brings it")
            value = str(asked["given"]) if kind is str else kind(**asked["given"])
            found = getattr(make(), method)(value)
            found = [found] if isinstance(found, str) else list(found)
            if not all(isinstance(one, str) for one in found):
                raise BadInput("it did not return sentences")
            return {"answer": [one for one in found if one.strip()]}
    except PluginFailed as why:
        return {"failed": str(why)}


def reviewed(project: Project, step: FinishedStep, **how: Any) -> tuple[tuple[str, Mapping[str, Any]], ...]:
    """What the user's own reviewer says of a step whose checks passed, as rows for the journal.

    It stops nothing: a check beats an opinion. A person sees the rows before their own branch is changed.
    """
    try:
        found = ask_role(project, "reviewer", asdict(step), **how)
    except RoleFailed as error:
        return (("note", {"said": f"{step.task} was merged without a review: {error}"}),)
    check = Word(says="merge it", by="checks", rests_on=CHECK)
    words = [Word(says=" ".join(said.split()), by="reviewer") for said in found]
    heard = [(word, settled(check, word)) for word in words]
    return tuple(
        ("object", {"of": step.task, "says": word.says, "counts": counts.by if counts else "a person"})
        for word, counts in heard
    )


def told_to(board: Mapping[str, Task], state: CrewState, task: Task, files: Sequence[str]) -> tuple[str, ...]:
    """The lessons for a worker: how this task, or work on the same files, failed; what needed tasks reported."""
    found = lessons(state, task.id, files)
    needed = [*task.needs, *(board[task.parent].needs if task.parent and task.parent in board else ())]
    for name in dict.fromkeys(needed):
        done = state.tasks.get(name)
        if done is not None and done.state == DONE:
            said = f": {_short(done.summary)}" if done.summary else ""
            files_ = f" It changed {', '.join(done.files[:8])}." if done.files else ""
            found.append(f"{name} ({board[name].title if name in board else name}) is done{said}{files_}")
    return tuple(found[-MOST_TOLD:])


def lessons(state: CrewState, task: str, files: Sequence[str]) -> list[str]:
    """How this task, or work on the same files, failed so far; the newest last."""
    return [_failure(step, task) for step in state.failures_of(task, files)][-MOST_TOLD:]


def _failure(step: CrewStep, task: str) -> str:
    whose = f"Attempt {step.body.get('attempt')} of this task" if step.task == task else f"An attempt at {step.task}"
    tried = _short(str(step.body.get("said") or ""))
    kept = f" What it did is in the branch {step.body['branch']}." if step.body.get("branch") else ""
    checked = dicts_of(step.body.get("receipts"))
    printed = " ".join(visible(str(checked[-1].get("tail"))).split())[-PRINTED:] if checked else ""
    shown = f" The check printed at its end: {printed}" if step.body.get("kind") == "check" and printed else ""
    return f"{whose} failed: {step.body.get('why')}.{f' It had said: {tried}' if tried else ''}{kept}{shown}"


def _short(text: str) -> str:
    flat = " ".join(visible(text).split())
    return flat if len(flat) <= SAID else f"{flat[:SAID]}…"


class CrewLessons:
    """What a run's failures teach: each becomes a dead end to review, while the crew goes on."""

    def __init__(
        self, project: Project, journal: CrewJournal, aside: ThreadPoolExecutor, bell: threading.Event, *, mark: str
    ) -> None:
        """The user's own historian is asked `aside`, one failure at a time, and rings when it has answered."""
        self._project, self._journal, self._aside, self._bell, self._mark = project, journal, aside, bell, mark
        self._asked: tuple[CrewStep, str, Future[str]] | None = None

    def propose_next(self, state: CrewState, board: CrewBoard) -> None:
        """Propose what is worded by now, and have the next failure worded."""
        if self._asked is not None:
            step, title, asked = self._asked
            if not asked.done():
                return
            self._asked = None
            self._propose(state, step, asked.result() or _by_rule(step, title))
        for step in state.untaught():
            if "historian" in self._project.settings.crew_roles:
                asked = self._aside.submit(self._worded, step, board.title(step.task))
                asked.add_done_callback(lambda _: self._bell.set())
                self._asked = step, board.title(step.task), asked
                return
            self._propose(state, step, _by_rule(step, board.title(step.task)))

    def propose_rest(self, state: CrewState, board: CrewBoard) -> None:
        """At the end nobody waits for a historian: what is left is worded by rule."""
        for step in state.untaught():
            self._propose(state, step, _by_rule(step, board.title(step.task)))

    def _worded(self, step: CrewStep, title: str) -> str:
        told = {name: str(step.body.get(name) or "") for name in ("kind", "why", "said")}
        failed = FailedStep(task=step.task, title=title, files=tuple(step.body.get("files") or ()), **told)
        try:
            found = ask_role(self._project, "historian", asdict(failed), mark=f"{self._mark}/lesson")
        except RoleFailed as error:
            self._project.notices.append(f"{error}; a dead end is worded by rule")
            found = []
        return " ".join(found[0].split()) if found else ""

    def _propose(self, state: CrewState, step: CrewStep, statement: str) -> None:
        tried = _sentence(str(step.body.get("said") or ""))
        cited = [f"run:{step.body['run_id']}"] if step.body.get("run_id") else []
        made = ""
        with contextlib.suppress(HoldfastError):  # rejected before, or its run was recorded in another clone
            made = self._project.memory.remember(
                statement[:300],
                kind="dead-end",
                details=f"Tried: {tried}" if tried else "",
                evidence=cited,
                confidence=0.5,
                tags=("crew",),
                source=cited[0] if cited else None,
            ).id
        self._journal.add(("lesson", {"of": step.position, "memory": made}))
        state.fold(self._journal.steps(state.position))


def _by_rule(step: CrewStep, title: str) -> str:
    return f"{title}: an attempt failed, because {_short(str(step.body.get('why')))}"


def _sentence(text: str) -> str:
    return _short(text).partition(". ")[0]


def model_of(project: Project, mark: str) -> Any:
    """A function that asks the user's planner, else their model command; None if there is neither.

    `mark` is in the environment of what it starts, so that a crew that stops ends it.
    """
    if "planner" in project.settings.crew_roles:
        return lambda text: "\n".join(ask_role(project, "planner", text, mark=mark))
    command = project.settings.model_command
    if not command:
        return None
    how = user_command.UserModelCommand(
        command=command,
        calls_per_day=project.settings.number("model.calls_per_day"),
        environ={**project.environ, MARK: mark},
        timeout=MODEL_TIME,
    )
    return lambda text: user_command.ask(project.clone, text, how)


def broken_down(task: Task, failures: Sequence[CrewStep], ask: Any) -> plan_sources.CrewPlan | str | None:
    """The plan of a task's parts: as its notes have them, else the user's planner; None if it is to be done as it is.

    Gives a sentence where the planner has no valid answer.
    """
    if plan_sources.has_parts(task.notes) and not failures:
        try:
            return plan_sources.plan_of_notes(task.title, task.notes, task.id)
        except HoldfastError as error:
            return f"{task.id} was not broken down: {error}"
    text = "\n\n".join(filter(None, (task.title, task.notes, "\n".join(task.acceptance))))
    if failures:
        told = "\n".join(_failure(step, task.id) for step in failures)
        text = f"{text}\n\nIt was tried as one task and failed:\n{told}"
    try:
        plan = plan_sources.ask_plan(text, ask, mark=token(8), source=task.id)
    except (ValueError, OSError, HoldfastError, RoleFailed) as error:
        return f"planned without the model from here on: {error}"
    return plan if len(plan.tasks) > 1 or failures else None


def place(
    project: Project, plan: plan_sources.CrewPlan, *, parent: str | None = None, checks: Sequence[str] = ()
) -> list[Task]:
    """Put a plan's tasks on the board; those that are there already are left as they are. Gives all of them."""
    there, rows = task_board.read(project.clone).placed, []
    known = {*there, *(one.key for one in plan.tasks)}
    for one in plan.tasks:
        if one.key in there:
            continue
        if missing := [name for name in one.needs if name not in known]:
            project.notices.append(f"{one.key} names {missing[0]}, which is no task here; it does not wait for it")
        row: dict[str, Any] = {"id": one.key, "title": one.title, "parent": one.parent or parent}
        row["kind"] = "subtask" if parent and one.kind == "task" else one.kind
        row["notes"] = "\n\n".join(filter(None, (one.notes, f"Files: {', '.join(one.files)}" if one.files else "")))
        row |= {"needs": [name for name in one.needs if name in known], "checks": [*(one.checks or checks)]}
        rows.append({name: value for name, value in row.items() if value})
    if rows:
        project.tasks.import_text("\n".join(map(json.dumps, rows)))
    there = task_board.read(project.clone).placed
    return [there[one.key].task for one in plan.tasks]


def publish(project: Project) -> None:
    """Commit what a run recorded on its own branch: tasks and the log travel with the work."""
    try:
        project.sync.publish(message="Holdfast: what the crew recorded")
    except HoldfastError as error:
        project.notices.append(f"what the crew recorded is not on its branch yet: {error}")


# ── the recap ────────────────────────────────────────────────────────────────────────────────────


@frozen(kw_only=True)
class CrewRecap:
    """What a run came to; it takes a minute to read."""

    run: str
    branch: str
    base: str
    done: tuple[Mapping[str, Any], ...]
    failed: tuple[Mapping[str, Any], ...]
    decide: tuple[Mapping[str, Any], ...]
    waiting: tuple[Mapping[str, Any], ...]
    notes: tuple[str, ...]
    objections: tuple[tuple[str, str], ...]  # of a reviewer, to what is done: task and sentence
    used: Mapping[str, float]
    proposed: int = 0  # dead ends
    reason: str = ""  # why it ended before its time
    merged: bool = False  # into the user's own branch
    ended: bool = False


def recap(head: Mapping[str, Any], state: CrewState, board: CrewBoard, **more: Any) -> CrewRecap:
    """The recap of a run as it stands."""
    reasons = board.reasons()

    def row(one: CrewTask) -> Mapping[str, Any]:
        task = board.tasks.get(one.task)
        return _row(one, title=task.title if task else one.task, why=reasons.get(one.task, one.why))

    def rows(*states: str) -> tuple[Mapping[str, Any], ...]:
        return tuple(row(one) for one in state.tasks.values() if one.state in states)

    left = tuple(one for one in state.tasks.values() if one.state not in (DONE, PARKED, DECIDE))
    return CrewRecap(
        run=str(head["run"]),
        branch=str(head["branch"]),
        base=str(head["base"]),
        done=rows(DONE),
        failed=rows(PARKED),
        decide=rows(DECIDE),
        waiting=tuple(map(row, left)),
        notes=(*state.notes, *(one.said for one in state.conflicts(str(head["run"])) if one.kind == "overlap")),
        objections=tuple(state.objections),
        proposed=len(set(filter(None, state.lessons.values()))),
        used=state.used(),
        ended=state.is_ended,
        **more,
    )


def _row(one: CrewTask, *, title: str, why: str) -> Mapping[str, Any]:
    return {
        "task": one.task,
        "title": title,
        "state": one.state,
        "commit": one.commit,
        "files": list(one.files),
        "receipts": list(one.receipts),
        "attempts": one.attempt,
        "why": why,
        "branch": one.branch,
    }
