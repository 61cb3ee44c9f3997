"""Law 6 for lines: whatever git did to them, `why` names who wrote a line, or nobody; never a wrong run.

Random histories of agents and a person who edit the same files, commit each other's work, amend, rebase,
squash, cherry-pick, revert and rename. Every line of what is left at the end is asked about.
"""

import os
from collections import Counter
from pathlib import Path

import pytest

from holdfast.recall.why.line_reasons import WhyAnswer
from tests.recall.authors import Session, World

FILES = ("a.py", "b.py")


class History:
    """One random history, and what `why` says of it."""

    def __init__(self, world: World) -> None:
        self.world, self.dice = world, world.dice
        self.open: list[Session] = []
        self.fetched: set[str] = set()  # lines of commits that runs only fetched
        self.steps: list[str] = []
        world.git("switch", "-q", "-c", "work")
        for name in FILES:
            world.write(name, [world.new_line("person") for _ in range(4)])
        world.commit("begin")

    def files(self) -> list[str]:
        named = self.world.git("ls-files", "*.py").split()
        return [name for name in named if (self.world.repo / name).exists()] or list(FILES)

    def grow(self, steps: int) -> None:
        moves = (*[self.agent] * 9, *[self.person] * 5, *[self.commit] * 4, self.amend, self.rebase)
        moves = (*moves, self.squash, self.pick, self.rename, self.revert, self.end, self.pull)
        for _ in range(steps):
            move = self.dice.choice(moves)
            self.steps.append(move.__name__)
            move()
        while self.open:
            self.end()

    def agent(self) -> None:
        """A turn of a session: some edits, and perhaps a commit."""
        if not self.open or self.dice.random() < 0.3:
            self.open.append(self.world.session())
        session = self.dice.choice(self.open).asks()
        for _ in range(self.dice.randint(1, 3)):
            name = self.dice.choice((*self.files(), "new.py"))
            act = self.dice.choice((*[session.edits] * 5, session.proposes, session.rewrites, session.shells))
            act(name)
        if self.dice.random() < 0.5:
            session.commits("agent", *self.dice.choice(((), (), ("--amend",))))
        session.done()

    def person(self) -> None:
        self.world.person_edits(self.dice.choice(self.files()))

    def commit(self) -> None:
        self.world.commit("person")

    def amend(self) -> None:
        self.world.wait()
        self.world.git("commit", "-q", "-a", "--amend", "--no-edit", ok=False)

    def aside(self) -> None:
        """Everything committed, so that git may move."""
        self.world.commit("before")

    def finish(self, *args: str) -> None:
        """Run a command that may stop in a conflict; then nothing happened."""
        git = self.world.git
        git("-c", "advice.mergeConflict=false", *args, ok=False)
        for name, command in (
            ("rebase-merge", "rebase"),
            ("CHERRY_PICK_HEAD", "cherry-pick"),
            ("REVERT_HEAD", "revert"),
        ):
            if os.path.lexists(self.world.repo / ".git" / name):
                git(command, "--abort")

    def rebase(self) -> None:
        self.aside()
        self.world.git("switch", "-q", "main")
        self.world.write("trunk.txt", [*self.world.read("trunk.txt"), self.world.new_line("person")])
        self.world.commit("trunk")
        self.world.git("switch", "-q", "work")
        self.world.wait()
        self.finish("rebase", "-q", "main")

    def squash(self) -> None:
        """The last commits made one."""
        self.aside()
        count = self.dice.randint(2, 4)
        if len(self.world.git("rev-list", "main..work").split()) > count:
            self.world.wait()
            self.world.git("reset", "-q", "--soft", f"HEAD~{count}")
            self.world.git("commit", "-q", "-m", f"squashed {self.world.tick}", ok=False)

    def pick(self) -> None:
        """The same change on a new branch that starts before it."""
        self.aside()
        row = self.world.git("rev-list", "main..work").split()
        if len(row) > 2:
            self.world.wait()
            self.world.git("branch", "-f", f"kept-{self.world.tick}", "work")
            self.world.git("reset", "-q", "--hard", row[1])
            self.world.write("side.txt", [*self.world.read("side.txt"), self.world.new_line("person")])
            self.world.commit("side")
            self.finish("cherry-pick", row[0])

    def rename(self) -> None:
        self.aside()
        name = self.dice.choice(self.files())
        self.world.git("mv", name, f"{name[0]}{self.world.tick}.py", ok=False)
        self.world.commit("rename")

    def pull(self) -> None:
        """A run that brings a person's commits here, and makes none but a merge."""
        self.aside()
        world = self.world
        world.git("switch", "-q", "-c", f"theirs-{world.tick}")
        theirs, name = world.git("branch", "--show-current"), self.dice.choice(self.files())
        line = world.new_line("person", common=0)
        world.write(name, [*world.read(name), line])
        world.commit("theirs")
        world.git("switch", "-q", "work")
        how = ("merge --ff-only", "pull --rebase .", "merge --no-ff -m joined", "cherry-pick --ff")
        world.command(f"git {self.dice.choice(how)} {theirs}")
        self.fetched.add(line)

    def revert(self) -> None:
        self.aside()
        self.world.wait()
        self.finish("revert", "--no-edit", "HEAD")
        if self.dice.random() < 0.7:
            self.world.wait()
            self.finish("revert", "--no-edit", "HEAD")

    def end(self) -> None:
        if self.open:
            self.open.pop(self.dice.randrange(len(self.open))).ends()

    # -- asking

    def judge(self) -> Counter[str]:
        """How many lines are answered, rightly or not, and how many are not known."""
        found: Counter[str] = Counter()
        project = self.world.open()
        for name in self.files():
            answers, text = project.recall.why(name).why.answers, self.world.read(name)
            assert [line for one in answers for line in one.text] == text
            found.update(self.verdict(line, one) for one in answers for line in one.text)
            number = self.dice.randint(1, len(text)) if text else 0
            if number:  # a line alone is told no other than among all
                (one,) = project.recall.why(f"{name}:{number}").why.answers
                assert not self.verdict(text[number - 1], one).startswith("WRONG"), (name, number)
        return found

    def verdict(self, line: str, one: WhyAnswer) -> str:
        by = self.world.authors[line]
        if line in self.fetched and any(ran.id not in self.world.runs for ran in one.during):
            return f"WRONG: {line!r} was only fetched, and is said to be committed in {one.during}"
        if one.run is None:
            return "silent on an agent's line" if isinstance(by, tuple) else f"silent on {by}"
        said = {(self.world.runs[one.run.id], asking.turn) for asking in one.turns}
        if by in said:
            return one.state
        return f"WRONG: {line!r} of {by} is said to be {sorted(said)}, {one.state}, lines {one.first}-{one.last}"


