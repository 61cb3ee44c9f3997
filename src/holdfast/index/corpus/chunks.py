"""Splits files into pieces that can be found by themselves: documents by heading, code by function and class.

A section is the text from a heading to the next one, whatever its level (Markdown, reStructuredText, AsciiDoc, plain
text); the headings above it are its context. No programming language is parsed: a definition is a line that looks like
one (`languages.toml`), and it ends where the text returns to its indentation. In formatted code that finds what a
parser finds, ten times faster, also in a file that does not compile. A short class stays whole; a long one is split
into its methods. The time is linear in the length of any text.
"""

import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from holdfast.patterns import regex

PIECE = 2400  # characters; a guess: about a page, and more than an embedding model reads
MAX_PIECES = 4000  # of one file; a guess: larger files are data


class FileChunk(NamedTuple):
    """Some lines of a file with their title."""

    line: int  # the first, counted from 1
    title: str  # a heading, or a qualified symbol; empty if there is none
    context: str  # the headings above it
    text: str


Span = tuple[str, str, int, int]  # title, context, start and end in the text


def chunks(text: str, spans: Iterable[Span]) -> Iterator[FileChunk]:
    """Yields the chunks of a text's spans in order; a long span becomes several, an empty one none."""
    line, at, made = 1, 0, 0
    for title, context, first, last in spans:
        for start, end in pieces(text, first, last):
            line += text.count("\n", at, start)
            at = start
            yield FileChunk(line, title, context, text[start:end].rstrip())
            made += 1
            if made == MAX_PIECES:
                return


