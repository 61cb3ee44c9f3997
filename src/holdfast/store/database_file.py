"""Creates our SQLite files for this user only, and runs transactions on them."""

import contextlib
import os
import sqlite3
from collections.abc import Iterator


def make_folders(path: str) -> None:
    """Creates a folder and its parents for this user only; `os.makedirs` leaves the parents to the umask."""
    if path and not os.path.isdir(path):
        make_folders(os.path.dirname(path))
        with contextlib.suppress(FileExistsError):  # another command was quicker
            os.mkdir(path, 0o700)


def make_private(path: str) -> None:
    """Creates a database file and its folders for this user only; SQLite itself follows the umask.

    Its log and journal get the mode of the file.
    """
    make_folders(os.path.dirname(path))
    fd = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        if os.name == "posix" and os.fstat(fd).st_mode & 0o077:  # created by an earlier version
            os.fchmod(fd, 0o600)
    finally:
        os.close(fd)


@contextlib.contextmanager
def transaction(db: sqlite3.Connection, begin: str = "BEGIN IMMEDIATE") -> Iterator[sqlite3.Connection]:
    """Runs the block as one transaction; `begin` is the statement that starts it, for reading or writing."""
    db.execute(begin)
    try:
        yield db
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")
