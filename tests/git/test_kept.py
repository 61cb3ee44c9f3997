"""What is remembered of commits: read from git as it is, kept without secrets, left out where damaged."""

import json
import os
from pathlib import Path

import pytest

from holdfast.git.cited_commits import anchor_store, commit_anchors, commit_details
from holdfast.git.cited_commits.anchor_store import anchor_of
from holdfast.git.cited_commits.commit_details import Commit, Patch
from holdfast.git.repo import Repo
from holdfast.security.redact import Scanner
from holdfast.store.layout import Layout
from holdfast.values import replace
from holdfast.work import cleanup
from tests.git.place import Place, fact_path, fact_text

OID, TREE, PARENT, OTHER = (f"{number:040x}" for number in (10, 11, 12, 13))
KEY = "AKIA" + "Z7QK3M5RT2WX6Y4B"
RAW = f"""{OID}
tree {TREE}
parent {PARENT}
parent {OTHER}
author Ada Example <ada@example.org> 100 +0100
committer Bob <bob@example.org> 200 -0700
change-id kxqp

    Add a thing (#12)

    * first part
      - second part

    Change-Id: I{"ab" * 8}
    Signed-off-by: Ada
"""


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    (tmp_path / "store").mkdir()
    return Layout(str(tmp_path), str(tmp_path / "store"))


def test_a_commit_is_read_as_git_stores_it() -> None:
    """Who, when, on what: each of these tells it from a twin."""
    made = commit_details.parsed(RAW)
    assert (made.oid, made.tree, made.parents) == (OID, TREE, (PARENT, OTHER))
    assert (made.name, made.mail, made.authored, made.committed) == ("Ada Example", "ada@example.org", 100, 200)
    assert made.author == "Ada Example <ada@example.org> 100"
    assert made.change_ids == {"kxqp", f"I{'ab' * 8}"}
    assert made.message.startswith("Add a thing (#12)\n\n* first part\n")
    assert made.title == commit_details.mark("Add a thing") != commit_details.mark("Add a thin")
    for line in ("first part", "second part", "- Add a thing"):
        assert commit_details.mark(line) in made.mentions
    assert commit_details.mark("") not in made.mentions
    assert not made.takes_back


def test_a_change_id_is_a_trailer_and_no_talk_of_one() -> None:
    """A message that quotes another change must not be taken for it."""
    quoted = RAW.replace("    * first part", f"    Change-Id: I{'cd' * 8}")
    assert commit_details.parsed(quoted).change_ids == {"kxqp", f"I{'ab' * 8}"}
    plain = RAW.partition("    Change-Id")[0].replace("change-id kxqp\n", "")
    assert commit_details.parsed(plain).change_ids == frozenset()


@pytest.mark.parametrize("words", ['Revert "x"', "revert: x", 'Reapply "x"', "x\n\n    This reverts commit 12."])
def test_who_takes_something_back_says_so(words: str) -> None:
    """Its change is the reverse of another's, so its lines prove nothing."""
    assert commit_details.parsed(RAW.replace("Add a thing (#12)", words)).takes_back
    assert not commit_details.parsed(RAW.replace("Add a thing (#12)", "Reverting is hard")).takes_back


def test_a_commit_that_lacks_something_is_read_all_the_same() -> None:
    """Other tools write commits without a person, or with a strange one."""
    bare = commit_details.parsed(f"{OID}\ntree {TREE}\nauthor nobody at all\n\n    words\n")
    assert (bare.name, bare.mail, bare.authored, bare.committed) == ("nobody at all", "", 0, 0)
    assert (bare.parents, bare.tree, bare.message) == ((), TREE, "words")
    empty = commit_details.parsed(f"{OID}\n\n")
    assert (empty.oid, empty.tree, empty.author, empty.message) == (OID, "", " <> 0", "")
    old = commit_details.parsed(RAW.replace("<ada@example.org> 100", "<> -5"))
    assert (old.mail, old.authored) == ("", -5)


COMMIT = commit_details.parsed(RAW)
PATCH = Patch((("a.txt", "1", "2"), ("b.txt", "3", "4")), "p", frozenset({"+22", "-11"}), weight=20)


