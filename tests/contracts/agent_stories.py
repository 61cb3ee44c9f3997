"""One story as each agent writes it down: what every dialect must tell of it, and the same told once more.

A person asks for a fix; the agent looks, runs a command that fails, edits one file and writes another, and says that
it is done; then the person asks for the docs. Codex, Claude Code and Gemini CLI have their own, longer stories beside.
"""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from holdfast.store import transcript_files
from tests.laws import transcripts

ASKED, THEN = "fix the test, please", "and the docs"
AT = 1794840750688
# As opencode 1.18.33 makes them, without the columns and tables that nothing here reads.
SCHEMA = """
create table session (id text primary key, directory text not null, version text not null, title text not null,
    parent_id text, time_created integer not null, time_updated integer not null);
create table message (id text primary key, session_id text not null, time_created integer not null,
    time_updated integer not null, data text not null);
create table part (id text primary key, message_id text not null, session_id text not null,
    time_created integer not null, time_updated integer not null, data text not null);
"""
Message = tuple[dict[str, Any], list[dict[str, Any]]]


def _tool(call: str, tool: str, output: str, metadata: dict[str, Any], **given: Any) -> dict[str, Any]:
    state = {"status": "completed", "input": given, "output": output, "metadata": metadata}
    return {"type": "tool", "tool": tool, "callID": call, "state": state}


_DIFF = "Index: /w/app/a.py\n===\n--- /w/app/a.py\n+++ /w/app/a.py\n@@ -1,1 +1,1 @@\n-one\n+two\n"
_USED = {"tokens": {"input": 90, "output": 15, "reasoning": 5, "cache": {"read": 10, "write": 0}}, "cost": 0.0006}
_ANSWER = {"role": "assistant", "modelID": "model-o", "path": {"cwd": "/w/app"}, **_USED}
_EDIT = {"filePath": "/w/app/a.py", "oldString": "one", "newString": "two"}
OPENCODE: list[Message] = [
    (
        {"role": "user"},
        [{"type": "text", "text": f'"{ASKED}"'}, {"type": "text", "text": "told by a plug-in", "synthetic": True}],
    ),
    (
        _ANSWER,
        [
            {"type": "step-start", "snapshot": "x"},
            {"type": "reasoning", "text": "Look."},
            {"type": "text", "text": "I look."},
            _tool("c1", "bash", "1 failed\n", {"exit": 1}, command="pytest -q"),
            {"type": "step-finish", "cost": 0.1},
        ],
    ),
    (
        _ANSWER,
        [
            _tool("c2", "edit", "ok", {"filediff": {"file": "/w/app/a.py", "patch": _DIFF}}, **_EDIT),
            _tool("c3", "write", "ok", {"filepath": "/w/app/b.py", "exists": False}, filePath="b.py", content="x"),
            {"type": "patch", "files": ["/w/app/a.py"]},
        ],
    ),
    (_ANSWER, [{"type": "text", "text": "It is fixed."}]),
    ({"role": "user"}, [{"type": "text", "text": THEN}]),
]


def opencode(
    path: Path, told: list[Message], *, session: str = "ses_1", copy: bool = False, cwd: str = "/w/app"
) -> str:
    """A session in a database; a copy has other ids of messages and parts, and the old times and calls."""
    with sqlite3.connect(path) as connection:
        if not connection.execute("select 1 from sqlite_master").fetchone():
            connection.executescript(SCHEMA)
        connection.execute("pragma journal_mode = wal")
        row = (session, cwd, "1.18.33", "ok (fork #1)" if copy else "ok", None, AT, AT)
        connection.execute("insert or replace into session values (?, ?, ?, ?, ?, ?, ?)", row)
        for number, (message, parts) in enumerate(told):
            key, ts = f"msg_{session}_{number:03}", AT + number
            data = json.dumps(message)
            connection.execute("insert or replace into message values (?, ?, ?, ?, ?)", (key, session, ts, ts, data))
            for n, part in enumerate(parts):
                values = (f"prt_{session}_{number:03}_{n:03}", key, session, ts, ts, json.dumps(part))
                connection.execute("insert or replace into part values (?, ?, ?, ?, ?, ?)", values)
    connection.close()
    return transcript_files.path_in(str(path), session)


class Story:
    """The story of one agent, as lines or messages that can be told in part, again, or as a copy."""

    def __init__(
        self, agent: str, lines: list[Any], write: Callable[[Path, list[Any], str], str], *, name: str = ""
    ) -> None:
        self.agent, self.name, self.lines, self._write = agent, name or agent, lines, write

    def told(self, folder: Path, lines: list[Any] | None = None, *, cwd: str = "/w/app", session: str = "") -> str:
        """Write it where the agent would; gives the transcript's path."""
        folder.mkdir(parents=True, exist_ok=True)
        there = json.loads(json.dumps(self.lines if lines is None else lines).replace("/w/app", cwd))
        return self._write(folder, there, session)

    @property
    def more(self) -> list[Any]:
        """The story with an answer to its last question."""
        text = json.dumps([self.lines[self._answer]]).replace("It is fixed.", "The docs tell it now.")
        text = text.replace("s3-0000-4000-", "s9-0000-4000-").replace("m3-0000-4000-", "m9-0000-4000-")
        text = text.replace("00000008-0000", "00000099-0000").replace("p8-0000", "p99-0000").replace('"m8"', '"m99"')
        return [*self.lines, *json.loads(text)]

    @property
    def first_half(self) -> list[Any]:
        """The story up to the agent's answer, without the second question."""
        return self.lines[: self._answer + 1]

    @property
    def _answer(self) -> int:
        return next(n for n, line in enumerate(self.lines) if "It is fixed." in json.dumps(line))


