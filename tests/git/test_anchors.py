"""Each way in which history is rewritten, one at a time: where the commit is now, and how it was found."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from holdfast.git.cited_commits import anchor_store, commit_anchors, commit_details, rewrite_map
from holdfast.git.cited_commits.commit_anchors import ResolvedCommit
from holdfast.git.clone import Clone
from tests.conftest import GitRepo
from tests.git.place import Place


@pytest.fixture
def place(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A project, copied from one that is made once: setting up costs more than most of these tests."""
    template = tmp_path_factory.getbasetemp() / "anchors"
    if not template.exists():
        Place.make(template / "repo")
    shutil.copytree(template / "repo", tmp_path / "repo")
    return Place(GitRepo(tmp_path / "repo"), str(tmp_path / "cache"))


KEY = "AKIA" + "Z7QK3M5RT2WX6Y4B"


def where(place: Place, oid: str) -> tuple[str | None, str]:
    """The commit's present name and how it was found."""
    return all_of(place, [oid])[0]


def all_of(place: Place, oids: list[str]) -> list[tuple[str | None, str]]:
    """The same for several; what state each is in follows from it."""
    found = commit_anchors.resolve(place.open(), oids)
    for oid, one in found.items():
        assert one.state == ("unanchored" if one.commit is None else "holds" if one.commit == oid else "moved")
    return [(found[oid].commit, found[oid].how) for oid in oids]


def forget(place: Place) -> None:
    """Git throws away what no branch reaches."""
    place.git("update-ref", "-d", "ORIG_HEAD")
    place.git("reflog", "expire", "--expire=now", "--all")
    place.git("prune", "--expire=now")


def head(place: Place, rev: str = "HEAD") -> str:
    return place.git("rev-parse", rev)


def work(place: Place, *names: str) -> list[str]:
    """A branch with a commit for each name, each with a line of its own."""
    place.git("switch", "-q", "-c", "work")
    return [place.repo.commit(f"{name}.txt", f"the work on {name}, in words\n", f"add {name}") for name in names]


def move_trunk(place: Place) -> None:
    place.git("switch", "-q", "main")
    place.repo.commit("trunk.txt")
    place.git("switch", "-q", "work")


def test_a_reachable_commit_holds(place: Place) -> None:
    """Nothing was rewritten: two git processes say so for any number of commits."""
    oids = work(place, *"abc")
    count = []
    real = subprocess.run
    with pytest.MonkeyPatch.context() as patched:
        clone = place.open()
        patched.setattr(subprocess, "run", lambda *a, **k: (count.append(1), real(*a, **k))[1])
        found = commit_anchors.resolve(clone, oids)
    assert found == {oid: ResolvedCommit(oid, oid, "holds") for oid in oids}
    assert len(count) == 2


def test_what_a_tag_a_remote_or_another_work_tree_reaches_holds(place: Place, tmp_path: Path) -> None:
    """A commit is not lost because it is not on a branch."""
    oids = work(place, "a", "b", "c")
    place.git("tag", "v1", oids[0])
    place.git("update-ref", "refs/remotes/origin/x", oids[1])
    place.git("worktree", "add", "-q", "--detach", str(tmp_path / "other"), oids[2])
    place.git("switch", "-q", "main")
    place.git("branch", "-q", "-D", "work")
    assert all_of(place, oids) == [(oid, "") for oid in oids]


def test_what_only_a_stash_or_a_backup_reaches_does_not_hold(place: Place) -> None:
    """They keep the old history alive; nobody works on it."""
    (old,) = work(place, "a")
    place.git("update-ref", "refs/original/refs/heads/work", old)
    place.repo.write("a.txt", "changed\n")
    place.git("stash", "-q")
    place.git("commit", "-q", "--amend", "-m", "better")
    assert where(place, old) == (head(place), "patch-id")


def test_gits_own_map_comes_first(place: Place) -> None:
    """Git knows what an amended commit became, even when nothing in it is the same."""
    (old,) = work(place, "a")
    place.repo.write("a.txt", "something else altogether\n")
    place.git("commit", "-q", "-a", "--amend", "-m", "other words", "--reset-author", "--date=2030-01-01T00:00:00")
    assert where(place, old) == (None, "")
    commit_anchors.learn(place.open(), [(old, head(place))], kind="amend")
    assert where(place, old) == (head(place), "map")
    forget(place)
    assert where(place, old) == (head(place), "map")


