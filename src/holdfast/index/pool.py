"""Collects the candidates for an answer, and the features of each.

They come from each source by words, by open files, by vectors, and by the line of a file that a question such as
`src/x.py:84` names; each way returns a bounded number of them. A candidate's key is its row's number and its source in
one; `scoring` adds up `Pool.features`. Ties at a bound are resolved by the records' content, never by their order.

Imports only our own modules and `math`: the quick path uses this.
"""

from math import log

from holdfast.index import scoring
from holdfast.index.query import Scope, SearchQuery, quoted
from holdfast.index.schema import WEIGHTS, facet

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from sqlite3 import Connection
    from typing import Any, Protocol

    from holdfast.index.scoring import Feature

    Row = tuple[Any, ...]

    class Near(Protocol):
        """The similarity of a question to the texts with vectors."""

        def of(self, contents: Iterable[bytes]) -> dict[bytes, float]: ...

        def best(self, limit: int) -> list[tuple[bytes, float]]: ...


# Pieces of files have no time, so their numbers are negative; the many commits of a file are skipped.
_PIECES = (
    "SELECT r.id, r.name FROM path AS p JOIN touch AS t ON t.path = p.id JOIN row AS r ON r.id = t.row "
    "WHERE p.name = ? AND t.row < 0 AND r.kind IN ('code', 'doc') AND r.shown"
)


def pieces_at(db: "Connection", places: "Sequence[tuple[str, int]]") -> dict[int, float]:
    """Returns the rows of the pieces with these lines: the last one that starts at or before each line."""
    found = {}
    for path, line in places:
        begun = [(_line(name), row) for row, name in db.execute(_PIECES, (path,)) if 0 < _line(name) <= line]
        if begun:
            found[max(begun)[1]] = 1.0
    return found


def _line(name: str) -> int:
    """Returns the line where a piece starts, by its name."""
    line = name.rpartition(":")[2]
    return int(line) if line.isascii() and line.isdigit() else 0


SOURCES = 2  # bits of a key that name its source
MAX_OPEN = 64  # open files that count; a guess: nobody works on more
_LAST = (1 << 52) - 1  # the latest time in a row's number
FEW_WORDS = 4  # up to so many words, rows with all of them are searched first; a guess
LATEST = 300  # records of a file that are read; a guess: older ones say little
NARROW = 64  # files; a row that touches more belongs to no folder; a guess
READ = 1500  # characters of a text that are read for ranking; a guess: the topic stands early
POOL = 80  # candidates of one way and source; a guess: larger pools only cost time
# The least cosine of a hit by meaning alone. With MiniLM senseless words reach 0.15 with any text, and answers in
# other words 0.27 and more.
FLOOR = 0.25
FIRST = 10  # hits from pools of these sizes; for more, pools grow
PROSE = 30  # docs and commits among a repository's candidates, if they contain any word; a guess
ALIKE = 26  # candidates with all words; a guess: fewer suffice, because they are alike
LASTING = 1.5  # factor for rows without a time when candidates are chosen; a guess: decisions before events
AMONG = 2  # times as many are read to find the newer ones; a guess
ACCOMPANIED = 40  # the best rows by words whose neighbours are candidates too; a guess

# The columns of a candidate: first those of a hit, then those that only ranking needs.
COLUMNS = (
    "name", "kind", "title", "text", "ts", "task", "tags", "layer", "line", "head", "path",
    "status", "target", "run", "sha256", "what", "expires", "doubt", "tier",
    "facets", "labels", "parts", "context", "content", "parent", "seq", "id",
)  # fmt: skip
AT = {name: place for place, name in enumerate(COLUMNS)}
_CUT = ", ".join(f"substr(text, 1, {READ})" if name == "text" else name for name in COLUMNS)
_ROWS = f"SELECT {_CUT} FROM row WHERE id IN (SELECT value FROM json_each(?)) AND shown"

# Decisions are among the candidates although many events contain the same in fewer words.
_BY_WORDS = (
    f"SELECT rowid, bm25(words, {WEIGHTS}) * CASE WHEN rowid < 0 THEN {LASTING} ELSE 1.0 END AS score "
    "FROM words WHERE words MATCH ?1 ORDER BY score, rowid DESC LIMIT ?2"
)
_BY_WORDS_SINCE = _BY_WORDS.replace("ORDER BY", "AND rowid NOT BETWEEN 1 AND ?3 ORDER BY")
_ASKED = "{title labels text parts context} : "


