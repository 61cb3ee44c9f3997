"""The task graph: what is ready, what waits and why, what comes free next, and the longest way to the end.

Pure rules over tasks, in time linear in nodes and edges. A need is met when the node it names is done
or dropped. A node with open parts waits for them; when all are closed it is ready, to be closed. What a
node needs holds back its parts too, and so does a node that is blocked, done or dropped. A need of one's
own part holds back only oneself. Ids that are not here (they live on another branch) and cycles (a merge
brought them) are normal: such needs are not met, such nodes wait, and the reason is said.

Nothing heavy is imported: a quick command may ask with any values that have a task's fields.
"""

from functools import cached_property

from holdfast.values import TYPE_CHECKING, frozen
from holdfast.work.dependency_flow import DependencyFlow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.model.task import Task

CLOSED = frozenset(("done", "dropped"))
MAX_NAMED = 3  # needs of one ancestor, and ancestors, that a reason names; a deep plan must not cost its square
MAX_RING = 8  # nodes of a cycle that a reason names
NEVER = ""  # in place of an id: finishing one task is not enough


@frozen
class WaitingTask:
    """An open task that is not ready, and why, in words for people."""

    task: "Task"
    reasons: tuple[str, ...]


class TaskGraph:
    """Tasks and how they hang together; the order in which they are given counts as their age."""

    def __init__(self, tasks: "Iterable[Task]") -> None:
        self.tasks: dict[str, Task] = {task.id: task for task in tasks}
        self._parts: dict[str, list[str]] = {}
        for name, task in self.tasks.items():
            if task.parent is not None:
                self._parts.setdefault(task.parent, []).append(name)
        self._open = [name for name, task in self.tasks.items() if task.status not in CLOSED]
        self._told: dict[str, tuple[str, ...]] = {}  # how each node holds back its parts, in words

    # Structure.

    def children(self, id: str) -> tuple[str, ...]:  # noqa: A002 - the name everybody uses
        """The parts of a node, in the order given."""
        return tuple(self._parts.get(id, ()))

    def roots(self) -> tuple[str, ...]:
        """Nodes from which all others are reached by their parts: no parent here, or one of a loop."""
        return self._shape.roots

    def progress(self, id: str) -> tuple[int, int]:  # noqa: A002
        """How many of all the nodes below a node are closed, and how many there are.

        Nodes with parts count too: an epic whose tasks are done is still to be closed.
        """
        return self._sums.get(id, (0, 0))

    @cached_property
    def _sums(self) -> dict[str, tuple[int, int]]:
        shape, sums = self._shape, dict.fromkeys(self.tasks, (0, 0))
        for name in reversed(shape.order):
            task, (closed, count) = self.tasks[name], sums[name]
            if task.parent in sums and name not in shape.tops:
                before = sums[task.parent]
                sums[task.parent] = (before[0] + closed + (task.status in CLOSED), before[1] + count + 1)
        return sums

    @cached_property
    def _shape(self) -> "_Tree":
        return _Tree(self)

    # Cycles.

    def cycle(self, task: "Task | None" = None, *, since: "TaskGraph | None" = None) -> tuple[str, ...] | None:
        """A cycle of needs and parents, written A, B, A; with `task`: one that saving it would make.

        With `since`: one that is not in that earlier graph. Closed nodes count: they may be opened
        again. Taking needs away never makes a cycle, so one that a merge brought can be undone.
        """
        if task is None:
            return self._new_cycle(since)
        before = self.tasks.get(task.id)
        if before and task.parent == before.parent and set(task.needs) <= set(before.needs):
            return None
        after = TaskGraph({**self.tasks, task.id: task}.values())
        return after._whole_flow().cycle(task.id) or after._new_cycle(self)

    def _new_cycle(self, since: "TaskGraph | None") -> tuple[str, ...] | None:
        flow = self._whole_flow()
        new = set(flow.knotted())
        if new and since is not None:
            new.difference_update(since._whole_flow().knotted())
        return flow.cycle(min(new)) if new else None

    def _whole_flow(self) -> DependencyFlow:
        return DependencyFlow(self.tasks, self.tasks, self._shape.within)

    @cached_property
    def _open_flow(self) -> DependencyFlow:
        return DependencyFlow(self.tasks, self._open, self._shape.within)

    # What can be done.

    def ready(self) -> "list[Task]":
        """What can be done now: by priority, started before open, what frees most, then the oldest."""
        return list(self._ready)

    @cached_property
    def _ready(self) -> "list[Task]":
        holds, tasks = self._holds, self.tasks
        found = [tasks[name] for name in self._open if name in holds.ready]
        return sorted(found, key=lambda t: (t.priority, t.status != "started", -len(holds.frees.get(t.id, ()))))

    def unblocks(self, id: str) -> tuple[str, ...]:  # noqa: A002
        """What becomes ready at once when this is done, in the order given."""
        return tuple(self._holds.frees.get(id, ()))

    def critical_path(self) -> tuple[str, ...]:
        """The longest chain of open work, first things first: each waits for the one before.

        By its own needs, by those of what it is part of, or because the one before is part of what
        it needs. A node with open parts comes after them: it is to be closed when they are.
        """
        return self._open_flow.longest()

    def waiting(self) -> list[WaitingTask]:
        """Every open task that is not ready, most urgent first, and why."""
        return list(self._waiting)

    @cached_property
    def _waiting(self) -> list[WaitingTask]:
        held = [self.tasks[name] for name in self._open if name not in self._holds.ready]
        held.sort(key=lambda task: (task.priority, task.status != "started"))
        return [WaitingTask(task, tuple(self._reasons(task))) for task in held]

    def standing(self, id: str) -> tuple[str, ...]:  # noqa: A002
        """Why an open node is not ready; nothing if it is, or is closed."""
        task = self.tasks[id]
        return () if task.status in CLOSED or id in self._holds.ready else tuple(self._reasons(task))

    @cached_property
    def _holds(self) -> "_Holds":
        return _Holds(self)

    # Reasons in words.

    def _reasons(self, task: "Task") -> "Iterator[str]":
        holds = self._holds
        if ring := self._rings.get(task.id):
            yield f"is part of a cycle: {_shown(ring, task.id)}"
        if task.status == "blocked":
            yield f"blocked: {task.reason or 'no reason given'}"
        yield from (f"needs {self._named(need)}" for need in holds.unmet.get(task.id, ()))
        if parts := holds.parts.get(task.id):
            yield f"has {parts:,} open part{'s' if parts > 1 else ''}"
        above, told = None if task.id in self._shape.loops else holds.above.get(task.id), 0
        while above is not None and told < MAX_NAMED:
            if above not in self._told:
                self._told[above] = tuple(self._from_above(above))
            yield from self._told[above]
            above, told = holds.above.get(above), told + 1

    def _named(self, need: str) -> str:
        task = self.tasks.get(need)
        return f"{need}, which is not on this branch" if task is None else f"{need} ({task.status})"

    def _from_above(self, name: str) -> "Iterator[str]":
        """How an ancestor holds back its parts."""
        task = self.tasks[name]
        who = f"its {task.kind} {name}"
        if name in self._shape.loops:
            yield f"{who} is part of a cycle: {_shown(self._shape.loops[name], name)}"
        elif task.status in CLOSED:
            yield f"{who} is {task.status}"
        else:
            if task.status == "blocked":
                yield f"{who} is blocked: {task.reason or 'no reason given'}"
            needs = self._holds.outer(name)
            yield from (f"{who} needs {self._named(need)}" for need in needs[:MAX_NAMED])
            if len(needs) > MAX_NAMED:
                yield f"{who} needs {len(needs) - MAX_NAMED:,} more"

    @cached_property
    def _rings(self) -> dict[str, tuple[str, ...]]:
        """The cycle that an open node is part of."""
        return {**self._shape.loops, **self._open_flow.cycles()}


