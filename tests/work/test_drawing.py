"""Pictures of the graph: readable without colour, and never steered by a title."""

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.task import STATUSES, Task
from holdfast.model.text import columns
from holdfast.work import graph_drawing
from holdfast.work.task_graph import TaskGraph

HOSTILE = [
    'say "hello"',
    "a]] b[[ c(( d{{ e>",
    "<script>alert(1)</script>",
    "&lt;b&gt; &amp; #quot; #35;",
    "back\\slash \\n \\N \\",
    "end; subgraph x; click n0 call evil()",
    "`markdown` **bold** %%{init: {}}%%",
    "--> n1 :::is_done",
    'style a:"b"',
    "設計 é 🎉",
]


def task(name: str, *needs: str, **fields: Any) -> Task:
    return Task(**{"id": name, "title": f"do {name}", "needs": needs, **fields})


class Raw:
    """A task with a title that no check has seen."""

    def __init__(self, name: str, title: str, status: str = "open", parent: str | None = None) -> None:
        self.id, self.title, self.status, self.parent = name, title, status, parent
        self.kind, self.needs, self.priority, self.reason = "task", (), 2, None

    @property
    def is_closed(self) -> bool:
        return self.status in ("done", "dropped")


PLAN = TaskGraph(
    [
        task("TSK-g", kind="goal", title="Ship the second version to everybody who asked for it"),
        task("TSK-a", parent="TSK-g", status="done"),
        task("TSK-b", "TSK-a", parent="TSK-g", status="started", kind="epic"),
        task("TSK-b1", parent="TSK-b"),
        task("TSK-b2", "TSK-b1", "TSK-z", parent="TSK-b"),
        task("TSK-c", "TSK-b", parent="TSK-g"),
        task("TSK-d", status="dropped"),
        task("TSK-e", "TSK-a", "TSK-c", status="blocked"),
    ]
)


def test_a_tree_of_parts() -> None:
    """What people see first when they ask where the project stands."""
    assert graph_drawing.tree(PLAN, width=72) == (
        "[ ] TSK-g  Ship the second version to everybody who ask…  (goal, 1 of 5)\n"
        "├── [x] TSK-a  do TSK-a\n"
        "├── [~] TSK-b  do TSK-b  (epic, 0 of 2)\n"
        "│   │   needs TSK-a (done)\n"
        "│   ├── [ ] TSK-b1  do TSK-b1  (ready)\n"
        "│   └── [ ] TSK-b2  do TSK-b2\n"
        "│           needs TSK-b1 (open), TSK-z (not on this branch)\n"
        "└── [ ] TSK-c  do TSK-c\n"
        "        needs TSK-b (started)\n"
        "[-] TSK-d  do TSK-d\n"
        "[!] TSK-e  do TSK-e\n"
        "    needs TSK-a (done), TSK-c (open)\n"
    )


def test_what_is_closed_can_be_left_out() -> None:
    """After a year most of a plan is done, and nobody wants to scroll past it."""
    closed_above = TaskGraph([*PLAN.tasks.values(), task("TSK-d1", parent="TSK-d")])
    assert graph_drawing.tree(graph_drawing.part(closed_above, everything=False)) == (
        "[ ] TSK-g  Ship the second version to everybody who asked for it  (goal, 1 of 5)\n"
        "├── [~] TSK-b  do TSK-b  (epic, 0 of 2)\n"
        "│   ├── [ ] TSK-b1  do TSK-b1  (ready)\n"
        "│   └── [ ] TSK-b2  do TSK-b2\n"
        "│           needs TSK-b1 (open), TSK-z (not on this branch)\n"
        "└── [ ] TSK-c  do TSK-c\n"
        "        needs TSK-b (started)\n"
        "[-] TSK-d  do TSK-d  (0 of 1)\n"
        "└── [ ] TSK-d1  do TSK-d1\n"
        "[!] TSK-e  do TSK-e\n"
        "    needs TSK-c (open)\n"
    )


def test_what_hangs_below_one_node() -> None:
    """An epic alone, but with what it needs from outside."""
    assert graph_drawing.tree(graph_drawing.part(PLAN, "TSK-b", everything=False)) == (
        "[~] TSK-b  do TSK-b  (epic, 0 of 2)\n"
        "├── [ ] TSK-b1  do TSK-b1  (ready)\n"
        "└── [ ] TSK-b2  do TSK-b2\n"
        "        needs TSK-b1 (open), TSK-z (not on this branch)\n"
    )
    assert graph_drawing.tree(graph_drawing.part(PLAN, "TSK-a", everything=False)) == "[x] TSK-a  do TSK-a\n"


def test_circles_end() -> None:
    """A merge may bring them; a picture must not go on for ever."""
    loop = TaskGraph([task("TSK-a", parent="TSK-b"), task("TSK-b", parent="TSK-a")])
    assert graph_drawing.tree(loop) == (
        "[ ] TSK-a  do TSK-a  (0 of 1)\n└── [ ] TSK-b  do TSK-b\n    └── [ ] TSK-a  ↑ shown above\n"
    )
    ring = TaskGraph([task("TSK-a", "TSK-b"), task("TSK-b", "TSK-a")])
    for graph in (loop, ring):
        assert graph_drawing.mermaid(graph).startswith("flowchart LR\n")
        assert graph_drawing.tree(graph_drawing.part(graph, "TSK-a", everything=False)).count("\n") <= 3


