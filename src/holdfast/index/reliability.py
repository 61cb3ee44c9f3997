"""How far what was found can be believed, and what took its place.

Nothing is imported but our own: the quick path says it of every hit.
"""

from holdfast.index.hit_text import APPROVED, FOREIGN, PROMOTED, STALE, SUPERSEDED
from holdfast.index.pool import AT, SOURCES, Pool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection
    from typing import Any

    Row = tuple[Any, ...]


_LONGEST = 10  # chain of memories that took one another's place, that is looked at
_STEP = 1e-6  # of a score: enough to stand behind


class HitReliability:
    """What is to be said of memories before they are believed, and what took the place of which."""

    def __init__(self, sources: "Sequence[Connection]", pool: Pool, now: str) -> None:
        self._now = now
        self._replaced = _superseded(sources[0]) if any(key < 0 and _is_first(key) for key in pool.rows) else {}
        self.states: dict[int, str | None] = {key: self.of(row) for key, row in pool.rows.items() if key < 0}

    def of(self, row: "Row") -> str | None:
        """A task's status, whether a session is open, or how far a memory can be believed."""
        if row[AT["id"]] > 0 and row[AT["kind"]] != "session":
            return None
        state: str | None = row[AT["what"]]
        doubt, tier, expires = row[AT["doubt"]], row[AT["tier"]], row[AT["expires"]]
        if state == "deprecated":
            return doubt if doubt and doubt != FOREIGN else "retired"
        if state != "accepted":
            return state
        over = bool(expires and self._now and expires <= self._now)
        return _state(doubt, tier, self._replaced.get(row[AT["name"]], ("",))[0], over=over)

    def put_behind(self, pool: Pool, scores: "dict[int, float]") -> None:
        """Let nothing stand before what took its place."""
        keys = {pool.rows[key][AT["name"]]: key for key in scores if key < 0 and _is_first(key)}
        old = sorted(name for name in keys if self.states[keys[name]] == SUPERSEDED)
        for _ in old[:_LONGEST]:  # one may have taken the place of another that had taken a third's
            for name in old:
                newer = [keys[one] for one in self._replaced.get(name, ("",))[1:] if one in keys]
                least = min([scores[key] for key in newer], default=scores[keys[name]])
                scores[keys[name]] = min(scores[keys[name]], least - _STEP if newer else least)


def _superseded(db: "Connection") -> dict[str, tuple[str, ...]]:
    """The memories that newer, approved ones say they replace: the best tier of these, and their names."""
    rows = db.execute(
        "SELECT supersedes, tier, name FROM row WHERE supersedes IS NOT NULL AND shown "
        "AND (doubt IS NULL OR doubt IN (?, ?, ?)) ORDER BY tier, name",
        (FOREIGN, STALE, SUPERSEDED),
    )
    found: dict[str, tuple[str, ...]] = {}
    for names, tier, newer in rows:  # the most trusted comes first
        for name in names.split():
            found[name] = (*found.get(name, (tier,)), newer)
    return found


def _state(doubt: str | None, tier: str, newer: str, *, over: bool) -> str:
    """What is to be said of a memory before it is believed; only what is trusted as much replaces it."""
    if doubt and doubt not in (FOREIGN, STALE):
        return doubt
    if newer and newer <= tier:
        return SUPERSEDED
    return "expired" if over else doubt or ("accepted" if tier == APPROVED else PROMOTED)


def _is_first(key: int) -> bool:
    """Whether a candidate is of the first source, which holds what was decided."""
    return not key & (1 << SOURCES) - 1
