"""The curator names what is wrong, suggests what could be done, and does nothing."""

from datetime import timedelta
from typing import Any

import pytest

from holdfast.curation import candidates, memory_health, review
from holdfast.curation.memory_health import MemoryHealth, RecallUse
from holdfast.curation.memory_state import list_memories
from holdfast.errors import Contradicts, NeedsReview
from holdfast.model.memory import Accepted
from holdfast.store import memory_files

NOBODY_COUNTED = RecallUse(None, ())


def accepted(bench: Any, statement: str, **fields: Any) -> str:
    made = bench.propose(statement, **fields)
    return review.accept(bench.clone, made.id, bench.ada).id


def examined(bench: Any, use: RecallUse = NOBODY_COUNTED) -> MemoryHealth:
    return memory_health.examine(bench.clone, bench.clock(), use=use)


def topics(health: MemoryHealth) -> dict[str, list[tuple[str, ...]]]:
    return {topic: [one.ids for one in health.of(topic)] for topic in memory_health.TOPICS if health.of(topic)}


def written_by_hand(bench: Any, memory: Accepted, name: str) -> None:
    """An entry as a merge might bring it: two branches said the same."""
    path = bench.repo.path / ".holdfast/memory/decisions" / f"{name}-{memory.id}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(memory_files.render(memory))
    review.accept(bench.again().clone, memory.id, bench.ada)


def test_a_healthy_memory_has_no_findings(bench: Any) -> None:
    """Whoever looks often is not bored with nothing."""
    accepted(bench, "Tests need Postgres 16.")
    assert examined(bench) == MemoryHealth(1, ())


def test_everything_that_is_wrong_is_named(bench: Any) -> None:
    """Stale, expired, lost and dangling: each by its own name."""
    bench.repo.commit("src/b.py", "b\n")
    stale = accepted(bench, "The module prints a letter.", evidence=["src/b.py"])
    expired = accepted(bench, "The freeze is on.", expires_at="1d")
    large = accepted(bench, "The schema has many tables.", details="word " * 600)
    bench.repo.commit("src/b.py", "c\n")
    bench.clock.pass_by(days=2)
    memory = Accepted(
        id="DEC-hand01", type="decision", statement="Use tabs.", supersedes=("DEC-nothere",), source="person:Ada"
    )
    written_by_hand(bench, memory, "tabs")
    found = topics(examined(bench))
    assert found["stale"] == [(stale,)]
    assert found["expired"] == [(expired,)]
    assert found["oversized"] == [(large,)]
    assert found["dangling link"] == [("DEC-hand01",)]
    assert "orphaned evidence" not in found


def test_evidence_that_nobody_can_look_up_is_named(bench: Any) -> None:
    """A commit on no branch speaks neither for the memory nor against it."""
    bench.repo.git("switch", "-q", "-c", "gone")
    bench.repo.commit("src/b.py", "b\n")
    head = bench.repo.git("rev-parse", "HEAD").strip()
    bench.repo.git("switch", "-q", "main")
    name = accepted(bench.again(), "The letter was tried.", evidence=[f"commit:{head}"])
    bench.repo.git("branch", "-qD", "gone")
    health = examined(bench.again())
    (finding,) = health.of("orphaned evidence")
    assert finding.ids == (name,) and finding.suggestion is not None
    assert health.of("stale") == []


def test_two_that_say_the_same_are_suggested_to_be_merged_and_nothing_is_done(bench: Any) -> None:
    """It suggests; a person decides; only then the evidence is joined and one goes."""
    bench.repo.commit("src/b.py", "b\n")
    one = accepted(bench, "Sessions are stored in Redis.", kind="decision")
    receipt = bench.propose("Marker.", evidence=["src/b.py"]).evidence
    twin = Accepted(id="DEC-twin01", type="decision", statement="We store sessions in Redis.", evidence=receipt)
    written_by_hand(bench, twin, "twin")
    health = memory_health.suggest(bench.clone, examined(bench))
    (finding,) = health.of("duplicate")
    assert set(finding.ids) == {one, "DEC-twin01"} and finding.candidate
    assert len(list_memories(bench.clone, bench.clock()).trusted) == 2
    again = memory_health.suggest(bench.clone, examined(bench))
    assert again.of("duplicate")[0].candidate == finding.candidate  # asked twice, suggested once
    with pytest.raises(NeedsReview):
        review.accept(bench.clone, finding.candidate, bench.bot)
    review.accept(bench.clone, finding.candidate, bench.ada)
    (left,) = list_memories(bench.clone, bench.clock()).trusted
    assert (left.id, len(left.memory.evidence), left.trust) == (finding.ids[1], 2, "T0")
    assert finding.candidate not in candidates.read(bench.clone).ids


def test_a_suggestion_that_was_turned_down_is_not_made_again(bench: Any) -> None:
    """No is remembered for suggestions, too."""
    accepted(bench, "The freeze is on.", expires_at="1d")
    bench.clock.pass_by(days=2)
    (finding,) = memory_health.suggest(bench.clone, examined(bench)).of("expired")
    assert finding.candidate is not None
    review.reject(bench.clone, finding.candidate, "it comes back in spring", bench.ada)
    (again,) = memory_health.suggest(bench.clone, examined(bench)).of("expired")
    assert (again.candidate, again.suggestion) == (None, None)


def test_accepting_a_suggestion_deprecates_what_it_names(bench: Any) -> None:
    """One key, and the file says so with the reason in the log."""
    name = accepted(bench, "The freeze is on.", expires_at="1d")
    bench.clock.pass_by(days=2)
    (finding,) = memory_health.suggest(bench.clone, examined(bench)).of("expired")
    assert finding.candidate is not None
    review.accept(bench.clone, finding.candidate, bench.ada)
    assert [one.id for one in list_memories(bench.clone, bench.clock()).retired] == [name]
    assert "was valid until" in bench.told("retire")[0]["reason"]


def test_contradictions_are_named_but_none_is_chosen(bench: Any) -> None:
    """Which of two holds is nobody's but a person's to say."""
    accepted(bench, "Sessions are stored in Redis.", kind="decision", applies_to=["src"])
    memory = Accepted(
        id="DEC-other1", type="decision", statement="Sessions are stored in Postgres.", source="person:Bo"
    )
    path = bench.repo.path / ".holdfast/memory/decisions/other-DEC-other1.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(memory_files.render(memory))
    bench.repo.git("add", "-f", ".holdfast/memory")
    bench.repo.git("commit", "-qm", "by hand")
    bench.again()
    assert "contradicting" not in topics(examined(bench))  # what nobody approved here has no say
    with pytest.raises(Contradicts):
        review.accept(bench.clone, "DEC-other1", bench.ada)


def test_what_nobody_asked_for_in_a_month_is_named(bench: Any) -> None:
    """Only once there was time enough to ask for it."""
    name, other = accepted(bench, "Tests need Postgres 16."), accepted(bench, "Logs are JSON lines.")
    began = bench.clock() - timedelta(days=1)
    assert examined(bench, RecallUse(began, ())).findings == ()
    bench.clock.pass_by(days=40)
    assert topics(examined(bench, RecallUse(began, {other.lower()}))) == {"never recalled": [(name,)]}
    asked = {name.lower(): 12, other.lower(): 30}
    (vain,) = examined(bench, RecallUse(began, asked, times=asked, used={other.lower()})).findings
    assert (vain.topic, vain.ids, vain.suggestion) == ("never used", (name,), None)
    assert vain.sentence == "recalled 12 times, never cited or acted on"
    assert examined(bench, RecallUse(bench.clock() - timedelta(days=1), ())).findings == ()
