"""Sealing: spools become immutable segments that git only ever sees added.

Order of the steps, so that a crash between any two loses nothing: the spool is closed by a rename
(its writer notices and starts a new file), its lines are copied verbatim into a segment in
`sealed/`, a pending change names the segment, and only then the closed spool goes.
"""

import os
from collections.abc import Iterable

from holdfast.errors import CorruptLog
from holdfast.model.event import Event, in_order
from holdfast.store import fsio, pending_changes
from holdfast.store.format import MAX_SEGMENT, make_segments, parse_event, segment_lines
from holdfast.store.layout import Layout
from holdfast.store.log import TornSpool, read_spool
from holdfast.store.pending_changes import PendingChange


def spools(layout: Layout, line: str) -> list[str]:
    """The spools of a line, open and closed, oldest name first."""
    folder = os.path.join(layout.spool, line)
    return [os.path.join(folder, name) for name in layout.listed(folder) if name.endswith((".jsonl", ".closed"))]


def spool_lines(layout: Layout) -> list[str]:
    """The lines that have spools."""
    return layout.listed(layout.spool)


def close_spools(layout: Layout, line: str) -> list[str]:
    """Rename a line's open spools aside; whoever writes next starts a new file."""
    for path in spools(layout, line):
        if path.endswith(".jsonl"):
            _close(path)
    return [path for path in spools(layout, line) if path.endswith(".closed")]


def _close(path: str) -> None:
    fd = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    try:
        fsio.lock_fd(fd, wait=30.0, what=path)
        if os.fstat(fd).st_size:
            fsio.move(path, free_name(path[: -len(".jsonl")]))
    finally:
        os.close(fd)


def free_name(stem: str) -> str:
    number = 1
    while os.path.lexists(name := f"{stem}.{number}.closed"):  # never over a spool a crash left behind
        number += 1
    return name


def seal(layout: Layout, line: str, *, head: str | None, ts: str, owner: str | None = None) -> list[PendingChange]:
    """Turn a line's spools into segments that wait to be published on it, or on the line `owner`.

    The caller holds the store's lock.
    """
    # One that a newer Holdfast wrote to waits for that one: here its lines could only be set aside.
    found = {path: read_spool(path) for path in close_spools(layout, line)}
    closed = [path for path, reading in found.items() if not reading.newer]
    readings = [found[path] for path in closed]
    for reading in readings:
        quarantine(layout, reading.torn)
    # Events that a seal cut short by a crash had already put into a waiting segment.
    waiting = [c.segment for c in pending_changes.waiting(layout) if c.line == (owner or line)] if closed else []
    done = {event.hash_self for name in filter(None, waiting) for event, _ in read_sealed(layout, name)}
    read = [pair for reading in readings for pair in zip(reading.events, reading.lines, strict=True)]
    changes = keep(
        layout, line, ordered([p for p in read if p[0].hash_self not in done]), head=head, ts=ts, owner=owner
    )
    for path in closed:
        fsio.remove(path)
    return changes


def ordered(pairs: Iterable[tuple[Event, bytes]]) -> list[tuple[Event, bytes]]:
    """Events with their lines, each once, parents first."""
    found = {event.hash_self: (event, data) for event, data in pairs}
    return [found[event.hash_self] for event in in_order(event for event, _ in found.values())]


def keep(
    layout: Layout, line: str, pairs: list[tuple[Event, bytes]], *, head: str | None, ts: str, owner: str | None = None
) -> list[PendingChange]:
    """Write events as segments of `line`, waiting to be published on the line `owner` (itself if none)."""
    made = make_segments(line, ((event.ts, data) for event, data in pairs))
    fsio.make_dirs(layout.sealed_log)
    changes = []
    for segment in made:
        fsio.replace(layout.sealed_segment(segment.name), segment.data, mode=0o400)
        change = PendingChange(segment.path, None, None, owner or line, head, ts, segment=segment.name)
        changes.append(pending_changes.add(layout, change))
    return changes


def sealed_bytes(layout: Layout, name: str) -> bytes:
    """A sealed segment's bytes, as they were written."""
    try:
        return fsio.read(layout.sealed_segment(name), limit=MAX_SEGMENT)
    except FileNotFoundError:
        raise CorruptLog(f"sealed segment {name} is gone from this clone's store") from None


def read_sealed(layout: Layout, name: str) -> list[tuple[Event, bytes]]:
    """The events of a sealed segment with their lines."""
    _, lines = segment_lines(name, sealed_bytes(layout, name))
    return [(parse_event(line), line) for line in lines]


def quarantine(layout: Layout, torn: list[TornSpool]) -> None:
    """Set torn bytes aside, so that nothing is thrown away unseen."""
    for piece in torn:
        fsio.make_dirs(layout.quarantine)
        name = f"{os.path.basename(piece.path)}.{piece.offset}.torn"
        fsio.replace(os.path.join(layout.quarantine, name), piece.data)
