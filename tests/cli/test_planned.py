"""Plans of agents reach the work graph as proposals, which a person takes up with one command."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.capture.rollouts import rollout
from tests.conftest import Cli, GitRepo, init


@pytest.fixture
def planned(cli: Cli, repo: GitRepo, tmp_path: Path) -> Cli:
    """A project in which Codex planned three steps and did one."""
    init(cli.cwd, commit=True)
    cli("next"), cli("next")  # its answer is kept
    file = rollout(tmp_path / "codex", repo.path, at=datetime(2026, 11, 10, 9, tzinfo=UTC))
    file.asks("Mend the queue.").plans(mend_it="completed", write_docs="pending", measure="in_progress")
    file.done("The queue is mended.")
    cli("import", "codex", CODEX_HOME=str(tmp_path / "codex"))
    return cli


def answer(cli: Cli, *words: str) -> Any:
    return json.loads(cli(*words, "--json").out)


def test_what_an_agent_planned_is_proposed_where_tasks_are_seen(planned: Cli) -> None:
    """A plan that nobody is shown is a plan that nobody goes on with."""
    items = answer(planned, "task", "proposed")["items"]
    assert [one["text"] for one in items] == ["write docs", "measure"]
    said = planned("task", "proposed").out
    assert "by codex: Mend the queue." in said and items[0]["id"] in said
    for told in (planned("tasks").out, planned("next").out, planned("next").out):
        assert "2 steps that agents planned are not tasks yet: holdfast task proposed" in told
    assert answer(planned, "tasks")["items"] == [], "nothing became a task by itself"


def test_one_command_makes_tasks_of_all(planned: Cli) -> None:
    """Who agrees with a plan should not have to type it again."""
    session = answer(planned, "task", "proposed")["items"][0]["id"].partition(":")[0]
    made = answer(planned, "task", "add", "--from", session)["items"]
    assert [one["title"] for one in made] == ["write docs", "measure"]
    assert all(one["evidence"][0].startswith("run:") for one in made)
    assert [one["needs"] for one in made] == [[], [made[0]["id"]]], "a plan has an order"
    assert planned("task", "proposed").out == "Agents left no open items on this branch that are not tasks.\n"
    assert "agents planned" not in planned("tasks").out
    assert "left nothing open" in planned("task", "add", "--from", session, ok=False).err


def test_one_step_can_be_chosen_and_a_title_is_for_one(planned: Cli) -> None:
    """A person may want half of a plan, in other words."""
    first, second = (one["id"] for one in answer(planned, "task", "proposed")["items"])
    session = first.partition(":")[0]
    assert "needs one open item" in planned("task", "add", "Docs", "--from", session, ok=False).err
    assert answer(planned, "task", "add", "Docs", "--from", first)["title"] == "Docs"
    assert [one["id"] for one in answer(planned, "task", "proposed")["items"]] == [second]


def test_steps_become_part_of_what_the_session_was_about(cli: Cli, repo: GitRepo) -> None:
    """Steps of a task that stand beside it look like other work."""
    init(cli.cwd, commit=True)
    task = answer(cli, "task", "add", "Mend the queue")["id"]
    session = answer(cli, "session", "start", "Mend the queue", "--task", task)["id"]
    cli("session", "note", "Looked at it.", "--open", "write docs")
    (made,) = answer(cli, "task", "add", "--from", session)["items"]
    assert made["parent"] == task


def test_a_task_that_a_plan_calls_done_is_named_and_left_alone(planned: Cli) -> None:
    """Only a person says that something is done; but somebody has to ask."""
    task = answer(planned, "task", "add", "Mend it.")["id"]
    (done,) = answer(planned, "task", "proposed")["may_be_done"]
    assert done["id"] == task and f"{task} may be done" in planned("task", "proposed").out
    assert answer(planned, "task", "show", task)["status"] == "open"
    planned("task", "done", task, "--evidence", f"run:{done['run']}")
    assert answer(planned, "task", "proposed")["may_be_done"] == []


def test_a_step_that_is_a_task_already_is_not_proposed(planned: Cli) -> None:
    """Two tasks for one matter are done twice."""
    planned("task", "add", "Write docs")
    assert [one["text"] for one in answer(planned, "task", "proposed")["items"]] == ["measure"]
