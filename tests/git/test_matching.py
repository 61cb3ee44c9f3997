"""The rules that say which commit is the lost one: two kinds of proof, or no answer."""

import pytest

from holdfast.git.cited_commits import commit_matching
from holdfast.git.cited_commits.anchor_store import CommitAnchor, anchor_of
from holdfast.git.cited_commits.commit_details import Commit, Patch
from holdfast.git.cited_commits.commit_matching import PLAUSIBLE, SAME_COMMIT, SAME_MOMENT, STRANGER, MatchScope
from holdfast.values import replace

A, B, C = ("a.txt", "0", "1"), ("b.txt", "0", "2"), ("c.txt", "0", "3")
WORK = Patch((A,), "p1", frozenset({"+1", "+2", "+3", "+4"}), weight=40)
LOST = Commit("lost", "t0", ("base",), "Ada", "ada@x", 100, 200, frozenset({"I1"}), "add a")
BOB = {"name": "Bob", "mail": "bob@x"}


def like(oid: str, **changed: object) -> Commit:
    """The lost commit under another name, with what differs."""
    return replace(LOST, oid=oid, **{"tree": f"tree of {oid}", "parents": ("other",), **changed})


def part(*lines: str, patch_id: str | None = None, paths: tuple[tuple[str, str, str], ...] = (A,)) -> Patch:
    return Patch(paths, patch_id, frozenset(lines), weight=10 * len(lines))


def sight(*found: tuple[Commit, Patch | None], lost: Commit = LOST, patch: Patch = WORK, **more: object) -> MatchScope:
    """What can be seen of one lost commit: commits, each with its patch if it touches the same paths."""
    known = {commit.oid: one for commit, one in found if one is not None}
    given = {"near": (), "others": (), **more}
    return MatchScope(anchor_of(lost, patch), [commit for commit, _ in found], known, **given)  # type: ignore[arg-type]


ANCHOR: CommitAnchor = anchor_of(LOST, WORK)


@pytest.mark.parametrize(
    ("changed", "wanted"),
    [
        ({}, SAME_COMMIT),
        ({"committed": 1}, SAME_COMMIT),  # a clock went back; who and when it was written stay
        ({"message": "add a (#12)"}, SAME_COMMIT),  # a forge adds its number
        ({"message": "other words"}, SAME_MOMENT),
        ({"message": 'Revert "add a"'}, STRANGER),
        ({"authored": 101}, PLAUSIBLE),
        ({"authored": 101, "committed": 199}, STRANGER),  # made before the lost one was
        ({"authored": 101, "message": 'Reapply "add a"'}, STRANGER),
        ({"authored": 101, "message": "x\n\nThis reverts commit 1"}, STRANGER),
        (BOB, PLAUSIBLE),  # his squash has the title
        ({**BOB, "message": "feature\n\n* add a\n* add b"}, PLAUSIBLE),  # or lists it
        ({**BOB, "message": "feature"}, STRANGER),
        ({**BOB, "committed": 199}, STRANGER),
        ({"name": "Bob", "message": "other", "authored": 101}, PLAUSIBLE),  # the same address
        ({"mail": "bob@x", "message": "other", "authored": 101}, PLAUSIBLE),  # the same name
    ],
)
def test_a_commit_is_ranked_by_who_made_it_when_and_what_it_says(changed: dict[str, object], wanted: int) -> None:
    """Content alone proves nothing: two people write the same line, a revert of a revert makes it again."""
    assert commit_matching.rank(ANCHOR, like("x", **changed)) == wanted


def test_nobody_is_not_the_same_person_as_nobody() -> None:
    """An author that was left out for a secret in it is no proof of anything."""
    unnamed = replace(ANCHOR, author=" <> 100")
    assert commit_matching.rank(unnamed, like("x", name="", mail="", message="other")) == STRANGER


def test_of_equally_good_commits_the_only_one_at_hand_counts() -> None:
    """From elsewhere nobody can tell which of two cherry-picks somebody means."""
    assert commit_matching.nearest(["a", "b", "a"], {"b", "z"}) == ["b"]
    assert commit_matching.nearest(["a", "b", "a"], {"a", "b"}) == ["a", "b"]
    assert commit_matching.nearest(["a", "b"], ()) == ["a", "b"]
    assert commit_matching.nearest([], {"b"}) == []


