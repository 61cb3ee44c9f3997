"""What hooks cost a session of a real agent: seconds of a processor, of everything that it starts, ours behind it too.

A session with hooks beside the same one without, once with a single answer and once with many calls of a cheap tool:
the difference at one answer is what a session costs, the rest is what a call costs. The scripted model answers at once
and nothing is drawn, so that the client itself uses next to nothing: ratios are for sessions at a terminal
(docs/reference/hooks.md).
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.clients.test_agents import ASKED, MEMORY, OLDER, pytestmark  # noqa: F401 - it needs the same
from tests.clients.test_nothing_missed import ready

CALLS = 20
SESSION, CALL = 1.5, 0.1  # seconds; twice what was measured on two shared cores, 0.5 and 0.04


@pytest.mark.parametrize("name", OLDER)
def test_hooks_cost_a_session_little(name: str, tmp_path: Path, record_property: Callable[[str, Any], None]) -> None:
    """Who connects an agent must not pay for it with the battery."""
    scene = ready(name, tmp_path)
    scene.accept(MEMORY)

    def used(calls: int) -> float:
        script = [scene.shell(f"cat hello.txt; echo {number}") for number in range(calls)]
        ran = scene.client.run(scene.repo, ASKED, [*script, {"text": "Done."}], whole=True)
        assert ran.code == 0 and len([one for one in ran.asked if one["main"]]) == calls + 1, ran.out[-2000:]
        return ran.cpu

    used(0)  # what only a first session has to make
    short, long = used(0), used(CALLS)
    scene.holdfast("disconnect", name, "--yes")
    bare_short, bare_long = used(0), used(CALLS)
    session, call = short - bare_short, (long - bare_long - (short - bare_short)) / CALLS
    said = f"a session {session:.2f} s and {call * 1e3:.0f} ms a call, beside {bare_short:.2f} s and "
    record_property("cost", f"{name}: {said}{(bare_long - bare_short) / CALLS * 1e3:.0f} ms of its own")
    assert session <= SESSION and call <= CALL
