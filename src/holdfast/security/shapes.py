"""What a shape of secrets is: a named rule, cheap to rule out.

A rule is looked at only where one of its literal anchors stands, and then sees at most
`REACH` bytes from there: so a scan is linear, and gives the same answer however its input was
cut. There is no rule on randomness alone: commit ids, UUIDs and checksums must survive.

The secret is the one group that took part in the match; what goes before it is kept. The
`rest` of that group says which further bytes belong to the same secret. How text is walked,
cut and rewritten is `security.redact`'s business; the shapes themselves stand in `security.tokens`
(tokens with a prefix of their maker's) and `security.contexts` (secrets shown by the words around them).
"""

import re
from dataclasses import dataclass
from functools import cache

REACH = 2048  # bytes a match may look at from its anchor on; patterns below stay well within
WORD = 20  # every issued token holds so many of these bytes in a row, at most `NEAR` after its anchor's start
WORD_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+"
NEAR = 20


@dataclass(frozen=True, slots=True)
class Rest:
    """What still belongs to a secret after the bytes that gave it away."""

    pattern: bytes
    limit: int  # after so many bytes we look at the text afresh
    until: bool = False  # the pattern is where it ends, not what it is made of
    ahead: int = 2  # bytes it must see to know that it ended: a backslash and what it escapes, or more

    def compiled(self) -> re.Pattern[bytes]:
        return _compiled(self.pattern)


@dataclass(frozen=True, slots=True)
class Shape:
    """One named kind of secret."""

    name: str
    anchors: tuple[bytes, ...]
    pattern: bytes  # matched at the anchor
    rests: tuple[Rest, ...]  # one for each group of the pattern
    fold: bool = False  # anchors are given in lower case and stand in any case
    issued: bool = False  # a token with a prefix of its maker's, one long word
    boundary: bool = False  # only where a word begins

    def compiled(self) -> re.Pattern[bytes]:
        return _compiled(self.pattern)

    def may(self, text: bytes, start: int, known: int) -> bool:
        """Whether it begins here; after `known`, where bytes may still be missing, it always may."""
        return start > known or _compiled(self.pattern).match(text, start) is not None


@cache
def _compiled(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(pattern)


WORD_REST = Rest(rb"[A-Za-z0-9_-]*", 65536)
DOTTED = Rest(rb"[A-Za-z0-9_.=-]*", 65536)
BARE = Rest(rb"(?:[^\s\"'`<>(){}\[\],;|&\\\x00-\x1f]|\\/)*", 65536)
BASE64_REST = Rest(rb"(?:[A-Za-z0-9+/=_.~-]|\\/)*", 65536)
IN_QUOTES = Rest(rb"(?:\\[^\r\n]|[^\"\\\r\n])*", 4096)
IN_APOSTROPHES = Rest(rb"(?:\\[^\r\n]|[^'\\\r\n])*", 4096)
IN_ESCAPED = Rest(rb"(?:[^\"'\\\r\n]|\\\\\\[\"'])*", 4096, ahead=4)
IN_ESCAPED_TWICE = Rest(rb"[^\"'\\\r\n]*", 4096)
HEX = Rest(rb"[A-Fa-f0-9]*", 4096)
NOTHING_MORE = Rest(rb"", 0)
TO_PRIVATE_END = Rest(rb"(?i)</private>", 65536, until=True)
TO_KEY_END = Rest(rb"-----END [A-Z0-9 ]{2,40}-----", 16384, until=True)
