"""Changes that wait to be published, and those that were.

A change names a tracked path, what it was based on and what it becomes. It waits in `pending/`
until its blob is in a commit of its line, then lies in `sealed/changes/` for good: that is how a
clone knows what it once published, whatever later happens to history.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator
from typing import Any

from holdfast.errors import CorruptLog, FutureFormat, UnsafePath
from holdfast.model.ids import token
from holdfast.patterns import regex
from holdfast.store import fsio, loose_records
from holdfast.store.layout import APPROVALS, FOLDER_OF, LINKS, LOG, TASKS, Layout
from holdfast.values import asdict, frozen, replace

MAX_RECORD = 8 << 20
_PART = r"(?![.-])[^/\\\x00-\x1f\x7f]{1,250}"
_ENTRY = regex(rf"(?:{'|'.join(map(re.escape, (*FOLDER_OF.values(), TASKS, LINKS)))})(?:/{_PART})+\.md")
_SEGMENT = regex(rf"{re.escape(LOG)}/\d{{4}}/\d\d/\d\d/([0-9a-f]{{32}})\.jsonl", re.ASCII)
_PROOF = regex(rf"{re.escape(APPROVALS)}/[A-Za-z0-9][A-Za-z0-9._-]{{0,95}}/[0-9a-f]{{64}}", re.ASCII)
_OID = regex(r"[0-9a-f]{40}|[0-9a-f]{64}")
_TS = regex(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z", re.ASCII)
_LINE = regex(r"[0-9A-Za-z][0-9A-Za-z_-]{0,63}")


@frozen
class PendingChange:
    """One tracked path's next content; no blob means the path goes away."""

    path: str
    base: str | None
    blob: str | None
    line: str
    head: str | None
    ts: str
    text: str | None = None
    segment: str | None = None  # a sealed segment's text lies in sealed/log under this name
    name: str = ""
    published: dict[str, str] | None = None
    extra: tuple[tuple[str, Any], ...] = ()  # fields of a later version, kept when it is archived

    @property
    def key(self) -> str:
        """What stays the same when a change is archived under another name."""
        return self.name.rsplit("-", 1)[-1]


_FIELDS = ("path", "base", "blob", "line", "head", "ts", "text", "segment", "published")


def name_for(ts: str) -> str:
    """A file name that sorts by time and never clashes."""
    return f"{_compact(ts)}Z-{token(10)}"


def _compact(ts: str) -> str:
    return ts[:19].replace("-", "").replace(":", "")


def add(layout: Layout, change: PendingChange) -> PendingChange:
    """Keep a change, durable on return."""
    refuse_foreign(change.path)
    named = replace(change, name=name_for(change.ts))
    fsio.make_dirs(layout.pending)
    _write(os.path.join(layout.pending, f"{named.name}.json"), named)
    return named


def waiting(layout: Layout) -> list[PendingChange]:
    """Every change not yet published, on any line, oldest first."""
    found = loose_records.sound(layout, read, _paths(layout, layout.pending))
    return sorted(found, key=lambda change: (change.ts, change.name))


def published(layout: Layout, *, since: str = "") -> list[PendingChange]:
    """Every change this clone published, oldest first; `since` leaves out what was published before it.

    Archived names begin with the time of publishing, so that only what is asked for is read.
    """
    found = loose_records.sound(layout, read, _paths(layout, layout.sealed_changes, since=_compact(since)))
    return sorted(found, key=lambda c: ((c.published or {}).get("ts", ""), c.ts, c.name))


def archive(layout: Layout, change: PendingChange, *, commit: str | None, ts: str, aside: str | None = None) -> None:
    """A change is in a commit of its line, or superseded there: keep a copy and stop waiting.

    `aside` says that somebody set it aside, and what waits instead: it can be brought back.
    """
    marks = {"commit": commit or "", "ts": ts, **({"aside": aside} if aside is not None else {})}
    _keep(layout, replace(change, published=marks), f"{_compact(ts)}Z-{change.key}")
    drop(layout, change)


def note(layout: Layout, change: PendingChange, line: str, *, commit: str | None, ts: str) -> None:
    """Keep a change as published on a line that had inherited it; it stays the same change."""
    done = replace(change, line=line, published={"commit": commit or "", "ts": ts})
    _keep(layout, done, f"{_compact(ts)}Z-{token(6)}-{change.key}")


