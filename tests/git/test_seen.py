"""What rows of a reflog tell, what is remembered of it, and what a rewind leaves to be asked."""

import json
import os
from datetime import timedelta
from pathlib import Path

import pytest

from holdfast.git import last_seen, moves, reconcile, rewinds
from holdfast.git import moves as git_moves
from holdfast.git.last_seen import DiskGlance, GitMove, SeenClone, SeenWorkTree
from holdfast.git.moves import HeadStep
from holdfast.git.reflog import ReflogRow
from holdfast.store import fsio, pending_changes
from holdfast.values import replace
from tests.git.place import Place, fact_path, now

A, B, C, D, E = (letter * 40 for letter in "abcde")
MAIN, FEAT = "refs/heads/main", "refs/heads/feat"


def read(*rows: tuple[str, str], head: str | None = A, ref: str | None = MAIN) -> list[HeadStep]:
    """The steps that rows of (commit, message) make, one a second."""
    moments = [ReflogRow(oid, at, False, message) for at, (oid, message) in enumerate(rows, 1)]
    return git_moves.read_steps(moments, head=head, ref=ref)


def shape(found: list[HeadStep]) -> list[tuple[str, str | None, str, str | None, tuple[str, ...]]]:
    return [(step.kind, step.before, step.after, step.ref, step.commits) for step in found]


def test_commits_in_a_row_are_one_step() -> None:
    """People call it work, not eleven events."""
    found = read((B, "commit: b"), (C, "commit: c"), (D, "cherry-pick: d"), (E, "cherry-pick: e"))
    assert shape(found) == [("commits", A, C, MAIN, (B, C)), ("cherry-pick", C, E, MAIN, (D, E))]
    assert [step.time for step in found] == [2, 4]
    assert shape(read((B, "commit: b"), (C, "commit (amend): c"), (D, "commit: d"))) == [
        ("commits", A, B, MAIN, (B,)),
        ("amend", B, C, MAIN, (C,)),
        ("commits", C, D, MAIN, (D,)),
    ]


def test_commits_on_two_branches_are_two_steps() -> None:
    """What was made on one branch is no evidence on another."""
    found = read((B, "commit: b"), (B, "checkout: moving from main to feat"), (C, "commit: c"))
    assert shape(found) == [("commits", A, B, MAIN, (B,)), ("commits", B, C, FEAT, (C,))]
    away = read((B, f"checkout: moving from main to {B}"), (C, "commit: c"))
    assert shape(away) == [("commits", B, C, None, (C,))]
    assert shape(read((B, "checkout: moving from main to HEAD"), (C, "commit: c")))[0][3] is None
    assert shape(read((B, "checkout: strange words"), (C, "commit: c")))[0][3] == MAIN


def test_what_ends_where_it_began_is_no_step() -> None:
    """A reset to HEAD, a checkout, a rebase that was given up."""
    assert read((A, "reset: moving to HEAD"), (A, "checkout: moving from main to feat")) == []
    assert read((B, "rebase (start): checkout main"), (A, "rebase (abort): returning to refs/heads/main")) == []
    assert read((A, "Branch: renamed refs/heads/main to refs/heads/feat")) == []


def test_a_rebase_is_one_step_from_where_it_began() -> None:
    """Whatever is picked, amended or edited in it."""
    rows = [
        (B, "rebase (start): checkout main"),
        (C, "rebase (pick): c"),
        (D, "commit (amend): d"),
        (E, "rebase (finish): returning to refs/heads/feat"),
    ]
    (found,) = read(*rows, ref=FEAT)
    assert shape([found]) == [("rebase", A, E, FEAT, ())] and found.time == 4
    (left,) = read(*rows[:3], ref=FEAT)  # `rebase --quit`
    assert shape([left]) == [("rebase", A, D, FEAT, ())] and left.time == 3
    assert read((A, "rebase (start): checkout main")) == []
    (end,) = read((E, "rebase finished: returning to refs/heads/feat"))  # the log begins in the middle
    assert shape([end]) == [("rebase", A, E, FEAT, ())]
    (bare,) = read((B, "rebase (start): x"), (C, "rebase (finish): "))
    assert bare.ref == MAIN
    after = read(*rows, (A, "commit: a"), ref=MAIN)
    assert shape(after)[1] == ("commits", E, A, FEAT, (A,)), "it returned to another branch"


def test_a_renamed_branch_goes_on_under_its_new_name() -> None:
    """Git writes a row with no commit on one side."""
    found = read((D, "Branch: renamed refs/heads/main to refs/heads/feat"), (B, "commit: b"))
    assert shape(found) == [("commits", A, B, FEAT, (B,))]


