"""The places in a text at which a rule could begin; only there are rules tried.

Plain text must cost next to nothing. One pass finds the everyday words that rules begin with (`password`, `token`,
`key`, `://`), another the long words near which issued tokens stand (`security.encoded_words`).

Each everyday word holds one of a few stems, and each stem a byte that is rare in ordinary text, its pivot. In a folded
copy all pivots are one and the same byte, so that a single search finds every stem. Too many hits are harmless: the
rules decide.
"""

import re
from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from holdfast.security import encoded_words
from holdfast.security.encoded_words import BASE64, Coding, LongWords, long_words, packed
from holdfast.security.rules import REACH, Patience, SecretShape, UserHits, UserRule, shapes

_PIVOTS = b'qzj:"_kbgpc'  # the rarest first
FOLD = bytes(1 if byte in _PIVOTS else byte for byte in bytes(range(256)).lower())
OPTIONS = (b" -u", b" --user")  # which hold no rare byte, and are searched for as they are
# What follows the most frequent stems wherever a rule of theirs matches: a name that goes on, a quote and
# a separator; a line's end; or a blank, if it is an option.
_NAMED = (
    rb"(?:[A-Za-z0-9_-]{0,40}+(?:\\{0,15}[\"']\]?)?[ \t]{0,8}+[:=!]"
    rb"|(?:\\{0,15}[\"']\]?)?[ \t]{0,12}+[|>\\\r\n]| (?<=[i-](?i:%b) ))"
)
_FREQUENT = (b"token", b"secret", b"key")


class _Anchor(NamedTuple):
    """One way a shape may begin, seen from the pivot that was found."""

    before: int  # how many bytes before the pivot it begins
    anchor: bytes
    fold: bool
    number: int
    shape: SecretShape


class Stems:
    """Finds where shapes begin that a stem shows."""

    __slots__ = ("_anchors", "_options", "_search")

    def __init__(self, shapes: Sequence[SecretShape]) -> None:
        anchors = [
            _Anchor(pivot_of(anchor), anchor, shape.fold, number, shape)
            for number, shape in enumerate(shapes)
            for anchor in (() if shape.issued or shape.beside or shape.anchors == OPTIONS else shape.anchors)
        ]
        self._options = next((n, shape) for n, shape in enumerate(shapes) if shape.anchors == OPTIONS)
        order: list[bytes] = []  # which anchor each group of the expression stands for
        # Each different anchor with what follows its pivot.
        rests = {(one.lower().translate(FOLD)[before + 1 :], one.lower()) for before, one, *_ in anchors}
        self._search = re.compile(b"\x01" + _branches(sorted(rests), order)).search
        self._anchors = tuple(_around(anchor, anchors) for anchor in order)

    def any_in(self, text: bytes) -> bool:
        """Whether a shape begins anywhere."""
        folded, known = text.translate(FOLD), len(text)
        found = self._search(folded)
        if found is not None and next(self._from(text, folded, found, known), None) is not None:
            return True
        return b"-u" in text and next(self._find_options(text, 0, known), None) is not None

    def find(self, text: bytes, position: int, known: int) -> Iterator[tuple[int, int]]:
        """Where shapes begin, each with its number; from `known` on, where they may."""
        yield from self._find_options(text, position, known)
        folded = text.translate(FOLD)
        yield from self._from(text, folded, self._search(folded, position), known)

    def _from(self, text: bytes, folded: bytes, found: re.Match[bytes] | None, known: int) -> Iterator[tuple[int, int]]:
        """Where shapes begin, from the pivot on that was found."""
        while found is not None:
            pivot = found.start()
            place, follow, anchors = self._anchors[(found.lastindex or 1) - 1]
            if follow is None or pivot - place > known or follow(text, pivot - place):
                for before, anchor, fold, number, shape in anchors:
                    start = pivot - before
                    if _stands(text, anchor, start, fold=fold) and shape.may(text, start, known):
                        yield start, number
            found = self._search(folded, pivot + 1)

    def _find_options(self, text: bytes, position: int, known: int) -> Iterator[tuple[int, int]]:
        number, shape = self._options
        place = text.find(b"-u", position)
        while place != -1:
            for start in (place - 1, place - 2):
                if start >= 0 and text.startswith(OPTIONS, start) and shape.may(text, start, known):
                    yield start, number
            place = text.find(b"-u", place + 1)


@cache
def _after(word: bytes) -> re.Pattern[bytes]:
    return re.compile(b"(?i:%b)" % word + _NAMED % word)


def may_follow(text: bytes, anchor: bytes, place: int) -> bool:
    """Whether what follows an anchor here lets a rule of it match, as far as a short look tells."""
    return anchor not in _FREQUENT or _after(anchor).match(text, place) is not None


def pivot_of(anchor: bytes) -> int:
    """Where the pivot of an anchor stands within it."""
    # Its last byte only if there is no other: what follows a pivot is compared faster than what precedes it.
    return next(place for end in (-1, None) for pivot in _PIVOTS if (place := anchor.lower()[:end].find(pivot)) != -1)


