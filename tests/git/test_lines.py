"""Lines: what a branch recorded stays with that branch, however git moves it."""

import json
import os
import random
import subprocess
import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest

from holdfast.errors import CorruptLog
from holdfast.git import branch_lines, project_setup, reconcile
from holdfast.model.event import EventDraft
from holdfast.store import fsio
from holdfast.store.layout import Layout
from holdfast.values import replace
from tests.conftest import GitRepo, Quick
from tests.git.place import Place, now


def branch_off(place: Place, name: str, *args: str) -> None:
    place.git("switch", "-q", "-c", name, *args)


def test_a_renamed_branch_keeps_what_it_recorded(place: Place) -> None:
    """Whoever tidies up branch names must not lose the branch's memory."""
    branch_off(place, "feat")
    before = place.line()
    place.ran("r1")
    place.git("branch", "-m", "feature/one")
    assert place.line() == before
    assert place.runs() == {"r1"}
    place.git("branch", "-m", "third")  # and again, and from elsewhere
    place.git("switch", "-q", "main")
    place.git("branch", "-m", "third", "fourth")
    place.git("switch", "-q", "fourth")
    assert (place.line(), place.runs()) == (before, {"r1"})


def test_a_new_branch_under_a_former_name_is_another_line(place: Place) -> None:
    """The name a branch gave up may be taken by somebody else's work."""
    branch_off(place, "feat")
    place.ran("r1")
    place.git("branch", "-m", "old")
    place.git("switch", "-q", "main")
    place.ran("r0")
    branch_off(place, "feat")
    assert place.runs() == {"r0"}
    place.git("switch", "-q", "old")
    assert place.runs() == {"r1"}


def test_a_copied_branch_is_a_line_of_its_own(place: Place) -> None:
    """`git branch -c` copies git's config too; two branches must not share one memory."""
    branch_off(place, "feat")
    place.ran("r1")
    place.git("branch", "-c", "twin")
    place.git("switch", "-q", "twin")
    assert place.line() != branch_lines.configured(place.open().repo)["refs/heads/feat"][0]
    assert place.runs() == {"r1"}, "what waited rides along"
    place.ran("r2")
    place.git("switch", "-q", "feat")
    assert place.runs() == {"r1"}


def test_a_copy_whose_original_is_deleted_first_is_still_a_copy(place: Place) -> None:
    """Copy, delete the original, go on: the copy must not take over the other's identity."""
    branch_off(place, "feat")
    first = place.line()
    place.ran("r1")
    place.git("branch", "-c", "twin")
    place.git("switch", "-q", "twin")
    place.git("branch", "-q", "-D", "feat")
    assert place.line() != first
    assert place.runs() == {"r1"}


def test_a_branch_renamed_over_another_keeps_its_own_line(place: Place) -> None:
    """`git branch -M` leaves two values in git's config; the branch that lives on is the moved one."""
    branch_off(place, "a")
    place.ran("on-a")
    place.git("switch", "-q", "main")
    branch_off(place, "b")
    place.later()  # births within one second at one commit cannot be told apart
    place.git("switch", "-q", "main")
    branch_off(place, "c")
    moved = place.line()
    place.ran("on-c")
    place.git("branch", "-M", "a")
    assert place.line() == moved
    assert place.runs() == {"on-c"}


def test_a_deleted_branch_takes_its_memory_along(place: Place) -> None:
    """A branch of the same name next month must not remember an experiment that was thrown away."""
    branch_off(place, "feat")
    place.ran("r1")
    place.keep("old")
    place.git("switch", "-q", "main")
    place.git("branch", "-q", "-D", "feat")
    branch_off(place, "feat")
    assert place.runs() == set()
    assert place.facts() == {}


def test_plumbing_that_leaves_the_config_behind_makes_a_new_line_too(place: Place) -> None:
    """Tools delete branches with `update-ref -d`, and git's config stays."""
    branch_off(place, "feat")
    first = place.line()
    place.ran("r1")
    place.git("switch", "-q", "main")
    place.git("update-ref", "-d", "refs/heads/feat")
    assert "feat" in place.git("config", "--get-regexp", "branch")
    place.later()
    branch_off(place, "feat")
    assert place.line() != first
    assert place.runs() == set()


