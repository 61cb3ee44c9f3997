"""Where one entry of a file ends and the next begins: people may write several into one file.

An entry begins at the top of the file. A further one begins at a line `---` that opens a block of lines
without a blank line among them, ended by the next line `---`, of which one begins with `id:` or `type:`.
Any other `---` is a rule drawn in the text, and whatever stands between code fences is only shown there.
Pure: what the pieces say is `store.entries`' business.
"""

from holdfast.patterns import regex
from holdfast.values import frozen

_RULE = "---"
_NAMED = ("id:", "type:")
_FENCE = regex(r" {0,3}(`{3,}|~{3,})([^\r\n]*)")


@frozen
class Piece:
    """One entry's own text within a file: from its first line to the end of its last that is not blank."""

    text: str
    line: int  # of the file, from 1
    start: int  # characters of the file before it

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def pieces(text: str) -> list[Piece]:
    """The entries of a file in their order; what stands before the first is a piece of its own.

    The only entry of a file is the whole file, byte for byte.
    """
    if is_single(text):
        return [Piece(text, 1, 0)]
    lines = text.split("\n")
    starts = _starts([line.removesuffix("\r") for line in lines])
    if starts[0] != 0:
        starts.insert(0, 0)
    if len(starts) == 1:
        return [Piece(text, 1, 0)]
    places = _places(lines)
    ends = [*(places[start] for start in starts[1:]), len(text)]
    return [
        Piece(_trimmed(text[places[start] : end]), start + 1, places[start])
        for start, end in zip(starts, ends, strict=True)
    ]


def is_single(text: str) -> bool:
    """Whether a file cannot hold more than one entry; most are told so without a closer look."""
    return text.removeprefix("\ufeff").startswith(_RULE) and text.count("\n---") < 3


def has_open_fence(text: str) -> bool:
    """Whether a code fence begins in a text and does not end there: what follows would be part of it."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    fences, at = _Fences(lines), 0
    while at < len(lines):
        if _opening(lines[at]):
            end = fences.end(at)
            if end is None:
                return True
            at = end
        at += 1
    return False


def _places(lines: list[str]) -> list[int]:
    places, at = [], 0
    for line in lines:
        places.append(at)
        at += len(line) + 1
    return places


def _trimmed(text: str) -> str:
    """A text without the blank lines at its end, its last line whole."""
    bare = text.rstrip()
    rest = text[len(bare) :]
    return bare + rest[: rest.find("\n") + 1] if bare else text


def _starts(lines: list[str]) -> list[int]:
    """The lines on which entries begin."""
    found, at, fences = [], 0, _Fences(lines)
    if lines[0].removeprefix("\ufeff") == _RULE:
        found.append(0)
        at = (_next_rule(lines, 1) or len(lines)) + 1
    while at < len(lines):
        if lines[at] == _RULE and (end := _front_end(lines, at)) is not None:
            found.append(at)
            at = end
        else:
            at = fences.end(at) or at  # one that never ends is none
        at += 1
    return found or [0]


def _next_rule(lines: list[str], at: int) -> int | None:
    return next((n for n in range(at, len(lines)) if lines[n] == _RULE), None)


def _front_end(lines: list[str], at: int) -> int | None:
    """Where the frontmatter that opens here ends; None if it is none."""
    named = False
    for number in range(at + 1, len(lines)):
        line = lines[number]
        if line == _RULE:
            return number if named else None
        if not line.strip():
            return None
        named = named or line.startswith(_NAMED)
    return None


def _opening(line: str) -> str | None:
    found = _FENCE.match(line)
    if found is None or (found[1][0] == "`" and "`" in found[2]):  # words between backticks, on one line
        return None
    return found[1]


class _Fences:
    """Code fences among some lines, each looked for once: a file may open thousands and close none."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._endless: dict[str, int] = {}  # sign to the length from which on none ends any more

    def end(self, at: int) -> int | None:
        """The line that ends the fence which opens here; None if none opens, or it never ends."""
        fence = _opening(self._lines[at])
        if fence is None or len(fence) >= self._endless.get(fence[0], len(fence) + 1):
            return None
        for number in range(at + 1, len(self._lines)):
            found = _FENCE.match(self._lines[number])
            if found and found[1].startswith(fence) and not found[2].strip():
                return number
        self._endless[fence[0]] = len(fence)
        return None
