"""Conflicts: wherever git left two texts of one entry, both are seen and one command settles it."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import BadInput, BrokenEntry, InConflict
from holdfast.git import conflict_sides, merge_conflicts
from holdfast.git.conflict_sides import EVERY, WHOLE, ConflictSide, EntryConflict, compare, settled, value
from holdfast.model.task import Link, Task
from holdfast.store import task_files
from holdfast.values import replace
from tests.git.place import Place, fact_path, fact_text

PATH = ".holdfast/tasks/write-it-TSK-abc123.md"
LINK = ".holdfast/links/the-plan-LNK-abc123.md"
TASK = Task(id="TSK-abc123", title="Write it", layer="L5", owner="ada")


def text(**fields: Any) -> str:
    return task_files.render(replace(TASK, **fields))


def older(**fields: Any) -> str:
    """As versions wrote it that put nothing between two fields."""
    return text(**fields).replace("\n#\n", "\n")


def commit(place: Place, content: str, message: str = "change", path: str = PATH) -> str:
    return place.repo.commit(path, content, message)


def the_one(place: Place) -> EntryConflict:
    [found] = merge_conflicts.find(place.open())
    return found


def resolve(place: Place, **choices: str) -> str | None:
    clone = place.open()
    [found] = merge_conflicts.find(clone)
    chosen = {EVERY if name == "every" else name: choice for name, choice in choices.items()}
    done = merge_conflicts.resolve(clone, found, chosen)
    place.notes += clone.notes
    return done


def said(conflict: EntryConflict) -> dict[str, tuple[Any, Any, Any]]:
    return {clash.name: (clash.base, clash.ours, clash.theirs) for clash in conflict.fields}


def seen(place: Place, path: str = PATH) -> Task:
    [sighting] = [s for s in place.open().entries(".holdfast/tasks") if s.path == path]
    return task_files.parse(sighting.text, path)


def in_the_index(place: Place, path: str = PATH) -> Task:
    return task_files.parse(place.git("show", f":{path}") + "\n", path)


def diverge(place: Place, here: str, there: str, *, base: str | None = None) -> None:
    """A branch `other` and main, each with its own text."""
    commit(place, base or text(), "the task")
    place.git("switch", "-qc", "other")
    commit(place, there, "on other")
    place.git("switch", "-q", "main")
    commit(place, here, "on main")


def last_event(place: Place) -> dict[str, Any]:
    clone = place.open()
    event = [event for event in clone.events() if event.kind == "task"][-1]
    return {"target": event.target, **(clone.bodies.get(event.body or "") or {})}


# A change that waits, and the branch's history.


def test_a_waiting_change_and_history_are_shown_field_by_field(place: Place) -> None:
    """Who sees only one of two decisions believes there was one."""
    commit(place, text(), "the task")
    place.open().change(PATH, text(status="done", owner="bob"))
    commit(place, text(status="blocked", priority=0), "somebody else's")

    found = the_one(place)

    assert (found.kind, found.id) == ("waiting", "TSK-abc123")
    assert said(found) == {"status": ("open", "done", "blocked")}
    assert found.ours.origin.startswith("main, waiting")
    assert "somebody else's" in found.theirs.origin


@pytest.mark.parametrize(("choice", "status"), [("ours", "done"), ("theirs", "blocked"), ("started", "started")])
def test_a_waiting_change_is_settled_by_one_choice(place: Place, choice: str, status: str) -> None:
    """A conflict that cannot be ended blocks its task for ever."""
    commit(place, text(), "the task")
    place.open().change(PATH, text(status="done", owner="bob"))
    commit(place, text(status="blocked", priority=0))

    resolve(place, status=choice)

    assert merge_conflicts.find(place.open()) == []
    assert seen(place) == replace(TASK, status=status, owner="bob", priority=0)
    assert [change.path for change in place.open().changes()] == [PATH]
    published = place.publish()
    assert PATH in published.paths
    assert place.status() == ""
    event = last_event(place)
    assert (event["target"], event["action"], event["status"]) == ("TSK-abc123", "resolve", status)


def test_letting_history_stand_ends_the_waiting(place: Place) -> None:
    """What was given up must not come back with the next publish; it stays in the store."""
    commit(place, text(), "the task")
    place.open().change(PATH, text(status="done"))
    commit(place, text(status="blocked"))

    resolve(place, every="theirs")

    assert place.open().changes() == []
    assert seen(place).status == "blocked"
    assert any("sealed/changes" in name for name in place.files())


def test_what_is_not_chosen_is_asked_for(place: Place) -> None:
    """A guess in a conflict is what silently overwrites."""
    commit(place, text(), "the task")
    place.open().change(PATH, text(status="done", owner="bob"))
    commit(place, text(status="blocked", owner="cid"))

    with pytest.raises(InConflict, match="status, owner"):
        resolve(place)
    with pytest.raises(InConflict, match="changed owner"):
        resolve(place, status="ours")
    with pytest.raises(BadInput, match="no field colour"):
        resolve(place, colour="red", every="ours")
    with pytest.raises(BadInput, match="no field id"):
        resolve(place, id="TSK-other", every="ours")
    with pytest.raises(BadInput, match="nowhere"):
        resolve(place, status="nowhere", owner="ours")
    assert the_one(place).fields


def test_the_line_that_inherited_a_change_settles_it_for_itself(place: Place) -> None:
    """A branch must be able to end a conflict it was born with, without deciding for its parent."""
    commit(place, text(), "the task")
    place.open().change(PATH, text(status="done"))
    place.later()
    place.git("switch", "-qc", "child")
    commit(place, text(status="blocked"))

    resolve(place, every="ours")

    assert merge_conflicts.find(place.open()) == []
    assert seen(place).status == "done"
    place.git("switch", "-q", "main")
    assert seen(place).status == "done"
    assert len(place.open().changes()) == 1


# What git left unmerged.


def test_a_merge_that_stopped_is_shown_and_goes_on(place: Place) -> None:
    """Between two markers nobody sees which branch said what."""
    diverge(place, text(status="done"), text(status="blocked", priority=0))
    place.git("merge", "other", ok=False)

    found = the_one(place)
    assert (found.kind, found.ours.origin, found.theirs.origin) == ("unmerged", "main", "other")
    assert said(found) == {"status": ("open", "done", "blocked")}

    resolve(place, every="theirs")

    assert merge_conflicts.find(place.open()) == []
    assert in_the_index(place) == replace(TASK, status="blocked", priority=0)
    place.git("commit", "-q", "--no-edit")
    assert place.status() == ""
    assert seen(place).status == "blocked"


def test_fields_side_by_side_need_no_choice(place: Place) -> None:
    """Git stops at neighbouring lines; people should not have to."""
    diverge(place, older(title="Write it well"), older(status="done"), base=older())
    place.git("merge", "other", ok=False)

    found = the_one(place)
    assert found.fields == ()
    assert found.merged == older(title="Write it well", status="done")

    resolve(place)

    assert in_the_index(place) == replace(TASK, title="Write it well", status="done")


def test_only_the_path_in_conflict_is_staged(place: Place) -> None:
    """Sweeping other files into the index would put them into the user's commit."""
    place.repo.commit("other.txt", "one\n")
    diverge(place, text(status="done"), text(status="blocked"))
    place.git("merge", "other", ok=False)
    place.repo.write("other.txt", "two\n")

    resolve(place, every="ours")

    assert "other.txt" not in place.git("diff", "--cached", "--name-only")


