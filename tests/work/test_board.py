"""Tasks on a real repository: added, changed, started, finished, on every branch as it was there."""

import errno
import os
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from holdfast.errors import BadInput, BrokenEntry, Claimed, Cycle, InConflict, NeedsEvidence, NotFound, NotStored
from holdfast.git.clone import Clone
from holdfast.model.task import Task
from holdfast.store import fsio
from holdfast.work import canonical_links, task_board, task_claims, task_lifecycle
from holdfast.work.task_lifecycle import TaskWorker
from tests.conftest import Quick
from tests.git.place import Place

ANN = TaskWorker("ann")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place.make(tmp_path / "project")


def commit(place: Place, name: str, message: str = "work") -> str:
    (place.repo.path / name).write_text(f"{name} {message}\n", encoding="utf-8")
    place.git("add", name)
    place.git("commit", "-q", "-m", message)
    return place.git("rev-parse", "HEAD").strip()


def add(place: Place, title: str, **fields: object) -> Task:
    return task_lifecycle.add(place.open(), title=title, **fields)


def titles(clone: Clone) -> dict[str, str]:
    return {task.title: task.status for task in task_board.read(clone).tasks}


def test_a_task_is_here_before_and_after_it_is_published(place: Place) -> None:
    """A plan that is only there once it is committed is lost with the session that made it."""
    task = add(place, "Parse the header", priority=1, layer="L2", acceptance=["all fixtures pass"])
    assert task_board.read(place.open()).placed[task.id].origin == "pending"

    place.publish()

    placed = task_board.read(place.open()).placed[task.id]
    assert (placed.origin, placed.task) == ("tree", task)
    assert place.git("status", "--porcelain") == ""


def test_a_task_of_one_branch_is_not_on_another(place: Place) -> None:
    """An agent on main must not work on what only a branch plans."""
    commit(place, "a")
    place.later()
    place.git("switch", "-q", "-c", "feature")
    task = add(place, "Only here")
    place.git("switch", "-q", "main")

    assert titles(place.open()) == {}
    assert task_board.branches_with(place.open(), task.id) == ["feature"]


def test_a_need_may_live_on_another_branch_only(place: Place) -> None:
    """Plans on two branches depend on each other long before they are merged."""
    commit(place, "a")
    place.later()
    place.git("switch", "-q", "-c", "feature")
    other = add(place, "There")
    place.publish()
    place.git("switch", "-q", "main")

    here = add(place, "Here", needs=[other.id])

    assert "not on this branch" in task_board.read(place.open()).graph.standing(here.id)[0]


def test_a_need_that_nobody_knows_is_refused(place: Place) -> None:
    """A misspelt id would hold a task back for ever."""
    with pytest.raises(NotFound, match="TSK-nowhere"):
        add(place, "Waits", needs=["TSK-nowhere"])


def test_a_cycle_is_refused_and_shown(place: Place) -> None:
    """Tasks that wait for one another are never ready, and nobody would know why."""
    first = add(place, "First")
    second = add(place, "Second", needs=[first.id])
    third = add(place, "Third", needs=[second.id])

    with pytest.raises(Cycle) as caught:
        task_lifecycle.link(place.open(), first.id, needs=[third.id])

    assert all(task.id in str(caught.value) for task in (first, second, third))
    assert task_board.read(place.open()).placed[first.id].task.needs == ()


def test_started_is_claimed_in_every_work_tree(place: Place, tmp_path: Path) -> None:
    """Two agents in two work trees would do the same work twice."""
    task = add(place, "Once only")
    place.publish()
    place.git("worktree", "add", "-q", str(tmp_path / "other"), "-b", "other")
    task_lifecycle.start(place.open(), task.id, ANN)

    with pytest.raises(Claimed, match="ann"):
        task_lifecycle.start(place.at(tmp_path / "other").open(), task.id, TaskWorker("bob"))


def test_a_claim_that_ran_out_is_free_again(place: Place) -> None:
    """An agent that was killed must not hold its task for ever."""
    task = add(place, "Left behind")
    task_lifecycle.start(place.open(), task.id, ANN, lasting=timedelta(seconds=1))
    place.later()

    assert task_lifecycle.start(place.open(), task.id, TaskWorker("bob")).owner == "bob"


