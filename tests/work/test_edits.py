"""Edits by hand: whoever changes a task's file in an editor has edited the task."""

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from holdfast.git import merge_conflicts
from holdfast.git.conflict_sides import EVERY
from holdfast.model.task import Link, Task
from holdfast.store import fsio, task_files
from holdfast.values import replace
from holdfast.work import hand_edits, task_board, task_lifecycle
from holdfast.work.hand_edits import TakenEdit
from tests.conftest import Quick
from tests.git.place import Place

PATH = ".holdfast/tasks/write-it-TSK-abc123.md"
OTHER = ".holdfast/tasks/read-it-TSK-def456.md"
LINK = ".holdfast/links/the-plan-LNK-abc123.md"
TASK = Task(id="TSK-abc123", title="Write it", layer="L5", owner="ada")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A project with one task in its history."""
    made = Place.make(tmp_path / "repo")
    made.repo.commit(PATH, text(), "the task")
    return made


def text(**fields: Any) -> str:
    return task_files.render(replace(TASK, **fields))


def write(place: Place, content: str, path: str = PATH) -> None:
    place.repo.write(path, "").write_bytes(content.encode())


def take(place: Place) -> tuple[list[TakenEdit], list[str]]:
    """What the next command does first: what it takes, and what it says."""
    clone = place.open()
    return hand_edits.take(clone), clone.notes


def refusal(place: Place) -> str:
    found, notes = take(place)
    assert found == []
    [said] = [note for note in notes if "not taken" in note]
    return said


def actions(place: Place) -> list[str]:
    clone = place.open()
    bodies = [clone.bodies.get(e.body or "") or {} for e in clone.events() if e.kind == "task"]
    return [body["action"] for body in bodies]


def seen(place: Place, name: str = "TSK-abc123") -> Task:
    return task_board.read(place.open()).placed[name].task


def test_an_untouched_tree_takes_nothing_and_writes_nothing(place: Place) -> None:
    """It runs at every command: it must neither cost nor leave anything."""
    take(place)
    before = set(place.files())

    assert take(place) == ([], [])
    assert set(place.files()) == before


def test_an_edit_is_taken_once_with_a_diff(place: Place) -> None:
    """People edit files; whoever then asks for the task must get what they wrote."""
    write(place, text(status="done", needs=("TSK-zz",), notes="Found\nit."))

    found, notes = take(place)

    assert [(one.id, one.path, one.is_new) for one in found] == [("TSK-abc123", PATH, False)]
    assert found[0].diff == ("status open → done", "needs +TSK-zz", "notes (+2 −1 lines)")
    assert notes == ["TSK-abc123 edited by hand: status open → done, needs +TSK-zz, notes (+2 −1 lines)"]
    assert take(place) == ([], [])
    assert actions(place) == ["edit"]
    assert [(c.path, c.text) for c in place.open().changes()] == [(PATH, (place.repo / PATH).read_text())]


def test_an_edit_is_published_as_it_stands(place: Place) -> None:
    """An unusual order or spacing is the author's, not ours to tidy."""
    odd = text(status="done").replace("status: done", "status:   done  # at last")
    write(place, odd)
    take(place)

    assert PATH in place.publish().paths
    assert place.git("show", f"HEAD:{PATH}") + "\n" == odd
    assert place.status() == ""
    assert take(place) == ([], [])


def test_a_command_after_an_edit_builds_on_it_and_can_be_published(place: Place) -> None:
    """The file still holds the edit; that must not keep what came after it from being published."""
    write(place, text(title="Write it well"))
    take(place)
    task_lifecycle.edit(place.open(), "TSK-abc123", priority=0)

    assert take(place) == ([], [])
    assert place.publish().kept == ()
    assert seen(place) == replace(TASK, title="Write it well", priority=0)
    assert place.status() == ""


def test_the_same_edit_after_a_publish_is_a_new_one(place: Place) -> None:
    """What was taken once must not make an editor deaf to the same words later."""
    write(place, text(status="done"))
    take(place)
    place.publish()
    take(place)
    task_lifecycle.edit(place.open(), "TSK-abc123", status="open")
    place.publish()
    take(place)
    write(place, text(status="done"))

    found, _ = take(place)

    assert [one.diff for one in found] == [("status open → done",)]


