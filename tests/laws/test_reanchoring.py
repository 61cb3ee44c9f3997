"""Law 6, on random rewrites by real git: a cited commit is found again rightly, or said to be unanchored.

Every commit adds a token of its own. Whatever was rewritten since, the right answer for a commit is
a reachable one whose change adds its token; no answer is always allowed; anything else is a lie.
Each history is asked four times: with and without git's map, before and after git threw the old commits away.
"""

import os
import random
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.git.cited_commits import commit_anchors
from holdfast.git.cited_commits.commit_anchors import ResolvedCommit
from holdfast.git.clone import Clone
from tests.conftest import GitRepo
from tests.git.place import Place

START = 1_900_000_000
TOKEN = re.compile(r"^\+.*(token[0-9a-f]{12})")
FILES = ("shared.txt", "a.txt", "b.txt", "c.txt")
HOOK = '#!/bin/sh\n(cat; echo --) >> "$(git rev-parse --git-common-dir)/told"\n'


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("template") / "repo"


class History:
    """One random history of rewrites, and what was cited on the way."""

    def __init__(self, path: Path, seed: int) -> None:
        self.dice, self.repo, self.tick = random.Random(seed), GitRepo(path), START
        self.hasty = self.dice.random() < 0.4  # commits of the same second, as agents make them
        self.cited: dict[str, str] = {}  # commit -> token
        self.squashed: dict[str, set[str]] = {}  # a forge's commit -> the tokens of the branch it is made of
        self.steps: list[str] = []
        self.pass_time()
        self.git("switch", "-q", "-c", "work")

    def git(self, *args: str, ok: bool = True) -> str:
        return self.repo.git(*args, ok=ok)

    def pass_time(self) -> None:
        self.tick += self.dice.choice((0, 0, 0, 1) if self.hasty else (1, 30, 4000))
        os.environ["GIT_COMMITTER_DATE"] = os.environ["GIT_AUTHOR_DATE"] = f"{self.tick} +0000"

    def row(self, base: str = "main") -> list[str]:
        """The commits of the branch that are not on trunk, oldest first."""
        return self.git("rev-list", "--reverse", "--no-merges", f"{base}..work").split()

    # -- making commits

    def add_lines(self, name: str, lines: list[str]) -> None:
        path = self.repo / name
        text = path.read_text().split("\n")[:-1] if path.exists() else []
        at = self.dice.randint(0, len(text))
        path.write_text("".join(f"{line}\n" for line in (*text[:at], *lines, *text[at:])))

    def token(self) -> str:
        return f"token{self.dice.getrandbits(48):012x}"

    def commit(self) -> None:
        """A commit with a token, some common lines, now and then a second file."""
        self.pass_time()
        token, names = self.token(), self.dice.sample(FILES, self.dice.choice((1, 1, 2, 3)))
        filler = [self.dice.choice(("return None", "}", "import os", "x = 1")) for _ in range(self.dice.randint(0, 3))]
        self.add_lines(names[0], self.dice.sample([f"say {token}", *filler], len(filler) + 1))
        for name in names[1:]:
            self.add_lines(name, [f"also {self.dice.getrandbits(30):x}"])
        title = self.dice.choice(("wip", f"add {token[5:9]}", f"add {token[5:9]}"))
        self.git("add", "-A")
        self.git("commit", "-q", "-m", title, *self.change_id(token))
        self.cite(token)

    def change_id(self, token: str) -> list[str]:
        return ["-m", f"Change-Id: I{token[5:] * 4}"[:52]] if self.dice.random() < 0.2 else []

    def cite(self, token: str) -> None:
        oid = self.git("rev-parse", "HEAD")
        self.cited[oid] = token
        commit_anchors.keep(self.open(), [oid])

    def cite_again(self) -> None:
        """Cite the commits as they are now, too: what was rewritten once is rewritten again."""
        adds = self.added("work", "^main")
        for oid, tokens in adds.items():
            if len(tokens) == 1 and self.dice.random() < 0.5 and oid not in self.cited:
                self.cited[oid] = next(iter(tokens))
                commit_anchors.keep(self.open(), [oid])

    def noise(self) -> None:
        """A commit without a token: empty, or binary."""
        self.pass_time()
        if self.dice.random() < 0.5:
            self.git("commit", "-q", "--allow-empty", "-m", "nothing")
        else:
            (self.repo / "image.bin").write_bytes(self.dice.randbytes(40) + b"\0")
            self.git("add", "-A")
            self.git("commit", "-q", "-m", "image")

    # -- rewriting them

    def amend(self) -> None:
        self.pass_time()
        if self.dice.random() < 0.5:
            self.add_lines(self.dice.choice(FILES), [f"amended {self.dice.getrandbits(30):x}"])
        title = ["-m", "better words"] if self.dice.random() < 0.4 else ["--no-edit"]
        self.git("commit", "-q", "-a", "--amend", "--allow-empty", *title)

    def trunk_moves(self) -> None:
        self.pass_time()
        self.git("switch", "-q", "main")
        self.add_lines(self.dice.choice((*FILES, "trunk.txt")), [f"trunk {self.dice.getrandbits(30):x}"])
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "trunk")
        self.git("switch", "-q", "work")

    def rebase(self) -> None:
        if self.dice.random() < 0.8:
            self.trunk_moves()
        self.pass_time()
        self.finish("rebase", "-q", *self.dice.choice(([], ["--rebase-merges"])), "main")

    def finish(self, *args: str) -> None:
        """Run a command that may stop in a conflict; then nothing happened."""
        self.git("-c", "advice.mergeConflict=false", *args, ok=False)
        for folder, name in (
            ("rebase-merge", "rebase"),
            ("CHERRY_PICK_HEAD", "cherry-pick"),
            ("REVERT_HEAD", "revert"),
        ):
            if (self.repo / ".git" / folder).exists():
                self.git(name, "--abort")

    def rebase_by_hand(self) -> None:
        """Drop, reorder, squash, fix up, reword, edit."""
        row = self.row()
        words = dict.fromkeys(row, "pick")
        for oid in row[1:]:
            words[oid] = self.dice.choice(("pick", "pick", "pick", "squash", "fixup", "drop", "reword"))
        order = list(row)
        if len(row) > 2 and self.dice.random() < 0.5:
            at = self.dice.randrange(1, len(row) - 1)
            order[at], order[at + 1] = order[at + 1], order[at]
        self.todo([f"{words[oid]} {oid}" for oid in order])

    def todo(self, rows: list[str], *, then: Callable[[], None] | None = None) -> None:
        self.pass_time()
        (self.repo / ".git/plan").write_text("".join(f"{row}\n" for row in rows))
        os.environ |= {"GIT_SEQUENCE_EDITOR": f"cp '{self.repo / '.git/plan'}'", "GIT_EDITOR": "true"}
        self.git("rebase", "-q", "-i", "--empty=drop", "main", ok=False)
        if then is not None and (self.repo / ".git/rebase-merge/amend").exists():
            then()
            self.git("rebase", "--continue", ok=False)
        if (self.repo / ".git/rebase-merge").exists():
            self.git("rebase", "--abort")

    def split(self) -> None:
        """One commit becomes two; either may be said to be the old one."""
        row = self.row()
        chosen = self.dice.choice(row)
        if self.git("show", "--format=", "--name-only", chosen) in ("", "image.bin"):
            return  # there is nothing to split
        self.todo([f"{'edit' if oid == chosen else 'pick'} {oid}" for oid in row], then=lambda: self.halve(chosen))

    def halve(self, oid: str) -> None:
        touched = self.git("show", "--format=", "--name-only", oid).split()
        self.git("reset", "-q", "HEAD^")
        self.pass_time()
        first = self.dice.choice((["-C", oid], ["-m", "one half"]))
        second = self.dice.choice((["-C", oid], ["-m", "other half"]))
        if len(touched) > 1:
            self.git("add", "--", self.dice.choice(touched))
        else:
            path = self.repo / touched[0]
            whole = path.read_text()
            before = set(self.git("show", f"HEAD:{touched[0]}", ok=False).split("\n"))
            new = [line for line in whole.split("\n") if line not in before]
            path.write_text("".join(f"{line}\n" for line in whole.split("\n")[:-1] if line not in new[:1]))
            self.git("add", "--", touched[0])
            path.write_text(whole)
        self.git("commit", "-q", *first, ok=False)
        self.git("add", "-A")
        self.git("commit", "-q", *second, ok=False)

    def cherry_pick(self) -> None:
        """The branch is made anew from trunk, perhaps without some of its commits."""
        row = self.row()
        some = [oid for oid in row if self.dice.random() < 0.8]
        self.pass_time()
        self.git("switch", "-q", "-c", "new", "main")
        for oid in some:
            self.finish("cherry-pick", "--allow-empty", oid)
        self.git("branch", "-q", "-M", "new", "work")

    def backport(self) -> None:
        """A commit is taken to a release branch as well."""
        self.git("switch", "-q", "-C", "release", "main")
        self.pass_time()
        self.finish("cherry-pick", self.dice.choice(self.row()))
        self.git("switch", "-q", "work")

    def squash_merge(self) -> None:
        """A forge merges the branch as one commit, under an author and a time of its own; the branch goes."""
        if self.dice.random() < 0.5:
            self.trunk_moves()
        titles = self.git("log", "--format=* %s", "main..work")
        inside = {token for tokens in self.added("main..work").values() for token in tokens}
        self.git("switch", "-q", "main")
        self.git("merge", "-q", "--squash", "work", ok=False)
        self.pass_time()
        if self.git("ls-files", "-u"):
            self.git("reset", "-q", "--hard")
        else:
            who = self.dice.choice(("Ada Example <1+ada@users.example.org>", "Bob <bob@example.org>"))
            self.git("commit", "-q", "--author", who, "-m", "A feature (#7)", "-m", titles, ok=False)
            self.squashed[self.git("rev-parse", "HEAD")] = inside
            self.git("branch", "-q", "-D", "work")
            self.git("switch", "-q", "-c", "work")
            return
        self.git("switch", "-q", "work")

    def filter(self) -> None:
        """What filter-repo does: every commit anew, dates kept, and a map of its own."""
        parent = self.git("merge-base", "main", "work")
        pairs = []
        for oid in self.git("rev-list", "--reverse", "--first-parent", f"{parent}..work").split():
            name, mail, when, committed = self.git("show", "-s", "--format=%an%n%ae%n%at%n%ct", oid).split("\n")
            os.environ |= {"GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": mail, "GIT_AUTHOR_DATE": f"{when} +0000"}
            os.environ["GIT_COMMITTER_DATE"] = f"{committed} +0000"
            parent = self.git("commit-tree", f"{oid}^{{tree}}", "-p", parent, "-m", f"filtered {oid[:8]}")
            pairs.append(f"{oid} {parent}\n")
        for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL"):
            os.environ.pop(name, None)
        self.pass_time()
        self.git("reset", "-q", "--hard", parent)
        (self.repo / ".git/filter-repo").mkdir(exist_ok=True)
        (self.repo / ".git/filter-repo/commit-map").write_text("".join(("old new\n", *pairs)))

    def redo(self) -> None:
        """The last commit is undone and made again, or just undone."""
        if self.dice.random() < 0.6:
            title = self.git("log", "-1", "--format=%s")
            self.git("reset", "-q", "--soft", "HEAD^")
            self.pass_time()
            self.git("commit", "-q", "-m", self.dice.choice((title, "once more")), ok=False)
        else:
            self.git("reset", "-q", "--hard", "HEAD^")

    def revert(self) -> None:
        """A commit is taken back, and perhaps made good again."""
        self.pass_time()
        self.finish("revert", "--no-edit", self.dice.choice(self.row()))
        if self.dice.random() < 0.6 and "Revert" in self.git("log", "-1", "--format=%s"):
            self.pass_time()
            self.finish("revert", "--no-edit", "HEAD")

    def merge(self) -> None:
        self.trunk_moves()
        self.git("merge", "-q", "--no-edit", "main", ok=False)
        if (self.repo / ".git/MERGE_HEAD").exists():
            self.git("merge", "--abort")

    def play(self) -> None:
        for _ in range(self.dice.randint(3, 6)):
            self.commit()
        kinds = (self.amend, self.rebase, self.rebase_by_hand, self.rebase_by_hand, self.split, self.cherry_pick)
        kinds += (self.backport, self.squash_merge, self.filter, self.redo, self.revert, self.merge, self.noise)
        for _ in range(self.dice.randint(2, 4)):
            step = self.dice.choice(kinds)
            if len(self.row()) < 2:
                self.commit()
                self.commit()
            self.steps.append(step.__name__)
            step()
            self.learn()
            self.cite_again()
            if self.dice.random() < 0.3:
                self.commit()

    # -- asking

    def open(self) -> Clone:
        return Clone.open(str(self.repo.path), cache=str(self.repo.path.parent / "cache"))

    def added(self, *what: str) -> dict[str, set[str]]:
        """Which tokens each commit adds, by git's own account."""
        found: dict[str, set[str]] = {}
        for line in self.git("log", "-p", "--no-renames", "--format=commit %H", *what).split("\n"):
            if line.startswith("commit "):
                current = found.setdefault(line[7:], set())
            elif match := TOKEN.match(line):
                current.add(match[1])
        return found

    def learn(self) -> None:
        """What the next command does: take up what git told its hook."""
        path = self.repo / ".git/told"
        for said in path.read_text().split("--\n") if path.exists() else ():
            pairs = [(row.split()[0], row.split()[1]) for row in said.splitlines()]
            commit_anchors.learn(self.open(), pairs, kind="rebase")
        path.unlink(missing_ok=True)

    def forget(self) -> None:
        """Git throws away what no branch reaches."""
        self.git("update-ref", "-d", "ORIG_HEAD")
        self.git("reflog", "expire", "--expire=now", "--all")
        self.git("prune", "--expire=now")


