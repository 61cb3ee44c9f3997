"""Orders several kinds in one answer: memories, runs, docs, commits and code.

The match of words cannot be compared across kinds: code repeats a word where a page says it once, and there is ten
times as much code. So each kind has a head start that depends on the question. For questions in words, people want
decisions, documents and work; for names, they want definitions. A hit that repeats the place of a better one (a third
piece of one file, another part of one conversation) counts less, and exact duplicates are left out.

A run or a session is as good as its best turn, plus what the rest of it adds: people remember its words, but its own
row has only the outcome. `turn` is what the best turn adds to that row, `told` the share of the question in all of it,
`said` the similarity in meaning of the turns by speakers whom the question names.

All of it depends on the candidates alone, never on their order or on the limit. Imports only our own modules: the quick
path uses this.
"""

from __future__ import annotations

from holdfast.index import scoring
from holdfast.index.pool import AT, SOURCES, Pool, facets_of, fetched, gather
from holdfast.index.query import Scope, SearchQuery, quoted
from holdfast.index.ranking_weights import MIXED, WEIGHTS
from holdfast.index.schema import facet
from holdfast.index.search_words import ENGLISH, is_identifier
from holdfast.patterns import PatternFile
from holdfast.values import replace

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from sqlite3 import Connection
    from typing import Any

    from holdfast.index.pool import Near
    from holdfast.index.scoring import Feature

    Row = tuple[Any, ...]
    Members = dict[int, set[int]]  # the turns of each group, by their keys

WORDS, NAMES, SHORT = "words", "names", "short"  # forms of a question
PER_FILE = 2  # pieces of one file without a penalty; a guess. So are the other numbers here
AGAIN = 0.5  # of its score that a repeated place loses
MOST_NAMES = 8  # words of a question that are searched as definitions
MOST_LINKED = 1.0  # gain of docs and code by links
LOOSE = {"named": 0.3, "beside": 0.6, "linked": 0.5}  # the most that code gains by these for a sentence
SAID = 0.34  # share of a question that an answering conversation or memory contains: a third
_ABOVE = 1e-6  # of a score: enough to rank before
FULL = 0.67  # share of a question from which a hit gets its kind's full head start

_KINDS = (
    "event", "run", "artifact", "candidate", "task", "session", "turn", "commit", "doc", "code",
)  # fmt: skip
_TALK = ("run", "turn", "session")
_OF_FILES = ("doc", "code", "artifact")
_WORDS = PatternFile(__file__)
_FOR_TESTS = ("test", "spec", "fixture", "golden", "mock")
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


def form_of(asked: SearchQuery) -> str:
    """Returns whether a question is a sentence, a name (a symbol, path, error, words for code), or a word or two."""
    of_code = _asks_for_tests(asked) or not _WORDS.words("for_code").isdisjoint(asked.text.casefold().split())
    return NAMES if of_code else _shape_of(asked)


def _shape_of(asked: SearchQuery) -> str:
    """Returns the same by how its words look, whatever they mean."""
    said = asked.text.casefold().split()
    named = sum(map(_is_symbol, asked.words))
    if asked.paths or (named and 2 * named >= len(asked.words)) or (said and said[0].endswith(":")):  # as errors begin
        return NAMES
    return WORDS if len(asked.words) > 2 or sum(word.strip("?,.!") in ENGLISH for word in said) else SHORT


def _is_symbol(word: str) -> bool:
    """Whether a word is spelled as only in programs: `max_size`, `MaxSize`, `a.b`, `PoolError`."""
    if is_identifier(word) or "_" in word or "." in word or "::" in word:
        return True
    return not word.isupper() and word[1:] != word[1:].lower()


def level(pool: Pool, asked: SearchQuery) -> None:
    """Removes features that mean nothing where kinds are mixed.

    Current files have no time, so they are neither new nor old. Nobody speaks in them, so a heading is not a speaker's
    name and a section not an answer to the one before. A sentence often contains the one or two words of a symbol's
    name, and names that are used everywhere link all code.
    """
    kind = AT["kind"]
    held = [key for key, row in pool.rows.items() if row[kind] in ("doc", "code")]
    features = pool.features
    for values in (features.get("speaker", {}), features.get("answer", {})):
        for key in held if values else ():
            values.pop(key, None)
    if len(_families(pool.rows.values())) < 2:
        return
    recent, linked = features.get("recent", {}), features.get("linked", {})
    dated = [value for key, value in recent.items() if key > 0]
    mean = sum(dated) / len(dated) if dated else 0.0
    recent.update((key, mean) for key in held if key < 0)
    linked.update((key, MOST_LINKED) for key in held if linked.get(key, 0.0) > MOST_LINKED)
    form = form_of(asked)
    if form == WORDS or (form == SHORT and len(asked.words) > 1):
        code = [key for key in held if pool.rows[key][kind] == "code"]
        for name, most in LOOSE.items() if form == WORDS else [("named", LOOSE["named"])]:
            values = features.get(name, {})
            values.update((key, most) for key in code if values.get(key, 0.0) > most)