def test_an_edit_that_is_undone_in_the_file_is_undone(place: Place) -> None:
    """`git restore` is how people take an edit back."""
    write(place, text(status="done"))
    take(place)
    place.git("restore", PATH)

    _, notes = take(place)

    assert seen(place).status == "open"
    assert place.open().changes() == []
    assert "undone" in notes[0]
    assert take(place) == ([], [])


def test_a_stash_takes_an_edit_away_and_brings_it_back(place: Place) -> None:
    """A stash holds everything that was edited; the board follows the file."""
    write(place, text(status="done"))
    take(place)
    place.git("stash", "-q")
    take(place)
    assert seen(place).status == "open"
    place.git("stash", "pop", "-q")

    found, _ = take(place)

    assert len(found) == 1
    assert seen(place).status == "done"


def test_what_a_command_changed_since_is_not_undone_with_the_file(place: Place) -> None:
    """Putting a file back says nothing about what was decided elsewhere."""
    write(place, text(status="done"))
    take(place)
    task_lifecycle.edit(place.open(), "TSK-abc123", priority=0)
    place.git("restore", PATH)
    take(place)

    assert seen(place) == replace(TASK, status="done", priority=0)


def test_cleaning_the_work_tree_loses_no_task(place: Place) -> None:
    """`git clean` removes files nobody committed; what was taken from them stays on the board."""
    write(place, task_files.render(replace(TASK, id="TSK-def456", title="Read it")), OTHER)
    take(place)
    place.git("clean", "-fdq", "--", ".holdfast/tasks")
    take(place)

    assert seen(place, "TSK-def456").title == "Read it"


def test_an_edit_carried_to_another_branch_is_not_taken_there(place: Place) -> None:
    """What was decided on one branch must not appear unasked on another."""
    place.later()
    place.git("switch", "-qc", "feature")
    place.later()
    write(place, text(status="done"))
    take(place)
    place.git("switch", "-q", "main")

    assert take(place) == ([], [])
    assert place.open().changes() == []


def test_a_new_file_is_an_added_task(place: Place) -> None:
    """A task may be written like any other file."""
    write(place, "---\nid: TSK-def456\ntitle: Read it\nneeds: [TSK-abc123]\n---\n", OTHER)

    found, notes = take(place)

    assert found == [TakenEdit("TSK-def456", OTHER, ("Read it",), is_new=True)]
    assert notes == ["TSK-def456 added by hand: Read it"]
    assert seen(place, "TSK-def456").needs == ("TSK-abc123",)
    assert actions(place) == ["add"]
    assert OTHER in place.publish().paths


def test_a_new_file_of_an_id_that_another_branch_has_is_said(place: Place) -> None:
    """After the merge there are two files of one id, and one of them is left out."""
    place.git("switch", "-q", "-c", "feature")
    task_lifecycle.add(place.open(), title="Theirs", id="X-1")
    place.git("switch", "-q", "main")
    write(place, text(id="X-1"), ".holdfast/tasks/mine-X-1.md")

    _, notes = take(place)

    assert "X-1 is on feature too, in .holdfast/tasks/theirs-X-1.md; name yours so, or give it another id" in notes


def test_links_are_taken_too(place: Place) -> None:
    """A canonical link is a file like a task."""
    link = Link(id="LNK-abc123", title="The plan", target="README", kind="path")
    write(place, task_files.render(link), LINK)
    take(place)
    write(place, task_files.render(replace(link, title="Our plan")), LINK)

    found, _ = take(place)

    assert [one.diff for one in found] == [("title The plan → Our plan",)]
    assert actions(place) == ["link", "edit"]


def test_a_deleted_file_hides_its_task_and_is_said(place: Place) -> None:
    """A file that vanished by accident is not a decision to drop the task."""
    (place.repo / PATH).unlink()

    found, notes = take(place)

    assert found == []
    assert "hidden here, not dropped" in notes[0]
    assert "git restore" in notes[0]
    assert place.open().changes() == []
    assert actions(place) == []
    place.open().change(PATH, text(priority=0))
    assert take(place) == ([], [])  # a change waits: the task is still seen


SECRET = "ghp_" + "A1b2C3d4E5f6G7h8I9j0" * 2
INVALID = (
    (text().replace("status: open", "status: nowhere"), ":8 status 'nowhere' is not one of"),
    (text().replace("id: TSK-abc123\n", ""), ":1 has no id"),
    (text().replace("TSK-abc123", "TSK-other1"), "an id never changes"),
    (text().replace("needs: []", "needs: [TSK-abc123]"), "cannot need itself"),
    (text().replace("owner: ada", "owner: [ada]"), ":14 owner must be one value"),
    ("not a task\n", ":1 does not start with"),
    (text(notes=f"key: {SECRET}"), ":35 holds what looks like a secret"),
)


