"""Changes that wait to be published, and those that were.

A change names a tracked path, the blob before and the blob after. It waits in `pending/` until a commit of its line
(the id of a branch's work) has its blob, then it stays in `sealed/changes/`: so a clone knows what it published,
whatever later happens to history.
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

MAX_RECORD = 8 << 20  # bytes: a text of MAX_DOCUMENT as JSON, with room for escapes
_PART = r"(?![.-])[^/\\\x00-\x1f\x7f]{1,250}"
_ENTRY = regex(rf"(?:{'|'.join(map(re.escape, (*FOLDER_OF.values(), TASKS, LINKS)))})(?:/{_PART})+\.md")
_SEGMENT = regex(rf"{re.escape(LOG)}/\d{{4}}/\d\d/\d\d/([0-9a-f]{{32}})\.jsonl", re.ASCII)
_PROOF = regex(rf"{re.escape(APPROVALS)}/[A-Za-z0-9][A-Za-z0-9._-]{{0,95}}/[0-9a-f]{{64}}", re.ASCII)
_OID = regex(r"[0-9a-f]{40}|[0-9a-f]{64}")
_TS = regex(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z", re.ASCII)
_LINE = regex(r"[0-9A-Za-z][0-9A-Za-z_-]{0,63}")


@frozen
class PendingChange:
    """One tracked path's next content; no blob means that the path is deleted."""

    path: str
    base: str | None
    blob: str | None
    line: str
    head: str | None
    ts: str
    text: str | None = None
    segment: str | None = None  # a sealed segment's text is in sealed/log under this name
    name: str = ""
    published: dict[str, str] | None = None
    extra: tuple[tuple[str, Any], ...] = ()  # fields of a later version, kept when it is archived

    @property
    def key(self) -> str:
        """The part of the name that stays the same when a change is archived."""
        return self.name.rsplit("-", 1)[-1]


_FIELDS = ("path", "base", "blob", "line", "head", "ts", "text", "segment", "published")


def name_for(ts: str) -> str:
    """Returns a unique file name that sorts by time."""
    return f"{_compact(ts)}Z-{token(10)}"


def _compact(ts: str) -> str:
    return ts[:19].replace("-", "").replace(":", "")


def add(layout: Layout, change: PendingChange) -> PendingChange:
    """Stores a change, durably."""
    refuse_foreign(change.path)
    named = replace(change, name=name_for(change.ts))
    fsio.make_dirs(layout.pending)
    _write(os.path.join(layout.pending, f"{named.name}.json"), named)
    return named


def waiting(layout: Layout) -> list[PendingChange]:
    """Returns every change that is not published, on any line, oldest first."""
    found = loose_records.sound(layout, read, _paths(layout, layout.pending))
    return sorted(found, key=lambda change: (change.ts, change.name))


def published(layout: Layout, *, since: str = "") -> list[PendingChange]:
    """Returns every change that this clone published, oldest first; `since` skips those published before it.

    Archived names begin with the time of publishing, so only the files since then are read.
    """
    found = loose_records.sound(layout, read, _paths(layout, layout.sealed_changes, since=_compact(since)))
    return sorted(found, key=lambda c: ((c.published or {}).get("ts", ""), c.ts, c.name))


def archive(layout: Layout, change: PendingChange, *, commit: str | None, ts: str, aside: str | None = None) -> None:
    """Moves a change to the archive: a commit of its line has it, or another change replaced it.

    `aside`: a person set it aside; it names the change that waits instead, and this one can be restored.
    """
    marks = {"commit": commit or "", "ts": ts, **({"aside": aside} if aside is not None else {})}
    _keep(layout, replace(change, published=marks), f"{_compact(ts)}Z-{change.key}")
    drop(layout, change)


def note(layout: Layout, change: PendingChange, line: str, *, commit: str | None, ts: str) -> None:
    """Records a change as published on a line that inherited it; it keeps its key."""
    done = replace(change, line=line, published={"commit": commit or "", "ts": ts})
    _keep(layout, done, f"{_compact(ts)}Z-{token(6)}-{change.key}")


