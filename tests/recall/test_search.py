"""Recall: what a hit says, what is refused, and who may ask at the same time."""

import os
import threading
from pathlib import Path

import pytest

from holdfast.errors import BadInput
from holdfast.git.clone import Clone
from holdfast.git.setup import initialise
from holdfast.model.event import Draft
from holdfast.recall.search import TextSearch, recall
from tests.conftest import GitRepo


@pytest.fixture
def clone(repo: GitRepo, tmp_path: Path) -> Clone:
    initialise(os.fspath(repo), cache=os.fspath(tmp_path / "cache"))
    return Clone.open(os.fspath(repo), cache=os.fspath(tmp_path / "cache"))


def run(clone: Clone, name: str, **body: object) -> None:
    clone.record(Draft("run", target=name, run_id=name, layer="L5", exit_status=3, body=body))


def test_a_hit_says_where_it_comes_from(clone: Clone) -> None:
    """A memory without its source cannot be checked."""
    run(clone, "run-1", task="T-1", command=["make", "zebra"], outputs={"summary": "it failed"}, tags=["ci"])
    (hit,) = recall(clone, "zebra")
    assert (hit.id, hit.kind, hit.title, hit.what) == ("run-1", "run", "it failed", "run")
    assert (hit.task, hit.tags, hit.layer, hit.exit_status) == ("T-1", "ci", "L5", 3)
    assert (hit.line, hit.head) == (clone.line().id, clone.repo.head().oid)
    assert "make zebra" in hit.text
    assert hit.score > 0


def test_events_are_found_by_their_own_kind(clone: Clone) -> None:
    """`--kind retire` finds what was given up."""
    clone.record(Draft("retire", target="FCT-aaaaaa", body={"statement": "zebra", "reason": "wrong"}))
    run(clone, "run-1", prompt="zebra")
    assert [hit.target for hit in recall(clone, "zebra", kind="retire")] == ["FCT-aaaaaa"]
    assert [hit.target for hit in recall(clone, "zebra", kind="event")] == ["FCT-aaaaaa"]
    assert [hit.id for hit in recall(clone, "zebra", kind="run")] == ["run-1"]


def test_a_proposals_words_are_found_among_candidates_only(clone: Clone) -> None:
    """What nobody approved must not pass for knowledge by way of the log."""
    clone.record(Draft("propose", target="FCT-aaaaaa", body={"statement": "zebra"}))
    assert recall(clone, "zebra") == []
    assert [hit.what for hit in recall(clone, "FCT-aaaaaa")] == ["propose"]


def test_a_kind_that_nothing_has_is_refused(clone: Clone) -> None:
    """'Nothing found' would be read as an answer."""
    with pytest.raises(BadInput, match="nonsense"):
        recall(clone, "x", kind="nonsense")
    with pytest.raises(BadInput, match="limit"):
        recall(clone, "x", limit=0)


def test_odd_bodies_do_not_stop_the_index(clone: Clone) -> None:
    """The Python API takes any JSON; one strange event must not hide all others."""
    deep: object = "zebra"
    for _ in range(50):
        deep = [deep]
    odd: list[dict[str, object]] = [
        {"task": 5, "outputs": "zebra text", "tags": "not a list", "artifacts": "none"},
        {
            "outputs": {"summary": {"nested": ["zebra"]}},
            "artifacts": [{"path": 7}, 3, {"path": "z\x00/\u202e"}],
        },
        {"task": "  ", "command": {"a": "zebra"}, "tags": [None, "a b", ""]},
        {"inputs": deep, "prompt": "zebra " * 20_000},
        {"outputs": {"summary": "\n\n zebra\r\n"}},
    ]
    for number, body in enumerate(odd):
        run(clone, f"run-{number}", **body)
    assert {hit.id for hit in recall(clone, "zebra", limit=50)} == {f"run-{n}" for n in range(5)}


def test_threads_may_share_one_search(clone: Clone) -> None:
    """A server asks from many threads while another one records."""
    searcher, wrong = TextSearch(clone), []
    for number in range(3):
        run(clone, f"run-{number}", prompt="zebra")

    def ask() -> None:
        for _ in range(10):
            if len(searcher.search("zebra", limit=50)) < 3:
                wrong.append("lost")

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(3, 8):
        run(clone, f"run-{number}", prompt="zebra")
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(searcher.search("zebra", limit=50)) == 8
