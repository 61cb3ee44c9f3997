"""Pictures of what hangs together: where nodes stand, what SVG, DOT and PNG say, and which neighbours are drawn."""

import json
import re
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import NotFound
from holdfast.interfaces import graph_picture, layered_layout
from holdfast.project import Project
from holdfast.recall.relation_graph import Relation, RelationGraph, RelationNode
from tests.conftest import Cli, GitRepo, init

NAMES = [f"n{number}" for number in range(12)]
EDGES = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=30)
HOSTILE = 'a"];b\\ <script>alert(1)</script> ]]> &amp; \u202e\x07\ud800\ufffe'


@given(edges=EDGES)
def test_no_node_lies_on_another_and_lines_end_at_their_nodes(edges: list[tuple[str, str]]) -> None:
    """A picture in which boxes cover each other hides what it was drawn for; circles and doubles are normal."""
    room = layered_layout.NodeRoom()
    placed = layered_layout.place(NAMES, edges, room)
    assert set(placed.at) == set(NAMES)
    boxes = sorted(placed.at.values())
    for number, (x, y) in enumerate(boxes):
        for left, top in boxes[:number]:
            assert abs(x - left) >= room.width - 0.001 or abs(y - top) >= room.height - 0.001
    for (one, other), points in zip(edges, placed.lines, strict=True):
        if one == other:
            assert points == ()
            continue
        for name, (x, y) in ((one, points[0]), (other, points[-1])):
            left, top = placed.at[name]
            assert x in (left, left + room.width)
            assert top <= y <= top + room.height
    assert all(0 <= x <= placed.width and 0 <= y <= placed.height for points in placed.lines for x, y in points)


@given(edges=EDGES)
def test_what_comes_first_stands_further_left(edges: list[tuple[str, str]]) -> None:
    """The picture says so in words."""
    ahead = [(min(edge), max(edge)) for edge in edges if edge[0] != edge[1]]  # no circle
    placed = layered_layout.place(NAMES, ahead)
    assert all(placed.at[one][0] < placed.at[other][0] for one, other in ahead)


def test_lines_that_need_not_cross_do_not() -> None:
    """Two ladders side by side are the least that must be drawn well."""
    edges = [
        ("a1", "b1"),
        ("a2", "b2"),
        ("a3", "b3"),
        ("b1", "c1"),
        ("b2", "c2"),
        ("b3", "c3"),
        ("c3", "d"),
        ("c1", "d"),
    ]
    names = ["a1", "a2", "a3", "b3", "b2", "b1", "c2", "c3", "c1", "d"]
    placed = layered_layout.place(names, edges)
    heights = {name: y for name, (_, y) in placed.at.items()}
    order = lambda column: sorted((f"{column}{number}" for number in "123"), key=heights.__getitem__)  # noqa: E731
    assert [name[1] for name in order("a")] == [name[1] for name in order("b")] == [name[1] for name in order("c")]


def hostile() -> RelationGraph:
    nodes = [
        RelationNode(f"X-{n}", kind, f"X-{n}{HOSTILE}", HOSTILE, HOSTILE) for n, kind in enumerate(("task", "run"))
    ]
    return RelationGraph(tuple(nodes), (Relation("X-0", "X-1", "needs"),))


def test_an_svg_is_well_formed_whatever_titles_hold() -> None:
    """A title must not become a script in the page, or an SVG that no browser opens."""
    text = graph_picture.svg(hostile(), title=HOSTILE, hide=str, address=lambda _: 'x" onload="alert(1)')
    root = ET.fromstring(text)
    space = "{http://www.w3.org/2000/svg}"
    assert {node.tag.removeprefix(space) for node in root.iter()} == {
        *("svg", "title", "desc", "g", "a", "path", "rect", "text")
    }
    assert all(not name.startswith("on") for node in root.iter() for name in node.attrib)
    assert root.find(f"{space}title") is not None
    assert root.find(f"{space}desc") is not None
    assert "\u202e" not in text


def test_a_dot_file_keeps_titles_within_their_quotes() -> None:
    """Graphviz would read the rest of a title as its own language."""
    text = graph_picture.dot(hostile(), title=HOSTILE, hide=str)
    strings = re.sub(r'"(?:[^"\\]|\\.)*"', "", text)
    assert "script" not in strings
    assert strings.count("{") == strings.count("}") == 1
    assert len(text.splitlines()) == 3 + 2 + 1 + 1


def test_a_png_is_one(tmp_path: Path) -> None:
    """A picture in a chat or a document is a PNG."""
    text = graph_picture.svg(hostile(), title="t", hide=str, alone=True)
    assert graph_picture.png(text).startswith(b"\x89PNG\r\n")


