"""What a command costs before it does anything, in counts that no busy machine changes: modules, git processes."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.interfaces import agent_hook
from tests.conftest import GitRepo, make_repo

READ, WRITE, PUBLISH = 4, 8, 12  # git processes
# Command, most modules of Holdfast that it may load, most git processes that it may start.
COSTS = [
    ("--help", 11, 0),
    ("log", 65, READ),
    ("tasks", 84, READ),
    ("facts", 84, READ),
    ("review list", 104, READ),
    ("session list", 75, READ),
    ("journal", 75, READ),
    ("show README", 90, READ),
    ("remember Boats.float", 112, WRITE),
    ("task add Mend.it", 92, WRITE),
    ("session note Did.it", 87, WRITE),
    ("run -- true", 105, WRITE),
    ("context", 128, READ),
    ("status", 134, READ),
    ("why README.md:1", 105, READ),
    ("reconcile", 92, WRITE),
    ("publish --here", 88, PUBLISH),
    ("doctor", 138, 2 * WRITE),
]
CHANGE = "session note Went.on"  # so that no answer of before will do


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> GitRepo:
    """A project in which a little of everything happened, and a `git` that counts how often it is started."""
    repo = make_repo(tmp_path_factory.mktemp("used") / "repo")
    (repo.path.parent / "bin").mkdir()
    script = repo.path.parent / "bin" / "git"
    script.write_text(f'#!/bin/sh\necho x >>"{repo.path.parent}/calls"\nexec {shutil.which("git")} "$@"\n')
    script.chmod(0o755)
    repo.commit("README.md")
    for words in (
        "init --commit --no-hooks",
        "task add Paint",
        "remember Tar.keeps.water.out",
        "session start Mending",
        "why README.md:1",
        "tasks",
    ):
        started(repo, words)
    return repo


def started(repo: GitRepo, words: str) -> tuple[int, int]:
    """How many modules of ours a command loaded, and how many git processes it started."""
    calls = repo.path.parent / "calls"
    calls.write_text("")
    path = f"{repo.path.parent / 'bin'}{os.pathsep}{os.environ['PATH']}"
    args = [word.replace(".", " ") if word[0].isupper() and ".md" not in word else word for word in words.split()]
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "holdfast", *args],
        cwd=repo.path,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "error:" not in done.stderr or "show" in words, done.stderr[-500:]
    loaded = [
        line
        for line in done.stderr.splitlines()
        if line.startswith("import time") and "| holdfast" in " ".join(line.split())
    ]
    return len(loaded), len(calls.read_text().split())


@pytest.mark.parametrize(("words", "modules", "processes"), COSTS, ids=[words for words, *_ in COSTS])
def test_a_command_loads_and_asks_only_what_it_needs(used: GitRepo, words: str, modules: int, processes: int) -> None:
    """Every module and every git process is time that somebody waits, at every command of every agent."""
    if words in ("context", "status"):
        started(used, CHANGE)
    started(used, "tasks")  # whatever the last command left to notice
    if words.startswith("why"):
        started(used, words)  # the first after another commit asks once more, whichever test ran before this one
    loaded, asked = started(used, words)
    assert loaded <= modules
    assert asked <= processes


def test_importing_the_api_loads_next_to_nothing() -> None:
    """A program that imports Holdfast pays for what it uses."""
    code = "import json, sys, holdfast.project; print(json.dumps([m for m in sys.modules if m.startswith('holdfast')]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert len(json.loads(done.stdout)) <= 4


def test_recording_an_event_loads_nothing_but_the_hook(used: GitRepo) -> None:
    """An agent waits for its hook at every tool it calls: `os` alone would cost a tenth of a start."""
    hook = str(Path(agent_hook.__file__))
    event = json.dumps({"session_id": "s1", "cwd": str(used.path), "hook_event_name": "PostToolUse"})
    loaded = []
    for words in (["-c", "pass"], [hook, "claude", "PostToolUse"]):
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-X", "importtime", *words],
            input=event,
            capture_output=True,
            text=True,
            check=True,
        )
        loaded.append({line.rpartition("|")[2].strip() for line in done.stderr.splitlines()})
    assert list((used.path / ".git" / "holdfast" / "inbox").glob("claude-s1.jsonl"))
    assert sorted(loaded[1] - loaded[0]) == [
        "holdfast", "holdfast.interfaces", "holdfast.interfaces.agent_events", "holdfast.lazy_module",
        "holdfast.store", "holdfast.store.discovery",
    ]  # fmt: skip
