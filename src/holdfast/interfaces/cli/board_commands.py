"""Commands that show the work graph, and what they print: task list, show, proposed and graph; next; state."""

from __future__ import annotations

import os
from collections import Counter
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from holdfast.errors import BadInput
from holdfast.interfaces.cli.context_commands import keep_answer
from holdfast.interfaces.cli.invocation import Invocation, answer, command, group
from holdfast.interfaces.cli.output import as_json, as_kept, columns, picked, show, strong, styled
from holdfast.interfaces.cli.phrases import MOST_ROWS, count, lines, more, short, table, wording
from holdfast.interfaces.cli.root import root
from holdfast.model import task as model_task
from holdfast.values import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from holdfast.capture.agent_plans import AgentPlan
    from holdfast.git.cited_commits.commit_anchors import ResolvedCommit
    from holdfast.project import Project
    from holdfast.project.task_book import Next, Shaky, TaskShown
    from holdfast.work import project_state, task_board, task_claims

_TONES = {"started": "warn", "blocked": "bad", "done": "good"}
MARKS = {"open": "○", "started": "◐", "blocked": "✖", "done": "●", "dropped": "–"}
MOST = 12  # rows of a list that nobody asked for in full
_UNITS = {"m": 60, "h": 3600, "d": 86400}
claim_length = click.option(
    "--for", "lasting", default="2h", show_default=True, metavar="TIME", help="How long it is claimed."
)


@group(root, "task", "list")
def task() -> None:
    """Add, change and list goals, epics, tasks and subtasks."""


def task_object(task: model_task.Task) -> dict[str, Any]:
    from holdfast.work import task_json

    return task_json.as_object(task)


@frozen
class TaskList:
    """A board and what of it was asked for."""

    board: task_board.Board
    claims: Mapping[str, task_claims.TaskClaim]
    status: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    owner: str | None = None
    everything: bool = False
    away: int = 0  # if there are none here: how many are on other branches
    proposed: int = 0  # steps that agents planned and that are no tasks

    def chosen(self) -> list[model_task.Task]:
        """What was asked for: what was begun first, what is closed last, then by priority and title."""
        every = model_task.STATUSES if self.everything else set(model_task.STATUSES) - set(model_task.CLOSED)
        found = [task for task in self.board.tasks if task.status in (self.status or every)]
        found = [task for task in found if not self.kind or task.kind in self.kind]
        found = [task for task in found if self.owner is None or task.owner == self.owner]
        return sorted(found, key=lambda t: (t.is_closed, t.status != "started", t.priority, t.title))

    def none(self) -> str:
        """Why nothing is listed, and what to do about it."""
        number = len(self.board.tasks)
        if not number:
            where = f"on this branch; {count(self.away, 'task', 'are')} on other branches" if self.away else "yet"
            return f'No tasks {where}. Add one with: holdfast task add "…"'
        if not (self.status or self.kind or self.owner):
            verb = "The only task is" if number == 1 else f"All {number:,} tasks are"
            return f"{verb} done or dropped: holdfast task list --all"
        return f"No task matches; there are {_tally(self.board.tasks)}"


def list_text(found: TaskList) -> str:
    broken = [f"left out: {item.reason}" for item in found.board.broken]
    chosen = found.chosen()
    rows = table([_row(task, found.claims) for task in chosen[:MOST_ROWS]], indent="")
    tally = ["", _tally(found.board.tasks)] if rows else []
    return lines(rows or found.none(), more(len(chosen)), broken, tally, _steps(found.proposed))


def _row(task: model_task.Task, claims: Mapping[str, task_claims.TaskClaim]) -> tuple[str, ...]:
    claim = claims.get(task.id)
    who = f"claimed by {claim.owner} until {claim.until[11:16]} UTC" if claim else task.owner or ""
    kind = "" if task.kind == "task" else f"{task.kind} "
    return (mark(task), strong(task.id), f"P{task.priority}", short(f"{kind}{task.title}", 60), who)


