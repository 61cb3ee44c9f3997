"""Undo, edit, merge, and what happens when ground moves: what a reviewer does every day."""

import json
from typing import Any

import pytest

from holdfast.curation import candidates, review, revise, undo
from holdfast.curation.memory_state import list_memories
from holdfast.curation.review_queue import ReviewQueue, chosen
from holdfast.curation.revise import ReviewerWish
from holdfast.errors import BadInput, NeedsEvidence, NeedsReview, NotFound, NotStored
from holdfast.git.publish import publish
from holdfast.model.memory import Accepted, Candidate, Rejected
from holdfast.store import fsio, memory_files

SAID = "Tests need Postgres 16."


def standing(bench: Any) -> Any:
    return list_memories(bench.clone, bench.clock())


def shelf(bench: Any) -> candidates.CandidateShelf:
    return candidates.read(bench.clone)


def test_an_acceptance_can_be_taken_back(bench: Any) -> None:
    """One key too fast is no decision."""
    made = bench.propose()
    review.accept(bench.clone, made.id, bench.ada)
    step = undo.undo(bench.clone, bench.ada)
    assert (step.action, step.id) == ("accept", made.id)
    assert shelf(bench).waiting == {made.id: made}
    assert bench.clone.entries() == [] and bench.clone.changes() == []
    review.accept(bench.clone, made.id, bench.ada)
    assert [(one.id, one.trust) for one in standing(bench).trusted] == [(made.id, "T0")]
    assert len(bench.told("accept")) == 2


def test_only_a_person_takes_back_what_a_person_decided(bench: Any) -> None:
    """A program must not silence what somebody approved, nor speak for somebody who said no."""
    made = bench.propose()
    review.accept(bench.clone, made.id, bench.ada)
    with pytest.raises(NeedsReview, match="a person decided"):
        undo.undo(bench.clone, bench.bot)
    assert len(standing(bench).trusted) == 1


def test_deciding_again_after_an_undo_is_a_decision(bench: Any) -> None:
    """Reject, undo, reject; retire, undo, retire: each is in the log and counts."""
    made = bench.propose()
    for _ in range(2):
        review.reject(bench.clone, made.id, "no", bench.ada)
        undo.undo(bench.clone, bench.ada)
    review.accept(bench.clone, made.id, bench.ada)
    for _ in range(2):
        revise.retire(bench.clone, made.id, "", bench.ada)
        assert standing(bench).trusted == ()
        undo.undo(bench.clone, bench.ada)
        assert [one.trust for one in standing(bench).trusted] == ["T0"]
    assert len(bench.told("reject")) == 2


def test_a_status_that_somebody_wrote_is_no_decision(bench: Any) -> None:
    """`status: deprecated` in a file, put there by whoever, waits for a person like any edit."""
    made = bench.propose()
    review.accept(bench.clone, made.id, bench.ada)
    publish(bench.clone)
    (sighting,) = bench.clone.entries()
    path = bench.repo.path / sighting.path
    path.write_text(sighting.text.replace("status: accepted", "status: deprecated"))
    assert [one.id for one in standing(bench.again()).unreviewed] == [made.id]
    review.accept(bench.clone, made.id, bench.ada)
    assert [one.id for one in standing(bench).retired] == [made.id]


def test_what_was_taken_back_does_not_speak_through_an_agents_yes(bench: Any) -> None:
    """A person's approval that was undone must not be picked up again by a promotion."""
    made = bench.propose()
    review.accept(bench.clone, made.id, bench.ada)
    undo.undo(bench.clone, bench.ada)
    assert review.accept(bench.clone, made.id, bench.bot).trust == "T2"
    assert [one.trust for one in standing(bench).trusted] == ["T2"]


