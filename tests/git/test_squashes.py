"""Several commits that became one, and the part of history that is looked at to find it."""

import os
import shutil
from pathlib import Path

import pytest

from holdfast.git.cited_commits import commit_anchors, commit_details, commit_matching
from holdfast.git.cited_commits.anchor_store import CommitAnchor
from holdfast.git.cited_commits.commit_matching import HistoryWindow
from tests.conftest import GitRepo
from tests.git.place import Place


@pytest.fixture
def place(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A project on a branch of its own, copied from one that is made once."""
    template = tmp_path_factory.getbasetemp() / "squashes"
    if not template.exists():
        Place.make(template / "repo").git("switch", "-q", "-c", "work")
    shutil.copytree(template / "repo", tmp_path / "repo")
    return Place(GitRepo(tmp_path / "repo"), str(tmp_path / "cache"))


def add(place: Place, *names: str) -> list[str]:
    """A commit for each name, with a line of its own."""
    return [place.repo.commit(f"{n}.txt", f"the work on {n}, in words\n", f"add {n}") for n in names]


def head(place: Place, rev: str = "HEAD") -> str:
    return place.git("rev-parse", rev)


def where(place: Place, *oids: str) -> list[tuple[str | None, str]]:
    found = commit_anchors.resolve(place.open(), oids)
    return [(found[oid].commit, found[oid].how) for oid in oids]


def squash(place: Place, onto: str, words: str = "The feature", branch: str = "work") -> str:
    """What a forge does: one commit of a branch, and the branch goes."""
    place.git("switch", "-q", onto)
    place.git("merge", "-q", "--squash", branch)
    place.git("commit", "-q", "-m", words, "--author=Bob <bob@example.org>")
    place.git("branch", "-q", "-D", branch)
    return head(place)


def test_some_commits_in_the_middle_were_squashed(place: Place) -> None:
    """An interactive rebase joins two of four; the others are found by their patch."""
    a, b, c, d = add(place, *"abcd")
    place.git("reset", "-q", "--hard", a)
    place.git("cherry-pick", "--no-commit", b, c)
    place.git("commit", "-q", "-m", "joined", "--author=Bob <bob@example.org>")
    joined = head(place)
    place.git("cherry-pick", d)
    assert where(place, a, b, c, d) == [(a, ""), (joined, "squash"), (joined, "squash"), (head(place), "patch-id")]


def test_the_first_commits_or_the_last_were_squashed(place: Place) -> None:
    """The row may begin before the lost commit, or end after it."""
    a, b, c = add(place, *"abc")
    place.git("reset", "-q", "--hard", "main")
    place.git("cherry-pick", "--no-commit", a, b)
    place.git("commit", "-q", "-m", "joined", "--author=Bob <bob@example.org>")
    place.git("cherry-pick", c)
    assert where(place, a, b) == [(head(place, "HEAD^"), "squash")] * 2


def test_a_branch_that_took_trunk_in_is_squashed_against_the_point_they_last_met(place: Place) -> None:
    """Its own change is what it has and trunk has not."""
    a, b = add(place, "a", "b")
    place.git("switch", "-q", "main")
    place.repo.commit("trunk.txt")
    place.git("switch", "-q", "work")
    place.git("merge", "-q", "--no-edit", "main")
    (c,) = add(place, "c")
    new = squash(place, "main")
    assert where(place, a, b, c) == [(new, "squash")] * 3


def test_a_branch_of_one_commit_that_took_trunk_in_is_no_squash(place: Place) -> None:
    """One commit is a commit; it is known by its patch."""
    (a,) = add(place, "a")
    new = squash(place, "main")
    assert where(place, a)[0][1] != "squash" and where(place, a)[0][0] in (None, new)


def test_what_cancelled_out_is_not_in_the_squash(place: Place) -> None:
    """Of a commit, its revert and another the squash is the other alone."""
    a, b = add(place, "a", "b")
    place.git("revert", "--no-edit", a)
    taken_back = head(place)
    new = squash(place, "main")
    found = where(place, a, b, taken_back)
    assert found[0] == (None, "") and found[2] == (None, "")
    assert found[1][0] in (None, new)


def test_a_second_try_at_the_same_lines_is_in_the_squash(place: Place) -> None:
    """Only who takes the whole change back takes it out."""
    first = place.repo.commit("a.txt", "the first try at it\nand a second line\n", "try")
    second = place.repo.commit("a.txt", "the second try at it\nand a second line\n", "again")
    (rest,) = add(place, "rest")
    new = squash(place, "main")
    assert where(place, first, second, rest) == [(new, "squash")] * 3


def test_a_revert_with_more_in_it_takes_back_all_the_same(place: Place) -> None:
    """It says so, and holds the reverse of every line."""
    a, b = add(place, "a", "b")
    place.git("revert", "--no-commit", a)
    place.repo.write("more.txt", "and something more, too\n")
    place.git("add", "-A")
    place.git("commit", "-q", "-m", 'Revert "add a"')
    more = head(place)
    new = squash(place, "main")
    assert where(place, a, b) == [(None, ""), (new, "squash")]
    assert where(place, more)[0][0] in (None, new)


BASE = [f"line number {number} of a long file" for number in range(20)]


def edited(place: Place, changes: dict[int, str], words: str) -> str:
    """A commit in which some lines of the long file are others; an empty one is gone."""
    lines = [changes.get(number, line) for number, line in enumerate(BASE)]
    return place.repo.commit("long.txt", "\n".join(filter(None, lines)) + "\n", words)


def with_a_long_file(place: Place) -> None:
    place.git("switch", "-q", "main")
    edited(place, {}, "a long file")
    place.git("switch", "-q", "-C", "work")


def test_what_was_reverted_is_not_in_the_squash_though_it_is_of_the_same_file(place: Place) -> None:
    """The squash touches the file, but nothing of what was cited is left in it."""
    with_a_long_file(place)
    lines = {2: "another second line, in words"}
    first = edited(place, lines, "the first")
    second = edited(place, lines | {17: "another last line, in words"}, "the second")
    edited(place, lines | {17: "another last line, in words", 10: "another middle, in words"}, "the third")
    place.git("revert", "--no-edit", first)
    new = squash(place, "main")
    assert where(place, first, second) == [(None, ""), (new, "squash")]


def test_what_cancelled_out_in_several_steps_is_not_in_the_squash(place: Place) -> None:
    """No commit takes it back alone; the squash is one other commit of the row, to the last line."""
    with_a_long_file(place)
    first = edited(place, {2: "another second line, in words"}, "the first")
    edited(place, {2: "a third try at this line, in words"}, "again")
    edited(place, {}, "as it was")
    edited(place, {17: "another last line, in words"}, "the other")
    squash(place, "main")
    assert where(place, first) == [(None, "")]


def test_what_was_committed_before_is_no_squash_of_what_came_after(place: Place) -> None:
    """A branch that repeats what trunk has did not become trunk."""
    place.git("switch", "-q", "main")
    place.repo.write("a.txt", "the work on a, in words\n")
    place.repo.write("b.txt", "the work on b, in words\n")
    place.git("add", "-A")
    place.git("commit", "-q", "-m", "both", "--author=Bob <bob@example.org>")
    place.later()
    place.git("switch", "-q", "work")
    a, b = add(place, "a", "b")
    place.git("switch", "-q", "main")
    place.git("branch", "-q", "-D", "work")
    assert where(place, a, b) == [(None, "")] * 2


def test_of_two_squashes_the_one_at_hand_counts(place: Place) -> None:
    """The branch went to two releases."""
    a, b = add(place, "a", "b")
    place.git("branch", "-q", "twin")
    one = squash(place, "main")
    place.git("switch", "-q", "-c", "release", "HEAD^")
    place.repo.commit("other.txt")
    place.later()
    two = squash(place, "release", branch="twin")
    assert where(place, a, b) == [(two, "squash")] * 2
    place.git("switch", "-q", "main")
    assert where(place, a, b) == [(one, "squash")] * 2
    place.git("switch", "-q", "--detach", "main^")
    assert where(place, a, b) == [(None, "")] * 2


def test_a_history_without_a_common_point_is_no_obstacle(place: Place) -> None:
    """HEAD may be an orphan, or not there yet."""
    a, b = add(place, "a", "b")
    new = squash(place, "main")
    place.git("switch", "-q", "--orphan", "alone")
    assert where(place, a, b) == [(new, "squash")] * 2
    place.repo.commit("alone.txt")
    assert where(place, a, b) == [(new, "squash")] * 2


# The ways through what was lost.


def lost(place: Place, oids: list[str]) -> HistoryWindow:
    """The window after these commits were thrown away."""
    commit_anchors.keep(place.open(), oids)
    place.git("reset", "-q", "--hard", "main")
    return seen(place, oids)


def seen(place: Place, oids: list[str]) -> HistoryWindow:
    described: dict[str, CommitAnchor] = commit_anchors._described(place.open().repo, oids)
    return HistoryWindow(place.open().repo, described, here=oids)


def test_the_line_before_ends_at_a_merge_or_at_what_is_not_lost(place: Place) -> None:
    """Beyond a merge there is no row."""
    a, b = add(place, "a", "b")
    place.git("switch", "-q", "-c", "side", a)
    add(place, "side")
    place.git("switch", "-q", "work")
    place.git("merge", "-q", "--no-edit", "side")
    merge = head(place)
    (c,) = add(place, "c")
    place.git("branch", "-q", "-D", "side")
    found = lost(place, [a, b, merge, c])
    assert commit_matching._line_before(found.lost, b) == [b, a]
    assert commit_matching._line_before(found.lost, c) == [c, merge]
    assert commit_matching._line_before(found.lost, a) == [a]
    ways = commit_matching._tips(found.lost, b)
    assert ways[0] == () and set(ways) == {(), (merge,), (merge, c)}
    assert len(commit_matching._tips(found.lost, a)) == 7  # itself, and by each side of the merge to the end


def test_only_so_far_back_and_on_is_looked(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """No question takes for ever."""
    oids = add(place, *"abcde")
    found = lost(place, oids)
    monkeypatch.setattr(commit_matching, "_BACK", 3)
    monkeypatch.setattr(commit_matching, "_TIPS", 2)
    assert commit_matching._line_before(found.lost, oids[4]) == oids[:1:-1]
    assert commit_matching._tips(found.lost, oids[0]) == [(), (oids[1],)]


def test_history_that_is_too_long_is_known_to_be_cut(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then a mere likeness proves nothing: the commit itself may lie beyond."""
    (old,) = add(place, "a")
    place.git("commit", "-q", "--amend", "-m", "other words")
    place.later()
    add(place, "b", "c")
    here = seen(place, [old])
    assert not here.cut and len(here.patches) >= 1
    count, read = len(here.reachable), len(here.patches)
    for name, limit, cut in (
        ("MAX_COMMITS", count + 1, False),
        ("MAX_COMMITS", count, True),
        ("MAX_PATCHES", read, False),
        ("MAX_PATCHES", 0, True),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(commit_matching, name, limit)
            assert seen(place, [old]).cut is cut, (name, limit)


def test_what_is_seen_of_a_lost_commit(place: Place) -> None:
    """Not its own past, not itself under another name, and who else was lost beside it."""
    a, b = add(place, "a", "b")
    place.repo.write("a.txt", "the work on a, in words\n")
    place.git("reset", "-q", "--hard", "main")
    place.later()
    place.git("cherry-pick", b)
    picked = head(place)
    here = seen(place, [a, b])
    of_a = here.scope_of(here._anchors[a], own=[])
    assert {commit.oid for commit in of_a.commits} == {picked} and of_a.here
    assert of_a.others == {here.lost_patches[b].patch_id}
    assert here.scope_of(here._anchors[a], own=[b]).others == set()
    of_b = here.scope_of(here._anchors[b], own=[])
    assert of_b.others == {here.lost_patches[a].patch_id} and picked in of_b.patches
    assert of_a.near == here.near and picked in here.near and b not in here.near
    base = head(place, "main")
    assert here.trees([a, base, "f" * 40]) == {a: head(place, f"{a}^{{tree}}"), base: head(place, "main^{tree}")}
    assert here.commit(picked) is not None and here.commit("f" * 40) is None
    assert commit_details.adrift(place.open().repo, []) == (set(), set())
    assert commit_details.adrift(place.open().repo, ["f" * 40]) == (set(), set())
    assert commit_details.adrift(place.open().repo, [a, picked, "f" * 40]) == ({a, picked}, {a})


def test_a_commit_from_the_future_has_nothing_after_it(place: Place) -> None:
    """A clock was wrong; nothing reachable is as young, and that is no error."""
    place.repo.write("a.txt", "the work on a, in words\n")
    place.git("add", "-A")
    for name in ("GIT_COMMITTER_DATE", "GIT_AUTHOR_DATE"):
        os.environ[name] = "2090-01-01T00:00:00Z"
    place.git("commit", "-q", "-m", "add a")
    del os.environ["GIT_COMMITTER_DATE"], os.environ["GIT_AUTHOR_DATE"]
    old = head(place)
    place.git("reset", "-q", "--hard", "main")
    assert where(place, old) == [(None, "")]
    assert seen(place, [old]).reachable == {}
