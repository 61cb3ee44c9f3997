"""`holdfast index`: reading the repository ahead of questions."""

import json
import time
from pathlib import Path

import pytest

from holdfast.index.corpus import update
from holdfast.interfaces import quick
from holdfast.interfaces.mcp import tool_calls
from holdfast.interfaces.mcp.client_project import McpClient
from holdfast.project import Project
from holdfast.store import fsio
from tests.conftest import Cli, GitRepo, init


def test_it_reads_what_questions_then_find(cli: Cli, repo: GitRepo) -> None:
    """A large repository is not read by the first question; somebody has to be able to ask for it."""
    init(cli.cwd)
    repo.commit("src/net.py", 'def fetch_zebra():\n    """Get it."""\n', "Fetch zebras")
    before = cli("index", "--status")
    done = cli("index")
    state = json.loads(cli("index", "--status", "--json").out)

    assert before.out == "Commits, docs and code are not indexed yet. Index them with: holdfast index\n"
    assert done.out.startswith("The index is up to date: ") and done.err == ""
    assert state["current"] and state["built"] and state["files"] >= 2 and state["commits"] >= 2
    assert "src/net.py:1" in cli("recall", "fetch zebra", "--kind", "code").out
    repo.commit("src/net.py", "def fetch_okapi():\n    pass\n", "Okapis")
    assert cli("index", "--status").out.startswith("The index is behind HEAD: ")
    assert "fetch_okapi" in cli("recall", "okapi", "--kind", "code").out
    assert cli("index", "--status").out.startswith("The index is up to date: ")


def test_settings_that_leave_everything_out_are_followed(cli: Cli, repo: GitRepo) -> None:
    """Who does not want code in answers says so once."""
    init(cli.cwd)
    repo.commit("src/net.py", "def fetch_zebra():\n    pass\n", "Fetch zebras")
    cli("index")
    repo.write(".git/holdfast/settings.toml", '[index]\ncode = false\ncommits = false\nexclude = ["README"]\n')

    state = json.loads(cli("index", "--json").out)

    assert (state["commits"], state["files"], state["chunks"]) == (0, 0, 0)
    assert "zebra" not in cli("recall", "zebra").out


PIERS = 12


def large(repo: GitRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository that no question waits for: the bound is lowered, so that a few files are many."""
    monkeypatch.setattr(update, "SMALL", PIERS // 2)
    monkeypatch.setattr(update, "AT_ONCE", 0.0)
    monkeypatch.setattr(update, "FILES", 2)
    for number in range(PIERS):
        repo.write(f"src/pier{number}.py", f"def pier_{number}():\n    return 'crane of pier number {number}'\n")
    repo.git("add", ".")
    repo.git("commit", "-qm", "All piers")


def test_a_large_repository_that_is_not_read_yet_answers_and_says_what_is_missing(
    cli: Cli, repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing found, without a word, reads as: it is not there."""
    init(cli.cwd)
    large(repo, monkeypatch)
    corpus = update.path_of(Project.open(repo.path).clone)
    Path(corpus).parent.mkdir(parents=True, exist_ok=True)
    with fsio.locked(f"{corpus}{update.BUILDING}-lock", wait=0):  # somebody has just begun to read
        for _ in range(2):  # the second answer came from the quick path, which said nothing
            done = cli("recall", "pier_11")
            assert "src/pier11.py:1" in done.out and "by git grep" in done.out
            assert "not all commits, docs and code were searched: 0% is indexed so far" in done.err
            monkeypatch.chdir(cli.cwd)
            assert quick.main(["recall", "pier_11"]) == quick.NOT_HANDLED
        asked = McpClient(folders=[str(repo.path)], client="claude-code")
        told = tool_calls.call("recall", {"query": "pier_11"}, asked)["content"][0]["text"]
        assert "src/pier11.py:1" in told and "Note: not all commits, docs and code were searched: " in told
        assert "Nothing found" in cli("recall", "zeppelin").out


def test_what_a_question_did_not_wait_for_is_read_in_the_background(
    cli: Cli, repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody has to know that there is an index."""
    init(cli.cwd)
    large(repo, monkeypatch)
    first = cli("recall", "crane of pier")
    assert first.out.count("src/pier") + first.out.count("All piers") >= 1, "what is read so far is found"
    assert "is indexed so far" in first.err
    assert " of commits, docs and code are indexed." in cli("index", "--status").out
    until = time.monotonic() + 30
    while not cli("index", "--status").out.startswith("The index is up to date: ") and time.monotonic() < until:
        time.sleep(0.05)
    done = cli("recall", "pier_3")
    assert "src/pier3.py:1" in done.out and "by git grep" not in done.out and done.err == ""
