"""LangGraph: its owners' conformance suite, and our saver and store beside theirs in memory."""

from __future__ import annotations

import asyncio
import operator
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Annotated, Any

import pytest

pytest.importorskip("langgraph.checkpoint.conformance")
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import ALL_CAPABILITIES
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from holdfast.agent_store.tables import CHANNEL, CHECKPOINT, WRITE
from holdfast.errors import BadInput
from holdfast.interfaces.adapters import HoldfastSaver, HoldfastStore
from holdfast.project import Project

pytestmark = pytest.mark.adapters


def test_the_owners_suite_passes_with_base_and_extended_capabilities(
    project: Project, record_property: Callable[[str, object], None]
) -> None:
    """Whoever changes the checkpointer of a graph that works must not notice."""

    @checkpointer_test(name="HoldfastSaver")
    async def saver() -> AsyncIterator[HoldfastSaver]:
        yield HoldfastSaver(project)

    report = asyncio.run(validate(saver))
    told = {name: (one.passed, one.tests_passed, one.failures) for name, one in report.results.items()}
    print(told)
    record_property("tests", sum(one.tests_passed for one in report.results.values()))
    assert {name for name, (passed, _, _) in told.items() if passed} == {one.value for one in ALL_CAPABILITIES}, told


def joined(have: list[str], new: Sequence[list[str]]) -> list[str]:
    return [*have, *(one for part in new for one in part)]


class Counted(TypedDict):
    total: Annotated[int, operator.add]
    names: Annotated[list[str], DeltaChannel(joined)]


def counting(saver: Any, *, snapshots: int = 100) -> Any:
    names = Annotated[list[str], DeltaChannel(joined, snapshot_frequency=snapshots)]
    State = TypedDict("State", {"total": Annotated[int, operator.add], "names": names})  # noqa: UP013
    builder = StateGraph(State)
    builder.add_node("left", lambda state: {"total": 1, "names": [f"left{state['total']}"]})
    builder.add_node("right", lambda state: {"total": 1, "names": [f"right{state['total']}"]})
    builder.add_node("join", lambda _: {"total": 10, "names": ["join"]})
    for name in ("left", "right"):
        builder.add_edge(START, name)
        builder.add_edge(name, "join")
    builder.add_edge("join", END)
    return builder.compile(checkpointer=saver)


@pytest.mark.parametrize("snapshots", [1, 3, 100])
def test_a_channel_of_changes_is_rebuilt_as_in_memory_after_forks_copies_and_pruning(
    project: Project, snapshots: int
) -> None:
    """A pruned thread whose state comes back empty has silently forgotten everything."""
    ours, theirs = HoldfastSaver(project), InMemorySaver()
    states = []
    for saver in (ours, theirs):
        graph, config = counting(saver, snapshots=snapshots), {"configurable": {"thread_id": "t"}}
        for turn in range(3):
            graph.invoke({"total": turn, "names": [f"in{turn}"]}, config)
        fork = list(graph.get_state_history(config))[5].config
        graph.invoke({"total": 100, "names": ["fork"]}, fork)
        seen = [(one.values, one.next, one.metadata["step"]) for one in graph.get_state_history(config)]
        states.append((graph.get_state(config).values, seen))
    assert states[0] == states[1]
    graph, config = counting(ours, snapshots=snapshots), {"configurable": {"thread_id": "t"}}
    ours.copy_thread("t", "copy")
    before = graph.get_state(config).values
    ours.prune(["t"])
    assert graph.get_state(config).values == before == graph.get_state({"configurable": {"thread_id": "copy"}}).values
    after = graph.invoke({"total": 0, "names": ["more"]}, config)
    assert after["names"][: len(before["names"])] == before["names"] and after["names"][-1] == "join"
    assert len(list(ours.list({"configurable": {"thread_id": "t"}}))) < len(
        list(ours.list({"configurable": {"thread_id": "copy"}}))
    )


def test_what_is_deleted_leaves_no_rows_behind(project: Project) -> None:
    """A thread that a customer wants gone must be gone, blobs and all."""
    saver = HoldfastSaver(project)
    graph = counting(saver)
    for thread in ("a", "b"):
        graph.invoke({"total": 0, "names": ["x"]}, {"configurable": {"thread_id": thread}, "run_id": None})
    saver.delete_thread("a")
    runs = {one.metadata.get("run_id") for one in saver.list(None)}
    saver.delete_for_runs([str(one) for one in runs if one])
    saver.prune(["b"], strategy="delete")
    with pytest.raises(BadInput, match="way to prune"):
        saver.prune(["b"], strategy="some")
    left = project.agents.database.run(lambda tx: [tx.all(table.select()) for table in (CHECKPOINT, CHANNEL, WRITE)])
    assert left == [[], [], []]


