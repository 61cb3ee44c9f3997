"""Finds where a cited span is now: looks up the cited version in history and compares it with the present file.

Receipts carry the hash of a text. If that text is no longer where it was cited, it may have moved, with its function
or without, or its function may be written differently and still do the same (`model.spans.code_meaning`). Only the
cited version shows that; if git does not have it (a shallow clone, a text that was never committed), an equal text
counts if there is only one. A function that left its file is searched in the files of the commit that removed it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError
from holdfast.git import tracked_files
from holdfast.git.repo import Repo, raw_changes
from holdfast.git.tracked_files import OFFLINE, stored
from holdfast.model.evidence import Span, SymbolEvidence
from holdfast.model.spans.file_lines import LineAlignment, became, joined
from holdfast.model.spans.file_version import FileVersion
from holdfast.store import loose_records
from holdfast.values import frozen, grouped

if TYPE_CHECKING:
    from holdfast.git.clone import Clone
    from holdfast.model.spans.source_text import Symbol

# The numbers below are guesses that bound the cost of one command; docs/adr/0013 measures the result with them.
MAX_VERSIONS = 500  # of a path: years of a busy file
VERSION_FORMAT = "--format=%x01%H%x02%an%x02%as%x02%s"
AT_ONCE = 25  # versions read with one git process: the newest nearly always suffice
MAX_READ = 64 << 20  # bytes in all: more would take seconds
# The searches in turn: revisions, number of commits, and whether comparing texts suffices (else versions are parsed).
_SEARCHES = (("HEAD", 300, True), ("HEAD", 5000, True), ("--all", 5000, True), ("HEAD", 5000, False))
_PARSED = 40  # versions of a path that are parsed, which is slow
_PATHS = 200  # names on a command line, well below the limit of any system
_MAX_PATHS = 1000  # paths whose history is read, with five git processes
_TELLING = 3  # lines of a function: shorter ones are too often equal by chance
_DEPARTED = 100  # symbols searched in other files
_BETWEEN = 40  # versions of a path after the cited one
_OTHER_FILES = 200  # of one commit: a larger one is an import or a reformatting
_RECORD = "evidence.json"  # in the folder of `last_seen`
_RULES = "2"  # change it when the rules change: stored verdicts are then computed again
_MOST_KEPT = 20_000  # verdicts: less than a megabyte

Standing = tuple[FileVersion, int, int]


@frozen
class CommittedVersion:
    """One commit's version of a file; no blob: the commit deleted the file."""

    commit: str
    author: str
    day: str
    title: str
    path: str
    blob: str | None


def holding(clone: Clone, lost: Mapping[Span, Sequence[FileVersion]], *, committed: bool) -> set[Span]:
    """Returns the spans that did not change (see `follow`), and stores the verdicts for the next command.

    A verdict depends on the receipt and the file's text; if no cited version or no such name was found, also on HEAD.
    """
    path = os.path.join(clone.layout.seen, _RECORD)
    kept = loose_records.read(path) if lost else {}
    keys = {span: _key(str(span), *(joined(text.lines) for text in texts)) for span, texts in lost.items()}
    heads = {span: _key(key, clone.repo.head().oid or "") for span, key in keys.items()}
    known = {span: kept.get(keys[span], kept.get(heads[span])) for span in lost}
    unknown = {span: texts for span, texts in lost.items() if not isinstance(known[span], bool)}
    if unknown:
        found, settled = _followed(clone.repo, unknown, committed=committed)
        known |= {span: span in found for span in unknown}
        fresh = {(keys if span in settled else heads)[span]: span in found for span in unknown}
        with contextlib.suppress(HoldfastError, OSError):
            loose_records.keep(path, dict(list({**kept, **fresh}.items())[-_MOST_KEPT:]))
    return {span for span, holds in known.items() if holds}


