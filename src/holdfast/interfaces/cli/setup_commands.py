"""Commands that set up and take away: init, export, import, uninstall."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from holdfast.errors import NotARepository, UnsafePath
from holdfast.interfaces.cli.invocation import INTERRUPTED, Invocation, answer, as_json, command, confirm, on_a_terminal
from holdfast.interfaces.cli.output import flush, say, show
from holdfast.interfaces.cli.phrases import count, lines, size
from holdfast.interfaces.cli.root import CommandGroup, root
from holdfast.values import replace

if TYPE_CHECKING:
    from holdfast.git.project_setup import ProjectSetup, UninstallResult
    from holdfast.project import Project
    from holdfast.store.bundle import Bundle

HOOKS = "Install git hooks that record commits, merges and rewrites? They never stop git."
UNINSTALLING = (
    "This deletes the private store (recordings, candidates, unpublished memories), removes .holdfast from the work "
    "tree, and restores git's hooks and agents' settings byte for byte.{agents} Go on?"
)


def initialised(made: ProjectSetup) -> str:
    first = "Holdfast was set up already." if made.commit else "Nothing to do: already set up."
    first = f"Holdfast is set up in {made.top}" if made.wrote or made.made_store else first
    wrote = [f"  wrote {path}" for path in made.wrote]
    if made.commit:
        wrote.append(f"  committed its two files as {made.commit[:12]}")
    elif made.wrote:
        wrote.append("  commit them when you like: git add .holdfast && git commit")
    if made.hooks:
        wrote.append("  installed git hooks that record commits and rewrites")
    return lines(first, wrote, "", "Connect your agents and import their sessions with: holdfast start")


def uninstalled(removal: UninstallResult) -> str:
    tracked = [
        f"Git still tracks {count(removal.tracked, 'file')} of it; commit their removal with:",
        "  git commit -m 'Remove Holdfast' -- .holdfast",
    ]
    return lines(
        "Holdfast is gone from this clone.",
        [f"  removed {path}" for path in removal.removed],
        [f"  reverted {path}" for path in removal.changed],
        [f"  left: {sentence}" for sentence in removal.left],
        tracked if removal.tracked else [],
    )


@command(root, "init")
@click.option("--commit", is_flag=True, help="Commit the two files it writes.")
@click.option("--yes", is_flag=True, help="Run `git init` without asking if this is not a git repository.")
@click.option(
    "--hooks/--no-hooks", default=None, help="Install git hooks that record commits and rewrites; it asks if not given."
)
def init(place: Invocation, commit: bool, yes: bool, hooks: bool | None) -> int:
    """Set up this repository, without agents or history."""
    from holdfast.project import Project

    try:
        made = Project.init(place.folder, commit=commit, git=yes, environ=os.environ)
    except NotARepository as error:
        if error.hint != NotARepository.hint:  # a path that is not there, a bare repository
            raise
        if not on_a_terminal():
            raise NotARepository(str(error), hint="Run `holdfast init --yes`, which runs `git init` first.") from None
        confirm("This is not a git repository. Make it one with `git init`?", yes=False)
        made = Project.init(place.folder, commit=commit, git=True, environ=os.environ)
    try:
        made = _with_hooks(place, made, hooks)
    except KeyboardInterrupt:
        say("")
        show(made, initialised)
        flush()
        say("Interrupted: git's hooks were not installed. Install them with: holdfast hooks install")
        return INTERRUPTED
    show(made, initialised)
    return 0


def _with_hooks(place: Invocation, made: ProjectSetup, wanted: bool | None) -> ProjectSetup:
    """Install git's hooks if they are wanted; where somebody can be asked, they are."""
    if wanted is None and on_a_terminal():
        try:
            wanted = click.confirm(HOOKS, default=True, err=True)
        except click.Abort as error:
            if isinstance(error.__context__, KeyboardInterrupt):
                raise KeyboardInterrupt from None
            say("")  # the end of input is no answer, and everything else is done
    if not wanted:
        return made
    with place.project() as project:
        if not project.settings.has("sessions"):
            project.notices.append("No git hooks: sessions are switched off (features.sessions = false)")
            return made
        try:
            project.sync.install_hooks()
        except UnsafePath as error:  # set up all the same; whose folder it is decides about hooks
            project.notices.append(f"git hooks were not installed: {error}. {error.hint}")
            return made
    return replace(made, hooks=True)


class OrFile(CommandGroup):
    """A group whose first word may also be a file; then its command `bundle` is meant."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = not args or args[0] in self.commands
        return super().resolve_command(ctx, args if known else ["bundle", *args])


@root.group("export", cls=OrFile, no_args_is_help=False, subcommand_metavar="FILE | COMMAND [ARGS]...")
@as_json
def exporting() -> None:
    """Write a backup, records, sessions or Markdown pages."""


@root.group("import", cls=OrFile, no_args_is_help=False, subcommand_metavar="FILE | COMMAND [ARGS]...")
@as_json
def importing() -> None:
    """Read a backup, records, or sessions of other tools.

    FILE is what `holdfast export FILE` made; records and notes become candidates.
    """


def exported(made: Bundle) -> str:
    return lines(
        f"Saved {count(made.files, 'file')} ({size(made.size)}) to {made.file}",
        ["It does not contain your own agents; save them with: holdfast agent export FILE"]
        if made.leaves_agents
        else [],
    )


@answer(exporting, "bundle", exported)
@click.argument("file", type=click.Path(dir_okay=False))
def export(project: Project, file: str) -> object:
    """Save the private store of this clone to FILE; `holdfast export FILE` is short for it."""
    return project.sync.export_bundle(file)


@answer(importing, "bundle", lambda found: f"Restored {count(found.files, 'file')} from {found.file}")
@click.argument("file", type=click.Path(dir_okay=False))
def bring_back(project: Project, file: str) -> object:
    """Restore what `holdfast export FILE` saved; `holdfast import FILE` is short for it."""
    return project.sync.import_bundle(file)


@answer(root, "uninstall", uninstalled)
@click.option("--yes", is_flag=True, help="Do not ask.")
def uninstall(project: Project, yes: bool) -> object:
    """Remove Holdfast from this clone.

    Deletes candidates, recordings and unpublished memories, and restores every file that it changed. What you
    committed stays in git's history.
    """
    has_agents = os.path.exists(project.clone.private.agent_database)
    agents = " It also deletes your own agents (save them with `holdfast agent export FILE`)." if has_agents else ""
    confirm(UNINSTALLING.format(agents=agents), yes=yes)
    return project.sync.uninstall()
