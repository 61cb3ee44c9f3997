"""The files of an agent's workspace, cycle by cycle: snapshots, what differs, and how a folder gets them back.

A snapshot writes a row for each file that changed since the one before it, and the pieces of content that the store
does not have yet, each under its hash. Pieces become durable first and the rows in one transaction after them, so a
process that is killed leaves the last snapshot whole and at most pieces that nobody names; `sweep` takes these away.

That nothing outside the folder is read or written is the business of `store.confined_folder`. Files that hold a
secret are left out of a snapshot, and said.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any

import sqlalchemy as sa

from holdfast.agent_store import agent_cycles
from holdfast.agent_store.database import AgentDatabase, StoreTransaction
from holdfast.agent_store.tables import CHUNK, FILE, SNAPSHOT, WORKSPACE, to_json
from holdfast.errors import BadInput, Busy, NoDatabase, NotFound
from holdfast.model.agent_entities import (
    AgentIdentity,
    WorkspaceDiff,
    WorkspaceFile,
    WorkspaceRestored,
    WorkspaceSnapshot,
)
from holdfast.store.confined_folder import (
    CHUNK_SIZE,
    ConfinedFolder,
    FileRefused,
    FolderReading,
    read_folder,
    refuse_unsafe,
)

BATCH = 4 << 20  # bytes that become durable, or are fetched, together
ASKED = 500  # hashes in one question: engines limit how many values a statement has
TRIES = 3  # for pieces that are swept away before the rows that name them are there
GRACE = 3600 * agent_cycles.MICROS  # a piece that nobody names may be of a snapshot that is being made
Files = dict[str, WorkspaceFile]


class Workspace:
    """A folder that an agent works in, as this process and the store know it."""

    def __init__(
        self,
        store: AgentDatabase,
        agent: AgentIdentity,
        name: str,
        folder: str | None,
        *,
        holder: str,
        is_clean: Callable[[bytes], bool] = lambda _: True,
    ) -> None:
        if not name or len(name) > 80 or not name.isprintable():
            raise BadInput("a workspace has a short name, such as main")
        self.name, self.folder = name, None if folder is None else os.path.abspath(folder)
        self._store, self._agent, self._holder, self._is_clean = store, agent, holder, is_clean
        # Made of what it is: two processes that begin it at once begin the same one.
        self.id = hashlib.sha256(to_json([agent.id, name]).encode()).hexdigest()[:32]

    def snapshot(self, cycle: int) -> WorkspaceSnapshot:
        """Keep the folder as it is as what a cycle left; durable on return. Again in the same cycle, it replaces it."""
        for _ in range(TRIES):  # pieces that were swept away meanwhile are put again
            known = self._store.run(lambda tx: _files_at(tx, self.id, cycle), read=True)
            sink = _ChunkSink(self._store, known.values(), self._is_clean)
            with ConfinedFolder(self._place()) as folder:
                reading = read_folder(folder, sink.take)
            sink.flush()
            made = self._store.run(partial(self._keep, cycle=cycle, reading=reading))
            if made is not None:
                return made
        raise Busy(f"the pieces of {self.name} are removed as fast as they are stored")

    def _keep(self, tx: StoreTransaction, *, cycle: int, reading: FolderReading) -> WorkspaceSnapshot | None:
        """Write what changed; None if a piece is not there."""
        now = agent_cycles.take(tx, self._agent, self._holder)
        if not 0 <= cycle < now.cycles:
            raise BadInput(f"{now.name} has no cycle {cycle}", hint="Take a snapshot after `cycle.propose(...)`.")
        if (last := _last_snapshot(tx, self.id)) is not None and last > cycle:
            raise BadInput(f"{self.name} has a snapshot of cycle {last}, so that of cycle {cycle} stays as it is")
        before = _files_at(tx, self.id, cycle - 1)
        new = [file for path, file in reading.files.items() if before.get(path) != file]
        gone = [WorkspaceFile(path, 0, 0) for path in before if path not in reading.files]
        if _missing(tx, new):
            return None
        tx.insert_new(WORKSPACE, {"id": self.id, "agent_id": now.id, "name": self.name, "created": tx.now})
        tx.delete(FILE, FILE.c.workspace_id == self.id, FILE.c.cycle == cycle)
        key = {"workspace_id": self.id, "cycle": cycle}
        tx.insert(FILE, *({**key, **_row(file)} for file in (*new, *gone)))
        size = sum(file.size for file in reading.files.values())
        facts = {"files": len(reading.files), "size": size, "skipped": [list(one) for one in reading.skipped]}
        tx.upsert(SNAPSHOT, {**key, "created": tx.now, **facts})
        return WorkspaceSnapshot(
            workspace=self.name,
            cycle=cycle,
            files=len(reading.files),
            size=size,
            changed=len(new) + len(gone),
            skipped=tuple(reading.skipped),
            unsteady=tuple(reading.unsteady),
        )

    def snapshots(self) -> list[WorkspaceSnapshot]:
        """The snapshots so far, in their order."""
        asked = SNAPSHOT.select().where(SNAPSHOT.c.workspace_id == self.id).order_by(SNAPSHOT.c.cycle)
        rows = self._store.run(lambda tx: tx.all(asked.where(tx.of(SNAPSHOT))), read=True)
        return [_snapshot(self.name, row) for row in rows]

    def files(self, cycle: int) -> Files:
        """What the folder held at the end of a cycle, by path: by its snapshot, or the last one before it."""
        return self._at(cycle)[1]

    def diff(self, cycle: int, other: int | None = None) -> WorkspaceDiff:
        """What differs between a cycle and a later one, or the folder as it is now."""
        before = self.files(cycle)
        if other is not None:
            return differences(before, self.files(other))
        with ConfinedFolder(self._place()) as folder:
            return differences(before, read_folder(folder, _digest).files)

    def changes(self, cycle: int) -> WorkspaceDiff:
        """What changed in a cycle: between the snapshot before it and its own."""
        after = self.files(cycle)
        return differences(self._store.run(lambda tx: _files_at(tx, self.id, cycle - 1), read=True), after)

    def read(self, cycle: int, path: str) -> bytes:
        """The content of one file, or where a link leads, at the end of a cycle."""
        file = self.files(cycle).get(path)
        if file is None or stat.S_ISDIR(file.mode):
            raise NotFound(f"{self.name} has no file {path!r} in cycle {cycle}")
        return b"".join(content for _, content in _contents(self._store, [file]))

    def restore(
        self, cycle: int, into: str | None = None, *, clean: bool = False, only: Sequence[str] = ()
    ) -> WorkspaceRestored:
        """Give a folder the files of a cycle; with `clean` it loses what the snapshot does not have.

        `only`: these paths, and what is below them. Names that some file systems take for one are refused. Killed
        anywhere, the same call again finishes it.
        """
        if clean and only:
            raise BadInput("`clean` is for a whole workspace, not for some of its files")
        snapshot, files = self._at(cycle)
        wanted = {path: file for path, file in files.items() if not only or _is_below(path, only)}
        if only and not wanted:
            raise NotFound(f"{self.name} has none of these files in cycle {cycle}")
        refuse_unsafe(wanted)
        if lost := self._store.run(lambda tx: _missing(tx, wanted.values()), read=True):
            raise _damaged(f"{len(lost)} pieces of {self.name} are missing")
        place = self._place() if into is None else os.path.abspath(into)
        with ConfinedFolder(place, make=True) as folder:
            reading = read_folder(folder, _digest)
            plan = _Plan(wanted, reading, {path for path, _ in snapshot.skipped}, clean=clean)
            removed = [path for path in plan.remove if folder.remove(path)]
            for path in reading.leftovers:
                folder.remove(path)
            _write(folder, self._store, plan.write)
        gone, done = set(removed), {file.path for file in plan.write}
        return WorkspaceRestored(
            cycle=snapshot.cycle,
            folder=place,
            written=tuple(sorted(done)),
            removed=tuple(sorted(gone)),
            left=tuple(sorted(set(plan.extra) - gone - done)) if not only else (),
            skipped=snapshot.skipped,
        )

    def _at(self, cycle: int) -> tuple[WorkspaceSnapshot, Files]:
        def looked(tx: StoreTransaction) -> tuple[Any, Files]:
            where = (tx.of(SNAPSHOT), SNAPSHOT.c.workspace_id == self.id, SNAPSHOT.c.cycle <= cycle)
            row = tx.one(SNAPSHOT.select().where(*where).order_by(SNAPSHOT.c.cycle.desc()).limit(1))
            return row, _files_at(tx, self.id, cycle)

        row, files = self._store.run(looked, read=True)
        if row is None:
            raise NotFound(
                f"{self._agent.name} has no snapshot of {self.name} in cycle {cycle} or before",
                hint="Take one with `agent.workspace(NAME, folder=PATH).snapshot(CYCLE)`.",
            )
        return _snapshot(self.name, row), files

    def _place(self) -> str:
        if self.folder is None:
            raise BadInput(f"{self.name} has no folder", hint="Open it with folder=PATH.")
        return self.folder


# ── what to write and what to remove ─────────────────────────────────────────────────────────────


def _is_below(path: str, chosen: Sequence[str]) -> bool:
    return any(path == one.rstrip("/") or path.startswith(f"{one.rstrip('/')}/") for one in chosen)


def differences(before: Mapping[str, WorkspaceFile], after: Mapping[str, WorkspaceFile]) -> WorkspaceDiff:
    """What differs between two states."""
    both = sorted(before.keys() & after.keys())
    return WorkspaceDiff(
        added=tuple(after[path] for path in sorted(after.keys() - before.keys())),
        removed=tuple(before[path] for path in sorted(before.keys() - after.keys())),
        changed=tuple((before[path], after[path]) for path in both if before[path] != after[path]),
    )


# ── restoring ────────────────────────────────────────────────────────────────────────────────────


class _Plan:
    """What a restore will write and remove, known before it changes anything."""

    def __init__(self, wanted: Files, reading: FolderReading, skipped: set[str], *, clean: bool) -> None:
        here = reading.files
        kept = {*skipped, *(path for path, _ in reading.skipped)}  # what a snapshot cannot hold is nobody's to remove
        self.write = [file for path, file in sorted(wanted.items()) if here.get(path) != file]
        self.extra = [path for path in here if path not in wanted and not _is_below(path, tuple(kept))]
        in_way = [file.path for file in self.write if not stat.S_ISDIR(file.mode) and _is_folder(here.get(file.path))]
        if in_way and not clean:
            raise BadInput(
                f"{in_way[0]} is a folder here and a file in the snapshot; nothing was restored",
                hint="Move it away, or restore with clean=True.",
            )
        if stuck := [path for path in in_way for held in kept if _is_below(held, [path])]:
            raise BadInput(f"{stuck[0]} is a folder here that holds what no snapshot can; nothing was restored")
        # The deepest first, so that a folder is empty when its turn comes.
        self.remove = sorted({*self.extra, *in_way}, reverse=True) if clean else []


def _is_folder(file: WorkspaceFile | None) -> bool:
    return file is not None and stat.S_ISDIR(file.mode)


def _write(folder: ConfinedFolder, store: AgentDatabase, files: Sequence[WorkspaceFile]) -> None:
    """Put files into a folder."""
    folders = [file for file in files if stat.S_ISDIR(file.mode)]
    for file in folders:
        folder.make(file.path)
    pieces = _contents(store, [file for file in files if not stat.S_ISDIR(file.mode)])
    by_path = {file.path: file for file in files}
    for path, some in groupby(pieces, key=lambda piece: piece[0].path):
        folder.write(by_path[path], (content for _, content in some))
    for file in reversed(folders):  # the deepest first: a folder that nobody may write into is filled by then
        folder.set_mode(file)


# ── the store ────────────────────────────────────────────────────────────────────────────────────


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class _ChunkSink:
    """Takes pieces of content and makes those durable that the store does not have."""

    def __init__(self, store: AgentDatabase, known: Iterable[WorkspaceFile], is_clean: Callable[[bytes], bool]) -> None:
        self._store, self._is_clean = store, is_clean
        self._known = {digest for file in known for digest in file.chunks}
        self._waiting: dict[str, bytes] = {}
        self._size = 0

    def take(self, data: bytes) -> str:
        digest = _digest(data)
        if digest not in self._known:
            if not self._is_clean(data):
                raise FileRefused("holds a secret")
            self._known.add(digest)
            self._waiting[digest] = data
            self._size += len(data)
            if self._size >= BATCH:
                self.flush()
        return digest

    def flush(self) -> None:
        """Make durable what was taken."""
        self._store.run(partial(_put, chunks=self._waiting))
        self._waiting, self._size = {}, 0


def _put(tx: StoreTransaction, chunks: Mapping[str, bytes]) -> None:
    there = set()
    for some in _some(list(chunks)):
        rows = tx.all(sa.select(CHUNK.c.digest, CHUNK.c.used).where(tx.of(CHUNK), CHUNK.c.digest.in_(some)))
        old = [row.digest for row in rows if row.used < tx.now - GRACE // 2]
        if old:  # or `sweep` could take it before the rows that name it are there
            tx.update(CHUNK, CHUNK.c.digest.in_(old), used=tx.now)
        there |= {row.digest for row in rows}
    new = [{"digest": digest, "used": tx.now, "data": data} for digest, data in chunks.items() if digest not in there]
    tx.insert_new(CHUNK, *new)


def _missing(tx: StoreTransaction, files: Iterable[WorkspaceFile]) -> set[str]:
    """Which pieces of some files the store does not have."""
    needed = {digest for file in files for digest in file.chunks}
    for some in _some(sorted(needed)):
        needed -= {row.digest for row in tx.all(_asked(tx, CHUNK.c.digest, some))}
    return needed


def _asked(tx: StoreTransaction, *columns_and_digests: Any) -> Any:
    *columns, digests = columns_and_digests
    return sa.select(*columns).where(tx.of(CHUNK), CHUNK.c.digest.in_(digests))


def _contents(store: AgentDatabase, files: Sequence[WorkspaceFile]) -> Iterator[tuple[WorkspaceFile, bytes]]:
    """The content of files, piece by piece and proved by its hash; a file without any gives one empty piece."""
    for batch in _batches(files):
        digests = sorted({digest for _, digest in batch if digest})
        found = store.run(partial(_fetched, digests=digests), read=True) if digests else {}
        for file, digest in batch:
            data = found.get(digest, b"") if digest else b""
            if digest and _digest(data) != digest:
                raise _damaged(f"the content of {file.path} is damaged")
            yield file, data


def _fetched(tx: StoreTransaction, digests: Sequence[str]) -> dict[str, bytes]:
    return {row.digest: bytes(row.data) for row in tx.all(_asked(tx, CHUNK.c.digest, CHUNK.c.data, digests))}


def _batches(files: Sequence[WorkspaceFile]) -> Iterator[list[tuple[WorkspaceFile, str]]]:
    """The pieces of files in batches that fit into memory."""
    batch: list[tuple[WorkspaceFile, str]] = []
    size = 0
    for file in files:
        for digest in file.chunks or ("",):
            batch.append((file, digest))
            size += min(CHUNK_SIZE, file.size)
            if size >= BATCH or len(batch) == ASKED:
                yield batch
                batch, size = [], 0
    if batch:
        yield batch


def sweep(tx: StoreTransaction) -> int:
    """Take away pieces that no snapshot names, as killed processes leave them; gives how many."""
    old = tx.all(sa.select(CHUNK.c.digest).where(tx.of(CHUNK), CHUNK.c.used < tx.now - GRACE))
    named = {one for row in tx.all(sa.select(FILE.c.chunks).where(tx.of(FILE))) for one in row.chunks} if old else set()
    alone = sorted({row.digest for row in old} - named)
    where = CHUNK.c.used < tx.now - GRACE
    return sum(tx.delete(CHUNK, CHUNK.c.digest.in_(some), where) for some in _some(alone))


def _files_at(tx: StoreTransaction, workspace: str, cycle: int) -> Files:
    """The files after a cycle: of each path the last row up to it."""
    up_to = (tx.of(FILE), FILE.c.workspace_id == workspace, FILE.c.cycle <= cycle)
    last = sa.select(FILE.c.path, sa.func.max(FILE.c.cycle).label("cycle")).where(*up_to).group_by(FILE.c.path)
    newest = last.subquery()
    joined = FILE.join(newest, sa.and_(FILE.c.path == newest.c.path, FILE.c.cycle == newest.c.cycle))
    asked = sa.select(FILE.c.path, FILE.c.mode, FILE.c.size, FILE.c.chunks).select_from(joined)
    rows = tx.all(asked.where(*up_to, FILE.c.mode != 0))
    return {row.path: WorkspaceFile(row.path, row.mode, row.size, tuple(row.chunks)) for row in rows}


def _last_snapshot(tx: StoreTransaction, workspace: str) -> int | None:
    asked = sa.select(sa.func.max(SNAPSHOT.c.cycle)).where(tx.of(SNAPSHOT), SNAPSHOT.c.workspace_id == workspace)
    found: int | None = tx.one(asked)[0]
    return found


def _row(file: WorkspaceFile) -> dict[str, Any]:
    return {"path": file.path, "mode": file.mode, "size": file.size, "chunks": list(file.chunks)}


def _snapshot(name: str, row: Any) -> WorkspaceSnapshot:
    skipped = tuple((path, why) for path, why in row.skipped)
    return WorkspaceSnapshot(workspace=name, cycle=row.cycle, files=row.files, size=row.size, skipped=skipped)


def _some(values: Sequence[str]) -> Iterator[Sequence[str]]:
    return (values[start : start + ASKED] for start in range(0, len(values), ASKED))


def _damaged(what: str) -> NoDatabase:
    return NoDatabase(f"{what} in the agents' database", hint="Bring back a copy: holdfast agent import FILE.")
