"""Runs and sessions, asked for as a whole: as good as the best turn, and what the rest of it adds.

Who asks which run it was remembers what was said in it, and a run's own row tells only what came of it. So
its turns are asked as well. `turn` is what the best of them brings beyond the run's own row, `told` the
share of the question that stands anywhere in it, `said` how near in meaning it comes to the question where
those speak whom the question names. What has no turns is weighed by its own row alone, on the same scale.

Nothing is imported but our own: the quick path groups with this.
"""

from holdfast.index import rank
from holdfast.index.asked import Asked, quoted
from holdfast.index.pool import AT, SOURCES, Pool, facets_of, fetched, gather
from holdfast.index.schema import facet
from holdfast.index.scope import Scope
from holdfast.index.weights import WEIGHTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection

    from holdfast.index.pool import Near
    from holdfast.index.rank import Feature

    Members = dict[int, set[int]]  # the turns of each group, by their keys

KINDS = ("run", "session")
TURNS = 150  # hits that the turns are asked for: many of them belong to one run
LESSER = 0.15  # of what its own row or its best turn brings, whichever is less
_MASK = (1 << SOURCES) - 1
_TAG = "g"  # facets that turns do not have: a tag is their run's
_NOTES = "SELECT rowid FROM words WHERE words MATCH ?"


def join(
    pool: Pool,
    sources: "Sequence[Connection]",
    asked: Asked,
    *,
    scope: Scope,
    near: "Near | None" = None,
    wide: bool = False,
) -> None:
    """Let turns count for the runs and sessions of a pool, and take in those that only a turn leads to."""
    turns, members = gathered(pool, sources, asked, scope=scope, near=near, wide=wide)
    own, score = rank.fuse(pool.features, WEIGHTS), rank.fuse(turns.features, WEIGHTS)
    best = {group: max([score.get(key, 0.0) for key in keys]) for group, keys in members.items()}
    pool.features["turn"] = {group: _gain(best[group], own.get(group, 0.0)) for group in members}
    pool.features.update(added(pool, turns, members, near))


def gathered(
    pool: Pool,
    sources: "Sequence[Connection]",
    asked: Asked,
    *,
    scope: Scope,
    near: "Near | None" = None,
    wide: bool = False,
) -> "tuple[Pool, Members]":
    """The turns that fit, and those of each run or session, which is in the pool from now on."""
    within = Scope(kind="turn", task=scope.task, files=scope.files, since=scope.since)
    turns = gather(sources, _untagged(asked), scope=within, limit=TURNS, near=near, wide=wide)
    pool.narrow = pool.narrow or turns.narrow
    members = _members(sources, turns, scope.kind)
    _take_in(pool, sources, facets_of(asked, scope), scope, members)
    return turns, {group: keys for group, keys in members.items() if group in pool.rows}


def added(pool: Pool, turns: Pool, members: "Members", near: "Near | None") -> "dict[str, Feature]":
    """What the rest of a run or session adds to the best of it."""
    found = {"told": _told(pool, turns, members)}
    if near:
        found["said"] = _said(pool, turns, members, near)
    return found


def _untagged(asked: Asked) -> Asked:
    found = Asked()
    for name in Asked.__slots__:
        setattr(found, name, getattr(asked, name))
    found.facets = [one for one in asked.facets if not one.startswith(_TAG)]
    return found


def _members(sources: "Sequence[Connection]", turns: Pool, kind: str | None) -> "Members":
    """The turns of each run; of each session, those of the runs that its notes name."""
    parent, run = AT["parent"], AT["run"]
    found: Members = {}
    named: dict[tuple[int, str], set[int]] = {}
    for key, row in turns.rows.items():
        if row[parent] is not None:
            found.setdefault(row[parent] << SOURCES | key & _MASK, set()).add(key)
        if row[run]:
            named.setdefault((key & _MASK, row[run]), set()).add(key)
    for (source, name), keys in named.items() if kind == "session" else ():
        match = f"facets : {quoted(facet('k', 'session'))} AND context : {quoted(name)}"
        for (row,) in sources[source].execute(_NOTES, (match,)).fetchall():
            found.setdefault(row << SOURCES | source, set()).update(keys)
    return found


def _take_in(pool: Pool, sources: "Sequence[Connection]", wanted: list[str], scope: Scope, members: "Members") -> None:
    """Add the groups that are not in the pool yet, as far as they are within the scope."""
    for number, db in enumerate(sources):
        missing = [key >> SOURCES for key in members if key & _MASK == number and key not in pool.rows]
        for row, values in fetched(db, missing, wanted, scope).items() if missing else ():
            pool.add(row << SOURCES | number, values)


def _gain(turn: float, own: float) -> float:
    """What the best turn brings to a score that holds its group's own row already."""
    return turn - (1.0 - LESSER) * own if turn > own else LESSER * turn


def _told(pool: Pool, turns: Pool, members: "Members") -> "Feature":
    """The share of the question that a group holds: in all of its turns, or in its own row."""
    cover, rest = turns.features.get("cover", {}), turns.features.get("gcover", {})
    found = dict(pool.features.get("cover", {}))
    for group, keys in members.items():
        share = max([cover.get(key, 0.0) + rest.get(key, 0.0) for key in keys])
        found[group] = max(share, found.get(group, 0.0))
    return {group: share for group, share in found.items() if share}


def _said(pool: Pool, turns: Pool, members: "Members", near: "Near") -> "Feature":
    """How near the nearest turn of each group is, of those by whom the question names if it names anybody.

    What has no turns here is as near as its own row.
    """
    content, named = AT["content"], turns.features.get("speaker")
    texts = {
        group: [row[content] for key in keys if not named or key in named if (row := turns.rows[key])[content]]
        for group, keys in members.items()
    }
    texts.update((key, [row[content]]) for key, row in pool.rows.items() if key not in texts and row[content])
    cosines = near.of(sorted({text for some in texts.values() for text in some}))
    nearest = {
        group: max(known)
        for group, some in texts.items()
        if (known := [cosines[text] for text in some if text in cosines])
    }
    return rank.spread(nearest)
