"""What a tool call of Codex does: its kind, the command, the files, the plan.

A call is a name and its arguments, as an object, as a JSON string, or as free text; every version of Codex
has its own set of names. Here they become one form; results are the business of `results`.
"""

import json
import shlex
from typing import Any

from holdfast.capture.agents.codex.patch import edits_of, through_shell
from holdfast.capture.agents.codex.script import calls_in, counted_in
from holdfast.capture.agents.ours import sound, without_ours
from holdfast.capture.agents.reading import dict_of, list_of, text_of
from holdfast.model.transcript import MAX_INPUT, Edit, Result, Todo, cut
from holdfast.values import field, mutable

_KINDS = {
    "shell": "shell shell_command exec_command write_stdin local_shell local_shell_call container.exec bash",
    "edit": "apply_patch applypatch",
    "read": "view_image read_file read_mcp_resource",
    "search": "grep_files list_dir list_mcp_resources list_mcp_resource_templates tool_search",
    "web": "web_search web_search_call web__run web.run",
    "plan": "update_plan create_goal update_goal get_goal",
    "agent": "spawn_agent send_input wait_agent close_agent resume_agent send_message followup_task"
    " interrupt_agent list_agents",
    "ask": "request_user_input request_user_input_async request_permissions",
}
KIND_OF = {name: kind for kind, names in _KINDS.items() for name in names.split()}
_SHELLS = {"bash", "sh", "zsh", "dash", "fish", "ksh"}
_STATUS = {"pending": "open", "in_progress": "started", "completed": "done", "active": "started"}
_STATUS |= {"complete": "done", "achieved": "done", "cancelled": "dropped", "abandoned": "dropped"}
_MOST_TODOS, _LONGEST_TODO, _LONGEST_NAME = 200, 1000, 200


@mutable
class Draft:
    """A call while its turn is being read."""

    id: str
    name: str
    kind: str = "other"
    text: str = ""
    command: str | None = None
    paths: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    todos: tuple[Todo, ...] | None = None
    result: Result | None = None
    is_script: bool = False  # its text is JavaScript that makes calls of its own
    is_answered: bool = False  # a script's output came; what it says may be told better by events
    happened: list["Draft"] = field(default_factory=list)  # what events say came of it


def word(value: object, limit: int = _LONGEST_NAME) -> str:
    """A short text such as a name or an id."""
    return sound(value[:limit]) if isinstance(value, str) else ""


def understood(call_id: str, name: str, given: object, *, namespace: str = "") -> Draft:
    """A call by its name and arguments, whatever form they have."""
    arguments = _arguments(given)
    draft = Draft(call_id, _full_name(name, namespace), text=_as_text(given))
    draft.kind = _kind(name, draft.name, arguments)
    if name == "exec" and isinstance(given, str):
        draft.is_script = True
    elif draft.kind == "shell":
        _ran(draft, arguments, text_of(given))
    elif draft.kind == "edit":
        _wrote(draft, arguments, text_of(given))
    elif draft.kind == "plan":
        draft.todos = _planned(arguments)
    elif draft.kind in ("read", "search"):
        draft.paths = tuple(path for key in ("path", "file_path") if (path := word(arguments.get(key), 4096)))
    return draft


def names_as_many(script: Draft, calls: int) -> bool:
    """Whether a script names that many calls; to count them is much cheaper than to read them."""
    return counted_in(script.text) == calls


def within(draft: Draft) -> list[Draft]:
    """The calls a script makes, as far as it tells."""
    return [understood(draft.id, name, given) for name, given in calls_in(draft.text)]


def _full_name(name: str, namespace: str) -> str:
    """A tool's name with its MCP server's; Codex's own namespaces add nothing."""
    if namespace.startswith("mcp__"):
        return f"{namespace.rstrip('_')}__{name}"
    return name


