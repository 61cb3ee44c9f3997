"""The first, TypeScript Codex: a session is one JSON document, its items of the one or the other API.

    {"session": {"id", "timestamp", "instructions"}, "items": [...]}

Messages of the older API (`tool_calls`, role `tool`) become the items that every later version writes.
"""

from collections.abc import Iterator
from typing import Any

from holdfast.capture.agents.reading import Record, dict_of, list_of, text_of


def items_of(document: dict[str, Any], size: int) -> Iterator[Record]:
    """The items, each as a record; a document can only be read again as a whole."""
    for item in list_of(document.get("items")):
        if isinstance(item, dict):
            for one in _as_items(item):
                yield Record(one, 0, size)


def _as_items(item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "type" in item and item["type"] != "message":
        yield item
        return
    role = item.get("role")
    if role == "tool":
        yield {"type": "function_call_output", "call_id": item.get("tool_call_id"), "output": item.get("content")}
        return
    if item.get("content"):
        yield {**item, "type": "message"}
    for call in list_of(item.get("tool_calls")):
        function = dict_of(dict_of(call).get("function"))
        yield {
            "type": "function_call",
            "call_id": dict_of(call).get("id"),
            "name": text_of(function.get("name")),
            "arguments": function.get("arguments"),
        }