def test_a_map_that_leads_to_a_lost_commit_is_followed_on(place: Place) -> None:
    """The amend was told to us, the rebase after it was not."""
    (old,) = work(place, "a")
    place.repo.write("a.txt", "quite another work, in other words\n")
    place.git("commit", "-q", "-a", "--amend", "-m", "other words")
    amended = head(place)
    commit_anchors.learn(place.open(), [(old, amended)], kind="amend")
    move_trunk(place)
    place.git("rebase", "-q", "main")
    assert head(place) != amended
    assert where(place, old) == (head(place), "patch-id")


def test_a_commit_rebased_on_two_branches_is_the_one_head_reaches(place: Place) -> None:
    """Both are right; the one at hand is what people mean, and from elsewhere nobody can tell."""
    (old,) = work(place, "a")
    place.git("branch", "-q", "twin")
    move_trunk(place)
    pairs = []
    for branch in ("work", "twin"):
        place.git("switch", "-q", branch)
        place.git("commit", "-q", "--amend", "-m", branch)
        pairs.append((old, head(place)))
    commit_anchors.learn(place.open(), pairs, kind="rebase")
    assert where(place, old) == (head(place, "twin"), "map")
    place.git("switch", "-q", "main")
    assert where(place, old) == (None, "")


def test_of_a_split_commit_the_last_part_is_not_taken_for_the_whole(place: Place) -> None:
    """Git's map names the part that came last; the line that was cited may be in the other."""
    work(place, "base")
    place.repo.write("one.txt", "the first half of the work\n")
    place.repo.write("two.txt", "the second half of the work\n")
    place.git("add", "-A")
    place.git("commit", "-q", "-m", "both halves")
    old = head(place)
    place.git("reset", "-q", "HEAD^")
    place.git("add", "one.txt")
    place.git("commit", "-q", "-m", "one half")
    place.git("add", "two.txt")
    place.git("commit", "-q", "-C", old)
    commit_anchors.learn(place.open(), [(old, head(place))], kind="rebase")
    assert where(place, old) == (None, "")


def split(place: Place, *, parts: int = 2) -> str:
    """A commit that was split; its last part has its message. Gives its old name."""
    for number in range(parts):
        place.repo.write(f"part{number}.txt", f"part number {number} of the work\n")
    place.git("add", "-A")
    place.git("commit", "-q", "-m", "all parts")
    old = head(place)
    place.git("reset", "-q", "HEAD^")
    for number in range(parts):
        place.git("add", f"part{number}.txt")
        last = ("-C", old) if number == parts - 1 else ("-m", f"part {number}")
        place.git("commit", "-q", *last)
    return old


@pytest.mark.parametrize("parts", [2, 3])
def test_what_git_says_of_a_split_commit_is_not_kept(place: Place, parts: int) -> None:
    """Later, when git has thrown the old one away, nobody could tell that the map names a part only."""
    work(place, "base")
    old = split(place, parts=parts)
    clone = place.open()
    commit_anchors.learn(clone, [(old, head(place))], kind="rebase")
    assert rewrite_map.follow(clone.layout, old) is None
    forget(place)
    assert where(place, old) == (None, "")


def test_what_git_says_of_rebased_amended_and_squashed_commits_is_kept(place: Place) -> None:
    """The map is the only proof that survives `git gc`; a guard against splits must not empty it."""
    oids = work(place, *"ab")
    place.later()
    move_trunk(place)
    place.git("rebase", "-q", "main")
    new = place.git("rev-list", "--reverse", "main..work").split()
    place.repo.write("b.txt", "other work on b, in words\n")
    place.git("commit", "-q", "-a", "--amend", "--no-edit")
    amended = head(place)
    clone = place.open()
    commit_anchors.learn(clone, zip(oids, new, strict=True), kind="rebase")
    commit_anchors.learn(clone, [(new[1], amended)], kind="amend")
    assert [rewrite_map.follow(clone.layout, oid) for oid in (*oids, new[1])] == [new[0], amended, amended]
    place.git("reset", "-q", "--soft", "HEAD~2")
    place.git("commit", "-q", "-m", "both")
    commit_anchors.learn(clone, [(new[0], head(place)), (amended, head(place))], kind="rebase")
    assert {rewrite_map.follow(clone.layout, oid) for oid in oids} == {head(place)}


