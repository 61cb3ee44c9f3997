"""Law 14 for project state: an erased task, link or session is gone from everywhere, and stays gone."""

import os
from pathlib import Path

import pytest

from holdfast.capture import session_work as capture
from holdfast.errors import NotFound
from holdfast.project import Project
from holdfast.work import cleanup
from tests.conftest import init

SECRET = "the lighthouse keeper's umbrella is violet"


@pytest.fixture
def project(repo, inside) -> Project:
    init(repo.path, commit=True)
    repo.git("switch", "-qc", "work")
    return Project.open(repo.path)


def everything_on_disk(*tops: Path) -> bytes:
    """All names and bytes below some folders, git's own left out: what was committed is history."""
    found = []
    for top in tops:
        for folder, folders, files in os.walk(top):
            if os.path.basename(folder) == ".git":
                folders[:], files = ["holdfast"], []
            found += [os.fsencode(name) for name in (*folders, *files)]
            found += [Path(folder, name).read_bytes() for name in files]
    return b"\0".join(found)


def assert_gone(*tops: Path) -> None:
    for word in (b"lighthouse", b"umbrella", b"violet"):
        assert word not in everything_on_disk(*tops), f"{word!r} is left"


def a_task(project: Project) -> str:
    """A task that says the words in every place a task can."""
    task = project.tasks.add(SECRET, impact=SECRET, acceptance=[SECRET], notes=SECRET)
    project.tasks.block(task.id, reason=SECRET)
    return task.id


def a_session(project: Project) -> str:
    made = capture.start(project.clone, objective=SECRET)
    capture.note(project.clone, SECRET, open=[SECRET], decisions=[SECRET])
    return made.id


def everywhere_once(project: Project) -> None:
    """Let the words spread: views, a kept text, the index."""
    project.views.render()
    project.views.render_log()
    project.recall("lighthouse")


def test_an_erased_task_is_gone_everywhere_and_the_log_verifies(project, repo, world):
    """Somebody planned what must not be known; the plan must not outlive the decision to forget it."""
    name = a_task(project)
    project.sync.publish()
    project.tasks.reopen(name)
    everywhere_once(project)
    kept = Path(project.clone.layout.kept)
    kept.mkdir()
    (kept / "project_state.json").write_text(f'{{"tasks": [{{"id": "{name}", "title": "{SECRET}"}}]}}')
    (kept / "other.md").write_text("nothing of it")

    done = project.sync.erase(name)

    assert done.kind == "task"
    assert any("history" in held for held in done.still_held), "what git keeps is said plainly"
    assert name not in Project.open(repo.path).tasks.board().placed, "hidden at once"
    Project.open(repo.path).sync.publish()
    assert_gone(repo.path, world / ".cache")
    assert (kept / "other.md").exists()
    assert repo.status() == ""
    assert Project.open(repo.path).health.doctor().verdict == "ok"


def test_a_task_in_the_trash_is_erased_there_too(project, repo, world):
    """A way back must not be a way around."""
    name = a_task(project)
    other = project.tasks.add("Something harmless")
    cleanup.reset(project.clone, "tasks")

    Project.open(repo.path).sync.erase(name)

    assert_gone(repo.path, world / ".cache")
    cleanup.undo(Project.open(repo.path).clone)
    assert set(Project.open(repo.path).tasks.board().placed) == {other.id}


def test_an_erased_session_is_gone_everywhere(project, repo, world):
    """A scratchpad takes in whatever was on the screen."""
    name = a_session(project)
    everywhere_once(project)

    done = project.sync.erase(name)

    assert done.kind == "session"
    assert_gone(repo.path, world / ".cache")
    assert project.log.show(name).fields["body_state"] == "erased"
    assert Project.open(repo.path).health.doctor().verdict == "ok"


def test_an_erased_session_in_the_trash_does_not_come_back(project, repo, world):
    """A reset taken back must not bring what was erased meanwhile."""
    name = a_session(project)
    cleanup.reset(project.clone, "sessions")

    Project.open(repo.path).sync.erase(name)

    assert_gone(repo.path, world / ".cache")
    with pytest.raises(NotFound):
        cleanup.undo(Project.open(repo.path).clone)


def test_an_erased_link_goes_with_the_next_publish(project, repo, world):
    """An address may say more than it should."""
    link = project.tasks.add_link("https://example.org/lighthouse/umbrella/violet", title=SECRET)
    project.sync.publish()

    project.sync.erase(link.id)
    Project.open(repo.path).sync.publish()

    assert_gone(repo.path, world / ".cache")
    assert project.tasks.links() == []


def test_an_old_export_brings_none_of_it_back(project, repo, world, tmp_path):
    """A backup taken before the erase is the likeliest way for it to return."""
    task, session = a_task(project), a_session(project)
    cleanup.reset(project.clone, "tasks")
    project = Project.open(repo.path)
    project.sync.export_bundle(str(tmp_path / "backup"))
    project.sync.erase(task)
    project.sync.erase(session)

    Project.open(repo.path).sync.import_bundle(str(tmp_path / "backup"))

    assert_gone(repo.path, world / ".cache")


def test_what_a_merge_brings_back_is_hidden_and_deleted_again(project, repo):
    """A colleague's old branch must not resurrect what was erased."""
    name = a_task(project)
    project.sync.publish()
    repo.git("branch", "old")
    path = project.tasks.board().placed[name].path
    project.sync.erase(name)
    Project.open(repo.path).sync.publish()
    repo.git("checkout", "-q", "old", "--", path)
    repo.git("commit", "-qm", "bring it back")

    again = Project.open(repo.path)

    assert name not in again.tasks.board().placed
    again.sync.publish()
    assert path not in repo.git("ls-tree", "-r", "--name-only", "HEAD")


@pytest.mark.parametrize("kind", ["task", "session"])
def test_an_erase_cut_short_is_finished_by_the_next_command(project, repo, kind):
    """A crash must not leave half of it behind and nobody to tell."""
    name = a_task(project) if kind == "task" else a_session(project)
    Path(project.clone.layout.erasing).write_text(f'{{"kind": "{kind}", "id": "{name}"}}')

    again = Project.open(repo.path)

    assert any("finished erasing" in note for note in again.notices)
    assert_gone(repo.path)


def test_other_tasks_and_sessions_are_not_touched(project, repo):
    """Ids that begin alike are not the same."""
    one = project.tasks.add("Keep me", id="TSK-abc")
    project.tasks.add(SECRET, id="TSK-ab")
    session = capture.start(project.clone, objective="Keep me, too")

    project.sync.erase("TSK-ab")

    assert set(Project.open(repo.path).tasks.board().placed) == {one.id}
    assert project.log.show(session.id).fields["objective"] == "Keep me, too"
