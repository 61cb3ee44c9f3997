"""Long words: those in which issued tokens may stand, and those that are encoded text.

A word in base64, percent-encoding or JSON escapes is decoded, at most `REACH` bytes at a time, and the result is
scanned like any other text, at most two codings deep. A secret found there hides the whole encoded word. A longer word
is looked at again further on, the looks overlapping, so that the cost stays linear. Only what decodes to text counts:
pictures, hashes, signatures and encrypted blobs do not. Each coding decides from a bounded stretch around a place, like
every rule (`security.redact`).

Issued tokens stand in long words only, and most long words are ids, hashes and names. One walk over each shows that no
token's prefix stands where one could count: where a word begins, or, for prefixes that count anywhere, before their
first sign that is neither letter nor digit. The prefixes themselves are searched for only where the walk ends early.
"""

import binascii
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache

from holdfast.patterns import regex
from holdfast.security.rules import BESIDE, NEAR, REACH, WORD, WORD_BYTES, SecretRest, SecretShape
from holdfast.values import frozen

DEEPEST = 2  # a guess: secrets that are encoded twice exist, three times is hostile
ESCAPED_BREAKS = (b"\\n", b"\\r", b"\\t")
_BEFORE = 40  # bytes an encoded word may have before its first escape
_STEP = REACH // 2  # how much further on a long word is looked at again; a multiple of four
_LEAST = 16  # of base64, a multiple of four: fewer bytes cannot hold a secret that anything would show


@frozen
class EncodedWord:
    """What stands encoded at a place, as far as one look goes."""

    end: int
    text: bytes
    again: int | None  # where to look again, if the word goes on


@frozen
class Coding:
    """One way to write text within text."""

    name: str
    read: Callable[[bytes, int], EncodedWord | None]
    rest: SecretRest  # what still belongs to the encoded word


# Base64. Text has no byte above 127, so the first sign of each four stands for a number below 32.
_TEXT_FIRST = regex(rb"(?:[A-Za-f][A-Za-z0-9+/_-]{3}){4}")
# A line that is no whole number of fours ends the word: what follows would be read askew.
_BASE64 = regex(
    rb"(?:[A-Za-z0-9+/_-]{4}){4,512}+"
    rb"(?:(?:(?:\\r)?\\n|\r?\n)[ \t]{0,16}+(?:[A-Za-z0-9+/_-]{4}){1,50}+){0,64}[A-Za-z0-9+/_-]{0,3}={0,2}"
)
_BREAKS = regex(rb"\\[rn]|\s+")
_NEXT_LINE = regex(rb"(?:\\[rn]|\s)+(?=[A-Za-z0-9+/_-]{%d})" % _LEAST)
_TEXT = regex(rb"(?:[\t\n\r\x20-\x7e]|[\xc2-\xf4][\x80-\xbf]{1,3})+")
_URL_SAFE = bytes.maketrans(b"-_", b"+/")
_MORE_BASE64 = SecretRest(
    rb"(?:[A-Za-z0-9+/=_-]|(?:\\r)?\\n(?=[A-Za-z0-9+/]{20})|\r?\n[ \t]{0,16}(?=[A-Za-z0-9+/]{20}))*", 65536, ahead=40
)


def starts_base64(text: bytes, place: int) -> bool:
    """Whether a word that begins here may be text in base64."""
    found = _TEXT.match(_unpacked(text[place : place + _LEAST])) if _TEXT_FIRST.match(text, place) else None
    return found is not None and found.end() == 12


def _unpacked(signs: bytes) -> bytes:
    signs = signs.rstrip(b"=").translate(_URL_SAFE)
    signs = signs[: len(signs) - 1] if len(signs) % 4 == 1 else signs
    return binascii.a2b_base64(signs + b"=" * (-len(signs) % 4))


