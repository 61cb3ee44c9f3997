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
    """Commit this line's events and memories alone."""
    with place.project() as project:
        show(project.publish(stage=stage, here=here, restore=restore), words.published, objects.published)


@command(root, "reconcile")
@click.option("--carry", metavar="LINE", help="Take over what a lost line left behind.")
@click.option("--drop", metavar="LINE", help="Let go of what a lost line left behind.")
def reconcile(place: Place, carry: str | None, drop: str | None) -> None:
    """List what history rewrote or left behind."""
    if carry and drop:
        raise click.UsageError("--carry and --drop do not go together.")
    with place.project() as project:
        if carry:
            show(project.carry(carry), words.carried, objects.orphan)
        elif drop:
            show(project.drop(drop), words.dropped, objects.orphan)
        else:
            show(project.reconcile(), words.reconciled, objects.reconciled)