def test_a_map_that_names_a_part_only_is_not_believed(place: Place) -> None:
    """Another tool, or an older version, wrote the pair down."""
    work(place, "base")
    old = split(place)
    rewrite_map.add(place.open().layout, [(old, head(place))], kind="rebase", ts="2031-01-01T00:00:00Z")
    assert where(place, old) == (None, "")


def test_where_git_would_ask_a_network_nothing_is_looked_for(place: Place) -> None:
    """A look must not wait for a server; what is not known is called unknown, not gone."""
    (old,) = work(place, "a")
    move_trunk(place)
    place.git("rebase", "-q", "main")
    place.git("config", "remote.origin.promisor", "true")
    clone = place.open()
    assert commit_anchors.resolve(clone, [old])[old] == ResolvedCommit(old, None, "unknown")
    commit_anchors.keep(clone, [head(place)])
    assert anchor_store.load(clone.stores, [head(place)]) == {}
    halves = split(place)
    commit_anchors.learn(clone, [(halves, head(place))], kind="rebase")
    assert rewrite_map.follow(clone.layout, halves) == head(place)
    place.git("config", "--unset", "remote.origin.promisor")
    assert where(place, old) == (head(place, "HEAD~2"), "patch-id")


def test_what_is_no_name_of_a_commit_is_nowhere(place: Place) -> None:
    """A branch moves, and a hand-written citation may say anything."""
    work(place, "a")
    found = commit_anchors.resolve(place.open(), ["HEAD", "work", "ü", "", "1" * 39])
    assert {one.state for one in found.values()} == {"unanchored"}
    assert {one.commit for one in found.values()} == {None}
    commit_anchors.keep(place.open(), ["HEAD", "ü"])


def test_what_filter_repo_dropped_is_not_found_in_a_likeness(place: Place) -> None:
    """It was removed on purpose; the same change elsewhere is another commit."""
    (dropped,) = work(place, "a")
    place.git("switch", "-q", "-c", "pick", "main")
    place.repo.commit("other.txt")
    place.git("cherry-pick", dropped)
    place.git("branch", "-q", "-D", "work")
    assert where(place, dropped) == (head(place), "patch-id")
    folder = Path(place.open().repo.common_dir, "filter-repo")
    folder.mkdir()
    (folder / "commit-map").write_text(f"old new\n{dropped} {'0' * 40}\n")
    assert where(place, dropped) == (None, "")


def test_an_answer_holds_only_while_other_work_trees_stay_where_they_are(place: Place, tmp_path: Path) -> None:
    """What only another work tree reaches is lost when it moves on."""
    (old,) = work(place, "a")
    place.git("commit", "-q", "--amend", "-m", "better words")
    new = head(place)
    other = place.at(tmp_path / "other")
    place.git("worktree", "add", "-q", "--detach", str(other.repo.path), new)
    place.git("switch", "-q", "main")
    place.git("branch", "-q", "-D", "work")
    assert where(place, old) == (new, "patch-id")
    other.git("switch", "-q", "--detach", "main")
    assert where(place, old) == (None, "")
    other.git("switch", "-q", "--detach", new)
    assert where(place, old) == (new, "patch-id")
    (Path(place.open().repo.common_dir) / "worktrees/other/HEAD").unlink()
    assert where(place, old)[0] in (None, new)  # half a work tree stops nobody


