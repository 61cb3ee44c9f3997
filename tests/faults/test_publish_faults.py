"""Law 2 for publishing: whatever fails or dies, nothing is lost and git is as the user left it.

Every call by which a publish changes the disk is made to fail or to be the process's last one; then the next
command runs, as it would for a user, and the publish is repeated.
"""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from holdfast.diagnostics import doctor
from holdfast.errors import HoldfastError
from holdfast.git import publish
from holdfast.git.clone import Clone
from holdfast.git.setup import initialise
from holdfast.model.event import Draft
from holdfast.store import fsio

from .disk import ERRORS, KILLED, KILLS, LASTING, Fault, Faulty, Unsynced, plugged
from .test_append_faults import NEVER, in_child

OLD = ".holdfast/memory/facts/old-FCT-old1.md"
GONE = ".holdfast/memory/facts/gone-FCT-gone.md"
NEW = ".holdfast/memory/facts/new-FCT-new1.md"
HEAD_LINES = (
    "type: fact\nstatus: accepted\nlayer: L5\ntags: []\nsource: person:ada\nconfidence: 0.9\nevidence: []\n"
)


def entry(name: str, statement: str) -> str:
    last = "applies_to: []\nsupersedes: []\nexpires_at: null\n"
    return f"---\nid: FCT-{name}\n{HEAD_LINES}{last}---\nFact: {statement}\n"


@dataclass(frozen=True, slots=True)
class Scene:
    """A project with work of the user's under way, and memory that waits to be published."""

    path: Path
    recorded: frozenset[str]
    staged: str
    unstaged: str

    def git(self, *args: str) -> str:
        done = subprocess.run(["git", *args], cwd=self.path, capture_output=True, check=True)
        return done.stdout.decode()

    def at(self, path: Path) -> "Scene":
        """The same scene, played elsewhere."""
        shutil.copytree(self.path, path, symlinks=True)
        return Scene(path, self.recorded, self.staged, self.unstaged)

    def clone(self) -> Clone:
        return Clone.open(str(self.path), cache=str(self.path.parent / "cache"))

    def next_command(self) -> Clone:
        """What any command does first: mend what another left behind."""
        clone = self.clone()
        with fsio.locked(clone.layout.lock):
            publish.recover(clone)
        return clone


MINE = ("--", ".", ":(exclude).holdfast")


@pytest.fixture
def scene(repo, tmp_path: Path) -> Scene:
    """On a branch: one entry is new, one changed, one goes; the user has staged and unstaged work."""
    cache = str(repo.path.parent / "cache")
    initialise(str(repo.path), cache=cache, commit=True)
    repo.git("switch", "-q", "-c", "work")
    with plugged(Unsynced()):
        clone = Clone.open(str(repo.path), cache=cache)
        for path, name in ((OLD, "old1"), (GONE, "gone")):
            clone.change(path, entry(name, "As it was."))
        publish.publish(clone)
        events = [
            clone.record(Draft("run", run_id=f"run-{n}", exit_status=0, body={"task": "t"})) for n in range(3)
        ]
        clone.change(OLD, entry("old1", "As it is now."))
        clone.change(GONE, None)
        clone.change(NEW, entry("new1", "It is new."))
    repo.write("mine.txt", "staged\n")
    repo.git("add", "mine.txt")
    repo.write("mine.txt", "staged and edited\n")
    repo.write("README", "edited\n")
    return Scene(
        repo.path,
        frozenset(event.hash_self for event in events),
        repo.git("diff", "--cached", *MINE),
        repo.git("diff", *MINE),
    )


def names(scene: Scene, tmp_path: Path) -> list[str]:
    """The calls of a publish that nothing disturbs."""
    ops = Faulty(-1, NEVER, Unsynced())
    quiet = scene.at(tmp_path / "quiet" / "repo")
    with plugged(ops):
        publish.publish(quiet.clone())
    return ops.names


def check_nothing_lost(scene: Scene, what: str) -> None:
    """After the next command: all events, all that waits, the user's own work, and nothing of ours staged."""
    clone = scene.next_command()
    assert scene.recorded <= {event.hash_self for event in clone.all_events()}, f"{what}: events are gone"
    texts = {sighting.path: sighting.text for sighting in clone.entries()}
    assert "As it is now." in texts[OLD] and "It is new." in texts[NEW] and GONE not in texts, (
        f"{what}: {texts}"
    )
    assert scene.git("diff", "--cached", *MINE).strip() == scene.staged, (
        f"{what}: the user's index was changed"
    )
    assert scene.git("diff", *MINE).strip() == scene.unstaged, f"{what}: the user's files were changed"
    ours = scene.git("status", "--porcelain", "--untracked-files=all", "--", ".holdfast")
    assert ours == "", f"{what}: left behind: {ours}"


