"""Claude Code's plans: a whole list with each `TodoWrite`, or one task a call with `TaskCreate`/`TaskUpdate`.

A single task's call says nothing of the others, so they are remembered; a reading that begins in the
middle of a file first looks at what was said of tasks before.
"""

import json
from collections.abc import Iterator
from typing import Any

from holdfast.capture.agents.planning import MAX_TASKS, STATUS, item, todos
from holdfast.capture.agents.reading import MAX_LINE, dict_of, list_of
from holdfast.capture.agents.stripping import name, words
from holdfast.model.transcript import Todo
from holdfast.patterns import regex

_CREATED = regex(r"Task #(\w{1,40}) created")
_SPEAKS = (b'"TaskCreate"', b'"TaskUpdate"', b'"task_reminder"', b'"taskId"', b"Task #")


class Tasks:
    """The tasks of a session by their numbers, as the calls so far leave them."""

    def __init__(self, path: str, start: int) -> None:
        self._path, self._start = path, start
        self._asked: dict[str, dict[str, Any]] = {}
        self._known: dict[str, Todo] = {}

    def after(self, tool: str, given: dict[str, Any], told: object, said: str) -> tuple[Todo, ...] | None:
        """The plan as a call that worked leaves it; None if the call is about no plan."""
        tool = tool.lower()
        if tool == "todowrite":
            return todos(dict_of(told).get("newTodos") or given.get("todos"), "content", "subject")
        if tool not in ("taskcreate", "taskupdate"):
            return None
        self._look_back()
        self._apply(tool, given, told, said)
        return tuple(self._known.values())

    def remind(self, items: object) -> None:
        """Take over a list that Claude Code itself tells."""
        for known in map(dict_of, list_of(items)[:MAX_TASKS]):
            self._keep(name(known.get("id")), item(known.get("subject")), known.get("status"))

    def _apply(self, tool: str, given: dict[str, Any], told: object, said: str) -> None:
        if tool == "taskcreate":
            made = name(dict_of(dict_of(told).get("task")).get("id"))
            found = _CREATED.search(said[:2000])
            self._keep(made or (found[1] if found else ""), item(given.get("subject")), "pending")
        else:
            self._keep(name(given.get("taskId")), item(given.get("subject")), given.get("status"))

    def _keep(self, key: str, text: str, status: object) -> None:
        before = self._known.get(key)
        text = text or (before.text if before else "")
        if key and text and (before or len(self._known) < MAX_TASKS):
            now = STATUS.get(name(status)) or (before.status if before else "open")
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
                self._asked[name(block.get("id"))] = {**block}
        elif block.get("type") == "tool_result" and block.get("is_error") is not True:
            call = self._asked.pop(name(block.get("tool_use_id")), None)
            if call is not None:
                said = words(block.get("content"))
                self._apply(name(call.get("name")).lower(), dict_of(call.get("input")), told, said)


def _earlier(path: str, start: int) -> Iterator[dict[str, Any]]:
    """The records before a byte that may speak of tasks."""
    with open(path, "rb") as file:
        while file.tell() < start and (raw := file.readline(MAX_LINE)):
            if any(sign in raw for sign in _SPEAKS):
                try:
                    value = json.loads(raw)
                except (ValueError, RecursionError):
                    continue
                yield dict_of(value)
