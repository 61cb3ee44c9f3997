"""`holdfast stats`: what was counted in this clone."""

from __future__ import annotations

import click

from holdfast.interfaces.cli import counting_words as words
from holdfast.interfaces.cli.command import command
from holdfast.interfaces.cli.output import say, show
from holdfast.interfaces.cli.place import Place
from holdfast.interfaces.cli.root import root


@command(root, "stats")
@click.option("--reset", is_flag=True, help="Delete what was counted, and begin anew.")
def stats(place: Place, reset: bool) -> None:
    """Show what was counted in this clone; it never leaves it.

    What was asked and how fast, what was found and not, which memories were used afterwards, how sessions
    were found, tokens injected, model calls.
    """
    with place.project() as project:
        if reset:
            project.reset_stats()
            say("what was counted is deleted; counting begins anew")
        show(project.stats(), words.stats, words.stats_object)
