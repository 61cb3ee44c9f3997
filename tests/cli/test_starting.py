"""`holdfast start`: one question, everything done, nothing done twice; and `holdfast uninstall`, which undoes it."""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.capture import claude_lines as claude
from tests.capture.rollouts import rollout
from tests.cli.test_main import on_a_terminal
from tests.conftest import PAST, Answer, Cli, GitRepo, make_repo
from tests.conftest import golden as compare

RULE = "POST requests must never be retried, because the customer is charged again."
CHOICE = "We decided to keep retries in src/retry.py because two callers need them."
TRIED = "We tried a retry decorator, and it did not work because it hid the request's method."
CODE = "SAFE = methods_without_a_second_charge('GET', 'HEAD')\ndef call_again_if_safe(send, request):\n"
THEIRS = '{\r\n\t"theme": "dark",\r\n\t"hooks": { "Stop": [ ] }\r\n}'


@pytest.fixture(autouse=True)
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only programs on the path: none of the agents of whoever runs these tests is among them."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in ("git", "sh", "kill", "sleep"):
        (folder / name).symlink_to(shutil.which(name) or name)
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture
def worked(world: Path, repo: GitRepo, monkeypatch: pytest.MonkeyPatch) -> GitRepo:
    """A repository in which Codex and Claude Code worked long ago, and a user with settings of their own."""
    sessions_of(world, repo)
    (world / ".claude/settings.json").write_text(THEIRS, newline="")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2026-02-01T10:05:00+0000")
    monkeypatch.setenv("GIT_AUTHOR_DATE", "2026-02-01T10:05:00+0000")
    repo.commit("src/retry.py", CODE, "Retry what is safe")
    monkeypatch.delenv("GIT_COMMITTER_DATE")
    monkeypatch.delenv("GIT_AUTHOR_DATE")
    return repo


def sessions_of(home: Path, repo: GitRepo) -> None:
    rollout(home / ".codex", repo.path).asks(RULE).patches("src/retry.py", CODE.splitlines()).done(CHOICE)
    file = home / f".claude/projects/-{repo.path.name}/{claude.SESSION}.jsonl"
    file.parent.mkdir(parents=True)
    told = [claude.user("Why is there no decorator?"), claude.assistant(claude.text(TRIED))]
    file.write_text("".join(json.dumps(one | {"cwd": str(repo.path)}) + "\n" for one in told))


def everything(*places: Path) -> dict[str, str]:
    """Every file and folder with its bytes and mode; what git refreshes by itself, and empty caches, left out."""
    found = {}
    for place in places:
        for root, folders, names in os.walk(place):
            for path in (Path(root, name) for name in [*folders, *names]):
                if path.name not in ("index", ".cache"):
                    data = path.read_bytes() if path.is_file() else b""
                    found[str(path)] = f"{path.lstat().st_mode:o} {hashlib.sha256(data).hexdigest()}"
    return found


def screen(said: Answer, world: Path, repo: GitRepo) -> str:
    """What somebody sees, without what differs from one run to the next."""
    text = f"{said.out}---\n{said.err}"
    text = text.replace(str(repo.path), "/home/ada/shop").replace(str(world), "/home/ada")
    text = re.sub(r"\b[0-9a-f]{12}\b", "0123456789ab", text)
    text = re.sub(r"\([\d.,]+ (KiB|bytes)\)", "(2.1 KiB)", text)  # transcripts name the folder
    text = re.sub(r"\d{8}T\d{6}Z-\w{6}", "20260201T100001Z-aaaaaa", text)
    text = re.sub(r"\b([A-Z]{3})-[0-9a-z]{6}\b", r"\1-aaaaaa", text)
    text = re.sub(r"\d{4}-\d\d-\d\d(, |  |: )", r"2026-02-01\1", text)
    text = re.sub(r"\b[0-9a-f]{40}\b", "0123456789abcdef0123456789abcdef01234567", text)
    return PAST.sub("9 days ago", text)


def golden(name: str, said: Answer, world: Path, repo: GitRepo) -> None:
    compare(name, screen(said, world, repo))


