"""The execution wrapper: `holdfast run -- CMD`."""

from __future__ import annotations

import os
import sys
from shutil import which
from typing import Any

import click

from holdfast.interfaces.cli.invocation import Invocation, command, on_a_terminal
from holdfast.interfaces.cli.output import say_object, wants_json
from holdfast.interfaces.cli.root import UnknownCommand, root

_MEANT = {"list": "log", "log": "log", "show": "show"}  # words of other commands' groups, and what lists runs


@command(root, "run", context_settings={"allow_interspersed_args": False})
@click.option("--task", metavar="ID", help="The task that this run works on; any word.")
@click.option("--layer", metavar="LAYER", help="The layer it belongs to, such as L5.")
@click.option("--scale", type=int, metavar="N", help="How much it matters, as a number.")
@click.option("--prompt", metavar="TEXT", help="What the agent was asked; kept with the run.")
@click.argument("argv", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- CMD...")
def run(place: Invocation, *, argv: tuple[str, ...], **given: Any) -> int:
    """Run a command and record it.

    Its output, signals and exit code pass through. The exit code is 125 if it could not be started.
    """
    if (meant := _MEANT.get(argv[0])) and which(argv[0]) is None:
        raise UnknownCommand(f"run {argv[0]}", click.get_current_context().find_root(), [meant])
    terminal = on_a_terminal() and sys.stdout.isatty()
    with place.project() as project:
        outcome = project.log.run_command(list(argv), **given, environ=os.environ, terminal=terminal)
        if wants_json():
            written = {} if outcome.event is None else project.clone.joined(outcome.event)
            say_object({**written, "id": outcome.run_id, "exit_status": outcome.exit_code})
    return outcome.exit_code
