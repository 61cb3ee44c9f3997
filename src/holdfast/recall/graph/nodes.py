"""The graph's nodes and their neighbours, read from the index's tables when they are asked for.

A node is a row (a memory, task, run, turn, session, commit, or a piece of a document or of code), a file, or
a name: an id, a symbol, a commit's hash, a person, a product. Rows are tied to the names they hold and to
the files they touch; two rows are tied if they share one. So evidence, dependencies, supersession, trailers
and mentions are all edges of one kind, whatever wrote them, and of two index files neither needs to know of
the other. What many rows share ties nobody. Likeness of meaning is an edge, too, where somebody hands it in:
nobody does by default, because it found less than it cost (docs/design/graph.md).
"""

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from math import log
from typing import Any

from holdfast.index.asked import quoted
from holdfast.index.names import is_identifier, names_in
from holdfast.values import field, mutable

Node = tuple[str, int, str]  # what it is, a row's source, and its number, path or name
Row = tuple[Any, ...]
Similar = Callable[[bytes], Sequence[tuple[bytes, float]]]  # contents like one, and how like: 0 to 1

ROW, PATH, NAME = "row", "path", "name"
SHARED = 60  # rows; a name or a file that more of them share ties nobody
NAMES = 24  # of one row
PATHS = 16  # of one row
SHORT = 7  # characters by which people call a commit
_RARE = log(2000.0)
_FIELDS = "name, title, text, context, run, task, target, supersedes, head, parent, content, kind"
_SAID, _TYPED, _WORD = 1.0, 2.0, 0.25  # weights: an id that is mentioned, one that a field holds, other names
_TOUCHED, _BELONGS = 0.7, 1.5


@mutable
class Nodes:
    """Neighbours in all sources; every name is looked up once."""

    sources: Sequence[sqlite3.Connection]
    similar: Similar | None = None
    looked_up: int = 0
    _known: dict[Node, list[Node]] = field(default_factory=dict)
    _kinds: dict[Node, str] = field(default_factory=dict)

    def near(self, node: Node) -> dict[Node, float]:
        """What a row, a file or a name is tied to, and how strongly."""
        if node[0] == ROW:
            return self._of_row(node)
        rows = self.rows_of(node)
        return {} if len(rows) > SHARED else dict.fromkeys(rows, 1.0)

    def rows_of(self, node: Node) -> list[Node]:
        """The rows that hold a name or touch a file, up to one more than may share it."""
        if node not in self._known:
            self.looked_up += 1
            self._known[node] = [
                (ROW, number, str(row))
                for number, db in enumerate(self.sources)
                for row in (_holding(db, node[2]) if node[0] == NAME else _touching(db, node[2]))
            ]
        return self._known[node]

    def kind(self, node: Node) -> str:
        """What kind of row it is."""
        if node not in self._kinds:
            found = self.sources[node[1]].execute("SELECT kind FROM row WHERE id = ?", (int(node[2]),))
            self._kinds[node] = (found.fetchone() or ("",))[0]
        return self._kinds[node]

    def rarity(self, node: Node) -> float:
        """How much it says that two rows share a name or a file; 0 if it ties nobody."""
        count = len(self.rows_of(node))
        return (1.0 - log(count) / _RARE) ** 2 if 1 <= count <= SHARED else 0.0

    def _of_row(self, node: Node) -> dict[Node, float]:
        db, number = self.sources[node[1]], int(node[2])
        row = db.execute(f"SELECT {_FIELDS} FROM row WHERE id = ? AND shown", (number,)).fetchone()
        if row is None:
            return {}
        self._kinds[node] = row[-1]
        found: dict[Node, float] = {}
        for other, weight in (*_named(row), *_touched(db, number)):
            if other not in found and (rarity := self.rarity(other)) and len(self.rows_of(other)) > 1:
                found[other] = weight * rarity
        family = db.execute("SELECT id FROM row WHERE parent = ? AND shown ORDER BY id LIMIT 16", (number,))
        for (child,) in ((row[9],), *family):
            if child is not None:
                found[ROW, node[1], str(child)] = _BELONGS
        if self.similar is not None and row[10] is not None:
            found.update(self._like(node, row[10], self.similar))
        return found

    def _like(self, node: Node, content: bytes, similar: Similar) -> dict[Node, float]:
        """The rows whose text is like that of another."""
        rows = {
            (ROW, number, str(row)): likeness
            for other, likeness in similar(content)
            for number, db in enumerate(self.sources)
            for (row,) in db.execute("SELECT id FROM row WHERE content = ? AND shown ORDER BY id", (other,))
        }
        rows.pop(node, None)
        return rows


def _named(row: Row) -> list[tuple[Node, float]]:
    """The names a row holds: those of its fields first, then ids in its text, then other names."""
    name, title, text, context, run, task, target, supersedes, head, *_ = row
    typed = [name, run, task, target, *(supersedes or "").split(), head]
    words = [word.rpartition(":")[2] for word in (context or "").split()]  # `commit:<oid>`, as evidence is written
    beside = [word for word in words if "." not in word and is_identifier(word)]  # files are tied by touches
    said = names_in(f"{title or ''}\n{text or ''}", 2 * NAMES)
    weighed = [(word, _TYPED) for word in (*typed, *beside) if word]
    weighed += [(word, _SAID) for word in said if is_identifier(word)]
    weighed += [(word, _WORD) for word in said if not is_identifier(word)]
    return [((NAME, 0, called(word)), weight) for word, weight in weighed[:NAMES]]


def called(name: str) -> str:
    """A name as it is looked up: a commit by the beginning of its hash, all else by what it is."""
    low = name.casefold()
    is_hash = len(low) >= SHORT and all(c in "0123456789abcdef" for c in low) and not low.isalpha()
    return low[:SHORT] if is_hash else low


def _holding(db: sqlite3.Connection, name: str) -> list[int]:
    """The shown rows that hold a name anywhere, in the order of their numbers."""
    short = len(name) == SHORT and all(c in "0123456789abcdef" for c in name)
    match = f"{quoted(name)} *" if short else quoted(name)
    found = db.execute("SELECT rowid FROM words WHERE words MATCH ? LIMIT ?", (match, SHARED + 1))
    return [row for (row,) in found]


def _touching(db: sqlite3.Connection, path: str) -> list[int]:
    """The shown rows that touch a file."""
    found = db.execute(
        "SELECT touch.row FROM path JOIN touch ON touch.path = path.id WHERE path.name = ? ORDER BY touch.row LIMIT ?",
        (path, SHARED + 1),
    )
    return [row for (row,) in found]


def _touched(db: sqlite3.Connection, number: int) -> Iterable[tuple[Node, float]]:
    """The files a row touches; a change of very many files says little about each."""
    paths = db.execute(
        "SELECT path.name FROM touch JOIN path ON path.id = touch.path WHERE touch.row = ? ORDER BY path.name LIMIT ?",
        (number, PATHS),
    ).fetchall()
    return [((PATH, 0, path), _TOUCHED / (1.0 + log(len(paths)))) for (path,) in paths]
