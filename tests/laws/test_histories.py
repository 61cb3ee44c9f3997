"""Law 5, on random histories of real git: nothing is lost, nothing leaks, nothing conflicts.

A small model says, for each branch, what waits there and what it took along when it was made; what
is in HEAD's tree is asked of git itself. After every step the clone must show exactly that. Time is
a counter, for us and for git, so that "before" and "after" are never a matter of luck.
"""

import os
import random
import shutil
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from holdfast.git.clone import Clone
from holdfast.store import pending_changes
from tests.git.place import Place, fact_path

STEPS = 11
START = 1_900_000_000


@dataclass
class Branch:
    """What the model knows of one line."""

    runs: set[str] = field(default_factory=set)  # recorded here, not yet published here
    taken: set[str] = field(default_factory=set)  # taken along from the parent, not yet published here
    facts: dict[str, str] = field(default_factory=dict)  # waiting here, taken along included
    landed: set[str] = field(default_factory=set)  # of what was taken along: once in the tree of this branch

    def child(self) -> "Branch":
        return Branch(set(), self.runs | self.taken, dict(self.facts), set(self.landed))


class History:
    """One random history and what must be true of it."""

    def __init__(self, root: Path, seed: int) -> None:
        self.dice = random.Random(seed)
        self.root, self.tick, self.count = root, 0, 0
        self.main = Place.at(Place.make(root / "repo"), root / "repo")
        self.main.clock = self.clock
        self.places = [self.main]
        self.branches: dict[str, Branch] = {"main": Branch()}
        self.recorded: set[str] = set()
        self.kept: dict[tuple[int, str], str] = {}  # (branch, fact) -> its last text, wherever it is now
        self.log: list[str] = []

    def clock(self) -> datetime:
        self.count += 1
        return datetime.fromtimestamp(START + 10 * self.tick + self.count * 1e-5, UTC)

    def step(self) -> None:
        self.tick += 1
        self.count = 0
        os.environ["GIT_COMMITTER_DATE"] = os.environ["GIT_AUTHOR_DATE"] = f"{START + 10 * self.tick} +0000"
        place = self.dice.choice(self.places)
        name, act = self.dice.choice(ACTS)
        self.log.append(f"{self.tick} {os.path.basename(place.repo.path)}/{self.here(place)}: {name}")
        act(self, place)
        if place in self.places:
            self.check(place)

    # What the world looks like.

    def here(self, place: Place) -> str:
        return place.git("symbolic-ref", "--short", "HEAD")

    def branch(self, place: Place) -> Branch:
        return self.branches[self.here(place)]

    def others(self, place: Place) -> list[str]:
        return [name for name in self.branches if name != self.here(place)]

    def free(self) -> list[str]:
        taken = {self.here(place) for place in self.places}
        return [name for name in self.branches if name not in taken]

    def new_name(self) -> str:
        return f"b{self.tick}/{self.dice.choice(['x', 'y.z'])}"

    def tree_runs(self, place: Place) -> set[str]:
        rows = place.git("grep", "-h", "-o", '"run_id":"[^"]*"', "HEAD", "--", ".holdfast/log", ok=False)
        return {row.split('"')[3] for row in rows.splitlines()}

    def tree_facts(self, place: Place) -> dict[str, str]:
        rows = place.git("grep", "^Fact: ", "HEAD", "--", ".holdfast/memory", ok=False).splitlines()
        found = {}
        for row in rows:
            _, path, text = row.split(":", 2)
            found[path.rsplit("-", 1)[1][:-3]] = text.removeprefix("Fact: ")
        return found

    def landed(self, place: Place, text: str) -> bool:
        shape = ("log", "-m", "--full-history", "--format=%H", f"-S{text}", "HEAD", "--", ".holdfast/memory")
        return bool(place.git(*shape))

    # What must hold after every step.

    def check(self, place: Place) -> None:
        branch, tree = self.branch(place), self.tree_facts(place)
        for name, text in list(branch.facts.items()):
            if self.landed(place, text):
                del branch.facts[name]
        clone = place.open()
        seen = {event.run_id for event in clone.events()}
        published = self.tree_runs(place)
        branch.landed |= branch.taken & published
        # What came along, was committed here and then reverted may be hidden: a revert is meant.
        least = published | branch.runs | (branch.taken - branch.landed)
        assert least <= seen <= least | branch.taken, "what is visible here"
        assert place.facts(clone) == {**tree, **branch.facts}
        assert place.verdict(clone) in ("ok", "partial")
        for one in self.places:
            assert one.status() == "", "git status shows something of our doing"
        self.check_store(clone)

    def check_store(self, clone: Clone) -> None:
        everything = {event.run_id for event in clone.all_events()}
        assert self.recorded <= everything, "an event is lost"
        changes = [*pending_changes.waiting(clone.layout), *pending_changes.published(clone.layout)]
        texts = {change.text.split("Fact: ")[1].strip() for change in changes if change.text}
        assert set(self.kept.values()) <= texts, "an entry is lost"

    # What people do.

    def record(self, place: Place, branch: Branch | None = None) -> None:
        name = f"r{self.tick}"
        place.ran(name)
        self.recorded.add(name)
        (branch or self.branch(place)).runs.add(name)

    def learn(self, place: Place) -> None:
        names = sorted({*self.tree_facts(place), *self.branch(place).facts})
        name = self.dice.choice([*names, f"f{self.tick}"])
        if any(sighting.clash for sighting in place.open().entries() if sighting.path == fact_path(name)):
            return
        place.keep(name, f"text {self.tick:04}")
        self.branch(place).facts[name] = f"text {self.tick:04}"
        self.kept[(id(self.branch(place)), name)] = f"text {self.tick:04}"

    def publish(self, place: Place) -> None:
        branch = self.branch(place)
        done = place.publish()
        kept = {item.path for item in done.kept}
        assert not any("/log/" in path for path in kept)
        branch.facts = {name: text for name, text in branch.facts.items() if fact_path(name) in kept}
        assert branch.runs | branch.taken <= self.tree_runs(place)
        branch.runs, branch.taken = set(), set()
        assert place.publish().commit is None, "a second publish adds nothing"

    def stage(self, place: Place) -> None:
        branch = self.branch(place)
        done = place.publish(stage=True)
        if done.paths:
            place.git("commit", "-q", "-m", "work and memory")
            branch.runs = set()

    def code(self, place: Place) -> None:
        place.repo.commit(f"code-{self.tick}")

    def amend(self, place: Place) -> None:
        place.repo.write(f"more-{self.tick}", "x")
        place.git("add", f"more-{self.tick}")
        place.git("commit", "-q", "--amend", "--no-edit")

    def switch_new(self, place: Place) -> None:
        name = self.new_name()
        self.branches[name] = self.branch(place).child()
        place.git("switch", "-q", "-c", name)

    def branch_only(self, place: Place) -> None:
        name = self.new_name()
        self.branches[name] = self.branch(place).child()
        place.git("branch", name)

    def switch(self, place: Place) -> None:
        free = self.free()
        if free:
            place.git("switch", "-q", self.dice.choice(free))

    def rename(self, place: Place) -> None:
        old, new = self.here(place), self.new_name()
        place.git("branch", "-m", new)
        self.branches[new] = self.branches.pop(old)

    def delete(self, place: Place) -> None:
        free = self.free()
        if free:
            name = self.dice.choice(free)
            place.git("branch", "-q", "-D", name)
            del self.branches[name]

    def worktree(self, _: Place) -> None:
        if len(self.places) > 1 and self.dice.random() < 0.5:
            gone = self.places.pop()
            self.main.git("worktree", "remove", "--force", str(gone.repo.path))
            return
        name = self.new_name()
        self.branches[name] = self.branch(self.main).child()
        path = self.root / f"wt{self.tick}"
        self.main.git("worktree", "add", "-q", "-b", name, str(path))
        self.places.append(self.main.at(path))

    def combine(self, place: Place, *args: str, abort: str) -> None:
        branch = self.branch(place)
        place.git(*args, ok=False)
        torn = place.git("diff", "--name-only", "--diff-filter=U").split()
        assert not [path for path in torn if "/log/" in path], "a conflict in the log"
        for path in torn:  # of ours only one entry against itself, changed or deleted on both sides
            if path.startswith(".holdfast/"):
                assert path.startswith(".holdfast/memory/")
                assert len(place.git("ls-files", "-u", "--", path).splitlines()) >= 2
        busy = ("MERGE_HEAD", "rebase-merge", "CHERRY_PICK_HEAD", "REVERT_HEAD")
        if torn or any((Path(place.open().repo.git_dir) / name).exists() for name in busy):
            self.record(place, branch)  # events are recorded in the middle of it, too
            if abort == "reset":
                place.git("reset", "-q", "--hard")
            else:
                place.git(abort, "--abort")

    def merge(self, place: Place) -> None:
        others = self.others(place)
        if others:
            self.combine(place, "merge", "-q", "--no-edit", self.dice.choice(others), abort="merge")

    def squash(self, place: Place) -> None:
        others = self.others(place)
        if others:
            self.combine(place, "merge", "-q", "--squash", self.dice.choice(others), abort="reset")
            place.git("commit", "-q", "-m", "squashed", ok=False)

    def rebase(self, place: Place) -> None:
        others = self.others(place)
        if others:
            self.combine(place, "rebase", "-q", self.dice.choice(others), abort="rebase")

    def pick(self, place: Place) -> None:
        others = self.others(place)
        if others:
            commits = place.git("rev-list", "--no-merges", self.dice.choice(others), "^HEAD").split()
            if commits:
                self.combine(place, "cherry-pick", self.dice.choice(commits), abort="cherry-pick")

    def revert(self, place: Place) -> None:
        commits = place.git("rev-list", "--no-merges", "--max-count=4", "HEAD").split()[:-2]
        if commits:
            self.combine(place, "revert", "--no-edit", self.dice.choice(commits), abort="revert")

    def reset(self, place: Place) -> None:
        depth = len(place.git("rev-list", "--first-parent", "HEAD").split()) - 2
        if depth > 0:
            place.git("reset", "-q", "--hard", f"HEAD~{self.dice.randint(1, min(depth, 3))}")

    def stash(self, place: Place) -> None:
        place.repo.write("README", f"edited {self.tick}")
        place.git("stash", "-q", "-u")
        self.record(place)
        place.git("stash", "drop", "-q")

    def clean(self, place: Place) -> None:
        place.git("clean", "-q", "-fdx")


