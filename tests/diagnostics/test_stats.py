"""Figures of recall: right on a story whose every number is known."""

import os
import sqlite3
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from holdfast.diagnostics.stats import Duration
from holdfast.index.refresh import path_of, signature_of
from holdfast.model.event import EventDraft
from holdfast.project import Project
from holdfast.store import statistics, tally
from tests.conftest import Cli, GitRepo, grown

MINUTE = 60


def decide(_: Cli, repo: GitRepo) -> None:
    """Two decisions, accepted."""
    Project.init(repo.path)
    project = Project.open(repo.path, person=True)
    project.memory.remember(
        "Pin it below 2.1", kind="decision", evidence=["README"], applies_to=["src/db"], accept=True
    )
    project.memory.remember("The port is 8080", kind="decision", evidence=["README"], accept=True)


class Story:
    """A project with two decisions, and questions asked some time later."""

    def __init__(self, repo: GitRepo) -> None:
        self.repo = repo
        self.now = int(time.time()) + 2 * 3600
        self.project = self.opened()
        self.layout = self.project.clone.layout
        ids = {one.memory.statement: one.id for one in self.project.memory.knowledge().standings}
        self.pin, self.port = ids["Pin it below 2.1"], ids["The port is 8080"]

    def opened(self) -> Project:
        project, now = Project.open(self.repo.path, person=True), datetime.fromtimestamp(self.now, UTC)
        project.clone.clock = lambda: now
        return project

    def commit(self, message: str, name: str = "file.txt") -> None:
        os.environ["GIT_COMMITTER_DATE"] = f"{self.now} +0000"  # `own_time` takes it back
        self.repo.commit(name, message=message)

    def _decide(self, statement: str, **more: list[str]) -> str:
        return self.project.memory.remember(statement, kind="decision", evidence=["README"], accept=True, **more).id

    def ask(self, ago: int, *ids: str, took: int = 2000) -> None:
        hits = [(name, "decision", "accepted") for name in ids]
        tally.recalled_now(self.layout, hits, took, now=self.now - ago)

    def tell(self, ago: int, how: str, *ids: str, session: str | None = None, tokens: int = 100) -> None:
        said = tally.telling(how, tokens=tokens, session=session, memories=ids)
        tally.count_context(self.layout, said, 9000, now=self.now - ago)

    def used(self) -> dict[str, list[tuple[str, str]]]:
        """Each memory's uses, by how and by what."""
        self.project.health.reckon_uses()
        found: dict[str, list[tuple[str, str]]] = {}
        for use in statistics.uses(self.layout):
            found.setdefault(use.memory, []).append((use.how, use.by))
        return found


@pytest.fixture
def story(cli: Cli, repo: GitRepo) -> Story:
    grown(decide, cli, repo)
    return Story(repo)


def test_a_story_in_figures(story: Story) -> None:
    """Whoever decides by these figures must be able to trust each of them."""
    story.ask(30 * MINUTE, story.pin, took=1000)
    story.ask(29 * MINUTE, story.pin, story.port, took=3000)
    story.ask(20 * MINUTE, took=2000)
    story.ask(15 * MINUTE, story.port)
    story.ask(2 * MINUTE, story.port)
    story.tell(25 * MINUTE, "branch", story.pin, tokens=300)
    story.tell(24 * MINUTE, "none", tokens=100)
    story.tell(23 * MINUTE, "tool", story.pin, tokens=40)
    tally.modelled(story.layout, "embed", calls=2, texts=64, microseconds=1_500_000)
    story.commit(f"Pin it\n\nRefs: {story.pin}", "src/db/x.py")
    found = story.project.health.stats()
    recalls = found.recalls
    assert (recalls.asked, recalls.recent, recalls.empty) == (5, 5, 1)
    assert recalls.used == 2
    assert recalls.took == Duration(2000, 3000)
    contexts = found.contexts
    assert (contexts.packs, contexts.tokens) == (2, 400)
    first, second = found.memories
    assert (first.id, first.recalled, first.told, first.used, first.state) == (story.pin, 2, 2, 1, "accepted")
    assert (second.id, second.recalled, second.told, second.used) == (story.port, 3, 0, 0)
    assert (found.cited, found.acted) == (1, 0)
    (model,) = found.models
    assert (model.what, model.calls, model.texts, model.seconds) == ("embed", 2, 64, 1.5)
    assert story.project.health.stats() == found, "looking changes nothing"


