"""What waits on a line, which files of the log it sees, and how an entry stands here."""

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import PublishRefused
from holdfast.git import branch_lines, visible_entries
from holdfast.git.branch_lines import BranchLine, InheritedLine, KnownLine
from holdfast.git.visible_entries import Staged
from holdfast.store import pending_changes, seal
from holdfast.store.layout import Layout
from holdfast.store.pending_changes import PendingChange
from holdfast.values import replace
from tests.git.place import Place, fact_path, fact_text

BLOB, OTHER = "a" * 40, "b" * 40
PATH = fact_path("one")


def at(second: int, rest: str = "000000") -> str:
    return f"2031-01-01T00:00:{second:02}.{rest}Z"


@pytest.fixture
def stores(tmp_path: Path) -> list[Layout]:
    """A clone's own store, and the one that a sandbox writes to."""
    made = []
    for name in ("own", "drawer"):
        (tmp_path / name).mkdir()
        made.append(Layout(str(tmp_path), str(tmp_path / name)))
    return made


def wait(store: Layout, line: str, ts: str, path: str = PATH, segment: str | None = None) -> PendingChange:
    return pending_changes.add(store, PendingChange(path, None, None, line, None, ts, segment=segment))


def waiting(stores: list[Layout], line: BranchLine) -> list[str]:
    return [change.name for change in visible_entries.waiting_changes(stores, line)]


def child(*inherits: InheritedLine, done: tuple[str, ...] = ()) -> BranchLine:
    return BranchLine("child", "refs/heads/child", inherits, frozenset(done))


def keep_line(store: Layout, line: BranchLine) -> None:
    branch_lines.save(store, KnownLine(line.id, ("refs/heads/child",), at(0), line.inherits))


def done_with(store: Layout) -> set[str]:
    """The changes that the child has dealt with."""
    known = branch_lines.find((store,), "child")
    assert known is not None
    return {key for key, _ in known.done}


def test_what_a_line_inherited_waits_before_its_own(stores: list[Layout]) -> None:
    """The last text of a path counts: the branch's own, not the one it took along."""
    own = [wait(stores[0], "child", at(1)), wait(stores[1], "child", at(2))]
    taken = [wait(stores[1], "parent", at(5)), wait(stores[0], "parent", at(4), fact_path("two"))]
    late, foreign = wait(stores[0], "parent", at(7)), wait(stores[0], "other", at(1))
    line = child(InheritedLine("parent", at(6)))
    assert waiting(stores, line) == [taken[1].name, taken[0].name, own[0].name, own[1].name]
    assert [c.name for c in visible_entries.changes(stores, line)] == [taken[1].name, own[1].name]
    assert waiting(stores, replace(line, done=frozenset((taken[0].key, own[0].key)))) == [taken[1].name, own[1].name]
    assert waiting(stores, child(InheritedLine("parent", None)))[-3] == late.name
    assert waiting(stores, BranchLine("other", None)) == [foreign.name]


def test_what_a_parent_published_since_still_waits_on_the_child(stores: list[Layout]) -> None:
    """Main publishing first must not take away what a branch already had."""
    line = child(InheritedLine("parent", at(5, "500000")), InheritedLine("older", at(3)))
    there = {name: wait(stores[0], "parent", at(1)) for name in ("before", "in that second", "after")}
    for (name, change), second in zip(there.items(), (4, 5, 9), strict=True):
        pending_changes.archive(stores[0], change, commit=name, ts=at(second))
    late = wait(stores[0], "parent", at(6))
    pending_changes.archive(stores[0], late, commit="late", ts=at(9))
    segment = wait(stores[0], "parent", at(1), ".holdfast/log/2031/01/01/" + "c" * 32 + ".jsonl", "c" * 32)
    pending_changes.archive(stores[0], segment, commit="after", ts=at(9))
    foreign = wait(stores[0], "other", at(1))
    pending_changes.archive(stores[0], foreign, commit="after", ts=at(9))
    old = wait(stores[0], "older", at(1))
    pending_changes.archive(stores[0], old, commit="x", ts=at(3))
    found = visible_entries.waiting_changes(stores, line)
    assert {(c.published or {}).get("commit") for c in found} == {"in that second", "after", "x"}
    assert all(change.segment is None for change in found)
    assert waiting(stores, child()) == []
    assert waiting(stores, child(InheritedLine("parent", None))) == [], "who sees all of it sees it published"
    passed = replace(line, done=frozenset((branch_lines.all_of("parent"),)))
    assert {c.line for c in visible_entries.waiting_changes(stores, passed)} == {"older"}
    (source,) = visible_entries.own_sources(stores, line)
    where = (source.key, source.path, source.until)
    assert where == ("c" * 32, stores[0].sealed_segment("c" * 32), at(5, "500000")), "a segment is a file of the log"


