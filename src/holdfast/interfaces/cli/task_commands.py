"""Commands of the work graph: task, tasks, next, state, link."""

from __future__ import annotations

import os
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from holdfast.errors import BadInput, NeedsEvidence
from holdfast.interfaces.cli import task_text as words
from holdfast.interfaces.cli.context_commands import keep_answer
from holdfast.interfaces.cli.invocation import Invocation, answer, command, group, on_a_terminal, options, text_or_stdin
from holdfast.interfaces.cli.output import as_json as object_text
from holdfast.interfaces.cli.output import as_text, show, wants_json
from holdfast.interfaces.cli.root import root
from holdfast.model import task as model_task
from holdfast.model.task import STATUSES

if TYPE_CHECKING:
    from holdfast.project import Project

_lasting = click.option(
    "--for", "lasting", default="2h", show_default=True, metavar="TIME", help="How long it is claimed."
)
_FREELY: dict[str, Any] = {"default": "", "show_default": False, "err": True}
_UNITS = {"m": 60, "h": 3600, "d": 86400}


@group(root, "task", "list")
def task() -> None:
    """Goals, milestones, epics, tasks and subtasks."""


fields = options(  # of `add` and `edit`
    click.option("--kind", type=click.Choice(model_task.KINDS), help="What it is."),
    click.option("--parent", metavar="ID", help="What it is part of."),
    click.option("--owner", metavar="NAME", help="Who answers for it."),
    click.option("--priority", type=click.IntRange(0, 4), help="0 is the most urgent; 2 unless given."),
    click.option("--layer", metavar="LAYER", help="The layer it belongs to, such as L2."),
    click.option("--scale", "systemic_scale", type=click.IntRange(0), help="How much it moves."),
    click.option("--impact", metavar="TEXT", help="What will be better for it."),
    click.option("--evidence", multiple=True, metavar="RECEIPT", help="A run, commit or path."),
    click.option("--accept", "acceptance", multiple=True, metavar="TEXT", help="How to see it is done."),
    click.option("--notes", metavar="TEXT", help="More about it, in Markdown; - reads stdin."),
)


@command(task, "add")
@click.argument("title", required=False)
@click.option("--from", "item", metavar="ITEM", help="What a session left open: SES-4d2:o1, or all of SES-4d2.")
@click.option("--needs", multiple=True, metavar="ID", help="What must be done before it.")
@click.option("--rests-on", multiple=True, metavar="ID", help="An assumption, or another memory, it rests on.")
@click.option("--id", metavar="ID", help="An id of your own.")
@fields
def add(
    place: Invocation, title: str | None, notes: str | None, rests_on: tuple[str, ...], item: str | None, **given: Any
) -> None:
    """Add a node to the work graph.

    With --from the title may be left out. For a goal, milestone or epic it asks for layer, scale and impact
    unless they are given.
    """
    if title is None and item is None:
        raise click.UsageError("Missing argument 'TITLE'.", click.get_current_context())
    kind = given["kind"] or "task"
    if kind in model_task.PLANS and on_a_terminal():
        given |= _asked(given)
    with place.project() as project:
        more = project.tasks.rests_on([project.memory.get(name).id for name in rests_on], text_or_stdin(notes or ""))
        about = {**_given(project, place, given), "notes": more}
        if item and ":" not in item:
            if title is not None or about["id"] is not None:
                raise BadInput("a title or an id is for one task", hint=f"Name the one: --from {item}:o1")
            tasks = project.tasks.add_all_from(item, **about)  # one of each thing that the session left open
            show(tasks, words.added_all, lambda made: [*map(words.as_object, made)])
            return
        made = project.tasks.add_from(item, title, **about) if item else project.tasks.add(title or "", **about)
        missing = [name for name in ("layer", "systemic_scale", "impact") if given[name] is None]
        if kind in model_task.PLANS and missing:
            said = [name.replace("systemic_", "") for name in missing]
            told, them = f"no {', '.join(said)} was given", "it" if len(said) == 1 else "them"
            edit = f"holdfast task edit {made.id} {' '.join(f'--{name} …' for name in said)}"
            project.notices.append(f"{told}; add {them} with: {edit}")
        show(made, words.added, words.as_object)


@answer(task, "proposed", words.proposed, words.proposed_object)
def proposed(project: Project) -> object:
    """List what agents planned on this branch and nobody made a task of."""
    return project.tasks.proposed()


def _asked(given: dict[str, Any]) -> dict[str, Any]:
    """Where a plan stands in the whole; an empty answer leaves it open."""
    asked = {"layer": "Layer (such as L2)", "systemic_scale": "Scale (a number)", "impact": "Impact (one line)"}
    said = {name: click.prompt(words, **_FREELY) for name, words in asked.items() if given[name] is None}
    scale = said.get("systemic_scale", "")
    number = int(scale) if scale.isascii() and scale.isdigit() else given["systemic_scale"]
    return {**{name: words or None for name, words in said.items()}, "systemic_scale": number}


