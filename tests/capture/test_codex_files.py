"""Where Codex's rollouts lie, and packed ones: unpacked as they are read, refused beyond measure."""

import json
import os
import sys
from pathlib import Path

import pytest
import zstandard

from holdfast.capture.agents import codex, dialect
from holdfast.errors import BadInput
from tests.capture.codex_files import THREAD, meta, reading, said, spelled, user, written

CODEX = dialect("codex")


def name(day: str, number: int) -> str:
    return f"rollout-2026-{day}T10-00-00-019c0000-0000-7000-8000-{number:012x}.jsonl"


def packed(folder: Path, data: bytes, called: str = f"rollout-2026-02-01T11-00-00-{THREAD}.jsonl.zst") -> str:
    path = folder / called
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(zstandard.ZstdCompressor(level=3).compress(data))
    return str(path)


def body() -> bytes:
    return spelled([meta(), user("one"), said("assistant", "1"), user("two"), said("assistant", "2")])


def test_home_is_where_the_user_put_it():
    """People move it, even into a repository."""
    assert CODEX.home({"CODEX_HOME": "/x/y"}, "/home/p") == "/x/y"
    assert CODEX.home({}, "/home/p") == "/home/p/.codex"


def test_every_place_is_found_the_newest_first(tmp_path):
    """An archived, an old and a packed session are sessions all the same."""
    for called in (f"sessions/2026/02/01/{name('02-01', 1)}", f"archived_sessions/{name('03-01', 2)}"):
        written(tmp_path, [meta()], called)
    packed(tmp_path, body(), f"sessions/2026/01/01/{name('01-01', 3)}.zst")
    (tmp_path / f"sessions/rollout-2025-05-01-{THREAD}.json").write_text("{}")
    for other in ("history.jsonl", "sessions/notes.jsonl", "auth.json"):
        (tmp_path / other).write_text("{}\n")

    assert [os.path.basename(path)[:18] for path in CODEX.files(str(tmp_path))] == [
        "rollout-2026-03-01",
        "rollout-2026-02-01",
        "rollout-2026-01-01",
        "rollout-2025-05-01",
    ]


def test_of_a_packed_and_a_plain_one_the_plain_one_counts(tmp_path):
    """Codex unpacks in place before it goes on; the packed one is the older."""
    called = f"sessions/2026/02/01/{name('02-01', 1)}"
    written(tmp_path, [meta()], called)
    packed(tmp_path, body(), f"{called}.zst")

    assert list(CODEX.files(str(tmp_path))) == [str(tmp_path / called)]


def test_no_home_no_files(tmp_path):
    """Most people use one tool."""
    assert list(CODEX.files(str(tmp_path / "nowhere"))) == []


def test_a_packed_rollout_tells_the_same(tmp_path):
    """Packing after a week must not make a second session of it."""
    path = packed(tmp_path, body())
    plain = written(tmp_path, [json.loads(line) for line in body().splitlines()])

    assert CODEX.is_mine(path)
    assert list(reading(path)) == list(reading(plain))
    assert reading(path).origin == reading(plain).origin


def test_offsets_hold_when_a_rollout_is_packed(tmp_path):
    """What was read before it was packed is not read again."""
    path = packed(tmp_path, body())
    first, second = reading(path)

    assert list(CODEX.read(path, second.start, reading(path).origin)) == [second]
    assert first.end == second.start


def test_a_bomb_is_read_as_far_as_the_limit_and_no_further(tmp_path):
    """A few kilobytes may unpack to terabytes; the same log a thousand times over is a transcript still."""
    size = codex.ALWAYS_UNPACKED + (1 << 20)
    path = packed(tmp_path, body() + b" " * size + b"\n" + body())
    assert os.path.getsize(path) < 1 << 20
    read = reading(path)

    assert [turn.prompt for turn in read] == ["one", "two"]
    assert read.counted.read_to == codex.ALWAYS_UNPACKED


