"""`holdfast scan`: text that was stored before a rule was known is found, and never shown."""

import json
import os
from pathlib import Path

import pytest

from tests.conftest import Cli, GitRepo
from tests.security import fakes

SECRET = fakes.ISSUED["github"][0]
HOUSE = "acme-" + "123456"


@pytest.fixture
def used(cli: Cli, repo: GitRepo) -> Cli:
    """A clone in which something of every kind was stored."""
    repo.commit("a.py", "x = 1\n")
    cli("init")
    cli("run", "--", "echo", f"the badge is {HOUSE}")
    cli("remember", "Tests need Postgres 16.")
    cli("task", "add", "Write the parser")
    cli("session", "start", f"badge {HOUSE}")
    return cli


def test_what_was_redacted_on_its_way_in_is_not_found_again(cli: Cli, repo: GitRepo) -> None:
    """A command that cries wolf is not run twice."""
    repo.commit("a.py", "x = 1\n")
    cli("init")
    cli("run", "--", "sh", "-c", f"echo {SECRET} >out; cat out; echo password={fakes.PASS}")
    cli("remember", f"Deploy with {SECRET}.")
    answer = cli("scan")
    assert answer.out.startswith("No known secret is stored (")
    found = json.loads(cli("scan", "--json").out)
    assert found["findings"] == [] and found["unread"] == [] and found["files"] > 5


def test_a_new_rule_finds_what_was_stored_before_it(used: Cli) -> None:
    """The team learns the shape of its badges a month late."""
    used("scan")
    rules = json.dumps(["acme-[0-9]{6}"])
    answer = used("scan", ok=False, HOLDFAST_REDACT_RULES=rules)
    assert answer.code == 1
    assert HOUSE not in answer.out + answer.err
    found = json.loads(used("scan", "--json", ok=False, HOLDFAST_REDACT_RULES=rules).out)
    kinds = {one["kind"] for one in found["findings"]}
    assert {"run", "session"} <= kinds
    assert all(set(one["rules"]) == {"custom"} for one in found["findings"])
    assert HOUSE not in json.dumps(found)


def test_what_it_names_can_be_erased(used: Cli) -> None:
    """A finding without a way to be rid of it only frightens."""
    rules = json.dumps(["acme-[0-9]{6}"])
    ids = {
        one["id"]
        for one in json.loads(used("scan", "--json", ok=False, HOLDFAST_REDACT_RULES=rules).out)["findings"]
        if one["kind"] in ("run", "body", "session") and one["id"]
    }
    assert ids
    for name in ids:
        used("erase", name, "--yes", ok=False)
    left = json.loads(used("scan", "--json", ok=False, HOLDFAST_REDACT_RULES=rules).out)["findings"]
    assert not [one for one in left if one["kind"] in ("run", "body", "session")]


def test_a_hand_edit_with_a_secret_is_found(used: Cli, repo: GitRepo) -> None:
    """A file that came by git was never scanned by this clone."""
    path = repo.write(".holdfast/memory/facts/keys-FCT-abcd.md", f"the key is {SECRET}\n")
    found = json.loads(used("scan", "--json", ok=False).out)["findings"]
    assert [(one["file"], one["kind"], one["id"], one["rules"]) for one in found] == [
        (".holdfast/memory/facts/keys-FCT-abcd.md", "memory", "FCT-abcd", {"github": 1})
    ]
    assert path.exists()


def test_named_files_are_looked_at_instead(used: Cli, tmp_path: Path) -> None:
    """Somebody wants to know before a transcript is brought in."""
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "a.log").write_text(f"token {SECRET}\n" * 2)
    (folder / "b.log").write_text("plain\n")
    os.mkfifo(folder / "c")
    found = json.loads(used("scan", str(folder), "--json", ok=False).out)
    assert [(one["file"], one["rules"]) for one in found["findings"]] == [(str(folder / "a.log"), {"github": 2})]
    assert found["files"] == 2 and found["unread"] == [f"{folder / 'c'}: it is no regular file"]
    assert SECRET not in used("scan", str(folder), ok=False).out
