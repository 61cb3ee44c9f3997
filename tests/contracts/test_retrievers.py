"""What any retriever has to do, ours or another's. A new one only joins `RETRIEVERS`."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.git.clone import Clone
from holdfast.index.corpus.file_choice import CorpusChoice
from holdfast.index.query import Scope
from holdfast.model.event import EventDraft
from holdfast.project import Project
from holdfast.recall import plugins
from holdfast.recall.search import Hit, Retriever, TextSearch
from tests.conftest import GitRepo, init_store

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "grep_retriever"
ENTRY = """[holdfast.retrievers]
grep = grep_retriever:make
broken = grep_retriever:nothing
odd = builtins:dict
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The example as if it were installed, under its own entry point."""
    info = tmp_path / "site" / "grep_retriever-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: grep-retriever\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text(ENTRY)
    monkeypatch.syspath_prepend(os.fspath(info.parent))
    monkeypatch.syspath_prepend(os.fspath(EXAMPLE))
    yield
    sys.modules.pop("grep_retriever", None)


@pytest.fixture
def clone(repo: GitRepo, tmp_path: Path) -> Clone:
    """A repository with a file, a commit, three runs and a task's run in it."""
    init_store(repo.path)
    repo.write("src/pool.py", "def open_pool(size):\n    return size  # zebra crossing\n")
    repo.git("add", "src/pool.py")
    repo.git("commit", "-q", "-m", "Open the zebra pool")
    found = Clone.open(os.fspath(repo), cache=os.fspath(tmp_path / "cache"))
    for number in range(3):
        run(found, f"run-{number}", prompt=f"zebra number {number}")
    run(found, "run-task", task="T-1", prompt="zebra of a task")
    return found


def run(clone: Clone, name: str, **body: object) -> None:
    clone.record(EventDraft("run", target=name, run_id=name, exit_status=0, body=body))


def built_in(clone: Clone) -> Retriever:
    return TextSearch(clone, choice=CorpusChoice())


def example(clone: Clone) -> Retriever:
    return plugins.PluginRetriever("grep", clone.repo.top, built_in(clone))


RETRIEVERS = [built_in, example]


@pytest.fixture(params=RETRIEVERS, ids=lambda make: make.__name__)
def retriever(request: pytest.FixtureRequest, clone: Clone, installed: None) -> Retriever:
    make: Callable[[Clone], Retriever] = request.param
    return make(clone)


def test_it_gives_hits_best_first_and_no_more_than_asked_for(retriever: Retriever) -> None:
    """An agent's context is small, and it reads from the top."""
    found = retriever.search("zebra", Scope(), 3)
    assert len(found) == 3
    assert all(hit.id and hit.kind and hit.title for hit in found)
    assert retriever.search("zebra", Scope(), 1) == found[:1]
    assert retriever.search("giraffe", Scope(), 3) == []


def test_the_same_state_gives_the_same_answer(retriever: Retriever) -> None:
    """Who asks twice and reads two answers trusts neither."""
    assert retriever.search("zebra pool", Scope(), 10) == retriever.search("zebra pool", Scope(), 10)


def test_a_scope_is_kept(retriever: Retriever) -> None:
    """What is asked for of one kind, task or time must be that."""
    for scope, fits in (
        (Scope(kind="run"), lambda hit: hit.kind == "run"),
        (Scope(kind="commit"), lambda hit: hit.kind == "commit"),
        (Scope(kind="code"), lambda hit: hit.kind == "code"),
        (Scope(kind="fact"), lambda hit: hit.kind == "fact"),
        (Scope(task="T-1"), lambda hit: hit.task == "T-1"),
        (Scope(since="2099-01-01T00:00:00.000000Z"), lambda _: False),
    ):
        found = retriever.search("zebra", scope, 10)
        assert all(map(fits, found)), scope.kind
        assert found or scope.kind == "fact" or scope.since, scope.kind


