"""Plugins that fail in every way: the command names the one that did, and our own search answers."""

import json
from pathlib import Path

import pytest

from holdfast.recall import plugins
from tests.conftest import Cli, GitRepo, grown

RETRIEVERS = """\
import os, sys, time
from holdfast.values import fields, replace

def making(answer):
    class Made:
        def __init__(self, top, own): self.own = own
        def search(self, query, scope, limit): return answer(self.own.search(query, scope, limit), limit)
    return Made

class Odd(BaseException): pass

def raising(error):
    def answer(hits, limit): raise error
    return making(answer)

def deaf(hits, limit):
    while True:
        try:
            time.sleep(60)
        except BaseException:
            os.environ["TIMES"] = str(int(os.environ.get("TIMES", "0")) + 1)
            if os.environ["TIMES"] == "2":
                raise

class Endless(list):
    def __iter__(self):
        while True: yield None

def deep(hits, limit): return deep(hits, limit)
def closing(top, own): sys.stdout.close(); return None
def leaving(top, own): sys.exit(0)

divides = raising(ZeroDivisionError("by \\x1b[31mzero"))
exits = raising(SystemExit(3))
odd = raising(Odd("gone"))
memory = raising(MemoryError())
hangs = making(lambda hits, limit: time.sleep(3600))
hangs_on = making(deaf)
endless = making(lambda hits, limit: Endless(hits))
generator = making(lambda hits, limit: iter(int, 1))
nothing = making(lambda hits, limit: None)
recursion = making(deep)
none = lambda top, own: None
GARBAGE = (None, 3, [], {"a": 1}, float("nan"), object(), ("x",), (("x", "y"),))
"""
GRAPHS = """\
import sys, time
def g_raises(sources, asked, best): raise RuntimeError("boom")
def g_exits(sources, asked, best): sys.exit(7)
def g_none(sources, asked, best): return None
def g_words(sources, asked, best): return {"a": "b"}
def g_nan(sources, asked, best): return {row: float("nan") for row, _ in best}
def g_many(sources, asked, best): return dict.fromkeys(range(200_000), 1.0)
def g_hangs(sources, asked, best): time.sleep(3600)
g_no_call = 3
"""
ASKED = [
    *("divides", "exits", "odd", "memory", "hangs", "hangs_on", "endless", "generator", "nothing"),
    *("recursion", "none", "closing", "leaving", "absent", "unimportable"),
]
FOLLOWED = [
    *("g_raises", "g_exits", "g_none", "g_words", "g_nan", "g_many", "g_hangs", "g_no_call"),
    *("g_absent", "g_unimportable"),
]


def grow(cli: Cli, repo: GitRepo) -> None:
    cli("init", "--commit")
    cli("remember", "Tests need Postgres 16", "--evidence", "README")
    cli("review", "accept", "--all")


@pytest.fixture
def brought(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli, repo: GitRepo, request: pytest.FixtureRequest
) -> Cli:
    """A project with one memory, and a package that brings all of these."""
    info = tmp_path / "site" / "evil-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
    (info.parent / "evil_plugins.py").write_text(RETRIEVERS + GRAPHS + ODD)
    rows = ["[holdfast.retrievers]", *(f"{name} = evil_plugins:{name}" for name in (*ASKED[:-1], *ODD_NAMES))]
    rows += ["unimportable = nothing_of_the_kind:x", "[holdfast.graphs]"]
    rows += [f"{name} = evil_plugins:{name}" for name in FOLLOWED[:-1]]
    rows += ["g_unimportable = nothing_of_the_kind:x"]
    (info / "entry_points.txt").write_text("\n".join(rows) + "\n")
    monkeypatch.syspath_prepend(str(info.parent))
    if "hangs" in request.node.name:
        monkeypatch.setattr(plugins, "PATIENCE", 0.2)
    return grown(grow, cli, repo)


