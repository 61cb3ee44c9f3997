"""The index follows what is visible here, reads only what is new, and can be lost at any time."""

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast.capture import session_work
from holdfast.git.clone import Clone
from holdfast.git.erase import erase
from holdfast.index.hit_text import PROMOTED
from holdfast.index.refresh import path_of, refresh, signature_of
from holdfast.index.sqlite import Index, drop, drop_all
from holdfast.model.event import EventDraft
from holdfast.recall.search import Hit, TextSearch, recall
from holdfast.store import layout, seal
from holdfast.work import task_lifecycle
from tests.conftest import GitRepo
from tests.index.conftest import approve, fact_text, keep_fact, open_clone, ran

WORDS = (
    "postgres", "schema", "parser", "getUserName", "retry_policy", "src/app/main.py", "deploy", "cache",
    "queue", "login", "token",
)  # fmt: skip


def names(hits: list[Hit]) -> list[str]:
    return [hit.id for hit in hits]


def found(clone: Clone, query: str, **options: Any) -> list[str]:
    return names(recall(clone, query, limit=50, **options))


def test_a_run_is_found_by_what_it_did(clone: Clone) -> None:
    """An agent that cannot find what the last one did does it again."""
    made = [{"path": "out/report.html", "sha256": "ab" * 32}]
    said = {"outputs": {"summary": "getUserName is fixed"}, "next_actions": ["write docs"], "artifacts": made}
    ran(clone, 1, task="T-7", command=["make", "test"], tags=["db"], **said)
    for query in ("getUserName", "get_user_name", "user name", "USER", "make test", "docs", "tag:db", "task:T-7"):
        assert "20261115T194201Z-abc001" in found(clone, query), query
    assert "20261115T194201Z-abc001:out/report.html" in found(clone, "report", kind="artifact")
    assert found(clone, "user", task="T-8") == []
    assert found(clone, "absent") == []


def test_facts_come_before_the_events_that_made_them(clone: Clone) -> None:
    """One memory, one line of the answer."""
    keep_fact(clone, "FCT-aaaaaa", "Tests need Postgres 16.")
    clone.record(EventDraft("accept", target="FCT-aaaaaa", body={"statement": "Tests need Postgres 16."}))
    hits = recall(clone, "postgres")
    assert names(hits) == ["FCT-aaaaaa"]
    assert (hits[0].kind, hits[0].state) == ("fact", PROMOTED)  # these words, not this text
    assert hits[0].ts is not None


def test_superseded_and_expired_facts_say_so(clone: Clone) -> None:
    """Old knowledge that looks current misleads."""
    keep_fact(clone, "FCT-old111", "The port is 5432.")
    keep_fact(clone, "FCT-new222", "The port is 6543.", supersedes="[FCT-old111]")
    keep_fact(clone, "FCT-exp333", "The port was 1111.", expires_at="2026-01-01T00:00:00Z")
    for name, said in (("old111", "is 5432"), ("new222", "is 6543"), ("exp333", "was 1111")):
        approve(clone, f"FCT-{name}", f"The port {said}.")
    states = {hit.id: hit.state for hit in recall(clone, "port")}
    assert states == {"FCT-old111": "superseded", "FCT-new222": PROMOTED, "FCT-exp333": "expired"}


def test_a_fact_of_another_branch_is_not_found_here(clone: Clone, repo: GitRepo, cache: str) -> None:
    """What was tried on one branch must not steer work on another."""
    ran(clone, 1, task="shared ancestor")
    repo.git("switch", "-q", "-c", "topic")
    keep_fact(clone, "FCT-topic1", "Only the topic knows zebra.")
    ran(clone, 2, task="zebra run")
    assert found(clone, "zebra") == ["FCT-topic1", "20261115T194202Z-abc002"]
    repo.git("switch", "-q", "main")
    assert found(clone, "zebra") == []
    assert found(clone, "ancestor") == ["20261115T194201Z-abc001"]
    repo.git("switch", "-q", "topic")
    assert found(clone, "zebra") == ["FCT-topic1", "20261115T194202Z-abc002"]


def test_what_the_parent_records_later_is_not_inherited(clone: Clone, repo: GitRepo) -> None:
    """A new branch takes along what was there when it was made, and nothing after."""
    ran(clone, 1, task="early zebra")
    repo.git("switch", "-q", "-c", "topic")
    assert found(clone, "zebra") == ["20261115T194201Z-abc001"]
    repo.git("switch", "-q", "main")
    # Git's reflog knows whole seconds only, so "later" has to be at least the next one.
    later = Clone.open(os.fspath(repo), cache=clone.layout.cache, clock=lambda: clone.clock() + timedelta(hours=1))
    ran(later, 2, task="late zebra")
    assert len(found(clone, "zebra")) == 2
    repo.git("switch", "-q", "topic")
    assert found(clone, "zebra") == ["20261115T194201Z-abc001"]


