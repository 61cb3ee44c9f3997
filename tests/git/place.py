"""A project under test: a real repository, its memory, and short words for what people do with both."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import ClassVar

from holdfast.diagnostics.findings import report
from holdfast.diagnostics.log_integrity import Ledger
from holdfast.git import project_setup, publish
from holdfast.git.clone import Clone
from holdfast.git.publish import Published
from holdfast.model.event import Event, EventDraft
from holdfast.store import fsio
from tests import making
from tests.conftest import GITCONFIG, GitRepo, make_repo


def now() -> datetime:
    return datetime.now(UTC) + timedelta(seconds=Place.passed)


def fact_path(name: str) -> str:
    return f".holdfast/memory/facts/{name.lower()}-FCT-{name}.md"


def fact_text(name: str, statement: str = "It is so.", **fields: str) -> str:
    """An entry as people would read it."""
    front = {
        "id": f"FCT-{name}",
        "type": "fact",
        "status": "accepted",
        "layer": "L5",
        "tags": "[]",
        "source": "person:ada",
        "confidence": "0.9",
        "evidence": "[]",
        "applies_to": "[]",
        "supersedes": "[]",
        "expires_at": "null",
        **fields,
    }
    lines = "".join(f"{key}: {value}\n" for key, value in front.items())
    return f"---\n{lines}---\nFact: {statement}\n"


def _set_up(path: Path) -> None:
    make_repo(path)
    project_setup.initialise(str(path), cache=str(path.parent / "cache"), commit=True)


@dataclass
class Place:
    """One work tree of a project."""

    repo: GitRepo
    cache: str
    clock: Callable[[], datetime] = now
    notes: list[str] = field(default_factory=list)
    passed: ClassVar[int] = 0  # seconds that `later` let pass

    @classmethod
    def make(cls, path: Path, *, commit: bool = True) -> "Place":
        place = cls(GitRepo(path), str(path.parent / "cache"))
        if commit and making.ordinary(GITCONFIG):
            making.copied(_set_up, path)  # what the lines below make
        else:
            make_repo(path)
            project_setup.initialise(str(path), cache=place.cache, commit=commit)
        return place

    def at(self, path: Path) -> "Place":
        """Another work tree, or another clone."""
        return Place(GitRepo(path), self.cache, self.clock)

    @property
    def store(self) -> Path:
        return Path(self.open().private.private)

    def git(self, *args: str, ok: bool = True) -> str:
        return self.repo.git(*args, ok=ok)

    def later(self) -> None:
        """Some seconds pass, for us and for git: reflogs know whole seconds only."""
        Place.passed += 3
        os.environ["GIT_COMMITTER_DATE"] = f"{int(now().timestamp())} +0000"

    def open(self, folder: str = ".") -> Clone:
        """The clone as the next command sees it."""
        clone = Clone.open(os.path.join(self.repo.path, folder), cache=self.cache, clock=self.clock)
        self.notes += clone.notes
        return clone

    def ran(self, run_id: str) -> Event:
        """Record a run on the current line."""
        return self.open().record(EventDraft("run", run_id=run_id, body={"task": run_id}))

    def keep(self, name: str, statement: str = "It is so.", **fields: str) -> str:
        """Keep a fact on the current line; gives its path."""
        self.open().change(fact_path(name), fact_text(name, statement, **fields))
        return fact_path(name)

    def publish(self, **options: bool) -> Published:
        clone = self.open()
        try:
            return publish.publish(clone, **options)  # type: ignore[arg-type]
        finally:
            self.notes += clone.notes

    def recover(self) -> str | None:
        """What every command does first."""
        clone = self.open()
        with fsio.locked(clone.layout.lock):
            return publish.recover(clone)

    def runs(self) -> set[str]:
        """The runs visible here."""
        return {event.run_id or "" for event in self.open().events()}

    def all_runs(self) -> set[str]:
        """The runs this clone holds, whatever is visible."""
        return {event.run_id or "" for event in self.open().all_events()}

    def facts(self, clone: Clone | None = None) -> dict[str, str]:
        """The facts visible here: name to statement."""
        seen = (clone or self.open()).entries()
        return {s.path.rsplit("-", 1)[1][:-3]: s.text.split("Fact: ")[1].strip() for s in seen}

    def waits(self) -> set[str]:
        """The paths that wait to be published here."""
        return {change.path for change in self.open().changes()}

    def line(self) -> str:
        return self.open().line().id

    def status(self) -> str:
        return self.repo.status()

    def committed(self, rev: str = "HEAD") -> set[str]:
        """The paths that a commit touched."""
        return set(self.git("show", "--format=", "--name-only", "--no-renames", rev).split())

    def verdict(self, clone: Clone | None = None) -> str:
        """Whether the visible log, verified from its bytes, is ok, partial or corrupt."""
        ledger, clone = Ledger(), clone or self.open()
        for source in clone.sources():
            data = clone.read_source(source)
            if source.kind == "spool":
                ledger.spool(source.key, source.path or "", data)
            else:
                ledger.segment(source.key, source.key, data)
        ledger.finish()
        return report(ledger.findings, {}).verdict

    def hook(self, name: str, script: str) -> None:
        """Install a git hook."""
        path = self.repo / f".git/hooks/{name}"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def files(self) -> Iterable[str]:
        """Every file of the private store, by its name in it."""
        for folder, _, names in os.walk(self.store):
            for name in names:
                yield os.path.relpath(os.path.join(folder, name), self.store)
