"""Commands for whoever takes over: handoff, export jsonl, export markdown, export codex, export html.

What is said about handing over and exporting.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from holdfast.errors import BadInput
from holdfast.interfaces.cli.invocation import Invocation, answer, command
from holdfast.interfaces.cli.output import as_json, as_plain, as_text, show, show_lines
from holdfast.interfaces.cli.phrases import count, lines, size, table, wording
from holdfast.interfaces.cli.root import root
from holdfast.interfaces.cli.setup_commands import exporting

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.capture.export_codex import Rollout
    from holdfast.interfaces.web.static_pages import StaticExport
    from holdfast.project import Project, session_book


def handed(found: session_book.Handoff) -> str:
    """A handoff as the next one reads it."""
    from holdfast.recall.pack.context_pack import pack_text

    return lines(pack_text(found.pack).rstrip("\n"), "", "Ask Holdfast for more:", table(tuple(wording("ask").items())))


def handed_object(found: session_book.Handoff) -> dict[str, Any]:
    """The same as JSON."""
    from holdfast.interfaces.cli.context_commands import context_object

    ask = [{"command": command, "gives": gives} for command, gives in wording("ask").items()]
    return {**as_plain(found), "pack": context_object(found.pack), "ask": ask}


def rollout(made: Rollout) -> str:
    """A rollout that was written for Codex."""
    return lines(f"Wrote {count(made.turns, 'turn')} to {made.path}", f"Go on with: codex resume {made.thread}")


_TO = click.option(
    "--to",
    "target",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write to FILE; an existing file is not overwritten.",
)


@answer(root, "handoff", handed, handed_object)
@click.option("--budget", type=click.IntRange(600, 100_000), metavar="TOKENS", help="The maximum length.")
def handoff(project: Project, budget: int | None) -> object:
    """Write what the next person or agent needs to go on.

    The objective, the state, what was done, what failed, what is open, and the memories about the files that
    were changed. Unreviewed text is marked as data.
    """
    return project.sessions.handoff(budget=budget)


@command(exporting, "jsonl")
@click.argument("name", required=False, metavar="[SESSION|RUN]")
@_TO
def jsonl(place: Invocation, name: str | None, target: str | None) -> None:
    """Write sessions, runs, turns and cycles, one JSON object a line.

    Default: all of this clone; or those of one session or run.
    """
    with place.project() as project:
        found = project.log.export_records(name)
        if target is None:
            show_lines(found)
        else:
            _save(target, (as_json(one) for one in found))


@command(exporting, "markdown")
@click.argument("name", required=False, metavar="[SESSION|RUN]")
@_TO
def markdown(place: Invocation, name: str | None, target: str | None) -> None:
    """Write sessions and the summaries of their runs as Markdown."""
    with place.project() as project:
        pages = project.log.export_markdown(name)
        if target is None:
            show(list(pages), "\n".join, lambda told: {"pages": told})
        else:
            _save(target, (as_text(page) + "\n" for page in pages))


@answer(exporting, "codex", rollout)
@click.argument("session", metavar="SESSION")
@click.option(
    "--to", "folder", type=click.Path(file_okay=False), metavar="DIR", help="A Codex home; default: your own."
)
def codex(project: Project, session: str, folder: str | None) -> object:
    """Write a session as a Codex transcript, which Codex lists and resumes."""
    home = folder or os.environ.get("CODEX_HOME") or os.path.join(os.path.expanduser("~"), ".codex")
    return project.log.export_codex(session, home)


def _exported(made: StaticExport) -> str:
    files = count(len(made.files), "file")
    return f"Wrote {files} ({size(made.size)}) to {made.target}, as of commit {made.commit[:12]}"


@command(exporting, "html")
@click.argument("target", required=False, default="holdfast-html", metavar="[DIR|FILE.html]")
def html(place: Invocation, target: str) -> None:
    """Write decision log, plan, timeline and graph as pages that need no server.

    With a name that ends in .html it is one file, to be mailed or attached. Only what is committed at HEAD is in it, so
    it works in any clone, also where Holdfast is not set up.
    """
    from holdfast.errors import NotInitialised

    with ExitStack() as opened:
        try:
            project = opened.enter_context(place.project())
        except NotInitialised:
            project = place.as_it_lies()
        show(_static(project, target), _exported)


def _static(project: Project, target: str) -> StaticExport:
    try:
        import_module("holdfast.interfaces.web.static_pages")
    except ImportError as error:
        hint = "Install again from Holdfast's own folder, with '.[web]' in place of '.'"
        raise BadInput(f"the pages need Jinja2 ({error})", hint=hint) from None
    from holdfast.interfaces.web import static_pages
    from holdfast.security import redact, rules
    from holdfast.store import layout

    if not target or ".git" in os.path.normpath(target).split(os.sep):
        raise BadInput("name a folder of its own for the pages", hint="For example: holdfast export html docs/memory")
    settings = project.settings
    shared, _ = rules.narrow(settings.shared_rules, layout.SETTINGS)
    # Whoever reads it has not the rules of this clone: more is taken out than from what is shown here.
    scan = redact.Scanner((*settings.redact_rules, *shared), settings.redact_allow)
    name = scan.text(os.path.basename(project.clone.repo.top))
    return static_pages.write(project.log.published(), target, name=name, hide=scan.text)


def _save(target: str, texts: Iterable[str]) -> None:
    from holdfast.store import fsio

    if os.path.lexists(target):
        raise BadInput(f"{target} is there already", hint="Name a file that does not exist yet.")
    number = 0
    with fsio.refusing(target), fsio.writing(os.path.abspath(target)) as out:
        for number, text in enumerate(texts, 1):  # noqa: B007 - how many there were
            out.write(text.encode("utf-8", "backslashreplace"))
    done = {"file": target, "records": number}
    show(done, lambda _: f"Wrote {count(number, 'record')} to {target}")