def test_hand_edits_are_seen(clone: Clone, repo: GitRepo) -> None:
    """People mend a fact in their editor and ask at once."""
    path = layout.entry_path("fact", "port", "FCT-edit11")
    repo.write(path, fact_text("FCT-edit11", "The port is giraffe."))
    repo.git("add", "-f", path)
    repo.git("commit", "-q", "-m", "fact")
    assert found(clone, "giraffe") == ["FCT-edit11"]
    repo.write(path, fact_text("FCT-edit11", "The port is walrus."))
    assert found(clone, "giraffe") == []
    assert found(clone, "walrus") == ["FCT-edit11"]


def test_a_broken_entry_is_left_out_and_named(clone: Clone, repo: GitRepo) -> None:
    """One bad file must not take the whole memory with it."""
    keep_fact(clone, "FCT-good11", "A good zebra.")
    repo.write(layout.entry_path("fact", "bad", "FCT-bad111"), "---\nid: [\n")
    assert found(clone, "zebra") == ["FCT-good11"]
    assert any("left out" in note and "FCT-bad111" in note for note in clone.notes)


def test_a_grown_spool_is_read_from_where_it_ended(clone: Clone) -> None:
    """Asking after every step must not read everything every time."""
    index = Index(path_of(clone))
    ran(clone, 1, task="zebra one")
    refresh(clone, index)
    before = index.db.execute("SELECT offset FROM unit WHERE kind = 'spool'").fetchone()[0]
    ran(clone, 2, task="zebra two")
    refresh(clone, index)
    after = index.db.execute("SELECT offset FROM unit WHERE kind = 'spool'").fetchone()[0]
    assert 0 < before < after
    assert len(found(clone, "zebra")) == 2


def test_sealing_changes_no_answer(clone: Clone) -> None:
    """Publishing moves events from spools to segments; nobody may find them twice or not at all."""
    for number in range(5):
        ran(clone, number, task="zebra", outputs={"summary": WORDS[number]})
    before = recall(clone, "zebra", limit=20)
    seal.seal(clone.layout, clone.line().id, head=None, ts=clone.now())
    assert recall(clone, "zebra", limit=20) == before
    assert len(before) == 5


def test_bodies_that_come_later_are_found(clone: Clone, tmp_path: Path) -> None:
    """An import brings the words of runs whose envelopes were here before."""
    event = ran(clone, 1, task="zebra")
    kept = shutil.move(clone.layout.body(event.body or ""), tmp_path / "body")
    assert found(clone, "zebra") == []
    assert found(clone, "abc001") == ["20261115T194201Z-abc001"]
    shutil.move(kept, clone.layout.body(event.body or ""))
    assert found(clone, "zebra") == ["20261115T194201Z-abc001"]


def test_altered_bodies_and_segments_are_left_out(clone: Clone) -> None:
    """The index is built from what verifies, or a forged word would be recalled as true."""
    event = ran(clone, 1, task="honest zebra")
    path = clone.layout.body(event.body or "")
    data = Path(path).read_bytes().replace(b"honest", b"forged")
    os.chmod(path, 0o600)
    Path(path).write_bytes(data)
    assert found(clone, "forged") == []
    assert any("altered" in note for note in clone.notes)


def test_invisible_characters_are_marked(clone: Clone) -> None:
    """An escape sequence in a run's output must not reach the reader's terminal."""
    ran(clone, 1, outputs={"summary": "zebra \x1b[31mred\x1b[0m \u202eevil"})
    (hit,) = recall(clone, "zebra")
    for text in (hit.title, hit.text):
        assert "\x1b" not in text and "\u202e" not in text
        assert "⟨U+202E⟩" in text


@pytest.mark.parametrize("damage", ["deleted", "garbage", "empty", "foreign", "future", "cut", "overwritten"])
def test_whatever_happens_to_the_file_the_answer_stays(clone: Clone, damage: str) -> None:
    """A cache that must be mended by hand is not a cache."""
    for number in range(8):
        ran(clone, number, task="zebra", outputs={"summary": WORDS[number] * 50})
    before = recall(clone, "zebra", limit=20)
    path = Path(path_of(clone))
    spoil(path, damage)
    assert recall(clone, "zebra", limit=20) == before
    assert not clone.notes if damage in ("deleted", "empty") else len(clone.notes) == 1


