"""What in a turn is not its speaker's own word: blanked out, so that no rule ever sees it (law 16).

Everything here keeps the length of the text: what is found later can be cited by its place. A blank is a
line break, which ends the sentence before it; escape sequences become NUL, which `prose` takes out again.
"""

import re
from collections.abc import Callable

from holdfast.patterns import regex

NUL = "\0"
ANSI = regex(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # titles, links
    r"|\x1b[PX^_][^\x1b]*\x1b\\"
    r"|\x1b[@-Z\\-_]"
)
_OPEN = regex(r"<(holdfast-data)\b([^<>\n]*)>", re.IGNORECASE)
_BLOCK = regex(r"<!--\s*holdfast:begin\b", re.IGNORECASE)
_BLOCK_END = regex(r"<!--\s*holdfast:end\b[^>\n]*>", re.IGNORECASE)
# Blocks that agents' own programs put into a turn: reminders, environment, contexts of hooks.
_TAG = regex(r"<([a-z]+(?:[-_][a-z]+)+)(?:\s[^<>\n]*)?>")

Closing = Callable[[re.Match[str]], re.Pattern[str]]


def blanked(text: str) -> str:
    """The text with our own injected blocks, comments and wrappers of programs blanked; as long as before."""
    text = ANSI.sub(lambda found: NUL * len(found[0]), text)
    for blank in (_packs, _blocks, _comments, _wrappers):
        text = blank(text)
    return text


def _packs(text: str) -> str:
    """Without what stood between our markers: only the same mark closes, without it all the rest goes."""
    return _between(text, _OPEN, lambda found: re.compile(rf"</holdfast-data{re.escape(found[2])}>", re.I))


def _blocks(text: str) -> str:
    return _between(text, _BLOCK, lambda _: _BLOCK_END)


def _comments(text: str) -> str:
    return _between(text, re.compile("<!--"), lambda _: re.compile("-->"))


def _between(text: str, opens: re.Pattern[str], closing: Closing) -> str:
    parts, at = [], 0
    while found := opens.search(text, at):
        end = closing(found).search(text, found.end())
        stop = end.end() if end else len(text)
        parts += [text[at : found.start()], _gap(text[found.start() : stop])]
        at = stop
    return "".join([*parts, text[at:]])


def _wrappers(text: str) -> str:
    """Without the blocks of programs; one that never closes is no block."""
    parts, at, look = [], 0, 0
    last: dict[str, int] = {}  # where a name closes for the last time: no search twice through the same text
    while found := _TAG.search(text, look):
        close = f"</{found[1]}>"
        if close not in last:
            last[close] = text.rfind(close)
        if last[close] < found.end():
            look = found.end()
            continue
        stop = text.index(close, found.end()) + len(close)
        parts += [text[at : found.start()], _gap(text[found.start() : stop])]
        at = look = stop
    return "".join([*parts, text[at:]])


def _gap(gone: str) -> str:
    return "\n" * len(gone)
