"""Commands with which people make truth better: remember, review, edit, supersede, deprecate, erase."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from holdfast.errors import BadInput
from holdfast.interfaces.cli import invocation
from holdfast.interfaces.cli import review_text as words
from holdfast.interfaces.cli.invocation import Invocation, answer, as_json, command, on_a_terminal, options
from holdfast.interfaces.cli.output import say, show, wants_json
from holdfast.interfaces.cli.root import root
from holdfast.model.memory import TYPES

if TYPE_CHECKING:
    from holdfast.curation.review_queue import QueueItem
    from holdfast.project import Project, memory_book

CLOSELY = 200  # items that are looked at closely in a list: more would take long, and nobody reads them
REASONS = ("proposed", "suggested", "edited", "stale", "expired", "contradicts", "elsewhere")


_fields = options(  # what a memory is
    click.option("--why", default="", metavar="TEXT", help="Why it holds."),
    click.option("--falsified-by", default="", metavar="TEXT", help="What would show an assumption wrong."),
    click.option("--instead", default="", metavar="TEXT", help="What to do instead of a dead end."),
    click.option("--evidence", multiple=True, metavar="RECEIPT", help="A run, commit, path, PATH:10-20 or PATH#NAME."),
    click.option("--confidence", type=click.FloatRange(0, 1), help="How sure, from 0 to 1."),
    click.option("--layer", metavar="LAYER", help="The layer it belongs to, such as L5."),
    click.option("--tag", "tags", multiple=True, metavar="WORD", help="A word to find it by."),
    click.option("--applies-to", multiple=True, metavar="PATH", help="A path it is about."),
    click.option("--expires", metavar="WHEN", help="2027-01-01, or from now: 30d, 12h."),
    click.option("--source", metavar="SOURCE", help="run:ID, commit:ID, person:NAME or agent:NAME; else found."),
    click.option("--id", metavar="ID", help="An id of your own."),
    click.option("--accept", is_flag=True, help="Approve it at once."),
)


@command(root, "remember")
@click.argument("statement")
@click.option("--type", "kind", type=click.Choice(TYPES), default="fact", show_default=True, help="What it is.")
@_fields
@click.option("--supersedes", multiple=True, metavar="ID", help="A memory it takes the place of.")
def remember(place: Invocation, statement: str, evidence: tuple[str, ...], **fields: Any) -> None:
    """Propose a memory, to be reviewed.

    STATEMENT may be - to read it from stdin.
    """
    with place.project() as project:
        cited = _cited(project, place, evidence)
        made = project.memory.remember(invocation.text_or_stdin(statement), evidence=cited, **fields)
        show(made, words.remembered, words.standing_object)
        _after(project, made.status == "accepted")


@command(root, "supersede")
@click.argument("name", metavar="ID")
@click.argument("statement")
@_fields
def supersede(place: Invocation, name: str, statement: str, evidence: tuple[str, ...], **fields: Any) -> None:
    """Propose what takes another memory's place.

    The old one stays in its file; once the new one is accepted it counts as superseded.
    """
    with place.project() as project:
        given = {key: value for key, value in fields.items() if value not in ((), None, "")}
        cited = _cited(project, place, evidence)
        made = project.memory.supersede(name, invocation.text_or_stdin(statement), evidence=cited, **given)
        show(made, words.remembered, words.standing_object)
        _after(project, made.status == "accepted")


def _cited(project: Project, place: Invocation, evidence: tuple[str, ...]) -> list[str]:
    from holdfast.git.evidence_check import from_folder  # `--help` and completion need none of it

    return [from_folder(project.clone, place.folder, text) for text in evidence]


@command(root, "facts")
@click.option("--type", "kind", type=click.Choice((*TYPES, "all")), default="fact", show_default=True, help="Which.")
def facts(place: Invocation, kind: str) -> None:
    """List what holds here, and what no longer does.

    What is stale, expired, superseded or retired stands apart.
    """
    with place.project() as project:
        found = project.memory.knowledge(kind=None if kind == "all" else kind)
        show(found, lambda told: words.facts(told, kind=kind), words.facts_object)


@root.group("review", invoke_without_command=True)
@as_json
@click.pass_context
def review(context: click.Context) -> None:
    """See what waits for a decision, and decide.

    On a terminal this opens a screen; elsewhere it lists what waits.
    """
    if context.invoked_subcommand is None:
        context.invoke(waiting if wants_json() or not _can_show_a_screen() else _screen)


def _can_show_a_screen() -> bool:
    """Whether there is a terminal, and what draws on it is installed."""
    from importlib.util import find_spec

    terminal, drawn = on_a_terminal() and sys.stdout.isatty(), find_spec("textual") is not None
    if terminal and not drawn:
        say("for a screen to review on: pip install 'holdfast[tui]'")
    return terminal and drawn


@click.command(hidden=True)
@invocation.here
def _screen(place: Invocation) -> None:
    from holdfast.interfaces.tui.review_screen import run

    with place.project() as project:
        run(project)
        _after(project)


_filter = options(  # which of what waits
    click.option("--tag", "tags", multiple=True, metavar="WORD", help="Only those with this tag."),
    click.option("--type", "kinds", multiple=True, type=click.Choice(TYPES), help="Only this type."),
    click.option("--waits-as", "reasons", multiple=True, type=click.Choice(REASONS), help="Only what waits so."),
    click.option("--from", "source", metavar="SOURCE", help="Only what a run, session or file said."),
    click.option("--min-confidence", "confidence", type=click.FloatRange(0, 1), help="Only those this sure."),
)
_many = options(
    click.argument("names", metavar="[ID]...", nargs=-1),
    click.option("--all", "everything", is_flag=True, help="All candidates that fit the filter."),
    _filter,
)
_reviewer = click.option("--reviewer", metavar="NAME", help="Who decides; your git name if not given.")


@command(review, "list")
@_filter
def waiting(place: Invocation, **chosen: Any) -> None:
    """List what waits, with its grounds and what it contradicts."""
    from holdfast.curation.review_queue import chosen as fitting
    from holdfast.git import upstream

    with place.project() as project:
        queue = project.memory.queue()
        items = fitting(queue.items, **{key: value for key, value in chosen.items() if value is not None})
        theirs = [] if chosen["reasons"] else [item for item in items if item.reason == "elsewhere"]
        if theirs:  # a fresh clone may have thousands of these, and one answer for all
            items = [item for item in items if item.reason != "elsewhere"]
            held = upstream.held(project.clone)
            project.notices.append(words.elsewhere(len(theirs), trusting=held is not None and not held.void))
        closely = [(item, queue.look(item) if number < CLOSELY else None) for number, item in enumerate(items)]
        lost = () if any(chosen.values()) else queue.unreadable
        show((closely, lost), lambda found: words.candidates(*found), lambda found: words.waiting_object(*found))


def _meant(
    project: Project, names: tuple[str, ...], everything: bool, chosen: dict[str, Any]
) -> list[QueueItem] | None:
    """The items that a filter means, candidates only unless it says otherwise; None if ids are named."""
    from holdfast.curation.review_queue import chosen as fitting

    given = {key: value for key, value in chosen.items() if value not in (None, ())}
    if names and (everything or given):
        raise BadInput("name ids, or use --all with a filter, not both")
    if names:
        return None
    if not everything:
        said = "a filter decides many at once" if given else "nothing was named to decide about"
        raise BadInput(said, hint="Add --all to mean it." if given else "Name ids, or add --all.")
    return fitting(project.memory.queue().items, **{"reasons": ("proposed",), **given})


def _show_many(found: memory_book.Decided) -> int:
    """Show many decisions; the exit code is 1 if things waited and none of them could be decided."""
    show(found, words.decided, words.decided_object)
    return 1 if found.left and not found.done else 0


@command(review, "accept")
@_many
@click.option("--supersede", multiple=True, metavar="ID", help="It takes the place of this memory.")
@click.option("--keep-both", is_flag=True, help="It stands beside what it seems to contradict.")
@click.option("--applies-to", multiple=True, metavar="PATH", help="Where it holds.")
@click.option("--expires", metavar="WHEN", help="Until when it holds: a date, 30d, or never.")
@click.option("--reviewer", metavar="NAME", help="Who approves; your git name if not given.")
def accept(place: Invocation, names: tuple[str, ...], everything: bool, reviewer: str | None, **given: Any) -> int:
    """Approve candidates, entries edited by hand, or what has gone stale.

    What contradicts an accepted memory is refused until --supersede or --keep-both says how both are meant.
    """
    wish: dict[str, Any] = {name: given.pop(name) or None for name in ("applies_to", "expires")}
    wish |= {name: given.pop(name) for name in ("supersede", "keep_both")}
    with place.project() as project:
        items = _meant(project, names, everything, given)
        if items is not None:
            if any(wish.values()):
                raise BadInput("how a memory is meant is said of one at a time", hint="Name its id.")
            code = _show_many(project.memory.accept_all(items, reviewer=reviewer))
            _after(project)
            return code
        try:
            for name in names:
                done = project.memory.accept(name, **wish, reviewer=reviewer)
                show(done, words.accepted, words.standing_object)
        finally:
            _after(project)  # those before the one that was refused are accepted
        return 0


@command(review, "reject")
@_many
@click.option("--reason", metavar="TEXT", default="", help="Why not.")
@_reviewer
def reject(
    place: Invocation, names: tuple[str, ...], everything: bool, reason: str, reviewer: str | None, **chosen: Any
) -> int:
    """Turn candidates down; the same claim is not proposed again, even reworded."""
    with place.project() as project:
        items = _meant(project, names, everything, chosen)
        if items is not None:
            return _show_many(project.memory.reject_all(items, reason=reason, reviewer=reviewer))
        for name in names:
            show(project.memory.reject(name, reason=reason, reviewer=reviewer), words.rejected, words.standing_object)
        return 0


@answer(review, "merge", words.merged, words.standing_object)
@click.argument("name", metavar="ID")
@click.argument("into", metavar="INTO")
@_reviewer
def merge(project: Project, name: str, into: str, reviewer: str | None) -> object:
    """Give a candidate's evidence to another memory that says the same."""
    return project.memory.join(name, into, reviewer=reviewer)


