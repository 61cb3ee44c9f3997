"""Commands for whoever starts or looks back: context, receipts, journal."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from holdfast.interfaces import quick
from holdfast.interfaces.cli import hydrating_words as words
from holdfast.interfaces.cli.command import command
from holdfast.interfaces.cli.output import as_json, as_text, flush, say, show
from holdfast.interfaces.cli.place import Place
from holdfast.interfaces.cli.root import root
from holdfast.interfaces.worktree import WorkTree

if TYPE_CHECKING:
    from holdfast.project import Project


@command(root, "context")
@click.option("--for", "asked", metavar="WORDS", help="What you are about to do.")
@click.option("--files", multiple=True, metavar="PATH", help="A file or folder it is about; more may follow.")
@click.option("--budget", type=click.IntRange(200, 100_000), metavar="TOKENS", help="How long it may be.")
@click.argument("more", nargs=-1, metavar="[PATH]...")
def context(place: Place, asked: str | None, files: tuple[str, ...], more: tuple[str, ...], budget: int | None) -> None:
    """Tell an agent what governs its work, and what is open.

    Text for an agent. It says why each thing is told, and which session it chose and why. What nobody
    approved is told only where it is this clone's own work, or found for what --for asks.
    """
    from holdfast.git import upstream
    from holdfast.recall.context import text
    from holdfast.recall.receipts import counted_of

    paths = [os.path.join(os.path.abspath(place.folder), path) for path in (*files, *more)]
    is_plain = not (paths or asked or budget)
    with place.project() as project:
        tree = WorkTree(project) if is_plain else None
        found = project.context(asked, paths, budget=budget)
        show(found, text, words.context_object)
        if found.silent:
            # Not among the notices: the answer is kept all the same, and it is said again with the next one.
            flush()
            say(
                words.silent(found.silent, can_trust=upstream.find(project.clone.repo, project.clone.trunk) is not None)
            )
        if found.unmerged:
            flush()
            say(str(found.unmerged))
        if tree is not None and tree.digest:
            said, data = as_text(text(found)), as_json(words.context_object(found))
            told = counted_of(found)
            keep_answer(project, "context", said, data, until=found.until, tree=tree, told=told)


@command(root, "receipts")
@click.argument("run", metavar="RUN")
@click.option("--pack", "number", type=click.IntRange(1), metavar="N", help="Print one pack as it was sent.")
def receipts(place: Place, run: str, number: int | None) -> None:
    """Tell what an agent knew in a run, or in a session.

    Each thing with its revision, why it was told, and whether it still stands here.
    """
    with place.project() as project:
        found = project.receipts(run)
        if number is None:
            show(found, words.receipts, words.receipts_object)
        else:
            show(words.pack(found, number), words.sent, words.pack_object)


@command(root, "journal")
@click.argument("date", default="today")
@click.option("--all", "everywhere", is_flag=True, help="What was done on other branches as well.")
@click.option("--render", is_flag=True, help="Write the files of all days that changed.")
def journal(place: Place, date: str, everywhere: bool, render: bool) -> None:
    """Tell what was done on a day: today, yesterday, or 2026-11-15.

    Days are UTC days. The same is written to .holdfast/view/journal, or where journal.path says.
    """
    with place.project() as project:
        if render:
            written = project.render_journal()
            show(written, lambda paths: "\n".join(paths) or "Nothing changed.", list)
        else:
            show(project.journal(date, everywhere=everywhere), str, lambda told: {"text": told})


def keep_answer(
    project: Project,
    name: str,
    text: str,
    data: str,
    *,
    until: str | None = None,
    tree: WorkTree | None = None,
    told: str = "",
) -> None:
    """Keep an answer for the quick path, until a moment or until what it rests on changes.

    `project.seen` must have been taken before the answer was made. Nothing is kept if there was something
    to say beside it, or if a variable changes it. `told` is kept along, for counting.
    """
    from holdfast.index.refresh import keep_ready

    seen = project.seen
    if seen is None or not seen.settled or project.notices or not quick.is_plain(os.environ):
        return
    if tree is not None:
        keep_ready(project.clone, quick.WATCHED, signature="", text=tree.paths, json="")
    state = quick.resting_on(name, seen, os.environ, tree=tree.digest if tree else "")
    for form, said in ((False, text), (True, data)):
        row = quick.kept_name(name, json=form)
        keep_ready(project.clone, row, signature=state, text=said, json=told, valid_until=until)
