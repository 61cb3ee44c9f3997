"""The versions of one file in history, newest first, and the text that a receipt was made from.

Receipts carry a hash only. What they hashed is looked up among at most 500 versions of the path, through
renames, first in HEAD's history and then in everybody's.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from holdfast.git.repo import Repo
from holdfast.git.tracked import OFFLINE, stored
from holdfast.model.evidence import Span
from holdfast.model.spans.aligned import Alignment
from holdfast.model.spans.reading import Text
from holdfast.values import frozen

MAX_VERSIONS = 500
_FORMAT = "--format=%x01%H%x02%an%x02%as%x02%s"
_AT_ONCE = 25  # versions read through one process
_MAX_BYTES = 64 << 20  # read in all
_COMMITS = (300, 5000)  # in which the versions of many files are looked up together: at first, and then
_PATHS = 200  # names a git process is given on its command line
_MAX_PATHS = 1000


@frozen
class Version:
    """One commit's version of a file; no blob: it took the file away."""

    commit: str
    author: str
    day: str
    title: str
    path: str
    blob: str | None


@frozen
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
    seen: dict[str, Text] = {}
    histories = list(versions(repo, path))
    for search in (_search, _never_there):
        for is_elsewhere, known in enumerate(histories):
            if (found := search(repo, known, span, seen)) is not None:
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
    repo: Repo, known: Sequence[Version], span: Span, seen: dict[str, Text]
) -> tuple[int, Text, int, int] | None:
    """The newest version that holds a span: from where it stood as cited, followed to where it went."""
    passed: list[tuple[int, Text]] = []
    for at, text in _texts(repo, known, seen):
        if (place := text.own(span)) is None:
            passed.append((at, text))
            continue
        for newer, other in reversed(passed):
            if (went := Alignment(text.lines, other.lines).follow(*place)) is None:
                break
            at, text, place = newer, other, went
        return at, text, *place
    return None


def _never_there(
    repo: Repo, known: Sequence[Version], span: Span, seen: dict[str, Text]
) -> tuple[int, Text, int, int] | None:
    """The newest version with a text that was never committed where it was cited."""
    for at, text in _texts(repo, known, seen):
        if not text.is_beyond(span) and (place := text.place(span)) is not None:
            return at, text, *place
    return None


def sources(repo: Repo, spans: Iterable[Span]) -> dict[Span, tuple[Text, int, int]]:
    """For many spans at once the newest version in which each stands just as it was cited, and where."""
    waiting: dict[str, set[Span]] = {}
    for span in spans:
        waiting.setdefault(span.path, set()).add(span)
    found: dict[Span, tuple[Text, int, int]] = {}
    if not waiting or repo.head().oid is None:
        return found
    tried: set[tuple[str, str]] = set()
    for how, depth in (("HEAD", _COMMITS[0]), ("HEAD", _COMMITS[1]), ("--all", _COMMITS[1])):
        paths = [path for path, some in waiting.items() if some - found.keys()]
        blobs = _blobs(repo, paths, how, depth) if paths else {}
        fresh = {path: [b for b in some if (path, b) not in tried] for path, some in blobs.items()}
        tried |= {(path, blob) for path, some in blobs.items() for blob in some}
        for path, text in _read(repo, fresh, waiting, found):
            for span in waiting[path] - found.keys():
                if (place := text.own(span)) is not None:
                    found[span] = (text, *place)
    return found


def _blobs(repo: Repo, paths: Sequence[str], how: str, depth: int) -> dict[str, list[str]]:
    """The blobs of each path in so many commits of history, newest first."""
    blobs: dict[str, list[str]] = {}
    oldest = repo.text("rev-list", f"--skip={depth}", "-n", "1", "HEAD", ok=(0, 128))
    span = (how, f"^{oldest}") if oldest else (how,)  # without it git would walk all of history
    shape = ("--raw", "-z", "--no-abbrev", _FORMAT, "-m", "--no-renames")
    for some in (paths[at : at + _PATHS] for at in range(0, min(len(paths), _MAX_PATHS), _PATHS)):
        done = repo.attempt("--literal-pathspecs", "log", *shape, *span, "--", *some, environ=OFFLINE)
        for version in _parsed(done.stdout):
            if version.blob is not None:
                blobs.setdefault(version.path, []).append(version.blob)
    return {path: list(dict.fromkeys(some))[:MAX_VERSIONS] for path, some in blobs.items()}


def _read(
    repo: Repo, blobs: Mapping[str, Sequence[str]], waiting: Mapping[str, set[Span]], found: Mapping[Span, object]
) -> Iterator[tuple[str, Text]]:
    """The versions of many files, a few of each at a time, until all that is waited for was found."""
    start, size, total = 0, 4, 0
    while total <= _MAX_BYTES:
        rows = [
            (path, blob)
            for path, some in blobs.items()
            if path in waiting and waiting[path] - found.keys()
            for blob in some[start : start + size]
        ]
        if not rows:
            return
        for part in (rows[at : at + _AT_ONCE] for at in range(0, len(rows), _AT_ONCE)):
            data = stored(repo, [blob for _, blob in part])
            total += sum(map(len, data.values()))
            yield from ((path, Text(path, data[blob])) for path, blob in part if blob in data)
        start, size = start + size, size * 2


def _texts(repo: Repo, known: Sequence[Version], seen: dict[str, Text]) -> Iterator[tuple[int, Text]]:
    """Each version's text once, newest first, as long as they are few and small enough."""
    total, given = 0, set[str]()
    for start in range(0, len(known), _AT_ONCE):
        some = [(at, v, v.blob) for at, v in enumerate(known[start : start + _AT_ONCE], start) if v.blob]
        data = stored(repo, [blob for _, _, blob in some if blob not in seen])
        for at, version, blob in some:
            if blob not in seen and blob in data:
                seen[blob] = Text(version.path, data[blob])
            if blob in seen and blob not in given:
                given.add(blob)
                total += sum(map(len, seen[blob].lines))
                yield at, seen[blob]
        if total > _MAX_BYTES:
            return
