"""Commands about git's hooks: hooks install, remove, status."""

import click

from holdfast.interfaces.cli import hooks_words as words
from holdfast.interfaces.cli.command import as_json, command
from holdfast.interfaces.cli.output import show
from holdfast.interfaces.cli.place import Place
from holdfast.interfaces.cli.root import root


@root.group("hooks", invoke_without_command=True)
@as_json
@click.pass_context
def hooks(context: click.Context) -> None:
    """Git hooks that record what git does, and never disturb it."""
    if context.invoked_subcommand is None:
        context.invoke(status)


@command(hooks, "install")
def install(place: Place) -> None:
    """Let git tell Holdfast of commits, merges, checkouts and rewrites.

    They stand beside hooks that are there already, and only write down that they ran.
    """
    with place.project() as project:
        show(project.hooks_install(), words.installed, words.installed_object)


@command(hooks, "remove")
def remove(place: Place) -> None:
    """Take the hooks out; every file is again as it was."""
    with place.project() as project:
        show(project.hooks_remove(), words.removed, words.removed_object)


@command(hooks, "status")
def status(place: Place) -> int:
    """Show each hook and whether it fires; ends with 1 if one should and does not.

    Each is fired once to see; hooks of others are not run by that.
    """
    with place.project() as project:
        found = project.hooks_state()
        show(found, words.state, words.state_object)
        return int(any(hook.trouble or hook.fires is False for hook in found))
