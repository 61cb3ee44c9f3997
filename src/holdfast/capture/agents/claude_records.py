"""What one record of Claude Code means: a person's prompt, a tool call and its result, a change of the plan.

A `user` record holds a person's words or one of many other things that Claude Code puts into the same role. Plans
come as a whole list with each `TodoWrite`, or one task a call with `TaskCreate` and `TaskUpdate`: such a call says
nothing of the other tasks, so they are remembered, and a reading that begins in the middle of a file first looks at
the calls before. `claude` puts records together into turns.
"""

import contextlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

from holdfast.capture.agents import tool_input, transcript_reader, transcript_text
from holdfast.capture.agents.tool_input import MAX_TASKS, STATUS, lines_of, patch_edit, todo_list, todo_text
from holdfast.capture.agents.transcript_text import inside, json_text, own_words, short_name, text_value
from holdfast.model.transcript import MAX_INPUT, MAX_LINES, MAX_PROMPT, Call, Result, Todo, TranscriptEdit, cut, ends
from holdfast.patterns import PatternFile, regex
from holdfast.values import dict_of, frozen, list_of, replace

_LISTS = PatternFile(__file__)
_A_PERSON = ("typed", "user", "sdk")  # sources of a prompt that a person or their script wrote
_INTERRUPTED = "[Request interrupted by user"
_COMMAND = ("<command-name>", "<command-message>")
_SETS_GOING = ("<task-notification>", '{"task_id":', "<teammate-message", "<cross-session-message")
_LOCAL = ("<local-command-stdout>", "<local-command-stderr>")


@frozen
class ClaudeTypedPrompt:
    """A person's words."""

    text: str
    command: bool = False  # `/name …`: a turn only if the model was asked


class ClaudeTrigger:
    """Something else that starts the agent: a helper's report, a message of another session."""


class ClaudeLocalOutput:
    """What a command printed that Claude Code ran by itself: the model was not asked."""


class ClaudeInterrupt:
    """A person stopped the agent."""


# None: nothing that begins or ends a turn.
ClaudePrompt = ClaudeTypedPrompt | ClaudeTrigger | ClaudeLocalOutput | ClaudeInterrupt | None


