"""Contradictions: refused before promotion, resolved explicitly, caught after a merge."""

from typing import Any

import pytest

from holdfast.curation import candidates, review
from holdfast.curation.memory_state import list_memories
from holdfast.curation.review_queue import ReviewQueue
from holdfast.curation.revise import ReviewerWish
from holdfast.diagnostics.check import check
from holdfast.errors import BadInput, Contradicts, NeedsReview
from holdfast.git.publish import publish
from holdfast.model.memory import Accepted
from holdfast.project import Project
from holdfast.store import memory_files

REDIS, POSTGRES = "Sessions are stored in Redis.", "Sessions are stored in Postgres."


def decided(bench: Any, statement: str = REDIS, **fields: Any) -> Accepted:
    made = bench.propose(statement, kind="decision", **fields)
    return review.accept(bench.clone, made.id, bench.ada).memory


def queue(bench: Any) -> ReviewQueue:
    return ReviewQueue(bench.clone, bench.clock())


def test_a_candidate_that_contradicts_is_refused_with_both_texts(bench: Any) -> None:
    """Two decisions that cannot both hold must not both be told to the next agent."""
    old = decided(bench)
    new = bench.propose(POSTGRES, kind="decision")
    with pytest.raises(Contradicts) as caught:
        review.accept(bench.clone, new.id, bench.ada)
    assert all(part in str(caught.value) for part in (REDIS, POSTGRES, old.id, new.id))
    assert [one.memory.id for one in list_memories(bench.clone, bench.clock()).trusted] == [old.id]
    assert list(candidates.read(bench.clone).waiting) == [new.id]


def test_the_queue_shows_what_it_contradicts(bench: Any) -> None:
    """Who decides sees the other side before, not after."""
    old = decided(bench)
    bench.propose(POSTGRES, kind="decision")
    there = queue(bench)
    (item,) = there.items
    (conflict,) = there.look(item).conflicts
    assert (conflict.other.id, conflict.status, conflict.verdict.kind) == (old.id, "accepted", "value")


def test_what_may_contradict_is_shown_and_blocks_nothing(bench: Any) -> None:
    """The judge is wrong about one hint of three: a person looks, and nobody is held up."""
    old = decided(bench, "Use PostgreSQL as the primary database.")
    new = bench.propose("MySQL is our primary database.", kind="decision")
    there = queue(bench)
    look = there.look(there.items[0])
    assert (look.conflicts, [one.other.id for one in look.hints]) == ((), [old.id])
    assert f"may contradict {old.id}" in look.hints[0].sentence
    assert review.accept(bench.clone, new.id, bench.ada).memory.id == new.id


def test_true_statements_about_sibling_functions_are_all_accepted(bench: Any) -> None:
    """A code name is a subject: what holds for one function says nothing about the next."""
    for name, times in (("fetch_all", 3), ("push_all", 5), ("list_all", 7)):
        decided(bench, f"`{name}()` retries {times} times.")
    assert len(list_memories(bench.clone, bench.clock()).trusted) == 3


def test_superseding_resolves_it(bench: Any) -> None:
    """The new one names the old one, which no longer counts."""
    old = decided(bench)
    new = bench.propose(POSTGRES, kind="decision")
    done = review.accept(bench.clone, new.id, bench.ada, wish=ReviewerWish(supersede=(old.id,)))
    assert done.memory.supersedes == (old.id,)
    found = list_memories(bench.clone, bench.clock())
    assert ([one.id for one in found.trusted], [one.id for one in found.superseded]) == ([new.id], [old.id])


def test_both_can_be_kept_with_a_scope_and_it_is_remembered(bench: Any) -> None:
    """A person who looked at both is not asked again, here or in another clone."""
    old = decided(bench, applies_to=["src/api"])
    new = bench.propose(POSTGRES, kind="decision")
    wish = ReviewerWish(keep_both=True, applies_to=("src/jobs",))
    done = review.accept(bench.clone, new.id, bench.ada, wish=wish)
    assert (done.memory.compatible_with, done.memory.applies_to) == ((old.id,), ("src/jobs",))
    assert queue(bench).items == ()
    assert len(list_memories(bench.clone, bench.clock()).trusted) == 2


def test_a_scope_that_does_not_overlap_needs_no_resolution(bench: Any) -> None:
    """What holds in one place says nothing about another."""
    decided(bench, applies_to=["src/api"])
    decided(bench, POSTGRES, applies_to=["src/jobs"])
    assert len(list_memories(bench.clone, bench.clock()).trusted) == 2


def test_a_superseded_decision_does_not_come_back_unseen(bench: Any) -> None:
    """An agent that reads old code proposes what was given up; a person must say so knowingly."""
    old = decided(bench)
    made = bench.propose(POSTGRES, kind="decision")
    review.accept(bench.clone, made.id, bench.ada, wish=ReviewerWish(supersede=(old.id,)))
    again = bench.propose("We store the sessions in Redis.", kind="decision")
    assert again.id != old.id
    with pytest.raises(Contradicts, match="superseded"):
        review.accept(bench.clone, again.id, bench.ada, wish=ReviewerWish(supersede=(made.id,)))


