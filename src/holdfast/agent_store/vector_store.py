"""Which of an agent's records are nearest to a vector: one small protocol, and the mirror that stands behind it.

The table `memory_index` mirrors every embedding. The embedded store searches it as it is; pgvector and Chroma
(`agent_store.vector_backends`) are filled from it, so changing the store embeds nothing again. A store only names
records: each is scored by its vector in the mirror, so all of them give the same numbers. If one fails, the mirror
answers instead, and a note says so.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import sqlalchemy as sa

from holdfast.agent_store.tables import VECTOR
from holdfast.agent_store.vector_backends import ChromaStore, PgvectorStore, has_pgvector
from holdfast.errors import BadInput, HoldfastError
from holdfast.model.agent_entities import NearestRecords, VectorRow
from holdfast.store.vector_matrix import SignMatrix, exact_cosines, packed, unit

if TYPE_CHECKING:
    from holdfast.agent_store.database import AgentDatabase, StoreTransaction
    from holdfast.store.vector_matrix import Floats

EMBEDDED, PGVECTOR, CHROMA = "embedded", "pgvector", "chroma"
MAX_SIZE = 4096  # numbers of a vector
# Vectors that are compared in full: of 100,000 in fifty clusters without any shape, 1,000 hold 0.95 of the ten nearest,
# 1,600 hold 0.993 and 2,000 all, for 0.3 ms more than 1,000 (docs/adr/0030).
CANDIDATES = 2000
SMALL = 10_000  # up to so many all are: 4 ms
PIECES = 2000  # stretches of one namespace and agent: with more of them the matrix is loaded again, in order
RECHECK = 60.0  # seconds after which a store is compared with the mirror again, or a failed one tried again
MORE = 10  # records that a store names beyond those asked for: its order may differ in the last digits


class VectorStore(Protocol):
    """Finds the records nearest to a vector, among those of one model and one project."""

    @property
    def name(self) -> str: ...
    def put(self, rows: Sequence[VectorRow]) -> None:
        """Add vectors; one that is there stays as it is."""

    def drop(self, ids: Sequence[str]) -> None:
        """Forget the vectors of some records."""

    def count(self) -> int: ...
    def ids(self) -> set[str]: ...
    def nearest(
        self, vector: Floats, limit: int, namespaces: Sequence[str] = (), agents: Sequence[str] = ()
    ) -> NearestRecords:
        """The nearest to a vector of length one, among some namespaces and agents (by id), or all."""

    def close(self) -> None: ...


class EmbeddedVectors:
    """The mirror itself, loaded: by namespace and agent, so that what a question is about lies in one piece."""

    name = EMBEDDED

    def __init__(self, database: AgentDatabase, model: str, size: int, *, project: str) -> None:
        self._database, self._size, self._project = database, size, project
        self._others = () if project == database.project else (project,)
        # Its size is a part of what a model is; asked for, it would take the answer out of the index.
        self._where = (VECTOR.c.project_id == project, VECTOR.c.model == model)
        self._last = sa.select(sa.func.max(VECTOR.c.added)).where(*self._where)
        names = ("record_id", "agent_id", "namespace", "vector", "added")
        self._every = sa.select(*(VECTOR.c[name] for name in names)).where(*self._where)
        # Built once: to build it for each question would take as long as to answer it.
        self._some = self._every.where(VECTOR.c.record_id.in_(sa.bindparam("ids", expanding=True)))
        self._turn = threading.Lock()
        self._forget()

    def put(self, rows: Sequence[VectorRow]) -> None:
        """Nothing to do: what is in the mirror is found."""

    def drop(self, ids: Sequence[str]) -> None:
        """Those that are gone from the mirror are not found; here they may stand until it is loaded again."""
        with self._turn:
            if not set(ids).isdisjoint(self._ids):
                self._forget()

    def count(self) -> int:
        asked = sa.select(sa.func.count()).select_from(VECTOR).where(*self._where)
        return int(self._database.run(lambda tx: tx.one(asked)[0], read=True, projects=self._others))

    def newest(self) -> int:
        """When the last one was added; -1 if there is none."""
        last = self._database.run(lambda tx: tx.one(self._last)[0], read=True, projects=self._others)
        return -1 if last is None else int(last)

    def ids(self) -> set[str]:
        asked = sa.select(VECTOR.c.record_id).where(*self._where)
        return {row[0] for row in self._database.run(lambda tx: tx.all(asked), read=True, projects=self._others)}

    def rows(self, ids: Sequence[str]) -> dict[str, VectorRow]:
        """Some records' vectors."""
        found: dict[str, VectorRow] = {}
        for at in range(0, len(ids), 1000):  # SQLite takes 32,766 values in a statement
            given = {"ids": list(ids[at : at + 1000])}
            rows = self._database.run(
                lambda tx, some=given: tx.connection.execute(self._some, some).all(),  # type: ignore[misc]
                read=True,
                projects=self._others,
            )
            found |= {row[0]: VectorRow(*row[:4]) for row in rows}
        return found

    def nearest(
        self, vector: Floats, limit: int, namespaces: Sequence[str] = (), agents: Sequence[str] = ()
    ) -> NearestRecords:
        return self.nearest_rows(vector, limit, namespaces, agents)[0]

    def nearest_rows(
        self, vector: Floats, limit: int, namespaces: Sequence[str], agents: Sequence[str]
    ) -> tuple[NearestRecords, dict[str, VectorRow]]:
        """The nearest, and what the mirror holds of them: in one transaction, which costs as much as a third of it."""

        def found(tx: StoreTransaction) -> tuple[NearestRecords, dict[str, VectorRow]]:
            self._refresh(tx)
            hits = self._search(vector, limit, namespaces, agents)
            rows = tx.connection.execute(self._some, {"ids": [one for one, _ in hits.hits]}).all()
            return hits, {row[0]: VectorRow(*row[:4]) for row in rows}

        with self._turn:
            return self._database.run(found, read=True, projects=self._others)

    def _search(self, vector: Floats, limit: int, namespaces: Sequence[str], agents: Sequence[str]) -> NearestRecords:
        ranges = None
        if namespaces or agents:
            chosen = self._pieces.items()
            meant = (r for (n, a), r in chosen if (not namespaces or n in namespaces) and (not agents or a in agents))
            ranges = [one for some in meant for one in some]
        found, is_exact = self._matrix.near(vector, limit, ranges=ranges, candidates=CANDIDATES, small=SMALL)
        return NearestRecords(tuple((self._ids[place], cosine) for place, cosine in found), is_exact)

    def close(self) -> None:
        with self._turn:
            self._forget()

    def _forget(self) -> None:
        self._matrix = SignMatrix(self._size)
        self._ids: list[str] = []
        self._pieces: dict[tuple[str, str], list[tuple[int, int]]] = {}
        self._stretches = 0
        self._newest = -1
        self._looked = -RECHECK  # when all were counted

    def _refresh(self, tx: StoreTransaction) -> None:
        """Load what is new since the last time, or everything if something went or came late."""
        is_due = self._database.is_shared or time.monotonic() - self._looked > RECHECK
        rows = self._read(tx, self._newest if self._stretches <= PIECES else -1, count_all=is_due)
        self._looked = time.monotonic() if is_due or rows else self._looked
        if rows is None:
            return
        is_all, new = rows
        if is_all:
            self._forget()
            self._matrix = SignMatrix(self._size, room=len(new))
        self._add(new)

    def _read(self, tx: StoreTransaction, newest: int, *, count_all: bool) -> tuple[bool, Sequence[Any]] | None:
        """What is new, or all there is; None if nothing changed.

        On SQLite each is newer than those before it, and to count takes longer than to search. On Postgres one may
        be kept after a newer one, so all are counted. One that went shows when its record is looked for.
        """
        last = tx.one(self._last)[0]
        is_same = newest >= 0 and last == newest
        if is_same and not count_all:
            return None
        count = tx.one(sa.select(sa.func.count()).select_from(VECTOR).where(*self._where))[0]
        if is_same and count == len(self._ids):
            return None
        every = self._every
        if newest >= 0 and count > len(self._ids):
            new = tx.all(every.where(VECTOR.c.added > newest).order_by(VECTOR.c.added, VECTOR.c.record_id))
            if len(self._ids) + len(new) == count:
                return False, new
        return True, tx.all(every.order_by(VECTOR.c.namespace, VECTOR.c.agent_id, VECTOR.c.record_id))

    def _add(self, rows: Sequence[Any]) -> None:
        if rows:
            self._matrix.add([row[3] for row in rows])
        for place, (record, agent, namespace, _, _) in enumerate(rows, start=len(self._ids)):
            pieces = self._pieces.setdefault((namespace, agent), [])
            if pieces and pieces[-1][1] == place:
                pieces[-1] = (pieces[-1][0], place + 1)
            else:
                pieces.append((place, place + 1))
                self._stretches += 1
            self._ids.append(record)
        self._stretches -= len(self._pieces) if self._newest < 0 else 0  # one each is as good as it gets
        self._newest = max((row[4] for row in rows), default=max(self._newest, 0))


