"""A real clone with a clock of its own and a file worth citing."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast.curation.decisions import Reviewer
from holdfast.curation.propose import propose
from holdfast.git.clone import Clone
from holdfast.model.event import Event, EventDraft
from holdfast.model.memory import Accepted, Candidate
from tests.conftest import Cli, GitRepo, grown, initialise_and_commit

SAID = "Tests need Postgres 16."


@dataclass
class Clock:
    """Time that only moves when a test says so, and a little with every look."""

    now: datetime = datetime(2031, 11, 15, 19, 42, tzinfo=UTC)  # after git wrote its reflogs

    def __call__(self) -> datetime:
        self.now += timedelta(microseconds=1)
        return self.now

    def pass_by(self, **time: float) -> None:
        self.now += timedelta(**time)


@dataclass
class Bench:
    """A clone to work on: what a test does most, in one word each."""

    repo: Any
    clone: Clone
    clock: Clock
    cache: str
    ada: Reviewer
    bot: Reviewer

    def again(self) -> "Bench":
        """The same clone, opened by the next command."""
        self.clone = Clone.open(str(self.repo.path), cache=self.cache, clock=self.clock)
        return self

    def propose(self, statement: str = SAID, **fields: Any) -> Candidate | Accepted:
        return propose(self.clone, statement=statement, **{"evidence": ["src/a.py"], **fields})

    def run(self, name: str) -> Event:
        """A run in the log."""
        return self.clone.record(EventDraft(kind="run", target=name, run_id=name, exit_status=0, body={"task": "t"}))

    def told(self, *kinds: str) -> list[dict[str, Any]]:
        """The log's events of these kinds, joined."""
        return [self.clone.joined(event) for event in self.clone.events() if event.kind in kinds]


def _begin(cli: Cli, repo: GitRepo) -> None:
    repo.commit("src/a.py", "print('a')\n")
    initialise_and_commit(cli, repo)


@pytest.fixture
def bench(repo: GitRepo, cli: Cli, tmp_path: Path) -> Bench:
    grown(_begin, cli, repo)
    cache = str(tmp_path / "cache")
    clock = Clock()
    clone = Clone.open(str(repo.path), cache=cache, clock=clock)
    return Bench(repo, clone, clock, cache, Reviewer("Ada", person=True), Reviewer("bot", person=False))
