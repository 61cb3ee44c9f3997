"""The example loop: killed again and again, it does each action once and ends with one recorded run."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from holdfast.project import Project
from tests.conftest import GitRepo

LOOP = Path(__file__).resolve().parents[2] / "examples" / "research_agent" / "loop.py"


def start(repo: GitRepo, url: str, pause: float) -> subprocess.Popen[bytes]:
    environ = {**os.environ, "HOLDFAST_DATABASE_URL": url}
    return subprocess.Popen([sys.executable, str(LOOP), str(pause)], cwd=repo.path, env=environ, stdout=subprocess.PIPE)


@pytest.mark.parametrize("kills", [3, pytest.param(60, marks=pytest.mark.torture)])
def test_a_loop_that_is_killed_does_each_action_once(repo: GitRepo, store_url: str, kills: int) -> None:
    """An agent that repeats what it did sends a mail twice; one that loses it never sends it."""
    seed = int(os.environ.get("HOLDFAST_TEST_SEED", random.randrange(1 << 30)))
    print("HOLDFAST_TEST_SEED", seed)
    chance = random.Random(seed)
    for _ in range(kills):
        child = start(repo, store_url, 0.05)
        time.sleep(chance.uniform(0.3, 1.2))
        child.send_signal(signal.SIGKILL)
        child.wait()
    last = start(repo, store_url, 0.0)
    out = last.communicate(timeout=60)[0].decode()
    assert last.returncode == 0, out
    noted = [line.split(" ", 1)[1] for line in (repo.path / "research-notes.txt").read_text().splitlines()]
    assert len(noted) == 2 and len(set(noted)) == 2
    project = Project.open(repo.path, environ={"HOLDFAST_DATABASE_URL": store_url})
    done = project.agents.find("researcher").cycles()
    assert [one.index for one in done] == [0, 1, 2, 3] and not any(one.is_open for one in done)
    assert len([one for one in project.log.events() if one["kind"] == "run"]) == 1
    project.agents.database.close()
