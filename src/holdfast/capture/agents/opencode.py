"""Transcripts of opencode: `~/.local/share/opencode/opencode.db`, one SQLite file for all projects.

From a database that opencode 1.18.33 wrote; how an answer was stopped and what it thought, from its public source. A
transcript is one session of it, `opencode.db#ses_…`. It is read beside a running client, in one read-only transaction
that sees its log, and a reading always begins at the session's beginning.

    session   directory, version, title, parent_id (of a helper; a fork says nothing)
    message   role and times, as JSON; an answer is one message
    part      what a message consists of, as JSON: text, reasoning, tool, and what is passed over

A fork copies messages under new ids, with their old times and calls: so a message is known by its time.

Until 1.1 the same objects were files, as opencode 1.1.65 wrote them below `~/.local/share/opencode/storage`; 1.18.33
leaves them there and shows them no more. A transcript is then the file of a session:

    session/<project>/ses_….json      directory, version, title, parentID, time
    message/ses_…/msg_….json          what a message's row holds
    part/msg_…/prt_….json             what a part's row holds

`opencode export` prints one session as one JSON document, which Entire keeps as its transcript. From exports of 1.2.21
in a public repository:

    info       what its row of `session` holds, with its id
    messages   each {"info": what a message's row holds, "parts": […]}
"""

import contextlib
import json
import os
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote

from holdfast.capture.agents import transcript_reader
from holdfast.capture.agents.message_turns import MessageTurns, ToolOutcome, moment_of, summed, tool_call
from holdfast.capture.agents.tool_input import hunks, patch_edit, replacement_edit, todo_list, whole_file_edit
from holdfast.capture.agents.transcript_reader import (
    MAX_LINE,
    TranscriptCounts,
    TranscriptReading,
    TranscriptRecord,
    document,
)
from holdfast.capture.agents.transcript_text import own_words, passed_over, path_value, short_name, text_value
from holdfast.errors import BadInput
from holdfast.model.transcript import Call, TokenUse, TranscriptEdit, TranscriptOrigin, TranscriptStep, cut, token_use
from holdfast.patterns import regex
from holdfast.store import transcript_files
from holdfast.values import dict_of

_NAME = "opencode.db"
_STORED = "storage/session"  # below opencode's folder: sessions of earlier versions
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
_EXPORT = regex(rb'\s*\{\s*"info"\s*:\s*\{\s*"id"\s*:\s*"ses_')
StoredMessage = tuple[str, object, dict[str, Any], list[dict[str, Any]]]  # its id, its time, itself, its parts


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


def _rows(database: str, session: str, counted: TranscriptCounts) -> Iterator[StoredMessage]:
    with _opened(database) as connection:
        for key, ts, data in connection.execute(_MESSAGES, (MAX_LINE, session, _MAX_MESSAGES)):
            parts = connection.execute(_PARTS, (MAX_LINE, key, _MAX_PARTS))
            yield key, ts, _json(data, counted), [_json(part, counted) for _, part in parts]


def _files_of(path: str, counted: TranscriptCounts) -> Iterator[StoredMessage]:
    """The same for the files of earlier versions; a name's order says nothing, because its clock starts again."""
    storage, session = path.rsplit("/", 3)[0], _session_in(path)
    folder = os.path.join(storage, "message", session)
    names = _names(folder, _MAX_MESSAGES)
    heads = ((name, _json_file(os.path.join(folder, name), counted)) for name in names)
    times = {name: dict_of(told.get("time")).get("created") for name, told in heads}
    for name, ts in sorted(times.items(), key=lambda one: (one[1] if type(one[1]) is int else 0, one[0])):
        key = name.removesuffix(".json")
        below = os.path.join(storage, "part", key)
        parts = [_json_file(os.path.join(below, part), counted) for part in _names(below, _MAX_PARTS)]
        yield key, ts, _json_file(os.path.join(folder, name), TranscriptCounts()), parts


def _exported(path: str, counted: TranscriptCounts) -> Iterator[StoredMessage]:
    """The same for an export."""
    messages = document(path).get("messages")
    for message in messages[:_MAX_MESSAGES] if isinstance(messages, list) else ():
        info, parts = (dict_of(message).get(name) for name in ("info", "parts"))
        if not isinstance(info, dict) or not isinstance(parts, list):
            counted.damaged += 1
            continue
        created = dict_of(info.get("time")).get("created")
        yield short_name(info.get("id")), created, info, [dict_of(part) for part in parts[:_MAX_PARTS]]