def mark(task: model_task.Task) -> str:
    """The sign of a task's status."""
    return styled(MARKS[task.status], _TONES.get(task.status, "")) if task.status in _TONES else MARKS[task.status]


def _tally(tasks: Iterable[model_task.Task]) -> str:
    found = Counter(task.status for task in tasks)
    return ", ".join(f"{found[status]:,} {status}" for status in model_task.STATUSES if found[status])


def _steps(number: int) -> list[str]:
    """That agents planned more than is on the board, and where to see it."""
    are = "is not a task" if number == 1 else "are not tasks"
    return [f"{count(number, 'step')} that agents planned {are} yet: holdfast task proposed"] if number else []


def list_object(found: TaskList) -> dict[str, Any]:
    broken = [picked(item, "path", "reason") for item in found.board.broken]
    return {"items": [*map(task_object, found.chosen())], "broken": broken, "proposed": found.proposed}


@answer(task, "list", list_text, list_object)
@click.option("--status", multiple=True, type=click.Choice(model_task.STATUSES), help="Only these.")
@click.option("--kind", multiple=True, type=click.Choice(model_task.KINDS), help="Only these.")
@click.option("--owner", metavar="NAME", help="Only theirs.")
@click.option("--all", "everything", is_flag=True, help="Also show done and dropped tasks.")
def list_tasks(project: Project, **chosen: Any) -> object:
    """List the tasks."""
    found = project.tasks.board()
    away = 0 if found.tasks else project.tasks.count_elsewhere(found)
    steps = sum(len(one.items) for one in project.tasks.proposed(found))
    return TaskList(found, project.tasks.claims(), away=away, proposed=steps, **chosen)


root.add_command(list_tasks, "tasks")  # its older name


def detail_text(found: TaskShown) -> str:
    task, placed = found.placed.task, found.placed
    values = {**picked(task, "owner", "priority", "layer"), "scale": task.systemic_scale}
    values |= picked(task, "impact", "reason")
    rows = [
        *((f"{name}:", "" if value is None else str(value)) for name, value in values.items()),
        ("needs:", ", ".join(_named(item, found.away) for item in task.needs)),
        ("part of:", _named(task.parent, found.away) if task.parent else ""),
        *(("done when:", said) for said in task.acceptance),
        *(("evidence:", receipt_text(item, found.commits)) for item in task.evidence),
        ("checkpoint:", _now(task.checkpoint.commit, found.commits) if task.checkpoint else ""),
        ("claimed:", _claimed(found.claim) if found.claim else ""),
        ("file:", f"{placed.path} ({wording('origins')[placed.origin]})"),
    ]
    return lines(
        f"{mark(task)} {strong(task.id)}  {task.kind}, {task.status}",
        f"  {task.title}",
        table([row for row in rows if row[1]]),
        [f"Waits: {reason}" for reason in found.standing],
        [f"When it is done, this is ready: {', '.join(found.unblocks)}"] if found.unblocks else [],
        [f"Parts: {found.progress[0]} of {found.progress[1]} closed"] if found.parts else [],
        [f"It was changed here and in the branch's history: holdfast task resolve {task.id}"] if placed.clash else [],
        ["", task.notes] if task.notes else [],
    )


def _named(node: str, away: Mapping[str, Sequence[str]]) -> str:
    if node not in away:
        return node
    return f"{node} (on {', '.join(away[node])})" if away[node] else f"{node} (not found anywhere)"


def _claimed(claim: task_claims.TaskClaim) -> str:
    on = f" on {claim.branch}" if claim.branch else ""
    return f"by {claim.owner}{on} until {claim.until[:16].replace('T', ' ')} UTC"


def receipt_text(text: str, commits: Mapping[str, ResolvedCommit] | None = None) -> str:
    """A receipt as people read it: commits and files by their beginnings, and what a rewrite made of them."""
    kind, _, rest = text.partition(":")
    if kind == "commit":
        return f"commit {_now(rest, commits or {})}"
    return f"{rest.rpartition('@')[0]}" if kind == "file" else f"run {rest}"


