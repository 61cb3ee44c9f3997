"""Reads a repository from git without fetching: trees, commits as rows, and the text of blobs.

Commits are read in batches, one process each, in the given order. A partial clone lacks many objects, and git gets the
option not to fetch them. Some versions stop at the first missing object, so the names of these are listed once, and
they are left out.
"""

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from holdfast.git.repo import Repo
from holdfast.index.schema import facet
from holdfast.index.search_rows import MAX_TEXT, MAX_TOUCHED, Row, content_of, parts_of, path_words, safe, time_number
from holdfast.patterns import regex
from holdfast.security.redact import Scanner

MAX_SUBJECT = 300  # characters; a guess: git recommends 50. So are the next two
MAX_TRAILERS = 40  # lines; a guess: real messages have a few
OWN = ".holdfast/"

_SHAPE = (
    "log", "--no-walk=unsorted", "--stdin", "-z", "--no-renames", "--name-only", "--encoding=UTF-8",
    "--no-show-signature", "--no-diff-merges", "--no-notes", "--no-mailmap", "--no-color",
    "--format=%x01%H%x02%ct%x02%an%x02%B",
)  # fmt: skip
_WITHOUT_NAMES = tuple(word for word in _SHAPE if word != "--name-only")
_TRAILER = regex(r"([A-Za-z][A-Za-z0-9-]{0,60}):[ \t]+(\S.*)")
_FACETS = facet("k", "commit")


class CorpusCommit(NamedTuple):
    """A commit as git reports it."""

    oid: str
    seconds: int
    author: str
    message: str
    paths: list[str]


def read_commits(repo: Repo, oids: Sequence[str], scan: Scanner, *, names: bool = True) -> Iterator[CorpusCommit]:
    """Yields these commits without their secrets, in this order, if they are here; with `names`, their files, too."""
    asked = "\n".join(oids).encode("ascii") + b"\n"
    done = repo.attempt(*(_SHAPE if names else _WITHOUT_NAMES), stdin=asked, environ=NO_FETCHING)
    if done.returncode:  # a partial clone may lack trees
        done = repo.attempt(*_WITHOUT_NAMES, stdin=asked, environ=NO_FETCHING)
    clean = scan.none_in(done.stdout)
    for commit in _parse(done.stdout, oids):
        if not clean:
            author, message = scan.text(commit.author), scan.text(commit.message)
            commit = commit._replace(author=author, message=message, paths=list(map(scan.text, commit.paths)))
        yield commit


# Nothing is fetched for an index. The second is for versions of git that do not know the first.
NO_FETCHING = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"}


def _parse(out: bytes, oids: Sequence[str]) -> Iterator[CorpusCommit]:
    """Yields commits in the order of the request: so no file's name can pose as one."""
    waiting = iter(oids)
    wanted, found = next(waiting, ""), b""
    paths: list[str] = []
    for word in out.split(b"\0"):
        begun = b"\x01" + wanted.encode("ascii") + b"\x02"
        at = word.find(begun) if wanted and word[:2].lstrip(b"\n").startswith(b"\x01") else -1
        if at in (0, 1):
            if found:
                yield _commit(found, paths)
            found, paths, wanted = word[at + 1 :], [], next(waiting, "")
        elif word.lstrip(b"\n") and len(paths) <= MAX_TOUCHED:
            paths.append(os.fsdecode(word.lstrip(b"\n")))
    if found:
        yield _commit(found, paths)


def _commit(found: bytes, paths: list[str]) -> CorpusCommit:
    oid, seconds, author, message = found.split(b"\x02", 3)
    whole = message.decode("utf-8", "replace").replace("\r\n", "\n")
    return CorpusCommit(oid.decode("ascii"), int(seconds or b"0"), author.decode("utf-8", "replace"), whole, paths)


def is_memory_commit(commit: CorpusCommit) -> bool:
    """Whether a commit changes only memory, which is indexed as such."""
    return bool(commit.paths) and all(path.startswith(OWN) for path in commit.paths)


def commit_row(commit: CorpusCommit) -> Row:
    """Returns the row of a commit."""
    subject, body, trailers = _split_message(commit.message)
    title, text = safe(subject[:MAX_SUBJECT]), safe(body[:MAX_TEXT])
    around = safe("\n".join((commit.author, *trailers, path_words(_others(commit.paths)))))
    ts = _moment(commit.seconds)
    return (
        time_number(ts), bytes.fromhex(commit.oid), 1, 0, content_of(title, text),
        commit.oid, "commit", None, ts, title, commit.oid, text,
        parts_of(f"{title}\n{text}"), around, _FACETS,
        None, "", None, None, commit.oid, None, None, None,
        None, None, None, None, None, None, None, None, "T2", None,
    )  # fmt: skip


def _others(paths: Sequence[str]) -> list[str]:
    return [path for path in paths[:MAX_TOUCHED] if not path.startswith(OWN)]


def commit_paths(commit: CorpusCommit) -> list[str]:
    """Returns the files of a commit; none if it changes thousands, because it is about none in particular."""
    return _others(commit.paths) if len(commit.paths) <= MAX_TOUCHED else []


def _moment(seconds: int) -> str:
    try:
        return f"{datetime.fromtimestamp(max(seconds, 0), UTC):%Y-%m-%dT%H:%M:%S}.000000Z"
    except (OverflowError, ValueError, OSError):
        return "1970-01-01T00:00:00.000000Z"


