"""What the tests of git stand on."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.git.place import Place


@pytest.fixture(autouse=True)
def own_time() -> Iterator[None]:
    """Whatever time a test let pass, the next begins in the present."""
    yield
    Place.passed = 0
    os.environ.pop("GIT_COMMITTER_DATE", None)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A project whose memory is set up and committed."""
    return Place.make(tmp_path / "repo")
