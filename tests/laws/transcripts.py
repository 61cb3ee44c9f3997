"""Valid transcripts of every agent and generation, small and made by hand, to be spoilt by tests."""

import json
import re
from typing import Any

Lines = list[dict[str, Any]]

_AT = "2026-02-01T10:00:00.000Z"


def _codex(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": _AT, "type": kind, "payload": payload}


def _item(kind: str, **more: Any) -> dict[str, Any]:
    return _codex("response_item", {"type": kind, **more})


def _event(kind: str, **more: Any) -> dict[str, Any]:
    return _codex("event_msg", {"type": kind, **more})


def _said(role: str, text: str) -> dict[str, Any]:
    kind = "input_text" if role == "user" else "output_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


_ID = "019c0000-0000-7000-8000-00000000000a"
_PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-one\n+two\n*** End Patch"
_META = {
    "id": _ID,
    "timestamp": _AT,
    "cwd": "/w/app",
    "originator": "codex_cli_rs",
    "cli_version": "0.104.0",
    "source": {"subagent": {"thread_spawn": {"parent_thread_id": "x", "depth": 1}}},
    "git": {"commit_hash": "c" * 40, "branch": "main", "repository_url": "https://example.org/a.git"},
}
_CHANGES = {"/w/app/a.py": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-one\n+two\n", "move_path": None}}
CODEX: Lines = [
    _codex("session_meta", _META),
    _codex("turn_context", {"cwd": "/w/app", "model": "model-x", "approval_policy": "never"}),
    _codex("response_item", _said("user", "<environment_context>\n<cwd>/w/app</cwd>\n</environment_context>")),
    _codex("response_item", _said("user", "fix the test, please")),
    _event("user_message", message="fix the test, please", images=[]),
    _item("reasoning", summary=[{"type": "summary_text", "text": "Look."}], encrypted_content="b3BhcXVl"),
    _item("function_call", name="exec_command", arguments='{"cmd":"pytest -q"}', call_id="c1"),
    _item("function_call_output", call_id="c1", output="Process exited with code 1\nOutput:\n1 failed"),
    _item("function_call", name="shell", arguments='{"command":["bash","-lc","ls"]}', call_id="c2"),
    _item("function_call_output", call_id="c2", output='{"output":"a","metadata":{"exit_code":0}}'),
    _item("custom_tool_call", name="apply_patch", input=_PATCH, call_id="c3", status="completed"),
    _item("custom_tool_call_output", call_id="c3", output=[{"type": "input_text", "text": "Success."}]),
    _event("patch_apply_end", call_id="c3", success=True, status="completed", changes=_CHANGES),
    _item("custom_tool_call", name="exec", input='await tools.exec_command({cmd:"ls"})', call_id="c4"),
    _item("function_call", name="update_plan", arguments='{"plan":[{"step":"a","status":"completed"}]}', call_id="c5"),
    _item("local_shell_call", call_id="c6", status="completed", action={"type": "exec", "command": ["ls"]}),
    _item("web_search_call", status="completed", action={"type": "search", "query": "x"}),
    _codex("response_item", _said("assistant", "It is fixed.")),
    _event("turn_aborted", reason="interrupted", turn_id="t1"),
    _event("thread_rolled_back", num_turns=1),
    _codex("compacted", {"message": "Before.", "replacement_history": [_said("user", "fix the test, please")]}),
    _codex("world_state", {"full": True, "state": {}}),
    _codex("response_item", _said("user", "and the docs")),
]
_ITEMS: Lines = [
    {"type": "UserMessage", "id": "i1", "content": [{"type": "text", "text": "hello there"}]},
    {
        "type": "CommandExecution",
        "id": "i2",
        "command": ["ls"],
        "cwd": "/w/app",
        "exit_code": 0,
        "aggregated_output": "a",
    },
    {"type": "FileChange", "id": "i3", "changes": _CHANGES, "status": "completed"},
    {"type": "McpToolCall", "id": "i4", "server": "s", "tool": "t", "arguments": {}, "result": {"content": []}},
    {"type": "AgentMessage", "id": "i5", "content": [{"type": "Text", "text": "Hello."}]},
]
CODEX_PAGED: Lines = [
    {**line, "ordinal": number}
    for number, line in enumerate(
        [
            _codex("session_meta", {**_META, "history_mode": "paginated", "source": "cli"}),
            _codex("turn_context", {"turn_id": "t1", "cwd": "/w/app", "model": "model-x"}),
            *(_event("item_completed", thread_id=_ID, turn_id="t1", item=item) for item in _ITEMS),
            _codex("turn_context", {"turn_id": "t2", "cwd": "/w/app", "model": "model-x"}),
            *CODEX[3:12],
        ]
    )
]
CODEX_BARE: Lines = [
    {"id": _ID, "timestamp": _AT, "instructions": None, "git": {"branch": "main"}},
    {"record_type": "state"},
    _said("user", "list the files"),
    {"type": "function_call", "name": "shell", "arguments": '{"command":["ls"],"workdir":"/w"}', "call_id": "c1"},
    {"type": "function_call_output", "call_id": "c1", "output": "a"},
    _said("assistant", "Listed."),
]
CODEX_DOCUMENT: dict[str, Any] = {
    "session": {"id": _ID, "timestamp": _AT, "instructions": ""},
    "items": [
        *CODEX_BARE[2:],
        {"role": "user", "content": "once more"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "t1", "function": {"name": "shell", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "t1", "content": "b"},
    ],
}


def _claude(kind: str, number: int, **more: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "uuid": f"{number:08x}-0000-4000-8000-000000000000",
        "parentUuid": None,
        "isSidechain": False,
        "cwd": "/w/app",
        "sessionId": "0f0e0d0c-0000-4000-8000-000000000001",
        "version": "2.1.37",
        "gitBranch": "main",
        "timestamp": _AT,
        **more,
    }


def _claude_said(number: int, *blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    message = {"id": f"msg_{number}", "role": "assistant", "model": "model-x", "content": list(blocks)}
    return _claude("assistant", number, message=message, **more)


def _claude_user(number: int, content: Any, **more: Any) -> dict[str, Any]:
    return _claude("user", number, message={"role": "user", "content": content}, **more)


def _use(call: str, tool: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": tool, "input": given}


def _result(call: str, content: Any) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": call, "content": content, "is_error": False}]


_TODOS = [{"content": "Read", "status": "completed"}, {"content": "Write", "status": "pending"}]
_STRUCTURED = {"filePath": "/w/app/a.py", "structuredPatch": [{"oldStart": 1, "lines": [" x", "-one", "+two"]}]}
CLAUDE: Lines = [
    {"type": "summary", "summary": "Before", "leafUuid": "x"},
    {"type": "worktree-state", "sessionId": "s", "worktreeSession": {"originalHeadCommit": "c" * 40}},
    _claude_user(1, "fix the test, please", origin={"kind": "human"}, promptSource="typed"),
    _claude_said(
        2, {"type": "thinking", "thinking": "Look.", "signature": "c2ln"}, {"type": "text", "text": "I look."}
    ),
    _claude_said(
        3, _use("c1", "Bash", command="pytest -q"), _use("c2", "Edit", file_path="a.py", old_string="a", new_string="b")
    ),
    _claude_user(4, _result("c1", "Exit code 1\n1 failed"), toolUseResult={"stdout": "", "interrupted": False}),
    _claude_user(5, _result("c2", [{"type": "text", "text": "ok"}]), toolUseResult=_STRUCTURED),
    _claude_said(6, _use("c3", "Write", file_path="b.py", content="x\n"), _use("c4", "TodoWrite", todos=_TODOS)),
    _claude_user(7, _result("c3", "ok"), toolUseResult={"type": "create", "content": "x\n", "originalFile": None}),
    _claude_user(8, _result("c4", "ok"), toolUseResult={"oldTodos": [], "newTodos": _TODOS}),
    _claude_said(9, _use("c5", "MultiEdit", file_path="a", edits=[{"old_string": "a", "new_string": "b"}])),
    _claude_user(10, _result("c5", "ok"), toolUseResult=["x"]),
    _claude_said(
        11, _use("c6", "TaskCreate", subject="Ship"), _use("c7", "TaskUpdate", taskId="1", status="completed")
    ),
    _claude_user(12, _result("c6", "Task #1 created successfully: Ship"), toolUseResult={"task": {"id": "1"}}),
    _claude_user(13, _result("c7", "Updated"), toolUseResult={"success": True}),
    _claude("attachment", 14, attachment={"type": "task_reminder", "content": [{"id": "2", "subject": "More"}]}),
    {"type": "queue-operation", "operation": "enqueue", "content": "and the docs", "timestamp": _AT, "sessionId": "s"},
    {"type": "queue-operation", "operation": "remove", "timestamp": _AT, "sessionId": "s"},
    _claude("attachment", 15, attachment={"type": "queued_command", "prompt": "more", "commandMode": "prompt"}),
    _claude("system", 16, subtype="model_refusal_fallback", retractedMessageUuids=["x"]),
    _claude_said(17, {"type": "text", "text": "Done."}, supersedesUuids=["y"]),
    _claude_user(18, "[Request interrupted by user]"),
    _claude_user(19, "<command-name>/plan</command-name><command-args>it</command-args>"),
    _claude_said(20, _use("c8", "NotebookEdit", notebook_path="a.ipynb", new_source="x", edit_mode="insert")),
    _claude_user(21, _result("c8", "ok"), toolUseResult={"new_source": "x"}),
    {"type": "pr-link", "prUrl": "https://example.org/a/b/pull/1", "sessionId": "s"},
    {"type": "custom-title", "customTitle": "The test", "sessionId": "s"},
]


def _gemini(key: str, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"id": key, "timestamp": _AT, "type": kind, "content": content, **more}


def _response(call: str, output: str) -> dict[str, Any]:
    return {"functionResponse": {"id": call, "name": "tool", "response": {"output": output}}}


def _called(call: str, tool: str, output: str, **more: Any) -> dict[str, Any]:
    return {"id": call, "name": tool, "status": "success", "result": [_response(call, output)], **more}


_SHOWN = {"fileDiff": "--- a\n+++ a\n@@ -1 +1 @@\n-one\n+two", "originalContent": "one", "newContent": "two"}
_HISTORY: Lines = [
    _gemini(
        "u1", "user", [{"text": "<hook_context>x</hook_context>fix it, please"}], displayContent=[{"text": "fix it"}]
    ),
    _gemini(
        "g1",
        "gemini",
        "I look.",
        thoughts=[{"subject": "Look", "description": "at it"}],
        model="model-g",
        toolCalls=[
            _called("c1", "run_shell_command", "Output: x\nExit Code: 2", args={"command": "make"}),
            _called("c2", "replace", "ok", args={"file_path": "/w/a", "old_string": "a"}, resultDisplay=_SHOWN),
            _called("c3", "write_file", "Successfully created /w/app/b", args={"file_path": "b", "content": "x"}),
            _called("c4", "write_todos", "ok", args={"todos": [{"description": "Read", "status": "completed"}]}),
        ],
    ),
    _gemini("u2", "user", [_response("c1", "Output: x")]),
    _gemini("i1", "info", "Request cancelled."),
    _gemini("g2", "gemini", [{"text": "More."}, {"functionCall": {"id": "c9", "name": "glob", "args": {}}}]),
    _gemini("u3", "user", [_response("c9", "a.py")]),
]
_GEMINI_HEAD = {"sessionId": "5e55", "projectHash": "a" * 64, "startTime": _AT, "lastUpdated": _AT, "kind": "main"}
GEMINI: Lines = [
    _GEMINI_HEAD,
    {"$set": {"messages": [_gemini("s1", "user", [{"text": "<session_context>x</session_context>"}])]}},
    *_HISTORY,
    {"$set": {"lastUpdated": _AT, "summary": "Fixed"}},
    {"$set": {"messages": [*_HISTORY[1:], _gemini("u9", "user", "kept")]}},
    {"$rewindTo": "u9"},
    _gemini("u10", "user", "go on"),
]
GEMINI_DOCUMENT: dict[str, Any] = {**_GEMINI_HEAD, "messages": _HISTORY, "directories": ["/w/app"]}

# (agent, name of the file, what it holds: lines, or one document)
ALL: list[tuple[str, str, Any]] = [
    ("codex", f"rollout-2026-02-01T10-00-00-{_ID}.jsonl", CODEX),
    ("codex", f"rollout-2026-09-01T10-00-00-{_ID}.jsonl", CODEX_PAGED),
    ("codex", f"rollout-2025-08-01T10-00-00-{_ID}.jsonl", CODEX_BARE),
    ("codex", f"rollout-2025-05-01-{_ID}.json", CODEX_DOCUMENT),
    ("claude", "0f0e0d0c-0000-4000-8000-000000000001.jsonl", CLAUDE),
    ("claude", "agent-a0ad4f44.jsonl", CLAUDE),
    ("gemini", "session-2026-02-01T10-00-5e551011.jsonl", GEMINI),
    ("gemini", "session-2026-01-01T10-00-0ddba110.json", GEMINI_DOCUMENT),
]


def again(told: Lines, number: int) -> str:
    """The same lines as something new: other ids of records, messages, turns and calls."""
    text = as_bytes(told).decode().replace("-0000-4000-", f"-{number:04x}-4000-").replace("msg_", f"msg_{number}_")
    return re.sub(r'"([ct])(\d+)"', rf'"\1\2-{number}"', text)


def as_bytes(told: Any) -> bytes:
    """A transcript as it lies on the disk."""
    if isinstance(told, list):
        return "".join(json.dumps(line) + "\n" for line in told).encode()
    return json.dumps(told, indent=2).encode()
