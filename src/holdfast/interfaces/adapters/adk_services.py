"""Google ADK's session service and memory service.

    runner = Runner(..., session_service=HoldfastSessionService(project), memory_service=HoldfastMemoryService(project))

A session is a transcript of its events; its state stands in the transcript's first row, that of an app or a user in
items that all their sessions share, and `temp:` state nowhere. Many processes may append to one session: all events
are kept in the order in which they arrive, and of one key of the state the last value. Memory is a user's events that
were added to it, found by their words.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.events.event import Event
from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions.base_session_service import BaseSessionService, GetSessionConfig, ListSessionsResponse
from google.adk.sessions.session import Session
from google.adk.sessions.state import State
from pydantic_core import to_jsonable_python

from holdfast.agent_store import adapter_rows
from holdfast.agent_store.agent_cycles import MICROS
from holdfast.agent_store.database import StoreTransaction
from holdfast.agent_store.tables import to_json
from holdfast.interfaces.adapters import Recording, SessionEntry, in_thread, record_session
from holdfast.model.event import timestamp
from holdfast.model.ids import token
from holdfast.project import Project

try:
    from google.adk.errors.session_not_found_error import SessionNotFoundError
except ModuleNotFoundError:  # older ones say so with a ValueError, which this is as well
    SessionNotFoundError = ValueError

_OWNER = "adk"  # of its sessions, and of the items that hold state
_MEMORY = "adk-memory"
_APP, _USER, _TEMP = State.APP_PREFIX, State.USER_PREFIX, State.TEMP_PREFIX
_MAX_FOUND = 10  # memories that a search gives, as many as ADK's own: they all go into a prompt


class HoldfastSessionService(BaseSessionService):
    """Sessions in the agent store; a run in the log has the name of the session's app."""

    def __init__(self, project: Project) -> None:
        self._project, self._database = project, project.agents.database

    async def create_session(
        self, *, app_name: str, user_id: str, state: dict[str, Any] | None = None, session_id: str | None = None
    ) -> Session:
        """Make a session; AlreadyExistsError if there is one of this id."""
        identity = (session_id or "").strip() or token(24)
        scopes = _scopes(state or {})
        head = {"app": app_name, "user": user_id, "id": identity, "state": scopes[""], "made_by": token(16)}
        await in_thread(self._database.run, partial(_create, head=head, scopes=scopes))
        found = await self.get_session(app_name=app_name, user_id=user_id, session_id=identity)
        assert found is not None
        return found

    async def get_session(
        self, *, app_name: str, user_id: str, session_id: str, config: GetSessionConfig | None = None
    ) -> Session | None:
        """A session with its events and all state that it sees; None if there is none."""
        read = partial(_session, app=app_name, user=user_id, identity=(session_id or "").strip(), config=config)
        return await asyncio.to_thread(self._database.run, read, read=True)

    async def list_sessions(self, *, app_name: str, user_id: str | None = None) -> ListSessionsResponse:
        """The sessions of an app, or of one of its users, without their events; the last changed comes last."""
        read = partial(_sessions, app=app_name, user=user_id)
        return ListSessionsResponse(sessions=await asyncio.to_thread(self._database.run, read, read=True))

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Forget a session; the state of its app and its user stays."""
        key = _key(app_name, user_id, (session_id or "").strip())
        await in_thread(self._database.run, partial(adapter_rows.delete_session, session=key))

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """The state of a user, without the prefix."""
        read = partial(_shared_state, place=_state_of_user(app_name, user_id), prefix="")
        return await asyncio.to_thread(self._database.run, read, read=True)

    async def append_event(self, session: Session, event: Event) -> Event:
        """Keep an event and what it changes; durable on return. The same event again changes nothing."""
        if event.partial:
            return event
        delta = dict(event.actions.state_delta or {}) if event.actions else {}
        if event.actions and event.actions.state_delta:
            kept = {name: value for name, value in delta.items() if not name.startswith(_TEMP)}
            event.actions.state_delta = kept
        body = json.loads(event.model_dump_json(exclude_none=True, fallback=str))
        key = _key(session.app_name, session.user_id, session.id)
        is_new = await in_thread(
            self._database.run, partial(_append, key=key, body=body, scopes=_scopes(delta), identity=session.id)
        )
        if is_new:
            session.state.update(delta)
            session.events.append(event)
            session.last_update_time = event.timestamp
        return event

    def record(self, session: Session) -> str | None:
        """Make what is new in a session a run of the project's log; gives the run's id."""
        read = partial(_session, app=session.app_name, user=session.user_id, identity=session.id, config=None)
        there = self._database.run(read, read=True)
        entries = [] if there is None else list(_entries(there.events))
        name = f"{session.user_id}/{session.id}"
        return record_session(self._project, session.app_name, name, entries)

    def recording(self, session: Session) -> Recording:
        """A block at whose end a session is recorded."""
        return Recording(partial(self.record, session))


def _create(tx: StoreTransaction, head: Mapping[str, Any], scopes: Mapping[str, Any]) -> None:
    updated = {"updated": tx.now / MICROS}
    there = adapter_rows.make_session(tx, _key(head["app"], head["user"], head["id"]), {**head, **updated})
    if there["made_by"] != head["made_by"]:
        raise AlreadyExistsError(f"Session with id {head['id']} already exists.")
    _share(tx, head["app"], head["user"], scopes)


def _append(tx: StoreTransaction, key: str, body: dict[str, Any], scopes: Mapping[str, Any], identity: str) -> bool:
    """Keep an event; False if it is there already."""
    head = adapter_rows.session_head(tx, key, lock=True)
    if head is None:
        raise SessionNotFoundError(f"Session {identity} not found.")
    if any(row.body == body for row in adapter_rows.entries_of(tx, key, body["id"])):
        return False
    head = {**head, "state": {**head["state"], **scopes[""]}, "updated": body["timestamp"]}
    adapter_rows.append(tx, key, head, [body], kind=_OWNER, action=body["id"])
    _share(tx, head["app"], head["user"], scopes)
    return True


def _share(tx: StoreTransaction, app: str, user: str, scopes: Mapping[str, Any]) -> None:
    for place, state in ((_state_of_app(app), scopes[_APP]), (_state_of_user(app, user), scopes[_USER])):
        for name in sorted(state):  # in one order: two that share the same keys do not wait for each other in a ring
            adapter_rows.put_item(tx, place, name, {"value": state[name]})


def _session(
    tx: StoreTransaction, app: str, user: str, identity: str, config: GetSessionConfig | None
) -> Session | None:
    key = _key(app, user, identity)
    head = adapter_rows.session_head(tx, key)
    if head is None:
        return None
    most = config.num_recent_events if config else None
    rows = adapter_rows.entries(tx, key, newest=most)
    events = [Event.model_validate_json(to_json(row.body)) for row in rows]
    since = config.after_timestamp if config else None
    made = _without_events(tx, head)
    made.events = events if since is None else [one for one in events if one.timestamp >= since]
    return made


def _sessions(tx: StoreTransaction, app: str, user: str | None) -> list[Session]:
    prefix = to_json([_OWNER, app] if user is None else [_OWNER, app, user]).removesuffix("]")
    found = [_without_events(tx, head) for head in adapter_rows.session_heads(tx, f"{prefix},")]
    return sorted(found, key=lambda one: (one.last_update_time, one.user_id, one.id))


def _without_events(tx: StoreTransaction, head: Mapping[str, Any]) -> Session:
    app, user = head["app"], head["user"]
    state = {
        **head["state"],
        **_shared_state(tx, place=_state_of_app(app), prefix=_APP),
        **_shared_state(tx, place=_state_of_user(app, user), prefix=_USER),
    }
    return Session(id=head["id"], app_name=app, user_id=user, state=state, last_update_time=head["updated"])


def _shared_state(tx: StoreTransaction, place: str, prefix: str) -> dict[str, Any]:
    return {f"{prefix}{json.loads(row.name)}": row.value["value"] for row in adapter_rows.items_in(tx, place)}


def _scopes(state: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """State by who shares it, as JSON; what is no JSON becomes its text. What lives for one call only is left out."""
    scopes: dict[str, dict[str, Any]] = {"": {}, _APP: {}, _USER: {}}
    for name, value in state.items():
        prefix = next((one for one in (_APP, _USER, _TEMP) if name.startswith(one)), "")
        if prefix != _TEMP:
            plain = to_jsonable_python(value, fallback=str, inf_nan_mode="null")
            scopes[prefix][name.removeprefix(prefix)] = plain
    return scopes


def _key(app: str, user: str, identity: str) -> str:
    return to_json([_OWNER, app, user, identity])


def _state_of_app(app: str) -> str:
    return adapter_rows.item_name(_OWNER, "app", app)


def _state_of_user(app: str, user: str) -> str:
    return adapter_rows.item_name(_OWNER, "user", app, user)


def _entries(events: Sequence[Event]) -> Iterator[SessionEntry]:
    for event in events:
        when = timestamp(datetime.fromtimestamp(event.timestamp, UTC))
        parts = (event.content.parts if event.content else None) or []
        said = "\n".join(part.text for part in parts if part.text and not part.thought)
        thought = "\n".join(part.text for part in parts if part.text and part.thought)
        if said or thought:
            kind = "prompt" if event.author == "user" else "reply"
            yield SessionEntry(kind=kind, id=event.id, ts=when, text=said, reasoning=thought)
        for call in event.get_function_calls():
            given = json.dumps(call.args, ensure_ascii=False, default=str)
            yield SessionEntry(kind="call", id=call.id or event.id, ts=when, name=call.name or "", text=given)
        for came in event.get_function_responses():
            answer = came.response or {}
            text = json.dumps(answer, ensure_ascii=False, default=str)
            yield SessionEntry(kind="result", id=came.id or event.id, ts=when, text=text, failed="error" in answer)


class HoldfastMemoryService(BaseMemoryService):
    """What a user's sessions said, found by its words."""

    def __init__(self, project: Project) -> None:
        self._database = project.agents.database

    async def add_session_to_memory(self, session: Session) -> None:
        """Let memory know of a session what it holds now, and nothing else."""
        await self._add(session.app_name, session.user_id, session.id, session.events, whole=True)

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Add events to what memory knows of a session."""
        del custom_metadata
        await self._add(app_name, user_id, session_id or "", events, whole=False)

    async def _add(self, app: str, user: str, session: str, events: Sequence[Event], *, whole: bool) -> None:
        values = {
            one.id: {"session": session, "event": json.loads(one.model_dump_json(exclude_none=True, fallback=str))}
            for one in events
            if one.content and one.content.parts
        }
        place = adapter_rows.item_name(_MEMORY, app, user)
        await in_thread(self._database.run, partial(_learn, place=place, session=session, values=values, whole=whole))

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """The memories of a user that share the most words with a query."""
        place = adapter_rows.item_name(_MEMORY, app_name, user_id)
        rows = await asyncio.to_thread(self._database.run, partial(adapter_rows.items_in, namespace=place), read=True)
        first = {row.value["began"]: at for at, row in enumerate(rows) if "began" in row.value}
        known = [row.value for row in rows if "event" in row.value]
        known.sort(key=lambda value: (first[value["session"]], value["at"]))
        words = _words(query)
        scored = [(_shared(value["event"], words), value["event"]) for value in known]
        best = sorted((hit for hit in scored if hit[0]), key=lambda hit: -hit[0])[:_MAX_FOUND]
        return SearchMemoryResponse(memories=[_memory(event) for _, event in best])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Forget one memory; adding its session again does not bring it back."""
        place = adapter_rows.item_name(_MEMORY, app_name, user_id)
        if memory_id:
            await in_thread(self._database.run, partial(_unlearn, place=place, memory=memory_id))


