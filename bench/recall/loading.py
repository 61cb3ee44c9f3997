"""Documents from anywhere, put into the tables that a search reads: for benchmarks and for trials.

Nothing of it is truth and nothing refreshes it: the file is filled once and asked.
"""

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from itertools import groupby

from holdfast.index.fill import IndexFill
from holdfast.index.schema import facet
from holdfast.index.search_rows import MAX_TEXT, Row, Touch, content_of, parts_of, path_words, safe, time_number
from holdfast.values import frozen


@frozen(kw_only=True)
class LoadedDocument:
    """One thing that can be found. Those of one group are neighbours in the order of `seq`."""

    name: str
    text: str
    title: str = ""
    kind: str = "doc"  # commit, turn, doc, code, run, or a memory's type
    ts: str | None = None  # as events spell it; without one it is as ever recent as a memory
    group: str | None = None
    seq: int = 0  # 0 is the group's own row, if it has one; its parts count from 1
    context: str = ""  # what it belongs to: author, speaker, heading
    paths: tuple[str, ...] = ()  # files it changes, lies in or is about


def load_documents(db: sqlite3.Connection, documents: Iterable[LoadedDocument]) -> None:
    """Put documents into an index, in one transaction; those of a group have to stand together."""
    db.execute("BEGIN IMMEDIATE")
    filling = IndexFill(db)
    filling.show("d:loaded", "document", None)
    unit = filling.id_of("d:loaded")
    for rows, touches in _grouped(documents):
        filling.add(unit, rows, None, touches)
    filling.finish()
    db.execute("COMMIT")


def _grouped(documents: Iterable[LoadedDocument]) -> Iterator[tuple[list[Row], list[Touch]]]:
    """The rows of each group, its own first, and what they touch."""
    for group, members in groupby(documents, key=lambda one: (one.group, "" if one.group else one.name)):
        found = sorted(members, key=lambda one: one.seq)
        if group[0] and found[0].seq:  # the group itself says nothing, but holds its parts together
            found.insert(0, LoadedDocument(name=group[0], text="", kind="run", ts=found[0].ts))
        rows = [_row(one) for one in found]
        yield rows, [(place, path) for place, one in enumerate(found) for path in one.paths]


def _row(one: LoadedDocument) -> Row:
    title, text = safe(one.title), safe(one.text[:MAX_TEXT])
    context = safe(" ".join(filter(None, (one.context, path_words(one.paths)))))
    key = hashlib.sha256(f"{one.kind}\n{one.group}\n{one.name}".encode("utf-8", "replace")).digest()[:16]
    return (
        -1 if one.ts is None else time_number(one.ts), key, 0, one.seq, content_of(title, text),
        safe(one.name), one.kind, "run" if one.kind == "run" else None, one.ts, title,
        safe(one.name), text, parts_of(f"{title}\n{text}"),
        context, facet("k", one.kind), None, "", None, None, None, None, None, None,
        one.paths[0] if one.kind in ("doc", "code") and one.paths else None,
        None, None, None, None, None, None, None, "T2", None,
    )  # fmt: skip
