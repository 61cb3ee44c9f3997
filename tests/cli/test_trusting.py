"""`holdfast trust` as people type it: asked once, by a person, for one upstream; and what it changes."""

import json
import os
import shutil
from pathlib import Path

import pytest

from holdfast.errors import NotFound
from holdfast.project import Project
from tests.cli.test_main import on_a_terminal
from tests.conftest import Cli, GitRepo, init, make_repo

SAID = "Releases are cut from main."


MADE: list[Path] = []  # made by the first test, copied by the others


@pytest.fixture
def theirs(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> GitRepo:
    """Somebody's repository, with a fact that a person accepted there."""
    if not MADE:
        MADE.append(_accepted(tmp_path_factory.mktemp("upstream") / "theirs").path)
    return GitRepo(Path(shutil.copytree(MADE[0], tmp_path / "theirs", symlinks=True)))


def _accepted(path: Path) -> GitRepo:
    repo = make_repo(path)
    Project.init(repo.path, commit=True)
    project = Project.open(repo.path, person=True)
    project.memory.remember(SAID, evidence=["README"], accept=True, id="FCT-release")
    project.sync.publish(here=True)
    return repo


@pytest.fixture
def mine(theirs: GitRepo, tmp_path: Path) -> Cli:
    """The command line in a fresh clone of it."""
    theirs.git("clone", "-q", os.fspath(theirs), os.fspath(tmp_path / "mine"))
    return Cli(tmp_path / "mine")


def state(cli: Cli) -> dict[str, object]:
    return dict(json.loads(cli("trust", "--json").out))


def told(cli: Cli) -> bool:
    return SAID in cli("context").out


def test_a_fresh_clone_says_once_what_does_not_speak(mine: Cli) -> None:
    """Whoever clones a project must learn in one line why its memory is silent, and what to type."""
    assert mine("status").out.count("1 memory came by git and is not shown to agents: holdfast trust") == 1
    assert "from elsewhere, not approved here" in mine("recall", "releases").out
    assert not told(mine)
    shown = mine("trust").out
    assert shown.startswith("No upstream is trusted. This clone follows main of origin (")
    assert "1 memory came by git and is not shown to agents" in shown
    assert "holdfast trust" not in shown, "it would not help"
    assert shown.endswith("only a person can trust an upstream, in a terminal.\n")
    assert "holdfast trust (in a terminal)" in mine("trust", "status").out


def test_a_person_is_asked_and_what_was_accepted_upstream_speaks(mine: Cli, theirs: GitRepo) -> None:
    """One question per clone; after it the team's memory works as at home."""
    code, screen = on_a_terminal(mine.cwd, "trust", typed="y\n", after="[y/N]")
    assert code == 0, screen
    assert f"Trust main of origin ({theirs.path})?" in screen
    assert told(mine)
    assert "does not speak" not in mine("status").out
    assert "from elsewhere" not in mine("recall", "releases").out
    found = state(mine)
    assert (found["trusted"], found["remote"], found["branch"], found["by"]) == (
        True, "origin", "main", "Ada Example",
    )  # fmt: skip
    assert (found["speaking"], found["foreign"]) == (1, 0)
    again = on_a_terminal(mine.cwd, "trust")[1]
    assert "Trusted: main of origin" in again
    assert "?" not in again, "asked once"


def test_what_a_trusted_upstream_says_twice_is_counted_once(mine: Cli, theirs: GitRepo) -> None:
    """Status said "to review 0, of which 1", and the hint was to trust what is trusted."""
    [file] = (theirs / ".holdfast/memory/facts").iterdir()
    theirs.commit(".holdfast/memory/facts/copy.md", file.read_text().replace("main", "next"))
    mine("trust", "status")
    code, screen = on_a_terminal(mine.cwd, "trust", "--yes")
    assert code == 0, screen
    GitRepo(mine.cwd).git("pull", "-q")
    way = "holdfast review list --waits-as elsewhere"
    said = mine("status").out
    assert "to review   0\n" in said
    assert f"1 memory came by git and is not shown to agents: {way}\n" in said
    listed = mine("review", "list")
    assert listed.out == "Nothing waits for review.\n"
    assert listed.err == f"besides, 1 memory came by git, not approved here: {way}\n"
    assert "1 memory waits." in mine(*way.split()[1:]).out


def test_no_is_an_answer(mine: Cli) -> None:
    """Nothing may be trusted by an accident at the keyboard."""
    code, screen = on_a_terminal(mine.cwd, "trust", typed="n\n", after="[y/N]")
    assert (code, "Nothing was done." in screen) == (1, True)
    assert not told(mine)


def test_an_agent_is_refused_even_on_a_terminal(mine: Cli) -> None:
    """An agent that trusts an upstream lets its own pull request speak."""
    code, screen = on_a_terminal(mine.cwd, "trust", "--yes", CLAUDECODE="1")
    assert code == 23
    assert "only a person may trust an upstream: CLAUDECODE is set" in screen
    assert not told(mine)


def test_without_a_terminal_it_only_shows(mine: Cli) -> None:
    """A script that runs every command must not trust anybody."""
    answer = mine("trust", "--yes", ok=False)
    assert (answer.code, "not both a terminal" in answer.err) == (23, True)
    shown, status = mine("trust").out, mine("trust", "status").out
    assert status == mine("trust", "list").out
    assert shown.splitlines()[:-1] == status.splitlines()[:-1]
    assert state(mine)["trusted"] is False


def trusted(mine: Cli) -> Cli:
    """The clone after its user said yes."""
    assert Project.open(mine.cwd, person=True).sync.trust().counts
    return mine


def test_another_address_voids_it_and_says_so(mine: Cli, theirs: GitRepo, tmp_path: Path) -> None:
    """Who can change where origin points must not inherit the trust in what it was."""
    repo = GitRepo(trusted(mine).cwd)
    repo.git("remote", "set-url", "origin", os.fspath(tmp_path / "evil"))
    assert f"origin is now at {tmp_path / 'evil'}; you trusted it at {theirs.path}" in mine("status").out
    assert "No upstream is trusted: origin is now at" in mine("trust").out
    assert not told(mine)
    repo.git("remote", "set-url", "origin", f"https://ada:secret@example.org{theirs.path}")
    assert "secret" not in mine("trust").out + mine("trust", "--json").out
    repo.git("remote", "set-url", "origin", os.fspath(theirs))
    assert told(mine)


def test_another_trunk_voids_it_and_a_tracked_file_cannot_name_one(mine: Cli, theirs: GitRepo) -> None:
    """A pull request must neither choose which branch is believed nor silence what was."""
    repo = GitRepo(trusted(mine).cwd)
    theirs.git("branch", "evil")
    repo.git("fetch", "-q")
    for trunk in ("origin/evil", "--git-dir", "no such branch"):
        repo.write(".holdfast/holdfast.toml", f'trunk = "{trunk}"\n')
        assert told(mine)
    repo.write(".git/holdfast/settings.toml", 'trunk = "origin/evil"\n')
    assert "the trunk is now evil of origin" in mine("trust").out
    assert not told(mine)


def test_revoking_is_one_word(mine: Cli) -> None:
    """Who doubts an upstream wants it silent now."""
    assert "Not trusted any more: main of origin" in trusted(mine)("trust", "revoke").out
    assert not told(mine)
    assert mine("trust", "revoke").out == "No upstream was trusted.\n"
    assert "1 memory came by git" in mine("status").out


def test_trust_stays_in_the_clone_that_gave_it(mine: Cli, tmp_path: Path) -> None:
    """Neither git nor an exported store may carry one clone's trust into another."""
    trusted(mine)
    mine("export", os.fspath(tmp_path / "bundle"))
    GitRepo(mine.cwd).git("clone", "-q", os.fspath(mine.cwd), os.fspath(tmp_path / "third"))
    third = Cli(tmp_path / "third")
    third("import", os.fspath(tmp_path / "bundle"))
    assert state(third)["trusted"] is False
    assert not told(third)
    assert "trusted" not in GitRepo(mine.cwd).git("ls-files")


def test_where_there_is_no_remote_there_is_nothing_to_trust(cli: Cli) -> None:
    """Most projects begin alone; the word must not confuse."""
    init(cli.cwd, commit=True)
    assert cli("trust").out.startswith("No upstream is trusted. This clone has no remote branch to trust.")
    with pytest.raises(NotFound, match="there is nothing to trust"):
        Project.open(cli.cwd, person=True).sync.trust()
    assert "does not speak" not in cli("status").out


def test_a_damaged_record_trusts_nobody(mine: Cli) -> None:
    """Half a line must not become half a trust."""
    record = trusted(mine).cwd / ".git/holdfast/trusted"
    record.write_bytes(record.read_bytes()[:20])
    answer = mine("context")
    assert SAID not in answer.out
    assert "cannot be read, so no upstream is trusted" in answer.err
