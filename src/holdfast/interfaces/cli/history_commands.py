"""Commands that look, and what they print: recall, timeline, log, diff, status."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from holdfast.index import hit_text, stack_trace
from holdfast.interfaces import quick, quick_recall
from holdfast.interfaces.cli import output
from holdfast.interfaces.cli.invocation import Invocation, command, options, progress_bar
from holdfast.interfaces.cli.output import (
    as_json,
    as_kept,
    as_text,
    columns,
    flush,
    say,
    show,
    show_lines,
    strong,
    styled,
    wants_json,
)
from holdfast.interfaces.cli.phrases import WIDTH, ago, badge, count, lines, short, size, table
from holdfast.interfaces.cli.root import root

if TYPE_CHECKING:
    from holdfast.diagnostics import log_integrity, run_diff
    from holdfast.diagnostics.status import Status
    from holdfast.diagnostics.timeline import TimelineRow
    from holdfast.project import Project
    from holdfast.recall.search import Hit

SHOWN = 50  # events of the log, unless more are asked for
MOST = 5  # hits, unless more are asked for
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


def hits_text(
    found: Sequence[Hit], *, waiting: int = 0, now: str = "", explain: bool = False, limited: bool = False
) -> str:
    """The same words as the quick path's, which prints them without us."""
    from holdfast.recall.search import as_rows

    rows = as_rows(found)
    shown, bold = rows if limited else hit_text.relevant(rows), (quick.STYLES["bold"][0], quick.CLOSE)
    return hit_text.as_text(shown, waiting=waiting, now=now, explain=explain, bold=bold, columns=columns())


def hit_objects(found: Sequence[Hit], *, explain: bool = False) -> list[dict[str, Any]]:
    """What was found; what a score is made of only if that was asked for."""
    plain: list[dict[str, Any]] = output.as_plain(found)
    for one in plain:
        parts = one.pop("parts")
        if explain:
            one["parts"] = {name: round(value, 4) for name, value in parts}
    return plain


@command(root, "recall", cls=Question)
@click.argument("query", nargs=-1)
@click.option("--files", multiple=True, metavar="PATH", help="A file you work on: hits about it rank higher.")
@click.option("--kind", "kinds", multiple=True, metavar="KIND", help="Only this kind: fact, task, run, commit, code, …")
@click.option("--task", metavar="ID", help="Only what belongs to this task.")
@click.option("--branch", metavar="NAME", help="Search the memory of another branch; * searches all.")
@click.option("--since", metavar="WHEN", help="Only what is newer: 2026-10-01, 30d, 2w, yesterday.")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(1, 1000),
    metavar="N",
    help="Exactly N hits, even weak ones; otherwise at most 5.",
)
@click.option("--semantic", is_flag=True, help="Search by meaning as well, even if words find enough.")
@click.option("--explain", is_flag=True, help="Say why each hit was found.")
def recall(place: Invocation, query: tuple[str, ...], *, semantic: bool, explain: bool, **given: Any) -> None:
    """Search memory, commits, docs and code.

    Words may include `tag:db` or `task:login`; - reads the question from stdin. Without words it lists the most
    recent.
    """
    kinds, limited = given.pop("kinds"), given["limit"] is not None
    given["limit"] = given["limit"] or MOST
    if len(set(kinds)) > 1:
        raise click.UsageError("Name one kind, or none to search them all.")
    kind = kinds[0] if kinds else None
    paths = [path for files in given["files"] for path in files.split(",") if path]
    given["files"] = [os.path.join(os.path.abspath(place.folder), path) for path in paths]
    with place.project() as project:
        asked = _question(query)
        with progress_bar("Reading the repository") as project.recall.progress:
            found = project.recall(asked, kind=kind, explain=explain, semantic=semantic or None, **given)
        waiting, advice = 0, project.recall.advice
        if not found and kind in (None, "fact") and not wants_json():
            near = project.recall(asked, limit=1000, kind="candidate", task=given["task"], since=given["since"])
            waiting = len(near)
        now = f"{project.clone.clock():%Y-%m-%dT%H:%M:%SZ}"
        text = partial(hits_text, waiting=waiting, now=now, explain=explain, limited=limited)
        show(found, text, partial(hit_objects, explain=explain))
        if advice:
            flush()
            say(advice)
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


