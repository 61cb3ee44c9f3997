"""Records as Claude Code writes them, made by hand: a test says what matters, the rest is filled in."""

import json
from itertools import count
from pathlib import Path
from typing import Any

from holdfast.capture.agents import dialect
from holdfast.capture.agents.transcript_reader import TranscriptReading
from holdfast.model.transcript import Call, TranscriptTurn

SESSION = "0f0e0d0c-0000-4000-8000-000000000001"
_NUMBERS = count(1)


def uuid() -> str:
    return f"{next(_NUMBERS):08x}-0000-4000-8000-000000000000"


def line(kind: str, **more: Any) -> dict[str, Any]:
    """A record with all that records share."""
    record = {
        "parentUuid": None,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/w/app",
        "sessionId": SESSION,
        "version": "2.1.37",
        "gitBranch": "main",
        "type": kind,
        "uuid": uuid(),
        "timestamp": "2026-02-01T10:00:00.000Z",
    }
    return record | more


def user(content: Any, **more: Any) -> dict[str, Any]:
    return line("user", message={"role": "user", "content": content}, **more)


def assistant(*blocks: dict[str, Any], message: str | None = None, **more: Any) -> dict[str, Any]:
    known = message or f"msg_{uuid()}"
    told = {"id": known, "role": "assistant", "model": "model-x", "content": list(blocks)}
    return line("assistant", message=told, **more)


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def use(tool: str, call: str = "toolu_1", **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": tool, "input": given}


def result(
    content: Any, call: str = "toolu_1", *, error: bool | None = None, told: Any = None, **more: Any
) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call, "content": content}
    if error is not None:
        block["is_error"] = error
    return user([block], toolUseResult=told, **more)


def write(path: Path, *records: dict[str, Any]) -> str:
    """A transcript on disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return str(path)


def read(path: str) -> TranscriptReading:
    return dialect("claude").read(path, 0, None)


def turns(folder: Path, *records: dict[str, Any]) -> list[TranscriptTurn]:
    """What is read of these records."""
    return list(read(write(folder / f"{SESSION}.jsonl", *records)))


def only_call(folder: Path, *records: dict[str, Any]) -> Call:
    """The one call of the one turn that these records make, after a prompt."""
    [turn] = turns(folder, user("do it, please"), *records)
    [call] = turn.calls
    return call
