"""Transcripts of opencode: `~/.local/share/opencode/opencode.db`, one SQLite file for all projects.

From a database that opencode 1.18.33 wrote; how an answer was stopped and what it thought, from its public source. A
transcript is one session of it, `opencode.db#ses_…`. It is read beside a running client, in one read-only transaction
that sees its log, and a reading always begins at the session's beginning.

    session   directory, version, title, parent_id (of a helper; a fork says nothing)
    message   role and times, as JSON; an answer is one message
    part      what a message consists of, as JSON: text, reasoning, tool, and what is passed over

A fork copies messages under new ids, with their old times and calls: so a message is known by its time.
"""

import contextlib
import json
import os
import sqlite3
from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from holdfast.capture.agents import transcript_reader
from holdfast.capture.agents.message_turns import MessageTurns, ToolOutcome, moment_of, summed, tool_call
from holdfast.capture.agents.tool_input import hunks, patch_edit, replacement_edit, todo_list, whole_file_edit
from holdfast.capture.agents.transcript_reader import MAX_LINE, TranscriptCounts, TranscriptReading, TranscriptRecord
from holdfast.capture.agents.transcript_text import own_words, passed_over, path_value, short_name, text_value
from holdfast.errors import BadInput
from holdfast.model.transcript import Call, TokenUse, TranscriptEdit, TranscriptOrigin, TranscriptStep, cut, token_use
from holdfast.store import transcript_files
from holdfast.values import dict_of

_NAME = "opencode.db"
_MAX_MESSAGES, _MAX_PARTS = 50_000, 2_000  # of a session, and of a message
_MAX_SESSIONS = 10_000  # a guess: bounds memory for a huge database
_STEPS = 200_000_000  # of SQLite's machine that one question may take: a database is anybody's file
_TITLE = 200  # characters; a guess: one line of a list
_SESSION = "select directory, version, title, parent_id, time_created from session where id = ?"
_SESSIONS = "select id from session order by time_updated desc limit ?"
_TEXT = "case when length(data) <= ? then data end"
_MESSAGES = f"select id, time_created, {_TEXT} from message where session_id = ? order by time_created, id limit ?"
_PARTS = f"select id, {_TEXT} from part where message_id = ? order by id limit ?"
_PASSED = ("step-start", "step-finish", "patch", "snapshot", "compaction", "file", "agent", "retry", "subtask")
_SPOKEN = ("text", "reasoning")
_ABORTED = "MessageAbortedError"


