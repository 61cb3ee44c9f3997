"""The sources visible here, as units the index can compare with its own, and their text.

Reading is bounded and checked: a segment that does not match its name, an altered body and an unreadable entry are left
out and reported in the notes.
"""

import json.decoder
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cached_property
from itertools import islice
from typing import Any

from holdfast.errors import BrokenEntry, FutureFormat, HoldfastError
from holdfast.git import file_entries
from holdfast.git.clone import Clone
from holdfast.git.visible_entries import Source
from holdfast.index.search_rows import CAPSULE, MAX_TURNS
from holdfast.index.turn_steps import with_steps
from holdfast.model.event import timestamp
from holdfast.model.memory import Candidate, Memory
from holdfast.model.session import Session, from_json
from holdfast.model.task import Task
from holdfast.patterns import regex
from holdfast.store import capsule, fsio, memory_files, session_files, task_files
from holdfast.store import layout as paths
from holdfast.store.format import MAX_BODY, SALT_BYTES, body_name, segment_name
from holdfast.store.log import MAX_SPOOL, first_event
from holdfast.values import frozen

BLOBS_AT_ONCE = 32  # a guess: bounds the memory of one batch
TURNS, CYCLES = "outputs/turns.jsonl", "cycles.jsonl"  # of a capsule
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_scan = json.decoder.JSONDecoder().raw_decode
_WHERE = regex(rb'\n "line": "([^"]+)"')
_WHEN = regex(rb'\n "updated": \{\s*"ts": "([^"]+)"')
FEW = 4  # new units; a guess: for more it is cheaper to list the bodies once than to look for each


@frozen
class IndexUnit:
    """One source of rows: a piece of the log, a memory, a task or a session. Equal names, equal content."""

    name: str
    kind: str  # segment, spool, entry, edit (by hand), clash, candidate, task or session
    until: str | None = None
    source: Source | None = None
    text: str | None = None  # for units that are not pieces of the log
    path: str = ""
    blob: str = ""
    line: int = 1  # of the file, where a memory starts


def visible_units(clone: Clone) -> Iterator[IndexUnit]:
    """Yields everything that can be found from this work tree on its line (a line is a branch's work)."""
    for source in clone.sources():
        if source.kind == "segment":
            yield IndexUnit(f"s:{source.key}", source.kind, source.until, source)
        elif beginning := first_event(source.path or ""):
            # After sealing, a writer starts a new file with the old name; its first event distinguishes them.
            yield IndexUnit(f"p:{source.key}@{beginning}", source.kind, source.until, source)
    yield from map(_entry, file_entries.placed(clone.repo, clone.entries()))
    line = clone.line()
    for path in [path for store in clone.stores for path in _files(store.candidates, ".md")]:
        try:
            data = fsio.read(path, limit=memory_files.MAX_ENTRY)
            text = data.decode("utf-8", "replace")
            memory = memory_files.parse(text, path)
            written = timestamp(datetime.fromtimestamp(os.lstat(path).st_mtime, UTC))
        except (HoldfastError, FileNotFoundError):
            continue  # `review list` reports a broken one
        if isinstance(memory, Candidate) and line.sees(memory.line, written):
            yield IndexUnit(f"c:{path}@{clone.repo.hash_blob(data)}", "candidate", text=text)
    for sighting in clone.entries(paths.TASKS):
        clash = "" if sighting.clash is None else "!clash"
        name = f"t:{sighting.path}@{sighting.blob}{clash}"
        yield IndexUnit(name, "task", text=sighting.text, path=sighting.path, blob=sighting.blob)
    yield from _sessions(clone)


def _entry(placed: file_entries.FileEntry) -> IndexUnit:
    """Returns a memory's unit; each of several in one file has its own, named by its position."""
    seen, file = placed.sighting, placed.file
    kind = "clash" if seen.clash is not None else "edit" if seen.origin == "edit" else "entry"
    name = f"e:{seen.path}@{file.blob}" + ("" if file is seen else f"#{placed.start}")
    name = name if kind == "entry" else f"{name}!{kind}"
    return IndexUnit(name, kind, text=seen.text, path=seen.path, blob=seen.blob, line=placed.line)