Follow = Callable[[bytes, int], object]


def _around(anchor: bytes, anchors: list[_Anchor]) -> tuple[int, Follow | None, tuple[_Anchor, ...]]:
    """What to try where this anchor stands folded: all that can stand around the same pivot."""
    place = pivot_of(anchor)
    others = tuple(other for other in anchors if _together(anchor, place, other.anchor, other.before))
    told = {other.anchor for other in others}
    follow = _after(anchor).match if told == {anchor} and anchor in _FREQUENT else None
    return place, follow, others


def _together(one: bytes, place: int, other: bytes, before: int) -> bool:
    """Whether two anchors, folded, can stand around the same pivot."""
    first = max(-place, -before)
    last = min(len(one) - place, len(other) - before)
    a, b = one.translate(FOLD), other.translate(FOLD)
    return a[place + first : place + last] == b[before + first : before + last]


def _stands(text: bytes, anchor: bytes, start: int, *, fold: bool) -> bool:
    if start < 0:
        return False
    return text[start : start + len(anchor)].lower() == anchor if fold else text.startswith(anchor, start)


def _branches(rests: list[tuple[bytes, bytes]], order: list[bytes]) -> bytes:
    """What may follow the pivot, branching byte by byte; an empty group tells which anchor it was."""
    branches: dict[bytes, list[tuple[bytes, bytes]]] = {}
    ends: list[bytes] = []
    for rest, anchor in rests:
        if rest:
            branches.setdefault(rest[:1], []).append((rest[1:], anchor))
        else:
            ends.append(anchor)
    parts = [re.escape(byte) + _branches(inner, order) for byte, inner in sorted(branches.items())]
    for anchor in ends:
        order.append(anchor)
        behind = b"(?<=%b)" % re.escape(anchor.translate(FOLD)) if pivot_of(anchor) else b""
        parts.append(behind + b"()")
    return parts[0] if len(parts) == 1 else b"(?:" + b"|".join(parts) + b")"


# Bytes that a process looks at rule by rule; compiling the search for all rules costs as much as an eighth of a
# megabyte, or as a few dozen texts, however short they are.
SMALL, _EACH = 1 << 17, 1 << 11
_looked = [0]  # how many it was so far
HOLD = 128  # an anchor, or the long word that shows one, may still be arriving in the last bytes
_CODINGS = (BASE64, encoded_words.PERCENT, encoded_words.ESCAPES)
_CODED = 1 << 16  # the number of the first coding; those of shapes are lower
_NUMBERS = {coding.name: _CODED + number for number, coding in enumerate(_CODINGS)}


class AnchorHits:
    """The places worth a look, from left to right."""

    __slots__ = ("_decode", "_found", "_known", "_next", "_text", "_user", "_users")

    def __init__(
        self,
        text: bytes,
        position: int,
        extra: Sequence[UserRule],
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
            found.update(
                (place, _NUMBERS[coding.name]) for place, coding in encoded_words.escaped_words(text, position)
            )
            places = (packed(text, begin) for begin, _ in words)
            found.update((place, _NUMBERS[BASE64.name]) for place in places if place is not None)
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
        for coding in encoded_words.begin_here(self._text, place) if self._decode else ():
            self.again(place, coding)
        for hit in _words().begin_here(self._text, place, self._known):
            at = bisect_left(self._found, hit, lo=self._next)
            if self._found[at : at + 1] != [hit]:
                self._found.insert(at, hit)

    def peek(self, position: int) -> tuple[int, SecretShape | Coding | UserRule] | None:
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
        if self._next >= len(self._found):
            return None
        number = self._found[self._next][1]
        return ours, shapes()[number] if number < _CODED else _CODINGS[number - _CODED]

    def take(self) -> None:
        """Take the place that `peek` gave last."""
        if self._user is not None:
            self._user.take()
        else:
            self._next += 1


def none_in(text: bytes) -> bool:
    """Whether no rule of ours begins anywhere: true of most texts, and cheap to say."""
    known = len(text)
    _looked[0] += known + _EACH
    is_first = _looked[0] <= SMALL and not _stems.cache_info().currsize
    if _begins_in(text) if is_first else _stems().any_in(text):
        return False
    if (b"%" in text or b"\\" in text) and next(encoded_words.escaped_words(text, 0), None) is not None:
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
        shape.compiled().match(text, place)
        for shape in shapes()
        for anchor in shape.anchors
        if anchor in (low if shape.fold else text)
        for place in _places(low if shape.fold else text, anchor)
        if may_follow(text, anchor, place)
    )


def _places(text: bytes, word: bytes) -> Iterator[int]:
    place = text.find(word)
    while place >= 0:
        yield place
        place = text.find(word, place + 1)


@cache
def _stems() -> Stems:
    return Stems(shapes())


@cache
def _words() -> LongWords:
    return LongWords(shapes())
