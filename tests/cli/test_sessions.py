"""`holdfast session` as people and tools use it."""

import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.conftest import Cli, GitRepo, init

SCHEMA = Path(__file__).parents[2] / "docs" / "schemas" / "session.schema.json"
SES = re.compile(r"SES-[0-9a-z]{6}")
HEX = re.compile(r"\b[0-9a-f]{10,40}\b")
DAY = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d")


@pytest.fixture
def ready(cli: Cli) -> Cli:
    init(cli.cwd, commit=True)
    return cli


def golden(text: str) -> str:
    """A screen without what differs every time."""
    return DAY.sub("DATE", HEX.sub("COMMIT", SES.sub("SES-xxxxxx", text)))


def told(cli: Cli, *args: str) -> Any:
    return json.loads(cli(*args, "--json").out)


def test_the_first_session_reads_like_a_story(ready: Cli, repo: GitRepo) -> None:
    """The first screen decides whether anybody uses it again."""
    assert ready("session").out == ('There is no session yet.\n\nStart one with: holdfast session start "what for"\n')
    assert golden(ready("session", "start", "Parse the new config format").out) == (
        "SES-xxxxxx  Parse the new config format\n"
        "  on main at COMMIT\n"
        "\n"
        'Say what you do with: holdfast session note "what was done"\n'
    )
    repo.commit("parser.py", "x = 1\n")
    note = ready(
        *("session", "note", "Wrote the tokenizer", "--open", "errors need line numbers"),
        *("--ask", "may I drop the old format?", "--follow-up", "tell the docs team"),
        *("--ran", "make test", "--failed", "make lint", "--decided", "Tabs are errors"),
    )
    assert golden(note.out) == (
        "SES-xxxxxx  turn 1: Wrote the tokenizer\n"
        "  1 commit, 1 file, 2 commands since the last turn\n"
        "  open      o1  errors need line numbers\n"
        "  asked     a1  may I drop the old format?\n"
        "  later     f1  tell the docs team\n"
    )
    assert golden(ready("session", "note", "--close", "o1", "--granted", "a1").out) == (
        "SES-xxxxxx  noted\n  later     f1  tell the docs team\n"
    )
    assert golden(ready("session", "show").out) == (
        "SES-xxxxxx  Parse the new config format\n"
        "  open on main at COMMIT, 1 turn, begun just now, updated just now\n"
        "\n"
        "Turns\n"
        "  1. Wrote the tokenizer  [COMMIT]\n"
        "\n"
        "Decided\n"
        "  Tabs are errors\n"
        "\n"
        "Answered\n"
        "  allowed   a1  may I drop the old format?\n"
        "\n"
        "Open\n"
        "  later     f1  tell the docs team\n"
        "\n"
        "Failed when last run\n"
        "  make lint\n"
        "\n"
        "Files\n"
        "  parser.py\n"
    )
    assert golden(ready("session", "end", "--summary", "The parser works").out) == (
        "SES-xxxxxx  ended: The parser works\n"
        "  1 commit, 1 file, 1 line added, 0 removed\n"
        "\n"
        "Still open:\n"
        "  later     SES-xxxxxx:f1  tell the docs team\n"
    )
    assert golden(ready("session", "list").out) == (
        "0 sessions open, 1 ended.\n\n  ●  SES-xxxxxx  Parse the new config format  main  1 turn  1 open  just now\n"
    )
    assert repo.status() == ""


@pytest.mark.parametrize("empty", ["", "  \n"])
def test_a_session_says_what_it_is_for(ready: Cli, empty: str) -> None:
    """Whoever takes over reads the objective first; "no objective" helps nobody."""
    refused = ready("session", "start", empty, ok=False)
    assert refused.err == "error: the objective is empty\nhint: Say in one sentence what the session is for.\n"
    assert refused.code == 14 and not told(ready, "session", "list")["items"]


def test_every_answer_is_an_object_with_json(ready: Cli) -> None:
    """Agents read objects, and the stored session is the one its schema describes."""
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
    name = told(ready, "session", "start", "Objective", "--agent", "codex")["id"]
    noted = told(ready, "session", "note", "One", "--open", "left")
    assert (noted["id"], noted["turn"]["n"], noted["started"]) == (name, 1, False)
    shown = told(ready, "session", "show", name[4:])
    assert shown.pop("v") == 1
    validator.validate(shown)
    assert shown == noted["session"]
    listed = told(ready, "session", "list")["items"]
    assert [(one["id"], one["here"], one["open"], one["stale"]) for one in listed] == [(name, True, 1, None)]
    assert told(ready, "session", "edit", name, "--summary", "S")["summary"] == "S"
    brief = told(ready, "session", "show", "--brief")
    assert brief["over"] is False and "- o1 left" in brief["text"] and brief["tokens"] < 100
    ended = told(ready, "session", "end")
    assert (ended["id"], ended["session"]["state"], ended["proposals"], ended["done"]) == (name, "ended", [], [])


def test_a_rewritten_commit_is_shown_by_its_new_name(ready: Cli, repo: GitRepo) -> None:
    """A commit that git does not have any more cannot be looked at."""
    ready("session", "start", "x")
    repo.commit("a.txt")
    ready("session", "note", "one")
    repo.git("commit", "-q", "--amend", "-m", "another message")
    ready("reconcile", "--apply")
    assert f"open on main at {repo.git('rev-parse', 'HEAD')[:12]}, 1 turn" in ready("session", "show").out


def test_the_text_for_an_agent_keeps_to_the_budget(ready: Cli) -> None:
    """An agent's window is small."""
    for n in range(4):
        ready("session", "note", f"turn {n} " + "word " * 120)
    told_text = ready("session", "show", "--brief", "--budget", "150").out.rstrip("\n")
    assert len(told_text.encode()) <= 600 and "turn 3" in told_text


