"""Git hooks: they record every firing, stand beside what is there, and leave without a trace."""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.errors import UnsafePath
from holdfast.git import hook_scripts, hooks
from holdfast.git.hook_scripts import NAMES
from holdfast.git.hooks import HooksInstalled, HooksRemoved, HookState
from holdfast.git.repo import Repo
from holdfast.store import fsio, git_inbox
from holdfast.store.git_inbox import FiredHook
from holdfast.store.layout import Layout
from tests.conftest import GitRepo, make_repo

PYTHON: str = getattr(sys, "_base_executable", sys.executable)
FILES = (2, 53)  # the last git that had its hooks in files alone; newer ones still run those
RUBYISH = f"""#!{PYTHON}
import os, sys
open("ran", "a").write(" ".join([os.path.basename(sys.argv[0]), *sys.argv[1:]]))
sys.exit(3)
"""
HUSKY = """\
s=$(dirname "$(dirname "$0")")/$(basename "$0")
[ ! -f "$s" ] && exit 0
sh -e "$s" "$@"
exit $?
"""
SHELLS = [shell for shell in ("dash", "bash", "busybox", "ksh", "mksh", "zsh") if shutil.which(shell)]


class Hooked:
    """A repository with a store and, if asked, hooks."""

    def __init__(self, repo: GitRepo) -> None:
        self.repo = repo
        self.folder = repo / ".git/hooks"
        self.layout = self.seen().private
        Path(self.layout.private).mkdir(exist_ok=True)

    def seen(self, path: str = ".") -> "Seen":
        return Seen(Repo.at(str(self.repo.path / path)))

    def install(self, *, python: str = PYTHON, version: tuple[int, int] = FILES) -> HooksInstalled:
        return hooks.install(self.seen().repo, self.layout, python=python, version=version)

    def remove(self) -> HooksRemoved:
        return hooks.remove(self.seen().repo, self.layout)

    def state(self, **options: tuple[int, int]) -> list[HookState]:
        return hooks.state(self.seen().repo, self.layout, **options)  # type: ignore[arg-type]

    def fired(self) -> list[FiredHook]:
        return git_inbox.drain(self.layout)

    def hook(self, name: str, text: str | bytes, mode: int = 0o755, folder: str = ".git/hooks") -> Path:
        path = self.repo / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        path.chmod(mode)
        return path

    def said(self) -> str:
        """What hooks of others wrote down."""
        file = self.repo / "ran"
        text = file.read_text() if file.exists() else ""
        file.unlink(missing_ok=True)
        return text

    def snapshot(self, folder: str = ".git") -> dict[str, tuple[int, bytes | str]]:
        """Every hook file and git's configuration: bytes, links and modes."""
        top = self.repo / folder
        names = (
            [*top.rglob("hooks/**/*"), top / "config", *top.rglob("*.sample")] if folder == ".git" else top.rglob("*")
        )
        return {str(path): _facts(path) for path in names if path.is_symlink() or path.is_file()}


class Seen:
    def __init__(self, repo: Repo) -> None:
        self.repo = repo
        self.private = Layout(repo.top, os.path.join(repo.common_dir, "holdfast"))


def _facts(path: Path) -> tuple[int, bytes | str]:
    if path.is_symlink():
        return 0, os.readlink(path)
    return path.stat().st_mode & 0o7777, path.read_bytes()


@pytest.fixture
def hooked(repo: GitRepo) -> Hooked:
    return Hooked(repo)


