"""`holdfast try`: a look at what a repository's last days hold, before anything is set up.

What `holdfast try` says.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from holdfast.interfaces.cli.invocation import Invocation, command, confirm, on_a_terminal
from holdfast.interfaces.cli.output import as_plain, flush, say, show, strong, wants_json
from holdfast.interfaces.cli.phrases import count, lines, short, table, wording
from holdfast.interfaces.cli.root import root
from holdfast.model.transcript import AGENTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.project.first_look import Tried, agent_records, candidate_support

KEYS = "Press r to set up Holdfast and review these, any other key to leave."
_FAR = 3650  # days, as far back as one can look


def tried(found: Tried) -> str:
    """A look at a repository in words."""
    from holdfast.interfaces.cli.review_commands import ALL, put_off_text

    said = [f"The last {found.days:,} days of {found.top}: nothing is written, no model is called.", ""]
    rows = []
    for one in found.seen:
        counts = count(one.sessions, "session"), count(one.turns, "turn"), f"{count(one.files, 'file')} written"
        rows.append((AGENTS.get(one.agent, one.agent), *counts, f"newest {one.newest[:10]}" if one.newest else ""))
    said += table([*rows, ("git log", count(found.commits, "commit"), "", "", "")])
    if found.older and found.source != "documents":
        these = f"{count(found.older, 'session')} ({_older(found)})"
        said += ["", f"Older than {found.days:,} days: {these}. See them with: {_further(found)}"]
    if found.source == "documents":
        said += ["", *_nobody(found)]
        said += ["Its documents and commits were read instead."]
    reasons = Counter(one.reason for one in found.left)
    said += [""] if reasons else []
    said += [f"Left out, {reason}: {count(number, 'transcript')}" for reason, number in reasons.items()]
    said += ["", _headline(found)]
    for number, candidate in enumerate(found.best, 1):
        said += ["", *_candidate(number, candidate)]
    if found.below:
        said += ["", f"{put_off_text(found.below)}: {ALL}, once Holdfast is set up"]
    if found.candidates and found.known:
        said += ["", f"{found.known:,} more {_is_known(found)}."]
    if found.kept_by:
        steps = [*([] if found.initialised else ["holdfast start"]), *import_others(found.kept_by)]
        said += ["", f"Another tool kept sessions here. Import them with: {' && '.join(steps)}"]
    return lines(said, "", _next(found))


def import_others(tools: Iterable[str]) -> list[str]:
    """The commands that import what other tools kept."""
    return [f"holdfast import {name}" for name in tools]


def tried_object(found: Tried) -> dict[str, Any]:
    """The same as JSON."""
    told: dict[str, Any] = as_plain(found)
    for one, candidate in zip(told["best"], found.best, strict=True):
        one["evidence"] = candidate.holds
        one["commits"] = [{"id": commit.oid, "subject": commit.subject} for commit in candidate.commits]
    return told


def _nobody(found: Tried) -> list[str]:
    """Why there is nothing of agents: they left no records, or only older ones."""
    if not found.older:
        other = f" ({count(found.transcripts, 'transcript')} of other work)" if found.transcripts else ""
        return [f"Found no agent sessions of this repository{other}."]
    these = f"{count(found.older, 'session')} of this repository ({_older(found)})"
    return [f"Agents left {these}, all older than {found.days:,} days.", f"See them with: {_further(found)}"]


def _older(found: Tried) -> str:
    """Whose sessions are older than the days that were looked at."""
    return ", ".join(f"{one.sessions:,} of {AGENTS.get(one.agent, one.agent)}" for one in found.older_of)


def _further(found: Tried) -> str:
    """The command that looks back far enough for all sessions."""
    return f"holdfast try --days {min(found.older_days, _FAR)}"


def _headline(found: Tried) -> str:
    if not found.candidates and found.known:
        known = "1 thing" if found.known == 1 else f"all {found.known:,} things"
        return f"Nothing new in it: {known} worth remembering {_is_known(found)}."
    if not found.candidates:
        return "Found nothing certain enough to propose as a memory."
    first = found.candidates - sum(found.below.values())
    if not first:
        return "Found nothing that is both likely and worded to be kept."
    best = f"; the {len(found.best)} to review first" if first > len(found.best) else ""
    return f"{count(first, 'candidate')} for memory{best}:"


def _is_known(found: Tried) -> str:
    verb = "is" if found.known == 1 else "are"
    return f"{verb} known here, accepted, rejected or waiting: holdfast review, holdfast memories"


def _candidate(number: int, one: candidate_support.TriedCandidate) -> Iterator[str]:
    yield f"{number}. {one.kind}  {strong(one.statement)}"
    if one.words.strip() and one.words.strip().rstrip(".") != one.statement.rstrip("."):
        yield f'   "{short(" ".join(one.words.split()), 160)}"'
    if one.why:
        yield f"   because {short(one.why, 160)}"
    first, *others = one.said
    more = len({place.name for place in others} - {first.name})
    yield f"   {_place(first, one.who)}" + (f"; said in {count(more, 'more place')}" if more else "")
    yield from (f"   commit {commit.oid[:10]} {short(commit.subject, 80)}" for commit in one.commits)
    rests = "; ".join(f"{rest.path} ({rest.words})" for rest in one.rests)
    holds = wording("evidence")[one.holds]
    yield f"   {holds}: {rests}" if rests else f"   {holds}"


def _place(place: agent_records.TriedPlace, who: str) -> str:
    day = f", {place.ts[:10]}" if place.ts else ""
    if place.kind == "git":
        return f"git log{day}"
    if place.kind == "file":
        return f"{place.name}, line {place.turn}"
    by = "said by the person" if who == "user" else "said by the agent"
    return f"{by}, {place.kind} session {place.name}, turn {place.turn}{day}"


def _next(found: Tried) -> str:
    left = [one.agent for one in found.seen if one.new]
    if found.initialised and found.seen and not left:
        return "Holdfast is set up here, and all of these sessions are imported."
    tools = " && ".join(f"holdfast import {agent}" for agent in left)
    if found.candidates and not found.initialised:
        return "Keep these: holdfast start && holdfast review"
    if found.candidates and left:
        return f"Holdfast is set up here. Import these: {tools} && holdfast review"
    if found.candidates:  # `start` reads documents and commits only while nothing is known
        return "Holdfast is set up here. Keep one with: holdfast remember STATEMENT"
    if found.initialised:
        return f"Holdfast is set up here. Search these sessions: {tools}" if left else "Holdfast is set up here."
    what = "Search these sessions and record the next ones" if left or found.older else "Record the next sessions"
    return f"{what}: holdfast start"


SETTING_UP = (
    "This writes .holdfast/ into the work tree and a private store into .git, and imports these sessions. Go on?"
)


@command(root, "try")
@click.option("--days", type=click.IntRange(1, 3650), default=30, show_default=True, help="How far to look back.")
@click.pass_context
def try_(context: click.Context, place: Invocation, days: int) -> None:
    """Show what your agents' recent sessions contain; writes nothing.

    Reads the transcripts that your agents keep of this repository, and git's log. It calls no model. On a
    terminal, r then sets up Holdfast and opens the review.
    """
    from holdfast.project import Project

    found = Project.try_(place.folder, days=days, environ=os.environ)
    show(found, tried, tried_object, asks=True)
    if found.candidates and not wants_json() and on_a_terminal() and sys.stdout.isatty():
        flush()
        say(KEYS)
        if click.getchar().lower() == "r":
            _review(context, place, found)


def _review(context: click.Context, place: Invocation, found: Tried) -> None:
    """Set up if needed, import the sessions, and open the review of what they propose."""
    from holdfast.interfaces.cli.review_commands import review
    from holdfast.project import Project

    if not found.initialised:
        confirm(SETTING_UP, yes=False)
        Project.init(place.folder, environ=os.environ)
    with place.project() as project:
        for one in found.seen:
            project.transcripts.import_agent(one.agent, since=f"{found.days}d")
        if not found.seen:
            project.clients.import_memory()
    context.invoke(review)
