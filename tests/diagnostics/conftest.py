"""A project with a log: events on a branch, some published, one still in its spool."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from holdfast.git import publish
from holdfast.git.clone import Clone
from holdfast.model.event import EventDraft
from holdfast.model.memory import Accepted
from holdfast.store import layout, memory_files
from tests.conftest import init_store


class Ticking:
    """A clock that moves a second each time it is read."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


class Sample:
    """A clone and short ways to make things happen in it."""

    def __init__(self, repo, cache: Path) -> None:
        self.repo, self.cache = repo, str(cache)
        init_store(repo.path, commit=True)
        repo.git("switch", "-q", "-c", "feature")
        self.clone = self.open()
        self.private = Path(self.clone.private.private)

    def open(self) -> Clone:
        return Clone.open(str(self.repo.path), cache=self.cache, clock=Ticking())

    def tasks(self, count: int, start: int = 0) -> None:
        for number in range(start, start + count):
            self.clone.record(EventDraft("task", target=f"TSK-{number}", body={"task": f"task {number}"}))

    def publish(self) -> None:
        publish.publish(self.clone, here=True)

    def fact(self, identity: str = "FCT-aaa111", **fields) -> str:
        """A fact accepted on this line, with its event; not yet published."""
        path = self.write_fact(identity, **fields)
        self.clone.record(EventDraft("accept", target=identity, body={"statement": "It holds."}))
        return path

    def write_fact(self, identity: str, **fields) -> str:
        memory = Accepted(id=identity, type="fact", **{"statement": "It holds.", **fields})
        path = layout.entry_path("fact", "it-holds", identity)
        self.clone.change(path, memory_files.render(memory))
        return path

    def commit_file(self, path: str, text: str) -> None:
        """What somebody who never heard of Holdfast does to a tracked file."""
        self.repo.write(path, text)
        self.repo.git("add", "-f", "--", path)
        self.repo.git("commit", "-q", "-m", "by hand")

    def segments(self) -> list[Path]:
        return sorted((self.repo.path / ".holdfast" / "log").rglob("*.jsonl"))

    def spools(self) -> list[Path]:
        return sorted((self.private / "spool").rglob("*.jsonl"))


@pytest.fixture
def make_sample(tmp_path: Path) -> Callable[..., Sample]:
    return lambda repo: Sample(repo, tmp_path / "cache")


@pytest.fixture
def sample(repo, make_sample) -> Sample:
    return make_sample(repo)
