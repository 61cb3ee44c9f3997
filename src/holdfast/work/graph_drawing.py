"""The task graph as a picture: a tree for the terminal, Mermaid for everything else.

Titles are strangers' text: whatever steers a terminal, ends a quote or starts a tag is shown, never
obeyed. Marks and words tell what a colour would; who wants colour adds it in `interfaces`.
"""

from collections.abc import Iterable, Iterator
from itertools import accumulate

from holdfast.model.task import Task
from holdfast.model.text import columns, visible
from holdfast.patterns import PatternFile
from holdfast.values import field, frozen, mutable
from holdfast.work.task_graph import TaskGraph

_LOOKS = PatternFile(__file__)
MARKS = {"open": "[ ]", "started": "[~]", "blocked": "[!]", "done": "[x]", "dropped": "[-]"}
AWAY = "not on this branch"
MAX_DEPTH = 30  # levels that are drawn; a chain of thousands would be all indentation
MAX_LABEL = 80  # characters; a guess: a box of a diagram stays readable
LEAST = 12  # columns a title gets, however deep it stands
# Letters and digits of any script go into a Mermaid label as they are, and of the rest only these. A colon
# does not: after the word "style" Mermaid takes it for CSS and cuts what follows.
_CALM = frozenset(" ,./_-")


@frozen
class GraphPart:
    """Some nodes of a graph, to be drawn; the whole is there to say what they need and how far they are."""

    graph: TaskGraph
    names: tuple[str, ...]
    everything: bool = True  # what is done or dropped as well


def part(graph: TaskGraph, top: str | None = None, *, everything: bool = True) -> GraphPart:
    """The nodes from `top` down, else all; unless `everything` is asked for, without what is closed.

    A closed node with something open below it stays: what is open must hang somewhere.
    """
    chosen = list(graph.tasks) if top is None else list(_subtree(graph, top))
    if not everything:
        kept = {top} if top is not None else set()
        for name in (name for name in chosen if not graph.tasks[name].is_closed):
            above: str | None = name
            while above in graph.tasks and above not in kept:  # whose ancestors are kept, too
                kept.add(above)
                above = graph.tasks[above].parent
        chosen = [name for name in chosen if name in kept]
    return GraphPart(graph, tuple(chosen), everything)


def _subtree(graph: TaskGraph, top: str) -> Iterator[str]:
    seen, waiting = {top}, [top]
    while waiting:
        name = waiting.pop()
        yield name
        new = [below for below in graph.children(name) if below not in seen]
        seen.update(new)
        waiting.extend(reversed(new))


def _as_part(graph: TaskGraph | GraphPart) -> GraphPart:
    return graph if isinstance(graph, GraphPart) else part(graph)


# The terminal.


def tree(graph: TaskGraph | GraphPart, *, width: int = 100) -> str:
    """The graph as a tree of parts; a node is drawn once."""
    chosen = _as_part(graph)
    inside = set(chosen.names)
    drawn = _Drawn(chosen, inside, max(width, 40))
    # It begins with nodes that are part of nothing here; then comes what is in circles.
    first = [name for name in chosen.names if chosen.graph.tasks[name].parent not in inside]
    for name in (*first, *(name for name in chosen.graph.roots() if name in inside), *chosen.names):
        if name not in drawn.shown:
            drawn.draw(name)
    return "".join(f"{line}\n" for line in drawn.lines)


