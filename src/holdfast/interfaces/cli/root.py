"""The root of the command tree: `holdfast [--version] [-C DIR] COMMAND`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import click

from holdfast import __version__
from holdfast.interfaces import command_table
from holdfast.interfaces.cli.invocation import Invocation

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class CommandTree(click.Group):
    """The commands of the table, each imported when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(command_table.commands())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        modules, _ = command_table.commands().get(cmd_name, ((), ""))
        for module in modules:
            import_module(f"holdfast.interfaces.cli.{module}_commands")  # it adds its commands to `root`
        return super().get_command(ctx, cmd_name)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        rows = command_table.commands().items()
        found = [CompletionItem(name, help=about) for name, (_, about) in rows if name.startswith(incomplete)]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def get_help(self, ctx: click.Context) -> str:  # noqa: ARG002 - click's signature
        return command_table.help_text().rstrip("\n")


@click.group(
    cls=CommandTree,
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
