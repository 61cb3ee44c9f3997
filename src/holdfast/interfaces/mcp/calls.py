"""Calls answered: each opens the project as it is at that moment, asks it once, and says what it found.

Shared by stdio and HTTP. What a model can mend (a wrong argument, no such task, nothing set up) is a result
that says so in a sentence with the next step; what only a client can is refused with the protocol's codes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from holdfast.errors import BadInput, HoldfastError
from holdfast.interfaces.mcp import protocol, resources, saying, table, tasks
from holdfast.interfaces.mcp.arguments import wrong
from holdfast.interfaces.mcp.asking import Asking
from holdfast.interfaces.mcp.framing import clean, failure
from holdfast.interfaces.mcp.place import open_first
from holdfast.interfaces.mcp.protocol import Refused
from holdfast.interfaces.mcp.saying import Said
from holdfast.model.ids import is_id

if TYPE_CHECKING:
    from holdfast.curation.decisions import Standing
    from holdfast.project import Project

Tool = Callable[["Project", str, dict[str, Any], Asking], Said]
MAX_CONFLICTS = 3


def answer(method: str, params: dict[str, Any], asking: Asking) -> dict[str, Any]:
    """The result of a request that touches the repository."""
    if method == "tools/call":
        return call(params.get("name"), params.get("arguments"), asking)
    return resources.answered(method, params, asking)


def call(name: Any, arguments: Any, asking: Asking) -> dict[str, Any]:
    """The result of one tool."""
    tool = table.BY_NAME.get(name) if isinstance(name, str) else None
    if tool is None:
        known = ", ".join(table.BY_NAME)
        raise Refused(protocol.PARAMS, f"there is no tool {str(name)[:60]!r}; known are {known}")
    given = {} if arguments is None else arguments
    if not isinstance(given, dict):
        raise Refused(protocol.PARAMS, "arguments is an object")
    if (said := wrong(tool["inputSchema"], given)) is not None:
        return _failed(said)
    try:
        asking.step(0, None, "opening the project")
        project, folder = open_first(asking.folders)
        asking.check()
        found = _TOOLS[str(name)](project, folder, given, asking)
    except HoldfastError as error:
        return _failed(failure(error))
    except OSError as error:
        return _failed(f"{error.filename or 'the system'}: {error.strerror or error}")
    hide = project.clone.hide.value
    return dict(hide(_result(found, structured=asking.version >= protocol.STRUCTURED)))


def _failed(said: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": clean(said)}], "isError": True}


def _result(found: Said, *, structured: bool) -> dict[str, Any]:
    result: dict[str, Any] = {"content": [{"type": "text", "text": found.text}], "isError": False}
    return {**result, "structuredContent": found.data} if structured and found.data else result


# ── the tools ────────────────────────────────────────────────────────────────────────────────────


def _recall(project: Project, folder: str, given: dict[str, Any], asking: Asking) -> Said:
    from holdfast.index.search import MAX_QUERY
    from holdfast.interfaces.quick_recall import WITHOUT_MEANING
    from holdfast.store import tally

    began = time.perf_counter_ns()
    limit, kind = given.get("limit", 5), given.get("kind")
    project.progress = lambda done, total: asking.step(done, total, "reading what is new")
    files = _paths(folder, given.get("files", []))
    hits = project.recall(
        given["query"][:MAX_QUERY],
        limit=limit,
        kind=kind,
        files=_inside(project, files),
        branch=given.get("branch"),
        since=given.get("since"),
        # A server keeps the model warm: meaning costs it milliseconds.
        semantic=given.get("semantic", project.embeds_in_background() or None),
        count=False,
    )
    found = [saying.hit(one) for one in hits]
    if files:
        found = _governing_first(project, files, found, kind)[:limit]
    took = (time.perf_counter_ns() - began) // 1000
    told = [(one["id"], one["kind"], one.get("state")) for one in found]
    tally.recalled_now(project.clone.layout, given["query"], told, took)
    in_vain = given.get("semantic") and not project.by_meaning
    return saying.found(found, [*project.notices, *([WITHOUT_MEANING] if in_vain else [])])


def _inside(project: Project, files: list[str]) -> list[str]:
    """The files that lie in this repository; an agent may have others at hand, too."""
    from holdfast.recall import governing

    return [path for path in files if governing.at_top(path, top=project.clone.repo.top) is not None]


def _governing_first(project: Project, files: list[str], found: list[saying.Row], kind: str | None) -> list[saying.Row]:
    """What was found, before it what governs some files, whether or not the words fit."""
    from holdfast.recall import governing

    top = project.clone.repo.top
    named = tuple(path for file in files if (path := governing.at_top(file, top=top)) is not None)
    standings = {one.id: one for one in project.knowledge().standings if saying.may_be_told(one)}
    known = [saying.known(one) for one in standings.values() if kind in (None, one.memory.type)]
    near = {
        one.known.id: one.why
        for one in governing.governing(known, governing.AtHand(named))
        if one.near in (governing.FILES, governing.CITED)
    }
    hits = {one["id"]: one for one in found}
    both = [{**hits[name], "why": why} for name, why in near.items() if name in hits]
    more = [saying.standing(standings[name], why) for name, why in near.items() if name not in hits]
    return [*both, *more, *(one for name, one in hits.items() if name not in near)]


def _context(project: Project, folder: str, given: dict[str, Any], asking: Asking) -> Said:
    from holdfast.recall.context import text

    asking.step(1, 2, "gathering what governs the work")
    packed = project.context(given.get("for"), _paths(folder, given.get("files", [])), budget=given.get("budget"))
    notes = list(project.notices)
    if packed.silent:
        notes.append(f"{packed.silent} memories came by git and do not speak until the user runs `holdfast trust`")
    if packed.unmerged:
        notes.append(str(packed.unmerged))
    return Said(clean(text(packed)) + saying.noted(notes))


def _propose(project: Project, folder: str, given: dict[str, Any], asking: Asking) -> Said:
    from holdfast.git.evidence import from_folder
    from holdfast.model import steering
    from holdfast.model.provenance import Provenance
    from holdfast.recall import governing

    words = f"{given['statement']}\n{given.get('why', '')}"
    if steering.overrules(words):
        raise BadInput(
            "this steers its readers instead of telling them something, and was not kept",
            hint="State what holds in the project, not what a reader must do with rules or reviews.",
        )
    before = {one.id for one in project.candidates()}
    files = [governing.at_top(path, top=project.clone.repo.top) for path in _paths(folder, given.get("files", []))]
    asking.check()
    made = project.remember(
        given["statement"],
        kind=given["type"],
        why=given.get("why", ""),
        evidence=[from_folder(project.clone, folder, text) for text in given["evidence"]],
        applies_to=[path for path in files if path is not None],
        source=f"agent:{asking.name}",
        provenance=[str(Provenance(_where(project, asking), words=project.clone.scan.text(given["statement"])))],
    )
    return saying.proposed(made, _against(project, made), project.notices, known=made.id in before)


def _where(project: Project, asking: Asking) -> str:
    """Where something was said: in the run this is part of, in the session open here, or by an agent."""
    from holdfast.capture.run import RUN_VARIABLE

    run = os.environ.get(RUN_VARIABLE, "")
    if is_id(run):
        return f"run:{run}"
    session = project.session_id()
    return f"session:{session}" if session else f"agent:{asking.name}"


def _against(project: Project, made: Standing) -> list[str]:
    """What a candidate contradicts, in sentences."""
    if made.status != "candidate":
        return []
    queue = project.queue()
    item = next((item for item in queue.items if item.id == made.id), None)
    return [one.sentence for one in queue.look(item).conflicts[:MAX_CONFLICTS]] if item else []


def _paths(folder: str, files: list[str]) -> list[str]:
    """Files as seen from the folder that the client works in."""
    return [os.path.join(folder, path) for path in files if path and "\0" not in path]


_TOOLS: dict[str, Tool] = {"recall": _recall, "context": _context, "propose": _propose, "tasks": tasks.tasks}
