"""The database of the agent store: opened, brought to this version's tables, used in transactions.

SQLite in the private store, or Postgres behind a URL; nothing else here or above knows which. An operation is a
function of a `StoreTransaction`. It may run twice, because a server that is killed at the end of a transaction cannot
say whether it was kept, so each operation recognises what it did itself. What a database says becomes one sentence.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, TypeVar, cast
from urllib.parse import quote, quote_plus

import sqlalchemy as sa
from sqlalchemy import event, exc
from sqlalchemy.engine import URL, Connection, Engine, make_url

from holdfast.agent_store import schema_steps, vector_backends
from holdfast.agent_store.tables import SEALING_KEY, to_json
from holdfast.errors import BadInput, Busy, HoldfastError, NoDatabase, NotStored
from holdfast.security.sealed_text import StoredKey, TextVault, is_sealed
from holdfast.store.database_file import make_private

T = TypeVar("T")
LOCKED = object()  # stands for a value that is sealed, and whose key is not here
WAIT = 30.0  # seconds for another process that writes, or for a free connection
CONNECT = 5  # seconds for a server to answer
RETRIES = (0.1, 0.3, 1.0, 2.0, 4.0, 8.0)  # seconds between tries: a server that restarts is back within these
POOL = 8  # connections of one process
_MIGRATING = 0x686F6C64  # any number that others who lock in this database do not use: "hold"
_SCOPE = sa.text(
    "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, set_config('holdfast.project', :project, true),"
    " set_config('holdfast.projects', :projects, true), set_config('transaction_read_only', :only, true)"
)
# Seconds, and milliseconds in the last: a network that was cut says nothing, and is noticed after half a minute.
_NETWORK: dict[str, Any] = {
    "connect_timeout": CONNECT,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 4,
    "tcp_user_timeout": 30_000,
}
_FULL = ("disk is full", "No space left", "could not extend", "disk full")
_MIGRATE = "Let its owner run: holdfast agent migrate --url URL."
_KNOWN = (  # what a server says, our sentence, the next step
    (
        ("password", "authentication failed", "no pg_hba.conf entry", 'role "'),
        "the server at {where} refuses {user}: {line}",
        "Check the user and the password in HOLDFAST_DATABASE_URL.",
    ),
    (
        ('database "',),
        "there is no database {name} at {where}",
        "Check the name in HOLDFAST_DATABASE_URL, or let a DBA create it (docs/reference/agents.md).",
    ),
    (
        ('type "vector"', 'type "halfvec"', 'extension "vector"', 'access method "hnsw"'),
        "the database {name} has no extension vector",
        "Let its owner run: CREATE EXTENSION vector;",
    ),
    (
        ("permission denied", "row-level security"),
        "the role may not do this: {line}",
        "Make it a member of holdfast_agents.",
    ),
    (
        ('relation "', 'column "', "no such table", "no such column"),
        "the database {name} lacks tables of this version: {line}",
        _MIGRATE,
    ),
    (("read-only transaction", "readonly database"), "the database {name} may only be read: {line}", NoDatabase.hint),
)
_PASSING = ("40001", "40P01", "55P03")  # serialisation failure, deadlock, lock not available
_GUARDED = (
    "SELECT rolname, rolsuper, rolbypassrls, EXISTS (SELECT FROM pg_class WHERE relname = 'agent_cycle'"
    " AND pg_has_role(current_user, relowner, 'MEMBER')) FROM pg_roles WHERE rolname = current_user"
)


class QuickStatement:
    """A statement with named values, compiled once for each engine.

    What every cycle of every agent does must not cost more than what the engine itself needs for it: building and
    looking up a statement takes ten times as long as handing its text to the driver. `project` is a value of all.
    """

    def __init__(self, statement: Any) -> None:
        self._statement, self._compiled = statement, cast("dict[str, Any]", {})

    def bound(self, connection: Connection, values: dict[str, Any]) -> tuple[str, Any]:
        """Its text, and the values as the driver wants them."""
        name = connection.dialect.name
        if name not in self._compiled:
            made = self._statement.compile(dialect=connection.dialect)
            names = made.positiontup or list(made.binds)
            processors = [made._bind_processors.get(one) for one in names]
            constants = {one: bind.value for one, bind in made.binds.items() if not bind.required}
            self._compiled[name] = (str(made), names, processors, constants, made.positiontup is not None)
        text, names, processors, constants, positional = self._compiled[name]
        given = [
            values.get(one, constants.get(one)) if made is None else made(values.get(one, constants.get(one)))
            for one, made in zip(names, processors, strict=True)
        ]
        return text, tuple(given) if positional else dict(zip(names, given, strict=True))


class StoreTransaction:
    """One transaction: its connection, the database's clock, the project it writes for, and what seals its texts.

    A repeat follows a try of which nobody knows whether it was kept.
    """

    def __init__(
        self, connection: Connection, project: str, now: int, vault: TextVault, *, is_repeat: bool = False
    ) -> None:
        self.connection, self.project, self.now, self.vault = connection, project, now, vault
        self.is_repeat = is_repeat

    def one(self, statement: Any) -> Any:
        """The first row that a statement gives; None if there is none."""
        return self.connection.execute(statement).first()

    def all(self, statement: Any) -> Sequence[Any]:
        return self.connection.execute(statement).all()

    def quick(self, statement: QuickStatement, **values: Any) -> Any:
        """Run a statement that was made once, by the driver alone; gives its cursor, with JSON as text."""
        text, given = statement.bound(self.connection, {"project": self.project, **values})
        raw, dialect = self.connection.connection, self.connection.dialect
        cursor = raw.cursor()
        try:
            cursor.execute(text, given)
        except dialect.loaded_dbapi.Error as error:
            is_gone = dialect.is_disconnect(error, raw, cursor)
            if is_gone:
                self.connection.invalidate(error)
            kind = dialect.loaded_dbapi.Error
            raise exc.DBAPIError.instance(
                text, None, error, kind, connection_invalidated=is_gone, dialect=dialect
            ) from error
        return cursor

    def insert(self, table: sa.Table, *rows: dict[str, Any]) -> None:
        if rows:
            self.connection.execute(sa.insert(table), [{"project_id": self.project, **row} for row in rows])

    def insert_new(self, table: sa.Table, *rows: dict[str, Any]) -> int:
        """Insert the rows whose keys are not there yet; gives how many that were."""
        if not rows:
            return 0
        made = _insert_of(self.connection.dialect.name)(table).on_conflict_do_nothing()
        statement = made.returning(table.c.project_id)  # drivers do not count the rows of many at once
        return len(self.connection.execute(statement, [{"project_id": self.project, **row} for row in rows]).all())

    def upsert(
        self,
        table: sa.Table,
        *rows: dict[str, Any],
        keep: Sequence[str] = (),
        if_newer: Callable[[sa.Table, Any], Any] | None = None,
    ) -> None:
        """Insert rows, or replace those of the same keys; `keep` names columns that stay as they were.

        `if_newer` is given the table and the new row, and says when that replaces the one that is there.
        """
        if rows:
            made = _insert_of(self.connection.dialect.name)(table)
            keys = [column.name for column in table.primary_key]
            new = {name: made.excluded[name] for name in rows[0] if name not in (*keys, *keep)}
            where = if_newer(table, made.excluded) if if_newer else None
            on_key = {"index_elements": keys}
            made = (
                made.on_conflict_do_update(**on_key, set_=new, where=where)
                if new
                else made.on_conflict_do_nothing(**on_key)
            )
            self.connection.execute(made, [{"project_id": self.project, **row} for row in rows])

    def update(self, table: sa.Table, *where: Any, **values: Any) -> int:
        """Change rows of this project; gives how many."""
        return self.connection.execute(sa.update(table).where(self.of(table), *where).values(**values)).rowcount

    def delete(self, table: sa.Table, *where: Any) -> int:
        return self.connection.execute(sa.delete(table).where(self.of(table), *where)).rowcount

    def of(self, table: sa.Table) -> Any:
        """That a row is of this project."""
        return table.c.project_id == self.project

    def sealed(self, scope: str, value: Any, *bound: object) -> Any:
        """A JSON value as it may be kept at a place (table, column, key of the row)."""
        if value is None or not self.vault.seals(scope):
            return {_PLAIN: value} if _looks_sealed(value) else value
        return {_SEALED: self.vault.seal(scope, to_json(value), *bound)}

    def opened(self, value: Any, *bound: object) -> Any:
        """The JSON value that is kept at a place; LOCKED if it stays closed."""
        if not _looks_sealed(value):
            return value
        if _PLAIN in value:
            return value[_PLAIN]
        text = self.vault.unseal(value[_SEALED], *bound)
        return LOCKED if text is None else json.loads(text)


_SEALED, _PLAIN = "sealed", "plain"


def _looks_sealed(value: Any) -> bool:
    """Whether a JSON value would be taken for a sealed one, or for one that only looks so and is marked as plain."""
    if not isinstance(value, dict) or len(value) != 1:
        return False
    return is_sealed(value.get(_SEALED)) or _looks_sealed(value.get(_PLAIN))


class AgentDatabase:
    """One store, for one project."""

    def __init__(self, engine: Engine, project: str, *, close: Callable[[], None]) -> None:
        self.engine, self.project, self._close = engine, project, close
        self.is_shared = engine.dialect.name == "postgresql"  # whether other machines see it, too
        self.vault = TextVault(project)  # seals nothing
        self._process = os.getpid()

    def run(self, operation: Callable[[StoreTransaction], T], *, read: bool = False, projects: Sequence[str] = ()) -> T:
        """Run an operation in a transaction, again after a fault that passes; durable on return.

        With `read` it may only look; then it may see these projects beside its own, and a replica may answer.
        """
        for again, wait in enumerate((*RETRIES, None)):
            try:
                with self._transaction(read, projects, is_repeat=again > 0) as transaction:
                    return operation(transaction)
            except (exc.DBAPIError, exc.TimeoutError) as error:
                if wait is None or not _passes(error):
                    raise explained(error, self.engine.url) from error
                time.sleep(wait)
        raise AssertionError("the last try returns or raises")

    @contextlib.contextmanager
    def _transaction(self, read: bool, projects: Sequence[str], *, is_repeat: bool) -> Iterator[StoreTransaction]:
        if self._process != os.getpid():  # a forked child must not speak on its parent's connections
            self.engine.dispose(close=False)
            self._process = os.getpid()
        with self.engine.connect() as connection:
            if read:
                connection = connection.execution_options(reading=True)
            with connection.begin():
                now = time.time_ns() // 1000
                if self.is_shared:
                    seen = {"project": self.project, "projects": ",".join((self.project, *projects))}
                    now = connection.execute(_SCOPE, {**seen, "only": "on" if read or projects else "off"}).scalar_one()
                yield StoreTransaction(connection, self.project, now, self.vault, is_repeat=is_repeat)

    def close(self) -> None:
        """Let go of all connections."""
        self.engine.dispose()
        self._close()


class KeyTable:
    """The keys of sealed texts that a store knows; where it is a server, all machines see them."""

    def __init__(self, store: AgentDatabase) -> None:
        self._store = store

    def list(self) -> Sequence[StoredKey]:
        return self._store.run(_stored_keys, read=True)

    def put(self, key: StoredKey) -> None:
        row = {"id": key.id, "wrapped": key.wrapped, "created": key.created, "destroyed": key.destroyed}
        self._store.run(lambda tx: tx.insert_new(SEALING_KEY, row))

    def end(self, key: str) -> None:
        self._store.run(lambda tx: _end_key(tx, key))
        if not self._store.is_shared:
            with self._store.engine.connect() as connection:  # or its bytes stay in the log beside the file
                connection.exec_driver_sql("COMMIT")
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")


def _stored_keys(tx: StoreTransaction) -> list[StoredKey]:
    columns = [SEALING_KEY.c[name] for name in ("id", "wrapped", "created", "destroyed")]
    rows = tx.all(sa.select(*columns).where(tx.of(SEALING_KEY)).order_by(SEALING_KEY.c.created, SEALING_KEY.c.id))
    return [StoredKey(**row._mapping) for row in rows]


def _end_key(tx: StoreTransaction, key: str) -> None:
    if tx.connection.dialect.name == "sqlite":
        tx.connection.exec_driver_sql("PRAGMA secure_delete = ON")  # or the wrapped key stays in a free page
    tx.insert_new(SEALING_KEY, {"id": key, "wrapped": "", "created": tx.now})
    tx.update(SEALING_KEY, SEALING_KEY.c.id == key, wrapped="", destroyed=tx.now)


@cache
def _insert_of(dialect: str) -> Any:
    from sqlalchemy.dialects import postgresql, sqlite

    return {"postgresql": postgresql.insert, "sqlite": sqlite.insert}[dialect]


def open_sqlite(path: str, project: str) -> AgentDatabase:
    """The store in a file, made or brought to this version's tables first."""
    make_private(path)
    engine = sqlite_engine(path)
    try:
        schema_steps.bring_up(engine)
    except exc.DBAPIError as error:
        raise explained(error, engine.url) from error
    return AgentDatabase(engine, project, close=_nothing)


