"""Long words, in which alone issued tokens are sought, and such as may be text in base64.

Most long words are ids, hashes and names. One walk over each shows that no token's prefix stands where one
could count: where a word begins, or, for prefixes that count anywhere, before their first sign that is
neither letter nor digit. Only where the walk ends early are the prefixes themselves searched for.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from holdfast.patterns import regex
from holdfast.security.decoded import starts_base64
from holdfast.security.shapes import BESIDE, NEAR, WORD, WORD_BYTES, Shape

_IS_WORD = bytes(1 if byte in WORD_BYTES else 0 for byte in range(256))
_LONG_MARKS = b"\x01" * WORD
_LONG = regex(rb"[A-Za-z0-9_+-]{%d}" % WORD)
_BACK = 64  # bytes before the place looked from that a long word may reach back
# Every token is at least `WORD` bytes of the same alphabet in a row. Where there are none after a long word,
# no token that has no long word of its own begins there, and none goes on there.
_NO_TOKEN = regex(rb"[^A-Za-z0-9_+./:=%%~-]++(?:[A-Za-z0-9_+./:=%%~-]{1,%d}+[^A-Za-z0-9_+./:=%%~-]++)*+" % (WORD - 1))
_PARTED = regex(rb"[./:=%~]")
_GROUPING = regex(rb"\(\?(?:<?[=!]|:)")
# What stands before a long word: nothing of it, a byte that tokens hold too, or a part of it or an escape.
_FREE, _PARTS, _JOINED = 0, 1, 2
_KINDS = bytes(_JOINED if byte in WORD_BYTES + b"%\\" else _PARTS if byte in b"./:=~" else _FREE for byte in range(256))
_BACKSLASH, _BREAKS = 92, b"nrt"
_HEAD = regex(rb"[A-Za-z0-9]*")
_REMEMBERED, _SHORT = 1 << 13, 80  # how many words that hold nothing are remembered, and how long they may be

# What may stand between a key and its value: separators, and before the value blanks, quotes and brackets.
_ASSIGNS = frozenset((b"=", b":", b">", b"|"))
_OPENING = b" \t\"'`\\"
_TWO_DIGITS = regex(rb"[0-9][A-Za-z_-]{1,24}[0-9]")  # a random word holds digits with letters between
_TAIL = 12
_WITHIN = b"./|"
_VALUE = WORD_BYTES + b"./|~"
_IS_OPENING = bytes(byte in _OPENING for byte in range(256))
_NOT_ASSIGNED = bytes(byte not in b"=:>" + _OPENING + _WITHIN for byte in range(256))

Spans = list[tuple[int, int]]


class Words:
    """Finds where issued tokens begin."""

    __slots__ = ("_anywhere", "_beside", "_boring", "_dull", "_keys", "_parted", "_prefixes", "_shapes")

    def __init__(self, shapes: Sequence[Shape]) -> None:
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
        for begin, end in words:
            yield from self._searched(text, max(position, begin - NEAR), end + NEAR, known)

    def _searched(self, text: bytes, first: int, last: int, known: int) -> Iterator[tuple[int, int]]:
        prefix = _prefix(self._prefixes)
        found = prefix.search(text, first, last)
        while found is not None:
            start = found.start()
            for number, shape in self._shapes[found.group()]:
                if shape.may(text, start, known):
                    yield start, number
            found = prefix.search(text, start + 1, last)

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
            for found in _provider(self._beside[0][1].anchors).finditer(text[first:begin].lower()):
                for number, shape in self._beside:
                    if shape.may(text, first + found.start(), known):
                        yield first + found.start(), number

    def _names_one(self, key: bytes) -> bool:
        if len(self._keys) >= _REMEMBERED:
            self._keys.clear()
        self._keys[key] = _provider(self._beside[0][1].anchors).search(key.lower()) is not None
        return self._keys[key]

    def begin_here(self, text: bytes, place: int, known: int) -> Iterator[tuple[int, int]]:
        """The issued tokens that begin at this very place, whatever stands before it."""
        found = _prefix(self._prefixes).match(text, place)
        if found is not None and _LONG.search(text, max(0, found.end() - 2 * NEAR), place + NEAR + WORD):
            for number, shape in self._shapes[found.group()]:
                if shape.may(text, place, known):
                    yield place, number


@cache
def _provider(names: tuple[bytes, ...]) -> re.Pattern[bytes]:
    return re.compile(any_of(names))


@cache
def _prefix(prefixes: frozenset[bytes]) -> re.Pattern[bytes]:
    return re.compile(any_of(prefixes))


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
    place = start + 1 if before == _BACKSLASH and text[start] in _BREAKS else start
    return place if starts_base64(text, place) else None


def is_parted(shape: Shape) -> bool:
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
