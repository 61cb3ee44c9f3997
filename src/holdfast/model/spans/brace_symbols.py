"""The symbols of languages with braces: a definition's first line, then balanced brackets down to its end.

Not a parser: a table says how definitions begin in each family of languages, and brackets say where they end. A text
that is misread is misread the same way tomorrow, so a receipt still shows whether its own text changed.

The patterns (brace_languages.toml) look at the beginning of a line of masked text. A group `name` is what is defined,
`holder` the type that a method is written for outside of it, `grouped` an entry of a list of definitions.
"""

import bisect
import os
import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from holdfast.model.spans.source_text import Brackets, MaskedLines, Symbol, SymbolPart, long_strings, masked, qualified
from holdfast.patterns import PatternFile
from holdfast.values import frozen, replace


@frozen
class BraceLanguage:
    mask: str
    block: tuple[str, ...] = ()  # a definition that ends with its first block
    plain: tuple[str, ...] = ()  # one that ends with its statement
    call_like: tuple[str, ...] = ()  # looks like a call until its block or its `;` comes
    holders: tuple[str, ...] = ()  # only lends its name
    newline_ends: bool = False
    needs_body: tuple[str, ...] = ()  # without a block it is only a use of the name
    brackets: str = "([{"
    marks: tuple[str, ...] = ()  # how annotations begin that may stand on lines of their own above a definition


@cache
def languages() -> dict[str, BraceLanguage]:
    """The languages of `brace_languages.toml`, by the endings of their files."""
    with open(os.path.join(os.path.dirname(__file__), "brace_languages.toml"), "rb") as file:
        table = tomllib.load(file)
    pieces = {name: "".join(piece) for name, piece in table["pieces"].items()}

    def filled(pattern: str) -> str:
        return re.sub("@([a-z_]+)@", lambda found: filled(pieces[found[1]]), pattern)

    found: dict[str, BraceLanguage] = {}
    for row in table["languages"].values():
        endings, marks = row.pop("endings").split(), tuple(row.pop("marks", "").split())
        patterns: dict[str, Any] = {
            name: tuple(map(filled, row.pop(name, ()))) for name in ("block", "plain", "call_like", "holders")
        }
        found.update(dict.fromkeys(endings, BraceLanguage(**row, **patterns, marks=marks)))
    return found


_SHAPE = PatternFile(__file__)
_MOST_STEPS = 1_000_000  # in one file; ten thousand beginnings without an end must not each be read to the last line


def brace_symbols(lines: Sequence[bytes], ending: str) -> list[Symbol]:
    """Every definition that can be told by how it begins."""
    return qualified(_Reader(lines, languages()[ending]).parts())


