"""The filter line."""

import pytest

from holdfast.curation.decisions import MemoryStanding
from holdfast.curation.review_queue import QueueItem
from holdfast.interfaces.review_filter import parse
from holdfast.model.evidence import Provenance
from holdfast.model.memory import Accepted, Candidate

ITEMS = (
    QueueItem(
        MemoryStanding(
            Candidate(id="DEC-1", type="decision", statement="Retry Calls", line="main1", tags=("http",)), "candidate"
        ),
        "proposed",
        provenance=(Provenance("run:20261115T194200Z-abc123", 3, "retry"),),
    ),
    QueueItem(
        MemoryStanding(Accepted(id="FCT-2", type="fact", statement="Calls are slow", tags=("http", "db")), "stale"),
        "stale",
    ),
    QueueItem(
        MemoryStanding(Accepted(id="INV-3", type="invariant", statement="No network in tests"), "unreviewed"), "edited"
    ),
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