ODD = """
def printing(hits, limit):
    print("{not json")
    return hits
prints = making(printing)

def long_words(hits, limit):
    return [replace(hits[0], title="A" * 9_000_000, text="B" * 9_000_000)] * 100_000
long = making(long_words)

def hiding(hits, limit):
    named = [f.name for f in fields(hits[0]) if isinstance(getattr(hits[0], f.name), str)]
    texts = dict.fromkeys(named, "x\\u202e\\x1b[2Jy")
    return [replace(hits[0], **texts, tags="\\u200bz", layer="\\x9b1m", parts=(("\\x07", 1.0),))]
hides = making(hiding)

def typed(name, value):
    return making(lambda hits, limit: [replace(hits[0], **{name: value})])
"""
ODD_NAMES = ["prints", "long", "hides"]


@pytest.mark.parametrize("name", ASKED)
def test_a_retriever_that_fails_is_named_and_ours_answers(brought: Cli, name: str) -> None:
    """Who installs a broken package still needs an answer, and the name of what to take out."""
    answer = brought("recall", "postgres", "--json", HOLDFAST_RETRIEVAL_RETRIEVER=name)
    assert [item["title"] for item in json.loads(answer.out)["items"]] == ["Tests need Postgres 16"]
    assert f"the retriever {name} failed (" in answer.err
    assert "\x1b" not in answer.err


@pytest.mark.parametrize("name", FOLLOWED)
def test_a_graph_that_fails_is_named_and_ours_answers(brought: Cli, name: str) -> None:
    """A step after the search must not cost the search."""
    answer = brought("recall", "postgres tests", "--json", HOLDFAST_RETRIEVAL_GRAPH=name)
    assert [item["title"] for item in json.loads(answer.out)["items"]] == ["Tests need Postgres 16"]
    assert f"the graph {name} failed (" in answer.err


def test_what_a_plugin_prints_is_no_part_of_the_answer(brought: Cli) -> None:
    """A debugging line left in a package must not break every script that reads our JSON."""
    answer = brought("recall", "postgres", "--json", HOLDFAST_RETRIEVAL_RETRIEVER="prints")
    assert len(json.loads(answer.out)["items"]) == 1
    assert "{not json" not in answer.out + answer.err


def test_huge_and_hidden_answers_are_cut_and_shown(brought: Cli) -> None:
    """Nine million letters would fill an agent's context; an escape would steer a terminal."""
    answer = brought("recall", "postgres", "--json", HOLDFAST_RETRIEVAL_RETRIEVER="long")
    assert len(json.loads(answer.out)["items"]) <= 20 and len(answer.out) < 2_000_000
    for words in (("recall", "postgres", "--json"), ("recall", "postgres", "--explain")):
        answer = brought(*words, HOLDFAST_RETRIEVAL_RETRIEVER="hides")
        assert not {"\x1b", "\u202e", "\u200b", "\x9b", "\x07"} & set(answer.out + answer.err)


def test_every_field_of_another_type_is_refused(brought: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A number where a text belongs must end in a sentence, not in a bug report about our own code."""
    import evil_plugins

    from holdfast.project import Project
    from holdfast.recall.search import Hit

    project = Project.open(brought.cwd)
    project.settings.values["retrieval.retriever"] = "typed"
    tried = 0
    for name in Hit.__slots__:
        for value in evil_plugins.GARBAGE:
            if value is None and name not in ("id", "kind", "title", "text", "score", "parts"):
                continue  # nothing is known of it
            if (name == "exit_status" and value == 3) or (name == "score" and value == 3):
                continue
            made = evil_plugins.typed(name, value)
            monkeypatch.setattr(plugins, "_load", lambda _, made=made: made)
            assert [hit.title for hit in project.recall("postgres")] == ["Tests need Postgres 16"]
            assert any("the retriever typed failed" in note for note in project.clone.notes), (name, value)
            project.clone.notes.clear()
            tried += 1
    assert tried > 100
