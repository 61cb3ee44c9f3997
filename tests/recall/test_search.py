"""Recall: what a hit says, what is refused, and who may ask at the same time."""

import os
import sqlite3
import threading
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from holdfast.errors import BadInput
from holdfast.git.clone import Clone
from holdfast.index.query import Scope
from holdfast.index.refresh import path_of
from holdfast.model.event import EventDraft
from holdfast.project import Project
from holdfast.recall.search import TextSearch, recall
from tests.conftest import GitRepo, init_store


@pytest.fixture
def clone(repo: GitRepo, tmp_path: Path) -> Clone:
    init_store(repo.path)
    return Clone.open(os.fspath(repo), cache=os.fspath(tmp_path / "cache"))


def run(clone: Clone, name: str, **body: object) -> None:
    clone.record(EventDraft("run", target=name, run_id=name, layer="L5", exit_status=3, body=body))


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
    clone.record(EventDraft("retire", target="FCT-aaaaaa", body={"statement": "zebra", "reason": "wrong"}))
    run(clone, "run-1", prompt="zebra")
    assert [hit.target for hit in recall(clone, "zebra", kind="retire")] == ["FCT-aaaaaa"]
    assert [hit.target for hit in recall(clone, "zebra", kind="event")] == ["FCT-aaaaaa"]
    assert [hit.id for hit in recall(clone, "zebra", kind="run")] == ["run-1"]


def test_a_proposals_words_are_found_among_candidates_only(clone: Clone) -> None:
    """What nobody approved must not pass for knowledge by way of the log."""
    clone.record(EventDraft("propose", target="FCT-aaaaaa", body={"statement": "zebra"}))
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
        {"outputs": {"summary": {"nested": ["zebra"]}}, "artifacts": [{"path": 7}, 3, {"path": "z\x00/\u202e"}]},
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


class Meaning:
    """A model that finds everything as near as the order it is told in."""

    def __init__(self, clone: Clone) -> None:
        self._clone, self.asked = clone, 0

    def __call__(self, _: str, __: float) -> "Meaning":
        self.asked += 1
        return self

    def of(self, contents: Iterable[bytes]) -> dict[bytes, float]:
        return dict.fromkeys(contents, 0.5)

    def best(self, limit: int) -> list[tuple[bytes, float]]:
        db = sqlite3.connect(path_of(self._clone))
        rows = db.execute("SELECT content FROM row WHERE content IS NOT NULL ORDER BY id LIMIT ?", (limit,))
        found = [(content, 0.9) for (content,) in rows]
        db.close()
        return found


def test_meaning_is_asked_where_words_find_little(clone: Clone) -> None:
    """Loading a model takes longer than the whole answer; who is answered well must not wait for it."""
    run(clone, "run-1", prompt="the striped horse sleeps", outputs={"summary": "a striped horse"})
    meaning = Meaning(clone)
    searcher = TextSearch(clone, meaning=meaning)
    for query, semantic, times in (
        ("striped horse", None, 0),
        ("zebra", None, 1),
        ("zebra okapi horse wombat giraffe", None, 2),
        ("zebra", False, 2),
        ("striped horse", True, 3),
        ("", None, 3),
    ):
        found = searcher.search(query, Scope(), 5, semantic=semantic)
        assert meaning.asked == times, query
        assert bool(found) == (query != "zebra" or semantic is None), query
    searcher.close()


def test_time_and_files_narrow_and_order(clone: Clone) -> None:
    """`--since` hides what is older; a file at hand lifts what touches it."""
    made = [{"path": "src/a.py", "sha256": "00"}]
    run(clone, "run-a", prompt="zebra one", artifacts=made)
    run(clone, "run-b", prompt="zebra one")
    searcher = TextSearch(clone)
    plain = {hit.id: hit.score for hit in searcher.search("zebra", Scope(kind="run"), 5)}
    lifted = {hit.id: hit.score for hit in searcher.search("zebra", Scope(kind="run", files=["src/a.py"]), 5)}
    assert lifted["run-a"] > plain["run-a"] and lifted["run-a"] > lifted["run-b"]
    assert searcher.search("zebra", Scope(since="2099-01-01T00:00:00.000000Z"), 5) == []
    assert len(searcher.search("zebra", Scope(kind="run", since="2020-01-01T00:00:00.000000Z"), 5)) == 2
    searcher.close()


def test_a_project_is_asked_with_words_people_use(repo: GitRepo, clone: Clone) -> None:
    """The Python API takes what the command line takes."""
    project = Project.open(os.fspath(repo))
    run(clone, "run-1", prompt="zebra")
    assert [hit.id for hit in project.recall("zebra", since="2 weeks ago", files=["src/a.py"])] == ["run-1"]
    (hit,) = project.recall("zebra", explain=True, since=datetime(2020, 1, 1, tzinfo=UTC))
    assert hit.score == pytest.approx(sum(part for _, part in hit.parts), rel=2e-3)
    assert project.recall("zebra")[0].parts == ()
    for wrong in ({"since": "soon"}, {"files": ["../x"]}, {"branch": "nope"}):
        with pytest.raises(BadInput):
            project.recall("zebra", **wrong)


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("データベースの接続プールは最大10本です", "接続プールの最大"),
        ("我们把缓存换成了内存数据库", "为什么缓存换了"),
        ("데이터베이스 연결을 고정한다", "연결 고정"),
        ("Мы закрепили версию библиотеки", "почему версию закрепили"),
        ("Die Prüfung läuft über Nacht", "Prufung lauft"),
        ("HTTPServer reads getUserName", "user name"),
    ],
)
def test_people_ask_in_their_own_language(clone: Clone, said: str, asked: str) -> None:
    """Memory that only answers in English is lost to most of the world."""
    run(clone, "run-1", prompt=said)
    run(clone, "run-2", prompt="something else, 別の話, 其他")
    assert [hit.id for hit in recall(clone, asked)][:1] == ["run-1"]
