"""The gate for tasks and links, on real repositories and on a fresh clone without a store."""

import os

import pytest

from holdfast.diagnostics.check import check
from holdfast.git.repo import Repo
from holdfast.model.task import Link, Task
from holdfast.store import layout, task_files


def verdict(sample, **options):
    return check(Repo.discover(str(sample.repo.path)), **options)


def said(found) -> str:
    return "\n".join(f"{finding.where} {finding.sentence}" for finding in found)


def path_of(name: str) -> str:
    return f"{layout.TASKS}/do-TSK-{name}.md"


def text_of(name: str, **fields) -> str:
    return task_files.render(Task(**{"id": f"TSK-{name}", "title": f"Do {name}", **fields}))


def on_main(sample, path: str, text: str) -> None:
    """Something that was there before the branch began."""
    sample.commit_file(path, text)
    sample.repo.git("branch", "-f", "main")


def test_a_sound_plan_passes_and_is_counted(sample):
    """Tasks need nobody's approval: the gate must not stand in the way of work."""
    sample.commit_file(path_of("a"), text_of("a"))
    sample.commit_file(path_of("b"), text_of("b", needs=("TSK-a", "TSK-elsewhere")))
    link = Link(id="LNK-a", title="Docs", target="README", kind="path")
    sample.commit_file(f"{layout.LINKS}/docs-LNK-a.md", task_files.render(link))
    found = verdict(sample)
    assert (found.word, found.problems) == ("ok", ())
    assert (found.counts["tasks"], found.counts["links"]) == (2, 1)


def test_it_needs_no_store(sample, tmp_path):
    """CI clones the repository and has nothing else."""
    sample.commit_file(path_of("a"), "---\nid: TSK-a\n---\n")
    sample.repo.git("clone", "-q", str(sample.repo.path), str(tmp_path / "ci"))
    found = check(Repo.discover(str(tmp_path / "ci")), "origin/main")
    assert "has no title" in said(found.problems)
    assert not os.path.exists(tmp_path / "ci/.git/holdfast")


@pytest.mark.parametrize(
    ("path", "text", "reason"),
    [
        (path_of("a"), "no frontmatter", ":1 does not start with a line of ---"),
        (path_of("a"), "---\nid: TSK-a\ntitle: x\nstatus: finished\n---\n", ":4 status 'finished'"),
        (path_of("a"), "---\nid: a\n<<<<<<< a\ntitle: x\n=======\ntitle: y\n>>>>>>> b\n---\n", ":3 has the markers"),
        (f"{layout.TASKS}/script.sh", "rm -rf /", "no file of a task"),
        (f"{layout.LINKS}/x/.hidden/a-LNK-a.md", "x", "no file of a task"),
    ],
)
def test_what_the_branch_breaks_fails(sample, path, text, reason):
    """What cannot be read is left out silently on everybody's machine."""
    sample.commit_file(path, text)
    found = verdict(sample)
    assert found.word == "failed"
    assert reason in said(found.problems)


def test_a_name_of_ones_own_is_a_note_for_the_gate_and_for_doctor(sample):
    """A file made by hand is taken and published: the gate must not refuse later what was accepted."""
    sample.commit_file(f"{layout.TASKS}/other.md", text_of("a"))
    found = verdict(sample)
    assert found.word == "ok"
    assert "does not end in -TSK-a.md" in said(found.notes)


@pytest.mark.parametrize("other", ["aa-TSK-a.md", "zz-TSK-a.md"])
def test_a_second_file_for_an_id_fails_and_the_new_one_is_named(sample, other):
    """Whoever names the id means neither, and whoever added it must mend it."""
    on_main(sample, path_of("a"), text_of("a"))
    sample.commit_file(f"{layout.TASKS}/{other}", text_of("a"))
    found = verdict(sample)
    assert f"{other} its id TSK-a is also that of {path_of('a')}" in said(found.problems)


def test_a_clash_in_case_fails(sample):
    """Half of the team cannot check such a commit out."""
    on_main(sample, path_of("a"), text_of("a"))
    sample.commit_file(f"{layout.TASKS}/DO-TSK-A.md", text_of("A"))
    assert "only in case" in said(verdict(sample).problems)


def test_a_link_in_place_of_a_task_fails(sample):
    """A symbolic link leads wherever its author likes."""
    folder = sample.repo.path / layout.TASKS
    folder.mkdir(parents=True)
    (folder / "do-TSK-a.md").symlink_to("/etc/passwd")
    sample.repo.git("add", "-f", path_of("a"))
    sample.repo.git("commit", "-qm", "link")
    assert "must be a plain file" in said(verdict(sample).problems)


def test_a_cycle_that_the_branch_brings_fails_and_is_shown(sample):
    """Two tasks that wait for one another are never done."""
    on_main(sample, path_of("a"), text_of("a", needs=("TSK-b",)))
    sample.commit_file(path_of("b"), text_of("b", needs=("TSK-a",)))
    assert "TSK-a → TSK-b → TSK-a" in said(verdict(sample).problems)


def test_what_was_wrong_before_is_only_a_note(sample):
    """Nobody can work if every pull request must first mend the trunk."""
    on_main(sample, path_of("a"), text_of("a", needs=("TSK-b",)))
    on_main(sample, path_of("b"), text_of("b", needs=("TSK-a",)))
    on_main(sample, path_of("c"), "broken")
    sample.commit_file(path_of("d"), text_of("d", needs=("TSK-a",)))
    found = verdict(sample)
    assert found.word == "ok"
    assert {note.severity for note in found.notes} == {"note"} and len(found.notes) == 2
    assert "before this branch" in said(found.notes)


def test_a_new_cycle_is_found_beside_an_old_one(sample):
    """The old mistake must not hide the new one."""
    on_main(sample, path_of("a"), text_of("a", needs=("TSK-b",)))
    on_main(sample, path_of("b"), text_of("b", needs=("TSK-a",)))
    sample.commit_file(path_of("c"), text_of("c", needs=("TSK-d",)))
    sample.commit_file(path_of("d"), text_of("d", needs=("TSK-c",)))
    found = verdict(sample)
    assert "TSK-c → TSK-d" in said(found.problems) and "TSK-a → TSK-b" in said(found.notes)


def test_crlf_in_the_repository_is_no_damage(sample):
    """Somebody's editor on Windows is not a reason to fail."""
    sample.commit_file(path_of("a"), text_of("a").replace("\n", "\r\n"))
    assert verdict(sample).word == "ok"
