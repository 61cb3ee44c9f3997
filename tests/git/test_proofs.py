"""Proofs of approval are committed with the very text they are about, and leave with it."""

import pytest

from holdfast.git import approval_proofs
from holdfast.model.event import EventDraft
from tests.git.place import Place, fact_path, fact_text

FOLDER = ".holdfast/approvals"


def approve(place: Place, name: str, statement: str = "It is so.") -> str:
    """Keep a fact that a person approved; gives the path of the proof."""
    clone = place.open()
    text = fact_text(name, statement)
    clone.change(fact_path(name), text)
    blob = clone.repo.hash_blob(text.encode())
    event = clone.record(EventDraft("accept", target=f"FCT-{name}", body={"blob": blob}))
    return f"{FOLDER}/FCT-{name}/{event.body}"


def proofs(place: Place) -> set[str]:
    """The proofs that HEAD holds."""
    return set(place.git("ls-tree", "-r", "--name-only", "HEAD", FOLDER).split())


def test_an_approval_without_a_body_is_published_without_a_proof(place: Place) -> None:
    """It says nothing about any text, and stands in the way of nobody."""
    place.keep("one")
    place.open().record(EventDraft("accept", target="FCT-one"))
    assert place.publish().events == 1
    assert proofs(place) == set()


def test_a_proof_comes_with_its_text_and_goes_with_it(place: Place) -> None:
    """Another clone must be able to tell which text was approved, and never that a changed one was."""
    one, two = approve(place, "one"), approve(place, "two")
    place.keep("three")
    done = place.publish()
    assert {one, two} <= set(done.paths)
    assert proofs(place) == {one, two}
    body = approval_proofs.read(one.rpartition("/")[2], (place.repo / one).read_bytes())
    assert body is not None and body["blob"] == place.git("rev-parse", f"HEAD:{fact_path('one')}")
    place.keep("three", "It has changed.")
    assert place.publish().paths == (fact_path("three"),), "the other proofs are left alone"
    place.keep("one", "It has changed.")
    assert set(place.publish().paths) == {fact_path("one"), one}
    assert proofs(place) == {two} and not (place.repo / one).exists()
    place.open().change(fact_path("two"), None)
    assert set(place.publish().paths) == {fact_path("two"), two}
    assert proofs(place) == set() and place.status() == ""
    assert place.git("log", "-1", "--format=%s") == "holdfast: publish 1 memory", "a proof is not counted"


def test_a_proof_waits_for_its_text(place: Place) -> None:
    """Nobody may learn of a text that is not published; once it is, its proof must not be missing."""
    place.keep("one")
    place.publish()
    proof = approve(place, "one", "It has changed.")
    place.repo.write(fact_path("one"), fact_text("one", "By hand."))
    assert place.publish().events == 1
    assert proofs(place) == set()
    place.git("checkout", "-q", "--", fact_path("one"))
    assert set(place.publish().paths) == {fact_path("one"), proof}


def test_an_approval_that_comes_after_its_text_brings_the_proof(place: Place) -> None:
    """Who approves what is published already approves it for everybody."""
    place.keep("one")
    place.publish()
    clone = place.open()
    blob = place.git("rev-parse", f"HEAD:{fact_path('one')}")
    event = clone.record(EventDraft("accept", target="FCT-one", body={"blob": blob}))
    assert f"{FOLDER}/FCT-one/{event.body}" in place.publish().paths


def test_a_proof_that_somebody_edited_is_left_alone(place: Place) -> None:
    """It lies in the work tree like any other file: an edit there is somebody's work."""
    proof = approve(place, "one")
    place.publish()
    place.repo.write(proof, "mine\n")
    place.keep("one", "It has changed.")
    assert place.publish().paths == (fact_path("one"),)
    assert (place.repo / proof).read_text() == "mine\n"
    assert place.status() == f"M {proof}"


def test_a_neighbours_proof_stays_as_it_is(place: Place) -> None:
    """One entry of a file changed; the other one's approval is not committed again."""
    path = ".holdfast/memory/facts/both.md"
    found = []
    clone = place.open()
    for name in ("one", "two"):
        blob = clone.repo.hash_blob(fact_text(name).encode())
        event = clone.record(EventDraft("accept", target=f"FCT-{name}", body={"blob": blob}))
        found.append(f"{FOLDER}/FCT-{name}/{event.body}")
    clone.change(path, fact_text("one") + "\n" + fact_text("two"))
    assert set(found) < set(place.publish().paths)
    place.open().change(path, fact_text("one") + "\n" + fact_text("two", "It has changed."))
    assert set(place.publish().paths) == {path, found[1]}
    assert proofs(place) == {found[0]}


def test_only_a_persons_own_yes_has_a_proof(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program's word is none, and neither is what came out of a sandbox, where nobody was seen."""
    clone = place.open()
    blob = clone.repo.hash_blob(fact_text("one").encode())
    clone.change(fact_path("one"), fact_text("one"))
    clone.record(EventDraft("promote", target="FCT-one", body={"blob": blob}))
    with monkeypatch.context() as shut:
        shut.setattr("holdfast.git.clone.is_writable", lambda _: False)
        approve(place, "two")
    place.publish()
    assert proofs(place) == set() and set(place.facts()) == {"one", "two"}


def test_an_approval_whose_body_is_gone_needs_no_proof(place: Place) -> None:
    """Somebody erased the body; the event alone says nothing about a text."""
    name = approve(place, "one").rpartition("/")[2]
    place.open().bodies.drop(name)
    assert place.publish().events == 1
    assert proofs(place) == set()


def test_a_proof_rides_in_the_users_own_commit(place: Place) -> None:
    """`publish --stage` stages it beside its text."""
    proof = approve(place, "one")
    assert proof in place.publish(stage=True).paths
    place.git("commit", "-q", "-m", "work and memory")
    assert proofs(place) == {proof} and place.waits() == set()
