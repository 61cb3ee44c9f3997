"""`task resolve`: see what two sides say differently, and choose.

Conflicts in words: both sides, field by field.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from holdfast.errors import InConflict
from holdfast.interfaces.cli.board_commands import task
from holdfast.interfaces.cli.invocation import Invocation, command
from holdfast.interfaces.cli.output import show, strong
from holdfast.interfaces.cli.phrases import count, lines, table, wording

if TYPE_CHECKING:
    from holdfast.git.conflict_sides import EntryConflict
    from holdfast.work.conflict_settlement import SettledConflict


def listed(found: dict[str, list[EntryConflict]]) -> str:
    """Every conflict with both its sides."""
    parts = []
    if waiting := found["conflicts"]:
        parts += [f"{count(len(waiting), 'entry', 'wait')} for a choice.", *map(conflict, waiting)]
    if overruled := found["overruled"]:
        parts += [f"{count(len(overruled), 'entry')} in which a merge kept one side:", *map(conflict, overruled)]
    return "\n\n".join(parts) or "No conflicts here."


def conflict(one: EntryConflict) -> str:
    """One conflict: who the sides are, what each says, and what to type."""
    back = "Choose again" if one.kind == "overruled" else "Choose"
    how = f"{back}: holdfast task resolve {one.id} --ours (or --theirs, or --field NAME=ours)"
    if one.is_memory:
        how = f"Write the text you want into the file, then: holdfast review accept {one.id}"
    elif one.merged is not None:
        how = f"Both sides can be merged: holdfast task resolve {one.id}"
    return lines(
        f"{strong(one.id)}  {wording('conflicts')[one.kind]}  {one.path}",
        f"  ours:   {one.ours.origin}",
        f"  theirs: {one.theirs.origin}",
        _fields(one),
        f"  {how}",
    )


def _fields(one: EntryConflict) -> list[str]:
    from holdfast.git.conflict_sides import WHOLE, shown

    if not one.fields:
        return []
    if one.fields[0].name == WHOLE:
        sides = (("ours", one.ours), ("theirs", one.theirs))
        return [f"  {name} deleted the file" for name, side in sides if side.text is None]
    last = ("now",) if one.kind == "overruled" else ()
    rows = [("field", "before", "ours", "theirs", *last)]
    for field in one.fields:
        values = (field.base, field.ours, field.theirs, *((field.stands,) if last else ()))
        rows.append((field.name.removeprefix("+"), *map(shown, values)))
    return table(rows)


def resolved(done: SettledConflict) -> str:
    """What was chosen, and how to go on."""
    said = f"settled: {', '.join(done.diff) or 'as our side has it'}"
    said = "deleted, as one side wanted" if done.text is None else said
    written = "written and added" if done.next.startswith("git") else "it is not published yet"
    return lines(f"{strong(done.id)}  {said}", f"{written}; continue with: {done.next}")


@command(task, "resolve")
@click.argument("name", metavar="[ID]", required=False)
@click.option("--ours", "side", flag_value="ours", help="Use our side wherever they contradict each other.")
@click.option("--theirs", "side", flag_value="theirs", help="Use the other side wherever they contradict each other.")
@click.option(
    "--field", "fields", multiple=True, metavar="NAME=ours|theirs|VALUE", help="Choose one field; may be repeated."
)
def resolve(place: Invocation, name: str | None, side: str | None, fields: tuple[str, ...]) -> None:
    """Resolve a conflict in a task or link.

    Without ID it lists the conflicts. Without a choice both sides are merged where they do not contradict each
    other. In a rebase "ours" is the branch you rebase onto, as in git.
    """
    choices = _choices(side, fields)
    with place.project() as project:
        if name is None:
            show({"conflicts": project.tasks.conflicts(), "overruled": project.tasks.overruled()}, listed)
            return
        try:
            show(project.tasks.resolve(name, choices), resolved)
        except InConflict:
            show(project.tasks.conflict(name), conflict)
            raise


def _choices(side: str | None, fields: tuple[str, ...]) -> dict[str, str]:
    found = {"*": side} if side else {}
    for text in fields:
        name, equals, choice = text.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"{text!r} is not NAME=ours, NAME=theirs or NAME=VALUE")
        found[name.strip()] = choice
    return found
