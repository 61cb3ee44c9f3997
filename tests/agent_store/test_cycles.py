"""An agent's cycles: durable, in order, taken up at the right place by whoever comes next."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from functools import partial

import pytest

from holdfast.agent_store import agent_cycles, database
from holdfast.agent_store.database import AgentDatabase
from holdfast.agent_store.tables import RECORD
from holdfast.errors import BadInput, Claimed, NotFound
from holdfast.model.agent_entities import ActionProposal, ActionResult
from holdfast.project import Project
from holdfast.project.working_agent import Agent
from holdfast.values import replace

ODD = 'nul \0, lone \ud800 surrogate, \U0001f980, "quotes"'


def test_what_was_proposed_and_what_came_of_it_is_kept_to_the_letter(project: Project) -> None:
    """A resumed agent that reads something else than it wrote goes on wrongly."""
    agent = project.agents.get("researcher", directives=["Cite."], config={"depth": 3, "nested": {"a": [1, None, 2.5]}})
    with agent.cycle() as cycle:
        cycle.propose(thoughts="look", plan=["a", "b"], tool="search", arguments={"q": "ü", "n": [1, 2]}, workspace="w")
        cycle.result(output={"hits": [{"id": 7}], "none": None}, artifacts=["out/a.txt"], state={"page": 2})
    (kept,) = project.agents.get("researcher").cycles()
    assert kept.proposal == ActionProposal(
        thoughts="look", plan=("a", "b"), tool="search", arguments={"q": "ü", "n": [1, 2]}, workspace="w"
    )
    assert kept.result == ActionResult(output={"hits": [{"id": 7}], "none": None}, artifacts=("out/a.txt",))
    assert kept.ended is not None and kept.ended >= kept.started
    again = project.agents.find("researcher")
    assert again.identity.directives == ("Cite.",) and again.identity.config == {
        "depth": 3,
        "nested": {"a": [1, None, 2.5]},
    }
    assert again.resume().state == {"page": 2}


def test_both_engines_keep_odd_text(project: Project) -> None:
    """Postgres refuses what SQLite takes; an agent must not learn that from a tool's output."""
    agent = project.agents.get("odd")
    with agent.cycle() as cycle:
        cycle.propose(thoughts=ODD)
        cycle.result(output=ODD)
    (kept,) = agent.cycles()
    assert kept.result is not None and kept.result.output == ODD and kept.proposal.thoughts == ODD
    record = agent.remember(ODD)
    assert "\0" not in record.text and agent.recall("quotes")[0].record == record


@pytest.mark.parametrize("bad", [float("nan"), {1, 2}, object()])
def test_what_is_no_json_is_refused_before_anything_is_kept(project: Project, bad: object) -> None:
    """Half a result is worse than none."""
    agent = project.agents.get("researcher")
    cycle = agent.cycle()
    cycle.propose(tool="x")
    with pytest.raises(BadInput, match="JSON"):
        cycle.result(output=bad)
    assert agent.cycles()[0].is_open
    cycle.result(output="text")


def test_an_open_cycle_is_handed_to_the_next_process_and_none_begins_beside_it(project: Project) -> None:
    """Its action may have happened: beginning another would repeat or lose it."""
    agent = project.agents.get("researcher")
    first = agent.cycle().propose(tool="send", arguments={"to": "ann"})
    other = project.agents.get("researcher")
    with pytest.raises(BadInput, match="no result"):
        other.cycle().propose(tool="send")
    resumed = other.resume()
    assert resumed.pending is not None and resumed.pending.kept == first and resumed.next_index == 1
    resumed.pending.result(output="was sent", state=["ann"])
    after = other.resume()
    assert after.pending is None and after.state == ["ann"] and after.next_index == 1


def test_an_exception_is_the_result_and_an_interrupt_is_none(project: Project) -> None:
    """A tool that raised has answered; a process that was stopped has not."""
    agent = project.agents.get("researcher")
    with pytest.raises(ZeroDivisionError), agent.cycle() as cycle:
        cycle.propose(tool="divide")
        raise ZeroDivisionError("by nought")
    with pytest.raises(KeyboardInterrupt), agent.cycle() as cycle:
        cycle.propose(tool="wait")
        raise KeyboardInterrupt
    failed, stopped = agent.cycles()
    assert failed.result == ActionResult(error="ZeroDivisionError: by nought") and stopped.is_open


