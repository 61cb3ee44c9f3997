"""Git run for people: what it complains about is said in words that lead on."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.errors import GitFailed, NotARepository, PublishRefused
from holdfast.git import project_setup
from holdfast.git import repo as git
from holdfast.git.repo import Repo
from holdfast.store import layout
from tests.conftest import Cli, GitRepo, init
from tests.git.place import Place


@pytest.mark.parametrize("before", [(), ("-c", "core.safecrlf=false"), ("--literal-pathspecs",)])
def test_a_failure_names_the_command_that_failed(repo: GitRepo, before: tuple[str, ...]) -> None:
    """The hint says to run that command by hand; `git core.safecrlf=false` is none."""
    found = Repo.discover(str(repo.path))
    with pytest.raises(GitFailed, match=r"^`git add` failed: "):
        found.run(*before, "add", "nothing")
    with pytest.raises(GitFailed, match=r"^`git add` failed: "):
        found.patiently(*before, "add", "nothing")


def test_a_git_folder_is_not_called_a_bare_repository(repo: GitRepo, tmp_path: Path) -> None:
    """Who stands in .git needs one step back, not another clone."""
    with pytest.raises(NotARepository, match="is inside a git folder") as refused:
        Repo.discover(str(repo / ".git"))
    assert "work tree" in refused.value.hint
    repo.git("clone", "-q", "--bare", str(repo.path), str(tmp_path / "bare"))
    with pytest.raises(NotARepository, match="is a bare repository"):
        Repo.discover(str(tmp_path / "bare"))


def test_a_folder_without_git_is_named_in_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dot says nothing to whoever reads it in a log."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NotARepository, match=f"^{tmp_path} is not inside a git repository"):
        Repo.discover(".")


@pytest.mark.skipif(sys.platform == "win32", reason="there a folder in use cannot be deleted")
@pytest.mark.parametrize("command", ["status", "log", "recall", "init"])
def test_a_deleted_current_folder_is_said_in_one_sentence(cli: Cli, repo: GitRepo, command: str) -> None:
    """It happens whenever a branch is switched under a terminal."""
    init(cli.cwd, commit=True)
    folder = repo / "d"
    folder.mkdir()
    gone = f"cd '{folder}' && rmdir '{folder}' && exec '{sys.executable}' -m holdfast {command}"
    done = os.popen(f"( {gone} ) 2>&1; echo code $?").read()
    assert "code 10" in done, done
    assert "the current folder no longer exists" in done
    assert "Traceback" not in done


def unnamed(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine where nobody told git their name."""
    place.git("config", "user.useConfigOnly", "true")
    for name in ("user.name", "user.email"):
        place.git("config", "--global", "--unset-all", name)
    monkeypatch.delenv("EMAIL", raising=False)