def _lines(name: str, below: str = "", *, head: str = "") -> Callable[[Path, list[Any], str], str]:
    def write(folder: Path, lines: list[Any], session: str) -> str:
        text = transcripts.as_bytes(lines).decode()
        if session and head:
            text = text.replace(head, session)
        place = folder / below.format(session or head)
        place.mkdir(parents=True, exist_ok=True)
        path = place / name.format(session or head)
        path.write_text(text)
        return str(path)

    return write


def _kimi(folder: Path, lines: list[Any], session: str) -> str:
    place = folder / "sessions" / "wd_app" / (session or "session_1")
    (place / "agents" / "main").mkdir(parents=True, exist_ok=True)
    cwd = next(one["environmentDisclosure"]["cwd"] for one in lines if "environmentDisclosure" in one)
    state = {"id": session or "session_1", "cwd": cwd, **({"forkedFrom": "session_1"} if session else {})}
    (place / "state.json").write_text(json.dumps(state))
    path = place / "agents" / "main" / "wire.jsonl"
    path.write_bytes(transcripts.as_bytes(lines))
    return str(path)


def _cline(folder: Path, messages: list[Any], session: str) -> str:
    name = session or "1794840780933_mjwn6"
    place = folder / "data" / "sessions" / name
    place.mkdir(parents=True, exist_ok=True)
    cwd = next(
        (edit["input"]["path"] for one in messages for edit in one["content"] if "path" in edit.get("input", {})), ""
    )
    cwd = cwd.removesuffix("/a.py") or "/w/app"
    (place / f"{name}.json").write_text(json.dumps({"session_id": name, "cwd": cwd}))
    path = place / f"{name}.messages.json"
    path.write_text(json.dumps({**transcripts.CLINE, "sessionId": name, "messages": messages}))
    return str(path)


def _opencode(folder: Path, told: list[Any], session: str) -> str:
    cwd = next(part["state"]["input"]["filePath"] for _, parts in told for part in parts if part.get("tool") == "edit")
    named = {"session": session, "copy": True} if session else {}
    return opencode(folder / "opencode.db", [tuple(one) for one in told], cwd=cwd.removesuffix("/a.py"), **named)


def _opencode_files(folder: Path, told: list[Any], session: str) -> str:
    """As opencode 1.1.65 kept sessions; the names are not in the order of time, for their clock begins anew."""
    name, below = session or "ses_1", folder / "storage"
    edited = next(part["state"]["input"] for _, parts in told for part in parts if part.get("tool") == "edit")
    head = {"id": name, "version": "1.1.65", "projectID": "p1", "title": "ok", "time": {"created": AT, "updated": AT}}
    path = below / "session" / "p1" / f"{name}.json"
    files = {path: {**head, "directory": edited["filePath"].removesuffix("/a.py")}}
    for number, (message, parts) in enumerate(told):
        key = f"msg_{name}_{(number + len(told) // 2) % len(told):03}"
        about = {"id": key, "sessionID": name, "time": {"created": AT + number}}
        files[below / "message" / name / f"{key}.json"] = {**about, **message}
        for n, part in enumerate(parts):
            part_key = f"prt_{number:03}_{n:03}"
            whose = {"id": part_key, "sessionID": name, "messageID": key}
            files[below / "part" / key / f"{part_key}.json"] = {**whose, **part}
    for file in (below / "message" / name).glob("*"):
        file.unlink()
    for file, value in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(value, indent=2))
    return str(path)


def _opencode_export(folder: Path, told: list[Any], session: str) -> str:
    """As `opencode export` prints a session, and Entire keeps it."""
    name = session or "ses_1"
    edited = next(part["state"]["input"] for _, parts in told for part in parts if part.get("tool") == "edit")
    about = {"directory": edited["filePath"].removesuffix("/a.py"), "version": "1.2.21", "time": {"created": AT}}
    messages = [
        {"info": {"id": f"msg_{number}", "time": {"created": AT + number}, **message}, "parts": parts}
        for number, (message, parts) in enumerate(told)
    ]
    path = folder / f"{name}.json"
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"info": {"id": name, **about}, "messages": messages}, indent=2))
    return str(path)


OLDER_OPENCODE, EXPORT = "opencode until 1.1", "opencode export"
STORIES = {
    one.name: one
    for one in (
        Story("opencode", [list(one) for one in OPENCODE], _opencode),
        Story("opencode", [list(one) for one in OPENCODE], _opencode_files, name=OLDER_OPENCODE),
        Story("opencode", [list(one) for one in OPENCODE], _opencode_export, name=EXPORT),
        Story(
            "qwen", transcripts.QWEN, _lines("{}.jsonl", "projects/-w-app/chats", head=transcripts.QWEN[0]["sessionId"])
        ),
        Story(
            "copilot",
            transcripts.COPILOT,
            _lines("events.jsonl", "session-state/{}", head=transcripts.COPILOT[0]["data"]["sessionId"]),
        ),
        Story(
            "pi",
            transcripts.PI,
            _lines("2026-02-01T10-00-00-000Z_{}.jsonl", "sessions/--w-app--", head=transcripts.PI[0]["id"]),
        ),
        Story("kimi", transcripts.KIMI, _kimi),
        Story("cline", transcripts.CLINE["messages"], _cline),
    )
}