def test_a_cycle_has_one_proposal_and_one_result(project: Project) -> None:
    """The second would change what somebody relied on."""
    agent = project.agents.get("researcher")
    with pytest.raises(BadInput, match="proposal before"):
        agent.cycle().result(output=1)
    cycle = agent.cycle()
    cycle.propose(tool="x")
    with pytest.raises(BadInput, match="already has a proposal"):
        cycle.propose(tool="y")
    cycle.result(output=1)
    with pytest.raises(BadInput, match="result already"):
        cycle.result(output=2)
    with pytest.raises(BadInput, match="without a result"), agent.cycle() as open_one:
        open_one.propose(tool="z")


def test_an_operation_that_runs_twice_does_its_work_once(store: AgentDatabase) -> None:
    """A server killed at COMMIT cannot say whether it was kept, so the client asks again."""
    agent = store.run(partial(agent_cycles.get_agent, name="a", new_id="A", directives=None, config=None))
    begun = partial(
        agent_cycles.begin, agent=agent, proposal=ActionProposal(tool="x"), holder="h", action="act", run_id="r"
    )
    first, second = store.run(begun), store.run(begun)
    assert first == second
    ended = partial(agent_cycles.finish, agent=agent, cycle=first, result=ActionResult(output=1), holder="h")
    assert store.run(ended) == store.run(ended)
    assert len(store.run(partial(agent_cycles.cycles, agent=agent))) == 1


def _work_as(url: str, ready: multiprocessing.synchronize.Event, stop: multiprocessing.synchronize.Event) -> None:
    held = database.open_url(url, "project-one")
    agent = held.run(partial(agent_cycles.get_agent, name="a", new_id="A", directives=None, config=None))
    held.run(partial(agent_cycles.take, agent=agent, holder=agent_cycles.this_process()))
    ready.set()
    stop.wait(30)


def test_two_processes_never_work_as_one_agent(store: AgentDatabase, store_url: str) -> None:
    """Both would do the same action; once the first is dead, nobody has to wait for its lease."""
    spawn = multiprocessing.get_context("spawn")
    ready, stop = spawn.Event(), spawn.Event()
    worker = spawn.Process(target=_work_as, args=(store_url, ready, stop))
    worker.start()
    assert ready.wait(30)
    agent = store.run(partial(agent_cycles.find_agent, name="a"))
    taken = partial(agent_cycles.take, agent=agent, holder=agent_cycles.this_process())
    with pytest.raises(Claimed, match="another process"):
        store.run(taken)
    os.kill(worker.pid or 0, 9)
    worker.join()
    assert store.run(taken).holder != agent_cycles.this_process()


def test_a_lease_of_another_machine_ends(store: AgentDatabase) -> None:
    """A machine that burnt down must not keep its agents for ever."""
    agent = store.run(partial(agent_cycles.get_agent, name="a", new_id="A", directives=None, config=None))
    store.run(partial(agent_cycles.take, agent=agent, holder="elsewhere:1:2"))
    with pytest.raises(Claimed):
        store.run(partial(agent_cycles.take, agent=agent, holder="here"))
    store.run(lambda tx: tx.update(agent_cycles.AGENT, held_until=tx.now - 1))
    store.run(partial(agent_cycles.take, agent=agent, holder="here"))
    with pytest.raises(Claimed):  # the first wakes up again, too late
        store.run(
            partial(
                agent_cycles.begin,
                agent=agent,
                proposal=ActionProposal(tool="x"),
                holder="elsewhere:1:2",
                action="late",
                run_id="r",
            )
        )


def test_agents_of_two_projects_do_not_meet(store: AgentDatabase, store_url: str) -> None:
    """One server may hold many projects."""
    other = database.open_url(store_url, "project-two")
    for one, who in ((store, "A"), (other, "B")):
        one.run(partial(agent_cycles.get_agent, name="same", new_id=who, directives=[who], config=None))
    assert [one.directives for one in other.run(agent_cycles.every_agent)] == [("B",)]
    with pytest.raises(NotFound):
        other.run(partial(agent_cycles.find_agent, name="nobody"))
    other.close()