def own_units(clone: Clone) -> Iterator[IndexUnit]:
    """Yields every piece of the log that this clone recorded, on any line."""
    for source in clone.own_files():
        if source.kind == "segment":
            yield IndexUnit(f"s:{source.key}", "segment", source=source)
        elif source.path and (beginning := first_event(source.path)):
            yield IndexUnit(f"p:{source.key}@{beginning}", "spool", source=source)


def _sessions(clone: Clone) -> Iterator[IndexUnit]:
    """Yields this clone's own sessions on visible lines; only new texts are parsed later."""
    line, names = clone.line(), set()
    for path in [path for store in clone.stores for path in _files(store.sessions, ".json")]:
        try:
            data = fsio.read(path, limit=session_files.MAX_FILE)
        except (HoldfastError, FileNotFoundError):
            continue  # `session list` and `doctor` report a broken one
        name, where, when = os.path.basename(path), _WHERE.search(data), _WHEN.search(data)
        if (
            where
            and when
            and name not in names
            and line.sees(*(one[1].decode("ascii", "replace") for one in (where, when)))
        ):
            names.add(name)  # the first store's file counts
            yield IndexUnit(f"n:{name}@{clone.repo.hash_blob(data)}", "session", text=data.decode("utf-8", "replace"))


def _files(folder: str, ending: str) -> list[str]:
    try:
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(ending)]
    except FileNotFoundError:
        return []