def _key(*parts: str | bytes) -> str:
    """Returns a hash as the key of a verdict: a receipt names a file, and file names may be secret."""
    rows = (part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass") for part in (_RULES, *parts))
    return hashlib.sha256(b"\0".join(rows)).hexdigest()[:32]


def follow(repo: Repo, lost: Mapping[Span, Sequence[FileVersion]]) -> dict[Span, Standing]:
    """Returns where spans are now that these versions of their file do not have as cited, if they did not change."""
    return _followed(repo, lost, committed=False)[0]


def _followed(
    repo: Repo, lost: Mapping[Span, Sequence[FileVersion]], *, committed: bool
) -> tuple[dict[Span, Standing], set[Span]]:
    """Returns where spans are now, and the spans whose verdict depends only on the texts."""
    known = sources(repo, lost)
    aligned: dict[tuple[int, int], LineAlignment] = {}
    found: dict[Span, Standing] = {}
    departed: dict[Span, SpanSource] = {}
    for span, texts in lost.items():
        source = known.get(span)
        for text in texts:
            place = _moved(span, source, text, aligned) or (rewritten(span, source, text) if source else None)
            if place is not None:
                found.setdefault(span, (text, *place))
        if source is not None and span not in found and not any(_is_there(span, source, text) for text in texts):
            departed[span] = source
    settled = known.keys() - departed.keys()
    return found | (_elsewhere(repo, departed, committed=committed) if departed else {}), settled


def _moved(
    span: Span, source: SpanSource | None, text: FileVersion, aligned: dict[tuple[int, int], LineAlignment]
) -> tuple[int, int] | None:
    """Returns where the same text moved to in its file. A copy alone is no proof: it may have been there before."""
    is_beyond = text.is_beyond(span)
    copies = [] if is_beyond else text.copies(span)
    if source is None:
        return copies[0] if len(copies) == 1 else None
    if not copies and not is_beyond:
        return None
    both = aligned.setdefault((id(source.text), id(text)), LineAlignment(source.text.lines, text.lines))
    return both.follow(source.first, source.last)


def _subject(span: Span, source: SpanSource) -> Symbol | None:
    """Returns the symbol that a span cites, or that encloses its lines."""
    if isinstance(span, SymbolEvidence):
        same = source.text.called(span.name)
        return next((one for one in same if (one.first, one.last) == (source.first, source.last)), None)
    return source.text.enclosing(source.first, source.last)


def rewritten(span: Span, source: SpanSource, text: FileVersion) -> tuple[int, int] | None:
    """Returns where the cited code is, written differently; cited lines hold if their function does the same."""
    old, first, last = source.text, source.first, source.last
    subject = _subject(span, source)
    now = counterpart(old, subject, text) if subject else None
    if isinstance(span, SymbolEvidence):
        return (now.first, now.last) if now else None
    if subject is not None and not old.code_in(subject, first, last):  # a comment: it was cited for its words
        return None
    region = became(old.lines, first, last, text.lines)
    if now is not None:
        return region if region and now.first <= region[0] <= region[1] <= now.last else (now.first, now.last)
    if region is None or (code := old.meaning(first, last)) is None or not code:
        return None
    around = text.enclosing(*region)
    is_home = around is subject is None or (around and subject and around.name == subject.name)
    return region if is_home and text.meaning(*region) == code else None


def counterpart(old: FileVersion, symbol: Symbol, new: FileVersion) -> Symbol | None:
    """Returns the symbol of a newer version that does the same as one of an older version; None if none or several do.

    If the name still exists, only symbols of that name count; else only symbols that were not there before.
    """
    place = (symbol.first, symbol.last)
    code = old.meaning(*place)
    if code is None:
        return None
    if same := new.called(symbol.name):
        equal = [one for one in same if new.meaning(one.first, one.last) == code]
        before = [one for one in old.called(symbol.name) if old.meaning(one.first, one.last) == code]
        return min(equal, key=lambda one: abs(one.first - symbol.first)) if len(equal) >= max(1, len(before)) else None
    known = {one.name for one in old.symbols or ()}
    fresh = [one for one in new.symbols or () if one.name not in known and _is_heir(old, symbol, new, one)]
    return fresh[0] if len(fresh) == 1 else None


def _is_heir(old: FileVersion, symbol: Symbol, new: FileVersion, other: Symbol) -> bool:
    """Returns whether a symbol of another name does the same, apart from its name."""
    leaf, leaf_now = (one.name.rpartition(".")[2] for one in (symbol, other))
    if leaf != leaf_now and symbol.last - symbol.first + 1 < _TELLING:
        return False
    return new.meaning(other.first, other.last, own=leaf_now) == old.meaning(symbol.first, symbol.last, own=leaf)


def _is_there(span: Span, source: SpanSource, text: FileVersion) -> bool:
    """Returns whether a version still has the name of the cited symbol, whatever the symbol does."""
    subject = _subject(span, source)
    return subject is None or bool(text.called(subject.name))


def _elsewhere(repo: Repo, departed: Mapping[Span, SpanSource], *, committed: bool) -> dict[Span, Standing]:
    """Returns where symbols are now that moved to another file."""
    left = _departures(repo, dict(list(departed.items())[:_DEPARTED]))
    commits = "".join(f"{commit}\n" for commit in dict.fromkeys(left.values())).encode("ascii")
    if not commits:
        return {}
    shape = ("--stdin", "-r", "-m", "--root", "--no-renames", "--raw", "-z", "--no-abbrev", "--format=%x01%H")
    rows = list(raw_changes(repo.attempt("diff-tree", *shape, stdin=commits, environ=OFFLINE).stdout))
    changes = grouped((commit, (path, before, after)) for commit, path, before, after in rows if after)
    changes = {commit: some for commit, some in changes.items() if len(some) <= _OTHER_FILES}
    data = stored(repo, [blob for some in changes.values() for _, *blobs in some for blob in blobs if blob])
    found: dict[Span, Standing] = {}
    for span, commit in left.items():
        symbol = _subject(span, departed[span])
        for path, before, after in changes.get(commit, ()) if symbol else ():
            if symbol is None or path == span.path or not _mentions(data.get(after, b""), symbol):
                continue
            old, new = FileVersion(path, data.get(before or "", b"")), FileVersion(path, data[after])
            if (heir := _arrived(departed[span].text, symbol, old, new)) is not None:
                for text in _current(repo, path, committed=committed):
                    if span not in found and (now := counterpart(new, heir, text)) is not None:
                        found[span] = (text, now.first, now.last)
    return found


def _departures(repo: Repo, departed: Mapping[Span, SpanSource]) -> dict[Span, str]:
    """Returns the commit with which each symbol left its file."""
    between = {span: source.newer[::-1][:_BETWEEN] for span, source in departed.items()}
    data = stored(repo, [version.blob for some in between.values() for version in some if version.blob])
    read: dict[tuple[str, str], FileVersion] = {}
    found: dict[Span, str] = {}
    for span, some in between.items():
        for version in some:
            blob = version.blob
            if blob is not None and blob not in data:
                continue
            key = (version.path, blob or "")
            text = read.setdefault(key, FileVersion(version.path, data[blob] if blob else b""))
            if not _is_there(span, departed[span], text):
                found[span] = version.commit
                break
    return found


def _mentions(data: bytes, symbol: Symbol) -> bool:
    return symbol.name.rpartition(".")[2].lower().encode() in data.lower()


def _arrived(source: FileVersion, symbol: Symbol, old: FileVersion, new: FileVersion) -> Symbol | None:
    """Returns the symbol that appeared in another file when one left its own: the same name, and doing the same."""
    leaf = symbol.name.rpartition(".")[2].lower()
    fresh = [one for one in new.symbols or () if one.name.rpartition(".")[2].lower() == leaf]
    fresh = [one for one in fresh if not old.called(one.name) and _is_heir(source, symbol, new, one)]
    fresh = [one for one in fresh if one.name == symbol.name] or fresh
    return fresh[0] if len(fresh) == 1 and source.meaning(symbol.first, symbol.last) is not None else None


def _current(repo: Repo, path: str, *, committed: bool) -> Iterator[FileVersion]:
    """Yields the present versions of another file: in the work tree, the index and HEAD, or only `committed`."""
    place = tracked_files.places(repo, [path]).get(path)
    if place is None:
        return
    if not committed or place.held.head is None:
        yield from tracked_files.texts(repo, place)
        return
    yield from (FileVersion(place.path, data) for data in stored(repo, [place.held.head]).values())


def parsed_versions(out: bytes) -> Iterator[CommittedVersion]:
    for header, path, _, blob in raw_changes(out):
        commit, author, day, title = (header.split("\x02", 3) + [""] * 4)[:4]
        yield CommittedVersion(commit, author, day, title, path, blob)


@frozen
class SpanSource:
    """The newest version that has a span exactly as cited, its lines there, and the newer versions of the path."""

    text: FileVersion
    first: int
    last: int
    newer: tuple[CommittedVersion, ...] = ()  # newest first


def sources(repo: Repo, spans: Iterable[Span]) -> dict[Span, SpanSource]:
    """Returns the cited version of each span, as far as git has it."""
    waiting = {path: set(some) for path, some in grouped((span.path, span) for span in spans).items()}
    found: dict[Span, SpanSource] = {}
    if not waiting or repo.head().oid is None:
        return found
    tried: set[tuple[str, str]] = set()
    as_before: dict[Span, SpanSource] = {}
    for how, depth, quick in _SEARCHES:
        paths = [path for path, some in waiting.items() if some - found.keys()]
        known = _many_versions(repo, paths, how, depth) if paths else {}
        blobs = {path: list(dict.fromkeys(v.blob for v in some if v.blob)) for path, some in known.items()}
        tried, most = (tried, MAX_VERSIONS) if quick else (set(), _PARSED)
        fresh = {path: [b for b in some if (path, b) not in tried][:most] for path, some in blobs.items()}
        tried |= {(path, blob) for path, some in blobs.items() for blob in some}
        for path, blob, text in _read(repo, fresh, waiting, found):
            for span in waiting[path] - found.keys():
                at = next(n for n, version in enumerate(known[path]) if version.blob == blob)
                if (place := text.own(span, quick=quick)) is not None:
                    found[span] = SpanSource(text, *place, tuple(known[path][:at]))
                elif not quick and span not in as_before and (place := text.own_as_before(span)) is not None:
                    as_before[span] = SpanSource(text, *place, tuple(known[path][:at]))
    return as_before | found


def _many_versions(repo: Repo, paths: Sequence[str], how: str, depth: int) -> dict[str, list[CommittedVersion]]:
    """Returns the versions of each path in the newest `depth` commits, newest first."""
    found: list[CommittedVersion] = []
    oldest = repo.text("rev-list", f"--skip={depth}", "-n", "1", "HEAD", ok=(0, 128))
    span = (how, f"^{oldest}") if oldest else (how,)  # without a limit git would walk the whole history
    shape = ("--raw", "-z", "--no-abbrev", VERSION_FORMAT, "-m", "--no-renames")
    for some in (paths[at : at + _PATHS] for at in range(0, min(len(paths), _MAX_PATHS), _PATHS)):
        done = repo.attempt("--literal-pathspecs", "log", *shape, *span, "--", *some, environ=OFFLINE)
        found += parsed_versions(done.stdout)
    return grouped((version.path, version) for version in found)


def _read(
    repo: Repo, blobs: Mapping[str, Sequence[str]], waiting: Mapping[str, set[Span]], found: Mapping[Span, object]
) -> Iterator[tuple[str, str, FileVersion]]:
    """Yields the versions of many files, a few of each at a time, until all waiting spans were found."""
    # Four versions of each file at first, then twice as many each time: most spans changed only recently.
    start, size, total = 0, 4, 0
    while total <= MAX_READ:
        rows = [
            (path, blob)
            for path, some in blobs.items()
            if path in waiting and waiting[path] - found.keys()
            for blob in some[start : start + size]
        ]
        if not rows:
            return
        for part in (rows[at : at + AT_ONCE] for at in range(0, len(rows), AT_ONCE)):
            data = stored(repo, [blob for _, blob in part])
            total += sum(map(len, data.values()))
            yield from ((path, blob, FileVersion(path, data[blob])) for path, blob in part if blob in data)
        start, size = start + size, size * 2
