"""Work trees of tasks: nobody's work is lost, whatever an agent left there, and no other branch is touched."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.crew import task_worktree
from holdfast.crew.executor import ref_name
from holdfast.crew.task_worktree import TaskWorktree, branch_of, start_branch, worktrees
from holdfast.errors import BadInput, GitFailed
from holdfast.git.repo import Repo
from tests.conftest import GitRepo, make_repo


@pytest.fixture
def tree(repo: GitRepo, tmp_path: Path) -> TaskWorktree:
    repo.commit(".gitignore", "*.log\n.env*\nbuild/\n")
    made = TaskWorktree(Repo.at(repo.path), str(tmp_path / "trees" / "a.1"), branch_of("r1", "a.1"))
    made.make(repo.tip())
    return made


def at(tree: TaskWorktree) -> GitRepo:
    return GitRepo(Path(tree.path))


def test_it_begins_at_the_commit_it_is_told(repo: GitRepo, tree: TaskWorktree) -> None:
    """An agent that starts from another state solves another task."""
    assert at(tree).git("rev-parse", "HEAD") == repo.tip() and at(tree).git("branch", "--show-current") == tree.branch
    assert worktrees(Repo.at(repo.path)) == {tree.branch: tree.path}


def test_all_that_lies_there_is_committed_but_our_own_files(repo: GitRepo, tree: TaskWorktree) -> None:
    """Agents forget to commit; memory is changed by review alone."""
    here = at(tree)
    for name in ("new file ä\n.txt", ".holdfast/memory/x.md", "deep/er/y", "noise.log"):
        here.write(name, "x")
    (here / "README").unlink()
    held = tree.commit("Do it\n", repo.tip())
    assert set(held.files) == {"README", "deep/er/y", "new file ä\n.txt"}
    assert here.git("log", "-1", "--format=%s") == "Do it" and tree.commit("again", repo.tip()) == held


def test_a_hook_that_refuses_is_told(repo: GitRepo, tree: TaskWorktree) -> None:
    """A project's hooks hold for agents as well."""
    hook = repo / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\necho no tabs please >&2\nexit 1\n")
    hook.chmod(0o755)
    at(tree).write("x", "\t")
    with pytest.raises(GitFailed, match="no tabs please"):
        tree.commit("Do it", repo.tip())
    kept = tree.save_and_remove("Unfinished", repo.tip())
    assert kept and repo.git("show", f"{tree.branch}:x") == "", "a tab: kept on its branch whatever the hook says"
    assert not os.path.exists(tree.path)


def test_unfinished_work_stays_on_its_branch(repo: GitRepo, tree: TaskWorktree) -> None:
    """An hour of an agent's work is worth a branch, even if its check failed."""
    at(tree).write("half.py", "half\n")
    kept = tree.save_and_remove("Unfinished: x", repo.tip())
    assert repo.git("rev-parse", tree.branch) == kept and repo.git("show", f"{kept}:half.py") == "half"
    assert not os.path.exists(tree.path) and repo.git("worktree", "list").count("\n") == 0
    tree.reopen()
    assert (Path(tree.path) / "half.py").read_text() == "half\n"


def leave_commits_elsewhere(here: GitRepo) -> None:
    here.git("checkout", "-q", "--detach")
    here.commit("lost.py", "precious\n")


def leave_on_another_branch(here: GitRepo) -> None:
    here.git("checkout", "-q", "-b", "my-own-idea")
    here.write("lost.py", "precious\n")


def leave_in_a_rebase(here: GitRepo) -> None:
    here.commit("README", "mine\n")
    here.git("branch", "side", "HEAD~1")
    here.git("checkout", "-q", "side")
    here.commit("README", "theirs\n")
    here.git("checkout", "-q", "-")
    here.git("rebase", "-q", "side", ok=False)
    here.write("README", "solved by hand\n")
    here.write("lost.py", "precious\n")


def leave_a_repository(here: GitRepo) -> None:
    inner = make_repo(here / "inner")
    inner.commit("lost.py", "precious\n")


def leave_an_empty_repository(here: GitRepo) -> None:
    (here / "inner").mkdir()
    GitRepo(here / "inner").git("init", "-q")
    here.write("inner/lost.py", "precious\n")


@pytest.mark.parametrize(
    "leave",
    [
        *(leave_commits_elsewhere, leave_on_another_branch, leave_in_a_rebase),
        *(leave_a_repository, leave_an_empty_repository),
    ],
)
def test_what_no_branch_of_the_task_can_hold_stays_where_it_is(
    repo: GitRepo, tree: TaskWorktree, leave: Callable[[GitRepo], None]
) -> None:
    """An agent goes its own ways; its work is deleted by nobody but a person."""
    here = at(tree)
    leave(here)
    lost = next(Path(tree.path).rglob("lost.py"))
    with pytest.raises(GitFailed, match="so it stays"):
        tree.save_and_remove("Unfinished", repo.tip())
    assert lost.read_text() == "precious\n"


