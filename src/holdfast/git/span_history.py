"""Shows what happened to a cited span: the diff that made it stale, where it is now, and its new receipt.

Receipts carry only a hash. The hashed text is searched in at most 500 versions of the path, newest first and
through renames, in HEAD's history and then in that of all branches. If history does not have it (a shallow clone,
a text that was never committed), nothing is guessed: there is no diff to show.
"""

from collections.abc import Iterable, Iterator, Sequence

from holdfast.git import span_following
from holdfast.git.cited_commits import commit_anchors
from holdfast.git.clone import Clone
from holdfast.git.repo import Repo
from holdfast.git.tracked_files import OFFLINE, TrackedPlace, places, stored, texts
from holdfast.model import evidence
from holdfast.model.evidence import CommitEvidence, FileEvidence, LinesEvidence, RunEvidence, Span, SymbolEvidence
from holdfast.model.spans.file_lines import LineAlignment, became, difference, is_binary, lines_of
from holdfast.model.spans.file_version import FileVersion
from holdfast.model.text import visible
from holdfast.values import frozen


@frozen
class SpanOrigin:
    """The newest version that has the cited text, and its lines there."""

    text: FileVersion
    first: int
    last: int
    version: span_following.CommittedVersion
    changed: span_following.CommittedVersion | None  # the next commit in HEAD's history that changed the file
    is_elsewhere: bool  # the version is not in HEAD's history

    @property
    def lines(self) -> Sequence[bytes]:
        return self.text.lines[self.first - 1 : self.last]


def versions(repo: Repo, path: str) -> Iterator[list[span_following.CommittedVersion]]:
    """Yields the versions of a path: in HEAD's history and through renames; then those of all branches."""
    if repo.head().oid is None:
        return
    shape = (
        "--raw",
        "-z",
        "--no-abbrev",
        f"-n{span_following.MAX_VERSIONS}",
        "--encoding=UTF-8",
        span_following.VERSION_FORMAT,
    )
    for how in (("--follow", "-M", "HEAD"), ("--full-history", "-m", "--no-renames", "--all")):
        done = repo.attempt("--literal-pathspecs", "log", *shape, *how, "--", path, environ=OFFLINE)
        yield list(span_following.parsed_versions(done.stdout))[: span_following.MAX_VERSIONS]


def origin(repo: Repo, paths: Iterable[str], span: Span) -> SpanOrigin | None:
    """Returns the newest version of a path that has a cited span; None if git finds none."""
    found = (_origin(repo, path, span) for path in dict.fromkeys(paths))
    return next((one for one in found if one is not None), None)


def _origin(repo: Repo, path: str, span: Span) -> SpanOrigin | None:
    seen: dict[str, FileVersion] = {}
    histories = list(versions(repo, path))
    for search in (_search, _search_anywhere):
        for is_elsewhere, known in enumerate(histories):
            if (found := search(_texts(repo, known, seen), span)) is not None:
                at, text, first, last = found
                changed = known[at - 1] if at and not is_elsewhere else None
                return SpanOrigin(text, first, last, known[at], changed, bool(is_elsewhere))
    return None


def changer(
    repo: Repo, path: str, blob: str
) -> tuple[span_following.CommittedVersion, span_following.CommittedVersion | None, bool] | None:
    """Returns the newest version with a blob, the commit after it, and whether it is outside HEAD's history."""
    for is_elsewhere, known in enumerate(versions(repo, path)):
        for at, version in enumerate(known):
            if version.blob == blob:
                return version, known[at - 1] if at and not is_elsewhere else None, bool(is_elsewhere)
    return None


