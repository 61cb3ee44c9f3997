"""What the repository holds: reading it the first time, after a commit, after a switch, and its size."""

import os
import random
import sqlite3
import subprocess
from collections.abc import Iterator

from bench.corpus import COMMON
from bench.measure import Result, at_least, at_most, cpu, least, told
from holdfast.git.clone import Clone
from holdfast.git.project_setup import initialise
from holdfast.index.corpus.file_choice import CorpusChoice
from holdfast.index.corpus.update import bring_corpus, open_corpus, path_of
from holdfast.index.schema import COLUMNS
from holdfast.index.sqlite import drop

FILES, COMMITS, BATCH = 1_500, 3_000, 1_000
CHANGED = 100  # files that a branch changes


def corpus(folder: str, cache: str) -> Iterator[Result]:
    """From git's objects to a whole corpus, against inserting the finished text into FTS5."""
    top = os.path.join(folder, "repository")
    _make(top)
    initialise(top, cache=cache, commit=False)
    clone = Clone.open(top, cache=cache)
    _build(clone)
    rows, size, text = _held(clone)
    raw = os.path.join(folder, "raw-corpus.db")
    best = least({"ours": lambda: cpu(lambda: _build(clone)), "floor": lambda: cpu(lambda: _raw(raw, rows))}, 3)
    rates = {name: len(rows) / seconds for name, seconds in best.items()}
    yield at_least("read commits, docs and code", rates["ours"], rates["floor"], 0.25, "rows/s")
    ratio = size / text
    yield Result(
        "their index beside the text", f"{size / 1e6:.1f} MB", f"{text / 1e6:.1f} MB", ratio, "<= 3 x", ratio <= 3
    )
    yield from _changes(clone, top)


def _changes(clone: Clone, top: str) -> Iterator[Result]:
    """What a commit and a switch cost besides git's own work, as parts of a whole build."""
    whole = cpu(lambda: _build(clone))
    first = _git(top, "rev-parse", "HEAD")
    one, many = _commit(top, first, 1), _commit(top, first, CHANGED)
    times: dict[str, list[float]] = {"commit": [], "switch": []}
    for _ in range(3):
        _git(top, "update-ref", "refs/heads/main", one)
        times["commit"].append(cpu(lambda: _refresh(clone)))
        _git(top, "update-ref", "refs/heads/main", many)
        times["switch"].append(cpu(lambda: _refresh(clone)))
        _git(top, "update-ref", "refs/heads/main", first)
        _refresh(clone)
    yield at_most("a commit of one file, beside all of it", min(times["commit"]), whole, 0.1)
    yield told(f"  (a switch that changes {CHANGED + 1} files)", f"{min(times['switch']) * 1e3:.1f} ms")


def _refresh(clone: Clone) -> None:
    index = open_corpus(clone)
    if not bring_corpus(clone, index, CorpusChoice(), patience=True):
        raise SystemExit("the corpus does not come to HEAD")
    index.close()


def _build(clone: Clone) -> None:
    drop(path_of(clone))
    _refresh(clone)


def _held(clone: Clone) -> tuple[list[tuple[str, ...]], int, int]:
    """The rows as FTS5 gets them, the file's size, and the bytes of text in it."""
    db = sqlite3.connect(path_of(clone))
    rows = db.execute(f"SELECT {', '.join(COLUMNS)} FROM row").fetchall()
    text = db.execute("SELECT sum(length(title) + length(text)) FROM row").fetchone()[0]
    db.close()
    return rows, os.path.getsize(path_of(clone)), text


def _raw(path: str, rows: list[tuple[str, ...]]) -> None:
    drop(path)
    db = sqlite3.connect(path, isolation_level=None)
    db.execute(f"CREATE VIRTUAL TABLE raw USING fts5 ({', '.join(COLUMNS)})")
    for start in range(0, len(rows), BATCH):
        db.execute("BEGIN")
        db.executemany("INSERT INTO raw VALUES (?, ?, ?, ?, ?, ?)", rows[start : start + BATCH])
        db.execute("COMMIT")
    db.close()


def _git(top: str, *args: str, data: bytes = b"") -> str:
    done = subprocess.run(["git", "-C", top, *args], input=data, capture_output=True, check=True)
    return done.stdout.decode().strip()


def _commit(top: str, parent: str, count: int) -> str:
    """A commit that changes so many files, made without a work tree."""
    lines = [
        b"commit refs/heads/made\ncommitter B <b@c> 1700000000 +0000\ndata 7\nchanges\nfrom %s\n" % parent.encode()
    ]
    for number in range(count):
        lines.append(
            b"M 100644 inline src/p%d/f%d.py\n%s" % (number % 40, number, _data(f"def changed{count}():\n    pass\n"))
        )
    _git(top, "fast-import", "--quiet", "--force", data=b"".join(lines))
    return _git(top, "rev-parse", "refs/heads/made")


def _make(top: str) -> None:
    """A repository of made-up code, pages and commits, always the same one."""
    _git(os.path.dirname(top), "init", "-q", top)
    chosen = random.Random(11)
    rare = ["".join(chosen.choices("abcdefghijklmnoprstuvw", k=7)) for _ in range(8_000)]
    lines = []
    for number in range(COMMITS):
        said = f"{_words(chosen, rare, 6)}\n\n{_words(chosen, rare, 40)}\n\nReviewed-by: {chosen.choice(rare)}\n"
        lines.append(
            b"commit refs/heads/main\ncommitter B <b@c> %d +0000\n" % (1_600_000_000 + number * 60) + _data(said)
        )
        if number < FILES:
            page = number % 5 == 0
            name, text = ("md", _page(chosen, rare)) if page else ("py", _module(chosen, rare))
            lines.append(b"M 100644 inline src/p%d/f%d.%s\n%s" % (number % 40, number, name.encode(), _data(text)))
    _git(top, "fast-import", "--quiet", data=b"".join(lines))


def _data(text: str) -> bytes:
    return b"data %d\n%s\n" % (len(text.encode()), text.encode())


def _words(chosen: random.Random, rare: list[str], count: int) -> str:
    return " ".join(chosen.choice(COMMON) if chosen.random() < 0.6 else chosen.choice(rare) for _ in range(count))


def _module(chosen: random.Random, rare: list[str]) -> str:
    def line() -> str:
        one, two, three = (chosen.choice(rare) for _ in range(3))
        return f"    {one}_{two} = {three}.{chosen.choice(COMMON)}({one}, {two})\n"

    parts = [f'"""{_words(chosen, rare, 12)}."""\n\nimport {chosen.choice(rare)}\n\n\n']
    for _ in range(chosen.randint(3, 9)):
        doc = f'    """{_words(chosen, rare, 9)}."""\n'
        body = "".join(line() for _ in range(chosen.randint(3, 14)))
        parts.append(f"def {chosen.choice(COMMON)}_{chosen.choice(rare)}(a, b):\n{doc}{body}\n\n")
    return "".join(parts)


def _page(chosen: random.Random, rare: list[str]) -> str:
    sections = (f"## {_words(chosen, rare, 3)}\n\n{_words(chosen, rare, 80)}\n\n" for _ in range(chosen.randint(2, 7)))
    return f"# {_words(chosen, rare, 3)}\n\n" + "".join(sections)