def test_every_hook_records_where_it_fired(hooked: Hooked, repo: GitRepo, tmp_path: Path) -> None:
    """A commit nobody told us about is a commit missing from the session."""
    hooked.install()
    first, second = repo.git("rev-parse", "HEAD"), repo.commit("one")
    repo.git("switch", "-q", "-c", "feature/x")
    third = repo.commit("two")
    repo.git("commit", "-q", "--amend", "-m", "other words")
    amended = repo.git("rev-parse", "HEAD")
    repo.git("switch", "-q", "main")
    repo.git("merge", "-q", "--no-ff", "-m", "merge", "feature/x")
    merged = repo.git("rev-parse", "HEAD")
    fired = hooked.fired()
    assert [(each.hook, each.ref, each.head) for each in fired] == [
        ("post-commit", "refs/heads/main", second),
        ("post-checkout", "refs/heads/feature/x", second),
        ("post-commit", "refs/heads/feature/x", third),
        ("post-commit", "refs/heads/feature/x", amended),
        ("post-rewrite", "refs/heads/feature/x", amended),
        ("post-checkout", "refs/heads/main", second),
        ("post-merge", "refs/heads/main", merged),
    ]
    assert fired[1].args == (second, second, "1") and fired[4].args == ("amend",)
    assert fired[4].pairs == ((third, amended),)
    assert {each.git_dir for each in fired} == {str(repo / ".git")}
    assert hooked.fired() == [] and first != second


def test_a_rebase_gives_the_whole_map_and_a_linked_work_tree_its_own_folder(
    hooked: Hooked, repo: GitRepo, tmp_path: Path
) -> None:
    """A map with holes, or one filed under the wrong work tree, cites the wrong commit."""
    hooked.install()
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = GitRepo(tmp_path / "side")
    repo.commit("base")
    old = [side.commit(name) for name in ("a", "b", "c")]
    repo.git("pack-refs", "--all")
    hooked.fired()
    side.git("rebase", "-q", "main")
    new = side.git("rev-list", "--reverse", "main..side").split()
    rewrites = [each for each in hooked.fired() if each.hook == "post-rewrite"]
    assert [each.pairs for each in rewrites] == [tuple(zip(old, new, strict=True))]
    assert rewrites[0].git_dir == str(repo / ".git/worktrees/side")
    assert side.status() == "" == repo.status()


def test_head_is_found_in_packed_refs_and_detached_and_unborn(hooked: Hooked, repo: GitRepo, tmp_path: Path) -> None:
    """A hook must not start git to learn where it stands."""
    hooked.install()
    repo.git("branch", "packed")
    repo.git("pack-refs", "--all")
    repo.git("switch", "-q", "packed")
    repo.git("checkout", "-q", "--detach")
    repo.git("switch", "-q", "--orphan", "fresh")
    head = repo.git("rev-parse", "main")
    assert [(each.head, each.ref) for each in hooked.fired()] == [
        (head, "refs/heads/packed"),
        (head, None),
        (None, "refs/heads/fresh"),
    ]


@pytest.mark.parametrize("given", [".git", None, "absolute"])
def test_the_git_folder_may_be_given_relative_absolute_or_not_at_all(
    hooked: Hooked, repo: GitRepo, given: str | None
) -> None:
    """Git sets these variables differently for each command; a wrong guess writes into another clone."""
    hooked.install()
    env = {**os.environ, **({} if given is None else {"GIT_DIR": str(repo / ".git") if given == "absolute" else given})}
    subprocess.run([str(hooked.folder / "post-merge"), "0"], cwd=repo.path, env=env, check=True)
    assert [(each.hook, each.git_dir, each.args) for each in hooked.fired()] == [
        ("post-merge", str(repo / ".git"), ("0",))
    ]


def test_a_path_with_tabs_and_quotes_is_recorded_whole(tmp_path: Path) -> None:
    """Somebody's folder has such a name, and their hooks must work too."""
    name = "a\tb 'c' \"d\" $e \\t\\\\n`f"
    hooked = Hooked(make_repo(tmp_path / name))
    hooked.install()
    hooked.repo.commit()
    assert [each.git_dir for each in hooked.fired()] == [str(tmp_path / name / ".git")]
    assert all(hook.fires for hook in hooked.state())


def test_a_moved_clone_keeps_recording(hooked: Hooked, repo: GitRepo, tmp_path: Path) -> None:
    """People rename folders; hooks that name the old one would fall silent."""
    hooked.install()
    repo.path.rename(tmp_path / "moved")
    moved = Hooked(GitRepo(tmp_path / "moved"))
    moved.repo.commit()
    assert [each.hook for each in moved.fired()] == ["post-commit"]


