"""Turns citations that a person typed into receipts, and checks receipts against this clone.

A run must be in the log, a commit must exist, a path must be tracked, its lines or symbol must be there.
A citation that cannot be looked up is refused: otherwise a memory would seem better supported than it is.
Spans are followed when they move within their file and when the file is renamed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from holdfast.errors import Ambiguous, BadInput, NotFound, TooLarge
from holdfast.git import span_following, tracked_files
from holdfast.git.cited_commits import commit_anchors, commit_details
from holdfast.git.clone import Clone
from holdfast.git.repo import Repo
from holdfast.model import evidence as model_evidence
from holdfast.model.evidence import (
    CommitEvidence,
    Evidence,
    FileEvidence,
    LinesEvidence,
    RunEvidence,
    Span,
    SymbolEvidence,
)
from holdfast.model.ids import is_id
from holdfast.model.spans.file_version import FileVersion
from holdfast.model.text import visible
from holdfast.patterns import regex
from holdfast.values import frozen, grouped

if TYPE_CHECKING:
    from holdfast.git.tracked_files import Tracked, TrackedPlace

State = Literal["holds", "changed", "gone", "unanchored"]

_HELD = "held 2"  # change the number when the rules change: cached verdicts are then computed again
_AT_ONCE = 64  # files read from git together; a guess: few processes, without holding all files in memory
_HINT = (
    "Name a run id (`holdfast log`), a commit, or a tracked file, path:10-20, path#name; "
    "paths are relative to this folder or to the repository's top."
)
_LINES = regex(r"(?P<path>.+)(?::|#(?=L))L?(?P<first>\d{1,9})(?:C\d+)?(?:-L?(?P<last>\d{1,9})(?:C\d+)?)?", re.S)
_SHORTEST = 4  # characters that may stand for a run id: as short as git's shortest abbreviation of a commit


def resolve(clone: Clone, citation: str) -> Evidence:
    """Returns the receipt for a citation: a run id or its beginning, a commit, a tracked file or a part of one.

    A part is `path:10-20` (`path#L10-L20`) or `path#name`; the path alone is the whole file. A prefix `run:`,
    `commit:`, `file:`, `lines:` or `symbol:` selects the kind. A receipt given as citation must still hold.
    """
    return resolve_all(clone, [citation])[0]


def resolve_all(clone: Clone, citations: Iterable[str]) -> list[Evidence]:
    """Returns the receipts for several citations."""
    return [_resolve(clone, citation) for citation in citations]


def resolve_evidence(clone: Clone, citations: Iterable[str]) -> list[Evidence]:
    """Returns the receipts for a memory: for cited lines, also a receipt of the function around them.

    What lines do depends on the code around them, and only a receipt of the function shows whether that changed.
    """
    found: list[Evidence] = []
    for citation in citations:
        found.append(one := _resolve(clone, citation))
        if isinstance(one, LinesEvidence) and not citation.strip().endswith(one.hash):
            place = tracked_files.TrackedPlace(one.path, tracked_files.tracked(clone.repo, [one.path])[one.path])
            around = _text(clone.repo, place).cite_function(one.first, one.last, size=len(one.hash))
            found += [around] if around else []
    return found


def from_folder(clone: Clone, folder: str, citation: str) -> str:
    """Returns a citation for `resolve`, with a path relative to `folder` made relative to the repository.

    A tracked file in the folder takes precedence over one of the same name at the repository's top.
    """
    kind, colon, rest = citation.partition(":")
    named = rest if kind in ("file", "lines", "symbol") and colon else citation
    top, start = os.path.realpath(clone.repo.top), os.path.realpath(folder)
    if start == top or os.path.isabs(named) or (colon and kind in ("run", "commit")):
        return citation
    paths = {one: os.path.relpath(os.path.join(start, one.path), top) for one in _readings(named)}
    seen = {one: tracked_files.spelled(clone.repo, path.replace(os.sep, "/")) for one, path in paths.items()}
    known = tracked_files.tracked(clone.repo, seen.values())
    one = next((one for one, path in seen.items() if path in known and _may_be(kind, colon, one)), None)
    if one is None:
        return citation
    if kind not in ("file", "lines", "symbol") and (others := _commits(clone, named)):
        raise _several(named, [*others, *_files(clone, f"{seen[one]}{one.rest}")])
    return f"{one.kind}:{seen[one]}{one.rest}"


@frozen
class _Reading:
    """One way to read a typed citation: a path and the cited part of it."""

    kind: str  # file, lines, symbol
    path: str
    rest: str = ""  # what follows the path, as typed
    first: int = 0
    last: int = 0
    name: str = ""
    hash: str = ""


def _readings(typed: str) -> Iterator[_Reading]:
    """Yields the ways to read a citation of a file: first the whole text as a path, then a path with a part."""
    yield _Reading("file", typed)
    place, at, digest = typed.rpartition("@")
    known = digest if at and model_evidence.is_oid(digest) else ""
    text = place if known else typed
    if known:
        yield _Reading("file", place, f"@{known}", hash=known)
    if found := _LINES.fullmatch(text):
        first, path = int(found["first"]), found["path"]
        last = int(found["last"] or first)
        yield _Reading("lines", path, f":{first}-{last}{at if known else ''}{known}", first, last, hash=known)
    # A guess: 32 marks. Each is a path to look up, and real citations have one or two.
    for mark in reversed([m.start() for m in re.finditer("#", text)][:32]):
        if mark and text[mark + 1 :].strip("# "):
            yield _Reading("symbol", text[:mark], typed[mark:], name=text[mark + 1 :], hash=known)


def _may_be(kind: str, colon: str, one: _Reading) -> bool:
    """Returns whether the prefix before the colon allows this reading; `file:` allows a part of a file, too."""
    return not colon or kind not in ("lines", "symbol") or one.kind == kind


def _known_runs(clone: Clone, runs: Collection[str]) -> set[str]:
    """Returns the runs among these that the log names."""
    found = clone.find_events("all", runs=runs) if runs else ()
    return {event.run_id for event in found if event.run_id is not None}


def _runs(clone: Clone, text: str) -> list[Evidence]:
    if not is_id(text):
        return []
    if _known_runs(clone, (text,)):
        return [RunEvidence(text)]
    begun = clone.find_events("all", beginnings=(text,)) if len(text) >= _SHORTEST else ()
    found = sorted({event.run_id or "" for event in begun})
    return [RunEvidence(run) for run in found if run.lower().startswith(text.lower())]


def _resolve(clone: Clone, citation: str) -> Evidence:
    text = citation.strip()
    # 8,192: no path of a file system is longer than 4,096 bytes, and a receipt adds a name and a hash.
    if not text or len(text) > 8192 or any(char in text for char in "\x00\n\r"):
        raise BadInput(f"{visible(text[:80])!r} is not evidence", hint="Cite a run, a commit, or a tracked path.")
    text = text if text.isascii() else _spelled(clone, text)
    kind, _, rest = text.partition(":")
    readers: dict[str, Callable[[str], list[Evidence]]] = {
        "run": lambda name: _runs(clone, name),
        "commit": lambda name: _commits(clone, name),
        "file": lambda name: _files(clone, name),
        "lines": lambda name: _files(clone, name, "lines"),
        "symbol": lambda name: _files(clone, name, "symbol"),
    }
    is_name = kind in ("lines", "symbol") and tracked_files.tracked(clone.repo, [_inside(clone.repo, text)])
    if kind in readers and rest and not is_name:
        text, found = rest, readers[kind](rest)
    else:
        found = [item for kind in ("run", "commit", "file") for item in readers[kind](text)]
    match found:
        case [one]:
            return may_be_cited(clone, one)
        case []:
            raise _nothing(clone, text)
        case _:
            raise _several(text, found)


def may_be_cited(clone: Clone, one: Evidence) -> Evidence:
    """Returns the receipt; raises BadInput if its file name may not be published."""
    path = one.path if isinstance(one, FileEvidence | Span) else ""
    _refuse_odd_name(path)
    if (clean := clone.hide.text(path)) != path:
        raise BadInput(
            f"{visible(clean)} cannot be cited: its name contains a secret",
            hint="Rename the file, or cite a commit or a run.",
        )
    return one


def _refuse_odd_name(path: str) -> None:
    try:
        path.encode()
    except UnicodeEncodeError:
        raise BadInput(f"the name of {visible(path)} is not UTF-8, so no memory can cite it") from None


def _spelled(clone: Clone, citation: str) -> str:
    """Returns a citation with its path as git spells it."""
    kind, colon, rest = citation.partition(":")
    for one in _readings(rest if colon and kind in ("file", "lines", "symbol") else citation):
        if (name := tracked_files.spelled(clone.repo, one.path)) != one.path:
            return citation.replace(one.path, name, 1)
    return citation


def state(clone: Clone, evidence: Evidence) -> State:
    """Returns whether the evidence is still as it was cited."""
    return states(clone, [str(evidence)])[str(evidence)]


def states(clone: Clone, cited: Iterable[str], *, committed: bool = False) -> dict[str, State]:
    """Returns the states of many receipts, with a handful of git processes for any number.

    With `committed`, files that HEAD has are checked only in HEAD, so the result does not depend on the work tree.
    """
    receipts = {text: model_evidence.parse_evidence(text) for text in dict.fromkeys(cited)}
    runs = {item.run_id for item in receipts.values() if isinstance(item, RunEvidence)}
    commits = [item.oid for item in receipts.values() if isinstance(item, CommitEvidence)]
    files = [item.path for item in receipts.values() if isinstance(item, FileEvidence)]
    known = _known_runs(clone, runs) - clone.erased() if runs else set()
    by_commit = _commit_states(clone, commits)
    held = tracked_files.tracked(clone.repo, files)
    cut = [item for item in receipts.values() if isinstance(item, Span)]
    spans = _span_states(clone, cut, committed=committed)
    found: dict[str, State] = {}
    for text, item in receipts.items():
        match item:
            case RunEvidence(run_id=run_id):
                found[text] = "holds" if run_id in known else "gone"
            case CommitEvidence(oid=oid):
                found[text] = by_commit[oid]
            case FileEvidence(path=path):
                found[text] = _whole_state(clone.repo, item, held.get(path), committed=committed)
            case LinesEvidence() | SymbolEvidence():
                found[text] = spans[item]
    return found


def _whole_state(repo: Repo, cited: FileEvidence, held: Tracked | None, *, committed: bool = False) -> State:
    """Returns the state of a whole file: it holds while the index, HEAD or the work tree has the cited bytes."""
    if held is None:
        return "gone"
    if committed and held.head is not None:
        return "holds" if cited.blob == held.head else "changed"
    if cited.blob in held.blobs:
        return "holds"
    data = tracked_files.here(repo, cited.path)
    ways = () if data is None else (data, data.replace(b"\r\n", b"\n"))
    return "holds" if cited.blob in map(repo.hash_blob, ways) else "changed"


def _span_states(clone: Clone, spans: Sequence[Span], *, committed: bool = False) -> dict[Span, State]:
    """Returns the state of each span; "unanchored" if git tracks the file but it cannot be read here."""
    by_path = grouped((span.path, span) for span in spans)
    at = tracked_files.places(clone.repo, by_path) if by_path else {}
    found: dict[Span, State] = {span: "unanchored" if span.path in at else "gone" for span in spans}
    if not committed:
        found |= dict.fromkeys(_held_here(clone, at, by_path), "holds")
    read: dict[Span, list[FileVersion]] = {}  # the versions that do not have it as it was cited
    for path, text in _texts(clone.repo, at, by_path, found, committed=committed):
        for span in by_path[path]:
            if found[span] != "holds" and text.own(span) is not None:
                found[span] = "holds"
            elif found[span] != "holds":
                found[span] = "changed"
                read.setdefault(span, []).append(text)
    lost = {span: read.get(span, []) for span, state in found.items() if state in ("changed", "gone")}
    return found | dict.fromkeys(span_following.holding(clone, lost, committed=committed), "holds")


def _held_here(clone: Clone, at: dict[str, TrackedPlace], by_path: dict[str, list[Span]]) -> list[Span]:
    """Returns the spans that the work tree has as cited; the verdict for the same bytes is cached, as it is slow."""
    datas = {path: tracked_files.here(clone.repo, place.path) for path, place in at.items()}
    keyed = {
        f"{clone.repo.hash_blob(data)} {at[path].path} {span}": (path, span)
        for path, data in datas.items()
        if data is not None
        for span in by_path[path]
    }
    versions: dict[str, FileVersion] = {}

    def judged(one: tuple[str, Span]) -> str:
        path, span = one
        if path not in versions:
            versions[path] = FileVersion(at[path].path, datas[path] or b"")
        return "" if versions[path].own(span) is None else "holds"

    known = clone.entry_memo.shown(_HELD, keyed, judged)
    return [span for key, (_, span) in keyed.items() if known[key]]


def _texts(
    repo: Repo,
    at: dict[str, TrackedPlace],
    by_path: dict[str, list[Span]],
    found: dict[Span, State],
    *,
    committed: bool,
) -> Iterator[tuple[str, FileVersion]]:
    """Yields each file from the work tree; also from the index and HEAD while a cited span was not found."""
    waiting: list[tuple[str, str]] = []

    def is_open(path: str) -> bool:
        return any(found[span] != "holds" for span in by_path[path])

    for path, place in at.items():
        if not is_open(path):
            continue
        if committed and place.held.head is not None:
            waiting.append((path, place.held.head))
            continue
        if (data := tracked_files.here(repo, place.path)) is not None:
            yield path, FileVersion(place.path, data)
        if is_open(path):
            waiting += [(path, blob) for blob in tracked_files.others(repo, place, data)]
    for some in (waiting[start : start + _AT_ONCE] for start in range(0, len(waiting), _AT_ONCE)):
        kept = tracked_files.stored(repo, [blob for _, blob in some])
        for path, blob in some:
            if blob in kept and is_open(path):
                yield path, FileVersion(at[path].path, kept[blob])


def _commits(clone: Clone, text: str) -> list[Evidence]:
    if text.startswith("-"):  # git would parse it as an option
        return []
    oid = clone.repo.commit_of(text)
    return [CommitEvidence(oid)] if oid and model_evidence.is_oid(oid) else []


def _files(clone: Clone, text: str, kind: str = "file") -> list[Evidence]:
    """Returns the evidence a text names: the first reading whose path git tracks."""
    readings = [one for one in _readings(text) if _may_be(kind, ":", one)]
    paths = {one: _inside(clone.repo, one.path) for one in readings}
    known = tracked_files.tracked(clone.repo, paths.values())
    for one in readings:
        if paths[one] in known:
            return [_cited(clone, one, tracked_files.TrackedPlace(paths[one], known[paths[one]]))]
    return _followed(clone, f"{kind}:{text}") if kind != "file" else []


def _followed(clone: Clone, receipt: str) -> list[Evidence]:
    """Returns a receipt whose file was renamed, if it holds."""
    try:
        span = model_evidence.parse_evidence(receipt)
    except BadInput:  # it is typed text, not a receipt
        return []
    return [span] if isinstance(span, Span) and _span_states(clone, [span])[span] == "holds" else []


def _cited(clone: Clone, one: _Reading, place: TrackedPlace) -> Evidence:
    """Returns the receipt for one reading; a hash in the citation must still match."""
    _refuse_odd_name(place.path)
    if one.kind == "file":
        whole = FileEvidence(place.path, one.hash or place.held.blobs[0])
        if _whole_state(clone.repo, whole, place.held) != "holds":
            raise _outdated(place.path, one.hash)
        return whole
    if one.hash:
        named = (one.first, one.last) if one.kind == "lines" else (one.name,)
        span: Span = {"lines": LinesEvidence, "symbol": SymbolEvidence}[one.kind](place.path, *named, one.hash)
        if _span_states(clone, [span])[span] != "holds":
            raise _outdated(f"{place.path}{one.rest.rpartition('@')[0]}", one.hash)
        return span
    text, size = _text(clone.repo, place), len(clone.repo.hash_blob(b""))
    if one.kind == "lines":
        return text.cite_lines(one.first, one.last, size=size)
    return text.cite_symbol(one.name, size=size)


def _text(repo: Repo, place: TrackedPlace) -> FileVersion:
    """Returns a file from the work tree, else from git."""
    data = tracked_files.here(repo, place.path)
    if data is None and place.held.blob is not None:
        data = tracked_files.stored(repo, [place.held.blob]).get(place.held.blob)
    if data is None:
        raise TooLarge(
            f"{visible(place.path)} is too large or not available, so no part of it can be cited",
            hint="Cite the whole file by its path.",
        )
    return FileVersion(place.path, data)


def _outdated(shown: str, digest: str) -> BadInput:
    return BadInput(
        f"{visible(shown)} has changed since {digest[:12]}", hint="Cite it without the hash to use the present text."
    )


def _inside(repo: Repo, text: str) -> str:
    """Returns the path relative to the repository's top, as git spells it."""
    path = os.path.relpath(text, repo.top) if os.path.isabs(text) else os.path.normpath(text)
    return path.replace(os.sep, "/")