def _now(oid: str, commits: Mapping[str, ResolvedCommit]) -> str:
    """A commit, and where it is after a rewrite."""
    found = commits.get(oid)
    if found is None or found.state == "holds":
        return oid[:12]
    lost = "on no branch any more" if found.state == "unanchored" else "which this clone does not have"
    return f"{oid[:12]}, {lost if found.commit is None else f'now {found.commit[:12]}'}"


def detail_object(found: TaskShown) -> dict[str, Any]:
    return {
        **task_object(found.placed.task),
        **picked(found.placed, "path", "origin"),
        "conflict": found.placed.clash is not None,
        "waits": found.standing,
        **picked(found, "unblocks", "parts", "away"),
        "progress": {"closed": found.progress[0], "of": found.progress[1]},
        "claim": _claim_object(found.claim),
        "commits": {oid: {"state": one.state, "now": one.commit} for oid, one in found.commits.items()},
    }


def _claim_object(claim: task_claims.TaskClaim | None) -> dict[str, Any] | None:
    names = ("task", "owner", "session", "branch", "worktree", "until")
    return {**picked(claim, *names), "since": claim.ts} if claim else None


@answer(task, "show", detail_text, detail_object)
@click.argument("name", metavar="ID")
def show_task(project: Project, name: str) -> object:
    """Show a task, why it waits and what waits for it."""
    return project.tasks.show(name)


def proposed_text(found: Sequence[AgentPlan]) -> str:
    if not found:
        return "Agents left no open items on this branch that are not tasks."
    return lines(*(row for one in found for row in _plan_rows(one)))


def _plan_rows(one: AgentPlan) -> Iterator[str]:
    session = one.session
    by = f" by {session.agent}" if session.agent else ""
    yield f"{strong(session.id)}{by}: {short(session.objective or session.summary, 70)}"
    yield from (f"  {strong(f'{session.id}:{item.id}')}  {short(item.text, 80)}" for item in one.items)
    for done in one.done:
        yield f"  {strong(done.task)} may be done: {short(done.title, 60)}"
        yield f"    if so: holdfast task done {done.task} --evidence run:{done.run}"
    if one.items:
        it = "it as a task" if len(one.items) == 1 else "all as tasks"
        yield f"  add {it}: holdfast task add --from {session.id}"


def proposed_object(found: Sequence[AgentPlan]) -> dict[str, Any]:
    items, done = [], []
    for one in found:
        session = one.session
        items += [{"id": f"{session.id}:{i.id}", "agent": session.agent, **picked(i, "text", "ts")} for i in one.items]
        done += [{"id": d.task, "session": session.id, **picked(d, "title", "run")} for d in one.done]
    return {"items": items, "may_be_done": done}


@answer(task, "proposed", proposed_text, proposed_object)
def list_proposed(project: Project) -> object:
    """List steps that agents planned on this branch and that are not tasks."""
    return project.tasks.proposed()


def graph_text(board: task_board.Board, *, top: str | None, form: str | None, everything: bool) -> str:
    """A board as a picture, or what hangs below one node of it."""
    from holdfast.work import graph_drawing

    if not board.tasks:
        return 'No tasks yet. Add one with: holdfast task add "…"'
    graph = graph_drawing.part(board.graph, top, everything=everything)
    return graph_drawing.mermaid(graph) if form == "mermaid" else graph_drawing.tree(graph, width=columns() or 100)


def graph_object(board: task_board.Board) -> dict[str, Any]:
    edges = [{"from": task.id, "to": need, "kind": "needs"} for task in board.tasks for need in task.needs]
    parts = [{"from": t.id, "to": t.parent, "kind": "part of"} for t in board.tasks if t.parent]
    return {"nodes": [task_object(task) for task in board.tasks], "edges": [*edges, *parts]}