def test_a_clock_that_runs_ahead_does_not_make_a_new_line_each_time(place: Place) -> None:
    """A branch made while the clock was wrong must keep its memory once the clock is right."""
    os.environ["GIT_COMMITTER_DATE"] = "2099-01-01T00:00:00Z"
    branch_off(place, "feat")
    del os.environ["GIT_COMMITTER_DATE"]
    place.ran("r1")
    assert place.runs() == {"r1"}
    assert place.line() == place.line()


def test_what_waits_rides_along_to_a_new_branch(place: Place) -> None:
    """Like uncommitted work: switching to a branch is how one publishes what was recorded on main."""
    place.ran("r1")
    place.keep("one")
    branch_off(place, "feat")
    assert place.runs() == {"r1"}
    assert place.facts() == {"one": "It is so."}
    place.ran("r2")
    place.keep("two")
    place.git("switch", "-q", "main")
    assert place.runs() == {"r1"}
    assert set(place.facts()) == {"one"}


def test_what_the_parent_records_afterwards_stays_there(place: Place) -> None:
    """A branch sees what its parent had at that moment, not what came later."""
    place.ran("r1")
    place.keep("one")
    branch_off(place, "feat")
    place.git("switch", "-q", "main")
    place.later()  # reflogs know whole seconds
    place.ran("r2")
    place.keep("two")
    place.keep("one", "It has changed.")
    place.git("switch", "-q", "feat")
    assert place.runs() == {"r1"}
    assert "two" not in place.facts()


def test_a_record_in_the_second_of_birth_counts_as_inherited(place: Place) -> None:
    """Better seen on both branches than lost to the one that needs it."""
    branch_off(place, "feat")
    place.git("switch", "-q", "main")
    born = int(place.git("reflog", "show", "--date=unix", "--format=%gd", "feat").split("{")[1][:-1])
    tie = type(place)(place.repo, place.cache, lambda: now().fromtimestamp(born + 0.9, now().tzinfo))
    tie.ran("tie")
    late = type(place)(place.repo, place.cache, lambda: now().fromtimestamp(born + 1.01, now().tzinfo))
    late.ran("late")
    time.sleep(max(0.0, born + 1.1 - time.time()))
    place.git("switch", "-q", "feat")
    assert place.runs() == {"tie"}


def test_what_the_parent_publishes_afterwards_is_still_inherited(place: Place) -> None:
    """Main publishing first must not take away what a branch already had."""
    place.ran("r1")
    place.keep("one")
    branch_off(place, "feat")
    place.git("switch", "-q", "main")
    place.publish()
    place.git("switch", "-q", "feat")
    assert place.runs() == {"r1"}
    assert set(place.facts()) == {"one"}
    done = place.publish()
    assert ".holdfast/memory/facts/one-FCT-one.md" in done.paths
    assert any("/log/" in path for path in done.paths)
    place.git("merge", "-q", "main")
    assert place.status() == ""


def test_a_branch_of_a_branch_that_never_ran_anything_inherits_from_the_first(place: Place) -> None:
    """Memory must not stop at a branch on which nobody happened to run a command."""
    place.ran("r1")
    branch_off(place, "silent")
    branch_off(place, "child")
    place.git("branch", "-q", "-D", "silent")
    assert place.runs() == {"r1"}


def test_a_grandchild_sees_no_later_than_its_parent(place: Place) -> None:
    """Inheritance passes on what was inherited, not what the first line did meanwhile."""
    place.ran("r1")
    branch_off(place, "feat")
    place.ran("r2")
    place.git("switch", "-q", "main")
    place.later()
    place.ran("later")
    place.git("switch", "-q", "feat")
    branch_off(place, "sub")
    assert place.runs() == {"r1", "r2"}


