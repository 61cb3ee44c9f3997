"""Conflicts and edits at the command line: what people see, type, and get."""

import json
from pathlib import Path

import pytest

from tests.conftest import Cli, GitRepo, grown


def _publish_a_task(cli: Cli, _: GitRepo) -> None:
    cli("init", "--commit")
    cli("task", "add", "Write the grammar", "--id", "TSK-one", "--owner", "ann")
    cli("publish", "--here")


@pytest.fixture
def task(cli: Cli, repo: GitRepo) -> Path:
    """A published task; gives its file."""
    grown(_publish_a_task, cli, repo)
    [file] = (repo / ".holdfast/tasks").iterdir()
    return file


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def diverge(repo: GitRepo, file: Path) -> None:
    """Two branches that contradict each other about the status; main is checked out."""
    repo.git("switch", "-qc", "other")
    change(file, "status: open", "status: blocked")
    repo.git("commit", "-qam", "blocked there")
    repo.git("switch", "-q", "main")
    change(file, "status: open", "status: done")
    repo.git("commit", "-qam", "done here")


def test_a_merge_that_stopped_is_settled_by_one_command(cli: Cli, repo: GitRepo, task: Path) -> None:
    """Who has never seen a conflict marker must get through this."""
    diverge(repo, task)
    repo.git("merge", "other", ok=False)

    assert "1 task is in conflict: holdfast task resolve\n" in cli("status").out
    assert json.loads(cli("status", "--json").out)["disputed"] == 1
    seen = cli("task", "resolve").out
    assert "1 entry waits for a choice." in seen
    assert "TSK-one  left unmerged by git" in seen
    assert "  ours:   main\n  theirs: other\n" in seen
    assert "  field   before  ours  theirs\n  status  open    done  blocked\n" in seen
    assert "holdfast task resolve TSK-one --ours" in seen

    refused = cli("task", "resolve", "one", ok=False)
    assert refused.code == 40
    assert "status  open    done  blocked" in refused.out
    assert "both sides changed status" in refused.err

    done = cli("task", "resolve", "one", "--theirs").out
    assert done == "TSK-one  settled: status done → blocked\nwritten and added; continue with: git commit\n"
    repo.git("commit", "-q", "--no-edit")
    assert repo.status() == ""
    assert "in conflict" not in cli("status").out
    assert json.loads(cli("task", "show", "TSK-one", "--json").out)["status"] == "blocked"


def test_in_the_middle_of_a_merge_this_branch_is_no_other_one(cli: Cli, repo: GitRepo, task: Path) -> None:
    """Who is told to look on another branch for a task that is in conflict here looks in the wrong place."""
    cli("task", "add", "Use it", "--id", "TSK-two", "--needs", "TSK-one")
    cli("publish", "--here")
    diverge(repo, task)
    repo.git("merge", "other", ok=False)
    said = cli("reconcile", "--all").out
    assert "TSK-one" in said and "another branch" not in said
    assert json.loads(cli("reconcile", "--json").out)["links"] == []
    assert "not found" not in cli("task", "show", "TSK-two").out


def test_what_a_merge_overruled_is_listed_and_taken_back(cli: Cli, repo: GitRepo, task: Path) -> None:
    """`-X theirs` is quick, and nobody sees what it threw away."""
    diverge(repo, task)
    repo.git("merge", "-q", "-X", "theirs", "--no-edit", "other")

    seen = cli("task", "resolve").out
    assert "1 entry in which a merge kept one side:" in seen
    assert "  field   before  ours  theirs   now\n  status  open    done  blocked  blocked\n" in seen

    cli("task", "resolve", "TSK-one", "--field", "status=ours")
    assert json.loads(cli("task", "show", "TSK-one", "--json").out)["status"] == "done"
    assert cli("task", "resolve").out == "No conflicts here.\n"


def test_objects_have_both_sides(cli: Cli, repo: GitRepo, task: Path) -> None:
    """A tool that settles conflicts needs the values, not the words."""
    diverge(repo, task)
    repo.git("merge", "other", ok=False)

    [found] = json.loads(cli("task", "resolve", "--json").out)["conflicts"]

    assert (found["id"], found["kind"], found["theirs"]["origin"]) == ("TSK-one", "unmerged", "other")
    assert found["fields"][0] == {
        "name": "status", "base": "open", "ours": "done", "theirs": "blocked", "stands": None,
    }  # fmt: skip
    answer = json.loads(cli("task", "resolve", "TSK-one", "--field", "status=started", "--json").out)
    assert (answer["id"], answer["diff"]) == ("TSK-one", ["status done → started"])


def test_wrong_choices_are_told_apart(cli: Cli, repo: GitRepo, task: Path) -> None:
    """Each mistake has its own sentence."""
    assert cli("task", "resolve", "TSK-one", "--ours", ok=False).code == 13
    assert cli("task", "resolve", "TSK-one", "--field", "status", ok=False).code == 2
    diverge(repo, task)
    repo.git("merge", "other", ok=False)
    assert "no field colour" in cli("task", "resolve", "TSK-one", "--field", "colour=red", ok=False).err
    assert "'nowhere' is not one of" in cli(
        "task", "resolve", "TSK-one", "--field", "status=nowhere", ok=False
    ).err  # fmt: skip


def test_an_edit_of_the_file_is_told_by_the_next_command(cli: Cli, repo: GitRepo, task: Path) -> None:
    """Whoever edits a file wants to know that it counts."""
    change(task, "status: open", "status: done")

    shown = cli("tasks", "--json")

    assert "TSK-one edited by hand: status open → done" in shown.err
    assert "edited by hand" not in cli("tasks").err
    cli("publish", "--here")
    assert repo.status() == ""


def test_an_edit_of_the_view_is_told_by_the_next_command(cli: Cli, repo: GitRepo, task: Path) -> None:
    """The view is the file people find first."""
    cli("task", "edit", "TSK-one", "--priority", "1")
    view = repo / ".holdfast/view/project_state.json"
    change(view, '"priority": 1', '"priority": 0')

    assert "TSK-one edited in project_state.json: priority 1 → 0" in cli("tasks").err
    assert json.loads(cli("task", "show", "TSK-one", "--json").out)["priority"] == 0

    change(view, '"priority": 0', '"priority": 9')
    refused = cli("tasks").err
    assert "was not applied: project_state.json, task 1: priority 9" in refused
    assert "/kept/" in refused
    assert '"priority": 0' in view.read_text()