def kinds(pool: Pool, asked: SearchQuery) -> Feature:
    """Returns the head start of each candidate by its kind, in proportion to its match.

    If all are of one kind there is none: nothing has to be mixed.
    """
    kind = AT["kind"]
    families = _families(pool.rows.values())
    if len(families) < 2 and "memory" not in families:
        return {}
    table, tests = MIXED[form_of(asked)], not _asks_for_tests(asked)
    holds = _held(pool) if asked.words else None
    to_begin = not _WORDS.words("chores").isdisjoint(_plain_words(asked))
    found = {}
    for key, row in pool.rows.items():
        name = row[kind] if row[kind] in _KINDS else "memory"
        if tests and name in ("doc", "code") and is_test(_file(row)):
            name = "test"
        elif name == "doc":
            name = _page(_file(row), to_begin=to_begin)
        start = table[name]
        if start > 0.0 and holds is not None:
            start *= min(1.0, holds.get(key, 0.0) / FULL)
        found[key] = start
    return found


def _families(rows: Iterable[Row]) -> set[str]:
    """Returns the kinds of the rows, where all of a conversation is one kind, and so are all memories."""
    place = AT["kind"]
    kinds = {row[place] for row in rows}
    return {"talk" if kind in _TALK else kind if kind in _KINDS else "memory" for kind in kinds}


def _held(pool: Pool) -> Feature:
    """Returns how much of the question each candidate matches: by words, by meaning, by files or by links."""
    found = dict(pool.features.get("cover", {}))
    linked = pool.features.get("linked", {})
    most = max(linked.values(), default=0.0)
    leads = {key: gain / most for key, gain in linked.items()} if most > 0.0 else {}
    for values in (pool.features.get("near", {}), pool.features.get("files", {}), leads):
        for key, value in values.items():
            if value > found.get(key, 0.0):
                found[key] = value
    return found


def defines(pool: Pool, asked: SearchQuery) -> Feature:
    """Returns which code defines a name of the question: by its own symbol, or in one of its lines."""
    names = _defined_names(asked)
    if not names:
        return {}
    kind, title, text = AT["kind"], AT["title"], AT["text"]
    found = {}
    for key, row in pool.rows.items():
        if row[kind] != "code" or is_test(_file(row)):
            continue
        if (row[title] or "").rpartition(".")[2] in names:
            found[key] = 1.0
        elif any(name in row[text] and _is_defined(name, row[text]) for name in names):
            found[key] = 0.8
    return found


def _defined_names(asked: SearchQuery) -> list[str]:
    """Returns the names in a question that code may define; among other words only if they look like one."""
    if form_of(asked) == WORDS:
        return []
    words = [word.replace("::", ".").rstrip("()") for word in asked.words[:MOST_NAMES] if "/" not in word]
    pieces = [piece for word in words for piece in word.split(".")]
    alone = len(asked.words) == 1 or not _WORDS.words("for_code").isdisjoint(asked.text.casefold().split())
    return [piece for piece in pieces if len(piece) > 2 and (alone or _is_symbol(piece))]


def _is_defined(name: str, text: str) -> bool:
    """Whether a line of code starts by defining this name."""
    at = text.find(name)
    while at >= 0:
        before = text[text.rfind("\n", 0, at) + 1 : at].split()
        end = at + len(name)
        if text[end : end + 1] not in _LETTERS and _WORDS.words("declaring").issuperset(before):
            after = text[end : end + 4].lstrip(" ")
            gives = after[:2] != "==" and after.startswith(("=", ":=", ": "))
            if gives or before:
                return True
        at = text.find(name, at + 1)
    return False


def _file(row: Row) -> str:
    """Returns the file of a row; its name contains it as well, with the line."""
    path: str = row[AT["path"]] or row[AT["name"]].rpartition(":")[0]
    return path


