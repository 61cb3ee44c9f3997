"""The commands: their names, the modules of `interfaces/cli` that define them, and what each does in one line.

They stand in commands.txt, in groups. A command's module is imported when the command runs; `holdfast --help` prints
the table and imports none of them.
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Group = dict[str, tuple[str, ...]]  # each name with the rest of its row

ABOUT = "The memory a project keeps of the agents that work on it."
FIRST, OLD, NEAR = "first", "old names", "near"  # the groups that are not listed by their name
OPTIONS = (
    ("-C DIR", "Work as if started in DIR."),
    ("--version", "Show the version and exit."),
    ("-h, --help", "Show this message and exit."),
)
_WIDTH = 78  # columns; a terminal has 80


def groups() -> "dict[str, Group]":
    """Each group with its rows, in the order of the help."""
    found: dict[str, Group] = {}
    with open(os.path.join(os.path.dirname(__file__), "commands.txt"), encoding="utf-8") as file:
        for row in file.read().splitlines():
            if row.startswith("["):
                group = found[row[1:-1]] = {}
            elif row and not row.startswith("#"):
                name, *rest = row.split(" | ")
                group[name] = tuple(rest)
    return found


def topics() -> "dict[str, Group]":
    """The groups of commands that the help lists by name."""
    return {name: rows for name, rows in groups().items() if name not in (FIRST, OLD, NEAR)}


def commands() -> dict[str, tuple[list[str], str]]:
    """Each command of today with its modules and its line of help."""
    rows = {name: row for group, rows in groups().items() if group not in (OLD, NEAR) for name, row in rows.items()}
    return {name: (modules.split(), about) for name, (modules, about) in rows.items()}


def modules_of(name: str) -> list[str]:
    """The modules that define a command, by today's name or an old one."""
    found = groups()
    return next((rows[name][0].split() for group, rows in found.items() if group != NEAR and name in rows), [])


def help_text() -> str:
    """What `holdfast --help` prints: one screen."""
    found = groups()
    usage = f"Usage: holdfast [-C DIR] COMMAND [ARGS]...\n\n{ABOUT}\n"
    first = columns((name, about) for name, (_, about) in found[FIRST].items())
    width = max(map(len, topics()))
    rest = "".join(_wrapped(f"{name.capitalize():{width}}  ", list(rows)) for name, rows in topics().items())
    more = "Help on a command, a group or all of them: holdfast help NAME|GROUP|all\n"
    return f"{usage}\n{first}\n{rest}\n{columns(OPTIONS)}\n{more}"


def columns(rows: "Iterable[tuple[str, str]]") -> str:
    """Names and what they are, in two columns."""
    listed = list(rows)
    width = max(len(name) for name, _ in listed)
    return "".join(f"  {name:{width}}  {about}\n" for name, about in listed)


def _wrapped(start: str, names: list[str]) -> str:
    """Names with commas behind a heading, on as many lines as they need."""
    rows = [start]
    for at, name in enumerate(names):
        word = name if at == len(names) - 1 else f"{name},"
        if len(rows[-1]) + len(word) > _WIDTH:
            rows.append(" " * len(start))
        rows[-1] += word if rows[-1].endswith("  ") else f" {word}"
    return "".join(f"{row}\n" for row in rows)
