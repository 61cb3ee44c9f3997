"""The tool `tasks`: what is ready, what is open, and a task claimed, finished or added by an agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from holdfast.errors import BadInput
from holdfast.interfaces.mcp.client_project import McpClient
from holdfast.interfaces.mcp.tool_text import ToolAnswer, flat, framed, noted

if TYPE_CHECKING:
    from holdfast.model.task import Task
    from holdfast.project import Project
    from holdfast.work.task_claims import TaskClaim

MOST = 10  # tasks of a list; a model that needs more asks for one by its id
_WAITING = 5


def tasks(project: Project, folder: str, given: dict[str, Any], asking: McpClient) -> ToolAnswer:
    """Do what `action` says."""
    asking.check()
    return _ACTIONS[given["action"]](project, folder, given, asking)


def _next(project: Project, _folder: str, _given: dict[str, Any], _asking: McpClient) -> ToolAnswer:
    found = project.tasks.next()
    lines = [_line(task, found.claims) for task in found.ready[:MOST]]
    lines += _more(len(found.ready), MOST)
    lines += [f"- {task.id} can be closed, all its parts are: {flat(task.title, 200)}" for task in found.to_close[:3]]
    lines += [f"- {one.task.id} waits: {flat('; '.join(one.reasons), 200)}" for one in found.waiting[:_WAITING]]
    if not lines:
        away = f" {found.away} are on other branches." if found.away else ""
        return _said(f"No task is ready.{away} Add one with action add.", project)
    return _said(framed(lines if found.ready else ["Nothing is ready.", *lines]), project)


def _list(project: Project, _folder: str, _given: dict[str, Any], _asking: McpClient) -> ToolAnswer:
    board, claims = project.tasks.board(), project.tasks.claims()
    there = sorted(
        (task for task in board.tasks if not task.is_closed),
        key=lambda task: (task.status != "started", task.priority, task.title),
    )
    if not there:
        return _said("No task is open. Add one with action add.", project)
    shown = there[: 3 * MOST]
    lines = [*(_line(task, claims) for task in shown), *_more(len(there), len(shown))]
    return _said(framed(lines), project)


def _claim(project: Project, _folder: str, given: dict[str, Any], asking: McpClient) -> ToolAnswer:
    session = project.sessions.current_id()
    best = None if given.get("id") else project.tasks.next(claim=True, owner=asking.name, session=session).claimed
    name = given.get("id") or (best.id if best else None)
    if name is None:
        return _said("No task is ready to be claimed. See action next for what waits.", project)
    task = project.tasks.start(name, owner=asking.name, session=session)
    lines = [f"- {task.id} is yours for two hours: {flat(task.title)}"]
    lines += [f"  done when: {flat(said)}" for said in task.acceptance]
    lines += [f"  notes: {flat(task.notes, 1500)}"] if task.notes else []
    text = f"{framed(lines)}\nWhen it is done: action done, id {task.id}, with the commit as evidence."
    return _said(text, project)


def _done(project: Project, folder: str, given: dict[str, Any], _asking: McpClient) -> ToolAnswer:
    from holdfast.git.evidence_check import from_folder

    name = _wanted(given, "id", "done")
    cited = [from_folder(project.clone, folder, text) for text in given.get("evidence", [])]
    ended = project.tasks.done(name, evidence=cited)
    lines = [f"{ended.task.id} is done: {flat(ended.task.title, 200)}"]
    lines += [f"Found as evidence: {', '.join(ended.found)}"] if ended.found else []
    lines += [f"Now ready: {', '.join(ended.unblocked)}"] if ended.unblocked else []
    return _said("\n".join(lines), project)


def _add(project: Project, _folder: str, given: dict[str, Any], _asking: McpClient) -> ToolAnswer:
    made = project.tasks.add(_wanted(given, "title", "add"), needs=given.get("needs", []))
    return _said(f"{made.id} was added: {flat(made.title, 200)}", project)


def _wanted(given: Mapping[str, Any], name: str, action: str) -> str:
    value = str(given.get(name, "")).strip()
    if not value:
        raise BadInput(f"{action} needs the argument {name!r}", hint=f"Call it again with {name}.")
    return value


def _line(task: Task, claims: Mapping[str, TaskClaim]) -> str:
    kind = f"{task.kind} " if task.kind != "task" else ""
    facts = [f"P{task.priority}", task.status if task.status != "open" else ""]
    claim = claims.get(task.id)
    facts += [f"claimed by {flat(claim.owner, 40)} until {claim.until[11:16]}"] if claim else []
    return f"- {task.id} ({', '.join(fact for fact in facts if fact)}): {kind}{flat(task.title, 200)}"


def _more(number: int, shown: int) -> list[str]:
    return [f"… and {number - shown:,} more"] if number > shown else []


def _said(text: str, project: Project) -> ToolAnswer:
    return ToolAnswer(text + noted(project.notices))


_ACTIONS: dict[str, Callable[[Project, str, dict[str, Any], McpClient], ToolAnswer]] = {
    "next": _next,
    "list": _list,
    "claim": _claim,
    "done": _done,
    "add": _add,
}