def _commit_states(clone: Clone, oids: Sequence[str]) -> dict[str, State]:
    """Returns the states of commits: a rewritten one holds by its new id; one a shallow clone lacks is "unanchored"."""
    found = commit_anchors.resolve(clone, oids) if oids else {}
    lost = [oid for oid, now in found.items() if now.state == "unanchored"]
    here, _ = commit_details.adrift(clone.repo, lost)
    states: dict[str, State] = {oid: "holds" if now.commit else "unanchored" for oid, now in found.items()}
    return states | {oid: "gone" for oid in lost if oid not in here}


def _nothing(clone: Clone, text: str) -> Exception:
    named = next((one.path for one in _readings(text) if _is_here(clone.repo, one.path)), text)
    path, shown = _inside(clone.repo, named), visible(named[:200])
    if (inner := tracked_files.submodule_of(path, tracked_files.submodules(clone.repo))) is not None:
        return BadInput(
            f"{shown} lies in the submodule {visible(inner)}, whose files this repository does not track",
            hint="Cite a commit of this repository that records the submodule's commit you mean.",
        )
    if model_evidence.is_tracked_path(path) and os.path.isdir(os.path.join(clone.repo.top, path)):
        return BadInput(f"{shown} is a folder", hint="Cite a file in it.")
    if model_evidence.is_tracked_path(path) and os.path.lexists(os.path.join(clone.repo.top, path)):
        how = "ignored" if clone.repo.ignored([path]) else "not tracked"
        return BadInput(f"{shown} is {how} by git, so nobody else could check it", hint="Track it with git add first.")
    return NotFound(f"{shown} is not a run, commit or tracked path here", hint=_HINT)


def _is_here(repo: Repo, path: str) -> bool:
    inside = _inside(repo, path)
    return model_evidence.is_tracked_path(inside) and os.path.lexists(os.path.join(repo.top, inside))


def _several(text: str, found: Sequence[Evidence]) -> Ambiguous:
    names = ", ".join(visible(str(item)) for item in found[:5])
    hint = "Type more of it, or put run:, commit: or file: in front."
    return Ambiguous(f"{visible(text[:200])} matches {len(found)} things: {names}", hint=hint)
