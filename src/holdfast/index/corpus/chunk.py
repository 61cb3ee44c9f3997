"""A piece of a file that can be found by itself, and how long text is cut into pieces."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

PIECE = 2400  # characters: about what a reader, or a model, takes in at once
MAX_PIECES = 4000  # of one file


class Chunk(NamedTuple):
    """Some lines of a file under the name they go by."""

    line: int  # the first, counted from 1
    title: str  # a heading, or a qualified symbol; empty for what stands under none
    context: str  # the headings above it
    text: str


Span = tuple[str, str, int, int]  # title, context, and from where to where in the text


def chunks(text: str, spans: Iterable[Span]) -> Iterator[Chunk]:
    """The chunks of a text's spans, in their order; what is long comes in several, what is empty in none."""
    line, at, made = 1, 0, 0
    for title, context, first, last in spans:
        for start, end in pieces(text, first, last):
            line += text.count("\n", at, start)
            at = start
            yield Chunk(line, title, context, text[start:end].rstrip())
            made += 1
            if made == MAX_PIECES:
                return


def pieces(text: str, first: int, last: int) -> Iterator[tuple[int, int]]:
    """From where to where the pieces of a span go: cut between paragraphs, else lines, else anywhere."""
    while first < last:
        end = last if last - first <= PIECE else _cut(text, first)
        start = first + _blank(text, first, end)
        if start < end:
            yield start, end
        first = end


def _cut(text: str, first: int) -> int:
    low, high = first + PIECE // 2, first + PIECE
    for between in ("\n\n", "\n", " "):
        at = text.rfind(between, low, high)
        if at >= 0:
            return at + len(between)
    return high


def _blank(text: str, start: int, end: int) -> int:
    """How many characters of empty lines a span begins with; all of it if nothing in it is a word."""
    bare = text[start:end]
    if not any(map(str.isalnum, bare)):
        return end - start
    lead = len(bare) - len(bare.lstrip())
    return bare.rfind("\n", 0, lead) + 1
