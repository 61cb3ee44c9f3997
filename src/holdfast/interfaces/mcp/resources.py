"""Resources: each memory that stands here, page by page, and one memory or task by its address."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from holdfast.errors import Ambiguous, HoldfastError, NotFound
from holdfast.interfaces.mcp import listing
from holdfast.interfaces.mcp.asking import Asking
from holdfast.interfaces.mcp.folders import ordered
from holdfast.interfaces.mcp.framing import clean, failure, framed
from holdfast.interfaces.mcp.listing import Row, page
from holdfast.interfaces.mcp.place import open_first
from holdfast.interfaces.mcp.protocol import INTERNAL, NO_RESOURCE, PARAMS, Refused
from holdfast.interfaces.mcp.saying import state
from holdfast.interfaces.mcp.table import MEMORY, TASK
from holdfast.model.ids import is_id

if TYPE_CHECKING:
    from holdfast.project import Project

MAX_TEXT = 64_000  # characters of one resource


def answered(method: str, params: dict[str, Any], asking: Asking) -> dict[str, Any]:
    """The list of memories, or one memory or task."""
    try:
        if method == "resources/list":
            return page(_rows(asking), params.get("cursor"))
        return read(open_first(asking.folders)[0], params.get("uri"))
    except HoldfastError as error:
        raise Refused(INTERNAL, failure(error)) from None


def _rows(asking: Asking) -> Sequence[Row]:
    """The memories that stand here, from the index as it is if it is up to date, else brought up to date."""
    rows = listing.at_once(ordered(asking.folders)[0])
    if rows is not None:
        return rows
    project, _ = open_first(asking.folders)
    from holdfast.index.refresh import path_of
    from holdfast.recall import search

    search.recall(project.clone, "", limit=1, progress=lambda done, total: asking.step(done, total, "reading"))
    return listing.of_index(path_of(project.clone)) or []


def read(project: Project, uri: Any) -> dict[str, Any]:
    """One memory or task, as data between markers."""
    if not isinstance(uri, str):
        raise Refused(PARAMS, "resources/read names a uri")
    start = next((start for start in (MEMORY, TASK) if uri.startswith(start)), None)
    name = unquote(uri[len(start) :]) if start else ""
    if start is None or not is_id(name):
        raise _missing(uri)
    try:
        lines = _memory(project, name) if start == MEMORY else _task(project, name)
    except (NotFound, Ambiguous):
        raise _missing(uri) from None
    text = framed(clean("\n".join(lines))[:MAX_TEXT].splitlines())
    return {"contents": [{"uri": uri, "mimeType": "text/markdown", "text": text}]}


def _missing(uri: str) -> Refused:
    return Refused(NO_RESOURCE, "there is no such resource here", {"uri": uri[:300]})


def _memory(project: Project, name: str) -> list[str]:
    one = project.memory(name)
    if one.id != name:
        raise NotFound(f"there is no memory {name}")
    memory = one.memory
    facts = [f"type: {memory.type}", f"status: {state(one)}", f"trust: {one.trust or 'none'}"]
    facts += [f"applies to: {', '.join(memory.applies_to)}"] if memory.applies_to else []
    facts += [f"evidence: {text} ({state})" for text, state in one.receipts]
    facts += [f"note: {note}" for note in one.notes]
    return [f"# {memory.id}", "", memory.statement, "", *([memory.details, ""] if memory.details else []), *facts]


def _task(project: Project, name: str) -> list[str]:
    shown = project.task_show(name)
    task = shown.placed.task
    if task.id != name:
        raise NotFound(f"there is no task {name}")
    facts = [f"kind: {task.kind}", f"status: {task.status}", f"priority: {task.priority}"]
    facts += [f"part of: {task.parent}"] if task.parent else []
    facts += [f"needs: {', '.join(task.needs)}"] if task.needs else []
    facts += [f"done when: {said}" for said in task.acceptance]
    facts += [f"evidence: {text}" for text in task.evidence]
    facts += [f"waits: {reason}" for reason in shown.standing]
    return [f"# {task.id}", "", task.title, "", *([task.notes, ""] if task.notes else []), *facts]
