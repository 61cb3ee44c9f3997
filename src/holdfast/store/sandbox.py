"""The store of last resort, `.holdfast/local/`, for sandboxes where .git cannot be written.

What was recorded there is durable only as far as the work tree is. The next command that can
write the private store moves it there; nothing is deleted before its copy is synced.
"""

import os

from holdfast.model.ids import token
from holdfast.store import capsule, fsio, seal
from holdfast.store.layout import Layout
from holdfast.store.log import MAX_SPOOL

# Bodies before the events that name them, lines before what was recorded on them.
_FOLDERS = (
    *("lines", "bodies", "runs", "candidates", "sealed", "pending", "erased", "quarantine"),
    *("sessions", "claims", "anchors", "receipts"),
)


def holds_something(layout: Layout) -> bool:
    """Whether a sandbox left something to be moved."""
    local = layout.sandboxed().private
    walks = (os.walk(os.path.join(local, name)) for name in (*_FOLDERS, "spool"))
    return any(_counts(file) for walk in walks for _, _, files in walk for file in files)


def _counts(file: str) -> bool:
    return not file.endswith((".tmp", ".lock"))


def drain(layout: Layout) -> int:
    """Move what a sandbox recorded into the private store; gives the number of files moved."""
    local = layout.sandboxed()
    with fsio.locked(layout.lock):
        moved = sum(_move_folder(local, layout, name) for name in _FOLDERS)
        return moved + sum(_move_spools(local, layout, line) for line in seal.spool_lines(local))


def _move_folder(local: Layout, layout: Layout, name: str) -> int:
    count = 0
    root = os.path.join(local.private, name)
    for folder, below, files in os.walk(root):
        if name == "runs" and folder == root:  # a run still under way in the sandbox is left to it
            below[:] = [run for run in below if not capsule.is_alive(os.path.join(root, run))]
        target = os.path.normpath(os.path.join(layout.private, name, os.path.relpath(folder, root)))
        for file in files:
            if not _counts(file):
                continue
            fsio.make_dirs(target)
            _move_file(os.path.join(folder, file), os.path.join(target, file), layout)
            count += 1
    return count


def _move_file(source: str, target: str, layout: Layout) -> None:
    """Move one file; where another stands under its name, both are kept."""
    data = fsio.read(source, limit=MAX_SPOOL)
    if not os.path.lexists(target):
        fsio.replace(target, data)
    elif fsio.read(target, limit=MAX_SPOOL) != data:
        fsio.make_dirs(layout.quarantine)
        fsio.replace(os.path.join(layout.quarantine, f"{os.path.basename(target)}.{token(8)}.sandbox"), data)
    fsio.remove(source)


def _move_spools(local: Layout, layout: Layout, line: str) -> int:
    """Closing takes each spool's lock, so a writer still in the sandbox goes on in a new file."""
    closed = seal.close_spools(local, line)
    folder = os.path.join(layout.spool, line)
    for path in closed:
        fsio.make_dirs(folder)
        stem = os.path.basename(path).rsplit(".", 2)[0]
        # A name of its own: the same writer may have been drained before and not yet be sealed.
        fsio.replace(seal.free_name(os.path.join(folder, stem)), fsio.read(path, limit=MAX_SPOOL))
        fsio.remove(path)
    return len(closed)
