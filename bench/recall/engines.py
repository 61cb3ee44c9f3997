"""What is asked: Holdfast itself, and beside it what everybody has, FTS5 as it comes and grep.

Each takes documents in, in their order, and gives the names of its best hits. Holdfast is asked as it
answers everybody: the product's own tables, the product's own search, with the kind that is wanted. The
others know rows alone: for them a session stands where the first of its turns does (`parts`).
"""

import re
import sqlite3
from collections.abc import Sequence
from typing import Protocol

from bench.recall.loading import LoadedDocument, load_documents
from bench.recall.meaning import Among
from bench.recall.sets import Question
from holdfast.index.query import Scope
from holdfast.index.ranking import search
from holdfast.index.search_words import ENGLISH
from holdfast.index.sqlite import Index

NOW = "2100-01-01T00:00:00Z"


class Engine(Protocol):
    """Something that finds documents; `parts` is the kind by which it finds groups, None if they are hits."""

    parts: str | None

    def add(self, documents: Sequence[LoadedDocument]) -> None: ...
    def ask(self, question: Question, limit: int, kind: str | None = None) -> list[str]: ...


class Holdfast:
    """The product: an index filled with rows as it makes them, asked with the files that are open."""

    parts: str | None = None

    def __init__(self, path: str, among: Among | None = None) -> None:
        self.index = Index(path)
        self.index.db.execute("PRAGMA synchronous = OFF")
        self.among = among

    def add(self, documents: Sequence[LoadedDocument]) -> None:
        load_documents(self.index.db, documents)
        if self.among is not None:
            self.among.add(documents)

    def ask(self, question: Question, limit: int, kind: str | None = None) -> list[str]:
        near = self.among.near(question.text) if self.among else None
        scope = Scope(files=question.files, kind=kind)
        hits = search([self.index.db], question.text, scope=scope, limit=limit, now=NOW, near=near)
        return [hit[0] for hit in hits]


class Plain:
    """SQLite's FTS5 as it comes: porter stems, stop words left out of the question, BM25."""

    parts: str | None = "turn"

    def __init__(self) -> None:
        self._db = sqlite3.connect(":memory:")
        self._db.execute(
            "CREATE VIRTUAL TABLE words USING fts5 "
            "(name UNINDEXED, kind UNINDEXED, title, text, who, tokenize='porter unicode61')"
        )

    def add(self, documents: Sequence[LoadedDocument]) -> None:
        rows = [(one.name, one.kind, one.title, one.text, one.context) for one in _single(documents)]
        self._db.executemany("INSERT INTO words VALUES (?, ?, ?, ?, ?)", rows)

    def ask(self, question: Question, limit: int, kind: str | None = None) -> list[str]:
        match = " OR ".join(f'"{word}"' for word in telling(question.text))
        found = self._db.execute(
            "SELECT name FROM words WHERE words MATCH ?1 AND (?2 IS NULL OR kind = ?2) ORDER BY rank LIMIT ?3",
            (match, kind, limit),
        )
        return [name for (name,) in found]


class Grep:
    """`grep -i` for every word of the question: what holds most of them first, and of equals the newest."""

    parts: str | None = "turn"

    def __init__(self) -> None:
        self._texts: list[tuple[str, str, str]] = []

    def add(self, documents: Sequence[LoadedDocument]) -> None:
        for one in _single(documents):
            self._texts.append((one.name, one.kind, f"{one.title}\n{one.text}\n{one.context}".casefold()))

    def ask(self, question: Question, limit: int, kind: str | None = None) -> list[str]:
        words = [word.casefold() for word in telling(question.text)]
        counts = [
            (sum(word in text for word in words), place)
            for place, (_, what, text) in enumerate(self._texts)
            if kind in (None, what)
        ]
        best = sorted((one for one in counts if one[0]), reverse=True)[:limit]
        return [self._texts[place][0] for _, place in best]


def _single(documents: Sequence[LoadedDocument]) -> list[LoadedDocument]:
    """Without the rows of whole groups, which say again what their parts say."""
    return [one for one in documents if one.seq or not one.group]


def telling(text: str) -> list[str]:
    """The words of a question that say something; all of them if none does."""
    words = list(dict.fromkeys(re.findall(r"\w+", text)))
    return [word for word in words if word.casefold() not in ENGLISH] or words