def _keep(layout: Layout, change: PendingChange, name: str) -> None:
    fsio.make_dirs(layout.sealed_changes)
    _write(os.path.join(layout.sealed_changes, f"{name}.json"), change)


def drop(layout: Layout, change: PendingChange) -> None:
    """Stop waiting for a change."""
    fsio.remove(os.path.join(layout.pending, f"{change.name}.json"))


def forget_published(layout: Layout, change: PendingChange) -> None:
    """Erase the archived copy of a change."""
    fsio.remove(os.path.join(layout.sealed_changes, f"{change.name}.json"))


def _write(path: str, change: PendingChange) -> None:
    record = {key: value for key, value in asdict(change).items() if key not in ("name", "extra")}
    record |= dict(change.extra)
    fsio.replace(path, json.dumps(record, ensure_ascii=False, indent=1).encode("utf-8") + b"\n")


def is_publishable(path: str) -> bool:
    """Whether a change may name this path: an entry, a proof of its approval, or a segment of the log."""
    return any(shape.fullmatch(path) for shape in (_ENTRY, _SEGMENT, _PROOF))


def refuse_foreign(path: str) -> None:
    """UnsafePath if no change may name this path."""
    if not is_publishable(path):
        raise UnsafePath(f"{path!r} is no path of the memory", hint="Only entries and the log can change.")


def foreign_path(data: bytes) -> str | None:
    """The path that a record names and none of ours may; None if it is in order, or says nothing at all."""
    try:
        path = json.loads(data)["path"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return None if isinstance(path, str) and is_publishable(path) else str(path)


def damaged(layout: Layout) -> Iterator[tuple[str, CorruptLog | FutureFormat]]:
    """Every record that does not count, with the reason."""
    folders = (layout.pending, layout.sealed_changes)
    return loose_records.damaged(read, (path for folder in folders for path in _paths(layout, folder)))


def _paths(layout: Layout, folder: str, *, since: str = "") -> Iterator[str]:
    return (os.path.join(folder, name) for name in layout.listed(folder, ".json") if name >= since)


def read(path: str) -> PendingChange:
    """One record; CorruptLog says why it does not count."""
    with loose_records.judging(path, " is not a record of a change"):
        record = json.loads(fsio.read(path, limit=MAX_RECORD))
        if not isinstance(record, dict):
            raise ValueError("it is no object")
        known = {name: record.pop(name) for name in _FIELDS if name in record}
        name = os.path.basename(path).removesuffix(".json")
        change = PendingChange(**{**known, "name": name, "extra": tuple(record.items())})
        check(change)
    return change


def check(change: PendingChange) -> None:
    """Say by ValueError in what a change contradicts itself."""
    words = (change.path, change.line, change.ts)
    maybe = (change.base, change.blob, change.head, change.text, change.segment)
    if not all(isinstance(word, str) for word in words + tuple(w for w in maybe if w is not None)):
        raise ValueError("its fields are not texts")
    if not is_publishable(change.path):
        raise ValueError(f"{change.path!r} is no path of the memory")
    oids = [oid for oid in (change.base, change.blob, change.head) if oid is not None]
    if not all(map(_OID.fullmatch, oids)):
        raise ValueError("it does not name objects of git")
    if not _LINE.fullmatch(change.line) or not _TS.fullmatch(change.ts):
        raise ValueError("its line or its time is no such thing")
    published: Any = change.published or {}
    if not isinstance(published, dict) or not all(isinstance(word, str) for word in published.values()):
        raise ValueError("it does not say where it was published")
    _check_content(change)


def _check_content(change: PendingChange) -> None:
    """The path, the text and the blob must tell the same story, or somebody changed one of them."""
    segment = _SEGMENT.fullmatch(change.path)
    if (segment[1] if segment else None) != change.segment:
        raise ValueError("its path and its segment differ")
    if change.segment is not None and (change.text, change.blob) != (None, None):
        raise ValueError("a segment's bytes do not belong here")
    if change.text is None and change.blob is not None:
        raise ValueError("its text is missing")
    gone = change.blob is None and change.published is not None  # a hook took the path out of the commit
    if change.text is not None and not gone and _blob(change.text, like=change.blob or "") != change.blob:
        raise ValueError("its text was changed: it is not the blob it names")


def _blob(text: str, *, like: str) -> str:
    """Git's name for a text, in the kind of hash that `like` is."""
    data = text.encode("utf-8")
    kind = "sha256" if len(like) == 64 else "sha1"
    return hashlib.new(kind, b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