def test_git_branch_without_switching_inherits_from_where_it_was_made(place: Place) -> None:
    """`git branch x` names its start point; that is the parent, whatever is checked out later."""
    place.ran("on-main")
    branch_off(place, "feat")
    place.ran("on-feat")
    place.git("branch", "x")
    place.git("branch", "y", "main")
    place.git("branch", "z", "HEAD")
    place.later()  # a switch in the second of birth would be taken for `switch -c`
    place.git("switch", "-q", "x")
    assert place.runs() == {"on-main", "on-feat"}
    place.git("switch", "-q", "y")
    assert place.runs() == {"on-main"}
    place.git("switch", "-q", "z")
    assert place.runs() == {"on-main", "on-feat"}


def test_a_branch_made_from_another_branch_is_that_branchs_child(place: Place) -> None:
    """`git switch -c x main` while on feat: feat's secrets do not ride along to x."""
    place.ran("on-main")
    branch_off(place, "feat")
    place.ran("on-feat")
    branch_off(place, "x", "main")
    assert place.runs() == {"on-main"}


def test_a_work_trees_new_branch_inherits(place: Place, tmp_path: Path) -> None:
    """Agents work in worktrees; each begins with what its branch point knew."""
    branch_off(place, "feat")
    place.ran("r1")
    place.git("worktree", "add", "-q", "-b", "agent", str(tmp_path / "wt"))
    there = place.at(tmp_path / "wt")
    assert there.runs() == {"r1"}
    there.ran("r2")
    assert place.runs() == {"r1"}
    assert there.runs() == {"r1", "r2"}


def test_a_detached_head_has_a_line_of_its_own(place: Place, tmp_path: Path) -> None:
    """What is tried on an old commit must not show on the branch, and must not be lost either."""
    place.ran("r1")
    place.git("switch", "-q", "--detach")
    assert place.runs() == {"r1"}
    place.ran("r2")
    place.git("switch", "-q", "main")
    assert place.runs() == {"r1"}
    assert {"r1", "r2"} <= place.all_runs()
    place.git("switch", "-q", "--detach")
    assert place.runs() == {"r1", "r2"}
    branch_off(place, "kept")
    assert place.runs() == {"r1", "r2"}, "a branch made there takes it along"


def test_two_detached_work_trees_do_not_see_each_other(place: Place, tmp_path: Path) -> None:
    """Two agents on detached work trees are two lines."""
    trees = []
    for name in ("one", "two"):
        place.git("worktree", "add", "-q", "--detach", str(tmp_path / name))
        trees.append(place.at(tmp_path / name))
        trees[-1].ran(name)
    assert [tree.runs() for tree in trees] == [{"one"}, {"two"}]


def test_during_a_rebase_the_branch_being_rebased_counts(place: Place) -> None:
    """HEAD is detached then, but the work is the branch's."""
    branch_off(place, "feat")
    place.repo.commit("clash", "ours\n")
    place.ran("r1")
    line = place.line()
    place.git("switch", "-q", "main")
    place.repo.commit("clash", "theirs\n")
    place.git("switch", "-q", "feat")
    place.git("rebase", "-q", "main", ok=False)
    assert place.git("rev-parse", "--abbrev-ref", "HEAD") == "HEAD"
    assert place.line() == line
    place.ran("r2")
    place.git("rebase", "--abort")
    assert place.runs() == {"r1", "r2"}


def test_a_branch_before_its_first_commit_keeps_its_line_after_it(tmp_path: Path) -> None:
    """Whoever sets up memory in an empty repository keeps what was recorded before the first commit."""
    (tmp_path / "new").mkdir()
    repo = GitRepo(tmp_path / "new")
    repo.git("init", "-q", "-b", "main")
    project_setup.initialise(str(repo.path), cache=str(tmp_path / "cache"))
    place = Place(repo, str(tmp_path / "cache"))
    place.ran("r1")
    line = place.line()
    place.later()  # a birth that is clearly later than the line
    repo.commit("a")
    assert place.line() == line
    assert place.runs() == {"r1"}
    assert place.publish().commit


@pytest.mark.parametrize(
    "name", ["feature/deep/er", "v1.2.x", "größe-日本", "a=b", 'quo"te', "x" * 200, "with.holdfast"]
)
def test_any_name_git_allows_is_a_line(place: Place, name: str) -> None:
    """Branch names are people's; none may break or share a memory."""
    place.ran("r0")
    branch_off(place, name)
    line = place.line()
    place.ran("r1")
    assert place.line() == line != ""
    assert place.runs() == {"r0", "r1"}
    place.git("branch", "-m", "other")
    assert place.line() == line


