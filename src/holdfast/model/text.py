"""Text that people and agents may safely see: what hides is shown, what steers a terminal is disarmed.

Stored text is kept as it came; this is only asked on the way out. Line breaks and tabs stay,
every other character that has no shape of its own becomes a mark such as ⟨U+202E⟩.
"""

import re

from holdfast.patterns import PatternFile

_PATTERNS = PatternFile(__file__)


def visible(text: str) -> str:
    """The text with everything invisible or steering replaced by a visible mark."""
    return _PATTERNS.hidden.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text.replace("\r\n", "\n"))


def has_hidden(text: str) -> bool:
    """Whether the text holds anything that `visible` would mark."""
    return _PATTERNS.hidden.search(text.replace("\r\n", "\n")) is not None


def escaped(text: str) -> str:
    """The text between double quotes, as both JSON-minded people and YAML readers understand it."""
    plain = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{_PATTERNS.hidden.sub(_escape, plain)}"'


def in_json(text: str) -> str:
    """JSON in which nothing hides: what would is spelled as an escape, and reads back the same."""
    if text.isascii() and "\x7f" not in text:
        return text  # JSON itself escapes the other control characters
    return _PATTERNS.hidden.sub(_escape_in_json, text)


def count(number: int, thing: str, verb: str = "") -> str:
    """`1 event`, `2 events`, `3 memories`; with a verb, `1 memory waits`, `2 memories wait`."""
    plural = thing[:-1] + "ies" if thing.endswith("y") else thing + "s"
    one = "is" if verb == "are" else f"{verb}s" if verb else ""
    return f"{number:,} {f'{thing} {one}' if number == 1 else f'{plural} {verb}'}".rstrip()


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
