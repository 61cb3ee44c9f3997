"""Which memories are stale: what they cite of files is not as it was.

Asked of git only when HEAD moved or something is cited that was not before, and kept in the index between: a
question must not wait for git. So it depends on HEAD alone, and an index made anew says the same: a memory
goes stale by a commit, and one whose text comes back is believed again from the next commit on.
"""

import hashlib
import json
import re
import sqlite3
from collections.abc import Mapping, Sequence

from holdfast.errors import BadInput, BrokenEntry
from holdfast.git.clone import Clone
from holdfast.git.evidence import states
from holdfast.index.units import Unit
from holdfast.model.evidence import parse
from holdfast.patterns import regex
from holdfast.store import entries

_OF_FILES = ("file:", "lines:", "symbol:")  # a lost run or commit says nothing of what holds
_KINDS = ("entry", "edit")
_EVIDENCE = regex(r"^evidence: (\[.*\])$", re.MULTILINE)
_META = "stale"

Text = tuple[str, str]  # a memory's text: its file's path, and the id of its blob


def stale(db: sqlite3.Connection, clone: Clone, visible: Mapping[str, Unit]) -> set[Text]:
    """The texts of memories that rest on something which changed, or is not there any more."""
    cited = {(unit.path, unit.blob): _cited(unit) for unit in visible.values() if unit.kind in _KINDS}
    receipts = sorted({receipt for some in cited.values() for receipt in some})
    if not receipts:
        return set()
    lost = _lost(db, clone, receipts)
    return {text for text, some in cited.items() if not lost.isdisjoint(some)}


def _cited(unit: Unit) -> list[str]:
    """The parts of files that a memory cites; most entries say it on one line, as we write them."""
    text = unit.text or ""
    lines = _EVIDENCE.findall(text)
    try:
        found = json.loads(lines[0]) if len(lines) == 1 else entries.parse(text, unit.path).evidence
        return [str(parse(one)) for one in found if isinstance(one, str) and one.startswith(_OF_FILES)]
    except (BadInput, BrokenEntry, ValueError):  # it is left out, and named where it is read
        return []


def _lost(db: sqlite3.Connection, clone: Clone, receipts: Sequence[str]) -> set[str]:
    """Those that do not hold; kept by their places, for a receipt names a file, and names may be secret."""
    head = clone.repo.head().oid or ""
    ground = hashlib.sha256("\n".join([head, *receipts]).encode("utf-8", "surrogatepass")).hexdigest()
    known = db.execute("SELECT value FROM meta WHERE name = ?", (_META,)).fetchone()
    if known is not None and known[0].startswith(ground):
        return {receipts[place] for place in json.loads(known[0].removeprefix(ground))}
    now = states(clone, receipts, committed=True)
    found = [place for place, text in enumerate(receipts) if now[text] in ("changed", "gone")]
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_META, ground + json.dumps(found)))
    return {receipts[place] for place in found}
