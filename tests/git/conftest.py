"""What the tests of git stand on."""

from pathlib import Path

import pytest

from tests.git.place import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A project whose memory is set up and committed."""
    return Place.make(tmp_path / "repo")
