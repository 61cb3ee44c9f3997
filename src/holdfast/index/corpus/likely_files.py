"""Predicts which files a task is about from its words: by code that contains them, and by similar commits.

Two queries to the corpus (of any commit: topics of files change slowly), each for its best few hits; every hit votes
for its files. None of their text is shown. docs/explanation/ranking.md describes and measures it.
"""

import math
import os
import sqlite3
from collections.abc import Collection, Sequence

from holdfast.index.query import quoted, split_word
from holdfast.index.search_words import words_of
from holdfast.index.sqlite import read_only

MAX_WORDS = 16  # of a task; the first ones name it. A guess, as the next two
LEAST = 0.1  # the least probability of a file in the result
CHUNKS, COMMITS = 60, 40  # hits that vote: more of them are about the project's language, not the task
DOUBT = 2.0  # votes for no file: a single hit in a short history must not decide alone
WAIT = 0.5  # seconds for another process that writes; a guess: a context must not wait longer

# Title, text, parts of names and, for code, the words of the path; a commit's paths count as its files.
_HITS = (
    "SELECT hit.id, hit.score, path.name, row.kind FROM (SELECT rowid AS id, -bm25(words, 3, 0, 1, 1, {0}, 0) AS score "
    "FROM words WHERE words MATCH ? AND rowid {1} 0 ORDER BY score DESC LIMIT {2}) AS hit "
    "JOIN row ON row.id = hit.id JOIN touch ON touch.row = hit.id JOIN path ON path.id = touch.path"
)
_THERE = "SELECT 1 FROM path JOIN touch ON touch.path = path.id WHERE path.name = ? AND touch.row < 0"
_CODE, _HISTORY = _HITS.format(1, "<", CHUNKS), _HITS.format(0, ">", COMMITS)
with open(os.path.join(os.path.dirname(__file__), "likely_files.txt"), encoding="utf-8") as _FILE:
    WEIGHTS = {name: float(value) for name, value in (line.split() for line in _FILE if line[0] != "#")}

Features = dict[str, float]


def likely_files(corpus: str, words: Sequence[str], cited: Collection[str]) -> dict[str, float] | None:
    """Returns the likely files of a task with these words, with probabilities; None without a corpus.

    The history of a moved file counts for its current path, if that is among the `cited`.
    """
    if not os.path.exists(corpus):
        return None
    try:
        with read_only(corpus, wait=WAIT) as db:
            found = features(db, words, cited)
    except sqlite3.DatabaseError:  # damaged, or being replaced: a search reports it
        return None
    chances = {path: probability(one) for path, one in found.items()}
    return {path: chance for path, chance in chances.items() if chance >= LEAST}


def probability(found: Features) -> float:
    """Returns the probability that a task changes a file with these features."""
    return 1 / (1 + math.exp(-sum(WEIGHTS[name] * value for name, value in found.items()) - WEIGHTS["bias"]))


def features(db: sqlite3.Connection, words: Sequence[str], cited: Collection[str]) -> dict[str, Features]:
    """Returns the features of each file that a hit votes for."""
    telling = [word for word in words if not word.isdigit()][:MAX_WORDS]
    any_word = " OR ".join(map(quoted, telling))
    if not telling:
        return {}
    chunks = db.execute(_CODE, (any_word,)).fetchall()
    endings = tuple({os.path.splitext(path)[1] for _, _, path, kind in chunks if kind == "code"})
    commits = db.execute(_HISTORY, (f"{{title text parts}} : ({any_word})",)).fetchall()
    moved = {path: _moved_to(db, path, cited) for path in {hit[2] for hit in commits}}
    votes = {
        "code": _votes([hit[:3] for hit in chunks]),
        "history": _votes([(number, score, moved[path]) for number, score, path, _ in commits]),
    }
    # The distance to the first file says more than the share: documents and change logs are never first.
    first = {
        name: max((one[path] for path in one if path.endswith(endings)), default=0.0) for name, one in votes.items()
    }
    asked = {part for word in telling for part in words_of(word)}
    found: dict[str, Features] = {}
    for path in {**votes["code"], **votes["history"]}:
        one = {name: share.get(path, 0.0) for name, share in votes.items()}
        stem = os.path.splitext(os.path.basename(path))[0]
        named = not asked.isdisjoint(words_of(" ".join(split_word(stem))))
        found[path] = {**one, **{f"{name}-lead": one[name] - first[name] for name in one}, "named": float(named)}
    return found


def _moved_to(db: sqlite3.Connection, path: str, cited: Collection[str]) -> str:
    """Returns the current path of a file that was moved with its folder; else its own path."""
    longer = [one for one in cited if "/" in path and one.endswith(f"/{path}")]
    shorter = [one for one in cited if "/" in one and path.endswith(f"/{one}")]
    if len(longer) + len(shorter) != 1 or db.execute(_THERE, (path,)).fetchone():
        return path
    return (longer or shorter)[0]


def _votes(hits: Sequence[tuple[int, float, str]]) -> dict[str, float]:
    """Returns each file's share of the votes: more for a better hit, less for each of many files."""
    files: dict[int, list[str]] = {}
    scores: dict[int, float] = {}
    for number, score, path in hits:
        files.setdefault(number, []).append(path)
        scores[number] = score
    best = max(scores.values(), default=0.0)
    weights = {number: (score / best) ** 2 for number, score in scores.items()} if best > 0 else {}
    whole, found = sum(weights.values()) + DOUBT, dict[str, float]()
    for number, weight in weights.items():
        for path in files[number]:
            found[path] = found.get(path, 0.0) + weight / whole / math.sqrt(len(files[number]))
    return found