@command(task, "graph")
@click.argument("name", metavar="[ID]", required=False)
@click.option("--mermaid", "form", flag_value="mermaid", help="As a Mermaid diagram.")
@click.option("--all", "everything", is_flag=True, help="Also show done and dropped tasks.")
def graph(place: Invocation, name: str | None, form: str | None, everything: bool) -> None:
    """Draw the work graph as a tree or in Mermaid."""
    with place.project() as project:
        board = project.tasks.board()
        top = board.find(name).task.id if name else None
        show(board, partial(graph_text, top=top, form=form, everything=everything), graph_object)


def next_text(found: Next) -> str:
    if found.claimed is not None:
        return lines(
            f"{strong(found.claimed.id)}  is yours{'' if found.shared else ' in this clone'}: {found.claimed.title}",
            [f"  done when: {said}" for said in found.claimed.acceptance],
            [f"  {_doubt(one)}" for one in found.shaky if one.task == found.claimed.id],
            f"Begin with: holdfast task start {found.claimed.id}",
        )
    free = [task for task in found.ready if task.id not in found.claims]
    if not (found.ready or found.waiting or found.to_close or found.unplanned):
        there = f" here; {count(found.away, 'task', 'are')} on other branches" if found.away else ""
        said = f'No open tasks{there}. Add one with: holdfast task add "…"'
        return lines(said, _steps(found.proposed))
    shaky, path = [f"  {strong(one.task)}  {_doubt(one)}" for one in found.shaky[:MOST]], found.critical_path
    shown = " → ".join(path[:8]) + (f" → … ({count(len(path), 'task')})" if len(path) > 8 else "")
    return lines(
        _ready(found, free) if free else "No free task is ready.",
        _titled("Being done:", [(*_name(task, 50), _claimed(found.claims[task.id])) for task in _busy(found)]),
        _titled("All parts are done:", _plans(found.to_close)),
        _titled("Without parts yet:", _plans(found.unplanned)),
        _titled("Waiting:", [(*_name(item.task, 50), _why(item.reasons)) for item in found.waiting]),
        ["", "Based on a memory that is no longer valid:", *shaky] if shaky else [],
        ["", f"Critical path: {shown}"] if len(path) > 1 else [],
        _steps(found.proposed),
    )


def _doubt(one: Shaky) -> str:
    why = f": {one.why}" if one.why else ""
    return f"based on {one.memory}, which is {one.status}{why}"


def _ready(found: Next, free: Sequence[model_task.Task]) -> str:
    rows = []
    for task in free[:MOST]:
        after = found.graph.unblocks(task.id)
        frees = f"frees {', '.join(after[:3])}{' …' if len(after) > 3 else ''}" if after else ""
        rows.append((mark(task), strong(task.id), f"P{task.priority}", short(task.title, 60), frees))
    return lines("Ready:", table(rows), _more(len(free)))


def _busy(found: Next) -> list[model_task.Task]:
    """What is claimed: of what is ready, then of the rest that is open."""
    rest = (*found.to_close, *found.unplanned, *(item.task for item in found.waiting))
    return [task for task in (*found.ready, *rest) if task.id in found.claims]


def _name(task: model_task.Task, width: int) -> tuple[str, ...]:
    return (mark(task), strong(task.id), short(task.title, width))


def _plans(plans: Sequence[model_task.Task]) -> list[tuple[str, ...]]:
    return [(mark(task), strong(task.id), f"{task.kind} {short(task.title, 60)}") for task in plans]


def _titled(title: str, rows: Sequence[tuple[str, ...]]) -> list[str]:
    return ["", title, *table(rows[:MOST]), *_more(len(rows))] if rows else []


def _why(reasons: Sequence[str]) -> str:
    return "; ".join(reasons[:2]) + ("; …" if len(reasons) > 2 else "")


def _more(number: int) -> list[str]:
    return [f"  … and {number - MOST:,} more: holdfast task list"] if number > MOST else []