def spool(store: Layout, line: str, name: str) -> str:
    folder = Path(store.spool, line)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(b"")
    return str(folder / name)


def test_the_files_of_the_log_that_a_line_sees(stores: list[Layout]) -> None:
    """An event after the moment of branching is another line's."""
    own, taken = spool(stores[0], "child", "a.jsonl"), spool(stores[1], "parent", "b.closed")
    spool(stores[0], "other", "c.jsonl")
    segments = {name: name * 32 for name in "def"}
    for name, line in zip(segments, ("child", "parent", "other"), strict=True):
        wait(stores[1], line, at(1), f".holdfast/log/2031/01/01/{segments[name]}.jsonl", segments[name])
    wait(stores[0], "child", at(1))
    line = child(InheritedLine("parent", at(6)))
    found = {(s.key, s.kind, s.line, s.until, s.path) for s in visible_entries.own_sources(stores, line)}
    drawer = stores[1]
    assert found == {
        ("child/a.jsonl", "spool", "child", None, own),
        ("parent/b.closed", "spool", "parent", at(6), taken),
        ("d" * 32, "segment", "child", None, drawer.sealed_segment("d" * 32)),
        ("e" * 32, "segment", "parent", at(6), drawer.sealed_segment("e" * 32)),
    }
    passed = replace(line, done=frozenset((branch_lines.events_of("parent"),)))
    assert {s.line for s in visible_entries.own_sources(stores, passed)} == {"child"}


def test_a_file_that_two_see_is_seen_as_far_as_the_wider_one(place: Place, stores: list[Layout]) -> None:
    """One segment may wait on a line and on the one that took it along; none of its events may be cut off."""
    name = "c" * 32
    for line in ("parent", "child"):
        wait(stores[0], line, at(1), f".holdfast/log/2031/01/01/{name}.jsonl", name)
    line = child(InheritedLine("parent", at(6)))
    (found,) = visible_entries.log_sources(place.open().repo, stores, line)
    assert (found.key, found.until) == (name, None)
    place.ran("r1")
    place.publish()
    place.repo.commit(".holdfast/log/README.md", "no part of the log\n")
    sources = visible_entries.log_sources(place.open().repo, stores, line)
    assert [(s.kind, s.path is None) for s in sources] == [("segment", True), ("segment", False)]


def archived(store: Layout) -> dict[str, str]:
    return {c.key: (c.published or {})["commit"] for c in pending_changes.published(store)}


def test_a_change_that_landed_ends_what_it_superseded(stores: list[Layout]) -> None:
    """A writer that was killed may have left an older text of the path; it must not come after the newer one."""
    older, change, newer = (wait(stores[0], "child", at(second)) for second in (1, 2, 3))
    elsewhere = wait(stores[0], "child", at(1), fact_path("two"))
    taken = [wait(stores[0], "parent", at(second)) for second in (1, 5)]
    line = child(InheritedLine("parent", at(6)))
    keep_line(stores[0], line)
    there = visible_entries.waiting_changes(stores, line)
    visible_entries.close_change(stores, line, change, there, commit="commit", ts=at(9))
    assert archived(stores[0]) == {older.key: "", change.key: "commit"}
    left = {c.key for c in pending_changes.waiting(stores[0])}
    assert left == {newer.key, elsewhere.key, *(c.key for c in taken)}, "the parent still waits for its own"
    assert done_with(stores[0]) == {c.key for c in taken}


