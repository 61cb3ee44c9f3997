"""`holdfast trust`: whether what people accepted upstream may speak here; asked once per clone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from holdfast.interfaces.cli import trusting_words as words
from holdfast.interfaces.cli.command import as_json, command, here
from holdfast.interfaces.cli.output import flush, say, show, wants_json
from holdfast.interfaces.cli.place import Place, confirm, on_a_terminal
from holdfast.interfaces.cli.root import root

if TYPE_CHECKING:
    from holdfast.project import Project


@root.group("trust", invoke_without_command=True)
@click.option("--yes", is_flag=True, help="Do not ask.")
@as_json
@here
@click.pass_context
def trust(context: click.Context, place: Place, yes: bool) -> None:
    """Let what people accepted upstream speak here.

    Asked once per clone, on a terminal; it holds for one remote, its address and its trunk. Elsewhere it
    shows what is trusted.
    """
    if context.invoked_subcommand is not None:
        return
    with place.project() as project:
        if yes or (on_a_terminal() and not wants_json()):
            _ask(project, yes=yes)
        else:
            show(project.trust_state(), words.state_unasked, words.state_object)


def _ask(project: Project, *, yes: bool) -> None:
    state = project.trust_state()
    if state.counts:
        show(state, words.state, words.state_object)
        return
    project.may_trust()
    if state.upstream is not None and not yes:
        flush()
        say(words.explained(state))
        confirm(words.question(state.upstream), yes=yes)
    show(project.trust(), words.state, words.state_object)


def _show(place: Place) -> None:
    with place.project() as project:
        show(project.trust_state(), words.state, words.state_object)


@command(trust, "status")
def status(place: Place) -> None:
    """Show what is trusted."""
    _show(place)


@command(trust, "list")
def listed(place: Place) -> None:
    """Show what is trusted, as `trust status`."""
    _show(place)


@command(trust, "revoke")
def revoke(place: Place) -> None:
    """Trust no upstream any more."""
    with place.project() as project:
        show(project.trust_revoke(), words.revoked, words.revoked_object)
