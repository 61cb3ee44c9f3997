"""What any index has to do, whatever it is made of. A new backend only joins `BACKENDS`."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.git.clone import Clone
from holdfast.index.query import Scope
from holdfast.model.event import EventDraft
from holdfast.recall.search import Retriever, TextSearch
from tests.conftest import GitRepo, init_store


def kept_in_a_file(clone: Clone, _: Path) -> Retriever:
    return TextSearch(clone)


def kept_in_memory(clone: Clone, tmp_path: Path) -> Retriever:
    """What is used where no cache can be written."""
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where the cache's folder belongs")
    return TextSearch(Clone.open(clone.repo.top, cache=os.fspath(blocked)))


BACKENDS = [kept_in_a_file, kept_in_memory]


@pytest.fixture
def clone(repo: GitRepo, tmp_path: Path) -> Clone:
    init_store(repo.path)
    return Clone.open(os.fspath(repo), cache=os.fspath(tmp_path / "cache"))


@pytest.fixture(params=BACKENDS, ids=lambda make: make.__name__)
def search(request: pytest.FixtureRequest, clone: Clone, tmp_path: Path) -> Callable[..., list[str]]:
    retriever: Retriever = request.param(clone, tmp_path)

    def ids(query: str, *, limit: int = 10, task: str | None = None, kind: str | None = None) -> list[str]:
        return [hit.id for hit in retriever.search(query, Scope(task=task, kind=kind), limit)]

    return ids


Search = Callable[..., list[str]]


def run(clone: Clone, name: str, **body: object) -> str:
    clone.record(EventDraft("run", target=name, run_id=name, exit_status=0, body=body))
    return name


def test_what_was_recorded_is_found_at_once(clone: Clone, search: Search) -> None:
    """An answer must not be older than the question."""
    for number in range(3):
        name = run(clone, f"run-{number}", task="zebra")
        assert name in search("zebra")


def test_what_fits_all_words_comes_first(clone: Clone, search: Search) -> None:
    """Whoever asks for two things wants both."""
    run(clone, "run-a", prompt="zebra zebra zebra zebra")
    run(clone, "run-b", prompt="the zebra crosses the long and winding road at night")
    assert search("zebra road") == ["run-b", "run-a"]


def test_equals_are_in_order_of_time(clone: Clone, search: Search) -> None:
    """The same thing done twice: the last time counts."""
    names = [run(clone, f"run-{number}", prompt="zebra") for number in range(40)]
    assert search("zebra", limit=5) == names[::-1][:5]
    assert search("", limit=5) == names[::-1][:5]


def test_task_tag_and_kind_narrow_the_answer(clone: Clone, search: Search) -> None:
    """A big project's memory is only useful in slices."""
    made = [{"path": "out/zebra.txt", "sha256": "00"}]
    run(clone, "run-a", task="T-1", prompt="zebra", tags=["Stripes"], artifacts=made)
    run(clone, "run-b", task="T-2", prompt="zebra")
    assert search("zebra", task="T-2") == ["run-b"]
    assert search("zebra task:T-2") == ["run-b"]
    assert search("zebra tag:stripes", kind="run") == ["run-a"]
    assert search("zebra", kind="artifact") == ["run-a:out/zebra.txt"]
    assert search("tag:none") == []


def test_one_content_is_one_artifact(clone: Clone, search: Search) -> None:
    """A build that runs a hundred times makes one file."""
    for number in range(5):
        run(clone, f"run-{number}", artifacts=[{"path": "out/zebra.txt", "sha256": "same"}])
    assert search("zebra", kind="artifact") == ["run-4:out/zebra.txt"]


def test_the_limit_is_kept(clone: Clone, search: Search) -> None:
    """An agent's context is small."""
    for number in range(30):
        run(clone, f"run-{number}", prompt="zebra")
    assert len(search("zebra", limit=7)) == 7
    assert len(search("zebra", limit=1000)) == 30
