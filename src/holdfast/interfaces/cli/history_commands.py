"""Commands that look: recall, show, timeline, log, diff, status."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from holdfast.index import stack_trace
from holdfast.interfaces import quick, quick_recall
from holdfast.interfaces.cli import phrases, show_text
from holdfast.interfaces.cli.invocation import Invocation, command, progress_bar
from holdfast.interfaces.cli.output import as_json, as_text, say, show, show_lines, wants_json
from holdfast.interfaces.cli.root import root

if TYPE_CHECKING:
    from holdfast.diagnostics.status import Status
    from holdfast.project import Project

SHOWN = 50  # events of the log, unless more are asked for
MAX_PIPED = 1 << 15  # bytes of what is piped that are looked at: errors stand at the end
LAST_LINES = 40  # of what is piped and is no stack trace, each once


class Question(click.Command):
    """A command whose arguments are a question: a line of it that begins with a dash is no option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        valued = {name for one in self.params if not getattr(one, "is_flag", True) for name in one.opts}
        pairs = zip(["", *args], args, strict=False)
        given = [f" {word}" if _is_said(word) and before not in valued else word for before, word in pairs]
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
@click.option("--kind", "kinds", multiple=True, metavar="KIND", help="Only this kind: fact, task, run, commit, code, …")
@click.option("--task", metavar="ID", help="Only what belongs to this task.")
@click.option("--branch", metavar="NAME", help="Ask another branch's memory; * asks all.")
@click.option("--since", metavar="WHEN", help="Only what is newer: 2026-10-01, 30d, 2w, yesterday.")
@click.option("--limit", type=click.IntRange(1, 1000), default=5, show_default=True, help="At most this many.")
@click.option("--semantic", is_flag=True, help="Search by meaning, too, however much the words find.")
@click.option("--explain", is_flag=True, help="Say what each score is made of.")
def recall(place: Invocation, query: tuple[str, ...], *, semantic: bool, explain: bool, **given: Any) -> None:
    """Search memory, commits, docs and code.

    `tag:db` and `task:login` are understood; - reads the question from stdin; without words it gives the most
    recent.
    """
    kinds = given.pop("kinds")
    if len(set(kinds)) > 1:
        raise click.UsageError("Name one kind, or none to search them all.")
    kind = kinds[0] if kinds else None
    paths = [path for files in given["files"] for path in files.split(",") if path]
    given["files"] = [os.path.join(os.path.abspath(place.folder), path) for path in paths]
    with place.project() as project, progress_bar("Reading the repository") as project.recall.progress:
        asked = _question(query)
        found = project.recall(asked, kind=kind, explain=explain, semantic=semantic or None, **given)
        waiting = 0
        if not found and kind in (None, "fact") and not wants_json():
            near = project.recall(asked, limit=1000, kind="candidate", task=given["task"], since=given["since"])
            waiting = len(near)
        now = f"{project.clone.clock():%Y-%m-%dT%H:%M:%SZ}"
        text = partial(phrases.hits, waiting=waiting, now=now, explain=explain)
        show(found, text, partial(phrases.hit_objects, explain=explain))
        if semantic and not project.recall.by_meaning:
            say(quick_recall.WITHOUT_MEANING)
        if quick.is_plain(os.environ) and given["branch"] is None:
            project.recall.keep_answer(quick.settings_stamp(os.environ))


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
        if task or sort:
            show(project.log.timeline(task=task, sort=fields), phrases.timeline)
        else:
            _show_newest(project, SHOWN)