def test_an_interrupted_graph_goes_on_in_another_saver(project: Project) -> None:
    """The process that was asked is seldom the one that gets the answer."""

    def build() -> Any:
        builder = StateGraph(Counted)
        builder.add_node("ask", lambda _: {"total": interrupt("how many?"), "names": ["asked"]})
        builder.add_edge(START, "ask")
        return builder.compile(checkpointer=HoldfastSaver(project))

    config = {"configurable": {"thread_id": "t"}}
    assert build().invoke({"total": 1, "names": []}, config)["__interrupt__"][0].value == "how many?"
    assert asyncio.run(build().ainvoke(Command(resume=41), config)) == {"total": 42, "names": ["asked"]}


KILLED = """
import operator, sys
from typing import Annotated, TypedDict
from langgraph.graph import START, StateGraph
from holdfast.interfaces.adapters import HoldfastSaver
from holdfast.project import Project
project = Project.open(sys.argv[1], environ={"HOLDFAST_DATABASE_URL": sys.argv[2]}, person=True)
class State(TypedDict):
    total: Annotated[int, operator.add]
    steps: Annotated[list, operator.add]
builder = StateGraph(State)
builder.add_node("one", lambda state: {"total": 1, "steps": [state["total"]]})
builder.add_edge(START, "one")
graph = builder.compile(checkpointer=HoldfastSaver(project))
while True:
    print(graph.invoke({"total": 0}, {"configurable": {"thread_id": "t"}}, durability="sync")["total"], flush=True)
"""


def test_kill_9_loses_no_turn_that_was_acknowledged(project: Project, store_url: str) -> None:
    """A graph is killed between two checkpoints, and the next process goes on with the same state."""
    saver = HoldfastSaver(project)
    for lines in (1, 5, 2):
        command = [sys.executable, "-W", "ignore", "-c", KILLED, str(project.clone.repo.top), store_url]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as worker:
            assert worker.stdout is not None
            told = [int(worker.stdout.readline()) for _ in range(lines)][-1]
            worker.kill()
            told = max([told, *(int(line) for line in worker.stdout.read().split("\n")[:-1])])
        state = saver.get_tuple({"configurable": {"thread_id": "t"}}).checkpoint["channel_values"]
        assert told <= state["total"] <= told + 1 and state["steps"] == list(range(state["total"]))


class Chat(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]


def chatting(saver: Any) -> Any:
    def model(state: Chat) -> dict[str, Any]:
        if isinstance(state["messages"][-1], HumanMessage):
            return {"messages": [AIMessage("", tool_calls=[{"id": "c1", "name": "search", "args": {"q": "ports"}}])]}
        return {"messages": [AIMessage("The service listens on port 7411.")]}

    builder = StateGraph(Chat)
    builder.add_node("model", model)
    builder.add_node("tool", lambda _: {"messages": [ToolMessage("port 7411", tool_call_id="c1")]})
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", lambda state: "tool" if state["messages"][-1].tool_calls else END)
    builder.add_edge("tool", "model")
    return builder.compile(checkpointer=saver)


def test_a_thread_is_in_the_log_when_it_was_recorded(project: Project) -> None:
    """What a graph did is found like any other agent's work, once."""
    saver = HoldfastSaver(project, agent="port-finder")
    config = {"configurable": {"thread_id": "t-1"}}
    with saver.recording("t-1") as recording:
        chatting(saver).invoke({"messages": [HumanMessage("Which port does the service use?")]}, config)
    (event,) = (one for one in project.log.events() if one["kind"] == "run")
    assert event["run_id"] == recording.run and "7411" in event["outputs"]["summary"]
    assert [hit for hit in project.recall("which port does the service use") if recording.run in (hit.id or "")]
    assert saver.record("t-1") == recording.run
    assert len([one for one in project.log.events() if one["kind"] == "run"]) == 1
    chatting(saver).invoke({"messages": [HumanMessage("And which protocol?")]}, config)
    assert saver.record("t-1") != recording.run
    assert HoldfastSaver(project).record("nobody") is None


def test_a_graph_without_messages_is_recorded_as_what_it_changed(project: Project) -> None:
    """Not every graph is a chat."""
    saver = HoldfastSaver(project)
    counting(saver).invoke({"total": 5, "names": ["begin"]}, {"configurable": {"thread_id": "n"}})
    run = saver.record("n")
    (event,) = (one for one in project.log.events() if one["kind"] == "run")
    assert event["run_id"] == run and "total: 17" in event["outputs"]["summary"]


def embed(texts: Sequence[str]) -> list[list[float]]:
    return [[float(text.lower().count(letter)) for letter in "abcdefghij"] for text in texts]


INDEX = {"dims": 10, "embed": embed, "fields": ["text", "tags[*]"]}


