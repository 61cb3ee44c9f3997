"""SQLite caches for this user only, created when there is enough to store; commands work without them.

A cache that is damaged, of another version or not writable counts as empty: its contents are read again from their
sources. Temporary tables are in memory.
"""

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Sequence

from holdfast.store import database_file

_APPLICATION = 0x484F4C45  # "HOLE" in ASCII: marks a file as ours
_WAIT = 5.0  # seconds for another command; a guess: after that, reading the sources again is quicker
_BUSY, _REFUSED = (5, 6), (8, 10, 13, 14)  # SQLite's codes: locked; read-only, I/O error, full, cannot open
_MEMORY = ":memory:"


class CacheFile:
    """One cache; its tables are in the schema `kept`. `path` is None if nothing may be stored."""

    def __init__(self, path: str | None, *, version: int, tables: Sequence[str], temporary: Sequence[str] = ()) -> None:
        self.path = path
        self._version, self._tables, self._temporary = version, tables, temporary
        self._db: sqlite3.Connection | None = None
        self._in_file = False

    @property
    def db(self) -> sqlite3.Connection:
        if self._db is None:
            self._db = sqlite3.connect(_MEMORY, timeout=_WAIT, isolation_level=None, check_same_thread=False)
            self._db.execute("PRAGMA temp_store = MEMORY")
            self._attach(self._db, _MEMORY)
            for statement in self._temporary:
                self._db.execute(statement)
            if self.path and os.path.exists(self.path):
                self._use_file(self._db, self.path)
        return self._db

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Runs the block as one transaction; creates the file if needed."""
        db = self.db
        if self.path and not self._in_file:
            with contextlib.suppress(OSError):  # SQLite reports the error
                database_file.make_private(self.path)
            self._use_file(db, self.path)
        with database_file.transaction(db):
            yield db

    def close(self) -> None:
        if self._db is not None:
            self._db.close()
        self._db, self._in_file = None, False

    def drop(self) -> None:
        """Deletes the file; the next write creates it again."""
        self.close()
        if self.path:
            _drop(self.path)

    def _use_file(self, db: sqlite3.Connection, path: str) -> None:
        db.execute("DETACH kept")
        try:
            self._attach(db, path)
            self._in_file = True
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in (*_BUSY, *_REFUSED):
                self.path = None
            else:
                _drop(path)  # damaged or of another version: rebuilt
            with contextlib.suppress(sqlite3.Error):
                db.execute("ROLLBACK")
            with contextlib.suppress(sqlite3.Error):
                db.execute("DETACH kept")
            self._attach(db, _MEMORY)

    def _attach(self, db: sqlite3.Connection, path: str) -> None:
        if os.path.islink(path):
            _drop(path)  # it would lead out of the cache
        db.execute("ATTACH ? AS kept", (path,))
        db.execute("PRAGMA kept.secure_delete = ON")  # deleted rows may hold erased text
        if _stamp(db) == [_APPLICATION, self._version]:
            return
        db.execute("BEGIN IMMEDIATE")
        stamp = _stamp(db)
        if stamp != [_APPLICATION, self._version]:  # else another process was quicker
            if any(stamp) or db.execute("SELECT count(*) FROM kept.sqlite_master").fetchone()[0]:
                raise sqlite3.DatabaseError("it is of another version")
            for statement in self._tables:
                db.execute(statement)
            db.execute(f"PRAGMA kept.application_id = {_APPLICATION}")
            db.execute(f"PRAGMA kept.user_version = {self._version}")
        db.execute("COMMIT")


def _stamp(db: sqlite3.Connection) -> list[int]:
    return [db.execute(f"PRAGMA kept.{name}").fetchone()[0] for name in ("application_id", "user_version")]


def _drop(path: str) -> None:
    for name in (path, f"{path}-journal"):
        with contextlib.suppress(OSError):
            os.unlink(name)
