"""What git moved and what of ours it concerns: sessions, claims, cited commits, waiting changes."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from holdfast.capture import cited_commits, git_notices, reconciliation, session_work
from holdfast.errors import Ambiguous, BadInput, NotFound
from holdfast.git import moves, reconcile, rewinds
from holdfast.git import reconcile as git_reconcile
from holdfast.git.clone import Clone
from holdfast.model.task import Task
from holdfast.store import fsio, session_files
from holdfast.values import replace
from holdfast.work import task_board as boards
from holdfast.work import task_claims, task_lifecycle
from holdfast.work.task_lifecycle import TaskWorker
from tests.git.place import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place.make(tmp_path / "repo")
    made.git("switch", "-q", "-c", "feat")
    return made


def command(place: Place) -> Clone:
    """What every command does first."""
    clone = place.open()
    git_notices.notice(clone)
    return clone


def report(place: Place) -> reconciliation.ReconcileOverview:
    clone = command(place)
    return reconciliation.examine(clone, moves.observe(clone))


def task(place: Place, title: str) -> Task:
    return next(one for one in boards.read(place.open()).tasks if one.title == title)


def test_nothing_is_said_where_nobody_keeps_sessions(place: Place) -> None:
    """Whoever only keeps memories hears nothing of their own commits."""
    command(place)
    place.repo.commit("a")
    place.git("commit", "-q", "--amend", "-m", "b")
    place.git("switch", "-q", "main")
    assert command(place).notes == []


def test_commits_go_to_the_open_session_and_are_no_news_after_an_answer(place: Place) -> None:
    """A line after each answer that asks for nothing is one that nobody reads; `reconcile` has them."""
    session_work.start(command(place), objective="Build")
    inside = place.repo.commit("a")
    clone = command(place)
    assert clone.notes == []
    assert session_files.opened(clone.layout)[0].commits == (inside,)
    session_work.end(clone, with_tasks=False)
    place.repo.commit("b")
    assert command(place).notes == []
    assert any("1 commit was made on feat" in move.sentence for move in report(place).moves)


def test_a_deleted_branch_is_said_where_it_left_something(place: Place) -> None:
    """Tidying a merged branch is everyday life; deleting one with a plan on it is not."""
    command(place)
    place.git("switch", "-q", "-c", "plan")
    task_lifecycle.add(command(place), title="Plan")
    place.git("switch", "-q", "main")
    command(place)
    place.git("branch", "-q", "-D", "feat")
    assert command(place).notes == []
    place.git("branch", "-q", "-D", "plan")
    notes = command(place).notes
    assert "the branch plan was deleted" in notes
    assert "plan left 1 event and 1 change waiting" in notes


def test_what_waits_on_a_detached_head_is_said_when_it_is_left(place: Place) -> None:
    """It cannot be published any other way."""
    command(place)
    place.git("switch", "-q", "--detach")
    task_lifecycle.add(command(place), title="Plan")
    place.git("switch", "-q", "main")
    assert "a detached HEAD left 1 event and 1 change waiting" in command(place).notes


def test_two_claims_in_one_work_tree_get_only_what_names_them(place: Place) -> None:
    """A commit must not become evidence for the wrong task."""
    one, two = (task_lifecycle.add(command(place), title=title) for title in ("One", "Two"))
    for made in (one, two):
        task_lifecycle.start(place.open(), made.id, TaskWorker("ada"))
    command(place)
    place.repo.commit("a")
    named = place.repo.commit("b", message=f"for {two.id}")
    clone = command(place)
    first, second = (task_claims.find(clone.layout, made.id) for made in (one, two))
    assert first is not None
    assert second is not None
    assert (first.commits, second.commits) == ((), (named,))


def test_the_answers_need_a_question(place: Place) -> None:
    """Fork, carry and drop with nothing left behind must say so, not invent something."""
    for answer in (reconciliation.fork, reconciliation.carry, reconciliation.drop):
        with pytest.raises(NotFound):
            answer(command(place))


def test_of_two_sessions_left_one_must_be_named(place: Place) -> None:
    """Nothing is guessed, not even when it seems likely."""
    first = session_work.start(command(place), objective="One")
    place.git("switch", "-q", "-c", "other")
    second = session_work.start(command(place), objective="Two")
    place.git("switch", "-q", "main")
    with pytest.raises(Ambiguous):
        reconciliation.carry(command(place))
    done = reconciliation.carry(place.open(), first.id)
    assert done.old is not None
    assert (done.old.id, done.old.state) == (first.id, "ended")
    assert [one.session.id for one in reconciliation.adrift(place.open())] == [second.id]
    with pytest.raises(NotFound):
        reconciliation.fork(place.open(), first.id)


def test_carrying_takes_items_approvals_and_claims_along(place: Place) -> None:
    """What was promised on the one branch is done on the other."""
    clone = command(place)
    work = task_lifecycle.add(clone, title="Work")
    old = session_work.start(clone, objective="Build", tasks=[work.id])
    session_work.note(clone, "x", open=["a"], follow_ups=["b"], approvals=["c"])
    task_lifecycle.start(clone, work.id, TaskWorker("ada", old.id))
    place.git("switch", "-q", "-c", "next")
    done = reconciliation.carry(command(place))
    new = done.new
    assert new is not None
    assert [i.text for i in (*new.still_open, *new.still_to_follow, *new.pending)] == ["a", "b", "c"]
    assert (new.objective, new.previous, new.tasks) == ("Build", old.id, (work.id,))
    claim = task_claims.find(place.open().layout, work.id)
    assert claim is not None
    assert (claim.session, claim.branch) == (new.id, "next")


def test_carrying_leaves_nothing_open_behind(place: Place) -> None:
    """An item that is open twice is done twice, and its session can never be tidied away."""
    clone = command(place)
    session_work.start(clone, objective="Build")
    session_work.note(clone, "x", open=["a"], follow_ups=["b"], approvals=["c"])
    place.git("switch", "-q", "-c", "next")
    done = reconciliation.carry(command(place))
    assert done.old is not None and done.new is not None
    old = session_files.find(place.open().layout, done.old.id)
    assert (old.still_open, old.still_to_follow, old.pending) == ((), (), ())
    assert dict(old.open[0].extra)["moved"] == done.new.id
    assert dict(old.extra)["moved"] == {"to": done.new.id, "asked": ["c"]}


def test_forked_and_carried_back_no_session_comes_before_itself(place: Place) -> None:
    """Whoever follows the links back to the beginning must get there."""
    first = session_work.start(command(place), objective="Build")
    session_work.note(command(place), "x", open=["a"])
    place.git("switch", "-q", "-c", "next")
    forked = reconciliation.fork(command(place)).new
    assert forked is not None
    place.git("switch", "-q", "feat")
    done = reconciliation.carry(command(place), forked.id)
    assert done.new is not None
    first, second = (session_files.find(place.open().layout, name) for name in (first.id, forked.id))
    assert done.new.id == first.id
    assert (first.previous, first.next, second.previous, second.next) == (None, (second.id,), first.id, ())
    assert [item.text for item in first.still_open] == ["a"]


def test_a_session_of_a_deleted_branch_cannot_stay_open_there(place: Place) -> None:
    """There is no there."""
    old = session_work.start(command(place), objective="Build")
    place.git("switch", "-q", "main")
    command(place)
    place.git("branch", "-q", "-D", "feat")
    [found] = report(place).sessions
    assert (found.left, found.gone, found.why) == (True, True, "its branch feat is gone")
    with pytest.raises(BadInput):
        reconciliation.fork(place.open())
    done = reconciliation.carry(place.open())
    assert done.old is not None
    assert done.old.id == old.id


def test_what_lasts_is_told_once(place: Place) -> None:
    """A list that never ends is not read any more, and then the one new line in it is missed."""
    one = session_work.start(command(place), objective="Build")
    lost = [place.repo.commit("a", "some text\n" * 4)]
    command(place)
    session_work.end(place.open(), with_tasks=False)
    place.git("reset", "-q", "--hard", "HEAD~1")
    first = report(place)
    assert [cite.old for cite in first.news().cited] == lost
    reconciliation.mark_shown(place.open(), first)
    again = report(place)
    assert (again.news().cited, [cite.old for cite in again.cited]) == ((), lost)
    assert session_files.find(place.open().layout, one.id).commits == tuple(lost)


def test_in_the_middle_of_a_rebase_nothing_is_gone(place: Place) -> None:
    """Half a history lacks what it will have again in a minute."""
    task_lifecycle.add(command(place), title="Plan")
    place.publish()
    place.repo.commit("b")
    place.git("-c", "sequence.editor=sed -i '1s/pick/edit/'", "rebase", "-q", "-i", "--root")
    found = report(place)
    assert (found.under_way, found.gone) == ("a rebase", ())
    place.git("rebase", "--abort")
    assert report(place).gone == ()


def test_what_rode_along_from_a_detached_head_was_not_left_behind(place: Place) -> None:
    """`git switch -c` is how one keeps what was done on a detached HEAD."""
    command(place)
    place.git("switch", "-q", "--detach")
    task_lifecycle.add(command(place), title="Plan")
    place.later()
    place.git("switch", "-q", "-c", "kept")
    clone = command(place)
    assert not any("left" in note for note in clone.notes)
    assert reconcile.orphans(clone) == []
    assert task(place, "Plan").title == "Plan"


def test_a_note_on_the_new_branch_does_not_take_the_choice_away(place: Place) -> None:
    """A linked session starts by itself; what becomes of the old one is still asked, and joins it."""
    old = session_work.start(command(place), objective="Build")
    session_work.note(command(place), "x", open=["a"])
    place.git("switch", "-q", "main")
    linked = session_work.note(command(place), "went on").session
    assert [one.session.id for one in reconciliation.adrift(place.open()) if one.left] == [old.id]
    done = reconciliation.fork(place.open())
    assert done.new is not None
    assert (done.new.id, [i.text for i in done.new.still_open]) == (linked.id, ["a"])
    assert reconciliation.adrift(place.open()) == []


def test_nothing_is_chosen_in_the_middle_of_a_rebase(place: Place) -> None:
    """An abort would take back what was decided by half a history."""
    place.repo.commit("a")
    session_work.start(command(place), objective="Build")
    place.git("-c", "sequence.editor=sed -i '1s/pick/edit/'", "rebase", "-q", "-i", "HEAD~1")
    assert report(place).under_way == "a rebase"
    for answer in (reconciliation.fork, reconciliation.carry, reconciliation.drop, reconciliation.apply):
        with pytest.raises(BadInput):
            answer(command(place))


def test_stale_sessions_and_sessions_of_gone_branches_are_listed(place: Place) -> None:
    """Open for ever is as good as lost."""
    gone = session_work.start(command(place), objective="Build")
    place.git("switch", "-q", "main")
    old = session_work.start(command(place), objective="Old")
    past = datetime.now(UTC) - timedelta(days=9)
    ts = past.isoformat(timespec="microseconds").replace("+00:00", "Z")
    layout = place.open().layout
    session_files.update(layout, old.id, lambda one: replace(one, updated=replace(one.updated, ts=ts)))
    place.git("branch", "-q", "-D", "feat")
    listed = {one.session.id: one.why for one in report(place).sessions}
    assert "feat" in listed[gone.id]
    assert listed[old.id].startswith("not updated since")


def test_claims_and_started_tasks_of_gone_branches_are_listed(place: Place, tmp_path: Path) -> None:
    """Somebody said they would do it, and the place where they did is gone."""
    work = task_lifecycle.add(command(place), title="Work")
    task_lifecycle.start(place.open(), work.id, TaskWorker("ada"))
    other = task_lifecycle.add(place.open(), title="Other")
    task_lifecycle.start(place.open(), other.id, TaskWorker("ada"))
    task_claims.release(place.open().layout, other.id)
    place.git("switch", "-q", "main")
    place.git("branch", "-q", "-D", "feat")
    listed = {stray.task: stray.why for stray in report(place).tasks}
    assert "claimed on feat" in listed[work.id]
    assert "started on feat" in listed[other.id]


def test_cited_commits_follow_a_rebase_without_hooks(place: Place) -> None:
    """The task says what showed that it was done, also after the branch was tidied."""
    oid = place.repo.commit("a", "some text\n" * 4)
    clone = command(place)
    made = task_lifecycle.add(clone, title="Work")
    task_lifecycle.done(clone, made.id, cited=[oid])
    mile = task_lifecycle.add(clone, title="Mile", kind="milestone")
    task_lifecycle.done(clone, mile.id, without=True)
    one = session_work.start(clone, objective="Build")
    session_work.record_commit(clone, one.id, oid)
    place.git("switch", "-q", "main")
    place.repo.commit("m")
    place.git("switch", "-q", "feat")
    place.git("rebase", "-q", "main")
    new = place.git("rev-parse", "HEAD")
    cited = report(place).cited
    assert {(cite.kind, cite.old, cite.new) for cite in cited} == {
        ("task", oid, new),
        ("checkpoint", oid, new),
        ("session", oid, new),
    }
    done = reconciliation.apply(place.open()).reanchored
    assert (set(done.tasks), done.sessions) == ({made.id, mile.id}, (one.id,))
    assert task(place, "Work").evidence == (f"commit:{new}",)
    checkpoint = task(place, "Mile").checkpoint
    assert checkpoint is not None
    assert (checkpoint.commit, checkpoint.tree) == (new, place.git("rev-parse", "HEAD^{tree}"))
    now = session_files.find(place.open().layout, one.id)
    assert (now.commits, dict(now.extra)["was"]) == ((new,), {oid: new})
    assert report(place).cited == ()
    assert reconciliation.apply(place.open()).reanchored == cited_commits.ReanchoredCitations()


def test_what_cannot_be_found_again_is_shown_and_left(place: Place) -> None:
    """A wrong commit is worse than none."""
    oid = place.repo.commit("a", "some text\n" * 4)
    made = task_lifecycle.add(command(place), title="Work")
    task_lifecycle.done(place.open(), made.id, cited=[oid])
    place.git("reset", "-q", "--hard", "HEAD~1")
    found = report(place).cited
    assert [(cite.id, cite.state, cite.new) for cite in found] == [(made.id, "unanchored", None)]
    assert reconciliation.apply(place.open()).reanchored.tasks == ()
    assert task(place, "Work").evidence == (f"commit:{oid}",)


def test_needs_on_other_branches_are_kept_and_named(place: Place) -> None:
    """A link into another branch is no error, and nobody should wonder where it leads."""
    there = task_lifecycle.add(command(place), title="There")
    place.git("switch", "-q", "main")
    here = task_lifecycle.add(command(place), title="Here", needs=[there.id])
    found = report(place).links
    assert [(link.task, link.node, link.branches) for link in found] == [(here.id, there.id, ("feat",))]


def test_branches_nobody_touched_are_listed(place: Place) -> None:
    """A month without a commit or a move, merged or not."""
    place.repo.commit("a")
    place.git("switch", "-q", "main")
    place.git("branch", "-q", "merged")
    assert report(place).branches == ()
    clone = place.open()
    clone.clock = lambda: datetime.now(UTC) + timedelta(days=31)
    assert {(one.branch, one.merged) for one in git_reconcile.idle_branches(clone)} == {
        ("feat", False),
        ("merged", True),
    }


def test_changes_that_moved_with_their_commit_are_not_asked_about(place: Place) -> None:
    """A rebase or an amend takes the plan along; only a rewind leaves it behind."""
    place.repo.commit("a", "some text\n" * 4)
    task_lifecycle.add(command(place), title="Idea")
    place.git("commit", "-q", "--amend", "-m", "reworded")
    assert rewinds.stranded(command(place)) == []
    place.git("switch", "-q", "main")
    place.repo.commit("m")
    place.git("switch", "-q", "feat")
    place.git("rebase", "-q", "main")
    assert rewinds.stranded(command(place)) == []
    place.git("reset", "-q", "--hard", "HEAD~1")
    assert len(rewinds.stranded(command(place))) == 1


def test_a_failure_to_notice_stops_nothing(place: Place) -> None:
    """A hint that cannot be written must not keep a command from its work."""
    command(place)
    store = Path(place.open().layout.private)
    fsio.make_dirs(str(store))
    for path in (store / "seen").iterdir():
        path.unlink()
    (store / "seen").rmdir()
    (store / "seen").write_text("in the way")
    place.repo.commit("a")
    assert any("was not noted" in note for note in command(place).notes)
