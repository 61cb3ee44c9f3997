"""What a person marked as theirs alone: `<private>…</private>` is dropped before anything is kept.

The tag is a person's own word, so it counts in texts: prompts, notes, proposals, transcripts. It may be
nested; one that is never closed goes on to the end, because to keep too little can be mended. In a
command's output, which arrives in pieces, the shape `private` hides the same stretch (`security.shapes`).
"""

import re

from holdfast.patterns import regex

_TAG = regex(r"<(/?)private>", re.IGNORECASE)
_OPEN_ANGLE = regex(r"<[^<>]{0,9}\Z")


def without_private(text: str) -> str:
    """The text without what stands between `<private>` and its `</private>`."""
    if _TAG.search(text) is None:
        return text
    kept: list[str] = []
    depth = start = 0
    for tag in _TAG.finditer(text):
        if tag.group(1) and not depth:
            continue  # a closing tag that closes nothing hides nothing
        if not depth:
            kept.append(_parted(text[start : tag.start()]))
        depth += -1 if tag.group(1) else 1
        start = tag.end() if not depth else len(text)
    return "".join(kept) + text[start:]


def _parted(before: str) -> str:
    """What stands before a dropped stretch, so that it makes no new tag with what comes after."""
    return before + " " if _OPEN_ANGLE.search(before[-12:]) else before
