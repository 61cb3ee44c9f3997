"""Law 15 for transcripts: whatever a file holds, an importer ends, in bounded memory, or says what is wrong.

Valid transcripts of every agent are spoilt: cut, glued, mixed with noise, any value replaced by any other.
Only a sentence for the user may come out (`HoldfastError`), or turns that keep within their limits.
"""

import copy
import json
import os
import random
import signal
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.capture.agents import DIALECTS, dialect
from holdfast.capture.agents.transcript_reader import MAX_LINE, TranscriptReading
from holdfast.errors import BadInput, HoldfastError
from holdfast.git.clone import Clone
from holdfast.model import transcript
from holdfast.model.transcript import (
    CALLS,
    MAX_INPUT,
    MAX_OUTPUT,
    MAX_PROMPT,
    MAX_STEPS,
    MAX_TEXT,
    STATES,
    TranscriptTurn,
)
from holdfast.values import fields, is_value
from tests.capture.rollouts import a_place
from tests.laws.transcripts import ALL, CLAUDE, CODEX, GEMINI, Lines, again, as_bytes
from tests.making import belongs, take_in

NAMES = [name for _, name, _ in ALL]
LOGS = [one for one in ALL if one[1].endswith(".jsonl")]
# The oldest Codex names no turns, and grows no more.
LIVE = [one for one in LOGS if "2025-08" not in one[1]]
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(min_value=-(2**70), max_value=2**70)
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(
        ["\ud800", "\x00", "x" * 300, "<", "user", "assistant", "tool_result", "*** Begin Patch", "{}", "["]
    )
    | st.sampled_from(["/w/a\x00b", "/w/\ud800", "2099-01-01T00:00:00Z", "-", "../..", "refs/heads/x"])
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@pytest.fixture(autouse=True)
def does_not_hang() -> Iterator[None]:
    """A test that waits for ever fails instead."""

    def over(*_: object) -> None:
        raise AssertionError("an importer did not come to an end")

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(300)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def texts(value: object) -> Iterator[str]:
    """Every text in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple | list):
        for one in value:
            yield from texts(one)
    elif is_value(value):
        for field in fields(value):
            yield from texts(getattr(value, field.name))


def keeps_its_limits(turn: TranscriptTurn) -> None:
    """What every reader of turns relies on."""
    assert turn.key
    assert len(turn.prompt) <= MAX_PROMPT
    assert len(turn.steps) <= MAX_STEPS
    assert 0 <= turn.start <= turn.end
    for text in texts(turn):
        text.encode("utf-8")
    for step in turn.steps:
        assert step.id
        assert len(step.text) <= MAX_TEXT
        assert len(step.reasoning) <= MAX_TEXT
    for call in turn.calls:
        assert call.id
        assert call.name
        assert call.kind in CALLS
        assert len(call.text) <= MAX_INPUT
        assert call.result is None or (len(call.result.text) <= MAX_OUTPUT and call.result.size >= 0)
        assert all(todo.status in STATES for todo in call.todos or ())
        assert all(len(edit.added) <= transcript.MAX_LINES for edit in call.edits)
        assert all(edit.path for edit in call.edits)


def read(agent: str, path: str, start: int = 0, whole: TranscriptReading | None = None) -> list[TranscriptTurn] | None:
    """A file's turns, each within its limits; None if it is refused with a sentence."""
    try:
        reading = dialect(agent).read(path, start, whole.origin if whole else None)
        told = list(reading)
    except HoldfastError as error:
        assert str(error)
        return None
    assert reading.origin.agent == agent
    assert reading.origin.role in ("main", "fork", "subagent", "internal")
    for text in texts(reading.origin):
        text.encode("utf-8")
    for turn in told:
        keeps_its_limits(turn)
    return told


def survives(folder: Path, name: str, data: bytes) -> None:
    """Every dialect, each asked to read the file, ends in turns or in a sentence."""
    path = folder / name
    path.write_bytes(data)
    for agent in DIALECTS:
        dialect(agent).is_mine(str(path))
        told = read(agent, str(path))
        for turn in (told or ())[:2]:
            whole = dialect(agent).read(str(path), 0, None)
            read(agent, str(path), turn.start, whole)
            read(agent, str(path), max(0, turn.end - 1), whole)


@pytest.mark.parametrize("name", NAMES)
def test_each_valid_transcript_is_read_and_recognised(tmp_path: Path, name: str) -> None:
    """If the unspoilt ones did not speak, all tests below would pass for nothing."""
    [(agent, _, told)] = [one for one in ALL if one[1] == name]
    path = tmp_path / name
    path.write_bytes(as_bytes(told))
    turns = read(agent, str(path))

    assert [name for name in DIALECTS if dialect(name).is_mine(str(path))] == [agent]
    assert turns
    assert any(turn.calls for turn in turns)
    assert any(call.result for turn in turns for call in turn.calls)


