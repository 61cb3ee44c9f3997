"""`holdfast graph`: how memories, tasks, runs, commits and files hang together, as a list or a picture."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from holdfast.errors import BadInput
from holdfast.interfaces.cli.invocation import Invocation, command
from holdfast.interfaces.cli.output import picked, show, strong, wants_json
from holdfast.interfaces.cli.phrases import count, lines, short
from holdfast.interfaces.cli.root import root

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.recall.relation_graph import RelationGraph, RelationNode


@command(root, "graph")
@click.option("--of", "name", metavar="ID", help="A memory, task, run, commit or tracked file; else the newest.")
@click.option("--svg", "form", flag_value="svg", help="As a picture in SVG.")
@click.option("--png", "form", flag_value="png", help="As a picture in PNG.")
@click.option("--dot", "form", flag_value="dot", help="In the language of Graphviz.")
@click.option("--to", "target", type=click.Path(dir_okay=False), metavar="FILE", help="Write it there.")
def graph(place: Invocation, name: str | None, form: str | None, target: str | None) -> None:
    """Draw memories, tasks, runs, commits and files, and their relations.

    Without a form it lists them.
    """
    with place.project() as project:
        found = project.log.relations()
        drawn = found.around(name) if name else found.newest()
        if form is None and target is None:
            show(drawn, graph_list, graph_object)
            return
        data = _picture(drawn, form or _form_of(target), project.clone.hide.text)
        if target is not None:
            _save(target, data)
        elif form == "png" and sys.stdout.isatty():
            raise BadInput("a PNG is nothing to read on a terminal", hint="Name a file with --to.")
        elif wants_json():
            raise BadInput("a picture is no JSON", hint="Leave --json out, or the form of the picture.")
        else:
            sys.stdout.buffer.write(data)


def graph_list(graph: RelationGraph) -> str:
    """The picture in words: each thing, and what it hangs on."""
    from holdfast.interfaces import graph_picture

    if not graph.nodes:
        return "No memories and no tasks yet. Propose a memory with: holdfast remember '…' --evidence PATH"
    rows = []
    for node, relations in graph_picture.related(graph):
        rows.append(_row(node))
        rows += [f"    {kind} {', '.join(other.label for other in others)}" for kind, others in relations]
    return lines(rows, ["", f"{count(graph.left_out, 'more neighbour')} left out"] if graph.left_out else [])


def _row(node: RelationNode) -> str:
    state = f", {node.state}" if node.state else ""
    return f"{strong(node.label)}  {node.kind}{state}{f': {short(node.title)}' if node.title else ''}"


def graph_object(graph: RelationGraph) -> dict[str, Any]:
    nodes = [{"id": node.key, **picked(node, "kind", "label", "title", "state")} for node in graph.nodes]
    edges = [{"from": one.source, "to": one.target, "kind": one.kind} for one in graph.relations]
    return {"of": graph.of, "nodes": nodes, "edges": edges, "left_out": graph.left_out}


def _form_of(target: str | None) -> str:
    """The form that a file's name asks for."""
    ending = os.path.splitext(target or "")[1].removeprefix(".").lower()
    if ending not in ("svg", "png", "dot"):
        raise BadInput(f"{target} does not say what to write", hint="Add --svg, --png or --dot.")
    return ending


def _picture(graph: RelationGraph, form: str, hide: Callable[[str], str]) -> bytes:
    from holdfast.interfaces import graph_picture

    title = f"What hangs together with {graph.of}" if graph.of else "The newest memories and tasks"
    if form == "dot":
        return graph_picture.dot(graph, title=title, hide=hide).encode()
    text = graph_picture.svg(graph, title=title, hide=hide, alone=True)
    return graph_picture.png(text) if form == "png" else text.encode()


def _save(target: str, data: bytes) -> None:
    from holdfast.store import fsio

    if os.path.lexists(target):
        raise BadInput(f"{target} is there already", hint="Name a file that does not exist yet.")
    with fsio.refusing(target), fsio.writing(os.path.abspath(target)) as out:
        out.write(data)
    show({"file": target, "bytes": len(data)}, lambda _: f"Wrote {target}")
