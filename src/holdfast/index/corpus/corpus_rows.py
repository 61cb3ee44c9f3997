"""The rows of commits and files in the corpus: inserted, hidden and shown again in batches.

A commit is one row; a file in one blob is a group of rows, its first chunk the parent of the others. Both have a key. A
file without useful content is stored by its key alone, so that it is not read again. Hidden rows stay for a switch
back, as long as there is room.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter

from holdfast.index.corpus.chunks import FileChunk
from holdfast.index.fill import BATCH, LEARN, PUT_ROW, PUT_WORDS, ROOM, UNLEARN, path_number
from holdfast.index.schema import COLUMNS as FOUND_BY
from holdfast.index.schema import facet
from holdfast.index.search_rows import COLUMNS, SLOTS, Row, content_of, parts_of, path_words, safe
from holdfast.index.sqlite import INDEXES

LOWEST = -(1 << 40)  # chunks are numbered upwards from here: growing numbers fill pages completely
MAX_KNOWN = 200_000  # paths whose numbers are cached; a guess that bounds the memory

OWN_INDEXES = {
    **{name: INDEXES[name] for name in ("row_parent", "row_content", "touch_row")},
    "row_shelf": "CREATE INDEX IF NOT EXISTS row_shelf ON row (key, shown, kind) WHERE key IS NOT NULL",
}
_GROUP = "SELECT ?1 UNION ALL SELECT id FROM row WHERE parent = ?1"
_SECOND = 1_000_000 << SLOTS
_FIRST = COLUMNS.index("title")
_LAST = _FIRST + len(FOUND_BY)
_number = itemgetter(0)
_FACETS = {kind: facet("k", kind) for kind in ("doc", "code")}


class CorpusRows:
    """The changes of one transaction to the corpus."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._rows: list[Row] = []
        self._touches: list[tuple[int, int]] = []
        self._turned: tuple[list[tuple[int]], list[tuple[int]]] = ([], [])  # to hide, to show
        self._paths: dict[str, int] = {}
        self._next: dict[int, int] = {}
        last = db.execute("SELECT max(id) FROM row WHERE id < 0").fetchone()[0]
        self._last = LOWEST if last is None else last

    def known(self) -> Iterator[tuple[bytes, int]]:
        """Yields every key, and whether it is shown; files that were left out have one too."""
        yield from self._db.execute("SELECT key, shown FROM row WHERE key IS NOT NULL")
        for name, shown in self._db.execute("SELECT name, shown FROM unit"):
            yield bytes.fromhex(name), shown

    def turn(self, key: bytes, *, shown: bool) -> bool:
        """Shows or hides the rows of this key; returns whether the corpus has it."""
        found = self._db.execute("SELECT id, shown FROM row WHERE key = ? AND key IS NOT NULL", (key,)).fetchone()
        if found is None:
            asked = (int(shown), key.hex())
            return self._db.execute("UPDATE unit SET shown = ? WHERE name = ?", asked).rowcount > 0
        if bool(found[1]) != shown:
            self._turned[shown].extend(self._db.execute(_GROUP, (found[0],)))
        return True

    def leave_out(self, key: bytes) -> None:
        """Stores that a key has no useful content."""
        self._db.execute("INSERT OR REPLACE INTO unit (name, kind, shown) VALUES (?, 'left', 1)", (key.hex(),))

    def add_commit(self, row: Row, paths: Sequence[str]) -> None:
        """Adds a new commit."""
        number = self._free(row[0])
        self._rows.append((number, *row[1:]))
        self._touches += [(self._path(path), number) for path in paths]
        if len(self._rows) >= BATCH:
            self.flush()

    def add_file(self, key: bytes, kind: str, path: str, blob: str, chunks: Iterable[FileChunk]) -> None:
        """Adds a new file; without chunks it is only noted."""
        first = None
        # Git allows any name: a line break in one must not look like another hit.
        words, shown_path = path_words([path]), safe(path).replace("\n", "␊").replace("\t", "␉")
        for seq, chunk in enumerate(chunks):
            self._last += 1
            row = _chunk_row(kind, shown_path, words, chunk)
            own = (key, 1, seq) if first is None else (None, 1, seq)
            tail = (blob if first is None else None, None, None, None, "T2", first)
            self._rows.append((self._last, *own, *row, *tail))
            self._touches.append((self._path(path), self._last))
            first = first or self._last
        if first is None:
            self.leave_out(key)
        if len(self._rows) >= BATCH:
            self.flush()

    def _path(self, name: str) -> int:
        number = self._paths.get(name)
        if number is None:
            if len(self._paths) >= MAX_KNOWN:
                self._paths.clear()
            number = self._paths[name] = path_number(self._db, name)
        return number

    def _free(self, base: int) -> int:
        """Returns a free number near the base: several commits may be made in one second."""
        number = self._next.get(base)
        if number is None:
            asked = "SELECT max(id) FROM row WHERE id >= ? AND id < ?"
            last = self._db.execute(asked, (base, base + _SECOND)).fetchone()[0]
            number = base if last is None else last + 1
        self._next[base] = number + 1
        return number

    def flush(self) -> None:
        """Writes all pending rows to the tables.

        FTS5 takes rows in the order of their numbers; each step back would cost it a write to the disk.
        """
        for shown, numbers in enumerate(self._turned):
            numbers.sort()
            self._db.executemany(LEARN if shown else UNLEARN, numbers)
            self._db.executemany(f"UPDATE row SET shown = {shown} WHERE id = ?", numbers)
            self._db.executemany("UPDATE touch SET path = -path WHERE row = ?", numbers)
            numbers.clear()
        self._rows.sort(key=_number)
        self._db.executemany(PUT_ROW, self._rows)
        self._db.executemany(PUT_WORDS, [(row[0], *row[_FIRST:_LAST]) for row in self._rows])
        self._touches.sort()
        self._db.executemany("INSERT OR IGNORE INTO touch VALUES (?, ?)", self._touches)
        self._rows.clear()
        self._touches.clear()

    def make_room(self) -> int:
        """Deletes hidden rows if there are many, and more than shown ones; returns how many remain."""
        count = "SELECT count(*) FROM row WHERE key IS NOT NULL AND shown = ?"
        hidden, shown = (int(self._db.execute(count, (value,)).fetchone()[0]) for value in (0, 1))
        if hidden <= shown + ROOM:
            return hidden
        for (number,) in self._db.execute("SELECT id FROM row WHERE key IS NOT NULL AND shown = 0").fetchall():
            numbers = self._db.execute(_GROUP, (number,)).fetchall()
            self._db.executemany("DELETE FROM touch WHERE row = ?", numbers)
            self._db.executemany("DELETE FROM row WHERE id = ?", numbers)
        self._db.execute("DELETE FROM unit WHERE shown = 0")
        self._db.execute("DELETE FROM path WHERE NOT EXISTS (SELECT 1 FROM touch WHERE path IN (id, -id))")
        return 0


def _chunk_row(kind: str, path: str, words: str, chunk: FileChunk) -> Row:
    """Returns the middle of a chunk's row, from its content to its path."""
    name = path.rpartition("/")[2]
    title, text = safe(chunk.title or name), safe(chunk.text)
    context = f"{safe(chunk.context)} {words}" if chunk.context else words
    return (
        content_of(title, text), f"{path}:{chunk.line}", kind, None, None, title, name, text,
        parts_of(text), context, _FACETS[kind],
        None, None, None, None, None, None, None, None, path, None, None, None,
    )  # fmt: skip
