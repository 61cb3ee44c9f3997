"""Text within text: words in base64, percent-encoding or JSON escapes are looked at as what they say.

A word that may be encoded is decoded, at most `REACH` bytes of it at a time, and what comes out is
scanned like any other text, at most two codings deep. A secret found there hides the whole encoded
word. A longer word is looked at again further on, the looks overlapping, so that the cost stays linear.

Only what decodes to text counts: pictures, hashes, signatures and encrypted blobs do not. Each
coding decides from a bounded stretch around a place, like every rule (`security.redact`).
"""

import binascii
import re
from collections.abc import Callable, Iterator
from urllib.parse import unquote_to_bytes

from holdfast.patterns import regex
from holdfast.security.shapes import REACH, WORD, Rest
from holdfast.values import frozen

DEEPEST = 2
ESCAPED_BREAKS = (b"\\n", b"\\r", b"\\t")
_BEFORE = 40  # bytes an encoded word may have before its first escape
_STEP = REACH // 2  # how much further on a long word is looked at again; a multiple of four
_LEAST = 16  # of base64: fewer bytes cannot hold a secret that anything would show


@frozen
class Word:
    """What stands encoded at a place, as far as one look goes."""

    end: int
    text: bytes
    again: int | None  # where to look again, if the word goes on


@frozen
class Coding:
    """One way to write text within text."""

    name: str
    read: Callable[[bytes, int], Word | None]
    rest: Rest  # what still belongs to the encoded word


# Base64. Text has no byte above 127, so the first sign of each four stands for a number below 32.
_TEXT_FIRST = regex(rb"(?:[A-Za-f][A-Za-z0-9+/_-]{3}){4}")
# A line that is no whole number of fours ends the word: what follows would be read askew.
_BASE64 = regex(
    rb"(?:[A-Za-z0-9+/_-]{4}){4,512}+"
    rb"(?:(?:(?:\\r)?\\n|\r?\n)[ \t]{0,16}+(?:[A-Za-z0-9+/_-]{4}){1,50}+){0,64}[A-Za-z0-9+/_-]{0,3}={0,2}"
)
_BREAKS = regex(rb"\\[rn]|\s+")
_TEXT = regex(rb"(?:[\t\n\r\x20-\x7e]|[\xc2-\xf4][\x80-\xbf]{1,3})+")
_URL_SAFE = bytes.maketrans(b"-_", b"+/")
_MORE_BASE64 = Rest(
    rb"(?:[A-Za-z0-9+/=_-]|(?:\\r)?\\n(?=[A-Za-z0-9+/]{20})|\r?\n[ \t]{0,16}(?=[A-Za-z0-9+/]{20}))*", 65536, ahead=40
)


def starts_base64(text: bytes, place: int) -> bool:
    """Whether a word that begins here may be text in base64."""
    return _TEXT_FIRST.match(text, place) is not None and _plain(text[place : place + _LEAST]) == 12


def _plain(quads: bytes) -> int:
    """How many bytes of text these signs of base64 begin with."""
    found = _TEXT.match(_unpacked(quads))
    return found.end() if found else 0


def _unpacked(signs: bytes) -> bytes:
    signs = signs.rstrip(b"=").translate(_URL_SAFE)
    signs = signs[: len(signs) - 1] if len(signs) % 4 == 1 else signs
    return binascii.a2b_base64(signs + b"=" * (-len(signs) % 4))


def _read_base64(text: bytes, place: int) -> Word | None:
    found = _BASE64.match(text, place, place + REACH)
    if found is None:
        return None
    said = _TEXT.match(_unpacked(_BREAKS.sub(b"", found.group())))
    again = _further(found.group(), place) if found.end() >= place + REACH - 20 else None
    return Word(found.end(), said.group() if said else b"", again)


def _further(signs: bytes, place: int) -> int:
    """The place about half a look further on where the next four signs begin."""
    breaks = sum(len(gap) for gap in _BREAKS.findall(signs, 0, _STEP))
    step = _STEP - (_STEP - breaks) % 4
    return place + step + (1 if _BREAKS.match(signs, step) else 0)