def _search(texts: Iterator[tuple[int, FileVersion]], span: Span) -> tuple[int, FileVersion, int, int] | None:
    """Returns the newest version that has a span: found where it was as cited, then followed to newer versions."""
    passed: list[tuple[int, FileVersion]] = []
    for at, text in texts:
        if (place := text.own(span)) is None:
            passed.append((at, text))
            continue
        for newer, other in reversed(passed):
            went = LineAlignment(text.lines, other.lines).follow(*place)
            if went and isinstance(span, SymbolEvidence) and not other.is_symbol(*went):
                went = None  # the text is there, below an annotation that was not cited
            if (went := went or span_following.rewritten(span, span_following.SpanSource(text, *place), other)) is None:
                break
            at, text, place = newer, other, went
        return at, text, *place
    return None


def _search_anywhere(texts: Iterator[tuple[int, FileVersion]], span: Span) -> tuple[int, FileVersion, int, int] | None:
    """Returns the newest version with a text that was never committed at the cited lines."""
    for at, text in texts:
        if not text.is_beyond(span) and (place := text.place(span)) is not None:
            return at, text, *place
    return None


def _texts(
    repo: Repo, known: Sequence[span_following.CommittedVersion], seen: dict[str, FileVersion]
) -> Iterator[tuple[int, FileVersion]]:
    """Yields each version's text once, newest first, up to a limit of bytes."""
    total, done = 0, set[str]()
    for start in range(0, len(known), span_following.AT_ONCE):
        some = [(at, v, v.blob) for at, v in enumerate(known[start : start + span_following.AT_ONCE], start) if v.blob]
        data = stored(repo, [blob for _, _, blob in some if blob not in seen])
        for at, version, blob in some:
            if blob not in seen and blob in data:
                seen[blob] = FileVersion(version.path, data[blob])
            if blob in seen and blob not in done:
                done.add(blob)
                total += sum(map(len, seen[blob].lines))
                yield at, seen[blob]
        if total > span_following.MAX_READ:
            return


@frozen
class SpanLocation:
    """Where the cited text is now; lines counted from 1."""

    path: str
    first: int
    last: int


def what_changed(clone: Clone, cited: str) -> tuple[str, ...]:
    """Returns the unified diff from the cited text to the present one, after a line that names who changed it.

    Empty if nothing changed, or if git finds no version with the cited text.
    """
    match evidence.parse_evidence(cited):
        case RunEvidence() | CommitEvidence():
            return ()
        case FileEvidence() as whole:
            return _whole_changed(clone.repo, whole)
        case span:
            return _span_changed(clone.repo, span)


def recite(clone: Clone, cited: str) -> str | None:
    """Returns the receipt for the same thing as it is now; None if it is gone or cannot be determined."""
    match evidence.parse_evidence(cited):
        case RunEvidence():
            return cited
        case CommitEvidence(oid=oid):
            now = commit_anchors.resolve(clone, [oid])[oid].commit
            return cited if now is None else str(CommitEvidence(now))
        case FileEvidence(path=path):
            place = places(clone.repo, [path]).get(path)
            return str(FileEvidence(place.path, place.held.blob)) if place and place.held.blob else None
        case span:
            return _recited(clone.repo, span)


def where(clone: Clone, cited: str) -> SpanLocation | None:
    """Returns where the cited text is now, changed or not; None if it is gone or not part of a file."""
    receipt = evidence.parse_evidence(cited)
    if isinstance(receipt, RunEvidence | CommitEvidence):
        return None
    place = places(clone.repo, [receipt.path]).get(receipt.path)
    if isinstance(receipt, FileEvidence):
        text = next(texts(clone.repo, place), None) if place else None
        return SpanLocation(text.path, 1, max(1, len(text.lines))) if text else None
    standing = _standing(clone.repo, place, receipt)
    return SpanLocation(standing[0].path, standing[1], standing[2]) if standing else None


def _standing(repo: Repo, place: TrackedPlace | None, span: Span) -> tuple[FileVersion, int, int] | None:
    """Returns the text that has a span, and its lines there; if it changed, the lines that replaced it."""
    read = list(texts(repo, place)) if place else []
    if (now := _holding(repo, span, read)) is not None or not read:
        return now
    source = origin(repo, ([place.path] if place else []) + [span.path], span)
    if source is not None or isinstance(span, SymbolEvidence):
        return _now(source, span, read[0])
    copies = read[0].copies(span)
    return (read[0], *copies[0]) if len(copies) == 1 else None