def test_what_is_looked_at_was_used(story: Story) -> None:
    """Reading one memory after a question is a sign that the answer served."""
    story.ask(9 * MINUTE, story.port)
    tally.count(story.layout, f"looked.{story.port.lower()}", now=story.now - 8 * MINUTE)
    story.ask(5 * MINUTE, story.pin)
    assert story.project.health.stats().recalls.used == 1


def test_what_counts_as_a_use(story: Story) -> None:
    """A figure is worth what stands behind it."""
    story.ask(MINUTE, story.pin, story.port)
    project, pin, port = story.project, story.pin.lower(), story.port.lower()
    task = project.tasks.add("Move the server", notes=f"Rests on: {story.port}")
    project.memory.deprecate(story.pin, reason="2.1 is fine")
    newer = project.memory.remember(
        f"The server listens on 9090, unlike {story.port}", kind="decision", evidence=["README"]
    )
    found = story.used()
    assert [how for how, _ in found[pin]] == ["acted"]
    assert sorted(found[port]) == [("cited", newer.id.lower()), ("cited", task.id.lower())]
    assert story.used() == found, "each once"


def test_a_run_that_changes_what_a_memory_governs_acted_on_it(story: Story) -> None:
    """Most uses leave no id behind."""
    artifacts = [{"path": "src/db/engine.py", "sha256": "0" * 64}]
    story.ask(MINUTE, story.pin, story.port)
    story.tell(MINUTE, "branch", story.port)
    story.project.write_log({"kind": "run", "task": "T-1", "artifacts": artifacts})
    found = story.used()
    assert [how for how, _ in found[story.pin.lower()]] == ["acted"]
    assert story.port.lower() not in found


def test_what_was_not_recalled_or_long_ago_is_no_use(story: Story) -> None:
    """Ids are cited for many reasons."""
    story.ask(3 * 86_400, story.pin)
    story.commit(f"see {story.pin} and {story.port}")
    assert story.used() == {}


def test_a_commit_without_files_cites_and_one_that_publishes_does_not(story: Story) -> None:
    """A message is a person's word whatever it changes; what publishing says is our own."""
    story.ask(MINUTE, story.pin, story.port)
    story.commit(f"Publish {story.port}", ".holdfast/memory/x.md")
    os.environ["GIT_COMMITTER_DATE"] = f"{story.now} +0000"
    story.repo.git("commit", "-q", "--allow-empty", "-m", f"Keep it, see {story.pin}")
    assert {name: [how for how, _ in uses] for name, uses in story.used().items()} == {story.pin.lower(): ["cited"]}


def test_an_index_made_new_knows_the_same_uses(story: Story) -> None:
    """Law 7: the index may be deleted at any time, and recall answers the same."""

    def table() -> list[tuple[str, int]]:
        with sqlite3.connect(path_of(story.project.clone)) as db:
            return db.execute("SELECT name, times FROM used ORDER BY name").fetchall()

    story.project.recall("pin")
    assert table() == []
    story.ask(MINUTE, story.pin)
    story.commit(f"see {story.pin}")
    before = signature_of(story.project.clone)
    story.project.health.reckon_uses()
    after = signature_of(story.project.clone)
    assert before and after and before.memory != after.memory, "nobody would look at it again"
    story.project.recall("pin")
    assert table() == [(story.pin.lower(), 1)]
    os.unlink(path_of(story.project.clone))
    story.opened().recall("pin")
    assert table() == [(story.pin.lower(), 1)]
    story.project.health.reset_stats()
    story.opened().recall("pin")
    assert table() == []


def test_an_erased_memory_is_counted_nowhere(story: Story) -> None:
    """What is gone must not be named by what was counted."""
    story.ask(MINUTE, story.pin, story.port)
    story.commit(f"see {story.pin}")
    story.project.health.stats()
    assert f"statistics of {story.pin}" in story.project.sync.erase(story.pin).removed
    folder = Path(story.layout.private)
    names = [path.name for path in folder.glob("statistics*") if story.pin.lower().encode() in path.read_bytes()]
    assert names == []
    assert [one.id for one in story.project.health.stats().memories] == [story.port]


@pytest.mark.parametrize(
    "artifacts", [["src/db/x.py", 5, {"sha256": "00"}, {"path": None}], "src/db/x.py", 7, {"path": 1}]
)
def test_a_run_that_names_its_files_in_an_odd_way_stops_nothing(story: Story, artifacts: object) -> None:
    """A bundle, or another version, may bring it; the figures of everything else still count."""
    story.ask(9 * MINUTE, story.pin)
    story.project.clone.record(EventDraft("run", run_id="RUN-odd", body={"artifacts": artifacts}))
    assert story.project.health.stats().acted == 0
