"""Workspaces, what adapters keep, and what pruning must know: pins and uses of a memory."""

import sqlalchemy as sa
from alembic import op

from holdfast.agent_store.migrations import data, make_table, number, text

revision = "0002"
down_revision = "0001"

TABLES = (
    *("workspace", "workspace_snapshot", "workspace_file", "workspace_chunk", "sealing_key"),
    *("checkpoint", "checkpoint_channel", "checkpoint_write"),
)


def upgrade() -> None:
    with op.batch_alter_table("memory_record") as records:
        records.add_column(sa.Column("pinned", sa.Boolean, nullable=False, server_default=sa.false()))
        records.add_column(sa.Column("uses", sa.BigInteger, nullable=False, server_default="0"))
        records.add_column(sa.Column("used", sa.BigInteger))
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
    make_table(
        "checkpoint",
        *map(text, ("thread", "namespace", "id")),
        text("parent", null=True),
        *map(text, ("run", "kind")),
        data("data"),
        text("metadata"),
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
        *(number(name, null=True) for name in ("expires", "minutes")),
        key="namespace name",
    )


def downgrade() -> None:
    for name in (*TABLES, "store_item"):
        op.drop_table(name)
    with op.batch_alter_table("memory_record") as records:
        for column in ("used", "uses", "pinned"):
            records.drop_column(column)
