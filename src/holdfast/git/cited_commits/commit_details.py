"""Reads many commits at once: author, times, parents, message, and what they change.

A patch-id is git's own, from `git diff-tree -p --no-renames | git patch-id --stable`: the same before and after a
rebase. It needs the whole patch, so it is computed only for commits that may matter, many at once.
"""

import hashlib
import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from holdfast.git.repo import Repo
from holdfast.patterns import regex
from holdfast.values import frozen, grouped

# Refs that keep old commits alive but must not count as reachable.
LIVING = tuple(f"--exclude=refs/{name}" for name in ("stash", "original/*", "replace/*", "notes/*", "bisect/*"))
LIVING += ("--all",)

_PERSON = regex(r"(.*?) ?<([^>]*)> (-?\d+)(?: [+-]\d+)?")
_CHANGE_ID = regex(r"^Change-Id: *(I[0-9a-f]{8,64})$", re.MULTILINE)
_BULLET = regex(r"^[\s*\-\u2022]+")
_NUMBER = regex(r"\s*\([#!]\d+\)$")  # the pull request's number that a forge adds to a title
_TAKES_BACK = regex(r"(revert|reapply)\b", re.IGNORECASE)
_MAX_MESSAGE = 64 * 1024  # characters; a guess: far above any message that people write


@frozen
class Commit:
    """The header and message of a commit."""

    oid: str
    tree: str
    parents: tuple[str, ...]
    name: str
    mail: str
    authored: int
    committed: int
    change_ids: frozenset[str]
    message: str

    @property
    def author(self) -> str:
        return f"{self.name} <{self.mail}> {self.authored}"

    @property
    def title(self) -> str:
        """The hash of its first line."""
        return mark(self.message.partition("\n")[0])

    @property
    def mentions(self) -> frozenset[str]:
        """The hashes of all its lines: a squash lists the titles of its parts."""
        return frozenset(mark(line) for line in self.message.split("\n") if line)

    @property
    def takes_back(self) -> bool:
        """Whether its message calls it a revert, or the revert of a revert."""
        return bool(_TAKES_BACK.match(self.message)) or "This reverts commit" in self.message


def listed(repo: Repo, *options: str, names: Iterable[str] = (), limit: int) -> dict[str, Commit]:
    """Returns the commits that `git rev-list` lists, newest first."""
    command = ("--no-replace-objects", "rev-list", "--header", "--encoding=UTF-8", f"--max-count={limit}")
    lines = "".join(f"{name}\n" for name in names).encode("ascii")
    out = repo.run(*command, *options, stdin=lines).split(b"\0")
    found = (parsed(row.decode("utf-8", "replace")) for row in out if row.strip())
    return {commit.oid: commit for commit in found}


def exactly(repo: Repo, oids: Sequence[str]) -> dict[str, Commit]:
    """Returns exactly these commits, which must exist."""
    return listed(repo, "--no-walk=unsorted", "--stdin", names=oids, limit=len(oids)) if oids else {}


def adrift(repo: Repo, oids: Collection[str]) -> tuple[set[str], set[str]]:
    """Returns the commits among these that git has, and those of them that no branch, tag or work tree reaches."""
    lines = "".join(f"{oid}\n" for oid in oids).encode("ascii")
    if not lines:
        return set(), set()
    known = repo.run("--no-replace-objects", "cat-file", "--batch-check", stdin=lines).decode("ascii", "replace")
    here = {row.split(" ")[0] for row in known.splitlines() if " commit " in row}
    if not here:
        return set(), set()
    lines = "".join(f"{oid}\n" for oid in here).encode("ascii")
    # Twice --not: some versions of git apply the first to standard input as well, some do not.
    options = ("--not", *LIVING, "--not", "--stdin")
    out = repo.run("--no-replace-objects", "rev-list", *options, stdin=lines)
    return here, here & set(out.decode("ascii").split())


