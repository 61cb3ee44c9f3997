import pytest

from .scene import Scene, set_up


@pytest.fixture
def scene(repo) -> Scene:
    """A project with memory that waits to be published and work of the user's under way."""
    return set_up(repo)
