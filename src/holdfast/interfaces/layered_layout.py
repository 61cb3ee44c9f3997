"""Places a graph in layers, from left to right, so that few lines cross (Sugiyama's method).

Circles are broken, each node gets a layer, long lines get a point in every layer they pass, each layer is ordered by
the middle of its neighbours, and then moved as near to them as the others allow. Pure functions over names and
numbers; what a node is and how it looks is `interfaces.graph_picture`'s business. Why not a library: docs/adr/0035.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from holdfast.values import frozen

SWEEPS = 12  # over all layers, to and fro; measured: later ones take no more crossings away
ROW = 4  # nodes without lines that stand side by side
_PASSING = 0.4  # of a node's height: what a line takes that passes a layer

Point = tuple[float, float]
_Edge = tuple[str, str]
_Spot = tuple[str, int]  # a node and 0, or the number of a line and the layer that it passes


@frozen
class PlacedGraph:
    """Where each node's upper left corner is, and the points of each line, in the order the lines were given."""

    width: float
    height: float
    at: dict[str, Point]
    lines: tuple[tuple[Point, ...], ...]


@frozen
class NodeRoom:
    """The size of a node, and the room between two layers and between two nodes."""

    width: float = 216
    height: float = 60
    across: float = 88
    between: float = 18


def place(names: Sequence[str], edges: Sequence[_Edge], room: NodeRoom | None = None) -> PlacedGraph:
    """Places nodes and lines; a line goes from its first node to its second, which stands further right."""
    room = room or NodeRoom()
    lines = {number: edge for number, edge in enumerate(edges) if edge[0] != edge[1]}
    at: dict[str, Point] = {}
    drawn: dict[int, tuple[Point, ...]] = {}
    top = width = 0.0
    groups = _components(names, lines.values())
    for group in (group for group in groups if len(group) > 1):
        inside = set(group)
        part = _LayeredPart(group, {number: edge for number, edge in lines.items() if edge[0] in inside}, room)
        at |= {name: (x, y + top) for name, (x, y) in part.at.items()}
        drawn |= {number: tuple((x, y + top) for x, y in points) for number, points in part.lines.items()}
        width, top = max(width, part.width), top + part.height + 2 * room.between
    for number, name in enumerate(group[0] for group in groups if len(group) == 1):
        row, column = divmod(number, ROW)
        at[name] = (column * (room.width + room.between), top + row * (room.height + room.between))
    right = max((x + room.width for x, _ in at.values()), default=0.0)
    bottom = max((y + room.height for _, y in at.values()), default=0.0)
    bottom = max([bottom, *(y for points in drawn.values() for _, y in points)])
    return PlacedGraph(max(width, right), bottom, at, tuple(drawn.get(number, ()) for number in range(len(edges))))


def _components(names: Sequence[str], edges: Iterable[_Edge]) -> list[list[str]]:
    """The nodes that hang together, the largest group first, each in the order given."""
    beside: dict[str, list[str]] = {name: [] for name in names}
    for one, other in edges:
        beside[one].append(other)
        beside[other].append(one)
    place_of = {name: number for number, name in enumerate(names)}
    seen: set[str] = set()
    groups = []
    for name in names:
        if name in seen:
            continue
        seen.add(name)
        group = [name]
        for member in group:
            group += (new := [other for other in dict.fromkeys(beside[member]) if other not in seen])
            seen.update(new)
        groups.append(sorted(group, key=place_of.__getitem__))
    return sorted(groups, key=len, reverse=True)


