"""A cache of parsed memories and tasks: the text of an entry file by its blob, and its fields.

It may be deleted at any time. It stores only texts without secrets, under the key of the redaction rules: with other
rules everything is read again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast.errors import HoldfastError
from holdfast.store import layout, memory_files, task_files
from holdfast.store.cache_file import CacheFile

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from holdfast.security.redact import Scanner

VERSION = 4
_T = TypeVar("_T")
MOST = 1 << 16  # texts in the memory of a long process; a guess: more than projects have
FEW = 32  # entries of a view; a guess: rendering so few again costs less than writing to the file
ROOM = 4  # times as many rows as are wanted now, for other branches and earlier states; a guess
_TABLES = (
    "CREATE TABLE kept.entry (rules TEXT, blob TEXT, text TEXT, fields TEXT)",  # rules: of a folder's entries
    "CREATE UNIQUE INDEX kept.entry_blob ON entry (blob, rules)",
    "CREATE TABLE kept.shown (rules TEXT, blob TEXT, text TEXT)",
    "CREATE UNIQUE INDEX kept.shown_blob ON shown (blob, rules)",
)
_SHOWN = "SELECT blob, text FROM shown WHERE blob IN (SELECT value FROM json_each(?)) AND rules = ?"
_ALL_SHOWN = "SELECT blob, text FROM shown WHERE rules = ?"
_SOME = "SELECT blob, text, fields FROM entry WHERE blob IN (SELECT value FROM json_each(?)) AND rules = ?"
_ALL = "SELECT blob, text, fields FROM entry WHERE rules = ?"
MOST_LOOKED_UP = 500  # blobs; a guess: for more, reading the whole table is quicker
READERS = {layout.MEMORY: memory_files, layout.TASKS: task_files}


class EntryMemo:
    """The texts of one clone's entries. `path` is None if nothing may be stored."""

    def __init__(self, path: str | None, hide: Scanner, erased: Collection[str] = ()) -> None:
        self._file = CacheFile(path, version=VERSION, tables=_TABLES)
        self._hide = hide
        gone = hashlib.sha256("\n".join(sorted(erased)).encode("utf-8", "replace")).hexdigest()[:16]
        self._key = f"{hide.key}-{gone}"  # with other rules, or after an erase, everything is read again
        self._texts: dict[str, str] = {}
        self.clean: set[str] = set()  # blobs in which no secret was found

    def texts(self, folder: str, blobs: Iterable[str], ask: Callable[[list[str]], dict[str, bytes]]) -> dict[str, str]:
        """Returns the texts of blobs; `ask` reads those that are not cached. Missing blobs are left out."""
        wanted = list(blobs)
        if len(self._texts) > MOST:
            self._texts.clear()
        reader = READERS.get(folder)
        if reader and (missing := self._missing(wanted)):
            self._load(missing, folder)
        if missing := self._missing(wanted):
            found = {blob: data.decode("utf-8", "replace") for blob, data in ask(missing).items()}
            self._texts |= found
            if reader and found:
                with contextlib.suppress(sqlite3.Error):  # busy, or a disk error
                    self._keep(found, folder, len(wanted))
        return {blob: self._texts[blob] for blob in wanted if blob in self._texts}

    def take_over(self, earlier: EntryMemo) -> None:
        """Takes over what an earlier memo of the same clone holds, if the same rules for secrets hold."""
        if earlier._key == self._key:
            self._texts, self.clean = earlier._texts, earlier.clean

    def shown(self, view: str, texts: Mapping[str, _T], make: Callable[[_T], str]) -> dict[str, str]:
        """Returns the text that a view shows for each blob; `make` renders, without secrets, what is not cached."""
        rules = f"{view} {self._key}"
        found: dict[str, str] = {}
        if len(texts) > FEW:
            with contextlib.suppress(sqlite3.Error, UnicodeDecodeError):
                few = len(texts) <= MOST_LOOKED_UP
                query = (_SHOWN, (json.dumps(list(texts)), rules)) if few else (_ALL_SHOWN, (rules,))
                found = {blob: text for blob, text in self._file.db.execute(*query) if blob in texts}
        new = {blob: make(text) for blob, text in texts.items() if blob not in found}
        if len(new) > FEW and self._file.path is not None:
            with contextlib.suppress(sqlite3.Error):
                self._put("shown", [(rules, blob, text) for blob, text in new.items()], len(texts))
        return found | new

    def _put(self, table: str, rows: list[tuple[str, ...]], wanted: int) -> None:
        with self._file.writing() as db:
            db.execute(f"DELETE FROM {table} WHERE substr(rules, -length(?)) <> ?", (self._key, self._key))
            if db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] > ROOM * (wanted + len(rows)):
                db.execute(f"DELETE FROM {table}")
            db.executemany(f"INSERT OR IGNORE INTO {table} VALUES (?{', ?' * (len(rows[0]) - 1)})", rows)

    def _missing(self, wanted: Iterable[str]) -> list[str]:
        return [blob for blob in wanted if blob not in self._texts]

    def _load(self, blobs: list[str], folder: str) -> None:
        rules, know, wanted = f"{folder} {self._key}", READERS[folder].know, set(blobs)
        few = len(blobs) <= MOST_LOOKED_UP
        try:
            found = self._file.db.execute(_SOME if few else _ALL, ((json.dumps(blobs),) if few else ()) + (rules,))
            rows = found.fetchall()
        except (sqlite3.Error, UnicodeDecodeError):
            return
        rows = [row for row in rows if row[0] in wanted]
        for (blob, text, _), fields in zip(rows, _all_fields([row[2] for row in rows]), strict=True):
            try:
                know(text, fields)
            except (ValueError, TypeError, LookupError):  # damaged: read again from git
                continue
            self._texts[blob] = text
            self.clean.add(blob)

    def _keep(self, found: dict[str, str], folder: str, wanted: int) -> None:
        rows: list[tuple[str, ...]] = []
        rules, plain = f"{folder} {self._key}", READERS[folder].plain
        for blob, text in found.items():
            with contextlib.suppress(HoldfastError):
                fields = plain(text)
                if self._hide.text(text) == text:
                    rows.append((rules, blob, text, json.dumps(fields, ensure_ascii=False)))
                    self.clean.add(blob)
        if rows and self._file.path is not None:
            self._put("entry", rows, wanted)


def _all_fields(rows: list[str]) -> list[Any]:
    """Parses rows all at once, which takes half as long, or one by one, with None for damaged ones."""
    with contextlib.suppress(ValueError, TypeError):
        found: list[Any] = json.loads(f"[{','.join(rows)}]")
        if len(found) == len(rows):
            return found
    found = []
    for row in rows:
        try:
            found.append(json.loads(row))
        except (ValueError, TypeError):
            found.append(None)
    return found
