"""Conflict markers in a text, taken apart: what each side said, and what was there before if they tell.

Whoever left them there does not matter: git in the middle of a merge, a stash that did not fit, an editor
on a forge. Lines may end in CRLF; the style with the base (`|||||||`) is understood.
"""

from holdfast.patterns import regex
from holdfast.values import field, frozen, mutable

_OURS = regex(r"<{7}(?: (.*))?")
_BASE = regex(r"\|{7}(?: .*)?")
_THEIRS = regex(r"={7}")
_END = regex(r">{7}(?: (.*))?")


@frozen
class Marked:
    """The sides of a text with conflict markers, whole, and what the markers call them."""

    ours: str
    theirs: str
    base: str | None  # None: the markers do not tell
    called_ours: str
    called_theirs: str


@mutable
class _Reading:
    """The sides as far as they have been read."""

    ours: list[str] = field(default_factory=list)
    base: list[str] = field(default_factory=list)
    theirs: list[str] = field(default_factory=list)
    names: list[tuple[str, str]] = field(default_factory=list)
    within: str = ""  # the side that the lines belong to; none: all of them
    hunks: int = 0
    bases: int = 0
    sound: bool = True

    def take(self, line: str) -> None:
        """Read one line: a marker where one may stand, else content."""
        within = self.within
        if not within and (found := _OURS.fullmatch(line)):
            self.within, self.hunks = "ours", self.hunks + 1
            self.names.append((found[1] or "", ""))
        elif within == "ours" and _BASE.fullmatch(line):
            self.within, self.bases = "base", self.bases + 1
        elif within in ("ours", "base") and _THEIRS.fullmatch(line):
            self.within = "theirs"
        elif within == "theirs" and (found := _END.fullmatch(line)):
            self.within = ""
            self.names[-1] = (self.names[-1][0], found[1] or "")
        else:
            self._add(line)

    def _add(self, line: str) -> None:
        if any(marker.fullmatch(line) for marker in (_OURS, _BASE, _END)):
            self.sound = False  # a marker where none belongs: nobody can say whose lines these are
        for name in (self.within,) if self.within else ("ours", "base", "theirs"):
            getattr(self, name).append(line)


def split(text: str) -> Marked | None:
    """The sides of a text; None if it has no markers, or they do not fit together."""
    if "<<<<<<<" not in text:
        return None
    reading = _Reading()
    for line in text.replace("\r\n", "\n").split("\n"):
        reading.take(line)
    if not reading.hunks or reading.within or not reading.sound:
        return None
    ours, theirs = (next(filter(None, side), "") for side in zip(*reading.names, strict=True))
    base = "\n".join(reading.base) if reading.bases == reading.hunks else None
    return Marked("\n".join(reading.ours), "\n".join(reading.theirs), base, ours, theirs)
