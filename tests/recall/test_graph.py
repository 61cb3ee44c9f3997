"""The walk over the graph: its laws, its edges, and the questions that only it answers."""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from sqlite3 import Connection

import pytest
from bench.recall.loading import LoadedDocument, load_documents

from holdfast.errors import BadInput
from holdfast.index import second_hop
from holdfast.index.query import read_query, takes_several_steps, wanted_kind
from holdfast.index.ranking import search
from holdfast.index.sqlite import Index
from holdfast.recall import graph_search
from holdfast.recall.graph_search import (
    LOOKED_UP,
    NAME,
    NODES,
    OPENED,
    PATH,
    ROW,
    Node,
    RecordGraph,
    grow_graph,
    pagerank,
)

SHA = "9f3ac1d07e" * 4
RECORDED = (
    LoadedDocument(
        name="DEC-m4f2",
        kind="decision",
        title="One connection a thread",
        text="One connection a thread: sockets are dear.",
    ),
    LoadedDocument(
        name="TSK-a1b2", kind="task", title="Rework the pool", text="Rework the pool, as agreed.", context="DEC-m4f2"
    ),
    LoadedDocument(
        name="20261115T194200Z-abc123",
        kind="run",
        title="Worked on TSK-a1b2",
        text="All checks pass.",
        ts="2026-11-15T19:42:00.000001Z",
        context="TSK-a1b2",
        paths=("src/pool.py",),
    ),
    LoadedDocument(
        name="FCT-k9x8",
        kind="fact",
        title=f"test_checkout_hangs fails since {SHA[:9]}",
        text=f"test_checkout_hangs fails since {SHA[:9]}.",
    ),
    *(
        LoadedDocument(name=f"FCT-n{n:03d}", kind="fact", title=f"Note {n}", text=f"Ada saw day {n} pass.")
        for n in range(150)
    ),
)
COMMITTED = (
    LoadedDocument(
        name=SHA,
        kind="commit",
        title="Gave every caller its own socket",
        text="",
        context="Ada\nHoldfast-Run: 20261115T194200Z-abc123",
        ts="2026-11-15T19:43:00.000001Z",
        paths=("src/pool.py", "src/caller.py"),
    ),
    LoadedDocument(
        name="77" * 20,
        kind="commit",
        title="Sorted imports",
        text="",
        ts="2026-11-14T19:43:00.000001Z",
        paths=("src/other.py",),
    ),
)
MULTI_HOP = "Which decision led to the change that broke test_checkout_hangs?"


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Connection]]:
    folder = Path(tmp_path_factory.mktemp("graph"))
    indexes = [Index(str(folder / name)) for name in ("index.db", "corpus.db")]
    for index, documents in zip(indexes, (RECORDED, COMMITTED), strict=True):
        load_documents(index.db, documents)
    yield [index.db for index in indexes]
    for index in indexes:
        index.close()


def row(sources: Sequence[Connection], name: str) -> Node:
    for number, db in enumerate(sources):
        for (found,) in db.execute("SELECT id FROM row WHERE name = ?", (name,)):
            return ROW, number, str(found)
    raise AssertionError(name)


def names(sources: Sequence[Connection], question: str, step: graph_search.Step) -> list[str]:
    return [hit[0] for hit in search(sources, question, limit=5, step=step)]


def some_graph(seed: int, *, nodes: int = 30) -> dict[str, dict[str, float]]:
    chance = random.Random(seed)
    return {
        f"n{place}": {f"n{chance.randrange(nodes)}": chance.random() for _ in range(chance.randrange(5))}
        for place in range(nodes)
    }


@pytest.mark.parametrize("number", range(8))
def test_the_masses_of_a_walk_sum_to_one(seed: int, number: int) -> None:
    """Mass that leaks or grows would let the size of a graph decide what is found."""
    edges = some_graph(seed + number)

    mass = pagerank(edges, {"n0": 2.0, "n1": 1.0, "nowhere": 1.0})

    assert sum(mass.values()) == pytest.approx(1.0)
    assert all(value >= 0 for value in mass.values())


def test_a_walk_stays_near_where_it_sets_out() -> None:
    """Without personalisation every question would get the same answer: the hub."""
    chain = {"a": {"b": 1.0}, "b": {"a": 1.0, "c": 1.0}, "c": {"b": 1.0, "d": 1.0}, "d": {"c": 1.0}}

    from_a, from_d = pagerank(chain, {"a": 1.0}), pagerank(chain, {"d": 1.0})

    assert from_a["a"] > from_a["c"] > from_a["d"]
    assert from_a["a"] == pytest.approx(from_d["d"])
    assert from_a["b"] == pytest.approx(from_d["c"])


def test_nothing_to_set_out_from_gives_nothing() -> None:
    """A division by zero here would fail every question that names nothing."""
    assert pagerank({"a": {"b": 1.0}}, {}) == {}
    assert pagerank({"a": {"b": 1.0}}, {"a": 0.0}) == {}
    assert pagerank({}, {"a": 3.0}) == pytest.approx({"a": 1.0})


def test_the_same_walk_gives_the_same_masses(seed: int) -> None:
    """Two people who hold the same records must get the same answer."""
    edges = some_graph(seed)
    backwards = {node: dict(reversed(others.items())) for node, others in reversed(edges.items())}

    first, second = pagerank(edges, {"n0": 1.0}), pagerank(backwards, {"n0": 1.0})

    assert first == pytest.approx(second)
    assert pagerank(edges, {"n0": 1.0}) == first


