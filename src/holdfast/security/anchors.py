"""Where it is worth to look: the places in a text at which a rule could begin.

Plain text must cost next to nothing, so one pass finds all everyday words that rules begin with
(`security.stems`), and another the long words near which alone issued tokens are sought (`security.words`).
"""

import re
from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from functools import cache

from holdfast.security.decoded import BASE64, ESCAPES, PERCENT, Coding, begin_here, escaped_words
from holdfast.security.rules import Patience, Rule, UserHits
from holdfast.security.shapes import REACH, Shape, shapes
from holdfast.security.stems import Stems, may_follow
from holdfast.security.words import Spans, Words, long_words, packed

SMALL = 1 << 14  # bytes up to which a first text is looked at without the search for all rules at once
HOLD = 128  # an anchor, or the long word that shows one, may still be arriving in the last bytes
_CODINGS = (BASE64, PERCENT, ESCAPES)
_CODED = 1 << 16  # the number of the first coding; those of shapes are lower
_NUMBERS = {coding.name: _CODED + number for number, coding in enumerate(_CODINGS)}


class Hits:
    """The places worth a look, from left to right."""

    __slots__ = ("_decode", "_found", "_known", "_next", "_text", "_user", "_users")

    def __init__(
        self,
        text: bytes,
        position: int,
        extra: Sequence[Rule],
        patience: Patience,
        *,
        cuts: Sequence[int] = (),
        decode: bool = True,
        final: bool = True,
    ) -> None:
        self._text, self._decode = text, decode
        known = len(text) if final else len(text) - REACH  # up to here, what a rule may look at is there
        found = set(_stems().find(text, position, known))
        words = long_words(text, position)
        if words:
            found.update(_words().beside(text, position, known, words))
            words = _words().worth(text, words, cuts)
            found.update(_words().issued(text, position, known, words))
        if decode:
            found.update(_escaped(text, position), _packed(text, words))
        self._found, self._known = sorted(found), known
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
        for hit in _words().begin_here(self._text, place, self._known):
            at = bisect_left(self._found, hit, lo=self._next)
            if self._found[at : at + 1] != [hit]:
                self._found.insert(at, hit)

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
        return (ours, _kind(self._found[self._next][1])) if self._next < len(self._found) else None

    def take(self) -> None:
        """Take the place that `peek` gave last."""
        if self._user is not None:
            self._user.take()
        else:
            self._next += 1


def none_in(text: bytes) -> bool:
    """Whether no rule of ours begins anywhere: true of most texts, and cheap to say."""
    known = len(text)
    is_first = len(text) <= SMALL and not _stems.cache_info().currsize
    if _begins_in(text) if is_first else _stems().any_in(text):
        return False
    if (b"%" in text or b"\\" in text) and next(escaped_words(text, 0), None) is not None:
        return False
    words = long_words(text, 0)
    if not words:
        return True
    if is_first:
        return not any(packed(text, begin) is not None for begin, _ in words)
    if next(_words().beside(text, 0, known, words), None) is not None:
        return False
    # What colour codes hide is not taken out here, so words may begin anywhere.
    words = _words().worth(text, words, None if b"\x1b" in text else ())
    if any(packed(text, begin) is not None for begin, _ in words):
        return False
    return next(_words().issued(text, 0, known, words), None) is None


def _begins_in(text: bytes) -> bool:
    """Whether any rule begins anywhere, looked for one by one.

    A command that shows a few lines would pay more for the search that finds all at once than for the look.
    """
    low = text.lower()
    return any(
        shape.compiled().match(text, found.start())
        for shape in shapes()
        for anchor in shape.anchors
        if anchor in (low if shape.fold else text)
        for found in re.finditer(re.escape(anchor), low if shape.fold else text)
        if may_follow(text, anchor, found.start())
    )


def _kind(number: int) -> Shape | Coding:
    return shapes()[number] if number < _CODED else _CODINGS[number - _CODED]


@cache
def _stems() -> Stems:
    return Stems(shapes())


@cache
def _words() -> Words:
    return Words(shapes())


def _packed(text: bytes, words: Spans) -> Iterator[tuple[int, int]]:
    """Where text in base64 may begin."""
    for begin, _ in words:
        if (place := packed(text, begin)) is not None:
            yield place, _NUMBERS[BASE64.name]


def _escaped(text: bytes, position: int) -> Iterator[tuple[int, int]]:
    """Where words in percent-encoding or JSON's escapes begin."""
    for place, coding in escaped_words(text, position):
        yield place, _NUMBERS[coding.name]
