"""Where it is worth to look: the places in a text at which a rule could begin.

Plain text must cost next to nothing, so there is one literal search for each everyday word and one
search for long words, within which alone issued tokens are sought.
"""

import re
from bisect import insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from holdfast.security.carriers import CARRIERS
from holdfast.security.contexts import CONTEXTS
from holdfast.security.decoded import (
    BASE64,
    ESCAPED_BREAKS,
    ESCAPES,
    PERCENT,
    Coding,
    begin_here,
    escaped_words,
    starts_base64,
)
from holdfast.security.rules import Patience, Rule, UserHits
from holdfast.security.shapes import NEAR, REACH, WORD, WORD_BYTES, Shape
from holdfast.security.tokens import TOKENS

SHAPES = (*CONTEXTS, *CARRIERS, *TOKENS)
HOLD = 64  # an anchor, or the long word that shows one, may still be arriving in the last bytes
_IS_WORD = bytes(1 if byte in WORD_BYTES else 0 for byte in range(256))
_LONG_WORD = b"\x01" * WORD
_CODINGS = (BASE64, PERCENT, ESCAPES)
_NUMBERS = {coding.name: len(SHAPES) + number for number, coding in enumerate(_CODINGS)}
_KINDS: tuple[Shape | Coding, ...] = (*SHAPES, *_CODINGS)


class Hits:
    """The places worth a look, from left to right."""

    __slots__ = ("_decode", "_found", "_next", "_text", "_user", "_users")

    def __init__(
        self,
        text: bytes,
        position: int,
        extra: Sequence[Rule],
        patience: Patience,
        *,
        decode: bool = True,
        final: bool = True,
    ) -> None:
        self._text, self._decode = text, decode
        known = len(text) if final else len(text) - REACH  # up to here, what a rule may look at is there
        found = {*_literals(text, position, known), *_issued(text, position, known)}
        self._found = sorted(found | set(_encoded(text, position)) if decode else found)
        self._next = 0
        if extra:
            patience.looking_at(len(text) - position)
        self._users = [UserHits(text, rule, patience) for rule in extra]
        self._user: UserHits | None = None  # the one whose place was given last

    def again(self, place: int, coding: Coding) -> None:
        """Look at a long encoded word once more, further on."""
        insort(self._found, (place, _NUMBERS[coding.name]), lo=self._next)

    def after(self, place: int) -> None:
        """Look at what follows a redaction directly as words of its own: so will the next scan."""
        for coding in begin_here(self._text, place) if self._decode else ():
            self.again(place, coding)

    def peek(self, position: int) -> tuple[int, Shape | Coding | Rule] | None:
        """The next place from `position` on that was not taken yet."""
        while self._next < len(self._found) and self._found[self._next][0] < position:
            self._next += 1
        ours = self._found[self._next][0] if self._next < len(self._found) else len(self._text)
        self._user = None
        if self._users:
            self._user = min(self._users, key=lambda hits: hits.place(position))
        if self._user is not None and self._user.place(position) < ours:
            return self._user.place(position), self._user.rule
        self._user = None
        return (ours, _KINDS[self._found[self._next][1]]) if self._next < len(self._found) else None

    def take(self) -> None:
        """Take the place that `peek` gave last."""
        if self._user is not None:
            self._user.take()
        else:
            self._next += 1


def none_in(text: bytes) -> bool:
    """Whether no rule of ours begins anywhere: true of most texts, and cheap to say."""
    looks = (_literals(text, 0, len(text)), _issued(text, 0, len(text)), _encoded(text, 0))
    return all(next(found, None) is None for found in looks)


# Words that many anchors hold: one search for each, and a look around where it stands.
_STEMS = (
    *(b"pass", b"auth", b"login", b"cookie", b"key", b"secret", b"token", b"pwd", b"begin ", b"private"),
    *(b"hooks", b"basic ", b"bearer"),
)


class _Anchor(NamedTuple):
    """One way a shape may begin, seen from the stem that was found."""

    before: int  # how many bytes before the stem it begins
    anchor: bytes  # empty if the stem is all of it
    fold: bool
    number: int
    match: Callable[[bytes, int], object]


