"""The one ranking, used by the quick path and by the library alike.

A question is data: every word is quoted, so no character of it can alter FTS5 or SQL. Candidates are collected from
each source (`pool`) and ranked by their features (`scoring`, `ranking_weights`); those that say the same are collapsed.
Without words and files the most recent records are returned: decisions and work before the events that led to them.
Equal contents return equal answers: ties are resolved by time, then by id.

Needs only `_sqlite3`'s connections, and imports only our own modules and `math`: the quick path starts here.
"""

from __future__ import annotations

from math import log

from holdfast.index import result_order, scoring
from holdfast.index.hit_text import APPROVED, FOREIGN, PROMOTED, STALE, SUPERSEDED
from holdfast.index.pool import AT, FIRST, READ, SOURCES, Pool, facets_of, fetched, gather, match_all, match_any
from holdfast.index.query import MAX_QUERY, MAX_WORDS, Scope, SearchQuery, quoted, read_query, split_word
from holdfast.index.ranking_weights import GROUPED, PRIORS, STANDINGS, TRUST, WEIGHTS
from holdfast.index.schema import facet
from holdfast.index.search_words import words_of
from holdfast.index.second_hop import NAMED, follow, named_by

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from sqlite3 import Connection
    from typing import Any

    from holdfast.index.pool import Near

    SearchRow = tuple[Any, ...]
    Step = Callable[[Sequence[Connection], SearchQuery, Sequence[tuple[int, float]]], dict[int, float]]
    from collections.abc import Sequence
    from sqlite3 import Connection
    from typing import Any

    Row = tuple[Any, ...]

COMMITS = 2  # commits among the first hits; a guess: `git log` lists the others
_PASSING = ("event", "artifact", "turn")  # kinds that other records represent
_DONE = " OR ".join(f"facets : {quoted(facet('k', kind))}" for kind in ("run", "session"))
_BY_TIME = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC"
_TIMELESS = (
    "SELECT id FROM row WHERE id IN (SELECT rowid FROM words WHERE words MATCH ? AND rowid < 0) "
    "ORDER BY ts DESC, name, title LIMIT 1000"
)
_LATEST = "SELECT id FROM row WHERE id > 0 AND shown ORDER BY id DESC"
_MEMORIES = "SELECT id FROM row WHERE id < 0 AND shown AND kind <> 'candidate' ORDER BY ts DESC, name LIMIT ?"


def gather_recent(sources: Sequence[Connection], asked: SearchQuery, scope: Scope, limit: int) -> Pool:
    """Returns the newest rows with these facets, if any; from the repository otherwise only commits."""
    pool = Pool(0)
    wanted = facets_of(asked, scope)
    count = 4 * limit + 64
    for number, db in enumerate(sources):
        if wanted:
            match = " AND ".join(f"facets : {quoted(name)}" for name in wanted)
            if scope.kind != "candidate":
                match = f"({match}) NOT facets : {quoted(facet('k', 'candidate'))}"
            # Rows without a time have numbers in no order.
            numbers = _newest_rows(db, _BY_TIME, (match,), count) + [row for (row,) in db.execute(_TIMELESS, (match,))]
        else:
            numbers = _newest_of_all(db, count) if number == 0 else _newest_rows(db, _LATEST, (), COMMITS)
        for row, values in fetched(db, numbers, wanted, scope).items():
            pool.rows[row << SOURCES | number] = values
    return pool


def telling_first(found: list[tuple[int, SearchRow]]) -> list[tuple[int, SearchRow]]:
    """Returns the same rows, events and artifacts behind decisions and work."""
    kind = AT["kind"]
    passing = [one for one in found if one[1][kind] in _PASSING]
    commits = [one for one in found if one[1][kind] == "commit"][COMMITS:]
    put_off = {key for key, _ in (*passing, *commits)}
    return [*(one for one in found if one[0] not in put_off), *commits, *passing]


def _newest_of_all(db: Connection, count: int) -> list[int]:
    """Returns the last runs and sessions, the last of all events, and the newest memories and tasks."""
    done = _newest_rows(db, _BY_TIME, (_DONE,), count)
    lasting = [row for (row,) in db.execute(_MEMORIES, (count,))]
    return list(dict.fromkeys([*done, *_newest_rows(db, _LATEST, (), count), *lasting]))


