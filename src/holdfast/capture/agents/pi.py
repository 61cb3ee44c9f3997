"""Transcripts of pi: `~/.pi/agent/sessions/--<folder>--/<time>_<session>.jsonl`, an entry a line.

From files that pi 0.87.1 wrote, and the types its package declares (`session-manager.d.ts`, `messages.d.ts`). The
entries are a tree; all of them happened, so they are read as they stand there. A resumed session goes on in the same
file; a forked one is a new file with the same entries, which names the old file as `parentSession`. What extensions
say are entries of their own (`custom_message`). How a command ended is said at the end of its output only.
"""

import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from holdfast.capture.agents import transcript_reader
from holdfast.capture.agents.message_turns import (
    MessageTurns,
    ToolOutcome,
    id_of,
    line_reading,
    spoken,
    summed,
    tool_call,
)
from holdfast.capture.agents.tool_input import hunks, patch_edit, replacement_edit, whole_file_edit
from holdfast.capture.agents.transcript_reader import TranscriptCounts, TranscriptRecord, first_records
from holdfast.capture.agents.transcript_text import own_words, passed_over, path_value, short_name, text_value
from holdfast.errors import BadInput
from holdfast.model.transcript import Call, TokenUse, TranscriptEdit, TranscriptOrigin, TranscriptStep, token_use
from holdfast.patterns import regex
from holdfast.values import dict_of, dicts_of

_EXIT = regex(r"Command exited with code (-?\d{1,9})\s*\Z")
_ENDING = 200  # characters; the exit code stands in the last line
_SETTINGS = ("session", "model_change", "thinking_level_change", "usage", "label", "session_info")
_PASSED = (*_SETTINGS, "compaction", "branch_summary", "custom", "custom_message", "context_edit")
_PASSED_ROLES = ("system", "custom", "branchSummary", "compactionSummary", "bashExecution")
_STOPPED = "aborted"


def _taker(turns: MessageTurns, counted: TranscriptCounts, _: TranscriptOrigin) -> Callable[[TranscriptRecord], object]:
    return partial(_take, turns, counted)


def _take(turns: MessageTurns, counted: TranscriptCounts, at: TranscriptRecord) -> None:
    value, message = at.value, dict_of(at.value.get("message"))
    if value.get("type") != "message":
        if value.get("type") not in _PASSED:
            passed_over(counted.unknown, value.get("type"))
        return
    key, ts, content = id_of(value, "id"), short_name(value.get("timestamp")) or None, message.get("content")
    match message.get("role"):
        case "user" if said := spoken(content).strip():
            turns.asked(key, said, at, ts=ts)
        case "assistant":
            parts = dicts_of(content)
            thoughts = "\n".join(text_value(one.get("thinking")) for one in parts if one.get("type") == "thinking")
            model = short_name(message.get("model")) or None
            step = TranscriptStep(
                id=key,
                ts=ts,
                model=model,
                text=spoken(parts),
                reasoning=own_words(thoughts),
                usage=_use(dict_of(message.get("usage"))),
            )
            calls = [one for one in parts if one.get("type") == "toolCall"]
            turns.answered(step, [(id_of(one, "id") or f"{key}:{n}", one) for n, one in enumerate(calls)], at)
            if message.get("stopReason") == _STOPPED:
                turns.stopped()
        case "toolResult":
            turns.gave(id_of(message, "toolCallId"), message)
        case role if role not in ("user", *_PASSED_ROLES):
            passed_over(counted.unknown, f"message {short_name(role)}")


def _use(told: dict[str, Any]) -> TokenUse | None:
    """What an answer cost; the dollars are pi's own, from the price of the model in its settings."""
    read = summed(told.get("input"), told.get("cacheRead"), told.get("cacheWrite"))
    paid = dict_of(told.get("cost")).get("total")
    return token_use(read, told.get("output"), cached=told.get("cacheRead"), dollars=paid)


def _understood(call_id: str, call: dict[str, Any], told: dict[str, Any] | None) -> Call:
    tool, given = short_name(call.get("name")), dict_of(call.get("arguments"))
    return tool_call("pi", call_id, tool, given, _answer(tool, given, told) if told is not None else None)


def _answer(tool: str, given: dict[str, Any], told: dict[str, Any]) -> ToolOutcome:
    text = spoken(told.get("content"))
    failed = told.get("isError") is True
    ended = _EXIT.search(text[-_ENDING:])
    return ToolOutcome(
        text=text,
        failed=failed,
        exit_status=int(ended[1]) if ended else None if failed else 0,
        edits=_edits(tool, given, dict_of(told.get("details"))),
    )


def _edits(tool: str, given: dict[str, Any], details: dict[str, Any]) -> tuple[TranscriptEdit, ...]:
    path = text_value(given.get("path"), 4096)
    if not path or tool not in ("edit", "write"):
        return ()
    if tool == "write":  # nothing says whether the file was there
        return (whole_file_edit(path, text_value(given.get("content")), before=None, new=False),)
    if patch := text_value(details.get("patch")):
        return (patch_edit(path, hunks(patch)),)
    pairs = [(text_value(one.get("oldText")), text_value(one.get("newText"))) for one in dicts_of(given.get("edits"))]
    return (replacement_edit(path, pairs),)


def _files(home: str) -> Iterator[str]:
    places = os.walk(os.path.join(home, "sessions"))
    yield from transcript_reader.newest_first(
        os.path.join(folder, name) for folder, _, names in places for name in names if name.endswith(".jsonl")
    )


def _head(path: str) -> dict[str, Any] | None:
    """The first line, if it is one of pi's."""
    first = next(iter(first_records(path)), {})
    is_ours = first.get("type") == "session" and isinstance(first.get("id"), str) and "version" in first
    return first if is_ours else None


def _is_mine(path: str) -> bool:
    return _head(path) is not None


def _whose(path: str) -> TranscriptOrigin:
    head = _head(path)
    if head is None:
        raise BadInput(f"{path} is not a transcript of pi")
    before = os.path.basename(text_value(head.get("parentSession"), 4096))  # <time>_<session>.jsonl
    parent = short_name(before.removesuffix(".jsonl").rpartition("_")[2])
    return TranscriptOrigin(
        agent="pi",
        session=short_name(head.get("id")) or "unknown",
        role="fork" if parent else "main",
        parent=parent or None,
        cwd=path_value(head.get("cwd")),
        started=short_name(head.get("timestamp")) or None,
    )


def _read(path: str, start: int = 0, origin: TranscriptOrigin | None = None) -> transcript_reader.TranscriptReading:
    return line_reading(path, start, origin, whose=_whose, taker=_taker, understood=_understood)


DIALECT = transcript_reader.Dialect(
    "pi", lambda environ, home: environ.get("PI_CODING_AGENT_DIR") or f"{home}/.pi/agent", _files, _is_mine, _read
)
