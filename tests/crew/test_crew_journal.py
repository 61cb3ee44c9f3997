"""The journal of a crew: what its rows come to, whoever wrote them and however often."""

import random
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from holdfast import Project
from holdfast.crew import crew_journal
from holdfast.crew.crew_journal import CrewBoard, CrewJournal, CrewState, CrewStep
from holdfast.model.task import Task
from tests.conftest import GitRepo, init_store


def steps(*rows: Mapping[str, Any]) -> list[CrewStep]:
    return [CrewStep(position=n, at=n * 1000, kind=row["step"], body=row) for n, row in enumerate(rows, 1)]


PLACE = {"branch": "crew/r/a.1", "path": "/t/a.1", "base": "b0", "worker": "7"}
HELD = {"commit": "c1", "tree": "t1", "files": ["x.py"], "receipts": [{"check": "test", "exit_status": 0}]}


def of(task: str, step: str, attempt: int = 1, **more: Any) -> dict[str, Any]:
    facts = {"queue": {"item": f"{task}/{attempt}"}, "start": PLACE, "finish": PLACE | HELD}
    facts |= {"checked": {"commit": "c2", "tree": "t2"}, "merge": {"commit": "c2"}}
    return {"step": step, "task": task, "attempt": attempt, **facts.get(step, {}), **more}


PLAN = {"step": "plan", "tasks": ["a", "b"]}
GOOD = [PLAN, *(of("a", step) for step in ("queue", "start", "usage", "finish", "checked", "merge"))]


def as_values(state: CrewState) -> object:
    """Everything but when it was."""
    tasks = {name: {k: getattr(one, k) for k in one.__slots__ if k != "since"} for name, one in state.tasks.items()}
    return tasks, state.used(), state.decisions, state.merged, state.notes, len(state.failures), state.has_left()


def test_a_task_goes_from_waiting_to_done() -> None:
    """Whoever looks at a crew sees where each task stands."""
    seen = []
    for end in range(1, len(GOOD) + 1):
        seen.append(CrewState().fold(steps(*GOOD[:end])).tasks["a"].state)
    assert seen == ["waiting", "queued", "working", "working", "finished", "finished", "done"]
    assert CrewState().fold(steps(*GOOD)).has_left(), "b was not touched"


def test_a_failure_comes_back_to_waiting_with_its_reason() -> None:
    """The next worker is told how it failed."""
    state = CrewState().fold(steps(*GOOD[:3], of("a", "fail", kind="check", why="test ended with 1", files=["x.py"])))
    assert (state.tasks["a"].state, state.tasks["a"].failures) == ("waiting", 1)
    assert [step.body["why"] for step in state.failures_of("b", ["x.py"])] == ["test ended with 1"]
    assert not state.failures_of("b", ["y.py"])


def test_an_interruption_is_nobodys_failure() -> None:
    """A crew that is stopped three times must not give up its tasks."""
    state = CrewState().fold(steps(*GOOD[:3], of("a", "fail", kind="interrupted", why="the crew was stopped")))
    assert state.tasks["a"].failures == 0 and not state.agent_failures


def test_who_resumes_a_crew_gives_its_agent_another_chance() -> None:
    """An agent that failed until the crew stopped is mended, and the crew must go on."""
    state = CrewState().fold(steps(*GOOD[:3], of("a", "fail", kind="agent", why="the agent ended with 1: no key")))
    assert len(state.agent_failures) == 1
    later = steps({"step": "stop", "seconds": 1.0, "why": "the agent failed"}, {"step": "resume"})
    assert not state.fold(later).agent_failures and state.tasks["a"].failures == 1


