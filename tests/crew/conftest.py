"""What tests of crews stand on: a project whose user has a check, and scripted agents that are real processes."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast import Project
from holdfast.crew import crew_runs
from holdfast.crew.crew_limits import CrewLimits
from holdfast.crew.headless_agents import agent_named
from holdfast.crew.historian import CrewRecap
from tests.conftest import GitRepo, init_store

CHECKS = '[crew.checks]\ndefault = "test ! -e broken"\n'


@pytest.fixture
def settings(world: Path) -> Path:
    """The user's own settings."""
    folder = world / ".config/holdfast"
    folder.mkdir(parents=True)
    (folder / "settings.toml").write_text(CHECKS)
    return folder / "settings.toml"


@pytest.fixture
def crewed(repo: GitRepo, settings: Path) -> GitRepo:
    """A repository in which a crew can work."""
    init_store(repo.path, commit=True)
    return repo


@pytest.fixture
def scripted(tmp_path: Path) -> Callable[[str], str]:
    """The command of an agent that is a Python script; it finds its prompt in `prompt`."""

    def make(code: str) -> str:
        file = tmp_path / "agent.py"
        file.write_text(f"import os, pathlib, subprocess, sys\nprompt = sys.stdin.read()\n{code}\n")
        return f"{sys.executable} -S {file}"

    return make


def run_crew(repo: GitRepo, agent: str, *asked: str, workers: int = 1, **limits: float) -> tuple[str, CrewRecap]:
    """A whole run: its name, and what came of it."""
    project = Project.open(repo.path, environ=dict(os.environ))
    chosen, bounds = agent_named(agent), CrewLimits(**limits)
    run = crew_runs.begin(project, asked, folder=str(repo.path), agent=chosen, workers=workers, limits=bounds)
    return run, crew_runs.supervise(project, run, agent=chosen, workers=workers, limits=bounds)


def running(word: str) -> list[str]:
    """Command lines of processes that hold a word."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                line = file.read().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        found += [line] if word in line else []
    return found
