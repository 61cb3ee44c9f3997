"""Reconciling: nothing that was published comes back by itself, and nothing of it is lost."""

from pathlib import Path

import pytest

from holdfast.errors import Ambiguous, NotFound
from holdfast.git import branch_lines, last_seen, reconcile
from holdfast.git.branch_lines import InheritedLine, KnownLine
from holdfast.store import pending_changes
from holdfast.store.pending_changes import PendingChange
from holdfast.values import replace
from tests.git.place import Place, fact_path, fact_text


def gone(place: Place) -> dict[str, str | None]:
    return {item.path: item.commit for item in reconcile.examine(place.open()).gone}


def orphans(place: Place) -> list[str]:
    return [orphan.name for orphan in reconcile.examine(place.open(), thoroughly=True).orphans]


def published(place: Place) -> tuple[str, ...]:
    place.ran("r1")
    place.keep("one")
    return place.publish().paths


def test_a_hard_reset_is_seen_and_undone_only_on_request(place: Place) -> None:
    """Whoever resets meant it; whoever did not can have it back."""
    paths = published(place)
    place.git("reset", "-q", "--hard", "HEAD~1")
    assert place.facts() == {}
    assert place.publish().commit is None
    assert gone(place) == dict.fromkeys(paths)
    assert place.all_runs() == {"r1"}, "absence hides, it never deletes"
    done = place.publish(restore=True)
    assert set(done.paths) == set(paths)
    assert gone(place) == {}
    assert place.facts() == {"one": "It is so."}
    assert place.runs() == {"r1"}
    assert place.status() == ""


def test_a_revert_is_named_with_its_commit(place: Place) -> None:
    """A revert is somebody's decision; its commit says whose."""
    paths = published(place)
    place.git("revert", "--no-edit", "HEAD")
    head = place.git("rev-parse", "HEAD")
    assert gone(place) == dict.fromkeys(paths, head)
    place.git("revert", "--no-edit", "HEAD")
    assert gone(place) == {}


def test_a_rebase_that_drops_the_publish_is_seen(place: Place) -> None:
    """An interactive rebase loses commits easily."""
    paths = published(place)
    place.repo.commit("later")
    place.git("rebase", "-q", "--onto", "HEAD~2", "HEAD~1")
    assert gone(place) == dict.fromkeys(paths)
    assert set(place.publish(restore=True).paths) == set(paths)


def test_an_amended_publish_is_still_published(place: Place) -> None:
    """Amending the message or adding a file takes nothing away."""
    published(place)
    place.repo.write("more", "x")
    place.git("add", "more")
    place.git("commit", "-q", "--amend", "-m", "publish, and more")
    assert gone(place) == {}
    assert place.waits() == set()
    assert place.publish().commit is None


def test_an_amend_that_edits_an_entry_is_the_users_word(place: Place) -> None:
    """Restoring must not undo what somebody wrote on purpose."""
    published(place)
    place.repo.write(fact_path("one"), fact_text("one", "Better words."))
    place.git("commit", "-q", "--amend", "-a", "--no-edit")
    assert gone(place) == {}
    assert place.facts() == {"one": "Better words."}


def test_a_later_change_by_somebody_else_is_not_a_loss(place: Place) -> None:
    """Memory is meant to be changed."""
    published(place)
    place.repo.commit(fact_path("one"), fact_text("one", "Somebody else."))
    assert gone(place) == {}


def test_a_reset_to_an_older_text_is_seen(place: Place) -> None:
    """The entry is there, but not the last thing that was published."""
    published(place)
    place.keep("one", "Second.")
    place.publish()
    place.git("reset", "-q", "--hard", "HEAD~1")
    assert gone(place) == {fact_path("one"): None}
    place.publish(restore=True)
    assert place.facts() == {"one": "Second."}


