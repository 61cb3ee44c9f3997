"""Commands about agents' own files: connect, disconnect, import adr|memory, export adr.

What the commands about agents' own files say, in words and as objects.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from holdfast.errors import NeedsConfirmation
from holdfast.interfaces.cli.invocation import Invocation, command, confirm, on_a_terminal, options
from holdfast.interfaces.cli.output import picked, say, show, wants_json
from holdfast.interfaces.cli.phrases import count, lines, readers, table
from holdfast.interfaces.cli.root import root
from holdfast.interfaces.cli.setup_commands import exporting, importing
from holdfast.model.transcript import AGENTS
from holdfast.patterns import PatternFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from holdfast.capture.records.madr_export import MadrExport
    from holdfast.capture.wiring.connect_files import ConnectionChange, ConnectionPlan
    from holdfast.project.agent_setup import Imported

    Change = Callable[..., ConnectionPlan]  # connecting or disconnecting

SHOWN = 12  # skipped things that are named; the rest is counted
_TEXTS = PatternFile(__file__)


def plan_text(done: ConnectionPlan) -> str:
    if not done.changed:
        return lines("Nothing to change.", _rows(done), [f"note: {note}" for note in done.notes])
    tools = {tool for change in done.changed for tool in change.tools}
    edited = ", ".join(change.edited for change in done.changes if change.edited)
    asks = f"Somebody edited inside the block at {edited}: it would be left as it is, without --force"
    return lines(
        [] if done.done else [diff(done.changes), ""],
        _rows(done),
        [f"your edit is kept in {path}" for path in done.kept],
        [f"note: {note}" for note in done.notes],
        f"Restart to use it: {readers(tools)}" if done.done else asks if edited else "Nothing was written.",
    )


def _rows(done: ConnectionPlan) -> list[str]:
    ways = _TEXTS.pairs("said")
    said = [ways[one.action].split(" | ")[done.done].format(what=one.what) for one in done.changes]
    return table([(one.path, how, ", ".join(one.tools)) for one, how in zip(done.changes, said, strict=True)])


def diff(changes: Iterable[ConnectionChange]) -> str:
    """What changes, as people read it in git."""
    return "\n".join(line for change in changes for line in change.diff)


def plan_object(done: ConnectionPlan) -> dict[str, Any]:
    names = ("action", "what", "tools", "edited", "diff")
    changes = [{"id": change.path, **picked(change, *names)} for change in done.changes]
    return {**picked(done, "done", "notes", "kept"), "changes": changes}


def imported(done: Imported) -> str:
    found = f"Read {count(done.files, 'file')}: {count(len(done.proposed), 'new candidate')}"
    more = [f"{len(done.joined)} joined with what waits"] if done.joined else []
    more += [f"{done.known} known already"] if done.known else []
    more += [f"{len(done.skipped)} skipped"] if done.skipped else []
    return lines(
        ", ".join([found, *more]),
        [f"  {one.path}: {one.reason}" for one in done.skipped[:SHOWN]],
        [f"  … and {len(done.skipped) - SHOWN} more"] if len(done.skipped) > SHOWN else [],
        ["Review them with: holdfast review"] if done.proposed else [],
    )


def exported(done: MadrExport) -> str:
    if not done.written and not done.same and not done.left:
        return "No decisions are accepted here yet."
    same = f"; {done.same} as they were" if done.same else ""
    return lines(
        f"Wrote {count(len(done.written), 'record')} to {done.folder}{same}",
        [f"  {name}" for name in done.written],
        [f"note: {one.path} is left as it is: {one.reason}" for one in done.left],
    )


WIRED = tuple(AGENTS)  # what has hooks, and most an MCP server, beside the block
TOOLS = (*WIRED, "agents", "cursor", "aider")
CONFIRM = "See it with --dry-run, then run it again with --yes."
HOMES = {  # where an agent keeps its memory: the variable that moves it, else the folder in the user's home
    "claude": ("CLAUDE_CONFIG_DIR", ".claude"),
    "codex": ("CODEX_HOME", ".codex"),
}

_wiring = options(
    click.argument("tools", metavar="[TOOL]...", nargs=-1, type=click.Choice(TOOLS)),
    click.option(
        "--scope", type=click.Choice(("user", "project")), help="Whose settings get the hooks and the MCP server."
    ),
    click.option("--dry-run", is_flag=True, help="Only show what would change, as a diff."),
    click.option("--yes", is_flag=True, help="Do not ask."),
    click.option("--force", is_flag=True, help="Replace an instruction block that somebody edited; the edit is saved."),
)


@command(root, "connect")
@_wiring
def connect(place: Invocation, **given: Any) -> None:
    """Connect agents: hooks, MCP server and instructions.

    TOOL is codex, claude, gemini, opencode, qwen, copilot, pi, kimi or cline, which get hooks, the MCP server and an
    instruction block; or agents, cursor or aider, which get the block. Without TOOL, all connected tools are updated.
    """
    with place.project() as project:
        _carry_out(project.clients.connect, "Write this?", **given)


@command(root, "disconnect")
@_wiring
def disconnect(place: Invocation, **given: Any) -> None:
    """Remove what `connect` added, byte for byte.

    For these tools, or all; every file is restored. With --scope, only the hooks and server of that scope.
    """
    with place.project() as project:
        _carry_out(project.clients.disconnect, "Take this out?", **given)


def _carry_out(
    change: Change, question: str, *, tools: tuple[str, ...], scope: str | None, dry_run: bool, yes: bool, force: bool
) -> None:
    """Show what would change, ask, and do it; what somebody edited inside is left and named at the end."""
    if scope and tools and not set(tools) & set(WIRED):
        raise click.UsageError(f"--scope goes with {', '.join(WIRED)}.", click.get_current_context())
    act = partial(change, tools, scope=scope, force=force)
    plan = act(dry_run=True)
    doing = [change for change in plan.changed if force or not change.edited]
    if dry_run or not plan.changed:
        show(plan, plan_text, plan_object)
    elif not doing:
        act(dry_run=False)  # refuses: there is nothing to ask about
    else:
        if not yes and not on_a_terminal():
            files = ", ".join(change.path for change in doing)
            raise NeedsConfirmation(f"{files}: a change to your files must be confirmed", hint=CONFIRM)
        if not yes and not wants_json():
            say(diff(doing))
        confirm(question, yes=yes)
        show(act(dry_run=False), plan_text, plan_object)


@command(importing, "adr")
@click.argument("path", required=False, type=click.Path())
def import_adr(place: Invocation, path: str | None) -> None:
    """Propose the decisions in decision records (MADR, adr-tools).

    PATH is a file or a folder; if not given, the usual folders such as docs/adr.
    """
    with place.project() as project:
        show(project.clients.import_adr(_from(place, path)), imported)


@command(importing, "memory")
@click.argument("path", required=False, type=click.Path())
@click.option("--from", "agent", type=click.Choice(tuple(HOMES)), help="Read the memory that this agent keeps itself.")
def import_memory(place: Invocation, path: str | None, agent: str | None) -> None:
    """Propose rules and facts from notes for agents, one by one.

    PATH is a file or a folder; if not given, CLAUDE.md, AGENTS.md and the like of this repository. They
    wait in `holdfast review`.
    """
    if path is not None and agent is not None:
        raise click.UsageError("name a PATH or --from, not both", click.get_current_context())
    with place.project() as project:
        variable, folder = HOMES.get(agent or "", ("", ""))
        home = os.environ.get(variable) or os.path.join(os.path.expanduser("~"), folder)
        show(project.clients.import_memory(_from(place, path), agent=agent, home=home), imported)


@command(exporting, "adr")
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(file_okay=False))
def export_adr(place: Invocation, folder: str | None) -> None:
    """Write the accepted decisions as MADR records.

    DIR is an existing folder such as docs/adr, else docs/decisions. Numbers never change. Records written or
    edited by hand are not changed.
    """
    with place.project() as project:
        show(project.clients.export_adr(_from(place, folder)), exported)


def _from(place: Invocation, path: str | None) -> str | None:
    """A path as seen from the folder the command works in."""
    return None if path is None else os.path.join(os.path.abspath(place.folder), path)