def check_published(scene: Scene, what: str) -> None:
    """A repeated publish brings everything into the commit, once."""
    clone = scene.clone()
    publish.publish(clone)
    check_nothing_lost(scene, what)
    shown = scene.git("ls-tree", "-r", "--name-only", "HEAD", "--", ".holdfast").split()
    assert OLD in shown and NEW in shown and GONE not in shown, what
    log = "".join(scene.git("show", f"HEAD:{path}") for path in shown if path.startswith(".holdfast/log/"))
    for name in scene.recorded:
        assert log.count(f'{{"hash_self":"{name}"') == 1, f"{what}: an event is missing or there twice"
    assert not scene.clone().changes(), f"{what}: published, and still waiting"
    assert doctor.examine(scene.clone()).verdict == "ok", what


def play(scene: Scene, tmp_path: Path, fault: Fault, *, every: int, first: int) -> None:
    calls = names(scene, tmp_path)
    for at in range(first % every, len(calls), every):
        struck = scene.at(tmp_path / f"{fault}-{at}" / "repo")
        what = f"{fault} at call {at} ({calls[at]})"
        if fault.kill:
            code, _ = in_child(lambda _, at=at, struck=struck: faulty_publish(struck, at, fault))
            assert code == KILLED, what
        else:
            faulty_publish(struck, at, fault)
        with plugged(Unsynced()):
            check_nothing_lost(struck, what)
            check_published(struck, what)
        shutil.rmtree(struck.path.parent)


def faulty_publish(scene: Scene, at: int, fault: Fault) -> None:
    """Publish on a disk that fails once; either it succeeds nevertheless or it says why not."""
    clone = scene.clone()
    with plugged(Faulty(at, fault, Unsynced())):
        try:
            publish.publish(clone)
        except HoldfastError as refusal:
            assert str(refusal)


@pytest.mark.parametrize("fault", [ERRORS[0], KILLS[0]], ids=str)
def test_a_publish_that_fails_or_dies_loses_nothing(
    scene: Scene, tmp_path: Path, seed: int, fault: Fault
) -> None:
    """A half-done publish that leaves deletions staged makes the user's next commit delete memory."""
    play(scene, tmp_path, fault, every=4, first=seed)


@pytest.mark.torture
@pytest.mark.parametrize("fault", [*ERRORS, *LASTING, *KILLS], ids=str)
def test_a_publish_that_fails_or_dies_at_any_call_loses_nothing(
    scene: Scene, tmp_path: Path, fault: Fault
) -> None:
    """The same at every call, with every fault."""
    play(scene, tmp_path, fault, every=1, first=0)


GIT = """\
#!/bin/sh
# Stands before the real git: ends the process that calls it, before or after the chosen call.
count=$(($(cat "$COUNTER") + 1))
echo $count > "$COUNTER"
[ "$WHEN" = before ] && [ $count -eq $AT ] && kill -9 $PPID && exit 1
"$REAL_GIT" "$@"
code=$?
[ "$WHEN" = after ] && [ $count -eq $AT ] && kill -9 $PPID
exit $code
"""


def publish_with_git_in_the_way(scene: Scene, folder: Path, *, at: int, when: str) -> int:
    """Publish in a process that git's `at`-th call ends; gives how many calls of git there were."""
    counter = folder / "count"
    counter.write_text("0")

    def act(_: object) -> None:
        real = {"REAL_GIT": shutil.which("git") or "git", "PATH": f"{folder}:{os.environ['PATH']}"}
        clone = scene.clone()
        os.environ.update(real, COUNTER=str(counter), AT=str(at), WHEN=when)
        with plugged(Unsynced()):
            publish.publish(clone)

    code, _ = in_child(act)
    assert code == (-9 if at else 0)
    return int(counter.read_text())


def play_git(scene: Scene, tmp_path: Path, *, every: int, first: int) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").write_text(GIT)
    (tmp_path / "bin" / "git").chmod(0o755)
    calls = publish_with_git_in_the_way(
        scene.at(tmp_path / "quiet" / "repo"), tmp_path / "bin", at=0, when="never"
    )
    assert calls > 5
    for number in range(first % every, 2 * calls, every):
        at, when = 1 + number // 2, ("before", "after")[number % 2]
        struck = scene.at(tmp_path / f"git-{number}" / "repo")
        publish_with_git_in_the_way(struck, tmp_path / "bin", at=at, when=when)
        with plugged(Unsynced()):
            check_nothing_lost(struck, f"killed {when} git call {at} of {calls}")
            check_published(struck, f"killed {when} git call {at} of {calls}")
        shutil.rmtree(struck.path.parent)


def test_a_publish_killed_around_a_call_of_git_loses_nothing(scene: Scene, tmp_path: Path, seed: int) -> None:
    """Between `git add` and `git commit` the index holds what no commit has."""
    play_git(scene, tmp_path, every=5, first=seed)


@pytest.mark.torture
def test_a_publish_killed_around_any_call_of_git_loses_nothing(scene: Scene, tmp_path: Path) -> None:
    """The same around every call."""
    play_git(scene, tmp_path, every=1, first=0)
