"""A run or a session, asked for as a whole, is found by what was said in any of its turns."""

import json
import random
import sqlite3
from collections.abc import Iterable, Mapping
from itertools import pairwise

import pytest
from bench.recall.loading import LoadedDocument, load_documents

from holdfast.capture import session_work
from holdfast.git.clone import Clone
from holdfast.index.hit_text import FIELDS
from holdfast.index.query import Scope
from holdfast.index.ranking import search
from holdfast.index.result_order import LESSER, _gain
from holdfast.index.sqlite import INDEX_FORM, _prepared
from holdfast.recall.search import recall
from tests.conftest import Cli
from tests.index.conftest import ran
from tests.index.test_quick import answer
from tests.index.test_turns import RUN, capsule

SAID = {
    "run-a": ("Tidy the shelves", "Which shelves?", "The marmalade moved to the cellar."),
    "run-b": ("Tidy the shelves again", "Done.", "Nothing was thrown away."),
    "run-c": ("Count the jars", "Forty.", "Forty two with the broken ones."),
}


def index(documents: Iterable[LoadedDocument]) -> sqlite3.Connection:
    db = _prepared(sqlite3.connect(":memory:", isolation_level=None), INDEX_FORM, wal=False)
    load_documents(db, list(documents))
    return db


def talks(kind: str = "run", said: Mapping[str, tuple[str, ...]] = SAID) -> list[LoadedDocument]:
    """Runs with their turns; a run's own row says what it was for, and nothing else."""
    found = []
    for day, (name, turns) in enumerate(said.items(), 1):
        at = f"2026-03-{day:02d}T10:00:00.000000Z"
        found.append(LoadedDocument(name=name, text=turns[0], kind=kind, ts=at, group=name))
        for seq, text in enumerate(turns, 1):
            turn = f"{at[:14]}{seq:02d}:00.000000Z"
            found.append(LoadedDocument(name=f"{name}#{seq}", text=text, kind="turn", ts=turn, group=name, seq=seq))
    return found


def names(db: sqlite3.Connection, query: str, *, limit: int = 5, **bounds: str) -> list[str]:
    found = search([db], query, scope=Scope(**bounds), limit=limit)
    kinds = {hit[FIELDS.index("kind")] for hit in found}
    assert kinds <= {bounds.get("kind")}
    return [hit[0] for hit in found]


@pytest.mark.parametrize("kind", ["run", "session"])
def test_a_run_is_found_by_what_only_its_third_turn_says(kind: str) -> None:
    """Who asks in which session we moved the marmalade would find nothing."""
    db = index(talks(kind))
    assert names(db, "where did the marmalade go", kind=kind) == ["run-a"]
    assert names(db, "marmalade shelves", kind=kind)[0] == "run-a"
    assert names(db, "shelves", kind="turn")[0].startswith("run-")


def test_a_session_is_found_by_the_turns_of_its_runs(clone: Clone) -> None:
    """Its notes say in a line what was done; people remember a word that fell."""
    capsule(clone)
    ran(clone, 3, task="T-9", output_sha256="0" * 64)
    held = session_work.note(clone, "Looked at the failing test", run=RUN).session
    session_work.end(clone)
    other = session_work.start(clone, objective="Water the plants")

    found = [hit.id for hit in recall(clone, "who held the file open", kind="session")]
    assert found == [held.id]
    assert [hit.id for hit in recall(clone, "plants", kind="session")] == [other.id]
    assert [hit.id for hit in recall(clone, "who held the file open", kind="run")] == [RUN]


def test_runs_and_sessions_are_found_alike_on_both_ways(
    clone: Clone, cli: Cli, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Whoever asks twice must not read two different answers."""
    capsule(clone)
    ran(clone, 3, task="T-9", output_sha256="0" * 64)
    ran(clone, 4, task="T-9", outputs={"summary": "the parser holds no file open"})
    session_work.note(clone, "Looked at the failing test", run=RUN)
    for kind in ("run", "session"):
        argv = ["recall", "who held the file open", "--kind", kind, "--json"]
        full = cli(*argv).out
        assert RUN in full or "SES-" in full
        fast = answer(cli, argv, monkeypatch, capfd)
        assert fast is not None
        assert json.loads(fast) == json.loads(full)


def test_the_run_whose_turns_hold_all_of_it_stands_before_those_that_hold_a_part() -> None:
    """The best single turn alone cannot tell which talk was about all that was asked."""
    said = {
        "run-a": ("Plan the week", "We talked of the violin.", "Then of the harbour."),
        "run-b": ("Plan the month", "We talked of the violin.", "Then of dinner."),
        "run-c": ("Plan the year", "We talked of the piano.", "Then of the harbour."),
    }
    assert names(index(talks(said=said)), "violin and harbour", kind="run")[0] == "run-a"


def test_a_run_stands_in_an_answer_once_though_many_of_its_turns_fit() -> None:
    """A long talk would fill the whole answer."""
    said = {**SAID, "run-d": tuple(f"The marmalade, jar {n}." for n in range(60))}
    found = names(index(talks(said=said)), "marmalade jar", limit=10, kind="run")
    assert sorted(found) == sorted(set(found))
    assert {"run-a", "run-d"} <= set(found)


def test_a_run_without_turns_is_weighed_with_the_others() -> None:
    """Most runs are commands: they must not vanish behind every talk that mentions a word."""
    alone = LoadedDocument(
        name="run-e", text="Marmalade moved to the cellar: labels printed", kind="run",
        ts="2026-03-09T10:00:00.000000Z",
    )  # fmt: skip
    db = index([*talks(), alone])
    assert names(db, "marmalade cellar labels", kind="run")[:2] == ["run-e", "run-a"]


def test_the_scope_holds_for_runs_that_only_a_turn_leads_to() -> None:
    """Whoever asks for what came since Monday must not get older work, whatever was said in it."""
    db = index(talks())
    assert names(db, "marmalade", kind="run", since="2026-03-02T00:00:00Z") == []
    assert names(db, "marmalade", kind="run", task="T-1") == []
    assert names(db, "marmalade tag:kitchen", kind="run") == []
    assert names(db, "marmalade", kind="commit") == []


def test_equal_contents_give_equal_orders(seed: int) -> None:
    """Two clones that hold the same must answer the same (law 7)."""
    said = {f"run-{n:02d}": ("Plan", f"The violin and jar {n % 3}.", "Good night?") for n in range(20)}
    answers = set()
    for _ in range(3):
        order = list(said.items())
        random.Random(seed).shuffle(order)
        groups = {name: [one for one in talks(said=said) if one.group == name] for name, _ in order}
        db = index(one for some in groups.values() for one in some)
        answers.add(tuple(names(db, "violin jar 2", limit=20, kind="run")))
        seed += 1
    (found,) = answers
    assert len(found) == 20


def test_more_by_a_turn_never_makes_a_run_less() -> None:
    """A run would sink by what its turns say."""
    steps = [n / 10 for n in range(60)]
    for own in (0.0, 1.0, 2.5):
        scores = [own + _gain(turn, own) for turn in steps]
        assert all(low <= high for low, high in pairwise(scores))
        assert scores[0] == own
        assert max(scores) == pytest.approx(max(steps) + LESSER * own)
