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


class UnknownCommand(click.UsageError):
    """There is no command of this name in this group; the hint names those that may be meant."""

    def __init__(self, name: str, context: click.Context, meant: list[str]) -> None:
        super().__init__(f"there is no command `{context.command_path} {name}`", context)
        self.hint = f"See `{context.command_path} --help`."
        if meant:
            self.hint = f"Did you mean {' or '.join(f'`holdfast {path}`' for path in meant)}?"


class CommandGroup(click.Group):
    """A group that lists each command once, by today's name, and knows what people mean by other words."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in super().list_commands(ctx) if self.commands[name].name == name]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name.startswith("-") or ctx.resilient_parsing or self.get_command(ctx, name) is not None:
            return super().resolve_command(ctx, args)
        raise UnknownCommand(name, ctx, self._meant(ctx, name))

    def _meant(self, ctx: click.Context, name: str) -> list[str]:
        """Whole paths of commands that somebody may mean by a word."""
        from difflib import get_close_matches

        group = " ".join(ctx.command_path.split()[1:])
        ours = {one: f"{group} {one}".strip() for one in self.list_commands(ctx)}
        near = {word: path for word, (path,) in command_table.groups()[command_table.NEAR].items()}
        known = {word: path for word, path in near.items() if path.startswith(group)} | ours
        return [*dict.fromkeys(known[word] for word in get_close_matches(name.lower(), known, n=2, cutoff=0.7))]


CommandGroup.group_class = CommandGroup


class CommandTree(CommandGroup):
    """The commands of the table, each imported when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(command_table.commands())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        for module in command_table.modules_of(cmd_name):
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
        click.echo(command_table.help_text(), nl=False)
