"""Questions to a hundred thousand records, by words alone and with vectors, beside FTS5 with the same words.

Records have sixty words, of which few are frequent and many are rare. A question has five of the same
kind, or three that a large part of all records hold: recall then needs only what holds all of them; or ten
of these, so that most records hold some and all of them have to be weighed. FTS5 alone gives its five best
for any of the words.
"""

import os
import random
import sqlite3
from collections.abc import Iterator
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Any

from bench.corpus import COMMON, Words
from bench.index import insert_raw, p99
from bench.measure import Result, at_most, cpu, least, told
from bench.recall.loading import LoadedDocument, load_documents
from holdfast.index.pool import match_any
from holdfast.index.query import read_query
from holdfast.index.ranking import search
from holdfast.index.sqlite import Index

COUNT = 100_000
QUESTIONS = 40
ROUNDS = 4
SIZE = 384
TEXT = "SELECT title, labels, text, parts, context, facets FROM row"
_RAW = "SELECT rowid, title, text FROM raw WHERE raw MATCH ? ORDER BY bm25(raw) LIMIT 5"


def hybrid(folder: str) -> Iterator[Result]:
    """Warm questions over 100k records."""
    index = Index(os.path.join(folder, "asking", "index.db"))
    load_documents(index.db, documents(COUNT))
    raw = os.path.join(folder, "asking", "raw.db")
    insert_raw(raw, index.db.execute(TEXT).fetchall())
    plain = sqlite3.connect(raw)
    words, chosen = Words(5), random.Random(7)
    asked = {
        "five words": [words.some(5) for _ in range(QUESTIONS)],
        "three common words": [" ".join(chosen.sample(COMMON, 3)) for _ in range(QUESTIONS)],
        "ten common words": [" ".join(chosen.sample(COMMON, 10)) for _ in range(QUESTIONS // 4)],
    }
    near = _near(index.db)
    for name, questions in asked.items():
        yield from _compared(f"100k, {name}", index.db, plain, questions, near)
    index.close()
    plain.close()


def documents(count: int) -> Iterator[LoadedDocument]:
    """So many made-up records, one every hundred seconds."""
    words, first = Words(3), datetime(2022, 1, 1)
    for number in range(count):
        ts = f"{(first + timedelta(seconds=100 * number)).isoformat()}.000000Z"
        yield LoadedDocument(
            name=f"N-{number}", title=words.some(8), text=words.some(52), kind="commit", ts=ts,
            paths=(f"src/{number % 997}.py",),
        )  # fmt: skip


def _compared(
    name: str, db: sqlite3.Connection, plain: sqlite3.Connection, questions: list[str], near: Any
) -> Iterator[Result]:
    taken: dict[str, list[float]] = {"raw": [], "text": [], "near": []}
    for place, question in enumerate(questions):
        expression = match_any(read_query(question).terms, [])
        cases = {
            "raw": lambda e=expression: cpu(lambda: plain.execute(_RAW, (e,)).fetchall()),
            "text": lambda q=question: cpu(lambda: search([db], q)),
        }
        if near is not None:
            meant = near(place)
            cases["near"] = lambda q=question, n=meant: cpu(lambda: search([db], q, near=n))  # type: ignore[misc]
        for way, best in least(cases, ROUNDS).items():
            taken[way].append(best)
    middle = {way: sorted(times)[len(times) // 2] for way, times in taken.items() if times}
    yield at_most(f"{name}: text", middle["text"], middle["raw"], 1.5)
    yield at_most(f"{name}: text, p99", p99(taken["text"]), p99(taken["raw"]), 1.5)
    if near is None:
        yield told(f"{name}: with vectors", "not measured: numpy is missing")
        return
    yield at_most(f"{name}: with vectors", middle["near"], middle["raw"], 3)
    yield at_most(f"{name}: with vectors, p99", p99(taken["near"]), p99(taken["raw"]), 3)


def _near(db: sqlite3.Connection) -> Any:
    """For a number, a question's nearness to every record, by vectors that are made up."""
    try:
        import numpy as np
    except ImportError:
        return None
    from holdfast.index.embed.similarity import NearestTexts, VectorMatrix

    made = np.random.default_rng(1)
    contents = [content for (content,) in db.execute("SELECT DISTINCT content FROM row ORDER BY content")]
    matrix = VectorMatrix(SIZE, room=len(contents))
    steps = range(0, len(contents), 10_000)
    matrix.fill(
        [(content, made.integers(-127, 127, SIZE, dtype=np.int8).tobytes()) for content in contents[at : at + 10_000]]
        for at in steps
    )

    def of(number: int) -> NearestTexts:
        seed = int.from_bytes(blake2b(bytes([number])).digest()[:4], "big")
        vector = np.random.default_rng(seed).standard_normal(SIZE).astype(np.float32)
        return NearestTexts(matrix, vector / np.linalg.norm(vector))

    return of
