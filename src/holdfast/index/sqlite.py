"""The index's file: opened, rebuilt if unusable, and deleted freely.

Whatever is wrong with it (damaged, from another program or a newer Holdfast, deleted meanwhile, not writable), the
answer is the same: rebuild it, in memory if necessary, and report it. What is too large for memory is skipped.
"""

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence

from holdfast.errors import Busy, NotStored
from holdfast.index import schema
from holdfast.patterns import regex
from holdfast.store.database_file import make_private, transaction
from holdfast.values import frozen

WAIT = 60.0  # seconds for another command that is building the index; a guess
_LOCKED = (5, 6)  # SQLITE_BUSY, SQLITE_LOCKED
_UNUSABLE = (8, 10, 13, 14)  # READONLY, IOERR, FULL, CANTOPEN
UNSWEPT = "vectors.unswept"  # a mark: vectors may be of erased texts
_MAKES = regex(r"^CREATE (?:VIRTUAL |UNIQUE )?(?:TABLE|INDEX)(?: IF NOT EXISTS)? (\w+)")
_SIBLINGS = ("", "-journal", "-wal", "-shm")
_UNREADABLE = "its own description is damaged"
_FOREIGN = "it belongs to another program or another version of Holdfast"


def _statements() -> list[str]:
    with open(os.path.join(os.path.dirname(__file__), "tables.sql"), encoding="ascii") as file:
        text = "".join(line for line in file if not line.startswith("--"))
    return [statement.strip() for statement in text.split(";\n") if statement.strip()]


INDEXES = {_MAKES.findall(one)[0]: one for one in _statements() if " INDEX " in one}
TABLES = {_MAKES.findall(one)[0]: one for one in _statements() if " INDEX " not in one}


@frozen
class FileForm:
    """The format of a file: its version and tables, and the size of its pages."""

    version: int
    tables: Mapping[str, str]  # name to definition
    page: int | None = None


INDEX_FORM = FileForm(schema.VERSION, TABLES)
CORPUS_FORM = FileForm(schema.VERSION, TABLES, page=8192)  # rows of code waste less room on larger pages


class Index:
    """One work tree's index. `notes` collects messages for the user."""

    def __init__(
        self,
        path: str,
        *,
        form: FileForm = INDEX_FORM,
        wal: bool = True,
        what: str = "the index",
        tables: Sequence[str] = (),
        in_memory: bool = True,
    ) -> None:
        """`tables`: additional tables. `in_memory`: whether it is built there if it cannot be stored."""
        self.path = path
        self._what, self._form, self._tables, self._may_be_in_memory = what, form, tables, in_memory
        self._wal = wal  # a file that is replaced by another one must not have a write-ahead log
        self.notes: list[str] = []
        self._inode: tuple[int, int] | None = None
        self._db: sqlite3.Connection | None = None
        self._in_memory = False

    @property
    def db(self) -> sqlite3.Connection:
        """Returns a connection to the current file."""
        if self._db is not None and not self._in_memory and _identity(self.path) != self._inode:
            self.close()  # somebody deleted or replaced it
        if self._db is None:
            self._db = self._open()
        return self._db

    def _open(self) -> sqlite3.Connection:
        if self._in_memory:
            db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            return _prepared(db, self._form, wal=False)
        try:
            return self._open_file()
        except sqlite3.DatabaseError as error:
            self.recover(error)
            return self.db

    def _open_file(self) -> sqlite3.Connection:
        with contextlib.suppress(OSError):  # SQLite reports what is wrong
            make_private(self.path)
        db = sqlite3.connect(self.path, timeout=WAIT, isolation_level=None, check_same_thread=False)
        try:
            _prepared(db, self._form, wal=self._wal)
        except UnicodeDecodeError as error:  # SQLite quotes the damaged part, and Python cannot read that
            db.close()
            raise sqlite3.DatabaseError(_UNREADABLE) from error
        except sqlite3.Error:
            db.close()
            raise
        self._inode = _identity(self.path)
        return db

    def recover(self, error: sqlite3.DatabaseError) -> None:
        """Makes the index usable again after a failure, empty; Busy if waiting is enough."""
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if is_busy(error):
            raise Busy("another command is building the index") from error
        self.close()
        if code in _UNUSABLE and not self._may_be_in_memory:
            raise NotStored(f"{self._what} cannot be stored in {self.path} ({error})") from error
        if code in _UNUSABLE or self._in_memory:
            self._in_memory = True
            self.notes.append(f"{self._what} cannot be stored in {self.path} ({error}); it is built in memory")
            return
        self.notes.append(f"{self._what} was not usable ({error}) and is rebuilt; nothing was lost")
        drop(self.path)

    def damage(self) -> sqlite3.DatabaseError | None:
        """Returns what is wrong with the file, after a check of every page; None if nothing is."""
        return None if self._in_memory else damage_of(self.path, self._tables)

    def close(self) -> None:
        if self._db is not None:
            self._db.close()
        self._db = None

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Yields one transaction: readers see the state before or after it."""
        with transaction(self.db) as db:
            yield db

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Yields one state for several queries: that of the last refreshed file, even if it is deleted by now."""
        with transaction(self._db or self.db, "BEGIN") as db:
            yield db

    def take_notes(self) -> tuple[str, ...]:
        """Returns the notes and clears them."""
        notes = tuple(self.notes)
        self.notes.clear()
        return notes


