"""Commands of the short cache: session start, note, show, end, list, edit.

Sessions in words: started, noted, shown, ended, listed.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from holdfast.errors import HoldfastError
from holdfast.interfaces.cli.invocation import Invocation, answer, command, group, on_a_terminal, text_or_stdin
from holdfast.interfaces.cli.output import as_plain, columns, picked, show, strong, styled, wants_json
from holdfast.interfaces.cli.phrases import ago, badge, count, lines, short, table
from holdfast.interfaces.cli.root import root
from holdfast.model import brief as model_brief
from holdfast.model import session as model_session
from holdfast.values import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from holdfast.capture.session_work import DoneTaskProposal, Ending, Noted
    from holdfast.project import Project

MOST_ENDED, MOST_TURNS, MOST_FILES, MOST_ANSWERS = 10, 8, 12, 8  # a guess: one screen of 24 to 40 lines
MARKS = {"open": "◐", "ended": "●"}


@frozen
class SessionList:
    """All sessions, newest first: which is open here, and why nobody seems to go on with some."""

    sessions: tuple[model_session.Session, ...]
    here: str | None
    stale: Mapping[str, str]  # id to the reason
    everything: bool


as_object = model_session.to_object


def started(session: model_session.Session) -> str:
    return lines(
        f"{strong(session.id)}  {session.objective}",
        f"  {_place(session.started)}" + (f", for {', '.join(session.tasks)}" if session.tasks else ""),
        "",
        'Say what you do with: holdfast session note "what was done"',
    )


def changed(session: model_session.Session) -> str:
    return f"{strong(session.id)}  {session.objective}"


# A turn.


def noted(made: Noted) -> str:
    session, turn = made.session, made.turn
    if turn is None:
        return lines(f"{strong(session.id)}  noted", _left(session))
    gained = ((turn.commits, "commit"), (turn.files, "file"), (turn.commands, "command"))
    parts = ", ".join(count(len(found), word) for found, word in gained if found)
    since = [f"  {parts} since the last turn"] if parts else []
    return lines(f"{strong(session.id)}  turn {turn.n}: {short(turn.summary)}", since, _left(session))


def noted_object(made: Noted) -> dict[str, Any]:
    return {"id": made.session.id, **as_plain(made), "session": as_object(made.session)}


def _left(session: model_session.Session) -> list[str]:
    """What is open, a line each; of an ended session by the name others can close it by."""
    whose = f"{session.id}:" if session.state == "ended" else ""
    return [
        *(f"  open      {whose}{item.id}  {short(item.text)}{_for(item.task)}" for item in session.still_open),
        *(f"  asked     {whose}{one.id}  {short(one.text)}" for one in session.pending),
        *(f"  later     {whose}{item.id}  {short(item.text)}{_for(item.task)}" for item in session.still_to_follow),
    ]


def _answered(session: model_session.Session) -> list[str]:
    """What was allowed or denied, the newest last."""
    said = {"granted": "allowed", "denied": "denied "}
    there = [one for one in session.approvals if one.state in said]
    before = [f"  … {count(len(there) - MOST_ANSWERS, 'answer')} before these"]
    rows = [f"  {said[one.state]}   {one.id}  {short(one.text)}" for one in there[-MOST_ANSWERS:]]
    return [*(before if len(there) > MOST_ANSWERS else []), *rows]


def _for(task: str | None) -> str:
    return f"  ({task})" if task else ""


# One session.


def session_text(value: model_session.Session, *, width: int = 0) -> str:
    links = (
        ("by", " ".join(filter(None, (value.agent, value.agent_session)))),
        ("for", ", ".join(value.tasks)),
        ("continues", value.previous),
        ("continued in", ", ".join(value.next)),
    )
    more = len(value.files) - MOST_FILES
    files = [*([f"  … and {more:,} more"] if more > 0 else []), *(f"  {path}" for path in value.files[-MOST_FILES:])]
    return lines(
        f"{strong(value.id)}  {value.objective or 'no objective'}",
        f"  {_standing(value)}",
        [f"  {word} {said}" for word, said in links if said],
        ["", *value.summary.splitlines()] if value.summary else [],
        _turns(value, max(40, width - 8 if width else 100)),
        _titled("Decided", (f"  {short(text, 100)}" for text in value.decisions)),
        _titled("Answered", _answered(value)),
        _titled("Open", _left(value)),
        _titled("Failed when last run", (f"  {short(one.text, 90)}" for one in model_brief.failing(value.commands))),
        _titled("Files", files),
        _titled("Scratchpad", (f"  {line}" for line in value.scratchpad.splitlines())),
    )


def _standing(value: model_session.Session) -> str:
    turns, place = count(value.count, "turn"), _place(model_session.now_at(value, value.updated))
    if value.ended is not None:
        how = f" ({value.ended_by})" if value.ended_by not in (None, "ended") else ""
        return f"ended {_when(value.ended)}{how}, begun {_when(value.started)}, {turns}, {place}"
    return f"open {place}, {turns}, begun {_when(value.started)}, updated {_when(value.updated)}"


def _turns(value: model_session.Session, width: int) -> list[str]:
    shown = value.turns[-MOST_TURNS:]
    before = value.count - len(shown)
    told = value.condensed.text.splitlines() if value.condensed and len(shown) == len(value.turns) else []
    made = [f"  [{' '.join(oid[:10] for oid in turn.commits[-3:])}]" if turn.commits else "" for turn in shown]
    rows = [f"  {turn.n}. {short(turn.summary, width)}{oids}" for turn, oids in zip(shown, made, strict=True)]
    earlier = [f"  {short(line, width)}" for line in told]
    if before and not told:
        earlier = [f"  … {count(before, 'turn')} before these"]
    return _titled("Turns", [*earlier, *rows])


def _titled(title: str, rows: Iterable[str]) -> list[str]:
    there = list(rows)
    return ["", title, *there] if there else []


# The end.


def ended_text(ending: Ending, finished: Sequence[str]) -> str:
    session, left = ending.session, _left(ending.session)
    made = f"{count(len(ending.commits), 'commit')}, {count(len(ending.files), 'file')}"
    made = f"{made}, {count(ending.insertions, 'line')} added, {ending.deletions:,} removed"
    return lines(
        f"{strong(session.id)}  ended: {short(session.summary or session.objective) or 'no summary'}",
        f"  {made if ending.commits else 'no commits'}",
        [f"  not committed: {short(' '.join(ending.uncommitted))}"] if ending.uncommitted else [],
        ["", "Still open:", *left] if left else [],
        ["", f"Finished: {', '.join(finished)}"] if finished else [],
        _proposed([one for one in ending.proposals if one.task not in finished]),
    )


def _proposed(proposals: list[DoneTaskProposal]) -> list[str]:
    if not proposals:
        return []
    rows = table([(one.task, short(one.title, 48), count(len(one.commits), "commit"), one.why) for one in proposals])
    first = proposals[0]
    cited = " ".join(f"--evidence commit:{oid[:12]}" for oid in first.commits[-2:])
    return ["", "These tasks may be done:", *rows, "", f"Finish one with: holdfast task done {first.task} {cited}"]


def question(proposal: DoneTaskProposal) -> str:
    return f"Is {proposal.task} done? {short(proposal.title, 60)} ({count(len(proposal.commits), 'commit')})"


def ended_object(ending: Ending, finished: Sequence[str]) -> dict[str, Any]:
    session = as_object(ending.session)
    return {"id": session["id"], **as_plain(ending), "session": session, "done": finished}


# All of them.


def listed_text(found: SessionList) -> str:
    opened = [one for one in found.sessions if one.state == "open"]
    over = [one for one in found.sessions if one.state == "ended"]
    shown = over if found.everything else over[:MOST_ENDED]
    if not found.sessions:
        return lines("There is no session yet.", "", 'Start one with: holdfast session start "what for"')
    hidden = len(over) - len(shown)
    stale = [(name, why) for name, why in found.stale.items() if name != found.here]
    return lines(
        f"{count(len(opened), 'session')} open, {len(over):,} ended.",
        "",
        table([_row(one, here=found.here) for one in [*opened, *shown]]),
        [f"  … and {hidden:,} more ended, with --all"] if hidden else [],
        _titled("Open for a long time:", table(stale)),
        ["", f"End one with: holdfast session end {stale[0][0]}"] if stale else [],
    )


def _row(one: model_session.Session, *, here: str | None) -> tuple[str, ...]:
    left = len(one.still_open) + len(one.still_to_follow) + len(one.pending)
    return (
        styled(MARKS[one.state], "warn" if one.state == "open" else "good"),
        strong(one.id),
        short(one.objective or one.summary or "no objective", 44),
        short(one.updated.place.removeprefix("a "), 28) + (" (here)" if one.id == here else ""),
        count(one.count, "turn"),
        f"{left} open" if left else "",
        _when(one.updated),
    )


def listed_object(found: SessionList) -> list[dict[str, Any]]:
    return [
        {
            **picked(one, "id", "state", "objective", "worktree", "line", "tasks", "previous"),
            **picked(one.updated, "branch", "commit"),
            "started": one.started.ts,
            "updated": one.updated.ts,
            "turns": one.count,
            "open": len(one.still_open),
            "follow_ups": len(one.still_to_follow),
            "pending": len(one.pending),
            "here": one.id == found.here,
            "stale": found.stale.get(one.id),
        }
        for one in found.sessions
    ]


def _place(anchor: model_session.SessionAnchor) -> str:
    where = f"on {anchor.place}"
    return f"{where} at {anchor.commit[:12]}" if anchor.commit else where


def _when(anchor: model_session.SessionAnchor) -> str:
    return ago(anchor.ts)


RUN = "HOLDFAST_RUN_ID"  # a note made inside `holdfast run` tells of that run


@group(root, "session", "list")
def session() -> None:
    """Show sessions; start, note or end one."""


@command(session, "start")
@click.argument("objective")
@click.option("--task", "tasks", multiple=True, metavar="ID", help="A task it works on.")
@click.option("--agent", metavar="NAME", help="Who works: codex, claude, a person.")
@click.option("--agent-session", metavar="ID", help="The agent's own name for its session.")
@click.option("--again", is_flag=True, help="First end the session that is open here.")
def start(place: Invocation, objective: str, **given: Any) -> None:
    """Begin a session on this branch.

    OBJECTIVE is a sentence; - reads it from stdin.
    """
    with place.project() as project:
        show(project.sessions.start(text_or_stdin(objective), **given), started, as_object)
        if waiting := badge(project.memory.waiting()):
            project.notices.append(waiting)


@command(session, "note")
@click.argument("summary", required=False, default="")
@click.option("--open", multiple=True, metavar="TEXT", help="Add an open item: something left to do.")
@click.option("--close", multiple=True, metavar="ID", help="Close an open item or follow-up: o1, SES-x:f2.")
@click.option("--follow-up", "follow_ups", multiple=True, metavar="TEXT", help="Add a follow-up: something for later.")
@click.option("--ask", "approvals", multiple=True, metavar="TEXT", help="Add a question that needs a yes.")
@click.option("--granted", multiple=True, metavar="ID", help="The question that was answered with yes: a1.")
@click.option("--denied", multiple=True, metavar="ID", help="The question that was answered with no: a1.")
@click.option("--decided", "decisions", multiple=True, metavar="TEXT", help="A decision that was made.")
@click.option("--ran", multiple=True, metavar="COMMAND", help="A command that succeeded.")
@click.option("--failed", multiple=True, metavar="COMMAND", help="A command that failed.")
@click.option("--file", "files", multiple=True, metavar="PATH", help="A changed file; default: found by git.")
@click.option("--scratchpad", metavar="TEXT", help="Replace the scratchpad; - reads stdin.")
@click.option("--task", metavar="ID", help="The task you worked on.")
@click.option("--run", metavar="ID", help="The recorded run that the note is about.")
@click.option("--session", metavar="ID", help="Which session; default: the open one here.")
def note(place: Invocation, summary: str, **given: Any) -> None:
    """Note what was done.

    It finds the commits and files since the last note. SUMMARY may be - to read stdin, or left out to change
    only open items. If no session is open here, it starts one.
    """
    ended = ((0, given.pop("ran")), (1, given.pop("failed")))
    given["commands"] = [{"text": text, "exit_status": code} for code, texts in ended for text in texts]
    given["run"] = given["run"] or os.environ.get(RUN)
    if given["scratchpad"] is not None:
        given["scratchpad"] = text_or_stdin(given["scratchpad"])
    with place.project() as project:
        show(project.sessions.note(text_or_stdin(summary), **given), noted, noted_object)


@command(session, "show")
@click.argument("name", metavar="[ID]", required=False)
@click.option("--brief", is_flag=True, help="As text for an agent, within the budget.")
@click.option("--budget", type=click.IntRange(100, 1_000_000), help="Tokens for --brief; default: a setting.")
def shown(place: Invocation, name: str | None, *, brief: bool, budget: int | None) -> None:
    """Show a session: the open one here, or the last of this branch."""
    with place.project() as project:
        found = project.sessions.show(name)
        if brief or budget:
            tokens = budget or project.settings.number("session.budget")
            told = model_brief.brief(found, budget=tokens, named=found.state == "ended")
            show(told, lambda told: told.text, lambda told: {"id": found.id, **as_plain(told)})
        else:
            show(found, lambda value: session_text(value, width=columns()), as_object)


@command(session, "end")
@click.argument("name", metavar="[ID]", required=False)
@click.option("--summary", metavar="TEXT", help="The result in a sentence; - reads stdin.")
@click.option("--done", multiple=True, metavar="TASK", help="Finish this task, with the session's commits as evidence.")
def end(place: Invocation, name: str | None, *, summary: str | None, done: tuple[str, ...]) -> None:
    """End a session, and show its commits and files.

    Lists started tasks that its commits may have finished; use --done to finish them.
    """
    with place.project() as project:
        said = text_or_stdin(summary) if summary is not None else None
        ending = project.sessions.end(session=name, summary=said, reason="ended")
        finished, refused = _finish(project, ending, done)
        show(ending, partial(ended_text, finished=finished), partial(ended_object, finished=finished))
        if refused is not None:
            raise refused


def _finish(project: Project, ending: Ending, names: tuple[str, ...]) -> tuple[list[str], HoldfastError | None]:
    """Finish the tasks somebody named or says yes to; the first refusal is raised after all are done."""
    from holdfast.model.ids import pick

    finished: list[str] = []
    refused: HoldfastError | None = None
    known = {proposal.task: proposal for proposal in ending.proposals}
    try:
        chosen = [pick(name, project.tasks.board().placed) for name in names]
    except HoldfastError as error:
        return [], error
    for task in dict.fromkeys([*chosen, *_agreed(ending, chosen)]):
        commits = known[task].commits if task in known else ending.commits
        try:
            project.tasks.done(task, evidence=[f"commit:{oid}" for oid in commits])
            finished.append(task)
        except HoldfastError as error:
            refused = refused or error
    return finished, refused


def _agreed(ending: Ending, chosen: list[str]) -> list[str]:
    """The proposals a person says yes to, asked one by one; nobody is asked where nobody can answer."""
    if not on_a_terminal() or wants_json():
        return []
    asked = [one for one in ending.proposals if one.task not in chosen]
    return [one.task for one in asked if click.confirm(question(one), default=False, err=True)]


@answer(session, "list", listed_text, listed_object)
@click.option("--all", "everything", is_flag=True, help="Also show older ended sessions.")
def listed(project: Project, everything: bool) -> object:
    """List the sessions of this clone, newest first."""
    there = sorted(project.sessions.all(), key=lambda one: (one.updated.ts, one.id), reverse=True)
    stale = {one.session.id: one.why for one in project.sessions.stale()}
    return SessionList(tuple(there), project.sessions.current_id(), stale, everything)


@answer(session, "edit", changed, as_object)
@click.argument("name", metavar="ID")
@click.option("--objective", metavar="TEXT", help="The new objective.")
@click.option("--summary", metavar="TEXT", help="The result in a sentence; - reads stdin.")
@click.option("--scratchpad", metavar="TEXT", help="The new scratchpad; - reads stdin.")
def edit(project: Project, name: str, **given: str | None) -> object:
    """Change the objective, summary or scratchpad of a session."""
    fields = {field: text_or_stdin(text) for field, text in given.items() if text is not None}
    return project.sessions.edit(name, **fields)