@command(review, "undo")
@click.option("--last", type=click.IntRange(1, 100), default=1, metavar="N", help="The last N decisions.")
def undo(place: Invocation, last: int) -> None:
    """Take the last decision back, unless it was published."""
    with place.project() as project:
        for _ in range(last):
            show(project.memory.undo(), words.undone)
        _after(project)


@command(review, "retire")
@click.argument("name", metavar="ID")
@click.option("--reason", metavar="TEXT", default="", help="Why it no longer holds.")
@_reviewer
def retire(place: Invocation, name: str, reason: str, reviewer: str | None) -> None:
    """Say that an accepted memory no longer holds; the same as `holdfast deprecate`."""
    _retire(place, name, reason=reason, reviewer=reviewer)


@command(root, "deprecate")
@click.argument("name", metavar="ID")
@click.option("--reason", metavar="TEXT", default="", help="Why it no longer holds.")
def deprecate(place: Invocation, name: str, reason: str) -> None:
    """Say that an accepted memory no longer holds; its file stays.

    An agent's word for it waits for review.
    """
    _retire(place, name, reason=reason)


def _retire(place: Invocation, name: str, **given: Any) -> None:
    with place.project() as project:
        done = project.memory.deprecate(name, **given)
        show(done, words.deprecated, words.standing_object)
        _after(project, done.status == "deprecated")


