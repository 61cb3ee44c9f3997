"""Builds one answer: hits of this branch, then those of other branches that match well.

`ranking` orders them. Hits of this branch are ranked without other branches; of the others, only those with nearly all
words are added, labelled with their branch, if there is room or in place of a passing kind (an event, a commit). A
search on another branch returns what that branch has.

Imports only our own modules: the quick path uses this.
"""

from holdfast.index.hit_text import FIELDS, SUPERSEDED
from holdfast.index.query import EVERY_BRANCH, HERE, Scope, names_kind, quoted
from holdfast.index.ranking import search
from holdfast.index.ranking_weights import WEIGHTS
from holdfast.index.schema import facet
from holdfast.index.second_hop import follow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection
    from typing import Any

    from holdfast.index.pool import Near
    from holdfast.index.query import SearchQuery
    from holdfast.index.ranking import Step

    Row = tuple[Any, ...]

AT = {name: place for place, name in enumerate(FIELDS)}  # a row ends with the parts of its score
OF_THE_REPOSITORY = ("commit", "doc", "code")
PASSING = ("event", "run", "turn", "artifact", "session", *OF_THE_REPOSITORY)
MOST_OTHERS = 2  # hits of other branches in place of passing kinds; a guess
SCREEN = 5  # hits that are shown by default
LOOKED_AT = 20  # hits of other branches that are checked; a guess
MOST_BRANCHES = 3  # named branches of one hit; a guess
_SHARES = ("cover", "window")  # parts of a score that are shares of the question
# Share of the question, by weight of words. Below it, meaning gained three to five points of recall at 5 on
# questions about conversations and passages; between it and 0.85, next to nothing.
WEAK = 0.5
LITTLE = 0.4  # share of the question below which the answer gives hints; a guess

_PLACES = (
    "SELECT DISTINCT p.branch, g.why FROM row AS r JOIN place AS p ON p.row = r.id "
    "LEFT JOIN gone AS g ON g.branch = p.branch WHERE r.name = ? AND r.title = ? "
    "ORDER BY g.why IS NOT NULL, p.branch"
)
_NUMBERS = "SELECT id FROM row WHERE name = ? AND title = ?"
_REPLACED = (
    "SELECT r.supersedes FROM row AS r JOIN place AS p ON p.row = r.id WHERE p.branch = ? AND r.supersedes IS NOT NULL"
)


def answer(
    here: "Sequence[Connection]",
    there: "Connection | None",
    asked: "SearchQuery",
    *,
    scope: "Scope",
    limit: int,
    now: str,
    near: "Near | None" = None,
    step: "Step" = follow,
) -> "list[Row]":
    """Returns the hits, best first, as tuples of FIELDS with the parts of the score behind."""

    respelled([*here, *([there] if there else [])], asked)

    def ask(sources: "Sequence[Connection]", most: int) -> "list[Row]":
        return search(sources, asked, scope=scope, limit=most, now=now, near=near, explain=True, step=step)

    if scope.branch is not HERE:
        return _of_branch(ask, here, there, scope.branch, limit)
    found = ask(here, max(limit, SCREEN))
    if there is None or scope.kind in (*OF_THE_REPOSITORY, "candidate") or (found and not asked.terms):
        return found[:limit]
    others = _with_branches(there, ask([there], max(limit, LOOKED_AT)))
    fitting = [one for one in others if _fits(there, one, asked.terms)] if asked.terms else others
    return with_others(found, fitting)[:limit]


def with_others(found: "list[Row]", others: "list[Row]") -> "list[Row]":
    """Returns the hits of this branch in their order, with the best of other branches after the first few.

    The first few do not depend on the limit, so that a limit does not change the order.
    """
    known = {hit[AT["id"]] for hit in found}
    others = [one for one in others if one[AT["id"]] not in known]
    lasting = [one for one in others if one[AT["kind"]] not in PASSING][:MOST_OTHERS]
    end = min(len(found), SCREEN)
    while end > SCREEN - len(lasting) and end > 1 and found[end - 1][AT["kind"]] in PASSING:
        end -= 1
    room = SCREEN - end
    first = others if room >= len(others) else lasting[:room]
    return [*found[:end], *first, *found[end:], *(one for one in others if one not in first)]