def check(history: History, truth: dict[str, set[str]], tally: Counter[str], when: str) -> None:
    """Every answer is right, or none."""
    clone = history.open()
    Path(clone.layout.anchors, "answers.json").unlink(missing_ok=True)
    found = commit_anchors.resolve(clone, history.cited)
    for oid, token in history.cited.items():
        answer, possible = found[oid], {new for new, tokens in truth.items() if token in tokens}
        # What a later commit of the branch took back is part of the squash as well.
        part = {new for new, tokens in history.squashed.items() if answer.how == "squash" and token in tokens}
        assert is_right(answer, truth, possible | part), f"{when}: {answer} of {token} after {history.steps}"
        if answer.state != "holds":
            tally["asked"] += 1
            tally["possible"] += bool(possible)
            tally["found"] += answer.commit is not None
            tally[f"by {answer.how}"] += 1
            tally[f"possible, {when}"] += bool(possible)
            tally[f"found, {when}"] += answer.commit is not None


def is_right(answer: ResolvedCommit, truth: dict[str, set[str]], possible: set[str]) -> bool:
    match answer.state:
        case "holds":
            return answer.commit == answer.asked and answer.asked in truth
        case "moved":
            return answer.commit in possible
        case "unanchored":
            return answer.commit is None and answer.asked not in truth
        case _:
            return False