# ── values of the wrong type ─────────────────────────────────────────────────────────────────────


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every place in a JSON value that can hold another: (container, key)."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        one = waiting.pop()
        keys = list(one) if isinstance(one, dict) else range(len(one)) if isinstance(one, list) else ()
        for key in keys:
            found.append((one, key))
            waiting.append(one[key])
    return found


def spoilt(told: Any, changes: list[tuple[float, Any]]) -> Any:
    """A copy with some places, told by how far down the list they stand, holding other values."""
    told = copy.deepcopy(told)
    for where, value in changes:
        container, key = (there := places(told))[int(where * len(there))]
        container[key] = value
        if not places(told):
            break
    return told


CHANGES = st.lists(st.tuples(st.floats(min_value=0, max_value=0.9999), ANYTHING), min_size=1, max_size=4)


@pytest.mark.parametrize("which", range(len(ALL)), ids=NAMES)
@given(changes=CHANGES)
@settings(max_examples=25)
def test_any_value_may_be_of_any_type(tmp_path: Path, which: int, changes: list[tuple[float, Any]]) -> None:
    """The next version of a tool changes a field, and a user's import stops in the middle."""
    agent, name, told = ALL[which]
    path = tmp_path / name
    path.write_bytes(as_bytes(spoilt(told, changes)))
    read(agent, str(path))


@pytest.mark.torture
@pytest.mark.parametrize("which", range(len(ALL)), ids=NAMES)
@given(changes=CHANGES)
@settings(max_examples=800)
def test_any_value_may_be_of_any_type_many_times(tmp_path: Path, which: int, changes: list[tuple[float, Any]]) -> None:
    """The same, for long."""
    _, name, told = ALL[which]
    survives(tmp_path, name, as_bytes(spoilt(told, changes)))


@pytest.mark.parametrize("value", [None, True, 0, 1.5, "", "x", [], {}, [[]], [{}], {"type": {}}, [None, 3]])
@pytest.mark.parametrize("which", range(len(ALL)), ids=NAMES)
def test_each_single_value_may_be_of_each_type(tmp_path: Path, which: int, value: Any) -> None:
    """Not by chance: every place of every fixture, with every kind of value."""
    agent, name, told = ALL[which]
    path = tmp_path / name
    lines = told if isinstance(told, list) else [told]
    cases = [(at, number) for at, line in enumerate(lines) for number in range(len(places(line)))]
    for at, number in cases[:: 1 if len(cases) < 60 else 23]:
        changed = copy.deepcopy(lines)
        container, key = places(changed[at])[number]
        container[key] = value
        path.write_bytes(as_bytes(changed if isinstance(told, list) else changed[0]))
        read(agent, str(path))


# ── all the way into a memory ────────────────────────────────────────────────────────────────────


@pytest.fixture
def clone(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Clone:
    return a_place(tmp_path, tmp_path_factory.getbasetemp() / "hostile").open()


def comes_in(clone: Clone, agent: str, path: Path) -> None:
    """A transcript is told whose it is and taken in, or refused with a sentence."""
    try:
        belongs(clone, dialect(agent).read(str(path), 0, None).origin)
        take_in(clone, dialect(agent), str(path), ended=True)
    except HoldfastError as error:
        assert str(error)


@pytest.mark.parametrize("odd", ["/w/a\x00b", "\x00", "/w/\ud800", "2099-01-01T00:00:00Z", "", "/", "-x"])
def test_any_text_may_stand_where_a_path_does(clone: Clone, tmp_path: Path, odd: str) -> None:
    """One transcript with an odd folder must not end an import, and every command after it."""
    for agent, name, told in ALL:
        path = tmp_path / name
        path.write_bytes(as_bytes(told).replace(b"/w/app", json.dumps(odd)[1:-1].encode()))
        comes_in(clone, agent, path)
    assert len(clone.all_events()) >= len({agent for agent, *_ in ALL}), "some of each must have come in"


@pytest.mark.parametrize("which", range(len(ALL)), ids=NAMES)
@given(changes=CHANGES)
@settings(max_examples=4)
def test_any_value_may_come_in(clone: Clone, tmp_path: Path, which: int, changes: list[tuple[float, Any]]) -> None:
    """What a dialect lets through, whoever stores it must bear."""
    agent, name, told = ALL[which]
    path = tmp_path / name
    path.write_bytes(as_bytes(spoilt(told, changes)))
    comes_in(clone, agent, path)


@pytest.mark.torture
@pytest.mark.parametrize("which", range(len(ALL)), ids=NAMES)
@given(changes=CHANGES)
@settings(max_examples=200)
def test_any_value_may_come_in_many_times(
    clone: Clone, tmp_path: Path, which: int, changes: list[tuple[float, Any]]
) -> None:
    """The same, for long."""
    agent, name, told = ALL[which]
    path = tmp_path / name
    path.write_bytes(as_bytes(spoilt(told, changes)))
    comes_in(clone, agent, path)


# ── bytes ────────────────────────────────────────────────────────────────────────────────────────


@st.composite
def damage(draw: st.DrawFn, data: bytes) -> bytes:
    """A file after an accident: cut, a piece doubled or lost, noise in it, lines glued."""
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(data)))
        to = min(len(data), at + draw(st.integers(0, 400)))
        noise = draw(st.sampled_from([b"", b"\xff\xfe", b"\x00" * 9, b"{", b"[[[[", b'"', b"\n\n", b"\xed\xa0\x80"]))
        match draw(st.integers(0, 4)):
            case 0:
                data = data[:at]
            case 1:
                data = data[:to] + data[at:]
            case 2:
                data = data[:at] + noise + data[to:]
            case 3:
                data = data[:at] + data[at:to].replace(b"\n", b"") + data[to:]
            case 4:
                data = data[:at] + draw(st.binary(max_size=30)) + data[at:]
    return data


