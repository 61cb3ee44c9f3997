"""`holdfast start`: everything at once, shown first and asked once.

What `holdfast start` says.
"""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from holdfast.errors import HoldfastError, NeedsConfirmation
from holdfast.interfaces.cli.invocation import INTERRUPTED, Invocation, command, confirm, on_a_terminal, progress_bar
from holdfast.interfaces.cli.output import as_plain, flush, picked, say, show, wants_json
from holdfast.interfaces.cli.phrases import ago, count, lines, size
from holdfast.interfaces.cli.root import root
from holdfast.interfaces.cli.try_commands import import_others
from holdfast.model.transcript import AGENTS
from holdfast.values import frozen, mutable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from holdfast.curation.review_queue import QueueItem
    from holdfast.project import Project
    from holdfast.project.first_look.agent_records import AgentHistory
    from holdfast.project.first_look.start_plan import StartPlan
    from holdfast.project.recaller import Explained
    from holdfast.project.transcript_import import Brought


@frozen(kw_only=True)
class StartResult:
    """What a start came to, and what to look at first."""

    top: str
    done: tuple[str, ...]
    failed: tuple[str, ...]
    best: tuple[QueueItem, ...]
    first: int  # how many candidates `review list` shows
    below: Mapping[str, int]  # how many it only counts, by why
    why: Explained | None
    agents: tuple[tuple[str, str], ...]  # agents that ask something of their user, and what
    has_agents: bool = True  # whether any agent is connected
    kept_by: tuple[str, ...] = ()  # other tools that kept sessions here, none of which may be imported yet


@mutable
class _Doing:
    """What was done so far, for whoever interrupts it."""

    done: list[str]
    failed: list[str]
    now: str = ""

    def step(self, words: str, act: Callable[[], object]) -> None:
        """One step; where it fails, the others are done all the same."""
        self.now = words
        try:
            said = act()
        except HoldfastError as error:
            self.failed.append(f"{words}: {error}" + (f". {error.hint}" if error.hint else ""))
        else:
            self.done.append(said if isinstance(said, str) else words)
            if not wants_json():
                say(f"  {self.done[-1]}")
        self.now = ""


def plan_text(plan: StartPlan) -> str:
    """What there is, and what would be done."""
    steps = [f"  {number}. {row}" for number, row in enumerate(_steps(plan), 1)]
    out = "Nothing leaves this machine. A memory becomes a rule for agents only when you approve it.\n"
    out += "Undo everything with: holdfast uninstall"
    return lines(
        f"Holdfast in {plan.top}",
        "",
        f"Agents on this machine: {_named(plan.agents) or 'none that Holdfast knows'}",
        _sessions(plan),
        _there(plan),
        [f"Left out: {sentence}" for sentence in plan.cannot],
        ["", "To do:", *steps, "", out] if steps else [],
    )


def _sessions(plan: StartPlan) -> str:
    if plan.git_init:
        return "Not a git repository yet: their sessions are looked for once it is one"
    if not plan.history:
        return "Their sessions in this repository: none, so its documents and git's log are read"
    said = [f"{one.sessions:,} of {AGENTS[one.agent]}{_since(one)}" for one in plan.history]
    return f"Their sessions in this repository: {', '.join(said)}"


def _sessions_of(one: AgentHistory, number: int) -> str:
    return f"{count(number, 'session')} of {AGENTS[one.agent]}"


def _since(one: AgentHistory) -> str:
    return f" (the first {ago(one.oldest)})" if one.oldest else ""


def _there(plan: StartPlan) -> list[str]:
    """What is done already, where anything is."""
    if plan.git_init or plan.setup:
        return []
    missing = {name for name, _ in plan.connect}
    imported = [one for one in plan.history if one.sessions > one.new]
    said = ["set up"]
    said += [] if plan.hooks or any(one.startswith("git's hooks") for one in plan.cannot) else ["git's hooks"]
    said += [f"{AGENTS[name]} connected" for name in plan.agents if name not in missing]
    said += [f"{one.sessions - one.new:,} of {_sessions_of(one, one.sessions)} imported" for one in imported]
    return [f"Done already: {', '.join(said)}"]