def _newest_rows(db: Connection, statement: str, given: tuple[str, ...], count: int) -> list[int]:
    """Returns the first rows with a time, with all that tie with the last: ties are resolved by id."""
    found: list[int] = []
    for (row,) in db.execute(statement, given):
        if row < 0 or (len(found) >= count and row >> 10 != found[-1] >> 10):
            break
        found.append(row)
    return found


__all__ = (
    "KINDS", "MAX_LIMIT", "MAX_QUERY", "MAX_WORDS",
    "candidates", "match_all", "match_any", "search", "snippet", "split_word",
)  # fmt: skip

KINDS = (
    "event", "fact", "run", "artifact", "candidate", "task", "session", "turn", "cycle", "commit", "doc",
    "code",
)  # fmt: skip
MAX_LIMIT = 1000  # a guess: more is no answer but an export
# Ranked as if for so many hits, however few are requested; if five contain all words, most need no more.
DEPTHS = (5, FIRST, 50, 200, MAX_LIMIT)
BY_MEANING = "meaning"  # how a hit was found that nothing else supports
SNIPPET = 200  # characters; a guess: two rows of a terminal
_STOPS = (". ", "! ", "? ")

_MEMORY_EVENTS = ("propose", "accept", "promote", "edit", "reject", "retire")
_WORK_EVENTS = ("task", "session", "checkpoint")
_OWN_WEIGHTS = {**WEIGHTS, **GROUPED}
_ALL = {**_OWN_WEIGHTS, **PRIORS, "linked": 1.0}
_SPEAKING = ("words", "cover", "beside", "files", "linked", "placed")  # features that say more than meaning
_LINKING = 10  # best rows that may lead to others, as `second_hop.FIRST`


def search(
    sources: Sequence[Connection],
    query: str | SearchQuery,
    *,
    scope: Scope | None = None,
    limit: int = 5,
    now: str = "",
    near: Near | None = None,
    explain: bool = False,
    step: Step = follow,
) -> list[SearchRow]:
    """Returns the best hits as tuples of FIELDS, with the parts of the score behind if `explain`.

    `now` marks expired memories; `near` returns the similarity of rows to the question by meaning; `step` returns the
    gains of rows that are linked to the best ones.
    """
    scope = scope or Scope()
    asked = read_query(query) if isinstance(query, str) else query
    limit = max(1, min(limit, MAX_LIMIT))
    if not asked.words and not scope.files and not asked.paths and near is None:
        if asked.text and not asked.facets:
            return []
        newest = _recent(sources, asked, scope, limit, now)
        return [(*hit, []) for hit in newest] if explain else newest
    terms = [part.casefold() for word in asked.words for part in split_word(word)]
    hits: list[SearchRow] = []
    seen: set[int] = set()
    for depth in DEPTHS:  # a longer list starts with the shorter one
        found = _Ranked(sources, asked, scope=scope, limit=depth, now=now, near=near, step=step)
        if len(found.kept) < depth and found.pool.narrow:  # too many of them said the same
            found = _Ranked(sources, asked, scope=scope, limit=depth, now=now, near=near, step=step, wide=True)
        new = [one for one in found.kept if one[0] not in seen][: limit - len(hits)]
        hits += found.hits(sources, new, terms, explain=explain)
        seen.update(key for key, _ in new)
        if len(hits) >= limit or depth >= limit:
            break
    return hits


