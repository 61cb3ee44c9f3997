"""Words to hits: the one ranking, used by the quick path and by the library alike.

A query is data: every word is quoted, so no character of it can steer FTS5 or SQL. What fits all
words comes first, then what fits some; within both by BM25 with a mild preference for memories
and for the recent, then time, then id. Equal contents give equal answers.

Nothing but `_sqlite3`'s connection is needed, and nothing is imported: the quick path starts here.
"""

from holdfast.index.schema import WEIGHTS, facet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection
    from typing import Any

    Row = tuple[Any, ...]

FIELDS = (
    "id", "kind", "title", "text", "ts", "task", "tags", "layer", "line", "head", "path",
    "exit_status", "target", "run", "sha256", "what", "state", "score",
)  # fmt: skip
KINDS = ("event", "fact", "run", "artifact", "candidate", "task", "session")
MAX_WORDS = 64
MAX_QUERY = 4096
MAX_LIMIT = 1000
SNIPPET = 200

APPROVED = "T0"  # the tier of what a person approved
FOREIGN = "from elsewhere, not approved here"  # a doubt: it came by git, nobody vouches
PROMOTED = "promoted, not reviewed"  # accepted, and no person was seen to do it
SUPERSEDED = "superseded"  # as a doubt: by a person's word, though what took its place is not here any more

_ROW = (
    "r.name, r.kind, r.title, r.text, r.ts, r.task, r.tags, r.layer, r.line, r.head, r.path, "
    "r.status, r.target, r.run, r.sha256, r.what, r.expires, r.doubt, r.tier"
)
# A memory counts as ever recent and somewhat more; an event loses a fifth as it grows old.
_SCORE = (
    f"bm25(words, {WEIGHTS}) * CASE WHEN words.rowid < 0 THEN 1.5 "
    "ELSE 1.0 + 0.2 / (1.0 + (?2 - (words.rowid >> 10) / 3600000000) / 720.0) END"
)
_BY_SCORE = (
    f"SELECT rowid, {_SCORE} AS score FROM words WHERE words MATCH ?1 ORDER BY score, rowid DESC LIMIT ?3"
)
_BY_TIME = "SELECT rowid, 0.0 FROM words WHERE words MATCH ?1 AND ?2 >= 0 ORDER BY rowid DESC LIMIT ?3"
_MEMORY_EVENTS = ("propose", "accept", "promote", "edit", "reject", "retire")
_WORK_EVENTS = ("task", "session", "checkpoint")


def search(
    db: "Connection",
    query: str,
    *,
    limit: int = 5,
    task: str | None = None,
    kind: str | None = None,
    now: str = "",
) -> "list[Row]":
    """The best hits as tuples of FIELDS. `now` marks memories that have expired."""
    words, facets = read_query(query)
    if task:
        facets.append(facet("t", task))
    if kind:
        facets.append(facet("k", kind))
    limit = max(1, min(limit, MAX_LIMIT))
    asked = " ".join(query.split())
    if asked and not words and not facets:
        return []
    found = _found(db, words, facets, limit, kind)
    terms = [part.casefold() for word in words for part in split_word(word)]
    replaced = _superseded(db) if any(row[-1] < 0 for row, _ in found) else {}
    return [_hit(row, score, terms, now, replaced) for row, score in found]


def candidates(db: "Connection", query: str, *, task: str | None = None, kind: str | None = None) -> int:
    """How many candidates fit a query that found nothing; none where they would not be an answer."""
    if kind not in (None, "fact"):
        return 0
    return len(search(db, query, limit=MAX_LIMIT, task=task, kind="candidate"))


def _superseded(db: "Connection") -> dict[str, str]:
    """The memories that a newer, approved one says it replaces, each with the newer one's tier."""
    rows = db.execute(
        "SELECT supersedes, tier FROM row WHERE supersedes IS NOT NULL AND shown "
        "AND (doubt IS NULL OR doubt IN (?, ?)) ORDER BY tier DESC",
        (FOREIGN, SUPERSEDED),
    )
    return {name: tier for names, tier in rows for name in names.split()}  # the most trusted comes last