THEIRS: dict[str, str] = {
    "pre-commit": "#!/usr/bin/env bash\nset -eu\nexec sh -c 'echo $0 $@ >>ran; cat >>ran' \"$@\"\n",
    "husky": '#!/usr/bin/env sh\n. "$(dirname "$0")/h"\n',
    "plain": "#!/bin/sh -eu\necho theirs $@ >>ran\ncat >>ran\nexit 0\n",
    "no line's end": "#!/bin/sh",
    "comment": "#!/bin/dash\n# \u00e4\r\n: theirs\r\n",
}


@pytest.mark.parametrize("case", THEIRS)
def test_a_shell_script_of_others_gets_a_block_and_comes_back_byte_for_byte(hooked: Hooked, case: str) -> None:
    """Somebody's checks must go on as if we were not there, and stay when we leave."""
    for name, mode in zip(NAMES, (0o755, 0o700, 0o775, 0o555), strict=True):
        hooked.hook(name, THEIRS[case], mode)
    before = hooked.snapshot()
    assert {how for _, how in hooked.install().hooks} == {"block"}
    assert hooked.snapshot() != before
    assert all(hook.fires for hook in hooked.state())
    assert hooked.said() == ""
    hooked.install(python=sys.executable)
    hooked.remove()
    assert hooked.snapshot() == before


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("options", ["", " -eu"])
def test_what_follows_gets_its_input_arguments_and_exit_code(
    hooked: Hooked, repo: GitRepo, shell: str, options: str
) -> None:
    """A hook that swallows another's input breaks it without a word."""
    word = shutil.which(shell)
    assert word
    shebang = f"#!{word}{' sh' if shell == 'busybox' else ''}{options}"
    script = f'{shebang}\n[ "$#" = 1 ]\necho "theirs $1" >ran\ncat >>ran\nexit 7\n'
    path = hooked.hook("post-rewrite", script)
    hooked.install()
    rows = "".join(f"{number:040x} {number + 1:040x}\n" for number in range(3000))
    for given in (rows, ""):
        done = subprocess.run(
            [str(path), "rebase"], cwd=repo.path, input=given.encode(), capture_output=True, check=False
        )
        assert (done.returncode, done.stdout, done.stderr) == (7, b"", b"")
        assert hooked.said() == f"theirs rebase\n{given}"
        assert [len(each.pairs) for each in hooked.fired()] == [given.count("\n")]


def test_a_hook_in_another_language_is_called_under_its_own_name(hooked: Hooked, repo: GitRepo) -> None:
    """Overcommit and its like tell by their name what to do; a renamed one does the wrong thing."""
    path = hooked.hook("post-checkout", RUBYISH, 0o750)
    before, inode = hooked.snapshot(), path.stat().st_ino
    alone = subprocess.run(["git", "switch", "-q", "-c", "w"], cwd=repo.path, check=False).returncode
    hooked.said()
    assert dict(hooked.install().hooks)["post-checkout"] == "beside"
    done = subprocess.run(["git", "switch", "-q", "-c", "x"], cwd=repo.path, check=False)
    head = repo.git("rev-parse", "HEAD")
    assert (done.returncode, hooked.said()) == (alone, f"post-checkout {head} {head} 1")
    assert [each.hook for each in hooked.fired()] == ["post-checkout"]
    assert next(hook for hook in hooked.state() if hook.name == "post-checkout").fires
    assert hooked.said() == ""
    hooked.install()
    hooked.remove()
    assert hooked.snapshot() == before and path.stat().st_ino == inode


@pytest.mark.parametrize("target", ["../../scripts/hook", "shared", "/nowhere/at/all", "absolute"])
def test_a_link_is_never_written_through(hooked: Hooked, repo: GitRepo, target: str) -> None:
    """A tracked script behind a link would show our lines in the next commit of everybody."""
    script = repo.write("scripts/hook", '#!/bin/sh\necho "linked ${0##*/}" >>ran\n')
    script.chmod(0o755)
    hooked.hook("shared", script.read_text())
    hooked.folder.joinpath("post-commit").symlink_to(str(script) if target == "absolute" else target)
    repo.git("add", "scripts")
    before = hooked.snapshot()
    hooked.install()
    repo.git("commit", "-q", "-m", "scripts")
    assert hooked.said() == ("" if "nowhere" in target else "linked post-commit\n")
    assert [each.hook for each in hooked.fired()] == ["post-commit"]
    assert repo.status() == ""
    hooked.install()
    hooked.remove()
    assert hooked.snapshot() == before