def parsed(text: str) -> Commit:
    """Parses a commit from its id and raw content, with the message indented as `git rev-list` prints it."""
    head, _, message = text.lstrip("\n").partition("\n\n")
    oid, *rows = head.split("\n")
    fields = grouped((key, value) for key, _, value in (row.partition(" ") for row in rows))
    name, mail, authored = _person(fields.get("author", [""])[0])
    committed = _person(fields.get("committer", [""])[0])[2]
    message = message[:_MAX_MESSAGE].replace("\n    ", "\n").strip()
    named = _CHANGE_ID.findall(message.rpartition("\n\n")[2]) if "Change-Id:" in message else []
    ids = frozenset((*fields.get("change-id", ()), *named))
    tree, parents = fields.get("tree", [""])[0], tuple(fields.get("parent", ()))
    return Commit(oid.strip(), tree, parents, name, mail, authored, committed, ids, message)


def mark(line: str) -> str:
    """Returns a hash of a title without list bullets and a forge's number."""
    bare = _NUMBER.sub("", _BULLET.sub("", line)).strip()
    return hashlib.blake2b(bare.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _person(text: str) -> tuple[str, str, int]:
    match = _PERSON.fullmatch(text)
    return (match[1], match[2], int(match[3])) if match else (text, "", 0)


_AT_ONCE = 100  # commits whose patches are held in memory together; a guess: some megabytes
_MAX_PATHS = 2000  # a guess: a commit that touches more (an import, a reformatting) is identified by its paths alone
_SHORTEST = 4  # letters and digits of a line that counts; a guess: shorter ones (`}`, `end`) are in every patch
# Files above 512 KiB count as binary: the patch of a generated file would fill the memory and prove little.
_SETTINGS = ("-c", "core.bigFileThreshold=512k", "-c", "core.quotePath=true", "-c", "diff.suppressBlankEmpty=false")
_TREES = ("diff-tree", "--stdin", "-r", "--root", "--no-renames", "--ignore-submodules=none")
_DIFF = ("--no-replace-objects", *_SETTINGS, *_TREES)
_PATCH = ("-p", "--full-index", "--no-ext-diff", "--no-textconv", "--no-color", "-U3", "--diff-algorithm=myers")
_PREFIXES = ("--src-prefix=a/", "--dst-prefix=b/", "--submodule=short", "--inter-hunk-context=0")
_HEADER = regex(rb"^([0-9a-f]{40,64}(?: [0-9a-f]{40,64})?)\n", re.MULTILINE)
_SILENT = regex(rb"[^0-9A-Za-z\x80-\xff]+")

Touched = tuple[str, str, str]  # path, blob before, blob after; zeros: none


@frozen
class Patch:
    """What a commit changes against its only parent."""

    paths: tuple[Touched, ...] = ()
    patch_id: str | None = None  # None: nothing changed, a merge, or content no patch shows
    lines: frozenset[str] = frozenset()  # + or - and a hash of path and line
    weight: int = 0  # letters and digits in these lines

    @property
    def names(self) -> frozenset[str]:
        return frozenset(path for path, _, _ in self.paths)


def patch_id(repo: Repo, oid: str) -> str | None:
    """Returns the stable patch-id of a commit; None for merges, empty commits and binary content."""
    return read_patches(repo, [oid])[oid].patch_id


def read_patches(repo: Repo, oids: Iterable[str]) -> dict[str, Patch]:
    """Returns what each of these commits changes."""
    cut = repo.cut_off()
    wanted = list(dict.fromkeys(oids))
    found = {oid: Patch() for oid in wanted if oid in cut}
    wanted = [oid for oid in wanted if oid not in cut]
    for at in range(0, len(wanted), _AT_ONCE):
        some = wanted[at : at + _AT_ONCE]
        paths = _paths(repo, some)
        small = [oid for oid in some if 0 < len(paths.get(oid, ())) <= _MAX_PATHS]
        texts = dict(_sections(_ask(repo, small, *_PATCH, *_PREFIXES)))
        ids = _patch_ids(repo, texts)
        for oid in some:
            lines, weight = _lines(texts.get(oid, b""))
            found[oid] = Patch(tuple(paths.get(oid, ())), ids.get(oid), lines, weight)
    return found


def between(repo: Repo, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Returns the patch-ids between pairs of trees; leaves out pairs without one."""
    wanted = list(dict.fromkeys(pairs))
    found: dict[tuple[str, str], str] = {}
    for at in range(0, len(wanted), _AT_ONCE):
        some = [f"{old} {new}" for old, new in wanted[at : at + _AT_ONCE]]
        texts = dict(_sections(_ask(repo, some, *_PATCH, *_PREFIXES)))
        for name, identity in _patch_ids(repo, texts).items():
            old, _, new = name.partition(" ")
            found[old, new] = identity
    return found


def _ask(repo: Repo, names: Sequence[str], *shape: str) -> bytes:
    if not names:
        return b""
    return repo.run(*_DIFF, *shape, stdin="".join(f"{name}\n" for name in names).encode("ascii"))


def _paths(repo: Repo, oids: Sequence[str]) -> dict[str, list[Touched]]:
    found: dict[str, list[Touched]] = {}
    words = iter(_ask(repo, oids, "--raw", "--no-abbrev", "-z").split(b"\0"))
    current: list[Touched] = []
    for word in words:
        if word.startswith(b":"):
            _, _, old, new, _ = word.split(b" ")
            current.append((os.fsdecode(next(words)), old.decode(), new.decode()))
        elif word:
            current = found.setdefault(word.decode("ascii"), [])
    return found


def _sections(text: bytes) -> Iterator[tuple[str, bytes]]:
    """Yields each commit's id and patch. No line of a patch is a bare id: each begins with a mark or a word."""
    marks = list(_HEADER.finditer(text))
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    return ((mark[1].decode("ascii"), text[mark.end() : end]) for mark, end in zip(marks, ends, strict=False))


def _patch_ids(repo: Repo, texts: dict[str, bytes]) -> dict[str, str]:
    """Returns git's patch-ids; none for patches with binary files, whose content older versions of git ignore."""
    names = [name for name, text in texts.items() if b"\nBinary files " not in text]
    if not names:
        return {}
    width = len(names[0].partition(" ")[0])  # git reads a number of this width as the id of a commit
    patches = b"".join(b"%0*x\n%s" % (width, at, texts[name]) for at, name in enumerate(names, 1))
    rows = repo.run("patch-id", "--stable", stdin=patches).decode("ascii").split("\n")[:-1]
    return {names[int(number, 16) - 1]: identity for identity, _, number in (row.partition(" ") for row in rows)}


def _lines(text: bytes) -> tuple[frozenset[str], int]:
    """Returns the added and removed lines that count, hashed with their path, and their weight."""
    found: set[str] = set()
    weight, path, in_header = 0, b"", True
    for line in text.split(b"\n"):
        if line.startswith(b"diff --git "):
            path, in_header = line, True
        elif line.startswith(b"@@"):
            in_header = False
        elif not in_header and line[:1] in (b"+", b"-"):
            letters = len(_SILENT.sub(b"", line))
            # Its sign and hash; white space does not count, as in a patch-id.
            digest = hashlib.blake2b(path + b"\0" + b"".join(line[1:].split()), digest_size=6)
            name = line[:1].decode("ascii") + digest.hexdigest()
            if letters >= _SHORTEST and name not in found:
                found.add(name)
                weight += letters
    return frozenset(found), weight


def reverse(lines: Iterable[str]) -> frozenset[str]:
    """Returns the lines of a patch that reverts these."""
    return frozenset(("-" if line[0] == "+" else "+") + line[1:] for line in lines)
