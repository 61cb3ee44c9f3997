"""What a tool call of Codex does: its kind, the command, the files, the plan.

A call is a name and its arguments, as an object, as a JSON string, or as free text; every version of Codex has its own
set of names. Here they become one form; `codex_steps` reads results. In code mode a call is a piece of JavaScript:

    const r = await tools.exec_command({cmd: "pytest -q", workdir: "sub"}); text(r);

This is no JavaScript engine: it finds `tools.NAME(` and reads the literal that follows, with the names that stand for
literals. What it cannot read it leaves out. A script is a model's, so all of it is bounded.
"""

import json
import re
import shlex
from itertools import islice
from typing import Any

from holdfast.capture.agents.codex_patch import edits_of, through_shell
from holdfast.capture.agents.tool_input import todo_list
from holdfast.capture.agents.transcript_text import json_text, path_value, storable, text_value, without_ours
from holdfast.model.transcript import MAX_INPUT, Result, Todo, TranscriptEdit, cut
from holdfast.patterns import PatternFile, regex
from holdfast.values import dict_of, field, list_of, mutable

_CALL = regex(r"\btools(?:\.(\w{1,100})|\[\s*[\"'](\w{1,100})[\"']\s*\])\s*\(")
_DEFINED = regex(r"\b(?:const|let|var)\s+([A-Za-z_$][\w$]{0,99})\s*=\s*")
_BLANK = regex(r"(?:\s+|//[^\n]*|/\*.*?(?:\*/|\Z))*", re.DOTALL)
_TOKEN = regex(
    r"""(?P<string>"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+'|`(?:[^`\\]|\\.)*+`)|(?P<raw>String\.raw`[^`]*+`)"""
    r"|(?P<number>-?\d[\d_]{0,30}(?:\.\d{1,30})?)|(?P<name>[A-Za-z_$][\w$]{0,99})|(?P<sign>\.\.\.|.)",
    re.DOTALL,
)
_ESCAPE = regex(r"\\(?:x(?P<x>.{0,2})|u\{(?P<long>[^}]{0,6})\}|u(?=\{)|u(?P<short>.{0,4})|(?P<sign>.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_CONSTANTS = {"true": True, "false": False, "null": None, "undefined": None}
_MOST_CALLS, _DEEPEST = 64, 12  # a guess: bounds the time for hostile scripts; real ones have a few calls


class _Unreadable(Exception):
    """Something stands there that is no literal."""


def calls_in(script: str) -> list[tuple[str, Any]]:
    """The tools a script names and what it gives each: a value, or None where that is no literal."""
    script = script[:MAX_INPUT]
    reader = _Reader(script)
    found = islice(_CALL.finditer(script), _MOST_CALLS)
    return [(match[1] or match[2], reader.argument(match.end())) for match in found]


def counted_in(script: str) -> int:
    """How many calls of tools a script names."""
    return len(_CALL.findall(script))


class _Reader:
    """Reads literals at a place in a script."""

    def __init__(self, script: str) -> None:
        self._script = script
        self._at = 0
        self._defined = {match[1]: match.end() for match in _DEFINED.finditer(script)}
        self._known: dict[str, Any] = {}

    def argument(self, at: int) -> Any:
        """The literal at that place, or None."""
        self._at = at
        try:
            return self._value(0)
        except _Unreadable:
            return None

    def _token(self) -> tuple[str, str]:
        """The kind and the text of what stands here, past blanks; it is not taken yet."""
        blank = _BLANK.match(self._script, self._at)
        self._at = blank.end() if blank else self._at
        found = _TOKEN.match(self._script, self._at)
        return (found.lastgroup or "", found[0]) if found else ("", "")

    def _takes(self, text: str) -> bool:
        """Whether this stands here; if so, reading goes on behind it."""
        self._token()
        found = self._script.startswith(text, self._at)
        self._at += len(text) if found else 0
        return found

    def _value(self, depth: int) -> Any:
        value = self._one(depth)
        while True:
            if isinstance(value, str) and self._takes("+"):
                value = (value + str(self._one(depth + 1)))[:MAX_INPUT]
            elif isinstance(value, list) and self._takes(".join("):
                between = str(self._value(depth + 1))
                self._takes(")")
                value = between.join(map(str, value))[:MAX_INPUT]
            elif not self._takes(".trim()"):
                return value

    def _one(self, depth: int) -> Any:
        kind, text = self._token()
        if depth > _DEEPEST or (kind == "sign" and text not in "{["):
            raise _Unreadable
        self._at += len(text)
        match kind:
            case "string":
                return _unescaped(text)
            case "raw":
                return text[len("String.raw`") : -1]
            case "number":
                return float(text.replace("_", "")) if "." in text else int(text.replace("_", ""))
            case "name":
                return _CONSTANTS[text] if text in _CONSTANTS else self._resolved(text, depth)
            case "sign" if text == "{":
                return self._object(depth)
            case "sign":
                values = []
                while not self._closes("]"):
                    values.append(self._member(depth))
                return values
        raise _Unreadable  # the script ends here

    def _resolved(self, name: str, depth: int) -> Any:
        """What a name stands for."""
        if name in self._known:
            return self._known[name]
        if name not in self._defined:
            raise _Unreadable
        back, self._at = self._at, self._defined[name]
        self._known[name] = ""  # a name that stands for itself stands for nothing
        try:
            self._known[name] = self._value(depth + 1)
        except _Unreadable:
            del self._known[name]
            raise
        finally:
            self._at = back
        return self._known[name]

    def _object(self, depth: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        while not self._closes("}"):
            kind, key = self._token()
            if key == "...":
                self._pass_over()
                continue
            if kind not in ("string", "name", "number"):
                raise _Unreadable
            self._at += len(key)
            key = _unescaped(key) if kind == "string" else key
            values[key] = self._member(depth) if self._takes(":") else self._shorthand(key, depth)
        return values

    def _shorthand(self, name: str, depth: int) -> Any:
        """`{cmd}` means the name `cmd`."""
        try:
            return self._resolved(name, depth)
        except _Unreadable:
            return None

    def _member(self, depth: int) -> Any:
        """A value within a list or an object; one that is no literal is None, and passed over."""
        try:
            value = self._value(depth + 1)
            if self._token()[1] in (",", "]", "}", ""):
                return value
        except _Unreadable:
            if depth >= _DEEPEST:
                raise
        self._pass_over()
        return None

    def _closes(self, sign: str) -> bool:
        """Whether a list or an object ends here, past the comma between two members."""
        while self._takes(","):
            pass
        if self._token()[1] in {"", ")", "]", "}"} - {sign}:  # it ends within the list, or another bracket closes it
            raise _Unreadable
        return self._takes(sign)

    def _pass_over(self) -> None:
        """Go on to the comma or bracket that ends this expression."""
        nested = 0
        while (text := self._token()[1]) and (nested or text not in (",", "]", "}")):
            nested += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
            if nested < 0 or text in ('"', "'", "`"):  # a string that does not end
                raise _Unreadable
            self._at += len(text)


def _unescaped(string: str) -> str:
    def character(escape: re.Match[str]) -> str:
        if (sign := escape["sign"]) is not None:
            return _ESCAPED.get(sign, sign)
        try:
            return chr(int(escape[escape.lastgroup or 0], 16))
        except (ValueError, OverflowError):
            return ""

    return storable(_ESCAPE.sub(character, string[1:-1]))


_LISTS = PatternFile(__file__)
_SHELLS = {"bash", "sh", "zsh", "dash", "fish", "ksh"}


@mutable
class CodexCallDraft:
    """A call while its turn is being read."""

    id: str
    name: str
    kind: str = "other"
    text: str = ""
    command: str | None = None
    paths: tuple[str, ...] = ()
    edits: tuple[TranscriptEdit, ...] = ()
    todos: tuple[Todo, ...] | None = None
    result: Result | None = None
    is_script: bool = False  # its text is JavaScript that makes calls of its own
    is_answered: bool = False  # a script's output came; what it says may be told better by events
    happened: list["CodexCallDraft"] = field(default_factory=list)  # what events say came of it


def understood(call_id: str, name: str, given: object, *, namespace: str = "") -> CodexCallDraft:
    """A call by its name and arguments, whatever form they have."""
    arguments = _arguments(given)
    # Codex's own namespaces add nothing to a tool's name.
    full = f"{namespace.rstrip('_')}__{name}" if namespace.startswith("mcp__") else name
    draft = CodexCallDraft(call_id, full, text=json_text(given))
    draft.kind = _kind(name, draft.name, arguments)
    if name == "exec" and isinstance(given, str):
        draft.is_script = True
    elif draft.kind == "shell":
        _ran(draft, arguments, text_value(given))
    elif draft.kind == "edit":
        told = next((arguments[key] for key in ("input", "patch", "command") if key in arguments), text_value(given))
        patch = told if isinstance(told, str) else command_of(told) or ""
        draft.edits = edits_of(without_ours(patch), folder=path_value(arguments.get("workdir")))
    elif draft.kind == "plan":
        draft.todos = _planned(arguments)
    elif draft.kind in ("read", "search"):
        draft.paths = tuple(path for key in ("path", "file_path") if (path := text_value(arguments.get(key), 4096)))
    return draft


def within(draft: CodexCallDraft) -> list[CodexCallDraft]:
    """The calls a script makes, as far as it tells."""
    return [understood(draft.id, name, given) for name, given in calls_in(draft.text)]


def _kind(name: str, full: str, arguments: dict[str, Any]) -> str:
    if kind := _LISTS.table("kinds").get(name):
        return kind
    if name == "wait":  # for helpers, or for a script that still runs
        return "other" if "cell_id" in arguments else "agent"
    return "mcp" if "__" in full else "other"


def _arguments(given: object) -> dict[str, Any]:
    try:
        return dict_of(json.loads(given) if isinstance(given, str) and given.lstrip()[:1] == "{" else given)
    except (ValueError, RecursionError):
        return {}


# ── shells ───────────────────────────────────────────────────────────────────────────────────────


def command_of(given: object) -> str | None:
    """The command a shell was given: a line, or the words of one with or without the shell before it."""
    if isinstance(given, str):
        return cut(without_ours(given), MAX_INPUT) or None
    words = [piece for piece in list_of(given) if isinstance(piece, str)]
    if not words:
        return None
    shell = words[0].replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe")
    if len(words) >= 3 and (shell in _SHELLS or shell in ("powershell", "pwsh", "cmd")):
        return command_of(words[-1])
    alone = len(words) == 1 or (len(words) == 2 and words[0] == "apply_patch")
    return command_of(words[-1] if alone else shlex.join(words))


def _ran(draft: CodexCallDraft, arguments: dict[str, Any], free: str) -> None:
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
    base = path_value(arguments.get("workdir"))
    if base and folder and not folder.startswith("/"):
        folder = f"{base.rstrip('/')}/{folder}"
    draft.edits = edits_of(command, folder=folder or base)
    if alone and draft.edits:
        draft.kind, draft.command = "edit", None


# ── plans ────────────────────────────────────────────────────────────────────────────────────────


def _planned(arguments: dict[str, Any]) -> tuple[Todo, ...] | None:
    """The plan as a call leaves it; None if it says none."""
    if "plan" in arguments:
        return todo_list(arguments["plan"], "step")
    if isinstance(arguments.get("objective"), str):
        return todo_list([{"status": "active", **arguments}], "objective")
    return None


def goal_of(goal: object) -> tuple[Todo, ...] | None:
    """A thread's goal, as an event tells it."""
    return _planned({key: dict_of(goal).get(key) for key in ("objective", "status")})