def timeline_text(rows: Sequence[TimelineRow]) -> str:
    """A line for each event, as wide as the terminal."""
    if not rows:
        return "Nothing happened yet. Record something with: holdfast run -- COMMAND"
    begun = table([(*_event_cells(row), "|") for row in rows], indent="")
    taken = output.width(begun[0]) - 1
    room = max(output.columns() - taken, 20) if output.columns() else WIDTH
    return lines([f"{start[:-1]}{_told(row, room)}" for start, row in zip(begun, rows, strict=True)])


def _event_cells(row: TimelineRow) -> tuple[str, ...]:
    name = row.id if row.id != row.hash_self else row.hash_self[:12]
    return (ago(row.started or row.ts), row.kind, strong(name))


def _told(row: TimelineRow, room: int) -> str:
    """What happened, and in brackets how it ended, for which task, and when it came in, if that was later."""
    marks = [_ended(row), row.layer or "", "" if row.systemic_scale is None else f"scale {row.systemic_scale}"]
    marks += [short(row.task, 24) if row.task != row.id else ""]
    marks += [f"imported {ago(row.ts)}"] if row.started and row.started[:10] != row.ts[:10] else []
    said = [mark for mark in marks if mark]
    after = f"  ({', '.join(said)})" if said else ""
    return short(row.summary, max(room - output.width(after), 20)) + after


def _ended(row: TimelineRow) -> str:
    """How a run ended, if not as nearly all do."""
    if row.kind != "run" or row.exit_status == 0 or (row.exit_status is None and row.status == "ended"):
        return ""
    ended = row.status or "interrupted" if row.exit_status is None else f"exit {row.exit_status}"
    return styled(ended, "warn" if row.exit_status is None else "bad")


def checkpoint_text(point: log_integrity.LogCheckpoint) -> str:
    return f"Saved a checkpoint of {count(point.count, 'event')}; keep it where nobody can change it."


_which_events = options(  # of `log` and its older name
    click.option("-n", "--limit", type=click.IntRange(1), metavar="N", help="The newest N; default: 50."),
    click.option("--task", metavar="ID", help="Only what belongs to this task."),
    click.option("--sort", metavar="FIELDS", default="", help="Sort by ts, layer, scale, kind or task; or several."),
)


@command(root, "log")
@_which_events
@click.option("--render", is_flag=True, help="Write .holdfast/view/log.jsonl.")
@click.option(
    "--checkpoint",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Save the current state of the log, to compare with later.",
)
def log(place: Invocation, render: bool, checkpoint: str | None, **which: Any) -> None:
    """Show what happened, oldest first.

    With --json, one object a line with every field; all events, unless -n is given.
    """
    if render and checkpoint:
        raise click.UsageError("--render and --checkpoint do not go together.")
    with place.project() as project:
        if render:
            written = project.views.render_log()
            show(written, lambda path: f"Wrote {path}", lambda path: {"id": path, "path": path})
        elif checkpoint:
            show(project.health.checkpoint(checkpoint), checkpoint_text)
        elif wants_json():
            with project.clone.unsealed():
                events = {event["hash_self"]: event for event in project.log.events()}
            show_lines(events[row.hash_self] for row in _rows(project, **which))
        else:
            _show_rows(project, **which)


@command(root, "timeline", hidden=True)
@_which_events
def timeline(place: Invocation, **which: Any) -> None:
    """The older name of `log`; with --json it gives one object with all rows."""
    with place.project() as project:
        if wants_json():
            show(_rows(project, **which), timeline_text)
        else:
            _show_rows(project, **which)


def _rows(project: Project, *, limit: int | None, task: str | None, sort: str) -> list[TimelineRow]:
    """What was asked for; how many are newest is counted before they are sorted."""
    fields = tuple(field.strip() for field in sort.split(",") if field.strip())
    found = project.log.timeline(task=task, sort=fields, newest=limit if task is None else None)
    return found[-limit:] if limit else found


def _show_rows(project: Project, *, limit: int | None, **which: Any) -> None:
    count = limit or SHOWN
    rows = _rows(project, limit=count + 1, **which)
    show(rows[-count:], timeline_text)
    if len(rows) > count and limit is None:
        say(f"Newest {count:,} only. More: holdfast log -n {10 * count}")


def diff_text(found: run_diff.RunDiff) -> str:
    before, after = found.before, found.after
    if not found.comparable:
        away = next(side for side in (before, after) if side.state != "here")
        return f"{strong(away.run_id)}  has nothing to compare here: its outputs are {away.state}"
    if found.same:
        return f"{strong(before.run_id)} and {strong(after.run_id)} produced the same"
    codes = ["unknown" if side.exit_status is None else str(side.exit_status) for side in (before, after)]
    said = [f"{strong(before.run_id)}, then {strong(after.run_id)}"]
    said += [f"exit {codes[0]}, then {codes[1]}"] if codes[0] != codes[1] else []
    for change in found.changes:
        old, new = (change.before or "nothing")[:12], (change.after or "nothing")[:12]
        said += change.lines or [f"{change.kind} {change.path}  {old} -> {new}"]
    return lines(said)


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
        show(project.log.diff(run or named or "", against=against), diff_text)