def test_the_same_patch_is_it_if_nothing_speaks_against_it() -> None:
    """The best of those with the same patch; several that are equally good are all named."""
    same, moment, later = like("same"), like("moment", message="other"), like("later", authored=150)
    stranger = like("stranger", **BOB, message="mine")
    found = [(one, WORK) for one in (later, stranger, moment, same)]
    assert commit_matching.by_patch_id(sight(*found)) == ["same"]
    assert commit_matching.by_patch_id(sight(*found[:-1])) == ["moment"]
    assert commit_matching.by_patch_id(sight(*found[:-2])) == ["later"]
    assert commit_matching.by_patch_id(sight(*found[1:2])) == []
    assert commit_matching.by_patch_id(sight((same, WORK), (like("twin"), WORK))) == ["same", "twin"]
    assert commit_matching.by_patch_id(sight((same, replace(WORK, patch_id="p2")))) == []
    assert commit_matching.by_patch_id(sight((same, None))) == []
    unknown = replace(WORK, patch_id=None)
    assert commit_matching.by_patch_id(sight((same, unknown), patch=unknown)) == []


def test_a_likeness_does_not_count_where_the_commit_itself_lives_on() -> None:
    """Somebody's later commit makes the same change; the real one stands there, amended."""
    twin, amended = like("twin", authored=150), like("amended")
    left = part("+1", "+9", patch_id="p9")
    assert commit_matching.by_patch_id(sight((twin, WORK), (amended, left))) == []
    assert commit_matching.by_patch_id(sight((twin, WORK), (amended, part("+9")))) == ["twin"]
    assert commit_matching.by_patch_id(sight((twin, WORK), (like("x", authored=9), left))) == ["twin"]


def test_where_history_is_not_seen_whole_only_the_commit_itself_counts() -> None:
    """What looks like it may be a twin of what lies beyond."""
    assert commit_matching.by_patch_id(sight((like("moment", message="other"), WORK), cut=True)) == []
    assert commit_matching.by_patch_id(sight((like("same"), WORK), cut=True)) == ["same"]


def test_a_change_id_counts_with_most_of_the_change() -> None:
    """A copied trailer on other work is not the commit."""
    most = part("+1", "+2", "+3", "+9", patch_id="p9")
    named, other = like("named", authored=9), like("other", authored=9, change_ids=frozenset({"I2"}))
    assert commit_matching.by_change_id(sight((named, most), (other, most))) == ["named"]
    assert commit_matching.by_change_id(sight((named, part("+1", "+2", patch_id="p9")))) == []  # half is a split
    assert commit_matching.by_change_id(sight((named, None))) == []
    assert commit_matching.by_change_id(sight((named, most), lost=replace(LOST, change_ids=frozenset()))) == []
    both = ((named, most), (replace(named, oid="twin"), most))
    assert commit_matching.by_change_id(sight(*both, near={"twin"})) == ["twin"]
    assert commit_matching.by_change_id(sight(*both)) == ["named", "twin"]


def test_part_of_a_change_is_it_only_if_nobody_has_the_rest() -> None:
    """Of a split commit no part is the whole; after an amend the rest is nowhere."""
    itself, most = like("itself"), part("+1", "+2", "+3", patch_id="p9")
    assert commit_matching.by_overlap(sight((itself, most))) == ["itself"]
    assert commit_matching.by_overlap(sight((itself, most), (like("next", authored=9), part("+4")))) == []
    assert commit_matching.by_overlap(sight((itself, most), (like("next", authored=9), part("+1")))) == ["itself"]
    assert commit_matching.by_overlap(sight((itself, most), here=False)) == []  # the halves may be gone
    assert commit_matching.by_overlap(sight((itself, most), others={"p9"})) == []  # it became of another lost one
    assert commit_matching.by_overlap(sight((itself, part("+1", "+2", patch_id="p9")))) == []
    assert commit_matching.by_overlap(sight((like("moment", message="other"), most))) == []


def test_who_holds_the_whole_change_is_it() -> None:
    """A squash holds every line and more."""
    whole = part("+1", "+2", "+3", "+4", "+5", patch_id="p9")
    later = like("later", authored=150)
    assert commit_matching.by_overlap(sight((later, whole))) == ["later"]
    assert commit_matching.by_overlap(sight((like("same"), whole), (later, whole))) == ["same"]
    assert commit_matching.by_overlap(sight((later, whole), others={"p9"})) == []  # the squash of somebody else's work
    assert commit_matching.by_overlap(sight((like("same"), whole), others={"p9"})) == ["same"]
    beside = (later, replace(whole, patch_id="p8"))
    assert commit_matching.by_overlap(sight((like("same"), whole), beside, others={"p9"})) == ["same"]
    assert commit_matching.by_overlap(sight((like("bob", **BOB, message="mine"), whole))) == []


def test_a_change_that_says_little_needs_the_title() -> None:
    """Everybody adds `pass` somewhere."""
    small = replace(WORK, weight=15)
    other = like("other", authored=150, message="other")
    assert commit_matching.by_overlap(sight((other, WORK), patch=small)) == []
    assert commit_matching.by_overlap(sight((like("other", authored=150), WORK), patch=small)) == ["other"]
    assert commit_matching.by_overlap(sight((other, WORK), patch=replace(WORK, weight=16))) == ["other"]


