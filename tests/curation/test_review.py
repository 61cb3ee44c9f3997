"""Review: who may approve what, what is written, and that a killed command can be run again."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast.curation import candidates, review, revise
from holdfast.curation.memory_state import list_memories
from holdfast.curation.propose import propose
from holdfast.curation.review_queue import ReviewQueue
from holdfast.curation.revise import ReviewerWish
from holdfast.errors import Ambiguous, BadInput, Contradicts, NeedsEvidence, NeedsReview, NotFound, NotStored
from holdfast.git.publish import publish
from holdfast.model.memory import Accepted, Candidate, Rejected, Retired
from holdfast.store import fsio, memory_files

SAID = "Tests need Postgres 16."


def test_accepting_writes_the_entry_on_this_line(bench: Any) -> None:
    """What a person approved is what the next agent reads."""
    made = bench.propose(confidence=0.9)
    standing = review.accept(bench.clone, made.id, bench.ada)
    (sighting,) = bench.clone.entries()
    assert sighting.path == f".holdfast/memory/facts/tests-need-postgres-16-{made.id}.md" == standing.path
    assert memory_files.parse(sighting.text, "x") == Accepted.of(made) == standing.memory
    assert candidates.read(bench.clone).ids == []
    assert bench.repo.status() == ""


def test_an_approval_is_an_event_with_receipts_and_the_very_text(bench: Any) -> None:
    """Whether what lies there is what was approved is decided by its hash."""
    made = bench.propose(tags=["db"])
    review.accept(bench.clone, made.id, bench.ada)
    (event,) = bench.told("accept")
    (sighting,) = bench.clone.entries()
    assert (event["target"], event["derived_facts"], event["blob"]) == (made.id, [made.id], sighting.blob)
    assert (event["reviewer"], event["statement"], event["tags"]) == ("Ada", SAID, ["db"])
    assert event["receipts"] == list(made.evidence)


def test_only_a_persons_yes_is_an_accept(bench: Any) -> None:
    """An agent that approves its own memories must not look like a reviewer."""
    made = bench.propose()
    assert review.accept(bench.clone, made.id, bench.bot).trust == "T2"
    assert bench.told("accept") == []
    assert [event["reviewer"] for event in bench.told("promote")] == ["bot"]
    assert review.accept(bench.clone, made.id, bench.ada).trust == "T0"
    assert len(bench.told("accept")) == 1


def test_what_cites_nothing_is_not_accepted(bench: Any) -> None:
    """A fact without a receipt cannot be checked by the next reader."""
    made = bench.propose(evidence=[])
    with pytest.raises(NeedsEvidence):
        review.accept(bench.clone, made.id, bench.ada)
    assert bench.clone.entries() == []
    assert list(candidates.read(bench.clone).waiting) == [made.id]


def test_evidence_must_hold_when_it_is_accepted(bench: Any) -> None:
    """Between a proposal and its review the file may have changed; looking again mends it."""
    made = bench.propose()
    bench.repo.commit("src/a.py", "changed\n")
    with pytest.raises(NeedsEvidence, match="has changed"):
        review.accept(bench.clone, made.id, bench.bot)
    done = review.accept(bench.clone, made.id, bench.ada)  # a person has seen the change
    assert done.status == "accepted" and done.memory.evidence != made.evidence


def test_a_candidate_of_another_line_is_accepted_here_and_says_so(bench: Any) -> None:
    """The reviewer's branch gets the fact; where it came from is told."""
    bench.repo.git("switch", "-qc", "feature")
    made = bench.propose()
    bench.repo.git("switch", "-q", "main")
    standing = review.accept(bench.clone, made.id, bench.ada)
    assert made.line in standing.notes[0]
    assert bench.clone.changes()[0].line == bench.clone.line().id != made.line
    bench.repo.git("switch", "-q", "feature")
    assert bench.clone.entries() == []


def test_a_rejected_candidate_becomes_a_tombstone(bench: Any) -> None:
    """No is an answer worth keeping."""
    made = bench.propose()
    standing = review.reject(bench.clone, made.id, "  it is 17\r\n", bench.ada)
    assert isinstance(standing.memory, Rejected)
    assert candidates.read(bench.clone).rejected[made.id].reason == "it is 17"
    (event,) = bench.told("reject")
    assert (event["target"], event["reason"], event["reviewer"]) == (made.id, "it is 17", "Ada")
    review.reject(bench.clone, made.id, "again", bench.ada)
    assert len(bench.told("reject")) == 1