class _Ranked:
    """The candidates for a question in their order, with their states."""

    def __init__(
        self,
        sources: Sequence[Connection],
        asked: SearchQuery,
        *,
        scope: Scope,
        limit: int,
        now: str,
        near: Near | None,
        step: Step,
        wide: bool = False,
    ) -> None:
        self._by_meaning = near is not None
        pool = gather(sources, asked, scope=scope, limit=limit, near=near, wide=wide)
        if scope.kind in result_order.KINDS:
            result_order.join(pool, sources, asked, scope=scope, near=near, wide=wide)
        result_order.level(pool, asked)
        scores = scoring.fuse(pool.features, _OWN_WEIGHTS)
        if len(asked.words) > 1 and (gains := _linked(sources, asked, pool, scores, step)):
            # Add the reached rows to the pool, if they are within the scope.
            wanted = facets_of(asked, scope)
            for number, db in enumerate(sources):
                missing = [key >> SOURCES for key in gains if _source(key) == number and key not in pool.rows]
                for row, values in fetched(db, missing, wanted, scope).items() if missing else ():
                    pool.add(row << SOURCES | number, values)
            pool.features["linked"] = {key: gain for key, gain in gains.items() if key in pool.rows}
            result_order.level(pool, asked)
            scores = scoring.fuse(pool.features, _ALL)
        standing = HitReliability(sources, pool, now)
        for key, prior in scoring.fuse(_priors(pool, asked, sources, standing), PRIORS).items():
            scores[key] = scores.get(key, 0.0) + prior
        standing.put_behind(pool, scores)
        self.pool, self.standing, self.scores = pool, standing, scores
        found, again = result_order.chosen(in_order(pool, scores), scores, varied=scope.kind is None)
        if again:
            pool.features["again"] = again
            self.scores = {key: scores[key] + again.get(key, 0.0) for key, _ in found}
            found = in_order(pool, self.scores)
        if lift := result_order.lifted(pool, asked, found, self.scores, kind=scope.kind):
            pool.features["lifted"] = lift
            self.scores = {key: score + lift.get(key, 0.0) for key, score in self.scores.items()}
            found = in_order(pool, self.scores)
        self.kept = _collapse(found, limit)

    def hits(
        self, sources: Sequence[Connection], chosen: Sequence[tuple[int, SearchRow]], terms: list[str], *, explain: bool
    ) -> list[SearchRow]:
        """Returns them as tuples of FIELDS, with the parts of the score behind if `explain`."""
        found = []
        for key, row in chosen:
            by = BY_MEANING if self._is_guess(key) else None
            hit = _hit(sources[_source(key)], row, self.scores[key], terms, self.standing, by=by)
            found.append((*hit, scoring.parts(key, self.pool.features, _ALL)) if explain else hit)
        return found

    def _is_guess(self, key: int) -> bool:
        """Whether only meaning supports a row: it shares no word with the question and no open file."""
        known = self.pool.features
        return self._by_meaning and not any(known.get(name, {}).get(key, 0.0) for name in _SPEAKING)


def candidates(sources: Sequence[Connection], query: str, *, scope: Scope | None = None) -> int:
    """Returns how many candidates match a query that found nothing; 0 if they would not be an answer."""
    scope = scope or Scope()
    if scope.kind not in (None, "fact"):
        return 0
    narrowed = Scope(kind="candidate", task=scope.task, files=scope.files, branch=scope.branch, since=scope.since)
    return len(search(sources, query, limit=MAX_LIMIT, scope=narrowed))


def _source(key: int) -> int:
    return key & (1 << SOURCES) - 1


def in_order(pool: Pool, scores: dict[int, float]) -> list[tuple[int, SearchRow]]:
    """Returns the candidates, best first; ties by time, then by id, independent of the storage."""
    name, ts, rows = AT["name"], AT["ts"], pool.rows
    places = {key: -round(score, 9) for key, score in scores.items() if key in rows}
    found = [(key, rows[key]) for key in places]
    if len(set(places.values())) < len(places):
        found.sort(key=lambda one: (one[1][name], one[0] & (1 << SOURCES) - 1))
        found.sort(key=lambda one: one[1][ts] or "", reverse=True)
    found.sort(key=lambda one: places[one[0]])
    return found


def _priors(
    pool: Pool, asked: SearchQuery, sources: Sequence[Connection], standing: HitReliability
) -> dict[str, dict[int, float]]:
    """Returns the features that do not depend on the question: approval, validity, past use."""
    tier, name = AT["tier"], AT["name"]
    found = {
        "trust": {key: TRUST[row[tier]] for key, row in pool.rows.items() if row[tier] in TRUST},
        "kind": result_order.kinds(pool, asked),
        "defines": result_order.defines(pool, asked),
        "placed": pool.features.get("placed", {}),
        "standing": {key: STANDINGS[state] for key, state in standing.states.items() if state in STANDINGS},
    }
    used = dict(sources[0].execute("SELECT name, times FROM used").fetchall()) if found["trust"] else {}
    known = {key: row[name].lower() for key, row in pool.rows.items() if key < 0} if used else {}
    found["used"] = {k: log(1.0 + min(used[one], 15)) / log(16.0) for k, one in known.items() if one in used}
    pool.features.update(found)
    return found


