"""The context that is kept for a session's start: in time, never wrong without a word, and never of another branch."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from holdfast.interfaces import agent_hook, agent_replies
from holdfast.project import Project, prepared_context
from holdfast.store import kept_context
from tests.capture import claude_lines as claude
from tests.capture.rollouts import rollout
from tests.cli.test_agent_hook import PATIENCE, Agent, accepted, agent, person, quiet, ready  # noqa: F401
from tests.conftest import Cli, GitRepo

MARK = "HFMARK the ledger is append-only"


def kept(repo: GitRepo) -> kept_context.KeptContext | None:
    return kept_context.load(os.fsencode(repo / ".git"), os.fsencode(repo / ".git"))


def until_prepared(repo: GitRepo) -> None:
    """Wait until whoever prepares contexts in the background has done it."""
    deadline = time.monotonic() + PATIENCE
    while (found := kept(repo)) is None or not found.is_current:
        assert time.monotonic() < deadline, found and found.changed
        time.sleep(0.05)


@pytest.fixture
def slow_git(tmp_path: Path) -> dict[str, str]:
    """A git that takes its time, as on a busy machine."""
    (tmp_path / "bin").mkdir()
    file = tmp_path / "bin/git"
    file.write_text(f'#!/bin/sh\nsleep ${{SLOW:-1.3}}\nexec {shutil.which("git")} "$@"\n')
    file.chmod(0o755)
    return {"PATH": f"{file.parent}:{os.environ['PATH']}"}


def test_a_current_context_is_printed_without_loading_anything(quiet: Agent) -> None:  # noqa: F811
    """On a busy machine every import is a chance to come too late."""
    accepted(quiet.repo, MARK)
    ready(quiet.repo)
    loaded = []
    for words in (["-c", "pass"], [agent_hook.__file__, "claude", "SessionStart"]):
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-X", "importtime", *words],
            input=quiet.stdin("SessionStart", source="startup"),
            capture_output=True,
            check=True,
        )
        loaded.append({line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines()})
    assert "HFMARK" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    # What the child of the hook loads is not seen here; so its time is, in `make bench ARGS=agents`.
    assert not any("agent_replies" in name or name in ("os", "_sqlite3") for name in loaded[1] - loaded[0])


@pytest.mark.parametrize("change", ["commit", "switch", "pull"])
def test_git_has_the_next_context_prepared(agent: Agent, cli: Cli, change: str, tmp_path: Path) -> None:  # noqa: F811
    """Whoever starts an agent after a commit, a switch or a pull does not wait for it."""
    repo = agent.repo
    cli("hooks", "install")
    accepted(repo, MARK)
    ready(repo)
    if change == "commit":
        repo.commit("a.txt", "a\n")
    elif change == "switch":
        repo.git("switch", "-q", "-c", "side")
    else:
        subprocess.run(["git", "clone", "-q", str(repo.path), str(tmp_path / "other")], check=True)
        other = GitRepo(tmp_path / "other")
        other.commit("b.txt", "b\n")
        repo.git("pull", "-q", "--ff-only", str(other.path), "main")
    until_prepared(repo)
    told = agent.fire("SessionStart", source="startup")
    assert "HFMARK" in told and not told.startswith("Prepared") and repo.tip()[:12] in told


def test_git_prepares_no_context_in_the_middle_of_a_turn(quiet: Agent, cli: Cli, tmp_path: Path) -> None:  # noqa: F811
    """No session starts with it before the turn is read, and who reads the turn prepares it."""
    repo, count = quiet.repo, tmp_path / "count"
    cli("hooks", "install")
    ready(repo)
    program = tmp_path / "worker.py"
    program.write_text(f"open({str(count)!r}, 'a').write('.')\n")
    (repo / ".git/holdfast/contexts/worker").write_text(f"{sys.executable}\n{program}\n")
    quiet.fire("UserPromptSubmit", prompt="go on")
    repo.commit("a.txt", "a\n")
    for pointers in (repo / ".git/holdfast/inbox").glob("*.jsonl"):
        pointers.unlink()
    repo.commit("b.txt", "b\n")
    deadline = time.monotonic() + PATIENCE
    while not count.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert count.read_text() == "."


def test_a_command_has_the_next_context_prepared(agent: Agent, cli: Cli) -> None:  # noqa: F811
    """A task that was added while no agent ran is in the first request of the next."""
    ready(agent.repo)
    cli("task", "add", "Write the HFTASK parser")
    until_prepared(agent.repo)
    assert "HFTASK" in agent.fire("SessionStart", source="startup")


def test_the_last_good_context_is_told_with_what_changed_and_then_replaced(
    quiet: Agent,  # noqa: F811
    slow_git: dict[str, str],
) -> None:
    """Late knowledge that says how old it is helps; none does not. The new one follows at the next event."""
    repo = quiet.repo
    accepted(repo, MARK)
    ready(repo)
    accepted(repo, "HFNEW the queue is bounded")
    repo.commit("a.txt", "a\n")
    told = quiet.fire("SessionStart", source="startup", env={**slow_git, "SLOW": "0.5"})
    first, *_ = told.splitlines()
    assert first.startswith("Prepared ") and "commits" in first and "memory" in first
    assert "HFMARK" in told and "HFNEW" not in told
    until_prepared(repo)
    told = quiet.fire("UserPromptSubmit", prompt="go on")
    assert told.startswith("This replaces") and "HFNEW" in told and "HFMARK" in told
    assert quiet.fire("UserPromptSubmit", prompt="go on") == ""
    other = Agent(repo, session="5e55-0009")
    assert "HFNEW" in other.fire("SessionStart", source="startup") and other.fire("UserPromptSubmit", prompt="x") == ""


def test_a_context_of_another_branch_is_not_told(quiet: Agent, slow_git: dict[str, str]) -> None:  # noqa: F811
    """Law 5: what was noted on one branch does not appear on another unasked."""
    repo = quiet.repo
    repo.git("branch", "side")
    accepted(repo, MARK)
    ready(repo)
    repo.git("switch", "-q", "side")
    assert kept(repo) is None
    assert "HFMARK" not in quiet.fire("SessionStart", source="startup", env=slow_git)


@pytest.mark.parametrize("how", ["retire", "replace", "trust", "expire", "settings"])
def test_what_no_longer_holds_is_not_told_even_once(quiet: Agent, cli: Cli, how: str, world: Path) -> None:  # noqa: F811
    """A rule that was withdrawn a second ago is worse than an outdated list of tasks."""
    repo = quiet.repo
    name = accepted(repo, MARK)
    ready(repo)
    assert kept(repo) is not None
    if how == "retire":
        person(repo).memory.deprecate(name)
    elif how == "replace":
        project = person(repo)
        one = project.memory.remember("The ledger may be compacted", kind="invariant", supersedes=[name])
        project.memory.accept(one.id)
    elif how == "trust":
        (repo / ".git/holdfast/trusted").write_text("ref refs/remotes/origin/main\n")
    elif how == "expire":
        prepared = prepared_context.PreparedContext(person(repo))
        prepared._until = "2020-01-01T00:00:00Z"
        prepared.keep()
    else:
        (world / ".config/holdfast").mkdir(parents=True)
        (world / ".config/holdfast/settings.toml").write_text("[context]\nbudget = 100\n")
    assert kept(repo) is None


def test_what_the_context_rests_on_is_watched(quiet: Agent, cli: Cli) -> None:  # noqa: F811
    """An input that nobody watches is a context that is wrong without a word."""
    repo = quiet.repo
    repo.commit("src/a.py", "def a():\n    return 1\n")
    project = person(repo)
    one = project.memory.remember(MARK, kind="invariant", evidence=["src/a.py:1-2"])
    project.memory.accept(one.id)
    cli("publish", "--here")
    changes = {
        b"cited files": lambda: (repo / "src/a.py").write_text("def a():\n    return 2\n"),
        b"commits": lambda: repo.commit("b.txt", "b\n"),
        b"memory": lambda: next((repo / ".holdfast/memory/invariants").iterdir()).write_text("---\n"),
        b"tasks": lambda: (repo / ".holdfast/tasks").mkdir(exist_ok=True),
        b"sessions": lambda: cli("session", "start", "HF work"),
        b"other branches": lambda: repo.git("branch", "another"),
    }
    for label, change in changes.items():
        ready(repo)
        assert (before := kept(repo)) is not None and before.is_current, label
        change()
        assert (after := kept(repo)) is not None and label in after.changed, label


def test_a_damaged_file_is_no_context(quiet: Agent) -> None:  # noqa: F811
    """A full disk or a bug of ours must not end in half a context."""
    accepted(quiet.repo, MARK)
    ready(quiet.repo)
    path = quiet.repo / ".git/holdfast/contexts/main-main"
    whole = path.read_bytes()
    for cut in range(0, len(whole), 37):
        path.write_bytes(whole[:cut])
        assert kept(quiet.repo) is None
    path.write_bytes(whole.replace(b"holdfast-context 1", b"holdfast-context 9"))
    assert kept(quiet.repo) is None


def test_changes_while_a_context_is_prepared_are_in_the_next(agent: Agent, cli: Cli) -> None:  # noqa: F811
    """One works and one waits: a change in between is not lost, and ten commits are no ten processes."""
    cli("hooks", "install")
    accepted(agent.repo, MARK)
    ready(agent.repo)
    for n in range(10):
        agent.repo.commit("a.txt", f"{n}\n")
    until_prepared(agent.repo)
    assert agent.repo.tip()[:12] in agent.fire("SessionStart", source="startup")


def test_two_branches_that_look_alike_have_a_context_each(tmp_path: Path) -> None:
    """`a/b` and `a_b` are other branches."""
    names = set()
    for branch in ("a/b", "a_b", "a" * 90 + "1", "a" * 90 + "2", "ä"):
        (tmp_path / "HEAD").write_text(f"ref: refs/heads/{branch}\n")
        names.add(kept_context.file_name(os.fsencode(tmp_path), os.fsencode(tmp_path)))
    assert len(names) == 5 and all(name and b"/" not in name for name in names)


def test_long_left_branches_make_room(quiet: Agent) -> None:  # noqa: F811
    """A file for each branch of years is a leak."""
    ready(quiet.repo)
    folder = quiet.repo / ".git/holdfast/contexts"
    for n in range(kept_context.MOST_KEPT + 20):
        (folder / f"main-{n}").write_text("x")
        os.utime(folder / f"main-{n}", (n, n))
    Project.open(quiet.repo.path, drain=False)
    ready(quiet.repo)
    there = {path.name for path in folder.iterdir()}
    assert "main-main" in there and "main-0" not in there and len(there) <= kept_context.MOST_KEPT + 3


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_the_next_session_is_told_at_its_start_what_a_killed_one_was_at(agent: Agent, name: str) -> None:  # noqa: F811
    """Neither client says anything when it is killed, and whoever starts it again should not have to."""
    accepted(agent.repo, MARK)
    killed, asked = Agent(agent.repo, name), "Write the HFLEXER now, please."
    killed.fire("SessionStart", source="startup")
    killed.settle()
    until_prepared(agent.repo)
    if name == "claude":
        call = claude.assistant(claude.use("Bash", "toolu_1", command="make lexer"), cwd=str(agent.repo.path))
        claude.write(killed.transcript, claude.user(asked, cwd=str(agent.repo.path)), call)
        path = killed.transcript
    else:
        file = rollout(Path(os.environ["HOME"]) / ".codex", agent.repo.path, session=killed.session).asks(asked)
        path = file.runs("make lexer", code=None).path
    killed.fire("UserPromptSubmit", prompt=asked, transcript_path=str(path))
    killed.fire("PreToolUse", tool_name="Bash", tool_input={"command": "make lexer"}, transcript_path=str(path))
    later = Agent(agent.repo, name, session="5e55-0002")
    told = later.fire("SessionStart", source="startup")
    assert "HFMARK" in told
    if told.startswith("Prepared "):  # on a busy machine it took more than a second, and follows
        assert "changed since then: sessions" in told
        until_prepared(agent.repo)
        told = later.fire("UserPromptSubmit", prompt="go on")
    assert f"cut short: {asked}" in told


def test_a_start_beside_a_busy_session_waits_a_second_at_most(agent: Agent) -> None:  # noqa: F811
    """Its transcript may be long: then the last good context is told, and that sessions went on since."""
    accepted(agent.repo, MARK)
    agent.fire("SessionStart", source="startup")
    agent.settle()
    until_prepared(agent.repo)
    big = claude.user("x" * 4000, cwd=str(agent.repo.path))
    claude.write(agent.transcript, *({**big, "uuid": f"u{n}"} for n in range(1500)))
    agent.fire("UserPromptSubmit", prompt="go on")
    began = time.monotonic()
    told = Agent(agent.repo, session="5e55-0002").fire("SessionStart", source="startup")
    assert "HFMARK" in told and time.monotonic() - began < 4


def test_work_in_the_background_says_nothing(agent: Agent) -> None:  # noqa: F811
    """It has nobody to say it to."""
    ready(agent.repo)
    words = [sys.executable, "-I", agent_replies.__file__, "prepare"]
    done = subprocess.run(words, cwd=agent.repo.path, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    done = subprocess.run(words, cwd="/", capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_a_helper_gets_the_context_of_its_own(quiet: Agent, name: str) -> None:  # noqa: F811
    """A sub-agent has a conversation of its own: what its caller was told it does not know."""
    accepted(quiet.repo, MARK)
    ready(quiet.repo)
    here = Agent(quiet.repo, name)
    assert "HFMARK" in here.fire("SessionStart", source="startup")
    for helper in ("a1", "a2"):
        assert "HFMARK" in here.fire("SubagentStart", agent_id=helper, agent_type="explore")
        assert here.fire("SubagentStart", agent_id=helper, agent_type="explore") == ""  # installed twice
    assert here.fire("UserPromptSubmit", prompt="go on") == ""


def test_gemini_reads_a_guard_with_the_result_of_its_tool(quiet: Agent) -> None:  # noqa: F811
    """It ignores what is said before a tool; better late than never, and once."""
    rule = accepted(quiet.repo, "Migrations under db/ are never edited once released", applies_to=["db/**"])
    ready(quiet.repo)
    gemini = Agent(quiet.repo, "gemini")
    gemini.fire("SessionStart", source="startup")
    edit = {"tool_name": "replace", "tool_input": {"file_path": str(quiet.repo / "db/1.sql"), "new_string": "x"}}
    told = gemini.fire("AfterTool", **edit, tool_response={"llmContent": "ok"})
    assert rule in told and told.startswith("<holdfast-data ")
    assert gemini.fire("AfterTool", **edit, tool_response={"llmContent": "ok"}) == ""
    shell = {"tool_name": "run_shell_command", "tool_input": {"command": "ls"}}
    assert gemini.fire("AfterTool", **shell, tool_response={"llmContent": "ok"}) == ""
