"""Why a line is there: the run and the turn that wrote it, or an honest "not known"."""

from pathlib import Path

import pytest

from holdfast.recall.why.answers import Answer
from tests.recall.authors import World

LINE = "RETRIES = attempts_before_giving_up(3)"
OTHER = "TIMEOUT = seconds_until_the_carrier_hangs_up(30)"


@pytest.fixture
def world(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> World:
    return World.make(tmp_path, tmp_path_factory.getbasetemp() / "authors" / "repo")


def answer(world: World, place: str) -> Answer:
    (one,) = world.open().why(place).why.answers
    return one


def test_a_line_committed_by_its_run_is_recorded(world: World) -> None:
    """Whoever wonders about a line wants the words that led to it."""
    session = world.session().asks("Make it sturdy, please.").writes("src/carrier.py", ["import os", LINE])
    commit = session.commits()
    run = session.ends()
    one = answer(world, "src/carrier.py:2")
    assert (one.state, one.run and one.run.id) == ("recorded", run)
    assert [(asking.turn, asking.prompt, asking.by) for asking in one.turns] == [
        (1, "Make it sturdy, please.", "user")
    ]
    assert one.commit and one.commit.oid == commit and one.text == (LINE,)