def _learn(tx: StoreTransaction, place: str, session: str, values: Mapping[str, Any], whole: bool) -> None:
    known = {json.loads(row.name): row.value for row in adapter_rows.items_in(tx, place)}
    mine = {name: value for name, value in known.items() if value.get("session") == session and "event" in value}
    if (began := to_json([session])) not in known:
        adapter_rows.put_item(tx, place, began, {"began": session})
    if whole:
        for name in mine.keys() - {_memory_name(session, one) for one in values}:
            adapter_rows.delete_item(tx, place, name)
    at = 0 if whole else 1 + max((value["at"] for value in mine.values()), default=-1)
    for one in values:
        name = _memory_name(session, one)
        is_deleted = _memory_name(None, one) in known
        if not is_deleted and (whole or name not in mine):
            adapter_rows.put_item(tx, place, name, {**values[one], "at": at})
            at += 1


def _unlearn(tx: StoreTransaction, place: str, memory: str) -> None:
    for row in adapter_rows.items_in(tx, place):
        if row.value.get("event", {}).get("id") == memory:
            adapter_rows.delete_item(tx, place, json.loads(row.name))
            adapter_rows.put_item(tx, place, _memory_name(None, memory), {"deleted": memory})


def _memory_name(session: str | None, event: str) -> str:
    return to_json([session, event])


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def _shared(event: Mapping[str, Any], words: set[str]) -> int:
    """How many of some words an event says; one that is not ASCII may stand within another, as in Japanese."""
    text = " ".join(part.get("text") or "" for part in event["content"]["parts"]).casefold()
    # A Latin word in a text without spaces is a word of its own.
    there = _words(text) | set(re.findall(r"[a-z0-9_]+", text) if not text.isascii() else ())
    return sum(word in there or (not word.isascii() and word in text) for word in words)


def _memory(event: Mapping[str, Any]) -> MemoryEntry:
    whole = Event.model_validate_json(to_json(event))
    when = datetime.fromtimestamp(whole.timestamp).isoformat()
    return MemoryEntry(id=whole.id, content=whole.content, author=whole.author, timestamp=when)