class Pool:
    """Candidates by key: their rows and features. It is narrow if all contain all words."""

    __slots__ = ("features", "narrow", "newest", "rows")

    def __init__(self, newest: int) -> None:
        self.newest = newest  # the hour of the newest record
        self.narrow = False
        self.rows: dict[int, Row] = {}
        self.features: dict[str, Feature] = {}

    def add(self, key: int, row: "Row") -> None:
        """Adds a candidate with no feature but its time."""
        self.rows[key] = row
        self.features.setdefault("recent", {})[key] = _recency(key >> SOURCES, self.newest)


def gather(
    sources: "Sequence[Connection]",
    asked: "SearchQuery",
    *,
    scope: "Scope",
    limit: int,
    near: "Near | None" = None,
    wide: bool = False,
) -> Pool:
    """Returns the candidates for a question with words or open files, with all features but the priors.

    Unless `wide`, rows with only some of few words are left out if enough rows contain all of them.
    """
    pool = Pool(max([_newest(db) for db in sources], default=0))
    ways: dict[str, Feature] = {name: {} for name in ("words", "files", "rare", "since", "near", "placed")}
    wanted = facets_of(asked, scope)
    nearest = dict(near.best(max(POOL, limit))) if near else {}
    nearest = {content: cosine for content, cosine in nearest.items() if cosine >= FLOOR}
    for number, db in enumerate(sources):
        search = _WordSearch(db, scope, wanted, limit, pool.newest)
        found = {} if wide else _by_all_words(search, asked)
        pool.narrow = pool.narrow or bool(found)
        found = found or _by_any_word(search, asked)
        if number and not scope.kind:
            found = {**_in_prose(search, asked), **found}
        shared = _by_files(db, [*scope.files, *asked.paths], found)
        shared["placed"] = pieces_at(db, asked.places)
        vectors = _by_content(db, nearest)
        best = _best(shared["files"], max(POOL, limit))
        rows = fetched(db, {*found, *best, *vectors, *shared["placed"]}, wanted, scope)
        if neighbours := _neighbours(db, rows, found) - rows.keys():
            rows.update(fetched(db, neighbours, wanted, scope))
        for name, values in (("words", found), *shared.items()):
            kept = {_key(row, number): values[row] for row in rows.keys() & values.keys()}
            ways[name].update(scoring.scaled(kept) if name == "words" else kept)
        pool.rows.update((_key(row, number), value) for row, value in rows.items())
    pool.features = {name: values for name, values in ways.items() if values}
    _add_features(pool, sources, asked, scope, near)
    return pool


def _key(row: int, source: int) -> int:
    return row << SOURCES | source


def _newest(db: "Connection") -> int:
    (found,) = db.execute("SELECT value FROM meta WHERE name = 'newest'").fetchone() or ("",)
    return int(found or 0)


def facets_of(asked: "SearchQuery", scope: "Scope") -> list[str]:
    """Returns the exact values that every hit must have."""
    bounds = [facet(sort, value) for sort, value in (("t", scope.task), ("k", scope.kind)) if value]
    return [*asked.facets, *bounds]


def filtered(match: str, wanted: list[str], kind: str | None) -> str:
    """Returns an FTS5 expression narrowed to rows with these facets; candidates show only on request."""
    also = "".join(f" AND facets : {quoted(name)}" for name in wanted)
    hidden = "" if kind == "candidate" else f" NOT facets : {quoted(facet('k', 'candidate'))}"
    return f"({match}{also}){hidden}"


def match_all(terms: "Sequence[str]", wanted: list[str], kind: str | None = None) -> str:
    """Returns the FTS5 expression for rows with every term."""
    return filtered(f"{_ASKED}({' AND '.join(terms)})", wanted, kind)


def match_any(terms: "Sequence[str]", wanted: list[str], kind: str | None = None) -> str:
    """Returns the FTS5 expression for rows with some term."""
    return filtered(f"{_ASKED}({' OR '.join(terms)})", wanted, kind)


class _WordSearch:
    """The common parts of all queries to one source's words."""

    __slots__ = ("db", "hour", "kind", "limit", "since", "wanted")

    def __init__(self, db: "Connection", scope: "Scope", wanted: list[str], limit: int, hour: int) -> None:
        self.db, self.kind, self.wanted, self.limit, self.hour = db, scope.kind, wanted, limit, hour
        self.since = number_of(scope.since) if scope.since else 0

    def best(self, match: str, count: int) -> "Feature":
        """Returns the best rows with their BM25, the newer ones of about equal rows first, with all ties."""
        count = max(count, 2 * self.limit + 16) if self.limit > FIRST else count
        found = dict(self._ordered(match, AMONG * count))
        if len(found) <= count:
            return found
        boosted = {row: score * _boost(row, self.hour) for row, score in found.items()}
        return {row: found[row] for row in _best(boosted, count)}

    def _ordered(self, match: str, count: int) -> "list[tuple[int, float]]":
        while True:  # one more than needed: it shows whether the bound splits a tie
            bounds = (self.since,) if self.since else ()
            asked = _BY_WORDS_SINCE if self.since else _BY_WORDS
            rows = self.db.execute(asked, (match, count + 1, *bounds)).fetchall()
            if len(rows) <= count or not _is_tied(rows):
                return [(row, -score / LASTING if row < 0 else -score) for row, score in rows[:count]]
            count *= 4


