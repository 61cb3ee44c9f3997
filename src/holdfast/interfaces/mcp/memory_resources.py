"""Resources: each memory that stands here, page by page, and one memory or task by its address.

The list of memories as the index tells it, without opening the project if the index is up to date.

Claude Code asks for the resources before its first request and leaves all our tools out of that request if
the answer is slow; so this is answered from SQLite alone, by the rule that the quick path has, and only
where that cannot tell by the full one. Both ask the index the same question.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from holdfast.errors import Ambiguous, HoldfastError, NotFound
from holdfast.index import hit_text
from holdfast.index.hit_text import EDITED, FOREIGN, STALE, SUPERSEDED, UNCHECKED
from holdfast.interfaces import quick
from holdfast.interfaces.mcp.client_project import McpClient, open_first, ordered
from holdfast.interfaces.mcp.protocol import INTERNAL, NO_RESOURCE, PARAMS, Refused
from holdfast.interfaces.mcp.tool_table import MEMORY, TASK, TYPES
from holdfast.interfaces.mcp.tool_text import clean, failure, framed, state
from holdfast.model.ids import is_id
from holdfast.model.text import visible

if TYPE_CHECKING:
    from sqlite3 import Connection

    from holdfast.project import Project

_ASKED = f"""SELECT name, kind, title, what, expires, doubt, tier FROM row
  WHERE id < 0 AND shown AND kind IN {TYPES}"""
_NEWER = f"""SELECT supersedes, tier FROM row WHERE supersedes IS NOT NULL AND shown
  AND (doubt IS NULL OR doubt IN ('{FOREIGN}', '{STALE}', '{SUPERSEDED}')) ORDER BY tier DESC"""
_ORDER = ("invariant", "decision", "dead-end", "assumption", "fact")
_TOLD = ("T0", "T1", "T2")  # what came from elsewhere and nobody here looked at is not listed
_DOUBTS = (None, "unreviewed", EDITED, UNCHECKED, STALE)

PAGE, _LONG = 100, 200  # memories a page, characters of each
Row = tuple[str, str, str, str | None]  # id, type, statement, and what to know before believing it


def first_page(folders: Sequence[str], params: dict[str, Any]) -> dict[str, Any] | None:
    """The list's beginning if the index can tell it at once."""
    rows = at_once(ordered(folders)[0]) if params.get("cursor") is None else None
    return None if rows is None else page(rows, None)


def page(rows: Sequence[Row], cursor: Any) -> dict[str, Any]:
    """One page of the memories that stand here; the cursor is the last page's last id."""
    start = next((at for at, row in enumerate(rows, 1) if row[0] == cursor), 0)
    if cursor is not None and not start:
        raise Refused(PARAMS, "nothing is listed at this cursor; list from the beginning")
    shown = rows[start : start + PAGE]
    found: dict[str, Any] = {"resources": [_resource(*row) for row in shown]}
    return {**found, "nextCursor": shown[-1][0]} if start + PAGE < len(rows) else found


def _resource(name: str, kind: str, statement: str, state: str | None) -> dict[str, Any]:
    said = visible(" ".join(statement.split()))
    about = f"{kind} ({state})" if state else kind
    return {
        "uri": f"{MEMORY}{name}",
        "name": name,
        "description": f"{about}: {said if len(said) <= _LONG else said[: _LONG - 1] + '…'}",
        "mimeType": "text/markdown",
    }


def at_once(folder: str) -> list[Row] | None:
    """The memories that stand in a folder's project; None if only the full path can tell."""
    if not quick.is_plain(os.environ):
        return None
    try:
        place = quick.find_place(os.path.realpath(folder))
        found = quick.find_index(place, "memory") if place else None
        return of_index(found[2], state=found[1].memory) if found else None
    except OSError:
        return None


def of_index(path: str, *, state: str | None = None) -> list[Row] | None:
    """What an index lists; None if it cannot be read, or does not stand at this state."""

    def ask(db: Connection) -> list[Row] | None:
        kept = db.execute("SELECT value FROM meta WHERE name = 'signature'").fetchone()
        if state is not None and (kept is None or kept[0] != state):
            return None
        return sorted(_standing(db), key=lambda row: (_ORDER.index(row[1]), row[0]))

    return quick.read_index(path, ask)


def _standing(db: Connection) -> Iterator[Row]:
    """The memories that neither ended nor ran out, nor were replaced by one that is trusted as much."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    newer = {name: tier for names, tier in db.execute(_NEWER) for name in names.split()}
    for name, kind, title, what, expires, doubt, tier in db.execute(_ASKED):
        stands = what == "accepted" and doubt in _DOUBTS and tier in _TOLD
        over = bool(expires and expires <= now)
        if stands and not over and not (name in newer and newer[name] <= tier):
            yield name, kind, title, doubt or (None if tier == hit_text.APPROVED else hit_text.PROMOTED)


MAX_TEXT = 64_000  # characters of one resource


def answered(method: str, params: dict[str, Any], asking: McpClient) -> dict[str, Any]:
    """The list of memories, or one memory or task."""
    try:
        if method == "resources/list":
            return page(_rows(asking), params.get("cursor"))
        return read(open_first(asking.folders)[0], params.get("uri"))
    except HoldfastError as error:
        raise Refused(INTERNAL, failure(error)) from None


def _rows(asking: McpClient) -> Sequence[Row]:
    """The memories that stand here, from the index as it is if it is up to date, else brought up to date."""
    rows = at_once(ordered(asking.folders)[0])
    if rows is not None:
        return rows
    project, _ = open_first(asking.folders)
    from holdfast.index.refresh import path_of
    from holdfast.recall import search

    search.recall(project.clone, "", limit=1, progress=lambda done, total: asking.step(done, total, "reading"))
    return of_index(path_of(project.clone)) or []


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
    one = project.memory.get(name)
    if one.id != name:
        raise NotFound(f"there is no memory {name}")
    memory = one.memory
    facts = [f"type: {memory.type}", f"status: {state(one)}", f"trust: {one.trust or 'none'}"]
    facts += [f"applies to: {', '.join(memory.applies_to)}"] if memory.applies_to else []
    facts += [f"evidence: {text} ({state})" for text, state in one.receipts]
    facts += [f"note: {note}" for note in one.notes]
    return [f"# {memory.id}", "", memory.statement, "", *([memory.details, ""] if memory.details else []), *facts]


def _task(project: Project, name: str) -> list[str]:
    shown = project.tasks.show(name)
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