@command(root, "log")
@click.option("--render", is_flag=True, help="Write .holdfast/view/log.jsonl.")
@click.option("--checkpoint", metavar="FILE", type=click.Path(dir_okay=False), help="Save what the log holds now.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="The newest N; 50 by default, all with --json.")
def log(place: Invocation, render: bool, checkpoint: str | None, limit: int | None) -> None:
    """Show the log.

    With --json, one object a line with every field.
    """
    if render and checkpoint:
        raise click.UsageError("--render and --checkpoint do not go together.")
    with place.project() as project:
        if render:
            show(project.views.render_log(), phrases.rendered, lambda path: {"id": path, "path": path})
        elif checkpoint:
            show(project.health.checkpoint(checkpoint), phrases.checkpoint)
        elif wants_json():
            show_lines(project.log.events(newest=limit))
        else:
            _show_newest(project, limit or SHOWN)


def _show_newest(project: Project, count: int) -> None:
    rows = project.log.timeline(newest=None if wants_json() else count + 1)
    show(rows if wants_json() else rows[-count:], phrases.timeline)
    if len(rows) > count and not wants_json():
        say(f"these are the newest {count:,}; more: holdfast log --limit {10 * count}")


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


def status_text(found: Status) -> str:
    """The status in a few lines, what needs the eye last."""
    count, branch = phrases.count, found.branch or "a detached HEAD"
    at = f" at {found.head[:12]}" if found.head else ", before the first commit"
    gone = [f"{number} {word}" for number, word in ((found.expired, "expired"), (found.stale, "stale")) if number]
    rows = {
        "memories": f"{found.facts}" + (f" ({', '.join(gone)})" if gone else ""),
        "tasks": f"{found.tasks} open, {found.started} begun, {found.ready} ready" if found.tasks else "",
        "session": found.session,
        "to review": _to_review(found),
        "to embed": f"{count(found.unembedded, 'text')}: holdfast model embed" if found.unembedded else "",
        "to publish": f"{count(found.events_waiting, 'event')}, {count(len(found.changes_waiting), 'change')}",
        "private": f"{count(found.private_runs, 'run')}, {'more than ' if found.private_more else ''}"
        f"{phrases.size(found.private_bytes)}; "
        "deleting this clone deletes them (`holdfast export FILE` keeps them)",
    }
    told = [f"  {name:10}  {text}" for name, text in rows.items() if text]
    return phrases.lines(f"On {branch}{at}, line {found.id}", told, _warnings(found))


def _to_review(found: Status) -> str:
    kinds = (
        (found.unreviewed, "written or edited by hand"),
        (found.edited, "edited since approval"),
        (found.unchecked, "whose approval cannot be checked: git fetch --unshallow"),
        (found.unreadable, "approved and now unreadable"),
    )
    told = ", ".join(f"{number} {words}" for number, words in kinds if number)
    return f"{found.candidates}, of which {told}" if told else f"{found.candidates}"


def _warnings(found: Status) -> Iterator[str]:
    from holdfast.git.branch_lines import DETACHED_NAME
    from holdfast.git.upstream import MissingFromTrunk

    count = phrases.count
    if found.operation:
        yield f"Git is in the middle of {found.operation}: events are recorded, publishing waits."
    if found.disputed:
        yield f"{count(found.disputed, 'task', 'are')} in conflict: holdfast task resolve"
    if found.gone:
        are = "is" if found.gone == 1 else "are"
        yield f"{count(found.gone, 'file')} published here {are} gone from this line: holdfast reconcile"
    if found.orphans:
        branches = [name for name in found.orphans if not name.startswith(DETACHED_NAME)]
        detached = dict.fromkeys(name for name in found.orphans if name.startswith(DETACHED_NAME))
        deleted = f"deleted branch{'es' if len(branches) > 1 else ''} {', '.join(branches)}"
        said = " and ".join([*([deleted] if branches else []), *detached])
        yield f"{said[:1].upper()}{said[1:]} left something behind: holdfast reconcile"
    if found.trunk:
        yield f"{MissingFromTrunk(found.unmerged, found.trunk)}."
    if found.pointers_waiting:
        wait = "waits" if found.agent_sessions_waiting == 1 else "wait"
        agents = count(found.agent_sessions_waiting, "agent session")
        yield f"{agents} with {count(found.pointers_waiting, 'pointer')} to transcripts {wait} to be read in."
    for path in found.transcripts_gone:
        yield f"An agent's transcript is gone, and what it said with it: {path}"
    for path in found.transcripts_unread:
        yield f"An agent's transcript cannot be read, and nothing is known of it: {path}"
    if found.void:
        yield f"What came by git does not speak: {found.void}. Trust it again: holdfast trust"
    elif found.elsewhere:
        way = "holdfast review list --waits-as elsewhere" if found.trusts else "holdfast trust"
        do = "does" if found.elsewhere == 1 else "do"
        yield f"{count(found.elsewhere, 'entry')} came by git and {do} not speak: {way}"
    if found.sandboxed:
        yield "This is a sandbox: records stay in .holdfast/local until a command outside moves them."


@command(root, "status")
@click.option("--badge", is_flag=True, help="Only how many candidates wait, for a shell's prompt.")
def status(place: Invocation, badge: bool) -> None:
    """Show what waits, and what is private here."""
    with place.project() as project:
        found = project.health.status()
        show(found, _badge if badge else status_text)
        # Kept for the quick path, unless there is something to say beside it or a variable changes it.
        if project.seen and project.seen.settled and not project.notices and quick.is_plain(os.environ):
            signature = quick.status_signature(project.seen.value, os.environ)
            text, data = as_text(status_text(found)), as_json(found)
            answers = {"status": (text, data), "badge": (as_text(_badge(found)), "")}
            project.context.keep_ready(answers, signature=signature)


def _badge(found: Status) -> str:
    return phrases.badge(found.candidates)