def _of_branch(
    ask: "Any", here: "Sequence[Connection]", there: "Connection | None", branch: str, limit: int
) -> "list[Row]":
    """Returns what another branch has, or every one."""
    wide = 4 * limit + 50
    others = _with_branches(there, ask([there], wide)) if there is not None else []
    if branch == EVERY_BRANCH:
        found = ask(here, limit)
    else:
        others = [one for one in others if branch in dict(_places(there, one))]
        found = [hit for hit in ask(here[:1], wide) if _holds(there, branch, hit)]
    known = {one[AT["id"]] for one in others}
    both = [*(hit for hit in found if hit[AT["id"]] not in known or branch == EVERY_BRANCH), *others]
    both.sort(key=lambda hit: -hit[AT["score"]])
    return _as_there(there, branch, both[:limit])


def _as_there(there: "Connection | None", branch: str, found: "list[Row]") -> "list[Row]":
    """Returns the hits in their state on that branch: superseded ones are marked, and last."""
    if there is None or branch == EVERY_BRANCH:
        return found
    replaced = {name for (names,) in there.execute(_REPLACED, (branch,)) for name in names.split()}
    state = AT["state"]
    over = [(*hit[:state], SUPERSEDED, *hit[state + 1 :]) for hit in found if hit[AT["id"]] in replaced]
    return [*(hit for hit in found if hit[AT["id"]] not in replaced), *over]


def _holds(there: "Connection | None", branch: str, hit: "Row") -> bool:
    """Whether a hit of this branch is on another branch too."""
    if there is None:
        return False
    path, line, ts = hit[AT["path"]], hit[AT["line"]], hit[AT["ts"]]
    if hit[AT["kind"]] not in PASSING:
        return not there.execute("SELECT 1 FROM missing WHERE branch = ? AND path = ?", (branch, path)).fetchone()
    seen = "SELECT until FROM sees WHERE branch = ? AND line = ?"
    return any(until is None or (ts or "") <= until for (until,) in there.execute(seen, (branch, line)))


def _with_branches(there: "Connection | None", found: "list[Row]") -> "list[Row]":
    """Returns the hits with the branches that have them, each once; and why git lacks a branch."""
    labelled: list[Row] = []
    seen: set[tuple[str, str]] = set()
    for hit in found:
        names = [f"{name} ({why})" if why else name for name, why in _places(there, hit)]
        if names and (hit[AT["id"]], hit[AT["title"]]) not in seen:
            seen.add((hit[AT["id"]], hit[AT["title"]]))
            more = f" and {len(names) - MOST_BRANCHES} more" if len(names) > MOST_BRANCHES else ""
            label = ", ".join(names[:MOST_BRANCHES]) + more
            labelled.append((*hit[: AT["branch"]], label, *hit[AT["branch"] + 1 :]))
    return labelled


def _places(there: "Connection | None", hit: "Row") -> list[tuple[str, str | None]]:
    return [] if there is None else there.execute(_PLACES, (hit[AT["id"]], hit[AT["title"]])).fetchall()


def _fits(there: "Connection", hit: "Row", terms: list[str]) -> bool:
    """Whether a hit contains nearly all words: both of two, three of four."""
    needed = len(terms) if len(terms) < 3 else (3 * len(terms) + 3) // 4
    match = "SELECT 1 FROM words WHERE words MATCH ? AND rowid = ?"

    def held(number: int) -> int:
        return sum(there.execute(match, (term, number)).fetchone() is not None for term in terms)

    numbers = there.execute(_NUMBERS, (hit[AT["id"]], hit[AT["title"]])).fetchall()
    return any(held(number) >= needed for (number,) in numbers)


_SESSIONS = f"SELECT 1 FROM words WHERE words MATCH '{quoted(facet('k', 'run'))}' LIMIT 1"


def advice(memory: "Connection", asked: "SearchQuery", found: "list[Row]", *, by_meaning: bool) -> str:
    """Returns hints for a weak answer, and the words that were not found as spelled; empty if all is well."""
    near = [f"“{word}” as “{one}…”" for word, one in asked.spelled.items() if one]
    gone = [f"“{word}”" for word, one in asked.spelled.items() if not one]
    sentences = [f"Searched {', '.join(near)}."] if near else []
    sentences += [f"Found nothing with {' or '.join(gone)}."] if gone else []
    if asked.words and (not found or (not by_meaning and is_weak(found, LITTLE))):
        sentences += ["These hits match badly."] if found else []
        helps = ["other words", "--files PATH"]
        if memory.execute(_SESSIONS).fetchone() is None:
            helps.append("import your agents' sessions (`holdfast import`)")
        if not by_meaning:
            helps.append("search by meaning (`holdfast model`)")
        sentences.append(f"Try {', '.join(helps[:-1])} or {helps[-1]}.")
    return " ".join(sentences)