def _steps(plan: StartPlan) -> Iterator[str]:
    """What is to be done, a row each."""
    if plan.git_init:
        yield "make this folder a git repository (git init)"
    if plan.git_init or plan.setup:
        yield "set up Holdfast: .holdfast/ in the work tree, which you may commit, and a private store in .git"
    if plan.git_init or plan.hooks:
        yield "install git hooks that record commits, merges and switches; they never block git"
    named: set[str] = set()  # what several agents share is named once
    for name, files in plan.connect:
        yield f"connect {AGENTS[name]}: {', '.join(one for one in files if one not in named) or 'no further files'}"
        named.update(files)
    if plan.git_init and plan.agents:
        yield f"connect {_named(plan.agents)}, and import their sessions in this folder"
    for one in plan.new:
        yield f"import {_sessions_of(one, one.new)} ({size(one.size)})"
    if plan.documents:
        yield "propose memories from its documents, notes and commits"


def _named(names: Sequence[str]) -> str:
    return ", ".join(AGENTS[name] for name in names)


def result_text(found: StartResult) -> str:
    """What was found, one line explained, and what to do next."""
    return lines(
        "",
        "Holdfast is set up here." if not found.failed else "Not all of it was done:",
        [f"  {sentence}" for sentence in found.failed],
        _worth(found),
        _explained(found),
        ["", "Next:", *(f"  {row}" for row in _next(found))],
    )


def _worth(found: StartResult) -> list[str]:
    from holdfast.interfaces.cli import review_commands

    below = f"{review_commands.put_off_text(found.below)}: {review_commands.ALL}" if found.below else ""
    if not found.best:
        return ["", f"No candidate waits that is likely and worded to be kept. {below}".rstrip()]
    of = f" ({len(found.best)} of {found.first:,} candidates)" if found.first > len(found.best) else ""
    said = ["", f"Review these first{of}:"]
    for item in found.best:
        said += ["", *review_commands.grounds(item)]
    return [*said, *(["", below] if below else [])]


def _explained(found: StartResult) -> list[str]:
    if found.why is None:
        return []
    from holdfast.interfaces.cli.why_commands import answers

    told = found.why.why
    return ["", f"$ holdfast why {told.path}:{told.first}", *(f"  {row}" for row in answers(told))]


def _next(found: StartResult) -> list[str]:
    first = found.best[0].id if found.best else ""
    said = [f"holdfast review (one of them: holdfast review accept {first})"] if first else []
    said += [f"{one} (sessions that another tool kept here)" for one in import_others(found.kept_by)]
    said += [f"{AGENTS[name]}: {step}" for name, step in found.agents]
    if not found.has_agents:
        said += ["No agent is connected. Once one is installed: holdfast start"]
    return said or [
        "Work as before: agents are shown what you approve when they start, and their sessions are recorded."
    ]


def result_object(found: StartResult) -> dict[str, Any]:
    """The same as an object."""
    told = found.why.why if found.why else None
    return {
        **picked(found, "top", "done", "failed", "first", "below"),
        "waiting": found.first + sum(found.below.values()),
        "best": [
            {**picked(one.standing.memory, "id", "type", "statement"), "reason": one.reason} for one in found.best
        ],
        "why": picked(told, "path", "first", "last", "answers") if told else None,
        "next": [{"agent": name, "step": step} for name, step in found.agents],
        "kept_by": list(found.kept_by),
    }


def plan_object(plan: StartPlan) -> dict[str, Any]:
    connect = [{"agent": name, "files": files} for name, files in plan.connect]
    return {**as_plain(plan), "connect": as_plain(connect), "steps": [*_steps(plan)]}


@command(root, "start")
@click.option("--yes", is_flag=True, help="Do not ask.")
def start(place: Invocation, yes: bool) -> int:
    """Set up this repository, connect your agents, import their history.

    Finds the agents on this machine, shows what it will do, and asks once. Then it sets up the repository,
    installs git hooks, connects the agents and imports their sessions. If it is interrupted, run it again.
    Without a terminal it needs --yes.
    """
    plan = _look(place)
    if not (yes and wants_json()):
        show(plan, plan_text, plan_object, asks=True)
        flush()
    if not plan.is_empty and not yes and not on_a_terminal():
        raise NeedsConfirmation("nothing was done: this has to be confirmed", hint="Do it with: holdfast start --yes")
    if not plan.is_empty:
        confirm("Go on?", yes=yes)
    doing = _Doing([], [])
    with _interruptible(doing):
        _carry_out(place, plan, doing)
        with place.project() as project:
            found = _result(project, doing, is_new=plan.git_init or plan.setup)
    show(found, result_text, result_object, asks=True)  # no pager: what comes next stands at its end
    return int(bool(found.failed))