# Percent-encoding, and JSON's escapes beyond those that the rules know themselves.
_PERCENT = regex(rb"%[0-9A-Fa-f]{2}")
_PERCENT_WORD = regex(rb"(?:[A-Za-z0-9_.~*!()'+:/-]|%[0-9A-Fa-f]{2})+")
_PERCENT_BACK = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.~*!()'+:/-%")
_MORE_PERCENT = Rest(rb"(?:[A-Za-z0-9_.~*!()'+:/-]|%[0-9A-Fa-f]{2})*", 65536, ahead=3)

_ESCAPE = regex(rb"\\\\{0,2}(?:/|u00[0-7][0-9A-Fa-f])")
_ESCAPED = rb"(?:[^\s\"'`<>\\,;|\x00-\x1f]|\\{1,3}(?:/|u00[0-7][0-9A-Fa-f]))"
_ESCAPED_WORD = regex(_ESCAPED + rb"+")
_ESCAPED_BACK = frozenset(range(33, 256)) - frozenset(b"\"'`<>\\,;|")
_MORE_ESCAPED = Rest(_ESCAPED + rb"*", 65536, ahead=10)


def _read_percent(text: bytes, place: int) -> Word | None:
    found = _PERCENT_WORD.match(text, place, place + REACH)
    if found is None:
        return None
    again = _halfway(text, place, b"%", 2) if found.end() >= place + REACH - 2 else None
    return Word(found.end(), unquote_to_bytes(found.group().replace(b"+", b" ")), again)


def _read_escaped(text: bytes, place: int) -> Word | None:
    found = _ESCAPED_WORD.match(text, place, place + REACH)
    if found is None:
        return None
    again = _halfway(text, place, b"\\", 8) if found.end() >= place + REACH - 8 else None
    return Word(found.end(), _ESCAPE.sub(_meant, found.group()), again)


def _meant(escape: re.Match[bytes]) -> bytes:
    sign = escape.group().lstrip(b"\\")
    return sign if sign == b"/" else bytes([int(sign[1:], 16)])


def _halfway(text: bytes, place: int, escape: bytes, width: int) -> int:
    """A place half a look further on that is not within an escape."""
    step = place + _STEP
    within = text.find(escape, step - width, step)
    return within if within != -1 else step


BASE64 = Coding("base64", _read_base64, _MORE_BASE64)
PERCENT = Coding("percent", _read_percent, _MORE_PERCENT)
ESCAPES = Coding("escapes", _read_escaped, _MORE_ESCAPED)


_LONG = regex(rb"[A-Za-z0-9_+-]{%d}" % WORD)
_PERCENT_NEAR = regex(rb"[A-Za-z0-9_.~*!()'+:/-]{0,40}+%[0-9A-Fa-f]{2}")
_ESCAPE_NEAR = regex(rb"[^\s\"'`<>\\,;|\x00-\x1f]{0,40}+\\{1,3}(?:/|u00[0-7][0-9A-Fa-f])")


def begin_here(text: bytes, place: int) -> Iterator[Coding]:
    """The codings whose word may begin at this very place, whatever stands before it."""
    if _PERCENT_NEAR.match(text, place):
        yield PERCENT
    if _ESCAPE_NEAR.match(text, place):
        yield ESCAPES
    if _LONG.match(text, place) and starts_base64(text, place):
        yield BASE64


def escaped_words(text: bytes, position: int) -> Iterator[tuple[int, Coding]]:
    """Where words in percent-encoding or JSON's escapes begin."""
    if b"%" in text:
        for place in _words(text, position, _PERCENT, _PERCENT_BACK):
            yield place, PERCENT
    if b"\\" in text:
        for place in _words(text, position, _ESCAPE, _ESCAPED_BACK):
            yield place, ESCAPES


def _words(text: bytes, position: int, escape: re.Pattern[bytes], back: frozenset[int]) -> Iterator[int]:
    """The beginning of each word, or `_BEFORE` bytes before an escape that has none so near before it."""
    last = 0
    for found in escape.finditer(text, max(0, position - _BEFORE - 10)):
        place = _beginning(text, found.start(), back)
        if last <= place:
            yield place
        last = found.end()


def _beginning(text: bytes, start: int, back: frozenset[int]) -> int:
    """Where the word before an escape begins, at most `_BEFORE` bytes back."""
    place = start
    while place > max(0, start - _BEFORE) and text[place - 1] in back:
        place -= 1
    return place + 1 if text[max(0, place - 1) : place + 1] in ESCAPED_BREAKS and place < start else place
