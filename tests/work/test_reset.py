"""Reset takes caches away, and gives them back exactly as they were."""

import os
import random
from pathlib import Path

import pytest

from holdfast.errors import BadInput, NotFound, PublishRefused
from holdfast.git.clone import Clone
from holdfast.model.session import Session, SessionAnchor
from holdfast.model.task import Link, Task
from holdfast.store import fsio, layout, session_files, task_files, trash
from holdfast.work import cleanup, task_board, task_claims
from holdfast.work.cleanup import ResetResult, UndoneReset
from holdfast.work.task_claims import TaskClaim
from tests.conftest import Quick
from tests.git.place import Place

OID = "3b18e512dba79e4c8300dd08aeb37f8e728b8dad"
TS = "2026-11-15T10:00:00.000000Z"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place.make(tmp_path / "repo")


def path_of(name: str) -> str:
    return layout.node_path(layout.TASKS, f"do-{name}", f"TSK-{name}")


def add(place: Place, name: str, **fields: object) -> str:
    """Let a task wait on the current line; gives its path."""
    task = Task(**{"id": f"TSK-{name}", "title": f"Do {name}", **fields})  # type: ignore[arg-type]
    place.open().change(path_of(name), task_files.render(task))
    return path_of(name)


def add_link(place: Place, name: str) -> None:
    link = Link(id=f"LNK-{name}", title="The plan", target="README", kind="path")
    path = layout.node_path(layout.LINKS, "the-plan", link.id)
    place.open().change(path, task_files.render(link))


def session(name: str, **fields: object) -> Session:
    anchor = SessionAnchor(TS, OID, "main")
    values = {"id": f"SES-{name}", "objective": "work", "line": "abc", "worktree": "."}
    return Session(**{**values, "started": anchor, "updated": anchor, **fields})  # type: ignore[arg-type]


def claim(task: str, **fields: object) -> TaskClaim:
    values = {"owner": "ada", "session": None, "line": "abc", "branch": "main", "worktree": ".", "head": OID}
    until = "2026-11-15T12:00:00.000000Z"
    return TaskClaim(**{**values, "task": task, "ts": TS, "until": until, **fields})  # type: ignore[arg-type]


def seen(clone: Clone) -> dict[str, tuple[str, str, str | None]]:
    """Every task and link visible here: its text, where that comes from, and what it clashes with."""
    found = [*clone.entries(layout.TASKS), *clone.entries(layout.LINKS)]
    return {s.path: (s.text, s.origin, s.clash) for s in found}


def texts(place: Place) -> dict[str, str]:
    """The texts alone."""
    return {path: text for path, (text, _, _) in seen(place.open()).items()}


def store_files(place: Place, *folders: str) -> dict[str, bytes]:
    """The records in some folders of the store, by name."""
    found = {}
    for folder in folders:
        for path in sorted((place.store / folder).rglob("*")):
            if path.is_file() and path.suffix != ".lock":
                found[str(path.relative_to(place.store))] = path.read_bytes()
    return found


def full(place: Place) -> None:
    """A place with something of everything."""
    add(place, "a")
    add(place, "b", needs=("TSK-a",))
    add_link(place, "x")
    place.publish(here=True)
    place.later()
    add(place, "b", needs=("TSK-a",), status="started")
    add(place, "c")
    session_files.save(place.open().layout, session("one"))
    session_files.save(place.open().layout, session("two"))
    task_claims.take(place.open().layout, claim("TSK-b"), now=TS)


def test_sessions_go_and_come_back_byte_for_byte(place: Place) -> None:
    """Who resets by mistake must lose nothing."""
    full(place)
    before = store_files(place, "sessions", "claims")

    done = cleanup.reset(place.open(), "sessions")

    assert done == ResetResult(done.id, "sessions", sessions=2, claims=1, tasks=0, links=0, more=0)
    assert session_files.all(place.open().layout) == []
    assert task_claims.find(place.open().layout, "TSK-b") is None
    assert len(task_board.read(place.open()).placed) == 3, "tasks are not touched"
    undone = cleanup.undo(place.open())
    assert undone == UndoneReset(done.id, "sessions", sessions=2, claims=1, tasks=0, links=0, more=0, left=())
    assert store_files(place, "sessions", "claims") == before
    assert list((place.store / "trash").iterdir()) == []