def is_test(path: str) -> bool:
    """Whether a file is a test or made for tests, by the usual names of such files."""
    folders, _, name = path.casefold().rpartition("/")
    if name.startswith("test_") or "_test." in name or ".test." in name or ".spec." in name or "_spec." in name:
        return True
    return name == "conftest.py" or not _WORDS.words("test_folders").isdisjoint(folders.split("/"))


def _plain_words(asked: SearchQuery) -> list[str]:
    return [word.strip("?,.!:;\"'") for word in asked.text.casefold().split()]


def _page(path: str, *, to_begin: bool) -> str:
    """Returns what a document is: one `to_begin` with, text that lies among code, or any other."""
    folders, _, name = path.casefold().rpartition("/")
    base, _, ending = name.rpartition(".")
    if to_begin and (base or name) in _WORDS.words("begin_with"):
        return "guide" if not folders or folders in _WORDS.words("begin_folders") else "doc"
    among_code = ending == "txt" and folders and _WORDS.words("page_folders").isdisjoint(folders.split("/"))
    return "data" if among_code else "doc"


def _asks_for_tests(asked: SearchQuery) -> bool:
    """Whether a question is about the code of tests. Who asks how to run them wants the page that says so."""
    if any(map(is_test, asked.paths)):
        return True
    if any(_is_symbol(word) and any(one in word.casefold() for one in _FOR_TESTS) for word in asked.words):
        return True
    said = _plain_words(asked)
    for word, following in zip(said, [*said[1:], ""], strict=False):
        if word in _WORDS.words("one_of") and following.startswith("test"):  # "which test runs the migration"
            return True
        if word.startswith("test") and following in _WORDS.words("about"):
            return True
    return any(word.startswith(_FOR_TESTS) for word in said) and _WORDS.words("running").isdisjoint(said)


def chosen(
    found: Sequence[tuple[int, Row]], scores: Feature, *, varied: bool = True
) -> tuple[list[tuple[int, Row]], Feature]:
    """Returns the candidates without empty and duplicate ones, and the penalties for repeated places.

    They come best first and stay in that order; `scores` are theirs. If not `varied`, as in a search for one kind, only
    empty ones are left out.
    """
    kept = [one for one in found if not is_empty(one[1])]
    if not varied:
        return kept, {}
    kept = _without_duplicates(kept)
    if len(_families(row for _, row in kept)) < 2:
        return kept, {}
    again: Feature = {}
    seen: dict[tuple[str, str], int] = {}
    # The run of each run, turn and session; a session contains the titles of its runs.
    kind, name, title, text = AT["kind"], AT["name"], AT["title"], AT["text"]
    talks: dict[int, str] = {key: row[name].partition("#")[0] for key, row in kept if row[kind] in ("run", "turn")}
    called = [(row[title].partition("…")[0], row[name]) for _, row in kept if row[kind] == "run" and row[title]]
    for key, row in kept:
        if row[kind] == "session":
            said = f"{row[title]}\n{row[text]}"
            talks[key] = next((run for words, run in called if words and words in said), row[name])
    for key, row in kept:
        if row[kind] in _OF_FILES:
            place, most = ("file", _file(row)), PER_FILE
        elif key in talks:
            place, most = ("talk", talks[key]), 1
        else:
            continue
        seen[place] = seen.get(place, 0) + 1
        if seen[place] > most:
            again[key] = -AGAIN * max(scores[key], 0.0)
    return kept, again


def lifted(
    pool: Pool, asked: SearchQuery, found: Sequence[tuple[int, Row]], scores: Feature, *, kind: str | None
) -> Feature:
    """Returns what the best conversation or memory needs to rank second, if the question is a sentence.

    Code and commits may repeat every word of it; the conversation gives the reason in other words.
    """
    if kind is not None or _shape_of(asked) != WORDS:
        return {}
    holds, standing = _held(pool), pool.features.get("standing", {})
    for place, (key, row) in enumerate(found):
        said = row[AT["kind"]] in _TALK or row[AT["kind"]] not in _KINDS
        if said and standing.get(key, 0.0) >= 0.0 and holds.get(key, 0.0) >= SAID:
            return {key: scores[found[1][0]] - scores[key] + _ABOVE} if place > 1 else {}
    return {}