def test_a_reader_leaves_no_trace(place: Place) -> None:
    """`doctor` and `check` look at a store that is not theirs to write."""
    (old,) = work(place, "a")
    place.git("commit", "-q", "--amend", "-m", "better words")
    clone = place.open()
    clone.reading = True
    assert commit_anchors.resolve(clone, [old])[old].commit == head(place)
    commit_anchors.keep(clone, [head(place)])
    assert not os.path.exists(clone.layout.anchors)
    assert where(place, old) == (head(place), "patch-id")
    assert os.listdir(clone.layout.anchors) == ["answers.json"]


def test_filter_repo_tells_what_became_and_what_was_dropped(place: Place) -> None:
    """It rewrites all of history and calls no hook."""
    kept_one, dropped = work(place, "a", "b")
    place.git("reset", "-q", "--hard", "HEAD^")
    place.git("commit", "-q", "--amend", "-m", "filtered", "--reset-author", "--date=2030-01-01T00:00:00")
    folder = Path(place.open().repo.common_dir, "filter-repo")
    folder.mkdir()
    (folder / "commit-map").write_text(f"old new\n{kept_one} {head(place)}\n{dropped} {'0' * 40}\n")
    forget(place)
    assert where(place, kept_one) == (head(place), "filter-repo")
    assert where(place, dropped) == (None, "")


def test_a_change_id_names_the_change_through_every_amend(place: Place) -> None:
    """Gerrit's people amend text and words at once."""
    work(place)
    text = "the first line of it\nthe second line of it\nthe third line of it\n"
    place.repo.write("a.txt", text)
    place.git("add", "a.txt")
    change = f"Change-Id: I{'ab12' * 10}"
    place.git("commit", "-q", "-m", "first words", "-m", change)
    old = head(place)
    place.repo.write("a.txt", text.replace("third", "last"))
    place.git("commit", "-q", "-a", "--amend", "-m", "second words", "-m", change, "--date=2030-01-01T00:00:00")
    assert where(place, old) == (head(place), "change-id")


def test_jj_keeps_its_change_id_in_the_header(place: Place) -> None:
    """It rewrites commits at every turn and tells no hook of git's."""
    work(place)
    place.repo.write("a.txt", "the work on a, in words\n")
    place.git("add", "a.txt")
    tree, parent = place.git("write-tree"), head(place)
    made = []
    for when in (1_900_000_000, 1_900_000_100):
        person = f"Ada Example <ada@example.org> {when} +0000"
        lines = (f"tree {tree}", f"parent {parent}", f"author {person}", f"committer {person}")
        raw = "\n".join((*lines, f"change-id {'kxqpmnyz' * 4}", "", f"at {when}\n"))
        made.append(place.repo.git("hash-object", "-t", "commit", "-w", "--stdin", data=raw.encode()))
    place.git("reset", "-q", "--hard", made[1])
    assert where(place, made[0]) == (made[1], "change-id")


def test_a_rebased_commit_is_known_by_its_patch(place: Place) -> None:
    """The hooks were not there when it happened, or it happened in another clone."""
    oids = work(place, *"abc")
    move_trunk(place)
    place.git("rebase", "-q", "main")
    new = place.git("rev-list", "--reverse", "main..work").split()
    assert all_of(place, oids) == [(oid, "patch-id") for oid in new]


def test_a_kept_commit_is_found_after_git_has_thrown_it_away(place: Place) -> None:
    """A month later git has forgotten; the memory has not."""
    known, unknown = work(place, "a", "b")
    commit_anchors.keep(place.open(), [known, known, "f" * 40])
    commit_anchors.keep(place.open(), [known])
    move_trunk(place)
    place.git("rebase", "-q", "main")
    forget(place)
    assert where(place, known) == (head(place, "HEAD^"), "patch-id")
    assert where(place, unknown) == (None, "")


def test_a_revert_of_the_revert_is_not_the_commit(place: Place) -> None:
    """It makes the same change again, but it was not what was cited."""
    (old,) = work(place, "a")
    place.git("revert", "--no-edit", "HEAD")
    place.later()
    place.git("revert", "--no-edit", "HEAD")
    move_trunk(place)
    place.git("rebase", "-q", "main")
    assert where(place, old) == (head(place, "HEAD~2"), "patch-id")
    place.git("reset", "-q", "--hard", "main")
    place.repo.commit("b.txt")
    place.repo.commit("a.txt", "the work on a, in words\n", 'Reapply "add a"')
    assert where(place, old) == (None, "")


