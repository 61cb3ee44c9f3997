"""Commands by which people keep caches in hand: reset, prune. Both ask first and say what they did."""

import click

from holdfast.interfaces.cli import control_words as words
from holdfast.interfaces.cli.command import command
from holdfast.interfaces.cli.output import say, show, wants_json
from holdfast.interfaces.cli.place import Place, confirm
from holdfast.interfaces.cli.root import root

WHAT = click.Choice(("sessions", "tasks", "all"))


@command(root, "reset")
@click.argument("what", type=WHAT, required=False)
@click.option("--undo", is_flag=True, help="Bring back what the last reset took away.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def reset(place: Place, what: str | None, undo: bool, yes: bool) -> None:
    """Empty caches: sessions, tasks or all of them.

    Memories, the log and runs stay. `holdfast reset --undo` brings everything back.
    """
    if undo == (what is not None):
        raise click.UsageError("Name sessions, tasks or all; or take the last reset back with --undo.")
    with place.project() as project:
        if what is None:
            show(project.reset_undo(), words.undone)
            return
        confirm(words.QUESTIONS[what], yes=yes)
        show(project.reset(what), words.reset)


@command(root, "prune")
@click.option("--older-than", default="90d", show_default=True, metavar="AGE", help="90d, 12w or 1y.")
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def prune(place: Place, older_than: str, dry_run: bool, yes: bool) -> None:
    """Delete old sessions, claims and trash.

    Open sessions, and ended ones with something open in them, always stay.
    """
    with place.project() as project:
        found = project.prune(older_than=older_than, dry_run=True)
        if dry_run or not found.spares:
            show(found, words.pruned, words.pruned_object)
            return
        if not (yes or wants_json()):
            say(words.pruned(found))
        confirm(words.prune_question(found), yes=yes)
        show(project.prune(older_than=older_than, dry_run=False), words.pruned, words.pruned_object)
