"""What a user does with crews: begin one, go on with one, look at one, stop one, clean up; and work for one.

A run has a branch of its own, `crew/RUN/result`, which begins at the user's branch, inherits what waits there, and is
checked out in a work tree of its own. Only `merge_into` changes the user's branch, and only a person asks for it.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.crew import check_receipts, crew_journal, executor, historian, plan_sources, supervisor
from holdfast.crew.crew_journal import DECIDE, CrewBoard, CrewJournal, CrewState
from holdfast.crew.crew_limits import CrewLimits
from holdfast.crew.executor import CrewWork, Executor, prompt_text
from holdfast.crew.headless_agents import HeadlessAgent, agent_named
from holdfast.crew.historian import CrewRecap
from holdfast.crew.merge_lane import MergeOutcome, off_result
from holdfast.crew.step_process import adopt_orphans, end_marked
from holdfast.crew.task_worktree import (
    BRANCHES,
    RESULT,
    TaskWorktree,
    branch_of,
    fetch_branch,
    folder_name,
    git_words,
    push_branch,
    start_branch,
    worktrees,
)
from holdfast.errors import BadInput, Busy, GitFailed, HoldfastError, NotFound
from holdfast.git import reconcile
from holdfast.model.ids import token
from holdfast.model.task import PLANS
from holdfast.patterns import regex
from holdfast.project import Project
from holdfast.recall.pack.context_pack import pack_text
from holdfast.store.layout import crew_folder
from holdfast.values import asdict, dict_of, frozen, replace
from holdfast.work import task_board

if TYPE_CHECKING:
    from holdfast.model.task import Task

_WORD = regex(r"[\w./-]+", re.ASCII)
IDLE = 0.3  # seconds before a worker that found nothing asks again
APPROVALS = ("each", "merge", "never")


def limits_of(project: Project, **given: float | None) -> CrewLimits:
    """The limits that hold: those given, else the user's settings, else ours."""
    return CrewLimits(**{**project.settings.crew_limits, **{k: v for k, v in given.items() if v is not None}})


def chosen_agent(project: Project, asked: str | None, *, workers: int = 1) -> HeadlessAgent:
    """The agent that is asked for, else the setting's; BadInput if it is to work here and is not installed."""
    agent = agent_named(asked if asked else project.settings.crew_agent)
    program = agent.argv[0]
    if workers and os.sep not in program and shutil.which(program, path=project.environ.get("PATH")) is None:
        raise BadInput(
            f"there is no program {program} on your PATH", hint="Install the agent, or name another: --agent."
        )
    return agent


def planned(project: Project, asked: Sequence[str], *, folder: str) -> tuple[plan_sources.CrewPlan | None, list[Task]]:
    """What is asked for: tasks that are there (by id), or a plan from a file or a goal; nothing: all that is open."""
    board = task_board.read(project.clone)
    if not asked:
        found = [task for task in board.tasks if not task.is_closed]
        if not found:
            raise BadInput(
                "there is nothing to do", hint='Say what: holdfast crew run "goal", PLAN.md or a task\'s id.'
            )
        return None, found
    with contextlib.suppress(NotFound):
        return None, _with_parts(board, [board.find(name).task for name in asked])
    if len(asked) > 1:
        board.find(next(name for name in asked if name not in board.placed))  # NotFound says which
    if _WORD.fullmatch(asked[0]) and not os.path.isfile(os.path.join(folder, asked[0])):  # a slip, and no goal
        raise BadInput(
            f"{asked[0]} is no task and no file here", hint="Say a goal in a sentence, or look at `task list`."
        )
    ask = historian.model_of(project, f"role/{token(8)}")
    plan = plan_sources.read_plan(asked[0], folder=folder)
    if ask is not None and len(plan.tasks) == 1 and plan.source == "goal":
        try:
            plan = plan_sources.ask_plan(asked[0], ask, mark=token(8), source="goal")
        except (ValueError, OSError, HoldfastError, historian.RoleFailed) as error:
            project.notices.append(f"planned without the model command: {error}")
    return plan, []