_VOCABULARY = (
    'CREATE VIRTUAL TABLE IF NOT EXISTS temp.spelled USING fts5(word, tokenize="porter unicode61 remove_diacritics 2")',
    "CREATE VIRTUAL TABLE IF NOT EXISTS temp.stems USING fts5vocab(temp, spelled, instance)",
    "CREATE VIRTUAL TABLE IF NOT EXISTS temp.known USING fts5vocab(main, words, row)",
)
_NEAR = "SELECT term, doc FROM temp.known WHERE term >= ? AND term < ? AND length(term) BETWEEN ? AND ?"
RESPELLED = 4  # words of one question that are searched in other spellings; a guess that bounds the time
GUESSED = 0.5  # part of its weight that a word keeps in another spelling; a guess: it may be another word
_ENDING = 3  # letters of an ending such as -ing
SHORTEST, LONG = 5, 8  # letters of a stem with one wrong letter, and with two; guesses: shorter ones match by chance


def respelled(sources: "Sequence[Connection]", asked: "SearchQuery") -> None:
    """Replaces each word of a question that no text contains by the nearest word of a text, if one is near."""
    for place, (word, term) in enumerate(zip(asked.words, asked.terms, strict=True)):
        if len(asked.spelled) == RESPELLED or len(word) < SHORTEST or not word.isalpha():
            continue
        if names_kind(word) or _is_known(sources, term):
            continue
        near = min((one for db in sources for one in _nearest(db, word)), default=None)
        asked.spelled[word] = near[-1] if near else ""
        if near:
            asked.words[place] = near[-1]
            asked.terms[place] = f"{quoted(near[-1])} *"  # a stem is stemmed again
            asked.weights[place] *= GUESSED


def _is_known(sources: "Sequence[Connection]", term: str) -> bool:
    match = "SELECT 1 FROM words WHERE words MATCH ? LIMIT 1"
    return any(db.execute(match, (term,)).fetchone() is not None for db in sources)


def _nearest(db: "Connection", word: str) -> "list[tuple[int, int, str]]":
    """Returns the stems in an index that differ from a word's in few letters: distance, rarity, stem."""
    for statement in _VOCABULARY:
        db.execute(statement)
    db.execute("DELETE FROM temp.spelled")
    db.execute("INSERT INTO temp.spelled VALUES (?)", (word,))
    stem = str(db.execute("SELECT term FROM temp.stems").fetchone()[0])
    wrong = 2 if len(stem) >= LONG else 1
    if len(stem) < SHORTEST:
        return []
    for letter in stem[:2]:  # the second is first if both were swapped
        shortest = max(SHORTEST, len(stem) - _ENDING)
        rows = db.execute(_NEAR, (letter, chr(ord(letter) + 1), shortest, len(stem) + wrong)).fetchall()
        # A wrong letter in its ending keeps a word from being stemmed, as in "positon".
        found = [(1, -times, term) for term, times in rows if stem.startswith(term)]
        alike = [(term, times) for term, times in rows if len({*stem} - {*term}) <= wrong >= len({*term} - {*stem})]
        found += [(far, -times, term) for term, times in alike if (far := _distance(stem, term)) <= wrong]
        if found:
            return found
    return []


def _distance(one: str, other: str) -> int:
    """Returns how many letters are wrong, missing, extra, or swapped with the next."""
    before: list[int] = []
    row: list[int] = [*range(len(other) + 1)]
    for i, a in enumerate(one, 1):
        last, row = row, [i]
        for j, b in enumerate(other, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before = last
    return row[-1]


def other_branches_file(index: str) -> str:
    """Returns the path of the other branches' file; no work tree's own file can have this name."""
    return f"{index.removesuffix('.db')}~elsewhere.db"


def is_weak(found: "list[Row]", share: float = WEAK) -> bool:
    """Whether no hit contains much of the question: then a search by meaning may find more."""
    name = next((name for name in _SHARES if WEIGHTS.get(name, 0.0) > 0.0), "")
    if not name:
        return not found
    most = max((dict(hit[-1]).get(name, 0.0) for hit in found), default=0.0)
    return bool(most < share * WEIGHTS[name])