def _names(folder: str, most: int) -> list[str]:
    """The JSON files of a folder, by name; none if it is missing."""
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(".json"))[:most]
    except OSError:
        return []


def _json_file(path: str, counted: TranscriptCounts) -> dict[str, Any]:
    try:
        if os.path.getsize(path) > MAX_LINE:
            return _json(None, counted)
        return document(path)
    except (BadInput, OSError):
        counted.damaged += 1
        return {}


def _records(messages: Iterable[StoredMessage]) -> Iterator[TranscriptRecord]:
    """Each message with its parts; none can be read again alone, so none has a place."""
    told: Counter[object] = Counter()
    for key, ts, message, parts in messages:
        told[ts] += 1
        name = f"at:{ts}" if type(ts) is int else f"is:{short_name(key)}"
        again = f":{told[ts]}" if told[ts] > 1 else ""
        value = {"key": name + again, "ts": moment_of(ts), "message": message, "parts": parts}
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
    database, names = os.path.join(home, _NAME), set[str]()
    if os.path.isfile(database):
        with contextlib.suppress(BadInput), _opened(database) as connection:
            rows = [short_name(name) for (name,) in connection.execute(_SESSIONS, (_MAX_SESSIONS,))]
            yield from (transcript_files.path_in(database, name) for name in rows if name)
            names.update(rows)
    # What a version in between took over into its database is there, too, and counts once.
    yield from (path for path in _stored(home) if _session_in(path) not in names)


def _stored(home: str) -> list[str]:
    """The sessions of earlier versions, the newest first."""
    paths = (os.path.join(at, name) for at, _, names in os.walk(os.path.join(home, _STORED)) for name in names)
    return transcript_reader.newest_first(path for path in paths if _session_in(path))


def _session_in(path: str) -> str:
    """The session of a file of earlier versions; empty for any other path."""
    folder, name = os.path.split(path)
    mine = os.path.dirname(folder).endswith(f"/{_STORED}") and name.startswith("ses_") and name.endswith(".json")
    return short_name(name.removesuffix(".json")) if mine else ""


def _is_mine(path: str) -> bool:
    try:
        return bool(_whose(path))
    except (BadInput, OSError):
        return False


def _whose(path: str) -> TranscriptOrigin:
    if session := _session_in(path):
        return _stored_origin(session, document(path))
    found = transcript_files.in_database(path)
    if found is None and (told := _export_info(path)):
        return _stored_origin(short_name(told.get("id")), told)
    if found is None:
        hint = f"Name its folder, or one session: {_NAME}#ses_…"
        raise BadInput(f"{path} is not a session of opencode", hint=hint)
    database, session = found
    with _opened(database) as connection:
        row = connection.execute(_SESSION, (session,)).fetchone()
    if row is None:
        raise BadInput(f"{database} has no session {session}")
    return _origin(session, row)


def _export_info(path: str) -> dict[str, Any]:
    """What an export says of its session; nothing for any other file."""
    with open(path, "rb") as file:
        if not _EXPORT.match(file.read(200)):
            return {}
    return dict_of(document(path).get("info"))


def _stored_origin(session: str, told: dict[str, Any]) -> TranscriptOrigin:
    """The origin of a session that stands in JSON."""
    created = dict_of(told.get("time")).get("created")
    fields = (told.get("directory"), told.get("version"), told.get("title"), told.get("parentID"), created)
    return _origin(session, fields)


def _origin(session: str, row: tuple[Any, ...]) -> TranscriptOrigin:
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
    found = transcript_files.in_database(path)
    stored = bool(_session_in(path))
    known = origin if origin is not None and (found or stored) else _whose(path)
    counted = TranscriptCounts()
    messages = _rows(*found, counted) if found else (_files_of if stored else _exported)(path, counted)
    turns = MessageTurns(_understood, helper=known.role == "subagent")
    told = turns.over(_records(messages), lambda at: _take(turns, counted, at))
    return TranscriptReading(known, told, counted)


def _home(environ: dict[str, str], home: str) -> str:
    return os.path.join(environ.get("XDG_DATA_HOME") or f"{home}/.local/share", "opencode")


def _find(home: str, session: str) -> str:
    database = os.path.join(home, _NAME)
    earlier = () if os.path.isfile(database) else _stored(home)
    return next((path for path in earlier if _session_in(path) == session), transcript_files.path_in(database, session))


DIALECT = transcript_reader.Dialect("opencode", _home, _files, _is_mine, _read, _find)