def ask(history: History, tally: Counter[str]) -> None:
    truth = history.added("--exclude=refs/stash", "--all")
    maps = [Path(history.open().layout.rewrites), history.repo / ".git/filter-repo/commit-map"]
    maps = [path for path in maps if path.exists()]
    hide(maps)
    check(history, truth, tally, "without a map")
    hide(maps, back=True)
    check(history, truth, tally, "with a map")
    history.forget()
    check(history, truth, tally, "with a map, thrown away")
    hide(maps)
    check(history, truth, tally, "thrown away")


def hide(maps: list[Path], *, back: bool = False) -> None:
    for path in maps:
        aside = path.with_name(path.name + ".aside")
        aside.rename(path) if back else path.rename(aside)


def play(tmp_path: Path, seed: int, cases: int) -> Counter[str]:
    """Histories, one after the other, until so many lost commits were asked for."""
    place = Place.make(tmp_path / "template")
    place.repo.write("shared.txt", "".join(f"line {n}\n" for n in range(30)))
    place.git("add", "-A")
    place.git("commit", "-q", "-m", "lines")
    place.hook("post-rewrite", HOOK.split("\n", 1)[1])
    tally: Counter[str] = Counter()
    number = 0
    while tally["asked"] < cases:
        path = tmp_path / f"h{number}"
        shutil.copytree(tmp_path / "template", path)
        history = History(path, seed + number)
        history.play()
        try:
            ask(history, tally)
        except AssertionError as error:
            raise AssertionError(f"history {seed + number}: {error}") from error
        shutil.rmtree(path)
        number += 1
    return tally


def judge(tally: Counter[str], *, useful: float) -> None:
    """Never wrong is easy for whoever never answers."""
    print(dict(tally))
    assert tally["found"] >= useful * tally["possible"], tally


def test_a_cited_commit_is_found_again_rightly_or_not_at_all(tmp_path: Path, seed: int) -> None:
    """Whoever acts on a wrong commit undoes somebody else's work."""
    judge(play(tmp_path, seed, 120), useful=0.75)  # a single history weighs much here


@pytest.mark.torture
def test_a_cited_commit_is_found_again_rightly_or_not_at_all_in_thousands_of_cases(tmp_path: Path, seed: int) -> None:
    """Rare rewrites are rare only for each of us."""
    judge(play(tmp_path, seed, 3000), useful=0.85)