def both(project: Project, index: Any = None) -> list[Any]:
    return [HoldfastStore(project, index=index), InMemoryStore(index=index)]


def test_a_store_answers_as_the_one_in_memory(project: Project) -> None:
    """Same code, same answers, on either store."""
    answers = []
    for store in both(project):
        for at in range(12):
            store.put(
                ("users", f"u{at % 3}", "notes"), f"k{at}", {"n": at, "even": at % 2 == 0, "deep": {"a": [at, 1]}}
            )
        store.put(("users2",), "x", {"n": 1})
        store.put(("users", "u1", "notes"), "k1", {"n": 100, "odd \0 \ud800": None})
        store.delete(("users", "u2", "notes"), "k2")
        searched = [
            store.search(("users",), filter=chosen, limit=50)
            for chosen in (
                None,
                {"n": 5},
                {"n": {"$gte": 7}, "even": True},
                {"n": {"$ne": 3, "$lt": 6}},
                {"deep": {"a": [4, 1]}},
                {"deep": {"a": {"$eq": [3, 1]}}},
                {"missing": None},
            )
        ]
        many = [len(store.search((), limit=limit, offset=at)) for limit, at in ((4, 0), (50, 0), (50, 9))]
        one, none = store.get(("users", "u1", "notes"), "k1").value, store.get(("users", "u2", "notes"), "k2")
        listed = [
            store.list_namespaces(),
            store.list_namespaces(max_depth=1),
            store.list_namespaces(prefix=("users", "*")),
            store.list_namespaces(suffix=("notes",), limit=2, offset=1),
        ]
        near = [store.search(("user",)), store.search(("USERS",))]
        found = [sorted((hit.namespace, hit.key, repr(hit.value)) for hit in hits) for hits in searched]
        answers.append((found, many, one, none, listed, near))
    assert answers[0] == answers[1]


def test_vectors_are_the_users_and_scores_are_those_of_the_store_in_memory(project: Project) -> None:
    """A search that finds other things than in the prototype breaks what was tuned there."""
    found = []
    for store in both(project, INDEX):
        store.put(("d",), "1", {"text": "abba", "tags": ["cc", "dd"]})
        store.put(("d",), "2", {"text": "bcd", "kind": "x"})
        store.put(("d", "e"), "3", {"text": "jjj"})
        store.put(("d",), "4", {"text": "aaa"}, index=False)
        store.put(("d",), "5", {"other": "bad", "text": "zzz"}, index=["other"])
        hits = [
            store.search(("d",), query="a bad cab", limit=many, filter=wanted)
            for many, wanted in ((9, None), (2, None), (9, {"kind": "x"}))
        ]
        hits.append(asyncio.run(store.asearch(("d",), query="dd", limit=1)))
        found.append(
            [
                [(one.key, None if one.score is None else pytest.approx(one.score, abs=1e-5)) for one in part]
                for part in hits
            ]
        )
    assert found[0] == found[1]
    with pytest.raises(BadInput, match="dims"):
        HoldfastStore(project, index={**INDEX, "dims": 3}).put(("d",), "6", {"text": "a"})


def test_items_live_as_long_as_they_are_used(project: Project) -> None:
    """A session cache that never ends fills the disk; one that ends while in use loses work."""
    store = HoldfastStore(project, ttl={"default_ttl": None})
    store.put(("c",), "short", {"v": 1}, ttl=0.6 / 60)
    store.put(("c",), "used", {"v": 1}, ttl=0.6 / 60)
    store.put(("c",), "long", {"v": 1})
    for _ in range(4):
        time.sleep(0.2)
        assert store.get(("c",), "used") is not None
    assert store.get(("c",), "short") is None and {one.key for one in store.search(("c",), refresh_ttl=False)} == {
        "used",
        "long",
    }
    time.sleep(0.7)
    assert store.sweep_ttl() == 2 and [one.key for one in store.search(("c",))] == ["long"]


def test_many_writers_lose_nothing(project: Project) -> None:
    """Parallel branches of many graphs write at the same time."""

    async def all_at_once() -> None:
        saver, store = HoldfastSaver(project), HoldfastStore(project)
        graph = counting(saver)
        await asyncio.gather(
            *(graph.ainvoke({"total": at, "names": []}, {"configurable": {"thread_id": f"t{at}"}}) for at in range(12)),
            *(store.aput(("same",), f"k{at % 4}", {"n": at}) for at in range(40)),
        )
        for at in range(12):
            state = await graph.aget_state({"configurable": {"thread_id": f"t{at}"}})
            assert state.values["total"] == at + 12 and len(state.values["names"]) == 3
        assert len(await store.asearch(("same",))) == 4

    asyncio.run(all_at_once())
