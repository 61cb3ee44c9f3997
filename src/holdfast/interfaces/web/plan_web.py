"""The plan: a board of tasks in five columns, one task with all that bears on it, and each change as a form.

What a change means, and what is refused, is `TaskBook`'s business; a card that was moved is only a way to ask for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from holdfast.errors import BadInput, HoldfastError, NeedsEvidence
from holdfast.interfaces.cli.board_commands import receipt_text
from holdfast.interfaces.web import graph_web
from holdfast.interfaces.web.project_reading import column_of
from holdfast.interfaces.web.web_query import Unfinished, WebPage, WebQuery, windowed
from holdfast.model import task as model_task
from holdfast.project.task_book import rests_on_something
from holdfast.values import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.interfaces.web.project_reading import ProjectReading
    from holdfast.interfaces.web.web_query import Action, ListWindow, PageMaker
    from holdfast.model.task import Task
    from holdfast.work.task_graph import TaskGraph

COLUMNS = {
    "ready": "What can be done now.",
    "waiting": "What needs something else first.",
    "started": "What somebody works on.",
    "blocked": "What something outside the plan holds back.",
    "done": "What is done or dropped, by its id.",
}
CARDS = 40  # of a column: five columns of them take half of what a page may
PLANS = 12  # goals, milestones and epics above the board
CHOICES = 100  # names that a filter suggests; any other can be typed
PATH = 12  # tasks of the critical path that are named
PRIORITIES = ("most urgent", "soon", "normal", "later", "some day")
# A task has a priority and no place of its own, so that the order agents work in is the one that people see.
ORDER = "cards of one priority are in the order of holdfast next; to move one up or down, drop it on another priority"
EVENTS = 30  # of a task's history
_HAPPENED = {
    "add": "added", "edit": "changed", "link": "changed what it needs", "start": "started", "done": "finished",
    "block": "blocked", "drop": "dropped", "reopen": "opened again", "import": "imported", "reset": "reset",
}  # fmt: skip
_LISTS = ("acceptance", "checks", "evidence")
_LINES = ("title", "kind", "owner", "parent", "layer", "impact")


@frozen
class BoardColumn:
    """One column: the cards that the page shows, by priority."""

    name: str
    about: str
    groups: tuple[tuple[int, tuple[Task, ...]], ...]
    window: ListWindow


# Pages.


def board_page(reading: ProjectReading, query: WebQuery) -> WebPage:
    """The board, filtered, each column windowed by itself."""
    return WebPage("plan.html", _board(reading, query))


def _board(reading: ProjectReading, query: WebQuery, **more: Any) -> dict[str, Any]:
    graph = reading.board.graph
    by_column = {name: reading.columns.get(name, []) for name in COLUMNS}
    for fits in _tests(graph, query):
        by_column = {name: list(filter(fits, tasks)) for name, tasks in by_column.items()}
    claims, path = reading.project.tasks.claims(), reading.critical_path
    plans = [task for task in reading.board.tasks if task.kind in model_task.PLANS]
    plans.sort(key=lambda task: (task.is_closed, model_task.KINDS.index(task.kind), task.priority, task.title))
    return {
        "columns": [_column(name, tasks, query) for name, tasks in by_column.items()],
        "plans": windowed(plans, query, most=PLANS, name="plans"),
        "progress": {task.id: graph.progress(task.id) for task in plans},
        "kinds": {task.id: task.kind for task in plans[:CHOICES]},
        "within": query.one("within"),
        "owner": query.one("owner"),
        "words": query.one("q"),
        "owners": sorted({task.owner for task in reading.board.tasks if task.owner})[:CHOICES],
        "top_plans": plans[:CHOICES],
        "claims": claims,
        "path": path,
        "path_named": [graph.tasks[name] for name in path[:PATH]],
        "on_path": frozenset(path),
        "standing": graph.standing,
        "total": len(reading.board.tasks),
        "chosen": sum(map(len, by_column.values())),
        "broken": reading.board.broken,
        "priorities": PRIORITIES,
        "order": ORDER,
        "away": reading.project.tasks.count_elsewhere(reading.board) if not reading.board.tasks else 0,
        **more,
    }


def _tests(graph: TaskGraph, query: WebQuery) -> Iterable[Callable[[Task], bool]]:
    """What the filter asks of a task."""
    if owner := query.one("owner").casefold():
        yield lambda task: (task.owner or "").casefold() == owner
    for word in query.one("q").casefold().split():
        yield lambda task, word=word: word in f"{task.id} {task.title} {task.notes}".casefold()  # type: ignore[misc]
    if within := query.one("within"):
        below = _below(graph, within)
        yield lambda task: task.id in below


def _below(graph: TaskGraph, top: str) -> set[str]:
    """All that is part of a node, and it itself."""
    found, waiting = {top}, [top]
    while waiting:
        new = [name for name in graph.children(waiting.pop()) if name not in found]
        found.update(new)
        waiting += new
    return found


def _column(name: str, tasks: Sequence[Task], query: WebQuery) -> BoardColumn:
    window = windowed(tasks, query, most=CARDS, name=name)
    groups = tuple((number, tuple(t for t in window.rows if t.priority == number)) for number in range(len(PRIORITIES)))
    return BoardColumn(name, COLUMNS[name], groups, window)


def task_page(reading: ProjectReading, query: WebQuery) -> WebPage:
    """One task: its fields, why it waits, its parts and needs, its evidence, its claim and what happened to it."""
    return WebPage("task.html", _task(reading, query, query.parts["identity"]))


def _task(reading: ProjectReading, query: WebQuery, name: str, **more: Any) -> dict[str, Any]:
    book, clone = reading.project.tasks, reading.project.clone
    found = book.show(name, board=reading.board)
    task, graph = found.placed.task, reading.board.graph
    history = [clone.joined(event) for event in clone.find_events(targets=(task.id,))[-EVENTS:]]
    needed_by = [other for other in reading.board.tasks if task.id in other.needs]
    return {
        "shown": found,
        "task": task,
        "column": column_of(task, reading.ready),
        "tasks": graph.tasks,
        "parts_window": windowed(found.parts, query, name="parts"),
        "needed_by": windowed(needed_by, query, name="after"),
        "receipts": {text: receipt_text(text, found.commits) for text in task.evidence},
        "shaky": book.shaky([task], reading.listing) if rests_on_something(task) else (),
        "history": history[::-1],
        "happened": _HAPPENED,
        "on_path": task.id in reading.critical_path,
        "priorities": PRIORITIES,
        "kinds": model_task.KINDS,
        "asks": "",
        "problem": None,
        **more,
    }


# Changes.


def add(reading: ProjectReading, query: WebQuery) -> tuple[str, str | None]:
    """Adds a task."""
    fields = {name: query.given(name) or None for name in ("kind", "parent", "owner")}
    needs = _split(query.given("needs"))
    made = reading.project.tasks.add(query.given("title"), needs=needs, priority=_priority(query, 2), **fields)
    return f"Added {made.id}.", query.back


def edit(reading: ProjectReading, query: WebQuery) -> tuple[str, str | None]:
    """Changes fields of a task, if it is still as it was on the page."""
    placed = reading.board.find(query.parts["identity"])
    task = placed.task
    if query.given("blob") != placed.blob:
        said = f"{task.id} was changed while you looked at it; nothing was stored"
        raise HoldfastError(said, hint="Read it again.")
    given: dict[str, Any] = {name: query.given(name) or None for name in _LINES}
    given |= {name: _rows(query.given(name)) for name in _LISTS}
    given |= {"notes": query.given("notes").replace("\r\n", "\n").strip("\n"), "priority": _priority(query, 2)}
    scale = query.given("systemic_scale")
    given["systemic_scale"] = _number("systemic_scale", scale) if scale else None
    changes = {name: value for name, value in given.items() if value != getattr(task, name)}
    if not changes:
        return "Nothing was changed.", query.back
    if "title" in changes:
        changes["title"] = changes["title"] or ""
    reading.project.tasks.edit(task.id, **changes)
    return f"Changed {task.id}.", f"/plan/{task.id}"


def link(reading: ProjectReading, query: WebQuery) -> tuple[str, str | None]:
    """Adds needs to a task, or takes one away."""
    needs, gone = _split(query.given("needs")), _split(query.given("no_needs"))
    if not needs and not gone:
        raise BadInput("no task was named", hint="Type the id of what must be done before.")
    made = reading.project.tasks.link(query.parts["identity"], needs=needs, no_needs=gone)
    return f"Changed what {made.id} needs.", None


def move(reading: ProjectReading, query: WebQuery) -> tuple[str, str | None]:
    """Moves a card to a column, to a priority, or to both."""
    task = reading.board.find(query.given("id")).task
    to, priority = query.given("to"), query.given("priority")
    said, target = "", None
    if to and to != column_of(task, reading.ready):
        said, target = _moved(reading, query, task, to)
    if priority and int(_number("priority", priority)) != task.priority:
        reading.project.tasks.edit(task.id, priority=_number("priority", priority))
        said += f"{' ' if said else ''}{task.id} has priority {priority} now."
    return said or f"{task.id} stays where it is: {ORDER}.", target


def change(reading: ProjectReading, query: WebQuery) -> tuple[str, str | None]:
    """Changes where one task stands, by the buttons of its page."""
    return _moved(reading, query, reading.board.find(query.parts["identity"]).task, query.given("to"))


def _moved(reading: ProjectReading, query: WebQuery, task: Task, to: str) -> tuple[str, str | None]:
    book = reading.project.tasks
    if to == "started":
        book.start(task.id, owner=query.given("owner") or None)
        return f"Started {task.id}.", None
    if to in ("blocked", "dropped"):
        reason = query.given("reason")
        if to == "blocked" and not reason:
            raise Unfinished(_asking(reading, query, task, to))
        book.block(task.id, reason=reason) if to == "blocked" else book.drop(task.id, reason=reason or None)
        return f"{'Blocked' if to == 'blocked' else 'Dropped'} {task.id}.", None
    if to == "done":
        return _finished(reading, query, task)
    if to == "released":
        return f"{book.release(task.id).id} is free again.", None
    if to not in ("ready", "waiting", "open"):
        raise BadInput(f"there is no column {to[:40]!r}", hint=f"Use one of {', '.join(COLUMNS)}.")
    if task.status == "open":
        return _stays(reading, task, to)
    book.reopen(task.id)
    return f"Opened {task.id} again.", None


def _stays(reading: ProjectReading, task: Task, to: str) -> tuple[str, str | None]:
    """Whether an open task is ready is no choice: it follows from what it needs."""
    if to == "ready" and (why := reading.board.graph.standing(task.id)):
        raise BadInput(f"{task.id} waits: {'; '.join(why)}", hint="Finish what it needs, or take the need away.")
    if to == "waiting":
        raise BadInput(f"{task.id} needs nothing that is open", hint="Add a need to let it wait.")
    return "", None


def _finished(reading: ProjectReading, query: WebQuery, task: Task) -> tuple[str, str | None]:
    evidence = tuple(dict.fromkeys(_rows(query.given("evidence").replace(",", "\n"))))
    without = bool(query.given("without"))
    try:
        done = reading.project.tasks.done(task.id, evidence=evidence, without_evidence=without)
    except NeedsEvidence as error:
        raise Unfinished(_asking(reading, query, task, "done", problem=error)) from None
    shown = [receipt_text(text) for text in (done.found or done.task.evidence)]
    said = [f"Finished {done.task.id}.", *([f"Evidence: {', '.join(shown)}."] if shown else [])]
    said += [f"Now ready: {', '.join(done.unblocked)}."] if done.unblocked else []
    return " ".join(said), None


def _asking(reading: ProjectReading, query: WebQuery, task: Task, asks: str, **more: Any) -> WebPage:
    return WebPage("task.html", _task(reading, query, task.id, asks=asks, came_from=query.back, **more))


def _split(text: str) -> tuple[str, ...]:
    """The words between commas or blanks, each once."""
    return tuple(dict.fromkeys(text.replace(",", " ").split()))


def _rows(text: str) -> tuple[str, ...]:
    """The lines of a text that are not empty."""
    return tuple(row.strip() for row in text.splitlines() if row.strip())


def _priority(query: WebQuery, default: int) -> int:
    return _number("priority", query.given("priority") or str(default))


def _number(name: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise BadInput(f"{name} {text[:40]!r} is not a whole number", hint="Use digits only.")
    return int(text)


PAGES: dict[str, PageMaker] = {
    "/plan": board_page,
    "/plan/graph": graph_web.plan_graph_page,  # before what any id would fit
    "/plan/{identity}": task_page,
}
ACTIONS: dict[str, Action] = {
    "/plan/add": add,
    "/plan/move": move,
    "/plan/{identity}/edit": edit,
    "/plan/{identity}/link": link,
    "/plan/{identity}/change": change,
}
