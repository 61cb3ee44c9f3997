"""Another user of the same machine: what they may read, put in our way, and see of what we start."""

import json
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from holdfast.interfaces import agent_events, quick
from holdfast.interfaces.cli.mcp_commands import mcp
from holdfast.project import Project
from holdfast.store import fsio
from holdfast.store import layout as paths
from tests.capture.rollouts import rollout
from tests.conftest import GITCONFIG, Cli, GitRepo, Quick, clean_environment, init, make_repo
from tests.faults.commands import apart

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

STRANGER = 54321  # a user id that nobody has
SAID = "We decided to use heliotrope for the queue, because amaranth locks under load."
WORDS = ("heliotrope", "amaranth", "vermilion", "cerulean", "mauve")
needs_root = pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="only root can give files away")


def wider(folder: Path, allowed: int = 0o700) -> Iterator[str]:
    """What others may do something with, below a folder and itself."""
    for path in (folder, *folder.rglob("*")):
        mode = stat.S_IMODE(path.lstat().st_mode)
        if not path.is_symlink() and mode & ~allowed:
            yield f"{path.relative_to(folder.parent)} {mode:04o}"


def work(cli: Cli, repo: GitRepo, home: Path) -> None:
    """A bit of everything that stores something."""
    rollout(home / ".codex", os.fspath(repo)).asks("Which store for vermilion?").done(SAID)
    cli("init", "--commit")
    repo.git("switch", "-q", "-c", "work")
    cli("import", "codex")
    told = cli("remember", "Tests need cerulean 16.", "--evidence", "README", "--json").out
    cli("review", "accept", json.loads(told)["id"])
    cli("session", "start", "Build the mauve parser")
    cli("session", "note", "Began with mauve.", "--open", "finish mauve")
    cli("run", "--task", "mauve", "--", "true")
    cli("recall", "cerulean")
    cli("index")
    cli("context")
    cli("curate")
    cli("journal", "--render")
    cli("export", "bundle", str(home / "bundle"))
    cli("export", "markdown", "--to", str(home / "session.md"))
    cli("publish")


class Worked(NamedTuple):
    """A project in which `work` was done under umask 000."""

    repo: Path
    home: Path
    arguments: list[str]  # of every process that was started


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Worked:
    folder = tmp_path_factory.mktemp("worked")
    home = folder / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(GITCONFIG)

    def act() -> list[str]:
        seen: list[str] = []

        def hook(event: str, args: tuple[object, ...]) -> None:
            starts = event in ("subprocess.Popen", "os.posix_spawn", "os.exec")
            if starts and isinstance(args[1], list | tuple):
                seen.extend(map(str, args[1]))

        os.environ.clear()
        os.environ.update(clean_environment(home))
        os.umask(0)
        fsio.ops = Quick()
        repo = make_repo(folder / "repo")
        sys.addaudithook(hook)
        work(Cli(repo.path), repo, home)
        return seen

    return Worked(folder / "repo", home, apart(act))


def test_what_is_private_is_so_whatever_the_umask(worked: Worked) -> None:
    """With umask 000, what agents said would be anybody's to read, and the index anybody's to write."""
    repo, home, _ = worked
    private = (repo / ".git/holdfast", repo / ".holdfast/view/candidates.md", home / ".cache")
    assert [found for folder in private for found in wider(folder)] == []
    assert [found for name in ("bundle", "session.md") for found in wider(home / name, 0o600)] == []
    inside = (path for path in (repo / ".holdfast/view").rglob("*") if path.name != ".gitignore")
    assert [found for path in inside for found in wider(path)] == []
    assert stat.S_IMODE((repo / ".holdfast/holdfast.toml").stat().st_mode) == 0o644, "what is tracked is not"


def test_no_private_text_stands_in_the_arguments_of_a_process(worked: Worked) -> None:
    """Everybody on the machine sees them; git is given names of files, commits and branches, and no text."""
    seen = worked.arguments
    assert len(seen) > 500
    names = [word for word in seen if not word.startswith(".holdfast/") and ":.holdfast/" not in word]
    assert [word for word in names if any(one in word.lower() for one in WORDS)] == []
    options = [option for param in mcp.params for option in param.opts]
    assert [option for option in options if "token" in option] == ["--token-file"]


@pytest.mark.parametrize("whose", ["anybody", pytest.param("stranger", marks=needs_root)])
@pytest.mark.parametrize("level", [".", "holdfast"])
def test_a_cache_that_others_rule_is_not_used(cli: Cli, world: Path, whose: str, level: str) -> None:
    """Whoever can swap the index could say what a person approved."""
    cache = world / "shared"
    spoilt = cache / level
    spoilt.mkdir(parents=True)
    spoilt.chmod(0o777)
    if whose == "stranger":
        os.chown(spoilt, STRANGER, STRANGER)
        spoilt.chmod(0o755)
    cli("init", "--commit", XDG_CACHE_HOME=str(cache))
    cli("recall", "anything", XDG_CACHE_HOME=str(cache))
    assert [path for path in cache.rglob("*") if path.is_file()] == []
    assert list((world / ".cache/holdfast").glob("*/index.db"))


def test_an_index_that_an_earlier_version_left_open_is_closed(cli: Cli, world: Path) -> None:
    """It made the file as the umask said."""
    init(cli.cwd, commit=True)
    cli("recall", "anything")
    (index,) = (world / ".cache/holdfast").glob("*/index.db")
    index.chmod(0o644)
    cli("recall", "anything else")
    assert stat.S_IMODE(index.stat().st_mode) == 0o600


def test_a_cache_of_ones_own_is_used(tmp_path: Path) -> None:
    """Also in /tmp, where a sticky bit keeps users apart."""
    for mode in (0o700, 0o755, 0o1777):
        tmp_path.chmod(mode)
        assert paths.cache_dir({"XDG_CACHE_HOME": str(tmp_path)}) == str(tmp_path / "holdfast")


@needs_root
def test_a_store_of_another_user_is_refused(cli: Cli, repo: GitRepo) -> None:
    """In a shared repository anybody may make .git/holdfast first; its settings start programs as us."""
    init(cli.cwd, commit=True)
    Project.open(repo.path, person=True).memory.remember(
        "Never ask.", kind="invariant", evidence=["README"], accept=True, reviewer="Mallory"
    )
    assert "Never ask." in cli("context").out
    os.chown(repo / ".git/holdfast", STRANGER, STRANGER)
    answer = cli("context", ok=False)
    assert answer.code == 22 and "Never ask" not in answer.out
    assert answer.err.startswith("error: another user owns ") and "hint: " in answer.err
    assert quick.find_place(str(repo.path)) is None
    assert agent_events.find_place(str(repo.path)) is None
