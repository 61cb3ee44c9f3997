"""The second step of a search: rows that a found row names and that contain missing words of the question.

A question such as "where did the author of Brand live?" names one thing (Brand) and asks for another that it does not
name. The row found first names it. So for the best rows whose own title or name the question spells out, the names in
their text are followed: a row that shares one of them gains by how rare that name is and by which words of the question
it contains that the first row lacks. A question without names, or whose names lead nowhere, is unchanged; that costs
only a look at the titles.

All lookups are bounded: names that many rows share are not followed. Imports nothing that Python's start has not
loaded.
"""

from math import log

from holdfast.index.query import SearchQuery, quoted
from holdfast.index.search_words import ENGLISH, is_identifier, names_in, words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection


SOURCES = 2  # bits of a key that name its source
FIRST = 10  # best rows that are checked; docs/explanation/graph.md measures links with these numbers
FROM = 3  # of them, those that are followed
NAMES = 16  # names followed from one row
TERMS = 12  # words of a question that are searched in the reached rows
SHARED = 100  # rows; a name that more rows share is not followed
NAMED = 0.7  # share of a title's words that a question must spell out
BACK = 0.6  # part of the best reached gain that the first row gets
HELD = 0.6  # part of a word's share in the question that a row with it gets
COMMON = 2000  # rows; words of more rows all count the same
_RARE = log(COMMON)


class _Question:
    """The question for links: its words, and each term with its weight and its rows."""

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
        """Whether the question contains all of a name already."""
        return all(word in self.said or word in ENGLISH for word in words_of(name))


def follow(
    sources: "Sequence[Connection]", asked: "SearchQuery", best: "Sequence[tuple[int, float]]"
) -> dict[int, float]:
    """Returns the gains of `linked` in every source, by key: a row's number and its source in one."""
    gains: dict[int, float] = {}
    for number, db in enumerate(sources):
        own = [(key >> SOURCES, score) for key, score in best if key & (1 << SOURCES) - 1 == number]
        gains |= {row << SOURCES | number: gain for row, gain in linked(db, asked, own).items()}
    return gains


def linked(db: "Connection", asked: "SearchQuery", best: "Sequence[tuple[int, float]]") -> dict[int, float]:
    """Returns what rows gain by links, in units of the best score; `best`: rows with scores up to 1, best first."""
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
    """Returns the rows that the question names and how strongly, the strongest first."""
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
    """Returns how much of a row's title a question with the words `said` spells out, or 1 if it uses its name."""
    # The share of a title's specific words in the question; text in brackets is a note.
    words = {word for word in words_of(title.partition(" (")[0]) if word not in ENGLISH}
    return max(sum(word in said for word in words) / len(words) if words else 0.0, _called(name, asked))


def _called(name: str, asked: "SearchQuery") -> float:
    """Returns 1 if the question uses a row's own name: an id, a path, the start of a commit's hash."""
    low = name.casefold()
    return float(any(low.startswith(word.casefold()) and is_identifier(word) for word in asked.words))


def _reached(db: "Connection", row: int, question: _Question) -> dict[int, tuple[float, float]]:
    """Returns the rows that share names with a row's text: how strongly, and what of the question they add."""
    text = db.execute("SELECT text FROM row WHERE id = ?", (row,)).fetchone()
    shared: dict[str, list[int]] = {}
    for name in _with_short_forms(names_in((text and text[0]) or "")):
        if len(shared) < NAMES and not question.names(name):
            rows = _rows(db, quoted(name), SHARED + 1)
            if 2 <= len(rows) <= SHARED:
                shared[name] = rows
    if not shared:
        return {}
    either = " OR ".join(quoted(name) for name in shared)
    links = _link_strengths(shared, _titles(db, either))
    links.pop(row, None)
    held = _held(db, row, either, question)
    return {other: (link, held.get(other, 0.0)) for other, link in links.items()}


def _with_short_forms(names: list[str]) -> list[str]:
    """Returns the names, each with shorter forms that others may use: Johann Strauss II is Strauss."""
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
    """Returns the titles that contain one of the names, in the form for comparing."""
    rows = _rows(db, f"title : ({names})", NAMES * SHARED)
    listed = f"[{','.join(map(str, rows))}]"
    found = db.execute("SELECT id, title FROM row WHERE id IN (SELECT value FROM json_each(?))", (listed,))
    # A title without the note after it: `Brand (play)`, `McRae, Arkansas`.
    return {row: " ".join(words_of((title or "").partition(" (")[0].partition(", ")[0])) for row, title in found}


def _link_strengths(shared: dict[str, list[int]], titles: dict[int, str]) -> dict[int, float]:
    """Returns how strongly rows are linked by names: more for rare names, most if the name is their title."""
    links: dict[int, float] = {}
    for name, rows in shared.items():
        strength, own = 1.0 - log(len(rows)) / _RARE, " ".join(words_of(name))
        for other in rows:
            link = 2.0 * strength if titles.get(other) == own else strength
            before = links.get(other, 0.0)
            links[other] = min(2.0, max(before, link) + 0.1 * min(before, link))
    return links


def _held(db: "Connection", row: int, names: str, question: _Question) -> dict[int, float]:
    """Returns how much of the words that the first row lacks the others contain."""
    held: dict[int, float] = {}
    for term, weight, rows in question.terms:
        if rows is None:  # too many rows: only those with a name count
            rows = set(_rows(db, f"({names}) AND {term}", NAMES * SHARED))
            if db.execute("SELECT 1 FROM words WHERE words MATCH ? AND rowid = ?", (term, row)).fetchone():
                continue
        if row not in rows:
            for other in rows:
                held[other] = held.get(other, 0.0) + weight
    return held


def _rows(db: "Connection", match: str, limit: int) -> list[int]:
    return [row for (row,) in db.execute("SELECT rowid FROM words WHERE words MATCH ? LIMIT ?", (match, limit))]
