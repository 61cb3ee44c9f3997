"""Commits as rows: what was said, who said it, and which files it changed.

They are asked of git by the batch, one process each, in the order they were named; what git does not have
(a partial clone) is left out.
"""

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from holdfast.git.repo import Repo
from holdfast.index.rows import MAX_TEXT, MAX_TOUCHED, Row, content_of, number, parts_of, path_words, safe
from holdfast.index.schema import facet
from holdfast.patterns import regex
from holdfast.security.redact import Scanner

MAX_SUBJECT = 300
MAX_TRAILERS = 40
OWN = ".holdfast/"

_SHAPE = (
    "log", "--no-walk=unsorted", "--stdin", "-z", "--no-renames", "--name-only", "--encoding=UTF-8",
    "--no-show-signature", "--no-diff-merges", "--no-notes", "--no-mailmap", "--no-color",
    "--format=%x01%H%x02%ct%x02%an%x02%B",
)  # fmt: skip
_WITHOUT_NAMES = tuple(word for word in _SHAPE if word != "--name-only")
_TRAILER = regex(r"([A-Za-z][A-Za-z0-9-]{0,60}):[ \t]+(\S.*)")
_FACETS = facet("k", "commit")


class Commit(NamedTuple):
    """What git says of a commit."""

    oid: str
    seconds: int
    author: str
    message: str
    paths: list[str]


def read(repo: Repo, oids: Sequence[str], scan: Scanner) -> Iterator[Commit]:
    """These commits without their secrets, in this order, as far as they are here."""
    asked = "\n".join(oids).encode("ascii") + b"\n"
    done = repo.attempt(*_SHAPE, stdin=asked, environ=NO_FETCHING)
    if done.returncode:  # trees may lie elsewhere, in a partial clone
        done = repo.attempt(*_WITHOUT_NAMES, stdin=asked, environ=NO_FETCHING)
    found = _parsed(done.stdout, oids)
    return found if scan.none_in(done.stdout) else (_clean(commit, scan) for commit in found)


def _clean(commit: Commit, scan: Scanner) -> Commit:
    author, message = scan.text(commit.author), scan.text(commit.message)
    return Commit(commit.oid, commit.seconds, author, message, [scan.text(path) for path in commit.paths])


# Nothing is fetched for an index. The second is for versions of git that do not know the first.
NO_FETCHING = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"}


def _parsed(out: bytes, oids: Sequence[str]) -> Iterator[Commit]:
    """Commits come in the order they were asked for: so no file's name can pretend to be one."""
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


def _commit(found: bytes, paths: list[str]) -> Commit:
    oid, seconds, author, message = found.split(b"\x02", 3)
    whole = message.decode("utf-8", "replace").replace("\r\n", "\n")
    return Commit(oid.decode("ascii"), int(seconds or b"0"), author.decode("utf-8", "replace"), whole, paths)


def is_ours(commit: Commit) -> bool:
    """Whether a commit changes memory alone, which is indexed as such."""
    return bool(commit.paths) and all(path.startswith(OWN) for path in commit.paths)


def row(commit: Commit) -> Row:
    """The row of a commit."""
    subject, body, trailers = _taken_apart(commit.message)
    title, text = safe(subject[:MAX_SUBJECT]), safe(body[:MAX_TEXT])
    around = safe("\n".join((commit.author, *trailers, path_words(_others(commit.paths)))))
    ts = _moment(commit.seconds)
    return (
        number(ts), bytes.fromhex(commit.oid), 1, 0, content_of(title, text),
        commit.oid, "commit", None, ts, title, commit.oid, text,
        parts_of(f"{title}\n{text}"), around, _FACETS,
        None, "", None, None, commit.oid, None, None, None,
        None, None, None, None, None, None, None, None, "T2", None,
    )  # fmt: skip


def _others(paths: Sequence[str]) -> list[str]:
    return [path for path in paths[:MAX_TOUCHED] if not path.startswith(OWN)]


def touched(commit: Commit) -> list[str]:
    """The files it is about; one that changes thousands is about none of them in particular."""
    return _others(commit.paths) if len(commit.paths) <= MAX_TOUCHED else []


def _moment(seconds: int) -> str:
    try:
        return f"{datetime.fromtimestamp(max(seconds, 0), UTC):%Y-%m-%dT%H:%M:%S}.000000Z"
    except (OverflowError, ValueError, OSError):
        return "1970-01-01T00:00:00.000000Z"


def _taken_apart(message: str) -> tuple[str, str, list[str]]:
    """The subject, the body, and the trailers' values: who signed, reviewed, and what it fixes."""
    clean = message.strip("\n")
    subject, _, body = clean.partition("\n")
    paragraphs = body.strip("\n").rsplit("\n\n", 1)
    lines = paragraphs[-1].split("\n")
    found = [_TRAILER.fullmatch(line.strip()) for line in lines[:MAX_TRAILERS]]
    if not body.strip() or not all(found) or len(lines) > MAX_TRAILERS:
        return subject.strip(), body.strip(), []
    kept = paragraphs[0].strip() if len(paragraphs) == 2 else ""
    return subject.strip(), kept, [f"{one[1]}: {one[2]}" for one in found if one]
