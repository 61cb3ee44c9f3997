"""A task's own work tree and branch: made, prepared, committed, rebased and taken away, without losing anybody's work.

A work tree that holds work which no branch has is never deleted: what is uncommitted becomes a commit on the task's own
branch first. Branches of a crew are `crew/RUN/…`; no other ref is ever moved here.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Iterator, Sequence

from holdfast.errors import BadInput, GitFailed, HoldfastError
from holdfast.git.repo import Repo
from holdfast.store import fsio
from holdfast.store.layout import TRACKED
from holdfast.values import frozen

BRANCHES = "crew"  # the folder of all branches of crews
RESULT = "result"  # the branch of a run that finished tasks are merged into
INCLUDE = ".worktreeinclude"
PREPARED = "holdfast-prepared"  # in the work tree's git folder: the ignored files that were there when it was ready
CHECKED = "holdfast-checked"  # beside it: as old as the end of the last checks
MAX_INCLUDED = 64 << 20  # bytes that are copied into a new work tree: settings and keys, not builds
MAX_NAMED = 20  # files that a sentence names


def branch_of(run: str, name: str) -> str:
    """The name of a branch of a crew."""
    return f"{BRANCHES}/{run}/{name}"


def folder_name(name: str) -> str:
    """The folder of such a branch's work tree; git calls the work tree by it (`git.moves` says nothing of these)."""
    return f"{BRANCHES}-{name}"


@frozen
class TaskCommit:
    """What a task's branch holds: its newest commit and tree, and the files that differ from where it began."""

    commit: str
    tree: str
    files: tuple[str, ...]


