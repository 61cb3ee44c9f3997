"""Stores facts about cited commits, so that they can be found again when git no longer has them.

A record has only names and hashes. Records are in at most 256 files, by the beginning of the commit's id:
so ten thousand commits need neither ten thousand files nor one large file.
"""

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from holdfast.errors import TooLarge, UnsafePath
from holdfast.git.cited_commits.commit_details import Commit, Patch, Touched
from holdfast.model.evidence import is_oid
from holdfast.security.redact import Scanner
from holdfast.store import fsio
from holdfast.store.layout import Layout
from holdfast.values import asdict, frozen, grouped

MAX_PATHS = 64  # of one commit, and:
MAX_LINES = 64  # guesses; a sample of this size identifies a commit in a record of a few kilobytes (docs/adr/0009)
_LIMIT = 1 << 28  # bytes of one file: 256 MiB, a guess; larger ones would fill the memory


@frozen(kw_only=True)
class CommitAnchor:
    """The facts by which a commit is recognised: its ids, its author, and what it changes."""

    commit: str
    tree: str
    parents: tuple[str, ...]
    author: str  # name <mail> time
    committed: int
    title: str  # a hash of its first line
    change_ids: tuple[str, ...]
    patch_id: str | None
    paths: tuple[Touched, ...]  # at most MAX_PATHS
    lines: tuple[str, ...]  # at most MAX_LINES, those with the smallest hashes: a fair sample
    weight: int

    @property
    def authored(self) -> int:
        return int(self.author.rpartition(" ")[2])

    @property
    def names(self) -> frozenset[str]:
        return frozenset(path for path, _, _ in self.paths)


def anchor_of(commit: Commit, patch: Patch) -> CommitAnchor:
    """Returns the facts to store about a commit."""
    same: dict[str, Any] = {name: getattr(commit, name) for name in ("tree", "parents", "author", "committed", "title")}
    same |= {name: getattr(patch, name) for name in ("patch_id", "weight")}
    return CommitAnchor(
        **same,
        commit=commit.oid,
        change_ids=tuple(sorted(commit.change_ids)),
        paths=patch.paths[:MAX_PATHS],
        lines=tuple(sorted(patch.lines, key=lambda line: line[1:])[:MAX_LINES]),
    )


def save(layout: Layout, anchors: Iterable[CommitAnchor], scan: Scanner) -> None:
    """Stores anchors; durable on return. Leaves out a path or an author's name with a secret in it."""
    new = grouped((_shard(layout, anchor.commit), anchor) for anchor in anchors)
    if not new:
        return
    fsio.make_dirs(layout.anchors)
    with fsio.locked(os.path.join(layout.anchors, "lock")):
        for path, some in new.items():
            known = _records(layout, path)
            if any(anchor.commit not in known for anchor in some):
                rows = known | {anchor.commit: _plain(anchor, scan) for anchor in some}
                fsio.replace(path, b"".join(_row(rows[oid]) for oid in sorted(rows)))


def load(layouts: Iterable[Layout], oids: Iterable[str]) -> dict[str, CommitAnchor]:
    """Returns the anchors of these commits; leaves out damaged records."""
    wanted = set(oids)
    shards = ((layout, path) for layout in layouts for path in sorted({_shard(layout, oid) for oid in wanted}))
    rows = (row for layout, path in shards for row in _records(layout, path).items())
    found = ((oid, _parsed(record)) for oid, record in rows if oid in wanted)
    return {oid: anchor for oid, anchor in found if anchor is not None}


def missing(layout: Layout, oids: Iterable[str]) -> list[str]:
    """Returns the commits among these that have no record yet."""
    wanted = list(dict.fromkeys(oids))
    known = {oid for path in {_shard(layout, oid) for oid in wanted} for oid in _records(layout, path)}
    return [oid for oid in wanted if oid not in known]


def _shard(layout: Layout, oid: str) -> str:
    return os.path.join(layout.anchors, f"{oid[:2]}.jsonl")


def _records(layout: Layout, path: str) -> dict[str, dict[str, Any]]:
    try:
        data = fsio.read(path, limit=_LIMIT)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (UnsafePath, TooLarge) as error:
        layout.leave_out(error)
        return {}
    found = {}
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line:
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if isinstance(record, dict) and isinstance(record.get("commit"), str) and is_oid(record["commit"]):
            found[record["commit"]] = record
        else:
            layout.leave_out(f"{path}:{number} is not a record of a commit")
    return found


def _row(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode("ascii") + b"\n"


def _plain(anchor: CommitAnchor, scan: Scanner) -> dict[str, Any]:
    """Returns a record without secrets: an address or a path may contain one, hashes cannot."""
    record = asdict(anchor)
    if scan.text("\n".join((anchor.author, *anchor.names))) != "\n".join((anchor.author, *anchor.names)):
        record["paths"] = [row for row in anchor.paths if scan.text(row[0]) == row[0]]
        if scan.text(anchor.author) != anchor.author:
            record["author"] = f" <> {anchor.authored}"
    return record


def _parsed(record: Mapping[str, Any]) -> CommitAnchor | None:
    """Parses a record; None if it is damaged or of an unknown form."""
    try:
        fields: dict[str, Any] = {name: _text(record[name]) for name in ("commit", "tree", "author", "title")}
        fields |= {name: tuple(map(_text, record[name])) for name in ("parents", "change_ids", "lines")}
        fields |= {name: int(record[name]) for name in ("committed", "weight")}
        fields["patch_id"] = None if record["patch_id"] is None else _text(record["patch_id"])
        paths = tuple((_text(path), _text(old), _text(new)) for path, old, new in record["paths"])
        anchor = CommitAnchor(**fields, paths=paths)
        int(anchor.authored)
    except (KeyError, TypeError, ValueError):
        return None
    return anchor


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value
