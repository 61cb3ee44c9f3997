"""Claude Code's tool calls: what kind each is, what it was given, what came back and what it wrote."""

import json
from collections.abc import Sequence
from typing import Any

from holdfast.capture.agents.claude_prompts import BLOCKS
from holdfast.capture.agents.editing import agreed, lines_of, patched, replaced, written
from holdfast.capture.agents.reading import dict_of, list_of
from holdfast.capture.agents.stripping import is_ours, name, spoken, words
from holdfast.model.transcript import MAX_INPUT, MAX_LINES, Call, Edit, Result, cut, ends
from holdfast.patterns import regex
from holdfast.values import replace

_KINDS = {
    "shell": ("bash", "powershell", "bashoutput", "killshell", "killbash", "monitor"),
    "edit": ("edit", "multiedit", "write", "notebookedit", "update"),
    "read": ("read", "notebookread", "readmcpresource"),
    "search": ("grep", "glob", "ls", "toolsearch", "lsp"),
    "web": ("webfetch", "websearch", "web_search", "web_fetch"),
    "plan": (
        "todowrite",
        "todoread",
        "taskcreate",
        "taskupdate",
        "tasklist",
        "taskget",
        "exitplanmode",
        "enterplanmode",
    ),
    "agent": ("task", "agent", "sendmessage"),
    "ask": ("askuserquestion",),
}
KIND = {tool: kind for kind, tools in _KINDS.items() for tool in tools}
_EXIT = regex(r"(?:Error: )?Exit code (\d{1,9})\b")
_DENIED = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action",
    "Permission for this action has been denied",
)
_PATHS = ("file_path", "notebook_path", "path", "filePath")


def asked(block: dict[str, Any], call_id: str) -> Call:
    """A call as the model made it, before its result."""
    tool, given = name(block.get("name")) or "unknown", dict_of(block.get("input"))
    kind = "mcp" if tool.startswith("mcp__") else KIND.get(tool.lower(), "other")
    command = words(given.get("command")) if kind == "shell" else ""
    paths = tuple(path for key in _PATHS if (path := words(given.get(key))))
    return Call(
        id=call_id,
        name=tool,
        kind=kind,
        text=cut(_written_down(block.get("input")), MAX_INPUT),
        command=cut(spoken(command), MAX_INPUT) or None,
        paths=paths[:1] if kind in ("edit", "read", "search") else (),
    )


def _written_down(value: object) -> str:
    if isinstance(value, str):
        return spoken(words(value))
    try:
        return spoken(words(json.dumps(value, ensure_ascii=False))) if value else ""
    except (ValueError, RecursionError):
        return ""


def answered(call: Call, given: dict[str, Any], block: dict[str, Any], record: dict[str, Any]) -> Call:
    """The call with what it gave back and, if it worked, what it wrote."""
    result = _result(call, block, record)
    if result.failed or call.kind != "edit":
        return replace(call, result=result)
    return replace(call, result=result, edits=_edits(call, given, record.get("toolUseResult")))


def _result(call: Call, block: dict[str, Any], record: dict[str, Any]) -> Result:
    said = _output(block.get("content"))
    told = record.get("toolUseResult")
    failed = block.get("is_error") is True
    refused = failed and (_is_denied(record) or said.startswith(_DENIED))
    broken = dict_of(told).get("interrupted") is True
    return Result(
        text="" if is_ours(call.name) else ends(said),
        size=len(said),
        exit_status=None if refused else _exit_status(call, said, told, failed=failed),
        failed=failed or broken,
        refused=refused,
    )


def _is_denied(record: dict[str, Any]) -> bool:
    decision = dict_of(record.get("permissionDecision")).get("decision")
    return bool(words(record.get("toolDenialKind"))) or decision == "reject"


def _output(content: object) -> str:
    if isinstance(content, str):
        return _unwrapped(words(content))
    blocks = [block for block in list_of(content) if isinstance(block, dict)]
    said = [words(block.get("text")) or name(block.get("tool_name")) for block in blocks]
    return _unwrapped("\n".join(text for text in said if text))


def _unwrapped(text: str) -> str:
    text = spoken(text, *BLOCKS).strip("\n")
    return text.removeprefix("<tool_use_error>").removesuffix("</tool_use_error>")


def _exit_status(call: Call, said: str, told: object, *, failed: bool) -> int | None:
    """How a command ended; Claude Code says so only if it failed."""
    if call.kind != "shell" or not call.command:
        return None
    if failed:
        found = _EXIT.match(said)
        return int(found[1]) if found else None
    known = dict_of(told)
    if known.get("interrupted") is True or known.get("backgroundTaskId"):
        return None
    if known.get("returnCodeInterpretation"):
        return 1  # `grep` that found nothing, `diff` that found something
    return 0


def _edits(call: Call, given: dict[str, Any], told: object) -> tuple[Edit, ...]:
    known = dict_of(told)
    path = words(known.get("filePath")) or (call.paths[0] if call.paths else "")
    if not path:
        return ()
    edit, proposed = _edit(call.name.lower(), path, given, known)
    return (agreed(edit, proposed) if known.get("userModified") is True else edit,)


def _edit(tool: str, path: str, given: dict[str, Any], known: dict[str, Any]) -> tuple[Edit, Sequence[str]]:
    """What was written, and the new lines that were proposed; none if nobody told what became of them."""
    if tool == "notebookedit":
        return _notebook(path, given, known), _proposed(given, known, "new_source")
    if tool == "write":
        return _whole(path, given, known), _proposed(given, known, "content")
    pairs = list_of(given.get("edits")) or [given]
    told_pairs = [(words(one.get("old_string")), words(one.get("new_string"))) for one in map(dict_of, pairs)]
    asked_for = replaced(path, told_pairs, new=bool(told_pairs) and not told_pairs[0][0])
    patch = [line for hunk in list_of(known.get("structuredPatch")) for line in list_of(dict_of(hunk).get("lines"))]
    return (patched(path, patch[: 4 * MAX_LINES]), asked_for.added) if patch else (asked_for, ())


def _proposed(given: dict[str, Any], known: dict[str, Any], name: str) -> list[str]:
    return lines_of(words(given.get(name))) if words(known.get(name)) else []


def _whole(path: str, given: dict[str, Any], known: dict[str, Any]) -> Edit:
    content = words(known.get("content")) or words(given.get("content"))
    before = known.get("originalFile")
    new = known.get("type") == "create" or ("originalFile" in known and before is None)
    return written(path, content, before=words(before) if isinstance(before, str) else None, new=new)


def _notebook(path: str, given: dict[str, Any], known: dict[str, Any]) -> Edit:
    lines = tuple(lines_of(words(known.get("new_source")) or words(given.get("new_source")))[:MAX_LINES])
    if given.get("edit_mode") == "delete":
        return Edit(path=path)
    return Edit(path=path, added=lines)
