"""`task resolve`: see what two sides say differently, and choose."""

from __future__ import annotations

import click

from holdfast.errors import InConflict
from holdfast.interfaces.cli import conflicts_words as words
from holdfast.interfaces.cli.command import command
from holdfast.interfaces.cli.output import show
from holdfast.interfaces.cli.place import Place
from holdfast.interfaces.cli.tasks import task


@command(task, "resolve")
@click.argument("name", metavar="[ID]", required=False)
@click.option("--ours", "side", flag_value="ours", help="Our side, wherever the sides contradict each other.")
@click.option("--theirs", "side", flag_value="theirs", help="The other side, likewise.")
@click.option("--field", "fields", multiple=True, metavar="NAME=ours|theirs|VALUE", help="One field; may be repeated.")
def resolve(place: Place, name: str | None, side: str | None, fields: tuple[str, ...]) -> None:
    """Settle a task or link of which two sides say different things.

    Without ID it lists them. Without a choice the sides are merged where they do not contradict each
    other. In a rebase "ours" is what is rebased onto, as in git itself.
    """
    choices = _choices(side, fields)
    with place.project() as project:
        if name is None:
            found = words.Listed(tuple(project.conflicts()), tuple(project.overruled()))
            show(found, words.listed)
            return
        try:
            show(project.resolve(name, choices), words.resolved)
        except InConflict:
            show(project.conflict(name), words.conflict)
            raise


def _choices(side: str | None, fields: tuple[str, ...]) -> dict[str, str]:
    found = {"*": side} if side else {}
    for text in fields:
        name, equals, choice = text.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"{text!r} is not NAME=ours, NAME=theirs or NAME=VALUE")
        found[name.strip()] = choice
    return found
