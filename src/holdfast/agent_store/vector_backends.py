"""Vector stores beside the mirror: pgvector in the same database, Chroma in a folder of the private store.

Both are filled from the mirror and may be deleted at any time. Neither is believed about a score: it names records,
and `agent_store.vector_store` reads their vectors from the mirror.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from holdfast.agent_store.migrations import VECTOR_TABLE
from holdfast.errors import HoldfastError, NoDatabase
from holdfast.lazy_module import LazyModule
from holdfast.model.agent_entities import NearestRecords, VectorRow
from holdfast.store.database_file import make_folders

if TYPE_CHECKING:
    import numpy as np

    from holdfast.agent_store.database import AgentDatabase, StoreTransaction
    from holdfast.store.vector_matrix import Floats
else:
    np = LazyModule("numpy")

# Vectors of a project above which HNSW answers, if an owner made the index (docs/adr/0030): up to here pgvector
# compares all of them in about 50 ms, and the graph would only be less exact.
HNSW_FROM = 20_000
EF_SEARCH = 400  # how many pgvector's HNSW looks at: 200 found 0.979 of the ten nearest in clusters without any shape
CHROMA_EF = 200  # the same for Chroma, whose graph is denser: recall 0.99 at 100,000
BATCH = 1000  # rows of one statement
CHROMA_BATCH = 5000  # of one call: Chroma itself takes 5,461
_KEY = "project_id = :project AND model = :model"
_PUT = (
    f"INSERT INTO {VECTOR_TABLE} (project_id, record_id, model, agent_id, namespace, size, embedding) VALUES"
    " (:project, :record, :model, :agent, :namespace, :size, CAST(:embedding AS halfvec)) ON CONFLICT DO NOTHING"
)


class PgvectorStore:
    """The vectors of one model and one project, in a table of the same database; exact up to HNSW_FROM of them."""

    name = "pgvector"

    def __init__(self, database: AgentDatabase, model: str, size: int, *, project: str, exact_up_to: int = 0) -> None:
        self._database, self._size = database, size
        self._exact_up_to = exact_up_to or HNSW_FROM
        self._of = {"project": project, "model": model}
        self._others = () if project == database.project else (project,)

    def put(self, rows: Sequence[VectorRow]) -> None:
        for at in range(0, len(rows), BATCH):
            given = [
                {
                    **self._of,
                    "record": one.record,
                    "agent": one.agent,
                    "namespace": one.namespace,
                    "size": self._size,
                    "embedding": str(np.frombuffer(one.data, np.int8).tolist()),
                }
                for one in rows[at : at + BATCH]
            ]
            self._database.run(lambda tx, some=given: tx.connection.execute(sa.text(_PUT), some))  # type: ignore[misc]

    def drop(self, ids: Sequence[str]) -> None:
        gone = sa.text(f"DELETE FROM {VECTOR_TABLE} WHERE {_KEY} AND record_id = ANY(:ids)")
        self._database.run(lambda tx: tx.connection.execute(gone, {**self._of, "ids": list(ids)}))

    def count(self) -> int:
        asked = sa.text(f"SELECT count(*) FROM {VECTOR_TABLE} WHERE {_KEY}")
        return int(self._read(lambda tx: tx.connection.execute(asked, self._of).scalar_one()))

    def ids(self) -> set[str]:
        asked = sa.text(f"SELECT record_id FROM {VECTOR_TABLE} WHERE {_KEY}")
        return set(self._read(lambda tx: tx.connection.execute(asked, self._of).scalars().all()))

    def nearest(
        self, vector: Floats, limit: int, namespaces: Sequence[str] = (), agents: Sequence[str] = ()
    ) -> NearestRecords:
        where, given = _KEY, {**self._of, "limit": limit, "vector": str(vector.tolist())}
        for column, chosen in (("namespace", namespaces), ("agent_id", agents)):
            if chosen:
                where += f" AND {column} = ANY(:{column})"
                given[column] = list(chosen)

        def asked(tx: StoreTransaction) -> tuple[Sequence[Any], bool]:
            is_exact = not self._has_graph or self._is_few(tx, where, given)
            if is_exact:
                # The sum keeps the graph out of it, which the planner would take for any number of vectors.
                order, more = "(embedding <=> CAST(:vector AS halfvec)) + 0", ""
            else:
                for setting in (
                    "hnsw.iterative_scan = strict_order",
                    f"hnsw.ef_search = {EF_SEARCH}",
                    "enable_sort = off",
                ):
                    tx.connection.exec_driver_sql(f"SET LOCAL {setting}")
                kind = f"halfvec({self._size})"
                order, more = f"(embedding::{kind}) <=> CAST(:vector AS {kind})", f" AND size = {self._size}"
            statement = (
                f"SELECT record_id, 1 - ({order}) FROM {VECTOR_TABLE} WHERE {where}{more} ORDER BY {order} LIMIT :limit"
            )
            return tx.connection.execute(sa.text(statement), given).all(), is_exact

        rows, is_exact = self._read(asked)
        return NearestRecords(tuple((str(row[0]), float(row[1])) for row in rows), is_exact)

    def close(self) -> None:
        """The database is not ours to close."""

    def _is_few(self, tx: StoreTransaction, where: str, given: dict[str, Any]) -> bool:
        """Whether all that are asked for can be compared in full; counted no further than that."""
        counted = sa.text(f"SELECT count(*) FROM (SELECT FROM {VECTOR_TABLE} WHERE {where} LIMIT :few) AS few")
        few = self._exact_up_to + 1
        return int(tx.connection.execute(counted, {**given, "few": few}).scalar_one()) < few

    @cached_property
    def _has_graph(self) -> bool:
        asked = sa.text("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(:name)")
        name = {"name": graph_name(self._size)}
        return bool(self._read(lambda tx: tx.connection.execute(asked, name).scalar()))

    def _read(self, operation: Callable[[StoreTransaction], Any]) -> Any:
        return self._database.run(operation, read=True, projects=self._others)


def graph_name(size: int) -> str:
    """The name of the HNSW index for vectors of a size."""
    return f"{VECTOR_TABLE}_hnsw_{size}"


def make_graphs(engine: sa.Engine) -> list[int]:
    """Make an HNSW index for each size of vectors of which one project has more than HNSW_FROM; gives the new sizes.

    For the owner of the tables. Others read and write meanwhile, but for the moment in which vectors are counted.
    """
    made = []
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        if not connection.exec_driver_sql(f"SELECT to_regclass('{VECTOR_TABLE}')").scalar():
            return []
        for size in _large_sizes(engine):
            asked = sa.text("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(:name)")
            is_valid = connection.execute(asked, {"name": graph_name(size)}).scalar()
            if is_valid is False:  # whoever made it was interrupted
                connection.exec_driver_sql(f"DROP INDEX CONCURRENTLY {graph_name(size)}")
            if not is_valid:
                connection.exec_driver_sql(graph_sql(size, at_once=False))
                made.append(size)
    return made


def _large_sizes(engine: sa.Engine) -> list[int]:
    """The sizes of vectors of which a project has more than HNSW_FROM. An owner must ask for leave to count them."""
    counted = f"SELECT size FROM {VECTOR_TABLE} GROUP BY project_id, size HAVING count(*) > {HNSW_FROM}"
    with engine.begin() as connection:
        connection.exec_driver_sql(f"ALTER TABLE {VECTOR_TABLE} NO FORCE ROW LEVEL SECURITY")
        found = {int(row[0]) for row in connection.exec_driver_sql(counted)}
        connection.exec_driver_sql(f"ALTER TABLE {VECTOR_TABLE} FORCE ROW LEVEL SECURITY")
    return sorted(found)


def graph_sql(size: int, *, at_once: bool = True) -> str:
    """What an owner runs to have an HNSW index for vectors of a size; `at_once` keeps writers out meanwhile."""
    return (
        f"CREATE INDEX {'' if at_once else 'CONCURRENTLY '}IF NOT EXISTS {graph_name(size)} ON {VECTOR_TABLE}"
        f" USING hnsw ((embedding::halfvec({size})) halfvec_cosine_ops) WHERE size = {size}"
    )


def has_pgvector(database: AgentDatabase) -> bool:
    """Whether a database has the table that pgvector searches."""
    if not database.is_shared:
        return False
    asked = sa.text("SELECT to_regclass(:name) IS NOT NULL")
    return bool(database.run(lambda tx: tx.connection.execute(asked, {"name": VECTOR_TABLE}).scalar(), read=True))


class _ChromaErrors:
    """Around calls into Chroma, whose faults share no parent: some are panics of its native part."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        is_panic = kind is not None and kind.__name__ == "PanicException"
        if kind is None or not (is_panic or issubclass(kind, Exception)) or issubclass(kind, HoldfastError):
            return
        said = " ".join(str(error).split())[:200] or kind.__name__
        raise NoDatabase(
            f"Chroma in {self._folder} failed: {said}", hint="Delete that folder: it is filled again from the database."
        ) from error


