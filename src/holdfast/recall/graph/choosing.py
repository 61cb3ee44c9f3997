"""Which step follows a search: the one that the setting `retrieval.graph` names.

`auto` walks the graph for questions that take several steps and follows names for all others; `off` never
walks; `hipporag` always does. Others come as packages with an entry point of the group `holdfast.graphs`: a
callable that is given the index's connections, the question as it was read and the best rows, and gives
what rows gain. It runs code, so a tracked file cannot choose it.
"""

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from holdfast.errors import BadInput
from holdfast.index import links
from holdfast.index.asked import Asked
from holdfast.index.steps import takes_several
from holdfast.recall.graph import hipporag

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "holdfast.graphs"
AUTO, OFF = "auto", "off"

Step = Callable[[Sequence[sqlite3.Connection], Asked, Sequence[tuple[int, float]]], dict[int, float]]


def auto(
    sources: Sequence[sqlite3.Connection], asked: Asked, best: Sequence[tuple[int, float]]
) -> dict[int, float]:
    """The walk where a question takes several steps, one step along names elsewhere."""
    follow = hipporag.follow if takes_several(asked) else links.follow
    return follow(sources, asked, best)


def _brought() -> "Iterable[EntryPoint]":
    from importlib import metadata  # dear to load, and most people bring none

    return metadata.entry_points(group=GROUP)


BUILT_IN: dict[str, Step] = {AUTO: auto, OFF: links.follow, "hipporag": hipporag.follow}


def names() -> list[str]:
    """What may be chosen: what is built in, then what packages bring."""
    return [*BUILT_IN, *sorted({one.name for one in _brought()} - BUILT_IN.keys())]


def step(name: str) -> Step:
    """The step of this name; refused if nothing that is installed brings it."""
    if name in BUILT_IN:
        return BUILT_IN[name]
    for one in _brought():
        if one.name == name:
            found: Step = one.load()
            return found
    raise BadInput(
        f"no package that is installed brings the graph {name!r}",
        hint=f"Set retrieval.graph to one of {', '.join(names())}.",
    )
