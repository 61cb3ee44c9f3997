"""The part of the graph around what a question names: grown from the seeds, and never larger than allowed.

Rows are opened one after another, those first to which most of the seeds' weight leads; what an opened row
is tied to becomes part of the graph, what is not opened only ends walks. So the cost of an answer does not
depend on how much is kept.
"""

from collections.abc import Mapping

from holdfast.recall.graph.nodes import ROW, Node, Nodes
from holdfast.recall.graph.walk import DAMPING

Edges = dict[Node, dict[Node, float]]

OPENED = 40  # rows whose neighbours are read
NODES = 2000
LOOKED_UP = 400  # names and files


def around(nodes: Nodes, seeds: Mapping[Node, float]) -> Edges:
    """From every node that was opened, what it is tied to and how strongly."""
    edges: Edges = {}
    waiting = dict(seeds)  # what weight leads to a node that is not opened yet
    met, rows = len(waiting), 0
    while waiting and rows < OPENED and met < NODES and nodes.looked_up < LOOKED_UP:
        node = min(waiting, key=lambda one: (-waiting[one], one))
        weight = waiting.pop(node)
        rows += node[0] == ROW
        near = edges[node] = nodes.near(node)
        whole = sum(near.values())
        for other, strength in near.items():
            if other not in edges:
                met += other not in waiting
                waiting[other] = waiting.get(other, 0.0) + DAMPING * weight * strength / whole
    for node in waiting:
        if node[0] != ROW and node not in edges:  # looked up already: walks need not end there
            edges[node] = nodes.near(node)
    return edges
