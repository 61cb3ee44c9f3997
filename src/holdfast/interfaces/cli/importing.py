"""Commands that bring in what agents did before: import codex, claude, gemini."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from holdfast.errors import BadInput
from holdfast.interfaces.cli import importing_words as words
from holdfast.interfaces.cli.command import command
from holdfast.interfaces.cli.output import show, wants_json
from holdfast.interfaces.cli.place import Place
from holdfast.interfaces.cli.setup import importing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from holdfast.project.importing import Progress

_AGENTS = {"codex": "Codex", "claude": "Claude Code", "gemini": "Gemini CLI"}


def _add(agent: str, called: str) -> None:
    """Hang the command of one agent on `import`."""

    @click.argument("path", required=False, type=click.Path())
    @click.option("--since", metavar="WHEN", help="Only sessions written to since: 2026-10-01, or 30d ago.")
    @click.option("--this", is_flag=True, help="Sessions of this repository only; so it is anyway.")
    @click.option("--all-projects", is_flag=True, help="Sessions of all repositories, not only of this one.")
    def bring(place: Place, path: str | None, since: str | None, this: bool, all_projects: bool) -> None:
        if this and all_projects:
            raise BadInput("--this and --all-projects contradict each other", hint="Give one of them.")
        where = None if path is None else os.path.abspath(os.path.join(place.folder, path))
        with place.project() as project, _bar() as progress:
            done = project.import_agent(agent, where, since=since, everywhere=all_projects, progress=progress)
        show(done, words.brought, words.brought_object)

    bring.__doc__ = f"""Take in what {called} did in this repository, from its own transcripts.

    PATH is a transcript or a folder of them; if not given, {called}'s own folder. Each session becomes a run
    with its cycles; what was decided waits in `holdfast review`. Running it again adds only what is new.
    """
    command(importing, agent)(bring)


for _name, _called in _AGENTS.items():
    _add(_name, _called)


@contextmanager
def _bar() -> Iterator[Progress | None]:
    """A bar on a terminal, on stderr; nothing anywhere else."""
    if not sys.stderr.isatty() or wants_json():
        yield None
        return
    with click.progressbar(length=1, label="Reading transcripts", file=sys.stderr) as bar:
        yield _drawn(bar)


def _drawn(bar: object) -> Callable[[int, int], None]:
    def tell(done: int, total: int) -> None:
        bar.length = max(total, 1)  # type: ignore[attr-defined]
        bar.update(done - bar.pos)  # type: ignore[attr-defined]

    return tell
