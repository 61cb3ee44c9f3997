"""The store of last resort, `.holdfast/local/`, for sandboxes where .git cannot be written.

What was recorded there is durable only as far as the work tree is. The next command that can
write the private store moves it there; nothing is deleted before its copy is synced.

Whoever can write files of the work tree can write this store: an agent, or whoever gets a folder into
it past git. So an approval that lay here is remembered as such before it is moved (`second_hand`), and
counts as nobody's in person.
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

# Bodies before the events that name them, lines before what was recorded on them.
_FOLDERS = (
    *("lines", "bodies", "runs", "candidates", "sealed", "pending", "erased", "quarantine"),
    *("sessions", "claims", "anchors", "receipts"),
)


def holds_something(layout: Layout) -> bool:
    """Whether a sandbox left something to be moved."""
    local = layout.sandboxed().private
    if not os.path.isdir(local):
        return False
    walks = (os.walk(os.path.join(local, name)) for name in (*_FOLDERS, "spool"))
    return any(_counts(file) for walk in walks for _, _, files in walk for file in files)


def _counts(file: str) -> bool:
    return not file.endswith((".tmp", ".lock"))


@mutable
class SandboxDrain:
    """What was moved: how many files, and the approvals among them."""

    files: int = 0
    approvals: list[Event] = field(default_factory=list)


def drain(layout: Layout) -> SandboxDrain:
    """Move what a sandbox recorded into the private store."""
    local, done = layout.sandboxed(), SandboxDrain()
    with fsio.locked(layout.lock):
        for name in _FOLDERS:
            _move_folder(local, layout, name, done)
        for line in seal.spool_lines(local):
            _move_spools(local, layout, line, done)
    return done


def second_hand(layout: Layout, *, drawer: bool) -> set[str]:
    """The approvals that were not given in the private store: they lay, or with `drawer` lie, beside git."""
    found = {name for name in layout.listed(layout.drained) if _counts(name)}
    there = {event.hash_self for event in _stored(layout.sandboxed())} if drawer else set()
    return found | (there - {event.hash_self for event in _stored(layout)} if there else set())


def _stored(layout: Layout) -> Iterator[Event]:
    """The approvals in a store."""
    paths = [path for line in seal.spool_lines(layout) for path in seal.spools(layout, line)]
    paths += [os.path.join(layout.sealed_log, name) for name in layout.listed(layout.sealed_log, ".jsonl")]
    for path in paths:
        try:
            yield from (event for event, _ in events_in(fsio.read(path, limit=MAX_SPOOL), "accept"))
        except (FileNotFoundError, UnsafePath, TooLarge):  # sealed just now, or damaged: readers say so
            continue


def _note(data: bytes, layout: Layout, done: SandboxDrain) -> None:
    """Remember the approvals in a piece of the log that is to be moved; one given here before stays ours."""
    brought = [event for event, _ in events_in(data, "accept")]
    if not brought:
        return
    known = {event.hash_self for event in _stored(layout)}
    fsio.make_dirs(layout.drained)
    for event in brought:
        if event.hash_self not in known:
            fsio.replace(os.path.join(layout.drained, event.hash_self), b"")
            done.approvals.append(event)


def _move_folder(local: Layout, layout: Layout, name: str, done: SandboxDrain) -> None:
    root = os.path.join(local.private, name)
    for folder, below, files in os.walk(root):
        if name == "runs" and folder == root:  # a run still under way in the sandbox is left to it
            below[:] = [run for run in below if not capsule.is_alive(os.path.join(root, run))]
        target = os.path.normpath(os.path.join(layout.private, name, os.path.relpath(folder, root)))
        for file in files:
            if not _counts(file):
                continue
            fsio.make_dirs(target)
            _move_file(os.path.join(folder, file), os.path.join(target, file), layout, done)


def _move_file(source: str, target: str, layout: Layout, done: SandboxDrain) -> None:
    """Move one file; where another stands under its name, both are kept."""
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
    """Closing takes each spool's lock, so a writer still in the sandbox goes on in a new file."""
    folder = os.path.join(layout.spool, line)
    for path in seal.close_spools(local, line):
        fsio.make_dirs(folder)
        stem = os.path.basename(path).rsplit(".", 2)[0]
        # A name of its own: the same writer may have been drained before and not yet be sealed.
        data = fsio.read(path, limit=MAX_SPOOL)
        _note(data, layout, done)
        fsio.replace(seal.free_name(os.path.join(folder, stem)), data)
        fsio.remove(path)
        done.files += 1
