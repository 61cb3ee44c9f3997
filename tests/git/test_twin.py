"""Git behaves as without Holdfast: every command, told to two repositories of which one has it.

The twins are made by the same commands with the same dates, so that even commit ids agree. After each
command exit code, words, trees, index, refs and status are compared.
"""

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from holdfast.git import hooks, project_setup
from holdfast.git.repo import Repo
from holdfast.store import git_inbox
from tests.conftest import Cli, GitRepo, init, make_repo
from tests.git.place import Place

PYTHON: str = getattr(sys, "_base_executable", sys.executable)
DATES = {"GIT_AUTHOR_DATE": "1700000000 +0000", "GIT_COMMITTER_DATE": "1700000000 +0000"}
LOUD = '#!/bin/sh\necho "$(basename "$0") $*"\necho "$(basename "$0")" >&2\ncat\n'


@dataclass
class Twins:
    """Two repositories that differ in Holdfast alone."""

    bare: Path
    held: Path
    said: list[tuple[int, str, str]] = field(default_factory=list)
    dates: int = 0

    def __call__(self, *args: str, env: dict[str, str] | None = None, where: str = ".") -> tuple[int, str, str]:
        """Run git in both; they must agree in everything."""
        self.dates += 60  # as wide apart as people's commits, and the same in both
        mine = [self._run(top, args, env or {}, where) for top in (self.bare, self.held)]
        assert mine[0] == mine[1], args
        assert self.state(self.bare) == self.state(self.held), args
        self.said.append(mine[0])
        return mine[0]

    def ok(self, *args: str, env: dict[str, str] | None = None, where: str = ".") -> str:
        code, out, err = self(*args, env=env, where=where)
        assert code == 0, err
        return out

    def _run(self, top: Path, args: tuple[str, ...], env: dict[str, str], where: str) -> tuple[int, str, str]:
        when = f"{1700000000 + self.dates} +0000"
        dated = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
        done = subprocess.run(
            ["git", *args],
            cwd=top / where,
            env={**os.environ, **dated, **env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        words = [done.stdout.decode(), done.stderr.decode()]
        return done.returncode, *(text.replace(str(top.parent), "HERE") for text in words)  # type: ignore[return-value]

    def write(self, name: str, text: str) -> None:
        for top in (self.bare, self.held):
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).write_text(text)

    def script(self, name: str, text: str) -> str:
        """A program beside each of the twins; its path seen from both."""
        for top in (self.bare, self.held):
            path = top.parent / name
            path.write_text(text)
            path.chmod(0o755)
        return f"../{name}"

    @staticmethod
    def state(top: Path) -> dict[str, str]:
        """Where a repository stands: HEAD, index, refs, what differs, what is half done."""
        state = _asked(top, STATE)
        names = (path.name for path in (top / ".git").iterdir())
        refs = [path for path in (top / ".git/refs").rglob("*") if path.is_file()]
        state |= {str(path.relative_to(top)): path.read_text() for path in refs}
        state["unfinished"] = " ".join(sorted(name for name in names if name.isupper()))
        return state

    def everything(self, top: Path) -> dict[str, str]:
        """All that git and the work tree show of a repository."""
        files = sorted(path for path in top.rglob("*") if ".git" not in path.parts and path.is_file())
        shown = {str(path.relative_to(top)): path.read_text() for path in files if not _private(path, top)}
        return self.state(top) | _asked(top, REST) | shown


STATE = {"status": ["status", "--porcelain=v2", "--branch", "--untracked-files=all"], "index": ["ls-files", "-s", "-v"]}
REST = {
    "refs": ["for-each-ref"],
    "trees": ["log", "--all", "--format=%H %T %P %an %s"],
    "reflog": ["reflog", "--format=%H %gs"],
    "stash": ["stash", "list"],
    "worktrees": ["worktree", "list"],
    "check": ["fsck", "--no-dangling"],
}


def _asked(top: Path, questions: dict[str, list[str]]) -> dict[str, str]:
    found = {}
    for name, args in questions.items():
        out = subprocess.run(["git", *args], cwd=top, capture_output=True, check=False).stdout.decode()
        found[name] = out.replace(str(top.parent), "HERE")
    return found


def _private(path: Path, top: Path) -> bool:
    """What git ignores below .holdfast; only one of the twins has it."""
    return path.relative_to(top).parts[:2] in ((".holdfast", "view"), (".holdfast", "local"))


def make(folder: Path) -> Path:
    repo = make_repo(folder / "repo")
    for number in range(6):
        repo.commit("numbers.txt", "".join(f"{n}\n" for n in range(number + 1)), f"number {number}")
    repo.git("switch", "-q", "-c", "feature", "HEAD~3")
    for number in range(3):
        repo.commit(f"feature{number}.txt", f"feature {number}\n", f"feature {number}")
    repo.git("switch", "-q", "main")
    return repo.path


OTHERS = "with hooks of others"


def mostly(first: str, second: str) -> pytest.MarkDecorator:
    """Both kinds of twins, the second only where there is time."""
    cases = [first, pytest.param(second, marks=pytest.mark.torture)]
    return pytest.mark.parametrize("twins", cases, indirect=True)


_made: list[Path] = []  # once in a process: making them costs more than comparing them


def template(factory: pytest.TempPathFactory) -> Path:
    """The twins as they begin; the one with Holdfast has something in its memory."""
    if not _made:
        folder = factory.mktemp("twins")
        bare, held = make(folder / "a"), folder / "b/repo"
        shutil.copytree(bare, held)
        place = Place(GitRepo(held), str(folder / "cache"))
        project_setup.initialise(str(held), cache=place.cache, commit=True)
        _same_files(bare, held)
        place.ran("r1")
        place.keep("one")
        _made.append(folder)
    return _made[0]


@pytest.fixture
def twins(
    tmp_path_factory: pytest.TempPathFactory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> Iterator[Twins]:
    """Two repositories that must not be told apart, though one has hooks of ours."""
    for name, value in DATES.items():
        monkeypatch.setenv(name, value)
    shutil.copytree(template(tmp_path_factory), tmp_path, dirs_exist_ok=True)
    bare, held = tmp_path / "a/repo", tmp_path / "b/repo"
    place = Place(GitRepo(held), str(tmp_path / "cache"))
    if request.param == OTHERS:
        for top in (bare, held):
            for name in (*hooks.NAMES, "pre-commit", "commit-msg"):
                path = top / ".git/hooks" / name
                path.write_text(LOUD.removesuffix("cat\n") if name != "post-rewrite" else LOUD)
                path.chmod(0o755)
    hooks.install(Repo.at(str(held)), place.open().private, python=PYTHON)
    found = Twins(bare, held)
    yield found
    assert found.everything(bare) == found.everything(held)
    layout = place.open().private
    noticed = len(git_inbox.peek(layout))
    assert noticed and layout.notes == [], "the hooks heard nothing, so nothing was compared"
    place.ran("r2")
    assert place.all_runs() == {"r1", "r2"}
    assert found.everything(bare) == found.everything(held)


def _same_files(bare: Path, held: Path) -> None:
    """The two tracked files of `init --commit`, in both."""
    for name in ("holdfast.toml", ".gitattributes"):
        (bare / ".holdfast").mkdir(exist_ok=True)
        (bare / ".holdfast" / name).write_bytes((held / ".holdfast" / name).read_bytes())
    repo = GitRepo(bare)
    repo.git("add", "-f", ".holdfast")
    repo.git("commit", "-q", "-m", "Set up Holdfast")
    assert repo.git("rev-parse", "HEAD") == GitRepo(held).git("rev-parse", "HEAD")


@mostly("plain", OTHERS)
def test_commits_of_every_kind(twins: Twins) -> None:
    """Tools that staged from hooks broke `commit --only` and swept secrets into commits."""
    twins.write("staged.txt", "staged\n")
    twins.write("numbers.txt", "changed\n")
    twins.write("README", "changed too\n")
    twins.write("untracked.txt", "not yours\n")
    twins.ok("add", "staged.txt")
    twins.ok("commit", "-m", "a path alone", "--", "README")
    twins.ok("commit", "-m", "what is staged")
    twins.ok("commit", "-a", "-m", "all that is tracked")
    assert twins("commit", "-m", "nothing")[0] == 1
    twins.write("numbers.txt", "amended\n")
    twins.ok("commit", "--amend", "-a", "-m", "other words")
    twins.ok("commit", "--amend", "--no-edit")
    twins.ok("commit", "--allow-empty", "-m", "nothing, on purpose")
    twins.ok("revert", "--no-edit", "HEAD~1")
    assert twins.ok("status", "--porcelain") == "?? untracked.txt\n"


REBASES = {
    "reword and squash": "sed -i -e '2s/pick/squash/' -e '3s/pick/reword/' \"$1\"",
    "drop and reorder": "sed -i -e '1d' -e '2{h;d};3G' \"$1\"",
    "edit and stop": "sed -i -e '1s/pick/edit/' \"$1\"",
    "fixup and exec": "sed -i -e '2s/pick/fixup/' -e '$aexec git status --short' \"$1\"",
    "a failing exec": "sed -i -e '1aexec false' \"$1\"",
}


@pytest.mark.parametrize(("twins", "case"), [*zip(["plain", OTHERS] * 3, REBASES, strict=False)], indirect=["twins"])
def test_rebase_interactive(twins: Twins, case: str) -> None:
    """A rebase that stops half way because of a hook costs somebody their afternoon."""
    editor = twins.script("editor", f"#!/bin/sh\n{REBASES[case]}\n")
    words = twins.script("words", '#!/bin/sh\necho "other words" >>"$1"\n')
    env = {"GIT_SEQUENCE_EDITOR": editor, "GIT_EDITOR": words}
    twins.ok("switch", "-c", "work", "feature")
    assert twins("rebase", "-i", "HEAD~3", env=env)[0] == (case == "a failing exec")
    if case == "edit and stop":
        twins.write("feature0.txt", "edited\n")
        twins.ok("commit", "-a", "--amend", "-m", "edited", env=env)
    if "(detached)" in twins.state(twins.bare)["status"]:
        twins.ok("rebase", "--continue", env=env)
    twins.ok("rebase", "main", env=env)


@mostly(OTHERS, "plain")
def test_stash(twins: Twins) -> None:
    """A stash holds what nobody committed yet."""
    twins.write("numbers.txt", "changed\n")
    twins.write("new.txt", "new\n")
    twins.ok("stash", "push", "-u", "-m", "aside")
    twins.ok("stash", "show", "-p", "--include-untracked")
    twins.ok("switch", "feature")
    twins.ok("switch", "main")
    twins.ok("stash", "apply", "--index")
    twins.ok("checkout", "--", ".")
    twins.ok("clean", "-fdq")
    twins.ok("stash", "pop")
    twins.ok("stash", "push", "--keep-index", "--", "numbers.txt")
    twins.ok("stash", "branch", "from-stash")
    assert twins("stash", "drop")[0] != 0


@mostly(OTHERS, "plain")
def test_bisect_run(twins: Twins) -> None:
    """Bisecting checks out dozens of commits; each must be exactly that commit."""
    test = twins.script("judge", "#!/bin/sh\n! grep -q '^3$' numbers.txt\n")
    first = twins.ok("rev-list", "--max-parents=0", "HEAD").strip()
    twins.ok("bisect", "start", "HEAD", first)
    out = twins.ok("bisect", "run", test)
    assert "number 3" in out
    twins.ok("bisect", "log")
    twins.ok("bisect", "reset")


@mostly("plain", OTHERS)
def test_merge_and_cherry_pick_with_and_without_conflict(twins: Twins) -> None:
    """A conflict must stop where git stops, with the same files and the same words."""
    twins.ok("merge", "--no-edit", "feature")
    twins.ok("switch", "-c", "other", "main~3")
    twins.write("numbers.txt", "mine\n")
    twins.ok("commit", "-a", "-m", "mine")
    assert twins("merge", "main")[0] == 1
    twins.ok("merge", "--abort")
    assert twins("cherry-pick", "feature", "main~2")[0] == 1
    twins.ok("cherry-pick", "--abort")
    twins.ok("cherry-pick", "-x", "feature~1")
    assert twins("merge", "main")[0] == 1
    twins.write("numbers.txt", "both\n")
    twins.ok("add", "numbers.txt")
    twins.ok("commit", "--no-edit")
    twins.ok("merge", "--squash", "feature")
    twins.ok("merge", "--ff-only", "HEAD")


@mostly(OTHERS, "plain")
def test_checkouts_branches_and_work_trees(twins: Twins) -> None:
    """Whoever switches keeps what they had in hand, or is refused with git's own words."""
    twins.write("README", "in hand\n")
    twins.ok("switch", "-c", "side/of/it")
    twins.ok("checkout", "feature")
    twins.ok("checkout", "--detach", "main~1")
    twins.ok("checkout", "-q", "-")
    twins.write("feature0.txt", "in the way\n")
    assert twins("checkout", "main")[0] == 1
    twins.ok("checkout", "-f", "main")
    twins.ok("checkout", "-b", "tracked", "--track", "main")
    twins.ok("branch", "-m", "renamed")
    twins.ok("worktree", "add", "-b", "beside", "../beside", "feature")
    twins.ok("commit", "--allow-empty", "-m", "from beside", where="../beside")
    twins.ok("worktree", "add", "--detach", "../loose", "main~1")
    twins.ok("worktree", "remove", "../loose")
    twins.ok("worktree", "remove", "../beside")
    twins.ok("branch", "-D", "beside")
    twins.ok("reset", "--hard", "HEAD~1")
    twins.ok("switch", "--orphan", "fresh")


@mostly(OTHERS, "plain")
def test_cloning_and_pulling(twins: Twins) -> None:
    """Neither a clone nor a pull may show that the other side has hooks."""
    twins.ok("clone", ".", "../clone")
    twins.ok("commit", "--allow-empty", "-m", "later")
    twins.ok("pull", where="../clone")
    twins.ok("fetch", "../clone", "main:fetched")


def test_git_status_is_clean_after_our_hook_commands(cli: Cli, repo: GitRepo) -> None:
    """Whoever tries hooks out and leaves again has nothing to clean up."""
    init(cli.cwd, commit=True)
    cli("run", "--", "true")  # the line's id is in the settings by now
    before = held_by_git(repo)
    found = Repo.at(str(repo.path))
    layout = Place(repo, "").open().private
    steps: list[Callable[[], object]] = [
        lambda: hooks.install(found, layout, python=PYTHON),
        lambda: repo.commit("one"),
        lambda: hooks.state(found, layout),
        lambda: cli("status"),
        lambda: hooks.remove(found, layout),
    ]
    for step in steps:
        step()
        assert repo.status() == ""
    assert held_by_git(repo) == before


def held_by_git(repo: GitRepo) -> dict[str, tuple[bytes, int]]:
    """The hooks and the settings of a clone: bytes and modes."""
    files = [*(repo / ".git/hooks").iterdir(), repo / ".git/config"]
    return {path.name: (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) for path in files}