def spoil(path: Path, damage: str) -> None:
    data = path.read_bytes()
    if damage == "deleted":
        path.unlink()
    elif damage in ("garbage", "empty"):
        path.write_bytes(b"no database" * 1000 if damage == "garbage" else b"")
    elif damage == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif damage == "overwritten":
        path.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))
    else:
        path.unlink()
        db = sqlite3.connect(path)
        db.execute("CREATE TABLE other (x)")
        if damage == "future":
            db.execute("PRAGMA application_id = 0x484F4C44")
            db.execute("PRAGMA user_version = 99")
        db.commit()
        db.close()


def test_deleting_the_index_while_it_is_open_loses_nothing(clone: Clone) -> None:
    """`rm -rf ~/.cache` is a thing people do while an agent works."""
    searcher = TextSearch(clone)
    ran(clone, 1, task="zebra")
    assert names(searcher.search("zebra")) == ["20261115T194201Z-abc001"]
    shutil.rmtree(clone.layout.cache)
    ran(clone, 2, task="zebra")
    assert len(searcher.search("zebra")) == 2
    assert os.path.exists(path_of(clone))


def test_without_a_writable_cache_it_still_answers(clone: Clone, tmp_path: Path) -> None:
    """In a container the home folder may be read-only."""
    ran(clone, 1, task="zebra")
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    other = Clone.open(clone.repo.top, cache=os.fspath(blocked), clock=clone.clock)
    assert found(other, "zebra") == ["20261115T194201Z-abc001"]
    assert any("in memory" in note for note in other.notes)


def test_readers_see_a_whole_state_while_it_is_rebuilt(clone: Clone) -> None:
    """Half an index would answer 'nothing found' for what is there."""
    for number in range(30):
        ran(clone, number, task="zebra")
    assert len(found(clone, "zebra")) == 30
    reader = Index(path_of(clone))
    with reader.reading() as db:
        first = db.execute("SELECT count(*) FROM words WHERE words MATCH 'zebra'").fetchone()[0]
        assert first == 30
    code = (
        "import sys; from holdfast.git.clone import Clone; from holdfast.recall.search import recall\n"
        "clone = Clone.open(sys.argv[1], cache=sys.argv[2])\n"
        "print(*{len(recall(clone, 'zebra', limit=100)) for _ in range(20)})"
    )
    command = [sys.executable, "-c", code, clone.repo.top, clone.layout.cache]
    others = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    for _ in range(5):
        drop(path_of(clone))
        assert len(found(clone, "zebra")) == 30
    for other in others:
        out, _ = other.communicate(timeout=60)
        assert other.returncode == 0
        assert out.split() == ["30"]


def test_no_word_of_an_erased_text_stays_in_the_file(clone: Clone) -> None:
    """Whoever erases a secret expects it to be gone from the disk, not only from the answer."""
    event = ran(clone, 1, task="xylophonesecret in the body")
    ran(clone, 2, task="zebra")
    assert found(clone, "xylophonesecret")
    Path(clone.layout.erased).mkdir(exist_ok=True)
    Path(clone.layout.erased, event.hash_self).touch()
    assert found(clone, "xylophonesecret") == []
    assert found(clone, "zebra") == ["20261115T194202Z-abc002"]
    for file in Path(path_of(clone)).parent.iterdir():
        assert b"xylophonesecret" not in file.read_bytes()
        assert b"xylophones" not in file.read_bytes()


def test_work_trees_have_indexes_of_their_own(clone: Clone, repo: GitRepo, tmp_path: Path) -> None:
    """Two agents on two branches must not turn one index back and forth."""
    repo.git("worktree", "add", "-q", "-b", "side", os.fspath(tmp_path / "side"))
    side = open_clone(tmp_path / "side", clone.layout.cache)
    ran(side, 1, task="zebra")
    assert path_of(side) != path_of(clone)
    assert found(side, "zebra") == ["20261115T194201Z-abc001"]
    assert found(clone, "zebra") == []
    drop_all(os.path.dirname(path_of(clone)))
    assert not os.path.exists(path_of(side)) and not os.path.exists(path_of(clone))


def test_equal_state_equal_signature(clone: Clone, repo: GitRepo) -> None:
    """A signature that misses a change makes the quick path lie."""
    steps = [
        lambda: ran(clone, 1, task="one"),
        lambda: keep_fact(clone, "FCT-aaaaaa", "One."),
        lambda: task_lifecycle.add(clone, title="Three"),
        lambda: session_work.start(clone, objective="Four"),
        lambda: repo.commit("other.txt"),
        lambda: repo.git("switch", "-q", "-c", "topic"),
        lambda: repo.write(".holdfast/memory/facts/x-FCT-bbbbbb.md", fact_text("FCT-bbbbbb", "Two.")),
        lambda: repo.write(".holdfast/memory/facts/x-FCT-bbbbbb.md", fact_text("FCT-bbbbbb", "Six.")),
        lambda: seal.seal(clone.layout, clone.line().id, head=None, ts=clone.now()),
        lambda: repo.git("checkout", "-q", "--detach"),
        lambda: open_clone(repo, clone.layout.cache).line(),
    ]
    values = [memory_signature(clone)]
    for step in steps:
        assert memory_signature(clone) == values[-1]
        step()
        values.append(memory_signature(clone))
    assert len(set(values)) == len(values)


