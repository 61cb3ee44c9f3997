"""Laws 1, 2 and 5 for sealing and publishing: whatever call fails, dies or is forgotten by the disk.

Afterwards a fresh command finds everything that was recorded, no staged deletion and no leftover
file, and publishes.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.errors import GitFailed, HoldfastError, NotStored, PublishRefused, ReadOnlyStore
from holdfast.git import publish, repo
from tests.conftest import Quick
from tests.git.place import Place

from .disk import ERRORS, KILLED, KILLS, Fault, Faulty, Recorder, Recording, State, Tree, crash_states, plugged

RUNS = {"old", "r1", "r2", "inherited"}
FACTS = {"old": "It has changed.", "one": "It is so.", "parent": "It is so."}
NEVER = Fault("never")
USER = "M README\nA  staged"  # the user's own work, which nobody touches


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project in which a publish has everything to do: own and inherited, new and changed, two spools."""
    root = tmp_path_factory.mktemp("template")
    with plugged(Quick()):
        place = Place.make(root / "repo")
        place.ran("old")
        place.keep("old")
        place.publish()
        place.ran("inherited")
        place.keep("parent")
        place.git("switch", "-q", "-c", "feat")
        place.ran("r1")
        place.ran("r2")
        place.keep("one")
        place.keep("old", "It has changed.")
        place.repo.write("README", "somebody's edit\n")
        place.repo.write("staged", "somebody's addition\n")
        place.git("add", "staged")
    return root


@pytest.fixture(autouse=True)
def _template_needs_a_home(world: Path) -> None:
    """The template is made once, in the first test's home."""


def fresh(world: Path, tmp_path: Path, name: str) -> Place:
    shutil.copytree(world / "repo", tmp_path / name / "repo", symlinks=True)
    place = Place.at(Place(None, str(tmp_path / name / "cache")), tmp_path / name / "repo")  # type: ignore[arg-type]
    place.git("update-index", "-q", "--refresh", ok=False)  # copying changed the times of files
    return place


def check(place: Place, *, why: str, runs: set[str] | None = None) -> None:
    """What must be true for whoever comes next, and that publishing works again."""
    runs = runs or RUNS
    with plugged(Quick()):
        before = place.git("rev-parse", "HEAD")
        place.recover()
        assert place.recover() is None
        assert place.all_runs() >= runs, why
        assert place.runs() == runs, why
        assert place.facts() == FACTS, why
        assert place.status() == USER, why
        place.publish()
        assert place.waits() == set(), why
        assert place.runs() == runs, why
        assert place.facts() == FACTS, why
        assert place.verdict() == "ok", why
        assert place.status() == USER, why
        assert place.publish().commit is None, why
        published = place.git("ls-tree", "-r", "--name-only", "HEAD", ".holdfast").split()
        assert sum(path.endswith(".md") for path in published) == 3, why
        assert int(place.git("rev-list", "--count", f"{before}..HEAD")) <= 1, why


def calls(world: Path, tmp_path: Path) -> int:
    place = fresh(world, tmp_path, "counted")
    ops = Faulty(-1, NEVER, Quick())
    clone = place.open()
    with plugged(ops):
        publish.publish(clone)
    check(place, why="undisturbed")
    return len(ops.names)


def fail_at(world: Path, tmp_path: Path, at: int, fault: Fault) -> None:
    place = fresh(world, tmp_path, f"{at}-{fault}")
    clone = place.open()
    ops = Faulty(at, fault, Quick())
    refused: HoldfastError | None = None
    with plugged(ops):
        try:
            publish.publish(clone)
        except HoldfastError as error:
            refused = error
    why = f"call {at} ({ops.struck}) answered with {fault}: {refused!r}"
    assert ops.struck, why
    if refused is not None:
        assert isinstance(refused, NotStored | ReadOnlyStore), why
        assert refused.hint
    check(place, why=why)
    shutil.rmtree(tmp_path / f"{at}-{fault}")


def kill_at(world: Path, tmp_path: Path, at: int, fault: Fault) -> None:
    place = fresh(world, tmp_path, f"{at}-{fault}")
    clone = place.open()
    child = os.fork()
    if child == 0:
        try:
            with plugged(Faulty(at, fault, Quick())):
                publish.publish(clone)
        finally:
            os._exit(99)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == KILLED
    check(place, why=f"killed at call {at} ({fault})")
    shutil.rmtree(tmp_path / f"{at}-{fault}")


def spread(count: int, faults: tuple[Fault, ...], seed: int, share: int) -> list[tuple[int, Fault]]:
    """Every call once, each with one of the faults, or a share of them all."""
    dice = random.Random(seed)
    return [(at, dice.choice(faults)) for at in range(dice.randrange(share), count, share)]


