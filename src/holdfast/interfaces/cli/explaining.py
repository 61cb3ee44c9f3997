"""The command that explains: why."""

from __future__ import annotations

import os

import click

from holdfast.interfaces.cli import explaining_words as words
from holdfast.interfaces.cli.command import command
from holdfast.interfaces.cli.output import flush, say, show
from holdfast.interfaces.cli.place import Place
from holdfast.interfaces.cli.root import root


@command(root, "why")
@click.argument("place_", metavar="FILE[:LINE]")
def why(place: Place, place_: str) -> None:
    """Tell which run and turn wrote a line, and what was asked.

    FILE:12 is a line, FILE:10-20 are some, FILE alone is all of it, run by run. An answer is recorded (the
    commit was made in that run) or matched (by the text of the line); what nobody can know is said to be so.
    """
    with place.project() as project:
        found = project.why(place_, folder=os.path.abspath(place.folder))
        show(found, words.why, words.why_object)
        flush()
        for note in found.why.notes:
            say(note)
