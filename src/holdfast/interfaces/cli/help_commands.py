"""The command `help`: on a command, a group of commands, all of them, or the words that Holdfast uses."""

from __future__ import annotations

import click

from holdfast.interfaces import command_table
from holdfast.interfaces.cli.invocation import Invocation, command
from holdfast.interfaces.cli.output import show
from holdfast.interfaces.cli.phrases import lines
from holdfast.interfaces.cli.root import UnknownCommand, root
from holdfast.patterns import PatternFile

GLOSSARY = "glossary"
_TEXTS = PatternFile(__file__)


def glossary() -> dict[str, str]:
    """The words that Holdfast uses, each with its meaning."""
    return _TEXTS.pairs(GLOSSARY)


@command(root, "help")
@click.argument("topic", nargs=-1)
@click.pass_context
def help_(context: click.Context, _: Invocation, topic: tuple[str, ...]) -> None:
    """Show help on a command, a group of commands or a topic.

    TOPIC is a command (`task add`), a group (`memory`), `all`, or `glossary`.
    """
    topic = tuple(word.lower() for word in topic)  # as the overview spells its groups
    name = " ".join(topic)
    show(_text(context, topic), str, lambda text: {"id": name or None, "text": text})


def _text(context: click.Context, topic: tuple[str, ...]) -> str:
    groups = command_table.topics()
    if not topic:
        return command_table.help_text()
    if topic == (GLOSSARY,):
        return "\n".join(f"{word}\n    {meaning}" for word, meaning in glossary().items())
    if topic == ("all",):
        first = _listed("First", command_table.groups()[command_table.FIRST])
        return lines(first, *(["", *_listed(name, rows)] for name, rows in groups.items()))
    group = topic[0] if len(topic) == 1 and topic[0] in groups else ""
    if group and group not in command_table.commands():
        return lines(_listed(group, groups[group]), "", "More: holdfast help COMMAND")
    return _help_of(context, topic)


def _listed(name: str, rows: command_table.Group) -> list[str]:
    return [f"{name.capitalize()}:", *command_table.columns((one, row[-1]) for one, row in rows.items()).splitlines()]


def _help_of(context: click.Context, topic: tuple[str, ...]) -> str:
    """The help of one command, found word by word as when it is called."""
    at = context.parent or context
    for word in topic:
        group = at.command
        if not isinstance(group, click.Group):
            break
        found = group.get_command(at, word)
        if found is None:
            group.resolve_command(at, [word])  # says what may be meant
            raise UnknownCommand(word, at, [])
        at = found.context_class(found, info_name=word, parent=at)
    (now,) = command_table.groups()[command_table.OLD].get(topic[0], ("", ""))[1:]
    return (f"`{topic[0]}` is an older name of `{now}`.\n\n" if now else "") + at.get_help()