def sqlite_engine(path: str) -> Engine:
    """An engine for a file; each transaction says at its beginning whether it will write."""
    engine = sa.create_engine(URL.create("sqlite", database=path), connect_args={"timeout": WAIT})

    @event.listens_for(engine, "connect")
    def prepare(raw: Any, _: object) -> None:
        raw.isolation_level = None  # or Python begins transactions of its own
        for setting in ("journal_mode = WAL", "synchronous = FULL"):  # a power cut loses nothing acknowledged
            raw.execute(f"PRAGMA {setting}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        reading = connection.get_execution_options().get("reading")
        connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")

    return engine


def open_url(url: str, project: str) -> AgentDatabase:
    """The store behind a URL, by a role that row-level security binds."""
    target = parsed(url)
    if target.drivername == "sqlite":
        return open_sqlite(os.path.abspath(target.database or ""), project)
    engine, close = postgres_engine(target)
    try:
        with engine.connect() as connection:
            schema_steps.refuse_other(connection)
            _refuse_unbound(connection)
    except exc.DBAPIError as error:
        close()
        raise explained(error, target) from error
    except HoldfastError:
        close()
        raise
    return AgentDatabase(engine, project, close=close)


def migrate(url: str, step: str) -> str:
    """Bring the tables behind a URL to a step, as a role that may; gives the step."""
    target = parsed(url)
    if target.drivername == "sqlite":
        engine, close = sqlite_engine(os.path.abspath(target.database or "")), _nothing
    else:
        engine, close = postgres_engine(target)
    try:
        with engine.begin() as connection:
            if engine.dialect.name == "postgresql":  # or two owners make the same table at once
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MIGRATING})")
            schema_steps.move(connection, step)
    except exc.DBAPIError as error:
        raise explained(error, target) from error
    finally:
        engine.dispose()
        close()
    return step


