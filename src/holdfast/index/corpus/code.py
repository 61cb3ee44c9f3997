"""Code by function and class, read line by line: what opens a definition, and where it ends.

No language is parsed: a definition is a line that looks like one, and it ends where the text comes back to
its indentation. That finds what a parser finds in code that people format, at ten times its speed, and it
does not mind a file that does not compile. A class that is short stays whole; a long one gives its methods.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from holdfast.index.corpus.chunk import PIECE, Chunk, Span, chunks
from holdfast.index.corpus.languages import BRACES, ENDS, FLAT, INDENTED, Language
from holdfast.patterns import regex

MAX_DEPTH = 12
MAX_NAME = 200
_ATTACHED = ("@", "#", "//", "/*", "*", "--", "%", ";;", "[<", "<<")  # comments and decorators above a name
_NOT_ATTACHED = ("#include", "#define", "#if", "#el", "#end", "#pragma", "#import", "#undef")
_MOST_ATTACHED = 60  # lines
_WORK = 40  # times the length of a text that may be looked at in search of ends; nesting would square it
_SMALL = 80  # characters between two definitions that are no chunk of their own
_LONG_STRINGS = regex(r'"""|\'\'\'')
_BACK = {INDENTED: r"^[ \t]{0,%d}(?=[^\s#)\]}\"'])", BRACES: r"^[ \t]{0,%d}[})].*$", ENDS: r"^[ \t]{0,%d}end\b.*$"}
_BACK_BY_INDENT: dict[tuple[str, int], re.Pattern[str]] = {}


class Definition(NamedTuple):
    """One definition: where it stands with the comments above it, and whether others stand inside it."""

    start: int
    end: int
    name: str
    holds: bool


class _Part(NamedTuple):
    """Definitions `low` to `high`, in the text from `first` to `last`, all inside what `around` names."""

    low: int
    high: int
    first: int
    last: int
    around: str
    depth: int


def code(text: str, language: Language) -> Iterator[Chunk]:
    """The chunks of a source file."""
    found = list(_definitions(text, language))
    if found and language.layout == FLAT:  # each goes as far as the next
        ends = [one.start for one in found[1:]] + [len(text)]
        found = [one._replace(end=end) for one, end in zip(found, ends, strict=True)]
    return chunks(text, _spans(found, _Part(0, len(found), 0, len(text), "", 0)))


def _spans(found: Sequence[Definition], part: _Part) -> Iterator[Span]:
    """The definitions of a part of the text, and what stands between them."""
    at, place = part.first, part.low
    while place < part.high:
        one = found[place]
        inner = place + 1
        while inner < part.high and found[inner].start < one.end:
            inner += 1
        end = min(one.end, part.last)
        if one.start - at > _SMALL or (one.start > at and place == part.low):
            yield part.around, "", at, one.start
            at = one.start
        name = f"{part.around}.{one.name}" if part.around else one.name
        if one.holds and inner > place + 1 and end - at > PIECE and part.depth < MAX_DEPTH:
            yield from _spans(found, _Part(place + 1, inner, at, end, name, part.depth + 1))
        else:
            yield name, "", at, end
        at, place = end, inner
    if at < part.last:
        yield part.around, "", at, part.last


def _definitions(text: str, language: Language) -> Iterator[Definition]:
    """What is defined, in order; of what lies inside a function nothing."""
    strings = _in_strings(text) if language.layout == INDENTED else iter(())
    string = next(strings, None)
    behind, work = 0, _WORK * len(text) + (1 << 20)  # `behind` is the end of the last function
    for found in language.opens.finditer(text):
        at = found.start()
        while string is not None and string[1] <= at:
            string = next(strings, None)
        if at < behind or (string is not None and string[0] <= at):
            continue
        name = ".".join(group.strip() for group in found.groups() if group)
        if name in language.never:
            continue
        indent = len(found[0]) - len(found[0].lstrip())
        end = _end(text, found.end(), indent, language.layout)
        work -= end - at
        if work < 0:
            return
        holds = language.holds is not None and language.holds.search(found[0]) is not None
        if not holds:
            behind = end
        yield Definition(_with_what_is_above(text, at), end, name[:MAX_NAME], holds)


def _end(text: str, start: int, indent: int, layout: str) -> int:
    """Where the text comes back to an indentation, or ends."""
    if layout == FLAT:
        return start
    key = (layout, min(indent, 200))
    if key not in _BACK_BY_INDENT:
        _BACK_BY_INDENT[key] = re.compile(_BACK[layout] % key[1], re.MULTILINE)
    line_end = text.find("\n", start)
    if line_end < 0:
        return len(text)
    if layout == BRACES and _closes_at_once(text, start, line_end):
        return line_end + 1
    found = _BACK_BY_INDENT[key].search(text, line_end + 1)
    if found is None:
        return len(text)
    return found.start() if layout == INDENTED else min(found.end() + 1, len(text))


def _closes_at_once(text: str, start: int, line_end: int) -> bool:
    """Whether a definition in braces is over on its own line: `struct A;`, `int f() { return 1; }`."""
    rest = text[start:line_end].rstrip()
    return rest.endswith((";", "}")) and rest.count("{") <= rest.count("}") + text.count("{", start - 1, start)


def _with_what_is_above(text: str, at: int) -> int:
    """Where the comments and decorators directly above a line begin."""
    for _ in range(_MOST_ATTACHED):
        before = text.rfind("\n", 0, max(at - 1, 0)) + 1
        line = text[before : at - 1].lstrip()
        if at == 0 or not line.startswith(_ATTACHED) or line.startswith(_NOT_ATTACHED):
            return at
        at = before
    return at


def _in_strings(text: str) -> Iterator[tuple[int, int]]:
    """From where to where Python's long strings go: a definition inside one is an example."""
    mark, start = "", 0
    for found in _LONG_STRINGS.finditer(text):
        if not mark:
            mark, start = found[0], found.end()
        elif found[0] == mark:
            yield start, found.start()
            mark = ""
