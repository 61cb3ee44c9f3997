"""`holdfast try`: a look at what a repository's last days hold, before anything is set up."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from holdfast.interfaces.cli import trying_words as words
from holdfast.interfaces.cli.command import command
from holdfast.interfaces.cli.output import flush, say, show, wants_json
from holdfast.interfaces.cli.place import Place, confirm, on_a_terminal
from holdfast.interfaces.cli.root import root

if TYPE_CHECKING:
    from holdfast.project import Project
    from holdfast.project.trying import Tried

SETTING_UP = (
    "This writes .holdfast/ into the work tree and a private store into .git, and takes in what was read. Go on?"
)


@command(root, "try")
@click.option("--days", type=click.IntRange(1, 3650), default=30, show_default=True, help="How far to look back.")
@click.pass_context
def try_(context: click.Context, place: Place, days: int) -> None:
    """Show what the last days hold, and write nothing.

    Reads the records that Codex, Claude Code and Gemini keep of this repository, and git's log. No model is
    asked. On a terminal, r sets Holdfast up and opens the review.
    """
    from holdfast.project import Project

    found = Project.try_(place.folder, days=days, environ=os.environ)
    show(found, words.tried, words.tried_object)
    if found.candidates and not wants_json() and on_a_terminal() and sys.stdout.isatty():
        flush()
        say(words.KEYS)
        if click.getchar().lower() == "r":
            _review(context, place, found)


def _review(context: click.Context, place: Place, found: Tried) -> None:
    """Set up if need be, take in what was read, and open the review of what came of it."""
    from holdfast.interfaces.cli.curating import review
    from holdfast.project import Project

    if not found.initialised:
        confirm(SETTING_UP, yes=False)
        Project.init(place.folder, environ=os.environ)
    with place.project() as project:
        _bring(project, found)
    context.invoke(review)


def _bring(project: Project, found: Tried) -> None:
    for one in found.seen:
        project.import_agent(one.agent, since=f"{found.days}d")
    if not found.seen:
        project.import_memory()