def classify_prompt(record: dict[str, Any], text: str, *, image: bool = False) -> ClaudePrompt:
    """What a record's text is, by what the record says of itself and how the text begins."""
    if any(record.get(sign) is True for sign in ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")):
        return None
    # A person's unless something in the record says otherwise; old versions say nothing.
    source, kind = record.get("promptSource"), dict_of(record.get("origin")).get("kind")
    of_another = isinstance(kind, str) and kind != "human"
    typed = source in _A_PERSON if of_another else source != "system" or kind == "human"
    return prompt_by_text(text, image=image) if typed else ClaudeTrigger()


def own_text(text: str) -> str:
    """A text without the blocks that Claude Code, its hooks and its editors put into it, and without our packs."""
    return own_words(text, *_LISTS.lines("blocks"))


def prompt_by_text(text: str, *, image: bool = False) -> ClaudePrompt:
    """What a text is, by how it begins."""
    said = own_text(text).strip()
    if memory := inside(said, "user-memory-input"):
        said = memory.strip()
    if said.startswith(_COMMAND):
        called, given = inside(said, "command-name").strip(), inside(said, "command-args").strip()
        text = cut(f"/{called.lstrip('/')} {given}".strip(), MAX_PROMPT)
        return ClaudeTypedPrompt(text, command=True) if called else None
    if said.startswith(_INTERRUPTED):
        return ClaudeInterrupt()
    if said.startswith(_SETS_GOING):
        return ClaudeTrigger()
    if said.startswith(_LOCAL):
        return ClaudeLocalOutput()
    if said.startswith(_LISTS.lines("noise")):
        return None
    if not said:
        return ClaudeTypedPrompt("[image]") if image else None
    return ClaudeTypedPrompt(cut(said, MAX_PROMPT))


def texts(content: object) -> tuple[str, bool]:
    """The text of a message's content, a string or blocks, and whether there is an image in it."""
    if isinstance(content, str):
        return text_value(content), False
    blocks = [dict_of(block) for block in list_of(content)]
    said = [text_value(block.get("text")) for block in blocks if block.get("type") == "text"]
    return "\n".join(said), any(block.get("type") == "image" for block in blocks)


_EXIT = regex(r"(?:Error: )?Exit code (\d{1,9})\b")
_PATHS = ("file_path", "notebook_path", "path", "filePath")


def read_call(block: dict[str, Any], call_id: str) -> Call:
    """A call as the model made it, before its result."""
    tool, given = short_name(block.get("name")) or "unknown", dict_of(block.get("input"))
    kind = "mcp" if tool.startswith("mcp__") else _LISTS.table("kinds").get(tool.lower(), "other")
    command = text_value(given.get("command")) if kind == "shell" else ""
    paths = tuple(path for key in _PATHS if (path := text_value(given.get(key))))
    return Call(
        id=call_id,
        name=tool,
        kind=kind,
        text=json_text(block.get("input")),
        command=cut(own_words(command), MAX_INPUT) or None,
        paths=paths[:1] if kind in ("edit", "read", "search") else (),
    )


def with_result(call: Call, given: dict[str, Any], block: dict[str, Any], record: dict[str, Any]) -> Call:
    """The call with what it gave back and, if it worked, what it wrote."""
    result, told = _result(call, block, record), record.get("toolUseResult")
    if call.kind == "agent" and (agent := short_name(dict_of(told).get("agentId"))):
        return replace(call, result=result, helper=f"agent-{agent}")
    return replace(call, result=result, edits=() if result.failed or call.kind != "edit" else _edits(call, given, told))


def _result(call: Call, block: dict[str, Any], record: dict[str, Any]) -> Result:
    said = _output(block.get("content"))
    told = record.get("toolUseResult")
    failed = block.get("is_error") is True
    decision = dict_of(record.get("permissionDecision")).get("decision")
    denied = bool(text_value(record.get("toolDenialKind"))) or decision == "reject"
    refused = failed and (denied or said.startswith(_LISTS.lines("denied")))
    broken = dict_of(told).get("interrupted") is True
    # Claude Code says how a command ended on a line of its own; the command did not print it.
    framed = _EXIT.match(said) if failed and call.kind == "shell" else None
    printed = said[framed.end() :].lstrip("\n") if framed else said
    return Result(
        text="" if transcript_text.is_holdfast_tool(call.name) else ends(printed),
        size=len(printed),
        exit_status=None if refused else _exit_status(call, said, told, failed=failed),
        failed=failed or broken,
        refused=refused,
    )


def _output(content: object) -> str:
    blocks = map(dict_of, [{"text": content}] if isinstance(content, str) else list_of(content))
    said = [text_value(block.get("text")) or short_name(block.get("tool_name")) for block in blocks]
    text = own_text("\n".join(filter(None, said))).strip("\n")
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


def _edits(call: Call, given: dict[str, Any], told: object) -> tuple[TranscriptEdit, ...]:
    known = dict_of(told)
    path = text_value(known.get("filePath")) or (call.paths[0] if call.paths else "")
    if not path:
        return ()
    edit, proposed = _edit(call.name.lower(), path, given, known)
    return (tool_input.agreed_edit(edit, proposed) if known.get("userModified") is True else edit,)


def _edit(tool: str, path: str, given: dict[str, Any], known: dict[str, Any]) -> tuple[TranscriptEdit, Sequence[str]]:
    """What was written, and the new lines that were proposed; none if nobody told what became of them."""
    hunks = list_of(known.get("structuredPatch"))
    patch = [line for hunk in hunks for line in list_of(dict_of(hunk).get("lines"))][: 4 * MAX_LINES]
    if tool == "notebookedit":
        lines = lines_of(text_value(known.get("new_source")) or text_value(given.get("new_source")))[:MAX_LINES]
        added = () if given.get("edit_mode") == "delete" else tuple(lines)
        return TranscriptEdit(path=path, added=added), _proposed(given, known, "new_source")
    if tool == "write":
        content = text_value(known.get("content")) or text_value(given.get("content"))
        there = known.get("originalFile")
        before = text_value(there) if isinstance(there, str) else None
        new = known.get("type") == "create" or ("originalFile" in known and there is None and "type" not in known)
        edit = tool_input.whole_file_edit(path, content, before=before, new=new)
        if edit.kept is None and patch:  # what a large file held is not told, but how it was changed is
            edit = patch_edit(path, patch)
        return edit, _proposed(given, known, "content")
    pairs = list_of(given.get("edits")) or [given]
    told_pairs = [(text_value(one.get("old_string")), text_value(one.get("new_string"))) for one in map(dict_of, pairs)]
    asked_for = tool_input.replacement_edit(path, told_pairs, new=bool(told_pairs) and not told_pairs[0][0])
    return (patch_edit(path, patch), asked_for.added) if patch else (asked_for, ())


def _proposed(given: dict[str, Any], known: dict[str, Any], name: str) -> list[str]:
    return lines_of(text_value(given.get(name))) if text_value(known.get(name)) else []


_CREATED = regex(r"Task #(\w{1,40}) created")
_SPEAKS = (b'"TaskCreate"', b'"TaskUpdate"', b'"task_reminder"', b'"taskId"', b"Task #")


class ClaudeTasks:
    """The tasks of a session by their numbers, as the calls so far leave them."""

    def __init__(self, path: str, start: int) -> None:
        self._path, self._start = path, start
        self._asked: dict[str, dict[str, Any]] = {}
        self._known: dict[str, Todo] = {}

    def after(self, tool: str, given: dict[str, Any], told: object, said: str) -> tuple[Todo, ...] | None:
        """The plan as a call that worked leaves it; None if the call is about no plan."""
        tool = tool.lower()
        if tool == "todowrite":
            return todo_list(dict_of(told).get("newTodos") or given.get("todos"), "content", "subject")
        if tool not in ("taskcreate", "taskupdate"):
            return None
        self._look_back()
        self._apply(tool, given, told, said)
        return tuple(self._known.values())

    def remind(self, items: object) -> None:
        """Take over a list that Claude Code itself tells."""
        for known in map(dict_of, list_of(items)[:MAX_TASKS]):
            self._keep(short_name(known.get("id")), todo_text(known.get("subject")), known.get("status"))

    def _apply(self, tool: str, given: dict[str, Any], told: object, said: str) -> None:
        if tool == "taskcreate":
            made = short_name(dict_of(dict_of(told).get("task")).get("id"))
            found = _CREATED.search(said[:2000])
            self._keep(made or (found[1] if found else ""), todo_text(given.get("subject")), "pending")
        else:
            self._keep(short_name(given.get("taskId")), todo_text(given.get("subject")), given.get("status"))

    def _keep(self, key: str, text: str, status: object) -> None:
        before = self._known.get(key)
        text = text or (before.text if before else "")
        if key and text and (before or len(self._known) < MAX_TASKS):
            now = STATUS.get(short_name(status)) or (before.status if before else "open")
            self._known[key] = Todo(text, now)

    def _look_back(self) -> None:
        """What was said of tasks before the reading began; once."""
        start, self._start = self._start, 0
        for value in _earlier(self._path, start) if start else ():
            attachment = dict_of(value.get("attachment"))
            if attachment.get("type") == "task_reminder":
                self.remind(attachment.get("content"))
            for block in map(dict_of, list_of(dict_of(value.get("message")).get("content"))):
                self._remember(block, value.get("toolUseResult"))
        self._asked.clear()

    def _remember(self, block: dict[str, Any], told: object) -> None:
        if block.get("type") == "tool_use" and block.get("name") in ("TaskCreate", "TaskUpdate"):
            if len(self._asked) < MAX_TASKS:
                self._asked[short_name(block.get("id"))] = block
            return
        call = self._asked.pop(short_name(block.get("tool_use_id")), None)
        if call and block.get("type") == "tool_result" and block.get("is_error") is not True:
            said = text_value(block.get("content"))
            self._apply(short_name(call.get("name")).lower(), dict_of(call.get("input")), told, said)


def _earlier(path: str, start: int) -> Iterator[dict[str, Any]]:
    """The records before a byte that may speak of tasks."""
    with open(path, "rb") as file:
        while file.tell() < start and (raw := file.readline(transcript_reader.MAX_LINE)):
            if any(sign in raw for sign in _SPEAKS):
                with contextlib.suppress(ValueError, RecursionError):
                    yield dict_of(json.loads(raw))