def test_one_file_filtered_from_history_stays_out(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A secret that was filtered out must not be brought back by a tool."""
    monkeypatch.setenv("FILTER_BRANCH_SQUELCH_WARNING", "1")  # else git waits ten seconds after it
    paths = published(place)
    place.git(
        "filter-branch", "-f", "--index-filter", f"git rm -q --cached --ignore-unmatch {fact_path('one')}", "HEAD"
    )
    assert gone(place) == {fact_path("one"): None}
    assert place.facts() == {}
    assert place.publish().commit is None
    assert len(paths) == 2


def squash_merge(place: Place) -> None:
    """Publish on a branch, merge it as a forge's squash does, and delete it."""
    place.git("switch", "-q", "-c", "feat")
    published(place)
    place.git("switch", "-q", "main")
    place.git("merge", "-q", "--squash", "feat")
    place.git("commit", "-q", "-m", "squashed")
    place.git("branch", "-q", "-D", "feat")


def test_squash_and_cherry_pick_bring_what_they_bring(place: Place) -> None:
    """A forge's squash is a new commit with our blobs: nothing is gone, nothing is published twice."""
    squash_merge(place)
    assert place.runs() == {"r1"}
    assert gone(place) == {}
    assert orphans(place) == []
    assert place.publish().commit is None


def test_what_a_deleted_branch_left_can_be_carried(place: Place) -> None:
    """The experiment failed, what was learned is worth keeping."""
    place.git("switch", "-q", "-c", "feat")
    place.ran("r1")
    place.keep("one")
    place.git("switch", "-q", "main")
    place.git("branch", "-q", "-D", "feat")
    assert orphans(place) == ["feat"]
    assert place.runs() == set()
    carried = reconcile.carry(place.open(), "feat")
    assert (len(carried.changes), len(carried.events)) == (1, 1)
    assert orphans(place) == []
    assert place.runs() == {"r1"}
    assert place.facts() == {"one": "It is so."}
    assert place.publish().events == 1
    assert place.publish().commit is None
    assert place.waits() == set()
    assert place.verdict() == "ok"


def deleted_after_publishing(place: Place) -> tuple[tuple[str, ...], str]:
    """What was published on a branch that is deleted now, and the commit it was in."""
    place.git("switch", "-q", "-c", "feat")
    paths, tip = published(place), place.git("rev-parse", "HEAD")
    place.git("switch", "-q", "main")
    place.git("branch", "-q", "-D", "feat")
    return paths, tip


def test_what_only_a_deleted_branch_had_published_can_be_carried(place: Place) -> None:
    """Git drops its commits some day; then this clone has the only copy, and nobody would know."""
    paths, _ = deleted_after_publishing(place)
    assert (orphans(place), place.facts(), place.runs()) == (["feat"], {}, set())
    carried = reconcile.carry(place.open(), "feat")
    assert {change.path for change in carried.published} == set(paths)
    assert orphans(place) == []
    assert (place.facts(), place.runs()) == ({"one": "It is so."}, {"r1"})
    assert set(place.publish().paths) == set(paths)
    assert place.waits() == set()
    assert (gone(place), orphans(place), place.verdict()) == ({}, [], "ok")


def test_what_a_deleted_branch_had_published_is_listed_until_it_is_dropped_or_in_a_branch(place: Place) -> None:
    """A list of what is safe, or was let go, trains people not to read it."""
    _, tip = deleted_after_publishing(place)
    assert orphans(place) == ["feat"]
    place.git("branch", "again", tip)
    assert orphans(place) == [], "another branch has it"
    place.git("branch", "-q", "-D", "again")
    place.git("update-ref", "refs/remotes/origin/feat", tip)
    assert orphans(place) == [], "a remote's branch has it"
    place.git("update-ref", "-d", "refs/remotes/origin/feat")
    reconcile.drop(place.open(), "feat")
    assert orphans(place) == []


def test_what_was_merged_and_changed_later_is_not_listed_as_left(place: Place) -> None:
    """Most branches are deleted after they were merged; what became of their entries since is history."""
    squash_merge(place)
    place.git("rm", "-q", fact_path("one"))
    place.git("commit", "-q", "-m", "no longer so")
    assert orphans(place) == []


def test_carrying_brings_the_newest_text_of_a_deleted_branch(place: Place) -> None:
    """What was published there and changed afterwards must not come back in its first form."""
    place.git("switch", "-q", "-c", "feat")
    published(place)
    place.keep("one", "It is otherwise.")
    place.git("switch", "-q", "main")
    place.git("branch", "-q", "-D", "feat")
    reconcile.carry(place.open(), "feat")
    assert place.facts() == {"one": "It is otherwise."}


def test_what_is_dropped_is_no_longer_listed_but_kept(place: Place) -> None:
    """Dropping is tidying, not erasing."""
    place.git("switch", "-q", "-c", "feat")
    place.ran("r1")
    place.git("switch", "-q", "main")
    place.git("branch", "-q", "-D", "feat")
    reconcile.drop(place.open(), "feat")
    assert orphans(place) == []
    assert place.runs() == set()
    assert place.all_runs() == {"r1"}
    with pytest.raises(NotFound):
        reconcile.carry(place.open(), "feat")


def test_two_orphans_of_one_name_must_be_told_apart(place: Place) -> None:
    """Branches are often called `fix`."""
    for run in ("r1", "r2"):
        place.git("switch", "-q", "-c", "fix")
        place.ran(run)
        place.git("switch", "-q", "main")
        place.git("branch", "-q", "-D", "fix")
    assert orphans(place) == ["fix", "fix"]
    with pytest.raises(Ambiguous):
        reconcile.carry(place.open(), "fix")
    first = reconcile.examine(place.open()).orphans[0]
    reconcile.carry(place.open(), first.line)
    assert len(place.runs()) == 1


def test_carrying_merges_with_what_waits_here(place: Place) -> None:
    """Two texts of one entry: merged by field, and where that cannot be, the orphan stays."""
    place.keep("one")
    place.publish()
    place.git("switch", "-q", "-c", "feat")
    place.keep("one", "It is so.", tags="[db]")
    place.git("switch", "-q", "-c", "other")
    place.keep("one", "Other words.")
    place.git("switch", "-q", "main")
    place.line()
    place.keep("one", "It is so.", confidence="0.5")
    place.git("branch", "-q", "-D", "feat", "other")
    reconcile.carry(place.open(), "feat")
    text = place.open().entries()[0].text
    assert "tags: [db]" in text
    assert "confidence: 0.5" in text
    assert orphans(place) == ["other"]
    place.keep("one", "My words.")
    reconcile.carry(place.open(), "other")
    assert orphans(place) == ["other"]
    assert place.facts() == {"one": "My words."}


def test_a_removed_detached_work_tree_leaves_an_orphan(place: Place, tmp_path: Path) -> None:
    """Agents' work trees come and go; what they recorded does not."""
    place.git("worktree", "add", "-q", "--detach", str(tmp_path / "wt"))
    there = place.at(tmp_path / "wt")
    there.ran("r1")
    assert orphans(place) == []
    place.git("worktree", "remove", "--force", str(tmp_path / "wt"))
    assert len(orphans(place)) == 1
    reconcile.carry(place.open(), orphans(place)[0])
    assert place.runs() == {"r1"}


def test_a_removed_work_tree_leaves_its_branch(place: Place, tmp_path: Path) -> None:
    """The branch is still there, so nothing is orphaned."""
    place.git("worktree", "add", "-q", "-b", "agent", str(tmp_path / "wt"))
    there = place.at(tmp_path / "wt")
    there.ran("r1")
    there.keep("one")
    place.git("worktree", "remove", "--force", str(tmp_path / "wt"))
    assert orphans(place) == []
    place.git("switch", "-q", "agent")
    assert place.runs() == {"r1"}
    assert set(place.facts()) == {"one"}


def test_what_was_recorded_on_a_detached_head_is_offered_afterwards(place: Place) -> None:
    """Back on a branch, the detached line cannot be published any other way."""
    place.git("switch", "-q", "--detach")
    place.ran("r1")
    assert orphans(place) == []
    place.git("switch", "-q", "main")
    assert len(orphans(place)) == 1
    reconcile.carry(place.open(), orphans(place)[0])
    assert place.runs() == {"r1"}
    place.git("switch", "-q", "--detach")
    place.ran("r2")
    place.git("switch", "-q", "main")
    assert place.runs() == {"r1"}, "a new detached line, not the one that was carried"


def test_nothing_of_another_line_is_called_gone(place: Place) -> None:
    """Reconcile speaks of this line only."""
    place.git("switch", "-q", "-c", "feat")
    published(place)
    place.git("switch", "-q", "main")
    assert gone(place) == {}
    assert place.publish(restore=True).commit is None


def test_an_orphan_is_found_by_the_name_it_had_last_or_how_its_id_begins(place: Place) -> None:
    """A branch that was renamed is known by its last name; a name that fits nothing fits nothing."""
    place.git("switch", "-q", "-c", "first")
    line = place.line()
    place.ran("r1")
    place.git("branch", "-m", "last")
    place.line()
    place.git("switch", "-q", "main")
    place.git("branch", "-q", "-D", "last")
    (orphan,) = reconcile.examine(place.open()).orphans
    assert orphan.name == "last" and orphan.line == line
    with pytest.raises(NotFound, match="deleted branch nothing-of-it"):
        reconcile.drop(place.open(), "nothing-of-it")
    assert reconcile.drop(place.open(), line[:6]).line == line
    assert reconcile.examine(place.open()).orphans == ()


def test_in_the_middle_of_something_nothing_is_called_gone(place: Place) -> None:
    """Half a history is here then: what it lacks will be back in a moment."""
    paths = published(place)
    place.git("reset", "-q", "--hard", "HEAD~1")
    place.git("bisect", "start")
    assert gone(place) == {}
    place.git("bisect", "reset")
    assert gone(place) == dict.fromkeys(paths)


def test_what_waits_again_was_given_up_or_erased_is_not_gone(place: Place) -> None:
    """Whoever brings back what is lost must not bring back what somebody decided against."""
    for name in ("waits", "lost", "erased"):
        place.keep(name)
        place.publish()
    place.keep("never")
    place.open().give_up(fact_path("never"))
    place.git("reset", "-q", "--hard", "HEAD~3")
    assert set(gone(place)) == {fact_path(name) for name in ("waits", "lost", "erased")}
    place.keep("waits", "Again.")
    Path(place.open().layout.erased).mkdir(exist_ok=True)
    Path(place.open().layout.erased, "FCT-erased").touch()
    assert gone(place) == {fact_path("lost"): None}
    (lost,) = reconcile.lost(place.open())
    assert (lost.path, lost.base) == (fact_path("lost"), None)


def test_a_text_of_somebody_that_we_replaced_may_be_back(place: Place) -> None:
    """The reset took our text away; the one before it was not ours, and it is based on that."""
    place.repo.commit(fact_path("one"), fact_text("one", "Theirs."))
    place.keep("one", "Ours.")
    place.publish()
    place.git("reset", "-q", "--hard", "HEAD~1")
    assert gone(place) == {fact_path("one"): None}
    (lost,) = reconcile.lost(place.open())
    assert lost.base == place.git("rev-parse", f"HEAD:{fact_path('one')}")
    assert place.publish(restore=True).paths == (fact_path("one"),)
    assert place.facts() == {"one": "Ours."}
    place.git("reset", "-q", "--hard", "HEAD~1")
    place.repo.commit(fact_path("one"), fact_text("one", "Other words."))
    assert gone(place) == {}, "any other text is somebody's"


def test_where_history_is_cut_off_no_commit_is_blamed(place: Place) -> None:
    """A shallow clone does not see who deleted it, only that it is not there."""
    paths = published(place)
    place.git("rm", "-q", "-r", ".holdfast/log", ".holdfast/memory")
    place.git("commit", "-q", "-m", "gone")
    assert gone(place) == dict.fromkeys(paths, place.git("rev-parse", "HEAD"))
    place.repo.write(".git/shallow", place.git("rev-parse", "HEAD~1") + "\n")
    assert gone(place) == dict.fromkeys(paths)


def brought(place: Place, line: KnownLine, path: str) -> None:
    """A line of another clone, with a deletion that waits on it."""
    layout = place.open().layout
    branch_lines.save(layout, line)
    pending_changes.add(layout, PendingChange(path, None, None, line.id, None, TS))


TS = "2031-01-01T00:00:00.000000Z"
HEADS = "refs/heads"


def test_what_another_clone_brought_is_seen_on_the_branch_of_the_same_name(place: Place) -> None:
    """The same branch in two clones is the same work; of a branch that is not here, somebody must decide."""
    place.git("switch", "-q", "-c", "feat")
    feat = place.line()
    place.git("switch", "-q", "main")
    main, before = place.line(), set(branch_lines.known(place.open().layout))
    further = InheritedLine("further", TS)
    brought(place, KnownLine("zz-feat", (f"{HEADS}/old", f"{HEADS}/feat"), TS, (further,)), fact_path("one"))
    brought(place, KnownLine("zz-far", (f"{HEADS}/far",), TS, ()), fact_path("two"))
    clone = place.open()
    assert reconcile.adopt(clone, before) == ["feat"]
    known = branch_lines.known(clone.layout)
    assert known[feat].inherits[-2:] == (InheritedLine("zz-feat", None), further)
    assert known["zz-feat"].dropped and not known["zz-far"].dropped and not known[feat].dropped
    assert known[main].inherits == ()
    found = {orphan.line: (orphan.foreign, orphan.name) for orphan in reconcile.orphans(clone)}
    assert found == {"zz-far": (True, "far")}
    assert reconcile.adopt(place.open(), set(known)) == []
    assert known == branch_lines.known(clone.layout)


def test_a_process_sees_what_was_brought_to_its_branch_at_once(place: Place) -> None:
    """An import ends with a look at what it brought."""
    clone = place.open()
    before = {clone.line().id}
    brought(place, KnownLine("zz-main", (f"{HEADS}/main",), TS, ()), fact_path("one"))
    assert clone.changes() == []
    assert reconcile.adopt(clone, before) == ["main"]
    assert [change.path for change in clone.changes()] == [fact_path("one")]


def test_each_orphan_has_its_own_and_says_whether_it_was_ever_here(place: Place) -> None:
    """Whoever carries one must not get the other's."""
    place.git("switch", "-q", "-c", "feat")
    feat = place.line()
    place.keep("mine")
    place.git("switch", "-q", "main")
    place.git("branch", "-q", "-D", "feat")
    brought(place, KnownLine("0-dropped", (f"{HEADS}/x",), TS, (), dropped=True), fact_path("x"))
    brought(place, KnownLine("zz-far", (f"{HEADS}/far",), TS, ()), fact_path("two"))
    last_seen.keep_names(place.open(), last_seen.FOREIGN, ["zz-far"])
    found = {one.line: ([c.path for c in one.changes], one.foreign) for one in reconcile.orphans(place.open())}
    assert found == {feat: ([fact_path("mine")], False), "zz-far": ([fact_path("two")], True)}
    assert reconcile.carry(place.open(), f"{HEADS}/far").line == "zz-far"
    assert reconcile.drop(place.open(), "feat").line == feat
    assert all(branch_lines.known(place.open().layout)[name].dropped for name in ("zz-far", feat))
    assert reconcile.orphans(place.open()) == []


def test_what_a_branch_took_along_from_a_detached_head_is_no_orphan() -> None:
    """It waits on that branch; what came later on the detached HEAD is left."""
    detached = KnownLine("d", (f"{HEADS}/was", "detached:.git"), "1", ())
    takers = [
        KnownLine("a", (f"{HEADS}/a",), "1", (InheritedLine("d", "3"), InheritedLine("main", "9"))),
        KnownLine("b", (f"{HEADS}/b",), "1", (InheritedLine("d", "5"),)),
    ]
    assert reconcile._inherited_until(detached, takers) == "5"
    assert reconcile._inherited_until(detached, takers[:1]) == "3"
    assert reconcile._inherited_until(detached, []) == ""
    whole = KnownLine("c", (f"{HEADS}/c",), "1", (InheritedLine("d", None),))
    assert reconcile._inherited_until(detached, [*takers, whole]) > "9999"
    assert reconcile._inherited_until(replace(detached, refs=("detached:.git", f"{HEADS}/now")), takers) == ""


def test_a_branch_made_on_a_detached_head_takes_along_what_waited_there(place: Place) -> None:
    """Nothing is left to be carried but what was recorded there afterwards."""
    place.git("switch", "-q", "--detach")
    place.ran("r1")
    place.keep("one")
    place.later()
    place.git("branch", "-q", "feat")
    place.later()
    place.git("switch", "-q", "feat")
    assert place.runs() == {"r1"} and orphans(place) == []


def test_carrying_what_is_here_already_only_ends_the_orphan(place: Place) -> None:
    """The same text on two branches is one text; a deletion and a text cannot both be right."""
    place.keep("gone")
    place.keep("same")
    place.publish()
    place.git("switch", "-q", "-c", "feat")
    place.keep("same", "It has changed.")
    place.git("switch", "-q", "-c", "other")
    place.open().change(fact_path("gone"), None)
    place.git("switch", "-q", "main")
    place.keep("same", "It has changed.")
    place.git("branch", "-q", "-D", "feat", "other")
    assert [c.path for c in reconcile.carry(place.open(), "feat").changes] == [fact_path("same")]
    assert orphans(place) == ["other"] and place.waits() == {fact_path("same")}
    place.keep("gone", "Still so.")
    reconcile.carry(place.open(), "other")
    assert orphans(place) == ["other"] and place.facts()["gone"] == "Still so."
    place.open().give_up(fact_path("gone"))
    reconcile.carry(place.open(), "other")
    assert orphans(place) == [] and set(place.facts()) == {"same"}