@mutable
class _Drawn:
    """The lines of a tree as far as it is drawn."""

    part: GraphPart
    inside: set[str]
    width: int
    lines: list[str] = field(default_factory=list)
    shown: set[str] = field(default_factory=set)
    ready: set[str] = field(default_factory=set)

    @property
    def graph(self) -> TaskGraph:
        return self.part.graph

    def below(self, name: str) -> list[str]:
        """The parts of a node that are drawn."""
        return [below for below in self.graph.children(name) if below in self.inside]

    def draw(self, top: str) -> None:
        """Add a node and everything below it."""
        self.ready = self.ready or {task.id for task in self.graph.ready()}
        stack = [(top, "", "", 0)]
        while stack:
            name, lead, indent, depth = stack.pop()
            if name in self.shown:
                self.lines.append(f"{lead}{MARKS[self.graph.tasks[name].status]} {name}  ↑ shown above")
                continue
            self.shown.add(name)
            parts = self.below(name)
            self.lines.append(lead + self._node(name, len(lead)))
            self.lines += self._needs(self.graph.tasks[name], indent + ("│   " if parts else "    "))
            if parts and depth == MAX_DEPTH:
                self.lines.append(f"{indent}└── … {self._hide(parts):,} more below")
                continue
            for part in reversed(parts):
                branch, on = ("└── ", "    ") if part == parts[-1] else ("├── ", "│   ")
                stack.append((part, indent + branch, indent + on, depth + 1))

    def _node(self, name: str, used: int) -> str:
        task, (closed, of_all) = self.graph.tasks[name], self.graph.progress(name)
        facts = [task.kind] if task.kind != "task" else []
        facts += [f"{closed:,} of {of_all:,}"] if of_all else []
        facts += ["ready"] if name in self.ready else []
        head, notes = f"{MARKS[task.status]} {name}  ", f"  ({', '.join(facts)})" if facts else ""
        room = max(self.width - used - len(head) - columns(notes), LEAST)
        return f"{head}{cut(one_line(task.title), room)}{notes}"

    def _needs(self, task: Task, indent: str) -> Iterator[str]:
        """What a node needs, as much of it as fits one line."""
        tasks = self.graph.tasks  # what is met is no news where closed nodes are left out
        needs = [n for n in task.needs if self.part.everything or n not in tasks or not tasks[n].is_closed]
        if not needs:
            return
        line = f"{indent}needs "
        for told, need in enumerate(needs):
            item = f"{need} ({tasks[need].status if need in tasks else AWAY})"
            if told and columns(line) + len(item) + 12 > self.width:
                line += f", … {len(needs) - told:,} more"
                break
            line += f", {item}" if told else item
        yield line

    def _hide(self, names: Iterable[str]) -> int:
        """Count what is below and not drawn, and take it as drawn."""
        waiting, count = list(names), 0
        while waiting:
            name = waiting.pop()
            if name not in self.shown:
                self.shown.add(name)
                count += 1
                waiting.extend(self.below(name))
        return count


def one_line(text: str) -> str:
    """The text on one line, with everything hidden made visible."""
    return " ".join(visible(text).split())


def cut(text: str, room: int) -> str:
    """The text if it fits, else as much of it as does, with a mark."""
    if columns(text) <= room:
        return text
    ends = accumulate(map(columns, text), initial=1)
    return text[: sum(end <= room for end in ends) - 1].rstrip() + "…"


# Mermaid.


def _label(name: str, task: Task | None) -> tuple[str, str]:
    """A node's first line and its title."""
    if task is None:
        return f"{name}, {AWAY}", ""
    kind = f"{task.kind} " if task.kind != "task" else ""
    return f"{kind}{name}, {task.status}", cut(one_line(task.title), MAX_LABEL)


def mermaid(graph: TaskGraph | GraphPart) -> str:
    """The graph as a Mermaid flowchart: arrows to what comes next, dotted lines to parts."""
    chosen = _as_part(graph)
    tasks, inside = chosen.graph.tasks, set(chosen.names)
    nodes: dict[str, Task | None] = {name: tasks[name] for name in chosen.names}  # also those that are only named
    edges, parts = [], []
    for name in chosen.names:
        for need in dict.fromkeys(tasks[name].needs):
            if need in inside or need not in tasks or chosen.everything or not tasks[need].is_closed:
                nodes.setdefault(need, tasks.get(need))
                edges.append((need, "-->", name))
        parent = tasks[name].parent
        if parent and (parent in inside or parent not in tasks):
            nodes.setdefault(parent, None)
            parts.append((parent, "-.-", name))
    numbers = {name: f"n{number}" for number, name in enumerate(nodes)}
    lines = ["flowchart LR"]
    for name, task in nodes.items():
        head, title = (_entities(text) for text in _label(name, task))
        label = f"{head}<br/>{title}" if title else head
        lines.append(f'  {numbers[name]}["{label}"]:::{f"is_{task.status}" if task else "is_away"}')
    lines += [f"  {numbers[one]} {arrow} {numbers[other]}" for one, arrow, other in (*edges, *parts)]
    lines += [f"  classDef is_{name} {look}" for name, look in _LOOKS.pairs("mermaid").items()]
    return "".join(f"{line}\n" for line in lines)


def _entities(text: str) -> str:
    """The text for a quoted Mermaid label: what could mean something is written as its number."""
    return "".join(sign if sign.isalnum() or sign in _CALM else f"#{ord(sign)};" for sign in text)
