"""Creates our SQLite files for this user only, and runs transactions on them."""

import contextlib
import errno
import os
import sqlite3
import stat
from collections.abc import Iterator


def make_folders(path: str) -> None:
    """Creates a folder and its parents for this user only; `os.makedirs` leaves the parents to the umask."""
    if path and not os.path.isdir(path):
        make_folders(os.path.dirname(path))
        with contextlib.suppress(FileExistsError):  # another command was quicker
            os.mkdir(path, 0o700)


def make_private(path: str) -> None:
    """Creates a database file and its folders for this user only; SQLite itself follows the umask.

    Its log and journal get the mode of the file. A file that exists is not opened: closing it would release every lock
    that this process's SQLite holds on it, and the next process to leave would delete the log with what is in it.
    """
    make_folders(os.path.dirname(path))
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        facts = os.lstat(path)
        if stat.S_ISLNK(facts.st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path) from None
        if not os.access(path, os.R_OK | os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path) from None
        if os.name == "posix" and facts.st_mode & 0o077:  # created by an earlier version
            os.chmod(path, 0o600)


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
