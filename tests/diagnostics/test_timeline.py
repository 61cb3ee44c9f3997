"""The story as rows: which events, in which order, in which words."""

import pytest

from holdfast.diagnostics.timeline import timeline
from holdfast.errors import BadInput


def event(number: int, **fields):
    base = {"hash_self": f"{number:064x}", "ts": f"2026-11-15T12:00:{number:02}.000000Z", "kind": "task"}
    return {**base, "target": f"TSK-{number}", "body_state": "here", **fields}


def ids(rows) -> list[str]:
    return [row.id for row in rows]


def test_rows_keep_the_logs_order_by_default():
    """The log's order is causal; clocks of two machines are not."""
    assert ids(timeline([event(2), event(1), event(3)])) == ["TSK-2", "TSK-1", "TSK-3"]


def test_one_task_shows_only_its_events():
    """Who asks for a task wants its story, not everybody's."""
    events = [event(1, task="a"), event(2, task="b"), event(3, task="a"), event(4)]

    assert ids(timeline(events, task="a")) == ["TSK-1", "TSK-3"]


def test_layer_then_scale_sorts_naturally_with_unknown_last():
    """L10 after L2, and what has no layer must not push the rest away."""
    events = [
        event(1),
        event(2, layer="L10", systemic_scale=1),
        event(3, layer="L2", systemic_scale=7),
        event(4, layer="L2", systemic_scale=-1),
        event(5, layer="L2"),
        event(6, layer="base", systemic_scale=0),
    ]

    rows = timeline(events, sort=("layer", "scale"))

    assert ids(rows) == ["TSK-4", "TSK-3", "TSK-5", "TSK-2", "TSK-6", "TSK-1"]


def test_equal_rows_stay_in_the_logs_order():
    """Sorting must not shuffle what it was not asked about."""
    events = [event(3, layer="L1"), event(1, layer="L1"), event(2, layer="L1")]

    assert ids(timeline(events, sort=("layer",))) == ["TSK-3", "TSK-1", "TSK-2"]
    assert ids(timeline(events, sort=("layer", "ts"))) == ["TSK-1", "TSK-2", "TSK-3"]


def test_an_unknown_key_is_refused():
    """A typing mistake must not silently give another order."""
    with pytest.raises(BadInput, match="size"):
        timeline([], sort=("size",))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"statement": "It\nholds."}, "It holds."),
        ({"outputs": {"summary": "12 passed"}, "command": ["make"]}, "12 passed"),
        ({"command": ["make", "test"]}, "make test"),
        ({"body_state": "erased"}, "(erased)"),
        ({"body_state": "private"}, "(private)"),
        ({}, ""),
    ],
)
def test_a_row_says_the_most_it_can_in_one_line(fields, words):
    """A row of hashes tells nobody anything."""
    assert timeline([event(1, **fields)])[0].summary == words


def test_what_happened_to_a_task_is_told() -> None:
    """Three rows that all read `Mend the login` tell nobody which of them finished it."""
    common = {"ts": "2026-11-15T19:42:00.000000Z", "target": "TSK-1", "statement": "Mend the login"}
    rows = timeline(
        [{**common, "kind": "task", "action": action, "hash_self": action} for action in ("add", "start", "done")]
        + [{**common, "kind": "rewrite", "statement": None, "action": "rebase", "count": 3, "hash_self": "r"}]
    )
    assert [row.summary for row in rows] == [
        "add: Mend the login",
        "start: Mend the login",
        "done: Mend the login",
        "rebase of 3 commits",
    ]