def make_graphs(url: str) -> list[int]:
    """Make the HNSW indexes that a Postgres database has use for, as its owner; gives their sizes."""
    target = parsed(url)
    if target.drivername == "sqlite":
        return []
    engine, close = postgres_engine(target)
    try:
        return vector_backends.make_graphs(engine)
    except exc.DBAPIError as error:
        raise explained(error, target) from error
    finally:
        engine.dispose()
        close()


def _nothing() -> None:
    """SQLite has no pool to let go of."""


def shown(url: str) -> str:
    """A URL as a person may see it: without passwords."""
    target = parsed(url)
    secret = [name for name in target.query if "pass" in name.lower() or "key" in name.lower()]
    return target.difference_update_query(secret).render_as_string(hide_password=True)


def parsed(url: str) -> URL:
    """A URL of a database we can use; BadInput if it is none. A password is never repeated."""
    try:
        target = make_url(url)
    except (exc.ArgumentError, ValueError):  # the second: a port that is no number
        raise BadInput("that is not the URL of a database", hint="Write postgresql://USER@HOST/DATABASE.") from None
    kind = target.drivername.partition("+")[0]
    if kind not in ("postgresql", "postgres", "sqlite") or (kind == "sqlite" and not target.database):
        raise BadInput(
            f"{kind} databases are not supported", hint="Write postgresql://USER@HOST/DATABASE or sqlite:///FILE."
        )
    if "@" in (target.host or ""):
        raise BadInput("the password in that URL has an @", hint="Write it as %40.")
    if target.host and "host" in target.query:
        raise BadInput("that URL names two hosts", hint="Write postgresql://USER@HOST/DATABASE.")
    return target.set(drivername="sqlite" if kind == "sqlite" else "postgresql")