def test_a_deep_plan_is_cut() -> None:
    """Ten thousand levels would be all indentation: gigabytes of it."""
    names = [f"TSK-{number}" for number in range(10_000)]
    tasks = [task(name, parent=above) for name, above in zip(names, [None, *names[:-1]], strict=True)]
    text = graph_drawing.tree(graph_drawing.part(TaskGraph(tasks), everything=False))
    assert text.count("\n") == graph_drawing.MAX_DEPTH + 2
    assert text.endswith("└── … 9,969 more below\n")


def test_many_needs_are_cut() -> None:
    """A line that wraps breaks the tree."""
    graph = TaskGraph([task("TSK-a", *(f"TSK-{number}" for number in range(100)))])
    lines = graph_drawing.tree(graph, width=80).splitlines()
    assert lines[1].startswith("    needs TSK-0 (not on this branch), TSK-1 (not on this branch), … 98 more")


@given(title=st.text(max_size=200), width=st.integers(0, 200))
def test_a_line_stays_within_its_width_and_is_one_line(title: str, width: int) -> None:
    """A title must not overwrite the screen or break the tree, whatever is in it."""
    graph = TaskGraph([Raw("TSK-a", title), Raw("TSK-b", title, parent="TSK-a")])  # type: ignore[list-item]
    text = graph_drawing.tree(graph, width=width)
    assert text.count("\n") == len(text.splitlines()) == 2
    assert all(columns(line) <= max(width, 60) for line in text.splitlines())
    assert text.replace("\n", "").isprintable() or not title.isprintable()
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_wide_characters_count_twice() -> None:
    """Chinese and Japanese titles must line up, too."""
    assert graph_drawing.cut("設計設計", 8) == "設計設計"
    assert graph_drawing.cut("設計設計", 7) == "設計設…"
    assert graph_drawing.cut("e\u0301" * 4, 4) == "e\u0301" * 4
    assert columns("e\u0301") == 1


def test_mermaid() -> None:
    """Pasted into a pull request, it is drawn."""
    assert graph_drawing.mermaid(graph_drawing.part(PLAN, "TSK-b")).split("  classDef")[0] == (
        "flowchart LR\n"
        '  n0["epic TSK-b, started<br/>do TSK-b"]:::is_started\n'
        '  n1["TSK-b1, open<br/>do TSK-b1"]:::is_open\n'
        '  n2["TSK-b2, open<br/>do TSK-b2"]:::is_open\n'
        '  n3["TSK-a, done<br/>do TSK-a"]:::is_done\n'
        '  n4["TSK-z, not on this branch"]:::is_away\n'
        "  n3 --> n0\n"
        "  n1 --> n2\n"
        "  n4 --> n2\n"
        "  n0 -.- n1\n"
        "  n0 -.- n2\n"
    )


def test_hostile_titles_are_text() -> None:
    """A title of a stranger's pull request must not run in whoever looks at the picture."""
    graph = TaskGraph([task(f"TSK-{number}", title=title) for number, title in enumerate(HOSTILE)])
    mermaid = graph_drawing.mermaid(graph)
    assert '  n0["TSK-0, open<br/>say #34;hello#34;"]:::is_open\n' in mermaid
    assert '  n2["TSK-2, open<br/>#60;script#62;alert#40;1#41;#60;/script#62;"]:::is_open\n' in mermaid
    assert '  n3["TSK-3, open<br/>#38;lt#59;b#38;gt#59; #38;amp#59; #35;quot#59; #35;35#59;"]' in mermaid
    assert '  n8["TSK-8, open<br/>style a#58;#34;b#34;"]:::is_open\n' in mermaid
    assert "設計 é" in mermaid


_MERMAID = re.compile(
    r"flowchart LR"
    r'|  n\d+\["(?:[\w ,./-]|#\d+;|<br/>)*"\]:::is_(?:open|started|blocked|done|dropped|away)'
    r"|  n\d+ (?:-->|-\.-) n\d+"
    r"|  classDef is_[a-z]+ [a-z0-9:#,-]+"
)


@given(title=st.text(max_size=100) | st.sampled_from(HOSTILE), status=st.sampled_from(STATUSES))
def test_every_line_has_one_of_the_forms_we_write(title: str, status: str) -> None:
    """A picture is a program for somebody's renderer: only our own words may be words in it."""
    graph = TaskGraph([Raw("TSK-a", title, status), Raw("TSK-b", "b", parent="TSK-a")])  # type: ignore[list-item]
    for line in graph_drawing.mermaid(graph).removesuffix("\n").split("\n"):
        assert _MERMAID.fullmatch(line), line
    label = graph_drawing.mermaid(graph).split("\n")[1]
    assert label.count("<br/>") <= 1
