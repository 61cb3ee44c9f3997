"""How the tables of the agent store came to be, one step a module; Alembic runs them up and down.

On Postgres each table is guarded by row-level security: a session reads the projects it names and writes one. That
protects against mistakes, not against somebody who has the password.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

ROLE = "holdfast_agents"  # what may use the tables; a login is made a member of it
_ONE = "project_id = current_setting('holdfast.project', true)"
_SOME = "project_id = ANY (string_to_array(current_setting('holdfast.projects', true), ','))"

VECTOR_TABLE = "memory_vector"
# In one block, because whether the extension is there is known only where it runs: `--sql` prints this, too. The
# extension is not trusted, so an owner who may not make it gets the rest, and recall says what is missing.
_VECTORS = f"""DO $$ BEGIN
IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector') THEN
  BEGIN CREATE EXTENSION IF NOT EXISTS vector;
  EXCEPTION WHEN insufficient_privilege THEN RAISE NOTICE 'the extension vector is missing: vectors stay embedded';
  END;
END IF;
IF to_regtype('halfvec') IS NOT NULL AND to_regclass('{VECTOR_TABLE}') IS NULL THEN
  CREATE TABLE {VECTOR_TABLE} (project_id text NOT NULL, record_id text NOT NULL, model text NOT NULL,
    agent_id text NOT NULL, namespace text NOT NULL, size integer NOT NULL, embedding halfvec NOT NULL,
    PRIMARY KEY (project_id, record_id, model));
  CREATE INDEX {VECTOR_TABLE}_namespace ON {VECTOR_TABLE} (project_id, model, namespace, agent_id);
  {{guard}}
END IF; END $$"""


def on_postgres() -> bool:
    """Whether the step runs on Postgres."""
    return op.get_context().dialect.name == "postgresql"


def make_role() -> None:
    """Make the role that may use the tables, if nobody did."""
    if on_postgres():
        there = f"SELECT FROM pg_roles WHERE rolname = '{ROLE}'"
        op.execute(f"DO $$ BEGIN IF NOT EXISTS ({there}) THEN CREATE ROLE {ROLE} NOLOGIN; END IF; END $$")
        op.execute(f"GRANT SELECT ON alembic_version TO {ROLE}")


def make_table(name: str, *columns: Any, key: str = "", indexes: str = "") -> None:
    """Make a table whose key begins with the project; `indexes`: a line each, its name and its columns."""
    first = sa.Column("project_id", sa.Text, nullable=False)
    op.create_table(name, first, *columns, sa.PrimaryKeyConstraint("project_id", *key.split()))
    for line in filter(str.strip, indexes.splitlines()):
        index, *names = line.split()
        op.create_index(index, name, ["project_id", *names], unique=index.endswith("_name"))
    if on_postgres():
        for statement in _guards(name):
            op.execute(statement)


def _guards(name: str) -> tuple[str, ...]:
    """What keeps the projects in a table apart, and lets our role use it."""
    return (
        f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY",
        f"ALTER TABLE {name} FORCE ROW LEVEL SECURITY",
        f"CREATE POLICY one_project ON {name} USING ({_ONE}) WITH CHECK ({_ONE})",
        f"CREATE POLICY named_projects ON {name} FOR SELECT USING ({_SOME})",
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON {name} TO {ROLE}",
    )


def make_vector_table() -> None:
    """Make the table that pgvector searches, where the extension is or may be made; SQLite has none."""
    if on_postgres():
        op.execute(vector_table_sql())


def vector_table_sql() -> str:
    """The same as SQL, for an owner who got the extension later; run again it changes nothing."""
    return _VECTORS.format(guard="; ".join(_guards(VECTOR_TABLE)) + ";")


def text(name: str, *, null: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.Text, nullable=null)


def number(name: str, *, null: bool = False, small: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.Integer if small else sa.BigInteger, nullable=null)


def data(name: str, *, null: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.LargeBinary, nullable=null)
