"""The tables of the agent store, the same on SQLite and Postgres.

`project_id` is the first column of every key: a server may hold many projects, and rows of one never meet those of
another (row-level security on Postgres, a condition everywhere). Moments are microseconds since 1970, by the
database's clock. What is JSON is kept as ASCII text, so that both engines keep it to the byte. Migrations, not this
module, make the tables; a test compares the two.
"""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, LargeBinary, MetaData, Table, Text
from sqlalchemy.types import TypeDecorator

from holdfast.errors import BadInput


class JsonText(TypeDecorator[Any]):
    """A value as JSON in a text column; ASCII, because Postgres refuses what SQLite takes (NUL, lone surrogates)."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, _: object) -> str | None:
        return None if value is None else to_json(value)

    def process_result_value(self, value: str | None, _: object) -> Any:
        return None if value is None else json.loads(value)


def to_json(value: Any) -> str:
    """A value as the store keeps it; BadInput if it is no JSON."""
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise BadInput(
            f"this cannot be kept as JSON: {error}", hint="Keep texts, numbers, lists and objects."
        ) from None


METADATA = MetaData()


def _table(name: str, *columns: Column[Any] | Index) -> Table:
    return Table(name, METADATA, Column("project_id", Text, primary_key=True), *columns)


def _key(name: str, kind: Any = Text) -> Column[Any]:
    return Column(name, kind, primary_key=True, autoincrement=False)


def _needed(name: str, kind: Any = Text) -> Column[Any]:
    return Column(name, kind, nullable=False)


AGENT = _table(
    "agent",
    _key("id"),
    _needed("name"),
    _needed("directives", JsonText),
    _needed("config", JsonText),
    Column("state", JsonText),
    _needed("cycles", BigInteger),
    Column("run_id", Text),
    Column("holder", Text),
    Column("held_until", BigInteger),
    _needed("created", BigInteger),
    Index("agent_name", "project_id", "name", unique=True),
)
CYCLE = _table(
    "agent_cycle",
    _key("agent_id"),
    _key("cycle", BigInteger),
    _needed("action"),
    _needed("run_id"),
    _needed("started", BigInteger),
    Column("ended", BigInteger),
    Index("agent_cycle_run", "project_id", "run_id"),
)
PROPOSAL = _table("action_proposal", _key("agent_id"), _key("cycle", BigInteger), _needed("body", JsonText))
RESULT = _table("action_result", _key("agent_id"), _key("cycle", BigInteger), _needed("body", JsonText))
RECORD = _table(
    "memory_record",
    _key("id"),
    _needed("agent_id"),
    Column("cycle", BigInteger),
    _needed("kind"),
    _needed("namespace"),
    _needed("text"),
    _needed("created", BigInteger),
    _needed("pinned", Boolean),
    _needed("uses", BigInteger),
    Column("used", BigInteger),
    Index("memory_record_namespace", "project_id", "namespace", "agent_id", "created"),
    Index("memory_record_cycle", "project_id", "agent_id", "cycle"),
)
VECTOR = _table(  # every embedding, whichever vector store answers: another one is filled from here
    "memory_index",
    _key("record_id"),
    _key("model"),
    _needed("agent_id"),
    _needed("namespace"),
    _needed("size", Integer),
    _needed("vector", LargeBinary),  # int8, a byte a number
    # When: whoever has the older ones loaded reads only what is newer.
    Column("added", BigInteger, nullable=False, server_default="0"),
    Index("memory_index_namespace", "project_id", "model", "namespace", "agent_id"),
    Index("memory_index_added", "project_id", "model", "added"),
)
EVIDENCE = _table("evidence", _key("record_id"), _key("source"))
TASK = _table(
    "task",
    _key("id"),
    _needed("title"),
    _needed("state"),
    Column("agent_id", Text),
    Column("holder", Text),
    Column("held_until", BigInteger),
    _needed("body", JsonText),
)
TRANSCRIPT = _table(
    "transcript",
    _key("session"),
    _key("position", BigInteger),
    Column("agent_id", Text),
    _needed("kind"),
    _needed("created", BigInteger),
    _needed("body", JsonText),
    Column("action", Text),  # what wrote this row: an operation that runs twice knows it again
    Index("transcript_action", "project_id", "session", "action"),
)
QUEUE = _table(
    "queue_item",
    _key("id"),
    _needed("agent_id"),
    _needed("action", JsonText),
    _needed("state"),
    _needed("attempts", Integer),
    _needed("most_attempts", Integer),
    _needed("ready", BigInteger),
    _needed("created", BigInteger),
    Column("holder", Text),
    Column("token", Text),
    Column("held_until", BigInteger),
    Column("outcome", JsonText),
    Index("queue_item_ready", "project_id", "agent_id", "state", "ready"),
)
WORKSPACE = _table("workspace", _key("id"), _needed("agent_id"), _needed("name"), _needed("created", BigInteger))
SNAPSHOT = _table(  # that a workspace was looked at in a cycle, also when no file had changed
    "workspace_snapshot",
    _key("workspace_id"),
    _key("cycle", BigInteger),
    _needed("created", BigInteger),
    _needed("files", BigInteger),
    _needed("size", BigInteger),
    _needed("skipped", JsonText),
)
FILE = _table(  # what changed in a cycle: a file is what its last row says; mode 0: it is gone
    "workspace_file",
    _key("workspace_id"),
    _key("cycle", BigInteger),
    _key("path"),
    _needed("mode", Integer),
    _needed("size", BigInteger),
    _needed("chunks", JsonText),
)
CHUNK = _table("workspace_chunk", _key("digest"), _needed("used", BigInteger), _needed("data", LargeBinary))
SEALING_KEY = _table(  # which keys text was sealed with; `wrapped` is empty where the key is kept elsewhere
    "sealing_key", _key("id"), _needed("wrapped"), _needed("created", BigInteger), Column("destroyed", BigInteger)
)
CHECKPOINT = _table(
    "checkpoint",
    _key("thread"),
    _key("namespace"),
    _key("id"),
    Column("parent", Text),
    _needed("run", Text),
    _needed("kind"),
    _needed("data", LargeBinary),
    _needed("metadata", JsonText),
    _needed("versions", JsonText),  # of its channels, by name
    Index("checkpoint_run", "project_id", "run"),
)
CHANNEL = _table(
    "checkpoint_channel",
    _key("thread"),
    _key("namespace"),
    _key("name"),
    _key("version"),
    _needed("kind"),
    _needed("data", LargeBinary),
)
WRITE = _table(
    "checkpoint_write",
    _key("thread"),
    _key("namespace"),
    _key("checkpoint"),
    _key("task"),
    _key("position", Integer),
    _needed("task_path"),
    _needed("channel"),
    _needed("kind"),
    _needed("data", LargeBinary),
)
ITEM = _table(
    "store_item",
    _key("namespace"),
    _key("name"),
    _needed("value", JsonText),
    _needed("created", BigInteger),
    _needed("updated", BigInteger),
    Column("expires", BigInteger),
    Column("lifetime", BigInteger),  # microseconds from each use to its end
    Column("size", Integer),  # numbers of one vector
    Column("vectors", LargeBinary),  # float32, one after the other; as its owner's model gave them
    Index("store_item_expires", "project_id", "expires"),
)
# Agents and their cycles first: whoever copies sees there whether an agent went on elsewhere.
EVERY = sorted(METADATA.sorted_tables, key=lambda table: (table is not AGENT, table is not CYCLE))
