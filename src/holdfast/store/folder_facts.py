"""Computes one number for the state of a folder, from the sizes, times and inodes of up to ten thousand files.

File names need not be hashed: every new, renamed or deleted file changes the folder's own time. The order of files
does not matter. The quick path loads this module, so it imports only what every Python start has loaded.
"""

import os

HANDLES = os.stat in os.supports_dir_fd and os.listdir in os.supports_fd
# O_DIRECTORY: a pipe in place of a folder must not stop us. Follows links: some tools link `refs` to another clone's.
FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)


class FolderFacts:
    """The state of a folder: a sum over the facts of its files, the latest change, and the names of its subfolders."""

    __slots__ = ("folders", "newest", "total")

    def __init__(self, total: int, newest: int, folders: list[str]) -> None:
        self.total, self.newest, self.folders = total, newest, folders


looked_at: dict[str, FolderFacts] = {}  # facts that the quick path read before it gave up: valid for one more use


def look(folder: str) -> FolderFacts | None:
    """Returns the facts of a folder; None if there is no folder."""
    ask, folders = os.stat, []
    try:
        handle = os.open(folder, FOLDER) if HANDLES else None  # a quarter faster than by path
    except OSError:
        return None
    try:
        own = ask(folder if handle is None else handle)
        # A program can set mtime but not ctime. The hash of integers is the same in every process.
        newest = max(own.st_mtime_ns, own.st_ctime_ns)
        total = hash((own.st_mtime_ns, own.st_ino))
        before = f"{folder}/" if handle is None else ""
        for name in os.listdir(folder if handle is None else handle):
            try:
                found = ask(before + name, dir_fd=handle, follow_symlinks=False)
            except OSError:  # deleted just now; the folder's time shows it
                continue
            if found[0] & 0o170000 == 0o040000:
                folders.append(name)
                continue
            written, changed = found.st_mtime_ns, found.st_ctime_ns
            total ^= hash((written, changed, found[6], found[1]))  # with size and inode
            newest = changed if changed > newest else newest  # max() would cost ten thousand calls
            newest = written if written > newest else newest
    except OSError:  # deleted just now
        return None
    finally:
        if handle is not None:
            os.close(handle)
    return FolderFacts(total, newest, sorted(folders))
