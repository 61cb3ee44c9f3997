"""Creates a clone's private store: its folders and its random name."""

import os

from holdfast.errors import CorruptLog, ReadOnlyStore, TooLarge, UnsafePath
from holdfast.model.ids import token
from holdfast.patterns import regex
from holdfast.store import fsio
from holdfast.store.layout import Layout

_REPO_ID = regex(r"[0-9a-z]{8,64}")


def make_store(layout: Layout) -> bool:
    """Creates the folders and the name of a store, once; returns whether this call did it."""
    if os.path.lexists(layout.repo_id):
        return False
    try:
        fsio.make_dirs(layout.private)
        with fsio.locked(layout.lock, wait=60.0):
            if os.path.lexists(layout.repo_id):
                return False
            if os.path.basename(layout.private) == "local":
                fsio.replace(os.path.join(layout.private, ".gitignore"), b"*\n", mode=0o644)
            for folder in layout.folders:
                fsio.make_dirs(folder)
            # A killed process may have created some of these without a sync.
            with fsio.refusing(layout.private):
                for folder in (os.path.dirname(layout.private), layout.private, layout.sealed):
                    fsio.ops.sync_dir(folder)
            # Last, because the name shows that the store is complete.
            name_store(layout)
            return True
    except ReadOnlyStore as error:
        raise ReadOnlyStore(f"neither .git nor .holdfast/local can be written here: {error}") from error


def name_store(layout: Layout) -> None:
    """Writes a store's random name."""
    fsio.replace(layout.repo_id, token(20).encode("ascii") + b"\n")


def read_repo_id(layout: Layout) -> str:
    """Returns the random name of a store; raises CorruptLog if its file is damaged."""
    try:
        name = fsio.read(layout.repo_id, limit=200).decode("ascii", "replace").strip()
    except FileNotFoundError:
        raise
    except (UnsafePath, TooLarge, OSError) as error:
        raise CorruptLog(f"{layout.repo_id} cannot be read: {error}") from error
    if not _REPO_ID.fullmatch(name):
        raise CorruptLog(f"{layout.repo_id} is not the name of a store")
    return name