def test_nothing_is_promoted_by_itself_against_what_stands(bench: Any) -> None:
    """A confident agent does not overrule a person."""
    decided(bench)
    new = bench.propose(POSTGRES, kind="decision", confidence=1.0)
    with pytest.raises(NeedsReview, match="contradicts"):
        review.promote(bench.clone, new.id, threshold=0.5)


def test_a_hand_edit_that_contradicts_is_refused_too(bench: Any) -> None:
    """The editor is no way around the question."""
    decided(bench)
    other = decided(bench, "Logs are written as JSON.")
    publish(bench.clone)
    (sighting,) = [one for one in bench.clone.entries() if other.id in one.path]
    (bench.repo.path / sighting.path).write_text(sighting.text.replace("Logs are written as JSON.", POSTGRES))
    with pytest.raises(Contradicts):
        review.accept(bench.again().clone, other.id, bench.ada)


def on_a_branch(bench: Any, name: str, statement: str) -> str:
    bench.repo.git("switch", "-q", "-c", name, "main")
    bench.again()
    made = decided(bench, statement)
    publish(bench.clone)
    return made.id


def test_two_branches_that_contradict_are_caught_after_the_merge(bench: Any) -> None:
    """Each branch was right by itself; nobody looked at both."""
    one = on_a_branch(bench, "one", REDIS)
    other = on_a_branch(bench, "other", POSTGRES)
    assert check(bench.clone.repo).word == "ok"
    bench.repo.git("merge", "-q", "--no-edit", "one")
    bench.again()
    (item,) = [item for item in queue(bench).items if item.reason == "contradicts"]
    assert item.id in (one, other)
    (problem,) = check(bench.clone.repo).problems
    assert one in problem.sentence and other in problem.sentence
    review.accept(bench.clone, one, bench.ada, wish=ReviewerWish(supersede=(other,)))
    publish(bench.clone)
    assert check(bench.clone.repo).problems == ()
    assert queue(bench.again()).items == ()


def test_the_next_command_after_a_merge_says_so_once(bench: Any) -> None:
    """Whoever merged hears of it without asking."""
    on_a_branch(bench, "one", REDIS)
    on_a_branch(bench, "other", POSTGRES)
    project = Project.open(bench.repo.path, clock=bench.clock, environ={"XDG_CACHE_HOME": bench.cache})
    assert not any("contradicts" in note for note in project.notices)
    bench.repo.git("merge", "-q", "--no-edit", "one")
    bench.clock.pass_by(minutes=1)
    told = [
        [note for note in project.notices if "contradicts" in note]
        for project in (
            Project.open(bench.repo.path, clock=bench.clock, environ={"XDG_CACHE_HOME": bench.cache}) for _ in range(2)
        )
    ]
    assert len(told[0]) == 1 and "holdfast review" in told[0][0]
    assert told[1] == []


def test_the_trunk_itself_is_judged_by_what_its_last_merge_brought(bench: Any) -> None:
    """Where every pull request was fine alone, the trunk's own check finds the pair."""
    on_a_branch(bench, "one", REDIS)
    on_a_branch(bench, "other", POSTGRES)
    bench.repo.git("switch", "-q", "main")
    bench.repo.git("merge", "-q", "--no-edit", "--no-ff", "one")
    assert check(bench.again().clone.repo).problems == ()
    bench.repo.git("merge", "-q", "--no-edit", "--no-ff", "other")
    assert "contradicts" in check(bench.again().clone.repo).problems[0].sentence


def test_many_at_once_do_not_contradict_one_another(bench: Any) -> None:
    """Of two candidates that deny each other, a bulk approval takes one and names the other."""
    first, second = (bench.propose(text, kind="decision") for text in (REDIS, POSTGRES))
    against = queue(bench).against
    against.add(review.accept(bench.clone, first.id, bench.ada, against=against))
    with pytest.raises(Contradicts):
        review.accept(bench.clone, second.id, bench.ada, against=against)


def test_what_is_superseded_must_be_there(bench: Any) -> None:
    """A wrong id is a typing error, not a resolution."""
    made = bench.propose(POSTGRES, kind="decision")
    with pytest.raises(Exception, match="no memory"):
        review.accept(bench.clone, made.id, bench.ada, wish=ReviewerWish(supersede=("DEC-nothere",)))
    with pytest.raises(BadInput):
        review.join(bench.clone, made.id, made.id, bench.ada)


def test_what_came_by_git_waits_apart_and_has_no_say(bench: Any) -> None:
    """A pull request's entries are decided about by a person, and contradict nobody until then."""
    decided(bench)
    planted = Accepted(id="DEC-other1", type="decision", statement=POSTGRES, source="person:Mallory")
    path = ".holdfast/memory/decisions/other-DEC-other1.md"
    bench.repo.commit(path, memory_files.render(planted))
    (item,) = queue(bench.again()).items
    assert (item.id, item.reason) == ("DEC-other1", "elsewhere")
    with pytest.raises(Contradicts):
        review.accept(bench.clone, item.id, bench.ada)