def test_why_a_task_waits_is_known() -> None:
    """A task that stands still without a word looks like a fault of the crew."""
    tasks = [Task(id=name, title=name) for name in "abf"]
    tasks.append(Task(id="c", title="c", needs=("a", "b")))
    tasks += [Task(id="d", title="d", parent="c"), Task(id="e", title="e", needs=("c",))]
    state = CrewState().fold(steps({"step": "plan", "tasks": [*"abcdef"]}, of("a", "hold", why="claimed by crew x")))
    assert not state.tasks["a"].has_failed
    reasons = CrewBoard(tasks, state).reasons()
    assert [reasons[name] for name in "ab"] == ["claimed by crew x", "waits for a worker"]
    assert [reasons[name] for name in "cdef"] == ["needs a, b", "needs a, b", "needs c", "waits for a worker"]
    state.fold(steps(*(of(name, "close") for name in "ab")))
    assert CrewBoard(tasks, state).reasons()["c"] == "0 of 1 parts are done"


def test_rows_of_a_later_version_change_nothing() -> None:
    """Two machines are rarely updated on the same day."""
    later = [
        {"step": "dreamt", "task": "a", "attempt": 9, "of": ["sheep"]},
        {"step": "fold", "task": "a"},  # as one of our own methods is called
        {"step": "hint", "task": "nobody planned this"},
        {"step": "weather"},
        {"step": None, "task": "a"},
    ]
    assert as_values(CrewState().fold(steps(*GOOD[:4], *later, *GOOD[4:]))) == as_values(CrewState().fold(steps(*GOOD)))
    added = [dict(row, later={"more": 1}) for row in GOOD]
    assert CrewState().fold(steps(*added)).tasks["a"].state == "done"


def test_repeated_rows_count_once() -> None:
    """A worker that was killed between its row and the queue may be followed by one that writes the same."""
    fail = of("a", "fail", kind="agent", why="no network", files=[])
    rows = [PLAN, of("a", "queue"), of("a", "start"), of("a", "usage", tokens_in=5, tokens_out=1, calls=2), fail]
    rows += [of("a", "queue", 2), of("a", "start", 2), of("a", "usage", 2, tokens_in=3), of("a", "finish", 2)]
    once = CrewState().fold(steps(*rows))
    twice = CrewState().fold(steps(*(row for row in rows for _ in range(2))))
    assert as_values(twice) == as_values(once) and once.tasks["a"].failures == 1 and once.used()["tokens"] == 9


def test_what_a_killed_worker_used_stays_used() -> None:
    """A crew that is stopped and goes on again and again must not spend its whole budget each time."""
    rows = [PLAN, of("a", "queue"), of("a", "start"), of("a", "usage", tokens_in=5), of("a", "usage", tokens_in=7)]
    rows += [of("a", "start"), of("a", "usage", claim=2, tokens_in=3)]
    state = CrewState().fold(steps(*rows))
    assert state.used()["tokens"] == 10 and state.usage_of(state.tasks["a"])["tokens_in"] == 3


def test_what_was_broken_down_is_no_failure_any_more() -> None:
    """Its last failure would have it broken down again at every look, and each time a model is paid for it."""
    rows = [PLAN, of("a", "queue"), of("a", "fail", kind="check", why="no")]
    state = CrewState().fold(steps(*rows, {"step": "conflict", "task": "a", "why": "it was broken down"}))
    assert (state.tasks["a"].state, state.tasks["a"].kind) == ("waiting", "conflict")


def test_a_late_word_of_an_older_attempt_changes_nothing() -> None:
    """A worker whose lease ran out may wake up after another one took the task, or even merged it."""
    rows = [PLAN, of("a", "queue"), of("a", "start"), of("a", "fail", kind="agent", why="lost"), of("a", "queue", 2)]
    rows += [of("a", "start", 2), of("a", "finish", 2, commit="new")]
    for late in ("start", "finish", "fail"):
        state = CrewState().fold(steps(*rows, of("a", late, 1, why="late", kind="agent", commit="old")))
        assert (state.tasks["a"].state, state.tasks["a"].commit, state.tasks["a"].failures) == ("finished", "new", 1)
    for late in ("start", "finish", "fail"):
        done = CrewState().fold(steps(*rows, of("a", "merge", 2), of("a", late, 2, why="late", kind="agent")))
        assert done.tasks["a"].state == "done", late


