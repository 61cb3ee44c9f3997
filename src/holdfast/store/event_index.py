"""An index of the log's envelopes by kind, time, target and run: commands find a few events without reading the log.

A cache, one SQLite file for each clone: it may be deleted at any time, and it is in memory if it cannot be stored.
Sources of the log (spools, segments) only grow or never change, so each part is read once. A few new events are read
again by each command; many are stored. It has only envelopes and does not know whose body was erased.
"""

import contextlib
import json
import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from holdfast.errors import CorruptLog, FutureFormat
from holdfast.model.event import Event, in_order
from holdfast.patterns import PatternFile
from holdfast.store.cache_file import CacheFile
from holdfast.store.format import parse_event, segment_name, split_lines
from holdfast.values import frozen, replace

VERSION = 6
# Bytes of spools, which need no git to read; a guess: reading fewer again costs less than writing to the file.
KEPT_FROM = 64 << 10
_PLAIN = (
    "hash_self", "ts", "kind", "target", "line", "writer", "seq", "run_id", "parent_run_id", "head", "layer",
    "systemic_scale", "exit_status", "body",
)  # fmt: skip
_COLUMNS = ", ".join((*_PLAIN, "hash_prev", "added"))
_NAMES = ("hash_self", "target", "run_id")
_CASELESS = _COLUMNS.replace("target,", "target COLLATE NOCASE,").replace(" run_id,", " run_id COLLATE NOCASE,")
# The id of a run begins with the moment it began, which for an imported one may be long before it was recorded.
_DATED = "[12][0-9][0-9][0-9][01][0-9][0-3][0-9]T[0-2][0-9][0-5][0-9][0-5][0-9]Z-*"
_PARTS = (("", 1, 4), ("-", 5, 2), ("-", 7, 2), ("T", 10, 2), (":", 12, 2), (":", 14, 2))
_BEGAN_AT = " || ".join(f"'{sign}' || substr(run_id, {at}, {size})" for sign, at, size in _PARTS)
_BEGAN = f"CASE WHEN kind = 'run' AND run_id GLOB '{_DATED}' THEN {_BEGAN_AT} || '.000000Z' ELSE ts END"
_FILE = PatternFile(__file__)
_TABLES, _TEMPORARY = (
    [row.format(columns=_CASELESS, began=_BEGAN) for row in _FILE.lines(name)] for name in ("tables", "temporary")
)
_TABLES_OF = {"event": ("token", "made", "told"), "fresh": ("fresh_token", "fresh_made", "fresh_told")}
_HERE = "EXISTS (SELECT 1 FROM here WHERE here.source = e.source AND (until IS NULL OR e.ts <= until))"


ReadBody = Callable[[str], tuple[Iterable[str], Iterable[str]]]  # a body's name to its words and its artifacts


@frozen
class EventQuery:
    """The conditions of a search for events; None means no condition."""

    kinds: Collection[str] | None = None
    targets: Collection[str] | None = None
    runs: Collection[str] | None = None
    heads: Collection[str] | None = None  # the checked-out commits
    beginnings: Collection[str] | None = None  # of the event's hash, target or run; case does not matter
    since: str | None = None
    before: str | None = None
    newest: int | None = None  # at most so many, from the end
    oldest: int | None = None  # at most so many, from the start

    def sql(self) -> tuple[str, list[object]]:
        """Returns the SQL condition for rows called `e`, and its values."""
        conditions, values = [_HERE], list[object]()
        # By time or by the beginning of a name few rows are found; by kind alone it may be every run.
        is_narrow = (self.since, self.newest, self.oldest, self.beginnings) != (None, None, None, None)
        kind = "+e.kind" if is_narrow else "e.kind"
        lists = ((kind, self.kinds), ("e.target", self.targets), ("e.run_id", self.runs))
        for column, wanted in (*lists, ("e.head", self.heads)):
            if wanted is not None:
                conditions.append(f"{column} IN (SELECT value FROM json_each(?))")
                values.append(json.dumps(sorted(wanted)))
        if self.beginnings is not None:
            ranges = [(f"(e.{name} >= ? AND e.{name} < ?)", one) for one in self.beginnings for name in _NAMES]
            conditions.append(f"({' OR '.join(condition for condition, _ in ranges)})")
            values += [end for _, one in ranges for end in (one.lower(), f"{one.lower()}\x7f")]
        for sign, moment in ((">=", self.since), ("<", self.before)):
            if moment is not None:
                conditions.append(f"e.ts {sign} ?")
                values.append(moment)
        if self == EventQuery():  # all events of some sources: without this SQLite would scan every event
            conditions.insert(0, "e.source IN (SELECT source FROM here)")
        order, most = ("", self.oldest) if self.oldest is not None else (" DESC", self.newest)
        limit = "" if most is None else f" ORDER BY e.ts{order}, e.hash_self{order} LIMIT {most:d}"
        return " AND ".join(conditions) + limit, values

    def cut(self, events: list[Event]) -> list[Event]:
        """Returns the first or last events in order, as many as the query wants."""
        return events[: self.oldest] if self.oldest is not None else events[-(self.newest or 0) :]

    def fits(self, event: Event) -> bool:
        """Whether an event's names match in case; the file ignores case."""
        wanted = ((self.targets, event.target), (self.runs, event.run_id))
        return all(names is None or name in names for names, name in wanted)


