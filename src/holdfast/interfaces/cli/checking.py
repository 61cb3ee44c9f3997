"""Commands that ask whether it is sound: doctor, check. They end with 1 if it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from holdfast.errors import HoldfastError
from holdfast.interfaces.cli import connecting_words, objects, words
from holdfast.interfaces.cli.command import command
from holdfast.interfaces.cli.output import show
from holdfast.interfaces.cli.place import Place
from holdfast.interfaces.cli.root import root

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.diagnostics.tools import ToolState
    from holdfast.project import Project

T = TypeVar("T")


@command(root, "doctor")
@click.option("--repair", is_flag=True, help="Say what could be mended; with --yes, mend it.")
@click.option("--yes", is_flag=True, help="With --repair: do it.")
@click.option("--against", type=click.Path(dir_okay=False), metavar="FILE", help="A checkpoint to compare with.")
def doctor(place: Place, repair: bool, yes: bool, against: str | None) -> int:
    """Verify everything, and say where it is wrong."""
    if yes and not repair:
        raise click.UsageError("--yes goes with --repair.")
    with place.project(even_damaged=True) as project:
        report = project.doctor(against=against)
        for path, tool in _behind(project).items():
            project.notices.append(f"the block in {path} is older than what is accepted: holdfast connect {tool}")
        agents = project.tools()
        if not repair:
            show(report, _beside(words.report, agents), _and_tools(objects.report, agents))
        else:
            repairs = project.repair(report, apply=yes)
            report = project.doctor(against=against) if yes else report
            show((report, repairs), _beside(words.repaired, agents), _and_tools(objects.repaired, agents))
    return 1 if report.problems else 0


@command(root, "check")
@click.option("--base", metavar="REF", help="Compare with this branch or commit; trunk if not given.")
def check(place: Place, base: str | None) -> int:
    """The gate for CI.

    Every changed fact has its event, the log verifies, and nothing sealed was altered.
    """
    found = place.as_it_lies().check(base=base)
    show(found, words.verdict, objects.verdict)
    return 1 if found.problems else 0


def _beside(said: Callable[[T], str], agents: list[ToolState]) -> Callable[[T], str]:
    """What was found, and below it how each agent stands."""
    return lambda found: words.lines(said(found), connecting_words.tools(agents))


def _and_tools(said: Callable[[T], dict[str, Any]], agents: list[ToolState]) -> Callable[[T], dict[str, Any]]:
    return lambda found: {**said(found), "tools": connecting_words.tools_object(agents)}


def _behind(project: Project) -> dict[str, str]:
    """Blocks that tell what no longer holds, or not yet what does, each with the first tool that reads it.

    A damaged store cannot say.
    """
    try:
        return {one.path: one.tool for one in reversed(project.connected()) if not one.current}
    except HoldfastError:
        return {}