def _read_base64(text: bytes, place: int) -> EncodedWord | None:
    found = _BASE64.match(text, place, place + REACH)
    if found is None:
        return None
    said = _TEXT.match(_unpacked(_BREAKS.sub(b"", found.group())))
    again = _further(found.group(), place) if found.end() >= place + REACH - 20 else None
    return EncodedWord(found.end(), said.group() if said else b"", again)


def _further(signs: bytes, place: int) -> int:
    """About half a look further on: where a line begins, or four signs in a word of one line."""
    lines = [found.end() for found in _NEXT_LINE.finditer(signs, 0, _STEP + _LEAST)]
    return place + (lines[-1] if lines else _STEP - _LEAST)


# Percent-encoding, and JSON's escapes beyond those that the rules know themselves.
_PERCENT = regex(rb"%[0-9A-Fa-f]{2}")
_PERCENT_WORD = regex(rb"(?:[A-Za-z0-9_.~*!()'+:/-]|%[0-9A-Fa-f]{2})+")
_PERCENT_BACK = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.~*!()'+:/-%")
_MORE_PERCENT = SecretRest(rb"(?:[A-Za-z0-9_.~*!()'+:/-]|%[0-9A-Fa-f]{2})*", 65536, ahead=3)

_ESCAPE = regex(rb"\\\\{0,2}(?:/|u00[0-7][0-9A-Fa-f])")
_ESCAPED = rb"(?:[^\s\"'`<>\\,;|\x00-\x1f]|\\{1,3}(?:/|u00[0-7][0-9A-Fa-f]))"
_ESCAPED_WORD = regex(_ESCAPED + rb"+")
_ESCAPED_BACK = frozenset(range(33, 256)) - frozenset(b"\"'`<>\\,;|")
_MORE_ESCAPED = SecretRest(_ESCAPED + rb"*", 65536, ahead=10)


def _read_percent(text: bytes, place: int) -> EncodedWord | None:
    found = _PERCENT_WORD.match(text, place, place + REACH)
    if found is None:
        return None
    again = _halfway(text, place, b"%", 2) if found.end() >= place + REACH - 2 else None
    from urllib.parse import unquote_to_bytes  # few texts hold such a word

    return EncodedWord(found.end(), unquote_to_bytes(found.group().replace(b"+", b" ")), again)


def _read_escaped(text: bytes, place: int) -> EncodedWord | None:
    found = _ESCAPED_WORD.match(text, place, place + REACH)
    if found is None:
        return None
    again = _halfway(text, place, b"\\", 8) if found.end() >= place + REACH - 8 else None
    return EncodedWord(found.end(), _ESCAPE.sub(_meant, found.group()), again)


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
        yield from ((place, PERCENT) for place in _words(text, position, _PERCENT, _PERCENT_BACK))
    if b"\\" in text:
        yield from ((place, ESCAPES) for place in _words(text, position, _ESCAPE, _ESCAPED_BACK))


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


_IS_WORD = bytes(1 if byte in WORD_BYTES else 0 for byte in range(256))
_LONG_MARKS = b"\x01" * WORD
_BACK = 64  # bytes before the place looked from that a long word may reach back
# Every token is at least `WORD` bytes of the same alphabet in a row. Where there are none after a long word,
# no token that has no long word of its own begins there, and none goes on there.
_NO_TOKEN = regex(rb"[^A-Za-z0-9_+./:=%%~-]++(?:[A-Za-z0-9_+./:=%%~-]{1,%d}+[^A-Za-z0-9_+./:=%%~-]++)*+" % (WORD - 1))
_PARTED = regex(rb"[./:=%~]")
_GROUPING = regex(rb"\(\?(?:<?[=!]|:)")
# What stands before a long word: nothing of it, a byte that tokens hold too, or a part of it or an escape.
_FREE, _PARTS, _JOINED = 0, 1, 2
_KINDS = bytes(_JOINED if byte in WORD_BYTES + b"%\\" else _PARTS if byte in b"./:=~" else _FREE for byte in range(256))
_BACKSLASH, _WORD_BREAKS = 92, b"nrt"
_HEAD = regex(rb"[A-Za-z0-9]*")
_REMEMBERED, _SHORT = 1 << 13, 80  # how many words that hold nothing are remembered, and how long they may be