class EventIndex:
    """The envelopes of some sources. `path` is None if nothing may be stored."""

    def __init__(self, path: str | None, *, kept_from: int = KEPT_FROM) -> None:
        self._file = CacheFile(path, version=VERSION, tables=_TABLES, temporary=_TEMPORARY)
        self._kept_from = kept_from
        self._known: dict[str, tuple[int, int]] = {}  # source to its number and the bytes that were read
        self._version = -1
        self._skewed: set[int] = set()
        self._fresh: dict[str, tuple[int, int]] = {}  # the same for sources that are only in memory
        self._lost: list[tuple[str, str, int]] = []  # parents read after their children, or not yet

    def offset(self, name: str) -> int | None:
        """Returns how many bytes of a source were read, as of the last `look`; None if it is new."""
        found = self._fresh.get(name) or self._known.get(name)
        return found[1] if found else None

    def add(self, pieces: Collection[tuple[str, int, bytes]]) -> None:
        """Adds bytes of sources, each with the source's name and the offset in it."""
        # Only segments whose bytes match their name are stored; an altered one is read each time.
        proven = [one for one in pieces if not one[0].startswith("s:") or segment_name(one[2]) == one[0][2:]]
        db, kept = self._file.db, set[str]()
        size, segments = sum(len(data) for _, _, data in proven), (name.startswith("s:") for name, _, _ in proven)
        if self._file.path is not None and (size >= self._kept_from or any(segments)):
            with contextlib.suppress(sqlite3.OperationalError):  # busy, or a disk error
                kept = self._keep(proven)
        for name, offset, data in (piece for piece in pieces if piece[0] not in kept):
            number = (self._known.get(name) or self._fresh.get(name) or (-1 - len(self._fresh), 0))[0]
            rows, read = _rows(number, data)
            self._fresh[name] = (number, offset + read)
            db.executemany(_put("fresh"), rows)
            self._skewed.update(self._early(rows, self._lost))
        found = [(before, ts, source) for parent, ts, source in self._lost if (before := self._time_of(parent))]
        self._skewed.update(source for before, ts, source in found if before >= ts)

    def find(self, here: Mapping[str, str | None], query: EventQuery) -> list[Event]:
        """Returns the matching events of some sources, in order. `here`: source to the time up to which it counts."""
        numbers = self._show_only(here)
        if self._skewed.isdisjoint(numbers):
            return query.cut(sorted(self._fitting(query), key=lambda event: (event.ts, event.hash_self)))
        # A parent has a later time than its child, so only the whole graph gives the order.
        wanted = {event.hash_self for event in self._fitting(replace(query, newest=None, oldest=None))}
        return query.cut([event for event in in_order(self._fitting(EventQuery())) if event.hash_self in wanted])

    def begun(
        self, here: Mapping[str, str | None], *, before: str | None, kinds: Collection[str] | None, newest: int
    ) -> list[tuple[str, Event]]:
        """Returns the newest events of some sources by when they began, newest first, each with that moment.

        All of the same moment come together, so that whoever goes on before the last one misses nothing.
        """
        self._show_only(here)
        conditions, values = [_HERE], list[object]()
        if kinds is not None:
            conditions.append("+e.kind IN (SELECT value FROM json_each(?))")
            values.append(json.dumps(sorted(kinds)))
        earlier = [*conditions, f"{_BEGAN} < ?"] if before is not None else conditions
        last = f"{' AND '.join(earlier)} ORDER BY {_BEGAN} DESC LIMIT {newest:d}"
        found = self._begun(last, [*values, *([before] if before is not None else [])])
        if len(found) >= newest:
            first = sorted((moment for moment, _ in found.values()), reverse=True)[newest - 1]
            found |= self._begun(f"{' AND '.join(conditions)} AND {_BEGAN} = ?", [*values, first])
            found = {name: pair for name, pair in found.items() if pair[0] >= first}
        return sorted(found.values(), key=lambda pair: (pair[0], pair[1].ts, pair[1].hash_self), reverse=True)

    def _begun(self, condition: str, values: list[object]) -> dict[str, tuple[str, Event]]:
        found: dict[str, tuple[str, Event]] = {}
        for table in _TABLES_OF:
            sql = f"SELECT {_BEGAN}, {_COLUMNS} FROM {table} AS e WHERE {condition}"
            found |= {row[1]: (row[0], _event(row[1:])) for row in self._file.db.execute(sql, values)}
        return found

    def naming(self, here: Mapping[str, str | None], values: Collection[str], read: ReadBody) -> list[Event]:
        """Returns the runs of some sources whose body contains one of these words, by time."""
        self._show_only(here)
        found: dict[str, Event] = {}
        for table, (tokens, _, _) in _TABLES_OF.items():
            self._read_bodies(table, read)
            wanted = f"e.rowid IN (SELECT event FROM {tokens} WHERE value IN (SELECT value FROM json_each(?)))"
            found |= self._select(table, f"{wanted} AND {_HERE}", [json.dumps(sorted(values))])
        return sorted(found.values(), key=lambda event: (event.ts, event.hash_self))

    def made(self, here: Mapping[str, str | None], read: ReadBody, *, newest: int) -> list[tuple[str, str, str]]:
        """Returns the newest artifacts of the runs of some sources, oldest first, each with its time and run."""
        self._show_only(here)
        rows: set[tuple[str, str, str]] = set()
        for table, (_, made, _) in _TABLES_OF.items():
            self._read_bodies(table, read)
            sql = f"""SELECT m.ts, e.run_id, m.item FROM {made} AS m JOIN {table} AS e ON e.rowid = m.event
                WHERE {_HERE} ORDER BY m.ts DESC LIMIT {newest:d}"""
            rows.update(self._file.db.execute(sql))
        return sorted(rows)[-newest:]

    def _read_bodies(self, table: str, read: ReadBody) -> None:
        """Indexes the bodies of new runs."""
        (tokens, made, told), db = _TABLES_OF[table], self._file.db
        upto = db.execute(f"SELECT max(upto) FROM {told}").fetchone()[0] or 0
        if (db.execute(f"SELECT max(rowid) FROM {table}").fetchone()[0] or 0) <= upto:
            return
        sql = f"SELECT rowid, ts, body FROM {table} WHERE rowid > ? AND kind = 'run' AND body IS NOT NULL"
        lasting = self._file.writing() if table == "event" else contextlib.nullcontext()
        with contextlib.suppress(sqlite3.OperationalError), lasting:  # busy: the next command does it
            for row, ts, body in db.execute(sql, (upto,)).fetchall():
                words, items = read(body)
                db.executemany(f"INSERT INTO {tokens} VALUES (?, ?)", [(row, word) for word in words])
                db.executemany(f"INSERT INTO {made} VALUES (?, ?, ?)", [(row, ts, item) for item in items])
            db.execute(f"INSERT INTO {told} SELECT max(rowid) FROM {table}")

    def in_time(self, here: Mapping[str, str | None]) -> bool:
        """Whether every event of these sources is later than its parents."""
        return self._skewed.isdisjoint(self._show_only(here))

    def drop(self) -> None:
        """Deletes the file."""
        self.close()
        self._file.drop()

    def close(self) -> None:
        self._file.close()
        self._version = -1
        for known in (self._fresh, self._known, self._skewed, self._lost):
            known.clear()

    def _show_only(self, here: Mapping[str, str | None]) -> set[int]:
        db = self._file.db
        self.look()
        found = [(self._fresh.get(name) or self._known.get(name), until) for name, until in here.items()]
        db.execute("DELETE FROM here")
        db.executemany("INSERT OR IGNORE INTO here VALUES (?, ?)", [(one[0], until) for one, until in found if one])
        return {one[0] for one, _ in found if one}

    def _fitting(self, query: EventQuery) -> list[Event]:
        condition, values = query.sql()
        found = self._select("event", condition, values) | self._select("fresh", condition, values)
        return list(filter(query.fits, found.values()))

    def _select(self, table: str, condition: str, values: list[object]) -> dict[str, Event]:
        rows = self._file.db.execute(f"SELECT {_COLUMNS} FROM {table} AS e WHERE {condition}", values)
        return {row[0]: _event(row) for row in rows}

    def _keep(self, pieces: Iterable[tuple[str, int, bytes]]) -> set[str]:
        """Writes pieces into the file; returns the sources whose pieces follow on its contents."""
        kept = set()
        with self._file.writing() as db:
            self._drop_sealed(db)
            for name, offset, data in pieces:
                read = db.execute("SELECT read FROM source WHERE name = ?", (name,)).fetchone()
                if (read[0] if read else 0) != offset:
                    continue  # the part before it is only in memory, or another process was quicker
                db.execute("INSERT OR IGNORE INTO source (name, read, skewed) VALUES (?, 0, 0)", (name,))
                number = db.execute("SELECT id FROM source WHERE name = ?", (name,)).fetchone()[0]
                rows, length = _rows(number, data)
                db.executemany(_put("event"), rows)
                db.execute("UPDATE source SET read = ? WHERE id = ?", (offset + length, number))
                self._note_early(db, rows)
                kept.add(name)
        self._version = -1
        return kept

    def _drop_sealed(self, db: sqlite3.Connection) -> None:
        """Deletes the rows of spools that became segments."""
        for number, name in db.execute("SELECT id, name FROM source WHERE name LIKE 'p:%'").fetchall():
            if not os.path.lexists(name[2:].rpartition("@")[0]):
                of_it = "event IN (SELECT rowid FROM event WHERE source = ?)"
                for table in ("token", "made"):
                    db.execute(f"DELETE FROM {table} WHERE {of_it}", (number,))
                for table in ("event", "dangling"):
                    db.execute(f"DELETE FROM {table} WHERE source = ?", (number,))
                db.execute("DELETE FROM source WHERE id = ?", (number,))
                self._known.pop(name, None)

    def _note_early(self, db: sqlite3.Connection, rows: list[tuple[object, ...]]) -> None:
        """Marks sources with an event that is not later than its parents, whichever of them is read first."""
        lost = list[tuple[str, str, int]]()
        late = set(self._early(rows, lost))
        db.executemany("INSERT INTO dangling VALUES (?, ?, ?)", lost)
        sql = "SELECT d.rowid, d.source, e.ts >= d.ts FROM dangling AS d JOIN event AS e ON e.hash_self = d.parent"
        for number, source, is_early in db.execute(sql).fetchall():
            db.execute("DELETE FROM dangling WHERE rowid = ?", (number,))
            late |= {source} if is_early else set()
        db.executemany("UPDATE source SET skewed = 1 WHERE id = ?", [(source,) for source in late])

    def _early(self, rows: list[tuple[object, ...]], lost: list[tuple[str, str, int]]) -> Iterator[int]:
        """Yields the sources of rows that are not later than their parents; adds missing parents to `lost`."""
        times = {str(row[1]): str(row[2]) for row in rows}
        for row in rows:
            source, ts = int(str(row[0])), str(row[2])
            for parent in filter(None, str(row[-2]).split(",")):
                before = times.get(parent) or self._time_of(parent)
                if before is None:
                    lost.append((parent, ts, source))
                elif before >= ts:
                    yield source

    def _time_of(self, name: str) -> str | None:
        sql = "SELECT ts FROM event WHERE hash_self = ? UNION ALL SELECT ts FROM fresh WHERE hash_self = ? LIMIT 1"
        found = self._file.db.execute(sql, (name, name)).fetchone()
        return str(found[0]) if found else None

    def look(self) -> None:
        """Reads the list of sources in the file, again only if another process changed it."""
        db = self._file.db
        version = db.execute("PRAGMA kept.data_version").fetchone()[0]
        if version == self._version:
            return
        self._known.clear()
        for name, number, read, skewed in db.execute("SELECT name, id, read, skewed FROM source"):
            self._known[name] = (number, read)
            self._skewed |= {number} if skewed else set()
        self._version = version


def _event(row: Sequence[Any]) -> Event:
    return Event(*(*row[:-2], tuple(filter(None, row[-2].split(","))), row[-1]))


def _put(table: str) -> str:
    return f"INSERT INTO {table} (source, {_COLUMNS}) VALUES (?{', ?' * (len(_PLAIN) + 2)})"


def _rows(source: int, data: bytes) -> tuple[list[tuple[object, ...]], int]:
    """Returns the events in some bytes as rows, and the number of bytes in complete lines."""
    rows, read = [], 0
    for line in split_lines(data):
        if not line.endswith(b"\n"):
            break  # still being written
        read += len(line)
        with contextlib.suppress(CorruptLog, FutureFormat):  # `doctor` reports them
            event = parse_event(line)
            plain = (getattr(event, name) for name in _PLAIN)
            rows.append((source, *plain, ",".join(event.hash_prev), event.added))
    return rows, read