class UnitTexts:
    """Reads the log's pieces and the bodies of events, if they are here and not erased."""

    def __init__(self, clone: Clone, erased: set[str], notes: list[str]) -> None:
        self._clone, self._erased, self._notes = clone, erased, notes
        self.hide = clone.hide  # events were scanned when they were recorded; entries come from anywhere
        self._folders = [os.path.join(store.bodies, "") for store in clone.stores]
        self._listed: set[str] | None = None

    def unread(self, units: list[IndexUnit], have: dict[str, int]) -> Iterator[tuple[IndexUnit, bytes]]:
        """Yields each piece of the log that the index does not have completely, with the missing bytes."""
        if sum(unit.name not in have for unit in units) > FEW:
            self._listed = self._body_names()
        in_git = []
        for unit in units:
            if unit.source is None or (unit.kind == "segment" and unit.name in have):
                continue
            if unit.source.path is None:
                in_git.append((unit, unit.source))
            elif data := self._file(unit.source, unit.source.path, have.get(unit.name, 0)):
                yield unit, data
        yield from self._from_git(in_git)

    def _from_git(self, wanted: list[tuple[IndexUnit, Source]]) -> Iterator[tuple[IndexUnit, bytes]]:
        for start in range(0, len(wanted), BLOBS_AT_ONCE):
            batch = wanted[start : start + BLOBS_AT_ONCE]
            texts = self._clone.repo.blobs(source.blob for _, source in batch if source.blob)
            for unit, source in batch:
                data = texts.get(source.blob or "")
                if data is not None and self._is_whole(source, data):
                    yield unit, data

    def _file(self, source: Source, path: str, offset: int) -> bytes:
        """Returns a file of the store: a whole segment, or a spool from where reading stopped."""
        try:
            if source.kind == "spool" and os.lstat(path).st_size == offset:
                return b""
            data = fsio.read(path, limit=MAX_SPOOL)
        except FileNotFoundError:  # sealed by another command meanwhile: its segment contains the events
            return b""
        except HoldfastError as error:
            self._notes.append(f"left out: {error}")
            return b""
        return (data[offset:]) if (source.kind == "spool") else (data if self._is_whole(source, data) else b"")

    def _is_whole(self, source: Source, data: bytes) -> bool:
        """Whether a segment's content matches its name: only proven content goes into the index."""
        if segment_name(data) == source.key:
            return True
        self._notes.append(f"left out: segment {source.key} does not match its name; run `holdfast doctor`")
        return False

    def memory(self, unit: IndexUnit) -> Memory | None:
        """Returns the memory of a unit; None if its text cannot be read or was erased."""
        try:
            found = memory_files.parse(unit.text or "", unit.path, line=unit.line)
            return None if found.id in self._erased else found
        except BrokenEntry as error:
            self._notes.append(f"left out: {error}")
            return None

    def task(self, unit: IndexUnit) -> Task | None:
        """Returns the task of a unit; None if its text cannot be read or was erased."""
        try:
            found = task_files.parse(unit.text or "", unit.path)
            return None if found.id in self._erased else found
        except BrokenEntry:
            return None  # every command that shows tasks reports it

    def session(self, unit: IndexUnit) -> Session | None:
        """Returns the session of a unit; None if its text cannot be read or was erased."""
        try:
            found = from_json(unit.text or "")
            return None if found.id in self._erased else found
        except (ValueError, FutureFormat):
            return None

    def body(self, found: re.Match[bytes]) -> tuple[dict[str, Any] | None, bool]:
        """Returns the body of an event, and whether it is missing but may arrive."""
        if found[15] is None or self._is_erased(found):
            return None, False
        name = found[15].decode("ascii")
        stored = self._stored(name) if self._listed is None or name in self._listed else None
        if stored is None:
            return None, True
        if body_name(stored) != name:
            self._notes.append(f"left out: body {name} was altered; run `holdfast doctor`")
            return None, False
        body, _ = _scan(stored[SALT_BYTES:].decode("utf-8"))  # its name proves that it is what we wrote
        return body if isinstance(body, dict) else None, False

    def _stored(self, name: str) -> bytes | None:
        """Returns a body's bytes; its name proves them, so the file itself needs no check."""
        for folder in self._folders:
            try:
                fd = os.open(f"{folder}{name}", _READ)
            except FileNotFoundError:
                continue
            except OSError:  # a link, or not allowed
                return b""
            try:
                # A larger first read would cost more than most bodies have bytes.
                data = os.read(fd, 4096)
                while 4096 <= len(data) <= SALT_BYTES + MAX_BODY and (more := os.read(fd, 1 << 17)):
                    data += more
                return data
            except OSError:
                return b""
            finally:
                os.close(fd)
        return None

    def _is_erased(self, found: re.Match[bytes]) -> bool:
        """Whether somebody erased the event, its run, or its memory."""
        names = (found[1], found[5], found[9])
        return bool(self._erased) and any(name and name.decode("ascii") in self._erased for name in names)

    def turns(self, found: re.Match[bytes], body: Mapping[str, Any] | None) -> list[dict[str, Any]] | None:
        """Returns the turns of a run; None if its capsule should be here and is missing."""
        if not body or found[4] != b"run" or found[9] is None:
            return []
        folder = self._capsules.get(found[9].decode("ascii"))
        if folder is None:
            return None if "output_sha256" in body else []
        turns = list(islice(capsule.read_rows(folder, TURNS), MAX_TURNS))
        return with_steps(turns, capsule.read_rows(folder, CYCLES)) if turns else turns

    def began(self, found: re.Match[bytes]) -> Mapping[str, Any]:
        """Returns what a run's capsule recorded at its start: agent, model, purpose."""
        return capsule.read_context(self._capsules.get((found[9] or b"").decode("ascii")))

    @cached_property
    def _capsules(self) -> dict[str, str]:
        """Returns every capsule's folder by run id; listed once, because most events are not of our runs."""
        return {name: store.run(name) for store in reversed(self._clone.stores) for name in store.listed(store.runs)}

    def arrived(self, lacking: set[str]) -> set[str]:
        """Returns which of these missing bodies and capsules are here now: an import may bring them later."""
        if not lacking:
            return set()
        self._listed = self._body_names()
        come = {name for name in lacking if name.startswith(CAPSULE) and name[len(CAPSULE) :] in self._capsules}
        return (lacking & self._listed) | come

    def gone(self, indexed: Iterable[str]) -> set[str]:
        """Returns which of these indexed runs have no capsule any more."""
        runs = set(indexed)
        return runs - self._capsules.keys() if runs else runs

    def _body_names(self) -> set[str]:
        return {name for store in self._clone.stores for name in store.listed(store.bodies)}
