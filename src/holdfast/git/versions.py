"""The versions of one file in history, newest first, and the text that a receipt was made from.

Receipts carry a hash only. What they hashed is looked up among at most 500 versions of the path, through
renames, first in HEAD's history and then in everybody's.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from holdfast.git.repo import Repo
from holdfast.git.tracked import OFFLINE, stored
from holdfast.model.evidence import LinesEvidence, Span
from holdfast.model.spans.reading import Text
from holdfast.model.spans.text import find_text

MAX_VERSIONS = 500
_FORMAT = "--format=%x01%H%x02%an%x02%as%x02%s"
_AT_ONCE = 25  # versions read through one process
_MAX_BYTES = 64 << 20  # read in all


@dataclass(frozen=True, slots=True)
class Version:
    """One commit's version of a file; no blob: it took the file away."""

    commit: str
    author: str
    day: str
    title: str
    path: str
    blob: str | None


@dataclass(frozen=True, slots=True)
class Origin:
    """The newest version that holds what was cited, and where it stands there."""

    text: Text
    first: int
    last: int
    version: Version
    changed: Version | None  # the commit after it, on the way to HEAD
    is_elsewhere: bool  # it is not on the way to HEAD

    @property
    def lines(self) -> Sequence[bytes]:
        return self.text.lines[self.first - 1 : self.last]


def versions(repo: Repo, path: str) -> Iterator[list[Version]]:
    """The versions of a path: along HEAD and through renames; then those of all branches."""
    if repo.head().oid is None:
        return
    shape = ("--raw", "-z", "--no-abbrev", f"-n{MAX_VERSIONS}", "--encoding=UTF-8", _FORMAT)
    for how in (("--follow", "-M", "HEAD"), ("--full-history", "-m", "--no-renames", "--all")):
        done = repo.attempt("--literal-pathspecs", "log", *shape, *how, "--", path, environ=OFFLINE)
        yield list(_parsed(done.stdout))[:MAX_VERSIONS]


def _parsed(out: bytes) -> Iterator[Version]:
    words = iter(out.split(b"\0"))
    facts = ["", "", "", ""]
    for word in words:
        word = word.lstrip(b"\n")
        if word.startswith(b"\x01"):
            facts = (word[1:].decode("utf-8", "replace").split("\x02", 3) + [""] * 4)[:4]
        elif word.startswith(b":"):
            row = word.split(b" ")
            path = next(words, b"")
            if row[4][:1] in (b"R", b"C"):
                path = next(words, b"")
            blob = row[3].decode("ascii")
            kept = None if set(blob) == {"0"} or row[1] == b"160000" else blob
            yield Version(facts[0], facts[1], facts[2], facts[3], os.fsdecode(path), kept)


def origin(repo: Repo, paths: Iterable[str], span: Span) -> Origin | None:
    """The newest version of a path that holds a cited span; None if none does that git reaches."""
    found = (_origin(repo, path, span) for path in dict.fromkeys(paths))
    return next((one for one in found if one is not None), None)


def _origin(repo: Repo, path: str, span: Span) -> Origin | None:
    seen: set[str] = set()
    for is_elsewhere, known in enumerate(versions(repo, path)):
        found = _search(repo, known, span, seen)
        if found is not None:
            at, text, first, last = found
            changed = known[at - 1] if at and not is_elsewhere else None
            return Origin(text, first, last, known[at], changed, bool(is_elsewhere))
    return None


def changer(repo: Repo, path: str, blob: str) -> tuple[Version, Version | None, bool] | None:
    """The newest version that is a blob, the commit after it, and whether it is off the way to HEAD."""
    for is_elsewhere, known in enumerate(versions(repo, path)):
        for at, version in enumerate(known):
            if version.blob == blob:
                return version, known[at - 1] if at and not is_elsewhere else None, bool(is_elsewhere)
    return None


def _search(
    repo: Repo, known: Sequence[Version], span: Span, seen: set[str]
) -> tuple[int, Text, int, int] | None:
    """Which of the versions holds a span, and where."""
    passed: list[tuple[int, Text]] = []  # versions in which the text was not where it was cited
    for at, text in _texts(repo, known, seen):
        place = text.place(span) if not text.is_beyond(span) else _in_place(text, span)
        if place is None:
            if text.is_beyond(span):
                passed.append((at, text))
            continue
        for newer, other in passed:  # too large to be looked for by hash; now its text is known
            start = find_text(other.lines, text.lines[place[0] - 1 : place[1]], place[0] - 1)
            if start is not None:
                return newer, other, start + 1, start + 1 + place[1] - place[0]
        return at, text, *place
    return None


def _in_place(text: Text, span: Span) -> tuple[int, int] | None:
    if not isinstance(span, LinesEvidence) or span.last > len(text.lines):
        return None
    same = text.hash(span.first, span.last, size=len(span.hash)) == span.hash
    return (span.first, span.last) if same else None


def _texts(repo: Repo, known: Sequence[Version], seen: set[str]) -> Iterator[tuple[int, Text]]:
    """Each version's text once, newest first, as long as they are few and small enough."""
    total = 0
    for start in range(0, len(known), _AT_ONCE):
        some = [(at, v) for at, v in enumerate(known[start : start + _AT_ONCE], start) if v.blob]
        data = stored(
            repo, [version.blob for _, version in some if version.blob not in seen and version.blob]
        )
        for at, version in some:
            if version.blob and version.blob not in seen and version.blob in data:
                seen.add(version.blob)
                total += len(data[version.blob])
                yield at, Text(version.path, data[version.blob])
        if total > _MAX_BYTES:
            return
