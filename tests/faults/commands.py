"""A project with something for every command to do, and every command with sensible arguments.

The tests that kill commands, fill disks and look at modes share it: it is grown once in a session, and each
case is played in a copy that lies at the same path, because agents' transcripts name the project's folder.
"""

import json
import os
import shutil
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from holdfast.interfaces.cli.main import main
from holdfast.project import Project
from tests import making
from tests.capture.rollouts import rollout
from tests.cli.test_importing import claude, gemini
from tests.conftest import GITCONFIG, Answer, Cli, GitRepo, clean_environment, make_repo, redirected, whole

from .scene import leave_work

AGENTS = {
    ".claude/settings.json": '{\n  "model": "opus",\n  "env": {"MINE": "kept"}\n}\n',
    ".claude.json": '{"numStartups": 3}\n',
    ".codex/config.toml": '# mine\nmodel = "gpt-x"\n',
    ".gemini/settings.json": '{"theme": "Dark"}\n',
}

RECORD = "# 1. Keep a log\n\n## Status\n\nAccepted\n\n## Decision\n\nWe will keep a log.\n"

# Every command, with arguments that let it do its work on the project below. `{name}` is replaced by what
# `grow` made.
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "": (),
    "agent": (),
    "agent cycles": ("mailer",),
    "agent export": ("{out}/agents.jsonl",),
    "agent import": ("{home}/agents.jsonl",),
    "agent list": (),
    "agent migrate": ("--sql",),
    "agent move": ("--to", "sqlite:///{out}/agents.db"),
    "agent prune": ("mailer", "--budget", "0", "--yes"),
    "agent resume": ("mailer", "--output", "was sent"),
    "agent show": ("mailer",),
    "agent workspace": (),
    "agent workspace diff": ("mailer", "0"),
    "agent workspace list": ("mailer",),
    "agent workspace restore": ("mailer", "0", "--into", "{out}/files"),
    "check": ("--base", "main"),
    "connect": ("codex", "claude", "gemini", "--yes"),
    "context": ("--for", "the queue"),
    "crew": (),
    "crew allow": ("--yes",),
    "crew clean": ("--yes",),
    "crew explain": ("{task}",),
    "crew plan": ("Write it down",),
    "crew resume": ("--agent", "true"),
    "crew run": ("Write it down", "--dry-run"),
    "crew status": (),
    "crew stop": (),
    "crew watch": (),
    "crew work": ("--agent", "true"),
    "curate": (),
    "diff": ("{run}",),
    "disconnect": ("--yes",),
    "doctor": ("--repair", "--yes"),
    "edit": ("{memory}", "--why", "Because it was measured."),
    "erase": ("{run}", "--yes"),
    "export adr": ("{out}/adr",),
    "export bundle": ("{out}/bundle",),
    "export codex": ("{session}", "--to", "{out}/rollout.jsonl"),
    "export html": ("{out}/memory.html",),
    "export jsonl": ("{session}", "--to", "{out}/session.jsonl"),
    "export markdown": ("{session}", "--to", "{out}/session.md"),
    "graph": ("--svg", "--to", "{out}/graph.svg"),
    "handoff": (),
    "help": ("why",),
    "hooks": (),
    "hooks install": (),
    "hooks remove": (),
    "hooks status": (),
    "import adr": ("docs/adr",),
    "import bundle": ("{home}/bundle",),
    **{
        f"import {name}": ()
        for name in (
            *("claude", "cline", "codex", "copilot", "entire", "gemini"),
            *("kimi", "opencode", "pi", "qwen", "specstory"),
        )
    },
    "import memory": ("{home}/notes.md",),
    "index": (),
    "init": ("--commit",),
    "journal": ("--all", "--render"),
    "keys": (),
    "keys destroy": ("0123456789abcdef", "--yes"),
    "keys list": (),
    "keys rotate": (),
    "link": (),
    "link add": ("https://example.org/spec", "--title", "The specification"),
    "link list": (),
    "link remove": ("{link}",),
    "log": ("--checkpoint", "{out}/checkpoint"),
    "mcp": (),
    "memories": (),
    "model": (),
    "model add": ("--from", "{home}/no-model"),
    "model embed": (),
    "model remove": ("--yes",),
    "model status": (),
    "model use": ("words",),
    "next": ("--claim",),
    "prune": ("--older-than", "1d", "--yes"),
    "publish": (),
    "recall": ("what is the queue",),
    "receipts": ("{run}",),
    "reconcile": ("--apply",),
    "remember": ("Builds need ninja.", "--evidence", "README"),
    "reset": ("sessions", "--yes"),
    "review": (),
    "review accept": ("{first}",),
    "review list": (),
    "review merge": ("{second}", "{first}"),
    "review reject": ("{second}", "--reason", "it is not so"),
    "review retire": ("{memory}", "--reason", "no longer so"),
    "review undo": (),
    "run": ("--task", "db", "--", "true"),
    "scan": (),
    "session": (),
    "session edit": ("{session}", "--objective", "Build the lexer"),
    "session end": ("{session}", "--summary", "It is built."),
    "session list": (),
    "session note": ("The lexer is half done.", "--open", "finish it"),
    "session show": ("{session}",),
    "session start": ("Another thing", "--again"),
    "show": ("{memory}",),
    "state": (),
    "start": ("--yes",),
    "stats": (),
    "status": (),
    "supersede": ("{memory}", "The queue is in Redis.", "--evidence", "README", "--accept"),
    "task": (),
    "team": (),
    "team push": (),
    "task add": ("Write the parser",),
    "task block": ("{task}", "--reason", "no time"),
    "task done": ("{task}", "--evidence", "README"),
    "task drop": ("{task}", "--reason", "not needed"),
    "task edit": ("{task}", "--priority", "1"),
    "task export": (),
    "task graph": (),
    "task import": ("{home}/tasks.jsonl",),
    "task link": ("{task}", "{other}"),
    "task list": (),
    "task proposed": (),
    "task release": ("{other}",),
    "task reopen": ("{done}",),
    "task resolve": (),
    "task show": ("{task}",),
    "task start": ("{task}",),
    "trust": ("--yes",),
    "trust revoke": (),
    "trust status": (),
    "try": (),
    "uninstall": ("--yes",),
    "web": ("--no-browser",),
    "why": ("src/db.py:1",),
}