def _kind(name: str, full: str, arguments: dict[str, Any]) -> str:
    if name in KIND_OF:
        return KIND_OF[name]
    if name == "wait":  # for helpers, or for a script that still runs
        return "other" if "cell_id" in arguments else "agent"
    return "mcp" if "__" in full else "other"


def _arguments(given: object) -> dict[str, Any]:
    if isinstance(given, dict):
        return given
    if isinstance(given, str) and given.lstrip()[:1] == "{":
        try:
            return dict_of(json.loads(given))
        except (ValueError, RecursionError):
            return {}
    return {}


def _as_text(given: object) -> str:
    if isinstance(given, str):
        return cut(without_ours(given), MAX_INPUT)
    if given is None:
        return ""
    return spelled(given)


def spelled(value: object) -> str:
    """A value as JSON, as much of it as is kept."""
    try:
        return cut(without_ours(json.dumps(value, ensure_ascii=False)), MAX_INPUT)
    except (ValueError, RecursionError):
        return ""


# ── shells ───────────────────────────────────────────────────────────────────────────────────────


def command_of(given: object) -> str | None:
    """What a shell was told to do: a line, or the words of one with or without the shell before it."""
    if isinstance(given, str):
        return cut(without_ours(given), MAX_INPUT) or None
    words = [piece for piece in list_of(given) if isinstance(piece, str)]
    if not words:
        return None
    shell = words[0].replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe")
    if len(words) >= 3 and (shell in _SHELLS or shell in ("powershell", "pwsh", "cmd")):
        return command_of(words[-1])
    return command_of(words[1] if words[0] == "apply_patch" and len(words) == 2 else _joined(words))


def _joined(words: list[str]) -> str:
    return shlex.join(words) if len(words) > 1 else words[0]


def _ran(draft: Draft, arguments: dict[str, Any], free: str) -> None:
    """What a shell call does; one that only applies a patch is an edit."""
    given = next((arguments[key] for key in ("cmd", "command") if key in arguments), None)
    if given is None and not arguments and draft.name != "write_stdin":
        given = free
    command = command_of(given)
    draft.command = command
    if command is None or "*** Begin Patch" not in command:
        return
    folder, alone = through_shell(command)
    alone = alone or command.startswith("*** Begin Patch")
    base = word(arguments.get("workdir"), 4096) or None
    draft.edits = edits_of(command, folder=_inside(base, folder))
    if alone and draft.edits:
        draft.kind, draft.command = "edit", None


def _inside(base: str | None, folder: str | None) -> str | None:
    if base and folder and not folder.startswith("/"):
        return f"{base.rstrip('/')}/{folder}"
    return folder or base


def _wrote(draft: Draft, arguments: dict[str, Any], free: str) -> None:
    given = next((arguments[key] for key in ("input", "patch", "command") if key in arguments), free)
    patch = given if isinstance(given, str) else command_of(given) or ""
    draft.edits = edits_of(without_ours(patch), folder=word(arguments.get("workdir"), 4096) or None)


# ── plans ────────────────────────────────────────────────────────────────────────────────────────


def _planned(arguments: dict[str, Any]) -> tuple[Todo, ...] | None:
    """The plan as a call leaves it; None if it says none."""
    if "plan" in arguments:
        items = [dict_of(item) for item in list_of(arguments["plan"])[:_MOST_TODOS]]
        return tuple(_todo(item.get("step"), item.get("status")) for item in items if item.get("step"))
    if isinstance(arguments.get("objective"), str):
        return (_todo(arguments["objective"], arguments.get("status") or "active"),)
    return None


def _todo(text: object, status: object) -> Todo:
    words = cut(without_ours(" ".join(text_of(text).split())), _LONGEST_TODO)
    return Todo(words, _STATUS.get(text_of(status), "open"))


def goal_of(goal: object) -> tuple[Todo, ...] | None:
    """A thread's goal, as an event tells it."""
    told = dict_of(goal)
    return _planned({"objective": told.get("objective"), "status": told.get("status")})
