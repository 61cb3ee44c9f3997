"""Changes that wait, and those that were published: each record tells one story, or it does not count."""

import json
from pathlib import Path

import pytest

from holdfast.errors import CorruptLog, UnsafePath
from holdfast.store import pending_changes
from holdfast.store.layout import Layout
from holdfast.store.pending_changes import PendingChange
from holdfast.values import replace

TEXT = "words\n"
BLOB = pending_changes._blob(TEXT, like="")
OID, LONG = "1" * 40, "2" * 64
SEGMENT = "ab" * 16
ENTRY = PendingChange(".holdfast/memory/facts/a-FCT-a.md", OID, BLOB, "main", OID, "2031-01-01T00:00:00.000000Z", TEXT)
LOGGED = PendingChange(f".holdfast/log/2031/01/01/{SEGMENT}.jsonl", None, None, "main", None, ENTRY.ts, segment=SEGMENT)
GONE = replace(ENTRY, blob=None, text=None)


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    (tmp_path / "store").mkdir()
    return Layout(str(tmp_path), str(tmp_path / "store"))


def test_git_and_we_give_a_text_the_same_name() -> None:
    """The blob is how a change is known again in a commit."""
    assert pending_changes._blob("", like="") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert pending_changes._blob("", like="0" * 64).startswith("473a0f4c3be8a93681a267e3b1e9a7dc")