def _keep(layout: Layout, change: PendingChange, name: str) -> None:
    fsio.make_dirs(layout.sealed_changes)
    _write(os.path.join(layout.sealed_changes, f"{name}.json"), change)


def drop(layout: Layout, change: PendingChange) -> None:
    """Deletes a pending change."""
    fsio.remove(os.path.join(layout.pending, f"{change.name}.json"))


def forget_published(layout: Layout, change: PendingChange) -> None:
    """Deletes the archived copy of a change."""
    fsio.remove(os.path.join(layout.sealed_changes, f"{change.name}.json"))


def _write(path: str, change: PendingChange) -> None:
    record = {key: value for key, value in asdict(change).items() if key not in ("name", "extra")}
    record |= dict(change.extra)
    fsio.replace(path, json.dumps(record, ensure_ascii=False, indent=1).encode("utf-8") + b"\n")


def is_publishable(path: str) -> bool:
    """Whether a change may name this path: an entry, a proof of its approval, or a segment of the log."""
    return any(shape.fullmatch(path) for shape in (_ENTRY, _SEGMENT, _PROOF))


def refuse_foreign(path: str) -> None:
    """Raises UnsafePath if no change may name this path."""
    if not is_publishable(path):
        raise UnsafePath(f"{path!r} is not a path of the memory", hint="Only entries and the log can change.")


def foreign_path(data: bytes) -> str | None:
    """Returns the path of a record if it is not allowed; None if it is allowed, or if there is none."""
    try:
        path = json.loads(data)["path"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return None if isinstance(path, str) and is_publishable(path) else str(path)


def damaged(layout: Layout) -> Iterator[tuple[str, CorruptLog | FutureFormat]]:
    """Yields every damaged record, with the reason."""
    folders = (layout.pending, layout.sealed_changes)
    return loose_records.damaged(read, (path for folder in folders for path in _paths(layout, folder)))


def _paths(layout: Layout, folder: str, *, since: str = "") -> Iterator[str]:
    return (os.path.join(folder, name) for name in layout.listed(folder, ".json") if name >= since)


def read(path: str) -> PendingChange:
    """Reads one record; raises CorruptLog with the reason if it is damaged."""
    with loose_records.judging(path, " is not a record of a change"):
        record = json.loads(fsio.read(path, limit=MAX_RECORD))
        if not isinstance(record, dict):
            raise ValueError("it is not an object")
        known = {name: record.pop(name) for name in _FIELDS if name in record}
        name = os.path.basename(path).removesuffix(".json")
        change = PendingChange(**{**known, "name": name, "extra": tuple(record.items())})
        check(change)
    return change


def check(change: PendingChange) -> None:
    """Raises ValueError with the reason if a change is not consistent."""
    words = (change.path, change.line, change.ts)
    maybe = (change.base, change.blob, change.head, change.text, change.segment)
    if not all(isinstance(word, str) for word in words + tuple(w for w in maybe if w is not None)):
        raise ValueError("its fields are not texts")
    if not is_publishable(change.path):
        raise ValueError(f"{change.path!r} is not a path of the memory")
    oids = [oid for oid in (change.base, change.blob, change.head) if oid is not None]
    if not all(map(_OID.fullmatch, oids)):
        raise ValueError("it does not name objects of git")
    if not _LINE.fullmatch(change.line) or not _TS.fullmatch(change.ts):
        raise ValueError("its line or its time is invalid")
    published: Any = change.published or {}
    if not isinstance(published, dict) or not all(isinstance(word, str) for word in published.values()):
        raise ValueError("its `published` field is invalid")
    _check_content(change)


def _check_content(change: PendingChange) -> None:
    """Checks that the path, the text and the blob match: otherwise somebody changed one of them."""
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
    """Returns git's blob hash of a text, SHA-1 or SHA-256 as in `like`."""
    data = text.encode("utf-8")
    kind = "sha256" if len(like) == 64 else "sha1"
    return hashlib.new(kind, b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
