"""Small records: a loose one may be lost, one that has to be whole says why it does not count."""

import json
import os
from pathlib import Path

import pytest

from holdfast.errors import CorruptLog, FutureFormat, TooLarge, UnsafePath
from holdfast.store import loose_records
from holdfast.store.layout import Layout
from holdfast.store.loose_records import MISSING, judging

FAULTS = (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError, PermissionError)


@pytest.mark.parametrize("fault", [*FAULTS, UnsafePath, TooLarge])
def test_whatever_is_wrong_with_a_record_is_said_with_its_path(fault: type[Exception]) -> None:
    """A bug's traceback would end the command; a sentence lets the other records count."""
    with pytest.raises(CorruptLog, match=r"^a\.json is no record: .*odd"), judging("a.json", " is no record"):
        raise fault("odd")


def test_a_record_that_is_missing_is_just_that() -> None:
    """Most are removed while somebody lists them; a file in the place of a folder is damage unless the caller says."""
    with pytest.raises(FileNotFoundError), judging("a", ""):
        raise FileNotFoundError
    with pytest.raises(CorruptLog), judging("a", ""):
        raise NotADirectoryError("odd")
    with pytest.raises(NotADirectoryError), judging("a", "", missing=MISSING):
        raise NotADirectoryError
    with pytest.raises(FutureFormat), judging("a", ""):
        raise FutureFormat("newer")


def fail(path: str) -> str:
    """Reads what the path says should happen."""
    known = {"gone": FileNotFoundError, "odd": NotADirectoryError, "bad": CorruptLog, "newer": FutureFormat}
    if path in known:
        raise known[path](path)
    return path


def test_damaged_records_are_left_out_and_said_and_the_rest_counts(tmp_path: Path) -> None:
    """One bad file must not hide the others, nor vanish without a word."""
    layout, paths = Layout(str(tmp_path), str(tmp_path / "store")), ["gone", "a", "bad", "odd", "b", "newer", "c"]
    assert list(loose_records.sound(layout, fail, paths)) == ["a", "b", "c"]
    assert [str(note) for note in layout.notes] == ["left out: bad", "left out: newer"]
    assert [(path, str(error)) for path, error in loose_records.damaged(fail, paths)] == [
        *(("bad", "bad"), ("newer", "newer"))
    ]


def test_a_loose_record_that_is_lost_or_damaged_is_empty(tmp_path: Path) -> None:
    """Nothing worse may happen than that it is made again."""
    path = os.fspath(tmp_path / "folder" / "a.json")
    assert (loose_records.read(path), loose_records.content(path)) == ({}, b"")
    loose_records.keep(path, {"said": "Grüße", "n": [1]})
    assert loose_records.read(path) == {"said": "Grüße", "n": [1]}
    assert Path(path).read_bytes() == b'{\n "said": "Gr\\u00fc\\u00dfe",\n "n": [\n  1\n ]\n}\n'
    assert loose_records.read(path, limit=5) == {}, "too large to be ours"
    for data in (b"[1]", b"{", b"\xff", b"[" * 100_000):
        Path(path).write_bytes(data)
        assert loose_records.read(path) == {}
        assert loose_records.content(path) == data
    os.unlink(path)
    os.symlink(os.fspath(tmp_path / "elsewhere"), path)
    (tmp_path / "elsewhere").write_text(json.dumps({"a": 1}))
    assert loose_records.read(path) == {}, "a link leads elsewhere"
