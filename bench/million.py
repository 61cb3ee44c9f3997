"""A million records: questions beside FTS5 with the same words, and beside an engine made for this alone.

The other engine is tantivy, if its Python package is there; nothing of ours needs it. The same records go
into both. What one more record costs is measured as well: a memory is written far more often than built.
"""

import importlib
import os
import resource
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from bench.asking import QUESTIONS, documents
from bench.corpus import COMMON, Words
from bench.measure import Result, at_most, cpu, least, told, wall
from bench.recall.loading import LoadedDocument, load_documents
from holdfast.index.pool import match_any
from holdfast.index.query import read_query
from holdfast.index.ranking import search
from holdfast.index.sqlite import Index

COUNTS = (100_000, 1_000_000)
ROUNDS = 3
_COLUMNS = "title, labels, text, parts, context, facets"
_RAW = "SELECT rowid, title, text FROM raw WHERE raw MATCH ? ORDER BY bm25(raw) LIMIT 5"
_COLD = """
import sqlite3, sys, time
start = time.process_time()
from holdfast.index.ranking import search
search([sqlite3.connect(sys.argv[1])], sys.argv[2])
taken = time.process_time() - start
with open("/proc/self/status") as file:
    print(taken, next(line.split()[1] for line in file if line.startswith("VmHWM")))
"""

Asking = Callable[[str], object]


def million(folder: str) -> Iterator[Result]:
    """Warm and cold questions over 100k and a million records, sizes, and what one more record costs."""
    for count in COUNTS:
        place = os.path.join(folder, f"million-{count}")
        os.makedirs(place)
        yield from _of(count, place)


def questions() -> dict[str, list[str]]:
    """Five words as records have them, and three that many records hold."""
    words = Words(5)
    return {
        "five words": [words.some(5) for _ in range(QUESTIONS)],
        "three common words": [" ".join(COMMON[n : n + 3]) for n in range(10)],
    }


def _of(count: int, place: str) -> Iterator[Result]:
    name = f"{count:,}"
    path, raw = os.path.join(place, "index.db"), os.path.join(place, "raw.db")
    index = Index(path)
    built = cpu(lambda: load_documents(index.db, documents(count)))
    _fill_raw(raw, path)
    plain = sqlite3.connect(raw)
    ways: dict[str, Asking] = {
        "ours": lambda question: search([index.db], question),
        "raw": lambda question: plain.execute(_RAW, (match_any(read_query(question).terms, []),)).fetchall(),
    }
    other = _Other(os.path.join(place, "other"), count) if _tantivy() else None
    if other:
        ways["other"] = other.ask
    for kind, asked in questions().items():
        taken = _timed(ways, asked)
        yield at_most(f"{name}, {kind}: text", taken["ours"], taken["raw"], 1.5)
        if other:
            yield told(f"{name}, {kind}: tantivy", f"{taken['other'] * 1e3:.2f} ms")
    size = f"{_size(path) / 1e6:,.0f} MB"
    yield told(f"{name}: built, and its file", f"{built:,.0f} s, {size}", f"{_size(raw) / 1e6:,.0f} MB (FTS5)")
    yield told(f"{name}: first answer of a process, and its memory", _first(path))
    yield told(f"{name}: one more record", _one_more(lambda one: load_documents(index.db, [one]), count))
    if other:
        yield told(f"{name}: tantivy built, and its files", f"{other.built:,.0f} s, {other.size() / 1e6:,.0f} MB")
        yield told(f"{name}: tantivy, one more record", _one_more(other.add, count))
    else:
        yield told(f"{name}: tantivy", "not measured: its package is missing")
    yield told(f"{name}: memory of all this", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MB")
    index.close()
    plain.close()


def _timed(ways: dict[str, Asking], asked: list[str]) -> dict[str, float]:
    """The median over the questions of the least of some rounds, in CPU time."""
    taken: dict[str, list[float]] = {way: [] for way in ways}
    for question in asked:
        cases = {way: lambda a=ask, q=question: cpu(lambda: a(q)) for way, ask in ways.items()}
        for way, best in least(cases, ROUNDS).items():
            taken[way].append(best)
    return {way: sorted(times)[len(times) // 2] for way, times in taken.items()}


def _fill_raw(raw: str, path: str) -> None:
    db = sqlite3.connect(raw, isolation_level=None)
    db.execute("ATTACH ? AS ours", (path,))
    db.execute(f"CREATE VIRTUAL TABLE raw USING fts5 ({_COLUMNS})")
    db.execute(f"INSERT INTO raw SELECT {_COLUMNS} FROM ours.row")
    db.close()


def _size(path: str) -> int:
    found = [path, f"{path}-wal"] if os.path.isfile(path) else [one.path for one in os.scandir(path)]
    return sum(os.path.getsize(one) for one in found if os.path.exists(one))


def _first(path: str) -> str:
    """A new process that opens the index and asks once; files are in the system's cache, nothing in ours."""
    times, memory = [], 0
    for question in questions()["five words"][:5]:
        argv = [sys.executable, "-c", _COLD, path, question]
        told_by = subprocess.run(argv, check=True, capture_output=True, text=True).stdout.split()
        times.append(float(told_by[0]))
        memory = max(memory, int(told_by[1]))
    return f"{sorted(times)[2] * 1e3:.0f} ms, {memory >> 10} MB"


def _more(count: int) -> list[LoadedDocument]:
    return [
        LoadedDocument(name=f"M-{number}", title=one.title, text=one.text, kind="commit", ts=one.ts)
        for number, one in enumerate(islice(documents(count), 40))
    ]


def _one_more(add: Callable[[LoadedDocument], object], count: int) -> str:
    """What most of forty cost that are added one at a time, and what the dearest did: merging comes due."""
    taken = sorted(wall(lambda one=one: add(one)) for one in _more(count))  # type: ignore[misc]
    return f"{taken[len(taken) // 2] * 1e3:.1f} ms, at most {taken[-1] * 1e3:,.0f} ms"


def _tantivy() -> Any:
    try:
        return importlib.import_module("tantivy")
    except ImportError:
        return None


class _Other:
    """The same records in tantivy: titles and texts, stemmed; what it finds is read as well."""

    def __init__(self, path: str, count: int) -> None:
        os.makedirs(path)
        self._path, self._count, self._made = path, count, _tantivy()
        self._writer: Any = None
        shape = self._made.SchemaBuilder()
        shape.add_text_field("name", stored=True, tokenizer_name="raw")
        for field in ("title", "text"):
            shape.add_text_field(field, stored=True, tokenizer_name="en_stem")
        self._index = self._made.Index(shape.build(), path=path)
        self.built = cpu(self._build)

    def _build(self) -> None:
        writer = self._index.writer(256 << 20, 1)
        for one in documents(self._count):
            writer.add_document(self._document(one))
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()

    def _document(self, one: LoadedDocument) -> Any:
        return self._made.Document(name=one.name, title=one.title, text=one.text)

    def ask(self, question: str) -> object:
        asked = self._index.parse_query(question, ["title", "text"], field_boosts={"title": 4.0})
        searcher = self._index.searcher()
        return [searcher.doc(place)["title"] for _, place in searcher.search(asked, 5).hits]

    def add(self, one: LoadedDocument) -> None:
        """One more, committed and to be seen by the next question."""
        self._writer = self._writer or self._index.writer(15 << 20, 1)
        self._writer.add_document(self._document(one))
        self._writer.commit()
        self._index.reload()

    def size(self) -> int:
        return _size(self._path)
