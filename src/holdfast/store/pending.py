"""Changes that wait to be published, and those that were.

A change names a tracked path, what it was based on and what it becomes. It waits in `pending/`
until its blob is in a commit of its line, then lies in `sealed/changes/` for good: that is how a
clone knows what it once published, whatever later happens to history.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from holdfast.errors import CorruptLog
from holdfast.model.ids import token
from holdfast.store import fsio
from holdfast.store.layout import Layout

MAX_RECORD = 8 << 20


@dataclass(frozen=True, slots=True)
class Change:
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

    @property
    def key(self) -> str:
        """What stays the same when a change is archived under another name."""
        return self.name.rsplit("-", 1)[-1]


def name_for(ts: str) -> str:
    """A file name that sorts by time and never clashes."""
    return f"{_compact(ts)}Z-{token(10)}"


def _compact(ts: str) -> str:
    return ts[:19].replace("-", "").replace(":", "")


def add(layout: Layout, change: Change) -> Change:
    """Keep a change, durable on return."""
    named = replace(change, name=name_for(change.ts))
    fsio.make_dirs(layout.pending)
    _write(os.path.join(layout.pending, f"{named.name}.json"), named)
    return named


def waiting(layout: Layout) -> list[Change]:
    """Every change not yet published, on any line, oldest first."""
    return sorted(_read_all(layout.pending), key=lambda change: (change.ts, change.name))


def published(layout: Layout, *, since: str = "") -> list[Change]:
    """Every change this clone published, oldest first; `since` leaves out what was published before it.

    Archived names begin with the time of publishing, so that only what is asked for is read.
    """
    found = _read_all(layout.sealed_changes, since=_compact(since))
    return sorted(found, key=lambda c: ((c.published or {}).get("ts", ""), c.ts, c.name))


def archive(layout: Layout, change: Change, *, commit: str | None, ts: str) -> None:
    """A change is in a commit of its line, or superseded there: keep a copy and stop waiting."""
    _keep(layout, change, f"{_compact(ts)}Z-{change.key}", commit=commit, ts=ts)
    drop(layout, change)


def note(layout: Layout, change: Change, line: str, *, commit: str | None, ts: str) -> None:
    """Keep a change as published on a line that had inherited it; it stays the same change."""
    name = f"{_compact(ts)}Z-{token(6)}-{change.key}"
    _keep(layout, replace(change, line=line), name, commit=commit, ts=ts)


def _keep(layout: Layout, change: Change, name: str, *, commit: str | None, ts: str) -> None:
    fsio.make_dirs(layout.sealed_changes)
    done = replace(change, published={"commit": commit or "", "ts": ts})
    _write(os.path.join(layout.sealed_changes, f"{name}.json"), done)


def drop(layout: Layout, change: Change) -> None:
    """Stop waiting for a change."""
    fsio.remove(os.path.join(layout.pending, f"{change.name}.json"))


def forget_published(layout: Layout, change: Change) -> None:
    """Erase the archived copy of a change."""
    fsio.remove(os.path.join(layout.sealed_changes, f"{change.name}.json"))


def _write(path: str, change: Change) -> None:
    record = {key: value for key, value in asdict(change).items() if key != "name"}
    fsio.replace(path, json.dumps(record, ensure_ascii=False, indent=1).encode("utf-8") + b"\n")


def _read_all(folder: str, *, since: str = "") -> Iterator[Change]:
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".json") and name >= since)
    except FileNotFoundError:
        return
    for name in names:
        try:
            data = fsio.read(os.path.join(folder, name), limit=MAX_RECORD)
        except FileNotFoundError:  # another command published it just now
            continue
        yield _parse(data, os.path.join(folder, name), name[:-5])


def _parse(data: bytes, path: str, name: str) -> Change:
    try:
        record: dict[str, Any] = json.loads(data)
        return Change(name=name, **record)
    except (ValueError, TypeError) as error:
        raise CorruptLog(f"{path} is not a record of a change: {error}") from error