def test_a_rebase_that_stopped_says_which_commit_it_replays(place: Place) -> None:
    """In a rebase "ours" is the other branch; without names people choose the wrong side."""
    diverge(place, text(status="done"), text(status="blocked"))
    place.git("switch", "-q", "other")
    place.git("rebase", "-q", "main", ok=False)

    found = the_one(place)
    assert found.ours.origin == "main, rebased onto"
    assert found.theirs.origin.startswith("other: commit")
    assert "on other" in found.theirs.origin

    resolve(place, status="theirs")

    place.git("-c", "core.editor=true", "rebase", "--continue")
    assert seen(place).status == "blocked"
    assert place.status() == ""


def test_a_cherry_pick_that_stopped_names_its_commit(place: Place) -> None:
    """The picked commit is the other side."""
    diverge(place, text(status="done"), text(status="blocked"))
    place.git("cherry-pick", "other", ok=False)

    found = the_one(place)
    assert found.ours.origin == "main"
    assert "on other" in found.theirs.origin

    resolve(place, status="started")

    place.git("-c", "core.editor=true", "cherry-pick", "--continue")
    assert seen(place).status == "started"


def test_a_revert_that_stopped_says_so(place: Place) -> None:
    """Its other side is the text from before the commit that is reverted."""
    commit(place, text(), "the task")
    commit(place, text(status="started"), "started it")
    commit(place, text(status="done"), "done it")
    place.git("revert", "--no-edit", "HEAD~1", ok=False)

    found = the_one(place)

    assert found.theirs.origin.startswith("the revert of commit")
    assert said(found) == {"status": ("started", "done", "open")}


