"""Caches git's answers, so that no command asks git the same thing twice.

Trees and blobs never change. The differences between HEAD and the work tree do: such an answer is valid, for the next
command as well, while the files below the entry folders, git's index and HEAD look the same. It is not stored if a
change could go unnoticed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.patterns import regex
from holdfast.store import folder_facts, fsio, loose_records
from holdfast.store.layout import LINKS, MEMORY, TASKS, TRACKED

ENTRY_FOLDERS = (MEMORY, TASKS, LINKS)
_MOST_BYTES = 64 << 20  # of blobs held in memory; a guess: many thousand entries, and no burden on a small machine
_MOST_LISTINGS = 64  # a guess: more answers than any command asks for
RECORD = "holdfast-answers"  # a file in the work tree's git folder
_MOST_KEPT = 4 << 20  # bytes stored for the next command; a guess: reading more would cost what it saves
_RULES = (".gitignore", ".gitattributes", f"{TRACKED}/.gitignore", f"{TRACKED}/.gitattributes")
_OID = regex(r"[0-9a-f]{40}|[0-9a-f]{64}")
_OF_THE_WORK_TREE = ("-o", "-m", "-d", "-i", "--with-tree=HEAD")  # options of ls-files that read more than the index
_TICK = 20_000_000  # ns: two changes within one tick of the file system's clock (1 to 10 ms) have the same time


class GitMemo:
    """Git's answers about one repository."""

    def __init__(self, top: str, git_dir: str, common_dir: str) -> None:
        self._top, self._git_dir, self._common_dir = top, git_dir, common_dir
        self._listings: dict[str, tuple[str, bytes]] = {}  # by command: the state it is valid for, the answer
        self._is_new = False  # whether there is something to store for the next command
        self.is_last = False  # whether no command follows this one
        self._tree: tuple[str, dict[str, str], dict[str, str]] = ("", {}, {})
        self._below: dict[str, dict[str, str]] = {}
        self._blobs: dict[str, bytes] = {}
        self._folders: list[str] = []
        self._size = 0
        self._status: tuple[str, dict[str, str]] | None = None
        self._seen: tuple[object, str | None] | None = None  # folders and git's index, and the facts for them
        self.steady = False  # whether only this process edits entry files in place while it runs

    def tree(self, commit: str, ask: Callable[[], bytes]) -> tuple[dict[str, str], dict[str, str]]:
        """Returns path to blob, and path to tree, of everything below `.holdfast` in a commit."""
        if self._tree[0] != commit:
            self._tree, self._below = (commit, *read_tree(ask())), {}
        return self._tree[1], self._tree[2]

    def below(self, path: str) -> dict[str, str]:
        """Returns path to blob of everything below a path in the commit of the last call of `tree`."""
        if path not in self._below:
            inside = f"{path}/"
            blobs = self._tree[1].items()
            self._below[path] = {name: blob for name, blob in blobs if name.startswith(inside) or name == path}
        return dict(self._below[path])

    def blobs(self, oids: Iterable[str], ask: Callable[[list[str]], dict[str, bytes]]) -> dict[str, bytes]:
        """Returns the bytes of many blobs; leaves out missing ones."""
        wanted = dict.fromkeys(oids)
        missing = [oid for oid in wanted if oid not in self._blobs]
        found = ask(missing) if missing else {}
        size = sum(map(len, found.values()))
        if self._size + size > _MOST_BYTES:
            found |= {oid: self._blobs[oid] for oid in wanted if oid in self._blobs}
            self._blobs, self._size = {}, 0
        self._blobs |= found
        self._size += size
        return {oid: self._blobs[oid] for oid in wanted if oid in self._blobs}

    def status(self, head: str | None, ask: Callable[[], dict[str, str]]) -> dict[str, str]:
        """Returns what differs from HEAD below the entry folders."""
        before = self.facts(head)
        if before is not None and self._status is None:
            facts, known = self._earlier[0].get("facts"), self._earlier[0].get("status")
            self._status = (facts, known) if isinstance(facts, str) and isinstance(known, dict) else None
        if before is not None and self._status is not None and self._status[0] == before:
            return self._status[1]
        found = ask()
        self._status = (before, found) if before is not None else None
        self._is_new = True
        return found

    @cached_property
    def _earlier(self) -> tuple[dict[str, Any], bytes]:
        """What earlier commands stored: a line of JSON, then the answers one after the other."""
        data = loose_records.content(os.path.join(self._git_dir, RECORD), limit=2 * _MOST_KEPT)
        head, _, answers = data.partition(b"\n")
        try:
            found = json.loads(head)
        except (ValueError, RecursionError):
            found = None
        is_sound = isinstance(found, dict) and isinstance(found.get("shapes"), dict)
        return (found, answers) if is_sound else ({"shapes": {}}, b"")

    def leave(self) -> None:
        """Stores this command's answers, and earlier ones it did not need, for the next command."""
        if not self._is_new or self.is_last:
            return
        facts, status = self._status or (self._earlier[0].get("facts"), self._earlier[0].get("status"))
        # One answer for each shape of command: the next command asks about later commits.
        known = {_OID.sub("*", key): row for key, row in self._listings.items()}
        earlier = (shape for shape in self._earlier[0]["shapes"] if shape not in known)
        known |= {shape: row for shape in earlier if (row := self._kept(shape))}
        shapes, answers = {}, bytearray()
        for shape, (state, answer) in list(known.items())[:_MOST_LISTINGS]:
            if len(answers) + len(answer) <= _MOST_KEPT:
                shapes[shape] = [state, len(answers), len(answers) + len(answer)]
                answers += answer
        record = json.dumps({"facts": facts, "status": status, "shapes": shapes}).encode("ascii")
        with contextlib.suppress(HoldfastError, OSError):
            fsio.replace(os.path.join(self._git_dir, RECORD), record + b"\n" + answers)
        self._is_new = False

    def _kept(self, shape: str) -> tuple[str, bytes] | None:
        """Returns an earlier command's answer of this shape, with the state it is valid for."""
        answers = self._earlier[1]
        match self._earlier[0]["shapes"].get(shape):
            case [str() as state, int() as start, int() as end] if 0 <= start <= end <= len(answers):
                return state, answers[start:end]
        return None

    def listing(self, args: tuple[str, ...], head: str | None, ask: Callable[[], bytes]) -> bytes:
        """Returns the output of a command that only lists commits, a tree, git's index or its settings."""
        key = "\n".join(args)
        shape, state = _OID.sub("*", key), f"{key}\n{self._depends_on(args, head)}"
        if (known := self._listings.get(key)) and known[0] == state:
            return known[1]
        if (earlier := self._kept(shape)) and earlier[0] == state:
            answer = earlier[1]
        else:
            answer, self._is_new = ask(), True
        if answer or shape == key:  # a missing commit may be fetched later
            if len(self._listings) >= _MOST_LISTINGS:
                self._listings.clear()
            self._listings[key] = (state, answer)
        return answer

    def _depends_on(self, args: tuple[str, ...], head: str | None) -> object:
        if "ls-files" in args:
            return fsio.facts(os.path.join(self._git_dir, "index"))
        if is_of_head(args):  # and on replaced objects and a shallow history
            names = ("shallow", "refs/replace", "packed-refs")
            return head, *(fsio.facts(os.path.join(self._common_dir, name)) for name in names)
        return fsio.facts(os.path.join(self._common_dir, "config"))

    def facts(self, head: str | None) -> str | None:
        """Returns a hash that changes with any entry file, git's index or HEAD; None if a change could go unnoticed."""
        if self.steady and self._seen is not None and self._seen[0] == self._outside(head):
            return self._seen[1]
        now, newest, total = time.time_ns(), 0, 0
        self._folders = [f"{self._top}/{folder}" for folder in ENTRY_FOLDERS]
        outside = self._outside(head)
        for folder in self._folders:  # grows in the loop
            # The state this command saw first: the next command notices later changes.
            if (found := folder_facts.looked_at.pop(folder, None) or folder_facts.look(folder)) is not None:
                self._folders += [f"{folder}/{name}" for name in found.folders]
                total ^= found.total
                newest = max(newest, found.newest)
        newest = max(newest, *(one[0] for one in outside if one and isinstance(one, tuple)), 0)
        state = "\n".join((*map(str, outside), *self._folders, str(total)))
        digest = hashlib.blake2b(state.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
        self._seen = (self._outside(head), digest if now - newest > _TICK else None)
        return self._seen[1]

    def _outside(self, head: str | None) -> list[object]:
        """Returns HEAD and the file facts of git's index, its rules for files, and the entry folders themselves."""
        git = [os.path.join(self._common_dir, name) for name in ("config", "info/exclude")]
        rules = [os.path.join(self._top, *name.split("/")) for name in _RULES]
        index = os.path.join(self._git_dir, "index")
        return [head, *map(fsio.facts, (index, *git, *rules, *self._folders))]


def is_listing(args: tuple[str, ...]) -> bool:
    """Returns whether a command only lists HEAD's tree or history, git's index (not the work tree) or its settings."""
    words = {*args}
    if "ls-files" in words:
        return words.isdisjoint(_OF_THE_WORK_TREE)
    return is_of_head(args) or ("config" in words and "--get-regexp" in words) or args == ("remote",)


def is_of_head(args: tuple[str, ...]) -> bool:
    """Returns whether a command's output depends only on HEAD's commit."""
    words = args[: args.index("--")] if "--" in args else args
    of_head, of_commit = "HEAD" in words, any(map(_OID.fullmatch, words))
    if "ls-tree" in words:
        return of_head or of_commit
    if words[0] in ("diff", "merge-base"):
        return of_head and of_commit
    is_bound = words[0] == "log" and not {"--all", "--branches"} & {*words}
    return is_bound and (of_head or any(word.endswith("..HEAD") for word in words))


def read_tree(out: bytes) -> tuple[dict[str, str], dict[str, str]]:
    """Parses the output of `ls-tree -z` into path to blob, and path to tree; leaves out symbolic links."""
    blobs, trees = {}, {}
    for name, (mode, kind, oid) in listed_rows(out):
        if kind == "tree":
            trees[name] = oid
        elif kind == "blob" and mode != "120000":
            blobs[name] = oid
    return blobs, trees


def listed_rows(out: bytes) -> Iterator[tuple[str, list[str]]]:
    """Yields each path in the output of `ls-tree -z` or `ls-files -s -z`, with the words before it."""
    for row in os.fsdecode(out).split("\0")[:-1]:
        facts, _, name = row.partition("\t")
        yield name, facts.split(" ")


def is_ours(path: str) -> bool:
    """Returns whether a path is below `.holdfast`, which is listed as a whole."""
    return path == TRACKED or path.startswith(f"{TRACKED}/")
