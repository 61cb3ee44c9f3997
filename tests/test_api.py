"""The Python API: what a custom agent leans on."""

import gc
import os

import pytest

import holdfast
from holdfast import NeedsEvidence, NeedsReview, NotInitialised, Project, promote_fact, recall, write_log
from tests.conftest import GitRepo, init


@pytest.fixture
def project(repo, inside) -> Project:
    init(repo.path, commit=True)
    return Project.open(repo.path)


def fact(run: str, confidence: float) -> dict[str, object]:
    return {"statement": "The cache is warm after one run", "confidence": confidence, "evidence": [f"run:{run}"]}


def test_the_three_functions_work_in_the_current_folder(project):
    """The shortest way for an agent: three functions, no object."""
    run = write_log({"task": "T-1", "outputs": {"summary": "measured the cache"}})
    done = promote_fact(fact(run, 0.5), reviewer="ann")

    assert done.status == "accepted"
    assert {hit.id for hit in recall("cache")} >= {run, done.id}


def test_without_a_reviewer_the_threshold_decides(project, repo):
    """Nothing becomes trusted that neither a person nor the settings allowed."""
    run = project.write_log({"task": "T-1"})
    with pytest.raises(NeedsReview) as caught:
        project.promote_fact(fact(run, 0.95))
    assert "holdfast review" in caught.value.hint
    (waiting,) = project.memory.candidates()

    allowed = Project.open(repo.path, environ={"HOME": "/nowhere", "HOLDFAST_REVIEW_AUTO_PROMOTE": "0.9"})
    assert allowed.promote_fact(waiting.id).status == "accepted"
    (event,) = [event for event in project.log.events() if event["kind"] == "promote"]
    assert event["target"] == waiting.id
    assert event["derived_facts"] == [waiting.id]


def test_below_the_threshold_a_candidate_is_left(project, repo):
    """The agent is told, and its finding is not lost."""
    run = project.write_log({"task": "T-1"})
    strict = Project.open(repo.path, environ={"HOME": "/nowhere", "HOLDFAST_REVIEW_AUTO_PROMOTE": "0.9"})
    with pytest.raises(NeedsReview):
        strict.promote_fact(fact(run, 0.5))
    assert len(strict.memory.candidates()) == 1
    assert not strict.memory.facts().trusted


def test_remember_obeys_the_threshold_too(project, repo):
    """The setting means the same from every door."""
    open_door = Project.open(repo.path, environ={"HOME": "/nowhere", "HOLDFAST_REVIEW_AUTO_PROMOTE": "0.9"})
    sure = open_door.memory.remember("Lint runs first", confidence=0.95, evidence=["README"])
    unsure = open_door.memory.remember("Lint runs last", confidence=0.2, evidence=["README"])
    assert (sure.status, unsure.status) == ("accepted", "candidate")


def test_a_fact_without_evidence_is_never_promoted(project):
    """A reviewer's word alone is no receipt."""
    with pytest.raises(NeedsEvidence):
        project.promote_fact({"statement": "Trust me", "confidence": 1.0}, reviewer="ann")


def test_a_block_of_code_is_a_run(project):
    """A custom agent records its own work without a command line."""
    with project.log.run(task="T-2", layer="L5", scale=4, prompt="count the boats") as run:
        run.output("count.txt", "twelve boats")
    (event,) = [event for event in project.log.events() if event["run_id"] == run.run_id]
    assert (event["task"], event["layer"], event["systemic_scale"], event["exit_status"]) == ("T-2", "L5", 4, 0)
    assert event["output_sha256"]
    assert project.health.doctor().verdict == "ok"


def test_a_failing_block_is_recorded_and_fails(project):
    """What went wrong is the part of a run most worth keeping."""
    with pytest.raises(ZeroDivisionError), project.log.run(task="T-3"):
        _ = 1 / 0
    assert [event["exit_status"] for event in project.log.events() if event["task"] == "T-3"] == [1]


