"""A judge made of many small trees: each looks at a few pieces of evidence and adds its word to the sum.

Written one tree a line, in the order one walks it: `name<=value` asks, and what follows are the answers to
yes and to no; a number is a word. A plain sum of weights cannot say that a denial counts only where both
speak of one thing; a tree can.
"""

from collections.abc import Iterator, Mapping
from functools import cache

Tree = float | tuple[str, float, "Tree", "Tree"]


@cache
def read(text: str) -> tuple[Tree, ...]:
    """The trees of a table."""
    return tuple(_tree(iter(line.split("|"))) for line in text.split("\n") if line)


def _tree(words: Iterator[str]) -> Tree:
    name, asks, value = next(words).partition("<=")
    if not asks:
        return float(name)
    yes = _tree(words)
    return name, float(value), yes, _tree(words)


def total(trees: tuple[Tree, ...], found: Mapping[str, float]) -> float:
    """What all trees say together."""
    return sum(_word(tree, found) for tree in trees)


def _word(tree: Tree, found: Mapping[str, float]) -> float:
    while isinstance(tree, tuple):
        name, value, yes, no = tree
        tree = yes if found[name] <= value else no
    return tree