def test_a_person_may_change_their_mind_about_a_rejection(bench: Any) -> None:
    """A tombstone stops agents, not people."""
    made = bench.propose()
    review.reject(bench.clone, made.id, "", bench.ada)
    with pytest.raises(NeedsReview):
        review.accept(bench.clone, made.id, bench.bot)
    with pytest.raises(NeedsReview, match="was rejected"):
        review.promote(bench.clone, made.id, threshold=0.0)
    assert review.accept(bench.clone, made.id, bench.ada).status == "accepted"
    assert candidates.read(bench.clone).ids == []


def test_an_accepted_fact_is_retired_not_rejected(bench: Any) -> None:
    """Two different acts have two different words."""
    made = bench.propose()
    with pytest.raises(BadInput, match="only an accepted memory"):
        revise.retire(bench.clone, made.id, "", bench.ada)
    review.accept(bench.clone, made.id, bench.ada)
    with pytest.raises(BadInput, match="only a candidate"):
        review.reject(bench.clone, made.id, "", bench.ada)
    standing = revise.retire(bench.clone, made.id, "upgraded", bench.ada)
    assert isinstance(standing.memory, Retired)
    (sighting,) = bench.clone.entries()
    assert "status: deprecated" in sighting.text
    (event,) = bench.told("retire")
    assert (event["reason"], event["blob"]) == ("upgraded", sighting.blob)
    revise.retire(bench.clone, made.id, "again", bench.ada)
    assert len(bench.told("retire")) == 1


# Automatic promotion.


def test_without_a_threshold_nothing_is_promoted_by_itself(bench: Any) -> None:
    """Who did not ask for automation gets none."""
    with pytest.raises(NeedsReview, match="not allow automatic promotion"):
        review.promote(bench.clone, {"statement": SAID, "evidence": ["src/a.py"], "confidence": 1})
    assert [memory.statement for memory in candidates.read(bench.clone).waiting.values()] == [SAID]
    assert bench.told("promote", "accept") == []


@pytest.mark.parametrize(
    ("fields", "why"),
    [({"confidence": 0.7}, "below 0.8"), ({"confidence": None}, "below 0.8"), ({"evidence": ()}, "has no evidence")],
)
def test_below_the_bar_a_candidate_is_left(bench: Any, fields: dict[str, Any], why: str) -> None:
    """The call says no, and the work is not lost."""
    given = {"statement": SAID, "evidence": ["src/a.py"], "confidence": 0.9, **fields}
    with pytest.raises(NeedsReview, match=why):
        review.promote(bench.clone, given, threshold=0.8)
    assert len(candidates.read(bench.clone).waiting) == 1


def test_at_the_bar_it_is_promoted_and_never_called_a_persons_word(bench: Any) -> None:
    """Automatically promoted facts speak on request only."""
    bench.run("r1")
    fact = {"statement": SAID, "confidence": 0.8, "source_run": "r1", "layer": "L5"}
    standing = review.promote(bench.clone, fact, threshold=0.8)
    assert (standing.status, standing.trust, standing.memory.source) == ("accepted", "T2", "run:r1")
    (event,) = bench.told("promote")
    assert (event["reviewer"], event["target"]) == (None, standing.id)
    assert review.promote(bench.clone, fact, threshold=0.8).id == standing.id
    assert len(bench.told("promote")) == 1


def test_evidence_adrift_is_not_enough_without_a_reviewer(bench: Any) -> None:
    """A commit that a rebase left behind needs a person's judgement."""
    bench.repo.git("switch", "-qc", "side")
    side = bench.repo.commit("side.txt")
    bench.repo.git("switch", "-q", "main")
    bench.repo.git("branch", "-qD", "side")
    made = bench.propose(evidence=[side], confidence=1.0)
    with pytest.raises(NeedsReview, match="unanchored"):
        review.promote(bench.clone, made, threshold=0.5)
    assert review.promote(bench.clone, made, reviewer=bench.ada).trust == "T0"


