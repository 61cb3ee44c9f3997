"""Commands that look: recall, show, timeline, log, diff, status."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import click

from holdfast.index import stack_trace
from holdfast.interfaces import quick, quick_recall
from holdfast.interfaces.cli import json_objects, phrases, show_text
from holdfast.interfaces.cli.invocation import Invocation, command
from holdfast.interfaces.cli.output import as_json, as_text, say, show, show_lines, wants_json
from holdfast.interfaces.cli.root import root

if TYPE_CHECKING:
    from holdfast.diagnostics.status import Status
    from holdfast.project import Project
    from holdfast.recall.search import Hit

T = TypeVar("T")
MAX_PIPED = 1 << 15  # bytes of what is piped that are looked at: errors stand at the end
LAST_LINES = 40  # of what is piped and is no stack trace, each once


class Question(click.Command):
    """A command whose arguments are a question: a line of it that begins with a dash is no option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        valued = {name for one in self.params if not getattr(one, "is_flag", True) for name in one.opts}
        before = ["", *args]
        given = [
            f" {word}" if _is_said(word) and before[place] not in valued else word for place, word in enumerate(args)
        ]
        try:
            return super().parse_args(ctx, given)
        except click.NoSuchOption as error:
            said = f"{error.format_message()} Words that begin with a dash go behind `--`."
            raise click.UsageError(said, ctx) from None


def _is_said(word: str) -> bool:
    """Whether a word that begins with a dash is a line of some output: it has blanks, or is all dashes."""
    name = word.split("=", 1)[0]
    return word.startswith("-") and (bool(name.split()[1:]) or (len(word) > 2 and not word.strip("-")))


@command(root, "recall", cls=Question)
@click.argument("query", nargs=-1)
@click.option("--files", multiple=True, metavar="PATH", help="A file at hand: what shares it counts more.")
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    metavar="KIND",
    help="Only this kind: fact, decision, task, run, commit, doc, code, …",
)
@click.option("--task", metavar="ID", help="Only what belongs to this task.")
@click.option("--branch", metavar="NAME", help="Ask another branch's memory; * asks all.")
@click.option("--since", metavar="WHEN", help="Only what is newer: 2026-10-01, 30d, 2w, yesterday.")
@click.option("--limit", type=click.IntRange(1, 1000), default=5, show_default=True, help="At most this many.")
@click.option("--semantic", is_flag=True, help="Search by meaning, too, however much the words find.")
@click.option("--explain", is_flag=True, help="Say what each score is made of.")
def recall(
    place: Invocation,
    query: tuple[str, ...],
    *,
    files: tuple[str, ...],
    kinds: tuple[str, ...],
    limit: int,
    semantic: bool,
    explain: bool,
    **scope: str | None,
) -> None:
    """Search memory, commits, docs and code.

    `tag:db` and `task:login` are understood; - reads the question from stdin; without words it gives the most
    recent.
    """
    if len(set(kinds)) > 1:
        raise click.UsageError("Name one kind, or none to search them all.")
    kind = kinds[0] if kinds else None
    with place.project() as project, reading_bar(project):
        asked = _question(query)
        found = project.recall(
            asked,
            limit=limit,
            files=_at_hand(place, files),
            kind=kind,
            task=scope["task"],
            branch=scope["branch"],
            since=scope["since"],
            explain=explain,
            semantic=semantic or None,
        )
        waiting = 0
        if not found and kind in (None, "fact") and not wants_json():
            waiting = len(_candidates(project, asked, task=scope["task"], since=scope["since"]))
        now = f"{project.clone.clock():%Y-%m-%dT%H:%M:%SZ}"
        show(
            found,
            partial(phrases.hits, waiting=waiting, now=now, explain=explain),
            partial(json_objects.hits, explain=explain),
        )
        if semantic and not project.recall.by_meaning:
            say(quick_recall.WITHOUT_MEANING)
        if quick.is_plain(os.environ) and scope["branch"] is None:
            project.recall.keep_answer(quick_recall.stamp(os.environ))


def _question(words: tuple[str, ...]) -> str:
    """The words themselves, or what stdin holds if they are a dash: a trace, or the last lines of it."""
    if words != ("-",):
        return " ".join(words)
    end = b""
    while piece := sys.stdin.buffer.read(1 << 16):
        end = (end + piece)[-MAX_PIPED:]
    text = end.decode("utf-8", "replace")
    if stack_trace.without_frames(text)[1]:
        return text
    return "\n".join([*dict.fromkeys(text.splitlines())][-LAST_LINES:])


