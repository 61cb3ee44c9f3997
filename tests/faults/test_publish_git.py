"""Laws 1 and 2 for publishing: our process ends just before, during or just after any call of git.

A git whose caller is killed goes on alone. If its input came through a pipe, it gets only what was written
by then, and an empty list or half a name may mean every file there is.
"""

import json
import os
import shutil
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from holdfast.errors import PublishRefused
from holdfast.git import publish, repo
from holdfast.git.clone import Clone
from holdfast.git.project_setup import initialise
from tests.conftest import GitRepo, Quick, make_repo

from .disk import plugged
from .scene import Scene, check_nothing_lost, check_published
from .test_append_faults import in_child

GIT = """\
#!/bin/sh
# Stands before the real git. At the chosen call it kills the process that calls it: before git starts, after
# git has ended, or when that process has written so many bytes of git's input; then git goes on alone.
count=$(($(wc -l < "$CALLS") + 1))
echo "$*" >> "$CALLS"
[ $count -eq $AT ] || exec "$REAL_GIT" "$@"
case $WHEN in
before)
  kill -9 $PPID; exit 1 ;;
after)
  "$REAL_GIT" "$@"; kill -9 $PPID ;;
*)
  if [ -p /dev/stdin ]; then head -c $WHEN > "$CALLS.input"; exec < "$CALLS.input"; fi
  kill -9 $PPID
  if [ -n "$SLOW" ]; then echo > "$CALLS.waits"; while [ ! -e "$CALLS.go" ]; do sleep 0.02; done; fi
  "$REAL_GIT" "$@" > "$CALLS.out" 2>&1
  echo > "$CALLS.ended" ;;
esac
"""
PREFIX = len(":(top,literal)")  # cut here, a list of paths for git names the whole work tree
WRITING = ("hash-object", "update-index", "commit")


class Shim:
    """A folder with a `git` that kills whoever calls it at a chosen call."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder, self.calls = folder, folder / "calls"
        (folder / "git").write_text(GIT)
        (folder / "git").chmod(0o755)

    def publish(self, scene: Scene, *, at: int, when: str, slow: bool = False) -> list[str]:
        """Publish in a process that git's `at`-th call ends; gives the calls that there were."""
        return self.act(lambda: partial(publish.publish, scene.clone()), at=at, when=when, slow=slow)

    def act(self, begin: Callable[[], Callable[[], object]], *, at: int, when: str, slow: bool = False) -> list[str]:
        """The same of any act, which `begin` gives without being killed."""
        for left in self.folder.glob("calls*"):
            left.unlink()
        self.calls.write_text("")
        path = f"{self.folder}:{os.environ['PATH']}"
        real = {"REAL_GIT": shutil.which("git") or "git", "PATH": path, "SLOW": "1" if slow else ""}

        def child(_: object) -> None:
            todo = begin()
            os.environ.update(real, CALLS=str(self.calls), AT=str(at), WHEN=when)
            with plugged(Quick()):
                todo()

        code, _ = in_child(child)
        assert code == (-9 if at else 0)
        if when.isdigit() and not slow:
            self.wait("ended")
        return self.calls.read_text().splitlines()

    def wait(self, what: str) -> None:
        deadline = time.monotonic() + 30
        while not (self.folder / f"calls.{what}").exists():
            assert time.monotonic() < deadline, f"git never {what}"
            time.sleep(0.005)

    def go_on(self) -> None:
        (self.folder / "calls.go").touch()
        self.wait("ended")


def kill(scene: Scene, shim: Shim, scratch: Path, *, at: int, when: str) -> None:
    struck = scene.at(scratch / f"git-{at}-{when}" / "repo")
    call = shim.publish(struck, at=at, when=when)[-1]
    what = f"killed at {when} of git call {at} ({call[:80]})"
    with plugged(Quick()):
        check_nothing_lost(struck, what)
        check_published(struck, what)
    shutil.rmtree(struck.path.parent)


def calls_of(scene: Scene, shim: Shim, scratch: Path) -> list[str]:
    calls = shim.publish(scene.at(scratch / "quiet" / "repo"), at=0, when="never")
    assert len(calls) > 5
    return calls