def test_an_invalid_edit_is_refused_with_its_reason(place: Place) -> None:
    """Half a task on the board misleads; an editor that overwrites the text would lose it."""
    for content, reason in INVALID:
        write(place, content)
        found = refusal(place)
        assert reason in found
        assert PATH in found
        assert SECRET not in found
        assert (place.repo / PATH).read_text() == content
    assert place.open().changes() == []
    assert actions(place) == []


def test_bytes_that_are_no_text_are_refused_with_their_line(place: Place) -> None:
    """An editor set to another encoding must not turn a name into rubbish."""
    (place.repo / PATH).write_bytes(text().encode() + b"gr\xfc\xdfe\n")

    assert f"{PATH}:35 holds bytes that are not UTF-8" in refusal(place)


def test_a_link_in_place_of_the_file_is_refused(place: Place, tmp_path: Path) -> None:
    """A link could lead to any file of the machine."""
    (tmp_path / "elsewhere.md").write_text(text(status="done"))
    (place.repo / PATH).unlink()
    (place.repo / PATH).symlink_to(tmp_path / "elsewhere.md")

    assert "symbolic link" in refusal(place)


def test_an_edit_that_makes_a_cycle_is_refused_with_the_cycle(place: Place) -> None:
    """Tasks that wait for one another are never ready."""
    place.repo.commit(OTHER, task_files.render(Task(id="TSK-def456", title="Read it", needs=("TSK-abc123",))))
    write(place, text(needs=("TSK-def456",)))

    assert "TSK-abc123 → TSK-def456 → TSK-abc123" in refusal(place)


def test_of_two_edits_that_make_a_cycle_one_is_taken(place: Place) -> None:
    """Each alone is right; only the second makes the ring."""
    place.repo.commit(OTHER, task_files.render(Task(id="TSK-def456", title="Read it")))
    write(place, text(needs=("TSK-def456",)))
    write(place, task_files.render(Task(id="TSK-def456", title="Read it", needs=("TSK-abc123",))), OTHER)

    found, notes = take(place)

    assert len(found) == 1
    assert sum("cycle" in note for note in notes) == 1


def test_names_that_differ_in_nothing_but_case_are_refused(place: Place) -> None:
    """On many disks they are one file, and one of the tasks would be gone after a checkout."""
    for path, identity, reason in (
        (".holdfast/tasks/copy-TSK-abc123.md", "TSK-abc123", "stands in"),
        (".holdfast/tasks/copy-TSK-ABC123.md", "TSK-ABC123", "stands in"),
        (".holdfast/tasks/Write-it-TSK-abc123.md", "TSK-new111", "differ only in case"),
    ):
        write(place, text(title="Copy", id=identity), path)
        assert reason in refusal(place)
        (place.repo / path).unlink()


def test_a_renamed_file_is_refused(place: Place) -> None:
    """A path never changes: other branches would hold the task twice."""
    place.git("mv", PATH, OTHER)

    _, notes = take(place)

    assert any("a file's name never changes" in note for note in notes)


def test_an_edit_beside_a_waiting_change_is_merged(place: Place) -> None:
    """Both said something; neither may be lost."""
    task_lifecycle.edit(place.open(), "TSK-abc123", priority=0)
    write(place, text(status="done"))

    found, _ = take(place)

    assert [one.diff for one in found] == [("status open → done",)]
    assert seen(place) == replace(TASK, priority=0, status="done")
    assert take(place) == ([], [])
    assert place.publish().kept == ()
    assert place.status() == ""


def test_an_edit_against_a_waiting_change_is_a_conflict(place: Place) -> None:
    """Two values for one field are a person's choice."""
    task_lifecycle.edit(place.open(), "TSK-abc123", status="blocked")
    write(place, text(status="done"))

    assert "holdfast task resolve TSK-abc123" in refusal(place)
    clone = place.open()
    [found] = merge_conflicts.find(clone)
    assert (found.kind, found.ours.text, found.theirs.origin) == (
        "edited", text(status="blocked"), "your edit of the file",
    )  # fmt: skip

    merge_conflicts.resolve(clone, found, {EVERY: "theirs"})

    assert seen(place).status == "done"
    assert take(place) == ([], [])
    assert merge_conflicts.find(place.open()) == []
    assert place.publish().kept == ()
    assert place.status() == ""


