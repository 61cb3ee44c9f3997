"""The tables: the same by migration as by description, up and down with data, refused where they are newer."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from demo.local_postgres import OWNER, LocalPostgres
from sqlalchemy.engine import Engine

from holdfast.agent_store import agent_cycles, database, schema_steps, tables
from holdfast.errors import BadInput, FutureFormat, NoDatabase
from tests.agent_store.conftest import new_database


@pytest.fixture(params=["sqlite", "postgres"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """A migrated database, as its owner sees it."""
    if request.param == "sqlite":
        made = database.sqlite_engine(str(tmp_path / "agents.db"))
        schema_steps.bring_up(made)
        yield made
        made.dispose()
        return
    server: LocalPostgres = request.getfixturevalue("server")
    made, close = database.postgres_engine(database.parsed(server.url(new_database(server), OWNER)))
    yield made
    close()


def test_the_migrations_make_the_tables_that_the_code_uses(engine: Engine) -> None:
    """A column that only one of them knows fails on the first machine that is upgraded."""
    ours = {table.name for table in tables.EVERY}  # a table of pgvector's own type stands beside them

    def is_ours(name: str | None, kind: str, _: object) -> bool:
        return kind != "table" or name in ours

    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "include_name": is_ours})
        assert compare_metadata(context, tables.METADATA) == []


def test_every_key_begins_with_the_project() -> None:
    """Rows of one project never meet those of another, and a server can be parted by project."""
    assert {table.name: next(c.name for c in table.primary_key) for table in tables.EVERY} == dict.fromkeys(
        (table.name for table in tables.EVERY), "project_id"
    )
    indexed = [index for table in tables.EVERY for index in table.indexes]
    assert indexed and all(next(iter(index.columns)).name == "project_id" for index in indexed)


def test_data_goes_down_a_step_and_up_again(engine: Engine) -> None:
    """Somebody who has to go back to the version before keeps what their agents did."""
    row = {"project_id": "p", "id": "m", "agent_id": "a", "kind": "plan", "namespace": "n", "text": "t", "created": 5}
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(sa.text("SELECT set_config('holdfast.project', 'p', true)"))
        connection.execute(tables.RECORD.insert(), {**row, "pinned": True, "uses": 3, "used": 9})
        schema_steps.move(connection, "0001")
        assert schema_steps.version(connection) == "0001"
        assert connection.execute(sa.text("SELECT text, created FROM memory_record")).all() == [("t", 5)]
        schema_steps.move(connection, "0002")
        kept = connection.execute(sa.select(tables.RECORD)).one()._mapping
    assert (kept["text"], kept["pinned"], kept["uses"], kept["used"]) == ("t", False, 0, None)


def test_everything_can_be_taken_away(engine: Engine) -> None:
    """Whoever tries it on their server must be able to remove it."""
    with engine.begin() as connection:
        schema_steps.move(connection, "base")
    with engine.connect() as connection:
        left = set(sa.inspect(connection).get_table_names())
    assert left <= {"alembic_version"}


def test_a_newer_database_is_refused_in_one_sentence(engine: Engine) -> None:
    """An old version that writes into new tables damages what it does not understand."""
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '0999'"))
    with pytest.raises(FutureFormat, match="newer Holdfast"), engine.connect() as connection:
        schema_steps.refuse_other(connection)
    with pytest.raises(FutureFormat):
        schema_steps.bring_up(engine)


def test_an_older_server_says_what_its_owner_must_do(server: LocalPostgres) -> None:
    """An agent may not change tables; the person who can is told how."""
    name = new_database(server)
    engine, close = database.postgres_engine(database.parsed(server.url(name, OWNER)))
    with engine.begin() as connection:
        schema_steps.move(connection, "0001")
    close()
    with pytest.raises(NoDatabase, match="step 0001") as caught:
        database.open_url(server.url(name), "p")
    assert "agent migrate" in caught.value.hint


def test_the_sql_for_a_dba_makes_the_same_tables(server: LocalPostgres) -> None:
    """Where only a DBA may change tables, they run what they can read."""
    server.sql(f"CREATE DATABASE by_hand OWNER {OWNER}")
    server.sql(f"SET ROLE {OWNER};\n{schema_steps.as_sql()}", database="by_hand")
    opened = database.open_url(server.url("by_hand"), "p")
    assert opened.run(partial(agent_cycles.get_agent, name="a", new_id="A", directives=None, config=None)).name == "a"
    opened.close()


def test_a_step_that_is_none_is_refused(engine: Engine) -> None:
    with pytest.raises(BadInput, match="no step"), engine.begin() as connection:
        schema_steps.move(connection, "0017")


@pytest.mark.parametrize("role", ["superuser", "owner", "bypass"])
def test_a_role_that_row_security_does_not_bind_is_refused(server: LocalPostgres, role: str) -> None:
    """With such a role a mistake in one project writes into another."""
    name = new_database(server)
    if role == "bypass":
        there = server.sql("SELECT 1 FROM pg_roles WHERE rolname = 'bypasser'")
        if not there:
            server.sql("CREATE ROLE bypasser LOGIN BYPASSRLS IN ROLE holdfast_agents")
    user = {"superuser": "postgres", "owner": OWNER, "bypass": "bypasser"}[role]
    with pytest.raises(NoDatabase, match="kept apart"):
        database.open_url(server.url(name, user), "p")
