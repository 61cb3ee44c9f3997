"""Vectors on disk: `memory_index`, one int8 vector for each content and model.

Contents are named by the hash of their text, so the index may be deleted and rebuilt, and branches switched, without a
text being embedded twice. A vector has length one before it is stored: its scale follows from its length and is not
stored. The file may be deleted at any time; computing it again takes a while.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from holdfast.errors import Busy, HoldfastError
from holdfast.index import sqlite
from holdfast.index.sqlite import FileForm, Index, is_busy, is_refused
from holdfast.store import fsio
from holdfast.store.database_file import transaction
from holdfast.store.vector_matrix import packed
from holdfast.values import frozen

if TYPE_CHECKING:
    from holdfast.index.embed.embedding_model import Floats

PAGE = 16384  # bytes: 39 vectors of 384 numbers fill one, at 420 bytes each
WASTE, SLACK = 1.06, 4  # a file longer by this factor and so many pages than its vectors is rewritten; guesses
AT_ONCE = 20_000  # rows that are read at once; a guess: about 8 MB
HOW = "holdfast model embed"
READY = "vectors.ready"
_DAMAGED = (11, 26)  # SQLITE_CORRUPT and NOTADB
_LACKING = ("no such", "has no column", "Could not decode")  # SQLite's messages for a file that lost something
_COLUMNS = {
    "model": "(id INTEGER PRIMARY KEY, key TEXT UNIQUE, source TEXT, size INTEGER, count INTEGER)",
    "memory_index": "(content BLOB, model INTEGER, vector BLOB, PRIMARY KEY (content, model)) WITHOUT ROWID",
    "meta": "(name TEXT PRIMARY KEY, value INTEGER) WITHOUT ROWID",
}
_FORM = FileForm(0x7601, {name: f"CREATE TABLE {name} {columns}" for name, columns in _COLUMNS.items()}, page=PAGE)


@frozen
class VectorModel:
    """A model with vectors here: its number, what its vectors depend on, its source."""

    id: int
    key: str
    source: str
    size: int
    count: int


class Vectors(Index):
    """The vectors of one clone. `notes` collects messages for the user."""

    def __init__(self, path: str, *, notes: list[str] | None = None) -> None:
        super().__init__(path, form=_FORM, what="vectors")
        self.notes = [] if notes is None else notes

    def _open_file(self) -> sqlite3.Connection:
        db = super()._open_file()
        try:
            for table in _FORM.tables:
                db.execute(f"SELECT * FROM {table} LIMIT 1").fetchone()
        except sqlite3.Error:
            db.close()
            raise
        return db

    def recover(self, error: sqlite3.DatabaseError) -> None:
        """Starts again after a failure, empty; Busy if waiting is enough."""
        if is_busy(error):
            raise Busy("another command is writing vectors") from error
        if is_refused(error):  # a new file would not be better
            raise error
        self.close()
        self.notes.append(f"vectors were not usable ({error}) and must be computed again: {HOW}")
        drop(self.path)

    # ── the models ───────────────────────────────────────────────────────────────────────────────

    def models(self) -> list[VectorModel]:
        """Returns the models with vectors here, most vectors first."""
        rows = self.db.execute("SELECT id, key, source, size, count FROM model ORDER BY count DESC, id DESC")
        return [VectorModel(*row) for row in rows]

    def of(self, key: str, *, source: str, size: int) -> VectorModel:
        """Returns the model with this key, added if it is new."""
        with transaction(self.db) as db:
            db.execute("INSERT OR IGNORE INTO model VALUES (NULL, ?, ?, ?, 0)", (key, source, size))
            db.execute("UPDATE model SET source = ? WHERE key = ?", (source, key))
        return next(one for one in self.models() if one.key == key)

    def forget(self, known: VectorModel) -> None:
        """Deletes a model and all its vectors."""
        with transaction(self.db) as db:
            db.execute("DELETE FROM memory_index WHERE model = ?", (known.id,))
            db.execute("DELETE FROM model WHERE id = ?", (known.id,))
            db.execute("DELETE FROM meta WHERE name = ?", (f"filled {known.id}",))
            _new_epoch(db)
        self.say_ready()

    def is_filled(self, known: VectorModel, facts: int) -> None:
        """Stores that all texts had a vector when their files had this state."""
        with transaction(self.db) as db:
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (f"filled {known.id}", facts))

    def was_filled(self, known: VectorModel) -> int | None:
        """Returns the state of the texts' files when all of them had a vector."""
        row = self.db.execute("SELECT value FROM meta WHERE name = ?", (f"filled {known.id}",)).fetchone()
        return int(row[0]) if row else None

    # ── their vectors ───────────────────────────────────────────────────────────────────────────

    def put(
        self, known: VectorModel, contents: Sequence[bytes], found: Floats, *, holds: Callable[[], bool] = lambda: True
    ) -> bool:
        """Stores the vectors of some contents, if their texts still `hold`; returns whether they did.

        The check is inside the transaction: an erase first reports and then sweeps, so either we see it, or it finds
        our vectors.
        """
        rows = [(content, known.id, row) for content, row in zip(contents, packed(found), strict=True)]
        with transaction(self.db) as db:
            if not holds():
                return False
            before = db.total_changes
            db.executemany("INSERT OR IGNORE INTO memory_index VALUES (?, ?, ?)", rows)
            new = db.total_changes - before
            db.execute("UPDATE model SET count = count + ? WHERE id = ?", (new, known.id))
            _new_epoch(db)
        return True

    def state(self) -> int:
        """Returns how often vectors were added or deleted."""
        epoch = self.db.execute("SELECT value FROM meta WHERE name = 'epoch'").fetchone()
        return epoch[0] if epoch else 0

    def every(self, known: VectorModel) -> Iterator[list[tuple[bytes, bytes]]]:
        """Yields all contents and vectors of a model, sorted by content, so many at once."""
        ask = "SELECT content, vector FROM memory_index WHERE model = ? ORDER BY content"
        rows = self.db.execute(ask, (known.id,))
        while some := rows.fetchmany(AT_ONCE):
            yield some

    def contents(self, known: VectorModel) -> set[bytes]:
        """Returns all contents with a vector of a model."""
        rows = self.db.execute("SELECT content FROM memory_index WHERE model = ?", (known.id,))
        return {content for (content,) in rows}

    def keep_only(self, contents: set[bytes]) -> int:
        """Deletes the vectors of all other contents, leaving no byte of them; returns how many they were."""
        held = {content for (content,) in self.db.execute("SELECT DISTINCT content FROM memory_index")}
        gone = [(content,) for content in held - contents]
        if not gone:
            return 0
        with transaction(self.db) as db:
            db.executemany("DELETE FROM memory_index WHERE content = ?", gone)
            db.execute("DROP TABLE IF EXISTS recent")  # of earlier versions: it names contents
            db.execute("DELETE FROM meta WHERE name LIKE 'filled %'")
            db.execute("UPDATE model SET count = (SELECT count(*) FROM memory_index WHERE model = model.id)")
            _new_epoch(db)
        self.db.execute("VACUUM")  # deleted rows would stay in the file
        self.say_ready()
        return len(gone)

    def tidy(self) -> None:
        """Rewrites the file if half-empty pages make it long: vectors arrive in random order."""
        need = sum(-(-one.count // max((PAGE - 12) // (one.size + 27), 1)) for one in self.models())
        if self.db.execute("PRAGMA page_count").fetchone()[0] > need * WASTE + SLACK:
            with contextlib.suppress(sqlite3.OperationalError):  # another process is reading: try again later
                self.db.execute("VACUUM")

    def say_ready(self) -> None:
        """Writes a file for processes that only check whether there are vectors; deletes it if there are none."""
        path = os.path.join(os.path.dirname(self.path), READY)
        most = next((one for one in self.models() if one.count), None)
        with contextlib.suppress(OSError, HoldfastError):
            if most is None:
                os.unlink(path)
            else:
                fsio.replace(path, f"{most.count} {most.source}\n".encode())


def is_damaged(error: sqlite3.Error) -> bool:
    """Whether an error means that the file must be rebuilt, and not that it is only busy."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in _DAMAGED or any(said in str(error) for said in _LACKING)


def drop(path: str) -> None:
    """Delete the file and all that belongs to it."""
    hush(path)
    sqlite.drop(path)


def hush(path: str) -> None:
    """Deletes the file that says that there are vectors."""
    with contextlib.suppress(OSError):
        os.unlink(os.path.join(os.path.dirname(path), READY))


def _new_epoch(db: sqlite3.Connection) -> None:
    db.execute("INSERT INTO meta VALUES ('epoch', 1) ON CONFLICT (name) DO UPDATE SET value = value + 1")