def test_what_was_recorded_is_found_at_once(clone: Clone, retriever: Retriever) -> None:
    """An answer must not be older than the question."""
    assert retriever.search("okapi", Scope(), 5) == []
    run(clone, "run-new", prompt="okapi")
    assert [hit.id for hit in retriever.search("okapi", Scope(), 5)] == ["run-new"]


def test_any_text_is_a_query(retriever: Retriever) -> None:
    """Agents paste anything; an error here ends their turn."""

    @settings(max_examples=8)
    @given(query=st.text(max_size=40) | st.sampled_from(["--help", "-e", '"', "'; DROP TABLE row; --", "\0", "*"]))
    def ask(query: str) -> None:
        assert len(retriever.search(query, Scope(), 4)) <= 4

    ask()
    assert not getattr(retriever, "complaints", [])


# ── plugins ──────────────────────────────────────────────────────────────────────────────────────


def test_the_example_answers_before_our_own_search(clone: Clone, installed: None) -> None:
    """Who installs a retriever wants its answers."""
    assert plugins.names() == ["holdfast", "broken", "grep", "odd"]
    found = example(clone).search("zebra crossing", Scope(), 5)
    assert (found[0].id, found[0].kind, found[0].path) == ("src/pool.py:2", "code", "src/pool.py")
    assert len(found) > 1 and found[0].parts == (("grep", 1.0),)


def test_the_example_leaves_memory_to_our_own_search(clone: Clone, installed: None, repo: GitRepo) -> None:
    """A memory as lines of its file has no standing, and is in the way of the code that was asked for."""
    repo.commit(".holdfast/memory/facts/x.md", "zebra crossing\n", "Memory")
    found = example(clone).search("zebra crossing", Scope(kind="code"), 5)
    assert [hit.path for hit in found if hit.path and hit.path.startswith(".holdfast")] == [] != found


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("broken", "AttributeError"),
        ("odd", "TypeError"),
        ("absent", "no installed package provides it; available: holdfast, broken, grep, odd"),
    ],
)
def test_a_plugin_that_fails_is_named_and_ours_answers(clone: Clone, installed: None, name: str, why: str) -> None:
    """Somebody else's bug must not cost the answer."""
    asked = plugins.PluginRetriever(name, clone.repo.top, built_in(clone))
    assert [hit.kind for hit in asked.search("zebra", Scope(kind="run"), 2)] == ["run", "run"]
    (said,) = asked.complaints
    assert said.startswith(f"the retriever {name} failed ({why}") and said.endswith("the built-in search answered")


def test_what_a_plugin_says_is_made_safe_to_show(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    """An escape sequence in a title could rewrite what stands above it on the screen."""

    class Odd:
        def search(self, *_: object) -> list[Hit]:
            return [Hit("a\x1b[2J", "doc", "two\nlines", "\u202ehidden")] * 3

    monkeypatch.setattr(plugins, "_load", lambda _: lambda *_: Odd())
    found = plugins.PluginRetriever("x", clone.repo.top, built_in(clone)).search("zebra", Scope(), 2)
    assert len(found) == 2
    assert "\x1b" not in found[0].id and "\u202e" not in found[0].text and found[0].title == "two lines"


def test_only_the_users_own_settings_choose_it(repo: GitRepo, clone: Clone, installed: None, tmp_path: Path) -> None:
    """A plugin runs code: a file that comes by git must not start it."""
    environ = {"HOME": os.fspath(tmp_path), "XDG_CACHE_HOME": os.fspath(tmp_path / "cache")}
    tracked = repo / ".holdfast" / "holdfast.toml"
    tracked.write_text(tracked.read_text() + '\n[retrieval]\nretriever = "grep"\n')
    assert Project.open(repo, environ=environ).recall("zebra crossing")[0].id != "src/pool.py:2"
    environ["HOLDFAST_RETRIEVAL_RETRIEVER"] = '"grep"'
    assert Project.open(repo, environ=environ).recall("zebra crossing")[0].id == "src/pool.py:2"