def is_empty(row: Row) -> bool:
    """Whether a section contains nothing but its heading."""
    if row[AT["kind"]] != "doc" or len(row[AT["text"]] or "") > 400:
        return False
    return not any(map(str.isalnum, (row[AT["text"]] or "").replace(row[AT["title"]] or "\0", "")))


def _without_duplicates(found: list[tuple[int, Row]]) -> list[tuple[int, Row]]:
    """Returns the first of equal texts: projects keep one page for several tools, each in that tool's folder."""
    kind, content, text = AT["kind"], AT["content"], AT["text"]
    seen: set[bytes] = set()
    pages: dict[tuple[str, str], list[str]] = {}  # by title, and by path below the first folder
    kept = []
    for key, row in found:
        if row[kind] in ("doc", "code") and row[content]:
            if row[content] in seen:
                continue
            seen.add(row[content])
            folder, _, rest = _file(row).partition("/")
            if folder[:1] == ".":
                alike = pages.setdefault((row[AT["title"]] or "", rest), [])
                said = row[text].replace(folder, "")
                if said in alike:
                    continue
                alike.append(said)
        kept.append((key, row))
    return kept


KINDS = ("run", "session")
TURNS = 150  # turns that are searched; 100 and 250 differ by less than a point (ranking.md)
LESSER = 0.15  # part of the smaller score of its own row and its best turn; a guess
_MASK = (1 << SOURCES) - 1
_TAG = "g"  # tags: turns do not have them, their run does
_NOTES = "SELECT rowid FROM words WHERE words MATCH ?"


def join(
    pool: Pool, sources: Sequence[Connection], asked: SearchQuery, *, scope: Scope, near: Near | None, wide: bool
) -> None:
    """Adds the scores of turns to the runs and sessions of a pool, and adds those that only a turn leads to."""
    turns, members = gathered(pool, sources, asked, scope=scope, near=near, wide=wide)
    own, score = scoring.fuse(pool.features, WEIGHTS), scoring.fuse(turns.features, WEIGHTS)
    best = {group: max([score.get(key, 0.0) for key in keys]) for group, keys in members.items()}
    pool.features["turn"] = {group: _gain(best[group], own.get(group, 0.0)) for group in members}
    pool.features.update(added(pool, turns, members, near))


def gathered(
    pool: Pool, sources: Sequence[Connection], asked: SearchQuery, *, scope: Scope, near: Near | None, wide: bool
) -> tuple[Pool, Members]:
    """Returns the matching turns, and those of each run or session, which is then in the pool."""
    within = Scope(kind="turn", task=scope.task, files=scope.files, since=scope.since)
    untagged = replace(asked, facets=[one for one in asked.facets if not one.startswith(_TAG)])
    turns = gather(sources, untagged, scope=within, limit=TURNS, near=near, wide=wide)
    pool.narrow = pool.narrow or turns.narrow
    members = _members(sources, turns, scope.kind)
    for number, db in enumerate(sources):
        missing = [key >> SOURCES for key in members if key & _MASK == number and key not in pool.rows]
        for row, values in fetched(db, missing, facets_of(asked, scope), scope).items() if missing else ():
            pool.add(row << SOURCES | number, values)
    return turns, {group: keys for group, keys in members.items() if group in pool.rows}


def added(pool: Pool, turns: Pool, members: Members, near: Near | None) -> dict[str, Feature]:
    """Returns what the rest of a run or session adds to its best turn."""
    # The share of the question in a group: in all of its turns, or in its own row.
    cover, rest = turns.features.get("cover", {}), turns.features.get("gcover", {})
    shares = dict(pool.features.get("cover", {}))
    for group, keys in members.items():
        share = max([cover.get(key, 0.0) + rest.get(key, 0.0) for key in keys])
        shares[group] = max(share, shares.get(group, 0.0))
    found = {"told": {group: share for group, share in shares.items() if share}}
    if near:
        # The similarity of each group's nearest turn, only by named speakers if the question names one. A group without
        # turns has that of its own row.
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
        found["said"] = scoring.spread(nearest)
    return found


def _members(sources: Sequence[Connection], turns: Pool, kind: str | None) -> Members:
    """Returns the turns of each run; for each session, those of the runs that its notes name."""
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


def _gain(turn: float, own: float) -> float:
    """Returns what the best turn adds to a score that contains its group's own row already."""
    return turn - (1.0 - LESSER) * own if turn > own else LESSER * turn
