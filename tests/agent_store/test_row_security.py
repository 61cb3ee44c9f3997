"""Row-level security on Postgres: a session of one project cannot touch another's rows, whatever a query forgets.

All sessions share one pool of connections, as the agents of a process do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from demo.local_postgres import LocalPostgres

from holdfast.agent_store import database
from holdfast.agent_store.database import AgentDatabase, StoreTransaction
from holdfast.agent_store.tables import EVERY, JsonText
from holdfast.errors import NoDatabase
from tests.agent_store.conftest import new_database

TABLES = pytest.mark.parametrize("table", EVERY, ids=[table.name for table in EVERY])
_SAMPLES: tuple[tuple[type, Any], ...] = (
    (JsonText, {"a": 1}),
    (sa.Boolean, False),
    (sa.Integer, 1),
    (sa.LargeBinary, b"x"),
    (sa.Text, "x"),
)


def sample(table: sa.Table, **changed: Any) -> dict[str, Any]:
    """A row of any table."""
    return {
        column.name: next(value for kind, value in _SAMPLES if isinstance(column.type, kind)) for column in table.c
    } | changed


@pytest.fixture(scope="module")
def pair(server: LocalPostgres) -> Iterator[tuple[AgentDatabase, AgentDatabase]]:
    """Two projects on one pool; each has a row in every table."""
    one = database.open_url(server.url(new_database(server)), "one")
    two = AgentDatabase(one.engine, "two", close=lambda: None)
    for store in (one, two):
        for table in EVERY:
            store.run(lambda tx, table=table: tx.insert(table, sample(table, project_id=tx.project)))
    yield one, two
    one.close()


def of(store: AgentDatabase, table: sa.Table, **options: Any) -> list[str]:
    """The projects of all rows that a query sees which forgot to name one."""
    rows = store.run(lambda tx: tx.all(sa.select(table.c.project_id)), **options)
    return sorted(row.project_id for row in rows)


class _Wanted(Exception):
    """Ends a transaction without its being kept."""


def rolled_back(store: AgentDatabase, operation: Callable[[StoreTransaction], Any]) -> Any:
    """What an operation gives in a transaction that is not kept."""
    given: list[Any] = []

    def run(tx: StoreTransaction) -> None:
        given.append(operation(tx))
        raise _Wanted

    with pytest.raises(_Wanted):
        store.run(run)
    return given[0]


@TABLES
def test_a_session_reads_its_own_rows_alone(pair: tuple[AgentDatabase, AgentDatabase], table: sa.Table) -> None:
    """One forgotten condition must not show a team's work to another."""
    one, two = pair
    assert (of(one, table), of(two, table)) == (["one"], ["two"])
    rolled_back(two, lambda tx: tx.all(sa.select(table)))
    assert of(one, table) == ["one"]  # on the connection of the transaction that was rolled back
    assert of(one, table, read=True, projects=["two"]) == ["one", "two"]
    assert of(one, table) == ["one"]


@TABLES
def test_a_session_cannot_write_rows_of_another(pair: tuple[AgentDatabase, AgentDatabase], table: sa.Table) -> None:
    """A wrong project in a row would make it another team's truth."""
    one, two = pair
    foreign = sample(table, project_id="two", **{_text_key(table): "new"})
    for attempt in (
        lambda tx: tx.connection.execute(sa.insert(table), [foreign]),
        lambda tx: tx.connection.execute(sa.update(table).values(project_id="two")),
    ):
        with pytest.raises(NoDatabase, match="the role may not do this"):
            one.run(attempt)
    changed = rolled_back(one, lambda tx: tx.connection.execute(sa.update(table).values(project_id="one")).rowcount)
    deleted = rolled_back(one, lambda tx: tx.connection.execute(sa.delete(table)).rowcount)
    assert (changed, deleted) == (1, 1)  # each its own row, and no other
    named = sa.delete(table).where(table.c.project_id == "two")
    assert one.run(lambda tx: tx.connection.execute(named).rowcount) == 0
    assert of(two, table) == ["two"]


@TABLES
def test_who_reads_other_projects_writes_none(pair: tuple[AgentDatabase, AgentDatabase], table: sa.Table) -> None:
    """A recall across projects must not be able to change one."""
    one, two = pair
    for read in (True, False):
        for attempt in (
            sa.delete(table),
            sa.update(table).values(project_id="one"),
            sa.insert(table).values(**sample(table, project_id="two", **{_text_key(table): "new"})),
        ):
            with pytest.raises(NoDatabase, match=r"read-only|may not"):
                one.run(lambda tx, attempt=attempt: tx.connection.execute(attempt), read=read, projects=["two"])
    assert (of(one, table), of(two, table)) == (["one"], ["two"])


def _text_key(table: sa.Table) -> str:
    return next(column.name for column in table.primary_key if column.name != "project_id" and _is_text(column))


def _is_text(column: sa.Column[Any]) -> bool:
    return isinstance(column.type, sa.Text)


def test_what_a_transaction_may_see_ends_with_it(pair: tuple[AgentDatabase, AgentDatabase]) -> None:
    """A connection goes back to the pool; its next user must begin with nothing."""
    one, _ = pair
    asked = sa.text("SELECT pg_backend_pid(), current_setting('holdfast.project', true), (SELECT count(*) FROM agent)")

    def inside(tx: StoreTransaction) -> Any:
        return tx.connection.execute(asked).one()

    for before in (
        lambda: one.run(inside),
        lambda: rolled_back(one, inside),
        lambda: one.run(inside, read=True, projects=["two"]),
    ):
        number, project, seen = before()
        assert project == "one" and seen
        with one.engine.connect() as connection:
            assert tuple(connection.execute(asked).one()) == (number, "", 0)


def test_a_table_of_ours_without_a_guard_is_noticed(server: LocalPostgres) -> None:
    """The next migration must not forget what the others do."""
    name = new_database(server)
    asked = "SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
    guarded = server.sql(f"{asked} AND relrowsecurity AND relforcerowsecurity", database=name)
    # Beside those of `tables` there is one of pgvector's own type; only Alembic's is not guarded.
    assert int(guarded) == len(EVERY) + 1 == int(server.sql(asked, database=name)) - 1


@pytest.mark.parametrize(
    ("words", "why"),
    [("SUPERUSER", "is a superuser"), ("BYPASSRLS", "has BYPASSRLS"), ("IN ROLE holdfast_owner", "owns the tables")],
)
def test_a_role_that_no_guard_binds_is_refused(server: LocalPostgres, words: str, why: str) -> None:
    """With such a role every guard here is a word."""
    role = f"unbound_{words.split(maxsplit=1)[0].lower()}"
    server.sql(f"CREATE ROLE {role} LOGIN IN ROLE holdfast_agents")
    server.sql(f"GRANT holdfast_owner TO {role}" if words.startswith("IN ROLE") else f"ALTER ROLE {role} {words}")
    with pytest.raises(NoDatabase, match=why):
        database.open_url(server.url(new_database(server), user=role), "one")
