"""What the tests of git stand on."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.store import fsio
from tests.git.place import Place, Quick


@pytest.fixture(autouse=True)
def quick_disk() -> Iterator[None]:
    before, fsio.ops = fsio.ops, Quick()
    yield
    fsio.ops = before
    Place.passed = 0
    os.environ.pop("GIT_COMMITTER_DATE", None)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A project whose memory is set up and committed."""
    return Place.make(tmp_path / "repo")
