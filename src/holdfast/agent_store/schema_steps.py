"""Which tables a database has, and the steps that bring it to those of this version or of another.

SQLite is brought up when it is opened. On Postgres an owner does it once (`holdfast agent migrate`), or a DBA runs
what `--sql` prints; agents themselves never may.
"""

from __future__ import annotations

import io
import os
from typing import Any

import sqlalchemy as sa
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.runtime.environment import EnvironmentContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy.engine import Connection, Engine

from holdfast.agent_store import tables
from holdfast.errors import BadInput, FutureFormat, NoDatabase

NEWEST = "0002"


def version(connection: Connection) -> str | None:
    """The step that a database stands at; None if it has no tables of ours."""
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    return MigrationContext.configure(connection).get_current_revision()


def bring_up(engine: Engine) -> None:
    """Take a database to this version's tables; FutureFormat if they are newer."""
    with engine.connect() as connection:
        there = version(connection)
    if there == NEWEST:
        return
    with engine.begin() as connection:  # whoever waited for another process looks again
        there = version(connection)
        _refuse_newer(there)
        if there != NEWEST:
            move(connection, NEWEST)


def refuse_other(connection: Connection) -> None:
    """Refuse a database whose tables are not those of this version."""
    there = version(connection)
    _refuse_newer(there)
    if there != NEWEST:
        has = f"the tables of step {there}, and this version needs {NEWEST}" if there else "no tables of Holdfast"
        raise NoDatabase(f"the database has {has}", hint="Let its owner run: holdfast agent migrate --url URL.")


def _refuse_newer(there: str | None) -> None:
    if there is not None and there not in {step.revision for step in _script().walk_revisions()}:
        raise FutureFormat(f"the agents' database was written by a newer Holdfast (step {there})")


def move(connection: Connection, to: str) -> None:
    """Take a database up or down to a step, within the transaction that is open; `base` takes everything away."""
    _run(to, lambda at: _steps(at, to), connection=connection)


def as_sql(to: str = NEWEST, since: str | None = None) -> str:
    """The same for Postgres as SQL, for somebody else to run."""
    written = io.StringIO()
    start = since or "base"
    _run(to, lambda _: _steps(() if start == "base" else (start,), to), url="postgresql://", sql=written, start=start)
    return written.getvalue()


def _script() -> ScriptDirectory:
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "migrations")
    return ScriptDirectory(here, version_locations=[here])


def _steps(at: Any, to: str) -> Any:
    script = _script()
    heads = (at,) if isinstance(at, str) else tuple(at or ())
    known = [step.revision for step in script.walk_revisions()]  # the newest first
    if to != "base" and to not in known:
        raise BadInput(f"there is no step {to}", hint=f"Use base, {', '.join(sorted(known))}.")
    down = to == "base" or (heads and known.index(heads[0]) < known.index(to))
    try:
        return script._downgrade_revs(to, heads) if down else script._upgrade_revs(to, heads)  # type: ignore[arg-type]
    except CommandError as error:
        raise BadInput(str(error)) from error


def _run(
    to: str,
    steps: Any,
    *,
    connection: Connection | None = None,
    url: str | None = None,
    sql: io.StringIO | None = None,
    start: str | None = None,
) -> None:
    options = {"as_sql": sql is not None, "starting_rev": start, "destination_rev": to}
    with EnvironmentContext(Config(), _script(), fn=lambda at, _: steps(at), **options) as environment:
        environment.configure(
            connection=connection,
            url=url,
            output_buffer=sql,
            target_metadata=tables.METADATA,
            render_as_batch=True,
            dialect_opts={"paramstyle": "named"},
        )
        with environment.begin_transaction():
            environment.run_migrations()
