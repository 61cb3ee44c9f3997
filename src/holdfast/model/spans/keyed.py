"""The parts of files that are not programs: sections, keys and targets, and languages that end with `end`."""

import re
from collections.abc import Iterator, Sequence

from holdfast.model.spans.masking import Brackets, Lines, masked
from holdfast.model.spans.symbol import Part, Symbol, qualified, trimmed
from holdfast.patterns import regex

_SECTION = regex(r"\[{1,2}[ \t]*([^\[\]]+?)[ \t]*\]{1,2}")
_SETTING = regex(r"[ \t]*([\w.\"'-]+)[ \t]*[=:]")
_YAML_KEY = regex(r"( *+)(?:- +)?(?:\"([^\"\n]+)\"|'([^'\n]+)'|([^\s#\-\"'\[\]{},&*!|>%@`:][^:#\n]*?)) *:(?=\s|$)")
_JSON_KEY = regex(r'"((?:[^"\\\n]|\\.)*+)"\s*+:')
_VALUE = regex(r"\s*+(.)")
_TARGET = regex(r"([^\s:#=][^:=#\n]*?)[ \t]*::?(?![=:])")
_VARIABLE = regex(r"(?:export[ \t]+|override[ \t]+)?([\w.-]+)[ \t]*(?:\?|\+|::?)?=")
_ENDLESS = regex(r"[ \t]*def [\w.?!]+(?:\([^()]*\))?[ \t]+=[ \t]")
_WITH_END = regex(
    r"([ \t]*)(?:(?:private|public|protected|local|export)[ \t]+|private_class_method[ \t]+)*"
    r"(?:def|defp|defmodule|defmacro|class|module|function|struct)[ \t]+(?:self\.)?(?P<name>[\w.:?!=]+)"
)


class _Page:
    """A text by rows, with its brackets."""

    def __init__(self, lines: Sequence[bytes], mask: str) -> None:
        self.text = b"\n".join(lines).decode("utf-8", "replace") + "\n"
        self.plain = masked(self.text, mask)
        self.rows = self.text.split("\n")
        self.brackets, self.at = Brackets(self.plain), Lines(self.plain)


def sections(lines: Sequence[bytes]) -> list[Symbol]:
    """TOML and INI: each `[section]` down to the next, and each setting by `section.key`."""
    page = _Page(lines, "toml")
    heads = [n for n, row in enumerate(page.plain.split("\n")) if row.startswith("[")]
    heads = [n for n in heads if _SECTION.match(page.rows[n]) and _is_outside(page, n)]
    found: list[Symbol] = []
    for start, end in zip([-1, *heads], [*heads, len(lines)], strict=True):
        head = _SECTION.match(page.rows[start]) if start >= 0 else None
        name = head[1].strip() if head else ""
        if head:
            found.append(Symbol(name, start + 1, trimmed(lines, start + 1, end)))
        found += _settings(page, (start + 1, end), f"{name}." if name else "")
    return found


def _is_outside(page: _Page, row: int) -> bool:
    return page.brackets.around(page.at.starts[row]) is None


def _settings(page: _Page, span: tuple[int, int], before: str) -> Iterator[Symbol]:
    row = span[0]
    while row < span[1]:
        key = _SETTING.match(page.rows[row])
        last = row
        if key:
            last = _value_end(page, row, key.end())
            yield Symbol(before + key[1].replace('"', "").replace("'", ""), row + 1, last + 1)
        row = last + 1


def _value_end(page: _Page, row: int, column: int) -> int:
    """The row on which a value ends: brackets and strings of several lines belong to it."""
    rows = page.rows
    rest = rows[row][column:].lstrip()
    for quote in ('"""', "'''"):
        if rest.startswith(quote) and quote not in rest[3:]:
            return next((n for n in range(row + 1, len(rows)) if quote in rows[n]), row)
    if rest[:1] in ("[", "{"):
        close = page.brackets.closing(page.at.starts[row] + rows[row].index(rest[0], column))
        return page.at.at(close) - 1 if close is not None else row
    while row + 1 < len(rows) and rows[row + 1][:1] in (" ", "\t") and rows[row + 1].strip():
        if _SETTING.match(rows[row + 1]):
            break
        row += 1  # an INI value goes on in indented lines
    return row


