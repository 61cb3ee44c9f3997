"""Tasks, links and sessions are found by their ids wherever they are, and shown with their history."""

from pathlib import Path

import pytest

from holdfast.capture import session_work as capture
from holdfast.errors import Ambiguous, NotFound
from holdfast.project import Project
from tests.conftest import init


@pytest.fixture
def project(repo, inside) -> Project:
    init(repo.path, commit=True)
    repo.git("switch", "-qc", "work")
    return Project.open(repo.path)


def test_a_task_is_shown_with_its_text_and_history(project):
    """Who looks a task up wants to know what it says and who did what to it."""
    task = project.tasks.add("Mend the harbour wall")
    project.tasks.block(task.id, reason="no stones")

    shown = project.log.show(task.id[:8])

    assert (shown.id, shown.kind) == (task.id, "task")
    assert "Mend the harbour wall" in (shown.text or "")
    assert [line.split(" ", 1)[1] for line in shown.fields["history"]] == ["task add", "task block"]
    assert shown.fields["origin"] == "pending" and shown.elsewhere is None


def test_a_link_and_a_session_are_shown(project):
    """Everything that has an id answers to it."""
    link = project.tasks.add_link("README", title="Start here")
    session = capture.start(project.clone, objective="Mend it")

    assert (project.log.show(link.id).kind, project.log.show(session.id).kind) == ("link", "session")
    assert "Start here" in (project.log.show(link.id).text or "")
    assert project.log.show(session.id).fields["objective"] == "Mend it"
    assert project.log.show(session.id).fields["history"][0].endswith("session start")


def test_a_task_that_waits_on_another_branch_is_shown_and_labelled(project, repo):
    """A link may name a node of another branch; it must be possible to read it."""
    task = project.tasks.add("Mend the harbour wall")
    repo.git("switch", "-qc", "side", "main")

    shown = Project.open(repo.path).log.show(task.id)

    assert shown.kind == "task" and "Mend the harbour wall" in (shown.text or "")
    assert "waits to be published on work" in (shown.elsewhere or "")


def test_a_task_published_on_another_branch_is_shown_in_a_fresh_clone(project, repo, tmp_path):
    """A colleague has the branch, not our log."""
    task = project.tasks.add("Mend the harbour wall")
    link = project.tasks.add_link("README", title="Start here")
    project.sync.publish()
    repo.git("clone", "-q", "-b", "main", str(repo.path), str(tmp_path / "second"))

    second = Project.open(tmp_path / "second")

    for name, kind in ((task.id, "task"), (link.id, "link")):
        shown = second.log.show(name)
        assert (shown.kind, shown.path) == (kind, None)
        assert "origin/work" in (shown.elsewhere or "")


def test_a_damaged_session_is_shown_as_it_lies_there(project):
    """Who must mend it must see it."""
    session = capture.start(project.clone, objective="Mend it")
    path = Path(project.log.show(session.id).path or "")
    path.write_text("{ broken")

    shown = project.log.show(session.id)

    assert shown.text == "{ broken" and "not a session" in shown.fields["broken"]


def test_an_id_that_fits_several_things_is_refused(project):
    """A guess would show the wrong one."""
    project.tasks.add("one", id="TSK-abc1")
    project.tasks.add("two", id="TSK-abc2")
    with pytest.raises(Ambiguous):
        project.log.show("abc")
    with pytest.raises(NotFound):
        project.log.show("TSK-nothing")


def test_a_dropped_link_says_where_it_was(project):
    """Taken away is not forgotten."""
    link = project.tasks.add_link("README", title="Start here")
    project.sync.publish()
    project.tasks.remove_link(link.id)
    project.sync.publish()

    shown = project.log.show(link.id)

    assert "Start here" in (shown.text or "") and "No longer of this branch" in (shown.elsewhere or "")