@command(root, "edit")
@click.argument("name", metavar="ID")
@click.option("--statement", metavar="TEXT", help="What it says.")
@click.option("--why", metavar="TEXT", help="Why it holds; takes the place of what stood below the statement.")
@click.option("--evidence", multiple=True, metavar="RECEIPT", help="What it rests on, all of it.")
@click.option("--confidence", type=click.FloatRange(0, 1), help="How sure, from 0 to 1.")
@click.option("--layer", metavar="LAYER", help="The layer it belongs to.")
@click.option("--tag", "tags", multiple=True, metavar="WORD", help="Its tags, all of them.")
@click.option("--applies-to", multiple=True, metavar="PATH", help="The paths it is about, all of them.")
@click.option("--expires", metavar="WHEN", help="A date, 30d, or never.")
def edit(place: Invocation, name: str, evidence: tuple[str, ...], why: str | None, **fields: Any) -> None:
    """Change a memory; without options, in your editor.

    Editing an accepted memory approves it again; only a person may.
    """
    from holdfast.model.memory import labelled

    with place.project() as project:
        changes = {key: value for key, value in fields.items() if value not in (None, ())}
        if evidence:
            changes["evidence"] = _cited(project, place, evidence)
        if why is not None:
            changes["details"] = labelled("", why=why)
        if not changes:
            changes = _from_editor(project.memory.get(name).memory)
        done = project.memory.edit(name, **changes)
        show(done, words.edited, words.standing_object)
        _after(project, done.status == "accepted")


def _from_editor(memory: Any) -> dict[str, Any]:
    """What somebody makes of a memory's text in their editor."""
    if not on_a_terminal():
        raise BadInput("there is nothing to change", hint="Use --statement, --why, --evidence, --tag …")
    before = f"{memory.statement}\n\n{memory.details}".strip()
    after = click.edit(before + "\n", extension=".md")
    if after is None or after.strip() in (before, ""):
        raise BadInput("nothing was changed")
    from holdfast.model.memory import split_statement

    statement, details = split_statement(after)
    return {"statement": statement, "details": details}


def _after(project: Project, changed: bool = True) -> None:
    """Say which connected tools do not know yet, after the user's command that restarts them, if any."""
    if changed and project.agents.behind():
        project.agents.restart()
        if stale := project.agents.behind():
            say(words.restart(stale))


@command(root, "erase")
@click.argument("name", metavar="ID")
@click.option("--yes", is_flag=True, help="Do not ask.")
def erase(place: Invocation, name: str, yes: bool) -> None:
    """Delete what an event, run or memory says.

    That it happened stays in the log, and the log still verifies.
    """
    with place.project() as project:
        invocation.confirm(f"Delete what {name} says, for good?", yes=yes)
        show(project.sync.erase(name), words.erased)
