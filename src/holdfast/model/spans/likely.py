"""Where a symbol seems to be, without reading the whole file: for whoever knows the hash of its text.

A guess costs a look at a few lines and is proved by the hash; only where no guess fits, the file is parsed.
"""

import bisect
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from holdfast.model.spans import python

_GUESSES = 40  # lines that mention the name
_FAR = 2000  # lines down to the end of a definition
_CLOSERS = (b"}", b")", b"]", b"end")
_ABOVE = (b"@", b"#[", b"[", b"template")


class Guesses:
    """The lines of a file, asked for many names."""

    def __init__(self, path: str, lines: Sequence[bytes]) -> None:
        self._lines, self._is_python = lines, path.endswith((".py", ".pyi"))
        self._whole = b"\n".join(lines)
        self._starts = [0, *(found.end() for found in re.finditer(b"\n", self._whole))]

    def places(self, name: str) -> Iterator[tuple[int, int]]:
        """First and last lines, counted from 1, of what may be this symbol."""
        for at in self._mentions(name):
            yield from self._extents(at)

    def _mentions(self, name: str, before: bytes = b"") -> list[int]:
        """The first lines that mention the last part of a name."""
        leaf = re.escape(name.rpartition(".")[2].encode())
        found = re.finditer(before + rb"(?<![\w$])" + leaf + rb"(?![\w$])", self._whole)
        hits = islice(found, _GUESSES)
        return list(dict.fromkeys(bisect.bisect_right(self._starts, hit.start()) - 1 for hit in hits))

    def is_sure(self, name: str, place: tuple[int, int]) -> bool:
        """Whether these lines can only be the symbol of this name, not one that is called alike elsewhere."""
        if self._is_python:
            return python.qualifier(self._lines, place[0] - 1) == name.rpartition(".")[0]
        rows = self._mentions(name, rb"(?<!this\.)(?<!self\.)")
        return len(rows) < _GUESSES and all(place[0] <= row + 1 <= place[1] for row in rows)

    def _extents(self, at: int) -> Iterator[tuple[int, int]]:
        if self._is_python and python.opens(self._lines[at]):
            yield python.extent(self._lines, at)
            return
        first = at
        while first and self._lines[first - 1].lstrip().startswith(_ABOVE):
            first -= 1
        for last in (at, self._closing(at)):
            yield at + 1, last + 1
            if first != at:
                yield first + 1, last + 1

    def _closing(self, at: int) -> int:
        """The line that closes what a line opens, by its indentation."""
        indent = _indent(self._lines[at])
        for row in range(at + 1, min(len(self._lines), at + _FAR)):
            line = self._lines[row]
            if line and _indent(line) <= indent and not line.lstrip().startswith(b"{"):
                return row if line.lstrip().startswith(_CLOSERS) else at
        return at


def _indent(line: bytes) -> int:
    return len(line) - len(line.lstrip())