def test_a_branch_change_is_said_beside_the_answer(ready: Cli, repo: GitRepo) -> None:
    """Who does not see that a new session began looks for the old one's items in vain."""
    ready("session", "note", "On main", "--open", "stays here")
    repo.git("switch", "-q", "-c", "feature/ünï")
    answer = ready("session", "note", "On the branch")
    assert "stays open" in answer.err and "feature/ünï" in answer.err and "stays here" not in answer.out
    assert "(here)" in next(row for row in ready("session", "list").out.splitlines() if "feature" in row)
    shown = ready("session", "show").out
    assert "continues SES-" in shown


def test_refusals_name_the_next_step(ready: Cli) -> None:
    """An error without a way on ends the work."""
    name = told(ready, "session", "start", "One")["id"]
    again = ready("session", "start", "Two", ok=False)
    assert again.code == 14 and f"{name} is open here" in again.err and "--again" in again.err
    assert ready("session", "start", "Two", "--again").code == 0
    wrong = ready("session", "note", "x", "--close", "o9", ok=False)
    assert wrong.code == 13 and "Nothing is open there" in wrong.err
    assert ready("session", "note", ok=False).code == 14
    ready("session", "end")
    assert "session start" in ready("session", "end", ok=False).err
    assert ready("session", "show", "SES-zzzzzz", ok=False).code == 13
    assert ready("session", "edit", name, ok=False).code == 14


def test_texts_come_from_stdin_too(ready: Cli) -> None:
    """Shells make quoting a paragraph a pain."""
    ready("session", "start", "-", data="Objective\nof two lines\n")
    ready("session", "note", "-", data="Line one\nline two\n")
    session = told(ready, "session", "show")
    assert session["objective"] == "Objective\nof two lines" and session["turns"][0]["summary"] == "Line one\nline two"
    assert ready("session", "note", "-", data=b"\xff\xfe", ok=False).code == 14


def test_a_session_switched_off_leaves_no_files(ready: Cli, repo: GitRepo) -> None:
    """Who does not want sessions must not find them."""
    repo.write(".holdfast/holdfast.toml", "[features]\nsessions = false\n")
    for args in (("start", "x"), ("note", "x"), ("end",), ("list",), ("show",)):
        assert ready("session", *args, ok=False).code == 41
    assert not list((repo.path / ".git" / "holdfast").glob("sessions/*"))


def started_task(cli: Cli, repo: GitRepo) -> str:
    name = str(told(cli, "task", "add", "Write the parser")["id"])
    cli("task", "start", name)
    cli("session", "start", "Parser", "--task", name)
    repo.commit("parser.py", message=f"Parser ({name})")
    return name


def test_the_end_names_tasks_that_may_be_done_and_finishes_only_the_named(ready: Cli, repo: GitRepo) -> None:
    """A roadmap that marks itself done is worth nothing."""
    name = started_task(ready, repo)
    ending = ready("session", "end").out
    assert "These tasks may be done:" in ending and name in ending and f"holdfast task done {name}" in ending
    assert told(ready, "task", "show", name)["status"] == "started"


def test_done_finishes_a_task_with_the_commits_as_evidence(ready: Cli, repo: GitRepo) -> None:
    """Evidence that somebody has to type is evidence nobody gives."""
    name = started_task(ready, repo)
    ended = told(ready, "session", "end", "--done", name[4:])
    assert ended["done"] == [name]
    shown = told(ready, "task", "show", name)
    assert shown["status"] == "done"
    assert f"commit:{repo.git('rev-parse', 'HEAD')}" in shown["evidence"]


def test_a_task_that_cannot_be_finished_does_not_undo_the_end(ready: Cli, repo: GitRepo) -> None:
    """The session is over whatever becomes of the task."""
    ready("session", "start", "x")
    answer = ready("session", "end", "--done", "TSK-nobody", ok=False)
    assert answer.code == 13 and "ended" in answer.out
    assert told(ready, "session", "list")["items"][0]["state"] == "ended"
    assert repo.status() == ""


def on_a_terminal(repo: GitRepo, keys: bytes, *args: str) -> str:
    """What somebody at a terminal sees, who types these keys when asked."""
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "holdfast", *args], cwd=repo.path, stdin=child, stdout=child, stderr=child
    )
    os.close(child)
    seen, until = b"", time.monotonic() + 60
    while time.monotonic() < until and select.select([parent], [], [], 60)[0]:
        try:
            seen += os.read(parent, 4096)
        except OSError:  # Linux says so when the last writer closes a terminal
            break
        if keys and b"[y/N]" in seen:
            os.write(parent, keys)
            keys = b""
    os.close(parent)
    assert process.wait(60) == 0, seen
    return seen.decode()


def test_on_a_terminal_each_task_is_asked_for(ready: Cli, repo: GitRepo) -> None:
    """One key is less than a command that nobody remembers."""
    name = started_task(ready, repo)
    seen = on_a_terminal(repo, b"y\n", "session", "end")
    assert f"Is {name} done?" in seen and f"Finished: {name}" in seen
    assert told(ready, "task", "show", name)["status"] == "done"


def test_a_recorded_run_is_in_the_session(ready: Cli) -> None:
    """`holdfast run` inside a session is part of it."""
    ready("session", "start", "Test")
    ready("run", "--", "sh", "-c", "exit 3", ok=False)
    commands = told(ready, "session", "show")["commands"]
    assert [(one["exit_status"], bool(one["run"])) for one in commands] == [(3, True)]