class _LayeredPart:
    """One part of a graph whose nodes hang together."""

    def __init__(self, names: Sequence[str], edges: dict[int, _Edge], room: NodeRoom) -> None:
        turned = _turned(names, edges.values())
        forward = {number: (edge[::-1] if edge in turned else edge) for number, edge in edges.items()}
        self._layer = _layers(names, forward.values())
        self._chains = {number: self._chain(number, edge) for number, edge in forward.items()}
        self._before: dict[_Spot, list[_Spot]] = defaultdict(list)
        self._after: dict[_Spot, list[_Spot]] = defaultdict(list)
        spots: dict[_Spot, int] = {(name, 0): self._layer[name] for name in names}
        for chain in self._chains.values():
            for step, (one, other) in enumerate(pairwise(chain)):
                self._after[one].append(other)
                self._before[other].append(one)
                spots.setdefault(other, self._layer[chain[0][0]] + step + 1)
        self._columns: list[list[_Spot]] = [[] for _ in range(1 + max(spots.values()))]
        for spot, layer in spots.items():
            self._columns[layer].append(spot)
        self._nodes = {(name, 0) for name in names}
        self._columns = self._ordered()
        tops = self._tops(room)
        pitch = room.width + room.across
        self.at = {name: (self._layer[name] * pitch, tops[name, 0]) for name in names}
        self.width = len(self._columns) * pitch - room.across
        passed = [y + room.height * _PASSING for spot, y in tops.items() if spot not in self._nodes]
        self.height = max([*passed, *(y + room.height for _, y in self.at.values())])
        self.lines: dict[int, tuple[Point, ...]] = {}
        ends = self._ends(tops, room)
        for number, chain in self._chains.items():
            points = self._points(number, chain, tops, ends, room)
            self.lines[number] = points if forward[number] == edges[number] else points[::-1]

    def _chain(self, number: int, edge: _Edge) -> list[_Spot]:
        """The spots of a line: its nodes, and one in each layer between them."""
        one, other = edge
        passed = range(self._layer[one] + 1, self._layer[other])
        return [(one, 0), *((f"\0{number}", layer) for layer in passed), (other, 0)]

    # The order within each layer.

    def _ordered(self) -> list[list[_Spot]]:
        best, fewest = self._columns, _crossings(self._columns, self._after)
        columns = [list(column) for column in self._columns]
        for sweep in range(SWEEPS):
            if fewest == 0:
                break
            ahead = sweep % 2 == 0
            beside = self._before if ahead else self._after
            steps = range(1, len(columns)) if ahead else range(len(columns) - 2, -1, -1)
            for layer in steps:
                fixed = {spot: place for place, spot in enumerate(columns[layer - 1 if ahead else layer + 1])}
                columns[layer] = _by_middle(columns[layer], beside, fixed)
            crossings = _crossings(columns, self._after)
            if crossings < fewest:
                best, fewest = [list(column) for column in columns], crossings
        return best

    # Where they stand.

    def _tops(self, room: NodeRoom) -> dict[_Spot, float]:
        """The upper edge of each spot: near the middle of its neighbours, in the order of its layer."""
        spots = [spot for column in self._columns for spot in column]
        tall = {spot: room.height * (1 if spot in self._nodes else _PASSING) for spot in spots}
        tops: dict[_Spot, float] = {}
        for column in self._columns:
            y = 0.0
            for spot in column:
                tops[spot] = y
                y += tall[spot] + room.between
        for sweep in range(SWEEPS):
            ahead = sweep % 2 == 0
            for column in self._columns if ahead else reversed(self._columns):
                wanted = []
                for spot in column:
                    near = [*self._before[spot], *self._after[spot]]
                    middle = sum(tops[one] + tall[one] / 2 for one in near) / len(near)
                    wanted.append(middle - tall[spot] / 2)
                tops.update(zip(column, _apart(wanted, [tall[spot] + room.between for spot in column]), strict=True))
        highest = min(tops.values())
        return {spot: y - highest for spot, y in tops.items()}

    def _ends(self, tops: dict[_Spot, float], room: NodeRoom) -> dict[tuple[int, bool], float]:
        """How far below its node's upper edge each line begins and ends, so that lines do not lie on each other."""
        sides: dict[tuple[_Spot, bool], list[tuple[float, int]]] = defaultdict(list)
        for number, chain in self._chains.items():
            sides[chain[0], True].append((tops[chain[1]], number))
            sides[chain[-1], False].append((tops[chain[-2]], number))
        found = {}
        for (_, leaves), lines in sides.items():
            for place_, (_, number) in enumerate(sorted(lines), 1):
                found[number, leaves] = room.height * place_ / (len(lines) + 1)
        return found

    def _points(
        self,
        number: int,
        chain: list[_Spot],
        tops: dict[_Spot, float],
        ends: dict[tuple[int, bool], float],
        room: NodeRoom,
    ) -> tuple[Point, ...]:
        pitch, first = room.width + room.across, self._layer[chain[0][0]]
        points: list[Point] = [(first * pitch + room.width, tops[chain[0]] + ends[number, True])]
        for step, spot in enumerate(chain[1:-1], 1):
            y, x = tops[spot] + room.height * _PASSING / 2, (first + step) * pitch
            points += [(x, y), (x + room.width, y)]
        last = (first + len(chain) - 1) * pitch, tops[chain[-1]] + ends[number, False]
        return (*points, last)