def test_what_is_kept_comes_back_as_it_was(layout: Layout) -> None:
    """Git may have thrown the commit away; nothing of it may have changed here."""
    anchor = anchor_of(COMMIT, PATCH)
    assert (anchor.lines, anchor.change_ids) == (("-11", "+22"), tuple(sorted(COMMIT.change_ids)))
    assert (anchor.authored, anchor.names) == (100, {"a.txt", "b.txt"})
    twin = anchor_of(replace(COMMIT, oid=OTHER), Patch())
    anchor_store.save(layout, [anchor, twin], Scanner())
    assert anchor_store.load([layout], [OID, OTHER, PARENT]) == {OID: anchor, OTHER: twin}
    assert anchor_store.missing(layout, [OID, PARENT, PARENT]) == [PARENT]
    path = Path(layout.anchors, "00.jsonl")
    before = path.stat().st_ino
    anchor_store.save(layout, [anchor], Scanner())
    assert path.stat().st_ino == before, "what is there is not written again"
    anchor_store.save(layout, [], Scanner())
    new = anchor_of(replace(COMMIT, oid=PARENT), PATCH)
    anchor_store.save(layout, [anchor, new], Scanner())
    assert set(anchor_store.load([layout], [OID, OTHER, PARENT])) == {OID, OTHER, PARENT}


def test_a_large_commit_is_kept_by_a_fair_sample(layout: Layout) -> None:
    """An import of a million lines must not fill the store."""
    lines = frozenset(f"+{number:04}" for number in range(1000))
    paths = tuple((f"f{number}", "0", "1") for number in range(1000))
    anchor = anchor_of(COMMIT, Patch(paths, "p", lines, 9))
    assert len(anchor.lines) == anchor_store.MAX_LINES and len(anchor.paths) == anchor_store.MAX_PATHS
    assert anchor.lines == tuple(sorted(lines)[: anchor_store.MAX_LINES])


@pytest.mark.parametrize(
    "damage",
    [
        {"tree": 7},
        {"parents": [7]},
        {"parents": 7},
        {"author": "Ada without a time"},
        {"committed": "soon"},
        {"patch_id": 7},
        {"paths": [["a.txt", "1"]]},
        {"paths": [["a.txt", 1, "2"]]},
        {"lines": [1]},
        {"weight": None},
        {"change_ids": [None]},
    ],
)
def test_a_record_of_another_form_is_no_proof(layout: Layout, damage: dict[str, object]) -> None:
    """Half a record would find the wrong commit."""
    anchor_store.save(layout, [anchor_of(COMMIT, PATCH), anchor_of(replace(COMMIT, oid=OTHER), PATCH)], Scanner())
    path = Path(layout.anchors, "00.jsonl")
    first, second = (json.loads(line) for line in path.read_text().splitlines())
    path.write_text("".join(json.dumps(row) + "\n" for row in (first | damage, second)))
    assert set(anchor_store.load([layout], [OID, OTHER])) == {OTHER}
    without = {name: value for name, value in first.items() if name not in damage}
    path.write_text("".join(json.dumps(row) + "\n" for row in (without, second)))
    assert set(anchor_store.load([layout], [OID, OTHER])) == {OTHER}


def test_a_link_or_a_folder_in_the_place_of_records_is_not_followed(layout: Layout, tmp_path: Path) -> None:
    """The store must not lead elsewhere."""
    anchor_store.save(layout, [anchor_of(COMMIT, PATCH)], Scanner())
    path = Path(layout.anchors, "00.jsonl")
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert anchor_store.load([layout], [OID]) == {}
    assert [note for note in layout.notes if "symbolic link" in note]
    path.unlink()
    assert anchor_store.load([layout], [OID]) == {} and anchor_store.missing(layout, [OID]) == [OID]


def test_no_secret_is_kept_in_a_path_or_a_name(layout: Layout) -> None:
    """Whoever removes it from history means everywhere; hashes say nothing."""
    paths = (("a.txt", "1", "2"), (f"keys/{KEY}", "3", "4"))
    anchor_store.save(layout, [anchor_of(COMMIT, replace(PATCH, paths=paths))], Scanner())
    found = anchor_store.load([layout], [OID])[OID]
    assert found.paths == (("a.txt", "1", "2"),) and found.author == COMMIT.author
    named = replace(COMMIT, oid=OTHER, name=KEY)
    anchor_store.save(layout, [anchor_of(named, PATCH)], Scanner())
    found = anchor_store.load([layout], [OTHER])[OTHER]
    assert (found.author, found.authored, found.paths) == (" <> 100", 100, PATCH.paths)
    assert KEY not in Path(layout.anchors, "00.jsonl").read_text()