def test_tasks_go_from_the_board_and_come_back_as_they_were(place: Place) -> None:
    """A pending text, a published one and a hand edit each come back as what they were."""
    full(place)
    (place.repo / path_of("a")).write_text(task_files.render(Task(id="TSK-a", title="By hand")))
    before, waits = seen(place.open()), place.waits()

    done = cleanup.reset(place.open(), "tasks")

    assert done == ResetResult(done.id, "tasks", sessions=0, claims=1, tasks=3, links=1, more=0)
    assert seen(place.open()) == {}
    assert seen(Clone(place.open().repo, place.open().private, reading=True)) == {}
    undone = cleanup.undo(place.open())
    assert undone == UndoneReset(done.id, "tasks", sessions=0, claims=1, tasks=3, links=1, more=0, left=())
    assert seen(place.open()) == before
    assert place.waits() == waits


def test_a_reset_that_was_published_can_still_be_taken_back(place: Place) -> None:
    """The way back must not end with the next publish."""
    full(place)
    before = texts(place)
    cleanup.reset(place.open(), "tasks")
    place.publish(here=True)
    assert place.git("ls-files", layout.TASKS, layout.LINKS) == ""

    cleanup.undo(place.open())

    assert texts(place) == before
    place.publish(here=True)
    assert {p: (place.repo / p).read_text() for p in before} == before


def test_a_clash_is_a_clash_again_afterwards(place: Place) -> None:
    """Neither side may win because somebody reset and thought better of it."""
    add(place, "a")
    place.publish(here=True)
    place.later()
    add(place, "a", status="started")
    (place.repo / path_of("a")).write_text(task_files.render(Task(id="TSK-a", title="Do a", status="blocked")))
    place.git("commit", "-qam", "by hand")
    before = seen(place.open())
    assert before[path_of("a")][2] is not None

    cleanup.reset(place.open(), "tasks")
    assert seen(place.open()) == {}
    cleanup.undo(place.open())

    assert seen(place.open()) == before


def test_what_a_branch_inherited_comes_back_to_that_branch(place: Place) -> None:
    """A new branch takes pending tasks along; a reset there is that branch's own business."""
    full(place)
    everything = seen(place.open())
    place.later()
    place.git("switch", "-qc", "side")

    cleanup.reset(place.open(), "tasks")

    assert seen(place.open()) == {}
    place.git("switch", "-q", "main")
    assert seen(place.open()) == everything
    with pytest.raises(BadInput, match="took tasks off side"):
        cleanup.undo(place.open())
    place.git("switch", "-q", "side")
    cleanup.undo(place.open())
    assert texts(place) == {path: text for path, (text, _, _) in everything.items()}


def test_of_two_texts_that_wait_the_last_comes_back(place: Place) -> None:
    """A branch inherited one and wrote its own."""
    path = add(place, "a")
    place.publish(here=True)
    place.later()
    add(place, "a", status="started")
    place.git("switch", "-qc", "side")
    add(place, "a", status="blocked")
    before = texts(place)
    cleanup.reset(place.open(), "tasks")
    assert cleanup.undo(place.open()).tasks == 1
    assert texts(place) == before and "blocked" in before[path]


def test_all_takes_the_rest_too_and_nothing_of_the_memory(place: Place) -> None:
    """A reset of caches must never reach what was decided or what happened."""
    full(place)
    place.keep("one")
    place.ran("20261115T194200Z-abc123")
    (place.store / "statistics").write_text("1 context.branch\n")
    (place.store / "kept").mkdir()
    (place.store / "kept" / "note.md").write_text("refused")
    (place.repo / ".holdfast/view").mkdir(exist_ok=True)
    (place.repo / ".holdfast/view/state.json").write_text("{}")
    (place.repo / ".holdfast/view/journal").mkdir()
    (place.repo / ".holdfast/view/journal/today.md").write_text("today\n")
    (place.repo / ".holdfast/view/.gitignore").write_text("*\n")
    safe = store_files(place, "runs", "candidates")
    runs, facts = place.runs(), place.facts()

    done = cleanup.reset(place.open(), "all")

    assert done == ResetResult(done.id, "all", sessions=2, claims=1, tasks=3, links=1, more=4)
    assert [name for _, _, names in os.walk(place.repo / ".holdfast/view") for name in names] == [".gitignore"]
    assert not (place.store / "statistics").exists()
    assert not (place.store / "kept" / "note.md").exists()
    assert not (place.repo / ".holdfast/view/state.json").exists()
    assert (place.runs() - {""}, place.facts()) == (runs, facts)
    assert store_files(place, "runs", "candidates") == safe
    assert place.verdict() == "ok"
    assert cleanup.undo(place.open()).more == 2
    assert (place.store / "kept" / "note.md").read_text() == "refused"


