"""Proposing: one candidate for one thought, with receipts, and no secrets."""

import os
import threading
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from holdfast.curation import candidates, review
from holdfast.errors import BadInput, HoldfastError, NotFound, TooLarge
from holdfast.git.clone import Clone
from holdfast.model.ids import memory_id
from holdfast.model.memory import Accepted, Candidate
from holdfast.store import memory_files

SAID = "Tests need Postgres 16."
KEY = "AKIA" + "IOSFODNN7EXAMPLQ"


def everything_on_disk(bench: Any) -> bytes:
    top = Path(bench.repo.path)
    return b"".join(p.read_bytes() for p in top.rglob("*") if p.is_file())


def test_a_proposal_waits_on_the_shelf_with_its_line(bench: Any) -> None:
    """Nothing an agent says counts before somebody looked at it."""
    made = bench.propose(confidence=0.9, layer="L5", tags=["db"], expires_at="30d", applies_to=["src"])
    assert isinstance(made, Candidate)
    kept = memory_files.parse(Path(bench.clone.layout.candidates, f"{made.id}.md").read_text(), "x")
    assert kept == made
    assert made.line == bench.clone.line().id
    assert made.expires_at == datetime(2031, 12, 15, 19, 42, tzinfo=UTC)
    assert made.evidence[0].startswith("file:src/a.py@")
    assert bench.clone.entries() == []
    assert bench.repo.status() == ""


def test_a_proposal_is_in_the_log(bench: Any) -> None:
    """`why` leads back to who said it first, and resting on what."""
    made = bench.propose(tags=["db"])
    (event,) = bench.told("propose")
    assert (event["target"], event["derived_facts"], event["statement"]) == (made.id, [made.id], SAID)
    assert (event["receipts"], event["tags"]) == (list(made.evidence), ["db"])


def test_the_source_is_the_run_it_cites(bench: Any) -> None:
    """A fact leads to the run that showed it."""
    bench.run("20261115T194200Z-abc123")
    assert bench.propose(evidence=["20261115"]).source == "run:20261115T194200Z-abc123"
    assert bench.propose("Other.", source="person:Ada").source == "person:Ada"


def test_the_first_paragraph_is_the_claim(bench: Any) -> None:
    """A pasted explanation is kept, but the claim is what agents read."""
    made = bench.propose("Use UTC.\n\nRationale: clocks differ.", details="Since 2024.")
    assert (made.statement, made.details) == ("Use UTC.", "Rationale: clocks differ.\n\nSince 2024.")


def test_the_same_words_are_one_candidate_with_all_evidence(bench: Any) -> None:
    """Twenty runs that notice the same thing should be one line in the review."""
    first = bench.propose()
    bench.run("r1")
    second = bench.propose("Tests  need\nPostgres 16.", evidence=["run:r1"])
    assert second.id == first.id
    assert second.evidence == (*first.evidence, "run:r1")
    assert list(candidates.read(bench.clone).waiting.values()) == [second]
    assert len(bench.told("propose")) == 2
    assert bench.propose() == second
    assert len(bench.told("propose")) == 2


def test_evidence_seen_anew_replaces_the_stale_receipt(bench: Any) -> None:
    """Whoever looked again at a changed file renews the candidate."""
    bench.propose()
    bench.repo.commit("src/a.py", "changed\n")
    renewed = bench.propose()
    assert renewed.evidence == (f"file:src/a.py@{bench.repo.git('rev-parse', 'HEAD:src/a.py')}",)


def test_what_is_accepted_already_is_given_back_unchanged(bench: Any) -> None:
    """A reviewer approved this text; an agent's new evidence must not change the file behind them."""
    made = bench.propose()
    review.accept(bench.clone, made.id, bench.ada)
    before = bench.clone.entries()
    bench.run("r1")
    again = bench.propose(evidence=["run:r1"])
    assert isinstance(again, Accepted)
    assert again.id == made.id
    assert bench.clone.entries() == before
    assert [event["receipts"] for event in bench.told("propose")] == [list(made.evidence), ["run:r1"]]
    bench.propose(evidence=["run:r1"])
    assert len(bench.told("propose")) == 2


def test_an_expired_fact_can_be_proposed_anew(bench: Any) -> None:
    """What ran out may still be true; a reviewer decides, and the old one is named."""
    old = bench.propose(expires_at="1d")
    review.accept(bench.clone, old.id, bench.ada)
    bench.clock.pass_by(days=2)
    new = bench.propose(expires_at="30d")
    assert isinstance(new, Candidate)
    assert new.id != old.id
    assert new.supersedes == (old.id,)


