"""Memories, tasks, runs, commits and files as a picture: SVG, DOT, PNG, or a list to be read.

Pure functions over nodes and relations, so that the command line, the pages and the export draw the same. Titles are
strangers' text: what could end a quote or start a tag is escaped, what hides is shown. Colours are attributes of the
SVG, which a page's own style overrides; each state is also said in words.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from html import escape
from itertools import accumulate, pairwise

from holdfast.errors import BadInput
from holdfast.interfaces import layered_layout
from holdfast.interfaces.layered_layout import NodeRoom, PlacedGraph, Point
from holdfast.model.text import columns, visible
from holdfast.patterns import regex
from holdfast.recall.relation_graph import Relation, RelationGraph, RelationNode

Address = Callable[[RelationNode], str | None]

ROOM = NodeRoom()
MARGIN = 16
APART = 3  # lines at one side of a node: the words of more would lie on each other, and are only in their titles
PART = "is part of"
FONT = "system-ui, 'DejaVu Sans', Verdana, Arial, sans-serif"
TONES = {
    **dict.fromkeys(("accepted", "done", "ready", "ok"), "good"),
    **dict.fromkeys(("stale", "expired", "started", "candidate", "unreviewed", "interrupted"), "warn"),
    **dict.fromkeys(("blocked", "rejected"), "bad"),
    **dict.fromkeys(("superseded", "deprecated", "dropped"), "past"),
}
_BORDERS = {"good": "#14692f", "warn": "#855000", "bad": "#b3261e", "past": "#8a929b", "plain": "#545c66"}
_FILLS = {"memory": "#e8f0fb", "task": "#ffffff", "run": "#f4ecfb", "commit": "#eef5ea", "file": "#fbf5e6"}
_SHAPES = {"memory": "box", "task": "box", "run": "oval", "commit": "note", "file": "folder"}
_SOLID = ("needs", "rests on", "takes the place of")  # the other kinds are dashed
_WIDE = 29  # columns of a title's line
_HEAD = 29  # columns of a node's first line, whose letters are smaller
_UNFIT = regex("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # what XML cannot hold
_WORD = regex(r"\S+\s*")
_TASKS = ("goal", "milestone", "epic", "task", "subtask")


def family(node: RelationNode) -> str:
    """What a node is among: memory, task, run, commit or file."""
    return "task" if node.kind in (*_TASKS, "other") else node.kind if node.kind in _FILLS else "memory"


def tone(node: RelationNode) -> str:
    """The colour of a node's state."""
    return "bad" if node.state.startswith("exit ") else TONES.get(node.state, "plain")


def heading(node: RelationNode) -> str:
    """A node's kind, its name, and its state."""
    kind = "" if node.kind == "task" else f"{node.kind} "
    return clean(f"{kind}{node.label}{f', {node.state}' if node.state else ''}")


def clean(text: str) -> str:
    """A text on one line, with what hides made visible and what XML cannot hold replaced."""
    return " ".join(_UNFIT.sub("�", visible(text)).split())


# SVG.


def svg(
    graph: RelationGraph,
    *,
    title: str,
    hide: Callable[[str], str],
    address: Address | None = None,
    alone: bool = False,
    name: str = "graph",
) -> str:
    """The picture; `alone` makes it a file of its own, with a ground, instead of a part of a page.

    `name` tells it from another picture on the same page.
    """
    edges = [_ends(one) for one in graph.relations]
    placed = layered_layout.place([node.key for node in graph.nodes], edges, ROOM)
    width, height = placed.width + 2 * MARGIN, placed.height + 2 * MARGIN
    about = f"{len(graph.nodes)} things, {len(graph.relations)} relations; what stands left comes first."
    named = f'role="{"group" if address else "img"}" aria-labelledby="{name}-title {name}-about"'
    box = f'width="{width:.0f}" height="{height:.0f}" viewBox="{-MARGIN} {-MARGIN} {width:.0f} {height:.0f}"'
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {box} class="graph" font-family="{escape(FONT)}" {named}>',
        f'<title id="{name}-title">{_text(title, hide)}</title><desc id="{name}-about">{escape(about)}</desc>',
        *([f'<rect x="{-MARGIN}" y="{-MARGIN}" width="100%" height="100%" fill="#fbfbfa"/>'] if alone else []),
    ]
    marked = set(pairwise(graph.path))
    crowd = Counter(one.source for one in graph.relations)
    lines = [
        _line(one, points, graph, is_marked=_ends(one) in marked, named=crowd[one.source] <= APART)
        for one, points in zip(graph.relations, placed.lines, strict=True)
    ]
    nodes = [_node(node, placed, graph, hide, address) for node in graph.nodes]
    return "\n".join([*head, *lines, *nodes, "</svg>"])


def _ends(one: Relation) -> tuple[str, str]:
    """What stands left and what stands right: first things first, and a whole comes after its parts."""
    return (one.source, one.target) if one.kind == PART else (one.target, one.source)


