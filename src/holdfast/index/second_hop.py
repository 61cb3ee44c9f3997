"""The second step: what a found row speaks of by name, and holds what of the question is still missing.

A question such as "where did the author of Brand live?" names one thing (Brand) and asks for another that it
does not name. The row that is found first names it. So from the best rows whose own title or name the
question spells out, the names that stand in their text are followed: a row that shares one of them gains by
how rare that name is and by which words of the question it holds that the first row lacks. A question that
names nothing, or whose names lead nowhere, is left as it was; neither costs more than a look at the titles.

All lookups are bounded: names that many rows share lead nowhere. Nothing is imported beyond what Python's
start has paid for.
"""

from math import log

from holdfast.index.query import SearchQuery, quoted
from holdfast.index.search_words import ENGLISH, is_identifier, names_in, words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection


SOURCES = 2  # bits of a key that name its source
FIRST = 10  # best rows that may lead on
FROM = 3  # of them, those that do
NAMES = 16  # followed from one row
TERMS = 12  # words of a question that are looked for in what was reached
SHARED = 100  # rows; a name that more of them share says nothing
NAMED = 0.7  # share of a title's words that a question must spell out
BACK = 0.6  # of what a row leads to, what counts for itself
HELD = 0.6  # of a word's share in the question, what a row gets that holds it
COMMON = 2000  # rows; a word that more of them hold tells as little as any
_RARE = log(COMMON)


class _Question:
    """The question as links see it: its words, and each term with what it tells and the rows that hold it."""

    __slots__ = ("said", "terms")

    def __init__(self, db: "Connection", asked: "SearchQuery") -> None:
        found = [(term, _rows(db, term, COMMON)) for term in asked.terms[:TERMS]]
        weights = [log(1.0 + COMMON / (1.0 + len(rows))) for _, rows in found]
        whole = sum(weights) or 1.0
        self.terms = [
            (term, HELD * weight / whole, None if len(rows) == COMMON else set(rows))
            for (term, rows), weight in zip(found, weights, strict=True)
        ]
        self.said = set(words_of(asked.text))

    def names(self, name: str) -> bool:
        """Whether all of a name stands in the question already."""
        return all(word in self.said or word in ENGLISH for word in words_of(name))


def follow(
    sources: "Sequence[Connection]", asked: "SearchQuery", best: "Sequence[tuple[int, float]]"
) -> dict[int, float]:
    """The gains of `linked` in every source, by key: a row's number and its source in one."""
    gains: dict[int, float] = {}
    for number, db in enumerate(sources):
        own = [(key >> SOURCES, score) for key, score in best if key & (1 << SOURCES) - 1 == number]
        gains |= {row << SOURCES | number: gain for row, gain in linked(db, asked, own).items()}
    return gains


def linked(db: "Connection", asked: "SearchQuery", best: "Sequence[tuple[int, float]]") -> dict[int, float]:
    """What rows gain by links, in units of the best score; `best`: rows with scores up to 1, best first."""
    gains: dict[int, float] = {}
    starts = starts_of(db, asked, best[:FIRST])
    if not starts:
        return gains
    question = _Question(db, asked)
    for row, strength in starts:
        top = 0.0
        for other, (link, held) in _reached(db, row, question).items():
            gain = strength * (held + 2.0 * link * (0.2 + held))
            gains[other] = max(gains.get(other, 0.0), gain)
            top = max(top, gain)
        if top:
            gains[row] = max(gains.get(row, 0.0), BACK * top)
    return gains


def starts_of(db: "Connection", asked: "SearchQuery", best: "Sequence[tuple[int, float]]") -> list[tuple[int, float]]:
    """The rows that the question names and how strongly, the strongest first."""
    said = words_of(asked.text)
    found = []
    for place, (row, score) in enumerate(best):
        names = db.execute("SELECT title, name FROM row WHERE id = ?", (row,)).fetchone()
        share = named_by(asked, said, names[0] or "", names[1] or "") if names else 0.0
        if share >= NAMED and score > 0:
            found.append((score * share * share, -place, row))
    found.sort(reverse=True)
    return [(row, strength) for strength, _, row in found[:FROM]]