def pieces(text: str, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Yields start and end of a span's pieces: cut between paragraphs, else lines, else anywhere."""
    while first < last:
        end = last if last - first <= PIECE else _cut(text, first)
        start = first + _blank(text, first, end)
        if start < end:
            yield start, end
        first = end


def _cut(text: str, first: int) -> int:
    low, high = first + PIECE // 2, first + PIECE
    ends = (at + len(between) for between in ("\n\n", "\n", " ") if (at := text.rfind(between, low, high)) >= 0)
    return next(ends, high)


def _blank(text: str, start: int, end: int) -> int:
    """Returns how many characters of empty lines a span starts with; its length if it contains no word."""
    bare = text[start:end]
    if not any(map(str.isalnum, bare)):
        return end - start
    return bare.rfind("\n", 0, len(bare) - len(bare.lstrip())) + 1


MAX_HEADING = 200  # characters; a guess: a longer line is a paragraph
MAX_LEVELS = 8  # headings above a section; a guess: HTML has six

_MARKDOWN = regex(
    r"^(?:[ ]{0,3}(?P<fence>`{3,}|~{3,})|[ ]{0,3}(?P<marks>\#{1,6})[ \t]+(?P<head>[^\n]+)"
    r"|(?P<over>[^\s=\-\#>|`][^\n]{0,198})\n[ ]{0,3}(?P<under>={2,}|-{2,})[ \t]*$)",
    re.MULTILINE,
)
_ASCIIDOC = regex(r"^(?:(?P<fence>-{4,}|\.{4,}|={4,})[ \t]*$|(?P<marks>={1,6})[ \t]+(?P<head>[^\n]+))", re.MULTILINE)
_UNDERLINED = regex(r"^(?P<over>[^\s][^\n]{0,198})\n(?P<under>([=\-~^\"'`#*+.:_])\3{2,})[ \t]*$", re.MULTILINE)

Heading = tuple[int, int, str]  # its start, its level, its text


def markdown(text: str) -> Iterator[FileChunk]:
    """Yields the sections of a Markdown page; a heading inside a fence does not count."""
    return chunks(text, _sections(text, _marked(_MARKDOWN, text)))


def asciidoc(text: str) -> Iterator[FileChunk]:
    """Yields the sections of an AsciiDoc page."""
    return chunks(text, _sections(text, _marked(_ASCIIDOC, text)))


def underlined(text: str) -> Iterator[FileChunk]:
    """Yields the sections of reStructuredText, and of plain text with underlined headings."""
    return chunks(text, _sections(text, _over_lines(text)))


def _marked(pattern: re.Pattern[str], text: str) -> Iterator[Heading]:
    fence = ""
    for found in pattern.finditer(text):
        if mark := found["fence"]:
            closes = fence and mark[0] == fence[0] and len(mark) >= len(fence)
            fence = "" if closes else fence or mark
        elif not fence and found["head"]:
            yield found.start(), len(found["marks"]), found["head"].strip().rstrip("#= \t")
        elif not fence:
            yield found.start(), 1 if found["under"][0] == "=" else 2, found["over"].strip()


def _over_lines(text: str) -> Iterator[Heading]:
    """Yields headings by their underline; the first kind of underline is the highest level."""
    levels: dict[str, int] = {}
    for found in _UNDERLINED.finditer(text):
        heading = found["over"].strip()
        if len(found["under"]) >= min(len(heading), 4) and any(map(str.isalnum, heading)):
            yield found.start(), levels.setdefault(found["under"][0], len(levels) + 1), heading


def _sections(text: str, headings: Iterator[Heading]) -> Iterator[Span]:
    chain: list[tuple[int, str]] = []  # the headings above, each with its level
    at, title = 0, ""
    for start, level, heading in headings:
        yield title, _above(chain), at, start
        while chain and chain[-1][0] >= level:
            chain.pop()
        chain.append((level, heading[:MAX_HEADING]))
        del chain[:-MAX_LEVELS]
        at, title = start, chain[-1][1]
    yield title, _above(chain), at, len(text)


def _above(chain: list[tuple[int, str]]) -> str:
    return " / ".join(heading for _, heading in chain[:-1])


INDENTED, BRACES, ENDS, FLAT = "indented", "braces", "ends", "flat"


class DefinitionSyntax(NamedTuple):
    """The form of definitions in a language; its patterns are compiled when a file of it is first read."""

    opens: re.Pattern[str]
    holds: re.Pattern[str] | None = None  # the first line of a definition that contains others
    layout: str = BRACES
    never: frozenset[str] = frozenset()


class KnownLanguages(NamedTuple):
    """The languages of `languages.toml`, by extension and by name of files."""

    by_ending: dict[str, DefinitionSyntax]
    by_name: dict[str, DefinitionSyntax]
    plain: DefinitionSyntax


@cache
def languages() -> KnownLanguages:
    """Returns the languages with known definitions."""
    with open(os.path.join(os.path.dirname(__file__), "languages.toml"), "rb") as file:
        table = tomllib.load(file)

    def pattern(parts: str | list[str], flags: int = 0) -> re.Pattern[str]:
        text = "".join(parts)
        for name, piece in table["pieces"].items():
            text = text.replace(f"@{name}@", "".join(piece))
        return regex(text, flags)

    found = KnownLanguages({}, {}, DefinitionSyntax(regex("(?!)"), None, FLAT))
    keywords = frozenset(table["keywords"].split())
    for row in table["languages"].values():
        holds = pattern(row["holding"]) if "holding" in row else None
        never = keywords if row.get("not_keywords") else frozenset[str]()
        one = DefinitionSyntax(pattern(row["opening"], re.MULTILINE), holds, row.get("layout", BRACES), never)
        found.by_ending.update(dict.fromkeys(row.get("endings", "").split(), one))
        found.by_name.update(dict.fromkeys(row.get("names", "").split(), one))
    return found


MAX_DEPTH = 12  # of nested definitions; a guess: deeper ones are generated
MAX_NAME = 200  # characters of a symbol; a guess
_ATTACHED = ("@", "#", "//", "/*", "*", "--", "%", ";;", "[<", "<<")  # comments and decorators above a name
_NOT_ATTACHED = ("#include", "#define", "#if", "#el", "#end", "#pragma", "#import", "#undef")
_MOST_ATTACHED = 60  # lines of comments above a definition; a guess
_WORK = 40  # times a text's length: bounds the search for ends, which nesting would square; a guess
_SMALL = 80  # characters; a guess: shorter text between two definitions is no chunk of its own
_LONG_STRINGS = regex(r'"""|\'\'\'')
_BACK = {INDENTED: r"^[ \t]{0,%d}(?=[^\s#)\]}\"'])", BRACES: r"^[ \t]{0,%d}[})].*$", ENDS: r"^[ \t]{0,%d}end\b.*$"}
_BACK_BY_INDENT: dict[tuple[str, int], re.Pattern[str]] = {}


class Definition(NamedTuple):
    """One definition: its position with the comments above it, and whether it contains others."""

    start: int
    end: int
    name: str
    holds: bool


def code(text: str, language: DefinitionSyntax) -> Iterator[FileChunk]:
    """Yields the chunks of a source file."""
    found = list(_definitions(text, language))
    if found and language.layout == FLAT:  # each ends where the next starts
        ends = [one.start for one in found[1:]] + [len(text)]
        found = [one._replace(end=end) for one, end in zip(found, ends, strict=True)]
    return chunks(text, _spans(found, 0, len(text), "", 0))


def _spans(found: Sequence[Definition], at: int, last: int, around: str, depth: int) -> Iterator[Span]:
    """Yields definitions and the text between them, from `at` to `last`, inside the definition named `around`."""
    place = 0
    while place < len(found):
        one = found[place]
        inner = place + 1
        while inner < len(found) and found[inner].start < one.end:
            inner += 1
        end = min(one.end, last)
        if one.start - at > _SMALL or (one.start > at and not place):
            yield around, "", at, one.start
            at = one.start
        name = f"{around}.{one.name}" if around else one.name
        if one.holds and inner > place + 1 and end - at > PIECE and depth < MAX_DEPTH:
            yield from _spans(found[place + 1 : inner], at, end, name, depth + 1)
        else:
            yield name, "", at, end
        at, place = end, inner
    if at < last:
        yield around, "", at, last


def _definitions(text: str, language: DefinitionSyntax) -> Iterator[Definition]:
    """Yields definitions in order, none from inside a function."""
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
        end = _end(text, found.end(), len(found[0]) - len(found[0].lstrip()), language.layout)
        work -= end - at
        if work < 0:
            return
        holds = language.holds is not None and language.holds.search(found[0]) is not None
        if not holds:
            behind = end
        yield Definition(_start_of_comments(text, at), end, name[:MAX_NAME], holds)


def _end(text: str, start: int, indent: int, layout: str) -> int:
    """Returns where the text returns to an indentation, or ends."""
    if layout == FLAT:
        return start
    key = (layout, min(indent, 200))
    if key not in _BACK_BY_INDENT:
        _BACK_BY_INDENT[key] = re.compile(_BACK[layout] % key[1], re.MULTILINE)
    line_end = text.find("\n", start)
    if line_end < 0:
        return len(text)
    rest = text[start:line_end].rstrip()
    is_over = rest.endswith((";", "}")) and rest.count("{") <= rest.count("}") + text.count("{", start - 1, start)
    if layout == BRACES and is_over:  # `struct A;`, `int f() { return 1; }`
        return line_end + 1
    found = _BACK_BY_INDENT[key].search(text, line_end + 1)
    if found is None:
        return len(text)
    return found.start() if layout == INDENTED else min(found.end() + 1, len(text))


def _start_of_comments(text: str, at: int) -> int:
    """Returns where the comments and decorators directly above a line start."""
    for _ in range(_MOST_ATTACHED):
        before = text.rfind("\n", 0, max(at - 1, 0)) + 1
        line = text[before : at - 1].lstrip()
        if at == 0 or not line.startswith(_ATTACHED) or line.startswith(_NOT_ATTACHED):
            return at
        at = before
    return at


def _in_strings(text: str) -> Iterator[tuple[int, int]]:
    """Yields start and end of Python's long strings: a definition inside one is an example."""
    mark, start = "", 0
    for found in _LONG_STRINGS.finditer(text):
        if not mark:
            mark, start = found[0], found.end()
        elif found[0] == mark:
            yield start, found.start()
            mark = ""
