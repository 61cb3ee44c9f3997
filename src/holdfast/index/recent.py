"""What is the most recent, where nothing is asked for: what was decided and done before what led to it.

Nothing is imported but our own: the quick path starts here.
"""

from holdfast.index.asked import quoted
from holdfast.index.pool import AT, SOURCES, Pool, facets_of, fetched
from holdfast.index.schema import facet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection
    from typing import Any

    from holdfast.index.asked import Asked
    from holdfast.index.scope import Scope

    Row = tuple[Any, ...]

COMMITS = 2  # that stand among the first; git lists the others
_PASSING = ("event", "artifact", "turn")  # what more telling things stand for
_DONE = " OR ".join(f"facets : {quoted(facet('k', kind))}" for kind in ("run", "session"))
_BY_TIME = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC"
_TIMELESS = (
    "SELECT id FROM row WHERE id IN (SELECT rowid FROM words WHERE words MATCH ? AND rowid < 0) "
    "ORDER BY ts DESC, name, title LIMIT 1000"
)
_LATEST = "SELECT id FROM row WHERE id > 0 AND shown ORDER BY id DESC"
_MEMORIES = "SELECT id FROM row WHERE id < 0 AND shown AND kind <> 'candidate' ORDER BY ts DESC, name LIMIT ?"


def gather(sources: "Sequence[Connection]", asked: "Asked", scope: "Scope", limit: int) -> Pool:
    """The newest rows, with these facets if there are any; of the repository, else only commits."""
    pool = Pool(0)
    wanted = facets_of(asked, scope)
    count = 4 * limit + 64
    for number, db in enumerate(sources):
        if wanted:
            numbers = _with(db, wanted, scope, count)
        else:
            numbers = _any(db, count) if number == 0 else _before(db, _LATEST, (), COMMITS)
        for row, values in fetched(db, numbers, wanted, scope).items():
            pool.rows[row << SOURCES | number] = values
    return pool


def telling_first(found: "list[tuple[int, Row]]") -> "list[tuple[int, Row]]":
    """The same rows, events and what runs made behind what was decided and done."""
    kind = AT["kind"]
    passing = [one for one in found if one[1][kind] in _PASSING]
    commits = [one for one in found if one[1][kind] == "commit"][COMMITS:]
    put_off = {key for key, _ in (*passing, *commits)}
    return [*(one for one in found if one[0] not in put_off), *commits, *passing]


def _with(db: "Connection", wanted: list[str], scope: "Scope", count: int) -> list[int]:
    match = " AND ".join(f"facets : {quoted(name)}" for name in wanted)
    if scope.kind != "candidate":
        match = f"({match}) NOT facets : {quoted(facet('k', 'candidate'))}"
    # What has no place in time has numbers in no order.
    timeless = [row for (row,) in db.execute(_TIMELESS, (match,))]
    return _before(db, _BY_TIME, (match,), count) + timeless


def _any(db: "Connection", count: int) -> list[int]:
    """The last runs and sessions, the last of all that happened, and the newest memories and tasks."""
    done = _before(db, _BY_TIME, (_DONE,), count)
    lasting = [row for (row,) in db.execute(_MEMORIES, (count,))]
    return list(dict.fromkeys([*done, *_before(db, _LATEST, (), count), *lasting]))


def _before(db: "Connection", statement: str, given: tuple[str, ...], count: int) -> list[int]:
    """The first of what has a place in time, with all that have the time of the last: equals go by id."""
    found: list[int] = []
    for (row,) in db.execute(statement, given):
        if row < 0 or (len(found) >= count and row >> 10 != found[-1] >> 10):
            break
        found.append(row)
    return found