# What may stand between a key and its value: separators, and before the value blanks, quotes and brackets.
_ASSIGNS = frozenset((b"=", b":", b">", b"|"))
_OPENING = b" \t\"'`\\"
_TWO_DIGITS = regex(rb"[0-9][A-Za-z_-]{1,24}[0-9]")  # a random word holds digits with letters between
_TAIL = 12  # characters; a guess: an opening quote with a prefix
_WITHIN = b"./|"
_VALUE = WORD_BYTES + b"./|~"
_IS_OPENING = bytes(byte in _OPENING for byte in range(256))
_NOT_ASSIGNED = bytes(byte not in b"=:>" + _OPENING + _WITHIN for byte in range(256))

Spans = list[tuple[int, int]]


class LongWords:
    """Finds where issued tokens begin."""

    __slots__ = ("_anywhere", "_beside", "_boring", "_dull", "_keys", "_parted", "_prefixes", "_shapes")

    def __init__(self, shapes: Sequence[SecretShape]) -> None:
        issued = [(number, shape) for number, shape in enumerate(shapes) if shape.issued]
        prefixes = frozenset(anchor for _, shape in issued for anchor in shape.anchors)
        self._prefixes = prefixes
        self._shapes = {
            prefix: tuple((n, shape) for n, shape in issued if prefix.startswith(shape.anchors)) for prefix in prefixes
        }
        started = {anchor for _, shape in issued if shape.boundary for anchor in shape.anchors}
        anywhere = {anchor for _, shape in issued if not shape.boundary for anchor in shape.anchors}
        # Prefixes of letters and digits alone have no sign at which the walk could see them.
        self._anywhere = tuple(sorted(anchor for anchor in anywhere if anchor.isalnum()))
        self._boring = re.compile(_walk(started, anywhere.difference(self._anywhere)))
        parted = {anchor for _, shape in issued if is_parted(shape) for anchor in shape.anchors}
        self._parted = re.compile(any_of(parted))
        self._dull: set[bytes] = set()
        self._beside = tuple((number, shape) for number, shape in enumerate(shapes) if shape.beside)
        self._keys: dict[bytes, bool] = {}  # the keys of JSON that came, and whether they name a provider

    def worth(self, text: bytes, words: Spans, cuts: Sequence[int] | None) -> Spans:
        """The long words in or near which a token may begin, or which may be text in base64.

        `cuts` are further places where a word counts as begun; None says that they are unknown.
        """
        if cuts is None or any(anchor in text for anchor in self._anywhere):
            return words
        nothing = self._nothing_near
        return [
            (begin, end)
            for begin, end in words
            if not nothing(text, begin, end) or (cuts and _any_within(cuts, begin - NEAR, end + NEAR))
        ]

    def _nothing_near(self, text: bytes, begin: int, end: int) -> bool:
        """Whether nothing that is worth a look begins in or near this long word."""
        before = _KINDS[text[begin - 1]] if begin else _FREE
        if before == _JOINED:
            walked = self._boring.fullmatch(text, max(0, begin - NEAR), end + NEAR)
            return walked is not None and packed(text, begin) is None
        word = text[begin:end]
        if word not in self._dull and not self._is_dull(word):
            return False
        if before == _PARTS and self._parted.search(text, max(0, begin - NEAR), begin + NEAR):
            return False
        near = end + NEAR
        follows = _NO_TOKEN.match(text, end, near + WORD)
        first = follows.end() if follows else max(begin, end - NEAR)
        return first >= near or self._parted.search(text, first, near) is None

    def _is_dull(self, word: bytes) -> bool:
        """Whether a word by itself shows nothing; if so and it is short, it is remembered."""
        if self._boring.fullmatch(word) is None or starts_base64(word, 0):
            return False
        if len(word) <= _SHORT:
            if len(self._dull) >= _REMEMBERED:
                self._dull.clear()
            self._dull.add(word)
        return True

    def issued(self, text: bytes, position: int, known: int, words: Spans) -> Iterator[tuple[int, int]]:
        """Where issued tokens begin, in or just before a long word; from `known` on, where they may."""
        prefix = _any(self._prefixes)
        for begin, end in words:
            found = prefix.search(text, max(position, begin - NEAR), end + NEAR)
            while found is not None:
                start = found.start()
                for number, shape in self._shapes[found.group()]:
                    if shape.may(text, start, known):
                        yield start, number
                found = prefix.search(text, start + 1, end + NEAR)

    def beside(self, text: bytes, position: int, known: int, words: Spans) -> Iterator[tuple[int, int]]:
        """Where a provider's name stands to which a long word is assigned."""
        keys, dull, opened = self._keys, _NOT_ASSIGNED, _IS_OPENING
        for begin, end in words:
            last = text[begin - 1] if begin > 1 else 0
            if dull[last] or (opened[last] and dull[text[begin - 2]]):
                continue
            if text[begin - 3 : begin] == b'":"':  # JSON, where few keys come again and again
                first = text.rfind(b'"', max(0, begin - BESIDE), begin - 3) + 1
                key = text[first : begin - 3]
                named = keys.get(key)
                if not (self._names_one(key) if named is None else named):
                    continue
            elif (first := _beside_from(text, begin)) < 0:
                continue
            if begin <= known and not _TWO_DIGITS.search(text, begin, end):
                continue
            first = max(position, first)
            for found in _any(self._beside[0][1].anchors).finditer(text[first:begin].lower()):
                for number, shape in self._beside:
                    if shape.may(text, first + found.start(), known):
                        yield first + found.start(), number

    def _names_one(self, key: bytes) -> bool:
        if len(self._keys) >= _REMEMBERED:
            self._keys.clear()
        self._keys[key] = _any(self._beside[0][1].anchors).search(key.lower()) is not None
        return self._keys[key]

    def begin_here(self, text: bytes, place: int, known: int) -> Iterator[tuple[int, int]]:
        """The issued tokens that begin at this very place, whatever stands before it."""
        found = _any(self._prefixes).match(text, place)
        if found is not None and _LONG.search(text, max(0, found.end() - 2 * NEAR), place + NEAR + WORD):
            for number, shape in self._shapes[found.group()]:
                if shape.may(text, place, known):
                    yield place, number


