"""What git answered within this process, so that no command asks it the same thing twice.

Trees and blobs never change. What differs from HEAD in the work tree does: such an answer holds while the files below
the entry folders, git's index and HEAD look the same, and is not kept if a change could go unseen.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from holdfast.store.layout import LINKS, MEMORY, TASKS, TRACKED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

ENTRY_FOLDERS = (MEMORY, TASKS, LINKS)
_MOST_BYTES = 64 << 20  # of blobs that are kept
_MOST_LISTINGS = 64
_OF_THE_WORK_TREE = ("-o", "-m", "-d", "-i", "--with-tree=HEAD")  # options of ls-files that look further
_TICK = 20_000_000  # nanoseconds: two changes within one tick of the file system's clock leave the same time


class GitMemo:
    """Answers of git about one repository."""

    def __init__(self, top: str, git_dir: str, common_dir: str) -> None:
        self._top, self._git_dir, self._common_dir = top, git_dir, common_dir
        self._listings: dict[tuple[tuple[str, ...], object], bytes] = {}
        self._tree: tuple[str, dict[str, str], dict[str, str]] = ("", {}, {})
        self._blobs: dict[str, bytes] = {}
        self._size = 0
        self._status: tuple[object, dict[str, str]] | None = None

    def tree(self, commit: str, ask: Callable[[str], bytes]) -> tuple[dict[str, str], dict[str, str]]:
        """Path to blob, and path to tree, of everything below `.holdfast` in a commit."""
        if self._tree[0] != commit:
            blobs, trees = read_tree(ask(commit))
            self._tree = (commit, blobs, trees)
        return self._tree[1], self._tree[2]

    def blobs(self, oids: Iterable[str], ask: Callable[[list[str]], dict[str, bytes]]) -> dict[str, bytes]:
        """The bytes of many blobs; what is not here is left out."""
        wanted = dict.fromkeys(oids)
        missing = [oid for oid in wanted if oid not in self._blobs]
        found = ask(missing) if missing else {}
        size = sum(map(len, found.values()))
        if self._size + size > _MOST_BYTES:
            kept = {oid: self._blobs[oid] for oid in wanted if oid in self._blobs}
            self._blobs, self._size = {}, 0
            found |= kept
        self._blobs |= found
        self._size += size
        return {oid: self._blobs[oid] for oid in wanted if oid in self._blobs}

    def status(self, head: str | None, ask: Callable[[], dict[str, str]]) -> dict[str, str]:
        """What differs from HEAD below the entry folders."""
        before = self._facts(head)
        if before is not None and self._status is not None and self._status[0] == before:
            return self._status[1]
        found = ask()
        self._status = (before, found) if before is not None else None
        return found

    def listing(self, args: tuple[str, ...], head: str | None, ask: Callable[[], bytes]) -> bytes:
        """What a command prints that only lists a tree, git's index or its settings."""
        key = (args, self._rests_on(args, head))
        if key not in self._listings:
            if len(self._listings) >= _MOST_LISTINGS:
                self._listings.clear()
            self._listings[key] = ask()
        return self._listings[key]

    def _rests_on(self, args: tuple[str, ...], head: str | None) -> object:
        if "ls-tree" in args:
            return head
        name = (self._git_dir, "index") if "ls-files" in args else (self._common_dir, "config")
        return _look(os.path.join(*name))

    def _facts(self, head: str | None) -> object | None:
        """What changes when an entry file or git's index does; None if a change could go unseen."""
        facts, newest, now = [hash(head)], 0, time.time_ns()
        waiting = [os.path.join(self._top, *folder.split("/")) for folder in ENTRY_FOLDERS]
        if (index := _look(os.path.join(self._git_dir, "index"))) is not None:
            facts.append(hash(index))
            newest = index[0]
        while waiting:
            try:
                entries = list(os.scandir(waiting.pop()))
            except OSError:
                facts.append(0)
                continue
            for entry in entries:
                found = entry.stat(follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                newest = max(newest, found.st_mtime_ns)
                facts.append(hash((entry.name, found.st_mtime_ns, found.st_size, found.st_ino)))
        return hash(tuple(sorted(facts))) if now - newest > _TICK else None


def _look(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def is_listing(args: tuple[str, ...]) -> bool:
    """Whether a command only lists a tree, git's index (not the work tree) or its settings."""
    words = {*args}
    if "ls-files" in words:
        return words.isdisjoint(_OF_THE_WORK_TREE)
    return "ls-tree" in words or ("config" in words and "--get-regexp" in words)


def read_tree(out: bytes) -> tuple[dict[str, str], dict[str, str]]:
    """Path to blob, and path to tree, of what `ls-tree -z` prints; links are left out."""
    blobs, trees = {}, {}
    for row in out.split(b"\0")[:-1]:
        facts, _, name = row.partition(b"\t")
        mode, kind, oid = facts.split(b" ")
        if kind == b"blob" and mode != b"120000":
            blobs[os.fsdecode(name)] = oid.decode("ascii")
        elif kind == b"tree":
            trees[os.fsdecode(name)] = oid.decode("ascii")
    return blobs, trees


def is_ours(path: str) -> bool:
    """Whether a path lies below `.holdfast`, which is listed as a whole."""
    return path == TRACKED or path.startswith(f"{TRACKED}/")