def _look(place: Invocation) -> StartPlan:
    from holdfast.project.first_look import start_plan

    with progress_bar("Looking for agents' sessions") as progress:
        tell = (lambda _: None) if wants_json() else say
        return start_plan.look(place.folder, environ=os.environ, progress=progress or (lambda *_: None), tell=tell)


@contextmanager
def _interruptible(doing: _Doing) -> Iterator[None]:
    """Say what was done if somebody interrupts or ends it; whatever that was is whole, and is not done again."""
    before = {}
    with suppress(ValueError):  # not in the main thread
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) == signal.SIG_DFL:
                before[number] = signal.signal(number, signal.default_int_handler)
    try:
        yield
    except (KeyboardInterrupt, click.Abort):
        say("")
        say(f"Interrupted at this step: {doing.now or 'show what was found'}")
        say(f"Done before: {'; '.join(doing.done) or 'nothing'}")
        say("What is done stays. Continue with: holdfast start")
        raise click.exceptions.Exit(INTERRUPTED) from None  # all is said
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _carry_out(place: Invocation, plan: StartPlan, doing: _Doing) -> None:
    """The steps of a plan, in its order."""
    from holdfast.project import Project

    if plan.git_init or plan.setup:
        doing.step("set Holdfast up", lambda: _set_up(Project, place, git=plan.git_init))
        if doing.failed:
            return
    if plan.git_init:
        plan = _look(place)
    if plan.is_empty:
        return
    with place.project() as project:
        from holdfast.project.first_look import start_plan

        if plan.hooks:
            doing.step("install git's hooks", lambda: _hooks(project))
        for name, _ in plan.connect:
            doing.step(f"connect {AGENTS[name]}", partial(_connect, project, name))
        for one in plan.new:
            doing.step(f"import {_sessions_of(one, one.new)}", partial(_import, project, one))
        if plan.documents:
            doing.step("read documents and commits", lambda: start_plan.read_documents(project, place.folder))


def _set_up(project: type[Project], place: Invocation, *, git: bool) -> str:
    made = project.init(place.folder, git=git, environ=os.environ)
    return f"set up: {', '.join(made.wrote) or 'the private store'}"


def _hooks(project: Project) -> str:
    return f"installed {count(len(project.sync.install_hooks().hooks), 'git hook')}"


def _connect(project: Project, name: str) -> str:
    done = project.clients.connect([name])
    return f"connected {AGENTS[name]}: {count(len(done.changed), 'file')} written"


def _import(project: Project, one: AgentHistory) -> str:
    if not wants_json():
        say(f"  importing {_sessions_of(one, one.new)} …")
    with progress_bar("  Reading transcripts") as progress:
        done: Brought = project.transcripts.import_agent(one.agent, progress=progress)
    said = f"imported {count(len(done.runs), 'run')} of {AGENTS[one.agent]} with {count(done.turns, 'turn')}"
    said += f", {count(len(done.proposed), 'candidate')}"
    more = f"; {count(len(done.skipped), 'transcript')} skipped: holdfast import {one.agent} says why"
    return said + (more if done.skipped else "")


def _result(project: Project, doing: _Doing, *, is_new: bool) -> StartResult:
    from holdfast.curation.review_queue import worth_reading
    from holdfast.interfaces.cli.review_commands import put_off_counts
    from holdfast.project.first_look import repository_records, start_plan

    if doing.done and not wants_json():
        say("  choosing candidates to show …")
    waiting = [item for item in project.memory.queue().items if item.reason == "proposed"]
    first = worth_reading(waiting)
    connected = [one for one in project.clients.tools() if one.connected]
    tools = [(one.tool, one.next_step) for one in connected if one.next_step]
    return StartResult(
        top=project.clone.repo.top,
        done=tuple(doing.done),
        failed=tuple(doing.failed),
        best=tuple(start_plan.worth_reviewing(first)),
        first=len(first),
        below=put_off_counts([item for item in waiting if item not in first]),
        why=start_plan.a_line_explained(project),
        agents=tuple((name, step) for name, step in tools if step),
        has_agents=bool(connected),
        kept_by=repository_records.kept_by_others(project.clone.repo) if is_new else (),
    )
