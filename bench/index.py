"""Reading in bulk: verifying the log, rebuilding the index, warm questions, and how both grow."""

import hashlib
import json
import os
import random
import sqlite3
from collections.abc import Callable, Iterator
from functools import partial

from bench.corpus import COMMON, Corpus
from bench.measure import Result, at_least, at_most, cpu, least, told
from holdfast.diagnostics.log_integrity import Ledger
from holdfast.index.pool import match_all, match_any
from holdfast.index.query import read_query
from holdfast.index.refresh import refresh
from holdfast.index.sqlite import Index, drop
from holdfast.recall.search import TextSearch

BATCH = 1000
ENOUGH = 5  # records that hold all words, up to which recall looks for those that hold some


def verify(corpus: Corpus) -> Iterator[Result]:
    """Verifying every line, against SHA-256 and a JSON parser over the same bytes."""
    clone = corpus.clone()
    segments = [(source.key, clone.read_source(source)) for source in clone.sources() if source.blob]

    def ours() -> None:
        ledger = Ledger()
        for name, data in segments:
            ledger.segment(name, name, data)
        ledger.finish()
        if ledger.findings:
            raise SystemExit(f"the corpus does not verify: {ledger.findings[:3]}")

    def floor() -> None:
        for _, data in segments:
            for line in data.split(b"\n")[1:-1]:
                hashlib.sha256(line).hexdigest()
                json.loads(line)

    best = least({"ours": lambda: cpu(ours), "floor": lambda: cpu(floor)}, 5)
    rates = {name: corpus.runs / seconds for name, seconds in best.items()}
    yield at_least("verify the log", rates["ours"], rates["floor"], 0.4, "events/s")


def rebuild(corpus: Corpus, folder: str) -> Iterator[Result]:
    """From segments and bodies to a whole index, against inserting the finished text into FTS5."""
    best = least(_rebuilding(corpus, folder), 3)
    rates = {name: corpus.runs / seconds for name, seconds in best.items()}
    yield at_least("rebuild the index", rates["ours"], rates["floor"], 0.25, "events/s")


def _rebuilding(corpus: Corpus, folder: str) -> dict[str, Callable[[], float]]:
    path, raw = os.path.join(folder, "rebuilt.db"), os.path.join(folder, "raw.db")
    clone = corpus.clone()
    _build(clone, path)
    texts = sqlite3.connect(path).execute("SELECT title, labels, text, parts, context, facets FROM row").fetchall()
    return {"ours": lambda: cpu(lambda: _build(clone, path)), "floor": lambda: cpu(lambda: insert_raw(raw, texts))}


def _build(clone: object, path: str) -> None:
    drop(path)
    index = Index(path)
    refresh(clone, index)  # type: ignore[arg-type]
    index.close()


def insert_raw(path: str, texts: list[tuple[str, ...]]) -> None:
    """The plainest FTS5 table for the same text, a thousand rows a transaction."""
    drop(path)
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("CREATE VIRTUAL TABLE raw USING fts5 (title, labels, text, parts, context, facets)")
    for start in range(0, len(texts), BATCH):
        db.execute("BEGIN")
        db.executemany("INSERT INTO raw VALUES (?, ?, ?, ?, ?, ?)", texts[start : start + BATCH])
        db.execute("COMMIT")
    db.close()


def warm(corpus: Corpus, folder: str) -> Iterator[Result]:
    """Questions to a project that is open, against FTS5 alone with the same expressions."""
    searcher = TextSearch(corpus.clone())
    searcher.search("anything")
    raw = os.path.join(folder, "warm.db")
    rows = searcher._index.db.execute("SELECT title, labels, text, parts, context, facets FROM row").fetchall()
    insert_raw(raw, rows)
    db = sqlite3.connect(raw)
    chosen = random.Random(7)
    queries = [" ".join(chosen.sample(COMMON, chosen.choice((1, 2, 3)))) for _ in range(150)]
    taken: dict[str, list[float]] = {"ours": [], "same": [], "five": []}
    for query in queries:
        best = least(
            {
                "ours": lambda query=query: cpu(lambda: searcher.search(query)),  # type: ignore[misc]
                "same": lambda query=query: cpu(lambda: _ask_raw(db, query, enough=ENOUGH)),  # type: ignore[misc]
                "five": lambda query=query: cpu(lambda: _ask_raw(db, query, enough=5)),  # type: ignore[misc]
            },
            5,
        )
        for name, time in best.items():
            taken[name].append(time)
    yield at_most("warm recall over 10k, p99", p99(taken["ours"]), p99(taken["same"]), 2)
    few = p99(taken["ours"]), p99(taken["five"])  # FTS5 may stop as soon as five records hold all words
    yield told("the same beside FTS5 for five", f"{few[0] * 1e3:.2f} ms", f"{few[1] * 1e3:.2f} ms", few[0] / few[1])


def _ask_raw(db: sqlite3.Connection, query: str, *, enough: int) -> None:
    """All words first; any of them if too few records hold all."""
    terms = read_query(query).terms
    sql = "SELECT rowid, title, text FROM raw WHERE raw MATCH ? ORDER BY bm25(raw) LIMIT ?"
    found = db.execute(sql, (match_all(terms, []), enough)).fetchall()
    if len(found) < enough and len(terms) > 1:
        db.execute(sql, (match_any(terms, []), enough)).fetchall()


def p99(times: list[float]) -> float:
    return sorted(times)[int(len(times) * 0.99) - 1]


def growth(corpora: list[Corpus], folder: str) -> Iterator[Result]:
    """Ten times the records: the bulk time may grow twelvefold."""
    path = os.path.join(folder, "growth.db")
    times = []
    for corpus in corpora:
        build = partial(_build, corpus.clone(), path)
        times.append(min(cpu(build) for _ in range(3 if corpus.runs < 50_000 else 1)))
    for place in range(1, len(corpora)):
        name = f"growth: rebuild {corpora[place - 1].runs:,} -> {corpora[place].runs:,}"
        yield at_most(name, times[place], times[place - 1], 12)
    yield told("  (rebuild of 100,000)", f"{corpora[-1].runs / times[-1]:,.0f} events/s")
