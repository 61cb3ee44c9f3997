"""An erasure reaches every line and every clone: its event travels along, and no copy stays unnoticed."""

from pathlib import Path

import pytest

from holdfast.curation import memory_state
from holdfast.project import Project
from tests.conftest import GitRepo, init

SECRET = "the lighthouse keeper's umbrella is violet"


@pytest.fixture
def project(repo: GitRepo, inside: GitRepo) -> Project:
    init(repo.path, commit=True)
    repo.git("switch", "-q", "-c", "work")
    return Project.open(repo.path)


def test_an_erased_fact_deleted_on_another_line_passes_the_gate(project: Project, repo: GitRepo) -> None:
    """Who erased it on one branch must not be told to bring it back on the next."""
    fact = project.memory.remember(SECRET, evidence=["README"], accept=True)
    project.sync.publish()
    repo.git("branch", "base")
    repo.git("switch", "-q", "-c", "side")
    Project.open(repo.path).sync.erase(fact.id)
    Project.open(repo.path).sync.publish()
    repo.git("switch", "-q", "work")

    done = Project.open(repo.path).sync.publish()

    assert any(path.endswith(f"-{fact.id}.md") for path in done.paths)
    verdict = Project.open(repo.path).health.check(base="base")
    assert (verdict.word, verdict.problems) == ("ok", ())
    told = [event for event in Project.open(repo.path).log.events() if event["kind"] == "erase"]
    assert [event["target"] for event in told] == [fact.id]
    repo.git("merge", "-q", "--no-edit", "side")
    assert Project.open(repo.path).health.doctor().verdict == "ok"
    assert Project.open(repo.path).sync.publish().commit is None, "both lines agree"


def test_what_another_clone_erased_and_this_one_holds_is_named(project: Project, repo: GitRepo, tmp_path: Path) -> None:
    """A copy that is only hidden is still a copy; its owner has to hear of it."""
    run = project.write_log({"task": "T-1", "outputs": {"summary": SECRET}})
    fact = project.memory.remember(SECRET, evidence=["README"], accept=True)
    kept = project.write_log({"task": "T-2", "outputs": {"summary": "harmless"}})
    project.sync.publish()
    repo.git("clone", "-q", "-b", "work", str(repo.path), str(tmp_path / "other"))
    other = Project.open(tmp_path / "other")
    for name in (run, fact.id):
        other.sync.erase(name)
    Project.open(tmp_path / "other").sync.publish(here=True)
    assert memory_state.erased_elsewhere(Project.open(repo.path).clone) == []

    repo.git("pull", "-q", "--ff-only", str(tmp_path / "other"), "work")

    assert memory_state.erased_elsewhere(Project.open(repo.path).clone) == sorted([run, fact.id])
    assert memory_state.erased_elsewhere(Project.open(tmp_path / "other").clone) == [], "it holds neither"
    for name in (run, fact.id):
        Project.open(repo.path).sync.erase(name)
    assert memory_state.erased_elsewhere(Project.open(repo.path).clone) == []
    assert Project.open(repo.path).log.show(kept).id == kept
