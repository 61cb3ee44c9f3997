"""Everything that `recall` prints an id of can be read by that id."""

import json
import shutil
from pathlib import Path

import pytest

from holdfast.errors import NotFound
from holdfast.model.event import EventDraft
from holdfast.project import Project
from tests.conftest import Cli, GitRepo, grown

RUN = "20261115T194203Z-abc003"
CODE = "import os\n\n\ndef alpha():\n    return 1\n\n\ndef beta():\n    one = 1\n    return one\n"


def _write_and_commit(cli: Cli, repo: GitRepo) -> None:
    repo.write("src/greek.py", CODE)
    repo.write("docs/guide.md", "# Guide\n\nHello.\n\n## Harbours\n\nA wall keeps the sea out.\n")
    repo.git("add", ".")
    repo.git("commit", "-qm", "Greek letters\n\nBecause of the harbour.")
    cli("init", "--commit")
    repo.git("switch", "-qc", "work")


@pytest.fixture
def project(cli: Cli, repo: GitRepo, inside) -> Project:
    grown(_write_and_commit, cli, repo)
    return Project.open(repo.path)


def with_a_run(project: Project, *commits: str) -> None:
    receipts = [f"commit:{oid}" for oid in commits]
    draft = EventDraft("run", target=RUN, run_id=RUN, exit_status=0, body={"task": "T-1", "receipts": receipts})
    project.clone.record(draft)
    folder = Path(project.clone.layout.run(RUN), "outputs")
    folder.mkdir(parents=True)
    turn = {
        "turn": 2, "ts": "2026-11-15T19:42:00.000001Z", "ended": "2026-11-15T19:43:00.000001Z", "by": "user",
        "prompt": "Mend the wall", "said": ["I look.", "It stands."], "interrupted": True,
        "line": "Mended", "commands": [{"text": "pytest -q", "exit_status": 1}], "files": ["src/greek.py"],
        "commits": list(commits),
    }  # fmt: skip
    step = {
        "turn": 2, "n": 7, "ts": "2026-11-15T19:42:30.000001Z",
        "proposal": {"reasoning": "The tide is high.", "text": "", "plan": None,
                     "calls": [{"name": "Bash", "input": "pytest -q"}]},
        "result": {"calls": [{"output": "1 failed\n", "failed": True}]},
    }  # fmt: skip
    (folder / "turns.jsonl").write_text(f"{json.dumps(turn)}\n")
    (folder.parent / "cycles.jsonl").write_text(f"{json.dumps(step)}\nnot json\n")


def test_a_commit_is_shown_by_the_beginning_of_its_id(project, repo, cli: Cli):
    """The screen has twelve digits of it; all that it can say must follow from these."""
    oid = repo.git("rev-parse", "main~1").strip()
    with_a_run(project, oid)

    shown = project.log.show(oid[:12])

    assert (shown.id, shown.kind) == (oid, "commit")
    assert "Greek letters" in (shown.text or "") and "Because of the harbour." in (shown.text or "")
    assert sorted(shown.fields["files"]) == ["docs/guide.md", "src/greek.py"]
    assert shown.fields["runs"] == [f"{RUN}#2"]
    out = cli("show", oid[:7]).out
    assert all(word in out for word in ("author:", "when:", "src/greek.py", f"made in:  {RUN}#2"))


def test_a_branch_that_looks_like_an_id_is_no_commit(project, repo):
    """Git would take its name first."""
    repo.git("branch", "abcdef1")
    with pytest.raises(NotFound):
        project.log.show("abcdef1")


def test_a_turn_is_shown_with_what_was_asked_done_and_said(project, cli: Cli):
    """A turn is the most telling of hits; there must be a way to read it."""
    with_a_run(project)

    out = cli("show", f"{RUN}#2").out

    asked = ("asked:", "Mend the wall", "ended:", "interrupted", "ran:", "pytest -q (exit 1)", "src/greek.py")
    at = [out.index(word) for word in asked]
    assert at == sorted(at) and out.endswith("I look.\n\nIt stands.\n")
    told = json.loads(cli("show", f"{RUN}#2", "--json").out)
    assert (told["kind"], told["fields"]["commands"][0]["text"]) == ("turn", "pytest -q")
    with pytest.raises(NotFound, match=f"{RUN}#3 is not in this clone"):
        project.log.show(f"{RUN}#3")


def test_a_step_of_a_turn_is_shown(project, cli: Cli):
    """What an agent thought, and what a command answered, is found; so it can be read."""
    with_a_run(project)
    out = cli("show", f"{RUN}#2.7").out
    assert "Bash pytest -q" in out and "The tide is high." in out and "Output:\n  1 failed" in out
    with pytest.raises(NotFound):
        project.log.show(f"{RUN}#2.8")


def test_nothing_is_told_of_a_turn_whose_run_was_erased(project, cli: Cli, tmp_path):
    """The capsule may still lie here when the erasing event arrives."""
    with_a_run(project)
    capsule = project.clone.layout.run(RUN)
    shutil.copytree(capsule, tmp_path / "kept")
    cli("erase", RUN, "--yes")
    shutil.copytree(tmp_path / "kept", capsule)
    shown = Project.open(project.clone.repo.top).log.show(f"{RUN}#2")
    assert (shown.text, shown.fields["body_state"]) == (None, "erased")


@pytest.mark.parametrize(
    ("asked", "known", "begins"),
    [
        ("src/greek.py:9", ("src/greek.py:8", "code", "beta"), "def beta():"),
        ("docs/guide.md:7", ("docs/guide.md:5", "doc", "Harbours"), "## Harbours"),
    ],
)
def test_a_place_is_shown_as_head_has_it(project, repo, asked, known, begins):
    """Any line of a piece leads to it: people have lines from traces and from editors."""
    (repo.path / "src/greek.py").write_text("changed = True\n")
    shown = project.log.show(asked)
    assert (shown.id, shown.kind, shown.fields["name"]) == known
    assert (shown.text or "").startswith(begins)


@pytest.mark.parametrize("asked", ["src/greek.py:99", "src/none.py:1", "a.go:74", "src/greek.py"])
def test_a_place_that_is_not_there_is_named_whole(project, asked):
    """Half of what was typed is nothing to search a mistake in."""
    with pytest.raises(NotFound, match=asked.replace(".", r"\.")):
        project.log.show(asked)
