"""Calls answered: each opens the project as it is at that moment, asks it once, and says what it found.

Shared by stdio and HTTP. What a model can mend (a wrong argument, no such task, nothing set up) is a result
that says so in a sentence with the next step; what only a client can is refused with the protocol's codes.

Arguments of a call held against the tool's own schema: what clients read is what is checked.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from holdfast.errors import BadInput, HoldfastError
from holdfast.interfaces.mcp import memory_resources, protocol, tool_table, tool_text
from holdfast.interfaces.mcp.client_project import McpClient, open_first
from holdfast.interfaces.mcp.tool_text import ToolAnswer, clean, failure, flat, noted
from holdfast.model.ids import is_id

if TYPE_CHECKING:
    from holdfast.project import Project

    Schema = dict[str, Any]
    from holdfast.model.task import Task
    from holdfast.work.task_claims import TaskClaim

# The tool `tasks`: what is ready, what is open, and a task claimed, finished or added by an agent.

MOST = 10  # tasks of a list; a model that needs more asks for one by its id
_WAITING = 5  # a guess: an agent takes one task at a time


def tasks(project: Project, folder: str, given: dict[str, Any], asking: McpClient) -> ToolAnswer:
    """Do what `action` says."""
    asking.check()
    return _ACTIONS[given["action"]](project, folder, given, asking)


def _next(project: Project, _folder: str, given: dict[str, Any], _asking: McpClient) -> ToolAnswer:
    found = project.tasks.next()
    lines = [_line(task, found.claims) for task in found.ready[:MOST]]
    lines += _more(len(found.ready), MOST)
    lines += [f"- {task.id} can be closed, all its parts are: {flat(task.title, 200)}" for task in found.to_close[:3]]
    lines += [f"- {one.task.id} waits: {flat('; '.join(one.reasons), 200)}" for one in found.waiting[:_WAITING]]
    if not lines:
        away = f" {found.away} are on other branches." if found.away else ""
        return _said(f"No task is ready.{away} Add one with action add.", project)
    return _fitting(lines if found.ready else ["Nothing is ready.", *lines], project, given)


def _list(project: Project, _folder: str, given: dict[str, Any], _asking: McpClient) -> ToolAnswer:
    board, claims = project.tasks.board(), project.tasks.claims()
    there = sorted(
        (task for task in board.tasks if not task.is_closed),
        key=lambda task: (task.status != "started", task.priority, task.title),
    )
    if not there:
        return _said("No task is open. Add one with action add.", project)
    shown = there[: 3 * MOST]
    lines = [*(_line(task, claims) for task in shown), *_more(len(there), len(shown))]
    return _fitting(lines, project, given)


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
    then = f"when it is done: action done, id {task.id}, with the commit as evidence"
    return ToolAnswer(tool_text.within(lines, [then, *project.notices], given.get("budget"), whole=True))


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


def _fitting(lines: list[str], project: Project, given: Mapping[str, Any]) -> ToolAnswer:
    return ToolAnswer(tool_text.within(lines, project.notices, given.get("budget")))


def _said(text: str, project: Project) -> ToolAnswer:
    return ToolAnswer(text + noted(project.notices))


_ACTIONS: dict[str, Callable[[Project, str, dict[str, Any], McpClient], ToolAnswer]] = {
    "next": _next,
    "list": _list,
    "claim": _claim,
    "done": _done,
    "add": _add,
}

_NAMED: dict[str, Any] = {"string": str, "integer": int, "array": list, "object": dict, "boolean": bool}


def wrong(schema: Schema, given: dict[str, Any]) -> str | None:
    """What is wrong with a tool's arguments, in a sentence with what is accepted; None if nothing is."""
    known = schema["properties"]
    if unknown := sorted(set(given) - set(known)):
        return f"there is no argument {unknown[0][:60]!r}; known are {', '.join(known)}"
    if missing := [name for name in schema.get("required", ()) if name not in given]:
        return f"the argument {missing[0]!r} is missing"
    return next((said for name, value in given.items() if (said := _value(name, value, known[name]))), None)


def _value(name: str, value: Any, rule: Schema) -> str | None:
    kind = rule["type"]
    if not isinstance(value, _NAMED[kind]) or (kind == "boolean") != isinstance(value, bool):
        return f"{name} must be {'an' if kind[0] in 'aio' else 'a'} {kind}"
    if "enum" in rule and value not in rule["enum"]:
        return f"{name} must be one of {', '.join(rule['enum'])}"
    if kind == "string" and len(value) > rule.get("maxLength", len(value)):
        return f"{name} may have {rule['maxLength']:,} characters"
    if kind == "integer" and not rule["minimum"] <= value <= rule["maximum"]:
        return f"{name} must be from {rule['minimum']} to {rule['maximum']}"
    if kind == "array":
        if len(value) > rule["maxItems"]:
            return f"{name} names {len(value)} things; at most {rule['maxItems']} are taken"
        return next((said for item in value if (said := _value(f"each of {name}", item, rule["items"]))), None)
    return None


