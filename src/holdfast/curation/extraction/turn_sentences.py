"""Splits a turn into sentences: the speaker's own prose, cleaned.

First, text that is not the speaker's own is blanked (law 16): our packs and blocks, comments, insertions of agents'
programs. Lengths stay, so that a sentence can be cited by its position: a blank is a line break, which ends the
sentence before it, and an escape sequence becomes NULs, which are removed later. Then code, quotations, tables, diffs,
logs, traces and pasted terminals are left out. Every step reads a line or a sentence of bounded length, so that hostile
text takes time in proportion to its length. The patterns are in turn_sentences.txt.
"""

from __future__ import annotations

import re
from functools import cache

from holdfast.model.text import has_hidden
from holdfast.model.utterance import MAX_WORDS
from holdfast.patterns import TYPE_CHECKING, PatternFile
from holdfast.values import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NUL = "\0"
_MAX_LINE = 4000  # characters; a guess: a longer line is data
_WRAPS = 60  # characters; a guess: editors wrap lines later, so a shorter one ends on purpose
_SAYS_NOTHING = 12  # characters; a guess: only the start of a turn may be as short as "No."
MAX_RAW = 700  # characters of a sentence as written; a guess: a longer one is not one claim
_SHAPE = PatternFile(__file__)


def blanked(text: str) -> str:
    """Returns the text with our own blocks, comments and wrappers of programs blanked, at the same length."""
    text = _SHAPE.ansi.sub(lambda found: NUL * len(found[0]), text)
    # Only the same mark closes a pack; without it the rest is blanked.
    text = _blank_between(text, _SHAPE.open, lambda found: re.compile(rf"</holdfast-data{re.escape(found[2])}>", re.I))
    text = _blank_between(text, _SHAPE.block, lambda _: _SHAPE.block_end)
    text = _blank_between(text, _SHAPE.comment, lambda _: _SHAPE.comment_end)
    return _blank_wrappers(text)


def _blank_between(text: str, opens: re.Pattern[str], closing: Callable[[re.Match[str]], re.Pattern[str]]) -> str:
    parts, at = [], 0
    while found := opens.search(text, at):
        end = closing(found).search(text, found.end())
        stop = end.end() if end else len(text)
        parts += [text[at : found.start()], "\n" * (stop - found.start())]
        at = stop
    return "".join([*parts, text[at:]])


def _blank_wrappers(text: str) -> str:
    """Blanks the blocks of programs; an unclosed tag is not a block."""
    parts, at, look = [], 0, 0
    last: dict[str, int] = {}  # the last closing tag of each name, so that no text is searched twice
    while found := _SHAPE.tag.search(text, look):
        close = f"</{found[1]}>"
        if close not in last:
            last[close] = text.rfind(close)
        if last[close] < found.end():
            look = found.end()
            continue
        stop = text.index(close, found.end()) + len(close)
        parts += [text[at : found.start()], "\n" * (stop - found.start())]
        at = look = stop
    return "".join([*parts, text[at:]])


@frozen
class ProseBlock:
    """Lines that belong together: a paragraph or one item, and the label of its heading."""

    start: int
    end: int
    label: str


@frozen
class _Line:
    start: int
    text: str
    kind: str  # prose, item, heading or gap

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def blocks(text: str) -> Iterator[ProseBlock]:
    """Yields the blocks of prose in order; a label applies to the first paragraph or list below it."""
    label, listed = "", False
    for group in _groups(text):
        first, item = group[0], group[0].kind == "item"
        if first.kind == "heading":
            label, listed = _label(first.text), False
            continue
        label = label if item or not listed else ""
        yield ProseBlock(first.start, group[-1].end, label)
        label, listed = (label if item else ""), item


def _groups(text: str) -> Iterator[list[_Line]]:
    group: list[_Line] = []
    for line in _lines(text):
        if group and (line.kind != "prose" or _starts_new_block(group[-1], line)):
            yield group
            group = []
        if line.kind != "gap":
            group.append(line)
    if group:
        yield group


def _starts_new_block(before: _Line, line: _Line) -> bool:
    """Whether a line starts a new thought: in a chat a line break ends a thought, in a text it wraps."""
    ended = before.text.rstrip()
    if before.kind == "heading" or ended.endswith(":"):
        return True
    return len(ended) < _WRAPS and line.text.lstrip()[:1].isupper()


def _lines(text: str) -> Iterator[_Line]:
    fence, pasted, before = "", False, "gap"
    at = 0
    for raw in text.splitlines(keepends=True):
        start, at = at, at + len(raw)
        line = raw.rstrip()
        if fence or (mark := _SHAPE.fence.match(line)):
            fence = _open_fence(fence, line) if fence else mark[1]  # type: ignore[index]
            kind = "gap"
        else:
            pasted = bool(line) and (pasted or _starts_paste(line))
            kind = "gap" if pasted or not line.strip() else _kind(line, before)
        before = kind
        yield _Line(start, line, kind)