def _found(
    db: "Connection", words: list[str], facets: list[str], limit: int, kind: str | None
) -> "list[tuple[Row, float]]":
    if not words:
        return _collapse(_newest(db, facets, limit, kind), limit)
    found = _ranked(db, match_all(words, facets, kind), limit)
    if len(found) < limit and len(words) > 1:
        names = {row[0] for row, _ in found}
        more = _ranked(db, match_any(words, facets, kind), limit + len(found))
        found = _collapse(found + [hit for hit in more if hit[0][0] not in names], limit)
    return found


def read_query(query: str) -> tuple[list[str], list[str]]:
    """The words of a query, and the facets it asks for as `tag:x` or `task:x`."""
    clean = query[:MAX_QUERY].encode("utf-8", "replace").decode("utf-8").replace("\0", " ")
    words, facets = [], []
    for word in clean.split()[:MAX_WORDS]:
        name, colon, value = word.partition(":")
        if colon and value and name in ("tag", "task"):
            facets.append(facet("g" if name == "tag" else "t", value))
        elif any(character.isalnum() for character in word):
            words.append(word)
    return words, facets


def split_word(word: str) -> list[str]:
    """The parts of an identifier: `getUserName`, `get_user_name` and `get-user/name` alike."""
    parts, start = [], 0
    for place in range(1, len(word) + 1):
        if place == len(word) or _breaks(word, place):
            part = "".join(c for c in word[start:place] if c.isalnum())
            if part:
                parts.append(part)
            start = place
    return parts


def _breaks(word: str, place: int) -> bool:
    before, here = word[place - 1], word[place]
    if not here.isalnum() or not before.isalnum():
        return True
    after = word[place + 1 : place + 2]
    # "HTTPServer" is HTTP and Server: the last capital begins the word that follows it.
    return here.isupper() and (before.islower() or before.isdigit() or (before.isupper() and after.islower()))


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _either(word: str) -> str:
    """A word as it stands, or as the sequence of its parts."""
    parts = split_word(word)
    whole = _quoted(word)
    return whole if len(parts) < 2 else f"({whole} OR {_quoted(' '.join(parts))})"


_ASKED = "{title labels text parts} : "


def _filtered(match: str, facets: list[str], kind: str | None) -> str:
    wanted = "".join(f" AND facets : {_quoted(name)}" for name in facets)
    hidden = "" if kind == "candidate" else f" NOT facets : {_quoted(facet('k', 'candidate'))}"
    return f"({match}{wanted}){hidden}"


def match_all(words: list[str], facets: list[str], kind: str | None = None) -> str:
    """The FTS5 expression for rows that hold every word."""
    return _filtered(f"{_ASKED}({' AND '.join(map(_either, words))})", facets, kind)


def match_any(words: list[str], facets: list[str], kind: str | None = None) -> str:
    """The FTS5 expression for rows that hold some word."""
    return _filtered(f"{_ASKED}({' OR '.join(map(_either, words))})", facets, kind)


def _ranked(db: "Connection", match: str, limit: int, order: str = _BY_SCORE) -> "list[tuple[Row, float]]":
    """The best rows in their final order, however equals were stored."""
    newest = db.execute("SELECT value FROM meta WHERE name = 'newest'").fetchone()
    hour = int(newest[0]) if newest and newest[0] else 0
    count = 2 * limit + 16
    while True:
        rows = _rows(db, db.execute(order, (match, hour, count)).fetchall())
        found = _collapse(_in_order(rows[:]), limit)
        if len(rows) < count or (len(found) == limit and not _tied(found[-1], rows[-1])):
            return found
        count *= 4


def _tied(one: "tuple[Row, float]", last: "tuple[Row, float]") -> bool:
    """Whether more rows, as good as the last that was taken, may lie beyond those fetched."""
    same_time = one[0][4] == last[0][4] or one[0][-1] < 0 or last[0][-1] < 0
    return one[1] == last[1] and same_time


def _rows(db: "Connection", numbers: list[tuple[int, float]]) -> "list[tuple[Row, float]]":
    one = f"SELECT {_ROW}, r.id FROM row AS r WHERE r.id = ?"
    return [(db.execute(one, (number,)).fetchone(), score) for number, score in numbers]


def _in_order(found: "list[tuple[Row, float]]") -> "list[tuple[Row, float]]":
    found.sort(key=lambda hit: hit[0][0])
    found.sort(key=lambda hit: hit[0][4] or "", reverse=True)
    found.sort(key=lambda hit: hit[1])
    return found