def test_a_stash_that_did_not_fit_is_settled(place: Place) -> None:
    """After `stash pop` git is in the middle of nothing: only the index and the markers know."""
    commit(place, text(), "the task")
    place.repo.write(PATH, text(status="done"))
    place.git("stash", "-q")
    commit(place, text(status="blocked"))
    place.git("stash", "pop", ok=False)

    found = the_one(place)
    assert found.kind == "unmerged"
    assert found.theirs.origin == "Stashed changes"

    resolve(place, every="theirs")

    assert merge_conflicts.find(place.open()) == []
    assert in_the_index(place).status == "done"


def test_a_file_changed_here_and_deleted_there_is_a_choice(place: Place) -> None:
    """Deleting is a decision like any other: it is taken only if somebody says so."""
    commit(place, text(), "the task")
    place.git("switch", "-qc", "other")
    place.git("rm", "-q", PATH)
    place.git("commit", "-qm", "gone")
    place.git("switch", "-q", "main")
    commit(place, text(status="done"))
    place.git("merge", "other", ok=False)

    found = the_one(place)
    assert [clash.name for clash in found.fields] == [WHOLE]
    assert found.theirs.text is None
    with pytest.raises(InConflict):
        resolve(place)

    assert resolve(place, every="theirs") is None
    place.git("commit", "-q", "--no-edit")
    assert PATH not in place.git("ls-files")


def test_a_text_written_between_the_markers_is_taken_as_it_is(place: Place) -> None:
    """Who merged by hand must not lose that to a command."""
    diverge(place, text(status="done"), text(status="blocked"))
    place.git("merge", "other", ok=False)
    place.repo.write(PATH, text(status="started"))

    assert the_one(place).merged == text(status="started")
    resolve(place)
    assert in_the_index(place).status == "started"


def test_a_file_worked_on_is_kept_before_a_side_replaces_it(place: Place) -> None:
    """A choice on the command line must not cost what somebody had typed into the file."""
    diverge(place, text(status="done"), text(status="blocked"))
    place.git("merge", "other", ok=False)
    file = place.repo / PATH
    file.write_text(file.read_text() + "half a thought\n")

    resolve(place, every="ours")

    [kept] = (place.store / "kept").iterdir()
    assert "half a thought" in kept.read_text()
    assert any(str(kept) in note for note in place.notes)


def test_what_git_merged_beside_the_markers_is_nobodys_work(place: Place) -> None:
    """A copy of every conflict would bury the one that matters."""
    diverge(place, text(status="done", reason="why"), text(status="blocked", impact="much"))
    place.git("merge", "other", ok=False)
    assert "why" in (place.repo / PATH).read_text()

    resolve(place, every="ours")

    assert not (place.store / "kept").exists() or not list((place.store / "kept").iterdir())
    assert in_the_index(place) == replace(TASK, status="done", reason="why", impact="much")


def test_a_link_out_of_the_tree_is_never_written_through(place: Place, tmp_path: Path) -> None:
    """A symbolic link must not let a resolution overwrite a file somewhere else."""
    diverge(place, text(status="done"), text(status="blocked"))
    place.git("merge", "other", ok=False)
    victim = tmp_path / "victim"
    victim.write_text("precious\n")
    (place.repo / PATH).unlink()
    (place.repo / PATH).symlink_to(victim)

    with pytest.raises(Exception, match="symbolic link"):
        resolve(place, every="ours")

    assert victim.read_text() == "precious\n"