def _with_parts(board: task_board.Board, chosen: Sequence[Task]) -> list[Task]:
    """Tasks with all their parts and what they need, as far as it is open."""
    found, waiting = set[str](), list(chosen)
    while waiting:
        task = waiting.pop(0)
        if task.id in found or task.is_closed:
            continue
        found.add(task.id)
        names = (*board.graph.children(task.id), *task.needs)
        waiting += [board.placed[name].task for name in names if name in board.placed]
    return [task for task in board.tasks if task.id in found]


def begin(
    project: Project,
    asked: Sequence[str],
    *,
    folder: str,
    agent: HeadlessAgent,
    workers: int,
    limits: CrewLimits,
    remote: str | None = None,
) -> str:
    """Make a run: its tasks on the board, its branch and work tree, and its journal; gives its name."""
    head = project.clone.repo.head()
    if head.branch is None or head.oid is None:
        raise BadInput("a crew starts from a branch that has a commit", hint="Switch to one: git switch -c NAME")
    plan, tasks = planned(project, asked, folder=folder)
    run = f"{project.clone.clock():%m%d}-{token(4)}"
    branch = branch_of(run, RESULT)
    place = TaskWorktree(project.clone.repo, os.path.join(folder_of(project), run, folder_name(RESULT)), branch)
    if plan is None and not any(task.kind not in PLANS for task in tasks):
        raise BadInput("none of these can be worked on: goals, milestones and epics are done by their parts")
    with crew_journal.alone(project):  # else a second `crew run` would leave a run without a supervisor
        _sweep_unborn(project)
        start_branch(project.clone.repo, branch, head.branch)
        try:
            place.reopen()
            inside = Project.open(place.path, environ=project.environ, drain=False)
            # As it waits on the user's branch: once the result is merged, what waited there is known to be published.
            historian.publish(inside)
            if plan is not None:
                tasks = historian.place(inside, plan)
        except HoldfastError:  # there is no run that would speak of them
            with contextlib.suppress(HoldfastError):
                place.remove()
                place.drop_branch()
            raise
    told: dict[str, Any] = {"branch": branch, "base": head.branch, "commit": head.oid, "path": place.path}
    told |= {"top": project.clone.repo.top, "started": project.clone.now(), "goal": " ".join(asked)[:500]}
    told |= {"agent": agent.name, "workers": workers, "limits": asdict(limits), "ended": False, "remote": remote}
    journal = CrewJournal(project.agents.database, run, clean=project.clone.intake.value)
    journal.begin(told)
    how = {"source": plan.source if plan else "board", "by_model": bool(plan and plan.by_model)}
    journal.add(("plan", {"tasks": [task.id for task in tasks], "asked": list(asked), **how}))
    if remote is not None:
        push_branch(project.clone.repo, remote, branch)
    project.notices.extend(inside.notices)
    return run


def _sweep_unborn(project: Project) -> None:
    """Take away what a run left that was killed before its journal began: there is no work in it."""
    known = {str(one["run"]) for one in _known_runs(project)}
    for branch, path in worktrees(project.clone.repo).items():
        if branch.endswith(f"/{RESULT}") and branch.split("/")[1] not in known and path.startswith(folder_of(project)):
            place = TaskWorktree(project.clone.repo, path, branch)
            with contextlib.suppress(HoldfastError, OSError):
                place.remove()
                place.drop_branch()


def folder_of(project: Project) -> str:
    """Where the work trees of this clone's crews lie."""
    return crew_folder(project.environ, project.clone.repo_id)


