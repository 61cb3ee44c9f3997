"""Secrets that git brings: in names of files, branches and people, in messages, documents, code and entries.

Whoever pushes can put a secret anywhere git keeps text. None of it may reach a database, a view, an answer or
a model: those are copies that outlive the commit which takes the secret out again.
"""

import json
import os
import random
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.capture.user_command import UserModelCommand, ask
from holdfast.git.clone import Clone
from holdfast.interfaces import quick_recall
from tests.conftest import Cli, GitRepo, init
from tests.mcp.talking import Talk

from .fakes import ALNUM, HEX, PEM

PLACES = (
    *("file", "folder", "branch", "other", "author", "email", "subject", "body", "trailer", "page", "code"),
    *("task", "session", "note", "memory", "statement", "asked", "tag"),
)


class Planted:
    """One secret for each place, made from the seed."""

    def __init__(self, seed: int) -> None:
        chance = random.Random(seed)
        self.of = {place: "gh" + "p_" + "".join(chance.choice(ALNUM) for _ in range(34)) + "a1" for place in PLACES}
        self.key = "\n".join("".join(chance.choice(ALNUM + "+/") for _ in range(64)) for _ in range(90))
        self.hex = "".join(chance.choice(HEX) for _ in range(40))

    def __getitem__(self, place: str) -> str:
        return self.of[place]

    def left_in(self, data: bytes) -> list[str]:
        """The places whose secret stands there, whole or as pieces that a search would find, in any case."""
        data = data.lower()
        planted = [*self.of.items(), ("hex", self.hex), *(("key", line) for line in self.key.split("\n"))]
        return sorted({place for place, secret in planted if secret[6:26].lower().encode() in data})


@pytest.fixture
def planted(seed: int) -> Planted:
    return Planted(seed)


@pytest.fixture
def leaky(repo: GitRepo, planted: Planted, world: Path) -> GitRepo:
    """A repository in which everything that git keeps holds a secret."""
    page = f"# Deploying\n\nUse {planted['page']} to deploy the harbour crane.\n"
    key = f"{PEM}BEGIN RSA PRIVATE KEY{PEM}\n{planted.key}\n{PEM}END RSA PRIVATE KEY{PEM}\n"
    code = f'"""The crane."""\n\n\ndef crane():\n    return "{planted["code"]}"\n\n\nDATADOG = "{planted.hex}"\n'
    repo.write("docs/deploying.md", page)
    repo.write("docs/keys.md", f"# Keys of the crane\n\n{key}\n## After the keys\n\nThe crane is yellow.\n")
    repo.write("src/crane.py", code)
    repo.write(f"src/{planted['file']}.py", "def lever():\n    return 'the lever of the crane'\n")
    repo.write(f"{planted['folder']}/page.md", "# Ropes\n\nThe ropes of the crane.\n")
    said = (f"crane: lift {planted['subject']}", f"Because {planted['body']}.", f"Fixes: {planted['trailer']}")
    who = f"Ada {planted['author']} <ada@{planted['email']}.example>"
    repo.git("add", "-A")
    repo.git("commit", "-q", "--author", who, "-m", "\n\n".join(said))
    return repo


def calls(file: str, asked: str) -> Iterator[tuple[str, ...]]:
    """The commands that read and show."""
    yield from ((name,) for name in ("log", "timeline", "journal", "tasks", "next", "facts", "handoff", "state"))
    yield from ((name,) for name in ("reconcile", "doctor", "check", "stats", "curate"))
    yield from (("session", "show"), ("session", "list"), ("review", "list"))
    yield from (("why", file), ("why", "src/crane.py:5"), ("recall", asked))
    for options in ((), ("--json",)):
        yield from (
            ("recall", "crane", "--limit", "20", *options),
            ("recall", "lever", "--files", file, *options),
            ("why", f"{file}:1", *options),
            ("status", *options),
            ("context", *options),
            ("context", "--files", file, *options),
            ("log", *options),
        )


