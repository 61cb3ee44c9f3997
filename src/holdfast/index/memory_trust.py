"""Determines which memories in the index count, their tier, and which are stale, from the indexed approvals.

Visible approvals are rows like any event. Those this clone recorded on other lines (a line is a branch's work) count
too; only their decisions are stored, and each piece of the log is read once. Git is asked what the trunk of a trusted
upstream approves, again whenever that trunk moves.

A memory is stale if the files in its evidence changed. Git is asked only if HEAD moved or there is new evidence, and
the answer is stored in the index: a question must not wait for git. So it depends on HEAD alone, and a rebuilt index
says the same.
"""

import hashlib
import json
import re
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from holdfast.errors import BadInput, BrokenEntry, CorruptLog, FutureFormat
from holdfast.git import approvals, upstream
from holdfast.git.approvals import Approvals, MemoryApproval, Tiers, Vouched
from holdfast.git.clone import Clone
from holdfast.git.evidence_check import states
from holdfast.index.hit_text import FOREIGN, STALE, SUPERSEDED
from holdfast.index.visible_units import IndexUnit, UnitTexts, own_units
from holdfast.model.evidence import OF_FILES, parse_evidence
from holdfast.patterns import regex
from holdfast.store import memory_files
from holdfast.store.format import match_event, split_lines

_KINDS = ("entry", "edit")
_EVIDENCE = regex(r"^evidence: (\[.*\])$", re.MULTILINE)
_META = "stale"

Text = tuple[str, str]  # a memory's text: its file's path, and the id of its blob


def stale(db: sqlite3.Connection, clone: Clone, visible: Mapping[str, IndexUnit]) -> set[Text]:
    """Returns the texts of memories whose evidence changed or is gone."""
    cited = {(unit.path, unit.blob): _cited(unit) for unit in visible.values() if unit.kind in _KINDS}
    receipts = sorted({receipt for some in cited.values() for receipt in some})
    if not receipts:
        return set()
    lost = _lost(db, clone, receipts)
    return {text for text, some in cited.items() if not lost.isdisjoint(some)}


def _cited(unit: IndexUnit) -> list[str]:
    """Returns the parts of files that a memory cites; most entries have them on one line, as we write them."""
    text = unit.text or ""
    lines = _EVIDENCE.findall(text)
    try:
        found = json.loads(lines[0]) if len(lines) == 1 else memory_files.parse(text, unit.path).evidence
        return [str(parse_evidence(one)) for one in found if isinstance(one, str) and one.startswith(OF_FILES)]
    except (BadInput, BrokenEntry, ValueError):  # left out here, reported where it is read
        return []


def _lost(db: sqlite3.Connection, clone: Clone, receipts: Sequence[str]) -> set[str]:
    """Returns the receipts that do not hold; cached by position, because their file names may be secret."""
    head = clone.repo.head().oid or ""
    state = hashlib.sha256("\n".join([head, *receipts]).encode("utf-8", "surrogatepass")).hexdigest()
    known = db.execute("SELECT value FROM meta WHERE name = ?", (_META,)).fetchone()
    if known is not None and known[0].startswith(state):
        return {receipts[place] for place in json.loads(known[0].removeprefix(state))}
    now = states(clone, receipts, committed=True)
    found = [place for place, text in enumerate(receipts) if now[text] in ("changed", "gone")]
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_META, state + json.dumps(found)))
    return {receipts[place] for place in found}


UNREVIEWED, CLASH = "unreviewed", "in clash"

_DECISION = regex(rb'"kind":"(?:' + "|".join(approvals.DECISIONS).encode("ascii") + rb')"')
_MEMORIES = """SELECT
  row.id, row.name, row.blob, row.words, row.what, row.doubt, row.tier, row.path, min(u.kind)
  FROM row JOIN member AS m ON m.row = row.id JOIN unit AS u ON u.id = m.unit
  WHERE row.id < 0 AND row.shown AND u.shown
  AND row.kind NOT IN ('candidate', 'task') GROUP BY row.id"""
