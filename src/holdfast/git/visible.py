"""What is visible here: on this line, at this HEAD, in this work tree.

A change waiting on this line comes first, else a hand edit in the work tree, else HEAD's tree.
What another line recorded is not here, unless this line branched off while it was waiting there.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from holdfast.errors import BrokenEntry
from holdfast.git.lines import Line
from holdfast.git.repo import Repo
from holdfast.store import entries, fsio, layout, pending, seal
from holdfast.store.layout import Layout
from holdfast.store.pending import Change

MAX_ENTRY = 1 << 20


@dataclass(frozen=True, slots=True)
class Source:
    """One file of the visible log: a segment, or a spool that may still grow."""

    key: str  # a segment's name, or <line>/<file> of a spool
    kind: str  # "segment" or "spool"
    line: str | None
    until: str | None  # events after this moment are another line's
    path: str | None  # in this clone's store
    blob: str | None  # in git


@dataclass(frozen=True, slots=True)
class Sighting:
    """An entry file as it stands here, and where that text comes from."""

    path: str
    text: str
    blob: str
    origin: str  # "pending", "edit" or "tree"
    clash: str | None = None  # the tree's text, if both it and the waiting change moved on


def changes(stores: Sequence[Layout], line: Line) -> list[Change]:
    """Waiting changes that are visible on a line, oldest first."""
    own = [c for store in stores for c in pending.waiting(store)]
    found = [c for c in own if line.sees(c.line, c.ts)]
    return sorted([*found, *_published_since(stores, line)], key=lambda c: (c.ts, c.name))


def _published_since(stores: Sequence[Layout], line: Line) -> Iterator[Change]:
    """What a parent line had waiting when we branched off and has published since."""
    limits = {i.line: i.until for i in line.inherits if i.until is not None}
    if not limits:
        return
    since = min(datetime.fromisoformat(until).timestamp() for until in limits.values()) - 2
    for store in stores:
        for change in pending.published(store, since=since):
            until = limits.get(change.line)
            if (
                until
                and change.segment is None
                and change.ts <= until < (change.published or {}).get("ts", "")
            ):
                yield change


def log_sources(repo: Repo, stores: Sequence[Layout], line: Line) -> list[Source]:
    """Every file of the log that is visible on a line."""
    found = {}
    for path, blob in repo.tree("HEAD", layout.LOG).items():
        if path.endswith(".jsonl"):
            name = os.path.basename(path)[:-6]
            found[name] = Source(name, "segment", None, None, None, blob)
    for source in _own_sources(stores, line):
        found.setdefault(source.key, source)
    return list(found.values())


def _own_sources(stores: Sequence[Layout], line: Line) -> Iterator[Source]:
    limits = {line.id: None, **{i.line: i.until for i in line.inherits}}
    for store in stores:
        for change in [*pending.waiting(store), *_segments_since(store, line)]:
            if change.segment and change.line in limits:
                path = store.sealed_segment(change.segment)
                yield Source(change.segment, "segment", change.line, limits[change.line], path, None)
        for name, until in limits.items():
            for path in seal.spools(store, name):
                yield Source(f"{name}/{os.path.basename(path)}", "spool", name, until, path, None)


def _segments_since(store: Layout, line: Line) -> Iterator[Change]:
    """Segments a parent line has published since we branched off; they may hold what we inherited."""
    limits = {i.line: i.until for i in line.inherits if i.until is not None}
    if not limits:
        return
    since = min(datetime.fromisoformat(until).timestamp() for until in limits.values()) - 2
    for change in pending.published(store, since=since):
        until = limits.get(change.line)
        if change.segment and until and until < (change.published or {}).get("ts", ""):
            yield change


def sightings(repo: Repo, stores: Sequence[Layout], line: Line, folder: str) -> list[Sighting]:
    """The entry files below a tracked folder as they are visible here."""
    tree = repo.tree("HEAD", folder)
    waiting = {
        c.path: c for c in changes(stores, line) if c.path.startswith(folder + "/") and c.segment is None
    }
    edited = _edits(repo, folder)
    tree = {path: blob for path, blob in tree.items() if path.endswith(".md")}
    texts = repo.blobs([*tree.values(), *(c.base for c in waiting.values() if c.base)])
    found = [
        _sight(repo, path, tree.get(path), waiting.get(path), edited=edited, texts=texts)
        for path in sorted({*tree, *waiting, *edited})
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
    return found


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
        return _pending(path, in_tree, change, texts, repo)
    if path not in edited:
        return Sighting(path, _decode(texts.get(in_tree or "", b"")), in_tree or "", "tree")
    edit = edited[path]
    if edit is None:
        return None
    blob = repo.hash_blob(edit)
    return Sighting(path, _decode(edit), blob, "tree" if blob == in_tree else "edit")


def _pending(
    path: str, in_tree: str | None, change: Change, texts: dict[str, bytes], repo: Repo
) -> Sighting | None:
    if change.text is None or change.blob is None:
        return None  # it waits to be deleted
    if change.base == in_tree or in_tree is None:
        return Sighting(path, change.text, change.blob, "pending")
    theirs = _decode(texts[in_tree])
    base = _decode(texts.get(change.base or "", b""))
    try:
        merged = entries.merge(base, change.text, theirs)
    except BrokenEntry:
        merged = None
    if isinstance(merged, str):
        return Sighting(path, merged, repo.hash_blob(merged.encode("utf-8")), "pending")
    return Sighting(path, change.text, change.blob, "pending", clash=theirs)


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "replace")
