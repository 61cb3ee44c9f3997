"""Law 1 for publishing: a power cut at any moment of a publish loses neither events nor entries.

What Holdfast writes is replayed as a power cut may leave it (see `disk`); git's own files are taken as they
were at that moment, or as they were a step before: git need not sync a commit before it reports it.
"""

import os
import random
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.git import publish
from holdfast.git.clone import Clone
from holdfast.store import pending_changes
from tests.conftest import Quick

from .disk import Op, Recorder, Recording, State, Tree, crash_states, plugged
from .scene import Scene, check_nothing_lost, check_published


class Moments(list[Op]):
    """The calls of a publish; git's folder is copied whenever it has changed since the last one."""

    def __init__(self, scene: Scene, copies: Path) -> None:
        super().__init__()
        self._git, self._copies = scene.path / ".git", copies
        self.snapshots: list[tuple[int, Path]] = []  # (from this call on, a copy of git's files)
        self._seen: object = None
        self.look()

    def append(self, op: Op) -> None:
        super().append(op)
        self.look()

    def look(self) -> None:
        index = os.stat(self._git / "index")
        now = (index.st_mtime_ns, index.st_size, index.st_ino, (self._git / "refs/heads/work").read_text())
        if now != self._seen:
            self._seen = now
            copy = self._copies / f"{len(self)}"
            shutil.copytree(self._git, copy, ignore=lambda folder, _: ["holdfast"] if folder == str(self._git) else [])
            self.snapshots.append((len(self), copy))

    def git_at(self, at: int) -> list[tuple[Path, bool]]:
        """Git's files as they may be after a call, and whether git has forgotten its last step."""
        now = max(number for number, (start, _) in enumerate(self.snapshots) if start <= at)
        soon = [(path, False) for start, path in self.snapshots if start == at + 1]
        return [(self.snapshots[now][1], False), *soon, *[(path, True) for _, path in self.snapshots[:now][-1:]]]


def ours(root: Path) -> Tree:
    """What Holdfast keeps below a repository: its store and its tracked files."""
    tree, whole = Tree(folders={".git"}), Tree.read(str(root))
    mine = (".holdfast", os.path.join(".git", "holdfast"))
    tree.files = {name: data for name, data in whole.files.items() if name.startswith(mine)}
    tree.folders |= {name for name in whole.folders if name.startswith(mine)}
    return tree


def recorded(scene: Scene, copies: Path) -> tuple[Recording, Moments]:
    """A whole publish, as the disk saw it."""
    before = ours(scene.path)
    clone = scene.clone()
    moments = Moments(scene, copies)
    recorder = Recorder(str(scene.path), Quick())
    recorder.ops = moments
    with plugged(recorder):
        publish.publish(clone)
    inodes = {name: number for number, name in enumerate(sorted(before.files), 1)}
    return Recording(before, inodes, moments, []), moments


def rebuilt(scene: Scene, state: State, git: Path, place: Path) -> Scene:
    """The repository as it is found after the power cut."""
    shutil.copytree(git, place / ".git")
    for name, data in scene.files.items():
        (place / name).write_bytes(data)
    state.tree.write(str(place))
    return replace(scene, path=place)


def check_store(scene: Scene, what: str) -> None:
    """The clone itself still holds everything, whatever git has forgotten."""
    clone = Clone.open(str(scene.path), cache=str(scene.path.parent / "cache"))
    assert scene.recorded <= {event.hash_self for event in clone.own_events()}, f"{what}: events are gone"
    changes = (*pending_changes.published(clone.layout), *pending_changes.waiting(clone.layout))
    texts = "".join(change.text or "" for change in changes)
    assert "As it is now." in texts and "It is new." in texts, f"{what}: entries are gone"


def chosen(recording: Recording, *, limit: int, seed: int, number: int | None) -> Iterator[State]:
    choose = random.Random(seed)
    states = list(crash_states(recording, limit=limit, choose=choose))
    yield from states if number is None else choose.sample(states, min(number, len(states)))


def cut_power(scene: Scene, scratch: Path, *, limit: int, seed: int, number: int | None) -> int:
    recording, moments = recorded(scene.at(scratch / "first" / "repo"), scratch / "git")
    count = 0
    for state in chosen(recording, limit=limit, seed=seed, number=number):
        for git, forgetful in moments.git_at(state.at):
            there = scratch / "after" / "repo"
            found = rebuilt(scene, state, git, there)
            last = recording.ops[state.at - 1] if state.at else None
            what = f"cut after call {state.at} of {len(recording.ops)} ({last}), {state.how}; git {git.name}"
            with plugged(Quick()):
                if forgetful:
                    check_store(found, what)
                else:
                    check_nothing_lost(found, what)
                    check_published(found, what)
            shutil.rmtree(there.parent)
            count += 1
    return count


def test_a_power_cut_while_publishing_loses_nothing(scene: Scene, scratch: Path, seed: int) -> None:
    """The laptop's battery ends while the commit is being made."""
    assert cut_power(scene, scratch, limit=2, seed=seed, number=5) >= 5


@pytest.mark.torture
def test_a_power_cut_at_any_call_of_a_publish_loses_nothing(scene: Scene, scratch: Path, seed: int) -> None:
    """The same, in all states."""
    number = cut_power(scene, scratch, limit=30, seed=seed, number=None)
    print(f"{number} crash states")
    assert number > 200