def test_a_second_edit_is_compared_with_the_first(place: Place) -> None:
    """Only what was typed since counts as said again."""
    write(place, text(status="done"))
    take(place)
    task_lifecycle.edit(place.open(), "TSK-abc123", status="started")
    write(place, text(status="done", title="Write it well"))

    take(place)

    assert seen(place) == replace(TASK, status="started", title="Write it well")


def test_a_hand_edit_decides_a_conflict_with_history(place: Place) -> None:
    """Whoever writes the text they want into the file has chosen."""
    task_lifecycle.edit(place.open(), "TSK-abc123", status="blocked")
    place.repo.commit(PATH, text(status="done"))
    assert len(merge_conflicts.find(place.open())) == 1
    write(place, text(status="started"))

    take(place)

    assert merge_conflicts.find(place.open()) == []
    assert seen(place).status == "started"


def test_nothing_is_taken_in_the_middle_of_a_merge(place: Place) -> None:
    """What git writes while it merges is nobody's edit; an abort takes it back."""
    place.git("switch", "-qc", "other")
    place.repo.commit(PATH, text(status="blocked"))
    place.git("switch", "-q", "main")
    place.repo.commit(PATH, text(status="done"))
    place.git("merge", "other", ok=False)
    write(place, text(status="started"))

    assert take(place) == ([], [])
    place.git("merge", "--abort")
    assert take(place) == ([], [])


def test_a_checkout_with_crlf_is_no_edit(place: Place) -> None:
    """On Windows every file would be edited."""
    write(place, text().replace("\n", "\r\n"))
    assert take(place) == ([], [])

    place.git("rm", "-q", "--cached", ".holdfast/.gitattributes")
    (place.repo / ".holdfast/.gitattributes").unlink()
    place.git("commit", "-qm", "no attributes")
    place.git("config", "core.autocrlf", "true")
    (place.repo / PATH).unlink()
    place.git("checkout", "--", PATH)
    assert b"\r\n" in (place.repo / PATH).read_bytes()
    assert take(place) == ([], [])

    write(place, text(status="done").replace("\n", "\r\n"))
    found, _ = take(place)
    assert [one.diff for one in found] == [("status open → done",)]
    assert take(place) == ([], [])


def test_each_work_tree_has_its_own_edits(place: Place, tmp_path: Path) -> None:
    """Two branches are checked out side by side; an edit belongs to the one it was made in."""
    place.later()
    place.git("worktree", "add", "-q", "-b", "second", str(tmp_path / "second"))
    second = place.at(tmp_path / "second")
    write(second, text(status="done"))

    assert take(place) == ([], [])
    assert len(take(second)[0]) == 1
    assert (seen(place).status, seen(second).status) == ("open", "done")


def test_many_edits_are_taken_with_few_words(place: Place) -> None:
    """A script that edits a hundred files must not bury the answer."""
    for number in range(30):
        write(place, text(id=f"TSK-n{number:03}", title="Many"), f".holdfast/tasks/many-TSK-n{number:03}.md")

    found, notes = take(place)

    assert len(found) == 30
    assert len(notes) == hand_edits.MOST_NOTES + 1
    assert "10 more" in notes[-1]


def test_of_many_commands_at_once_one_takes_the_edit(place: Place) -> None:
    """Agents run commands side by side; an edit must not be told twice."""
    write(place, text(status="done"))
    clones = [place.open() for _ in range(6)]

    with ThreadPoolExecutor(6) as pool:
        found = [one for taken in pool.map(hand_edits.take, clones) for one in taken]

    assert [one.id for one in found] == ["TSK-abc123"]
    assert actions(place) == ["edit"]


class Full(Quick):
    """A disk with no room."""

    def write(self, fd: int, data: bytes | memoryview) -> int:  # noqa: ARG002
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_stops_nobody_who_only_reads(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The edit is in the file and is taken once there is room."""
    write(place, text(status="done"))
    clone = place.open()
    with monkeypatch.context() as patch:
        patch.setattr(fsio, "ops", Full())
        assert hand_edits.take(clone) == []

    assert any("not taken" in note for note in clone.notes)
    assert seen(place).status == "done"
    assert len(take(place)[0]) == 1
