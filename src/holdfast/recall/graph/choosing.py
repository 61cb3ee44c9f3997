"""Which step follows a search: the one that the setting `retrieval.graph` names.

`auto` walks the graph for questions that take several steps and follows names for all others; `off` never
walks; `hipporag` always does. Others come as packages with an entry point of the group `holdfast.graphs`: a
callable that is given the index's connections, the question as it was read and the best rows, and gives
what rows gain. It runs code, so a tracked file cannot choose it; where it fails, that is said, and `auto`
follows.
"""

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from holdfast.errors import BadInput
from holdfast.index import links
from holdfast.index.asked import Asked
from holdfast.index.steps import takes_several
from holdfast.recall import plugins
from holdfast.recall.graph import hipporag

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "holdfast.graphs"
AUTO, OFF = "auto", "off"
MAX_GAINS = 10_000  # rows that one step may lead to; ours reach some hundreds

Step = Callable[[Sequence[sqlite3.Connection], Asked, Sequence[tuple[int, float]]], dict[int, float]]


def auto(sources: Sequence[sqlite3.Connection], asked: Asked, best: Sequence[tuple[int, float]]) -> dict[int, float]:
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


def step(name: str, complaints: list[str] | None = None) -> Step:
    """The step of this name; refused if no package brings it. `complaints` gets its failures."""
    if name in BUILT_IN:
        return BUILT_IN[name]
    for one in _brought():
        if one.name == name:
            return _guarded(one, [] if complaints is None else complaints)
    raise BadInput(
        f"no package that is installed brings the graph {name!r}",
        hint=f"Set retrieval.graph to one of {', '.join(names())}.",
    )


def _guarded(brought: "EntryPoint", complaints: list[str]) -> Step:
    """The step that a package brings; ours where it fails, which is said."""

    def follow(
        sources: Sequence[sqlite3.Connection], asked: Asked, best: Sequence[tuple[int, float]]
    ) -> dict[int, float]:
        try:
            with plugins.guarded():
                return _checked(brought.load()(sources, asked, best))
        except plugins.Failed as why:
            complaints.append(f"the graph {brought.name} failed ({why}); the built-in one answered")
            return auto(sources, asked, best)

    return follow


def _checked(gains: object) -> dict[int, float]:
    if type(gains) is not dict or len(gains) > MAX_GAINS:
        raise BadInput(f"it gave something else than at most {MAX_GAINS:,} rows with their gains")
    if not all(type(row) is int and plugins.is_number(gain) for row, gain in gains.items()):
        raise BadInput("it gave a row or a gain that is no number")
    return gains