def test_an_inherited_change_that_landed_waits_on_its_own_line(stores: list[Layout]) -> None:
    """It is noted here, and what was inherited later than it is not ended with it."""
    taken = [wait(stores[0], "parent", at(second)) for second in (1, 2, 3)]
    own = wait(stores[0], "child", at(4))
    line = child(InheritedLine("parent", at(6)))
    keep_line(stores[0], line)
    there = visible_entries.waiting_changes(stores, line)
    visible_entries.close_change(stores, line, taken[1], there, commit="commit", ts=at(9))
    (noted,) = pending_changes.published(stores[0])
    assert (noted.key, noted.line, noted.published) == (taken[1].key, "child", {"commit": "commit", "ts": at(9)})
    assert {c.key for c in pending_changes.waiting(stores[0])} == {own.key, *(c.key for c in taken)}
    assert done_with(stores[0]) == {taken[0].key, taken[1].key}


def test_what_is_brought_back_is_noted_as_published_again(stores: list[Layout]) -> None:
    """`publish --restore` hands in a change of this very line that was published before."""
    line = child()
    keep_line(stores[0], line)
    change = wait(stores[0], "child", at(1))
    pending_changes.archive(stores[0], change, commit="first", ts=at(2))
    (before,) = pending_changes.published(stores[0])
    visible_entries.close_change(stores, line, before, [], commit="second", ts=at(9))
    assert [(c.published or {})["commit"] for c in pending_changes.published(stores[0])] == ["first", "second"]


@pytest.mark.parametrize("rule", ["filter=lfs", "ident=set", "working-tree-encoding=UTF-16"])
def test_a_rule_that_converts_our_files_is_named_and_refused(place: Place, rule: str) -> None:
    """A clone's attributes could run a program over what we commit."""
    repo = place.open().repo
    visible_entries.refuse_conversion(repo, [PATH, fact_path("two")])
    place.repo.write(".git/info/attributes", f"two-FCT-two.md {rule.replace('=set', '')}\n")
    visible_entries.refuse_conversion(repo, [PATH])
    with pytest.raises(PublishRefused, match=rf"would convert {fact_path('two')} \({rule}\)"):
        visible_entries.refuse_conversion(repo, [PATH, fact_path("two")])
    place.repo.write(".holdfast/.gitattributes", "")
    visible_entries.refuse_conversion(repo, [PATH])


# What was staged.


def staged(place: Place) -> dict[str, Staged]:
    return visible_entries.read_staged(place.open().repo)


def test_what_was_staged_is_remembered_until_it_is_committed_or_unstaged(place: Place) -> None:
    """What we staged is ours to replace; whatever lies there later is somebody's."""
    one, two, three = (fact_path(name) for name in ("one", "two", "three"))
    for path in (one, two, three):
        place.repo.write(path, "x\n")
    place.git("add", one, two, three)
    repo = place.open().repo
    visible_entries.remember_staged(repo, "line", [(one, BLOB), (two, BLOB), ("gone", None)])
    assert staged(place) == {one: Staged(BLOB, "line"), two: Staged(BLOB, "line")}, "what goes away has no text"
    place.git("commit", "-q", "-m", "one", "--", one)
    visible_entries.remember_staged(place.open().repo, "other", [(three, OTHER)])
    assert staged(place) == {two: Staged(BLOB, "line"), three: Staged(OTHER, "other")}
    many = [(f".holdfast/memory/facts/{n}-FCT-{n}.md", BLOB) for n in range(60)]
    visible_entries.remember_staged(place.open().repo, "line", many)
    assert len(staged(place)) == 62
    visible_entries.remember_staged(place.open().repo, "line", [])
    assert set(staged(place)) == {two, three}