def test_each_claim_gives_another_task(place: Place) -> None:
    """Agents under one name would all begin with the same task."""
    made = {add(place, f"Number {n}").id for n in range(3)}

    taken = [task_lifecycle.claim_next(place.open(), ANN) for _ in range(4)]

    assert {task.id for task in taken[:3] if task} == made
    assert taken[3] is None


def test_done_finds_the_commits_since_the_start(place: Place) -> None:
    """Evidence nobody has to look up is evidence that gets cited."""
    commit(place, "before")
    task = add(place, "Build it")
    task_lifecycle.start(place.open(), task.id, ANN)
    made = [commit(place, "one"), commit(place, "two")]

    ended = task_lifecycle.done(place.open(), task.id)

    assert ended.found == tuple(f"commit:{oid}" for oid in made)
    assert task_board.read(place.open()).placed[task.id].task.status == "done"
    assert task_claims.live(place.open().layout, place.open().now()) == {}


def test_done_does_not_take_the_commits_of_another_task(place: Place) -> None:
    """Two tasks at once in one work tree: a commit is cited only where it is known to belong."""
    commit(place, "before")
    one, two = add(place, "One"), add(place, "Two")
    task_lifecycle.start(place.open(), one.id, ANN)
    task_lifecycle.start(place.open(), two.id, ANN)
    commit(place, "x", "nothing said")
    named = commit(place, "y", f"for {two.id}")

    assert task_lifecycle.done(place.open(), two.id).found == (f"commit:{named}",)
    with pytest.raises(NeedsEvidence):
        task_lifecycle.done(place.open(), one.id)


def by_eve(place: Place, name: str) -> str:
    (place.repo.path / name).write_text("eve\n", encoding="utf-8")
    place.git("add", name)
    place.git("-c", "user.name=Eve", "-c", "user.email=eve@example.com", "commit", "-q", "-m", f"eve's {name}")
    return place.git("rev-parse", "HEAD").strip()


@pytest.mark.parametrize("how", ["rebase", "merge", "merged-into-main", "no-reflog", "by-ann"])
def test_done_never_cites_what_others_did_on_the_trunk(place: Place, how: str) -> None:
    """A commit of Eve's cited as Ann's evidence is a lie that everybody believes."""
    commit(place, "before")
    place.git("switch", "-q", "-c", "ev")
    task = add(place, "Ev", id="eve")
    task_lifecycle.start(place.open(), task.id, ANN)
    commit(place, "mine")
    place.git("switch", "-q", "main")
    theirs = [commit(place, "eve-1") if how == "by-ann" else by_eve(place, "eve-1"), by_eve(place, "eve-2")]
    place.git("switch", "-q", "ev")
    if how == "merge":
        place.git("merge", "-q", "--no-edit", "main")
    else:
        place.git("rebase", "-q", "main")
    mine = place.git("log", "-1", "--format=%H", "--", "mine").strip()
    if how == "merged-into-main":
        place.publish()
        place.git("switch", "-q", "main")
        place.git("merge", "-q", "ev")
    if how == "no-reflog":
        place.git("reflog", "expire", "--expire=now", "--all")

    ended = task_lifecycle.done(place.open(), task.id)

    assert ended.found == (f"commit:{mine}",)
    assert not set(theirs) & {text.removeprefix("commit:") for text in ended.task.evidence}


def test_done_does_not_cite_what_was_pulled(place: Place, tmp_path: Path) -> None:
    """Who works on the trunk itself gets others' commits with every pull."""
    commit(place, "before")
    place.git("clone", "-q", "--bare", ".", str(tmp_path / "hub.git"))
    place.git("remote", "add", "origin", str(tmp_path / "hub.git"))
    place.git("clone", "-q", str(tmp_path / "hub.git"), str(tmp_path / "eve"))
    task = add(place, "Build it")
    task_lifecycle.start(place.open(), task.id, ANN)
    commit(place, "mine")
    eve = place.at(tmp_path / "eve")
    by_eve(eve, "theirs")
    eve.git("push", "-q", "origin", "main")
    place.git("pull", "-q", "--rebase", "origin", "main")
    place.git("push", "-q", "origin", "main")

    mine = place.git("rev-parse", "HEAD").strip()

    assert task_lifecycle.done(place.open(), task.id).found == (f"commit:{mine}",)