_NAMES = "(SELECT name FROM row WHERE id < 0 AND shown)"
_SEEN = """SELECT e.what, e.target, e.ts, e.key, e.blob, e.words, EXISTS (
    SELECT 1 FROM member AS m JOIN unit AS u ON u.id = m.unit JOIN own ON own.name = u.name
    WHERE m.row = e.id)
  FROM row AS e WHERE e.kind = 'event' AND e.shown"""
_HERE = f"{_SEEN} AND e.what IN {approvals.DECISIONS} AND e.target IN {_NAMES}"
# An approved memory that is gone may have superseded another.
_GONE = f"{_SEEN} AND e.what = 'accept' AND e.target > '' AND e.target NOT IN {_NAMES}"
_ELSEWHERE = f"""SELECT kind, target, ts, event, blob, words, 1 FROM elsewhere
  WHERE kind = 'accept' OR target IN {_NAMES}"""


def weigh(
    db: sqlite3.Connection, clone: Clone, visible: Mapping[str, IndexUnit], texts: UnitTexts, *, changed: bool
) -> None:
    """Stores the tier of every memory, if anything that decides it changed."""
    own = list(own_units(clone))
    whole = {name for name, unit in visible.items() if unit.until is None}  # visible to their end
    heard = listen(db, [unit for unit in own if unit.name not in whole], texts)
    vouched, waiting = upstream.vouched(clone), approvals.waiting(clone)
    outdated = stale(db, clone, visible)
    ground = "\n".join([vouched.key, *sorted(waiting), *sorted(map(" ".join, outdated))])
    known = db.execute("SELECT value FROM meta WHERE name = 'trust'").fetchone()
    if heard or changed or known is None or known[0] != ground:
        judge(db, clone, [unit.name for unit in own], vouched, waiting, outdated=outdated)
        db.execute("INSERT OR REPLACE INTO meta VALUES ('trust', ?)", (ground,))


def listen(db: sqlite3.Connection, units: Sequence[IndexUnit], texts: UnitTexts) -> bool:
    """Reads the decisions in pieces of the log that are not visible here; returns whether any changed."""
    heard = dict(db.execute("SELECT name, offset FROM heard"))
    gone = heard.keys() - {unit.name for unit in units}
    # An import may bring an approval's body later; so those without a body are read again.
    gone |= {name for (name,) in db.execute("SELECT source FROM elsewhere WHERE words IS NULL")}
    for table, column in (("heard", "name"), ("elsewhere", "source")):
        db.executemany(f"DELETE FROM {table} WHERE {column} = ?", [(name,) for name in gone])
    heard = {name: offset for name, offset in heard.items() if name not in gone}
    changed = bool(gone)
    for unit, data in texts.unread(list(units), heard):
        whole = data[: data.rfind(b"\n") + 1]
        found = list(_decisions(whole, unit.name, texts))
        db.executemany("INSERT INTO elsewhere VALUES (?, ?, ?, ?, ?, ?, ?)", found)
        read = heard.get(unit.name, 0) + len(whole)
        db.execute("INSERT OR REPLACE INTO heard VALUES (?, ?)", (unit.name, read))
        changed = changed or bool(found)
    return changed


def _decisions(data: bytes, name: str, texts: UnitTexts) -> Iterator[tuple[object, ...]]:
    for line in split_lines(data):
        if _DECISION.search(line) is None:
            continue
        try:
            found = match_event(line)
        except (CorruptLog, FutureFormat):
            continue
        if found[5] is not None:
            event, ts, kind, target = (found[number].decode("ascii") for number in (1, 3, 4, 5))
            yield name, kind, target, ts, bytes.fromhex(event)[:16], *approvals.approved_text(texts.body(found)[0])


