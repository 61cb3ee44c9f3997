"""Documents by heading: Markdown, reStructuredText, AsciiDoc and plain text.

A section is the text from a heading to the next one, whatever its level; the headings above it are
its context. Reading is linear in the text, whatever stands in it.
"""

import re
from collections.abc import Iterator

from holdfast.index.corpus.chunk import Chunk, Span, chunks
from holdfast.patterns import regex

MAX_HEADING = 200
MAX_LEVELS = 8

_MARKDOWN = regex(
    r"^(?:[ ]{0,3}(?P<fence>`{3,}|~{3,})|[ ]{0,3}(?P<marks>\#{1,6})[ \t]+(?P<head>[^\n]+)"
    r"|(?P<over>[^\s=\-\#>|`][^\n]{0,198})\n[ ]{0,3}(?P<under>={2,}|-{2,})[ \t]*$)",
    re.MULTILINE,
)
_ASCIIDOC = regex(r"^(?:(?P<fence>-{4,}|\.{4,}|={4,})[ \t]*$|(?P<marks>={1,6})[ \t]+(?P<head>[^\n]+))", re.MULTILINE)
_UNDERLINED = regex(r"^(?P<over>[^\s][^\n]{0,198})\n(?P<under>([=\-~^\"'`#*+.:_])\3{2,})[ \t]*$", re.MULTILINE)

Heading = tuple[int, int, str]  # where it begins, its level, what it says


def markdown(text: str) -> Iterator[Chunk]:
    """The sections of a Markdown page; what looks like a heading inside a fence is none."""
    return chunks(text, _sections(text, _marked(_MARKDOWN, text)))


def asciidoc(text: str) -> Iterator[Chunk]:
    """The sections of an AsciiDoc page."""
    return chunks(text, _sections(text, _marked(_ASCIIDOC, text)))


def underlined(text: str) -> Iterator[Chunk]:
    """The sections of reStructuredText, and of plain text whose headings are underlined."""
    return chunks(text, _sections(text, _over_lines(text)))


def _marked(pattern: re.Pattern[str], text: str) -> Iterator[Heading]:
    fence = ""
    for found in pattern.finditer(text):
        kind = found.lastgroup
        if kind == "fence":
            mark = found["fence"]
            if not fence:
                fence = mark
            elif mark[0] == fence[0] and len(mark) >= len(fence):
                fence = ""
        elif fence:
            continue
        elif kind == "head":
            yield found.start(), len(found["marks"]), found["head"].strip().rstrip("#= \t")
        else:
            yield found.start(), 1 if found["under"][0] == "=" else 2, found["over"].strip()


def _over_lines(text: str) -> Iterator[Heading]:
    """Headings by their underline; the first kind of line met is the highest level."""
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