class TaskWorktree:
    """One work tree of a crew."""

    def __init__(self, repo: Repo, path: str, branch: str) -> None:
        self.repo, self.path, self.branch = repo, path, branch

    @property
    def tree(self) -> Repo:
        """The repository, seen from this work tree; GitFailed if somebody put another one in its place."""
        tree = Repo.at(self.path)
        if os.path.realpath(tree.common_dir) != os.path.realpath(self.repo.common_dir):
            raise GitFailed(f"{self.path} is a repository of its own now", hint="Look there by hand.")
        return tree

    def make(self, base: str) -> None:
        """Add the work tree and its branch at a commit; GitFailed if git refuses."""
        fsio.make_dirs(os.path.dirname(self.path))
        done = self.repo.attempt_patiently("worktree", "add", "-q", "-b", self.branch, self.path, base)
        if done.returncode:
            raise GitFailed(f"git added no work tree for {self.branch}: {git_words(done.stderr)}")
        if os.path.lexists(os.path.join(self.path, ".gitmodules")):
            self._fill_submodules()

    def reopen(self) -> None:
        """Add a work tree for a branch that is there: somebody took it away, or it was made on another machine."""
        fsio.make_dirs(os.path.dirname(self.path))
        self.repo.attempt_patiently("worktree", "prune")
        done = self.repo.attempt_patiently("worktree", "add", "-q", "--force", self.path, self.branch)
        if done.returncode:
            raise GitFailed(f"git added no work tree for {self.branch}: {git_words(done.stderr)}")

    def _fill_submodules(self) -> None:
        done = self.tree.attempt_patiently("submodule", "update", "-q", "--init", "--recursive")
        if done.returncode:
            raise GitFailed(f"the submodules of {self.branch} could not be filled: {git_words(done.stderr)}")

    def include(self, source: str) -> int:
        """Copy what `.worktreeinclude` names from the user's work tree: ignored files only; gives how many."""
        if not os.path.isfile(os.path.join(source, INCLUDE)):
            return 0
        left, number = MAX_INCLUDED, 0
        for name in _included(Repo.at(source)):
            size = _copy(source, self.path, name, most=left)
            left, number = left - (size or 0), number + (size is not None)
        return number

    def note_prepared(self) -> None:
        """Remember which ignored files are there: what is added later is no part of what will be merged."""
        fsio.replace(os.path.join(self.tree.git_dir, PREPARED), b"\0".join(self._ignored()))

    def drop_unprepared(self) -> None:
        """Take away ignored files that came after the preparation: a check must not pass by what is not committed."""
        noted = fsio.find(os.path.join(self.tree.git_dir, PREPARED), limit=MAX_INCLUDED)
        if noted is None:
            return
        before = set(noted.split(b"\0"))
        for name in (os.fsdecode(one) for one in self._ignored() if one not in before):
            path = os.path.join(self.path, name.rstrip("/"))
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path, ignore_errors=True)
            else:
                with contextlib.suppress(OSError):
                    os.unlink(path)

    def note_checked(self) -> None:
        """Remember when checks ended: what changes in the work tree after that is somebody's who looks at it."""
        fsio.replace(os.path.join(self.tree.git_dir, CHECKED), b"")

    def is_touched(self) -> bool:
        """Whether uncommitted changes are younger than the checks: what checks left is nobody's work."""
        if not os.path.lexists(os.path.join(self.path, ".git")):
            return False
        tree = self.tree
        try:
            since = os.stat(os.path.join(tree.git_dir, CHECKED)).st_ctime_ns
        except FileNotFoundError:
            return not self.is_clean()
        rows = tree.run("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all").split(b"\0")
        ours = os.fsencode(f"{TRACKED}/")
        names = (os.path.join(os.fsencode(self.path), row[3:]) for row in rows if row and not row[3:].startswith(ours))
        return any(_changed_at(name) > since for name in names)

    def _ignored(self) -> list[bytes]:
        asked = ("--others", "--ignored", "--exclude-standard", "--directory", "-z", "--", ".", f":(exclude){TRACKED}")
        return [name for name in self.tree.run("ls-files", *asked).split(b"\0") if name]

    def commit(self, message: str, base: str, *, is_unfinished: bool = False) -> TaskCommit:
        """Commit all that is there, but for Holdfast's own files, and say what the branch holds since `base`.

        Unfinished work is committed without hooks: it must be kept whatever they think of it.
        """
        tree = self.tree
        self._unhide()
        added = tree.attempt_patiently("add", "-A", "--", ".", f":(exclude){TRACKED}")
        if added.returncode:
            raise GitFailed(f"git took no changes of {self.branch}: {git_words(added.stderr)}")
        how = ("--no-verify",) if is_unfinished else ()
        done = tree.attempt_patiently("commit", "-q", *how, "-F", "-", stdin=message.encode("utf-8", "replace"))
        if done.returncode and tree.attempt("diff", "--cached", "--quiet").returncode:  # else nothing was new
            raise GitFailed(f"git made no commit on {self.branch}: {git_words(done.stderr or done.stdout)}")
        held = self.held(base)
        if inner := next(filter(self._has_commits_of_its_own, held.files), None):
            raise GitFailed(f"{inner} is a repository of its own, and no remote has its newest commit")
        return held

    def unlock(self) -> None:
        """Take away the locks of a git that was ended in the middle; only while nobody works in this work tree."""
        for name in ("index.lock", "HEAD.lock"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(self.tree.git_dir, name))

    def _unhide(self) -> None:
        """Let git see every file that is there: checks would pass with a change that an agent hid from the commit."""
        rows = self.tree.run("ls-files", "-v", "-z").split(b"\0")
        found = [row[2:] for row in rows if row[:1].islower() or row[:1] == b"S"]
        there = [name for name in found if os.path.lexists(os.path.join(os.fsencode(self.path), name))]
        if there:  # what a sparse checkout leaves out is not
            names = b"".join(name + b"\0" for name in there)
            for flag in ("--no-assume-unchanged", "--no-skip-worktree"):
                self.tree.attempt_patiently("update-index", flag, "-z", "--stdin", stdin=names)

    def _has_commits_of_its_own(self, name: str) -> bool:
        """Whether a path is a repository in the work tree with commits that would go with it."""
        path = os.path.join(self.path, name)
        if os.path.islink(path) or not os.path.lexists(os.path.join(path, ".git")):
            return False
        return not Repo.at(path).attempt("for-each-ref", "--count=1", "--contains=HEAD", "refs/remotes").stdout

    def held(self, base: str) -> TaskCommit:
        """What the branch holds now, since a commit."""
        tree = self.tree
        commit, _, oid = tree.text("log", "-1", "--format=%H %T").partition(" ")
        names = tree.run("diff", "--name-only", "-z", "--no-renames", base, commit).split(b"\0")
        return TaskCommit(commit, oid, tuple(os.fsdecode(name) for name in names if name))

    def is_clean(self) -> bool:
        """Whether nothing in it would be lost: tracked files as committed, nothing untracked but what is ignored."""
        try:
            tree = self.tree
        except HoldfastError:  # another repository in its place, or none
            return False
        done = tree.attempt(
            "status", "--porcelain", "--no-renames", "--untracked-files=normal", "--ignore-submodules=none"
        )
        rows = os.fsdecode(done.stdout).splitlines()
        return done.returncode == 0 and all(row[3:].startswith(f"{TRACKED}/") for row in rows)

    def rebase(self, base: str, onto: str) -> tuple[str, ...] | None:
        """Put the branch's commits since `base` on top of another commit; gives the files in conflict, None if none.

        After a conflict the branch is as it was.
        """
        tree = self.tree
        done = tree.attempt_patiently("rebase", "-q", "--onto", onto, base, self.branch)
        if done.returncode and tree.operation() is None and self.is_touched():
            raise GitFailed(f"somebody changed files in {self.path}", hint="Commit them there, or undo them.")
        if done.returncode and tree.operation() is None:  # what checks changed in tracked files is nobody's work
            tree.attempt_patiently("reset", "-q", "--hard", f"refs/heads/{self.branch}")
            done = tree.attempt_patiently("rebase", "-q", "--onto", onto, base, self.branch)
        if done.returncode == 0:
            return None
        found = tree.run("diff", "--name-only", "-z", "--diff-filter=U").split(b"\0")
        tree.attempt_patiently("rebase", "--abort")
        names = tuple(os.fsdecode(name) for name in found if name)
        if not names:
            raise GitFailed(f"git did not rebase {self.branch}: {git_words(done.stderr or done.stdout)}")
        return names

    def save_and_remove(self, message: str, base: str) -> str | None:
        """Take the work tree away; what it holds is committed on its branch first.

        Gives that branch's commit; None if there was nothing to keep, and the branch is gone, too.
        """
        if os.path.lexists(os.path.join(self.path, ".git")):
            self.unlock()
        held = self._save(message, base)
        self.remove()
        if held == base:
            self.drop_branch()
        return held if held != base else None

    def leave(self, message: str) -> None:
        """Take a work tree away whose work is committed; what somebody changed there since is committed first."""
        if self.is_touched():
            self._save(message, str(self.repo.resolve(f"refs/heads/{self.branch}")))
        self.remove()

    def _save(self, message: str, base: str) -> str | None:
        """Commit what it holds, and give its commit; None if it is no work tree any more."""
        if not self._mend():
            return None
        held = None
        with contextlib.suppress(HoldfastError):
            if self.tree.head().branch == self.branch:  # else a commit here would be on no branch of ours
                held = self.commit(message, base, is_unfinished=True).commit
        if held is None or not self.is_clean():
            raise GitFailed(
                f"{self.path} holds work that could not be committed, so it stays", hint="Look there by hand."
            )
        return held

    def _mend(self) -> bool:
        """Whether it is a work tree that may hold work; an agent that deleted `.git` did not undo what it had done.

        A removal that was interrupted may have taken `.git`, too. Then all that is left is as it was committed.
        """
        link = os.path.join(self.path, ".git")
        if os.path.lexists(link):
            return True
        named = os.fsencode(f"{os.path.realpath(self.path)}/.git")
        for row in _admin_folders(self.repo) if os.path.isdir(self.path) else ():
            if (fsio.find(os.path.join(row, "gitdir"), limit=1 << 16) or b"").rstrip(b"\n") == named:
                fsio.replace(link, os.fsencode(f"gitdir: {row}\n"))
        if not os.path.lexists(link):
            return False
        rows = self.tree.run("status", "--porcelain", "-z", "--no-renames").split(b"\0")
        if all(row.startswith(b" D ") for row in rows if row):
            os.unlink(link)
            return False
        return True

    def remove(self) -> None:
        """Take a work tree away whose work is committed; its branch stays."""
        if os.path.lexists(self.path):
            done = self.repo.attempt_patiently("worktree", "remove", "--force", self.path)
            if done.returncode == 0:
                return
            if os.path.lexists(os.path.join(self.path, ".git")):  # locked, or no work tree of ours: git knows why
                raise GitFailed(f"git did not remove {self.path}: {git_words(done.stderr)}")
            shutil.rmtree(self.path, ignore_errors=True)  # what an interrupted removal left
        self.repo.attempt_patiently("worktree", "prune")

    def drop_branch(self) -> None:
        """Delete the branch: its work is in the result."""
        drop_branches(self.repo, [self.branch])


