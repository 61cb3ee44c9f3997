"""What all commands share: `--json`, the place they stand in, and the groups they hang on."""

from collections.abc import Callable
from typing import Any

import click

from holdfast.interfaces.cli.place import Place

here = click.make_pass_decorator(Place, ensure=True)


def _remember_json(context: click.Context, _: click.Parameter, value: bool) -> bool:
    if value:
        context.meta["holdfast.json"] = True
    return value


as_json = click.option(
    "--json",
    is_flag=True,
    expose_value=False,
    callback=_remember_json,
    help="Answer with one JSON object instead of text.",
)


def command(group: click.Group, name: str, **settings: Any) -> Callable[[Callable[..., Any]], click.Command]:
    """A command of a group, with the options every command has."""

    def wrap(function: Callable[..., Any]) -> click.Command:
        return group.command(name, **settings)(as_json(here(function)))

    return wrap
