"""Commands that change tasks and links, and what they print: task add, edit, start, done, …; link."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from holdfast.errors import BadInput, NeedsEvidence
from holdfast.interfaces.cli import board_commands as board
from holdfast.interfaces.cli.board_commands import task, task_object
from holdfast.interfaces.cli.invocation import Invocation, answer, command, group, on_a_terminal, options, text_or_stdin
from holdfast.interfaces.cli.output import picked, show, strong, wants_json
from holdfast.interfaces.cli.phrases import count, lines, table
from holdfast.interfaces.cli.root import root
from holdfast.model import task as model_task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.project import Project
    from holdfast.work import canonical_links, task_json, task_lifecycle

_FREELY: dict[str, Any] = {"default": "", "show_default": False, "err": True}
_EMPTY: dict[str, Any] = {"evidence": (), "acceptance": (), "checks": (), "needs": (), "notes": "", "priority": 2}
fields = options(  # of `add` and `edit`
    click.option("--kind", type=click.Choice(model_task.KINDS), help="What it is."),
    click.option("--parent", metavar="ID", help="What it is part of."),
    click.option("--owner", metavar="NAME", help="Who is responsible."),
    click.option("--priority", type=click.IntRange(0, 4), help="0 is the most urgent; 2 unless given."),
    click.option("--layer", metavar="LAYER", help="The layer it belongs to, such as L2."),
    click.option("--scale", "systemic_scale", type=click.IntRange(0), help="How much it matters, as a number."),
    click.option("--impact", metavar="TEXT", help="What it improves."),
    click.option("--evidence", multiple=True, metavar="RECEIPT", help="A run, commit or path."),
    click.option("--accept", "acceptance", multiple=True, metavar="TEXT", help="How to see it is done."),
    click.option("--check", "checks", multiple=True, metavar="NAME", help="A check that must pass; see crew.checks."),
    click.option("--notes", metavar="TEXT", help="More about it, in Markdown; - reads stdin."),
)


def added_text(task: model_task.Task) -> str:
    return f"{strong(task.id)}  {task.kind}: {task.title}"


@command(task, "add")
@click.argument("title", required=False)
@click.option("--from", "item", metavar="ITEM", help="An open item of a session: SES-4d2:o1; or all of SES-4d2.")
@click.option("--needs", multiple=True, metavar="ID", help="A task that must be done first.")
@click.option("--rests-on", multiple=True, metavar="ID", help="An assumption or other memory that it depends on.")
@click.option("--id", metavar="ID", help="The id to use; otherwise one is made.")
@fields
def add(
    place: Invocation, title: str | None, notes: str | None, rests_on: tuple[str, ...], item: str | None, **given: Any
) -> None:
    """Add a task, goal, milestone or epic.

    With --from the title may be left out. For a goal, milestone or epic it asks for layer, scale and impact if
    they are not given.
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
                raise BadInput("a title or an id needs one open item", hint=f"Name the one: --from {item}:o1")
            tasks = project.tasks.add_all_from(item, **about)  # one of each thing that the session left open
            show(tasks, lambda made: lines(map(added_text, made)), lambda made: [*map(task_object, made)])
            return
        made = project.tasks.add_from(item, title, **about) if item else project.tasks.add(title or "", **about)
        missing = [name for name in ("layer", "systemic_scale", "impact") if given[name] is None]
        if kind in model_task.PLANS and missing:
            said = [name.replace("systemic_", "") for name in missing]
            told, them = f"no {', '.join(said)} was given", "it" if len(said) == 1 else "them"
            edit = f"holdfast task edit {made.id} {' '.join(f'--{name} …' for name in said)}"
            project.notices.append(f"{told}; add {them} with: {edit}")
        show(made, added_text, task_object)


def _asked(given: dict[str, Any]) -> dict[str, Any]:
    """Where a plan stands in the whole; an empty answer leaves it open."""
    asked = {"layer": "Layer (such as L2)", "systemic_scale": "Scale (a number)", "impact": "Impact (one line)"}
    said = {name: click.prompt(words, **_FREELY) for name, words in asked.items() if given[name] is None}
    scale = said.get("systemic_scale", "")
    number = int(scale) if scale.isascii() and scale.isdigit() else given["systemic_scale"]
    return {**{name: words or None for name, words in said.items()}, "systemic_scale": number}