def judged(folder: Path, template: Path, seed: int, steps: int) -> Counter[str]:
    history = History(World.make(folder, template, seed))
    history.grow(steps)
    found = history.judge()
    wrong = [words for words in found if words.startswith("WRONG")]
    assert not wrong, (seed, history.steps, wrong)
    return found


def tried(tmp_path: Path, template: Path, seed: int, number: int, steps: int) -> Counter[str]:
    found: Counter[str] = Counter()
    for n in range(number):
        folder = tmp_path / str(n)
        folder.mkdir()
        found += judged(folder, template, seed + n, steps)
    print(dict(found))
    return found


def covered(found: Counter[str]) -> float:
    """The share of agents' lines that are answered, in percent; what a shell wrote cannot be."""
    answered = found["recorded"] + found["matched"]
    return 100 * answered / max(1, answered + found["silent on an agent's line"])


def test_why_names_who_wrote_a_line_or_nobody(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    """A wrong answer here sends somebody to the wrong conversation, and blames the wrong one."""
    template = tmp_path_factory.getbasetemp() / "authors" / "repo"
    found = tried(tmp_path, template, seed, 2, 16)
    assert covered(found) > 30, found


@pytest.mark.torture
def test_why_names_who_wrote_a_line_or_nobody_in_many_histories(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    """The rare coincidences, of which there are many."""
    template = tmp_path_factory.getbasetemp() / "authors" / "repo"
    found = tried(tmp_path, template, seed, 60, 40)
    assert covered(found) > 50, found
