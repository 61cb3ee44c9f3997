"""Commands for agents of your own, and what they print: who they are, their cycles, copies, and the tables."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from holdfast.errors import BadInput
from holdfast.interfaces.cli.invocation import Invocation, answer, command, confirm, group, options, progress_bar
from holdfast.interfaces.cli.output import as_plain, show, strong
from holdfast.interfaces.cli.phrases import count, lines, short, size, table
from holdfast.interfaces.cli.root import root
from holdfast.model.memory import expiry
from holdfast.values import asdict, frozen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.agent_store.store_transfer import StoreCopied
    from holdfast.model.agent_entities import (
        AgentCycle,
        AgentIdentity,
        NamespacePruning,
        PruneReport,
        WorkspaceDiff,
        WorkspaceRestored,
        WorkspaceSnapshot,
    )
    from holdfast.project import Project
    from holdfast.project.working_agent import Agent

LAST = 20  # cycles that are shown unless somebody asks for more
_OUTPUT = 60  # characters of what came of a cycle


@group(root, "agent", "list")
def agent() -> None:
    """Manage your own agents: cycles, memory and store."""


@frozen
class AgentList:
    """All agents, and where they are kept."""

    agents: Sequence[AgentIdentity]
    store: str


def agent_list_text(found: AgentList) -> str:
    """One row an agent."""
    rows = [
        (strong(one.name), count(one.cycles, "cycle"), "in a run" if one.run_id else "idle") for one in found.agents
    ]
    none = 'No agents yet. Make one in Python: project.agents.get("name") (docs/reference/agents.md)'
    return lines(table(rows, indent="") or none, "", f"Kept in {found.store}")


@answer(
    agent, "list", agent_list_text, lambda found: {"items": [asdict(one) for one in found.agents], "store": found.store}
)
def list_agents(project: Project) -> object:
    """List the agents of this project."""
    return AgentList(project.agents.list(), project.agents.store_place)


@frozen
class ShownAgent:
    """An agent, and its cycle that has no result."""

    identity: AgentIdentity
    pending: AgentCycle | None


def agent_text(found: ShownAgent) -> str:
    """Who an agent is, and what it was doing."""
    one = found.identity
    rows = [("cycles", f"{one.cycles:,}"), ("run", one.run_id or "none is open"), ("held by", one.holder or "nobody")]
    rows += [("config", json.dumps(one.config, ensure_ascii=False))] if one.config else []
    rows += [("state", short(json.dumps(one.state, ensure_ascii=False)))] if one.state is not None else []
    told = ["", "Directives:", *(f"  {text}" for text in one.directives)] if one.directives else []
    told += ["", "Some of it is sealed, and its key is not here: see encryption.key."] if one.locked else []
    return lines(strong(one.name), table(rows), told, _pending(one.name, found.pending))


def _pending(name: str, cycle: AgentCycle | None) -> list[str]:
    if cycle is None:
        return []
    asked = f"{cycle.proposal.tool or 'no tool'} {json.dumps(cycle.proposal.arguments, ensure_ascii=False)}"
    done = f'If it did: holdfast agent resume {name} --output "…" --state JSON; if not: --error "it did not happen"'
    return ["", f"Cycle {cycle.index} has no result; its action may have happened: {short(asked)}", done]


@answer(agent, "show", agent_text, lambda found: {**asdict(found.identity), "pending": as_plain(found.pending)})
@click.argument("name")
def show_agent(project: Project, name: str) -> object:
    """Show an agent: its directives, progress and open items."""
    return _shown(project.agents.find(name))


def _shown(found: Agent) -> ShownAgent:
    last = found.cycles(last=1)
    return ShownAgent(found.identity, last[0] if last and last[0].is_open else None)


def cycles_text(found: Sequence[AgentCycle]) -> str:
    """One row a cycle."""
    rows = [(str(one.index), _when(one.started), one.proposal.tool or "-", _outcome(one)) for one in found]
    return lines(table(rows, indent="") or "No cycles yet.")


def _outcome(cycle: AgentCycle) -> str:
    if cycle.locked:
        return "sealed, and its key is not here"
    if cycle.result is None:
        return "no result"
    if cycle.result.error is not None:
        return short(f"failed: {cycle.result.error}", _OUTPUT)
    output = cycle.result.output
    return short(output if isinstance(output, str) else json.dumps(output, ensure_ascii=False), _OUTPUT)


def _when(micros: int) -> str:
    return f"{datetime.fromtimestamp(micros / 1_000_000, UTC):%Y-%m-%d %H:%M:%S}"


@answer(agent, "cycles", cycles_text, lambda found: {"items": [asdict(one) for one in found]})
@click.argument("name")
@click.option("--last", default=LAST, show_default=True, type=click.IntRange(1), help="How many; the newest first.")
def cycles(project: Project, name: str, last: int) -> object:
    """List the cycles of an agent: what it proposed and the result."""
    return project.agents.find(name).cycles(last=last)


@answer(agent, "resume", agent_text, lambda found: {**asdict(found.identity), "pending": as_plain(found.pending)})
@click.argument("name")
@click.option("--output", metavar="TEXT", help="The interrupted action happened, and returned this.")
@click.option("--error", metavar="TEXT", help="The interrupted action failed, or did not happen.")
@click.option("--state", metavar="JSON", help="The state that the agent continues with.")
def resume(project: Project, name: str, output: str | None, error: str | None, state: str | None) -> object:
    """Show where an agent continues, or finish an interrupted cycle."""
    found = project.agents.find(name)
    if output is None and error is None:
        return _shown(found)
    if output is not None and error is not None:
        raise BadInput("an action has an output or an error, not both", hint="Use --output or --error.")
    resumed = found.resume()
    if resumed.pending is None:
        raise BadInput(f"no cycle of {name} waits for a result", hint=f"See `holdfast agent cycles {name}`.")
    resumed.pending.result(output=output, error=error, state=_json(state))
    found.let_go()
    return _shown(project.agents.find(name))


def _json(text: str | None) -> object:
    try:
        return None if text is None else json.loads(text)
    except ValueError:
        raise BadInput("the state is no JSON", hint='Write a number, "text", or {"page": 2}.') from None


def copied_text(done: StoreCopied) -> str:
    """What was copied."""
    return f"Copied {count(done.agents, 'agent')}: {count(done.rows, 'row')}, {size(done.bytes)}"


@command(agent, "export")
@click.argument("file", type=click.Path(dir_okay=False))
@click.option("--agent", "names", multiple=True, metavar="NAME", help="Only this one; may be repeated.")
def export(place: Invocation, file: str, names: tuple[str, ...]) -> None:
    """Write agents with their cycles and memory into FILE."""
    with place.project() as project:
        show({"rows": project.agents.export(file, names)}, lambda done: f"Wrote {count(done['rows'], 'row')} to {file}")


@command(agent, "import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
def import_(place: Invocation, file: str) -> None:
    """Restore agents from FILE."""
    with place.project() as project:
        show(project.agents.import_file(file), copied_text)


@command(agent, "move")
@click.option("--to", "target", required=True, metavar="URL", help="Where to: postgresql://… or sqlite:///FILE.")
def move(place: Invocation, target: str) -> None:
    """Copy all agents of this project to another database; a second time copies only what is new."""
    with place.project() as project, progress_bar("rows") as step:
        total = project.agents.count_rows() if step else 0
        show(project.agents.copy_to(target, tell=lambda done: step(done, total) if step else None), copied_text)


@command(agent, "migrate")
@click.option("--url", metavar="URL", help="The database, as a role that owns its tables; default: the setting.")
@click.option("--step", metavar="STEP", help="Which step; default: the newest. base removes all tables.")
@click.option("--since", metavar="STEP", help="With --sql: the step the database is at.")
@click.option("--sql", is_flag=True, help="Print the SQL for Postgres instead, for a DBA to run.")
@click.option("--yes", is_flag=True, help="Do not ask before tables are removed.")
def migrate(place: Invocation, *, url: str | None, step: str | None, since: str | None, sql: bool, yes: bool) -> None:
    """Create or update the tables in a Postgres database."""
    with place.project() as project:
        if sql:
            show({"sql": project.agents.migration_sql(step, since)}, lambda done: done["sql"])
        else:
            if step is not None:
                confirm(f"Going to step {step} may delete tables and what is in them. Go on?", yes=yes)
            show({"step": project.agents.migrate(url, step)}, lambda done: f"The database is at step {done['step']}.")


def prune_text(done: PruneReport) -> str:
    """What went from each namespace, and why."""
    verb = "Would delete" if done.dry_run else "Deleted"
    rows = [_prune_row(one) for one in done.namespaces if one.deleted or one.consolidated or one.pinned or one.open]
    return lines(f"{verb} {count(done.gone, 'record')}.", table(rows))


def _prune_row(one: NamespacePruning) -> tuple[str, ...]:
    reasons = [f"{number} {why}" for why, number in one.deleted.items()]
    reasons += [f"{sum(one.consolidated.values())} now in {count(one.summaries, 'summary')}"] if one.summaries else []
    stay = [
        f"{number} {why} stay" for number, why in ((one.pinned, "pinned"), (one.open, "of an open cycle")) if number
    ]
    return one.namespace, f"{one.before:,} to {one.after:,}", ", ".join([*reasons, *stay])


@command(agent, "prune")
@click.argument("name")
@click.option("--older-than", metavar="AGE", help="Records older than this, such as 90d.")
@click.option("--unused-for", metavar="AGE", help="Records that were not recalled for this time.")
@click.option("--budget", type=click.IntRange(0), metavar="N", help="Keep at most N records of each namespace.")
@click.option("--namespace", "namespaces", multiple=True, metavar="NAME", help="Only this one; may be repeated.")
@click.option("--consolidate", is_flag=True, help="Keep the first sentences of deleted records as one record.")
@click.option("--dry-run", is_flag=True, help="Only show what would be deleted.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def prune(place: Invocation, name: str, yes: bool, dry_run: bool, **chosen: Any) -> None:
    """Delete old or unused records of an agent; pinned ones stay."""
    with place.project() as project:
        found, rule = project.agents.find(name), _prune_rule(**chosen)
        planned = found.prune(**rule, dry_run=True)
        if dry_run or not planned.gone:
            show(planned, prune_text)
            return
        confirm(f"This deletes {count(planned.gone, 'record')} of {name} for good. Go on?", yes=yes)
        show(found.prune(**rule), prune_text)


def _prune_rule(*, older_than: str | None, unused_for: str | None, **rest: Any) -> dict[str, Any]:
    now = datetime.now(UTC)
    ages = {"older_than": older_than, "unused_for": unused_for}
    return {**rest, **{key: expiry(age, now) - now if age else None for key, age in ages.items()}}


@group(agent, "workspace", "list")
def workspace() -> None:
    """Show or restore the files of an agent, as each cycle left them."""


_named = options(
    click.argument("name"),
    click.option("--workspace", "called", default="main", show_default=True, metavar="NAME", help="Which workspace."),
)


def snapshots_text(found: Mapping[str, Sequence[WorkspaceSnapshot]]) -> str:
    """One row a snapshot."""
    rows = [
        (strong(name), str(one.cycle), count(one.files, "file"), size(one.size))
        for name, snapshots in found.items()
        for one in snapshots
    ]
    return lines(table(rows, indent="") or "No snapshots yet.")


def snapshots_object(found: Mapping[str, Sequence[WorkspaceSnapshot]]) -> dict[str, object]:
    return {"items": [{"agent": name, **asdict(one)} for name, snapshots in found.items() for one in snapshots]}


@answer(workspace, "list", snapshots_text, snapshots_object)
@click.argument("name", required=False)
@click.option("--workspace", "called", default="main", show_default=True, metavar="NAME", help="Which workspace.")
def list_snapshots(project: Project, name: str | None = None, called: str = "main") -> object:
    """List the cycles whose files were kept."""
    names = [name] if name is not None else [one.name for one in project.agents.list()]
    return {one: project.agents.find(one).workspace(called).snapshots() for one in names}


def workspace_diff_text(found: WorkspaceDiff) -> str:
    """One row a file: + added, - removed, ~ changed."""
    rows = [("+", one.path) for one in found.added] + [("-", one.path) for one in found.removed]
    rows += [("~", after.path) for _, after in found.changed]
    return lines(table(sorted(rows, key=lambda row: row[1]), indent="") or "No differences.")


@answer(workspace, "diff", workspace_diff_text)
@_named
@click.argument("cycle", type=int)
@click.argument("other", type=int, required=False)
@click.option("--folder", metavar="DIR", help="Compare with this folder.")
def diff(project: Project, *, name: str, called: str, cycle: int, other: int | None, folder: str | None) -> object:
    """Compare a cycle's files with those of another cycle, of the one before it, or of a folder."""
    there = project.agents.find(name).workspace(called, folder)
    return there.diff(cycle, other) if other is not None or folder else there.changes(cycle)


def restored_text(done: WorkspaceRestored) -> str:
    """What a restore wrote."""
    left = (
        [f"{count(len(done.left), 'file')} that the snapshot does not have still there; --clean removes them"]
        if done.left
        else []
    )
    skipped = [f"left out of the snapshot: {path} ({why})" for path, why in done.skipped]
    removed = f", removed {len(done.removed)}" if done.removed else ""
    return lines(f"Restored cycle {done.cycle} into {done.folder}: wrote {len(done.written)}{removed}.", left, skipped)


@answer(workspace, "restore", restored_text)
@_named
@click.argument("cycle", type=int)
@click.option("--into", required=True, metavar="DIR", help="The folder to write.")
@click.option("--clean", is_flag=True, help="Also remove files that the snapshot does not have.")
@click.option("--yes", is_flag=True, help="Do not ask before --clean removes files.")
def restore(project: Project, *, name: str, called: str, cycle: int, into: str, clean: bool, yes: bool) -> object:
    """Write the files that a cycle left into a folder."""
    if clean:
        confirm(f"This removes from {into} what the snapshot does not have. Go on?", yes=yes)
    return project.agents.find(name).workspace(called).restore(cycle, into, clean=clean)