def test_the_same_change_by_somebody_else_is_not_the_commit(place: Place) -> None:
    """Two people who write the same line did not make one commit."""
    (old,) = work(place, "a")
    place.git("switch", "-q", "main")
    place.git("branch", "-q", "-D", "work")
    place.repo.commit("b.txt")
    place.repo.write("a.txt", "the work on a, in words\n")
    place.git("add", "-A")
    bob = ("-c", "user.name=Bob", "-c", "user.email=bob@example.org")
    place.git(*bob, "commit", "-q", "-m", "mine")
    assert where(place, old) == (None, "")


def test_cherry_picks_on_two_branches_are_told_apart_by_head(place: Place) -> None:
    """A fix goes to two releases and its own branch goes away."""
    (old,) = work(place, "a")
    for name in ("one", "two"):
        place.git("switch", "-q", "-c", name, "main")
        place.repo.commit(f"{name}.txt")
        place.git("cherry-pick", old)
    place.git("branch", "-q", "-D", "work")
    assert where(place, old) == (head(place, "two"), "patch-id")
    place.git("switch", "-q", "main")
    assert where(place, old) == (None, "")


def test_a_dropped_commit_is_not_found_in_its_neighbours(place: Place) -> None:
    """Its tree may come back, its change does not."""
    oids = work(place, *"abc")
    move_trunk(place)
    place.git("rebase", "-q", "--onto", "main", oids[1], "work")
    assert all_of(place, oids) == [(None, ""), (None, ""), (head(place), "patch-id")]


def test_reordered_commits_do_not_change_places(place: Place) -> None:
    """The last of both orders has the same tree."""
    first, second = work(place, "a", "b")
    place.git("reset", "-q", "--hard", "main")
    place.later()
    place.git("cherry-pick", second, first)
    assert head(place, "HEAD^{tree}") == head(place, f"{second}^{{tree}}")
    assert where(place, first) == (head(place), "patch-id")
    assert where(place, second) == (head(place, "HEAD^"), "patch-id")


def test_binary_content_is_known_by_its_place(place: Place) -> None:
    """No patch shows it; the same tree on the same parent does, or the same blobs."""
    work(place)
    (place.repo / "image").write_bytes(b"\0\1\2")
    place.git("add", "image")
    place.git("commit", "-q", "-m", "an image")
    old = head(place)
    commit_anchors.keep(place.open(), [old])
    place.git("commit", "-q", "--amend", "-m", "a picture")
    assert where(place, old) == (head(place), "tree")
    move_trunk(place)
    place.git("rebase", "-q", "main")
    forget(place)
    assert where(place, old) == (head(place), "overlap")


def test_another_binary_change_is_not_taken_for_it(place: Place) -> None:
    """Git once gave all binary changes of a file one patch-id."""
    work(place)
    oids = []
    for content in (b"\0\1\2", b"\0\3\4"):
        (place.repo / "image").write_bytes(content)
        place.git("add", "image")
        place.git("commit", "-q", "-m", "an image")
        oids.append(head(place))
    place.git("reset", "-q", "--hard", "main")
    place.git("cherry-pick", "--strategy-option=theirs", oids[0])
    place.git("commit", "-q", "--amend", "-m", "new words")
    assert where(place, oids[1]) == (None, "")


def test_merges_and_empty_commits_are_known_by_maker_and_title(place: Place) -> None:
    """They have no patch, and the tree of a merge is often somebody else's."""
    work(place, "a")
    place.git("commit", "-q", "--allow-empty", "-m", "a mark")
    mark = head(place)
    place.git("switch", "-q", "-c", "side", "main")
    place.repo.commit("side.txt")
    place.git("switch", "-q", "work")
    place.git("merge", "-q", "--no-edit", "side")
    merge = head(place)
    move_trunk(place)
    place.git("rebase", "-q", "--rebase-merges", "--keep-empty", "main")
    assert where(place, merge) == (head(place), "tree")
    assert where(place, mark) == (head(place, "HEAD^"), "tree")