@pytest.mark.parametrize("which", range(len(ALL)), ids=NAMES)
@given(data=st.data())
@settings(max_examples=15)
def test_any_bytes_may_be_damaged(tmp_path: Path, which: int, data: st.DataObject) -> None:
    """A full disk, a killed client, an exporter that glues lines: the rest must still be read."""
    _, name, told = ALL[which]
    survives(tmp_path, name, data.draw(damage(as_bytes(told))))


@pytest.mark.torture
@pytest.mark.parametrize("which", range(len(ALL)), ids=NAMES)
@given(data=st.data())
@settings(max_examples=800)
def test_any_bytes_may_be_damaged_many_times(tmp_path: Path, which: int, data: st.DataObject) -> None:
    """The same, for long."""
    _, name, told = ALL[which]
    survives(tmp_path, name, data.draw(damage(as_bytes(told))))


@pytest.mark.parametrize("agent", DIALECTS)
@given(data=st.binary(max_size=200))
@settings(max_examples=20)
def test_noise_is_refused_or_empty(tmp_path: Path, agent: str, data: bytes) -> None:
    """Somebody names the wrong file."""
    for name in (NAMES[0], NAMES[3], "x"):
        path = tmp_path / name
        path.write_bytes(data)
        assert not read(agent, str(path))


@pytest.mark.parametrize("which", range(len(LIVE)), ids=[name for _, name, _ in LIVE])
def test_a_file_read_while_it_grows_never_takes_back_a_turn(tmp_path: Path, which: int, seed: int) -> None:
    """Live capture reads at any moment: a turn it told must still be there, under its key, in the end."""
    agent, name, told = LIVE[which]
    lines = [line for line in told if "$rewindTo" not in line and "thread_rolled_back" not in str(line)]
    data = as_bytes(lines)
    path = tmp_path / name
    path.write_bytes(data)
    whole = [turn.key for turn in read(agent, str(path)) or ()]
    for size in random.Random(seed).sample(range(len(data)), 40):
        path.write_bytes(data[:size])
        before = [turn.key for turn in read(agent, str(path)) or ()]
        assert before == whole[: len(before)]


# ── too large, too deep, not a file ──────────────────────────────────────────────────────────────


def deep(depth: int) -> str:
    return "[" * depth + "]" * depth


@pytest.mark.parametrize("depth", [200, 900, 5_000, 100_000])
@pytest.mark.parametrize("which", range(len(ALL)), ids=NAMES)
def test_deep_nesting_is_passed_over(tmp_path: Path, which: int, depth: int) -> None:
    """A thousand brackets must not end the program."""
    _, name, told = ALL[which]
    spot = json.dumps("fix")[1:-1].encode()
    data = as_bytes(told)
    for marked in (b'"fix the test, please"', b'"list the files"', b'"pytest -q"', b'"ok"', b'"fix it"', b'"x"'):
        data = data.replace(marked, deep(depth).encode(), 1)
    survives(tmp_path, name, data + b"\n" + deep(depth).encode() + b"\n" + spot)


@pytest.mark.parametrize("which", range(len(LOGS)), ids=[name for _, name, _ in LOGS])
def test_a_line_beyond_measure_is_counted_and_the_rest_is_read(tmp_path: Path, which: int) -> None:
    """An image in a transcript can be of any size."""
    agent, name, told = LOGS[which]
    path = tmp_path / name
    giant = b'{"type":"user","x":"' + b"y" * (MAX_LINE + 10) + b'"}\n'
    path.write_bytes(as_bytes(told[:1]) + giant + as_bytes(told[1:]))
    reading = dialect(agent).read(str(path), 0, None)

    assert list(reading)
    assert reading.counted.too_long == 1
    assert reading.counted.end == path.stat().st_size


