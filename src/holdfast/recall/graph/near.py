"""The part of the graph around what a question names: grown from the seeds, and never larger than allowed.

Rows are opened one after another, those first to which most of the seeds' weight leads; what an opened row
is tied to becomes part of the graph, what is not opened only ends walks. So the cost of an answer does not
depend on how much is kept.
"""

from collections.abc import Mapping

from holdfast.recall.graph.nodes import ROW, Node, Nodes

Edges = dict[Node, dict[Node, float]]

OPENED = 40  # rows whose neighbours are read
NODES = 2000
LOOKED_UP = 400  # names and files


def around(nodes: Nodes, seeds: Mapping[Node, float]) -> Edges:
    """The edges among what lies around the seeds, the same in both directions."""
    edges: Edges = {}
    waiting = dict(seeds)  # what weight leads to a node that is not opened yet
    rows = 0
    while waiting and rows < OPENED and len(edges) < NODES and nodes.looked_up < LOOKED_UP:
        node = min(waiting, key=lambda one: (-waiting[one], one))
        weight = waiting.pop(node)
        rows += node[0] == ROW
        near = nodes.near(node)
        whole = sum(near.values())
        for other, strength in near.items():
            _tie(edges, node, other, strength)
            if other not in seeds and not edges[other].keys() - {node}:  # met for the first time
                waiting[other] = 0.0
            if other in waiting:
                waiting[other] += 0.5 * weight * strength / whole
    return edges


def _tie(edges: Edges, one: Node, other: Node, strength: float) -> None:
    for here, there in ((one, other), (other, one)):
        known = edges.setdefault(here, {})
        known[there] = max(known.get(there, 0.0), strength)