@pytest.mark.parametrize(
    "change",
    [
        ENTRY,
        GONE,
        LOGGED,
        replace(ENTRY, base=None, head=None),
        replace(ENTRY, base=LONG, blob=pending_changes._blob(TEXT, like=LONG), head=LONG),
        replace(ENTRY, published={"commit": OID, "ts": ENTRY.ts}),
        replace(ENTRY, blob=None, published={"commit": ""}),  # a hook took the path out of the commit
        replace(ENTRY, ts="2031-01-01T00:00:00Z"),
    ],
)
def test_a_record_that_tells_one_story_counts(layout: Layout, change: PendingChange) -> None:
    """It is read back as it was kept."""
    kept = pending_changes.add(layout, change)
    assert pending_changes.waiting(layout) == [kept] and replace(kept, name="") == change
    assert kept.key and kept.name.endswith(f"-{kept.key}") and kept.name.startswith("20310101T000000Z-")


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"path": ".holdfast/memory/facts/../../x.md"}, "is not a path of the memory"),
        ({"path": "src/a.py"}, "is not a path of the memory"),
        ({"path": ".holdfast/memory/facts/.hidden.md"}, "is not a path of the memory"),
        ({"line": 7}, "not texts"),
        ({"text": 7}, "not texts"),
        ({"ts": None}, "not texts"),
        ({"base": "HEAD"}, "objects of git"),
        ({"head": "1" * 39}, "objects of git"),
        ({"blob": "x" * 40}, "objects of git"),
        ({"line": "../x"}, "its line or its time"),
        ({"ts": "today"}, "its line or its time"),
        ({"published": ["x"]}, "`published` field is invalid"),
        ({"published": {"commit": 7}}, "`published` field is invalid"),
        ({"segment": SEGMENT}, "path and its segment differ"),
        ({"text": None}, "its text is missing"),
        ({"text": "other words\n"}, "its text was changed"),
        ({"blob": None}, "its text was changed"),
    ],
)
def test_a_record_that_contradicts_itself_does_not_count_and_is_named(
    layout: Layout, changed: dict[str, object], why: str
) -> None:
    """Publishing would commit what somebody put there, in the user's name."""
    kept = pending_changes.add(layout, ENTRY)
    path = Path(layout.pending, f"{kept.name}.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))
    with pytest.raises(CorruptLog, match=why):
        pending_changes.read(str(path))
    assert pending_changes.waiting(layout) == []
    assert [note for note in layout.notes if kept.name in note]
    assert [name for name, _ in pending_changes.damaged(layout)] == [str(path)]


@pytest.mark.parametrize("changed", [{"text": TEXT}, {"blob": BLOB}, {"segment": "cd" * 16}, {"segment": None}])
def test_a_segments_bytes_lie_in_the_log_alone(changed: dict[str, object]) -> None:
    """Two places that may differ are two truths."""
    with pytest.raises(ValueError, match="segment"):
        pending_changes.check(replace(LOGGED, **changed))  # type: ignore[arg-type]


def test_no_change_names_a_path_that_is_not_ours(layout: Layout) -> None:
    """The next publish would commit it."""
    for path in ("README", ".holdfast/memory/facts/a.txt", ".holdfast/log/x.jsonl", f"{LOGGED.path}x"):
        with pytest.raises(UnsafePath):
            pending_changes.add(layout, replace(ENTRY, path=path))
        assert not pending_changes.is_publishable(path)
        assert pending_changes.foreign_path(json.dumps({"path": path}).encode()) == path
    assert pending_changes.foreign_path(json.dumps({"path": ENTRY.path}).encode()) is None
    assert pending_changes.foreign_path(b'{"path": 7}') == "7"
    assert (
        pending_changes.foreign_path(b"{")
        is pending_changes.foreign_path(b"[]")
        is pending_changes.foreign_path(b"{}")
        is None
    )
    assert pending_changes.waiting(layout) == []


def test_changes_come_in_the_order_of_their_time(layout: Layout) -> None:
    """The last word about a path is the one that counts."""
    times = ["2031-01-01T00:00:02.000000Z", "2031-01-01T00:00:01.000000Z", "2031-01-01T00:00:03.000000Z"]
    for ts in times:
        pending_changes.add(layout, replace(ENTRY, ts=ts))
    assert [change.ts for change in pending_changes.waiting(layout)] == sorted(times)
    for number, change in enumerate(pending_changes.waiting(layout)):
        pending_changes.archive(layout, change, commit=OID, ts=f"2031-02-0{9 - number}T00:00:00.000000Z")
    assert pending_changes.waiting(layout) == []
    assert [change.ts for change in pending_changes.published(layout)] == sorted(times, reverse=True)
    assert [change.ts for change in pending_changes.published(layout, since="2031-02-09T00:00:00Z")] == [min(times)]


def test_what_was_published_is_kept_for_good_under_the_same_key(layout: Layout) -> None:
    """That is how a clone knows what it once published, whatever happens to history."""
    change = pending_changes.add(layout, ENTRY)
    pending_changes.archive(layout, change, commit=OID, ts="2031-02-01T00:00:00.000000Z", aside="x")
    pending_changes.note(layout, change, "other", commit=None, ts="2031-02-02T00:00:00.000000Z")
    first, second = pending_changes.published(layout)
    assert first.key == second.key == change.key and first.name != second.name
    assert first.published == {"commit": OID, "ts": "2031-02-01T00:00:00.000000Z", "aside": "x"}
    assert (second.line, second.published) == ("other", {"commit": "", "ts": "2031-02-02T00:00:00.000000Z"})
    assert (first.line, first.text, pending_changes.waiting(layout)) == ("main", TEXT, [])
    pending_changes.forget_published(layout, first)
    assert pending_changes.published(layout) == [second]


def test_what_a_later_version_adds_is_passed_on(layout: Layout) -> None:
    """It is not ours to understand, nor to lose when the change is archived."""
    kept = pending_changes.add(layout, ENTRY)
    path = Path(layout.pending, f"{kept.name}.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"later": [1]}))
    (read,) = pending_changes.waiting(layout)
    assert read.extra == (("later", [1]),) and replace(read, extra=()) == kept
    pending_changes.archive(layout, read, commit=OID, ts="2031-02-01T00:00:00.000000Z")
    (done,) = Path(layout.sealed_changes).iterdir()
    record = json.loads(done.read_text())
    assert record["later"] == [1] and "name" not in record and "extra" not in record
    path.write_text("[]")
    with pytest.raises(CorruptLog, match="it is not an object"):
        pending_changes.read(str(path))


class Racing(Layout):
    """Another command takes a file away right after it was listed."""

    def listed(self, folder: str, ending: str = "") -> list[str]:
        names = super().listed(folder, ending)
        for name in names[:1]:
            Path(folder, name).unlink()
        return names


def test_what_another_command_publishes_meanwhile_is_no_damage(layout: Layout) -> None:
    """It is listed, and gone before it is read."""
    pending_changes.add(layout, ENTRY)
    pending_changes.add(layout, replace(ENTRY, ts="2031-01-02T00:00:00.000000Z"))
    racing = Racing(layout.top, layout.private)
    assert [change.ts[:10] for change in pending_changes.waiting(racing)] == ["2031-01-02"] and racing.notes == []
    assert list(pending_changes.damaged(racing)) == []


def test_other_files_are_left_alone_and_what_vanishes_is_no_damage(layout: Layout) -> None:
    """Another command published it just now; a half-written file has another name."""
    kept = pending_changes.add(layout, ENTRY)
    Path(layout.pending, "x.json.1-2.tmp").write_text("{")
    Path(layout.pending, "gone.json").symlink_to("nowhere")
    with pytest.raises(FileNotFoundError):
        pending_changes.read(str(Path(layout.pending, "none.json")))
    assert pending_changes.waiting(layout) == [kept]
    assert [Path(name).name for name, _ in pending_changes.damaged(layout)] == ["gone.json"]
    pending_changes.drop(layout, kept)
    assert pending_changes.waiting(layout) == []


def test_a_record_without_what_a_later_version_added_counts(layout: Layout) -> None:
    """An older version wrote no segment and no word of where it was published."""
    kept = pending_changes.add(layout, ENTRY)
    (path,) = Path(layout.pending).rglob("*.json")
    record = json.loads(path.read_text())
    for name in ("segment", "published"):
        record.pop(name, None)
    path.write_text(json.dumps(record))
    assert pending_changes.read(str(path)) == kept
