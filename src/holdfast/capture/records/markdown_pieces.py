"""Markdown cut into headings, items and paragraphs, each with its lines.

What nobody said is blanked first, so that line numbers stay: code fences, comments, our own block and our own
packs (what we told an agent must not come back as something it knew). Links are not followed, and every
step takes time in proportion to the text.
"""

from collections.abc import Iterator

from holdfast.capture.wiring import block
from holdfast.patterns import regex
from holdfast.store import frontmatter
from holdfast.values import frozen

SENTENCE = regex(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!etc\.)\s+(?=[A-Z`\"'(*])")
_ITEM = regex(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+(\S.*)")
_HEADING = regex(r" {0,3}(#{1,6})(?:[ \t]+(.*))?")
_UNDERLINE = regex(r" {0,3}(=+|-+)[ \t]*")
_RULE = regex(r" {0,3}(?:[-*_][ \t]*){3,}")
_PACK = regex(rb"<holdfast-data ([A-Za-z0-9]{4,64})>")
_PICTURE = regex("(?<=[\u2100-\u2bff\u3030-\u3299\U0001f000-\U0001faff])\ufe0f")  # ⚠ drawn in colour
_NOT_BREAK = regex(rb"[^\n]+")


@frozen
class RecordPiece:
    """A heading, an item of a list, a paragraph or a rule across the page, on one line."""

    kind: str  # heading, item, text or rule
    text: str
    first: int  # lines, counted from 1
    last: int
    level: int = 0  # of a heading; of an item, how far it is indented


def plain(data: str) -> str:
    """The text with one kind of line end, no mark of its encoding, and pictures as plain signs."""
    return _PICTURE.sub("", data.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))


def front(text: str) -> tuple[list[frontmatter.Field], str]:
    """The fields at the top, and the text with their lines blanked; BadFront if they cannot be read."""
    if not text.startswith("---\n"):
        return [], text
    end = text.find("\n---", 3)
    while end >= 0 and text[end + 4 : end + 5] not in ("", "\n", " "):
        end = text.find("\n---", end + 4)
    if end < 0:
        return [], text
    fields = frontmatter.read(text[4:end]) if text[4:end].strip() else []
    return fields, "\n" * text.count("\n", 0, end + 4) + text[end + 4 :]


def said(text: str) -> str:
    """The text without code, comments and anything of ours; line numbers stay."""
    raw = text.encode("utf-8", "surrogatepass")
    raw = _blank(raw, [*block.spans(raw), *_packs(raw)])
    closed, opened = block.fenced(raw)
    if opened is not None:
        closed.append((next(row.start for n, row in enumerate(block.rows(raw), 1) if n == opened), len(raw)))
    raw = _blank(raw, closed)
    return _blank(raw, list(_comments(raw))).decode("utf-8", "surrogatepass")


def pieces(text: str) -> list[RecordPiece]:
    """The headings, items and paragraphs of a text that `said` has cleaned; tables and rules are none."""
    found: list[RecordPiece] = []
    grown: list[str] = []  # the lines of what is being read
    start = RecordPiece("text", "", 0, 0)
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        words = line.strip()
        if grown and start.kind == "text" and (under := _UNDERLINE.fullmatch(line)):
            found.append(RecordPiece("heading", " ".join(grown), start.first, number, 1 + (under[1][0] == "-")))
            grown = []
            continue
        new = _begun(line, words, number)
        if grown and (new is not None or not words or words[0] == "|"):
            last = start.first + len(grown) - 1
            found.append(RecordPiece(start.kind, " ".join(grown), start.first, last, start.level))
            grown = []
        if new is not None and new.kind in ("heading", "rule"):
            found.append(new)
        elif new is not None:
            start, grown = new, [new.text]
        elif words and words[0] != "|":
            start = start if grown else RecordPiece("text", "", number, number)
            grown.append(words)
    return found


def _begun(line: str, words: str, number: int) -> RecordPiece | None:
    """The heading or the item that a line begins."""
    if (found := _HEADING.fullmatch(line)) and (title := (found[2] or "").strip().rstrip("#").strip()):
        return RecordPiece("heading", title, number, number, len(found[1]))
    if len(words) < 200 and _RULE.fullmatch(line):
        return RecordPiece("rule", "", number, number)
    if item := _ITEM.fullmatch(line):
        return RecordPiece("item", item[2].strip(), number, number, len(item[1].expandtabs(4)))
    return None


def _blank(raw: bytes, spans: list[tuple[int, int]]) -> bytes:
    """The text with these places emptied, their line ends kept."""
    parts, at = [], 0
    for start, end in sorted(spans):
        if end > at:
            start = max(at, start)
            parts += [raw[at:start], _NOT_BREAK.sub(b"", raw[start:end])]
            at = end
    return b"".join([*parts, raw[at:]])


def _packs(raw: bytes) -> list[tuple[int, int]]:
    """Packs of ours that somebody pasted; one without an end goes on to the end of the text."""
    spans, at = [], 0
    while found := _PACK.search(raw, at):
        closing = b"</holdfast-data " + found[1] + b">"
        end = raw.find(closing, found.end())
        at = len(raw) if end < 0 else end + len(closing)
        spans.append((found.start(), at))
    return spans


def _comments(raw: bytes) -> Iterator[tuple[int, int]]:
    """The comments; one that never ends is text to people."""
    end = 0
    while (at := raw.find(b"<!--", end)) >= 0 and (close := raw.find(b"-->", at + 4)) >= 0:
        end = close + 3
        yield at, end