def postgres_engine(target: URL) -> tuple[Engine, Callable[[], None]]:
    """An engine over a pool of connections, and how to let it go.

    SQLAlchemy's pool: it connects in the thread that asks, so whoever waits learns at once what is wrong, and after
    a restart of the server it drops every old connection at the first that is broken. psycopg's own connects in the
    background; in a test of thirty restarts it once gave no connection for 30 s to a server that answered.
    """
    try:
        import psycopg
        from psycopg.conninfo import make_conninfo
    except ImportError:
        raise NoDatabase(
            "Postgres needs psycopg",
            hint="Install again from Holdfast's own folder, with '.[postgres]' in place of '.'",
        ) from None
    parts = target.translate_connect_args(username="user", database="dbname")
    asked = {name: value if isinstance(value, str) else ",".join(value) for name, value in target.query.items()}
    options = {name: value for name, value in _NETWORK.items() if name not in asked}
    try:  # once before any retry: a wrong password does not get better
        address = make_conninfo(**parts, **asked)
        first = [psycopg.connect(address, **options)]
    except psycopg.Error as error:
        raise _sentence(str(error), target) from None

    def connect() -> Any:
        return first.pop() if first else psycopg.connect(address, **options)

    limits = {"pool_size": POOL, "max_overflow": 0, "pool_timeout": WAIT}
    engine = sa.create_engine("postgresql+psycopg://", creator=connect, **limits)
    engine.url = target.set(password=None)
    return engine, engine.dispose