def _changed_at(path: bytes) -> int:
    """When a file changed at last, or the nearest folder that is left of its path."""
    while True:
        try:
            return os.lstat(path).st_ctime_ns
        except OSError:
            path = os.path.dirname(path)


def _admin_folders(repo: Repo) -> list[str]:
    """Where git keeps what it knows of each linked work tree."""
    folder = os.path.join(repo.common_dir, "worktrees")
    return [os.path.join(folder, name) for name in os.listdir(folder)] if os.path.isdir(folder) else []


def _included(repo: Repo) -> Iterator[str]:
    """Files that `.worktreeinclude` names and git ignores."""
    listed = repo.run("ls-files", "-z", "--others", "--ignored", f"--exclude-from={os.path.join(repo.top, INCLUDE)}")
    if not listed:
        return
    ignored = repo.attempt("check-ignore", "-z", "--stdin", stdin=listed).stdout
    yield from (os.fsdecode(name) for name in ignored.split(b"\0") if name)


def _copy(source: str, target: str, name: str, *, most: int) -> int | None:
    """Copy one file of a work tree into another; gives its size, None if it stays out: a link, too large, or unsafe."""
    parts = name.split("/")
    if ".." in parts or ".git" in (part.lower() for part in parts) or os.path.isabs(name):
        return None
    try:
        facts = os.lstat(os.path.join(source, name))
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > most:
            return None
        if os.path.realpath(os.path.join(source, name)) != os.path.join(os.path.realpath(source), *parts):
            return None  # a folder on the way is a link
        place = os.path.join(target, name)
        if os.path.lexists(place):
            return None  # the commit has it
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if os.path.realpath(place) != os.path.join(os.path.realpath(target), *parts):
            return None
        shutil.copyfile(os.path.join(source, name), place, follow_symlinks=False)
        os.chmod(place, stat.S_IMODE(facts.st_mode) & 0o700)
    except OSError:
        return None
    return facts.st_size