def _shown(ring: tuple[str, ...], name: str) -> str:
    """A cycle in words, from the node in question if it is on it; a long one is cut."""
    count, near = len(ring) - 1, ring[: 4 * MAX_RING]  # not all of it: thousands may be on the same one
    at = near.index(name) if name in near else 0
    turned = [ring[(at + step) % count] for step in range(min(count, MAX_RING))]
    return " → ".join([*turned, *(["…"] if count > MAX_RING else []), turned[0]])


class _Tree:
    """Parents and parts as a tree: an order with parents first, and who lies within whom."""

    __slots__ = ("_enter", "_leave", "loops", "order", "roots", "tops")

    def __init__(self, graph: TaskGraph) -> None:
        tasks, parts = graph.tasks, graph._parts
        self.loops: dict[str, tuple[str, ...]] = {}  # nodes that are among their own ancestors
        self.order: list[str] = []
        self._enter: dict[str, int] = {}
        self._leave: dict[str, int] = {}
        tops = [name for name, task in tasks.items() if task.parent not in tasks]
        self.tops = set(tops)
        for top in tops:
            self._walk(top, parts)
        if len(self.order) < len(tasks):
            tops += self._open_loops(graph)
        self.roots = tuple(tops)

    def _walk(self, top: str, parts: dict[str, list[str]]) -> None:
        enter, leave, order = self._enter, self._leave, self.order
        stack = [top]
        while stack:
            name = stack.pop()
            if name in enter:  # seen a second time: all its parts were
                leave[name] = len(order)
                continue
            enter[name] = len(order)
            order.append(name)
            stack.append(name)
            stack.extend(part for part in reversed(parts.get(name, ())) if part not in enter)

    def _open_loops(self, graph: TaskGraph) -> list[str]:
        """Find the loops, and walk each from its first node as if it had no parent."""
        tops = []
        for name in graph.tasks:
            if name in self._enter:
                continue
            seen: dict[str, int] = {}
            while name not in seen:  # a node without a root above it leads to a loop
                seen[name] = len(seen)
                name = graph.tasks[name].parent or ""
            ring = list(seen)[seen[name] :]
            first = ring.index(min(ring))  # wherever one came from, the same node counts as the top
            ring = ring[first:] + ring[:first]
            tops.append(ring[0])
            self.loops.update(dict.fromkeys(ring, (*ring, ring[0])))
            self.tops.add(ring[0])
            self._walk(ring[0], graph._parts)
        return tops

    def within(self, name: str, other: str) -> bool:
        """Whether a node lies somewhere among another's parts."""
        enter = self._enter
        return name != other and enter[other] < enter[name] < self._leave[other]