def memory_signature(clone: Clone) -> str:
    now = signature_of(clone)
    assert now is not None and now.settled
    return now.memory


def test_rebuilt_from_nothing_it_answers_every_query_the_same(clone: Clone, repo: GitRepo, seed: int) -> None:
    """Law 7: the index may be thrown away at any time."""
    rng = random.Random(seed)
    for step in range(60):
        wander(clone, repo, rng, step)
        if step % 10 == 9:
            asked = [(" ".join(rng.sample(WORDS, rng.randint(0, 3))), rng.choice((1, 3, 50))) for _ in range(12)]
            grown = [recall(clone, query, limit=limit) for query, limit in asked]
            drop_all(os.path.dirname(path_of(clone)))
            assert [recall(clone, query, limit=limit) for query, limit in asked] == grown


def wander(clone: Clone, repo: GitRepo, rng: random.Random, step: int) -> None:
    """One of the things that happen to a project."""
    match rng.randrange(8):
        case 0 | 1 | 2 | 3:
            said = " ".join(rng.choices(WORDS, k=rng.randint(1, 6)))
            made = [{"path": f"out/{rng.choice(WORDS)}.txt", "sha256": f"{rng.randrange(3)}"}]
            ran(clone, step, task=f"T-{rng.randrange(3)}", outputs={"summary": said}, artifacts=made)
        case 4:
            keep_fact(clone, f"FCT-{step:06d}", " ".join(rng.choices(WORDS, k=4)))
        case 5:
            seal.seal(clone.layout, clone.line().id, head=None, ts=clone.now())
        case 6:
            repo.git("switch", "-q", "-c", f"topic{step}")
        case _:
            branches = repo.git("for-each-ref", "--format=%(refname:short)", "refs/heads").split()
            repo.git("switch", "-q", rng.choice(branches))
            recall(clone, "anything")


def test_tasks_are_found_with_their_state(clone: Clone, repo: GitRepo, cache: str) -> None:
    """Somebody plans again what is planned already, because the search does not know the plan."""
    repo.git("switch", "-q", "-c", "topic")
    clone = open_clone(repo, cache)
    first = task_lifecycle.add(clone, title="Sharpen the harpoon", acceptance=["it cuts rope"], notes="ask Queequeg")
    task_lifecycle.edit(clone, first.id, title="Sharpen every harpoon")
    for query in ("harpoon", "rope", "queequeg", first.id, f"task:{first.id}"):
        hits = recall(clone, query)
        assert [(hit.id, hit.kind, hit.state) for hit in hits] == [(first.id, "task", "open")], query
    assert hits[0].ts is not None
    task_lifecycle.stop(clone, first.id, "dropped", reason="no whales")
    assert [hit.state for hit in recall(clone, "harpoon", kind="task")] == ["dropped"]
    repo.git("switch", "-q", "main")
    assert found(open_clone(repo, cache), "harpoon") == []


def test_an_erased_task_is_not_found(clone: Clone) -> None:
    """What was erased must not come back by way of the index."""
    task = task_lifecycle.add(clone, title="Sharpen the harpoon")
    assert found(clone, "harpoon") == [task.id]
    erase(clone, "task", task.id)
    assert found(clone, "harpoon") == []


def test_sessions_are_found_where_they_were_held(clone: Clone, repo: GitRepo, cache: str) -> None:
    """What was tried and said yesterday is what the next agent asks for."""
    repo.git("switch", "-q", "-c", "topic")
    clone = open_clone(repo, cache)
    held = session_work.start(clone, objective="Chase the whale")
    session_work.note(clone, "Harpoons were dull", open=["buy oilstones"], decisions=["no night watches"])
    for query in ("whale", "dull harpoons", "oilstones", "night watches"):
        assert found(clone, query, kind="session") == [held.id], query
    assert [hit.state for hit in recall(clone, "whale")] == ["open"]
    session_work.end(clone)
    assert [(hit.id, hit.state) for hit in recall(clone, "whale")] == [(held.id, "ended")]
    repo.git("switch", "-q", "main")
    assert found(open_clone(repo, cache), "oilstones") == []
    repo.git("switch", "-q", "topic")
    assert found(open_clone(repo, cache), "oilstones") == [held.id]
    erase(open_clone(repo, cache), "session", held.id)
    assert found(open_clone(repo, cache), "oilstones") == []
