"""Checkpoints: what they hold, and what they find missing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.diagnostics.log_integrity import (
    LogCheckpoint,
    checkpoint_from_bytes,
    checkpoint_to_bytes,
    compare_checkpoint,
    make_checkpoint,
)
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
    kept = make_checkpoint(log, TS)
    grown = {**log, name(999): tuple(kept.heads)}

    assert compare_checkpoint(kept, log, "kept") == []
    assert compare_checkpoint(kept, grown, "kept") == []
    assert checkpoint_from_bytes(checkpoint_to_bytes(kept), "kept") == kept


@given(log=logs(), data=st.data())
def test_any_event_that_is_dropped_is_noticed(log, data):
    """That is all a checkpoint is for."""
    kept = make_checkpoint(log, TS)
    gone = data.draw(st.sets(st.sampled_from(sorted(log)), min_size=1))
    rest = {event: parents for event, parents in log.items() if event not in gone}

    assert compare_checkpoint(kept, rest, "kept") != []


def test_the_file_is_one_line_in_the_documented_form():
    """Another program has to be able to read it."""
    made = checkpoint_to_bytes(make_checkpoint({name(1): (), name(2): (name(1),)}, TS))

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
        checkpoint_from_bytes(data, "kept")


def test_a_newer_checkpoint_is_left_to_a_newer_holdfast():
    """Guessing at an unknown format is how loss goes unseen."""
    with pytest.raises(FutureFormat):
        checkpoint_from_bytes(b'{"holdfast":"checkpoint","v":2,"heads":[],"count":0}', "kept")


def test_an_empty_log_has_an_empty_checkpoint():
    """The first day of a project is no special case."""
    assert make_checkpoint({}, TS) == LogCheckpoint((), 0, TS)