def test_no_secret_of_git_reaches_a_database_a_view_or_an_answer(
    cli: Cli, leaky: GitRepo, planted: Planted, world: Path
) -> None:
    """The copy in the index would still be told when the file is long gone."""
    leaks: dict[str, list[str]] = {}

    def look(where: str, said: str | bytes) -> None:
        if left := planted.left_in(said.encode("utf-8", "replace") if isinstance(said, str) else said):
            leaks[where] = left

    def run(*words: str, **env: str) -> str:
        answer = cli(*words, ok=False, **env)
        assert "this is a bug" not in answer.err, answer.err
        look(" ".join(words), answer.out + answer.err)
        return answer.out

    file = f"src/{planted['file']}.py"
    run("init")
    leaky.git("switch", "-q", "-c", f"feature/{planted['other']}")
    run("remember", "The crane of the other branch is green", "--type", "fact")
    run("publish")
    leaky.commit("src/other.py", "x = 1\n", f"other {planted['subject']}")
    leaky.git("switch", "-q", "-c", f"fix/{planted['branch']}", "main")
    run("session", "start", f"lift with {planted['session']}")
    run("task", "add", f"Lift with {planted['task']}")
    run("session", "note", f"tried {planted['note']}", "--decided", f"we use {planted['note']}")
    run("remember", f"The crane lifts with {planted['memory']}", "--tag", planted["tag"], "--type", "fact")
    run("remember", "The lever is long", "--applies-to", file, "--evidence", "src/crane.py", "--accept")
    run("remember", "The lever is short", "--evidence", f"{file}:1", "--accept")
    run("task", "add", "Oil the lever", "--id", "oil", "--evidence", file)
    run("task", "add", "Oil the crane", "--id", "oil", "--accept", f"{file} moves")
    run("next", "--claim")
    run("task", "start", "oil")
    run("link", "add", file)
    run("context", "--for", f"use {planted['asked']}", "--files", file)
    run("run", "--", sys.executable, "-c", f"open('{file}', 'a').write('# {planted['code']}')")
    leaky.git("commit", "-q", "-a", "-m", f"more {planted['subject']}")
    run("publish")
    _edit_memories(leaky, planted)
    run("index")
    for words in calls(file, planted["asked"]):
        run(*words)
    run("publish")
    for where, said in _by_mcp(leaky, planted):
        look(where, said)
    for path in (world / ".cache").rglob("*"):
        look(f"cache {path.name}", path.read_bytes() if path.is_file() else b"")
    for path in sorted((leaky.path / ".git" / "holdfast").rglob("*")):
        where = path.relative_to(leaky.path / ".git" / "holdfast")
        left = planted.left_in(path.read_bytes() if path.is_file() else b"")
        if where.parts[0] in ("lines", "seen", "sessions", "claims"):  # branches are followed by their names
            left = [place for place in left if place not in ("branch", "other")]
        leaks |= {f"store {where}": left} if left else {}
    for path in (leaky.path / ".holdfast" / "view").rglob("*"):
        look(f"view {path.name}", path.read_bytes() if path.is_file() else b"")
    print(json.dumps(leaks, indent=1))
    assert leaks == {}
    assert "[redacted:github].py" in run("recall", "lever", "--files", file)
    assert "lever" in run("why", f"{file}:1")
    line = (leaky / "docs/keys.md").read_text().split("\n").index("## After the keys") + 1
    assert f"docs/keys.md:{line} " in run("recall", "yellow crane")  # a hidden key still counts as lines


def _edit_memories(repo: GitRepo, planted: Planted) -> None:
    """What a pull request may bring: entries that no command of ours wrote."""
    folder = repo.path / ".holdfast" / "memory" / "facts"
    folder.mkdir(parents=True, exist_ok=True)
    for file in repo.path.glob(".holdfast/**/*.md"):
        if "crane" in file.read_text():
            file.write_text(file.read_text().replace("crane", f"crane of {planted['statement']}"))


