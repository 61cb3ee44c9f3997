"""Rollouts of Codex written by hand, of every generation; none of it comes from anybody's real work."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from holdfast.capture.agents import dialect
from holdfast.capture.agents.transcript_reader import TranscriptReading
from holdfast.model.transcript import Call, TranscriptTurn

THREAD = "019c0000-0000-7000-8000-000000000001"
PARENT = "019c0000-0000-7000-8000-0000000000aa"
TURN = "019c0000-0000-7000-8000-000000000010"
TS = "2026-02-01T10:00:00.000Z"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
Line = dict[str, Any]


def line(kind: str, payload: Line, *, ts: str = TS, **more: Any) -> Line:
    return {"timestamp": ts, "type": kind, "payload": payload, **more}


def meta(**more: Any) -> Line:
    told = {
        "id": THREAD,
        "timestamp": "2026-02-01T09:59:58.000Z",
        "cwd": "/w/app",
        "originator": "codex_cli_rs",
        "cli_version": "0.104.0",
        "source": "cli",
        "git": {"commit_hash": COMMIT, "branch": "main", "repository_url": "https://example.invalid/app.git"},
    }
    return line("session_meta", told | more)


def item(kind: str, **fields: Any) -> Line:
    return line("response_item", {"type": kind, **fields})


def event(kind: str, **fields: Any) -> Line:
    return line("event_msg", {"type": kind, **fields})


def context(turn_id: str | None = None, **more: Any) -> Line:
    return line(
        "turn_context", {"cwd": "/w/app", "model": "gpt-x", **({"turn_id": turn_id} if turn_id else {}), **more}
    )


def said(role: str, *texts: str, **more: Any) -> Line:
    piece = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": piece, "text": text} for text in texts], **more)


def user(*texts: str, kinds: Sequence[str] = (), turn_id: str | None = None) -> Line:
    told: Line = {"turn_id": turn_id} if turn_id else {}
    if kinds:
        told["content_item_kinds"] = list(kinds)
    return said("user", *texts, **({"internal_chat_message_metadata_passthrough": told} if told else {}))


def function(name: str, arguments: object, call_id: str = "call_1", **more: Any) -> Line:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return item("function_call", name=name, arguments=text, call_id=call_id, **more)


def gave(output: object, call_id: str = "call_1", *, custom: bool = False) -> Line:
    kind = "custom_tool_call_output" if custom else "function_call_output"
    return item(kind, call_id=call_id, output=output)


def custom(name: str, text: str, call_id: str = "call_1") -> Line:
    return item("custom_tool_call", name=name, input=text, call_id=call_id, status="completed")


def shown(kind: str, **fields: Any) -> Line:
    return event("item_completed", thread_id=THREAD, turn_id=TURN, item={"type": kind, **fields}, completed_at_ms=1)


def numbered(lines: Iterable[Line]) -> list[Line]:
    """The lines as the fourth generation has them."""
    return [{"timestamp": one["timestamp"], "ordinal": at, **one} for at, one in enumerate(lines)]


def spelled(lines: Iterable[Line]) -> bytes:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines).encode()


def written(folder: Path, lines: Iterable[Line], name: str = f"rollout-2026-02-01T11-00-00-{THREAD}.jsonl") -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(spelled(lines))
    return str(path)


def reading(path: str) -> TranscriptReading:
    return dialect("codex").read(path, 0, None)


def turns(folder: Path, *lines: Line) -> list[TranscriptTurn]:
    """The turns of a rollout with these lines."""
    return list(reading(written(folder, lines)))


def calls(folder: Path, *lines: Line) -> list[Call]:
    """The calls of a rollout whose one turn has these lines after its prompt."""
    (turn,) = turns(folder, meta(), user("do it"), *lines)
    return list(turn.calls)
