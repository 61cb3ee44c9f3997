"""Workspaces, what adapters keep, what pruning must know (pins and uses of a memory), and vectors for pgvector."""

import sqlalchemy as sa
from alembic import op

from holdfast.agent_store.migrations import VECTOR_TABLE, data, make_table, make_vector_table, number, on_postgres, text

revision = "0002"
down_revision = "0001"

TABLES = (
    *("workspace", "workspace_snapshot", "workspace_file", "workspace_chunk", "sealing_key"),
    *("checkpoint", "checkpoint_channel", "checkpoint_write"),
)


def upgrade() -> None:
    _add_columns()
    _make_workspaces()
    _make_checkpoints()


def _add_columns() -> None:
    with op.batch_alter_table("memory_record") as records:
        records.add_column(sa.Column("pinned", sa.Boolean, nullable=False, server_default=sa.false()))
        records.add_column(sa.Column("uses", sa.BigInteger, nullable=False, server_default="0"))
        records.add_column(sa.Column("used", sa.BigInteger))
    with op.batch_alter_table("memory_index") as vectors:
        vectors.add_column(sa.Column("added", sa.BigInteger, nullable=False, server_default="0"))
    op.create_index("memory_index_added", "memory_index", ["project_id", "model", "added"])
    make_vector_table()
    with op.batch_alter_table("transcript") as transcripts:
        transcripts.add_column(sa.Column("action", sa.Text))
        transcripts.create_index("transcript_action", ["project_id", "session", "action"])


def _make_workspaces() -> None:
    make_table("workspace", *map(text, ("id", "agent_id", "name")), number("created"), key="id")
    make_table(
        "workspace_snapshot",
        text("workspace_id"),
        *map(number, ("cycle", "created", "files", "size")),
        text("skipped"),
        key="workspace_id cycle",
    )
    make_table(
        "workspace_file",
        text("workspace_id"),
        number("cycle"),
        text("path"),
        number("mode", small=True),
        number("size"),
        text("chunks"),
        key="workspace_id cycle path",
    )
    make_table("workspace_chunk", text("digest"), number("used"), data("data"), key="digest")
    make_table(
        "sealing_key", *map(text, ("id", "wrapped")), number("created"), number("destroyed", null=True), key="id"
    )


def _make_checkpoints() -> None:
    make_table(
        "checkpoint",
        *map(text, ("thread", "namespace", "id")),
        text("parent", null=True),
        *map(text, ("run", "kind")),
        data("data"),
        *map(text, ("metadata", "versions")),
        key="thread namespace id",
        indexes="checkpoint_run run",
    )
    make_table(
        "checkpoint_channel",
        *map(text, ("thread", "namespace", "name", "version", "kind")),
        data("data"),
        key="thread namespace name version",
    )
    make_table(
        "checkpoint_write",
        *map(text, ("thread", "namespace", "checkpoint", "task")),
        number("position", small=True),
        *map(text, ("task_path", "channel", "kind")),
        data("data"),
        key="thread namespace checkpoint task position",
    )
    make_table(
        "store_item",
        *map(text, ("namespace", "name", "value")),
        *map(number, ("created", "updated")),
        *(number(name, null=True) for name in ("expires", "lifetime")),
        number("size", null=True, small=True),
        data("vectors", null=True),
        key="namespace name",
        indexes="store_item_expires expires",
    )


def downgrade() -> None:
    for name in (*TABLES, "store_item"):
        op.drop_table(name)
    with op.batch_alter_table("transcript") as transcripts:
        transcripts.drop_index("transcript_action")
        transcripts.drop_column("action")
    with op.batch_alter_table("memory_record") as records:
        for column in ("used", "uses", "pinned"):
            records.drop_column(column)
    if on_postgres():
        op.execute(f"DROP TABLE IF EXISTS {VECTOR_TABLE}")
    op.drop_index("memory_index_added", "memory_index")
    with op.batch_alter_table("memory_index") as vectors:
        vectors.drop_column("added")
