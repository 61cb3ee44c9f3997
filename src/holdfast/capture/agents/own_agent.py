"""Transcripts of agents that people build themselves, as Holdfast writes them at the end of a run.

    {"type": "session", "agent": …, "session": …, "cwd": …, "started": …, "title": …}
    {"type": "turn", "key": …, "ts": …, "prompt": …}
    {"type": "step", "id": …, "ts": …, "reasoning": …, "text": …, "calls": [{"id", "name", "input", …}]}

The first line comes once; steps belong to the turn before them. A call may also say its `kind` (one of CALLS), its
`command`, `exit_status`, and `edits`: {"path", "before", "after"}, or {"path", "content", "new"}. The agent store and
the adapters write these files (`project.agent_book`), and whoever follows the contract in
docs/how-to/your-own-agent.md, so whatever they record becomes a run the same way as any other agent's session.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from functools import partial
from typing import Any

from holdfast.capture.agents.tool_input import replacement_edit, whole_file_edit
from holdfast.capture.agents.transcript_reader import (
    Dialect,
    TranscriptCounts,
    TranscriptReading,
    first_records,
    records,
)
from holdfast.capture.agents.transcript_text import json_text, own_words, path_value, short_name, text_value
from holdfast.errors import BadInput
from holdfast.model import transcript as transcripts
from holdfast.model.transcript import (
    Call,
    Result,
    TranscriptEdit,
    TranscriptOrigin,
    TranscriptStep,
    TranscriptTurn,
    cut,
)
from holdfast.values import dicts_of, replace

_KNOWN = ("version", "cwd", "branch", "commit", "remote", "started", "title", "parent")
_ROLES = ("main", "fork", "subagent", "internal")
_MAX_CALLS = 256  # of one turn; a guess: bounds a damaged file
NAME = "own"


def _read(path: str, _: int = 0, __: TranscriptOrigin | None = None, *, data: bytes | None = None) -> TranscriptReading:
    if data is None and not os.path.isfile(path):
        raise BadInput(f"{path} is no file")
    counted = TranscriptCounts()
    given = None if data is None else io.BytesIO(data)
    rows = (one.value for one in records(path, counted, opened=given))
    head = next(rows, {})
    agent, session = short_name(head.get("agent")), short_name(head.get("session"))
    if head.get("type") != "session" or not agent or not session:
        raise BadInput(f"{path} is not the run of an agent")
    known = {name: text for name in _KNOWN if (text := path_value(head.get(name)))}
    role = next((one for one in _ROLES if one == head.get("role")), "main")
    origin = replace(TranscriptOrigin(agent=agent, session=session, role=role), **known)
    return TranscriptReading(origin, _turns(rows), counted)


def _turns(rows: Iterator[dict[str, Any]]) -> Iterator[TranscriptTurn]:
    turn: dict[str, Any] | None = None
    steps: list[TranscriptStep] = []
    number, goes_on = 0, False
    for row in rows:
        if row.get("type") == "turn":
            if turn is not None:
                yield _turn(turn, steps, number, goes_on)
            turn, steps, goes_on = row, [], False
            number += 1
        elif row.get("type") == "step" and turn is not None:
            if len(steps) >= transcripts.MAX_STEPS:
                yield _turn(turn, steps, number, goes_on)
                turn, steps, goes_on = {**turn, "key": steps[-1].id, "prompt": ""}, [], True
            steps.append(_step(row, f"{number}.{len(steps)}"))
    if turn is not None:
        yield _turn(turn, steps, number, goes_on)


def _turn(row: dict[str, Any], steps: list[TranscriptStep], number: int, goes_on: bool) -> TranscriptTurn:
    prompt = cut(own_words(text_value(row.get("prompt"))), transcripts.MAX_PROMPT)
    key, ts = short_name(row.get("key")) or f"turn {number}", short_name(row.get("ts")) or None
    return TranscriptTurn(key=key, prompt=prompt, ts=ts, steps=tuple(steps), continues=goes_on)


def _step(row: dict[str, Any], place: str) -> TranscriptStep:
    return TranscriptStep(
        id=short_name(row.get("id")) or f"step {place}",
        ts=short_name(row.get("ts")) or None,
        model=short_name(row.get("model")) or None,
        reasoning=cut(own_words(text_value(row.get("reasoning"))), transcripts.MAX_TEXT),
        text=cut(own_words(text_value(row.get("text"))), transcripts.MAX_TEXT),
        calls=tuple(_call(told, f"{place}.{n}") for n, told in enumerate(dicts_of(row.get("calls"))[:_MAX_CALLS])),
    )


def _call(told: dict[str, Any], place: str) -> Call:
    output, kind, status = told.get("output"), told.get("kind"), told.get("exit_status")
    text = own_words(text_value(output))
    failed = bool(told.get("failed")) or (type(status) is int and status != 0)
    result = Result(
        text=transcripts.ends(text), size=len(text), failed=failed, exit_status=status if type(status) is int else None
    )
    edits = map(_edit, dicts_of(told.get("edits"))[:_MAX_CALLS])
    return Call(
        id=short_name(told.get("id")) or f"call {place}",
        name=short_name(told.get("name")) or "unknown",
        kind=kind if kind in transcripts.CALLS else "other",
        text=json_text(told.get("input")),
        command=cut(text_value(told.get("command")), transcripts.MAX_INPUT) or None,
        edits=() if failed or output is None else tuple(filter(None, edits)),
        result=None if output is None else result,
    )


def _edit(told: dict[str, Any]) -> TranscriptEdit | None:
    """A file that a call wrote: pieces of it replaced, or all of it."""
    path = path_value(told.get("path"))
    if path is None:
        return None
    if isinstance(content := told.get("content"), str):
        new = told.get("new") is True
        return whole_file_edit(path, text_value(content), before="" if new else None, new=new)
    return replacement_edit(path, [(text_value(told.get("before")), text_value(told.get("after")))])


def reading(data: bytes) -> Dialect:
    """The dialect for a transcript whose file is sealed, by who wrote it."""
    return replace(DIALECT, read=partial(_read, data=data))


def _is_mine(path: str) -> bool:
    head = next(iter(first_records(path)), {})
    return (
        head.get("type") == "session" and bool(short_name(head.get("agent"))) and bool(short_name(head.get("session")))
    )


DIALECT = Dialect(NAME, lambda _environ, home: home, lambda _: iter(()), _is_mine, _read)