def status_text(found: Status) -> str:
    """The status in a few lines, what needs the eye last."""
    branch = found.branch or "a detached HEAD"
    at = f" at {found.head[:12]}" if found.head else ", before the first commit"
    states = ((found.expired, "expired"), (found.stale, "stale"))
    gone = [styled(f"{number} {word}", "warn") for number, word in states if number]
    rows = {
        "memories": f"{found.facts}" + (f" ({', '.join(gone)})" if gone else ""),
        "tasks": f"{found.tasks} open: {found.started} started, {found.ready} ready" if found.tasks else "",
        "session": found.session,
        "to review": _to_review(found),
        "vectors": f"{count(found.unembedded, 'text')} without: holdfast model embed" if found.unembedded else "",
        "to publish": _to_publish(found),
        "recordings": f"{count(found.private_runs, 'run')}, {'more than ' if found.private_more else ''}"
        f"{size(found.private_bytes)}, only in this clone (backup: holdfast export FILE)",
    }
    told = [f"  {name:10}  {text}" for name, text in rows.items() if text]
    return lines(f"On {branch}{at}", told, _warnings(found))


def _to_publish(found: Status) -> str:
    changed = f"{count(len(found.changes_waiting), 'change')} of memories and tasks"
    logged = count(found.events_waiting, "event") + " of the log"
    return ", ".join([*([changed] if found.changes_waiting else []), *([logged] if found.events_waiting else [])])


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

    if found.operation:
        yield f"Git is in the middle of {found.operation}: publish when it ends."
    if found.disputed:
        yield f"{count(found.disputed, 'task', 'are')} in conflict: holdfast task resolve"
    if found.gone:
        are = "is" if found.gone == 1 else "are"
        yield f"{count(found.gone, 'file')} published here {are} missing on this branch: holdfast reconcile"
    if found.orphans:
        branches = [name for name in found.orphans if not name.startswith(DETACHED_NAME)]
        detached = dict.fromkeys(name for name in found.orphans if name.startswith(DETACHED_NAME))
        deleted = f"deleted branch{'es' if len(branches) > 1 else ''} {', '.join(branches)}"
        said = " and ".join([*([deleted] if branches else []), *detached])
        yield f"{said[:1].upper()}{said[1:]} has unpublished work: holdfast reconcile"
    if found.trunk:
        yield f"{MissingFromTrunk(found.unmerged, found.trunk)}."
    if found.pointers_waiting:
        yield f"{count(found.agent_sessions_waiting, 'agent session', 'are')} not imported yet."
    for path in found.transcripts_gone:
        yield f"An agent's transcript was deleted before it was imported: {path}"
    for path in found.transcripts_unread:
        yield f"An agent's transcript cannot be read: {path}"
    if found.void:
        yield f"Memories that came by git are not shown to agents: {found.void}. Trust it again: holdfast trust"
    elif found.elsewhere:
        way = "holdfast review list --waits-as elsewhere" if found.trusts else "holdfast trust"
        are = "is" if found.elsewhere == 1 else "are"
        yield f"{count(found.elsewhere, 'memory')} came by git and {are} not shown to agents: {way}"
    if found.sandboxed:
        yield "This is a sandbox: records stay in .holdfast/local until you run a command outside it."


@command(root, "status")
@click.option("--badge", is_flag=True, help="Only the number of candidates, for a shell prompt.")
def status(place: Invocation, badge: bool) -> None:
    """Show the branch, what waits for review, and what is unpublished."""
    with place.project() as project:
        found = project.health.status()
        show(found, _badge if badge else status_text)
        # Kept for the quick path, unless there is something to say beside it or a variable changes it.
        if project.seen and project.seen.settled and not project.notices and quick.is_plain(os.environ):
            signature = quick.status_signature(project.seen.value, os.environ)
            text, data = as_kept(status_text(found)), as_json(found)
            answers = {"status": (text, data), "badge": (as_text(_badge(found)), "")}
            project.context.keep_ready(answers, signature=signature)


def _badge(found: Status) -> str:
    return badge(found.candidates)