def test_a_branch_that_is_set_elsewhere_while_one_is_on_it_was_reset() -> None:
    """`git checkout -B` leaves commits behind as a reset does."""
    (found,) = read((B, "checkout: moving from main to main"))
    assert shape([found]) == [("reset", A, B, MAIN, ())]
    assert read((A, "checkout: moving from main to main")) == []
    assert read((B, "checkout: moving from main to feat")) == []
    assert read((B, f"checkout: moving from {A} to {B}"), ref=None) == []


def test_what_was_merged_is_named_where_the_row_tells() -> None:
    """People know branches by their names."""
    assert git_moves.merged("merge feat: Merge made by the 'ort' strategy.") == "feat"
    assert git_moves.merged("commit (merge): Merge branch 'feat'") == "feat"
    assert git_moves.merged("commit (merge): Merge remote-tracking branch 'origin/x'") == "origin/x"
    assert git_moves.merged("pull: Fast-forward") is None


# What is remembered.


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place.make(tmp_path / "repo")
    made.repo.commit("a")
    moves.observe(made.open())
    return made


def test_how_git_looked_comes_back_as_it_was(place: Place) -> None:
    """One wrong field and every command tells of moves that never were."""
    clone = place.open()
    one = GitMove("commits", A, B, "2031", "words", MAIN, 3)
    tree = SeenWorkTree(A, MAIN, "line", "2031-01-01T00:00:00.000000Z", 5, "row", "log", "fetched", (one,))
    common = SeenClone("config", ((MAIN, "line"),), ("side",), "shallow", (one,), ("key",), ("forced",))
    last_seen.keep(clone, tree)
    last_seen.keep(clone, common)
    assert (last_seen.tree(clone), last_seen.shared(clone)) == (tree, common)
    many = tuple(replace(one, count=number) for number in range(last_seen.MOST + 5))
    last_seen.keep(clone, replace(tree, waiting=many))
    kept = last_seen.tree(clone)
    assert kept is not None and [move.count for move in kept.waiting] == list(range(5, last_seen.MOST + 5))
    last_seen.forget(clone, clone.worktree)
    last_seen.forget(clone, "never")
    assert last_seen.tree(clone) is None and last_seen.shared(clone) == common


@pytest.mark.parametrize("name", ["tree-..json", "clone.json"])
def test_a_note_of_another_form_is_none(place: Place, name: str) -> None:
    """A first look tells of nothing; a wrong one tells lies."""
    clone = place.open()
    path = Path(clone.layout.seen, name)
    whole = json.loads(path.read_text())
    assert last_seen.tree(clone) is not None and last_seen.shared(clone) is not None
    read_it = last_seen.tree if name.startswith("tree") else last_seen.shared
    wrong = [{**whole, "more": 1}, {**whole, "waiting": [{"kind": 1}]}, {**whole, "waiting": 7}, [], 7, {}]
    wrong += [{key: value for key, value in whole.items() if key not in ("waiting", "branches")}]
    if read_it is last_seen.shared:
        wrong += [{**whole, "branches": [["x"]]}, {**whole, "trees": 7}, {**whole, "kept": None}]
    for record in wrong:
        path.write_text(json.dumps(record))
        assert read_it(clone) is None, record
    path.write_text("{")
    assert read_it(clone) is None


def test_a_command_looks_closer_only_if_something_moved(place: Place) -> None:
    """What git did must be noticed by the very next command; who only reads leaves it to others."""
    clone = place.open()
    assert last_seen.is_current(clone)
    for name in ("tree-..json", "clone.json"):
        path = Path(clone.layout.seen, name)
        whole = path.read_bytes()
        path.unlink()
        assert not last_seen.is_current(clone), "nobody has looked"
        path.write_bytes(whole)
    place.repo.commit("b")
    assert not last_seen.is_current(place.open())
    reader, boxed = place.open(), place.open()
    reader.reading = True
    boxed.layout = boxed.private.sandboxed()
    assert last_seen.is_current(reader) and last_seen.is_current(boxed)
    moves.observe(place.open())
    assert last_seen.is_current(place.open())