def _refuse_unbound(connection: Connection) -> None:
    """Refuse a role that row-level security does not bind: with it one project could write into another."""
    name, is_super, bypasses, owns = connection.exec_driver_sql(_GUARDED).one()
    for is_so, why in ((is_super, "is a superuser"), (bypasses, "has BYPASSRLS"), (owns, "owns the tables")):
        if is_so:
            raise NoDatabase(
                f"the role {name} {why}, so projects would not be kept apart",
                hint="Connect as a plain login that is a member of holdfast_agents (docs/reference/agents.md).",
            )


def _passes(error: exc.DBAPIError | exc.TimeoutError) -> bool:
    """Whether the same transaction may work in a moment: the server went away, or another one was in the way."""
    if isinstance(error, exc.TimeoutError):
        return False  # the pool has waited already
    if error.connection_invalidated or (isinstance(error, exc.OperationalError) and _lost(error)):
        return True
    return getattr(error.orig, "sqlstate", None) in _PASSING


def _lost(error: exc.DBAPIError) -> bool:
    state = getattr(error.orig, "sqlstate", "") or ""
    is_sqlite = hasattr(error.orig, "sqlite_errorcode")
    return not is_sqlite and (not state or state.startswith(("08", "57P")))


def explained(error: Exception, url: URL) -> HoldfastError:
    """What a database said, as one sentence and a next step."""
    if isinstance(error, exc.TimeoutError):
        return Busy(f"all {POOL} connections to the agents' database are in use", hint="Close agents, or wait.")
    original = getattr(error, "orig", None) or error
    code = getattr(original, "sqlite_errorcode", 0) & 0xFF
    if code in (5, 6):  # SQLITE_BUSY, SQLITE_LOCKED
        return Busy("another process is writing to the agents' database")
    if code in (11, 26):  # SQLITE_CORRUPT, SQLITE_NOTADB
        return NoDatabase(
            f"{url.database} is damaged", hint="Move it aside and bring back a copy: holdfast agent import FILE."
        )
    return _sentence(str(original), url)


def _sentence(said: str, url: URL) -> HoldfastError:
    line = " ".join(_without_password(said, url).split())[:300]
    where = f"{url.host or url.query.get('host') or 'the server'}" if url.drivername == "postgresql" else url.database
    if any(word in said for word in _FULL):
        return NotStored(f"the agents' database has no room left: {line}")
    if "too many clients" in said or "remaining connection slots" in said or "too many connections" in said:
        return Busy(f"the server at {where} takes no more connections", hint="Close agents, or raise max_connections.")
    for words, sentence, hint in _KNOWN:
        if any(word in said for word in words):
            return NoDatabase(sentence.format(where=where, user=url.username, name=url.database, line=line), hint=hint)
    return NoDatabase(f"the agents' database at {where} does not answer: {line}")


def _without_password(said: str, url: URL) -> str:
    """What a driver said: of a URL that it cannot read it repeats all, the password included."""
    password = str(url.password or "")
    for secret in filter(None, (password, quote(password, safe=""), quote_plus(password))):
        said = said.replace(secret, "***")
    return said
