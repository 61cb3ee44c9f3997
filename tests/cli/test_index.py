"""`holdfast index`: reading the repository ahead of questions."""

import json

from tests.conftest import Cli, GitRepo, init


def test_it_reads_what_questions_then_find(cli: Cli, repo: GitRepo) -> None:
    """A large repository is not read by the first question; somebody has to be able to ask for it."""
    init(cli.cwd)
    repo.commit("src/net.py", 'def fetch_zebra():\n    """Get it."""\n', "Fetch zebras")
    before = cli("index", "--status")
    done = cli("index")
    state = json.loads(cli("index", "--status", "--json").out)

    assert before.out == "Commits, docs and code are not read yet. Read them with: holdfast index\n"
    assert done.out.startswith("HEAD is read: ") and done.err == ""
    assert state["current"] and state["built"] and state["files"] >= 2 and state["commits"] >= 2
    assert "src/net.py:1" in cli("recall", "fetch zebra", "--kind", "code").out
    repo.commit("src/net.py", "def fetch_okapi():\n    pass\n", "Okapis")
    assert cli("index", "--status").out.startswith("Read is another state than HEAD's: ")
    assert "fetch_okapi" in cli("recall", "okapi", "--kind", "code").out
    assert cli("index", "--status").out.startswith("HEAD is read: ")


def test_settings_that_leave_everything_out_are_followed(cli: Cli, repo: GitRepo) -> None:
    """Who does not want code in answers says so once."""
    init(cli.cwd)
    repo.commit("src/net.py", "def fetch_zebra():\n    pass\n", "Fetch zebras")
    cli("index")
    repo.write(".git/holdfast/settings.toml", '[index]\ncode = false\ncommits = false\nexclude = ["README"]\n')

    state = json.loads(cli("index", "--json").out)

    assert (state["commits"], state["files"], state["chunks"]) == (0, 0, 0)
    assert "zebra" not in cli("recall", "zebra").out
