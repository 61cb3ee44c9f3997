"""What an agent forgets: what is old, unused or too much, never what is pinned or under way; always with a report."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa

from holdfast.agent_store import agent_memory
from holdfast.agent_store.tables import EVIDENCE, RECORD, VECTOR
from holdfast.errors import BadInput
from holdfast.model.agent_entities import MemoryBudget, MemoryRecord
from holdfast.project import Project
from holdfast.project.working_agent import Agent

DAY = timedelta(days=1)
MICROS_A_DAY = 86_400 * 1_000_000


def aged(project: Project, record: MemoryRecord, days: float, *, used: float | None = None) -> None:
    """Make a record look as old as that."""

    def changed(tx):  # type: ignore[no-untyped-def]
        moment = None if used is None else tx.now - int(used * MICROS_A_DAY)
        return tx.update(RECORD, RECORD.c.id == record.id, created=tx.now - int(days * MICROS_A_DAY), used=moment)

    project.agents.database.run(changed)


def texts(project: Project, agent: Agent) -> list[str]:
    found = project.agents.database.run(lambda tx: agent_memory.newest(tx, agent.identity, limit=1000))
    return sorted(one.text for one in found)


def everything(project: Project) -> str:
    tables = (RECORD, EVIDENCE, VECTOR)
    return repr(
        project.agents.database.run(lambda tx: [sorted(map(tuple, tx.all(sa.select(t))), key=repr) for t in tables])
    )


def filled(project: Project, count: int = 10, **options: object) -> tuple[Agent, list[MemoryRecord]]:
    """An agent with records that are 1, 2, 3 … days old."""
    agent = project.agents.get("a")
    made = [
        agent.remember(f"Thing {n} is so. More about {n} follows.", evidence=[f"run:{n % 3}"]) for n in range(count)
    ]
    for n, record in enumerate(made):
        aged(project, record, n + 1)
        project.agents.database.run(
            lambda tx, record=record: agent_memory.put_vector(tx, agent.identity, record, ("m", b"\1\2"))
        )
    return agent, made


def test_age_use_and_budget_choose_and_vectors_go_with_their_records(project: Project) -> None:
    """A vector without its record is found and says nothing; evidence without one is rubbish."""
    agent, made = filled(project)
    aged(project, made[9], 10, used=0.5)
    report = agent.prune(older_than=8.5 * DAY, unused_for=6.5 * DAY, budget=4)
    (space,) = report.namespaces
    assert space.deleted == {"budget": 2, "older": 2, "unused": 2} and (space.before, space.after) == (10, 4)
    assert [text[:7] for text in texts(project, agent)] == ["Thing 0", "Thing 1", "Thing 2", "Thing 3"]
    for gone in made[4:]:
        assert gone.id not in everything(project)
    left = project.agents.database.run(lambda tx: tx.all(VECTOR.select()))
    assert {row.record_id for row in left} == {one.id for one in made[:4]}


def test_what_is_used_outlives_what_is_only_newer(project: Project) -> None:
    """A budget takes first what nobody asked for longest."""
    agent, made = filled(project, 4)
    aged(project, made[3], 4, used=0.1)
    agent.prune(budget=2)
    assert [text[:7] for text in texts(project, agent)] == ["Thing 0", "Thing 3"]


def test_pinned_records_and_those_of_a_cycle_under_way_stay(project: Project) -> None:
    """An agent that loses its plan in the middle of it starts over."""
    agent, _ = filled(project, 2)
    pinned = agent.remember("Never forget this.", pinned=True)
    cycle = agent.cycle()
    index = cycle.propose(tool="x").index
    plan = agent.remember("First this, then that.", kind="plan", cycle=index)
    for one in (pinned, plan):
        aged(project, one, 100)
    (space,) = agent.prune(older_than=timedelta(0), budget=0).namespaces
    assert (space.pinned, space.open, space.after, sum(space.deleted.values())) == (1, 1, 2, 2)
    cycle.result(output="done")
    agent.prune(older_than=timedelta(0))
    assert texts(project, agent) == ["Never forget this."]


def test_namespaces_are_pruned_each_for_itself(project: Project) -> None:
    """A chatty short-term memory must not push out what was learnt."""
    agent = project.agents.get("a")
    other = project.agents.get("b")
    for n in range(6):
        agent.remember(f"short {n}", namespace="short-term")
        agent.remember(f"long {n}")
        other.remember(f"theirs {n}")
    report = agent.prune(budget=2, namespaces=["short-term"])
    assert [(one.namespace, one.after) for one in report.namespaces] == [("short-term", 2)] and report.gone == 4
    assert len(texts(project, agent)) == 8 and len(texts(project, other)) == 6
    (long, short) = agent.prune(budget=3).namespaces
    assert (long.namespace, long.after, short.after) == ("long-term", 3, 2)


def test_a_budget_of_bytes_holds(project: Project) -> None:
    """A disk counts bytes, not records."""
    agent = project.agents.get("a")
    for n in range(10):
        agent.remember("ü" * 50 + str(n))  # 101 bytes each
    (space,) = agent.prune(budget=MemoryBudget(bytes=350)).namespaces
    assert (space.after, space.size, space.freed) == (3, 1010, 707)


def test_a_dry_run_reports_the_same_and_changes_nothing(project: Project) -> None:
    """Somebody looks before they delete."""
    agent, _ = filled(project)
    for consolidate, budget in ((None, 5), (True, 3)):
        before = everything(project)
        first = agent.prune(older_than=7.5 * DAY, budget=budget, consolidate=consolidate, dry_run=True)
        assert everything(project) == before and first.dry_run and first.gone
        done = agent.prune(older_than=7.5 * DAY, budget=budget, consolidate=consolidate)
        assert done.namespaces == first.namespaces and not done.dry_run
        assert len(texts(project, agent)) == done.namespaces[0].after <= budget
    assert done.namespaces[0].summaries == 1


def test_a_summary_stands_for_what_goes_with_all_its_evidence(project: Project) -> None:
    """What many records said is still known, and where it was known from."""
    agent, _ = filled(project)
    again = agent.remember("Thing 9 is so. But otherwise.", evidence=["run:9"])
    aged(project, again, 20)
    (space,) = agent.prune(older_than=5.5 * DAY, consolidate=True).namespaces
    assert space.consolidated == {"older": 6} and space.summaries == 1 and space.deleted == {}
    (summary,) = (text for text in texts(project, agent) if "More about" not in text)
    assert summary.splitlines() == [
        "Thing 9 is so.",
        "Thing 8 is so.",
        "Thing 7 is so.",
        "Thing 6 is so.",
        "Thing 5 is so.",
    ]
    (record,) = (hit.record for hit in agent.recall("Thing 8") if hit.text == summary)
    assert record is not None and record.kind == "reflection"
    sources = project.agents.database.run(
        lambda tx: [row.source for row in tx.all(EVIDENCE.select().where(EVIDENCE.c.record_id == record.id))]
    )
    assert sorted(sources) == ["run:0", "run:1", "run:2", "run:9"]


def test_a_model_may_summarise_and_what_does_not_serve_is_deleted(project: Project) -> None:
    """A summary longer than what it stands for is no saving."""
    agent, _ = filled(project, 4)
    given: list[list[str]] = []

    def model(texts: list[str]) -> str:
        given.append(texts)
        return "All is so."

    agent.prune(older_than=2.5 * DAY, consolidate=model)
    assert [len(one) for one in given] == [2] and "All is so." in texts(project, agent)
    (space,) = agent.prune(older_than=timedelta(0), budget=10, consolidate=lambda _: "long " * 1000).namespaces
    assert space.summaries == 0 and sum(space.deleted.values()) == 3 == space.before


def test_a_model_that_fails_costs_nothing(project: Project) -> None:
    """Records must not be gone before what stands for them is kept."""
    agent, _ = filled(project, 4)
    before = everything(project)
    with pytest.raises(ZeroDivisionError):
        agent.prune(budget=1, consolidate=lambda _: str(1 / 0))
    assert everything(project) == before


def test_what_is_used_while_pruning_stays(project: Project) -> None:
    """Between the plan and the deletion an agent may have needed it."""
    agent, _ = filled(project, 4)

    def meanwhile(texts: list[str]) -> str:
        agent.recall("Thing 3")
        return "Both."

    (space,) = agent.prune(older_than=2.5 * DAY, consolidate=meanwhile).namespaces
    assert any(text.startswith("Thing 3") for text in texts(project, agent)) and space.consolidated == {}


def test_nothing_to_go_by_is_refused(project: Project) -> None:
    """`prune()` alone must not mean everything."""
    with pytest.raises(BadInput, match="what to prune"):
        project.agents.get("a").prune()


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("One. Two.", "One."),
        ("v1.2 is out! Yes.", "v1.2 is out!"),
        ("a line\nanother", "a line"),
        ("no end", "no end"),
        ("x" * 900, "x" * 400),
    ],
)
def test_a_first_sentence_is_what_people_call_one(text: str, first: str) -> None:
    assert agent_memory.first_sentences([text, text.upper(), text]) == first
