"""Law 14: an erased body is gone from files, index, views and recall, and the log still verifies."""

import json
import os
import shutil
from pathlib import Path

import pytest

from holdfast.errors import NotFound, PublishRefused
from holdfast.project import Project

SECRET = "the lighthouse keeper's umbrella is violet"


@pytest.fixture
def project(repo, inside) -> Project:
    Project.init(repo.path, commit=True)
    return Project.open(repo.path)


def everything_on_disk(*tops: Path) -> bytes:
    """All bytes below some folders, git's own objects left out: what was committed is history."""
    found = []
    for top in tops:
        for folder, folders, files in os.walk(top):
            if os.path.basename(folder) == ".git":
                folders[:] = ["holdfast"]
            for name in files:
                found.append(Path(folder, name).read_bytes())
    return b"\0".join(found)


def assert_gone(words: str, *tops: Path) -> None:
    assert words.encode() not in everything_on_disk(*tops)
    assert b"lighthouse" not in everything_on_disk(*tops), "a token of the erased text is left"


def test_an_erased_event_is_gone_everywhere_and_the_log_verifies(project, repo, world):
    """Somebody pasted what must not be kept; the log must not force them to keep it."""
    run = project.write_log({"task": "T-1", "outputs": {"summary": SECRET}})
    assert project.recall("lighthouse"), "it can be found before"
    project.render_log()

    done = project.erase(run)

    assert done.removed
    assert_gone(SECRET, repo.path, world / ".cache")
    assert project.recall("lighthouse") == []
    assert [event["body_state"] for event in project.log() if event["run_id"] == run][:1] == ["erased"]
    assert Project.open(repo.path).doctor().verdict == "ok"


def test_an_erased_memory_goes_with_the_next_publish(project, repo, world):
    """A shared fact must leave the tree too, not only this clone's store."""
    fact = project.remember(SECRET, evidence=["README"], accept=True)
    project.publish()
    assert SECRET in everything_on_disk(repo.path).decode("utf-8", "replace")

    done = project.erase(fact.id)

    assert any("history" in held for held in done.still_held), "what git keeps is said plainly"
    assert not project.facts().standings, "hidden at once"
    Project.open(repo.path).publish()
    assert_gone(SECRET, repo.path, world / ".cache")
    assert repo.status() == ""
    assert Project.open(repo.path).doctor().verdict == "ok"


def test_what_a_merge_brings_back_is_deleted_again(project, repo, world):
    """A colleague's old branch must not resurrect what was erased."""
    fact = project.remember(SECRET, evidence=["README"], accept=True)
    project.publish()
    repo.git("branch", "old")
    project.erase(fact.id)
    Project.open(repo.path).publish()
    path = repo.git("log", "-1", "--diff-filter=D", "--name-only", "--format=", "--", ".holdfast/memory")

    repo.git("checkout", "-q", "old", "--", path)
    repo.git("commit", "-qm", "bring it back")
    again = Project.open(repo.path)

    assert again.recall("lighthouse") == []
    assert not again.facts().standings
    again.publish()
    assert path not in repo.git("ls-tree", "-r", "--name-only", "HEAD")


def test_an_old_export_does_not_bring_it_back(project, repo, world, tmp_path):
    """A backup taken before the erase is the likeliest way for it to return."""
    run = project.write_log({"outputs": {"summary": SECRET}})
    kept = project.write_log({"outputs": {"summary": "something harmless"}})
    project.export(str(tmp_path / "backup"))
    project.erase(run)

    Project.open(repo.path).bring_back(str(tmp_path / "backup"))

    assert_gone(SECRET, repo.path, world / ".cache")
    assert [hit.id for hit in Project.open(repo.path).recall("harmless")] == [kept]


def test_a_waiting_candidate_can_be_erased(project, repo, world):
    """Not everything that must go was ever accepted."""
    candidate = project.remember(SECRET)

    project.erase(candidate.id)

    assert_gone(SECRET, repo.path, world / ".cache")
    assert project.candidates() == []


