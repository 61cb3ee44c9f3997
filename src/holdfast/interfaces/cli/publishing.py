"""Commands between the private store and git: publish, reconcile."""

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
    """Commit this line's events and memories, and nothing else."""
    with place.project() as project:
        show(project.publish(stage=stage, here=here, restore=restore), words.published, objects.published)


@command(root, "reconcile")
@click.option("--carry", metavar="LINE", help="Take over what a lost line left behind.")
@click.option("--drop", metavar="LINE", help="Let go of what a lost line left behind.")
def reconcile(place: Place, carry: str | None, drop: str | None) -> None:
    """List what is gone from its line, and lines whose branch is gone."""
    if carry and drop:
        raise click.UsageError("--carry and --drop do not go together.")
    with place.project() as project:
        show(project.reconcile(carry=carry, drop=drop), words.reconciled, objects.reconciled)
