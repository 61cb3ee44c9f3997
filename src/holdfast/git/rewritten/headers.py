"""Commits as git stores them, read in bulk: who, when, on what, and the names that survive a rewrite."""

import hashlib
import re
from collections.abc import Iterable, Sequence

from holdfast.git.repo import Repo
from holdfast.patterns import regex
from holdfast.values import frozen

# Refs that keep old commits alive without anybody meaning them to count.
LIVING = tuple(f"--exclude=refs/{name}" for name in ("stash", "original/*", "replace/*", "notes/*", "bisect/*"))
LIVING += ("--all",)

_PERSON = regex(r"(.*?) ?<([^>]*)> (-?\d+)(?: [+-]\d+)?")
_CHANGE_ID = regex(r"^Change-Id: *(I[0-9a-f]{8,64})$", re.MULTILINE)
_BULLET = regex(r"^[\s*\-\u2022]+")
_NUMBER = regex(r"\s*\([#!]\d+\)$")  # what a forge adds to a title
_TAKES_BACK = regex(r"(revert|reapply)\b", re.IGNORECASE)
_MAX_MESSAGE = 64 * 1024


@frozen
class Commit:
    """What a commit says of itself."""

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
        """A hash of its first line."""
        return mark(self.message.partition("\n")[0])

    @property
    def mentions(self) -> frozenset[str]:
        """Hashes of all its lines: a squash lists the titles of its parts."""
        return frozenset(mark(line) for line in self.message.split("\n") if line)

    @property
    def takes_back(self) -> bool:
        """Whether it says to be a revert, or the revert of one."""
        return bool(_TAKES_BACK.match(self.message)) or "This reverts commit" in self.message


def listed(repo: Repo, *options: str, names: Iterable[str] = (), limit: int) -> dict[str, Commit]:
    """The commits that `git rev-list` gives, newest first, with what they say of themselves."""
    asked = ("--no-replace-objects", "rev-list", "--header", "--encoding=UTF-8", f"--max-count={limit}")
    given = "".join(f"{name}\n" for name in names).encode("ascii")
    out = repo.run(*asked, *options, stdin=given).split(b"\0")
    found = (parsed(row.decode("utf-8", "replace")) for row in out if row.strip())
    return {commit.oid: commit for commit in found}


def exactly(repo: Repo, oids: Sequence[str]) -> dict[str, Commit]:
    """These commits, which must be here."""
    return listed(repo, "--no-walk=unsorted", "--stdin", names=oids, limit=len(oids)) if oids else {}


def parsed(text: str) -> Commit:
    """A commit from its name and raw content, the message indented as git shows it."""
    head, _, message = text.lstrip("\n").partition("\n\n")
    oid, *rows = head.split("\n")
    fields: dict[str, list[str]] = {}
    for row in rows:
        key, _, value = row.partition(" ")
        fields.setdefault(key, []).append(value)
    name, mail, authored = _person(fields.get("author", [""])[0])
    message = message[:_MAX_MESSAGE].replace("\n    ", "\n").strip()
    return Commit(
        oid.strip(),
        fields.get("tree", [""])[0],
        tuple(fields.get("parent", ())),
        name,
        mail,
        authored,
        _person(fields.get("committer", [""])[0])[2],
        frozenset((*fields.get("change-id", ()), *_change_ids(message))),
        message,
    )


def _change_ids(message: str) -> list[str]:
    return _CHANGE_ID.findall(message.rpartition("\n\n")[2]) if "Change-Id:" in message else []


def mark(line: str) -> str:
    """A hash of a title, however a list or a forge dresses it."""
    bare = _NUMBER.sub("", _BULLET.sub("", line)).strip()
    return hashlib.blake2b(bare.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _person(text: str) -> tuple[str, str, int]:
    match = _PERSON.fullmatch(text)
    return (match[1], match[2], int(match[3])) if match else (text, "", 0)
