"""Sealing: turns spools into immutable segments, which git only ever adds.

The order of the steps, so that a crash between any two loses nothing: a rename closes the spool (its writer notices and
starts a new file), its rows are copied verbatim into a segment in `sealed/`, a pending change names the segment, and
only then the closed spool is deleted. A line is the id of a branch's work.
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
    """Returns the spools of a line, open and closed, sorted by name."""
    folder = os.path.join(layout.spool, line)
    return [os.path.join(folder, name) for name in layout.listed(folder) if name.endswith((".jsonl", ".closed"))]


def spool_lines(layout: Layout) -> list[str]:
    """Returns the lines that have spools."""
    return layout.listed(layout.spool)


def close_spools(layout: Layout, line: str) -> list[str]:
    """Renames a line's open spools, so that the next writer starts a new file; returns all closed ones."""
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
    while os.path.lexists(name := f"{stem}.{number}.closed"):  # never over a spool that a crash left behind
        number += 1
    return name


def seal(layout: Layout, line: str, *, head: str | None, ts: str, owner: str | None = None) -> list[PendingChange]:
    """Turns a line's spools into segments to publish on it, or on the line `owner`.

    The caller holds the store's lock.
    """
    # A spool of a newer Holdfast waits for that version: this one could only quarantine its rows.
    found = {path: read_spool(path) for path in close_spools(layout, line)}
    closed = [path for path, reading in found.items() if not reading.newer]
    readings = [found[path] for path in closed]
    for reading in readings:
        quarantine(layout, reading.torn)
    # Events that an interrupted seal already put into a pending segment.
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
    """Returns events with their rows, each once, parents first."""
    found = {event.hash_self: (event, data) for event, data in pairs}
    return [found[event.hash_self] for event in in_order(event for event, _ in found.values())]


def keep(
    layout: Layout, line: str, pairs: list[tuple[Event, bytes]], *, head: str | None, ts: str, owner: str | None = None
) -> list[PendingChange]:
    """Writes events as segments of `line`, to publish on the line `owner` (by default `line`)."""
    segments = make_segments(line, ((event.ts, data) for event, data in pairs))
    fsio.make_dirs(layout.sealed_log)
    changes = []
    for segment in segments:
        fsio.replace(layout.sealed_segment(segment.name), segment.data, mode=0o400)
        change = PendingChange(segment.path, None, None, owner or line, head, ts, segment=segment.name)
        changes.append(pending_changes.add(layout, change))
    return changes


def sealed_bytes(layout: Layout, name: str) -> bytes:
    """Returns a sealed segment's bytes."""
    try:
        return fsio.read(layout.sealed_segment(name), limit=MAX_SEGMENT)
    except FileNotFoundError:
        raise CorruptLog(f"sealed segment {name} is missing from this clone's store") from None


def read_sealed(layout: Layout, name: str) -> list[tuple[Event, bytes]]:
    """Returns the events of a sealed segment with their rows."""
    _, lines = segment_lines(name, sealed_bytes(layout, name))
    return [(parse_event(line), line) for line in lines]


def quarantine(layout: Layout, torn: list[TornSpool]) -> None:
    """Stores damaged bytes in quarantine, so that nothing is lost."""
    for piece in torn:
        fsio.make_dirs(layout.quarantine)
        name = f"{os.path.basename(piece.path)}.{piece.offset}.torn"
        fsio.replace(os.path.join(layout.quarantine, name), piece.data)