def _linked(
    sources: Sequence[Connection], asked: SearchQuery, pool: Pool, scores: dict[int, float], step: Step
) -> dict[int, float]:
    """Returns the gains of rows that the best ones lead to; these may be in no pool yet."""
    recent = pool.features.get("recent", {})
    said = {key: score - WEIGHTS["recent"] * recent.get(key, 0.0) for key, score in scores.items()}
    most = max(said.values(), default=0.0)
    if most <= 0.0:
        return {}
    best = [(key, said[key] / most) for key, _ in in_order(pool, said)[:_LINKING]]
    if step is follow and not _leads(asked, pool, [key for key, _ in best]):
        return {}
    return {key: gain * most for key, gain in step(sources, asked, best).items()}


def _leads(asked: SearchQuery, pool: Pool, best: list[int]) -> bool:
    """Whether the question names one of the best rows: otherwise no link is followed."""
    said = words_of(asked.text)
    title, name = AT["title"], AT["name"]
    rows = [pool.rows[key] for key in best]
    return any(named_by(asked, said, row[title] or "", row[name]) >= NAMED for row in rows)


def _recent(sources: Sequence[Connection], asked: SearchQuery, scope: Scope, limit: int, now: str) -> list[SearchRow]:
    """Returns the most recent rows, for a query without words."""
    pool = gather_recent(sources, asked, scope, limit)
    standing = HitReliability(sources, pool, now)
    found = in_order(pool, dict.fromkeys(pool.rows, 0.0))
    kept = _collapse(found if scope.kind else telling_first(found), limit)
    return [_hit(sources[_source(key)], row, 0.0, [], standing) for key, row in kept]


def _collapse(found: list[tuple[int, SearchRow]], limit: int) -> list[tuple[int, SearchRow]]:
    """Returns the first of rows that say the same: one file's content, or a record and the events about it.

    For a task or a session that is not visible itself, one event represents all of them.
    """
    name, kind, target, what = AT["name"], AT["kind"], AT["target"], AT["what"]
    things = {row[name] for key, row in found if key < 0 or row[kind] == "session"}
    files: set[tuple[str, str]] = set()
    kept: list[tuple[int, SearchRow]] = []
    for key, row in found:
        if key > 0 and row[what] in _MEMORY_EVENTS + _WORK_EVENTS and row[target] in things:
            continue
        if key > 0 and row[what] in _WORK_EVENTS and row[target]:
            things.add(row[target])
        if row[kind] == "artifact":
            made = (row[AT["path"]], row[AT["sha256"]])
            if made in files:
                continue
            files.add(made)
        kept.append((key, row))
        if len(kept) == limit:
            break
    return kept


def _hit(
    db: Connection, row: SearchRow, score: float, terms: list[str], standing: HitReliability, *, by: str | None = None
) -> SearchRow:
    fields, what = list(row[: AT["what"]]), row[AT["what"]]
    text = row[AT["text"]] or ""
    if len(text) >= READ:  # only its start was read
        whole = db.execute("SELECT text FROM row WHERE id = ?", (row[AT["id"]],)).fetchone()
        text = (whole and whole[0]) or ""
    fields[AT["text"]] = snippet(text, terms)
    state = standing.of(row)
    if row[AT["kind"]] == "run" and what != "run":  # an imported run has its result and its time in `what`
        (state, fields[AT["ts"]]), what = what.split(" "), "run"
    elif row[AT["id"]] < 0 or row[AT["kind"]] == "session":
        what = None
    return (*fields, what, state, row[AT["tier"]], None, by, float(f"{score:.4g}"))