class ChromaStore:
    """The vectors of one model in a collection of a local Chroma; always approximate."""

    name = "chroma"

    def __init__(self, folder: str, model: str, size: int, *, project: str) -> None:
        self._folder = folder
        self._guarded = _ChromaErrors(folder)
        self._size = size
        self._collection_name = hashlib.sha256(f"{project}\n{model}".encode()).hexdigest()[:32]

    def put(self, rows: Sequence[VectorRow]) -> None:
        with self._guarded:
            for at in range(0, len(rows), CHROMA_BATCH):
                some = rows[at : at + CHROMA_BATCH]
                whole = np.frombuffer(b"".join(one.data for one in some), np.int8).reshape(len(some), -1)
                self._collection.upsert(
                    ids=[one.record for one in some],
                    embeddings=whole.astype(np.float32),
                    metadatas=[{"namespace": one.namespace, "agent": one.agent} for one in some],
                )

    def drop(self, ids: Sequence[str]) -> None:
        with self._guarded:
            for at in range(0, len(ids), CHROMA_BATCH):
                self._collection.delete(ids=list(ids[at : at + CHROMA_BATCH]))

    def count(self) -> int:
        with self._guarded:
            return int(self._collection.count())
        raise AssertionError("what the guard catches it raises again")

    def ids(self) -> set[str]:
        with self._guarded:
            return set(self._collection.get(include=[])["ids"])
        raise AssertionError("what the guard catches it raises again")

    def nearest(
        self, vector: Floats, limit: int, namespaces: Sequence[str] = (), agents: Sequence[str] = ()
    ) -> NearestRecords:
        chosen = (("namespace", namespaces), ("agent", agents))
        where: list[Any] = [{name: {"$in": list(values)}} for name, values in chosen if values]
        with self._guarded:
            found = self._collection.query(
                query_embeddings=[vector],
                n_results=limit,
                where={"$and": where} if len(where) > 1 else where[0] if where else None,
                include=["distances"],
            )
            pairs = zip(found["ids"][0], found["distances"][0], strict=True)
            return NearestRecords(tuple((one, 1 - float(distance)) for one, distance in pairs), is_exact=False)
        raise AssertionError("what the guard catches it raises again")

    def close(self) -> None:
        if "_client" in self.__dict__:
            with self._guarded:
                self._client.close()
            for name in ("_client", "_collection"):
                self.__dict__.pop(name, None)

    @cached_property
    def _client(self) -> Any:
        try:
            import chromadb
            from chromadb.config import Settings
        except ImportError:
            raise NoDatabase(
                "chromadb is not installed",
                hint="Install again from Holdfast's own folder, with '.[chroma]' in place of '.'",
            ) from None
        make_folders(self._folder)
        settings = Settings(
            _env_file=None,  # type: ignore[call-arg]  # or the file .env of a repository could send all of this elsewhere
            anonymized_telemetry=False,
            chroma_otel_collection_endpoint="",
            chroma_api_impl="chromadb.api.rust.RustBindingsAPI",
        )
        return chromadb.PersistentClient(self._folder, settings=settings)

    @cached_property
    def _collection(self) -> Any:
        form = {"hnsw": {"space": "cosine", "ef_search": CHROMA_EF}}
        # Without a function of its own: it would fetch a model from the network.
        return self._client.get_or_create_collection(self._collection_name, embedding_function=None, configuration=form)
