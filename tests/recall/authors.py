"""Histories in which it is known who wrote each line: agents, whose transcripts are taken in, and a person.

Every line carries the mark of who wrote it: a word of its own, or, where it is a line as everybody writes it,
the blanks at its end, which neither `git blame -w` nor Holdfast looks at.
"""

import json
import os
import random
import shutil
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from holdfast.capture.agents import dialect
from holdfast.capture.ingest import agent_session
from holdfast.capture.run import CommandOutcome, run_command
from holdfast.project import Project
from holdfast.recall.pack import sent_packs
from tests.capture import claude_lines as claude
from tests.conftest import GitRepo, make_repo
from tests.making import take_in

START = 1_770_000_000
PERSON, SHELL = "person", "shell"
COMMON = ("return None", "}", "import os", "else:", "    pass", "x = 1", "self.close()", "")

Author = tuple[str, int] | str  # session and turn, or who else


@dataclass
class World:
    """A repository with a memory, in a time of its own."""

    repo: GitRepo
    home: Path
    dice: random.Random = field(default_factory=random.Random)
    tick: int = START
    authors: dict[str, Author] = field(default_factory=dict)  # what marks a line -> who wrote it
    runs: dict[str, str] = field(default_factory=dict)  # run -> its session
    taken_out: set[str] = field(default_factory=set)
    marks: int = 0

    @classmethod
    def make(cls, folder: Path, template: Path, seed: int = 0) -> "World":
        """A new one; the template is made once and copied."""
        if not template.exists():
            _dated(START)
            made = make_repo(template)
            Project.init(made.path, commit=True)
        shutil.copytree(template, folder / "repo", symlinks=True)
        world = cls(GitRepo(folder / "repo"), folder / "claude", random.Random(seed))
        world.wait(60)
        world.git("update-index", "-q", "--refresh")
        return world

    def git(self, *args: str, ok: bool = True) -> str:
        return self.repo.git(*args, ok=ok)

    def wait(self, seconds: int | None = None) -> None:
        self.tick += self.dice.choice((5, 40, 900)) if seconds is None else seconds
        _dated(self.tick)

    @property
    def now(self) -> str:
        return f"{datetime.fromtimestamp(self.tick, UTC):%Y-%m-%dT%H:%M:%S}.000Z"

    def open(self) -> Project:
        return Project.open(self.repo.path)

    # -- files

    def read(self, name: str) -> list[str]:
        path = self.repo / name
        return path.read_text().split("\n")[:-1] if path.exists() else []

    def write(self, name: str, text: list[str]) -> None:
        self.repo.write(name, "".join(f"{line}\n" for line in text))

    def new_line(self, by: Author, *, common: float = 0.3) -> str:
        """A line nobody wrote before, or one as everybody writes it, marked by the blanks at its end.

        Whoever is not recorded does not type again what was taken out by hand: to git it was never gone.
        """
        self.marks += 1
        text = self.dice.choice(COMMON)
        if self.dice.random() < common and not (isinstance(by, str) and text.strip() in self.taken_out):
            line = text + "".join(" \t"[bit == "1"] for bit in f"{self.marks:b}")
        else:
            line = f"value_{self.marks:05d} = compute(step={self.dice.getrandbits(32):08x})"
        self.authors[line] = by
        return line

    def edited(self, text: list[str], by: Author) -> tuple[list[str], list[str], list[str]]:
        """Some lines more, some less: the new text, what was added and what was removed."""
        text, added, removed = list(text), [], []
        if text and self.dice.random() < 0.4:
            at = self.dice.randrange(len(text))
            removed = text[at : at + self.dice.randint(1, 2)]
            del text[at : at + len(removed)]
            self.taken_out |= {line.strip() for line in removed if isinstance(by, str)}
        at = self.dice.randint(0, len(text))
        added = [self.new_line(by) for _ in range(self.dice.randint(1, 4))]
        return [*text[:at], *added, *text[at:]], added, removed

    # -- who does what

    def person_edits(self, name: str) -> None:
        self.wait()
        self.write(name, self.edited(self.read(name), PERSON)[0])

    def commit(self, message: str = "work") -> str:
        """Everything as it lies there, by the person; nothing if there is nothing."""
        self.wait()
        self.git("add", "-A")
        self.git("commit", "-q", "-m", f"{message} {self.tick}", ok=False)
        return self.git("rev-parse", "HEAD")

    def command(self, script: str) -> CommandOutcome:
        """`holdfast run` of a script that works for some seconds; its commits are made in the midst of it."""
        top, began = str(self.repo.path), datetime.fromtimestamp(self.tick, UTC)
        mark = self.repo / ".git" / "done"
        mark.unlink(missing_ok=True)
        self.wait(50)
        clone = Project.open(top, clock=lambda: began + timedelta(seconds=100 * mark.exists())).clone
        words = ["sh", "-c", f'cd "$0" && {{ {script}; }} >/dev/null 2>&1; touch .git/done', top]
        done = run_command(clone, words, environ=dict(os.environ), cwd=top)
        self.wait(100)
        return done

    def session(self) -> "Session":
        return Session(self, self.home / f"{self.tick}-{self.dice.getrandbits(32):08x}.jsonl")


def _dated(tick: int) -> None:
    os.environ["GIT_COMMITTER_DATE"] = os.environ["GIT_AUTHOR_DATE"] = f"{tick} +0000"