def test_each_work_tree_has_its_own_conflicts(place: Place, tmp_path: Path) -> None:
    """A merge that stopped in one work tree is no business of the other."""
    diverge(place, text(status="done"), text(status="blocked"))
    place.git("worktree", "add", "-q", "-b", "second", str(tmp_path / "second"), "main")
    second = place.at(tmp_path / "second")
    second.git("merge", "other", ok=False)

    assert merge_conflicts.find(place.open()) == []
    assert the_one(second).ours.origin == "second"
    resolve(second, every="theirs")
    assert in_the_index(second).status == "blocked"
    assert seen(place).status == "done"


def test_links_are_settled_like_tasks(place: Place) -> None:
    """A canonical link is changed on two branches as easily as a task."""
    link = Link(id="LNK-abc123", title="The plan", target="docs/plan.md", kind="path")
    sides = [task_files.render(replace(link, target=target)) for target in ("a.md", "b.md")]
    commit(place, task_files.render(link), path=LINK)
    place.git("switch", "-qc", "other")
    commit(place, sides[1], path=LINK)
    place.git("switch", "-q", "main")
    commit(place, sides[0], path=LINK)
    place.git("merge", "other", ok=False)

    assert said(the_one(place)) == {"target": ("docs/plan.md", "a.md", "b.md")}
    resolve(place, target="theirs")
    assert task_files.parse_link(place.git("show", f":{LINK}") + "\n", LINK).target == "b.md"


def test_memories_are_shown_and_left_to_review(place: Place) -> None:
    """Settling what is held to be true is approving it."""
    path = fact_path("one")
    commit(place, fact_text("one", "It is so."), path=path)
    place.git("switch", "-qc", "other")
    commit(place, fact_text("one", "It is otherwise."), path=path)
    place.git("switch", "-q", "main")
    commit(place, fact_text("one", "It is quite so."), path=path)
    place.git("merge", "other", ok=False)

    found = the_one(place)
    assert (found.id, found.is_memory) == ("FCT-one", True)
    with pytest.raises(BadInput, match="is a memory"):
        resolve(place, every="ours")


# Markers.


def marked(here: str, there: str, *, style: str = "merge") -> str:
    """A file as git writes it when two status lines differ."""
    head, _, rest = text().partition("status: open\n")
    base = "||||||| base\nstatus: open\n" if style == "diff3" else ""
    return f"{head}<<<<<<< main\nstatus: {here}\n{base}=======\nstatus: {there}\n>>>>>>> other\n{rest}"


def commit_bytes(place: Place, data: bytes) -> None:
    """Commit what a forge's editor would: its bytes as they are, past git's own filters."""
    blob = place.repo.git("hash-object", "-w", "--no-filters", "--stdin", data=data)
    place.git("update-index", "--add", "--cacheinfo", f"100644,{blob},{PATH}")
    place.git("commit", "-qm", "by the forge")
    place.git("checkout", "-q", "--", PATH)


@pytest.mark.parametrize("style", ["merge", "diff3"])
def test_committed_markers_are_a_conflict_not_a_loss(place: Place, style: str) -> None:
    """A forge lets people commit markers; the task must not vanish until somebody reads the file."""
    commit_bytes(place, marked("done", "blocked", style=style).encode())

    found = the_one(place)
    assert found.kind == "committed"
    assert found.ours.origin.startswith("main, in commit")
    assert "by the forge" in found.theirs.origin
    assert said(found) == {"status": ("open" if style == "diff3" else None, "done", "blocked")}

    resolve(place, status="theirs")

    assert merge_conflicts.find(place.open()) == []
    assert seen(place).status == "blocked"
    assert place.publish().commit
    assert "<<<<<<<" not in (place.repo / PATH).read_text()


def test_markers_with_crlf_are_understood(place: Place) -> None:
    """A browser ends lines with CRLF, whatever the project says; git then calls the file modified at once."""
    commit_bytes(place, marked("done", "blocked", style="diff3").replace("\n", "\r\n").encode())

    assert said(the_one(place)) == {"status": ("open", "done", "blocked")}
    resolve(place, every="theirs")
    assert (place.repo / PATH).read_bytes() == text(status="blocked").encode()
    assert merge_conflicts.find(place.open()) == []


