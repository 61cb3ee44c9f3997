"""Commands with which people make truth better: remember, facts, review, erase."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from holdfast.errors import BadInput
from holdfast.interfaces.cli import objects, words
from holdfast.interfaces.cli.command import as_json, command
from holdfast.interfaces.cli.output import show
from holdfast.interfaces.cli.place import Place, confirm
from holdfast.interfaces.cli.root import root
from holdfast.model.memory import MAX_STATEMENT

if TYPE_CHECKING:
    from holdfast.project import Project

TYPES = ("fact",)  # the others wait until something lists them


@command(root, "remember")
@click.argument("statement")
@click.option(
    "--type", "kind", type=click.Choice(TYPES), default="fact", show_default=True, help="What it is."
)
@click.option("--why", "details", default="", metavar="TEXT", help="Why it holds.")
@click.option("--evidence", multiple=True, metavar="RECEIPT", help="run:ID, commit:ID, or a tracked path.")
@click.option("--confidence", type=click.FloatRange(0, 1), help="How sure, from 0 to 1.")
@click.option("--layer", metavar="LAYER", help="The layer it belongs to, such as L5.")
@click.option("--tag", "tags", multiple=True, metavar="WORD", help="A word to find it by.")
@click.option("--applies-to", multiple=True, metavar="PATH", help="A path it is about.")
@click.option("--supersedes", multiple=True, metavar="ID", help="A memory it takes the place of.")
@click.option("--expires", metavar="WHEN", help="2027-01-01, or from now: 30d, 12h.")
@click.option("--source", metavar="SOURCE", help="run:ID, commit:ID or person:NAME; found if not given.")
@click.option("--id", metavar="ID", help="An id of your own.")
@click.option("--accept", is_flag=True, help="Approve it at once.")
def remember(place: Place, statement: str, evidence: tuple[str, ...], **fields: Any) -> None:
    """Propose a memory, to be reviewed.

    STATEMENT may be - to read it from stdin.
    """
    from holdfast.git.evidence import from_folder  # `--help` and completion need none of it

    with place.project() as project:
        cited = [from_folder(project.clone, place.folder, text) for text in evidence]
        made = project.remember(_given(statement), evidence=cited, **fields)
        show(made, words.remembered, objects.standing)


def _given(statement: str) -> str:
    """The statement itself, or what stdin holds if it is a dash."""
    if statement != "-":
        return statement
    data = sys.stdin.buffer.read(MAX_STATEMENT * 16)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise BadInput("what stdin gave is not UTF-8 text") from None


@command(root, "facts")
def facts(place: Place) -> None:
    """List the facts that hold here, and the others."""
    with place.project() as project:
        show(project.facts(), words.facts, objects.facts)


@root.group("review", invoke_without_command=True)
@as_json
@click.pass_context
def review(context: click.Context) -> None:
    """See what waits for a decision, and decide."""
    if context.invoked_subcommand is None:
        context.invoke(waiting)


@command(review, "list")
def waiting(place: Place) -> None:
    """List the candidates."""
    with place.project() as project:
        show(_with_origins(project), words.candidates, objects.waiting)


def _with_origins(project: Project) -> list[objects.Waiting]:
    """The candidates, each with when it was proposed, and on which branch if not on this one."""
    from holdfast.git import lines

    clone, found = project.clone, project.candidates()
    proposed: dict[str | None, str] = {}
    for event in clone.own_events() if found else ():
        if event.kind == "propose":
            proposed[event.target] = min(event.ts, proposed.get(event.target, event.ts))
    known, here = lines.known(*clone.stores), clone.line().id
    named = {line.id: lines.called(line.refs[-1]) for line in known.values() if line.id != here}
    return [
        objects.Waiting(item, proposed.get(item.id), named.get(getattr(item.memory, "line", "")))
        for item in found
    ]


@command(review, "accept")
@click.argument("names", metavar="ID...", nargs=-1, required=True)
@click.option("--reviewer", metavar="NAME", help="Who approves; your git name if not given.")
def accept(place: Place, names: tuple[str, ...], reviewer: str | None) -> None:
    """Approve a candidate, or an entry edited by hand."""
    with place.project() as project:
        for name in names:
            show(project.accept(name, reviewer=reviewer), words.accepted, objects.standing)


@command(review, "reject")
@click.argument("name", metavar="ID")
@click.option("--reason", metavar="TEXT", default="", help="Why not.")
@click.option("--reviewer", metavar="NAME", help="Who decides; your git name if not given.")
def reject(place: Place, name: str, reason: str, reviewer: str | None) -> None:
    """Turn a candidate down; the same words are not proposed again."""
    with place.project() as project:
        show(project.reject(name, reason=reason, reviewer=reviewer), words.rejected, objects.standing)


@command(review, "retire")
@click.argument("name", metavar="ID")
@click.option("--reason", metavar="TEXT", default="", help="Why it no longer holds.")
@click.option("--reviewer", metavar="NAME", help="Who decides; your git name if not given.")
def retire(place: Place, name: str, reason: str, reviewer: str | None) -> None:
    """Say that an accepted memory no longer holds."""
    with place.project() as project:
        show(project.retire(name, reason=reason, reviewer=reviewer), words.retired, objects.standing)


@command(root, "erase")
@click.argument("name", metavar="ID")
@click.option("--yes", is_flag=True, help="Do not ask.")
def erase(place: Place, name: str, yes: bool) -> None:
    """Delete what an event, run or fact says.

    That it happened stays in the log, and the log still verifies.
    """
    with place.project() as project:
        confirm(f"Delete what {name} says, for good?", yes=yes)
        show(project.erase(name), words.erased)