def test_a_rejection_can_be_taken_back(bench: Any) -> None:
    """The candidate is on the shelf again, with all it had."""
    made = bench.propose(provenance=["person we said so"])
    review.reject(bench.clone, made.id, "no", bench.ada)
    assert isinstance(shelf(bench).rejected[made.id], Rejected)
    undo.undo(bench.clone, bench.ada)
    assert shelf(bench).waiting == {made.id: made}


def test_a_retirement_can_be_taken_back(bench: Any) -> None:
    """What was deprecated by mistake counts again, as approved as before."""
    made = bench.propose()
    review.accept(bench.clone, made.id, bench.ada)
    publish(bench.clone)
    revise.retire(bench.clone, made.id, "", bench.ada)
    assert standing(bench).trusted == ()
    undo.undo(bench.clone, bench.ada)
    assert [(one.id, one.trust) for one in standing(bench).trusted] == [(made.id, "T0")]


def test_what_was_published_is_not_taken_back_silently(bench: Any) -> None:
    """Others may have read it; the way back is another decision."""
    made = bench.propose()
    review.accept(bench.clone, made.id, bench.ada)
    publish(bench.clone)
    with pytest.raises(BadInput, match="published"):
        undo.undo(bench.clone, bench.ada)
    assert len(standing(bench).trusted) == 1


def test_nothing_is_taken_back_over_a_later_edit(bench: Any) -> None:
    """What somebody wrote since is theirs."""
    made = bench.propose()
    review.accept(bench.clone, made.id, bench.ada)
    revise.edit(bench.clone, made.id, {"tags": ("db",)}, bench.ada)
    undo.undo(bench.clone, bench.ada)
    assert standing(bench).trusted[0].memory.tags == ()
    undo.undo(bench.clone, bench.ada)
    assert list(shelf(bench).waiting) == [made.id]
    with pytest.raises(NotFound):
        undo.undo(bench.clone, bench.ada)


def other_words(bench: Any, path: str) -> str:
    """What another program writes over an entry, without a decision of its own."""
    text = str(next(one.text for one in bench.clone.entries() if one.path == path))
    return text.replace("Postgres 16", "Postgres 9")


def test_nothing_is_taken_back_that_somebody_rewrote_since(bench: Any) -> None:
    """Who undoes a click must not throw away the words that were written after it."""
    made = bench.propose()
    path = review.accept(bench.clone, made.id, bench.ada).path
    text = other_words(bench, path)
    bench.clone.change(path, text)
    with pytest.raises(BadInput, match="changed since"):
        undo.undo(bench.again().clone, bench.ada)
    assert [one.text for one in bench.clone.entries()] == [text]
    assert shelf(bench).waiting == {}


def test_nothing_is_taken_back_under_an_open_editor(bench: Any) -> None:
    """A hand edit on top of what was decided is somebody's work: neither overwritten nor approved."""
    made = bench.propose()
    path = review.accept(bench.clone, made.id, bench.ada).path
    publish(bench.clone)
    revise.retire(bench.clone, made.id, "", bench.ada)
    mine = bench.repo.path / path
    mine.write_text(other_words(bench, path))
    with pytest.raises(BadInput, match="changed since"):
        undo.undo(bench.again().clone, bench.ada)
    assert "Postgres 9" in mine.read_text()
    assert standing(bench).trusted == ()


def test_nothing_is_taken_back_that_was_deleted_since(bench: Any) -> None:
    """A file that is gone on purpose does not come back by an undo of something older."""
    made = bench.propose()
    path = review.accept(bench.clone, made.id, bench.ada).path
    publish(bench.clone)
    revise.retire(bench.clone, made.id, "", bench.ada)
    bench.clone.change(path, None)
    with pytest.raises(BadInput, match="changed since"):
        undo.undo(bench.again().clone, bench.ada)
    assert bench.clone.entries() == []