@pytest.fixture
def linked(repo: GitRepo) -> Project:
    """A memory that took another's place, both resting on a file; a run that wrote it; a task that is shown by it."""
    init(repo.path)
    repo.write("retry.py", "LIMIT = 5\n")
    repo.git("add", ".")
    repo.git("commit", "-qm", "Retry five times")
    project = Project.open(repo.path, person=True)
    project.memory.remember(
        "Sessions live in Redis.", kind="decision", id="DEC-redis", evidence=["retry.py"], accept=True
    )
    project.memory.remember("Sessions live in Postgres.", kind="decision", id="DEC-pg", evidence=["retry.py:1"])
    project.memory.accept("DEC-pg", supersede=["DEC-redis"])
    project.tasks.add("Ship", id="GOAL", kind="goal")
    project.tasks.add("Move", id="TSK-move", parent="GOAL", notes="Rests on: DEC-pg")
    project.tasks.done("TSK-move", evidence=["HEAD"])
    run = project.log.write({"task": "TSK-move", "outputs": {"summary": "moved"}, "artifacts": [{"path": "retry.py"}]})
    project.memory.remember("Moving took a day.", id="FCT-day", evidence=[run])
    return Project.open(repo.path)


def test_a_neighbourhood_has_what_a_thing_hangs_on_and_what_hangs_on_it(linked: Project) -> None:
    """Who changes a file wants to see which decisions rest on it, and which tasks and runs stand behind these."""
    graph = linked.log.relations().around("retry.py")
    found = {(one.source, one.kind, one.target) for one in graph.relations}
    assert ("DEC-pg", "rests on", "file:retry.py") in found
    assert ("DEC-redis", "rests on", "file:retry.py") in found
    assert ("DEC-pg", "takes the place of", "DEC-redis") in found
    assert ("TSK-move", "rests on", "DEC-pg") in found
    states = {node.key: node.state for node in graph.nodes}
    assert (states["DEC-redis"], states["TSK-move"]) == ("superseded", "done")
    head = linked.clone.repo.head().oid
    around = linked.log.relations().around("TSK-move")
    assert ("TSK-move", "shown by", f"commit:{head}") in {(r.source, r.kind, r.target) for r in around.relations}
    assert next(node.title for node in around.nodes if node.kind == "commit") == "Retry five times"
    assert any(node.kind == "run" and node.title == "moved" for node in around.nodes)


def test_a_picture_stays_small_and_says_what_is_left_out(linked: Project) -> None:
    """A file that a hundred memories cite would be a wall."""
    for number in range(40):
        linked.memory.remember(f"Rule number {number} about retries.", id=f"FCT-{number:03}", evidence=["retry.py"])
    graph = linked.log.relations().around("retry.py", most=20)
    assert len(graph.nodes) <= 20
    assert graph.left_out > 0
    assert {one.source for one in graph.relations} | {one.target for one in graph.relations} <= {
        n.key for n in graph.nodes
    }


def test_ids_are_found_by_their_beginning_and_unknown_ones_refused(linked: Project) -> None:
    """Nobody types a whole id."""
    index = linked.log.relations()
    assert index.find("DEC-p") == "DEC-pg"
    head = linked.clone.repo.head().oid
    assert head
    assert index.find(head[:9]) == f"commit:{head}"
    with pytest.raises(NotFound):
        index.find("nothing-here")
    with pytest.raises(NotFound):
        index.find("../../etc/passwd")


def test_the_command_writes_each_form(cli: Cli, linked: Project) -> None:
    """What the help promises."""
    assert "takes the place of DEC-redis" in cli("graph", "--of", "DEC-pg").out
    assert ET.fromstring(cli("graph", "--svg").out).tag.endswith("svg")
    assert cli("graph", "--of", "DEC-pg", "--dot").out.startswith("digraph")
    found = json.loads(cli("graph", "--of", "DEC-pg", "--json").out)
    assert {"from": "DEC-pg", "to": "DEC-redis", "kind": "takes the place of"} in found["edges"]
    cli("graph", "--to", "picture.svg")
    assert (cli.cwd / "picture.svg").read_text().startswith("<svg")
    assert "is there already" in cli("graph", "--to", "picture.svg", ok=False).err
    assert "add --svg, --png or --dot" in cli("graph", "--to", "picture.txt", ok=False).err.lower()


def test_pairs_of_the_critical_path_are_marked() -> None:
    """The thick line is what the picture of a plan is for."""
    nodes = tuple(RelationNode(f"T-{n}", "task", f"T-{n}", "", "ready") for n in range(3))
    edges = tuple(Relation(b.key, a.key, "needs") for a, b in pairwise(nodes))
    text = graph_picture.svg(RelationGraph(nodes, edges, path=("T-0", "T-1")), title="t", hide=str)
    assert text.count("edge critical") == 1