def test_a_dirty_work_tree_is_not_clean(tree: TaskWorktree) -> None:
    """`crew clean` takes away what is clean, and nothing else."""
    here = at(tree)
    assert tree.is_clean()
    here.write("noise.log", "x")
    here.write(".holdfast/views/x.md", "x")
    assert tree.is_clean(), "what is ignored or ours"
    here.write("new", "x")
    assert not tree.is_clean()
    (here / "new").unlink()
    here.write("README", "changed\n")
    assert not tree.is_clean()
    here.git("checkout", "README")
    here.git("add", "-f", ".holdfast/views/x.md")
    here.git("commit", "-q", "-m", "x")
    here.git("mv", ".holdfast/views/x.md", "x.md")
    assert not tree.is_clean(), "a file that was moved out of our folder"


# ── preparing ────────────────────────────────────────────────────────────────────────────────────


def test_ignored_files_that_are_named_come_along(repo: GitRepo, tree: TaskWorktree) -> None:
    """Without .env most projects do not even start; without a limit a build of gigabytes is copied for each task."""
    repo.write(task_worktree.INCLUDE, ".env*\nREADME\nuntracked\n../outside\nbuild/\n")
    for name in (".env", "build/deep/x", "untracked"):
        repo.write(name, f"{name} here\n")
    (repo / ".env").chmod(0o640)
    assert tree.include(str(repo.path)) == 2
    here = at(tree)
    assert (here / ".env").read_text() == ".env here\n" and (here / ".env").stat().st_mode & 0o777 == 0o600
    assert (here / "build/deep/x").exists() and not (here / "untracked").exists(), "only what git ignores"
    assert tree.is_clean()


def test_links_and_large_files_stay_out(repo: GitRepo, tree: TaskWorktree, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link leads an agent out of its work tree, or our copy into somebody's home."""
    outside = repo.path.parent / "outside"
    outside.mkdir()
    (outside / "x").write_text("secret")
    repo.write(task_worktree.INCLUDE, ".env*\nbuild\n.git/\n")
    (repo / ".env").symlink_to(outside / "x")
    (repo / "build").symlink_to(outside)
    repo.write(".env2", "x" * 100)
    monkeypatch.setattr(task_worktree, "MAX_INCLUDED", 99)
    assert tree.include(str(repo.path)) == 0
    assert not os.path.lexists(os.path.join(tree.path, ".env"))


def test_a_link_in_the_new_tree_leads_nowhere(repo: GitRepo, tmp_path: Path) -> None:
    """A tracked link `build -> /somewhere` would let a copy write there."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (repo / "build").symlink_to(outside)
    repo.commit(".gitignore", ".env\nbuild/\n")
    repo.git("add", "-f", "build")
    repo.git("commit", "-q", "-m", "link")
    tree = TaskWorktree(Repo.at(repo.path), str(tmp_path / "t"), branch_of("r1", "a.1"))
    tree.make(repo.tip())
    (repo / "build").unlink()
    repo.write("build/x", "x")
    repo.write(task_worktree.INCLUDE, "build/\n")
    assert tree.include(str(repo.path)) == 0 and not list(outside.iterdir())


def test_a_file_that_the_task_has_is_not_overwritten(repo: GitRepo, tree: TaskWorktree) -> None:
    """The user's own copy of a tracked file would become a part of the agent's work."""
    at(tree).write(".env", "of the commit\n")
    repo.write(task_worktree.INCLUDE, ".env\n")
    repo.write(".env", "of the user\n")
    assert tree.include(str(repo.path)) == 0 and (Path(tree.path) / ".env").read_text() == "of the commit\n"


@pytest.fixture
def with_submodule(repo: GitRepo, tmp_path: Path) -> GitRepo:
    library = make_repo(tmp_path / "library")
    library.commit("lib.c", "int x;\n")
    repo.git("submodule", "add", "-q", str(library.path), "lib")
    repo.git("commit", "-q", "-m", "add lib")
    return repo


def test_submodules_are_filled_and_taken_away(with_submodule: GitRepo, tmp_path: Path) -> None:
    """A work tree without its submodules does not build, and git refuses to remove one that has them."""
    repo = with_submodule
    tree = TaskWorktree(Repo.at(repo.path), str(tmp_path / "t"), branch_of("r1", "a.1"))
    tree.make(repo.tip())
    assert (tmp_path / "t/lib/lib.c").exists() and tree.is_clean()
    at(tree).write("new", "x")
    assert tree.save_and_remove("x", repo.tip()) and not os.path.exists(tree.path)
    assert (repo / "lib/lib.c").exists() and repo.git("status", "--porcelain") == ""


def test_a_submodules_own_commits_are_not_lost(with_submodule: GitRepo, tmp_path: Path) -> None:
    """They lie in the work tree's own copy of the submodule, which goes with it; what its remote has may go."""
    repo = with_submodule
    tree = TaskWorktree(Repo.at(repo.path), str(tmp_path / "t"), branch_of("r1", "a.1"))
    tree.make(repo.tip())
    inner = GitRepo(tmp_path / "t/lib")
    inner.commit("lib.c", "int y;\n")
    with pytest.raises(GitFailed, match="so it stays"):
        tree.save_and_remove("x", repo.tip())
    assert (tmp_path / "t/lib/lib.c").read_text() == "int y;\n"
    inner.git("push", "-q", "origin", "HEAD:refs/heads/next")
    assert tree.save_and_remove("x", repo.tip()) and not os.path.exists(tree.path)


# ── branches ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "task", ["T-1", "a.b", "x.lock", "-dash", "a..b", "9", "ä ö", "A" * 64, "a/b", "@{1}", "~^:?*["]
)
def test_every_task_has_a_branch_that_git_takes(repo: GitRepo, task: str, tmp_path: Path) -> None:
    """Ids of tasks come from plans that people write."""
    tree = TaskWorktree(Repo.at(repo.path), str(tmp_path / "t"), branch_of("r1", f"{ref_name(task)}.1"))
    tree.make(repo.tip())
    tree.remove()
    tree.drop_branch()
    assert repo.git("branch", "--list", "crew/*") == ""