def _split_message(message: str) -> tuple[str, str, list[str]]:
    """Returns the subject, the body, and the trailers' values: who signed, reviewed, and what it fixes."""
    subject, _, body = message.strip("\n").partition("\n")
    paragraphs = body.strip("\n").rsplit("\n\n", 1)
    lines = paragraphs[-1].split("\n")
    found = [_TRAILER.fullmatch(line.strip()) for line in lines[:MAX_TRAILERS]]
    if not body.strip() or not all(found) or len(lines) > MAX_TRAILERS:
        return subject.strip(), body.strip(), []
    kept = paragraphs[0].strip() if len(paragraphs) == 2 else ""
    return subject.strip(), kept, [f"{one[1]}: {one[2]}" for one in found if one]


AT_ONCE = 16 << 20  # bytes of blobs in memory at a time; a guess
_FILES = (b"100644", b"100755", b"100664")


class TreeFile(NamedTuple):
    """A file in a tree."""

    path: str
    blob: str


# A file before and after; None where there is none, or it is a link or a submodule.
TreeChange = tuple[TreeFile | None, TreeFile | None]


class RepositoryObjects:
    """One repository's objects, if they are here."""

    def __init__(self, repo: Repo) -> None:
        self._repo = repo
        self._missing: set[str] | None = None

    def _ask(self, *args: str, stdin: bytes | None = None) -> bytes | None:
        done = self._repo.attempt(*args, stdin=stdin, environ=NO_FETCHING)
        return done.stdout if done.returncode == 0 else None

    def files(self, commit: str) -> Iterator[TreeFile]:
        """Yields every regular file in a commit's tree; none if its trees are missing."""
        for row in (self._ask("ls-tree", "-r", "-z", "--full-tree", commit) or b"").split(b"\0")[:-1]:
            facts, _, name = row.partition(b"\t")
            mode, _, oid = facts.split(b" ")
            if mode in _FILES:
                yield TreeFile(os.fsdecode(name), oid.decode("ascii"))

    def text_at(self, commit: str, path: str) -> bytes:
        """Returns a small file of a commit; empty if it is missing."""
        out = self._ask("--literal-pathspecs", "ls-tree", "-z", "--full-tree", commit, "--", path) or b""
        oids = [row.split(b"\t")[0].split(b" ")[2].decode("ascii") for row in out.split(b"\0")[:-1]]
        return b"".join(text or b"" for _, text in self.texts(oids, limit=1 << 20)) if oids else b""

    def changes(self, old: str, new: str) -> list[TreeChange] | None:
        """Returns the files that differ between two commits; None if one of them is missing."""
        out = self._ask("diff-tree", "-r", "-z", "--no-renames", "--full-index", old, new)
        if out is None:
            return None
        words = out.split(b"\0")
        found = []
        for facts, name in zip(words[0:-1:2], words[1::2], strict=False):
            old_mode, new_mode, old_oid, new_oid, _ = facts[1:].split(b" ")
            path = os.fsdecode(name)
            was = TreeFile(path, old_oid.decode("ascii")) if old_mode in _FILES else None
            found.append((was, TreeFile(path, new_oid.decode("ascii")) if new_mode in _FILES else None))
        return found

    def commits(self, commit: str, *, without: str | None = None, most: int | None = None) -> list[str] | None:
        """Returns the commits reachable from one and not from another, newest first; None if one is missing."""
        bound = [] if most is None else [f"--max-count={most}"]
        out = self._ask("rev-list", *bound, commit, *([] if without is None else [f"^{without}"]))
        return None if out is None else out.decode("ascii").split()

    def texts(self, blobs: Sequence[str], *, limit: int) -> Iterator[tuple[str, bytes | None]]:
        """Yields each blob that is here, with its bytes, or None if it is longer than `limit`."""
        sizes = self._sizes(list(dict.fromkeys(blobs)), head=commit_of(self._repo))
        batch: list[str] = []
        room = AT_ONCE
        yield from ((oid, None) for oid, size in sizes if size > limit)
        for oid, size in (one for one in sizes if one[1] <= limit):
            if batch and size > room:
                yield from self._read(batch)
                batch, room = [], AT_ONCE
            batch.append(oid)
            room -= size
        yield from self._read(batch)

    def _sizes(self, blobs: list[str], *, head: str) -> list[tuple[str, int]]:
        wanted = [oid for oid in blobs if oid not in (self._missing or ())]
        out = self._ask("cat-file", "--batch-check", stdin="\n".join(wanted).encode("ascii") + b"\n")
        if out is None and self._missing is None:
            absent = self._ask("rev-list", "--objects", "--no-walk", "--missing=print", head) or b""
            self._missing = {line[1:].decode("ascii") for line in absent.split(b"\n") if line.startswith(b"?")}
            return self._sizes(blobs, head=head)
        rows = [line.split(" ") for line in (out or b"").decode("ascii").split("\n")]
        return [(row[0], int(row[2])) for row in rows if len(row) == 3 and row[1] == "blob"]

    def _read(self, blobs: list[str]) -> Iterator[tuple[str, bytes]]:
        if not blobs:
            return
        out = self._ask("cat-file", "--batch", stdin="\n".join(blobs).encode("ascii") + b"\n") or b""
        at = 0
        while (end := out.find(b"\n", at)) >= 0:
            header = out[at:end].split(b" ")
            at = end + 1
            if len(header) == 3:
                size = int(header[2])
                yield header[0].decode("ascii"), out[at : at + size]
                at += size + 1


def commit_of(repo: Repo) -> str:
    """Returns the commit that is checked out; empty before the first."""
    return repo.head().oid or ""
