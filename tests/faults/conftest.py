import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from .scene import Scene, set_up

MEMORY = "/dev/shm"


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Path]:
    """A folder for many small stores, in memory where possible: what is tried here never waits for a disk."""
    if not os.access(MEMORY, os.W_OK):
        yield tmp_path
        return
    place = Path(tempfile.mkdtemp(prefix="holdfast-", dir=MEMORY))
    yield place
    shutil.rmtree(place)


@pytest.fixture
def scene(repo) -> Scene:
    """A project with memory that waits to be published and work of the user's under way."""
    return set_up(repo)