class _Holds:
    """What holds back each open node, and what is the only thing that does."""

    __slots__ = ("_graph", "above", "frees", "parts", "ready", "unmet")

    def __init__(self, graph: TaskGraph) -> None:
        self._graph = graph
        self.parts: dict[str, int] = {}  # how many open parts a node has
        self.unmet: dict[str, list[str]] = {}  # the needs of an open node that are not met
        self.above: dict[str, str] = {}  # the nearest ancestor that holds a node back
        self.ready: set[str] = set()
        self.frees: dict[str, list[str]] = {}
        only: dict[str, str] = {}  # for each node with open parts: the part if it is one, else NEVER
        for name in graph._open:
            parent = graph.tasks[name].parent
            if parent is not None:
                self.parts[parent] = self.parts.get(parent, 0) + 1
                only[parent] = name if self.parts[parent] == 1 else NEVER
        self._settle(only)

    def _settle(self, only: dict[str, str]) -> None:
        tasks, shape = self._graph.tasks, self._graph._shape
        passed: dict[str, str | None] = {}  # what a node's parts wait for because of it and what is above it
        alone: dict[str, str | None] = {}  # the one thing that an open node waits for
        for name in shape.order:
            task = tasks[name]
            parent = task.parent if name not in shape.tops else None
            hold = passed[parent] if parent is not None else None
            if task.status in CLOSED:
                own: str | None = NEVER
            else:
                own = self._own(name, task)
                alone[name] = _both(_both(hold, own), only.get(name))
            if name in self._graph._parts:
                own = self._passed_on(name, own)
                passed[name] = _both(hold, own)
                above = name if own is not None else self.above.get(name)  # the nearest that holds its parts back
                if above is not None:
                    self.above |= {part: above for part in self._graph._parts[name] if part not in shape.tops}
        for name in self._graph._open:
            awaited = alone[name]
            if awaited is None:
                self.ready.add(name)
            elif awaited and awaited != name and not shape.within(name, awaited):
                self.frees.setdefault(awaited, []).append(name)

    def _own(self, name: str, task: "Task") -> str | None:
        """What a node waits for by itself."""
        tasks = self._graph.tasks
        own: str | None = None
        unmet = []
        for need in task.needs:
            if need not in tasks or tasks[need].status not in CLOSED:
                own = _both(own, need if need in tasks else NEVER)
                unmet.append(need)
        if unmet:
            self.unmet[name] = list(dict.fromkeys(unmet))
        return NEVER if task.status == "blocked" or name in self._graph._shape.loops else own

    def _passed_on(self, name: str, own: str | None) -> str | None:
        """What of it holds back its parts: a need of one of these does not."""
        task = self._graph.tasks[name]
        if own is None or task.status in CLOSED or task.status == "blocked":
            return own
        if name in self._graph._shape.loops:
            return NEVER
        outer = self.outer(name)
        return NEVER if len(outer) > 1 or (outer and outer[0] not in self._graph.tasks) else next(iter(outer), None)

    def outer(self, name: str) -> list[str]:
        """The needs of a node that are not met and are none of its own parts."""
        shape, tasks = self._graph._shape, self._graph.tasks
        return [need for need in self.unmet.get(name, []) if need not in tasks or not shape.within(need, name)]


def _both(one: str | None, other: str | None) -> str | None:
    """What is awaited if both are: nothing, one thing, or more than finishing one task brings."""
    return other if one is None else one if other in (None, one) else NEVER