Tool = Callable[["Project", str, dict[str, Any], McpClient], ToolAnswer]
MAX_CONFLICTS = 3  # a guess: the first decides
FACT = 60  # tokens of one fact about what is opened
LIKELY = 0.5  # an agent hears only of what is more likely a contradiction than not


def answer(method: str, params: dict[str, Any], asking: McpClient) -> dict[str, Any]:
    """The result of a request that touches the repository."""
    if method == "tools/call":
        return call(params.get("name"), params.get("arguments"), asking)
    return memory_resources.answered(method, params, asking)


def call(name: Any, arguments: Any, asking: McpClient) -> dict[str, Any]:
    """The result of one tool."""
    tool = tool_table.BY_NAME.get(name) if isinstance(name, str) else None
    if tool is None:
        known = ", ".join(tool_table.BY_NAME)
        raise protocol.Refused(protocol.PARAMS, f"there is no tool {str(name)[:60]!r}; known are {known}")
    given = {} if arguments is None else arguments
    if not isinstance(given, dict):
        raise protocol.Refused(protocol.PARAMS, "arguments is an object")
    if (said := wrong(tool["inputSchema"], given)) is not None:
        return _failed(said)
    try:
        asking.step(0, None, "opening the project")
        project, folder = open_first(asking.folders)
        asking.check()
        found = _TOOLS[str(name)](project, folder, given, asking)
        if project.has_unread:
            from holdfast.interfaces import agent_replies

            agent_replies.embed_later(project.clone.repo.top)
    except HoldfastError as error:
        return _failed(failure(error))
    except OSError as error:
        return _failed(f"{error.filename or 'the system'}: {error.strerror or error}")
    result: dict[str, Any] = {"content": [{"type": "text", "text": found.text}], "isError": False}
    if found.data and asking.version >= protocol.STRUCTURED:
        result["structuredContent"] = found.data
    return dict(project.clone.hide.value(result))


