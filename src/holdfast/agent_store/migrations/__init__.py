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
        op.execute(f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE {name} FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY one_project ON {name} USING ({_ONE}) WITH CHECK ({_ONE})")
        op.execute(f"CREATE POLICY named_projects ON {name} FOR SELECT USING ({_SOME})")
        op.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {name} TO {ROLE}")


def text(name: str, *, null: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.Text, nullable=null)


def number(name: str, *, null: bool = False, small: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.Integer if small else sa.BigInteger, nullable=null)


def data(name: str, *, null: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.LargeBinary, nullable=null)