def test_work_that_moved_to_a_branch_of_its_own_is_found_there(place: Place) -> None:
    """People start a task and think of the branch afterwards; what the old one gets then is not theirs."""
    task = add(place, "Build it")
    place.publish()
    task_lifecycle.start(place.open(), task.id, ANN)
    place.git("switch", "-q", "-c", "w")
    commit(place, "one")
    place.git("switch", "-q", "main")
    eve = by_eve(place, "theirs")
    place.git("switch", "-q", "w")
    place.git("rebase", "-q", "main")
    task_claims.add_commit(place.open().layout, task.id, eve)  # as git's hook would: it was made where it is claimed
    mine = place.git("rev-parse", "HEAD").strip()

    assert task_lifecycle.done(place.open(), task.id).found == (f"commit:{mine}",)


def test_a_commit_is_cited_by_the_name_it_has_after_the_start_was_rewritten(place: Place) -> None:
    """Rewriting what came before the task must not bring that in, nor lose what came after."""
    commit(place, "root")
    place.git("switch", "-q", "-c", "ev")
    commit(place, "before")
    task = add(place, "Ev")
    task_lifecycle.start(place.open(), task.id, ANN)
    commit(place, "mine")
    place.git("switch", "-q", "main")
    by_eve(place, "theirs")
    place.git("switch", "-q", "ev")
    place.git("rebase", "-q", "main")
    mine = place.git("rev-parse", "HEAD").strip()

    assert task_lifecycle.done(place.open(), task.id).found == (f"commit:{mine}",)


def test_our_own_publish_is_no_evidence(place: Place) -> None:
    """A commit of the plan does not show that the work is done."""
    commit(place, "before")
    task = add(place, "Build it")
    task_lifecycle.start(place.open(), task.id, ANN)
    place.publish()

    with pytest.raises(NeedsEvidence):
        task_lifecycle.done(place.open(), task.id)
    assert task_lifecycle.done(place.open(), task.id, without=True).task.evidence == ()


def test_a_finished_milestone_knows_where_it_was_reached(place: Place) -> None:
    """After a rebase the commit alone would not be found again."""
    head = commit(place, "a")
    task = add(place, "First release", kind="milestone")

    reached = task_lifecycle.done(place.open(), task.id).task.checkpoint

    assert reached is not None
    assert (reached.commit, reached.tree) == (head, place.git("rev-parse", "HEAD^{tree}").strip())
    assert reached.patch_id
    kinds = [event.kind for event in place.open().events()]
    assert kinds.count("checkpoint") == 1


def test_every_update_stores_commit_and_branch(place: Place) -> None:
    """Whoever asks later must learn where in history a plan changed."""
    head = commit(place, "a")
    task = add(place, "Anchored")
    task_lifecycle.stop(place.open(), task.id, "blocked", reason="no keys yet")

    told = [place.open().joined(event) for event in place.open().events() if event.target == task.id]

    assert [(row["action"], row["head"], row["branch"]) for row in told] == [
        ("add", head, "main"),
        ("block", head, "main"),
    ]


def test_what_clashes_with_the_branch_must_be_resolved_first(place: Place) -> None:
    """An edit on top of a clash would bury one side of it."""
    task = add(place, "Both ways")
    place.publish()
    path = task_board.read(place.open()).placed[task.id].path
    task_lifecycle.edit(place.open(), task.id, title="Our way")
    file = place.repo.path / path
    file.write_text(file.read_text("utf-8").replace("Both ways", "Their way"), encoding="utf-8")
    place.git("commit", "-qam", "theirs")

    with pytest.raises(InConflict):
        task_lifecycle.edit(place.open(), task.id, priority=0)