def test_a_damaged_record_of_what_was_staged_counts_as_none(place: Place) -> None:
    """It is a convenience: nothing may fail for it."""
    record = Path(place.open().repo.git_dir, visible_entries.STAGED_RECORD)
    rows = {"one": [BLOB, "line"], "two": [BLOB], "three": "ab", "four": 7, "five": [BLOB, "line", "more"]}
    record.write_text(json.dumps(rows))
    assert staged(place) == {"one": Staged(BLOB, "line")}


def test_what_another_line_staged_is_no_edit_of_this_one(place: Place) -> None:
    """Git carries it along on a switch; an edit on top of it is somebody's, and so is a deletion."""
    names = ("left", "edited", "deleted")
    for name in names:
        place.keep(name)
    place.publish()
    place.git("branch", "-q", "other")
    place.later()
    for name in names:
        place.keep(name, "It has changed.")
    place.publish(stage=True)
    place.git("switch", "-q", "other")
    place.repo.write(fact_path("edited"), fact_text("edited", "By hand."))
    (place.repo / fact_path("deleted")).unlink()
    assert place.facts() == {"left": "It is so.", "edited": "By hand."}
    place.git("checkout", "-q", "--", ".")
    (place.repo / fact_path("deleted")).write_text(fact_text("deleted", "It has changed."))
    place.git("switch", "-q", "main")
    assert place.facts() == dict.fromkeys(names, "It has changed.")


# How an entry stands here.


def origins(place: Place) -> dict[str, str]:
    return {Path(s.path).stem.rpartition("-")[2]: s.origin for s in place.open().entries()}


def test_where_a_text_comes_from(place: Place) -> None:
    """A waiting change comes first, else an edit, else what is committed."""
    for name in ("tree", "edit", "gone", "going", "back"):
        place.keep(name)
    place.publish()
    place.repo.write(fact_path("edit"), fact_text("edit", "By hand."))
    place.repo.write(fact_path("added"), fact_text("added", "By hand."))
    place.repo.write(".holdfast/memory/facts/notes.txt", "no entry\n")
    (place.repo / fact_path("gone")).unlink()
    place.open().change(fact_path("going"), None)
    place.keep("new")
    place.keep("back", "It has changed.")
    place.keep("back")
    here = {"tree": "tree", "edit": "edit", "added": "edit", "new": "pending", "back": "tree"}
    assert origins(place) == here
    clone = place.open()
    assert clone.entries() == clone.entries(), "asked again, the same"
    chosen = clone.entries(only=[fact_path("edit"), fact_path("going"), fact_path("new")])
    assert [s.origin for s in chosen] == ["edit", "pending"]
    assert len(clone.entries()) == 5, "what was asked of some is no answer for all"
    place.repo.write(fact_path("edit"), fact_text("edit", "Again."))
    assert {s.text for s in clone.entries()} >= {fact_text("edit", "Again.")}
    assert [s.path for s in clone.entries(".holdfast/tasks")] == []


def test_an_edit_under_a_waiting_change_is_shown_with_it(place: Place) -> None:
    """Both are somebody's words."""
    place.keep("one")
    place.publish()
    place.keep("one", "It has changed.")
    place.keep("two")
    place.repo.write(PATH, fact_text("one", "By hand."))
    found = {s.path: (s.origin, s.edited) for s in place.open().entries()}
    assert found == {PATH: ("pending", fact_text("one", "By hand.")), fact_path("two"): ("pending", None)}
    place.open().change(PATH, None)
    assert [s.path for s in place.open().entries()] == [fact_path("two")]


@pytest.mark.parametrize("damage", ["large", "link", "bytes"])
def test_an_edit_that_cannot_be_read_is_no_reason_to_stop(place: Place, damage: str) -> None:
    """It is shown as it is; whoever parses it says that it is broken."""
    place.keep("two")
    place.publish()
    path = place.repo.write(PATH, "")
    if damage == "large":
        path.write_bytes(b"x" * (visible_entries.MAX_ENTRY + 1))
    elif damage == "link":
        path.unlink()
        path.symlink_to("/etc/hostname")
    else:
        path.write_bytes(b"\xff\xfe")
    found = {s.path: s.text for s in place.open().entries()}
    assert set(found) == {PATH, fact_path("two")}
    assert not found[PATH].startswith("x") and "---" not in found[PATH]