def test_an_erase_cut_short_is_finished_by_the_next_command(project, repo, world):
    """A crash must not leave half of it behind and nobody to tell."""
    run = project.write_log({"outputs": {"summary": SECRET}})
    journal = Path(project.clone.layout.erasing)
    journal.write_text(f'{{"kind": "run", "id": "{run}"}}')
    shutil.rmtree(world / ".cache", ignore_errors=True)

    again = Project.open(repo.path)

    assert any("finished erasing" in note for note in again.notices)
    assert not journal.exists()
    assert_gone(SECRET, repo.path)


def test_erasing_what_is_not_there_is_said(project):
    """A typo must not look like success."""
    with pytest.raises(NotFound):
        project.erase("FCT-nothing")


def test_what_another_clone_erased_waits_in_review(project, repo, tmp_path):
    """A colleague's erase is hidden at once; whether to delete it here is this clone's decision."""
    run = project.write_log({"outputs": {"summary": SECRET}})
    project.export(str(tmp_path / "saved"))
    repo.git("clone", "-q", str(repo.path), str(tmp_path / "second"))
    second = Project.open(tmp_path / "second")
    second.bring_back(str(tmp_path / "saved"))
    project.erase(run)
    Project.open(repo.path).publish()
    repo.git("-C", str(tmp_path / "second"), "pull", "-q")

    again = Project.open(tmp_path / "second")

    assert again.recall("lighthouse") == []
    again.candidates()
    assert any(run in notice and "holdfast erase" in notice for notice in again.notices)
    again.erase(run)
    assert Project.open(tmp_path / "second").candidates() == []
    assert SECRET.encode() not in everything_on_disk(tmp_path / "second")


def test_an_erase_in_a_hook_of_publish_is_refused_at_once(project, repo, monkeypatch):
    """It would wait for a publish that waits for it."""
    run = project.write_log({"outputs": {"summary": SECRET}})
    monkeypatch.setenv("HOLDFAST_PUBLISHING", str((repo.path / ".git").resolve()))
    with pytest.raises(PublishRefused):
        project.erase(run)


def test_an_erased_memory_leaves_no_proof_of_its_words(project, repo, world):
    """The proof of an approval holds the words and their hash: who has it could go on guessing."""
    mine = Project.open(repo.path, person=True)
    fact = mine.remember(SECRET, evidence=["README"], accept=True)
    mine.publish()
    (proof,) = repo.git("ls-files", ".holdfast/approvals").split("\n")
    salt, body = (repo / proof).read_text().rstrip("\n").split("\n")
    repo.git("branch", "old")

    Project.open(repo.path).erase(fact.id)
    Project.open(repo.path).publish()

    assert repo.git("ls-files", ".holdfast/approvals") == ""
    left = everything_on_disk(repo.path, world / ".cache")
    for held in (salt.encode(), bytes.fromhex(salt), json.loads(body)["approves"].encode()):
        assert held not in left
    assert_gone(SECRET, repo.path, world / ".cache")
    assert Project.open(repo.path).doctor().verdict == "ok"

    repo.git("checkout", "-q", "old", "--", proof)
    repo.git("commit", "-qm", "bring it back")
    Project.open(repo.path).publish()
    assert repo.git("ls-files", ".holdfast/approvals") == ""


def test_the_body_of_an_approval_can_be_erased_alone(project, repo, world):
    """Who gave it may not want to be named any more; the memory itself stays."""
    mine = Project.open(repo.path, person=True)
    fact = mine.remember("Ropes are checked.", evidence=["README"], accept=True, reviewer="umbrella")
    mine.publish()
    event = next(one for one in mine.log() if one["kind"] == "accept")

    Project.open(repo.path).erase(event["hash_self"])
    Project.open(repo.path).publish()

    assert b"umbrella" not in everything_on_disk(repo.path, world / ".cache")
    assert repo.git("ls-files", ".holdfast/approvals") == ""
    assert [one.id for one in Project.open(repo.path).facts().standings] == [fact.id]