def _line(one: Relation, points: Sequence[Point], graph: RelationGraph, *, is_marked: bool, named: bool) -> str:
    if not points:
        return ""
    steps = [f"M{points[0][0]:.0f} {points[0][1]:.0f}"]
    for (x, y), (right, down) in pairwise(points):
        middle = (x + right) / 2
        steps.append(f"C{middle:.0f} {y:.0f} {middle:.0f} {down:.0f} {right:.0f} {down:.0f}")
    look = (
        'edge critical" stroke="#0b57a4" stroke-width="3' if is_marked else 'edge" stroke="#8a929b" stroke-width="1.5'
    )
    dash = "" if one.kind in _SOLID else ' stroke-dasharray="5 4"'
    labels = {node.key: node.label for node in graph.nodes}
    said = escape(clean(f"{labels[one.source]} {one.kind} {labels[one.target]}"))
    (x, y), (beside, _) = points[::-1][:2] if one.kind == PART else points[:2]
    (left, top), (near, _) = points[:2] if one.kind == PART else points[::-1][:2]
    ahead, away = 8 if beside >= x else -8, 4 if near >= left else -4
    fill = "#0b57a4" if is_marked else "#8a929b"
    tip = f'<path class="tip" d="M{x:.0f} {y:.0f}l{ahead} -4v8z" fill="{fill}"/>'
    side = "start" if away > 0 else "end"
    place = f'x="{left + away:.0f}" y="{top - 3:.0f}" font-size="10" text-anchor="{side}" fill="#545c66"'
    ground = 'stroke="#fbfbfa" stroke-width="3" paint-order="stroke"'  # so that a line behind a word leaves it readable
    words = f'<text class="edge-word" {place} {ground}>{escape(one.kind)}</text>' if named else ""
    return f'<g><title>{said}</title><path class="{look}" d="{"".join(steps)}" fill="none"{dash}/>{tip}{words}</g>'


def _node(
    node: RelationNode, placed: PlacedGraph, graph: RelationGraph, hide: Callable[[str], str], address: Address | None
) -> str:
    x, y = placed.at[node.key]
    what, how = family(node), tone(node)
    chosen = node.key == graph.of or node.key in graph.path
    classes = f"node is-{what} {how}{' chosen' if chosen else ''}"
    head, title = _cut(hide(heading(node)), _HEAD), clean(hide(node.title))
    left, look = f"{x + 10:.0f}", f'font-size="11" font-weight="600" fill="{_BORDERS[how]}"'
    rows = [f'<text class="node-head" x="{left}" y="{y + 18:.0f}" {look}>{escape(head)}</text>']
    for number, line in enumerate(_wrapped(title)):
        look = f'y="{y + 35 + 16 * number:.0f}" font-size="12" fill="#1b1f24"'
        rows.append(f'<text class="node-title" x="{left}" {look}>{escape(line)}</text>')
    radius = 22 if what == "run" else 6
    border = 3 if chosen else 1.5
    box = (
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{ROOM.width:.0f}" height="{ROOM.height:.0f}" rx="{radius}"'
        f' fill="{_FILLS[what]}" stroke="{_BORDERS[how]}" stroke-width="{border}"/>'
    )
    said = f"<title>{escape(clean(hide(heading(node))))}{f': {escape(title)}' if title else ''}</title>"
    body = f'<g class="{classes}">{said}{box}{"".join(rows)}</g>'
    link = address(node) if address else None
    return f'<a href="{escape(link)}">{body}</a>' if link else body


def _text(text: str, hide: Callable[[str], str]) -> str:
    return escape(clean(hide(text)))


def _cut(text: str, room: int) -> str:
    """The text if it fits, else as much of it as does, with a mark."""
    if columns(text) <= room:
        return text
    ends = accumulate(map(columns, text), initial=1)
    return text[: sum(end <= room for end in ends) - 1].rstrip() + "…"


def _wrapped(text: str) -> list[str]:
    """The first two lines of a title."""
    rows = [""]
    for word in _WORD.findall(text):
        if rows[-1] and columns(rows[-1]) + columns(word.rstrip()) > _WIDE:
            if len(rows) == 2:
                rows[-1] = f"{rows[-1].rstrip()} …"
                break
            rows.append("")
        rows[-1] += word
    return [_cut(row.rstrip(), _WIDE) for row in rows if row.strip()]


# Others.


def dot(graph: RelationGraph, *, title: str, hide: Callable[[str], str]) -> str:
    """The picture in Graphviz' language."""
    names = {node.key: f"n{number}" for number, node in enumerate(graph.nodes)}
    rows = [f"digraph {_quoted(hide(title))} {{", "  rankdir=RL;", '  node [fontname="sans-serif", style=filled];']
    for node in graph.nodes:
        text = _quoted(_cut(clean(hide(node.title)), 2 * _WIDE))[1:-1]
        label = f'"{_quoted(hide(heading(node)))[1:-1]}{chr(92) + "n" if text else ""}{text}"'
        what = family(node)
        look = f'shape={_SHAPES[what]}, fillcolor="{_FILLS[what]}", color="{_BORDERS[tone(node)]}"'
        rows.append(f"  {names[node.key]} [label={label}, {look}];")
    rows += [f"  {names[r.source]} -> {names[r.target]} [label={_quoted(r.kind)}];" for r in graph.relations]
    return "\n".join([*rows, "}", ""])


def _quoted(text: str) -> str:
    return '"' + clean(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def png(picture: str) -> bytes:
    """An SVG that stands alone as PNG; BadInput if what draws it is not installed."""
    try:
        import resvg_py
    except ImportError as error:
        hint = "Install again from Holdfast's own folder, with '.[web]' in place of '.', or take --svg."
        raise BadInput(f"a PNG needs resvg_py ({error})", hint=hint) from None
    return bytes(resvg_py.svg_to_bytes(svg_string=picture))


def related(graph: RelationGraph) -> list[tuple[RelationNode, list[tuple[str, list[RelationNode]]]]]:
    """Each node with what it hangs on, by kind of relation: the picture as a list."""
    nodes = {node.key: node for node in graph.nodes}
    found: dict[str, dict[str, list[RelationNode]]] = defaultdict(lambda: defaultdict(list))
    for one in graph.relations:
        found[one.source][one.kind].append(nodes[one.target])
    return [(node, [(kind, there) for kind, there in found[node.key].items()]) for node in graph.nodes]
