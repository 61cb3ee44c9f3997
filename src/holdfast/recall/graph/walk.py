"""Personalised PageRank: where a walk is that sets out from the seeds and often returns to them.

Plain power iteration over a small graph: no global graph is kept, and what is walked is bounded by whoever
makes the edges. The masses of all nodes sum to one; equal graphs give equal masses.
"""

from collections.abc import Hashable, Mapping
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)

DAMPING = 0.7  # how often a walk goes on instead of setting out again; a row and a name are two steps
ROUNDS = 40
ENOUGH = 1e-7  # a round that moves less mass than this changes nothing


def pagerank(
    edges: Mapping[Node, Mapping[Node, float]], seeds: Mapping[Node, float], *, damping: float = DAMPING
) -> dict[Node, float]:
    """The mass of every node that can be reached from the seeds; nothing if no seed weighs anything.

    Edges weigh as they are given in each direction. A walk that can go nowhere sets out again.
    """
    start = _shares(seeds)
    if not start:
        return {}
    steps = {node: _shares(others) for node, others in edges.items()}
    mass = dict(start)
    for _ in range(ROUNDS):
        following = _step(mass, start, steps, damping)
        moved = sum(abs(value - mass.get(node, 0.0)) for node, value in following.items())
        mass = following
        if moved < ENOUGH:
            break
    return mass


def _shares(weights: Mapping[Node, float]) -> dict[Node, float]:
    """Weights as parts of one; those that weigh nothing are left out."""
    whole = sum(weight for weight in weights.values() if weight > 0)
    return {node: weight / whole for node, weight in weights.items() if weight > 0} if whole > 0 else {}


def _step(
    mass: Mapping[Node, float], start: Mapping[Node, float], steps: Mapping[Node, Mapping[Node, float]], damping: float
) -> dict[Node, float]:
    """One round: every node passes on what it has, or returns it to where walks set out."""
    arrived: dict[Node, float] = {}
    returned = 1.0 - damping
    for node, value in mass.items():
        others = steps.get(node)
        if not others:
            returned += damping * value
            continue
        for other, share in others.items():
            arrived[other] = arrived.get(other, 0.0) + damping * value * share
    for node, share in start.items():
        arrived[node] = arrived.get(node, 0.0) + returned * share
    return arrived
