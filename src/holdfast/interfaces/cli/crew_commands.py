"""Commands for crews, and what they print: plan, run, status, stop, resume, explain, clean, and work for one."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from holdfast.config import limit
from holdfast.interfaces.cli.invocation import Declined, Invocation, command, confirm, group, on_a_terminal, options
from holdfast.interfaces.cli.output import say, show, strong, wants_json
from holdfast.interfaces.cli.phrases import count, lines, short, table
from holdfast.interfaces.cli.root import root
from holdfast.values import asdict

if TYPE_CHECKING:
    from holdfast.crew.crew_journal import CrewState, CrewStep
    from holdfast.crew.crew_runs import Leftover
    from holdfast.crew.historian import CrewRecap
    from holdfast.crew.merge_lane import MergeOutcome
    from holdfast.project import Project

WORKERS = 2  # a person can follow two; more are asked for
REDRAW = 1.0  # seconds between two pictures of `watch`
_ROWS = 12  # of a longer text, the last ones: a check's error is at its end
_SHOWN = 400  # characters of an input that `explain` shows; --json has all


class _Amount(click.ParamType[float]):
    """A number with a unit: 90, 30m, 2h, 500k."""

    name = "amount"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            return limit(value)
        except ValueError:
            self.fail(f"{value!r} is no number; write 90, 30m, 2h or 500k", param, ctx)


@group(root, "crew", "status")
def crew() -> None:
    """Let agents work through tasks, and check what they did."""


_bounds = options(
    click.option("--agent", metavar="AGENT", help='codex, claude, gemini, or "a command" that reads its prompt.'),
    click.option(
        "--workers",
        default=WORKERS,
        show_default=True,
        type=click.IntRange(0, 64),
        help="How many agents work at the same time.",
    ),
    click.option("--max-time", type=_Amount(), metavar="TIME", help="Stop after this time: 30m, 2h."),
    click.option("--max-tokens", type=_Amount(), metavar="N", help="Stop after this many tokens: 500k, 2M."),
    click.option("--max-calls", type=_Amount(), metavar="N", help="Stop after this many model calls."),
    click.option(
        "--approve",
        type=click.Choice(["each", "merge", "never"]),
        default="merge",
        show_default=True,
        help="When to ask: before each merge, before your branch changes, or never (it stays unchanged).",
    ),
)
_named = click.option("--run", metavar="RUN", help="Which crew; default: the newest.")


@command(crew, "run")
@click.argument("asked", nargs=-1, metavar="[GOAL | PLAN.md | TASK...]")
@_bounds
@click.option("--remote", metavar="NAME", help="Share the work with `crew work` on other machines by this git remote.")
@click.option("--dry-run", is_flag=True, help="Show the plan, the prompts and the contexts, and run nothing.")
def run_crew(place: Invocation, asked: tuple[str, ...], *, dry_run: bool, remote: str | None, **given: Any) -> int:
    """Let agents work on a goal, a plan or tasks; default: all open tasks.

    Each task gets a branch and a work tree of its own. It counts as done when its checks pass on the merged tree.
    Your branch is changed only if you say yes at the end.
    """
    from holdfast.crew import crew_runs

    with place.project() as project:
        if dry_run:
            rows = list(crew_runs.preview(project, asked, folder=place.folder))
            names = ("id", "title", "prompt")
            show(rows, preview_text, lambda found: {"items": [dict(zip(names, one, strict=True)) for one in found]})
            return 0
        agent = crew_runs.chosen_agent(project, given["agent"], workers=given["workers"])
        limits = crew_runs.limits_of(
            project, time=given["max_time"], tokens=given["max_tokens"], calls=given["max_calls"]
        )
        how = {"agent": agent, "workers": given["workers"], "limits": limits}
        run = crew_runs.begin(project, asked, folder=place.folder, remote=remote, **how)
        return _supervised(project, run, approve=given["approve"], **how)


@command(crew, "resume")
@_bounds
@_named
def resume(place: Invocation, *, run: str | None, **given: Any) -> int:
    """Resume a crew that was stopped or killed."""
    from holdfast.crew import crew_runs
    from holdfast.crew.crew_limits import OPTIONS, CrewLimits

    with place.project() as project:
        head = crew_runs.named_run(project, run, open_only=True)
        named = given["agent"] or (head["agent"] if head["agent"] in _KNOWN else None)
        agent = crew_runs.chosen_agent(project, named, workers=given["workers"])
        asked = {name: given[f"max_{name}"] for name in OPTIONS if given[f"max_{name}"] is not None}
        now = {name: value for name, value in project.settings.crew_limits.items() if name not in OPTIONS}
        limits = CrewLimits(**{**head["limits"], **now, **asked})
        return _supervised(
            project, head["run"], agent=agent, limits=limits, workers=given["workers"], approve=given["approve"]
        )


_KNOWN = ("codex", "claude", "gemini")  # agents that a journal may name: what else it says is never run


def _supervised(project: Project, run: str, *, approve: str, **given: Any) -> int:
    from holdfast.crew import crew_runs
    from holdfast.values import replace

    say(f"crew {run}: watch it with `holdfast crew watch`, stop it with Ctrl-C or `holdfast crew stop`")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    ask = _asked if approve == "each" else lambda *_: True
    try:
        done = crew_runs.supervise(project, run, **given, approve=ask, tell=_teller())
    except KeyboardInterrupt:
        crew_runs.stop(project, run)
        say(f"Stopped. Nothing is lost: holdfast crew resume --run {run}")
        return 130
    if approve != "never" and done.done and on_a_terminal() and not wants_json():
        show(done, recap_text)
        try:
            confirm(f"Merge {done.branch} into {done.base}?", yes=False)
            commit = crew_runs.merge_into(project, run)
            say(f"Merged: {done.base} is at {commit[:12]}")
        except Declined:
            say(f"Not merged. Later: git merge {done.branch}")
    else:
        show(replace(done, merged=False), recap_text, asdict)
    return 0 if not (done.failed or done.decide or done.waiting) else 1


def _asked(task: str, outcome: MergeOutcome) -> bool | None:
    """Ask a person whether a task may be merged; None where nobody can be asked."""
    if not on_a_terminal():
        return None
    checks = ", ".join(one.check for one in outcome.receipts)
    say(f"{task}: {count(len(outcome.files), 'file')}, checks passed: {checks}")
    return click.confirm(f"Merge {task} into the result?", err=True, default=True)


def _teller() -> Callable[[CrewState], None]:
    """A line on stderr for each change of a task."""
    seen: dict[str, str] = {}
    failed = 0

    def tell(state: CrewState) -> None:
        nonlocal failed
        for step in state.failures[failed:]:
            say(f"{_clock()}  failed    {step.task}: {short(str(step.body.get('why')), 200)}")
        failed = len(state.failures)
        for one in state.tasks.values():
            now = f"{one.state} {one.attempt}" if one.state != "waiting" else f"waiting {one.why}"
            if seen.get(one.task) != now:
                if one.task in seen or one.state in ("queued", "working"):
                    why = f": {short(one.why, 100)}" if one.why and one.state in ("waiting", "parked", "decide") else ""
                    say(f"{_clock()}  {_STATES.get(one.state, one.state):9} {one.task}{why}")
                seen[one.task] = now

    return tell


_STATES = {"decide": "asks you", "finished": "to merge"}


def _clock() -> str:
    return time.strftime("%H:%M:%S")


# ── what is shown ────────────────────────────────────────────────────────────────────────────────


def recap_text(found: CrewRecap) -> str:
    """Done with proof, failed and why, what needs a decision, cost, what is next."""
    parts: list[Any] = [f"Crew {strong(found.run)}{f', stopped: {found.reason}' if found.reason else ''}"]
    parts += _section("Done", found.done, _proof)
    parts += _section("Failed", found.failed, lambda row: row["why"])
    parts += _section("Needs your decision", found.decide, lambda row: row["why"])
    parts += _objections(found)
    parts += _section("Not done", found.waiting, lambda row: _STATES.get(row["state"], row["state"]) + _because(row))
    parts += ["", "Also:", *(f"  {note}" for note in found.notes)] if found.notes else []
    parts += ["", f"Used: {_used(found.used)}"]
    if found.proposed:
        parts.append(f"Proposed: {count(found.proposed, 'dead end')}; see `holdfast review list`")
    parts += ["", _next(found)]
    return lines(*parts)


def _objections(found: CrewRecap) -> list[str]:
    """What a reviewer said of what is done: for a person, before their own branch is changed."""
    if not found.objections:
        return []
    rows = (f"- {strong(task)}  {said}" for task, said in found.objections)
    return ["", f"Look at these before you merge: {len(found.objections)}", *rows]


def _because(row: Mapping[str, Any]) -> str:
    return f": {row['why']}" if row["why"] else ""


def _section(title: str, rows: Sequence[Mapping[str, Any]], said: Callable[[Mapping[str, Any]], str]) -> list[str]:
    if not rows:
        return []
    return [
        "",
        f"{title}: {len(rows)}",
        # No id begins an indented line: below a title that ends with "password" it would look like one, and be hidden.
        *(f"- {strong(row['task'])}  {short(row['title'], 60)}\n    {said(row)}" for row in rows),
    ]


def _proof(row: Mapping[str, Any]) -> str:
    checks = ", ".join(f"{one['check']} passed in {one['seconds']:.1f} s" for one in row["receipts"])
    tree = row["receipts"][0]["tree"][:8] if row["receipts"] else ""
    tries = f", at attempt {row['attempts']}" if row["attempts"] > 1 else ""
    return f"commit {row['commit'][:12]}  {checks or 'its parts are done'}{f' on tree {tree}' if tree else ''}{tries}"


def _used(used: Mapping[str, float]) -> str:
    cost = f", ${used['cost']:.2f}" if used["cost"] else ""
    tokens = (
        f"{used['tokens']:,.0f} tokens, {used['calls']:,.0f} calls{cost}"
        if used["tokens"] or used["calls"]
        else "tokens not reported"
    )
    return f"{used['seconds'] / 60:.1f} minutes of agents' time, {tokens}"


def _next(found: CrewRecap) -> str:
    if found.waiting and not found.ended:
        return f"Go on with: holdfast crew resume --run {found.run}"
    decided = f"Once you decided: holdfast crew resume --run {found.run}\n" if found.decide else ""
    if found.done:
        return f"{decided}Look at it: git log {found.base}..{found.branch}\nTake it:    git merge {found.branch}"
    if decided:
        return decided.rstrip()
    return f"Look at what happened: holdfast crew explain {(found.failed or found.decide or found.waiting)[0]['task']}"


def preview_text(found: Sequence[tuple[str, str, str]]) -> str:
    rows = [f"── {name}: {title}\n{prompt}" for name, title, prompt in found]
    return lines(f"{count(len(found), 'task')} would be worked on; nothing was written.", "", *rows)


@command(crew, "plan")
@click.argument("asked", nargs=-1, metavar="[GOAL | PLAN.md | TASK...]")
def plan(place: Invocation, asked: tuple[str, ...]) -> None:
    """Add a goal or a plan as tasks, or show what a crew would work on."""
    from holdfast.crew import crew_runs, historian

    with place.project() as project:
        found, tasks = crew_runs.planned(project, asked, folder=place.folder)
        if found is not None:
            tasks = historian.place(project, found)
            project.views.render_quietly("tasks")
        show(tasks, plan_text, lambda made: {"items": [asdict(one) for one in made]})


def plan_text(tasks: Sequence[Any]) -> str:
    rows = [
        (strong(one.id), one.kind, short(one.title, 60), f"needs {', '.join(one.needs)}" if one.needs else "")
        for one in tasks
    ]
    return lines(table(rows, indent=""), "", "Work on them with: holdfast crew run")


@command(crew, "status")
@_named
def status(place: Invocation, run: str | None) -> None:
    """Show who does what: tasks, workers, time, tokens, cost, checks."""
    from holdfast.crew import crew_runs

    with place.project() as project:
        found, state = crew_runs.status(project, run)
        show((found, state), lambda pair: status_text(*pair), lambda pair: asdict(pair[0]))


def status_text(found: CrewRecap, state: CrewState) -> str:
    """A row a task."""
    rows = []
    told = {row["task"]: row for row in (*found.done, *found.failed, *found.decide, *found.waiting)}
    for one in state.tasks.values():
        used = state.usage_of(one)
        tokens = (used.get("tokens_in") or 0) + (used.get("tokens_out") or 0)
        said = ", ".join(f"{row['check']} {'passed' if not row['exit_status'] else 'failed'}" for row in one.receipts)
        is_working = one.state == "working" and not found.reason
        seconds = time.time() - one.since / 1e6 if is_working else used.get("seconds") or 0
        who = f"worker {one.worker}" if is_working else ""
        rows.append(
            (
                "interrupted" if one.state == "working" and not is_working else _STATES.get(one.state, one.state),
                strong(one.task),
                f"try {one.attempt}" if one.attempt else "",
                who,
                f"{max(0.0, seconds):.0f} s" if one.attempt else "",
                f"{tokens:,} tokens" if tokens else "",
                said or short(told[one.task]["why"], 60),
                short(told[one.task]["title"], 40),
            )
        )
    how = "stopping" if state.is_stopping else "at work"
    how = "ended" if found.ended else f"stopped ({found.reason}; holdfast crew resume)" if found.reason else how
    return lines(f"Crew {strong(found.run)}, {how}, on {found.branch}", table(rows), "", f"Used: {_used(found.used)}")


@command(crew, "watch")
@_named
def watch(place: Invocation, run: str | None) -> None:
    """Show the status until the crew ends."""
    from holdfast.crew import crew_runs

    with place.project() as project:
        while True:
            found, state = crew_runs.status(project, run)
            if sys.stdout.isatty():
                click.clear()
            show((found, state), lambda pair: status_text(*pair), lambda pair: asdict(pair[0]))
            if found.ended or state.is_stopping:
                return
            time.sleep(REDRAW)


@command(crew, "stop")
@_named
def stop(place: Invocation, run: str | None) -> None:
    """Stop a crew and its agents; no work is lost."""
    from holdfast.crew import crew_runs

    with place.project() as project:
        show(crew_runs.stop(project, run), lambda head: f"Crew {head['run']} stops. Go on with: holdfast crew resume")


@command(crew, "explain")
@click.argument("task")
@_named
def explain(place: Invocation, task: str, run: str | None) -> None:
    """Show every step of a task, with its inputs."""
    from holdfast.crew import crew_runs

    with place.project() as project:
        found = crew_runs.explain(project, task, run)
        show(
            found,
            explained_text,
            lambda rows: {"items": [{"at": one.at, "step": one.kind, **one.body} for one in rows]},
        )


def explained_text(found: Sequence[CrewStep]) -> str:
    parts: list[str] = [strong(found[0].task)]
    for one in found:
        parts += ["", f"{one.when:%H:%M:%S}  {one.kind}"]
        parts += _fields({name: value for name, value in one.body.items() if name not in ("step", "task")}, "    ")
    return lines(*parts)


def _fields(values: Mapping[str, Any], indent: str) -> Iterator[str]:
    """Names and values, a row each; what is within another is indented."""
    for name, value in values.items():
        rows = value if isinstance(value, list) else [value]
        rows = [int(row) if isinstance(row, float) and row.is_integer() else row for row in rows]
        if value in (None, "", [], {}):
            continue
        if isinstance(value, str) and "\n" in value.strip():
            yield f"{indent}{name}:"
            yield from (f"{indent}    {short(row, _SHOWN)}" for row in value.strip().splitlines()[-_ROWS:])
            continue
        if not any(isinstance(row, dict) for row in rows):
            yield f"{indent}{name}: {short(', '.join(map(str, rows)), _SHOWN)}"
            continue
        yield f"{indent}{name}:"
        for row in rows:
            yield from _fields(row if isinstance(row, dict) else {"-": row}, f"{indent}    ")


@command(crew, "clean")
@click.option("--yes", is_flag=True, help="Do not ask.")
def clean(place: Invocation, *, yes: bool) -> None:
    """List branches and work trees that crews left, and remove those that are merged."""
    from holdfast.crew import crew_runs

    with place.project() as project:
        found = crew_runs.leftovers(project)
        safe = [one for one in found if one.is_safe]
        if not yes or not safe:
            show(found, leftovers_text, lambda rows: {"items": [asdict(one) for one in rows]})
        if safe and (yes or on_a_terminal()):
            confirm(f"Remove {count(len(safe), 'branch')} and their work trees?", yes=yes)
            removed = crew_runs.clean(project, safe)
            say(f"Removed {count(removed, 'branch')}.")


def leftovers_text(found: Sequence[Leftover]) -> str:
    rows = [("remove" if one.is_safe else "keep", one.branch, one.why, one.path or "") for one in found]
    return lines(table(rows, indent="") or "Crews left nothing here.")


@command(crew, "allow")
@click.option("--yes", is_flag=True, help="Do not ask.")
def allow(place: Invocation, *, yes: bool) -> None:
    """Allow the checks that this repository suggests, as they are now."""
    from holdfast.crew import check_receipts

    with place.project() as project:
        found, shown = check_receipts.suggested(project.clone.repo.top)
        for name, line in found.items():
            say(f"{name}: {line}")
        if found:
            confirm("May crews run these commands in this repository?", yes=yes)
        done = check_receipts.allow(project, shown=shown)
        show(done, lambda names: f"Allowed: {', '.join(names)}. A change has to be allowed again.")


@command(crew, "work")
@click.option("--agent", metavar="AGENT", help='codex, claude, gemini, or "a command" that reads its prompt.')
@click.option("--remote", metavar="NAME", help="Fetch from and push to this remote: results come back through git.")
@_named
def work(place: Invocation, *, agent: str | None, remote: str | None, run: str | None) -> None:
    """Work for a crew, here or on another machine that shares its database."""
    from holdfast.crew import crew_runs
    from holdfast.crew.step_process import end_marked
    from holdfast.crew.supervisor import mark_of

    def tell(task: str) -> None:
        click.echo(f"{_clock()}  {task or 'done'}")

    with place.project() as project:
        is_wanted, supervisor = _until_closed(run is not None and not sys.stdin.isatty())
        crew_runs.work(
            project, run, crew_runs.chosen_agent(project, agent), is_wanted=is_wanted, tell=tell, remote=remote
        )
        if supervisor and os.getppid() != supervisor[0]:  # it was killed, and cannot end its planner and checks
            end_marked(mark_of(str(run), supervisor[0]))


def _until_closed(is_child: bool) -> tuple[Callable[[], bool], list[int]]:
    """Whether to go on: a worker that a supervisor started ends with it, whatever ended that; and who that is."""
    state, supervisor = {"open": True}, list[int]()

    def leave(*_: object) -> None:
        state["open"] = False

    signal.signal(signal.SIGTERM, leave)
    if is_child:
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def is_open() -> bool:
        while is_child and state["open"] and select.select([0], [], [], 0)[0]:
            words = os.read(0, 1024)
            state["open"] = bool(words)
            supervisor.extend(map(int, filter(bytes.isdigit, words.split())))
        return state["open"]

    return is_open, supervisor
