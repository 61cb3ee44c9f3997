"""The root of the command tree: `holdfast [--version] [-C DIR] COMMAND`."""

import click

from holdfast import __version__
from holdfast.interfaces.cli.place import Place


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "--version", message="holdfast %(version)s")
@click.option(
    "-C", "folder", metavar="DIR", default=".", type=click.Path(), help="Work as if started in DIR."
)
@click.pass_context
def root(context: click.Context, folder: str) -> None:
    """The memory a project keeps of the agents that work on it."""
    context.obj = Place(folder)
