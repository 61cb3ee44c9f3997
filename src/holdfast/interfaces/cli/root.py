"""The root of the command tree: `holdfast [--version] [-C DIR] COMMAND`."""

import click

from holdfast import __version__
from holdfast.interfaces.cli.invocation import Invocation

ORDER = (
    *("init", "try", "status", "context", "next", "task", "tasks", "session", "handoff", "run", "recall"),
    *("show", "remember", "facts", "review", "edit", "supersede", "deprecate", "curate", "trust", "receipts"),
    *("connect", "disconnect", "mcp", "state", "link", "publish", "reconcile", "hooks", "log", "timeline"),
    *("diff", "journal", "stats", "check", "doctor", "scan", "erase", "reset", "prune", "export", "import"),
    "uninstall",
)


class InOrder(click.Group):
    """A group that lists its commands in the order of the work, not of the alphabet."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(super().list_commands(ctx), key=lambda name: ORDER.index(name) if name in ORDER else 0)


@click.group(
    cls=InOrder,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "--version", message="holdfast %(version)s")
@click.option("-C", "folder", metavar="DIR", default=".", type=click.Path(), help="Work as if started in DIR.")
@click.pass_context
def root(context: click.Context, folder: str) -> None:
    """The memory a project keeps of the agents that work on it."""
    context.obj = Invocation(folder)
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