def test_markers_in_a_merge_commit_know_the_base(place: Place) -> None:
    """With the base, only what both sides changed is in dispute."""
    diverge(place, text(status="done", owner="bob"), text(status="blocked", title="Write it"))
    place.git("merge", "other", ok=False)
    place.git("add", "-A")
    place.git("commit", "-qm", "in a hurry")

    assert said(the_one(place)) == {"status": ("open", "done", "blocked")}


def test_markers_saved_in_the_work_tree_are_written_away(place: Place) -> None:
    """They may be there without any merge under way."""
    commit(place, text(), "the task")
    place.repo.write(PATH, marked("done", "blocked"))

    assert the_one(place).kind == "marked"
    resolve(place, every="ours")

    assert (place.repo / PATH).read_text() == text(status="done")
    assert merge_conflicts.find(place.open()) == []


def test_markers_hidden_by_a_waiting_change_are_seen(place: Place) -> None:
    """The file is what the user commits next, whatever waits beside it."""
    commit(place, text(), "the task")
    place.open().change(PATH, text(priority=0))
    place.repo.write(PATH, marked("done", "blocked"))

    assert the_one(place).kind == "marked"


def test_several_hunks_make_two_whole_texts() -> None:
    """Taking only the first hunk would mix the sides."""
    both = "a\n<<<<<<< x\n1\n=======\n2\n>>>>>>> y\nb\n<<<<<<< x\n3\n=======\n>>>>>>> y\nc\n"

    found = conflict_sides.split_markers(both)

    assert found is not None
    assert (found.ours, found.theirs, found.base) == ("a\n1\nb\n3\nc\n", "a\n2\nb\nc\n", None)
    assert (found.called_ours, found.called_theirs) == ("x", "y")


@pytest.mark.parametrize(
    "broken", ["<<<<<<< x\n1\n", "a\n>>>>>>> y\n", "<<<<<<< x\n<<<<<<< x\n=======\n>>>>>>> y\n", "no markers\n"]
)
def test_markers_that_do_not_fit_are_nobodys_guess(broken: str) -> None:
    """A side made up from torn markers would be a text nobody wrote."""
    assert conflict_sides.split_markers(broken) is None


# What a merge overruled.


@pytest.mark.parametrize(("side", "stands"), [("ours", "done"), ("theirs", "blocked")])
def test_a_merge_with_a_strategy_says_what_it_overruled(place: Place, side: str, stands: str) -> None:
    """`-X theirs` throws a decision away without a word."""
    diverge(place, text(status="done"), text(status="blocked", priority=0))
    before = place.git("rev-parse", "HEAD")
    place.git("merge", "-q", "-X", side, "--no-edit", "other")

    clone = place.open()
    assert merge_conflicts.find(clone) == []
    [found] = merge_conflicts.overruled(clone, since=before)
    assert found.kind == "overruled"
    assert said(found) == {"status": ("open", "done", "blocked")}
    assert found.fields[0].stands == stands
    assert "on main" in found.ours.origin
    assert "on other" in found.theirs.origin
    assert merge_conflicts.overruled(clone, since=place.git("rev-parse", "HEAD")) == []


def test_what_was_overruled_can_be_taken_back(place: Place) -> None:
    """A merge is not the last word."""
    diverge(place, text(status="done"), text(status="blocked", priority=0))
    before = place.git("rev-parse", "HEAD")
    place.git("merge", "-q", "-X", "theirs", "--no-edit", "other")
    clone = place.open()

    merge_conflicts.resolve(clone, merge_conflicts.named(clone, "TSK-abc"), {EVERY: "ours"})

    assert seen(place) == replace(TASK, status="done", priority=0)
    assert merge_conflicts.overruled(place.open(), since=before) == []


def test_a_neighbour_lost_with_the_hunk_is_noticed(place: Place) -> None:
    """Only one side changed the title, but the strategy took the whole hunk of the other."""
    diverge(place, older(title="Write it well", status="done"), older(status="blocked"), base=older())
    place.git("merge", "-q", "-X", "theirs", "--no-edit", "other")

    [found] = merge_conflicts.overruled(place.open(), since=None)

    assert {clash.name: clash.stands for clash in found.fields} == {"title": "Write it", "status": "blocked"}