def test_what_was_found_is_remembered_for_a_few_states(layout: Layout) -> None:
    """Work trees take turns; a file that grows with every move would be read at every command."""
    rows = {OID: (OTHER, "patch-id"), PARENT: None}
    for number in range(6):
        commit_anchors.save_answers(layout, f"s{number}", rows)
    assert [bool(commit_anchors.load_answers(layout, f"s{number}")) for number in range(6)] == [
        False,
        False,
        *[True] * 4,
    ]
    assert commit_anchors.load_answers(layout, "s5") == rows
    commit_anchors.save_answers(layout, "s3", {OID: None})
    commit_anchors.save_answers(layout, "s6", rows)
    assert [bool(commit_anchors.load_answers(layout, f"s{number}")) for number in range(2, 7)] == [False, *[True] * 4]
    assert list(json.loads(Path(layout.anchors, "answers.json").read_text())) == ["s4", "s5", "s3", "s6"]
    assert commit_anchors.load_answers(layout, "s3") == {OID: None}
    path = Path(layout.anchors, "answers.json")
    whole = json.loads(path.read_text())
    path.write_text(json.dumps(whole | {"s6": {OID: ["x", 7], PARENT: [OTHER, "map"]}, "s9": 7}))
    assert (
        commit_anchors.load_answers(layout, "s6") == {PARENT: (OTHER, "map")}
        and commit_anchors.load_answers(layout, "s9") == {}
    )
    commit_anchors.save_answers(layout, "s7", rows)
    assert all(isinstance(rows, dict) for rows in json.loads(path.read_text()).values())
    for damage in ("[]", "{", "7"):
        path.write_text(damage)
        assert commit_anchors.load_answers(layout, "s7") == {}
        commit_anchors.save_answers(layout, "s7", rows)
        assert commit_anchors.load_answers(layout, "s7") == rows


# What commits change.


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place.make(tmp_path / "repo")


def repo_of(place: Place) -> Repo:
    return place.open().repo


def test_lines_are_told_apart_by_sign_path_and_words(place: Place) -> None:
    """White space moves in a reformatting, and a brace says nothing."""
    one = place.repo.commit("a.txt", "the first line\n}\nab\n")
    two = place.repo.commit("b.txt", "the  first line\n")
    three = place.repo.commit("a.txt", "  the first line\n}\nab\nthe second line\n")
    place.git("mv", "b.txt", "c.txt")
    place.git("commit", "-qm", "moved")
    four = place.git("rev-parse", "HEAD")
    read = commit_details.read_patches(repo_of(place), [one, two, three, four, one])
    first, second, third, moved = (read[oid] for oid in (one, two, three, four))
    assert len(first.lines) == len(second.lines) == 1
    assert first.weight == second.weight == len("thefirstline")
    assert first.lines != second.lines, "another file"
    assert third.lines > {"-" + next(iter(first.lines))[1:]} and next(iter(first.lines)) in third.lines
    assert {line[0] for line in moved.lines} == {"-", "+"} and moved.names == {"b.txt", "c.txt"}
    assert (
        commit_details.reverse(commit_details.reverse(third.lines))
        == third.lines
        != commit_details.reverse(third.lines)
    )
    assert moved.patch_id and len({one.patch_id for one in (first, second, third, moved)}) == 4


def test_a_merge_an_empty_commit_and_binary_content_have_no_patch_id(place: Place) -> None:
    """Git's hash of nothing would make them all one commit."""
    place.git("commit", "-q", "--allow-empty", "-m", "nothing")
    empty = place.git("rev-parse", "HEAD")
    (place.repo / "image").write_bytes(b"\0\1")
    place.git("add", "image")
    place.git("commit", "-qm", "image")
    binary = place.git("rev-parse", "HEAD")
    found = commit_details.read_patches(repo_of(place), [empty, binary])
    assert found[empty] == Patch()
    assert (found[binary].patch_id, found[binary].lines, found[binary].names) == (None, frozenset(), {"image"})
    assert commit_details.read_patches(repo_of(place), []) == {}


