"""The command between the private store and git: publish."""

import click

from holdfast.interfaces.cli import objects, words
from holdfast.interfaces.cli.command import command
from holdfast.interfaces.cli.output import show
from holdfast.interfaces.cli.place import Place
from holdfast.interfaces.cli.root import root


@command(root, "publish")
@click.option("--stage", is_flag=True, help="Only stage, to ride in your own next commit.")
@click.option("--here", is_flag=True, help="Publish on the trunk branch too.")
@click.option("--restore", is_flag=True, help="Bring back what was published and is gone from this line.")
def publish(place: Place, stage: bool, here: bool, restore: bool) -> None:
    """Commit this line's events and memories alone."""
    with place.project() as project:
        show(project.publish(stage=stage, here=here, restore=restore), words.published, objects.published)
