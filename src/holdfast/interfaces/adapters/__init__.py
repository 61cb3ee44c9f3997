"""Other people's agent frameworks, with the agent store behind them: LangGraph, OpenAI Agents SDK, Google ADK.

    from holdfast.interfaces.adapters import HoldfastSaver  # loads langgraph, and nothing of the others

Each adapter keeps what its framework hands it, to the letter, in `agent_store`. A session enters the project's log when
somebody says so: `adapter.record(...)`, or at the end of `with adapter.recording(...)`. Then it is a run like any
other, without known secrets; recording it again adds only what is new.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast.errors import NoDatabase
from holdfast.lazy_module import load
from holdfast.values import frozen

if TYPE_CHECKING:
    from holdfast.project import Project

T = TypeVar("T")
# What is offered: its module here, the package it is made for, and the extra that installs that.
ADAPTERS = {
    "HoldfastSaver": ("langgraph_adapter", "langgraph"),
    "HoldfastStore": ("langgraph_adapter", "langgraph"),
    "HoldfastSession": ("openai_session", "openai-agents"),
    "HoldfastSessionService": ("adk_services", "adk"),
    "HoldfastMemoryService": ("adk_services", "adk"),
}
_RECORDING = threading.Lock()  # a project's log is written by one thread at a time


def __getattr__(name: str) -> Any:
    if name not in ADAPTERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, extra = ADAPTERS[name]
    try:
        return getattr(load(f"{__name__}.{module}"), name)
    except ModuleNotFoundError as error:
        raise NoDatabase(
            f"{name} needs {error.name}, which is not installed",
            hint=f"Install again from Holdfast's own folder, with '.[{extra}]' in place of '.'",
        ) from None


async def in_thread(work: Callable[..., T], *args: Any, **options: Any) -> T:
    """Do something in a thread, and wait for it even if the caller is cancelled: a write is done or it is not."""
    task = asyncio.ensure_future(asyncio.to_thread(work, *args, **options))
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        task.exception()  # or asyncio complains that nobody asked for it
        raise cancelled
    return task.result()


@frozen(kw_only=True)
class SessionEntry:
    """One thing said or done in a session: a `prompt`, a `reply`, a `call` of a tool, or its `result`."""

    kind: str
    id: str  # of a result: its call's
    ts: str | None = None
    text: str = ""  # of a call: its arguments
    reasoning: str = ""
    name: str = ""  # of a call: the tool's
    failed: bool = False


def record_session(project: Project, agent: str, session: str, entries: Iterable[SessionEntry]) -> str | None:
    """Make what is new of a session a run of the project's log; gives the run's id, None if nothing was said."""
    every = list(entries)
    if not every:
        return None
    name = hashlib.sha256(f"{agent}\0{session}".encode()).hexdigest()[:32]
    with _RECORDING:
        head = {"agent": agent, "session": session, **project.agents.place(), "started": every[0].ts}
        return project.agents.record(name, [{"type": "session", **head}, *_rows(session, every)])


def _rows(session: str, entries: list[SessionEntry]) -> Iterator[dict[str, Any]]:
    """Turns, each from a prompt on, and their steps; a call stands with its result."""
    results = {one.id: one for one in entries if one.kind == "result"}
    if entries[0].kind != "prompt":
        yield {"type": "turn", "key": f"{session}:start", "ts": entries[0].ts, "prompt": ""}
    for one in entries:
        key = f"{session}:{one.id}"
        if one.kind == "prompt":
            yield {"type": "turn", "key": key, "ts": one.ts, "prompt": one.text}
        elif one.kind == "reply":
            yield {"type": "step", "id": key, "ts": one.ts, "text": one.text, "reasoning": one.reasoning}
        elif one.kind == "call":
            call: dict[str, Any] = {"id": key, "name": one.name, "input": one.text}
            if came := results.get(one.id):
                call |= {"output": came.text, "failed": came.failed}
            yield {"type": "step", "id": f"{key}:call", "ts": one.ts, "reasoning": one.reasoning, "calls": [call]}


class Recording(AbstractContextManager["Recording"], AbstractAsyncContextManager["Recording"]):
    """Records a session when its block ends, however it ends; `run` is then the run's id."""

    def __init__(self, record: Callable[[], str | None]) -> None:
        self._record = record
        self.run: str | None = None

    def __exit__(self, *_: object) -> None:
        self.run = self._record()

    async def __aexit__(self, *_: object) -> None:
        self.run = await in_thread(self._record)
