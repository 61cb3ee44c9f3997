"""Edits of project_state.json: taken if it showed what still stands, else refused with the text kept."""

import json
import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast.git import view_edits
from holdfast.git.clone import Clone
from holdfast.model.task import Link, Task
from holdfast.project import opening
from holdfast.recall import views
from holdfast.store import task_files
from holdfast.work import project_state, task_board, task_lifecycle
from holdfast.work.state_view_edits import ViewEditOutcome
from tests.git.place import Place, now


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A project with two tasks and a link, and its view."""
    made = Place.make(tmp_path / "repo")
    one = Task(id="TSK-one", title="Write it", layer="L5")
    two = Task(id="TSK-two", title="Read it", needs=("TSK-one",))
    link = Link(id="LNK-one", title="The readme", target="README", kind="path")
    made.open().change_all(
        {
            ".holdfast/tasks/a-write-it-TSK-one.md": task_files.render(one),
            ".holdfast/tasks/b-read-it-TSK-two.md": task_files.render(two),
            ".holdfast/links/the-readme-LNK-one.md": task_files.render(link),
        }
    )
    render(made)
    return made


def render(place: Place) -> bool:
    clone = place.open()
    return view_edits.put(
        clone, project_state.NAME, project_state.text(project_state.read(clone), clone), write=views.write
    )


def view(place: Place) -> Path:
    return place.repo / f".holdfast/view/{project_state.NAME}"


def edit(place: Place, change: Callable[[dict[str, Any]], object]) -> str:
    """Change the view as somebody would in an editor."""
    document = json.loads(view(place).read_text())
    change(document)
    text = json.dumps(document, ensure_ascii=False, indent=2)
    view(place).write_text(text)
    return text


def take(place: Place) -> tuple[ViewEditOutcome | None, list[str]]:
    clone = place.open()
    return opening.take_state(clone), clone.notes


def refusal(place: Place) -> ViewEditOutcome:
    """The next command refuses the edit, says so, keeps its text, and changes nothing."""
    waiting = [change.blob for change in place.open().changes()]
    text = view(place).read_text(errors="replace")
    found, notes = take(place)
    assert found is not None
    assert found.kept is not None
    assert "was not applied" in notes[0]
    assert found.kept in notes[0]
    assert Path(found.kept).read_text() == text
    assert [change.blob for change in place.open().changes()] == waiting
    assert take(place)[0] is None
    return found


def task(document: dict[str, Any], name: str) -> dict[str, Any]:
    return next(found for found in document["tasks"] if found["id"] == name)


def test_an_untouched_view_is_no_edit(place: Place) -> None:
    """What we rendered ourselves must never come back as somebody's wish."""
    assert take(place) == (None, [])
    task_lifecycle.edit(place.open(), "TSK-one", priority=0)
    assert take(place) == (None, [])
    render(place)
    assert take(place) == (None, [])