def runs(repo: GitRepo) -> list[str]:
    """The transcripts that were imported, once for each run."""
    told = [json.loads(path.read_text()) for path in (repo / ".git/holdfast/runs").glob("*/context.json")]
    return sorted(one["agent"]["session"] for one in told)


def hook(world: Path, repo: GitRepo, agent: str = "claude") -> list[Path]:
    """What a user's hook leaves when an agent calls it in a repository."""
    told = {"session_id": "s1", "cwd": str(repo.path), "hook_event_name": "Stop"}
    before = set((repo / ".git/holdfast/inbox").glob(f"{agent}-*"))
    launcher = world / ".local/share/holdfast/hook"
    subprocess.run([launcher, agent, "PostToolUse"], input=json.dumps(told).encode(), cwd=repo.path, check=True)
    found = set((repo / ".git/holdfast/inbox").glob(f"{agent}-*")) - before
    for path in found:
        path.unlink()
    return sorted(found)


def test_everything_is_set_up_connected_and_imported_at_once(cli: Cli, worked: GitRepo, world: Path) -> None:
    """Whoever tries a tool gives it one command and one minute."""
    worked.write("README", "a dirty tree\n")
    golden("start-fresh", cli("start", "--yes"), world, worked)
    assert len(runs(worked)) == 2, "sessions of months ago as well"
    assert worked.git("diff", "--name-only") == "README", "what was edited is still only edited"
    assert hook(world, worked) and hook(world, worked, "codex")


def test_without_agents_documents_and_commits_are_read(cli: Cli, repo: GitRepo, world: Path) -> None:
    """Who begins with agents today has a project that decided much before."""
    repo.commit("CLAUDE.md", "# Rules\n\n- Never log a session token.\n", "Say what must not happen")
    repo.commit("x", "1\n", "Cache the titles")
    repo.commit("x", "2\n", 'Revert "Cache the titles"\n\nIt is slower, because every title is read once.\n')
    golden("start-no-agents", cli("start", "--yes"), world, repo)
    assert not list(world.glob(".*/holdfast")), "no agent, no launcher"


def test_again_it_says_and_does_only_what_is_missing(cli: Cli, worked: GitRepo, world: Path) -> None:
    """People run it again to see whether all is well."""
    cli("start", "--yes")
    before = everything(world, worked / ".holdfast", worked / ".git/hooks")
    golden("start-again", cli("start"), world, worked)
    assert everything(world, worked / ".holdfast", worked / ".git/hooks") == before
    cli("hooks", "remove")
    rollout(world / ".codex", worked.path).asks("Anything else?").done("Nothing else, all is tested and committed.")
    plan = cli("start", ok=False)
    assert plan.code == 37 and "1. install git hooks" in plan.out and "2. import 1 session of Codex" in plan.out
    assert "\n  3." not in plan.out and "Codex connected" in plan.out
    assert "1 of 2 sessions of Codex imported" in plan.out
    done = cli("start", "--yes", "--json")
    assert len(json.loads(done.out)["done"]) == 2 and len(runs(worked)) == 3


def test_an_interrupt_says_what_was_done_and_the_next_start_goes_on(
    cli: Cli, worked: GitRepo, world: Path, programs: Path
) -> None:
    """Nobody should wonder in which state Ctrl-C left their agents."""
    before = everything(world)
    for number in ("INT", "TERM"):
        (programs / "claude").write_text(f"#!/bin/sh\nkill -{number} $PPID\nsleep 20\n")
        (programs / "claude").chmod(0o755)
        said = cli.spawn("start", "--yes", ok=False)
        assert said.code == 130
        if number == "INT":
            golden("start-interrupted", said, world, worked)
    assert "Codex connected" in said.out and "import" not in said.err.partition("Interrupted")[2]
    (programs / "claude").write_text("#!/bin/sh\nexit 0\n")
    assert "imported 1 run of Claude Code" in cli("start", "--yes").err
    assert len(runs(worked)) == 2
    cli("uninstall", "--yes")
    assert everything(world) == before


