"""Transcripts of GitHub Copilot CLI: `~/.copilot/session-state/<session>/events.jsonl`, an event a line.

From files that Copilot CLI 1.0.102 wrote. A resumed session goes on in the same file behind a `session.resume`. What
hooks got and said stands in `hook.*` and is passed over, as is the talk of a compaction (`model.*`). A command
that fails is a success for the tool: its exit status stands in `shellExecution`. A fork (`/fork`) is a new session:
its file begins with a start of its own and the other's events, with their ids.
"""

import os
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

from holdfast.capture.agents import transcript_reader
from holdfast.capture.agents.message_turns import MessageTurns, ToolOutcome, id_of, kind_of, line_reading, tool_call
from holdfast.capture.agents.tool_input import hunks, patch_edit, replacement_edit, whole_file_edit
from holdfast.capture.agents.transcript_reader import TranscriptCounts, TranscriptRecord, first_records, records
from holdfast.capture.agents.transcript_text import own_words, passed_over, path_value, short_name, text_value
from holdfast.errors import BadInput
from holdfast.model.transcript import Call, TokenUse, TranscriptEdit, TranscriptOrigin, TranscriptStep, token_use
from holdfast.values import dict_of, dicts_of, replace

_HEAD = 50  # records; its first ones tell session and folder; a guess with room
_SILENT = (b'"type":"hook.', b'"type":"system.message"', b'"type":"model.')
_PASSED = ("hook.", "model.", "session.", "system.", "assistant.", "tool.", "permission.", "abort")
_ADDED = '\nTool "'  # what hooks add to a result begins so
_GUIDANCE = "Additional guidance from"
_REFUSED = ("rejected", "denied")


def _is_wanted(raw: bytes) -> bool:
    return not any(one in raw[:64] for one in _SILENT)


def _taker(turns: MessageTurns, counted: TranscriptCounts, _: TranscriptOrigin) -> Callable[[TranscriptRecord], object]:
    return partial(_take, turns, counted, {})


def _take(
    turns: MessageTurns, counted: TranscriptCounts, told: dict[str, TokenUse | None], at: TranscriptRecord
) -> None:
    """One event; `told` keeps what the last request cost, which comes before its answer."""
    data, kind = dict_of(at.value.get("data")), text_value(at.value.get("type"))
    ts = short_name(at.value.get("timestamp")) or None
    key = id_of(data, "messageId") or id_of(at.value, "id")
    match kind:
        case "user.message":
            if said := own_words(text_value(data.get("content"))).strip():
                turns.asked(key, said, at, ts=ts)
        case "session.usage_record":
            used = dict_of(data.get("usage"))
            told.clear()
            told[id_of(used, "apiCallId")] = token_use(
                used.get("inputTokens"), used.get("outputTokens"), cached=used.get("cacheReadTokens")
            )
        case "assistant.message":
            step = TranscriptStep(
                id=key,
                ts=ts,
                model=short_name(data.get("model")) or None,
                text=own_words(text_value(data.get("content"))),
                reasoning=own_words(text_value(data.get("reasoningText"))),
                usage=told.get(id_of(data, "apiCallId")),
            )
            calls = [(id_of(one, "toolCallId"), one) for one in dicts_of(data.get("toolRequests"))]
            turns.answered(step, [(call_id or f"{key}:{n}", one) for n, (call_id, one) in enumerate(calls)], at)
        case "tool.execution_complete":
            turns.gave(id_of(data, "toolCallId"), data)
        case "abort":
            turns.stopped()
        case _ if not kind.startswith(_PASSED):
            passed_over(counted.unknown, kind)


def _understood(call_id: str, call: dict[str, Any], told: dict[str, Any] | None) -> Call:
    tool, given = short_name(call.get("name")), dict_of(call.get("arguments"))
    return tool_call("copilot", call_id, tool, given, _answer(tool, given, told) if told is not None else None)


def _answer(tool: str, given: dict[str, Any], told: dict[str, Any]) -> ToolOutcome:
    result = dict_of(told.get("result"))
    text = text_value(result.get("content")) or text_value(dict_of(told.get("error")).get("message"))
    at = text.rfind(_ADDED)
    if at >= 0 and _GUIDANCE in text[at : at + 200]:
        text = text[:at].rstrip("\n")
    status = dict_of(told.get("shellExecution")).get("exitCode")
    code = short_name(dict_of(told.get("error")).get("code"))
    edits = _edits(tool, given, text_value(result.get("detailedContent"))) if kind_of("copilot", tool) == "edit" else ()
    return ToolOutcome(
        text=text,
        failed=told.get("success") is not True,
        refused=code in _REFUSED,
        exit_status=status if type(status) is int else None,
        edits=edits,
    )


def _edits(tool: str, given: dict[str, Any], diff: str) -> tuple[TranscriptEdit, ...]:
    path = text_value(given.get("path"), 4096)
    if not path:
        return ()
    if tool == "create":
        return (whole_file_edit(path, text_value(given.get("file_text")), before="", new=True),)
    if diff:
        return (patch_edit(path, hunks(diff)),)
    return (replacement_edit(path, [(text_value(given.get("old_str")), text_value(given.get("new_str")))]),)


def _files(home: str) -> Iterator[str]:
    state = os.path.join(home, "session-state")
    names = os.listdir(state) if os.path.isdir(state) else []
    yield from transcript_reader.newest_first(os.path.join(state, name, "events.jsonl") for name in names)


def _is_ours(value: dict[str, Any]) -> bool:
    return isinstance(value.get("data"), dict) and "parentId" in value and "." in text_value(value.get("type"))


def _is_mine(path: str) -> bool:
    return any(map(_is_ours, first_records(path)))


def _whose(path: str) -> TranscriptOrigin:
    known = TranscriptOrigin(agent="copilot", session="")
    ours = False
    for one in islice(records(path, TranscriptCounts()), _HEAD):
        if not _is_ours(one.value):
            continue
        ours, data = True, dict_of(one.value.get("data"))
        known = replace(known, started=known.started or short_name(one.value.get("timestamp")) or None)
        if one.value.get("type") == "session.start":
            context = dict_of(data.get("context"))
            known = replace(
                known,
                session=short_name(data.get("sessionId")),
                version=short_name(data.get("copilotVersion")) or None,
                cwd=path_value(context.get("cwd")),
                branch=path_value(context.get("branch")),
                commit=short_name(context.get("headCommit")) or None,
                started=short_name(data.get("startTime")) or known.started,
            )
            break
    if not ours:
        raise BadInput(f"{path} is not a transcript of Copilot CLI")
    return replace(known, session=known.session or short_name(os.path.basename(os.path.dirname(path))) or "unknown")


def _read(path: str, start: int = 0, origin: TranscriptOrigin | None = None) -> transcript_reader.TranscriptReading:
    return line_reading(path, start, origin, whose=_whose, taker=_taker, understood=_understood, wanted=_is_wanted)


def _find(home: str, session: str) -> str:
    return os.path.join(home, "session-state", session, "events.jsonl")


DIALECT = transcript_reader.Dialect(
    "copilot", lambda environ, home: environ.get("COPILOT_HOME") or f"{home}/.copilot", _files, _is_mine, _read, _find
)