def test_a_publish_that_fails_at_any_call_is_taken_back(world: Path, tmp_path: Path, seed: int) -> None:
    """A full disk in the middle of a publish must leave neither half a commit nor a staged deletion."""
    for at, fault in spread(calls(world, tmp_path), ERRORS, seed, 18):
        fail_at(world, tmp_path, at, fault)


def test_a_publish_killed_at_any_call_is_undone_or_finished(world: Path, tmp_path: Path, seed: int) -> None:
    """The next command, whichever it is, tidies up."""
    for at, fault in spread(calls(world, tmp_path), KILLS, seed, 18):
        kill_at(world, tmp_path, at, fault)


@pytest.mark.torture
@pytest.mark.parametrize("fault", ERRORS, ids=str)
def test_every_call_of_a_publish_may_fail(world: Path, tmp_path: Path, fault: Fault) -> None:
    """The same for every call and every error."""
    for at in range(calls(world, tmp_path)):
        fail_at(world, tmp_path, at, fault)


@pytest.mark.torture
@pytest.mark.parametrize("fault", KILLS, ids=str)
def test_every_call_of_a_publish_may_be_the_last(world: Path, tmp_path: Path, fault: Fault) -> None:
    """The same for every call and every way to die."""
    for at in range(calls(world, tmp_path)):
        kill_at(world, tmp_path, at, fault)


# Power cuts. Git's own files are taken as git left them after each of its commands: it orders its
# writes itself. What we wrote is lost, torn or kept in every way the disk may choose.


class Watching(Recorder):
    """Also keeps git's folder as it is at each call."""

    def __init__(self, root: str, git: Callable[[], bytes]) -> None:
        super().__init__(root, Quick())
        self._git, self.states = git, [(0, git())]

    def look(self) -> None:
        now = self._git()
        if now != self.states[-1][1]:
            self.states.append((len(self.ops), now))


def packed(place: Place) -> bytes:
    """Git's folder without ours, as bytes."""
    args = ["tar", "-C", str(place.repo.path), "--exclude=.git/holdfast*", "--mtime=@0", "--sort=name", "-cf", "-"]
    return subprocess.run([*args, ".git"], check=True, capture_output=True).stdout


def power_cuts(world: Path, tmp_path: Path, *, limit: int, seed: int, most: int) -> int:
    place = fresh(world, tmp_path, "recorded")
    root = str(place.repo.path)
    clone = place.open()
    before = Tree.read(root)
    inodes = {name: os.stat(os.path.join(root, name)).st_ino for name in before.files}
    watching = Watching(root, lambda: packed(place))
    run = repo.Repo.attempt

    def attempt(self: repo.Repo, *args: str, **options: object) -> subprocess.CompletedProcess[bytes]:
        done = run(self, *args, **options)  # type: ignore[arg-type]
        if options.get("write"):
            watching.look()
        return done

    repo.Repo.attempt = attempt  # type: ignore[method-assign,assignment]
    try:
        with plugged(watching):
            publish.publish(clone)
    finally:
        repo.Repo.attempt = run  # type: ignore[method-assign]
    recording = Recording(before, inodes, watching.ops, [])
    dice = random.Random(seed)
    states = list(crash_states(recording, limit=limit, choose=dice))
    for number, state in enumerate(dice.sample(states, min(most, len(states)))):
        after_cut(tmp_path / f"cut{number}", state, watching.states)
    return len(states)


def is_ours(name: str) -> bool:
    return name.split("/", maxsplit=1)[0] != ".git" or name.startswith(".git/holdfast")


def after_cut(root: Path, state: State, gits: list[tuple[int, bytes]]) -> None:
    ours = Tree(
        {n: d for n, d in state.tree.files.items() if not n.startswith(".git/") or n.startswith(".git/holdfast")},
        {n for n in state.tree.folders if not n.startswith(".git") or n.startswith(".git/holdfast")},
    )
    ours.write(str(root / "repo"))
    git = [data for at, data in gits if at <= state.at][-1]
    subprocess.run(["tar", "-C", str(root / "repo"), "-xf", "-"], input=git, check=True)
    place = Place.at(Place(None, str(root / "cache")), root / "repo")  # type: ignore[arg-type]
    place.git("update-index", "-q", "--refresh", ok=False)
    check(place, why=f"power cut after {state.at} calls: {state.how}")
    shutil.rmtree(root)


def test_a_power_cut_during_a_publish_loses_nothing(world: Path, tmp_path: Path, seed: int) -> None:
    """What was acknowledged before the publish is there after any power cut within it."""
    assert power_cuts(world, tmp_path, limit=4, seed=seed, most=8) > 100


@pytest.mark.torture
def test_no_power_cut_during_a_publish_loses_anything(world: Path, tmp_path: Path, seed: int) -> None:
    """The same for many more of the states a disk may be left in."""
    assert power_cuts(world, tmp_path, limit=12, seed=seed, most=600) > 200


# Git itself is killed, or outlives us.