def worktrees(repo: Repo) -> dict[str, str]:
    """The branches of crews that are checked out, and where."""
    found, path = {}, ""
    for row in os.fsdecode(repo.run("worktree", "list", "--porcelain")).splitlines():
        if row.startswith("worktree "):
            path = row.removeprefix("worktree ")
        elif row.startswith(f"branch refs/heads/{BRANCHES}/"):
            found[row.removeprefix("branch refs/heads/")] = path
    return found


def branches(repo: Repo, run: str) -> dict[str, str]:
    """The branches of a run and their commits."""
    folder = f"refs/heads/{BRANCHES}/{run}/"
    rows = repo.text("for-each-ref", "--format=%(refname) %(objectname)", folder).splitlines()
    return {name.removeprefix("refs/heads/"): oid for name, oid in (row.rsplit(" ", 1) for row in rows)}


def merged_branches(repo: Repo, run: str) -> list[str]:
    """The branches of a run whose commits HEAD has."""
    asked = ("--merged=HEAD", "--format=%(refname:lstrip=2)", f"refs/heads/{BRANCHES}/{run}/")
    return repo.text("for-each-ref", *asked).splitlines()


def start_branch(repo: Repo, name: str, base: str) -> None:
    """Make a branch from another one by its name, so that it inherits what waits there."""
    if repo.attempt("check-ref-format", "--branch", name).returncode:
        raise BadInput(f"{name!r} is not the name of a branch")
    done = repo.attempt_patiently("branch", "--no-track", name, f"refs/heads/{base}")  # a tag may have its name
    if done.returncode:
        raise GitFailed(f"git made no branch {name}: {git_words(done.stderr)}")


def drop_branches(repo: Repo, names: Sequence[str]) -> None:
    """Delete branches whose work is elsewhere."""
    if names:
        repo.attempt_patiently("branch", "-q", "-D", "--", *names)


def fetch_branch(repo: Repo, remote: str, branch: str) -> None:
    """Bring a branch of a crew from the remote that its machines share; the same name here is moved to it."""
    done = repo.attempt_patiently("fetch", "-q", "--no-tags", remote, f"+refs/heads/{branch}:refs/heads/{branch}")
    if done.returncode:
        raise GitFailed(f"{branch} could not be fetched from {remote}: {git_words(done.stderr)}")


def push_branch(repo: Repo, remote: str, branch: str) -> None:
    """Bring a branch of a crew to that remote."""
    done = repo.attempt_patiently("push", "-q", "--no-verify", remote, f"+refs/heads/{branch}:refs/heads/{branch}")
    if done.returncode:
        raise GitFailed(f"{branch} could not be pushed to {remote}: {git_words(done.stderr)}")


def folder_size(path: str, *, most: int) -> int:
    """How many bytes lie in a folder; counting stops beyond `most`."""
    size, waiting = 0, [path]
    while waiting and size <= most:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as rows:
            for row in rows:
                if row.is_dir(follow_symlinks=False):
                    waiting.append(row.path)
                else:
                    size += row.stat(follow_symlinks=False).st_size
    return size


def listed_files(names: Sequence[str]) -> str:
    """Some files in a sentence."""
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return ", ".join(names[:MAX_NAMED]) + more


def git_words(raw: bytes) -> str:
    """What git complained about, in one line."""
    return " ".join(raw.decode("utf-8", "replace").split())[-300:] or "git said nothing"