def test_whoever_goes_on_has_decided() -> None:
    """Finished work that waited for a yes is merged and not done again; what was never started is started."""
    rows = [*GOOD[:5], of("a", "decide", why="it waits for your yes"), of("b", "decide", why="it names no check")]
    asked = CrewState().fold(steps(*rows))
    assert set(asked.decisions) == {"a", "b"}
    gone_on = CrewState().fold(steps(*rows, of("a", "reopen"), of("b", "reopen")))
    assert (gone_on.tasks["a"].state, gone_on.tasks["b"].state) == ("finished", "waiting") and not gone_on.decisions


@given(cuts=st.lists(st.integers(0, 12), max_size=6))
def test_it_may_be_read_in_any_pieces(cuts: list[int]) -> None:
    """A supervisor that reads on after a crash must see what one sees that was never killed."""
    rows = steps(*GOOD, of("b", "queue"), of("b", "park", why="failed 3 times"), {"step": "note", "said": "x"})
    state, places = CrewState(), [0, *sorted(cuts), len(rows)]
    for begin, end in pairwise(places):
        state.fold(rows[begin:end])
    assert as_values(state) == as_values(CrewState().fold(rows))


def test_no_order_of_known_rows_breaks_it(seed: int) -> None:
    """Rows of two writers may come in an order that nobody thought of; the supervisor must not die of it."""
    chance = random.Random(seed)
    kinds = crew_journal.OF_TASKS
    for _ in range(300):
        rows = [of(chance.choice("ab"), chance.choice(kinds), chance.randint(1, 3), kind="agent") for _ in range(12)]
        state = CrewState().fold(steps(PLAN, *rows))
        assert set(state.tasks) == {"a", "b"}


def test_it_is_kept_in_the_agents_store(repo: GitRepo) -> None:
    """Everything goes on after a reboot from the store alone."""
    init_store(repo.path)
    journal = CrewJournal(Project.open(repo.path).agents.database, "r1")
    journal.begin({"base": "main", "started": "2026-01-01"})
    journal.add(("plan", {"tasks": ["a"]}), ("queue", {"task": "a", "attempt": 1, "item": "a/1"}))
    journal.add(("note", {"said": "hello"}), ended=True)
    again = CrewJournal(Project.open(repo.path).agents.database, "r1")
    assert [step.kind for step in again.steps()] == ["plan", "queue", "note"]
    assert [step.kind for step in again.steps(2)] == ["note"]
    assert again.head().items() >= {"base": "main", "started": "2026-01-01", "run": "r1", "ended": True}.items()
    assert CrewState().fold(again.steps()).tasks["a"].state == "queued"


def test_the_time_of_earlier_supervisors_counts() -> None:
    """A limit that begins again with each resume is none."""
    rows = [("stop", {"seconds": 40.0, "why": "it was stopped"}), ("resume", {}), ("stop", {"seconds": 2.5})]
    steps = [CrewStep(position=at, at=at, kind=kind, body=body) for at, (kind, body) in enumerate(rows, 1)]
    assert CrewState().fold(steps).seconds == 42.5


def test_the_time_of_a_killed_supervisor_counts() -> None:
    """It could not say how long it worked; a crew that is killed every hour must still end at its limit."""
    rows = [(1, "supervise", {}), (31, "note", {}), (99, "stop", {}), (500, "supervise", {}), (510, "note", {})]
    rows += [(520, "stop", {"seconds": 20.0}), (900, "resume", {}), (900, "supervise", {}), (905, "note", {})]
    steps = [CrewStep(position=n, at=at * 10**6, kind=kind, body=body) for n, (at, kind, body) in enumerate(rows, 1)]
    state = CrewState().fold(steps)
    assert state.seconds == 50.0, "30 before the kill, 20 after it; the third is at work"