def named_by(asked: "SearchQuery", said: list[str], title: str, name: str) -> float:
    """How far a question, whose words are `said`, spells out a row's title, or calls it by its own name."""
    # The share of a title's telling words that the question spells out; in brackets stands a note.
    words = {word for word in words_of(title.partition(" (")[0]) if word not in ENGLISH}
    return max(sum(word in said for word in words) / len(words) if words else 0.0, _called(name, asked))


def _called(name: str, asked: "SearchQuery") -> float:
    """Whether the question calls a row by its own name: an id, a path, the beginning of a commit's hash."""
    low = name.casefold()
    return float(any(low.startswith(word.casefold()) and is_identifier(word) for word in asked.words))


def _reached(db: "Connection", row: int, question: _Question) -> dict[int, tuple[float, float]]:
    """What the names in a row's text lead to: how strongly it is linked, and what of the question it adds."""
    text = db.execute("SELECT text FROM row WHERE id = ?", (row,)).fetchone()
    shared: dict[str, list[int]] = {}
    for name in _shortened(names_in((text and text[0]) or "")):
        if len(shared) < NAMES and not question.names(name):
            rows = _rows(db, quoted(name), SHARED + 1)
            if 2 <= len(rows) <= SHARED:
                shared[name] = rows
    if not shared:
        return {}
    either = " OR ".join(quoted(name) for name in shared)
    links = _tied(shared, _titles(db, either))
    links.pop(row, None)
    held = _held(db, row, either, question)
    return {other: (link, held.get(other, 0.0)) for other, link in links.items()}


def _shortened(names: list[str]) -> list[str]:
    """The names, each with shorter ones that others may use for the same: Johann Strauss II is Strauss."""
    found: dict[str, None] = {}
    for name in names:
        words = name.split()
        found[name] = None
        if len(words) > 2:
            found[" ".join(words[:2])] = found[" ".join(words[-2:])] = None
        elif len(words) == 2 and len(words[1]) > 3:
            found[words[1]] = None
    return list(found)


def _titles(db: "Connection", names: str) -> dict[int, str]:
    """The titles that hold one of the names, as names are compared."""
    rows = _rows(db, f"title : ({names})", NAMES * SHARED)
    listed = f"[{','.join(map(str, rows))}]"
    found = db.execute("SELECT id, title FROM row WHERE id IN (SELECT value FROM json_each(?))", (listed,))
    # A title without the note after it: `Brand (play)`, `McRae, Arkansas`.
    return {row: " ".join(words_of((title or "").partition(" (")[0].partition(", ")[0])) for row, title in found}


def _tied(shared: dict[str, list[int]], titles: dict[int, str]) -> dict[int, float]:
    """How strongly rows are linked by names: the rarer the stronger, most of all where it is their title."""
    links: dict[int, float] = {}
    for name, rows in shared.items():
        strength, own = 1.0 - log(len(rows)) / _RARE, " ".join(words_of(name))
        for other in rows:
            link = 2.0 * strength if titles.get(other) == own else strength
            before = links.get(other, 0.0)
            links[other] = min(2.0, max(before, link) + 0.1 * min(before, link))
    return links


def _held(db: "Connection", row: int, names: str, question: _Question) -> dict[int, float]:
    """How much of what the first row lacks of the question the others hold."""
    held: dict[int, float] = {}
    for term, weight, rows in question.terms:
        if rows is None:  # so many hold it that only those count which hold a name as well
            rows = set(_rows(db, f"({names}) AND {term}", NAMES * SHARED))
            if db.execute("SELECT 1 FROM words WHERE words MATCH ? AND rowid = ?", (term, row)).fetchone():
                continue
        if row not in rows:
            for other in rows:
                held[other] = held.get(other, 0.0) + weight
    return held


def _rows(db: "Connection", match: str, limit: int) -> list[int]:
    return [row for (row,) in db.execute("SELECT rowid FROM words WHERE words MATCH ? LIMIT ?", (match, limit))]