def snippet(text: str, terms: list[str]) -> str:
    """Returns the sentence of a text with most of the question's words, and the text after it, on one line."""
    low = text.casefold()
    low = low if len(low) == len(text) else text  # a few letters get longer, and places would shift
    starts = [start for start in dict.fromkeys(map(scoring.stem, terms)) if start in low]
    start, end = max(_sentences(low), key=lambda span: _says(low, span, starts), default=(0, 0)) if starts else (0, 0)
    first = min([place for one in starts if start <= (place := low.find(one, start)) < end], default=start)
    if first > start + SNIPPET - SNIPPET // 4:
        start = first - SNIPPET // 4
        space = text.find(" ", start)
        start = space + 1 if 0 <= space < start + 20 else start
    line = " ".join(text[start : start + SNIPPET].split())
    return ("…" if text[:start].strip() else "") + line + ("…" if text[start + SNIPPET :].strip() else "")


def _sentences(text: str) -> list[tuple[int, int]]:
    """Where the sentences of a text begin and end: lines, and what stops within them."""
    found, start = [], 0
    for line in text.splitlines(keepends=True):
        end, at = start + len(line), start
        stops = [place for stop in _STOPS for place in _places(text, stop, start, end)]
        for place in sorted(stops):
            found.append((at, place + 1))
            at = place + 2
        found.append((at, end))
        start = end
    return found


def _places(text: str, part: str, start: int, end: int) -> list[int]:
    found = []
    while (start := text.find(part, start, end)) >= 0:
        found.append(start)
        start += len(part)
    return found


def _says(text: str, span: tuple[int, int], starts: list[str]) -> float:
    """How many of some words a sentence holds; half of it if it asks or is a heading."""
    held = sum([text.find(one, *span) >= 0 for one in starts])
    said = text[slice(*span)].strip() if held else ""
    return held / 2 if said.endswith("?") or said.startswith("#") else float(held)


_LONGEST = 10  # chain of superseded memories that is followed; a guess: real ones are shorter
_STEP = 1e-6  # of a score: enough to rank behind


class HitReliability:
    """What is to be said of memories before they are believed, and what took the place of which."""

    def __init__(self, sources: Sequence[Connection], pool: Pool, now: str) -> None:
        self._now = now
        self._replaced = _superseded(sources[0]) if any(key < 0 and _is_first(key) for key in pool.rows) else {}
        self.states: dict[int, str | None] = {key: self.of(row) for key, row in pool.rows.items() if key < 0}

    def of(self, row: Row) -> str | None:
        """Returns a task's status, whether a session is open, or how far a memory can be trusted."""
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

    def put_behind(self, pool: Pool, scores: dict[int, float]) -> None:
        """Ranks a superseded memory behind its successor."""
        keys = {pool.rows[key][AT["name"]]: key for key in scores if key < 0 and _is_first(key)}
        old = sorted(name for name in keys if self.states[keys[name]] == SUPERSEDED)
        for _ in old[:_LONGEST]:  # one may have taken the place of another that had taken a third's
            for name in old:
                newer = [keys[one] for one in self._replaced.get(name, ("",))[1:] if one in keys]
                least = min([scores[key] for key in newer], default=scores[keys[name]])
                scores[keys[name]] = min(scores[keys[name]], least - _STEP if newer else least)


def _superseded(db: Connection) -> dict[str, tuple[str, ...]]:
    """Returns the memories that newer, approved ones supersede: the best tier of these, and their names."""
    rows = db.execute(
        "SELECT supersedes, tier, name FROM row WHERE supersedes IS NOT NULL AND shown "
        "AND (doubt IS NULL OR doubt IN (?, ?, ?)) ORDER BY tier, name",
        (FOREIGN, STALE, SUPERSEDED),
    )
    found: dict[str, tuple[str, ...]] = {}
    for names, tier, newer in rows:  # the most trusted first
        for name in names.split():
            found[name] = (*found.get(name, (tier,)), newer)
    return found


def _state(doubt: str | None, tier: str, newer: str, *, over: bool) -> str:
    """Returns the state to show with a memory; only a memory of at least the same tier supersedes it."""
    if doubt and doubt not in (FOREIGN, STALE):
        return doubt
    if newer and newer <= tier:
        return SUPERSEDED
    return "expired" if over else doubt or ("accepted" if tier == APPROVED else PROMOTED)


def _is_first(key: int) -> bool:
    """Whether a candidate is of the first source, which contains decisions."""
    return not key & (1 << SOURCES) - 1