def test_every_commit_of_a_squashed_branch_is_the_squash(place: Place) -> None:
    """A forge makes one commit of a branch and deletes it; even what a later one overwrote is in it."""
    work(place)
    oids = [
        place.repo.commit("a.txt", "the first try at the work\n", "try"),
        place.repo.commit("a.txt", "the second try at the work\n", "try again"),
        place.repo.commit("b.txt", "the rest of the work\n", "rest"),
    ]
    move_trunk(place)
    place.git("switch", "-q", "main")
    place.git("merge", "-q", "--squash", "work")
    place.git("commit", "-q", "-m", "The feature (#12)", "--author=Bob <bob@example.org>")
    place.git("branch", "-q", "-D", "work")
    place.repo.commit("later.txt")
    assert all_of(place, oids) == [(head(place, "HEAD^"), "squash")] * 3


def test_a_squash_is_found_without_the_branch_if_its_commits_are_named(place: Place) -> None:
    """Months later only the kept records and the message of the squash are left."""
    oids = work(place, *"ab")
    commit_anchors.keep(place.open(), oids)
    move_trunk(place)
    place.git("switch", "-q", "main")
    place.git("merge", "-q", "--squash", "work")
    words = ("-m", "The feature (#12)", "-m", "* add a\n* add b")
    place.git("commit", "-q", *words, "--author=Bob <bob@example.org>")
    place.git("branch", "-q", "-D", "work")
    forget(place)
    assert all_of(place, oids) == [(head(place), "overlap")] * 2


def test_what_was_taken_back_before_the_squash_is_not_in_it(place: Place) -> None:
    """The squash holds nothing of it."""
    oids = work(place, *"abc")
    place.git("revert", "--no-edit", oids[1])
    place.git("switch", "-q", "main")
    place.git("merge", "-q", "--squash", "work")
    place.git("commit", "-q", "-m", "The feature (#12)")
    place.git("branch", "-q", "-D", "work")
    new = head(place)
    assert all_of(place, oids) == [(new, "squash"), (None, ""), (new, "squash")]


def test_an_amended_commit_is_known_by_what_is_left_of_it(place: Place) -> None:
    """A fetched branch was force-pushed: nobody told us what became what."""
    work(place)
    text = "the first line of it\nthe second line of it\nthe third line of it\n"
    old = place.repo.commit("a.txt", text, "three lines")
    place.repo.write("a.txt", text.replace("third", "last"))
    place.git("commit", "-q", "-a", "--amend", "--no-edit")
    assert where(place, old) == (head(place), "overlap")
    place.repo.write("a.txt", "nothing of the kind\n")
    place.git("commit", "-q", "-a", "--amend", "--no-edit")
    assert where(place, old) == (None, "")


def test_in_a_shallow_clone_what_is_not_here_is_unknown(place: Place, tmp_path: Path) -> None:
    """A build machine fetches one commit; that says nothing about the others."""
    old = head(place)
    place.repo.commit("later.txt")
    path = tmp_path / "shallow"
    subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{place.repo.path}", path], check=True)
    clone = Clone.open(str(path), cache=str(tmp_path / "c2"))
    assert commit_anchors.resolve(clone, [old])[old] == ResolvedCommit(old, None, "unknown")


def test_the_end_of_a_shallow_clone_is_not_taken_for_a_squash_of_everything(place: Place, tmp_path: Path) -> None:
    """Git shows it as adding every line there is, the lost commit's too."""
    (old,) = work(place, "a")
    commit_anchors.keep(place.open(), [old])
    place.later()
    place.repo.commit("b.txt")
    path = tmp_path / "shallow"
    subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{place.repo.path}", path], check=True)
    clone = Clone.open(str(path), cache=str(tmp_path / "c2"))
    anchor_store.save(clone.layout, anchor_store.load(place.open().stores, [old]).values(), clone.scan)
    assert commit_anchors.resolve(clone, [old])[old] == ResolvedCommit(old, None, "unknown")