def test_every_task_has_its_event(place: Place) -> None:
    """Who looks a task up later must find why it went and came back."""
    full(place)
    cleanup.reset(place.open(), "tasks")
    cleanup.undo(place.open())

    clone = place.open()
    told = [clone.joined(event) for event in clone.events() if event.kind == "task"]
    about = [(row["action"], row["reason"]) for row in told if row["target"] == "TSK-a"]
    assert about == [("reset", None), ("reset", "taken back")]


def test_what_took_its_place_meanwhile_is_not_overwritten(place: Place) -> None:
    """The newer work counts; the older one stays in the trash and is named."""
    full(place)
    cleanup.reset(place.open(), "all")
    add(place, "a", title="Another beginning")
    task_claims.take(place.open().layout, claim("TSK-b", owner="bob"), now=TS)

    undone = cleanup.undo(place.open())

    assert len(undone.left) == 2
    assert task_board.read(place.open()).placed["TSK-a"].task.title == "Another beginning"
    held = task_claims.find(place.open().layout, "TSK-b")
    assert held is not None and held.owner == "bob"
    assert len(task_board.read(place.open()).placed) == 3


def test_with_nothing_to_take_back_it_says_so(place: Place) -> None:
    """Silence would look like success."""
    with pytest.raises(NotFound, match="no reset"):
        cleanup.undo(place.open())
    with pytest.raises(BadInput, match="cannot be reset"):
        cleanup.reset(place.open(), "memory")


