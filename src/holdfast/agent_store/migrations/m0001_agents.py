"""Agents, their cycles, memories with vectors, tasks, transcripts and the queue."""

from alembic import op

from holdfast.agent_store.migrations import data, make_role, make_table, number, text

revision = "0001"
down_revision = None

TABLES = (
    *("agent", "agent_cycle", "action_proposal", "action_result", "memory_record", "memory_index", "evidence"),
    *("task", "transcript", "queue_item"),
)


def upgrade() -> None:
    make_role()
    make_table(
        "agent",
        *map(text, ("id", "name", "directives", "config")),
        text("state", null=True),
        number("cycles"),
        text("run_id", null=True),
        text("holder", null=True),
        number("held_until", null=True),
        number("created"),
        key="id",
        indexes="agent_name name",
    )
    make_table(
        "agent_cycle",
        text("agent_id"),
        number("cycle"),
        *map(text, ("action", "run_id")),
        number("started"),
        number("ended", null=True),
        key="agent_id cycle",
        indexes="agent_cycle_run run_id",
    )
    for name in ("action_proposal", "action_result"):
        make_table(name, text("agent_id"), number("cycle"), text("body"), key="agent_id cycle")
    make_table(
        "memory_record",
        *map(text, ("id", "agent_id")),
        number("cycle", null=True),
        *map(text, ("kind", "namespace", "text")),
        number("created"),
        key="id",
        indexes="memory_record_namespace namespace agent_id created\nmemory_record_cycle agent_id cycle",
    )
    make_table(
        "memory_index",
        *map(text, ("record_id", "model", "agent_id", "namespace")),
        number("size", small=True),
        data("vector"),
        key="record_id model",
        indexes="memory_index_namespace model namespace agent_id",
    )
    make_table("evidence", *map(text, ("record_id", "source")), key="record_id source")
    _work()


def _work() -> None:
    make_table(
        "task",
        *map(text, ("id", "title", "state")),
        text("agent_id", null=True),
        text("holder", null=True),
        number("held_until", null=True),
        text("body"),
        key="id",
    )
    make_table(
        "transcript",
        text("session"),
        number("position"),
        text("agent_id", null=True),
        text("kind"),
        number("created"),
        text("body"),
        key="session position",
    )
    make_table(
        "queue_item",
        *map(text, ("id", "agent_id", "action", "state")),
        *(number(name, small=True) for name in ("attempts", "most_attempts")),
        *map(number, ("ready", "created")),
        text("holder", null=True),
        text("token", null=True),
        number("held_until", null=True),
        text("outcome", null=True),
        key="id",
        indexes="queue_item_ready agent_id state ready",
    )


def downgrade() -> None:
    for name in reversed(TABLES):
        op.drop_table(name)