PUBLISH = """
import sys
from holdfast.git import publish
from holdfast.git.clone import Clone
publish.publish(Clone.open(sys.argv[1], cache=sys.argv[2]))
"""


def publish_in_a_process(place: Place) -> int:
    args = [sys.executable, "-c", PUBLISH, str(place.repo.path), place.cache]
    return subprocess.run(args, check=False, capture_output=True, start_new_session=True).returncode


def test_a_hook_that_kills_everything_leaves_only_gits_own_lock(
    world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody pulls the plug while the tests run; git's lock is a person's to remove, recording goes on."""
    monkeypatch.setattr(repo, "LOCK_PAUSE", 0.01)
    place = fresh(world, tmp_path, "killed")
    place.hook("pre-commit", "kill -9 0")  # the whole group: us, git and the hook
    assert publish_in_a_process(place) == -signal.SIGKILL
    lock = place.repo / ".git/index.lock"
    assert lock.exists()
    (place.repo / ".git/hooks/pre-commit").unlink()
    assert "cannot be undone yet" in (place.recover() or "")
    place.ran("meanwhile")
    with pytest.raises(PublishRefused, match=r"index\.lock"):
        place.publish()
    assert lock.exists()
    lock.unlink()
    for left in (place.repo / ".git").glob("next-index-*.lock"):
        left.unlink()
    check(place, why="git was killed", runs=RUNS | {"meanwhile"})


def test_a_git_that_outlives_us_is_waited_for(world: Path, tmp_path: Path) -> None:
    """We are killed, git goes on and commits: taking it back then would stage deletions."""
    place = fresh(world, tmp_path, "outlived")
    place.hook("pre-commit", "kill -9 $(ps -o ppid= -p $PPID) && sleep 0.7")
    assert publish_in_a_process(place) == -signal.SIGKILL
    assert place.recover() == "finished a publish that was interrupted after its commit"
    (place.repo / ".git/hooks/pre-commit").unlink()
    check(place, why="git went on alone")


def test_a_cut_short_publish_of_another_work_tree_is_undone_from_here(world: Path, tmp_path: Path) -> None:
    """One store, many work trees: nobody has to go back to the one that died."""
    place = fresh(world, tmp_path, "first")
    place.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "second"), "main")
    there = place.at(tmp_path / "second")
    there.ran("theirs")
    there.keep("theirs")
    place.hook("pre-commit", "kill -9 0")
    assert publish_in_a_process(there) == -signal.SIGKILL
    (place.repo / ".git/hooks/pre-commit").unlink()
    for lock in (place.repo / ".git/worktrees/second").glob("*.lock"):
        lock.unlink()  # a person does
    assert there.status() != ""
    assert "undid" in (place.recover() or "")
    assert there.status() == ""
    assert there.publish().commit
    check(place, why="recovered from another work tree", runs=RUNS)


def test_a_work_tree_that_is_gone_needs_no_undoing(world: Path, tmp_path: Path) -> None:
    """Its index went with it; what waited still waits."""
    place = fresh(world, tmp_path, "first")
    place.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "second"), "main")
    there = place.at(tmp_path / "second")
    there.ran("theirs")
    place.hook("pre-commit", "kill -9 0")
    assert publish_in_a_process(there) == -signal.SIGKILL
    (place.repo / ".git/hooks/pre-commit").unlink()
    place.git("worktree", "remove", "--force", str(tmp_path / "second"))
    assert "is gone" in (place.recover() or "")
    assert "theirs" in place.all_runs()


def test_nobody_waits_for_a_publish_under_way(world: Path, tmp_path: Path) -> None:
    """A slow pre-commit hook must not stop agents from recording, nor be taken for a crash."""
    place = fresh(world, tmp_path, "slow")
    go = tmp_path / "go"
    place.hook("pre-commit", f"touch {tmp_path}/begun; while [ ! -e {go} ]; do sleep 0.05; done")
    args = [sys.executable, "-c", PUBLISH, str(place.repo.path), place.cache]
    slow = subprocess.Popen(args)
    try:
        while not (tmp_path / "begun").exists():
            time.sleep(0.02)
        assert publish.resume(place.open()) is None
        place.ran("meanwhile")
    finally:
        go.touch()
    assert slow.wait() == 0
    assert place.runs() == RUNS | {"meanwhile"}
    assert place.status() == USER


def test_an_error_of_git_is_no_fault_of_the_disk(world: Path, tmp_path: Path) -> None:
    """Each kind of refusal has its own class."""
    place = fresh(world, tmp_path, "broken")
    index = place.repo / ".git/index"
    kept = index.read_bytes()
    clone = place.open()
    index.write_bytes(b"garbage")
    with pytest.raises(GitFailed), plugged(Quick()):
        publish.publish(clone)
    index.write_bytes(kept)
    check(place, why="git's index was damaged for a while")
