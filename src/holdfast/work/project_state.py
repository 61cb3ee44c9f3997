"""Project state: the long cache in one value, and as `view/project_state.json`.

The view may be edited: `base` is a digest of every text it was made of, so that an edit of an old
view is noticed. It holds whole tasks and links; everything else in it is derived from them.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from holdfast.git.clone import Clone
from holdfast.model.task import PLANS, Link, Task
from holdfast.model.text import in_json
from holdfast.store import task_files
from holdfast.values import asdict, frozen
from holdfast.work import task_board as boards
from holdfast.work import task_json

NAME = "project_state.json"
VERSION = 1


@frozen
class ProjectState:
    """Everything the project plans, has reached and links to, seen from this branch."""

    branch: str | None
    head: str | None
    time: str
    base: str  # a digest that changes whenever a task or a link does
    board: boards.Board
    links: tuple[Link, ...]
    broken: tuple[boards.BrokenTaskFile, ...]


def read(clone: Clone, *, board: boards.Board | None = None) -> ProjectState:
    """The state as it is visible here."""
    here, head = board or boards.read(clone), clone.repo.head()
    links, broken = boards.links(clone)
    found = tuple(link for link, _ in links.values())
    branch = clone.hide.text(head.branch) if head.branch else None
    texts = [f"{name} {placed.blob}" for name, placed in here.placed.items()]
    texts += [task_files.render(link) for link in found]
    base = hashlib.sha256("\n".join(sorted(texts)).encode("utf-8", "replace")).hexdigest()
    return ProjectState(branch, head.oid, clone.now(), base, here, found, (*here.broken, *broken))


def as_object(state: ProjectState) -> dict[str, Any]:
    """The state with the fields that project_state.json promises."""
    return {**_derived(state), "tasks": [task_json.as_object(task) for task in state.board.tasks]}


def _derived(state: ProjectState) -> dict[str, Any]:
    """The same but for the tasks themselves, whose place is kept."""
    graph, tasks = state.board.graph, state.board.tasks
    header = {"version": VERSION, "last_updated": state.time, "branch": state.branch, "head": state.head}
    edges = []
    for task in tasks:
        edges += [{"from": task.id, "to": need, "kind": "needs"} for need in task.needs]
        edges += [{"from": task.id, "to": task.parent, "kind": "part of"}] if task.parent else []
    return {
        **header,
        "base": state.base,
        "goals": [_outline(state, task) for task in tasks if task.kind == "goal"],
        "milestones": [_outline(state, task) for task in tasks if task.kind == "milestone"],
        "tasks": [],
        "graph": {
            "edges": edges,
            "ready": [task.id for task in graph.ready() if task.kind not in PLANS],
            "waiting": {found.task.id: list(found.reasons) for found in graph.waiting()},
            "critical_path": list(graph.critical_path()),
        },
        "checkpoints": [{"task": t.id, "title": t.title, **asdict(t.checkpoint)} for t in tasks if t.checkpoint],
        "backlog": [task.id for task in backlog(state.board)],
        "links": [task_json.as_object(link) for link in state.links],
    }


def text(state: ProjectState, clone: Clone) -> str:
    """The view's text: one field a line, and one task a line, so that people can find and edit theirs."""
    fields = [f"{json.dumps(name)}: {_spread(value)}" for name, value in _derived(state).items()]
    around = in_json("{\n" + ",\n".join(fields) + "\n}\n")
    placed = {one.blob: one.task for one in state.board.placed.values()}
    lines = clone.entry_memo.shown(
        "state", placed, lambda task: clone.hide.text(in_json(_json(task_json.as_object(task))))
    )  # the lines of tasks that did not change are as before
    # All that people wrote is in those lines, in the links or in the branch's name: what is derived holds no more.
    said = "\n".join((state.branch or "", *map(task_files.render, state.links)))
    if any("[redacted" in line for line in lines.values()) or clone.hide.text(said) != said:
        around = clone.hide.text(around)
    rows = ",\n  ".join(lines[one.blob] for one in state.board.placed.values())
    return around.replace('"tasks": []', f'"tasks": [\n  {rows}\n]', 1) if rows else around


def _spread(value: Any) -> str:
    """A value as JSON; each item of a list, and each field of an object, on a line of its own.

    Not by `indent`: for that Python has only the slow encoder, which takes seconds for many tasks.
    """
    if isinstance(value, list) and value:
        return "[\n  " + ",\n  ".join(_json(item) for item in value) + "\n]"
    if isinstance(value, dict) and value:
        return "{\n  " + ",\n  ".join(f"{_json(name)}: {_json(item)}" for name, item in value.items()) + "\n}"
    return _json(value)


_json = json.JSONEncoder(ensure_ascii=False).encode


def backlog(board: boards.Board) -> list[Task]:
    """What nobody has begun, most urgent first."""
    waiting = [task for task in board.tasks if task.status == "open" and not board.graph.children(task.id)]
    return sorted(waiting, key=lambda task: task.priority)


def _outline(state: ProjectState, task: Task) -> Mapping[str, Any]:
    closed, of_all = state.board.graph.progress(task.id)
    parts = list(state.board.graph.children(task.id))
    told = {"id": task.id, "title": task.title, "status": task.status}
    return {**told, "closed": closed, "of": of_all, "parts": parts}