def _model(world: Path) -> tuple[str, Path]:
    """A command that keeps what it is asked."""
    heard, path = world / "heard", world / "model"
    path.write_text(f'#!/bin/sh\ncat >> "{heard}"\necho "{{}}"\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path), heard


def _by_mcp(repo: GitRepo, planted: Planted) -> Iterator[tuple[str, str]]:
    """What the server answers to each call."""
    file = f"src/{planted['file']}.py"
    asked: list[tuple[str, dict[str, object]]] = [
        ("recall", {"query": "crane", "limit": 20}),
        ("recall", {"query": "lever", "files": [file]}),
        ("context", {"files": [file]}),
        ("tasks", {"action": "list"}),
        ("tasks", {"action": "next"}),
    ]
    with Talk(os.fspath(repo)) as talk:
        talk.greet()
        for name, arguments in asked:
            yield f"mcp {name}", json.dumps(talk.call(name, **arguments))
        for one in talk.ask("resources/list")["result"]["resources"]:
            yield f"mcp {one['uri']}", json.dumps(talk.ask("resources/read", uri=one["uri"]))


def test_a_rule_that_comes_later_holds_for_what_was_indexed_before(cli: Cli, repo: GitRepo, world: Path) -> None:
    """Freed pages of a database still hold what stood there."""
    badge = "badge-" + "77123"
    repo.commit("docs/gate.md", f"# The gate\n\nThe gate opens with {badge}.\n", f"gate: use {badge}")
    cli("init")
    assert badge in cli("recall", "gate").out

    def kept() -> bytes:
        return b"".join(path.read_bytes() for path in (world / ".cache").rglob("*.db*"))

    assert badge.encode() in kept()
    rules = {"HOLDFAST_REDACT_RULES": json.dumps(["badge-[0-9]{5}"])}
    said = cli("recall", "gate", **rules).out
    assert badge not in said and "[redacted:custom]" in said
    assert badge.encode() not in kept()


def test_what_a_model_is_asked_is_scanned(repo: GitRepo, cli: Cli, planted: Planted, world: Path) -> None:
    """What leaves the machine cannot be called back."""
    init(cli.cwd)
    model, heard = _model(world)
    clone = Clone.open(os.fspath(repo), cache=str(world / ".cache"))
    ask(clone, f"Summarise the branch {planted['branch']}", UserModelCommand(command=(model,), environ=os.environ))
    assert heard.read_text() == "Summarise the branch [redacted:github]"


def test_a_page_with_a_hidden_secret_can_be_edited(cli: Cli, repo: GitRepo, planted: Planted) -> None:
    """An edit of one memory must not rewrite its neighbour into a marker."""
    init(cli.cwd)
    names = [
        cli("remember", f"The {colour} crane lifts", "--type", "fact").out.split()[0] for colour in ("red", "blue")
    ]
    folder = repo.path / ".git" / "holdfast" / "candidates"
    for file in folder.glob("*.md"):
        if "red crane" in file.read_text():
            file.write_text(file.read_text().replace("red crane", f"red crane of {planted['memory']}"))
    cli("status")
    cli("remember", "The green crane lifts", "--type", "fact")
    page = repo.path / ".holdfast" / "view" / "candidates.md"
    shown = page.read_text()
    assert "red crane of [redacted:github]" in shown and planted["memory"] not in shown, names
    page.write_text(shown.replace("The blue crane lifts", "The blue crane lifts much"))
    said = cli("facts").err
    assert "edited in candidates.md" in said and said.count("edited in") == 1, said
    kept = "".join(file.read_text() for file in folder.glob("*.md"))
    assert planted["memory"] in kept and "blue crane lifts much" in kept


def test_the_quick_path_leaves_names_that_may_be_hidden_to_the_full_one(planted: Planted) -> None:
    """The index knows a file with a secret in its name by another name."""
    assert quick_recall.options(["lever", "--files", f"src/{planted['file']}.py"]) is None
    assert quick_recall.options(["lever", "--files", "password=hunter2"]) is None
    assert quick_recall.options(["lever", "--files", "tests/test_names_and_content_of_files.py"]) is not None