def test_rows_are_tied_by_ids_hashes_and_files(sources: list[Connection]) -> None:
    """What the graph does not tie, no walk finds: evidence, trailers, parents and touches are the edges."""
    nodes = RecordGraph(sources)

    assert (NAME, 0, "dec-m4f2") in nodes.near(row(sources, "TSK-a1b2"))
    assert (NAME, 0, "20261115t194200z-abc123") in nodes.near(row(sources, SHA))
    assert (PATH, 0, "src/pool.py") in nodes.near(row(sources, SHA))
    assert (NAME, 0, SHA[:7]) in nodes.near(row(sources, "FCT-k9x8"))
    assert row(sources, SHA) in nodes.near((NAME, 0, SHA[:7]))
    assert {row(sources, SHA), row(sources, "20261115T194200Z-abc123")} == nodes.near((PATH, 0, "src/pool.py")).keys()


def test_what_everybody_shares_ties_nobody(sources: list[Connection]) -> None:
    """A name in every note would make one clump of the whole store."""
    nodes = RecordGraph(sources)

    assert nodes.near((NAME, 0, "ada")) == {}
    assert (NAME, 0, "ada") not in nodes.near(row(sources, "FCT-n007"))


def test_a_walk_is_bounded_whatever_is_kept(tmp_path: Path) -> None:
    """An answer that costs as much as the store is large would come too late."""
    index = Index(str(tmp_path / "index.db"))
    load_documents(
        index.db,
        [
            LoadedDocument(name=f"FCT-x{n:04d}", kind="fact", title=f"About Name{n} and Name{n + 1}", text="")
            for n in range(600)
        ],
    )
    nodes = RecordGraph([index.db])
    (first,) = index.db.execute("SELECT id FROM row WHERE name = 'FCT-x0300'").fetchone()

    edges = grow_graph(nodes, {(ROW, 0, str(first)): 1.0})

    assert sum(node[0] == ROW for node in edges) <= OPENED
    assert nodes.looked_up <= LOOKED_UP + 64
    assert len(edges) <= NODES
    index.close()


def test_a_question_of_several_steps_is_answered(sources: list[Connection]) -> None:
    """The decision shares no word with the question: whoever searches by words never meets it."""
    assert "DEC-m4f2" not in names(sources, MULTI_HOP, second_hop.follow)
    assert "DEC-m4f2" in names(sources, MULTI_HOP, graph_search.walk_links)[:3]
    assert "DEC-m4f2" in names(sources, MULTI_HOP, graph_search.auto_step)[:3]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which commit came of DEC-m4f2?", SHA),
        ("Which task was behind the commit that broke test_checkout_hangs?", "TSK-a1b2"),
        ("Which decision is behind src/pool.py?", "DEC-m4f2"),
    ],
)
def test_chains_are_followed_in_both_directions(sources: list[Connection], question: str, answer: str) -> None:
    """A chain that can only be walked one way answers half of the questions about it."""
    assert answer in names(sources, question, graph_search.auto_step)


@pytest.mark.parametrize(
    "question", ["rework the pool", "one connection a thread", "why are sockets dear", "nothing of the kind"]
)
def test_plain_questions_stay_as_they_were(sources: list[Connection], question: str) -> None:
    """What wins on hard questions must not cost the easy ones, which are most."""
    plain = search(sources, question, limit=10, explain=True)

    assert search(sources, question, limit=10, explain=True, step=graph_search.graph_step("off")) == plain
    assert search(sources, question, limit=10, explain=True, step=graph_search.graph_step("auto")) == plain


def test_equal_questions_get_equal_answers(sources: list[Connection]) -> None:
    """An answer that changes while nothing changed cannot be trusted."""
    first = search(sources, MULTI_HOP, limit=10, explain=True, step=graph_search.walk_links)

    assert search(sources, MULTI_HOP, limit=10, explain=True, step=graph_search.walk_links) == first


@pytest.mark.parametrize(
    ("question", "kind", "several"),
    [
        (MULTI_HOP, "decision", True),
        ("what tasks touched src/pool.py", "task", True),
        ("which decision governs retries", "decision", False),
        ("why does test_checkout_hangs fail", None, False),
        ("", None, False),
    ],
)
def test_questions_of_several_steps_are_known(question: str, kind: str | None, several: bool) -> None:
    """A plain question that is taken for one of several steps costs more; the other way, its answer."""
    assert wanted_kind(read_query(question)) == kind
    assert takes_several_steps(read_query(question)) == several


@pytest.mark.parametrize("question", ['" OR NEAR( DEC-m4f2', "Which decision' ; -- a_b*", "\0Which task x_y"])
def test_signs_of_query_languages_are_words(sources: list[Connection], question: str) -> None:
    """A question is data, also where its names are looked up."""
    assert isinstance(graph_search.walk_links(sources, read_query(question), []), dict)


def test_a_package_may_bring_another_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever knows a better way must be able to use it without changing ours."""
    told = tmp_path / "other_graph-1.0.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: other-graph\nVersion: 1.0\n")
    (told / "entry_points.txt").write_text("[holdfast.graphs]\nother = other_graph:follow\n")
    (tmp_path / "other_graph.py").write_text("def follow(sources, asked, best):\n    return {8: 0.5}\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    assert "other" in graph_search.graph_step_names()
    assert graph_search.graph_step("other")([], read_query("anything"), []) == {8: 0.5}


def test_a_graph_nobody_brings_is_refused() -> None:
    """A setting with a slip in it must not silently change what is found."""
    assert graph_search.graph_step_names()[:3] == ["auto", "off", "hipporag"]
    with pytest.raises(BadInput, match="no installed package"):
        graph_search.graph_step("hipporagg")
