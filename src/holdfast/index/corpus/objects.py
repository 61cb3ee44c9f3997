"""What a repository holds, asked of git without fetching anything: trees, commits and the text of blobs.

In a partial clone much lies elsewhere. Git is told not to get it; some versions give up at the first object
that is not here, so the names of these are asked for, once, and they are left out.
"""

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from holdfast.git.repo import Repo
from holdfast.index.corpus.commits import NO_FETCHING

AT_ONCE = 16 << 20  # bytes of blobs in memory at a time
_FILES = (b"100644", b"100755", b"100664")


class File(NamedTuple):
    """A file in a tree."""

    path: str
    blob: str


class Change(NamedTuple):
    """A file before and after; None where there is none, or it is a link or a submodule."""

    old: File | None
    new: File | None


class Objects:
    """One repository's objects, as far as they are here."""

    def __init__(self, repo: Repo) -> None:
        self._repo = repo
        self._missing: set[str] | None = None

    def _ask(self, *args: str, stdin: bytes | None = None) -> bytes | None:
        done = self._repo.attempt(*args, stdin=stdin, environ=NO_FETCHING)
        return done.stdout if done.returncode == 0 else None

    def files(self, commit: str) -> Iterator[File]:
        """Every regular file in a commit's tree; none if its trees are not here."""
        out = self._ask("ls-tree", "-r", "-z", "--full-tree", commit) or b""
        for row in out.split(b"\0")[:-1]:
            facts, _, name = row.partition(b"\t")
            mode, _, oid = facts.split(b" ")
            if mode in _FILES:
                yield File(os.fsdecode(name), oid.decode("ascii"))

    def text_at(self, commit: str, path: str) -> bytes:
        """A small file of a commit; empty if it is not there."""
        out = self._ask("--literal-pathspecs", "ls-tree", "-z", "--full-tree", commit, "--", path) or b""
        oids = [row.split(b"\t")[0].split(b" ")[2].decode("ascii") for row in out.split(b"\0")[:-1]]
        return b"".join(text or b"" for _, text in self.texts(oids, limit=1 << 20)) if oids else b""

    def changes(self, old: str, new: str) -> list[Change] | None:
        """The files in which two commits differ; None if one of them is not here."""
        out = self._ask("diff-tree", "-r", "-z", "--no-renames", "--full-index", old, new)
        if out is None:
            return None
        words = out.split(b"\0")
        found = []
        for facts, name in zip(words[0:-1:2], words[1::2], strict=False):
            old_mode, new_mode, old_oid, new_oid, _ = facts[1:].split(b" ")
            path = os.fsdecode(name)
            was = File(path, old_oid.decode("ascii")) if old_mode in _FILES else None
            found.append(Change(was, File(path, new_oid.decode("ascii")) if new_mode in _FILES else None))
        return found

    def commits(self, commit: str, *, without: str | None = None, most: int | None = None) -> list[str] | None:
        """The commits reachable from one and not from another, newest first; None if one is not here."""
        bound = [] if most is None else [f"--max-count={most}"]
        but = [] if without is None else [f"^{without}"]
        out = self._ask("rev-list", *bound, commit, *but)
        return None if out is None else out.decode("ascii").split()

    def texts(self, blobs: Sequence[str], *, limit: int) -> Iterator[tuple[str, bytes | None]]:
        """Each blob that is here, with its bytes, or None if it has more than `limit`."""
        sizes = self._sizes(list(dict.fromkeys(blobs)), head=commit_of(self._repo))
        batch: list[str] = []
        room = AT_ONCE
        for oid, size in sizes:
            if size > limit:
                yield oid, None
                continue
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
            self._missing = self._not_here(head)
            return self._sizes(blobs, head=head)
        rows = [line.split(" ") for line in (out or b"").decode("ascii").split("\n")]
        return [(row[0], int(row[2])) for row in rows if len(row) == 3 and row[1] == "blob"]

    def _not_here(self, head: str) -> set[str]:
        out = self._ask("rev-list", "--objects", "--no-walk", "--missing=print", head) or b""
        return {line[1:].decode("ascii") for line in out.split(b"\n") if line.startswith(b"?")}

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
    """The commit that is checked out; empty before the first."""
    return repo.head().oid or ""