def test_a_reset_in_a_hook_of_publish_is_refused(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would wait for a publish that waits for it."""
    monkeypatch.setenv("HOLDFAST_PUBLISHING", str((place.repo / ".git").resolve()))
    with pytest.raises(PublishRefused):
        cleanup.reset(place.open(), "all")


class Dies(Quick):
    """Ends the process like a power cut at one of the calls that change the disk."""

    def __init__(self, after: int) -> None:
        self.left = after

    def _tick(self) -> None:
        self.left -= 1
        if self.left < 0:
            os._exit(9)

    def rename(self, source: str, target: str) -> None:
        self._tick()
        super().rename(source, target)

    def unlink(self, path: str) -> None:
        self._tick()
        super().unlink(path)

    def mkdir(self, path: str, mode: int) -> None:
        self._tick()
        super().mkdir(path, mode)


def die_in(place: Place, after: int, action: str) -> bool:
    """Run an action in a process of its own that is killed at the given call; False if it got through."""
    pid = os.fork()
    if pid == 0:
        try:
            fsio.ops = Dies(after)
            clone = place.open()
            cleanup.undo(clone) if action == "undo" else cleanup.reset(clone, action)
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 9


def kill_and_go_on(place: Place, chance: random.Random, *, rounds: int) -> None:
    """Kill a reset or an undo at a random call, again and again; each time all must come back."""
    full(place)
    everything, records = seen(place.open()), store_files(place, "sessions", "claims")
    for _ in range(rounds):
        if chance.random() < 0.5:
            cleanup.reset(place.open(), "all")
            die_in(place, chance.randrange(80), "undo")
        else:
            die_in(place, chance.randrange(80), "all")
            cleanup.reset(place.open(), "all")
            assert seen(place.open()) == {} and session_files.all(place.open().layout) == []
        store = place.open().layout
        while any(trash.holds_something(store, one) for one in trash.every(store)):
            cleanup.undo(place.open())
        assert seen(place.open()) == everything
        assert store_files(place, "sessions", "claims") == records
        assert list(trash.damaged(store)) == []


def test_killed_anywhere_nothing_is_lost_and_the_next_one_goes_on(place: Place, seed: int) -> None:
    """A laptop that dies in the middle must not cost a session or a task."""
    kill_and_go_on(place, random.Random(seed), rounds=4)


@pytest.mark.torture
def test_killed_a_hundred_times_nothing_is_lost(place: Place, seed: int) -> None:
    """The same, often enough to meet every single call."""
    kill_and_go_on(place, random.Random(seed), rounds=100)


def test_a_damaged_trash_costs_only_itself(place: Place) -> None:
    """One bad file must not block the way back for the rest."""
    full(place)
    cleanup.reset(place.open(), "sessions")
    cleanup.reset(place.open(), "tasks")
    newest = place.store / "trash" / trash.every(place.open().layout)[-1].name
    (newest / "reset.json").write_text("{")

    assert [path for path, _ in trash.damaged(place.open().layout)] == [str(newest)]
    assert cleanup.undo(place.open()).sessions == 2


def test_a_task_that_was_erased_does_not_come_back(place: Place) -> None:
    """An erase wins over every way back."""
    full(place)
    cleanup.reset(place.open(), "tasks")
    trash.forget(place.open().layout, "TSK-c")

    cleanup.undo(place.open())

    assert "TSK-c" not in task_board.read(place.open()).placed


def test_what_is_erased_or_back_already_is_not_called_left(place: Place) -> None:
    """Whoever reads what could not come back looks for each of them."""
    full(place)
    before = texts(place)
    cleanup.reset(place.open(), "tasks")
    add(place, "c")
    Path(place.open().layout.erased).mkdir(exist_ok=True)
    Path(place.open().layout.erased, "TSK-b").touch()

    undone = cleanup.undo(place.open())

    assert (undone.tasks, undone.links, undone.left) == (1, 1, ())
    assert texts(place) == {path: text for path, text in before.items() if path != path_of("b")}


def test_a_task_that_moved_to_another_file_is_named_and_left(place: Place) -> None:
    """One task in two files would be nobody's task."""
    add(place, "a")
    cleanup.reset(place.open(), "tasks")
    moved = layout.node_path(layout.TASKS, "elsewhere", "TSK-a")
    place.open().change(moved, task_files.render(Task(id="TSK-a", title="Do a")))
    assert cleanup.undo(place.open()).left == ("TSK-a, which says something else by now",)
    assert set(texts(place)) == {moved}


@pytest.mark.parametrize("edit", ["gone", "other", "crlf"])
def test_an_edit_that_was_reset_comes_back_however_the_file_is_now(place: Place, edit: str) -> None:
    """What lies in the work tree need not wait; what does not must."""
    path = add(place, "a")
    place.publish(here=True)
    text = task_files.render(Task(id="TSK-a", title="By hand"))
    (file := place.repo / path).write_text(text)
    cleanup.reset(place.open(), "tasks")
    if edit == "crlf":
        file.write_bytes(text.replace("\n", "\r\n").encode())
    elif edit == "gone":
        file.unlink()
    else:
        file.write_text(task_files.render(Task(id="TSK-a", title="Again by hand")))
    undone = cleanup.undo(place.open())
    assert undone.left == () and undone.tasks == 1
    assert place.waits() == (set() if edit == "crlf" else {path})
    assert texts(place) == {path: text}


def test_a_detached_reset_is_taken_back_there(place: Place) -> None:
    """It has no branch to be named by; if its line is gone, anywhere will do."""
    place.git("switch", "-q", "--detach")
    path = add(place, "a")
    cleanup.reset(place.open(), "tasks")
    place.git("branch", "-q", "side", "main")
    place.git("worktree", "add", "-q", str(place.repo.path.parent / "side"), "side")
    side = place.at(place.repo.path.parent / "side")
    with pytest.raises(BadInput, match="took tasks off a detached HEAD"):
        cleanup.undo(side.open())
    place.git("switch", "-q", "main")
    cleanup.undo(side.open())
    assert set(texts(side)) == {path}