def test_what_no_patch_shows_is_known_by_its_blobs() -> None:
    """Binary content has no lines; the very blobs, or the name with the commit's own hand."""
    blobs = Patch((A, B), None)
    later = like("later", authored=150)
    assert commit_matching.by_overlap(sight((later, Patch((A, B, C), None)), patch=blobs)) == ["later"]
    assert commit_matching.by_overlap(sight((later, Patch((A,), None)), patch=blobs)) == []
    assert commit_matching.by_overlap(sight((like("same"), Patch((A,), None)), patch=blobs)) == ["same"]
    assert commit_matching.by_overlap(sight((like("same"), Patch((C,), None)), patch=blobs)) == []
    assert commit_matching.by_overlap(sight((later, Patch((C,), None)), patch=Patch())) == []
    assert commit_matching.by_overlap(sight((like("same"), Patch((C,), None)), patch=Patch())) == ["same"]


def test_the_same_tree_on_the_same_parents_is_it() -> None:
    """Only words were changed: nothing else can have this tree there, unless it changes nothing at all."""
    words = {"tree": "t0", "parents": ("base",), "message": "other", "authored": 9}
    assert commit_matching.by_tree(sight((like("x", **words), None))) == ["x"]
    assert commit_matching.by_tree(sight((like("x", **{**words, "tree": "t1"}), None))) == []
    assert commit_matching.by_tree(sight((like("x", **{**words, "parents": ("other",)}), WORK))) == []
    assert commit_matching.by_tree(sight((like("x", **words), Patch()), patch=Patch())) == []


def test_the_same_tree_elsewhere_needs_its_maker_and_all_of_the_change() -> None:
    """Reordered commits end in the same tree, and so does the last part of a split one."""
    moved = like("moved", tree="t0")
    assert commit_matching.by_tree(sight((moved, WORK))) == ["moved"]
    assert commit_matching.by_tree(sight((moved, part("+1", "+2", "+3")))) == []
    assert commit_matching.by_tree(sight((moved, replace(WORK, paths=(A, B))))) == []
    assert commit_matching.by_tree(sight((moved, None))) == []
    assert commit_matching.by_tree(sight((like("x", tree="t0", message="other"), WORK))) == []
    assert commit_matching.by_tree(sight((like("x"), WORK))) == []
    assert commit_matching.by_tree(sight((like("x", tree="t0", parents=("a", "b")), WORK))) == []


def test_merges_and_empty_commits_are_known_by_maker_and_title_alone() -> None:
    """They change nothing of their own."""
    merge = replace(LOST, parents=("one", "two"))
    assert commit_matching.by_tree(sight((like("x", parents=("a", "b")), None), lost=merge, patch=Patch())) == ["x"]
    wrong = like("x", parents=("a", "b"), message="other")
    assert commit_matching.by_tree(sight((wrong, None), lost=merge, patch=Patch())) == []
    assert commit_matching.by_tree(sight((like("x"), None), lost=merge, patch=Patch())) == []
    assert commit_matching.by_tree(sight((like("x"), Patch()), patch=Patch())) == ["x"]
    assert commit_matching.by_tree(sight((like("x"), None), patch=Patch())) == []
    assert commit_matching.by_tree(sight((like("x"), WORK), patch=Patch())) == []


def test_how_much_of_a_change_another_one_holds() -> None:
    """From nothing to all of it, by lines; by blobs where there are none."""
    assert commit_matching.share(ANCHOR, WORK) == 1.0
    assert commit_matching.share(ANCHOR, part("+1", "+9")) == 0.25
    assert commit_matching.share(ANCHOR, Patch()) == 0.0
    blobs = anchor_of(LOST, Patch((A,), None))
    assert commit_matching.share(blobs, Patch((A, B), None)) == commit_matching.share(blobs, Patch((A,), None)) == 1.0
    assert commit_matching.share(blobs, Patch((B,), None)) == 0.0
    assert commit_matching.rest(ANCHOR, part("+1", "+2", "-7")) == {"+3", "+4"}


def test_a_part_is_a_commit_whose_rest_somebody_else_has() -> None:
    """Then it was split, and no part is the whole."""
    seen = sight((like("one"), part("+1", "+2")), (like("two"), part("+3")), (like("three"), part("+1")))
    assert commit_matching.is_part(seen, "one") and commit_matching.is_part(seen, "two")
    assert not commit_matching.is_part(sight((like("one"), part("+1", "+2")), (like("x"), part("+2"))), "one")
    assert not commit_matching.is_part(sight((like("one"), WORK), (like("x"), WORK)), "one")
    assert commit_matching.is_part(sight((like("x"), part("+1"))), "not seen")