def test_names_are_kept_exactly(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was told is not told again, and what was not is."""
    clone = place.open()
    assert last_seen.names(clone, last_seen.TOLD) == set()
    last_seen.keep_names(clone, last_seen.TOLD, [])
    assert not Path(clone.layout.seen, "told.json").exists()
    last_seen.keep_names(clone, last_seen.TOLD, ["b", "a", "b"])
    before = Path(clone.layout.seen, "told.json").stat().st_ino
    last_seen.keep_names(clone, last_seen.TOLD, ["a", "b"])
    assert Path(clone.layout.seen, "told.json").stat().st_ino == before
    assert last_seen.names(clone, last_seen.TOLD) == {"a", "b"} and last_seen.names(clone, last_seen.FOREIGN) == set()
    monkeypatch.setattr(last_seen, "MOST_NAMES", 2)
    last_seen.keep_names(clone, last_seen.TOLD, "dcb")
    assert last_seen.names(clone, last_seen.TOLD) == {"b", "c"}
    for damage in ({"names": 7}, {"names": ["a", 7]}, []):
        Path(clone.layout.seen, "told.json").write_text(json.dumps(damage))
        assert last_seen.names(clone, last_seen.TOLD) <= {"a"}


def test_one_looks_at_a_time_and_the_second_leaves_it_to_the_first(place: Place) -> None:
    """Two that tell of the same move tell it twice."""
    clone = place.open()
    with last_seen.alone(clone) as first, last_seen.alone(clone) as second:
        assert (first, second) == (True, False)
    place.repo.commit("b")
    with fsio.locked(os.path.join(clone.layout.seen, "lock")):
        assert moves.observe(place.open()).new == ()
    assert [move.kind for move in moves.observe(place.open()).new] == ["commits"]


def test_a_work_tree_of_any_name_has_a_note_of_its_own() -> None:
    """A name may be longer than a file's name can be."""
    assert last_seen._note_name(".") == "tree-..json" and last_seen._note_name("x" * 200) == f"tree-{'x' * 200}.json"
    long = [last_seen._note_name("x" * 201), last_seen._note_name("x" * 202)]
    assert all(len(name) < 100 for name in long) and len(set(long)) == 2


def test_a_glance_sees_whatever_moved(place: Place, tmp_path: Path) -> None:
    """It is all that most commands look at; what it misses is never noticed."""
    clone = place.open()
    tree, common = last_seen.tree(clone), last_seen.shared(clone)
    assert tree is not None and common is not None and DiskGlance(clone).equals(tree, common)
    for change in ("head", "ref", "line", "log", "fetched"):
        assert not DiskGlance(clone).equals(replace(tree, **{change: "x"}), common), change
    for change in ("config", "shallow"):
        assert not DiskGlance(clone).equals(tree, replace(common, **{change: "x"})), change
    assert not DiskGlance(clone).equals(tree, replace(common, trees=("x",)))
    place.git("worktree", "add", "-q", "--detach", str(tmp_path / "side"))
    assert DiskGlance(clone).trees == ("side",)
    pointer = Path(clone.repo.common_dir, "worktrees/side/gitdir")
    whole = pointer.read_text()
    pointer.unlink()
    assert DiskGlance(clone).trees == (), "nobody can say where it was"
    pointer.write_text(whole)
    assert DiskGlance(clone).trees == ("side",)
    (tmp_path / "side/.git").unlink()
    assert DiskGlance(clone).trees == (), "its files are gone"
    Path(clone.repo.git_dir, "MERGE_HEAD").write_text(A + "\n")
    moved = DiskGlance(place.open())
    same = replace(common, config=moved.config)
    assert moved.operation and moved.equals(replace(tree, head=B), same), "git is at work: not compared"


# After a rewind.


def rewound(place: Place) -> None:
    """Something was recorded, and the commit it was recorded at is gone."""
    place.git("switch", "-q", "-c", "feat")
    place.repo.commit("b")
    place.keep("ONE", "It was so.")
    place.git("reset", "-q", "--hard", "HEAD~1")


def names(changes: list[pending_changes.PendingChange]) -> list[str]:
    return [change.path for change in changes]


def test_what_waits_from_a_commit_that_is_gone_is_asked_about_once(place: Place) -> None:
    """Nobody said that it should go, and nobody that it should stay."""
    rewound(place)
    clone = place.open()
    moves.observe(clone)
    assert names(rewinds.stranded(clone)) == [fact_path("ONE")]
    rewinds.let_stay(clone, [])
    rewinds.let_stay(clone, rewinds.stranded(clone))
    assert rewinds.stranded(place.open()) == []
    place.keep("TWO")
    assert rewinds.stranded(place.open()) == [], "it was recorded here"


def test_what_was_rewritten_or_is_another_lines_is_not_stranded(place: Place) -> None:
    """An amend keeps the work, and another branch's records are asked about there."""
    place.git("switch", "-q", "-c", "feat")
    place.repo.commit("b", "some words that tell\n")
    place.keep("ONE")
    place.git("commit", "-q", "--amend", "-m", "other words")
    moves.observe(place.open())
    assert rewinds.stranded(place.open()) == []
    place.git("switch", "-q", "-c", "twin", "main")
    assert rewinds.stranded(place.open()) == []
    place.git("switch", "-q", "--orphan", "alone")
    assert rewinds.stranded(place.open()) == []


def test_nothing_is_asked_while_git_is_at_work(place: Place) -> None:
    """In the middle of a rebase everything seems lost."""
    rewound(place)
    marker = Path(place.open().repo.git_dir, "MERGE_HEAD")
    marker.write_text(place.git("rev-parse", "HEAD") + "\n")
    assert rewinds.stranded(place.open()) == []
    marker.unlink()
    assert names(rewinds.stranded(place.open())) == [fact_path("ONE")]


def test_what_is_set_aside_gives_way_to_what_waited_before_and_can_come_back(place: Place) -> None:
    """The text of the earlier point waits again; the later one is kept."""
    place.git("switch", "-q", "-c", "feat")
    place.keep("ONE", "First words.")
    place.later()
    place.repo.commit("b")
    gone = place.git("rev-parse", "HEAD")
    place.keep("ONE", "Second words.")
    place.git("reset", "-q", "--hard", "HEAD~1")
    clone = place.open()
    (done,) = rewinds.set_aside(clone, rewinds.stranded(clone))
    assert done.again is not None and "First words." in (done.again.text or "")
    assert place.facts() == {"ONE": "First words."}
    (aside,) = rewinds.lying_aside(place.open())
    assert "Second words." in (aside.text or "") and not rewinds.has_its_point(place.open(), aside)
    place.git("reset", "-q", "--hard", gone)
    assert rewinds.has_its_point(place.open(), aside)
    back, left = rewinds.bring_back(place.open())
    assert names(back) == [fact_path("ONE")] and left == []
    assert place.facts() == {"ONE": "Second words."} and rewinds.lying_aside(place.open()) == []
    assert rewinds.bring_back(place.open()) == ([], [])


def test_where_nothing_waited_before_nothing_waits_after(place: Place) -> None:
    """A new memory that is set aside is simply not there."""
    rewound(place)
    clone = place.open()
    (done,) = rewinds.set_aside(clone, rewinds.stranded(clone))
    assert done.again is None and place.facts() == {} and place.waits() == set()
    place.keep("ONE", "Written since.")
    back, left = rewinds.bring_back(place.open())
    assert (back, names(left)) == ([], [fact_path("ONE")]), "what somebody wrote since is theirs"
    assert place.facts() == {"ONE": "Written since."}
    assert names(rewinds.lying_aside(place.open())) == [fact_path("ONE")]


def test_what_another_line_had_recorded_does_not_wait_here(place: Place) -> None:
    """Nothing recorded on one line appears unasked on another, not even by a way back."""
    clone = place.open()
    place.keep("ONE", "Words of main.")
    (mine,) = clone.changes()
    pending_changes.archive(clone.layout, replace(mine, line="another"), commit=None, ts=clone.now())
    place.later()
    rewound(place)
    clone = place.open()
    (done,) = rewinds.set_aside(clone, rewinds.stranded(clone))
    assert done.again is None and place.facts() == {}


def test_what_was_published_at_a_commit_we_have_does_not_wait_again(place: Place) -> None:
    """It is in the tree; a second change of the same text would be published for nothing."""
    place.git("switch", "-q", "-c", "feat")
    place.keep("ONE", "First words.")
    place.publish()
    place.later()
    place.repo.commit("b")
    place.keep("ONE", "Second words.")
    place.git("reset", "-q", "--hard", "HEAD~1")
    clone = place.open()
    (done,) = rewinds.set_aside(clone, rewinds.stranded(clone))
    assert done.again is None and place.waits() == set() and place.facts() == {"ONE": "First words."}
    assert place.git("switch", "-q", "main") == "" and rewinds.lying_aside(place.open()) == []


# Branches that nobody touched.


def test_branches_without_activity_are_listed_longest_first(place: Place) -> None:
    """Neither the trunk nor what is checked out; a reflog counts as well as a commit."""
    for name in ("merged", "own"):
        place.git("branch", "-q", name)
    place.git("switch", "-q", "own")
    place.repo.commit("own")
    place.git("switch", "-q", "-c", "here", "main")
    clone = place.open()
    assert reconcile.idle_branches(clone) == []
    clone.clock = lambda: now() + timedelta(days=reconcile.IDLE_DAYS + 1)
    found = {one.branch: one.merged for one in reconcile.idle_branches(clone)}
    assert found == {"merged": True, "own": False}
    assert [one.branch for one in reconcile.idle_branches(clone, days=reconcile.IDLE_DAYS + 5)] == []
    last = {one.branch: one.last for one in reconcile.idle_branches(clone)}
    assert all(moment.startswith(f"{now():%Y-}") for moment in last.values())
    Path(clone.repo.common_dir, "logs/refs/heads/merged").unlink()
    old = f"{int(now().timestamp()) - 10 * 86400} +0000"
    env = {"GIT_COMMITTER_DATE": old, "GIT_AUTHOR_DATE": old}
    os.environ.update(env)
    place.git("branch", "-q", "-f", "merged", place.git("commit-tree", "-m", "old", "main^{tree}"))
    for name in env:
        del os.environ[name]
    Path(clone.repo.common_dir, "logs/refs/heads/merged").unlink()
    assert [(one.branch, one.merged) for one in reconcile.idle_branches(clone)] == [("merged", False), ("own", False)]
    assert [one.branch for one in reconcile.idle_branches(clone, trunk="own")][:1] == ["merged"]


def test_a_commit_and_a_move_both_count_as_activity(place: Place) -> None:
    """A branch that was made today at an old commit is new, and so is one whose log is gone."""
    clone = place.open()
    old = f"{int(now().timestamp()) - 10 * 86400} +0000"
    os.environ["GIT_COMMITTER_DATE"] = os.environ["GIT_AUTHOR_DATE"] = old
    commit = place.git("commit-tree", "-m", "old", "main^{tree}")
    del os.environ["GIT_COMMITTER_DATE"], os.environ["GIT_AUTHOR_DATE"]
    place.git("branch", "-q", "moved-today", commit)
    place.git("branch", "-q", "old", commit)
    place.git("branch", "-q", "committed-today", "main")
    for name in ("old", "committed-today"):
        Path(clone.repo.common_dir, "logs/refs/heads", name).unlink()
    assert [one.branch for one in reconcile.idle_branches(clone, days=5)] == ["old"]


def test_rows_that_look_alike_are_counted() -> None:
    """There and back within one second writes the same row twice; what came between must not be lost."""
    rows = [ReflogRow(oid, 1, False, "checkout: x") for oid in (A, B, A, C)]
    before = SeenWorkTree(A, MAIN, "line", "2031", 1, moves._mark(rows[0]), "", "")
    assert moves._fresh(rows, before) == rows[1:]
    assert moves._fresh(rows, replace(before, rows=3)) == rows[3:]
    assert moves._fresh(rows, replace(before, rows=4)) == rows[3:], "by the row itself, where rows expired"
    assert moves._fresh(rows, replace(before, rows=9, row=moves._mark(rows[3]))) == []
    assert moves._fresh(rows, replace(before, row="gone")) is None
    assert moves._fresh(rows, replace(before, row="")) is None
    assert moves._fresh(rows, replace(before, row="", head=None)) == rows
    assert moves._fresh([], replace(before, row="", head=None)) is None


def test_a_switch_is_told_at_the_moment_of_the_last(place: Place) -> None:
    """There, elsewhere and on: what counts is since when this branch is checked out."""
    rows = [ReflogRow(A, at, False, words) for at, words in ((5, "checkout: a"), (7, "checkout: b"), (9, "commit: c"))]
    assert moves._switched(rows) == "1970-01-01T00:00:07.000000Z"
    assert moves._switched(rows[2:]) is None


def test_who_only_reads_notices_nothing_and_writes_nothing(place: Place) -> None:
    """The next command that may write would find it seen already."""
    place.repo.commit("b")
    before = sorted(place.files())
    clone = place.open()
    clone.reading = True
    assert moves.observe(clone) == moves.Moves()
    assert sorted(place.files()) == before
    assert [move.kind for move in moves.observe(place.open()).new] == ["commits"]


def test_an_amended_commit_is_made_here_under_its_new_name(place: Place) -> None:
    """What becomes evidence of a task is the commit that stays."""
    place.repo.commit("b")
    moves.observe(place.open())
    place.git("commit", "-q", "--amend", "-m", "other words")
    found = moves.observe(place.open())
    assert [(made.oid, made.ref) for made in found.made] == [(place.git("rev-parse", "HEAD"), MAIN)]
    assert [(move.kind, move.count) for move in found.new] == [("amend", 1)]


def test_a_name_of_just_the_longest_length_is_told_whole() -> None:
    """A cut name is another name."""
    assert moves._cut("x" * moves.LONGEST) == "x" * moves.LONGEST
    assert moves._cut("x" * (moves.LONGEST + 1)) == "x" * (moves.LONGEST - 1) + "…"
