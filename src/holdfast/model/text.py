"""Text that people and agents may safely see: what hides is shown, what steers a terminal is disarmed.

Stored text is kept as it came; this is only asked on the way out. Line breaks and tabs stay,
every other character that has no shape of its own becomes a mark such as ⟨U+202E⟩.
"""

import re

from holdfast.patterns import regex

# Ranges rather than Unicode categories: a few format characters (Arabic number signs) are visible
# and wanted, and some letters (Hangul fillers) are invisible.
_HIDDEN = regex(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls: escape sequences start here, a bare CR overwrites the line
    "\u00ad\u034f\u061c"  # soft hyphen, grapheme joiner, Arabic letter mark
    "\u115f\u1160\u17b4\u17b5\u3164\uffa0"  # letters drawn as nothing
    "\u180b-\u180f\ufe00-\ufe0f"  # variation selectors
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f"  # zero-width, separators, bidirectional controls
    "\ufeff\ufff0-\ufffb\ufffe\uffff"
    "\ud800-\udfff"  # half a character: cannot be written as UTF-8
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # controls of scripts and scores
    "\U000e0000-\U000e0fff"  # the tag block and the rest of the selectors
    "]"
)


def visible(text: str) -> str:
    """The text with everything invisible or steering replaced by a visible mark."""
    return _HIDDEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text.replace("\r\n", "\n"))


def has_hidden(text: str) -> bool:
    """Whether the text holds anything that `visible` would mark."""
    return _HIDDEN.search(text.replace("\r\n", "\n")) is not None


def escaped(text: str) -> str:
    """The text between double quotes, as both JSON-minded people and YAML readers understand it."""
    plain = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{_HIDDEN.sub(_escape, plain)}"'


def in_json(text: str) -> str:
    """JSON in which nothing hides: what would is spelled as an escape, and reads back the same."""
    if text.isascii() and "\x7f" not in text:
        return text  # JSON itself escapes the other control characters
    return _HIDDEN.sub(_escape_in_json, text)


def columns(text: str) -> int:
    """How many columns of a terminal a text takes; East Asian signs take two."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(sign: str) -> int:
    import unicodedata  # most texts are plain

    if unicodedata.combining(sign) or unicodedata.category(sign) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1


def tokens(text: str) -> int:
    """About how many tokens a model reads in a text: a quarter of its bytes, rounded up."""
    return (len(text.encode("utf-8", "replace")) + 3) // 4


def _escape_in_json(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
