"""The execution wrapper: `holdfast run -- CMD`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from holdfast.interfaces.cli.command import command
from holdfast.interfaces.cli.output import say_object, wants_json
from holdfast.interfaces.cli.place import Place, on_a_terminal
from holdfast.interfaces.cli.root import root

if TYPE_CHECKING:
    from holdfast.project import Project


@command(root, "run", context_settings={"allow_interspersed_args": False})
@click.option("--task", metavar="ID", help="The task this run works on; any word.")
@click.option("--layer", metavar="LAYER", help="The layer it belongs to, such as L5.")
@click.option("--scale", type=int, metavar="N", help="How far it reaches, as a whole number.")
@click.option("--prompt", metavar="TEXT", help="What the agent was asked; kept in the capsule.")
@click.argument("argv", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- CMD...")
def run(
    place: Place,
    *,
    task: str | None,
    layer: str | None,
    scale: int | None,
    prompt: str | None,
    argv: tuple[str, ...],
) -> int:
    """Run a command and keep what it did.

    Its output, signals and exit code pass through. A refusal before it starts ends with 125.
    """
    with place.project() as project:
        before = _runs(project) if wants_json() else {}
        code = project.run_command(
            list(argv),
            task=task,
            layer=layer,
            scale=scale,
            prompt=prompt,
            environ=os.environ,
            terminal=on_a_terminal() and sys.stdout.isatty(),
        )
        if wants_json():
            new = [event for name, event in _runs(project).items() if name not in before]
            # Never another's: where two runs ended at once, neither is named.
            say_object(
                {"id": None, "exit_status": code} if len(new) != 1 else {**new[0], "id": new[0]["run_id"]}
            )
    return code


def _runs(project: Project) -> dict[str, dict[str, Any]]:
    """The runs known so far that are not nested in one of ours."""
    outer = os.environ.get("HOLDFAST_RUN_ID")
    runs = (event for event in project.log() if event["kind"] == "run" and event["parent_run_id"] == outer)
    return {event["hash_self"]: event for event in runs}