def named_run(project: Project, run: str | None, *, open_only: bool = False) -> dict[str, Any]:
    """What describes a run, by its name or the beginning of it; the newest without one."""
    found = crew_journal.runs(project.agents.database) if os.path.exists(_store(project)) or _is_shared(project) else []
    if run is not None:
        found = [one for one in found if str(one["run"]).startswith(run)]
    elif open_only:
        found = [one for one in found if not one.get("ended")] or found[-1:]
    if not found:
        what = f"crew {run}" if run else "crew"
        raise NotFound(f"there is no {what} here", hint='Start one: holdfast crew run "goal"')
    return found[-1]


def _take_lines(inside: Project, run: str) -> None:
    """What agents recorded on branches of this run that are merged and gone waits on the result branch instead."""
    mine = f"refs/heads/{BRANCHES}/{run}/"
    for orphan in reconcile.orphans(inside.clone):
        if all(ref.startswith(mine) for ref in orphan.refs):
            with contextlib.suppress(HoldfastError):  # it is listed again, and `reconcile` asks
                reconcile.carry(inside.clone, orphan.line)


def _store(project: Project) -> str:
    return project.clone.layout.agent_database


def _is_shared(project: Project) -> bool:
    return project.settings.database_url is not None


def supervise(
    project: Project,
    run: str,
    *,
    agent: HeadlessAgent,
    workers: int,
    limits: CrewLimits,
    approve: Callable[[str, MergeOutcome], bool | None] = lambda *_: True,
    tell: Callable[[CrewState], None] = lambda _: None,
) -> CrewRecap:
    """Work on a run until it is through or stopped, and say what came of it."""
    with crew_journal.alone(project):
        head = CrewJournal(project.agents.database, run).head()
        place = TaskWorktree(project.clone.repo, head["path"], head["branch"])
        if not os.path.isdir(place.path):
            if project.clone.repo.resolve(f"refs/heads/{place.branch}") is None:
                raise NotFound(f"the branch {place.branch} is gone", hint="Start another crew: holdfast crew run")
            place.reopen()
        inside = Project.open(place.path, environ=project.environ, drain=False)
        working = supervisor.Supervisor(
            inside, run, agent=agent.argv, workers=workers, limits=limits, approve=approve, tell=tell
        )
        state = working.supervise()
        board = CrewBoard(task_board.read(inside.clone).tasks, state)
        if not working.tampered and not off_result(inside, head):
            _take_lines(inside, run)
            # a commit would run hooks that nobody has looked at, or be on a branch of somebody else
            historian.publish(inside)
        inside.views.render_quietly()
        project.notices.extend(inside.notices)
    return historian.recap(working.journal.head(), state, board, reason=working.reason)


def work(
    project: Project,
    run: str | None,
    agent: HeadlessAgent,
    *,
    is_wanted: Callable[[], bool] = lambda: True,
    tell: Callable[[str], None] = lambda _: None,
    remote: str | None = None,
) -> int:
    """Take steps of a run, or of any open one, until nobody wants more; gives how many were done.

    With `remote`, each step begins at what is there and its branch is pushed there: for a machine of its own.
    """
    done = 0
    adopt_orphans()
    workers: dict[str, Executor] = {}
    while is_wanted() and not any(one.is_tampered for one in workers.values()):
        item = None
        for name in [run] if run else _open_runs(project):
            queue = crew_journal.queue_of(project, name)
            if taken := queue.claim(executor.LEASE):
                item = taken[0]
                if remote is not None:
                    fetch_branch(project.clone.repo, remote, branch_of(name, RESULT))
                if name not in workers:
                    top = CrewJournal(project.agents.database, name).head()["top"]
                    top = top if os.path.isdir(top) and remote is None else project.clone.repo.top
                    workers[name] = Executor(project, queue, agent, top=top, is_wanted=is_wanted, remote=remote)
                tell(str(dict_of(item.action).get("task")))
                workers[name].work(item)
                tell("")
                done += 1
                break
        if item is None:
            time.sleep(IDLE)
    return done