def test_a_file_nobody_approved_is_not_promoted_by_being_there(bench: Any) -> None:
    """Writing the file by hand must not be a way around the threshold."""
    fact = Accepted(id="FCT-hand", type="fact", statement=SAID, confidence=0.7, evidence=bench.propose("x").evidence)
    bench.repo.write(".holdfast/memory/facts/hand-FCT-hand.md", memory_files.render(fact))
    given = {"statement": SAID, "evidence": ["src/a.py"]}
    with pytest.raises(NeedsReview, match=r"below 0\.8"):
        review.promote(bench.clone, given, threshold=0.8)
    assert review.promote(bench.clone, given, threshold=0.6).trust == "T2"
    assert [s.id for s in list_memories(bench.clone, bench.clock()).trusted] == ["FCT-hand"]


def test_unknown_fields_are_named(bench: Any) -> None:
    """A misspelt field would be silently missing from the fact."""
    with pytest.raises(BadInput, match="confidance"):
        review.promote(bench.clone, {"statement": SAID, "confidance": 1})
    with pytest.raises(BadInput, match="statement"):
        review.promote(bench.clone, {})


# Hand edits.


def edited(bench: Any, change: Callable[[str], str]) -> Path:
    made = bench.propose()
    review.accept(bench.clone, made.id, bench.ada)
    publish(bench.clone, here=True)
    (sighting,) = bench.again().clone.entries()
    path = Path(bench.repo.path, sighting.path)
    path.write_text(change(sighting.text))
    return path


def test_a_hand_edit_is_recorded_as_it_stands(bench: Any) -> None:
    """People edit files; approving their edit must not rewrite it."""
    path = edited(
        bench, lambda text: text.replace("Postgres 16", "Postgres 17").replace("layer: null", "layer: L5  # measured")
    )
    (before,) = bench.clone.entries()
    assert before.origin == "edit"
    assert list_memories(bench.clone, bench.clock()).unreviewed[0].notes == ("edited by hand",)
    standing = review.accept(bench.clone, before.path.rsplit("-", 1)[1].removesuffix(".md"), bench.ada)
    assert (standing.trust, standing.blob) == ("T0", before.blob)
    assert path.read_text() == before.text
    assert [s.trust for s in list_memories(bench.clone, bench.clock()).trusted] == ["T0"]


def test_an_accepted_hand_edit_is_published_as_it_stands(bench: Any) -> None:
    """Whoever edits the file and approves it has done all that can be asked."""
    path = edited(bench, lambda text: text.replace("Postgres 16", "Postgres 17") + "\nA word of my own.\n")
    (before,) = bench.clone.entries()
    review.accept(bench.clone, before.path.rsplit("-", 1)[1].removesuffix(".md"), bench.ada)

    done = publish(bench.clone, here=True)

    assert before.path in done.paths
    assert path.read_text() == before.text
    assert bench.repo.status() == ""


@pytest.mark.parametrize("decide", [review.accept, lambda *given: revise.retire(*given[:2], "", given[2])])
def test_a_text_that_came_after_its_approval_can_be_approved_again(bench: Any, decide: Any) -> None:
    """The gate wants an approval that is not older than the text; a yes that is not recorded helps nobody."""
    made = bench.propose()
    review.accept(bench.clone, made.id, bench.ada)
    (sighting,) = bench.clone.entries()
    path = bench.repo.write(sighting.path, "my own notes\n")
    assert publish(bench.clone, here=True).kept, "the file is in the way, but the event goes out"
    path.write_text(sighting.text)
    bench.repo.git("add", "-f", sighting.path)
    bench.repo.git("commit", "-q", "-m", "the fact, later")
    kind = "accept" if decide is review.accept else "retire"
    before = len(bench.again().told(kind))

    for _ in range(2):
        decide(bench.again().clone, made.id, bench.ada)

    assert len(bench.told(kind)) == before + 1, "once is enough while it waits"
    publish(bench.clone, here=True)
    decide(bench.again().clone, made.id, bench.ada)
    assert len(bench.told(kind)) == before + 2