ACTS = [
    (name, getattr(History, name))
    for name, weight in {
        "record": 5,
        "learn": 5,
        "publish": 5,
        "stage": 2,
        "code": 2,
        "amend": 1,
        "switch_new": 3,
        "branch_only": 1,
        "switch": 3,
        "rename": 1,
        "delete": 1,
        "worktree": 1,
        "merge": 4,
        "squash": 2,
        "rebase": 2,
        "pick": 2,
        "revert": 1,
        "reset": 2,
        "stash": 1,
        "clean": 1,
    }.items()
    for _ in range(weight)
]


def live(root: Path, seed: int, steps: int) -> None:
    history = History(root, seed)
    try:
        for _ in range(steps):
            history.step()
        for place in history.places:
            history.check(place)
    except BaseException:
        print(f"history {seed}:", *history.log, sep="\n  ")
        raise
    finally:
        for name in ("GIT_COMMITTER_DATE", "GIT_AUTHOR_DATE"):
            os.environ.pop(name, None)
    shutil.rmtree(root)


@pytest.mark.parametrize("number", range(12))
def test_random_histories_lose_leak_and_tear_nothing(tmp_path: Path, seed: int, number: int) -> None:
    """Whatever people do with git, the memory of their project stays whole and in its place."""
    live(tmp_path / "world", seed * 1000 + number, STEPS)


@pytest.mark.torture
@pytest.mark.parametrize("number", range(150))
def test_long_random_histories_lose_leak_and_tear_nothing(tmp_path: Path, seed: int, number: int) -> None:
    """The same for weeks of work."""
    live(tmp_path / "world", seed * 1000 + number, 40)