def test_what_git_has_lost_in_part_is_found_by_what_was_kept(place: Place) -> None:
    """A collection that was cut short, or a bad disk, leaves commits without their files."""
    work(place)
    text = "the first line of it\nthe second line of it\nthe third line of it\n"
    known = place.repo.commit("a.txt", text, "three lines")
    commit_anchors.keep(place.open(), [known])
    place.repo.write("a.txt", text.replace("third", "last"))
    place.git("commit", "-q", "-a", "--amend", "--no-edit")
    found = head(place)
    unknown = place.repo.commit("a.txt", "a fourth line that nobody kept\n", "one line")
    place.git("reset", "-q", "--hard", found)
    for oid in (known, unknown):
        blob = head(place, f"{oid}:a.txt")
        (place.repo / f".git/objects/{blob[:2]}/{blob[2:]}").unlink()
    assert all_of(place, [known, unknown]) == [(found, "overlap"), (None, "")]


def test_many_commits_are_kept_in_few_files(place: Place) -> None:
    """Ten thousand citations must be neither ten thousand files nor one that is read whole."""
    rows = b"".join(
        b"commit refs/heads/many\ncommitter A <a@example.org> %d +0000\ndata 4\nw %02d"
        b"M 100644 inline f%d\ndata 12\nline %07d\n" % (1_900_000_000 + n, n % 100, n % 7, n)
        for n in range(600)
    )
    place.repo.git("fast-import", "--quiet", data=rows)
    oids = place.git("rev-list", "many").split()
    clone = place.open()
    commit_anchors.keep(clone, oids)
    files = os.listdir(clone.layout.anchors)
    assert len(files) <= 257
    found = anchor_store.load(clone.stores, oids)
    assert set(found) == set(oids)
    assert all(anchor.patch_id == commit_details.patch_id(clone.repo, oid) for oid, anchor in list(found.items())[:3])


def test_a_damaged_record_is_left_out_and_said(place: Place) -> None:
    """One bad byte must not take the other commits with it."""
    (old,) = work(place, "a")
    clone = place.open()
    commit_anchors.keep(clone, [old])
    path = Path(clone.layout.anchors, f"{old[:2]}.jsonl")
    path.write_bytes(b'{"commit":1}\n\xff\n[]\n{"commit":"' + b"a" * 40 + b'"}\n' + path.read_bytes())
    assert set(anchor_store.load(clone.stores, [old])) == {old}
    assert any("is not a record of a commit" in note for note in clone.notes)


def test_a_secret_in_a_path_is_not_kept(place: Place) -> None:
    """Whoever removes it from history means everywhere."""
    work(place)
    old = place.repo.commit(f"keys/{KEY}.txt", "the work on a, in words\n")
    clone = place.open()
    commit_anchors.keep(clone, [old])
    files = (Path(clone.layout.anchors, name).read_text() for name in os.listdir(clone.layout.anchors))
    assert KEY not in "".join(files)
    assert anchor_store.load(clone.stores, [old])[old].paths == ()


def test_names_of_any_bytes_and_users_settings_do_no_harm(place: Place) -> None:
    """Git's settings for people's eyes must not change what a commit is known by."""
    work(place)
    old = place.repo.commit('ünï cöde\tand "quotes".txt', "the work on a, in words\n")
    before = commit_details.patch_id(place.open().repo, old)
    settings = {"diff.noprefix": "true", "diff.context": "0", "color.ui": "always", "diff.external": "false"}
    for name, value in (*settings.items(), ("core.quotePath", "false"), ("diff.algorithm", "patience")):
        place.git("config", name, value)
    assert commit_details.patch_id(place.open().repo, old) == before
    move_trunk(place)
    place.git("rebase", "-q", "main")
    assert where(place, old) == (head(place), "patch-id")


def test_one_that_git_threw_away_does_not_hide_one_that_it_still_has(place: Place) -> None:
    """Asked together: the first is known by what was kept of it, the second by git alone."""
    (one,) = work(place, "a")
    commit_anchors.keep(place.open(), [one])
    place.git("commit", "-q", "--amend", "-m", "better words")
    forget(place)
    two = place.repo.commit("b.txt", "the work on b, in words\n", "add b")
    place.git("commit", "-q", "--amend", "-m", "better words of b")
    assert all_of(place, [one, two]) == [(head(place, "HEAD~1"), "patch-id"), (head(place), "patch-id")]


