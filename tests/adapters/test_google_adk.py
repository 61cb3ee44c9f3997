"""Google ADK publishes no tests of its services, so ours answer beside its own in memory, step by step."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest

pytest.importorskip("google.adk")
from google.adk.agents import BaseAgent
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.memory.in_memory_memory_service import InMemoryMemoryService
from google.adk.runners import Runner
from google.adk.sessions.base_session_service import GetSessionConfig
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.genai import types
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.interfaces.adapters import HoldfastMemoryService, HoldfastSessionService
from holdfast.project import Project

pytestmark = pytest.mark.adapters


def said(text: str, author: str = "user", *, at: float = 0.0, **more: Any) -> Event:
    content = types.Content(role="user" if author == "user" else "model", parts=[types.Part(text=text)])
    return Event(author=author, invocation_id="i", content=content, timestamp=1_800_000_000.0 + at, **more)


def seen(session: Any) -> Any:
    """What can be compared of a session: all but when it was made."""
    if session is None:
        return None
    events = [one.model_dump(mode="json", exclude_none=True) for one in session.events]
    return session.app_name, session.user_id, session.id, session.state, events


NAMES = st.sampled_from(["k", "other", "app:k", "app:x", "user:k", "user:x", "temp:k"])
VALUES = st.one_of(st.none(), st.integers(-9, 9), st.text(max_size=4), st.lists(st.integers(0, 3), max_size=2))
STATE = st.dictionaries(NAMES, VALUES, max_size=4)
WHO = st.tuples(st.sampled_from(["app", "App"]), st.sampled_from(["u1", "u2"]), st.sampled_from(["s1", " s1 ", "s2"]))
STEPS = st.one_of(
    st.tuples(st.just("create"), WHO, STATE),
    st.tuples(st.just("append"), WHO, STATE),
    st.tuples(st.just("again"), WHO, STATE),
    st.tuples(st.just("partial"), WHO, STATE),
    st.tuples(
        st.just("get"), WHO, st.tuples(st.one_of(st.none(), st.integers(0, 3)), st.one_of(st.none(), st.integers(0, 9)))
    ),
    st.tuples(st.just("list"), WHO, st.booleans()),
    st.tuples(st.just("user"), WHO, st.none()),
    st.tuples(st.just("delete"), WHO, st.none()),
)


async def answers(service: Any, steps: list[Any], apps: str, made: dict[int, Event]) -> list[Any]:
    """What a service answers to the same steps; `made` are events that both are given."""
    told: list[Any] = []
    for at, (name, (app, user, session), more) in enumerate(steps):
        who = {"app_name": f"{app}{apps}", "user_id": user}
        try:
            if name == "create":
                told.append(seen(await service.create_session(**who, session_id=session, state=dict(more))))
            elif name in ("append", "again", "partial"):
                there = await service.get_session(**who, session_id=session)
                event = made.setdefault(at, said(f"text {at}", at=at, actions=EventActions(state_delta=dict(more))))
                copied = event.model_copy(deep=True, update={"partial": name == "partial"})
                if there is None:
                    told.append(None)
                    continue
                for _ in range(2 if name == "again" else 1):
                    await service.append_event(there, copied)
                told.append((seen(there), there.last_update_time if name != "partial" else None))
            elif name == "get":
                recent, since = more
                after = None if since is None else 1_800_000_000.0 + since
                config = GetSessionConfig(num_recent_events=recent, after_timestamp=after)
                told.append(seen(await service.get_session(**who, session_id=session, config=config)))
            elif name == "list":
                found = await service.list_sessions(app_name=who["app_name"], user_id=user if more else None)
                told.append([seen(one) for one in found.sessions])
            elif name == "user":
                told.append(await service.get_user_state(**who))
            else:
                told.append(await service.delete_session(**who, session_id=session))
        except AlreadyExistsError:
            told.append("exists")
    return told


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEPS, max_size=14))
def test_every_answer_is_that_of_their_service_in_memory(project: Project, steps: list[Any]) -> None:
    """An app that was tried in memory must not change when it is put on a database."""
    made: dict[int, Event] = {}
    apps = os.urandom(8).hex()  # one store for all examples
    theirs = asyncio.run(answers(InMemorySessionService(), steps, apps, made))
    ours = asyncio.run(answers(HoldfastSessionService(project), steps, apps, made))
    assert ours == theirs


def test_events_keep_bytes_calls_and_odd_text(project: Project) -> None:
    """A picture or a tool's answer that comes back changed makes the next turn wrong."""

    async def kept() -> tuple[Any, Any]:
        service = HoldfastSessionService(project)
        session = await service.create_session(app_name="a", user_id="u\0\ud800", session_id="s")
        parts = [
            types.Part(inline_data=types.Blob(data=bytes(range(256)), mime_type="image/png")),
            types.Part(function_call=types.FunctionCall(id="c", name="f", args={"x": [1, None, "ü"]})),
            types.Part(text="nul \0 \U0001f980"),
        ]
        event = Event(author="bot", content=types.Content(role="model", parts=parts), long_running_tool_ids={"c"})
        await service.append_event(session, event)
        again = await service.get_session(app_name="a", user_id="u\0\ud800", session_id="s")
        return event, again.events[0]

    first, second = asyncio.run(kept())
    assert first == second


