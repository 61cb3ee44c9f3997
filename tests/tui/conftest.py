"""A real project with things to decide."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from holdfast.curation.decisions import MemoryStanding
from holdfast.interfaces.tui import review_screen
from holdfast.project import Project
from tests.conftest import GitRepo, make_repo
from tests.curation.conftest import Clock

NET = "import time\n\n\ndef retry(call):\n    return call()\n"
NOTES = """# Notes

We talked about payments.
From now on we must retry only
calls that are safe to repeat.
That is all.
"""


@dataclass
class Room:
    """A project, and what is proposed in it."""

    repo: GitRepo
    project: Project

    def propose(self, name: str, statement: str, **fields: Any) -> MemoryStanding:
        """A candidate of this id; a decision that rests on a person's word, unless told otherwise."""
        return self.project.memory.remember(statement, id=name, **{"kind": "decision", **fields})

    def status(self, name: str) -> str:
        """How a memory stands now."""
        return self.project.memory.get(name).status


_made: list[Path] = []  # a project that was set up once; the others are copies of it


@pytest.fixture
def room(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Room:
    monkeypatch.setattr(review_screen, "PAUSE", 0)
    if not _made or not _made[0].exists():
        _made[:] = [_set_up(tmp_path_factory.mktemp("made") / "repo")]
    shutil.copytree(_made[0], tmp_path / "repo", symlinks=True)
    repo = GitRepo(tmp_path / "repo")
    return Room(repo, Project.open(repo.path, person=True, clock=Clock()))


def _set_up(path: Path) -> Path:
    repo = make_repo(path)
    repo.commit("src/net.py", NET)
    repo.commit("notes.md", NOTES)
    Project.init(path, commit=True)
    return path
