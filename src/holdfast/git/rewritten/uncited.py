"""Anchors that nobody cites: what is remembered of commits, and which of them still matter to somebody.

Asked only by `prune`. A commit counts as cited if its id stands in any record of this clone or in any
version of an entry that some ref or reflog reaches: rather one too many is kept than one too few.
"""

import os
from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime

from holdfast.errors import TooLarge, UnsafePath
from holdfast.git.clone import Clone
from holdfast.git.rewritten import kept
from holdfast.model.event import timestamp
from holdfast.patterns import regex
from holdfast.store import fsio
from holdfast.store import layout as paths
from holdfast.store.layout import Layout

_OID = regex(rb"(?<![0-9a-f])(?:[0-9a-f]{64}|[0-9a-f]{40})(?![0-9a-f])")
_FOLDERS = (paths.MEMORY, paths.TASKS, paths.LINKS)
_LIMIT = 1 << 28


def anchors(clone: Clone, *, before: str) -> dict[str, str]:
    """The commits remembered here, made before a moment, that nothing cites; each with when it was made."""
    old = {oid: made for oid, made in _remembered(clone.layout).items() if made < before}
    cited = _cited(clone) if old else set()
    return {oid: made for oid, made in old.items() if oid not in cited}


def forget(layout: Layout, oids: Collection[str]) -> None:
    """Remember these commits no longer."""
    if not oids:
        return
    with fsio.locked(os.path.join(layout.anchors, "lock")):
        for path in sorted({kept._shard(layout, oid) for oid in oids}):
            rows = kept._records(layout, path)
            left = [kept._row(rows[oid]) for oid in sorted(rows) if oid not in oids]
            if len(left) < len(rows):
                fsio.replace(path, b"".join(left))


def _remembered(layout: Layout) -> dict[str, str]:
    found = {}
    for name in layout.listed(layout.anchors):
        if name.endswith(".jsonl"):
            for oid, record in kept._records(layout, os.path.join(layout.anchors, name)).items():
                made = record.get("committed")
                if type(made) is int and 0 <= made < 1 << 37:
                    found[oid] = timestamp(datetime.fromtimestamp(made, UTC))
    return found


def _cited(clone: Clone) -> set[str]:
    found: set[str] = set()
    for data in (*_records(clone.stores), *_entries(clone)):
        found.update(match.decode("ascii") for match in _OID.findall(data))
    return found


def _records(stores: Iterable[Layout]) -> Iterator[bytes]:
    for store in stores:
        tops = (store.sessions, store.claims, store.pending, store.sealed_changes, store.bodies)
        for top in (*tops, store.candidates, store.trash, store.kept, store.rewrites, store.seen):
            yield from map(_content, _files(top))


def _files(top: str) -> Iterator[str]:
    if os.path.isfile(top):
        yield top
    for folder, _, names in os.walk(top):
        yield from (os.path.join(folder, name) for name in names)


def _content(path: str) -> bytes:
    try:
        return fsio.read(path, limit=_LIMIT)
    except (OSError, UnsafePath, TooLarge):
        return b""


def _entries(clone: Clone) -> Iterator[bytes]:
    """Every version of every entry that a ref or a reflog reaches, and what lies in the work tree."""
    listed = clone.repo.run("rev-list", "--all", "--reflog", "--objects", "--", *_FOLDERS)
    rows = (row.partition(b" ") for row in listed.split(b"\n"))
    blobs = [oid.decode("ascii") for oid, _, name in rows if name.endswith(b".md")]
    yield from clone.repo.blobs(blobs).values()
    for folder in _FOLDERS:
        for sighting in clone.entries(folder):
            yield from (text.encode("utf-8", "replace") for text in (sighting.text, sighting.edited) if text)
