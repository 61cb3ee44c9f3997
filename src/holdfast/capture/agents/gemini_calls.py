"""Gemini CLI's tool calls: what kind each is, what came back and what it wrote."""

import json
import re
from typing import Any

from holdfast.capture.agents.editing import agreed, hunks, lines_of, patched, replaced, written
from holdfast.capture.agents.planning import todos
from holdfast.capture.agents.reading import dict_of, list_of
from holdfast.capture.agents.stripping import is_ours, name, spoken, words
from holdfast.model.transcript import MAX_INPUT, MAX_LINES, Call, Edit, Result, cut, ends
from holdfast.patterns import regex

BLOCKS = ("hook_context", "session_context", "system-reminder")
_KINDS = {
    "shell": ("run_shell_command",),
    "edit": ("write_file", "replace", "edit", "smart_edit"),
    "read": ("read_file", "read_many_files"),
    "search": ("glob", "grep", "grep_search", "search_file_content", "list_directory", "codebase_investigator"),
    "web": ("web_fetch", "google_web_search"),
    "plan": ("write_todos", "update_topic", "enter_plan_mode", "exit_plan_mode", "tracker_create_task"),
    "agent": ("delegate_to_agent", "invoke_agent", "generalist"),
    "ask": ("ask_user",),
}
KIND = {tool: kind for kind, tools in _KINDS.items() for tool in tools}
_EXIT = regex(r"^Exit Code: (-?\d{1,9})$", re.MULTILINE)
_ENDING = 600  # characters at the end of a command's output in which the tool says how it ended
_NEW = "Successfully created"
_PATHS = ("file_path", "absolute_path", "dir_path", "path")


def called(told: dict[str, Any], call_id: str) -> Call:
    """A call with its result, as one entry of `toolCalls` tells it."""
    given, tool = dict_of(told.get("args")), name(told.get("name")) or "unknown"
    kind = "mcp" if tool.startswith("mcp_") or "__" in tool else KIND.get(tool, "other")
    result = _result(tool, kind, told)
    worked = result is not None and not result.failed and not result.refused
    return Call(
        id=call_id,
        name=tool,
        kind=kind,
        text=cut(_written_down(told.get("args")), MAX_INPUT),
        command=cut(spoken(words(given.get("command"))), MAX_INPUT) or None if kind == "shell" else None,
        paths=tuple(path for key in _PATHS if (path := words(given.get(key))))[:1],
        edits=_edits(tool, given, told, result) if worked and result and kind == "edit" else (),
        todos=todos(given.get("todos"), "description", "content") if worked and tool == "write_todos" else None,
        result=result,
    )


def _written_down(value: object) -> str:
    try:
        return spoken(words(json.dumps(value, ensure_ascii=False))) if value else ""
    except (ValueError, RecursionError):
        return ""


def _result(tool: str, kind: str, told: dict[str, Any]) -> Result | None:
    """What came back; None if nothing did, or the call still goes on."""
    status = name(told.get("status"))
    said, failed = responses(told.get("result"))
    if not said and status not in ("success", "error", "cancelled"):
        return None
    ended = _exit_status(said) if kind == "shell" and status != "cancelled" else None
    return Result(
        text="" if is_ours(tool) else ends(said),
        size=len(said),
        exit_status=ended,
        failed=failed or status in ("error", "cancelled") or bool(ended),
        refused=status == "cancelled",
    )


def responses(parts: object) -> tuple[str, bool]:
    """The text of function responses, and whether one of them is an error."""
    said, failed = [], False
    for part in [parts] if isinstance(parts, dict | str) else list_of(parts):
        response = dict_of(dict_of(dict_of(part).get("functionResponse")).get("response"))
        failed = failed or bool(response.get("error"))
        text = words(response.get("output")) or words(response.get("error")) or words(dict_of(part).get("text"))
        said.append(text or words(part))
    return _unwrapped("\n".join(text for text in said if text)), failed


def _unwrapped(text: str) -> str:
    text = spoken(text, *BLOCKS).strip("\n")
    return text.replace("<untrusted_context>\n", "").replace("\n</untrusted_context>", "").strip("\n")


def _exit_status(said: str) -> int | None:
    """How a command ended: said after its output, by newer versions only if it failed."""
    ending = said[-_ENDING:]
    found = _EXIT.findall(ending)
    if found:
        return int(found[-1])
    return 0 if "Process Group PGID:" in ending or said.startswith("Output: ") else None


def _edits(tool: str, given: dict[str, Any], told: dict[str, Any], result: Result) -> tuple[Edit, ...]:
    shown = dict_of(told.get("resultDisplay"))
    path = words(given.get("file_path")) or words(shown.get("filePath"))
    if not path:
        return ()
    edit = _edit(tool, path, given, shown, result)
    if given.get("modified_by_user") is True:
        edit = agreed(edit, lines_of(words(given.get("ai_proposed_content"))))
    return (edit,)


def _edit(tool: str, path: str, given: dict[str, Any], shown: dict[str, Any], result: Result) -> Edit:
    before, after = shown.get("originalContent"), shown.get("newContent")
    new = shown.get("isNewFile") is True or result.text.startswith(_NEW)
    if tool == "write_file":
        content = words(after) or words(given.get("content"))
        known = words(before) if isinstance(before, str) else None
        return written(path, content, before=known, new=new)
    if diff := words(shown.get("fileDiff")):
        return patched(path, hunks(diff)[: 4 * MAX_LINES])
    if isinstance(before, str) and isinstance(after, str):
        return replaced(path, [(words(before), words(after))], new=new)
    pair = (words(given.get("old_string")), words(given.get("new_string")))
    return replaced(path, [pair], new=new or not pair[0])