class _Reader:
    def __init__(self, lines: Sequence[bytes], language: BraceLanguage) -> None:
        self._lines, self._language = lines, language
        self._source = b"\n".join(lines).decode("utf-8", "replace") + "\n"
        self._text = masked(self._source, language.mask)
        # What a type holds on one line counts as lines of their own; every character keeps its place.
        self._heads = _SHAPE.one_line.sub(lambda found: found[1] + _SHAPE.after.sub("\n", found[2]), self._text)
        self._strings = long_strings(self._source, language.mask)
        self._brackets = Brackets(self._text, language.brackets)
        self._at = MaskedLines(self._text)
        self._steps = 0

    def parts(self) -> Iterator[SymbolPart]:
        language = self._language
        for patterns, how in (
            (language.block, self._block),
            (language.plain, self._plain),
            (language.call_like, self._call_like),
            (language.holders, self._holder),
        ):
            for pattern in patterns:
                parts = map(how, re.finditer(pattern, self._heads, re.MULTILINE))
                yield from (part for part in parts if part is not None)

    def _block(self, found: re.Match[str]) -> SymbolPart | None:
        end, body = self._end(found.end(), block=True)
        if not body and any(word in found[0].split() for word in self._language.needs_body):
            return None
        holder = found.groupdict().get("holder")
        return self._part(found, end, body=body, name=f"{holder}.{found['name']}" if holder else None)

    def _plain(self, found: re.Match[str]) -> SymbolPart | None:
        name = self._source[slice(*found.span("name"))] if "grouped" not in found.re.groupindex else found["grouped"]
        if "grouped" in found.re.groupindex:  # an entry of Go's `const (`, `var (` or `type (`, or nothing
            opening = self._brackets.around(found.start()) or 0
            if not re.search(r"(?:^|\n)(?:const|var|type) *$", self._text[max(0, opening - 12) : opening]):
                return None
        return self._part(found, self._end(found.end(), block=False)[0], name=name)

    def _call_like(self, found: re.Match[str]) -> SymbolPart | None:
        words = re.split(r"[\s*&]+", found[0].strip(" \t("))
        name = found["name"].lstrip("*&")
        if {name, words[0]} & _SHAPE.words("no_names") or words[0] in _SHAPE.words("no_types"):
            return None
        close = self._brackets.closing(found.end() - 1)
        if close is None:
            return None
        rest = self._text[close + 1 : close + 600]
        after = _SHAPE.after_call.match(rest) or _SHAPE.after_list.match(rest)
        if after is None or (after[0].endswith(";") and len(words) < 2):  # without a type it is a call
            return None
        end, body = self._end(close + 1, block=True)
        return self._part(found, end, body=body, name=name)

    def _holder(self, found: re.Match[str]) -> SymbolPart | None:
        end, _ = self._end(found.end(), block=True)
        name = re.sub(r"<[^<>]*>", "", re.sub(r"<[^<>]*>", "", found["name"]))
        name = re.split(r"\bwhere\b", re.split(r"\bfor\b", name)[-1])[0]
        words = re.findall(r"\w+", name)
        part = self._part(found, end, name=words[-1]) if words else None
        return None if part is None else replace(part, counts=False)

    def _part(self, found: re.Match[str], end: int, *, body: bool = True, name: str | None = None) -> SymbolPart | None:
        name = re.sub(r"::|#", ".", name or found["name"]).strip('`"[].').replace(".prototype.", ".")
        if not name or name in _SHAPE.words("no_names"):
            return None
        first = self._at.at(found.start() + len(found[0]) - len(found[0].lstrip()))
        first = self._at.at(self._marks_begin(self._at.starts[first - 1]))
        last = max(first, self._at.at(end))
        return SymbolPart(name, first, last, body, start=found.start(), opens=found.end(), end=end)

    def _marks_begin(self, at: int) -> int:
        """Where the annotations begin that belong to what stands on the line that begins at a position."""
        while self._language.marks and (end := self._code_before(at)) and (mark := self._mark_ending(end)) is not None:
            at = mark
        return at

    def _code_before(self, at: int) -> int:
        """Where the code before a position ends; comments and blank lines are no code."""
        row = self._at.at(at) - 1
        code = self._text[self._at.starts[row] : at].rstrip()
        while not code and row:
            row -= 1
            code = self._text[self._at.starts[row] : self._at.starts[row + 1]].rstrip()
        return self._at.starts[row] + len(code)

    def _mark_ending(self, end: int) -> int | None:
        """Where the annotation begins that ends before a position: `@name(…)`, `#[…]`, `[…]`, `template <…>`."""
        text, marks = self._text, self._language.marks
        opens = (self._brackets.around(end - 1) or 0) if text[end - 1] in ")]" else end
        line = text[text.rfind("\n", 0, opens) + 1 : opens]
        if text[end - 1] == "]":
            if line.endswith("#") and "#[" in marks:
                return opens - 1
            is_attribute = "[" in marks and _SHAPE.before_attribute.fullmatch(line)
            return opens if is_attribute and not _SHAPE.of_the_file.match(text, opens) else None
        if "@" in marks and (found := _SHAPE.annotation.search(line)):
            return opens - len(found[0])
        is_template = "template" in marks and text[end - 1] == ">" and line.lstrip().startswith("template")
        return opens - len(line.lstrip()) if is_template else None

    def _end(self, at: int, *, block: bool) -> tuple[int, bool]:
        """Where what begins before a position ends, and whether it has a block of its own."""
        text, begun = self._text, at
        while found := _SHAPE.stops.search(text, at):
            self._steps += 1
            if self._steps > _MOST_STEPS:
                return self._line_end(begun), False
            at, char = found.start(), found[0]
            if char in self._language.brackets:
                close = self._brackets.closing(at)
                if close is None:
                    return self._line_end(at), True
                if block and char == "{" and not _SHAPE.more.match(text, close + 1):
                    return close, True
                at = close + 1
            elif char == ";" or char in ")]}":
                if char in ")]}" and {")": "(", "]": "[", "}": "{"}[char] not in self._language.brackets:
                    at += 1
                    continue
                return (at if char == ";" else max(0, at - 1)), False
            elif (after := self._after_string(at)) is not None:
                at = after
            elif self._language.newline_ends and not self._goes_on(at):
                return at, False
            else:
                at += 1
        return max(0, len(text.rstrip()) - 1), False

    def _after_string(self, at: int) -> int | None:
        """The end of the string of several lines that a position is in."""
        number = bisect.bisect_right(self._strings, (at, at)) - 1
        return self._strings[number][1] if number >= 0 and self._strings[number][1] > at else None

    def _goes_on(self, newline: int) -> bool:
        start = self._text.rfind("\n", 0, newline) + 1
        before = self._text[max(start, newline - 200) : newline].rstrip()
        if self._language.mask == "shell":
            return before.endswith("\\") or self._text.startswith("{", newline + 1)
        return bool(_SHAPE.goes_on_after.search(before) or _SHAPE.goes_on_with.match(self._text, newline + 1))

    def _line_end(self, at: int) -> int:
        return self._text.find("\n", at)
