"""What a tool call of Codex gave back: text, exit status, whether it failed or was refused.

An output is a string, a JSON string, a list of pieces or an object; most begin with a head that says how the
call ended. The events beside it say the same more plainly, and are preferred where they are.
"""

import json
import re
from typing import Any

from holdfast.capture.agents.codex.calls import Draft, command_of, spelled, word
from holdfast.capture.agents.codex.patch import changes_of
from holdfast.capture.agents.ours import is_our_tool, without_ours
from holdfast.capture.agents.reading import dict_of, list_of, text_of
from holdfast.model.transcript import MAX_OUTPUT, Result, ends
from holdfast.patterns import regex

_HEAD = regex(
    r"(?:(?:Chunk ID|Wall time|Original token count|Total output lines|Exit code|Process exited|"
    r"Process running|Script completed|Script failed|Script running|Command:)[^\n]{0,200}\n){1,8}Output:\n"
)
_EXIT = regex(r"^(?:Process exited with code|Exit code:) (-?\d{1,10})$", re.MULTILINE)
_RUNNING = regex(r"^Process running with session ID (\d{1,12})$", re.MULTILINE)
_REFUSED = regex(
    r"(?:rejected|denied|declined|refused|cancelled) by (?:the )?user"
    r"|user (?:rejected|denied|declined|cancelled)",
    re.IGNORECASE,
)
_FAILED = (
    "aborted",
    "apply_patch verification failed",
    "execution error",
    "exec_command failed",
    "failed to parse",
    "Script error:",
    "unsupported call",
    "unsupported custom tool call",
    "tool call error",
    "err: ",
)


def result_of(output: object, *, name: str = "") -> Result:
    """A call's result from its output."""
    told, exit_status, failed = _opened(output)
    head, body = _parted(told)
    if found := _EXIT.search(head):
        exit_status = int(found[1])
    start = body[:300].lstrip()
    failed = failed or bool(exit_status) or "Script failed" in head or start.startswith(_FAILED)
    refused = not exit_status and _is_refusal(start)
    return _result(body, exit_status=exit_status, failed=failed or refused, refused=refused, ours=is_our_tool(name))


def _is_refusal(start: str) -> bool:
    return "user" in start and _REFUSED.search(start) is not None


def still_running(output: object) -> str | None:
    """The number of the process a call left running."""
    if not isinstance(output, str) or "Process running" not in output[:400]:
        return None
    found = _RUNNING.search(output[:400])
    return found[1] if found else None


def _result(text: str, *, exit_status: int | None, failed: bool, refused: bool, ours: bool = False) -> Result:
    kept = "" if ours else ends(without_ours(text), MAX_OUTPUT)
    return Result(text=kept, size=len(text), exit_status=exit_status, failed=failed, refused=refused)


def _opened(output: object) -> tuple[str, int | None, bool]:
    """The text within an output, and what its wrapping says."""
    if isinstance(output, str):
        return _unwrapped(output)
    if isinstance(output, list):
        pieces = [text_of(dict_of(piece).get("text")) for piece in output]
        if len(pieces) == 2 and pieces[1].startswith("{"):  # a script's head, and one call's answer
            text, exit_status, failed = _unwrapped(pieces[1])
            return pieces[0] + text, exit_status, failed
        return "".join(pieces), None, False
    told = dict_of(output)
    inner = told.get("content", told.get("text", told.get("output")))
    text, exit_status, failed = _opened(inner) if isinstance(inner, str | list) else ("", None, False)
    return text, exit_status, failed or told.get("success") is False


def _unwrapped(text: str) -> tuple[str, int | None, bool]:
    """What a JSON object around an output says; older versions and scripts write one."""
    if not text.startswith("{") or '"output"' not in text or len(text) > 8 << 20:
        return text, None, False
    try:
        told = dict_of(json.loads(text))
    except (ValueError, RecursionError):
        return text, None, False
    if not isinstance(told.get("output"), str):
        return text, None, False
    return (told["output"], _whole(dict_of(told.get("metadata")).get("exit_code", told.get("exit_code"))), False)


def _parted(text: str) -> tuple[str, str]:
    """An output's head and what follows; a patch through a shell has two of them."""
    head = ""
    for _ in range(2):
        match = _HEAD.match(text)
        if match is None:
            break
        head, text = head + match[0], text[match.end() :]
    return head, text


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


# ── what events say of calls ─────────────────────────────────────────────────────────────────────


def command_happened(told: dict[str, Any]) -> Draft:
    """A command that was run, from an event or an item of the display."""
    exit_status = _whole(told.get("exit_code"))
    output = text_of(told.get("aggregated_output")) or text_of(told.get("formatted_output"))
    status = text_of(told.get("status"))
    draft = Draft(word(told.get("id") or told.get("call_id")), "exec_command", "shell")
    draft.command = command_of(told.get("command"))
    draft.text = draft.command or ""
    draft.paths = tuple(
        path
        for piece in list_of(told.get("parsed_cmd"))[:50]
        if dict_of(piece).get("type") in ("read", "search", "list_files")
        and (path := word(dict_of(piece).get("path"), 4096))
    )
    draft.result = _result(
        output,
        exit_status=exit_status,
        failed=bool(exit_status) or status in ("failed", "declined"),
        refused=status == "declined",
    )
    return draft


def files_changed(told: dict[str, Any]) -> Draft:
    """Files that a patch wrote, or was kept from writing."""
    status = text_of(told.get("status")) or ("failed" if told.get("success") is False else "completed")
    draft = Draft(word(told.get("id") or told.get("call_id")), "apply_patch", "edit")
    draft.edits = changes_of(told.get("changes"))
    output = text_of(told.get("stdout")) + text_of(told.get("stderr"))
    failed = status in ("failed", "declined")
    draft.result = _result(output, exit_status=None, failed=failed, refused=status == "declined")
    return draft


def mcp_answered(told: dict[str, Any]) -> Draft:
    """A call of an MCP server's tool, from an event or an item of the display."""
    asked = dict_of(told.get("invocation")) or told
    name = f"mcp__{word(asked.get('server'))}__{word(asked.get('tool'))}"
    draft = Draft(word(told.get("id") or told.get("call_id")), name, "mcp")
    draft.text = spelled(asked.get("arguments"))
    answer = dict_of(told.get("result"))
    answer = dict_of(answer.get("Ok")) or answer
    wrong = text_of(dict_of(told.get("result")).get("Err")) or text_of(dict_of(told.get("error")).get("message"))
    text = wrong or "\n".join(text_of(dict_of(piece).get("text")) for piece in list_of(answer.get("content")))
    failed = bool(wrong) or answer.get("isError") is True or told.get("status") == "failed"
    refused = _is_refusal(wrong[:300])
    draft.result = _result(text, exit_status=None, failed=failed, refused=refused, ours=is_our_tool(name))
    return draft