@cache
def _any(words: Collection[bytes]) -> re.Pattern[bytes]:
    return re.compile(any_of(words))


def _beside_from(text: bytes, begin: int) -> int:
    """From where on a name may stand to which the long word here is assigned; -1 if it is not assigned."""
    if text[begin - 1] in _WITHIN:  # the value may begin further to the left
        begin -= BESIDE - len(text[max(0, begin - BESIDE) : begin].rjust(BESIDE).rstrip(_VALUE))
    left = text[max(0, begin - _TAIL) : begin].rstrip(_OPENING)
    return max(0, begin - BESIDE) if left[-1:] in _ASSIGNS else -1


def long_words(text: bytes, position: int) -> Spans:
    """The words long enough to be a token, or what is left of one that began before `position`."""
    marks = text.translate(_IS_WORD)
    start = marks.find(_LONG_MARKS, max(0, position - _BACK))
    words = []
    while start != -1:
        end = marks.find(b"\x00", start)
        end = len(text) if end == -1 else end
        words.append((start, end))
        start = marks.find(_LONG_MARKS, end)
    return words


def packed(text: bytes, start: int) -> int | None:
    """Where text in base64 may begin in the long word here."""
    before = text[start - 1] if start else 0
    if before in WORD_BYTES:
        return None
    place = start + 1 if before == _BACKSLASH and text[start] in _WORD_BREAKS else start
    return place if starts_base64(text, place) else None


