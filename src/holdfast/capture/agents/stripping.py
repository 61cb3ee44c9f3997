"""Text of a transcript without what is nobody's word: programs' blocks, our own packs, what is private.

All of it takes time in proportion to the text, whatever the text holds: transcripts come from anywhere.
"""

import re
from collections import Counter

from holdfast.security.private import without_private

MAX_KINDS = 64  # of unknown records that are told apart
_NAME = 80  # characters of such a kind, and of a tool's name
_PACK = re.compile(r"<holdfast-data\b([^<>\n]{0,80})>", re.IGNORECASE)
_ABOVE = "stands data"  # in the line above a pack, which belongs to it
_OURS = re.compile(r"mcp_{1,2}(?:plugin_[a-z0-9-]+_)?holdfast(?:__?|$)", re.IGNORECASE)


def words(value: object) -> str:
    """A value as text that can be written down; what is no text is none.

    JSON may hold half a surrogate pair, which no file takes.
    """
    if not isinstance(value, str):
        return ""
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")


def name(value: object) -> str:
    """A short name of something: an id's, a tool's, a kind's."""
    return words(value)[:_NAME]


def passed_over(unknown: Counter[str], kind: object) -> None:
    """Count a record nobody here knows; of very many kinds only the first are told apart."""
    known = name(kind) or "without a type"
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


def without_ours(text: str) -> str:
    """The text without the packs that Holdfast sent; one that is not closed hides all the rest (law 16)."""
    kept, at = [], 0
    while found := _PACK.search(text, at):
        closing = re.compile(rf"</holdfast-data{re.escape(found[1])}>", re.IGNORECASE)
        kept.append(_before_pack(text[at : found.start()]))
        end = closing.search(text, found.end())
        at = end.end() if end else len(text)
    return "".join([*kept, text[at:]])


def _before_pack(text: str) -> str:
    above = text.removesuffix("\n").rpartition("\n")[2]
    return text[: -len(above) - 1] if _ABOVE in above and text.endswith("\n") else text


def spoken(text: str, *tags: str) -> str:
    """What somebody said, without the programs' blocks of those names, our packs and what is private."""
    return without_private(without_ours(without_blocks(text, *tags)))


def is_ours(tool: str) -> bool:
    """Whether a tool is Holdfast's own: what it answers is memory already."""
    return _OURS.match(tool) is not None