class MemoryVectors:
    """The vectors of a project's agents: mirrored, and searched by the store that the settings chose."""

    def __init__(self, database: AgentDatabase, *, choice: str | None, folder: str, notes: list[str]) -> None:
        self._database, self._folder, self._notes = database, folder, notes
        self._choice = choice
        self._mirrors: dict[tuple[str, str, int], EmbeddedVectors] = {}
        self._stores: dict[tuple[str, str, int], VectorStore] = {}
        self._checked: dict[tuple[str, str, int], tuple[float, int]] = {}  # when a store had all up to which moment
        self._failed: dict[str, float] = {}  # when a project's store failed

    @property
    def chosen(self) -> str:
        """The store in use: the setting, else pgvector where the database has it."""
        if self._choice is None:
            self._choice = PGVECTOR if has_pgvector(self._database) else EMBEDDED
        elif self._choice == PGVECTOR and not has_pgvector(self._database):
            why = "it is not Postgres" if not self._database.is_shared else "its owner has to make the extension"
            self._notes.append(f"this database has no pgvector ({why}), so the embedded vectors are searched")
            self._choice = EMBEDDED
        return self._choice

    def put(self, model: str, rows: Sequence[VectorRow]) -> None:
        """Give the store vectors that are in the mirror already; if it fails, it gets them another time."""
        for size in {len(row.data) for row in rows}:
            key = (self._database.project, model, size)
            if (store := self._store(key)) is not None:
                try:
                    store.put([row for row in rows if len(row.data) == size])
                except HoldfastError as error:
                    self._failure(key, store, error)

    def drop(self, model: str, size: int, ids: Sequence[str]) -> None:
        """Forget the vectors of some records, in the mirror and in the store."""
        key = (self._database.project, model, size)
        for at in range(0, len(ids), 1000):
            some = VECTOR.c.record_id.in_(ids[at : at + 1000])
            self._database.run(lambda tx, gone=some: tx.delete(VECTOR, VECTOR.c.model == model, gone))  # type: ignore[misc]
        self._mirror(key).drop(ids)
        if (store := self._store(key)) is not None:
            try:
                store.drop(ids)
            except HoldfastError as error:
                self._failure(key, store, error)

    def nearest(
        self,
        model: str,
        vector: Floats,
        *,
        limit: int,
        namespaces: Sequence[str] = (),
        agents: Sequence[str] = (),
        project: str | None = None,
    ) -> NearestRecords:
        """The records nearest to a vector of length one, scored by the mirror."""
        key = (project or self._database.project, model, len(vector))
        among, store = (namespaces, agents), self._store(key)
        if store is not None:
            try:
                if self._equals_mirror(key, store):
                    return self._scored(key, store, vector, limit, among)
            except HoldfastError as error:
                self._failure(key, store, error)
        return self._scored(key, self._mirror(key), vector, limit, among)

    def close(self) -> None:
        """Let go of what is loaded."""
        for store in (*self._stores.values(), *self._mirrors.values()):
            try:
                store.close()
            except HoldfastError as error:
                self._notes.append(str(error))
        for known in (self._stores, self._mirrors, self._checked, self._failed):
            known.clear()

    def _mirror(self, key: tuple[str, str, int]) -> EmbeddedVectors:
        if key not in self._mirrors:
            project, model, size = key
            self._mirrors[key] = EmbeddedVectors(self._database, model, size, project=project)
        return self._mirrors[key]

    def _store(self, key: tuple[str, str, int]) -> VectorStore | None:
        """The store beside the mirror; None if there is none, or if it failed a moment ago."""
        project, model, size = key
        if self.chosen == EMBEDDED or time.monotonic() - self._failed.get(project, -RECHECK) < RECHECK:
            return None
        if self.chosen == CHROMA and project != self._database.project:
            return None  # its folder holds this project alone
        if key not in self._stores:
            if self.chosen == CHROMA:
                self._stores[key] = ChromaStore(self._folder, model, size, project=project)
            else:
                self._stores[key] = PgvectorStore(self._database, model, size, project=project)
        return self._stores[key]

    def _failure(self, key: tuple[str, str, int], store: VectorStore, error: HoldfastError) -> None:
        self._failed[key[0]] = time.monotonic()
        self._checked.pop(key, None)
        self._stores.pop(key, None)
        with contextlib.suppress(HoldfastError):
            store.close()
        self._notes.append(f"{store.name} did not answer, so the mirror was searched: {error} {error.hint}")

    def _equals_mirror(self, key: tuple[str, str, int], store: VectorStore) -> bool:
        """Whether a store has what the mirror has; one of this project is brought up to it.

        They are compared when the mirror has something newer, and now and then.
        """
        mirror = self._mirror(key)
        newest = mirror.newest()
        when, last = self._checked.get(key, (-RECHECK, -1))
        if newest == last and time.monotonic() - when < RECHECK:
            return True
        if store.count() != mirror.count():
            if key[0] != self._database.project:
                return False
            self._bring(mirror, store)
        self._checked[key] = (time.monotonic(), newest)
        return True

    @staticmethod
    def _bring(mirror: EmbeddedVectors, store: VectorStore) -> None:
        meant, there = mirror.ids(), store.ids()
        if gone := sorted(there - meant):
            store.drop(gone)
        lacking = sorted(meant - there)
        for at in range(0, len(lacking), 5000):  # 2 MB of vectors at once
            store.put(list(mirror.rows(lacking[at : at + 5000]).values()))

    def _scored(
        self,
        key: tuple[str, str, int],
        store: VectorStore,
        vector: Floats,
        limit: int,
        among: tuple[Sequence[str], Sequence[str]],
    ) -> NearestRecords:
        """A store's answer with the mirror's numbers; asked again if it names what the mirror lost."""
        mirror = self._mirror(key)
        for _ in range(2):
            wide = limit + max(MORE, limit)
            if store is mirror:
                found, rows = mirror.nearest_rows(vector, wide, *among)
            else:
                found = store.nearest(vector, wide, *among)
                rows = mirror.rows([one for one, _ in found.hits])
            ids = [one for one, _ in found.hits]
            if len(rows) == len(ids):
                break
            store.drop([one for one in ids if one not in rows])
        whole = [one for one in ids if one in rows]
        scores = exact_cosines(vector, [rows[one].data for one in whole]) if whole else []
        best = sorted(zip(whole, scores, strict=True), key=lambda hit: (-hit[1], hit[0]))[:limit]
        return NearestRecords(tuple(best), found.is_exact)


def checked_vector(numbers: Sequence[float]) -> Floats:
    """Numbers that somebody gave, as a vector of length one; BadInput if they are none."""
    try:
        vector = unit(numbers) if not isinstance(numbers, str | bytes) and 0 < len(numbers) <= MAX_SIZE else None
    except (TypeError, ValueError):  # no numbers, or no list
        vector = None
    if vector is None:
        raise BadInput(
            f"an embedding is a list of up to {MAX_SIZE:,} numbers that are not all zero",
            hint="Give what your model returned for one text.",
        )
    return vector


def given_model(vector: Floats) -> str:
    """What the model is called of vectors that a caller made: these are only compared with their like."""
    return f"given:{len(vector)}"


def as_bytes(vector: Floats) -> bytes:
    """A vector as the mirror keeps it."""
    return packed(vector[None, :])[0]
