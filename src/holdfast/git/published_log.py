"""Summarises the published log for new events: its heads, and the ids it erased.

Summaries are cached by the id of the log's tree. If a tree only adds segments to a cached one, as every publish
and merge does, only the added segments are read.
"""

import contextlib
import os
from collections.abc import Mapping

from holdfast.errors import CorruptLog, FutureFormat, UnsafePath
from holdfast.git.repo import Repo
from holdfast.store import fsio, loose_records
from holdfast.store.format import events_in, parents_of, sound_events
from holdfast.store.layout import Layout
from holdfast.values import frozen

KEPT = 16  # cached trees, the newest; a guess: more branches than people switch between in a day
MOST_HEADS = 32  # as many parents as one event may name (`model.event.MAX_PARENTS`)
VERSION = 2  # of the cached record; version 1 took heads from damaged segments, too


@frozen
class PublishedLog:
    """The summary of the log in one tree."""

    tips: tuple[tuple[str, str], ...] = ()  # (ts, hash) of events that no other event names as parent, newest first
    erased: frozenset[str] = frozenset()

    @property
    def heads(self) -> list[str]:
        return [name for _, name in self.tips]


def of_tree(repo: Repo, layout: Layout, tree: str, *, keep: bool = True) -> PublishedLog:
    """Returns the summary of a log's tree, and caches it unless `keep` is false."""
    known = _load(layout, tree)
    if known is not None:
        return known
    found = _grown(repo, layout, tree) or _add(PublishedLog(), repo, repo.blobs_below(tree))
    if keep:
        record = {"v": VERSION, "tips": found.tips, "erased": sorted(found.erased)}
        try:
            loose_records.keep(os.path.join(layout.heads, tree), record)
            for old in _cached(layout)[KEPT:]:
                fsio.remove(os.path.join(layout.heads, old))
        except UnsafePath as error:  # only a cache: without it the next command reads the log again
            layout.leave_out(error)
    return found


def _grown(repo: Repo, layout: Layout, tree: str) -> PublishedLog | None:
    """Returns the summary computed from a cached tree that this one only adds to; None if there is none."""
    for name in _cached(layout)[:4]:  # a guess: each costs a comparison by git, and the newest is nearly always right
        before = _load(layout, name)
        added = repo.added_between(name, tree) if before is not None else None
        if before is not None and added is not None:
            found = _add(before, repo, added)
            # An event that was there twice may look like a head; a few parents too many do no harm.
            return found if len(found.tips) <= MOST_HEADS else None
    return None


def _add(before: PublishedLog, repo: Repo, blobs: Mapping[str, str]) -> PublishedLog:
    tips = {name: ts for ts, name in before.tips}
    erased = set(before.erased)
    named: set[str] = set()
    texts = repo.blobs(blobs.values())
    for path, blob in blobs.items():
        data = texts.get(blob, b"")
        # Any event that verifies can erase; but heads come only from segments that are sound as a whole:
        # a segment that `doctor` rejects is removed one day, and its events with it.
        erased.update(event.target for event, _ in events_in(data, "erase") if event.target)
        with contextlib.suppress(CorruptLog, FutureFormat):
            for found in sound_events(path, data):
                tips[found[1].decode("ascii")] = found[3].decode("ascii")
                named.update(parents_of(found))
    left = sorted(((ts, name) for name, ts in tips.items() if name not in named), reverse=True)
    return PublishedLog(tuple(left), frozenset(erased))


def _cached(layout: Layout) -> list[str]:
    """Returns the cached trees, newest first."""
    try:
        with os.scandir(layout.heads) as files:
            found = [(file.stat().st_mtime_ns, file.name) for file in files if "." not in file.name]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [name for _, name in sorted(found, reverse=True)]


def _load(layout: Layout, tree: str) -> PublishedLog | None:
    record = loose_records.read(os.path.join(layout.heads, tree), limit=1 << 24)  # 16 MiB, a guess: 100,000 erased ids
    if record.get("v") != VERSION:
        return None
    try:
        return PublishedLog(tuple((ts, name) for ts, name in record["tips"]), frozenset(record["erased"]))
    except (ValueError, KeyError, TypeError):
        return None
