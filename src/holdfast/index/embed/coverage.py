"""Finds texts without a vector, and vectors that must be deleted after an erase.

Memories come first, then events, newest first, then docs, then code. After an erase no vector of a text that no index
names any more stays on the disk.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
from collections.abc import Iterator, Sequence

from holdfast.index.embed.embedding_model import MAX_TEXT
from holdfast.index.embed.vectors import VectorModel, Vectors
from holdfast.index.search_rows import MAX_EMBEDDED
from holdfast.index.sqlite import UNSWEPT
from holdfast.model.memory import TYPES
from holdfast.values import frozen

MOST = 200_000  # texts that are collected at once; a guess that bounds the memory
_TURN = {**dict.fromkeys(("candidate", "task", *TYPES), 0), "doc": 2, "code": 3}  # the rest, by time, is 1


@frozen
class UnembeddedText:
    """A text without a vector, and the name of its content."""

    content: bytes
    text: str


def sources(index: str) -> list[str]:
    """Returns the files whose rows are embedded: the index and the corpus."""
    folder, name = os.path.split(index)
    both = (index, os.path.join(folder, "corpus" + name.removeprefix("index")))
    return [path for path in both if os.path.exists(path)]


def facts(paths: Sequence[str]) -> int:
    """Returns the state of the files: a number that changes with them."""
    found = []
    for path in paths:
        with contextlib.suppress(OSError):
            seen = os.stat(path)
            found.append((path, seen.st_mtime_ns, seen.st_size, seen.st_ino))
    return int.from_bytes(hashlib.blake2b(repr(found).encode(), digest_size=7).digest(), "big")


def count(paths: Sequence[str], vectors: Vectors | None, known: VectorModel | None) -> tuple[int, int]:
    """Returns how many texts could have a vector, and how many have none of this model."""
    every: set[bytes] = set()
    for path in paths:
        with _Reading(path) as db:
            every |= {content for (content,) in db.execute(_SHOWN)}
    if known is None or vectors is None:
        return len(every), len(every)
    if vectors.was_filled(known) == facts(paths):
        return len(every), 0
    return len(every), len(every - vectors.contents(known))


def waiting(paths: Sequence[str], vectors: Vectors, known: VectorModel) -> list[tuple[str, int]]:
    """Returns the places of texts without a vector of a model, in the order of their embedding."""
    if vectors.was_filled(known) == facts(paths):
        return []
    done = vectors.contents(known)
    found = []
    for path in paths:
        with _Reading(path) as db:
            for number, content, kind in db.execute(_ORDERED):
                if content not in done:
                    done.add(content)
                    found.append((_TURN.get(kind, 1), -number, path, number))
                    if len(found) >= MOST:
                        break
    found.sort(key=lambda one: one[:2])
    return [(path, number) for _, _, path, number in found]


def texts(places: Sequence[tuple[str, int]]) -> Iterator[UnembeddedText]:
    """Yields the texts at some places; a text deleted meanwhile is left out."""
    for path in dict.fromkeys(path for path, _ in places):
        with _Reading(path) as db:
            for place, number in places:
                row = db.execute(_TEXT, (number,)).fetchone() if place == path else None
                if row is not None and row[0] is not None:
                    yield UnembeddedText(row[0], said(row[1] or "", row[2] or ""))


def said(title: str, text: str) -> str:
    """Returns a row's text for a model: without repeating its title."""
    whole = text if text.startswith(title) else f"{title}\n{text}"
    return whole[: min(MAX_EMBEDDED, MAX_TEXT)].strip() or title


def contents(paths: Sequence[str]) -> set[bytes]:
    """Returns every content that some files name, shown or not."""
    found: set[bytes] = set()
    for path in paths:
        with _Reading(path) as db:
            found |= {content for (content,) in db.execute("SELECT content FROM row WHERE content NOTNULL")}
    return found


_SHOWN = "SELECT DISTINCT content FROM row WHERE shown AND content IS NOT NULL"
_ORDERED = "SELECT id, content, kind FROM row WHERE shown AND content IS NOT NULL ORDER BY id DESC"
_TEXT = "SELECT content, title, text FROM row WHERE id = ?"


class _Reading:
    """A read-only connection; a file that is no index of this version reads as empty."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> sqlite3.Connection:
        self._db = sqlite3.connect(f"file:{self._path}", uri=True, timeout=20.0, isolation_level=None)
        try:
            self._db.execute("SELECT content, shown FROM row LIMIT 1")
        except (sqlite3.DatabaseError, UnicodeDecodeError):
            self._db.close()
            self._db = sqlite3.connect(":memory:")
            self._db.execute("CREATE TABLE row (id, content, shown, kind, title, text)")
        return self._db

    def __exit__(self, *_: object) -> None:
        self._db.close()


def sweep(folder: str) -> int:
    """Deletes the vectors of texts that no index names any more, if an erase left a mark; returns how many.

    The indexes of other work trees were deleted as well, and are rebuilt on use: texts that only they name are embedded
    again then.
    """
    mark, path = os.path.join(folder, UNSWEPT), os.path.join(folder, "vectors.db")
    if not os.path.exists(mark):
        return 0
    gone = 0
    if os.path.exists(path):
        vectors = Vectors(path)
        try:
            gone = vectors.keep_only(contents(_indexes(folder)))
        except sqlite3.DatabaseError:
            vectors.close()
            os.unlink(path)
        finally:
            vectors.close()
    with contextlib.suppress(OSError):
        os.unlink(mark)
    return gone


def _indexes(folder: str) -> list[str]:
    names = (name for name in sorted(os.listdir(folder)) if name.endswith(".db"))
    return [os.path.join(folder, name) for name in names if name.startswith(("index", "corpus"))]
