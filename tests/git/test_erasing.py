"""What an erase says that it removed, and where it says that copies are left: each of them, and nothing else."""

import json
import os
from pathlib import Path

import pytest

from holdfast.errors import CorruptLog
from holdfast.git import erase
from holdfast.model.event import EventDraft
from holdfast.store import fsio
from tests.git.place import Place, fact_path, fact_text

ONE = fact_path("one")
LATER = "with the next `holdfast publish`"
OBJECTS = (
    "git's objects, loose or packed: once no branch, tag, stash or reflog reaches them, "
    "`git reflog expire --expire=now --all && git gc --prune=now` deletes them"
)


def put(place: Place, name: str, text: str = "words") -> Path:
    """A file of the private store."""
    path = place.store / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def both(*names: str) -> str:
    """A file of several facts."""
    return "\n".join(fact_text(name) for name in names)


def test_a_run_goes_with_its_files_its_body_and_all_that_was_recorded_in_it(place: Place) -> None:
    """Even where the command left folders that cannot be written; another run stays."""
    one, other = place.ran("r1"), place.ran("r2")
    inside = place.open().record(EventDraft("task", run_id="r1", body={"said": "something"}))
    made = put(place, "runs/r1/deep/er/output")
    made.parent.chmod(0o500)
    kept = put(place, "runs/r2/output")
    done = erase.erase(place.open(), "run", "r1")
    bodies = sorted([one.body or "", inside.body or ""])
    assert done == erase.Erasure("r1", "run", (*(f"body {name[:12]}" for name in bodies), "run r1"), ())
    assert not (place.store / "runs/r1").exists() and kept.exists()
    clone = place.open()
    assert not clone.bodies.has(one.body or "") and clone.bodies.has(other.body or "")
    (told,) = [event for event in clone.events() if event.kind == "erase"]
    assert (told.target, told.run_id) == ("r1", "r1")
    again = erase.erase(place.open(), "run", "r1")
    assert again.removed == ()
    assert len([event for event in place.open().events() if event.kind == "erase"]) == 1
    assert erase.bodies_of(clone.layout, "r1") == bodies


def test_an_event_goes_alone(place: Place) -> None:
    """What else was recorded in its run, or about its target, stays."""
    clone = place.open()
    events = [clone.record(EventDraft("task", run_id="r1", target="FCT-one", body={"said": n})) for n in "ab"]
    done = erase.erase(place.open(), "event", events[0].hash_self)
    assert done.removed == (f"body {(events[0].body or '')[:12]}",)
    assert place.open().bodies.has(events[1].body or "")
    (told,) = [event for event in place.open().events() if event.kind == "erase"]
    assert told.run_id is None


def test_every_copy_in_the_store_goes_and_is_named(place: Place) -> None:
    """Whoever erases counts on it; what is about another stays."""
    place.keep("one")
    place.publish()
    place.keep("one", "It has changed.")
    place.keep("two")
    files = [
        *("candidates/FCT-one.md", "sessions/20310101-FCT-one.json", "claims/FCT-one.json"),
        *("kept/FCT-one~x.txt", "quarantine/broken.md", "decided.json"),
    ]
    gone = [put(place, name, "about FCT-one") for name in files]
    others = ("candidates/FCT-two.md", "sessions/20310101-FCT-two.json", "kept/x.md", "quarantine/FCT-oneself.md")
    stay = [put(place, name, "about FCT-one-more and XFCT-one") for name in others]
    done = erase.erase(place.open(), "memory", "FCT-one")
    assert not any(path.exists() for path in gone) and all(path.exists() for path in stay)
    assert done.removed == (
        *("candidate FCT-one", "session FCT-one", "claim on FCT-one", "kept text FCT-one~x.txt"),
        *("kept text broken.md", f"waiting change of {ONE}", f"kept copy of {ONE}", f"{ONE}, {LATER}"),
    )
    assert place.facts() == {"two": "It is so."}
    assert set(place.publish().paths) >= {ONE, fact_path("two")}
    assert erase.erase(place.open(), "memory", "FCT-one").removed == ()


def test_where_git_still_has_it_is_said_once_for_each_place(place: Place, tmp_path: Path) -> None:
    """Who believes that it is gone does not change the password."""
    place.git("worktree", "add", "-q", "--no-checkout", "--detach", str(tmp_path / "empty"))
    place.keep("one")
    place.publish()
    place.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    place.git("tag", "mark")
    place.git("remote", "add", "origin", "/nowhere")
    done = erase.erase(place.open(), "memory", "FCT-one")
    assert done.still_held == (
        f"{ONE} was changed by 1 commit of this clone's history",
        f"heads/main, heads/side, tags/mark reach commits with {ONE}",
        f"git's index has {ONE} staged or tracked",
        f"the work tree {tmp_path / 'side'} has {ONE}: merge the erasure there, or delete the file",
        OBJECTS,
        "remotes and other clones keep what was pushed to them",
    )
    place.keep("two")
    assert erase.erase(place.open(), "memory", "FCT-two").still_held[:1] == (OBJECTS,), "it was never committed"
    assert erase.erase(place.open(), "memory", "FCT-three").still_held == ()