def yaml(lines: Sequence[bytes]) -> list[Symbol]:
    """YAML: every key by its path, `jobs.test.steps`; from the key down to the next one not below it."""
    rows = [line.decode("utf-8", "replace") for line in lines]
    found: list[Symbol] = []
    around: list[tuple[int, str, int]] = []  # indent, path and row of what is open
    last = 0
    for at, row in enumerate(rows):
        if not row.strip() or row.lstrip().startswith("#"):
            continue
        indent = len(row) - len(row.lstrip(" "))
        listed = row[indent : indent + 2] in ("- ", "-")
        while around and (indent < around[-1][0] or (indent == around[-1][0] and not listed)):
            _, path, start = around.pop()
            found.append(Symbol(path, start + 1, last + 1))
        last = at
        if not listed and (key := _YAML_KEY.match(row)):
            name = (key[2] or key[3] or key[4]).strip()
            around.append((indent, f"{around[-1][1]}.{name}" if around else name, at))
    found += [Symbol(path, start + 1, last + 1) for _, path, start in reversed(around)]
    return sorted(found, key=lambda symbol: symbol.first)


def json(lines: Sequence[bytes]) -> list[Symbol]:
    """JSON: every key by its path, `scripts.build`, with its value."""
    page = _Page(lines, "json")
    parts = []
    for key in _JSON_KEY.finditer(page.text):
        if page.plain[key.end() - 1] != ":":  # inside a longer string or a comment
            continue
        value = _VALUE.match(page.plain, key.end())
        close = page.brackets.closing(value.start(1)) if value and value[1] in "[{" else None
        end = close if close is not None else key.end()
        first, last = page.at.at(key.start()), page.at.at(end)
        parts.append(Part(key[1], first, last, start=key.start(), opens=key.end(), end=end))
    return qualified(parts)


def makefile(lines: Sequence[bytes]) -> list[Symbol]:
    """Makefile: every target with its recipe, every variable with its continuation lines."""
    rows = [line.decode("utf-8", "replace") for line in lines]
    found: list[Symbol] = []
    for at, row in enumerate(rows):
        if row[:1] in ("\t", " ", "#", "") or (at and rows[at - 1].endswith("\\")):
            continue
        if variable := _VARIABLE.match(row):
            found.append(Symbol(variable[1], at + 1, _continued(rows, at) + 1))
        elif target := _TARGET.match(row):
            last = trimmed(lines, at + 1, _recipe_end(rows, at) + 1)
            found += [Symbol(name, at + 1, last) for name in target[1].split() if name != ".PHONY"]
    return found


def _continued(rows: Sequence[str], at: int) -> int:
    while at + 1 < len(rows) and rows[at].endswith("\\"):
        at += 1
    return at


def _recipe_end(rows: Sequence[str], at: int) -> int:
    last = at = _continued(rows, at)
    while at + 1 < len(rows) and (rows[at + 1].startswith("\t") or not rows[at + 1] or rows[at].endswith("\\")):
        at += 1
        last = at if rows[at] else last
    return last


def ended(lines: Sequence[bytes]) -> list[Symbol]:
    """Ruby, Lua, Elixir, Julia: a definition down to the `end` that stands under it."""
    rows = [line.decode("utf-8", "replace") for line in lines]
    parts = []
    for at, row in enumerate(rows):
        if found := _WITH_END.match(row):
            last = _end_below(rows, at, len(found[1].expandtabs()))
            parts.append(Part(re.sub(r"::|:", ".", found["name"]), at + 1, last + 1))
    return qualified(parts)


def _end_below(rows: Sequence[str], at: int, indent: int) -> int:
    if re.search(r"\bend$|, do:", rows[at]) or _ENDLESS.match(rows[at]):
        return at
    for row in range(at + 1, len(rows)):
        line = rows[row].lstrip()
        if line and len(rows[row].expandtabs()) - len(line.expandtabs()) <= indent:
            return row if re.match(r"end\b|\}", line) else at
    return at
