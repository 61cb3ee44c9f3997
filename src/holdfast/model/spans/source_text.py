"""Source text without its strings and comments: which bracket closes which, and what a symbol is.

Masked text keeps its length and its lines, so a position here is a position there. The patterns never backtrack
(possessive), and what is not closed ends with its line or with the file: a minified or broken file takes no longer
than another.
"""

import bisect
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence

from holdfast.patterns import PatternFile, regex
from holdfast.values import frozen


@frozen
class Symbol:
    name: str  # qualified: Class.method
    first: int  # counted from 1
    last: int
    body: bool = True  # False: only declared here; a definition of the same name counts before it
    also: str = ""  # another name by which people know it: a heading's text


@frozen
class SymbolPart:
    """A symbol that does not know yet what it lies in."""

    name: str
    first: int
    last: int
    body: bool = True
    counts: bool = True  # False: it only lends its name to what is in it (an `impl`, an `extension`)
    start: int = -1  # characters: where it begins, where its head ends, where it ends; for parts of one line
    opens: int = -1
    end: int = -1


def qualified(parts: Iterable[SymbolPart]) -> list[Symbol]:
    """Each part under the names of those around it, in the order of the file."""
    found: list[Symbol] = []
    around: list[tuple[str, SymbolPart]] = []  # what is open, with its qualified name
    for part in sorted(parts, key=lambda part: (part.first, -part.last, part.start)):
        # One may have ended earlier on the same line.
        while around and (around[-1][1].last < part.last or 0 <= around[-1][1].end < part.start):
            around.pop()
        outer = around[-1][1] if around else part
        same_lines = (outer.first, outer.last) == (part.first, part.last)
        inside = 0 <= outer.opens <= part.start and part.end <= outer.end
        twin = bool(around) and same_lines and not inside
        before = around[-2][0] if twin and len(around) > 1 else around[-1][0] if around and not twin else ""
        name = f"{before}.{part.name}" if before else part.name
        if part.counts:
            found.append(Symbol(name, part.first, part.last, part.body))
        if not twin:
            around.append((name, part))
    return list(dict.fromkeys(found))


def trimmed(lines: Sequence[bytes], first: int, last: int) -> int:
    """The last line of a part that is not blank; lines counted from 1."""
    while last > first and not lines[last - 1]:
        last -= 1
    return last


_MASKS = PatternFile(__file__)
_NOT_NEWLINE = regex(r"[^\n]")
_COMMENTS = ("//", "/*", "#", "--", "\\")
_NO_COMMENTS = ("//go:", "#[")
_BRACKETS = regex(r"[()\[\]{}]")
_OPENS = {")": "(", "]": "[", "}": "{"}


def masked(text: str, kind: str) -> str:
    """The text with every string and comment blanked out; of a string its ends stay, as quotes."""
    mask: re.Pattern[str] = getattr(_MASKS, kind)
    return mask.sub(_blanked, text)


def long_strings(text: str, kind: str) -> list[tuple[int, int]]:
    """Where strings of several lines begin and end."""
    found = (hit for hit in getattr(_MASKS, kind).finditer(text) if "\n" in hit[0])
    return [hit.span() for hit in found if not hit[0].startswith(_COMMENTS)]


def code_pieces(text: str, kind: str) -> Iterator[tuple[str, bool]]:
    """The text without its comments, in pieces: code, and strings (True) as they are written.

    What only looks like a comment stays: an address in running text, an attribute, a directive to the compiler.
    """
    at = 0
    for found in getattr(_MASKS, kind).finditer(text):
        yield text[at : found.start()], False
        at, hit = found.end(), found[0]
        is_address = hit.startswith("//") and text[: found.start()].endswith(":")
        if not hit.startswith(_COMMENTS) or hit.startswith((*_NO_COMMENTS, "\\")) or is_address:
            yield hit, True
        else:
            yield " ", False
    yield text[at:], False


def _blanked(found: re.Match[str]) -> str:
    blank = _NOT_NEWLINE.sub(" ", found[0])
    if found[0].startswith(_COMMENTS) or len(blank) < 2 or "\n" in (blank[0], blank[-1]):
        return blank
    return f'"{blank[1:-1]}"'  # a line that ends with a string does not end with what stands before it


class Brackets:
    """Which bracket closes which, and what encloses a position; read once from masked text."""

    def __init__(self, text: str, only: str = "([{") -> None:
        self._opens = array("q")
        self._closes = array("q")
        self._around = array("q")  # for each pair the number of the pair around it, -1 at the top
        self._number: dict[int, int] = {}
        stack: list[int] = []
        for found in _BRACKETS.finditer(text):
            char, at = found[0], found.start()
            if char in only:
                self._around.append(stack[-1] if stack else -1)
                self._number[at] = len(self._opens)
                stack.append(len(self._opens))
                self._opens.append(at)
                self._closes.append(-1)
            elif (opener := _OPENS.get(char)) and opener in only:
                # The nearest bracket of this kind; what was left open in between stays unclosed.
                near = range(len(stack) - 1, max(-1, len(stack) - 9), -1)
                depth = next((n for n in near if text[self._opens[stack[n]]] == opener), None)
                if depth is not None:
                    self._closes[stack[depth]] = at
                    del stack[depth:]

    def closing(self, opening: int) -> int | None:
        """The position of the bracket that closes the one at a position; None if nothing does."""
        number = self._number.get(opening)
        return None if number is None or self._closes[number] < 0 else self._closes[number]

    def around(self, at: int) -> int | None:
        """The position of the innermost bracket that is open at a position."""
        number = bisect.bisect_left(self._opens, at) - 1
        while number >= 0:
            if self._closes[number] >= at:
                return self._opens[number]
            number = self._around[number]
        return None


class MaskedLines:
    """From positions to lines, counted from 1."""

    def __init__(self, text: str) -> None:
        self.starts: Sequence[int] = [0, *(found.end() for found in re.finditer("\n", text))]

    def at(self, position: int) -> int:
        return bisect.bisect_right(self.starts, position)