def test_a_project_without_memory_says_so(repo, inside):
    """The error is one that can be caught, with its next step."""
    with pytest.raises(NotInitialised) as caught:
        write_log({})
    assert "holdfast start" in caught.value.hint
    assert isinstance(caught.value, holdfast.HoldfastError)


def test_status_counts_what_a_new_branch_took_along(project, repo):
    """`publish` would publish it, so `status` must not say that nothing waits."""
    project.write_log({"task": "T-1"})
    repo.git("switch", "-q", "-c", "child")
    child = Project.open(repo.path)

    assert child.health.status().events_waiting == 1
    child.sync.publish()
    assert Project.open(repo.path).health.status().events_waiting == 0


def test_what_was_edited_by_hand_waits_for_review(project, repo):
    """A change nobody approved must not pass unseen."""
    done = project.memory.remember("The port is 5432", evidence=["README"], accept=True)
    project.sync.publish()
    path = repo.path / (done.path or "")
    path.write_text(path.read_text().replace("5432", "5433"))
    again = Project.open(repo.path)

    assert again.health.status().unreviewed == 1
    assert [standing.status for standing in again.memory.candidates()] == ["unreviewed"]


@pytest.mark.parametrize("kind", ["accept", "promote", "erase", "retire", "edit", "nonsense"])
def test_write_log_records_no_decisions(project, kind):
    """A program that could write an approval would not need a reviewer."""
    with pytest.raises(holdfast.BadInput):
        project.write_log({"kind": kind, "target": "FCT-zzzz22"})
    assert project.log.events() == []


def test_a_view_that_cannot_be_written_fails_nothing(project, repo):
    """What was published is published, whatever stands in the way of a rendered file."""
    view = repo.path / ".holdfast/view/state.json"
    view.unlink()
    view.mkdir()
    project.memory.remember("Boats float", evidence="README", accept=True)
    assert project.sync.publish().commit
    assert any("views" in note for note in project.notices)


def test_views_follow_the_clock(project, repo):
    """A tool that reads state.json must not be told an expired fact."""
    import json
    from datetime import UTC, datetime, timedelta

    project.memory.remember("The tide is high", evidence=["README"], expires="1h", accept=True)
    later = Project.open(repo.path, clock=lambda: datetime.now(UTC) + timedelta(hours=2))
    later.health.status()
    state = json.loads((repo.path / ".holdfast/view/state.json").read_text())
    assert (len(state["facts"]), len(state["expired"])) == (0, 1)


def test_what_a_run_records_names_it_as_parent(project, repo):
    """The story of a run includes what its own program recorded."""
    inner = Project.open(repo.path, environ={"HOME": "/nowhere", "HOLDFAST_RUN_ID": "outer-1"})
    run = inner.write_log({"task": "child"})
    (event,) = [event for event in inner.log.events() if event["run_id"] == run]
    assert event["parent_run_id"] == "outer-1"


def test_a_secret_in_a_name_never_reaches_the_disk(repo: GitRepo) -> None:
    """The name of who works is published with the task."""
    key = "ghp_" + "h0ldfastExampleTokenNotReal123456789"[:36]
    Project.init(repo.path, commit=True)
    project = Project.open(repo.path)
    project.tasks.add("one", id="T-1")
    project.tasks.start("T-1", owner=f"me {key}")
    project.tasks.add("two", id="T-2")
    project.tasks.next(claim=True, owner=f"me {key}")
    project.sync.publish(here=True)

    held = [path for path in repo.path.rglob("*") if path.is_file() and key.encode() in path.read_bytes()]
    assert held == []


def test_a_project_that_nobody_holds_keeps_no_file_open(project: Project) -> None:
    """A program that opens its project for every request must not run out of files."""
    folder = project.clone.repo.top
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        Project.open(folder).write_log({"task": "login"})
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) <= before + 1