def _newest(db: "Connection", facets: list[str], limit: int, kind: str | None) -> "list[tuple[Row, float]]":
    """With no words asked for: the most recent."""
    if facets:
        match = " AND ".join(f"facets : {_quoted(name)}" for name in facets)
        if kind != "candidate":
            match = f"({match}) NOT facets : {_quoted(facet('k', 'candidate'))}"
        if kind not in ("fact", "candidate"):
            return _ranked(db, match, limit, _BY_TIME)
        numbers = db.execute(_BY_TIME, (match, 1, -1)).fetchall()
        return _in_order(_rows(db, numbers))
    return _in_order(_recent_events(db, 2 * limit + 16) + _recent_memories(db, 2 * limit + 16))


def _recent_events(db: "Connection", count: int) -> "list[tuple[Row, float]]":
    """The last `count`, and all that have the time of the last of these: equals are ordered by id."""
    found: list[tuple[Row, float]] = []
    for row in db.execute(f"SELECT {_ROW}, r.id FROM row AS r WHERE r.id > 0 AND r.shown ORDER BY r.id DESC"):
        if len(found) >= count and row[4] != found[-1][0][4]:
            break
        found.append((row, 0.0))
    return found


def _recent_memories(db: "Connection", count: int) -> "list[tuple[Row, float]]":
    rows = db.execute(
        f"SELECT {_ROW}, r.id FROM row AS r WHERE r.id < 0 AND r.shown AND r.kind <> 'candidate' "
        "ORDER BY r.ts DESC, r.name LIMIT ?",
        (count,),
    )
    return [(row, 0.0) for row in rows]


def _collapse(found: "list[tuple[Row, float]]", limit: int) -> "list[tuple[Row, float]]":
    """The first of those that say the same: one file's content, or a thing and the events of its life.

    Of a task or a session that is not here itself, one event stands for all of them.
    """
    things = {row[0] for row, _ in found if row[-1] < 0 or row[1] == "session"}
    files: set[Row] = set()
    kept: list[tuple[Row, float]] = []
    for row, score in found:
        if row[-1] > 0 and row[15] in _MEMORY_EVENTS + _WORK_EVENTS and row[12] in things:
            continue
        if row[-1] > 0 and row[15] in _WORK_EVENTS and row[12]:
            things.add(row[12])
        if row[1] == "artifact":
            if (row[10], row[14]) in files:
                continue
            files.add((row[10], row[14]))
        kept.append((row, score))
        if len(kept) == limit:
            break
    return kept


def _hit(row: "Row", score: float, terms: list[str], now: str, replaced: dict[str, str]) -> "Row":
    *fields, expires, doubt, tier, number = row
    fields[3] = snippet(fields[3] or "", terms)
    state = None
    if fields[1] == "run" and fields[15] != "run":  # a transcript tells how it ended, and when it ran
        (state, fields[4]), fields[15] = fields[15].split(" "), "run"
    if number < 0 or fields[1] == "session":
        state, fields[15] = fields[15], None
        if state == "deprecated":
            state = doubt if doubt and doubt != FOREIGN else "retired"
        elif state == "accepted":
            state = _state(fields[0], doubt, tier, replaced, over=bool(expires and now and expires <= now))
    return (*fields, state, float(f"{abs(score):.4g}"))


def _state(name: str, doubt: str | None, tier: str, replaced: dict[str, str], *, over: bool) -> str:
    """What is to be said of a memory before it is believed; only what is trusted as much replaces it."""
    if doubt and doubt != FOREIGN:
        return doubt
    if name in replaced and replaced[name] <= tier:
        return SUPERSEDED
    if over or doubt:
        return "expired" if over else doubt or ""
    return "accepted" if tier == APPROVED else PROMOTED


def snippet(text: str, terms: list[str]) -> str:
    """The part of a text around the first word that was asked for, on one line."""
    low = text.casefold()
    places = [place for place in (low.find(term) for term in terms) if place >= 0]
    start = max(0, min(places, default=0) - SNIPPET // 4)
    if start:
        space = text.find(" ", start)
        start = space + 1 if 0 <= space < start + 20 else start
    line = " ".join(text[start : start + SNIPPET].split())
    return ("…" if start else "") + line + ("…" if start + SNIPPET < len(text) else "")
