"""Commands that propose, list and change memories, and what they print: remember, supersede, facts, edit, …"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from holdfast.errors import BadInput
from holdfast.index import hit_text
from holdfast.interfaces.cli import invocation
from holdfast.interfaces.cli.invocation import Invocation, answer, command, on_a_terminal, options
from holdfast.interfaces.cli.output import as_plain, columns, picked, show, strong, styled
from holdfast.interfaces.cli.phrases import MOST_ROWS, count, lines, more, short, table, wording
from holdfast.interfaces.cli.root import root
from holdfast.model.evidence import OF_FILES
from holdfast.model.memory import TYPES, Memory, labelled, split_statement

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.curation import decisions, memory_state
    from holdfast.git.erase import Erasure
    from holdfast.project import Project

READ = 100  # columns of a text that is read through
NARROWEST = 23  # columns of text on the narrowest terminal
MOST_BODY = 16  # rows of a memory's further paragraphs; what a session's find has at most fits
MOST_NAMED = 5  # memories to accept again that are named
_fields = options(  # what a memory is
    click.option("--why", default="", metavar="TEXT", help="The reason for it."),
    click.option("--falsified-by", default="", metavar="TEXT", help="What would prove an assumption wrong."),
    click.option("--instead", default="", metavar="TEXT", help="What to do instead of a dead end."),
    click.option("--evidence", multiple=True, metavar="RECEIPT", help="A run, commit, path, PATH:10-20 or PATH#NAME."),
    click.option("--confidence", type=click.FloatRange(0, 1), help="Confidence, from 0 to 1."),
    click.option("--layer", metavar="LAYER", help="The layer it belongs to, such as L5."),
    click.option("--tag", "tags", multiple=True, metavar="WORD", help="A word to find it by."),
    click.option("--applies-to", multiple=True, metavar="PATH", help="A path it applies to; '**' for everywhere."),
    click.option("--expires", metavar="WHEN", help="When it expires: 2027-01-01, or after 30d, 12h."),
    click.option(
        "--source", metavar="SOURCE", help="run:ID, commit:ID, person:NAME or agent:NAME; default: who runs this."
    ),
    click.option("--id", metavar="ID", help="The id to use; otherwise one is made."),
    click.option("--accept", is_flag=True, help="Approve it at once."),
)


def memory_row(standing: decisions.MemoryStanding) -> tuple[str, str, str]:
    memory = standing.memory
    sure = "" if memory.confidence is None else f"confidence {memory.confidence:.2g}"
    stale = [state for _, state in standing.receipts if state in ("changed", "gone")]
    kind = "" if memory.type == "fact" else memory.type
    unapproved = {"T2": "not approved by a person", "T4": "came by git"} if standing.status == "accepted" else {}
    doubt = styled(f"evidence {stale[0]}", "warn") if stale else ""
    tags = [wording("found_in").get(tag, tag) for tag in memory.tags if tag not in (memory.type, "constraint")]
    parts = (kind, memory.layer or "", sure, *tags, doubt, unapproved.get(standing.trust or "", ""))
    return (strong(standing.id), short(memory.statement), ", ".join(part for part in parts if part))


def standing_object(value: decisions.MemoryStanding) -> dict[str, Any]:
    """A memory with the state it is in, flat."""
    fields = as_plain(value.memory)
    own = {key: field for key, field in as_plain(value).items() if key != "memory"}
    return {**fields, **own}


def proposal_text(standing: decisions.MemoryStanding) -> str:
    if standing.status == "candidate":
        return lines(
            f"{strong(standing.id)}  waits for review",
            _notes(standing),
            f"Accept it with: holdfast review accept {standing.id}",
        )
    return accepted_text(standing)


def accepted_text(standing: decisions.MemoryStanding) -> str:
    from holdfast.curation.decisions import ALREADY

    if standing.status == "deprecated":
        return retired_text(standing)
    if ALREADY in standing.notes:
        return f"{strong(standing.id)}  {ALREADY}: {short(standing.memory.statement)}"
    first, *rest = wrapped(f"accepted: {standing.memory.statement}", begins=len(standing.id))
    return lines(
        f"{strong(standing.id)}  {first}",
        [f"    {row}" for row in rest],
        body_rows(standing.memory),
        _notes(standing),
        why_not_approved([standing]) or [*_where_shown(standing), "Share it with: holdfast publish"],
    )


def _where_shown(standing: decisions.MemoryStanding) -> list[str]:
    """Where agents get a memory without a place: who approves a rule for all may think that all get it."""
    if standing.memory.applies_to or any(text.startswith(OF_FILES) for text in standing.memory.evidence):
        return []
    return [
        "It names no file: agents get it where its words fit their task.",
        f"To give it to all of them: holdfast edit {standing.id} --applies-to '**'",
    ]


def columns_to_read() -> int:
    """The columns of text between margins of four: as many as are read at ease, or as the terminal has."""
    return min(READ, max(columns() - 4, NARROWEST)) if columns() else READ


def wrapped(text: str, width: int | None = None, *, begins: int = 0) -> list[str]:
    """The rows of a text that is read through; the first one `begins` so many columns further right."""
    from textwrap import wrap

    first, *rest = wrap(" ".join(text.split()), width or columns_to_read(), initial_indent=" " * begins) or [""]
    return [first[begins:], *rest]


def body_rows(memory: Memory) -> list[str]:
    """What is approved besides the statement: all of it, or a count and how to see the rest."""
    rows = [row for line in memory.details.splitlines() if line.strip() for row in wrapped(line)]
    left = len(rows) - MOST_BODY
    more = [f"… {count(left, 'more line')} of it: holdfast show {memory.id}"] if left > 0 else []
    return [f"    {row}" for row in (*rows[:MOST_BODY], *more)]


def _notes(standing: decisions.MemoryStanding) -> list[str]:
    return [f"  note: {note}" for note in standing.notes]


def why_not_approved(done: Sequence[decisions.MemoryStanding]) -> list[str]:
    """Why it does not count as a person's approval, what that costs, and what to do about it."""
    names = [one.id for one in done if one.trust != "T0"]
    if not names:
        return []
    why = invocation.why_no_person() or "no person was seen at a terminal"
    named = " ".join(names) if len(names) <= MOST_NAMED else "ID"
    way = f"To approve it, type in a terminal where no agent runs: holdfast review accept {named}"
    return [f"Agents are not shown it: no person approved it ({why}).", way]