def play_git(scene: Scene, scratch: Path, *, every: int, first: int) -> None:
    shim = Shim(scratch / "bin")
    calls = calls_of(scene, shim, scratch)
    moments = ("before", "0", str(PREFIX), "after")
    for number in range(first % every, len(moments) * len(calls), every):
        kill(scene, shim, scratch, at=1 + number // len(moments), when=moments[number % len(moments)])


def test_a_publish_killed_around_a_call_of_git_loses_nothing(scene: Scene, scratch: Path, seed: int) -> None:
    """Between adding and committing the index holds what no commit has."""
    play_git(scene, scratch, every=17, first=seed)


@pytest.mark.torture
def test_a_publish_killed_around_any_call_of_git_loses_nothing(scene: Scene, scratch: Path) -> None:
    """The same around every call."""
    play_git(scene, scratch, every=1, first=0)


def writing(calls: list[str]) -> list[int]:
    return [number for number, call in enumerate(calls, 1) if any(f" {word} " in call for word in WRITING)]


def test_no_input_cut_short_makes_git_add_other_files(scene: Scene, scratch: Path) -> None:
    """The ignored .env would be in the user's next commit."""
    shim = Shim(scratch / "bin")
    found = writing(calls_of(scene, shim, scratch))
    assert len(found) == 3
    for at, when in zip(found, (str(PREFIX + 9), "0", str(PREFIX)), strict=True):
        kill(scene, shim, scratch, at=at, when=when)


@pytest.mark.torture
def test_no_byte_at_which_the_input_ends_makes_git_add_other_files(scene: Scene, scratch: Path) -> None:
    """The same at every byte of the first names, and where a pipe is full."""
    shim = Shim(scratch / "bin")
    for at in writing(calls_of(scene, shim, scratch)):
        for when in (*range(120), 4096, 65536):
            kill(scene, shim, scratch, at=at, when=str(when))


def test_recovery_waits_for_a_git_that_still_writes_the_index(scene: Scene, scratch: Path) -> None:
    """A publish undone while its git is starting would be staged again by that git a moment later."""
    shim = Shim(scratch / "bin")
    calls = calls_of(scene, shim, scratch)
    (adding,) = [number for number in writing(calls) if " update-index " in calls[number - 1]]
    shim.publish(scene, at=adding, when="0", slow=True)
    shim.wait("waits")
    with plugged(Quick()):
        assert publish.resume(scene.clone()) is None
        assert (scene.path / ".git/holdfast/publishing.json").exists()
        shim.go_on()
        check_nothing_lost(scene, "git was slow to start")
        check_published(scene, "git was slow to start")


def cut_short(scene: Scene, scratch: Path) -> Path:
    """A publish that was killed before git stored anything; gives its journal."""
    shim = Shim(scratch / "bin")
    shim.publish(scene, at=writing(calls_of(scene, shim, scratch))[0], when="before")
    return scene.path / ".git/holdfast/publishing.json"


def test_nothing_is_undone_or_published_while_another_git_holds_the_index(
    scene: Scene, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That git may be the one of the publish that was killed, about to stage what would be taken back."""
    journal = cut_short(scene, scratch)
    before = journal.read_bytes()
    monkeypatch.setattr(repo, "LOCK_TRIES", 2)
    lock = scene.path / ".git/index.lock"
    lock.touch()
    with plugged(Quick()):
        assert "cannot be undone yet" in (publish.resume(scene.clone()) or "")
        with pytest.raises(PublishRefused, match="cannot be undone yet"):
            publish.publish(scene.clone())
        assert journal.read_bytes() == before
        lock.unlink()
        check_nothing_lost(scene, "the index was locked")
        assert not journal.exists()


def test_a_journal_that_does_not_say_where_it_happened_is_left_alone(scene: Scene, scratch: Path) -> None:
    """What a damaged record names may be another work tree: nothing is taken back there."""
    journal = cut_short(scene, scratch)
    record, files = json.loads(journal.read_text()), sorted(scene.path.rglob("*.md"))
    for name in ("top", "worktree", "line", "adds"):
        journal.write_text(damaged := json.dumps(record | {name: 1}))
        with plugged(Quick()):
            assert publish.resume(scene.clone()) is None
            with pytest.raises(PublishRefused, match="does not name its work tree"):
                publish.publish(scene.clone())
        assert journal.read_text() == damaged
        assert sorted(scene.path.rglob("*.md")) == files


@pytest.mark.parametrize("earlier", [True, False])
def test_what_a_publish_of_an_earlier_version_swept_up_is_unstaged(scene: Scene, scratch: Path, earlier: bool) -> None:
    """It ran `git add -A`; today's never does, so an ignored file that is staged then is the user's wish."""
    shim = Shim(scratch / "bin")
    shim.publish(scene, at=writing(calls_of(scene, shim, scratch))[0], when="before")
    journal = scene.path / ".git/holdfast/publishing.json"
    record = json.loads(journal.read_text())
    assert record.pop("adds") == "entries"
    if earlier:
        journal.write_text(json.dumps(record))
    scene.git("add", "-f", "-A")
    assert ".env" in (swept := scene.users_index())
    with plugged(Quick()):
        said = publish.resume(scene.clone()) or ""
    assert scene.users_files() == scene.files
    if earlier:
        assert "it had staged 4 files that are not Holdfast's (.env, README, mine.txt …)" in said
        assert scene.git("diff", "--cached", "--name-only", "--", ".", ":(exclude).holdfast") == ""
    else:
        assert "staged" not in said
        assert scene.users_index() == swept


def test_an_init_killed_around_any_call_of_git_leaves_nothing_staged(tmp_path: Path) -> None:
    """The user's next commit would carry our two files."""
    shim = Shim(tmp_path / "bin")
    cache = str(tmp_path / "cache")

    def repo_at(name: str) -> GitRepo:
        repo = make_repo(tmp_path / name)
        repo.commit("README")
        repo.write("mine.py", "x = 1\n")
        repo.git("add", "mine.py")
        return repo

    def calls(repo: GitRepo, *, at: int, when: str) -> list[str]:
        return shim.act(lambda: partial(initialise, str(repo.path), cache=cache, commit=True), at=at, when=when)

    found = calls(repo_at("quiet"), at=0, when="never")
    first = next(at for at, call in enumerate(found, 1) if " check-attr " in call)
    for at in range(first, len(found) + 1):
        for when in ("before", "0", "after"):
            repo = repo_at(f"killed-{at}-{when}")
            call = calls(repo, at=at, when=when)[-1]
            what = f"killed at {when} of git call {at} ({call[:80]})"
            clone = Clone.open(str(repo.path), cache=cache)
            publish.resume(clone)
            assert repo.git("diff", "--cached", "--name-only").split() == ["mine.py"], what
            assert not Path(clone.layout.publishing).exists(), what
            assert {".gitattributes", "holdfast.toml"} <= set(os.listdir(repo / ".holdfast")), what
            initialise(str(repo.path), cache=cache, commit=True)
            assert len(repo.git("ls-tree", "--name-only", "HEAD", ".holdfast/").split()) == 2, what
            assert repo.git("diff", "--cached", "--name-only").split() == ["mine.py"], what