def test_an_approval_on_another_line_does_not_count_here(bench: Any) -> None:
    """The other branch's event does not come along when only the file is carried over."""
    made = bench.propose()
    bench.repo.git("switch", "-q", "-c", "side")
    review.accept(bench.again().clone, made.id, bench.ada)
    (sighting,) = bench.clone.entries()
    bench.repo.git("switch", "-q", "main")
    bench.repo.write(sighting.path, sighting.text)
    bench.repo.git("add", "-f", sighting.path)
    bench.repo.git("commit", "-q", "-m", "the file alone")

    review.accept(bench.again().clone, made.id, bench.ada)

    assert len(bench.told("accept")) == 1


def test_a_second_edit_over_an_accepted_one_waits_for_its_own_yes(bench: Any) -> None:
    """An approval is about the text it saw."""
    path = edited(bench, lambda text: text.replace("Postgres 16", "Postgres 17"))
    (before,) = bench.clone.entries()
    name = before.path.rsplit("-", 1)[1].removesuffix(".md")
    review.accept(bench.clone, name, bench.ada)
    path.write_text(before.text.replace("Postgres 17", "Postgres 18"))

    (standing,) = list_memories(bench.clone, bench.clock()).trusted
    assert "17" in standing.memory.statement
    assert standing.notes == ("edited by hand since; accept it to take the edit",)
    assert publish(bench.clone, here=True).kept[0].path == before.path, "nobody approved 18"

    review.accept(bench.clone, name, bench.ada)
    publish(bench.clone, here=True)
    assert "18" in bench.repo.git("show", f"HEAD:{before.path}")


def test_an_agents_yes_to_a_hand_edit_is_an_edit(bench: Any) -> None:
    """It is recorded, and still no person's approval: what a person approved were other words."""
    edited(bench, lambda text: text.replace("Postgres 16", "Postgres 17"))
    (standing,) = list_memories(bench.clone, bench.clock()).unreviewed
    review.accept(bench.clone, standing.id, bench.bot)
    (now,) = list_memories(bench.clone, bench.clock()).unreviewed
    assert (now.status, now.trust, len(bench.told("edit"))) == ("edited since approval", "T2", 1)


def test_a_hand_edit_is_never_overwritten_by_retiring(bench: Any) -> None:
    """Law 8: the file holds words that are nowhere else."""
    path = edited(bench, lambda text: text.replace("Postgres 16", "Postgres 17"))
    text = path.read_text()
    (standing,) = list_memories(bench.clone, bench.clock()).unreviewed
    with pytest.raises(BadInput, match="your own edit"):
        revise.retire(bench.clone, standing.id, "", bench.ada)
    assert path.read_text() == text


# Names.


def test_any_beginning_that_fits_one_will_do(bench: Any) -> None:
    """Accepting the wrong memory is worse than typing one more character."""
    bench.propose("One.", id="FCT-m4f2aa")
    bench.propose("Two.", id="FCT-m4a0bb")
    with pytest.raises(Ambiguous):
        review.accept(bench.clone, "m4", bench.ada)
    assert review.accept(bench.clone, "M4F", bench.ada).id == "FCT-m4f2aa"
    assert review.reject(bench.clone, "m4", "", bench.ada).id == "FCT-m4a0bb"  # the one that waits
    assert review.accept(bench.clone, "FCT-m4f2aa", bench.ada).status == "accepted"
    with pytest.raises(NotFound):
        review.accept(bench.clone, "zzz", bench.ada)


# Killed half-way.


class Power:
    """The disk's calls, of which the n-th and all after it fail: the command dies there."""

    def __init__(self, real: Any, left: int) -> None:
        self._real, self._left = real, left

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any) -> Any:
            self._left -= 1
            if self._left < 0:
                raise OSError(5, "the power is gone")
            return getattr(self._real, name)(*args)

        return call


def cut(bench: Any, monkeypatch: pytest.MonkeyPatch, act: Callable[[], object], left: int) -> bool:
    """Whether the act came to its end with this many calls."""
    with monkeypatch.context() as patch:
        patch.setattr(fsio, "ops", Power(fsio.ops, left))
        try:
            act()
            whole = True
        except NotStored:
            whole = False
    bench.again()
    return whole