def test_many_commits_are_read_in_portions_and_none_is_missing(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only some are held in memory at a time; each keeps its own patch."""
    oids = [place.repo.commit(f"{n}.txt", f"the line of number {n}\n") for n in range(5)]
    whole = commit_details.read_patches(repo_of(place), oids)
    trees = [(place.git("rev-parse", f"{oid}^^{{tree}}"), place.git("rev-parse", f"{oid}^{{tree}}")) for oid in oids]
    between = commit_details.between(repo_of(place), trees)
    assert [between[pair] for pair in trees] == [whole[oid].patch_id for oid in oids]
    monkeypatch.setattr(commit_details, "_AT_ONCE", 2)
    assert commit_details.read_patches(repo_of(place), oids) == whole
    assert commit_details.between(repo_of(place), [*trees, (trees[0][0], trees[0][0])]) == between
    assert [next(iter(patch.names)) for patch in whole.values()] == [f"{n}.txt" for n in range(5)]


def test_a_commit_that_touches_very_much_is_known_by_its_paths(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reformatting of everything has a patch that fills the memory."""
    monkeypatch.setattr(commit_details, "_MAX_PATHS", 2)
    for names in ("ab", "cde"):
        for name in names:
            place.repo.write(f"{name}.txt", "some words here\n")
        place.git("add", ".")
        place.git("commit", "-qm", names)
    small, large = place.git("rev-parse", "HEAD^"), place.git("rev-parse", "HEAD")
    found = commit_details.read_patches(repo_of(place), [small, large])
    assert found[small].patch_id and len(found[small].lines) == 2
    assert found[large].patch_id is None and len(found[large].paths) == 3


# Which anchors nobody cites.


def test_only_what_nothing_cites_is_spare(place: Place) -> None:
    """Rather one too many is kept than one too few: a citation may stand anywhere."""
    ways = ("memory", "edited", "pending", "session", "rewrites", "old", "task", "link", "none", "young")
    oids = {way: f"{number:040x}" for number, way in enumerate(ways, 1)}
    clone = place.open()
    made = [anchor_of(_commit(oid, 4_000_000_000 if way == "young" else 100), Patch()) for way, oid in oids.items()]
    anchor_store.save(clone.layout, made, clone.scan)
    cited = {way: fact_text(way.upper(), f"See {oids[way]} here.") for way in ("memory", "edited", "pending", "old")}
    for way in ("memory", "old"):
        place.repo.write(fact_path(way.upper()), cited[way])
        place.git("add", "-f", fact_path(way.upper()))
        place.git("commit", "-qm", way)
    for folder in ("task", "link"):
        place.repo.write(f".holdfast/{folder}s/a-XYZ-a.md", f"see {oids[folder]}\n")
        place.git("add", "-f", ".holdfast")
        place.git("commit", "-qm", folder)
        place.git("rm", "-q", f".holdfast/{folder}s/a-XYZ-a.md")
    place.git("rm", "-q", fact_path("OLD"))
    place.git("commit", "-qm", "gone, but history has it")
    place.repo.write(fact_path("EDITED"), cited["edited"])
    clone.change(fact_path("PENDING"), cited["pending"])
    os.makedirs(clone.layout.sessions, exist_ok=True)
    Path(clone.layout.sessions, "x.json").write_text(json.dumps({"head": oids["session"]}))
    Path(clone.layout.rewrites).write_text(f"{oids['rewrites']} {'f' * 40} rebase 2031-01-01T00:00:00Z\n")

    spare = cleanup.uncited_anchors(place.open(), before="2031-01-01T00:00:00.000000Z")

    assert spare == {oids["none"]: "1970-01-01T00:01:40.000000Z"}
    cleanup.forget_anchors(clone.layout, [])
    cleanup.forget_anchors(clone.layout, list(spare))
    assert set(anchor_store.load([clone.layout], oids.values())) == set(oids.values()) - set(spare)


def _commit(oid: str, moment: int) -> Commit:
    return replace(COMMIT, oid=oid, committed=moment)


def test_a_record_without_a_sane_time_is_never_spare(place: Place) -> None:
    """A damaged number must not delete what somebody cites."""
    clone = place.open()
    anchor_store.save(clone.layout, [anchor_of(_commit(OID, 100), Patch())], clone.scan)
    path = Path(clone.layout.anchors, "00.jsonl")
    row = json.loads(path.read_text())
    for moment in (-1, 1 << 37, True, "100", None, 1e9):
        path.write_text(json.dumps(row | {"committed": moment}) + "\n")
        assert cleanup.uncited_anchors(place.open(), before="9999") == {}, moment
    (path.parent / "other.txt").write_text(json.dumps(row) + "\n")
    assert cleanup.uncited_anchors(place.open(), before="9999") == {}
    for moment in (0, (1 << 37) - 1):
        path.write_text(json.dumps(row | {"committed": moment}) + "\n")
        assert list(cleanup.uncited_anchors(place.open(), before="9999")) == [OID]
