"""Runs git. Nothing else in Holdfast starts a git process.

Arguments are lists, reads take no optional locks, and the variables by which git tells a hook
which repository it is in are dropped once the repository is known: with them, `git -C` lies.
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

# A folder that looks like a git directory is none unless somebody names it; git older than 2.38 ignores this.
_EXPLICIT = ("-c", "safe.bareRepository=explicit")

_TO_STDERR = ("1", "2", "true")  # values of GIT_TRACE… that would stand where git's own words are read

PUBLISHING = "HOLDFAST_PUBLISHING"  # the git folder of the clone whose publish runs the commit

LOCK_TRIES, LOCK_PAUSE = 20, 0.1
IDENTITY_HINT = "Tell it: `git config user.name NAME` and `git config user.email ADDRESS`."
LOCK_HINT = "If no git runs, remove the lock file by hand, then run the command again."


@frozen
class Head:
    """Where the work tree stands: its commit, and its branch unless detached."""

    oid: str | None  # None before the first commit
    ref: str | None  # refs/heads/…

    @property
    def branch(self) -> str | None:
        return self.ref and self.ref.removeprefix("refs/heads/")


class Repo:
    """One git repository, seen from one of its work trees."""

    def __init__(self, top: str, git_dir: str, common_dir: str, *, named: bool = False) -> None:
        """`named`: no `.git` entry leads to it, only the user's own GIT_DIR."""
        self.top, self.git_dir, self.common_dir = top, git_dir, common_dir
        self._where = ["--git-dir", git_dir, "--work-tree", top] if named else []
        self._memo = git_memo.GitMemo(top, git_dir, common_dir)

    @classmethod
    def discover(cls, start: str) -> Repo:
        """The repository that owns the memory at `start`: see `store.discovery`."""
        return cls._found(start, discovery.find_repository)

    @classmethod
    def create(cls, start: str) -> Repo:
        """Make a git repository at a folder."""
        done = _start(["init", "-q", start])
        if done.returncode:
            raise GitFailed(f"`git init` failed: {_complaint(done.stderr)}")
        return cls.at(start)

    @classmethod
    def at(cls, start: str) -> Repo:
        """The repository whose work tree holds a folder, whoever owns the memory there."""
        return cls._found(start, discovery.nearest)

    @classmethod
    def _found(cls, start: str, look: Callable[[bytes], discovery.RepositoryPlace | None]) -> Repo:
        try:
            start = os.path.abspath(start)
        except FileNotFoundError:
            gone = "the current folder does not exist any more"
            raise NotARepository(gone, hint="Change into a folder that is there.") from None
        if not os.path.isdir(start):
            raise NotARepository(f"{start} is not a folder", hint="Check the path.")
        if os.environ.get("GIT_DIR"):
            named = cls._asked(start, named=True)
            beside = discovery.nearest(os.fsencode(named.top))
            if beside is None or not _same(named.git_dir, beside.git_dir):
                named._refuse_foreign_store()
                return named
            start = named.top  # git tells its hooks the same folder
        place = look(os.fsencode(os.path.realpath(start)))
        inside = place and f"{os.path.realpath(start)}/".startswith(f"{os.path.realpath(os.fsdecode(place.git_dir))}/")
        if place is None or inside:
            raise _why_not_a_repository(start)
        if discovery.is_plain(place) and not any(
            os.environ.get(name) for name in (*_LISTS.words("local"), "GIT_CEILING_DIRECTORIES")
        ):
            return cls(*map(os.fsdecode, (place.top, place.git_dir, place.common)))
        ceilings = os.environ.get("GIT_CEILING_DIRECTORIES")
        found = cls._asked(start if ceilings else os.fsdecode(place.top))
        if not _same(found.git_dir, place.git_dir):
            raise NotARepository(f"git does not take {os.fsdecode(place.git_dir)} for a repository")
        found._refuse_foreign_store()
        return found

    @classmethod
    def _asked(cls, start: str, *, named: bool = False) -> Repo:
        """What git says of a folder; it also refuses what another user owns."""
        places = ("--show-toplevel", "--git-dir", "--git-common-dir")
        asked = ["-C", start, *_EXPLICIT, "rev-parse", "--path-format=absolute", *places]
        done = _start(asked, environment=_environment(keep_local=True))
        if done.returncode:
            raise _why_not_a_repository(start, done.stderr)
        top, git_dir, common_dir = os.fsdecode(done.stdout).rstrip("\n").split("\n")
        return cls(top, git_dir, common_dir, named=named)

    def _refuse_foreign_store(self) -> None:
        """UnsafePath if another user owns the private store, or it came with a clone: a stranger wrote it."""
        _refuse_store_of_another_user(self.common_dir)
        if ".git" in self.common_dir.split("/"):  # git tracks nothing below that name
            return
        store = os.path.join(os.path.realpath(self.common_dir), "holdfast")
        around = discovery.nearest(os.fsencode(os.path.dirname(os.path.dirname(store))))
        while around is not None and _same(self.common_dir, around.common):
            around = discovery.nearest(discovery.parent(around.top))
        if around is not None and _is_tracked(top := os.fsdecode(around.top), store):
            foreign = f"{store} is tracked by the repository in {top}, so its memory came with a clone"
            raise UnsafePath(foreign, hint="Use a git folder of your own, or unset GIT_DIR.")

    def run(self, *args: str, stdin: bytes | None = None, ok: Sequence[int] = (0,), write: bool = False) -> bytes:
        """What a git command prints; GitFailed says what it complained about."""

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
        """Run git and leave the judgement to the caller; hooks get a mark if a publish runs them.

        Git shares the lock on the open file `lock`: if we are killed, it stays locked until git ends.
        """
        environment = _environment() | dict(environ or {})
        if not write:
            environment["GIT_OPTIONAL_LOCKS"] = "0"
        if publishing:
            environment[PUBLISHING] = os.path.realpath(self.common_dir)
        given = args if write else (*" ".join(_LISTS.lines("plain_settings")).split(), *_past_submodules(args))
        return _start(["-C", self.top, *self._where, *given], stdin, environment, lock)

    def refuse_in_hook_of_publish(self) -> None:
        """A publish that waits for its hook, and a hook that waits for its publish, would wait for ever."""
        if (marked := os.environ.get(PUBLISHING)) and marked == os.path.realpath(self.common_dir):
            reason = "this runs in a commit hook of a publish that is under way"
            raise PublishRefused(reason, hint="Take it out of the hook.")

    def patiently(self, *args: str, stdin: bytes | None = None, lock: int | None = None) -> bytes:
        """What a command prints that changes the index."""
        return _output(args, self.attempt_patiently(*args, stdin=stdin, lock=lock))

    def attempt_patiently(self, *args: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
        """Run a command that changes git's index or settings; another git at work is given a moment to end."""
        for _ in range(LOCK_TRIES):
            done = self.attempt(*args, write=True, **options)
            if done.returncode == 0 or not (is_index_busy(done.stderr) or is_config_busy(done.stderr)):
                break
            time.sleep(LOCK_PAUSE)
        return done

    def wait_for_index(self) -> None:
        """Give another git a moment to let go of the index; its lock is never removed."""
        lock = os.path.join(self.git_dir, "index.lock")
        for _ in range(LOCK_TRIES):
            if not os.path.lexists(lock):
                return
            time.sleep(LOCK_PAUSE)
        raise GitFailed(f"another git holds the index: {lock} is there", hint=LOCK_HINT)

    def text(self, *args: str, ok: Sequence[int] = (0,)) -> str:
        """What a git command prints, as one stripped string."""
        return os.fsdecode(self.run(*args, ok=ok)).strip()

    def head(self) -> Head:
        """Where HEAD points, read from the files where they allow it."""
        path = os.path.join(self.git_dir, "HEAD")
        content = _first_line(path)
        if content is None and os.path.exists(path) and not os.path.isfile(path):
            raise GitFailed(f"{path} is not a file", hint="Ask git what is wrong: git fsck")
        if content is None or content.endswith("/.invalid"):  # the reftable format keeps refs elsewhere
            ref = self.text("symbolic-ref", "-q", "HEAD", ok=(0, 1)) or None
            return Head(self.text("rev-parse", "-q", "--verify", "HEAD", ok=(0, 1)) or None, ref)
        if not content.startswith("ref: "):
            return Head(content, None)
        ref = content.removeprefix("ref: ")
        return Head(self.resolve(ref), ref)

    @staticmethod
    def ref_of(git_dir: str) -> str | None:
        """The branch that a work tree's HEAD names, None if it is detached."""
        content = _first_line(os.path.join(git_dir, "HEAD")) or ""
        return content.removeprefix("ref: ") if content.startswith("ref: ") else None

    def resolve(self, ref: str) -> str | None:
        """The commit a full ref name points to, or None."""
        loose = _first_line(os.path.join(self.common_dir, *ref.split("/")))
        if loose and not loose.startswith("ref: "):
            return loose
        return self.text("rev-parse", "-q", "--verify", ref, ok=(0, 1)) or None

    def commit_of(self, name: str) -> str | None:
        """The commit that a name of any sort leads to."""
        return self.text("rev-parse", "-q", "--verify", f"{name}^{{commit}}", ok=(0, 1, 128)) or None

    def operation(self) -> str | None:
        """What git is in the middle of, if anything."""
        known = _LISTS.pairs("operations")
        there = (name for name in known if os.path.lexists(os.path.join(self.git_dir, name)))
        return next(map(known.__getitem__, there), None)

    def rebasing(self) -> str | None:
        """The branch a rebase under way will move, or None."""
        folders = (os.path.join(self.git_dir, name, "head-name") for name in ("rebase-merge", "rebase-apply"))
        return next((name for name in map(_first_line, folders) if name and name.startswith("refs/heads/")), None)

    def tree(self, rev: str, path: str) -> dict[str, str]:
        """Path to blob of everything below `path` in a commit; empty if there is nothing."""
        if self._own_tree(rev, path) is None:
            return self._listed_tree(rev, path, options=("-r",))
        return self._memo.below(path)

    def _own_tree(self, rev: str, *paths: str) -> tuple[dict[str, str], dict[str, str]] | None:
        """The blobs and trees below `.holdfast` in HEAD's commit, if that is all that is asked for."""
        head = self.head().oid if rev == "HEAD" and all(map(git_memo.is_ours, paths)) else None
        asked = ("--literal-pathspecs", "ls-tree", "-r", "-t", "-z", "--full-tree", head or "", "--", ".holdfast")
        return self._memo.tree(head, lambda: self.run(*asked)) if head else None

    def blobs_at(self, rev: str, paths: Sequence[str]) -> dict[str, str]:
        """Path to blob of just these files in a commit; what is not there is left out."""
        own = self._own_tree(rev, *paths)
        if own is None and len(paths) <= 200:
            return self._listed_tree(rev, *paths) if paths else {}
        blobs = own[0] if own else self._listed_tree(rev, options=("-r",))
        return {path: blobs[path] for path in paths if path in blobs}

    def blobs_below(self, tree: str) -> dict[str, str]:
        """Path to blob of everything in a tree object."""
        return self._listed_tree(tree, options=("-r",))

    def added_between(self, old: str, new: str) -> dict[str, str] | None:
        """Path to blob of what a tree adds to another; None if it changes or lacks something of it."""
        done = self.attempt("diff-tree", "-r", "--no-renames", "-z", old, new)
        rows, names = done.stdout.split(b"\0")[:-1:2], done.stdout.split(b"\0")[1::2]
        if done.returncode or any(not row.endswith(b" A") for row in rows):
            return None
        blobs = (row.split(b" ")[3].decode("ascii") for row in rows)
        return dict(zip(map(os.fsdecode, names), blobs, strict=True))

    def _listed_tree(self, rev: str, *paths: str, options: Sequence[str] = ()) -> dict[str, str]:
        if rev == "HEAD" and self.head().oid is None:
            return {}
        asked = ("--literal-pathspecs", "ls-tree", *options, "-z", "--full-tree", rev, "--", *paths)
        return git_memo.read_tree(self.run(*asked))[0]

    def tree_id(self, rev: str, path: str) -> str | None:
        """The id of the tree at `path` in a commit: equal ids, equal content."""
        if (own := self._own_tree(rev, path)) is not None:
            return own[1].get(path)
        return self.text("rev-parse", "-q", "--verify", f"{rev}:{path}", ok=(0, 1, 128)) or None

    def blobs(self, oids: Iterable[str]) -> dict[str, bytes]:
        """The bytes of many blobs through one process; what is not here is left out."""
        return self._memo.blobs(oids, self._read_blobs)

    def _read_blobs(self, wanted: list[str]) -> dict[str, bytes]:
        out = self.run("cat-file", "--batch", stdin="\n".join(wanted).encode("ascii") + b"\n")
        return {oid: data for oid, _, data in read_batch(out, wanted)}

    def forget_answers(self) -> None:
        """Ask git again for everything: whoever verifies must see what is there now."""
        steady, self._memo = self._memo.steady, git_memo.GitMemo(self.top, self.git_dir, self.common_dir)
        self._memo.steady = steady

    def know_blobs(self, blobs: dict[str, bytes]) -> None:
        """Take note of blobs that were just written: git need not be asked for them."""
        self._memo.blobs(blobs, lambda _: blobs)

    def hash_blob(self, data: bytes) -> str:
        """The id git gives a blob of these bytes."""
        algorithm = hashlib.sha256 if self._uses_sha256 else hashlib.sha1
        return algorithm(b"blob %d\0" % len(data) + data).hexdigest()

    @cached_property
    def _uses_sha256(self) -> bool:
        """The kind of hash that a repository was made with; it never changes."""
        head = self.head().oid
        return len(head) == 64 if head is not None else self.text("rev-parse", "--show-object-format") == "sha256"

    def status(self, *paths: str) -> dict[str, str]:
        """Path to git's two-letter code for what differs from HEAD below `paths`, ignored files included."""
        if not set(paths) <= set(git_memo.ENTRY_FOLDERS):
            return self._ask_status(*paths)
        found = self._memo.status(self.head().oid, lambda: self._ask_status(*git_memo.ENTRY_FOLDERS))
        return {path: code for path, code in found.items() if path.startswith(tuple(f"{one}/" for one in paths))}

    def entry_facts(self) -> str | None:
        """What changes when an entry file, git's index or HEAD does, or an operation of git begins or ends."""
        facts = self._memo.facts(self.head().oid)
        return facts and f"{facts} {self.operation() or ''}"

    def expect_no_edits(self) -> None:
        """Nobody but this process edits entry files in place until it ends."""
        self._memo.steady = True

    def leave_nothing(self) -> None:
        """Let no answers of git lie about: Holdfast goes away."""
        self._memo.is_last = True

    def leave_answers(self) -> None:
        """Let the next command know what git answered."""
        self._memo.leave()

    def _ask_status(self, *paths: str) -> dict[str, str]:
        out = self.run("status", "--porcelain=v1", "-z", "-uall", "--ignored=matching", "--no-renames", "--", *paths)
        return {os.fsdecode(row[3:]): row[:2].decode("ascii") for row in out.split(b"\0") if row}

    def ignored(self, paths: Iterable[str]) -> set[str]:
        """Which of these paths git ignores."""
        named = b"".join(os.fsencode(path) + b"\0" for path in paths)
        if not named:
            return set()
        out = self.run("check-ignore", "-z", "--stdin", stdin=named, ok=(0, 1))
        return {os.fsdecode(path) for path in out.split(b"\0") if path}

    def is_shallow(self) -> bool:
        return os.path.exists(os.path.join(self.common_dir, "shallow"))

    def cut_off(self) -> set[str]:
        """The commits behind which a shallow clone has nothing; git shows them as adding everything there is."""
        data = loose_records.content(os.path.join(self.common_dir, "shallow"))
        return set(data.decode("ascii", "replace").split())

    def is_ancestor(self, older: str, newer: str) -> bool:
        if newer == "HEAD" and older == self.head().oid:
            return True
        return self.attempt("merge-base", "--is-ancestor", older, newer).returncode == 0

    def history(self, revisions: str, paths: Sequence[str]) -> list[tuple[str, str, str | None]]:
        """Every (commit, path, blob it got) among some paths, newest first; no blob: it was deleted there.

        Several revisions, or options that name some, stand with blanks between them.
        """
        named = list(paths) if len(paths) <= 200 else [".holdfast"]
        shape = ("--full-history", "-m", "--no-renames", "--raw", "--no-abbrev", "-z", "--format=%x01%H")
        done = self.attempt("--literal-pathspecs", "log", *shape, *revisions.split(" "), "--", *named)
        rows, wanted = raw_changes(done.stdout) if done.returncode == 0 else (), set(paths)
        return [(commit, path, blob) for commit, path, _, blob in rows if path in wanted]

    def worktrees(self) -> list[str]:
        """The git folders of all work trees of this clone, the main one first."""
        folder = os.path.join(self.common_dir, "worktrees")
        try:
            names = sorted(os.listdir(folder))
        except FileNotFoundError:
            names = []
        return [self.common_dir, *(os.path.join(folder, name) for name in names)]

    def tops(self) -> list[str]:
        """The folders of all work trees of this clone that are there."""
        rows = os.fsdecode(self.run("worktree", "list", "--porcelain")).split("\n\n")
        trees = [row.split("\n") for row in rows if row.startswith("worktree ")]
        tops = [tree[0].removeprefix("worktree ") for tree in trees if "bare" not in tree]
        return [top for top in tops if os.path.lexists(os.path.join(top, ".git"))]

    def trunk(self, setting: str | None = None) -> str | None:
        """The full ref of the branch that counts as approved upstream, or None."""
        if setting:
            asked = ("rev-parse", "--symbolic-full-name", "-q", "--verify", "--end-of-options", setting)
            return self.text(*asked, ok=(0, 1, 128)) or None
        for remote in self.text("remote").split():
            link = _first_line(os.path.join(self.common_dir, "refs", "remotes", remote, "HEAD")) or ""
            named = link.removeprefix("ref: ")
            if named != link and not (_first_line(os.path.join(self.common_dir, named)) or "").startswith("ref: "):
                return named  # as in nearly every clone: no need for a process
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
    import subprocess  # which most commands do without

    given, environment = fsio.whole_input(stdin), _environment() if environment is None else environment
    held = (lock,) if lock is not None and os.name == "posix" else ()
    try:
        return subprocess.run(
            ["git", *args], capture_output=True, env=environment, check=False, stdin=given, pass_fds=held
        )
    except FileNotFoundError:
        raise GitFailed("git was not found on this machine", hint="Install git 2.31 or newer.") from None
    finally:
        os.close(given)


def read_batch(out: bytes, names: Iterable[_T]) -> Iterator[tuple[_T, bytes, bytes]]:
    """The kind and the bytes that `cat-file --batch` printed for each of some names; what git lacks is left out."""
    at = 0
    for name in names:
        end = out.find(b"\n", at)
        *_, kind, size = (b"", *out[at:end].rsplit(b" ", 2))
        at = end + 1
        if size.isdigit():
            yield name, kind, out[at : at + int(size)]
            at += int(size) + 1


def raw_changes(out: bytes) -> Iterator[tuple[str, str, str | None, str | None]]:
    """Each change that `--raw -z --no-abbrev` prints: what `--format=%x01…` says, the path, both blobs."""
    said, words = "", iter(out.split(b"\0"))
    for word in words:
        word = word.strip(b"\n")
        if word.startswith(b"\x01"):
            head, _, word = word[1:].partition(b"\n")
            said = head.decode("utf-8", "replace")
        if word.startswith(b":"):
            _, mode, *_, before, after, status = word.decode("ascii").split(" ")
            path = [next(words, b"") for _ in range(2 if status.startswith(("R", "C")) else 1)][-1]
            is_blob = set(after) != {"0"} and mode != "160000"  # which is a submodule
            yield said, os.fsdecode(path), before if set(before) != {"0"} else None, after if is_blob else None


def is_index_busy(stderr: bytes) -> bool:
    """Whether git complained that another git holds the index; we never remove its lock."""
    return b"index.lock" in stderr and b"File exists" in stderr


def is_config_busy(stderr: bytes) -> bool:
    """Whether git complained that another git writes its settings; where nobody may, waiting helps nobody."""
    return b"could not lock config" in stderr and b"File exists" in stderr


def lacks_identity(output: bytes) -> bool:
    """Whether git refused a commit because it does not know whose it is."""
    said = (b"tell me who you are", b"empty ident name", b"auto-detect email address", b"no email was given")
    return any(words in output for words in said)


def _past_submodules(args: Sequence[str]) -> Sequence[str]:
    """A command that does not look into submodules: a bad line in a clone's .gitmodules would end it."""
    words, name = list(args), _named(args)
    if name in ("status", "diff", "log"):
        words.insert(words.index(name) + 1, "--ignore-submodules=dirty")
    return words


def _named(args: Sequence[str]) -> str:
    """The subcommand among a git command's words, whatever options come before it."""
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
    """Whether a repository has files below a path, in its index or in HEAD."""
    listed = ["-C", top, "--literal-pathspecs", "ls-files", "-z", "--with-tree=HEAD", "--", path]
    done = _start(listed)
    if done.returncode:  # before the first commit there is no HEAD
        listed.remove("--with-tree=HEAD")
        done = _start(listed)
    return done.returncode != 0 or bool(done.stdout)


def _why_not_a_repository(start: str, stderr: bytes = b"") -> NotARepository:
    said = _complaint(stderr)
    if "dubious ownership" in said:
        return NotARepository(f"git does not trust {start}: {said}", hint="See `git help config`, safe.directory.")
    asked = ["-C", start, "rev-parse", "--is-bare-repository", "--is-inside-git-dir"]
    answers = _start(asked).stdout.split()
    if answers == [b"true", b"true"]:
        return NotARepository(f"{start} is a bare repository; Holdfast needs a work tree", hint="Clone it first.")
    if answers == [b"false", b"true"]:
        return NotARepository(f"{start} is inside a git folder, not in a work tree", hint="Run it from the work tree.")
    return NotARepository(f"{start} is not inside a git repository")


def _first_line(path: str) -> str | None:
    # Read with every event: a tenth of what opening a text file costs.
    return os.fsdecode(discovery.read(os.fsencode(path)).partition(b"\n")[0]) or None


def _refuse_store_of_another_user(common: str) -> None:
    """In a shared repository anybody may make the store, and its settings would start programs as us."""
    store = os.path.join(common, "holdfast")
    if os.name != "posix" or not os.path.lexists(store):
        return
    if os.lstat(store).st_uid not in (os.geteuid(), os.stat(common).st_uid):  # git judged who owns the rest
        hint = "Use a clone of your own, or have the folder given to you: chown -R."
        raise UnsafePath(f"another user owns {store}, so you did not record what it says", hint=hint)