def _open_fence(fence: str, line: str) -> str:
    """Returns the fence that is open after this line."""
    bare = line.strip()
    return "" if (bare.startswith(fence) and not bare.strip(fence[0])) else fence


def _starts_paste(line: str) -> bool:
    """Whether the text up to the next empty line is of a terminal, a diff or a trace."""
    return len(line) <= _MAX_LINE and bool(_SHAPE.terminal.match(line) or _SHAPE.hunk.match(line))


def _kind(line: str, before: str) -> str:
    if len(line) > _MAX_LINE or _SHAPE.no_prose.match(line) or _is_code(line):
        return "gap"
    if _SHAPE.heading.match(line) or _label(line):
        return "heading"
    if _SHAPE.item.match(line):
        return "item"
    return "gap" if before == "gap" and _SHAPE.deep.match(line) else "prose"


def _is_code(line: str) -> bool:
    if _SHAPE.code_end.search(line[-3:]):
        return True
    return _SHAPE.defines.match(line) is not None and _SHAPE.defines_end.search(line[-24:]) is not None


def _label(line: str) -> str:
    """Returns the label that a heading, or a line with nothing but a label, gives the text below it."""
    found = _SHAPE.heading.match(line)
    return _labels().get((found[1] if found else line).strip(" *_:#").lower(), "")


@cache
def _labels() -> dict[str, str]:
    rows = (row.split(": ") for row in _SHAPE.lines("labels"))
    return {name: label for label, names in rows for name in names.split(", ")}


@frozen
class Sentence:
    """One sentence: cleaned, the same with code and quotations crossed out, and verbatim."""

    text: str
    plain: str  # as long as text; rules look for their cues here
    words: str
    opening: int  # its number within the turn
    hidden: bool  # it contains invisible characters
    block: int  # the number of its paragraph or item


def sentences(text: str) -> Iterator[Sentence]:
    """Yields the sentences of a turn that are prose, in order."""
    shown, number = blanked(text), 0
    for place, block in enumerate(blocks(shown)):
        label = block.label
        for start, end in _spans(shown, block):
            if end - start > MAX_RAW or (number > 1 and end - start < _SAYS_NOTHING):
                continue
            tidied = tidy(shown[start:end].replace(NUL, ""), label)
            label = ""
            if tidied:
                words = text[start:end]
                yield Sentence(tidied, crossed_out(tidied), _verbatim(words), number, _hides(words), place)
                number += 1


def _spans(shown: str, block: ProseBlock) -> Iterator[tuple[int, int]]:
    start = block.start
    for found in _SHAPE.end.finditer(shown, block.start, block.end):
        if not _is_inner_stop(shown, start, found):
            yield start, found.end()
            start = found.end()
    yield start, block.end


def _is_inner_stop(shown: str, start: int, found: re.Match[str]) -> bool:
    """Whether this full stop does not end a sentence: an abbreviation, three dots, a number."""
    if shown.count("`", start, found.start()) % 2:
        return True  # within code
    before = shown[max(start, found.start() - 12) : found.start() + 1]
    after = shown[found.end() : found.end() + 1]
    if _SHAPE.abbreviated.search(before) or (found[0].startswith("..") and after.islower()):
        return True
    return bool(re.search(r"(?:^|\s)(?:no|\d{1,3})\.$", before, re.I)) and (
        after.isdigit() or before.strip()[:-1].isdigit()
    )


def tidy(raw: str, label: str = "") -> str:
    """Returns a sentence on one line without bullets, emphasis, links and introductory words."""
    text = _SHAPE.space.sub(" ", raw).strip().replace("’", "'").replace("‘", "'")
    text = _SHAPE.mark.sub("", _SHAPE.bullet.sub("", text))
    text = "".join(part if n % 2 else _without_emphasis(part) for n, part in enumerate(_SHAPE.inline_code.split(text)))
    text = _SHAPE.lead.sub("", _SHAPE.mark.sub("", text.strip()))
    return f"{label}: {text}" if label and text else text


def _without_emphasis(text: str) -> str:
    return _SHAPE.bold.sub(lambda found: found[1] or found[2], _SHAPE.link.sub(r"\1", text)).replace("**", "")


def crossed_out(text: str) -> str:
    """Returns the text with code and quotations crossed out, at the same length."""
    text = _SHAPE.inline_code.sub(lambda found: "`" + "x" * (len(found[0]) - 2) + "`", text)
    return _SHAPE.quoted.sub(lambda found: '"' + "x" * (len(found[0]) - 2) + '"', text)


def _verbatim(raw: str) -> str:
    """Returns the words as in the turn; for a coloured sentence its longest piece."""
    return max([piece.strip() for piece in _SHAPE.ansi.split(raw)], key=len)[:MAX_WORDS].strip()


def _hides(raw: str) -> bool:
    return has_hidden(_SHAPE.ansi.sub("", raw))