def test_the_log_says_that_a_decision_was_taken_back(bench: Any) -> None:
    """Whoever reads the log must see why a rejected candidate waits again."""
    made = bench.propose()
    review.accept(bench.clone, made.id, bench.ada)
    undo.undo(bench.clone, bench.ada)
    (gone,), (*_, back) = bench.told("retire"), bench.told("propose")
    assert (gone["action"], gone["target"]) == ("undo", made.id)
    assert (back["action"], back["reason"], back["target"]) == ("undo", "taken back", made.id)
    undone = len(bench.told("propose"))
    review.reject(bench.clone, made.id, "no", bench.ada)
    undo.undo(bench.clone, bench.ada)
    assert len(bench.told("propose")) == undone + 1


def test_a_programs_undo_approves_nothing(bench: Any) -> None:
    """A program may take its own word back; a person's approval of older words is not its to give again."""
    made = bench.propose()
    path = review.accept(bench.clone, made.id, bench.ada).path
    before = len(bench.told("accept"))
    revise.retire(bench.clone, made.id, "", bench.bot)
    undo.undo(bench.clone, bench.bot)
    assert len(bench.told("accept")) == before
    assert [one.path for one in bench.clone.entries()] == [path]
    revise.edit(bench.clone, made.id, {"tags": ("db",)}, bench.ada)
    undo.undo(bench.clone, bench.ada)
    assert [one.trust for one in standing(bench).trusted] == ["T0"]
    assert len(bench.told("accept")) == before + 2


def test_what_no_person_approved_gains_nothing_by_an_undo(bench: Any) -> None:
    """A promoted text that a person edited and brought back is as little approved as it was."""
    made = bench.propose()
    review.accept(bench.clone, made.id, bench.bot)
    revise.edit(bench.clone, made.id, {"tags": ("db",)}, bench.ada)
    assert [one.trust for one in standing(bench).trusted] == ["T0"]
    undo.undo(bench.clone, bench.ada)
    assert [one.trust for one in standing(bench).trusted] == ["T2"]


def test_a_confirmation_taken_back_leaves_the_text_as_little_approved_as_before(bench: Any) -> None:
    """Nothing in the file changed, only what counts; the undo must not approve it again by itself."""
    made = bench.propose()
    review.accept(bench.clone, made.id, bench.bot)
    publish(bench.clone)
    review.accept(bench.again().clone, made.id, bench.ada)
    assert [one.trust for one in standing(bench).trusted] == ["T0"]
    undo.undo(bench.clone, bench.ada)
    assert [one.trust for one in standing(bench).trusted] != ["T0"]
    assert len(bench.told("accept")) == 1


def test_an_entry_among_others_is_taken_back_alone(bench: Any) -> None:
    """A file of several memories: the decision about one of them moves no other, not even a broken one."""
    one, two = bench.propose(), bench.propose("Logs are JSON lines.")
    texts = [memory_files.render(Accepted.of(made)) for made in (one, two)]
    path = bench.repo.path / ".holdfast/memory/facts/notes.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("---\nid: FCT-broken\ntype: riddle\n---\nWhat?\n\n" + "\n".join(texts))
    bench.repo.git("add", "-f", str(path))
    bench.repo.git("commit", "-qm", "notes")
    candidates.discard(bench.clone, one.id)
    candidates.discard(bench.clone, two.id)
    review.accept(bench.again().clone, two.id, bench.ada)
    whole = path.read_text()
    revise.retire(bench.clone, two.id, "", bench.ada)
    undo.undo(bench.clone, bench.ada)
    (now,) = {sighting.text for sighting in bench.clone.entries()}
    assert now == whole
    assert bench.told("retire")[-1]["target"] == two.id
    assert [(known.id, known.trust) for known in standing(bench).trusted] == [(two.id, "T0")]


