"""The trash: what a reset took lies there whole, goes back where it was, and is forgotten when erased."""

import json
import os
from pathlib import Path

import pytest

from holdfast.store import trash
from holdfast.store.layout import Layout
from holdfast.store.trash import TrashedReset, TrashedText
from holdfast.values import asdict

TS = "2031-01-01T00:00:00.000000Z"
LATER = "2031-01-02T00:00:00.000000Z"
ONE = TrashedText("TSK-a", ".holdfast/tasks/do-a-TSK-a.md", "words\n", "1" * 40, "tree", None)


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    (tmp_path / "store/sessions").mkdir(parents=True)
    return Layout(str(tmp_path), str(tmp_path / "store"))


def begun(layout: Layout, what: str = "sessions", ts: str = TS, line: str = "main") -> TrashedReset:
    return trash.begin(layout, what, ts=ts, line=line, branch="main")


def put(layout: Layout, name: str, text: str = "x") -> Path:
    path = Path(layout.private, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def label(layout: Layout, reset: TrashedReset) -> Path:
    return Path(layout.trash, reset.name, trash.LABEL)


def test_a_reset_that_was_cut_short_goes_on_on_its_own_line(layout: Layout) -> None:
    """Two half resets would each hold half of what goes back."""
    first = begun(layout)
    assert (first.what, first.ts, first.line, first.branch, first.whole) == ("sessions", TS, "main", "main", False)
    assert begun(layout, ts=LATER) == first
    others = [begun(layout, line="other", ts=LATER), begun(layout, "all", ts=LATER)]
    assert first not in others and len({one.name for one in others}) == 2
    done = trash.finish(layout, first)
    assert done.whole and done in trash.every(layout)
    assert begun(layout, ts=LATER) not in (first, done)
    assert [one.ts for one in trash.every(layout)] == [TS, LATER, LATER, LATER]


def test_files_go_and_come_back_to_their_places(layout: Layout) -> None:
    """Byte for byte, and nothing that took their place meanwhile is written over."""
    reset = begun(layout, "all")
    files = {name: put(layout, name, name) for name in ("sessions/a.json", "claims/b.json", "kept/c.md", "statistics")}
    assert trash.take(layout, reset, [*files, "sessions/none.json"]) == len(files)
    assert not any(path.exists() for path in files.values())
    assert set(trash.held(layout, reset)) == set(files) and trash.holds_something(layout, reset)
    assert trash.size(layout, reset) > sum(map(len, files))
    put(layout, "claims/b.json", "new")
    back, left = trash.put_back(layout, reset)
    assert (set(back), left) == (set(files) - {"claims/b.json"}, ["claims/b.json"])
    assert files["sessions/a.json"].read_text() == "sessions/a.json" and files["claims/b.json"].read_text() == "new"
    assert trash.held(layout, reset) == ["claims/b.json"]


def test_a_file_of_the_same_name_taken_later_is_kept_beside_the_first(layout: Layout) -> None:
    """A reset that went on finds a file again; neither may be lost, and the first goes back."""
    reset = begun(layout)
    for text in ("first", "second", "third"):
        put(layout, "sessions/a.json", text)
        trash.take(layout, reset, ["sessions/a.json"])
    assert len(trash.held(layout, reset)) == 3
    back, left = trash.put_back(layout, reset)
    assert back == ["sessions/a.json"] and sorted(left) == ["sessions/a.json.2", "sessions/a.json.3"]
    assert Path(layout.private, "sessions/a.json").read_text() == "first"


def test_what_is_half_written_or_no_file_is_not_held(layout: Layout) -> None:
    """A crash leaves temporary files; a folder goes nowhere."""
    reset = begun(layout)
    folder = Path(layout.trash, reset.name, "sessions")
    (folder / "inner").mkdir(parents=True)
    (folder / "a.json.tmp").write_text("x")
    assert trash.held(layout, reset) == [] and not trash.holds_something(layout, reset)


def test_copies_of_tracked_files_come_back_as_they_were(layout: Layout) -> None:
    """Of one path the last counts."""
    reset = begun(layout, "tasks")
    trash.keep_texts(layout, reset, [])
    assert not Path(layout.trash, reset.name, trash.TEXTS).exists() and trash.texts(layout, reset) == []
    two = TrashedText("TSK-b", ".holdfast/tasks/do-b-TSK-b.md", "ü\n", "2" * 40, "pending", "3" * 40)
    trash.keep_texts(layout, reset, [ONE, two])
    newer = TrashedText(*[*asdict(ONE).values()][:2], "other\n", "4" * 40, "edit", None)
    trash.keep_texts(layout, reset, [newer])
    assert trash.texts(layout, reset) == [newer, two]
    assert trash.holds_something(layout, reset)
    trash.let_go(layout, reset)
    assert trash.texts(layout, reset) == [] and not trash.holds_something(layout, reset)
    assert [one.whole for one in trash.every(layout)] == [True]


@pytest.mark.parametrize(
    "damage",
    [
        {"id": 7},
        {"id": "../x"},
        {"path": "src/a.py"},
        {"origin": "air"},
        {"text": None},
        {"text": "\ud800"},
        {"base": 7},
        {"blob": None},
        {"more": 1},
    ],
)
def test_a_damaged_copy_costs_itself_and_is_named(layout: Layout, damage: dict[str, object]) -> None:
    """It would be written into the user's tree."""
    reset = begun(layout, "tasks")
    trash.keep_texts(layout, reset, [ONE])
    path = Path(layout.trash, reset.name, trash.TEXTS)
    path.write_text(json.dumps(asdict(ONE) | damage) + "\n" + path.read_text())
    assert trash.texts(layout, reset) == [ONE]
    assert [note for note in layout.notes if f"{trash.TEXTS}:1 is not a copy" in note]
    assert [name for name, _ in trash.damaged(layout)] == [str(path.parent)]
    path.unlink()
    path.symlink_to("/etc/passwd")
    assert trash.texts(layout, reset) == []


@pytest.mark.parametrize(
    "damage",
    [
        {"v": 2},
        {"what": "everything"},
        {"what": 7},
        {"ts": "today"},
        {"line": "../x"},
        {"line": None},
        {"branch": 7},
        {"whole": 1},
    ],
)
def test_a_damaged_label_is_named_and_its_reset_left_alone(layout: Layout, damage: dict[str, object]) -> None:
    """Nobody can say what was reset; what lies there is not thrown away."""
    reset = begun(layout)
    put(layout, "sessions/a.json")
    trash.take(layout, reset, ["sessions/a.json"])
    path = label(layout, reset)
    whole = json.loads(path.read_text())
    path.write_text(json.dumps(whole | damage))
    assert trash.every(layout) == []
    assert [note for note in layout.notes if "is not the label of a reset" in note]
    assert [name for name, _ in trash.damaged(layout)] == [str(path.parent)]
    trash.tidy(layout)
    assert (path.parent / "sessions/a.json").exists()
    path.write_text(json.dumps(whole | {"later": 1}))
    assert trash.every(layout) == [reset], "what a later version adds is for that version"


def test_a_folder_without_a_label_is_damage_unless_it_is_empty(layout: Layout) -> None:
    """It had just begun, or was just discarded."""
    reset = begun(layout)
    folder = label(layout, reset).parent
    label(layout, reset).unlink()
    (folder / "x.tmp").write_text("")
    assert trash.every(layout) == [] and layout.notes == [] and list(trash.damaged(layout)) == []
    (folder / "sessions").mkdir()
    assert trash.every(layout) == []
    assert [note for note in layout.notes if "is missing, so it is unknown what was reset" in note]
    assert [name for name, _ in trash.damaged(layout)] == [str(folder)]


def test_what_is_no_folder_of_a_reset_is_named(layout: Layout) -> None:
    """Somebody put it there; it is not ours to read."""
    os.makedirs(layout.trash)
    reset = begun(layout)
    for name in ("notes", "20310101T000000Z-abcdefghij"):
        Path(layout.trash, name).symlink_to(reset.name)
    mine = put(layout, "trash/mine/sessions/x-SES-a.json")
    assert sorted(os.path.basename(name) for name, _ in trash.damaged(layout)) == [
        "20310101T000000Z-abcdefghij",
        "mine",
        "notes",
    ]
    assert trash.forget(layout, "SES-a") == [] and mine.exists()
    Path(layout.trash, "20310101T000000Z-abcdefghij").unlink()
    assert trash.every(layout) == [reset] and layout.notes == []


def test_what_was_erased_leaves_the_trash_too(layout: Layout) -> None:
    """A way back must not be a way around; its neighbours stay."""
    reset = begun(layout, "all")
    other = TrashedText("TSK-ab", ".holdfast/tasks/do-ab-TSK-ab.md", "about TSK-a\n", "1" * 40, "tree", None)
    third = TrashedText("TSK-c", ".holdfast/tasks/do-c-TSK-c.md", "words\n", "1" * 40, "tree", None)
    trash.keep_texts(layout, reset, [other, ONE, third])
    path = Path(layout.trash, reset.name, trash.TEXTS)
    path.write_bytes(path.read_bytes() + b'{"broken": "TSK-a\n')
    files = (
        "claims/TSK-a.json",
        "claims/TSK-ab.json",
        "kept/x-TSK-a.md",
        "kept/TSK-a~old.txt",
        "sessions/y-TSK-a.json",
    )
    for name in files:
        put(layout, name)
    trash.take(layout, reset, files)
    assert trash.forget(layout, "TSK-a") == ["copy of TSK-a in the trash"] * 6
    assert trash.texts(layout, reset) == [other, third] and trash.held(layout, reset) == ["claims/TSK-ab.json"]
    before = path.stat().st_ino
    assert trash.forget(layout, "TSK-none") == [] and path.stat().st_ino == before
    path.unlink()
    assert trash.forget(layout, "TSK-a") == []


def test_resets_that_hold_nothing_are_tidied_and_others_discarded_whole(layout: Layout) -> None:
    """An empty folder for every undo would pile up."""
    empty, full = begun(layout), begun(layout, "tasks")
    trash.keep_texts(layout, full, [ONE])
    trash.tidy(layout)
    assert trash.every(layout) == [full] and not label(layout, empty).parent.exists()
    put(layout, "sessions/a.json")
    trash.take(layout, full, ["sessions/a.json"])
    trash.discard(layout, full)
    assert os.listdir(layout.trash) == []


def test_a_path_that_is_not_ours_is_seen_in_any_line() -> None:
    """A bundle brings copies; the next undo would write them."""
    good = json.dumps(asdict(ONE)).encode()
    assert trash.foreign_path(good + b"\n" + good + b"\n") is None
    assert trash.foreign_path(good + b'\n{"path": "x"}\n') == "x" and trash.foreign_path(b"") is None
