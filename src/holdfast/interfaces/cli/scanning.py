"""`holdfast scan`: what today's rules would redact in what is stored."""

from __future__ import annotations

import click

from holdfast.interfaces.cli import scanning_words as words
from holdfast.interfaces.cli.command import command
from holdfast.interfaces.cli.output import show
from holdfast.interfaces.cli.place import Place
from holdfast.interfaces.cli.root import root


@command(root, "scan")
@click.argument("paths", nargs=-1, type=click.Path(exists=True), metavar="[PATH]...")
def scan(place: Place, paths: tuple[str, ...]) -> int:
    """Look for secrets in what is stored, with the rules of today.

    Runs, events, sessions, candidates, memories and views, or the files and folders that are named. No
    secret is shown and nothing is changed. Ends with 1 if something was found or could not be read.
    """
    with place.project(even_damaged=True) as project:
        found = project.scan(paths)
        show(found, words.scanned, words.scanned_object)
    return 0 if found.clean else 1
