"""Transcripts of Kimi Code: `~/.kimi-code/sessions/<folder>/<session>/agents/<agent>/wire.jsonl`, a record a line.

From files that Kimi Code 2.1.0 wrote, and its package. `state.json` above the agents says where the session stood and
which one it was forked from; a fork's history is copied. A resumed session goes on in the same file. The messages
stand there twice: as `turn.prompt` and the events of the loop, which are read, and as `agent.message.appended`.
How a command ended is said at the end of its output only.
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
    moment_of,
    spoken,
    summed,
    tool_call,
)
from holdfast.capture.agents.tool_input import replacement_edit, todo_list, whole_file_edit
from holdfast.capture.agents.transcript_reader import TranscriptCounts, TranscriptRecord, document, first_records
from holdfast.capture.agents.transcript_text import own_words, path_value, short_name, text_value
from holdfast.errors import BadInput
from holdfast.model.transcript import Call, TranscriptEdit, TranscriptOrigin, TranscriptStep, token_use
from holdfast.patterns import regex
from holdfast.values import dict_of, replace

_EXIT = regex(r"Command failed with exit code: (-?\d{1,9})\.?\s*\Z")
_ENDING = 200  # characters; the exit code stands in the last line
_KINDS = (b'"turn.prompt"', b'"turn.steer"', b'"context.append_loop_event"', b'"turn.ended"', b'"llm.request"')
_STOPPED = ("cancelled", "aborted", "interrupted")
_PERSONS = ("user", "skill_activation", None)
_MAIN = "main"


def _is_wanted(raw: bytes) -> bool:
    return any(kind in raw for kind in _KINDS)


def _taker(turns: MessageTurns, _: TranscriptCounts, origin: TranscriptOrigin) -> Callable[[TranscriptRecord], object]:
    return partial(_take, turns, origin.cwd, {})


def _take(turns: MessageTurns, cwd: str | None, told: dict[str, str], at: TranscriptRecord) -> None:
    """One record; `told` keeps which model was asked last."""
    value, ts = at.value, moment_of(at.value.get("time"))
    match value.get("type"):
        case "llm.request":
            told["model"] = short_name(value.get("model"))
        case "turn.prompt" | "turn.steer":
            said = spoken(value.get("input"), "system-reminder", "hook_result").strip()
            if said and dict_of(value.get("origin")).get("kind") in _PERSONS:
                turns.asked(id_of(value, "promptId"), said, at, ts=ts, cwd=cwd)
        case "context.append_loop_event":
            _happened(turns, dict_of(value.get("event")), at, TranscriptStep(id="", ts=ts, model=told.get("model")))
        case "turn.ended" if value.get("reason") in _STOPPED:
            turns.stopped()


def _happened(turns: MessageTurns, event: dict[str, Any], at: TranscriptRecord, step: TranscriptStep) -> None:
    """One event of the loop: a part of a step, a call of it, or a result; a step is known by its own id."""
    step = replace(step, id=id_of(event, "stepUuid", "uuid"))
    match event.get("type"):
        case "content.part":
            part = dict_of(event.get("part"))
            text = own_words(text_value(part.get("text"))) if part.get("type") == "text" else ""
            thought = "" if text else own_words(text_value(part.get("think")))
            turns.answered(replace(step, text=text, reasoning=thought), (), at)
        case "tool.call":
            turns.answered(step, [(id_of(event, "toolCallId", "uuid") or f"at:{at.start}", event)], at)
        case "step.end":
            used = dict_of(event.get("usage"))
            found, made = used.get("inputCacheRead"), used.get("inputCacheCreation")
            read = summed(used.get("inputOther"), found, made)
            turns.used(step.id, token_use(read, used.get("output"), cached=found))
        case "tool.result":
            turns.gave(id_of(event, "toolCallId"), dict_of(event.get("result")))


def _understood(call_id: str, call: dict[str, Any], told: dict[str, Any] | None) -> Call:
    tool, given = short_name(call.get("name")), dict_of(call.get("args"))
    answer = None if told is None else _answer(tool, given, told)
    worked = answer is not None and not answer.failed
    todos = todo_list(given.get("todos"), "title", "content") if worked and tool == "TodoList" else None
    return tool_call("kimi", call_id, tool, given, answer, todos=todos)


def _answer(tool: str, given: dict[str, Any], told: dict[str, Any]) -> ToolOutcome:
    text = spoken(told.get("output"))
    failed = told.get("isError") is True
    ended = _EXIT.search(text[-_ENDING:])
    status = int(ended[1]) if ended else None if failed else 0
    return ToolOutcome(text=text, failed=failed, exit_status=status, edits=_edits(tool, given))


def _edits(tool: str, given: dict[str, Any]) -> tuple[TranscriptEdit, ...]:
    path = text_value(given.get("path"), 4096)
    if path and tool == "Write" and given.get("mode") != "append":  # nothing says whether the file was there
        return (whole_file_edit(path, text_value(given.get("content")), before=None, new=False),)
    if path and tool == "Write":
        return (replacement_edit(path, [("", text_value(given.get("content")))]),)
    if path and tool == "Edit":
        return (replacement_edit(path, [(text_value(given.get("old_string")), text_value(given.get("new_string")))]),)
    return ()


def _files(home: str) -> Iterator[str]:
    places = os.walk(os.path.join(home, "sessions"))
    yield from transcript_reader.newest_first(
        os.path.join(folder, name) for folder, _, names in places for name in names if name == "wire.jsonl"
    )


def _head(path: str) -> dict[str, Any] | None:
    first = next(iter(first_records(path)), {})
    return first if first.get("type") == "metadata" and "protocol_version" in first else None


def _is_mine(path: str) -> bool:
    return _head(path) is not None


def _whose(path: str) -> TranscriptOrigin:
    head = _head(path)
    if head is None:
        raise BadInput(f"{path} is not a transcript of Kimi Code")
    folder = os.path.dirname(path)
    agent, session = os.path.basename(folder), os.path.dirname(os.path.dirname(folder))
    state = _state(os.path.join(session, "state.json"))
    named = short_name(state.get("id")) or short_name(os.path.basename(session)) or "unknown"
    known = TranscriptOrigin(
        agent="kimi",
        session=named,
        cwd=path_value(state.get("cwd")) or _folder_of(path),
        started=moment_of(head.get("created_at")),
        title=short_name(state.get("title")) or None,
    )
    if agent not in (_MAIN, "") and os.path.basename(os.path.dirname(folder)) == "agents":
        return replace(known, session=f"{named}/{agent}", role="subagent", parent=named)
    parent = short_name(state.get("forkedFrom"))
    return replace(known, role="fork", parent=parent) if parent else known


def _state(path: str) -> dict[str, Any]:
    try:
        return document(path)
    except (OSError, BadInput):
        return {}


def _folder_of(path: str) -> str | None:
    """The folder that the head of the wire names, where the session's state is gone."""
    told = (dict_of(one.get("environmentDisclosure")).get("cwd") for one in first_records(path))
    return next(filter(None, map(path_value, told)), None)


def _read(path: str, start: int = 0, origin: TranscriptOrigin | None = None) -> transcript_reader.TranscriptReading:
    return line_reading(path, start, origin, whose=_whose, taker=_taker, understood=_understood, wanted=_is_wanted)


def _find(home: str, session: str) -> str:
    """Where a session's own wire lies: its folder is below one whose name we cannot tell."""
    sessions = os.path.join(home, "sessions")
    below = (session, "agents", _MAIN, "wire.jsonl")
    names = sorted(os.listdir(sessions)) if os.path.isdir(sessions) else []
    places = (os.path.join(sessions, name, *below) for name in names)
    return next(filter(os.path.isfile, places), os.path.join(sessions, "-", *below))


DIALECT = transcript_reader.Dialect(
    "kimi", lambda environ, home: environ.get("KIMI_CODE_HOME") or f"{home}/.kimi-code", _files, _is_mine, _read, _find
)