@command(root, "remember")
@click.argument("statement")
@click.option("--type", "kind", type=click.Choice(TYPES), default="fact", show_default=True, help="What it is.")
@_fields
@click.option("--supersedes", multiple=True, metavar="ID", help="A memory that it replaces.")
def remember(place: Invocation, statement: str, evidence: tuple[str, ...], **fields: Any) -> None:
    """Propose a memory; it waits for review.

    STATEMENT may be - to read it from stdin.
    """
    with place.project() as project:
        cited = place.cited(project, evidence)
        _show_proposal(project, project.memory.remember(invocation.text_or_stdin(statement), evidence=cited, **fields))


@command(root, "supersede")
@click.argument("name", metavar="ID")
@click.argument("statement")
@_fields
def supersede(place: Invocation, name: str, statement: str, evidence: tuple[str, ...], **fields: Any) -> None:
    """Propose a new memory that replaces an old one.

    When you accept the new one, the old one is marked as superseded; its file stays.
    """
    with place.project() as project:
        given = {key: value for key, value in fields.items() if value not in ((), None, "")}
        given["evidence"] = place.cited(project, evidence)
        _show_proposal(project, project.memory.supersede(name, invocation.text_or_stdin(statement), **given))


def _show_proposal(project: Project, made: decisions.MemoryStanding) -> None:
    show(made, proposal_text, standing_object)
    refresh_tools(project, made.status == "accepted")


def refresh_tools(project: Project, changed: bool = True) -> None:
    """Run the user's command that restarts connected tools, if they do not know yet; `publish` says what is left."""
    if changed and project.clients.behind():
        project.clients.restart()


def facts_text(found: memory_state.MemoryListing, *, kind: str = "fact") -> str:
    sections = (
        ("Stale: the code they cite has changed", found.stale),
        ("Edited since approval", [one for one in found.unreviewed if one.status == hit_text.EDITED]),
        ("Approval cannot be checked here", [one for one in found.unreviewed if one.status == hit_text.UNCHECKED]),
        ("Not reviewed as they stand", [one for one in found.unreviewed if one.status == "unreviewed"]),
        ("Expired", found.expired),
        ("Superseded", found.superseded),
        ("Retired", found.retired),
    )
    troubles = [f"  {file_trouble(item.path, item.message)}" for item in found.broken]
    troubles += [f"  {item.id}: changed here and in the branch's history: {item.path}" for item in found.clashes]
    name = "memory" if kind == "all" else kind.replace("-", " ")
    if not (found.standings or troubles):
        said = "memories" if kind == "all" else f"{name}s"
        example = "'Tests need Postgres 16.'"
        if kind not in ("fact", "all"):
            example = f"--type {kind} 'STATEMENT' --why 'REASON'"
        return f"No {said} yet. Propose one with: holdfast remember {example} --evidence PATH"
    return lines(
        f"{count(len(found.trusted), name, 'hold')} here.",
        _rows(found.trusted),
        *(["", f"{title}:", *_rows(items)] for title, items in sections if items),
        ["", "Left out:", *troubles] if troubles else [],
    )


def _rows(standings: Sequence[decisions.MemoryStanding]) -> list[str]:
    return [*table([memory_row(one) for one in standings[:MOST_ROWS]]), *more(len(standings))]