def _by_all_words(asking: _WordSearch, asked: "SearchQuery") -> "Feature":
    """Returns the best rows with every one of few words, if they are enough."""
    if not 1 <= len(asked.terms) <= FEW_WORDS or (len(asked.terms) == 1 and asked.parts):
        return {}
    found = asking.best(match_all(asked.terms, asking.wanted, asking.kind), ALIKE)
    return found if len(found) >= asking.limit else {}


def _by_any_word(asking: _WordSearch, asked: "SearchQuery") -> "Feature":
    if not asked.terms:
        return {}
    return asking.best(match_any([*asked.terms, *asked.parts], asking.wanted, asking.kind), POOL)


def _in_prose(asking: _WordSearch, asked: "SearchQuery") -> "Feature":
    """Returns the best docs and commits, which fill the pool, and rows with names of the question."""
    if not asked.terms:
        return {}
    match = match_any([*asked.terms, *asked.parts], asking.wanted, asking.kind)
    named = [
        f"title : {term}"  # a definition may contain no other word of the question
        for word, term in zip(asked.words, asked.terms, strict=True)
        if word.isidentifier() and not word[1:].islower()
    ]
    kinds = [f"facets : {quoted(facet('k', kind))}" for kind in ("doc", "commit")]
    return asking.best(f"({match}) AND ({' OR '.join([*kinds, *named])})", PROSE)


def _is_tied(rows: "list[tuple[int, float]]") -> bool:
    """Whether the last row is as good as the one before it, and nothing in them orders them."""
    (row, score), (before, other) = rows[-1], rows[-2]
    return score == other and (row < 0 or row >> 10 == before >> 10)


