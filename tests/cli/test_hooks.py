"""`holdfast hooks`: what people see when they install, look and leave."""

import json

import pytest

from holdfast.git.hooks import CONFIG_HOOKS, git_version
from holdfast.git.repo import Repo
from holdfast.interfaces.cli import hook_commands
from tests.conftest import Cli, GitRepo, init

assert hook_commands.hooks.name == "hooks"


def reads_configuration(repo: GitRepo) -> bool:
    """Whether this git has hooks in its configuration; then no folder of hooks is ever in the way."""
    return git_version(Repo.at(str(repo.path))) >= CONFIG_HOOKS


def test_install_status_and_remove(cli: Cli, repo: GitRepo) -> None:
    """Three commands are the whole of it; each says what it did, and git status stays as it was."""
    init(cli.cwd, commit=True)
    assert cli("hooks").out.startswith("No git hooks are installed")
    shown = cli("hooks", "install").out
    how, where = ("config", ".git/config") if reads_configuration(repo) else ("file", ".git/hooks")
    assert shown.splitlines()[0] == f"Installed 4 hooks: {repo / where}"
    states = json.loads(cli("hooks", "status", "--json").out)["items"]
    assert [(state["id"], state["fires"], state["how"]) for state in states] == [
        (name, True, how) for name in ("post-commit", "post-merge", "post-checkout", "post-rewrite")
    ]
    assert json.loads(cli("hooks", "install", "--json").out)["changed"] is False
    (repo / ".git/holdfast/hook.py").unlink()
    broken = cli("hooks", "status", ok=False)
    assert broken.code == 1 and "Repair it with: holdfast hooks install" in broken.out
    assert len(json.loads(cli("hooks", "remove", "--json").out)["hooks"]) == 4
    assert repo.status() == ""


def test_a_refusal_names_the_way_out(cli: Cli, repo: GitRepo) -> None:
    """Whoever keeps hooks in git must learn how to have ours too."""
    if reads_configuration(repo):
        pytest.skip("this git needs no file for a hook")
    cli("init", "--commit")
    repo.write(".githooks/pre-push", "#!/bin/sh\n")
    repo.git("add", ".githooks")
    repo.git("commit", "-q", "-m", "hooks")
    repo.git("config", "core.hooksPath", ".githooks")
    refused = cli("hooks", "install", ok=False)
    assert refused.code == 22 and "git takes its hooks from .githooks" in refused.err
    assert "post-rewrite" in refused.err and "holdfast/hook.py" in refused.err
    assert repo.status() == ""