def test_an_unread_view_costs_a_look_at_its_time(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs at every command, and the view of a large project is large."""
    clone = Clone.open(str(place.repo.path), cache=place.cache, clock=lambda: now() + timedelta(minutes=1))
    opening.take_state(clone)
    monkeypatch.setattr(view_edits, "MAX_VIEW", 0)  # reading it would be refused now

    assert take(place) == (None, [])


def test_changed_fields_and_new_tasks_are_taken(place: Place) -> None:
    """People who see a value in a file change it there."""

    def change(document: dict[str, Any]) -> None:
        task(document, "TSK-one")["status"] = "done"
        task(document, "TSK-two")["needs"] = []
        document["tasks"].append({"title": "Print it", "needs": ["TSK-two"]})
        document["links"][0]["title"] = "Read me"

    edit(place, change)
    found, notes = take(place)

    assert found is not None
    assert found.refused is None
    assert notes[:2] == [
        "TSK-one edited in project_state.json: status open → done",
        "TSK-two edited in project_state.json: needs −TSK-one",
    ]
    here = {task.title: task for task in task_board.read(place.open()).tasks}
    assert here["Write it"].status == "done"
    assert here["Print it"].id.startswith("TSK-")
    assert task_board.links(place.open())[0]["LNK-one"][0].title == "Read me"
    assert take(place) == (None, [])
    assert render(place)
    clone = place.open()
    said = [(clone.bodies.get(e.body or "") or {}).get("action") for e in clone.events() if e.kind == "task"]
    assert said[-4:] == ["edit", "edit", "add", "edit"]


def test_a_stale_view_is_refused_and_its_text_kept(place: Place) -> None:
    """An old value would overwrite what was decided since."""
    task_lifecycle.edit(place.open(), "TSK-two", priority=0)
    edit(place, lambda document: task(document, "TSK-one").update(status="done"))

    assert "has changed since it was rendered" in (refusal(place).refused or "")
    assert render(place)
    assert task(json.loads(view(place).read_text()), "TSK-one")["status"] == "open"


def test_a_commit_elsewhere_makes_no_view_stale(place: Place) -> None:
    """Only tasks and links count; people commit all the time."""
    place.repo.commit("code.txt")
    edit(place, lambda document: task(document, "TSK-one").update(status="done"))

    found, _ = take(place)

    assert found is not None
    assert [one.id for one in found.taken] == ["TSK-one"]


def test_a_removed_task_is_not_deleted(place: Place) -> None:
    """Absence deletes nothing; a slip in an editor must not close a task."""
    edit(place, lambda document: document["tasks"].pop(0))

    assert "holdfast task drop" in (refusal(place).refused or "")


BAD: tuple[tuple[Callable[[dict[str, Any]], object], str], ...] = (
    (lambda d: d["backlog"].clear(), "backlog follows from the tasks"),
    (lambda d: d["graph"]["ready"].append("TSK-two"), "graph follows from the tasks"),
    (lambda d: d.update(colour="red"), "colour"),
    (lambda d: d.pop("tasks"), "lists of tasks and links"),
    (lambda d: task(d, "TSK-one").update(status="nowhere"), "status 'nowhere' is not one of"),
    (lambda d: task(d, "TSK-one").update(needs=["TSK-two"]), "TSK-one → TSK-two → TSK-one"),
    (lambda d: d["tasks"].append({"id": "TSK-ONE", "title": "Shout it"}), "only in case"),
    (lambda d: d["tasks"].append(task(d, "TSK-one")), "TSK-one is in it twice"),
)


def test_an_edit_that_cannot_be_is_refused_whole(place: Place) -> None:
    """Half of an edit is something nobody wrote."""
    for change, reason in BAD:

        def both(document: dict[str, Any], change: Callable[[dict[str, Any]], object] = change) -> None:
            task(document, "TSK-two")["priority"] = 0
            change(document)

        edit(place, both)
        assert reason in (refusal(place).refused or "")
        assert render(place)


def test_every_refused_text_is_kept_by_itself(place: Place) -> None:
    """A script may be refused twice within a second, and both texts are somebody's work."""
    render(place)
    moment = place.clock()
    place.clock = lambda: moment
    view(place).write_text("{ one")
    one = refusal(place).kept
    view(place).write_text("{ two")
    two = refusal(place).kept

    assert [Path(str(path)).read_text() for path in (one, two)] == ["{ one", "{ two"]


def test_a_secret_is_refused_and_not_kept(place: Place) -> None:
    """What is kept of a refused text lies in the store, where no secret may be."""
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0" * 2
    edit(place, lambda document: document["tasks"].append({"title": f"key {secret}"}))

    found, notes = take(place)

    assert found is not None
    assert found.kept is not None
    assert secret not in Path(found.kept).read_text()
    assert "looks like a secret" in notes[0]
    assert secret not in notes[0]


def test_a_torn_text_is_refused_with_its_line(place: Place) -> None:
    """A missing comma is found by its line, not by reading ten thousand."""
    lines = view(place).read_text().split("\n")
    lines[4] = lines[4].rstrip(",")
    view(place).write_text("\n".join(lines))

    assert "project_state.json:6 " in (refusal(place).refused or "")


def test_a_bad_field_is_refused_with_its_task(place: Place) -> None:
    """Of many tasks it is said which one."""
    edit(place, lambda document: task(document, "TSK-two").update(priority=9))

    assert "project_state.json, task 2: priority 9" in (refusal(place).refused or "")


def test_bytes_that_are_no_text_are_refused(place: Place) -> None:
    """Another encoding turns names into rubbish."""
    view(place).write_bytes(view(place).read_bytes().replace(b"Write it", b"Wr\xefte it", 1))

    found, notes = take(place)

    assert found is not None
    assert "not UTF-8" in notes[0]


def test_an_edit_nobody_has_looked_at_is_not_rendered_over(place: Place) -> None:
    """Between looking and rendering somebody may save."""
    text = edit(place, lambda document: task(document, "TSK-one").update(status="done"))

    assert not render(place)
    assert view(place).read_text() == text
    assert take(place)[0] is not None


def test_a_lost_record_costs_no_text(place: Place) -> None:
    """Without the record nobody can say whether an old view was edited: it is kept."""
    for name in os.listdir(place.store / "seen"):
        os.unlink(place.store / "seen" / name)
    assert take(place) == (ViewEditOutcome(), [])
    for name in os.listdir(place.store / "seen"):
        os.unlink(place.store / "seen" / name)
    task_lifecycle.edit(place.open(), "TSK-one", priority=0)

    assert refusal(place).kept


def test_each_work_tree_has_its_own_view(place: Place, tmp_path: Path) -> None:
    """A view shows one branch; an edit of it belongs there."""
    place.publish(here=True)
    place.git("worktree", "add", "-q", "-b", "second", str(tmp_path / "second"))
    second = place.at(tmp_path / "second")
    render(second)
    edit(second, lambda document: task(document, "TSK-one").update(status="done"))

    assert take(place) == (None, [])
    assert take(second)[0] is not None
    assert task_board.read(place.open()).placed["TSK-one"].task.status == "open"
    assert second.status() == ""