@command(task, "edit")
@click.argument("name", metavar="ID")
@click.option("--title", metavar="TEXT", help="What is to be done.")
@click.option("--status", type=click.Choice(STATUSES), help="Where it stands.")
@click.option("--needs", multiple=True, metavar="ID", help="Add something that must be done before.")
@click.option("--no-need", "no_needs", multiple=True, metavar="ID", help="Take a need away.")
@click.option("--clear", multiple=True, metavar="FIELD", help="Take a field's value away.")
@fields
def edit(place: Invocation, name: str, clear: tuple[str, ...], notes: str | None, **given: Any) -> None:
    """Change a task."""
    with place.project() as project:
        needs, no_needs = given.pop("needs"), given.pop("no_needs")
        changes = {k: v for k, v in _given(project, place, given).items() if v not in (None, (), [])}
        if notes is not None:
            changes["notes"] = text_or_stdin(notes)
        changes |= {field: _EMPTY.get(field) for field in clear}
        if not changes and not needs and not no_needs:
            raise BadInput("nothing was given to change", hint="See `holdfast task edit --help`.")
        made = project.tasks.link(name, needs=needs, no_needs=no_needs) if needs or no_needs else None
        if changes:
            made = project.tasks.edit(name, **changes)
        assert made is not None
        show(made, words.changed, words.as_object)


_EMPTY: dict[str, Any] = {"evidence": (), "acceptance": (), "needs": (), "notes": "", "priority": 2}


def _given(project: Project, place: Invocation, given: dict[str, Any]) -> dict[str, Any]:
    """The options with evidence as seen from the current folder."""
    from holdfast.git.evidence_check import from_folder

    cited = [from_folder(project.clone, place.folder, text) for text in given.get("evidence") or ()]
    return {**given, "evidence": cited}


@command(task, "list")
@click.option("--status", multiple=True, type=click.Choice(STATUSES), help="Only these.")
@click.option("--kind", multiple=True, type=click.Choice(model_task.KINDS), help="Only these.")
@click.option("--owner", metavar="NAME", help="Only theirs.")
@click.option("--all", "everything", is_flag=True, help="What is done or dropped as well.")
def listed(place: Invocation, **chosen: Any) -> None:
    """List the tasks."""
    with place.project() as project:
        found = project.tasks.board()
        away = 0 if found.tasks else project.tasks.count_elsewhere(found)
        steps = sum(len(one.items) for one in project.tasks.proposed(found))
        asked = words.TaskList(found, project.tasks.claims(), away=away, proposed=steps, **chosen)
        show(asked, words.listed, words.listed_object)


root.add_command(listed, "tasks")  # the name others know it by


@answer(task, "show", words.shown, words.shown_object)
@click.argument("name", metavar="ID")
def shown(project: Project, name: str) -> object:
    """Show a task, why it waits and what waits for it."""
    return project.tasks.show(name)


@answer(task, "start", words.started, words.as_object)
@click.argument("name", metavar="ID")
@click.option("--as", "owner", metavar="NAME", help="Who works on it; your git name if not given.")
@_lasting
def start(project: Project, name: str, owner: str | None, lasting: str) -> object:
    """Claim a task and begin it."""
    return project.tasks.start(name, owner=owner, session=_session(project), lasting=_span(lasting))


def _session(project: Project) -> str | None:
    """The session this work is part of: the one named by the environment, else the open one here."""
    return os.environ.get("HOLDFAST_SESSION") or project.sessions.current_id()


def _span(text: str) -> timedelta:
    number, unit = text[:-1], text[-1:]
    if not (number.isascii() and number.isdigit() and len(number) < 6 and unit in _UNITS):
        raise BadInput(f"{text!r} is no length of time", hint="Write 30m, 2h or 1d.")
    return timedelta(seconds=int(number) * _UNITS[unit])


@command(task, "done")
@click.argument("names", metavar="ID...", nargs=-1, required=True)
@click.option("--evidence", multiple=True, metavar="RECEIPT", help="A run, commit or tracked path that shows it.")
@click.option("--without-evidence", "without", is_flag=True, help="It needs none.")
def done(place: Invocation, names: tuple[str, ...], evidence: tuple[str, ...], without: bool) -> None:
    """Finish a task, with the evidence for it.

    Without --evidence the commits and runs since its start are taken, and named.
    """
    with place.project() as project:
        cited = _given(project, place, {"evidence": evidence})["evidence"]
        for name in names:
            try:
                ended = project.tasks.done(name, evidence=cited, without_evidence=without)
            except NeedsEvidence as error:
                if not on_a_terminal() or wants_json():
                    raise
                asked = f"{error}.\nWhat shows it? (a commit, a run, a path; empty: it needs none)"
                said = click.prompt(asked, **_FREELY)
                given = _given(project, place, {"evidence": [said]}) if said else {"without_evidence": True}
                ended = project.tasks.done(name, **given)
            show(ended, words.finished, words.finished_object)