@contextlib.contextmanager
def _opened(path: str) -> Iterator[sqlite3.Connection]:
    """The database, to be read only; BadInput for what is wrong with it."""
    connection = None
    try:
        connection = sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True, timeout=2.0, isolation_level=None)
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        connection.execute("pragma trusted_schema = off")
        left = iter(range(_STEPS // 100_000))
        connection.set_progress_handler(lambda: next(left, None) is None, 100_000)
        connection.execute("begin")
        yield connection
    except sqlite3.Error as error:
        raise BadInput(f"{path} cannot be read as opencode's database: {error}") from error
    finally:
        if connection is not None:
            connection.close()


def _json(text: object, counted: TranscriptCounts) -> dict[str, Any]:
    if text is None:
        counted.too_long += 1
    try:
        value = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        counted.damaged += text is not None
        return {}
    return value


def _records(database: str, session: str, counted: TranscriptCounts) -> Iterator[TranscriptRecord]:
    """Each message with its parts; none can be read again alone, so none has a place."""
    with _opened(database) as connection:
        told: Counter[object] = Counter()
        for key, ts, data in connection.execute(_MESSAGES, (MAX_LINE, session, _MAX_MESSAGES)):
            rows = connection.execute(_PARTS, (MAX_LINE, key, _MAX_PARTS))
            parts = [_json(part, counted) for _, part in rows]
            told[ts] += 1
            name = f"at:{ts}" if type(ts) is int else f"is:{short_name(key)}"
            again = f":{told[ts]}" if told[ts] > 1 else ""
            value = {"key": name + again, "ts": moment_of(ts), "message": _json(data, counted), "parts": parts}
            yield TranscriptRecord(value, 0, 0)


def _take(turns: MessageTurns, counted: TranscriptCounts, at: TranscriptRecord) -> None:
    key, message, parts = at.value["key"], at.value["message"], at.value["parts"]
    if message.get("role") == "user":
        said = "\n".join(_typed(part) for part in parts if part.get("type") == "text").strip()
        if said:
            turns.asked(key, said, at, ts=at.value["ts"])
    elif message.get("role") == "assistant" and message.get("summary") is not True:
        texts = {kind: [text_value(one.get("text")) for one in parts if one.get("type") == kind] for kind in _SPOKEN}
        text, reasoning = (own_words("\n".join(filter(None, texts[kind]))) for kind in _SPOKEN)
        model = short_name(message.get("modelID")) or None
        used = _use(dict_of(message.get("tokens")), message.get("cost"))
        step = TranscriptStep(id=key, ts=at.value["ts"], model=model, text=text, reasoning=reasoning, usage=used)
        tools = [part for part in parts if part.get("type") == "tool"]
        calls = [(short_name(part.get("callID")) or f"{key}:{n}", part) for n, part in enumerate(tools)]
        turns.answered(step, calls, at)
        for call_id, part in calls:
            if dict_of(part.get("state")).get("status") in ("completed", "error"):
                turns.gave(call_id, part)
        if dict_of(message.get("error")).get("name") == _ABORTED:
            turns.stopped()
    for part in parts:
        if part.get("type") not in (*_SPOKEN, "tool", *_PASSED):
            passed_over(counted.unknown, part.get("type"))


def _use(tokens: dict[str, Any], cost: object) -> TokenUse | None:
    """What an answer cost; the dollars are opencode's own, from the price of the model in its settings."""
    cache = dict_of(tokens.get("cache"))
    read = summed(tokens.get("input"), cache.get("read"), cache.get("write"))
    written = summed(tokens.get("output"), tokens.get("reasoning"))
    return token_use(read, written, cached=cache.get("read"), dollars=cost)


def _typed(part: dict[str, Any]) -> str:
    """What a person typed: `opencode run` puts it between quotation marks; what is synthetic a program said."""
    said = "" if part.get("synthetic") is True else own_words(text_value(part.get("text")), "system-reminder").strip()
    return said[1:-1] if len(said) > 1 and said[0] == said[-1] == '"' else said


def _understood(call_id: str, part: dict[str, Any], told: dict[str, Any] | None) -> Call:
    tool, state = short_name(part.get("tool")), dict_of(part.get("state"))
    given = dict_of(state.get("input"))
    answer = None if told is None else _answer(tool, given, state)
    worked = answer is not None and not answer.failed
    todos = todo_list(given.get("todos"), "content") if worked and tool == "todowrite" else None
    return tool_call("opencode", call_id, tool, given, answer, todos=todos)


def _answer(tool: str, given: dict[str, Any], state: dict[str, Any]) -> ToolOutcome:
    more = dict_of(state.get("metadata"))
    status = more.get("exit")
    return ToolOutcome(
        text=text_value(state.get("output")) or text_value(state.get("error")),
        failed=state.get("status") == "error",
        exit_status=status if type(status) is int else None,
        edits=_edits(tool, given, more),
    )


def _edits(tool: str, given: dict[str, Any], more: dict[str, Any]) -> tuple[TranscriptEdit, ...]:
    path, change = text_value(given.get("filePath"), 4096), dict_of(more.get("filediff"))
    if tool == "write" and path:
        new = more.get("exists") is False
        return (whole_file_edit(path, text_value(given.get("content")), before="" if new else None, new=new),)
    path = path or text_value(change.get("file"), 4096)
    if path and (diff := text_value(change.get("patch")) or text_value(more.get("diff"))):
        return (patch_edit(path, hunks(diff)),)
    if path and tool == "edit":
        return (replacement_edit(path, [(text_value(given.get("oldString")), text_value(given.get("newString")))]),)
    return ()


def _files(home: str) -> Iterator[str]:
    database = os.path.join(home, _NAME)
    if not os.path.isfile(database):
        return
    with contextlib.suppress(BadInput), _opened(database) as connection:
        names = [short_name(name) for (name,) in connection.execute(_SESSIONS, (_MAX_SESSIONS,))]
        yield from (transcript_files.path_in(database, name) for name in names if name)


def _is_mine(path: str) -> bool:
    try:
        return bool(_whose(path))
    except (BadInput, OSError):
        return False


def _whose(path: str) -> TranscriptOrigin:
    found = transcript_files.in_database(path)
    if found is None:
        hint = f"Name its folder, or one session: {_NAME}#ses_…"
        raise BadInput(f"{path} is not a session of opencode", hint=hint)
    database, session = found
    with _opened(database) as connection:
        row = connection.execute(_SESSION, (session,)).fetchone()
    if row is None:
        raise BadInput(f"{database} has no session {session}")
    directory, version, title, parent, created = row
    helper = short_name(parent) or None
    return TranscriptOrigin(
        agent="opencode",
        session=short_name(session),
        role="subagent" if helper else "main",
        parent=helper,
        version=short_name(version) or None,
        cwd=path_value(directory),
        started=moment_of(created),
        title=cut(own_words(text_value(title)), _TITLE) or None,
    )


def _read(path: str, _start: int = 0, origin: TranscriptOrigin | None = None) -> TranscriptReading:
    database, session = transcript_files.in_database(path) or ("", "")
    known = _whose(path) if origin is None or not database else origin
    counted = TranscriptCounts()
    turns = MessageTurns(_understood, helper=known.role == "subagent")
    told = turns.over(_records(database, session, counted), lambda at: _take(turns, counted, at))
    return TranscriptReading(known, told, counted)


def _home(environ: dict[str, str], home: str) -> str:
    return os.path.join(environ.get("XDG_DATA_HOME") or f"{home}/.local/share", "opencode")


def _find(home: str, session: str) -> str:
    return transcript_files.path_in(os.path.join(home, _NAME), session)


DIALECT = transcript_reader.Dialect("opencode", _home, _files, _is_mine, _read, _find)