def _prepared(db: sqlite3.Connection, form: FileForm, *, wal: bool) -> sqlite3.Connection:
    """Returns the connection with our tables; a foreign or future file counts as damaged."""
    db.execute("PRAGMA cache_size = -32768")
    db.execute("PRAGMA temp_store = MEMORY")
    wanted, found = (schema.APPLICATION, form.version), _stamp(db)
    if found == wanted:
        return db
    if form.page:
        db.execute(f"PRAGMA page_size = {form.page}")  # of a new file
    with transaction(db):
        if _stamp(db) == wanted:  # made by another process meanwhile
            return db
        if any(found) or db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise sqlite3.DatabaseError(_FOREIGN)
        for statement in form.tables.values():
            db.execute(statement)
        db.execute(f"PRAGMA application_id = {schema.APPLICATION}")
        db.execute(f"PRAGMA user_version = {form.version}")
    if wal and sqlite3.sqlite_version_info >= schema.WAL_SINCE:
        db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    return db


def meta(db: sqlite3.Connection, name: str) -> str | None:
    """Returns the value of a name in the index's `meta`."""
    row = db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return row[0] if row else None


def is_busy(error: sqlite3.DatabaseError) -> bool:
    """Whether waiting for another process is enough."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _LOCKED


def is_refused(error: sqlite3.DatabaseError) -> bool:
    """Whether the disk failed, which says nothing about the file."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _UNUSABLE


def read_only(path: str, *, wait: float) -> contextlib.closing[sqlite3.Connection]:
    """Returns a read-only connection to an index's file; closed after use."""
    name = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return contextlib.closing(sqlite3.connect(f"file:{name}?mode=ro", uri=True, timeout=wait, isolation_level=None))


def damage_of(path: str, tables: Sequence[str] = ()) -> sqlite3.DatabaseError | None:
    """Returns what is wrong with an index's file, which is only read; None if nothing is, or it is missing."""
    if not os.path.exists(path):
        return None
    try:
        with read_only(path, wait=WAIT) as db:
            _look_through(db, tables)
    except UnicodeDecodeError:
        return sqlite3.DatabaseError(_UNREADABLE)
    except sqlite3.DatabaseError as error:
        return error
    return None


def unsound(path: str) -> str | None:
    """Returns what SQLite finds wrong with any file; None if nothing is, or it is being written."""
    try:
        with read_only(path, wait=WAIT) as db:
            said = str(db.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.DatabaseError as error:
        return None if is_busy(error) else str(error)
    return None if said == "ok" else said.splitlines()[-1]


def _look_through(db: sqlite3.Connection, tables: Sequence[str]) -> None:
    if _stamp(db) != (schema.APPLICATION, schema.VERSION):
        raise sqlite3.DatabaseError(_FOREIGN)
    if db.execute("SELECT 1 FROM meta LIMIT 1").fetchone() is None:
        tables = ()  # not filled yet
    for table in (*TABLES, *tables):
        db.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone()
    said = db.execute("PRAGMA quick_check(1)").fetchone()[0]
    if said != "ok":
        raise sqlite3.DatabaseError(said.splitlines()[-1])
    for table in (*TABLES, *tables):  # only reading finds a text that cannot be decoded
        for _ in db.execute(f"SELECT * FROM {table}"):
            pass
    db.execute("CREATE VIRTUAL TABLE temp.every_word USING fts5vocab(main, words, 'row')")
    db.execute("SELECT sum(doc) FROM every_word").fetchone()


def _stamp(db: sqlite3.Connection) -> tuple[int, int]:
    return (db.execute("PRAGMA application_id").fetchone()[0], db.execute("PRAGMA user_version").fetchone()[0])


def _identity(path: str) -> tuple[int, int] | None:
    with contextlib.suppress(OSError):
        found = os.stat(path)
        return found.st_dev, found.st_ino
    return None


def drop(path: str) -> None:
    """Deletes an index; the next question rebuilds it."""
    for suffix in _SIBLINGS:
        with contextlib.suppress(OSError):
            os.unlink(path + suffix)


def drop_all(folder: str) -> None:
    """Deletes the indexes of every work tree of a clone: after an erase none may contain its text."""
    try:
        names = os.listdir(folder)
    except OSError:
        return
    if "vectors.db" in names:
        with contextlib.suppress(OSError):
            os.close(os.open(os.path.join(folder, UNSWEPT), os.O_WRONLY | os.O_CREAT, 0o600))
    for name in names:
        if name.startswith("index") and ".db" in name:
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(folder, name))