def test_a_merge_in_which_both_are_heard_is_silent(place: Place) -> None:
    """A warning at every merge is read at none."""
    diverge(
        place, text(kind="epic", needs=("TSK-x", "TSK-z")), text(reason="why", needs=("TSK-y",)),
        base=text(needs=("TSK-x",)),
    )  # fmt: skip
    place.git("merge", "other", ok=False)
    resolve(place)
    place.git("commit", "-q", "--no-edit")

    assert merge_conflicts.overruled(place.open(), since=None) == []
    assert seen(place).needs == ("TSK-z", "TSK-y")


def test_what_somebody_chose_is_not_told_again(place: Place) -> None:
    """Who has just decided between two sides knows that one of them lost."""
    diverge(place, text(status="done"), text(status="blocked"))
    place.git("merge", "other", ok=False)
    resolve(place, every="theirs")
    place.git("commit", "-q", "--no-edit")

    assert merge_conflicts.overruled(place.open(), since=None) == []


def test_merges_by_the_thousand_are_not_all_looked_at(place: Place) -> None:
    """A long absence must not make the next command crawl."""
    diverge(place, text(status="done"), text(status="blocked"))
    place.git("merge", "-q", "-X", "ours", "--no-edit", "other")
    place.git("switch", "-q", "other")
    place.repo.commit("later.txt")
    place.git("switch", "-q", "main")
    place.git("merge", "-q", "--no-edit", "other")

    assert merge_conflicts.overruled(place.open(), since=None, limit=1) == []
    assert len(merge_conflicts.overruled(place.open(), since=None, limit=2)) == 1


# Values that people type.


def test_values_are_read_as_the_field_has_them() -> None:
    """`--field needs=TSK-a,TSK-b` must not become one id with a comma."""
    assert value("needs", "TSK-a, TSK-b") == ("TSK-a", "TSK-b")
    assert value("acceptance", '["one, two", three]') == ("one, two", "three")
    assert (value("priority", "0"), value("owner", "null"), value("needs", "")) == (0, None, ())
    with pytest.raises(BadInput, match="not a whole number"):
        value("priority", "high")


def test_a_side_that_cannot_be_read_is_not_taken(place: Place) -> None:
    """Writing a broken file as the resolution would lose the task again."""
    diverge(place, text(status="done"), text().replace("status: open", "status: nowhere"))
    place.git("merge", "other", ok=False)

    with pytest.raises(BrokenEntry, match="nowhere"):
        resolve(place, every="theirs")
    assert resolve(place, every="ours") == text(status="done")


LISTS = st.lists(st.sampled_from(["TSK-a", "TSK-b", "TSK-c"]), unique=True, max_size=3).map(tuple)
VARIANTS = st.fixed_dictionaries(
    {
        "status": st.sampled_from(["open", "done", "blocked"]),
        "owner": st.sampled_from([None, "ada", "bob"]),
        "priority": st.integers(0, 2),
        "needs": LISTS,
        "notes": st.sampled_from(["", "one", "two"]),
    }
)


@given(base=VARIANTS, ours=VARIANTS, theirs=VARIANTS, choice=st.sampled_from(["ours", "theirs"]))
def test_every_field_is_somebodys_and_no_change_is_dropped(
    base: dict[str, Any], ours: dict[str, Any], theirs: dict[str, Any], choice: str
) -> None:
    """A settled text must hold what each side alone changed, and of what both changed the chosen one."""
    texts = [text(**fields) for fields in (base, ours, theirs)]
    fields, merged = compare(PATH, *texts)
    found = EntryConflict(
        PATH, TASK.id, "waiting", texts[0], ConflictSide(texts[1], ""), ConflictSide(texts[2], ""), fields, merged
    )

    done = task_files.parse(settled(found, {EVERY: choice} if fields else {}) or "", PATH)

    for name in ("status", "owner", "priority", "notes"):
        mine, other = ours[name] != base[name], theirs[name] != base[name]
        both = ours if choice == "ours" else theirs
        expected = both if mine and other else ours if mine else theirs
        assert getattr(done, name) == expected[name]
    added = (set(ours["needs"]) | set(theirs["needs"])) - set(base["needs"])
    kept = set(base["needs"]) & set(ours["needs"]) & set(theirs["needs"])
    assert set(done.needs) == added | kept