def test_fresh_evidence_for_a_stale_fact_asks_for_a_fresh_decision(bench: Any) -> None:
    """A fact whose ground has moved is renewed by review, not kept on a receipt that no longer holds."""
    old = bench.propose()
    review.accept(bench.clone, old.id, bench.ada)
    bench.repo.commit("src/a.py", "changed\n")
    assert bench.propose(evidence=[]).id == old.id
    new = bench.propose()
    assert isinstance(new, Candidate)
    assert new.supersedes == (old.id,)
    assert bench.propose() == new
    review.accept(bench.clone, new.id, bench.ada)
    assert bench.propose().id == new.id


def test_what_was_rejected_is_not_proposed_again(bench: Any) -> None:
    """A reviewer who has to say no every day stops reviewing."""
    made = bench.propose()
    review.reject(bench.clone, made.id, "it is 17", bench.ada)
    with pytest.raises(BadInput, match="rejected on 2031-11-15: it is 17") as caught:
        bench.propose()
    assert made.id in caught.value.hint
    assert candidates.read(bench.clone).waiting == {}


def test_an_id_of_ones_own_is_kept_and_never_given_twice(bench: Any) -> None:
    """Other tools refer to their own names."""
    assert bench.propose(id="memory-schema-defined").id == "memory-schema-defined"
    with pytest.raises(BadInput, match="exists with another statement"):
        bench.propose("Another.", id="memory-schema-defined")
    with pytest.raises(BadInput, match="exists with another statement"):
        bench.propose("Another.", id="Memory-Schema-Defined")


def test_a_random_id_never_clashes(bench: Any) -> None:
    """Two memories of one name could not be told apart."""

    def always_a(kind: str, taken: Collection[str]) -> str:
        return memory_id(kind, taken, choice=lambda letters: letters[10])

    first, second = bench.propose(new_id=always_a), bench.propose("Other.", new_id=always_a)
    assert (first.id, second.id) == ("FCT-aaaaaa", "FCT-aaaaaaa")


def test_a_planted_key_never_reaches_the_disk(bench: Any) -> None:
    """A secret committed to git cannot be taken back."""
    made = bench.propose(f"Deploy with {KEY} only.", details=f"key {KEY}", source=f"person:{KEY}")
    bench.propose(f"Deploy with {KEY} only.")
    review.reject(bench.clone, made.id, f"never {KEY}", bench.ada)
    assert KEY.encode() not in everything_on_disk(bench)
    assert "redacted" in made.statement


BAD: list[tuple[dict[str, Any], type[Exception]]] = [
    ({"statement": " "}, BadInput),
    ({"statement": "a\0"}, BadInput),
    ({"statement": "a\ud800"}, HoldfastError),
    ({"statement": "x" * 20_000}, TooLarge),
    ({"confidence": 2}, BadInput),
    ({"layer": "not a layer"}, BadInput),
    ({"kind": "rumour"}, BadInput),
    ({"expires_at": "soon"}, BadInput),
    ({"expires_at": datetime(2027, 1, 1)}, BadInput),
    ({"evidence": ["nothing"]}, NotFound),
    ({"tags": ["two words"]}, BadInput),
    ({"id": "../escape"}, BadInput),
]


def test_a_bad_proposal_leaves_nothing_behind(bench: Any) -> None:
    """Half a candidate would be reviewed as if it were whole."""
    for fields, error in BAD:
        with pytest.raises(error):
            bench.propose(**{"statement": SAID, **fields})
    assert os.listdir(bench.clone.layout.candidates) == []
    assert bench.told("propose") == []


def test_two_agents_with_the_same_idea_leave_one_candidate(bench: Any) -> None:
    """They run side by side in worktrees of one clone."""
    failed: list[BaseException] = []

    def work() -> None:
        try:
            clone = Clone.open(str(bench.repo.path), cache=bench.cache)
            from holdfast.curation.propose import propose

            propose(clone, statement=SAID, evidence=["src/a.py"])
        except BaseException as error:
            failed.append(error)
            raise

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert len(candidates.read(bench.clone).waiting) == 1
    assert len(bench.told("propose")) == 1


def test_a_candidate_damaged_by_hand_is_named_and_left_alone(bench: Any) -> None:
    """One broken file must not hide the others, nor be thrown away."""
    bench.propose()
    path = Path(bench.clone.layout.candidates, "FCT-broken.md")
    path.write_text("---\nid: [\n")
    shelf = candidates.read(bench.clone)
    assert len(shelf.waiting) == 1
    assert "FCT-broken.md:" in str(shelf.broken[0])
    assert len(review.waiting(bench.clone)) == 1
    assert "FCT-broken.md:" in bench.clone.notes[-1]
    assert path.exists()
