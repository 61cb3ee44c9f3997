"""Redaction rules from the settings, as a command meets them: they never hang it."""

import os
import subprocess
import sys

import pytest

from holdfast.capture.run import run_command
from holdfast.security import rules
from holdfast.security.redact import Scanner

from .conftest import Project, files_as_handles


def test_a_hanging_rule_is_refused_before_the_run_starts(project: Project) -> None:
    """The user's own rule is an error; in the tracked file, whoever wrote it, it costs a warning."""
    text = '[redact]\nrules = ["(a+)+$"]\n'
    (project.path / ".holdfast" / "holdfast.toml").write_text(text)
    done = run_touch(project)
    assert (done.returncode, "(a+)+$" in done.stderr, "it is ignored" in done.stderr) == (0, True, True)
    (project.path / "started").unlink()
    (project.path / ".git" / "holdfast" / "settings.toml").write_text(text)
    done = run_touch(project)
    assert (done.returncode, "(a+)+$" in done.stderr, "redact.rules" in done.stderr) == (125, True, True)
    assert "Traceback" not in done.stderr
    assert not (project.path / "started").exists()


def run_touch(project: Project) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "holdfast", "run", "--", "touch", "started"],
        cwd=project.path,
        env={**os.environ, "XDG_CACHE_HOME": str(project.side)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_slow_rule_costs_the_output_but_neither_the_command_nor_its_event(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What could not be scanned is not kept; everything else is as without the rule."""
    monkeypatch.setattr(rules, "GRACE", 0.2)
    clone = project.clone
    clone.intake = Scanner(["a+a+=corp"])
    script = "head -c 300000 /dev/zero | tr '\\0' a; echo; echo private-words; exit 3"
    with files_as_handles(project.side, None) as handles:
        out = run_command(clone, ["sh", "-c", script], environ=os.environ, handles=handles, cwd=str(project.path))
    assert out.exit_code == 3
    assert (project.side / "out").read_bytes() == b"a" * 300_000 + b"\nprivate-words\n"
    assert any("redact.rules" in warning for warning in out.warnings)
    event = project.event(out.run_id)
    assert (event["exit_status"], event["outputs"]["truncated"]) == (3, ["stdout"])
    assert b"private-words" not in (project.folder(out.run_id) / "outputs/stdout").read_bytes()
    assert project.faults(out.run_id) == []