def judge(
    db: sqlite3.Connection,
    clone: Clone,
    own: Iterable[str],
    vouched: Vouched,
    waiting: Collection[str],
    *,
    outdated: Collection[Text],
) -> None:
    """Stores for every visible memory its tier, and why it does not count, if so.

    `own` names the pieces of the log that this clone recorded, `waiting` the unpublished texts, `outdated` those with
    changed evidence.
    """
    memories = [_Memory(*row) for row in db.execute(_MEMORIES)]
    agreed = [one for one in memories if one.origin != "clash"]
    decided = _decided(db, own, clone.second_hand())
    approved = Approvals((one for one, _ in decided), [one.name for one in agreed])
    ours = [one for one, is_own in decided if is_own]
    visible = {(one.name, one.blob) for one in agreed}
    tiers = approvals.tiers(clone, ours, vouched, waiting, seen=visible)
    repeats = approvals.repeats(((one.name, one.blob, one.path) for one in agreed), tiers)
    kept = _still_superseded(clone, ours, tiers, vouched, visible)
    edited = tiers.edited(visible)
    changed = []
    for one in memories:
        its = tiers.of(one.name, blob=one.blob, edited=one.origin == "edit")
        why: str | None = CLASH if one.origin == "clash" else None
        if why is None and (one.name, one.blob, one.path) in repeats:
            why, its = UNREVIEWED, approvals.T4
        if why is None:
            is_edited = one.origin != "edit" and (one.name, one.blob) in edited
            why = _why_not(one, approved, its, superseded=one.name in kept, edited=is_edited)
        if why == approvals.EDITED and one.name in vouched.unchecked:
            why = approvals.UNCHECKED
        if why in (None, FOREIGN) and one.status == "accepted" and (one.path, one.blob) in outdated:
            why = STALE
        if (why, its) != (one.doubt, one.tier):
            changed.append((why, its, one.number))
    db.executemany("UPDATE row SET doubt = ?, tier = ? WHERE id = ?", changed)


class _Memory(NamedTuple):
    number: int
    name: str
    blob: str
    words: str
    status: str
    doubt: str | None
    tier: str | None
    path: str
    origin: str


def _why_not(one: _Memory, approved: Approvals, tier: str, *, superseded: bool, edited: bool) -> str | None:
    """Returns why a memory does not count, or only for a direct question."""
    ended = one.status == "deprecated"
    if edited and not (ended and approved.ends(one.name, blob=one.blob)):
        return approvals.EDITED
    covered = approved.covers(one.name, blob=one.blob, words=lambda: one.words, edited=one.origin == "edit")
    covered = covered or (approved.ends(one.name, blob=one.blob) if ended else tier == approvals.T0)
    if not covered:
        return UNREVIEWED
    return (SUPERSEDED) if (superseded and not ended) else (FOREIGN if tier == approvals.T4 else None)


def _still_superseded(
    clone: Clone, own: Sequence[MemoryApproval], tiers: Tiers, vouched: Vouched, visible: Collection[tuple[str, str]]
) -> Mapping[str, str]:
    """Returns what stays superseded; reads the log only if the last approved text is missing."""
    given = sorted((one for one in own if one.kind == "accept"), key=lambda one: one.place)
    there = {one.target: one.blob for one in given}.items() - set(visible)
    theirs = [text for text in visible if text[0] in vouched.replaced]
    speaking = {name for name, blob in theirs if tiers.of(name, blob=blob, edited=False) == approvals.T0}
    if not there and vouched.replaced.keys() <= speaking:
        return {}
    decided = approvals.every_decision(clone, {name for name, _ in visible})
    return approvals.still_superseded(clone, decided, tiers, vouched, visible=visible)


def _decided(
    db: sqlite3.Connection, own: Iterable[str], second_hand: Iterable[str]
) -> list[tuple[MemoryApproval, bool]]:
    """Returns every decision about a visible memory, and whether this clone recorded it."""
    db.execute("CREATE TEMP TABLE IF NOT EXISTS own (name TEXT PRIMARY KEY) WITHOUT ROWID")
    db.execute("DELETE FROM own")
    db.executemany("INSERT OR IGNORE INTO own VALUES (?)", ((name,) for name in own))
    weak = {event[: approvals.SHORT] for event in second_hand}
    rows = (row for query in (_HERE, _GONE, _ELSEWHERE) for row in db.execute(query))
    found = []
    for kind, target, ts, event, blob, words, is_own in rows:
        said = approvals.weakened(kind, event.hex(), weak)
        found.append((MemoryApproval(said, target, (ts, event.hex()), blob, words), bool(is_own)))
    return found