def test_a_damaged_record_of_decisions_is_named_and_costs_only_the_undo(bench: Any) -> None:
    """One bad byte in a convenience must not stop a review, nor be silent."""
    made = bench.propose()
    review.accept(bench.clone, made.id, bench.ada)
    lying = '[{"action": "reject", "id": "FCT-a", "candidates": [["FCT-a", "no entry"]]}]'
    for damage in ("[{", '[{"action": "accept"}]', '[{"candidates": []}]', lying, "7"):
        with open(bench.clone.layout.decided, "w", encoding="utf-8") as file:
            file.write(damage)
        with pytest.raises(NotFound, match="no decision"):
            undo.undo(bench.again().clone, bench.ada)
        assert any("decided" in note for note in bench.clone.notes), damage
    assert len(standing(bench).trusted) == 1
    fsio.remove(bench.clone.layout.decided)
    with pytest.raises(NotFound, match="no decision"):
        undo.undo(bench.again().clone, bench.ada)
    assert bench.clone.notes == []


def test_a_record_of_an_older_version_is_of_every_branch_and_of_no_person(bench: Any) -> None:
    """It did not say where and by whom; what was decided can be taken back all the same."""
    made = bench.propose()
    review.reject(bench.clone, made.id, "no", bench.bot)
    path = bench.clone.layout.decided
    (row,) = json.loads(fsio.read(path, limit=1 << 20))
    fsio.replace(path, json.dumps([{name: row[name] for name in ("action", "id", "candidates")}]).encode())
    bench.repo.git("switch", "-qc", "other")
    assert undo.undo(bench.again().clone, bench.bot).id == made.id
    assert list(shelf(bench).waiting) == [made.id]


def test_only_the_last_hundred_decisions_can_be_taken_back(bench: Any) -> None:
    """The record holds texts, so it does not grow for ever."""
    for number in range(undo.MOST + 2):
        undo.note(bench.clone, undo.UndoStep("reject", f"FCT-{number}"), bench.ada)
    taken = [undo.undo(bench.clone, bench.ada).id for _ in range(undo.MOST)]
    assert (taken[0], taken[-1]) == (f"FCT-{undo.MOST + 1}", "FCT-2")
    with pytest.raises(NotFound):
        undo.undo(bench.clone, bench.ada)


def test_an_edit_approves_anew_and_only_a_person_may(bench: Any) -> None:
    """An agent cannot put other words under somebody's approval."""
    made = bench.propose()
    review.accept(bench.clone, made.id, bench.ada)
    with pytest.raises(NeedsReview, match="only a person"):
        revise.edit(bench.clone, made.id, {"statement": "Tests need Postgres 17."}, bench.bot)
    done = revise.edit(bench.clone, made.id, {"statement": "Tests need Postgres 17."}, bench.ada)
    assert (done.trust, done.path) == ("T0", standing(bench).trusted[0].path)
    assert [one.memory.statement for one in standing(bench).trusted] == ["Tests need Postgres 17."]


def test_a_candidates_words_can_be_changed_before_it_is_accepted(bench: Any) -> None:
    """The reviewer knows better how to say it; nobody is warned of a change that was made here."""
    made = bench.propose(provenance=["person x"])
    revise.edit(bench.clone, made.id, {"statement": "Tests need Postgres 16 or newer."}, bench.ada)
    changed = shelf(bench).waiting[made.id]
    assert (changed.statement, changed.provenance) == ("Tests need Postgres 16 or newer.", made.provenance)
    assert review.waiting(bench.clone)[0].notes == ()


def test_merging_gives_the_evidence_and_takes_the_candidate(bench: Any) -> None:
    """Two that say the same become one with twice the grounds."""
    bench.repo.commit("src/b.py", "b\n")
    one = bench.propose(provenance=["person one"])
    two = bench.propose("The suite talks to a database server of release sixteen.", evidence=["src/b.py"])
    assert isinstance(two, Candidate) and two.id != one.id
    review.join(bench.clone, two.id, one.id, bench.ada)
    (joined,) = shelf(bench).waiting.values()
    assert (joined.id, len(joined.evidence)) == (one.id, 2)
    undo.undo(bench.clone, bench.ada)
    assert set(shelf(bench).waiting) == {one.id, two.id}
    assert len(shelf(bench).waiting[one.id].evidence) == 1