def test_a_file_that_cannot_be_read_is_named_and_stops_nothing(place: Place) -> None:
    """One broken file must not hide the whole plan."""
    task = add(place, "Well")
    place.publish()
    (place.repo.path / ".holdfast/tasks/bad-TSK-bad.md").write_text("---\nid: TSK-bad\n", encoding="utf-8")

    found = task_board.read(place.open())

    assert set(found.placed) == {task.id}
    assert "bad-TSK-bad.md:1" in found.broken[0].reason
    with pytest.raises(BrokenEntry, match="TSK-bad cannot be read"):
        found.find("TSK-bad")


def test_ids_that_differ_in_case_only_are_refused(place: Place) -> None:
    """On a file system that ignores case one file would overwrite the other."""
    add(place, "Given", id="T-One")
    with pytest.raises(BadInput):
        add(place, "Given again", id="t-one")


def test_an_id_that_another_branch_has_is_refused(place: Place) -> None:
    """After the merge there would be two files of one id, and one of them would be left out."""
    place.git("switch", "-q", "-c", "feature")
    add(place, "Theirs", id="X-1")
    place.git("switch", "-q", "main")
    with pytest.raises(BadInput, match="X-1 on feature"):
        add(place, "Mine", id="X-1")


def test_two_files_of_one_id_are_both_named(place: Place) -> None:
    """A clean merge may bring them, and nobody may wonder which of both they see."""
    for name in ("one", "two"):
        path = place.repo.path / f".holdfast/tasks/{name}-X-1.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"---\nid: X-1\ntitle: {name}\n---\n", encoding="utf-8")
    place.git("add", ".holdfast")
    place.git("commit", "-qm", "merged")

    found = task_board.read(place.open())

    [left] = found.broken
    assert found.placed["X-1"].path == ".holdfast/tasks/one-X-1.md"
    assert left.path == ".holdfast/tasks/two-X-1.md"
    assert all(f".holdfast/tasks/{name}-X-1.md" in left.reason for name in ("one", "two"))
    assert "git rm" in left.reason


def test_goals_and_epics_are_nobodys_next_task(place: Place) -> None:
    """An agent that is handed a goal cannot finish it."""
    for kind in ("goal", "milestone", "epic"):
        add(place, f"A {kind}", kind=kind, priority=0)
    assert task_lifecycle.claim_next(place.open(), ANN) is None
    task = add(place, "Work", priority=4)
    assert task_lifecycle.claim_next(place.open(), ANN) == task


def test_a_milestone_that_is_opened_again_was_not_reached(place: Place) -> None:
    """Who reads where it was reached would build on something that is not there."""
    one = add(place, "Beta", kind="milestone")
    ways: list[Callable[[Clone], Task]] = [
        lambda clone: task_lifecycle.stop(clone, one.id, "open"),
        lambda clone: task_lifecycle.edit(clone, one.id, status="open"),
    ]
    for again in ways:
        assert task_lifecycle.done(place.open(), one.id).task.checkpoint is not None
        assert again(place.open()).checkpoint is None


def test_the_owner_who_was_named_stays_the_owner(place: Place) -> None:
    """Who answers for a task is not who happens to work on it today."""
    named, free = add(place, "Named", owner="olga"), add(place, "Free")
    for task in (named, free):
        task_lifecycle.start(place.open(), task.id, ANN)
        claim = task_claims.find(place.open().layout, task.id)
        assert claim is not None and claim.owner == "ann"
    assert {t.title: t.owner for t in task_board.read(place.open()).tasks} == {"Named": "olga", "Free": "ann"}

    assert task_lifecycle.release(place.open(), named.id).owner == "olga"
    assert task_lifecycle.release(place.open(), free.id).owner is None
    task_lifecycle.start(place.open(), free.id, TaskWorker("bob"))
    assert task_lifecycle.stop(place.open(), free.id, "open").owner is None
    task_lifecycle.start(place.open(), free.id, ANN)
    task_lifecycle.edit(place.open(), free.id, owner="olga")
    task_lifecycle.edit(place.open(), free.id, title="Freed")
    assert task_lifecycle.start(place.open(), free.id, ANN).owner == "olga"


