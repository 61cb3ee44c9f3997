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


def _qwen(kind: str, number: int, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    role = "model" if kind == "assistant" else "user"
    known = {"uuid": f"{number:08x}-0000-4000-8000-00000000000b", "parentUuid": None, "type": kind, "timestamp": _AT}
    where = {"sessionId": "0f0e0d0c-0000-4000-8000-000000000002", "cwd": "/w/app", "version": "0.24.4"}
    message = {"message": {"role": role, "parts": list(parts)}} if parts else {}
    provenance = {"user": "real_user", "assistant": "assistant_output"}.get(kind, kind)
    return {**known, **where, "provenance": provenance, "gitBranch": "main", **message, **more}


def _function(call: str, tool: str, **given: Any) -> dict[str, Any]:
    return {"functionCall": {"id": call, "name": tool, "args": given}}


_FENCE = "qwen:user-prompt-submit-context"
_EDITED = {"callId": "c2", "status": "success", "resultDisplay": _SHOWN}
QWEN: Lines = [
    _qwen("user", 1, {"text": "fix the test, please"}, {"text": f"<{_FENCE}>\nx\n</{_FENCE}>"}),
    _qwen("system", 2, subtype="ui_telemetry", systemPayload={"uiEvent": {}}),
    _qwen(
        "assistant",
        3,
        {"text": "Look.", "thought": True},
        {"text": "I look."},
        _function("c1", "run_shell_command", command="pytest -q"),
        model="model-q",
        usageMetadata={"promptTokenCount": 100, "candidatesTokenCount": 15, "thoughtsTokenCount": 5},
    ),
    _qwen("tool_result", 4, _response("c1", "Output: 1 failed\nExit Code: 1"), toolCallResult={"status": "error"}),
    _qwen(
        "assistant",
        5,
        _function("c2", "edit", file_path="/w/app/a.py", old_string="one", new_string="two"),
        _function("c3", "write_file", file_path="b.py", content="x"),
    ),
    _qwen("tool_result", 6, _response("c2", "ok"), toolCallResult=_EDITED),
    _qwen("tool_result", 7, _response("c3", "Successfully created"), toolCallResult={"status": "success"}),
    _qwen("assistant", 8, {"text": "It is fixed."}),
    _qwen("user", 9, {"text": "and the docs"}),
]


def _copilot(kind: str, number: int, **data: Any) -> dict[str, Any]:
    named = {"id": f"{number:08x}-0000-4000-8000-00000000000c", "timestamp": _AT, "parentId": None}
    return {"type": kind, "data": data, **named}


def _request(call: str, tool: str, **given: Any) -> dict[str, Any]:
    return {"toolCallId": call, "name": tool, "arguments": given}


_COPILOT_DIFF = "\ndiff --git a/w/app/a.py b/w/app/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,1 +1,1 @@\n-one\n+two\n"
_COPILOT_RAN = '1 failed\n\nTool "bash" succeeded. Additional guidance from postToolUse hooks:\nx'
COPILOT: Lines = [
    _copilot(
        "session.start",
        1,
        sessionId="0f0e0d0c-0000-4000-8000-000000000003",
        copilotVersion="1.0.102",
        startTime=_AT,
        context={"cwd": "/w/app", "branch": "main", "headCommit": "c" * 40},
    ),
    _copilot("hook.end", 2, hookType="sessionStart", output={"additionalContext": "x"}),
    _copilot("user.message", 3, content="fix the test, please", transformedContent="x"),
    _copilot("session.usage_record", 14, usage={"apiCallId": "a1", "inputTokens": 100, "outputTokens": 20}),
    _copilot(
        "assistant.message",
        4,
        messageId="m1-0000-4000-",
        apiCallId="a1",
        model="model-c",
        content="I look.",
        toolRequests=[_request("c1", "bash", command="pytest -q")],
    ),
    _copilot(
        "tool.execution_complete",
        5,
        toolCallId="c1",
        success=True,
        shellExecution={"exitCode": 1},
        result={"content": _COPILOT_RAN},
    ),
    _copilot(
        "assistant.message",
        6,
        messageId="m2-0000-4000-",
        content="",
        toolRequests=[
            _request("c2", "edit", path="/w/app/a.py", old_str="one", new_str="two"),
            _request("c3", "create", path="b.py", file_text="x"),
        ],
    ),
    _copilot(
        "tool.execution_complete",
        7,
        toolCallId="c2",
        success=True,
        result={"content": "ok", "detailedContent": _COPILOT_DIFF},
    ),
    _copilot("tool.execution_complete", 8, toolCallId="c3", success=False, error={"message": "no", "code": "denied"}),
    _copilot("session.usage_record", 9, usage={"model": "model-c", "inputTokens": 1}),
    _copilot("assistant.message", 10, messageId="m3-0000-4000-", content="It is fixed.", toolRequests=[]),
    _copilot("session.resume", 11, eventCount=10, context={"cwd": "/w/app"}),
    _copilot("user.message", 12, content="and the docs"),
    _copilot("abort", 13, reason="user"),
]


def _pi(number: int, role: str, content: Any, **more: Any) -> dict[str, Any]:
    named = {"id": f"p{number}-0000-4000-", "parentId": None, "timestamp": _AT}
    return {"type": "message", **named, "message": {"role": role, "content": content, **more}}


def _pi_call(call: str, tool: str, **given: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": call, "name": tool, "arguments": given}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


_PI_EDITS = [{"oldText": "one", "newText": "two"}]
_PI_PATCH = {"patch": "--- /w/app/a.py\n+++ /w/app/a.py\n@@ -1,1 +1,1 @@\n-one\n+two\n"}
_PI_ENDED = "1 failed\n\nCommand exited with code 1"
PI: Lines = [
    {"type": "session", "version": 3, "id": "01a1e4d8-0000-769d-83e4-000000000004", "timestamp": _AT, "cwd": "/w/app"},
    {"type": "model_change", "id": "0000000a", "parentId": None, "timestamp": _AT, "modelId": "model-p"},
    _pi(1, "system", "x"),
    {"type": "custom_message", "id": "0000000b", "customType": "holdfast", "content": "x", "display": False},
    _pi(2, "user", [_text("fix the test, please")]),
    _pi(
        3,
        "assistant",
        [{"type": "thinking", "thinking": "Look."}, _text("I look."), _pi_call("c1", "bash", command="pytest -q")],
        model="model-p",
        usage={"input": 90, "output": 20, "cacheRead": 10, "cacheWrite": 0, "cost": {"total": 0.0006}},
    ),
    _pi(4, "toolResult", [_text(_PI_ENDED)], toolCallId="c1", isError=True),
    _pi(
        5,
        "assistant",
        [_pi_call("c2", "edit", path="/w/app/a.py", edits=_PI_EDITS), _pi_call("c3", "write", path="b", content="x")],
    ),
    _pi(6, "toolResult", [_text("ok")], toolCallId="c2", isError=False, details=_PI_PATCH),
    _pi(7, "toolResult", "ok", toolCallId="c3", isError=False),
    _pi(8, "assistant", [_text("It is fixed.")], stopReason="aborted"),
    _pi(9, "user", "and the docs"),
]


def _kimi(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "agentId": "main", "time": 1794840776510, **more}


def _kimi_loop(kind: str, **more: Any) -> dict[str, Any]:
    return _kimi("context.append_loop_event", event={"type": kind, "turnId": "0", **more})


def _kimi_call(call: str, step: str, tool: str, **given: Any) -> dict[str, Any]:
    return _kimi_loop("tool.call", uuid=f"k-{call}", stepUuid=step, toolCallId=call, name=tool, args=given)


def _kimi_gave(call: str, output: Any, **more: Any) -> dict[str, Any]:
    return _kimi_loop("tool.result", parentUuid=f"k-{call}", toolCallId=call, result={"output": output, **more})


def _kimi_asked(key: str, text: str) -> dict[str, Any]:
    return _kimi("turn.prompt", input=[_text(text)], origin={"kind": "user"}, promptId=key, turnId=0)


_S1, _S2, _S3 = (f"s{n}-0000-4000-" for n in (1, 2, 3))
KIMI: Lines = [
    {"type": "metadata", "protocol_version": "1.5", "created_at": 1794840776510},
    _kimi("profile.bind", systemPrompt="x", environmentDisclosure={"cwd": "/w/app"}),
    _kimi("context.append_message", message={"role": "user", "content": [], "origin": {"kind": "hook_result"}}),
    _kimi_asked("msg_1", "fix the test, please"),
    _kimi("agent.message.appended", message={"message": {"role": "user", "content": []}}),
    _kimi_loop("step.begin", uuid=_S1),
    _kimi("llm.request", model="model-k"),
    _kimi_loop("content.part", uuid="p0", stepUuid=_S1, part={"type": "think", "think": "Look."}),
    _kimi_loop("content.part", uuid="p1", stepUuid=_S1, part=_text("I look.")),
    _kimi_call("c1", _S1, "Bash", command="pytest -q"),
    _kimi_gave("c1", "1 failed\nCommand failed with exit code: 1.", isError=True),
    _kimi_loop("step.end", uuid=_S1, usage={"inputOther": 90, "output": 20, "inputCacheRead": 10}),
    _kimi_loop("step.begin", uuid=_S2),
    _kimi_call("c2", _S2, "Edit", path="/w/app/a.py", old_string="one", new_string="two"),
    _kimi_call("c3", _S2, "Write", path="b.py", content="x"),
    _kimi_call("c4", _S2, "TodoList", todos=[{"title": "Read", "status": "done"}]),
    _kimi_gave("c2", "Replaced 1 occurrence"),
    _kimi_gave("c3", [_text("Wrote")]),
    _kimi_gave("c4", "ok"),
    _kimi_loop("content.part", uuid="p2", stepUuid=_S3, part=_text("It is fixed.")),
    _kimi("turn.ended", turnId=0, reason="cancelled"),
    _kimi_asked("msg_2", "and the docs"),
]


def _cline(key: str, role: str, *blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": key, "role": role, "content": list(blocks), "ts": 1794840781321, **more}


_CLINE_EDIT = {"path": "/w/app/a.py", "old_text": "one", "new_text": "two"}
_CLINE_RAN = [{"query": "pytest -q", "result": "1 failed", "error": "Command exited with code 1", "success": False}]
_CLINE_HOOK = '<hook_context source="PreToolUse">x</hook_context>'
CLINE: dict[str, Any] = {
    "version": 1,
    "updated_at": _AT,
    "agent": "lead",
    "sessionId": "1794840780933_mjwn6",
    "origin": {"source": "cli", "version": "3.0.65"},
    "messages": [
        _cline("m1", "user", _text('<user_input mode="act">fix the test, please</user_input>')),
        _cline(
            "m2",
            "assistant",
            {"type": "thinking", "thinking": "Look."},
            _text("I look."),
            _use("c1", "run_commands", commands=["pytest -q"]),
            modelInfo={"id": "model-l"},
            metrics={"inputTokens": 100, "outputTokens": 20, "cacheReadTokens": 0},
        ),
        _cline("m3", "user", *_result("c1", _CLINE_RAN)),
        _cline("m4", "user", _text(_CLINE_HOOK), metadata={"displayRole": "system"}),
        _cline("m5", "assistant", _use("c2", "editor", **_CLINE_EDIT), _use("c3", "editor", path="b.py", new_text="x")),
        _cline("m6", "user", *_result("c2", '{"query":"edit","result":"Edited","success":true}')),
        _cline("m7", "user", *_result("c3", '{"query":"edit","result":"File created successfully","success":true}')),
        _cline("m8", "assistant", _text("It is fixed.")),
        _cline("m9", "user", _text('<user_input mode="plan">and the docs</user_input>')),
    ],
}

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
    ("qwen", "0f0e0d0c-0000-4000-8000-000000000002.jsonl", QWEN),
    ("copilot", "events.jsonl", COPILOT),
    ("pi", "2026-02-01T10-00-00-000Z_01a1e4d8-0000-769d-83e4-000000000004.jsonl", PI),
    ("kimi", "wire.jsonl", KIMI),
    ("cline", "1794840780933_mjwn6.messages.json", CLINE),
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