def test_merging_into_an_accepted_memory_keeps_it_approved(bench: Any) -> None:
    """More evidence does not silence what a person approved."""
    bench.repo.commit("src/b.py", "b\n")
    one = bench.propose()
    review.accept(bench.clone, one.id, bench.ada)
    two = bench.propose("The suite talks to a database server of release sixteen.", evidence=["src/b.py"])
    with pytest.raises(NeedsReview):
        review.join(bench.clone, two.id, one.id, bench.bot)
    review.join(bench.clone, two.id, one.id, bench.ada)
    (there,) = standing(bench).trusted
    assert (there.trust, len(there.memory.evidence)) == ("T0", 2)
    assert shelf(bench).ids == []


# When ground moves.


def cited(bench: Any, *evidence: str, **fields: Any) -> str:
    bench.repo.commit("src/pool.py", "def connect():\n    return 1\n\n\ndef close():\n    return 2\n")
    made = bench.propose("The pool opens one connection.", evidence=evidence, **fields)
    review.accept(bench.clone, made.id, bench.ada)
    return made.id


def test_a_changed_span_makes_it_stale_and_brings_it_back_with_the_diff(bench: Any) -> None:
    """What was true of other code is not told; who decides sees what changed."""
    name = cited(bench, "src/pool.py#connect")
    bench.repo.commit("src/pool.py", "def connect():\n    return 8\n\n\ndef close():\n    return 2\n")
    there = ReviewQueue(bench.again().clone, bench.clock())
    (item,) = there.items
    assert (item.id, item.reason, item.standing.status) == (name, "stale", "stale")
    diff = there.look(item).diff
    assert "-    return 1" in diff and "+    return 8" in diff
    assert standing(bench).trusted == ()


def test_edits_elsewhere_and_moves_do_not_count(bench: Any) -> None:
    """A span is what was cited, not its neighbourhood."""
    cited(bench, "src/pool.py#connect", "src/pool.py:1-2")
    text = "import os\n\n\ndef close():\n    return 3\n\n\ndef connect():\n    return 1\n"
    bench.repo.commit("src/pool.py", text)
    assert len(standing(bench.again()).trusted) == 1


def test_who_confirms_a_stale_memory_cites_it_as_it_is_now(bench: Any) -> None:
    """Looked at again, it counts again; no need to propose it anew."""
    name = cited(bench, "src/pool.py#connect")
    bench.repo.commit("src/pool.py", "def connect():\n    return 8\n\n\ndef close():\n    return 2\n")
    with pytest.raises(NeedsReview):
        review.accept(bench.again().clone, name, bench.bot)
    before = standing(bench).stale[0].memory.evidence
    assert review.accept(bench.clone, name, bench.ada).trust == "T0"
    (now,) = standing(bench).trusted
    assert now.memory.evidence != before


def test_what_is_gone_needs_other_evidence(bench: Any) -> None:
    """A function that was deleted shows nothing."""
    name = cited(bench, "src/pool.py#connect")
    bench.repo.git("rm", "-q", "src/pool.py")
    bench.repo.git("commit", "-qm", "gone")
    with pytest.raises(NeedsEvidence, match="no longer exists"):
        review.accept(bench.again().clone, name, bench.ada)


def test_an_expired_memory_needs_a_new_end(bench: Any) -> None:
    """Confirming without a date would expire it again at once."""
    made = bench.propose(expires_at="1d")
    review.accept(bench.clone, made.id, bench.ada)
    bench.clock.pass_by(days=2)
    (item,) = ReviewQueue(bench.clone, bench.clock()).items
    assert item.reason == "expired"
    with pytest.raises(BadInput, match="expired"):
        review.accept(bench.clone, made.id, bench.ada)
    review.accept(bench.clone, made.id, bench.ada, wish=ReviewerWish(no_expiry=True))
    assert standing(bench).trusted[0].memory.expires_at is None


