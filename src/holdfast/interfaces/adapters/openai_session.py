"""A session of the OpenAI Agents SDK: the items of a conversation, in the order in which they came.

    session = HoldfastSession(project, "ticket-4711")
    result = await Runner.run(agent, "…", session=session)
    session.record()

Items are kept as the SDK hands them over. Many processes may add to one session at once; each sees its own items
together.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any

from agents.memory import SessionABC, SessionSettings
from agents.memory.session_settings import coerce_session_settings

from holdfast.agent_store import adapter_rows
from holdfast.agent_store.agent_cycles import MICROS
from holdfast.agent_store.database import StoreTransaction
from holdfast.agent_store.tables import to_json
from holdfast.interfaces.adapters import Recording, SessionEntry, in_thread, record_session
from holdfast.model.event import timestamp
from holdfast.model.ids import token
from holdfast.project import Project

_ITEM = "openai"  # the kind of its rows


class HoldfastSession(SessionABC):
    """A conversation in the agent store; `agent` is the name its runs have in the log."""

    def __init__(
        self,
        project: Project,
        session_id: str,
        *,
        agent: str = "openai-agents",
        session_settings: SessionSettings | dict[str, Any] | None = None,
    ) -> None:
        given = SessionSettings() if session_settings is None else coerce_session_settings(session_settings)
        self.session_id, self.session_settings = session_id, given
        self._project, self._agent, self._database = project, agent, project.agents.database
        self._key = to_json([_ITEM, session_id])

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """The items, or the last `limit` of them; without a limit, that of the session's settings."""
        most = limit if limit is not None else self.session_settings.limit
        rows = await asyncio.to_thread(self._rows, None if most is None or most < 0 else most)
        return [row.body for row in rows]

    async def add_items(self, items: list[Any]) -> None:
        """Add items; durable on return, all of them or none."""
        if items:
            to_json(items)  # what is no JSON is refused before anything is kept
            await in_thread(self._database.run, partial(_add, key=self._key, items=list(items), action=token(16)))

    async def pop_item(self) -> Any:
        """Take the last item; None if there is none."""
        return await in_thread(self._database.run, partial(adapter_rows.pop, session=self._key, action=token(16)))

    async def clear_session(self) -> None:
        """Delete all items."""
        await in_thread(self._database.run, partial(adapter_rows.clear, session=self._key))

    def record(self) -> str | None:
        """Make what is new in this session a run of the project's log; gives the run's id."""
        entries = list(_entries(self._rows(None)))
        return record_session(self._project, self._agent, self.session_id, entries)

    def recording(self) -> Recording:
        """A block at whose end the session is recorded."""
        return Recording(self.record)

    def _rows(self, newest: int | None) -> list[Any]:
        return self._database.run(partial(adapter_rows.entries, session=self._key, newest=newest), read=True)


def _add(tx: StoreTransaction, key: str, items: list[Any], action: str) -> None:
    head = adapter_rows.make_session(tx, key, {})
    if not adapter_rows.entries_of(tx, key, action):
        adapter_rows.append(tx, key, head, items, kind=_ITEM, action=action)


def _entries(rows: list[Any]) -> Iterator[SessionEntry]:
    for row in rows:
        item = row.body if isinstance(row.body, dict) else {}
        when = timestamp(datetime.fromtimestamp(row.created / MICROS, UTC))
        kind = item.get("type") or "message"
        name = str(item.get("call_id") or row.position)
        if kind == "message":
            is_prompt = item.get("role") == "user"
            text = _text(item.get("content"))
            yield SessionEntry(kind="prompt" if is_prompt else "reply", id=str(row.position), ts=when, text=text)
        elif kind == "reasoning":
            yield SessionEntry(kind="reply", id=str(row.position), ts=when, reasoning=_text(item.get("summary")))
        elif kind.endswith("_output"):
            yield SessionEntry(kind="result", id=name, ts=when, text=_text(item.get("output")))
        elif kind.endswith("_call"):
            given = item.get("arguments") or item.get("action") or item.get("input") or ""
            tool = str(item.get("name") or kind.removesuffix("_call"))
            yield SessionEntry(kind="call", id=name, ts=when, name=tool, text=_text(given))


def _text(content: Any) -> str:
    """What a message says: a text, or the texts of its parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = (one.get("text") for one in content if isinstance(one, dict))
        return "\n".join(str(part) for part in parts if part)
    return "" if content is None else json.dumps(content, ensure_ascii=False)
