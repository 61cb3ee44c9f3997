"""The tools that can be connected, and the file each of them reads before it starts."""

from holdfast.errors import BadInput
from holdfast.values import frozen

AGENTS = "AGENTS.md"
CURSOR_FRONT = """\
---
description: How to use this project's memory, its invariants and its decisions
alwaysApply: true
---
"""


@frozen
class Tool:
    """One tool: where its block belongs."""

    name: str
    paths: tuple[str, ...]  # the first that is there counts, else the first
    imports: bool = False  # whether a line `@AGENTS.md` takes that file in
    front: str = ""  # what a file of our own begins with
    note: str = ""  # what somebody must still do


TOOLS = {
    tool.name: tool
    for tool in (
        Tool("agents", (AGENTS,)),
        Tool("claude", ("CLAUDE.md", ".claude/CLAUDE.md"), imports=True),
        Tool("gemini", ("GEMINI.md",), imports=True),
        Tool("cursor", (".cursor/rules/holdfast.mdc",), front=CURSOR_FRONT),
        Tool("copilot", (".github/copilot-instructions.md",)),
        Tool(
            "aider",
            ("CONVENTIONS.md",),
            note="aider reads CONVENTIONS.md only if .aider.conf.yml says `read: CONVENTIONS.md`",
        ),
    )
}
ALIASES = {"codex": "agents", "opencode": "agents"}  # tools that read AGENTS.md, by their own names


def named(name: str) -> Tool:
    """The tool of that name."""
    if name not in TOOLS:
        raise BadInput(f"{name!r} is no tool that can be connected", hint=f"Use one of {', '.join(TOOLS)}.")
    return TOOLS[name]