def next_object(found: Next) -> dict[str, Any]:
    claims = {task.id: _claim_object(found.claims.get(task.id)) for task in found.ready}
    frees = {task.id: found.graph.unblocks(task.id) for task in found.ready}
    return {
        "claimed": task_object(found.claimed) if found.claimed else None,
        "ready": [{**task_object(t), "unblocks": frees[t.id], "claim": claims[t.id]} for t in found.ready],
        "being_done": [_claim_object(found.claims[task.id]) for task in _busy(found)],
        "to_close": [*map(task_object, found.to_close)],
        "unplanned": [*map(task_object, found.unplanned)],
        "on_other_branches": found.away,
        "waiting": [{"id": item.task.id, "reasons": item.reasons} for item in found.waiting],
        "shaky": [{"id": one.task, **picked(one, "memory", "status", "why")} for one in found.shaky],
        **picked(found, "critical_path", "proposed"),
    }


@command(root, "next")
@click.option("--claim", is_flag=True, help="Claim the best task that nobody works on.")
@click.option("--as", "owner", metavar="NAME", help="Who claims it; default: your git name.")
@claim_length
def next_task(place: Invocation, claim: bool, owner: str | None, lasting: str) -> None:
    """Show which tasks are ready, and what the others wait for."""
    with place.project() as project:
        session = session_at_hand(project) if claim else None
        found = project.tasks.next(claim=claim, owner=owner, session=session, lasting=time_span(lasting))
        show(found, next_text, next_object)
        # What other branches have, what agents plan, and whether evidence holds, may change unnoticed.
        if not claim and not found.away and not found.resting and not found.proposed:
            until = min((held.until for held in found.claims.values()), default=None)
            text, data = as_kept(next_text(found)), as_json(next_object(found))
            keep_answer(project, "next", text, data, until=until)


def session_at_hand(project: Project) -> str | None:
    """The session this work is part of: the one named by the environment, else the open one here."""
    return os.environ.get("HOLDFAST_SESSION") or project.sessions.current_id()


def time_span(text: str) -> timedelta:
    number, unit = text[:-1], text[-1:]
    if not (number.isascii() and number.isdigit() and len(number) < 6 and unit in _UNITS):
        raise BadInput(f"{text!r} is not a length of time", hint="Write 30m, 2h or 1d.")
    return timedelta(seconds=int(number) * _UNITS[unit])


def state_text(found: project_state.ProjectState) -> str:
    graph, tasks = found.board.graph, found.board.tasks
    at = f" at {found.head[:12]}" if found.head else ""
    if not tasks and not found.links:
        return 'No goals or tasks yet. Add a goal with: holdfast task add --kind goal "…"'
    reached = [task for task in tasks if task.checkpoint and task.status == "done"]
    ready = [task for task in graph.ready() if task.kind not in model_task.PLANS]
    return lines(
        f"On {found.branch or 'a detached HEAD'}{at}: {_tally(tasks)}",
        _outline("Goals:", found, "goal"),
        _outline("Milestones:", found, "milestone"),
        _titled("Ready:", [_row(task, {}) for task in ready]),
        ["", "Reached:"] if reached else [],
        table([(strong(t.id), t.checkpoint.commit[:12], short(t.title)) for t in reached if t.checkpoint]),
        ["", "Links:", *table([link_row(link) for link in found.links])] if found.links else [],
        [f"left out: {item.reason}" for item in found.broken],
    )


def _outline(title: str, found: project_state.ProjectState, kind: str) -> list[str]:
    rows = []
    for task in (task for task in found.board.tasks if task.kind == kind):
        closed, of_all = found.board.graph.progress(task.id)
        parts = f"{closed} of {of_all}" if found.board.graph.children(task.id) else ""
        rows.append((mark(task), strong(task.id), short(task.title, 60), parts))
    return ["", title, *table(rows)] if rows else []


def link_row(link: model_task.Link) -> tuple[str, ...]:
    where = link.target[:12] if link.kind == "commit" else link.target
    return (strong(link.id), short(link.title, 50), short(where, max(40, columns() - 70)))


@command(root, "state")
def state(place: Invocation) -> None:
    """Show goals, milestones, checkpoints and links."""
    from holdfast.work.project_state import as_object

    with place.project() as project:
        show(project.tasks.state(), state_text, as_object)
