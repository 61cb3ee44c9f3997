"""Transcripts of agents that people build themselves, as Holdfast writes them at the end of a run.

    {"type": "session", "agent": …, "session": …, "cwd": …, "started": …, "title": …}
    {"type": "turn", "key": …, "ts": …, "prompt": …}
    {"type": "step", "id": …, "ts": …, "reasoning": …, "text": …, "calls": [{"id", "name", "input", …}]}

The first line comes once; steps belong to the turn before them. The agent store and the adapters write these files
(`project.agent_book`), so whatever they record becomes a run the same way as any other agent's session.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import partial
from typing import Any

from holdfast.capture.agents.transcript_reader import Dialect, TranscriptCounts, TranscriptReading, records
from holdfast.errors import BadInput
from holdfast.model import transcript as transcripts
from holdfast.model.transcript import Call, Result, TranscriptOrigin, TranscriptStep, TranscriptTurn, cut
from holdfast.values import dicts_of, field_names, replace

NAME = "own"


def _read(path: str, _: int = 0, __: TranscriptOrigin | None = None, *, data: bytes | None = None) -> TranscriptReading:
    counted = TranscriptCounts()
    given = None if data is None else io.BytesIO(data)
    rows = (one.value for one in records(path, counted, opened=given))
    head = next(rows, {})
    if head.get("type") != "session" or not head.get("agent") or not head.get("session"):
        raise BadInput(f"{path} is not the run of an agent")
    known = {name: head[name] for name in field_names(TranscriptOrigin) if isinstance(head.get(name), str)}
    return TranscriptReading(TranscriptOrigin(**known), _turns(rows), counted)


def _turns(rows: Iterator[dict[str, Any]]) -> Iterator[TranscriptTurn]:
    turn: dict[str, Any] | None = None
    steps: list[TranscriptStep] = []
    for row in rows:
        if row.get("type") == "turn":
            if turn is not None:
                yield _turn(turn, steps)
            turn, steps = row, []
        elif row.get("type") == "step" and turn is not None:
            steps.append(_step(row))
    if turn is not None:
        yield _turn(turn, steps)


def _turn(row: dict[str, Any], steps: list[TranscriptStep]) -> TranscriptTurn:
    prompt = cut(str(row.get("prompt") or ""), transcripts.MAX_PROMPT)
    return TranscriptTurn(key=str(row["key"]), prompt=prompt, ts=row.get("ts"), steps=tuple(steps))


def _step(row: dict[str, Any]) -> TranscriptStep:
    return TranscriptStep(
        id=str(row["id"]),
        ts=row.get("ts"),
        model=row.get("model"),
        reasoning=cut(str(row.get("reasoning") or ""), transcripts.MAX_TEXT),
        text=cut(str(row.get("text") or ""), transcripts.MAX_TEXT),
        calls=tuple(map(_call, dicts_of(row.get("calls")))),
    )


def _call(told: dict[str, Any]) -> Call:
    output = told.get("output")
    text = str(output or "")
    result = Result(text=transcripts.ends(text), size=len(text), failed=bool(told.get("failed")))
    given = cut(str(told.get("input") or ""), transcripts.MAX_INPUT)
    return Call(id=str(told["id"]), name=str(told["name"]), text=given, result=None if output is None else result)


def reading(data: bytes) -> Dialect:
    """The dialect for a transcript whose file is sealed, by who wrote it."""
    return replace(DIALECT, read=partial(_read, data=data))


DIALECT = Dialect(NAME, lambda _environ, home: home, lambda _: iter(()), lambda _: False, _read)
