"""The commands: their names, the modules of `interfaces/cli` that define them, and what each does in one line.

They stand in commands.txt. A command's module is imported when the command runs; `holdfast --help` prints the table
and imports none of them.
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

ABOUT = "The memory a project keeps of the agents that work on it."
OPTIONS = (
    ("--version", "Show the version and exit."),
    ("-C DIR", "Work as if started in DIR."),
    ("-h, --help", "Show this message and exit."),
)


def commands() -> dict[str, tuple[list[str], str]]:
    """Each command with its modules and its line of help, in the order of the help."""
    with open(os.path.join(os.path.dirname(__file__), "commands.txt"), encoding="utf-8") as file:
        rows = [row.rstrip("\n").split(" | ") for row in file]
    return {name: (modules.split(), about) for name, modules, about in rows}


def help_text() -> str:
    """What `holdfast --help` prints."""
    usage = f"Usage: holdfast [OPTIONS] [COMMAND] [ARGS]...\n\n  {ABOUT}"
    listed = _columns([(name, about) for name, (_, about) in commands().items()])
    return f"{usage}\n\nOptions:\n{_columns(OPTIONS)}\nCommands:\n{listed}"


def _columns(rows: "Sequence[tuple[str, str]]") -> str:
    width = max(len(name) for name, _ in rows)
    return "".join(f"  {name:{width}}  {about}\n" for name, about in rows)