def _open_runs(project: Project) -> list[str]:
    return [str(one["run"]) for one in crew_journal.runs(project.agents.database) if not one.get("ended")]


def stop(project: Project, run: str | None) -> dict[str, Any]:
    """Ask a run to stop; its supervisor ends its workers. Where it is dead, what it left running is ended here."""
    head = named_run(project, run, open_only=True)
    if head.get("ended"):
        raise BadInput(f"the crew {head['run']} has ended", hint="See `holdfast crew status`.")
    CrewJournal(project.agents.database, head["run"]).add(("stop", {"why": "somebody asked for it"}))
    with contextlib.suppress(HoldfastError), crew_journal.alone(project):
        end_marked(str(head["run"]))
    return head


def status(project: Project, run: str | None) -> tuple[CrewRecap, CrewState]:
    """How a run stands."""
    head = named_run(project, run)
    state = CrewState().fold(CrewJournal(project.agents.database, head["run"]).steps())
    return historian.recap(head, state, _board(project, head, state), reason=_why_idle(project, state)), state


def _why_idle(project: Project, state: CrewState) -> str:
    """Why nobody works on a run that is not through; empty if somebody does, or it is."""
    if state.is_ended:
        return ""
    try:
        with crew_journal.alone(project):
            return state.why_stopped or "its supervisor is gone"
    except Busy:
        return ""


def conflicts(project: Project) -> list[crew_journal.CrewConflict]:
    """What is open between tasks of the newest crew, or waits for a person."""
    try:
        head = named_run(project, None)
        state = CrewState().fold(CrewJournal(project.agents.database, head["run"]).steps())
    except HoldfastError:  # a database that cannot be reached says nothing of crews; other commands say why
        return []
    return state.conflicts(str(head["run"]))


def _board(project: Project, head: Mapping[str, Any], state: CrewState) -> CrewBoard:
    inside = (
        Project.open(head["path"], environ=project.environ, drain=False) if os.path.isdir(head["path"]) else project
    )
    return CrewBoard(task_board.read(inside.clone).tasks, state)


def explain(project: Project, task: str, run: str | None) -> list[crew_journal.CrewStep]:
    """Every step of a task, with its inputs."""
    head = named_run(project, run)
    found = CrewJournal(project.agents.database, head["run"]).steps()
    named = [one for one in found if one.task == task] or [one for one in found if one.task.startswith(task)]
    if not named:
        raise NotFound(f"{task} is not a task of the crew {head['run']}", hint="See `holdfast crew status`.")
    return [one for one in named if one.task == named[0].task]


def preview(project: Project, asked: Sequence[str], *, folder: str) -> Iterator[tuple[str, str, str]]:
    """What would be done: id, title and prompt of each task; nothing is written."""
    plan, tasks = planned(project, asked, folder=folder)
    rows: list[Any] = [*plan.tasks] if plan else tasks
    commands = check_receipts.check_commands(project)
    for one in rows:
        if one.kind in PLANS:
            continue
        work = CrewWork(
            run="dry",
            task=one.key if plan else one.id,
            title=one.title,
            attempt=1,
            base="",
            notes=one.notes,
            acceptance=() if plan else one.acceptance,
            checks=one.checks or tuple(name for name in (check_receipts.DEFAULT,) if name in commands),
            limits={},
        )
        packed = project.context.for_task(f"{one.title} {one.notes}"[:2000])
        yield work.task, work.title, prompt_text(work, pack_text(packed))


@frozen(kw_only=True)
class Leftover:
    """A branch or work tree of a crew, and whether it can go."""

    branch: str
    path: str | None
    why: str
    is_safe: bool


