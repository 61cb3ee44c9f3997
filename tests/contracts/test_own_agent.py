"""The contract for agents that people build themselves: the example works, and no transcript of theirs stops us."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from holdfast.capture.agents import own_agent, spoken_by
from holdfast.interfaces import agent_hook
from holdfast.project import Project
from tests.cli.test_agent_hook import Agent, accepted, agent, quiet, ready  # noqa: F401 - fixtures
from tests.laws.test_hostile_transcripts import CHANGES, keeps_its_limits, spoilt

EXAMPLE = Path(__file__).resolve().parent.parent.parent / "examples" / "own_agent" / "agent.py"
EDITS = [{"path": "/w/a.py", "before": "one", "after": "two"}, {"path": "b.py", "content": "x", "new": True}]
CALLS: list[dict[str, Any]] = [
    {"id": "c1", "name": "sh", "kind": "shell", "command": "make", "input": "make", "output": "no", "exit_status": 2},
    {"id": "c2", "name": "edit", "kind": "edit", "input": {"path": "/w/a.py"}, "output": "ok", "edits": EDITS},
    {"id": "c3", "name": "read", "input": "a.py"},
]
ROWS: list[dict[str, Any]] = [
    {"type": "session", "agent": "mybot", "session": "m-1", "cwd": "/w", "started": "2026-11-18T20:00:00Z"},
    {"type": "turn", "key": "t1", "ts": "2026-11-18T20:00:01Z", "prompt": "fix the test"},
    {"type": "step", "id": "s1", "ts": "2026-11-18T20:00:02Z", "reasoning": "Look.", "text": "I look.", "calls": CALLS},
    {"type": "step", "id": "s2", "text": "It is fixed."},
    {"type": "turn", "key": "t2", "prompt": "and the docs"},
]


def written(path: Path, rows: object) -> str:
    lines = rows if isinstance(rows, list) else [rows]
    path.write_text("".join(json.dumps(row) + "\n" for row in lines))
    return str(path)


def test_the_form_says_all_that_a_run_needs(tmp_path: Path) -> None:
    """Commands with how they ended, and the lines that were written: `why` lives on these."""
    path = written(tmp_path / "run.jsonl", ROWS)
    first, second = own_agent.DIALECT.read(path, 0, None)
    assert (first.prompt, first.answer, second.prompt) == ("fix the test", "It is fixed.", "and the docs")
    ran, edited, unanswered = first.calls
    assert (ran.kind, ran.command, ran.result and ran.result.exit_status) == ("shell", "make", 2)
    assert ran.result is not None and ran.result.failed and unanswered.result is None
    assert [(one.path, one.added, one.action) for one in edited.edits] == [
        ("/w/a.py", ("two",), "update"),
        ("b.py", ("x",), "add"),
    ]
    assert own_agent.DIALECT.is_mine(path) and spoken_by("mybot") is own_agent.DIALECT


@given(changes=CHANGES)
@settings(max_examples=60)
def test_any_value_of_it_may_be_of_any_type(tmp_path_factory: pytest.TempPathFactory, changes: list[Any]) -> None:
    """Whoever writes it makes mistakes; the import says so or goes on."""
    path = written(tmp_path_factory.getbasetemp() / "own.jsonl", spoilt(ROWS, changes))
    try:
        told = list(own_agent.DIALECT.read(path, 0, None))
    except own_agent.BadInput as error:
        assert path in str(error)
        return
    for turn in told:
        keeps_its_limits(turn)


@pytest.mark.parametrize("installed", [True, False])
def test_the_example_is_told_warned_and_recorded(quiet: Agent, tmp_path: Path, installed: bool) -> None:  # noqa: F811
    """And it works as well where Holdfast is not installed."""
    top = quiet.repo.path
    accepted(quiet.repo, "every greeting is in English")
    accepted(quiet.repo, "greeting.txt must stay friendly", applies_to=["greeting.txt"])
    ready(quiet.repo)
    folder = tmp_path / "bin"
    folder.mkdir()
    if installed:
        (folder / "holdfast-hook").write_text(f'#!/bin/sh\nexec {sys.executable} -I -S {agent_hook.__file__} "$@"\n')
        (folder / "holdfast-hook").chmod(0o755)
    env = {**os.environ, "PATH": f"{folder}:/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, EXAMPLE, "be kind"], cwd=top, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("every greeting is in English") == installed, "at the start"
    assert done.stdout.count("greeting.txt must stay friendly") == installed, "before the edit"
    assert (top / "greeting.txt").read_text() == "Hello, and welcome.\n"
    runs = Project.open(top, environ=dict(os.environ), drain=False).transcripts.drain().runs
    assert len(runs) == installed
    for run in runs:
        told = Path(Project.open(top).clone.layout.run(run), "cycles.jsonl").read_text()
        assert "The greeting is friendlier now." in told and "must stay friendly" not in told