@pytest.mark.parametrize(
    "text", ["#!/bin/sh\necho off >>ran\n", "#!/bin/sh\r\necho crlf >>ran\r\n", "echo no shebang >>ran\n"]
)
def test_what_git_does_not_run_or_runs_otherwise_is_left_as_it_is(hooked: Hooked, repo: GitRepo, text: str) -> None:
    """A hook its owner switched off must not wake up because we came."""
    hooked.hook("post-commit", text, 0o644 if "off" in text else 0o755)
    before = hooked.snapshot()
    hooked.install()
    repo.commit()
    assert hooked.said() == ("no shebang\n" if "shebang" in text else "")
    assert [each.hook for each in hooked.fired()] == ["post-commit"]
    hooked.remove()
    assert hooked.snapshot() == before


def test_installing_again_changes_nothing_and_a_new_python_replaces_the_old(hooked: Hooked) -> None:
    """`init` offers it each time; a block for each would run Python as often."""
    hooked.hook("post-merge", THEIRS["plain"])
    assert hooked.install().changed
    first = hooked.snapshot()
    times = {path: path.stat().st_mtime_ns for path in hooked.folder.iterdir()}
    assert not hooked.install().changed
    assert hooked.snapshot() == first and times == {p: p.stat().st_mtime_ns for p in hooked.folder.iterdir()}
    assert hooked.install(python=sys.executable).changed
    second = hooked.snapshot()
    assert {path: data for path, data in second.items() if sys.executable.encode() in data[1]} and second != first  # type: ignore[operator]
    assert all(text.count(b">>> holdfast") <= 1 for _, text in second.values() if isinstance(text, bytes))


def test_a_folder_that_was_not_there_goes_again(hooked: Hooked) -> None:
    """Deleting only what we made includes deleting all of it."""
    shutil.rmtree(hooked.folder)
    hooked.install()
    assert sorted(path.name for path in hooked.folder.iterdir()) == sorted(NAMES)
    removed = hooked.remove()
    assert len(removed.hooks) == 4 and removed.left == ()
    assert not hooked.folder.exists() and not os.path.exists(hooked.layout.hook)
    assert hooked.remove().hooks == ()


def test_lines_a_user_added_to_our_file_stay(hooked: Hooked, repo: GitRepo) -> None:
    """Somebody found a hook file there and used it; it is theirs by now."""
    hooked.install()
    path = hooked.folder / "post-commit"
    path.write_text(path.read_text() + "echo mine >>ran\n")
    repo.commit()
    assert hooked.said() == "mine\n"
    hooked.remove()
    assert path.read_text() == "#!/bin/sh\necho mine >>ran\n"


def husky(hooked: Hooked) -> Callable[[], None]:
    """What `npx husky` makes, and makes anew with every `npm install`."""

    def make() -> None:
        for name in (*NAMES, "pre-commit"):
            hooked.hook(name, '#!/usr/bin/env sh\n. "$(dirname "$0")/h"\n', folder=".husky/_")
        hooked.hook("h", HUSKY, folder=".husky/_")
        hooked.hook(".gitignore", "*", 0o644, folder=".husky/_")

    make()
    hooked.hook("post-commit", "echo husky >>ran\n", folder=".husky")
    hooked.repo.git("config", "core.hooksPath", ".husky/_")
    hooked.repo.git("add", ".husky")
    hooked.repo.git("commit", "-q", "-m", "husky")
    hooked.said()
    return make


