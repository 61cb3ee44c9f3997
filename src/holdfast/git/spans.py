"""What became of a cited span: the difference that made it stale, where it stands, the receipt for it now.

The old text is in git's history (`git.versions`), never in a receipt. Where history does not hold it any more
(a shallow clone, a text that was never committed), nothing is guessed: there is no difference to show.
"""

from collections.abc import Sequence

from holdfast.git.clone import Clone
from holdfast.git.repo import Repo
from holdfast.git.rewritten import anchors
from holdfast.git.tracked import Place, places, stored, texts
from holdfast.git.versions import Origin, Version, changer, origin
from holdfast.model.evidence import (
    CommitEvidence,
    FileEvidence,
    LinesEvidence,
    RunEvidence,
    Span,
    SymbolEvidence,
    parse,
)
from holdfast.model.spans.aligned import Alignment, became, difference
from holdfast.model.spans.reading import Text
from holdfast.model.spans.text import is_binary, lines_of
from holdfast.model.text import visible
from holdfast.values import frozen


@frozen
class Where:
    """Where something cited stands now; lines counted from 1."""

    path: str
    first: int
    last: int


def what_changed(clone: Clone, cited: str) -> tuple[str, ...]:
    """The unified diff from what was cited to what stands there now, below a line that says who changed it.

    Empty if nothing changed, or if no version that git reaches holds the cited text.
    """
    match parse(cited):
        case RunEvidence() | CommitEvidence():
            return ()
        case FileEvidence() as whole:
            return _whole_changed(clone.repo, whole)
        case span:
            return _span_changed(clone.repo, span)


def recite(clone: Clone, cited: str) -> str | None:
    """The receipt for the same thing as it is now; None if it is gone or cannot be told."""
    match parse(cited):
        case RunEvidence():
            return cited
        case CommitEvidence(oid=oid):
            now = anchors.resolve(clone, [oid])[oid].commit
            return cited if now is None else str(CommitEvidence(now))
        case FileEvidence(path=path):
            place = places(clone.repo, [path]).get(path)
            return str(FileEvidence(place.path, place.held.blob)) if place and place.held.blob else None
        case span:
            return _recited(clone.repo, span)


def where(clone: Clone, cited: str) -> Where | None:
    """Where what was cited stands now, changed or not; None if it is gone or no part of a file."""
    receipt = parse(cited)
    if isinstance(receipt, RunEvidence | CommitEvidence):
        return None
    place = places(clone.repo, [receipt.path]).get(receipt.path)
    if place is None:
        return None
    if isinstance(receipt, FileEvidence):
        text = next(texts(clone.repo, place), None)
        return Where(place.path, 1, max(1, len(text.lines))) if text else None
    standing = _standing(clone.repo, place, receipt)
    return Where(place.path, standing[1], standing[2]) if standing else None


def _standing(repo: Repo, place: Place, span: Span) -> tuple[Text, int, int] | None:
    """The text in which a span stands, and its lines there; if it changed, those that took its place."""
    read = list(texts(repo, place))
    for text in read:
        if (found := text.own(span)) is not None:
            return text, *found
    if not read:
        return None
    source = origin(repo, (place.path, span.path), span)
    if source is not None and (went := _went(source, read)) is not None:
        return went
    if isinstance(span, SymbolEvidence):
        symbol = read[0].named(span)
        return (read[0], symbol.first, symbol.last) if symbol else None
    if source is not None:
        return _after(source, read[0])
    copies = read[0].copies(span)
    return (read[0], *copies[0]) if len(copies) == 1 else None


def _went(source: Origin, read: Sequence[Text]) -> tuple[Text, int, int] | None:
    """Where the cited text moved to in the first of these versions that still has it."""
    for text in read:
        if (place := Alignment(source.text.lines, text.lines).follow(source.first, source.last)) is not None:
            return text, *place
    return None


def _after(source: Origin, now: Text) -> tuple[Text, int, int] | None:
    span = became(source.text.lines, source.first, source.last, now.lines)
    return (now, *span) if span else None


def _recited(repo: Repo, span: Span) -> str | None:
    place = places(repo, [span.path]).get(span.path)
    standing = _standing(repo, place, span) if place else None
    if place is None or standing is None:
        return None
    text, first, last = standing
    digest = text.hash(first, last, size=len(span.hash))
    if isinstance(span, SymbolEvidence):
        return str(SymbolEvidence(place.path, span.name, digest))
    return str(LinesEvidence(place.path, first, last, digest))


def _span_changed(repo: Repo, span: Span) -> tuple[str, ...]:
    place = places(repo, [span.path]).get(span.path)
    read = list(texts(repo, place)) if place else []
    if any(text.own(span) for text in read):
        return ()
    source = origin(repo, ([place.path] if place else []) + [span.path], span)
    if source is None or _went(source, read) is not None:
        return ()
    old = source.lines
    now = _now(source, span, read[0]) if read else None
    new = now[0].lines[now[1] - 1 : now[2]] if now else []
    before = f"{visible(source.text.path)}:{source.first}-{source.last}"
    after = f"{visible(now[0].path)}:{now[1]}-{now[2]}" if now else "gone"
    said = _said(source.version, source.changed, source.is_elsewhere)
    return (said, *difference(old, new, names=(before, after)))


def _now(source: Origin, span: Span, text: Text) -> tuple[Text, int, int] | None:
    if isinstance(span, SymbolEvidence):
        symbol = text.named(span)
        return (text, symbol.first, symbol.last) if symbol else None
    return _after(source, text)


def _whole_changed(repo: Repo, whole: FileEvidence) -> tuple[str, ...]:
    place = places(repo, [whole.path]).get(whole.path)
    blob = place.held.blob if place else None
    if place is not None and whole.blob in place.held.blobs:
        return ()
    data = stored(repo, [whole.blob, *([blob] if blob else [])])
    if whole.blob not in data or (blob is not None and blob not in data):
        return ()
    made = (place and changer(repo, place.path, whole.blob)) or changer(repo, whole.path, whole.blob)
    said = _said(*made) if made else "no commit that can be reached holds what was cited"
    old, new = data[whole.blob], data[blob] if blob else b""
    after = visible(place.path) if place else "gone"
    if is_binary(old) or is_binary(new):
        return (said, f"--- {visible(whole.path)}", f"+++ {after}", "the content is not text")
    rows = difference(lines_of(old), lines_of(new), names=(visible(whole.path), after))
    return (said, *rows) if rows else (said, "only blanks at the ends of lines differ")


def _said(version: Version, changed: Version | None, is_elsewhere: bool) -> str:
    """Who changed it, as one line; without a commit it was changed in this work tree."""
    if is_elsewhere:
        return f"the cited text stands {_commit(version)}"
    if changed is None:
        return "changed here, not committed"
    return f"{'changed' if changed.blob else 'deleted'} {_commit(changed)}"


def _commit(version: Version) -> str:
    by, title = visible(version.author), visible(version.title)
    return f"in {version.commit[:12]} by {by} on {version.day}: {title}"
