"""A pytest plugin for the OpenAI Agents SDK's own suite: where it makes a SQLiteSession, it gets one of ours.

Loaded by name into a process that runs their files from their folder; nothing of this repository's tests is there.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import subprocess
import tempfile
from functools import cache
from typing import Any

import agents
import agents.memory
import pytest

from holdfast.interfaces.adapters import HoldfastSession
from holdfast.project import Project

_COUNT = itertools.count()

# Tests of how their class uses SQLite: connections, locks of files, damaged rows, its `close`.
THEIRS = (
    *("await_mutation", "close", "exited_worker_threads", "connections", "closed", "corrupt", "file_lock"),
    *("failed_add_items", "failed_clear", "failed_pop", "rollback", "post_commit"),
)


@cache
def _repository() -> str:
    folder = tempfile.mkdtemp(prefix="hf-sdk-")
    for command in (["git", "init", "-q"], ["holdfast", "init", "--yes"]):
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
    return folder


@cache
def _project(database: str) -> Project:
    name = f"p{hashlib.sha256(database.encode()).hexdigest()[:12]}"
    chosen = {"HOLDFAST_DATABASE_URL": os.environ["HOLDFAST_DATABASE_URL"], "HOLDFAST_DATABASE_PROJECT": name}
    return Project.open(_repository(), environ={**os.environ, **chosen}, person=True)


class SQLiteSession(HoldfastSession):
    """Our session under the name and with the arguments of theirs; each of their files is a project of its own."""

    def __init__(self, session_id: str, db_path: Any = ":memory:", session_settings: Any = None) -> None:
        place = f"{db_path}{next(_COUNT) if str(db_path) == ':memory:' else ''}"
        super().__init__(_project(place), session_id, session_settings=session_settings)

    def close(self) -> None:
        """Theirs closes its file here; our connections belong to the project."""


agents.SQLiteSession = agents.memory.SQLiteSession = SQLiteSession  # type: ignore[misc, assignment]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    theirs = [item for item in items if any(word in item.name for word in THEIRS)]
    config.hook.pytest_deselected(items=theirs)
    items[:] = [item for item in items if item not in theirs]
