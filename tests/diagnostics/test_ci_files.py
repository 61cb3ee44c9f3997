"""The snippets people copy into their projects say what the code does."""

from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]


def test_the_workflow_fetches_history_and_runs_the_gate():
    """Without history the gate can only say "partial", and people would not know why."""
    flow = yaml.safe_load((ROOT / "docs/ci/github-actions.yml").read_text(encoding="utf-8"))
    steps = flow["jobs"]["check-memory-state"]["steps"]

    assert steps[0]["with"]["fetch-depth"] == 0
    assert "holdfast check --base" in steps[-1]["run"]
    assert flow["permissions"] == {"contents": "read"}


def test_the_workflow_puts_no_foreign_text_into_a_shell():
    """A branch name in a `run:` line is how pull requests run code in other people's CI."""
    flow = yaml.safe_load((ROOT / "docs/ci/github-actions.yml").read_text(encoding="utf-8"))

    for step in flow["jobs"]["check-memory-state"]["steps"]:
        assert "${{" not in step.get("run", "")


def test_the_pre_commit_hook_is_defined():
    """The id is promised in the documentation."""
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))

    assert [hook["id"] for hook in hooks] == ["check-memory-state"]
    assert hooks[0]["entry"] == "holdfast check"
    assert hooks[0]["pass_filenames"] is False
