"""Commands of the short cache: session start, note, show, end, list, edit."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from holdfast.errors import BadInput, HoldfastError
from holdfast.interfaces.cli import sessions_words as words
from holdfast.interfaces.cli.command import as_json, command
from holdfast.interfaces.cli.output import columns, show, wants_json
from holdfast.interfaces.cli.place import Place, on_a_terminal
from holdfast.interfaces.cli.root import root
from holdfast.interfaces.cli.words import badge
from holdfast.model.session import MAX_SCRATCHPAD

if TYPE_CHECKING:
    from holdfast.capture.session import Ending
    from holdfast.project import Project

RUN = "HOLDFAST_RUN_ID"  # a note made inside `holdfast run` tells of that run


@root.group("session", invoke_without_command=True)
@as_json
@click.pass_context
def session(context: click.Context) -> None:
    """What is going on: turns, what is open, what waits for a yes."""
    if context.invoked_subcommand is None:
        context.invoke(listed)


@command(session, "start")
@click.argument("objective")
@click.option("--task", "tasks", multiple=True, metavar="ID", help="A task it works on.")
@click.option("--agent", metavar="NAME", help="Who works: codex, claude, a person.")
@click.option("--agent-session", metavar="ID", help="The agent's own name for its session.")
@click.option("--again", is_flag=True, help="End the session that is open here first.")
def start(place: Place, objective: str, **given: Any) -> None:
    """Begin a session on this branch.

    OBJECTIVE says in a sentence what for; - reads it from stdin.
    """
    with place.project() as project:
        show(project.session_start(_text(objective), **given), words.started, words.as_object)
        if waiting := badge(project.waiting()):
            project.notices.append(waiting)


@command(session, "note")
@click.argument("summary", required=False, default="")
@click.option("--open", "open_", multiple=True, metavar="TEXT", help="Something that is left to do.")
@click.option("--close", multiple=True, metavar="ID", help="An open item or follow-up that is settled: o1, SES-x:f2.")
@click.option("--follow-up", "follow_ups", multiple=True, metavar="TEXT", help="Something for later.")
@click.option("--ask", "approvals", multiple=True, metavar="TEXT", help="Something that needs a yes.")
@click.option("--granted", multiple=True, metavar="ID", help="What was asked for and is allowed: a1.")
@click.option("--denied", multiple=True, metavar="ID", help="What was asked for and is not: a1.")
@click.option("--decided", "decisions", multiple=True, metavar="TEXT", help="Something that was decided.")
@click.option("--ran", multiple=True, metavar="COMMAND", help="A command that went well.")
@click.option("--failed", multiple=True, metavar="COMMAND", help="A command that failed.")
@click.option("--file", "files", multiple=True, metavar="PATH", help="A file it is about; found if not given.")
@click.option("--scratchpad", metavar="TEXT", help="Replace the scratchpad; - reads stdin.")
@click.option("--task", metavar="ID", help="The task this turn was for.")
@click.option("--run", metavar="ID", help="The recorded run this turn tells of.")
@click.option("--session", "name", metavar="ID", help="Which session; the open one here if not given.")
def note(
    place: Place,
    summary: str,
    *,
    open_: tuple[str, ...],
    ran: tuple[str, ...],
    failed: tuple[str, ...],
    scratchpad: str | None,
    run: str | None,
    name: str | None,
    **given: Any,
) -> None:
    """Say what a turn did.

    The commits and files since the last turn are found. Without SUMMARY only what is open changes;
    - reads it from stdin. A session is started if none is open here.
    """
    commands = [{"text": text, "exit_status": code} for code, texts in ((0, ran), (1, failed)) for text in texts]
    with place.project() as project:
        made = project.session_note(
            _text(summary),
            session=name,
            open=open_,
            commands=commands,
            scratchpad=_text(scratchpad) if scratchpad is not None else None,
            run=run or os.environ.get(RUN),
            **given,
        )
        show(made, words.noted, words.noted_object)


@command(session, "show")
@click.argument("name", metavar="[ID]", required=False)
@click.option("--brief", is_flag=True, help="As text for an agent, within the budget.")
@click.option("--budget", type=click.IntRange(100, 1_000_000), help="Tokens for --brief; a setting if not given.")
def shown(place: Place, name: str | None, *, brief: bool, budget: int | None) -> None:
    """Show a session: the open one here, or the last of this branch."""
    with place.project() as project:
        found = project.session_show(name)
        if brief or budget:
            tokens = budget or project.settings.number("session.budget")
            show(words.in_brief(found, tokens), words.brief, words.brief_object)
        else:
            show(found, lambda value: words.session(value, width=columns()), words.as_object)


@command(session, "end")
@click.argument("name", metavar="[ID]", required=False)
@click.option("--summary", metavar="TEXT", help="What it came to; - reads stdin.")
@click.option("--done", multiple=True, metavar="TASK", help="Finish this task with the session's commits.")
def end(place: Place, name: str | None, *, summary: str | None, done: tuple[str, ...]) -> None:
    """Close a session and say what git holds of it.

    Names the started tasks its commits speak for; none is finished unless you say so.
    """
    with place.project() as project:
        ending = project.session_end(
            session=name, summary=_text(summary) if summary is not None else None, reason="ended"
        )
        finished, refused = _finish(project, ending, done)
        ended = words.Ended(ending, tuple(finished))
        show(ended, words.ended, words.ended_object)
        if refused is not None:
            raise refused


def _finish(project: Project, ending: Ending, names: tuple[str, ...]) -> tuple[list[str], HoldfastError | None]:
    """Finish the tasks somebody named or says yes to; the first refusal is kept until all is told."""
    from holdfast.model.ids import pick

    finished: list[str] = []
    refused: HoldfastError | None = None
    known = {proposal.task: proposal for proposal in ending.proposals}
    try:
        chosen = [pick(name, project.tasks().placed) for name in names]
    except HoldfastError as error:
        return [], error
    for task in dict.fromkeys([*chosen, *_agreed(ending, chosen)]):
        commits = known[task].commits if task in known else ending.commits
        try:
            project.task_done(task, evidence=[f"commit:{oid}" for oid in commits])
            finished.append(task)
        except HoldfastError as error:
            refused = refused or error
    return finished, refused


def _agreed(ending: Ending, chosen: list[str]) -> list[str]:
    """The proposals a person says yes to, asked one by one; nobody is asked where nobody can answer."""
    if not on_a_terminal() or wants_json():
        return []
    return [
        one.task
        for one in ending.proposals
        if one.task not in chosen and click.confirm(words.question(one), default=False, err=True)
    ]


@command(session, "list")
@click.option("--all", "everything", is_flag=True, help="All ended ones too, not only the last.")
def listed(place: Place, everything: bool = False) -> None:
    """List the sessions of this clone, newest first."""
    with place.project() as project:
        there = sorted(project.session_list(), key=lambda one: (one.updated.ts, one.id), reverse=True)
        stale = {one.session.id: one.why for one in project.sessions_stale()}
        found = words.Listed(tuple(there), project.session_id(), stale, everything)
        show(found, words.listed, words.listed_object)


@command(session, "edit")
@click.argument("name", metavar="ID")
@click.option("--objective", metavar="TEXT", help="What it is for.")
@click.option("--summary", metavar="TEXT", help="What it came to; - reads stdin.")
@click.option("--scratchpad", metavar="TEXT", help="Its scratchpad; - reads stdin.")
def edit(place: Place, name: str, **given: str | None) -> None:
    """Change what a session says of itself."""
    fields = {field: _text(text) if text is not None else None for field, text in given.items()}
    with place.project() as project:
        show(project.session_edit(name, **fields), words.changed, words.as_object)


def _text(given: str) -> str:
    """The text itself, or what stdin holds if it is a dash."""
    if given != "-":
        return given
    try:
        return sys.stdin.buffer.read(MAX_SCRATCHPAD * 4 + 1).decode("utf-8")
    except UnicodeDecodeError:
        raise BadInput("what stdin gave is not UTF-8 text") from None