@pytest.mark.parametrize("kind", ["propose", "accept", "reject", "retire"])
def test_a_decision_cut_off_anywhere_completes_when_it_is_run_again(
    bench: Any, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """A crash must never leave a fact that counts without its event, nor one approved twice."""
    left, done = 0, False
    while not done:
        said = f"Fact number {left}."
        made = bench.propose(said) if kind != "propose" else None
        if kind == "retire":
            review.accept(bench.clone, made.id, bench.ada)

        def act(said: str = said, made: Any = made) -> object:
            if kind == "propose":
                return bench.propose(said)
            if kind == "accept":
                return review.accept(bench.clone, made.id, bench.ada)
            return {"reject": review.reject, "retire": revise.retire}[kind](bench.clone, made.id, "no", bench.ada)

        done = cut(bench, monkeypatch, act, left)
        if not done:
            trusted = {s.id for s in list_memories(bench.clone, bench.clock()).trusted}
            told = {event["target"] for event in bench.told("accept", "promote")}
            assert trusted <= told
            if kind != "propose" or candidates.read(bench.clone).waiting:
                act()
        left += 1
        assert left < 200
    about = [event for event in bench.told(kind) if (event["statement"] or "").startswith("Fact number")]
    per_fact = [event["statement"] for event in about]
    assert len(per_fact) == len(set(per_fact))
    if kind == "accept":
        assert len(list_memories(bench.clone, bench.clock()).trusted) == left
        assert candidates.read(bench.clone).ids == []
    if kind == "reject":
        assert len(candidates.read(bench.clone).rejected) == left
    if kind == "retire":
        assert len(list_memories(bench.clone, bench.clock()).retired) == left
    if kind == "propose":
        assert all(isinstance(m, Candidate) for m in candidates.read(bench.clone).waiting.values())


def test_what_cannot_be_merged_is_refused_and_nothing_moves(bench: Any) -> None:
    """A merge takes the candidate away; where there is nothing to take it up, it would be lost."""
    bench.repo.commit("src/b.py", "b\n")
    one, two = bench.propose(), bench.propose("Logs are JSON lines.", evidence=["src/b.py"])
    three = bench.propose("Ports are above 8000.", evidence=["src/b.py"])
    review.reject(bench.clone, three.id, "no", bench.ada)
    with pytest.raises(BadInput, match="not a candidate that can be merged"):
        review.join(bench.clone, one.id, one.id, bench.ada)
    with pytest.raises(BadInput, match="not a candidate that can be merged"):
        review.join(bench.clone, three.id, one.id, bench.ada)
    with pytest.raises(BadInput, match="is not a current memory"):
        review.join(bench.clone, one.id, three.id, bench.ada)
    review.accept(bench.clone, two.id, bench.ada)
    revise.retire(bench.clone, two.id, "", bench.ada)
    with pytest.raises(BadInput, match="is not a current memory"):
        review.join(bench.clone, one.id, two.id, bench.ada)
    assert candidates.read(bench.clone).waiting == {one.id: one}
    assert bench.told("join") == []


def test_a_merge_is_told_with_what_it_went_into(bench: Any) -> None:
    """Whoever looks for the candidate must find where its grounds are."""
    bench.repo.commit("src/b.py", "b\n")
    one = bench.propose(provenance=["person one"])
    two = bench.propose("The suite talks to a server.", evidence=["src/b.py"], provenance=["person two"])
    done = review.join(bench.clone, two.id, one.id, bench.ada)
    assert (done.status, done.memory.provenance) == ("candidate", ("person one", "person two"))
    (event,) = bench.told("join")
    assert (event["target"], event["reason"], event["reviewer"]) == (two.id, f"merged into {one.id}", "Ada")
    assert bench.told("propose")[-1]["target"] == one.id
    (left,) = review.waiting(bench.again().clone)
    assert left.notes == (), "what it says now is what was proposed last"
    assert set(left.memory.evidence) == {*one.evidence, *two.evidence}


def test_what_a_suggestion_names_must_stand_here(bench: Any) -> None:
    """It was retired meanwhile, or never was on this branch."""
    made = bench.propose()
    review.accept(bench.clone, made.id, bench.ada)
    asks = bench.propose("It no longer holds.", evidence=[])
    candidates.keep(bench.clone, Candidate.of(asks, suggests=f"deprecate:{made.id}", because="it is old"))
    with pytest.raises(NeedsReview, match="only a person may deprecate"):
        review.accept(bench.clone, asks.id, bench.bot)
    review.accept(bench.clone, asks.id, bench.ada)
    assert bench.told("retire")[-1]["reason"] == "it is old"
    assert [one.id for one in list_memories(bench.clone, bench.clock()).retired] == [made.id]
    assert asks.id not in candidates.read(bench.clone).ids
    again = bench.propose("It still does not hold.", evidence=[])
    candidates.keep(bench.clone, Candidate.of(again, suggests=f"deprecate:{made.id}", because="twice"))
    with pytest.raises(NotFound, match="are not current memories"):
        review.accept(bench.clone, again.id, bench.ada)


def test_a_rejection_is_recorded_once_and_only_for_candidates(bench: Any) -> None:
    """A second no adds nothing; what stands is deprecated, not rejected."""
    made = bench.propose()
    for _ in range(2):
        assert review.reject(bench.clone, made.id, "no", bench.ada).status == "rejected"
    assert len(bench.told("reject")) == 1
    other = bench.propose("Logs are JSON lines.")
    review.accept(bench.clone, other.id, bench.ada)
    with pytest.raises(BadInput, match="only a candidate can be rejected"):
        review.reject(bench.clone, other.id, "no", bench.ada)


def test_only_what_is_here_can_be_superseded(bench: Any) -> None:
    """A name that nobody has would be superseded for ever."""
    new = bench.propose("Tests need Postgres 17.")
    with pytest.raises(NotFound, match="no memory FCT-none to supersede"):
        review.accept(bench.clone, new.id, bench.ada, wish=ReviewerWish(supersede=("FCT-none",)))
    assert new.id in candidates.read(bench.clone).waiting


def test_what_stands_is_superseded_by_a_new_memory(bench: Any) -> None:
    """Without the wish the two would contradict each other."""
    old = bench.propose()
    review.accept(bench.clone, old.id, bench.ada)
    new = bench.propose("Tests need Postgres 17.")
    done = review.accept(bench.clone, new.id, bench.ada, wish=ReviewerWish(supersede=(old.id,)))
    assert getattr(done.memory, "supersedes", ()) == (old.id,)


def test_what_stands_is_given_back_as_it_stands(bench: Any) -> None:
    """A program that promotes the same thing every night adds nothing to the log."""
    made = bench.propose()
    accepted = review.accept(bench.clone, made.id, bench.ada)
    count = len(bench.clone.events())
    again = review.promote(bench.clone, made.id)
    assert (again.memory, again.status, again.path, again.blob) == (
        *(accepted.memory, "accepted", accepted.path, accepted.blob),
    )
    publish(bench.clone)
    review.promote(bench.clone, made.id, reviewer=bench.ada)
    assert len(bench.clone.events()) == count
    review.accept(bench.clone, made.id, bench.ada)
    assert len(bench.clone.events()) == count + 1, "a person who says so again is heard again"
    revise.retire(bench.clone, made.id, "", bench.ada)
    assert review.promote(bench.clone, made.id).status == "deprecated"


@pytest.mark.parametrize("why", ["suggests", "expired", "contradicts"])
def test_no_confidence_is_enough_where_a_person_must_look(bench: Any, why: str) -> None:
    """What would end another memory, has ended, or speaks against one, waits."""
    made = bench.propose(confidence=1.0)
    if why == "suggests":
        candidates.keep(bench.clone, Candidate.of(made, suggests="deprecate:FCT-x", because="it is old"))
    elif why == "expired":
        candidates.keep(bench.clone, Candidate.of(made, expires_at=bench.clock.now.replace(microsecond=0)))
    else:
        other = bench.propose("Tests do not need Postgres 16.")
        review.accept(bench.clone, other.id, bench.ada)
    words = {"suggests": "only a person may do what it suggests", "expired": "it has expired", "contradicts": "FCT-"}
    with pytest.raises(NeedsReview, match=f"waits for review: .*{words[why]}"):
        review.promote(bench.clone, made.id, threshold=0.5)
    assert bench.told("promote") == []
    if why == "contradicts":
        with pytest.raises(Contradicts):
            review.accept(bench.clone, made.id, bench.ada)
        with pytest.raises(Contradicts):  # a tombstone that a person digs up
            review.reject(bench.clone, made.id, "", bench.ada)
            review.accept(bench.clone, made.id, bench.ada)
        assert [one["target"] for one in bench.told("accept")] == [other.id]


def test_what_waits_says_where_it_was_proposed_and_what_has_changed(bench: Any) -> None:
    """A reviewer decides by it."""
    bench.repo.git("switch", "-qc", "side")
    there = bench.again().propose("Ports are above 8000.")
    bench.repo.git("switch", "-q", "main")
    here = bench.again().propose()
    bench.repo.commit("src/a.py", "changed\n")
    found = {one.id: one for one in review.waiting(bench.again().clone)}
    assert {one.status for one in found.values()} == {"candidate"}
    assert [state for _, state in found[here.id].receipts] == ["changed"]
    assert [text for text, _ in found[here.id].receipts] == list(here.evidence)
    assert f"proposed on another line, {there.line}" in found[there.id].notes
    assert not any("another line" in note for note in found[here.id].notes)
    candidates.keep(bench.clone, Candidate.of(here, statement="Tests need Postgres 17."))
    found = {one.id: one for one in review.waiting(bench.again().clone)}
    assert found[here.id].notes == ("its words were changed after it was proposed",)
    Path(bench.clone.layout.candidates, "FCT-bad.md").write_text("{")
    clone = bench.again().clone
    assert len(review.waiting(clone)) == 2
    assert [note for note in clone.notes if note.startswith("left out: ") and "FCT-bad" in note]


def test_a_run_that_is_the_source_is_evidence_too(bench: Any) -> None:
    """Whoever checks the fact looks there; a source that was named stays."""
    bench.run("r1")
    given = {"statement": SAID, "confidence": 0.8, "source_run": "r1", "source": "person:Ada", "type": "decision"}
    done = review.promote(bench.clone, {**given, "evidence": ["src/a.py"]}, threshold=0.8)
    assert done.memory.source == "person:Ada" and done.memory.type == "decision"
    assert [text.partition(":")[0] for text in done.memory.evidence] == ["file", "run"]


def test_an_entry_that_stands_with_other_words_is_not_overwritten(bench: Any) -> None:
    """Somebody wrote a file of the same id meanwhile."""
    made = bench.propose()
    other = Accepted.of(made, statement="Tests need nothing.")
    bench.repo.commit(f".holdfast/memory/facts/x-{made.id}.md", memory_files.render(other))
    with pytest.raises(BadInput, match=r"already exists in .* with other words"):
        review.accept(bench.again().clone, made.id, bench.ada)
    assert made.id in candidates.read(bench.clone).waiting


def test_a_merge_of_two_memories_gives_the_one_what_the_other_rested_on(bench: Any) -> None:
    """Nothing that somebody found may be lost with its words."""
    bench.repo.commit("src/b.py", "b\n")
    old, into = bench.propose(tags=["db"]), bench.propose("The suite talks to a server.", evidence=["src/b.py"])
    for one in (old, into):
        review.accept(bench.clone, one.id, bench.ada)
    asks = bench.propose("Both say the same.", evidence=[])
    candidates.keep(bench.clone, Candidate.of(asks, suggests=f"merge:{old.id}:{into.id}", because="one is enough"))
    done = review.accept(bench.clone, asks.id, bench.ada)
    assert isinstance(done.memory, Retired) and done.id == old.id
    (left,) = list_memories(bench.clone, bench.clock()).trusted
    assert (left.id, left.memory.tags) == (into.id, ("db",))
    assert set(left.memory.evidence) == {*into.evidence, *old.evidence}
    assert candidates.read(bench.clone).ids == []


def test_a_persons_word_becomes_the_source_where_nothing_is_cited(bench: Any) -> None:
    """The next reader sees on whose word it rests; what was cited needs no word."""
    one = bench.propose("Ship every week.", kind="decision", evidence=[])
    two = bench.propose("Ship every day.", kind="decision")
    assert review.accept(bench.clone, one.id, bench.ada).memory.source == "person:Ada"
    assert review.accept(bench.clone, two.id, bench.ada, wish=ReviewerWish(keep_both=True)).memory.source is None


def test_nothing_is_merged_into_a_file_that_somebody_is_editing(bench: Any) -> None:
    """Neither a candidate, nor a second memory, nor new evidence; the words in the editor are theirs."""
    bench.repo.commit("src/b.py", "b\n")
    old = bench.propose("The suite talks to a server.", evidence=["src/b.py"])
    into = bench.propose()
    for one in (old, into):
        review.accept(bench.clone, one.id, bench.ada)
    publish(bench.clone)
    candidate = bench.propose("The suite needs a database.", evidence=["src/b.py"])
    asks = bench.propose("Both say the same.", evidence=[])
    candidates.keep(bench.clone, Candidate.of(asks, suggests=f"merge:{old.id}:{into.id}", because="one is enough"))
    (path,) = [one.path for one in bench.clone.entries() if into.id in one.path]
    text = (bench.repo.path / path).read_text()
    bench.repo.write(path, text.replace("16", "17"))
    count = len(bench.again().clone.events())
    for act in (
        lambda: review.join(bench.clone, candidate.id, into.id, bench.ada),
        lambda: review.accept(bench.clone, asks.id, bench.ada),
        lambda: review.accept(bench.clone, into.id, bench.ada, wish=ReviewerWish(applies_to=("src/",))),
    ):
        with pytest.raises(BadInput, match="edit"):
            act()
    assert len(bench.clone.events()) == count and bench.clone.changes() == []
    assert (bench.repo.path / path).read_text() == text.replace("16", "17")
    bench.repo.write(path, text)
    with pytest.raises(NeedsReview, match="only a person may change"):
        review.join(bench.again().clone, candidate.id, into.id, bench.bot)
    done = review.join(bench.clone, candidate.id, into.id, bench.ada)
    assert set(done.memory.evidence) == {*into.evidence, *candidate.evidence}
    assert bench.told("join")[-1]["target"] == candidate.id
    assert candidate.id not in candidates.read(bench.clone).ids


def test_who_accepts_words_that_were_changed_is_told_so(bench: Any) -> None:
    """The proposal in the log says something else."""
    made = bench.propose()
    candidates.keep(bench.clone, Candidate.of(made, statement="Tests need Postgres 17."))
    standing = review.accept(bench.clone, made.id, bench.ada)
    assert standing.notes == ("its words were changed after it was proposed",)
    other = bench.propose("Logs are JSON lines.")
    assert review.accept(bench.clone, other.id, bench.ada).notes == ()


def test_the_surest_candidate_is_read_first(bench: Any) -> None:
    """Whoever has a minute reads the top of the queue."""
    for statement, sure in (
        ("Ports are odd in tests.", 0.4),
        ("Hosts are named by tide.", 0.9),
        ("Keys rotate weekly.", None),
    ):
        propose(bench.clone, statement=statement, confidence=sure)
    told = [item.standing.memory.statement for item in ReviewQueue(bench.clone, bench.clock()).items]
    assert told == ["Keys rotate weekly.", "Hosts are named by tide.", "Ports are odd in tests."]


def test_candidates_of_one_session_stand_together(bench: Any) -> None:
    """Whoever reads one has its session in mind for the next."""
    for number, statement in enumerate(("Ports are odd.", "Hosts have tides.", "Keys rotate.", "Logs are JSON lines.")):
        propose(bench.clone, statement=statement, confidence=0.5, source=f"agent:{'ab'[number % 2]}")
    told = [item.standing.memory.source for item in ReviewQueue(bench.clone, bench.clock()).items]
    assert told == ["agent:a", "agent:a", "agent:b", "agent:b"]


def test_a_fact_about_code_that_changed_since_it_was_said_waits_below(bench: Any) -> None:
    """What an agent told of the code was true of other code; a decision may outlive the lines it was made for."""
    told = {"evidence": ["file:src/a.py"], "confidence": 0.8, "provenance": ("run:R-1#1 said",)}
    fact = bench.propose("Ports in `src/a.py` are odd in tests.", **told)
    decision = bench.propose("Hosts in `src/a.py` are named by tide.", kind="decision", **told)

    def likely() -> dict[str, bool]:
        return {item.id: item.likely for item in ReviewQueue(bench.clone, bench.clock()).items}

    assert likely() == {fact.id: True, decision.id: True}
    bench.repo.commit("src/a.py", "print('b')\n")
    assert likely() == {fact.id: False, decision.id: True}
