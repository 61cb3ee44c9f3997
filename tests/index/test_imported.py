"""What was taken in from a transcript stands where it was done, not where it was recorded."""

from typing import Any

import pytest

from holdfast.git.clone import Clone
from holdfast.index.hit_text import FIELDS
from holdfast.index.query import Scope
from holdfast.index.ranking import search
from holdfast.index.refresh import path_of, refresh
from holdfast.index.search_rows import time_number
from holdfast.index.sqlite import Index, drop
from tests.conftest import GitRepo
from tests.index.conftest import open_clone, ran

BEGAN = "2026-01-22T19:57:17.250000Z"
TOLD = {
    "status": "ended", "started": BEGAN, "summary": "Mended the zebra",
    "artifacts": [{"path": "src/zebra.py", "sha256": "0" * 64}],
}  # fmt: skip
NAME, KIND, TS = (FIELDS.index(name) for name in ("id", "kind", "ts"))


def indexed(clone: Clone) -> Index:
    index = Index(path_of(clone))
    refresh(clone, index)
    return index


def rows(clone: Clone) -> list[tuple[Any, ...]]:
    index = indexed(clone)
    found = index.db.execute("SELECT kind, ts, id, shown FROM row WHERE id > 0 ORDER BY id").fetchall()
    index.close()
    return found


def test_an_imported_run_and_its_files_have_the_time_of_the_work(clone: Clone) -> None:
    """Nine months old and "just now" at once: nobody believes a screen that says so."""
    ran(clone, 1, **TOLD)
    found = [row for row in rows(clone) if row[0] in ("run", "artifact")]
    assert [row[:2] for row in found] == [("run", BEGAN), ("artifact", BEGAN)]
    assert [row[2] >> 10 for row in found] == [time_number(BEGAN) >> 10] * 2


def test_since_and_the_newest_go_by_when_it_was_done(clone: Clone) -> None:
    """Who asks for the last two weeks must not be given January because it was imported today."""
    ran(clone, 1, summary="Painted the zebra")
    ran(clone, 2, **TOLD)
    index = indexed(clone)
    recent = search([index.db], "zebra", scope=Scope(since="2026-03-01T00:00:00.000000Z"))
    assert [hit[NAME] for hit in recent] == ["20261115T194201Z-abc001"]
    runs = search([index.db], "", scope=Scope(kind="run"))
    assert [hit[NAME][-3:] for hit in runs] == ["001", "002"] and runs[1][TS] == BEGAN
    index.close()


def test_a_line_sees_a_run_by_when_it_was_recorded(clone: Clone, repo: GitRepo, cache: str) -> None:
    """What another branch took in after ours left is its own, however old the work is."""
    repo.git("switch", "-q", "-c", "topic")
    ran(open_clone(repo, cache), 0, summary="Before")
    repo.git("switch", "-q", "-c", "side")
    ran(open_clone(repo, cache), 3, summary="On the side")
    repo.git("switch", "-q", "topic")
    ran(open_clone(repo, cache), 1, **TOLD)
    assert [row[3] for row in rows(open_clone(repo, cache)) if row[0] in ("run", "artifact")].count(1) == 3
    repo.git("switch", "-q", "side")
    there = open_clone(repo, cache)
    seen = rows(there)
    assert BEGAN not in [row[1] for row in seen if row[3]]
    drop(path_of(there))
    assert [row[:2] for row in rows(there) if row[3]] == [row[:2] for row in seen if row[3]]


@pytest.mark.parametrize(
    "began", ["2099-01-01T00:00:00.000000Z", "2026-01-22", "x", 5, "2026-01-22T19:57:17+02:00", None]
)
def test_a_time_that_cannot_be_is_the_time_of_recording(clone: Clone, began: object) -> None:
    """A transcript says what it likes; nothing is done after it was recorded."""
    event = ran(clone, 1, **{**TOLD, "started": began})
    assert [row[1] for row in rows(clone) if row[0] == "run"] == [event.ts]


def test_a_shorter_time_is_understood(clone: Clone) -> None:
    """Not every agent counts microseconds."""
    ran(clone, 1, **{**TOLD, "started": "2026-01-22T19:57:17Z"})
    assert rows(clone)[-1][1] == "2026-01-22T19:57:17.000000Z" or "2026-01-22T19:57:17.000000Z" in [
        row[1] for row in rows(clone)
    ]
