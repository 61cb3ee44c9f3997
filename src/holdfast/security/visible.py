"""The bytes a person would see: colour codes taken out, with the way back to the raw ones.

A token that `grep` or a test runner has coloured in parts must not slip by. At most four codes in a
row are taken out, so that the raw bytes behind a bounded stretch of visible ones are bounded too.
"""

from bisect import bisect_left, bisect_right

from holdfast.patterns import regex
from holdfast.security.shapes import Shape

_COLOUR = rb"\x1b\[[0-9;:?]{0,24}[A-Za-z]"
_COLOURS = regex(rb"(?:%b){1,4}(?!%b)" % (_COLOUR, _COLOUR))
_UNDECIDED = regex(rb"(?:%b)*(?:\x1b(?:\[[0-9;:?]{0,24})?)?" % _COLOUR)
# What stands before may be the end of an escape: `\n`, `\u003d`, `%3D`.
_ESCAPE = regex(rb"(?s:.*)(?:\\[nrtbf]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2})")
_LOWER = frozenset(b"abcdefghijklmnopqrstuvwxyz")
_ALPHA = _LOWER | frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_LETTERS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")


class View:
    """The visible bytes: colour codes taken out, with the way back to the raw ones."""

    __slots__ = ("_raw", "_removed", "base", "cuts", "edge", "text")

    def __init__(self, raw: bytes, context: bytes, after_secret: bool, *, final: bool) -> None:
        self._raw = raw
        self.base = len(context)
        self.edge = self.base if after_secret else -1  # where the last redaction ended
        self.cuts: list[int] = []  # visible places where colour codes were taken out
        self._removed: list[int] = [0]  # how many raw bytes were taken out up to the n-th cut
        self.text = context + self._visible(raw, final=final)

    def _visible(self, raw: bytes, *, final: bool) -> bytes:
        if b"\x1b" not in raw:
            return raw
        decided = len(raw) if final else _decided(raw)
        pieces, position = [], 0
        for match in _COLOURS.finditer(raw):
            if match.start() >= decided:
                break
            pieces.append(raw[position : match.start()])
            position = match.end()
            self._removed.append(self._removed[-1] + match.end() - match.start())
            self.cuts.append(self.base + match.end() - self._removed[-1])
        pieces.append(raw[position:decided])
        return b"".join(pieces)

    def _after(self, place: int) -> int:
        """The raw place just after the visible byte before `place`."""
        return place - self.base + self._removed[bisect_left(self.cuts, place)]

    def _at(self, place: int) -> int:
        """The raw place of the visible byte at `place`."""
        return place - self.base + self._removed[bisect_right(self.cuts, place)]

    def between(self, start: int, stop: int) -> bytes:
        """The raw bytes from `start` on; codes just before `stop` stay with what comes next."""
        return self._raw[self._after(start) : self._after(stop)]

    def before_secret(self, start: int, secret: int) -> bytes:
        """The raw bytes up to a secret, with the codes that colour it."""
        return self._raw[self._after(start) : self._at(secret)]

    def tail(self, start: int) -> bytes:
        """All raw bytes from `start` on."""
        return self._raw[self._after(start) :]

    def word_starts(self, place: int) -> bool:
        """Whether a word can start here: after no letter, after a colour code or after a redaction."""
        if place in (0, self.edge):
            return True
        if self.text[place - 1] not in _LETTERS or _ESCAPE.fullmatch(self.text, max(0, place - 8), place):
            return True
        cut = bisect_left(self.cuts, place)
        return cut < len(self.cuts) and self.cuts[cut] == place

    def may_start(self, place: int, shape: Shape) -> bool:
        """Whether a shape can start here: where a word does, or a name within one; or anywhere."""
        if not shape.boundary and not shape.beside:
            return True
        return self.word_starts(place) or (shape.beside and self._name_starts(place))

    def _name_starts(self, place: int) -> bool:
        """Whether a name starts here within a longer one: `MY_NAME`, `myName`; not `bar` in `scrollbar`."""
        before, here = self.text[place - 1], self.text[place]
        return before not in _ALPHA or (before in _LOWER and here not in _LOWER)


def _decided(raw: bytes) -> int:
    """Where a run of colour codes that may go on begins; a run decides itself within four codes."""
    start = raw.find(b"\x1b", max(0, len(raw) - 192))
    while start != -1:
        if _UNDECIDED.fullmatch(raw, start):
            return start
        start = raw.find(b"\x1b", start + 1)
    return len(raw)
