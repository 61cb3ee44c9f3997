"""The graph pages: how memories, tasks, runs, commits and files hang together, and what needs what in the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from holdfast.interfaces import graph_picture
from holdfast.interfaces.web.page_templates import path as in_address
from holdfast.interfaces.web.web_query import WebPage, WebQuery
from holdfast.recall.relation_graph import MOST, Relation, RelationGraph, RelationNode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.interfaces.web.project_reading import ProjectReading
    from holdfast.interfaces.web.web_query import PageMaker
    from holdfast.model.task import Task
    from holdfast.work.task_graph import TaskGraph

PATH = 20  # tasks of the critical path in the picture: a longer one leaves no room for what is ready


def address_of(node: RelationNode) -> str:
    """The page of a node."""
    if graph_picture.family(node) == "task":
        return f"/plan/{in_address(node.key)}"
    return f"/show/{in_address(node.key.removeprefix('file:'))}"


def relations_page(reading: ProjectReading, query: WebQuery) -> WebPage:
    """The neighbourhood of a thing, or the newest memories and tasks and what they hang on."""
    of = query.one("of")
    graph = reading.relations.around(of) if of else reading.relations.newest()
    title = (
        f"What hangs together with {graph.nodes[0].label}"
        if graph.of
        else "The newest memories and tasks, and what they hang on"
    )
    return _page(reading, graph, title, plan=False)


def plan_graph_page(reading: ProjectReading, query: WebQuery) -> WebPage:
    """What needs what among the open tasks: all of them, those around one, or the parts of a goal or epic."""
    of, within = query.one("of"), query.one("within")
    whole = reading.board.graph
    top = reading.board.find(within or of).task.id if within or of else None
    graph = tasks_graph(whole, reading.critical_path, of=top, within=bool(within))
    title = f"What needs what around {top}" if top else "What needs what among the open tasks"
    return _page(reading, graph, title, plan=True)


def _page(reading: ProjectReading, graph: RelationGraph, title: str, *, plan: bool) -> WebPage:
    hide = reading.project.clone.hide.text
    picture = graph_picture.svg(graph, title=title, hide=hide, address=address_of) if graph.nodes else ""
    listed = [(node, address_of(node), relations) for node, relations in graph_picture.related(graph)]
    values = {
        "graph": graph,
        "title": title,
        "picture": Markup(picture),
        "listed": listed,
        "heading": graph_picture.heading,
        "address_of": address_of,
        "plan": plan,
    }
    return WebPage("graph.html", values)


def tasks_graph(
    graph: TaskGraph, path: tuple[str, ...], *, of: str | None = None, within: bool = False, most: int = MOST
) -> RelationGraph:
    """Tasks and what they need as a picture: first what was asked for or is critical, then what is ready, then more."""
    tasks, ready = graph.tasks, [task.id for task in graph.ready()]
    if of is not None and within:
        seeds = [of, *graph.children(of)]
    elif of is not None:
        seeds = [of]
    else:
        busy = [name for name, task in tasks.items() if task.status in ("started", "blocked")]
        seeds = [*path[-PATH:], *busy, *ready] if len(path) > 1 else [*busy, *ready]
    after: dict[str, list[str]] = {}
    for task in tasks.values():
        for need in task.needs:
            after.setdefault(need, []).append(task.id)
    chosen, left_out = dict.fromkeys(seeds[:most]), len(set(seeds[most:]))
    for name in chosen if of is None else _near(list(chosen), tasks, after, graph):
        if name not in chosen and len(chosen) >= most:
            left_out += 1
            continue
        chosen[name] = None
    if of is None:
        left_out += _fill(chosen, tasks, most)
    drawn = [name for name in chosen if name in tasks]
    states = dict.fromkeys(ready, "ready")
    nodes = tuple(_node(tasks[name], states) for name in drawn)
    edges = [Relation(n, need, "needs") for n in drawn for need in tasks[n].needs if need in chosen and need in tasks]
    edges += [
        Relation(n, parent, "is part of") for n in drawn if (parent := tasks[n].parent) in chosen and parent in tasks
    ]
    return RelationGraph(nodes, tuple(edges), of, left_out, path)


def _near(names: list[str], tasks: dict[str, Task], after: dict[str, list[str]], graph: TaskGraph) -> Iterator[str]:
    """What is one or two steps from some tasks: what they need, what needs them, what they are part of."""
    seen = set(names)
    for _ in range(2):
        fresh: list[str] = []
        for name in (name for name in names if name in tasks):
            parent = tasks[name].parent
            others = (*tasks[name].needs, *after.get(name, ()), *([parent] if parent else []), *graph.children(name))
            fresh += [other for other in dict.fromkeys(others) if other not in seen]
            seen.update(fresh)
        names = list(dict.fromkeys(fresh))
        yield from names


def _fill(chosen: dict[str, None], tasks: dict[str, Task], most: int) -> int:
    """Adds open tasks until the picture is full; returns how many are left out."""
    rest = [name for name, task in tasks.items() if not task.is_closed and name not in chosen]
    rest.sort(key=lambda name: (not _touches(tasks[name], chosen), tasks[name].priority))
    chosen |= dict.fromkeys(rest[: most - len(chosen)])
    return sum(name not in chosen for name in rest)


def _touches(task: Task, chosen: Iterable[str]) -> bool:
    return any(need in chosen for need in task.needs)


def _node(task: Task, states: dict[str, str]) -> RelationNode:
    state = states.get(task.id, "waiting") if task.status == "open" else task.status
    return RelationNode(task.id, task.kind, task.id, task.title, state)


PAGES: dict[str, PageMaker] = {"/graph": relations_page}
