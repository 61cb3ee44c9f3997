"""Transcripts of Cline CLI: `~/.cline/data/sessions/<session>/<session>.messages.json`, one document.

From files that Cline CLI 3.0.65 wrote. The document is rewritten whole as the session goes on, so a reading always
begins at its beginning; `<session>.json` beside it says where the session stood. What hooks say is a message of the
user's role that is shown as the system's. Results are lists of {query, result, success, error}, or the same as text.
"""

import json
import os
from collections.abc import Iterator
from typing import Any

from holdfast.capture.agents import transcript_reader
from holdfast.capture.agents.message_turns import MessageTurns, ToolOutcome, id_of, moment_of, spoken, tool_call
from holdfast.capture.agents.tool_input import replacement_edit, whole_file_edit
from holdfast.capture.agents.transcript_reader import TranscriptCounts, TranscriptReading, TranscriptRecord, document
from holdfast.capture.agents.transcript_text import inside, own_words, path_value, short_name, text_value
from holdfast.errors import BadInput
from holdfast.model.transcript import Call, TranscriptEdit, TranscriptOrigin, TranscriptStep, cut, token_use
from holdfast.patterns import regex
from holdfast.values import dict_of, dicts_of, list_of

_EXIT = regex(r"Command exited with code (-?\d{1,9})")
_OURS = (regex(rb'"sessionId"\s*:'), regex(rb'"messages"\s*:'), regex(rb'"agent"\s*:'))
_MODE = regex(r"<user_input mode=\"[a-z]{1,20}\">")
_CREATED = "File created"
_HEAD = 4096  # bytes that tell its kind; a guess: its first fields take less
_TITLE = 200  # characters; a guess: one line of a list
_ENDING = ".messages.json"


def _records(told: dict[str, Any]) -> Iterator[TranscriptRecord]:
    """The messages, each as a record; none can be read again alone, so none has a place."""
    for message in list_of(told.get("messages")):
        if isinstance(message, dict):
            yield TranscriptRecord(message, 0, 0)


def _take(turns: MessageTurns, at: TranscriptRecord, number: int) -> None:
    message = at.value
    key, ts, content = id_of(message, "id") or f"at:{number}", moment_of(message.get("ts")), message.get("content")
    blocks = dicts_of(content)
    if message.get("role") == "assistant":
        thoughts = own_words("\n".join(filter(None, (text_value(one.get("thinking")) for one in blocks))))
        model = short_name(dict_of(message.get("modelInfo")).get("id")) or None
        told = dict_of(message.get("metrics"))
        used = token_use(told.get("inputTokens"), told.get("outputTokens"), cached=told.get("cacheReadTokens"))
        step = TranscriptStep(id=key, ts=ts, model=model, text=spoken(content), reasoning=thoughts, usage=used)
        calls = [one for one in blocks if one.get("type") == "tool_use"]
        turns.answered(step, [(id_of(one, "id") or f"{key}:{n}", one) for n, one in enumerate(calls)], at)
        return
    for block in blocks:
        if block.get("type") == "tool_result":
            turns.gave(id_of(block, "tool_use_id"), block)
    said = _typed(message)
    if said:
        turns.asked(key, said, at, ts=ts)


def _typed(message: dict[str, Any]) -> str:
    """A person's words, out of the frame that the program puts around them."""
    if message.get("role") != "user" or dict_of(message.get("metadata")).get("displayRole") == "system":
        return ""
    said = spoken(message.get("content"), "hook_context", "environment_details")
    return inside(_MODE.sub("<user_input>", said), "user_input").strip() or said.strip()


def _understood(call_id: str, call: dict[str, Any], told: dict[str, Any] | None) -> Call:
    tool, given = short_name(call.get("name")), dict_of(call.get("input"))
    return tool_call("cline", call_id, tool, given, _answer(tool, given, told) if told is not None else None)


def _answer(tool: str, given: dict[str, Any], told: dict[str, Any]) -> ToolOutcome:
    rows = dicts_of(_plain(told.get("content")))
    said = [text_value(row.get("result")) or text_value(row.get("error")) or spoken(row.get("content")) for row in rows]
    text = "\n".join(filter(None, said)) or spoken(told.get("content"))
    failed = told.get("is_error") is True or any(row.get("success") is False for row in rows)
    ended = [found for row in rows if (found := _EXIT.search(text_value(row.get("error"))[:200]))]
    status = int(ended[0][1]) if ended else None if failed else 0
    edits = _edits(given, new=_CREATED in text[:200]) if tool == "editor" else ()
    return ToolOutcome(text=text, failed=failed, exit_status=status, edits=edits)


def _plain(content: object) -> object:
    """What a tool gave back: as it is, or as the text of a JSON object."""
    if not isinstance(content, str) or not content.startswith("{"):
        return content
    try:
        return [json.loads(content)]
    except (ValueError, RecursionError):
        return content


def _edits(given: dict[str, Any], *, new: bool) -> tuple[TranscriptEdit, ...]:
    path, after = text_value(given.get("path"), 4096), text_value(given.get("new_text"))
    if not path:
        return ()
    if new:
        return (whole_file_edit(path, after, before="", new=True),)
    return (replacement_edit(path, [(text_value(given.get("old_text")), after)]),)


def _files(home: str) -> Iterator[str]:
    places = os.walk(os.path.join(home, "data", "sessions"))
    yield from transcript_reader.newest_first(
        os.path.join(folder, name) for folder, _, names in places for name in names if name.endswith(_ENDING)
    )


def _is_mine(path: str) -> bool:
    if not path.endswith(_ENDING) or not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return False
    return head.lstrip().startswith(b"{") and all(sign.search(head) for sign in _OURS)


def _read(path: str, _start: int = 0, origin: TranscriptOrigin | None = None) -> TranscriptReading:
    if not os.path.isfile(path):
        raise BadInput(f"{path} is no file")
    told = document(path)
    if not isinstance(told.get("messages"), list) or not isinstance(told.get("sessionId"), str):
        raise BadInput(f"{path} is not a transcript of Cline")
    known, counted = origin or _whose(path, told), TranscriptCounts(end=os.path.getsize(path))
    turns = MessageTurns(_understood)
    numbers = iter(range(len(told["messages"])))
    over = turns.over(_records(told), lambda at: _take(turns, at, next(numbers)))
    return TranscriptReading(known, over, counted)


def _whose(path: str, told: dict[str, Any]) -> TranscriptOrigin:
    try:
        beside = document(path.removesuffix(_ENDING) + ".json")
    except (OSError, BadInput):
        beside = {}
    more, git = dict_of(beside.get("metadata")), dict_of(dict_of(beside.get("metadata")).get("git"))
    first = next((moment_of(one.get("ts")) for one in dicts_of(told.get("messages"))), None)
    return TranscriptOrigin(
        agent="cline",
        session=short_name(told.get("sessionId")) or "unknown",
        version=short_name(dict_of(told.get("origin")).get("version")) or None,
        cwd=path_value(beside.get("cwd")),
        branch=path_value(git.get("branch")),
        started=short_name(beside.get("started_at")) or first,
        title=cut(own_words(text_value(more.get("title"))), _TITLE) or None,
    )


def _find(home: str, session: str) -> str:
    return os.path.join(home, "data", "sessions", session, f"{session}{_ENDING}")


DIALECT = transcript_reader.Dialect(
    "cline", lambda environ, home: environ.get("CLINE_DIR") or f"{home}/.cline", _files, _is_mine, _read, _find
)