def leftovers(project: Project) -> list[Leftover]:
    """What crews left in this clone: what is merged and clean can go, everything else stays."""
    repo, found = project.clone.repo, []
    there = worktrees(repo)
    heads = {str(one["run"]): one for one in _known_runs(project)}
    asked = {branch: why for run in heads for branch, why in _questions(project, run)}
    for row in repo.text("for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", "refs/heads/crew/").splitlines():
        branch, oid = row.rsplit(" ", 1)
        head = heads.get(branch.split("/")[1]) if branch.count("/") >= 2 else None
        left = _leftover(project, branch, oid, there.get(branch), head)
        why = f"it waits for your decision: {asked[branch]}" if branch in asked and not left.is_safe else left.why
        found.append(replace(left, why=why))
    return found


def _questions(project: Project, run: str) -> Iterator[tuple[str, str]]:
    """The branches that wait for a person, and what is asked."""
    for one in CrewState().fold(CrewJournal(project.agents.database, run).steps()).tasks.values():
        if one.state == DECIDE and one.branch:
            yield one.branch, one.why


def _known_runs(project: Project) -> list[dict[str, Any]]:
    with contextlib.suppress(NotFound):
        named_run(project, None)
        return crew_journal.runs(project.agents.database)
    return []


def _leftover(project: Project, branch: str, oid: str, path: str | None, head: Mapping[str, Any] | None) -> Leftover:
    def kept(why: str) -> Leftover:
        return Leftover(branch=branch, path=path, why=why, is_safe=False)

    if head is None:
        return kept("no crew of this clone made it")
    own = os.path.join(os.path.realpath(folder_of(project)), "")
    if path is not None and not os.path.realpath(path).startswith(own):
        return kept(f"it is checked out in {path}")
    if not head.get("ended"):
        return kept(f"the crew {head['run']} is not through")
    if path is not None and os.path.isdir(path) and not TaskWorktree(project.clone.repo, path, branch).is_clean():
        return kept("its work tree has changes that no commit has")
    for other in (str(head["base"]), branch_of(str(head["run"]), RESULT)):
        ref = f"refs/heads/{other}"
        repo = project.clone.repo
        if other != branch and repo.resolve(ref) is not None and repo.is_ancestor(oid, ref):
            return Leftover(branch=branch, path=path, why=f"all its commits are in {other}", is_safe=True)
    if branch == head["branch"]:
        return kept(f"it is not merged into {head['base']}; take it: git merge {branch}")
    return kept(f"an attempt that is not in the result; if you do not need it: git branch -D {branch}")


def clean(project: Project, chosen: Sequence[Leftover]) -> int:
    """Take away what is safe to take away; it is looked at once more before."""
    done = 0
    with crew_journal.alone(project):
        for one in chosen:
            now = next((left for left in leftovers(project) if left.branch == one.branch), None)
            if now is None or not now.is_safe:
                continue
            place = TaskWorktree(project.clone.repo, now.path or "", now.branch)
            try:
                if now.path:
                    place.remove()
            except GitFailed as error:
                project.notices.append(str(error))
                continue
            place.drop_branch()
            done += 1
    return done


def merge_into(project: Project, run: str) -> str:
    """Merge a run's result into the branch it began at, which must be checked out here; gives the new commit."""
    head = named_run(project, run)
    here = project.clone.repo.head()
    if here.branch != head["base"]:
        raise BadInput(
            f"{head['base']} is not checked out here", hint=f"git switch {head['base']} && git merge {head['branch']}"
        )
    if (under_way := project.clone.repo.operation()) is not None:  # what is given up below must be ours alone
        raise BadInput(f"a {under_way} is under way here", hint=f"End it, then: git merge {head['branch']}")
    done = project.clone.repo.attempt_patiently("merge", "-q", "--no-edit", f"refs/heads/{head['branch']}")
    if done.returncode:
        project.clone.repo.attempt_patiently("merge", "--abort")
        raise GitFailed(
            f"git did not merge {head['branch']}: {git_words(done.stderr or done.stdout)}",
            hint=f"Merge it by hand: git merge {head['branch']}",
        )
    return str(project.clone.repo.head().oid)
