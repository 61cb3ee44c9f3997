"""Views: rendered for people and tools, never the truth, and quiet when nothing changed."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import UnsafePath
from holdfast.model.memory import Accepted
from holdfast.recall import views
from holdfast.recall.views import ViewHeader
from holdfast.store.layout import Layout

HEADER = ViewHeader("main", "a" * 40, "2026-11-15T19:42:00Z")
FACT = Accepted(
    id="FCT-7f3k2m",
    type="fact",
    statement="Tests need Postgres 16.",
    layer="L5",
    confidence=0.9,
    evidence=("run:r1",),
    expires_at=datetime(2027, 1, 1, tzinfo=UTC),
)


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(str(tmp_path), str(tmp_path / "private"))


def test_state_json_has_the_promised_fields() -> None:
    """Other programs read this file; its names are a promise."""
    stale, old = Accepted.of(FACT, id="FCT-stale"), Accepted.of(FACT, id="FCT-old")
    state = json.loads(views.state_json([FACT], HEADER, stale=[stale], expired=[old]))
    assert state["version"] == 1
    assert (state["last_updated"], state["branch"], state["head"]) == (HEADER.time, "main", "a" * 40)
    assert state["facts"] == [
        {
            "id": "FCT-7f3k2m",
            "layer": "L5",
            "confidence": 0.9,
            "statement": "Tests need Postgres 16.",
            "source_run": "r1",
            "evidence": ["run:r1"],
            "expires_at": "2027-01-01T00:00:00Z",
        }
    ]
    assert [fact["id"] for fact in state["stale"]] == ["FCT-stale"]
    assert [fact["id"] for fact in state["expired"]] == ["FCT-old"]


def test_artifacts_are_tracked_files_once_by_content() -> None:
    """A file that nobody committed, or the same bytes twice, is noise."""

    def made(run: str, task: str | None, path: str, sha256: str) -> tuple[str, dict[str, Any]]:
        return run, {"path": path, "sha256": sha256, "task": task}

    rows = [
        made("r1", "build", "a.txt", "1"),
        made("r1", "build", "ignored.log", "9"),
        made("r2", "build", "a.txt", "1"),
        made("r2", "build", "a.txt", "2"),
        made("r2", "build", "copy.txt", "2"),
        made("r3", None, "a.txt", "1"),
        made("r4", None, "a.txt", "4"),
    ]
    found = views.artifacts(rows, {"a.txt", "copy.txt"}, erased={"r4"})
    assert found == {
        "": [{"path": "a.txt", "sha256": "1", "run_id": "r3"}],
        "build": [{"path": "a.txt", "sha256": "1", "run_id": "r1"}, {"path": "a.txt", "sha256": "2", "run_id": "r2"}],
    }
    assert json.loads(views.artifacts_json(found, HEADER))["artifacts"] == found


def test_the_log_is_one_object_a_line() -> None:
    """Line by line is how tools read a log, also with line breaks in the text."""
    events = [{"kind": "run", "task": "a\nb\u2028c"}, {"kind": "accept"}]
    lines = views.log_jsonl(events).split("\n")
    assert [json.loads(line) for line in lines[:-1]] == events
    assert lines[-1] == ""


def test_a_view_is_not_written_again_for_the_time_alone(layout: Layout) -> None:
    """A file that changes with every command wakes every watcher for nothing."""
    later = ViewHeader("main", "a" * 40, "2026-11-15T20:00:00Z")
    assert views.write(layout, "state.json", views.state_json([FACT], HEADER))
    before = os.stat(layout.view("state.json"))
    assert not views.write(layout, "state.json", views.state_json([FACT], later))
    assert os.stat(layout.view("state.json")) == before
    assert views.write(layout, "state.json", views.state_json([], later))
    assert json.loads(Path(layout.view("state.json")).read_text())["last_updated"] == later.time


def test_a_damaged_view_is_rendered_anew(layout: Layout) -> None:
    """It is never the truth, so nothing is lost with it."""
    text = views.state_json([FACT], HEADER)
    views.write(layout, "state.json", text)
    Path(layout.view("state.json")).write_bytes(b"\xff{")
    assert views.write(layout, "state.json", text)
    assert Path(layout.view("state.json")).read_text() == text


def test_git_never_sees_a_view(repo: Any) -> None:
    """A rendered file in a commit would conflict on every branch."""
    layout = Layout(str(repo.path), str(repo.path / ".git" / "holdfast"))
    views.write(layout, "state.json", "{}\n")
    views.write(layout, "context/active.md", "text\n")
    assert repo.status() == ""


def test_a_view_is_not_written_through_a_link(layout: Layout, tmp_path: Path) -> None:
    """A hostile repository could make `view` point at the user's home."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".holdfast").mkdir()
    (tmp_path / ".holdfast" / "view").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnsafePath):
        views.write(layout, "state.json", "{}\n")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_page_that_differs_only_in_its_time_is_not_written_again(layout: Layout) -> None:
    """An editor that has the page open must not be told that it changed when it did not."""
    text = "<!--\nRendered by Holdfast at {}\nbase: 1\n-->\n\nRendered by Holdfast at noon\n"
    assert views.write(layout, "decisions.md", text.format("9:00"))
    assert not views.write(layout, "decisions.md", text.format("10:00"))
    assert views.write(layout, "decisions.md", text.format("10:00").replace("noon", "night"))
