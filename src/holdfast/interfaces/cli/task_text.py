"""The work graph in words: tasks, what is next, the project's state, links."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from holdfast.interfaces.cli.output import columns, picked, strong
from holdfast.interfaces.cli.phrases import MOST_ROWS, count, lines, more, short, table
from holdfast.model import task as model_task
from holdfast.values import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from holdfast.capture.agent_plans import AgentPlan
    from holdfast.git.cited_commits.commit_anchors import ResolvedCommit
    from holdfast.project.task_book import Next, Shaky, TaskShown
    from holdfast.work import canonical_links, project_state, task_board, task_claims, task_lifecycle
    from holdfast.work.task_json import TaskPlan

MARKS = {"open": "○", "started": "◐", "blocked": "✖", "done": "●", "dropped": "–"}
MOST = 12  # rows of a list that nobody asked for in full


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
            return nothing_here(self.away)
        if not (self.status or self.kind or self.owner):
            verb = "The only task is" if number == 1 else f"All {number:,} tasks are"
            return f"{verb} done or dropped: holdfast tasks --all"
        return f"No task fits; there are {_tally(self.board.tasks)}"


def as_object(task: model_task.Task) -> dict[str, Any]:
    from holdfast.work import task_json

    return task_json.as_object(task)


def added(task: model_task.Task) -> str:
    return f"{strong(task.id)}  {task.kind}: {task.title}"


def added_all(tasks: Sequence[model_task.Task]) -> str:
    return lines(*map(added, tasks))


def changed(task: model_task.Task) -> str:
    why = f" ({task.reason})" if task.reason else ""
    return f"{strong(task.id)}  {task.status}{why}: {task.title}"


def started(task: model_task.Task) -> str:
    return lines(
        f"{strong(task.id)}  started: {task.title}",
        [f"  done when: {said}" for said in task.acceptance],
        f"When it is done: holdfast task done {task.id}",
    )


def released(task: model_task.Task) -> str:
    return f"{strong(task.id)}  is free again: {task.title}"


def finished(ended: task_lifecycle.FinishedTask) -> str:
    task = ended.task
    label = "found as evidence:" if ended.found else "evidence:"
    return lines(
        f"{strong(task.id)}  done: {task.title}",
        [f"  {label} {receipt(item)}" for item in (ended.found or task.evidence)],
        [f"  reached at {task.checkpoint.commit[:12]}"] if task.checkpoint else [],
        [f"Now ready: {', '.join(ended.unblocked)}"] if ended.unblocked else [],
    )


def finished_object(ended: task_lifecycle.FinishedTask) -> dict[str, Any]:
    return {**as_object(ended.task), "found": list(ended.found), "unblocked": list(ended.unblocked)}


def receipt(text: str, commits: Mapping[str, ResolvedCommit] | None = None) -> str:
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


def nothing_here(away: int) -> str:
    """That there are no tasks here, and where there are some."""
    add = 'holdfast task add "…"'
    if not away:
        return f"No tasks yet. Add one with: {add}"
    return f"No tasks on this branch; {count(away, 'task', 'are')} on other branches. Add one with: {add}"


def listed(found: TaskList) -> str:
    broken = [f"left out: {item.reason}" for item in found.board.broken]
    chosen = found.chosen()
    rows = table([_row(task, found.claims) for task in chosen[:MOST_ROWS]], indent="")
    tally = ["", _tally(found.board.tasks)] if rows else []
    return lines(rows or found.none(), more(len(chosen)), broken, tally, _steps(found.proposed))


def _steps(number: int) -> list[str]:
    """That agents planned more than is on the board, and where to see it."""
    are = "is no task" if number == 1 else "are no tasks"
    return [f"{count(number, 'step')} that agents planned {are}: holdfast task proposed"] if number else []


def proposed(found: Sequence[AgentPlan]) -> str:
    if not found:
        return "Agents left nothing open on this branch that is no task."
    return lines(*(row for one in found for row in _proposed(one)))


def _proposed(one: AgentPlan) -> Iterator[str]:
    session = one.session
    by = f" by {session.agent}" if session.agent else ""
    yield f"{strong(session.id)}{by}: {short(session.objective or session.summary, 70)}"
    yield from (f"  {strong(f'{session.id}:{item.id}')}  {short(item.text, 80)}" for item in one.items)
    for done in one.done:
        yield f"  {strong(done.task)} may be done: {short(done.title, 60)}"
        yield f"    if so: holdfast task done {done.task} --evidence run:{done.run}"
    if one.items:
        yield f"  to make tasks of {'it' if len(one.items) == 1 else 'all'}: task add --from {session.id}"


def proposed_object(found: Sequence[AgentPlan]) -> dict[str, Any]:
    items, done = [], []
    for one in found:
        session = one.session
        items += [{"id": f"{session.id}:{i.id}", "agent": session.agent, **picked(i, "text", "ts")} for i in one.items]
        done += [{"id": d.task, "session": session.id, **picked(d, "title", "run")} for d in one.done]
    return {"items": items, "may_be_done": done}


def _row(task: model_task.Task, claims: Mapping[str, task_claims.TaskClaim]) -> tuple[str, ...]:
    claim = claims.get(task.id)
    who = f"{claim.owner}, until {claim.until[11:16]}" if claim else task.owner or ""
    kind = "" if task.kind == "task" else f"{task.kind} "
    return (MARKS[task.status], strong(task.id), f"P{task.priority}", short(f"{kind}{task.title}", 60), who)


def _tally(tasks: Iterable[model_task.Task]) -> str:
    found = Counter(task.status for task in tasks)
    return ", ".join(f"{found[status]:,} {status}" for status in model_task.STATUSES if found[status])


def listed_object(found: TaskList) -> dict[str, Any]:
    broken = [picked(item, "path", "reason") for item in found.board.broken]
    return {"items": [*map(as_object, found.chosen())], "broken": broken, "proposed": found.proposed}


def shown(found: TaskShown) -> str:
    task, placed = found.placed.task, found.placed
    values = {**picked(task, "owner", "priority", "layer"), "scale": task.systemic_scale}
    values |= picked(task, "impact", "reason")
    rows = [
        *((f"{name}:", "" if value is None else str(value)) for name, value in values.items()),
        ("needs:", ", ".join(_named(item, found.away) for item in task.needs)),
        ("part of:", _named(task.parent, found.away) if task.parent else ""),
        *(("done when:", said) for said in task.acceptance),
        *(("evidence:", receipt(item, found.commits)) for item in task.evidence),
        ("checkpoint:", _now(task.checkpoint.commit, found.commits) if task.checkpoint else ""),
        ("claimed:", _claimed(found.claim) if found.claim else ""),
        ("file:", f"{placed.path} ({_ORIGINS[placed.origin]})"),
    ]
    return lines(
        f"{MARKS[task.status]} {strong(task.id)}  {task.kind}, {task.status}",
        f"  {task.title}",
        table([row for row in rows if row[1]]),
        [f"Waits: {reason}" for reason in found.standing],
        [f"When it is done, this is ready: {', '.join(found.unblocks)}"] if found.unblocks else [],
        [f"Parts: {found.progress[0]} of {found.progress[1]} closed"] if found.parts else [],
        [f"It was changed here and in the branch's history: holdfast task resolve {task.id}"] if placed.clash else [],
        ["", task.notes] if task.notes else [],
    )


_ORIGINS = {"pending": "waits to be published", "edit": "edited by hand", "tree": "committed"}


def _named(node: str, away: Mapping[str, Sequence[str]]) -> str:
    if node not in away:
        return node
    return f"{node} (on {', '.join(away[node])})" if away[node] else f"{node} (not found anywhere)"


def _claimed(claim: task_claims.TaskClaim) -> str:
    on = f" on {claim.branch}" if claim.branch else ""
    return f"by {claim.owner}{on} until {claim.until[:16].replace('T', ' ')} UTC"


def shown_object(found: TaskShown) -> dict[str, Any]:
    return {
        **as_object(found.placed.task),
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


def drawn(board: task_board.Board, *, top: str | None, form: str | None, everything: bool) -> str:
    """A board as a picture, or what hangs below one node of it."""
    from holdfast.work import graph_drawing

    if not board.tasks:
        return 'No tasks yet. Add one with: holdfast task add "…"'
    graph = graph_drawing.part(board.graph, top, everything=everything)
    return graph_drawing.mermaid(graph) if form == "mermaid" else graph_drawing.tree(graph, width=columns() or 100)


def graph_object(board: task_board.Board) -> dict[str, Any]:
    edges = [{"from": task.id, "to": need, "kind": "needs"} for task in board.tasks for need in task.needs]
    parts = [{"from": t.id, "to": t.parent, "kind": "part of"} for t in board.tasks if t.parent]
    return {"nodes": [as_object(task) for task in board.tasks], "edges": [*edges, *parts]}


def imported(new: TaskPlan) -> str:
    parts = [count(len(new.tasks), "task")] * bool(new.tasks) + [count(len(new.links), "link")] * bool(new.links)
    return f"Brought in {' and '.join(parts)}" if parts else "Nothing new: all are here already."


def imported_object(new: TaskPlan) -> dict[str, Any]:
    return {"items": [*map(as_object, new.tasks)], "links": [*map(as_object_link, new.links)]}


# What is next.


def next_tasks(found: Next) -> str:
    if found.claimed is not None:
        return lines(
            f"{strong(found.claimed.id)}  is yours: {found.claimed.title}",
            [f"  done when: {said}" for said in found.claimed.acceptance],
            [f"  {_doubt(one)}" for one in found.shaky if one.task == found.claimed.id],
            f"Begin with: holdfast task start {found.claimed.id}",
        )
    free = [task for task in found.ready if task.id not in found.claims]
    if not (found.ready or found.waiting or found.to_close or found.unplanned):
        there = f" here; {count(found.away, 'task', 'are')} on other branches" if found.away else ""
        said = f'Nothing is to be done{there}. Add a task with: holdfast task add "…"'
        return lines(said, _steps(found.proposed))
    shaky, path = [f"  {strong(one.task)}  {_doubt(one)}" for one in found.shaky[:MOST]], found.critical_path
    shown = " → ".join(path[:8]) + (f" → … ({count(len(path), 'task')})" if len(path) > 8 else "")
    return lines(
        _ready(found, free) if free else "Nothing is ready that nobody works on.",
        _titled("Being done:", [(*_name(task, 50), _claimed(found.claims[task.id])) for task in _busy(found)]),
        _titled("To be closed:", _plans(found.to_close)),
        _titled("Without parts yet:", _plans(found.unplanned)),
        _titled("Waiting:", [(*_name(item.task, 50), _why(item.reasons)) for item in found.waiting]),
        ["", "On shaky ground:", *shaky] if shaky else [],
        ["", f"Critical path: {shown}"] if len(path) > 1 else [],
        _steps(found.proposed),
    )


def _doubt(one: Shaky) -> str:
    why = f": {one.why}" if one.why else ""
    return f"rests on {one.memory}, which is {one.status}{why}"


def _ready(found: Next, free: Sequence[model_task.Task]) -> str:
    rows = []
    for task in free[:MOST]:
        after = found.graph.unblocks(task.id)
        frees = f"frees {', '.join(after[:3])}{' …' if len(after) > 3 else ''}" if after else ""
        rows.append((MARKS[task.status], strong(task.id), f"P{task.priority}", short(task.title, 60), frees))
    return lines("Ready:", table(rows), _more(len(free)))


def _busy(found: Next) -> list[model_task.Task]:
    """What is claimed: of what is ready, then of the rest that is open."""
    rest = (*found.to_close, *found.unplanned, *(item.task for item in found.waiting))
    return [task for task in (*found.ready, *rest) if task.id in found.claims]


def _name(task: model_task.Task, width: int) -> tuple[str, ...]:
    return (MARKS[task.status], strong(task.id), short(task.title, width))


def _plans(plans: Sequence[model_task.Task]) -> list[tuple[str, ...]]:
    return [(MARKS[task.status], strong(task.id), f"{task.kind} {short(task.title, 60)}") for task in plans]


def _titled(title: str, rows: Sequence[tuple[str, ...]]) -> list[str]:
    return ["", title, *table(rows[:MOST]), *_more(len(rows))] if rows else []


def _why(reasons: Sequence[str]) -> str:
    return "; ".join(reasons[:2]) + ("; …" if len(reasons) > 2 else "")


def _more(number: int) -> list[str]:
    return [f"  … and {number - MOST:,} more: holdfast tasks"] if number > MOST else []


def next_object(found: Next) -> dict[str, Any]:
    claims = {task.id: _claim_object(found.claims.get(task.id)) for task in found.ready}
    frees = {task.id: found.graph.unblocks(task.id) for task in found.ready}
    return {
        "claimed": as_object(found.claimed) if found.claimed else None,
        "ready": [{**as_object(t), "unblocks": frees[t.id], "claim": claims[t.id]} for t in found.ready],
        "being_done": [_claim_object(found.claims[task.id]) for task in _busy(found)],
        "to_close": [*map(as_object, found.to_close)],
        "unplanned": [*map(as_object, found.unplanned)],
        "on_other_branches": found.away,
        "waiting": [{"id": item.task.id, "reasons": item.reasons} for item in found.waiting],
        "shaky": [{"id": one.task, **picked(one, "memory", "status", "why")} for one in found.shaky],
        **picked(found, "critical_path", "proposed"),
    }


# State and links.


def state(found: project_state.ProjectState) -> str:
    graph, tasks = found.board.graph, found.board.tasks
    at = f" at {found.head[:12]}" if found.head else ""
    if not tasks and not found.links:
        return 'No goals and no tasks yet. Begin with: holdfast task add --kind goal "…"'
    reached = [task for task in tasks if task.checkpoint and task.status == "done"]
    ready = [task for task in graph.ready() if task.kind not in model_task.PLANS]
    return lines(
        f"On {found.branch or 'a detached HEAD'}{at}: {_tally(tasks)}",
        _outline("Goals:", found, "goal"),
        _outline("Milestones:", found, "milestone"),
        _titled("Ready:", [_row(task, {}) for task in ready]),
        ["", "Reached:"] if reached else [],
        table([(strong(t.id), t.checkpoint.commit[:12], short(t.title)) for t in reached if t.checkpoint]),
        ["", "Links:", *table([_link_row(link) for link in found.links])] if found.links else [],
        [f"left out: {item.reason}" for item in found.broken],
    )


def _outline(title: str, found: project_state.ProjectState, kind: str) -> list[str]:
    rows = []
    for task in (task for task in found.board.tasks if task.kind == kind):
        closed, of_all = found.board.graph.progress(task.id)
        parts = f"{closed} of {of_all}" if found.board.graph.children(task.id) else ""
        rows.append((MARKS[task.status], strong(task.id), short(task.title, 60), parts))
    return ["", title, *table(rows)] if rows else []


def _link_row(link: model_task.Link) -> tuple[str, ...]:
    where = link.target[:12] if link.kind == "commit" else link.target
    return (strong(link.id), short(link.title, 50), short(where, max(40, columns() - 70)))


def linked(link: model_task.Link) -> str:
    return f"{strong(link.id)}  {link.title}: {link.target}"


def unlinked(link: model_task.Link) -> str:
    return f"{strong(link.id)}  is gone: {link.title}"


def links(found: Sequence[canonical_links.ListedLink]) -> str:
    if not found:
        return "No links yet. Add one with: holdfast link add PATH|URL|COMMIT --title …"
    return lines(table([(*_link_row(item.link), item.dead or "") for item in found], indent=""))


def links_object(found: Sequence[canonical_links.ListedLink]) -> dict[str, Any]:
    return {"items": [{**as_object_link(item.link), "path": item.path, "dead": item.dead} for item in found]}


def as_object_link(link: model_task.Link) -> dict[str, Any]:
    return picked(link, "id", "title", "target", "kind")