def _holding(repo: Repo, span: Span, read: Sequence[FileVersion]) -> tuple[FileVersion, int, int] | None:
    """Returns where a span is as cited, moved, or written differently; None if it changed."""
    own = next(((text, *lines) for text in read if (lines := text.own(span))), None)
    return own or span_following.follow(repo, {span: read}).get(span)


def _recited(repo: Repo, span: Span) -> str | None:
    place = places(repo, [span.path]).get(span.path)
    if (standing := _standing(repo, place, span)) is None:
        return None
    text, first, last = standing
    digest = text.hash(first, last, size=len(span.hash))
    if isinstance(span, SymbolEvidence):
        return str(SymbolEvidence(text.path, text.name_at(first, last, span.name), digest))
    return str(LinesEvidence(text.path, first, last, digest))


def _span_changed(repo: Repo, span: Span) -> tuple[str, ...]:
    place = places(repo, [span.path]).get(span.path)
    read = list(texts(repo, place)) if place else []
    if _holding(repo, span, read) is not None:
        return ()
    if (source := origin(repo, ([place.path] if place else []) + [span.path], span)) is None:
        return ()
    old = source.lines
    now = _now(source, span, read[0]) if read else None
    new = now[0].lines[now[1] - 1 : now[2]] if now else []
    before = f"{visible(source.text.path)}:{source.first}-{source.last}"
    after = f"{visible(now[0].path)}:{now[1]}-{now[2]}" if now else "gone"
    headline = _headline(source.version, source.changed, source.is_elsewhere)
    return (headline, *difference(old, new, names=(before, after)))


def _now(source: SpanOrigin | None, span: Span, text: FileVersion) -> tuple[FileVersion, int, int] | None:
    """Returns what replaced a span in a text: the symbol of its name, or the lines that its lines became."""
    if isinstance(span, SymbolEvidence):
        symbol = text.named(span)
        return (text, symbol.first, symbol.last) if symbol else None
    place = became(source.text.lines, source.first, source.last, text.lines) if source else None
    return (text, *place) if place else None


def _whole_changed(repo: Repo, whole: FileEvidence) -> tuple[str, ...]:
    place = places(repo, [whole.path]).get(whole.path)
    blob = place.held.blob if place else None
    if place is not None and whole.blob in place.held.blobs:
        return ()
    data = stored(repo, [whole.blob, *([blob] if blob else [])])
    if whole.blob not in data or (blob is not None and blob not in data):
        return ()
    made = (place and changer(repo, place.path, whole.blob)) or changer(repo, whole.path, whole.blob)
    headline = _headline(*made) if made else "no commit that can be reached has the cited text"
    old, new = data[whole.blob], data[blob] if blob else b""
    after = visible(place.path) if place else "gone"
    if is_binary(old) or is_binary(new):
        return (headline, f"--- {visible(whole.path)}", f"+++ {after}", "the content is not text")
    rows = difference(lines_of(old), lines_of(new), names=(visible(whole.path), after))
    return (headline, *rows) if rows else (headline, "only blanks at the ends of lines differ")


def _headline(
    version: span_following.CommittedVersion, changed: span_following.CommittedVersion | None, is_elsewhere: bool
) -> str:
    """Returns one line that names who changed it; without a commit, it was changed in this work tree."""
    if is_elsewhere:
        return f"the cited text is {_commit(version)}"
    if changed is None:
        return "changed here, not committed"
    return f"{'changed' if changed.blob else 'deleted'} {_commit(changed)}"


def _commit(version: span_following.CommittedVersion) -> str:
    by, title = visible(version.author), visible(version.title)
    return f"in {version.commit[:12]} by {by} on {version.day}: {title}"