@dataclass
class Session:
    """A session of Claude Code that works in the repository and writes its transcript."""

    world: World
    path: Path
    turn: int = 0
    calls: int = 0
    run: str | None = None

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def me(self) -> Author:
        return self.name, self.turn

    def tell(self, record: dict[str, Any]) -> None:
        world = self.world
        record |= {"timestamp": world.now, "cwd": str(world.repo.path), "sessionId": self.name}
        head = (world.repo / ".git/HEAD").read_text().strip()
        record["gitBranch"] = head.removeprefix("ref: refs/heads/") if head.startswith("ref: ") else "HEAD"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    def told(self, *files: str) -> "Session":
        """Give it a pack, as its hook does when it starts."""
        project = self.world.open()
        owner = agent_session.session_id("claude", self.name)
        sent_packs.keep(project.clone, project.context(files=files), owner=owner, ts=project.clone.now())
        return self

    def asks(self, prompt: str | None = None) -> "Session":
        self.turn += 1
        self.world.wait()
        self.tell(claude.user(prompt or f"please do step {self.turn} of {self.name}"))
        return self

    def uses(self, tool: str, told: Any, said: str = "ok", **given: Any) -> None:
        self.calls += 1
        call = f"toolu_{self.name}_{self.calls}"
        self.tell(claude.assistant(claude.use(tool, call, **given)))
        self.world.wait(1)
        self.tell(claude.result(said, call, told=told))
        self.world.wait(1)

    def done(self, words: str = "That is done now.") -> "Session":
        self.tell(claude.assistant(claude.text(words)))
        self.world.wait()
        return self

    def patches(
        self, name: str, text: list[str], added: list[str], removed: list[str], *, proposed: list[str] | None = None
    ) -> "Session":
        """Change a part of a file, as `Edit` tells it; if it `proposed` others, a person changed them."""
        full = str(self.world.repo / name)
        rows = [*(f"-{line}" for line in removed), *(f"+{line}" for line in added)]
        self.world.write(name, text)
        told = {"filePath": full, "structuredPatch": [{"lines": rows}], "userModified": proposed is not None}
        old, new = "\n".join(removed), "\n".join(added if proposed is None else proposed)
        self.uses("Edit", told, file_path=full, old_string=old, new_string=new)
        return self

    def edits(self, name: str) -> "Session":
        """Write something into a file; a new one is made whole."""
        before = self.world.read(name)
        if not before:
            return self.writes(name, self.world.edited([], self.me)[0])
        return self.patches(name, *self.world.edited(before, self.me))

    def proposes(self, name: str) -> "Session":
        """Write something into a file of which a person changes a part before it is done."""
        before = self.world.read(name)
        if not before:
            return self.edits(name)
        text, added, removed = self.world.edited(before, self.me)
        dropped = self.world.dice.choice(added)
        common = 0.0 if dropped.strip() in map(str.strip, COMMON) else 0.3  # else it would be no change
        mended = self.world.new_line(PERSON, common=common)
        text[text.index(dropped)] = added[added.index(dropped)] = mended
        proposed = [dropped if line == mended else line for line in added]
        return self.patches(name, text, added, removed, proposed=proposed)

    def writes(self, name: str, text: list[str], *, known: bool = True) -> "Session":
        """Write a file whole, as `Write` tells it; unless it is `known`, not what stood there before."""
        full, before = str(self.world.repo / name), self.world.read(name)
        self.world.write(name, text)
        content = "".join(f"{line}\n" for line in text)
        old = "".join(f"{line}\n" for line in before) if before else None
        told = {"type": "update" if before else "create", "filePath": full, "content": content}
        self.uses("Write", told | ({"originalFile": old} if known else {}), file_path=full, content=content)
        return self

    def rewrites(self, name: str) -> "Session":
        """Write a file anew with everything that stood there and some more."""
        text = self.world.edited(self.world.read(name), self.me)[0]
        return self.writes(name, text, known=self.world.dice.random() < 0.7)

    def shells(self, name: str) -> "Session":
        """Change a file by a command: nobody can tell what it wrote."""
        text = self.world.edited(self.world.read(name), SHELL)[0]
        self.world.write(name, text)
        self.uses("Bash", {"stdout": ""}, "", command=f"sed -i s/a/b/ {name}")
        return self

    def commits(self, message: str = "agent", *options: str) -> str:
        """Commit everything by a call of git."""
        world = self.world
        world.git("add", "-A")
        command = f"git commit -qm '{message} {world.tick}'"
        self.calls += 1
        call = f"toolu_{self.name}_{self.calls}"
        self.tell(claude.assistant(claude.use("Bash", call, command=command)))
        world.wait(1)
        world.git("commit", "-q", *options, "-m", f"{message} {world.tick}", ok=False)
        world.wait(1)
        self.tell(claude.result("", call, told={"stdout": ""}))
        world.wait(4)
        return world.git("rev-parse", "HEAD")

    def ends(self) -> str | None:
        """Take the session in; gives its run."""
        if self.turn == 0:
            return None
        self.done()
        os.utime(self.path, (self.world.tick, self.world.tick))
        taken = take_in(self.world.open().clone, dialect("claude"), str(self.path), ended=True)
        assert taken is not None and len(taken.runs) == 1, taken
        self.run = taken.runs[0]
        self.world.runs[self.run] = self.name
        return self.run
