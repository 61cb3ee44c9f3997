"""What surrounds a command: the folder, the environment, the terminal.

All that the command line knows of its surroundings is read here and handed to the library.

What all commands share: `--json`, the place they stand in, and the groups they hang on.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from holdfast.errors import BadInput, HoldfastError, NeedsConfirmation, NotARepository, NotInitialised
from holdfast.interfaces.cli.output import flush, hide_by, say, show, wants_json
from holdfast.security import person
from holdfast.values import frozen

if TYPE_CHECKING:
    from holdfast.project import Project


MAX_STDIN = 1 << 20  # bytes: more than the longest text that is kept
INTERRUPTED = 130  # as a shell says of what Ctrl-C ended


class Declined(Exception):
    """Somebody was asked and said no."""


def _prepare_context(project: Project) -> None:
    """Have the next session's context prepared, if what it rests on changed: its hook then only prints it."""
    from holdfast.store import discovery, kept_context

    repo = project.clone.repo
    top, git_dir, common = map(os.fsencode, (repo.top, repo.git_dir, repo.common_dir))
    kept = kept_context.load(git_dir, common)
    if kept is None or not kept.is_current:
        discovery.prepare_later(top, git_dir, common)


@frozen
class Invocation:
    """The folder a command works in."""

    folder: str = "."

    @contextmanager
    def project(self, *, even_damaged: bool = False) -> Iterator[Project]:
        """The project of this folder; what was noticed on opening is said when the command is done."""
        from holdfast.project import Project  # `--help` and completion need none of it

        try:
            project = Project.open(self.folder, environ=os.environ, person=why_no_person)
        except (NotARepository, NotInitialised):
            raise
        except HoldfastError as error:
            if not even_damaged:
                raise
            say(f"this repository cannot be opened ({error}), so it is only read")
            project = self.as_it_lies()
        hide_by(project.clone.hide)
        if not project.clone.reading:
            project.clone.repo.expect_no_edits()
        try:
            yield project
        finally:
            flush()
            if not project.clone.reading:
                project.clone.repo.leave_answers()
            for notice in project.notices:
                say(notice)
            if project.has_unread and not project.clone.reading:
                from holdfast.interfaces import agent_replies

                agent_replies.embed_later(project.clone.repo.top)
            if project.has_backlog and os.name == "posix":  # long transcripts of agents, as their hooks do it
                from holdfast.interfaces import agent_events

                agent_events.drain_later(*map(os.fsencode, (project.clone.repo.top, project.clone.layout.inbox)))
            elif not project.clone.reading and os.path.exists(project.clone.layout.contexts):
                _prepare_context(project)

    def cited(self, project: Project, evidence: Sequence[str]) -> list[str]:
        """Receipts as seen from this folder."""
        from holdfast.git.evidence_check import from_folder  # `--help` and completion need none of it

        return [from_folder(project.clone, self.folder, text) for text in evidence]

    def as_it_lies(self) -> Project:
        """The project without opening it: nothing is made, moved or finished."""
        from holdfast.project import Project

        return Project.look(self.folder, environ=os.environ)


def on_a_terminal() -> bool:
    """Whether somebody can be asked and will see the answer."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def why_no_person() -> str | None:
    """Why an approval given now does not count as a person's; None if it does: a guard, not a boundary."""
    return person.doubt(terminal=on_a_terminal() and sys.stdout.isatty(), environ=os.environ)


def confirm(question: str, *, yes: bool) -> None:
    """Go on only if somebody agrees; where nobody can be asked, only with --yes."""
    if yes:
        return
    if not on_a_terminal():
        raise NeedsConfirmation(
            f"nothing was done: this needs a yes, and there is no terminal to ask. {question.removesuffix(' Go on?')}"
        )
    if not click.confirm(question, err=True):
        raise Declined


def text_or_stdin(given: str) -> str:
    """The text itself, or what stdin holds if it is a dash."""
    if given != "-":
        return given
    try:
        return sys.stdin.buffer.read(MAX_STDIN).decode("utf-8")
    except UnicodeDecodeError:
        raise BadInput("what stdin gave is not UTF-8 text") from None


_PATIENCE = 0.5  # seconds: what is done sooner needs no progress
_OFTEN = 0.1  # seconds between two states of it: more is only flicker


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[int, int], None] | None]:
    """How far something is, in a line on stderr that goes when it is done; only where somebody waits and sees it."""
    if not sys.stderr.isatty() or wants_json():
        yield None
        return
    from threading import Timer

    label, began, shown = label.strip(), time.monotonic(), 0.0

    def say_so(share: str = "") -> None:
        nonlocal shown
        shown = time.monotonic()
        print(f"\r{label} …{share}\x1b[K", end="", file=sys.stderr, flush=True)

    def step(done: int, total: int) -> None:
        now = time.monotonic()
        if now - began >= _PATIENCE and (now - shown >= _OFTEN or done >= total):
            say_so(f" {min(done / max(total, 1), 1.0):.0%}")

    first = Timer(_PATIENCE, say_so)  # also where the first step takes long
    first.daemon = True
    first.start()
    try:
        yield step
    finally:
        first.cancel()
        first.join()
        if shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


here = click.make_pass_decorator(Invocation, ensure=True)


def as_json(function: Callable[..., Any]) -> Callable[..., Any]:
    """The option `--json`, which `output.wants_json` asks for."""

    def remember(context: click.Context, _: click.Parameter, value: bool) -> None:
        context.meta["holdfast.json"] = value or context.meta.get("holdfast.json", False)

    help_ = "Answer with one JSON object instead of text."
    return click.option("--json", is_flag=True, expose_value=False, callback=remember, help=help_)(function)


def command(group: click.Group, name: str, **settings: Any) -> Callable[[Callable[..., Any]], click.Command]:
    """A command of a group, with the options every command has."""

    def wrap(function: Callable[..., Any]) -> click.Command:
        return group.command(name, **settings)(as_json(here(function)))

    return wrap


def group(parent: click.Group, name: str, unnamed: str) -> Callable[[Callable[[], None]], click.Group]:
    """A group of commands; without the name of one of them, `unnamed` runs."""

    def wrap(function: Callable[[], None]) -> click.Group:
        @wraps(function)
        def run(context: click.Context) -> None:
            if context.invoked_subcommand is None:
                context.invoke(made.commands[unnamed])

        made = parent.group(name, invoke_without_command=True)(as_json(click.pass_context(run)))
        return made

    return wrap


def answer(
    group: click.Group, name: str, words: Callable[[Any], str], as_object: Callable[[Any], object] | None = None
) -> Callable[[Callable[..., object]], click.Command]:
    """A command that asks the project for one value, which is shown."""

    def wrap(function: Callable[..., object]) -> click.Command:
        @wraps(function)
        def run(place: Invocation, **given: Any) -> None:
            with place.project() as project:
                show(function(project, **given), words, as_object)

        return command(group, name)(run)

    return wrap


def options(*given: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Callable[..., Callable[..., Any]]:
    """Several options as one decorator, for commands that share them."""

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(given):
            function = option(function)
        return function

    return wrap
