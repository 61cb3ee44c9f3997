"""The filter line."""

import pytest

from holdfast.curation.decisions import Standing
from holdfast.curation.queue import Item
from holdfast.interfaces.tui.filtering import parse
from holdfast.model.memory import Accepted, Candidate
from holdfast.model.provenance import Provenance

ITEMS = (
    Item(
        Standing(
            Candidate(id="DEC-1", type="decision", statement="Retry Calls", line="main1", tags=("http",)), "candidate"
        ),
        "proposed",
        provenance=(Provenance("run:20261115T194200Z-abc123", 3, "retry"),),
    ),
    Item(
        Standing(Accepted(id="FCT-2", type="fact", statement="Calls are slow", tags=("http", "db")), "stale"), "stale"
    ),
    Item(Standing(Accepted(id="INV-3", type="invariant", statement="No network in tests"), "unreviewed"), "edited"),
)


@pytest.mark.parametrize(
    ("line", "fitting"),
    [
        ("", ["DEC-1", "FCT-2", "INV-3"]),
        ("calls", ["DEC-1", "FCT-2"]),
        ("CALLS retry", ["DEC-1"]),
        ("tag:http", ["DEC-1", "FCT-2"]),
        ("tag:http tag:db", ["FCT-2"]),
        ("type:decision type:invariant", ["DEC-1", "INV-3"]),
        ("reason:stale", ["FCT-2"]),
        ("reason:stale network", []),
        ("from:20261115", ["DEC-1"]),
        ("http://x", []),
        ("inv-3", ["INV-3"]),
        ("tag:", []),
    ],
)
def test_a_filter_shows_what_fits_all_of_it(line: str, fitting: list[str]) -> None:
    """Bulk approval takes what the filter shows: one too many is approved unread."""
    assert [item.id for item in parse(line)(ITEMS)] == fitting
