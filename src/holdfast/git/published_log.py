"""What a new event needs to know of the published log: its heads, and what it erased.

Remembered by the id of the log's tree. A tree that only adds segments to one we know, as every publish
and merge does, costs reading the added ones.
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

KEPT = 16  # trees that are remembered; the oldest make room
MOST_HEADS = 32
VERSION = 2  # of what is remembered; version 1 took heads from damaged segments, too


@frozen
class PublishedLog:
    """The log of one tree in short."""

    tips: tuple[tuple[str, str], ...] = ()  # (ts, hash) of events that none names, newest first
    erased: frozenset[str] = frozenset()

    @property
    def heads(self) -> list[str]:
        return [name for _, name in self.tips]


def of_tree(repo: Repo, layout: Layout, tree: str, *, keep: bool = True) -> PublishedLog:
    """The summary of a log's tree; remembered, unless `keep` is false."""
    known = _load(layout, tree)
    if known is not None:
        return known
    found = _grown(repo, layout, tree) or _add(PublishedLog(), repo, repo.blobs_below(tree))
    if keep:
        record = {"v": VERSION, "tips": found.tips, "erased": sorted(found.erased)}
        try:
            loose_records.keep(os.path.join(layout.heads, tree), record)
            for old in _remembered(layout)[KEPT:]:
                fsio.remove(os.path.join(layout.heads, old))
        except UnsafePath as error:  # only a cache: without it the next command reads the log again
            layout.leave_out(error)
    return found


def _grown(repo: Repo, layout: Layout, tree: str) -> PublishedLog | None:
    """The summary by way of a tree of which this one is a continuation, if we remember one."""
    for name in _remembered(layout)[:4]:
        before = _load(layout, name)
        added = repo.added_between(name, tree) if before is not None else None
        if before is not None and added is not None:
            found = _add(before, repo, added)
            # What was there twice may look like a head; it is only named once too often, within reason.
            return found if len(found.tips) <= MOST_HEADS else None
    return None


def _add(before: PublishedLog, repo: Repo, blobs: Mapping[str, str]) -> PublishedLog:
    tips = {name: ts for ts, name in before.tips}
    erased = set(before.erased)
    named: set[str] = set()
    texts = repo.blobs(blobs.values())
    for path, blob in blobs.items():
        data = texts.get(blob, b"")
        # What is erased is hidden by any event that verifies; what a new event rests on has to be sound as a
        # whole: a segment that `doctor` rejects is taken out one day, and its heads with it.
        erased.update(event.target for event, _ in events_in(data, "erase") if event.target)
        with contextlib.suppress(CorruptLog, FutureFormat):
            for found in sound_events(path, data):
                tips[found[1].decode("ascii")] = found[3].decode("ascii")
                named.update(parents_of(found))
    left = sorted(((ts, name) for name, ts in tips.items() if name not in named), reverse=True)
    return PublishedLog(tuple(left), frozenset(erased))


def _remembered(layout: Layout) -> list[str]:
    """The trees that are remembered, newest first."""
    try:
        with os.scandir(layout.heads) as files:
            found = [(file.stat().st_mtime_ns, file.name) for file in files if "." not in file.name]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [name for _, name in sorted(found, reverse=True)]


def _load(layout: Layout, tree: str) -> PublishedLog | None:
    record = loose_records.read(os.path.join(layout.heads, tree), limit=1 << 24)
    if record.get("v") != VERSION:
        return None
    try:
        return PublishedLog(tuple((ts, name) for ts, name in record["tips"]), frozenset(record["erased"]))
    except (ValueError, KeyError, TypeError):
        return None
