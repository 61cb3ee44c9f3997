"""Runs git. No other module of Holdfast starts a git process.

Arguments are lists, reads take no optional locks, and the variables with which git tells a hook its
repository are dropped once the repository is known: with them, `git -C` would use the wrong one.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast.errors import GitFailed, NotARepository, PublishRefused, UnsafePath
from holdfast.git import git_memo
from holdfast.patterns import PatternFile
from holdfast.store import discovery, fsio, loose_records
from holdfast.values import frozen

if TYPE_CHECKING:
    import subprocess

_T = TypeVar("_T")

_LISTS = PatternFile(__file__)

# A folder that looks like a bare repository does not count unless the user names it; git before 2.38 ignores this.
_EXPLICIT = ("-c", "safe.bareRepository=explicit")

_TO_STDERR = ("1", "2", "true")  # values of GIT_TRACE… that would mix traces into git's error messages

PUBLISHING = "HOLDFAST_PUBLISHING"  # the git folder of the clone whose publish runs the commit

LOCK_TRIES, LOCK_PAUSE = 20, 0.1  # two seconds in all: a guess; most git commands hold a lock for far less
_MOST_NAMES = 200  # paths on a command line; a guess: beyond that, listing everything is cheaper
IDENTITY_HINT = "Tell it: `git config user.name NAME` and `git config user.email ADDRESS`."
LOCK_HINT = "If no git process runs, delete the lock file, then run the command again."


@frozen
class Head:
    """The commit of the work tree, and its branch unless HEAD is detached."""

    oid: str | None  # None before the first commit
    ref: str | None  # refs/heads/…

    @property
    def branch(self) -> str | None:
        return self.ref and self.ref.removeprefix("refs/heads/")


class Repo:
    """One git repository, seen from one of its work trees."""

    def __init__(self, top: str, git_dir: str, common_dir: str, *, named: bool = False) -> None:
        """`named`: only the user's GIT_DIR leads to it, no `.git` entry."""
        self.top, self.git_dir, self.common_dir = top, git_dir, common_dir
        self._where = ["--git-dir", git_dir, "--work-tree", top] if named else []
        self._memo = git_memo.GitMemo(top, git_dir, common_dir)

    @classmethod
    def discover(cls, start: str) -> Repo:
        """Returns the repository that owns the memory at `start`: see `store.discovery`."""
        return cls._found(start, discovery.find_repository)

    @classmethod
    def create(cls, start: str) -> Repo:
        """Creates a git repository in a folder."""
        done = _start(["init", "-q", start])
        if done.returncode:
            raise GitFailed(f"`git init` failed: {_complaint(done.stderr)}")
        return cls.at(start)

    @classmethod
    def at(cls, start: str) -> Repo:
        """Returns the repository whose work tree contains a folder, whichever repository owns the memory there."""
        return cls._found(start, discovery.nearest)

    @classmethod
    def _found(cls, start: str, look: Callable[[bytes], discovery.RepositoryPlace | None]) -> Repo:
        try:
            start = os.path.abspath(start)
        except FileNotFoundError:
            gone = "the current folder no longer exists"
            raise NotARepository(gone, hint="Change to an existing folder.") from None
        if not os.path.isdir(start):
            raise NotARepository(f"{start} is not a folder", hint="Check the path.")
        if os.environ.get("GIT_DIR"):
            named = cls._by_git(start, named=True)
            beside = discovery.nearest(os.fsencode(named.top))
            if beside is None or not _same(named.git_dir, beside.git_dir):
                named._refuse_foreign_store()
                return named
            start = named.top  # git sets GIT_DIR to the same folder in its hooks
        place = look(os.fsencode(os.path.realpath(start)))
        inside = place and f"{os.path.realpath(start)}/".startswith(f"{os.path.realpath(os.fsdecode(place.git_dir))}/")
        if place is None or inside:
            raise _why_not_a_repository(start)
        if discovery.is_plain(place) and not any(
            os.environ.get(name) for name in (*_LISTS.words("local"), "GIT_CEILING_DIRECTORIES")
        ):
            return cls(*map(os.fsdecode, (place.top, place.git_dir, place.common)))
        ceilings = os.environ.get("GIT_CEILING_DIRECTORIES")
        found = cls._by_git(start if ceilings else os.fsdecode(place.top))
        if not _same(found.git_dir, place.git_dir):
            raise NotARepository(f"git does not accept {os.fsdecode(place.git_dir)} as a repository")
        found._refuse_foreign_store()
        return found

    @classmethod
    def _by_git(cls, start: str, *, named: bool = False) -> Repo:
        """Returns the repository that git finds at a folder; git also refuses one that another user owns."""
        places = ("--show-toplevel", "--git-dir", "--git-common-dir")
        arguments = ["-C", start, *_EXPLICIT, "rev-parse", "--path-format=absolute", *places]
        done = _start(arguments, environment=_environment(keep_local=True))
        if done.returncode:
            raise _why_not_a_repository(start, done.stderr)
        top, git_dir, common_dir = os.fsdecode(done.stdout).rstrip("\n").split("\n")
        return cls(top, git_dir, common_dir, named=named)

    def _refuse_foreign_store(self) -> None:
        """Raises UnsafePath if another user owns the private store, or git tracks it: then a stranger wrote it."""
        _refuse_store_of_another_user(self.common_dir)
        if ".git" in self.common_dir.split("/"):  # git tracks nothing below that name
            return
        store = os.path.join(os.path.realpath(self.common_dir), "holdfast")
        around = discovery.nearest(os.fsencode(os.path.dirname(os.path.dirname(store))))
        while around is not None and _same(self.common_dir, around.common):
            around = discovery.nearest(discovery.parent(around.top))
        if around is not None and _is_tracked(top := os.fsdecode(around.top), store):
            foreign = f"{store} is tracked by the repository in {top}, so others may have written it"
            raise UnsafePath(foreign, hint="Use a git folder of your own, or unset GIT_DIR.")

    def run(self, *args: str, stdin: bytes | None = None, ok: Sequence[int] = (0,), write: bool = False) -> bytes:
        """Returns the output of a git command; raises GitFailed with git's message."""

        def ask() -> bytes:
            return _output(args, self.attempt(*args, stdin=stdin, write=write), ok)

        is_listing = stdin is None and not write and git_memo.is_listing(args)
        return self._memo.listing(args, self.head().oid, ask) if is_listing else ask()

    def attempt(
        self,
        *args: str,
        stdin: bytes | None = None,
        write: bool = False,
        publishing: bool = False,
        environ: Mapping[str, str] | None = None,
        lock: int | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        """Runs git without checking its exit code; `publishing` marks the environment of git's hooks.

        Git shares the lock on the open file `lock`: if we are killed, it stays locked until git ends.
        """
        environment = _environment() | dict(environ or {})
        if not write:
            environment["GIT_OPTIONAL_LOCKS"] = "0"
        if publishing:
            environment[PUBLISHING] = os.path.realpath(self.common_dir)
        full = args if write else (*" ".join(_LISTS.lines("plain_settings")).split(), *_past_submodules(args))
        return _start(["-C", self.top, *self._where, *full], stdin, environment, lock)

    def refuse_in_hook_of_publish(self) -> None:
        """Raises PublishRefused in a commit hook of our own publish: hook and publish would wait for each other."""
        if (marked := os.environ.get(PUBLISHING)) and marked == os.path.realpath(self.common_dir):
            reason = "this command runs in a commit hook of a running publish"
            raise PublishRefused(reason, hint="Remove it from the hook.")

    def patiently(self, *args: str, stdin: bytes | None = None, lock: int | None = None) -> bytes:
        """Returns the output of a command that changes the index; waits a moment for git's lock."""
        return _output(args, self.attempt_patiently(*args, stdin=stdin, lock=lock))

    def attempt_patiently(self, *args: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
        """Runs a command that changes git's index or settings; waits a moment while another git process locks them."""
        for _ in range(LOCK_TRIES):
            done = self.attempt(*args, write=True, **options)
            if done.returncode == 0 or not (is_index_busy(done.stderr) or is_config_busy(done.stderr)):
                break
            time.sleep(LOCK_PAUSE)
        return done

    def wait_for_index(self) -> None:
        """Waits a moment for another git process to release the index; never removes its lock."""
        lock = os.path.join(self.git_dir, "index.lock")
        for _ in range(LOCK_TRIES):
            if not os.path.lexists(lock):
                return
            time.sleep(LOCK_PAUSE)
        raise GitFailed(f"another git process has locked the index: {lock} exists", hint=LOCK_HINT)

    def text(self, *args: str, ok: Sequence[int] = (0,)) -> str:
        """Returns the output of a git command as one stripped string."""
        return os.fsdecode(self.run(*args, ok=ok)).strip()

    def head(self) -> Head:
        """Returns where HEAD points, read from git's files if possible."""
        path = os.path.join(self.git_dir, "HEAD")
        content = _first_line(path)
        if content is None and os.path.exists(path) and not os.path.isfile(path):
            raise GitFailed(f"{path} is not a file", hint="Let git check the repository: git fsck")
        if content is None or content.endswith("/.invalid"):  # the reftable format stores refs elsewhere
            ref = self.text("symbolic-ref", "-q", "HEAD", ok=(0, 1)) or None
            return Head(self.text("rev-parse", "-q", "--verify", "HEAD", ok=(0, 1)) or None, ref)
        if not content.startswith("ref: "):
            return Head(content, None)
        ref = content.removeprefix("ref: ")
        return Head(self.resolve(ref), ref)

    @staticmethod
    def ref_of(git_dir: str) -> str | None:
        """Returns the branch that a work tree's HEAD names; None if it is detached."""
        content = _first_line(os.path.join(git_dir, "HEAD")) or ""
        return content.removeprefix("ref: ") if content.startswith("ref: ") else None

    def resolve(self, ref: str) -> str | None:
        """Returns the commit that a full ref name points to, or None."""
        loose = _first_line(os.path.join(self.common_dir, *ref.split("/")))
        if loose and not loose.startswith("ref: "):
            return loose
        return self.text("rev-parse", "-q", "--verify", ref, ok=(0, 1)) or None

    def commit_of(self, name: str) -> str | None:
        """Returns the commit that any kind of name leads to, or None."""
        return self.text("rev-parse", "-q", "--verify", f"{name}^{{commit}}", ok=(0, 1, 128)) or None

    def operation(self) -> str | None:
        """Returns the operation in progress, such as "a merge"; None if there is none."""
        known = _LISTS.pairs("operations")
        found = (name for name in known if os.path.lexists(os.path.join(self.git_dir, name)))
        return next(map(known.__getitem__, found), None)

    def rebasing(self) -> str | None:
        """Returns the branch that a running rebase will move, or None."""
        folders = (os.path.join(self.git_dir, name, "head-name") for name in ("rebase-merge", "rebase-apply"))
        return next((name for name in map(_first_line, folders) if name and name.startswith("refs/heads/")), None)

    def tree(self, rev: str, path: str) -> dict[str, str]:
        """Returns path to blob of everything below `path` in a commit; empty if there is nothing."""
        if self._own_tree(rev, path) is None:
            return self._listed_tree(rev, path, options=("-r",))
        return self._memo.below(path)

    def _own_tree(self, rev: str, *paths: str) -> tuple[dict[str, str], dict[str, str]] | None:
        """Returns the blobs and trees below `.holdfast` in HEAD's commit, if all paths are there; else None."""
        head = self.head().oid if rev == "HEAD" and all(map(git_memo.is_ours, paths)) else None
        arguments = ("--literal-pathspecs", "ls-tree", "-r", "-t", "-z", "--full-tree", head or "", "--", ".holdfast")
        return self._memo.tree(head, lambda: self.run(*arguments)) if head else None

    def blobs_at(self, rev: str, paths: Sequence[str]) -> dict[str, str]:
        """Returns path to blob of these files in a commit; leaves out missing ones."""
        own = self._own_tree(rev, *paths)
        if own is None and len(paths) <= _MOST_NAMES:
            return self._listed_tree(rev, *paths) if paths else {}
        blobs = own[0] if own else self._listed_tree(rev, options=("-r",))
        return {path: blobs[path] for path in paths if path in blobs}

    def blobs_below(self, tree: str) -> dict[str, str]:
        """Returns path to blob of everything in a tree object."""
        return self._listed_tree(tree, options=("-r",))

    def added_between(self, old: str, new: str) -> dict[str, str] | None:
        """Returns path to blob of what a tree adds to another; None if it also changes or removes something."""
        done = self.attempt("diff-tree", "-r", "--no-renames", "-z", old, new)
        rows, names = done.stdout.split(b"\0")[:-1:2], done.stdout.split(b"\0")[1::2]
        if done.returncode or any(not row.endswith(b" A") for row in rows):
            return None
        blobs = (row.split(b" ")[3].decode("ascii") for row in rows)
        return dict(zip(map(os.fsdecode, names), blobs, strict=True))

    def _listed_tree(self, rev: str, *paths: str, options: Sequence[str] = ()) -> dict[str, str]:
        if rev == "HEAD" and self.head().oid is None:
            return {}
        arguments = ("--literal-pathspecs", "ls-tree", *options, "-z", "--full-tree", rev, "--", *paths)
        return git_memo.read_tree(self.run(*arguments))[0]

    def tree_id(self, rev: str, path: str) -> str | None:
        """Returns the id of the tree at `path` in a commit, or None; equal ids mean equal content."""
        if (own := self._own_tree(rev, path)) is not None:
            return own[1].get(path)
        return self.text("rev-parse", "-q", "--verify", f"{rev}:{path}", ok=(0, 1, 128)) or None

    def blobs(self, oids: Iterable[str]) -> dict[str, bytes]:
        """Returns the bytes of many blobs, with one git process; leaves out missing ones."""
        return self._memo.blobs(oids, self._read_blobs)

    def _read_blobs(self, wanted: list[str]) -> dict[str, bytes]:
        out = self.run("cat-file", "--batch", stdin="\n".join(wanted).encode("ascii") + b"\n")
        return {oid: data for oid, _, data in read_batch(out, wanted)}

    def forget_answers(self) -> None:
        """Drops all cached answers: a check must see the present state."""
        steady, self._memo = self._memo.steady, git_memo.GitMemo(self.top, self.git_dir, self.common_dir)
        self._memo.steady = steady

    def know_blobs(self, blobs: dict[str, bytes]) -> None:
        """Adds blobs that were just written to the cache, so that git is not asked for them."""
        self._memo.blobs(blobs, lambda _: blobs)

    def hash_blob(self, data: bytes) -> str:
        """Returns the id that git gives a blob of these bytes."""
        algorithm = hashlib.sha256 if self._uses_sha256 else hashlib.sha1
        return algorithm(b"blob %d\0" % len(data) + data).hexdigest()

    @cached_property
    def _uses_sha256(self) -> bool:
        """Whether the repository was created with SHA-256; it never changes."""
        head = self.head().oid
        return len(head) == 64 if head is not None else self.text("rev-parse", "--show-object-format") == "sha256"

    def status(self, *paths: str) -> dict[str, str]:
        """Returns path to git's two-letter code for what differs from HEAD below `paths`, including ignored files."""
        if not set(paths) <= set(git_memo.ENTRY_FOLDERS):
            return self._ask_status(*paths)
        found = self._memo.status(self.head().oid, lambda: self._ask_status(*git_memo.ENTRY_FOLDERS))
        return {path: code for path, code in found.items() if path.startswith(tuple(f"{one}/" for one in paths))}

    def entry_facts(self) -> str | None:
        """Returns a string that changes with any entry file, git's index, HEAD, or the operation in progress."""
        facts = self._memo.facts(self.head().oid)
        return facts and f"{facts} {self.operation() or ''}"

    def expect_no_edits(self) -> None:
        """Declares that only this process edits entry files in place until it ends."""
        self._memo.steady = True

    def leave_nothing(self) -> None:
        """Stores no answers of git for the next command: Holdfast is being removed."""
        self._memo.is_last = True

    def leave_answers(self) -> None:
        """Stores git's answers for the next command."""
        self._memo.leave()

    def _ask_status(self, *paths: str) -> dict[str, str]:
        out = self.run("status", "--porcelain=v1", "-z", "-uall", "--ignored=matching", "--no-renames", "--", *paths)
        return {os.fsdecode(row[3:]): row[:2].decode("ascii") for row in out.split(b"\0") if row}

    def ignored(self, paths: Iterable[str]) -> set[str]:
        """Returns the paths among these that git ignores."""
        named = b"".join(os.fsencode(path) + b"\0" for path in paths)
        if not named:
            return set()
        out = self.run("check-ignore", "-z", "--stdin", stdin=named, ok=(0, 1))
        return {os.fsdecode(path) for path in out.split(b"\0") if path}

    def is_shallow(self) -> bool:
        return os.path.exists(os.path.join(self.common_dir, "shallow"))

    def cut_off(self) -> set[str]:
        """Returns the oldest commits of a shallow clone; git shows them as if they added every file."""
        data = loose_records.content(os.path.join(self.common_dir, "shallow"))
        return set(data.decode("ascii", "replace").split())

    def is_ancestor(self, older: str, newer: str) -> bool:
        if newer == "HEAD" and older == self.head().oid:
            return True
        return self.attempt("merge-base", "--is-ancestor", older, newer).returncode == 0

    def history(self, revisions: str, paths: Sequence[str]) -> list[tuple[str, str, str | None]]:
        """Returns each change of some paths as (commit, path, new blob), newest first; no blob: it was deleted.

        `revisions` may hold several revisions or options, separated by blanks.
        """
        named = list(paths) if len(paths) <= _MOST_NAMES else [".holdfast"]
        shape = ("--full-history", "-m", "--no-renames", "--raw", "--no-abbrev", "-z", "--format=%x01%H")
        done = self.attempt("--literal-pathspecs", "log", *shape, *revisions.split(" "), "--", *named)
        rows, wanted = raw_changes(done.stdout) if done.returncode == 0 else (), set(paths)
        return [(commit, path, blob) for commit, path, _, blob in rows if path in wanted]

    def worktrees(self) -> list[str]:
        """Returns the git folders of all work trees of this clone, the main one first."""
        folder = os.path.join(self.common_dir, "worktrees")
        try:
            names = sorted(os.listdir(folder))
        except FileNotFoundError:
            names = []
        return [self.common_dir, *(os.path.join(folder, name) for name in names)]

    def tops(self) -> list[str]:
        """Returns the folders of all existing work trees of this clone."""
        rows = os.fsdecode(self.run("worktree", "list", "--porcelain")).split("\n\n")
        trees = [row.split("\n") for row in rows if row.startswith("worktree ")]
        tops = [tree[0].removeprefix("worktree ") for tree in trees if "bare" not in tree]
        return [top for top in tops if os.path.lexists(os.path.join(top, ".git"))]

    def trunk(self, setting: str | None = None) -> str | None:
        """Returns the full ref of the branch that counts as approved upstream, or None."""
        if setting:
            arguments = ("rev-parse", "--symbolic-full-name", "-q", "--verify", "--end-of-options", setting)
            return self.text(*arguments, ok=(0, 1, 128)) or None
        for remote in self.text("remote").split():
            link = _first_line(os.path.join(self.common_dir, "refs", "remotes", remote, "HEAD")) or ""
            named = link.removeprefix("ref: ")
            if named != link and not (_first_line(os.path.join(self.common_dir, named)) or "").startswith("ref: "):
                return named  # true in nearly every clone, and needs no git process
            if target := self.text("symbolic-ref", "-q", f"refs/remotes/{remote}/HEAD", ok=(0, 1, 128)):
                return target
        return next(filter(self.resolve, ("refs/heads/main", "refs/heads/master")), None)


def _environment(*, keep_local: bool = False) -> dict[str, str]:
    dropped = _LISTS.words("steering") if keep_local else _LISTS.words("steering") | _LISTS.words("local")
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in dropped and not (name.startswith("GIT_TRACE") and value.lower() in _TO_STDERR)
    }
    return {**kept, "LC_ALL": "C.UTF-8"}


def pager(folder: str) -> str:
    """The user's pager as git finds it: GIT_PAGER, core.pager, PAGER, or less."""
    done = _start(["-C", folder, "var", "GIT_PAGER"], environment=dict(os.environ))
    return os.fsdecode(done.stdout).strip()


def _start(
    args: list[str], stdin: bytes | None = None, environment: dict[str, str] | None = None, lock: int | None = None
) -> subprocess.CompletedProcess[bytes]:
    import subprocess  # slow to import, and most commands do not need it

    source, environment = fsio.whole_input(stdin), _environment() if environment is None else environment
    held = (lock,) if lock is not None and os.name == "posix" else ()
    try:
        return subprocess.run(
            ["git", *args], capture_output=True, env=environment, check=False, stdin=source, pass_fds=held
        )
    except FileNotFoundError:
        raise GitFailed("git was not found on this machine", hint="Install git 2.31 or newer.") from None
    finally:
        os.close(source)


def read_batch(out: bytes, names: Iterable[_T]) -> Iterator[tuple[_T, bytes, bytes]]:
    """Parses the output of `cat-file --batch` into (name, kind, bytes); leaves out what git does not have."""
    at = 0
    for name in names:
        end = out.find(b"\n", at)
        *_, kind, size = (b"", *out[at:end].rsplit(b" ", 2))
        at = end + 1
        if size.isdigit():
            yield name, kind, out[at : at + int(size)]
            at += int(size) + 1


def raw_changes(out: bytes) -> Iterator[tuple[str, str, str | None, str | None]]:
    """Parses the output of `--raw -z --no-abbrev`: each change with the text of `--format=%x01…`, path and blobs."""
    header, words = "", iter(out.split(b"\0"))
    for word in words:
        word = word.strip(b"\n")
        if word.startswith(b"\x01"):
            head, _, word = word[1:].partition(b"\n")
            header = head.decode("utf-8", "replace")
        if word.startswith(b":"):
            _, mode, *_, before, after, status = word.decode("ascii").split(" ")
            path = [next(words, b"") for _ in range(2 if status.startswith(("R", "C")) else 1)][-1]
            is_blob = set(after) != {"0"} and mode != "160000"  # the mode of a submodule
            yield header, os.fsdecode(path), before if set(before) != {"0"} else None, after if is_blob else None


def is_index_busy(stderr: bytes) -> bool:
    """Returns whether git failed because another git process has locked the index; we never remove its lock."""
    return b"index.lock" in stderr and b"File exists" in stderr


def is_config_busy(stderr: bytes) -> bool:
    """Returns whether git failed because another process writes its settings; not if they are read-only."""
    return b"could not lock config" in stderr and b"File exists" in stderr


def lacks_identity(output: bytes) -> bool:
    """Returns whether git refused a commit because it has no name or email."""
    messages = (b"tell me who you are", b"empty ident name", b"auto-detect email address", b"no email was given")
    return any(words in output for words in messages)


def _past_submodules(args: Sequence[str]) -> Sequence[str]:
    """Returns the command with an option to skip submodules: a bad line in .gitmodules would make it fail."""
    words, name = list(args), _named(args)
    if name in ("status", "diff", "log"):
        words.insert(words.index(name) + 1, "--ignore-submodules=dirty")
    return words


def _named(args: Sequence[str]) -> str:
    """Returns the subcommand of a git command, after any options."""
    words = iter(args)
    for word in words:
        if word in ("-c", "-C"):
            next(words, None)
        elif not word.startswith("-"):
            return word
    return args[0]


def _output(args: Sequence[str], done: subprocess.CompletedProcess[bytes], ok: Sequence[int] = (0,)) -> bytes:
    if done.returncode not in ok:
        raise GitFailed(f"`git {_named(args)}` failed: {_complaint(done.stderr) or 'it gave no reason'}")
    return done.stdout


def _complaint(stderr: bytes) -> str:
    lines = [line.strip() for line in os.fsdecode(stderr).splitlines() if line.strip()]
    return "; ".join(lines[:3])


def _same(folder: str, other: bytes) -> bool:
    try:
        return os.path.samefile(folder, os.fsdecode(other))
    except OSError:
        return False


def _is_tracked(top: str, path: str) -> bool:
    """Returns whether a repository has files below a path, in its index or in HEAD."""
    listed = ["-C", top, "--literal-pathspecs", "ls-files", "-z", "--with-tree=HEAD", "--", path]
    done = _start(listed)
    if done.returncode:  # before the first commit there is no HEAD
        listed.remove("--with-tree=HEAD")
        done = _start(listed)
    return done.returncode != 0 or bool(done.stdout)


def _why_not_a_repository(start: str, stderr: bytes = b"") -> NotARepository:
    complaint = _complaint(stderr)
    if "dubious ownership" in complaint:
        return NotARepository(f"git does not trust {start}: {complaint}", hint="See `git help config`, safe.directory.")
    arguments = ["-C", start, "rev-parse", "--is-bare-repository", "--is-inside-git-dir"]
    answers = _start(arguments).stdout.split()
    if answers == [b"true", b"true"]:
        return NotARepository(f"{start} is a bare repository; Holdfast needs a work tree", hint="Clone it first.")
    if answers == [b"false", b"true"]:
        return NotARepository(f"{start} is inside a git folder, not in a work tree", hint="Run it from the work tree.")
    return NotARepository(f"{start} is not inside a git repository")


def _first_line(path: str) -> str | None:
    # Runs with every event: this costs a tenth of opening a text file.
    return os.fsdecode(discovery.read(os.fsencode(path)).partition(b"\n")[0]) or None


def _refuse_store_of_another_user(common: str) -> None:
    """Raises UnsafePath if another user owns the store: its settings could start programs as this user."""
    store = os.path.join(common, "holdfast")
    if os.name != "posix" or not os.path.lexists(store):
        return
    if os.lstat(store).st_uid not in (os.geteuid(), os.stat(common).st_uid):  # git has checked the owner of the rest
        hint = "Use a clone of your own, or have the owner of the folder changed: chown -R."
        raise UnsafePath(f"another user owns {store}, so its records are not yours", hint=hint)
