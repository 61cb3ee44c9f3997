"""The store of last resort, `.holdfast/local/`, for sandboxes that cannot write to .git.

Its records are only as durable as the work tree. The next command that can write the private store moves them there;
nothing is deleted before its copy is synced.

Anybody who can write files in the work tree can write this store, an agent for example. So an approval from here is
marked before it is moved (`second_hand`) and does not count as a person's.
"""

import os
from collections.abc import Iterator

from holdfast.errors import TooLarge, UnsafePath
from holdfast.model.event import Event
from holdfast.model.ids import token
from holdfast.store import capsule, fsio, seal
from holdfast.store.format import events_in
from holdfast.store.layout import Layout
from holdfast.store.log import MAX_SPOOL
from holdfast.values import field, mutable

# Bodies before the events that name them, lines before the records that belong to them.
_FOLDERS = (
    *("lines", "bodies", "runs", "candidates", "sealed", "pending", "erased", "quarantine"),
    *("sessions", "claims", "anchors", "receipts"),
)


def holds_something(layout: Layout) -> bool:
    """Whether a sandbox left something to move."""
    local = layout.sandboxed().private
    if not os.path.isdir(local):
        return False
    walks = (os.walk(os.path.join(local, name)) for name in (*_FOLDERS, "spool"))
    return any(_counts(file) for walk in walks for _, _, files in walk for file in files)


def _counts(file: str) -> bool:
    return not file.endswith((".tmp", ".lock"))


@mutable
class SandboxDrain:
    """The result of a move: the number of files, and the approvals among them."""

    files: int = 0
    approvals: list[Event] = field(default_factory=list)


def drain(layout: Layout) -> SandboxDrain:
    """Moves the records of a sandbox into the private store."""
    local, done = layout.sandboxed(), SandboxDrain()
    with fsio.locked(layout.lock):
        for name in _FOLDERS:
            _move_folder(local, layout, name, done)
        for line in seal.spool_lines(local):
            _move_spools(local, layout, line, done)
    return done


def second_hand(layout: Layout, *, drawer: bool) -> set[str]:
    """Returns the approvals from the store of last resort: those moved, and with `drawer` those still in it."""
    found = {name for name in layout.listed(layout.drained) if _counts(name)}
    there = {event.hash_self for event in _stored(layout.sandboxed())} if drawer else set()
    return found | (there - {event.hash_self for event in _stored(layout)} if there else set())


def _stored(layout: Layout) -> Iterator[Event]:
    """Yields the approvals in a store."""
    paths = [path for line in seal.spool_lines(layout) for path in seal.spools(layout, line)]
    paths += [os.path.join(layout.sealed_log, name) for name in layout.listed(layout.sealed_log, ".jsonl")]
    for path in paths:
        try:
            yield from (event for event, _ in events_in(fsio.read(path, limit=MAX_SPOOL), "accept"))
        except (FileNotFoundError, UnsafePath, TooLarge):  # sealed just now, or damaged, which readers report
            continue


def _note(data: bytes, layout: Layout, done: SandboxDrain) -> None:
    """Marks the approvals in a part of the log before it is moved, except those that the private store has."""
    approvals = [event for event, _ in events_in(data, "accept")]
    if not approvals:
        return
    known = {event.hash_self for event in _stored(layout)}
    fsio.make_dirs(layout.drained)
    for event in approvals:
        if event.hash_self not in known:
            fsio.replace(os.path.join(layout.drained, event.hash_self), b"")
            done.approvals.append(event)


def _move_folder(local: Layout, layout: Layout, name: str, done: SandboxDrain) -> None:
    root = os.path.join(local.private, name)
    for folder, below, files in os.walk(root):
        if name == "runs" and folder == root:  # not the runs that are still active in the sandbox
            below[:] = [run for run in below if not capsule.is_alive(os.path.join(root, run))]
        target = os.path.normpath(os.path.join(layout.private, name, os.path.relpath(folder, root)))
        for file in files:
            if not _counts(file):
                continue
            fsio.make_dirs(target)
            _move_file(os.path.join(folder, file), os.path.join(target, file), layout, done)


def _move_file(source: str, target: str, layout: Layout, done: SandboxDrain) -> None:
    """Moves one file; if another file has its name, both stay, this one in quarantine."""
    data = fsio.read(source, limit=MAX_SPOOL)
    if os.path.dirname(target) == layout.sealed_log:
        _note(data, layout, done)
    if not os.path.lexists(target):
        fsio.replace(target, data)
    elif fsio.read(target, limit=MAX_SPOOL) != data:
        fsio.make_dirs(layout.quarantine)
        fsio.replace(os.path.join(layout.quarantine, f"{os.path.basename(target)}.{token(8)}.sandbox"), data)
    fsio.remove(source)
    done.files += 1


def _move_spools(local: Layout, layout: Layout, line: str, done: SandboxDrain) -> None:
    """Moves the spools of a line. Closing takes each spool's lock, so a writer in the sandbox starts a new file."""
    folder = os.path.join(layout.spool, line)
    for path in seal.close_spools(local, line):
        fsio.make_dirs(folder)
        stem = os.path.basename(path).rsplit(".", 2)[0]
        # A new name: a spool of the same writer may have been moved before and not be sealed yet.
        data = fsio.read(path, limit=MAX_SPOOL)
        _note(data, layout, done)
        fsio.replace(seal.free_name(os.path.join(folder, stem)), data)
        fsio.remove(path)
        done.files += 1