def test_a_broken_text_is_not_merged(place: Place) -> None:
    """What cannot be read field by field is shown beside the other."""
    place.keep("one")
    place.publish()
    place.keep("one", "Ours.")
    place.repo.commit(PATH, "no entry\n")
    (seen,) = place.open().entries()
    assert (seen.text, seen.clash, seen.origin) == (fact_text("one", "Ours."), "no entry\n", "pending")


def test_a_change_made_without_a_text_before_it_is_merged_with_what_came_since(place: Place) -> None:
    """Two branches write the same new entry: where they agree there is nothing to choose."""
    place.keep("one", tags="[db]")
    place.repo.commit(PATH, fact_text("one", tags="[ db ]"))
    (seen,) = place.open().entries()
    assert seen.clash is None, "the same in another form"
    place.repo.commit(PATH, fact_text("one", tags="[db]", confidence="0.5"))
    (seen,) = place.open().entries()
    assert seen.clash is not None and "confidence: 0.5" in seen.clash
    place.git("rm", "-q", PATH)
    place.git("commit", "-q", "-m", "gone")
    (seen,) = place.open().entries()
    assert (seen.clash, seen.text) == (None, fact_text("one", tags="[db]"))


def test_two_that_changed_different_fields_are_merged(place: Place) -> None:
    """Field by field, from the text that both began with."""
    place.repo.commit(PATH, fact_text("one"))
    place.keep("one", confidence="0.5")
    place.repo.commit(PATH, fact_text("one", tags="[db]"))
    (seen,) = place.open().entries()
    merged = fact_text("one", tags="[db]", confidence="0.5")
    assert (seen.text, seen.clash, seen.origin) == (merged, None, "pending")
    assert seen.blob == place.open().repo.hash_blob(merged.encode())
    place.git("rm", "-q", PATH)
    place.git("commit", "-q", "-m", "gone")
    (seen,) = place.open().entries()
    assert (seen.text, seen.clash) == (fact_text("one", confidence="0.5"), None)


def test_what_was_asked_of_one_is_no_answer_for_all(place: Place) -> None:
    """A process that looked at one entry first must still see the others."""
    for name in ("one", "two"):
        place.repo.commit(fact_path(name), fact_text(name))
    clone = place.open()
    assert [s.path for s in clone.entries(only=[PATH])] == [PATH]
    assert [s.path for s in clone.entries()] == [PATH, fact_path("two")]
    place.keep("three")
    assert [s.path for s in clone.entries(only=[PATH])] == [PATH]
    Path(clone.layout.erased).mkdir(exist_ok=True)
    for name in ("two", "three"):
        Path(clone.layout.erased, f"FCT-{name}").touch()
    assert [s.path for s in place.open().entries()] == [PATH]
    assert place.open().entries(only=[fact_path("two")]) == []


# What has landed.


def test_what_landed_in_between_is_known_by_the_commit_it_came_in(place: Place) -> None:
    """History may have moved on; what never was in it still waits."""
    gone = place.keep("gone")
    place.publish()
    place.keep("one")
    place.open().change(gone, None)
    place.publish(stage=True)
    place.git("commit", "-q", "-m", "came")
    came = place.git("rev-parse", "HEAD")
    place.repo.commit(PATH, fact_text("one", "Later."))
    place.repo.commit(gone, fact_text("gone", "Back."))
    place.keep("two")
    (clone := place.open()).settle()
    assert [change.path for change in clone.changes()] == [fact_path("two")]
    published = {c.path: (c.published or {})["commit"] for c in pending_changes.published(clone.layout)}
    assert published[PATH] == came and published[gone] == came
    assert place.facts() == {"one": "Later.", "gone": "Back.", "two": "It is so."}


