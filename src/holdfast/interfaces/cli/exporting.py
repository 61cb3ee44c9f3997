"""Commands for whoever takes over: handoff, export jsonl, export markdown, export codex."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from holdfast.interfaces.cli import exporting_words as words
from holdfast.interfaces.cli.command import command
from holdfast.interfaces.cli.output import as_json, as_text, show, show_lines
from holdfast.interfaces.cli.place import Place
from holdfast.interfaces.cli.root import root
from holdfast.interfaces.cli.setup import exporting

if TYPE_CHECKING:
    from collections.abc import Iterable

_TO = click.option(
    "--to", "target", type=click.Path(dir_okay=False), metavar="FILE", help="Write it there; never over a file."
)


@command(root, "handoff")
@click.option("--budget", type=click.IntRange(600, 100_000), metavar="TOKENS", help="How long it may be.")
def handoff(place: Place, budget: int | None) -> None:
    """Tell whoever takes over here what they need.

    The objective, where it stands, what was done, what failed, what is open, and what governs the files that
    were touched. What nobody reviewed is marked as data.
    """
    with place.project() as project:
        show(project.handoff(budget=budget), words.handed, words.handed_object)


@command(exporting, "jsonl")
@click.argument("name", required=False, metavar="[SESSION|RUN]")
@_TO
def jsonl(place: Place, name: str | None, target: str | None) -> None:
    """Write sessions, runs, turns and cycles, one JSON object a line.

    All of this clone's, or those of one session or run.
    """
    with place.project() as project:
        found = project.export_records(name)
        if target is None:
            show_lines(found)
        else:
            _save(target, (as_json(one) for one in found))


@command(exporting, "markdown")
@click.argument("name", required=False, metavar="[SESSION|RUN]")
@_TO
def markdown(place: Place, name: str | None, target: str | None) -> None:
    """Write sessions and the summaries of their runs, to be read."""
    with place.project() as project:
        pages = project.export_markdown(name)
        if target is None:
            show(list(pages), "\n".join, lambda told: {"pages": told})
        else:
            _save(target, (as_text(page) + "\n" for page in pages))


@command(exporting, "codex")
@click.argument("session", metavar="SESSION")
@click.option(
    "--to", "folder", type=click.Path(file_okay=False), metavar="DIR", help="A Codex home; your own if not given."
)
def codex(place: Place, session: str, folder: str | None) -> None:
    """Write a session as a rollout that Codex lists and resumes."""
    home = folder or os.environ.get("CODEX_HOME") or os.path.join(os.path.expanduser("~"), ".codex")
    with place.project() as project:
        show(project.export_codex(session, home), words.rollout)


def _save(target: str, texts: Iterable[str]) -> None:
    from holdfast.errors import BadInput
    from holdfast.store import fsio

    if os.path.lexists(target):
        raise BadInput(f"{target} is there already", hint="Name a file that does not exist yet.")
    number = 0
    with fsio.refusing(target), fsio.writing(os.path.abspath(target)) as out:
        for number, text in enumerate(texts, 1):  # noqa: B007 - how many there were
            out.write(text.encode("utf-8", "backslashreplace"))
    show((target, number), words.saved, lambda told: {"file": told[0], "records": told[1]})
