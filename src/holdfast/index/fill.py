"""Fills the index: units are added and removed with their rows, and only shown rows can be found.

Rows are inserted in batches, and so are the files they are about. A row that another unit also contains is only linked;
visibility is computed once, at the end, for the rows that changed.
"""

import sqlite3
from collections.abc import Iterable, Sequence

from holdfast.index.schema import COLUMNS as FOUND_BY
from holdfast.index.search_rows import COLUMNS, COMMON, SLOTS, Row, Touch, safe
from holdfast.index.sqlite import INDEXES

BATCH = 2000  # rows an insert; a guess: larger batches take memory and gain little
ROOM = 20_000  # hidden rows kept for a switch back, besides as many as are shown; a guess

_AT = {name: place for place, name in enumerate(COLUMNS)}
PUT_ROW = f"INSERT INTO row ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"
_PUT_COMMON = f"INSERT INTO row ({', '.join(COMMON)}) VALUES ({', '.join('?' * len(COMMON))})"
_WORDS = ", ".join(FOUND_BY)
PUT_WORDS = f"INSERT INTO words (rowid, {_WORDS}) VALUES (?{', ?' * len(FOUND_BY)})"
_FIRST, _LAST, _TS = _AT["title"], _AT["facets"] + 1, _AT["ts"]

# An imported run has the time it started; a line (a branch's work) sees it by the time it was recorded.
_RECORDED = "CASE row.kind WHEN 'run' THEN coalesce(row.words, row.ts) ELSE row.ts END"
# The units of most rows. Searching a full table for the few others would cost more than it saves.
_LARGE = ("row_key", "row_target", "row_content", "touch_row", "member_row")
_VISIBLE = f"""EXISTS (SELECT 1 FROM member AS m JOIN unit AS u ON u.id = m.unit
  WHERE m.row = row.id AND u.shown AND (u.until IS NULL OR {_RECORDED} <= u.until))"""
_TURNED = f"""WITH own (id) AS (
  SELECT id FROM row WHERE id IN (SELECT row FROM touched) AND shown <> :shown AND {_VISIBLE} = :shown
) SELECT id FROM own UNION SELECT row.id FROM row JOIN own ON row.parent = own.id"""
LEARN = f"INSERT INTO words (rowid, {_WORDS}) SELECT id, {_WORDS} FROM row WHERE id = ?"
UNLEARN = f"INSERT INTO words (words, rowid, {_WORDS}) SELECT 'delete', id, {_WORDS} FROM row WHERE id = ?"
_ORPHANS = "SELECT row FROM touched WHERE NOT EXISTS (SELECT 1 FROM member WHERE member.row = touched.row)"
_DATE = """UPDATE row SET ts = (
  SELECT max(e.ts) FROM row AS e WHERE e.target = row.name AND e.kind = 'event' AND e.shown
) WHERE id < 0"""
_NEWEST = "SELECT id FROM row WHERE shown AND id > 0 ORDER BY id DESC LIMIT 1"


def path_number(db: sqlite3.Connection, name: str) -> int:
    """Returns the number of a path, adding it if necessary."""
    clean = safe(name)
    found = db.execute("SELECT id FROM path WHERE name = ?", (clean,)).fetchone()
    return found[0] if found else db.execute("INSERT INTO path (name) VALUES (?)", (clean,)).lastrowid or 0


def _recorded(own: Row) -> str:
    """Returns when a row was recorded."""
    is_told = len(own) == len(COLUMNS) and own[_AT["kind"]] == "run"
    return str((own[_AT["words"]] if is_told else None) or own[_TS] or "")


def tune(db: sqlite3.Connection, **options: int) -> None:
    """Sets options of FTS5."""
    db.executemany("INSERT INTO words (words, rank) VALUES (?, ?)", options.items())


