"""Paths that a text names, as far as git has them: tracked files, and folders that hold some.

Said of a memory, such a path is where it holds; so what merely looks like a path does not count.
"""

from collections.abc import Iterable

from holdfast.git.repo import Repo
from holdfast.git.tracked import held_in_index
from holdfast.patterns import regex

MOST = 8  # of one text
_WORD = regex(r"(?<![\w./@+~-])(?:\./)?([\w.@+-]+(?:/[\w.@+-]+)*/?)")


def spelled(text: str) -> list[str]:
    """What may be paths in a text, from the top: a word alone is one only if it has an ending or a slash."""
    words = (word.rstrip(".-+@") for word in _WORD.findall(text))
    return list(dict.fromkeys(word.rstrip("/") for word in words if "/" in word or "." in word))


def mentioned(repo: Repo, texts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """For each text the tracked files and folders that it names; git is asked once for all."""
    words = {text: spelled(text) for text in texts}
    there = held_in_index(repo, (word for found in words.values() for word in found))
    return {text: tuple(word for word in found if word in there)[:MOST] for text, found in words.items()}