def test_a_finished_run_is_in_the_log_and_its_lessons_wait_for_review(project: Project) -> None:
    """What an agent of one's own did is found like any other agent's work."""
    agent = project.agents.get("researcher")
    assert agent.finish("Nothing.") is None
    with agent.cycle() as cycle:
        cycle.propose(thoughts="try", tool="fetch", arguments={"url": "https://example.org"})
        cycle.result(error="timed out")
    lesson = "Fetches of example.org need a timeout of 20 s, because its proxy is slow."
    run = agent.finish("The page could not be fetched.", task="Fetch the page", lessons=[lesson])
    (event,) = (one for one in project.log.events() if one["kind"] == "run")
    assert event["run_id"] == run and "could not be fetched" in event["outputs"]["summary"]
    (waiting,) = project.memory.candidates()
    assert waiting.memory.statement == lesson and f"run:{run}" in waiting.memory.evidence
    assert [hit for hit in project.recall("fetch the page") if run in (hit.id or "")]
    with agent.cycle() as cycle:
        cycle.propose(tool="fetch")
        cycle.result(output="ok")
    assert agent.finish("Fetched.") not in (run, None)


def test_a_secret_in_an_action_is_not_written_down(project: Project) -> None:
    """A database that a team shares is no place for one's key."""
    key = "ghp_" + "Zk3" * 12
    agent = project.agents.get("researcher", directives=[f"Use {key}"])
    with agent.cycle() as cycle:
        cycle.propose(tool="push", arguments={"token": key})
        cycle.result(output=f"pushed with {key}")
    agent.remember(f"the token is {key}")
    found = project.agents.database.run(
        lambda tx: [tuple(row) for table in database.schema_steps.tables.EVERY for row in tx.all(table.select())]
    )
    assert found and key not in repr(found)


def test_a_process_that_overslept_its_lease_is_refused_though_nobody_works_now(project: Project) -> None:
    """Another process did its next step meanwhile and ended: it would do that step once more."""
    first, second = project.agents.get("mailer"), project.agents.get("mailer")
    with first.cycle() as cycle:
        cycle.propose(tool="send", arguments={"n": 1})
        cycle.result(output="sent", state=1)
    project.agents.database.run(lambda tx: tx.update(agent_cycles.AGENT, held_until=tx.now - 1, holder="elsewhere:1:2"))
    second.resume()
    with second.cycle() as cycle:
        cycle.propose(tool="send", arguments={"n": 2})
        cycle.result(output="sent", state=2)
    second.let_go()
    with pytest.raises(Claimed, match="another process worked"):
        first.cycle().propose(tool="send", arguments={"n": 2})
    assert first.resume().state == 2


def _resume_in_child(url: str, path: str, answers: multiprocessing.SimpleQueue[str]) -> None:
    try:
        Project.open(path, environ={"HOLDFAST_DATABASE_URL": url}).agents.find("mailer").resume()
        answers.put("resumed")
    except Claimed:
        answers.put("refused")


def test_a_forked_child_is_another_process(project: Project, store_url: str) -> None:
    """`multiprocessing` forks; a child with its parent's name would do the parent's open action again."""
    agent = project.agents.get("mailer")
    agent.cycle().propose(tool="send")
    fork = multiprocessing.get_context("fork")
    answers = fork.SimpleQueue()
    child = fork.Process(target=_resume_in_child, args=(store_url, str(project.clone.repo.top), answers))
    child.start()
    child.join(30)
    assert answers.get() == "refused"
    assert agent.cycles()[0].is_open  # the parent's connections still work


@pytest.mark.parametrize(
    "wrong",
    [
        lambda agent: agent.cycle().propose(plan="abc"),
        lambda agent: agent.cycle().propose(arguments=[1]),
        lambda agent: agent.finish("x", lessons="abc"),
        lambda agent: agent.remember(5),
        lambda agent: agent.remember("x", evidence="abc"),
        lambda agent: agent.prune(budget=-1),
        lambda agent: agent.prune(budget={"long-term": 5}),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused_in_a_sentence(project: Project, wrong: Callable[[Agent], object]) -> None:
    """A text in the place of a list is taken letter by letter, and nobody sees it until the review."""
    with pytest.raises(BadInput):
        wrong(project.agents.get("researcher"))


def test_the_record_that_holds_most_words_comes_first(project: Project) -> None:
    """Newer ones that share one word must not hide it."""
    agent = project.agents.get("researcher")
    best = agent.remember("The zebra database lives on port 7411.")
    store, identity = project.agents.database, agent.identity
    rows = [
        {"id": f"{n:04}", "agent_id": identity.id, "kind": "observation", "namespace": "long-term", "created": 1 << 60}
        | {"text": f"The port of service {n} is open.", "pinned": False, "uses": 0}
        for n in range(300)
    ]
    store.run(lambda tx: tx.insert(RECORD, *rows))
    assert agent.recall("where does the zebra database live, on which port")[0].record == replace(best)
