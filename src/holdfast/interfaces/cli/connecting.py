"""Commands about agents' own files: connect, disconnect, import adr|memory, export adr."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from holdfast.errors import NeedsConfirmation
from holdfast.interfaces.cli import connecting_words as words
from holdfast.interfaces.cli.command import command
from holdfast.interfaces.cli.output import say, show, wants_json
from holdfast.interfaces.cli.place import Place, confirm, on_a_terminal
from holdfast.interfaces.cli.root import root
from holdfast.interfaces.cli.setup import exporting, importing

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.capture.instructions.connect import Change, Plan

TOOLS = ("codex", "claude", "gemini", "agents", "cursor", "copilot", "opencode", "aider")
WIRED = ("codex", "claude", "gemini")  # what has hooks and an MCP server, beside the block
CONFIRM = "See it with --dry-run, then run it again with --yes."
HOMES = {  # where an agent keeps its memory: the variable that moves it, else the folder in the user's home
    "claude": ("CLAUDE_CONFIG_DIR", ".claude"),
    "codex": ("CODEX_HOME", ".codex"),
}

_tools = click.argument("tools", metavar="[TOOL]...", nargs=-1, type=click.Choice(TOOLS))
_dry_run = click.option("--dry-run", is_flag=True, help="Only show what would change, as a diff.")
_yes = click.option("--yes", is_flag=True, help="Do not ask.")
_force = click.option("--force", is_flag=True, help="Replace a block that was edited inside; the edit is kept.")
_scope = click.option(
    "--scope", type=click.Choice(("user", "project")), help="Whose settings get hooks and MCP server."
)


@command(root, "connect")
@_tools
@_scope
@_dry_run
@_yes
@_force
def connect(place: Place, *, tools: tuple[str, ...], scope: str | None, dry_run: bool, yes: bool, force: bool) -> None:
    """Connect agents: hooks, MCP server and instructions.

    TOOL is codex, claude or gemini, which get hooks, the MCP server and an instruction block; or agents,
    cursor, copilot, opencode, aider, which get the block. Without TOOL, all that is there is refreshed.
    """
    _scope_fits(tools, scope)
    with place.project() as project:

        def act(*, dry_run: bool) -> Plan:
            return project.connect(tools, scope=scope, force=force, dry_run=dry_run)

        _carry_out(act, "Write this?", dry_run=dry_run, yes=yes, force=force)


@command(root, "disconnect")
@_tools
@_scope
@_dry_run
@_yes
@_force
def disconnect(
    place: Place, *, tools: tuple[str, ...], scope: str | None, dry_run: bool, yes: bool, force: bool
) -> None:
    """Take agents' hooks, server and block out to the byte.

    Of these tools, or of all; every file is as it was before. With --scope, only hooks and server of that
    scope.
    """
    _scope_fits(tools, scope)
    with place.project() as project:

        def act(*, dry_run: bool) -> Plan:
            return project.disconnect(tools, scope=scope, force=force, dry_run=dry_run)

        _carry_out(act, "Take this out?", dry_run=dry_run, yes=yes, force=force)


def _scope_fits(tools: tuple[str, ...], scope: str | None) -> None:
    if scope and tools and not set(tools) & set(WIRED):
        raise click.UsageError(f"--scope goes with {', '.join(WIRED)}.", click.get_current_context())


def _carry_out(act: Callable[..., Plan], question: str, *, dry_run: bool, yes: bool, force: bool) -> None:
    """Show what would change, ask, and do it; what somebody edited inside is left and named at the end."""
    plan = act(dry_run=True)
    doing = [change for change in plan.changed if force or not change.edited]
    if dry_run or not plan.changed:
        show(plan, words.plan, words.plan_object)
    elif not doing:
        act(dry_run=False)  # refuses: there is nothing to ask about
    else:
        _ask(question, doing, yes=yes)
        show(act(dry_run=False), words.plan, words.plan_object)


def _ask(question: str, doing: list[Change], *, yes: bool) -> None:
    if not yes and not on_a_terminal():
        files = ", ".join(change.path for change in doing)
        raise NeedsConfirmation(f"{files}: a change to your files must be confirmed", hint=CONFIRM)
    if not yes and not wants_json():
        say(words.diff(doing))
    confirm(question, yes=yes)


@command(importing, "adr")
@click.argument("path", required=False, type=click.Path())
def import_adr(place: Place, path: str | None) -> None:
    """Propose the decisions that records say (MADR, adr-tools).

    PATH is a file or a folder; if not given, the usual folders such as docs/adr.
    """
    with place.project() as project:
        show(project.import_adr(_from(place, path)), words.imported, words.imported_object)


@command(importing, "memory")
@click.argument("path", required=False, type=click.Path())
@click.option("--from", "agent", type=click.Choice(tuple(HOMES)), help="Read what this agent keeps itself.")
def import_memory(place: Place, path: str | None, agent: str | None) -> None:
    """Propose what notes for agents say: rules and facts, one each.

    PATH is a file or a folder; if not given, CLAUDE.md, AGENTS.md and the like of this repository. Nothing is
    accepted by this: see it with `holdfast review`.
    """
    if path is not None and agent is not None:
        raise click.UsageError("name a PATH or --from, not both", click.get_current_context())
    with place.project() as project:
        done = project.import_memory(_from(place, path), agent=agent, home=_home(agent))
        show(done, words.imported, words.imported_object)


@command(exporting, "adr")
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(file_okay=False))
def export_adr(place: Place, folder: str | None) -> None:
    """Write the accepted decisions as MADR records.

    DIR is docs/adr or the like if there is one, else docs/decisions. Numbers once given stay; records that
    are not ours, or were edited by hand, are left alone.
    """
    with place.project() as project:
        show(project.export_adr(_from(place, folder)), words.exported, words.exported_object)


def _from(place: Place, path: str | None) -> str | None:
    """A path as seen from the folder the command works in."""
    return None if path is None else os.path.join(os.path.abspath(place.folder), path)


def _home(agent: str | None) -> str | None:
    if agent is None:
        return None
    variable, folder = HOMES[agent]
    return os.environ.get(variable) or os.path.join(os.path.expanduser("~"), folder)