def test_husky_keeps_working_and_its_new_folder_is_noticed(hooked: Hooked, repo: GitRepo) -> None:
    """Every `npm install` writes husky's folder anew; hooks that vanish in silence are worse than none."""
    again = husky(hooked)
    before = hooked.snapshot(".husky")
    installed = hooked.install()
    assert installed.where == str(repo / ".husky/_") and repo.git("config", "core.hooksPath") == ".husky/_"
    repo.commit()
    assert hooked.said() == "husky\n" and [each.hook for each in hooked.fired()] == ["post-commit"]
    assert all(hook.fires for hook in hooked.state()) and hooked.said() == "" and repo.status() == ""
    again()
    assert [(hook.installed, "husky" in hook.trouble) for hook in hooked.state()] == [(False, True)] * 4
    hooked.install()
    assert all(hook.fires for hook in hooked.state())
    hooked.remove()
    assert hooked.snapshot(".husky") == before


def test_a_tracked_or_foreign_folder_is_refused_and_nothing_written(
    hooked: Hooked, repo: GitRepo, tmp_path: Path
) -> None:
    """Our lines would ride in the next commit, or run in every repository of the user."""
    hooked.hook("pre-commit", "#!/bin/sh\n", folder=".githooks")
    repo.git("add", ".githooks")
    repo.git("commit", "-q", "-m", "hooks")
    outside = tmp_path / "global"
    outside.mkdir()
    for place, word in ((".githooks", "git status"), (str(outside), "outside"), ("/dev/null", "disabled")):
        repo.git("config", "core.hooksPath", place)
        with pytest.raises(UnsafePath, match=word) as caught:
            hooked.install()
        assert "post-rewrite" in caught.value.hint or word == "disabled"
        assert repo.status() == "" and list(outside.iterdir()) == []
        assert [hook.trouble for hook in hooked.state()] == [""] * 4
    repo.git("config", "--unset", "core.hooksPath")
    (repo / ".git/hooks").rename(repo / ".git/old")
    (repo / ".git/hooks").symlink_to("../.githooks")
    with pytest.raises(UnsafePath, match="git status"):
        hooked.install()


def test_the_line_for_a_hook_of_their_own_records_too(hooked: Hooked, repo: GitRepo) -> None:
    """Whoever follows the hint must get what it promises."""
    hooked.hook("post-commit", f"#!/bin/sh\n{hook_scripts.by_hand('post-commit')}\n", folder=".githooks")
    repo.git("config", "core.hooksPath", ".githooks")
    with pytest.raises(UnsafePath):
        hooked.install()
    repo.commit()
    assert [each.hook for each in hooked.fired()] == ["post-commit"]
    assert (hooked.state()[0].how, hooked.state()[0].fires) == ("by hand", None)


def test_a_new_git_gets_hooks_in_its_configuration(hooked: Hooked, repo: GitRepo) -> None:
    """Git 2.54 runs any number of hooks; no file of anybody's has to be touched there."""
    hooked.hook("post-commit", THEIRS["plain"])
    before = hooked.snapshot()
    hooked.install()
    installed = hooked.install(version=(2, 54))
    assert installed.how == "config" and not hooked.install(version=(2, 55)).changed
    assert {path: facts for path, facts in hooked.snapshot().items() if not path.endswith("config")} == {
        path: facts for path, facts in before.items() if not path.endswith("config")
    }
    for name in NAMES:
        assert repo.git("config", f"hook.holdfast-{name}.event") == name
        command = repo.git("config", f"hook.holdfast-{name}.command")
        # As git starts it: a shell, the command, and the hook's arguments once more behind it.
        for arguments, tail in ((["amend"], ' "$@"'), ([], "")):
            subprocess.run(["sh", "-c", command + tail, command, *arguments], cwd=repo.path, input=b"", check=True)
    assert [(each.hook, each.args) for each in hooked.fired()] == [(n, a) for n in NAMES for a in (("amend",), ())]
    if hooks.git_version(hooked.seen().repo) >= (2, 54):
        repo.git("config", "hook.other.command", "echo other >>ran")
        repo.git("config", "hook.other.event", "post-commit")
        assert all(hook.fires for hook in hooked.state()) and hooked.said() == ""
        repo.git("config", "--remove-section", "hook.other")
    else:
        assert all("older than 2.54" in hook.trouble and hook.fires is False for hook in hooked.state())
    hooked.remove()
    assert hooked.snapshot() == before
    hooked.install(version=(2, 54))
    hooked.install(version=(2, 53))
    assert "holdfast" not in (repo / ".git/config").read_text()


