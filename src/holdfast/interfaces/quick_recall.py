"""The quick path's recall: the same answer as the full one's, from what that noted it rests on.

The full path notes in the index what its last answer came from: the state, the user's settings, the commit
that the corpus shows, and where all branches stand. While all of that is as it was, this answers alike from
SQLite; else, or where words find little and there is a model to ask, it leaves the question to the full path.
"""

import os

from holdfast.index.answer import advice, answer, is_weak, other_branches_file
from holdfast.index.freshness import WorkTreePaths, heads
from holdfast.index.hit_text import FIELDS, as_json, as_text, relevant
from holdfast.index.hit_text import since_moment as moment
from holdfast.index.query import Scope, read_query, takes_several_steps
from holdfast.index.ranking import KINDS, MAX_LIMIT, candidates
from holdfast.index.schema import file_name
from holdfast.interfaces.quick import CLOSE, STYLES, columns, open_index, settings_stamp
from holdfast.store.layout import FOLDER_OF

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection
    from typing import Any

    Row = tuple[Any, ...]
    Counted = list[tuple[str, str, str | None]]

READY = "vectors.ready"  # beside the index while there are vectors of a model in use
WITHOUT_MEANING = (
    "this was searched by words alone: there is no model in use, or nothing is embedded yet; "
    "`holdfast model` says what is missing"
)
_VALUES = ("--task", "--kind", "--limit", "-n", "--files", "--since")


class QuickQuestion:
    """What was asked for."""

    json = explain = False
    task: "str | None" = None
    kind: "str | None" = None
    since: "str | None" = None
    limit = 5
    limited = False  # whether a number was given: then that many are shown, however weak
    advice = ""  # what is said beside the answer

    def __init__(self) -> None:
        self.query: list[str] = []
        self.files: list[str] = []


def options(words: list[str]) -> QuickQuestion | None:
    """What a command line asks for; None if there is anything in it that the full path has to look at."""
    asked = QuickQuestion()
    values: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        name = "--limit" if name == "-n" else name
        if word == "--":  # whatever follows is the question
            asked.query += rest
        elif word in ("--json", "--explain"):
            setattr(asked, word[2:], True)
        elif name in _VALUES:
            given = value if equals else next(rest, "")
            if not given or given.startswith("-") or (name == "--kind" and name in values):
                return None
            values[name] = given
            asked.files += given.split(",") if name == "--files" else []
        elif word.startswith("-"):
            return None
        else:
            asked.query.append(word)
    if asked.query == ["-"]:
        return None  # it stands in stdin
    asked.task, asked.kind, asked.since = (values.get(name) for name in ("--task", "--kind", "--since"))
    limit = values.get("--limit", "5")
    if asked.kind and asked.kind not in KINDS and asked.kind not in FOLDER_OF:
        return None  # the full path says what is wrong with it
    if not (limit.isascii() and limit.isdigit() and len(limit) < 5):
        return None
    # A secret may stand in a file's name: an assignment, or a long word with digits in it.
    parts = [part for path in asked.files for part in path.replace(".", "/").split("/")]
    if any("=" in part or (len(part) >= 20 and sum(map(str.isdigit, part)) > 1) for part in parts):
        return None  # the full path knows under which name the index has it
    asked.limit, asked.limited = int(limit), "--limit" in values
    return asked if 0 < asked.limit <= MAX_LIMIT else None


def told(
    db: "Connection", path: str, asked: QuickQuestion, *, state: str, place: "WorkTreePaths", now: str
) -> "tuple[str | None, Counted | None]":
    """What is to be printed, and the hits to be counted; nothing where the full path has to answer."""
    scope = _scope(asked, place, now)
    rests_on = _rests_on(db, state, place)
    question = read_query(" ".join(asked.query))
    if scope is None or rests_on is None or takes_several_steps(question):
        return None, None
    corpus, others = rests_on
    more: list[Connection] = []
    try:
        beside_it = os.path.join(os.path.dirname(path), file_name(place.git_dir, place.common_dir, "corpus"))
        if os.path.exists(beside_it):
            more.append(open_index(beside_it))
            more[0].execute("BEGIN")  # one state of it from here on
        if (_meta(more[0], "head") if more else "") != corpus.removeprefix("!"):  # the commit that the corpus shows
            return None, None
        here = [db] if corpus.startswith("!") else [db, *more]
        there = open_index(other_branches_file(path)) if others else None
        if there is not None:
            more.append(there)
            there.execute("BEGIN")
            if _meta(there, "state") != f"{state} {heads(place)}":
                return None, None
        found = answer(here, there, question, scope=scope, limit=asked.limit, now=now)
        if asked.query and is_weak(found) and os.path.exists(os.path.join(os.path.dirname(path), READY)):
            return None, None
        asked.advice = advice(db, question, found, by_meaning=False)
        name, kind, how = (FIELDS.index(field) for field in ("id", "kind", "state"))
        counted = [(hit[name], hit[kind], hit[how]) for hit in found]
        if asked.json:
            return as_json(db, found, explain=asked.explain), counted
        waiting = 0 if found else candidates([db], " ".join(asked.query), scope=scope)
        shown, bold = found if asked.limited else relevant(found), (STYLES["bold"][0], CLOSE)
        wide = columns()
        return as_text(shown, waiting=waiting, now=now, explain=asked.explain, bold=bold, columns=wide), counted
    finally:
        for one in more:
            one.close()


def _meta(db: "Connection", name: str) -> str:
    row = db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return (row[0] or "") if row else ""


def _rests_on(db: "Connection", state: str, place: "WorkTreePaths") -> tuple[str, bool] | None:
    """The commit of the corpus and whether other branches hold anything; None if an answer would differ."""
    kept = _meta(db, "recall").split("\n")
    if len(kept) != 5 or kept[:2] != [settings_stamp(os.environ), state] or _meta(db, "signature") != state:
        return None
    return (kept[2], kept[4] == "1") if kept[3] == f"{state} {heads(place)}" else None


def _scope(asked: QuickQuestion, place: "WorkTreePaths", now: str) -> Scope | None:
    since = moment(asked.since, now) if asked.since else None
    files = [_at_top(path, place.top) for path in asked.files if path]
    if (asked.since and since is None) or None in files:
        return None
    named = [path for path in files if path is not None]
    return Scope(kind=asked.kind, task=asked.task, files=named, since=since)


def _at_top(path: str, top: str) -> str | None:
    """A path as the repository spells it; None if it lies outside."""
    named = os.path.join(os.getcwd(), path).rstrip("/")
    full = os.path.join(os.path.realpath(os.path.dirname(named)), os.path.basename(named))
    if not full.isascii() and not os.path.lexists(full):  # perhaps spelled in another Unicode form
        return None
    inside = os.path.relpath(full, os.path.realpath(top)).replace(os.sep, "/")
    return None if inside == ".." or inside.startswith("../") else inside