def test_of_several_values_the_last_counts(place: Place) -> None:
    """Two tools, or a hand, may have added a value; every reader must choose the same."""
    branch_off(place, "feat")
    line = place.line()
    place.ran("r1")
    place.git("config", "--replace-all", "branch.feat.holdfast", "nonsense refs/heads/feat")
    place.git("config", "--add", "branch.feat.holdfast", f"{line} refs/heads/feat")
    assert (place.line(), place.runs()) == (line, {"r1"})
    assert branch_lines.configured(place.open().repo)["refs/heads/feat"] == (line, "refs/heads/feat")
    place.git("switch", "-q", "main")
    assert line in branch_lines.alive(place.open().repo, place.open().layout)


PLAIN = (
    b"[core]\n\tbare = false\n",
    b'[branch "main"]\n\tremote = origin\n\tholdfast = abc refs/heads/main\n',
    b'[branch "main"]\n\tholdfast = later refs/heads/main\n',
    b'[branch "a]#;b"]\n\tholdfast = def refs/heads/plain\n[remote "origin"]\n\tholdfast = no\n',
    b'[Branch "Cased"]\n\tHoldfast = ghi refs/heads/Cased  \n\n# [branch "no"]\n',
    b'[branch "\xff"]\n\tholdfast = jkl refs/heads/\xff\n',
    b'[alias]\n\tx = "!f() { a; }; f"  # why\n\tholdfast = no\n',
)
ODD = (
    b"[branch.dotted]\n\tholdfast = abc refs/heads/dotted\n",
    b'[branch "one"] holdfast = abc refs/heads/one\n',
    b'[branch "two"] holdfast = "abc refs/heads/two"]\n',
    b'[branch "q\\"q"]\n\tholdfast = abc refs/heads/q\n',
    b'[branch   "wide"]\n\tholdfast = abc refs/heads/wide\n',
    b'[branch "tight"]\n\tholdfast=abc refs/heads/tight\n',
    b'[branch "quoted"]\n\tholdfast = "abc refs/heads/quoted"\n',
    b'[branch "noted"]\n\tholdfast = abc refs/heads/noted # why\n',
    b'[branch "long"]\n\tholdfast = abc \\\nrefs/heads/long\n',
    b'[alias]\n\tx = a \\\n[branch "never"]\n\tholdfast = abc refs/heads/never\n',
    b'[branch "dos"]\r\n\tholdfast = abc refs/heads/dos\r\n',
    b"[include]\n\tpath = more\n",
)
NO_LINE = b"[alias]\n\tx = a \\\n\t b\n"


def test_the_file_says_what_git_says_of_it(place: Place, seed: int) -> None:
    """A line that is read from git's file as git would not read it is another branch's memory, or nobody's."""
    chosen, repo = random.Random(seed), place.open().repo
    config, kept = place.repo / ".git/config", (place.repo / ".git/config").read_bytes()
    (place.repo / ".git/more").write_bytes(b'[branch "more"]\n\tholdfast = abc refs/heads/more\n')
    texts = [kept, *(kept + one for one in (*PLAIN, *ODD)), PLAIN[0], PLAIN[0] + ODD[-1], PLAIN[0] + NO_LINE]
    texts += [kept + b"".join(chosen.choices((*PLAIN, *ODD), k=4)) for _ in range(6)]
    for text in texts:
        config.write_bytes(text)
        listed = subprocess.run(
            ["git", "config", "--null", "--get-regexp", r"\.holdfast$"],
            cwd=place.repo.path, capture_output=True, check=False,
        ).stdout  # fmt: skip
        rows = [os.fsdecode(row).split("\n", 1) for row in listed.split(b"\0") if row.startswith(b"branch.")]
        found = {f"refs/heads/{name[7:-9]}": tuple(value.split(" ", 1)) for name, value in rows}
        assert branch_lines.configured(repo) == found, text
        plain = branch_lines._rows_of_plain_config(repo)
        assert (plain is None) == any(odd in text for odd in (*ODD, NO_LINE)), text
    config.write_bytes(kept)


