"""Multi-hop answers: a walk over what the records themselves tie together, from what the question names.

The way of HippoRAG 2 with no model call: what the question names (rows whose title it spells out, and those
that hold an id, a symbol, a path or a name of it that few others hold) seeds a personalised PageRank over
rows, files and names; a row that the walk reaches gains the more, the more it holds of what the question says
and the seeds do not, and if it is of the kind that was asked for ("which decision …"). A question that names
nothing sets no walk going.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from math import log10

from holdfast.index import links
from holdfast.index.asked import Asked
from holdfast.index.links import SOURCES
from holdfast.index.names import names_in
from holdfast.index.steps import names_identifier, wanted_kind
from holdfast.recall.graph.near import around
from holdfast.recall.graph.nodes import NAME, PATH, ROW, Node, Nodes, Similar, called
from holdfast.recall.graph.walk import pagerank

WEIGHT = 1.0  # of the walk, beside a best hit that weighs 1
FLOOR = 0.2  # of the walk, what counts even where a row adds nothing else to the question
SURE = 0.6  # the same where the question names an id, a path or a symbol: a walk from there does not err
WANTED = 1.5  # for being of the kind that was asked for
FADING = 4.0  # powers of ten by which mass may fall before it counts for nothing: each step takes some
GAINING = 64  # rows that may gain
MENTIONED = 20  # rows; a name in the question that more of them hold is no place to set out from
_MOST = 4000  # rows that hold a word


def follow(
    sources: Sequence[sqlite3.Connection],
    asked: Asked,
    best: Sequence[tuple[int, float]],
    *,
    similar: Similar | None = None,
) -> dict[int, float]:
    """What rows gain by links and by the walk, by key, in units of the best score."""
    gains = links.follow(sources, asked, best)
    for key, gain in _walked(Nodes(sources, similar), asked, best).items():
        gains[key] = max(gain, gains.get(key, 0.0))
    return gains


def _walked(nodes: Nodes, asked: Asked, best: Sequence[tuple[int, float]]) -> dict[int, float]:
    seeds = _seeds(nodes, asked, best)
    mass = pagerank(around(nodes, seeds), seeds)
    reached = {node: round(value, 9) for node, value in mass.items() if node[0] == ROW and node not in seeds}
    chosen = sorted(reached, key=lambda node: (-reached[node], node))[:GAINING]
    if not chosen or not reached[chosen[0]]:
        return {}
    held, floor = _held(nodes.sources, asked, seeds), SURE if names_identifier(asked) else FLOOR
    fits = _wanted(nodes, asked, {node: reached[node] for node in chosen})
    gains = {}
    for node in chosen:
        part = reached[node] / reached[chosen[0]]
        strength = 1.0 + log10(part) / FADING if part else 0.0
        if strength > 0:
            gain = WEIGHT * strength * (floor + held.get(node, 0.0) + fits.get(node, 0.0))
            gains[int(node[2]) << SOURCES | node[1]] = round(gain, 6)
    return gains


def _wanted(nodes: Nodes, asked: Asked, reached: Mapping[Node, float]) -> dict[Node, float]:
    """What is of the kind that was asked for: the first that a walk meets is meant, not what lies behind."""
    wanted = wanted_kind(asked)
    fitting = [node for node in reached if wanted and nodes.kind(node) == wanted]
    most = max((reached[node] for node in fitting), default=0.0)
    return {node: WANTED * reached[node] / most for node in fitting} if most else {}


def _seeds(nodes: Nodes, asked: Asked, best: Sequence[tuple[int, float]]) -> dict[Node, float]:
    """What the question names: rows whose title it spells out, and what holds a rare name or file of it."""
    seeds: dict[Node, float] = {}
    for number, db in enumerate(nodes.sources):
        own = [(key >> SOURCES, score) for key, score in best if key & (1 << SOURCES) - 1 == number]
        for row, strength in links.starts_of(db, asked, own):
            seeds[ROW, number, str(row)] = strength
    named = [(NAME, 0, called(name)) for name in names_in(asked.text)]
    for node in (*named, *((PATH, 0, path) for path in asked.paths)):
        holding = nodes.rows_of(node)
        if 1 <= len(holding) <= MENTIONED:
            for one in holding:
                seeds[one] = seeds.get(one, 0.0) + nodes.rarity(node) / len(holding)
    return seeds


def _held(sources: Sequence[sqlite3.Connection], asked: Asked, seeds: Mapping[Node, float]) -> dict[Node, float]:
    """By row, the share of the question's telling words that it holds and the strongest seed lacks."""
    found: list[tuple[set[Node], float]] = []
    for term, weight in zip(asked.terms, asked.weights, strict=False):
        rows = {
            (ROW, number, str(row))
            for number, db in enumerate(sources)
            for (row,) in db.execute("SELECT rowid FROM words WHERE words MATCH ? LIMIT ?", (term, _MOST))
        }
        found.append((rows, weight / (1.0 + len(rows)) ** 0.25))
    whole = sum(weight for _, weight in found) or 1.0
    first = max((node for node in seeds if node[0] == ROW), key=lambda node: seeds[node], default=None)
    held: dict[Node, float] = {}
    for rows, weight in found:
        if first not in rows:
            for node in rows:
                held[node] = held.get(node, 0.0) + weight / whole
    return held
