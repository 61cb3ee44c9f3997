"""What is known about engineering English, in text files: `tables/*.txt`, each read once, when it is first needed.

Every file says at its top how its rows are written. What the rows mean is left to the module that asks for them.
"""

import os
from functools import cache

_FOLDER = os.path.join(os.path.dirname(__file__), "tables")


@cache
def table(name: str) -> tuple[str, ...]:
    """The rows of a table. A line that begins with `#` is a remark; an indented line continues the row above it."""
    rows: list[str] = []
    with open(os.path.join(_FOLDER, f"{name}.txt"), encoding="utf-8") as file:
        for line in file:
            if line.startswith(" ") and rows:
                rows[-1] += " " + line.strip()
            elif line.strip() and not line.startswith("#"):
                rows.append(line.strip())
    return tuple(rows)


@cache
def _lists() -> dict[str, str]:
    rows = (row.partition(": ") for row in table("words"))
    return {name: listed for name, _, listed in rows}


def word_list(name: str) -> str:
    """A list of words, with blanks between them."""
    return _lists()[name]


def word_values(name: str) -> dict[str, str]:
    """A list of words with values, `word=value`."""
    return {word: value for word, _, value in (item.partition("=") for item in word_list(name).split())}
