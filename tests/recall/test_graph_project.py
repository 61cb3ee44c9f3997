"""The walk in a real project: real commits, entries and tasks, tied as people and tools tie them."""

import pytest

from holdfast.project import Project
from tests.conftest import init


@pytest.fixture
def project(repo, inside) -> Project:
    init(repo.path, commit=True)
    return Project.open(repo.path)


def decide(project: Project, statement: str, commit: str) -> str:
    evidence = [f"commit:{commit}"]
    return project.memory.remember(statement, kind="decision", why="so", evidence=evidence, accept=True).memory.id


def tell(project: Project, repo) -> str:
    """A decision, its task, its commit and what broke by that: each names the one before by its id alone."""
    before = repo.commit("README", "sockets\n", "Wrote down how it is")
    decided = decide(project, "We open one socket a caller", before)
    for thing in ("Lamps", "Ropes", "Sails", "Oars", "Nets", "Bells", "Maps", "Flags"):
        decide(project, f"{thing} are broken in on land, a change of habit", before)
    task = project.tasks.add("Rework the pool", notes=f"As {decided} has it.").id
    commit = repo.commit("src/pool.py", "x = 1\n", f"Gave out handles\n\nTask: {task}")
    broke = f"test_checkout_hangs fails since {commit[:9]}"
    project.memory.remember(broke, evidence=[f"commit:{commit}"], accept=True)
    return decided


def test_a_question_of_several_steps_is_answered_unless_that_is_switched_off(project, repo):
    """Who asks what led to a breakage wants the decision; it shares no word with the question."""
    decided = tell(project, repo)
    question = "Which decision led to the change that broke test_checkout_hangs?"
    plain = Project.open(repo.path, environ={"HOLDFAST_RETRIEVAL_GRAPH": "off"})

    assert decided in [hit.id for hit in project.recall(question)]
    assert decided not in [hit.id for hit in plain.recall(question)]
    assert project.recall("one socket a caller") == plain.recall("one socket a caller")
