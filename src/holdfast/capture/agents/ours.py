"""Texts without what is not theirs to tell: our own packs, and what a person marked as private.

A pack comes back in a transcript wherever an agent was shown one: in a hook's text, in a tool's answer, in
what it quotes. If that were captured, memory would confirm itself (law 16).
"""

import re

from holdfast.patterns import regex
from holdfast.security.private import without_private

# A pack that was cut before its end goes on to the end of the text.
_PACK = regex(
    r"(?:Between the lines marked [^\n\\]{0,200}(?:\n|\\n))?"
    r"<holdfast-data ([^\s>]{1,64})>.*?(?:</holdfast-data \1>|\Z)",
    re.DOTALL,
)


def sound(text: str) -> str:
    """The text with every character one that can be stored: JSON can spell halves of characters."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def without_ours(text: str) -> str:
    """The text without our packs and without what is private, fit to be stored."""
    text = sound(text)
    if "<holdfast-data " in text:
        text = _PACK.sub("", text)
    # Looked for before it is searched for: a pattern that knows no case costs ten times as much.
    return without_private(text) if "<" in text and "private>" in text.lower() else text


def is_our_tool(name: str) -> bool:
    """Whether a tool of that name is our own MCP server's, whatever the agent makes of the name."""
    return name.startswith(("mcp__holdfast__", "mcp_holdfast_", "holdfast__", "holdfast."))