OF_PEOPLE = """
[diff]
    external = true
    context = 1
    interHunkContext = 50
    suppressBlankEmpty = true
    submodule = log
    ignoreSubmodules = all
    mnemonicPrefix = true
    noprefix = true
    renames = copies
    srcPrefix = x/
    dstPrefix = y/
[diff "strange"]
    textconv = tr a-z A-Z <
    command = true
[submodule "lib"]
    ignore = all
[color]
    ui = always
    diff = always
[core]
    bigFileThreshold = 1
    quotePath = false
[log]
    showRoot = false
"""


def test_no_setting_and_no_attribute_changes_what_a_commit_is_known_by(place: Place) -> None:
    """Two people with other settings of git must find the same commit."""

    def text(letters: str, middle: str = "") -> str:
        return "".join(f"line {letter}\n" for letter in letters) + middle

    far = "".join(f"between {number}\n\n" for number in range(4))
    inner = place.git("rev-parse", "HEAD")
    place.repo.write("a.txt", text("srrqsprs", far + "the end\n"))
    place.repo.write(".gitattributes", "*.txt diff=strange\n")
    place.git("add", ".")
    place.git("update-index", "--add", "--cacheinfo", f"160000,{inner},lib")
    place.git("commit", "-q", "-m", "before")
    place.repo.write("a.txt", text("rsqpqsrq", far + "another end\n"))
    place.repo.write("large.txt", "a line that says something\n" * 20_000)
    place.git("add", "a.txt", "large.txt")
    place.git("update-index", "--cacheinfo", f"160000,{place.git('rev-parse', 'HEAD')},lib")
    place.git("commit", "-q", "-m", "the work")
    commit = place.git("rev-parse", "HEAD")
    before = commit_details.read_patches(place.open().repo, [commit])[commit]
    assert before.names == {"a.txt", "large.txt", "lib"} and before.patch_id is None, "one of them is too large"
    small = place.repo.commit("b.txt", text("srrqsprs", far + "the end\n"))
    place.repo.write("b.txt", text("rsqpqsrq", far + "another end\n"))
    place.git("update-index", "--cacheinfo", f"160000,{small},lib")
    place.git("commit", "-qam", "the work again")
    oids = [commit, small, place.git("rev-parse", "HEAD")]
    parts = commit_details.read_patches(place.open().repo, oids)
    trees = [(f"{small}^{{tree}}", "HEAD^{tree}"), (f"{commit}~1^{{tree}}", f"{commit}^{{tree}}")]
    trees = [(place.git("rev-parse", old), place.git("rev-parse", new)) for old, new in trees]
    ids = commit_details.between(place.open().repo, trees)
    assert ids == {trees[0]: parts[oids[2]].patch_id} and parts[small].patch_id is not None
    with (place.repo / ".git/config").open("a") as config:
        config.write(OF_PEOPLE)
    for algorithm in ("patience", "histogram"):
        place.git("config", "diff.algorithm", algorithm)
        place.git("config", "diff.strange.algorithm", algorithm)
        assert commit_details.read_patches(place.open().repo, oids) == parts
        assert commit_details.between(place.open().repo, trees) == ids


def test_what_was_found_is_remembered_until_something_moves(place: Place) -> None:
    """A search costs seconds on a large repository, and every command asks again."""
    (old,) = work(place, "a")
    place.git("commit", "-q", "--amend", "-m", "better words")
    new = head(place)
    assert where(place, old) == (new, "patch-id")
    forget(place)
    assert where(place, old) == (new, "patch-id")  # git itself could not tell any more
    place.git("commit", "-q", "--amend", "-m", "best words")
    assert where(place, old) == (None, "")
    commit_anchors.learn(place.open(), [(old, new), (new, head(place))], kind="amend")
    assert where(place, old) == (head(place), "map")
    path = Path(place.open().layout.anchors, "answers.json")
    path.write_bytes(b"[[[")
    assert where(place, old) == (head(place), "map")
    assert json.loads(path.read_text())