def test_what_landed_is_found_once(place: Place) -> None:
    """In HEAD, or else in the history since it was recorded; a commit before that was somebody else's."""
    place.repo.commit(fact_path("two"), fact_text("two"))
    place.repo.commit(fact_path("two"), fact_text("two", "Other."))
    clone = place.open()
    texts = {PATH: fact_text("one"), fact_path("two"): fact_text("two"), fact_path("three"): fact_text("three")}
    one, two, three = clone.change_all(texts)
    for path in (PATH, fact_path("three")):
        place.repo.commit(path, texts[path])
    came = place.git("rev-parse", "HEAD")
    place.repo.commit(fact_path("three"), "other\n")
    repo = place.open().repo
    head = place.git("rev-parse", "HEAD")
    assert visible_entries.landed(repo, [one, two, three], clone.blob_of) == [(one, head), (three, came)]


def test_whether_anything_landed_is_said(place: Place) -> None:
    """Whoever holds the line looks it up again then."""
    clone = place.open()
    clone.change(PATH, fact_text("one"))
    facts: dict[str, Any] = {"blob_of": clone.blob_of, "ts": clone.now()}
    assert not visible_entries.settle(clone.repo, clone.stores, clone.line(), **facts)
    place.repo.commit(PATH, fact_text("one"))
    assert visible_entries.settle(clone.repo, clone.stores, clone.line(), **facts)
    assert clone.changes() == []


def test_a_change_recorded_at_a_commit_that_is_gone_is_looked_for_in_all_history(place: Place) -> None:
    """A shallow clone, or a store brought from elsewhere, does not know that commit."""
    clone = place.open()
    for name, head in (("one", "f" * 40), ("two", None)):
        text = fact_text(name)
        blob = clone.repo.hash_blob(text.encode())
        change = PendingChange(fact_path(name), None, blob, clone.line().id, head, clone.now(), text)
        pending_changes.add(clone.layout, change)
        place.repo.commit(fact_path(name), text)
        place.repo.commit(fact_path(name), fact_text(name, "Later."))
    assert place.waits() == set()
    assert place.facts() == {"one": "Later.", "two": "Later."}


def test_a_deletion_of_what_never_was_there_is_not_found_in_history(place: Place) -> None:
    """Somebody else's deletion of the same path is no sign of ours."""
    clone = place.open()
    change = PendingChange(PATH, None, None, clone.line().id, place.git("rev-parse", "HEAD"), clone.now())
    place.repo.commit(PATH, fact_text("one"))
    place.git("rm", "-q", PATH)
    place.git("commit", "-q", "-m", "gone")
    place.repo.commit(PATH, fact_text("one", "Again."))
    assert visible_entries.landed(place.open().repo, [change], clone.blob_of) == []
    ours = replace(change, base=OTHER)
    found = visible_entries.landed(place.open().repo, [ours], clone.blob_of)
    assert [commit for _, commit in found] == [place.git("rev-parse", "HEAD~1")]
    assert visible_entries.landed(place.open().repo, [], clone.blob_of) == []


def test_before_the_first_commit_nothing_has_landed(tmp_path: Path) -> None:
    """A new repository has no history to look through."""
    place = Place.make(tmp_path / "repo")
    place.git("switch", "-q", "--orphan", "empty")
    place.keep("one")
    assert place.waits() == {PATH}
    clone = place.open()
    gone = clone.change(fact_path("two"), None)
    assert visible_entries.landed(clone.repo, [gone], clone.blob_of) == []
    assert [s.path for s in clone.entries()] == [PATH], "what is to go is not shown, though it never was there"


def test_a_segment_waits_until_its_very_bytes_are_committed(place: Place) -> None:
    """Its path says which bytes it has."""
    place.ran("r1")
    clone = place.open()
    seal.seal(clone.layout, clone.line().id, head=clone.repo.head().oid, ts=clone.now())
    (change,) = clone.changes()
    place.publish(stage=True)
    assert place.waits() == {change.path}
    place.git("commit", "-q", "-m", "came")
    assert place.waits() == set() and place.runs() == {"r1"}