def test_what_comes_before_its_time_is_said_and_done(place: Place) -> None:
    """People know better than the plan, but the plan should be known to them."""
    first = add(place, "First")
    task = add(place, "Second", needs=[first.id])
    epic = add(place, "All", kind="epic")
    part = add(place, "Part", parent=epic.id)
    notes = []
    steps: list[Callable[[Clone], object]] = []
    for name in (task.id, epic.id, first.id):
        steps += [
            partial(task_lifecycle.start, name=name, who=ANN),
            partial(task_lifecycle.done, name=name, without=True),
        ]
    for step in steps:
        clone = place.open()
        step(clone)
        notes.append([note for note in clone.notes if "before its time" in note])

    assert notes[0] == [f"{task.id} is started before its time: needs {first.id} (open)"]
    assert notes[1] == [f"{task.id} is finished before its time: needs {first.id} (open)"]
    assert notes[3] == [f"{epic.id} is finished before its time: has 1 open part"]
    assert notes[2] == notes[4] == notes[5] == []
    assert part.id in task_board.read(place.open()).placed


def test_a_secret_in_a_title_never_reaches_the_disk(place: Place) -> None:
    """A key in a tracked file cannot be taken back."""
    key = "AKIA" + "IOSFODNN7EXAMPLE"[:16]
    task = add(place, f"Rotate {key}", notes=f"old: {key}")
    assert key not in task.title and key not in task.notes
    assert not any(key.encode() in path.read_bytes() for path in place.store.rglob("*") if path.is_file())


def test_links_are_kept_once_and_dead_ones_are_marked(place: Place) -> None:
    """A canonical link that leads nowhere misleads everybody who trusts it."""
    head = commit(place, "guide.md")
    clone = place.open()
    canonical_links.add(clone, "guide.md", title="The guide")
    canonical_links.add(clone, head, title="Where it began")
    canonical_links.add(clone, "https://example.org/spec", title="The specification")
    with pytest.raises(BadInput, match="already"):
        canonical_links.add(place.open(), "guide.md")
    assert [item.dead for item in canonical_links.listed(place.open())] == [None, None, None]

    place.git("rm", "-q", "guide.md")
    place.git("commit", "-qm", "gone")

    assert [item.link.title for item in canonical_links.listed(place.open()) if item.dead] == ["The guide"]


class FullForBodies(Quick):
    """A disk that has room for everything but what an event says."""

    def open(self, path: str, flags: int, mode: int) -> int:
        if "/bodies/" in path and flags & os.O_CREAT:
            raise OSError(errno.ENOSPC, "no space left", path)
        return super().open(path, flags, mode)


def test_a_task_whose_event_cannot_be_stored_is_not_there(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error says that nothing was stored; whoever runs the command again must not get it twice."""
    task = add(place, "Before")
    monkeypatch.setattr(fsio, "ops", FullForBodies())

    with pytest.raises(NotStored):
        add(place, "Half-stored")
    with pytest.raises(NotStored):
        task_lifecycle.stop(place.open(), task.id, "dropped")

    assert titles(place.open()) == {"Before": "open"}


def test_a_claim_of_another_work_tree_outlives_a_done_elsewhere(place: Place, tmp_path: Path) -> None:
    """Done on one branch is not done on another; whoever works there must not lose the task."""
    task = add(place, "On two branches")
    place.publish()
    place.git("worktree", "add", "-q", str(tmp_path / "other"), "-b", "other")
    task_lifecycle.start(place.open(), task.id, ANN)

    task_lifecycle.done(place.at(tmp_path / "other").open(), task.id, without=True)

    assert task_claims.live(place.open().layout, place.open().now())[task.id].owner == "ann"


def test_a_secret_typed_into_a_file_is_shown_to_nobody(place: Place) -> None:
    """An edit that is refused for its secret must not reach an agent by another way."""
    task = add(place, "Deploy")
    place.publish()
    placed = task_board.read(place.open()).placed[task.id]
    key = "ghp_" + "h0ldfastExampleTokenNotReal123456789"[:36]
    file = place.repo.path / placed.path
    file.write_text(file.read_text("utf-8").replace("title: Deploy", f'title: "Deploy with {key}"'), "utf-8")

    found = task_board.read(place.open())

    assert found.placed == {} and "secret" in found.broken[0].reason