def test_publishing_without_an_identity_says_how_to_give_one(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """No hook complained, so nobody should look for one."""
    place.ran("r1")
    unnamed(place, monkeypatch)
    with pytest.raises(PublishRefused, match="has no name and email for commits") as refused:
        place.publish()
    assert "user.name" in refused.value.hint
    place.git("config", "user.name", "Ada")
    place.git("config", "user.email", "ada@example.org")
    assert place.publish().events == 1


def test_an_empty_name_is_no_identity(place: Place) -> None:
    """Git has its own words for this one."""
    place.ran("r1")
    place.git("config", "user.name", "")
    with pytest.raises(PublishRefused, match="has no name and email for commits"):
        place.publish()


def test_setting_up_without_an_identity_says_how_to_give_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the first thing a new machine meets."""
    place = Place.make(tmp_path / "repo", commit=False)
    unnamed(place, monkeypatch)
    with pytest.raises(PublishRefused, match="has no name and email for commits"):
        project_setup.initialise(str(place.repo.path), cache=place.cache, commit=True)


def test_uninstalling_cleans_every_work_tree(place: Place, tmp_path: Path) -> None:
    """Views of the log in a forgotten work tree would outlive the log; what its branch tracks is not ours."""
    place.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "other"))
    place.git("worktree", "add", "-q", "-b", "gone", str(tmp_path / "gone"))
    place.git("worktree", "add", "-q", "-b", "own", str(tmp_path / "own"))
    for name in ("other", "own"):
        for folder in (layout.VIEW, layout.LOCAL):
            (tmp_path / name / folder).mkdir(parents=True)
            (tmp_path / name / folder / "log.md").write_text("what was recorded\n")
    own = GitRepo(tmp_path / "own")
    own.git("add", "-f", layout.VIEW)
    own.git("commit", "-q", "-m", "somebody tracks the view")
    os.rename(tmp_path / "gone", tmp_path / "moved")
    clone = place.open()

    done = project_setup.uninstall(clone.repo, clone.private, clone.repo_id)

    assert str(tmp_path / "other" / layout.VIEW) in done.removed
    assert GitRepo(tmp_path / "other").git("status", "--porcelain", "--ignored") == ""
    assert (tmp_path / "other" / layout.ATTRIBUTES).exists()
    assert own.status() == ""
    assert not (tmp_path / "own" / layout.LOCAL).exists()


def test_an_edit_that_keeps_size_and_time_is_seen(repo: GitRepo) -> None:
    """`cp -p` and `rsync -t` put the old time on a new text."""
    repo.write(".holdfast/tasks/one.md", "one\n")
    repo.git("add", "-f", ".holdfast")
    repo.git("commit", "-qm", "a task")
    path = repo / ".holdfast/tasks/one.md"
    facts = path.stat()
    time.sleep(0.05)
    asked = Repo.discover(str(repo.path))
    assert asked.status(layout.TASKS) == {}
    first = asked.entry_facts()
    path.write_text("two\n")
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert asked.entry_facts() != first
    time.sleep(0.05)
    assert Repo.discover(str(repo.path)).status(layout.TASKS) == {".holdfast/tasks/one.md": " M"}


def _asked(repo: GitRepo, ask: Callable[[Repo], object]) -> tuple[object, int]:
    """What a new process would learn, and how many git processes it would start."""
    calls = repo.path.parent / "calls"
    calls.write_text("")
    there = Repo.at(str(repo.path))
    found = ask(there)
    there.leave_answers()
    return found, len(calls.read_text().split())


@pytest.fixture
def counting(repo: GitRepo, monkeypatch: pytest.MonkeyPatch) -> GitRepo:
    """A repository, and a `git` that counts how often it is started."""
    script = repo.path.parent / "bin" / "git"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\necho x >>"{repo.path.parent}/calls"\nexec {shutil.which("git")} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")
    return repo


def test_what_one_command_asked_serves_the_next_whatever_came_between(counting: GitRepo) -> None:
    """An answer that the next command drops is paid for at every other command."""
    first = counting.commit("a.txt")
    counting.commit("b.txt")
    questions: list[Callable[[Repo], object]] = [
        lambda there: there.text("remote"),
        lambda there: there.text("diff", "--name-only", first, "HEAD", "--"),
        lambda there: there.text("merge-base", "HEAD", first),
    ]
    before = [_asked(counting, ask) for ask in questions]
    assert before == [("", 1), ("b.txt", 1), (first, 1)]
    assert [_asked(counting, ask) for ask in questions] == [(found, 0) for found, _ in before]
    counting.commit("c.txt")
    counting.git("remote", "add", "away", "../away")
    after = [_asked(counting, ask)[0] for ask in questions]
    assert after == ["away", "b.txt\nc.txt", first]


def test_a_commit_that_arrives_later_is_found(counting: GitRepo, tmp_path: Path) -> None:
    """A kept "not here" would hide what a fetch brought."""
    counting.commit("a.txt")
    other = GitRepo(tmp_path / "other")
    counting.git("clone", "-q", str(counting.path), str(other.path))
    late = other.commit("late.txt")
    nothing, found = ("diff", "--name-only", late, "HEAD", "--"), "late.txt"
    assert _asked(counting, lambda there: there.text(*nothing, ok=range(256)))[0] == ""
    counting.git("fetch", "-q", str(other.path))
    assert _asked(counting, lambda there: there.text(*nothing, ok=range(256)))[0] == found


@pytest.mark.parametrize(
    "record", [b"", b"\xff\n", b"5\n", b'{"shapes": 3}\n', b'{"shapes": {"remote": ["x", -1, 99]}}\n', b"[" * 99_999]
)
def test_a_damaged_answer_is_asked_for_again(counting: GitRepo, record: bytes) -> None:
    """What is kept for speed must never be what stops a command."""
    (counting / ".git" / "holdfast-answers").write_bytes(record)
    assert _asked(counting, lambda there: there.text("remote")) == ("", 1)
    assert _asked(counting, lambda there: there.text("remote")) == ("", 0)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
@pytest.mark.parametrize("folder", [layout.MEMORY, layout.TASKS, layout.LINKS])
@pytest.mark.parametrize("kind", ["file", "pipe"])
def test_what_stands_in_the_place_of_an_entry_folder_stops_nothing(repo: GitRepo, folder: str, kind: str) -> None:
    """A checkout of another project's branch may bring a file of that name; every command looks there."""
    repo.write(".holdfast/x", "")
    there = repo.path.joinpath(*folder.split("/"))
    there.write_text("x") if kind == "file" else os.mkfifo(there)
    found = Repo.discover(str(repo.path))
    assert found.status(layout.MEMORY, layout.TASKS, layout.LINKS) == {}
    found.entry_facts()


@pytest.mark.parametrize(
    ("reason", "times"), [("File exists", 5), ("Read-only file system", 1), ("Permission denied", 1)]
)
def test_settings_that_cannot_be_written_are_not_waited_for(
    repo: GitRepo, monkeypatch: pytest.MonkeyPatch, reason: str, times: int
) -> None:
    """In a sandbox every command would wait for seconds: that lock never goes away."""
    found, asked = Repo.discover(str(repo.path)), []
    complaint = f"error: could not lock config file .git/config: {reason}".encode()

    def refuse(*args: str, **_: object) -> subprocess.CompletedProcess[bytes]:
        asked.append(args)
        return subprocess.CompletedProcess(args, 255, b"", complaint)

    monkeypatch.setattr(git, "LOCK_TRIES", 5)
    monkeypatch.setattr(git, "LOCK_PAUSE", 0)
    monkeypatch.setattr(found, "attempt", refuse)
    assert found.attempt_patiently("config", "a.b", "c").returncode == 255
    assert len(asked) == times
