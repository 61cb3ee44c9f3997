"""Text of a transcript, without what is not its speaker's: programs' blocks, our own packs, what is marked as private.

A pack comes back in a transcript wherever an agent was shown one: in a hook's text, in a tool's answer, in what it
quotes. If that were captured, memory would confirm itself (law 16). All of it takes time in proportion to the text,
whatever the text holds: transcripts come from anywhere.
"""

from __future__ import annotations

import json
import re

from holdfast.model.transcript import MAX_INPUT, cut
from holdfast.patterns import TYPE_CHECKING, regex
from holdfast.security.redact import without_private

if TYPE_CHECKING:
    from collections import Counter

# A pack that was cut before its end goes on to the end of the text.
_PACK = regex(
    r"(?:Between the lines marked [^\n\\]{0,200}(?:\n|\\n))?"
    r"<holdfast-data ([^\s>]{1,64})>.*?(?:</holdfast-data \1>|\Z)",
    re.DOTALL,
)


def storable(text: str) -> str:
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
    text = storable(text)
    if "<holdfast-data " in text:
        text = _PACK.sub("", text)
    # Looked for before it is searched for: a pattern that knows no case costs ten times as much.
    return without_private(text) if "<" in text and "private>" in text.lower() else text


MAX_KINDS = 64  # of unknown records that are counted apart
_NAME = 200  # characters of such a kind, of an id, of a tool's name
_OUR_TOOL = regex(r"(?:mcp__)?holdfast__|mcp_holdfast_|holdfast[._-]|(?i:mcp__plugin_[a-z0-9-]{1,64}_holdfast__)")


def text_value(value: object, limit: int | None = None) -> str:
    """A value as text that can be stored, as much of it as is kept; what is no text is none."""
    return storable(value[:limit]) if isinstance(value, str) else ""


def short_name(value: object) -> str:
    """A short name of something: an id's, a tool's, a kind's."""
    return text_value(value, _NAME)


def path_value(value: object) -> str | None:
    """A path, a branch, an address; None if there is none."""
    return text_value(value, 4096) or None


def json_text(value: object) -> str:
    """What a call was given, as text: a string as it is, anything else as JSON; as much of it as is kept."""
    if isinstance(value, str):
        return cut(without_ours(value), MAX_INPUT)
    try:
        return cut(without_ours(json.dumps(value, ensure_ascii=False)), MAX_INPUT) if value else ""
    except (ValueError, RecursionError):
        return ""


def passed_over(unknown: Counter[str], kind: object) -> None:
    """Count a record of an unknown kind; of very many kinds only the first are counted apart."""
    known = short_name(kind) or "without a type"
    unknown[known if known in unknown or len(unknown) < MAX_KINDS else "other"] += 1


def without_blocks(text: str, *tags: str) -> str:
    """The text without `<tag>…</tag>`; one that never closes is no block."""
    for tag in tags:
        if f"<{tag}" in text:
            text = _without(text, tag)
    return text


def _without(text: str, tag: str) -> str:
    closing, kept, at = f"</{tag}>", [], 0
    while (begin := _opening(text, tag, at)) >= 0:
        end = text.find(closing, begin)
        if end < 0:
            break
        kept.append(text[at:begin])
        at = end + len(closing)
    return "".join([*kept, text[at:]])


def _opening(text: str, tag: str, at: int) -> int:
    """Where `<tag>` or `<tag …>` begins; -1 if nowhere."""
    while (at := text.find(f"<{tag}", at)) >= 0:
        after = text[at + len(tag) + 1 : at + len(tag) + 2]
        if after == ">" or after.isspace():
            return at
        at += 1
    return -1


def inside(text: str, tag: str) -> str:
    """What stands in the first `<tag>…</tag>`; nothing if there is none."""
    begin = text.find(f"<{tag}>")
    if begin < 0:
        return ""
    begin += len(tag) + 2
    end = text.find(f"</{tag}>", begin)
    return text[begin:end] if end >= 0 else ""


def own_words(text: str, *tags: str) -> str:
    """What somebody said, without the programs' blocks of those names, our packs and what is private."""
    return without_ours(without_blocks(text, *tags))


def is_holdfast_tool(tool: str) -> bool:
    """Whether a tool is our own MCP server's, whatever the agent makes of its name: its answers are memory already."""
    return _OUR_TOOL.match(tool) is not None
