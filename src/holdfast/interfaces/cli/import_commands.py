"""Commands that bring in what agents did before: import codex, claude and the others.

What an import of transcripts says, in words and as an object.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

import click

from holdfast.errors import BadInput
from holdfast.interfaces.cli.invocation import Invocation, command, progress_bar
from holdfast.interfaces.cli.output import show
from holdfast.interfaces.cli.phrases import count, lines
from holdfast.interfaces.cli.setup_commands import importing
from holdfast.model.transcript import AGENTS

if TYPE_CHECKING:
    from holdfast.project.transcript_import import Brought

SHOWN = 12  # skipped files, and kinds of unknown records, that are named; the rest is counted


def brought(done: Brought) -> str:
    where = "holdfast session list" if done.foreign < done.sessions else "holdfast log"
    after = ["", f"See what happened with: {where}"] if done.runs else []
    after = ["", "Review them with: holdfast review"] if done.proposed else after
    return lines(_first(done), _more(done), _passed_over(done), after)


def _first(done: Brought) -> str:
    if not done.files:
        return f"There are no transcripts in {done.folder}"
    if not done.sessions:
        return f"Imported none of {count(done.files, 'transcript')} in {done.folder}"
    what = f"{count(done.sessions - done.subagents, 'session')} of {AGENTS.get(done.agent, done.agent)}"
    what += f" and {count(done.subagents, 'sub-agent')}" if done.subagents else ""
    if not done.runs:
        return f"Nothing new in {what}"
    return f"Imported {count(len(done.runs), 'run')} with {count(done.turns, 'turn')}, from {what}"


def _more(done: Brought) -> list[str]:
    found = []
    if done.foreign:
        theirs = f"{count(done.foreign, 'session')} of other repositories"
        found.append(f"{theirs}: recall finds them; nothing is proposed from them, and no work goes on there")
    if done.unanchored:
        found.append(f"{count(done.unanchored, 'run')} whose commit is not known")
    if done.copies:
        found.append(f"{count(done.copies, 'turn')} stood in another session as well and counted once")
    if done.twins:
        found.append(f"{count(done.twins, 'turn')} had been imported from another tool and counted once")
    if done.proposed or done.joined:
        joined = f", {done.joined} joined with what was known" if done.joined else ""
        found.append(f"{count(len(done.proposed), 'new candidate')}{joined}")
    return [f"  {row}" for row in found]


def _passed_over(done: Brought) -> list[str]:
    reasons = Counter(one.reason for one in done.left)
    found = [f"{count(number, 'transcript')} left alone: {reason}" for reason, number in reasons.items()]
    if done.damaged:
        found.append(f"{count(done.damaged, 'line')} could not be read")
    if done.unknown:
        kinds = sorted(done.unknown, key=lambda kind: (-done.unknown[kind], kind))
        named = ", ".join(f"{kind} ({done.unknown[kind]})" for kind in kinds[:SHOWN])
        rest = f" and {len(kinds) - SHOWN} more kinds" if len(kinds) > SHOWN else ""
        found.append(f"{count(sum(done.unknown.values()), 'record')} of an unknown kind: {named}{rest}")
    found += [f"read only in part {one.path}: {one.reason}" for one in done.partly[:SHOWN]]
    for one in done.skipped[:SHOWN]:  # a sentence that begins with its name needs it no second time
        name = "" if one.reason.startswith(one.path) else f" {one.path}"
        found.append(f"skipped{name}: {one.reason}")
    if len(done.skipped) > SHOWN:
        found.append(f"and {len(done.skipped) - SHOWN} more files skipped")
    return [f"  {row}" for row in found]


def _add(agent: str, called: str) -> None:
    """Hang the command of one agent on `import`."""

    @click.argument("path", required=False, type=click.Path())
    @click.option("--since", metavar="WHEN", help="Only sessions written to since: 2026-10-01, or 30d ago.")
    @click.option("--this", is_flag=True, help="Only sessions of this repository; the default.")
    @click.option("--all-projects", is_flag=True, help="Sessions of all repositories.")
    def bring(place: Invocation, path: str | None, since: str | None, this: bool, all_projects: bool) -> None:
        if this and all_projects:
            raise BadInput("--this and --all-projects contradict each other", hint="Give one of them.")
        where = None if path is None else os.path.abspath(os.path.join(place.folder, path))
        with place.project() as project, progress_bar("Reading transcripts") as progress:
            done = project.transcripts.import_agent(
                agent, where, since=since, everywhere=all_projects, progress=progress
            )
        show(done, brought)

    bring.__doc__ = f"""Import what {called} did in this repository, from its own transcripts.

    PATH is a transcript or a folder of them; if not given, {called}'s own folder. Each session becomes a run
    with its cycles; what was decided waits in `holdfast review`. Running it again adds only what is new.
    """
    command(importing, agent)(bring)


for _name, _called in AGENTS.items():
    _add(_name, _called)


@command(importing, "specstory")
@click.argument("path", required=False, type=click.Path())
def import_specstory(place: Invocation, path: str | None) -> None:
    """Import the conversations that SpecStory wrote as Markdown.

    PATH is a file or a folder; if not given, .specstory/history of this repository.
    """
    where = None if path is None else os.path.abspath(os.path.join(place.folder, path))
    with place.project() as project, progress_bar("Reading conversations") as progress:
        done = project.transcripts.import_specstory(where, progress=progress)
    show(done, brought)


@command(importing, "entire")
def import_entire(place: Invocation) -> None:
    """Import the sessions that Entire kept, with their commits.

    Reads the branch entire/checkpoints/v1, local or last fetched, and the refs below refs/entire/checkpoints. A
    session is linked to the commits whose trailer Entire-Checkpoint names one of its checkpoints.
    """
    with place.project() as project, progress_bar("Reading checkpoints") as progress:
        done = project.transcripts.import_entire(progress=progress)
    show(done, brought)