def _given(project: Project, place: Invocation, given: dict[str, Any]) -> dict[str, Any]:
    """The options with evidence as seen from the current folder."""
    return {**given, "evidence": place.cited(project, given.get("evidence") or ())}


def changed_text(task: model_task.Task) -> str:
    why = f" ({task.reason})" if task.reason else ""
    return f"{strong(task.id)}  {task.status}{why}: {task.title}"


@command(task, "edit")
@click.argument("name", metavar="ID")
@click.option("--title", metavar="TEXT", help="What is to be done.")
@click.option("--status", type=click.Choice(model_task.STATUSES), help="Where it stands.")
@click.option("--needs", multiple=True, metavar="ID", help="Add a task that must be done first.")
@click.option("--no-need", "no_needs", multiple=True, metavar="ID", help="Remove a task that had to be done first.")
@click.option("--clear", multiple=True, metavar="FIELD", help="Clear this field.")
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
            raise BadInput("nothing to change was given", hint="See `holdfast task edit --help`.")
        made = project.tasks.link(name, needs=needs, no_needs=no_needs) if needs or no_needs else None
        if changes:
            made = project.tasks.edit(name, **changes)
        assert made is not None
        show(made, changed_text, task_object)


def started_text(task: model_task.Task) -> str:
    return lines(
        f"{strong(task.id)}  started: {task.title}",
        [f"  done when: {said}" for said in task.acceptance],
        f"When it is done: holdfast task done {task.id}",
    )


@answer(task, "start", started_text, task_object)
@click.argument("name", metavar="ID")
@click.option("--as", "owner", metavar="NAME", help="Who works on it; your git name if not given.")
@board.claim_length
def start(project: Project, name: str, owner: str | None, lasting: str) -> object:
    """Claim a task and begin it."""
    session = board.session_at_hand(project)
    return project.tasks.start(name, owner=owner, session=session, lasting=board.time_span(lasting))


def finished_text(ended: task_lifecycle.FinishedTask) -> str:
    task = ended.task
    label = "found as evidence:" if ended.found else "evidence:"
    return lines(
        f"{strong(task.id)}  done: {task.title}",
        [f"  {label} {board.receipt_text(item)}" for item in (ended.found or task.evidence)],
        [f"  reached at {task.checkpoint.commit[:12]}"] if task.checkpoint else [],
        [f"Now ready: {', '.join(ended.unblocked)}"] if ended.unblocked else [],
    )


def finished_object(ended: task_lifecycle.FinishedTask) -> dict[str, Any]:
    return {**task_object(ended.task), "found": list(ended.found), "unblocked": list(ended.unblocked)}


@command(task, "done")
@click.argument("names", metavar="ID...", nargs=-1, required=True)
@click.option("--evidence", multiple=True, metavar="RECEIPT", help="A run, commit or tracked path that shows it.")
@click.option("--without-evidence", "without", is_flag=True, help="Finish it without evidence.")
def done(place: Invocation, names: tuple[str, ...], evidence: tuple[str, ...], without: bool) -> None:
    """Finish a task, with evidence.

    Without --evidence, the commits and runs since its start are used and listed.
    """
    with place.project() as project:
        cited = place.cited(project, evidence)
        for name in names:
            try:
                ended = project.tasks.done(name, evidence=cited, without_evidence=without)
            except NeedsEvidence as error:
                if not on_a_terminal() or wants_json():
                    raise
                asked = f"{error}.\nWhat is the evidence? (a commit, a run, a path; empty: none)"
                said = click.prompt(asked, **_FREELY)
                given = _given(project, place, {"evidence": [said]}) if said else {"without_evidence": True}
                ended = project.tasks.done(name, **given)
            show(ended, finished_text, finished_object)


task.add_command(done, "complete")


@answer(task, "block", changed_text, task_object)
@click.argument("name", metavar="ID")
@click.option("--reason", required=True, metavar="TEXT", help="What it waits for.")
def block(project: Project, name: str, reason: str) -> object:
    """Mark a task as blocked by something that is not a task."""
    return project.tasks.block(name, reason=reason)