def test_a_rollout_just_as_long_as_the_limit_is_read_whole(tmp_path, monkeypatch):
    """Nobody is told that something is missing when nothing is."""
    monkeypatch.setattr(codex, "ALWAYS_UNPACKED", len(body()))
    monkeypatch.setattr(codex, "MAX_RATIO", 0)
    read = reading(packed(tmp_path, body()))

    assert [turn.prompt for turn in read] == ["one", "two"]
    assert read.counted.read_to is None


def test_a_packed_file_may_not_ask_for_all_memory(tmp_path):
    """A window of gigabytes is asked for in the first bytes."""
    chosen = zstandard.ZstdCompressionParameters(window_log=27, enable_ldm=True)
    data = body() + b" " * 1000
    path = tmp_path / f"rollout-2026-02-01T11-00-00-{THREAD}.jsonl.zst"
    with path.open("wb") as out, zstandard.ZstdCompressor(compression_params=chosen).stream_writer(out) as packing:
        packing.write(data)

    assert not CODEX.is_mine(str(path))


@pytest.mark.parametrize("damage", ["cut", "garbage"])
def test_a_damaged_packed_rollout_tells_what_is_whole(tmp_path, damage):
    """A disk that filled up must not take the whole history with it."""
    many = body() + spelled(
        line for n in range(3000) for line in (user(f"p{n} {os.urandom(20).hex()}"), said("assistant", "x"))
    )
    path = packed(tmp_path, many)
    data = Path(path).read_bytes()
    half = len(data) // 2
    Path(path).write_bytes(data[:half] + (b"" if damage == "cut" else b"\0" * half))
    read = reading(path)
    told = [turn.prompt for turn in read]

    assert read.counted.damaged >= (damage == "garbage")
    assert told[:2] == ["one", "two"]
    assert 2 < len(told) < 3002


def test_without_what_unpacks_the_sentence_says_what_to_install(tmp_path, monkeypatch):
    """The extra is not installed for most people."""
    monkeypatch.setitem(sys.modules, "zstandard", None)
    path = packed_before = tmp_path / f"rollout-2026-02-01T11-00-00-{THREAD}.jsonl.zst"
    packed_before.write_bytes(b"\x28\xb5\x2f\xfd")

    assert not CODEX.is_mine(str(path))
    with pytest.raises(BadInput, match="not installed") as refused:
        reading(str(path))
    assert ".[zstd]" in refused.value.hint


def test_what_is_no_file_keeps_nobody_waiting(tmp_path):
    """A pipe with a rollout's name would hang an import for ever."""
    path = str(tmp_path / f"rollout-2026-02-01T11-00-00-{THREAD}.jsonl")
    os.mkfifo(path)

    assert not CODEX.is_mine(path)
    with pytest.raises(BadInput):
        reading(path)
    with pytest.raises(BadInput):
        reading(str(tmp_path / "gone.jsonl"))


def test_titles_come_from_what_lies_beside(tmp_path):
    """A person finds a session by the name they gave it; the newest name counts."""
    path = written(tmp_path, [meta(), user("hello")], f"sessions/2026/02/01/rollout-2026-02-01T11-00-00-{THREAD}.jsonl")
    assert reading(path).origin.title is None

    (tmp_path / "history.jsonl").write_text(
        json.dumps({"session_id": THREAD, "ts": 1, "text": "the first\nprompt"})
        + "\n"
        + json.dumps({"session_id": THREAD, "ts": 2, "text": "the second"})
        + "\n"
    )
    assert reading(path).origin.title == "the first prompt"

    (tmp_path / "session_index.jsonl").write_text(
        json.dumps({"id": THREAD, "thread_name": "old name"})
        + "\n"
        + json.dumps({"id": THREAD, "thread_name": "Rename the parser"})
        + "\nno json\n"
    )
    assert reading(path).origin.title == "Rename the parser"


def test_a_thread_after_a_revert_keeps_its_name(tmp_path):
    """Its file has two ids in its name; the first is the thread's."""
    other = "019c0000-0000-7000-8000-0000000000ff"
    path = written(tmp_path, [meta(id=None)], f"rollout-2026-02-01T11-00-00-{THREAD}_{other}.jsonl")

    assert reading(path).origin.session == THREAD