def test_of_a_file_that_holds_several_only_one_goes_wherever_it_lies(place: Place) -> None:
    """Waiting, published or tracked; a file called after what went gets another name."""
    shared, named = ".holdfast/memory/facts/shared.md", ONE
    for path in (shared, named):
        place.open().change(path, both("one", "two") if path == shared else both("one", "three"))
        place.publish()
    place.open().change(shared, both("one", "two", "four"))
    done = erase.erase(place.open(), "memory", "FCT-one")
    moved = ".holdfast/memory/facts/it-is-so-FCT-three.md"
    assert set(done.removed) == {
        f"its part of {shared}",
        f"its part of {named}",
        *(f"{path}, {LATER}" for path in (moved, named)),
    }
    place.publish()
    files = set(place.git("ls-files", ".holdfast/memory").split())
    assert files == {shared, moved}
    assert (place.repo / shared).read_text() == both("two", "four")
    assert (place.repo / moved).read_text() == fact_text("three")


def test_where_nothing_else_can_be_read_the_rest_gets_a_plain_name(place: Place) -> None:
    """Words that are no entry are somebody's all the same."""
    place.open().change(ONE, both("one") + "\n---\nid: broken\n---\nwords\n")
    place.publish()
    erase.erase(place.open(), "memory", "FCT-one")
    place.publish()
    assert place.git("ls-files", ".holdfast/memory") == ".holdfast/memory/facts/rest.md"


def test_an_edit_that_holds_it_is_named_and_left(place: Place) -> None:
    """Nobody but its writer may write there."""
    place.repo.write(".holdfast/memory/facts/mine.md", both("one", "two"))
    place.repo.write(".holdfast/memory/facts/other.md", both("three"))
    done = erase.erase(place.open(), "memory", "FCT-one")
    assert done.still_held == (
        "your own uncommitted edit of .holdfast/memory/facts/mine.md: delete the text there by hand",
    )
    assert (place.repo / ".holdfast/memory/facts/mine.md").read_text() == both("one", "two")


@pytest.mark.parametrize(
    ("head", "is_it"),
    [
        ("id: FCT-one", True),
        ('id: "FCT-one"  # mine', True),
        ("id:\tFCT-one\r", True),
        ("id: FCT-one-two", False),
        ("id: FCT-two # FCT-one", False),
        ("title: id: FCT-one", False),
    ],
)
def test_an_entry_is_known_by_the_id_in_its_head(head: str, is_it: bool) -> None:
    """Even if the rest of it cannot be read; a word in its text is no id."""
    assert erase._is_of(f"---\n{head}\n---\nFact: x\n", "FCT-one") is is_it
    assert erase._is_of(f"---\n{head}\n", "FCT-one") is is_it, "it was cut off"
    assert not erase._is_of(f"---\nid: FCT-two\n---\n{head}\n", "FCT-one")


def test_an_erase_that_was_cut_short_is_finished_once(place: Place) -> None:
    """Whoever holds the store's lock is erasing right now."""
    event = place.ran("r1")
    clone = place.open()
    assert erase.resume(clone) is None
    Path(clone.layout.erasing).write_text(json.dumps({"kind": "run", "id": "r1"}))
    with fsio.locked(clone.layout.lock):
        assert erase.resume(clone) is None
    assert clone.bodies.has(event.body or "")
    assert erase.resume(clone) == "finished erasing r1, which was interrupted"
    assert not clone.bodies.has(event.body or "") and erase.resume(clone) is None


@pytest.mark.parametrize("record", [[], {}, {"kind": "run"}, {"kind": "x", "id": "r1"}, {"kind": "run", "id": 7}, "{"])
def test_a_journal_that_says_nothing_erases_nothing(place: Place, record: object) -> None:
    """It is named, and no command stops for it."""
    clone = place.open()
    Path(clone.layout.erasing).write_text(record if isinstance(record, str) else json.dumps(record))
    assert erase.resume(clone) is None
    with pytest.raises(CorruptLog):
        erase.journal_of(clone.layout)
    assert os.path.exists(clone.layout.erasing)


def test_what_comes_back_is_deleted_again_and_said(place: Place) -> None:
    """A backup brings files, a merge brings commits."""
    event = place.ran("r1")
    place.keep("one")
    place.publish()
    place.git("branch", "old")
    body = Path(place.open().layout.body(event.body or ""))
    stored = body.read_bytes()
    erase.erase(place.open(), "run", "r1")
    erase.erase(place.open(), "memory", "FCT-one")
    place.publish()
    assert erase.sweep(place.open()) == []
    body.write_bytes(stored)
    put(place, "candidates/FCT-one.md")
    place.git("checkout", "-q", "old", "--", ONE)
    place.git("commit", "-q", "-m", "back")
    assert place.facts() == {}, "it is hidden at once"
    assert set(erase.sweep(place.open())) == {f"body {(event.body or '')[:12]}", "candidate FCT-one", f"{ONE}, {LATER}"}
    assert erase.sweep(place.open()) == []
    assert place.publish().paths == (ONE,)


def test_a_marker_that_is_damaged_still_says_what_must_stay_gone(place: Place) -> None:
    """Its name is enough."""
    place.keep("one")
    clone = place.open()
    assert erase.sweep(clone) == [] and erase.markers(clone.layout) == []
    for number, text in enumerate(("{", "[]", '{"bodies": 7}', '{"bodies": ["x"]}')):
        put(place, "erased/FCT-one", text)
        with pytest.raises(CorruptLog):
            erase.bodies_of(clone.layout, "FCT-one")
        put(place, "candidates/FCT-one.md")
        assert "candidate FCT-one" in erase.sweep(place.open()), number
    put(place, "erased/FCT-one.1-2.tmp")
    assert erase.markers(clone.layout) == ["FCT-one"]
    assert place.waits() == set()
