"""What the server offers: its tools and resources as clients list them, one table for stdio and HTTP.

The table is tool_table.json. Every word of it is read by a model at each session's start, so there are few. What tells
of memory has no structured form: Claude Code gives a model only that form where there is one, without the markers that
say it is data, and Codex gives it both. `anthropic/alwaysLoad`: without it Claude Code names a tool without its
description. Who answers a call is in `tool_calls`.
"""

import json

from holdfast import __version__
from holdfast.interfaces.mcp.protocol import ANNOTATED, STRUCTURED
from holdfast.patterns import TYPE_CHECKING, text_beside

if TYPE_CHECKING:
    from typing import Any

    Schema = dict[str, Any]

TYPES = ("decision", "assumption", "invariant", "fact", "dead-end")
MEMORY, TASK = "holdfast://memory/", "holdfast://task/"

_TABLE: "Schema" = json.loads(text_beside(__file__, "tool_table.json"))
INSTRUCTIONS: str = _TABLE["instructions"]
TOOLS: "list[Schema]" = _TABLE["tools"]
TEMPLATES: "list[Schema]" = _TABLE["templates"]
BY_NAME = {tool["name"]: tool for tool in TOOLS}


def tools(version: str) -> "list[Schema]":
    """The tools as a version of the protocol describes them."""
    hidden = set() if version >= STRUCTURED else {"outputSchema", "title", "_meta"}
    if version < ANNOTATED:
        hidden.add("annotations")
    return [{name: value for name, value in tool.items() if name not in hidden} for tool in TOOLS]


def greeting(version: str) -> "Schema":
    """What `initialize` answers."""
    server = {"name": "holdfast", "version": __version__}
    if version >= STRUCTURED:
        server["title"] = "Holdfast"
    return {
        "protocolVersion": version,
        "capabilities": {"tools": {}, "resources": {}},
        "serverInfo": server,
        "instructions": INSTRUCTIONS,
    }