def file_trouble(path: str, message: str) -> str:
    return message if message.startswith(path) else f"{path}: {message}"


def facts_object(found: memory_state.MemoryListing) -> dict[str, Any]:
    """All facts as one list, each with its status, and what could not be read."""
    return {
        "items": [*map(standing_object, found.standings)],
        "broken": [picked(one, "path", "message") for one in found.broken],
        "clashes": found.clashes,
    }


def _which(kind: str) -> Callable[..., Any]:
    """The option that says which memories."""
    return click.option(
        "--type", "kind", type=click.Choice((*TYPES, "all")), default=kind, show_default=True, help="Which."
    )


@command(root, "memories")
@_which("all")
def memories(place: Invocation, kind: str) -> None:
    """List memories, valid and no longer valid ones.

    Stale, expired, superseded and retired ones are listed separately.
    """
    with place.project() as project:
        found = project.memory.knowledge(kind=None if kind == "all" else kind)
        show(found, lambda told: facts_text(told, kind=kind), facts_object)


@command(root, "facts", hidden=True)
@_which("fact")
@click.pass_context
def facts(context: click.Context, _: Invocation, kind: str) -> None:
    """The older name of `memories --type fact`."""
    context.invoke(memories, kind=kind)


def edited_text(standing: decisions.MemoryStanding) -> str:
    if standing.status == "candidate":
        return f"{strong(standing.id)}  changed; it still waits for review"
    return lines(f"{strong(standing.id)}  changed and approved again", "Share it with: holdfast publish")


@command(root, "edit")
@click.argument("name", metavar="ID")
@click.option("--statement", metavar="TEXT", help="The new statement.")
@click.option("--why", metavar="TEXT", help="The new reason; replaces the text below the statement.")
@click.option("--evidence", multiple=True, metavar="RECEIPT", help="The new evidence; replaces the old.")
@click.option("--confidence", type=click.FloatRange(0, 1), help="Confidence, from 0 to 1.")
@click.option("--layer", metavar="LAYER", help="The layer it belongs to.")
@click.option("--tag", "tags", multiple=True, metavar="WORD", help="The new tags; replace the old.")
@click.option("--applies-to", multiple=True, metavar="PATH", help="The paths it applies to; '**' for everywhere.")
@click.option("--expires", metavar="WHEN", help="When it expires: a date, 30d, or never.")
def edit(place: Invocation, name: str, evidence: tuple[str, ...], why: str | None, **fields: Any) -> None:
    """Change a memory; without options, in your editor.

    Editing an accepted memory approves it again, so only a person may do it.
    """
    with place.project() as project:
        changes = {key: value for key, value in fields.items() if value not in (None, ())}
        if evidence:
            changes["evidence"] = place.cited(project, evidence)
        if why is not None:
            changes["details"] = labelled("", why=why)
        if not changes:
            changes = _from_editor(project.memory.get(name).memory)
        done = project.memory.edit(name, **changes)
        show(done, edited_text, standing_object)
        refresh_tools(project, done.status == "accepted")


def _from_editor(memory: Any) -> dict[str, Any]:
    """What somebody makes of a memory's text in their editor."""
    if not on_a_terminal():
        raise BadInput("there is nothing to change", hint="Use --statement, --why, --evidence, --tag …")
    before = f"{memory.statement}\n\n{memory.details}".strip()
    after = click.edit(before + "\n", extension=".md")
    if after is None or after.strip() in (before, ""):
        raise BadInput("nothing was changed")
    statement, details = split_statement(after)
    return {"statement": statement, "details": details}


def deprecated_text(standing: decisions.MemoryStanding) -> str:
    if standing.status == "candidate":
        return lines(
            f"{strong(standing.id)}  suggests it; a person decides",
            f"Decide with: holdfast review accept {standing.id}",
        )
    return retired_text(standing)


def retired_text(standing: decisions.MemoryStanding) -> str:
    return lines(f"{strong(standing.id)}  retired; its file stays", "Share it with: holdfast publish")


def retire_memory(place: Invocation, name: str, **given: Any) -> None:
    with place.project() as project:
        done = project.memory.deprecate(name, **given)
        show(done, deprecated_text, standing_object)
        refresh_tools(project, done.status == "deprecated")


def erased_text(erasure: Erasure) -> str:
    still = erasure.still_held
    return lines(
        f"{strong(erasure.id)}  erased; {count(len(erasure.removed), 'file')} deleted here",
        ["", "It may still be held by:", *(f"  {place}" for place in still)] if still else [],
    )


@answer(root, "erase", erased_text)
@click.argument("name", metavar="ID")
@click.option("--yes", is_flag=True, help="Do not ask.")
def erase(project: Project, name: str, yes: bool) -> object:
    """Delete the text of an event, run or memory for good.

    The log still says that it happened, and still verifies.
    """
    invocation.confirm(f"Delete what {name} says, for good?", yes=yes)
    return project.sync.erase(name)
