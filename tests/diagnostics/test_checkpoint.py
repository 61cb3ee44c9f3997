"""Checkpoints: what they hold, and what they find missing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.diagnostics.checkpoint import Checkpoint, compare, from_bytes, take, to_bytes
from holdfast.errors import BadInput, FutureFormat

TS = "2026-11-15T12:00:00.000000Z"


def name(number: int) -> str:
    return f"{number:064x}"


@st.composite
def logs(draw):
    """A random DAG as event -> parents; parents always have smaller numbers."""
    size = draw(st.integers(1, 12))
    return {
        name(n): tuple(name(p) for p in sorted(draw(st.sets(st.integers(0, n - 1), max_size=3)))) if n else ()
        for n in range(size)
    }


@given(log=logs())
def test_a_log_passes_its_own_checkpoint_and_any_later_one_does_too(log):
    """Going on with the work is not tampering."""
    kept = take(log, TS)
    grown = {**log, name(999): tuple(kept.heads)}

    assert compare(kept, log, "kept") == []
    assert compare(kept, grown, "kept") == []
    assert from_bytes(to_bytes(kept), "kept") == kept


@given(log=logs(), data=st.data())
def test_any_event_that_is_dropped_is_noticed(log, data):
    """That is all a checkpoint is for."""
    kept = take(log, TS)
    gone = data.draw(st.sets(st.sampled_from(sorted(log)), min_size=1))
    rest = {event: parents for event, parents in log.items() if event not in gone}

    assert compare(kept, rest, "kept") != []


def test_the_file_is_one_line_in_the_documented_form():
    """Another program has to be able to read it."""
    made = to_bytes(take({name(1): (), name(2): (name(1),)}, TS))

    expected = f'{{"holdfast":"checkpoint","v":1,"heads":["{name(2)}"],"count":2,"ts":"{TS}"}}\n'
    assert made == expected.encode()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b'{"holdfast":"segment","v":1}',
        b'{"holdfast":"checkpoint","v":1,"heads":"abc","count":1}',
        b'{"holdfast":"checkpoint","v":1,"heads":["abc"],"count":1}',
        b'{"holdfast":"checkpoint","v":1,"heads":[],"count":true}',
        b'{"holdfast":"checkpoint","v":1,"heads":[],"count":-1}',
    ],
)
def test_what_is_no_checkpoint_is_refused(data):
    """A wrong file must not vouch for anything."""
    with pytest.raises(BadInput):
        from_bytes(data, "kept")


def test_a_newer_checkpoint_is_left_to_a_newer_holdfast():
    """Guessing at an unknown format is how loss goes unseen."""
    with pytest.raises(FutureFormat):
        from_bytes(b'{"holdfast":"checkpoint","v":2,"heads":[],"count":0}', "kept")


def test_an_empty_log_has_an_empty_checkpoint():
    """The first day of a project is no special case."""
    assert take({}, TS) == Checkpoint((), 0, TS)