def test_a_kill_at_any_moment_costs_nothing_but_time(cli: Cli, worked: GitRepo, world: Path, seed: int) -> None:
    """Power cuts come without a question; what was imported must not come twice, or be forgotten."""
    before = everything(world)
    sessions = [rollout(world / ".codex", worked.path).asks(f"Step {n}?").done(f"Step {n} is done.") for n in range(6)]
    pauses = [0.3 + (seed * prime % 97) / 40 for prime in (3, 7, 11)]
    for pause in pauses:
        process = subprocess.Popen(
            [sys.executable, "-m", "holdfast", "start", "--yes"],
            cwd=worked.path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(pause)
        process.send_signal(signal.SIGKILL)
        process.wait()
    cli("start", "--yes")
    found = runs(worked)
    assert len(found) == len(set(found)) == 8, f"killed after {pauses}"
    assert cli("doctor").code == 0 and "To do" not in cli("start").out
    cli("uninstall", "--yes")
    for one in sessions:
        one.path.unlink()
    assert everything(world) == before, f"killed after {pauses}"


def test_two_at_once_do_everything_once(cli: Cli, worked: GitRepo, world: Path, tmp_path: Path) -> None:
    """Two terminals, two repositories, one user: settings of theirs that both write."""
    other = make_repo(tmp_path / "other")
    before = everything(world, worked.path, other.path)
    command = [sys.executable, "-m", "holdfast", "start", "--yes"]
    places = (worked.path, worked.path, other.path)
    started = [
        subprocess.Popen(command, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for place in places
    ]
    said = [(one.communicate(timeout=120), one.returncode) for one in started]
    assert [code for _, code in said] == [0, 0, 0], said
    assert len(runs(worked)) == 2 and hook(world, worked) and hook(world, other)
    for place in (worked, other):
        assert Cli(place.path)("start").out.count("Claude Code connected") == 1
        Cli(place.path)("uninstall", "--yes")
    assert everything(world, worked.path, other.path) == before


def test_uninstall_leaves_nothing_behind(cli: Cli, worked: GitRepo, world: Path) -> None:
    """Who takes a tool out wants to be as before: repository, git's settings, agents' settings, folders of theirs."""
    worked.write("README", "a dirty tree\n")
    worked.write(".git/hooks/post-commit", "#!/bin/sh\necho mine\n").chmod(0o755)
    before = everything(world, worked.path)
    cli("start", "--yes")
    assert "echo mine" in (worked / ".git/hooks/post-commit").read_text()
    said = cli("uninstall", "--yes").out
    assert "reverted ~/.claude/settings.json" in said and "post-commit" in said
    assert everything(world, worked.path) == before


def test_uninstall_names_what_it_must_leave(cli: Cli, worked: GitRepo, world: Path) -> None:
    """A rule that somebody wrote into our block is theirs."""
    cli("start", "--yes")
    file = worked / "AGENTS.md"
    file.write_text(file.read_text().replace("Take work", "Steal work"))
    said = cli("uninstall", "--yes").out
    assert "left: somebody edited inside the block at AGENTS.md" in said
    assert "Steal work" in file.read_text() and not (worked / "CLAUDE.md").exists()
    assert (world / ".claude/settings.json").read_bytes() == THEIRS.encode()


def test_hooks_of_the_user_stay_as_long_as_a_repository_uses_them(
    cli: Cli, worked: GitRepo, world: Path, tmp_path: Path
) -> None:
    """Who tidies up one repository must not lose the memory of the others."""
    other = make_repo(tmp_path / "other")
    before = everything(world)
    there = Cli(other.path)
    cli("start", "--yes")
    assert "connect Claude Code: CLAUDE.md, ~/other" not in there("start", ok=False).out
    there("start", "--yes")
    assert hook(world, worked) and hook(world, other)
    said = cli("disconnect", "--yes").out
    assert "no longer uses the hooks in your own settings" in said and str(other.path) in said
    assert not hook(world, worked) and hook(world, other), "silent here, at work there"
    health = {one["id"]: one for one in json.loads(cli("doctor", "--json").out)["tools"]}
    assert health["claude"]["connected"] is None and health["claude"]["next_step"] == "holdfast connect claude"
    assert cli("disconnect", "--yes").out.startswith("Nothing to change.")
    cli("connect", "claude", "--yes")
    assert hook(world, worked) and not hook(world, worked, "codex")
    assert cli("connect", "claude").out.startswith("Nothing to change.")
    cli("uninstall", "--yes")
    assert hook(world, other), "uninstalling one is no different"
    there("disconnect", "--yes")
    assert everything(world) == before, "gone with the last that used them"


def test_a_repository_that_never_connected_is_served_and_counted(
    cli: Cli, worked: GitRepo, world: Path, tmp_path: Path
) -> None:
    """Hooks in the user's settings serve every clone; disconnecting one must not silence those nobody wrote down."""
    other = make_repo(tmp_path / "other")
    cli("start", "--yes")
    Cli(other.path)("init")
    told = {"session_id": "s2", "cwd": str(other.path), "hook_event_name": "Stop"}
    launcher = world / ".local/share/holdfast/hook"
    subprocess.run([launcher, "claude", "PostToolUse"], input=json.dumps(told).encode(), cwd=other.path, check=True)
    Cli(other.path)("status")
    cli("disconnect", "--yes")
    assert hook(world, other) and not hook(world, worked)
    said = cli("disconnect", "claude", "--scope", "user", "--yes").out
    assert "disconnected in" in said and str(other.path) in said
    assert not (world / ".local").exists(), "everywhere, because it was asked for"


def test_nothing_is_written_before_a_yes(cli: Cli, worked: GitRepo, world: Path) -> None:
    """In a script, or with an n, the plan is all there is."""
    before = everything(world, worked.path)
    plan = cli("start", ok=False)
    assert plan.code == 37 and "holdfast start --yes" in plan.err and "import 1 session of Codex" in plan.out
    steps: list[str] = json.loads(cli("start", "--json", ok=False).out)["steps"]
    assert len(steps) == 6 and not list(world.glob(".cache/*"))
    code, seen = on_a_terminal(worked.path, "start", typed="n\n", after="[y/N]")
    assert (code, seen.count("[y/N]")) == (1, 1) and "Nothing was done." in seen
    assert everything(world, worked.path) == before
    code, seen = on_a_terminal(worked.path, "start", typed="y\n", after="[y/N]")
    assert (code, seen.count("[y/N]")) == (0, 1) and "Review these first" in seen, seen


def test_a_folder_without_git_is_made_a_repository(world: Path, tmp_path: Path) -> None:
    """A project begins as a folder."""
    (tmp_path / "new").mkdir()
    (world / ".gemini").mkdir()
    here = Cli(tmp_path / "new")
    assert "1. make this folder a git repository" in here("start", ok=False).out
    assert not (tmp_path / "new/.git").exists()
    here("start", "--yes")
    assert (tmp_path / "new/.holdfast/holdfast.toml").exists() and (tmp_path / "new/GEMINI.md").exists()
    assert "To do" not in here("start").out


def test_where_it_cannot_start_it_says_why_in_a_sentence(tmp_path: Path) -> None:
    """A bare repository, or one of somebody else's, is no place to set up; half of it would be worse than none."""
    bare = tmp_path / "bare.git"
    subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True)
    said = Cli(bare)("start", "--yes", ok=False)
    assert said.code == 10 and "is a bare repository" in said.err and said.out == ""
    if os.geteuid() == 0:
        foreign = make_repo(tmp_path / "foreign")
        os.chown(foreign.path, 12345, 12345)
        os.chown(foreign / ".git", 12345, 12345)
        said = Cli(foreign.path)("start", "--yes", ok=False)
        assert said.code == 10 and "git does not trust" in said.err and not (foreign / ".holdfast").exists()


def test_what_one_agent_refuses_does_not_hold_up_the_rest(cli: Cli, worked: GitRepo, world: Path) -> None:
    """Settings that cannot be read are their owner's to mend; everything else is done."""
    (world / ".codex/hooks.json").write_text("{ no json")
    said = cli("start", "--yes")
    assert "Left out: codex: ~/.codex/hooks.json" in said.out and "connected Claude Code" in said.err
    assert (world / ".codex/hooks.json").read_text() == "{ no json" and len(runs(worked)) == 2
    again: dict[str, Any] = json.loads(cli("start", "--json").out.splitlines()[0])
    assert again["steps"] == [] and len(again["cannot"]) == 1
