"""Who asks for a line of a file is given what stands there; who has some digits of a commit, the commit."""

import json

import pytest

from holdfast.interfaces import quick
from tests.conftest import Cli, GitRepo, grown

PARTS = "\n\n".join(f"def part{n}(wall):\n    stone = wall + {n}\n    return stone\n" for n in range(1, 9))


def set_up(cli: Cli, repo: GitRepo) -> None:
    repo.write("src/harbour.py", PARTS)
    repo.write("docs/harbour.md", "# Harbour\n\nA wall.\n\n## Tides\n\nHigh and low.\n")
    repo.git("add", ".")
    repo.git("commit", "-qm", "Build the harbour")
    cli("init", "--commit")
    cli("recall", "wall")


@pytest.fixture
def ready(cli: Cli, repo: GitRepo) -> Cli:
    return grown(set_up, cli, repo)


def both(cli: Cli, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], query: str) -> str:
    """The id of the first hit, by the full way and by the quick one."""
    full = cli("recall", query, "--json").out
    capfd.readouterr()
    monkeypatch.chdir(cli.cwd)
    assert quick.main(["recall", query, "--json"]) == 0
    found = json.loads(full)
    assert json.loads(capfd.readouterr().out) == found
    return str(found["items"][0]["id"])


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("src/harbour.py:12", "src/harbour.py:11"),
        ("src/harbour.py:11", "src/harbour.py:11"),
        ("what does /home/ada/port/src/harbour.py:28:5 do?", "src/harbour.py:26"),
        ("docs/harbour.md:7", "docs/harbour.md:5"),
    ],
)
def test_the_piece_that_holds_the_line_comes_first(
    ready: Cli, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], query: str, first: str
) -> None:
    """An editor and a trace give lines, not the names of functions."""
    assert both(ready, monkeypatch, capfd, query) == first


def test_a_commit_is_found_by_how_its_id_begins(
    ready: Cli, repo: GitRepo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The screen shows twelve digits, git seven; nobody has forty."""
    oid = repo.git("rev-parse", "HEAD~1").strip()
    for digits in (12, 40):
        assert both(ready, monkeypatch, capfd, oid[:digits]) == oid