def _turned(names: Sequence[str], edges: Iterable[_Edge]) -> set[_Edge]:
    """The lines that close a circle, found by a walk that keeps its own stack."""
    after: dict[str, list[str]] = {name: [] for name in names}
    for one, other in edges:
        after[one].append(other)
    begun: set[str] = set()
    done: set[str] = set()
    found: set[_Edge] = set()
    for start in names:
        if start in begun:
            continue
        begun.add(start)
        trail = [(start, iter(after[start]))]
        while trail:
            name, rest = trail[-1]
            for other in rest:
                if other not in begun:
                    begun.add(other)
                    trail.append((other, iter(after[other])))
                    break
                if other not in done:
                    found.add((name, other))
            else:
                done.add(name)
                trail.pop()
    return found


def _layers(names: Sequence[str], edges: Iterable[_Edge]) -> dict[str, int]:
    """Each node's layer: behind all that it follows, and no further from what follows it than needed."""
    after: dict[str, set[str]] = {name: set() for name in names}
    before: dict[str, set[str]] = {name: set() for name in names}
    for one, other in edges:
        after[one].add(other)
        before[other].add(one)
    waits = {name: len(before[name]) for name in names}
    order = [name for name in names if not waits[name]]
    for name in order:
        for other in sorted(after[name]):
            waits[other] -= 1
            if not waits[other]:
                order.append(other)
    layer: dict[str, int] = {}
    for name in order:
        layer[name] = max((layer[one] + 1 for one in before[name]), default=0)
    for name in reversed(order):  # what holds up others more than it hangs on others moves to them
        if len(after[name]) > len(before[name]):
            layer[name] = min(layer[other] for other in after[name]) - 1
    return layer


def _by_middle(column: list[_Spot], beside: dict[_Spot, list[_Spot]], fixed: dict[_Spot, int]) -> list[_Spot]:
    """A layer ordered by the mean place of each spot's neighbours; what has none keeps its place."""
    middle = {}
    for place_, spot in enumerate(column):
        near = [fixed[one] for one in beside[spot] if one in fixed]
        middle[spot] = sum(near) / len(near) if near else float(place_)
    return sorted(column, key=middle.__getitem__)


def _crossings(columns: list[list[_Spot]], after: dict[_Spot, list[_Spot]]) -> int:
    """How many pairs of lines cross between neighbouring layers."""
    total = 0
    for left, right in pairwise(columns):
        number = {spot: place_ for place_, spot in enumerate(right)}
        ends: list[int] = []
        for spot in left:
            there = sorted(number[other] for other in after[spot])
            total += sum(len(ends) - bisect_right(ends, one) for one in there)
            for one in there:
                insort(ends, one)
    return total


def _apart(wanted: Sequence[float], tall: Sequence[float]) -> list[float]:
    """Positions nearest to those wanted, in that order, each with its room (least squares, by pooling)."""
    pools: list[tuple[float, int]] = []  # the mean of some that touch each other, and how many these are
    offset, offsets = 0.0, []
    for want, height in zip(wanted, tall, strict=True):
        offsets.append(offset)
        pools.append((want - offset, 1))
        offset += height
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (mean, many), (last, few) = pools[-2:]
            pools[-2:] = [((mean * many + last * few) / (many + few), many + few)]
    means = [mean for mean, many in pools for _ in range(many)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]