def every_command() -> Iterator[str]:
    """The names in the command table, groups too."""

    def walk(command: click.Command, names: tuple[str, ...]) -> Iterator[str]:
        if not isinstance(command, click.Group) or command.invoke_without_command:
            yield " ".join(names)
        if isinstance(command, click.Group):
            for name in command.list_commands(context := click.Context(command)):
                inner = command.get_command(context, name)
                assert inner is not None
                yield from walk(inner, (*names, name))

    from holdfast.interfaces.cli.root import root

    return walk(root, ())


@dataclass(slots=True)
class Stage:
    """A folder with a home and a project in it; `rise` makes it as it was grown."""

    folder: Path
    names: dict[str, str] = field(default_factory=dict)

    @property
    def repo(self) -> GitRepo:
        return GitRepo(self.folder / "repo")

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def environment(self) -> dict[str, str]:
        return clean_environment(self.home)

    def argv(self, command: str) -> list[str]:
        words = [word.format(**self.names) for word in ARGUMENTS[command]]
        return [*command.split(), *words]

    def rise(self, kept: str = "kept") -> None:
        for name in ("repo", "home", "out"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
        for name in ("repo", "home"):
            shutil.copytree(self.folder / kept / name, self.folder / name, symlinks=True)
        (self.folder / "out").mkdir()
        index = self.repo / ".git/index"
        index.write_bytes(making.index_of(self.repo.path, index.read_bytes()))

    def keep(self, kept: str) -> None:
        """Let `rise` come back to how it is now."""
        for name in ("repo", "home"):
            shutil.copytree(self.folder / name, self.folder / kept / name, symlinks=True)

    def act(self, argv: list[str], **more: str) -> Answer:
        """The command, in this process and in this world; for a process of its own, see `in_child`."""
        os.environ.clear()
        os.environ.update(self.environment(), **more)
        return run_here(argv, self.repo.path)

    def users(self) -> tuple[str, dict[str, bytes]]:
        """What is the user's: git's index and every file of the work tree, ignored ones too, but for ours."""
        index = self.repo.git("ls-files", "-s", "-t", "--", ".", ":(exclude).holdfast")
        return index, {
            name: data
            for name, data in contents(self.repo.path).items()
            if not name.startswith((".git/", ".holdfast/"))
        }


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def apart(act: Callable[[], Any]) -> Any:
    """What `act` gives in a process of its own, through JSON; it fails here if it fails there."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        said = ""
        try:
            said = json.dumps({"gave": act()})
        except BaseException:  # noqa: BLE001
            said = json.dumps({"failed": traceback.format_exc()})
        finally:
            os.close(reading)
            with os.fdopen(writing, "w") as out:
                out.write(said)
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as reports:
        text = reports.read()
    os.waitpid(child, 0)
    found = json.loads(text)
    assert "failed" not in found, found["failed"]
    return found["gave"]


def run_here(argv: list[str], cwd: Path) -> Answer:
    """The command in this process."""
    here = os.getcwd()
    os.chdir(cwd)
    try:
        with redirected(b"") as (out, err):
            code = main(argv)
            sys.stdout.flush()
            sys.stderr.flush()
            return Answer(code, whole(out), whole(err))
    finally:
        os.chdir(here)


def grow(folder: Path) -> Stage:
    """A project in the middle of work: something waits for a person, something for git, and git moved."""
    stage = Stage(folder)
    home = stage.home
    home.mkdir(parents=True)
    (home / ".gitconfig").write_text(GITCONFIG)
    for name, text in AGENTS.items():
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text(text)
    environ, before = stage.environment(), dict(os.environ)
    os.environ.clear()
    os.environ.update(environ)
    try:
        _grow(stage)
    finally:
        os.environ.clear()
        os.environ.update(before)
    stage.keep("kept")
    return stage


def _grow(stage: Stage) -> None:
    repo = make_repo(stage.folder / "repo")
    cli = Cli(repo.path)
    names = stage.names
    names |= {"home": str(stage.home), "out": str(stage.folder / "out")}

    def made(*words: str) -> dict[str, object]:
        return dict(json.loads(cli(*words, "--json").out))

    def proposed(statement: str, *more: str) -> str:
        return str(made("remember", statement, "--evidence", "README", *more)["id"])

    repo.commit("src/db.py", "TIMEOUT = 30\n")
    repo.write("docs/adr/0001-keep-a-log.md", RECORD)
    repo.git("add", "docs")
    repo.git("commit", "-q", "-m", "records")
    cli("init", "--commit")
    repo.git("init", "-q", "--bare", str(stage.home / "origin.git"))
    repo.git("remote", "add", "origin", str(stage.home / "origin.git"))
    repo.git("push", "-q", "-u", "origin", "main")
    repo.git("switch", "-q", "-c", "work")
    cli("run", "--task", "db", "--", "true")
    names["run"] = json.loads(cli("log", "--json").out.splitlines()[-1])["run_id"]
    cli("export", "bundle", str(stage.home / "bundle"))
    person = Project.open(repo.path, person=True)
    names["memory"] = person.memory.remember(
        "The queue is in Postgres.", kind="decision", evidence=["README"], accept=True, reviewer="Ada"
    ).id
    cli("publish")
    names["first"] = proposed("Tests need Postgres 16.")
    names["second"] = proposed("The parser is generated.")
    names["third"] = proposed("Releases are cut on Mondays.")
    cli("review", "reject", names["third"], "--reason", "on Tuesdays")
    names["task"] = str(made("task", "add", "Write the lexer")["id"])
    names["other"] = str(made("task", "add", "Write the docs")["id"])
    names["done"] = str(made("task", "add", "Write the tests")["id"])
    cli("task", "start", names["other"])
    names["link"] = str(made("link", "add", "https://example.org/issue", "--title", "The issue")["id"])
    names["session"] = str(made("session", "start", "Build the parser")["id"])
    cli("session", "note", "Began.", "--open", "finish the lexer")
    commit = repo.commit("src/tests.py", "def test(): pass\n")
    cli("task", "done", names["done"], "--evidence", f"commit:{commit}")
    repo.git("commit", "-q", "--amend", "-m", "tests, reworded")
    cli("status")
    _transcripts(stage, repo)
    _agent(stage, person)
    (stage.home / "notes.md").write_text("# Notes\n\n- Never log a password.\n")
    (stage.home / "tasks.jsonl").write_text('{"id": "TSK-imported1", "title": "From elsewhere"}\n')
    leave_work(repo)


def _agent(stage: Stage, project: Project) -> None:
    """An agent of one's own that was interrupted: its files, its memory, and a copy of it."""
    files = stage.home / "files"
    files.mkdir()
    (files / "mail.txt").write_text("Hello\n")
    agent = project.agents.get("mailer", directives=["Send each mail once."])
    agent.workspace("main", files)
    with agent.cycle() as cycle:
        cycle.propose(tool="write", workspace="main")
        cycle.result(output="written", state=1)
    agent.remember("Mails go out on Mondays.")
    agent.cycle().propose(tool="send")
    agent.let_go()
    project.agents.export(str(stage.home / "agents.jsonl"))
    project.agents.database.close()


def _transcripts(stage: Stage, repo: GitRepo) -> None:
    said = "We decided to use Postgres for the queue, because SQLite locks under load."
    file = rollout(stage.home / ".codex", os.fspath(repo))
    file.asks("Which store should the queue use?").plans(write_docs="pending").done(said)
    claude(stage.home, repo)
    gemini(stage.home, repo)