task.add_command(done, "complete")


@answer(task, "block", words.changed, words.as_object)
@click.argument("name", metavar="ID")
@click.option("--reason", required=True, metavar="TEXT", help="What it waits for.")
def block(project: Project, name: str, reason: str) -> object:
    """Say that something outside the graph holds a task back."""
    return project.tasks.block(name, reason=reason)


@answer(task, "drop", words.changed, words.as_object)
@click.argument("name", metavar="ID")
@click.option("--reason", metavar="TEXT", help="Why it will not be done.")
def drop(project: Project, name: str, reason: str | None) -> object:
    """Say that a task will not be done."""
    return project.tasks.drop(name, reason=reason)


@answer(task, "reopen", words.changed, words.as_object)
@click.argument("name", metavar="ID")
def reopen(project: Project, name: str) -> object:
    """Open a task again."""
    return project.tasks.reopen(name)


@answer(task, "release", words.released, words.as_object)
@click.argument("name", metavar="ID")
def release(project: Project, name: str) -> object:
    """Give up the claim on a task."""
    return project.tasks.release(name)


@answer(task, "link", words.changed, words.as_object)
@click.argument("name", metavar="ID")
@click.argument("needs", metavar="NEEDS...", nargs=-1, required=True)
@click.option("--remove", is_flag=True, help="Take these needs away instead.")
def link_needs(project: Project, name: str, needs: tuple[str, ...], remove: bool) -> object:
    """Say what a task needs; a node of another branch may be named by its whole id."""
    return project.tasks.link(name, **{"no_needs" if remove else "needs": needs})


@command(task, "graph")
@click.argument("name", metavar="[ID]", required=False)
@click.option("--mermaid", "form", flag_value="mermaid", help="As a Mermaid diagram.")
@click.option("--all", "everything", is_flag=True, help="What is done or dropped as well.")
def graph(place: Invocation, name: str | None, form: str | None, everything: bool) -> None:
    """Draw the work graph as a tree or in Mermaid."""
    with place.project() as project:
        board = project.tasks.board()
        top = board.find(name).task.id if name else None
        show(board, partial(words.drawn, top=top, form=form, everything=everything), words.graph_object)


@command(task, "export")
@click.option("--jsonl", "lines", is_flag=True, help="One object a line.")
def export_tasks(place: Invocation, lines: bool) -> None:
    """Print all tasks and links as JSON."""
    with place.project() as project:
        click.echo(project.clone.hide.text(project.tasks.export_text(lines=lines)), nl=False)


@command(task, "import")
@click.argument("file", type=click.File("rb"))
def import_tasks(place: Invocation, file: Any) -> None:
    """Add the tasks and links of a JSON or JSONL file; - reads stdin."""
    try:
        text = file.read((64 << 20) + 1).decode("utf-8")
    except UnicodeDecodeError:
        raise BadInput(f"{file.name} is not UTF-8 text") from None
    with place.project() as project:
        show(project.tasks.import_text(text), words.imported, words.imported_object)


@command(root, "next")
@click.option("--claim", is_flag=True, help="Take the best task that nobody works on.")
@click.option("--as", "owner", metavar="NAME", help="Who claims; your git name if not given.")
@_lasting
def next_task(place: Invocation, claim: bool, owner: str | None, lasting: str) -> None:
    """What can be done now, and why the rest cannot."""
    with place.project() as project:
        session = _session(project) if claim else None
        found = project.tasks.next(claim=claim, owner=owner, session=session, lasting=_span(lasting))
        show(found, words.next_tasks, words.next_object)
        # What other branches have, what agents plan, and whether evidence holds, may change unnoticed.
        if not claim and not found.away and not found.resting and not found.proposed:
            until = min((held.until for held in found.claims.values()), default=None)
            text, data = as_text(words.next_tasks(found)), object_text(words.next_object(found))
            keep_answer(project, "next", text, data, until=until)


@command(root, "state")
def state(place: Invocation) -> None:
    """Show goals, milestones, checkpoints and links."""
    from holdfast.work.project_state import as_object

    with place.project() as project:
        show(project.tasks.state(), words.state, as_object)


@group(root, "link", "list")
def link() -> None:
    """Canonical links: files, addresses, commits."""


@answer(link, "add", words.linked)
@click.argument("target", metavar="PATH|URL|COMMIT")
@click.option("--title", metavar="TEXT", help="What it is.")
@click.option("--id", metavar="ID", help="An id of your own.")
def add_link(project: Project, target: str, **given: str | None) -> object:
    """Keep a canonical link."""
    return project.tasks.add_link(target, **given)


@answer(link, "remove", words.unlinked)
@click.argument("name", metavar="ID")
def remove_link(project: Project, name: str) -> object:
    """Take a canonical link away."""
    return project.tasks.remove_link(name)


@answer(link, "list", words.links, words.links_object)
def list_links(project: Project) -> object:
    """List the canonical links."""
    return project.tasks.links()