def _boost(row: int, hour: int) -> float:
    """Returns the factor of a row by age: rows without a time count as recent, an event loses a part as it ages."""
    return LASTING if row < 0 else 1.0 + 0.2 / (1.0 + (hour - (row >> 10) // 3_600_000_000) / 720.0)


def number_of(moment: str) -> int:
    """Returns the number below which rows of events are older than a time, spelled as in events."""
    year, month, day = int(moment[:4]), int(moment[5:7]), int(moment[8:10])
    past = year - (month < 3)
    days = 365 * past + past // 4 - past // 100 + past // 400 + (153 * ((month + 9) % 12) + 2) // 5 + day
    seconds = (days - 719_469) * 86_400
    clock = (moment[11:19] or "00:00:00").split(":")
    seconds += int(clock[0]) * 3600 + int(clock[1]) * 60 + int(clock[2])
    fraction = moment[20:].rstrip("Z")[:6] if moment[19:20] == "." else ""
    return max(min(seconds * 1_000_000 + int(fraction.ljust(6, "0") or 0), _LAST) << 10, 1) - 1


def _by_files(db: "Connection", opened: "Sequence[str]", pool: "Feature") -> "dict[str, Feature]":
    """Returns rows that share open files: the share, the rarity of the rarest, and how few came since.

    A row about a folder shares its files, but folders are not part of the whole: no row has to share them.
    """
    shared: dict[str, Feature] = {"files": {}, "rare": {}, "since": {}}
    whole = {True: 0.0, False: 0.0}
    # The index stores invalid UTF-8 in names with replacements.
    files = [path.encode("utf-8", "replace").decode("utf-8") for path in dict.fromkeys(opened)][:MAX_OPEN]
    folders = dict.fromkeys(folder for path in files for folder in _above(path))
    names = {**dict.fromkeys(folders, False), **dict.fromkeys(files, True)}
    asked = ((db.execute("SELECT id FROM path WHERE name = ?", (name,)).fetchone(), name) for name in sorted(names))
    for path, is_file in [(known[0], names[name]) for known, name in asked if known]:
        count = db.execute("SELECT count(*) FROM touch WHERE path = ?", (path,)).fetchone()[0]
        worth = scoring.rarity(count)
        whole[is_file] += worth
        for row, place in _touching(db, path, count, pool):
            shared["files"][row] = shared["files"].get(row, 0.0) + worth
            shared["rare"][row] = max(shared["rare"].get(row, 0.0), worth)
            shared["since"][row] = max(shared["since"].get(row, 0.0), worth / (1.0 + log(1.0 + place)))
    most = whole[True] or whole[False]
    shared["files"] = {row: min(1.0, value / most) for row, value in shared["files"].items()}
    return shared


def _above(path: str) -> list[str]:
    pieces = path.split("/")
    return ["/".join(pieces[:count]) for count in range(1, min(len(pieces), 12))]


def _touching(db: "Connection", path: int, count: int, pool: "Feature") -> "Iterable[tuple[int, int]]":
    """Yields the rows that touch a file, each with the number of later ones; rows without a time count as current.

    For very many, the latest and those of the pool.
    """
    if count <= LATEST:
        rows = db.execute("SELECT row FROM touch WHERE path = ? ORDER BY row DESC", (path,)).fetchall()
        return [(row, place if row > 0 else 0) for place, (row,) in enumerate(rows)]
    latest = "SELECT row FROM touch WHERE path = ? AND row > 0 ORDER BY row DESC LIMIT ?"
    found = {row: count if row > 0 else 0 for row in _among(db, path, pool)}
    found.update((row, place) for place, (row,) in enumerate(db.execute(latest, (path, LATEST))))
    return found.items()


def _among(db: "Connection", path: int, pool: "Feature") -> list[int]:
    known = "SELECT row FROM touch WHERE path = ? AND row IN (SELECT value FROM json_each(?))"
    return [row for (row,) in db.execute(known, (path, _listed(pool)))]


def _listed(numbers: "Iterable[int]") -> str:
    return f"[{','.join(map(str, numbers))}]"


def _by_content(db: "Connection", nearest: "dict[bytes, float]") -> list[int]:
    """Returns the rows whose content is among the nearest by vector."""
    if not nearest:
        return []
    marks = ", ".join("?" * len(nearest))
    return [row for (row,) in db.execute(f"SELECT id FROM row WHERE content IN ({marks}) AND shown", tuple(nearest))]


def _neighbours(db: "Connection", rows: "dict[int, Row]", found: "Feature") -> set[int]:
    """Returns the rows next to the best ones in their groups."""
    parent, seq = AT["parent"], AT["seq"]
    places: dict[int, set[int]] = {}
    for number in _best(found, ACCOMPANIED):
        row = rows.get(number)
        if row is not None and row[parent] is not None and row[seq] is not None:
            reach = range(row[seq] - scoring.REACH, row[seq] + scoring.REACH + 1)
            places.setdefault(row[parent], set()).update(reach)
    one = "SELECT id FROM row WHERE parent = ? AND seq IN (SELECT value FROM json_each(?))"
    return {number for group, reach in places.items() for (number,) in db.execute(one, (group, _listed(reach)))}


def _best(values: "Feature", count: int) -> list[int]:
    """Returns the keys of the largest values, with all ties of the last."""
    if len(values) <= count:
        return list(values)
    least = sorted(values.values(), reverse=True)[count - 1]
    return [key for key, value in values.items() if value >= least]


def fetched(db: "Connection", numbers: "Iterable[int]", wanted: list[str], scope: "Scope") -> "dict[int, Row]":
    """Returns the rows with these numbers that are within the scope."""
    found = {row[-1]: row for row in db.execute(_ROWS, (_listed(numbers),)).fetchall()}
    if scope.kind != "candidate":
        found = {number: row for number, row in found.items() if row[AT["kind"]] != "candidate"}
    if scope.since:
        found = {number: row for number, row in found.items() if (row[AT["ts"]] or "") >= scope.since}
    if wanted:
        needs = set(wanted)
        found = {number: row for number, row in found.items() if needs <= set(row[AT["facets"]].split())}
    return found


def _add_features(
    pool: Pool, sources: "Sequence[Connection]", asked: "SearchQuery", scope: "Scope", near: "Near | None"
) -> None:
    """What the rows themselves tell, once all are here."""
    features, words = pool.features, None
    own = features.get("words", {})
    if asked.words:
        pairs = [pair.strip('"').partition(" ") for pair in asked.pairs]
        words = scoring.QuestionWords(asked.words, asked.weights, [(one, other) for one, _, other in pairs])
        features.update(scoring.textual(words, _row_texts(pool.rows), own))
        features["words"] = own = _comparable(own, features["cover"]) if len(sources) > 1 else own
    seats = _seats(pool.rows)
    if seats:
        features.update(scoring.neighbour_gains(seats, own, features.get("cover", {}), words))
        texts = {key: pool.rows[key][AT["text"]] or "" for key in seats}
        features["answer"] = scoring.answer_gains(seats, own, texts)
    if near:
        features["near"] = scoring.spread(scoring.smoothed(seats, _nearness(near, pool.rows)))
    if scope.files or asked.paths:
        features["folder"] = _folders(sources, [*scope.files, *asked.paths], pool.rows)
    text = AT["text"]
    features["states"] = {key: 1.0 for key, row in pool.rows.items() if not (row[text] or "").rstrip().endswith("?")}
    features["recent"] = {key: _recency(key >> SOURCES, pool.newest) for key in pool.rows}
    features["date"] = _dated(asked, pool.rows)
    features["speaker"] = _spoken(asked, pool.rows)


def _comparable(own: "Feature", cover: "Feature") -> "Feature":
    """Returns scores of several sources, lowered for a source whose best row contains less of the question.

    BM25 of two sources cannot be compared: a word that is rare in one may be in every row of the other.
    """
    mask = (1 << SOURCES) - 1
    most: dict[int, float] = {}
    for key in own:
        most[key & mask] = max(most.get(key & mask, 0.0), cover.get(key, 0.0))
    best = max(most.values(), default=0.0) or 1.0
    return {key: value * most[key & mask] / best for key, value in own.items()}


def _row_texts(rows: "dict[int, Row]") -> "Iterable[tuple[int, str, str]]":
    """Yields each row's title and all its text, in lower case."""
    title, text, labels = AT["title"], AT["text"], AT["labels"]
    parts, context = AT["parts"], AT["context"]
    small = scoring.small
    for key, row in rows.items():
        whole = small(f"{row[title]}\n{row[labels]}\n{row[text]}\n{row[parts]}\n{row[context]}")
        yield key, whole[: whole.index("\n")], whole


def _seats(rows: "dict[int, Row]") -> "scoring.Seats":
    """Returns the group and the position in it of each row that has one; a group's own row is the first."""
    parent, seq = AT["parent"], AT["seq"]
    seats = {}
    for key, row in rows.items():
        if row[parent] is not None and row[seq] is not None:
            group = row[parent] << SOURCES | key & (1 << SOURCES) - 1
            seats[key] = (group, row[seq])
            if group in rows:
                seats[group] = (group, 0)
    return seats


def _nearness(near: "Near", rows: "dict[int, Row]") -> "Feature":
    content = AT["content"]
    known = {key: row[content] for key, row in rows.items() if row[content]}
    cosines = near.of(list(dict.fromkeys(known.values())))
    return {key: cosines[name] for key, name in known.items() if name in cosines}


def _dated(asked: "SearchQuery", rows: "dict[int, Row]") -> "Feature":
    """Returns how well a row's time matches a date in the question."""
    named, ts = scoring.named_months(asked.words), AT["ts"]
    dated = {key: row[ts] or "" for key, row in rows.items() if key > 0} if named else {}
    found = {key: max(one.fits(when) for one in named) for key, when in dated.items()}
    return {key: value for key, value in found.items() if value}


def _spoken(asked: "SearchQuery", rows: "dict[int, Row]") -> "Feature":
    """Returns whether the question names the speaker of a row: the first name in its context."""
    names = {word.casefold() for word in asked.words}
    said = {key: row[AT["context"]] for key, row in rows.items() if row[AT["context"]]}
    capital = ((key, words) for key, words in said.items() if words[0].isupper())
    return {key: 1.0 for key, words in capital if words.split(" ", 1)[0].casefold() in names}


def _recency(row: int, newest: int) -> float:
    """Returns the recency of a row; one without a time counts as current."""
    return scoring.recency(newest - (row >> 10) // 3_600_000_000) if row > 0 else 1.0


def _folders(sources: "Sequence[Connection]", opened: "Sequence[str]", rows: "dict[int, Row]") -> "Feature":
    """Returns the share of the open files' folders in which a candidate touches files."""
    mine = {path.rpartition("/")[0] for path in opened[:MAX_OPEN] if "/" in path}
    within: Feature = {}
    names = "SELECT p.name FROM touch AS t JOIN path AS p ON p.id = t.path WHERE t.row = ? LIMIT ?"
    for key in rows if mine else ():
        found = sources[key & (1 << SOURCES) - 1].execute(names, (key >> SOURCES, NARROW + 1)).fetchall()
        touched = mine & {name.rpartition("/")[0] for (name,) in found}
        if touched and len(found) <= NARROW:
            within[key] = len(touched) / len(mine)
    return within