def _failed(said: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": clean(said)}], "isError": True}


# ── the tools ────────────────────────────────────────────────────────────────────────────────────


def _recall(project: Project, folder: str, given: dict[str, Any], asking: McpClient) -> ToolAnswer:
    from holdfast.index.ranking import MAX_QUERY
    from holdfast.index.search_rows import now_text
    from holdfast.interfaces.quick_recall import WITHOUT_MEANING
    from holdfast.store import tally

    began = time.perf_counter_ns()
    limit, kind = given.get("limit", 5), given.get("kind")
    project.recall.progress = lambda done, total: asking.step(done, total, "reading what is new")
    files = _inside(project, folder, given)
    hits = project.recall(
        given["query"][:MAX_QUERY],
        limit=limit,
        kind=kind,
        files=files,
        branch=given.get("branch"),
        since=given.get("since"),
        # A server keeps the model warm: meaning costs it milliseconds.
        semantic=given.get("semantic", project.models.embeds_in_background() or None),
        count=False,
    )
    now = now_text(project.clone.clock())
    found = [tool_text.hit(one, now) for one in hits]
    if files:
        found = _governing_first(project, files, found, kind)[:limit]
    took = (time.perf_counter_ns() - began) // 1000
    told = [(one["id"], one["kind"], one.get("state")) for one in found]
    tally.recalled_now(project.clone.layout, told, took)
    in_vain = given.get("semantic") and not project.recall.by_meaning
    notes = [*project.notices, *filter(None, (project.recall.advice, WITHOUT_MEANING if in_vain else ""))]
    return tool_text.found(found, notes, given.get("budget"))


def _inside(project: Project, folder: str, given: dict[str, Any]) -> list[str]:
    """The files at hand, from the top, that lie in this repository; an agent may have others at hand, too."""
    from holdfast.recall import applicable_memories

    found = (applicable_memories.at_top(path, top=project.clone.repo.top) for path in _paths(folder, given))
    return [path for path in found if path is not None]


def _governing_first(
    project: Project, files: list[str], found: list[tool_text.Row], kind: str | None
) -> list[tool_text.Row]:
    """What was found, before it what governs some files, whether or not the words fit."""
    from holdfast.recall import applicable_memories

    standings = {one.id: one for one in project.memory.knowledge().standings if tool_text.may_be_told(one)}
    known = [tool_text.known(one) for one in standings.values() if kind in (None, one.memory.type)]
    near = {
        one.known.id: one.why
        for one in applicable_memories.applicable(known, applicable_memories.WorkAtHand(tuple(files)))
        if one.near in (applicable_memories.FILES, applicable_memories.CITED)
    }
    hits = {one["id"]: one for one in found}
    both = [{**hits[name], "why": why} for name, why in near.items() if name in hits]
    more = [tool_text.standing(standings[name], why) for name, why in near.items() if name not in hits]
    return [*both, *more, *(one for name, one in hits.items() if name not in near)]


def _context(project: Project, folder: str, given: dict[str, Any], asking: McpClient) -> ToolAnswer:
    from holdfast.recall.pack.context_pack import pack_text

    asking.step(1, 2, "gathering what governs the work")
    own = "context.budget" in project.settings.origins  # who set it wants so much, of whoever asks
    budget = given.get("budget") or (None if own else tool_text.BUDGET)
    packed = project.context(given.get("for"), _paths(folder, given), budget=budget)
    notes = list(project.notices)
    if packed.silent:
        notes.append(f"{packed.silent} memories came by git and do not speak until the user runs `holdfast trust`")
    if packed.unmerged:
        notes.append(str(packed.unmerged))
    return ToolAnswer(clean(pack_text(packed)) + tool_text.noted(notes))


def _propose(project: Project, folder: str, given: dict[str, Any], asking: McpClient) -> ToolAnswer:
    from holdfast.curation import extraction
    from holdfast.git.evidence_check import from_folder
    from holdfast.model import prompt_injection
    from holdfast.model.evidence import Provenance
    from holdfast.model.ids import RUN_VARIABLE

    words = f"{given['statement']}\n{given.get('why', '')}"
    if prompt_injection.overrules(words):
        raise BadInput(
            "this steers its readers instead of telling them something, and was not kept",
            hint="State what holds in the project, not what a reader must do with rules or reviews.",
        )
    if unfit := extraction.why_not(given["statement"]):
        raise BadInput(f"{unfit[0]}, and was not kept", hint=unfit[1])
    before = {one.id for one in project.memory.candidates()}
    asking.check()
    # Where it was said: in the run this is part of, in the session open here, or by an agent.
    run, session = os.environ.get(RUN_VARIABLE, ""), project.sessions.current_id()
    where = f"run:{run}" if is_id(run) else f"session:{session}" if session else f"agent:{asking.name}"
    made = project.memory.remember(
        given["statement"],
        kind=given["type"],
        why=given.get("why", ""),
        evidence=[from_folder(project.clone, folder, text) for text in given["evidence"]],
        applies_to=_inside(project, folder, given),
        source=f"agent:{asking.name}",
        provenance=[str(Provenance(where, words=project.clone.scan.text(given["statement"])))],
    )
    queue = project.memory.queue() if made.status == "candidate" else None
    item = next((item for item in queue.items if item.id == made.id), None) if queue else None
    look = queue.look(item) if queue and item else None
    likely = [one for one in look.hints if one.verdict.score > LIKELY] if look else []
    against = [*look.conflicts, *likely][:MAX_CONFLICTS] if look else []
    said = [one.sentence for one in against]
    return tool_text.proposed(project, made, given["statement"], said, known=made.id in before)


def _open(project: Project, _folder: str, given: dict[str, Any], _asking: McpClient) -> ToolAnswer:
    from holdfast.interfaces.cli.output import as_text
    from holdfast.interfaces.cli.show_commands import record_text
    from holdfast.recall.pack.pack_lines import clip_tokens

    shown = as_text(record_text(project.log.show(given["id"])))
    facts, blank, said = shown.partition("\n\n")
    # A list of forty tools or files must not push out the text.
    rows = [clip_tokens(row, FACT) for row in facts.splitlines()] + (blank + said).splitlines()[1:]
    return ToolAnswer(tool_text.within(rows, project.notices, given.get("budget"), whole=True))


def _why(project: Project, folder: str, given: dict[str, Any], _asking: McpClient) -> ToolAnswer:
    from holdfast.interfaces.cli.output import as_text
    from holdfast.interfaces.cli.why_commands import why_text

    told = as_text(why_text(project.recall.why(given["line"], folder=folder))).splitlines()
    return ToolAnswer(tool_text.within(told, project.notices, given.get("budget"), whole=True))


def _paths(folder: str, given: dict[str, Any]) -> list[str]:
    """Files as seen from the folder that the client works in."""
    return [os.path.join(folder, path) for path in given.get("files", []) if path and "\0" not in path]


_TOOLS: dict[str, Tool] = {
    "recall": _recall,
    "open": _open,
    "why": _why,
    "context": _context,
    "propose": _propose,
    "tasks": tasks,
}