@answer(task, "drop", changed_text, task_object)
@click.argument("name", metavar="ID")
@click.option("--reason", metavar="TEXT", help="Why it will not be done.")
def drop(project: Project, name: str, reason: str | None) -> object:
    """Drop a task: it will not be done."""
    return project.tasks.drop(name, reason=reason)


@answer(task, "reopen", changed_text, task_object)
@click.argument("name", metavar="ID")
def reopen(project: Project, name: str) -> object:
    """Open a task again."""
    return project.tasks.reopen(name)


@answer(task, "release", lambda freed: f"{strong(freed.id)}  is no longer claimed: {freed.title}", task_object)
@click.argument("name", metavar="ID")
def release(project: Project, name: str) -> object:
    """Give up the claim on a task."""
    return project.tasks.release(name)


@answer(task, "link", changed_text, task_object)
@click.argument("name", metavar="ID")
@click.argument("needs", metavar="NEEDS...", nargs=-1, required=True)
@click.option("--remove", is_flag=True, help="Remove these needs instead.")
def link_needs(project: Project, name: str, needs: tuple[str, ...], remove: bool) -> object:
    """Say which tasks a task needs; for one on another branch give its whole id."""
    return project.tasks.link(name, **{"no_needs" if remove else "needs": needs})


@command(task, "export")
@click.option("--jsonl", "lines", is_flag=True, help="One object a line.")
def export_tasks(place: Invocation, lines: bool) -> None:
    """Print all tasks and links as JSON."""
    with place.project() as project:
        click.echo(project.clone.hide.text(project.tasks.export_text(lines=lines)), nl=False)


def imported_text(new: task_json.TaskPlan) -> str:
    parts = [count(len(new.tasks), "task")] * bool(new.tasks) + [count(len(new.links), "link")] * bool(new.links)
    return f"Added {' and '.join(parts)}" if parts else "Nothing new: all are here already."


def imported_object(new: task_json.TaskPlan) -> dict[str, Any]:
    return {"items": [*map(task_object, new.tasks)], "links": [*map(link_object, new.links)]}


@answer(task, "import", imported_text, imported_object)
@click.argument("file", type=click.File("rb"))
def import_tasks(project: Project, file: Any) -> object:
    """Add the tasks and links of a JSON or JSONL file; - reads stdin."""
    try:
        text = file.read((64 << 20) + 1).decode("utf-8")
    except UnicodeDecodeError:
        raise BadInput(f"{file.name} is not UTF-8 text") from None
    return project.tasks.import_text(text)


@group(root, "link", "list")
def link() -> None:
    """Keep links to files, URLs and commits."""


@answer(link, "add", lambda made: f"{strong(made.id)}  {made.title}: {made.target}")
@click.argument("target", metavar="PATH|URL|COMMIT")
@click.option("--title", metavar="TEXT", help="What it is.")
@click.option("--id", metavar="ID", help="The id to use; otherwise one is made.")
def add_link(project: Project, target: str, **given: str | None) -> object:
    """Keep a canonical link."""
    return project.tasks.add_link(target, **given)


@answer(link, "remove", lambda gone: f"{strong(gone.id)}  is gone: {gone.title}")
@click.argument("name", metavar="ID")
def remove_link(project: Project, name: str) -> object:
    """Remove a canonical link."""
    return project.tasks.remove_link(name)


def links_text(found: Sequence[canonical_links.ListedLink]) -> str:
    if not found:
        return "No links yet. Add one with: holdfast link add PATH|URL|COMMIT --title …"
    return lines(table([(*board.link_row(item.link), item.dead or "") for item in found], indent=""))


def links_object(found: Sequence[canonical_links.ListedLink]) -> dict[str, Any]:
    return {"items": [{**link_object(item.link), "path": item.path, "dead": item.dead} for item in found]}


def link_object(link: model_task.Link) -> dict[str, Any]:
    return picked(link, "id", "title", "target", "kind")


@answer(link, "list", links_text, links_object)
def list_links(project: Project) -> object:
    """List the canonical links."""
    return project.tasks.links()
