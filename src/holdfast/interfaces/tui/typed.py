"""What people type into fields that show text of others."""

import re

from holdfast.patterns import regex

_MARK = regex(r"⟨U\+([0-9A-F]{4,6})⟩")


def split(text: str) -> tuple[str, ...]:
    """The words between commas, each once."""
    return tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))


def restored(text: str, before: str) -> str:
    """What was typed, with the marks of hidden characters that were there before as these characters.

    Somebody who corrects a word must not change the rest of it; who wants a hidden character gone
    deletes its mark.
    """
    return _MARK.sub(lambda mark: _hidden(mark, before), text)


def _hidden(mark: re.Match[str], before: str) -> str:
    code = int(mark[1], 16)
    was_there = code <= 0x10FFFF and chr(code) in before
    return chr(code) if was_there else mark[0]