def _at_hand(place: Invocation, files: tuple[str, ...]) -> list[str]:
    """The files at hand, from where the command stands."""
    paths = [path for given in files for path in given.split(",") if path]
    return [os.path.join(os.path.abspath(place.folder), path) for path in paths]


@contextmanager
def reading_bar(project: Project) -> Iterator[None]:
    """A bar on stderr once something has to be read that takes a while, where somebody can see it."""
    with ExitStack() as opened:
        bars: list[Any] = []

        def step(done: int, total: int) -> None:
            if not bars:
                bar = click.progressbar(length=1, label="Reading the repository", file=sys.stderr)
                bars.append(opened.enter_context(bar))
            bars[0].length = max(total, 1)
            bars[0].update(done - bars[0].pos)

        if sys.stderr.isatty() and not wants_json():
            project.recall.progress = step
        yield


@command(root, "show")
@click.argument("name", metavar="ID")
@click.option("--path", is_flag=True, help="Only say where it lies.")
def show_one(place: Invocation, name: str, path: bool) -> None:
    """Show one thing by its id.

    A memory, a task, a session, a run or a turn of it, an event, an artifact, a commit, or a place such as
    `src/a.py:12`.
    """
    with place.project() as project:
        found = project.log.show(name)
        show(found, show_text.where if path else show_text.shown)
        if found.fields.get("origin") == "pending":
            say(f"{found.id} waits to be published; its file comes to be then")


@command(root, "timeline")
@click.option("--task", metavar="ID", help="Only what belongs to this task.")
@click.option(
    "--sort", metavar="FIELDS", default="", help="Sort by ts, layer, scale, kind or task; several with commas."
)
def timeline(place: Invocation, task: str | None, sort: str) -> None:
    """Show what happened, in order."""
    fields = tuple(field.strip() for field in sort.split(",") if field.strip()) or ("ts",)
    with place.project() as project:
        show(project.log.timeline(task=task, sort=fields), phrases.timeline)


@command(root, "log")
@click.option("--render", is_flag=True, help="Write .holdfast/view/log.jsonl.")
@click.option("--checkpoint", metavar="FILE", type=click.Path(dir_okay=False), help="Save what the log holds now.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the newest N.")
def log(place: Invocation, render: bool, checkpoint: str | None, limit: int | None) -> None:
    """Show the log.

    With --json, one object a line with every field.
    """
    if render and checkpoint:
        raise click.UsageError("--render and --checkpoint do not go together.")
    with place.project() as project:
        if render:
            show(project.views.render_log(), phrases.rendered, json_objects.rendered)
        elif checkpoint:
            show(project.health.checkpoint(checkpoint), phrases.checkpoint)
        elif wants_json():
            show_lines(newest(project.log.events(), limit))
        else:
            show(newest(project.log.timeline(), limit), phrases.timeline)


def _candidates(project: Project, asked: str, *, task: str | None, since: str | None) -> list[Hit]:
    return project.recall(asked, limit=1000, kind="candidate", task=task, since=since)


def newest(events: Sequence[T], limit: int | None) -> Sequence[T]:
    """The last of a list, or all of it."""
    return events if limit is None else events[-limit:]


@command(root, "diff")
@click.argument("run", required=False)
@click.option("--run", "named", metavar="RUN", help="The run, if not given as an argument.")
@click.option("--against", default="latest", show_default=True, metavar="RUN", help="The run to compare with.")
def diff(place: Invocation, run: str | None, named: str | None, against: str) -> None:
    """Compare what two runs produced.

    The default is the newest earlier run of the same task.
    """
    if (run is None) == (named is None):
        raise click.UsageError("Name one run.")
    with place.project() as project:
        show(project.log.diff(run or named or "", against=against), phrases.difference)


@command(root, "status")
@click.option("--badge", is_flag=True, help="Only how many candidates wait, for a shell's prompt.")
def status(place: Invocation, badge: bool) -> None:
    """Show what waits, and what is private here."""
    with place.project() as project:
        found = project.health.status()
        show(found, _badge if badge else phrases.status)
        # Kept for the quick path, unless there is something to say beside it or a variable changes it.
        if project.seen and project.seen.settled and not project.notices and quick.is_plain(os.environ):
            signature = quick.status_signature(project.seen.value, os.environ)
            text, data = as_text(phrases.status(found)), as_json(found)
            project.context.keep_ready("status", signature=signature, text=text, json=data)
            project.context.keep_ready("badge", signature=signature, text=as_text(_badge(found)), json="")


def _badge(found: Status) -> str:
    return phrases.badge(found.candidates)
