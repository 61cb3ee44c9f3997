"""The store of last resort, `.holdfast/local/`, for sandboxes where .git cannot be written.

What was recorded there is durable only as far as the work tree is. The next command that can
write the private store moves it there; nothing is deleted before its copy is synced.
"""

import os

from holdfast.store import fsio, seal
from holdfast.store.layout import Layout
from holdfast.store.log import MAX_SPOOL

_FOLDERS = ("bodies", "pending", "candidates", "runs", "sealed")


def holds_something(layout: Layout) -> bool:
    """Whether a sandbox left something to be moved."""
    local = layout.sandboxed().private
    return any(
        os.path.isdir(os.path.join(local, name)) and os.listdir(os.path.join(local, name))
        for name in (*_FOLDERS, "spool")
    )


def drain(layout: Layout) -> int:
    """Move what a sandbox recorded into the private store; gives the number of files moved."""
    local = layout.sandboxed()
    with fsio.locked(layout.lock):
        moved = sum(_move_folder(local, layout, name) for name in _FOLDERS)
        return moved + sum(_move_spools(local, layout, line) for line in seal.spool_lines(local))


def _move_folder(local: Layout, layout: Layout, name: str) -> int:
    count = 0
    root = os.path.join(local.private, name)
    for folder, _, files in os.walk(root):
        target = os.path.join(layout.private, name, os.path.relpath(folder, root))
        for file in files:
            fsio.make_dirs(os.path.normpath(target))
            _move_file(os.path.join(folder, file), os.path.join(os.path.normpath(target), file))
            count += 1
    return count


def _move_file(source: str, target: str) -> None:
    data = fsio.read(source, limit=MAX_SPOOL)
    if not os.path.lexists(target):
        fsio.replace(target, data)
    fsio.remove(source)


def _move_spools(local: Layout, layout: Layout, line: str) -> int:
    """Closing takes each spool's lock, so a writer still in the sandbox goes on in a new file."""
    closed = seal.close_spools(local, line)
    folder = os.path.join(layout.spool, line)
    for path in closed:
        fsio.make_dirs(folder)
        _move_file(path, os.path.join(folder, os.path.basename(path)))
    return len(closed)
