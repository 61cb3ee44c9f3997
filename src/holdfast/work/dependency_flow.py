"""What has to wait for what, as one flow of beginnings and ends.

A node begins when what it needs has ended and its parent may begin; it ends after its parts. So a node
with parts is two points here, its beginning and its end, and every other node is one. A ring of such
waits is a cycle, whether it runs through needs, through parents or through both. A need of one's own
part says only what holds anyway (a node ends after its parts), so it makes no ring.

Everything takes time linear in nodes and edges, without recursion. Only `task_graph` asks here.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from holdfast.model.task import Task

MAX_STEPS = 20_000  # of looking for cycles: a tangle of thousands is said with fewer


class DependencyFlow:
    """The waits among some of the nodes."""

    __slots__ = (
        "_after", "_ends", "_knot", "_knots", "_names", "_numbers", "_owner", "_parent", "_reach", "_tasks",
        "_within",
    )  # fmt: skip

    def __init__(
        self, tasks: "Mapping[str, Task]", names: "Collection[str]", within: "Callable[[str, str], bool]"
    ) -> None:
        """`names` are the nodes that count; `within(a, b)` tells whether a is somewhere among b's parts."""
        self._tasks, self._names, self._within = tasks, list(names), within
        self._numbers = {name: number for number, name in enumerate(self._names)}
        self._parent = [self._numbers.get(tasks[name].parent or "", -1) for name in self._names]
        self._owner = list(range(len(self._names)))  # the node of each point
        self._ends = list(range(len(self._names)))  # the end of each node: itself, unless it has parts
        for parent in self._parent:
            if parent >= 0 and self._ends[parent] == parent:
                self._ends[parent] = len(self._owner)
                self._owner.append(parent)
        self._connect()
        self._flow()

    # Making it.

    def _connect(self) -> None:
        """Say for each point which others wait for it."""
        ends, find, within = self._ends, self._numbers.get, self._within
        self._after: list[list[int]] = [[] for _ in self._owner]
        after = self._after
        for node, name in enumerate(self._names):
            end, parent = ends[node], self._parent[node]
            if parent >= 0:
                after[parent].append(node)
                after[end].append(ends[parent])
            if end != node:
                after[node].append(end)
            for need in self._tasks[name].needs:
                if (other := find(need)) is not None:
                    inner = node not in (end, other) and within(need, name)
                    after[ends[other]].append(end if inner else node)

    def _flow(self) -> None:
        """Let everything happen in order; what is left over is in a knot or behind one."""
        waits = [0] * len(self._owner)
        for followers in self._after:
            for point in followers:
                waits[point] += 1
        self._reach = [0] * len(waits)  # how much work comes before each point, at the longest
        self._knot = [-1] * len(waits)  # which knot each point is in
        self._knots: list[list[int]] = []
        self._run([point for point, count in enumerate(waits) if not count], waits)
        left = [point for point, count in enumerate(waits) if count]
        if left:
            self._find_knots(left)
            for point in (point for point in left if self._knot[point] >= 0):  # waits inside a knot do not count
                for follower in self._after[point]:
                    waits[follower] -= self._inside(point, follower)
                self._after[point] = [f for f in self._after[point] if not self._inside(point, f)]
            self._run([point for point in left if not waits[point]], waits)

    def _run(self, free: list[int], waits: list[int]) -> None:
        after, reach, ends, owner = self._after, self._reach, self._ends, self._owner
        while free:
            point = free.pop()
            # Ends count as steps: a node with parts is done by doing them, and then by closing it.
            total = reach[point] + (ends[owner[point]] == point)
            for follower in after[point]:
                if total > reach[follower]:  # noqa: PLR1730 - max() would cost as much as all the rest
                    reach[follower] = total
                waits[follower] -= 1
                if not waits[follower]:
                    free.append(follower)

    def _inside(self, point: int, follower: int) -> bool:
        return self._knot[point] >= 0 and self._knot[point] == self._knot[follower]

    def _find_knots(self, left: list[int]) -> None:
        """Tarjan's strongly connected components among the points that are left, without recursion."""
        seen: dict[int, int] = {}
        low: dict[int, int] = {}
        stack: list[int] = []
        settled: set[int] = set()
        for start in left:
            if start in seen:
                continue
            trail = [(start, iter(self._after[start]))]
            seen[start] = low[start] = len(seen)
            stack.append(start)
            while trail:
                point, followers = trail[-1]
                for follower in followers:
                    if follower not in seen:
                        seen[follower] = low[follower] = len(seen)
                        stack.append(follower)
                        trail.append((follower, iter(self._after[follower])))
                        break
                    if follower not in settled:
                        low[point] = min(low[point], seen[follower])
                else:
                    trail.pop()
                    if trail:
                        before = trail[-1][0]
                        low[before] = min(low[before], low[point])
                    if low[point] == seen[point]:
                        self._settle(point, stack, settled)

    def _settle(self, root: int, stack: list[int], settled: set[int]) -> None:
        """Take a whole component off the stack; it is a knot if there is a way round in it."""
        members = [stack.pop()]
        while members[-1] != root:
            members.append(stack.pop())
        settled.update(members)
        if len(members) > 1 or root in self._after[root]:
            for point in members:
                self._knot[point] = len(self._knots)
            self._knots.append(members)

    # Asking it.

    def longest(self) -> tuple[str, ...]:
        """The longest chain of work in which each piece waits for the one before, first things first.

        Waits inside a knot are ignored; of equal chains the one with the smallest ids from the end counts.
        """
        if not self._ends:
            return ()
        most = max(self._reach[point] for point in self._ends)
        point = min((p for p in self._ends if self._reach[p] == most), key=self._rank)
        chain, parts, reach = [point], self._parts(), self._reach
        while reach[point]:
            around = (other for other in self._awaited(point, parts) if not self._inside(other, point))
            fitting = (other for other in around if reach[other] + self._work(other) == reach[point])
            point = min(fitting, key=self._rank)
            if self._work(point):
                chain.append(point)
        return tuple(self._names[self._owner[point]] for point in reversed(chain))

    def _work(self, point: int) -> int:
        return 1 if self._ends[self._owner[point]] == point else 0

    def _rank(self, point: int) -> tuple[str, bool]:
        """What decides between equals: the id, then the beginning before the end; never the order given."""
        return self._names[self._owner[point]], point >= len(self._names)

    def _parts(self) -> list[list[int]]:
        parts: list[list[int]] = [[] for _ in self._names]
        for node, parent in enumerate(self._parent):
            if parent >= 0:
                parts[parent].append(node)
        return parts

    def _awaited(self, point: int, parts: list[list[int]]) -> "Iterator[int]":
        """The points that one waits for: `after`, the other way round."""
        node = self._owner[point]
        begins, ends = point < len(self._names), self._ends[node] == point
        name = self._names[node]
        for need in self._tasks[name].needs:
            other = self._numbers.get(need)
            if other is not None:
                inner = self._ends[node] != node and other != node and self._within(need, name)
                if (inner and ends) or (not inner and begins):
                    yield self._ends[other]
        if begins and self._parent[node] >= 0:
            yield self._parent[node]
        if ends:
            yield from (self._ends[part] for part in parts[node])
            if not begins:
                yield node

    def knotted(self) -> list[str]:
        """The nodes that are part of a cycle, each once, in the order given."""
        return [name for name in self._names if self._knotted_point(name) >= 0]

    def _knotted_point(self, name: str) -> int:
        """The node's point that is in a knot, its beginning if both are; -1 if neither is."""
        node = self._numbers[name]
        return next((p for p in (node, self._ends[node]) if self._knot[p] >= 0), -1)

    def cycle(self, name: str) -> tuple[str, ...] | None:
        """A shortest cycle through a node, from it and back to it; None if there is none."""
        if name not in self._numbers or (point := self._knotted_point(name)) < 0:
            return None
        return self._words(self._round(point, self._parts())[0])

    def _round(self, start: int, parts: list[list[int]]) -> tuple[tuple[int, ...], int]:
        """A shortest way from a point in a knot back to it, and how many steps it took to find."""
        came: dict[int, int] = {}
        queue, steps = [start], 0
        for point in queue:
            for other in sorted(set(self._awaited(point, parts)), key=self._rank):
                steps += 1
                if self._inside(point, other) and other not in came:
                    came[other] = point
                    queue.append(other)
                    if other == start:
                        way = [start]
                        while point != start:
                            way.append(point)
                            point = came[point]
                        return (start, *reversed(way)), steps
        raise AssertionError("a point in a knot has no way round")

    def _words(self, way: tuple[int, ...]) -> tuple[str, ...]:
        """The nodes of a way; a beginning and an end of one node in a row are named once."""
        nodes = [self._names[self._owner[point]] for point in way]
        kept = [name for place, name in enumerate(nodes) if place == 0 or nodes[place - 1] != name]
        return tuple(kept) if len(kept) > 1 else (kept[0], kept[0])

    def cycles(self) -> dict[str, tuple[str, ...]]:
        """A cycle for every node that is on one: its own, unless the tangle is too large to look for each."""
        found: dict[str, tuple[str, ...]] = {}
        parts, budget = self._parts(), MAX_STEPS
        for knot in self._knots:
            names = sorted({self._names[self._owner[point]] for point in knot})
            first: tuple[str, ...] = ()
            for name in names:
                if name in found:
                    continue
                if first and budget <= 0:
                    found[name] = first
                    continue
                way, steps = self._round(self._knotted_point(name), parts)
                budget -= steps
                ring = self._words(way)
                first = first or ring
                found.update((member, ring) for member in ring if member not in found)
        return found
