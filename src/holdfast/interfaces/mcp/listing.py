"""The list of memories as the index tells it, without opening the project if the index is up to date.

Claude Code asks for the resources before its first request and leaves all our tools out of that request if
the answer is slow; so this is answered from SQLite alone, by the rule that the quick path has, and only
where that cannot tell by the full one. Both ask the index the same question.
"""

import os
import time

from holdfast.index.freshness import signature
from holdfast.index.schema import APPLICATION, VERSION, file_name
from holdfast.index.standing import APPROVED, EDITED, FOREIGN, PROMOTED, STALE, SUPERSEDED, UNCHECKED
from holdfast.interfaces import quick
from holdfast.interfaces.mcp.folders import ordered
from holdfast.interfaces.mcp.protocol import PARAMS, Refused
from holdfast.interfaces.mcp.table import MEMORY, TYPES
from holdfast.model.text import visible
from holdfast.store.layout import Layout, cache_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from sqlite3 import Connection
    from typing import Any

    from holdfast.index.freshness import Place

_ASKED = f"""SELECT name, kind, title, what, expires, doubt, tier FROM row
  WHERE id < 0 AND shown AND kind IN {TYPES}"""
_NEWER = f"""SELECT supersedes, tier FROM row WHERE supersedes IS NOT NULL AND shown
  AND (doubt IS NULL OR doubt IN ('{FOREIGN}', '{STALE}', '{SUPERSEDED}')) ORDER BY tier DESC"""
_ORDER = ("invariant", "decision", "dead-end", "assumption", "fact")
_TOLD = ("T0", "T1", "T2")  # what came from elsewhere and nobody here looked at is not listed
_DOUBTS = (None, "unreviewed", EDITED, UNCHECKED, STALE)

PAGE, _LONG = 100, 200  # memories a page, characters of each
Row = tuple[str, str, str, str | None]  # id, type, statement, and what to know before believing it


def first_page(folders: "Sequence[str]", params: "dict[str, Any]") -> "dict[str, Any] | None":
    """The list's beginning if the index can tell it at once."""
    rows = at_once(ordered(folders)[0]) if params.get("cursor") is None else None
    return None if rows is None else page(rows, None)


def page(rows: "Sequence[Row]", cursor: "Any") -> "dict[str, Any]":
    """One page of the memories that stand here; the cursor is the last page's last id."""
    start = 0
    if cursor is not None:
        at = [place for place, row in enumerate(rows) if row[0] == cursor]
        if not at:
            raise Refused(PARAMS, "nothing is listed at this cursor; list from the beginning")
        start = at[0] + 1
    shown = rows[start : start + PAGE]
    found: dict[str, Any] = {"resources": [_resource(*row) for row in shown]}
    return {**found, "nextCursor": shown[-1][0]} if start + PAGE < len(rows) else found


def _resource(name: str, kind: str, statement: str, state: str | None) -> "dict[str, Any]":
    said = visible(" ".join(statement.split()))
    about = f"{kind} ({state})" if state else kind
    return {
        "uri": f"{MEMORY}{name}",
        "name": name,
        "description": f"{about}: {said if len(said) <= _LONG else said[: _LONG - 1] + '…'}",
        "mimeType": "text/markdown",
    }


def at_once(folder: str) -> list[Row] | None:
    """The memories that stand in a folder's project; None if only the full path can tell."""
    if not quick.is_plain(os.environ):
        return None
    try:
        place = quick.find_place(os.path.realpath(folder))
    except OSError:
        return None
    return None if place is None else _of_place(place)


def _of_place(place: "Place") -> list[Row] | None:
    import _sqlite3

    layout = Layout(place.top, os.path.join(place.common_dir, "holdfast"), cache_dir(os.environ))
    try:
        with open(layout.repo_id, encoding="utf-8") as file:
            name = file.readline().rstrip("\n")
    except (OSError, UnicodeDecodeError):
        return None
    now = signature(place, layout, parts=("memory",)) if name else None
    if now is None:
        return None
    path = os.path.join(os.path.dirname(layout.index(name)), file_name(place.git_dir, place.common_dir))
    try:
        return of_index(path, state=now.memory)
    except _sqlite3.Error:
        return None


def of_index(path: str, *, state: str | None = None) -> list[Row] | None:
    """What an index lists; None if it does not stand at this state."""
    import _sqlite3

    name = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    db: Connection = _sqlite3.connect(f"file:{name}?mode=ro", uri=True, timeout=0.5, isolation_level=None)
    try:
        db.execute("BEGIN")
        stamp = [db.execute(f"PRAGMA {what}").fetchone()[0] for what in ("application_id", "user_version")]
        kept = db.execute("SELECT value FROM meta WHERE name = 'signature'").fetchone()
        if stamp != [APPLICATION, VERSION] or (state is not None and (kept is None or kept[0] != state)):
            return None
        return sorted(_standing(db), key=lambda row: (_ORDER.index(row[1]), row[0]))
    finally:
        db.close()


def _standing(db: "Connection") -> "Iterator[Row]":
    """The memories that neither ended nor ran out, nor were replaced by one that is trusted as much."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    newer = {name: tier for names, tier in db.execute(_NEWER) for name in names.split()}
    for name, kind, title, what, expires, doubt, tier in db.execute(_ASKED):
        stands = what == "accepted" and doubt in _DOUBTS and tier in _TOLD
        over = bool(expires and expires <= now)
        if stands and not over and not (name in newer and newer[name] <= tier):
            yield name, kind, title, doubt or (None if tier == APPROVED else PROMOTED)
