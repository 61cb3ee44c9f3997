"""What a folder of entries looks like: one number for ten thousand files, at the cost of asking for their facts.

Names are known by the folder's own time, which every new, renamed or deleted file changes; and no order is needed
where no two files are the same. The quick path loads this: it imports nothing that a Python start has not paid for.
"""

import os

HANDLES = os.stat in os.supports_dir_fd and os.listdir in os.supports_fd
# A pipe in a folder's place must not hold us. Links are followed: some tools link a whole `refs` to another clone's.
FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)


class FolderFacts:
    """Over times, sizes and inodes of a folder's files: their sum, the latest change, and the names of its folders."""

    __slots__ = ("folders", "newest", "total")

    def __init__(self, total: int, newest: int, folders: list[str]) -> None:
        self.total, self.newest, self.folders = total, newest, folders


looked_at: dict[str, FolderFacts] = {}  # what the quick path saw and could not answer from: good for one more look


def look(folder: str) -> FolderFacts | None:
    """The facts of a folder; None if there is none."""
    ask, folders = os.stat, []
    try:
        handle = os.open(folder, FOLDER) if HANDLES else None  # a quarter faster than by path
    except OSError:
        return None
    try:
        own = ask(folder if handle is None else handle)
        # Who sets the one time cannot set the other. The hash of whole numbers is the same in every process.
        newest = max(own.st_mtime_ns, own.st_ctime_ns)
        total = hash((own.st_mtime_ns, own.st_ino))
        before = f"{folder}/" if handle is None else ""
        for name in os.listdir(folder if handle is None else handle):
            try:
                found = ask(before + name, dir_fd=handle, follow_symlinks=False)
            except OSError:  # just now; its folder's time tells
                continue
            if found[0] & 0o170000 == 0o040000:
                folders.append(name)
                continue
            written, changed = found.st_mtime_ns, found.st_ctime_ns
            total ^= hash((written, changed, found[6], found[1]))  # its size and its inode
            newest = changed if changed > newest else newest  # max() would cost ten thousand calls
            newest = written if written > newest else newest
    except OSError:  # it went away just now
        return None
    finally:
        if handle is not None:
            os.close(handle)
    return FolderFacts(total, newest, sorted(folders))