def test_a_filter_chooses_what_is_decided_at_once(bench: Any) -> None:
    """Bulk approval means what it says, no more."""
    run = bench.run("20311115T194200Z-abc123")
    one = bench.propose(tags=["db"], confidence=0.9)
    two = bench.propose("Logs are JSON lines.", kind="decision", evidence=[f"run:{run.run_id}"])
    items = ReviewQueue(bench.clone, bench.clock()).items
    assert [item.id for item in chosen(items, tags=["db"])] == [one.id]
    assert [item.id for item in chosen(items, kinds=["decision"])] == [two.id]
    assert [item.id for item in chosen(items, confidence=0.8)] == [one.id]
    assert [item.id for item in chosen(items, source="20311115")] == [two.id]
    assert chosen(items, reasons=["stale"]) == []
    assert len(chosen(items)) == 2


def test_a_decision_may_rest_on_a_persons_word_a_fact_may_not(bench: Any) -> None:
    """People decide; facts are shown."""
    made = bench.propose("We deploy on Fridays, too.", kind="decision", evidence=[])
    with pytest.raises(NeedsReview, match="has no evidence, so only a person can accept it"):
        review.accept(bench.clone, made.id, bench.bot)
    assert review.accept(bench.clone, made.id, bench.ada).memory.source == "person:Ada"
    fact = bench.propose("The moon is far away.", evidence=[])
    with pytest.raises(NeedsEvidence):
        review.accept(bench.clone, fact.id, bench.ada)


def test_the_same_claim_in_other_words_is_one_candidate(bench: Any) -> None:
    """Ten agents that learn the same thing leave one thing to review."""
    one = bench.propose("Sessions are stored in Redis.", kind="decision", provenance=["person a"])
    two = bench.propose("We store sessions in Redis.", kind="decision", provenance=["person b"])
    assert two.id == one.id
    assert shelf(bench).waiting[one.id].provenance == ("person a", "person b")


def test_what_was_rejected_is_not_proposed_again_even_reworded(bench: Any) -> None:
    """No means no, however it is put."""
    one = bench.propose("Sessions are stored in Redis.", kind="decision")
    review.reject(bench.clone, one.id, "we do not", bench.ada)
    with pytest.raises(BadInput, match="in other words"):
        bench.propose("We store sessions in Redis.", kind="decision")


@pytest.mark.parametrize("action", ["accept", "retire"])
def test_an_undo_cut_off_anywhere_completes_when_it_is_run_again(
    bench: Any, monkeypatch: pytest.MonkeyPatch, action: str
) -> None:
    """A crash must not swallow the candidate, nor leave a decision that can neither stand nor go."""
    real, left, cut, told = fsio.replace, 0, True, 0
    while cut:
        made = bench.propose(f"The letter {chr(97 + left)} comes first in its own list.")
        review.accept(bench.clone, made.id, bench.ada)
        if action == "retire":
            revise.retire(bench.clone, made.id, "", bench.ada)
        calls = iter(range(1000))

        def failing(path: str, data: bytes, *, at: int = left, calls: Any = calls, **more: Any) -> None:
            if next(calls) == at:
                raise NotStored("cut off here")
            real(path, data, **more)

        monkeypatch.setattr(fsio, "replace", failing)
        try:
            undo.undo(bench.clone, bench.ada)
            cut = False
        except NotStored:
            monkeypatch.setattr(fsio, "replace", real)
            undo.undo(bench.again().clone, bench.ada)
        monkeypatch.setattr(fsio, "replace", real)
        if action == "accept":
            assert shelf(bench).waiting[made.id] == made
            assert standing(bench).trusted == () and standing(bench).unreviewed == ()
        else:
            assert made.id in {one.id for one in standing(bench).trusted}
        events = [one for one in bench.told("accept", "retire", "propose") if one.get("action") == "undo"]
        told += 2 if action == "accept" else 1
        assert len(events) == told, "each event once, however often it was run"
        left += 1
    assert left > 1


