"""How the review screen looks, to the letter, over data that never changes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from holdfast.curation.decisions import MemoryStanding
from holdfast.curation.memory_conflicts import KnownClaims, MemoryConflict
from holdfast.curation.memory_state import MemoryListing
from holdfast.curation.review_queue import QueueItem, ReviewLook
from holdfast.errors import Contradicts
from holdfast.interfaces.tui import review_screen
from holdfast.model.claims import Verdict
from holdfast.model.evidence import Provenance
from holdfast.model.memory import Accepted, Candidate
from holdfast.recall.passage import CitedLines, Passage
from tests.tui.screens import NARROW, SMALL, WIDE, Driven, drive, golden

PICTURE = Path(__file__).resolve().parents[2] / "docs" / "images" / "review.svg"
RUN = Provenance("run:20261114T090000Z-5d2c1e", 7, "retry only calls that are safe to repeat")
OLD = Accepted(
    id="DEC-4k2m",
    type="decision",
    statement="Every failed call is retried three times.",
    details="Rationale: the gateway drops one call in a hundred.",
    source="person:Ada Example",
    applies_to=("src/net/",),
)
NEW = Candidate(
    id="DEC-7f3k",
    type="decision",
    line="main1",
    statement="Failed calls must not be retried unless they are safe to repeat.",
    details="Rationale: on 12 November a payment was made twice.",
    tags=("http", "payments"),
    applies_to=("src/net/", "src/payments/"),
    confidence=0.8,
    source="run:20261114T090000Z-5d2c1e",
    evidence=("run:20261114T090000Z-5d2c1e", f"symbol:src/net/retry.py#retry@{'a1' * 20}"),
    provenance=(str(RUN),),
)
HIDING = Candidate(
    id="FCT-m7a0",
    type="fact",
    line="main1",
    statement="Run \u202etsil.exe\u200b first [red]always[/red]",
    evidence=(f"file:tools/list.py@{'b2' * 20}",),
)
STALE = Accepted(
    id="ASM-p0c4",
    type="assumption",
    statement="The queue never holds more than a thousand jobs.",
    details="Falsified by: a run that logs `queue full`.",
    evidence=(f"lines:src/queue.py:10-12@{'c3' * 20}",),
    expires_at=datetime(2027, 1, 1, tzinfo=UTC),
)
GONE = Candidate(
    id="DEC-9w8x",
    type="decision",
    line="side1",
    statement="Deprecate the old import path.",
    suggests="deprecate:DEC-4k2m",
    because="DEC-4k2m was not recalled in 180 days.",
)
ITEMS = (
    QueueItem(
        MemoryStanding(NEW, "candidate", receipts=tuple(zip(NEW.evidence, ("holds", "changed"), strict=True))),
        "proposed",
        proposed="2026-11-14T09:12:00.000000Z",
        provenance=(RUN,),
    ),
    QueueItem(MemoryStanding(HIDING, "candidate", receipts=((HIDING.evidence[0], "holds"),)), "proposed"),
    QueueItem(MemoryStanding(STALE, "stale", receipts=((STALE.evidence[0], "changed"),)), "stale"),
    QueueItem(MemoryStanding(GONE, "candidate"), "suggested", proposed="2026-11-15T00:00:00.000000Z", branch="side"),
)
CLASH = MemoryConflict(NEW, OLD, "accepted", Verdict("modality", "one says always, the other says never", 0.9))
DIFF = ("--- src/queue.py, as cited", "+++ src/queue.py, now", "@@ -1,3 +1,3 @@", "-LIMIT = 1000", "+LIMIT = 50000")
SAID = Passage(
    "run 20261114T090000Z-5d2c1e, turn 7: its prompt",
    ("The gateway was down again.", "From now on retry only", "calls that are safe to repeat. Thanks!"),
    number=12,
    first=1,
    last=2,
    marks=((12, 22), (0, 29)),
)


LINES = CitedLines(8, ("def listed(paths):", "\treturn sorted(paths)  # \u202ewon"), more=31)
KNOWN = MemoryListing((MemoryStanding(OLD, "accepted"),), (), (), (), (), (), (), ())


@dataclass
class Drawn:
    """A queue that is always the same; nothing is decided on this desk."""

    items: tuple[QueueItem, ...] = ITEMS
    known: MemoryListing = KNOWN

    @property
    def against(self) -> KnownClaims:
        return KnownClaims(())

    def queue(self) -> "Drawn":
        return self

    def look(self, item: QueueItem) -> ReviewLook:
        return {NEW.id: ReviewLook((CLASH,), ("DEC-4k2m",), ()), STALE.id: ReviewLook((), (), DIFF)}.get(
            item.id, ReviewLook((), (), ())
        )

    def passage(self, _: Provenance) -> Passage:
        return SAID

    def cited(self, receipts: Sequence[tuple[str, str]]) -> dict[str, CitedLines]:
        return {HIDING.evidence[0]: LINES} if HIDING.evidence[0] in dict(receipts) else {}

    def accept(self, *_: Any, **__: Any) -> MemoryStanding:
        raise Contradicts(CLASH.sentence)

    accept_as_seen = accept_all = reject = retire = edit_memory = join = undo = accept


SCREENS = {
    "conflict": (WIDE, ()),
    "conflict-narrow": (NARROW, ()),
    "where-said": (WIDE, ("pagedown",)),
    "hidden": (NARROW, ("j",)),
    "stale": (WIDE, ("j", "j")),
    "suggested": (NARROW, ("end",)),
    "how-both": (NARROW, ("a",)),
    "how-both-wide": (WIDE, ("a",)),
    "how-both-small": (SMALL, ("a",)),
    "how-both-small-read-on": (SMALL, ("a", "pagedown", "pagedown", "pagedown")),
    "help-small": (SMALL, ("question_mark", "pagedown", "pagedown", "pagedown", "pagedown")),
    "small": (SMALL, ("j", "j")),
    "forty": ((40, 24), ()),
    "two-hundred": ((200, 40), ("x",)),
    "reason": (NARROW, ("r",)),
    "editor": (NARROW, ("e",)),
    "merge": (NARROW, ("m",)),
    "all": (NARROW, ("A",)),
    "help": (NARROW, ("question_mark",)),
}


@pytest.mark.parametrize("name", SCREENS)
def test_the_screen_looks_as_it_did(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A column that is cut or a line that is lost is seen by nobody but the reader of a golden file."""
    monkeypatch.setattr(review_screen, "PAUSE", 0)
    size, keys = SCREENS[name]

    async def act(screen: Driven) -> None:
        await screen.press(*keys)
        golden(name, screen.text)

    drive(Drawn(), act, size)


def test_the_picture_in_the_readme_is_a_picture_alone() -> None:
    """Who reads a page must not be announced to another host, nor see somebody's folders."""
    text = PICTURE.read_text()
    assert "DEC-7f3k" in text and "DEC-4k2m" in text
    assert set(re.findall(r"https?://[^\s\"'<]+", text)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"@import|@font-face|<script|/(?:home|root|tmp|work|Users)/", text)


def test_nothing_to_decide_looks_calm(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty queue must not look like a broken screen."""

    async def act(screen: Driven) -> None:
        golden("empty", screen.text)

    drive(Drawn(items=()), act, NARROW)