def many(told: Lines, times: int) -> Iterator[bytes]:
    """A transcript told over and over, with long outputs."""
    yield as_bytes(told[:1])
    for number in range(times):
        yield again(told[1:], number).replace("1 failed", "1 failed " + "z" * 50_000).encode()


@pytest.mark.parametrize(
    ("agent", "name", "told"),
    [one for one in LOGS if "-09-" not in one[1] and "-08-" not in one[1] and one[0] != "gemini"],
)
def test_memory_does_not_grow_with_the_file(tmp_path: Path, agent: str, name: str, told: Lines) -> None:
    """A year of work is gigabytes; a laptop's memory is not."""
    path = tmp_path / name
    with path.open("wb") as file:
        file.writelines(many(told, 100))
    tracemalloc.start()
    try:
        turns = sum(1 for _ in dialect(agent).read(str(path), 0, None))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert turns >= 100
    assert path.stat().st_size > 5 << 20
    assert peak < 3 << 20


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_a_turn_without_end_is_held_in_parts(tmp_path: Path, agent: str) -> None:
    """An agent in a loop for a night makes one turn of a hundred thousand steps."""
    name, told = (NAMES[4], CLAUDE[2:4]) if agent == "claude" else (NAMES[0], CODEX[:4])
    step = CLAUDE[4:7] if agent == "claude" else CODEX[6:8]
    path = tmp_path / name
    with path.open("wb") as file:
        file.write(as_bytes(told))
        file.writelines(again(step, number).encode() for number in range(1200))
    turns = read(agent, str(path)) or []

    assert len(turns) >= 3
    assert all(turn.continues for turn in turns[1:])


def test_a_log_of_nothing_but_changes_ends_soon(tmp_path: Path) -> None:
    """Folding must take time in proportion to the file, whatever its updates are."""
    history = {"$set": {"messages": [{"id": str(n), "type": "user", "content": str(n)} for n in range(2000)]}}
    path = tmp_path / NAMES[6]
    changes = [{"$set": {"messages": []}}, {"$rewindTo": "1999"}, {"id": "1999", "type": "user", "content": "x"}]
    path.write_bytes(as_bytes([GEMINI[0], history]) + as_bytes(changes) * 3_000)

    assert len(read("gemini", str(path)) or ()) == 2000


@pytest.mark.parametrize("agent", ["codex", "claude", "gemini"])
def test_what_is_no_file_is_refused(tmp_path: Path, agent: str) -> None:
    """A pipe would be waited for until the end of days."""
    os.mkfifo(tmp_path / NAMES[0])
    (tmp_path / NAMES[1]).mkdir()
    for name in (NAMES[0], NAMES[1], NAMES[2]):
        path = str(tmp_path / name)
        assert not dialect(agent).is_mine(path)
        with pytest.raises(BadInput):
            list(dialect(agent).read(path, 0, None))


BOMBS = {"zeros": b"\x00", "brackets": b"[" * 64}
SLOW_BOMBS = {"empty lines": b"\n", "small records": b'{"type":"x"}\n'}


@pytest.mark.parametrize("of", [*BOMBS, *(pytest.param(one, marks=pytest.mark.torture) for one in SLOW_BOMBS)])
def test_a_packed_bomb_is_not_read_to_its_end(tmp_path: Path, of: str) -> None:
    """A kilobyte that unpacks to gigabytes fills the disk, the memory or the evening."""
    zstandard = pytest.importorskip("zstandard")
    path = tmp_path / (NAMES[0] + ".zst")
    filling = (BOMBS | SLOW_BOMBS)[of]
    packing = zstandard.ZstdCompressor(level=3)
    block = filling * ((1 << 20) // len(filling))
    with path.open("wb") as file, packing.stream_writer(file) as packed:
        packed.write(as_bytes(CODEX))
        for _ in range(256):
            packed.write(block)
    assert path.stat().st_size < 1 << 20
    tracemalloc.start()
    try:
        reading = dialect("codex").read(str(path), 0, None)
        assert list(reading)
        assert reading.counted.read_to == 8 << 20
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 64 << 20


@given(data=st.data())
@settings(max_examples=15)
def test_a_damaged_packed_rollout_is_read_as_far_as_it_goes(tmp_path: Path, data: st.DataObject) -> None:
    """Codex packs cold rollouts; a disk may have lost a piece of one."""
    zstandard = pytest.importorskip("zstandard")
    packed = zstandard.ZstdCompressor(level=3).compress(as_bytes(CODEX))
    path = tmp_path / (NAMES[0] + ".zst")
    path.write_bytes(data.draw(damage(packed)))
    dialect("codex").is_mine(str(path))
    read("codex", str(path))
