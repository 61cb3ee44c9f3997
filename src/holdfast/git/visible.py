"""What is visible here: on this line, at this HEAD, in this work tree.

A change waiting on this line comes first, else a hand edit in the work tree, else HEAD's tree.
What another line recorded is not here, unless this line branched off while it was waiting there.
"""

import os
from collections.abc import Iterator, Sequence

from holdfast.errors import BrokenEntry, TooLarge, UnsafePath
from holdfast.git import staged
from holdfast.git.lines import Line
from holdfast.git.repo import Repo
from holdfast.git.staged import Staged
from holdfast.store import fsio, layout, pending, seal, tasks
from holdfast.store.layout import Layout
from holdfast.store.pending import Change
from holdfast.values import frozen, replace

MAX_ENTRY = 1 << 20


@frozen
class Source:
    """One file of the visible log: a segment, or a spool that may still grow."""

    key: str  # a segment's name, or <line>/<file> of a spool
    kind: str  # "segment" or "spool"
    line: str | None
    until: str | None  # events after this moment are another line's
    path: str | None  # in this clone's store
    blob: str | None  # in git


@frozen
class Sighting:
    """An entry file as it stands here, and where that text comes from."""

    path: str
    text: str
    blob: str
    origin: str  # "pending", "edit" or "tree"
    clash: str | None = None  # the tree's text, if both it and the waiting change moved on
    edited: str | None = None  # the work tree's own text, if a waiting change hides it


def waiting(stores: Sequence[Layout], line: Line) -> list[Change]:
    """Every waiting change that is visible on a line, what it inherited first, then oldest first."""
    own = [c for store in stores for c in pending.waiting(store)]
    since = [c for c in _published_since(stores, line) if c.segment is None]
    # One change may be known from several lines that inherited it.
    found = {c.key: c for c in (*since, *own) if line.sees(c.line, c.ts) and c.key not in line.done}
    return sorted(found.values(), key=lambda c: (c.line == line.id, c.ts, c.name))


def changes(stores: Sequence[Layout], line: Line) -> list[Change]:
    """What waits on a line: for each path the change that counts."""
    return list({change.path: change for change in waiting(stores, line)}.values())


def _published_since(stores: Sequence[Layout], line: Line) -> Iterator[Change]:
    """What lines we branched off have published since: it may have waited there when we did.

    A change published in the very second we were born counts; if it is in our history, `settle` sees so.
    """
    limits = {name: until for name, until in line.limits().items() if until is not None}
    if not limits:
        return
    for store in stores:
        for change in pending.published(store, since=min(limits.values())):
            until = limits.get(change.line)
            if until and until[:19] <= (change.published or {}).get("ts", ""):
                yield change


def log_sources(repo: Repo, stores: Sequence[Layout], line: Line) -> list[Source]:
    """Every file of the log that is visible on a line."""
    # Our own files first: what is published between the two looks is then seen twice, never not at all.
    own = sorted(own_sources(stores, line), key=lambda source: source.until is not None)
    found = {}
    for path, blob in repo.tree("HEAD", layout.LOG).items():
        if path.endswith(".jsonl"):
            name = os.path.basename(path)[:-6]
            found[name] = Source(name, "segment", None, None, None, blob)
    for source in own:
        found.setdefault(source.key, source)
    return list(found.values())


def own_sources(stores: Sequence[Layout], line: Line) -> list[Source]:
    """The files of the log that this clone holds besides HEAD's tree, as far as a line sees them."""
    limits = {name: until for name, until in line.limits().items() if not line.passed_events_of(name)}
    found = []
    for store in stores:
        for name, until in limits.items():
            for path in seal.spools(store, name):
                found.append(Source(f"{name}/{os.path.basename(path)}", "spool", name, until, path, None))
    for store in stores:
        for change in pending.waiting(store):
            if change.segment and change.line in limits:
                found.append(_segment_source(store, change.segment, change.line, limits))
    for change in _published_since(stores, line):
        if change.segment and change.line in limits:
            found.append(_segment_source(stores[0], change.segment, change.line, limits))
    return found


def _segment_source(store: Layout, name: str, line: str, limits: dict[str, str | None]) -> Source:
    return Source(name, "segment", line, limits[line], store.sealed_segment(name), None)


def sightings(repo: Repo, stores: Sequence[Layout], line: Line, folder: str) -> list[Sighting]:
    """The entry files below a tracked folder as they are visible here."""
    asked = {c.path: c for c in changes(stores, line) if c.path.startswith(folder + "/") and not c.segment}
    tree = {path: blob for path, blob in repo.tree("HEAD", folder).items() if path.endswith(".md")}
    by_hand = _edits(repo, folder)
    ours = staged.read(repo) if by_hand else {}
    edited = {p: t for p, t in by_hand.items() if not _is_elsewheres(repo, line, ours.get(p), t)}
    texts = repo.blobs([*tree.values(), *(c.base for c in asked.values() if c.base)])
    found = [
        _sight(repo, path, tree.get(path), asked.get(path), edited=edited, texts=texts)
        for path in sorted({*tree, *asked, *edited})
    ]
    return [sighting for sighting in found if sighting is not None]


def _edits(repo: Repo, folder: str) -> dict[str, bytes | None]:
    """Entry files that differ from HEAD in the work tree; None where one was deleted by hand."""
    found: dict[str, bytes | None] = {}
    for path in repo.status(folder):
        if path.endswith(".md"):
            try:
                found[path] = fsio.read(fsio.inside(repo.top, path), limit=MAX_ENTRY).replace(b"\r\n", b"\n")
            except FileNotFoundError:
                found[path] = None
            except (UnsafePath, TooLarge) as error:
                found[path] = str(error).encode()  # no entry: whoever reads it finds it broken and names it
    return found


def _is_elsewheres(repo: Repo, line: Line, ours: Staged | None, text: bytes | None) -> bool:
    """A file that another line staged, and git carried along on a switch, is no edit of this line."""
    return ours is not None and ours.line != line.id and text is not None and repo.hash_blob(text) == ours.blob


def _sight(
    repo: Repo,
    path: str,
    in_tree: str | None,
    change: Change | None,
    *,
    edited: dict[str, bytes | None],
    texts: dict[str, bytes],
) -> Sighting | None:
    if change is not None and change.blob != in_tree:
        seen, by_hand = _pending(path, in_tree, change, texts, repo), edited.get(path)
        return replace(seen, edited=_decode(by_hand)) if seen and by_hand is not None else seen
    if path not in edited:
        if in_tree is None:
            return None  # it waited to be published and is to go away
        return Sighting(path, _decode(texts.get(in_tree or "", b"")), in_tree or "", "tree")
    edit = edited[path]
    if edit is None:
        return None
    blob = repo.hash_blob(edit)
    return Sighting(path, _decode(edit), blob, "tree" if blob == in_tree else "edit")


def _pending(path: str, in_tree: str | None, change: Change, texts: dict[str, bytes], repo: Repo) -> Sighting | None:
    if change.text is None or change.blob is None:
        return None  # it waits to be deleted
    if change.base == in_tree or in_tree is None:
        return Sighting(path, change.text, change.blob, "pending")
    theirs = _decode(texts[in_tree])
    base = _decode(texts.get(change.base or "", b""))
    try:
        merged = tasks.merge(path, base, change.text, theirs)
    except BrokenEntry:
        merged = None
    if isinstance(merged, str):
        return Sighting(path, merged, repo.hash_blob(merged.encode("utf-8")), "pending")
    return Sighting(path, change.text, change.blob, "pending", clash=theirs)


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "replace")