def test_two_tasks_never_share_a_branch() -> None:
    """a.b and a-b look alike once git's rules are applied."""
    names = ["a.b", "a-b", "a_b", "a/b", "A.B", "a..b", "ä", "ö"]
    assert len({ref_name(name).lower() for name in names}) == len(names)


def test_a_branch_that_is_checked_out_elsewhere_is_no_hindrance(repo: GitRepo, tmp_path: Path) -> None:
    """People work on main in another work tree while a crew starts from it."""
    repo.git("switch", "-q", "-c", "mine")
    repo.git("worktree", "add", "-q", str(tmp_path / "elsewhere"), "main")
    start_branch(Repo.at(repo.path), branch_of("r1", "result"), "main")
    assert repo.git("rev-parse", "crew/r1/result") == repo.git("rev-parse", "main")
    assert GitRepo(tmp_path / "elsewhere").git("branch", "--show-current") == "main"
    with pytest.raises(BadInput):
        start_branch(Repo.at(repo.path), "crew/r1/-x..y", "main")
    with pytest.raises(GitFailed):
        start_branch(Repo.at(repo.path), branch_of("r1", "result"), "main")


def test_after_a_conflict_the_branch_is_as_it_was(repo: GitRepo, tree: TaskWorktree) -> None:
    """The work of a task that conflicts is what the next one starts from."""
    base = repo.tip()
    at(tree).write("README", "theirs\n")
    held = tree.commit("theirs", base)
    onto = repo.commit("README", "ours\n")
    assert tree.rebase(base, onto) == ("README",)
    assert tree.held(base) == held and tree.is_clean()
    other = repo.commit("else", "x\n")
    repo.git("reset", "-q", "--hard", base)
    repo.git("cherry-pick", other)
    assert tree.rebase(base, repo.tip()) is None and (Path(tree.path) / "else").exists()


def test_what_an_agent_did_before_it_deleted_git_is_kept(repo: GitRepo, tree: TaskWorktree) -> None:
    """Agents that "start afresh" delete .git; the hour before that is worth a branch."""
    at(tree).write("new", "precious")
    os.unlink(os.path.join(tree.path, ".git"))
    assert tree.save_and_remove("Unfinished", repo.tip())
    assert repo.git("show", f"{tree.branch}:new") == "precious" and not os.path.exists(tree.path)


def test_a_removal_that_was_interrupted_is_no_work(repo: GitRepo, tree: TaskWorktree) -> None:
    """Half a work tree, committed, would read as if somebody had deleted the rest on purpose."""
    at(tree).write("new", "x")
    held = tree.commit("Do it", repo.tip())
    os.unlink(os.path.join(tree.path, ".git"))
    os.unlink(os.path.join(tree.path, "README"))
    tree.save_and_remove("Unfinished", repo.tip())
    assert repo.git("rev-parse", tree.branch) == held.commit and not os.path.exists(tree.path)


@pytest.mark.parametrize("flag", ["--skip-worktree", "--assume-unchanged"])
def test_a_change_that_git_was_told_not_to_see_is_committed(repo: GitRepo, tree: TaskWorktree, flag: str) -> None:
    """Checks run with the files that are there: what they passed with must be in the commit."""
    at(tree).write("README", "changed")
    at(tree).git("update-index", flag, "README")
    held = tree.commit("Do it", repo.tip())
    assert held.files == ("README",) and repo.git("show", f"{tree.branch}:README") == "changed"