def test_older_gits_are_proved_too(hooked: Hooked) -> None:
    """`git hook run` came with 2.36; Debian stable of its day had an older one."""
    hooked.install()
    assert all(hook.fires for hook in hooked.state(version=(2, 34)))


def test_what_cannot_fire_is_told_with_its_reason(hooked: Hooked, repo: GitRepo, tmp_path: Path) -> None:
    """Hooks that everybody believes in and nobody hears from lose sessions for weeks."""
    assert {(hook.installed, hook.fires, hook.trouble) for hook in hooked.state()} == {(False, None, "")}
    gone = tmp_path / "python"
    shutil.copy("/bin/true", gone)
    hooked.install(python=str(gone))
    assert {hook.fires for hook in hooked.state()} == {False}  # it runs, and records nothing
    gone.unlink()
    assert all(str(gone) in hook.trouble and hook.fires is False for hook in hooked.state())
    hooked.install()
    (hooked.folder / "post-merge").chmod(0o644)
    os.unlink(hooked.folder / "post-commit")
    states = {hook.name: hook for hook in hooked.state()}
    assert "not executable" in states["post-merge"].trouble
    assert "gone" in states["post-commit"].trouble and not states["post-commit"].installed
    os.unlink(hooked.layout.hook)
    assert "hook.py is gone" in {hook.name: hook for hook in hooked.state()}["post-checkout"].trouble


def test_a_test_of_ours_runs_nobody_elses_hook(hooked: Hooked) -> None:
    """`doctor` must not start somebody's deployment."""
    path = hooked.hook("post-commit", "#!/bin/sh\necho theirs >>ran\n")
    hooked.install()
    path.write_text("#!/bin/sh\necho first >>ran\n" + path.read_text().partition("\n")[2])
    assert {hook.name: hook.fires for hook in hooked.state()}["post-commit"] is None
    assert hooked.said() == ""


def test_installing_at_once_makes_one_block(hooked: Hooked) -> None:
    """Two agents start in two work trees at the same moment."""
    hooked.hook("post-commit", THEIRS["plain"])
    hooked.hook("post-checkout", RUBYISH)
    before = hooked.snapshot()
    threads = [threading.Thread(target=hooked.install) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(hook.fires for hook in hooked.state())
    hooked.remove()
    assert hooked.snapshot() == before


class Killed(BaseException):
    """The process ends here."""


class Mortal(fsio.Syscalls):
    """Does so many calls and dies."""

    def __init__(self, calls: int) -> None:
        self.left = calls

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Killed

    def open(self, path: str, flags: int, mode: int) -> int:
        self._count()
        return super().open(path, flags, mode)

    def rename(self, source: str, target: str) -> None:
        self._count()
        super().rename(source, target)

    def unlink(self, path: str) -> None:
        self._count()
        super().unlink(path)

    def sync(self, fd: int) -> None:  # noqa: ARG002
        self._count()


def test_a_kill_at_any_call_leaves_working_hooks_and_a_way_back(hooked: Hooked, repo: GitRepo) -> None:
    """A laptop's battery ends in the middle; nobody's hook may be lost by it."""
    hooked.hook("post-commit", THEIRS["plain"])
    hooked.hook("post-checkout", RUBYISH, 0o750)
    hooked.hook("shared", "#!/bin/sh\necho linked >>ran\n")
    (hooked.folder / "post-merge").symlink_to("shared")
    before, quick = hooked.snapshot(), fsio.ops
    for act in (hooked.install, hooked.remove):
        for calls in range(200):
            hooked.install() if act == hooked.remove else None
            fsio.ops = Mortal(calls)
            try:
                act()
                break
            except Killed:
                pass
            finally:
                fsio.ops = quick
            subprocess.run([str(hooked.folder / "post-merge"), "0"], cwd=repo.path, check=True)
            assert hooked.said() == "linked\n", calls
            hooked.remove()
            assert hooked.snapshot() == before, (act, calls)
        assert 5 < calls < 199
        hooked.remove()
