"""One version of a file, asked about many spans: where each stands, and how it is cited.

A symbol whose hash is known is guessed first: a guess costs a look at a few lines and is proved by the hash. The file
is parsed only where no guess fits.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from holdfast.errors import BadInput, TooLarge
from holdfast.lazy_module import LazyModule
from holdfast.model.evidence import LinesEvidence, Span, SymbolEvidence
from holdfast.model.spans import file_lines as lines_of_text
from holdfast.model.spans.file_lines import Tables, digest, find, find_all, is_binary, is_costly, lines_of
from holdfast.model.text import visible

if TYPE_CHECKING:
    from holdfast.model.spans import code_meaning as meanings
    from holdfast.model.spans import symbols as naming
    from holdfast.model.spans.code_meaning import Meaning
    from holdfast.model.spans.source_text import Symbol
else:
    meanings = LazyModule("holdfast.model.spans.code_meaning")  # only what changed is compared by meaning
    naming = LazyModule("holdfast.model.spans.symbols")  # only memories that cite a symbol need it

_GUESSES = 40  # lines that mention the name, those that may define it first
_MENTIONS = 400  # a guess: bounds the search for a common word
_QUICK = 12  # guesses where an older version is asked
_DEFINE = (b"def", b"class", b"func", b"function", b"fn", b"type", b"struct", b"enum", b"interface", b"trait", b"const")
_FAR = 2000  # lines down to the end of a definition
_CLOSERS = (b"}", b")", b"]", b"end")
_ABOVE = (b"@", b"#[", b"[", b"template")
_CLOSED = (b")", b"]")  # how an annotation of several lines ends
_MOVED = 40  # lines by which the first line of a symbol may differ from where an earlier version of Holdfast saw it


class SymbolGuesses:
    """The lines of a file, asked for many names."""

    def __init__(self, path: str, lines: Sequence[bytes]) -> None:
        self._lines, self._is_python = lines, path.endswith((".py", ".pyi"))
        self._whole = b"\n".join(lines)
        self._starts = [0, *(found.end() for found in re.finditer(b"\n", self._whole))]

    def places(self, name: str) -> Iterator[tuple[int, int]]:
        """First and last lines, counted from 1, of what may be this symbol."""
        rows = self._mentions(name)
        for at in sorted(rows, key=lambda row: not self._may_define(name, row))[:_GUESSES]:
            yield from self._extents(at)

    def _may_define(self, name: str, row: int) -> bool:
        """Whether a line that mentions a name looks like its definition, not like a use of it."""
        before, _, after = self._lines[row].partition(name.rpartition(".")[2].encode())
        return before.rstrip().endswith(_DEFINE) or (
            after[:1] in (b"(", b"<", b"[") and not after.endswith((b";", b","))
        )

    def _mentions(self, name: str, before: bytes = b"") -> list[int]:
        """The first lines that mention the last part of a name."""
        leaf = re.escape(name.rpartition(".")[2].encode())
        found = re.finditer(before + rb"(?<![\w$])" + leaf + rb"(?![\w$])", self._whole)
        hits = islice(found, _MENTIONS)
        return list(dict.fromkeys(bisect.bisect_right(self._starts, hit.start()) - 1 for hit in hits))

    def is_sure(self, name: str, place: tuple[int, int]) -> bool:
        """Whether these lines can only be the symbol of this name, not one that is called alike elsewhere."""
        if self._is_python:
            return naming.qualifier(self._lines, place[0] - 1) == name.rpartition(".")[0]
        if self._may_be_marked(place[0] - 1):  # an annotation above would belong to it, too
            return False
        rows = self._mentions(name, rb"(?<!this\.)(?<!self\.)")
        return len(rows) < _GUESSES and all(place[0] <= row + 1 <= place[1] for row in rows)

    def _may_be_marked(self, at: int) -> bool:
        """Whether the code above a line looks like the end of an annotation; blank lines and comments are no code."""
        in_comment = False
        for row in range(at - 1, -1, -1):
            line = self._lines[row].strip()
            if in_comment or line.endswith(b"*/"):
                in_comment = b"/*" not in line
                line = line.partition(b"/*")[0].rstrip() if not in_comment else b""
            if line and not line.startswith(b"//"):
                code = line.partition(b" //")[0].rstrip()
                return line.startswith(_ABOVE) or line.endswith(_CLOSED) or code.endswith(_CLOSED)
        return False

    def _extents(self, at: int) -> Iterator[tuple[int, int]]:
        if self._is_python and naming.opens(self._lines[at]):
            yield naming.extent(self._lines, at)
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


MAX_BYTES = lines_of_text.MAX_BYTES


class FileVersion:
    """The lines of one version of a file; what is found out about them is remembered."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.is_binary = is_binary(data)
        self.lines: Sequence[bytes] = [] if self.is_binary else lines_of(data)
        self._size = len(data)
        self._tables: Tables = {}

    @property
    def _named(self) -> bool:
        """Whether symbols can be found in it."""
        return self._size <= naming.MAX_BYTES and not self.is_binary

    @cached_property
    def symbols(self) -> list[Symbol] | None:
        """Its symbols; None where none can be found."""
        return naming.symbols(self.path, self.lines) if self._named else None

    @cached_property
    def _guesses(self) -> SymbolGuesses:
        return SymbolGuesses(self.path, self.lines)

    def own(self, span: Span, *, quick: bool = False) -> tuple[int, int] | None:
        """First and last line of the cited text if it is where it was cited: at its lines, under its name.

        `quick` does not parse the file to be sure that it is not there.
        """
        match span:
            case LinesEvidence(first=first, last=last, hash=wanted):
                is_same = last <= len(self.lines) and self.hash(first, last, size=len(wanted)) == wanted
                return (first, last) if is_same else None
            case SymbolEvidence(name=name, hash=wanted):
                return self._own(name, wanted, quick=quick)

    def _own(self, name: str, wanted: str, *, quick: bool) -> tuple[int, int] | None:
        if not self._named:
            return None
        name = naming.plain_name(name)
        for place in islice(self._guesses.places(name), _QUICK if quick else None):
            if self.hash(*place, size=len(wanted)) == wanted:
                if self._guesses.is_sure(name, place):
                    return place
                break  # an equal text may be another's: the whole file tells whose it is
        else:
            if quick:
                return None
        called = (s for s in self.symbols or [] if s.name == name)
        return next(self._equal(((s.first, s.last) for s in called), wanted), None)

    def own_as_before(self, span: Span) -> tuple[int, int] | None:
        """First and last line of a symbol that was cited with fewer or more of the lines above it than count today.

        Earlier versions did not see annotations of several lines. Their receipts still hold where nothing changed.
        """
        if not isinstance(span, SymbolEvidence) or not self._named:
            return None
        for one in self.called(span.name):
            starts = range(max(1, one.first - _MOVED), min(one.last, one.first + _MOVED) + 1)
            if next(self._equal(((start, one.last) for start in starts), span.hash), None):
                return one.first, one.last
        return None

    def copies(self, span: Span) -> list[tuple[int, int]]:
        """Where else the cited text stands, the nearest first: it may have moved there, or be another's."""
        match span:
            case LinesEvidence(first=first, last=last, hash=wanted):
                size = last - first + 1
                start = find(self.lines, size, wanted, first - 1, self._tables)
                if start is None:
                    return []
                starts = find_all(self.lines, self.lines[start : start + size])
                starts.sort(key=lambda other: abs(other - first + 1))
                return [(other + 1, other + size) for other in starts]
            case SymbolEvidence(name=name, hash=wanted):
                return self._copies(name, wanted)

    def _copies(self, name: str, wanted: str) -> list[tuple[int, int]]:
        """While the name stands, only what is numbered like it; else any text that mentions the leaf."""
        if not self._named:
            return []
        base = name.rstrip("0123456789").removesuffix("-")
        alike = [s for s in self.symbols or [] if s.also and s.also in (name, base)]
        places = [(s.first, s.last) for s in alike]
        if not any(s.name == name for s in self.symbols or []):
            places += self._guesses.places(name)
        return list(self._equal(dict.fromkeys(places), wanted))

    def _equal(self, places: Iterable[tuple[int, int]], wanted: str) -> Iterator[tuple[int, int]]:
        return (place for place in places if self.hash(*place, size=len(wanted)) == wanted)

    def place(self, span: Span) -> tuple[int, int] | None:
        """Where the cited text stands, as far as this version alone can tell; None: nowhere."""
        return self.own(span) or next(iter(self.copies(span)), None)

    def is_beyond(self, span: Span) -> bool:
        """Whether a span is too large to be looked for by its hash alone."""
        return isinstance(span, LinesEvidence) and is_costly(self.lines, span.last - span.first + 1)

    def hash(self, first: int, last: int, *, size: int = 40) -> str:
        """The hash of lines first to last."""
        return digest(self.lines[first - 1 : last], size=size)

    def cite_lines(self, first: int, last: int, *, size: int = 40) -> LinesEvidence:
        """The receipt for some lines; BadInput says why there can be none."""
        self._check()
        shown, count = visible(self.path), len(self.lines)
        if not 1 <= first <= last:
            raise BadInput(f"{first}-{last} is not a range of lines", hint=f"Write {shown}:10-20.")
        if last > count:
            raise BadInput(f"{shown} has {count} lines, not {last}", hint=f"Cite lines between 1 and {count}.")
        if not any(self.lines[first - 1 : last]):
            raise BadInput(f"{shown}:{first}-{last} is blank", hint="Cite the lines that say something.")
        return LinesEvidence(self.path, first, last, self.hash(first, last, size=size))

    def cite_symbol(self, typed: str, *, size: int = 40) -> SymbolEvidence:
        """The receipt for a symbol as a person names it; an error says what there is."""
        self._check()
        if not self._named:
            raise TooLarge(f"{visible(self.path)} is too large to look for symbols in", hint="Cite lines of it.")
        symbol = naming.pick(self.path, self.symbols, typed)
        name = naming.label(self.symbols or (), symbol)
        return SymbolEvidence(self.path, name, self.hash(symbol.first, symbol.last, size=size))

    def cite_function(self, first: int, last: int, *, size: int = 40) -> SymbolEvidence | None:
        """The receipt for the function that some lines are a part of; None if there is none, or they are only words."""
        around = [one for one in self.symbols or () if one.first <= first and last <= one.last]
        found = [one for one in around if naming.is_function(self.lines[one.first - 1 : one.last])]
        if not found or not self.code_in(inner := min(found, key=lambda one: one.last - one.first), first, last):
            return None
        name = naming.label(self.symbols or (), inner)
        is_all = (inner.first, inner.last) == (first, last)
        return None if is_all else SymbolEvidence(self.path, name, self.hash(inner.first, inner.last, size=size))

    def code_in(self, symbol: Symbol, first: int, last: int) -> bool:
        """Whether lines of a symbol do something; comments and docstrings do not."""
        whole = (symbol.first, symbol.last)
        return self.meaning(*whole) != self.meaning(*whole, without=(first, last))

    def _check(self) -> None:
        if self.is_binary:
            raise BadInput(
                f"{visible(self.path)} is not text, so it has no lines", hint="Cite the whole file by its path."
            )

    def named(self, span: SymbolEvidence) -> Symbol | None:
        """The one symbol of this name as it stands now, whatever its text."""
        if same := [one for one in self.called(span.name) if naming.label(self.symbols or (), one) == span.name]:
            return same[0]
        fits = naming.fitting(self.path, self.symbols or [], span.name)
        return fits[0] if len(fits) == 1 and span.name in (fits[0].name, fits[0].also) else None

    def called(self, name: str) -> list[Symbol]:
        """Every symbol of a name, whatever its number."""
        return [one for one in self.symbols or () if one.name in (name, naming.plain_name(name))]

    def name_at(self, first: int, last: int, before: str) -> str:
        """The name of the symbol that is just these lines; the one it had before if that still fits."""
        found = [one for one in self.symbols or () if (one.first, one.last) == (first, last)]
        names = [naming.label(self.symbols or (), one) for one in found] or [before]
        return before if before in names else names[0]

    def is_symbol(self, first: int, last: int) -> bool:
        """Whether just these lines are a symbol."""
        return any((one.first, one.last) == (first, last) for one in self.symbols or ())

    def enclosing(self, first: int, last: int) -> Symbol | None:
        """The innermost symbol that these lines lie in."""
        around = (one for one in self.symbols or () if one.first <= first and last <= one.last)
        return min(around, key=lambda one: one.last - one.first, default=None)

    def meaning(self, first: int, last: int, *, own: str = "", without: tuple[int, int] = (0, 0)) -> Meaning | None:
        """What lines first to last do, `without` some of them; None if only their text tells."""
        lines = [*self.lines[first - 1 : max(first, without[0]) - 1], *self.lines[max(first - 1, without[1]) : last]]
        ending = naming.file_ending(self.path, self.lines)
        return meanings.code_meaning(ending, lines, own=own, fields=self._is_in_class(first, last))

    def _is_in_class(self, first: int, last: int) -> bool:
        """Whether lines of a Python file stand in the body of a class, where annotated names are fields."""
        if not self.path.endswith((".py", ".pyw")) or not b"".join(self.lines[first - 1 : first])[:1].isspace():
            return False
        around = [one for one in self.symbols or () if one.first < first and last <= one.last]
        inner = min(around, key=lambda one: one.last - one.first, default=None)
        return inner is not None and naming.is_class(self.lines[inner.first - 1 : inner.last])