def test_undo_is_of_this_branch(bench: Any) -> None:
    """A decision in another work tree is none of this one's business."""
    one = bench.propose()
    review.accept(bench.clone, one.id, bench.ada)
    bench.repo.git("switch", "-qc", "other")
    with pytest.raises(NotFound, match="on this branch"):
        undo.undo(bench.again().clone, bench.ada)
    bench.repo.git("switch", "-q", "main")
    assert undo.undo(bench.again().clone, bench.ada).id == one.id


def test_an_entry_written_by_hand_can_be_edited_and_published(bench: Any) -> None:
    """What was accepted as it stood in the work tree follows the next decision about it."""
    made = bench.propose()
    path = bench.repo.path / ".holdfast/memory/facts/mine.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(memory_files.render(Accepted.of(made, id="FCT-mine01", statement="Written by hand.")))
    review.accept(bench.again().clone, "FCT-mine01", bench.ada)
    revise.edit(bench.clone, "FCT-mine01", {"statement": "Written with care."}, bench.ada)
    assert "Written with care." in path.read_text()
    assert publish(bench.clone).kept == ()
    assert [one.memory.statement for one in standing(bench.again()).trusted] == ["Written with care."]


def test_an_entry_written_by_hand_follows_an_undo_too(bench: Any) -> None:
    """A file that kept the words that were taken back would look like somebody's new edit."""
    made = bench.propose()
    path = bench.repo.path / ".holdfast/memory/facts/mine.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(memory_files.render(Accepted.of(made, id="FCT-mine01", statement="Written by hand.")))
    before = path.read_text()
    review.accept(bench.again().clone, "FCT-mine01", bench.ada)
    revise.edit(bench.clone, "FCT-mine01", {"statement": "Written with care."}, bench.ada)
    undo.undo(bench.again().clone, bench.ada)
    assert path.read_text() == before
    assert [one.memory.statement for one in standing(bench.again()).trusted] == ["Written by hand."]
    assert publish(bench.clone).kept == ()
    other = bench.propose("Logs are JSON lines.")
    review.accept(bench.clone, other.id, bench.ada)
    publish(bench.again().clone)
    revise.edit(bench.clone, other.id, {"statement": "Logs are text."}, bench.ada)
    (file,) = (bench.repo.path / ".holdfast/memory/facts").glob(f"*{other.id}.md")
    undo.undo(bench.again().clone, bench.ada)
    assert "Logs are JSON lines." in file.read_text(), "nobody wrote there"


def test_the_last_decision_of_this_branch_goes_first_and_others_stay(bench: Any) -> None:
    """Undo twice takes back the last two, in turn; a decision on another branch between them stays."""
    names = [bench.propose(f"The number {n} comes next in its list.").id for n in ("one", "two", "three")]
    review.accept(bench.clone, names[0], bench.ada)
    bench.repo.git("switch", "-qc", "other")
    review.reject(bench.again().clone, names[1], "", bench.ada)
    bench.repo.git("switch", "-q", "main")
    review.reject(bench.again().clone, names[2], "", bench.bot)
    assert undo.undo(bench.clone, bench.bot).id == names[2]
    assert undo.undo(bench.clone, bench.ada).id == names[0]
    with pytest.raises(NotFound):
        undo.undo(bench.clone, bench.ada)
    bench.repo.git("switch", "-q", "other")
    step = undo.undo(bench.again().clone, bench.ada)
    assert (step.id, step.person, step.action) == (names[1], True, "reject")
    assert set(shelf(bench).waiting) == set(names)
    told = [(one["target"], one["reason"]) for one in bench.told("propose") if one["action"] == "undo"]
    assert told[-1] == (names[1], "taken back")