class IndexFill:
    """The changes of one transaction to the index."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._empty = db.execute("SELECT 1 FROM row LIMIT 1").fetchone() is None
        self._keys: dict[bytes, int] = {}
        self._taken: set[int] = set()
        self._next: dict[int, int] = {}
        self._rows: list[Row] = []
        self._members: list[tuple[int, int]] = []
        self._touches: list[tuple[int, int]] = []
        self._paths: dict[str, int] = {}
        self._lowest = min(0, db.execute("SELECT min(id) FROM row").fetchone()[0] or 0)
        units = db.execute("SELECT name, id, shown, until FROM unit")
        self._units: dict[str, tuple[int, int, str | None]] = {name: tuple(facts) for name, *facts in units}
        if self._empty:  # filled without its large indexes and merging: both are done at the end
            for name in _LARGE:
                db.execute(f"DROP INDEX IF EXISTS {name}")
            tune(db, hashsize=8 << 20, automerge=0)
        db.execute("CREATE TEMP TABLE IF NOT EXISTS touched (row INTEGER PRIMARY KEY)")
        db.execute("DELETE FROM touched")
        self.changed = False

    def units(self) -> dict[str, int]:
        """Returns every unit the index has read, shown or not, with the offset up to which it was read."""
        return dict(self._db.execute("SELECT name, offset FROM unit"))

    def id_of(self, name: str) -> int:
        return self._units[name][0]

    def show(self, name: str, kind: str, until: str | None) -> None:
        """Marks a unit as visible here, up to a time or without end."""
        known = self._units.get(name)
        if known is None:
            self.changed = True
            put = "INSERT INTO unit (name, kind, shown, until, offset) VALUES (?, ?, 1, ?, 0)"
            self._units[name] = (self._db.execute(put, (name, kind, until)).lastrowid or 0, 1, until)
        elif known[1:] != (1, until):
            self._touch(known[0])
            self._db.execute("UPDATE unit SET shown = 1, until = ? WHERE id = ?", (until, known[0]))
            self._units[name] = (known[0], 1, until)

    def hide(self, name: str) -> None:
        """Marks a unit as not visible. Its rows are kept for a switch back if they cannot change."""
        number, shown, _ = self._units[name]
        if name[:1] not in "set":
            self.forget([name])
        elif shown:
            self._touch(number)
            self._db.execute("UPDATE unit SET shown = 0 WHERE id = ?", (number,))
            self._units[name] = (number, 0, None)

    def forget(self, names: Iterable[str]) -> None:
        """Deletes units, and the rows that only they contain."""
        for name in names:
            number = self._units.pop(name)[0]
            self._touch(number)
            self._db.execute("DELETE FROM member WHERE unit = ?", (number,))
            self._db.execute("DELETE FROM unit WHERE id = ?", (number,))

    def _touch(self, unit: int) -> None:
        self.changed = True
        self._flush()
        self._db.execute("INSERT OR IGNORE INTO touched SELECT row FROM member WHERE unit = ?", (unit,))

    def read_up_to(self, name: str, offset: int) -> None:
        self._db.execute("UPDATE unit SET offset = ? WHERE id = ?", (offset, self._units[name][0]))

    def joins(self, unit: int, key: bytes) -> bool:
        """Whether the row with this key exists; if so, it is linked to this unit too."""
        number = self._keys.get(key)
        if number is None and not self._empty:
            found = self._db.execute("SELECT id FROM row WHERE key = ? AND key IS NOT NULL", (key,)).fetchone()
            number = found[0] if found else None
        if number is None:
            return False
        self.changed = True
        self._db.execute("INSERT OR IGNORE INTO member VALUES (?, ?)", (unit, number))
        self._db.execute("INSERT OR IGNORE INTO touched VALUES (?)", (number,))
        return True

    def add(self, unit: int, rows: Sequence[Row], until: str | None = None, touches: Sequence[Touch] = ()) -> None:
        """Adds new rows of a unit: the first is its own, the others belong to the first."""
        self.changed = True
        own = rows[0]
        shown = int(until is None or _recorded(own) <= until)
        first = self._number(own[0])
        self._keys[own[1]] = first
        self._members.append((unit, first))
        self._rows.append((first, own[1], shown, *own[3:]))
        numbers = [first]
        for row in rows[1:]:
            numbers.append(self._number(row[0]))
            self._rows.append((numbers[-1], None, shown, *row[3:-1], first))
        for place, path in touches:
            if path not in self._paths:
                self._paths[path] = path_number(self._db, path)
            known = self._paths[path]
            self._touches.append((known if shown else -known, numbers[place]))
        if len(self._rows) >= BATCH:
            self._flush()

    def _number(self, base: int) -> int:
        """Returns a free number near the base: events by their time, memories downwards."""
        if base < 0:
            self._lowest -= 1
            return self._lowest
        if self._empty and base not in self._taken:
            number = base
        else:
            number = self._next.get(base) or (base if self._empty else self._free_in_index(base))
            while number in self._taken:
                number += 1
            self._next[base] = number + 1
        self._taken.add(number)
        return number

    def _free_in_index(self, base: int) -> int:
        number = base
        while self._db.execute("SELECT 1 FROM row WHERE id = ?", (number,)).fetchone():
            asked = "SELECT max(id) FROM row WHERE id >= ? AND id < ?"
            number = self._db.execute(asked, (number, number + (1 << SLOTS))).fetchone()[0] + 1
        return number

    def _flush(self) -> None:
        if not self._rows and not self._members:
            return
        self._db.executemany(_PUT_COMMON, [row for row in self._rows if len(row) == len(COMMON)])
        self._db.executemany(PUT_ROW, [row for row in self._rows if len(row) == len(COLUMNS)])
        self._db.executemany(PUT_WORDS, [(row[0], *row[_FIRST:_LAST]) for row in self._rows if row[2]])
        self._db.executemany("INSERT OR IGNORE INTO member VALUES (?, ?)", self._members)
        self._db.executemany("INSERT OR IGNORE INTO touch VALUES (?, ?)", self._touches)
        for done in (self._rows, self._members, self._touches):
            done.clear()

    def lacking(self) -> set[str]:
        """Returns the bodies of indexed events that were missing when they were read."""
        return {name for (name,) in self._db.execute("SELECT lacks FROM row WHERE lacks IS NOT NULL")}

    def forget_lacking(self, arrived: Iterable[str]) -> None:
        """Forgets the units whose missing bodies arrived, so that they are read again."""
        self._forget_where("m.row = row.id", "row.lacks", arrived)

    def told_runs(self) -> list[str]:
        """Returns the runs whose turns are in the index."""
        return [run for (run,) in self._db.execute("SELECT DISTINCT run FROM row WHERE kind = 'turn'")]

    def forget_runs(self, gone: Iterable[str]) -> None:
        """Forgets the units of runs whose capsules are gone, so that they are read again without turns."""
        self._forget_where("m.row = row.parent", "row.kind = 'turn' AND row.run", gone)

    def _forget_where(self, brings: str, is_one: str, named: Iterable[str]) -> None:
        asked = (
            f"SELECT u.name FROM row JOIN member AS m ON {brings} JOIN unit AS u ON u.id = m.unit WHERE {is_one} = ?"
        )
        self.forget({unit for name in named for (unit,) in self._db.execute(asked, (name,))})
        self._settle()

    def finish(self) -> None:
        """Completes the transaction's changes after the last row."""
        self._flush()
        if self._empty:
            for definition in INDEXES.values():
                self._db.execute(definition)
            tune(self._db, hashsize=1 << 20, automerge=4)
        self._settle()
        self._make_room()
        if self.changed:
            # A memory or a task has the time of its last visible event.
            self._db.execute(_DATE)
            newest = self._db.execute(_NEWEST).fetchone()
            self.remember("newest", str((newest[0] >> SLOTS) // 3_600_000_000 if newest else 0))

    def _settle(self) -> None:
        """Shows and hides the changed rows by their units; deletes those without one."""
        db = self._db
        if db.execute("SELECT 1 FROM touched LIMIT 1").fetchone() is None:
            return
        for shown, change in ((0, UNLEARN), (1, LEARN)):
            numbers = db.execute(_TURNED, {"shown": shown}).fetchall()
            db.executemany(change, numbers)
            db.executemany(f"UPDATE row SET shown = {shown} WHERE id = ?", numbers)
            db.executemany("UPDATE touch SET path = -path WHERE row = ?", numbers)
        orphans = db.execute(_ORPHANS).fetchall()
        for (number,) in orphans:
            key = db.execute("SELECT key FROM row WHERE id = ?", (number,)).fetchone()
            self._keys.pop(key[0] if key else b"", None)
        children = "SELECT id FROM row WHERE parent = ?1 UNION ALL SELECT ?1"
        db.executemany(f"DELETE FROM touch WHERE row IN ({children})", orphans)
        db.executemany("DELETE FROM row WHERE parent = ?", orphans)
        db.executemany("DELETE FROM row WHERE id = ?", orphans)
        db.execute("DELETE FROM touched")

    def _make_room(self) -> None:
        """Deletes the oldest hidden rows if there are too many."""
        if not self.changed or all(shown for _, shown, _ in self._units.values()):
            return
        hidden, shown = self._db.execute("SELECT sum(1 - shown), sum(shown) FROM row").fetchone()
        if (hidden or 0) > (shown or 0) + ROOM:
            self.forget([name for name, (_, is_shown, _) in self._units.items() if not is_shown])
            self._settle()

    def remember(self, name: str, value: str) -> None:
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))