def test_many_writers_keep_all_events_and_state_of_all(project: Project) -> None:
    """Two processes that answer one user must not overwrite each other."""

    async def all_at_once() -> Any:
        services = [HoldfastSessionService(project) for _ in range(6)]
        await services[0].create_session(app_name="a", user_id="u", session_id="s")

        async def write(at: int, service: HoldfastSessionService) -> None:
            mine = await service.get_session(app_name="a", user_id="u", session_id="s")
            for step in range(4):
                delta = {f"k{at}": step, f"app:k{at}": step, f"user:k{5 - at}": step, "app:same": at}
                await service.append_event(mine, said("x", actions=EventActions(state_delta=delta)))

        await asyncio.gather(*(write(at, one) for at, one in enumerate(services)))
        return await services[0].get_session(app_name="a", user_id="u", session_id="s")

    session = asyncio.run(all_at_once())
    assert len(session.events) == 24 and len({one.id for one in session.events}) == 24
    assert all(session.state[f"{scope}k{at}"] == 3 for scope in ("", "app:", "user:") for at in range(6))


def test_an_event_for_a_session_that_is_gone_is_refused(project: Project) -> None:
    """It would be kept where nobody looks."""

    async def late(service: Any) -> None:
        session = await service.create_session(app_name="a", user_id="u", session_id="s")
        await service.delete_session(app_name="a", user_id="u", session_id="s")
        with pytest.raises(ValueError, match="not found"):
            await service.append_event(session, said("x"))

    for service in (HoldfastSessionService(project), InMemorySessionService()):
        asyncio.run(late(service))


TEXTS = st.sampled_from(
    ["the port is 7411", "Ports and harbours", "私はPythonを使う", "über den Fluss", "...", "PORT the the"]
)
QUERIES = st.sampled_from(["port", "the port", "python", "ÜBER", "使う", "nothing", "thon", "fluss port"])
Memories = list[tuple[str, int, list[str]]]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    added=st.lists(
        st.tuples(st.sampled_from(["whole", "part"]), st.integers(0, 2), st.lists(TEXTS, max_size=5)), max_size=5
    ),
    queries=st.lists(QUERIES, min_size=1, max_size=3),
    forgotten=st.integers(0, 3),
)
def test_memory_finds_what_theirs_finds(project: Project, added: Memories, queries: list[str], forgotten: int) -> None:
    """What a user told yesterday is in today's prompt, and nothing else is."""
    events = [[said(text, at=at) for at, text in enumerate(texts)] for _, _, texts in added]
    user = os.urandom(8).hex()  # one store for all examples
    every = [one.id for part in events for one in part]

    async def found(service: Any) -> list[Any]:
        who = {"app_name": "a", "user_id": user}
        sessions = InMemorySessionService()
        for round_ in range(2):
            for (way, number, _), part in zip(added, events, strict=True):
                if way == "part":
                    await service.add_events_to_memory(**who, events=part, session_id=f"s{number}")
                    continue
                session = await sessions.create_session(**who)
                session.id, session.events = f"s{number}", part
                await service.add_session_to_memory(session)
            if not round_ and forgotten < len(every):
                await service.delete_memory(**who, memory_id=every[forgotten])
        answered = [(await service.search_memory(**who, query=query)).memories for query in queries]
        return [[(one.id, one.timestamp, one.author, one.content) for one in part] for part in answered]

    assert asyncio.run(found(HoldfastMemoryService(project))) == asyncio.run(found(InMemoryMemoryService()))


def test_a_session_is_in_the_log_when_it_was_recorded(project: Project) -> None:
    """What an agent said is found like any other agent's work."""

    class Answering(BaseAgent):
        async def _run_async_impl(self, ctx: Any) -> Any:
            yield Event(
                author=self.name,
                invocation_id=ctx.invocation_id,
                content=types.Content(role="model", parts=[types.Part(text="Billing listens on port 7411.")]),
            )

    async def talk() -> str | None:
        service = HoldfastSessionService(project)
        session = await service.create_session(app_name="helper", user_id="u", session_id="s")
        runner = Runner(app_name="helper", agent=Answering(name="bot"), session_service=service)
        asked = types.Content(role="user", parts=[types.Part(text="Which port does billing use?")])
        async with service.recording(session) as recording:
            async for _ in runner.run_async(user_id="u", session_id="s", new_message=asked):
                pass
        return recording.run

    run = asyncio.run(talk())
    (event,) = (one for one in project.log.events() if one["kind"] == "run")
    assert event["run_id"] == run and "7411" in event["outputs"]["summary"]
    assert [hit for hit in project.recall("which port does billing use") if run in (hit.id or "")]