@cache
def _literal_anchors() -> tuple[tuple[bytes, tuple[_Anchor, ...]], ...]:
    """What is searched for, and with each the anchors that hold it."""
    table: dict[bytes, list[_Anchor]] = {}
    for number, shape in enumerate(SHAPES):
        for anchor in () if shape.issued else shape.anchors:
            lower = anchor.lower()
            stem = next((stem for stem in _STEMS if stem in lower), lower)
            whole = b"" if shape.fold and stem == anchor else anchor
            match = shape.compiled().match
            table.setdefault(stem, []).append(_Anchor(lower.index(stem), whole, shape.fold, number, match))
    return tuple((stem, tuple(anchors)) for stem, anchors in table.items())


def _literals(text: bytes, position: int, known: int) -> Iterator[tuple[int, int]]:
    """Where shapes begin whose anchor is an everyday word; from `known` on, where they may."""
    lower = text.lower()
    for stem, anchors in _literal_anchors():
        place = lower.find(stem, position)
        while place != -1:
            for before, anchor, fold, number, match in anchors:
                start = place - before
                if anchor and not (start >= 0 and (lower if fold else text).startswith(anchor, start)):
                    continue
                if start > known or match(text, start):
                    yield start, number
            place = lower.find(stem, place + 1)


@cache
def _issued_anchors() -> tuple[re.Pattern[bytes], dict[bytes, tuple[int, ...]]]:
    """One expression for all prefixes of issued tokens, and the shapes each may begin."""
    anchors = {anchor for shape in SHAPES if shape.issued for anchor in shape.anchors}
    shapes = {
        found: tuple(n for n, shape in enumerate(SHAPES) if shape.issued and found.startswith(shape.anchors))
        for found in anchors
    }
    return re.compile(_any_of(anchors)), shapes


def _any_of(words: Iterable[bytes]) -> bytes:
    """An expression for the longest of these words, branching byte by byte: faster than a flat list."""
    branches: dict[bytes, set[bytes]] = {}
    for word in words:
        branches.setdefault(word[:1], set()).add(word[1:])
    ends = branches.pop(b"", None) is not None
    parts = [re.escape(byte) + _any_of(rest) for byte, rest in sorted(branches.items())]
    inner = parts[0] if len(parts) == 1 and not ends else b"(?:" + b"|".join(parts) + b")"
    return inner + b"?" if ends and parts else (b"" if ends else inner)


def _issued(text: bytes, position: int, known: int) -> Iterator[tuple[int, int]]:
    """Where issued tokens begin, in or just before a long word; from `known` on, where they may."""
    anchors, shapes = _issued_anchors()
    for begin, end in _long_words(text, position):
        last = end + NEAR
        match = anchors.search(text, max(position, begin - NEAR), last)
        while match is not None:
            start = match.start()
            for number in shapes[match.group()]:
                if start > known or SHAPES[number].compiled().match(text, start):
                    yield start, number
            match = anchors.search(text, start + 1, last)


def _encoded(text: bytes, position: int) -> Iterator[tuple[int, int]]:
    """Where encoded words begin."""
    for place, coding in escaped_words(text, position):
        yield place, _NUMBERS[coding.name]
    for start, _ in _long_words(text, position):
        if start == 0 or text[start - 1] not in WORD_BYTES:
            place = start + 1 if text[start - 1 : start + 1] in ESCAPED_BREAKS else start
            if starts_base64(text, place):
                yield place, _NUMBERS[BASE64.name]


def _long_words(text: bytes, position: int) -> Iterator[tuple[int, int]]:
    """The words long enough to be a token, or what is left of one that began before `position`."""
    marks = text.translate(_IS_WORD)
    start = marks.find(_LONG_WORD, max(0, position - HOLD))
    while start != -1:
        end = marks.find(b"\x00", start)
        end = len(text) if end == -1 else end
        yield start, end
        start = marks.find(_LONG_WORD, end)