def is_parted(shape: SecretShape) -> bool:
    """Whether a token of this kind may hold other bytes than those of long words."""
    return _PARTED.search(_GROUPING.sub(b"", shape.pattern)) is not None


def any_of(words: Iterable[bytes]) -> bytes:
    """An expression for the longest of these words, branching byte by byte: faster than a flat list."""
    branches: dict[bytes, set[bytes]] = {}
    for word in words:
        branches.setdefault(word[:1], set()).add(word[1:])
    ends = branches.pop(b"", None) is not None
    parts = [re.escape(byte) + any_of(rest) for byte, rest in sorted(branches.items())]
    inner = parts[0] if len(parts) == 1 and not ends else b"(?:" + b"|".join(parts) + b")"
    return inner + b"?" if ends and parts else (b"" if ends else inner)


def _any_within(places: Sequence[int], first: int, last: int) -> bool:
    index = bisect_left(places, first)
    return index < len(places) and places[index] <= last


def _walk(started: set[bytes], anywhere: set[bytes]) -> bytes:
    """Matches as far as no prefix can count: `started` where a word begins, `anywhere` anywhere."""
    firsts = b"".join(re.escape(byte) for byte in sorted({word[:1] for word in started}))
    begins = rb"(?!(?=[%b])%b)" % (firsts, any_of(started))
    signs = {anchor for anchor in anywhere if not anchor[:1].isalnum()}
    other = b"".join(re.escape(byte) for byte in sorted({word[:1] for word in signs}))
    chunk = rb"[A-Za-z0-9]++(?!%b)_*+" % _at_sign(anywhere - signs)
    # After an escape a word begins too: `\\n`, `\\u003d`, `%3D`.
    escape = rb"(?<=[\\%])(?:(?<=\\)(?:[nrtbf]|u[0-9A-Fa-f]{4})|(?<=%)[0-9A-Fa-f]{2})"
    return rb"(?:[^A-Za-z0-9%b]++|%b(?:%b|(?:%b)++)|(?!%b)[%b])*+" % (
        *(other, begins, escape, chunk),
        *(any_of(signs), other),
    )


def _at_sign(prefixes: set[bytes]) -> bytes:
    """Matches at the first sign of one of these prefixes, which is neither a letter nor a digit."""
    heads = {prefix: _HEAD.match(prefix) for prefix in prefixes}
    table: dict[bytes, dict[bytes, list[bytes]]] = {}
    for prefix, head in heads.items():
        at = head.end() if head else 0
        table.setdefault(prefix[at : at + 1], {}).setdefault(prefix[at + 1 :], []).append(prefix)
    return b"(?:%b)" % b"|".join(
        re.escape(sign)
        + b"(?:%b)" % b"|".join(_behind(rest, found) for rest, found in sorted(rests.items(), reverse=True))
        for sign, rests in sorted(table.items())
    )


def _behind(rest: bytes, prefixes: list[bytes]) -> bytes:
    """Matches the rest of these prefixes if one of them stands here as a whole."""
    lengths = sorted({len(prefix) for prefix in prefixes})
    whole = b"|".join(
        b"(?<=%b)" % b"|".join(re.escape(p) for p in sorted(prefixes) if len(p) == length) for length in lengths
    )
    last = b"".join(re.escape(bytes([byte])) for byte in sorted({p[len(p) - len(rest) - 2] for p in prefixes}))
    before = b"".join(re.escape(bytes([byte])) for byte in sorted({p[len(p) - len(rest) - 3] for p in prefixes}))
    near = b"" if rest else b"(?<=[%b][%b].)" % (before, last)
    return re.escape(rest) + near + b"(?:%b)" % whole
