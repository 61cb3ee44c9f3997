"""Which memories in the index count: judged from the approvals it has read, each time it is filled.

Approvals that are visible here are rows like any event. Those this clone recorded on other lines
count as well; of these only the approvals are kept, and each piece of the log is read once.
"""

import re
import sqlite3
from collections.abc import Iterator, Sequence

from holdfast.errors import CorruptLog, FutureFormat
from holdfast.git.approvals import KINDS, Approval, Approvals, said
from holdfast.index.units import Texts, Unit
from holdfast.store.format import match_event, split_lines

UNREVIEWED, CLASH = "unreviewed", "in clash"

_APPROVAL = re.compile(rb'"kind":"(?:' + "|".join(KINDS).encode("ascii") + rb')"')
_MEMORIES = """SELECT row.id, row.name, row.blob, row.words, row.doubt, min(u.kind)
  FROM row JOIN member AS m ON m.row = row.id JOIN unit AS u ON u.id = m.unit
  WHERE row.id < 0 AND row.shown AND u.shown
  AND row.kind NOT IN ('candidate', 'task') GROUP BY row.id"""
_HERE = f"""SELECT e.target, e.ts, e.key, e.blob, e.words FROM row AS e
  WHERE e.kind = 'event' AND e.what IN {KINDS} AND e.shown
  AND e.target IN (SELECT name FROM row WHERE id < 0 AND shown)"""
_ELSEWHERE = """SELECT target, ts, event, blob, words FROM elsewhere
  WHERE target IN (SELECT name FROM row WHERE id < 0 AND shown)"""


def listen(db: sqlite3.Connection, units: Sequence[Unit], texts: Texts) -> bool:
    """Read the approvals in pieces of the log that are not visible here; tells whether any changed."""
    heard = dict(db.execute("SELECT name, offset FROM heard"))
    gone = heard.keys() - {unit.name for unit in units}
    # What an approval said may come after it, in an import; so those without a body are read again.
    gone |= {name for (name,) in db.execute("SELECT source FROM elsewhere WHERE words IS NULL")}
    for table, column in (("heard", "name"), ("elsewhere", "source")):
        db.executemany(f"DELETE FROM {table} WHERE {column} = ?", [(name,) for name in gone])
    heard = {name: offset for name, offset in heard.items() if name not in gone}
    changed = bool(gone)
    for unit, data in texts.unread(list(units), heard):
        whole = data[: data.rfind(b"\n") + 1]
        found = list(_approvals(whole, unit.name, texts))
        db.executemany("INSERT INTO elsewhere VALUES (?, ?, ?, ?, ?, ?)", found)
        read = heard.get(unit.name, 0) + len(whole)
        db.execute("INSERT OR REPLACE INTO heard VALUES (?, ?)", (unit.name, read))
        changed = changed or bool(found)
    return changed


def _approvals(data: bytes, name: str, texts: Texts) -> Iterator[tuple[object, ...]]:
    for line in split_lines(data):
        if _APPROVAL.search(line) is None:
            continue
        try:
            found = match_event(line)
        except (CorruptLog, FutureFormat):
            continue
        if found[5] is not None:
            event, ts, target = (found[number].decode("ascii") for number in (1, 3, 5))
            yield name, target, ts, bytes.fromhex(event)[:16], *said(texts.body(found)[0])


def judge(db: sqlite3.Connection) -> None:
    """Note for every memory that is visible here whether it counts, and if not, why."""
    memories = db.execute(_MEMORIES).fetchall()
    claims = [name for _, name, _, _, _, origin in memories if origin != "clash"]
    approved = Approvals(_all(db), claims)
    doubts = []
    for number, name, blob, words, doubt, origin in memories:
        covered = approved.covers(name, blob=blob, words=words, edited=origin == "edit")
        now = CLASH if origin == "clash" else None if covered else UNREVIEWED
        if now != doubt:
            doubts.append((now, number))
    db.executemany("UPDATE row SET doubt = ? WHERE id = ?", doubts)


def _all(db: sqlite3.Connection) -> Iterator[Approval]:
    for query in (_HERE, _ELSEWHERE):
        for target, ts, event, blob, words in db.execute(query):
            yield Approval("accept", target, (ts, event.hex()), blob, words)
