"""`holdfast index`: read what the repository holds, so that it can be found."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from holdfast.interfaces.cli import indexing_words as words
from holdfast.interfaces.cli.command import command
from holdfast.interfaces.cli.output import show, wants_json
from holdfast.interfaces.cli.place import Place
from holdfast.interfaces.cli.root import root

if TYPE_CHECKING:
    from holdfast.index.refresh import Progress


@command(root, "index")
@click.option("--status", is_flag=True, help="Only say how far it is.")
def index(place: Place, status: bool) -> None:
    """Read commits, documents and code, so that recall finds them.

    Small repositories need no call: the first question reads them. It may be interrupted and goes on.
    """
    with place.project() as project:
        if status:
            show(project.index_state(), words.state)
            return
        with bar() as progress:
            found = project.build_index(progress=progress)
        show(found, words.state)


@contextmanager
def bar(label: str = "Reading the repository") -> Iterator[Progress | None]:
    """A bar on a terminal, on stderr; nothing anywhere else."""
    if not sys.stderr.isatty() or wants_json():
        yield None
        return
    with click.progressbar(length=1, label=label, file=sys.stderr) as drawn:
        yield _steps(drawn)


def _steps(drawn: object) -> Callable[[int, int], None]:
    def tell(done: int, total: int) -> None:
        drawn.length = max(total, 1)  # type: ignore[attr-defined]
        drawn.update(done - drawn.pos)  # type: ignore[attr-defined]

    return tell
