"""Where rules begin whose anchor is an everyday word: `password`, `token`, `key`, `://`.

Each anchor holds one of a few stems, and each stem a byte that is rare in ordinary text, its pivot. In a
folded copy all pivots are one and the same byte, so that a single search finds every stem; anchors, and
then the rules themselves, are tried only there. What is found too much is harmless, for the rules decide.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from holdfast.security.shapes import Shape

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
    shape: Shape


class Stems:
    """Finds where shapes begin that a stem shows."""

    __slots__ = ("_anchors", "_options", "_search")

    def __init__(self, shapes: Sequence[Shape]) -> None:
        anchors = [
            _Anchor(pivot_of(anchor), anchor, shape.fold, number, shape)
            for number, shape in enumerate(shapes)
            for anchor in (() if shape.issued or shape.beside or shape.anchors == OPTIONS else shape.anchors)
        ]
        self._options = next((n, shape) for n, shape in enumerate(shapes) if shape.anchors == OPTIONS)
        order: list[bytes] = []  # which anchor each group of the expression stands for
        self._search = re.compile(b"\x01" + _branches(_rests(anchors), order)).search
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


def _rests(anchors: list[_Anchor]) -> list[tuple[bytes, bytes]]:
    """Each different anchor with what follows its pivot."""
    return sorted({(anchor.lower().translate(FOLD)[before + 1 :], anchor.lower()) for before, anchor, *_ in anchors})


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