def test_a_config_lock_held_for_a_moment_is_waited_for(place: Place) -> None:
    """Another git writing its config must not cost a branch its identity."""
    branch_off(place, "feat")
    lock = place.repo / ".git/config.lock"
    lock.touch()
    threading.Timer(0.3, lock.unlink).start()
    assert not place.line().startswith("ref-")
    assert place.git("config", "branch.feat.holdfast").startswith(place.line())


def test_what_was_recorded_under_a_read_only_config_is_found_again(place: Place, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """Sandboxes deny git's config; their work must still be there when the sandbox is gone."""
    place.ran("r0")
    branch_off(place, "feat")
    with monkeypatch.context() as denied:
        denied.setattr(branch_lines, "_claim", lambda *_: False)
        assert place.line().startswith("ref-")
        place.ran("r1")
        place.keep("one")
        assert place.line() == place.line()
        assert place.runs() == {"r0", "r1"}
    assert not place.line().startswith("ref-")
    assert place.runs() == {"r0", "r1"}
    assert set(place.facts()) == {"one"}
    branch_off(place, "sub")
    assert place.runs() == {"r0", "r1"}, "and it is passed on"
    place.git("switch", "-q", "feat")
    assert place.publish().events == 2
    assert not reconcile.examine(place.open()).orphans


def test_a_later_branch_of_the_same_name_does_not_see_a_sandboxs_records(place: Place, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """The name alone is no identity."""
    branch_off(place, "feat")
    with monkeypatch.context() as denied:
        denied.setattr(branch_lines, "_claim", lambda *_: False)
        place.ran("r1")
    place.git("switch", "-q", "main")
    place.git("branch", "-q", "-D", "feat")
    place.later()
    branch_off(place, "feat")
    assert place.runs() == set()
    assert [orphan.name for orphan in reconcile.examine(place.open()).orphans] == ["feat"]


def test_a_process_that_lives_through_a_branch_change_records_where_it_is(place: Place) -> None:
    """A long agent run follows the user's switch, rename and delete."""
    clone = place.open()
    clone.record(EventDraft("run", run_id="r0"))
    branch_off(place, "feat")
    first = clone.record(EventDraft("run", run_id="r1")).line
    place.git("branch", "-m", "feat2")
    assert clone.record(EventDraft("run", run_id="r2")).line == first
    place.git("switch", "-q", "main")
    place.git("branch", "-q", "-D", "feat2")
    branch_off(place, "feat2")
    assert clone.record(EventDraft("run", run_id="r3")).line != first
    assert place.runs() == {"r0", "r3"}


def test_racing_first_commands_on_one_branch_make_one_line(place: Place) -> None:
    """Agents start at once; two ids for one branch would split its memory."""
    branch_off(place, "feat")
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(place.line())) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 16
    assert len(set(found)) == 1


def test_a_damaged_record_of_a_line_is_named_and_not_written_over(place: Place) -> None:
    """A damaged record must be named, not crash; a new line would hide what waits on the branch."""
    line = place.line()
    record = place.store / "lines" / f"{line}.json"
    record.write_text(json.dumps({"id": line}))
    clone = place.open()
    assert clone.line().id == line
    assert any("not a record of a line" in note for note in clone.notes)
    assert json.loads(record.read_text()) == {"id": line}


def test_no_clock_difference_shows_another_lines_future(place: Place) -> None:
    """An event a parent records long after the branch point stays its own."""
    place.ran("r1")
    branch_off(place, "feat")
    place.ran("r2")
    place.git("switch", "-q", "main")
    later = Place(place.repo, place.cache, lambda: now() + timedelta(hours=1))
    later.ran("r3")
    place.git("switch", "-q", "feat")
    assert place.runs() == {"r1", "r2"}


def test_what_a_branch_took_along_is_not_changed_by_its_parent(place: Place) -> None:
    """The parent thinks again; the branch still has the text it was made with."""
    place.keep("one", "First.")
    branch_off(place, "feat")
    place.line()
    place.git("switch", "-q", "main")
    place.keep("one", "Second.")
    place.git("switch", "-q", "feat")
    assert place.facts() == {"one": "First."}


def test_a_parent_that_was_renamed_or_deleted_since_is_still_the_parent(place: Place) -> None:
    """The reflog names the parent as it was called then."""
    place.ran("r1")
    place.git("branch", "x")
    branch_off(place, "feat")
    place.ran("r2")
    place.git("branch", "y")
    place.git("switch", "-q", "main")
    place.git("branch", "-m", "trunk")
    place.git("branch", "-q", "-D", "feat")
    place.git("switch", "-q", "x")
    assert place.runs() == {"r1"}
    place.git("switch", "-q", "y")
    assert place.runs() == {"r1", "r2"}


# Records, one by one.

SOME = branch_lines.KnownLine("abc", ("refs/heads/a", "refs/heads/b"), "2031-01-01T00:00:00.000000Z", ())


def test_a_line_sees_its_own_and_what_it_took_along() -> None:
    """What another line records later is none of its business."""
    line = branch_lines.BranchLine(
        "me", None, (branch_lines.InheritedLine("all", None), branch_lines.InheritedLine("some", "2031-06"))
    )
    assert line.sees("me", "9") and line.sees("all", "9999")
    assert line.sees("some", "2031-06") and line.sees("some", "2031-05") and not line.sees("some", "2031-07")
    assert not line.sees("other", "0")


def test_the_latest_moment_up_to_which_a_line_is_seen_counts() -> None:
    """A line may have been inherited twice; what was dealt with waits no longer."""
    inherits = [("one", "3"), ("one", "5"), ("one", "4"), ("two", "3"), ("two", None), ("two", "9"), ("done", "1")]
    done = frozenset({branch_lines.all_of("done"), branch_lines.events_of("two")})
    line = branch_lines.BranchLine("me", None, tuple(branch_lines.InheritedLine(*one) for one in inherits), done)
    assert line.limits() == {"one": "5", "two": None, "me": None}
    assert line.passed_events_of("two") and not line.passed_events_of("done")


def test_what_is_inherited_through_another_is_no_later_than_that() -> None:
    """A grandchild sees the first line as its parent did, at the moment it left."""
    further = (
        branch_lines.InheritedLine("x", None),
        branch_lines.InheritedLine("y", "3"),
        branch_lines.InheritedLine("z", "9"),
    )
    found = branch_lines.chain(replace(SOME, inherits=further), "5")
    assert [(i.line, i.until) for i in found] == [("abc", "5"), ("x", "5"), ("y", "3"), ("z", "5")]


def test_people_are_told_the_branch_or_the_detached_work_tree() -> None:
    """An id says nothing to anybody."""
    assert branch_lines.called("refs/heads/feature/one") == "feature/one"
    assert branch_lines.called("detached:.git") == "a detached HEAD"
    assert branch_lines.called("detached:side") == "a detached HEAD in side"


@pytest.fixture
def stores(tmp_path: Path) -> list[Layout]:
    made = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        made.append(Layout(str(tmp_path), str(tmp_path / name)))
    return made


def test_a_record_comes_back_as_it_was_and_the_first_stores_counts(stores: list[Layout]) -> None:
    """A sandbox has a store of its own; where both know a line, the one that can be written is right."""
    inherits = (branch_lines.InheritedLine("x", None), branch_lines.InheritedLine("y", "2031-01-01T00:00:00.000000Z"))
    first = replace(SOME, inherits=inherits, dropped=True, born="b", done=(("k", "1"),))
    other = replace(SOME, id="other")
    branch_lines.save(stores[0], first)
    branch_lines.save(stores[1], replace(SOME, created="later"))
    branch_lines.save(stores[1], other)
    assert branch_lines.known(*stores) == {"abc": first, "other": other}
    assert branch_lines.find(stores, "abc") == first and branch_lines.find(stores, "other") == other
    assert branch_lines.find(stores, "none") is None
    branch_lines.pass_by(stores[0], "abc", ["n"], ts="2")
    branch_lines.pass_by(stores[0], "abc", ["k"], ts="3")
    branch_lines.pass_by(stores[0], "abc", [], ts="4")
    branch_lines.pass_by(stores[0], "none", ["n"], ts="2")
    found = branch_lines.find(stores, "abc")
    assert found is not None and dict(found.done) == {"k": "3", "n": "2"}
    assert sorted(os.listdir(stores[0].lines)) == ["abc.json"]


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"id": "other"}, "it belongs to line 'other'"),
        ({"refs": []}, "its branch or its times"),
        ({"refs": "main"}, "not a list"),
        ({"refs": [7]}, "its branch or its times"),
        ({"created": 7}, "its branch or its times"),
        ({"born": 7}, "its branch or its times"),
        ({"done": {"k": 7}}, "its branch or its times"),
        ({"done": []}, "is not a record"),
        ({"inherits": [{"line": "x", "until": 7}]}, "its branch or its times"),
        ({"inherits": [{"line": "../x", "until": None}]}, "inherits from something that is not a line"),
        ({"inherits": [{"line": "x"}]}, "is not a record"),
        ({"inherits": 7}, "is not a record"),
    ],
)
def test_a_record_that_is_none_is_named_and_does_not_count(
    stores: list[Layout], changed: dict[str, object], why: str
) -> None:
    """A line that sees too much shows one branch's work on another."""
    branch_lines.save(stores[0], SOME)
    branch_lines.save(stores[0], replace(SOME, id="sound"))
    path = Path(stores[0].lines, "abc.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))
    with pytest.raises(CorruptLog, match=why):
        branch_lines.read(str(path))
    assert branch_lines.find(stores, "abc") is None and list(branch_lines.known(*stores)) == ["sound"]
    assert [note for note in stores[0].notes if "abc.json" in note]
    assert [name for name, _ in branch_lines.damaged(stores[0])] == [str(path)]
    (path.parent / "notes.txt").write_text("{")
    path.unlink()
    path.symlink_to("sound.json")
    assert [name for name, _ in branch_lines.damaged(stores[0])] == [str(path)]
    with pytest.raises(CorruptLog, match="symbolic link"):
        branch_lines.read(str(path))
    with pytest.raises(FileNotFoundError):
        branch_lines.read(str(path.parent / "none.json"))


def test_a_damaged_records_id_is_taken_by_nobody(stores: list[Layout]) -> None:
    """Writing over it would lose what it still tells somebody."""
    assert not branch_lines._has_record(stores, "abc")
    branch_lines.save(stores[1], SOME)
    assert branch_lines._has_record(stores, "abc") and not branch_lines._has_record(stores, "../first/abc")
    Path(stores[0].lines).write_bytes(b"in the way")
    assert branch_lines._has_record(stores, "whatever") and not branch_lines._has_record(stores, "../x")


def test_which_lines_still_live(place: Place, tmp_path: Path) -> None:
    """What is alive is kept and listed; what is not may be let go."""
    main = place.line()
    branch_off(place, "gone")
    gone = place.line()
    branch_off(place, "feat")
    feat = place.line()
    place.git("branch", "-q", "-D", "gone")
    place.git("worktree", "add", "-q", "--detach", str(tmp_path / "side"), "main")
    side = place.at(tmp_path / "side").line()
    clone = place.open()
    assert {main, feat, side} <= branch_lines.alive(clone.repo, *clone.stores)
    assert gone not in branch_lines.alive(clone.repo, *clone.stores)
    ended = "ref-" + "0" * 12
    for name, ref in ((ended, "refs/heads/none"), ("ref-" + "1" * 12, "refs/heads/feat")):
        branch_lines.save(clone.layout, branch_lines.KnownLine(name, (ref,), "2031-01-01T00:00:00.000000Z", ()))
    branch_lines.save(clone.layout, branch_lines.KnownLine("ref-" + "2" * 12, ("detached:side",), "2031", ()))
    whole = branch_lines.find(clone.stores, feat)
    assert whole is not None
    branch_lines.save(
        clone.layout,
        replace(
            whole, inherits=(branch_lines.InheritedLine("taken-in", None), branch_lines.InheritedLine("seen", "2"))
        ),
    )
    living = branch_lines.alive(clone.repo, *clone.stores)
    assert {"ref-" + "1" * 12, "ref-" + "2" * 12, "taken-in"} <= living
    assert not {ended, "seen", gone} & living
    (Path(clone.repo.common_dir) / "worktrees/side/holdfast-line").unlink()
    assert side not in branch_lines.alive(clone.repo, *clone.stores)


def test_a_record_that_was_lost_is_written_again_from_what_git_knows(place: Place) -> None:
    """Its branch, its birth and its parent stand in git's own files."""
    main = place.line()
    branch_off(place, "feat")
    feat = place.line()
    clone = place.open()
    before = branch_lines.find(clone.stores, feat)
    os.unlink(Path(clone.layout.lines, f"{feat}.json"))
    branch_lines.mend(clone.repo, clone.stores, feat, clone.clock)
    after = branch_lines.find(clone.stores, feat)
    assert before is not None and after is not None
    assert (after.refs, after.born) == (before.refs, before.born)
    assert [i.line for i in after.inherits] == [i.line for i in before.inherits] == [main]
    branch_lines.mend(clone.repo, clone.stores, "lost1", clone.clock)
    lost = branch_lines.find(clone.stores, "lost1")
    assert lost is not None and (lost.refs, lost.inherits) == (("refs/heads/lost1",), ())
    place.git("switch", "-q", "--detach")
    here = place.line()
    clone = place.open()
    os.unlink(Path(clone.layout.lines, f"{here}.json"))
    branch_lines.mend(clone.repo, clone.stores, here, clone.clock)
    again = branch_lines.find(clone.stores, here)
    assert again is not None and again.refs == ("detached:.git",) and feat in [i.line for i in again.inherits]


def test_who_only_reads_makes_no_line(place: Place) -> None:
    """`doctor` looks at a store that may be somebody else's."""
    branch_off(place, "feat")
    for step in ("feat", "--detach"):
        if step != "feat":
            place.git("switch", "-q", step)
        clone = place.open()
        clone.reading = True
        before = sorted(place.files()), place.git("config", "--list", "--local")
        head = clone.repo.head()
        seen = branch_lines.current(clone.repo, clone.stores, head, clone.clock, reading=True)
        assert seen.id and (seen.ref == "refs/heads/feat") == (step == "feat")
        assert (sorted(place.files()), place.git("config", "--list", "--local")) == before


def test_a_damaged_record_of_a_detached_line_is_not_written_over_either(place: Place) -> None:
    """A new line would hide what waits there."""
    place.git("switch", "-q", "--detach")
    line = place.line()
    record = place.store / "lines" / f"{line}.json"
    assert record.exists() and place.line() == line
    record.write_text("{")
    clone = place.open()
    assert (clone.line().id, clone.line().whole) == (line, False)
    assert record.read_text() == "{"
    record.unlink()
    assert place.line() != line, "nothing is left of it"


class ReadOnlyGit(Quick):
    """A sandbox in which the work tree's own git folder cannot be written."""

    def open(self, path: str, flags: int, mode: int) -> int:
        if branch_lines.DETACHED in path:
            raise OSError(30, "read-only")
        return super().open(path, flags, mode)


def test_what_a_detached_head_recorded_in_a_sandbox_is_found_again(place: Place) -> None:
    """Its line cannot be noted in git's folder; its name follows from the folder's."""
    place.ran("r0")
    place.git("switch", "-q", "--detach")
    before, fsio.ops = fsio.ops, ReadOnlyGit()
    try:
        aside = place.line()
        assert aside.startswith("ref-") and place.line() == aside
        place.ran("r1")
    finally:
        fsio.ops = before
    assert not place.line().startswith("ref-")
    assert place.runs() == {"r0", "r1"}
    found = branch_lines.find(place.open().stores, place.line())
    assert found is not None and found.inherits[0] == branch_lines.InheritedLine(aside, None)
    whole = branch_lines.find(place.open().stores, aside)
    assert whole is not None
    branch_lines.save(place.open().layout, replace(whole, dropped=True))
    (place.repo / ".git" / branch_lines.DETACHED).unlink()
    assert place.runs() == {"r0"}, "what was dropped is not taken in again"
